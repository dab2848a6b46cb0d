/** Files that hold stored answers: `.http` files, bodies with or without a head beside them, folders of these. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { withHead } from '../../app/stored-answer.js';

/** One file, as a stored answer. */
export interface Sample {
  readonly name: string;
  readonly bytes: Buffer;
}

const SAMPLE = /\.(http|html|json)$/;

/** The files that the paths name; of folders, those that look like samples, in the order of their names. */
export function sampleFiles(paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    if (!statSync(path).isDirectory()) return [path];
    const names = readdirSync(path, { recursive: true, encoding: 'utf8' });
    return names
      .filter((name) => SAMPLE.test(name))
      .sort()
      .map((name) => join(path, name));
  });
}

/** Reads one. */
export function readSample(file: string): Sample {
  const bytes = readFileSync(file);
  if (!/\.(html|json)$/.test(file)) return { name: file, bytes };
  const sidecar = `${file}.head`;
  return { name: file, bytes: withHead(file, bytes, existsSync(sidecar) ? readFileSync(sidecar) : null) };
}
