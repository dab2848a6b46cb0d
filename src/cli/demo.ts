/** `turnpike demo`: its world is not built yet; the command table already knows the shape. */

/** How the demo is run. */
export interface DemoOptions {
  /** Whether gateway and world go on running afterwards. */
  readonly stay: boolean;
}

/** Runs the demo; resolves with the exit code. */
export async function runDemo(options: DemoOptions): Promise<number> {
  process.stderr.write(`turnpike: the demo${options.stay ? ' with --stay' : ''} comes with a later change\n`);
  return 1;
}
