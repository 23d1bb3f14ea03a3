// Counters over time, the blocks on the SMs, and the parts of the machine over time.
import { Fragment, h, type ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import "uplot/css";
import type { Blocks, History, Result } from "./data";
import { count, fixed, plural, short, words } from "./format";
import { colour, sorted } from "./palette";
import { Card, Chart, Empty, LaunchChoice, Table, Term } from "./parts";
import { type Route } from "./route";

interface Line { name: string; values: number[]; fill?: string; unit: string }

/** The cycles that are shown on all charts. */
type Range = [number, number];

export function Time({ result, route, at }: { result: Result; route: Route; at: number }) {
  const r = result.run, k = at >= 0 ? result.kernels[at] : null;
  const whole: Range = k?.cycles !== undefined ? [k.start_cycle, k.end_cycle] : [0, r.cycles ?? 0];
  const [range, setRange] = useState<Range>(whole);
  useEffect(() => setRange(whole), [at, result]);
  const zoomed = range[0] !== whole[0] || range[1] !== whole[1];
  const history = r.history;
  return (
    <Fragment>
      <Card class="toolbar">
        <LaunchChoice result={result} at={at} page="time" whole="whole run" run={route.run} />
        <span>cycles {count(range[0])} to {count(range[1])}</span>
        <Part key={`${range[0]} ${range[1]}`} range={range} whole={whole} setRange={setRange} />
        {zoomed && <button type="button" onClick={() => setRange(whole)}>Show all</button>}
        <span class="muted">Drag across a chart, or name cycles, to see a part of the time.</span>
      </Card>
      {!history || history.end.length === 0
        ? <Card title="Counters over time"><Empty>The result has no counters over time. {r.kepler ? "The Kepler-style core does not record them, nor where its blocks ran." : <Fragment>Runs with <code>--html</code> record them; results of <code>--json</code> alone do not.</Fragment>}</Empty></Card>
        : <Series result={result} history={history} range={range} setRange={setRange} />}
      {!r.kepler && <Gantt result={result} at={at} range={range} />}
      {history?.parts.map((p) => <Heat key={p.part + p.counter} part={p} range={range} />)}
    </Fragment>
  );
}

/** A part of the time, by its first and last cycle. */
function Part({ range, whole, setRange }: { range: Range; whole: Range; setRange: (r: Range) => void }) {
  const [from, setFrom] = useState(String(range[0])), [to, setTo] = useState(String(range[1]));
  const a = Math.max(whole[0], Number(from)), b = Math.min(whole[1], Number(to)), good = from !== "" && to !== "" && a < b;
  return (
    <form class="part" onSubmit={(e) => { e.preventDefault(); if (good) setRange([a, b]); }}>
      <label>From <input name="from" type="number" step="1" min={whole[0]} max={whole[1]} value={from} onInput={(e) => setFrom(e.currentTarget.value)} /></label>
      <label>to <input name="to" type="number" step="1" min={whole[0]} max={whole[1]} value={to} onInput={(e) => setTo(e.currentTarget.value)} /></label>
      <button type="submit" disabled={!good}>Show</button>
    </form>
  );
}

function Series({ result, history, range, setRange }: { result: Result; history: History; range: Range; setRange: (r: Range) => void }) {
  const c = history.columns, end = history.end;
  const charts = useMemo(() => {
    const length = end.map((x, i) => x - (i > 0 ? end[i - 1] : 0));
    const per = (name: string, f = 1) => (c[name] ?? []).map((n, i) => (length[i] > 0 ? (f * n) / length[i] : 0));
    const share = (a: string, b: string) => (c[a] ?? []).map((n, i) => (c[b][i] > 0 ? (100 * n) / c[b][i] : NaN));
    const states = sorted(Object.keys(c).filter((n) => n.startsWith("stalls.")).map((n) => n.slice(7))).filter((s) => c["stalls." + s].some((n) => n > 0));
    const hz = result.run.clocks.core_mhz * 1e6;
    // Bytes of a DRAM command: those of the whole run by its commands.
    const dram = result.run.memory.dram, burst = dram.reads + dram.writes > 0 ? (dram.bytes_read + dram.bytes_written) / (dram.reads + dram.writes) : 0;
    // The states lie on each other: each line is the sum of those below it.
    let below: number[] = end.map(() => 0);
    const stack = states.map((s) => {
      below = below.map((n, i) => n + (length[i] > 0 ? c["stalls." + s][i] / length[i] : 0));
      return { name: words(s), values: below, fill: colour(s), unit: "warps" } as Line;
    });
    const list: { title: string; name: string; lines: Line[]; stacked?: boolean; own?: Line[] }[] = [
      { title: "IPC", name: "ipc", lines: [{ name: "IPC", values: per("warp_instructions"), unit: "warp instructions per cycle" }] },
      { title: "What warps did", name: "warp_cycles", lines: stack, stacked: true, own: states.map((s) => ({ name: words(s), values: per("stalls." + s), fill: colour(s), unit: "warps" })) },
      { title: "Resident warps", name: "series.resident_warps", lines: [{ name: "warps", values: c.resident_warps, unit: "warps" }] },
      { title: "Hit rates", name: "memory.l2.hits", lines: [{ name: "L1", values: share("memory.l1.hits", "memory.l1.accesses"), fill: "--blue", unit: "%" }, { name: "L2", values: share("memory.l2.hits", "memory.l2.accesses"), fill: "--orange", unit: "%" }] },
      { title: "DRAM", name: "memory.dram.bytes_read", lines: [{ name: "read", values: per("memory.dram.reads", (burst * hz) / 1e9), fill: "--blue", unit: "GB/s" }, { name: "written", values: per("memory.dram.writes", (burst * hz) / 1e9), fill: "--orange", unit: "GB/s" }] },
      { title: "Network", name: "memory.network.request_packets", lines: [{ name: "requests", values: per("memory.network.request_packets"), fill: "--blue", unit: "packets per cycle" }, { name: "replies", values: per("memory.network.reply_packets"), fill: "--orange", unit: "packets per cycle" }] },
      { title: "Memory round trip", name: "memory.mean_latency_cycles", lines: [{ name: "mean", values: (c["memory.latency_cycles"] ?? []).map((n, i) => (c["memory.replies"][i] > 0 ? n / c["memory.replies"][i] : NaN)), unit: "core cycles" }] },
    ];
    return list.filter((x) => x.lines.some((l) => l.values.some((v) => v > 0)));
  }, [history]);
  return (
    <div class="series">
      {charts.map((x) => (
        <Chart key={x.name} title={<Term page={result.page} name={x.name}>{x.title}</Term>} more={<span class="muted">{x.lines[0].unit}</span>} table={() => (
          <Table label={x.title} rows={end.map((cycle, i) => ({ cycle, i })).filter((r) => r.cycle > range[0] && (r.i === 0 || end[r.i - 1] < range[1]))} columns={[
            { key: "c", head: "to cycle", cell: (r) => count(r.cycle), value: (r) => r.cycle },
            ...(x.own ?? x.lines).map((l) => ({ key: l.name, head: `${l.name}`, cell: (r: { i: number }) => fixed(l.values[r.i]), value: (r: { i: number }) => l.values[r.i] || 0 })),
          ]} />
        )}>
          <Plot x={end} first={history.end[0] - history.every} lines={x.lines} own={x.own} stacked={x.stacked} range={range} setRange={setRange} label={x.title} />
        </Chart>
      ))}
      <p class="note">Time is in core cycles. Rows of {count(history.every)} cycles.</p>
    </div>
  );
}

function css(name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const c = getComputedStyle(probe).color;
  probe.remove();
  return c;
}

/** Redraws when the reader changes between light and dark. */
function useScheme(): boolean {
  const query = matchMedia("(prefers-color-scheme: dark)");
  const [dark, set] = useState(query.matches);
  useEffect(() => {
    const f = () => set(query.matches);
    query.addEventListener("change", f);
    return () => query.removeEventListener("change", f);
  }, []);
  return dark;
}

/** Room beside the charts for their axis and their last tick; .framed has the same. */
const chartLeft = 52, chartRight = 14;

function Plot(p: { x: number[]; first: number; lines: Line[]; own?: Line[]; stacked?: boolean; range: Range; setRange: (r: Range) => void; label: string }) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [at, setAt] = useState<number | null>(null);
  const dark = useScheme();
  useEffect(() => {
    const el = box.current!;
    const axis = { stroke: css("--muted"), grid: { stroke: css("--line"), width: 1 }, ticks: { stroke: css("--line"), width: 1 }, font: "11px system-ui, sans-serif" };
    const lines = p.stacked ? [...p.lines].reverse() : p.lines;
    const u = new uPlot({
      width: Math.max(200, el.clientWidth), height: p.stacked ? 220 : 130, padding: [8, chartRight, 0, 0], legend: { show: false },
      scales: { x: { time: false, range: () => [p.range[0], p.range[1]] }, y: { range: (_u, _min, max) => [0, max > 0 ? max * 1.05 : 1] } },
      cursor: { sync: { key: "cycle" }, drag: { x: true, y: false, setScale: false }, points: { show: !p.stacked } },
      axes: [{ ...axis, size: 28, values: (_u, v) => v.map((n) => short(n)), space: 80 }, { ...axis, size: chartLeft, values: (_u, v) => v.map((n) => short(n)), space: 30 }],
      series: [{}, ...lines.map((l) => ({ label: l.name, stroke: l.fill?.startsWith("--") ? css(l.fill) : l.fill ?? css("--accent"), fill: p.stacked ? l.fill : undefined, width: p.stacked ? 0 : 1.5, points: { show: false }, spanGaps: false }))],
      hooks: {
        setCursor: [(u) => setAt(u.cursor.idx ?? null)],
        setSelect: [(u) => {
          if (u.select.width < 4) return;
          const from = Math.round(u.posToVal(u.select.left, "x")), to = Math.round(u.posToVal(u.select.left + u.select.width, "x"));
          u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
          if (to > from) p.setRange([from, to]);
        }],
      },
    }, [p.x, ...lines.map((l) => l.values.map((v) => (Number.isNaN(v) ? null : v)))] as uPlot.AlignedData, el);
    plot.current = u;
    const o = new ResizeObserver(() => u.setSize({ width: Math.max(200, el.clientWidth), height: u.height }));
    o.observe(el);
    return () => {
      o.disconnect();
      u.destroy();
    };
  }, [p.x, p.lines, p.range, dark]);
  // The arrow keys move the cursor, as the pointer does.
  const keys = (e: KeyboardEvent) => {
    const u = plot.current, step = (e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0) * (e.shiftKey ? 10 : 1);
    if (!u || !step) return;
    e.preventDefault();
    const first = p.x.findIndex((x) => x >= p.range[0]), after = p.x.findIndex((x) => x > p.range[1]), last = after < 0 ? p.x.length - 1 : after - 1;
    const i = Math.max(first, Math.min(last, at === null ? (step > 0 ? first : last) : at + step));
    u.setCursor({ left: u.valToPos(p.x[i], "x"), top: u.bbox.height / devicePixelRatio / 2 });
    setAt(i);
  };
  const own = p.own ?? p.lines;
  const shown = at === null ? null : own.map((l) => ({ l, v: l.values[at] })).filter(({ v }) => v > 0 || own.length < 3);
  if (p.stacked) shown?.sort((a, b) => b.v - a.v);
  return (
    <Fragment>
      <div ref={box} class="uplotbox" role="img" tabIndex={0} onKeyDown={keys} aria-label={`${p.label} over time; ← and → read it, and the table has the numbers`} />
      <p class="reading" aria-live={document.activeElement === box.current ? "polite" : "off"}>
        {shown ? <Fragment><b>cycle {count(p.x[at!])}</b> {shown.slice(0, 6).map(({ l, v }) => <span key={l.name}>{l.fill && <i class="swatch" style={{ background: l.fill?.startsWith("--") ? `var(${l.fill})` : l.fill }} />}{l.name} {fixed(v)} {l.unit}</span>)}</Fragment>
          : own.filter((l) => l.fill).slice(0, 12).map((l) => <span key={l.name} class="muted"><i class="swatch" style={{ background: l.fill?.startsWith("--") ? `var(${l.fill})` : l.fill }} />{l.name}</span>)}
      </p>
    </Fragment>
  );
}

