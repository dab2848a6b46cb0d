/**
 * The audit in a file: lines of JSON, appended and synced in groups. A line that a crash or a full disk tore is ended and
 * marked before the next one. The file may be moved away at any time; it is opened anew when told.
 */
import { closeSync, constants, fsyncSync, openSync } from 'node:fs';
import { open, stat, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { AuditRow } from '../storage/ports.js';
import { anchorLine, headOfLine, readAuditLine, recordLine, tornMark } from './lines.js';
import { linesOf } from './reading.js';
import type { AuditSink, ChainHead } from './sink.js';

const { O_APPEND, O_CREAT, O_WRONLY } = constants;
const LINE_FEED = 10;
/** What is looked at of the end of a file, for chains of processes before. */
const tailBytes = 16 * 1024 * 1024;

/** One file of the audit. */
export class AuditFile implements AuditSink {
  readonly name = 'file';
  private handle: FileHandle | null = null;
  private isStale = false;
  /** Whether the last thing in the file is half a line. */
  private isTorn = false;
  /** How far each chain has come in here. */
  private readonly written = new Map<string, ChainHead>();

  constructor(readonly path: string) {}

  async append(rows: readonly AuditRow[]): Promise<void> {
    await this.write(rows.map(recordLine));
    for (const { chain, n, hash, atMs } of rows) this.written.set(chain, { chain, n, hash, atMs });
  }

  async anchor(head: ChainHead): Promise<void> {
    await this.write([anchorLine(head)]);
  }

  async heads(): Promise<readonly ChainHead[]> {
    await this.opened();
    const heads = new Map<string, ChainHead>();
    for await (const { head } of this.tail()) {
      if (head.n > (heads.get(head.chain)?.n ?? 0)) heads.set(head.chain, head);
    }
    return [...heads.values()];
  }

  async read(chain: string, from: number, limit: number): Promise<readonly AuditRow[]> {
    const rows: AuditRow[] = [];
    let next = from;
    for await (const { head, text } of this.tail()) {
      if (head.chain !== chain || head.n !== next) continue;
      const line = readAuditLine(text);
      if (line.kind !== 'record') continue;
      rows.push(line.row);
      next += 1;
      if (rows.length === limit) break;
    }
    return rows;
  }

  /** The file was moved away: the next record goes to a new one. */
  reopen(): void {
    this.isStale = true;
  }

  async close(): Promise<void> {
    const { handle } = this;
    this.handle = null;
    await handle?.close();
  }

  private async write(lines: readonly string[]): Promise<void> {
    const handle = await this.opened();
    const mark = this.isTorn ? `\n${tornMark}\n` : '';
    const bytes = Buffer.from(`${mark}${lines.join('\n')}\n`, 'utf8');
    let at = 0;
    try {
      while (at < bytes.length) at += (await handle.write(bytes, at)).bytesWritten;
      this.isTorn = false;
    } catch (error) {
      if (at > 0) this.isTorn = bytes[at - 1] !== LINE_FEED;
      throw error;
    }
    // After a failed sync nobody knows what is on the disk: whoever called gives the same records again.
    await handle.datasync();
  }

  private async opened(): Promise<FileHandle> {
    if (this.handle !== null && !this.isStale) return this.handle;
    const old = this.handle;
    const handle = await open(this.path, O_APPEND | O_CREAT | O_WRONLY, 0o600);
    try {
      this.isTorn = await endsTorn(this.path);
    } catch (error) {
      await handle.close();
      throw error;
    }
    this.isStale = false;
    this.handle = handle;
    syncFolder(this.path);
    if (old !== null) {
      await old.close();
      // What stands before is in another file now; with these lines the new one can be verified alone.
      for (const head of this.written.values()) await this.anchor(head);
    }
    return handle;
  }

  /** The records at the end of the file. */
  private async *tail(): AsyncGenerator<{ readonly head: ChainHead; readonly text: string }> {
    const { size } = await stat(this.path);
    for await (const { text } of linesOf(this.path, Math.max(0, size - tailBytes))) {
      const head = headOfLine(text);
      if (head !== null) yield { head, text };
    }
  }
}

/** Whether the last byte of a file is anything but the end of a line. */
async function endsTorn(path: string): Promise<boolean> {
  const handle = await open(path, 'r');
  try {
    const about = await handle.stat();
    if (!about.isFile() || about.size === 0) return false;
    const last = Buffer.alloc(1);
    await handle.read(last, 0, 1, about.size - 1);
    return last[0] !== LINE_FEED;
  } finally {
    await handle.close();
  }
}

/** Makes a new file's name durable. */
function syncFolder(path: string): void {
  try {
    const fd = openSync(dirname(path), 'r');
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch {
    // Some file systems sync no folders; the records themselves are synced in any case.
  }
}
