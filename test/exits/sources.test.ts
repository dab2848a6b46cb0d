import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadFile } from '../../src/exits/sources.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'turnpike-lists-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

describe('loadFile', () => {
  it('G6 reads a list, with the options of the file, and says what it left out', async () => {
    const path = await file(
      'proxies.txt',
      '\uFEFF# mine\r\nu:p@10.0.0.1:3128\r\nnonsense\r\n10.0.0.2:3128\r\n',
    );
    const { upstreams, problems, isRead } = await loadFile(path, { tags: ['dc'] });
    expect(upstreams.map(({ label, tags }) => [label, tags])).toEqual([
      ['http://10.0.0.1:3128', ['dc']],
      ['http://10.0.0.2:3128', ['dc']],
    ]);
    expect(problems).toEqual([{ line: 3, reason: 'the port is missing' }]);
    expect(isRead).toBe(true);
  });

  it('an empty file is an empty list', async () => {
    expect(await loadFile(await file('empty.txt', ''))).toEqual({
      upstreams: [],
      problems: [],
      isRead: true,
    });
  });

  it.each([
    ['missing.txt', /missing\.txt does not exist; paths are relative to/],
    ['proxies.txt/below', /does not exist/],
    ['.', /is a directory; name the file/],
    ['x'.repeat(300), /can not be read \(ENAMETOOLONG\)/],
  ])('says what to do about %s', async (name, reason) => {
    const loaded = await loadFile(join(folder, name));
    expect(loaded).toMatchObject({ upstreams: [], isRead: false, problems: [{ line: 0 }] });
    expect(loaded.problems[0]?.reason).toMatch(reason);
  });

  it('does not read what is no plain file, or too large', async () => {
    const path = join(folder, 'socket');
    const server = createServer().listen(path);
    await new Promise((resolve) => server.once('listening', resolve));
    expect((await loadFile(path)).problems[0]?.reason).toMatch(/not a plain file/);
    server.close();
    const large = await loadFile(await file('large.txt', 'x'.repeat(11)), {}, 10);
    expect(large.problems[0]?.reason).toMatch(/has 11 bytes, more than the 10 allowed/);
  });
});
