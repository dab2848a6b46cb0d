/** How the program says by its exit code what happened. */
export const exitCodes = {
  ok: 0,
  /** `check-config` found problems; `serve` had to cut something, or was told twice to end. */
  failed: 1,
  /** It could not begin: wrong usage, bad configuration, port in use, file missing. */
  notStarted: 2,
  /** A fault of the program itself (EX_SOFTWARE of sysexits.h). */
  fault: 70,
} as const;
