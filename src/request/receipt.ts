/**
 * Request ids that describe themselves, so that whoever got one can say later what became of the answer, to this gateway
 * or to another one with the same key, and nobody has to remember anything.
 *
 *   receipt = request "~" exit "~" site "~" minute "~" mac
 *   request   gateway and running number, as in the log:            4f2a9c1e-2k
 *   exit      id of the exit that the answer came by                u-7c1f…
 *   site      registrable domain, or an address
 *   minute    minutes since 1970 in base 36
 *   mac       16 characters of base64url: SHA-256 of key, client and all before it
 *
 * The client is part of the mac and not of the text: what one client got is no receipt in the hands of another.
 */
import { createHash, hash, timingSafeEqual } from 'node:crypto';

/** What a receipt is about. */
export interface Receipt {
  readonly request: string;
  readonly exit: string;
  readonly site: string;
}

/** What came of reading one. */
export type ReadReceipt =
  { readonly kind: 'receipt'; readonly receipt: Receipt } | { readonly kind: 'bad'; readonly reason: string };

const SEPARATOR = '~';
const PARTS = 5;
const MAC_LENGTH = 16;
const LONGEST = 512;
const MINUTE_MS = 60_000;
/** After this long nobody's word about an answer helps any more. */
export const RECEIPT_MINUTES = 60;

const MALFORMED: ReadReceipt = bad('is no request id of an answer: X-Turnpike-Request-Id of one is wanted');
const FOREIGN: ReadReceipt = bad('was not given to this client by this gateway');
const OLD: ReadReceipt = bad(`is older than ${RECEIPT_MINUTES} minutes`);

/** Writes and reads receipts under one key. */
export class Receipts {
  readonly #key: string;

  /** @param key the same for all gateways that take each other's receipts */
  constructor(key: string) {
    // Of one length whatever the key is, so that no text can pass for the end of a key.
    this.#key = createHash('sha256').update(key).digest('base64');
  }

  /** The receipt for an answer; about a microsecond. */
  write({ request, exit, site }: Receipt, client: string, wallMs: number): string {
    const minute = Math.floor(wallMs / MINUTE_MS).toString(36);
    const text = `${request}${SEPARATOR}${exit}${SEPARATOR}${site}${SEPARATOR}${minute}`;
    return `${text}${SEPARATOR}${this.#macOf(text, client)}`;
  }

  /** Reads what a client sends as a receipt; it may be anything. */
  read(text: string, client: string, wallMs: number): ReadReceipt {
    if (text.length > LONGEST) return MALFORMED;
    const parts = text.split(SEPARATOR);
    const [request = '', exit = '', site = '', minute = '', mac = ''] = parts;
    if (parts.length !== PARTS || parts.includes('') || mac.length !== MAC_LENGTH) return MALFORMED;
    const wanted = this.#macOf(text.slice(0, -MAC_LENGTH - 1), client);
    const given = Buffer.from(mac, 'utf8');
    if (given.length !== MAC_LENGTH || !timingSafeEqual(given, Buffer.from(wanted))) return FOREIGN;
    const age = Math.floor(wallMs / MINUTE_MS) - Number.parseInt(minute, 36);
    return age > RECEIPT_MINUTES ? OLD : { kind: 'receipt', receipt: { request, exit, site } };
  }

  #macOf(text: string, client: string): string {
    return hash('sha256', `${this.#key}${client}\n${text}`, 'base64url').slice(0, MAC_LENGTH);
  }
}

function bad(reason: string): ReadReceipt {
  return { kind: 'bad', reason };
}
