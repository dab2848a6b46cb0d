/**
 * What the kernel says about a gateway: CPU time, resident memory, open descriptors.
 * Every figure is summed over the process and its children (squid keeps its log and auth helpers there).
 */
import { readFileSync, readdirSync } from 'node:fs';

/** USER_HZ, the unit of utime and stime in /proc/PID/stat. It is 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/** The process and all its living descendants, the process itself first. */
export function processTree(pid: number): number[] {
  const found = [pid];
  for (let at = 0; at < found.length; at++) found.push(...childrenOf(found[at] ?? 0));
  return found;
}

/** utime + stime in seconds of a process tree, all threads included; resolution 10 ms. */
export function cpuSeconds(pid: number): number {
  return sumOverTree(pid, (member) => {
    const stat = readFileSync(`/proc/${member}/stat`, 'latin1');
    // The command name may hold blanks, so fields are counted after the closing parenthesis.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  });
}

/** Seconds the main threads of a process tree were ready to run while something else had the core. */
export function waitingSeconds(pid: number): number {
  return sumOverTree(pid, (member) => {
    const [, waitedNanos] = readFileSync(`/proc/${member}/schedstat`, 'latin1').split(' ');
    return Number(waitedNanos) / 1e9;
  });
}

/** Resident memory in KiB of a process tree. */
export function residentKiB(pid: number): number {
  return sumOverTree(pid, (member) => {
    const line = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${member}/status`, 'latin1'));
    return Number(line?.[1] ?? 0);
  });
}

/** Number of open file descriptors of a process tree. */
export function openDescriptors(pid: number): number {
  return sumOverTree(pid, (member) => readdirSync(`/proc/${member}/fd`).length);
}

function childrenOf(pid: number): number[] {
  return orNothing(() => readdirSync(`/proc/${pid}/task`), []).flatMap((thread) =>
    orNothing(() => readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1'), '')
      .split(' ')
      .filter((word) => word.trim() !== '')
      .map(Number),
  );
}

function sumOverTree(pid: number, read: (member: number) => number): number {
  let sum = read(pid);
  for (const member of processTree(pid).slice(1)) sum += orNothing(() => read(member), 0);
  return sum;
}

/** A child or thread may end between listing and reading it. */
function orNothing<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
