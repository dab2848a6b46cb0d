/** The schema as JSON Schema: for editors (`config/turnpike.schema.json`), for the example file, for hints. */
import { z } from 'zod';
import type { Path } from './problems.js';
import { configSchema } from './schema.js';

/** The part of JSON Schema that our settings use. `example`, `isTypical`, `either` and `belongs` are our own, see `fields.ts`. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly isTypical?: boolean;
  readonly either?: readonly string[];
  readonly belongs?: Readonly<Record<string, string>>;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
}

let cached: JsonSchema | undefined;

/** The schema of what is written in a file, made once. */
export function inputSchema(): JsonSchema {
  cached ??= z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
  return cached;
}

/** The alternatives of a schema, itself where it has none. */
export function alternatives(schema: JsonSchema): readonly JsonSchema[] {
  return schema.anyOf === undefined ? [schema] : schema.anyOf.flatMap(alternatives);
}

function step(schema: JsonSchema, key: string | number): readonly JsonSchema[] {
  return alternatives(schema).flatMap((part) => {
    if (typeof key === 'number') return part.items === undefined ? [part] : [part.items];
    const named = part.properties?.[key];
    if (named !== undefined) return [named];
    return typeof part.additionalProperties === 'object' ? [part.additionalProperties] : [];
  });
}

/** Names of the settings that may stand at a path. */
export function knownKeysAt(path: Path): readonly string[] {
  let parts: readonly JsonSchema[] = [inputSchema()];
  for (const key of path) parts = parts.flatMap((part) => step(part, key));
  return parts.flatMap(alternatives).flatMap((part) => Object.keys(part.properties ?? {}));
}

const ownKeywords = ['example', 'isTypical', 'either', 'belongs'];

/** Text of `config/turnpike.schema.json`. */
export function jsonSchemaText(): string {
  const shown = JSON.stringify(
    inputSchema(),
    (key, value: unknown) => (ownKeywords.includes(key) ? undefined : value),
    2,
  );
  return `${shown}\n`;
}
