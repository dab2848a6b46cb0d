/** `state`: where sessions and bans live, and how to reach it. */
import { z } from 'zod';
import { address, flag, name, oneOf, oneOrMany, secretRef, text, withHelp } from './fields.js';

/** The name of the variable that holds the fleet's secret, where the file names no other. */
export const clusterSecretVariable = 'TURNPIKE_CLUSTER_SECRET';

/** `state` */
export const stateSchema = withHelp(
  z
    .strictObject({
      kind: withHelp(oneOf(['memory', 'redis']), {
        help: 'Where sessions and bans live: memory, that is in this process, gone when it ends; redis, shared by all gateways that name the same one.',
      }).prefault('memory'),
      url: withHelp(secretRef('the URL of a Redis'), {
        help: 'One Redis: redis://USER:PASSWORD@HOST:PORT/DB, or rediss:// for TLS; best as env:NAME or file:path. One of url, nodes and sentinels is needed.',
        example: 'env:REDIS_URL',
      }).optional(),
      nodes: withHelp(oneOrMany(address()), {
        help: 'A Redis Cluster: some of its nodes.',
        example: ['10.0.0.1:6379', '10.0.0.2:6379'],
      }).optional(),
      sentinels: withHelp(oneOrMany(address()), {
        help: 'Redis behind Sentinels: where they are.',
        example: ['10.0.0.1:26379', '10.0.0.2:26379'],
      }).optional(),
      primary: withHelp(name(), { help: 'What the Sentinels call the primary.' }).prefault('turnpike'),
      username: withHelp(text('a user name'), {
        help: "Redis' user, with nodes or sentinels; without it, the default user.",
        example: 'turnpike',
      }).optional(),
      password: withHelp(secretRef('a password'), {
        help: 'Its password, with nodes or sentinels.',
        example: 'env:REDIS_PASSWORD',
      }).optional(),
      tls: withHelp(flag(), { help: 'Whether to speak TLS, with nodes or sentinels.' }).prefault(false),
      prefix: withHelp(name(), {
        help: 'Begins all keys and channels, so that several fleets can use one Redis.',
      }).prefault('turnpike'),
      secret: withHelp(secretRef('a secret of the fleet'), {
        help: 'The same on all gateways, at least 16 characters: what clients name stands in Redis as an HMAC under it. Used with kind redis only.',
      }).prefault(`env:${clusterSecretVariable}`),
    })
    .prefault({}),
  { help: 'Short-lived facts: sessions and bans. See docs/scaling.md.' },
);
