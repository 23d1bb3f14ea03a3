// Small runs step by step: the state after any step, from what each step changed (internal/report/lesson).

export interface Code { text: string; explain: string; file?: string; line?: number; source_file?: string; source_line?: number }
export interface Register { name: string; type: string; bits: number; cell: number; function?: string }
export interface Stand { lanes: number; missing?: number; at: number; waits?: string }
export interface Group { step: number; warp: number; state?: string; live: number; sets?: Stand[]; joins?: Stand[]; calls?: number[] }
export interface Screen { name: string; addr: number; shared?: boolean; width: number; height: number; format: string; colours?: string[]; first?: string }
export interface Film extends Screen { delay: number; frames: number[] | null; bytes: string[] | null }
export interface Lesson {
  launch: number; kernel: string; set: string; complete: boolean; code: Code[]; registers: Register[]; warps: number[]; begin: number;
  steps: { cycle: number[]; kind: number[]; warp: number[]; at: number[]; active: number[]; lanes: number[]; values: number[]; stores: number[] };
  values: { cell: number[] | null; lanes: number[]; form: number[]; data: ArrayLike<number> };
  stores: { word: number[] | null; value: number[] };
  words: { space: number[] | null; addr: number[]; first: number[] };
  groups: Group[] | null; buffers?: { name: string; addr: number; bytes: number; type: string }[]; screens?: Screen[];
}

interface Undo { cells: [number, number, Uint32Array][]; words: [number, number][]; groups: [number, Group | null][] }

export const arrival = 1, shared = 1;
const equal = 0, rising = 1, bits = 3;

/** A walk through a lesson. */
export class Walk {
  at = 0; // steps taken
  readonly length: number;
  readonly cycle: number[]; // by step
  private readonly cells: Uint32Array[]; // by warp, 32 for each cell
  readonly words: number[]; // -1 is unknown
  readonly groups: (Group | null)[];
  readonly place: number[]; // the last instruction that each warp issued, -1 for none
  readonly used: boolean[]; // by register: it ever has a value
  private undo: Undo[] = [];
  private value: number[] = [0]; // first row of values, of data, of stores by step
  private data: number[] = [0];
  private store: number[] = [0];
  private byStep = new Map<number, Group[]>();
  private issued: [number, number][] = []; // warp and place before each step

  constructor(readonly l: Lesson) {
    const s = l.steps, cells = l.registers.reduce((n, r) => Math.max(n, r.cell + width(r)), 0);
    this.length = s.kind.length;
    this.cycle = [];
    this.cells = l.warps.map(() => new Uint32Array(32 * cells));
    this.words = [...(l.words.first ?? [])];
    this.groups = l.warps.map(() => null);
    this.place = l.warps.map(() => -1);
    for (const g of l.groups ?? []) this.byStep.set(g.step, [...(this.byStep.get(g.step) ?? []), g]);
    let now = 0, row = 0, data = 0, store = 0;
    for (let i = 0; i < this.length; i++) {
      this.cycle.push((now += s.cycle[i]));
      if (row + s.values[i] > (l.values.form ?? []).length) throw new Error("a step has more values than there are");
      for (let n = 0; n < s.values[i]; n++, row++) data += size(l.values.form[row], l.values.lanes[row]);
      this.value.push(row);
      this.data.push(data);
      this.store.push((store += s.stores[i]));
    }
    const seen = new Set(l.values.cell ?? []);
    this.used = l.registers.map((r) => seen.has(r.cell) || seen.has(r.cell + width(r) - 1));
    this.go(l.begin);
  }

  /** Goes to the state after n steps. */
  go(n: number): void {
    n = Math.max(this.l.begin, Math.min(this.length, n));
    while (this.at < n) this.forward();
    while (this.at > n) this.back();
  }

