import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { errorTable, type ErrorCode } from '../../src/core/errors.js';
import {
  SocksServerReader,
  socksLoginAnswer,
  socksMethodChosen,
  socksMethods,
  socksReplies,
  socksReply,
  socksReplyFor,
  type SocksServerEvent,
} from '../../src/protocol/socks-server.js';

const greeting = (...methods: number[]) => Buffer.of(5, methods.length, ...methods);
const login = (username: string, password: string) => {
  const [user, secret] = [Buffer.from(username), Buffer.from(password)];
  return Buffer.concat([Buffer.of(1, user.length), user, Buffer.of(secret.length), secret]);
};
const request = (type: number, address: readonly number[], port = 443, command = 1) =>
  Buffer.of(5, command, 0, type, ...address, port >> 8, port & 255);
const nameOf = (name: string) => [name.length, ...Buffer.from(name, 'latin1')];

/** What a server that takes every login reads from bytes in these pieces. */
function conversation(pieces: readonly Buffer[]): { events: SocksServerEvent[]; rest: Buffer } {
  const reader = new SocksServerReader();
  const events: SocksServerEvent[] = [];
  for (const piece of pieces) {
    reader.push(piece);
    for (;;) {
      const event = reader.next();
      if (event.kind === 'more') break;
      events.push(event);
      if (event.kind === 'fault' || event.kind === 'unsupported') return { events, rest: reader.takeRest() };
      if (event.kind === 'greeting') reader.expect(event.offersLogin ? 'login' : 'request');
      if (event.kind === 'login') reader.expect('request');
    }
  }
  return { events, rest: reader.takeRest() };
}

const asked = (bytes: Buffer) => conversation([greeting(0), bytes]).events[1];

