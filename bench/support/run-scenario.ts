/**
 * Runs one scenario: all peers, interleaved, several rounds.
 */
import { join } from 'node:path';
import { runLoad } from './load-run.js';
import { orStop, COMPILED_ROOT, Unavailable, type Peer, type PeerContext, type RunningPeer } from './peer.js';
import { OTHER_CORE, start, waitForAnnouncedPort, type Started } from './process.js';
import type { Figures, Pace, Scenario } from './scenario.js';

export interface RunSettings {
  rounds: number;
  isQuick: boolean;
  tunnels: number;
  directory: string;
  /** Extra arguments for `node` of script peers and turnpike. */
  nodeArgs: string[];
  onProgress: (text: string) => void;
}

/** What came out for one peer. `problem` set: no figures, or figures that must not be trusted. */
export interface PeerOutcome {
  peer: string;
  note: string;
  isReference: boolean;
  rounds: Figures[];
  /** When the windows of the rounds were, see support/job.ts; none for untimed jobs. */
  windowsMicros: [number, number][];
  errors: number;
  problem?: string;
  wasSkipped?: boolean;
}

/** Interleaves the peers: every round measures each once, so that a noisy minute hits all alike. */
export async function runScenario(
  scenario: Scenario,
  peers: readonly Peer[],
  settings: RunSettings,
): Promise<PeerOutcome[]> {
  const upstream = await startUpstream(settings.directory);
  const { directory, nodeArgs } = settings;
  const context: PeerContext = {
    directory,
    nodeArgs,
    upstreamPort: upstream.port,
    upstreamPid: upstream.started.pid,
  };
  const outcomes = peers.map((peer) => emptyOutcome(peer));
  const running = new Map<Peer, RunningPeer>();
  try {
    for (let round = 0; round < Math.min(settings.rounds, scenario.maxRounds ?? Infinity); round++) {
      for (const [at, peer] of peers.entries()) {
        const outcome = outcomes[at];
        if (outcome === undefined || outcome.problem !== undefined) continue;
        settings.onProgress(`${scenario.name} round ${round + 1} ${peer.name}`);
        await attempt(outcome, async () => {
          const gateway = running.get(peer) ?? (await peer.start(context));
          running.set(peer, gateway);
          await measure(scenario, gateway, { outcome, pace: paceOf(round, settings) });
        });
        if (scenario.needsFreshPeers === true) await forget(running, peer);
      }
    }
  } finally {
    for (const peer of [...running.keys()]) await forget(running, peer);
    await upstream.started.stop();
  }
  return outcomes;
}

/** The first round compiles the peers' code, so it warms up for longer. */
function paceOf(round: number, { isQuick, tunnels }: RunSettings): Pace {
  if (isQuick) return { timing: { warmupMs: 1000, warmupUnits: 1000, measureMs: 1500 }, tunnels };
  const isFirst = round === 0;
  const timing = { warmupMs: isFirst ? 3000 : 1000, warmupUnits: isFirst ? 10_000 : 0, measureMs: 3000 };
  return { timing, tunnels };
}

async function measure(
  scenario: Scenario,
  gateway: RunningPeer,
  { outcome, pace }: { outcome: PeerOutcome; pace: Pace },
): Promise<void> {
  const { port, pid, login } = gateway;
  const result = await runLoad(scenario.job({ port, pid, login }, pace));
  outcome.errors += result.errors;
  if (result.errors > 0)
    throw new Error(`${result.errors} errors, the first: ${result.firstError ?? 'unknown'}`);
  outcome.rounds.push(scenario.figures(result));
  if (result.kind === 'timed') outcome.windowsMicros.push(result.windowMicros);
}

async function attempt(outcome: PeerOutcome, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    outcome.problem = error instanceof Error ? error.message : String(error);
    outcome.wasSkipped = error instanceof Unavailable;
  }
}

async function forget(running: Map<Peer, RunningPeer>, peer: Peer): Promise<void> {
  const gateway = running.get(peer);
  running.delete(peer);
  await gateway?.stop();
}

async function startUpstream(directory: string): Promise<{ port: number; started: Started }> {
  const started = start({
    core: OTHER_CORE,
    command: process.execPath,
    args: [join(COMPILED_ROOT, 'peers', 'upstream.js')],
    // One log per start: the port is read from it.
    logFile: join(directory, `upstream-${Date.now()}.log`),
  });
  return { port: await orStop(started, () => waitForAnnouncedPort(started)), started };
}

function emptyOutcome(peer: Peer): PeerOutcome {
  return {
    peer: peer.name,
    note: peer.note,
    isReference: peer.isReference ?? false,
    rounds: [],
    windowsMicros: [],
    errors: 0,
  };
}
