// The points of a sweep, and what the charts of its report derive from them: means over points
// that differ in other axes, and fronts. Which points are best is in the report (sweep.Report).

export interface Pick { point: number; points: number; at: number[]; value: number }
export interface Verdict { metric: number; input: number; inputs: number; best: Pick; worst: Pick; base?: Pick }
export interface Axis { name: string; levels: string[]; base: number; keyed?: boolean }
/** internal/sweep/report.go explains the fields. */
export interface Report {
  name: string; store: string; pages?: string; baseline?: string;
  axes: Axis[]; metrics: { name: string; more: boolean }[];
  at: number[][]; values: (number | null)[][]; digests: string[] | null; codes?: Record<string, number>; states?: Record<string, string>; bases?: number[]; counted: boolean[] | null;
  verdicts: Verdict[] | null;
}

/** What is selected: levels of axes, and ranges of metrics. */
export interface Filter { levels: Record<number, number[]>; ranges: Record<number, [number, number]> }

/** Values of points that have something in common. */
export interface Mean { value: number | null; of: number; all: number; geometric: boolean }

/** All inputs together. */
export const together = -1;

export class Sweep {
  readonly points: number[]; // 0, 1, 2 …
  constructor(readonly r: Report) {
    this.points = (r.digests ?? []).map((_, i) => i);
  }
  /** Axes that vary, by their index; the first of all is the input. */
  get varying(): number[] { return this.r.axes.map((_, a) => a).filter((a) => this.r.axes[a].levels.length > 1); }
  get inputs(): string[] { return this.r.axes[0].levels; }

  /** Inputs that have a value of a metric. */
  known(metric: number): number[] {
    const has = new Set(this.points.filter((i) => this.value(metric, i) !== null).map((i) => this.r.at[0][i]));
    return this.inputs.map((_, i) => i).filter((i) => has.has(i));
  }

  level(axis: number, point: number): string { return this.r.axes[axis].levels[this.r.at[axis][point]] || "–"; }
  /** A number of a point that counts in comparisons; null without. */
  value(metric: number, point: number): number | null { return this.r.counted![point] ? this.r.values[metric][point] : null; }
  /** A number by that of the baseline; NaN without one. */
  ratio(metric: number, point: number): number {
    const base = this.r.bases?.[point] ?? -1, b = base >= 0 ? this.value(metric, base) : null, v = this.value(metric, point);
    return v !== null && b ? v / b : NaN;
  }
  state(point: number): string | undefined { return this.r.states?.[point]; }
  code(point: number): number { return this.r.codes?.[point] ?? 0; }
  better(metric: number, a: number, b: number): boolean { return this.r.metrics[metric].more ? a > b : a < b; }

  /** The values of axes as text; those that are -1 are left out. */
  words(at: number[], input = true): string {
    const text = this.varying.filter((a) => at[a] >= 0 && (a > 0 || input)).map((a) => (a === 0 || this.r.axes[a].keyed ? "" : this.r.axes[a].name + "=") + (this.r.axes[a].levels[at[a]] || "–")).join(" ");
    return text || (input && at[0] >= 0 ? this.r.axes[0].levels[at[0]] : "");
  }
  atOf(point: number): number[] { return this.r.at.map((l) => l[point]); }

  selected(f: Filter): number[] {
    const levels = Object.entries(f.levels).map(([a, l]) => [this.r.at[Number(a)], new Set(l)] as const), ranges = Object.entries(f.ranges).map(([m, x]) => [Number(m), x] as const);
    return this.points.filter((i) => levels.every(([at, l]) => l.has(at[i])) && ranges.every(([m, [lo, hi]]) => {
      const v = this.value(m, i);
      return v !== null && v >= lo && v <= hi;
    }));
  }

  /** Of an axis, the points of one input by the values of all other axes; with held, those at the baseline where it says a value. */
  private rows(axes: number[], input: number, held: boolean): Map<string, number[]> {
    const others = this.varying.filter((a) => !axes.includes(a)), fixed = held ? others.filter((a) => a > 0 && this.r.axes[a].base >= 0) : [];
    const rows = new Map<string, number[]>();
    for (const i of this.points) {
      if (input >= 0 && !axes.includes(0) && this.r.at[0][i] !== input || fixed.some((a) => this.r.at[a][i] !== this.r.axes[a].base)) continue;
      const key = others.map((a) => this.r.at[a][i]).join(" "), list = rows.get(key);
      if (list) list.push(i);
      else rows.set(key, [i]);
    }
    return rows;
  }

