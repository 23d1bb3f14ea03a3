// The source: the program's text and the source that it was compiled from, side by side, with
// what each line cost.
import { Fragment, h, type ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Found, group, type Hazard, type Line, type Result } from "./data";
import { One, Sign, tally } from "./found";
import { base, count, fixed, percent, percentOf, place, plural, ratio, words } from "./format";
import { Card, Empty, Facts, Hint, LaunchChoice, Stack, States, Term } from "./parts";
import { type Route, replaceQuery } from "./route";
import { Waits, consumers, marks, producers } from "./waits";

interface Row { no: number; label: string; text: string; key: string; line?: Line; hazard?: Hazard; found?: Found[] }
interface File { name: string; rows: Row[]; whole: boolean; weight: number }

/** What lines can be coloured by: those of a functional run by the threads that reached them. */
const ran: [string, (l: Line) => number] = ["threads", (l) => l.ran];
const heats: Record<string, [string, (l: Line) => number]> = {
  cycles: ["warp cycles", (l) => l.cycles],
  issues: ["warp instructions", (l) => l.issues],
  sectors: ["memory sectors", (l) => l.sectors],
  conflicts: ["conflict cycles", (l) => l.conflicts],
  idle: ["inactive lanes", (l) => Math.max(0, 32 * l.issues - l.threads)],
};

