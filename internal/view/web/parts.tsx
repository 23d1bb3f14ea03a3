// What all pages are made of: cards, explanations on hover, tables, bars.
import { Fragment, h, type ComponentChildren, type VNode } from "preact";
import { useCallback, useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import type { Numbers, Page, Result } from "./data";
import { count, percentOf, words } from "./format";
import { colour, family, ink, sorted } from "./palette";
import { go } from "./route";

// Explanations. One element shows that of whatever the pointer or the keyboard is on.

interface Tip { of: Element; body: ComponentChildren }
let showTip: (tip: Tip | null) => void = () => {};

export function Tips() {
  const [tip, set] = useState<Tip | null>(null);
  const box = useRef<HTMLDivElement>(null);
  showTip = set;
  useEffect(() => {
    const hide = (e: KeyboardEvent) => e.key === "Escape" && set(null);
    const gone = () => set(null);
    addEventListener("keydown", hide);
    // What the keyboard has reached may have been scrolled into sight for that.
    const scrolled = () => set((t) => (t && t.of === document.activeElement ? { ...t } : null));
    addEventListener("scroll", scrolled, true);
    addEventListener("hashchange", gone);
    return () => {
      removeEventListener("keydown", hide);
      removeEventListener("scroll", scrolled, true);
      removeEventListener("hashchange", gone);
    };
  }, []);
  useEffect(() => {
    const el = box.current;
    if (!el || !tip) return;
    const r = el.getBoundingClientRect(), at = tip.of.getBoundingClientRect();
    const left = Math.max(8, Math.min(at.left, innerWidth - r.width - 8));
    const above = at.bottom + r.height + 12 > innerHeight && at.top > r.height + 12;
    el.style.left = `${left}px`;
    el.style.top = `${above ? at.top - r.height - 6 : at.bottom + 6}px`;
  }, [tip]);
  return tip && <div class="tip" id="explanation" role="tooltip" ref={box}>{tip.body}</div>;
}

/** Something with an explanation. */
export function Hint(p: { tip: ComponentChildren; children: ComponentChildren; counter?: string }) {
  const on = (e: Event) => showTip({ of: e.currentTarget as Element, body: p.tip });
  const off = () => showTip(null);
  return (
    <span class="hint" data-counter={p.counter} tabIndex={0} aria-describedby="explanation" onMouseEnter={on} onMouseLeave={off} onFocus={on} onBlur={off}>
      {p.children}
    </span>
  );
}

/** A counter's name with the words of --explain. */
export function Term(p: { page: Page; name: string; children?: ComponentChildren }) {
  const t = p.page.term(p.name);
  const body = p.children ?? words(p.name.slice(p.name.lastIndexOf(".") + 1));
  if (!t) return <span>{body}</span>;
  return (
    <Hint counter={t.name} tip={<Fragment><b>{t.name}</b><p>{t.meaning}</p><p class="muted">{t.unit && `Unit: ${t.unit}. `}Counted by: {t.source}.</p></Fragment>}>
      {body}
    </Hint>
  );
}

export function Card(p: { title?: ComponentChildren; children: ComponentChildren; more?: ComponentChildren; class?: string }) {
  const id = useId();
  return (
    <section class={"card " + (p.class ?? "")} aria-labelledby={p.title ? id : undefined}>
      {(p.title || p.more) && <header><h2 id={id}>{p.title}</h2><div class="tools">{p.more}</div></header>}
      {p.children}
    </section>
  );
}

/** A drawing, and its numbers in its place while the switch is on. */
export function Chart(p: { title: ComponentChildren; table: () => ComponentChildren; children: ComponentChildren; note?: ComponentChildren; more?: ComponentChildren }) {
  const [table, set] = useState(false);
  return (
    <Card title={p.title} more={<Fragment>{p.more}<button type="button" class="switch" aria-pressed={table} onClick={() => set(!table)}>Table</button></Fragment>}>
      {table ? p.table() : p.children}
      {p.note && <p class="note" aria-live="polite">{p.note}</p>}
    </Card>
  );
}

/** The width of an element, which gets the first of what it returns as its ref. */
export function useWidth(): [(el: HTMLElement | null) => void, number] {
  const [width, set] = useState(1000), observer = useMemo(() => new ResizeObserver((list) => set(list[0].contentRect.width)), []);
  useEffect(() => () => observer.disconnect(), []);
  return [useCallback((el) => {
    observer.disconnect();
    if (el) observer.observe(el);
  }, []), width];
}

export function Empty(p: { children: ComponentChildren }) {
  return <p class="empty">{p.children}</p>;
}

/** A large figure with its name. */
export function Figure(p: { name: ComponentChildren; value: ComponentChildren; unit?: ComponentChildren; note?: ComponentChildren }) {
  return (
    <div class="figure">
      <dt>{p.name}</dt>
      <dd><span class="value">{p.value}</span>{p.unit && <span class="unit">{p.unit}</span>}{p.note && <span class="sub">{p.note}</span>}</dd>
    </div>
  );
}

/** More launches are not in a list to choose from; the table of the summary has all. */
const mostChoices = 2000;

/** The launch that a page shows, or the whole run for -1. */
export function LaunchChoice(p: { result: Result; at: number; page: string; whole: string; run: number }) {
  const list = p.result.kernels.map((k, i) => ({ k, i })).filter(({ i }) => i < mostChoices || i === p.at);
  return (
    <label>Launch <select value={String(p.at)} onChange={(e) => {
      const to = Number(e.currentTarget.value);
      go({ page: p.page, launch: to < 0 ? null : p.result.kernels[to].launch, run: p.run });
    }}>
      <option value="-1">{p.whole}</option>
      {list.map(({ k, i }) => <option key={i} value={String(i)}>{k.launch}: {p.result.page.kernelName(k.name)}</option>)}
    </select></label>
  );
}

// Tables.

export interface Column<T> {
  key: string;
  head: ComponentChildren;
  text?: boolean; // left-aligned
  cell: (row: T) => ComponentChildren;
  value?: (row: T) => number | string; // to sort by
  class?: string;
}

/** Rows above this number are drawn only where they can be seen. */
const mostRows = 150;
const rowHeight = 30, height = 520;

export function Table<T>(p: { columns: Column<T>[]; rows: T[]; label: string; sort?: string; rowClass?: (row: T) => string; onRow?: (row: T) => void }) {
  const [by, setBy] = useState<{ key: string; down: boolean } | null>(p.sort ? { key: p.sort, down: true } : null);
  const rows = useMemo(() => {
    const c = by && p.columns.find((c) => c.key === by.key);
    if (!c?.value) return p.rows;
    const value = c.value, sign = by!.down ? -1 : 1;
    const keyed = p.rows.map((r, i) => [value(r), i] as const);
    keyed.sort((a, b) => (a[0] < b[0] ? -sign : a[0] > b[0] ? sign : a[1] - b[1]));
    return keyed.map((k) => p.rows[k[1]]);
  }, [p.rows, by, p.columns]);
  const many = rows.length > mostRows;
  const [top, setTop] = useState(0);
  const frame = useRef(0);
  const scrolled = (e: Event) => {
    const y = (e.currentTarget as HTMLElement).scrollTop;
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => setTop(y));
  };
  const from = many ? Math.max(0, Math.min(rows.length, Math.floor(top / rowHeight)) - 10) : 0;
  const to = many ? Math.min(rows.length, from + Math.ceil(height / rowHeight) + 20) : rows.length;
  const head = (c: Column<T>) => {
    const sortable = c.value !== undefined;
    const dir = by?.key === c.key ? (by.down ? "descending" : "ascending") : undefined;
    const next = () => setBy({ key: c.key, down: by?.key === c.key ? !by.down : !c.text });
    return (
      <th key={c.key} scope="col" class={(c.text ? "text " : "") + (c.class === "wide" || c.class?.includes(" wide") ? "wide" : "")} aria-sort={dir}>
        {sortable ? <button type="button" class="sort" onClick={next}>{c.head}<span class="arrow" aria-hidden="true">{dir === "descending" ? "▾" : dir === "ascending" ? "▴" : ""}</span></button> : c.head}
      </th>
    );
  };
  const spacer = (n: number) => n > 0 && <tr class="spacer" aria-hidden="true"><td colSpan={p.columns.length} style={{ height: `${n * rowHeight}px` }} /></tr>;
  return (
    <div class={many ? "grid many" : "grid"} style={many ? { maxHeight: `${height}px` } : undefined} onScroll={many ? scrolled : undefined} tabIndex={0} role="region" aria-label={p.label}>
      <table aria-rowcount={many ? rows.length : undefined}>
        <thead><tr>{p.columns.map(head)}</tr></thead>
        <tbody>
          {spacer(from)}
          {rows.slice(from, to).map((r, i) => (
            <tr key={from + i} class={(p.rowClass?.(r) ?? "") + (p.onRow ? " link" : "")} aria-rowindex={many ? from + i + 1 : undefined} onClick={p.onRow ? (e) => (e.target as Element).closest("a,button") || p.onRow!(r) : undefined}>
              {p.columns.map((c) => <td key={c.key} class={(c.text ? "text " : "") + (c.class ?? "")}>{c.cell(r)}</td>)}
            </tr>
          ))}
          {spacer(rows.length - to)}
        </tbody>
      </table>
    </div>
  );
}

