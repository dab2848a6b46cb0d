/** What a dependency does to the strings of the whole process is undone, or every request would cost a fifth more. */
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

/** Whether V8 has the methods of strings as a plain table after this module was loaded. */
function hasQuickStrings(module: string): boolean {
  const script = `await import('${module}'); console.log(%HasFastProperties(String.prototype));`;
  const args = ['--allow-natives-syntax', '--input-type=module', '--eval', script];
  return execFileSync(process.execPath, args, { encoding: 'utf8' }).trim() === 'true';
}

it('the gateway has quick strings, though ioredis alone has not', () => {
  expect(hasQuickStrings('ioredis')).toBe(false);
  expect(hasQuickStrings(new URL('../../dist/app.js', import.meta.url).href)).toBe(true);
});
