/** Settings of the ways out: pools and their upstreams. */
import { z } from 'zod';
import { MAX_TEMPLATE_EXITS } from '../upstreams/template.js';
import {
  allowEntry,
  count,
  flag,
  name,
  oneOf,
  oneOrMany,
  positiveDuration,
  quantity,
  secretRef,
  text,
  vaultRef,
  withHelp,
} from './fields.js';
import { poolCostSchema, poolLimitsSchema } from './schema-pool-use.js';
import { sharingFields } from './schema-sharing.js';

const tls = z.strictObject(
  {
    ca: withHelp(text('a path'), {
      help: 'PEM file of a CA to trust besides the usual ones.',
      example: './company-ca.pem',
    }).optional(),
    verify: withHelp(flag(), {
      help: 'False accepts any certificate: then nobody is kept from reading the login.',
    }).prefault(true),
    servername: withHelp(text('a host name'), {
      help: 'Name to ask for (SNI) and to find in the certificate, where it is not the host of the URL.',
      example: 'proxy.example',
    }).optional(),
  },
  { error: 'expected { ca: FILE, verify: true, servername: NAME }' },
);

const upstream = z
  .strictObject(
    {
      file: withHelp(text('a path'), {
        help: 'A list, one upstream a line, JSON lines or CSV; relative to this file, and read anew when it changes. Either file, url, list or template.',
        example: './proxies.txt',
      }).optional(),
      url: withHelp(secretRef('the URL of an upstream'), {
        help:
          'One upstream, as http://user:password@host:port, https://…, socks5://… (socks5h, socks4, socks4a), ' +
          'or direct:// for going out without a proxy. ' +
          'A URL with a password in it is better given as env:NAME or file:path.',
        example: 'http://10.0.0.9:3128',
      }).optional(),
      list: withHelp(secretRef('the URL of a list'), {
        help:
          'A list on a server, http:// or https://. Asked for again and again; the last good one is kept. ' +
          'Private and special addresses are refused unless allow names them.',
        example: 'https://lists.example/proxies.txt',
      }).optional(),
      refresh: withHelp(positiveDuration(), {
        help: 'For list: how often it is asked for. Default 5m.',
        example: '5m',
      }).optional(),
      allow: withHelp(oneOrMany(allowEntry("'10.0.0.9:8000' or 'lists.internal:443'")), {
        help: 'For list: special addresses that it may come from, written as in targets.allow.',
        example: ['10.0.0.9:8000'],
      }).optional(),
      template: withHelp(secretRef('a template'), {
        help:
          'One endpoint of a vendor, many exits: a URL whose user name or password holds {session}, and where the vendor knows them ' +
          '{country}, {city} and {asn}, filled from the request. With credential its password holds {secret}.',
        example: 'http://customer-C-session-{session}-country-{country}@vendor.example:7777',
      }).optional(),
      exits: withHelp(count(1, MAX_TEMPLATE_EXITS), {
        help: 'For template: how many exits, each with a session of its own. Default 100.',
        example: 500,
      }).optional(),
      credential: withHelp(vaultRef(), {
        help:
          'Its login, from the vault: vault:KEY, a credential of type username_password. ' +
          'Then url and lists hold no login, and a template holds {secret} where the password goes.',
        example: 'vault:dc',
      }).optional(),
      weight: withHelp(quantity('expected a number from 0.001 to 1000000', { least: 0.001, most: 1e6 }), {
        help: 'Share in weighted_random, relative to the others. Default 1.',
        example: 1,
      }).optional(),
      tags: withHelp(oneOrMany(name()), {
        help: 'Words that requests can ask for.',
        example: ['fast'],
      }).optional(),
      country: withHelp(
        z
          .string({ error: 'expected a country' })
          .regex(/^[A-Za-z]{2}$/, { error: 'expected two letters, such as de' })
          .toLowerCase(),
        { help: 'Where the exit is (two letters).', example: 'de' },
      ).optional(),
      city: withHelp(text('a city'), { help: 'The city of the exit.', example: 'berlin' }).optional(),
      asn: withHelp(count(1, 4_294_967_295), { help: 'Its autonomous system.', example: 64500 }).optional(),
      turnpike: withHelp(flag(), {
        help: 'Whether the upstream is a Turnpike itself, so that loops through it are found.',
        example: false,
      }).optional(),
      tls: withHelp(tls, { help: 'For https upstreams.' }).optional(),
    },
    { error: "expected an upstream such as { file: ./proxies.txt } or { url: 'http://10.0.0.9:3128' }" },
  )
  .refine(({ file, url, list, template }) => [file, url, list, template].filter(Boolean).length === 1, {
    error: 'expected exactly one of file, url, list and template',
  })
  .refine(
    ({ list, refresh, allow }) => list !== undefined || (refresh === undefined && allow === undefined),
    {
      error: 'refresh and allow belong to list',
    },
  )
  .refine(({ template, exits }) => template !== undefined || exits === undefined, {
    error: 'exits belongs to template',
  })
  .meta({
    either: ['file', 'list', 'template', 'url'],
    belongs: { refresh: 'list', allow: 'list', exits: 'template' },
  });

const pool = z.strictObject(
  {
    upstreams: withHelp(z.array(upstream, { error: 'expected a list of upstreams' }), {
      help: 'The upstreams: lists in files or from servers, single ones, templates.',
    }).prefault([]),
    strategy: withHelp(
      oneOf([
        'round_robin',
        'random',
        'weighted_random',
        'least_used',
        'least_recently_used_per_site',
        'fastest',
        'adaptive',
        'hash',
      ]),
      {
        help:
          'How an exit is chosen: round_robin in turn, random, weighted_random by weight, least_used with the fewest requests under way, ' +
          'least_recently_used_per_site the one that has rested longest from the site, fastest by time to first byte, ' +
          'adaptive by longest rest, with less of it for exits that fail or are slow at the site, ' +
          'hash the same exit for the same key.',
      },
    ).prefault('round_robin'),
    hash_on: withHelp(oneOf(['session', 'site', 'client', 'url']), {
      help: 'The key of strategy hash. A request in a session goes by its session in any case; with hash_on: session, one without goes anywhere.',
    }).prefault('session'),
    algorithm: withHelp(oneOf(['multi_probe', 'ketama']), {
      help: 'How a key finds its exit. ketama is what memcached clients use, for crawlers that compute the exit themselves; at most 1000 upstreams.',
    }).prefault('multi_probe'),
    ...sharingFields,
    limits: poolLimitsSchema,
    cost: poolCostSchema,
  },
  { error: 'expected a pool such as { upstreams: [ { file: ./proxies.txt } ] }' },
);

/** `pools` */
export const poolsSchema = withHelp(
  z.record(name(), pool, { error: 'expected pools by name' }).prefault({ default: {} }),
  { help: 'Named sets of upstreams. A pool without upstreams answers 503 no_upstream.' },
);
