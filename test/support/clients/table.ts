/**
 * The table of the matrix: every client, what it is asked, and what it cannot do – each with the reason, which stands in
 * docs/clients.md too. Another client is one more row.
 */
import type { Tell } from './ask.js';
import { chromium } from './browser.js';
import { axiosClient, gotClient, undici } from './node.js';
import { programs } from './programs.js';
import { pythonClient } from './python.js';

/** What is asked of every client, once of a plain target and once of one behind TLS. */
export const kinds = [
  'GET',
  'no login',
  'wrong password',
  'download',
  'upload',
  'chunked',
  'dead exit',
  'redirect',
  'WebSocket',
] as const;
export type Kind = (typeof kinds)[number];

/** `plain` by absolute-form; `CONNECT` for everything inside TLS. */
export const ways = ['plain', 'CONNECT'] as const;
export type Way = (typeof ways)[number];

export type CellName = `${Kind} ${Way}`;

/** One client. */
export interface Client {
  readonly name: string;
  readonly tell: Tell;
  /** What it cannot do, and why: the client's own limits. */
  readonly cannot: Partial<Record<Kind | Way, string>>;
  /** Of which refusals it hands on the body, where a crawler finds our code; of plain requests when not given. */
  readonly showsRefusals?: readonly Way[];
  /** Cells where it tells a refusal only by words of its own, without status or body. */
  readonly says?: Partial<Record<CellName, string>>;
  /** Why it reaches targets on port 80 only, where that is so. */
  readonly port80?: string;
}

/** Why the client cannot do this, or undefined when it can. */
export function whyNot({ cannot }: Client, kind: Kind, way: Way): string | undefined {
  return cannot[way] ?? cannot[kind];
}

const noSocket = { WebSocket: 'it knows no WebSocket' };

const python = (name: string, cannot: Client['cannot'] = noSocket): Client => ({
  ...{ name, cannot, tell: pythonClient(name) },
});

/** All of them. */
export const clients: readonly Client[] = [
  { name: 'curl', tell: programs.curl, cannot: { WebSocket: 'it knows WebSocket only from 8.11 on' } },
  { name: 'wget', tell: programs.wget, cannot: noSocket },
  {
    name: 'wget2',
    tell: programs.wget2,
    cannot: { CONNECT: 'version 1.99 begins TLS with the proxy itself and never says CONNECT', ...noSocket },
    showsRefusals: [],
    port80: 'version 1.99 leaves the port out of the target',
  },
  python('requests'),
  python('urllib3'),
  python('httpx'),
  python('aiohttp', {}),
  python('pycurl'),
  python('scrapy'),
  {
    name: 'undici',
    tell: undici,
    cannot: {},
    says: {
      'no login plain': 'Proxy Authentication Required (407)',
      'wrong password plain': 'Proxy Authentication Required (407)',
    },
  },
  { name: 'axios', tell: axiosClient, cannot: noSocket, showsRefusals: ways },
  { name: 'got', tell: gotClient, cannot: noSocket, showsRefusals: ways },
  {
    name: 'chromium',
    tell: chromium,
    cannot: {},
    says: {
      'no login plain': 'ERR_INVALID_AUTH_CREDENTIALS',
      'no login CONNECT': 'ERR_INVALID_AUTH_CREDENTIALS',
      'wrong password CONNECT': 'ERR_HTTP_RESPONSE_CODE_FAILURE',
      'dead exit CONNECT': 'ERR_TUNNEL_CONNECTION_FAILED',
    },
  },
];
