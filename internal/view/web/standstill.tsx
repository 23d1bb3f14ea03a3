// A run in which nothing moves: who waits for whom, as a graph. On the left stand warps, on the right
// what they wait for; arrows lead from those that wait to what they wait for, and from there to those
// that would have to come.
import { Fragment, h } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Result, Standing, Standstill as State } from "./data";
import { base, count, place, plural, words } from "./format";
import { Chart, Empty, Table, useWidth } from "./parts";
import { href, lineOf } from "./route";

/** Warps of a block that stand at one place for one reason. */
interface Group { list: Standing[]; wants: string }
/** What is waited for, the groups that wait, and those that would have to come. */
interface Thing { name: string; sub: string; from: number[]; to: number[]; maybe: boolean }

const hex = (lanes: number) => "0x" + (lanes >>> 0).toString(16).padStart(8, "0");
const stands = (w: Standing) => (w.source_line ? `${base(w.source_file!)}:${w.source_line}` : w.pc >= 0 ? place(w) : "");
const blockOf = (w: { kernel: string; block: number[]; sm: number }) => `${w.kernel}\n${w.block.join(",")}\n${w.sm}`;

/** 0, 2–5 */
function ranges(numbers: number[]): string {
  const list = [...new Set(numbers)].sort((a, b) => a - b), out: string[] = [];
  for (let i = 0; i < list.length; ) {
    let j = i;
    while (j + 1 < list.length && list[j + 1] === list[j] + 1) j++;
    out.push(i === j ? String(list[i]) : `${list[i]}–${list[j]}`);
    i = j + 1;
  }
  return out.join(", ");
}

/** The graph of one block. */
function graph(s: State, warps: Standing[]): { groups: Group[]; things: Thing[] } {
  const groups: Group[] = [], at = new Map<string, number>();
  for (const w of warps) {
    const wants = w.barrier !== undefined ? `b${w.barrier}` : w.for_lanes ? `w${w.warp} ${w.for_lanes}` : w.waits_for ? `t${w.waits_for}` : "";
    const key = `${wants}\n${w.function}\n${w.pc}\n${w.state}`;
    const i = at.get(key);
    if (i === undefined) {
      at.set(key, groups.length);
      groups.push({ list: [w], wants });
    } else groups[i].list.push(w);
  }
  const things: Thing[] = [], known = new Map<string, number>();
  const thing = (key: string, make: () => Omit<Thing, "from">): Thing => {
    let i = known.get(key);
    if (i === undefined) known.set(key, (i = things.push({ ...make(), from: [] }) - 1));
    return things[i];
  };
  const holders = (has: (w: Standing) => boolean) => groups.flatMap((g, i) => (g.list.some(has) ? [i] : []));
  groups.forEach((g, i) => {
    const w = g.list[0], m = w.barrier !== undefined ? (s.barriers ?? [])[w.barrier] : undefined;
    if (m) {
      const missing = m.missing ?? [];
      thing(g.wants, () => ({ name: `barrier ${m.barrier}`, sub: `${count(m.came)} of ${count(m.need)} threads have arrived`, to: holders((x) => ((missing[x.warp] ?? 0) & x.lanes) !== 0), maybe: false })).from.push(i);
    } else if (w.for_lanes) {
      thing(g.wants, () => ({ name: `lanes ${hex(w.for_lanes!)}`, sub: `of warp ${w.warp}`, to: holders((x) => x.warp === w.warp && (x.lanes & w.for_lanes!) !== 0 && x !== w), maybe: false })).from.push(i);
    } else if (w.waits_for) {
      thing("memory", () => ({ name: "results and memory", sub: "the table says which", to: [], maybe: false })).from.push(i);
    }
  });
  const late = (s.grids ?? []).filter((g) => g.placed < g.total);
  if (s.loops) {
    for (const g of late) {
      const all = groups.map((_, i) => i);
      things.push({ name: `${plural(g.total - g.placed, "block", "blocks")} not begun`, sub: "they need the room of those that run", from: groups.flatMap((g, i) => (g.wants === "" ? [i] : [])), to: all, maybe: true });
    }
  }
  return { groups, things };
}

