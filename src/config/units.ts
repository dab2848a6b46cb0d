/**
 * How settings are spelled: durations, sizes, addresses. Text in, value or null out; nothing else.
 *
 *   duration   30s  5m  1h  250ms  24h  1d  1.5s   or a number of seconds
 *   size       64KiB  1MiB  512B  10kB  2MB        or a number of bytes
 *   byte rate  10GiB/day  500MB/h  1GB/10m
 *   address    127.0.0.1:8080  [::1]:8080  localhost:8080
 */
import ipaddr from 'ipaddr.js';
import { parseRate } from '../facts/limit.js';
import type { Rate } from '../facts/limit.js';

/** A host without brackets, and a port. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

const durationUnits: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

const sizeUnits: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1000,
  mb: 1000 ** 2,
  gb: 1000 ** 3,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
};

const quantity = /^(\d{1,15}(?:\.\d{1,6})?)\s*([A-Za-z]{1,6})$/;

function scaled(text: string, units: Readonly<Record<string, number>>): number | null {
  const match = quantity.exec(text.trim());
  if (match === null) return null;
  const unit = units[(match[2] ?? '').toLowerCase()];
  return unit === undefined ? null : Math.round(Number(match[1]) * unit);
}

/** Milliseconds of `30s`, `5m`, `1h`, `250ms`, or of a bare number of seconds; null when it is none of these. */
export function parseDuration(value: string | number): number | null {
  if (typeof value === 'number')
    return Number.isFinite(value) && value >= 0 ? Math.round(value * 1000) : null;
  if (/^\d{1,9}(\.\d{1,6})?$/.test(value.trim())) return Math.round(Number(value) * 1000);
  return scaled(value, durationUnits);
}

/** Bytes of `64KiB`, `10MB`, `512B`, or of a bare number; null when it is none of these. */
export function parseSize(value: string | number): number | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value : null;
  if (/^\d{1,15}$/.test(value.trim())) return Number(value);
  return scaled(value, sizeUnits);
}

/** A size in a time, `10GiB/day`: its count is of bytes. Null when it is not one, or nothing at all. */
export function parseByteRate(text: string): Rate | null {
  const slash = text.indexOf('/');
  const bytes = slash < 0 ? null : parseSize(text.slice(0, slash));
  const time = slash < 0 ? null : parseRate(`1/${text.slice(slash + 1).trim()}`);
  if (bytes === null || bytes === 0 || time === null || time.burst !== undefined) return null;
  return { count: bytes, perMs: time.perMs };
}

/** The host and port of `127.0.0.1:8080`, `[::1]:8080` or `localhost:8080`; null when either part is missing or wrong. */
export function parseAddress(text: string): Address | null {
  const match = /^(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9._-]{1,253})):(\d{1,5})$/.exec(text.trim());
  if (match === null) return null;
  const port = Number(match[3]);
  if (port > 65_535) return null;
  if (match[1] !== undefined) return ipaddr.IPv6.isValid(match[1]) ? { host: match[1], port } : null;
  const host = match[2] ?? '';
  // A host of digits and dots must be a whole IPv4 address: `127.1` and `0177.0.0.1` are somebody's mistake.
  if (/^[\d.]+$/.test(host) && !ipaddr.IPv4.isValidFourPartDecimal(host)) return null;
  return { host, port };
}

/** `host:port`, with brackets round an IPv6 address. */
export function formatAddress(address: Address): string {
  return address.host.includes(':') ? `[${address.host}]:${address.port}` : `${address.host}:${address.port}`;
}

/** Whether only this machine can connect to a listener on this host. */
export function isLoopback(host: string): boolean {
  if (/^(.+\.)?localhost$/i.test(host)) return true;
  return ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback';
}
