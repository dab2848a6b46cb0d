/** What commands write, for tests to read. */
import type { Output } from '../../src/cli/output.js';

/** An output that keeps everything. */
export interface KeptOutput extends Output {
  readonly printed: string[];
  readonly told: string[];
}

/** Makes one. */
export function keptOutput(): KeptOutput {
  const printed: string[] = [];
  const told: string[] = [];
  return { printed, told, print: (text) => void printed.push(text), tell: (text) => void told.push(text) };
}
