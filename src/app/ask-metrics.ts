/** Asks a gateway that runs for its metrics, as Prometheus would, without a token: for the launch check. */
import http from 'node:http';
import https from 'node:https';
import type { MetricsFacts } from '../checkup/deployment.js';
import type { Config } from '../config/config.js';

const PATIENCE_MS = 5000;
const MOST_BYTES = 16 * 1024 * 1024;

/** @param given where the metrics are, when the configuration doesn't say it */
export async function askMetrics(config: Config, given: URL | null): Promise<MetricsFacts> {
  const place = placeOf(config, given);
  if (place === null) return { kind: 'off' };
  const { at, options, isTls } = place;
  try {
    const { status, body } = await get(options, isTls);
    const shared = /^turnpike_state_shared (\d)/m.exec(body)?.[1];
    return {
      ...{ kind: 'answered', at, status },
      isOurs: body.includes('turnpike_build_info{'),
      isShared: shared === undefined ? null : shared === '1',
    };
  } catch (error) {
    const cause = error instanceof Error && 'code' in error ? String(error.code) : 'no answer';
    return { kind: 'silent', at, cause };
  }
}

interface Place {
  readonly at: string;
  readonly options: https.RequestOptions;
  readonly isTls: boolean;
}

function placeOf({ admin, adminSocket, adminApi }: Config, given: URL | null): Place | null {
  if (given !== null)
    return { at: given.href, options: urlOptions(given), isTls: given.protocol === 'https:' };
  if (adminSocket !== null) {
    const options = { socketPath: adminSocket, host: 'localhost', path: '/metrics' };
    return { at: `unix:${adminSocket}`, options, isTls: false };
  }
  if (admin === null) return null;
  const host = { '0.0.0.0': '127.0.0.1', '::': '::1' }[admin.host] ?? admin.host;
  const { tls } = adminApi;
  const url = new URL(
    `${tls === null ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${admin.port}/metrics`,
  );
  // It is our own certificate, for whatever name people use.
  const trust = tls === null ? {} : { ca: tls.cert, checkServerIdentity: () => undefined };
  return { at: url.href, options: { ...urlOptions(url), ...trust }, isTls: tls !== null };
}

function urlOptions(url: URL): https.RequestOptions {
  const { hostname, port, pathname, search } = url;
  const path = pathname === '/' ? '/metrics' : `${pathname}${search}`;
  return { host: hostname.replace(/^\[|\]$/g, ''), ...(port === '' ? {} : { port }), path };
}

function get(options: https.RequestOptions, isTls: boolean): Promise<{ status: number; body: string }> {
  const asked = { ...options, agent: false as const, timeout: PATIENCE_MS };
  return new Promise((resolve, reject) => {
    const request = isTls ? https.request(asked) : http.request(asked);
    request.once('timeout', () => request.destroy(new Error('no answer in time')));
    request.once('error', reject);
    request.once('response', (answer) => {
      let body = '';
      answer.setEncoding('utf8').on('data', (some: string) => {
        body += some;
        if (body.length > MOST_BYTES) request.destroy(new Error('too long'));
      });
      answer.once('error', reject);
      answer.once('end', () => resolve({ status: answer.statusCode ?? 0, body }));
    });
    request.end();
  });
}
