import { describe, expect, it } from 'vitest';
import { exitsOf, readSources, type SourceContent } from '../../src/upstreams/pool-source.js';

const template: SourceContent & { kind: 'template' } = {
  kind: 'template',
  name: 'template',
  text: 'http://u-{session}:p@vendor.example:1',
  exits: 3,
  epochs: new Map([[1, 4]]),
  options: { tags: ['vendor'] },
};

describe('readSources', () => {
  it('takes each exit once, where it stands first, and counts by source', () => {
    const content = readSources('main', [
      { kind: 'list', from: 'file', name: 'a.txt', text: 'h:1\nh:2\nnonsense', options: { country: 'de' } },
      { kind: 'url', name: 'url', url: 'http://h:2', options: {} },
      template,
      { kind: 'list', from: 'file', name: 'b.txt', text: 'h:3\nh:1', options: {} },
      { kind: 'url', name: 'url', url: 'ftp://h:9', options: {} },
    ]);
    expect(content.counts).toEqual([2, 0, 3, 1, 0]);
    expect(content.upstreams.map(({ label }) => label).slice(0, 3)).toEqual([
      'http://h:1',
      'http://h:2',
      'http://vendor.example:1#0',
    ]);
    expect(content.upstreams[2]?.tags).toEqual(['vendor']);
    expect(content.problems.map(({ source, line }) => [source, line])).toEqual([
      ['a.txt', 3],
      ['url', 0],
    ]);
  });

  it('takes direct:// from a file, and refuses it from a server, in any form of list', () => {
    const list = (from: 'file' | 'server', text: string) =>
      readSources('main', [{ kind: 'list', from, name: 'list', text, options: {} }]);
    for (const text of ['h:1\ndirect://', '{"url":"http://h:1"}\n{"url":"direct://"}']) {
      expect(list('file', text).upstreams.map(({ label }) => label)).toEqual(['http://h:1', 'direct://']);
      expect(list('server', text).upstreams.map(({ label }) => label)).toEqual(['http://h:1']);
      expect(list('server', text).problems).toEqual([
        expect.objectContaining({ line: 2, reason: expect.stringContaining('may not come from a server') }),
      ]);
    }
  });

  it('says once why a template is none', () => {
    const { problems, upstreams } = readSources('main', [
      { ...template, text: 'http://u:p@vendor.example:1' },
    ]);
    expect(upstreams).toEqual([]);
    expect(problems).toHaveLength(1);
  });

  it('makes the exits of a template the same each time, by their epochs', () => {
    const ids = exitsOf('main', template).map(({ id }) => id);
    expect(exitsOf('main', { ...template }).map(({ id }) => id)).toEqual(ids);
    const before = exitsOf('main', { ...template, epochs: new Map() }).map(({ id }) => id);
    expect(before.map((id, n) => id === ids[n])).toEqual([true, false, true]);
  });
});
