/**
 * One way out: protocol, host, port and the identity of its login. Two logins on one endpoint are two upstreams.
 */
import type { Secret } from '../core/secret.js';

/** How an upstream is spoken to. */
export type UpstreamProtocol = 'http' | 'https' | 'socks4' | 'socks4a' | 'socks5' | 'socks5h' | 'direct';

/** The login at an upstream, decoded once when the list is read. */
export interface UpstreamLogin {
  readonly username: string;
  readonly password: Secret;
}

/** One exit. Immutable; what changes about it lives in the ledger. */
export interface Upstream {
  /** Stable and opaque: a hash of protocol, host, port and user name. Shown to clients; holds no address, no password. */
  readonly id: string;
  readonly protocol: UpstreamProtocol;
  /** Without brackets. */
  readonly host: string;
  readonly port: number;
  readonly login: UpstreamLogin | null;
  /** `protocol://host:port`, for logs and people; without the login. */
  readonly label: string;
  /** Relative share in `weighted_random`; above 0, default 1. */
  readonly weight: number;
  readonly country: string | null;
  readonly city: string | null;
  readonly asn: number | null;
  readonly tags: readonly string[];
  /** Whether this upstream is a Turnpike itself and gets the loop marker. */
  readonly turnpike: boolean;
  /** For `https`: PEM of an extra CA, and whether the certificate is checked. */
  readonly tls: { readonly ca: string | null; readonly verify: boolean };
}
