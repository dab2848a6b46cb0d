/** A balancer in front that says who connected to it: that address counts for logins, limits and the log. */
import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { TestGateway } from '../support/gateway.js';
import { makeCertificate } from '../support/real-origins.js';
import { startHaproxy } from '../support/real-proxies.js';
import { RawClient } from '../support/raw-client.js';
import type { Peer } from '../support/scripted-upstream.js';
import { askSocksOn } from '../support/socks-client.js';
import { createStage } from '../support/stage.js';

const run = promisify(execFile);
const stage = createStage();

/** A listener behind balancers of these ranges. */
const behind = (from: string, more: Record<string, unknown> = {}) => ({
  listen: {
    proxy: [{ at: '127.0.0.1:0', proxy_protocol: true, proxy_protocol_from: [from], ...more }],
    admin: '127.0.0.1:0',
  },
});
const clients = [
  { name: 'near', allow_from: ['10.0.0.0/8'] },
  { name: 'far', allow_from: ['2001:db8::/32'] },
];

const get = 'GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n';

async function statusOf(gateway: TestGateway, header: string | Buffer, request = get): Promise<number> {
  const client = await RawClient.connect(gateway.port);
  client.write(header);
  client.write(request);
  const { status } = await client.answer();
  client.destroy();
  return status;
}

describe('the PROXY protocol', () => {
  it('names the client for allow_from and the log, in both versions', async () => {
    const gateway = await stage.gateway([await stage.good('page')], { ...behind('127.0.0.0/8'), clients });
    expect(await statusOf(gateway, 'PROXY TCP4 10.1.2.3 127.0.0.1 5000 80\r\n')).toBe(200);
    expect(await statusOf(gateway, 'PROXY TCP6 2001:DB8::1 ::1 5000 80\r\n')).toBe(200);
    expect(await statusOf(gateway, 'PROXY TCP4 11.1.2.3 127.0.0.1 5000 80\r\n')).toBe(407);
    const v2 = Buffer.from('0d0a0d0a000d0a515549540a2111000c0a0102030000000013880050', 'hex');
    expect(await statusOf(gateway, v2)).toBe(200);
    // Nobody is named: the balancer's own address counts, and it is no client.
    expect(await statusOf(gateway, 'PROXY UNKNOWN\r\n')).toBe(407);
    const lines = gateway.events.filter((event) => event.type === 'exchange_ended');
    expect(lines.map(({ client, clientAddress }) => `${client} ${clientAddress}`)).toEqual([
      'near 10.1.2.3',
      'far 2001:db8::1',
      ' 11.1.2.3',
      'near 10.1.2.3',
      ' 127.0.0.1',
    ]);
  });

  it('is demanded of a balancer: no header, a bad one or half of one is the end', async () => {
    const gateway = await stage.gateway([await stage.good('page')], {
      ...behind('127.0.0.1'),
      clients,
      timeouts: { client_header: '300ms' },
    });
    for (const start of [get, 'PROXY TCP4 a b 1 2\r\n', 'PROXY TCP4 10.1', '']) {
      const client = await RawClient.connect(gateway.port);
      client.write(start);
      expect(await client.ended()).not.toBe('open');
      expect(client.text).toBe('');
    }
    const refused = gateway.events.filter((event) => event.type === 'connection_refused');
    expect(refused.map(({ reason }) => reason)).toEqual(Array(4).fill('proxy_header'));
    expect(gateway.events.some((event) => event.type === 'exchange_ended')).toBe(false);
  });

  it('is taken from nobody else', async () => {
    const gateway = await stage.gateway([await stage.good('page')], { ...behind('127.9.9.9'), clients });
    expect(await statusOf(gateway, 'PROXY TCP4 10.1.2.3 127.0.0.1 5000 80\r\n')).toBe(400);
    expect(await statusOf(gateway, '')).toBe(407);
  });

  it('says nothing of one that was reset before it was looked at: nobody knows who that was', async () => {
    const gateway = await stage.gateway([await stage.good('page')], { ...behind('127.0.0.0/8'), clients });
    // Our loop stands still meanwhile, so the reset is there before the connection is taken.
    const script = [
      'import socket, struct, sys',
      's = socket.create_connection(("127.0.0.1", int(sys.argv[1])))',
      's.sendall(b"PROXY TCP4 10.1.2.3 127.0.0.1 5000 80\\r\\n")',
      's.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))',
      's.close()',
    ].join('\n');
    execFileSync('python3', ['-c', script, String(gateway.port)]);
    expect(await statusOf(gateway, 'PROXY TCP4 10.1.2.3 127.0.0.1 5000 80\r\n')).toBe(200);
    const lines = gateway.events.filter((event) => event.type === 'exchange_ended');
    expect(lines.map(({ status, clientAddress }) => `${status} ${clientAddress}`)).toEqual(['200 10.1.2.3']);
    expect(gateway.events.filter((event) => event.type === 'connection_refused')).toEqual([]);
  });

  it('counts each client by itself against connections_per_address', async () => {
    const gateway = await stage.gateway([await stage.good('page')], {
      ...behind('127.0.0.1'),
      clients,
      limits: { connections_per_address: 1 },
    });
    const open = async (address: string) => {
      const client = await RawClient.connect(gateway.port);
      client.write(`PROXY TCP4 ${address} 127.0.0.1 5000 80\r\n${get}`);
      return { client, status: (await client.answer()).status };
    };
    const [first, other, second] = [await open('10.0.0.1'), await open('10.0.0.2'), await open('10.0.0.1')];
    expect([first.status, other.status, second.status]).toEqual([200, 200, 503]);
    for (const { client } of [first, other, second]) client.destroy();
    const gone = () => gateway.events.filter(({ type }) => type === 'client_disconnected').length === 3;
    await expect.poll(gone).toBe(true);
    const again = await open('10.0.0.1');
    expect(again.status).toBe(200);
    again.client.destroy();
  });

  it('stands before SOCKS5 too', async () => {
    const gateway = await stage.gateway([await stage.good('page')], { ...behind('127.0.0.1'), clients });
    const client = await RawClient.connect(gateway.port);
    client.write('PROXY TCP4 10.1.2.3 127.0.0.1 5000 80\r\n');
    expect((await askSocksOn(client)).reply).toBe(0);
    client.destroy();
    expect(await gateway.event('exchange_ended')).toMatchObject({
      client: 'near',
      clientAddress: '10.1.2.3',
    });
  });
});

