/** How gateways share the exits of a pool, and which of them this one is. */
import { z } from 'zod';
import { count, name, oneOf, oneOrMany, positiveDuration, text, withHelp } from './fields.js';

const ON_LOSS = /^(shard|fail|reserve:[A-Za-z0-9][A-Za-z0-9._-]{0,63})$/;

const siteGroup = z.strictObject(
  {
    name: withHelp(name(), { help: 'The name of the group.', example: 'shops' }),
    sites: withHelp(oneOrMany(text('a site')), {
      help: 'Its sites, as registrable domains: shop.example stands for www.shop.example, too.',
      example: ['shop.example'],
    }),
  },
  { error: 'expected a group such as { name: shops, sites: [shop.example] }' },
);

const lease = withHelp(
  z.strictObject(
    {
      holders: withHelp(count(1, 1000), {
        help: 'Gateways that may use one exit at once; with 1 an exit is never used by two. limits.slots counts for each of them.',
      }).prefault(1),
      ttl: withHelp(positiveDuration(), {
        help: 'So long after a gateway died its exits are free; a gateway that is asleep has given them up before.',
      }).prefault('30s'),
      idle: withHelp(positiveDuration(), {
        help: 'An exit that was not used for so long is given back.',
      }).prefault('10s'),
    },
    { error: 'expected { holders: 1, ttl: 30s, idle: 10s }' },
  ),
  { help: 'For sharing: broker.' },
).prefault({});

/** Settings of a pool. */
export const sharingFields = {
  sharing: withHelp(oneOf(['none', 'modulo', 'ring', 'broker']), {
    help:
      'Which gateway may use which exits: none, every gateway all; modulo, by place in the list and cluster.index; ring, by consistent ' +
      'hashing over the gateways that are there; broker, by leases, exclusive unless lease.holders says otherwise. See docs/scaling.md.',
  }).prefault('none'),
  lease,
  on_redis_loss: withHelp(
    z
      .string({ error: 'expected shard, fail or reserve:POOL' })
      .regex(ON_LOSS, { error: 'expected shard, fail or reserve:POOL' }),
    {
      help:
        'While Redis is away: shard, each gateway goes on with its own part of the exits (with sharing: none with all; with broker first ' +
        'with what it has leased, then its part once the leases of others have run out, which two may use where only one lost Redis); ' +
        'reserve:POOL, that pool serves instead; fail, requests get 503.',
    },
  ).prefault('shard'),
  partition: withHelp(oneOf(['none', 'by_site_group']), {
    help: 'by_site_group: an exit is only ever used for the sites of one group.',
  }).prefault('none'),
  site_groups: withHelp(z.array(siteGroup, { error: 'expected a list of groups' }), {
    help: 'For partition: by_site_group. All sites that are named in none are one more group.',
  }).prefault([]),
};

/** `cluster` */
export const clusterSchema = withHelp(
  z
    .strictObject({
      index: withHelp(count(0, 9999), {
        help: 'The number of this gateway, from 0; also TURNPIKE_CLUSTER_INDEX. Needed for sharing: modulo.',
        example: 0,
      }).optional(),
      count: withHelp(count(1, 10_000), {
        help: 'How many gateways there are; also TURNPIKE_CLUSTER_COUNT. Needed for sharing: modulo; else what a gateway goes by that starts without Redis.',
        example: 4,
      }).optional(),
    })
    .prefault({}),
  { help: 'This gateway among others, where that is configured and not found out.' },
);
