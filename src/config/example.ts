/**
 * The example file, made from the schema: every setting with its help. What has a default is written out with it;
 * what has none is commented out (`#key`, without a blank) and shows an example. Lists that are empty by default
 * show one commented-out item.
 */
import { alternatives, inputSchema } from './json-schema.js';
import type { JsonSchema } from './json-schema.js';

const width = 110;

const header = `# yaml-language-server: $schema=./turnpike.schema.json
#
# Every setting of Turnpike. What is written out is the default: a file needs only what differs from it.
# Commented-out settings have no default and show an example. Secrets are best given by reference:
# env:NAME reads a variable, file:path a file. Paths are relative to the folder of this file.
#
# Check a file with: turnpike check-config --config FILE
# This one is generated from the schema by: npm run generate
`;

const isPlain = (text: string): boolean =>
  /^[A-Za-z0-9_./~][A-Za-z0-9_./~:-]*$/.test(text) &&
  !/^(true|false|yes|no|on|off|null|~|[\d.]+)$/i.test(text);

function scalar(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(scalar).join(', ')}]`;
  if (typeof value !== 'string') return JSON.stringify(value);
  return isPlain(value) ? value : `'${value.replaceAll("'", "''")}'`;
}

function commentLines(help: string, indent: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of help.split(' ')) {
    if (line !== '' && indent.length + 2 + line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].map((text) => `${indent}# ${text}`);
}

const indented = (lines: readonly string[], indent: string): string[] =>
  lines.map((line) => `${indent}${line}`);

/** Comments out so that taking away one `#` of each line gives the lines back; comments keep theirs. */
const commentedOut = (lines: readonly string[]): string[] => lines.map((line) => `#${line}`);

const objectIn = (schema: JsonSchema | undefined): JsonSchema | undefined =>
  schema === undefined ? undefined : alternatives(schema).find((part) => part.properties !== undefined);

const itemsOf = (schema: JsonSchema): JsonSchema | undefined =>
  alternatives(schema).find((part) => part.items !== undefined)?.items;

/** The settings of an object, one below the other. */
function settings(schema: JsonSchema, names: readonly string[]): string[] {
  return names.flatMap((name) => setting(name, schema.properties?.[name] ?? {}, schema));
}

function item(schema: JsonSchema, names: readonly string[]): string[] {
  return ['-', ...indented(settings(schema, names), '  ')];
}

/** The items that a list shows: one with everything, or one more for each other way to write it, with what belongs to it. */
function items(schema: JsonSchema): string[] {
  const names = Object.keys(schema.properties ?? {});
  const either = schema.either ?? [];
  const last = either.at(-1);
  const belongs = (name: string): string | undefined => schema.belongs?.[name];
  return [
    ...either
      .slice(0, -1)
      .flatMap((only) => item(schema, [only, ...names.filter((name) => belongs(name) === only)])),
    ...item(
      schema,
      names.filter((name) => belongs(name) === undefined && (!either.includes(name) || name === last)),
    ),
  ];
}

function setting(name: string, schema: JsonSchema, parent: JsonSchema): string[] {
  const help = commentLines(schema.description ?? '', '');
  const object = objectIn(itemsOf(schema)) ?? undefined;
  const map = alternatives(schema).find((part) => typeof part.additionalProperties === 'object');
  if (typeof map?.additionalProperties === 'object') {
    const [first = 'default'] = Object.keys(Object(schema.default ?? {}) as object);
    const inner = settings(map.additionalProperties, Object.keys(map.additionalProperties.properties ?? {}));
    return [...help, `${name}:`, `  ${first}:`, ...indented(inner, '    ')];
  }
  if (object !== undefined) return [...help, ...list(name, schema, object)];
  if (schema.properties !== undefined) {
    const inner = settings(schema, Object.keys(schema.properties));
    return [...help, `${name}:`, ...indented(inner, '  ')];
  }
  if (schema.default !== undefined) return [...help, `${name}: ${scalar(schema.default)}`];
  const line = `${name}: ${scalar(schema.example)}`;
  const isShown = parent.required?.includes(name) === true || parent.either?.includes(name) === true;
  return [...help, ...(isShown || schema.isTypical === true ? [line] : commentedOut([line]))];
}

function list(name: string, schema: JsonSchema, object: JsonSchema): string[] {
  const shown = items(object);
  if (typeof schema.default === 'string') {
    const written = commentedOut([`${name}:`, ...indented(shown, '  ')]);
    return [`${name}: ${scalar(schema.default)}`, '# The same, written out:', ...written];
  }
  const isEmpty = Array.isArray(schema.default) && schema.default.length === 0;
  return [`${name}:`, ...indented(isEmpty ? commentedOut(shown) : shown, '  ')];
}

/** Text of `config/turnpike.example.yaml`. Loads as it is, and means the same as an empty file. */
export function exampleYaml(): string {
  const schema = inputSchema();
  const sections = Object.entries(schema.properties ?? {}).map(([name, part]) =>
    setting(name, part, schema).join('\n'),
  );
  return `${header}\n${sections.join('\n\n')}\n`;
}
