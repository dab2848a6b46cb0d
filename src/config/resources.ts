/**
 * What a configuration points to: secrets in variables and files, lists of upstreams, certificates.
 * Everything is looked up once; checking and building use the same answers.
 */
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import tls from 'node:tls';
import { Secret } from '../core/secret.js';
import { checkAlerts } from './alerts.js';
import { parseTemplate } from '../upstreams/template.js';
import { parseUpstreamUrl, type UpstreamOptions } from '../upstreams/upstream.js';
import type { Tree } from './document.js';
import type { Finding, Path } from './problems.js';
import { listOf, mapOf, textOf } from './reading.js';
import { fileTrouble, resolveSecret } from './secrets.js';
import type { Resolved, SecretSources } from './secrets.js';
import { checkState } from './state.js';
import { checkStorage } from './storage.js';
import { loginToCome } from './vault-login.js';
import { checkVault } from './vault.js';

/** Look-ups with a memory. */
export interface Resources {
  secret(reference: string): Resolved;
  /** Absolute path of a file named in the configuration. */
  path(file: string): string;
  /** What is wrong with a list of upstreams, or null. */
  listTrouble(file: string): string | null;
  /** PEM text of a certificate file, or what is wrong with it. */
  certificate(file: string): { readonly pem: string } | { readonly trouble: string };
  /** PEM texts of a certificate and the key that belongs to it, or what is wrong with which of them. */
  keyPair(files: KeyFiles): KeyPair | KeyTrouble;
}

interface KeyFiles {
  readonly cert: string;
  readonly key: string;
}

interface KeyPair {
  readonly cert: string;
  readonly key: Secret;
}

interface KeyTrouble {
  readonly at: 'cert' | 'key';
  readonly trouble: string;
}

/** Makes look-ups for one load. */
export function createResources(sources: SecretSources): Resources {
  const secrets = new Map<string, Resolved>();
  const path = (file: string): string => resolve(sources.folder, file);
  return {
    path,
    secret(reference) {
      const known = secrets.get(reference) ?? resolveSecret(reference, sources);
      secrets.set(reference, known);
      return known;
    },
    listTrouble(file) {
      try {
        if (statSync(path(file)).isDirectory()) return `the file ${path(file)} is a folder`;
        accessSync(path(file), constants.R_OK);
        return null;
      } catch (error) {
        return `the file ${path(file)} ${fileTrouble(error)}`;
      }
    },
    certificate: (file) => certificateIn(path(file)),
    keyPair: ({ cert, key }) => keyPairIn(path(cert), path(key)),
  };
}

function certificateIn(path: string): { readonly pem: string } | { readonly trouble: string } {
  try {
    const pem = readFileSync(path, 'utf8');
    return pem.includes('-----BEGIN CERTIFICATE-----')
      ? { pem }
      : { trouble: `the file ${path} holds no certificate in PEM form` };
  } catch (error) {
    return { trouble: `the file ${path} ${fileTrouble(error)}` };
  }
}

function keyPairIn(certPath: string, keyPath: string): KeyPair | KeyTrouble {
  const certificate = certificateIn(certPath);
  if ('trouble' in certificate) return { at: 'cert', ...certificate };
  let key: string;
  try {
    key = readFileSync(keyPath, 'utf8');
  } catch (error) {
    return { at: 'key', trouble: `the file ${keyPath} ${fileTrouble(error)}` };
  }
  try {
    tls.createSecureContext({ cert: certificate.pem, key });
    return { cert: certificate.pem, key: new Secret(key) };
  } catch {
    return { at: 'key', trouble: `the file ${keyPath} holds no key that belongs to the certificate` };
  }
}

/** What is wrong, and what is only unwise. */
export interface Findings {
  readonly problems: Finding[];
  readonly warnings: Finding[];
}

const OPEN_LIST =
  'with a credential a list comes by https:// only: whoever changes it on the way would be sent the login';

const literalPassword =
  'a password stands in the configuration; give it as env:NAME or file:path, so that the file may be read by others';

function checkPassword(reference: string, path: Path, { resources, found }: Check): void {
  const resolved = resources.secret(reference);
  if (resolved.kind === 'problem') found.problems.push({ path, message: resolved.message });
  else if (resolved.literal) found.warnings.push({ path, message: literalPassword });
}

interface Check {
  readonly resources: Resources;
  readonly found: Findings;
}

/** The vault is not asked: whether the login is there, a gateway that runs tells. */
function loginOf(entry: Readonly<Record<string, unknown>>): UpstreamOptions {
  const credential = textOf(entry['credential']);
  return credential === null ? {} : { login: loginToCome(credential) };
}

function checkUrl(
  reference: string,
  at: { readonly path: Path; readonly options: UpstreamOptions },
  { resources, found }: Check,
): void {
  const { path, options } = at;
  const resolved = resources.secret(reference);
  if (resolved.kind === 'problem') {
    found.problems.push({ path, message: resolved.message });
    return;
  }
  const url = resolved.secret.reveal();
  const parsed = parseUpstreamUrl(url, options);
  if (parsed.kind === 'bad') found.problems.push({ path, message: parsed.reason });
  else if (
    resolved.literal &&
    options.login === undefined &&
    parsed.upstream.login !== null &&
    parsed.upstream.login.password.reveal() !== ''
  ) {
    found.warnings.push({ path, message: literalPassword });
  }
}

