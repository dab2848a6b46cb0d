/** `turnpike credentials`, `policies` and `tokens` against a gateway that runs. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.js';
import { keptOutput } from '../cli/support.js';
import { tokens } from '../support/admin.js';
import { createStage } from '../support/stage.js';
import { startVaulted, vaultPlace } from '../support/vaulted.js';

const stage = createStage();

describe('the commands about credentials', () => {
  it('add, import, list, apply, revoke', async () => {
    const place = stage.keep(vaultPlace());
    const { gateway, crawler } = stage.keep(await startVaulted(place));
    const file = (name: string, text: string): string => {
      writeFileSync(join(place.folder, name), text, { mode: 0o600 });
      return join(place.folder, name);
    };
    const access = [
      ...['--admin', `http://127.0.0.1:${gateway.adminPort}`],
      ...['--token-file', file('token', tokens.admin)],
    ];
    const told: string[] = [];
    const turnpike = async (...args: string[]): Promise<{ code: number; text: string }> => {
      const output = keptOutput();
      const code = await run([...args, ...access], output);
      told.push(...output.printed, ...output.told);
      return { code, text: [...output.printed, ...output.told].join('\n') };
    };
    const secret = file('secret', 'CANARY-1\n');
    const added = await turnpike(
      ...['credentials', 'add', 'a1', '--type', 'api_key', '--secret-file', secret, '--meta', 'group=shop'],
    );
    expect(added).toEqual({ code: 0, text: 'a1 active' });
    const csv = file('more.csv', 'key,type,secret\nb1,api_key,CANARY-2\na1,api_key,CANARY-3\n');
    const refused = await turnpike('credentials', 'import', csv);
    expect(refused.code).toBe(1);
    expect(refused.text).toMatch(/^line 3: /m);
    expect((await turnpike('credentials', 'import', csv, '--mode', 'good')).text).toContain(
      '1 added, 1 refused',
    );
    expect((await turnpike('credentials', 'list')).text).toMatch(
      /a1 +api_key +active[\s\S]*b1 +api_key +active/,
    );
    expect((await turnpike('credentials', 'cooldown', 'b1', '--for', '10m')).text).toMatch(
      /^b1 cooldown until /,
    );
    const body = { name: 'shop', credential_type: 'api_key', filters: { 'meta.group': 'shop' } };
    const policy = file('policy.json', JSON.stringify(body));
    for (const _ of ['made', 'replaced'])
      expect((await turnpike('policies', 'apply', policy)).text).toBe('shop: 1 of 1 credentials usable');
    expect((await crawler('POST /tokens/acquire', { policy_name: 'shop' })).status).toBe(200);
    const ref = /\b[0-9a-f]{64}\b/.exec((await turnpike('tokens', 'list')).text)?.[0] ?? '';
    expect((await turnpike('tokens', 'revoke', ref)).text).toBe(`${ref} revoked`);
    expect((await turnpike('credentials', 'ban', 'a1')).text).toBe('a1 banned');
    expect((await turnpike('credentials', 'remove', 'a1')).text).toBe('a1 removed');
    expect((await turnpike('policies', 'remove', 'shop')).text).toBe('shop removed');
    expect(told.join('\n')).not.toContain('CANARY');
  });
});
