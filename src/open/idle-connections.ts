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
  private count = 0;
  private isWanted: (key: string) => boolean = () => true;

  constructor(private readonly limits: () => IdleLimits) {}

  /** How many connections wait. */
  get size(): number {
    return this.count;
  }

  /** Takes the connection of this key that was used last, or null. */
  take(key: string): HttpConnection | null {
    const list = this.byKey.get(key);
    const connection = list?.pop();
    if (list === undefined || connection === undefined) return null;
    this.count--;
    if (list.length === 0) this.byKey.delete(key);
    connection.wake();
    return connection;
  }

  /** Keeps a connection until it is taken, closes, says something, or `keepAliveMs` (the peer's word) or our limit ends. */
  keep(key: string, connection: HttpConnection, keepAliveMs: number | null): void {
    const limits = this.limits();
    const idleMs = Math.min(limits.idleMs, keepAliveMs ?? Infinity);
    const list = this.byKey.get(key);
    if (
      idleMs <= 0 ||
      limits.total <= 0 ||
      !this.isWanted(key) ||
      (list !== undefined && list.length >= limits.perKey)
    ) {
      connection.destroy();
      return;
    }
    if (this.count >= limits.total) this.dropOldest();
    if (list === undefined) this.byKey.set(key, [connection]);
    else list.push(connection);
    this.count++;
    connection.keepFor(idleMs, () => this.drop(key, connection));
  }

  /** What connections are kept for. */
  keys(): string[] {
    return [...this.byKey.keys()];
  }

  /** Closes the oldest that are above the limit of all: it falls as clients come. Asked before each dial. */
  makeRoom(): void {
    const { total } = this.limits();
    while (this.count > total) this.dropOldest();
  }

  /** From now on keeps only connections of these keys, and closes the others. */
  keepOnly(isWanted: (key: string) => boolean): void {
    this.isWanted = isWanted;
    this.dropWhere((key) => !isWanted(key));
  }

  /** Closes all connections of keys for which `isDropped` holds. */
  dropWhere(isDropped: (key: string) => boolean): void {
    for (const [key, list] of [...this.byKey]) {
      if (isDropped(key)) for (const connection of [...list]) this.drop(key, connection);
    }
  }

  /** The oldest of the key that was filled longest ago. */
  private dropOldest(): void {
    for (const [key, [oldest]] of this.byKey) {
      if (oldest !== undefined) this.drop(key, oldest);
      return;
    }
  }

  private drop(key: string, connection: HttpConnection): void {
    const list = this.byKey.get(key) ?? [];
    const index = list.indexOf(connection);
    if (index < 0) return;
    list.splice(index, 1);
    this.count--;
    if (list.length === 0) this.byKey.delete(key);
    connection.wake();
    connection.destroy();
  }
}