  /** A metric along an axis for an input: the mean over all combinations of other axes that have a value at each level at which any has. */
  curve(metric: number, axis: number, input: number, held: boolean): Mean[] {
    const levels = this.r.axes[axis].levels.length, rows = [...this.rows([axis], input, held).values()].map((list) => {
      const row: (number | null)[] = new Array(levels).fill(null);
      for (const i of list) row[this.r.at[axis][i]] = this.value(metric, i);
      return row;
    });
    const known = Array.from({ length: levels }, (_, l) => rows.some((r) => r[l] !== null));
    const whole = rows.filter((r) => r.every((v, l) => v !== null || !known[l]));
    return known.map((k, l) => mean(k ? whole.map((r) => r[l]!) : [], rows.length));
  }

  /** A metric by two axes: the mean over all points there. */
  cells(metric: number, x: number, y: number, input: number, held: boolean): Mean[][] {
    const lists: number[][][] = this.r.axes[y].levels.map(() => this.r.axes[x].levels.map(() => []));
    const all = lists.map((row) => row.map(() => 0)), known = new Set(this.known(metric));
    for (const list of this.rows([x, y], input, held).values()) for (const i of list) {
      const v = this.value(metric, i), l = this.r.at[y][i], c = this.r.at[x][i];
      if (known.has(this.r.at[0][i])) all[l][c]++;
      if (v !== null) lists[l][c].push(v);
    }
    return lists.map((row, l) => row.map((list, c) => mean(list, all[l][c])));
  }

  /** Points by two metrics: of an input, or of all the means of those that differ only in the input; geometric says whether both are. */
  pairs(mx: number, my: number, input: number): { point: number; at: number[]; x: number; y: number; geometric: boolean }[] {
    const several = input === together && this.inputs.length > 1;
    const also = new Set(this.known(my)), known = this.known(mx).filter((i) => also.has(i)).length;
    return [...this.rows([0], input, false).values()].flatMap((list) => {
      const has = list.filter((i) => (input < 0 || this.r.at[0][i] === input) && this.value(mx, i) !== null && this.value(my, i) !== null);
      if (has.length === 0 || several && has.length < known) return [];
      const at = this.atOf(has[0]);
      if (several) at[0] = -1;
      const [x, y] = [mx, my].map((m) => mean(has.map((i) => this.value(m, i)!), has.length));
      return [{ point: several ? -1 : has[0], at, x: x.value!, y: y.value!, geometric: x.geometric && y.geometric }];
    });
  }

  /** Those of pairs to which no other one is better or equal in both metrics and better in one; in the order of x. */
  front<T extends { x: number; y: number }>(pairs: T[], mx: number, my: number): T[] {
    const sx = this.r.metrics[mx].more ? -1 : 1, sy = this.r.metrics[my].more ? -1 : 1;
    const sorted = [...pairs].sort((a, b) => sx * (a.x - b.x) || sy * (a.y - b.y)), out: T[] = [];
    for (const p of sorted) {
      const last = out[out.length - 1];
      if (!last || sy * p.y < sy * last.y || p.x === last.x && p.y === last.y) out.push(p);
    }
    return out.sort((a, b) => a.x - b.x || a.y - b.y);
  }

  /** The share of points of the same input that are better by a metric, 0 to 1; NaN without a value. */
  ranks(metric: number): number[] {
    const out: number[] = this.points.map(() => NaN);
    for (let input = 0; input < this.inputs.length; input++) {
      const list = this.points.filter((i) => this.r.at[0][i] === input && this.value(metric, i) !== null).sort((a, b) => this.value(metric, a)! - this.value(metric, b)!);
      if (this.r.metrics[metric].more) list.reverse();
      let first = 0;
      list.forEach((i, n) => {
        if (n > 0 && this.value(metric, list[n - 1]) !== this.value(metric, i)) first = n;
        out[i] = list.length > 1 ? first / (list.length - 1) : 0;
      });
    }
    return out;
  }
}

/** The geometric mean of positive values, else the arithmetic one. */
export function mean(list: number[], all: number): Mean {
  const geometric = list.every((v) => v > 0), n = list.length;
  const value = n === 0 ? null : n === 1 ? list[0] : geometric ? Math.exp(list.reduce((a, v) => a + Math.log(v), 0) / n) : list.reduce((a, v) => a + v, 0) / n;
  return { value, of: n, all, geometric };
}