/** What reads a drawing at a place: the pointer, or the arrow keys, which move by one of its columns, or by a row of a height. */
export function pointing(at: (x: number, y: number, width: number) => void, columns: number, row: number, height: number, out: () => void) {
  const to = (el: HTMLElement, x: number, y: number) => {
    el.dataset.x = String(x);
    el.dataset.y = String(y);
    at(x, y, el.clientWidth);
  };
  return {
    tabIndex: 0,
    onMouseMove: (e: MouseEvent) => {
      const el = e.currentTarget as HTMLElement, r = el.getBoundingClientRect();
      at(e.clientX - r.left, e.clientY - r.top, r.width);
    },
    onMouseLeave: out,
    onBlur: out,
    onKeyDown: (e: KeyboardEvent) => {
      const dx = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0, dy = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
      if (!dx && !dy) return;
      e.preventDefault();
      const el = e.currentTarget as HTMLElement, wide = el.clientWidth / Math.max(1, columns), many = e.shiftKey ? 10 : 1;
      const old = el.dataset.x === undefined ? null : { x: Number(el.dataset.x), y: Number(el.dataset.y) };
      const clamp = (v: number, by: number, most: number) => Math.max(by / 2, Math.min(most - by / 2, v));
      to(el, clamp(old ? old.x + dx * many * wide : 0, wide, el.clientWidth), clamp(old ? old.y + dy * many * row : 0, row, height));
    },
  };
}

