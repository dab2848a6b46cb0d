import { afterAll, beforeAll } from 'vitest';
import { openDeskRig, type DeskRig } from '../support/desks.js';
import { jumpingClock } from '../support/jumping-clock.js';
import { passPostgresMs, startPostgres, type RealPostgres } from '../support/real-postgres.js';
import type { DeskStore } from './desk-tools.js';
import { credentialDeskContract } from './desks-credentials.js';
import { desksContract } from './desks.js';

let server: RealPostgres;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.close());

async function make(): Promise<DeskStore> {
  const name = await server.withTables();
  const clock = jumpingClock();
  const open: DeskRig[] = [];
  return {
    open: async (changes) => {
      const rig = await openDeskRig(server.settings(name, { connections: 4 }), { clock, ...changes });
      open.push(rig);
      return rig;
    },
    passMs: async (ms) => {
      clock.jump(ms);
      await passPostgresMs(server, name, ms);
    },
    close: async () => void (await Promise.all(open.map((rig) => rig.close()))),
  };
}

desksContract('postgres', make);
credentialDeskContract('postgres', make);
