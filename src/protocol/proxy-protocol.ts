/**
 * The PROXY protocol, receiving side: what a balancer in front says about who connected to it, before the first byte of
 * the client (haproxy.org, proxy-protocol.txt, versions 1 and 2). Bytes in, the address out; anything odd is a fault,
 * since a header that is half believed is worse than none.
 *
 *   v1   PROXY TCP4 203.0.113.7 10.0.0.1 51000 8080\r\n       one line, 107 bytes at most
 *        PROXY UNKNOWN ...\r\n
 *   v2   12 bytes of signature, version and command, family, length, addresses, extensions (skipped)
 *
 * `UNKNOWN`, `LOCAL` and families without an IP address name nobody: the address of the connection counts.
 */
import { formatAddress, parseAddress, unmapped } from './address.js';

/** What came of the bytes so far. */
export type ProxyHeaderStep =
  | { readonly kind: 'more' }
  /** `source` is the client's address in canonical form, or null where the header names none. `rest` came behind it. */
  | { readonly kind: 'header'; readonly source: string | null; readonly rest: Buffer }
  | { readonly kind: 'bad'; readonly detail: string };

const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
const V1_START = Buffer.from('PROXY ', 'latin1');
const V1_MOST = 107;
const V2_HEAD = 16;
/** Extensions may be long in theory; what balancers send is a few hundred bytes. */
const V2_MOST = 4096;
const V1_LINE =
  /^PROXY (TCP4|TCP6) ([0-9A-Fa-f:.]{2,45}) ([0-9A-Fa-f:.]{2,45}) (0|[1-9]\d{0,4}) (0|[1-9]\d{0,4})$/;

const MORE: ProxyHeaderStep = { kind: 'more' };
const bad = (detail: string): ProxyHeaderStep => ({ kind: 'bad', detail });

/** Reads one header, however it is cut into segments. Holds 4 KiB at most beside the last chunk. */
export class ProxyHeaderReader {
  private held: Buffer = Buffer.alloc(0);

  /** Takes bytes; copies what it keeps. Not to be called again after `header` or `bad`. */
  push(chunk: Buffer): ProxyHeaderStep {
    this.held = Buffer.concat([this.held, chunk]);
    const { held } = this;
    if (held.length === 0) return MORE;
    if (startsLike(held, SIGNATURE)) return readV2(held);
    if (startsLike(held, V1_START)) return readV1(held);
    return bad('The connection does not begin with a PROXY protocol header.');
  }
}

/** Whether as much of `start` as there is bytes for stands at the beginning. */
function startsLike(bytes: Buffer, start: Buffer): boolean {
  const count = Math.min(bytes.length, start.length);
  return bytes.subarray(0, count).equals(start.subarray(0, count));
}

function readV1(held: Buffer): ProxyHeaderStep {
  const end = held.subarray(0, V1_MOST).indexOf('\r\n', 0, 'latin1');
  if (end < 0) return held.length < V1_MOST ? MORE : bad('The PROXY header is longer than 107 bytes.');
  const line = held.toString('latin1', 0, end);
  const rest = held.subarray(end + 2);
  if (line === 'PROXY UNKNOWN' || line.startsWith('PROXY UNKNOWN '))
    return { kind: 'header', source: null, rest };
  const match = V1_LINE.exec(line);
  const [, family = '', from = '', to = '', ...ports] = match ?? [];
  const version = family === 'TCP4' ? 4 : 6;
  const addresses = [from, to].map(parseAddress);
  const areGood = addresses.every((address) => address?.version === version);
  if (match === null || !areGood || ports.some((port) => Number(port) > 65_535))
    return bad('The PROXY header is malformed.');
  const [source] = addresses;
  return { kind: 'header', source: source ? formatAddress(unmapped(source)) : null, rest };
}

function readV2(held: Buffer): ProxyHeaderStep {
  if (held.length < V2_HEAD) return MORE;
  const [version, command] = [held.readUInt8(12) >> 4, held.readUInt8(12) & 15];
  if (version !== 2 || command > 1) return bad('The PROXY header has an unknown version or command.');
  const length = V2_HEAD + held.readUInt16BE(14);
  if (length > V2_MOST) return bad('The PROXY header is longer than 4096 bytes.');
  const family = held.readUInt8(13);
  const least = command === 0 ? 0 : (ADDRESS_BYTES.get(family) ?? null);
  if (least === null) return bad('The PROXY header has a family that is not a stream over IP.');
  if (length - V2_HEAD < least) return bad('The PROXY header is too short for its addresses.');
  if (held.length < length) return MORE;
  const address = held.subarray(V2_HEAD, length);
  return { kind: 'header', source: sourceIn(address, least), rest: held.subarray(length) };
}

/** By family and transport: how many bytes the addresses take; 0 where they are not IP. */
const ADDRESS_BYTES = new Map([
  [0x00, 0],
  [0x11, 12],
  [0x21, 36],
  [0x31, 0],
]);

function sourceIn(address: Buffer, bytes: number): string | null {
  if (bytes === 0) return null;
  if (bytes === 12) return [...address.subarray(0, 4)].join('.');
  const groups = Array.from({ length: 8 }, (_, at) => address.readUInt16BE(at * 2));
  return formatAddress(unmapped({ version: 6, groups }));
}
