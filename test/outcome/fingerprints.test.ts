/** Every shipped rule has a sample that it means and one that it must not mean, both judged by the rule lab. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openLab } from '../../src/app/open-lab.js';
import { loadRules } from '../../src/config/rule-file.js';
import { fingerprintsYaml } from '../../src/config/rule-yaml.js';
import { fingerprints } from '../../src/outcome/fingerprints.js';

const folder = join(import.meta.dirname, 'samples');
const shipped = loadRules('');
if (shipped.kind === 'problems') throw new Error('the shipped rules have problems');
const lab = openLab(shipped.rules, shipped.detection);
afterAll(() => lab.close());

const tried = (name: string, kind: 'positive' | 'negative') =>
  lab.try({ name, bytes: readFileSync(join(folder, name, `${kind}.http`)) }, 'shop.example');

describe('shipped fingerprints', () => {
  it('have a folder of samples each, and no folder is without a rule', () => {
    expect(readdirSync(folder).sort()).toEqual(fingerprints.map(({ name }) => name).sort());
  });

  it('are what the generated file says, when it is read as a configuration', () => {
    const read = loadRules(`${fingerprintsYaml()}detection: { fingerprints: false }\n`);
    expect(read.kind === 'rules' && JSON.parse(JSON.stringify(read.rules))).toEqual(
      JSON.parse(
        JSON.stringify(
          fingerprints.map((each) => ({ ...each, then: each.shadow ? ['ban', 'retry'] : each.then })),
        ),
      ),
    );
  });

  it.each(fingerprints.map(({ name, shadow }) => [name, shadow ? 'present' : 'blocked'] as const))(
    '%s: %s',
    async (name, kind) => {
      const positive = await tried(name, 'positive');
      expect(positive.matches.map(({ rule }) => rule)).toContain(name);
      if (kind === 'blocked') expect(positive).toMatchObject({ verdict: 'blocked', rule: name });
      else expect(positive).toMatchObject({ verdict: 'ok', rule: null });
      const negative = await tried(name, 'negative');
      expect(negative.matches.map(({ rule }) => rule)).not.toContain(name);
      expect(negative.rule).toBe(null);
      expect(negative.trouble).toBe(null);
    },
  );

  it('leave an origin that Cloudflare can not reach to the target', async () => {
    expect(await tried('cloudflare-block', 'negative')).toMatchObject({
      verdict: 'target_failed',
      rule: null,
    });
  });
});
