/** Which system errors are whose fault. */
import type { Fault, FaultKind, Phase } from '../core/fault.js';

const KIND_BY_CODE: Readonly<Record<string, FaultKind>> = {
  ECONNREFUSED: 'refused',
  ENETUNREACH: 'unreachable',
  EHOSTUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ENETDOWN: 'unreachable',
  ETIMEDOUT: 'timeout',
  ECONNRESET: 'reset',
  EPIPE: 'closed',
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  EAI_FAIL: 'dns',
  EAI_NODATA: 'dns',
  EAI_NONAME: 'dns',
  EADDRNOTAVAIL: 'local',
  EADDRINUSE: 'local',
  EMFILE: 'local',
  ENFILE: 'local',
  ENOBUFS: 'local',
  ENOMEM: 'local',
  EACCES: 'local',
  EPERM: 'local',
};

/** The kind of fault behind a socket error; `fallback` for codes that say nothing about the network. */
export function faultKindOf(error: NodeJS.ErrnoException, fallback: FaultKind): FaultKind {
  const code = error.code ?? '';
  const known = KIND_BY_CODE[code];
  if (known !== undefined) return known;
  return code.startsWith('ERR_TLS') || code.startsWith('ERR_SSL') || code.includes('CERT') ? 'tls' : fallback;
}

/** A fault before any byte of the request was sent. */
export function openFault(phase: Phase, fault: FaultKind, detail: string): Fault {
  return { kind: 'fault', phase, fault, detail, requestSent: false };
}
