/** Opens what a test needs and closes it again in the opposite order: call once in a file, or in a describe block. */
import { afterEach } from 'vitest';
import { answering, startExit } from './ask.js';
import { startGateway, type GatewayOptions, type TestGateway } from './gateway.js';
import { startScripted, type Script, type ScriptedUpstream } from './scripted-upstream.js';

interface Closable {
  close(): Promise<unknown>;
}

/** What is open for the test that runs. */
export interface Stage {
  /** Closes this one too when the test is over. */
  keep<T extends Closable>(each: T): T;
  /** A gateway in front of these exits. */
  gateway(
    exits: readonly (ScriptedUpstream | string)[],
    config?: GatewayOptions['config'],
    more?: Partial<GatewayOptions>,
  ): Promise<TestGateway>;
  scripted(script: Script): Promise<ScriptedUpstream>;
  /** An exit that opens every tunnel to an echo and answers plain requests by its name. */
  good(name: string): Promise<ScriptedUpstream>;
  /** An exit that answers each request so, CONNECT too. */
  exit(respond: Parameters<typeof startExit>[0]): Promise<ScriptedUpstream>;
}

/** Makes the stage and has it cleared after each test. */
export function createStage(): Stage {
  const open: Closable[] = [];
  const keep = <T extends Closable>(each: T): T => {
    open.push(each);
    return each;
  };
  afterEach(async () => {
    for (const each of open.splice(0).reverse()) await each.close();
  });
  return {
    keep,
    gateway: async (exits, config = {}, more = {}) => {
      const upstreams = exits.map((exit) => (typeof exit === 'string' ? exit : exit.url));
      return keep(await startGateway({ upstreams, config, ...more }));
    },
    scripted: async (script) => keep(await startScripted(script)),
    good: async (name) => keep(await startExit(answering(name))),
    exit: async (respond) => keep(await startExit(respond)),
  };
}
