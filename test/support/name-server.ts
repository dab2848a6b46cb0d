/** A name server by UDP that answers as a test says: each question for A or AAAA with addresses, or by way of an alias. */
import type dgram from 'node:dgram';
import net from 'node:net';

/** What a name is said to be: addresses of both families, in order, perhaps under another name. */
export interface Said {
  readonly addresses: readonly string[];
  readonly alias?: string;
}

/** Says what a name is; null: that there is no such name; or nothing at all. Asked once for each question, so twice for each look-up. */
export type Say = (name: string, type: 'A' | 'AAAA') => Said | 'silence' | null;

const HEADER_BYTES = 12;
const TYPES: Readonly<Record<number, 'A' | 'AAAA'>> = { 1: 'A', 28: 'AAAA' };
const CODES = { A: 1, AAAA: 28, CNAME: 5 } as const;
/** A pointer to the name in the question (RFC 1035, section 4.1.4). */
const SAME_NAME = Buffer.of(0xc0, HEADER_BYTES);
const ANSWERED = 0x8580;
const NO_SUCH_NAME = 0x8583;

/** Answers on this socket from now on. */
export function serveNames(socket: dgram.Socket, say: Say): void {
  socket.on('message', (query, { port, address }) => {
    const { name, end } = readName(query);
    const type = TYPES[query.readUInt16BE(end)];
    const question = query.subarray(HEADER_BYTES, end + 4);
    const said = type === undefined ? { addresses: [] } : say(name, type);
    if (said === 'silence') return;
    const records = said === null || type === undefined ? [] : recordsOf(said, type);
    const header = Buffer.alloc(HEADER_BYTES);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(said === null ? NO_SUCH_NAME : ANSWERED, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    socket.send(Buffer.concat([header, question, ...records]), port, address);
  });
}

function readName(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}

function recordsOf({ addresses, alias }: Said, type: 'A' | 'AAAA'): Buffer[] {
  const owner = alias === undefined ? SAME_NAME : wireName(alias);
  const isOfType = (address: string): boolean => net.isIPv6(address) === (type === 'AAAA');
  const found = addresses.filter(isOfType).map((address) => recordOf(owner, CODES[type], octetsOf(address)));
  return alias === undefined ? found : [recordOf(SAME_NAME, CODES.CNAME, owner), ...found];
}

/** A record that may not be kept: its time to live is 0. */
function recordOf(owner: Buffer, code: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(code, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([owner, fixed, data]);
}

function wireName(name: string): Buffer {
  const labels = name.split('.').flatMap((label) => [Buffer.of(label.length), Buffer.from(label, 'latin1')]);
  return Buffer.concat([...labels, Buffer.of(0)]);
}

function octetsOf(address: string): Buffer {
  if (net.isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const { hostname } = new URL(`http://[${address}]/`);
  const [left = '', right = ''] = hostname.slice(1, -1).split('::');
  const groups = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((part) => parseInt(part, 16));
  const zeros = Array<number>(8 - groups(left).length - groups(right).length).fill(0);
  return Buffer.from(
    [...groups(left), ...zeros, ...groups(right)].flatMap((group) => [group >> 8, group & 255]),
  );
}
