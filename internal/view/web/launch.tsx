// One launch: how near it came to each peak, what its warps did, what fits on an SM, and the
// bytes that moved.
import { Fragment, h, type ComponentChildren } from "preact";
import type { Cache, Finding, Kernel, Peak, Result } from "./data";
import { cyclesOf, simulated } from "./data";
import { List } from "./found";
import { base, bytes, count, duration, extent, fixed, percent, percentOf, place, plural, ratio, short, words } from "./format";
import { Bar, Card, Chart, Empty, Facts, Figure, Hint, Stack, States, Table, Term, useWidth } from "./parts";
import { Roofline } from "./roofline";
import { Findings } from "./summary";
import { href, lineOf } from "./route";

export function Launch({ result, run, at }: { result: Result; run: number; at: number }) {
  const k = result.kernels[at], r = result.run, page = result.page;
  if (!k) return <Card title="No such launch"><Empty>The result has {plural(result.kernels.length, "launch", "launches")}. <a href={href({ page: "summary", run })}>All launches</a></Empty></Card>;
  const found = result.found.filter((f) => f.launch === k.launch);
  const own = (r.findings ?? []).filter((f) => f.kernel === k.name).sort((a, b) => Number(b.launch === k.launch) - Number(a.launch === k.launch) || b.share - a.share);
  return (
    <Fragment>
      <Card class="ran">
        <div class="headline"><h1>{page.kernelName(k.name)}</h1><span class="muted">launch {k.launch}{k.code ? `, ${k.code.toUpperCase()}` : ""}, stream {k.stream}{k.device !== undefined ? `, device ${k.device}` : ""}</span></div>
        <dl class="figures">
          {k.cycles !== undefined && <Figure name={<Term page={page} name="cycles">cycles</Term>} value={cyclesOf(k)} unit="core cycles" note={k.sampled ? "an estimate" : k.passed_blocks ? "partly an estimate" : r.clocks.core_mhz ? duration(k.cycles / (r.clocks.core_mhz * 1e6)) + " of the machine" : undefined} />}
          <Figure name={<Term page={page} name="warp_instructions">warp instructions</Term>} value={count(k.warp_instructions)} note={`${count(k.thread_instructions)} thread instructions`} />
          {k.cycles !== undefined && !k.sampled && <Figure name={<Term page={page} name="ipc">IPC</Term>} value={fixed(k.ipc)} unit="warp instructions per cycle" />}
          {k.cycles !== undefined && !k.sampled && <Figure name={<Term page={page} name="occupancy">occupancy</Term>} value={percent(k.occupancy)} note={k.limited_by ? `${plural(k.blocks_per_sm, "block", "blocks")} per SM, limited by ${k.limited_by}` : undefined} />}
          <Figure name={<Term page={page} name="grid">grid × block</Term>} value={`${extent(k.grid)} × ${extent(k.block)}`} note={`${plural(k.blocks, "block", "blocks")} completed`} />
        </dl>
        <p class="links"><a class="button" href={href({ page: "source", launch: k.launch, run })}>Source of this launch</a> <a class="button" href={href({ page: "time", launch: k.launch, run })}>Over time</a></p>
        {k.passed_blocks !== undefined && k.passed_blocks > 0 && <p class="note">{count(k.passed_blocks)} of {count(k.blocks)} blocks were executed, but not simulated: {count(k.passed_cycles ?? 0)} of the cycles are an estimate, and all counters but instructions leave these blocks out.</p>}
        {k.overlapped && <p class="note">Other kernels ran at the same time; stalls and memory are those of the whole chip from start to end.</p>}
      </Card>
      {found.length > 0 && <Card title="What checkers found" class={found.some((f) => f.level !== "note") ? "bad" : ""}><List list={found} run={run} result={result} /></Card>}
      {k.cycles === undefined ? <Card><Empty>A functional run counts no cycles. Run without <code>--mode functional</code> to see what this launch waits for.</Empty></Card> : k.sampled ? <Estimated result={result} run={run} k={k} list={own} /> : (
        <Fragment>
          <Findings result={result} run={run} list={own} launch={k.launch} />
          <div class="two">
            <SpeedOfLight result={result} k={k} />
            <Roofline run={r} k={simulated(k)} />
          </div>
          <WarpStates result={result} k={simulated(k)} />
          {r.kepler ? <KeplerMemory result={result} /> : <MemoryChart result={result} k={simulated(k)} run={run} at={at} />}
          <div class="two">
            <Occupancy result={result} k={k} />
            <Lanes result={result} k={k} />
          </div>
          <div class="two">
            {!r.kepler && <Latency result={result} k={k} />}
            <Timing result={result} k={k} />
          </div>
          {k.warps && k.warps.length > 1 && <Warps result={result} k={k} />}
        </Fragment>
      )}
    </Fragment>
  );
}

