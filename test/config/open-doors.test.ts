import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { problemsOf } from './support.js';

describe('a door that stands open (Z10)', () => {
  it.each(['0.0.0.0:8080', '[::]:8080', '192.0.2.1:8080', 'gateway.example:8080'])(
    '%s without clients does not start',
    (at) => {
      expect(problemsOf(`listen: { proxy: "${at}" }`)).toEqual([
        expect.stringMatching(/^1 listen\.proxy: would be an open proxy/),
      ]);
      const byFlag = loadConfig({ file: null, overrides: { listen: at }, env: {} });
      expect(byFlag).toMatchObject({
        kind: 'problems',
        problems: [
          { path: 'listen.proxy', message: expect.stringContaining('open proxy'), origin: '--listen' },
        ],
      });
      const byVariable = loadConfig({ file: null, overrides: {}, env: { TURNPIKE_LISTEN: at } });
      expect(byVariable).toMatchObject({
        problems: [{ origin: 'TURNPIKE_LISTEN' }],
      });
    },
  );

  it.each(['127.0.0.1:8080', '[::1]:8080', 'localhost:8080', '127.9.9.9:8080'])(
    '%s without clients does',
    (at) => expect(problemsOf(`listen: { proxy: "${at}" }`)).toEqual([]),
  );

  it('is one also among others that are closed', () => {
    expect(problemsOf('listen: { proxy: [ "127.0.0.1:1", { at: "0.0.0.0:2" } ] }')).toHaveLength(1);
  });

  it('has a lock when there are clients', () => {
    expect(problemsOf('listen: { proxy: "0.0.0.0:1" }\nclients: [ { name: a, password: x } ]')).toEqual([]);
  });

  it('has none when everybody is a client', () => {
    const assumed = 'listen: { proxy: [ { at: "0.0.0.0:1", client: a } ] }';
    expect(problemsOf(`${assumed}\nclients: [ { name: a, password: x } ]`)[0]).toMatch(/open proxy/);
    expect(problemsOf(`${assumed}\nclients: [ { name: a, allow_from: 10.0.0.0/8 } ]`)).toEqual([]);
    expect(problemsOf('clients: [ { name: a } ]')[0]).toMatch(/needs a password, or allow_from/);
    for (const range of ['0.0.0.0/0', '::/0']) {
      expect(problemsOf(`clients: [ { name: a, allow_from: "${range}" } ]`)[0]).toMatch(
        /everybody could use the proxy/,
      );
    }
  });

  it('is one behind a balancer on this machine, and where anybody may name clients', () => {
    const behind =
      'listen: { proxy: [ { at: "127.0.0.1:1", proxy_protocol: true, proxy_protocol_from: 127.0.0.1 } ] }';
    expect(problemsOf(behind)).toEqual([expect.stringContaining('would be an open proxy')]);
    expect(problemsOf(`${behind}\nclients: [ { name: a, password: x } ]`)).toEqual([]);
    const listen = (rest: string) =>
      problemsOf(`listen: { proxy: { at: "127.0.0.1:1", ${rest} } }\nclients: [ { name: a, password: x } ]`);
    expect(listen('proxy_protocol: true')).toEqual([
      expect.stringMatching(/listen\.proxy\.proxy_protocol_from: is missing/),
    ]);
    expect(listen('proxy_protocol: true, proxy_protocol_from: "0.0.0.0/0"')[0]).toMatch(/claim any address/);
    expect(listen('proxy_protocol_from: 10.0.0.1')[0]).toMatch(/means nothing without/);
  });

  it('with a certificate must find it and its key', () => {
    const listen = 'listen: { proxy: { at: "127.0.0.1:1", tls: { cert: a.pem, key: b.pem } } }';
    expect(problemsOf(listen)[0]).toMatch(/^1 listen\.proxy\.tls\.cert: the file .*a\.pem does not exist/);
    const pem = '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n';
    expect(problemsOf(listen, { files: { 'a.pem': pem } })[0]).toMatch(/tls\.key: .*b\.pem does not exist/);
    expect(problemsOf(listen, { files: { 'a.pem': pem, 'b.pem': 'CANARY' } })[0]).toMatch(
      /tls\.key: the file .* holds no key that belongs to the certificate$/,
    );
  });
});
