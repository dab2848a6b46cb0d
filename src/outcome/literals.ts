/**
 * Finds many literals in bytes in one pass (Aho and Corasick, 1975), ASCII case aside. It does not know what the
 * literals mean.
 *
 * The automaton is a dense table over classes of bytes: bytes that no literal has share one class. States are
 * numbered so that those that end a literal come last; whether something was found is one comparison a byte.
 */

/** Longest literal, in bytes. */
export const MAX_LITERAL_BYTES = 256;

/** Where literals were found: the position behind the first find of each; -1: nowhere. */
export type Finds = Int32Array;

interface Node {
  readonly next: Map<number, Node>;
  fail: Node | null;
  /** Numbers of the literals that end here, those of shorter ones at the same place included. */
  ends: number[];
  state: number;
}

const newNode = (): Node => ({ next: new Map(), fail: null, ends: [], state: -1 });

const folded = (byte: number): number => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte);

/** An automaton over some literals. Immutable. */
export class Literals {
  private readonly classOf = new Uint8Array(256);
  private readonly width: number;
  /** The next state times width, by state times width plus class. */
  private readonly table: Int32Array;
  /** States times width from here on end literals. */
  private readonly firstEnd: number;
  private readonly endsOf: readonly (readonly number[])[];

  /** @param literals not empty; the number of one is its index. */
  constructor(private readonly literals: readonly string[]) {
    const root = newNode();
    literals.forEach((literal, index) => add(root, Buffer.from(literal, 'utf8'), index));
    const nodes = linked(root);
    this.width = this.classify(nodes);
    const silent = nodes.filter((node) => node.ends.length === 0);
    const ending = nodes.filter((node) => node.ends.length > 0);
    [...silent, ...ending].forEach((node, state) => (node.state = state));
    this.firstEnd = silent.length * this.width;
    this.endsOf = ending.map((node) => node.ends);
    this.table = new Int32Array(nodes.length * this.width);
    for (const node of nodes) this.fill(node);
  }

  get count(): number {
    return this.literals.length;
  }

  /** Bytes that the table takes. */
  get tableBytes(): number {
    return this.table.byteLength;
  }

  /** Looks through `bytes` up to `end`. */
  find(bytes: Uint8Array, end = bytes.length): Finds {
    const finds = new Int32Array(this.literals.length).fill(-1);
    const { table, classOf, firstEnd } = this;
    let state = 0;
    const last = Math.min(end, bytes.length);
    for (let at = 0; at < last; at++) {
      state = table[state + (classOf[bytes[at] as number] as number)] as number;
      if (state >= firstEnd) this.note(state, at + 1, finds);
    }
    return finds;
  }

  private note(state: number, end: number, finds: Finds): void {
    for (const literal of this.endsOf[(state - this.firstEnd) / this.width] ?? []) {
      if (finds[literal] === -1) finds[literal] = end;
    }
  }

  /** Gives every byte that some literal has a class of its own; class 0 is all others. */
  private classify(nodes: readonly Node[]): number {
    let classes = 1;
    for (const node of nodes) {
      for (const byte of node.next.keys()) {
        if (this.classOf[byte] !== 0) continue;
        this.classOf[byte] = classes;
        if (byte >= 0x61 && byte <= 0x7a) this.classOf[byte - 0x20] = classes;
        classes++;
      }
    }
    return classes;
  }

  /** The row of a node is that of its fail link, filled before, but for its own children. */
  private fill({ state, fail, next }: Node): void {
    const row = state * this.width;
    if (fail !== null) this.table.copyWithin(row, fail.state * this.width, (fail.state + 1) * this.width);
    for (const [byte, child] of next) {
      this.table[row + (this.classOf[byte] ?? 0)] = child.state * this.width;
    }
  }
}

function add(root: Node, bytes: Uint8Array, index: number): void {
  if (bytes.length === 0 || bytes.length > MAX_LITERAL_BYTES)
    throw new RangeError('a literal has 1 to 256 bytes');
  let node = root;
  for (const byte of bytes) {
    const key = folded(byte);
    let next = node.next.get(key);
    if (next === undefined) node.next.set(key, (next = newNode()));
    node = next;
  }
  node.ends.push(index);
}

/** Sets the fail links, breadth first; all nodes in that order, the root first. */
function linked(root: Node): Node[] {
  const nodes = [root];
  for (const node of nodes) {
    for (const [byte, child] of node.next) {
      child.fail = node.fail === null ? root : step(node.fail, byte, root);
      child.ends = [...child.ends, ...child.fail.ends];
      nodes.push(child);
    }
  }
  return nodes;
}

function step(from: Node, byte: number, root: Node): Node {
  for (let node: Node | null = from; node !== null; node = node.fail) {
    const next = node.next.get(byte);
    if (next !== undefined) return next;
  }
  return root;
}
