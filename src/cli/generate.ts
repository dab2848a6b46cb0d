/** `turnpike generate`: the files that come from the schema. For developers; `npm run generate` calls it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exampleYaml } from '../config/example.js';
import { jsonSchemaText } from '../config/json-schema.js';
import { fingerprintsYaml } from '../config/rule-yaml.js';
import { exitCodes } from './exit-codes.js';
import type { FlagValues } from './flags.js';
import type { Output } from './output.js';

/** The generated files by name. */
export function generatedFiles(): ReadonlyMap<string, string> {
  return new Map([
    ['turnpike.example.yaml', exampleYaml()],
    ['turnpike.schema.json', jsonSchemaText()],
    ['rules/fingerprints.yaml', fingerprintsYaml()],
  ]);
}

/** Writes them. */
export async function generate(values: FlagValues, output: Output): Promise<number> {
  const folder = typeof values['folder'] === 'string' ? values['folder'] : 'config';
  mkdirSync(join(folder, 'rules'), { recursive: true });
  for (const [name, text] of generatedFiles()) {
    writeFileSync(join(folder, name), text);
    output.print(join(folder, name));
  }
  return exitCodes.ok;
}