  private forward(): void {
    const i = this.at++, s = this.l.steps, v = this.l.values, u: Undo = { cells: [], words: [], groups: [] }, w = s.warp[i];
    let d = this.data[i];
    for (let row = this.value[i]; row < this.value[i + 1]; row++) {
      const cells = this.cells[w], from = 32 * v.cell![row], form = v.form[row];
      u.cells.push([w, v.cell![row], cells.slice(from, from + 32)]);
      let n = 0;
      for (let lane = 0; lane < 32; lane++) {
        if (!((v.lanes[row] >>> lane) & 1)) continue;
        cells[from + lane] = form === equal ? v.data[d] : form === rising ? v.data[d] + Math.imul(n, v.data[d + 1]) : form === bits ? (v.data[d] >>> lane) & 1 : v.data[d + n];
        n++;
      }
      d += size(form, v.lanes[row]);
    }
    for (let row = this.store[i]; row < this.store[i + 1]; row++) {
      const word = this.l.stores.word![row];
      u.words.push([word, this.words[word]]);
      this.words[word] = this.l.stores.value[row];
    }
    for (const g of this.byStep.get(i) ?? []) {
      u.groups.push([g.warp, this.groups[g.warp]]);
      this.groups[g.warp] = g;
    }
    this.issued[i] = [w, w >= 0 ? this.place[w] : -1];
    if (s.kind[i] !== arrival && w >= 0) this.place[w] = s.at[i];
    this.undo[i] = u;
  }

  private back(): void {
    const u = this.undo[--this.at], [w, place] = this.issued[this.at];
    for (const [warp, cell, old] of u.cells.reverse()) this.cells[warp].set(old, 32 * cell);
    for (const [word, old] of u.words.reverse()) this.words[word] = old;
    for (const [warp, old] of u.groups.reverse()) this.groups[warp] = old;
    if (w >= 0) this.place[w] = place;
  }

  /** The lanes of each register that the last step changed, by the index of the register. */
  changed(): Map<number, number> {
    const map = new Map<number, number>(), i = this.at - 1;
    if (i < this.l.begin) return map;
    for (let row = this.value[i]; row < this.value[i + 1]; row++) {
      const cell = this.l.values.cell![row], r = this.l.registers.findIndex((r) => r.cell <= cell && cell < r.cell + width(r));
      map.set(r, (map.get(r) ?? 0) | this.l.values.lanes[row]);
    }
    return map;
  }

  /** The words that the last step changed. */
  stored(): Set<number> {
    const i = this.at - 1;
    return i < this.l.begin ? new Set() : new Set((this.l.stores.word ?? []).slice(this.store[i], this.store[i + 1]));
  }

  /** The value of a register in a lane; old: before the last step. */
  get(warp: number, register: Register, lane: number, old = false): bigint {
    let v = 0n;
    for (let k = width(register) - 1; k >= 0; k--) v = (v << 32n) | BigInt(this.cell(warp, register.cell + k, lane, old));
    return v;
  }

  private cell(warp: number, cell: number, lane: number, old: boolean): number {
    if (old && this.at > 0) {
      const u = this.undo[this.at - 1].cells.find(([w, c]) => w === warp && c === cell);
      if (u) return u[2][lane];
    }
    return this.cells[warp][32 * cell + lane];
  }

  /** A predicate as a mask. */
  mask(warp: number, register: Register): number {
    let m = 0;
    for (let lane = 0; lane < 32; lane++) m |= this.cells[warp][32 * register.cell + lane] << lane;
    return m >>> 0;
  }

  /** The next step, forward or back, that concerns a warp; -1 is any. */
  next(warp: number, by: 1 | -1): number {
    const s = this.l.steps;
    let n = this.at + by;
    while (n > this.l.begin && n < this.length && warp >= 0 && s.warp[n - 1] !== warp && s.warp[n - 1] !== -1) n += by;
    return Math.max(this.l.begin, Math.min(this.length, n));
  }

  /** The next step after this one that issues an instruction, from the start if there is none after it. */
  find(at: number, warp: number): number {
    const s = this.l.steps, fits = (i: number) => s.at[i] === at && s.kind[i] !== arrival && (warp < 0 || s.warp[i] === warp);
    for (let i = this.at; i < this.length; i++) if (fits(i)) return i + 1;
    for (let i = this.l.begin; i < this.at; i++) if (fits(i)) return i + 1;
    return this.at;
  }
}

/** Cells of a register. */
function width(r: Register): number {
  return Math.max(1, (r.bits + 31) >> 5);
}

/** Data of a row of values. */
function size(form: number, lanes: number): number {
  return form === equal || form === bits ? 1 : form === rising ? 2 : count(lanes);
}

export function count(mask: number): number {
  let n = 0;
  for (let m = mask >>> 0; m !== 0; m &= m - 1) n++;
  return n;
}

export const formats = ["auto", "hex", "signed", "unsigned", "float"] as const;
export type Format = (typeof formats)[number];

