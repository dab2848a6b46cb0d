/** The simulated site: serves, limits and bans by the address that it sees, and keeps count. It knows no gateway. */
import { createServer, type Server } from 'node:http';
import { CAPTCHA_TEXT, SITE_LATENCY_MS, type YieldScenario } from './scenarios.js';

/** What an answer was, as the site itself says it in a field that no gateway knows. */
export type PageKind = 'good' | 'blocked' | 'down';

export const KIND_FIELD = 'x-simulated';

interface Visitor {
  /** Times of its good pages within the window. */
  pagesMs: number[];
  bannedUntilMs: number;
}

const GOOD_PAGE = `<!doctype html><html><head><title>A product</title></head><body>${'<p>A good page.</p>'.repeat(100)}</body></html>`;
const BLOCK_PAGE =
  '<!doctype html><html><head><title>Denied</title></head><body><p>Not now.</p></body></html>';
const CAPTCHA_PAGE = `<!doctype html><html><head><title>One moment</title></head><body><p>${CAPTCHA_TEXT}</p></body></html>`;

/** One site with its memory of addresses. */
export class SimulatedSite {
  readonly counts: Record<PageKind, number> = { good: 0, blocked: 0, down: 0 };
  readonly server: Server;
  readonly #visitors = new Map<string, Visitor>();
  #downFromMs = Infinity;
  #downToMs = Infinity;

  constructor(private readonly scenario: YieldScenario) {
    this.server = createServer((request, response) => {
      const kind = this.#judge(request.socket.remoteAddress ?? '', performance.now());
      this.counts[kind]++;
      const isCaptcha = kind === 'blocked' && scenario.blockAs === 'captcha';
      const status = kind === 'good' || isCaptcha ? 200 : kind === 'down' ? 503 : Number(scenario.blockAs);
      const page = kind === 'good' ? GOOD_PAGE : isCaptcha ? CAPTCHA_PAGE : BLOCK_PAGE;
      response.writeHead(status, {
        'Content-Type': 'text/html',
        'Content-Length': Buffer.byteLength(page),
        [KIND_FIELD]: kind,
      });
      setTimeout(() => response.end(page), SITE_LATENCY_MS * (0.5 + Math.random()));
    });
  }

  /** The outage of the scenario, if it has one. */
  downBetween(fromMs: number, toMs: number): void {
    this.#downFromMs = fromMs;
    this.#downToMs = toMs;
  }

  isDown(nowMs: number): boolean {
    return nowMs >= this.#downFromMs && nowMs < this.#downToMs;
  }

  /** Whether the address would get a good page now: what only a knowing chooser can ask. */
  wouldServe(address: string, nowMs: number): boolean {
    if (this.isDown(nowMs)) return false;
    const visitor = this.#visitor(address, nowMs);
    return visitor.bannedUntilMs <= nowMs && visitor.pagesMs.length < this.scenario.most;
  }

  #judge(address: string, nowMs: number): PageKind {
    if (this.isDown(nowMs)) return 'down';
    const visitor = this.#visitor(address, nowMs);
    if (this.wouldServe(address, nowMs)) {
      visitor.pagesMs.push(nowMs);
      return 'good';
    }
    if (visitor.bannedUntilMs <= nowMs) visitor.bannedUntilMs = nowMs + this.scenario.banMs;
    return 'blocked';
  }

  #visitor(address: string, nowMs: number): Visitor {
    let visitor = this.#visitors.get(address);
    if (visitor === undefined) this.#visitors.set(address, (visitor = { pagesMs: [], bannedUntilMs: 0 }));
    const { windowMs } = this.scenario;
    while ((visitor.pagesMs[0] ?? Infinity) <= nowMs - windowMs) visitor.pagesMs.shift();
    return visitor;
  }
}
