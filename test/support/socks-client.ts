/** A SOCKS5 client that speaks bytes: says what a test wants, keeps every reply. */
import { RawClient } from './raw-client.js';

/** What to ask for; a host of four numbers or with a colon is sent as an address. */
export interface SocksAsk {
  readonly host?: string;
  readonly port?: number;
  readonly login?: { readonly username: string; readonly password: string };
  /** 1 for CONNECT. */
  readonly command?: number;
  /** Sent in the same segment as the request. */
  readonly early?: string;
}

/** What came back; null for a step that was not reached. */
export interface SocksAnswer {
  readonly client: RawClient;
  readonly method: number;
  readonly loginStatus: number | null;
  readonly reply: number | null;
}

const IPV6 = /:/;
const IPV4 = /^\d+\.\d+\.\d+\.\d+$/;

/** Asks through a connection of its own, one step after the other. */
export async function askSocks(port: number, ask: SocksAsk = {}): Promise<SocksAnswer> {
  return askSocksOn(await RawClient.connect(port), ask);
}

/** The same on a connection that stands. */
export async function askSocksOn(client: RawClient, ask: SocksAsk = {}): Promise<SocksAnswer> {
  client.write(Buffer.of(5, 1, ask.login === undefined ? 0 : 2));
  const method = (await takeBytes(client, 2))[1] ?? 0;
  if (method === 255) return { client, method, loginStatus: null, reply: null };
  let loginStatus: number | null = null;
  if (ask.login !== undefined) {
    client.write(loginBytes(ask.login));
    loginStatus = (await takeBytes(client, 2))[1] ?? 0;
    if (loginStatus !== 0) return { client, method, loginStatus, reply: null };
  }
  client.write(Buffer.concat([requestBytes(ask), Buffer.from(ask.early ?? '', 'latin1')]));
  return { client, method, loginStatus, reply: (await takeBytes(client, 10))[1] ?? 0 };
}

/** Takes exactly so many bytes away. */
async function takeBytes(client: RawClient, count: number): Promise<Buffer> {
  const bytes = await client.untilBytes(count);
  client.take();
  if (bytes.length > count) client.giveBack(bytes.subarray(count));
  return bytes.subarray(0, count);
}

/** User name and password as RFC 1929 has them, in UTF-8. */
export function loginBytes({ username, password }: { username: string; password: string }): Buffer {
  const [user, secret] = [Buffer.from(username), Buffer.from(password)];
  return Buffer.concat([Buffer.of(1, user.length), user, Buffer.of(secret.length), secret]);
}

/** The request of RFC 1928, section 4. */
export function requestBytes({ host = 'a.test', port = 443, command = 1 }: SocksAsk): Buffer {
  return Buffer.concat([Buffer.of(5, command, 0), addressBytes(host), Buffer.of(port >> 8, port & 255)]);
}

function addressBytes(host: string): Buffer {
  if (IPV4.test(host)) return Buffer.of(1, ...host.split('.').map(Number));
  if (!IPV6.test(host)) return Buffer.concat([Buffer.of(3, host.length), Buffer.from(host, 'latin1')]);
  const [left = '', right = ''] = host.split('::');
  const groups = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((part) => parseInt(part, 16));
  const [before, after] = [groups(left), groups(right)];
  const zeros = Array<number>(8 - before.length - after.length).fill(0);
  return Buffer.of(4, ...[...before, ...zeros, ...after].flatMap((group) => [group >> 8, group & 255]));
}
