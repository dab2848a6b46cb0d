/**
 * Stores judged answers as files for the rule lab (`app/stored-answer.ts` reads them): bodies bounded, secrets taken
 * out, the folder bounded. A full disk or an unwritable folder costs captures and nothing else, and is told once.
 */
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Emit } from '../core/events.js';
import { Fields } from '../http1/fields.js';
import type { Verdict } from '../outcome/classify.js';
import type { HopAnswer } from '../open/channel.js';
import type { Inspected } from './inspect.js';
import type { Ask } from './understand.js';

/** Where and how much. */
export interface CaptureRules {
  readonly dir: string;
  readonly which: 'refused' | 'all';
  readonly bodyBytes: number;
  readonly totalBytes: number;
  readonly files: number;
}

/** Files that may be under way at once. */
const MOST_WRITING = 16;

/** Fields whose values are nobody's business; of cookies the names stay, which fingerprints go by. */
const SECRET = /^(authorization|proxy-authorization|cookie|www-authenticate|x-api-key|.*token.*|.*secret.*)$/;

/** Stores captures. One for the process. */
export class Captures {
  private writing = 0;
  private usedBytes = 0;
  private usedFiles = 0;
  private opening: Promise<void> | null = null;
  private dir = '';
  private isFailing = false;
  /** Captures that could not be written. */
  failed = 0;

  constructor(private readonly emit: Emit) {}

  /** Stores an answer if the rules want it. Returns at once; never throws. */
  store(
    rules: CaptureRules,
    what: {
      readonly ask: Ask;
      readonly answer: HopAnswer;
      readonly seen: Inspected;
      readonly verdict: Verdict;
    },
  ): void {
    if (rules.which === 'refused' && what.verdict.name === 'ok') return;
    if (this.writing >= MOST_WRITING) return;
    const bytes = fileOf(rules, what);
    this.writing++;
    void this.write(rules, `${what.ask.context.requestId}-${what.verdict.name}`, bytes)
      .catch((error: unknown) => this.hasFailed(rules.dir, error))
      .finally(() => this.writing--);
  }

  private async write(rules: CaptureRules, name: string, bytes: Buffer): Promise<void> {
    if (this.dir !== rules.dir) {
      this.dir = rules.dir;
      this.opening = this.open(rules.dir);
    }
    await this.opening;
    if (this.usedFiles >= rules.files || this.usedBytes + bytes.length > rules.totalBytes) return;
    this.usedFiles++;
    this.usedBytes += bytes.length;
    const file = join(rules.dir, `${name}-${this.usedFiles}.http`);
    await writeFile(file, bytes, { mode: 0o600, flag: 'wx' });
    if (this.isFailing) this.tell('info', 'captures_resumed', { dir: rules.dir });
    this.isFailing = false;
  }

  /** Told once, until a capture is written again. The next one looks at the folder anew. */
  private hasFailed(dir: string, error: unknown): void {
    this.failed++;
    this.dir = '';
    if (this.isFailing) return;
    this.isFailing = true;
    const cause = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    this.tell('warn', 'captures_failed', { dir, cause });
  }

  private tell(level: 'info' | 'warn', what: string, detail: Record<string, string>): void {
    this.emit({ type: 'note', level, what, detail });
  }

  /** Makes the folder and counts what is in it. */
  private async open(dir: string): Promise<void> {
    this.usedBytes = 0;
    this.usedFiles = 0;
    await mkdir(dir, { recursive: true, mode: 0o700 });
    for (const name of await readdir(dir)) {
      const { size } = await stat(join(dir, name));
      this.usedFiles++;
      this.usedBytes += size;
    }
  }
}

function fileOf(rules: CaptureRules, what: Parameters<Captures['store']>[1]): Buffer {
  const { ask, answer, seen, verdict } = what;
  const { head } = answer;
  const { target } = ask.context;
  const held = seen.held?.bytes ?? Buffer.alloc(0);
  const body = held.subarray(0, rules.bodyBytes);
  const isWhole = seen.held?.isWhole === true && body.length === held.length;
  const told: [string, string][] = [
    ['Url', `http://${target.authority}${target.path.split('?', 1)[0] ?? ''}`],
    ['Verdict', verdict.name],
    ['Rule', verdict.rule?.name ?? ''],
    ['First-Byte-Ms', String(Math.round(seen.firstByteMs))],
    ['Whole', isWhole ? 'yes' : 'no'],
  ];
  if (answer.framing.kind === 'length') told.push(['Length', String(answer.framing.length)]);
  const fields = redacted(head.fields);
  for (const [name, value] of told) fields.append(`X-Turnpike-Captured-${name}`, value);
  const text = `HTTP/1.1 ${head.status} ${head.reason}\r\n${fields.toWire()}\r\n`;
  return Buffer.concat([Buffer.from(text, 'latin1'), body]);
}

/** The fields without framing, whose body is stored as it is, and without secrets. */
function redacted(fields: Fields): Fields {
  const kept = Fields.empty();
  for (let at = 0; at < fields.length; at++) {
    const lower = fields.lowerNameAt(at);
    if (lower === 'transfer-encoding' || lower === 'content-length') continue;
    kept.append(fields.nameAt(at), safeValue(lower, fields.valueAt(at)));
  }
  return kept;
}

function safeValue(lowerName: string, value: string): string {
  if (lowerName === 'set-cookie') return `${value.split('=', 1)[0] ?? ''}=[redacted]`;
  if (lowerName === 'location') return value.split('?', 1)[0] ?? '';
  return SECRET.test(lowerName) ? '[redacted]' : value;
}
