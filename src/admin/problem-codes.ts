/**
 * Every kind of error that the admin listener answers with, as one table: its status, what it means, and what whoever
 * asked should do. The pages and the OpenAPI description are made of it; nothing else decides a status.
 */

/** One kind. */
export interface ProblemRow {
  readonly status: number;
  readonly title: string;
  /** What to do about it. */
  readonly todo: string;
  /** When to ask again (`Retry-After`), where nobody knows better. */
  readonly retryAfterS?: number;
}

/** The table. */
export const problemTable = {
  malformed: {
    status: 400,
    title: 'The request is malformed.',
    todo: 'Mend what `detail` names; the same request will fail again.',
  },
  unauthorized: {
    status: 401,
    title: 'A token is wanted.',
    todo: 'Send `Authorization: Bearer` with a token of the configuration.',
  },
  forbidden: {
    status: 403,
    title: 'The token may not do this.',
    todo: 'Use a token with the scope that `detail` names.',
  },
  not_found: {
    status: 404,
    title: 'There is no such thing.',
    todo: 'Look at the list; it may have been removed.',
  },
  token_unknown: {
    status: 404,
    title: 'There is no such token of yours.',
    todo: 'Acquire one. A token is good only for the API token that acquired it.',
  },
  method_not_allowed: {
    status: 405,
    title: 'This page can not be asked for in that way.',
    todo: 'Use a method that the description lists.',
  },
  late: {
    status: 408,
    title: 'The request did not arrive in time.',
    todo: 'Send it again, whole and within 10 s.',
  },
  conflict: {
    status: 409,
    title: 'It does not fit what is there.',
    todo: 'Read what is there now, and decide anew.',
  },
  exists: {
    status: 409,
    title: 'The name is taken.',
    todo: 'Change the one that is there, or take another name.',
  },
  once_under_way: {
    status: 409,
    title: 'A request with this Idempotency-Key is under way.',
    todo: 'Ask again after `Retry-After`.',
    retryAfterS: 1,
  },
  credential_unusable: {
    status: 409,
    title: 'The credential of this token may not be used now.',
    todo: 'Release the token and acquire another.',
  },
  token_ended: {
    status: 410,
    title: 'The token is over.',
    todo: 'Acquire another.',
  },
  none_usable: {
    status: 409,
    title: 'No credential can be used.',
    todo: 'Waiting changes nothing: add credentials, enable some, or mend the filters of the policy.',
  },
  too_large: {
    status: 413,
    title: 'The request is too large.',
    todo: 'Send less at once.',
  },
  long_path: {
    status: 414,
    title: 'The path is too long.',
    todo: 'Put it into the body.',
  },
  unknown_type: {
    status: 415,
    title: 'The request is of a type that is not understood.',
    todo: 'Send `Content-Type: application/json`.',
  },
  misdirected: {
    status: 421,
    title: 'The request was meant for somebody else.',
    todo: 'Call the listener by its address, or add the name to `listen.admin_hosts`.',
  },
  impossible: {
    status: 422,
    title: 'The request can not be carried out as it stands.',
    todo: 'Mend what `detail` names.',
  },
  once_differs: {
    status: 422,
    title: 'This Idempotency-Key came with another request before.',
    todo: 'Take a new key for a new request.',
  },
  limited: {
    status: 429,
    title: 'A limit is reached.',
    todo: 'Ask again after `Retry-After`.',
  },
  none_free: {
    status: 429,
    title: 'No credential is free now.',
    todo: 'Wait for `Retry-After`, put the work back into its queue, or use another policy.',
  },
  large_head: {
    status: 431,
    title: 'The head of the request is too large.',
    todo: 'Send fewer or shorter fields.',
  },
  failed: {
    status: 500,
    title: 'The admin server failed.',
    todo: 'Tell the operator; the log of the gateway has more.',
  },
  busy: {
    status: 503,
    title: 'Too many are listening.',
    todo: 'Ask again later.',
    retryAfterS: 5,
  },
  vault_off: {
    status: 503,
    title: 'There is no vault.',
    todo: 'Set TURNPIKE_VAULT_KEY or `vault.key` (`turnpike vault init` makes one) and start anew.',
    retryAfterS: 60,
  },
  vault_sealed: {
    status: 503,
    title: 'The vault is sealed.',
    todo: 'Give it the right key, then `turnpike vault unseal` or a reload; nothing was changed.',
    retryAfterS: 30,
  },
  storage_away: {
    status: 503,
    title: 'The database can not be asked now.',
    todo: 'Ask again after `Retry-After`, with the same Idempotency-Key where something is created.',
    retryAfterS: 2,
  },
  audit_unavailable: {
    status: 503,
    title: 'The audit can not be written, so nothing was done.',
    todo: 'Ask again after `Retry-After`; the operator looks after the audit’s sinks.',
    retryAfterS: 2,
  },
} as const satisfies Readonly<Record<string, ProblemRow>>;

/** Name of a kind. */
export type ProblemCode = keyof typeof problemTable;

/** All of them. */
export const problemCodes = Object.keys(problemTable) as readonly ProblemCode[];

/** What a status means where nothing more is known: the first row with it. */
export function codeOfStatus(status: number): ProblemCode {
  return (
    problemCodes.find((code) => problemTable[code].status === status) ??
    (status < 500 ? 'malformed' : 'failed')
  );
}