export function Standstill({ result, of, run }: { result: Result; of: State; run: number }) {
  const warps = of.warps ?? [];
  const blocks = useMemo(() => {
    const by = new Map<string, Standing[]>();
    for (const w of warps) by.set(blockOf(w), [...(by.get(blockOf(w)) ?? []), w]);
    return [...by.values()];
  }, [of]);
  const [at, setAt] = useState(0);
  const shown = blocks[Math.min(at, blocks.length - 1)] ?? [];
  const { groups, things } = useMemo(() => graph(of, shown), [of, shown]);
  const notes = [
    of.loops ? "Warps that wait for nothing repeat the same instructions with the same values, and change no memory: they wait in a loop." : "",
    ...(of.grids ?? []).map((g) => `${result.page.kernelName(g.kernel)}: ${count(g.placed)} of ${plural(g.total, "block", "blocks")} begun, ${count(g.ended)} ended.`),
    of.left_out ? `${plural(of.left_out, "more place", "more places")} where warps stand are left out.` : "",
  ].filter((t) => t !== "").join(" ");
  const source = (w: Standing) => href({ page: "source", launch: result.run.error?.launch ?? null, run, query: lineOf(w) });
  const rows = Math.max(groups.length, things.length), [box, wide] = useWidth(), narrow = wide < 640;
  const [left, right, width, high, step, wrap] = narrow ? [158, 208, 366, 60, 74, 22] : [360, 560, 900, 46, 62, 56], y = (i: number, n: number) => 6 + ((rows - n) / 2 + i) * step;
  const label = `${groups.map((g) => `warp ${ranges(g.list.map((w) => w.warp))} ${g.list[0].waits_for ?? "does not wait"}`).join("; ")}`;
  const cut = (t: string, n: number) => (t.length > n ? t.slice(0, n - 1) + "…" : t);
  // A text on one line or two.
  const text = (t: string) => {
    const at = t.length > wrap ? t.lastIndexOf(" ", wrap) : -1;
    return (at < 0 ? [t] : [t.slice(0, at), t.slice(at + 1)]).map((t, i) => <text key={i} x="12" y={36 + 14 * i}>{cut(t, wrap)}</text>);
  };
  return (
    <Chart title="Who waits for whom" note={notes} more={blocks.length > 1 && <label>Block <select value={String(at)} onChange={(e) => setAt(Number(e.currentTarget.value))}>{blocks.map((b, i) => <option key={i} value={String(i)}>({b[0].block.join(",")}) on SM {b[0].sm}</option>)}</select></label>} table={() => (
      <Table label="Warps" rows={warps} columns={[
        { key: "b", head: "block", text: true, cell: (w) => `(${w.block.join(",")})` },
        { key: "w", head: "warp", cell: (w) => w.warp, value: (w) => w.warp },
        { key: "s", head: "SM", cell: (w) => w.sm, value: (w) => w.sm },
        { key: "l", head: "lanes", text: true, cell: (w) => <code>{hex(w.lanes)}</code> },
        { key: "a", head: "at", text: true, cell: (w) => (w.pc >= 0 ? <Fragment><a href={source(w)}>{stands(w)}</a> <code>{w.instruction}</code></Fragment> : "–") },
        { key: "t", head: "state", text: true, cell: (w) => words(w.state) },
        { key: "f", head: "waits for", text: true, cell: (w) => w.waits_for ?? (of.loops ? "nothing: it runs in a loop" : "nothing") },
      ]} />
    )}>
      {groups.length === 0 ? <Empty>No warp is resident.</Empty> : (
        <div ref={box}>
          <svg class="waitgraph" viewBox={`0 0 ${width} ${rows * step}`} role="img" aria-label={label}>
            <defs><marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 8 4 0 8z" /></marker></defs>
            {things.map((t, i) => {
              const there = y(i, things.length) + high / 2;
              const curve = (a: number, b: number, x0: number, x1: number) => `M${x0} ${a}C${(x0 + x1) / 2} ${a} ${(x0 + x1) / 2} ${b} ${x1} ${b}`;
              return (
                <g key={i} class={t.maybe ? "maybe" : ""}>
                  {t.from.map((g) => <path key={`f${g}`} class="waits" d={curve(y(g, groups.length) + high / 2 - 8, there - 8, left, right)} marker-end="url(#end)" />)}
                  {t.to.map((g) => <path key={`t${g}`} class="needs" d={curve(there + 8, y(g, groups.length) + high / 2 + 8, right, left)} marker-end="url(#end)" />)}
                  <g class="node thing" transform={`translate(${right} ${y(i, things.length)})`}><rect width={width - right - 4} height={high} rx="6" /><text class="name" x="12" y="20">{t.name}</text>{text(t.sub)}</g>
                </g>
              );
            })}
            {groups.map((g, i) => {
              const w = g.list[0], all = g.list.every((x) => x.lanes >>> 0 === 0xffffffff);
              return (
                <g key={i} class="node" transform={`translate(4 ${y(i, groups.length)})`}>
                  <rect width={left - 4} height={high} rx="6" />
                  <text class="name" x="12" y="20">{cut(`${g.list.length > 1 ? "warps" : "warp"} ${ranges(g.list.map((x) => x.warp))}${all || w.pc < 0 ? "" : `, lanes ${hex(w.lanes)}`}`, narrow ? 18 : 46)}</text>
                  {text(`${stands(w)} ${w.instruction ?? ""} · ${words(w.state)}`)}
                </g>
              );
            })}
          </svg>
          <p class="legend"><span><i class="line waits" />waits for</span><span><i class="line needs" />would have to come</span></p>
        </div>
      )}
    </Chart>
  );
}
