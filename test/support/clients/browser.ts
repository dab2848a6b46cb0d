/**
 * Headless Chromium: a context for each ask, since contexts share neither logins nor connections. What a page may
 * do only at its own origin is done from a page of the target's.
 */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { browserFor } from '../crawlers.js';
import { eachInTurn, failed, told, type Ask, type Told } from './ask.js';

/** Runs in the browser: a page, or an upload. */
async function fetchInPage({ url, body }: { url: string; body: string | null }): Promise<[number, string]> {
  const answer = await fetch(url, body === null ? {} : { method: 'POST', body });
  const bytes = new Uint8Array(await answer.arrayBuffer());
  let text = '';
  for (let at = 0; at < bytes.length; at += 8192)
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return [answer.status, btoa(text)];
}

/** Runs in the browser. */
function talkInPage({ url, message }: { url: string; message: string }): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url);
    socket.onopen = () => {
      socket.send(message);
    };
    socket.onmessage = ({ data }) => {
      resolve(String(data));
    };
    socket.onerror = () => {
      reject(new Error('the WebSocket failed'));
    };
  });
}

async function tellIn(page: Page, ask: Ask): Promise<Told> {
  const first = await page.goto(new URL('/', ask.url.replace(/^ws/, 'http')).href);
  if (first === null) return failed(new Error('no answer'));
  if (first.status() !== 200) return told(first.status(), await first.body());
  const { url, message } = ask;
  if (url.startsWith('ws')) return told(101, Buffer.from(await page.evaluate(talkInPage, { url, message })));
  const body = ask.upload === null ? null : await readFile(ask.upload, 'latin1');
  const [status, base64] = await page.evaluate(fetchInPage, { url, body });
  return told(status, Buffer.from(base64, 'base64'));
}

export const chromium = eachInTurn(async (ask) => {
  const { proxy: server, login } = ask;
  const browser = await browserFor(ask.certificate);
  const more = login ?? {};
  // docs:begin chromium
  const context = await browser.newContext({ proxy: { server, ...more } });
  // docs:end
  try {
    return await tellIn(await context.newPage(), ask);
  } catch (error) {
    return failed(error);
  } finally {
    await context.close();
  }
});
