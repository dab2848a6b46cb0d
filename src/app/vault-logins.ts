/**
 * Logins at upstreams out of the vault. Each opening of one is audited before; what was opened stays in memory, where the
 * pools have it anyway, so that vault, storage and audit may be away while the crawl goes on. Follows the records: whoever
 * watches is told when a login is another, gone or there at last.
 */
import type { Audit } from '../audit/entry.js';
import type { Clock } from '../core/clock.js';
import { Secret } from '../core/secret.js';
import type { LoginRead, NoLogin, UpstreamLogins } from '../exits/upstream-logins.js';
import type { ChangeListener } from '../storage/change-feed.js';
import type { CredentialRecords } from '../storage/credential-ports.js';
import { placeOfSecret } from '../vault/envelope.js';
import { SealBroken, VaultSealed, type Vault } from '../vault/vault.js';

/** What it works with. */
export interface VaultLoginParts {
  readonly credentials: Pick<CredentialRecords, 'find'>;
  readonly vault: Pick<Vault, 'state' | 'reveal'>;
  readonly audit: Audit;
  readonly clock: Clock;
}

type Row = NonNullable<Awaited<ReturnType<CredentialRecords['find']>>>;

interface Opened {
  readonly id: string;
  readonly version: number;
  readonly read: LoginRead & { readonly kind: 'login' };
}

/** `isLasting`: nothing but a change of the record makes it another. */
interface Looked {
  readonly read: LoginRead;
  readonly isLasting: boolean;
}

/** How often is asked again for what could not be had. */
const AGAIN_MS = 1000;
/** A start must not wait for a storage that is away. */
const LONGEST_MS = 3000;

/** The logins. One for the process. */
export class VaultLogins implements UpstreamLogins, ChangeListener {
  readonly kind = 'credential';
  readonly #opened = new Map<string, Opened>();
  /** What was said last, of all keys that were ever asked for: those of the configuration and of exits that were added. */
  readonly #said = new Map<string, Looked>();
  readonly #looking = new Map<string, Promise<Looked>>();
  readonly #watchers = new Set<(keys: ReadonlySet<string>) => void>();
  #isWaiting = false;
  #isClosed = false;

  constructor(private readonly parts: VaultLoginParts) {}

  async read(key: string): Promise<LoginRead> {
    const looked = await this.#lookOnce(key);
    this.#said.set(key, looked);
    if (!looked.isLasting) this.#lookAgainLater();
    return looked.read;
  }

  watch(listener: (keys: ReadonlySet<string>) => void): () => void {
    this.#watchers.add(listener);
    return () => void this.#watchers.delete(listener);
  }

  readAll(): Promise<void> {
    return this.#review([...this.#said.keys()]);
  }

  changed(refs: ReadonlySet<string>): Promise<void> {
    return this.#review([...this.#said.keys()].filter((key) => refs.has(key)));
  }

  /** No more asking. */
  close(): void {
    this.#isClosed = true;
    this.#watchers.clear();
  }

