/** Every shipped rule has a sample that it means and one that it must not mean, both judged by the rule lab. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openLab } from '../../src/app/open-lab.js';
import { loadRules } from '../../src/config/rule-file.js';
import { fingerprintsYaml } from '../../src/config/rule-yaml.js';
import { fingerprints } from '../../src/outcome/fingerprints.js';

const folder = join(import.meta.dirname, 'samples');
const shipped = loadRules('');
if (shipped.kind === 'problems') throw new Error('the shipped rules have problems');
const lab = openLab(shipped.rules, shipped.detection);
afterAll(() => lab.close());

const tried = (name: string, kind: 'positive' | 'negative') =>
  lab.try({ name, bytes: readFileSync(join(folder, name, `${kind}.http`)) }, 'shop.example');

describe('shipped fingerprints', () => {
  it('have a folder of samples each, and no folder is without a rule', () => {
    expect(readdirSync(folder).sort()).toEqual(fingerprints.map(({ name }) => name).sort());
  });

  it('are what the generated file says, when it is read as a configuration', () => {
    const read = loadRules(`${fingerprintsYaml()}detection: { fingerprints: false }\n`);
    expect(read.kind === 'rules' && JSON.parse(JSON.stringify(read.rules))).toEqual(
      JSON.parse(
        JSON.stringify(
          fingerprints.map((each) => ({ ...each, then: each.shadow ? ['ban', 'retry'] : each.then })),
        ),
      ),
    );
  });

  it.each(fingerprints.map(({ name, shadow }) => [name, shadow ? 'present' : 'blocked'] as const))(
    '%s: %s',
    async (name, kind) => {
      const positive = await tried(name, 'positive');
      expect(positive.matches.map(({ rule }) => rule)).toContain(name);
      if (kind === 'blocked') expect(positive).toMatchObject({ verdict: 'blocked', rule: name });
      else expect(positive).toMatchObject({ verdict: 'ok', rule: null });
      const negative = await tried(name, 'negative');
      expect(negative.matches.map(({ rule }) => rule)).not.toContain(name);
      expect(negative.rule).toBe(null);
      expect(negative.trouble).toBe(null);
    },
  );

  it('leave an origin that Cloudflare can not reach to the target', async () => {
    expect(await tried('cloudflare-block', 'negative')).toMatchObject({
      verdict: 'target_failed',
      rule: null,
    });
  });
});

/** A marker of a vendor: the status, what is in head or body. */
type Marker = readonly [rule: string, status: number, fields: readonly string[], body?: string];

const cookiesOf = (rule: string, ...names: readonly string[]): Marker[] =>
  names.map((name) => [rule, 200, [`Set-Cookie: ${name}=1; path=/`]]);
const fieldsOf = (rule: string, ...fields: readonly string[]): Marker[] =>
  fields.map((field) => [rule, 200, [field]]);
const bodiesOf = (rule: string, status: number, ...bodies: readonly string[]): Marker[] =>
  bodies.map((body) => [rule, status, [], body]);

