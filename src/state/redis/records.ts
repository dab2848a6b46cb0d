/**
 * What our values in Redis look like, and what is believed of what comes back: anybody who may write there could have
 * put it. A value that is not exactly ours is no value; nothing here throws. Scripts that compare values believe the same.
 * The first number is the form of the rest. Another form needs another name of its key, since gateways of two versions
 * share a Redis for a while.
 *
 *   pin     1|generation|exit|sealed key
 *   ban     1|version|until|strikes|by|reason      in messages `time left` stands for `until`
 *   member  1|version|load|key,key
 */
import { MAX_VERSION } from '../../facts/ban-order.js';
import type { Member } from '../../facts/member.js';
import type { Pin, SharedBan } from '../ports.js';

const EXIT = /^[\w.:@-]{1,128}$/;
const SITE = /^[\w.:[\]-]{1,255}$/;
const PIN = /^1\|([1-9]\d{0,8})\|([\w.:@-]+)\|([\w-]*)$/;
const LONGEST_PIN = 2200;
const BAN = /^1\|([1-9]\d{0,12})\|(\d{1,16})\|(\d{1,2})\|([\w-]{1,64})\|([\x20-\x7e\u00a0-\uffff]{0,200})$/;
const MEMBER = /^1\|([\w.+-]{1,64})\|(\d{1,9})\|((?:[\w.-]{1,64}(?:,[\w.-]{1,64}){0,31})?)$/;
const MEMBER_ID = /^[\w-]{1,64}$/;

/** No ban lasts longer than a year, whatever Redis says. */
const MAX_LEFT_MS = 366 * 86_400_000;
const MAX_STRIKES = 40;
const LONGEST_REASON = 200;

/** A pin and the sealed name of its session. */
export interface PinRecord {
  readonly pin: Pin;
  readonly sealed: string;
}

/** The value of a pin. */
export function writePin({ pin, sealed }: PinRecord): string {
  return `1|${pin.generation}|${pin.exit}|${sealed}`;
}

/** Reads the value of a pin; null for anything else. */
export function readPin(value: unknown): PinRecord | null {
  const match = typeof value === 'string' && value.length <= LONGEST_PIN ? PIN.exec(value) : null;
  if (match === null) return null;
  const [, generation, exit = '', sealed = ''] = match;
  return { pin: { exit, generation: Number(generation) }, sealed };
}

/** The reason as it may stand in a value: one line, bounded. */
export function reasonText(reason: string): string {
  return reason.replace(/[^\x20-\x7e\u00a0-\uffff]/g, ' ').slice(0, LONGEST_REASON);
}

/** Reads field and value of a ban. @param nowMs the clock by which its end is given; 0 for a message */
export function readBan(field: unknown, value: unknown, nowMs: number): SharedBan | null {
  if (typeof field !== 'string' || typeof value !== 'string') return null;
  const match = BAN.exec(value);
  const [exit = '', site = '', more] = field.split(' ');
  if (match === null || more !== undefined || !EXIT.test(exit)) return null;
  if (site !== '*' && !SITE.test(site)) return null;
  const [, version, until, strikes, by = '', reason = ''] = match;
  if (Number(version) > MAX_VERSION || Number(strikes) > MAX_STRIKES) return null;
  return {
    exit,
    site: site === '*' ? null : site,
    version: Number(version),
    leftMs: Math.min(Math.max(0, Number(until) - nowMs), MAX_LEFT_MS),
    strikes: Number(strikes),
    by,
    reason,
  };
}

/** Reads a message about a ban. */
export function readBanMessage(message: string): SharedBan | null {
  const [field, value, more] = message.slice(0, 2000).split('\n');
  return more === undefined ? readBan(field, value, 0) : null;
}

/** The value of a member. */
export function writeMember(member: Member): string {
  return `1|${member.version}|${Math.min(Math.round(member.load), 999_999_999)}|${member.keys.join(',')}`;
}

/** Reads id and value of a member; null for anything else. */
export function readMember(id: unknown, value: unknown): Member | null {
  if (typeof id !== 'string' || typeof value !== 'string' || !MEMBER_ID.test(id)) return null;
  const match = MEMBER.exec(value);
  if (match === null) return null;
  const [, version = '', load, keys = ''] = match;
  return { id, version, load: Number(load), keys: keys === '' ? [] : keys.split(',') };
}

/** The texts and whole numbers of a reply by its tag; null for a reply of any other shape. */
export function readReply(
  reply: unknown,
): { readonly tag: string; readonly rest: readonly unknown[] } | null {
  if (!Array.isArray(reply)) return null;
  const [tag, ...rest] = reply as unknown[];
  return typeof tag === 'string' ? { tag, rest } : null;
}

/** A whole number from 0 in a reply, as number or as text; null for anything else. */
export function readWhole(value: unknown): number | null {
  const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : null;
}
