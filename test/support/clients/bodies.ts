/** The bodies that the matrices send and expect. */
import { createHash } from 'node:crypto';

/** What is uploaded; ASCII, since a page in a browser sends it as text. */
export function uploadOf(bytes: number): Buffer {
  return Buffer.alloc(bytes, 'turnpike 0123456789');
}

/** What an origin's `/chunked/<count>` serves. */
export function chunks(count: number): string {
  return Array.from({ length: count }, (_, n) => `chunk ${n}\n`).join('');
}

/** SHA-256 in hex. */
export function sha256Of(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}
