/** Reads the rules that a command is about, or tells what is wrong with them. */
import { readFileSync } from 'node:fs';
import { loadRules, type LoadedRules } from '../../config/rule-file.js';
import { fileTrouble } from '../../config/secrets.js';
import type { Output } from '../output.js';
import { tellProblems } from '../report.js';

/** The rules of a file, the shipped ones where none is given; null after having told what is wrong. */
export function readRules(
  file: string | null,
  output: Output,
): Extract<LoadedRules, { kind: 'rules' }> | null {
  let text = '';
  try {
    if (file !== null) text = readFileSync(file, 'utf8');
  } catch (error) {
    output.tell(
      `turnpike: the rules: ${file ?? ''} ${fileTrouble(error)}; give the path of a file with rules`,
    );
    return null;
  }
  const loaded = loadRules(text);
  if (loaded.kind === 'rules') return loaded;
  tellProblems(loaded.problems, file, output);
  return null;
}