/** A drawing of one point for each row and column, scaled to the width of its card. */
export function useCanvas(draw: (ctx: CanvasRenderingContext2D, width: number, height: number, css: (name: string) => string) => void, height: number, deps: unknown[]) {
  const ref = useRef<HTMLCanvasElement>(null);
  const dark = useScheme();
  useEffect(() => {
    const el = ref.current;
    if (!el) return;
    const paint = () => {
      const w = el.clientWidth, scale = Math.min(2, devicePixelRatio || 1);
      el.width = w * scale;
      el.height = height * scale;
      const ctx = el.getContext("2d")!;
      ctx.scale(scale, scale);
      ctx.clearRect(0, 0, w, height);
      draw(ctx, w, height, css);
    };
    paint();
    const o = new ResizeObserver(paint);
    o.observe(el);
    return () => o.disconnect();
  }, [...deps, height, dark]);
  return ref;
}

/** A drawing over time with the first and last of its rows, and the cycles below it, in line with the charts. */
export function Framed({ range, rows, children }: { range: Range; rows: [first: string, last: string]; children: ComponentChildren }) {
  const most = (range[1] - range[0]) / 9, power = 10 ** Math.floor(Math.log10(Math.max(1, most))), step = power * ([1, 2, 5, 10].find((f) => f * power >= most) ?? 10);
  const ticks: number[] = [];
  for (let c = Math.ceil(range[0] / step) * step; c <= range[1]; c += step) ticks.push(c);
  return (
    <div class="framed">
      <div class="rows" aria-hidden="true"><span>{rows[0]}</span><span>{rows[1]}</span></div>
      <div class="drawn">{children}</div>
      <div class="ticks" aria-hidden="true"><span>cycle</span>{ticks.map((c) => <small key={c} style={{ left: `${(100 * (c - range[0])) / (range[1] - range[0])}%` }}>{short(c)}</small>)}</div>
    </div>
  );
}

