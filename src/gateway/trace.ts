/** What is told of one exchange when it is over: filled in along the way, emitted once. */
import type { Blame, ErrorCode } from '../core/errors.js';
import type { Emit, ExchangeEnded } from '../core/events.js';
import type { TierChoice } from '../outcome/escalation.js';
import type { Target } from '../protocol/target.js';
import type { Upstream } from '../upstreams/upstream.js';
import type { ClientExchange } from './exchange.js';

/** The story of one exchange. */
export class Trace {
  kind: ExchangeEnded['kind'] = 'refused';
  client = '';
  target: Target | null = null;
  route = '';
  pool: string | null = null;
  /** Why this exit: pinned, by hash, by strategy, named. */
  why = '';
  upstream: Upstream | null = null;
  /** Which tier of the route serves, and why; null where the route doesn't escalate. */
  tier: TierChoice | null = null;
  /** For which try that was decided. */
  tierAttempt = -1;
  /** What the tries have cost so far, by the prices per request. */
  cost = 0;
  session: string | null = null;
  generation: number | null = null;
  status = 0;
  code: ErrorCode | null = null;
  blame: Blame | null = null;
  verdict = 'none';
  attempts = 0;
  /** The request id as the client gets it with an answer, see `request/receipt.ts`. */
  receipt: string | null = null;
  openMs: number | null = null;
  firstByteMs: number | null = null;
  private isFinished = false;

  constructor(
    readonly requestId: string,
    private readonly exchange: ClientExchange,
  ) {}

  /** Notes that the answer begins now. */
  answered(status: number, nowMs: number): void {
    this.status = status;
    this.firstByteMs ??= nowMs - this.exchange.startedMs;
  }

  /** The client left before there was anything to tell it. */
  leave(emit: Emit, nowMs: number): void {
    this.verdict = 'client_gone';
    this.finish(emit, nowMs, 'client_gone');
  }

  /** Tells how the exchange ended; later calls say nothing. */
  finish(emit: Emit, nowMs: number, end: ExchangeEnded['end'], bytes?: { in: number; out: number }): void {
    if (this.isFinished) return;
    this.isFinished = true;
    const { exchange, target, upstream } = this;
    emit({
      type: 'exchange_ended',
      requestId: this.requestId,
      kind: this.kind,
      listener: exchange.origin.listener,
      client: this.client,
      clientAddress: exchange.origin.remoteAddress,
      method: exchange.head.method,
      target: target?.hostPort ?? '',
      site: target?.site ?? '',
      path: pathOf(target),
      route: this.route,
      pool: this.pool,
      poolWhy: this.tier?.why ?? null,
      upstream: upstream?.id ?? null,
      upstreamLabel: upstream?.label ?? null,
      session: this.session,
      generation: this.generation,
      status: this.status,
      code: this.code,
      blame: this.blame,
      verdict: this.verdict,
      attempts: this.attempts,
      bytesIn: bytes?.in ?? exchange.bytesIn,
      bytesOut: bytes?.out ?? exchange.bytesOut,
      end,
      times: { totalMs: nowMs - exchange.startedMs, firstByteMs: this.firstByteMs, openMs: this.openMs },
    });
  }
}

/** The path without its query, which may hold secrets. */
function pathOf(target: Target | null): string {
  if (target === null) return '';
  const query = target.path.indexOf('?');
  return query < 0 ? target.path : target.path.slice(0, query);
}
