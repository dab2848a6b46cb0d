/** Field case C23: the crawler can tell whose fault it was, on CONNECT and on plain HTTP alike. */
import { describe, expect, it } from 'vitest';
import { fieldsOf } from '../support/raw-client.js';
import { connectHead, getHead, startRig, type RigOptions } from '../support/rig.js';
import { refusedPort, serveEach, type Script } from '../support/scripted-upstream.js';

interface Cause {
  readonly status: number;
  readonly code: string;
  readonly blame: string;
  readonly script: Script;
  readonly options?: () => Promise<RigOptions>;
}

const answers = (status: string, ...fields: string[]): Script =>
  serveEach((peer) => void peer.answer('a page of the proxy', status, fields));
const unused: Script = () => undefined;
const retries = { retry: { retries: 0 } };

const causes: Record<string, Cause> = {
  'no upstream at all': {
    ...{ status: 503, code: 'no_upstream', blame: 'gateway', script: unused },
    options: () => Promise.resolve({ upstreams: () => [], config: { timeouts: { acquire: '0s' } } }),
  },
  'an upstream that refuses': {
    ...{ status: 502, code: 'upstream_refused', blame: 'upstream', script: unused },
    options: async () => {
      const port = await refusedPort();
      return { upstreams: () => [`http://127.0.0.1:${port}`] };
    },
  },
  'an upstream whose name does not resolve': {
    ...{ status: 502, code: 'upstream_dns', blame: 'upstream', script: unused },
    options: () => Promise.resolve({ upstreams: () => ['http://nowhere.invalid:3128'], config: retries }),
  },
  'an upstream that is silent': {
    ...{ status: 504, code: 'upstream_timeout', blame: 'upstream', script: unused },
    options: () => Promise.resolve({ config: { ...retries, timeouts: { first_byte: '100ms' } } }),
  },
  'a login that the upstream refuses': {
    ...{ status: 502, code: 'upstream_auth', blame: 'upstream' },
    script: answers('407 Proxy Authentication Required', 'Proxy-Authenticate: Basic realm="them"'),
  },
  'an upstream that closes': {
    ...{ status: 502, code: 'upstream_closed', blame: 'upstream' },
    script: async (peer) => {
      await peer.head();
      peer.end();
    },
  },
  'an upstream that is no proxy': {
    ...{ status: 502, code: '', blame: '' },
    script: async (peer) => {
      await peer.head();
      peer.write('220 mail ready\r\n\r\n');
    },
  },
  'a name of the target that does not resolve (Squid)': {
    ...{ status: 502, code: 'target_dns', blame: 'target' },
    script: answers('503 Service Unavailable', 'X-Squid-Error: ERR_DNS_FAIL 0'),
  },
  'a name of the target that does not resolve (RFC 9209)': {
    ...{ status: 502, code: 'target_dns', blame: 'target' },
    script: answers('502 Bad Gateway', 'Proxy-Status: p; error=dns_error'),
  },
  'a target that refuses': {
    ...{ status: 502, code: 'target_unreachable', blame: 'target' },
    script: answers('503 Service Unavailable', 'X-Squid-Error: ERR_CONNECT_FAIL 111'),
  },
  'a target that is silent': {
    ...{ status: 504, code: 'target_timeout', blame: 'target' },
    script: answers('504 Gateway Timeout', 'Proxy-Status: p; error=connection_timeout'),
  },
};

describe.each(Object.entries(causes))('C23 %s', (_, cause) => {
  it.each([
    ['CONNECT', connectHead()],
    ['GET', getHead()],
  ])('on %s', async (_kind, head) => {
    const options = (await cause.options?.()) ?? { config: retries };
    const { client, gateway } = await startRig(cause.script, options);
    const answer = await (await client()).write(head).answer();
    expect(answer.status).toBe(cause.status);
    expect([401, 404, 407, 500]).not.toContain(answer.status);
    const problem = JSON.parse(answer.body.toString()) as { code: string; blame: string };
    if (cause.code !== '') expect(problem).toMatchObject({ code: cause.code, blame: cause.blame });
    expect(fieldsOf(answer.head, 'proxy-status')[0]).toMatch(/^turnpike; error=[a-z_]+/);
    expect(fieldsOf(answer.head, 'x-turnpike-request-id')).toHaveLength(1);
    expect(fieldsOf(answer.head, 'proxy-authenticate')).toEqual([]);
    const ended = await gateway.event('exchange_ended');
    expect(ended).toMatchObject({ status: cause.status, code: problem.code, blame: problem.blame });
  });
});

describe('C23 a target that answers for itself', () => {
  it.each(['404 Not Found', '500 Oops', '401 Unauthorized', '410 Gone'])(
    'with %s is passed on',
    async (status) => {
      const { client } = await startRig(answers(status));
      const answer = await (await client()).write(getHead()).answer();
      expect(answer.status).toBe(Number(status.slice(0, 3)));
      expect(answer.body.toString()).toBe('a page of the proxy');
      expect(fieldsOf(answer.head, 'proxy-status')).toEqual([]);
    },
  );
});
