/** Copies of bytes whose line is not whole yet. Decides nothing; how much may be held, its owner knows. */

const NOTHING = Buffer.alloc(0);
const FIRST_BYTES = 256;

/** A growing store: the room doubles, so that a peer who sends byte after byte costs no more than linear work. */
export class HeldBytes {
  private room: Buffer = NOTHING;
  private used = 0;

  get length(): number {
    return this.used;
  }

  /** Keeps a copy of the bytes. */
  append(bytes: Buffer): void {
    const needed = this.used + bytes.length;
    if (needed > this.room.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, needed, this.room.length * 2));
      this.room.copy(larger, 0, 0, this.used);
      this.room = larger;
    }
    bytes.copy(this.room, this.used);
    this.used = needed;
  }

  /** The bytes as latin1 text; they are held no more, their room is. */
  release(): string {
    const text = this.used === 0 ? '' : this.room.toString('latin1', 0, this.used);
    this.used = 0;
    return text;
  }

  /** Lets go of bytes and room. */
  clear(): void {
    this.room = NOTHING;
    this.used = 0;
  }
}
