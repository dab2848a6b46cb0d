/** The last scenes: errors that say whose fault they are, the metrics, and the totals. */
import http from 'node:http';
import type { Stage } from './stage.js';
import { count } from './story.js';
import type { World } from './world.js';

interface Problem {
  readonly code: string;
  readonly blame: string;
  readonly detail: string;
}

/** What an error answer says; empty where it is none of the gateway's. */
function problemOf(body: string): Problem {
  try {
    return JSON.parse(body) as Problem;
  } catch {
    return { code: '', blame: '', detail: '' };
  }
}

interface Mistake {
  readonly what: string;
  readonly url: string;
  readonly fields?: Readonly<Record<string, string>>;
  /** Status, code and blame. */
  readonly expected: string;
}

/** Requests that can't work, each told with its cause and whose it is. */
export async function errors(stage: Stage): Promise<void> {
  const { story, world } = stage;
  story.chapter('Errors say what was wrong and whose fault it was');
  const mistakes: Mistake[] = [
    { what: 'a private address', url: 'http://10.0.0.1/', expected: '403 target_refused, blame client' },
    {
      what: 'an exit in Antarctica',
      url: world.siteUrl,
      fields: { 'X-Turnpike-Country': 'aq' },
      expected: '503 no_upstream, blame gateway',
    },
  ];
  for (const { what, url, expected, ...ask } of mistakes) {
    const page = await stage.crawler.get({ url, ...ask });
    const { code, blame, detail } = problemOf(page.body);
    const said = `${page.status} ${code}, blame ${blame}`;
    story.claim(`${what}: ${said}`, said === expected);
    story.line(`       ${detail}`);
  }
}

const SHOWN = [
  'turnpike_exchanges_total',
  'turnpike_attempts_total',
  'turnpike_retries_total',
  'turnpike_bans_total',
  'turnpike_errors_total',
  'turnpike_exits',
];

/** What Prometheus would read, and whether it agrees with what happened. */
export async function metrics(stage: Stage): Promise<void> {
  const { story, world } = stage;
  const { host, port } = world.admin;
  story.chapter(`Metrics: GET http://${host}:${port}/metrics, among others`);
  const lines = (await textAt(world, '/metrics')).split('\n');
  for (const line of lines) {
    if (SHOWN.some((name) => line.startsWith(`${name}{`)) && !line.endsWith(' 0')) story.line(line);
  }
  const { exchanges, retries, bans } = world.chronicle;
  const isEqual =
    sumOf(lines, 'turnpike_exchanges_total') === exchanges.length &&
    sumOf(lines, 'turnpike_retries_total') === retries &&
    sumOf(lines, 'turnpike_bans_total') === bans.length;
  story.claim('the metrics count as many requests, retries and bans as there were', isEqual);
}

function textAt(world: World, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    http
      .get({ ...world.admin, path, agent: false }, (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (piece: string) => (text += piece));
        answer.once('end', () => resolve(text)).once('error', reject);
      })
      .once('error', reject);
  });
}

/** The sum of all series of a metric. */
function sumOf(lines: readonly string[], name: string): number {
  return lines
    .filter((line) => line.startsWith(`${name}{`))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

/** What it came to. */
export function totals(stage: Stage): void {
  const { story, world } = stage;
  const { chronicle, site, blockedExit } = world;
  story.chapter('Totals');
  const visits = [...site.visits()].map(([address, visit]) => ({ name: stage.nameOf(address), ...visit }));
  const refused = visits.reduce((sum, visit) => sum + visit.refused, 0);
  const told = (site: (name: string | null) => boolean): number =>
    chronicle.bans.filter((ban) => site(ban.site)).length;
  story.line(`${count(chronicle.exchanges.length, 'request')}, ${count(stage.pagesAsked, 'page')} asked for`);
  story.line(`${count(stage.pagesGood, 'page')} good`);
  story.line(`${chronicle.retries} retries on other exits before the crawler saw anything`);
  story.line(
    `${count(chronicle.bans.length, 'ban')}: ${told((name) => name !== null)} for one site, ${told((name) => name === null)} altogether`,
  );
  story.line(
    `the site saw ${visits.map(({ name, good, refused: bad }) => `${name} ${good}${bad === 0 ? '' : `+${bad}`}`).join(', ')} (good+refused)`,
  );
  story.claim(
    `all ${stage.pagesAsked} pages came through; ${refused} refusals of the site stayed behind the gateway`,
    stage.pagesGood === stage.pagesAsked && refused > 0,
  );
  const blocked = site.visits().get(blockedExit.address);
  story.claim(
    `${blockedExit.name} was tried once and never again: its ban holds`,
    blocked?.refused === 1 && blocked.good === 0,
  );
}
