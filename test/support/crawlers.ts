/**
 * Programs that crawl, none of them ours: curl, Python requests, wget, undici and headless Chromium. Each fetches pages
 * one after the other through a proxy and tells what it got, so that one table of tests serves all of them.
 */
import { execFile } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { promisify } from 'node:util';
import { chromium, type Browser } from 'playwright-core';
import { ProxyAgent, request } from 'undici';
import type { TestCertificate } from './real-origins.js';

const run = promisify(execFile);

/** A login at the proxy. */
export interface Login {
  readonly username: string;
  readonly password: string;
}

/** What to fetch, and how. */
export interface Crawl {
  /** `http://127.0.0.1:port`. */
  readonly proxy: string;
  readonly login: Login | null;
  /** Sent as X-Session-Id, on CONNECT too; only where {@link Crawler.sendsHeaders} holds for the scheme. */
  readonly session?: string;
  readonly urls: readonly string[];
  readonly certificate: TestCertificate;
}

/** A page as the program saw it. */
export interface Page {
  readonly status: number;
  readonly body: string;
}

/** One program. */
export interface Crawler {
  readonly name: string;
  /** Whether it can send a header of ours to the proxy for targets of this scheme. */
  readonly sendsHeaders: (scheme: 'http' | 'https') => boolean;
  /** Fetches all pages, in order. Rejects when the proxy refuses a tunnel or the login. */
  fetch(crawl: Crawl): Promise<Page[]>;
}

/** None of the machine's own proxy settings. */
const cleanEnv = { PATH: process.env['PATH'], HOME: process.env['HOME'] };

function pageOf(output: string): Page {
  const at = output.lastIndexOf('\n');
  return { status: Number(output.slice(at + 1)), body: output.slice(0, at) };
}

async function curlOnce(crawl: Crawl, url: string, more: readonly string[]): Promise<Page> {
  const args = ['-sS', '--max-time', '20', '--noproxy', '', '-x', crawl.proxy, '-w', '\n%{http_code}'];
  args.push('--cacert', crawl.certificate.caPath, ...more);
  if (crawl.login !== null) args.push('--proxy-user', `${crawl.login.username}:${crawl.login.password}`);
  if (crawl.session !== undefined) {
    args.push(url.startsWith('https') ? '--proxy-header' : '-H', `X-Session-Id: ${crawl.session}`);
  }
  return pageOf((await run('curl', [...args, url], { env: cleanEnv })).stdout);
}

function curlWith(name: string, more: readonly string[]): Crawler {
  return {
    name,
    sendsHeaders: () => true,
    fetch: async (crawl) => {
      const pages: Page[] = [];
      for (const url of crawl.urls) pages.push(await curlOnce(crawl, url, more));
      return pages;
    },
  };
}

/** Reads a {@link Crawl} from its argument; a session header goes on CONNECT by an adapter, as users do it. */
const pythonScript = `
import json, sys, requests
from requests.adapters import HTTPAdapter
ask = json.loads(sys.argv[1])
class Adapter(HTTPAdapter):
    def proxy_headers(self, proxy):
        headers = super().proxy_headers(proxy)
        if ask['session']:
            headers['X-Session-Id'] = ask['session']
        return headers
pages = []
for url in ask['urls']:
    session = requests.Session()
    session.trust_env = False
    session.mount('https://', Adapter())
    headers = {'X-Session-Id': ask['session']} if ask['session'] and url.startswith('http:') else {}
    answer = session.get(url, proxies={'http': ask['proxy'], 'https': ask['proxy']}, verify=ask['ca'], timeout=20, headers=headers)
    pages.append({'status': answer.status_code, 'body': answer.text})
print(json.dumps(pages))
`;

function proxyWithLogin(crawl: Crawl): string {
  if (crawl.login === null) return crawl.proxy;
  const { username, password } = crawl.login;
  const login = `${encodeURIComponent(username)}:${encodeURIComponent(password)}`;
  return crawl.proxy.replace('//', `//${login}@`);
}

const requests: Crawler = {
  name: 'requests',
  sendsHeaders: () => true,
  fetch: async (crawl) => {
    const ask = { urls: crawl.urls, session: crawl.session ?? '', ca: crawl.certificate.caPath };
    const argument = JSON.stringify({ ...ask, proxy: proxyWithLogin(crawl) });
    const { stdout } = await run('/usr/bin/python3', ['-c', pythonScript, argument], { env: cleanEnv });
    return JSON.parse(stdout) as Page[];
  },
};

