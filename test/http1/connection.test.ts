import { describe, expect, it } from 'vitest';
import { expectsContinue, upgradeOf, wantsKeepAlive } from '../../src/http1/connection.js';
import { goodRequest, goodResponse, head } from './drive.js';

const request = (version: string, ...fields: string[]) =>
  goodRequest(head(`GET / HTTP/${version}`, 'Host: a', ...fields));
const response = (version: string, ...fields: string[]) =>
  goodResponse(head(`HTTP/${version} 200 OK`, ...fields));

describe('whether a connection stays (H27)', () => {
  it.each([
    [true, '1.1', []],
    [false, '1.1', ['Connection: close']],
    [false, '1.1', ['Connection: Keep-Alive, CLOSE']],
    [false, '1.1', ['Connection: keep-alive', 'Connection: x, close']],
    [true, '1.1', ['Connection: X']],
    [true, '1.1', ['Connection:']],
    [false, '1.0', []],
    [true, '1.0', ['Connection: Keep-Alive']],
    [false, '1.0', ['Connection: keep-alive, close']],
  ])('%s: HTTP/%s %j', (stays, version, fields) => {
    expect(wantsKeepAlive(request(version, ...fields))).toBe(stays);
    expect(wantsKeepAlive(response(version, ...fields))).toBe(stays);
  });

  it.each([
    [true, '1.0', ['Proxy-Connection: keep-alive']],
    [false, '1.0', ['Proxy-Connection: x']],
    [false, '1.1', ['Proxy-Connection: Close']],
    [true, '1.1', ['Proxy-Connection: close', 'Connection: keep-alive']],
    [false, '1.1', ['Proxy-Connection: keep-alive', 'Connection: close']],
    [true, '1.1', ['Proxy-Connection: x']],
  ])('%s: a request of HTTP/%s %j', (stays, version, fields) => {
    expect(wantsKeepAlive(request(version, ...fields))).toBe(stays);
  });

  it('Proxy-Connection says nothing in an answer', () => {
    expect(wantsKeepAlive(response('1.1', 'Proxy-Connection: close'))).toBe(true);
    expect(wantsKeepAlive(response('1.0', 'Proxy-Connection: keep-alive'))).toBe(false);
  });

  it('false: a 1.0 answer with Transfer-Encoding, and what leaves a doubt about framing', () => {
    expect(wantsKeepAlive(response('1.0', 'Connection: keep-alive', 'Transfer-Encoding: chunked'))).toBe(
      false,
    );
    expect(wantsKeepAlive(response('1.1', 'Transfer-Encoding\x01: chunked'))).toBe(false);
    expect(wantsKeepAlive(response('1.1', 'X: \x01'))).toBe(false);
    expect(wantsKeepAlive(response('1.1', 'X: y', ' z'))).toBe(false);
    expect(wantsKeepAlive(response('1.1', 'X : y'))).toBe(true);
  });
});

describe('upgrades (H38)', () => {
  it.each([
    ['websocket', '1.1', ['Connection: keep-alive, Upgrade', 'Upgrade: WebSocket']],
    ['h2c, websocket', '1.1', ['Connection: upgrade', 'Upgrade: h2c', 'Upgrade: websocket']],
    [null, '1.1', ['Upgrade: websocket']],
    [null, '1.1', ['Connection: keep-alive', 'Upgrade: websocket']],
    [null, '1.1', ['Connection: upgrade']],
    [null, '1.1', ['Connection: upgrade', 'Upgrade:']],
    [null, '1.0', ['Connection: upgrade', 'Upgrade: websocket']],
  ])('%s: HTTP/%s %j', (protocol, version, fields) => {
    expect(upgradeOf(request(version, ...fields))).toBe(protocol);
    expect(upgradeOf(response(version, ...fields))).toBe(protocol);
  });
});

describe('Expect (H16)', () => {
  it.each([
    [true, '1.1', ['Expect: 100-Continue']],
    [false, '1.0', ['Expect: 100-continue']],
    [false, '1.1', ['Expect: 200-ok']],
    [false, '1.1', []],
  ])('%s: HTTP/%s %j', (expects, version, fields) => {
    expect(expectsContinue(request(version, ...fields))).toBe(expects);
  });
});
