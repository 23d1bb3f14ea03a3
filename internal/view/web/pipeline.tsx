// The way of each instruction through the pipeline: what is recorded with the result, or a file that --timeline wrote.
import { Fragment, h } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Recorded, Result, WayInst } from "./data";
import { base, count, place, plural } from "./format";
import { ink } from "./palette";
import { Card, Empty } from "./parts";
import { href, lineOf } from "./route";

/** One instruction: the cycle in which each of its stages began, and its end; the line and what it waited for where that was recorded. */
interface Inst { thread: number; name: string; detail: string; stages: [stage: number, from: number][]; end: number; flushed: boolean; at?: WayInst; more?: string; waits?: Inst }
export interface Ways { stages: string[]; list: Inst[]; complete: boolean }

/** More instructions than these are left out (our choice: what a browser holds easily). */
const most = 200_000;

/** Reads Konata's format, a piece at a time. */
export class Kanata {
  private rest = "";
  private now = 0;
  private at = new Map<number, Inst>();
  private numbers = new Map<string, number>();
  private first = true;
  readonly ways: Ways = { stages: [], list: [], complete: true };

  /** Takes a piece of the file; false means that no more is wanted. */
  add(piece: string): boolean {
    const lines = (this.rest + piece).split("\n");
    this.rest = lines.pop()!;
    for (const l of lines) this.line(l);
    return this.ways.complete;
  }

  end(): Ways {
    if (this.rest !== "") this.line(this.rest);
    if (this.first) throw new Error("The file is empty.");
    this.ways.list = this.ways.list.filter((i) => i.stages.length > 0);
    for (const i of this.ways.list) if (i.end < i.stages[i.stages.length - 1][1]) i.end = i.stages[i.stages.length - 1][1];
    return this.ways;
  }

  private line(text: string): void {
    const f = text.split("\t");
    if (this.first) {
      if (f[0] !== "Kanata") throw new Error("This is not a file of heddle run --timeline FILE.kanata: it does not begin with Kanata.");
      this.first = false;
      return;
    }
    const id = Number(f[1]), i = this.at.get(id);
    switch (f[0]) {
      case "C=": this.now = id; break;
      case "C": this.now += id; break;
      case "I":
        if (this.ways.list.length >= most) {
          this.ways.complete = false;
          return;
        }
        const inst: Inst = { thread: Number(f[3]), name: "", detail: "", stages: [], end: 0, flushed: false };
        this.at.set(id, inst);
        this.ways.list.push(inst);
        break;
      case "L":
        if (i && f[2] === "0") i.name += f[3];
        else if (i) i.detail += f[3];
        break;
      case "S":
        if (!i) break;
        let n = this.numbers.get(f[3]);
        if (n === undefined) this.numbers.set(f[3], (n = this.ways.stages.push(f[3]) - 1));
        i.stages.push([n, this.now]);
        break;
      case "E": if (i) i.end = this.now; break;
      case "R":
        if (i) {
          i.end = Math.max(i.end, this.now);
          i.flushed = f[3] === "1";
        }
        this.at.delete(id);
        break;
    }
  }
}

const names: Record<string, string> = { F: "fetch", D: "decode", Is: "issue", C: "control", A: "allocate", Rd: "read operands", Dp: "dispatch", X: "execute", M: "memory", Wb: "write back" };
const fills = ["#f2e449", "#c4b414", "#009e73", "#7fd0b8", "#8a6fc7", "#62bdf0", "#0062a8", "#c8500a", "#c46a9e", "#b9c1c9"];

const rowHeight = 18;

/** More cycles are not recorded at a time; MostWayCycles of internal/run. */
const mostCycles = 4000;

