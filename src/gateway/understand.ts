/**
 * From a request's head to what is asked: who, where to, by which route, with which wishes. Two synchronous steps, with a
 * wait between them only where a login costs a hash; nothing has left the gateway before, and what they refuse never does.
 */
import type { SecureContext } from 'node:tls';
import { checkClientTarget } from '../access/client-targets.js';
import type { AuthResult, Client, Settled } from '../access/clients.js';
import { mergeDefaults, readControls, type ControlDefaults } from '../request/controls.js';
import type { Failure } from '../core/errors.js';
import { listTokens } from '../http1/fields.js';
import type { RequestHead } from '../http1/head.js';
import type { Cidr } from '../protocol/address.js';
import {
  checkTarget,
  parseAbsoluteForm,
  parseAuthority,
  type Target,
  type TargetResult,
} from '../protocol/target.js';
import type { Controls, RequestContext } from '../request/context.js';
import { matchRoute, type Route } from '../routing/route.js';
import type { ClientExchange } from './exchange.js';
import { takeFeedback } from './feedback.js';
import type { GatewayServices, Rules } from './services.js';
import type { Trace } from './trace.js';

/** What a listener says for those who come in by it. */
export interface ListenerDefaults {
  readonly name: string;
  /** Client of requests without a login, or null. */
  readonly client: string | null;
  /** Label of the route of all its requests, or null for the first that matches. */
  readonly route: string | null;
  readonly controls: ControlDefaults;
  /** `controls` merged with those of each client, once. */
  readonly merged: WeakMap<Client, ControlDefaults>;
  /** The certificate that clients get who speak TLS to the proxy, or null. */
  readonly tls: SecureContext | null;
  /** Addresses of balancers that say by the PROXY protocol who they speak for; empty: nobody does. */
  readonly proxyFrom: readonly Cidr[];
}

/** A request understood. */
export interface Ask {
  readonly kind: 'ask';
  readonly context: RequestContext;
  readonly client: Client;
  readonly route: Route;
  readonly rules: Rules;
  /** Ids of the gateways that the request has passed, ours last. */
  readonly loopTrail: string;
}

/** Either an ask, or why not. */
export type Understood = Ask | Refused;

/** Why a request is not served. */
export interface Refused {
  readonly kind: 'refused';
  readonly failure: Failure;
  /** For how long the answer is to be held back. */
  readonly delayMs?: number;
}

const LOOP_FIELD = 'x-turnpike-loop';
const GATEWAY_ID = /^[0-9a-f]{8}$/;
const LONGEST_TRAIL = 32;
/** TRACK is what IIS calls it. */
const TRACING = /^trac[ek]$/i;
const NO_TRACE = refused({ code: 'not_implemented', detail: 'TRACE is not forwarded.' });
const ODD_CONNECT = refused({ code: 'bad_request', detail: 'CONNECT is written in capitals.' });
const TWO_LOGINS: Settled = refused({
  code: 'bad_request',
  detail: 'Proxy-Authorization may come once only.',
});

/** A request with whoever sends it. */
export interface Authenticated {
  readonly exchange: ClientExchange;
  readonly auth: Settled;
}

/** Reads a request. Order: login, target, loop, wishes, route: nobody learns about targets before a login. */
export function understand(
  services: GatewayServices,
  { exchange, auth }: Authenticated,
  listener: ListenerDefaults,
  trace: Trace,
): Understood {
  const rules = services.rules();
  const { head } = exchange;
  if (auth.kind === 'challenge') return challenged(auth);
  if (auth.kind === 'refused') return auth;
  trace.client = auth.client.name;
  const parsed = readTarget(head);
  if (parsed.kind === 'refused') return parsed;
  const { target } = parsed;
  // Noted before it is judged: who asks for what is refused should be found in the log.
  trace.target = target;
  const forbidden = forbids(services, rules, head, { client: auth.client, target });
  if (forbidden !== null) return refused(forbidden);
  const read = readControls({
    fields: head.fields,
    sessionHeader: rules.runtime.sessionHeader,
    username: auth.username,
    defaults: defaultsOf(listener, auth.client),
    sessionTtlMs: rules.runtime.sessionTtlMs,
  });
  if (read.kind === 'refused') return read;
  trace.session = read.controls.session?.id ?? null;
  const badFeedback = feedbackFailure(services, auth.client, read.controls);
  if (badFeedback !== null) return refused(badFeedback);
  const kind = head.method === 'CONNECT' ? 'tunnel' : 'forward';
  const path = kind === 'tunnel' ? null : target.path;
  const { name, tags } = auth.client;
  const route = routeOf(rules, listener, {
    target,
    method: head.method,
    path,
    client: name,
    clientTags: tags,
  });
  if (route === null)
    return refused({ code: 'target_refused', detail: 'No route of the configuration matches.' });
  trace.route = route.label;
  return {
    kind: 'ask',
    client: auth.client,
    route,
    rules,
    loopTrail: loopTrailOf(services, head),
    // Written out: spreading an object here cost 3 µs a request.
    context: {
      requestId: trace.requestId,
      kind,
      method: head.method,
      target,
      client: auth.client.name,
      controls: read.controls,
      route: route.label,
    },
  };
}

