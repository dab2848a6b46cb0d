import { describe, expect, it } from 'vitest';
import { isOwnDoor } from '../../src/protocol/own-door.js';

const own = { addresses: new Set(['192.0.2.7', '2001:db8::7']), names: new Set(['box']) };
const loopback = [{ host: '127.0.0.1', port: 8080 }];
const everywhere = [
  { host: '127.0.0.1', port: 8081 },
  { host: '::', port: 8080 },
];

describe('Z01 an upstream that is this gateway', () => {
  it.each([
    ['127.0.0.1', 8080, loopback, true],
    ['::ffff:127.0.0.1', 8080, loopback, true],
    ['localhost', 8080, loopback, true],
    ['box', 8080, loopback, true],
    ['0.0.0.0', 8080, loopback, true],
    ['127.0.0.1', 8081, loopback, false],
    ['127.0.0.2', 8080, loopback, false],
    ['192.0.2.7', 8080, loopback, false],
    ['proxy.example', 8080, loopback, false],
    ['127.0.0.2', 8080, everywhere, true],
    ['::1', 8080, everywhere, true],
    ['192.0.2.7', 8080, everywhere, true],
    ['2001:db8::7', 8080, everywhere, true],
    ['192.0.2.8', 8080, everywhere, false],
    ['192.0.2.7', 8081, everywhere, false],
  ] as const)('%s:%i', (host, port, doors, expected) => {
    expect(isOwnDoor(host, port, doors, own)).toBe(expected);
  });
});
