/** A second reader of SOCKS5 (RFC 1928, RFC 1929), as referee: whole buffers in, what was asked or answered out. */

/** A request that was whole, and what stood behind it. */
export interface SocksAsk {
  readonly authority: string;
  readonly rest: Buffer;
}

/** What a client asks for in greeting, login and request; null where that is not whole or not right. */
export function readSocksAsk(bytes: Buffer): SocksAsk | null {
  const count = bytes[1] ?? 0;
  const methods = [...bytes.subarray(2, 2 + count)];
  if (bytes[0] !== 5 || count === 0 || methods.length < count) return null;
  let at = 2 + count;
  if (methods.includes(2)) {
    const userEnd = at + 2 + (bytes[at + 1] ?? 0);
    if (bytes[at] !== 1 || userEnd >= bytes.length) return null;
    at = userEnd + 1 + (bytes[userEnd] ?? 0);
  } else if (!methods.includes(0)) return null;
  if (bytes[at] !== 5 || bytes[at + 1] !== 1 || bytes[at + 2] !== 0) return null;
  const place = readPlace(bytes, at + 3);
  return place === null
    ? null
    : { authority: `${place.host}:${place.port}`, rest: bytes.subarray(place.end) };
}

/** What stands behind the replies of a server that opened a tunnel without a login; null where it did not. */
export function readSocksOpening(bytes: Buffer): Buffer | null {
  if (bytes[0] !== 5 || bytes[1] !== 0 || bytes[2] !== 5 || bytes[3] !== 0) return null;
  const place = readPlace(bytes, 5);
  return place === null ? null : bytes.subarray(place.end);
}

/** An address and a port, from the type on. */
function readPlace(bytes: Buffer, at: number): { host: string; port: number; end: number } | null {
  const type = bytes[at];
  const length = type === 1 ? 4 : type === 4 ? 16 : type === 3 ? (bytes[at + 1] ?? 0) : -1;
  const start = type === 3 ? at + 2 : at + 1;
  const end = start + length;
  if (length < 0 || bytes.length < end + 2) return null;
  const address = bytes.subarray(start, end);
  const host =
    type === 3 ? address.toString('latin1') : type === 1 ? address.join('.') : `[${address.toString('hex')}]`;
  return { host, port: bytes.readUInt16BE(end), end: end + 2 };
}
