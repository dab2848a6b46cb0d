/**
 * The values of controls: one reader per kind, the same for header fields and username parameters.
 * A reader gives the value, or null where the text is none; all lengths and ranges are bounded here.
 */

const SESSION_ID = /^[A-Za-z0-9._~-]{1,128}$/;
const NAME = /^[A-Za-z0-9._-]{1,64}$/;
const COUNTRY = /^[A-Za-z]{2}$/;
const CITY = /^[A-Za-z][A-Za-z0-9 ._'-]{0,63}$/;
const ASN = /^(?:AS)?([1-9][0-9]{0,9})$/i;
const COUNT = /^(?:0|[1-9][0-9]{0,2})$/;
const SECONDS = /^(?:0|[1-9][0-9]{0,6})(?:\.[0-9]{1,3})?$/;
const MOST_TAGS = 16;
const MOST_RETRIES = 100;
const LARGEST_ASN = 4_294_967_295;

/** `[A-Za-z0-9._~-]{1,128}`. */
export function readSessionId(text: string): string | null {
  return SESSION_ID.test(text) ? text : null;
}

export function readMode(text: string): 'soft' | 'hard' | null {
  const lower = text.toLowerCase();
  return lower === 'soft' || lower === 'hard' ? lower : null;
}

/** Name of a pool, an upstream's id. */
export function readName(text: string): string | null {
  return NAME.test(text) ? text : null;
}

/** Two letters, to lower case. */
export function readCountry(text: string): string | null {
  return COUNTRY.test(text) ? text.toLowerCase() : null;
}

/** To lower case, blanks as underscores: `New York` and `new_york` are one city. */
export function readCity(text: string): string | null {
  return CITY.test(text) ? text.toLowerCase().replaceAll(' ', '_') : null;
}

/** `64500` or `AS64500`. */
export function readAsn(text: string): number | null {
  const number = Number(ASN.exec(text)?.[1] ?? NaN);
  return number <= LARGEST_ASN ? number : null;
}

/** `fast,cheap`: one to sixteen names. */
export function readTags(text: string): readonly string[] | null {
  if (text.length > MOST_TAGS * 66) return null;
  const tags = text.split(',').map((tag) => tag.trim());
  return tags.length <= MOST_TAGS && tags.every((tag) => NAME.test(tag)) ? [...new Set(tags)] : null;
}

/** 0 to 100. */
export function readRetries(text: string): number | null {
  const number = COUNT.test(text) ? Number(text) : Infinity;
  return number <= MOST_RETRIES ? number : null;
}

/** Seconds, at most three decimals, above 0 and at most `maxMs`; in milliseconds. */
export function readSeconds(text: string, maxMs: number): number | null {
  const ms = SECONDS.test(text) ? Math.round(Number(text) * 1000) : 0;
  return ms > 0 && ms <= maxMs ? ms : null;
}

/** `on` or `off`, in any case. */
export function readSwitch(text: string): boolean | null {
  const lower = text.toLowerCase();
  return lower === 'on' ? true : lower === 'off' ? false : null;
}