/** What a page has of the ways of instructions, as a chart shows them. */
function waysOf(r: Recorded): Ways {
  const list: Inst[] = [], before = new Map<string, Inst>(), open = new Set(r.open ?? []);
  r.instruction.forEach((n, i) => {
    const at = r.instructions[n], stages: Inst["stages"] = [];
    let cycle = r.from_cycle;
    r.at.forEach((column, s) => {
      cycle += column[i];
      if (s + 1 === r.stages.length || r.at[s + 1][i] > 0) stages.push([s, cycle]);
    });
    const slot = r.slot[i], inst: Inst = {
      thread: slot, name: `w${slot}: ${at.text}`, detail: at.text, stages, end: open.has(i) ? Math.max(cycle, r.to_cycle) : cycle + 1, flushed: false, at,
      more: `block ${count(r.block[i])}, warp ${r.warp[i]}, slot ${slot}, ${open.has(i) ? "in flight at the end of the recording" : `lanes ${r.lanes[i].toString(16).padStart(8, "0")}`}`,
      waits: before.get(`${slot} ${r.waited_for[i]}`),
    };
    before.set(`${slot} ${n}`, inst);
    list.push(inst);
  });
  return { stages: r.stages.map((s) => Object.keys(names).find((k) => names[k] === s) ?? s), list, complete: true };
}

export function Pipeline({ result, run }: { result: Result; run: number }) {
  const [file, setFile] = useState<{ name: string; ways: Ways } | null>(null), [chosen, choose] = useState(""); // of ranges, the last for ""
  const program = result.run.no_job && !result.run.trace; // of CUDA
  const [state, setState] = useState(""), [bad, setBad] = useState("");
  const ranges = result.run.ways ?? [], name = (r: Recorded) => `SM ${r.sm}, cycles ${count(r.from_cycle)} to ${count(r.to_cycle)}`;
  const range = ranges.find((r) => name(r) === chosen) ?? ranges[ranges.length - 1];
  const recorded = useMemo(() => range && waysOf(range), [range && name(range), range?.instruction.length]);
  const ways = file?.ways ?? recorded;
  const load = async (file: File | undefined) => {
    if (!file) return;
    setBad("");
    try {
      const k = new Kanata(), reader = file.stream().pipeThrough(new TextDecoderStream()).getReader();
      let read = 0;
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        read += value.length;
        setState(`reading, ${Math.round((100 * read) / file.size)} %`);
        if (!k.add(value)) {
          await reader.cancel();
          break;
        }
      }
      setFile({ name: file.name, ways: k.end() });
    } catch (e) {
      setBad(e instanceof Error ? e.message : String(e));
      setFile(null);
    }
    setState("");
  };
  return (
    <Fragment>
      <Card title="Pipeline">
        {ranges.length > 0 && <p class="links"><label>Recorded <select id="range" value={file ? "file" : name(range)} onChange={(e) => { setFile(null); choose(e.currentTarget.value); }}>
          {ranges.map((r) => <option key={name(r)}>{name(r)}</option>)}
          {file && <option value="file">{file.name}</option>}
        </select></label></p>}
        {result.page.holds && <Ask result={result} asked={() => { setFile(null); choose(""); }} />}
        <p>{ranges.length > 0 ? "Each instruction as a row, its stages as bars. The page has the first instructions of SM 0. For those of all SMs, make a file" : "Each instruction as a row, its stages as bars. Make a file"} with <code>{program ? `heddle cuda --timeline way.kanata -- ${result.run.input}` : `heddle run ${result.run.input} --timeline way.kanata`}</code> and open it here; it does not leave this computer.</p>
        <p class="links"><label>File <input id="kanata" type="file" accept=".kanata,.log,.txt" onChange={(e) => void load(e.currentTarget.files?.[0])} /></label> {state && <span class="muted">{state}</span>}</p>
        {bad && <p class="message bad" role="alert">{bad}</p>}
      </Card>
      {ways && (ways.list.length > 0 ? <Chart key={file?.name ?? name(range)} ways={ways} run={run} /> : <Card><Empty>The file has no instructions.</Empty></Card>)}
    </Fragment>
  );
}

/** Asks a run that goes on to record cycles of an SM; a paused one makes a step for that. */
function Ask({ result, asked }: { result: Result; asked: () => void }) {
  const [sm, setSM] = useState(0), [cycles, setCycles] = useState(500), [waiting, wait] = useState(0), last = result.run.ways?.length ?? 0;
  const newest = last > 0 ? result.run.ways![last - 1].from_cycle : -1;
  return (
    <form class="links" id="record" onSubmit={(e) => {
      e.preventDefault();
      wait(newest + 1);
      asked();
      fetch(`record?sm=${sm}&cycles=${cycles}`, { method: "POST" }).catch(() => wait(0));
    }}>
      <label>SM <input type="number" min={0} max={result.run.sms - 1} value={sm} onInput={(e) => setSM(e.currentTarget.valueAsNumber)} /></label>
      <label>Cycles <input type="number" min={1} max={mostCycles} value={cycles} onInput={(e) => setCycles(e.currentTarget.valueAsNumber)} /></label>
      <button type="submit">Record from now on</button>
      {waiting > 0 && waiting === newest + 1 && <span class="muted" role="status">recording …</span>}
    </form>
  );
}

