/** Z01: nobody reaches the admin listener through the proxy, however its address is spelled. */
import os from 'node:os';
import { describe, expect, it } from 'vitest';
import { adminSection, askAdmin } from '../support/admin.js';
import { ask, connect } from '../support/ask.js';
import { createStage } from '../support/stage.js';

const stage = createStage();

/** Ways to say `127.0.0.1`, other loopback addresses, and this machine by name and by its own addresses. */
const spellings = [
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '0x7F.0x0.0x0.0x1',
  '017700000001',
  '0177.0.0.1',
  '0177.0.0.01',
  '127.0.0.0x1',
  '0.0.0.0',
  '0',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:127.0.0.1]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'a.localhost',
  os.hostname(),
  ...Object.values(os.networkInterfaces())
    .flatMap((list) => list ?? [])
    .map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address))
    .filter((address) => !address.includes('%') && !address.startsWith('[fe80')),
];

describe('Z01 the admin port through the proxy', () => {
  it(`is refused by ${spellings.length} spellings, by GET and CONNECT, while all of loopback is allowed`, async () => {
    const exit = await stage.good('exit');
    const gateway = await stage.gateway([exit], {
      admin: { ...adminSection, metrics: 'public' },
      targets: { allow: ['127.0.0.0/8', '::1/128', 'localhost', '0.0.0.0/8', os.hostname()] },
    });
    const { adminPort } = gateway;
    expect(spellings.length).toBeGreaterThanOrEqual(20);
    for (const host of spellings) {
      const plain = await ask(gateway, `http://${host}:${adminPort}/metrics`, { fields: [] }).catch(
        () => null,
      );
      expect([400, 403, 508], `GET ${host}`).toContain(plain?.status);
      const { client, answer } = await connect(gateway, `${host}:${adminPort}`);
      expect([400, 403, 508], `CONNECT ${host}`).toContain(answer.status);
      client.destroy();
    }
    expect(exit.heads).toEqual([]);
    // The first answer that the admin listener gives is the one that asks how many it has given.
    const { text } = await askAdmin(adminPort, '/metrics');
    const counts = text.match(/^turnpike_admin_answers_total\{.*$/gm) ?? [];
    expect(counts.map((line) => line.slice(line.indexOf('} ') + 2))).toEqual(['0', '0', '0', '0']);
  });
});
