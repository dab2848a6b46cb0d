/**
 * `npm run fuzz -- --streams 100000 --answers 50000 --seed 1`: runs both, prints a table, keeps what it finds in the corpus.
 * Exit code 1 on any finding.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runCampaign, type Figures } from './campaign.js';
import { saveFound } from './corpus.js';
import { answerShares, Inputs, streamShares } from './inputs.js';

const FOLDER = join(process.cwd(), 'test/fuzz/corpus');

const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '100000' },
    answers: { type: 'string', default: '50000' },
    seed: { type: 'string', default: '1' },
  },
});

const seed = Number(values.seed);
let isClean = true;
for (const [what, shares, count] of [
  ['streams', streamShares, Number(values.streams)],
  ['answers', answerShares, Number(values.answers)],
] as const) {
  if (!Number.isSafeInteger(count) || !Number.isSafeInteger(seed))
    throw new Error('the options want whole numbers');
  const figures = await runCampaign(what, new Inputs(FOLDER, seed, shares), count);
  print(what, figures);
  for (const { input, complaint } of figures.findings) {
    isClean = false;
    console.log(`  FOUND (${input.way}) ${complaint}\n        ${saveFound(FOLDER, input.kind, input.bytes)}`);
  }
}
process.exitCode = isClean ? 0 : 1;

function print(what: string, figures: Figures): void {
  const sorted = figures.cpuMs.sort((a, b) => a - b);
  const at = (share: number): string => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(2);
  const rows: readonly (readonly [string, string | number])[] = [
    ['inputs', figures.inputs],
    ['requests that reached the upstream', figures.reached],
    ['marked questions after them', figures.marks],
    ['mix-ups', figures.mixUps],
    ['errors and rejections that nobody caught', figures.uncaught],
    ['hangs', figures.hangs],
    ['findings', figures.findings.length],
    ['CPU per input, all sides: p50 ms', at(0.5)],
    ['CPU per input, all sides: p99.9 ms', at(0.999)],
    ['longest block of the event loop, ms', figures.blockedMs.toFixed(1)],
  ];
  console.log(`\n${what} (seed ${seed})`);
  for (const [name, value] of rows) console.log(`  ${name.padEnd(44)}${String(value).padStart(10)}`);
}
