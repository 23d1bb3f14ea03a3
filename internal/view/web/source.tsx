// The source: the program's text and the source that it was compiled from, side by side, with
// what each line cost.
import { Fragment, h } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { group, type Hazard, type Line, type Result } from "./data";
import { base, count, fixed, percent, percentOf, place, plural, ratio, words } from "./format";
import { Card, Empty, Facts, Hint, LaunchChoice, Stack, States, Term } from "./parts";
import { type Route, replaceQuery } from "./route";
import { Waits, consumers, marks, producers } from "./waits";

interface Row { no: number; label: string; text: string; key: string; line?: Line; hazard?: Hazard }
interface File { name: string; rows: Row[]; whole: boolean; cycles: number }

/** What lines can be coloured by. */
const heats: Record<string, [string, (l: Line) => number]> = {
  cycles: ["warp cycles", (l) => l.cycles],
  issues: ["warp instructions", (l) => l.issues],
  sectors: ["memory sectors", (l) => l.sectors],
  conflicts: ["bank conflict cycles", (l) => l.conflicts],
  idle: ["inactive lanes", (l) => Math.max(0, 32 * l.issues - l.threads)],
};

export function Source({ result, route, at }: { result: Result; route: Route; at: number }) {
  const lines = result.lines(at);
  const [heat, setHeat] = useState("cycles");
  const hazards = useMemo(() => (result.run.checkers ?? []).flatMap((c) => c.hazards ?? []).filter((x) => at < 0 || x.launch === result.kernels[at].launch), [result, at]);
  const program = useMemo(() => files(result, lines, (l) => textOf(result, l), (l) => l.line, hazards), [lines]);
  const source = useMemo(() => files(result, lines, (l) => l.sourceFile, (l) => l.sourceLine, []), [lines]);
  const key = (l: Line) => rowKey(l.file, l.line, l.pc, partOf(l));
  const both = source.length > 0;
  // The hottest lines: of the source, if there is one, else of the program.
  const hottest = useMemo(() => {
    const value = heats[heat][1], all = both ? group(lines, (l) => (l.sourceLine > 0 ? `${l.sourceFile}:${l.sourceLine}` : "")) : group(lines, key);
    return [...all].filter(([, l]) => value(l) > 0).sort((a, b) => value(b[1]) - value(a[1])).slice(0, 20).map(([k]) => k);
  }, [lines, heat, both]);
  const start = hottest[0] ?? "";
  // An address without a line names an instruction by its place in the kernel alone.
  const asked = useMemo(() => {
    const line = route.query.line;
    const l = line?.startsWith("pc:") ? lines.find((l) => l.line <= 0 && `pc:${l.pc}` === line) : undefined;
    return l ? key(l) : line ?? start;
  }, [route.query.line, lines, start]);
  const [selected, select] = useState(asked);
  const [shown, show] = useState("program"); // on narrow screens
  useEffect(() => select(asked), [route.query.line, at]);
  // The program's lines that are selected: one, or all of a source line.
  const chosen = useMemo(() => lines.filter((l) => key(l) === selected || `${l.sourceFile}:${l.sourceLine}` === selected), [lines, selected]);
  const marked = useMemo(() => new Set(chosen.flatMap((l) => [key(l), `${l.sourceFile}:${l.sourceLine}`])), [chosen]);
  const [from, to] = useMemo(() => [producers(chosen, lines), consumers(chosen, lines)], [chosen, lines]);
  const waited = useMemo(() => marks(from, key), [from]);
  const pick = (k: string) => {
    select(k);
    replaceQuery(route, { line: k });
  };
  const jump = (step: number) => {
    if (hottest.length === 0) return;
    const now = hottest.indexOf(selected);
    pick(hottest[now < 0 ? 0 : (now + step + hottest.length) % hottest.length]);
  };
  useEffect(() => {
    const f = (e: KeyboardEvent) => {
      if ((e.target as Element).closest("input,select") || e.ctrlKey || e.metaKey || e.altKey) return;
      if (e.key === "h") jump(1);
      if (e.key === "H") jump(-1);
    };
    addEventListener("keydown", f);
    return () => removeEventListener("keydown", f);
  });
  if (lines.length === 0) {
    return <Card title="Source"><Empty>{result.timing ? "No instruction of this launch was counted by line." : "A functional run does not count by line. Run without --mode functional."}</Empty></Card>;
  }
  const total = lines.reduce((a, l) => a + heats[heat][1](l), 0);
  return (
    <Fragment>
      <Card class="toolbar">
        <LaunchChoice result={result} at={at} page="source" whole="all launches" run={route.run} />
        <label>Colour by <select value={heat} onChange={(e) => setHeat(e.currentTarget.value)}>{Object.entries(heats).map(([k, [name]]) => <option key={k} value={k}>{name}</option>)}</select></label>
        <span class="group"><button type="button" onClick={() => jump(1)}>Hottest line <kbd>h</kbd></button></span>
        <span class="muted">{count(total)} {heats[heat][0]}</span>
        {both && <span class="group narrow"><button type="button" aria-pressed={shown === "source"} onClick={() => show("source")}>Source</button><button type="button" aria-pressed={shown === "program"} onClick={() => show("program")}>Program</button></span>}
      </Card>
      <div class={both ? `panes ${shown}` : "panes one"}>
        {both && <Pane kind="source" files={source} result={result} heat={heat} total={total} marked={marked} selected={selected} waited={waited} pick={pick} />}
        <Pane kind="program" files={program} result={result} heat={heat} total={total} marked={marked} selected={selected} waited={waited} pick={pick} />
      </div>
      {chosen.length > 0 && <Detail result={result} lines={chosen} all={lines} hazards={hazards} />}
      <Waits page={result.page} from={from} to={to} cycles={chosen.reduce((a, l) => a + l.cycles, 0)} pick={(l) => pick(key(l))} />
    </Fragment>
  );
}

