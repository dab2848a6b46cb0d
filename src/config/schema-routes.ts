/** Settings of which requests use which pools, under which rules. */
import { z } from 'zod';
import { filterFields } from './schema-defaults.js';
import {
  count,
  duration,
  flag,
  hostMatch,
  name,
  oneOf,
  oneOrMany,
  positiveDuration,
  quantity,
  share,
  withHelp,
} from './fields.js';

const pathPrefix = z
  .string({ error: "expected a path prefix such as '/api/'" })
  .regex(/^\/[\u0021-\u007e\u0080-\uffff]*$/, { error: "expected a path prefix that begins with '/'" });

const method = z
  .string({ error: 'expected a method such as GET' })
  .regex(/^[A-Za-z!#$%&'*+.^_`|~-]{1,32}$/, { error: 'expected a method such as GET' });

const match = z.strictObject(
  {
    site: withHelp(oneOrMany(hostMatch()), {
      help: 'Registrable domains: shop.example matches www.shop.example too.',
      example: ['shop.example'],
    }).optional(),
    host: withHelp(oneOrMany(hostMatch()), {
      help: "Host names; '*.shop.example' matches any labels in place of the star.",
      example: ['api.shop.example', '*.img.shop.example'],
    }).optional(),
    port: withHelp(oneOrMany(count(1, 65_535)), {
      help: 'Ports of the target.',
      example: [80, 443],
    }).optional(),
    path: withHelp(oneOrMany(pathPrefix), {
      help: 'Beginnings of paths. Never matches a tunnel, whose paths are not seen.',
      example: ['/catalogue/'],
    }).optional(),
    method: withHelp(oneOrMany(method), {
      help: 'Methods; CONNECT for tunnels.',
      example: ['GET', 'CONNECT'],
    }).optional(),
    client: withHelp(oneOrMany(name()), { help: 'Names of clients.', example: ['crawler'] }).optional(),
    tag: withHelp(oneOrMany(name()), {
      help: 'Tags of clients; one of them is enough.',
      example: ['bulk'],
    }).optional(),
  },
  { error: 'expected conditions such as { site: shop.example }' },
);

const statusList = (meaning: string) =>
  withHelp(oneOrMany(count(100, 599)), { help: `Statuses that mean, taken alone: ${meaning}` });

/** How statuses are read where a route says nothing else (DESIGN 9). */
export const statusDefaults = { suspect: [403], throttled: [429], unclear: [503] };

const statuses = z.strictObject(
  {
    suspect: statusList('the exit may be blocked; another is tried, and two of them ban it.').prefault(
      statusDefaults.suspect,
    ),
    throttled: statusList('the exit is too fast for the site.').prefault(statusDefaults.throttled),
    unclear: statusList('nobody can tell whose fault it was.').prefault(statusDefaults.unclear),
  },
  { error: 'expected lists of statuses such as { suspect: [403] }' },
);

const escalate = z.strictObject(
  {
    block_rate: withHelp(share(), {
      help: 'Largest share of blocks of a pool that is acceptable. Without it pools are only asked in their order.',
      example: 0.3,
    }).optional(),
    window: withHelp(positiveDuration(), {
      help: 'After this time what was seen counts half.',
    }).prefault('10m'),
    least: withHelp(count(1, 10_000), { help: 'Tries before a pool is judged at a site.' }).prefault(10),
    canary: withHelp(share(), {
      help: 'Share of requests that try the cheaper pool meanwhile, to see whether it works again.',
    }).prefault(0.05),
  },
  { error: 'expected rules such as { block_rate: 0.3 }' },
);

const route = z.strictObject(
  {
    name: withHelp(name(), {
      help: 'For logs, metrics and listeners. Default: route-0 for the first, and so on.',
      example: 'everything',
    }).optional(),
    match: withHelp(match, {
      help: 'What a request must be to fall under this route; every condition given must hold. {} matches everything.',
    }).prefault({}),
    pools: withHelp(oneOrMany(name()), {
      help: 'Pools in the order in which they are tried. Default: all, in their order.',
      example: ['default'],
    }).optional(),
    retries: withHelp(count(0, 20), {
      help: 'Further tries after the first. Default: retry.retries.',
      example: 2,
    }).optional(),
    timeout: withHelp(positiveDuration(), {
      help: 'Deadline until the answer is committed. Default: timeouts.exchange.',
      example: '30s',
    }).optional(),
    retry_unsafe: withHelp(flag(), {
      help: 'Whether POST and other methods that are not safe may be sent again after a byte of them went out.',
    }).prefault(false),
    on_client_fin: withHelp(oneOf(['finish', 'abort']), {
      help: 'What a client means by closing its sending side early: finish the request, or abort it.',
    }).prefault('finish'),
    expose: withHelp(oneOf(['none', 'id', 'full']), {
      help: 'What answers tell about the exit: nothing, its id, or its id and address.',
    }).prefault('id'),
    on_exhausted: withHelp(oneOf(['next_tier', 'wait', 'least_bad', 'fail']), {
      help:
        'What happens when no exit of a pool may be used: next_tier asks the next pool at once and waits (timeouts.acquire) when ' +
        'none has one; wait waits for each pool before it asks the next; fail never waits; least_bad, in the end, takes the exit ' +
        'that would be back first, at most once a second for each pool and site.',
    }).prefault('next_tier'),
    escalate: withHelp(escalate, {
      help:
        'When a site goes on to the next of the pools, because the one before is blocked too often there, and comes back ' +
        'when that works again.',
    }).prefault({}),
    cost_ceiling: withHelp(quantity('expected an amount from 0', { least: 0, most: 1e9 }), {
      help: 'Most that one request may cost over all its tries, by the per_request prices of the pools.',
      example: 0.01,
    }).optional(),
    statuses: withHelp(statuses, { help: 'How the status of an answer is read.' }).prefault({}),
    filter: withHelp(z.strictObject(filterFields, { error: 'expected wishes such as { country: de }' }), {
      help: 'Which exits its requests get where neither they nor the defaults of listener and client say so.',
    }).optional(),
  },
  { error: 'expected a route such as { match: { site: shop.example }, pools: [default] }' },
);

/** `routes` */
export const routesSchema = withHelp(
  z
    .array(route, { error: 'expected a list of routes' })
    .min(1, { error: 'needs at least one route; leave it out for one that matches everything' })
    .prefault([{}]),
  {
    help: 'Which requests use which pools; the first route that matches rules. A request that no route matches is refused.',
  },
);

/** `sessions` */
export const sessionsSchema = withHelp(
  z
    .strictObject({
      header: withHelp(
        z
          .string({ error: 'expected the name of a header' })
          .regex(/^[A-Za-z0-9-]{1,64}$/, {
            error: 'expected the name of a header: letters, digits and dashes',
          })
          .toLowerCase(),
        { help: 'Request header that names the session; never passed on.' },
      ).prefault('X-Session-Id'),
      ttl: withHelp(duration(), { help: 'How long a session is kept after its last request.' }).prefault(
        '10m',
      ),
    })
    .prefault({}),
  { help: 'Sticky sessions.' },
);