/** A launch of a sampled run that was not simulated: findings and charts are those of another one. */
function Estimated({ result, run, k, list }: { result: Result; run: number; k: Kernel; list: Finding[] }) {
  const alike = result.kernels.filter((x) => !x.sampled && x.name === k.name && extent(x.grid) === extent(k.grid) && extent(x.block) === extent(k.block));
  const near = alike.reduce<Kernel | undefined>((best, x) => (best && Math.abs(best.launch - k.launch) <= Math.abs(x.launch - k.launch) ? best : x), undefined);
  return (
    <Fragment>
      <Card title="Not simulated"><Empty>
        This launch was executed, but not simulated: its cycles are an estimate from launches like it, and it has no other counters.
        {near && <Fragment> The nearest one that was simulated is <a href={href({ page: "launch", launch: near.launch, run })}>launch {near.launch}</a>.</Fragment>}
      </Empty></Card>
      <Findings result={result} run={run} list={list} launch={k.launch} />
    </Fragment>
  );
}

/** The names of parts, and what share of their peak means. */
export const parts: Record<string, [string, string]> = {
  issue: ["issue slots", "Warp instructions, of what all schedulers can issue: one a cycle each."],
  int: ["integer pipe", "Cycles in which the pipes of integers and logic were taken, of all cycles of all such pipes."],
  fp32: ["FP32 pipes", "Cycles in which single-precision instructions took a pipe. Where they may take the integer pipes too, these count as well."],
  fp64: ["FP64 pipe", "Cycles in which the double-precision pipes were taken, of all cycles of all such pipes."],
  tensor: ["tensor pipe", "Cycles in which matrix instructions held the tensor units."],
  sfu: ["special functions", "Cycles in which the special function units were taken."],
  pred: ["predicate pipe", "Cycles in which comparisons took their pipe."],
  uniform: ["uniform pipe", "Cycles in which instructions for whole warps took their pipe."],
  branch: ["branch unit", "Cycles in which branches took their unit."],
  misc: ["other pipe", "Cycles in which all other instructions of fixed latency took their pipe."],
  misc_queue: ["queue of other units", "Cycles in which instructions of the queue for other units were taken."],
  l1: ["L1 data caches", "Sectors of 32 bytes looked up, of what all L1 data caches can look up."],
  network_request: ["network, requests", "Packets from the SMs, of one for each port and cycle."],
  network_reply: ["network, replies", "Packets to the SMs, of one for each port and cycle."],
  l2: ["L2 slices", "Accesses, of one for each slice and cycle."],
  dram: ["DRAM", "Cycles in which the data pins were busy, of all cycles of all channels."],
};

function SpeedOfLight({ result, k }: { result: Result; k: Kernel }) {
  const list = k.peaks ?? [];
  const name = (p: Peak) => parts[p.part]?.[0] ?? words(p.part);
  const tip = (p: Peak) => <Fragment><b>{name(p)}: {percentOf(p.used, p.most)}</b><p>{parts[p.part]?.[1]}</p><p>{count(p.used)} of {count(p.most)} {p.unit}</p></Fragment>;
  const best = Math.max(0, ...list.map((p) => p.used / p.most));
  return (
    <Chart title="Share of each peak" note={list.length > 0 ? "A part near 100 % bounds the launch; if none is, latency does." : undefined} table={() => (
      <Table label="Shares of peaks" rows={list} columns={[
        { key: "p", head: "part", text: true, cell: name },
        { key: "u", head: <Term page={result.page} name="peaks.used">used</Term>, cell: (p) => count(p.used), value: (p) => p.used },
        { key: "m", head: <Term page={result.page} name="peaks.most">at most</Term>, cell: (p) => count(p.most), value: (p) => p.most },
        { key: "n", head: "unit", text: true, cell: (p) => p.unit },
        { key: "s", head: "share", cell: (p) => percentOf(p.used, p.most), value: (p) => p.used / p.most },
      ]} />
    )}>
      {list.length === 0 ? <Empty>The result has no peaks: the core model does not state them, or the result is older.</Empty> : (
        <ul class="bars">
          {list.map((p) => (
            <li key={p.part} class={p.used / p.most === best && best > 0 ? "best" : ""}>
              <span class="name"><Hint tip={tip(p)}>{name(p)}</Hint></span>
              <Bar share={p.used / p.most} />
              <span class="num">{percentOf(p.used, p.most)}</span>
            </li>
          ))}
        </ul>
      )}
    </Chart>
  );
}

