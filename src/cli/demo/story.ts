/** What the demo tells: headings, lines, and claims that were checked. A claim that is not true fails the demo. */
import type { Output } from '../output.js';

const paint = { bold: '1', dim: '2', green: '32', red: '31', yellow: '33' } as const;

/** Colours of a terminal. */
export type Colour = keyof typeof paint;

/** A story being told. */
export class Story {
  private readonly broken: string[] = [];
  private chapters = 0;

  /** @param isColoured whether whoever reads is a terminal that shows colours */
  constructor(
    private readonly output: Output,
    private readonly isColoured: boolean,
  ) {}

  /** Claims that turned out wrong. */
  get failures(): readonly string[] {
    return this.broken;
  }

  /** Begins a chapter. */
  chapter(title: string): void {
    this.chapters++;
    this.output.print(`\n${this.in('bold', `${this.chapters}. ${title}`)}`);
  }

  /** One line. */
  line(text = ''): void {
    this.output.print(text === '' ? '' : `   ${text}`);
  }

  /** A claim, told as kept or broken. */
  claim(text: string, isTrue: boolean): void {
    if (!isTrue) this.broken.push(text);
    const mark = isTrue ? this.in('green', 'ok    ') : this.in('red', 'NOT SO');
    this.output.print(`   ${mark} ${text}`);
  }

  /** The text in a colour, where there are colours. */
  in(colour: Colour, text: string): string {
    return this.isColoured ? `\u001b[${paint[colour]}m${text}\u001b[0m` : text;
  }
}

/** A time as people say it: `850 ms`, `33 s`, `1 h 7 min`. */
export function spell(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${Math.round(ms / 100) / 10} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `1 page`, `3 pages`. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`;
}
