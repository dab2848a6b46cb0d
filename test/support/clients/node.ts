/**
 * The clients that run in Node: undici (pages and WebSocket), axios, got. What stands between `docs:begin` and
 * `docs:end` are the settings of docs/clients.md.
 */
import { readFile } from 'node:fs/promises';
import { Agent } from 'node:https';
import axios from 'axios';
import got from 'got';
import { HttpProxyAgent } from 'http-proxy-agent';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { fetch, ProxyAgent, WebSocket } from 'undici';
import { basicOf } from '../crawlers.js';
import { eachInTurn, failed, proxyWithLogin, told, type Ask, type Told } from './ask.js';

async function bodyOf(ask: Ask): Promise<Buffer | undefined> {
  return ask.upload === null ? undefined : readFile(ask.upload);
}

/** Sends the message and tells what comes back. */
function talk(url: string, message: string, dispatcher: ProxyAgent): Promise<Told> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url, { dispatcher });
    socket.addEventListener('open', () => {
      socket.send(message);
    });
    socket.addEventListener('message', ({ data }) => {
      socket.close();
      resolve(told(101, Buffer.from(String(data))));
    });
    socket.addEventListener('error', (event) => {
      resolve(failed(event.error ?? new Error('the WebSocket failed')));
    });
  });
}

/** undici sends plain requests through a tunnel too, unless `proxyTunnel` is false. */
export const undici = eachInTurn(async (ask) => {
  const { proxy, login } = ask;
  const isPlain = ask.url.startsWith('http:');
  const more = {
    requestTls: { ca: ask.certificate.ca },
    proxyTunnel: !isPlain,
    ...(login === null ? {} : { token: basicOf(login) }),
  };
  // docs:begin undici
  const dispatcher = new ProxyAgent({ uri: proxy, ...more });
  // docs:end
  try {
    if (ask.url.startsWith('ws')) return await talk(ask.url, ask.message, dispatcher);
    const body = await bodyOf(ask);
    const answer = await fetch(
      ask.url,
      body === undefined ? { dispatcher } : { dispatcher, method: 'POST', body },
    );
    return told(answer.status, Buffer.from(await answer.arrayBuffer()));
  } finally {
    await dispatcher.destroy();
  }
});

export const axiosClient = eachInTurn(async (ask) => {
  const { hostname: host, protocol, port: digits } = new URL(ask.proxy);
  const port = Number(digits);
  const more = ask.login === null ? {} : { auth: ask.login };
  // docs:begin axios
  const proxy = { protocol, host, port, ...more };
  const client = axios.create({ proxy });
  // docs:end
  const answer = await client.request<Buffer>({
    url: ask.url,
    httpsAgent: new Agent({ ca: ask.certificate.ca }),
    method: ask.upload === null ? 'GET' : 'POST',
    data: await bodyOf(ask),
    responseType: 'arraybuffer',
    maxBodyLength: Infinity,
    validateStatus: () => true,
  });
  return told(answer.status, Buffer.from(answer.data));
});

export const gotClient = eachInTurn(async (ask) => {
  const proxy = proxyWithLogin(ask);
  // docs:begin got
  const agent = { http: new HttpProxyAgent(proxy), https: new HttpsProxyAgent(proxy) };
  const client = got.extend({ agent });
  // docs:end
  const body = await bodyOf(ask);
  const answer = await client(ask.url, {
    method: body === undefined ? 'GET' : 'POST',
    ...(body === undefined ? {} : { body }),
    https: { certificateAuthority: ask.certificate.ca },
    responseType: 'buffer',
    retry: { limit: 0 },
    throwHttpErrors: false,
  });
  return told(answer.statusCode, Buffer.from(answer.body));
});