describe('the SOCKS5 handshake of a client', () => {
  it('is a greeting, a login where it is offered, and a request; the rest is left alone', () => {
    const early = Buffer.from([0x16, 3, 1]);
    const bytes = [greeting(0, 2), login('me+session=a1', 'p:ä'), request(3, nameOf('a.test')), early];
    const { events, rest } = conversation([Buffer.concat(bytes)]);
    expect(events).toEqual([
      { kind: 'greeting', offersLogin: true, offersNone: true },
      { kind: 'login', username: Buffer.from('me+session=a1'), password: Buffer.from('p:ä') },
      { kind: 'connect', authority: 'a.test:443' },
    ]);
    expect(rest).toEqual(early);
  });

  it('takes user names and passwords of 0 and of 255 bytes', () => {
    const long = 'x'.repeat(255);
    for (const text of ['', long]) {
      const { events } = conversation([greeting(2), login(text, text)]);
      expect(events[1]).toEqual({ kind: 'login', username: Buffer.from(text), password: Buffer.from(text) });
    }
  });

  it.each([
    [request(1, [127, 0, 0, 1], 80), '127.0.0.1:80'],
    [request(4, [...Array<number>(15).fill(0), 1], 8080), '[::1]:8080'],
    [request(3, nameOf('EXAMPLE.test'), 65_535), 'EXAMPLE.test:65535'],
    [request(3, nameOf('m\xfcller.test'), 1), 'm\xfcller.test:1'],
    // What these mean is decided by whoever reads the authority, the same as for CONNECT.
    [request(3, nameOf('a.test:80'), 443), 'a.test:80:443'],
    [request(3, nameOf(''), 443), ':443'],
    [request(3, nameOf('u@a.test'), 0), 'u@a.test:0'],
  ])('names a target: %#', (bytes, authority) => {
    expect(asked(bytes)).toEqual({ kind: 'connect', authority });
  });

  it.each([
    ['BIND', request(1, [1, 1, 1, 1], 1, 2), socksReplies.commandNotSupported],
    ['UDP ASSOCIATE', request(1, [1, 1, 1, 1], 1, 3), socksReplies.commandNotSupported],
    ['command 0', request(1, [1, 1, 1, 1], 1, 0), socksReplies.commandNotSupported],
    ['address type 2', request(2, [1, 1, 1, 1]), socksReplies.addressNotSupported],
    ['address type 255', request(255, [1, 1, 1, 1]), socksReplies.addressNotSupported],
  ])('may ask for what is not supported: %s', (_, bytes, reply) => {
    expect(asked(bytes)).toMatchObject({ kind: 'unsupported', reply });
  });

  it('is no SOCKS5 with another version, without a method, or with a reserved byte', () => {
    const faults = [
      conversation([Buffer.of(4, 1, 0, 80)]).events,
      conversation([Buffer.of(5, 0)]).events,
      conversation([greeting(2), Buffer.of(5, 1)]).events,
      conversation([greeting(0), Buffer.of(4, 1)]).events,
      conversation([greeting(0), Buffer.of(5, 1, 1, 1, 0)]).events,
    ];
    expect(faults.map((events) => events.at(-1)?.kind)).toEqual(Array(5).fill('fault'));
    expect(conversation([greeting(1, 3)]).events).toEqual([
      { kind: 'greeting', offersLogin: false, offersNone: false },
    ]);
  });

  it('means the same in any pieces', () => {
    const client = fc.record({
      username: fc.string({ maxLength: 60 }),
      password: fc.string({ maxLength: 60 }),
      name: fc.string({ minLength: 1, maxLength: 60, unit: fc.constantFrom(...'abc.-1') }),
      port: fc.nat(65_535),
      early: fc.uint8Array({ maxLength: 30 }),
      cuts: fc.array(fc.nat(50), { maxLength: 60 }),
    });
    fc.assert(
      fc.property(client, ({ username, password, name, port, early, cuts }) => {
        const messages = [greeting(0, 2), login(username, password), request(3, nameOf(name), port)];
        const bytes = Buffer.concat([...messages, Buffer.from(early)]);
        const pieces: Buffer[] = [];
        let at = 0;
        for (const cut of [...cuts, bytes.length]) {
          pieces.push(bytes.subarray(at, at + cut));
          at = Math.min(at + cut, bytes.length);
        }
        const { events, rest } = conversation(pieces);
        expect(events).toHaveLength(3);
        expect(events[1]).toEqual({
          kind: 'login',
          username: Buffer.from(username),
          password: Buffer.from(password),
        });
        expect(events[2]).toEqual({ kind: 'connect', authority: `${name}:${port}` });
        expect(rest).toEqual(Buffer.from(early));
      }),
    );
  });

  it('of random bytes never throws', () => {
    const starts = [Buffer.alloc(0), greeting(0), greeting(2), Buffer.concat([greeting(2), login('a', 'b')])];
    fc.assert(
      fc.property(
        fc.constantFrom(...starts),
        fc.array(fc.uint8Array({ maxLength: 30 }), { maxLength: 20 }),
        (start, pieces) => {
          const { events } = conversation([start, ...pieces.map((piece) => Buffer.from(piece))]);
          expect(events.length).toBeLessThanOrEqual(3);
        },
      ),
    );
  });

  it('holds what is not read yet, and gives it away once', () => {
    const reader = new SocksServerReader();
    reader.push(greeting(0));
    reader.next();
    reader.push(Buffer.from('abc'));
    expect(reader.heldBytes).toBe(3);
    expect(reader.takeRest().toString()).toBe('abc');
    expect([reader.heldBytes, reader.takeRest().length]).toEqual([0, 0]);
  });
});

describe('what the server says', () => {
  it('is as the RFCs have it', () => {
    expect([...socksMethodChosen(socksMethods.login)]).toEqual([5, 2]);
    expect([...socksMethodChosen(socksMethods.unacceptable)]).toEqual([5, 255]);
    expect([socksLoginAnswer(true), socksLoginAnswer(false)].map((bytes) => [...bytes])).toEqual([
      [1, 0],
      [1, 1],
    ]);
    expect([...socksReply(4)]).toEqual([5, 4, 0, 1, 0, 0, 0, 0, 0, 0]);
  });

  it.each<[ErrorCode, number]>([
    ['target_refused', 2],
    ['auth_required', 2],
    ['loop_detected', 2],
    ['upstream_unreachable', 3],
    ['target_dns', 4],
    ['target_unreachable', 4],
    ['upstream_refused', 5],
    ['target_timeout', 6],
    ['upstream_timeout', 6],
    ['exchange_timeout', 6],
    ['no_upstream', 1],
    ['client_limited', 1],
    ['internal_error', 1],
  ])('%s is reply %i', (code, reply) => expect(socksReplyFor(code)).toBe(reply));

  it('never calls a failure a success', () => {
    for (const code of Object.keys(errorTable) as ErrorCode[]) expect(socksReplyFor(code)).toBeGreaterThan(0);
  });
});
