// Numbers and names as text, in the form of the text report.

/** 1,234,567 */
export function count(n: number): string {
  if (!Number.isFinite(n)) return "–";
  return Math.round(n).toString().replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** A number of any kind: whole, or with seven significant digits. */
export function number(n: number): string {
  return Number.isInteger(n) ? count(n) : n.toLocaleString("en", { maximumSignificantDigits: 7 });
}

/** 12.3 %, of a share from 0 to 1. */
export function percent(share: number, digits = 1): string {
  if (!Number.isFinite(share)) return "–";
  return (100 * share).toFixed(digits) + " %";
}

export function percentOf(part: number, whole: number, digits = 1): string {
  return whole > 0 ? percent(part / whole, digits) : "–";
}

export function fixed(n: number, digits = 2): string {
  return Number.isFinite(n) ? n.toFixed(digits) : "–";
}

/** A quotient with two decimals, – for nothing by nothing. */
export function ratio(a: number, b: number, digits = 2): string {
  return b > 0 ? (a / b).toFixed(digits) : "–";
}

const binary = ["B", "KiB", "MiB", "GiB", "TiB"];

export function bytes(n: number): string {
  let u = 0;
  while (n >= 1024 && u < binary.length - 1) {
    n /= 1024;
    u++;
  }
  return n.toFixed(u === 0 || Number.isInteger(n) ? 0 : 1) + " " + binary[u];
}

/** Three significant digits with a prefix: 12.3 G. */
export function short(n: number): string {
  const units: [number, string][] = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
  for (const [f, u] of units) {
    if (Math.abs(n) >= f) return Number((n / f).toPrecision(3)) + " " + u;
  }
  return String(Number(n.toPrecision(3)));
}

/** A time of the simulated machine. */
export function duration(seconds: number): string {
  if (seconds >= 1) return seconds.toFixed(2) + " s";
  if (seconds >= 1e-3) return (seconds * 1e3).toFixed(2) + " ms";
  return (seconds * 1e6).toFixed(2) + " µs";
}

export function extent(d: number[]): string {
  let n = 3;
  while (n > 1 && d[n - 1] <= 1) n--;
  return d.slice(0, n).join("×");
}

/** long_scoreboard as words. */
export function words(name: string): string {
  return name.replaceAll("_", " ").replaceAll("-", " ");
}

export function base(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Where an instruction is, as the text report names it: a line of the program's text, or its place in code without one. */
export function place(l: { file?: string; line?: number; pc: number }): string {
  if (l.line) return `${base(l.file ?? "")}:${l.line}`;
  return `pc ${l.file ? l.pc : "0x" + l.pc.toString(16)}`;
}

export function plural(n: number, one: string, many: string): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}
