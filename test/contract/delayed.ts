/** A store far away: calls take time, and calls that are under way together arrive in any order. */
import type { Random } from '../../src/core/random.js';

/** Puts a way between the caller and all methods of `near` that promise; `listen` and the like stay near. */
export function delayed<T extends object>(
  near: T,
  random: Random,
  stayNear: readonly string[] = ['listen'],
): T {
  const waiting: (() => void)[] = [];
  const travel = (): Promise<void> =>
    new Promise((resolve) => {
      waiting.push(resolve);
      setImmediate(() => {
        const [arrived] = waiting.splice(random.below(waiting.length), 1);
        arrived?.();
      });
    });
  return new Proxy(near, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name, target);
      if (typeof method !== 'function') return method;
      if (stayNear.includes(String(name))) return method.bind(target);
      return async (...args: unknown[]) => {
        await travel();
        return method.apply(target, args) as unknown;
      };
    },
  });
}
