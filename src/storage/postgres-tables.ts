/** Brings the tables of a PostgreSQL up to date, one process at a time. */
import type { Client } from 'pg';
import { StorageRefused } from './executor.js';
import { schemaSteps, schemaVersion, wordsOf } from './migrations/schema-steps.js';

/** What processes of this program wait for each other at; any number that no other program uses. */
const LOCK = 7_378_221_041;
/** The oldest server that is tested. */
const LEAST_VERSION = 130_000;

/** @throws {StorageRefused} and what the server says */
export async function bringUpToDate(client: Client, lockMs: number): Promise<void> {
  await checkServer(client);
  // Most starts change nothing, and need no lock and no right to make tables.
  if ((await versionOf(client)) === schemaVersion) return;
  await client.query('begin isolation level read committed');
  await client.query(`set local lock_timeout = ${Math.round(lockMs)}`);
  await client.query('select pg_advisory_xact_lock($1)', [LOCK]);
  const version = await versionOf(client);
  if (version === 0) await client.query('create table turnpike_schema (version integer not null)');
  for (const sql of schemaSteps.slice(version).flatMap((step) => step(wordsOf('postgres'))))
    await client.query(sql);
  await client.query('delete from turnpike_schema');
  await client.query('insert into turnpike_schema (version) values ($1)', [schemaVersion]);
  await client.query('commit');
}

async function checkServer(client: Client): Promise<void> {
  const { rows } = await client.query<{ version: string; encoding: string }>(
    `select current_setting('server_version_num') as version, current_setting('server_encoding') as encoding`,
  );
  const [server] = rows;
  if (Number(server?.version) < LEAST_VERSION)
    throw new StorageRefused('unfit', 'the database needs PostgreSQL 13 or later');
  if (server?.encoding !== 'UTF8')
    throw new StorageRefused('unfit', `the database has encoding ${server?.encoding}; create it with UTF8`);
}

/** 0 where there is nothing yet. @throws {StorageRefused} where a later version was here */
async function versionOf(client: Client): Promise<number> {
  // Not to_regclass: it may remember from before the lock that there was none.
  const there = await client.query(
    `select 1 from pg_catalog.pg_class where relname = 'turnpike_schema' and pg_catalog.pg_table_is_visible(oid)`,
  );
  if (there.rows.length === 0) return 0;
  const { rows } = await client.query<{ version: number }>('select version from turnpike_schema');
  const version = rows[0]?.version ?? 0;
  if (version > schemaVersion)
    throw new StorageRefused(
      'newer_schema',
      `the database has schema ${version}, and this version of Turnpike knows ${schemaVersion}: run the version that wrote it, or a later one`,
    );
  return version;
}
