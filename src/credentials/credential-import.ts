/** Bulk import of credentials. */
import type { CredentialType, JsonObject } from '../storage/credential-ports.js';

/** `csv`: with a header; `jsonl`: one object a line, as for one credential; `cookies`: a Netscape cookie file. */
export const importFormats = ['csv', 'jsonl', 'cookies'] as const;
export type ImportFormat = (typeof importFormats)[number];

/** How a text is to be taken. */
export interface ImportAsk {
  readonly format: ImportFormat;
  /** `all`: nothing is kept unless every line is good and new; `good`: what is good is kept. */
  readonly mode: 'all' | 'good';
  /** Type of lines that name none. */
  readonly type?: CredentialType | undefined;
  /** Added to the `meta` of each; what a line says itself goes before. */
  readonly meta?: JsonObject | undefined;
  /** Begins the keys of a cookie file: `PREFIX.DOMAIN`; without it the domain alone. */
  readonly key?: string | undefined;
}

/** A line that was not taken. Never holds a byte of a secret. */
export interface ImportFault {
  /** From 1. */
  readonly line: number;
  /** `duplicate`: the key came before in this text; `exists`: there is such a credential, which stays as it is. */
  readonly why: 'malformed' | 'invalid' | 'duplicate' | 'exists';
  readonly message: string;
}

export interface Imported {
  /** `refused`: with mode `all`, nothing was kept; `too_large`: past the bounds, and in mode `good` what came before is kept. */
  readonly kind: 'done' | 'refused' | 'too_large';
  /** Credentials that are kept now and weren't before. */
  readonly created: number;
  /** Lines that were not taken; `faults` holds the first of them. */
  readonly failed: number;
  readonly faults: readonly ImportFault[];
}
