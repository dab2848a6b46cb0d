import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTemplate, templateExits, TemplateSeat } from '../../src/upstreams/template.js';
import type { Template, TemplateFilter } from '../../src/upstreams/template.js';
import type { UpstreamOptions } from '../../src/upstreams/upstream.js';

const any: TemplateFilter = { country: null, city: null, asn: null };
const VENDOR = 'http://customer-C-session-{session}-country-{country}-city-{city}:pw@vendor.example:7777';

function templateOf(text: string, options: UpstreamOptions = {}): Template {
  const parsed = parseTemplate(text, options);
  if (parsed.kind === 'bad') throw new Error(parsed.reason);
  return parsed.template;
}

function seatOf(text: string, options: UpstreamOptions = {}): TemplateSeat {
  return new TemplateSeat(templateOf(text, options), 'main', 3, 0);
}

const nameFor = (
  seat: TemplateSeat,
  filter: Partial<TemplateFilter>,
  session: string | null = null,
): string => seat.login({ ...any, ...filter }, session).login.username;

describe('a template', () => {
  it('makes one exit a number, each with its own session', () => {
    const exits = templateExits(templateOf(VENDOR), { pool: 'main', exits: 500, epochs: new Map() });
    expect(new Set(exits.map(({ id }) => id)).size).toBe(500);
    expect(new Set(exits.map(({ login }) => login?.username)).size).toBe(500);
    for (const { login } of exits) expect(login?.username).toMatch(/^customer-C-session-[a-z0-9]{12}$/);
    expect(exits[7]?.label).toBe('http://vendor.example:7777#7');
    expect(exits[0]?.login?.password.reveal()).toBe('pw');
  });

  it('makes the same exits in every gateway: two sessions, written down', () => {
    const [first, second] = templateExits(templateOf(VENDOR), { pool: 'main', exits: 2, epochs: new Map() });
    expect([first?.login?.username, second?.login?.username]).toMatchInlineSnapshot(`
      [
        "customer-C-session-nuoobukc71k8",
        "customer-C-session-phdpxqiouplr",
      ]
    `);
    const other = templateExits(templateOf(VENDOR), { pool: 'other', exits: 1, epochs: new Map() });
    expect(other[0]?.login?.username).not.toBe(first?.login?.username);
  });

  it('gives an exit whose epoch grew a new session and a new id, and no other', () => {
    const before = templateExits(templateOf(VENDOR), { pool: 'main', exits: 3, epochs: new Map() });
    const after = templateExits(templateOf(VENDOR), { pool: 'main', exits: 3, epochs: new Map([[1, 1]]) });
    const changed = before.map((exit, n) => [
      exit.id !== after[n]?.id,
      exit.login?.username !== after[n]?.login?.username,
    ]);
    expect(changed).toEqual([
      [false, false],
      [true, true],
      [false, false],
    ]);
  });

  it('derives the session of a client: nothing of its name, equal each time, its own at each exit', () => {
    const seat = seatOf(VENDOR);
    const name = nameFor(seat, {}, '7:crawler:basket');
    expect(name).toMatch(/^customer-C-session-[a-z0-9]{12}$/);
    expect(nameFor(seatOf(VENDOR), {}, '7:crawler:basket')).toBe(name);
    expect(new Set([name, nameFor(seat, {}), nameFor(seat, {}, '7:crawler:other')]).size).toBe(3);
    const elsewhere = new TemplateSeat(templateOf(VENDOR), 'main', 4, 0);
    expect(nameFor(elsewhere, {}, '7:crawler:basket')).not.toBe(name);
  });

  it('fills in what the request says, and leaves out with its word what it does not', () => {
    const seat = seatOf(VENDOR);
    const rest = (filter: Partial<TemplateFilter>): string =>
      nameFor(seat, filter).replace(/session-\w+/, 'S');
    expect(rest({})).toBe('customer-C-S');
    expect(rest({ country: 'DE' })).toBe('customer-C-S-country-de');
    expect(rest({ city: 'New York' })).toBe('customer-C-S-city-new_york');
    expect(rest({ country: 'us', city: 'ulm' })).toBe('customer-C-S-country-us-city-ulm');
    const asn = seatOf('http://u;asn={asn};s={session}:p@v.example:1');
    expect(nameFor(asn, { asn: 64_500 })).toMatch(/^u;asn=64500;s=/);
    expect(nameFor(asn, {})).toMatch(/^u;s=/);
  });

  it('fills passwords and lengths as vendors want them', () => {
    const seat = seatOf('http://user:pw_country-{COUNTRY}_session-{session:8}_life-1m@v.example:1');
    const { login } = seat.login({ ...any, country: 'de' }, null);
    expect(login.username).toBe('user');
    expect(login.password.reveal()).toMatch(/^pw_country-DE_session-[a-z0-9]{8}_life-1m$/);
  });

  it('takes what the entry says where the request says nothing', () => {
    const seat = seatOf(VENDOR, { country: 'fr' });
    expect(nameFor(seat, {})).toMatch(/-country-fr$/);
    expect(nameFor(seat, { country: 'de' })).toMatch(/-country-de$/);
  });

  it('serves only requests whose values it can fill in', () => {
    const bare = seatOf('http://{country}.{session}:p@v.example:1');
    expect(bare.serves(any)).toBe(false);
    expect(bare.serves({ ...any, country: 'de' })).toBe(true);
    expect(seatOf('http://{country}.{session}:p@v.example:1', { country: 'de' }).serves(any)).toBe(true);
    const seat = seatOf(VENDOR);
    expect(seat.fills('city')).toBe(true);
    expect(seat.fills('asn')).toBe(false);
    for (const city of ['x-country-us', "coeur d'alene", 'a:b', 'a\r\nb', '', 'x'.repeat(65), 'köln']) {
      expect(seat.serves({ ...any, city }), city).toBe(false);
      expect(() => seat.login({ ...any, city }, null)).toThrow();
    }
    const dashed = seatOf('http://u_session-{session}_city-{city}_x-1:p@v.example:1');
    expect(dashed.serves({ ...any, city: 'stratford-upon-avon' })).toBe(true);
    expect(dashed.serves({ ...any, city: 'a_country-us' })).toBe(false);
  });

  it('remembers the last login, so that a connection can be used again', () => {
    const seat = seatOf(VENDOR);
    const first = seat.login({ ...any, country: 'de' }, 's');
    expect(seat.login({ ...any, country: 'de' }, 's')).toBe(first);
    const other = seat.login({ ...any, country: 'fr' }, 's');
    expect(other.key).not.toBe(first.key);
    expect(seat.login({ ...any, country: 'de' }, 's').key).toBe(first.key);
  });

  it.each([
    ['http://vendor.example:1', /needs a login/],
    ['http://user:pw@vendor.example:1', /holds \{session\}/],
    ['http://{session}-{secret}:pw@vendor.example:1', /in its password only/],
    ['http://{session}-{password}:pw@vendor.example:1', /knows/],
    ['http://{session}:{secret}@vendor.example:1', /needs a credential/],
    ['http://{session}-{Country}:pw@vendor.example:1', /knows/],
    ['http://{session:3}:pw@vendor.example:1', /knows/],
    ['http://{session:33}:pw@vendor.example:1', /knows/],
    ['http://{session:pw@vendor.example:1', /knows/],
    ['http://{session}}:pw@vendor.example:1', /knows/],
    ['http://{session}:pw@vendor.{country}:1', /host/],
    ['{session}', /begins with/],
  ])('%s is none', (text, reason) => {
    const parsed = parseTemplate(text);
    expect(parsed.kind === 'bad' ? parsed.reason : 'a template').toMatch(reason);
  });
});

