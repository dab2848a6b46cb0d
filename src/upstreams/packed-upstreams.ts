/**
 * Upstreams on their way from thread to thread: columns instead of objects, a few thousand at a time, so that neither
 * side stops for long. Texts of a column are joined by line feeds, which no id, host, login, country or city can hold.
 */
import { Secret } from '../core/secret.js';
import { labelOf, tlsOf } from './upstream.js';
import type { Upstream, UpstreamOptions, UpstreamProtocol } from './upstream.js';

/** Some upstreams in columns. Plain data. */
export interface PackedUpstreams {
  readonly count: number;
  /** Texts by column, joined. */
  readonly texts: Readonly<Record<TextColumn, string>>;
  readonly ports: Uint16Array;
  readonly weights: Float64Array;
  /** 0: not known. */
  readonly asns: Uint32Array;
  /** 1 where there is a login. */
  readonly logins: Uint8Array;
}

type TextColumn = 'id' | 'protocol' | 'host' | 'username' | 'password' | 'country' | 'city' | 'tags';

const textsOf: Readonly<Record<TextColumn, (upstream: Upstream) => string>> = {
  id: ({ id }) => id,
  protocol: ({ protocol }) => protocol,
  host: ({ host }) => host,
  username: ({ login }) => login?.username ?? '',
  password: ({ login }) => login?.password.reveal() ?? '',
  country: ({ country }) => country ?? '',
  city: ({ city }) => city ?? '',
  tags: ({ tags }) => tags.join(','),
};

/** Packs upstreams that came from one source. */
export function packUpstreams(upstreams: readonly Upstream[]): PackedUpstreams {
  const column = (name: TextColumn): string => upstreams.map(textsOf[name]).join('\n');
  return {
    count: upstreams.length,
    texts: {
      ...{ id: column('id'), protocol: column('protocol'), host: column('host') },
      ...{ username: column('username'), password: column('password') },
      ...{ country: column('country'), city: column('city'), tags: column('tags') },
    },
    ports: Uint16Array.from(upstreams, ({ port }) => port),
    weights: Float64Array.from(upstreams, ({ weight }) => weight),
    asns: Uint32Array.from(upstreams, ({ asn }) => asn ?? 0),
    logins: Uint8Array.from(upstreams, ({ login }) => (login === null ? 0 : 1)),
  };
}

/** Makes the objects again; equal countries, cities and tags become one. */
export class UpstreamUnpacker {
  readonly #tags = new Map<string, readonly string[]>();
  readonly #words = new Map<string, string>();

  /** @param options of the source that they came from: what a line can't say comes from there */
  unpack(packed: PackedUpstreams, options: UpstreamOptions): Upstream[] {
    const { texts } = packed;
    const cut = (name: TextColumn): string[] => texts[name].split('\n');
    const [ids, protocols, hosts] = [cut('id'), cut('protocol'), cut('host')];
    const [usernames, passwords] = [cut('username'), cut('password')];
    const [countries, cities, tags] = [cut('country'), cut('city'), cut('tags')];
    const tls = tlsOf(options);
    return Array.from({ length: packed.count }, (_, row): Upstream => {
      const host = hosts[row] ?? '';
      const protocol = this.#word(protocols[row]) as UpstreamProtocol;
      const port = packed.ports[row] ?? 0;
      const asn = packed.asns[row] ?? 0;
      const login =
        packed.logins[row] === 0
          ? null
          : { username: usernames[row] ?? '', password: new Secret(passwords[row] ?? '') };
      return {
        ...{ id: ids[row] ?? '', protocol, host, port, login },
        label: labelOf({ protocol, host, port }),
        weight: packed.weights[row] ?? 1,
        country: this.#word(countries[row]),
        city: this.#word(cities[row]),
        asn: asn === 0 ? null : asn,
        tags: this.#tagsOf(tags[row] ?? ''),
        turnpike: options.turnpike ?? false,
        tls,
      };
    });
  }

  #word(text = ''): string | null {
    if (text === '') return null;
    const known = this.#words.get(text);
    if (known !== undefined) return known;
    this.#words.set(text, text);
    return text;
  }

  #tagsOf(text: string): readonly string[] {
    const known = this.#tags.get(text);
    if (known !== undefined) return known;
    const tags = text === '' ? [] : text.split(',');
    this.#tags.set(text, tags);
    return tags;
  }
}