function checkTemplate(
  reference: string,
  at: { readonly path: Path; readonly options: UpstreamOptions },
  { resources, found }: Check,
): void {
  const { path, options } = at;
  const resolved = resources.secret(reference);
  if (resolved.kind === 'problem') {
    found.problems.push({ path, message: resolved.message });
    return;
  }
  const parsed = parseTemplate(resolved.secret.reveal(), options);
  if (parsed.kind === 'bad') found.problems.push({ path, message: parsed.reason });
  else if (
    resolved.literal &&
    options.login === undefined &&
    parsed.template.base.login?.password.reveal() !== ''
  ) {
    found.warnings.push({ path, message: literalPassword });
  }
}

function checkList(
  reference: string,
  at: { readonly path: Path; readonly options: UpstreamOptions },
  { resources, found }: Check,
): void {
  const { path, options } = at;
  const resolved = resources.secret(reference);
  if (resolved.kind === 'problem') {
    found.problems.push({ path, message: resolved.message });
    return;
  }
  const text = resolved.secret.reveal();
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    found.problems.push({ path, message: 'the URL of a list begins with http:// or https://' });
  } else if (options.login !== undefined && new URL(text).protocol === 'http:') {
    found.problems.push({ path, message: OPEN_LIST });
  } else if (resolved.literal && new URL(text).password !== '') {
    found.warnings.push({ path, message: literalPassword });
  }
}

function checkUpstream(entry: Readonly<Record<string, unknown>>, path: Path, check: Check): void {
  const options = loginOf(entry);
  const url = textOf(entry['url']);
  if (url !== null && url !== '') checkUrl(url, { path: [...path, 'url'], options }, check);
  const list = textOf(entry['list']);
  if (list !== null && list !== '') checkList(list, { path: [...path, 'list'], options }, check);
  const template = textOf(entry['template']);
  if (template !== null && template !== '')
    checkTemplate(template, { path: [...path, 'template'], options }, check);
  const file = textOf(entry['file']);
  const trouble = file === null || file === '' ? null : check.resources.listTrouble(file);
  if (trouble !== null) check.found.problems.push({ path: [...path, 'file'], message: trouble });
  const tls = mapOf(entry['tls']);
  const ca = textOf(tls['ca']);
  const certificate = ca === null ? null : check.resources.certificate(ca);
  if (certificate !== null && 'trouble' in certificate) {
    check.found.problems.push({ path: [...path, 'tls', 'ca'], message: certificate.trouble });
  }
  if (tls['verify'] === false) {
    const message = 'the certificate of this upstream is not checked: anyone on the way can read its login';
    check.found.warnings.push({ path: [...path, 'tls', 'verify'], message });
  }
}

function checkKeyPair(files: Readonly<Record<string, unknown>>, path: Path, check: Check): void {
  const [cert, key] = [textOf(files['cert']), textOf(files['key'])];
  if (cert === null || key === null) return;
  const pair = check.resources.keyPair({ cert, key });
  if ('trouble' in pair) check.found.problems.push({ path: [...path, pair.at], message: pair.trouble });
}

/** Shorter ones can be guessed. */
const leastTokenLength = 16;

function checkToken(reference: string, path: Path, check: Check): void {
  checkPassword(reference, path, check);
  const resolved = check.resources.secret(reference);
  if (resolved.kind === 'secret' && resolved.secret.reveal().length < leastTokenLength) {
    check.found.problems.push({ path, message: `needs at least ${leastTokenLength} characters` });
  }
}

function checkAdmin(admin: Readonly<Record<string, unknown>>, check: Check): void {
  listOf(admin['tokens']).forEach((entry, index) => {
    const reference = textOf(mapOf(entry)['token']);
    const path = ['admin', 'tokens', index, 'token'];
    if (reference === null || reference === '') return;
    checkToken(reference, path, check);
  });
  checkKeyPair(mapOf(admin['tls']), ['admin', 'tls'], check);
}

/** Looks up everything that a tree points to. */
export function checkResources(tree: Tree, resources: Resources): Findings {
  const check: Check = { resources, found: { problems: [], warnings: [] } };
  listOf(tree['clients']).forEach((client, index) => {
    const password = textOf(mapOf(client)['password']);
    if (password !== null && password !== '') checkPassword(password, ['clients', index, 'password'], check);
  });
  const key = textOf(mapOf(tree['feedback'])['key']);
  if (key !== null && key !== '') checkToken(key, ['feedback', 'key'], check);
  const { proxy } = mapOf(tree['listen']);
  listOf(proxy).forEach((entry, index) => {
    const path = Array.isArray(proxy) ? ['listen', 'proxy', index] : ['listen', 'proxy'];
    checkKeyPair(mapOf(mapOf(entry)['tls']), [...path, 'tls'], check);
  });
  for (const [name, pool] of Object.entries(mapOf(tree['pools']))) {
    listOf(mapOf(pool)['upstreams']).forEach((entry, index) => {
      checkUpstream(mapOf(entry), ['pools', name, 'upstreams', index], check);
    });
  }
  checkAdmin(mapOf(tree['admin']), check);
  check.found.problems.push(...checkState(mapOf(tree['state']), resources));
  check.found.problems.push(...checkStorage(mapOf(tree['storage']), resources));
  check.found.problems.push(...checkAlerts(mapOf(tree['alerts']), resources));
  const vault = checkVault(mapOf(tree['vault']), resources);
  check.found.problems.push(...vault.problems);
  check.found.warnings.push(...vault.warnings);
  return check.found;
}
