/** Which requests may use which pools, and under which rules. */

/** What a request must be to fall under a route; empty lists and null match everything. First match wins. */
export interface RouteMatch {
  /** Registrable domains. */
  readonly sites: readonly string[];
  /** Host names; a leading `*.` matches any labels in its place. */
  readonly hosts: readonly string[];
  readonly ports: readonly number[];
  /** Path prefixes; never matches a tunnel, whose path is not seen. */
  readonly paths: readonly string[];
  readonly methods: readonly string[];
  readonly clients: readonly string[];
}

/** How refused by status alone is read (DESIGN: `suspect`, `throttled`, `unclear`). */
export interface StatusEvidence {
  readonly suspect: readonly number[];
  readonly throttled: readonly number[];
  readonly unclear: readonly number[];
}

/** A route with its rules, all defaults filled in. */
export interface Route {
  /** For logs and metrics: its `name`, or `route-<index>`. */
  readonly label: string;
  readonly match: RouteMatch;
  /** Names of pools, in the order in which they are tried. */
  readonly pools: readonly string[];
  /** Further tries after the first. */
  readonly retries: number;
  /** Deadline of an exchange until its answer is committed. */
  readonly timeoutMs: number;
  /** Whether methods that are not safe may be repeated after a byte of them was sent. */
  readonly retryUnsafe: boolean;
  readonly onClientFin: 'finish' | 'abort';
  /** What answers say about the exit. */
  readonly expose: 'none' | 'id' | 'full';
  readonly statuses: StatusEvidence;
}
