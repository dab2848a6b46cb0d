/**
 * Peers that come from Debian: found, or installed without letting the package start a daemon, or reported as missing.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { Unavailable } from './peer.js';

const POLICY = '/usr/sbin/policy-rc.d';
const INSTALL_DEADLINE_MS = 120_000;

/** Makes sure that `file` exists by installing `name` when it does not. Throws Unavailable with the reason. */
export function needPackage(name: string, file: string): void {
  if (existsSync(file)) return;
  if (process.getuid?.() !== 0)
    throw new Unavailable(`${name} is not installed and only root can install it`);
  const hadPolicy = existsSync(POLICY);
  try {
    // 101: "action forbidden by policy", so the package's own script starts nothing.
    if (!hadPolicy) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
    const result = spawnSync('apt-get', ['install', '-y', '--no-install-recommends', name], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      timeout: INSTALL_DEADLINE_MS,
      encoding: 'utf8',
    });
    if (!existsSync(file)) {
      const reason =
        result.error?.message ?? result.stderr.trim().split('\n').at(-1) ?? `code ${result.status}`;
      throw new Unavailable(`${name} could not be installed: ${reason}`);
    }
  } finally {
    if (!hadPolicy) rmSync(POLICY, { force: true });
  }
}
