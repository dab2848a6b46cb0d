/**
 * A network of its own, by the namespaces of Linux: a loopback with nobody else on it, a range of ports as small as a test
 * wants, name servers that it chooses. A small process lives in it and hands its sockets out, so that a test listens
 * and connects in there from out here.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import type dgram from 'node:dgram';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** How it differs from a usual one. */
export interface NetworkOptions {
  /** First and last port that the system gives out there. */
  readonly ports?: readonly [first: number, last: number];
  /** Content of /etc/resolv.conf. */
  readonly resolvConf?: string;
}

/** A network that runs. */
export interface OwnNetwork {
  /** What a command begins with to be run inside. */
  readonly inside: readonly string[];
  /** Listens inside. */
  listen(at: { readonly host?: string; readonly port?: number }): Promise<net.Server>;
  /** Connects inside, from a port that is not of those that the system gives out; reads nothing before it is told to. */
  connect(port: number): Promise<net.Socket>;
  /** Takes datagrams inside. */
  datagrams(port: number): Promise<dgram.Socket>;
  close(): Promise<void>;
}

/** Runs inside: makes what it is asked for and sends it out. */
const DOORMAN = `
const [net, dgram] = [require('node:net'), require('node:dgram')];
process.on('message', ({ what, options }) => {
  const fail = (error) => process.send({ what, error: error.message });
  if (what === 'listen') {
    const server = net.createServer().on('error', fail);
    server.listen(options, () => process.send({ what }, server, () => server.close()));
  } else if (what === 'connect') {
    const socket = net.connect({ ...options, pauseOnCreate: true, allowHalfOpen: true });
    socket.once('error', fail).once('connect', () => process.send({ what }, socket));
  } else {
    const socket = dgram.createSocket('udp4').on('error', fail);
    socket.bind(options, () => process.send({ what }, socket, () => socket.close()));
  }
});
process.on('disconnect', () => process.exit());
process.send({ what: 'ready' });
`;

const LOOPBACK = '127.0.0.1';
const FIRST_CLIENT_PORT = 20_000;

interface Word {
  readonly what: string;
  readonly error?: string;
}

/** Starts one. Needs `unshare`, `nsenter` and `ip`, and leave to make namespaces. */
export async function startNetwork(options: NetworkOptions = {}): Promise<OwnNetwork> {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-network-'));
  const steps = ['PATH=$PATH:/usr/sbin:/sbin', 'ip link set lo up'];
  if (options.ports !== undefined)
    steps.push(`echo '${options.ports.join(' ')}' > /proc/sys/net/ipv4/ip_local_port_range`);
  if (options.resolvConf !== undefined) {
    const file = join(folder, 'resolv.conf');
    writeFileSync(file, options.resolvConf);
    steps.push(`mount --bind ${file} /etc/resolv.conf`);
  }
  const script = [...steps, 'exec "$@"'].join(' && ');
  const command = ['-Urnm', 'sh', '-c', script, 'sh', process.execPath, '-e', DOORMAN];
  const child = spawn('unshare', command, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  await heard(child, 'ready');
  let lastPort = FIRST_CLIENT_PORT;
  let line = Promise.resolve<unknown>(null);
  // One after the other, so that each gets what it asked for.
  const ask = <T>(what: string, each: object): Promise<T> => {
    const turn = line.then(() => {
      const answer = heard<T>(child, what);
      child.send({ what, options: each });
      return answer;
    });
    line = turn.catch(() => null);
    return turn;
  };
  return {
    inside: ['nsenter', '-t', String(child.pid), '-U', '-n', '-m', '--preserve-credentials'],
    listen: (at) => ask('listen', { host: LOOPBACK, port: 0, ...at }),
    connect: (port) =>
      ask('connect', { host: LOOPBACK, port, localAddress: LOOPBACK, localPort: ++lastPort }),
    datagrams: (port) => ask('datagrams', { address: LOOPBACK, port }),
    close: async () => {
      const ended = new Promise((resolve) => child.once('close', resolve));
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The next word of this kind, with what came along. */
function heard<T>(child: ChildProcess, what: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const onWord = (word: Word, handle: unknown): void => {
      if (word.what !== what) return;
      settle();
      if (word.error === undefined) resolve(handle as T);
      else reject(new Error(`${what} in the network: ${word.error}`));
    };
    const onExit = (code: number | null): void => {
      settle();
      reject(new Error(`the network is gone, with exit code ${code}`));
    };
    const settle = (): void => {
      child.off('message', onWord);
      child.off('exit', onExit);
    };
    child.on('message', onWord);
    child.on('exit', onExit);
  });
}
