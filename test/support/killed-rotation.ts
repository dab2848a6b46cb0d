/** Keys that rotate while secrets are used, by processes that are killed at random points. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { seededRandom } from '../../src/core/random.js';
import type { Database } from '../../src/storage/ports.js';
import type { KeyRotation } from '../../src/vault/rotation.js';
import type { Vault } from '../../src/vault/vault.js';
import { keepSecrets, recordsUnder, shownSecret, vaultOver } from '../contract/vault.js';
import { percentile } from './fleet.js';
import { eventually } from './wait.js';

/** How much of it. */
export interface KilledRotation {
  /** As `rotating-gateway.mjs` takes it. */
  readonly storage: Readonly<Record<string, unknown>>;
  connect(): Promise<Database>;
  readonly secrets: number;
  readonly kills: number;
  readonly usesPerSecond: number;
  readonly reencrypt: boolean;
  readonly seed: number;
}

/** What came of it. */
export interface KilledFigures {
  readonly uses: number;
  readonly failures: readonly string[];
  readonly usesPerSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** Seconds in which a use took longer than 250 ms. */
  readonly stalls: number;
  /** Kills that hit a process which had begun to move records. */
  readonly struck: number;
  /** Keys that were made. */
  readonly terms: number;
  /** Secrets that did not say at the end what they said at the beginning. */
  readonly wrong: number;
  /** Secrets by the term of their key. */
  readonly under: Readonly<Record<string, number>>;
  readonly newest: number;
  readonly complaints: string;
}

const script = join(import.meta.dirname, 'rotating-gateway.mjs');

const SLOW_MS = 250;

/** Uses secrets at a steady rate. */
class Uses {
  readonly tookMs: number[] = [];
  readonly slowSeconds = new Set<number>();
  readonly failures: string[] = [];
  readonly beganMs = performance.now();
  private readonly timer: NodeJS.Timeout;
  private begun = 0;
  private underWay = 0;

  constructor(
    private readonly use: (n: number) => Promise<void>,
    perSecond: number,
  ) {
    this.timer = setInterval(() => {
      const due = ((performance.now() - this.beganMs) / 1000) * perSecond;
      while (this.begun < due) void this.one(this.begun++);
    }, 5);
  }

  private async one(n: number): Promise<void> {
    const beganMs = performance.now();
    this.underWay += 1;
    try {
      await this.use(n);
      const tookMs = performance.now() - beganMs;
      this.tookMs.push(tookMs);
      if (tookMs > SLOW_MS) this.slowSeconds.add(Math.floor((beganMs - this.beganMs) / 1000));
    } catch (error) {
      this.failures.push(String(error));
    } finally {
      this.underWay -= 1;
    }
  }

  /** Ends, and waits for those under way. */
  async end(): Promise<number> {
    clearInterval(this.timer);
    const perSecond = this.begun / ((performance.now() - this.beganMs) / 1000);
    await eventually('the last uses', async () => this.underWay === 0);
    return perSecond;
  }
}

/** Runs it. */
export async function killedRotation(run: KilledRotation): Promise<KilledFigures> {
  const root = randomBytes(32);
  const random = seededRandom(run.seed);
  const db = await run.connect();
  const reader = await vaultOver(db, 'reader', root);
  // It only reads: who rotates is killed.
  await (reader.rotation as KeyRotation).stop();
  await keepSecrets(db, reader, run.secrets);
  const uses = new Uses(async () => {
    const n = random.below(run.secrets);
    const shown = await shownSecret(db, reader, `c-${n}`);
    if (shown !== `secret ${n}`) throw new Error(`c-${n} says ${shown}`);
  }, run.usesPerSecond);
  let complaints = '';
  let struck = 0;
  const begin = async (instance: string, rotates: boolean) => {
    const { storage, reencrypt } = run;
    const given = JSON.stringify({ storage, key: root.toString('base64'), instance, rotates, reencrypt });
    const child = spawn(process.execPath, [script, given], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stderr.on('data', (text: Buffer) => (complaints += text.toString()));
    let said = '';
    child.stdout.on('data', (text: Buffer) => (said += text.toString()));
    await once(child.stdout, 'data');
    return { child, hasMoved: () => said.includes('moves') };
  };
  const end = async ({ child }: Awaited<ReturnType<typeof begin>>): Promise<void> => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  for (let kill = 0; kill < run.kills; kill += 1) {
    // One in five comes under a name of its own, and waits until its forerunner's leadership has run out.
    const begun = await begin(`rotator ${random.below(5) > 0 ? '' : kill}`, true);
    await new Promise((resolve) => setTimeout(resolve, random.float() * 700));
    if (begun.hasMoved()) struck += 1;
    await end(begun);
  }
  const last = await begin('last', false);
  const newest = async (): Promise<number> => Math.max(...(await db.keys.all()).map(({ term }) => term));
  const isOver = async (): Promise<boolean> => {
    const isPending = (await db.keys.all()).some(({ state }) => state === 'pending');
    return !isPending && (await recordsUnder(db))[await newest()] === run.secrets;
  };
  await eventually('the end of the last rotation', isOver, 120_000);
  await end(last);
  const usesPerSecond = await uses.end();
  const figures = await looked(db, reader, run.secrets);
  await reader.close();
  const took = [50, 99, 100].map((percent) => percentile(uses.tookMs, percent) ?? 0);
  return {
    ...{ uses: uses.tookMs.length, failures: uses.failures, usesPerSecond, complaints, struck },
    ...{ p50: took[0] ?? 0, p99: took[1] ?? 0, max: took[2] ?? 0, stalls: uses.slowSeconds.size },
    ...figures,
  };
}

async function looked(db: Database, vault: Vault, secrets: number) {
  let wrong = 0;
  for (let n = 0; n < secrets; n += 1) {
    if ((await shownSecret(db, vault, `c-${n}`)) !== `secret ${n}`) wrong += 1;
  }
  const keys = (await db.keys.all()).filter(({ state }) => state !== 'derive');
  const newest = Math.max(...keys.map(({ term }) => term));
  return { wrong, under: await recordsUnder(db), terms: keys.length, newest };
}
