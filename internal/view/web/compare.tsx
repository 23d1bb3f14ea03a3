// Two results: launches in pairs, and what changed in them, down to the line.
import { Fragment, h } from "preact";
import { useMemo, useState } from "preact/hooks";
import { type Cache, cyclesOf, group, type Kernel, type Line, type Numbers, type Page, type Result } from "./data";
import { Comparisons } from "./measured";
import { base, bytes, count, fixed, percent, place, plural, words } from "./format";
import { Bar, Card, Empty, Figure, Stack, Swatch, Table, Term } from "./parts";
import { type Route, go, href } from "./route";

interface Pair { name: string; nth: number; a?: Kernel; b?: Kernel }

/** The n-th launch of a name with the n-th, as heddle compare pairs them. */
function pairs(a: Result, b: Result): Pair[] {
  const list: Pair[] = [], at = new Map<string, Pair[]>();
  const seen = new Map<string, number>();
  for (const k of a.kernels) {
    const name = a.page.kernelName(k.name), same = at.get(name) ?? [], p: Pair = { name, nth: same.length, a: k };
    same.push(p);
    at.set(name, same);
    list.push(p);
  }
  for (const k of b.kernels) {
    const name = b.page.kernelName(k.name), n = seen.get(name) ?? 0;
    seen.set(name, n + 1);
    const p = at.get(name)?.[n];
    if (p) p.b = k;
    else list.push({ name, nth: n, b: k });
  }
  return list;
}

/** +12.3 %, or – if there is nothing to divide by. */
function change(a: number, b: number): string {
  if (a === 0) return b === 0 ? "±0 %" : "new";
  const d = b / a - 1;
  return (d > 0 ? "+" : d < 0 ? "−" : "±") + percent(Math.abs(d));
}

function Change({ a, b, good = -1 }: { a: number; b: number; good?: number }) {
  const better = Math.sign(b - a) === good;
  return <span class={a === b ? "muted" : better ? "better" : "worse"}>{change(a, b)}</span>;
}

function sum(list: (Numbers | undefined)[]): Numbers {
  const out: Numbers = {};
  for (const x of list) for (const s in x ?? {}) out[s] = (out[s] ?? 0) + x![s];
  return out;
}

