/**
 * Logins at upstreams that stand in the vault and not in the configuration: `credential: "vault:KEY"`. Pools ask for one
 * by its key when they are read, and are told when it is another. Knows no vault: whoever has one implements the port.
 */
import type { Secret } from '../core/secret.js';

/** What came of asking for a login. */
export type LoginRead =
  | { readonly kind: 'login'; readonly username: string; readonly password: Secret }
  /** There is none to use, and a sentence for people that says why and what to do; never a part of the login. */
  | { readonly kind: 'none'; readonly why: NoLogin; readonly detail: string };

/**
 * `missing`, `wrong_type`, `unusable` (a record that no login can be made of), `disabled`: as long as the record is as it
 * is. `off`: there is no vault. `sealed`, `away`: until the vault opens, or storage or audit are back.
 */
export type NoLogin = 'missing' | 'wrong_type' | 'unusable' | 'disabled' | 'off' | 'sealed' | 'away';

/** Where logins come from. */
export interface UpstreamLogins {
  /**
   * The login of this key. Whoever has had it before gets it from memory while vault or storage are away; each reading of
   * the vault is audited before. Never rejects.
   */
  read(key: string): Promise<LoginRead>;
  /** Calls `listener` when `read` would say something else of these keys. Returns how to stop that. */
  watch(listener: (keys: ReadonlySet<string>) => void): () => void;
}

/** A gateway without a vault. */
export const noUpstreamLogins: UpstreamLogins = {
  read: () =>
    Promise.resolve({
      kind: 'none',
      why: 'off',
      detail: 'there is no vault; run turnpike vault init and set vault.key, or put the login into url',
    }),
  watch: () => () => undefined,
};
