/**
 * Which octets may stand where in an HTTP/1.1 head (RFC 9110, section 5.6.2; RFC 9112, sections 2 and 3).
 * Tables and not patterns, since every octet of every head is looked up once.
 */

export const HTAB = 9;
export const LF = 10;
export const CR = 13;
export const SP = 32;
export const HASH = 35;
export const COLON = 58;

function tableOf(valueOf: (octet: number) => number): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, octet) => valueOf(octet));
}

const isUpperCase = (octet: number): boolean => octet >= 0x41 && octet <= 0x5a;
const isLowerCase = (octet: number): boolean => octet >= 0x61 && octet <= 0x7a;
const isDigitOctet = (octet: number): boolean => octet >= 0x30 && octet <= 0x39;
const isHostPunctuation = (octet: number): boolean => '-._'.includes(String.fromCharCode(octet));

/** 0: no token character; 1: one; 2: one that is an upper-case letter. */
export const TOKEN = tableOf((octet) => {
  if (isUpperCase(octet)) return 2;
  if (isLowerCase(octet) || isDigitOctet(octet)) return 1;
  return "!#$%&'*+-.^_`|~".includes(String.fromCharCode(octet)) ? 1 : 0;
});

/** 1: may stand in a field value: visible characters, blanks and obs-text (RFC 9110, section 5.5). */
export const VALUE = tableOf((octet) => (octet === HTAB || (octet >= SP && octet !== 0x7f) ? 1 : 0));

/** 1: may stand in a request target. No control octet, no blank, no fragment; the rest goes on as it came. */
export const TARGET = tableOf((octet) => (octet > SP && octet !== 0x7f && octet !== HASH ? 1 : 0));

/** 1: may stand in a host name, before IDNA. */
export const HOST_NAME = tableOf((octet) =>
  isUpperCase(octet) || isLowerCase(octet) || isDigitOctet(octet) || isHostPunctuation(octet) || octet >= 0x80
    ? 1
    : 0,
);

/** The value of a hexadecimal digit, or 255. */
export const HEX = tableOf((octet) => {
  if (isDigitOctet(octet)) return octet - 0x30;
  const letter = octet | 0x20;
  return letter >= 0x61 && letter <= 0x66 && octet < 0x80 ? letter - 0x61 + 10 : 255;
});

/** Whether the character is a decimal digit. */
export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Whether the character is optional white space (RFC 9110, section 5.6.3). */
export function isBlank(code: number): boolean {
  return code === SP || code === HTAB;
}

/** The index of the first character at or after `from` that is no blank, at most `end`. */
export function skipBlanks(text: string, from: number, end: number): number {
  let at = from;
  while (at < end && isBlank(text.charCodeAt(at))) at++;
  return at;
}

/** The index after the last character before `end` that is no blank, at least `from`. */
export function dropBlanks(text: string, from: number, end: number): number {
  let at = end;
  while (at > from && isBlank(text.charCodeAt(at - 1))) at--;
  return at;
}

/** Text without blanks at its ends. Unlike `trim`, it leaves what only looks blank, such as a vertical tab. */
export function withoutOws(text: string): string {
  const start = skipBlanks(text, 0, text.length);
  return text.slice(start, dropBlanks(text, start, text.length));
}

/** Whether the text is a token (RFC 9110, section 5.6.2). */
export function isToken(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    if (!TOKEN[text.charCodeAt(i)]) return false;
  }
  return text !== '';
}

/** Whether every character may stand in a field value. */
export function isFieldValue(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    if (!VALUE[text.charCodeAt(i)]) return false;
  }
  return true;
}

/** The text with a blank for each character that may not stand in a field value (RFC 9110, section 5.5). */
export function asFieldValue(text: string): string {
  if (isFieldValue(text)) return text;
  let safe = '';
  for (let i = 0; i < text.length; i++) safe += VALUE[text.charCodeAt(i)] ? text.charAt(i) : ' ';
  return safe;
}

/** The target with what may not stand in one percent-encoded (RFC 3986, section 2.1). */
export function asTarget(text: string): string {
  for (let i = 0; i < text.length; i++) {
    if (!TARGET[text.charCodeAt(i)]) return encodeTarget(text);
  }
  return text;
}

function encodeTarget(text: string): string {
  let safe = '';
  for (const character of text) {
    if (TARGET[character.charCodeAt(0)]) safe += character;
    else
      for (const octet of Buffer.from(character))
        safe += `%${octet.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return safe;
}
