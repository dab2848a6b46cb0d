/**
 * Upstreams on their way from thread to thread, and then in memory: columns instead of objects, a few thousand rows at a
 * time. What a million objects of ten parts each would cost the collector is more than reading them; here an upstream is
 * its id and a place in the columns, and what is rarely asked for is cut out when it is.
 */
import { Secret } from '../core/secret.js';
import { labelOf, tlsOf } from './upstream.js';
import type { Upstream, UpstreamLogin, UpstreamOptions, UpstreamProtocol } from './upstream.js';

/** Texts of one column, joined; text i ends before `ends[i]`. */
export interface TextColumn {
  readonly text: string;
  readonly ends: Uint32Array;
}

/** Words of one column that come again and again: row i has `words[codes[i]]`. */
export interface WordColumn {
  readonly words: readonly string[];
  readonly codes: Uint16Array;
}

/** Some upstreams in columns. Plain data; at most 65,536. */
export interface PackedUpstreams {
  readonly count: number;
  readonly ids: TextColumn;
  readonly hosts: TextColumn;
  readonly usernames: TextColumn;
  readonly passwords: TextColumn;
  readonly protocols: WordColumn;
  /** Empty: not known. */
  readonly countries: WordColumn;
  readonly cities: WordColumn;
  /** Tags parted by commas. */
  readonly tags: WordColumn;
  readonly ports: Uint16Array;
  readonly weights: Float64Array;
  /** 0: not known. */
  readonly asns: Uint32Array;
  /** 1 where there is a login, 2 where it is that of the options: a million rows need not have it each. */
  readonly logins: Uint8Array;
}

const NO_LOGIN = 0;
const OWN_LOGIN = 1;
const VAULT_LOGIN = 2;

/** Packs upstreams that came from one source. */
export function packUpstreams(upstreams: readonly Upstream[]): PackedUpstreams {
  const texts = (of: (upstream: Upstream) => string): TextColumn => textColumn(upstreams.map(of));
  const words = (of: (upstream: Upstream) => string): WordColumn => wordColumn(upstreams.map(of));
  return {
    count: upstreams.length,
    ids: texts(({ id }) => id),
    hosts: texts(({ host }) => host),
    usernames: texts((each) => ownLogin(each)?.username ?? ''),
    passwords: texts((each) => ownLogin(each)?.password.reveal() ?? ''),
    protocols: words(({ protocol }) => protocol),
    countries: words(({ country }) => country ?? ''),
    cities: words(({ city }) => city ?? ''),
    tags: words(({ tags }) => tags.join(',')),
    ports: Uint16Array.from(upstreams, ({ port }) => port),
    weights: Float64Array.from(upstreams, ({ weight }) => weight),
    asns: Uint32Array.from(upstreams, ({ asn }) => asn ?? 0),
    logins: Uint8Array.from(upstreams, ({ login, credential }) =>
      login === null ? NO_LOGIN : credential === undefined ? OWN_LOGIN : VAULT_LOGIN,
    ),
  };
}

function ownLogin({ login, credential }: Upstream): UpstreamLogin | null {
  return credential === undefined ? login : null;
}

function textColumn(texts: readonly string[]): TextColumn {
  let end = 0;
  return { text: texts.join(''), ends: Uint32Array.from(texts, (text) => (end += text.length)) };
}

function wordColumn(texts: readonly string[]): WordColumn {
  const codes = new Map<string, number>();
  const codeOf = (text: string): number => {
    const known = codes.get(text);
    if (known !== undefined) return known;
    codes.set(text, codes.size);
    return codes.size - 1;
  };
  const column = Uint16Array.from(texts, codeOf);
  return { words: [...codes.keys()], codes: column };
}

function textAt({ text, ends }: TextColumn, row: number): string {
  return text.slice(row === 0 ? 0 : ends[row - 1], ends[row]);
}

function wordAt({ words, codes }: WordColumn, row: number): string {
  return words[codes[row] ?? 0] ?? '';
}

/** Makes upstreams of columns. @param options of their source: what a line can't say comes from there */
export function unpackUpstreams(packed: PackedUpstreams, options: UpstreamOptions): Upstream[] {
  const tags = packed.tags.words.map((text) => (text === '' ? [] : text.split(',')));
  const { login, turnpike = false } = options;
  const vaulted = login && { username: login.username, password: new Secret(login.password) };
  const portion: Portion = {
    ...{ packed, tags, tls: tlsOf(options), turnpike },
    ...{ login: vaulted ?? null, credential: login?.key },
  };
  const upstreams: Upstream[] = [];
  for (let row = 0; row < packed.count; row++) {
    upstreams.push(new PackedUpstream(textAt(packed.ids, row), portion, row));
  }
  return upstreams;
}

/** What the upstreams of a portion share. */
interface Portion {
  readonly packed: PackedUpstreams;
  /** By the codes of the column. */
  readonly tags: readonly (readonly string[])[];
  readonly tls: Upstream['tls'];
  readonly turnpike: boolean;
  /** From the vault. */
  readonly login: UpstreamLogin | null;
  readonly credential: string | undefined;
}

class PackedUpstream implements Upstream {
  #login: UpstreamLogin | null = null;

  constructor(
    readonly id: string,
    private readonly of: Portion,
    private readonly row: number,
  ) {}

  get protocol(): UpstreamProtocol {
    return wordAt(this.of.packed.protocols, this.row) as UpstreamProtocol;
  }

  get host(): string {
    return textAt(this.of.packed.hosts, this.row);
  }

  get port(): number {
    return this.of.packed.ports[this.row] ?? 0;
  }

  /** One object each time: what is derived from a login is remembered by it. */
  get login(): UpstreamLogin | null {
    const { packed } = this.of;
    const code = packed.logins[this.row];
    if (code !== OWN_LOGIN) return code === VAULT_LOGIN ? this.of.login : null;
    this.#login ??= {
      username: textAt(packed.usernames, this.row),
      password: new Secret(textAt(packed.passwords, this.row)),
    };
    return this.#login;
  }

  get credential(): string | undefined {
    return this.of.packed.logins[this.row] === VAULT_LOGIN ? this.of.credential : undefined;
  }

  get label(): string {
    return labelOf(this);
  }

  get weight(): number {
    return this.of.packed.weights[this.row] ?? 1;
  }

  get country(): string | null {
    return wordAt(this.of.packed.countries, this.row) || null;
  }

  get city(): string | null {
    return wordAt(this.of.packed.cities, this.row) || null;
  }

  get asn(): number | null {
    return this.of.packed.asns[this.row] || null;
  }

  get tags(): readonly string[] {
    return this.of.tags[this.of.packed.tags.codes[this.row] ?? 0] ?? [];
  }

  get turnpike(): boolean {
    return this.of.turnpike;
  }

  get tls(): Upstream['tls'] {
    return this.of.tls;
  }
}
