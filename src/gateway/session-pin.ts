/** The pin of one exchange's session: which exit it is on, and its move to another. */
import type { SessionPinned } from '../core/events.js';
import { pinKey } from '../facts/pin.js';
import type { SessionAsk } from '../request/context.js';
import type { Answer, Pin } from '../state/ports.js';
import type { GatewayServices } from './services.js';

/** A session during one exchange. */
export class SessionPin {
  /** Unambiguous over all clients; also the key of consistent hashing. */
  readonly key: string;
  pin: Pin | null = null;
  private isLoaded = false;
  private finding: Promise<Pin | null> | null = null;

  constructor(
    private readonly services: GatewayServices,
    private readonly client: string,
    readonly ask: SessionAsk,
  ) {
    this.key = pinKey(client, ask.id);
  }

  /** The exit that the session is on, null for one that has none yet; undefined when the store must be waited for. */
  look(): string | null | undefined {
    if (!this.isLoaded) this.take(this.services.pins.find(this.key, this.ask.ttlMs));
    return this.isLoaded ? (this.pin?.exit ?? null) : undefined;
  }

  /** The exit that the session is on, or null for a session that has none yet. */
  async exit(): Promise<string | null> {
    const known = this.look();
    if (known !== undefined) return known;
    this.pin = await this.finding;
    this.isLoaded = true;
    return this.pin?.exit ?? null;
  }

  private take(found: Answer<Pin | null>): void {
    if (found instanceof Promise) {
      this.finding = found;
      // Whoever waits for it hears of a fault; until then it is no unhandled one.
      found.catch(() => undefined);
      return;
    }
    this.pin = found;
    this.isLoaded = true;
  }

  /** Puts the session on this exit; returns the exit that holds, which another request may have set meanwhile. */
  async settle(exit: string, why: SessionPinned['reason']): Promise<string> {
    const before = this.pin;
    if (before?.exit === exit) return exit;
    const { pins } = this.services;
    this.pin =
      before === null
        ? await pins.bind(this.key, exit, this.ask.ttlMs)
        : await pins.move(this.key, before, { exit, ttlMs: this.ask.ttlMs });
    if (this.pin.exit === exit) this.tell(this.pin, before === null ? 'first' : why);
    return this.pin.exit;
  }

  private tell(pin: Pin, reason: SessionPinned['reason']): void {
    this.services.emit({
      type: 'session_pinned',
      client: this.client,
      session: this.ask.id,
      upstream: pin.exit,
      generation: pin.generation,
      reason,
    });
  }
}
