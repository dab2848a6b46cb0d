/** Which requests may use which pools, and under which rules. */
import type { HostMatcher } from '../protocol/host-pattern.js';
import { compileHostPattern } from '../protocol/host-pattern.js';
import type { EscalationRules } from '../outcome/escalation.js';
import type { Target } from '../protocol/target.js';
import type { ExitFilter } from '../upstreams/choose.js';

export { compileHostPattern } from '../protocol/host-pattern.js';

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
  /** Tags of clients; one of them is enough. */
  readonly tags: readonly string[];
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
  /** What happens when no exit of a pool may be used. */
  readonly onExhausted: 'next_tier' | 'wait' | 'least_bad' | 'fail';
  readonly statuses: StatusEvidence;
  /** When a site goes to the next pool, and back; null: pools are only asked in their order. */
  readonly escalate: EscalationRules | null;
  /** Most that one exchange may cost by request, over all its tries; Infinity: no limit. */
  readonly costCeiling: number;
  /** Which exits its requests want where they don't say it themselves; null: any. */
  readonly filter: RouteFilter | null;
}

/** What a route wishes of exits. */
export type RouteFilter = Pick<ExitFilter, 'country' | 'city' | 'asn' | 'tags'>;

/** What a request wishes, and where it wishes nothing, what its route does, field by field. */
export function withRouteFilter<Filter extends ExitFilter>(asked: Filter, route: RouteFilter | null): Filter {
  if (route === null) return asked;
  return {
    ...asked,
    country: asked.country ?? route.country,
    city: asked.city ?? route.city,
    asn: asked.asn ?? route.asn,
    tags: asked.tags.length > 0 ? asked.tags : route.tags,
  };
}

/** What a request is matched by. */
export interface RouteAsk {
  readonly target: Target;
  readonly method: string;
  /** Path and query as they came; null for a tunnel. */
  readonly path: string | null;
  /** Name of the client, and its tags. */
  readonly client: string;
  readonly clientTags: readonly string[];
}

/** The first route that the request falls under, or null. */
export function matchRoute(routes: readonly Route[], ask: RouteAsk): Route | null {
  for (const route of routes) if (isMatch(route.match, ask)) return route;
  return null;
}

function isMatch(match: RouteMatch, ask: RouteAsk): boolean {
  const { target } = ask;
  return (
    admits(match.sites, target.site) &&
    admits(match.ports, target.port) &&
    admits(match.methods, ask.method) &&
    admits(match.clients, ask.client) &&
    (match.tags.length === 0 || ask.clientTags.some((tag) => match.tags.includes(tag))) &&
    (match.hosts.length === 0 || hostMatchers(match).some((matches) => matches(target.host))) &&
    (match.paths.length === 0 || hasPrefix(match.paths, ask.path))
  );
}

function admits<Value>(allowed: readonly Value[], value: Value): boolean {
  return allowed.length === 0 || allowed.includes(value);
}

function hasPrefix(prefixes: readonly string[], path: string | null): boolean {
  return path !== null && prefixes.some((prefix) => path.startsWith(prefix));
}

/** Compiled when a route is first asked; routes are immutable and go with their runtime. */
const matchersOf = new WeakMap<RouteMatch, readonly HostMatcher[]>();

function hostMatchers(match: RouteMatch): readonly HostMatcher[] {
  let matchers = matchersOf.get(match);
  if (matchers === undefined) {
    // A pattern that doesn't compile was refused with the configuration; here it matches nothing.
    matchers = match.hosts.map((pattern) => compileHostPattern(pattern) ?? (() => false));
    matchersOf.set(match, matchers);
  }
  return matchers;
}