function WarpStates({ result, k }: { result: Result; k: Kernel }) {
  const page = result.page, slots = { ...k.slot_stalls, selected: k.warp_instructions };
  return (
    <Chart title="What warps did" table={() => (
      <div class="two">
        <States page={page} counts={k.stalls} of="stalls" unit="warp cycles" />
        <States page={page} counts={slots} of="slot_stalls" unit="scheduler cycles" />
      </div>
    )}>
      <div class="stacks">
        <h3><Term page={page} name="warp_cycles">warps</Term> <span class="muted">{count(k.warp_cycles)} warp cycles</span></h3>
        <Stack page={page} counts={k.stalls} of="stalls" label="What warps did" tall />
        <h3><Hint tip={<p>Every cycle of every scheduler: an instruction issued, or why none did. On the modern core it is the state of the warp that was closest to issuing.</p>}>schedulers</Hint> <span class="muted">{count(Object.values(slots).reduce((a, b) => a + b, 0))} scheduler cycles</span></h3>
        <Stack page={page} counts={slots} of="slot_stalls" label="What schedulers did" tall />
        <States page={page} counts={k.stalls} of="stalls" unit="warp cycles" />
      </div>
    </Chart>
  );
}

// The memory chart: blocks from the kernel to the DRAM, and arrows with what passed.

function hits(c: Cache): string {
  return percentOf(c.hits, c.accesses);
}

/** The Kepler-style core has none of the caches, and counts accesses for the whole run. */
function KeplerMemory({ result }: { result: Result }) {
  const c = result.run.kepler!, page = result.page;
  return (
    <Card title="Memory">
      <Facts rows={[
        [<Term page={page} name="kepler.memory_transactions">transactions</Term>, count(c.memory_transactions)],
        [<Term page={page} name="kepler.split_transactions">of them from splits</Term>, count(c.split_transactions)],
        [<Term page={page} name="kepler.shared_conflict_cycles">bank conflict cycles</Term>, count(c.shared_conflict_cycles)],
      ]} />
      <p class="note">Of the whole run: the Kepler-style core does not count them by frame, and has no caches.</p>
    </Card>
  );
}

