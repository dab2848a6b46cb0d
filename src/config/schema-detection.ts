/** Settings of how blocks are seen: rules, what is looked at, what is kept of it. */
import { z } from 'zod';
import { ruleActions, ruleScopes } from '../outcome/finding.js';
import { fingerprints } from '../outcome/fingerprints.js';
import type { StatusRange } from '../outcome/rule.js';
import { faultKinds } from '../core/fault.js';
import {
  count,
  flag,
  hostMatch,
  name,
  oneOf,
  oneOrMany,
  positiveDuration,
  size,
  text,
  withHelp,
} from './fields.js';
import { parseDuration, parseSize } from './units.js';

const lookText = () =>
  z
    .string({ error: 'expected a text to look for' })
    .min(1, { error: 'a text to look for must not be empty' })
    .max(256, { error: 'a text to look for has at most 256 characters' });

/** A percentage of what the site normally does, or an absolute value. */
function orShare(expected: string, read: (value: string | number) => number | null) {
  return z.union([z.string(), z.number()], { error: expected }).transform((value, context) => {
    const percent = typeof value === 'string' ? /^(\d{1,4}(?:\.\d{1,3})?)\s*%$/.exec(value.trim()) : null;
    if (percent !== null) return { share: Number(percent[1]) / 100 };
    const absolute = read(value);
    if (absolute !== null) return absolute;
    context.addIssue({ code: 'custom', message: expected });
    return z.NEVER;
  });
}

const expectedStatus = 'expected a status such as 403, or a range such as 500-599';
const status = z
  .union([z.number(), z.string()], { error: expectedStatus })
  .transform((value, context): StatusRange => {
    const found = /^([1-9]\d{2})(?:-([1-9]\d{2}))?$/.exec(String(value));
    const range = { from: Number(found?.[1]), to: Number(found?.[2] ?? found?.[1]) };
    if (found !== null && range.from <= range.to) return range;
    context.addIssue({ code: 'custom', message: expectedStatus });
    return z.NEVER;
  });

const fieldName = z
  .string({ error: 'expected the name of a header' })
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/, { error: 'expected the name of a header' })
  .toLowerCase();

const pattern = () =>
  z
    .string({ error: 'expected a pattern' })
    .min(1)
    .max(512, { error: 'a pattern has at most 512 characters' });

const header = z.strictObject(
  {
    name: withHelp(fieldName, {
      help: 'Name of the header; with nothing else it must be there.',
      example: 'server',
    }),
    is: withHelp(oneOrMany(lookText()), {
      help: 'The whole value; any of several.',
      example: ['robot-gate'],
    }).optional(),
    contains: withHelp(oneOrMany(lookText()), {
      help: 'Text in the value; any of several.',
      example: ['gate'],
    }).optional(),
    matches: withHelp(pattern(), {
      help: 'A pattern (RE2: no back-references) for the first 1,024 characters of the value.',
      example: '^gate-[0-9a-f]{8}=',
    }).optional(),
    present: withHelp(flag(), { help: 'False: there must be no such header.', example: true }).optional(),
  },
  { error: 'expected a header such as { name: server, contains: cloudflare }' },
);

const body = z.strictObject({
  contains: withHelp(oneOrMany(lookText()), {
    help: 'Any of these texts.',
    example: ['captcha-zxq'],
  }).optional(),
  contains_all: withHelp(oneOrMany(lookText()), {
    help: 'All of these texts.',
    example: ['are you', 'a robot'],
  }).optional(),
  matches: withHelp(pattern(), {
    help: 'A pattern (RE2: no back-references). It needs a fixed text of three characters, or contains beside it.',
    example: 'incident [0-9a-f]{8}',
  }).optional(),
  within: withHelp(
    size().refine((bytes) => bytes >= 1 && bytes <= 256 * 1024, { error: 'expected at most 256KiB' }),
    { help: 'How far into the decoded body is looked. Default: detection.look_at.', example: '64KiB' },
  ).optional(),
});

