/** A balancer as one must not have it before a Redis: each connection goes to the next of some servers. */
import net, { type AddressInfo } from 'node:net';

/** Starts it on a free port. */
export async function inTurn(ports: readonly number[]): Promise<{ port: number; close(): Promise<void> }> {
  let turn = 0;
  const server = net.createServer((client) => {
    const far = net.connect(ports[turn++ % ports.length] ?? 0, '127.0.0.1');
    for (const each of [client, far]) each.on('error', () => undefined);
    client.pipe(far).pipe(client);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const close = async (): Promise<void> => void (await new Promise((done) => server.close(done)));
  return { port: (server.address() as AddressInfo).port, close };
}
