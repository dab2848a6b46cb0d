/**
 * The inputs that every run begins with, as files: `corpus/<kind>/*.bin`. What a run finds is added here, so that it is
 * tried again for ever.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What clients send by HTTP and SOCKS, and what upstreams say to plain requests, to CONNECT and as SOCKS servers. */
export const kinds = ['absolute', 'connect', 'socks', 'answer', 'tunnel-answer', 'socks-answer'] as const;
export type Kind = (typeof kinds)[number];

export interface Entry {
  readonly kind: Kind;
  readonly name: string;
  readonly bytes: Buffer;
}

/** All entries of a kind, in a steady order. */
export function loadCorpus(folder: string, kind: Kind): Entry[] {
  const path = join(folder, kind);
  const names = readdirSync(path).filter((name) => name.endsWith('.bin'));
  return names.sort().map((name) => ({ kind, name, bytes: readFileSync(join(path, name)) }));
}

/** Adds what was found; returns the path of the file. */
export function saveFound(folder: string, kind: Kind, bytes: Buffer): string {
  const name = `found-${createHash('sha256').update(bytes).digest('hex').slice(0, 12)}.bin`;
  const path = join(folder, kind);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, name), bytes);
  return join(path, name);
}