async function wgetOnce(crawl: Crawl, url: string): Promise<Page> {
  const settings = [`http_proxy=${crawl.proxy}`, `https_proxy=${crawl.proxy}`, 'use_proxy=on', 'no_proxy='];
  const args = [
    '--no-config',
    '-q',
    '-t',
    '1',
    '-T',
    '20',
    '-O',
    '-',
    '--ca-certificate',
    crawl.certificate.caPath,
  ];
  for (const setting of settings) args.push('-e', setting);
  if (crawl.login !== null) {
    args.push(`--proxy-user=${crawl.login.username}`, `--proxy-password=${crawl.login.password}`);
  }
  if (crawl.session !== undefined) args.push('--header', `X-Session-Id: ${crawl.session}`);
  // It ends with an error for any other status.
  return { status: 200, body: (await run('wget', [...args, url], { env: cleanEnv })).stdout };
}

const wget: Crawler = {
  name: 'wget',
  sendsHeaders: (scheme) => scheme === 'http',
  fetch: async (crawl) => {
    const pages: Page[] = [];
    for (const url of crawl.urls) pages.push(await wgetOnce(crawl, url));
    return pages;
  },
};

const undici: Crawler = {
  name: 'undici',
  sendsHeaders: () => true,
  fetch: async (crawl) => {
    const { login, session, certificate } = crawl;
    const isTls = crawl.urls[0]?.startsWith('https') === true;
    const headers = session === undefined ? {} : { 'x-session-id': session };
    const dispatcher = new ProxyAgent({
      uri: crawl.proxy,
      proxyTunnel: isTls,
      requestTls: { ca: certificate.ca },
      ...(login === null ? {} : { token: basicOf(login) }),
      ...(isTls ? { headers } : {}),
    });
    try {
      const pages: Page[] = [];
      for (const url of crawl.urls) {
        const answer = await request(url, { dispatcher, ...(isTls ? {} : { headers }) });
        pages.push({ status: answer.statusCode, body: await answer.body.text() });
      }
      return pages;
    } finally {
      await dispatcher.close();
    }
  },
};

/** The value of Proxy-Authorization. */
export function basicOf(login: Login): string {
  return `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}`;
}

/** Chromium has no flag for a CA file, but one for the key of a certificate. */
function keyHashOf(certificate: TestCertificate): string {
  const key = new X509Certificate(certificate.cert).publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(key).digest('base64');
}

const quietFlags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--proxy-bypass-list=<-loopback>',
];

/** One browser for each certificate; each crawl gets a context, which shares neither cookies, logins nor connections. */
const browsers = new Map<string, Promise<Browser>>();

export function browserFor(certificate: TestCertificate): Promise<Browser> {
  const keyHash = keyHashOf(certificate);
  const running = browsers.get(keyHash);
  if (running !== undefined) return running;
  const browser = chromium.launch({
    executablePath: '/usr/bin/chromium',
    headless: true,
    args: [...quietFlags, `--ignore-certificate-errors-spki-list=${keyHash}`],
  });
  browsers.set(keyHash, browser);
  return browser;
}

/** Ends the browsers that were started; call it when the tests of a file are over. */
export async function closeBrowsers(): Promise<void> {
  await Promise.all([...browsers.values()].map(async (browser) => (await browser).close()));
  browsers.clear();
}

const headlessChromium: Crawler = {
  name: 'chromium',
  sendsHeaders: (scheme) => scheme === 'http',
  fetch: async (crawl) => {
    const browser = await browserFor(crawl.certificate);
    const context = await browser.newContext({
      proxy: { server: crawl.proxy, ...(crawl.login ?? {}) },
      ...(crawl.session === undefined ? {} : { extraHTTPHeaders: { 'X-Session-Id': crawl.session } }),
    });
    try {
      const page = await context.newPage();
      // Opened once, for its origin: each page of its own would bring requests for icons between.
      const first = await page.goto(new URL('/', crawl.urls[0]).href);
      if (first?.status() !== 200) return [{ status: first?.status() ?? 0, body: '' }];
      const pages: Page[] = [];
      for (const url of crawl.urls) pages.push(await page.evaluate(fetchInPage, url));
      return pages;
    } finally {
      await context.close();
    }
  },
};

/** Runs in the browser. */
async function fetchInPage(url: string): Promise<Page> {
  const answer = await fetch(url);
  return { status: answer.status, body: await answer.text() };
}

/** All of them. */
export const crawlers: readonly Crawler[] = [curlWith('curl', []), requests, wget, undici, headlessChromium];

/** curl that logs in only after a challenge. */
export const curlOnChallenge = curlWith('curl --proxy-anyauth', ['--proxy-anyauth']);
