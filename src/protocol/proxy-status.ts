/** The Proxy-Status field (RFC 9209), written as structured fields (RFC 9651). */

/** What the field says. */
export interface ProxyStatusParts {
  /** Name of this gateway. */
  readonly gateway: string;
  /** Error type of RFC 9209, section 2.3, from the error table. */
  readonly error?: string | null | undefined;
  /** Opaque id of the exit; never its address. */
  readonly nextHop?: string | null | undefined;
  readonly details?: string | null | undefined;
  /** Status that came from the next hop. */
  readonly receivedStatus?: number | null | undefined;
}

const TOKEN = /^[A-Za-z*][!#$%&'*+.^_`|~0-9A-Za-z:/-]*$/;
const NOT_PRINTABLE = /[^\x20-\x7e]/g;
const LONGEST_STRING = 512;

/** One member: `turnpike; error=dns_error; details="…"`. Always valid, whatever the texts hold. */
export function proxyStatusField(parts: ProxyStatusParts): string {
  let field = itemOf(parts.gateway);
  if (parts.error !== undefined && parts.error !== null && TOKEN.test(parts.error))
    field += `; error=${parts.error}`;
  if (parts.nextHop !== undefined && parts.nextHop !== null) field += `; next-hop=${itemOf(parts.nextHop)}`;
  const status = parts.receivedStatus;
  if (status !== undefined && status !== null && Number.isInteger(status))
    field += `; received-status=${status}`;
  if (parts.details !== undefined && parts.details !== null) field += `; details=${stringOf(parts.details)}`;
  return field;
}

/** A token where the text is one, else a string. */
function itemOf(text: string): string {
  return TOKEN.test(text) && text.length <= LONGEST_STRING ? text : stringOf(text);
}

/** A string holds printable ASCII only; what is not becomes `?`. */
function stringOf(text: string): string {
  const printable = text.slice(0, LONGEST_STRING).replace(NOT_PRINTABLE, '?');
  return `"${printable.replace(/["\\]/g, '\\$&')}"`;
}