/** Who sends this, by the login in its head, its address and the listener. */
export function authenticate(
  services: GatewayServices,
  exchange: ClientExchange,
  listener: ListenerDefaults,
): AuthResult {
  if (exchange.head.fields.count('proxy-authorization') > 1) return TWO_LOGINS;
  return services.rules().clients.authenticate({
    proxyAuthorization: exchange.head.fields.get('proxy-authorization'),
    remoteAddress: exchange.origin.remoteAddress,
    listenerDefaultClient: listener.client,
    nowMs: exchange.startedMs,
  });
}

function readTarget(head: RequestHead): TargetResult {
  const { method, target } = head;
  if (method === 'CONNECT') return parseAuthority(target);
  // Methods have a case (RFC 9110, section 9.1), but not every server behind us tells it.
  if (method.length === 5 && TRACING.test(method)) return NO_TRACE;
  if (method.length === 7 && method.toUpperCase() === 'CONNECT') return ODD_CONNECT;
  return parseAbsoluteForm(target);
}

/** Why this client may not go there, or null. */
function forbids(
  services: GatewayServices,
  rules: Rules,
  head: RequestHead,
  ask: { readonly client: Client; readonly target: Target },
): Failure | null {
  return (
    loopFailure(services, head) ??
    checkTarget(ask.target, rules.targets, services.own) ??
    checkClientTarget(ask.client, ask.target)
  );
}

/** Takes what the client says of an earlier answer; why it can't be taken, or null. */
function feedbackFailure(services: GatewayServices, client: Client, { feedback }: Controls): Failure | null {
  if (feedback === null) return null;
  const taken = takeFeedback(services, client.name, feedback);
  return taken.kind === 'taken' ? null : { code: 'bad_request', detail: taken.detail };
}

function defaultsOf(listener: ListenerDefaults, client: Client): ControlDefaults {
  const known = listener.merged.get(client);
  if (known !== undefined) return known;
  const merged = mergeDefaults(listener.controls, client.defaults);
  listener.merged.set(client, merged);
  return merged;
}

function routeOf(
  rules: Rules,
  listener: ListenerDefaults,
  ask: Parameters<typeof matchRoute>[1],
): Route | null {
  const { routes } = rules.runtime;
  if (listener.route === null) return matchRoute(routes, ask);
  return routes.find((route) => route.label === listener.route) ?? null;
}

/** A login is asked for. */
export function challenged({ detail, delayMs }: Settled & { kind: 'challenge' }): Refused {
  return { kind: 'refused', failure: { code: 'auth_required', detail }, delayMs };
}

function refused(failure: Failure): Refused {
  return { kind: 'refused', failure };
}

function loopFailure(services: GatewayServices, head: RequestHead): Failure | null {
  if (!head.fields.has(LOOP_FIELD) || !passedBy(head).includes(services.gatewayId)) return null;
  return { code: 'loop_detected', detail: 'The request has passed this gateway before.' };
}

function loopTrailOf(services: GatewayServices, head: RequestHead): string {
  if (!head.fields.has(LOOP_FIELD)) return services.gatewayId;
  return [...passedBy(head).slice(-LONGEST_TRAIL), services.gatewayId].join(', ');
}

/** The gateways that a request has passed. The field goes on to upstreams, so nothing but ids is taken from it. */
function passedBy(head: RequestHead): string[] {
  return listTokens(head.fields, LOOP_FIELD).filter((id) => GATEWAY_ID.test(id));
}
