/** `/keys` and `/vault`: the keys that secrets are sealed under, how a rotation goes on, and opening a vault that is sealed. */
import { z } from 'zod';
import { actorOf } from '../gate.js';
import { Problem } from '../problem.js';
import { route, type ApiRoute } from '../route.js';
import type { AdminServices } from '../services.js';
import { dateOf } from '../values.js';
import { knownVault, lookProblems, openVault, sealedProblem, useProblems } from '../vault-services.js';
import type { RotationProgress } from '../../vault/rotation.js';
import type { KeyView } from '../../vault/vault.js';

const count = z.number().int();
const key = z.object({
  term: count.describe('From 1, in the order in which they were made.'),
  id: z.string(),
  state: z
    .enum(['derive', 'pending', 'primary', 'retired', 'destroyed'])
    .describe('primary: new secrets are sealed under it; retired: it only opens.'),
  wraps: count.describe('Secrets that were sealed under it so far.'),
  created_at: z.string(),
});
const progress = z.object({
  phase: z
    .enum(['idle', 'waiting', 'rewrapping'])
    .describe('waiting: for gateways that do not know the new key yet; rewrapping: secrets go over to it.'),
  term: count,
  waits_for: z.array(z.string()),
  left: count.describe('Secrets that are still under an older key.'),
  total: count,
  broken: count.describe('Secrets that do not open, and stay as they are.'),
});
const keys = z.object({ keys: z.array(key), rotation: progress }).meta({ id: 'Keys' });
const turned = z.object({ state: z.enum(['open', 'sealed']) }).meta({ id: 'VaultTurned' });
const byTerm = z.strictObject({ term: z.coerce.number().int().min(1).max(1e9) });

const shownKey = ({ term, id, state, wraps, createdMs }: KeyView): z.output<typeof key> => ({
  ...{ term, id, state, wraps },
  created_at: dateOf(createdMs),
});

function shownProgress({ waitsFor, ...rest }: RotationProgress): z.output<typeof progress> {
  return { ...rest, waits_for: [...waitsFor] };
}

const refusals = {
  not_retired: 'It is in use: rotate first.',
  in_use: 'Secrets are still under it: wait until the rotation is done.',
  too_soon: 'It was retired less than a minute ago; another gateway may still use it.',
} as const;

function rotateRoute({ vault }: AdminServices): ApiRoute {
  return route({
    method: 'POST',
    path: '/api/v1/keys/rotate',
    summary: 'Makes a new key; gateways take it up and secrets go over by themselves, while everything runs.',
    body: z
      .strictObject({
        reencrypt: z.boolean().optional().describe('Secrets get new keys of their own, too.'),
      })
      .nullish(),
    problems: ['conflict', ...useProblems],
    answer: { status: 202, shape: progress },
    handle: async ({ body, request }) => {
      const { audit, vault: opened } = openVault(vault);
      const { name, address } = actorOf(request);
      const reencrypt = body?.reencrypt ?? false;
      const entry = { action: 'key.rotate', actor: name, address, detail: { reencrypt } };
      await audit.record({ ...entry, outcome: 'ok' });
      const started = await opened.rotation.start({ reencrypt });
      if (started.kind === 'no_root_key')
        throw new Problem('conflict', `Nothing was changed: ${started.why}`);
      return shownProgress(opened.rotation.progress());
    },
  });
}

function destroyRoute({ vault }: AdminServices): ApiRoute {
  return route({
    method: 'DELETE',
    path: '/api/v1/keys/:term',
    summary: 'Destroys a retired key for good: backups from before can not be opened any more.',
    params: byTerm,
    problems: ['conflict', ...useProblems],
    answer: { status: 200, shape: z.object({ term: count, state: z.literal('destroyed') }) },
    handle: async ({ params: { term }, request }) => {
      const { audit, vault: opened } = openVault(vault);
      const { name, address } = actorOf(request);
      await audit.record({ action: 'key.destroy', actor: name, address, outcome: 'ok', detail: { term } });
      const done = await opened.rotation.destroy(term);
      if (done.kind === 'destroyed') return { term, state: 'destroyed' };
      if (done.why === 'unknown') throw new Problem('not_found', 'There is no key of this term.');
      throw new Problem('conflict', refusals[done.why]);
    },
  });
}

function unsealRoute({ vault }: AdminServices): ApiRoute {
  return route({
    method: 'POST',
    path: '/api/v1/vault/unseal',
    summary: 'Asks the key source again, and opens the vault if the key is right. No key is sent here.',
    problems: ['vault_off', 'vault_sealed', 'storage_away'],
    answer: { status: 200, shape: turned },
    handle: async () => {
      const state = await knownVault(vault).vault.unseal();
      if (state.kind === 'sealed') throw sealedProblem(state);
      return { state: 'open' };
    },
  });
}

/** The routes. */
export function keyRoutes(services: AdminServices): ApiRoute[] {
  const { vault } = services;
  return [
    route({
      method: 'GET',
      path: '/api/v1/keys',
      summary:
        'The keys that secrets are sealed under, never the keys themselves, and how far a rotation is.',
      problems: [...lookProblems, 'vault_sealed'],
      answer: { status: 200, shape: keys },
      handle: () => {
        const { vault: opened } = openVault(vault);
        return {
          keys: opened.keys().map(shownKey),
          rotation: shownProgress(opened.rotation.progress()),
        };
      },
    }),
    rotateRoute(services),
    destroyRoute(services),
    unsealRoute(services),
  ];
}
