/**
 * How much CPU does judging a 64 KiB page of HTML cost, plain and compressed, with the shipped rules? In this process,
 * on the compiled gateway; the goal is 1 ms all in.
 */
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { PROJECT_ROOT } from './support/peer.js';

/** The rule lab, as far as it is used here. */
export interface OpenLab {
  try(
    sample: { name: string; bytes: Buffer },
    host: string,
  ): Promise<{ verdict: string; trouble: string | null }>;
  close(): Promise<void>;
}

const GOAL_US = 1000;
const SIZE = 64 * 1024;

/** A page of a shop, about as repetitive as such pages are. */
function page(): Buffer {
  let text = '<!doctype html><html><head><title>Shoes</title></head><body>';
  for (let n = 0; text.length < SIZE; n++) {
    const code = ((n * 2_654_435_761) >>> 0).toString(36);
    text += `<div class="item i-${n % 97}"><a href="/p/${code}">Shoe ${code}</a><span class="price">${n % 200}.90</span></div>\n`;
  }
  return Buffer.from(text.slice(0, SIZE));
}

/** An answer with this body, as the lab reads it. */
export function stored(body: Buffer, coding: string): Buffer {
  const fields = coding === '' ? '' : `Content-Encoding: ${coding}\r\n`;
  const head = `HTTP/1.1 200 OK\r\nServer: nginx\r\nContent-Type: text/html\r\n${fields}\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

/** Opens the compiled gateway's lab. @throws Error where the rules are refused */
export async function openLab(of: { lookAt: number; rules?: readonly object[] }): Promise<OpenLab> {
  const lab = (await import(join(PROJECT_ROOT, 'dist/app/open-lab.js'))) as {
    openLab(rules: unknown, detection: unknown): OpenLab;
  };
  const { loadRules } = (await import(join(PROJECT_ROOT, 'dist/config/rule-file.js'))) as {
    loadRules(text: string): { kind: string; rules: unknown; detection: object };
  };
  const text = JSON.stringify({ detection: { look_at: of.lookAt }, rules: of.rules ?? [] });
  const { kind, rules, detection } = loadRules(text);
  if (kind !== 'rules') throw new Error('the rules are refused');
  return lab.openLab(rules, detection);
}

async function cpuUs(lab: OpenLab, bytes: Buffer, rounds: number): Promise<number> {
  const before = process.cpuUsage();
  for (let n = 0; n < rounds; n++) {
    const { verdict, trouble } = await lab.try({ name: 'page', bytes }, 'shop.example');
    if (verdict !== 'ok' || trouble !== null)
      throw new Error(`the page was judged ${verdict} (${trouble ?? ''})`);
  }
  const used = process.cpuUsage(before);
  return (used.user + used.system) / rounds;
}

/** Runs and prints; the exit code: 1 when the goal was missed. */
export async function benchJudge(isQuick: boolean): Promise<number> {
  const body = page();
  const kinds = [
    ['plain', stored(body, '')],
    ['gzip', stored(gzipSync(body), 'gzip')],
    ['br', stored(brotliCompressSync(body), 'br')],
  ] as const;
  let isMissed = false;
  console.log(`judging a 64 KiB page, CPU all in (goal ${GOAL_US} µs), node ${process.version}`);
  for (const lookAt of [16 * 1024, SIZE]) {
    const lab = await openLab({ lookAt });
    for (const [name, bytes] of kinds) {
      await cpuUs(lab, bytes, isQuick ? 50 : 500);
      const us = await cpuUs(lab, bytes, isQuick ? 100 : 2000);
      isMissed ||= us > GOAL_US;
      console.log(`  ${name.padEnd(6)} looking at ${lookAt / 1024} KiB  ${us.toFixed(0).padStart(6)} µs`);
    }
    await lab.close();
  }
  const { rss } = process.memoryUsage();
  console.log(`  resident at the end ${(rss / 2 ** 20).toFixed(0)} MiB`);
  return isMissed ? 1 : 0;
}
