import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { openDeskRig, type DeskRig } from '../support/desks.js';
import { jumpingClock } from '../support/jumping-clock.js';
import type { DeskStore } from './desk-tools.js';
import { credentialDeskContract } from './desks-credentials.js';
import { desksContract } from './desks.js';

const folder = mkdtempSync(join(tmpdir(), 'turnpike-desks-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;

function make(): Promise<DeskStore> {
  const settings = { kind: 'sqlite', path: join(folder, `${++count}.db`), callMs: 20_000 } as const;
  const clock = jumpingClock();
  const open: DeskRig[] = [];
  return Promise.resolve({
    open: async (changes) => {
      const rig = await openDeskRig(settings, { clock, ...changes });
      open.push(rig);
      return rig;
    },
    passMs: (ms) => Promise.resolve(clock.jump(ms)),
    close: async () => void (await Promise.all(open.map((rig) => rig.close()))),
  });
}

desksContract('sqlite', make);
credentialDeskContract('sqlite', make);
