/**
 * From a request's head to what is asked: who, where to, by which route, with which wishes. One synchronous step;
 * nothing has left the gateway before it, and what it refuses never does.
 */
import { checkClientTarget } from '../access/client-targets.js';
import type { Client } from '../access/clients.js';
import { mergeDefaults, readControls, type ControlDefaults } from '../request/controls.js';
import type { Failure } from '../core/errors.js';
import { checkTarget, parseAbsoluteForm, parseAuthority } from '../protocol/target.js';
import type { RequestContext } from '../request/context.js';
import { matchRoute, type Route } from '../routing/route.js';
import type { ClientExchange } from './exchange.js';
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
export type Understood =
  Ask | { readonly kind: 'refused'; readonly failure: Failure; readonly delayMs?: number };

/** Reads a request. Order: login, target, loop, wishes, route: nobody learns about targets before a login. */
export function understand(
  services: GatewayServices,
  exchange: ClientExchange,
  listener: ListenerDefaults,
  trace: Trace,
): Understood {
  const rules = services.rules();
  const { head } = exchange;
  const auth = rules.clients.authenticate({
    proxyAuthorization: head.fields.get('proxy-authorization'),
    remoteAddress: exchange.origin.remoteAddress,
    listenerDefaultClient: listener.client,
    nowMs: exchange.startedMs,
  });
  if (auth.kind === 'challenge') {
    return {
      kind: 'refused',
      failure: { code: 'auth_required', detail: auth.detail },
      delayMs: auth.delayMs,
    };
  }
  if (auth.kind === 'refused') return auth;
  const { client } = auth;
  trace.client = client.name;
  if (head.method === 'TRACE') return refused({ code: 'not_implemented', detail: 'TRACE is not forwarded.' });
  const isTunnel = head.method === 'CONNECT';
  const parsed = isTunnel ? parseAuthority(head.target) : parseAbsoluteForm(head.target);
  if (parsed.kind === 'refused') return parsed;
  const { target } = parsed;
  trace.target = target;
  const passed = head.fields.get('x-turnpike-loop') ?? '';
  const failure =
    loopFailure(services, passed) ??
    checkTarget(target, rules.targets, services.own) ??
    checkClientTarget(client, target);
  if (failure !== null) return refused(failure);
  const controls = readControls({
    fields: head.fields,
    sessionHeader: rules.runtime.sessionHeader,
    username: auth.username,
    defaults: defaultsOf(listener, client),
    sessionTtlMs: rules.runtime.sessionTtlMs,
  });
  if (controls.kind === 'refused') return controls;
  const path = isTunnel ? null : target.path;
  const route = routeOf(rules, listener, { target, method: head.method, path, client: client.name });
  if (route === null)
    return refused({ code: 'target_refused', detail: 'No route of the configuration matches.' });
  trace.route = route.label;
  trace.session = controls.controls.session?.id ?? null;
  return {
    kind: 'ask',
    client,
    route,
    rules,
    loopTrail: passed === '' ? services.gatewayId : `${passed}, ${services.gatewayId}`,
    context: {
      requestId: trace.requestId,
      kind: isTunnel ? 'tunnel' : 'forward',
      method: head.method,
      target,
      client: client.name,
      controls: controls.controls,
      route: route.label,
    },
  };
}

/** Merged once per listener and client. */
const mergedDefaults = new WeakMap<ListenerDefaults, WeakMap<Client, ControlDefaults>>();

function defaultsOf(listener: ListenerDefaults, client: Client): ControlDefaults {
  const ofListener = mergedDefaults.get(listener) ?? new WeakMap<Client, ControlDefaults>();
  mergedDefaults.set(listener, ofListener);
  const merged = ofListener.get(client) ?? mergeDefaults(listener.controls, client.defaults);
  ofListener.set(client, merged);
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

function refused(failure: Failure): Understood {
  return { kind: 'refused', failure };
}

function loopFailure(services: GatewayServices, passed: string): Failure | null {
  if (passed === '' || !passed.split(',').some((id) => id.trim() === services.gatewayId)) return null;
  return { code: 'loop_detected', detail: 'The request has passed this gateway before.' };
}
