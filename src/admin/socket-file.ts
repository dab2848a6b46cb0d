/** The admin listener on a socket in the file system: only its owner may connect. */
import { chmodSync, lstatSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Whether anybody accepts connections there. */
function isServed(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect({ path });
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', () => resolve(false));
  });
}

function isSocket(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true;
}

/** Listens; a socket that a process has left behind is replaced, one in use or any other file is not. */
export async function listenOnSocket(server: FastifyInstance, path: string): Promise<void> {
  if (isSocket(path) && !(await isServed(path))) rmSync(path);
  await server.listen({ path });
  chmodSync(path, 0o600);
}
