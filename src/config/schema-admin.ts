/** Settings of the admin listener: who may ask, what may be read without asking, and how the way there is kept. */
import { z } from 'zod';
import { name, oneOf, oneOrMany, secretRef, text, withHelp } from './fields.js';

/** What a token may do; `admin/scopes.ts` says what holds what. */
export const adminScopes = ['admin', 'operator', 'read', 'tokens'] as const;

const token = z.strictObject(
  {
    name: withHelp(name(), { help: 'Who holds it, for the log.', example: 'ops' }),
    token: withHelp(secretRef('a token'), {
      help: 'The token, at least 16 characters: env:NAME, file:path, or the token itself.',
      example: 'env:OPS_TOKEN',
    }),
    scopes: withHelp(
      oneOrMany(oneOf(adminScopes)).refine((list) => list.length > 0, {
        error: `expected one or several of ${adminScopes.join(', ')}`,
      }),
      {
        help:
          'read looks, operator also bans, freezes, drains and removes, admin does everything; tokens is for crawlers: ' +
          'it takes out credentials by policies and does nothing else.',
        example: ['operator'],
      },
    ),
  },
  { error: 'expected a token such as { name: ops, token: env:OPS_TOKEN, scopes: [operator] }' },
);

const tls = z
  .strictObject(
    {
      cert: withHelp(text('a path'), {
        help: 'PEM file with the certificate and its chain; with it the admin listener speaks https.',
        example: './admin.pem',
      }).optional(),
      key: withHelp(text('a path'), {
        help: 'PEM file with the private key.',
        example: './admin-key.pem',
      }).optional(),
    },
    { error: 'expected { cert: FILE, key: FILE }' },
  )
  .refine((entry) => (entry.cert === undefined) === (entry.key === undefined), {
    error: 'expected both cert and key, or neither',
  });

/** `admin` */
export const adminSchema = withHelp(
  z
    .strictObject({
      tokens: withHelp(z.array(token, { error: 'expected a list of tokens' }), {
        help:
          'Bearer tokens of the admin API. TURNPIKE_ADMIN_TOKEN adds one with the scope admin. Where there is none at all, ' +
          'one is made on the first start and kept in data_dir/admin-token, for its owner only to read.',
      }).prefault([]),
      metrics: withHelp(oneOf(['loopback', 'public', 'token']), {
        help:
          'Who reads /metrics without a token: loopback for programs on this machine, public for everybody, token for nobody. ' +
          '/healthz and /readyz never ask for one.',
      }).prefault('loopback'),
      tls: withHelp(tls, { help: 'TLS on the admin listener.' }).prefault({}),
    })
    .prefault({}),
  { help: 'The admin API, see docs/admin-api.md.' },
);