const markers: readonly Marker[] = [
  ...fieldsOf('cloudflare-challenge', 'cf-mitigated: challenge'),
  ...bodiesOf(
    'cloudflare-challenge',
    403,
    '<script src="/cdn-cgi/challenge-platform/h/b/orchestrate/jsch/v1">',
  ),
  ...bodiesOf(
    'cloudflare-challenge',
    503,
    '<form action="/?__cf_chl_f_tk=x">',
    '<title>Just a moment...</title>',
  ),
  ...bodiesOf('cloudflare-challenge', 503, 'Checking your browser before accessing'),
  ...['1020', '1010', '1012', '1015'].flatMap((code) =>
    bodiesOf('cloudflare-block', 403, `<span class="cf-error-code">${code}</span>`),
  ),
  ...bodiesOf('cloudflare-block', 403, '<title>Attention Required! | Cloudflare</title>'),
  ...fieldsOf('cloudflare-present', 'Server: cloudflare', 'CF-RAY: 1-FRA', 'CF-Cache-Status: HIT'),
  ...cookiesOf('cloudflare-present', '__cf_bm', 'cf_clearance', '__cfduid'),
  ...bodiesOf(
    'datadome-block',
    403,
    'https://geo.captcha-delivery.com/captcha/',
    'x.interstitial.datadome.co',
  ),
  ...fieldsOf('datadome-present', 'X-DataDome: protected', 'X-DataDome-CID: 1', 'Server: DataDome'),
  ...cookiesOf('datadome-present', 'datadome'),
  ...bodiesOf('datadome-present', 200, '<script src="https://ct.datadome.co/tags.js">'),
  ...bodiesOf(
    'perimeterx-block',
    403,
    'captcha.px-cdn.net',
    '<div id="px-captcha">',
    'window._pxAppId = "x"',
  ),
  ...bodiesOf(
    'perimeterx-block',
    403,
    'www.perimeterx.com/whywasiblocked',
    'believe you are using automation tools',
  ),
  ...bodiesOf(
    'perimeterx-block',
    403,
    'Access to this page has been denied',
    'Access to this page has been blocked',
  ),
  ...cookiesOf('perimeterx-present', '_px3', '_pxhd', '_pxvid', '_pxff_cc'),
  ...bodiesOf('perimeterx-present', 200, '//client.perimeterx.net/x', '//client.a.pxi.pub/x'),
  ...bodiesOf('akamai-block', 403, 'Reference #18.2d351ab8.1557333295.a4e16ab', 'errors.edgesuite.net'),
  ...bodiesOf('akamai-block', 403, 'Reference&#32;&#35;18&#46;2d351ab8&#46;1557333295&#46;a4e16ab'),
  ...bodiesOf(
    'akamai-block',
    200,
    '<div id="sec-if-cpt-container">',
    '<iframe id="sec-cpt-if">',
    'Powered and protected by',
  ),
  ...fieldsOf('akamai-present', 'Server: AkamaiGHost', 'X-Akamai-Transformed: 9'),
  ...cookiesOf('akamai-present', 'ak_bmsc', 'bm_sv', 'bm_sz', '_abck'),
  ...bodiesOf(
    'imperva-block',
    200,
    'Incapsula incident ID: 1',
    'Request unsuccessful.',
    'powered by incapsula',
  ),
  ...bodiesOf(
    'imperva-block',
    403,
    '<iframe src="/_Incapsula_Resource?x">',
    'mailto:a@b?subject=WAF Block Page',
  ),
  ...fieldsOf('imperva-present', 'X-Iinfo: 1', 'X-CDN: Incapsula', 'X-CDN: Imperva'),
  ...cookiesOf('imperva-present', 'visid_incap_12345', 'incap_ses_77_12345'),
  ...bodiesOf('distil-block', 405, 'id="distilCaptchaForm"', 'distilCallbackGuard', 'anomaly.detected.png'),
  ...fieldsOf('distil-present', 'X-Distil-CS: BYPASS'),
  ['aws-waf-block', 202, ['X-Amzn-Waf-Action: challenge']],
  ['aws-waf-block', 405, ['X-Amzn-Waf-Action: captcha']],
  ['aws-waf-block', 403, ['X-Blocked-By-WAF: 1']],
  ...bodiesOf('aws-waf-block', 405, '<script src="https://x.captcha.awswaf.com/captcha.js">'),
  ...cookiesOf('aws-waf-present', 'aws-waf-token', 'AWSALB'),
  ['cloudfront-block', 403, ['X-Cache: Error from cloudfront']],
  ...bodiesOf('cloudfront-block', 403, 'Generated by cloudfront (CloudFront)'),
  ...fieldsOf('cloudfront-present', 'X-Amz-Cf-Id: 1'),
  ...bodiesOf(
    'kasada-block',
    429,
    'KPSDK.scriptStart = KPSDK.now();',
    '<script>window.KPSDK={}</script><script src="/x/ips.js">',
  ),
  ['kasada-block', 429, ['X-Kpsdk-Ct: 1']],
  ...fieldsOf('kasada-present', 'X-Kpsdk-Ct: 1', 'X-Kpsdk-Cd: 1', 'X-Kpsdk-V: 1', 'X-Kpsdk-R: 1'),
  ...cookiesOf('kasada-present', 'KP_UIDz'),
  ...bodiesOf(
    'f5-block',
    200,
    'The requested URL was rejected. Please consult with your administrator.',
    '<script src="/TSPD/08x">',
  ),
  ...fieldsOf('f5-present', 'X-Cnection: close', 'Server: BigIP'),
  ...cookiesOf('f5-present', 'TS01a2b3', 'TS01a2b3c4', 'TSPD_101', 'TSPD_101_DID', 'BIGipServerpool_web'),
  ...cookiesOf('f5-present', 'MRHSession', 'LastMRH_Session', 'F5_ST', 'F5_fullWT'),
  ...fieldsOf('f5-xc-present', 'Server: volt-adc', 'X-Volterra-Location: 1'),
  ['sucuri-block', 403, ['X-Sucuri-Block: 1']],
  ...bodiesOf(
    'sucuri-block',
    403,
    'Sucuri WebSite Firewall - Access Denied',
    'sucuri-firewall-block.css',
    'cloudproxy@sucuri.net',
  ),
  ...fieldsOf('sucuri-present', 'X-Sucuri-ID: 1', 'X-Sucuri-Cache: HIT', 'Server: Sucuri/Cloudproxy'),
  ...bodiesOf(
    'reblaze-block',
    403,
    'Current session has been terminated. Do not hesitate to contact us. Access denied (403)',
  ),
  ...fieldsOf('reblaze-present', 'Server: Reblaze Secure Web Gateway'),
  ...cookiesOf('reblaze-present', 'rbzid'),
  ...bodiesOf('radware-block', 403, '<title>Unauthorized Request Blocked</title>', 'CloudWebSec.radware.com'),
  ...fieldsOf('radware-present', 'X-SL-CompState: Uncompressed'),
  ...fieldsOf('ddos-guard-present', 'Server: ddos-guard'),
  ...fieldsOf('qrator-present', 'Server: QRATOR'),
  ...fieldsOf('vercel-present', 'X-Vercel-Id: 1'),
  ...fieldsOf('fastly-present', 'X-Fastly-Request-ID: 1'),
  ...cookiesOf('anubis-present', 'techaro.lol-anubis-auth', 'techaro.lol-anubis-cookie-verification'),
  ['google-block', 302, ['Location: https://www.google.com/sorry/index?continue=x']],
  ['perfdrive-block', 302, ['Location: https://validate.perfdrive.com/x']],
  ['captcha-redirect', 302, ['Location: /captcha?x']],
  ...['class="g-recaptcha"', 'class="h-captcha"', 'arkoselabs.com', 'geetest.com', 'frc-captcha'].flatMap(
    (widget) => [
      ...bodiesOf('captcha-page', 403, `<div ${widget}>`),
      ...bodiesOf('captcha-widget-present', 200, `<form><input type="password"><div ${widget}></form>`),
    ],
  ),
  ...bodiesOf('captcha-widget-present', 200, '<div class="cf-turnstile">'),
  ...bodiesOf('vendor-unknown-block', 200, 'Pardon Our Interruption'),
  ...bodiesOf('network-block', 403, `${'x'.repeat(120_000)} blocked by network security`),
];

describe('every marker of a vendor', () => {
  it('is known by the rule of that vendor', async () => {
    const missed: string[] = [];
    for (const [rule, status, fields, body = ''] of markers) {
      const head = ['HTTP/1.1 ' + String(status) + ' X', 'Content-Type: text/html', ...fields];
      const bytes = Buffer.from(`${head.join('\r\n')}\r\n\r\n<html>${body}</html>`);
      const { matches } = await lab.try({ name: rule, bytes }, 'shop.example');
      if (!matches.some((match) => match.rule === rule))
        missed.push(`${rule}: ${fields.join()}${body.slice(-80)}`);
    }
    expect(missed).toEqual([]);
  });

  it('covers every shipped rule', () => {
    const named = new Set(markers.map(([rule]) => rule));
    expect(fingerprints.map(({ name }) => name).filter((name) => !named.has(name))).toEqual([]);
  });
});
