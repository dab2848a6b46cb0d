/**
 * `npm run simulate`: a day of a fleet on the pure code, without a socket: who owns which exit while gateways join, leave
 * and crash, what moves, and what one Redis has to do. Seeded: the same seed prints the same figures.
 *
 *   npm run simulate -- --gateways 100 --exits 100000 --hours 24 --seed 1
 */
import { parseArgs } from 'node:util';
import { seededRandom } from '../../src/core/random.js';
import { BanLife } from './ban-life.js';
import { planChanges } from './fleet.js';
import { Owners } from './owners.js';
import { purposes, total, useOf, type Use } from './redis-use.js';

const defaults = {
  ...{ gateways: 100, exits: 100_000, hours: 24, seed: 1, crashes: 20, tide: 10 },
  /** Of one gateway. */
  ...{ requests: 50, sessions: 2, bans: 60, sites: 20 },
};
type Options = typeof defaults;

/** Leases kept ahead for each request of a second (`exits/broker-share.ts`). */
const LEASES_PER_REQUEST = 1.5;
/** Find, bind, and being told of once more. */
const CALLS_PER_SESSION = 3;
const MINUTE_MS = 60_000;

function readOptions(): Options {
  const names = Object.keys(defaults) as (keyof Options)[];
  const { values } = parseArgs({
    options: Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])),
  });
  const read = (name: keyof Options): [string, number] => {
    const value = Number(values[name] ?? defaults[name]);
    if (!Number.isFinite(value) || value < 0) throw new Error(`--${name}: expected a number`);
    return [name, value];
  };
  return Object.fromEntries(names.map(read)) as Options;
}

interface Day {
  readonly owners: Owners;
  readonly bans: BanLife;
  readonly minutes: Use[];
  readonly most: { on: number; words: number };
  readonly counts: { join: number; leave: number; crash: number };
}

function live(options: Options): Day {
  const random = seededRandom(options.seed);
  const exits = Array.from({ length: options.exits }, () => `u-${random.hex(6)}`);
  const { start, changes } = planChanges(options, random);
  const owners = new Owners(exits, start, random);
  const bans = new BanLife(options.exits * options.sites, random);
  const counts = { join: 0, leave: 0, crash: 0 };
  const most = { on: 0, words: 0 };
  const minutes: Use[] = [];
  let gateways = start.length;
  const perGateway = Math.ceil(options.requests * LEASES_PER_REQUEST);
  for (let minute = 0, next = 0; minute < options.hours * 60; minute++) {
    const endMs = (minute + 1) * MINUTE_MS;
    let leaseChanges = 0;
    for (let change = changes[next]; change !== undefined && change.atMs < endMs; change = changes[++next]) {
      owners.follow(change);
      counts[change.kind]++;
      gateways = change.members.length;
      if (change.kind !== 'crash') leaseChanges += perGateway;
    }
    let said = 0;
    for (let n = 0; n < (gateways * options.bans) / 60; n++) if (bans.ban(endMs)) said++;
    const known = bans.count(endMs);
    most.on = Math.max(most.on, known.on);
    most.words = Math.max(most.words, known.words);
    // An exit that is banned is given back, and another taken.
    leaseChanges += 2 * said;
    const stretch = { seconds: 60, gateways, words: known.words, bans: said, leaseChanges };
    const leased = exits.slice(0, Math.min(perGateway, Math.ceil(exits.length / gateways)));
    const sessionCalls = gateways * options.sessions * 60 * CALLS_PER_SESSION;
    minutes.push(useOf({ ...stretch, leased, sessionCalls }));
  }
  return { owners, bans, minutes, most, counts };
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

function tell(options: Options, { owners, bans, minutes, most, counts }: Day): void {
  const { moves } = owners;
  const print = (line: string): void => console.log(line);
  print(`${options.gateways} gateways, ${options.exits} exits, ${options.hours} h, seed ${options.seed}`);
  print(`fleet: ${counts.join} joined, ${counts.leave} left, ${counts.crash} crashed`);
  print(
    `ring: an owner has ${moves.spread.least.toFixed(2)}–${moves.spread.most.toFixed(2)} of the mean; ` +
      `${moves.moved} moves in ${moves.changes} changes, at most ${moves.worst.toFixed(2)}/n of the exits in one`,
  );
  print(
    `handover: ${moves.doubled} exits with two owners at once; ` +
      `an exit that moved was used by nobody for ${(moves.idleSeconds / Math.max(moves.moved, 1)).toFixed(1)} s`,
  );
  print(`bans: ${bans.said} said, at most ${most.on} on at once and ${most.words} words remembered\n`);
  const uses = minutes.map((use) => total(use));
  const peak = minutes[uses.indexOf(uses.reduce((a, b) => (b.busy > a.busy ? b : a)))];
  const mean = (of: (use: Use) => number): number =>
    minutes.reduce((all, use) => all + of(use), 0) / minutes.length;
  print('redis            ops/s    peak    core busy    peak');
  const row = (name: string, of: (use: Use) => { ops: number; busy: number }): void => {
    if (peak === undefined) return;
    const cells = [mean((use) => of(use).ops).toFixed(0), of(peak).ops.toFixed(0)];
    const shares = [percent(mean((use) => of(use).busy)), percent(of(peak).busy)];
    const [ops = '', opsPeak = '', busy = '', busyPeak = ''] = [...cells, ...shares];
    print(
      `${name.padEnd(14)}${ops.padStart(8)}${opsPeak.padStart(8)}${busy.padStart(13)}${busyPeak.padStart(8)}`,
    );
  };
  for (const purpose of purposes) row(purpose, (use) => use[purpose]);
  row('all', total);
  row('without broker', (use) => total({ ...use, leases: { ops: 0, busy: 0 } }));
}

const options = readOptions();
tell(options, live(options));
