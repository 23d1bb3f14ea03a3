// The warps of an SM: what each does now, in a run that goes on, and over time.
import { Fragment, h } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Result } from "./data";
import { base, count, percentOf, place, words } from "./format";
import { colour, sorted } from "./palette";
import { Bar, Empty, Facts, Swatch, Table } from "./parts";
import { href, lineOf } from "./route";
import { Framed, pointing, useCanvas } from "./time";

export function Warps({ result, sm, run }: { result: Result; sm: number; run: number }) {
  const past = result.run.history?.warps;
  return (
    <Fragment>
      {result.run.now && <Now result={result} sm={sm} run={run} />}
      {past ? <Past past={past} sm={sm} /> : <Empty>What its warps did over time was not recorded: runs with <code>--html</code> do.</Empty>}
    </Fragment>
  );
}

/** What the warps do between two cycles, and the queues of the SM. */
function Now({ result, sm, run }: { result: Result; sm: number; run: number }) {
  const now = result.run.now!, list = (now.warps ?? []).filter((w) => w.sm === sm), queues = (now.queues ?? []).filter((q) => q.sm === sm);
  const launch = (kernel: string) => result.kernels.findLast((k) => k.name === kernel)?.launch ?? null;
  return (
    <Fragment>
      <h3>Warps in cycle {count(now.cycle)}</h3>
      {list.length === 0 ? <Empty>No warp is on this SM.</Empty> : (
        <Table label="Warps now" rows={list} columns={[
          { key: "s", head: "slot", cell: (w) => w.slot, value: (w) => w.slot },
          { key: "b", head: "block", text: true, cell: (w) => `(${w.block.join(",")})` },
          { key: "w", head: "warp", cell: (w) => w.warp, value: (w) => w.warp },
          { key: "t", head: "state", text: true, cell: (w) => <span class="nowrap"><Swatch state={w.state} />{words(w.state)}</span>, value: (w) => w.state },
          { key: "a", head: "next instruction", text: true, cell: (w) => (w.pc >= 0 ? <Fragment><a href={href({ page: "source", launch: launch(w.kernel), run, query: lineOf(w) })}>{w.source_line ? `${base(w.source_file!)}:${w.source_line}` : place(w)}</a> <code>{w.instruction}</code></Fragment> : "–") },
          { key: "f", head: "waits for", text: true, cell: (w) => w.waits_for ?? "" },
        ]} />
      )}
      {queues.length > 0 && <Facts rows={queues.map((q) => [q.name, <Fragment>{count(q.len)}{q.cap > 0 && <Fragment> of {count(q.cap)} <Bar share={q.len / q.cap} /></Fragment>}</Fragment>])} />}
    </Fragment>
  );
}

type History = NonNullable<NonNullable<Result["run"]["history"]>["warps"]>;

/** The state of each warp slot over time, as samples. */
function Past({ past, sm }: { past: History; sm: number }) {
  const slots = useMemo(() => past.slots.filter((s) => s.sm === sm), [past, sm]);
  const name = (letter: string): string | undefined => past.states[letter.charCodeAt(0) - 97];
  const samples = slots.reduce((n, s) => Math.max(n, s.states.length), 0), row = Math.max(4, Math.min(14, 420 / Math.max(1, slots.length))), height = slots.length * row;
  const [tip, setTip] = useState(""), [table, setTable] = useState(false);
  const totals = useMemo(() => slots.map((s) => {
    const n: Record<string, number> = {};
    for (const c of s.states) if (name(c)) n[name(c)!] = (n[name(c)!] ?? 0) + 1;
    return { slot: s.slot, n, all: Object.values(n).reduce((a, b) => a + b, 0) };
  }), [slots]);
  const states = sorted([...new Set(totals.flatMap((t) => Object.keys(t.n)))]);
  const ref = useCanvas((ctx, w) => {
    const wide = w / samples;
    slots.forEach((s, y) => {
      for (let from = 0; from < s.states.length; ) {
        let to = from + 1;
        while (to < s.states.length && s.states[to] === s.states[from]) to++;
        const state = name(s.states[from]);
        if (state) {
          ctx.fillStyle = colour(state);
          ctx.fillRect(from * wide, y * row, (to - from) * wide + 0.3, row - (row > 5 ? 1 : 0.3));
        }
        from = to;
      }
    });
  }, height, [slots, samples, table]);
  if (samples === 0) return <Empty>No warp was on this SM when its warps were sampled.</Empty>;
  const point = (x: number, y: number, width: number) => {
    const i = Math.min(samples - 1, Math.floor((x / width) * samples)), s = slots[Math.floor(y / row)];
    if (s) setTip(`slot ${s.slot}, cycle ${count((i + 1) * past.every)}: ${words(name(s.states[i] ?? ".") ?? "no warp")}`);
  };
  return (
    <Fragment>
      <h3>Warps over time <button type="button" class="switch" aria-pressed={table} onClick={() => setTable(!table)}>Table</button></h3>
      {table ? (
        <Table label="Warps over time" rows={totals} columns={[
          { key: "slot", head: "slot", cell: (t) => t.slot, value: (t) => t.slot },
          { key: "all", head: "samples with a warp", cell: (t) => count(t.all), value: (t) => t.all },
          ...states.map((s) => ({ key: s, head: words(s), cell: (t: { n: Record<string, number>; all: number }) => percentOf(t.n[s] ?? 0, t.all), value: (t: { n: Record<string, number> }) => t.n[s] ?? 0 })),
        ]} />
      ) : <Framed range={[0, samples * past.every]} rows={[`slot ${slots[0].slot}`, slots.length > 1 ? String(slots[slots.length - 1].slot) : ""]}><canvas ref={ref} class="canvas warps" style={{ height: `${height}px` }} role="img" aria-label={`States of ${slots.length} warp slots over time; the arrow keys read them, and the table has the numbers`} {...pointing(point, samples, row, height, () => setTip(""))} /></Framed>}
      <p class="legend">{states.map((s) => <span key={s}><Swatch state={s} />{words(s)}</span>)}</p>
      <p class="note" aria-live="polite">{tip || `Rows are the SM's warp slots. Sampled every ${count(past.every)} cycles: what a warp does in between is not shown.`}</p>
    </Fragment>
  );
}
