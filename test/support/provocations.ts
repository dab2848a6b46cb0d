/** One row for each error of `core/errors.ts` that can be provoked from outside: a gateway in that state. */
import net from 'node:net';
import { vi } from 'vitest';
import type { ErrorCode } from '../../src/core/errors.js';
import { seededRandom } from '../../src/core/random.js';
import { ask } from './ask.js';
import type { TestGateway } from './gateway.js';
import { refusedPort } from './scripted-upstream.js';
import type { Stage } from './stage.js';

/** What happens in a row: a gateway, and what to ask it. */
export interface Provoked {
  readonly gateway: TestGateway;
  readonly fields?: readonly string[];
  /** `host:port` of the target. */
  readonly target?: string;
}

/** One provocation. */
export interface Row {
  readonly code: ErrorCode;
  readonly why: string;
  readonly on: readonly ('plain' | 'CONNECT')[];
  readonly provoke: () => Promise<Provoked>;
}

const both = ['plain', 'CONNECT'] as const;
/** URL of an exit on which nothing listens. */
export const refusing = async (): Promise<string> => `http://127.0.0.1:${await refusedPort()}`;

/** An exit that answers everything with this status and these fields. */
const saying = async (stage: Stage, status: string, ...fields: string[]): Promise<Provoked> => ({
  gateway: await stage.gateway([await stage.exit((peer) => void peer.answer('page', status, fields))]),
});

/** A gateway whose dials end with this error of the system. */
async function dialFailing(stage: Stage, code: string): Promise<Provoked> {
  const gateway = await stage.gateway(['http://127.0.0.1:9']);
  const real = net.connect;
  vi.spyOn(net, 'connect').mockImplementation((...args: Parameters<typeof real>) => {
    const options = args[0] as unknown as net.TcpNetConnectOpts;
    if (options.port !== 9) return real(...args);
    const socket = new net.Socket();
    setImmediate(() => socket.destroy(Object.assign(new Error(code), { code })));
    return socket;
  });
  return { gateway };
}

const limitedClient = (limits: object) => ({ clients: [{ name: 'c', allow_from: '127.0.0.0/8', limits }] });

/** What clients do wrong. */
function ofClients(stage: Stage): readonly Row[] {
  return [
    {
      code: 'bad_request',
      why: 'a control twice',
      on: both,
      provoke: async () => ({
        gateway: await stage.gateway([await refusing()]),
        fields: ['X-Session-Id: a', 'X-Session-Id: b'],
      }),
    },
    {
      code: 'auth_required',
      why: 'no login',
      on: both,
      provoke: async () => ({
        gateway: await stage.gateway([await refusing()], { clients: [{ name: 'c', password: 'p' }] }),
      }),
    },
    {
      code: 'target_refused',
      why: 'a private address',
      on: both,
      provoke: async () => ({ gateway: await stage.gateway([await refusing()]), target: '10.0.0.1:80' }),
    },
    {
      code: 'header_too_large',
      why: 'a head above the limit',
      on: both,
      provoke: async () => ({
        gateway: await stage.gateway([await refusing()], { limits: { head: '1KiB' } }),
        fields: [`X-Big: ${'x'.repeat(2000)}`],
      }),
    },
  ];
}

/** What clients may not do. */
function ofLimits(stage: Stage): readonly Row[] {
  return [
    {
      code: 'client_limited',
      why: 'over its rate',
      on: both,
      provoke: async () => {
        const gateway = await stage.gateway([await stage.good('ok')], limitedClient({ requests: '1/min' }));
        await ask(gateway, 'http://site.example/');
        return { gateway };
      },
    },
    {
      code: 'loop_detected',
      why: 'our own port',
      on: both,
      provoke: async () => {
        const gateway = await stage.gateway([await refusing()]);
        return { gateway, target: `127.0.0.1:${gateway.port}` };
      },
    },
    {
      code: 'not_implemented',
      why: 'a control of later versions',
      on: both,
      provoke: async () => ({
        gateway: await stage.gateway([await refusing()]),
        fields: ['X-Turnpike-Policy: shop'],
      }),
    },
  ];
}

