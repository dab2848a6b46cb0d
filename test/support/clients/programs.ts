/**
 * curl, wget and wget2. Their settings are one line of docs/clients.md each, in which the words in braces are
 * replaced; without a login the words that speak of it are left out.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { STATUS_CODES } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eachInTurn, told, type Ask, type Tell, type Told } from './ask.js';

/** How each is told of the proxy. */
export const programSettings = {
  curl: 'curl --proxy {proxy} --proxy-user {user}:{password}',
  wget: 'wget -e use_proxy=on -e http_proxy={proxy} -e https_proxy={proxy} --proxy-user={user} --proxy-password={password}',
  wget2:
    'wget2 --http-proxy={proxy} --https-proxy={proxy} --http-proxy-user={user} --http-proxy-password={password}',
};

/** None of the machine's own proxy settings. */
export const cleanEnv = { PATH: process.env['PATH'], HOME: process.env['HOME'], LC_ALL: 'C.UTF-8' };

/** The words of a setting for this ask: the program and its arguments. */
function wordsFor(setting: string, { proxy, login }: Ask): string[] {
  const words = setting.split(' ');
  const isAboutLogin = (word: string | undefined) => word?.includes('{user}') || word?.includes('{password}');
  const kept = words.filter(
    (word, at) =>
      login !== null || !(isAboutLogin(word) || (word.startsWith('-') && isAboutLogin(words[at + 1]))),
  );
  return kept.map((word) =>
    word
      .replaceAll('{proxy}', proxy)
      .replaceAll('{user}', login?.username ?? '')
      .replaceAll('{password}', login?.password ?? ''),
  );
}

interface Ran {
  readonly stdout: string;
  readonly stderr: string;
  readonly hasFailed: boolean;
  /** What it saved. */
  readonly body: Buffer;
}

/** Runs the program once with a file to save into, whose path is the last of the arguments. */
async function run(setting: string, ask: Ask, more: readonly string[]): Promise<Ran> {
  const folder = await mkdtemp(join(tmpdir(), 'turnpike-client-'));
  const saved = join(folder, 'body');
  const [program = '', ...args] = [...wordsFor(setting, ask), ask.url, ...more, saved];
  try {
    const ran = await new Promise<Omit<Ran, 'body'>>((resolve) => {
      execFile(program, args, { env: cleanEnv, cwd: folder }, (error, stdout, stderr) => {
        resolve({ stdout, stderr, hasFailed: error !== null });
      });
    });
    return { ...ran, body: await readFile(saved).catch(() => Buffer.alloc(0)) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function tellCurl(ask: Ask): Promise<Told> {
  const more = ['-sSL', '--max-time', '30', '--noproxy', '', '--cacert', ask.certificate.caPath];
  if (ask.upload !== null) more.push('--data-binary', `@${ask.upload}`);
  const ran = await run(programSettings.curl, ask, [...more, '-w', '%{http_code} %{http_connect}', '-o']);
  const [status = 0, ofConnect = 0] = ran.stdout.split(' ').map(Number);
  return told(status || ofConnect || null, ran.body, ran.hasFailed ? ran.stderr : null);
}

/** wget says of a refused tunnel only the words of its status. */
function statusByWords(text: string): number | null {
  const words = /[Pp]roxy tunneling failed: ([A-Za-z ]+?)(?=Unable|\n|$)/.exec(text)?.[1];
  const found = Object.entries(STATUS_CODES).find(([, phrase]) => phrase === words);
  return found === undefined ? null : Number(found[0]);
}

/** The last status line among what `-S` prints. */
function lastStatus(text: string): number | null {
  const lines = [...text.matchAll(/HTTP\/1\.[01] (\d{3})/g)];
  const last = lines.at(-1)?.[1];
  return last === undefined ? null : Number(last);
}

/** What both wgets are told beside the proxy. */
function wgetArgs(ask: Ask): string[] {
  const args = [
    ...['--no-config', '-S', '--tries=1', '--timeout=30'],
    `--ca-certificate=${ask.certificate.caPath}`,
  ];
  if (ask.upload !== null) args.push(`--post-file=${ask.upload}`);
  return [...args, '-O'];
}

async function tellWget(ask: Ask): Promise<Told> {
  const ran = await run(programSettings.wget, ask, ['--content-on-error', ...wgetArgs(ask)]);
  const status = statusByWords(ran.stderr) ?? lastStatus(ran.stderr);
  return told(status, ran.body, ran.hasFailed ? ran.stderr : null);
}

async function tellWget2(ask: Ask): Promise<Told> {
  const ran = await run(programSettings.wget2, ask, wgetArgs(ask));
  const said = ran.stdout + ran.stderr;
  return told(lastStatus(said), ran.body, ran.hasFailed ? said : null);
}

/** One process for each ask. */
export const programs = {
  curl: eachInTurn(tellCurl),
  wget: eachInTurn(tellWget),
  wget2: eachInTurn(tellWget2),
} satisfies Record<string, Tell>;
