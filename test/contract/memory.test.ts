import { seededRandom } from '../../src/core/random.js';
import { MemoryBans } from '../../src/state/memory/bans.js';
import { MemoryLeases } from '../../src/state/memory/leases.js';
import { MemoryLimits } from '../../src/state/memory/limits.js';
import { MemoryMembers } from '../../src/state/memory/members.js';
import { MemoryPins } from '../../src/state/memory/pins.js';
import { MemoryTurns } from '../../src/state/memory/turns.js';
import { ManualClock } from '../state/manual-clock.js';
import { bansContract, KEEP_MS } from './bans.js';
import { delayed } from './delayed.js';
import { leasesContract } from './leases.js';
import { limitsContract } from './limits.js';
import { membersContract } from './members.js';
import { pinsContract } from './pins.js';
import { turnsContract } from './turns.js';

const stores = {
  memory: <T extends object>(near: T): T => near,
  'memory, delayed and reordered': <T extends object>(near: T): T => delayed(near, seededRandom(3)),
};

for (const [name, far] of Object.entries(stores)) {
  const made = <T extends object>(make: (clock: ManualClock) => T) => {
    const clock = new ManualClock();
    return { store: far(make(clock)), passMs: (ms: number) => clock.advance(ms) };
  };
  pinsContract(name, () => made((clock) => new MemoryPins(clock)));
  bansContract(name, () => made((clock) => new MemoryBans(clock, KEEP_MS)));
  leasesContract(name, () => made((clock) => new MemoryLeases(clock, seededRandom(1))));
  limitsContract(name, () => made((clock) => new MemoryLimits(clock)));
  turnsContract(name, () => made((clock) => new MemoryTurns(clock, seededRandom(1))));
  membersContract(name, () => made((clock) => new MemoryMembers(clock)));
}
