/**
 * What a site normally sends and how long it takes, per path shape: the medians of the last good answers, so that a
 * few odd ones change nothing and a site that changes is followed. Bounded; the site that was asked for longest ago
 * goes first. Only good answers may be learnt, or blocks would become usual.
 */
import { touched } from '../core/eldest.js';

/** So many of the last answers are kept of one shape. */
const KEPT = 31;
/** With fewer nothing is said. */
const LEAST = 8;
const MOST_SITES = 2000;
const MOST_SHAPES = 8;

/** What is usual; null: not known yet. */
export interface UsualAnswer {
  /** Bytes as they come. */
  readonly size: number | null;
  readonly firstByteMs: number | null;
}

const UNKNOWN: UsualAnswer = { size: null, firstByteMs: null };

/** The last values, and their median. */
class Lately {
  private readonly values = new Float32Array(KEPT);
  private count = 0;
  private next = 0;
  private known: number | null = null;

  add(value: number): void {
    this.values[this.next] = value;
    this.next = (this.next + 1) % KEPT;
    this.count = Math.min(this.count + 1, KEPT);
    this.known = null;
  }

  median(): number | null {
    if (this.count < LEAST) return null;
    this.known ??= this.values.slice(0, this.count).sort()[this.count >> 1] ?? null;
    return this.known;
  }
}

interface ShapeRecord {
  readonly sizes: Lately;
  readonly times: Lately;
}

/** Which answers are compared with each other. */
export interface AnswerKind {
  readonly host: string;
  /** Path and query as they came. */
  readonly path: string;
  /** The content coding, since sizes are of the body as it came. */
  readonly coding: string;
}

/** What is usual, by site. One for the process. */
export class Baseline {
  private readonly sites = new Map<string, Map<string, ShapeRecord>>();

  /** What answers of this kind are usually like. */
  usual(kind: AnswerKind): UsualAnswer {
    const shapes = this.sites.get(kind.host);
    const record = shapes?.get(shapeOf(kind));
    if (record === undefined) return UNKNOWN;
    return { size: record.sizes.median(), firstByteMs: record.times.median() };
  }

  /** Takes note of a good answer. */
  learn(kind: AnswerKind, answer: { readonly size: number; readonly firstByteMs: number }): void {
    const shapes = touched(this.sites, kind.host, MOST_SITES, () => new Map<string, ShapeRecord>());
    const record = touched(shapes, shapeOf(kind), MOST_SHAPES, () => ({
      sizes: new Lately(),
      times: new Lately(),
    }));
    record.sizes.add(answer.size);
    record.times.add(answer.firstByteMs);
  }

  /** Sites that something is known of. */
  get size(): number {
    return this.sites.size;
  }
}

const MOST_SEGMENTS = 4;
const LONG_SEGMENT = 24;

/** `/p/123/blue-shirt-99812?x=1` becomes `/p/#/*`: numbers and words that look made are all the same. */
export function pathShape(path: string): string {
  const query = path.indexOf('?');
  const bare = query < 0 ? path : path.slice(0, query);
  const segments = bare.split('/').slice(1, MOST_SEGMENTS + 1);
  return `/${segments.map(segmentShape).join('/')}`;
}

function segmentShape(segment: string): string {
  if (/^[0-9]+$/.test(segment)) return '#';
  const isMade =
    segment.length > LONG_SEGMENT || (segment.length >= LONG_SEGMENT / 3 && /[0-9]/.test(segment));
  return isMade ? '*' : segment;
}

function shapeOf(kind: AnswerKind): string {
  return `${pathShape(kind.path)} ${kind.coding}`;
}
