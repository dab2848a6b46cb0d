/** What docs/clients.md shows of a client's settings, taken from what the matrix runs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { programSettings } from './programs.js';
import { pythonScript } from './python.js';

const root = join(import.meta.dirname, '../../..');

/** The section of docs/clients.md under this heading; empty when there is none. */
export function sectionOf(client: string): string {
  const sections = readFileSync(join(root, 'docs/clients.md'), 'utf8').split(/^## /m);
  return sections.find((section) => section.startsWith(`${client}\n`)) ?? '';
}

/** What stands between `docs:begin` and `docs:end`, without its indent and without what only the test needs. */
function region(path: string, name = ''): string {
  const text = readFileSync(path, 'utf8');
  const found = new RegExp(`^( *)(?:#|//) docs:begin *${name}\\n([^]*?)^ *(?:#|//) docs:end`, 'm').exec(text);
  if (found === null) throw new Error(`${path} has no docs:begin ${name}`);
  const [, indent = '', lines = ''] = found;
  return lines
    .split('\n')
    .map((line) => line.slice(indent.length).replace(', **more', ''))
    .join('\n')
    .trim();
}

const inNode = ['undici', 'axios', 'got'];

/** The lines that the client's section must show as they are. */
export function shownSettings(client: string): string {
  const command = Object.entries(programSettings).find(([name]) => name === client)?.[1];
  if (command !== undefined)
    return command
      .replaceAll('{proxy}', 'http://127.0.0.1:8080')
      .replaceAll('{user}', 'crawler')
      .replaceAll('{password}', 'password');
  if (client === 'chromium') return region(join(import.meta.dirname, 'browser.ts'), client);
  if (inNode.includes(client)) return region(join(import.meta.dirname, 'node.ts'), client);
  return region(pythonScript(client));
}