const when = z
  .strictObject(
    {
      status: withHelp(oneOrMany(status), {
        help: 'Statuses and ranges such as 500-599.',
        example: [200, '500-599'],
      }).optional(),
      header: withHelp(oneOrMany(header), {
        help: 'Headers of the answer. Case does not matter.',
      }).optional(),
      redirect: withHelp(
        z.strictObject({
          contains: withHelp(oneOrMany(lookText()), {
            help: 'Text in the address; any of several.',
            example: ['/captcha'],
          }).optional(),
          host: withHelp(oneOrMany(text('a host').toLowerCase()), {
            help: 'Host of the address, or a domain it is under.',
            example: ['gate.example'],
          }).optional(),
        }),
        { help: 'Where Location leads.' },
      ).optional(),
      body: withHelp(body, { help: 'What the body holds. Case does not matter.' }).optional(),
      size_below: withHelp(
        orShare(
          "expected a size such as '2KiB', or a share such as '30%' of what the site normally sends",
          parseSize,
        ),
        {
          help: "Body shorter than this, as it came: a size, or a share such as '30%' of what the site normally sends. Taken alone it asks for status 200.",
          example: '30%',
        },
      ).optional(),
      missing: withHelp(
        z.strictObject({
          text: withHelp(oneOrMany(lookText()), {
            help: 'Texts of which a good page has one.',
            example: ['add to basket'],
          }).optional(),
          selector: withHelp(text('a CSS selector'), {
            help: 'A CSS selector that finds something in a good page.',
            example: 'main .price',
          }).optional(),
        }),
        {
          help: 'What a good page has and this one lacks; asked only of bodies that are whole within 256KiB. Taken alone it asks for status 200.',
        },
      ).optional(),
      slower_than: withHelp(
        orShare(
          "expected a time such as '5s', or a share such as '400%' of what the site normally takes",
          parseDuration,
        ),
        {
          help: "Time to the first byte longer than this: a time, or a share such as '400%' of what the site normally takes.",
          example: '400%',
        },
      ).optional(),
      connect_fault: withHelp(oneOrMany(oneOf(faultKinds)), {
        help: 'Faults on the way to the target, in place of an answer. Stands alone.',
        example: ['reset'],
      }).optional(),
    },
    { error: 'expected conditions such as { status: 200, body: { contains: captcha } }' },
  )
  .meta({ either: ['connect_fault', 'status'] });

const rule = z.strictObject(
  {
    name: withHelp(name(), { help: 'For logs, metrics and bans.', example: 'robot-check' }),
    site: withHelp(oneOrMany(hostMatch()), {
      help: "Only here: a registrable domain, a host, or '*.shop.example'. Default: everywhere.",
      example: ['shop.example'],
    }).optional(),
    when: withHelp(oneOrMany(when), { help: 'All conditions must hold; in a list of such sets, one set.' }),
    then: withHelp(oneOrMany(oneOf(ruleActions)), {
      help: 'What is done: ban, retry, throttle, retry_only, deliver, freeze, exhaust; several at once.',
    }).prefault(['ban', 'retry']),
    scope: withHelp(oneOf(ruleScopes), {
      help: 'What is blamed: the exit at this site, the exit everywhere, or the login that it goes out under (then all exits that share it are set aside at this site).',
    }).prefault('exit_site'),
    shadow: withHelp(flag(), { help: 'Only count matches, in turnpike_rule_matches_total.' }).prefault(false),
  },
  { error: 'expected a rule such as { name: robot-check, when: { body: { contains: captcha } } }' },
);

/** `rules` */
export const rulesSchema = withHelp(
  z.array(rule, { error: 'expected a list of rules' }).max(1000).prefault([]),
  {
    help: 'What a block looks like. The first rule that matches decides; shipped fingerprints come after these.',
  },
);

/** `detection` */
export const detectionSchema = withHelp(
  z
    .strictObject({
      fingerprints: withHelp(
        z.union([flag(), z.array(oneOf(fingerprints.map((each) => each.name) as [string, ...string[]]))], {
          error: 'expected true, false, or a list of names that `turnpike rules list` shows',
        }),
        {
          help: 'Shipped rules for the pages of well-known defences: all, none, or these. See turnpike rules list.',
        },
      ).prefault(true),
      types: withHelp(oneOrMany(text('a content type').toLowerCase()), {
        help: 'Bodies of these types are looked at, and of those that name none.',
      }).prefault(['text/html', 'application/xhtml+xml', 'application/json']),
      look_at: withHelp(
        size().refine((bytes) => bytes >= 512 && bytes <= 256 * 1024, { error: 'expected 512B to 256KiB' }),
        {
          help: 'How much of a decoded body is looked at where a rule does not say more. The answer is held back so long.',
        },
      ).prefault('16KiB'),
      hold: withHelp(positiveDuration(), {
        help: 'Longest time that an answer is held back; then it is judged by what came.',
      }).prefault('2s'),
    })
    .prefault({}),
  { help: 'How bodies of answers are looked at. Clients always get the original bytes.' },
);

/** `capture` */
export const captureSchema = withHelp(
  z
    .strictObject({
      dir: withHelp(text('a folder'), {
        help: 'Folder for the files, made if need be. Without it nothing is stored.',
        example: './captures',
      }).optional(),
      which: withHelp(oneOf(['refused', 'all']), {
        help: 'Answers that a rule or status held against an exit, or every answer that was judged.',
      }).prefault('refused'),
      body: withHelp(size(), { help: 'Most of one body that is kept, as it came.' }).prefault('64KiB'),
      total: withHelp(size(), {
        help: 'Most of the folder; when it is full nothing more is stored.',
      }).prefault('64MiB'),
      files: withHelp(count(1, 1_000_000), { help: 'Most files.' }).prefault(2000),
    })
    .prefault({}),
  { help: 'Stores answers as they were judged, secrets taken out, for turnpike rules test.' },
);
