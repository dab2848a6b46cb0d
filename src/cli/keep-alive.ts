/** Keeps the process alive while a command works: our own timers don't, and a drain may wait on nothing else. */
import { MessageChannel } from 'node:worker_threads';

/** Holds the event loop open until the returned function is called, or the process ends. */
export function keepAlive(): () => void {
  const { port1 } = new MessageChannel();
  port1.ref();
  return () => port1.close();
}
