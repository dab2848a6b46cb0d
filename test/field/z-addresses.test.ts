/**
 * Z05 and its kind: the address gate. Every spelling of an inner address by every entry; a listener on all addresses of
 * this machine counts who came.
 */
import net from 'node:net';
import { describe, expect, it } from 'vitest';
import { forbiddenSpellings } from '../protocol/spellings.js';
import { adminSection, askAdmin } from '../support/admin.js';
import type { TestGateway } from '../support/gateway.js';
import { RawClient } from '../support/raw-client.js';
import { requestHead } from '../support/rig.js';
import { askSocks } from '../support/socks-client.js';
import { createStage } from '../support/stage.js';
import { serveEach, startScripted, type ScriptedUpstream } from '../support/scripted-upstream.js';

const stage = createStage();
const page = serveEach((peer) => void peer.answer('page'));
const latin1 = (unicode: string): string => Buffer.from(unicode, 'utf8').toString('latin1');

/** One way in: asks for a host and port, and says whether it was refused for where it leads. */
type Entry = (gateway: TestGateway, host: string, port: number) => Promise<boolean>;

/** 403, or 508 where the port is our own. */
async function isForbidden(gateway: TestGateway, head: string): Promise<boolean> {
  const client = await RawClient.connect(gateway.port);
  const { status, body } = await client.write(head).answer();
  client.destroy();
  return /^(403|508) "(target_refused|loop_detected)"/.test(
    `${status} ${/"code":("[a-z_]+")/.exec(body.toString())?.[1]}`,
  );
}

async function isNotAllowed(gateway: TestGateway, host: string, port: number): Promise<boolean> {
  const { client, reply } = await askSocks(gateway.port, { host, port });
  client.destroy();
  return reply === 2;
}

const entries: readonly (readonly [string, Entry])[] = [
  [
    'absolute-form',
    (gateway, host, port) => isForbidden(gateway, requestHead(`GET http://${host}:${port}/`, 'Host: x')),
  ],
  [
    'absolute-form of ws',
    (gateway, host, port) =>
      isForbidden(
        gateway,
        requestHead(`GET ws://${host}:${port}/`, 'Host: x', 'Connection: Upgrade', 'Upgrade: websocket'),
      ),
  ],
  ['CONNECT', (gateway, host, port) => isForbidden(gateway, requestHead(`CONNECT ${host}:${port}`))],
  ['the name of a SOCKS5 request', (gateway, host, port) => isNotAllowedByName(gateway, host, port)],
];

/** Sent as a name, whatever it looks like. */
async function isNotAllowedByName(gateway: TestGateway, host: string, port: number): Promise<boolean> {
  const client = await RawClient.connect(gateway.port);
  const name = Buffer.from(host, 'latin1');
  client.write(
    Buffer.concat([Buffer.of(5, 1, 0, 5, 1, 0, 3, name.length), name, Buffer.of(port >> 8, port & 255)]),
  );
  const [, , , reply] = await client.untilBytes(12);
  client.destroy();
  return reply === 2;
}

/** A counting listener on every address, IPv4 and IPv6. */
const counting = async (): Promise<ScriptedUpstream> => stage.keep(await startScripted(page, '::'));

describe('Z05 the address gate', () => {
  it('has eighty spellings and more', () => {
    expect(forbiddenSpellings.length).toBeGreaterThan(80);
  });

  describe.each([
    ['direct://', true],
    ['an HTTP exit', false],
  ])('in front of %s', (_, isDirect) => {
    it.each(entries)('refuses every spelling by %s, and nobody is dialled', async (_name, isRefused) => {
      const trap = await counting();
      const exit = await stage.scripted(page);
      // Whatever is looked up leads to the trap: only the gate stands before it.
      const lookUp = () => Promise.resolve(['127.0.0.1']);
      const gateway = await stage.gateway(
        [isDirect ? 'direct://' : exit],
        { targets: { allow: [] } },
        { parts: { lookUp } },
      );
      const passed: string[] = [];
      for (const [spelling] of forbiddenSpellings) {
        if (!(await isRefused(gateway, latin1(spelling), trap.port))) passed.push(spelling);
      }
      expect(passed).toEqual([]);
      expect([trap.accepts, exit.accepts]).toEqual([0, 0]);
    });

    it('refuses every address as the bytes of a SOCKS5 request', async () => {
      const trap = await counting();
      const exit = await stage.scripted(page);
      const gateway = await stage.gateway([isDirect ? 'direct://' : exit], { targets: { allow: [] } });
      const literals = forbiddenSpellings
        .map(([text]) => text.replace(/^\[(.*)\]$/, '$1'))
        .filter((text) => isPlainAddress(text));
      expect(literals.length).toBeGreaterThan(30);
      for (const host of literals) expect(await isNotAllowed(gateway, host, trap.port), host).toBe(true);
      expect([trap.accepts, exit.accepts]).toEqual([0, 0]);
    });

    it('never goes to our own ports, though all of loopback is allowed', async () => {
      const exit = await stage.scripted(page);
      const allow = ['127.0.0.0/8', '0.0.0.0/8', '::/127'];
      const gateway = await stage.gateway([isDirect ? 'direct://' : exit], { targets: { allow } });
      const here = forbiddenSpellings.filter(([, is]) => is === 'loopback' || is === 'unspecified');
      const passed: string[] = [];
      const came = (): number => gateway.events.filter(({ type }) => type === 'client_connected').length;
      const before = came();
      for (const [nth, [spelling]] of here.entries()) {
        const [name, isRefused] = entries[nth % entries.length] ?? ['', () => Promise.resolve(false)];
        for (const port of [gateway.port, gateway.adminPort]) {
          if (!(await isRefused(gateway, latin1(spelling), port))) passed.push(`${spelling} ${name}`);
        }
      }
      expect(passed).toEqual([]);
      // Ours alone, and none that the gateway made to itself.
      expect(came() - before).toBe(here.length * 2);
      expect(exit.accepts).toBe(0);
    });
  });

  it('refuses every spelling as an exit that is added by the API, and nobody is dialled', async () => {
    const trap = await counting();
    const gateway = await stage.gateway([], { admin: adminSection, targets: { allow: [] } });
    const taken: string[] = [];
    for (const [spelling] of forbiddenSpellings) {
      const body = { pool: 'main', url: `http://${spelling}:${trap.port}` };
      const { status } = await askAdmin(gateway.adminPort, '/api/v1/upstreams', { method: 'POST', body });
      if (status !== 422) taken.push(`${spelling}: ${status}`);
    }
    expect(taken).toEqual([]);
    expect(trap.accepts).toBe(0);
  });
});

/** What the SOCKS client sends as an address: four numbers, or IPv6 with its zeros left out once. */
function isPlainAddress(text: string): boolean {
  return net.isIPv4(text) || (net.isIPv6(text) && text.includes('::') && !text.includes('.'));
}
