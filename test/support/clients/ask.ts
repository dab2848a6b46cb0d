/**
 * What a client of the matrix is asked, and what it tells: the one form for programs, Python, Node and a browser.
 * Knows neither the gateway nor any client.
 */
import type { Login } from '../crawlers.js';
import type { TestCertificate } from '../real-origins.js';
import { sha256Of } from './bodies.js';

/** One thing to do through the proxy, with redirects followed and the certificate checked where the client can. */
export interface Ask {
  /** `http:`, `https:`, `ws:` or `wss:`. */
  readonly url: string;
  /** `http://127.0.0.1:port`. */
  readonly proxy: string;
  readonly login: Login | null;
  /** A file to send by POST; a GET when null. */
  readonly upload: string | null;
  /** Sent by a WebSocket, which tells what comes back. */
  readonly message: string;
  readonly certificate: TestCertificate;
}

/** What the client saw. */
export interface Told {
  /** The target's, or the proxy's when that refused; null when the client gives none. */
  readonly status: number | null;
  /** The first 4 KiB of the body. */
  readonly text: string;
  readonly bytes: number;
  readonly sha256: string;
  /** How it said that it failed, if it did. */
  readonly trouble: string | null;
}

/** A client: the same asks, one answer each, in order. */
export type Tell = (asks: readonly Ask[]) => Promise<Told[]>;

/** What a client saw of a body. */
export function told(status: number | null, body: Buffer, trouble: string | null = null): Told {
  const text = body.toString('latin1', 0, 4096);
  return { status, text, bytes: body.length, sha256: sha256Of(body), trouble };
}

/** What a client told by an error: the status of the proxy, where its text names one. */
export function failed(error: unknown): Told {
  const trouble = textOf(error);
  const status = /\b(407|50[0-4])\b/.exec(trouble)?.[1];
  return told(status === undefined ? null : Number(status), Buffer.alloc(0), trouble);
}

function textOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? ` – ${textOf(error.cause)}` : '';
  return `${String(error)}${cause}`;
}

/** One ask after the other. */
export function eachInTurn(tell: (ask: Ask) => Promise<Told>): Tell {
  return async (asks) => {
    const answers: Told[] = [];
    for (const ask of asks) answers.push(await tell(ask).catch(failed));
    return answers;
  };
}

/** The proxy's URL with the login in it. */
export function proxyWithLogin({ proxy, login }: Pick<Ask, 'proxy' | 'login'>): string {
  if (login === null) return proxy;
  const userinfo = `${encodeURIComponent(login.username)}:${encodeURIComponent(login.password)}`;
  return proxy.replace('//', `//${userinfo}@`);
}
