/**
 * Where the gateway itself asks for something by a URL that a person wrote (lists of upstreams, webhooks): only public
 * addresses, or those that are named as exceptions. A name is resolved here, every address of it is judged, and the one
 * that was judged is dialled, so that no answer of a name server leads elsewhere.
 */
import dns from 'node:dns';
import { Agent } from 'undici';
import { checkResolvedAddress, checkTarget, parseAuthority } from '../protocol/target.js';
import type { OwnAddresses, Target, TargetPolicy } from '../protocol/target.js';

/** Resolves a name to all of its addresses. */
export type Resolve = (
  name: string,
) => Promise<readonly { readonly address: string; readonly family: number }[]>;

/** What an address is judged by. */
export interface AddressCheck {
  /** Exceptions to the refusal of special addresses. */
  readonly policy: TargetPolicy;
  readonly own: OwnAddresses;
  readonly resolve?: Resolve;
}

/** What {@link checkedAgent} throws. `hostPort` is null where the URL has no proper host. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';

  constructor(readonly hostPort: string | null) {
    super(hostPort === null ? 'the URL has no proper host' : `${hostPort} may not be asked`);
  }
}

const systemResolve: Resolve = (name) => dns.promises.lookup(name, { all: true });

/**
 * An agent for one request to this URL, to be destroyed after it. It follows no redirect.
 * @throws {AddressRefused} where the address, or the name, may not be visited
 */
export function checkedAgent(url: URL, check: AddressCheck): Agent {
  const target = judged(url, check);
  return new Agent({ connect: { lookup: checkedLookup(target, check) }, pipelining: 0 });
}

/** Why a request failed, in words that name nothing of its URL. */
export function faultText(error: unknown): string {
  if (!(error instanceof Error)) return 'an unknown error';
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EADDRREFUSED' ? 'no address that may be visited was found' : (code ?? 'an error');
}

function judged(url: URL, { policy, own }: AddressCheck): Target {
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
  const parsed = parseAuthority(`${url.hostname}:${port}`);
  if (parsed.kind === 'refused') throw new AddressRefused(null);
  if (checkTarget(parsed.target, policy, own) !== null) throw new AddressRefused(parsed.target.hostPort);
  return parsed.target;
}

type LookupDone = (
  error: NodeJS.ErrnoException | null,
  address: string | { address: string; family: number }[],
  family?: number,
) => void;

function checkedLookup(target: Target, { policy, own, resolve = systemResolve }: AddressCheck) {
  return (name: string, options: dns.LookupOptions, done: LookupDone): void => {
    const give = (addresses: readonly { address: string; family: number }[]): void => {
      const good = addresses.filter(
        ({ address }) => checkResolvedAddress(target, address, policy, own) === null,
      );
      const [first] = good;
      if (first === undefined) {
        done(Object.assign(new Error('no address may be visited'), { code: 'EADDRREFUSED' }), []);
      } else if (options.all === true) done(null, good);
      else done(null, first.address, first.family);
    };
    resolve(name).then(give, (error: NodeJS.ErrnoException) => done(error, []));
  };
}
