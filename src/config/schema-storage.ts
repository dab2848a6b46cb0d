/** `storage`: where what outlives the process is kept: credentials, policies, tokens, audit, keys, clients. */
import { z } from 'zod';
import { oneOf, positiveDuration, quantity, secretRef, text, withHelp } from './fields.js';

/** `storage` */
export const storageSchema = withHelp(
  z
    .strictObject({
      kind: withHelp(oneOf(['sqlite', 'postgres']), {
        help: 'sqlite: a file beside this gateway; postgres: a server that several gateways share. Nothing is opened before there is a vault, or this is set.',
        example: 'sqlite',
      }).optional(),
      path: withHelp(text('a path'), {
        help: 'With sqlite: the file; without it turnpike.db in data_dir.',
        example: './data/turnpike.db',
      }).optional(),
      url: withHelp(secretRef('the URL of a PostgreSQL'), {
        help: 'With postgres: postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=MODE, best as env:NAME or file:path. Modes: verify-full (the default but for this machine), verify-ca, require, disable.',
        example: 'env:DATABASE_URL',
      }).optional(),
      ca: withHelp(text('a path'), {
        help: "With postgres: PEM file of the CA that its certificate is judged by; without it the system's.",
        example: './db-ca.pem',
      }).optional(),
      connections: withHelp(quantity('expected a number of connections', { least: 1, most: 1000 }), {
        help: 'With postgres: most connections of this gateway.',
      }).prefault(10),
      timeout: withHelp(positiveDuration(), {
        help: 'Longest time for one call; then the storage counts as away.',
      }).prefault('2s'),
    })
    .prefault({}),
  { help: 'What outlives the process: credentials, policies, tokens, audit. See docs/storage.md.' },
);