describe('a template of SOCKS', () => {
  it('serves nothing that would make its login longer than SOCKS takes', () => {
    const filter = { country: null, asn: null };
    const long = `u-{session}-city-{city}-${'x'.repeat(200)}`;
    for (const [scheme, isServed] of [
      ['socks5', false],
      ['http', true],
    ] as const) {
      const seat = seatOf(`${scheme}://${long}:pw@vendor.example:1080`);
      expect(seat.serves({ ...filter, city: 'ulm' })).toBe(true);
      expect(seat.serves({ ...filter, city: 'a'.repeat(60) })).toBe(isServed);
    }
  });
});

describe('nothing can be put into a login', () => {
  it('by 100,000 random texts: the grammar holds, or the exit does not serve', () => {
    const seat = seatOf(VENDOR);
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 70 }),
      fc.string({ unit: fc.constantFrom(...'abz019._-'), maxLength: 6 }),
      fc.string({ unit: fc.constantFrom(...'ab-_.:@\r\n%{}=+ \u0000é'), maxLength: 12 }),
    );
    let served = 0;
    fc.assert(
      fc.property(text, text, text, (country, city, session) => {
        const filter = { country, city, asn: null };
        if (!seat.serves(filter)) return;
        served++;
        expect(nameFor(seat, filter, session)).toMatch(
          /^customer-C-session-[a-z0-9]{12}-country-[a-z0-9._]{1,64}-city-[a-z0-9._]{1,64}$/,
        );
      }),
      { seed: 11, numRuns: 100_000 },
    );
    expect(served).toBeGreaterThan(100);
  });
});
