/**
 * Where log lines go: a bounded buffer in front of a file or standard output, written by the thread pool.
 * A full disk, a closed pipe or a reader that has stopped costs lines, which are counted, and nothing else.
 *
 * Not sonic-boom, which pino brings: its flush at exit tries for ever when the disk is full.
 */
import { close, fstatSync, openSync, write, writeSync } from 'node:fs';
import type { Clock, Timer } from '../core/clock.js';
import { LineBuffer } from './line-buffer.js';

const flushBytes = 16 * 1024;
const flushMs = 500;
const busyMs = 50;
const mostBufferedBytes = 4 * 1024 * 1024;
const closeWithinMs = 2000;
const LINE_FEED = Buffer.from('\n');

/** Takes whole lines. */
export interface LogSink {
  /** Takes a line that ends with a line feed. Never throws, never waits. */
  write(line: string): void;
  /** Lines that were lost: the buffer was full, or could not be written. */
  dropped(): number;
  /** Opens the file anew, after it was moved away. */
  reopen(): void;
  /** Writes what is left, for two seconds at most, and closes. */
  close(): Promise<void>;
}

const countLines = (bytes: Buffer): number => {
  let lines = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) lines += 1;
  return lines;
};

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';

class FileSink implements LogSink {
  private fd: number;
  private readonly lines = new LineBuffer(mostBufferedBytes);
  private inFlight: Buffer | null = null;
  private timer: Timer | null = null;
  private lost = 0;
  /** Whether the last thing in the file is half a line. */
  private isTorn = false;
  private isClosed = false;
  private whenIdle: (() => void) | null = null;
  private isOver = false;
  private readonly atExit = (): void => this.writeAtExit();

  constructor(
    private readonly file: string | null,
    private readonly clock: Clock,
  ) {
    this.fd = file === null ? standardOutput() : openSync(file, 'a', 0o640);
    process.on('exit', this.atExit);
  }

  write(line: string): void {
    if (this.isClosed || !this.lines.add(line)) {
      this.lost += 1;
      return;
    }
    if (this.inFlight !== null) return;
    if (this.lines.bytes >= flushBytes && this.timer === null) this.flush();
    else this.timer ??= this.clock.after(flushMs, () => this.onTimer());
  }

  dropped(): number {
    return this.lost;
  }

  reopen(): void {
    if (this.file === null || this.isClosed) return;
    try {
      const old = this.fd;
      this.fd = openSync(this.file, 'a', 0o640);
      this.isTorn = false;
      close(old, () => undefined);
    } catch {
      // The old file is still open and takes the lines.
    }
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    await new Promise<void>((resolve) => {
      const limit = this.clock.after(closeWithinMs, () => {
        this.giveUp();
        resolve();
      });
      this.whenIdle = () => {
        limit.cancel();
        resolve();
      };
      if (this.inFlight === null) this.flush();
    });
    this.timer?.cancel();
    process.off('exit', this.atExit);
    if (this.file !== null) close(this.fd, () => undefined);
  }

  /** What could not be written until now is lost. */
  private giveUp(): void {
    this.isOver = true;
    this.lost += countLines(this.inFlight ?? Buffer.alloc(0)) + countLines(this.lines.take());
  }

  private onTimer(): void {
    this.timer = null;
    this.flush();
  }

  private flush(): void {
    if (this.inFlight !== null) return;
    if (this.lines.bytes === 0) {
      this.whenIdle?.();
      return;
    }
    const bytes = this.lines.take();
    this.send(this.isTorn ? Buffer.concat([LINE_FEED, bytes]) : bytes);
  }

  private send(bytes: Buffer): void {
    if (this.isOver) return;
    this.inFlight = bytes;
    write(this.fd, bytes, 0, bytes.length, null, (error, written) => this.sent(bytes, error, written));
  }

  private sent(bytes: Buffer, error: NodeJS.ErrnoException | null, written: number): void {
    if (this.isOver) return;
    if (error !== null) {
      this.failed(bytes, error);
      return;
    }
    if (written < bytes.length) {
      this.isTorn = bytes[written - 1] !== 10;
      this.send(bytes.subarray(written));
      return;
    }
    this.inFlight = null;
    this.isTorn = false;
    if (this.lines.bytes >= flushBytes || this.whenIdle !== null) this.flush();
    else if (this.lines.bytes > 0) this.timer ??= this.clock.after(flushMs, () => this.onTimer());
  }

  private failed(bytes: Buffer, error: NodeJS.ErrnoException): void {
    if (codeOf(error) === 'EAGAIN') {
      this.clock.after(busyMs, () => this.send(bytes));
      return;
    }
    this.lost += countLines(bytes);
    this.inFlight = null;
    if (this.whenIdle !== null) {
      this.lost += countLines(this.lines.take());
      this.whenIdle();
    } else this.timer ??= this.clock.after(flushMs, () => this.onTimer());
  }

  /** The process ends without `close`: one try, no waiting. */
  private writeAtExit(): void {
    if (this.lines.bytes === 0 || this.isClosed) return;
    try {
      let rest = this.lines.take();
      while (rest.length > 0) rest = rest.subarray(writeSync(this.fd, rest));
    } catch {
      // Nobody is left to tell.
    }
  }
}

/**
 * Standard output. A pipe or socket becomes non-blocking by touching `process.stdout`; otherwise a reader that has
 * stopped would hold a thread of the pool, and the end of the process, for ever.
 */
function standardOutput(): number {
  if (!fstatSync(1).isFile()) void process.stdout.writable;
  return 1;
}

/** Opens a sink on a file (appending), or on standard output for null. Throws when the file can't be opened. */
export function openLogSink(file: string | null, clock: Clock): LogSink {
  return new FileSink(file, clock);
}
