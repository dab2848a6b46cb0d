import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { proxyEvidence } from '../../src/outcome/proxy-pages.js';
import { answer, refusal } from './verdicts.js';

describe('proxyEvidence', () => {
  it.each([
    [503, 'X-Squid-Error', 'ERR_DNS_FAIL 0', 'target_dns', null],
    [503, 'X-Squid-Error', 'ERR_CONNECT_FAIL 111', 'target_unreachable', null],
    [504, 'X-Squid-Error', 'ERR_READ_TIMEOUT 0', 'target_timeout', null],
    [502, 'X-Squid-Error', 'ERR_ZERO_SIZE_OBJECT', 'target_failed', null],
    [403, 'X-Squid-Error', 'ERR_ACCESS_DENIED 0', 'upstream_error', null],
    [407, 'X-Squid-Error', 'ERR_CACHE_ACCESS_DENIED 0', 'upstream_auth', 'auth'],
    [503, 'X-Squid-Error', 'ERR_CANNOT_FORWARD 0', 'upstream_error', 'silent'],
    [502, 'X-Crawlera-Error', 'nxdomain', 'target_dns', null],
    [503, 'X-Crawlera-Error', 'noslaves', 'upstream_error', null],
    [502, 'X-BRD-Err-Code', 'policy_20020', 'upstream_error', null],
    [502, 'X-BRD-Err-Code', 'peer_50010', 'upstream_error', 'error'],
    [200, 'X-BRD-Err-Code', 'target_40001', 'target_failed', null],
    [502, 'X-BRD-Error', 'Zone is disabled', 'upstream_error', null],
    [502, 'X-Luminati-Error', 'no peer available', 'upstream_error', null],
    [520, 'Zyte-Error-Type', '/download/temporary-error', 'upstream_error', null],
    [401, 'Zyte-Error-Type', '/auth/key-not-found', 'upstream_auth', 'auth'],
    [502, 'Proxy-Status', 'p; error=dns_error; rcode="NXDOMAIN"', 'target_dns', null],
    [504, 'Proxy-Status', 'p;error=connection_timeout', 'target_timeout', null],
    [502, 'Proxy-Status', 'p; error=connection_refused', 'target_unreachable', null],
    [502, 'Proxy-Status', 'p; error=tls_certificate_error', 'target_failed', null],
    [500, 'Proxy-Status', 'p; error=proxy_configuration_error', 'upstream_error', 'error'],
    [403, 'Proxy-Status', 'p; error=http_request_denied', 'upstream_error', null],
    [508, 'Proxy-Status', 'p; error=proxy_loop_detected', 'loop_detected', 'error'],
    [500, 'Server', 'tinyproxy/1.11.1', 'target_unreachable', null],
    [401, 'Server', 'tinyproxy/1.11.1', 'upstream_auth', 'auth'],
    [403, 'Server', 'tinyproxy/1.11.1', 'upstream_error', null],
    [503, 'Server', 'tinyproxy/1.11.1', 'upstream_error', 'error'],
  ])('C23 %i with %s: %s is %s', (...[status, name, value, code, health]) => {
    expect(proxyEvidence(refusal(status, [name, value]))).toMatchObject({ code, health });
    const plain = { code, health: health === 'auth' ? 'auth' : null };
    expect(proxyEvidence(answer(status, [[name, value]]))).toMatchObject(plain);
  });

  it.each([
    [590, 'upstream_error'],
    [592, 'target_failed'],
    [593, 'target_dns'],
    [594, 'target_unreachable'],
    [595, 'target_failed'],
    [596, 'target_failed'],
    [597, 'upstream_auth'],
    [599, 'upstream_error'],
  ])('C23 proxy-chain’s %i is %s', (status, code) => {
    expect(proxyEvidence(refusal(status))?.code).toBe(code);
    expect(proxyEvidence(answer(status, [['Date', 'x']]))?.code).toBe(code);
    expect(proxyEvidence(answer(status, [['Content-Type', 'text/plain; charset=utf-8']]))?.code).toBe(code);
  });

  it('H11 a 59x with what sites send is the site’s', () => {
    expect(proxyEvidence(answer(599, [['Content-Type', 'text/html']]))).toBeNull();
    expect(proxyEvidence(answer(593, [['Server', 'nginx']]))).toBeNull();
    expect(proxyEvidence(answer(594, [['Set-Cookie', 'a=b']]))).toBeNull();
    expect(proxyEvidence(answer(591))).toBeNull();
    expect(proxyEvidence(answer(600))).toBeNull();
  });

  it.each([
    [503, 'X-Squid-Error', 'ERR_UNHEARD_OF 0'],
    [503, 'X-Squid-Error', ''],
    [503, 'X-Squid-Error', 'toString'],
    [503, 'X-Crawlera-Error', 'banned'],
    [502, 'X-BRD-Err-Code', 'constructor_1'],
    [200, 'X-BRD-Err-Code', 'no code'],
    [200, 'X-BRD-Error', 'on a good answer'],
    [502, 'Zyte-Error-Type', '/'],
    [502, 'Proxy-Status', 'p; received-status=502'],
    [502, 'Proxy-Status', 'p; details="a; error=dns_error"'],
    [502, 'Proxy-Status', 'p; error=constructor'],
    [502, 'Server', 'nginx'],
    [502, 'Server', 'my tinyproxy/1'],
    [418, 'Server', 'tinyproxy/1.11.1'],
    [401, 'Server', 'nginx'],
  ])('%i with %s: %s says nothing', (status, name, value) => {
    expect(proxyEvidence(refusal(status, [name, value]))).toBeNull();
  });

  it('a mark on a good answer says nothing', () => {
    expect(proxyEvidence(answer(200, [['X-Squid-Error', 'ERR_DNS_FAIL 0']]))).toBeNull();
  });

  it('of several Proxy-Status members the last speaks: it is the nearest', () => {
    const both = 'cdn; error=dns_error, exit; error=connection_timeout';
    expect(proxyEvidence(refusal(504, ['Proxy-Status', both]))?.code).toBe('target_timeout');
    const lines = refusal(504, ['Proxy-Status', 'cdn; error=dns_error'], ['Proxy-Status', 'exit']);
    expect(proxyEvidence(lines)?.code).toBe('target_dns');
  });

  it('never throws, whatever the header holds', () => {
    const name = fc.constantFrom('X-Squid-Error', 'Proxy-Status', 'X-Crawlera-Error', 'Server');
    const value = fc.string({ unit: fc.constantFrom(...'ab";=\\, error'), maxLength: 40 });
    fc.assert(
      fc.property(name, value, fc.integer({ min: 100, max: 999 }), (header, text, status) => {
        const evidence = proxyEvidence(refusal(status, [header, text]));
        if (evidence !== null) expect(evidence.mark).toMatch(/^[\x20-\x7e]+$/);
      }),
    );
  });
});