const view = new DataView(new ArrayBuffer(8));

/** A value of some bits, as heddle run --step prints it unless another format is asked for. */
export function value(v: bigint, bits: number, type: string, format: Format): string {
  if (type === ".pred") return String(v);
  const kind = format === "auto" ? type : format === "hex" ? ".b" : format === "signed" ? ".s" : format === "unsigned" ? ".u" : ".f";
  if (kind.startsWith(".f") && (bits === 32 || bits === 64)) {
    if (bits === 32) view.setUint32(0, Number(v));
    else view.setBigUint64(0, v);
    const x = bits === 32 ? view.getFloat32(0) : view.getFloat64(0);
    return bits === 32 ? String(Number(x.toPrecision(7))) : String(x);
  }
  if (kind.startsWith(".s") && bits <= 64) return String(BigInt.asIntN(bits, v));
  if (kind.startsWith(".u") && bits <= 64) return String(v);
  return "0x" + v.toString(16).padStart(bits / 4, "0");
}

/** Lanes with equal values, or values with a constant step, joined: "0-31: 0 to 31 by 1". */
export function runs(of: (lane: number) => bigint, lanes: number, r: { bits: number; type: string }, format: Format): string[] {
  const list: string[] = [], on = (l: number) => l < 32 && ((lanes >>> l) & 1) === 1, mod = (v: bigint) => BigInt.asUintN(r.bits, v);
  const whole = !r.type.startsWith(".f") && format !== "float" && r.bits <= 64;
  for (let l = 0; l < 32; ) {
    if (!on(l)) {
      l++;
      continue;
    }
    const run = (step: bigint) => {
      let end = l + 1;
      while (on(end) && mod(of(end) - of(end - 1)) === step) end++;
      return end;
    };
    let end = run(0n), step = 0n;
    if (end === l + 1 && on(end) && whole) {
      const d = mod(of(end) - of(l)), e = run(d);
      if (e >= l + 4) [end, step] = [e, d];
    }
    let text = (end > l + 1 ? `${l}-${end - 1}` : String(l)) + ": " + value(of(l), r.bits, r.type, format);
    if (step !== 0n) {
      const signed = BigInt.asIntN(r.bits, step);
      text += ` to ${value(of(end - 1), r.bits, r.type, format)} by ${signed}`;
    }
    list.push(text);
    l = end;
  }
  return list;
}

/** The bytes of base64. */
export function bytes(text: string | undefined, length: number): Uint8Array {
  const b = new Uint8Array(length);
  const s = atob(text ?? "");
  for (let i = 0; i < Math.min(length, s.length); i++) b[i] = s.charCodeAt(i);
  return b;
}

/** The bytes that a picture takes. */
export function extent(s: Screen): number {
  if (!(s.width * s.height <= mostPixels)) throw new Error(`a picture of ${s.width} by ${s.height} pixels is too large to be drawn`);
  return s.format === "bit" ? ((s.width + 7) >> 3) * s.height : s.format === "u8" ? s.width * s.height : 4 * s.width * s.height;
}

/** Pixels of a picture that is drawn (our choice: what a screen shows); a damaged result may name more. */
const mostPixels = 1 << 24;

/** Red, green and blue of every pixel, and how many differ from the first colour. */
export function paint(s: Screen, b: Uint8Array): { pixels: Uint8ClampedArray<ArrayBuffer>; lit: number } {
  const pixels = new Uint8ClampedArray(4 * s.width * s.height), colours = (s.colours ?? []).map((c) => Number.parseInt(c.slice(1), 16));
  let lit = 0;
  for (let y = 0; y < s.height; y++) {
    for (let x = 0; x < s.width; x++) {
      let rgb: number, i = y * s.width + x;
      if (s.format === "rgb") {
        rgb = b[4 * i] | (b[4 * i + 1] << 8) | (b[4 * i + 2] << 16);
        if (rgb !== 0) lit++;
      } else {
        const v = s.format === "bit" ? (b[y * ((s.width + 7) >> 3) + (x >> 3)] >> (x & 7)) & 1 : b[i];
        rgb = colours[v] ?? 0;
        if (v !== 0) lit++;
      }
      pixels.set([rgb >> 16, (rgb >> 8) & 255, rgb & 255, 255], 4 * i);
    }
  }
  return { pixels, lit };
}
