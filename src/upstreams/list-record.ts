/**
 * One upstream given as named values: a line of JSON, a row of CSV.
 *
 *   url (proxy), or host (ip, address, server), port and protocol (scheme; http where missing);
 *   username (user, login) and password (pass), taken as they stand, never decoded;
 *   weight; tags (a list, or one text parted by , ; | or blanks); country (country_code): two letters; city; asn
 *
 * Names are read in any case; others are left aside, since vendors add what they like. What holds for the whole file gives
 * way to what the record says; tags are added. Reasons never repeat a value: it may be a password.
 */
import { cityName, makeUpstream, readEndpoint } from './upstream.js';
import type { ParsedUpstream, UpstreamOptions } from './upstream.js';

/** What a record can say. */
export type RecordField =
  | 'url'
  | 'host'
  | 'port'
  | 'protocol'
  | 'username'
  | 'password'
  | 'weight'
  | 'tags'
  | 'country'
  | 'city'
  | 'asn';

/** Values by field; text, or what JSON has. */
export type ListRecord = Partial<Record<RecordField, unknown>>;

const fields: Readonly<Record<string, RecordField>> = Object.assign(
  Object.create(null) as Record<string, RecordField>,
  {
    ...{ url: 'url', proxy: 'url', host: 'host', ip: 'host', address: 'host', server: 'host', port: 'port' },
    ...{ protocol: 'protocol', scheme: 'protocol' },
    ...{ username: 'username', user: 'username', login: 'username', password: 'password', pass: 'password' },
    ...{
      weight: 'weight',
      tags: 'tags',
      country: 'country',
      country_code: 'country',
      city: 'city',
      asn: 'asn',
    },
  },
);

/** The field that a key or a column name stands for, or null. */
export function fieldNamed(name: string): RecordField | null {
  return fields[name.trim().toLowerCase()] ?? null;
}

class Unreadable extends Error {}

const TAG = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const CITY = /^[^\u0000-\u001f\u007f]{1,64}$/;
const ASN = /^(?:AS)?([1-9][0-9]{0,9})$/i;
const LARGEST_ASN = 4_294_967_295;

/** Makes an upstream of a record. */
export function upstreamOfRecord(record: ListRecord, options: UpstreamOptions): ParsedUpstream {
  try {
    return readRecord(record, optionsOf(record, options));
  } catch (error) {
    if (error instanceof Unreadable) return { kind: 'bad', reason: error.message };
    throw error;
  }
}

function readRecord(record: ListRecord, options: UpstreamOptions): ParsedUpstream {
  const url = textOf(record, 'url');
  const host = textOf(record, 'host');
  if (url !== null && host !== null) throw new Unreadable('an upstream has a url or a host, not both');
  const endpoint = readEndpoint(url ?? urlOf(record, host));
  const username = textOf(record, 'username');
  const password = textOf(record, 'password');
  if (endpoint.kind === 'bad') return endpoint;
  if (username === null && password === null) return makeUpstream(endpoint.value, options);
  if (endpoint.value.login !== null)
    throw new Unreadable('the login is given twice: in the url and beside it');
  const { protocol, host: at, port } = endpoint.value;
  const login = { username: username ?? '', password: password ?? '' };
  return makeUpstream({ protocol, host: at, port, login }, options);
}

function urlOf(record: ListRecord, host: string | null): string {
  if (host === null) throw new Unreadable('neither url nor host is given');
  if (/[@/]/.test(host)) throw new Unreadable('the host is not a host name or address');
  const port = textOf(record, 'port');
  if (port === null && !/:[0-9]+$/.test(host)) throw new Unreadable('the port is missing');
  const isBareIpv6 = port !== null && host.includes(':') && !host.startsWith('[');
  const place = isBareIpv6 ? `[${host}]` : host;
  const protocol = (textOf(record, 'protocol') ?? 'http').toLowerCase();
  return `${protocol}://${place}${port === null ? '' : `:${port}`}`;
}

/** Text of a field; null where it is missing or empty. A user name or password is never trimmed. */
function textOf(record: ListRecord, field: RecordField): string | null {
  const value = record[field];
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string' && typeof value !== 'number') throw new Unreadable(`${field} is text`);
  const text = String(value);
  const isLogin = field === 'username' || field === 'password';
  const kept = isLogin ? text : text.trim();
  return kept === '' ? null : kept;
}

function optionsOf(record: ListRecord, options: UpstreamOptions): UpstreamOptions {
  const weight = textOf(record, 'weight');
  const country = textOf(record, 'country');
  const city = textOf(record, 'city');
  const asn = textOf(record, 'asn');
  const tags = tagsOf(record.tags);
  if (weight === null && country === null && city === null && asn === null && tags.length === 0)
    return options;
  if (country !== null && !/^[A-Za-z]{2}$/.test(country)) throw new Unreadable('the country is two letters');
  if (city !== null && !CITY.test(city)) throw new Unreadable('the city is at most 64 characters');
  return {
    ...options,
    ...(weight !== null && { weight: weightOf(weight) }),
    ...(country !== null && { country }),
    ...(city !== null && { city: cityName(city) }),
    ...(asn !== null && { asn: asnOf(asn) }),
    ...(tags.length > 0 && { tags: [...new Set([...(options.tags ?? []), ...tags])] }),
  };
}

function weightOf(text: string): number {
  const weight = Number(text);
  if (weight >= 0.001 && weight <= 1e6) return weight;
  throw new Unreadable('the weight is a number from 0.001 to 1000000');
}

function asnOf(text: string): number {
  const asn = Number(ASN.exec(text)?.[1] ?? NaN);
  if (asn <= LARGEST_ASN) return asn;
  throw new Unreadable('the asn is a number such as 64500');
}

function tagsOf(value: unknown): readonly string[] {
  if (value === undefined || value === null) return [];
  const given: readonly unknown[] =
    typeof value === 'string' ? value.split(/[,;|\s]+/) : Array.isArray(value) ? value : [0];
  const tags = given.filter((tag) => tag !== '');
  if (tags.length > 64 || !tags.every((tag): tag is string => typeof tag === 'string' && TAG.test(tag))) {
    throw new Unreadable('tags are at most 64 words of letters, digits, dots, underscores and dashes');
  }
  return tags;
}
