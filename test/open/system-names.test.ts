import { describe, expect, it } from 'vitest';
import { lookUpBy, type WaysToAsk } from '../../src/open/system-names.js';

type Answer = readonly string[] | string;

/** Addresses, or the code of an error. */
const give = (answer: Answer): Promise<readonly string[]> =>
  typeof answer === 'string'
    ? Promise.reject(Object.assign(new Error(answer), { code: answer }))
    : Promise.resolve(answer);

interface Case {
  readonly listed?: boolean;
  readonly ipv6?: boolean;
  readonly four?: Answer;
  readonly six?: Answer;
}

/** What a look-up gives, and who was asked. */
async function find(host: string, { listed = false, ipv6 = false, four = [], six = [] }: Case) {
  const asked: string[] = [];
  const ways: WaysToAsk = {
    isListed: () => listed,
    system: () => {
      asked.push('system');
      return give(['9.9.9.9']);
    },
    servers: (_, family) => {
      asked.push(`servers ${family}`);
      return give(family === 4 ? four : six);
    },
    prefersIpv6: () => ipv6,
  };
  const found = await lookUpBy(ways)(host).catch((error: NodeJS.ErrnoException) => error.code);
  return { found, asked };
}

const servers = ['servers 4', 'servers 6'];

describe('who is asked for a name', () => {
  it.each([
    ['without a dot', 'proxy', {}],
    ['in the file of hosts', 'a.test', { listed: true, four: ['1.1.1.1'] }],
  ])('the system alone, when it is %s', async (_, host, each) => {
    expect(await find(host, each)).toEqual({ found: ['9.9.9.9'], asked: ['system'] });
  });

  it.each<[Case, string[]]>([
    [{ four: ['1.1.1.1'], six: ['2::2'] }, ['1.1.1.1', '2::2']],
    [{ four: ['1.1.1.1'], six: ['2::2'], ipv6: true }, ['2::2', '1.1.1.1']],
    [{ four: ['1.1.1.1'], six: 'ENODATA' }, ['1.1.1.1']],
    [{ four: 'ETIMEOUT', six: ['2::2'] }, ['2::2']],
  ])('the servers, of which one family is enough: %j', async (each, found) => {
    expect(await find('a.test', each)).toEqual({ found, asked: servers });
  });

  it.each<[Case]>([
    [{ four: 'ENOTFOUND', six: 'ENOTFOUND' }],
    [{ four: 'ENODATA', six: [] }],
    [{ four: 'ECONNREFUSED', six: 'ECONNREFUSED' }],
    [{ four: 'EBADNAME', six: 'EBADNAME' }],
  ])('the system too, where the servers know nothing or are none: %j', async (each) => {
    expect(await find('a.test', each)).toEqual({ found: ['9.9.9.9'], asked: [...servers, 'system'] });
  });

  it.each<[Case, string]>([
    [{ four: 'ETIMEOUT', six: 'ENODATA' }, 'ETIMEOUT'],
    [{ four: 'ENOTFOUND', six: 'ESERVFAIL' }, 'ESERVFAIL'],
  ])('nobody else, where they are silent or in trouble: %j', async (each, code) => {
    expect(await find('a.test', each)).toEqual({ found: code, asked: servers });
  });
});
