/**
 * What can answers and rules that mean harm do to the gateway? Zip bombs, patterns that blow up engines with backtracking,
 * and the memory of what is usual at a thousand sites; in this process, on the compiled gateway. The limits are those of
 * SECURITY.md: 32 MiB and 20 ms for a bomb, 50 ms of the event loop for a pattern.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { openLab, stored } from './judge.js';
import { PROJECT_ROOT } from './support/peer.js';

const MIB = 2 ** 20;
const MOST_BOMB_MIB = 32;
const MOST_BOMB_MS = 20;
const MOST_LOOP_MS = 50;
/** Times are the middle of so many. */
const ROUNDS = 5;

/** What is in it is no text, but the first layer does not swell. */
const ONE_LAYER = 'gzip in gzip, as one layer';

/** A figure, its limit, and whether it keeps to it. */
interface Row {
  readonly name: string;
  readonly said: string;
  readonly isGood: boolean;
}

/** Frames of zstd that say "a hundred megabytes of A". */
function zstdBomb(): Buffer {
  const block = (isLast: boolean): Buffer => {
    const head = (131_072 << 3) | 2 | (isLast ? 1 : 0);
    return Buffer.of(head & 255, (head >> 8) & 255, head >> 16, 65);
  };
  const blocks = Array.from({ length: 800 }, (_, n) => block(n === 799));
  return Buffer.concat([Buffer.of(0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3), ...blocks]);
}

/** Name, coding, body. */
function bombs(): [string, string, Buffer][] {
  const zeros = Buffer.alloc(100 * MIB);
  const gzip = gzipSync(zeros);
  const members = Buffer.concat(Array.from({ length: 60 }, () => gzipSync(Buffer.alloc(MIB))));
  return [
    ['gzip', 'gzip', gzip],
    ['gzip, many members', 'gzip', members],
    ['br', 'br', brotliCompressSync(zeros)],
    ['zstd', 'zstd', zstdBomb()],
    [ONE_LAYER, 'gzip', gzipSync(gzip)],
    ['gzip in gzip, as two layers', 'gzip, gzip', gzipSync(gzip)],
  ];
}

const PATTERNS = [
  ...[
    '(a+)+$',
    '([a-zA-Z]+)*$',
    '(a|aa)+$',
    '(a|a?)+$',
    '(.*a){20}$',
    '(a*)*b',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
  ],
  ...[
    '(x+x+)+y',
    '(a+){10}b',
    '(\\w+\\s?)*$',
    '^(\\d+)*$',
    '((a|b)*)*c',
    '(a?){50}a{50}',
    '(a{1,30}){1,30}b',
  ],
  ...['([^@]+)+@', '(?:a|b|ab)*c', '(\\s*\\S+)*!', '^(a+)*(b+)*$', '(.+)+;', '(?:(?:a*)*)*z'],
];
const TEXTS = [
  ...['a'.repeat(64 * 1024), `${'a'.repeat(30)}!`, 'ab'.repeat(32 * 1024), 'x'.repeat(64 * 1024)],
  'a a '.repeat(16 * 1024),
];

interface Turned<T> {
  readonly value: T;
  readonly tookMs: number;
  /** The longest that the event loop was kept from turning meanwhile. */
  readonly loopMs: number;
  /** By how much the peak of the process rose. */
  readonly peakMib: number;
}

/** The most that was resident since the last time, in MiB; the kernel begins anew. */
function peakSinceMib(): number {
  const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  writeFileSync('/proc/self/clear_refs', '5');
  return Number(peak) / 1024;
}

async function watched<T>(work: () => Promise<T>): Promise<Turned<T>> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  peakSinceMib();
  const beforeMib = process.memoryUsage().rss / MIB;
  delay.enable();
  await new Promise((resolve) => setTimeout(resolve, 5));
  delay.reset();
  const startMs = performance.now();
  const value = await work();
  const tookMs = performance.now() - startMs;
  await new Promise((resolve) => setTimeout(resolve, 5));
  delay.disable();
  const peakMib = Math.max(0, peakSinceMib() - beforeMib);
  return { value, tookMs, loopMs: delay.max / 1e6, peakMib };
}

