/** The Lua scripts: one file per intent, read once. Each says in its header what it wants and what it replies. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Every script, by the name of its file. */
export const scriptNames = [
  ...(['pin-find', 'pin-bind', 'pin-move', 'pin-drop'] as const),
  ...(['ban-put', 'bans-since'] as const),
  ...(['lease-acquire', 'lease-renew', 'lease-release'] as const),
  ...(['limit-take', 'limit-pick', 'limit-back', 'turn-take', 'turn-end'] as const),
  ...(['member-announce', 'member-leave', 'probe'] as const),
];

export type ScriptName = (typeof scriptNames)[number];

/** A script and the name that Redis keeps it under. */
export interface Script {
  readonly lua: string;
  readonly sha: string;
}

export type Scripts = Readonly<Record<ScriptName, Script>>;

/** Reads them all. @param change what a test does to each text */
export function loadScripts(change: (lua: string) => string = (lua) => lua): Scripts {
  const entries = scriptNames.map((name) => {
    const lua = change(readFileSync(new URL(`./scripts/${name}.lua`, import.meta.url), 'utf8'));
    return [name, { lua, sha: createHash('sha1').update(lua).digest('hex') }];
  });
  return Object.fromEntries(entries) as Scripts;
}
