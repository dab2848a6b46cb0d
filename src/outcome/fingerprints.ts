/**
 * What the pages of well-known defences look like, as rules in the syntax of the configuration. `blocked` means refused
 * or challenged; `present` only shows that the vendor is in front, and is counted and never held against an exit.
 * Texts that ordinary pages have too, such as captcha widgets in a login form, count on short pages only.
 */
import type { Conditions, RuleSpec } from './rule.js';

type When = Conditions | readonly Conditions[];

const isList = (when: When): when is readonly Conditions[] => Array.isArray(when);

function rule(name: string, when: When, then: RuleSpec['then']): RuleSpec {
  const shadow = then.length === 0;
  return { name, site: [], when: isList(when) ? when : [when], then, scope: 'exit_site', shadow };
}

const blocked = (name: string, when: When): RuleSpec => rule(name, when, ['ban', 'retry']);
const present = (name: string, when: When): RuleSpec => rule(name, when, []);

const header = (name: string, ...contains: readonly string[]): Conditions => ({
  header: [contains.length === 0 ? { name } : { name, contains }],
});
const cookie = (...names: readonly string[]): Conditions =>
  header('set-cookie', ...names.map((name) => (name.endsWith('*') ? name.slice(0, -1) : `${name}=`)));
const body = (...contains: readonly string[]): Conditions => ({ body: { contains } });
const all = (...contains_all: readonly string[]): Conditions => ({ body: { contains_all } });

/** Pages of a vendor's refusal are short; pages of sites that use its widgets seldom are. */
const SHORT = 10_000;
const short = (when: Conditions): Conditions => ({ ...when, size_below: SHORT });
const statuses = (...all: readonly number[]): Pick<Conditions, 'status'> => ({
  status: all.map((status) => ({ from: status, to: status })),
});
const refused = statuses(403, 429, 503);
const when = (conditions: Conditions, ...all: readonly number[]): Conditions => ({
  ...conditions,
  ...statuses(...all),
});

const ok = statuses(200);

const captchaWidgets = [
  'class="g-recaptcha"',
  'class="h-captcha"',
  'arkoselabs.com',
  'geetest.com',
  'frc-captcha',
];
const formInputs = [
  'type="password"',
  "type='password'",
  'type=password',
  'type="email"',
  'type="tel"',
  '<textarea',
];

