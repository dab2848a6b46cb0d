/** Reads what Redis says of itself (`INFO`): lines of `name:value`. Whatever is missing or odd is null. */

/** What is wanted of it. */
export interface RedisInfo {
  readonly version: string | null;
  /** Drawn anew at each start of the server. */
  readonly runId: string | null;
  readonly role: string | null;
  readonly isCluster: boolean;
  readonly usedBytes: number | null;
  /** 0: no limit. */
  readonly maxBytes: number | null;
  readonly policy: string | null;
  readonly saves: { readonly isAof: boolean; readonly rdb: string | null; readonly aof: string | null };
  readonly clients: number | null;
  readonly maxClients: number | null;
  readonly opsPerSecond: number | null;
  readonly evicted: number | null;
  /** Seconds of CPU that it has used, of the thread that does all commands. */
  readonly cpuSeconds: number | null;
}

/** Never throws, whatever the text. */
export function readRedisInfo(text: string): RedisInfo {
  const values = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const at = line.indexOf(':');
    if (at > 0) values.set(line.slice(0, at), line.slice(at + 1));
  }
  const word = (name: string): string | null => values.get(name) ?? null;
  const number = (name: string): number | null => {
    const value = word(name);
    return value !== null && /^\d+(\.\d+)?$/.test(value) ? Number(value) : null;
  };
  const sum = (ending: string): number | null => {
    const [user, system] = [number(`used_cpu_user${ending}`), number(`used_cpu_sys${ending}`)];
    return user === null || system === null ? null : user + system;
  };
  return {
    version: word('redis_version'),
    runId: word('run_id'),
    role: word('role'),
    isCluster: word('cluster_enabled') === '1',
    usedBytes: number('used_memory'),
    maxBytes: number('maxmemory'),
    policy: word('maxmemory_policy'),
    saves: {
      isAof: word('aof_enabled') === '1',
      rdb: word('rdb_last_bgsave_status'),
      aof: word('aof_last_write_status'),
    },
    clients: number('connected_clients'),
    maxClients: number('maxclients'),
    opsPerSecond: number('instantaneous_ops_per_sec'),
    evicted: number('evicted_keys'),
    cpuSeconds: sum('_main_thread') ?? sum(''),
  };
}