/** Rows of names and values. */
export function Facts(p: { rows: [ComponentChildren, ComponentChildren][] }) {
  return <dl class="facts">{p.rows.map(([k, v], i) => <div key={i}><dt>{k}</dt><dd>{v}</dd></div>)}</dl>;
}

// Bars.

export function Bar(p: { share: number; colour?: string }) {
  const w = Math.max(0, Math.min(1, p.share || 0)) * 100;
  return <span class="bar" aria-hidden="true"><span style={{ width: `${w}%`, background: p.colour }} /></span>;
}

/** States of warps side by side. Small parts have their name in the explanation only. */
export function Stack(p: { page: Page; counts: Numbers; of: string; label: string; tall?: boolean }) {
  const total = Object.values(p.counts).reduce((a, b) => a + b, 0);
  if (total === 0) return <span class="muted">–</span>;
  return (
    <span class={p.tall ? "stack tall" : "stack"} role="img" aria-label={`${p.label}: ${sorted(Object.keys(p.counts)).filter((s) => p.counts[s] > 0).map((s) => `${words(s)} ${percentOf(p.counts[s], total)}`).join(", ")}`}>
      {sorted(Object.keys(p.counts)).map((s) => {
        const n = p.counts[s];
        if (!n) return null;
        const c = colour(s), share = n / total, t = p.page.term(`${p.of}.${s}`);
        const tip = <Fragment><b>{words(s)}: {percentOf(n, total)}</b><p>{count(n)} {t?.unit ?? ""}</p>{t && <p>{t.meaning}</p>}</Fragment>;
        const show = (e: Event) => showTip({ of: e.currentTarget as Element, body: tip });
        return (
          <span key={s} style={{ width: `${share * 100}%`, background: c, color: ink(c) }} onMouseEnter={show} onMouseLeave={() => showTip(null)}>
            {p.tall && share > 0.085 && <span class="in">{words(s)}</span>}
          </span>
        );
      })}
    </span>
  );
}

