// The report of a sweep: what is best, all points, what each axis does, and trade-offs.
import { Fragment, h, type ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { count, fixed, number, plural } from "./format";
import { Help, Mark } from "./frame";
import { Lines } from "./lines";
import { Card, type Column, Empty, Facts, Figure, Table, Tips } from "./parts";
import { Curves, HeatMap, Tradeoff } from "./sweepcharts";
import { replaceQuery, useRoute } from "./route";
import { type Filter, type Pick, Sweep, together, type Verdict } from "./sweep";

/** The parts of the report, which are addresses too: #/points. */
const sections: [string, string][] = [["summary", "Summary"], ["lines", "All points"], ["axes", "Axes"], ["tradeoff", "Trade-off"], ["points", "Table"]];

/** What is chosen on the report. All of it is in the address. */
export interface Choice { metric: number; input: number; held: boolean; x: number; y: number; mx: number; my: number; point: number; filter: Filter }
export type Choose = (change: Partial<Choice>) => void;

/** A filter in an address: a2:0,1;m0:10..20 */
function write(f: Filter): string {
  return [...Object.entries(f.levels).map(([a, l]) => `a${a}:${l.join(",")}`), ...Object.entries(f.ranges).map(([m, [lo, hi]]) => `m${m}:${lo}..${hi}`)].join(";");
}

function read(text: string, s: Sweep): Filter {
  const f: Filter = { levels: {}, ranges: {} };
  for (const part of text.split(";")) {
    const [, kind, n, rest] = /^([am])(\d+):(.*)$/.exec(part) ?? [], i = Number(n);
    const ends = rest?.split("..").map(Number) ?? [];
    if (kind === "a" && i < s.r.axes.length) f.levels[i] = rest.split(",").map(Number).filter((l) => l < s.r.axes[i].levels.length);
    if (kind === "m" && i < s.r.metrics.length && ends.length === 2 && ends.every((x) => !Number.isNaN(x))) f.ranges[i] = [ends[0], ends[1]];
  }
  return f;
}

function first(s: Sweep, query: Record<string, string>): Choice {
  const at = (name: string, most: number, or: number, least = 0) => {
    const n = Number(query[name] ?? "");
    return query[name] !== undefined && Number.isInteger(n) && n >= least && n < most ? n : or;
  };
  const axes = s.r.axes.length, metrics = s.r.metrics.length, others = s.varying.filter((a) => a > 0);
  const x = others[others.length - 1] ?? s.varying[0] ?? 0, y = others[others.length - 2] ?? s.varying.find((a) => a !== x) ?? 0;
  const input = at("input", s.inputs.length, s.inputs.length > 1 ? together : 0, together);
  // Cycles and IPC of one input say the same: two metrics with a front of several points are more telling.
  const my = s.r.metrics.findIndex((_, m) => m > 0 && s.front(s.pairs(0, m, input), 0, m).length > 1);
  return {
    metric: at("metric", metrics, 0), input, held: (query.held ?? (s.r.baseline ? "1" : "0")) === "1",
    x: at("x", axes, x), y: at("y", axes, y), mx: at("mx", metrics, 0), my: at("my", metrics, my > 0 ? my : Math.min(1, metrics - 1)), point: at("point", s.points.length, -1), filter: read(query.only ?? "", s),
  };
}

export function SweepReport({ sweep: s, heddle }: { sweep: Sweep; heddle: string }) {
  const route = useRoute(), [help, setHelp] = useState(false);
  const [choice, set] = useState(() => first(s, route.query));
  const usual = useMemo(() => first(s, {}), [s]);
  const choose: Choose = (change) => {
    const c = { ...choice, ...change };
    set(c);
    const { filter, held, ...numbers } = c;
    replaceQuery(route, { ...Object.fromEntries(Object.entries(numbers).map(([k, v]) => [k, v === usual[k as keyof typeof numbers] ? "" : String(v)])), held: held === usual.held ? "" : held ? "1" : "0", only: write(filter) });
  };
  const selected = useMemo(() => s.selected(choice.filter), [choice.filter]);
  useEffect(() => {
    document.title = `${s.r.name} – Heddle`;
    document.getElementById(route.page)?.scrollIntoView();
  }, [route]);
  useEffect(() => {
    const f = (e: KeyboardEvent) => {
      if ((e.target as Element).closest("input,select,textarea") || e.ctrlKey || e.metaKey || e.altKey) return;
      const section = sections[Number(e.key) - 1];
      if (section) document.getElementById(section[0])?.scrollIntoView();
      if (e.key === "?") setHelp(true);
      if (e.key === "Escape") setHelp(false);
      if (e.key === "/") {
        e.preventDefault();
        document.getElementById("filter")?.focus();
      }
    };
    addEventListener("keydown", f);
    return () => removeEventListener("keydown", f);
  });
  const show = (point: number) => {
    choose({ point });
    document.getElementById("points")?.scrollIntoView();
  };
  const p = { s, choice, choose, selected, show };
  return (
    <Fragment>
      <a class="skip" href="#/lines" onClick={(e) => { e.preventDefault(); document.getElementById("content")?.focus(); }}>To the content</a>
      <header class="top">
        <a class="brand" href="#/summary" aria-label="Heddle: summary"><Mark /><span>Heddle</span></a>
        <nav aria-label="Parts of the report">{sections.map(([id, name]) => <a key={id} href={`#/${id}`} onClick={(e) => { e.preventDefault(); document.getElementById(id)?.scrollIntoView(); }}>{name}</a>)}</nav>
        <div class="what"><button type="button" class="round" aria-label="Help" onClick={() => setHelp(!help)}>?</button></div>
      </header>
      <main id="content" tabIndex={-1} class="report">
        <Summary {...p} />
        <div id="lines"><Lines {...p} /></div>
        <div id="axes" class="part">
          <Choices {...p} />
          <Curves {...p} />
          <HeatMap {...p} />
        </div>
        <div id="tradeoff"><Tradeoff {...p} /></div>
        <div id="points" class="part"><Point {...p} /><Points {...p} /></div>
      </main>
      <footer>Made by Heddle {heddle}. Everything is in this page; it sends nothing anywhere.</footer>
      {help && <Help keys={[...sections.map(([, n], i) => [String(i + 1), n] as [string, string]), ["/", "filter the table"], ["?", "this list"], ["Esc", "close"]]} close={() => setHelp(false)} />}
      <Tips />
    </Fragment>
  );
}

export interface Parts { s: Sweep; choice: Choice; choose: Choose; selected: number[]; show: (point: number) => void }

function Summary({ s, choice, choose, show }: Parts) {
  const r = s.r, states = Object.keys(r.states ?? {}).length, codes = Object.keys(r.codes ?? {}).length;
  return (
    <div id="summary" class="part">
      <Card class="ran">
        <div class="headline"><h1>{r.name}</h1></div>
        <dl class="figures">
          <Figure name="points" value={count(s.points.length)} />
          <Figure name="with a result" value={count(s.points.length - states)} note={codes > 0 ? `${codes} of them with another exit code than 0` : undefined} />
          <Figure name="without" value={count(states)} />
        </dl>
        <Facts rows={[
          ...s.varying.map((a) => [a === 0 ? "inputs" : r.axes[a].name, r.axes[a].levels.length > 24 ? plural(r.axes[a].levels.length, "value", "values") : r.axes[a].levels.map((l) => l || "–").join(", ")] as Row),
          ...(r.baseline ? [["baseline", r.baseline] as Row] : []),
          ["store", <code>{r.store}</code>],
        ]} />
      </Card>
      <Card title={<Fragment>Best and worst{s.inputs.length > 1 && <span class="muted"> of geometric means over all inputs, of values above 0</span>}</Fragment>}>
        {(r.verdicts ?? []).length === 0 ? <Empty>No point has a number to be compared.</Empty> : <div class="verdicts">{r.metrics.map((_, n) => <Best key={n} s={s} metric={n} show={show} />)}</div>}
        {codes > 0 && <p class="note">{(r.counted ?? []).every((c, i) => c === (s.state(i) === undefined)) ? "No run ended with exit code 0, so all results are compared." : "Results of runs that ended with another exit code than 0 are in the table, and take no part in comparisons."}</p>}
      </Card>
      {s.inputs.length > 1 && <Inputs s={s} choice={choice} choose={choose} show={show} />}
    </div>
  );
}

type Row = [ComponentChildren, ComponentChildren];

/** What points have in common that were found, as a way to the first. */
function With({ s, p, show }: { s: Sweep; p: Pick; show: (point: number) => void }) {
  const text = s.words(p.at, false) || "different settings";
  return <span>{p.point >= 0 ? <button type="button" class="link" onClick={() => show(p.point)}>{text}</button> : text}{p.points > 1 && <span class="muted"> ({p.points} points)</span>}</span>;
}

/** The best and the worst of a metric: of the geometric means if there are several inputs. */
function Best({ s, metric, show }: { s: Sweep; metric: number; show: (point: number) => void }) {
  const v = (s.r.verdicts ?? []).find((v) => v.metric === metric && v.input === (s.inputs.length > 1 ? together : 0)), m = s.r.metrics[metric];
  return (
    <div>
      <h3>{m.name} <span class="muted">{m.more ? "more" : "less"} is better</span></h3>
      {!v ? <p class="muted">{s.known(metric).length < 2 ? "No mean: fewer than two inputs have values." : "No mean over all inputs: of each combination, one lacks a value above 0."}</p> : v.best.value === v.worst.value ? <p>All are equal: {number(v.best.value)}</p> : (
        <dl class="figures">
          <Figure name="best" value={number(v.best.value)} note={<With s={s} p={v.best} show={show} />} />
          <Figure name="worst" value={number(v.worst.value)} note={<With s={s} p={v.worst} show={show} />} />
          {v.base && <Figure name="baseline" value={number(v.base.value)} note={`the best is ${fixed(v.best.value / v.base.value, 3)} of it`} />}
        </dl>
      )}
    </div>
  );
}

/** The best and the worst of each input. */
function Inputs({ s, choice, choose, show }: Omit<Parts, "selected">) {
  const r = s.r, rows = (r.verdicts ?? []).filter((v) => v.metric === choice.metric && v.input >= 0);
  const columns: Column<Verdict>[] = [
    { key: "i", head: "input", text: true, class: "name", cell: (v) => s.inputs[v.input], value: (v) => s.inputs[v.input] },
    { key: "b", head: "best", cell: (v) => <b>{number(v.best.value)}</b>, value: (v) => v.best.value },
    { key: "bw", head: "with", text: true, class: "wrap", cell: (v) => <With s={s} p={v.best} show={show} /> },
    { key: "w", head: "worst", cell: (v) => number(v.worst.value), value: (v) => v.worst.value },
    { key: "ww", head: "with", text: true, class: "wrap", cell: (v) => (v.best.value === v.worst.value ? "all are equal" : <With s={s} p={v.worst} show={show} />) },
    ...(r.baseline ? [
      { key: "base", head: "baseline", cell: (v: Verdict) => (v.base ? number(v.base.value) : "–"), value: (v: Verdict) => v.base?.value ?? NaN },
      { key: "r", head: "best / baseline", cell: (v: Verdict) => (v.base ? fixed(v.best.value / v.base.value, 3) : "–"), value: (v: Verdict) => (v.base ? v.best.value / v.base.value : NaN) },
    ] : []),
  ];
  return (
    <Card title="Each input" more={<MetricChoice s={s} choice={choice} choose={choose} />}>
      {rows.length === 0 ? <Empty>No point has this number.</Empty> : <Table label="Best and worst of each input" rows={rows} columns={columns} />}
    </Card>
  );
}

export function MetricChoice({ s, choice, choose, name = "Metric" }: { s: Sweep; choice: Choice; choose: Choose; name?: string }) {
  return <label>{name} <select value={String(choice.metric)} onChange={(e) => choose({ metric: Number(e.currentTarget.value) })}>{s.r.metrics.map((m, i) => <option key={i} value={String(i)}>{m.name}</option>)}</select></label>;
}

/** What the curves and the heat map show. */
function Choices({ s, choice, choose }: Parts) {
  const r = s.r;
  return (
    <Card class="toolbar">
      <MetricChoice s={s} choice={choice} choose={choose} />
      {s.inputs.length > 1 && <InputChoice s={s} choice={choice} choose={choose} />}
      {r.baseline && <label>Other axes <select value={choice.held ? "1" : "0"} onChange={(e) => choose({ held: e.currentTarget.value === "1" })}><option value="1">at the baseline</option><option value="0">averaged</option></select></label>}
    </Card>
  );
}

export function InputChoice({ s, choice, choose }: { s: Sweep; choice: Choice; choose: Choose }) {
  return <label>Input <select value={String(choice.input)} onChange={(e) => choose({ input: Number(e.currentTarget.value) })}><option value="-1">all</option>{s.inputs.map((n, i) => <option key={i} value={String(i)}>{n}</option>)}</select></label>;
}

/** One point: what it is, its numbers, and its own page. */
function Point({ s, choice, choose }: Parts) {
  const i = choice.point, r = s.r, box = useRef<HTMLDivElement>(null);
  if (i < 0) return null;
  const d = r.digests![i], command = `heddle view ${word(`${r.store}/points/${d.slice(0, 2)}/${d}.heddle-run`)}`, state = s.state(i);
  return (
    <div ref={box}>
      <Card title={`Point ${i}`} class={state ? "bad" : ""} more={<button type="button" class="switch" onClick={() => choose({ point: -1 })}>Close</button>}>
        <Facts rows={[
          ...r.axes.map((a, n) => [a.name, s.level(n, i)] as Row),
          ...(state ? [["no result", <span class="error">{state}</span>] as Row] : r.metrics.map((m, n) => [m.name, r.values[n][i] === null ? "–" : <Fragment>{number(r.values[n][i]!)}{!Number.isNaN(s.ratio(n, i)) && <span class="muted"> {fixed(s.ratio(n, i), 3)} of the baseline</span>}</Fragment>] as Row)),
          ...(s.code(i) !== 0 ? [["exit code", String(s.code(i))] as Row] : []),
          ["digest", <code>{d}</code>],
        ]} />
        {!state && <div class="links">{r.pages ? <a class="button" href={pageOf(s, i)}>Open its page</a> : <span class="muted">Its page: <code>{command}</code></span>}</div>}
      </Card>
    </div>
  );
}

/** A word for the shell. */
function word(text: string): string {
  return /^[\w./+:@%-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function pageOf(s: Sweep, point: number): string { return `${encodeURIComponent(s.r.pages!)}/${s.r.digests![point]}.html`; }

function Points({ s, choice, choose, selected }: Parts) {
  const r = s.r, [filter, setFilter] = useState("");
  const rows = useMemo(() => {
    const parts = filter.toLowerCase().split(/\s+/).filter((x) => x !== "");
    return parts.length === 0 ? selected : selected.filter((i) => {
      const text = [...s.varying.map((a) => `${r.axes[a].name}=${s.level(a, i)}`), s.state(i) ?? "", s.code(i) ? `exit code ${s.code(i)}` : ""].join(" ").toLowerCase();
      return parts.every((x) => text.includes(x));
    });
  }, [filter, selected]);
  const columns = useMemo(() => {
    const list: Column<number>[] = [{ key: "n", head: "point", cell: (i) => <button type="button" class="link" aria-label={`Point ${i}`} onClick={() => choose({ point: i })}>{i}</button>, value: (i) => i }];
    for (const a of s.varying) list.push({ key: `a${a}`, head: r.axes[a].name, text: true, class: "name", cell: (i) => <span title={s.level(a, i)}>{s.level(a, i)}</span>, value: (i) => r.at[a][i] });
    r.metrics.forEach((m, n) => {
      // Those without a value come last in both directions of sorting as far as one value can do that: with the worst.
      const none = m.more ? -Infinity : Infinity;
      list.push({ key: `m${n}`, head: m.name, cell: (i) => (r.values[n][i] === null ? "–" : number(r.values[n][i]!)), value: (i) => r.values[n][i] ?? none });
    });
    if (r.baseline) list.push({ key: "r", head: `${r.metrics[choice.metric].name} / baseline`, cell: (i) => fixed(s.ratio(choice.metric, i), 3), value: (i) => (Number.isNaN(s.ratio(choice.metric, i)) ? Infinity : s.ratio(choice.metric, i)) });
    if (r.states || r.codes) list.push({ key: "s", head: "state", text: true, class: "name", cell: (i) => {
      const state = s.state(i);
      return state ? <span class="error" title={state}>no result: {state}</span> : s.code(i) ? <span class="error">exit code {s.code(i)}</span> : "";
    }, value: (i) => s.state(i) ?? (s.code(i) ? `exit code ${s.code(i)}` : "") });
    if (r.pages) list.push({ key: "p", head: "page", text: true, cell: (i) => !s.state(i) && <a href={pageOf(s, i)} aria-label={`Page of point ${i}`}>open</a> });
    return list;
  }, [s, choice.metric, choice.filter]);
  return (
    <Card title={<Fragment>Points <span class="muted">{rows.length < s.points.length ? `${count(rows.length)} of ` : ""}{count(s.points.length)}</span></Fragment>} more={<label class="filter">Filter <input id="filter" type="search" value={filter} placeholder="words of a point" onInput={(e) => setFilter(e.currentTarget.value)} /></label>}>
      {rows.length === 0 ? <Empty>No point is selected.</Empty> : <Table label="Points" rows={rows} columns={columns} rowClass={(i) => (i === choice.point ? "on" : "")} onRow={(i) => choose({ point: i })} />}
      <p class="note">{r.pages ? "Select a point for its settings." : "Select a point for its settings and the command that shows its page."}</p>
    </Card>
  );
}
