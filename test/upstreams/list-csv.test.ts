import { describe, expect, it } from 'vitest';
import { splitCsvRow } from '../../src/core/csv-row.js';
import { hasTwins, readCsvHeader, readCsvRow } from '../../src/upstreams/list-csv.js';

describe('splitCsvRow', () => {
  it.each([
    ['a,b', ['a', 'b']],
    ['a,,', ['a', '', '']],
    ['"a,b",c', ['a,b', 'c']],
    ['"a""b",""', ['a"b', '']],
    ['""""', ['"']],
    ['a"b,c', ['a"b', 'c']],
    ['"a,b', null],
    ['"a"b,c', null],
  ])('%s', (line, cells) => {
    expect(splitCsvRow(line, ',')).toEqual(cells);
  });
});

describe('readCsvHeader', () => {
  it.each([
    ['host,port', ','],
    ['Proxy; Country', ';'],
    ['port\tIP', '\t'],
  ])('%j is one', (line, delimiter) => {
    expect(readCsvHeader(line)?.delimiter).toBe(delimiter);
  });

  it.each(['10.0.0.1:80', 'http://a,b:c@h:1', 'url', 'port,country', '{"host":"h","port":1}'])(
    '%s is none',
    (line) => {
      expect(readCsvHeader(line)).toBeNull();
    },
  );

  it('leaves columns that it does not know aside', () => {
    const header = readCsvHeader('host,port,seen');
    expect(header === null ? null : readCsvRow('h,1,now', header)).toEqual({ host: 'h', port: '1' });
    expect(header === null ? null : hasTwins(header)).toBe(false);
  });
});
