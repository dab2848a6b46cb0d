/** Settings of who may come in, by which door, and where they may go: listen, targets, clients. */
import { z } from 'zod';
import {
  address,
  allowEntry,
  byteRate,
  count,
  flag,
  hostMatch,
  name,
  oneOf,
  oneOrMany,
  range,
  rate,
  secretRef,
  text,
  withHelp,
} from './fields.js';
import { defaultFields, requestDefaults } from './schema-defaults.js';

const proxyAddress = withHelp(address(), {
  help: 'Address and port of this listener.',
  example: '127.0.0.1:8080',
});

const certificate = z.strictObject(
  {
    cert: withHelp(text('a path'), {
      help: 'PEM file of the certificate, with the chain behind it; relative to this file.',
      example: './gateway.pem',
    }),
    key: withHelp(text('a path'), {
      help: 'PEM file of its key, without a passphrase.',
      example: './gateway-key.pem',
    }),
  },
  { error: 'expected { cert: FILE, key: FILE }' },
);

const proxyListener = z.strictObject(
  {
    at: proxyAddress,
    client: withHelp(name(), {
      help: 'Client that requests on this listener belong to when they carry no login.',
      example: 'crawler',
    }).optional(),
    route: withHelp(name(), {
      help: 'Route of all requests on this listener; without it the first route that matches.',
      example: 'everything',
    }).optional(),
    tls: withHelp(certificate, {
      help: 'Lets clients speak TLS to the proxy (an https:// proxy URL) on this port, beside plain HTTP and SOCKS5.',
    }).optional(),
    proxy_protocol: withHelp(flag(), {
      help: 'Whether balancers in front say by the PROXY protocol (v1 or v2) who connected to them.',
      example: true,
    }).optional(),
    proxy_protocol_from: withHelp(oneOrMany(range()), {
      help: 'Addresses of those balancers: they must send the header, and from nobody else it is taken.',
      example: ['10.0.0.5'],
    }).optional(),
    ...defaultFields,
  },
  { error: "expected an address such as '127.0.0.1:8080', or { at: ADDRESS, … }" },
);

const adminSocket = z
  .string()
  .regex(/^unix:[^\u0000-\u001f\u007f]{1,100}$/)
  .transform((given) => ({ socket: given.slice('unix:'.length) }));

const adminDoor = z.union([z.literal('off').transform(() => null), adminSocket, address()], {
  error: "expected an address and port such as '127.0.0.1:8081', 'unix:/path', or 'off'",
});

const atOnly = proxyAddress.transform((at): z.output<typeof proxyListener> => ({ at }));
const proxyListeners = oneOrMany(z.union([atOnly, proxyListener])).refine((list) => list.length > 0, {
  error: 'needs at least one listener',
});

/** `listen` */
export const listenSchema = withHelp(
  z
    .strictObject({
      proxy: withHelp(proxyListeners, {
        help:
          'Where crawlers connect, by HTTP or SOCKS5: an address, or a list of addresses or of { at, client, route, tls, proxy_protocol, proxy_protocol_from, session, mode, ttl, pool, country, city, asn, tags, retries, timeout, detect }, ' +
          'each presetting what its requests leave out. An address other than loopback needs clients.',
      }).prefault('127.0.0.1:8080'),
      admin: withHelp(adminDoor, {
        help: "Where the admin API, /metrics, /healthz and /readyz are: an address, 'unix:/path' for a socket in the file system, 'off' for nowhere. See admin.",
      }).prefault('127.0.0.1:8081'),
      admin_hosts: withHelp(oneOrMany(hostMatch()), {
        help: 'Names by which the admin listener may be called, besides loopback names and its own addresses.',
      }).prefault([]),
    })
    .prefault({}),
  { help: 'The doors.' },
);

/** `targets` */
export const targetsSchema = withHelp(
  z
    .strictObject({
      allow: withHelp(oneOrMany(allowEntry("'127.0.0.1:8000', '10.20.0.0/16' or 'intranet.example:443'")), {
        help:
          'Exceptions to the rule that private, loopback and other special addresses are refused as targets: ' +
          "'127.0.0.1:8000', '[::1]:8000', '10.20.0.0/16', 'localhost:8000'. The gateway's own ports are refused always.",
      }).prefault([]),
    })
    .prefault({}),
  { help: 'Where requests may go.' },
);

const unlimited = 'Without it there is no limit.';

const clientLimits = z.strictObject(
  {
    requests: withHelp(rate(), {
      help: `Requests per time, tunnels included. ${unlimited}`,
      example: '600/min',
    }).optional(),
    tunnels: withHelp(count(0), { help: `Tunnels open at once. ${unlimited}`, example: 200 }).optional(),
    connections: withHelp(count(0), {
      help: `Connections open at once. ${unlimited}`,
      example: 500,
    }).optional(),
    exchanges: withHelp(count(0), {
      help: `Requests under way at once. ${unlimited}`,
      example: 100,
    }).optional(),
    bytes: withHelp(byteRate(), {
      help: `Bytes of bodies and tunnels per time, both directions together, as '10GiB/day'. Above it new requests get 429. ${unlimited}`,
      example: '10GiB/day',
    }).optional(),
    over_bytes: withHelp(oneOf(['finish', 'cut']), {
      help: 'What happens to tunnels that stand when the bytes are used up: finish lets them go on, cut ends them. Default: finish.',
      example: 'finish',
    }).optional(),
  },
  { error: 'expected limits such as { requests: 600/min, tunnels: 200 }' },
);

/** One of `clients` */
export const clientSchema = z.strictObject(
  {
    name: withHelp(name(), { help: 'The user name that the client logs in with.', example: 'crawler' }),
    password: withHelp(secretRef('a password'), {
      help: 'Its password: env:NAME, file:path, or the password itself. Without it allow_from decides alone.',
      example: 'env:CRAWLER_PASSWORD',
      isTypical: true,
    }).optional(),
    allow_from: withHelp(oneOrMany(range()), {
      help: 'Addresses that the client may connect from. Judged by the address of the connection, never by a header.',
      example: ['127.0.0.0/8', '10.0.0.0/8'],
    }).optional(),
    tags: withHelp(oneOrMany(name()), {
      help: 'Words by which routes can match this client.',
      example: ['bulk'],
    }).optional(),
    limits: withHelp(clientLimits, { help: 'What the client may use at most.' }).optional(),
    targets: withHelp(oneOrMany(hostMatch()), {
      help: 'Hosts that the client may go to; without it everywhere.',
      example: ['shop.example', '*.shop.example'],
    }).optional(),
    defaults: withHelp(requestDefaults, {
      help: 'What its requests are taken to say when they say nothing.',
    }).optional(),
  },
  { error: 'expected a client such as { name: crawler, password: env:CRAWLER_PASSWORD }' },
);

/** `clients` */
export const clientsSchema = withHelp(
  z.array(clientSchema, { error: 'expected a list of clients' }).prefault([]),
  {
    help: 'Who may use the proxy. Without clients no login is asked, and only loopback listeners start.',
  },
);