  /** Looks at these again, and tells of those that are others now. */
  async #review(keys: readonly string[]): Promise<void> {
    const others = new Set<string>();
    await Promise.all(
      keys.map(async (key) => {
        const before = this.#said.get(key);
        const looked = await this.#lookOnce(key);
        this.#said.set(key, looked);
        if (before === undefined || !isSame(before.read, looked.read)) others.add(key);
      }),
    );
    if (others.size > 0) for (const listener of [...this.#watchers]) listener(others);
    if ([...this.#said.values()].some(({ isLasting }) => !isLasting)) this.#lookAgainLater();
  }

  #lookAgainLater(): void {
    if (this.#isWaiting || this.#isClosed) return;
    this.#isWaiting = true;
    this.parts.clock.after(AGAIN_MS, () => {
      this.#isWaiting = false;
      if (this.#isClosed) return;
      void this.#review([...this.#said].filter(([, { isLasting }]) => !isLasting).map(([key]) => key));
    });
  }

  /** Pools that name the same login wait for the same look. */
  #lookOnce(key: string): Promise<Looked> {
    const looking = this.#looking.get(key);
    if (looking !== undefined) return looking;
    const late = new Promise<Looked>((resolve) => {
      this.parts.clock.after(LONGEST_MS, () => resolve(this.#fromMemory(key, 'away')));
    });
    const look = Promise.race([this.#look(key), late]).finally(() => this.#looking.delete(key));
    this.#looking.set(key, look);
    return look;
  }

  async #look(key: string): Promise<Looked> {
    try {
      const row = await this.parts.credentials.find(key);
      const why = whyNot(row);
      if (row !== null && why === null) return await this.#open(row);
      this.#opened.delete(key);
      return { read: none(key, why ?? 'missing'), isLasting: true };
    } catch (error) {
      return this.#failed(key, error);
    }
  }

  async #open(row: Row): Promise<Looked> {
    const { id, key, version, secret } = row;
    const opened = this.#opened.get(key);
    if (opened?.id === id && opened.version === version) return { read: opened.read, isLasting: true };
    if (opened !== undefined && opened.id !== id) this.#opened.delete(key);
    if (this.parts.vault.state.kind === 'sealed') return this.#fromMemory(key, 'sealed');
    const use = { action: 'upstream_login.use', actor: 'system', credential: key, outcome: 'ok' };
    await this.parts.audit.record({ ...use, detail: { version } });
    const plaintext = this.parts.vault.reveal(placeOfSecret(id, version), secret.sealed);
    const read = loginIn(plaintext);
    plaintext.fill(0);
    if (read === null) return { read: none(key, 'unusable'), isLasting: true };
    this.#opened.set(key, { id, version, read });
    return { read, isLasting: true };
  }

  #failed(key: string, error: unknown): Looked {
    if (error instanceof VaultSealed) return this.#fromMemory(key, 'sealed');
    if (error instanceof SealBroken) return { read: none(key, 'unusable'), isLasting: true };
    return this.#fromMemory(key, 'away', error instanceof Error ? error.name : 'it failed');
  }

  /** What it was before, for as long as nobody can say. */
  #fromMemory(key: string, why: 'sealed' | 'away', reason = ''): Looked {
    return { read: this.#opened.get(key)?.read ?? none(key, why, reason), isLasting: false };
  }
}

function whyNot(row: Row | null): NoLogin | null {
  if (row === null) return 'missing';
  if (row.type !== 'username_password') return 'wrong_type';
  return row.status === 'disabled' ? 'disabled' : null;
}

function none(key: string, why: NoLogin, reason = ''): LoginRead & { kind: 'none' } {
  const texts: Readonly<Record<NoLogin, string>> = {
    missing: `the vault has no credential ${key}: add it by POST /api/v1/credentials, of type username_password`,
    wrong_type: `the credential ${key} is not of type username_password: name another, or replace it`,
    unusable: `the secret of ${key} can not be read: set it anew by PATCH /api/v1/credentials/${key}`,
    disabled: `the credential ${key} is disabled: set its status to active, or name another`,
    off: 'there is no vault',
    sealed: 'the vault is sealed: give it its key (turnpike vault status); the exits come by themselves then',
    away: `storage or audit can not be reached (${reason || 'no answer in time'}); the exits come by themselves then`,
  };
  return { kind: 'none', why, detail: texts[why] };
}

function isSame(a: LoginRead, b: LoginRead): boolean {
  if (a.kind === 'none' || b.kind === 'none')
    return a.kind === b.kind && 'why' in b && 'why' in a && a.why === b.why;
  return a.username === b.username && a.password.reveal() === b.password.reveal();
}

/** As `credentials/credential-secret.ts` keeps it. */
function loginIn(plaintext: Buffer): Opened['read'] | null {
  try {
    const value = JSON.parse(plaintext.toString('utf8')) as { username?: unknown; password?: unknown } | null;
    const { username, password } = value ?? {};
    if (typeof username !== 'string' || typeof password !== 'string') return null;
    return { kind: 'login', username, password: new Secret(password) };
  } catch {
    return null;
  }
}