function MemoryChart({ result, k, run, at }: { result: Result; k: Kernel; run: number; at: number }) {
  const m = k.memory, r = result.run, page = result.page;
  const seconds = r.clocks.core_mhz ? (k.cycles ?? 0) / (r.clocks.core_mhz * 1e6) : 0;
  const rate = (b: number) => (seconds > 0 ? `${short(b / seconds)}B/s` : "");
  const lines = result.lines(at);
  const sum = (f: (l: (typeof lines)[number]) => number) => lines.reduce((a, l) => a + f(l), 0);
  const requests = sum((l) => l.requests), sectors = sum((l) => l.sectors), conflicts = m.shared_conflict_cycles;
  const peak = (part: string) => {
    const p = (k.peaks ?? []).find((p) => p.part === part);
    return p ? p.used / p.most : NaN;
  };
  interface Node { id: string; name: string; x: number; y: number; c?: Cache; of?: string; lines: string[]; share: number; off?: boolean }
  const idle = (c: Cache) => c.accesses === 0;
  const nodes: Node[] = [
    { id: "k", name: "kernel", x: 0, y: 96, lines: [`${count(requests)} requests`, requests > 0 ? `${ratio(sectors, requests)} sectors each` : "to global memory"], share: NaN },
    { id: "l1", name: "L1 data", x: 196, y: 0, c: m.l1, of: "memory.l1", lines: [`${count(m.l1.accesses)} accesses`, `${hits(m.l1)} hit`], share: peak("l1"), off: idle(m.l1) },
    { id: "sh", name: "shared", x: 196, y: 64, of: "memory.shared_conflict_cycles", lines: [bytes(k.shared_bytes) + " a block", `${count(conflicts)} conflict cycles`], share: NaN, off: k.shared_bytes === 0 && conflicts === 0 },
    { id: "co", name: "constant", x: 196, y: 128, c: m.l1_const, of: "memory.l1_const", lines: [`${count(m.l1_const.accesses)} accesses`, m.const_conflict_cycles ? `${count(m.const_conflict_cycles)} conflict cycles` : `${hits(m.l1_const)} hit`], share: NaN, off: idle(m.l1_const) },
    { id: "tx", name: "texture", x: 196, y: 192, c: m.l1_texture, of: "memory.l1_texture", lines: [`${count(m.l1_texture.accesses)} accesses`, `${hits(m.l1_texture)} hit`], share: NaN, off: idle(m.l1_texture) },
    { id: "nw", name: "network", x: 410, y: 96, of: "memory.network", lines: [`${count(m.network.request_packets)} requests`, `${count(m.network.reply_packets)} replies`], share: Math.max(peak("network_request"), peak("network_reply")) },
    { id: "l2", name: "L2", x: 610, y: 96, c: m.l2, of: "memory.l2", lines: [`${count(m.l2.accesses)} accesses`, `${hits(m.l2)} hit`], share: peak("l2"), off: idle(m.l2) },
    { id: "dr", name: "DRAM", x: 810, y: 96, of: "memory.dram", lines: [`${bytes(m.dram.bytes_read)} read`, `${bytes(m.dram.bytes_written)} written`], share: peak("dram") },
  ];
  // Where there is no room beside each other, what all SMs share stands below.
  const [box, wide] = useWidth(), narrow = wide < 640, below: Record<string, [number, number]> = { nw: [98, 300], l2: [98, 392], dr: [98, 484] };
  if (narrow) for (const n of nodes) [n.x, n.y] = below[n.id] ?? [n.x, n.y];
  const w = 138, ht = 58;
  const links: { from: string; to: string; text: string; weight: number }[] = [
    { from: "k", to: "l1", text: "", weight: m.l1.accesses * 32 },
    { from: "k", to: "sh", text: "", weight: 0 },
    { from: "k", to: "co", text: "", weight: 0 },
    { from: "k", to: "tx", text: "", weight: 0 },
    { from: "l1", to: "nw", text: "", weight: (m.l1.misses) * 32 },
    { from: "co", to: "nw", text: "", weight: m.l1_const.misses * 32 },
    { from: "tx", to: "nw", text: "", weight: m.l1_texture.misses * 32 },
    { from: "nw", to: "l2", text: rate(m.l2.accesses * 32), weight: m.l2.accesses * 32 },
    { from: "l2", to: "dr", text: rate(m.dram.bytes_read + m.dram.bytes_written), weight: m.dram.bytes_read + m.dram.bytes_written },
  ];
  const most = Math.max(1, ...links.map((l) => l.weight));
  const find = (id: string) => nodes.find((n) => n.id === id)!;
  const uncoalesced = [...lines].filter((l) => l.requests > 0 && l.sectors > 2 * l.least).sort((a, b) => b.sectors - b.least - (a.sectors - a.least)).slice(0, 3);
  const conflicting = [...lines].filter((l) => l.conflicts > 0).sort((a, b) => b.conflicts - a.conflicts).slice(0, 3);
  const link = (l: (typeof lines)[number]) => <a href={href({ page: "source", launch: k.launch, run, query: lineOf(l) })}>{l.sourceLine > 0 ? `${base(l.sourceFile)}:${l.sourceLine}` : place(l)}</a>;
  const caches: [string, string, Cache][] = [["L1 data", "l1", m.l1], ["L1 constant", "l1_const", m.l1_const], ["L1 texture", "l1_texture", m.l1_texture], ["L1 instruction", "l1_inst", m.l1_inst], ["L2", "l2", m.l2]];
  return (
    <Chart title="Memory" table={() => (
      <Fragment>
        <Table label="Caches" rows={caches.filter(([, , c]) => c.accesses > 0)} columns={[
          { key: "n", head: "cache", text: true, cell: ([n]) => n },
          ...(["accesses", "hits", "pending_hits", "misses", "sector_misses", "write_backs", "refused"] as const).map((f) => ({ key: f, head: <Term page={page} name={`memory.l2.${f}`}>{words(f)}</Term>, cell: ([, , c]: [string, string, Cache]) => count(c[f]), value: ([, , c]: [string, string, Cache]) => c[f] })),
          { key: "h", head: "hit rate", cell: ([, , c]) => hits(c) },
        ]} />
        <Facts rows={[
          [<Term page={page} name="memory.dram.bytes_read">DRAM read</Term>, bytes(m.dram.bytes_read)], [<Term page={page} name="memory.dram.bytes_written">DRAM written</Term>, bytes(m.dram.bytes_written)],
          [<Term page={page} name="memory.dram.row_hits">row hits</Term>, `${count(m.dram.row_hits)} of ${count(m.dram.requests)} requests (${percentOf(m.dram.row_hits, m.dram.requests)})`],
          [<Term page={page} name="memory.dram.busy_cycles">DRAM busy</Term>, `${count(m.dram.busy_cycles)} of ${count(m.dram.cycles)} cycles (${percentOf(m.dram.busy_cycles, m.dram.cycles)})`],
          ...(["reads", "writes", "activates", "precharges"] as const).map((f): [ComponentChildren, ComponentChildren] => [<Term page={page} name={`memory.dram.${f}`}>DRAM {f}</Term>, count(m.dram[f])]),
          ...(["request", "reply"] as const).map((f): [ComponentChildren, ComponentChildren] => [<Term page={page} name={`memory.network.${f}_packets`}>{f} packets</Term>, `${count(m.network[`${f}_packets`])} (${count(m.network[`${f}_flits`])} flits)`]),
          ...(["load_store_stall_cycles", "l2_entry_stall_cycles", "reply_stall_cycles"] as const).map((f): [ComponentChildren, ComponentChildren] => [<Term page={page} name={`memory.${f}`}>{words(f)}</Term>, count(m[f])]),
        ]} />
      </Fragment>
    )} note={<Fragment>
      {uncoalesced.length > 0 && <span>Most sectors beyond need: {uncoalesced.map((l, i) => <Fragment key={i}>{i > 0 && ", "}{link(l)} ({fixed(l.sectors / l.requests, 1)} a request, {fixed(l.least / l.requests, 1)} would do)</Fragment>)}. </span>}
      {conflicting.length > 0 && <span>Conflicts: {conflicting.map((l, i) => <Fragment key={i}>{i > 0 && ", "}{link(l)} ({count(l.conflicts)} cycles)</Fragment>)}. </span>}
      {m.dram.peak_gb_per_s > 0 && <span>The DRAM moves at most {fixed(m.dram.peak_gb_per_s, 0)} GB/s.</span>}
    </Fragment>}>
      <div ref={box}>
        <svg class={narrow ? "memory tall" : "memory"} viewBox={narrow ? "-2 -2 378 546" : "0 0 950 252"} role="img" aria-label={`Memory: ${nodes.filter((n) => !n.off).map((n) => `${n.name} ${n.lines.join(", ")}`).join("; ")}`}>
          <defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 8 4 0 8z" /></marker></defs>
          {links.map((l, i) => {
            const a = find(l.from), b = find(l.to);
            if (a.off || b.off) return null;
            const down = narrow && a.id in below, round = narrow && !down && b.id in below;
            const x1 = down ? a.x + w / 2 : a.x + w, y1 = down ? a.y + ht : a.y + ht / 2, x2 = down ? b.x + w / 2 : round ? b.x + w + 3 : b.x - 3, y2 = down ? b.y - 3 : b.y + ht / 2, mid = round ? 390 : (x1 + x2) / 2;
            return (
              <g key={i} class="flow">
                <path d={`M${x1} ${y1}C${down ? x1 : mid} ${y1} ${down ? x1 : mid} ${y2} ${x2} ${y2}`} style={{ strokeWidth: `${1.2 + 7 * Math.sqrt(l.weight / most)}px` }} />
                {l.text && <text x={down ? x1 + 12 : mid} y={down ? (y1 + y2) / 2 + 4 : y1 - 12} text-anchor={down ? "start" : "middle"}>{l.text}</text>}
              </g>
            );
          })}
          {nodes.map((n) => (
            <g key={n.id} class={n.off ? "node off" : "node"} transform={`translate(${n.x} ${n.y})`}>
              <rect width={w} height={ht} rx="6" />
              {Number.isFinite(n.share) && <rect class="fill" y={ht - 4} width={Math.max(1, w * Math.min(1, n.share))} height="4" />}
              <text class="name" x="9" y="18">{n.name}</text>
              {Number.isFinite(n.share) && <text class="share" x={w - 9} y="18" text-anchor="end">{percent(n.share, 0)}</text>}
              {(n.off ? ["not used"] : n.lines).map((t, i) => <text key={i} x="9" y={34 + i * 14}>{t}</text>)}
            </g>
          ))}
        </svg>
      </div>
    </Chart>
  );
}

