// The roofline: operations a second against operations per byte of DRAM traffic, with the
// ceilings of the configuration.
import { h } from "preact";
import type { Kernel, Run } from "./data";
import { bytes, count, fixed, short } from "./format";
import { Chart, Empty, Table } from "./parts";

const names: Record<string, string> = { f16: "FP16", f32: "FP32", f64: "FP64", tensor: "tensor" };

export function Roofline({ run, k }: { run: Run; k: Kernel }) {
  const flops = Object.entries(k.flops ?? {}), machine = run.machine, moved = k.memory.dram.bytes_read + k.memory.dram.bytes_written;
  const seconds = run.clocks.core_mhz ? (k.cycles ?? 0) / (run.clocks.core_mhz * 1e6) : 0;
  const l2 = k.memory.l2.accesses * 32;
  const points = seconds > 0 ? flops.flatMap(([kind, n]) => [{ kind, level: "DRAM", bytes: moved, n }, { kind, level: "L2", bytes: l2, n }]).filter((p) => p.bytes > 0).map((p) => ({ ...p, x: p.n / p.bytes, y: p.n / seconds })) : [];
  const roofs = [{ name: "DRAM", rate: (k.memory.dram.peak_gb_per_s || 0) * 1e9 }, { name: "L2", rate: (machine?.l2_gb_per_s ?? 0) * 1e9 }].filter((r) => r.rate > 0);
  const tops = Object.entries(machine?.gflop_per_s ?? {}).filter(([kind]) => flops.some(([f]) => f === kind)).map(([kind, g]) => ({ kind, y: g * 1e9 }));
  const table = () => (
    <Table label="Roofline" rows={points} columns={[
      { key: "k", head: "operations", text: true, cell: (p) => names[p.kind] ?? p.kind },
      { key: "n", head: "count", cell: (p) => count(p.n) },
      { key: "l", head: "bytes at", text: true, cell: (p) => p.level },
      { key: "b", head: "moved", cell: (p) => bytes(p.bytes) },
      { key: "x", head: "operations per byte", cell: (p) => fixed(p.x), value: (p) => p.x },
      { key: "y", head: "operations a second", cell: (p) => short(p.y) + "flop/s", value: (p) => p.y },
    ]} />
  );
  const why = flops.length === 0 ? "The launch has no floating-point additions or multiplications." : points.length === 0 ? "No bytes moved, or the machine has no clock." : tops.length === 0 ? "The core model states no peak of these operations." : "";
  if (why) return <Chart title="Roofline" table={table}><Empty>{why}</Empty></Chart>;
  const W = 520, H = 300, L = 58, R = 12, T = 14, B = 40;
  const xs = points.map((p) => p.x).concat(roofs.flatMap((r) => tops.map((t) => t.y / r.rate)));
  const x0 = Math.floor(Math.log10(Math.min(...xs) / 3)), x1 = Math.ceil(Math.log10(Math.max(...xs) * 3));
  const y1 = Math.ceil(Math.log10(Math.max(...tops.map((t) => t.y)) * 1.5)), y0 = Math.floor(Math.log10(Math.min(...points.map((p) => p.y), ...tops.map((t) => t.y / 100))));
  const px = (v: number) => L + ((Math.log10(v) - x0) / (x1 - x0)) * (W - L - R), py = (v: number) => H - B - ((Math.log10(v) - y0) / (y1 - y0)) * (H - T - B);
  const decades = (a: number, b: number) => Array.from({ length: b - a + 1 }, (_, i) => a + i);
  const top = Math.max(...tops.map((t) => t.y));
  return (
    <Chart title="Roofline" table={table} note="Dots: this launch by its bytes at the DRAM (filled) and at the L2 (ring). Lines: what the machine does at most.">
      <svg class="plot" viewBox={`0 0 ${W} ${H}`} role="img" aria-label={points.map((p) => `${names[p.kind]}: ${short(p.y)}flop/s at ${fixed(p.x)} operations per byte of the ${p.level}`).join("; ")}>
        {decades(x0, x1).map((d) => <g key={"x" + d}><line class="gridline" x1={px(10 ** d)} x2={px(10 ** d)} y1={T} y2={H - B} /><text x={px(10 ** d)} y={H - B + 16} text-anchor="middle">{short(10 ** d)}</text></g>)}
        {decades(y0, y1).map((d) => <g key={"y" + d}><line class="gridline" x1={L} x2={W - R} y1={py(10 ** d)} y2={py(10 ** d)} /><text x={L - 6} y={py(10 ** d) + 4} text-anchor="end">{short(10 ** d)}</text></g>)}
        <text x={(L + W - R) / 2} y={H - 6} text-anchor="middle">operations per byte</text>
        <text x={12} y={(T + H - B) / 2} text-anchor="middle" transform={`rotate(-90 12 ${(T + H - B) / 2})`}>flop/s</text>
        {roofs.map((r) => {
          const from = 10 ** x0, low = 10 ** y0, a = Math.max(from, low / r.rate), b = Math.min(10 ** x1, top / r.rate);
          const m = a * Math.sqrt(b / a), turn = (Math.atan2(py(b * r.rate) - py(a * r.rate), px(b) - px(a)) * 180) / Math.PI;
          return b > a && <g key={r.name} class="roof"><line x1={px(a)} y1={py(a * r.rate)} x2={px(b)} y2={py(b * r.rate)} /><text text-anchor="middle" transform={`translate(${px(m)} ${py(m * r.rate)}) rotate(${turn}) translate(0 -6)`}>{r.name} {short(r.rate)}B/s</text></g>;
        })}
        {tops.map((t) => <g key={t.kind} class="roof"><line x1={px(Math.max(10 ** x0, t.y / Math.max(...roofs.map((r) => r.rate), 1)))} x2={W - R} y1={py(t.y)} y2={py(t.y)} /><text x={W - R - 2} y={py(t.y) - 5} text-anchor="end">{names[t.kind]} {short(t.y)}flop/s</text></g>)}
        {points.map((p, i) => <circle key={i} class={p.level === "DRAM" ? "dot" : "dot ring"} cx={px(p.x)} cy={py(p.y)} r="5.5"><title>{`${names[p.kind]}, ${p.level}: ${short(p.y)}flop/s at ${fixed(p.x)} operations per byte`}</title></circle>)}
      </svg>
    </Chart>
  );
}
