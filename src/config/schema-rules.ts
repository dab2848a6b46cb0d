/** Settings of time, size and judgement: timeouts, limits, bans, retry; and log and state. */
import { z } from 'zod';
import {
  count,
  duration,
  flag,
  oneOf,
  oneOrMany,
  positiveDuration,
  quantity,
  secretRef,
  share,
  size,
  text,
  withHelp,
} from './fields.js';

const wait = (standard: string, help: string) => withHelp(positiveDuration(), { help }).prefault(standard);
const mayBeZero = (standard: string, help: string) => withHelp(duration(), { help }).prefault(standard);

/** `timeouts` */
export const timeoutsSchema = withHelp(
  z
    .strictObject({
      dial: wait('5s', 'Connecting to an upstream.'),
      tls: wait('5s', 'TLS with an https upstream.'),
      first_byte: wait('15s', 'From the request to the first byte of the answer, per try.'),
      exchange: wait(
        '30s',
        'A request with all its tries, until its answer is committed. Does not run while a client uploads.',
      ),
      client_header: wait('10s', 'From the first byte of a request to the end of its head.'),
      client_idle: wait('60s', 'A client connection without a request.'),
      body_idle: wait('30s', 'Silence inside a body, either way.'),
      half_close: wait('60s', 'A tunnel of which one side has finished.'),
      tunnel_idle: wait('10m', 'Silence in a tunnel.'),
      tunnel_lifetime: wait('24h', 'A tunnel altogether.'),
      upstream_idle: wait('15s', 'A kept connection to an upstream without a request.'),
      acquire: mayBeZero('5s', 'How long a request waits for an exit to become free.'),
      drain: mayBeZero('30s', 'How long requests and tunnels may go on after SIGTERM.'),
      pre_stop: mayBeZero(
        '0s',
        'How long new requests are still taken after SIGTERM. 5s behind a balancer, so that it notices /readyz.',
      ),
    })
    .prefault({}),
  { help: "How long things may take: '30s', '5m', '1h', '250ms', or a number of seconds." },
);

/** `limits` */
export const limitsSchema = withHelp(
  z
    .strictObject({
      head: withHelp(
        size().refine((bytes) => bytes >= 1024 && bytes <= 1024 ** 2, { error: 'expected 1KiB to 1MiB' }),
        { help: 'Head of a message, either way. Above it a client gets 431.' },
      ).prefault('64KiB'),
      fields: withHelp(count(16, 10_000), { help: 'Fields in a head.' }).prefault(256),
      connections: withHelp(
        z.union([z.literal('auto'), count(1)], { error: "expected a number or 'auto'" }),
        {
          help: "Client connections at once. 'auto' is half of the open files that the system allows, less a reserve, which is the most in any case, since each connection needs one to an upstream.",
        },
      ).prefault('auto'),
      connections_per_address: withHelp(
        z.union([z.literal('none'), count(1)], { error: "expected a number or 'none'" }),
        {
          help: 'Client connections at once from one address.',
        },
      ).prefault('none'),
      exchanges: withHelp(z.union([z.literal('none'), count(1)], { error: "expected a number or 'none'" }), {
        help: 'Requests under way at once, those that wait for an exit included, tunnels that stand excepted. Above it a client gets 503 overloaded at once.',
      }).prefault('none'),
      waiting: withHelp(z.union([z.literal('none'), count(0)], { error: "expected a number or 'none'" }), {
        help: 'Requests that may wait for an exit at once (timeouts.acquire). Above it a client gets 503 no_upstream at once.',
      }).prefault(1000),
      loop_delay: wait(
        '2s',
        'How long requests that are ready together may wait for one another. Those further behind get 503 overloaded.',
      ),
      body_rate: withHelp(count(0), {
        help: 'Bytes per second that a client must send of a request body, on average over timeouts.body_idle; a slower one gets 408. 0 lets it drip.',
      }).prefault(100),
      replay: withHelp(size(), {
        help: 'How much of a request body is kept so that it can be sent again.',
      }).prefault('64KiB'),
      replay_total: withHelp(size(), { help: 'The same, over all requests.' }).prefault('64MiB'),
      idle_per_exit: withHelp(count(0), { help: 'Idle connections kept to one exit.' }).prefault(64),
      idle_total: withHelp(count(0), { help: 'Idle connections kept altogether.' }).prefault(2048),
    })
    .prefault({}),
  { help: "Bounds; sizes as '64KiB', '1MB', or a number of bytes." },
);

