// Parallel coordinates: a line for each point, over all axes and metrics.
import { h } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { count, number, plural, short } from "./format";
import { Chart, Table, useWidth } from "./parts";
import type { Filter, Sweep } from "./sweep";
import { MetricChoice, type Parts } from "./sweeppage";

interface Dim { key: string; name: string; axis: number; metric: number; levels: string[]; lo: number; hi: number; log: boolean }

/** Colours from best to worst. */
const shades = 6, shade = (n: number) => `color-mix(in oklab, var(--blue) ${100 - (100 * n) / (shades - 1)}%, var(--orange))`;
/** Room at a line for its brush, in points; more levels than this have a list to choose from. */
const band = 14, mostButtons = 24;

function dimsOf(s: Sweep): Dim[] {
  const axes = s.varying.map((a) => ({ key: `a${a}`, name: s.r.axes[a].name, axis: a, metric: -1, levels: s.r.axes[a].levels, lo: 0, hi: 0, log: false }));
  const metrics = s.r.metrics.map((m, n) => {
    let lo = Infinity, hi = -Infinity;
    for (const v of s.points.map((i) => s.value(n, i))) if (v !== null) lo = Math.min(lo, v), hi = Math.max(hi, v);
    return { key: `m${n}`, name: m.name, axis: -1, metric: n, levels: [], lo, hi, log: lo > 0 && hi / lo > 20 };
  });
  return [...axes, ...metrics.filter((d) => d.hi >= d.lo)];
}

/** The place of a value on its line, 0 to 1. */
function share(d: Dim, v: number): number {
  if (d.axis >= 0) return (v + 0.5) / d.levels.length;
  if (d.hi === d.lo) return 0.5;
  return d.log ? Math.log(v / d.lo) / Math.log(d.hi / d.lo) : (v - d.lo) / (d.hi - d.lo);
}

function placeOf(s: Sweep, d: Dim, point: number): number | null {
  return d.axis >= 0 ? s.r.at[d.axis][point] : s.value(d.metric, point);
}

/** What is at a place. */
function value(d: Dim, t: number): number {
  return d.log ? d.lo * (d.hi / d.lo) ** t : d.lo + t * (d.hi - d.lo);
}

