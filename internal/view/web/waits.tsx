// For which instructions the warps waited at a line, and which lines waited for it.
import { h } from "preact";
import { identity, type Line, type Page } from "./data";
import { base, count, percentOf, place } from "./format";
import { Bar, Card, Term, Table } from "./parts";

/** An instruction at the other end of waits, and their warp cycles. */
export interface End { line: Line; cycles: number }

/** The instructions for which the chosen lines waited, those with most cycles first. */
export function producers(chosen: Line[], all: Line[]): End[] {
  const by = new Map(all.map((l) => [identity(l), l]));
  const sum = new Map<Line, number>();
  for (const l of chosen) {
    for (const [id, n] of l.waited) {
      const from = by.get(id);
      if (from) sum.set(from, (sum.get(from) ?? 0) + n);
    }
  }
  return ends(sum);
}

/** The lines that waited for the chosen ones. */
export function consumers(chosen: Line[], all: Line[]): End[] {
  const ids = chosen.map(identity), sum = new Map<Line, number>();
  for (const l of all) {
    for (const id of ids) {
      const n = l.waited.get(id);
      if (n) sum.set(l, (sum.get(l) ?? 0) + n);
    }
  }
  return ends(sum);
}

function ends(sum: Map<Line, number>): End[] {
  return [...sum].map(([line, cycles]) => ({ line, cycles })).sort((a, b) => b.cycles - a.cycles);
}

/** The shares of lines of texts in waits, as marks of their rows. */
export function marks(list: End[], key: (l: Line) => string): Map<string, string> {
  const total = list.reduce((a, e) => a + e.cycles, 0), sum = new Map<string, number>();
  for (const { line, cycles } of list) {
    for (const k of [key(line), `${line.sourceFile}:${line.sourceLine}`]) sum.set(k, (sum.get(k) ?? 0) + cycles);
  }
  return new Map([...sum].map(([k, n]) => [k, percentOf(n, total, 0)]));
}

function Ends(p: { page: Page; list: End[]; label: string; total: number; pick: (l: Line) => void }) {
  return (
    <Table label={p.label} rows={p.list} columns={[
      { key: "at", head: "line", text: true, cell: ({ line: l }) => <button type="button" class="link" onClick={() => p.pick(l)}>{place(l)}</button> },
      { key: "n", head: <Term page={p.page} name="lines.waited_for.warp_cycles">warp cycles</Term>, cell: (e) => count(e.cycles), value: (e) => e.cycles },
      { key: "share", head: "share", cell: (e) => percentOf(e.cycles, p.total), value: (e) => e.cycles },
      { key: "bar", head: "", text: true, class: "barcell wide", cell: (e) => <Bar share={e.cycles / p.total} /> },
      { key: "text", head: "instruction", text: true, class: "name", cell: ({ line: l }) => <code>{l.text}</code> },
      { key: "source", head: "source", text: true, class: "wide", cell: ({ line: l }) => (l.sourceLine > 0 ? <span class="muted">{base(l.sourceFile)}:{l.sourceLine}</span> : "") },
    ]} />
  );
}

/** The waits between the chosen lines and others; nothing where none were recorded. */
export function Waits(p: { page: Page; from: End[]; to: End[]; cycles: number; pick: (l: Line) => void }) {
  if (p.from.length + p.to.length === 0) return null;
  const toTotal = p.to.reduce((a, e) => a + e.cycles, 0);
  return (
    <div class={p.from.length > 0 && p.to.length > 0 ? "two" : ""}>
      {p.from.length > 0 && <Card title="Waited for"><Ends page={p.page} list={p.from} label="Waited for" total={p.cycles} pick={p.pick} /><p class="note">Shares of the warp cycles here. A wait for several instructions counts for the one that ended last. The text marks them with ◂ and their share of the waits.</p></Card>}
      {p.to.length > 0 && <Card title="Is waited for"><Ends page={p.page} list={p.to} label="Is waited for" total={toTotal} pick={p.pick} /><p class="note">Shares of the {count(toTotal)} warp cycles for which others waited for this.</p></Card>}
    </div>
  );
}
