/** `/policies`: which credentials are given out, in which order, how often and for how long. */
import { z } from 'zod';
import type { PolicyChanged, PolicyView } from '../../credentials/policy-desk.js';
import { policyBody, policyName } from '../../credentials/policy-document.js';
import { actorOf } from '../gate.js';
import { onceHeaders, onlyOnce } from '../once.js';
import { pageOf, pageQuery, slice } from '../pages.js';
import { Problem } from '../problem.js';
import { route, type ApiRoute } from '../route.js';
import type { AdminServices } from '../services.js';
import { dateOf } from '../values.js';
import { knownVault, lookProblems, onceIn, openVault, useProblems } from '../vault-services.js';
import { invalid } from './credentials.js';

const byName = z.strictObject({ name: policyName.describe('Name of the policy.') });

const policy = z
  .object({
    id: z.string(),
    ...policyBody.shape,
    total: z.number().int().describe('Credentials that its filters let through, whatever the context.'),
    usable: z.number().int().describe('Those of them that may be used now.'),
    warnings: z.array(z.string()).describe('What works but looks wrong.'),
    revision: z.number().int(),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: 'Policy' });

function shown({
  body,
  id,
  total,
  usable,
  warnings,
  revision,
  ...view
}: PolicyView): z.output<typeof policy> {
  return {
    ...body,
    ...{ id, total, usable, revision, warnings: [...warnings] },
    created_at: dateOf(view.createdMs),
    updated_at: dateOf(view.updatedMs),
  };
}

const unknown = (): Problem => new Problem('not_found', 'There is no policy of this name.');

function changed(outcome: PolicyChanged): z.output<typeof policy> {
  if (outcome.kind === 'gone') throw unknown();
  if (outcome.kind === 'invalid') throw invalid(outcome.problems);
  return shown(outcome.policy);
}

function lookRoutes({ vault }: AdminServices): ApiRoute[] {
  return [
    route({
      method: 'GET',
      path: '/api/v1/policies',
      summary: 'Policies by name, with how many of their credentials are usable.',
      query: z.strictObject(pageQuery),
      problems: lookProblems,
      answer: { status: 200, shape: pageOf(policy) },
      handle: ({ query }) => {
        const { items, next } = slice(knownVault(vault).policies.list(), ({ name }) => name, query);
        return { items: items.map(shown), next };
      },
    }),
    route({
      method: 'GET',
      path: '/api/v1/policies/:name',
      summary: 'One policy.',
      params: byName,
      problems: lookProblems,
      answer: { status: 200, shape: policy },
      handle: ({ params: { name } }) => {
        const found = knownVault(vault).policies.get(name);
        if (found === null) throw unknown();
        return shown(found);
      },
    }),
  ];
}

/** The routes. */
export function policyRoutes(services: AdminServices): ApiRoute[] {
  const { vault } = services;
  return [
    ...lookRoutes(services),
    route({
      method: 'POST',
      path: '/api/v1/policies',
      summary: 'Adds a policy.',
      body: policyBody,
      headers: onceHeaders,
      isOnce: true,
      problems: ['exists', 'impossible', ...useProblems],
      answer: { status: 201, shape: policy },
      handle: (asked) => {
        const opened = openVault(vault);
        return onlyOnce(onceIn(opened), asked, async () => {
          const created = await opened.policies.create(asked.body, actorOf(asked.request));
          if (created.kind === 'invalid') throw invalid(created.problems);
          if (created.kind === 'exists') throw new Problem('exists', 'name: there is a policy of this name.');
          return shown(created.policy);
        });
      },
    }),
    route({
      method: 'PUT',
      path: '/api/v1/policies/:name',
      summary: 'Replaces a policy; tokens that are out live on as they are.',
      params: byName,
      body: policyBody.partial({ name: true }),
      problems: ['impossible', ...useProblems],
      answer: { status: 200, shape: policy },
      handle: async ({ params: { name }, body, request }) =>
        changed(await openVault(vault).policies.replace(name, body, actorOf(request))),
    }),
    route({
      method: 'DELETE',
      path: '/api/v1/policies/:name',
      summary: 'Removes a policy that no other falls back to; tokens that are out live on.',
      params: byName,
      problems: ['conflict', ...useProblems],
      answer: { status: 200, shape: z.object({ name: z.string(), state: z.literal('removed') }) },
      handle: async ({ params: { name }, request }) => {
        const outcome = await openVault(vault).policies.remove(name, actorOf(request));
        if (outcome.kind === 'gone') throw unknown();
        if (outcome.kind === 'in_use')
          throw new Problem('conflict', `These fall back to it: ${outcome.by.join(', ')}.`);
        return { name, state: 'removed' };
      },
    }),
  ];
}
