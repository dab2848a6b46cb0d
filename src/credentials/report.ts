/** What becomes of a credential by what its user saw; the rules are the table of `credential-status.ts`. */
import type { Emit } from '../core/events.js';
import type { CredentialStatusChanged } from '../core/token-events.js';
import type { CredentialRecords, CredentialRow, TokenRow } from '../storage/credential-ports.js';
import { StorageAway } from '../storage/ports.js';
import { auditedContext } from './acquire-context.js';
import type { TokenActor } from './actor.js';
import type { Audit } from '../audit/entry.js';
import { moveOf, statusAt, type StatusEvent } from './credential-status.js';
import type { IndexFeed } from './index-feed.js';
import type { StoreTime } from './store-time.js';
import type { Report, Reported } from './token-desk.js';
import { shortHash } from './token-id.js';

/** Reports about a token are taken for so long after its time. */
const LATE_MS = 300_000;
const MOST_REASON = 200;
/** So often a race with others who change the credential may be lost in a row. */
const MOST_TRIES = 10;

/** What reporting works with. */
export interface ReportingParts {
  readonly credentials: CredentialRecords;
  readonly feed: IndexFeed;
  readonly audit: Audit;
  readonly time: StoreTime;
  readonly emit: Emit;
}

/** What was seen of a credential. */
export interface Seen {
  readonly key: string;
  /** Only if the key is still this credential's. */
  readonly id: string;
  readonly event: StatusEvent;
  /** How long the site said; null where it didn't. */
  readonly saidMs: number | null;
  readonly reason: string | null;
  readonly by: CredentialStatusChanged['by'];
}

/** How the credential stands then; null: it is gone. */
export type Moved = { readonly row: CredentialRow; readonly isChanged: boolean } | null;

/** Takes what was seen. */
export class Reporting {
  readonly #parts: ReportingParts;

  constructor(parts: ReportingParts) {
    this.#parts = parts;
  }

  /** Of the holder of a token. */
  async report(token: TokenRow, { outcome, forMs, reason }: Report, by: TokenActor): Promise<Reported> {
    if (token.state === 'revoked' || token.expiresMs + LATE_MS < this.#parts.time.nowMs())
      return { kind: 'too_late' };
    const { credentialKey: key, credentialId: id, policy, hash } = token;
    await this.#parts.audit.record({
      ...{ action: 'token.report', actor: by.name, address: by.address, outcome },
      ...{ credential: key, token: shortHash(hash), policy, ...auditedContext(token.context) },
    });
    const saidMs = forMs ?? null;
    const why = reason === undefined ? null : reasonOf(reason);
    const moved = await this.move({ key, id, event: outcome, saidMs, reason: why, by: 'holder' });
    if (moved === null) return { kind: 'gone' };
    const { row, isChanged } = moved;
    const status = statusAt(row, this.#parts.time.nowMs());
    const untilMs = status === row.status ? row.untilMs : null;
    return { kind: 'reported', credentialKey: key, status, untilMs, isChanged };
  }

  /** Moves a status by its table; whoever changes the credential at the same time is seen. Records nothing. */
  async move({ key, id, event, saidMs, reason, by }: Seen): Promise<Moved> {
    const { credentials, feed, time } = this.#parts;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const [row] = await credentials.rows([key]);
      if (row === undefined || row.id !== id) return null;
      const move = moveOf(row, event, { nowMs: time.nowMs(), saidMs });
      if (move.kind === 'stay') return { row, isChanged: false };
      const { status, forMs } = move;
      const changed = await credentials.change(key, { status, forMs, reason }, row.revision);
      if (changed.kind === 'gone') return null;
      if (changed.kind !== 'changed') continue;
      feed.put(changed.row);
      time.heard(changed.row.updatedMs);
      this.#parts.emit({
        ...{ type: 'credential_status_changed', credential: key, from: row.status, to: status, forMs, by },
      });
      return { row: changed.row, isChanged: true };
    }
    throw new StorageAway('too many change the same credential at once');
  }
}

/** One line, bounded. */
export function reasonOf(text: string): string {
  return text
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')
    .trim()
    .slice(0, MOST_REASON);
}
