/** The tokens of the admin API: those of the configuration, or else the one that is kept in the data folder. */
import { tokenInFolder } from '../admin/token-file.js';
import type { AdminToken } from '../admin/tokens.js';
import type { Config } from '../config/config.js';
import type { Emit } from '../core/events.js';
import type { Random } from '../core/random.js';

/** The tokens, and the file where one was found or made. */
export interface AdminTokens {
  readonly tokens: readonly AdminToken[];
  readonly file: string | null;
}

/** Finds or makes the tokens. Where none can be kept nobody gets in; the gateway itself serves all the same. */
export function adminTokens(config: Config, random: Random, emit: Emit): AdminTokens {
  if (config.admin === null && config.adminSocket === null) return { tokens: [], file: null };
  if (config.adminApi.tokens.length > 0) return { tokens: config.adminApi.tokens, file: null };
  const found = tokenInFolder(config.dataDir, random);
  if (found.kind === 'trouble') {
    const detail = { path: found.path, code: found.code };
    emit({ type: 'note', level: 'warn', what: 'admin_token_not_kept', detail });
    return { tokens: [], file: null };
  }
  const { path, isNew, wasOpen } = found;
  const level = wasOpen ? 'warn' : 'info';
  emit({ type: 'note', level, what: 'admin_token', detail: { path, isNew, wasReadableByOthers: wasOpen } });
  return { tokens: [{ name: 'file', token: found.token, scopes: ['admin'] }], file: path };
}