/** Answers every request with a page, inside tunnels too, one request a tunnel. */
async function pages(peer: Peer, { head }: { head: string }): Promise<void> {
  if (head.startsWith('CONNECT ')) await peer.write('HTTP/1.1 200 OK\r\n\r\n').head();
  peer.answer('page', '200 OK', ['Connection: close']).end();
}

describe.each(['send-proxy', 'send-proxy-v2'] as const)('haproxy with %s in front', (sends) => {
  it('passes on who connected: plain, TLS and SOCKS5 by curl', async () => {
    const certificate = await makeCertificate();
    stage.keep({ close: () => certificate.dispose() });
    const tls = { cert: certificate.certPath, key: certificate.keyPath };
    const local = [{ name: 'local', allow_from: ['127.0.0.1'] }];
    const gateway = await stage.gateway([await stage.exit(pages)], {
      ...behind('127.16.0.0/12', { tls }),
      clients: local,
    });
    const at = { host: '127.0.0.1', port: gateway.port, url: gateway.url };
    const front = stage.keep(await startHaproxy({ behind: at, sends, listenHost: '127.17.0.5' }));
    const place = `${front.host}:${front.port}`;
    const ways = [
      ['--proxy', `http://${place}`],
      ['--proxy', `https://${place}`, '--proxy-insecure'],
      ['--proxytunnel', '--proxy', `http://${place}`],
      ['--socks5-hostname', place],
    ];
    for (const way of ways) {
      const args = ['-sS', '--max-time', '20', '--noproxy', '', ...way, 'http://a.test/'];
      const { stdout } = await run('curl', args, { env: { PATH: process.env['PATH'] } });
      expect(stdout).toBe('page');
    }
    await expect.poll(() => gateway.events.filter(({ type }) => type === 'exchange_ended').length).toBe(4);
    const lines = gateway.events.filter((event) => event.type === 'exchange_ended');
    expect(lines.map(({ client, clientAddress }) => `${client} ${clientAddress}`)).toEqual(
      Array(4).fill('local 127.0.0.1'),
    );
    expect(gateway.events.filter((event) => event.type === 'connection_refused')).toEqual([]);
  });
});