function rowKey(file: string, line: number, pc: number, fn: string): string {
  return line > 0 ? `${file}:${line}` : `${fn} pc:${pc}`;
}

/** The function of a line; of two modules with kernels of one name, the second has a number. */
function partOf(l: Line): string {
  return l.copy > 0 ? `${l.fn} (${l.copy + 1})` : l.fn;
}

/** What a line is part of: a file, or a kernel without a text. */
function textOf(result: Result, l: Line): string {
  return l.line > 0 ? l.file : [l.file, result.page.kernelName(l.fn) + (l.copy > 0 ? ` (${l.copy + 1})` : "")].filter((s) => s !== "").join(", ");
}

/** The files of a program or its source, most expensive first. */
function files(result: Result, lines: Line[], file: (l: Line) => string, line: (l: Line) => number, hazards: Hazard[]): File[] {
  const byLine = group(lines, (l) => (file(l) === "" ? "" : rowKey(file(l), line(l), l.pc, partOf(l))));
  const hazard = new Map(hazards.map((x) => [rowKey(x.instruction.file, x.instruction.line, x.instruction.pc, x.kernel), x]));
  const names = [...new Set(lines.map(file))].filter((n) => n !== "");
  return names.map((name) => {
    const text = result.source(name);
    const own = [...byLine.values()].filter((l) => file(l) === name);
    const cycles = own.reduce((a, l) => a + l.cycles, 0);
    const rows: Row[] = [];
    if (text !== undefined && own.every((l) => line(l) > 0)) {
      text.split(/\r?\n/).forEach((t, i) => {
        const key = `${name}:${i + 1}`;
        rows.push({ no: i + 1, label: String(i + 1), text: t.replaceAll("\t", "    "), key, line: byLine.get(key), hazard: hazard.get(key) });
      });
    } else {
      for (const l of own) {
        const key = rowKey(name, line(l), l.pc, partOf(l)), no = line(l) > 0 ? line(l) : l.pc;
        rows.push({ no, label: l.file === "" ? no.toString(16) : String(no), text: file(l) !== l.sourceFile ? l.text : "", key, line: l, hazard: hazard.get(key) });
      }
      rows.sort((a, b) => a.no - b.no);
    }
    return { name, rows, whole: text !== undefined, cycles };
  }).sort((a, b) => b.cycles - a.cycles);
}

const rowHeight = 22;

