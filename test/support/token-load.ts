/** Gateways that give out tokens of one store under load, and what became of it. */
import type { TokenActor } from '../../src/credentials/actor.js';
import { seededRandom } from '../../src/core/random.js';
import { NearLimits } from '../../src/state/fallback/limits.js';
import type { Limits } from '../../src/state/ports.js';
import { RedisLimits } from '../../src/state/redis/limits.js';
import { systemClock } from '../../src/core/clock.js';
import { crawler, type DeskRig } from './desks.js';
import { connected, makeLink, singleAt, type TestLink } from './real-redis.js';

/** Limits of one gateway of four, on a Redis that may go away. */
export async function fleetLimits(port: number, prefix: string): Promise<{ limits: Limits; line: TestLink }> {
  const line = await connected(makeLink(singleAt(port), { prefix }));
  const { link, keys } = line;
  const far = new RedisLimits(link, keys);
  const limits = new NearLimits({ far, clock: systemClock, isUp: () => link.isUp, gateways: () => 4 });
  return { limits, line };
}

/** Asks all the time, by so many workers at each gateway, until `isOver`. Returns how many tokens there were, and how long it took. */
export async function drawAll(
  rigs: readonly DeskRig[],
  ask: { policy: string; workers: number; isOver: () => boolean },
): Promise<{ given: number; limited: number; seconds: number }> {
  const by: TokenActor = crawler();
  const figures = { given: 0, limited: 0 };
  const beganMs = performance.now();
  let lastMs = beganMs;
  const work = async ({ desks: { tokens } }: DeskRig): Promise<void> => {
    while (!ask.isOver()) {
      const got = await tokens.acquire({ policy: ask.policy, context: {} }, by);
      if (got.kind === 'acquired') {
        figures.given++;
        lastMs = performance.now();
      } else if (got.kind === 'limited') {
        figures.limited++;
        await new Promise((resolve) => setTimeout(resolve, Math.min(got.retryAfterMs, 20)));
      } else throw new Error(`not expected: ${got.kind}`);
    }
  };
  await Promise.all(rigs.flatMap((rig) => Array.from({ length: ask.workers }, () => work(rig))));
  return { ...figures, seconds: (lastMs - beganMs) / 1000 };
}

/** Takes tokens, holds each for a few turns and gives it back; looks that no credential has two holders. */
export async function holdAlone(
  rigs: readonly DeskRig[],
  ask: { policies: readonly string[]; workers: number; rounds: number; seed: number },
): Promise<{ held: number; refused: number; overlaps: string[] }> {
  const holders = new Set<string>();
  const figures = { held: 0, refused: 0, overlaps: [] as string[] };
  const by = crawler();
  const work = async ({ desks: { tokens } }: DeskRig, seed: number): Promise<void> => {
    const random = seededRandom(seed);
    for (let round = 0; round < ask.rounds; round++) {
      const policy = ask.policies[random.below(ask.policies.length)] ?? '';
      const got = await tokens.acquire({ policy, context: {} }, by);
      if (got.kind !== 'acquired') {
        figures.refused++;
        await new Promise((resolve) => setTimeout(resolve, random.below(10)));
        continue;
      }
      const { credentialKey: key, id } = got.token;
      if (holders.has(key)) figures.overlaps.push(key);
      holders.add(key);
      figures.held++;
      await new Promise((resolve) => setTimeout(resolve, random.below(4)));
      holders.delete(key);
      // Any gateway may be asked to take it back.
      const other = rigs[random.below(rigs.length)]?.desks.tokens ?? tokens;
      await (random.below(2) === 0 ? other.release(id.reveal(), by) : other.consume(id.reveal(), by));
    }
  };
  await Promise.all(
    rigs.flatMap((rig, at) =>
      Array.from({ length: ask.workers }, (_, n) => work(rig, ask.seed + at * 100 + n)),
    ),
  );
  return figures;
}
