/** A second reader of SOCKS5 (RFC 1928, RFC 1929), as referee: whole buffers in, what was asked or answered out. */

/** A request that was whole, and what stood behind it. */
export interface SocksAsk {
  readonly authority: string;
  /** `username:password`, where there was a login. */
  readonly login: string | null;
  readonly rest: Buffer;
}

/** What a client asks for in greeting, login and request; null where that is not whole or not right. */
export function readSocksAsk(bytes: Buffer): SocksAsk | null {
  const count = bytes[1] ?? 0;
  const methods = [...bytes.subarray(2, 2 + count)];
  if (bytes[0] !== 5 || count === 0 || methods.length < count) return null;
  let at = 2 + count;
  let login: string | null = null;
  if (methods.includes(2)) {
    const userEnd = at + 2 + (bytes[at + 1] ?? 0);
    if (bytes[at] !== 1 || userEnd >= bytes.length) return null;
    const end = userEnd + 1 + (bytes[userEnd] ?? 0);
    login = `${bytes.toString('utf8', at + 2, userEnd)}:${bytes.toString('utf8', userEnd + 1, end)}`;
    at = end;
  } else if (!methods.includes(0)) return null;
  if (bytes[at] !== 5 || bytes[at + 1] !== 1 || bytes[at + 2] !== 0) return null;
  const place = readPlace(bytes, at + 3);
  return place === null
    ? null
    : { authority: `${place.host}:${place.port}`, login, rest: bytes.subarray(place.end) };
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
  return { host: hostOf(address, type), port: bytes.readUInt16BE(end), end: end + 2 };
}

function hostOf(address: Buffer, type: number | undefined): string {
  if (type === 3) return address.toString('latin1');
  if (type === 1) return address.join('.');
  const groups = address.toString('hex').match(/.{4}/g) ?? [];
  return new URL(`http://[${groups.join(':')}]`).hostname;
}
