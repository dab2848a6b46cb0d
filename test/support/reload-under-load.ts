/**
 * A gateway as people run it, reloaded by signal while downloads are under way: for a few of them in the integration
 * tests, for a hundred in the long ones.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { beginDownload, hashOfAnswer, startGatedExit, type Download } from './gated-exit.js';
import { waitFor } from './wait.js';

const main = resolve(import.meta.dirname, '../../dist/cli/main.js');
const PIECES = 64;

/** A line of the log. */
export type LogLine = Record<string, unknown> & { readonly event: string };

/** A gateway in a process of its own, with its configuration file. */
export class GatewayProcess {
  readonly file: string;
  private readonly folder = mkdtempSync(join(tmpdir(), 'turnpike-process-'));
  private readonly child: ChildProcess;
  private readonly ended: Promise<number | null>;
  private told = '';

  constructor(tree: Record<string, unknown>) {
    this.file = join(this.folder, 'turnpike.yaml');
    this.write(tree);
    this.child = spawn(process.execPath, [main, 'serve', '--config', this.file], {
      env: { PATH: process.env['PATH'] ?? '' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.child.stderr?.on('data', (chunk: Buffer) => (this.told += chunk.toString()));
    this.ended = new Promise((done) => this.child.once('close', (code) => done(code)));
  }

  /** The port of the first listener. */
  port(): Promise<number> {
    return waitFor('the listener', () => {
      const port = /proxy {2}http:\/\/\S*:(\d+)/.exec(this.told)?.[1];
      return port === undefined ? null : Number(port);
    });
  }

  /** Writes the configuration file, a tree with what this class adds or any text. */
  write(content: Record<string, unknown> | string): void {
    const common = {
      listen: { proxy: '127.0.0.1:0', admin: 'off' },
      log: { file: join(this.folder, 'gateway.log') },
    };
    writeFileSync(this.file, typeof content === 'string' ? content : stringify({ ...common, ...content }));
  }

  hangUp(): void {
    this.child.kill('SIGHUP');
  }

  /** Waits for the nth line (from 0) of this event. */
  line(event: string, nth = 0): Promise<LogLine> {
    return waitFor(`line ${nth} of ${event} in the log`, () => this.lines(event)[nth]);
  }

  lines(event: string): LogLine[] {
    const text = readFileSync(join(this.folder, 'gateway.log'), 'utf8');
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as LogLine)
      .filter((line) => line.event === event);
  }

  /** Asks it to end; the exit code tells whether something was cut. */
  async stop(): Promise<number | null> {
    this.child.kill('SIGTERM');
    const code = await this.ended;
    rmSync(this.folder, { recursive: true, force: true });
    return code;
  }
}

/** What happened to the downloads and to the configuration. */
export interface ReloadedUnderLoad {
  /** Names of downloads that came broken, mixed up or not at all. */
  readonly broken: readonly string[];
  readonly applied: LogLine;
  readonly kept: LogLine;
  /** How many exchanges the log calls complete. */
  readonly complete: number;
  readonly exitCode: number | null;
}

/**
 * Begins so many downloads, every other one through a tunnel, reloads with other exits, clients and routes, reloads
 * with a broken file, and only then lets the downloads go on.
 */
export async function reloadUnderLoad(count: number): Promise<ReloadedUnderLoad> {
  const exit = await startGatedExit(PIECES);
  const pool = (url: string) => ({ main: { upstreams: [{ url }] } });
  const gateway = new GatewayProcess({ pools: pool(exit.upstream.url) });
  try {
    const port = await gateway.port();
    const downloads: Download[] = [];
    for (let i = 0; i < count; i++) {
      downloads.push(await beginDownload({ port, name: `d${i}` }, i % 2 === 0 ? 'plain' : 'tunnel', PIECES));
    }
    await waitFor('all downloads at the gate', () => exit.waiting() === count, 30_000);
    gateway.write({
      pools: pool('http://127.0.0.1:1'),
      routes: [{ name: 'renamed', match: {} }],
      clients: [{ name: 'new', password: 'secret', allow_from: ['127.0.0.1'] }],
    });
    gateway.hangUp();
    const applied = await gateway.line('config_applied');
    gateway.write('pools: [broken');
    gateway.hangUp();
    const kept = await gateway.line('config_kept');
    exit.open();
    const broken = await Promise.all(downloads.map(isBroken));
    const complete = await waitFor('the log of all of them', () => {
      const lines = gateway.lines('exchange').filter(({ end }) => end === 'complete');
      return lines.length >= count ? lines.length : null;
    });
    const exitCode = await gateway.stop();
    return { broken: broken.filter((name) => name !== null), applied, kept, complete, exitCode };
  } finally {
    await gateway.stop();
    await exit.upstream.close();
  }
}

async function isBroken({ name, hash }: Download): Promise<string | null> {
  const got = await hash.catch(() => 'cut');
  return got === hashOfAnswer(name, PIECES) ? null : name;
}