/** As many as a machine has at most; a damaged result may name more. */
const mostSMs = 1 << 16;

function Gantt({ result, at, range }: { result: Result; at: number; range: Range }) {
  const sms = Math.max(1, Math.min(mostSMs, Math.floor(result.run.sms) || 1));
  const list = useMemo(() => {
    const out: { at: number; b: Blocks }[] = [];
    result.kernels.forEach((_, i) => {
      const b = at < 0 || at === i ? result.blocks(i) : null;
      if (b) out.push({ at: i, b });
    });
    return out;
  }, [result, at]);
  const total = list.reduce((a, x) => a + x.b.sm.length, 0);
  // Blocks of an SM lie in as many rows as are there at a time.
  const placed = useMemo(() => {
    const rows: { sm: number; slot: number; from: number; to: number; launch: number; block: number }[] = [];
    const free: number[][] = Array.from({ length: sms }, () => []);
    const all = list.flatMap(({ at, b }) => b.sm.map((sm, i) => ({ sm, launch: at, block: b.block ? b.block[i] : i, from: result.kernels[at].start_cycle + b.start[i], to: b.end[i] > 0 ? result.kernels[at].start_cycle + b.end[i] : result.kernels[at].end_cycle })));
    all.sort((a, b) => a.from - b.from);
    let most = 1;
    for (const x of all) {
      if (x.sm >= sms) continue;
      const slots = free[x.sm];
      let s = slots.findIndex((end) => end <= x.from);
      if (s < 0) s = slots.length;
      slots[s] = x.to;
      most = Math.max(most, s + 1);
      rows.push({ ...x, slot: s });
    }
    return { rows, most };
  }, [list]);
  const height = Math.max(120, Math.min(sms * 8, 900)), [tip, setTip] = useState("");
  const place = (w: number) => ({ x: (c: number) => ((c - range[0]) / (range[1] - range[0])) * w, row: height / sms });
  const ref = useCanvas((ctx, w) => {
    const { x, row } = place(w), each = (row - 1) / placed.most;
    for (const b of placed.rows) {
      if (b.to < range[0] || b.from > range[1]) continue;
      const hue = (b.launch * 67 + 205) % 360;
      ctx.fillStyle = `hsl(${hue} 55% ${b.block % 2 ? 46 : 56}%)`;
      ctx.fillRect(x(b.from), b.sm * row + b.slot * each, Math.max(0.7, x(b.to) - x(b.from) - 0.4), Math.max(0.7, each - (each > 3 ? 0.6 : 0)));
    }
  }, height, [placed, range]);
  const point = (x: number, y: number, width: number) => {
    const { row } = place(width);
    const cycle = Math.floor(range[0] + (x / width) * (range[1] - range[0])), sm = Math.floor(y / row);
    const slot = Math.floor(((y % row) / (row - 1)) * placed.most);
    const b = placed.rows.find((b) => b.sm === sm && b.slot === slot && b.from <= cycle && cycle <= b.to) ?? placed.rows.find((b) => b.sm === sm && b.from <= cycle && cycle <= b.to);
    setTip(`SM ${sm}, cycle ${count(cycle)}${b ? `: block ${count(b.block)} of launch ${result.kernels[b.launch].launch}, cycles ${count(b.from)} to ${count(b.to)} (${count(b.to - b.from)})` : ": no block"}`);
  };
  return (
    <Chart title="Blocks on SMs" note={total > 0 ? tip || `${plural(total, "block", "blocks")}. A colour is a launch.` : undefined} table={() => (
      <Table label="Blocks" rows={placed.rows} columns={[
        { key: "l", head: "launch", cell: (b) => result.kernels[b.launch].launch, value: (b) => b.launch },
        { key: "b", head: <Term page={result.page} name="block_log.block">block</Term>, cell: (b) => count(b.block), value: (b) => b.block },
        { key: "s", head: <Term page={result.page} name="block_log.sm">SM</Term>, cell: (b) => b.sm, value: (b) => b.sm },
        { key: "f", head: <Term page={result.page} name="block_log.start_cycle">from cycle</Term>, cell: (b) => count(b.from), value: (b) => b.from },
        { key: "t", head: <Term page={result.page} name="block_log.end_cycle">to cycle</Term>, cell: (b) => count(b.to), value: (b) => b.to },
        { key: "n", head: "cycles", cell: (b) => count(b.to - b.from), value: (b) => b.to - b.from },
      ]} />
    )}>
      {total === 0 ? <Empty>The result has no log of blocks: runs with <code>--html</code> keep it for launches of up to 20,000 blocks, others with <code>-C run.block_log=true</code>.</Empty>
        : <Framed range={range} rows={["SM 0", `SM ${sms - 1}`]}><canvas ref={ref} class="canvas" style={{ height: `${height}px` }} role="img" aria-label={`${plural(total, "block", "blocks")} on ${plural(sms, "SM", "SMs")} over time; the arrow keys read them, and the table has the numbers`} {...pointing(point, 100, height / sms, height, () => setTip(""))} /></Framed>}
    </Chart>
  );
}