export function Compare({ page, route }: { page: Page; route: Route }) {
  const n = page.results.length;
  const asked = (text: string | undefined, otherwise: number) => Math.max(0, Math.min(n - 1, text === undefined ? otherwise : Math.trunc(Number(text)) || 0));
  const a = asked(route.query.a, 0), b = asked(route.query.b, a === 0 ? 1 : 0);
  const A = page.results[a], B = page.results[b];
  const list = useMemo(() => (A && B ? pairs(A, B) : []), [A, B]);
  const tables = <Comparisons list={page.comparisons} />;
  if (n < 2) return page.comparisons.length > 0 ? tables : <Card title="Compare"><Empty>A comparison needs two results, or a table of measurements: <code>heddle view A.json B.json table.csv</code></Empty></Card>;
  const choose = (key: "a" | "b", label: string) => (
    <label>{label} <select value={String(key === "a" ? a : b)} onChange={(e) => go({ page: "compare", run: route.run, query: { a: String(a), b: String(b), [key]: e.currentTarget.value } })}>
      {page.results.map((r, i) => <option key={i} value={String(i)}>{r.name}</option>)}
    </select></label>
  );
  const both = A.timing && B.timing;
  const states = sum([...A.kernels.map((k) => k.stalls), ...B.kernels.map((k) => k.stalls)]);
  const sa = sum(A.kernels.map((k) => k.stalls)), sb = sum(B.kernels.map((k) => k.stalls));
  const most = Math.max(...[sa, sb].map((s) => Object.values(s).reduce((x, y) => x + y, 0)), 1);
  return (
    <Fragment>
      <Card class="toolbar">{choose("a", "From")}{choose("b", "to")}<button type="button" onClick={() => go({ page: "compare", run: route.run, query: { a: String(b), b: String(a) } })}>Swap</button></Card>
      {n > 2 && <All page={page} a={a} b={b} pick={(to) => go({ page: "compare", run: route.run, query: { a: String(a), b: String(to) } })} />}
      {!both ? <Card title="Not comparable"><Empty>Only timing runs can be compared.</Empty></Card> : (
        <Fragment>
          <Card class="ran">
            <dl class="figures">
              <Figure name={<Term page={page} name="cycles">cycles</Term>} value={<Change a={A.run.cycles!} b={B.run.cycles!} />} note={`${count(A.run.cycles!)} to ${count(B.run.cycles!)}`} />
              <Figure name={<Term page={page} name="warp_instructions">warp instructions</Term>} value={<Change a={A.run.warp_instructions} b={B.run.warp_instructions} />} note={`${count(A.run.warp_instructions)} to ${count(B.run.warp_instructions)}`} />
              <Figure name={<Term page={page} name="memory.dram.bytes_read">DRAM bytes read</Term>} value={<Change a={A.run.memory.dram.bytes_read} b={B.run.memory.dram.bytes_read} />} note={`${count(A.run.memory.dram.bytes_read)} to ${count(B.run.memory.dram.bytes_read)}`} />
              <Figure name={<Term page={page} name="memory.mean_latency_cycles">mean memory latency</Term>} value={<Change a={A.run.memory.mean_latency_cycles} b={B.run.memory.mean_latency_cycles} />} note={`${fixed(A.run.memory.mean_latency_cycles, 0)} to ${fixed(B.run.memory.mean_latency_cycles, 0)} cycles`} />
            </dl>
            {[A, B].map((x) => <Sampled key={x.name} result={x} />)}
          </Card>
          <Card title="What warps did">
            <div class="stacks">
              <h3>{A.name}</h3><div style={{ width: `${(100 * Object.values(sa).reduce((x, y) => x + y, 0)) / most}%` }}><Stack page={page} counts={sa} of="stalls" label={A.name} tall /></div>
              <h3>{B.name}</h3><div style={{ width: `${(100 * Object.values(sb).reduce((x, y) => x + y, 0)) / most}%` }}><Stack page={page} counts={sb} of="stalls" label={B.name} tall /></div>
            </div>
            <Table label="States" sort="d" rows={Object.keys(states).filter((s) => states[s] > 0)} columns={[
              { key: "s", head: "state", text: true, cell: (s) => <span class="nowrap"><Swatch state={s} /><Term page={page} name={`stalls.${s}`}>{words(s)}</Term></span> },
              { key: "a", head: "warp cycles, from", cell: (s) => count(sa[s] ?? 0), value: (s) => sa[s] ?? 0 },
              { key: "b", head: "to", cell: (s) => count(sb[s] ?? 0), value: (s) => sb[s] ?? 0 },
              { key: "d", head: "difference", cell: (s) => signed((sb[s] ?? 0) - (sa[s] ?? 0)), value: (s) => Math.abs((sb[s] ?? 0) - (sa[s] ?? 0)) },
              { key: "c", head: "change", cell: (s) => <Change a={sa[s] ?? 0} b={sb[s] ?? 0} /> },
            ]} />
          </Card>
          <Card title="Launches">
            <Table label="Launches" sort="d" rows={list} columns={[
              { key: "n", head: "kernel", text: true, class: "name", cell: (p) => `${p.name}${p.nth > 0 ? ` (${p.nth + 1})` : ""}`, value: (p) => p.name },
              { key: "a", head: "cycles, from", cell: (p) => (p.a ? cyclesOf(p.a) : "–"), value: (p) => p.a?.cycles ?? 0 },
              { key: "b", head: "to", cell: (p) => (p.b ? cyclesOf(p.b) : "–"), value: (p) => p.b?.cycles ?? 0 },
              { key: "d", head: "difference", cell: (p) => (p.a && p.b ? signed(p.b.cycles! - p.a.cycles!) : "only in one"), value: (p) => Math.abs((p.b?.cycles ?? 0) - (p.a?.cycles ?? 0)) },
              { key: "c", head: "change", cell: (p) => p.a && p.b && <Change a={p.a.cycles!} b={p.b.cycles!} /> },
              { key: "i", head: "warp instr", cell: (p) => p.a && p.b && change(p.a.warp_instructions, p.b.warp_instructions) },
              { key: "o", head: "occupancy", cell: (p) => counted(p) && `${percent(p.a.occupancy, 0)} → ${percent(p.b.occupancy, 0)}` },
              { key: "l", head: "DRAM bytes", cell: (p) => counted(p) && change(p.a.memory.dram.bytes_read + p.a.memory.dram.bytes_written, p.b.memory.dram.bytes_read + p.b.memory.dram.bytes_written) },
            ]} />
          </Card>
          <Lines a={A} b={B} />
        </Fragment>
      )}
      {tables}
    </Fragment>
  );
}

/** Both launches of a pair were simulated whole, so that they have counters. */
function counted(p: Pair): p is Pair & { a: Kernel; b: Kernel } {
  return p.a !== undefined && p.b !== undefined && [p.a, p.b].every((k) => !k.sampled && !k.passed_blocks);
}

/** What of a result is an estimate. */
function Sampled({ result }: { result: Result }) {
  const s = result.run.sampling;
  if (!s || (s.timed === s.launches && s.timed_in_part === 0)) return null;
  return <p class="note">{result.name} is sampled: {count(s.timed)} of {plural(s.launches, "launch", "launches")} were simulated{s.timed_in_part > 0 && `, ${count(s.timed_in_part)} of them in part`}. The cycles of the rest (≈) are estimates, and all other counters leave it out.</p>;
}