export function Source({ result, route, at }: { result: Result; route: Route; at: number }) {
  const lines = result.lines(at);
  const [colour, setHeat] = useState("cycles");
  const heat = result.timing ? heats[colour] : ran;
  const hazards = useMemo(() => (result.run.checkers ?? []).flatMap((c) => c.hazards ?? []).filter((x) => at < 0 || x.launch === result.kernels[at].launch), [result, at]);
  const found = useMemo(() => foundAt(result, lines, at < 0 ? null : result.kernels[at].launch), [result, lines, at]);
  const program = useMemo(() => files(result, lines, (l) => textOf(result, l), (l) => l.line, hazards, found, isProgram), [lines, found]);
  const source = useMemo(() => files(result, lines, (l) => l.sourceFile, (l) => l.sourceLine, [], found, (n) => !isProgram(n)), [lines, found]);
  const key = (l: Line) => rowKey(l.file, l.line, l.pc, partOf(l));
  const both = source.length > 0 && program.length > 0;
  // The hottest lines: of the source, if there is one, else of the program.
  const hottest = useMemo(() => {
    const value = heat[1], all = source.length > 0 ? group(lines, (l) => (l.sourceLine > 0 ? `${l.sourceFile}:${l.sourceLine}` : "")) : group(lines, key);
    return [...all].filter(([, l]) => value(l) > 0).sort((a, b) => value(b[1]) - value(a[1])).slice(0, 20).map(([k]) => k);
  }, [lines, heat, both]);
  const places = useMemo(() => [...found.keys()].filter((k) => [...source, ...program].some((f) => f.rows.some((r) => r.key === k))), [found]);
  const start = (result.timing ? hottest[0] : places[0] ?? hottest[0]) ?? "";
  // An address without a line names an instruction by its place in the kernel alone.
  const asked = useMemo(() => {
    const line = route.query.line;
    const l = line?.startsWith("pc:") ? lines.find((l) => l.line <= 0 && `pc:${l.pc}` === line) : undefined;
    if (l) return key(l);
    const cut = line?.lastIndexOf(":") ?? -1;
    return line === undefined ? start : cut > 0 ? result.sameFile(line.slice(0, cut), [...source, ...program].map((f) => f.name)) + line.slice(cut) : line;
  }, [route.query.line, lines, start]);
  const [selected, select] = useState(asked);
  const [shown, show] = useState(source.some((f) => f.rows.some((r) => r.found && r.key === asked)) ? "source" : "program"); // on narrow screens
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
  const jump = (list: string[], step: number) => {
    if (list.length === 0) return;
    const now = list.indexOf(selected);
    pick(list[now < 0 ? 0 : (now + step + list.length) % list.length]);
  };
  useEffect(() => {
    const f = (e: KeyboardEvent) => {
      if ((e.target as Element).closest("input,select") || e.ctrlKey || e.metaKey || e.altKey) return;
      if (e.key === "h") jump(hottest, 1);
      if (e.key === "H") jump(hottest, -1);
      if (e.key === "f") jump(places, 1);
      if (e.key === "F") jump(places, -1);
    };
    addEventListener("keydown", f);
    return () => removeEventListener("keydown", f);
  });
  if (lines.length === 0 && found.size === 0) {
    return <Card title="Source"><Empty>{result.timing ? "No instruction of this launch was counted by line." : "The result has no lines: those of a functional run come with --html, and of PTX only."}</Empty></Card>;
  }
  const total = lines.reduce((a, l) => a + heat[1](l), 0);
  const pane = (kind: "source" | "program", list: File[]) => <Pane kind={kind} files={list} result={result} run={route.run} heat={heat} total={total} marked={marked} selected={selected} waited={waited} pick={pick} />;
  return (
    <Fragment>
      <Card class="toolbar">
        {result.timing && <LaunchChoice result={result} at={at} page="source" whole="all launches" run={route.run} />}
        {result.timing && <label>Colour by <select value={colour} onChange={(e) => setHeat(e.currentTarget.value)}>{Object.entries(heats).map(([k, [name]]) => <option key={k} value={k}>{name}</option>)}</select></label>}
        {hottest.length > 0 && <span class="group"><button type="button" onClick={() => jump(hottest, 1)}>Hottest line <kbd>h</kbd></button></span>}
        {result.timing ? <span class="muted">{count(total)} {heat[0]}</span> : lines.length > 0 && <span class="muted">threads that reached each line, all launches together</span>}
        {places.length > 0 && <span class="group"><button type="button" onClick={() => jump(places, 1)}>Next finding <kbd>f</kbd></button></span>}
        {result.found.length > 0 && <span class="muted">{tally(result.found)}</span>}
        {both && <span class="group narrow"><button type="button" aria-pressed={shown === "source"} onClick={() => show("source")}>Source</button><button type="button" aria-pressed={shown === "program"} onClick={() => show("program")}>Program</button></span>}
      </Card>
      <div class={both ? `panes ${shown}` : "panes one"}>
        {source.length > 0 && pane("source", source)}
        {program.length > 0 && pane("program", program)}
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

/** Whether a text is one that runs, and not one that was compiled. */
function isProgram(name: string): boolean {
  return /\.(ptx|sass|kasm)$/i.test(name);
}

/** What checkers found, by the keys of rows: at each of its places and their callers. */
function foundAt(result: Result, lines: Line[], launch: number | null): Map<string, Found[]> {
  const at = new Map<string, Found[]>(), names = [...new Set(lines.flatMap((l) => [l.sourceFile, l.file]))].filter((n) => n !== "");
  const code = new Map(lines.filter((l) => l.line <= 0).map((l) => [`${result.page.kernelName(l.fn)} pc:${l.pc}`, rowKey(l.file, l.line, l.pc, partOf(l))]));
  for (const f of result.found) {
    if (launch !== null && f.launch >= 0 && f.launch !== launch) continue;
    for (const p of (f.steps ?? []).flatMap((s) => [s, ...(s.chain ?? [])])) {
      let key = p.line ? "" : code.get(`${p.function} pc:${p.pc ?? 0}`) ?? "";
      if (p.line && p.file && !p.library) {
        const name = result.sameFile(p.file, names);
        if (!names.includes(name)) names.push(name);
        key = `${name}:${p.line}`;
      }
      const list = at.get(key) ?? [];
      if (key !== "" && !list.includes(f)) at.set(key, [...list, f]);
    }
  }
  return at;
}

/** The files of a program or its source, most expensive first, and those of findings. */
function files(result: Result, lines: Line[], file: (l: Line) => string, line: (l: Line) => number, hazards: Hazard[], found: Map<string, Found[]>, own: (name: string) => boolean): File[] {
  const byLine = group(lines, (l) => (file(l) === "" ? "" : rowKey(file(l), line(l), l.pc, partOf(l))));
  const hazard = new Map(hazards.map((x) => [rowKey(x.instruction.file, x.instruction.line, x.instruction.pc, x.kernel), x]));
  const cut = (k: string) => k.lastIndexOf(":"), only = [...found.keys()].filter((k) => !/ pc:\d+$/.test(k));
  const names = [...new Set([...lines.map(file), ...only.map((k) => k.slice(0, cut(k))).filter(own)])].filter((n) => n !== "");
  return names.map((name) => {
    const text = result.source(name);
    const counted = [...byLine.values()].filter((l) => file(l) === name);
    const rows: Row[] = [];
    if (text !== undefined && counted.every((l) => line(l) > 0)) {
      text.split(/\r?\n/).forEach((t, i) => {
        const key = `${name}:${i + 1}`;
        rows.push({ no: i + 1, label: String(i + 1), text: t.replaceAll("\t", "    "), key, line: byLine.get(key), hazard: hazard.get(key), found: found.get(key) });
      });
    } else {
      for (const l of counted) {
        const key = rowKey(name, line(l), l.pc, partOf(l)), no = line(l) > 0 ? line(l) : l.pc;
        rows.push({ no, label: l.file === "" ? no.toString(16) : String(no), text: file(l) !== l.sourceFile ? l.text : "", key, line: l, hazard: hazard.get(key), found: found.get(key) });
      }
      for (const key of only) {
        const no = Number(key.slice(cut(key) + 1));
        if (key.slice(0, cut(key)) === name && !byLine.has(key)) rows.push({ no, label: String(no), text: "", key, found: found.get(key) });
      }
      rows.sort((a, b) => a.no - b.no);
    }
    // Where the most serious finding is, then where most time is spent, comes first.
    const grave = Math.max(0, ...rows.map((r) => (r.found ? 1 + ["note", "warning", "error"].indexOf(r.found[0].level) : 0)).reduce((a, n) => (n > a[0] ? [n] : a), [0]));
    return { name, rows, whole: text !== undefined, weight: result.timing ? counted.reduce((a, l) => a + l.cycles, 0) : grave * 1e15 + counted.reduce((a, l) => a + l.ran, 0) };
  }).sort((a, b) => b.weight - a.weight);
}

const rowHeight = 22, mostPeek = 5;

function Pane(p: { kind: "source" | "program"; files: File[]; result: Result; run: number; heat: [string, (l: Line) => number]; total: number; marked: Set<string>; selected: string; waited: Map<string, string>; pick: (key: string) => void }) {
  const [name, setName] = useState(p.files[0]?.name ?? "");
  const file = p.files.find((f) => f.name === name) ?? p.files[0];
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const value = p.heat[1], timing = p.result.timing;
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
    const other = p.files.find((f) => f.name !== file.name && f.rows.some((r) => r.key === p.selected || (r.line && p.marked.has(r.key))));
    if (p.selected !== "" && !file.rows.some((r) => r.key === p.selected || p.marked.has(r.key)) && other) setName(other.name);
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
  // What was found at the selected line stands below it. Its height is measured once it is drawn.
  const [closed, close] = useState(""), peek = useRef<HTMLDivElement>(null), [tall, setTall] = useState(0);
  const opened = useMemo(() => file.rows.findIndex((r) => r.found && (r.key === p.selected || p.marked.has(r.key)) && r.key !== closed), [file, p.selected, p.marked, closed]);
  useEffect(() => close(""), [p.selected]);
  useLayoutEffect(() => setTall(opened < 0 ? 0 : peek.current?.offsetHeight ?? tall));
  useEffect(() => { // bring it into sight, with its line
    const el = box.current, at = peek.current?.getBoundingClientRect();
    if (!el || !at) return;
    const view = el.getBoundingClientRect(), below = at.bottom - view.bottom;
    if (below > 0) el.scrollTop += Math.max(0, Math.min(below, at.top - view.top - 3 * rowHeight));
  }, [opened, tall]);
  const over = opened >= 0 ? Math.max(0, Math.min(tall, top - (opened + 1) * rowHeight)) : 0;
  const from = Math.max(0, Math.floor((top - over) / rowHeight) - 20), to = Math.min(file.rows.length, from + Math.ceil(height / rowHeight) + 40);
  const wide = useMemo(() => file.rows.reduce((a, r) => Math.max(a, r.text.length), 20), [file]);
  const [hasControl, byPC] = useMemo(() => [file.rows.some((r) => r.line && r.line.control !== ""), file.rows.some((r) => r.key.includes(" pc:"))], [file]);
  const control = useMemo(() => p.kind === "program" && file.rows.some((r) => r.line && r.line.control !== "" && !r.text.includes(r.line.control)), [file]);
  const moved = (e: KeyboardEvent) => {
    if (e.key === "Escape" && opened >= 0) close(file.rows[opened].key);
    if (e.target !== e.currentTarget) return; // in what was found
    const step = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    if (!step) return;
    e.preventDefault();
    let i = file.rows.findIndex((r) => r.key === p.selected);
    if (i < 0) i = step > 0 ? -1 : file.rows.length;
    for (i += step; i >= 0 && i < file.rows.length && !file.rows[i].line && !file.rows[i].found; i += step);
    if (i >= 0 && i < file.rows.length) p.pick(file.rows[i].key);
  };
  const kinds = [control && "control", !timing && (file.rows.some((r) => r.line) ? "ran" : "plain"), file.rows.some((r) => r.found) && "marked"].filter(Boolean).join(" ");
  const style = { "--code": `${wide + 2}ch` } as unknown as Record<string, string>;
  return (
    <section class={`card pane ${p.kind}`} aria-label={p.kind === "source" ? "Source" : "Program"}>
      <header>
        <h2>{p.kind === "source" ? "Source" : file.name.endsWith(".ptx") ? "PTX" : file.name.endsWith(".sass") || hasControl ? "SASS" : "Program"}</h2>
        {p.files.length > 1 ? <select aria-label="File" value={file.name} onChange={(e) => setName(e.currentTarget.value)}>{p.files.map((f) => <option key={f.name} value={f.name}>{f.name}</option>)}</select> : <span class="muted file" title={file.name}>{file.name}</span>}
      </header>
      {!file.whole && file.rows.length > 0 && !(file.rows[0].line && file.rows[0].line.file === "") && <p class="note">The text of this file was not found; {p.kind === "source" ? "lines without counters are left out. Give its folder with --source-root." : "instructions that never ran are left out."}</p>}
      <div class={`code ${kinds}`} ref={box} style={style} tabIndex={0} role="region" aria-label={`${file.name}, ${plural(file.rows.length, "line", "lines")}; arrow keys select`} onScroll={(e) => setTop(e.currentTarget.scrollTop)} onKeyDown={moved}>
        <div class="row head" aria-hidden="true">
          <span class="no">{byPC ? "pc" : "line"}</span>
          {timing ? <Fragment><span class="heat">share</span><span>states</span><span class="n">issues</span></Fragment> : <span class="heat">threads</span>}
          <span class="text">text</span>
          {control && <span class="ctl">control</span>}
          {timing && <Fragment><span class="n">lanes</span><span class="n">sectors/req</span><span class="n">conflicts</span></Fragment>}
          <span class="n br">{timing ? "taken/not/div" : "taken/not"}</span>
        </div>
        <div style={{ height: `${from * rowHeight + (opened >= 0 && opened < from ? tall : 0)}px` }} />
        {file.rows.slice(from, to).map((r, i) => {
          const l = r.line, n = l ? value(l) : 0, share = n / most, live = l !== undefined || r.found !== undefined;
          const row = (
            <div key={r.key} class={"row" + (p.marked.has(r.key) || r.key === p.selected ? " on" : "") + (live ? " live" : "") + (r.hazard ? " hazard" : "") + (p.waited.has(r.key) ? " from" : "")} onClick={live ? () => (p.pick(r.key), close("")) : undefined} aria-current={r.key === p.selected ? "true" : undefined}>
              <span class="no">{r.found && <Sign level={r.found[0].level} />}{r.hazard ? <b title={`hazard: ${r.hazard.register} ${words(r.hazard.kind)}`}>⚠ {r.label}</b> : r.label}</span>
              <span class="heat"><i style={{ width: `${100 * share}%` }} /><span>{!timing ? l && count(n) : n > 0 ? percentOf(n, p.total) : ""}</span></span>
              {timing && <span class="st">{l && l.cycles > 0 && <Stack page={p.result.page} counts={l.stalls} of="stalls" label={`line ${r.no}`} />}</span>}
              {timing && <span class="n">{l ? count(l.issues) : ""}</span>}
              <span class="text">{r.text}{p.waited.has(r.key) && <b class="from" title="share of the waits at the selected line that were for this one">◂ {p.waited.get(r.key)}</b>}</span>
              {control && <span class="ctl">{l?.control}</span>}
              {timing && <span class="n">{l && l.issues > 0 ? fixed(l.threads / l.issues, 1) : ""}</span>}
              {timing && <span class="n">{l && l.requests > 0 ? fixed(l.sectors / l.requests, 1) : ""}</span>}
              {timing && <span class="n">{l && l.conflicts > 0 ? count(l.conflicts) : ""}</span>}
              <span class="n br">{l?.branch ? `${count(l.taken)}/${count(l.notTaken)}${timing ? `/${count(l.diverged)}` : ""}` : ""}</span>
            </div>
          );
          if (from + i !== opened) return row;
          return (
            <Fragment key={r.key}>
              {row}
              <div class="peek" ref={peek} style={{ width: `${box.current?.clientWidth ?? 0}px` }}>
                <button type="button" class="switch" onClick={() => (close(r.key), box.current?.focus())}>Close <kbd>Esc</kbd></button>
                {r.found!.slice(0, mostPeek).map((f, j) => <One key={j} f={f} run={p.run} result={p.result} />)}
                {r.found!.length > mostPeek && <p class="note">and {count(r.found!.length - mostPeek)} more at this line; the page Summary has them all.</p>}
              </div>
            </Fragment>
          );
        })}
        <div style={{ height: `${(file.rows.length - to) * rowHeight + (opened >= to ? tall : 0)}px` }} />
      </div>
    </section>
  );
}

type Fact = [ComponentChildren, ComponentChildren];

function Detail({ result, lines, all, hazards }: { result: Result; lines: Line[]; all: Line[]; hazards: Hazard[] }) {
  const page = result.page;
  const l = [...group(lines, () => "all").values()][0];
  const total = all.reduce((a, x) => a + x.cycles, 0);
  const first = lines[0];
  const title = lines.length === 1 ? first.text : `${base(first.sourceFile)}:${first.sourceLine}, ${plural(lines.length, "instruction", "instructions")}`;
  const own = hazards.filter((x) => lines.some((l) => rowKey(l.file, l.line, l.pc, partOf(l)) === rowKey(x.instruction.file, x.instruction.line, x.instruction.pc, x.kernel)));
  const facts: Fact[] = result.timing ? [
    [<Term page={page} name="lines.warp_cycles">warp cycles</Term>, `${count(l.cycles)} (${percentOf(l.cycles, total)})`],
    [<Term page={page} name="lines.issues">issues</Term>, count(l.issues)],
    [<Term page={page} name="lines.thread_instructions">thread instructions</Term>, `${count(l.threads)} (${ratio(l.threads, l.issues, 1)} lanes an issue)`],
    ...(l.requests > 0 ? [
      [<Term page={page} name="lines.requests">memory requests</Term>, count(l.requests)] as Fact,
      [<Term page={page} name="lines.sectors">sectors</Term>, `${count(l.sectors)} (${fixed(l.sectors / l.requests, 1)} a request; ${fixed(l.least / l.requests, 1)} would do)`] as Fact,
    ] : []),
    ...(l.conflicts > 0 ? [[<Term page={page} name="lines.conflict_cycles">conflict cycles</Term>, count(l.conflicts)] as Fact] : []),
    ...(l.branch ? [[<Term page={page} name="lines.diverged">branch</Term>, `taken ${count(l.taken)}, not taken ${count(l.notTaken)}, diverged ${count(l.diverged)} (${percent(l.diverged / Math.max(1, l.taken + l.notTaken + l.diverged))})`] as Fact] : []),
    ...(first.control && lines.length === 1 ? [[<Hint tip={<p>Control code: barriers waited for (B), the barrier set when operands are read (R), the barrier set when the result is written (W), yield (Y), and the cycles to stall (S).</p>}>control code</Hint>, <code>{first.control}</code>] as Fact] : []),
  ] : [
    [<Term page={page} name="lines.thread_instructions">threads</Term>, count(l.ran)],
    ...(l.branch ? [[<Term page={page} name="lines.taken">branch</Term>, `taken ${count(l.taken)}, not taken ${count(l.notTaken)}`] as Fact] : []),
  ];
  facts.push([<span>program</span>, <span>{[first.line > 0 ? place(first) : base(first.file), page.kernelName(first.fn), place({ file: first.file, pc: first.pc })].filter((s) => s !== "").join(", ")}</span>]);
  return (
    <Card title={<code>{title}</code>}>
      <div class="two">
        <Facts rows={facts} />
        {result.timing && <States page={page} counts={l.stalls} of="stalls" unit="warp cycles" />}
      </div>
      {own.map((x, i) => <p key={i} class="message bad">Hazard: {x.register} {words(x.kind)}, {x.cycles_short > 0 ? `${plural(x.cycles_short, "cycle", "cycles")} too early` : "not waited for"}, {plural(x.times, "time", "times")}. {(x.fixes ?? []).length > 0 ? `Fix: ${x.fixes!.map((f) => `${place(f)} ${f.control}`).join(", ")}` : "Other instructions must come in between."}</p>)}
    </Card>
  );
}

