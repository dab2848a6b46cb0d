/** Turns of a fleet; while the store is away each gateway goes by what it knows itself, and takes every turn. */
import { StoreAway } from '../ports.js';
import type { Turn, TurnAnswer, Turns } from '../ports.js';

/** What near turns are made of. */
export interface NearTurnsParts {
  readonly far: Turns;
  isUp(): boolean;
}

/** How many turns were asked for, for metrics. */
export interface TurnCounts {
  taken: number;
  /** Another gateway had it, or it rested. */
  refused: number;
  /** Nobody could be asked. */
  alone: number;
}

/** Turns near and far. */
export class NearTurns implements Turns {
  readonly counts: TurnCounts = { taken: 0, refused: 0, alone: 0 };

  constructor(private readonly parts: NearTurnsParts) {}

  async take(key: string, holdMs: number): Promise<TurnAnswer> {
    try {
      if (this.parts.isUp()) {
        const answer = await this.parts.far.take(key, holdMs);
        this.counts[answer.kind === 'taken' ? 'taken' : 'refused']++;
        return answer;
      }
    } catch (error) {
      if (!(error instanceof StoreAway)) throw error;
    }
    this.counts.alone++;
    return { kind: 'taken', turn: { key, id: '' } };
  }

  /** Never rejects for a store that is away: what can't be ended runs out by itself. */
  async end(turn: Turn, restMs: number): Promise<boolean> {
    if (turn.id === '') return true;
    try {
      return await this.parts.far.end(turn, restMs);
    } catch (error) {
      if (!(error instanceof StoreAway)) throw error;
      return false;
    }
  }
}
