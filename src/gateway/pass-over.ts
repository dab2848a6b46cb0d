/**
 * What becomes of a connection when there are so many that no descriptor may be kept for hearing one more out: the
 * answer is with the kernel at once, if at all, and the socket is closed in the same turn, or the next accept would fail.
 */
import type net from 'node:net';
import type { Failure } from '../core/errors.js';
import { refusalInPassing } from './respond.js';
import type { GatewayServices } from './services.js';
import type { ListenerDefaults } from './understand.js';

const OVER_LIMIT: Failure = { code: 'overloaded', detail: 'limits.connections is reached.' };

/** Refuses a socket that was just accepted, and closes it. In TLS nothing can be said in passing. */
export function passOver(
  services: GatewayServices,
  { name, tls }: Pick<ListenerDefaults, 'name' | 'tls'>,
  socket: net.Socket,
  clientAddress: string,
): void {
  socket.on('error', () => undefined);
  if (tls === null) socket.write(refusalInPassing(OVER_LIMIT), 'latin1');
  socket.destroy();
  const { detail } = OVER_LIMIT;
  services.emit({
    type: 'connection_refused',
    ...{ listener: name, clientAddress, reason: 'over_limit', detail },
  });
}
