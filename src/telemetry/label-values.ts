/** From what requests bring to label values from closed sets: the number of series must not depend on traffic. */

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT']);

/** A method that everybody knows, or `other`. */
export const methodClass = (method: string): string => (methods.has(method) ? method : 'other');

const statusClasses = ['none', '1xx', '2xx', '3xx', '4xx', '5xx'];

/** `2xx` and its kind; `none` when the client left before a status was sent. */
export function statusClass(status: number): string {
  return statusClasses[Math.floor(status / 100)] ?? 'other';
}

const verdicts = new Set([
  ...['ok', 'blocked', 'suspect', 'throttled', 'upstream_failed', 'target_failed', 'unclear'],
  ...['client_gone', 'local_fault', 'none'],
]);

/** A verdict of the table in DESIGN 9, `none` where nothing was tried, or `other`. */
export const verdictClass = (verdict: string): string => {
  if (verdict === '') return 'none';
  return verdicts.has(verdict) ? verdict : 'other';
};

/** A name from the configuration, or `none` where there is none. */
export const nameOrNone = (name: string | null): string => (name === null || name === '' ? 'none' : name);
