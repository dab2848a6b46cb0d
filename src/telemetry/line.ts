/**
 * One exchange as one line of JSON, built by hand: a logger that walks an object costs several times as much.
 * The fields are listed here one by one; nothing that is not listed can reach the log.
 */
import type { ExchangeEnded } from '../core/events.js';

const needsEscape = /[^\u0020-\u0021\u0023-\u005b\u005d-\u007e]/;
const mostCharacters = 2048;

/** A JSON string. Plain ASCII, which is nearly everything, is taken as it is. Over-long text is cut. */
function quoted(value: string): string {
  const text = value.length > mostCharacters ? `${value.slice(0, mostCharacters)}…` : value;
  return needsEscape.test(text) ? JSON.stringify(text) : `"${text}"`;
}

const orNull = (value: string | null): string => (value === null ? 'null' : quoted(value));

/** Milliseconds with microseconds behind the point, put together from whole numbers: V8 prints fractions slowly. */
function ms(value: number | null): string {
  if (value === null) return 'null';
  const micros = Math.round(value * 1000);
  const whole = Math.trunc(micros / 1000);
  return `${whole}.${String(micros - whole * 1000).padStart(3, '0')}`;
}

/** Fields of an exchange that a setting can blank. */
export type RedactableField =
  'clientAddress' | 'client' | 'target' | 'site' | 'path' | 'session' | 'upstreamLabel';

const blank = '"[redacted]"';

/** Makes the function that writes exchanges; which fields are blank is decided once. */
export function createExchangeLine(
  redact: ReadonlySet<RedactableField>,
): (event: ExchangeEnded, wallMs: number) => string {
  const field = (name: RedactableField): ((value: string | null) => string) =>
    redact.has(name) ? (value) => (value === null ? 'null' : blank) : orNull;
  const clientAddress = field('clientAddress');
  const client = field('client');
  const target = field('target');
  const site = field('site');
  const path = field('path');
  const session = field('session');
  const upstreamLabel = field('upstreamLabel');
  return (event, wallMs) =>
    `{"level":30,"time":${wallMs},"event":"exchange","requestId":${quoted(event.requestId)},"kind":"${event.kind}"` +
    `,"listener":${quoted(event.listener)},"client":${client(event.client)},"clientAddress":${clientAddress(event.clientAddress)}` +
    `,"method":${quoted(event.method)},"target":${target(event.target)},"site":${site(event.site)},"path":${path(event.path)}` +
    `,"route":${quoted(event.route)},"pool":${orNull(event.pool)},"poolWhy":${orNull(event.poolWhy)},"upstream":${orNull(event.upstream)}` +
    `,"upstreamLabel":${upstreamLabel(event.upstreamLabel)},"session":${session(event.session)},"generation":${event.generation}` +
    `,"status":${event.status},"code":${orNull(event.code)},"blame":${orNull(event.blame)},"verdict":${quoted(event.verdict)}` +
    `,"attempts":${event.attempts},"bytesIn":${event.bytesIn},"bytesOut":${event.bytesOut},"end":"${event.end}"` +
    `,"ms":${ms(event.times.totalMs)},"firstByteMs":${ms(event.times.firstByteMs)},"openMs":${ms(event.times.openMs)}}\n`;
}
