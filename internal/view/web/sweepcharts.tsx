// What each axis of a sweep does to a metric, two axes at a time, and two metrics against each other.
import { Fragment, h } from "preact";
import { useMemo, useState } from "preact/hooks";
import { count, fixed, number, plural, short } from "./format";
import { ink } from "./palette";
import { Card, Chart, Empty, Table, useWidth } from "./parts";
import { type Mean, type Sweep, together } from "./sweep";
import { InputChoice, type Parts } from "./sweeppage";
import { ramp, useScheme } from "./time";

/** More lines than this cannot be distinguished: those of the first inputs are drawn. */
const mostCurves = 8;

/** What other axes do while one or two vary, in words. */
function held(s: Sweep, axes: number[], choice: Parts["choice"], one: string): string {
  const others = s.varying.filter((a) => !axes.includes(a) && a > 0), at = (a: number) => choice.held && s.r.axes[a].base >= 0;
  const fixedOnes = others.filter(at), free = others.filter((a) => !at(a));
  return [
    fixedOnes.length > 0 ? `${one} held at the baseline: ${fixedOnes.map((a) => `${s.r.axes[a].keyed ? "" : s.r.axes[a].name + " = "}${s.r.axes[a].levels[s.r.axes[a].base] || "–"}`).join(", ")}.` : "",
    free.length > 0 ? `${one} averaged: ${free.map((a) => s.r.axes[a].name).join(", ")}.` : "",
  ].filter((x) => x !== "").join(" ");
}

/** How averages are formed, in words. */
function kinds(arithmetic: boolean): string { return arithmetic ? "geometric means, arithmetic ones where a value is not above 0" : "geometric means"; }

interface Curve { name: string; list: Mean[]; values: (number | null)[]; n: number }

/** The curves of an axis: one for each input, relative to its value at the baseline's level or the first if there are several. */
function curvesOf(s: Sweep, axis: number, choice: Parts["choice"]): { curves: Curve[]; relative: boolean } {
  const inputs = choice.input === together ? s.known(choice.metric) : [choice.input];
  const relative = inputs.length > 1, from = Math.max(0, s.r.axes[axis].base);
  const curves = inputs.map((i, n) => {
    const list = s.curve(choice.metric, axis, i, choice.held), ref = list[from].value ?? list.find((m) => m.value !== null)?.value ?? null;
    return { name: s.inputs[i], list, n, values: list.map((m) => (m.value === null ? null : relative ? (ref ? m.value / ref : null) : m.value)) };
  });
  return { curves, relative };
}

