/** A crawl as load: so many connections, each asking for the next page as soon as it has the last. */
import { LoadClient, type LoadAnswer } from './load-client.js';

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
