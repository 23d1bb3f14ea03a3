// The machine: SMs, slices of the L2 and DRAM channels, coloured by what they did.
import { Fragment, h, type ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Channel, Result, SM, Slice } from "./data";
import { count, fixed, percentOf, ratio } from "./format";
import { Card, Chart, Empty, Facts, Table, Term } from "./parts";
import { ink } from "./palette";
import { ramp, useScheme } from "./time";

interface Counter<T> { key: string; name: string; value: (x: T) => number; show: (x: T) => string }

const sms: Counter<SM>[] = [
  { key: "per_sm.warp_instructions", name: "warp instructions", value: (s) => s.warp_instructions, show: (s) => count(s.warp_instructions) },
  { key: "per_sm.busy_cycles", name: "busy cycles", value: (s) => s.busy_cycles, show: (s) => count(s.busy_cycles) },
  { key: "per_sm.warp_cycles", name: "warp cycles", value: (s) => s.warp_cycles, show: (s) => count(s.warp_cycles) },
  { key: "per_sm.blocks", name: "blocks", value: (s) => s.blocks, show: (s) => count(s.blocks) },
  { key: "per_sm.mean_latency_cycles", name: "mean memory latency", value: (s) => s.mean_latency_cycles, show: (s) => fixed(s.mean_latency_cycles, 1) + " cycles" },
  { key: "per_sm.l1.accesses", name: "L1 accesses", value: (s) => s.l1.accesses, show: (s) => count(s.l1.accesses) },
  { key: "per_sm.l1.hits", name: "L1 hit rate", value: (s) => (s.l1.accesses > 0 ? s.l1.hits / s.l1.accesses : 0), show: (s) => percentOf(s.l1.hits, s.l1.accesses) },
];
const slices: Counter<Slice>[] = [
  { key: "per_slice.requests", name: "requests", value: (s) => s.requests, show: (s) => count(s.requests) },
  { key: "per_slice.l2.misses", name: "misses", value: (s) => s.l2.misses, show: (s) => count(s.l2.misses) },
  { key: "per_slice.l2.hits", name: "hit rate", value: (s) => (s.l2.accesses > 0 ? s.l2.hits / s.l2.accesses : 0), show: (s) => percentOf(s.l2.hits, s.l2.accesses) },
];
const channels: Counter<Channel>[] = [
  { key: "per_channel.busy_cycles", name: "busy data pins", value: (c) => c.busy_cycles / Math.max(1, c.cycles), show: (c) => percentOf(c.busy_cycles, c.cycles) },
  { key: "per_channel.reads", name: "reads", value: (c) => c.reads, show: (c) => count(c.reads) },
  { key: "per_channel.writes", name: "writes", value: (c) => c.writes, show: (c) => count(c.writes) },
  { key: "per_channel.row_hits", name: "row hits", value: (c) => (c.requests > 0 ? c.row_hits / c.requests : 0), show: (c) => percentOf(c.row_hits, c.requests) },
  { key: "per_channel.activates", name: "rows opened", value: (c) => c.activates, show: (c) => count(c.activates) },
];

export function Machine({ result }: { result: Result }) {
  const r = result.run, m = r.machine;
  if (!r.per_sm && !r.per_slice) return <Card title="Machine"><Empty>{result.timing ? "The result has no counters of the machine's parts." : "A functional run has no machine."}</Empty></Card>;
  return (
    <Fragment>
      <Card class="ran">
        <div class="headline"><h1>{r.gpu}</h1><span class="muted">{r.core} core</span></div>
        <Facts rows={[
          ["SMs", count(r.sms)],
          ...(m ? [
            ["an SM holds", <Fragment>{count(m.warp_slots)} warps, {count(m.block_slots)} blocks, {count(m.registers)} registers, {count(m.shared_bytes)} bytes of shared memory</Fragment>] as [string, ComponentChildren],
            ["all SMs issue at most", `${count(m.issues_per_cycle)} warp instructions per cycle`] as [string, ComponentChildren],
          ] : []),
          ["L2 slices", count((r.per_slice ?? []).length)],
          ["DRAM channels", count((r.per_channel ?? []).length)],
        ]} />
      </Card>
      <Parts title="SMs" list={r.per_sm ?? []} counters={sms} name={(s) => `SM ${s.sm}${s.device !== undefined ? ` of device ${s.device}` : ""}`} result={result} />
      <div class="two">
        <Parts title="L2 slices" list={r.per_slice ?? []} counters={slices} name={(s) => `slice ${s.slice}${s.device !== undefined ? ` of device ${s.device}` : ""}`} result={result} />
        <Parts title="DRAM channels" list={r.per_channel ?? []} counters={channels} name={(c) => `channel ${c.channel}${c.device !== undefined ? ` of device ${c.device}` : ""}`} result={result} more={(c) => <Banks c={c} result={result} />} />
      </div>
    </Fragment>
  );
}

function Parts<T>(p: { title: string; list: T[]; counters: Counter<T>[]; name: (x: T) => string; result: Result; more?: (x: T) => ComponentChildren }) {
  const [by, setBy] = useState(0), [at, setAt] = useState(-1), dark = useScheme();
  const c = p.counters[by], values = p.list.map(c.value), most = values.reduce((a, b) => Math.max(a, b), 0), sum = values.reduce((a, b) => a + b, 0), least = values.reduce((a, b) => Math.min(a, b), Infinity);
  const chosen = p.list[at];
  return (
    <Chart title={p.title} more={<select aria-label={`Colour ${p.title} by`} value={String(by)} onChange={(e) => setBy(Number(e.currentTarget.value))}>{p.counters.map((c, i) => <option key={i} value={String(i)}>{c.name}</option>)}</select>} table={() => (
      <Table label={p.title} rows={p.list} columns={[
        { key: "n", head: "part", text: true, cell: (x) => p.name(x), value: (x) => p.list.indexOf(x) },
        ...p.counters.map((c) => ({ key: c.key, head: <Term page={p.result.page} name={c.key}>{c.name}</Term>, cell: c.show, value: c.value })),
      ]} />
    )} note={p.list.length > 0 ? `Least ${least === most ? "and most are equal" : `${ratio(100 * least, most, 0)} % of the most`}; mean ${ratio(100 * sum, most * p.list.length, 0)} % of the most.` : undefined}>
      {p.list.length === 0 ? <Empty>There are none.</Empty> : (
        <div class="cells">
          {p.list.map((x, i) => {
            const fill = ramp(most > 0 ? values[i] / most : 0, dark);
            return <button type="button" key={i} class={"cell" + (i === at ? " on" : "")} style={{ background: fill, color: ink(fill) }} title={`${p.name(x)}: ${c.show(x)}`} aria-label={`${p.name(x)}: ${c.name} ${c.show(x)}`} aria-pressed={i === at} onClick={() => setAt(i === at ? -1 : i)}>{i}</button>;
          })}
        </div>
      )}
      {chosen !== undefined && <div class="chosen"><h3>{p.name(chosen)}</h3><Facts rows={p.counters.map((c) => [<Term page={p.result.page} name={c.key}>{c.name}</Term>, c.show(chosen)])} />{p.more?.(chosen)}</div>}
    </Chart>
  );
}

function Banks({ c, result }: { c: Channel; result: Result }) {
  return (
    <Table label="Banks" rows={c.banks ?? []} columns={(["bank", "reads", "writes", "activates", "requests", "row_hits"] as const).map((f) => ({ key: f, head: <Term page={result.page} name={`per_channel.banks.${f}`} />, cell: (b: Record<string, number>) => count(b[f]), value: (b: Record<string, number>) => b[f] }))} />
  );
}