function Chart({ ways, run }: { ways: Ways; run: number }) {
  const [thread, setThread] = useState(-1), [filter, setFilter] = useState(""), [zoom, setZoom] = useState(8);
  const [scroll, setScroll] = useState({ x: 0, y: 0, w: 800, h: 560 });
  const [on, setOn] = useState<Inst | null>(null), [shift, setShift] = useState(0);
  const box = useRef<HTMLDivElement>(null);
  const threads = useMemo(() => {
    const seen = new Map<number, string>();
    for (const i of ways.list) if (!seen.has(i.thread)) seen.set(i.thread, i.name.split(":")[0]);
    return [...seen].sort((a, b) => a[0] - b[0]);
  }, [ways]);
  const list = useMemo(() => ways.list.filter((i) => (thread < 0 || i.thread === thread) && (filter === "" || i.name.toLowerCase().includes(filter.toLowerCase()) || i.detail.toLowerCase().includes(filter.toLowerCase()))), [ways, thread, filter]);
  useEffect(() => {
    const el = box.current!;
    const o = new ResizeObserver(() => setScroll((s) => ({ ...s, w: el.clientWidth, h: el.clientHeight })));
    o.observe(el);
    return () => o.disconnect();
  }, []);
  useEffect(() => {
    box.current!.scrollTop = 0;
    setShift(0);
    setScroll((s) => ({ ...s, y: 0 }));
  }, [thread, filter]);
  const left = scroll.w < 600 ? 130 : 330, from = Math.max(0, Math.floor(scroll.y / rowHeight) - 5), to = Math.min(list.length, from + Math.ceil(scroll.h / rowHeight) + 10);
  // The first row that is seen decides which cycles are: its issue stands at a quarter of the width, and as
  // instructions go down to the right, so does the view.
  const head = list[Math.min(list.length - 1, Math.floor(scroll.y / rowHeight))], issue = ways.stages.indexOf("Is");
  const issueOf = (i: Inst) => (i.stages.find(([s]) => s === issue) ?? i.stages[0])[1], anchor = head ? issueOf(head) : 0;
  const step = (scroll.w - left) / zoom / 4, origin = Math.round(anchor - step + shift), x = (c: number) => left + (c - origin) * zoom;
  // From the end of what the warp waited for to the issue of the instruction after the wait.
  const arrow = (to: Inst, waits: Inst) => {
    const rows = [list.indexOf(waits), list.indexOf(to)], [y1, y2] = rows.map((r) => (r - from + 0.5) * rowHeight), [x1, x2] = [waits.end, issueOf(to)].map((c) => Math.max(left, Math.min(scroll.w - 4, x(c))));
    return rows[0] >= 0 && rows[1] >= 0 && <path class="arrow" d={`M${x1} ${y1}H${x2}V${y2 - 7}m-3 -5l3 5l3 -5`} />;
  };
  // Left and right move the cycles; up and down choose an instruction, which stays in sight.
  const keys = (e: KeyboardEvent) => {
    const page = Math.max(1, Math.floor(scroll.h / rowHeight) - 1), by = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -list.length, End: list.length }[e.key];
    if (e.key === "ArrowLeft") setShift(shift - step / 2);
    else if (e.key === "ArrowRight") setShift(shift + step / 2);
    else if (e.key === "Escape") setOn(null);
    else if (by !== undefined && list.length > 0) {
      const was = on ? list.indexOf(on) : -1, first = Math.floor(scroll.y / rowHeight);
      const n = was < 0 && Math.abs(by) < list.length ? Math.min(first, list.length - 1) : Math.max(0, Math.min(list.length - 1, was + by));
      setOn(list[n]);
      const el = box.current!, top = n * rowHeight;
      if (top < el.scrollTop) el.scrollTop = top;
      else if (top + rowHeight > el.scrollTop + el.clientHeight) el.scrollTop = top + rowHeight - el.clientHeight;
    } else return;
    e.preventDefault();
  };
  return (
    <Card title={<Fragment>Instructions <span class="muted">{count(list.length)}{list.length < ways.list.length && ` of ${count(ways.list.length)}`}</span></Fragment>} more={<Fragment>
      <label>Warp <select value={String(thread)} onChange={(e) => setThread(Number(e.currentTarget.value))}><option value="-1">all</option>{threads.map(([t, name]) => <option key={t} value={String(t)}>{name}</option>)}</select></label>
      <label>Filter <input id="filter" type="search" value={filter} onInput={(e) => setFilter(e.currentTarget.value)} /></label>
      <span class="group"><button type="button" aria-label="Earlier" onClick={() => setShift(shift - step)}>◀</button><button type="button" aria-label="Later" onClick={() => setShift(shift + step)}>▶</button></span>
      <span class="group"><button type="button" aria-label="Smaller" onClick={() => setZoom(Math.max(0.25, zoom / 2))}>−</button><button type="button" aria-label="Larger" onClick={() => setZoom(Math.min(64, zoom * 2))}>+</button></span>
    </Fragment>}>
      <p class="legend">{ways.stages.map((s, i) => <span key={s}><i class="swatch" style={{ background: fills[i % fills.length] }} />{names[s] ?? s}</span>)}</p>
      <div class="ways" style={{ height: `${Math.min(560, list.length * rowHeight + 4)}px` }} ref={box} tabIndex={0} role="region" aria-label={`${plural(list.length, "instruction", "instructions")} in the pipeline`} onKeyDown={keys} onScroll={(e) => { const el = e.currentTarget; setScroll((s) => ({ ...s, x: el.scrollLeft, y: el.scrollTop })); }}>
        <div style={{ height: `${list.length * rowHeight}px` }}>
          <svg width={scroll.w} height={(to - from) * rowHeight} style={{ transform: `translateY(${from * rowHeight}px)` }}>
            {list.slice(from, to).map((i, n) => (
              <g key={from + n} class={(on === i ? "on" : on?.waits === i ? "for" : "") + (i.flushed ? " flushed" : "")} transform={`translate(0 ${n * rowHeight})`} onMouseEnter={() => setOn(i)} onClick={() => setOn(i)}>
                <rect class="back" width={scroll.w} height={rowHeight} />
                <text x="4" y="13">{i.name.slice(0, Math.floor((left - 12) / 6.7))}</text>
                {i.stages.map(([s, c], k) => {
                  const end = k + 1 < i.stages.length ? i.stages[k + 1][1] : i.end, a = Math.max(left, x(c)), b = Math.min(scroll.w, x(end)), fill = fills[s % fills.length];
                  return b > a && <g key={k}><rect x={a} y="2" width={b - a} height={rowHeight - 4} fill={fill} />{b - a > 14 && <text class="stage" x={a + 3} y="13" style={{ fill: ink(fill) }}>{ways.stages[s]}</text>}</g>;
                })}
              </g>
            ))}
            {on?.waits && arrow(on, on.waits)}
          </svg>
        </div>
      </div>
      <p class="note" role="status">{on ? <Fragment><b>{on.detail}</b>{on.at && <Fragment>, <a href={href({ page: "source", launch: on.at.launch, run, query: lineOf(on.at) })}>{on.at.source_line ? `${base(on.at.source_file!)}:${on.at.source_line}` : place(on.at)}</a> of launch {on.at.launch}, {on.more}</Fragment>}: {on.stages.map(([s, c], k) => `${names[ways.stages[s]] ?? ways.stages[s]} ${count(c)} (${(k + 1 < on.stages.length ? on.stages[k + 1][1] : on.end) - c})`).join(", ")}{on.flushed && "; flushed"}{on.waits && `. Its warp waited for ${on.waits.detail}, which issued in cycle ${count(issueOf(on.waits))}.`}</Fragment>
        : <Fragment>Cycles {count(Math.max(0, origin))} to {count(Math.max(0, origin + 4 * step))}. Point at an instruction, or choose one by the arrow keys, for its stages with their cycles.{!ways.complete && ` The file has more than ${count(most)} instructions; the rest was left out.`}</Fragment>}</p>
    </Card>
  );
}