export function Swatch(p: { state: string }) {
  return <i class="swatch" style={{ background: colour(p.state) }} aria-hidden="true" />;
}

/** The states as a table, largest first. */
export function States(p: { page: Page; counts: Numbers; of: string; unit: string }) {
  const total = Object.values(p.counts).reduce((a, b) => a + b, 0);
  const rows = Object.entries(p.counts).filter(([, n]) => n > 0).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  return (
    <Table label="States" rows={rows} columns={[
      { key: "state", head: "state", text: true, cell: ([s]) => <span class="nowrap"><Swatch state={s} /><Term page={p.page} name={`${p.of}.${s}`}>{words(s)}</Term></span> },
      { key: "kind", head: "waits for", text: true, class: "wide", cell: ([s]) => <span class="muted">{family(s)}</span> },
      { key: "n", head: p.unit, cell: ([, n]) => count(n), value: ([, n]) => n },
      { key: "share", head: "share", cell: ([, n]) => percentOf(n, total), value: ([, n]) => n },
      { key: "bar", head: "", text: true, class: "barcell wide", cell: ([s, n]) => <Bar share={n / total} colour={colour(s)} /> },
    ]} />
  );
}

export function Status(p: { ok: boolean; children: ComponentChildren }): VNode {
  return <span class={p.ok ? "status ok" : "status bad"}><span aria-hidden="true">{p.ok ? "✓" : "✗"}</span> {p.children}</span>;
}