function Occupancy({ result, k }: { result: Result; k: Kernel }) {
  const m = result.run.machine, page = result.page;
  const threads = k.block.reduce((a, b) => a * b, 1), warps = Math.ceil(threads / 32);
  const use: [string, number, number, string][] = m ? [
    ["warps", warps * k.blocks_per_sm, m.warp_slots, "machine.warp_slots"],
    ["blocks", k.blocks_per_sm, m.block_slots, "machine.block_slots"],
    ["registers", k.registers * warps * 32 * k.blocks_per_sm, m.registers, "machine.registers"],
    ["shared memory", k.shared_bytes * k.blocks_per_sm, m.shared_bytes, "machine.shared_bytes"],
  ] : [];
  const steps = k.occupancy_steps ?? [];
  return (
    <Card title="Occupancy">
      <Facts rows={[
        [<Term page={page} name="occupancy">occupancy, achieved</Term>, percent(k.occupancy)],
        ["possible with full SMs", m ? `${percentOf(warps * k.blocks_per_sm, m.warp_slots)} (${k.blocks_per_sm} × ${warps} of ${m.warp_slots} warps)` : "–"],
        [<Term page={page} name="limited_by">limited by</Term>, k.limited_by || "–"],
        [<Term page={page} name="registers">registers per thread</Term>, `${count(k.registers)}${k.register_estimate ? " (estimate)" : ""}`],
        ...(k.register_estimate ? (["fewer", "more"] as const).map((f): [ComponentChildren, ComponentChildren] => [<Term page={page} name={`register_estimate.blocks_per_sm_if_${f}`}>with {count(k.register_estimate![f])} registers</Term>, `${plural(k.register_estimate![`blocks_per_sm_if_${f}`], "block", "blocks")} per SM`]) : []),
      ]} />
      {use.length > 0 && <ul class="bars">{use.map(([name, n, most, of]) => <li key={name}><span class="name"><Term page={page} name={of}>{name}</Term></span><Bar share={n / most} /><span class="num wide">{count(n)} of {count(most)}</span></li>)}</ul>}
      {k.limited_by === "grid" ? <p class="note">The grid has no more blocks for the SMs; resources are not the limit.</p>
        : steps.length > 0 ? <p class="note">More blocks per SM with: {steps.map((s, i) => <Fragment key={i}>{i > 0 && "; "}{s.resource === "threads" ? `${s.need} threads a block` : s.resource === "registers" ? `at most ${s.need} registers a thread` : `at most ${bytes(s.need)} of shared memory a block`} ({s.blocks_per_sm} blocks)</Fragment>)}.</p>
          : m && <p class="note">No smaller need of a single resource admits more blocks.</p>}
    </Card>
  );
}

