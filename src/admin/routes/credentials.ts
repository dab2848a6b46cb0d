/** `/credentials`: accounts, keys and cookies that crawlers take out by policies. Secrets come in here and never go out. */
import { z } from 'zod';
import type { InputProblem } from '../../credentials/actor.js';
import type { CredentialChanged, CredentialEdit, CredentialView } from '../../credentials/credential-desk.js';
import { credentialStatuses, credentialTypes } from '../../storage/credential-ports.js';
import { actorOf } from '../gate.js';
import { onceHeaders, onlyOnce } from '../once.js';
import { afterOf, pageFrom, pageOf, pageQuery } from '../pages.js';
import { Problem } from '../problem.js';
import { route, type ApiRoute } from '../route.js';
import type { AdminServices } from '../services.js';
import { dateOf, given, jsonObject, line, readTtl, ttl } from '../values.js';
import { knownVault, lookProblems, onceIn, openVault, useProblems } from '../vault-services.js';

const type = z.enum(credentialTypes);
const status = z.enum(credentialStatuses);
const byKey = z.strictObject({ key: line(200).describe('Key of the credential.') });
const secret = z
  .union([z.string().min(1), jsonObject()])
  .describe(
    'Text, or an object for username_password and oauth2_token. It is sealed at once and never shown again.',
  );

const fields = {
  key: line(200).describe('The name that people give it; unique.'),
  type,
  secret,
  meta: jsonObject().optional().describe('What filters of policies go by; never a secret.'),
  status: status.optional().describe('active where it is left out.'),
};

const edit = z.strictObject({
  secret: secret.optional(),
  meta: fields.meta,
  status: status.optional(),
  duration: ttl()
    .optional()
    .describe('How long cooldown or exhausted lasts; without it until it is changed.'),
  reason: line(200).nullable().optional().describe('Why, for people.'),
  revision: z.number().int().optional().describe('Only if it is still this one; 409 where it is not.'),
});

const credential = z
  .object({
    key: z.string(),
    type,
    meta: z.record(z.string(), z.unknown()),
    status: status.describe('What holds now.'),
    cool_down_until: z.string().nullable().describe('When its rest ends; null where it has none, or no end.'),
    reason: z.string().nullable(),
    version: z.number().int().describe('Of its secret.'),
    revision: z.number().int().describe('One more with each change.'),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: 'Credential' });

function shown(view: CredentialView): z.output<typeof credential> {
  const { key, meta, reason, version, revision, statusNow } = view;
  const isResting = statusNow === 'cooldown' || statusNow === 'exhausted';
  return {
    ...{ key, type: view.type, meta, status: statusNow, reason, version, revision },
    cool_down_until: isResting ? dateOf(view.untilMs) : null,
    created_at: dateOf(view.createdMs),
    updated_at: dateOf(view.updatedMs),
  };
}

/** What was wrong with what was sent, for whoever sent it. */
export function invalid(problems: readonly InputProblem[]): Problem {
  const told = problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  return new Problem('impossible', told.join('; '), { errors: problems });
}

function changed(outcome: CredentialChanged): z.output<typeof credential> {
  switch (outcome.kind) {
    case 'changed':
      return shown(outcome.credential);
    case 'gone':
      throw new Problem('not_found', 'There is no credential of this key.');
    case 'conflict':
      throw new Problem('conflict', 'revision: it was changed since.');
    case 'invalid':
      throw invalid(outcome.problems);
  }
}

function editOf({ duration, ...rest }: z.output<typeof edit>): CredentialEdit {
  return duration === undefined ? rest : { ...rest, forMs: readTtl(duration) };
}

