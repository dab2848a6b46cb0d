/** Stores that are away when the test says so, and count what they are asked. */
import { StoreAway } from '../../src/state/ports.js';

/** A store behind a switch. */
export interface Switched<T> {
  readonly store: T;
  readonly way: { isUp: boolean; calls: number };
}

/** Puts a switch before all methods of `near` but `listen`. */
export function switched<T extends object>(near: T): Switched<T> {
  const way = { isUp: true, calls: 0 };
  const store = new Proxy(near, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name, target);
      if (typeof method !== 'function' || name === 'listen') {
        return typeof method === 'function' ? (method.bind(target) as unknown) : method;
      }
      return async (...args: unknown[]) => {
        way.calls++;
        if (!way.isUp) throw new StoreAway('test');
        return (await method.apply(target, args)) as unknown;
      };
    },
  });
  return { store, way };
}
