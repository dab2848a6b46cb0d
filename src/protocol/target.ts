/**
 * Where a request wants to go: absolute-form and authority-form (RFC 9112, section 3.2), never through `new URL`.
 * Every odd spelling of an address is folded to the binary address before anything is decided about it.
 */

/** The class of a literal address; `name` for a host name. */
export type AddressClass =
  | 'name'
  | 'public'
  | 'loopback'
  | 'private'
  | 'link_local'
  | 'cgnat'
  | 'multicast'
  | 'unspecified'
  | 'reserved'
  | 'special_name';

/** A checked target. */
export interface Target {
  readonly scheme: 'http' | 'https' | 'ws' | 'tunnel';
  /** Host in canonical form: lower case, IDNA ASCII, IPv4 dotted, IPv6 without brackets, no trailing dot. */
  readonly host: string;
  readonly port: number;
  /** `host` or `host:port` as a Host field wants it: brackets round IPv6, no default port. */
  readonly authority: string;
  /** `host:port`, always with port: what CONNECT and logs use. */
  readonly hostPort: string;
  readonly addressClass: AddressClass;
  /** Registrable domain (public suffix list), or the host itself for addresses and single labels. */
  readonly site: string;
  /** Path and query as they came, `/` at least; empty for authority-form. */
  readonly path: string;
}
