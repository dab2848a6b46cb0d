/** The demo is the first thing that a stranger runs: it must tell the truth, and leave nothing behind. */
import { exec } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { runDemo } from '../../src/cli/demo.js';
import { Story, count, spell } from '../../src/cli/demo/story.js';

/** Keeps what a command prints. */
function recorder() {
  const lines: string[] = [];
  const output = {
    print: (text: string) => void lines.push(text),
    tell: (text: string) => void lines.push(text),
  };
  return { output, text: () => lines.join('\n') };
}

const sockets = () => process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP')).length;

/** Sockets that are closing are gone within a turn or two of the loop. */
async function socketsAfter(limit: number): Promise<number> {
  for (let turn = 0; turn < 50 && sockets() > limit; turn++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return sockets();
}

describe('turnpike demo', () => {
  it('G1 G3 G4 G7 G8 N2 N12 crawls its world through the gateway, and all it claims is true', async () => {
    const before = sockets();
    const { output, text } = recorder();
    const code = await runDemo({ stay: false, output, isColoured: false });
    expect(text()).not.toContain('NOT SO');
    expect(code).toBe(0);
    for (const said of [
      'exit-3 refused',
      'exit-5 got 403',
      'exit-5 is set aside for shop.example',
      'greedy;2',
    ]) {
      expect(text()).toContain(said);
    }
    expect(text()).toMatch(/All of this happened, in \d/);
    expect(text()).not.toContain('\u001b[');
    expect(await socketsAfter(before)).toBeLessThanOrEqual(before);
  });

  it('stays up to be played with, and takes its world with it when it goes', async () => {
    const { output, text } = recorder();
    let answer = '';
    let folder = '';
    const play = async (): Promise<void> => {
      const session = /^ +(curl -i .*-H 'X-Session-Id: mine'.*)$/m.exec(text())?.[1] ?? '';
      answer = await shell(session);
      folder = /tail -f (.*)\/turnpike\.log/.exec(text())?.[1] ?? '';
      expect(existsSync(`${folder}/proxies.txt`)).toBe(true);
    };
    expect(await runDemo({ stay: true, output, isColoured: false, until: play })).toBe(0);
    expect(answer).toContain('HTTP/1.1 200');
    expect(answer).toContain('X-Turnpike-Session: mine;1');
    expect(existsSync(folder)).toBe(false);
  });
});

/** Runs one line as it was printed, without stopping the gateway in this process. */
async function shell(line: string): Promise<string> {
  return (await promisify(exec)(line)).stdout;
}

describe('the story', () => {
  it('remembers the claims that did not hold', () => {
    const { output, text } = recorder();
    const story = new Story(output, true);
    story.claim('the sky is up', true);
    story.claim('pigs fly', false);
    expect(story.failures).toEqual(['pigs fly']);
    expect(text()).toContain('\u001b[31mNOT SO');
  });

  it('spells times and counts as people do', () => {
    expect([850, 4000, 4100, 33_400, 240_000, 4_020_000].map(spell)).toEqual([
      '850 ms',
      '4 s',
      '4.1 s',
      '33 s',
      '4 min',
      '1 h 7 min',
    ]);
    expect([count(1, 'page'), count(0, 'page'), count(3, 'ban')]).toEqual(['1 page', '0 pages', '3 bans']);
  });
});
