/**
 * The world of the demo, on loopback and made of nothing that is not in this package: a site, seven exits in a
 * list, and the gateway in front of them, set up as a user would do it, with a file.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildApp } from '../../app.js';
import { loadConfig } from '../../config/load.js';
import type { Clock } from '../../core/clock.js';
import { Chronicle } from './chronicle.js';
import type { ProxyAt } from './crawler.js';
import { deadExit, startExit } from './exits.js';
import type { DemoExit } from './exits.js';
import { startSite } from './site.js';
import type { Site } from './site.js';

/** The name of the site; only the exits can resolve it, which is how it is with real ones. */
export const SITE_NAME = 'shop.example';
/** How many pages the site gives to one address within the window. */
export const SITE_PAGES = 20;
export const SITE_WINDOW_MS = 4000;

const addressOf = (number: number): string => `127.31.0.${10 + number}`;
const BLOCKED = 5;
const login = { username: 'demo', password: 'only-for-this-demo' };

/** Everything that runs. */
export interface World {
  readonly site: Site;
  /** `http://shop.example:PORT`. */
  readonly siteUrl: string;
  readonly exits: readonly DemoExit[];
  readonly blockedExit: DemoExit;
  readonly deadExit: DemoExit;
  readonly proxy: ProxyAt;
  readonly admin: ProxyAt;
  readonly chronicle: Chronicle;
  /** Holds `turnpike.yaml`, `proxies.txt` and `turnpike.log`; gone when the world is. */
  readonly folder: string;
  /** Ends all of it; resolves with what the gateway had to cut. */
  close(): Promise<{ readonly cut: number }>;
}

/** Builds the world. @throws the system's error where it has no loopback addresses beside 127.0.0.1. */
export async function buildWorld(clock: Clock): Promise<World> {
  const blocked = new Set([addressOf(BLOCKED)]);
  const site = await startSite({ blocked, pages: SITE_PAGES, windowMs: SITE_WINDOW_MS }, clock);
  const closing: (() => Promise<unknown>)[] = [() => site.close()];
  const closeAll = async (): Promise<void> => {
    for (const close of [...closing].reverse()) await close();
  };
  try {
    const exits = await startExits(closing);
    const folder = mkdtempSync(join(tmpdir(), 'turnpike-demo-'));
    closing.push(async () => rmSync(folder, { recursive: true, force: true }));
    const gateway = await startGateway(folder, exits);
    return {
      site,
      siteUrl: `http://${SITE_NAME}:${site.port}`,
      exits,
      ...{ blockedExit: exitAt(exits, BLOCKED), deadExit: exitAt(exits, 3) },
      ...{ proxy: gateway.proxy, admin: gateway.admin, chronicle: gateway.chronicle },
      folder,
      close: async () => {
        const stopped = await gateway.app.stop('the demo is over');
        await closeAll();
        return stopped;
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

async function startExits(closing: (() => Promise<unknown>)[]): Promise<DemoExit[]> {
  const names = new Map([[SITE_NAME, '127.0.0.1']]);
  const exits: DemoExit[] = [];
  for (let number = 1; number <= 7; number++) {
    const basics = { name: `exit-${number}`, address: addressOf(number), names };
    const exit =
      number === 3
        ? await deadExit(basics.name, basics.address)
        : await startExit({
            ...basics,
            ...(number === 2 && { login, remark: 'wants a login' }),
            ...(number === BLOCKED && { remark: 'the site has blocked its address' }),
          });
    exits.push(exit);
    closing.push(() => exit.close());
  }
  return exits;
}

function exitAt(exits: readonly DemoExit[], number: number): DemoExit {
  const exit = exits[number - 1];
  if (exit === undefined) throw new Error(`there is no exit ${number}`);
  return exit;
}

/** What a user would write; ports are left to the system, so that the demo runs beside anything. */
const configText = `listen: { proxy: '127.0.0.1:0', admin: '127.0.0.1:0' }
pools:
  default: { upstreams: [{ file: ./proxies.txt }] }
routes:
  - { name: shop, match: { site: ${SITE_NAME} }, expose: full }
  - { name: everything }
timeouts: { drain: 1s }
log: { file: ./turnpike.log }
`;

async function startGateway(folder: string, exits: readonly DemoExit[]) {
  const file = join(folder, 'turnpike.yaml');
  writeFileSync(file, configText);
  writeFileSync(join(folder, 'proxies.txt'), exits.map(({ url }) => `${url}\n`).join(''));
  const loaded = loadConfig({ file, overrides: {}, env: {} });
  if (loaded.kind === 'problems') {
    throw new Error(`the configuration of the demo is wrong: ${JSON.stringify(loaded.problems)}`);
  }
  const chronicle = new Chronicle();
  const app = await buildApp(loaded.config, { subscriber: chronicle.hear });
  const { proxy, admin } = await app.start();
  const first = proxy[0];
  if (first === undefined || admin === null) throw new Error('the gateway of the demo does not listen');
  return { app, chronicle, proxy: first, admin };
}
