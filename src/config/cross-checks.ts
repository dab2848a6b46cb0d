/**
 * Rules between settings: names that must exist, names that must be alone, doors that must not stand open.
 * Works on the tree as written, so that these are found together with everything that the schema finds.
 */
import type { Tree } from './document.js';
import { nearest } from './near-miss.js';
import { showName } from './problems.js';
import type { Finding, Path } from './problems.js';
import { checkSharing } from './sharing.js';
import { listOf, mapOf, textOf, textsOf } from './reading.js';
import { parseCidr } from '../protocol/address.js';
import { formatAddress, isLoopback, parseAddress } from './units.js';

type Names = readonly string[];

interface Listener {
  readonly path: Path;
  readonly at: string;
  readonly entry: Readonly<Record<string, unknown>>;
}

function listenersIn(tree: Tree): readonly Listener[] {
  const proxy = mapOf(tree['listen'])['proxy'] ?? '127.0.0.1:8080';
  return listOf(proxy).flatMap((item, index): Listener[] => {
    const path = Array.isArray(proxy) ? ['listen', 'proxy', index] : ['listen', 'proxy'];
    if (typeof item === 'string') return [{ path, at: item, entry: {} }];
    const entry = mapOf(item);
    const at = textOf(entry['at']);
    return at === null ? [] : [{ path, at, entry }];
  });
}

function unknownName(what: string, name: string, known: Names): string {
  const near = nearest(name, known);
  const hint = near === null ? '' : `; did you mean ${near}?`;
  const list = known.length === 0 ? 'there is none' : `there is ${known.map(showName).join(', ')}`;
  return `no ${what} is named ${showName(name)} (${list})${hint}`;
}

function checkNames(value: unknown, path: Path, rule: { what: string; known: Names }): Finding[] {
  return textsOf(value)
    .filter(({ text }) => !rule.known.includes(text))
    .map(({ text, index }) => ({
      path: index === null ? path : [...path, index],
      message: unknownName(rule.what, text, rule.known),
    }));
}

function repeated(
  names: readonly (string | null)[],
  pathOf: (index: number) => Path,
  what: string,
): Finding[] {
  return names.flatMap((name, index) => {
    const first = name === null ? index : names.indexOf(name);
    if (first === index) return [];
    return [{ path: pathOf(index), message: `another ${what} has this name already (number ${first})` }];
  });
}

function checkReferences(tree: Tree, listeners: readonly Listener[]): Finding[] {
  const pools = {
    what: 'pool',
    known: tree['pools'] === undefined ? ['default'] : Object.keys(mapOf(tree['pools'])),
  };
  const routeNames = listOf(tree['routes'] ?? [{}]).map(
    (route, index) => textOf(mapOf(route)['name']) ?? `route-${index}`,
  );
  const routes = { what: 'route', known: routeNames };
  const clientNames = listOf(tree['clients']).map((client) => textOf(mapOf(client)['name']));
  const tokenNames = listOf(mapOf(tree['admin'])['tokens']).map((token) => textOf(mapOf(token)['name']));
  const clients = { what: 'client', known: clientNames.filter((name) => name !== null) };
  return [
    ...listOf(tree['routes']).flatMap((route, index) => [
      ...checkNames(mapOf(route)['pools'], ['routes', index, 'pools'], pools),
      ...checkNames(mapOf(mapOf(route)['match'])['client'], ['routes', index, 'match', 'client'], clients),
    ]),
    ...listeners.flatMap(({ path, entry }) => [
      ...checkNames(entry['client'], [...path, 'client'], clients),
      ...checkNames(entry['route'], [...path, 'route'], routes),
      ...checkNames(entry['pool'], [...path, 'pool'], pools),
    ]),
    ...listOf(tree['clients']).flatMap((client, index) =>
      checkNames(mapOf(mapOf(client)['defaults'])['pool'], ['clients', index, 'defaults', 'pool'], pools),
    ),
    ...repeated(clientNames, (index) => ['clients', index, 'name'], 'client'),
    ...repeated(routeNames, (index) => ['routes', index, 'name'], 'route'),
    ...repeated(tokenNames, (index) => ['admin', 'tokens', index, 'name'], 'token'),
  ];
}