/** `bans` */
export const bansSchema = withHelp(
  z
    .strictObject({
      site: wait('1h', 'First ban of an exit for a site; doubles with each further one.'),
      site_cap: wait('24h', 'Longest ban of an exit for a site.'),
      transport: wait('30s', 'First time that an exit which fails is left alone, for all sites; doubles.'),
      transport_cap: wait('1h', 'Longest time that an exit which fails is left alone.'),
      jitter: withHelp(share(), { help: 'Extra time by chance: 0.2 is 0 to 20 % more.' }).prefault(0.2),
      max_ejected: withHelp(share(), {
        help: 'Largest share of a pool that may be set aside automatically; always at least one exit.',
      }).prefault(0.5),
      suspect_count: withHelp(count(1, 1000), {
        help: 'So many suspect answers of a site within the window ban the exit for it.',
      }).prefault(2),
      suspect_window: wait('10m', 'The window in which suspect answers are counted.'),
    })
    .prefault({}),
  { help: 'How long exits are set aside.' },
);

/** `guard` */
export const guardSchema = withHelp(
  z
    .strictObject({
      enabled: withHelp(flag(), { help: 'Whether sites are watched at all.' }).prefault(true),
      exits: withHelp(count(2, 64), {
        help: 'So many exits must have failed at a site within the window.',
      }).prefault(5),
      share: withHelp(share(), { help: 'Share of the last tries that must have failed.' }).prefault(0.8),
      window: wait('60s', 'The window.'),
      canary: wait('5s', 'From one request that tries whether the site is back to the next.'),
      suspend: wait('10m', 'Longest time that a rule which fires on all of a site is suspended there.'),
    })
    .prefault({}),
  {
    help:
      'When a site fails through most exits, the site is down and not the exits: their bans of the window are taken back, ' +
      'and only one request at a time goes there. Where it is one rule that fires on everything, the rule is suspended.',
  },
);

/** `feedback` */
export const feedbackSchema = withHelp(
  z
    .strictObject({
      key: withHelp(secretRef('a key'), {
        help:
          'Key of the request ids that feedback is about: env:NAME, file:path, or the key itself, at least 16 characters. Gateways with ' +
          'the same key take feedback on each other. Without it each start makes one of its own.',
        example: 'env:FEEDBACK_KEY',
      }).optional(),
      hold: wait('1h', 'How long an exit that a client reported is kept away from it at that site.'),
      clients: withHelp(count(2, 1000), {
        help: 'So many clients that report the same exit at a site have it banned for everybody.',
      }).prefault(2),
    })
    .prefault({}),
  { help: 'What clients say of answers that the gateway could not look into (X-Turnpike-Feedback).' },
);

/** `tunnels` */
export const tunnelsSchema = withHelp(
  z
    .strictObject({
      on_ban: withHelp(oneOf(['keep', 'close_idle', 'close']), {
        help:
          'What becomes of open tunnels when their exit is banned for their site or altogether: keep lets them go on, ' +
          'close_idle ends them once they are silent for ban_idle, close ends them at once.',
      }).prefault('keep'),
      ban_idle: wait('5s', 'Silence that ends a tunnel of a banned exit (close_idle).'),
    })
    .prefault({}),
  { help: 'Tunnels and their exits. Tunnels of an exit or a client that is removed end within 3 s.' },
);

/** `retry` */
export const retrySchema = withHelp(
  z
    .strictObject({
      retries: withHelp(count(0, 20), {
        help: 'Further tries after the first, where the route says nothing else.',
      }).prefault(2),
      transport_ratio: withHelp(share(), {
        help: 'Retries after faults of upstreams, as a share of requests, so that an outage is not amplified.',
      }).prefault(0.2),
      transport_floor: withHelp(quantity('expected a number from 0 to 1000000', { least: 0, most: 1e6 }), {
        help: 'So many such retries per second are allowed in any case.',
      }).prefault(10),
    })
    .prefault({}),
  { help: 'When a request is tried again.' },
);

/** Fields of the access log that can be blanked. */
export const redactable = [
  'clientAddress',
  'client',
  'target',
  'site',
  'path',
  'session',
  'upstreamLabel',
] as const;

/** `log` */
export const logSchema = withHelp(
  z
    .strictObject({
      level: withHelp(oneOf(['debug', 'info', 'warn', 'error', 'silent']), {
        help: 'Least level that is written; debug adds each try and each session.',
      }).prefault('info'),
      access: withHelp(flag(), { help: 'Whether each exchange gets a line (level info).' }).prefault(true),
      file: withHelp(text('a path'), {
        help: 'File to append to, relative to this file; standard output without it.',
        example: './turnpike.log',
      }).optional(),
      redact: withHelp(oneOrMany(oneOf(redactable)), {
        help: `Fields that are written as "[redacted]": any of ${redactable.join(', ')}. Passwords and queries are never written.`,
      }).prefault([]),
    })
    .prefault({}),
  { help: 'The access log: one JSON object a line.' },
);

/** `data_dir` */
export const dataDirSchema = withHelp(text('a path'), {
  help: 'Folder for what has to outlive the process; relative to this file. Nothing yet.',
}).prefault('./data');
