/**
 * Addresses of names, remembered for a short while: of upstreams, and of targets where no proxy resolves for us.
 * One look-up at a time for each name, and nobody waits longer for it than it has time. What an address is good for is
 * decided elsewhere.
 */
import type { Clock } from '../core/clock.js';
import type { TimerWheel } from '../core/timer-wheel.js';
import type { Abandonment } from './dial.js';

/** All addresses of a name; rejects with an error that has a `code`, as `dns.lookup` does. */
export type LookUp = (host: string) => Promise<readonly string[]>;

/** What a look-up gave. */
export type Resolution =
  | { readonly kind: 'addresses'; readonly addresses: readonly string[] }
  /** `doesExist` false: the name is known not to exist; else it may resolve when asked again. */
  | { readonly kind: 'unresolved'; readonly code: string; readonly doesExist: boolean };

/** What a resolver is made of. */
export interface ResolverParts {
  readonly clock: Clock;
  readonly lookUp: LookUp;
  readonly keepMs: number;
  /** How long a failure is remembered. */
  readonly keepFailureMs: number;
}

/** How long somebody waits for a look-up. */
export interface Patience {
  readonly wheel: TimerWheel;
  readonly ms: number;
  readonly abandonment: Abandonment;
}

/** More names than this are not remembered: all are forgotten and asked for again. */
const MAX_NAMES = 10_000;
const NOT_THERE = new Set(['ENOTFOUND', 'ENODATA', 'EAI_NONAME', 'EAI_NODATA']);

/** A look-up with a memory. */
export class Resolver {
  private readonly remembered = new Map<string, { resolution: Resolution; untilMs: number }>();
  private readonly underWay = new Map<string, Promise<Resolution>>();

  constructor(private readonly parts: ResolverParts) {}

  /** What is known of the name now, or null. */
  known(host: string): Resolution | null {
    const found = this.remembered.get(host);
    return found !== undefined && found.untilMs > this.parts.clock.nowMs() ? found.resolution : null;
  }

  /** What is known of the name, or a look-up. Resolves within `patience.ms`, or when the attempt is called off. */
  find(host: string, patience: Patience): Promise<Resolution> {
    const known = this.known(host);
    if (known !== null) return Promise.resolve(known);
    const { wheel, ms, abandonment } = patience;
    return new Promise((resolve) => {
      let isSettled = false;
      const settle = (resolution: Resolution): void => {
        // Whoever gave up waiting has let another stage listen since.
        if (isSettled) return;
        isSettled = true;
        deadline.cancel();
        abandonment.listen(null);
        resolve(resolution);
      };
      const giveUp = (): void => settle({ kind: 'unresolved', code: 'ETIMEOUT', doesExist: true });
      const deadline = wheel.arm(ms, giveUp);
      abandonment.listen(giveUp);
      void this.lookUp(host).then(settle);
    });
  }

  private lookUp(host: string): Promise<Resolution> {
    const running = this.underWay.get(host);
    if (running !== undefined) return running;
    const started = this.ask(host).then((resolution) => {
      this.underWay.delete(host);
      this.remember(host, resolution);
      return resolution;
    });
    this.underWay.set(host, started);
    return started;
  }

  private async ask(host: string): Promise<Resolution> {
    try {
      const addresses = await this.parts.lookUp(host);
      if (addresses.length > 0) return { kind: 'addresses', addresses };
      return { kind: 'unresolved', code: 'ENODATA', doesExist: false };
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? 'EAI_FAIL';
      return { kind: 'unresolved', code, doesExist: !NOT_THERE.has(code) };
    }
  }

  private remember(host: string, resolution: Resolution): void {
    const { clock, keepMs, keepFailureMs } = this.parts;
    if (this.remembered.size >= MAX_NAMES) this.remembered.clear();
    const ms = resolution.kind === 'addresses' ? keepMs : keepFailureMs;
    this.remembered.set(host, { resolution, untilMs: clock.nowMs() + ms });
  }
}
