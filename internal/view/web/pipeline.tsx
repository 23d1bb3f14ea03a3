// The way of each instruction through the pipeline, from a file that --timeline wrote.
import { Fragment, h } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Result } from "./data";
import { count, plural } from "./format";
import { ink } from "./palette";
import { Card, Empty } from "./parts";

/** One instruction: the cycle in which each of its stages began, and its end. */
interface Inst { thread: number; name: string; detail: string; stages: [stage: number, from: number][]; end: number; flushed: boolean }
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

const names: Record<string, string> = { F: "fetch", D: "decode", Is: "issue", C: "control", A: "allocate", Rd: "read operands", X: "execute", M: "memory", Wb: "write back" };
const fills = ["#f2e449", "#c4b414", "#009e73", "#7fd0b8", "#8a6fc7", "#62bdf0", "#0062a8", "#c8500a", "#c46a9e", "#b9c1c9"];

const rowHeight = 18;

export function Pipeline({ result }: { result: Result }) {
  const [ways, setWays] = useState<Ways | null>(null);
  const program = result.run.no_job && !result.run.trace; // of CUDA
  const [state, setState] = useState(""), [bad, setBad] = useState("");
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
      setWays(k.end());
    } catch (e) {
      setBad(e instanceof Error ? e.message : String(e));
      setWays(null);
    }
    setState("");
  };
  return (
    <Fragment>
      <Card title="Pipeline">
        <p>Each instruction as a row, its stages as bars. Make the file with <code>{program ? `heddle cuda --timeline way.kanata -- ${result.run.input}` : `heddle run ${result.run.input} --timeline way.kanata`}</code> and open it here; it does not leave this computer.</p>
        <p class="links"><label>File <input id="kanata" type="file" accept=".kanata,.log,.txt" onChange={(e) => void load(e.currentTarget.files?.[0])} /></label> {state && <span class="muted">{state}</span>}</p>
        {bad && <p class="message bad" role="alert">{bad}</p>}
      </Card>
      {ways && (ways.list.length > 0 ? <Chart ways={ways} /> : <Card><Empty>The file has no instructions.</Empty></Card>)}
    </Fragment>
  );
}

function Chart({ ways }: { ways: Ways }) {
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
  const anchor = head ? (head.stages.find(([s]) => s === issue) ?? head.stages[0])[1] : 0;
  const step = (scroll.w - left) / zoom / 4, origin = Math.round(anchor - step + shift), x = (c: number) => left + (c - origin) * zoom;
  return (
    <Card title={<Fragment>Instructions <span class="muted">{count(list.length)}{list.length < ways.list.length && ` of ${count(ways.list.length)}`}</span></Fragment>} more={<Fragment>
      <label>Warp <select value={String(thread)} onChange={(e) => setThread(Number(e.currentTarget.value))}><option value="-1">all</option>{threads.map(([t, name]) => <option key={t} value={String(t)}>{name}</option>)}</select></label>
      <label>Filter <input id="filter" type="search" value={filter} onInput={(e) => setFilter(e.currentTarget.value)} /></label>
      <span class="group"><button type="button" aria-label="Earlier" onClick={() => setShift(shift - step)}>◀</button><button type="button" aria-label="Later" onClick={() => setShift(shift + step)}>▶</button></span>
      <span class="group"><button type="button" aria-label="Smaller" onClick={() => setZoom(Math.max(0.25, zoom / 2))}>−</button><button type="button" aria-label="Larger" onClick={() => setZoom(Math.min(64, zoom * 2))}>+</button></span>
    </Fragment>}>
      <p class="legend">{ways.stages.map((s, i) => <span key={s}><i class="swatch" style={{ background: fills[i % fills.length] }} />{names[s] ?? s}</span>)}</p>
      <div class="ways" ref={box} tabIndex={0} role="region" aria-label={`${plural(list.length, "instruction", "instructions")} in the pipeline`} onKeyDown={(e) => { if (e.key === "ArrowLeft") setShift(shift - step / 2); if (e.key === "ArrowRight") setShift(shift + step / 2); }} onScroll={(e) => { const el = e.currentTarget; setScroll((s) => ({ ...s, x: el.scrollLeft, y: el.scrollTop })); }}>
        <div style={{ height: `${list.length * rowHeight}px` }}>
          <svg width={scroll.w} height={(to - from) * rowHeight} style={{ transform: `translateY(${from * rowHeight}px)` }}>
            {list.slice(from, to).map((i, n) => (
              <g key={from + n} class={(on === i ? "on" : "") + (i.flushed ? " flushed" : "")} transform={`translate(0 ${n * rowHeight})`} onMouseEnter={() => setOn(i)} onClick={() => setOn(i)}>
                <rect class="back" width={scroll.w} height={rowHeight} />
                <text x="4" y="13">{i.name.slice(0, Math.floor((left - 12) / 6.7))}</text>
                {i.stages.map(([s, c], k) => {
                  const end = k + 1 < i.stages.length ? i.stages[k + 1][1] : i.end, a = Math.max(left, x(c)), b = Math.min(scroll.w, x(end)), fill = fills[s % fills.length];
                  return b > a && <g key={k}><rect x={a} y="2" width={b - a} height={rowHeight - 4} fill={fill} />{b - a > 14 && <text class="stage" x={a + 3} y="13" style={{ fill: ink(fill) }}>{ways.stages[s]}</text>}</g>;
                })}
              </g>
            ))}
          </svg>
        </div>
      </div>
      <p class="note">{on ? <Fragment><b>{on.detail}</b>: {on.stages.map(([s, c], k) => `${names[ways.stages[s]] ?? ways.stages[s]} ${count(c)} (${(k + 1 < on.stages.length ? on.stages[k + 1][1] : on.end) - c})`).join(", ")}{on.flushed && "; flushed"}</Fragment>
        : <Fragment>Cycles {count(Math.max(0, origin))} to {count(Math.max(0, origin + 4 * step))}. Point at an instruction for its stages with their cycles.{!ways.complete && ` The file has more than ${count(most)} instructions; the rest was left out.`}</Fragment>}</p>
    </Card>
  );
}
