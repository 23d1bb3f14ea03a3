// Comparisons with tables of measurements, as heddle compare makes them: ratios and errors.
import { Fragment, h } from "preact";
import { type Measured, type Pair, type Side } from "./data";
import { base, count, number as value, plural, short } from "./format";
import { Card, Chart, Empty, Figure, Table } from "./parts";

const name = (p: Pair) => (p.name || p.name_b || "(no name)") + (p.launch_a !== undefined || p.launch_b !== undefined ? ` #${p.launch_a ?? p.launch_b}` : "");
const side = (s: Side) => `${s.metric} of ${base(s.files[0] ?? "")}${s.files.length > 1 ? ` and ${s.files.length - 1} more` : ""}`;
const where = (s: Side) => `${base(s.files[0] ?? "")}${s.files.length > 1 ? ` and ${s.files.length - 1} more` : ""} only`;
const error = (e: number) => `${e > 0 ? "+" : e < 0 ? "−" : "±"}${Math.abs(e).toFixed(2)} %`;

export function Comparisons({ list }: { list: { name: string; is: Measured }[] }) {
  return (
    <Fragment>
      {list.length > 1 && (
        <Card title="Errors against measurements">
          <Table label="Comparisons" rows={list} columns={[
            { key: "n", head: "comparison", text: true, cell: (c) => c.name, value: (c) => c.name },
            { key: "p", head: "pairs", cell: (c) => count(c.is.statistics.pairs), value: (c) => c.is.statistics.pairs },
            { key: "m", head: "mean |error|", cell: (c) => `${c.is.statistics.mean_absolute_error_percent.toFixed(2)} %`, value: (c) => c.is.statistics.mean_absolute_error_percent },
            { key: "d", head: "median", cell: (c) => `${c.is.statistics.median_absolute_error_percent.toFixed(2)} %`, value: (c) => c.is.statistics.median_absolute_error_percent },
            { key: "w", head: "worst", cell: (c) => `${c.is.statistics.worst_absolute_error_percent.toFixed(2)} %`, value: (c) => c.is.statistics.worst_absolute_error_percent },
            { key: "s", head: "mean error", cell: (c) => error(c.is.statistics.mean_error_percent), value: (c) => c.is.statistics.mean_error_percent },
            { key: "r", head: "correlation", cell: (c) => c.is.statistics.correlation?.toFixed(4) ?? "–", value: (c) => c.is.statistics.correlation ?? -2 },
          ]} />
        </Card>
      )}
      {list.map((c, i) => <One key={i} name={c.name} c={c.is} />)}
    </Fragment>
  );
}

function One({ name: title, c }: { name: string; c: Measured }) {
  const s = c.statistics, alone = [...(c.only_a ?? []).map((r) => ({ ...r, side: where(c.a) })), ...(c.only_b ?? []).map((r) => ({ ...r, side: where(c.b) }))];
  const notes = [...(c.a.notes ?? []), ...(c.b.notes ?? [])];
  return (
    <Fragment>
      <Card title={title}>
        <p class="muted about">Reference: {side(c.a)}{c.a.less > 0 ? `, less ${value(c.a.less)} a launch` : ""}. Compared: {side(c.b)}{c.b.less > 0 ? `, less ${value(c.b.less)} a launch` : ""}. An error is the difference as a share of the reference.</p>
        <dl class="figures">
          <Figure name="mean of absolute errors" value={`${s.mean_absolute_error_percent.toFixed(2)} %`} note={`${plural(s.pairs, "pair", "pairs")} by ${c.match}`} />
          <Figure name="median" value={`${s.median_absolute_error_percent.toFixed(2)} %`} note={`90th percentile ${s.p90_absolute_error_percent.toFixed(2)} %`} />
          <Figure name="worst" value={`${s.worst_absolute_error_percent.toFixed(2)} %`} note={s.worst} />
          <Figure name="mean error" value={error(s.mean_error_percent)} note="with its sign" />
          <Figure name="correlation" value={s.correlation?.toFixed(4) ?? "–"} note={`of logarithms ${s.log_correlation?.toFixed(4) ?? "–"}`} />
        </dl>
        {notes.map((n, i) => <p class="note" key={i}>{n}</p>)}
      </Card>
      <div class="two">
        <Scatter c={c} />
        <Errors c={c} />
      </div>
      {alone.length > 0 && (
        <Card title={<Fragment>Without a partner <span class="muted">{count(alone.length)}</span></Fragment>}>
          <Table label="Rows without a partner" rows={alone} columns={[
            { key: "s", head: "in", text: true, cell: (r) => r.side, value: (r) => r.side },
            { key: "n", head: c.by, text: true, class: "name", cell: (r) => r.name + (r.launch !== undefined ? ` #${r.launch}` : ""), value: (r) => r.name },
            { key: "v", head: c.a.metric, cell: (r) => value(r.value), value: (r) => r.value },
            { key: "f", head: "file", text: true, cell: (r) => `${base(r.file)}${r.line ? `:${r.line}` : ""}` },
          ]} />
        </Card>
      )}
    </Fragment>
  );
}

function Pairs({ c }: { c: Measured }) {
  return (
    <Table label="Pairs" sort="e" rows={c.pairs} columns={[
      { key: "n", head: c.by, text: true, class: "name", cell: name, value: name },
      { key: "a", head: "reference", cell: (p) => value(p.a), value: (p) => p.a },
      { key: "b", head: "compared", cell: (p) => value(p.b), value: (p) => p.b },
      { key: "r", head: "ratio", cell: (p) => p.ratio.toFixed(3), value: (p) => p.ratio },
      { key: "e", head: "error", cell: (p) => error(p.error_percent), value: (p) => Math.abs(p.error_percent) },
    ]} />
  );
}

