/**
 * What proves to a webhook that an alert is ours and new: `t=SECONDS,v1=HEX`, where HEX is the HMAC-SHA256 of
 * `SECONDS.BODY` under the webhook's secret. The time is part of what is signed, so that an old one can't be sent again.
 */
import { createHmac } from 'node:crypto';

/** The value of `X-Turnpike-Signature`. @param atMs wall-clock time */
export function webhookSignature(secret: string, body: string, atMs: number): string {
  const seconds = Math.floor(atMs / 1000);
  const mac = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return `t=${seconds},v1=${mac}`;
}
