import type { FastifyRequest } from 'fastify';
import { describe, expect, it } from 'vitest';
import { onlyOnce, type OnceParts } from '../../src/admin/once.js';
import { Problem } from '../../src/admin/problem.js';
import { StorageAway, type OnceRow } from '../../src/storage/ports.js';

function parts() {
  const rows = new Map<string, OnceRow>();
  const once: OnceParts = {
    key: () => Buffer.alloc(32, 1),
    records: {
      begin: async (name, fingerprint) => {
        const earlier = rows.get(name);
        if (earlier === undefined) rows.set(name, { fingerprint, status: null, body: null });
        return earlier ?? null;
      },
      finish: async (name, { status, body }) => {
        rows.set(name, { fingerprint: rows.get(name)?.fingerprint ?? '', status, body });
      },
      forget: async (name) => void rows.delete(name),
    },
  };
  return { once, rows };
}

const asked = (key: string | undefined, body: unknown, more: { by?: string; url?: string } = {}) => ({
  body,
  by: more.by ?? 'ops',
  request: {
    headers: { 'idempotency-key': key },
    method: 'POST',
    params: {},
    routeOptions: { url: more.url ?? '/api/v1/credentials' },
  } as unknown as FastifyRequest,
});

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof Problem ? error.code : String(error)),
  );

describe('onlyOnce', () => {
  it('gives a repetition the answer of the first, and does nothing', async () => {
    const { once } = parts();
    let done = 0;
    const make = () => onlyOnce(once, asked('k', { a: 1 }), async () => ({ n: ++done }));
    expect([await make(), await make(), done]).toEqual([{ n: 1 }, { n: 1 }, 1]);
  });

  it('does it each time without a key', async () => {
    const { once, rows } = parts();
    let done = 0;
    for (const _ of [1, 2]) await onlyOnce(once, asked(undefined, {}), async () => ++done);
    expect([done, rows.size]).toEqual([2, 0]);
  });

  it('refuses another body, and a repetition of what is under way', async () => {
    const { once } = parts();
    let finish = (): void => undefined;
    const first = onlyOnce(
      once,
      asked('k', { a: 1 }),
      () => new Promise<number>((end) => (finish = () => end(1))),
    );
    expect(await codeOf(onlyOnce(once, asked('k', { a: 1 }), async () => 2))).toBe('once_under_way');
    expect(await codeOf(onlyOnce(once, asked('k', { a: 2 }), async () => 2))).toBe('once_differs');
    finish();
    expect(await first).toBe(1);
    expect(await codeOf(onlyOnce(once, asked('k', { a: 2 }), async () => 2))).toBe('once_differs');
  });

  it('tells keys of other tokens and routes apart', async () => {
    const { once } = parts();
    const of = (by: string, url: string) => onlyOnce(once, asked('k', {}, { by, url }), async () => by + url);
    expect([await of('a', '/x'), await of('b', '/x'), await of('a', '/y')]).toEqual(['a/x', 'b/x', 'a/y']);
  });

  it('what failed may be tried again with the same key', async () => {
    const { once } = parts();
    const failing = onlyOnce(once, asked('k', {}), () => Promise.reject(new StorageAway('gone')));
    expect(await codeOf(failing)).toMatch(/StorageAway/);
    expect(await onlyOnce(once, asked('k', {}), async () => 'now')).toBe('now');
  });

  it('what is done is said to be done, though its answer could not be kept', async () => {
    const { once } = parts();
    const records = { ...once.records, finish: () => Promise.reject(new StorageAway('gone')) };
    expect(await onlyOnce({ ...once, records }, asked('k', {}), async () => 'done')).toBe('done');
  });

  it('keeps nothing of the body', async () => {
    const { once, rows } = parts();
    await onlyOnce(once, asked('key-CANARY', { secret: 'CANARY' }), async () => ({}));
    expect(JSON.stringify([...rows])).not.toContain('CANARY');
  });
});