const titles: Record<string, [string, string, string]> = {
  "sm warp_instructions": ["Instructions of each SM over time", "SM", "warp instructions"],
  "sm warp_cycles": ["Resident warps of each SM over time", "SM", "warp cycles"],
  "slice requests": ["Requests of each L2 slice over time", "slice", "requests"],
  "channel busy_cycles": ["Busy data pins of each DRAM channel over time", "channel", "cycles of the command clock"],
};

/** What is too long for the frame. */
const brief: Record<string, string> = { channel: "ch." };

/** Colours from nothing to the most, dark to light or the other way round. */
export function ramp(share: number, dark: boolean): string {
  const t = Math.max(0, Math.min(1, share)), a = dark ? [23, 30, 40] : [238, 242, 246], b = dark ? [255, 170, 96] : [160, 45, 8];
  return "#" + a.map((x, i) => Math.round(x + (b[i] - x) * Math.sqrt(t)).toString(16).padStart(2, "0")).join("");
}

function Heat({ part, range }: { part: History["parts"][number]; range: Range }) {
  const [title, one, unit] = titles[`${part.part} ${part.counter}`] ?? [`${part.part} ${words(part.counter)}`, part.part, ""];
  const n = part.counts.length, most = useMemo(() => part.counts.reduce((a, c) => c.reduce((a, x) => Math.max(a, x), a), 0), [part]);
  const height = Math.max(80, Math.min(n * 6, 520)), [tip, setTip] = useState("");
  const dark = useScheme();
  const ref = useCanvas((ctx, w) => {
    const x = (c: number) => ((c - range[0]) / (range[1] - range[0])) * w, row = height / n;
    part.counts.forEach((list, p) => list.forEach((v, i) => {
      const from = x(i * part.every), to = x((i + 1) * part.every);
      if (to < 0 || from > w) return;
      ctx.fillStyle = ramp(v / most, dark);
      ctx.fillRect(from, p * row, to - from + 0.6, row + 0.3);
    }));
  }, height, [part, range]);
  if (n === 0 || most === 0) return null;
  const point = (x: number, y: number, width: number) => {
    const i = Math.floor((range[0] + (x / width) * (range[1] - range[0])) / part.every), p = Math.floor((y / height) * n);
    const v = part.counts[p]?.[i];
    setTip(v === undefined ? "" : `${one} ${p}, cycles ${count(i * part.every)} to ${count((i + 1) * part.every)}: ${count(v)} ${unit}`);
  };
  return (
    <Chart title={title} note={tip || `The strongest colour is ${count(most)} ${unit} in ${count(part.every)} cycles.`} table={() => (
      <Table label={title} rows={part.counts.map((c, p) => ({ p, sum: c.reduce((a, b) => a + b, 0), most: c.reduce((a, b) => Math.max(a, b), 0) }))} columns={[
        { key: "p", head: one, cell: (r) => r.p, value: (r) => r.p }, { key: "s", head: unit + " in all", cell: (r) => count(r.sum), value: (r) => r.sum }, { key: "m", head: `most in ${count(part.every)} cycles`, cell: (r) => count(r.most), value: (r) => r.most },
      ]} />
    )}>
      <Framed range={range} rows={[`${brief[one] ?? one} 0`, `${brief[one] ?? one} ${n - 1}`]}><canvas ref={ref} class="canvas" style={{ height: `${height}px` }} role="img" aria-label={`${title}; the arrow keys read it, and the table has the numbers`} {...pointing(point, (range[1] - range[0]) / part.every, height / n, height, () => setTip(""))} /></Framed>
    </Chart>
  );
}

export { useScheme };
