/** Everything that the gateway of the demo told, kept so that the story can be told and checked from it. */
import type { AttemptEnded, ExchangeEnded, ExitBanned, TurnpikeEvent } from '../../core/events.js';

/** The events of one gateway. */
export class Chronicle {
  readonly attempts: AttemptEnded[] = [];
  readonly exchanges: ExchangeEnded[] = [];
  readonly bans: ExitBanned[] = [];

  /** Takes an event; needs no `this`. */
  readonly hear = (event: TurnpikeEvent): void => {
    if (event.type === 'attempt_ended') this.attempts.push(event);
    else if (event.type === 'exchange_ended') this.exchanges.push(event);
    else if (event.type === 'exit_banned') this.bans.push(event);
  };

  /** The tries of one request, in order. */
  triesOf(receipt: string): readonly AttemptEnded[] {
    const [requestId] = receipt.split('~'); // What follows is for feedback.
    return this.attempts.filter((attempt) => attempt.requestId === requestId);
  }

  /** How many tries were followed by another. */
  get retries(): number {
    return this.attempts.filter((attempt) => attempt.retried).length;
  }
}