function checkAddresses(tree: Tree, listeners: readonly Listener[]): Finding[] {
  const admin = mapOf(tree['listen'])['admin'] ?? '127.0.0.1:8081';
  const doors = [
    ...listeners.map(({ path, at, entry }) => ({ path: 'at' in entry ? [...path, 'at'] : path, at })),
    { path: ['listen', 'admin'] as Path, at: textOf(admin) ?? '' },
  ];
  const spelled = doors.map(({ at }) => {
    const address = parseAddress(at);
    return address === null || address.port === 0 ? null : formatAddress(address).toLowerCase();
  });
  return doors.flatMap(({ path }, index) => {
    const same = spelled[index] === null ? index : spelled.indexOf(spelled[index] ?? null);
    return same === index ? [] : [{ path, message: 'another listener has this address already' }];
  });
}

/** Clients that everybody could be, and the one name that is taken. */
export function checkClients(tree: Tree): Finding[] {
  return listOf(tree['clients']).flatMap((item, index): Finding[] => {
    const client = mapOf(item);
    const path = ['clients', index];
    if (client['name'] === 'anonymous') {
      return [
        {
          path: [...path, 'name'],
          message: 'anonymous is the name of requests without a login; choose another',
        },
      ];
    }
    if (client['password'] !== undefined) return [];
    const ranges = textsOf(client['allow_from']).map(({ text }) => parseCidr(text));
    if (ranges.length === 0) return [{ path, message: 'needs a password, or allow_from, or both' }];
    const isOpen = ranges.some((range) => range?.bits === 0);
    const message = 'everybody could use the proxy: a client without a password needs narrower ranges';
    return isOpen ? [{ path: [...path, 'allow_from'], message }] : [];
  });
}

/** Whoever names clients must be named itself: a header that anybody may send is worth nothing. */
function checkBalancers(listeners: readonly Listener[]): Finding[] {
  return listeners.flatMap(({ path, entry }): Finding[] => {
    const ranges = textsOf(entry['proxy_protocol_from']);
    const from = [...path, 'proxy_protocol_from'];
    if (entry['proxy_protocol'] === true && ranges.length === 0) {
      const message = 'is missing; the addresses of the balancers that may say who connected to them';
      return [{ path: from, message }];
    }
    if (entry['proxy_protocol'] !== true && ranges.length > 0)
      return [{ path: from, message: 'means nothing without proxy_protocol: true' }];
    return ranges.some(({ text }) => parseCidr(text)?.bits === 0)
      ? [{ path: from, message: 'everybody could claim any address; name the balancers' }]
      : [];
  });
}

/** Z10: a door that others can reach needs a lock, or the gateway is an open proxy. */
function checkDoors(tree: Tree, listeners: readonly Listener[]): Finding[] {
  const clients = listOf(tree['clients']).map(mapOf);
  return listeners.flatMap(({ path, at, entry }): Finding[] => {
    const address = parseAddress(at);
    // Behind a balancer on this machine stands everybody.
    const isOnlyOurs = address !== null && isLoopback(address.host) && entry['proxy_protocol'] !== true;
    if (address === null || isOnlyOurs) return [];
    if (clients.length === 0) {
      const message =
        'would be an open proxy: an address other than loopback needs clients (or start with --client NAME and TURNPIKE_CLIENT_PASSWORD)';
      return [{ path, message }];
    }
    const assumed = clients.find((client) => client['name'] === entry['client']);
    if (entry['client'] === undefined || assumed === undefined || assumed['allow_from'] !== undefined)
      return [];
    const message =
      'would be an open proxy: without a login anyone is this client; give the client an allow_from';
    return [{ path: [...path, 'client'], message }];
  });
}

/** All rules between settings that the tree breaks. */
export function crossCheck(tree: Tree): Finding[] {
  const listeners = listenersIn(tree);
  return [
    ...checkReferences(tree, listeners),
    ...checkAddresses(tree, listeners),
    ...checkClients(tree),
    ...checkBalancers(listeners),
    ...checkDoors(tree, listeners),
    ...checkSharing(tree),
  ];
}
