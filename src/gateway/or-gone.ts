/** Waiting for something on behalf of a client that may leave meanwhile. */
import type { ClientExchange } from './exchange.js';

/** What came of it; null where the client left before. */
export async function orGone<T>(exchange: ClientExchange, promise: Promise<T>): Promise<T | null> {
  let isGone = false;
  exchange.onGone = () => (isGone = true);
  const value = await promise;
  exchange.onGone = null;
  // Set while it was waited for, which the compiler can't see.
  return (isGone as boolean) ? null : value;
}