/** All shipped rules, in the order in which they are asked. */
export const fingerprints: readonly RuleSpec[] = [
  blocked('cloudflare-challenge', [
    header('cf-mitigated', 'challenge'),
    body(
      '/cdn-cgi/challenge-platform/h/b/orchestrate',
      '/cdn-cgi/challenge-platform/h/g/orchestrate',
      '__cf_chl_f_tk=',
    ),
    short(body('<title>Just a moment', 'Checking your browser')),
  ]),
  blocked('cloudflare-block', [
    body(...['1020', '1010', '1012', '1015'].map((code) => `<span class="cf-error-code">${code}`)),
    short(body('<title>Attention Required!')),
  ]),
  present('cloudflare-present', [
    header('cf-ray'),
    header('server', 'cloudflare'),
    header('cf-cache-status'),
    cookie('__cf_bm', 'cf_clearance', '__cfduid'),
  ]),
  blocked('datadome-block', body('captcha-delivery.com', 'interstitial.datadome')),
  present('datadome-present', [
    header('x-datadome'),
    header('x-datadome-cid'),
    header('server', 'datadome'),
    cookie('datadome'),
    body('ct.datadome.co', 'js.datadome.co'),
  ]),
  blocked('perimeterx-block', [
    body('captcha.px-cdn.net', 'id="px-captcha"', 'perimeterx.com/whywasiblocked'),
    body('believe you are using automation tools'),
    short(
      body(
        'window._pxAppId =',
        'Access to this page has been denied',
        'Access to this page has been blocked',
      ),
    ),
  ]),
  present('perimeterx-present', [
    cookie('_px3', '_pxhd', '_pxvid', '_pxff_cc'),
    body('client.perimeterx.net', 'client.a.pxi.pub'),
  ]),
  blocked('akamai-block', [
    {
      body: {
        matches:
          '(?:Reference|reference)(?:&#32;| )(?:&#35;|#)18(?:&#46;|\\.)[0-9a-f]+(?:&#46;|\\.)[0-9]+(?:&#46;|\\.)[0-9a-f]+',
        contains: ['Reference&#32;&#35;18', 'Reference #18.'],
      },
    },
    body('errors.edgesuite.net', 'sec-if-cpt-container', 'sec-cpt-if'),
    short(body('Powered and protected by')),
  ]),
  present('akamai-present', [
    header('server', 'akamaighost'),
    header('x-akamai-transformed'),
    cookie('ak_bmsc', 'bm_sv', 'bm_sz', '_abck'),
  ]),
  blocked('imperva-block', [
    body('Incapsula incident ID', 'powered by incapsula', 'subject=WAF Block Page'),
    short(body('Request unsuccessful', '_Incapsula_Resource')),
  ]),
  present('imperva-present', [
    header('x-iinfo'),
    header('x-cdn', 'incapsula', 'imperva'),
    cookie('visid_incap_*', 'incap_ses_*'),
  ]),
  blocked('distil-block', [
    body('distilCaptchaForm', 'distilCallbackGuard', 'anomaly.detected.png'),
    { redirect: { contains: ['/distil_r_captcha'] } },
  ]),
  present('distil-present', header('x-distil-cs')),
  blocked('aws-waf-block', [
    header('x-amzn-waf-action', 'challenge', 'captcha'),
    header('x-blocked-by-waf'),
    short(body('captcha.awswaf.com')),
  ]),
  present('aws-waf-present', [cookie('aws-waf-token'), cookie('AWSALB')]),
  blocked('cloudfront-block', [
    when(header('x-cache', 'error from cloudfront'), 403),
    when(body('Generated by cloudfront (CloudFront)'), 403),
  ]),
  present('cloudfront-present', header('x-amz-cf-id')),
  blocked('kasada-block', [
    body('KPSDK.scriptStart = KPSDK.now()', 'KPSDK.scriptStart=KPSDK.now()'),
    short(all('KPSDK', 'ips.js')),
    when(header('x-kpsdk-ct'), 429, 403),
  ]),
  present('kasada-present', [
    header('x-kpsdk-ct'),
    header('x-kpsdk-cd'),
    header('x-kpsdk-v'),
    header('x-kpsdk-r'),
    cookie('KP_UIDz'),
  ]),
  blocked('f5-block', [
    all('requested URL was rejected', 'consult with your administrator'),
    short(body('/TSPD/')),
  ]),
  present('f5-present', [
    header('x-cnection', 'close'),
    header('server', 'bigip', 'big-ip'),
    { header: [{ name: 'set-cookie', contains: ['ts'], matches: '^TS[0-9a-f]{6,8}=' }] },
    cookie('TSPD_101*', 'BIGipServer*', 'MRHSession', 'LastMRH_Session', 'F5_ST', 'F5_fullWT'),
  ]),
  present('f5-xc-present', [header('server', 'volt-adc'), header('x-volterra-location')]),
  blocked('sucuri-block', [
    header('x-sucuri-block'),
    all('Sucuri WebSite Firewall', 'Access Denied'),
    body('sucuri-firewall-block.css', 'cloudproxy@sucuri.net'),
  ]),
  present('sucuri-present', [header('x-sucuri-id'), header('x-sucuri-cache'), header('server', 'sucuri')]),
  blocked(
    'reblaze-block',
    all('current session has been terminated', 'do not hesitate to contact us', 'access denied ('),
  ),
  present('reblaze-present', [header('server', 'reblaze secure web gateway'), cookie('rbzid')]),
  blocked('radware-block', body('<title>Unauthorized Request Blocked', 'CloudWebSec.radware.com')),
  present('radware-present', header('x-sl-compstate')),
  present('ddos-guard-present', header('server', 'ddos-guard')),
  present('qrator-present', header('server', 'qrator')),
  present('vercel-present', header('x-vercel-id')),
  present('fastly-present', header('x-fastly-request-id')),
  present('anubis-present', cookie('techaro.lol-anubis-auth', 'techaro.lol-anubis-cookie-verification')),
  blocked('google-block', [
    { redirect: { contains: ['/sorry/'] } },
    all('id="infoDiv0"', '//www.google.com/policies/terms/'),
  ]),
  blocked('perfdrive-block', { redirect: { host: ['validate.perfdrive.com'] } }),
  blocked('captcha-redirect', { redirect: { contains: ['/captcha', 'captcha.html', 'captcha?'] } }),
  // A form to log in, to sign up or to write has a widget too; a page with nothing but the widget is a challenge.
  blocked('captcha-page', [
    { ...short(body(...captchaWidgets)), ...refused },
    { ...short(body(...captchaWidgets)), ...ok, missing: { text: formInputs } },
  ]),
  present('captcha-widget-present', body(...captchaWidgets, 'cf-turnstile')),
  // Distil, Akamai and PerimeterX are all said to write the first; Akamai and others write the second.
  blocked('vendor-unknown-block', [
    body('Pardon Our Interruption'),
    when(short(body('<title>Access Denied')), 403),
  ]),
  blocked('network-block', {
    ...refused,
    body: { contains: ['blocked by network security'], within: 256 * 1024 },
  }),
];