/** All results, against the first that is compared. */
function All({ page, a, b, pick }: { page: Page; a: number; b: number; pick: (to: number) => void }) {
  const rows = page.results.map((r, at) => ({ r, at })).filter((x) => x.r.timing), from = page.results[a].run;
  const most = rows.reduce((m, x) => Math.max(m, x.r.run.cycles!), 1);
  const hits = (c: Cache) => (c.accesses > 0 ? c.hits / c.accesses : NaN);
  return (
    <Card title={<Fragment>All results <span class="muted">{count(rows.length)}</span></Fragment>}>
      <Table label="All results" rows={rows} onRow={(x) => pick(x.at)} rowClass={(x) => (x.at === a || x.at === b ? "on" : "")} columns={[
        { key: "n", head: "result", text: true, class: "name", cell: (x) => (x.at === a ? x.r.name : <a href={href({ page: "compare", query: { a: String(a), b: String(x.at) } })}>{x.r.name}</a>), value: (x) => x.r.name },
        { key: "g", head: "machine", text: true, cell: (x) => x.r.run.gpu, value: (x) => x.r.run.gpu },
        { key: "c", head: <Term page={page} name="cycles">cycles</Term>, cell: (x) => count(x.r.run.cycles!), value: (x) => x.r.run.cycles! },
        { key: "d", head: "change", cell: (x) => (from.cycles === undefined || x.at === a ? "" : <Change a={from.cycles} b={x.r.run.cycles!} />), value: (x) => x.r.run.cycles! },
        { key: "b", head: "", text: true, class: "barcell wide", cell: (x) => <Bar share={x.r.run.cycles! / most} /> },
        { key: "w", head: <Term page={page} name="warp_instructions">warp instr</Term>, cell: (x) => count(x.r.run.warp_instructions), value: (x) => x.r.run.warp_instructions },
        { key: "1", head: "L1 hits", cell: (x) => percent(hits(x.r.run.memory.l1)), value: (x) => hits(x.r.run.memory.l1) || 0 },
        { key: "2", head: "L2 hits", cell: (x) => percent(hits(x.r.run.memory.l2)), value: (x) => hits(x.r.run.memory.l2) || 0 },
        { key: "m", head: "DRAM read", cell: (x) => bytes(x.r.run.memory.dram.bytes_read), value: (x) => x.r.run.memory.dram.bytes_read },
        { key: "l", head: <Term page={page} name="memory.mean_latency_cycles">mean latency</Term>, cell: (x) => `${fixed(x.r.run.memory.mean_latency_cycles, 0)} cycles`, value: (x) => x.r.run.memory.mean_latency_cycles },
      ]} />
    </Card>
  );
}

function signed(n: number): string {
  return (n > 0 ? "+" : n < 0 ? "−" : "±") + count(Math.abs(n));
}

function Lines({ a, b }: { a: Result; b: Result }) {
  const [by, setBy] = useState<"source" | "program">(() => ([a, b].some((r) => r.lines(-1).some((l) => l.sourceLine > 0)) ? "source" : "program"));
  const rows = useMemo(() => {
    const key = (l: Line) => (by === "source" ? (l.sourceLine > 0 ? `${base(l.sourceFile)}:${l.sourceLine}` : "") : l.line > 0 ? place(l) : `${l.fn} ${place(l)}`);
    const x = group(a.lines(-1), key), y = group(b.lines(-1), key);
    return [...new Set([...x.keys(), ...y.keys()])].map((k) => ({ k, a: x.get(k), b: y.get(k), text: by === "program" ? (y.get(k) ?? x.get(k))!.text : "" }));
  }, [a, b, by]);
  const source = rows.length > 0 || by === "program";
  return (
    <Card title="Lines" more={<Fragment><button type="button" class="switch" aria-pressed={by === "source"} onClick={() => setBy("source")}>Source</button><button type="button" class="switch" aria-pressed={by === "program"} onClick={() => setBy("program")}>Program</button></Fragment>}>
      {!source || rows.length === 0 ? <Empty>The results have no lines of {by === "source" ? "a source: compile with line information (-lineinfo)" : "a program"}.</Empty> : (
        <Table label="Lines" sort="d" rows={rows} columns={[
          { key: "k", head: "line", text: true, cell: (r) => r.k, value: (r) => r.k },
          { key: "a", head: "warp cycles, from", cell: (r) => (r.a ? count(r.a.cycles) : "–"), value: (r) => r.a?.cycles ?? 0 },
          { key: "b", head: "to", cell: (r) => (r.b ? count(r.b.cycles) : "–"), value: (r) => r.b?.cycles ?? 0 },
          { key: "d", head: "difference", cell: (r) => signed((r.b?.cycles ?? 0) - (r.a?.cycles ?? 0)), value: (r) => Math.abs((r.b?.cycles ?? 0) - (r.a?.cycles ?? 0)) },
          { key: "c", head: "change", cell: (r) => <Change a={r.a?.cycles ?? 0} b={r.b?.cycles ?? 0} /> },
          { key: "i", head: "issues", cell: (r) => `${count(r.a?.issues ?? 0)} → ${count(r.b?.issues ?? 0)}`, value: (r) => (r.b?.issues ?? 0) - (r.a?.issues ?? 0) },
          ...(by === "program" ? [{ key: "t", head: "instruction", text: true, class: "name", cell: (r: { text: string }) => <code>{r.text}</code> }] : []),
        ]} />
      )}
    </Card>
  );
}
