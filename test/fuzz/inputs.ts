/** Inputs without end: entries of the corpus, spoiled, the same for the same seed. */
import { seededRandom, type Random } from '../../src/core/random.js';
import { loadCorpus, type Entry, type Kind } from './corpus.js';
import { mutate } from './mutate.js';
import { drawWay, rightField, ways, withLogin, type Way } from './ways.js';

/** One input. */
export interface Input {
  readonly kind: Kind;
  readonly bytes: Buffer;
  readonly way: Way;
}

const HTTP_WORDS = [
  ...[
    '\r\n',
    '\n',
    '\r',
    '\r\n\r\n',
    '\r\n ',
    '\r\n\t',
    ' ',
    '\t',
    '\0',
    '\x0b',
    '\xa0',
    '\xff',
    ':',
    ': ',
    ' :',
    ',',
    ';',
    '"',
    '#',
    '@',
    '//',
    '?',
  ],
  ...[
    'HTTP/1.1',
    'HTTP/1.0',
    'HTTP/2.0',
    'HTTP/1.1\r\n',
    'http://',
    'GET ',
    'HEAD ',
    'POST ',
    'CONNECT ',
    'TRACE ',
    'OPTIONS ',
  ],
  ...[
    'Host: b.test\r\n',
    'Host:\r\n',
    'Content-Length: 5\r\n',
    'Content-Length: 0\r\n',
    'content-length: 3\r\n',
    'Content-Length : 4\r\n',
  ],
  ...[
    'Transfer-Encoding: chunked\r\n',
    'Transfer-Encoding: identity\r\n',
    'transfer-encoding: gzip, chunked\r\n',
    'Transfer-Encoding:\x0bchunked\r\n',
  ],
  ...[
    'Connection: close\r\n',
    'Connection: keep-alive\r\n',
    'Connection: Upgrade\r\nUpgrade: websocket\r\n',
    'Connection: content-length\r\n',
  ],
  ...[
    'Connection: X-A\r\n',
    'Upgrade: h2c\r\n',
    'Expect: 100-continue\r\n',
    'TE: trailers\r\n',
    'Trailer: X\r\n',
    'Proxy-Connection: close\r\n',
  ],
  ...[
    'X-Session-Id: s1\r\n',
    'X-Turnpike-Retries: 0\r\n',
    'X-Turnpike-Pool: main\r\n',
    'Proxy-Authorization: Basic YTpi\r\n',
    rightField,
    'Keep-Alive: timeout=1\r\n',
  ],
  ...[
    '0\r\n\r\n',
    '0\r\n',
    '5\r\nhello\r\n',
    '5;a=b\r\n',
    '5;a="x\\""\r\n',
    'ffffffffffffffff\r\n',
    'X: y\r\n',
    'X: \r\n',
    ' folded\r\n',
  ],
  ...[
    'GET http://a.test/two HTTP/1.1\r\nHost: a.test\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
    'HTTP/1.1 100 Continue\r\n\r\n',
  ],
  ...['127.0.0.1', '[::1]', 'localhost', 'a.test:80', 'u:p@', '%0d%0a', '.'],
];
const SOCKS_WORDS = [
  '\x05',
  '\x04',
  '\x01',
  '\x00',
  '\x02',
  '\x03',
  '\xff',
  '\x05\x01\x00',
  '\x05\x01\x02',
  '\x05\x00',
  '\x06a.test',
  '\x09127.0.0.1',
  '\x01\xbb',
];

const wordsOf = (kind: Kind): readonly string[] => (kind.startsWith('socks') ? SOCKS_WORDS : HTTP_WORDS);

const isOfClients = (kind: Kind): boolean => kind === 'absolute' || kind === 'connect' || kind === 'socks';

/** So many of a hundred inputs are of this kind. */
export type Shares = readonly (readonly [kind: Kind, share: number])[];

export const streamShares: Shares = [
  ['absolute', 60],
  ['connect', 20],
  ['socks', 20],
];
export const answerShares: Shares = [
  ['answer', 65],
  ['tunnel-answer', 15],
  ['socks-answer', 20],
];

/** Chance and corpus of a run. */
export class Inputs {
  readonly random: Random;
  private readonly entries: ReadonlyMap<Kind, readonly Entry[]>;

  constructor(
    folder: string,
    seed: number,
    private readonly shares: Shares,
  ) {
    this.random = seededRandom(seed);
    this.entries = new Map(shares.map(([kind]) => [kind, loadCorpus(folder, kind)]));
  }

  /** Every entry as it is; what clients say by every way. */
  corpus(): readonly Input[] {
    return [...this.entries.values()].flat().flatMap((entry) => {
      const each = isOfClients(entry.kind) ? ways : (['plain'] as const);
      return each.map((way) => ({ kind: entry.kind, bytes: this.madeFor(way, entry.bytes), way }));
    });
  }

  /** The next one; one in twenty is as good as it was. */
  next(): Input {
    const { random } = this;
    const kind = this.kindOf(random.below(100));
    const entries = this.entries.get(kind) ?? [];
    const entry = entries[random.below(entries.length)] as Entry;
    const way = isOfClients(kind) ? drawWay(random) : 'plain';
    const bytes = this.madeFor(way, entry.bytes);
    if (random.below(20) === 0) return { kind, bytes, way };
    const others = entries.map((entry) => entry.bytes);
    return { kind, bytes: mutate(bytes, { random, words: wordsOf(kind), others }), way };
  }

  private madeFor(way: Way, bytes: Buffer): Buffer {
    return way === 'login' ? withLogin(bytes, this.random) : bytes;
  }

  private kindOf(drawn: number): Kind {
    let left = drawn;
    for (const [kind, share] of this.shares) {
      if (left < share) return kind;
      left -= share;
    }
    return this.shares[0]?.[0] ?? 'absolute';
  }
}