const W = 520, H = 360, L = 62, R = 12, T = 12, B = 44;

/** The values over the reference, on logarithmic axes. */
function Scatter({ c }: { c: Measured }) {
  const list = c.pairs.filter((p) => p.a > 0 && p.b > 0), all = list.flatMap((p) => [p.a, p.b]);
  const ends = [all.reduce((a, b) => Math.min(a, b), Infinity), all.reduce((a, b) => Math.max(a, b), 0)];
  if (list.length === 0) return <Chart title="Compared over reference" table={() => <Pairs c={c} />}><Empty>No pair has two values above 0.</Empty></Chart>;
  const lo = Math.log10(ends[0]) - 0.15, hi = Math.log10(ends[1]) + 0.15;
  const at = (v: number) => (Math.log10(v) - lo) / (hi - lo), px = (v: number) => L + at(v) * (W - L - R), py = (v: number) => H - B - at(v) * (H - T - B);
  const steps = hi - lo > 2.5 ? [1] : [1, 2, 5], ticks: number[] = [];
  for (let d = Math.floor(lo); d <= hi; d++) for (const s of steps) if (Math.log10(s) + d >= lo && Math.log10(s) + d <= hi) ticks.push(s * 10 ** d);
  const line = (f: number) => {
    const a = Math.max(10 ** lo, 10 ** lo / f), b = Math.min(10 ** hi, 10 ** hi / f);
    return b > a && <line key={f} class={f === 1 ? "equal" : "twice"} x1={px(a)} y1={py(a * f)} x2={px(b)} y2={py(b * f)} />;
  };
  return (
    <Chart title="Compared over reference" table={() => <Pairs c={c} />} note="On the line both are equal; the dashed lines are half and twice as much.">
      <svg class="plot scatter" viewBox={`0 0 ${W} ${H}`} role="img" aria-label={`${plural(list.length, "pair", "pairs")}; the table has the numbers`}>
        {ticks.map((v) => <g key={v}><line class="gridline" x1={px(v)} x2={px(v)} y1={T} y2={H - B} /><line class="gridline" x1={L} x2={W - R} y1={py(v)} y2={py(v)} /><text x={px(v)} y={H - B + 16} text-anchor="middle">{short(v)}</text><text x={L - 6} y={py(v) + 4} text-anchor="end">{short(v)}</text></g>)}
        <text x={(L + W - R) / 2} y={H - 8} text-anchor="middle">reference: {side(c.a)}</text>
        <text x={12} y={(T + H - B) / 2} text-anchor="middle" transform={`rotate(-90 12 ${(T + H - B) / 2})`}>{side(c.b)}</text>
        {[0.5, 1, 2].map(line)}
        {list.map((p, i) => <circle key={i} class="dot" cx={px(p.a)} cy={py(p.b)} r="4"><title>{`${name(p)}: ${value(p.a)}, ${value(p.b)}, ${error(p.error_percent)}`}</title></circle>)}
      </svg>
    </Chart>
  );
}

/** The errors, smallest first. */
function Errors({ c }: { c: Measured }) {
  const list = [...c.pairs].sort((a, b) => Math.abs(a.error_percent) - Math.abs(b.error_percent)), s = c.statistics;
  const top = Math.max(1, s.worst_absolute_error_percent) * 1.08, step = 10 ** Math.floor(Math.log10(top)), by = top / step < 2 ? step / 4 : top / step < 5 ? step / 2 : step;
  const py = (v: number) => H - B - (v / top) * (H - T - B), wide = (W - L - R) / Math.max(1, list.length), ticks: number[] = [];
  for (let i = 0; i < 20 && i * by <= top; i++) ticks.push(i * by);
  return (
    <Chart title="Errors, smallest first" table={() => <Pairs c={c} />} note={<Fragment><i class="swatch over" />compared is more <i class="swatch under" />compared is less</Fragment>}>
      <svg class="plot scatter" viewBox={`0 0 ${W} ${H}`} role="img" aria-label={`Errors of ${plural(list.length, "pair", "pairs")}: mean ${s.mean_absolute_error_percent.toFixed(2)} %, worst ${s.worst_absolute_error_percent.toFixed(2)} %`}>
        {ticks.map((v) => <g key={v}><line class="gridline" x1={L} x2={W - R} y1={py(v)} y2={py(v)} /><text x={L - 6} y={py(v) + 4} text-anchor="end">{Number(v.toPrecision(3))} %</text></g>)}
        {list.map((p, i) => <rect key={i} class={p.error_percent >= 0 ? "over" : "under"} x={L + i * wide + Math.min(1, wide / 8)} width={Math.max(0.5, Math.min(40, wide - Math.min(2, wide / 4)))} y={py(Math.abs(p.error_percent))} height={H - B - py(Math.abs(p.error_percent))}><title>{`${name(p)}: ${error(p.error_percent)}`}</title></rect>)}
        <line class="mean" x1={L} x2={W - R} y1={py(s.mean_absolute_error_percent)} y2={py(s.mean_absolute_error_percent)} />
        <text x={L + 4} y={py(s.mean_absolute_error_percent) - 5}>mean {s.mean_absolute_error_percent.toFixed(2)} %</text>
        <text x={(L + W - R) / 2} y={H - 8} text-anchor="middle">{plural(list.length, "pair", "pairs")}</text>
      </svg>
    </Chart>
  );
}