function lookRoutes({ vault }: AdminServices): ApiRoute[] {
  return [
    route({
      method: 'GET',
      path: '/api/v1/credentials',
      summary: 'Credentials in the order of their keys, without their secrets.',
      query: z.strictObject({
        ...pageQuery,
        type: type.optional(),
        status: status.optional().describe('What was set; a rest that is over is still listed as one.'),
      }),
      problems: lookProblems,
      answer: { status: 200, shape: pageOf(credential) },
      handle: async ({ query: { limit, cursor, ...narrowed } }) => {
        const wanted = { ...given(narrowed), after: afterOf(cursor), limit: limit + 1 };
        const found = await knownVault(vault).credentials.list(wanted);
        const { items, next } = pageFrom(found, limit, (each) => each.key);
        return { items: items.map(shown), next };
      },
    }),
    route({
      method: 'GET',
      path: '/api/v1/credentials/:key',
      summary: 'One credential, without its secret.',
      params: byKey,
      problems: lookProblems,
      answer: { status: 200, shape: credential },
      handle: async ({ params: { key } }) => {
        const found = await knownVault(vault).credentials.get(key);
        if (found === null) throw new Problem('not_found', 'There is no credential of this key.');
        return shown(found);
      },
    }),
  ];
}

function createRoute({ vault }: AdminServices): ApiRoute {
  return route({
    method: 'POST',
    path: '/api/v1/credentials',
    summary: 'Adds a credential.',
    body: z.strictObject(fields),
    headers: onceHeaders,
    isOnce: true,
    problems: ['exists', 'impossible', ...useProblems],
    answer: { status: 201, shape: credential },
    handle: (asked) => {
      const services = openVault(vault);
      return onlyOnce(onceIn(services), asked, async () => {
        const created = await services.credentials.create(asked.body, actorOf(asked.request));
        if (created.kind === 'invalid') throw invalid(created.problems);
        if (created.kind === 'exists') throw new Problem('exists', 'key: there is a credential of this key.');
        return shown(created.credential);
      });
    },
  });
}

function changeRoutes({ vault }: AdminServices): ApiRoute[] {
  return [
    route({
      method: 'PATCH',
      path: '/api/v1/credentials/:key',
      summary: 'Changes what is given; the rest stays. A new secret is used from the next redeem on.',
      params: byKey,
      body: edit,
      problems: ['conflict', 'impossible', ...useProblems],
      answer: { status: 200, shape: credential },
      handle: async ({ params: { key }, body, request }) =>
        changed(await openVault(vault).credentials.change(key, editOf(body), actorOf(request))),
    }),
    route({
      method: 'DELETE',
      path: '/api/v1/credentials/:key',
      summary: 'Removes a credential; its tokens are over.',
      params: byKey,
      problems: useProblems,
      answer: { status: 200, shape: z.object({ key: z.string(), state: z.literal('removed') }) },
      handle: async ({ params: { key }, request }) => {
        const isGone = await openVault(vault).credentials.remove(key, actorOf(request));
        if (!isGone) throw new Problem('not_found', 'There is no credential of this key.');
        return { key, state: 'removed' };
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/credentials/:key/cooldown',
      summary: 'Lets a credential rest for a time from now; nobody gets it meanwhile.',
      params: byKey,
      body: z.strictObject({ duration: ttl() }),
      problems: ['impossible', ...useProblems],
      answer: { status: 200, shape: credential },
      handle: async ({ params: { key }, body, request }) => {
        const forMs = readTtl(body.duration) ?? 0;
        return changed(await openVault(vault).credentials.coolDown(key, forMs, actorOf(request)));
      },
    }),
  ];
}

/** A status by a word of its own. */
function orderRoute({ vault }: AdminServices, word: 'ban' | 'enable'): ApiRoute {
  const isBan = word === 'ban';
  return route({
    method: 'POST',
    path: `/api/v1/credentials/:key/${word}`,
    summary: isBan
      ? 'Sets a credential aside until somebody enables it; tokens for it redeem nothing from now on.'
      : 'Makes a credential active, whatever it was.',
    params: byKey,
    body: z.strictObject({ reason: line(200).optional() }).nullish(),
    problems: ['impossible', ...useProblems],
    answer: { status: 200, shape: credential },
    handle: async ({ params: { key }, body, request }) => {
      const order = { status: isBan ? 'banned' : 'active', reason: body?.reason ?? null };
      return changed(await openVault(vault).credentials.change(key, order, actorOf(request)));
    },
  });
}

/** The routes. */
export function credentialRoutes(services: AdminServices): ApiRoute[] {
  return [
    ...lookRoutes(services),
    createRoute(services),
    ...changeRoutes(services),
    orderRoute(services, 'ban'),
    orderRoute(services, 'enable'),
  ];
}