export function Curves({ s, choice }: Parts) {
  const axes = s.varying.filter((a) => a > 0), metric = s.r.metrics[choice.metric].name;
  const all = useMemo(() => axes.map((axis) => ({ axis, ...curvesOf(s, axis, choice) })), [s, choice.metric, choice.input, choice.held]);
  const [ref, width] = useWidth(), columns = Math.max(1, Math.min(all.length, Math.floor(width / 330)));
  if (axes.length === 0) return <Card title="What each axis does"><Empty>The sweep has no axis but its inputs.</Empty></Card>;
  const means = all.flatMap((x) => x.curves.flatMap((c) => c.list)).filter((m) => m.of > 0), drawn = all.flatMap((x) => x.curves).filter((c) => c.values.some((v) => v !== null));
  const incomplete = means.some((m) => m.of < m.all), arithmetic = means.some((m) => !m.geometric && m.of > 1), several = means.some((m) => m.of > 1), relative = all[0].relative;
  return (
    <Chart title={`${metric} along each axis`} table={() => (
      <Table label={`${metric} along each axis`} rows={all.flatMap((x) => x.curves.flatMap((c) => c.list.map((m, l) => ({ x, c, m, l }))))} columns={[
        { key: "a", head: "axis", text: true, cell: (r) => s.r.axes[r.x.axis].name, value: (r) => r.x.axis },
        { key: "l", head: "value", text: true, cell: (r) => s.r.axes[r.x.axis].levels[r.l] || "–", value: (r) => r.l },
        { key: "i", head: "input", text: true, class: "name", cell: (r) => r.c.name, value: (r) => r.c.n },
        { key: "v", head: metric, cell: (r) => (r.m.value === null ? "–" : number(r.m.value)), value: (r) => r.m.value ?? NaN },
        ...(relative ? [{ key: "r", head: "relative", cell: (r: { c: Curve; l: number }) => fixed(r.c.values[r.l] ?? NaN, 3), value: (r: { c: Curve; l: number }) => r.c.values[r.l] ?? NaN }] : []),
        { key: "n", head: "points", cell: (r) => count(r.m.of), value: (r) => r.m.of },
      ]} />
    )} note={<Fragment>
      {relative ? `A line for each input: ${metric} relative to its value at the baseline's level, or the first. ` : `${metric} of ${s.inputs[Math.max(0, choice.input)]}. `}
      {axes.length > 1 && held(s, [], choice, "While an axis varies, the others are") + " "}
      {several && `Averages are ${kinds(arithmetic)}. `}
      {incomplete && "Combinations that lack a value at a level where others have one are left out. "}
      {all[0].curves.length > mostCurves && `The first ${mostCurves} of ${all[0].curves.length} inputs are drawn; choose another one above, or look at the table.`}
    </Fragment>}>
      <div ref={ref}>
        {drawn.length === 0 ? <Empty>No point has a value.</Empty> : (
          <Fragment>
            {relative && <div class="legend">{all[0].curves.slice(0, mostCurves).map((c) => <span key={c.n}><i class={`curve c${c.n}`} aria-hidden="true" />{c.name}</span>)}</div>}
            <div class="curves" style={{ gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}>
              {all.map((x) => <Response key={x.axis} name={s.r.axes[x.axis].name} levels={s.r.axes[x.axis].levels} base={s.r.axes[x.axis].base} curves={x.curves.slice(0, mostCurves)} width={(width - (columns - 1) * 16) / columns} relative={relative} />)}
            </div>
          </Fragment>
        )}
      </div>
    </Chart>
  );
}

/** Round numbers that divide an interval into a few parts. */
export function ticksOf(lo: number, hi: number): number[] {
  const step = 10 ** Math.floor(Math.log10((hi - lo) / 2)), by = (hi - lo) / step > 12 ? 5 * step : (hi - lo) / step > 5 ? 2 * step : step, list: number[] = [];
  for (let i = Math.ceil(lo / by); i * by <= hi + by * 1e-9 && list.length < 20; i++) list.push(Number((i * by).toPrecision(12)));
  return list;
}

/** An interval with some room around values. */
function around(values: number[]): [number, number] {
  let lo = Infinity, hi = -Infinity;
  for (const v of values) lo = Math.min(lo, v), hi = Math.max(hi, v);
  if (lo > hi) return [0, 1];
  const room = (hi - lo) * 0.08 || Math.abs(hi) * 0.1 || 1;
  return [lo >= 0 && lo < room ? 0 : lo - room, hi + room];
}

function cut(text: string, most: number): string { return text.length > most ? text.slice(0, Math.max(1, most - 1)) + "…" : text; }

function Response(p: { name: string; levels: string[]; base: number; curves: Curve[]; width: number; relative: boolean }) {
  const W = Math.max(220, p.width), H = 220, L = 52, R = 14, T = 12, B = 44;
  const [lo, hi] = around(p.curves.flatMap((c) => c.values.filter((v) => v !== null)));
  const px = (l: number) => L + ((l + 0.5) / p.levels.length) * (W - L - R), py = (v: number) => H - B - ((v - lo) / (hi - lo)) * (H - T - B);
  const every = Math.ceil(p.levels.length / Math.max(1, Math.floor((W - L - R) / 46))), room = Math.max(3, Math.floor(((W - L - R) / Math.ceil(p.levels.length / every)) / 6.6));
  return (
    <svg class="response" width={W} height={H} role="img" aria-label={`${p.name}: ${plural(p.curves.length, "line", "lines")} over ${plural(p.levels.length, "value", "values")}; the table has the numbers`}>
      {ticksOf(lo, hi).map((v) => <g key={v}><line class="gridline" x1={L} x2={W - R} y1={py(v)} y2={py(v)} /><text x={L - 6} y={py(v) + 4} text-anchor="end">{p.relative ? Number(v.toPrecision(4)) : short(v)}</text></g>)}
      {p.base >= 0 && <line class="base" x1={px(p.base)} x2={px(p.base)} y1={T} y2={H - B}><title>baseline</title></line>}
      {p.levels.map((l, i) => i % every === 0 && <text key={i} x={px(i)} y={H - B + 16} text-anchor="middle"><title>{l}</title>{cut(l || "–", room)}</text>)}
      <text class="name" x={(L + W - R) / 2} y={H - 8} text-anchor="middle">{cut(p.name, Math.floor(W / 8))}</text>
      {p.curves.map((c) => {
        let d = "", pen = false;
        c.values.forEach((v, l) => {
          if (v !== null) d += `${pen ? "L" : "M"}${px(l).toFixed(1)} ${py(v).toFixed(1)}`;
          pen = v !== null;
        });
        return <g key={c.n} class={`curve c${c.n}`}><path d={d} />{c.values.map((v, l) => v !== null && <circle key={l} cx={px(l)} cy={py(v)} r="3.5"><title>{`${c.name}, ${p.levels[l] || "–"}: ${number(c.list[l].value!)}${p.relative ? `, ${fixed(v, 3)}` : ""}`}</title></circle>)}</g>;
      })}
    </svg>
  );
}

export function HeatMap({ s, choice, choose }: Parts) {
  const { x, y } = choice, r = s.r, dark = useScheme(), metric = r.metrics[choice.metric];
  const cells = useMemo(() => (x === y ? [] : s.cells(choice.metric, x, y, choice.input, choice.held)), [s, choice.metric, x, y, choice.input, choice.held]);
  const list = cells.flat().filter((c) => c.value !== null).map((c) => c.value!), lo = list.reduce((a, b) => Math.min(a, b), Infinity), hi = list.reduce((a, b) => Math.max(a, b), -Infinity);
  const best = list.length > 0 && hi > lo ? (metric.more ? hi : lo) : NaN;
  const averages = cells.flat().filter((c) => c.of > 1);
  const few = cells.flat().some((c) => c.value !== null && c.of < c.all);
  if (s.varying.length < 2) return <Card title="Two axes"><Empty>A heat map needs two axes with several values.</Empty></Card>;
  const pick = (name: string, which: "x" | "y") => <label>{name} <select value={String(choice[which])} onChange={(e) => choose({ [which]: Number(e.currentTarget.value) })}>{s.varying.map((a) => <option key={a} value={String(a)}>{r.axes[a].name}</option>)}</select></label>;
  const mixed = choice.input === together && s.inputs.length > 1 && x !== 0 && y !== 0;
  const table = (heat: boolean) => (
    <div class="grid heatmap" tabIndex={0} role="region" aria-label={`${metric.name} by ${r.axes[y].name} and ${r.axes[x].name}`}>
      <table>
        <thead><tr><th scope="col" class="text">{r.axes[y].name} ↓ &ensp;{r.axes[x].name} →</th>{r.axes[x].levels.map((l, i) => <th key={i} scope="col">{l || "–"}</th>)}</tr></thead>
        <tbody>{cells.map((row, i) => (
          <tr key={i}><th scope="row" class="text">{r.axes[y].levels[i] || "–"}</th>{row.map((c, j) => {
            if (c.value === null) return <td key={j} class="muted">–</td>;
            const fill = ramp(hi > lo ? (c.value - lo) / (hi - lo) : 0, dark);
            return <td key={j} class={c.value === best ? "best" : ""} style={heat ? { background: fill, color: ink(fill) } : undefined} title={c.of < c.all ? `${c.of} of ${c.all} points have a value` : plural(c.of, "point", "points")}>{short4(c.value)}{c.of < c.all ? "*" : ""}</td>;
          })}</tr>
        ))}</tbody>
      </table>
    </div>
  );
  return (
    <Chart title={`${metric.name} by two axes`} more={<Fragment>{pick("Across", "x")}{pick("Down", "y")}</Fragment>} table={() => table(false)} note={x === y ? undefined : `The strongest colour is the largest value; the frame is the best. ${held(s, [x, y], choice, "Others are")} ${averages.length > 0 ? `Averages are ${kinds(averages.some((c) => !c.geometric))}${mixed ? ", over inputs that have values" : ""}.` : ""} ${choice.input >= 0 && x !== 0 && y !== 0 && s.inputs.length > 1 ? `Input: ${s.inputs[choice.input]}.` : ""} ${few ? "* Some points of the cell have no value." : ""}`}>
      {x === y ? <Empty>Choose two different axes.</Empty> : table(true)}
    </Chart>
  );
}

function short4(v: number): string { return Number.isInteger(v) ? count(v) : Math.abs(v) >= 1000 ? count(v) : Number(v.toPrecision(4)).toString(); }

export function Tradeoff({ s, choice, choose, selected, show }: Parts) {
  const { mx, my } = choice, r = s.r, [ref, width] = useWidth(), [near, setNear] = useState(-1);
  const pairs = useMemo(() => s.pairs(mx, my, choice.input), [s, mx, my, choice.input]);
  const front = useMemo(() => (mx === my ? [] : s.front(pairs, mx, my)), [pairs]);
  if (r.metrics.length < 2) return <Card title="Trade-off"><Empty>A Pareto front needs two metrics; name them under metrics in [report], or with --metric.</Empty></Card>;
  const pick = (name: string, which: "mx" | "my") => <label>{name} <select value={String(choice[which])} onChange={(e) => choose({ [which]: Number(e.currentTarget.value) })}>{r.metrics.map((m, i) => <option key={i} value={String(i)}>{m.name}</option>)}</select></label>;
  const on = new Set(selected), W = Math.max(240, Math.min(width, 900)), H = Math.max(260, Math.min(420, W * 0.6)), L = 64, R = 16, T = 14, B = 46;
  const [x0, x1] = around(pairs.map((p) => p.x)), [y0, y1] = around(pairs.map((p) => p.y));
  const px = (v: number) => L + ((v - x0) / (x1 - x0)) * (W - L - R), py = (v: number) => H - B - ((v - y0) / (y1 - y0)) * (H - T - B);
  const dots = (list: typeof pairs) => list.map((p) => `M${px(p.x).toFixed(1)} ${py(p.y).toFixed(1)}h.01`).join("");
  const dim = pairs.filter((p) => p.point >= 0 && !on.has(p.point)), lit = pairs.filter((p) => p.point < 0 || on.has(p.point));
  const step = front.map((p, i) => (i === 0 ? `M${px(p.x)} ${py(p.y)}` : `${r.metrics[mx].more ? `V${py(p.y)}H${px(p.x)}` : `H${px(p.x)}V${py(p.y)}`}`)).join("");
  const several = choice.input === together && s.inputs.length > 1;
  const name = (p: { at: number[]; point: number }) => s.words(p.at, !several && choice.input < 0) || `point ${p.point}`;
  const move = (e: PointerEvent) => {
    const box = (e.currentTarget as Element).getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top;
    let at = -1, best = 24;
    pairs.forEach((p, i) => {
      const d = Math.hypot(px(p.x) - x, py(p.y) - y);
      if (d < best) at = i, best = d;
    });
    setNear(at);
  };
  const base = r.bases && !several ? [...new Set(pairs.filter((p) => r.bases![p.point] === p.point))] : [];
  const rows = (list: typeof pairs) => (
    <Table label={list === front ? "Points on the front" : "Points by two metrics"} rows={list} columns={[
      { key: "x", head: r.metrics[mx].name, cell: (p) => number(p.x), value: (p) => p.x },
      { key: "y", head: r.metrics[my].name, cell: (p) => number(p.y), value: (p) => p.y },
      { key: "n", head: "with", text: true, cell: (p) => (p.point >= 0 ? <button type="button" class="link" onClick={() => show(p.point)}>{name(p)}</button> : name(p)), value: (p) => name(p) },
      ...(list === front ? [] : [{ key: "f", head: "on the front", text: true, cell: (p: typeof pairs[number]) => (front.includes(p) ? "yes" : ""), value: (p: typeof pairs[number]) => (front.includes(p) ? 0 : 1) }]),
    ]} />
  );
  return (
    <Chart title="Trade-off" more={<Fragment>{s.inputs.length > 1 && <InputChoice s={s} choice={choice} choose={choose} />}{pick("Across", "mx")}{pick("Up", "my")}</Fragment>} table={() => (mx === my ? <Empty>Choose two different metrics.</Empty> : rows(pairs))}
      note={mx === my ? undefined : near >= 0 && pairs[near] ? `${name(pairs[near])}: ${number(pairs[near].x)}, ${number(pairs[near].y)}` : `Of ${r.metrics[mx].name} ${r.metrics[mx].more ? "more" : "less"} is better, of ${r.metrics[my].name} ${r.metrics[my].more ? "more" : "less"}. Points on the line are the front: no other one is better in one and not worse in the other. ${several ? `Averages over all inputs are ${kinds(pairs.some((p) => !p.geometric))}; what lacks a value for an input is left out.` : ""} ${base.length > 0 ? "The ring is the baseline." : ""}`}>
      <div ref={ref}>
        {mx === my ? <Empty>Choose two different metrics.</Empty> : pairs.length === 0 ? <Empty>No point has values of both metrics{several ? " for all inputs" : ""}.</Empty> : (
          <Fragment>
            <svg class="tradeoff" width={W} height={H} role="img" aria-label={`${plural(pairs.length, "point", "points")}, ${front.length} on the front; the table below has these`} onPointerMove={move} onPointerLeave={() => setNear(-1)} onClick={() => near >= 0 && pairs[near].point >= 0 && show(pairs[near].point)}>
              {ticksOf(x0, x1).map((v) => <g key={v}><line class="gridline" x1={px(v)} x2={px(v)} y1={T} y2={H - B} /><text x={px(v)} y={H - B + 16} text-anchor="middle">{short(v)}</text></g>)}
              {ticksOf(y0, y1).map((v) => <g key={v}><line class="gridline" x1={L} x2={W - R} y1={py(v)} y2={py(v)} /><text x={L - 6} y={py(v) + 4} text-anchor="end">{short(v)}</text></g>)}
              <text x={(L + W - R) / 2} y={H - 8} text-anchor="middle">{r.metrics[mx].name}</text>
              <text x={12} y={(T + H - B) / 2} text-anchor="middle" transform={`rotate(-90 12 ${(T + H - B) / 2})`}>{r.metrics[my].name}</text>
              <path class="dots dim" d={dots(dim)} /><path class="dots" d={dots(lit)} />
              <path class="front" d={step} />
              {front.map((p, i) => <circle key={i} class="best" cx={px(p.x)} cy={py(p.y)} r="5"><title>{`${name(p)}: ${number(p.x)}, ${number(p.y)}`}</title></circle>)}
              {base.map((p, i) => <circle key={i} class="ring" cx={px(p.x)} cy={py(p.y)} r="8"><title>{`baseline ${name(p)}: ${number(p.x)}, ${number(p.y)}`}</title></circle>)}
            </svg>
            <h3 class="about">On the front: {count(front.length)} of {count(pairs.length)}</h3>
            {rows(front)}
          </Fragment>
        )}
      </div>
    </Chart>
  );
}
