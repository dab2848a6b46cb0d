/**
 * Everything that is let pass from targets and upstreams though the standard forbids it, in one table.
 * Sites and cheap proxies send such heads and browsers show their pages; a crawler wants them too.
 * Nothing here is let pass from clients. What isn't in the table is a fault.
 */

/** One deviation. */
export interface Tolerance {
  /** What comes, and what is made of it. */
  readonly what: string;
  /** Why it does no harm, or who needs it. */
  readonly why: string;
  /** True if the peer may have meant something else about its framing: its connection is not used again. */
  readonly leavesDoubt: boolean;
}

const row = (what: string, why: string): Tolerance => ({ what, why, leavesDoubt: false });
const doubtful = (what: string, why: string): Tolerance => ({ what, why, leavesDoubt: true });

export const tolerances = {
  repeated_length: row(
    'Content-Length repeated with the same value: collapsed into one.',
    'RFC 9110, section 8.6 allows it; real sites behind two proxies send it (H04).',
  ),
  padded_length: row(
    'Content-Length with leading zeros: written without them.',
    'RFC 9110, section 8.6 allows it; the number is decimal.',
  ),
  folded_line: doubtful(
    'A field continued on the next line: joined with one space.',
    'RFC 9112, section 5.2 asks a proxy to do so.',
  ),
  blank_before_colon: row(
    'Blanks between a field name and its colon: removed.',
    'RFC 9112, section 5.1 asks a proxy to do so (H07).',
  ),
  bad_line: doubtful(
    'A line without colon or with a bad field name: dropped, with its continuation.',
    'Browsers ignore such a line; to forward it would hand the doubt on (H08, H09).',
  ),
  control_byte: doubtful(
    'A field with a control byte in its value: dropped, unless it frames the body. In the reason phrase: the phrase is dropped.',
    'RFC 9110, section 5.5 calls such fields dangerous to forward (H08, H09).',
  ),
  lf_line_end: row(
    'A line that ends with LF alone.',
    'RFC 9112, section 2.2 allows a recipient to take it (H08).',
  ),
  odd_status: row(
    'A status from 600 to 999.',
    'Sites use such codes as a word to bots, and ban rules match them (H11).',
  ),
  empty_line_before: doubtful(
    'Up to four bytes of line ends before the status line: skipped.',
    'Servers leave them behind what they said before; browsers skip as many.',
  ),
  missing_reason: row(
    'A status line that ends after the status, without the space.',
    'The phrase says nothing (RFC 9112, section 4).',
  ),
  later_minor_version: row(
    'HTTP/1.2 to HTTP/1.9: treated as HTTP/1.1.',
    'RFC 9110, section 2.5: a higher minor version is compatible.',
  ),
} as const satisfies Record<string, Tolerance>;

export type ToleranceName = keyof typeof tolerances;

/** Leniency about bodies, which has no head to be noted in. */
export const bodyTolerances = {
  identity_coding: row(
    'Transfer-Encoding: identity: ignored.',
    'RFC 2616 had it as the coding that changes nothing.',
  ),
  blank_after_chunk_size: row(
    'Blanks after a chunk size: ignored.',
    'Sloppy servers pad the size (H05); the size stays unambiguous.',
  ),
  lf_line_end: row('A line that ends with LF alone.', 'The same servers that do so in the head.'),
} as const satisfies Record<string, Tolerance>;