export function Lines({ s, choice, choose, selected }: Parts) {
  const [ref, width] = useWidth(), dims = useMemo(() => dimsOf(s), [s]);
  const upright = width >= dims.length * 105; // else lines run downwards, on narrow screens
  const ends = { l: upright ? 70 : 12, r: upright ? 70 : 12, t: upright ? 40 : 26, b: 26 };
  const W = Math.max(240, width), H = upright ? 340 : ends.t + ends.b + (dims.length - 1) * 72;
  const along = (n: number) => (dims.length < 2 ? 0.5 : n / (dims.length - 1));
  const at = (n: number, t: number): [number, number] => (upright
    ? [ends.l + along(n) * (W - ends.l - ends.r), H - ends.b - t * (H - ends.t - ends.b)]
    : [ends.l + t * (W - ends.l - ends.r), ends.t + along(n) * (H - ends.t - ends.b)]);
  const place = (d: Dim, i: number) => placeOf(s, d, i);
  const paths = useMemo(() => {
    const ranks = s.ranks(choice.metric), on = new Set(selected), out = Array.from({ length: shades + 1 }, () => [] as string[]);
    for (const i of s.points) {
      let text = "", pen = false;
      dims.forEach((d, n) => {
        const v = place(d, i);
        if (v === null) {
          pen = false;
          return;
        }
        const [x, y] = at(n, share(d, v));
        text += `${pen ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
        pen = true;
      });
      const rank = ranks[i];
      out[!on.has(i) || Number.isNaN(rank) ? shades : Math.round(rank * (shades - 1))].push(text);
    }
    return out.map((l) => l.join(""));
  }, [s, selected, choice.metric, W, H, upright]);
  const all = selected.length === s.points.length, mine = choice.point >= 0 ? choice.point : -1;
  return (
    <Chart title="All points" more={<MetricChoice s={s} choice={choice} choose={choose} name="Colour" />}
      note={`${all ? `All ${plural(s.points.length, "point", "points")} are` : `${count(selected.length)} of ${plural(s.points.length, "point", "points")} ${selected.length === 1 ? "is" : "are"}`} selected. A line is a point; its colour is its rank among those of the same input, from best (blue) to worst (orange); grey lines are not selected or have no value. Drag along an axis to select a part of it, or use the switches below. The trade-off and the table show what is selected.`}
      table={() => (
        <Table label="Axes and metrics" rows={dims} columns={[
          { key: "n", head: "axis or metric", text: true, cell: (d) => d.name, value: (d) => d.name },
          { key: "l", head: "values", cell: (d) => (d.axis >= 0 ? count(d.levels.length) : "–") },
          { key: "a", head: "least selected", cell: (d) => edge(s, d, selected, Math.min) },
          { key: "b", head: "most selected", cell: (d) => edge(s, d, selected, Math.max) },
        ]} />
      )}>
      <div ref={ref}>
        <svg class="lines" width={W} height={H} role="img" aria-label={`${plural(s.points.length, "line", "lines")} over ${dims.map((d) => d.name).join(", ")}; the table of points has the numbers`}>
          <path class="off" d={paths[shades]} />
          {[...Array(shades).keys()].reverse().map((n) => <path key={n} d={paths[n]} style={{ stroke: shade(n), opacity: selected.length > 400 ? "0.5" : "0.75" }} />)}
          {mine >= 0 && <path class="mine" d={"M" + dims.flatMap((d, n) => {
            const v = place(d, mine);
            return v === null ? [] : [at(n, share(d, v)).map((x) => x.toFixed(1)).join(" ")];
          }).join("L")} />}
          {dims.map((d, n) => <Brush key={d.key} d={d} n={n} of={dims.length} at={at} upright={upright} filter={choice.filter} choose={(filter) => choose({ filter })} />)}
        </svg>
      </div>
      <Switches s={s} dims={dims} filter={choice.filter} choose={(filter) => choose({ filter })} all={all} />
    </Chart>
  );
}

function edge(s: Sweep, d: Dim, selected: number[], f: (a: number, b: number) => number): string {
  const list = selected.map((i) => placeOf(s, d, i)).filter((v) => v !== null);
  if (list.length === 0) return "–";
  const v = list.reduce(f);
  return d.axis >= 0 ? d.levels[v] || "–" : number(v);
}

/** A filter with another selection on one line; null removes it. */
function change(f: Filter, d: Dim, to: number[] | null): Filter {
  const levels = { ...f.levels }, ranges = { ...f.ranges };
  delete levels[d.axis];
  delete ranges[d.metric];
  if (to && d.axis >= 0) levels[d.axis] = to;
  if (to && d.metric >= 0) ranges[d.metric] = [to[0], to[1]];
  return { levels, ranges };
}

/** A line of the chart with its name, its values, and what is selected on it. */
function Brush(p: { d: Dim; n: number; of: number; at: (n: number, t: number) => [number, number]; upright: boolean; filter: Filter; choose: (f: Filter) => void }) {
  const { d, n, at, upright } = p, [drag, setDrag] = useState<[number, number] | null>(null), box = useRef<SVGRectElement>(null);
  const [x0, y0] = at(n, 0), [x1, y1] = at(n, 1);
  const where = (e: PointerEvent) => {
    const r = box.current!.getBoundingClientRect();
    return Math.max(0, Math.min(1, upright ? 1 - (e.clientY - r.top) / r.height : (e.clientX - r.left) / r.width));
  };
  const rect = (a: number, b: number) => {
    const [xa, ya] = at(n, a), [xb, yb] = at(n, b);
    return upright ? { x: xa - 7, y: Math.min(ya, yb), width: 14, height: Math.abs(yb - ya) } : { x: Math.min(xa, xb), y: ya - 7, width: Math.abs(xb - xa), height: 14 };
  };
  const end = () => {
    if (!drag) return;
    const [a, b] = drag[0] < drag[1] ? drag : [drag[1], drag[0]];
    setDrag(null);
    if (b - a < 0.01) return p.choose(change(p.filter, d, null));
    if (d.metric >= 0) return p.choose(change(p.filter, d, [value(d, a), value(d, b)]));
    const half = 0.5 / d.levels.length, list = d.levels.map((_, l) => l).filter((l) => share(d, l) >= a - half && share(d, l) <= b + half);
    p.choose(change(p.filter, d, list));
  };
  const levels = p.filter.levels[d.axis], range = p.filter.ranges[d.metric], half = 0.5 / Math.max(1, d.levels.length);
  const shown = drag ? [drag] : levels ? levels.map((l) => [share(d, l) - half, share(d, l) + half]) : range ? [range.map((v) => Math.max(0, Math.min(1, share(d, v))))] : [];
  const every = Math.ceil(d.levels.length / (upright ? 16 : 5));
  const ticks: [number, string][] = d.axis >= 0 ? d.levels.map((l, i) => [share(d, i), l || "–"] as [number, string]).filter((_, i) => i % every === 0) : d.hi === d.lo ? [[0.5, short(d.lo)]] : [0, 0.25, 0.5, 0.75, 1].map((t) => [t, short(value(d, t))] as [number, string]);
  const first = n === 0, last = n === p.of - 1, anchor = upright ? (last && !first ? "start" : "end") : "middle";
  const cut = (text: string, most: number) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
  const room = upright ? (first ? 9 : 13) : Math.max(4, Math.floor(52 / Math.max(1, ticks.length)));
  return (
    <g class="dim">
      <line x1={x0} y1={y0} x2={x1} y2={y1} />
      {shown.map(([a, b], i) => <rect key={i} class="chosen" {...rect(a, b)} />)}
      {ticks.map(([t, text], i) => {
        const [x, y] = at(n, t), side = !upright && (t < 0.08 ? "start" : t > 0.92 ? "end" : anchor);
        return <text key={i} x={upright ? x + (anchor === "end" ? -8 : 8) : x} y={upright ? y + 4 : y + 18} text-anchor={side || anchor}><title>{text}</title>{cut(text, room)}</text>;
      })}
      <text class="name" x={upright ? (first ? 2 : last ? x0 + 66 : x0) : x0} y={upright ? 16 + (n % 2 && p.of > 5 ? 13 : 0) : y0 - 10} text-anchor={upright ? (first ? "start" : last ? "end" : "middle") : "start"}><title>{d.name}</title>{cut(d.name, upright ? 24 : 44)}</text>
      <rect class="grab" ref={box} {...(upright ? { x: x0 - band, y: y1, width: 2 * band, height: y0 - y1 } : { x: x0, y: y0 - band, width: x1 - x0, height: 2 * band })}
        onPointerDown={(e) => { (e.currentTarget as Element).setPointerCapture(e.pointerId); setDrag([where(e), where(e)]); }}
        onPointerMove={(e) => drag && setDrag([drag[0], where(e)])} onPointerUp={end} onPointerCancel={() => setDrag(null)} />
    </g>
  );
}

/** The same selection by switches and numbers, for the keyboard. */
function Switches({ s, dims, filter, choose, all }: { s: Sweep; dims: Dim[]; filter: Filter; choose: (f: Filter) => void; all: boolean }) {
  return (
    <div class="switches">
      {dims.map((d) => {
        const chosen = filter.levels[d.axis], range = filter.ranges[d.metric];
        const toggle = (l: number) => {
          const now = chosen?.includes(l) ? chosen.filter((x) => x !== l) : [...(chosen ?? []), l].sort((a, b) => a - b);
          choose(change(filter, d, now.length === 0 || now.length === d.levels.length ? null : now));
        };
        const to = (which: 0 | 1, text: string) => {
          const next: [number, number] = range ? [...range] : [d.lo, d.hi];
          next[which] = text === "" ? (which ? d.hi : d.lo) : Number(text);
          choose(change(filter, d, next[0] <= d.lo && next[1] >= d.hi ? null : next));
        };
        return (
          <div class="switchrow" key={d.key} role="group" aria-label={`Select by ${d.name}`}>
            <span class="muted">{d.name}</span>
            {d.metric >= 0 ? (
              <span class="group ends">
                <input type="number" step="any" aria-label={`${d.name}: at least`} placeholder={number(d.lo)} value={range ? String(range[0]) : ""} onChange={(e) => to(0, e.currentTarget.value)} />
                <span class="muted">to</span>
                <input type="number" step="any" aria-label={`${d.name}: at most`} placeholder={number(d.hi)} value={range ? String(range[1]) : ""} onChange={(e) => to(1, e.currentTarget.value)} />
              </span>
            ) : d.levels.length > mostButtons ? (
              <select aria-label={`${d.name}: one value`} value={chosen?.length === 1 ? String(chosen[0]) : ""} onChange={(e) => choose(change(filter, d, e.currentTarget.value === "" ? null : [Number(e.currentTarget.value)]))}>
                <option value="">{chosen ? `${chosen.length} values` : "all"}</option>
                {d.levels.map((l, i) => <option key={i} value={String(i)}>{l || "–"}</option>)}
              </select>
            ) : <span class="group">{d.levels.map((l, i) => <button key={i} type="button" class="switch" aria-pressed={chosen?.includes(i) ?? false} onClick={() => toggle(i)}>{l || "–"}</button>)}</span>}
          </div>
        );
      })}
      {!all && <div><button type="button" onClick={() => choose({ levels: {}, ranges: {} })}>Select all {count(s.points.length)} points</button></div>}
    </div>
  );
}
