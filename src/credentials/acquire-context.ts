/** What an asker says of its work: bounded, and read for the audit. PURE. */
import type { JsonObject } from '../storage/credential-ports.js';
import type { InputProblem } from './actor.js';

const MOST_BYTES = 4096;

/** What is wrong with a context, or null. */
export function contextFault(context: JsonObject): InputProblem | null {
  return Buffer.byteLength(JSON.stringify(context)) > MOST_BYTES
    ? { path: 'context', message: `longer than ${MOST_BYTES} bytes` }
    : null;
}

/** What the audit keeps of it. */
export function auditedContext(context: JsonObject): { target: string | null; task: string | null } {
  return { target: textOf(context['target']), task: textOf(context['task_id']) };
}

const textOf = (value: unknown): string | null =>
  typeof value === 'string' ? value.slice(0, 253) : typeof value === 'number' ? String(value) : null;
