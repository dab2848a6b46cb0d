/**
 * What each fault of Redis costs the clients of two gateways: holds it under load and prints a table. Exit code 1 when a
 * request failed or a ban was lost.
 *
 *   npm run redis-faults                                  all faults, a minute each: about 12 minutes
 *   npm run redis-faults -- --seconds 5 --only SIGSTOP    shorter, and those whose name has this in it
 */
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '60' }, only: { type: 'string', default: '' } },
});
const env = { ...process.env, FAULT_SECONDS: values.seconds, FAULT_ONLY: values.only };
const args = ['vitest', 'run', '--project', 'long', 'test/long/redis-faults.test.ts'];
process.exitCode = spawnSync('npx', args, { env, stdio: 'inherit' }).status ?? 1;
