/**
 * Part of the fuzz run in every test run: the whole corpus as it is, then spoiled inputs from a fixed seed. `npm run fuzz`
 * does the same with more of them.
 */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCampaign } from './campaign.js';
import { answerShares, Inputs, streamShares } from './inputs.js';

const corpus = join(import.meta.dirname, 'corpus');
const COUNT = 5_000;
const PATIENCE_MS = 240_000;

describe.each([
  ['streams', streamShares],
  ['answers', answerShares],
] as const)('%s from a corpus, spoiled', (what, shares) => {
  it(
    'reach the other side as what they are or not at all, and never another answer than their own',
    { timeout: PATIENCE_MS },
    async () => {
      const inputs = new Inputs(corpus, 20_261_130, shares);
      const { findings, cpuMs, ...figures } = await runCampaign(what, inputs, COUNT);
      expect(
        findings.map(({ input, complaint }) => [complaint, input.way, input.bytes.toString('latin1')]),
      ).toEqual([]);
      expect(figures).toMatchObject({ mixUps: 0, hangs: 0, uncaught: 0 });
      expect(figures.marks).toBe(COUNT + inputs.corpus().length);
      expect(figures.reached).toBeGreaterThan(COUNT / 10);
    },
  );
});
