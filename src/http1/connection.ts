/**
 * What a head says about its connection: whether it stays (RFC 9112, section 9.3), becomes something else
 * (RFC 9110, section 7.8), or waits for a word (section 10.1.1). Only reads heads.
 */
import { connectionTokens } from './fields.js';
import type { RequestHead, ResponseHead } from './message.js';
import { withoutOws } from './octets.js';

/**
 * Whether the peer means the connection to stay after this message. HTTP/1.1 stays unless it says `close`, 1.0
 * only if it says `keep-alive`. Old clients say it to a proxy in `Proxy-Connection`, which counts in requests
 * where Connection is silent. A 1.0 answer with Transfer-Encoding ends its connection (RFC 9112, section 6.1).
 */
export function wantsKeepAlive(head: RequestHead | ResponseHead): boolean {
  const { fields, minor } = head;
  const said = persistenceIn(connectionTokens(fields));
  if (minor === 0 && fields.has('transfer-encoding')) return false;
  if (said !== null) return said;
  if ('method' in head) {
    const saidToProxy = persistenceIn(fields.all('proxy-connection').flatMap((value) => value.split(',')));
    if (saidToProxy !== null) return saidToProxy;
  }
  return minor === 1;
}

/** `close` wins over `keep-alive`; null where neither stands. */
function persistenceIn(tokens: readonly string[]): boolean | null {
  let keeps: boolean | null = null;
  for (const token of tokens) {
    const lower = withoutOws(token).toLowerCase();
    if (lower === 'close') return false;
    if (lower === 'keep-alive') keeps = true;
  }
  return keeps;
}

/**
 * The protocol of an upgrade, in lower case, or null. Only when Connection names it and not in HTTP/1.0
 * (RFC 9110, section 7.8). Several protocols come as one text with commas.
 */
export function upgradeOf(head: RequestHead | ResponseHead): string | null {
  if (head.minor === 0 || !head.fields.has('upgrade')) return null;
  if (!connectionTokens(head.fields).includes('upgrade')) return null;
  const protocols = head.fields.all('upgrade').join(', ').toLowerCase();
  return protocols === '' ? null : protocols;
}

/** Whether the client waits for a 100 before it sends its body (RFC 9110, section 10.1.1); 1.0 clients never do. */
export function expectsContinue(head: RequestHead): boolean {
  return (
    head.minor === 1 && head.fields.all('expect').some((value) => value.toLowerCase() === '100-continue')
  );
}
