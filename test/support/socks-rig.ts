/** The usual set-up of a case about SOCKS: a scripted SOCKS server, a gateway in front of it that must not look up a name. */
import { socksServer, type SocksAnswers, type SocksAsked } from './scripted-socks.js';
import { serveEach, type Script } from './scripted-upstream.js';
import { startRig, type Rig, type RigOptions } from './rig.js';

/** Plays the target of plain requests, and an echo for whatever is no HTTP. */
export const page = serveEach((peer) => {
  peer.answer('page');
});

export interface SocksRig extends Rig {
  readonly asked: SocksAsked[];
  /** Names that the gateway looked up. */
  readonly lookedUp: string[];
}

/** A gateway in front of one scripted SOCKS server. `userinfo` ends with its `@`. */
export async function startSocks(
  inner: Script,
  more: { protocol?: string; userinfo?: string; answers?: SocksAnswers; config?: RigOptions['config'] } = {},
): Promise<SocksRig> {
  const asked: SocksAsked[] = [];
  const lookedUp: string[] = [];
  const { protocol = 'socks5h', userinfo = '', answers = {}, config = {} } = more;
  const rig = await startRig(socksServer(asked, inner, answers), {
    upstreams: ({ port }) => [`${protocol}://${userinfo}127.0.0.1:${port}`],
    config,
    parts: {
      lookUp: (host) => {
        lookedUp.push(host);
        return Promise.reject(new Error('nobody should look up anything'));
      },
    },
  });
  return { ...rig, asked, lookedUp };
}