function Columns({ list, label, name, axis }: { list: { x: string; n: number; tip: string }[]; label: string; name: (i: number) => string; axis: string }) {
  const most = Math.max(1, ...list.map((b) => b.n));
  return (
    <Fragment>
      <div class="columns" role="img" aria-label={label}>
        {list.map((b, i) => <span key={i} title={b.tip}><em><i style={{ height: `${b.n > 0 ? Math.max(1.5, (100 * b.n) / most) : 0}%` }} /></em><small>{name(i)}</small></span>)}
      </div>
      <p class="axis">{axis}</p>
    </Fragment>
  );
}

function Lanes({ result, k }: { result: Result; k: Kernel }) {
  const list = k.lanes_per_issue ?? [], total = list.reduce((a, b) => a + b, 0);
  const rows = list.map((n, i) => ({ lanes: i, n })).filter((r) => r.n > 0);
  return (
    <Chart title={<Term page={result.page} name="lanes_per_issue">Active lanes per issue</Term>} note={`${percentOf(k.thread_instructions, 32 * k.warp_instructions)} of the lanes were active.`} table={() => (
      <Table label="Lanes" rows={rows} columns={[
        { key: "l", head: "active lanes", cell: (r) => r.lanes, value: (r) => r.lanes }, { key: "n", head: "warp instructions", cell: (r) => count(r.n), value: (r) => r.n },
        { key: "s", head: "share", cell: (r) => percentOf(r.n, total) },
      ]} />
    )}>
      {total === 0 ? <Empty>No issues were counted.</Empty> : <Columns label={`Issues by active lanes: ${rows.map((r) => `${r.lanes}: ${percentOf(r.n, total)}`).join(", ")}`} list={list.map((n, i) => ({ x: String(i), n, tip: `${i} lanes: ${count(n)} (${percentOf(n, total)})` }))} name={(i) => (i % 8 === 0 ? String(i) : "")} axis="active lanes" />}
    </Chart>
  );
}

