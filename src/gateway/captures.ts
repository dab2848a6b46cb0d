/**
 * Stores judged answers as files for the rule lab (`app/stored-answer.ts` reads them): bodies bounded, secrets taken
 * out, the folder bounded. A full or unwritable folder costs captures and nothing else.
 */
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
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
  private opening: Promise<boolean> | null = null;
  private dir = '';

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
    void this.write(rules, `${what.ask.context.requestId}-${what.verdict.name}`, bytes).finally(
      () => this.writing--,
    );
  }

  private async write(rules: CaptureRules, name: string, bytes: Buffer): Promise<void> {
    if (this.dir !== rules.dir) {
      this.dir = rules.dir;
      this.opening = this.open(rules.dir);
    }
    if ((await this.opening) !== true) return;
    if (this.usedFiles >= rules.files || this.usedBytes + bytes.length > rules.totalBytes) return;
    this.usedFiles++;
    this.usedBytes += bytes.length;
    const file = join(rules.dir, `${name}-${this.usedFiles}.http`);
    await writeFile(file, bytes, { mode: 0o600, flag: 'wx' }).catch(() => undefined);
  }

  /** Makes the folder and counts what is in it. */
  private async open(dir: string): Promise<boolean> {
    this.usedBytes = 0;
    this.usedFiles = 0;
    try {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      for (const name of await readdir(dir)) {
        const { size } = await stat(join(dir, name));
        this.usedFiles++;
        this.usedBytes += size;
      }
      return true;
    } catch {
      return false;
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
