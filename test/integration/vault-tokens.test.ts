/** Credentials, policies and tokens over real stores: what the article asks for, and what must never happen. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { AcquiredToken } from '../../src/access/token-desk.js';
import { admin, crawler, openDeskRig, type DeskRig } from '../support/desks.js';

const folder = mkdtempSync(join(tmpdir(), 'turnpike-desks-'));
const open: DeskRig[] = [];
let count = 0;

async function rig(): Promise<DeskRig> {
  const made = await openDeskRig({ kind: 'sqlite', path: join(folder, `${++count}.db`), callMs: 20_000 });
  open.push(made);
  return made;
}

afterEach(() => Promise.all(open.splice(0).map((each) => each.close())));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const by = crawler();
const body = { name: 'p', credential_type: 'api_key' };

async function acquired(desk: DeskRig, policy = 'p', who = by): Promise<AcquiredToken> {
  const got = await desk.desks.tokens.acquire(
    { policy, context: { target: 'shop.example', task_id: 't1' } },
    who,
  );
  if (got.kind !== 'acquired') throw new Error(`not acquired: ${JSON.stringify(got)}`);
  return got.token;
}

describe('K4 K5 a token', () => {
  it('is acquired, redeemed and released; the secret is told once the audit has it', async () => {
    const desk = await rig();
    const { credentials, policies, tokens } = desk.desks;
    const made = await credentials.create(
      { key: 'k1', type: 'api_key', secret: 's3cret', meta: { group: 'a' } },
      admin,
    );
    expect(made).toMatchObject({ kind: 'created', credential: { key: 'k1', status: 'active' } });
    expect(await policies.create({ ...body, filters: { 'meta.group': 'a' } }, admin)).toMatchObject({
      kind: 'created',
      policy: { total: 1, usable: 1 },
    });
    const token = await acquired(desk);
    const redeemed = await tokens.redeem(token.id.reveal(), by);
    if (redeemed.kind !== 'redeemed') throw new Error(redeemed.kind);
    expect(redeemed.secret.toString()).toBe('"s3cret"');
    expect(await tokens.release(token.id.reveal(), by)).toMatchObject({
      kind: 'ended',
      token: { state: 'released' },
    });
    expect(await tokens.redeem(token.id.reveal(), by)).toMatchObject({ kind: 'refused', why: 'released' });
    expect(desk.audit.said()).toEqual([
      ...['credential.create ok', 'policy.create ok', 'token.acquire ok', 'token.redeem ok'],
      ...['token.release ok', 'token.redeem refused'],
    ]);
  });
});
