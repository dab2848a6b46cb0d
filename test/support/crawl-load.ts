/** A crawl as load: so many connections, each asking for the next page as soon as it has the last. */
import { LoadClient, type LoadAnswer } from './load-client.js';
import { waitFor } from './wait.js';

/** What to ask for, and how. */
export interface Crawl {
  readonly port: number;
  readonly connections: number;
  readonly requests: number;
  /** The nth request. */
  readonly head: (nth: number) => string;
  /** Told of each answer, or of null where there was none. */
  readonly onAnswer?: (answer: LoadAnswer | null, nth: number) => void;
}

/** Asks for everything; resolves with how many answers were not 200. */
export async function crawl(what: Crawl): Promise<number> {
  const { port, connections, requests, head, onAnswer } = what;
  let next = 0;
  let faults = 0;
  const worker = (): Promise<void> =>
    new Promise((resolve) => {
      let client = new LoadClient({ port });
      const ask = (): void => {
        const nth = next++;
        if (nth >= requests) {
          client.close();
          resolve();
          return;
        }
        if (client.isGone) client = new LoadClient({ port });
        client.begin(head(nth), (answer) => {
          if (answer?.status !== 200) faults++;
          onAnswer?.(answer, nth);
          // Not within the call: a thousand refusals in a row would use up the stack.
          setImmediate(ask);
        });
      };
      ask();
    });
  await Promise.all(Array.from({ length: connections }, worker));
  return faults;
}

/** A request of a load that waits for nobody. */
export interface Shot {
  readonly head: string;
  /** Whether its connection is of no further use. */
  readonly isLast?: boolean;
  /** @param isWithin whether the load was still going on when the answer came; it comes null where there was none */
  onAnswer(answer: LoadAnswer | null, ms: number, isWithin: boolean): void;
}

/**
 * Asks at a fixed rate, whatever becomes of the requests, each on a connection that is free; waits for the last answer.
 * Returns how many were asked for.
 */
export async function crawlAtRate(what: {
  readonly port: number;
  readonly perSecond: number;
  readonly seconds: number;
  readonly shot: (nth: number) => Shot;
  /** Ends it earlier. */
  readonly signal?: AbortSignal;
}): Promise<number> {
  const { port, perSecond, seconds, shot, signal } = what;
  const free: LoadClient[] = [];
  const startMs = performance.now();
  const isWithin = (): boolean => signal?.aborted !== true && performance.now() - startMs < seconds * 1000;
  let asked = 0;
  let under = 0;
  /** The gateway closes what was idle for long. */
  const freeClient = (): LoadClient => {
    for (;;) {
      const client = free.pop() ?? new LoadClient({ port });
      if (!client.isGone) return client;
    }
  };
  const ask = (): void => {
    const client = freeClient();
    const { head, isLast = false, onAnswer } = shot(asked++);
    const askedMs = performance.now();
    under++;
    client.begin(head, (answer) => {
      under--;
      onAnswer(answer, performance.now() - askedMs, isWithin());
      if (isLast) client.close();
      else if (!client.isGone) free.push(client);
    });
  };
  while (isWithin()) {
    const due = ((performance.now() - startMs) / 1000) * perSecond;
    while (asked < due) ask();
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await waitFor('the last answers', () => under === 0, 60_000);
  for (const client of free) client.close();
  return asked;
}
