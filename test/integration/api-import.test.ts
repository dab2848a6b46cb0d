/** Many credentials at once, by the API, from texts as other programs write them. */
import { describe, expect, it } from 'vitest';
import { askAdmin } from '../support/admin.js';
import { createStage } from '../support/stage.js';
import { startVaulted, vaultPlace } from '../support/vaulted.js';

const stage = createStage();
const account = (key: string) => ({ type: 'cookie_string', key, secret: `sessionid=CANARY-${key}` });

describe('import', () => {
  it('takes all or nothing, or what is good, and tells of lines', async () => {
    const { gateway, admin } = stage.keep(await startVaulted(stage.keep(vaultPlace())));
    await admin('POST /credentials', account('a1'));
    const put = (query: string, type: string, body: string) =>
      askAdmin(gateway.adminPort, `/api/v1/credentials/import?${query}`, {
        ...{ method: 'POST', body, headers: { 'content-type': type } },
      });
    const csv = 'key,type,secret\nc1,api_key,CANARY-1\na1,api_key,CANARY-2\n';
    const refused = await put('', 'text/csv', csv);
    expect([refused.status, refused.body.code]).toEqual([422, 'impossible']);
    expect(refused.body.errors).toMatchObject([{ line: 3, why: 'exists' }]);
    const good = await put('mode=good', 'text/csv', csv);
    expect([good.status, good.body]).toMatchObject([200, { created: 1, failed: 1, errors: [{ line: 3 }] }]);
    const lines = [account('j1'), account('j2')].map((each) => JSON.stringify(each)).join('\n');
    expect((await put('', 'application/jsonl', lines)).body).toMatchObject({ created: 2, failed: 0 });
    const cookies = '# Netscape HTTP Cookie File\n.shop.example\tTRUE\t/\tTRUE\t0\tsid\tCANARY-3\n';
    expect((await put('format=cookies&key=jar', 'text/plain', cookies)).body).toMatchObject({ created: 1 });
    expect((await put('', 'text/plain', cookies)).status).toBe(400);
    expect((await put('', 'application/json', '{}')).status).toBe(400);
    expect((await put('', 'image/png', 'x')).status).toBe(415);
    const { items } = (await admin('GET /credentials')).body;
    expect(items.map(({ key }: { key: string }) => key)).toEqual([
      'a1',
      'c1',
      'j1',
      'j2',
      'jar.shop.example',
    ]);
    expect(`${refused.text}${good.text}`).not.toContain('CANARY');
  });
});
