/**
 * Connections to upstreams that wait for their next request. Kept per exit and session and never shared across those,
 * so that answers can't cross over. The latest used is taken first; the oldest go when there are too many.
 */
import type { HttpConnection } from './http-connection.js';

/** Bounds of the store. */
export interface IdleLimits {
  readonly idleMs: number;
  readonly perKey: number;
  readonly total: number;
}

/** The store. */
export class IdleConnections {
  private readonly byKey = new Map<string, HttpConnection[]>();
  private readonly kept = new Map<HttpConnection, string>();

  constructor(private readonly limits: () => IdleLimits) {}

  /** How many connections wait. */
  get size(): number {
    return this.kept.size;
  }

  /** Takes the connection of this key that was used last, or null. */
  take(key: string): HttpConnection | null {
    const connection = this.byKey.get(key)?.at(-1);
    if (connection === undefined) return null;
    this.forget(connection);
    return connection;
  }

  /** Keeps a connection until it is taken, closes, says something, or `keepAliveMs` (the peer's word) or our limit ends. */
  keep(key: string, connection: HttpConnection, keepAliveMs: number | null): void {
    const limits = this.limits();
    const idleMs = Math.min(limits.idleMs, keepAliveMs ?? Infinity);
    const list = this.byKey.get(key);
    if (idleMs <= 0 || (list !== undefined && list.length >= limits.perKey)) {
      connection.destroy();
      return;
    }
    if (this.kept.size >= limits.total) this.dropOldest();
    if (list === undefined) this.byKey.set(key, [connection]);
    else list.push(connection);
    this.kept.set(connection, key);
    connection.keepFor(idleMs, () => this.drop(connection));
  }

  /** Closes all connections of keys for which `isDropped` holds. */
  dropWhere(isDropped: (key: string) => boolean): void {
    for (const [connection, key] of [...this.kept]) if (isDropped(key)) this.drop(connection);
  }

  private dropOldest(): void {
    for (const connection of this.kept.keys()) {
      this.drop(connection);
      return;
    }
  }

  private drop(connection: HttpConnection): void {
    this.forget(connection);
    connection.destroy();
  }

  private forget(connection: HttpConnection): void {
    const key = this.kept.get(connection);
    if (key === undefined) return;
    connection.wake();
    this.kept.delete(connection);
    const list = this.byKey.get(key) ?? [];
    const index = list.lastIndexOf(connection);
    if (index >= 0) list.splice(index, 1);
    if (list.length === 0) this.byKey.delete(key);
  }
}
