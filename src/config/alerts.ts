/** From `alerts` as written to the webhooks that are told; and what is wrong with them. */
import type { AlertsConfig } from './config.js';
import type { Finding } from './problems.js';
import { listOf, mapOf, textOf } from './reading.js';
import type { Resources } from './resources.js';
import type { Settings } from './schema.js';

/** Shorter ones can be guessed. */
const leastSecret = 16;

/** Everything that is wrong with `alerts` beyond the kinds of its values. */
export function checkAlerts(alerts: Readonly<Record<string, unknown>>, resources: Resources): Finding[] {
  const names = listOf(alerts['webhooks']).map((entry) => textOf(mapOf(entry)['name']));
  return listOf(alerts['webhooks']).flatMap((entry, index): Finding[] => {
    const path = ['alerts', 'webhooks', index];
    const webhook = mapOf(entry);
    const first = names.indexOf(names[index] ?? null);
    return [
      ...(first === index || names[index] === null
        ? []
        : [{ path: [...path, 'name'], message: `another webhook has this name already (number ${first})` }]),
      ...checkSecret(webhook['url'], [...path, 'url'], { resources, isGood: isUrl, expected: urlForm }),
      ...checkSecret(webhook['secret'], [...path, 'secret'], {
        ...{ resources, isGood: (text) => text.length >= leastSecret },
        expected: `needs at least ${leastSecret} characters`,
      }),
    ];
  });
}

const urlForm = 'expected a URL that begins with http:// or https://, without a login in it';

function isUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}

interface Rule {
  readonly resources: Resources;
  readonly isGood: (text: string) => boolean;
  readonly expected: string;
}

function checkSecret(value: unknown, path: Finding['path'], rule: Rule): Finding[] {
  const reference = textOf(value);
  if (reference === null || reference === '') return [];
  const resolved = rule.resources.secret(reference);
  if (resolved.kind === 'problem') return [{ path, message: resolved.message }];
  return rule.isGood(resolved.secret.reveal()) ? [] : [{ path, message: rule.expected }];
}

/** The alerts, of settings that {@link checkAlerts} found nothing wrong with. */
export function alertsOf({ min_active, webhooks }: Settings['alerts'], resources: Resources): AlertsConfig {
  const secretOf = (reference: string): AlertsConfig['webhooks'][number]['secret'] => {
    const resolved = resources.secret(reference);
    if (resolved.kind === 'problem') throw new Error(resolved.message);
    return resolved.secret;
  };
  return {
    minActive: min_active,
    webhooks: webhooks.map(({ name, url, secret, kinds, allow = [] }) => ({
      ...{ name, url: secretOf(url), secret: secretOf(secret), kinds: kinds ?? null, allow },
    })),
  };
}
