import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkResolvedAddress,
  checkTarget,
  parseAllowEntry,
  parseAuthority,
} from '../../src/protocol/target.js';
import type { AllowEntry, OwnAddresses, Target, TargetPolicy } from '../../src/protocol/target.js';
import { forbiddenSpellings, openSpellings } from './spellings.js';

const own: OwnAddresses = {
  ports: new Set([8080, 8081]),
  addresses: new Set(['192.168.7.7', '8.8.4.4', '2606:4700::7']),
  names: new Set(['gateway.example']),
};

function targetOf(hostPort: string): Target {
  const result = parseAuthority(Buffer.from(hostPort, 'utf8').toString('latin1'));
  if (result.kind === 'refused') throw new Error(result.failure.detail);
  return result.target;
}

function policyOf(...texts: string[]): TargetPolicy {
  return {
    allow: texts.map((text) => parseAllowEntry(text)).filter((entry): entry is AllowEntry => entry !== null),
  };
}

const codeOf = (hostPort: string, policy: TargetPolicy): string | undefined =>
  checkTarget(targetOf(hostPort), policy, own)?.code;

const closed = policyOf();
const everything = policyOf('0.0.0.0/0', '::/0', 'localhost', 'gateway.example', 'a.localhost');

describe('SSRF', () => {
  it.each(forbiddenSpellings)('%s is refused', (host, addressClass) => {
    expect(codeOf(`${host}:443`, closed)).toBe('target_refused');
    expect(addressClass).not.toBe('public');
  });

  it.each(openSpellings)('%s is open', (host) => {
    expect(codeOf(`${host}:443`, closed)).toBeUndefined();
  });

  it('says what the target is, by its canonical name', () => {
    expect(checkTarget(targetOf('0x7f.1:443'), closed, own)).toEqual({
      code: 'target_refused',
      detail: '127.0.0.1:443 is a loopback address; see targets.allow.',
    });
  });
});

describe('exceptions', () => {
  it.each([
    ['127.0.0.1:8000', '127.0.0.1:8000', true],
    ['127.0.0.1:8000', '127.1:8000', true],
    ['127.0.0.1:8000', '[::ffff:127.0.0.1]:8000', true],
    ['127.0.0.1:8000', '127.0.0.1:8001', false],
    ['127.0.0.1:8000', '127.0.0.2:8000', false],
    ['127.0.0.1:8000', 'localhost:8000', false],
    ['127.0.0.1:8000', '[64:ff9b::127.0.0.1]:8000', false],
    ['127.0.0.1', '127.0.0.1:1', true],
    ['10.20.0.0/16', '10.20.255.1:443', true],
    ['10.20.0.0/16', '10.21.0.1:443', false],
    ['10.20.0.0/16:443', '10.20.0.1:443', true],
    ['10.20.0.0/16:443', '10.20.0.1:80', false],
    ['::1', '[::1]:9', true],
    ['[::1]', '[::1]:9', true],
    ['[::1]:9', '[::1]:9', true],
    ['[::1]:9', '[::1]:10', false],
    ['[fd00::/8]:443', '[fd12::1]:443', true],
    ['fd00::/8', '[fd12::1]:1', true],
    ['localhost:3000', 'LOCALHOST.:3000', true],
    ['localhost:3000', 'a.localhost:3000', false],
    ['Intranet.Internal', 'intranet.internal:80', true],
    ['ïntranet.internal', 'xn--ntranet-nza.internal:80', true],
  ])('%s and %s: %s', (entry, hostPort, isOpen) => {
    expect(parseAllowEntry(entry)).not.toBeNull();
    expect(codeOf(hostPort, policyOf(entry))).toBe(isOpen ? undefined : 'target_refused');
  });

  it.each([
    '',
    ':80',
    '127.1',
    '0x7f.1:80',
    '2130706433',
    'a b',
    '10.0.0.0/33',
    'a.test:0',
    'a.test:99999',
    'http://a.test',
    '*.test',
    '[::1',
    'a.test/8',
    'fe80::1%eth0',
  ])('%j is no exception', (text) => {
    expect(parseAllowEntry(text)).toBeNull();
  });

  it('never throws on what is no exception', () => {
    fc.assert(
      fc.property(fc.string(), (text) => void parseAllowEntry(text)),
      { seed: 20_240_608, numRuns: 2000 },
    );
  });
});

describe('Z01 the gateway itself', () => {
  it.each([
    '127.0.0.1:8080',
    '127.9.9.9:8081',
    '0.0.0.0:8080',
    '[::1]:8080',
    '[::]:8080',
    '2130706433:8080',
    '[::ffff:127.0.0.1]:8080',
    '[64:ff9b::7f00:1]:8080',
    '192.168.7.7:8080',
    '192.168.1799:8080',
    '8.8.4.4:8081',
    '[2606:4700::7]:8080',
    'gateway.example:8080',
    'Gateway.Example.:8081',
    'localhost:8080',
    'x.localhost:8080',
  ])('%s is never a target, even where everything is allowed', (hostPort) => {
    expect(codeOf(hostPort, closed)).toBe('loop_detected');
    expect(codeOf(hostPort, everything)).toBe('loop_detected');
  });

  it.each([
    '127.0.0.1:8082',
    '8.8.4.4:443',
    'gateway.example:443',
    '192.168.7.7:22',
    'localhost:3000',
    'a.test:8080',
    '8.8.8.8:8080',
  ])('%s is another service', (hostPort) => {
    expect(codeOf(hostPort, everything)).toBeUndefined();
  });

  it('leaves local names with an own port to the exceptions', () => {
    expect(codeOf('printer.local:8080', closed)).toBe('target_refused');
    expect(codeOf('printer.local:8080', policyOf('printer.local:8080'))).toBeUndefined();
  });
});

describe('Z05 addresses that a name resolved to', () => {
  const resolvedCode = (hostPort: string, resolved: string, policy: TargetPolicy): string | undefined =>
    checkResolvedAddress(targetOf(hostPort), resolved, policy, own)?.code;

  it.each([
    ['a.test:80', '93.184.216.34', undefined],
    ['a.test:80', '2606:2800:220:1::1', undefined],
    ['a.test:80', '127.0.0.1', 'target_refused'],
    ['a.test:80', '::ffff:10.0.0.1', 'target_refused'],
    ['a.test:80', 'fe80::1%eth0', 'target_refused'],
    ['a.test:80', 'garbage', 'target_refused'],
    ['a.test:8080', '127.0.0.1', 'loop_detected'],
    ['a.test:8080', '::ffff:192.168.7.7', 'loop_detected'],
    ['a.test:8080', '2606:4700:0:0:0:0:0:7', 'loop_detected'],
    ['a.test:8080', '8.8.8.8', undefined],
  ])('%s at %s: %s', (hostPort, resolved, code) => {
    expect(resolvedCode(hostPort, resolved, closed)).toBe(code);
  });

  it('takes an exception for the address or for the name', () => {
    expect(resolvedCode('a.test:80', '10.0.0.1', policyOf('10.0.0.0/8'))).toBeUndefined();
    expect(resolvedCode('a.test:80', '10.0.0.1', policyOf('a.test:80'))).toBeUndefined();
    expect(resolvedCode('a.test:80', '10.0.0.1', policyOf('a.test:81'))).toBe('target_refused');
    expect(resolvedCode('a.test:8080', '127.0.0.1', policyOf('a.test'))).toBe('loop_detected');
  });
});
