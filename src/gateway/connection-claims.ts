/** Counts each connection against the client that uses it, from its first request until it closes. */
import type { Client } from '../access/clients.js';
import type { RateLimits } from '../access/rate-limit.js';
import type { Failure } from '../core/errors.js';
import type { Origin } from './exchange.js';

interface Claim {
  readonly client: Client['name'];
  readonly release: () => void;
}

/** Who holds which connections. */
export class ConnectionClaims {
  private readonly claims = new Map<Origin, Claim>();

  constructor(private readonly rateLimits: RateLimits) {}

  /** Counts the connection for this client, once; a failure where the client has as many as it may. */
  claim(origin: Origin, client: Client, nowMs: number): Failure | null {
    if (client.limits.connections === null) return null;
    const held = this.claims.get(origin);
    if (held?.client === client.name) return null;
    const admission = this.rateLimits.admit(client, 'connection', nowMs);
    if (admission.kind === 'limited') {
      return { code: 'client_limited', detail: admission.detail, retryAfterMs: admission.retryAfterMs };
    }
    held?.release();
    this.claims.set(origin, { client: client.name, release: admission.release });
    return null;
  }

  /** The connection is closed. */
  release(origin: Origin): void {
    this.claims.get(origin)?.release();
    this.claims.delete(origin);
  }
}
