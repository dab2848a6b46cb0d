/** What one request asks for, after headers, user name, defaults and route have been weighed. */
import type { Target } from '../protocol/target.js';

/** A session as the client named it. */
export interface SessionAsk {
  /** `[A-Za-z0-9._~-]{1,128}`, a name inside this client only. */
  readonly id: string;
  readonly mode: 'soft' | 'hard';
  readonly ttlMs: number;
}

/** Which exits may serve. Null and empty mean: no wish. */
export interface ExitFilter {
  readonly pool: string | null;
  readonly country: string | null;
  readonly city: string | null;
  readonly asn: number | null;
  readonly tags: readonly string[];
  /** Id of the one exit that may serve. */
  readonly upstream: string | null;
}

/** What a client can say about one request (headers, user-name parameters, defaults). */
export interface Controls {
  readonly session: SessionAsk | null;
  readonly filter: ExitFilter;
  /** Most further tries; null: the route's. May only lower the route's. */
  readonly retries: number | null;
  /** Deadline of the exchange; null: the route's. May only lower the route's. */
  readonly timeoutMs: number | null;
  /** False: deliver whatever the target says, judge nothing. */
  readonly detect: boolean;
  readonly explain: boolean;
  /** What the client says of an earlier answer: its request id and a verdict. */
  readonly feedback: { readonly id: string; readonly verdict: string } | null;
}

/** Everything the attempt loop knows about a request. */
export interface RequestContext {
  readonly requestId: string;
  readonly kind: 'forward' | 'tunnel';
  readonly method: string;
  readonly target: Target;
  /** Name of the client, `anonymous` where no login is asked. */
  readonly client: string;
  readonly controls: Controls;
  /** Label of the route that matched, for logs and metrics. */
  readonly route: string;
}
