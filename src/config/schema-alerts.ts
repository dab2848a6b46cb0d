/** `alerts`: when somebody is told, and who. */
import { z } from 'zod';
import { alertKinds } from '../core/alert-events.js';
import { allowEntry, name, oneOf, oneOrMany, quantity, secretRef, withHelp } from './fields.js';

const webhook = z.strictObject(
  {
    name: withHelp(name(), { help: 'For the log.', example: 'ops' }),
    url: withHelp(secretRef('a URL'), {
      help: 'Where alerts are sent by POST: http:// or https://, best as env:NAME or file:path where it holds a token.',
      example: 'https://alerts.example/turnpike',
    }),
    secret: withHelp(secretRef('a secret'), {
      help: 'What the signature is made with, at least 16 characters: env:NAME or file:path.',
      example: 'env:WEBHOOK_SECRET',
    }),
    kinds: withHelp(oneOrMany(oneOf(alertKinds)), {
      help: 'Which alerts it wants; all without it.',
      example: ['token_leaked', 'vault_sealed'],
    }).optional(),
    allow: withHelp(oneOrMany(allowEntry("'10.0.0.9:8000' or 'alerts.internal:443'")), {
      help: 'Special addresses that it may be at, written as in targets.allow; all others are refused.',
      example: ['10.0.0.9:8000'],
    }).optional(),
  },
  { error: 'expected a webhook such as { name: ops, url: https://…, secret: env:WEBHOOK_SECRET }' },
);

/** `alerts` */
export const alertsSchema = withHelp(
  z
    .strictObject({
      min_active: withHelp(quantity('expected a number of percent from 0 to 100', { least: 0, most: 100 }), {
        help: 'An alert is raised when fewer than so many percent of the credentials of a policy can be used; a policy may name its own.',
      }).prefault(20),
      webhooks: withHelp(z.array(webhook, { error: 'expected a list of webhooks' }), {
        help: 'Who is told of alerts, besides the log and the metrics: a signed POST, repeated for some minutes where it fails.',
      }).prefault([]),
    })
    .prefault({}),
  { help: 'When somebody should look. See docs/audit.md.' },
);
