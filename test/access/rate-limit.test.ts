import { describe, expect, it } from 'vitest';
import { anonymousClient } from '../../src/access/clients.js';
import type { Client } from '../../src/access/clients.js';
import { systemClock } from '../../src/core/clock.js';
import { RateLimits } from '../../src/access/rate-limit.js';
import type { Admission, LimitedKind } from '../../src/access/rate-limit.js';

const unlimited = anonymousClient.limits;

function clientOf(name: string, limits: Partial<Client['limits']>): Client {
  return { ...anonymousClient, name, limits: { ...unlimited, ...limits } };
}

function releaseOf(admission: Admission): () => void {
  if (admission.kind === 'limited') throw new Error(admission.detail);
  return admission.release;
}

const kinds: readonly LimitedKind[] = ['request', 'tunnel', 'exchange', 'connection'];

describe('clients without limits', () => {
  it('are let in, and nothing is kept or made for it', () => {
    const limits = new RateLimits();
    const admissions = kinds.map((kind) => limits.admit(anonymousClient, kind, 0));
    expect(new Set(admissions).size).toBe(1);
    releaseOf(admissions[0] as Admission)();
    expect(limits.heldBy('anonymous', 'tunnel')).toBe(0);
  });
});

describe('requests in a time', () => {
  it('are limited over all kinds of request, and the wait is told', () => {
    const limits = new RateLimits();
    const client = clientOf('a', { requests: { count: 3, perMs: 3000 } });
    const admitted = (['exchange', 'tunnel', 'request'] as const).map(
      (kind) => limits.admit(client, kind, 0).kind,
    );
    expect(admitted).toEqual(['ok', 'ok', 'ok']);
    expect(limits.admit(client, 'exchange', 200)).toEqual({
      kind: 'limited',
      retryAfterMs: 800,
      detail: 'Client a is at its limit of 3 requests in 3 s.',
    });
    expect(limits.admit(client, 'exchange', 1000).kind).toBe('ok');
  });

  it('do not count connections', () => {
    const limits = new RateLimits();
    const client = clientOf('a', { requests: { count: 1, perMs: 1000 } });
    for (let i = 0; i < 5; i++) expect(limits.admit(client, 'connection', 0).kind).toBe('ok');
    expect(limits.admit(client, 'exchange', 0).kind).toBe('ok');
  });

  it('are counted for each client by itself, and outlive its configuration', () => {
    const limits = new RateLimits();
    const requests = { count: 1, perMs: 1000 };
    expect(limits.admit(clientOf('a', { requests }), 'request', 0).kind).toBe('ok');
    expect(limits.admit(clientOf('b', { requests }), 'request', 0).kind).toBe('ok');
    expect(limits.admit(clientOf('a', { requests }), 'request', 0).kind).toBe('limited');
  });
});

describe.each(['tunnel', 'exchange', 'connection'] as const)('%ss at once', (kind) => {
  const client = clientOf('a', { [`${kind}s`]: 2 });

  it('are limited until one is released', () => {
    const limits = new RateLimits();
    const releases = [0, 1].map(() => releaseOf(limits.admit(client, kind, 0)));
    expect(limits.heldBy('a', kind)).toBe(2);
    expect(limits.admit(client, kind, 0)).toEqual({
      kind: 'limited',
      retryAfterMs: 1000,
      detail: `Client a is at its limit of 2 ${kind}s at once.`,
    });
    releases[0]?.();
    expect(limits.admit(client, kind, 0).kind).toBe('ok');
    expect(limits.admit(client, kind, 0).kind).toBe('limited');
  });

  it('are released once, however often that is said', () => {
    const limits = new RateLimits();
    const release = releaseOf(limits.admit(client, kind, 0));
    release();
    release();
    expect(limits.heldBy('a', kind)).toBe(0);
  });

  it('leave the others alone', () => {
    const limits = new RateLimits();
    for (const other of kinds.filter((each) => each !== kind)) {
      for (let i = 0; i < 5; i++) expect(limits.admit(client, other, 0).kind).toBe('ok');
    }
  });

  it('cost no request where there is no room', () => {
    const limits = new RateLimits();
    const both = clientOf('a', { [`${kind}s`]: 1, requests: { count: 2, perMs: 1000 } });
    const release = releaseOf(limits.admit(both, kind, 0));
    for (let i = 0; i < 5; i++) expect(limits.admit(both, kind, 0).kind).toBe('limited');
    release();
    expect(limits.admit(both, kind, 0).kind).toBe('ok');
  });

  it('hold nothing where the rate refuses', () => {
    const limits = new RateLimits();
    const both = clientOf('a', { [`${kind}s`]: 9, requests: { count: 1, perMs: 1000 } });
    for (let i = 0; i < 5; i++) limits.admit(both, kind, 0);
    expect(limits.heldBy('a', kind)).toBe(kind === 'connection' ? 5 : 1);
  });
});

describe('bytes in a time', () => {
  const clockAt = (clock: { nowMs: number }) => ({ ...systemClock, nowMs: () => clock.nowMs });
  const bytes = { count: 1000, perMs: 10_000 };

  it('are counted over all exchanges of a client, and limit the next ones, connections aside', () => {
    const [limits, clock] = [new RateLimits(), { nowMs: 0 }];
    const client = clientOf('a', { bytes });
    const meters = [limits.meter(client, clockAt(clock)), limits.meter(client, clockAt(clock))];
    expect(meters.map((meter) => meter?.(499))).toEqual([true, true]);
    expect(limits.admit(client, 'exchange', 0).kind).toBe('ok');
    expect(meters[0]?.(502)).toBe(true);
    for (const kind of ['exchange', 'tunnel', 'request'] as const) {
      expect(limits.admit(client, kind, 0)).toEqual({
        kind: 'limited',
        retryAfterMs: 5001,
        detail: 'Client a has used up its 1000 bytes in 10 s.',
      });
    }
    expect(limits.admit(client, 'connection', 0).kind).toBe('ok');
    expect(limits.admit(clientOf('b', { bytes }), 'exchange', 0).kind).toBe('ok');
    expect(limits.admit(client, 'exchange', 5001).kind).toBe('ok');
  });

  it('cut what stands only where that is asked for', () => {
    const [limits, clock] = [new RateLimits(), { nowMs: 0 }];
    const cutting = limits.meter(clientOf('a', { bytes, cutsTunnels: true }), clockAt(clock));
    expect([cutting?.(999), cutting?.(1), cutting?.(1)]).toEqual([true, false, false]);
    clock.nowMs = 10_000;
    expect(cutting?.(10)).toBe(true);
    expect(limits.meter(clientOf('a', {}), clockAt(clock))).toBeNull();
  });
});
