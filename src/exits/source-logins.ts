/** The logins that the sources of one pool take from the vault: read with them, watched, missed and told of. */
import type { Emit } from '../core/events.js';
import type { UpstreamOptions } from '../upstreams/upstream.js';
import type { PoolSource, PoolSources } from './load-pools.js';
import type { LoginRead, NoLogin, UpstreamLogins } from './upstream-logins.js';

/** A source that has no exits because its login is not to be had. */
export interface MissingLogin {
  /** Of the setting that names it. */
  readonly path: string;
  readonly credential: string;
  readonly why: NoLogin;
  readonly detail: string;
}

/** What they come from. */
export interface LoginParts {
  readonly logins: UpstreamLogins;
  readonly emit: Emit;
}

/** The logins of one pool's sources, by the number of the source. */
export class SourceLogins {
  #read: ReadonlyMap<number, LoginRead> = new Map();
  #told = '[]';
  #unwatch = (): void => undefined;

  constructor(
    private readonly spec: PoolSources,
    private readonly parts: LoginParts,
  ) {}

  /** Calls `onChange` when one of them is another. */
  watch(onChange: () => void): void {
    const keys = this.spec.sources.map(({ credential }) => credential);
    if (keys.every((key) => key === undefined)) return;
    this.#unwatch = this.parts.logins.watch((changed) => {
      if (keys.some((key) => key !== undefined && changed.has(key))) onChange();
    });
  }

  close(): void {
    this.#unwatch();
  }

  /** Reads them anew. */
  async refresh(): Promise<void> {
    const read = new Map<number, LoginRead>();
    for (const [place, { credential }] of this.spec.sources.entries())
      if (credential !== undefined) read.set(place, await this.parts.logins.read(credential));
    this.#read = read;
  }

  /** The options of a source with its login; null where that is not to be had. */
  optionsOf({ options, credential: key }: PoolSource, place: number): UpstreamOptions | null {
    if (key === undefined) return options;
    const read = this.#read.get(place);
    if (read?.kind !== 'login') return null;
    return { ...options, login: { key, username: read.username, password: read.password.reveal() } };
  }

  /** Whether the source at this place has no exits for want of a login. */
  isMissing(place: number): boolean {
    const read = this.#read.get(place);
    return read !== undefined && read.kind !== 'login';
  }

  missing(): MissingLogin[] {
    return [...this.#read].flatMap(([place, read]) => {
      if (read.kind === 'login') return [];
      const path = `pools.${this.spec.name}.upstreams[${place}].credential`;
      const credential = this.spec.sources[place]?.credential ?? '';
      return [{ path, credential, why: read.why, detail: read.detail }];
    });
  }

  /** Tells what is missing; the same complaints are made once. */
  tell(): void {
    const missing = this.missing();
    const all = JSON.stringify(missing);
    if (all === this.#told) return;
    this.#told = all;
    for (const { path, credential, why, detail: reason } of missing) {
      const detail = { path, credential, why, reason };
      this.parts.emit({ type: 'note', level: 'warn', what: 'no_upstream_login', detail });
    }
  }
}
