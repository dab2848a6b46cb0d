import { describe, expect, it } from 'vitest';
import { parseList } from '../../src/upstreams/list.js';
import { packUpstreams, unpackUpstreams } from '../../src/upstreams/packed-upstreams.js';
import type { Upstream } from '../../src/upstreams/upstream.js';

const list = [
  'url,weight,country,city,asn,tags,username,password',
  'http://10.0.0.1:80,,,,,,,',
  'https://[::1]:443,2.5,de,New York,4294967295,a|b,,',
  'http://h.example:8080,1,us,,,a|b,"użytkownik ✓","p:a@s/s,w"',
  'http://i.example:8080,1,us,,,,,only a password',
].join('\n');

const shown = ({
  id,
  protocol,
  host,
  port,
  label,
  weight,
  country,
  city,
  asn,
  tags,
  turnpike,
  tls,
  login,
}: Upstream): unknown => [
  ...[id, protocol, host, port, label, weight, country, city, asn, tags, turnpike, tls],
  login && [login.username, login.password.reveal()],
];

describe('packed upstreams', () => {
  it('come out as they went in, also through a structured clone', () => {
    const options = { turnpike: true, tls: { ca: 'PEM', verify: false } };
    const { entries, problems } = parseList(list, options);
    expect(problems).toEqual([]);
    const packed = structuredClone(packUpstreams(entries));
    const again = unpackUpstreams(packed, options);
    expect(again.map(shown)).toEqual(entries.map(shown));
  });

  it('share equal tags', () => {
    const { entries } = parseList(list);
    const [, second, third] = unpackUpstreams(packUpstreams(entries), {});
    expect(second?.tags).toBe(third?.tags);
    expect(third?.login).toBe(third?.login);
  });

  it('may be none', () => {
    expect(unpackUpstreams(packUpstreams([]), {})).toEqual([]);
  });
});
