// The machine: SMs, slices of the L2 and DRAM channels, coloured by what they did.
import { Fragment, h, type ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Channel, Port, Result, SM, Slice, Subnet } from "./data";
import { count, fixed, percentOf, plural, ratio } from "./format";
import { Card, Chart, Empty, Facts, Table, Term } from "./parts";
import { ink } from "./palette";
import { Standstill } from "./standstill";
import { ramp, useScheme } from "./time";
import { Warps } from "./warps";

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

const ports: Counter<Port>[] = [
  { key: "per_port.request_packets", name: "request packets", value: (p) => p.request_packets, show: (p) => count(p.request_packets) },
  { key: "per_port.reply_packets", name: "reply packets", value: (p) => p.reply_packets, show: (p) => count(p.reply_packets) },
  { key: "per_port.request_flits", name: "request flits", value: (p) => p.request_flits, show: (p) => count(p.request_flits) },
  { key: "per_port.reply_flits", name: "reply flits", value: (p) => p.reply_flits, show: (p) => count(p.reply_flits) },
];

export function Machine({ result, run }: { result: Result; run: number }) {
  const r = result.run, m = r.machine;
  if (!r.per_sm && !r.per_slice) return <Card title="Machine"><Empty>{result.timing ? "The result has no counters of the machine's parts." : "A functional run has no machine."}</Empty></Card>;
  const side = (s: Port["side"]) => (r.per_port ?? []).filter((p) => p.side === s);
  return (
    <Fragment>
      {r.error?.standstill && <Standstill result={result} of={r.error.standstill} run={run} />}
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
      <Parts title="SMs" list={r.per_sm ?? []} counters={sms} name={(s) => `SM ${s.sm}${s.device !== undefined ? ` of device ${s.device}` : ""}`} result={result} more={(s) => s.device === undefined && !r.kepler && <Warps key={s.sm} result={result} sm={s.sm} run={run} />} hint="Select an SM for its warps." />
      <Network list={r.subnets ?? []} result={result} />
      {side("sms").length > 0 && <div class="two">
        <Parts title="Network at the SMs" list={side("sms")} counters={ports} name={(p) => `port ${p.port}${p.device !== undefined ? ` of device ${p.device}` : ""}`} result={result} />
        <Parts title="Network at the L2 slices" list={side("slice")} counters={ports} name={(p) => `port ${p.port}${p.device !== undefined ? ` of device ${p.device}` : ""}`} result={result} />
      </div>}
      <div class="two">
        <Parts title="L2 slices" list={r.per_slice ?? []} counters={slices} name={(s) => `slice ${s.slice}${s.device !== undefined ? ` of device ${s.device}` : ""}`} result={result} />
        <Parts title="DRAM channels" list={r.per_channel ?? []} counters={channels} name={(c) => `channel ${c.channel}${c.device !== undefined ? ` of device ${c.device}` : ""}`} result={result} more={(c) => <Banks c={c} result={result} />} />
      </div>
    </Fragment>
  );
}

/** Both directions of the network. */
function Network({ list, result }: { list: Subnet[]; result: Result }) {
  if (list.length === 0) return null;
  const term = (name: string, text: string) => <Term page={result.page} name={`subnets.${name}`}>{text}</Term>;
  return (
    <Card title="Network">
      <p class="muted about">{list[0].kind}, flits of {count(list[0].flit_bytes)} bytes</p>
      <Table label="Network" rows={list} columns={[
        { key: "of", head: "direction", text: true, cell: (s) => `${s.of}${s.device !== undefined ? ` of device ${s.device}` : ""}` },
        { key: "p", head: term("packets", "packets"), cell: (s) => count(s.packets) },
        { key: "f", head: term("flits", "flits"), cell: (s) => count(s.flits) },
        { key: "b", head: term("busy_cycles", "busy"), cell: (s) => percentOf(s.busy_cycles, s.cycles) },
        { key: "l", head: term("mean_latency_cycles", "mean latency"), cell: (s) => `${fixed(s.mean_latency_cycles, 1)} cycles` },
        { key: "m", head: term("max_latency_cycles", "longest"), cell: (s) => plural(s.max_latency_cycles, "cycle", "cycles") },
        { key: "c", head: term("conflicts", "conflicts"), cell: (s) => count(s.conflicts) },
        { key: "r", head: term("refused", "refused"), cell: (s) => count(s.refused) },
        { key: "o", head: term("full_outputs", "no room to go on"), cell: (s) => count(s.full_outputs) },
      ]} />
    </Card>
  );
}

function Parts<T>(p: { title: string; list: T[]; counters: Counter<T>[]; name: (x: T) => string; result: Result; more?: (x: T) => ComponentChildren; hint?: string }) {
  const [by, setBy] = useState(0), [at, setAt] = useState(-1), dark = useScheme();
  const c = p.counters[by], values = p.list.map(c.value), most = values.reduce((a, b) => Math.max(a, b), 0), sum = values.reduce((a, b) => a + b, 0), least = values.reduce((a, b) => Math.min(a, b), Infinity);
  const chosen = p.list[at];
  return (
    <Chart title={p.title} more={<select aria-label={`Colour ${p.title} by`} value={String(by)} onChange={(e) => setBy(Number(e.currentTarget.value))}>{p.counters.map((c, i) => <option key={i} value={String(i)}>{c.name}</option>)}</select>} table={() => (
      <Table label={p.title} rows={p.list} columns={[
        { key: "n", head: "part", text: true, cell: (x) => p.name(x), value: (x) => p.list.indexOf(x) },
        ...p.counters.map((c) => ({ key: c.key, head: <Term page={p.result.page} name={c.key}>{c.name}</Term>, cell: c.show, value: c.value })),
      ]} />
    )} note={p.list.length > 0 ? `Least ${least === most ? "and most are equal" : `${ratio(100 * least, most, 0)} % of the most`}; mean ${ratio(100 * sum, most * p.list.length, 0)} % of the most. ${p.hint ?? ""}` : undefined}>
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
