/**
 * The examples of a page, run as they stand: each shell block with a `curl` in it, one after the other in one shell, and
 * the JSON block behind it as what its answer must hold. In expected text `…` stands for anything.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** One example. */
export interface Example {
  readonly script: string;
  /** What the answer must hold; null where the page shows none. */
  readonly expected: unknown;
}

/** An example with what it printed. */
export interface RanExample extends Example {
  readonly answer: unknown;
  readonly printed: string;
}

const blocks = /^```(sh|json)\n([\s\S]*?)^```$/gm;

/** The examples of a page, in their order. */
export function examplesIn(page: string): Example[] {
  const text = readFileSync(resolve(import.meta.dirname, '../..', page), 'utf8');
  const found: { script: string; expected: unknown }[] = [];
  for (const [, kind, body = ''] of text.matchAll(blocks)) {
    const last = found.at(-1);
    if (kind === 'json' && last?.expected === null) last.expected = JSON.parse(body);
    if (kind === 'sh' && body.includes('curl')) found.push({ script: body, expected: null });
  }
  return found;
}

/** What a page needs of jq, for machines without it: `jq -r .a.b[0]`. */
const jq = `jq() { node -e '
const at = process.argv[1].replace(/\\[(\\d+)\\]/g, ".$1").split(".").slice(1);
let value = JSON.parse(require("fs").readFileSync(0, "utf8"));
for (const step of at) value = value?.[step];
console.log(typeof value === "string" ? value : JSON.stringify(value));' "$2"; }
`;
const mark = '@@@ example';

/** Runs them in one shell. @param world `admin` in place of the address that the page writes, and variables */
export async function runExamples(
  examples: readonly Example[],
  world: { readonly admin: string; readonly env: Readonly<Record<string, string>> },
): Promise<RanExample[]> {
  const scripts = examples.map(({ script }) => script.replaceAll('http://127.0.0.1:8081', world.admin));
  const whole = `${jq}${scripts.map((script) => `echo '${mark}'\n${script}\necho`).join('\n')}`;
  const env = { PATH: process.env['PATH'] ?? '', ...world.env };
  const printed = await new Promise<string>((done, fail) => {
    execFile('bash', ['-c', whole], { env, timeout: 120_000 }, (error, stdout, stderr) => {
      if (error === null) done(stdout);
      else fail(new Error(`the shell failed: ${error.message} ${stderr}`));
    });
  });
  const parts = printed.split(`${mark}\n`).slice(1);
  return examples.map((example, index) => {
    const text = (parts[index] ?? '').trim();
    return { ...example, printed: text, answer: jsonIn(text) };
  });
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Where an answer does not hold what is expected; empty where it does. More fields than expected are fine. */
export function differences(expected: unknown, found: unknown, at = ''): string[] {
  if (typeof expected === 'string' && expected.includes('…')) {
    const pattern = expected.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    const fits = typeof found === 'string' && new RegExp(`^${pattern.join('.+')}$`, 's').test(found);
    return fits ? [] : [`${at}: ${JSON.stringify(found)} is not ${expected}`];
  }
  if (typeof expected === 'object' && expected !== null) {
    if (typeof found !== 'object' || found === null) return [`${at}: ${JSON.stringify(found)} is no object`];
    const values = found as Record<string, unknown>;
    return Object.entries(expected).flatMap(([name, value]) =>
      differences(value, values[name], `${at}.${name}`),
    );
  }
  return Object.is(expected, found)
    ? []
    : [`${at}: ${JSON.stringify(found)} is not ${JSON.stringify(expected)}`];
}
