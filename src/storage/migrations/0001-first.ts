/** The first schema: credentials, policies, tokens, audit, keys, clients. */
import type { Words } from './schema-steps.js';

const credentials = ({ bytes, text, flat }: Words): string[] => [
  `create table credentials (
    id ${text} primary key,
    key ${text} not null unique,
    type ${text} not null,
    meta ${text} not null,
    status ${text} not null,
    until_ms bigint,
    reason ${text},
    version integer not null,
    revision integer not null,
    kek_id ${text} not null,
    sealed ${bytes} not null,
    created_ms bigint not null,
    updated_ms bigint not null)`,
  'create index credentials_type on credentials (type, key)',
  `create index credentials_status on credentials (status, key) where status <> 'active'`,
  'create index credentials_kek on credentials (kek_id, id)',
  `create table credential_uses (
    credential_id ${text} primary key references credentials (id) on delete cascade,
    uses bigint not null,
    last_used_ms bigint not null)${flat}`,
  'create index credential_uses_last on credential_uses (last_used_ms)',
  `create table policies (
    id ${text} primary key,
    name ${text} not null unique,
    document ${text} not null,
    revision integer not null,
    created_ms bigint not null,
    updated_ms bigint not null)`,
];

const tokens = ({ text, flat }: Words): string[] => [
  `create table tokens (
    hash ${text} primary key,
    credential_id ${text} not null references credentials (id) on delete cascade,
    credential_key ${text} not null,
    policy ${text} not null,
    holder ${text} not null,
    context ${text} not null,
    state ${text} not null,
    issued_ms bigint not null,
    expires_ms bigint not null,
    over_ms bigint not null,
    uses bigint not null,
    max_uses bigint,
    addresses ${text} not null)${flat}`,
  'create index tokens_credential on tokens (credential_id)',
  'create index tokens_over on tokens (over_ms)',
  `create table holds (
    credential_id ${text} not null references credentials (id) on delete cascade,
    slot bigint not null,
    token_hash ${text} not null unique,
    until_ms bigint not null,
    primary key (credential_id, slot))${flat}`,
  'create index holds_until on holds (until_ms)',
];

const searched = ['credential', 'token', 'actor', 'target', 'task', 'action'];

const audit = (words: Words): string[] => [
  `create table audit (
    chain ${words.text} not null,
    n bigint not null,
    at_ms bigint not null,
    action ${words.text} not null,
    actor ${words.text} not null,
    address ${words.text},
    credential ${words.text},
    token ${words.text},
    policy ${words.text},
    target ${words.text},
    task ${words.text},
    outcome ${words.text} not null,
    detail ${words.text} not null,
    hash ${words.text} not null,
    primary key (chain, n))`,
  'create index audit_at on audit (at_ms, chain, n)',
  ...searched.map(
    (name) => `create index audit_${name} on audit (${name}, at_ms, chain, n) where ${name} is not null`,
  ),
  ...(words.engine === 'sqlite' ? onlyGrowsInSqlite : onlyGrowsInPostgres),
];

const onlyGrowsInSqlite = ['update', 'delete'].map(
  (what) => `create trigger audit_no_${what} before ${what} on audit
    begin select raise(abort, 'the audit only grows'); end`,
);

const onlyGrowsInPostgres = [
  `create function turnpike_audit_only_grows() returns trigger language plpgsql as
    $$ begin raise exception 'the audit only grows'; end $$`,
  `create trigger audit_no_change before update or delete or truncate on audit
    for each statement execute function turnpike_audit_only_grows()`,
];

const keys = ({ bytes, text }: Words): string[] => [
  `create table vault_keys (
    id ${text} primary key,
    term integer not null unique,
    state ${text} not null,
    wrapped ${bytes},
    wraps bigint not null,
    created_ms bigint not null)`,
  `create unique index vault_keys_one on vault_keys (state) where state in ('primary', 'derive')`,
  `create table vault_values (name ${text} primary key, value ${bytes} not null)`,
];

const others = ({ text, flat }: Words): string[] => [
  `create table claims (name ${text} primary key, holder ${text} not null, until_ms bigint not null)`,
  `create table clients (
    name ${text} primary key,
    password_hash ${text},
    document ${text} not null,
    created_ms bigint not null,
    updated_ms bigint not null)`,
  `create table instances (id ${text} primary key, newest_kek ${text}, until_ms bigint not null)`,
  `create table once (
    name ${text} primary key,
    fingerprint ${text} not null,
    status integer,
    body ${text},
    until_ms bigint not null)`,
  'create index once_until on once (until_ms)',
  `create table changes (
    kind ${text} not null,
    ref ${text} not null,
    seq bigint not null unique,
    primary key (kind, ref))${flat}`,
  `create table counters (name ${text} primary key, value bigint not null)${flat}`,
  `insert into counters (name, value) values ('changes', 0)`,
];

/** The server's clock, in one place. */
const time = ({ engine }: Words): string[] =>
  engine === 'sqlite'
    ? []
    : [
        `create function turnpike_now_ms() returns bigint language sql stable as
          $$ select (extract(epoch from now()) * 1000)::bigint $$`,
      ];

/** Version 1. */
export const firstSchema = (words: Words): string[] =>
  [time, credentials, tokens, audit, keys, others].flatMap((part) => part(words));
