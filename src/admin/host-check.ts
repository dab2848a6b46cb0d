/**
 * Whether a request was meant for this listener. A page in a browser can be made to call any address under a name
 * of its own (DNS rebinding), and a proxy can be made to forward here: both show in the Host field or the target.
 */

/** The facts of a request that decide it. */
export interface Called {
  /** The request target as it came. */
  readonly target: string;
  readonly hosts: readonly string[];
  /** Address of this end of the connection. */
  readonly localAddress: string;
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);

function hostOf(field: string): string | null {
  const match = /^(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9._-]{1,253}))(?::\d{1,5})?$/.exec(field);
  return match === null ? null : (match[1] ?? match[2] ?? '').toLowerCase().replace(/\.$/, '');
}

/** What is wrong with how this listener was called, or null. `names` are allowed besides its own addresses. */
export function misdirection(called: Called, names: ReadonlySet<string>): string | null {
  if (!called.target.startsWith('/')) return 'The admin listener is no proxy: it takes paths only.';
  const host = called.hosts.length === 1 ? hostOf(called.hosts[0] ?? '') : null;
  if (host === null) return 'Exactly one Host field is wanted, with a host and perhaps a port.';
  const isHere =
    names.has(host) ||
    host === called.localAddress.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '') ||
    isLoopback(host);
  return isHere ? null : 'The admin listener is not called by this name; see listen.admin_hosts.';
}
