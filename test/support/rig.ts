/**
 * The usual set-up of a field case: one scripted upstream, a gateway in front of it, raw clients. All is closed when
 * the test is over, and the test fails when the process met an error that nobody caught or a script failed.
 */
import { onTestFinished } from 'vitest';
import { startGateway, type GatewayOptions, type TestGateway } from './gateway.js';
import { watchProcess } from './probes.js';
import { RawClient } from './raw-client.js';
import { startScripted, type Script, type ScriptedUpstream } from './scripted-upstream.js';

/** What a field case runs on. */
export interface Rig {
  readonly gateway: TestGateway;
  readonly upstream: ScriptedUpstream;
  /** A new connection to the gateway. */
  client(): Promise<RawClient>;
}

/** Options beyond the script: sections of the configuration, and upstreams besides or instead of the scripted one. */
export interface RigOptions {
  readonly config?: Record<string, unknown>;
  /** Given the scripted upstream; just its URL when not given. */
  readonly upstreams?: (scripted: ScriptedUpstream) => GatewayOptions['upstreams'];
  readonly parts?: GatewayOptions['parts'];
}

/** Starts upstream and gateway for this test. */
export async function startRig(script: Script, options: RigOptions = {}): Promise<Rig> {
  const watch = watchProcess();
  const upstream = await startScripted(script);
  const gateway = await startGateway({
    upstreams: options.upstreams?.(upstream) ?? [upstream.url],
    config: options.config ?? {},
    ...(options.parts === undefined ? {} : { parts: options.parts }),
  });
  const clients: RawClient[] = [];
  onTestFinished(async () => {
    for (const client of clients) client.destroy();
    await gateway.close();
    await upstream.close();
    watch.stop();
  });
  return {
    gateway,
    upstream,
    client: async () => {
      const client = await RawClient.connect(gateway.port);
      clients.push(client);
      return client;
    },
  };
}

/** Starts a second scripted upstream for this test. */
export async function alsoScripted(script: Script, host?: string): Promise<ScriptedUpstream> {
  const upstream = await startScripted(script, host);
  onTestFinished(() => upstream.close());
  return upstream;
}

/** The head of a CONNECT; `fields` are whole lines. */
export function connectHead(authority = 'a.test:443', ...fields: string[]): string {
  return requestHead(`CONNECT ${authority}`, `Host: ${authority}`, ...fields);
}

/** The head of a GET in absolute-form with the right Host. */
export function getHead(url = 'http://a.test/', ...fields: string[]): string {
  return requestHead(`GET ${url}`, `Host: ${new URL(url).host}`, ...fields);
}

/** A head of these lines; the first is `METHOD target`. */
export function requestHead(start: string, ...fields: string[]): string {
  return `${[`${start} HTTP/1.1`, ...fields].join('\r\n')}\r\n\r\n`;
}

/** `Proxy-Authorization` for these credentials, as UTF-8. */
export function login(username: string, password: string): string {
  return `Proxy-Authorization: Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}
