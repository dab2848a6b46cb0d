/** Takes credentials from a text that comes in pieces: a bounded part of it is in memory at any time. Knows neither store nor vault. */
import type { ImportAsk, Imported, ImportFault } from './credential-import.js';
import { readCredential, type ReadyCredential } from './credential-input.js';
import { lineReader, type LineRead, type LineReader } from './import-lines.js';

const MOST_BYTES = 256 * 2 ** 20;
const MOST_LINE = 256 * 1024;
/** All of them wait in memory when none may be kept before the last is read. */
const MOST_AT_ONCE = 50_000;
const BATCH = 200;
const MOST_FAULTS = 1000;

/** What an import does with what it read. */
export interface ImportParts {
  readonly nowSeconds: number;
  /** Those of the keys that are taken. */
  known(keys: readonly string[]): Promise<readonly string[]>;
  insert(credentials: readonly ReadyCredential[]): Promise<readonly ('inserted' | 'exists')[]>;
  remove(keys: readonly string[]): Promise<void>;
}

interface Waiting {
  readonly line: number;
  readonly credential: ReadyCredential;
}

/** Runs one. */
export async function importCredentials(
  source: AsyncIterable<Uint8Array | string>,
  ask: ImportAsk,
  parts: ImportParts,
): Promise<Imported> {
  const run = new ImportRun(ask, parts);
  for await (const text of linesOf(source)) {
    if (text === null || run.isFull) return run.end(true);
    await run.line(text);
  }
  return run.end(false);
}

/** What is read and kept so far. */
class ImportRun {
  readonly #faults: ImportFault[] = [];
  readonly #reader: LineReader;
  readonly #seen = new Set<string>();
  #waiting: Waiting[] = [];
  #line = 0;
  #failed = 0;
  #created = 0;

  constructor(
    private readonly ask: ImportAsk,
    private readonly parts: ImportParts,
  ) {
    this.#reader = lineReader(ask.format, {
      ...{ type: ask.type ?? '', meta: ask.meta ?? {}, key: ask.key ?? null, nowSeconds: parts.nowSeconds },
    });
  }

  get isFull(): boolean {
    return this.#waiting.length > MOST_AT_ONCE;
  }

  async line(text: string): Promise<void> {
    this.#line++;
    await this.#take(this.#reader.take(text, this.#line));
  }

  async end(isTooLarge: boolean): Promise<Imported> {
    if (!isTooLarge) await this.#take(this.#reader.end());
    const isAll = this.ask.mode === 'all';
    if (isAll && !isTooLarge) await this.#findKnown();
    if (!isAll || (!isTooLarge && this.#failed === 0)) await this.#keep();
    const kind = isTooLarge ? 'too_large' : isAll && this.#failed > 0 ? 'refused' : 'done';
    return { kind, created: this.#created, failed: this.#failed, faults: this.#faults };
  }

  async #take(reads: readonly LineRead[]): Promise<void> {
    for (const read of reads) this.#sort(read);
    if (this.ask.mode === 'good' && this.#waiting.length >= BATCH) await this.#keep();
  }

  #sort(read: LineRead): void {
    const { line } = read;
    if (read.kind === 'fault') {
      this.#fault({ line, why: 'malformed', message: read.message });
      return;
    }
    const checked = readCredential(read.input);
    if (checked.kind === 'invalid') {
      const message = checked.problems.map(({ path, message: wanted }) => `${path}: ${wanted}`).join('; ');
      this.#fault({ line, why: 'invalid', message });
      return;
    }
    const { credential } = checked;
    if (this.#seen.has(credential.key)) {
      this.#fault({ line, why: 'duplicate', message: `${credential.key} came before` });
      return;
    }
    this.#seen.add(credential.key);
    this.#waiting.push({ line, credential });
  }

  async #findKnown(): Promise<void> {
    const known = new Set(await this.parts.known(this.#waiting.map(({ credential }) => credential.key)));
    for (const { line, credential } of this.#waiting)
      if (known.has(credential.key)) this.#exists(line, credential.key);
  }

  /** Keeps what waits. In mode `all`, what others kept meanwhile takes all of it back. */
  async #keep(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length === 0) return;
    const results = await this.parts.insert(waiting.map(({ credential }) => credential));
    const kept = waiting.filter((_, at) => results[at] === 'inserted');
    waiting.forEach(({ line, credential }, at) => {
      if (results[at] === 'exists') this.#exists(line, credential.key);
    });
    if (this.ask.mode === 'all' && kept.length < waiting.length) {
      await this.parts.remove(kept.map(({ credential }) => credential.key));
    } else this.#created += kept.length;
  }

  #exists(line: number, key: string): void {
    this.#fault({ line, why: 'exists', message: `there is a credential ${key} already` });
  }

  #fault(fault: ImportFault): void {
    this.#failed++;
    if (this.#faults.length < MOST_FAULTS) this.#faults.push(fault);
  }
}

/** Lines without their ends; null where a line, or all of it, is too long. */
async function* linesOf(source: AsyncIterable<Uint8Array | string>): AsyncGenerator<string | null> {
  const decoder = new TextDecoder();
  let rest = '';
  let bytes = 0;
  for await (const piece of source) {
    bytes += piece.length;
    const lines = (
      rest + (typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true }))
    ).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield line.endsWith('\r') ? line.slice(0, -1) : line;
    if (bytes > MOST_BYTES || rest.length > MOST_LINE) {
      yield null;
      return;
    }
  }
  rest += decoder.decode();
  if (rest !== '') yield rest.endsWith('\r') ? rest.slice(0, -1) : rest;
}
