/** Z05 on the wire: a gateway in a process, the system's resolver, and a name server that says otherwise every time. */
import { beforeAll, afterAll, expect, it } from 'vitest';
import { answerOf, type Answer } from '../support/ask.js';
import { serveNames, type Said } from '../support/name-server.js';
import { startNetwork, type OwnNetwork } from '../support/own-network.js';
import { RawClient } from '../support/raw-client.js';
import { connectHead, getHead } from '../support/rig.js';
import { serveEach, startScripted, type ScriptedUpstream } from '../support/scripted-upstream.js';
import { startServe, type ServeProcess } from '../support/serve-process.js';

const TRAP_PORT = 8080;
const TRIALS_EACH = 200;
const ALLOWED = '127.0.0.2';
const page = serveEach((peer) => void peer.answer('page'));

let network: OwnNetwork;
let gateway: ServeProcess;
let traps: ScriptedUpstream[];
let good: ScriptedUpstream;
const questions = new Map<string, number>();

/** What a name is by its first label; `nth` counts the questions for that kind of name. */
const says: Readonly<Record<string, (nth: number) => Said>> = {
  good: () => ({ addresses: [ALLOWED] }),
  // By turns, a pair of questions each: allowed but refused there, and the trap.
  turn: (nth) => ({ addresses: [(nth >> 1) % 2 === 0 ? ALLOWED : '127.0.0.1'] }),
  mixed: (nth) => ({ addresses: nth % 4 < 2 ? [ALLOWED, '127.0.0.1'] : ['127.0.0.1', ALLOWED] }),
  families: () => ({ addresses: [ALLOWED, '::1'] }),
  mapped: () => ({ addresses: ['::ffff:127.0.0.1'] }),
  alias: () => ({ addresses: ['127.0.0.1'], alias: 'localhost' }),
};

beforeAll(async () => {
  const resolvConf = 'nameserver 127.0.0.1\noptions timeout:5 attempts:2\n';
  network = await startNetwork({ resolvConf });
  serveNames(await network.datagrams(53), (name) => {
    const [kind = ''] = name.split('.');
    const nth = questions.get(kind) ?? 0;
    questions.set(kind, nth + 1);
    return says[kind]?.(nth) ?? null;
  });
  const listening = ['127.0.0.1', '::1'].map((host) => network.listen({ host, port: TRAP_PORT }));
  traps = await Promise.all(listening.map(async (server) => startScripted(page, await server)));
  good = await startScripted(page, await network.listen({ host: ALLOWED, port: TRAP_PORT + 1 }));
  gateway = await startServe(
    ['direct://'],
    { targets: { allow: [ALLOWED] }, retry: { retries: 0 } },
    { inside: network.inside },
  );
});
afterAll(async () => {
  await gateway.close();
  for (const each of [...traps, good]) await each.close();
  await network.close();
});

async function ask(head: string): Promise<Answer> {
  const client = new RawClient(await network.connect(gateway.port));
  client.resume();
  const answer = answerOf(await client.write(head).answer());
  client.reset();
  return answer;
}

it('names are looked up by this server', async () => {
  const answer = await ask(getHead(`http://good.zone.test:${TRAP_PORT + 1}/`));
  expect(answer.body.toString()).toBe('page');
  expect(questions.get('good')).toBe(2);
  const unknown = await ask(getHead('http://unknown.zone.test/'));
  expect(unknown.problem()).toMatchObject({ status: 502, code: 'target_dns' });
});

it.each(['turn', 'mixed', 'families', 'mapped', 'alias'])(
  `Z05 ${TRIALS_EACH} names of the kind "%s": nothing is dialled but what was checked`,
  async (kind) => {
    const codes = new Set<string>();
    for (let nth = 0; nth < TRIALS_EACH; nth++) {
      // A new name each time, so that no memory helps; twice each, so that a second look-up would show.
      const place = `${kind}.n${nth >> 1}.test:${TRAP_PORT}`;
      codes.add((await ask(nth % 2 === 0 ? getHead(`http://${place}/`) : connectHead(place))).problem().code);
    }
    expect(traps.map(({ accepts }) => accepts)).toEqual([0, 0]);
    expect(questions.get(kind)).toBe(TRIALS_EACH);
    const wanted = kind === 'turn' ? ['target_refused', 'target_unreachable'] : ['target_refused'];
    expect([...codes].sort()).toEqual(wanted);
  },
);
