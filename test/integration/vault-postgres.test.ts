/** The contract of the vault over a real PostgreSQL, and what comes of it when that is killed. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.js';
import { openDatabase } from '../../src/storage/open-database.js';
import { keepSecrets, shownSecret, vaultContract, vaultOver } from '../contract/vault.js';
import { startPostgres, type RealPostgres } from '../support/real-postgres.js';
import { eventually } from '../support/wait.js';

let server: RealPostgres;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.close());

const stores = {
  fresh: async () => {
    const name = await server.withTables();
    return () => openDatabase(server.settings(name, { connections: 4 }), { clock: systemClock });
  },
};

vaultContract('postgres', stores);

describe('K1 a vault whose PostgreSQL is killed', () => {
  it('is sealed when it begins without it, opens by itself when it is there, and goes on with its keys', async () => {
    const root = randomBytes(32);
    const connect = await stores.fresh();
    const [db, other] = [await connect(), await connect()];
    const first = await vaultOver(db, 'one', root);
    await keepSecrets(db, first, 10);
    await server.kill();
    const second = await vaultOver(other, 'two', root);
    expect(second.state).toMatchObject({ kind: 'sealed', isStore: true });
    expect(first.state).toEqual({ kind: 'open' });
    expect(first.subKey('token')).toHaveLength(32);
    await server.startAgain();
    await eventually('the vault to open', async () => second.state.kind === 'open');
    expect(await shownSecret(other, second, 'c-3')).toBe('secret 3');
    expect(await shownSecret(db, first, 'c-3')).toBe('secret 3');
    for (const vault of [first, second]) await vault.close();
    for (const each of [db, other]) await each.close();
  });
});
