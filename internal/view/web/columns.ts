// Columns of numbers that are not in a result's JSON, as internal/view/columns.go writes them.

export interface Column { path: string; n: number; words?: boolean }

type Parent = Record<string, unknown>;

/** Reads columns from bytes, one after the other. */
export class Columns {
  private at = 0;
  constructor(private bytes: Uint8Array) {}

  /** Puts the next columns into a result. */
  put(run: object, list: Column[]): void {
    for (const c of list) {
      const path = c.path.split("/"), last = path.pop()!;
      const parent = path.reduce((o, name) => o[name] as Parent, run as Parent);
      parent[last] = c.words ? this.words(c.n) : this.numbers(c.n);
    }
  }

  private words(n: number): number[] {
    const view = new DataView(this.bytes.buffer, this.bytes.byteOffset + this.at, 4 * n);
    this.at += 4 * n;
    return Array.from({ length: n }, (_, i) => view.getUint32(4 * i, true));
  }

  /** Signed varints: seven bits of twice the number in each byte, the lowest first; negative numbers are odd. */
  private numbers(n: number): number[] {
    const list = new Array<number>(n);
    for (let i = 0; i < n; i++) {
      let twice = 0, scale = 1, byte: number;
      do {
        byte = this.bytes[this.at++];
        twice += (byte & 0x7f) * scale;
        scale *= 128;
      } while (byte & 0x80);
      list[i] = twice % 2 === 0 ? twice / 2 : -(twice + 1) / 2;
    }
    return list;
  }
}