/** What the gateway lacks. */
function ofGateway(stage: Stage): readonly Row[] {
  return [
    {
      code: 'no_upstream',
      why: 'an empty pool',
      on: both,
      provoke: async () => ({ gateway: await stage.gateway([]) }),
    },
    {
      code: 'session_lost',
      why: 'a hard session without its exit',
      on: both,
      provoke: async () => {
        const exit = await stage.good('ok');
        const gateway = await stage.gateway([exit, await refusing()], { bans: { max_ejected: 1 } });
        const fields = ['X-Session-Id: h', 'X-Turnpike-Session-Mode: hard'];
        await ask(gateway, 'http://site.example/', { fields });
        await exit.close();
        await ask(gateway, 'http://site.example/', { fields });
        return { gateway, fields };
      },
    },
    ...(['EADDRNOTAVAIL', 'EMFILE', 'ENOBUFS'] as const).map((code): Row => {
      return { code: 'local_resources', why: code, on: both, provoke: () => dialFailing(stage, code) };
    }),
    {
      code: 'exchange_timeout',
      why: "the client's own deadline",
      on: both,
      provoke: async () => ({
        gateway: await stage.gateway([await stage.scripted(() => undefined)]),
        fields: ['X-Turnpike-Timeout: 0.3'],
      }),
    },
    {
      code: 'internal_error',
      why: 'a fault of ours',
      on: both,
      provoke: async () => {
        const below = (): never => {
          throw new Error('broken on purpose');
        };
        const parts = { random: { ...seededRandom(1), below } };
        return { gateway: await stage.gateway([await refusing()], {}, { strategy: 'random', parts }) };
      },
    },
  ];
}

/** What goes wrong on the way to an exit. */
function ofWays(stage: Stage): readonly Row[] {
  return [
    {
      code: 'upstream_dns',
      why: 'a name that does not resolve',
      on: both,
      provoke: async () => ({ gateway: await stage.gateway(['http://nowhere.invalid:3128']) }),
    },
    {
      code: 'upstream_refused',
      why: 'a closed port',
      on: both,
      provoke: async () => ({ gateway: await stage.gateway([await refusing()]) }),
    },
    {
      code: 'upstream_unreachable',
      why: 'no route',
      on: both,
      provoke: () => dialFailing(stage, 'EHOSTUNREACH'),
    },
    {
      code: 'upstream_timeout',
      why: 'silence',
      on: both,
      provoke: async () => ({
        gateway: await stage.gateway([await stage.scripted(() => undefined)], {
          timeouts: { first_byte: '200ms' },
        }),
      }),
    },
    {
      code: 'upstream_tls',
      why: 'no TLS behind an https URL',
      on: both,
      provoke: async () => {
        const exit = await stage.scripted((peer) => void peer.write('HTTP/1.1 400 Bad\r\n\r\n'));
        return { gateway: await stage.gateway([exit.url.replace('http:', 'https:')]) };
      },
    },
  ];
}

/** What exits say. */
function ofAnswers(stage: Stage): readonly Row[] {
  return [
    {
      code: 'upstream_auth',
      why: '407',
      on: both,
      provoke: () => saying(stage, '407 Login', 'Proxy-Authenticate: Basic realm="x"'),
    },
    {
      code: 'upstream_closed',
      why: 'an end instead of an answer',
      on: both,
      provoke: async () => ({ gateway: await stage.gateway([await stage.exit((peer) => peer.end())]) }),
    },
    {
      code: 'upstream_protocol',
      why: 'garbage for an answer to CONNECT',
      on: ['CONNECT'],
      provoke: async () => ({
        gateway: await stage.gateway([await stage.exit((peer) => void peer.write('SSH-2.0-x\r\n\r\n'))]),
      }),
    },
    {
      code: 'upstream_error',
      why: 'its own word',
      on: both,
      provoke: () => saying(stage, '503 Sorry', 'X-Squid-Error: ERR_CANNOT_FORWARD 0'),
    },
    {
      code: 'target_dns',
      why: "the upstream's word",
      on: both,
      provoke: () => saying(stage, '503 Sorry', 'X-Squid-Error: ERR_DNS_FAIL 0'),
    },
    {
      code: 'target_unreachable',
      why: "the upstream's word",
      on: both,
      provoke: () => saying(stage, '503 Sorry', 'X-Squid-Error: ERR_CONNECT_FAIL 111'),
    },
    {
      code: 'target_timeout',
      why: "the upstream's word",
      on: both,
      provoke: () => saying(stage, '504 Late', 'Proxy-Status: squid; error=connection_timeout'),
    },
    {
      code: 'target_failed',
      why: 'an answer without sense',
      on: ['plain'],
      provoke: () => saying(stage, '200 OK', 'Content-Length: 3', 'Content-Length: 4'),
    },
  ];
}

/** All of them. */
export function provocations(stage: Stage): readonly Row[] {
  return [
    ...ofClients(stage),
    ...ofLimits(stage),
    ...ofGateway(stage),
    ...ofWays(stage),
    ...ofAnswers(stage),
  ];
}
