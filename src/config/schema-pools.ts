/** Settings of the ways out: pools and their upstreams. */
import { z } from 'zod';
import { count, flag, name, oneOf, oneOrMany, quantity, secretRef, text, withHelp } from './fields.js';

const tls = z.strictObject(
  {
    ca: withHelp(text('a path'), {
      help: 'PEM file of a CA to trust besides the usual ones.',
      example: './company-ca.pem',
    }).optional(),
    verify: withHelp(flag(), {
      help: 'False accepts any certificate: then nobody is kept from reading the login.',
    }).prefault(true),
  },
  { error: 'expected { ca: FILE, verify: true }' },
);

const upstream = z
  .strictObject(
    {
      file: withHelp(text('a path'), {
        help: 'A list, one upstream a line; relative to this file. Either file or url.',
        example: './proxies.txt',
      }).optional(),
      url: withHelp(secretRef('the URL of an upstream'), {
        help:
          'One upstream, as http://user:password@host:port or https://… ' +
          'A URL with a password in it is better given as env:NAME or file:path.',
        example: 'http://10.0.0.9:3128',
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
  .refine((entry) => (entry.file === undefined) !== (entry.url === undefined), {
    error: 'expected exactly one of file and url',
  })
  .meta({ either: ['file', 'url'] });

const pool = z.strictObject(
  {
    upstreams: withHelp(z.array(upstream, { error: 'expected a list of upstreams' }), {
      help: 'The upstreams: lists in files, and single ones.',
    }).prefault([]),
    strategy: withHelp(
      oneOf([
        'round_robin',
        'random',
        'weighted_random',
        'least_used',
        'least_recently_used_per_site',
        'fastest',
        'hash',
      ]),
      {
        help:
          'How an exit is chosen: round_robin in turn, random, weighted_random by weight, least_used with the fewest requests under way, ' +
          'least_recently_used_per_site the one that has rested longest from the site, fastest by time to first byte, ' +
          'hash the same exit for the same key.',
      },
    ).prefault('round_robin'),
    hash_on: withHelp(oneOf(['session', 'site', 'client', 'url']), {
      help: 'The key of strategy hash. A request in a session goes by its session in any case; with hash_on: session, one without goes anywhere.',
    }).prefault('session'),
    algorithm: withHelp(oneOf(['multi_probe', 'ketama']), {
      help: 'How a key finds its exit. ketama is what memcached clients use, for crawlers that compute the exit themselves; at most 1000 upstreams.',
    }).prefault('multi_probe'),
    limits: withHelp(
      z.strictObject(
        {
          slots: withHelp(count(1), {
            help: 'Most requests at once through one exit. Without it there is no limit.',
            example: 10,
          }).optional(),
        },
        { error: 'expected limits such as { slots: 10 }' },
      ),
      { help: 'Bounds of each exit of the pool.' },
    ).prefault({}),
  },
  { error: 'expected a pool such as { upstreams: [ { file: ./proxies.txt } ] }' },
);

/** `pools` */
export const poolsSchema = withHelp(
  z.record(name(), pool, { error: 'expected pools by name' }).prefault({ default: {} }),
  { help: 'Named sets of upstreams. A pool without upstreams answers 503 no_upstream.' },
);
