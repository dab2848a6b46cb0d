/** What requests are taken to say when they say nothing: the defaults of a listener or a client. */
import { z } from 'zod';
import { count, duration, flag, name, oneOf, oneOrMany, text, withHelp } from './fields.js';

/** Which exits are wanted. */
export const filterFields = {
  country: withHelp(
    z
      .string({ error: 'expected a country' })
      .regex(/^[A-Za-z]{2}$/, { error: 'expected two letters, such as de' })
      .toLowerCase(),
    { help: 'Only exits of this country (two letters).', example: 'de' },
  ).optional(),
  city: withHelp(text('a city'), { help: 'Only exits of this city.', example: 'berlin' }).optional(),
  asn: withHelp(count(1, 4_294_967_295), {
    help: 'Only exits of this autonomous system (its number).',
    example: 64500,
  }).optional(),
  tags: withHelp(oneOrMany(name()), {
    help: 'Only exits that have all of these tags.',
    example: ['fast'],
  }).optional(),
};

/** The fields that a listener and a client may both preset. All optional: what is left out is not preset. */
export const defaultFields = {
  session: withHelp(
    z
      .string({ error: 'expected a session id' })
      .regex(/^[A-Za-z0-9._~-]{1,128}$/, { error: 'expected 1 to 128 of A-Z a-z 0-9 . _ ~ -' }),
    { help: 'Sticky session of requests that name none.', example: 'tab-1' },
  ).optional(),
  mode: withHelp(oneOf(['soft', 'hard']), {
    help: 'What happens when the exit of a session is gone: soft moves the session to another exit, hard answers session_lost.',
    example: 'soft',
  }).optional(),
  ttl: withHelp(duration(), {
    help: 'How long a session is kept after its last request.',
    example: '10m',
  }).optional(),
  pool: withHelp(name(), {
    help: 'Pool of requests that name none; must be one that their route lists.',
    example: 'default',
  }).optional(),
  ...filterFields,
  retries: withHelp(count(0, 20), {
    help: 'Most further tries; can only lower the number of the route.',
    example: 1,
  }).optional(),
  timeout: withHelp(duration(), {
    help: 'Deadline of an exchange; can only lower the one of the route.',
    example: '20s',
  }).optional(),
  detect: withHelp(flag(), {
    help: 'False delivers whatever the target says and judges nothing.',
    example: true,
  }).optional(),
};

/** The presets as one object. */
export const requestDefaults = z.strictObject(defaultFields, {
  error: 'expected settings such as { session: tab-1 }',
});
