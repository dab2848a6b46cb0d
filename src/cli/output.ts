/** Where a command writes, so that tests can listen. */

/** Two streams of text. */
export interface Output {
  /** What was asked for. Ends each call with a line feed of its own. */
  print(text: string): void;
  /** What people should know besides. */
  tell(text: string): void;
  /** Draws one line over the last one that was drawn; absent where nobody watches. */
  readonly draw?: ((text: string) => void) | undefined;
}

/** The streams of the process. */
export const processOutput: Output = {
  print: (text) => void process.stdout.write(`${text}\n`),
  tell: (text) => void process.stderr.write(`${text}\n`),
  draw: process.stderr.isTTY ? (text) => void process.stderr.write(`\r${text}\x1b[K`) : undefined,
};
