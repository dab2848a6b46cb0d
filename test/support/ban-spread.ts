/** How soon all gateways of a fleet know of a ban that one of them set, by the events that they tell. */
import http from 'node:http';
import { tokens } from './admin.js';
import { at, adminPortOf, patiently, startFleet } from './fleet.js';
import { banOn, exitIds, FleetLoad } from './fleet-load.js';
import type { ServeProcess } from './serve-process.js';
import type { Stage } from './stage.js';

const GATEWAYS = 5;
const EXITS = 20;
const BAN_EVERY_MS = 25;

/** Hears of bans of others, each time that a gateway takes one over. */
function hear(stage: Stage, gateway: ServeProcess, heard: (site: string) => void): Promise<void> {
  const headers = { authorization: `Bearer ${tokens.read}` };
  const path = '/api/v1/events?types=note';
  return new Promise((resolve, reject) => {
    const request = http.get(
      { host: '127.0.0.1', port: adminPortOf(gateway), path, headers, agent: false },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => {
          const lines = (text + chunk).split('\n');
          text = lines.pop() ?? '';
          for (const line of lines) {
            if (!line.startsWith('data: ')) continue;
            const { what, detail } = JSON.parse(line.slice(6));
            if (what === 'exit_banned_elsewhere') heard(detail.site);
          }
        });
        answer.on('error', () => undefined);
        resolve();
      },
    );
    request.on('error', reject);
    stage.keep({ close: async () => void request.destroy() });
  });
}

/**
 * Sets so many bans on five gateways in turn, under load, and waits until all know all.
 * Returns how long each of the four others took, in ms, counted from before the ban was asked for.
 * @param how `isHearing`: whether Redis lets gateways hear messages
 */
export async function banSpread(
  stage: Stage,
  how: { readonly bans: number; readonly isHearing: boolean },
): Promise<number[]> {
  const fleet = await startFleet(stage, {
    ...{ gateways: GATEWAYS, exits: EXITS, pool: {} },
    way: async ({ admin, port }) => {
      if (!how.isHearing) await admin.call('ACL', 'SETUSER', 'default', '-subscribe');
      return port;
    },
  });
  const saidMs = new Map<string, number>();
  const tookMs: number[] = [];
  const heard = (site: string): void =>
    void tookMs.push(performance.now() - (saidMs.get(site) ?? Number.NaN));
  for (const gateway of fleet.gateways) await hear(stage, gateway, heard);
  const exits = await exitIds(at(fleet, 0));
  const load = new FleetLoad(fleet.gateways);
  for (let n = 0; n < how.bans; n++) {
    const site = `ban-${n}.example`;
    saidMs.set(site, performance.now());
    await banOn(at(fleet, n % GATEWAYS), exits[n % EXITS] ?? '', site);
    await new Promise((resolve) => setTimeout(resolve, BAN_EVERY_MS));
  }
  const wanted = how.bans * (GATEWAYS - 1);
  await patiently('everybody to know', async () => tookMs.length >= wanted);
  await load.end();
  if (load.failed.size > 0) throw new Error(`requests failed: ${[...load.failed].join(' ')}`);
  return tookMs;
}
