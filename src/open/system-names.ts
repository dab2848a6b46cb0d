/**
 * The machine's own way from a name to its addresses: /etc/hosts, then its name servers. The servers are asked without
 * a thread: the system's call blocks one of the two that Node has for it, so that two names whose servers are silent
 * would keep all others waiting. The system is asked for what it alone knows: names in /etc/hosts, those without a dot,
 * and those that only a search list completes. How long a name is remembered is decided in resolver.ts.
 */
import dns from 'node:dns/promises';
import { readFileSync, statSync } from 'node:fs';
import os from 'node:os';
import type { LookUp } from './resolver.js';

/** How names can be asked for. Each rejects with an error that has a `code`. */
export interface WaysToAsk {
  /** Whether the system has the name in a file. */
  readonly isListed: (host: string) => boolean;
  readonly system: LookUp;
  /** Addresses of one family by the name servers. */
  readonly servers: (host: string, family: 4 | 6) => Promise<readonly string[]>;
  readonly prefersIpv6: () => boolean;
}

/** What the servers know no more about than that there is nothing; the search list may still know. */
const NOTHING_THERE = new Set(['ENOTFOUND', 'ENODATA']);
/** What says nothing about the name: there is no server to ask, or the name is not one for it. */
const NOBODY_TO_ASK = new Set(['ECONNREFUSED', 'EBADNAME', 'EBADQUERY', 'ENONAME']);

/** A look-up by these ways. */
export function lookUpBy(ways: WaysToAsk): LookUp {
  return async (host) => {
    if (!host.includes('.') || ways.isListed(host)) return ways.system(host);
    const [four, six] = await Promise.allSettled([ways.servers(host, 4), ways.servers(host, 6)]);
    const both = ways.prefersIpv6() ? [six, four] : [four, six];
    const addresses = both.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
    if (addresses.length > 0) return addresses;
    const trouble = both.find(isTrouble);
    if (trouble !== undefined) throw trouble.reason;
    return ways.system(host);
  };
}

/** Whether it may be asked again later, and not of the system now, whose thread would wait as long. */
function isTrouble(each: PromiseSettledResult<unknown>): each is PromiseRejectedResult {
  if (each.status === 'fulfilled') return false;
  const { code = '' } = each.reason as NodeJS.ErrnoException;
  return !NOTHING_THERE.has(code) && !NOBODY_TO_ASK.has(code);
}

/** A value made of a file, made anew when the file has changed. */
class FromFile<T> {
  private changedMs = -1;
  private value: T | null = null;

  constructor(
    private readonly path: string,
    private readonly make: () => T,
  ) {}

  get(): T {
    const changedMs = statSync(this.path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (this.value !== null && changedMs === this.changedMs) return this.value;
    this.changedMs = changedMs;
    this.value = this.make();
    return this.value;
  }
}

const HOSTS = '/etc/hosts';
const SERVERS = '/etc/resolv.conf';
/** Two tries, the second of which waits twice as long, are about what a dial may take. */
const patience = { timeout: 2000, tries: 2 };

const hosts = new FromFile(HOSTS, () => {
  try {
    const lines = readFileSync(HOSTS, 'latin1').toLowerCase().split('\n');
    return new Set(lines.flatMap((line) => line.replace(/#.*/, '').trim().split(/\s+/).slice(1)));
  } catch {
    return new Set<string>();
  }
});
const resolver = new FromFile(SERVERS, () => new dns.Resolver(patience));

function hasIpv6(): boolean {
  const addresses = Object.values(os.networkInterfaces()).flatMap((list) => list ?? []);
  return addresses.some(({ family, internal, scopeid }) => family === 'IPv6' && !internal && scopeid === 0);
}

/** The machine's own way. */
export const systemLookUp: LookUp = lookUpBy({
  isListed: (host) => hosts.get().has(host),
  system: async (host) => {
    const found = await dns.lookup(host, { all: true, verbatim: true });
    return found.map(({ address }) => address);
  },
  servers: (host, family) => (family === 4 ? resolver.get().resolve4(host) : resolver.get().resolve6(host)),
  prefersIpv6: hasIpv6,
});
