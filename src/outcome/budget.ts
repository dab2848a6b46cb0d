/**
 * The transport budget: how many retries after faults on the way the gateway allows itself, so that an outage is not
 * amplified. Over the last ten seconds, retries stay within a share of the requests, or within a floor per second,
 * whichever is more (as Finagle and gRPC A6 have it). Pure arithmetic: the time comes in.
 */

const WINDOW_S = 10;

/** Counts requests and retries second by second. One for the process. */
export class TransportBudget {
  readonly #requests = new Float64Array(WINDOW_S);
  readonly #retries = new Float64Array(WINDOW_S);
  #second = 0;
  #requestSum = 0;
  #retrySum = 0;

  /**
   * @param ratio retries per request, 0.2 for 20 %
   * @param floorPerS retries per second that are always allowed
   */
  constructor(
    private ratio: number,
    private floorPerS: number,
  ) {}

  /** Takes over the settings of a new configuration. */
  configure(ratio: number, floorPerS: number): void {
    this.ratio = ratio;
    this.floorPerS = floorPerS;
  }

  /** A client's request came in. */
  request(nowMs: number): void {
    const cell = this.#cell(nowMs);
    this.#requests[cell] = (this.#requests[cell] ?? 0) + 1;
    this.#requestSum++;
  }

  /** Whether one more retry is within the budget. */
  allows(nowMs: number): boolean {
    this.#cell(nowMs);
    return this.#retrySum < Math.max(this.ratio * this.#requestSum, this.floorPerS * WINDOW_S);
  }

  /** A retry after a transport fault begins. */
  spend(nowMs: number): void {
    const cell = this.#cell(nowMs);
    this.#retries[cell] = (this.#retries[cell] ?? 0) + 1;
    this.#retrySum++;
  }

  /** Moves the window on to this second and gives its cell. */
  #cell(nowMs: number): number {
    const second = Math.floor(nowMs / 1000);
    const passed = Math.min(Math.max(second - this.#second, 0), WINDOW_S);
    for (let step = 1; step <= passed; step++) {
      const cell = modulo(second - passed + step);
      this.#requestSum -= this.#requests[cell] ?? 0;
      this.#retrySum -= this.#retries[cell] ?? 0;
      this.#requests[cell] = 0;
      this.#retries[cell] = 0;
    }
    this.#second = Math.max(this.#second, second);
    return modulo(this.#second);
  }
}

function modulo(second: number): number {
  return ((second % WINDOW_S) + WINDOW_S) % WINDOW_S;
}
