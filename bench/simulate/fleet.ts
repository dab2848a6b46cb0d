/**
 * Gateways that come, go and crash, and how each hears of it: at its own heartbeats, of a crash only when the dead one's
 * last heartbeat has run out. Time is virtual; who is there decides nothing here.
 */
import type { Random } from '../../src/core/random.js';
import { heartbeatMs, MEMBER_TTL_MS } from '../../src/facts/member.js';

/** What happens to the fleet. */
export interface Change {
  readonly atMs: number;
  readonly kind: 'join' | 'leave' | 'crash';
  readonly id: string;
  /** Who is in the fleet afterwards. */
  readonly members: readonly string[];
}

/** How the fleet lives. */
export interface FleetPlan {
  readonly gateways: number;
  readonly hours: number;
  /** In a day; each comes back as another after two minutes. */
  readonly crashes: number;
  /** Gateways that are added in the morning and taken away in the evening. */
  readonly tide: number;
}

const HOUR_MS = 3_600_000;
const RESTART_MS = 120_000;

/** All changes in the order of time, after all gateways of the start are there. */
export function planChanges(
  plan: FleetPlan,
  random: Random,
): { start: readonly string[]; changes: Change[] } {
  const start = Array.from({ length: plan.gateways }, () => random.hex(8));
  const members = new Set(start);
  const events: { atMs: number; act: () => Pick<Change, 'kind' | 'id'> | null }[] = [];
  const join = (): Pick<Change, 'kind' | 'id'> => {
    const id = random.hex(8);
    members.add(id);
    return { kind: 'join', id };
  };
  const part = (kind: 'leave' | 'crash') => (): Pick<Change, 'kind' | 'id'> | null => {
    const id = [...members][random.below(members.size)];
    if (id === undefined || members.size === 1) return null;
    members.delete(id);
    return { kind, id };
  };
  for (let n = 0; n < (plan.crashes * plan.hours) / 24; n++) {
    const atMs = random.float() * plan.hours * HOUR_MS;
    events.push({ atMs, act: part('crash') }, { atMs: atMs + RESTART_MS, act: join });
  }
  for (let n = 0; n < plan.tide; n++) {
    const spread = random.float() * HOUR_MS;
    events.push({ atMs: plan.hours * 0.3 * HOUR_MS + spread, act: join });
    events.push({ atMs: plan.hours * 0.75 * HOUR_MS + spread, act: part('leave') });
  }
  const changes = events
    .sort((a, b) => a.atMs - b.atMs)
    .flatMap(({ atMs, act }): Change[] => {
      const done = act();
      return done === null || atMs > plan.hours * HOUR_MS
        ? []
        : [{ atMs, ...done, members: [...members].sort() }];
    });
  return { start: [...start].sort(), changes };
}

/** When a gateway hears of a change: at the first of its heartbeats once Redis tells it. */
export function heardAtMs({ atMs, kind }: Change, random: Random): number {
  const beat = heartbeatMs(random.float());
  // The last heartbeat of a gateway that crashed was some time before, and counts until it runs out.
  const toldMs = kind === 'crash' ? atMs - random.float() * beat + MEMBER_TTL_MS : atMs;
  return toldMs + random.float() * beat;
}
