/**
 * The audit as lines of JSON: a record, an anchor (how far a chain had come), or the mark behind a line that a crash or a
 * full disk tore. A line has exactly one spelling, so that a changed byte is seen even where it changes no meaning.
 */
import { z } from 'zod';
import type { JsonObject } from '../storage/credential-ports.js';
import type { AuditRow } from '../storage/ports.js';
import type { ChainHead } from './sink.js';
import { canonicalJson } from './chain.js';

/** What a line is. */
export type AuditLine =
  | { readonly kind: 'record'; readonly row: AuditRow; readonly isExact: boolean }
  | { readonly kind: 'anchor'; readonly head: ChainHead; readonly isExact: boolean }
  | { readonly kind: 'torn_mark' }
  | { readonly kind: 'unreadable' };

/** Stands behind a line that was not finished. */
export const tornMark = '{"torn":true}';

const optional = z.string().nullable();
const recordShape = z.strictObject({
  ...{ chain: z.string(), n: z.int().min(1), atMs: z.number(), action: z.string(), actor: z.string() },
  ...{ address: optional, credential: optional, token: optional, policy: optional, target: optional },
  ...{ task: optional, outcome: z.string(), hash: z.string() },
  detail: z.custom<JsonObject>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  ),
});
const anchorShape = z.strictObject({
  anchor: z.string(),
  n: z.int().min(1),
  atMs: z.number(),
  hash: z.string(),
});

const loggedShape = z.object({
  event: z.literal('audit_anchored'),
  chain: z.string(),
  n: z.int().min(1),
  hash: z.string(),
});

/** A record as a line, without its line feed. */
export function recordLine(row: AuditRow): string {
  const { chain, n, atMs, action, actor, address, credential, token, policy, target, task, outcome } = row;
  const head = JSON.stringify({
    ...{ chain, n, atMs, action, actor, address, credential, token, policy, target, task, outcome },
  });
  return `${head.slice(0, -1)},"detail":${canonicalJson(row.detail)},"hash":${JSON.stringify(row.hash)}}`;
}

const lineStart = /^\{"chain":"([^"\\]{1,200})","n":(\d{1,15}),"atMs":(\d{1,15}),/;
const lineEnd = /,"hash":"([0-9a-f]{64})"\}$/;

/** Which record of which chain a line holds, without a look at what it says: files are long. Null where it holds none. */
export function headOfLine(text: string): ChainHead | null {
  const start = lineStart.exec(text);
  const end = start === null ? null : lineEnd.exec(text);
  if (start === null || end === null) return null;
  const [, chain = '', n = '', atMs = ''] = start;
  return { chain, n: Number(n), atMs: Number(atMs), hash: end[1] ?? '' };
}

/** An anchor as a line, without its line feed. */
export function anchorLine({ chain, n, atMs, hash }: ChainHead): string {
  return JSON.stringify({ anchor: chain, n, atMs, hash });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What a line says. Never throws. */
export function readAuditLine(text: string): AuditLine {
  if (text === tornMark) return { kind: 'torn_mark' };
  const value = parsed(text);
  const record = recordShape.safeParse(value);
  if (record.success) {
    const row = record.data;
    return { kind: 'record', row, isExact: recordLine(row) === text };
  }
  const anchor = anchorShape.safeParse(value);
  if (!anchor.success) return { kind: 'unreadable' };
  const { anchor: chain, ...rest } = anchor.data;
  const head = { chain, ...rest };
  return { kind: 'anchor', head, isExact: anchorLine(head) === text };
}

/** An anchor in a line of the gateway's log; null where it is none. */
export function readLoggedAnchor(text: string): { chain: string; n: number; hash: string } | null {
  const { success, data } = loggedShape.safeParse(parsed(text));
  if (!success) return null;
  const { chain, n, hash } = data;
  return { chain, n, hash };
}
