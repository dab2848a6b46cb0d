/** The scenes of the demo, one feature each. Every claim is checked against what really happened. */
import { spell } from './story.js';
import type { Stage, Visit } from './stage.js';
import { SITE_NAME } from './world.js';

const ROTATED = 12;
const PER_SESSION = 4;
const TUNNELS = 5;
/** More than the site gives to one address. */
const MOST_GREEDY = 60;

const isGood = ({ page }: Visit): boolean => page.status === 200;
const exitsOf = (visits: readonly Visit[]): Set<string> => new Set(visits.map(({ exit }) => exit));

/** The site must have seen the exit that the gateway named. */
function isHonest(stage: Stage, visits: readonly Visit[]): boolean {
  return visits.every(({ page, exit }) => page.seenFrom !== null && stage.nameOf(page.seenFrom) === exit);
}

/** Pages without a session: exits in turn, a dead and a blocked one among them. */
export async function rotation(stage: Stage): Promise<void> {
  const { story, world } = stage;
  story.chapter(`Rotation: ${ROTATED} pages, no session, so each leaves by the next exit`);
  const visits: Visit[] = [];
  for (let number = 1; number <= ROTATED; number++) {
    const visit = await stage.visit({ path: `/page/${number}` });
    stage.tell(`GET /page/${number}`, visit);
    visits.push(visit);
  }
  const healthy = world.exits.length - 2;
  story.claim(`${visits.filter(isGood).length} of ${ROTATED} pages are good`, visits.every(isGood));
  const isInTurn = visits.every((visit, at) => visit.exit !== visits[at - 1]?.exit);
  story.claim(
    `${exitsOf(visits).size} exits took turns, none served twice in a row`,
    isInTurn && exitsOf(visits).size === healthy,
  );
  story.claim('the site saw the exits that the answers name', isHonest(stage, visits));
  tellBans(stage);
}

function tellBans(stage: Stage): void {
  const { story, world } = stage;
  const { bans } = world.chronicle;
  for (const { upstreamLabel, site, reason, forMs } of bans) {
    const where = site === null ? 'altogether' : `for ${site}`;
    const why = reason === 'suspect' ? '403 here, a good page through another exit' : reason;
    story.line(`${stage.nameOf(upstreamLabel)} is set aside ${where} for ${spell(forMs)} (${why})`);
  }
  const isDeadOut = bans.some(
    (ban) => ban.site === null && stage.nameOf(ban.upstreamLabel) === world.deadExit.name,
  );
  story.claim(`${world.deadExit.name}, which is dead, was found and set aside for all sites`, isDeadOut);
  const isBlockedOut = bans.some(
    (ban) => ban.site === SITE_NAME && stage.nameOf(ban.upstreamLabel) === world.blockedExit.name,
  );
  story.claim(`${world.blockedExit.name}, which is blocked, was banned for this site only`, isBlockedOut);
}

/** Two sessions, one by header and one by user name. */
export async function sessions(stage: Stage): Promise<void> {
  const { story } = stage;
  story.chapter('Sessions: one by header, one in the proxy user name; each stays on its exit');
  const byHeader: Visit[] = [];
  const byName: Visit[] = [];
  for (let number = 1; number <= PER_SESSION; number++) {
    byHeader.push(await stage.visit({ path: `/cart/${number}`, fields: { 'X-Session-Id': 'cart-7' } }));
    byName.push(await stage.visit({ path: `/cart/${number}`, login: 'me+session=cart-8:any' }));
  }
  const all = [...byHeader, ...byName];
  story.line(`X-Session-Id: cart-7   ${byHeader.map(({ exit }) => exit).join(' ')}`);
  story.line(`me+session=cart-8      ${byName.map(({ exit }) => exit).join(' ')}`);
  story.claim(
    'each session has one exit, and all pages are good',
    all.every(isGood) && exitsOf(byHeader).size === 1 && exitsOf(byName).size === 1 && isHonest(stage, all),
  );
  const tunnelled = await stage.visit({
    path: '/cart/checkout',
    fields: { 'X-Session-Id': 'cart-7' },
    isTunnelled: true,
  });
  story.claim(
    `a tunnel of session cart-7 leaves by ${tunnelled.exit} too`,
    isGood(tunnelled) && exitsOf([...byHeader, tunnelled]).size === 1,
  );
}

/** CONNECT, as for every https page. */
export async function tunnels(stage: Stage): Promise<void> {
  const { story } = stage;
  story.chapter('Tunnels: the same by CONNECT, as for every https page');
  const visits: Visit[] = [];
  for (let number = 1; number <= TUNNELS; number++) {
    const visit = await stage.visit({ path: `/page/${number}`, isTunnelled: true });
    stage.tell(`CONNECT, GET /page/${number}`, visit);
    visits.push(visit);
  }
  story.claim(
    `${TUNNELS} tunnels by ${exitsOf(visits).size} exits, all pages good`,
    visits.every(isGood) && exitsOf(visits).size === TUNNELS && isHonest(stage, visits),
  );
}

/** The exit of a session that loaded too fast. */
export interface Rested {
  readonly name: string;
  /** Id to ask for it by. */
  readonly id: string;
  /** Monotonic time at which it may be used again. */
  readonly backMs: number;
}

/** A session that loads faster than the site allows. */
export async function throttling(stage: Stage): Promise<Rested | null> {
  const { story, world } = stage;
  story.chapter('Too fast: a session that loads more than the site gives to one address');
  const visits: Visit[] = [];
  const fields = { 'X-Session-Id': 'greedy' };
  const hasMoved = (): boolean => visits.at(-1)?.page.session.endsWith(';2') === true;
  while (!hasMoved() && visits.length < MOST_GREEDY) {
    visits.push(await stage.visit({ path: `/list/${visits.length + 1}`, fields }));
  }
  const first = visits[0];
  const moved = visits.at(-1);
  const ban = world.chronicle.bans.find(({ reason }) => reason === 'throttled');
  if (first === undefined || moved === undefined || ban === undefined) {
    story.claim('the site slowed the session down', false);
    return null;
  }
  story.line(`GET /list/1 … /list/${visits.length - 1} left by ${first.exit}`);
  stage.tell(`GET /list/${visits.length}`, moved, `session ${moved.page.session}`);
  const name = stage.nameOf(ban.upstreamLabel);
  story.line(`${name} rests for ${spell(ban.forMs)} at ${SITE_NAME}, as the site's Retry-After asked`);
  story.claim(
    'the crawler saw no 429: the session moved to another exit, and its generation says so',
    visits.every(isGood) && hasMoved() && moved.exit !== first.exit && name === first.exit,
  );
  return { name, id: ban.upstream, backMs: stage.clock.nowMs() + ban.forMs };
}

/** The exit that rested is back without anybody's help. */
export async function comingBack(stage: Stage, rested: Rested): Promise<void> {
  const { story } = stage;
  story.chapter(`Coming back: ${rested.name} after its rest`);
  const waitMs = rested.backMs - stage.clock.nowMs();
  if (waitMs > 0) {
    story.line(`waiting ${spell(waitMs)} …`);
    await stage.pause(waitMs + 50);
  }
  const visit = await stage.visit({ path: '/page/1', fields: { 'X-Turnpike-Upstream': rested.id } });
  stage.tell('GET /page/1', visit, `asked for by X-Turnpike-Upstream: ${rested.id}`);
  story.claim(`${rested.name} serves again`, isGood(visit) && visit.exit === rested.name);
}
