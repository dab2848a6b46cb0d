/** `turnpike vault status|rotate|destroy|unseal`: what a gateway that runs does with the keys of its vault. */
import { systemClock } from '../../core/clock.js';
import { adminFlags, type AdminClient } from '../admin-client.js';
import type { CommandRow } from '../commands.js';
import { exitCodes } from '../exit-codes.js';
import type { FlagValues } from '../flags.js';
import { keepAlive } from '../keep-alive.js';
import type { Output } from '../output.js';
import { withGateway } from '../remote.js';
import { table } from '../table.js';

interface Progress {
  readonly phase: 'idle' | 'waiting' | 'rewrapping';
  readonly term: number;
  readonly waits_for: readonly string[];
  readonly left: number;
  readonly total: number;
  readonly broken: number;
}

interface Keys {
  readonly keys: readonly { term: number; state: string; wraps: number; created_at: string; id: string }[];
  readonly rotation: Progress;
}

const LOOK_MS = 1000;

const ask = async (client: AdminClient): Promise<Keys> => (await client.call('GET', '/api/v1/keys')) as Keys;

function progressSaid({ phase, term, waits_for: waitsFor, left, total, broken }: Progress): string {
  const rest = broken === 0 ? '' : `; ${broken} secrets do not open and stay where they are, see the log`;
  switch (phase) {
    case 'idle':
      return `no rotation is under way${rest}`;
    case 'waiting':
      return waitsFor.length === 0
        ? `key ${term} is new`
        : `key ${term} is new; waits for gateways that can not use it yet: ${waitsFor.join(', ')}`;
    case 'rewrapping':
      return `${left} of ${total} secrets still go to key ${term}${rest}`;
  }
}

function shown({ keys, rotation }: Keys): string {
  const rows = keys.map(({ term, state, wraps, created_at: made, id }) => [
    ...[String(term), state, String(wraps)],
    ...[made, id],
  ]);
  return `${table(['KEY', 'STATE', 'SEALED', 'MADE', 'ID'], rows)}\n\n${progressSaid(rotation)}`;
}

const status = (values: FlagValues, output: Output): Promise<number> =>
  withGateway(values, output, async (client) => {
    const answer = await ask(client);
    output.print(values['json'] === true ? JSON.stringify(answer, null, 2) : shown(answer));
    return exitCodes.ok;
  });

const isDone = ({ keys, rotation }: Keys): boolean =>
  rotation.phase === 'idle' && !keys.some(({ state }) => state === 'pending');

/** Tells how it goes on, until it is over. */
async function waited(client: AdminClient, output: Output): Promise<Progress> {
  const letGo = keepAlive();
  try {
    for (let said = ''; ;) {
      const keys = await ask(client);
      if (isDone(keys)) return keys.rotation;
      const line = progressSaid(keys.rotation);
      if (line !== said) output.tell(line);
      said = line;
      await new Promise<void>((resolve) => systemClock.after(LOOK_MS, resolve));
    }
  } finally {
    letGo();
  }
}

const rotate = (values: FlagValues, output: Output): Promise<number> =>
  withGateway(values, output, async (client) => {
    const body = { reencrypt: values['reencrypt'] === true };
    const begun = (await client.call('POST', '/api/v1/keys/rotate', body)) as Progress;
    const isWaiting = values['wait'] === true;
    const progress = isWaiting ? await waited(client, output) : begun;
    const text = isWaiting
      ? `all secrets are under key ${progress.term}; ${progressSaid(progress)}`
      : `key ${progress.term} is made; turnpike vault status says how far it is`;
    output.print(values['json'] === true ? JSON.stringify(progress) : text);
    return isWaiting && progress.broken > 0 ? exitCodes.failed : exitCodes.ok;
  });

const destroy = (values: FlagValues, output: Output): Promise<number> =>
  withGateway(values, output, async (client) => {
    const term = String(values['key']);
    if (!/^[1-9]\d{0,8}$/.test(term)) {
      output.tell('turnpike: expected the number of a key, as turnpike vault status lists it');
      return exitCodes.notStarted;
    }
    const answer = await client.call('DELETE', `/api/v1/keys/${term}`);
    output.print(values['json'] === true ? JSON.stringify(answer) : `key ${term} is destroyed`);
    return exitCodes.ok;
  });

const unseal = (values: FlagValues, output: Output): Promise<number> =>
  withGateway(values, output, async (client) => {
    const answer = await client.call('POST', '/api/v1/vault/unseal', {});
    output.print(values['json'] === true ? JSON.stringify(answer) : 'the vault is open');
    return exitCodes.ok;
  });

/** The commands. */
export const vaultKeyCommands: readonly CommandRow[] = [
  {
    name: 'vault status',
    summary: 'List the keys of the vault of a running gateway, and how far a rotation is.',
    flags: adminFlags,
    run: status,
  },
  {
    name: 'vault rotate',
    summary: 'Put all secrets under a new key, while everything runs.',
    flags: [
      {
        spelling: '--reencrypt',
        help: 'seal them anew altogether, since the old key may be known to others',
      },
      { spelling: '--wait', help: 'end when it is done; exit code 1 if some do not open' },
      ...adminFlags,
    ],
    run: rotate,
  },
  {
    name: 'vault destroy',
    summary: 'Destroy a retired key for good; nothing may be under it any more.',
    argument: { name: 'key' },
    flags: adminFlags,
    run: destroy,
  },
  {
    name: 'vault unseal',
    summary: 'Let a running gateway ask for the root key again.',
    flags: adminFlags,
    run: unseal,
  },
];
