/**
 * What a head says about its connection: whether it stays (RFC 9112, section 9.3), becomes something else
 * (RFC 9110, section 7.8), or waits for a word (section 10.1.1). Only reads heads.
 */
import { connectionTokens, listTokens } from './fields.js';
import type { RequestHead, ResponseHead } from './message.js';
import { tolerances } from './tolerances.js';

/**
 * Whether the peer means the connection to stay after this message. HTTP/1.1 stays unless it says `close`, 1.0
 * only if it says `keep-alive`. Old clients say it to a proxy in `Proxy-Connection`, which counts in requests
 * where Connection is silent. A 1.0 answer with Transfer-Encoding ends its connection (RFC 9112, section 6.1), and
 * so does one in which something was tolerated that leaves a doubt about what the peer meant.
 */
export function wantsKeepAlive(head: RequestHead | ResponseHead): boolean {
  const { fields, minor } = head;
  if (minor === 0 && fields.has('transfer-encoding')) return false;
  if ('tolerated' in head && head.tolerated.some((name) => tolerances[name].leavesDoubt)) return false;
  const said = persistenceIn(connectionTokens(fields));
  if (said !== null) return said;
  if ('method' in head && fields.has('proxy-connection')) {
    return persistenceIn(listTokens(fields, 'proxy-connection')) ?? minor === 1;
  }
  return minor === 1;
}

/** `close` wins over `keep-alive`; null where neither stands. */
function persistenceIn(tokens: readonly string[]): boolean | null {
  if (tokens.includes('close')) return false;
  return tokens.includes('keep-alive') ? true : null;
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
