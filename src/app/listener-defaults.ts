/** What each listener presumes, from a configuration: at the start, and of another one on reload. */
import tls from 'node:tls';
import type { Config } from '../config/config.js';
import type { ListenerDefaults } from '../gateway/understand.js';
import { parseCidr } from '../protocol/address.js';

/** What a listener presumes of its requests. @throws when the certificate can't be used. */
export function defaultsOf(listener: Config['listeners'][number]): ListenerDefaults {
  const { label, client, route, defaults, proxyFrom } = listener;
  const pair = listener.tls;
  return {
    ...{ name: label, client, route, controls: defaults, merged: new WeakMap() },
    tls: pair === null ? null : tls.createSecureContext({ cert: pair.cert, key: pair.key.reveal() }),
    proxyFrom: proxyFrom.map(parseCidr).filter((range) => range !== null),
  };
}

/** For each listener what the new configuration says of its address; nothing for one that it leaves out. */
export function defaultsIn(started: Config, next: Config): (ListenerDefaults | null)[] {
  const left = [...next.listeners];
  return started.listeners.map(({ label }) => {
    const at = left.findIndex((each) => each.label === label);
    const [found] = at < 0 ? [] : left.splice(at, 1);
    return found === undefined ? null : defaultsOf(found);
  });
}