function Pane(p: { kind: "source" | "program"; files: File[]; result: Result; heat: string; total: number; marked: Set<string>; selected: string; waited: Map<string, string>; pick: (key: string) => void }) {
  const [name, setName] = useState(p.files[0]?.name ?? "");
  const file = p.files.find((f) => f.name === name) ?? p.files[0];
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const value = heats[p.heat][1];
  const most = useMemo(() => Math.max(1, ...file.rows.map((r) => (r.line ? value(r.line) : 0)).reduce((a, n) => (n > a[0] ? [n] : a), [0])), [file, p.heat]);
  useEffect(() => {
    const el = box.current;
    if (!el) return;
    const o = new ResizeObserver(() => setHeight(el.clientHeight));
    o.observe(el);
    return () => o.disconnect();
  }, []);
  // Bring what was selected elsewhere into sight: the most expensive of the lines that belong to it.
  useEffect(() => { // not when the reader has chosen another file
    const other = p.files.find((f) => f.name !== file.name && f.rows.some((r) => r.line && p.marked.has(r.key)));
    if (p.selected !== "" && !file.rows.some((r) => p.marked.has(r.key)) && other) setName(other.name);
  }, [p.selected, p.marked]);
  useEffect(() => {
    if (p.selected === "") return;
    let best = -1;
    file.rows.forEach((r, i) => {
      if (r.key === p.selected || (p.marked.has(r.key) && (best < 0 || (file.rows[best].key !== p.selected && (r.line?.cycles ?? 0) > (file.rows[best].line?.cycles ?? 0))))) best = i;
    });
    const el = box.current;
    if (best < 0 || !el) return;
    const y = best * rowHeight;
    if (y < el.scrollTop || y + rowHeight > el.scrollTop + el.clientHeight) el.scrollTop = Math.max(0, y - el.clientHeight / 3);
  }, [p.selected, p.marked, file]);
  const from = Math.max(0, Math.floor(top / rowHeight) - 20), to = Math.min(file.rows.length, from + Math.ceil(height / rowHeight) + 40);
  const wide = useMemo(() => file.rows.reduce((a, r) => Math.max(a, r.text.length), 20), [file]);
  const [hasControl, byPC] = useMemo(() => [file.rows.some((r) => r.line && r.line.control !== ""), file.rows.some((r) => r.key.includes(" pc:"))], [file]);
  const control = useMemo(() => p.kind === "program" && file.rows.some((r) => r.line && r.line.control !== "" && !r.text.includes(r.line.control)), [file]);
  const moved = (e: KeyboardEvent) => {
    const step = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    if (!step) return;
    e.preventDefault();
    let i = file.rows.findIndex((r) => r.key === p.selected);
    if (i < 0) i = step > 0 ? -1 : file.rows.length;
    for (i += step; i >= 0 && i < file.rows.length && !file.rows[i].line; i += step);
    if (i >= 0 && i < file.rows.length) p.pick(file.rows[i].key);
  };
  const style = { "--code": `${wide + 2}ch` } as unknown as Record<string, string>;
  return (
    <section class={`card pane ${p.kind}`} aria-label={p.kind === "source" ? "Source" : "Program"}>
      <header>
        <h2>{p.kind === "source" ? "Source" : file.name.endsWith(".ptx") ? "PTX" : file.name.endsWith(".sass") || hasControl ? "SASS" : "Program"}</h2>
        {p.files.length > 1 ? <select aria-label="File" value={file.name} onChange={(e) => setName(e.currentTarget.value)}>{p.files.map((f) => <option key={f.name} value={f.name}>{f.name}</option>)}</select> : <span class="muted file" title={file.name}>{file.name}</span>}
      </header>
      {!file.whole && file.rows.length > 0 && !(file.rows[0].line && file.rows[0].line.file === "") && <p class="note">The text of this file was not found; {p.kind === "source" ? "lines without counters are left out. Give its folder with --source-root." : "instructions that never ran are left out."}</p>}
      <div class={control ? "code control" : "code"} ref={box} style={style} tabIndex={0} role="region" aria-label={`${file.name}, ${plural(file.rows.length, "line", "lines")}; arrow keys select`} onScroll={(e) => setTop(e.currentTarget.scrollTop)} onKeyDown={moved}>
        <div class="row head" aria-hidden="true">
          <span class="no">{byPC ? "pc" : "line"}</span><span class="heat">share</span><span>states</span><span class="n">issues</span><span class="text">text</span>
          {control && <span class="ctl">control</span>}<span class="n">lanes</span><span class="n">sectors/req</span><span class="n">conflicts</span><span class="n br">taken/not/div</span>
        </div>
        <div style={{ height: `${from * rowHeight}px` }} />
        {file.rows.slice(from, to).map((r) => {
          const l = r.line, n = l ? value(l) : 0, share = n / most;
          return (
            <div key={r.key} class={"row" + (p.marked.has(r.key) || r.key === p.selected ? " on" : "") + (l ? " live" : "") + (r.hazard ? " hazard" : "") + (p.waited.has(r.key) ? " from" : "")} onClick={l ? () => p.pick(r.key) : undefined} aria-current={r.key === p.selected ? "true" : undefined}>
              <span class="no">{r.hazard ? <b title={`hazard: ${r.hazard.register} ${words(r.hazard.kind)}`}>⚠ {r.label}</b> : r.label}</span>
              <span class="heat"><i style={{ width: `${100 * share}%` }} /><span>{n > 0 ? percentOf(n, p.total) : ""}</span></span>
              <span class="st">{l && l.cycles > 0 && <Stack page={p.result.page} counts={l.stalls} of="stalls" label={`line ${r.no}`} />}</span>
              <span class="n">{l ? count(l.issues) : ""}</span>
              <span class="text">{r.text}{p.waited.has(r.key) && <b class="from" title="share of the waits at the selected line that were for this one">◂ {p.waited.get(r.key)}</b>}</span>
              {control && <span class="ctl">{l?.control}</span>}
              <span class="n">{l && l.issues > 0 ? fixed(l.threads / l.issues, 1) : ""}</span>
              <span class="n">{l && l.requests > 0 ? fixed(l.sectors / l.requests, 1) : ""}</span>
              <span class="n">{l && l.conflicts > 0 ? count(l.conflicts) : ""}</span>
              <span class="n br">{l?.branch ? `${count(l.taken)}/${count(l.notTaken)}/${count(l.diverged)}` : ""}</span>
            </div>
          );
        })}
        <div style={{ height: `${(file.rows.length - to) * rowHeight}px` }} />
      </div>
    </section>
  );
}