function Latency({ result, k }: { result: Result; k: Kernel }) {
  const list = k.memory.latency_log2 ?? [], total = list.reduce((a, b) => a + b, 0), first = Math.max(0, list.findIndex((n) => n > 0) - 1);
  const rows = list.map((n, i) => ({ from: 2 ** i, to: 2 ** (i + 1) - 1, n, i })).slice(first);
  return (
    <Chart title={<Term page={result.page} name="memory.latency_log2">Latency of memory requests</Term>} note={total > 0 ? `Mean ${fixed(k.memory.mean_latency_cycles, 0)} core cycles over ${count(k.memory.replies)} replies; hits in the L1 make no request.` : undefined} table={() => (
      <Table label="Latency" rows={rows} columns={[
        { key: "r", head: "core cycles", cell: (r) => `${count(r.from)} – ${count(r.to)}`, value: (r) => r.from }, { key: "n", head: "replies", cell: (r) => count(r.n), value: (r) => r.n }, { key: "s", head: "share", cell: (r) => percentOf(r.n, total) },
      ]} />
    )}>
      {total === 0 ? <Empty>No request left an SM.</Empty> : <Columns label={`Replies by latency: ${rows.filter((r) => r.n > 0).map((r) => `${r.from} to ${r.to} cycles ${percentOf(r.n, total)}`).join(", ")}`} list={rows.map((r) => ({ x: "", n: r.n, tip: `${count(r.from)} to ${count(r.to)} cycles: ${count(r.n)} (${percentOf(r.n, total)})` }))} name={(i) => short(rows[i].from)} axis="core cycles, from" />}
    </Chart>
  );
}

function Timing({ result, k }: { result: Result; k: Kernel }) {
  const page = result.page, total = k.cycles || 1, before = k.first_block_cycle - k.start_cycle;
  const rows: [ComponentChildren, ComponentChildren][] = [
    [<Term page={page} name="start_cycle">begins in cycle</Term>, count(k.start_cycle)],
    [<Term page={page} name="first_block_cycle">first block in cycle</Term>, `${count(k.first_block_cycle)} (${percentOf(before, total)} of the launch before it)`],
    [<Term page={page} name="end_cycle">ends in cycle</Term>, count(k.end_cycle)],
    [<Term page={page} name="local_bytes">local memory</Term>, `${bytes(k.local_bytes)} a thread`],
    [<Term page={page} name="shared_bytes">shared memory</Term>, `${bytes(k.shared_bytes)} a block`],
    [<Term page={page} name="l1_ways">L1 ways</Term>, count(k.l1_ways)],
  ];
  for (const [kind, n] of Object.entries(k.flops ?? {})) rows.push([<Term page={page} name="flops">{kind} operations</Term>, `${count(n)} (${short(n / ((simulated(k).cycles || 1) / (result.run.clocks.core_mhz * 1e6)))}flop/s)`]);
  return <Card title="From launch to end"><Facts rows={rows} /></Card>;
}

function Warps({ result, k }: { result: Result; k: Kernel }) {
  return (
    <Card title="Warps">
      <Table label="Warps" rows={k.warps!} columns={[
        { key: "w", head: <Term page={result.page} name="warps.warp">warp</Term>, cell: (w) => w.warp, value: (w) => w.warp },
        { key: "c", head: <Term page={result.page} name="warps.cycles">cycles</Term>, cell: (w) => count(w.cycles), value: (w) => w.cycles },
        { key: "e", head: <Term page={result.page} name="warps.exit_cycle">exit in</Term>, cell: (w) => (w.exit_cycle > 0 ? count(w.exit_cycle) : "–"), value: (w) => w.exit_cycle },
        { key: "s", head: "what it did", text: true, class: "barcell", cell: (w) => <Stack page={result.page} counts={w.stalls} of="stalls" label={`warp ${w.warp}`} /> },
      ]} />
    </Card>
  );
}

