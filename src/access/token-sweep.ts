/** Forgets tokens that are over for a day, so that the table of tokens does not grow for ever. The audit keeps what they did. */
import type { Clock, Timer } from '../core/clock.js';
import type { TokenRecords } from '../storage/credential-ports.js';
import { StorageAway } from '../storage/ports.js';

const KEEP_MS = 86_400_000;
const EVERY_MS = 60_000;
/** While there are more, it goes on at once, this many at a time so that others get their turn. */
const AT_ONCE = 1000;
const SOON_MS = 500;

/** The sweep. */
export class TokenSweep {
  #timer: Timer | null = null;
  #running: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(
    private readonly tokens: Pick<TokenRecords, 'sweep'>,
    private readonly clock: Clock,
  ) {}

  start(): void {
    this.#running = this.#round();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    await this.#running;
  }

  async #round(): Promise<void> {
    const swept = await this.tokens.sweep(KEEP_MS, AT_ONCE).catch((error: unknown) => {
      if (error instanceof StorageAway) return 0;
      throw error;
    });
    if (this.#isStopped) return;
    const nextMs = swept >= AT_ONCE ? SOON_MS : EVERY_MS;
    this.#timer = this.clock.after(nextMs, () => this.start());
  }
}