function Detail({ result, lines, all, hazards }: { result: Result; lines: Line[]; all: Line[]; hazards: Hazard[] }) {
  const page = result.page;
  const l = [...group(lines, () => "all").values()][0];
  const total = all.reduce((a, x) => a + x.cycles, 0);
  const first = lines[0];
  const title = lines.length === 1 ? first.text : `${base(first.sourceFile)}:${first.sourceLine}, ${plural(lines.length, "instruction", "instructions")}`;
  const own = hazards.filter((x) => lines.some((l) => rowKey(l.file, l.line, l.pc, partOf(l)) === rowKey(x.instruction.file, x.instruction.line, x.instruction.pc, x.kernel)));
  return (
    <Card title={<code>{title}</code>}>
      <div class="two">
        <Facts rows={[
          [<Term page={page} name="lines.warp_cycles">warp cycles</Term>, `${count(l.cycles)} (${percentOf(l.cycles, total)})`],
          [<Term page={page} name="lines.issues">issues</Term>, count(l.issues)],
          [<Term page={page} name="lines.thread_instructions">thread instructions</Term>, `${count(l.threads)} (${ratio(l.threads, l.issues, 1)} lanes an issue)`],
          ...(l.requests > 0 ? [
            [<Term page={page} name="lines.requests">memory requests</Term>, count(l.requests)] as [h.JSX.Element, string],
            [<Term page={page} name="lines.sectors">sectors</Term>, `${count(l.sectors)} (${fixed(l.sectors / l.requests, 1)} a request; ${fixed(l.least / l.requests, 1)} would do)`] as [h.JSX.Element, string],
          ] : []),
          ...(l.conflicts > 0 ? [[<Term page={page} name="lines.conflict_cycles">bank conflict cycles</Term>, count(l.conflicts)] as [h.JSX.Element, string]] : []),
          ...(l.branch ? [[<Term page={page} name="lines.diverged">branch</Term>, `taken ${count(l.taken)}, not taken ${count(l.notTaken)}, diverged ${count(l.diverged)} (${percent(l.diverged / Math.max(1, l.taken + l.notTaken + l.diverged))})`] as [h.JSX.Element, string]] : []),
          ...(first.control && lines.length === 1 ? [[<Hint tip={<p>Control code: barriers waited for (B), the barrier set when operands are read (R), the barrier set when the result is written (W), yield (Y), and the cycles to stall (S).</p>}>control code</Hint>, <code>{first.control}</code>] as [h.JSX.Element, h.JSX.Element]] : []),
          [<span>program</span>, <span>{[first.line > 0 ? place(first) : base(first.file), page.kernelName(first.fn), place({ file: first.file, pc: first.pc })].filter((s) => s !== "").join(", ")}</span>],
        ]} />
        <States page={page} counts={l.stalls} of="stalls" unit="warp cycles" />
      </div>
      {own.map((x, i) => <p key={i} class="message bad">Hazard: {x.register} {words(x.kind)}, {x.cycles_short > 0 ? `${plural(x.cycles_short, "cycle", "cycles")} too early` : "not waited for"}, {plural(x.times, "time", "times")}. {(x.fixes ?? []).length > 0 ? `Fix: ${x.fixes!.map((f) => `${place(f)} ${f.control}`).join(", ")}` : "Other instructions must come in between."}</p>)}
    </Card>
  );
}

