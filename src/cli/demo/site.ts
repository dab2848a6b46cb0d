/**
 * The site that the demo crawls: numbered pages on a real HTTP server, which tells its visitors apart by their source
 * address. It blocks one of them and lets none load too fast. It knows nothing of proxies.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../core/clock.js';

/** How the site treats its visitors. */
export interface SiteRules {
  /** Source addresses that only ever get 403. */
  readonly blocked: ReadonlySet<string>;
  /** Pages that one address may load within the window; above that it gets 429. */
  readonly pages: number;
  readonly windowMs: number;
}

/** What one address asked for and got. */
export interface Visits {
  readonly good: number;
  readonly refused: number;
}

/** A site that runs. */
export interface Site {
  readonly port: number;
  /** What came from each source address so far. */
  visits(): ReadonlyMap<string, Visits>;
  close(): Promise<void>;
}

/** Starts the site on a free port of 127.0.0.1. */
export async function startSite(rules: SiteRules, clock: Clock): Promise<Site> {
  const door = new Door(rules, clock);
  const server = http.createServer((request, response) => {
    const address = request.socket.remoteAddress ?? '';
    const verdict = door.judge(address);
    const fields = { 'Content-Type': 'text/html', 'X-Seen-From': address };
    if (verdict.status === 429) {
      response.writeHead(429, { ...fields, 'Retry-After': String(verdict.retryAfterS) });
      response.end('<h1>Too many requests</h1>\n');
    } else if (verdict.status === 403) {
      response.writeHead(403, fields).end('<h1>Access denied</h1>\n');
    } else {
      response.writeHead(200, fields);
      response.end(`<h1>${shown(request.url ?? '')}</h1>\n<p>You came from ${address}.</p>\n`);
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    visits: () => door.visits,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Admission {
  readonly status: 200 | 403 | 429;
  readonly retryAfterS: number;
}

/** Decides who gets a page, and counts. */
class Door {
  readonly visits = new Map<string, Visits>();
  private readonly loads = new Map<string, number[]>();

  constructor(
    private readonly rules: SiteRules,
    private readonly clock: Clock,
  ) {}

  judge(address: string): Admission {
    const admission = this.admit(address);
    const { good, refused } = this.visits.get(address) ?? { good: 0, refused: 0 };
    const isGood = admission.status === 200;
    this.visits.set(address, { good: good + (isGood ? 1 : 0), refused: refused + (isGood ? 0 : 1) });
    return admission;
  }

  private admit(address: string): Admission {
    const { blocked, pages, windowMs } = this.rules;
    if (blocked.has(address)) return { status: 403, retryAfterS: 0 };
    const nowMs = this.clock.nowMs();
    const recent = (this.loads.get(address) ?? []).filter((atMs) => nowMs - atMs < windowMs);
    this.loads.set(address, recent);
    const oldestMs = recent[0] ?? nowMs;
    if (recent.length >= pages) {
      return { status: 429, retryAfterS: Math.max(1, Math.ceil((oldestMs + windowMs - nowMs) / 1000)) };
    }
    recent.push(nowMs);
    return { status: 200, retryAfterS: 0 };
  }
}

/** A path as it can stand in a page. */
function shown(path: string): string {
  return path.replace(/[^A-Za-z0-9/._-]/g, '').slice(0, 60);
}