async function bombRows(): Promise<Row[]> {
  const lab = await openLab({ lookAt: 64 * 1024 });
  const judge = (bytes: Buffer, coding: string) =>
    lab.try({ name: 'page', bytes: stored(bytes, coding) }, 'shop.example');
  // What is started for the first of its kind is not the bomb's.
  const page = Buffer.from('<p>shoes</p>'.repeat(2000));
  await judge(gzipSync(page), 'gzip');
  await judge(brotliCompressSync(page), 'br');
  await judge(zstdBomb(), 'zstd');
  const rows: Row[] = [];
  for (const [name, coding, bytes] of bombs()) {
    const rounds: Turned<{ trouble: string | null }>[] = [];
    for (let n = 0; n < ROUNDS; n++) rounds.push(await watched(() => judge(bytes, coding)));
    const middle = (of: (round: Turned<unknown>) => number): number =>
      rounds.map(of).sort((a, b) => a - b)[ROUNDS >> 1] ?? NaN;
    const trouble = rounds[0]?.value.trouble ?? null;
    const [tookMs, loopMs] = [middle((round) => round.tookMs), middle((round) => round.loopMs)];
    const peakMib = Math.max(...rounds.map((round) => round.peakMib));
    const isTold = trouble !== null || name === ONE_LAYER;
    const isGood = isTold && tookMs < MOST_BOMB_MS && peakMib <= MOST_BOMB_MIB;
    const said = `${tookMs.toFixed(1)} ms, loop ${loopMs.toFixed(1)} ms, peak RSS +${peakMib.toFixed(1)} MiB: ${trouble ?? 'judged'}`;
    rows.push({ name: `bomb: ${name}`, said, isGood });
  }
  await lab.close();
  return rows;
}

async function patternRows(): Promise<Row[]> {
  let compileMs = 0;
  let worst = { loopMs: 0, tookMs: 0, pattern: '' };
  let peakMib = 0;
  let refused = 0;
  for (const pattern of PATTERNS) {
    const rule = { name: 'evil', when: { body: { contains: ['a', 'x'], matches: pattern } } };
    const loaded = await watched(() => openLab({ lookAt: 64 * 1024, rules: [rule] }).catch(() => null));
    compileMs = Math.max(compileMs, loaded.loopMs, loaded.tookMs);
    const lab = loaded.value;
    if (lab === null) {
      refused++;
      continue;
    }
    for (const text of TEXTS) {
      const bytes = stored(Buffer.from(text), '');
      const met = await watched(() => lab.try({ name: 'page', bytes }, 'shop.example'));
      peakMib = Math.max(peakMib, met.peakMib);
      if (met.loopMs > worst.loopMs) worst = { loopMs: met.loopMs, tookMs: met.tookMs, pattern };
    }
    await lab.close();
  }
  const said = `longest loop delay ${worst.loopMs.toFixed(1)} ms (${worst.pattern}, judged in ${worst.tookMs.toFixed(0)} ms), peak RSS +${peakMib.toFixed(0)} MiB`;
  return [
    { name: `${PATTERNS.length} patterns, ${TEXTS.length} texts`, said, isGood: worst.loopMs < MOST_LOOP_MS },
    {
      name: 'the same at load',
      said: `${compileMs.toFixed(1)} ms, ${refused} refused`,
      isGood: compileMs < 1000,
    },
  ];
}

/** Collects what nobody holds. Allowed to be set late: only a fresh context then has the function. */
function collect(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

async function baselineRow(): Promise<Row> {
  const { Baseline } = (await import(join(PROJECT_ROOT, 'dist/outcome/baseline.js'))) as {
    Baseline: new () => { learn(kind: object, answer: object): void };
  };
  collect();
  const before = process.memoryUsage();
  const baseline = new Baseline();
  const met = await watched(async () => {
    for (let round = 0; round < 40; round++) {
      for (let site = 0; site < 1000; site++) {
        const host = `site-${site}.example`;
        for (let shape = 0; shape < 10; shape++)
          baseline.learn(
            { host, path: `/kind-${shape}/${round}`, coding: '' },
            { size: 9000 + round, firstByteMs: 50 },
          );
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  });
  collect();
  const after = process.memoryUsage();
  const mib = (after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers) / MIB;
  const said = `${mib.toFixed(1)} MiB, ${((met.tookMs * 1000) / 400_000).toFixed(1)} µs an answer`;
  return {
    name: 'what is usual, 1,000 sites of 10 shapes, 400,000 answers',
    said,
    isGood: mib <= MOST_BOMB_MIB,
  };
}

/** Runs and prints; the exit code: 1 where a limit was not kept. */
export async function benchHostile(): Promise<number> {
  console.log(
    `hostile answers and rules (limits: bombs ${MOST_BOMB_MS} ms and ${MOST_BOMB_MIB} MiB, patterns ${MOST_LOOP_MS} ms of the loop), node ${process.version}`,
  );
  const rows = [...(await bombRows()), ...(await patternRows()), await baselineRow()];
  for (const { name, said, isGood } of rows)
    console.log(`  ${name.padEnd(58)}${said}${isGood ? '' : '  – OVER THE LIMIT'}`);
  return rows.every(({ isGood }) => isGood) ? 0 : 1;
}
