/** Reads files of the audit: line by line, split at line feeds alone, whatever characters the lines hold. */
import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Anchor, ChainCheck } from './check.js';
import { readAuditLine, readLoggedAnchor } from './lines.js';

const LINE_FEED = 10;

/** What isn't UTF-8 is no line of ours; as Latin-1 it reads as something else, so that it is seen. */
const textOf = (bytes: Buffer): string => bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1');

/** One line; the last one of a file may lack its end. */
export interface FileLine {
  readonly text: string;
  readonly isWhole: boolean;
}

/** The lines of a regular file from a byte on; none of anything else. */
export async function* linesOf(path: string, start = 0): AsyncGenerator<FileLine> {
  if (!(await stat(path)).isFile()) return;
  let rest: Buffer[] = [];
  for await (const piece of createReadStream(path, { start }) as AsyncIterable<Buffer>) {
    let at = 0;
    for (let end = piece.indexOf(LINE_FEED); end !== -1; end = piece.indexOf(LINE_FEED, at)) {
      yield { text: textOf(Buffer.concat([...rest, piece.subarray(at, end)])), isWhole: true };
      rest = [];
      at = end + 1;
    }
    if (at < piece.length) rest.push(piece.subarray(at));
  }
  if (rest.length > 0) yield { text: textOf(Buffer.concat(rest)), isWhole: false };
}

/** How far chains had come, as a file of the audit or a log of a gateway says. */
export async function anchorsIn(path: string): Promise<Anchor[]> {
  const anchors: Anchor[] = [];
  for await (const { text } of linesOf(path)) {
    const line = readAuditLine(text);
    if (line.kind === 'anchor' && line.isExact) anchors.push(line.head);
    else if (line.kind === 'unreadable' && text.includes('audit_anchored')) {
      const logged = readLoggedAnchor(text);
      if (logged !== null) anchors.push(logged);
    }
  }
  return anchors;
}

/** Gives all that stands in a file to a check: anchors first, then records. */
export async function checkFile(path: string, check: ChainCheck): Promise<void> {
  for (const each of await anchorsIn(path)) check.anchor(each);
  await checkRecords(path, check);
}

async function checkRecords(path: string, check: ChainCheck): Promise<void> {
  let number = 0;
  let unread: number[] = [];
  const say = (kind: 'unreadable' | 'torn'): void => {
    for (const each of unread) check.unreadable(each, kind);
    unread = [];
  };
  for await (const { text, isWhole } of linesOf(path)) {
    number += 1;
    const line = readAuditLine(text);
    if (line.kind === 'unreadable') {
      unread.push(number);
      // A process writes to it, or a crash tore it and nobody has opened the file since.
      if (!isWhole) say('torn');
      continue;
    }
    say(line.kind === 'torn_mark' ? 'torn' : 'unreadable');
    if (line.kind === 'record') {
      if (line.isExact) check.add(line.row);
      else check.misshapen(line.row);
    } else if (line.kind === 'anchor' && !line.isExact) check.unreadable(number);
  }
  say('unreadable');
}
