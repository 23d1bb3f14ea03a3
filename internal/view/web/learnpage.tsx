// The page Learn: a small run, step by step and back.
import { Fragment, h, type ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Result } from "./data";
import { base, count as number, plural } from "./format";
import { type Code, type Film, type Format, type Lesson, type Register, type Screen, Walk, arrival, bytes, count, extent, formats, paint, runs, shared, value } from "./learn";
import { Card, Empty, Facts } from "./parts";
import { type Route, replaceQuery } from "./route";
import "./learn.css";

const speeds = [2, 8, 30, 120]; // steps a second

export function Learn({ result, route }: { result: Result; route: Route }) {
  const list = result.run.lessons ?? [], films = result.run.films ?? [];
  const asked = Number(route.query.lesson ?? -1);
  const [which, setWhich] = useState(() => Math.max(0, asked >= 0 ? list.findIndex((l) => l.launch === asked) : 0));
  if (list.length === 0) {
    return (
      <Card title="Learn"><Empty>
        Nothing was recorded step by step. A page has steps if <code>heddle run … --html</code> made it in a timing run, of launches of one block, or of frames of the Kepler-style core on one SM.
        An example: <code>heddle run examples/learn/diverge.toml --html diverge.html</code>
      </Empty></Card>
    );
  }
  return <Steps key={which} result={result} route={route} lesson={list[which]} films={films} which={which} setWhich={setWhich} number={list.length} />;
}

function Steps({ result, route, lesson, films, which, setWhich, number: lessons }: { result: Result; route: Route; lesson: Lesson; films: Film[]; which: number; setWhich: (n: number) => void; number: number }) {
  const walk = useMemo(() => new Walk(lesson), [lesson]);
  const [at, setAt] = useState(() => clampTo(walk, route.query.lesson === undefined || Number(route.query.lesson) === lesson.launch ? Number(route.query.step ?? 0) : 0));
  const [follow, setFollow] = useState(() => Math.max(-1, lesson.warps.indexOf(Number(route.query.warp ?? -1))));
  const [playing, setPlaying] = useState(() => again), [speed, setSpeed] = useState(1), [format, setFormat] = useState<Format>("auto");
  const last = walk.length - lesson.begin;
  walk.go(lesson.begin + at);
  const to = (n: number) => setAt(Math.max(0, Math.min(last, n)));
  const move = (by: number) => {
    const forward = by > 0 ? 1 : -1;
    let n = at;
    for (let i = 0; i < Math.abs(by); i++) {
      walk.go(lesson.begin + n);
      n = walk.next(follow, forward) - lesson.begin;
    }
    to(n);
  };
  const play = (on: boolean) => {
    again = on;
    setPlaying(on);
  };
  useEffect(() => {
    if (!playing) return;
    const rate = speeds[speed], t = setInterval(() => {
      if (at < last) move(Math.max(1, Math.round(rate / 30)));
      else if (which + 1 < lessons) setWhich(which + 1);
      else play(false);
    }, 1000 / Math.min(30, rate));
    return () => clearInterval(t);
  });
  useEffect(() => {
    const f = (e: KeyboardEvent) => {
      const on = e.target as Element;
      if (on.closest("input,select,textarea") || e.ctrlKey || e.metaKey || e.altKey) return;
      const many = e.shiftKey ? 10 : 1, warps = lesson.warps.length;
      if (e.key === "ArrowRight") move(many);
      else if (e.key === "ArrowLeft") move(-many);
      else if (e.key === "Home") to(0);
      else if (e.key === "End") to(last);
      else if (e.key === "w") setFollow(follow + 1 >= warps ? -1 : follow + 1);
      else if (e.key === "W") setFollow(follow < 0 ? warps - 1 : follow - 1);
      else if (e.key === "[" || e.key === "]") setWhich(Math.max(0, Math.min(lessons - 1, which + (e.key === "]" ? 1 : -1))));
      else if (e.key === " " && !on.closest("button,a,summary")) play(!playing);
      else return;
      e.preventDefault();
    };
    addEventListener("keydown", f);
    return () => removeEventListener("keydown", f);
  });
  useEffect(() => {
    const t = setTimeout(() => replaceQuery(route, { lesson: String(lesson.launch), step: String(at), warp: follow < 0 ? "" : String(lesson.warps[follow]) }), 300);
    return () => clearTimeout(t);
  }, [at, follow, lesson]);
  const s = lesson.steps, i = lesson.begin + at - 1, done = at > 0;
  const warp = follow >= 0 ? follow : done && s.warp[i] >= 0 ? s.warp[i] : 0;
  const name = lesson.set === "kasm" ? "frame" : "launch";
  return (
    <div class="learn">
      <Card title={<Fragment>Learn: <code>{result.page.kernelName(lesson.kernel)}</code></Fragment>} more={<Fragment>
        {lessons > 1 && <label>{name === "frame" ? "Frame" : "Launch"} <select id="lesson" value={String(which)} onChange={(e) => setWhich(Number(e.currentTarget.value))}>{result.run.lessons!.map((l, n) => <option key={n} value={String(n)}>{l.launch}</option>)}</select></label>}
        <label>Follow <select id="follow" value={String(follow)} onChange={(e) => setFollow(Number(e.currentTarget.value))}><option value="-1">all warps</option>{lesson.warps.map((w, n) => <option key={n} value={String(n)}>warp {w}</option>)}</select></label>
      </Fragment>}>
        <div class="now">
          <div class="steer">
            <span class="group"><button type="button" aria-label="To the start" title="Home" onClick={() => to(0)}><Icon of="first" /></button><button type="button" aria-label="A step back" title="←" onClick={() => move(-1)}><Icon of="back" /></button><button type="button" aria-label={playing ? "Pause" : "Play"} title="Space" aria-pressed={playing} onClick={() => play(!playing)}><Icon of={playing ? "pause" : "play"} /></button><button type="button" aria-label="A step forward" title="→" onClick={() => move(1)}><Icon of="forward" /></button><button type="button" aria-label="To the end" title="End" onClick={() => to(last)}><Icon of="last" /></button></span>
            <input type="range" aria-label="Step" min={0} max={last} value={at} onInput={(e) => to(Number(e.currentTarget.value))} />
            <label>Speed <select value={String(speed)} onChange={(e) => setSpeed(Number(e.currentTarget.value))}>{speeds.map((n, k) => <option key={k} value={String(k)}>{n} a second</option>)}</select></label>
          </div>
          <p class="muted" id="step" data-step={at} data-cycle={done ? walk.cycle[i] : ""}>Step {number(at)} of {number(last)}{done ? `, cycle ${number(walk.cycle[i])}` : ", the start"}{!lesson.complete && ". The rest was not recorded: a page has at most 5,000 steps."}</p>
          <Now walk={walk} i={i} done={done} format={format} />
        </div>
      </Card>
      {(films.length > 0 || (lesson.screens ?? []).length > 0) && <Pictures walk={walk} films={films} at={at} />}
      <div class="side">
        <div>
          <Program result={result} walk={walk} at={at} warp={warp} go={(n) => to(walk.find(n, follow) - lesson.begin)} />
          <Lanes walk={walk} warp={warp} i={i} done={done} />
        </div>
        <div>
          <Registers walk={walk} warp={warp} at={at} format={format} setFormat={setFormat} />
          <Memory walk={walk} at={at} format={format} />
        </div>
      </div>
    </div>
  );
}

const icons = { first: "M2 2h3v12H2zM14 2v12L6 8z", back: "M10 2v12L3 8zM12 2h2v12h-2z", play: "M3 1l11 7-11 7z", pause: "M3 2h4v12H3zM9 2h4v12H9z", forward: "M2 2h2v12H2zM6 2l7 6-7 6z", last: "M11 2h3v12h-3zM2 2l8 6-8 6z" };

function Icon({ of }: { of: keyof typeof icons }) {
  return <svg viewBox="0 0 16 16" aria-hidden="true"><path d={icons[of]} /></svg>;
}

/** Whether the next lesson goes on playing. */
let again = false;

function clampTo(walk: Walk, n: number): number {
  return Number.isFinite(n) ? Math.max(0, Math.min(walk.length - walk.l.begin, Math.trunc(n))) : 0;
}

function where(c: Code | undefined): string {
  if (!c) return "";
  return (c.source_line ? `${base(c.source_file!)}:${c.source_line}, ` : "") + (c.line ? `${base(c.file ?? "")}:${c.line}` : "");
}

/** What has just happened. */
function Now({ walk, i, done, format }: { walk: Walk; i: number; done: boolean; format: Format }) {
  const l = walk.l, s = l.steps;
  if (!done) return <Fragment><p class="explained">Nothing has been issued yet. Step with the arrow keys, or press the space bar to play.</p></Fragment>;
  const code = l.code[s.at[i]], came = s.kind[i] === arrival, w = s.warp[i];
  const changed = [...walk.changed()];
  const stored = [...walk.stored()];
  const who = w >= 0 ? `Warp ${l.warps[w]}` : "One of the warps";
  return (
    <Fragment>
      <p><span class="muted">{who} {came ? (code ? "gets what this instruction has computed" : "changes") : "issues"}{code && ":"}</span> <span class="muted">{where(code)}</span></p>
      {code && <code class="inst">{code.text}</code>}
      {code && !came && <p class="explained" id="explained">{code.explain}</p>}
      {!came && <div class="masks"><span>active</span><Mask name="Active lanes" on={s.active[i]} />{s.lanes[i] !== s.active[i] && <Fragment><span>guard holds</span><Mask name="Lanes whose guard holds" on={s.lanes[i]} among={s.active[i]} /></Fragment>}</div>}
      {changed.length + stored.length > 0 ? (
        <ul class="changes" aria-label="Changes">
          {changed.slice(0, 6).map(([r, lanes]) => <li key={r}><b>{l.registers[r].name}</b> {l.registers[r].bits === 1 ? `holds in ${hex(walk.mask(w, l.registers[r]))}` : runs((lane) => walk.get(w, l.registers[r], lane), lanes, l.registers[r], format).slice(0, 4).join("; ")}</li>)}
          {changed.length > 6 && <li>{plural(changed.length - 6, "other register", "other registers")}</li>}
          {stored.length > 0 && <li>{plural(stored.length, "word", "words")} of {l.words.space![stored[0]] === shared ? "shared" : "global"} memory</li>}
        </ul>
      ) : <p class="muted">{came ? "Its lanes change." : "No value changes in this step."}</p>}
    </Fragment>
  );
}

function hex(mask: number): string {
  return (mask >>> 0).toString(16).padStart(8, "0");
}

/** 32 lanes as boxes. Among: lanes that are hatched where they are not on. */
function Mask({ name, on, among }: { name: string; on: number; among?: number }) {
  return (
    <div class="lanes" role="img" aria-label={`${name}: ${count(on)} of 32, ${hex(on)}`} title={hex(on)}>
      {Array.from({ length: 32 }, (_, l) => <i key={l} class={(on >>> l) & 1 ? "on" : ((among ?? 0) >>> l) & 1 ? "off" : ""} />)}
    </div>
  );
}

/** The program's text with the line of the step, and where the warps are. */
function Program({ result, walk, at, warp, go }: { result: Result; walk: Walk; at: number; warp: number; go: (inst: number) => void }) {
  const l = walk.l, box = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => {
    const file = l.code.find((c) => c.line)?.file, text = file !== undefined ? result.source(file) : undefined;
    if (text === undefined || l.code.some((c) => c.line && c.file !== file)) return l.code.map((c, i) => ({ no: String(i), text: c.text, at: i }));
    const first = new Map<number, number>();
    l.code.forEach((c, i) => c.line && !first.has(c.line) && first.set(c.line, i));
    return text.split("\n").map((t, n) => ({ no: String(n + 1), text: t, at: first.get(n + 1) ?? -1 }));
  }, [l]);
  const rowOf = useMemo(() => {
    const byLine = new Map(rows.map((r, n) => [r.no, n]));
    return l.code.map((c, i) => (rows.length === l.code.length && rows[i]?.at === i ? i : byLine.get(String(c.line)) ?? -1));
  }, [rows]);
  const here = walk.place[warp] >= 0 ? rowOf[walk.place[warp]] : -1;
  const who = new Map<number, number[]>();
  walk.place.forEach((p, w) => p >= 0 && who.set(rowOf[p], [...(who.get(rowOf[p]) ?? []), l.warps[w]]));
  useEffect(() => {
    const el = box.current, row = el?.querySelector<HTMLElement>(".here");
    if (el && row && (row.offsetTop < el.scrollTop + 20 || row.offsetTop + 40 > el.scrollTop + el.clientHeight)) el.scrollTop = row.offsetTop - el.clientHeight / 2;
  }, [at, here]);
  // One line is in the order of Tab; the arrow keys go to others.
  const entry = rows[here]?.at >= 0 ? here : rows.findIndex((r) => r.at >= 0);
  const keys = (e: KeyboardEvent) => {
    const way = e.key === "ArrowDown" ? "nextElementSibling" : e.key === "ArrowUp" ? "previousElementSibling" : null;
    if (!way) return;
    e.preventDefault();
    let to = (e.target as Element).closest("button")?.[way] as HTMLButtonElement | null;
    while (to?.disabled) to = to[way] as HTMLButtonElement | null;
    to?.focus();
  };
  const source = l.code[walk.place[warp]];
  const line = source?.source_line ? result.source(source.source_file!)?.split("\n")[source.source_line - 1] : undefined;
  return (
    <Card title="Program" more={<span class="muted">warp {l.warps[warp]}</span>}>
      {line !== undefined && <p><span class="muted">{base(source.source_file!)}:{source.source_line}</span> <code>{line.trim()}</code></p>}
      <div class="listing" ref={box} role="region" aria-label="Program" style={{ position: "relative" }} onKeyDown={keys}>
        {rows.map((r, n) => (
          <button type="button" key={n} class={n === here ? "here" : ""} disabled={r.at < 0} tabIndex={n === entry ? 0 : -1} aria-current={n === here ? "step" : undefined} title={r.at >= 0 ? l.code[r.at].explain : undefined} onClick={() => go(r.at)}>
            <span class="number">{r.no}</span><span>{r.text.trimEnd() || " "}</span><span class="who">{group(who.get(n))}</span>
          </button>
        ))}
      </div>
      <p class="note">The marked line is the one that the warp issued last. Select a line to go to the step that issues it next; the arrow keys ↑ ↓ go from line to line.</p>
    </Card>
  );
}

/** Warps at a line, in few letters. */
function group(list: number[] | undefined): string {
  if (!list) return "";
  return list.length > 3 ? `${list.length} warps` : list.map((w) => `w${w}`).join(" ");
}

/** How the lanes of a warp stand. */
function Lanes({ walk, warp, i, done }: { walk: Walk; warp: number; i: number; done: boolean }) {
  const l = walk.l, g = walk.groups[warp], at = (n: number) => (n >= 0 && l.code[n] ? <Fragment><code>{l.code[n].text}</code> <span class="muted">{where(l.code[n])}</span></Fragment> : "the end");
  const mine = done && l.steps.warp[i] === warp && l.steps.kind[i] !== arrival;
  return (
    <Card title={`Lanes of warp ${l.warps[warp]}`}>
      {!g ? <Empty>The warp has not begun.</Empty> : (
        <Fragment>
          <div class="masks"><span>live</span><Mask name="Live lanes" on={g.live} />{mine && <Fragment><span>active</span><Mask name="Active lanes" on={l.steps.active[i]} among={g.live} /></Fragment>}</div>
          {g.state && <p>{g.state}</p>}
          {(g.sets ?? []).length > 1 && <Facts rows={g.sets!.map((s) => [<code>{hex(s.lanes)}</code>, s.at < 0 ? "can run" : <Fragment>{s.waits || "can run"} at {at(s.at)}</Fragment>])} />}
          {(g.joins ?? []).length > 0 && <Fragment>
            <h3>{l.set === "kasm" ? "Divergence stack" : "Meeting points"}</h3>
            <Facts rows={g.joins!.map((j) => [<code>{hex(j.lanes)}</code>, <Fragment>{l.set === "kasm" ? "" : `came; ${hex(j.missing ?? 0)} still to come; `}at {at(j.at)}</Fragment>])} />
          </Fragment>}
          {(g.calls ?? []).length > 0 && <p>Calls return to {g.calls!.join(", ")}.</p>}
        </Fragment>
      )}
    </Card>
  );
}

function Registers({ walk, warp, at, format, setFormat }: { walk: Walk; warp: number; at: number; format: Format; setFormat: (f: Format) => void }) {
  const l = walk.l, [open, setOpen] = useState(-1);
  const own = walk.at > l.begin && l.steps.warp[walk.at - 1] === warp, changed = own ? walk.changed() : new Map<number, number>();
  const lanes = l.set === "kasm" ? 0xffffffff : walk.groups[warp]?.live || 0xffffffff;
  const rows = l.registers.map((r, n) => ({ r, n })).filter(({ n }) => walk.used[n]);
  const chosen: Register | undefined = l.registers[open];
  return (
    <Card title={<Fragment>Registers <span class="muted">warp {l.warps[warp]}</span></Fragment>} more={<label>Numbers <select id="format" value={format} onChange={(e) => setFormat(e.currentTarget.value as Format)}>{formats.map((f) => <option key={f} value={f}>{f}</option>)}</select></label>}>
      {rows.length === 0 ? <Empty>No register ever gets a value other than zero.</Empty> : (
        <div class="grid" tabIndex={0} role="region" aria-label="Registers">
          <table id="registers" data-at={at}>
            <thead><tr><th scope="col" class="text">register</th><th scope="col" class="text">lanes: values</th></tr></thead>
            <tbody>{rows.map(({ r, n }) => (
              <tr key={n} class={changed.has(n) ? "changed" : ""} data-name={r.name}>
                <td class="text"><button type="button" class="switch" aria-pressed={n === open} onClick={() => setOpen(n === open ? -1 : n)}>{r.name}</button> <span class="muted">{r.function ? `${r.function} ` : ""}{r.type}</span></td>
                <td class="values">{r.bits === 1 ? `holds in ${hex(walk.mask(warp, r) & lanes)}` : runs((lane) => walk.get(warp, r, lane), lanes, r, format).join("; ")}</td>
              </tr>
            ))}</tbody>
          </table>
        </div>
      )}
      {chosen && <div><h3>{chosen.name} by lane</h3><div class="grid32">{Array.from({ length: 32 }, (_, lane) => <span key={lane}><span class="muted">{lane}</span> {value(walk.get(warp, chosen, lane), chosen.bits, chosen.type, format)}</span>)}</div></div>}
      <p class="note">What the step has changed is marked. Registers that never get a value are left out. Select one for its lanes.</p>
    </Card>
  );
}

/** Touched memory in rows of eight words. */
function Memory({ walk, at, format }: { walk: Walk; at: number; format: Format }) {
  const l = walk.l, w = l.words, stored = walk.stored(), box = useRef<HTMLDivElement>(null);
  const parts = useMemo(() => {
    const map = new Map<string, { name: string; type: string; from: number; words: Map<number, number> }>();
    (w.space ?? []).forEach((space, i) => {
      const addr = w.addr[i], b = space === shared ? undefined : (l.buffers ?? []).find((b) => b.addr <= addr && addr < b.addr + Math.max(4, b.bytes));
      const name = space === shared ? "shared memory" : b ? b.name : "global memory";
      const part = map.get(name) ?? { name, type: b ? "." + b.type : ".b32", from: b?.addr ?? 0, words: new Map<number, number>() };
      part.words.set(addr, i);
      map.set(name, part);
    });
    return [...map.values()];
  }, [l]);
  useEffect(() => {
    const el = box.current, first = el?.querySelector<HTMLElement>("b");
    if (el && first && (first.offsetTop < el.scrollTop || first.offsetTop + 20 > el.scrollTop + el.clientHeight)) el.scrollTop = first.offsetTop - 60;
  }, [at]);
  if (parts.length === 0) return null;
  return (
    <Card title={<Fragment>Memory <span class="muted">{plural(w.addr.length, "word", "words")} touched</span></Fragment>}>
      <div class="words" ref={box} tabIndex={0} role="region" aria-label="Memory" style={{ position: "relative" }}>
        {parts.map((p) => {
          const rows = [...new Set([...p.words.keys()].map((a) => a - (a % 32)))].sort((a, b) => a - b), type = p.type.endsWith("8") || p.type.endsWith("16") || p.type.endsWith("64") ? ".b32" : p.type;
          const long = [...p.words.values()].some((i) => walk.words[i] >= 0 && value(BigInt(walk.words[i]), 32, type, format).length > 6);
          return (
            <section key={p.name} aria-label={p.name} data-part={p.name}>
              <h3>{p.name}</h3>
              {visible(rows, [...stored].map((i) => w.addr[i] - (w.addr[i] % 32))).map((row) => (
                <div key={row} class={long ? "long" : undefined}>
                  <span class="address">0x{row.toString(16)}</span>
                  {Array.from({ length: 8 }, (_, k) => {
                    const i = p.words.get(row + 4 * k);
                    if (i === undefined) return <span key={k} class="muted">·</span>;
                    const text = walk.words[i] < 0 ? "?" : value(BigInt(walk.words[i]), 32, type, format);
                    return stored.has(i) ? <b key={k} data-addr={w.addr[i]}>{text}</b> : <span key={k} data-addr={w.addr[i]}>{text}</span>;
                  })}
                </div>
              ))}
              {rows.length > mostRows && <p class="muted">{number(rows.length - mostRows)} rows are left out</p>}
            </section>
          );
        })}
      </div>
      <p class="note">Words that the run reads or writes, up to now or later: · are others, ? is not known yet.</p>
    </Card>
  );
}

const mostRows = 128;

/** The rows that are shown: all, or those around the first that has changed. */
function visible(rows: number[], changed: number[]): number[] {
  if (rows.length <= mostRows) return rows;
  const at = Math.max(0, rows.findIndex((r) => changed.includes(r)));
  const from = Math.max(0, Math.min(rows.length - mostRows, at - mostRows / 2));
  return rows.slice(from, from + mostRows);
}

/** The picture as memory has it now, and the finished pictures of all frames. */
function Pictures({ walk, films, at }: { walk: Walk; films: Film[]; at: number }) {
  return (
    <Card title="Pictures">
      <div class="films">
        {(walk.l.screens ?? []).map((s, n) => <Drawn key={"s" + n} walk={walk} screen={s} at={at} />)}
        {films.map((f, n) => (f.frames ?? []).length > 0 && <Player key={"f" + n} film={f} />)}
      </div>
    </Card>
  );
}

function Drawn({ walk, screen, at }: { walk: Walk; screen: Screen; at: number }) {
  const start = useMemo(() => bytes(screen.first, extent(screen)), [screen]);
  const b = useMemo(() => {
    const now = start.slice(), w = walk.l.words;
    (w.space ?? []).forEach((space, i) => {
      const off = w.addr[i] - screen.addr;
      if ((space === shared) !== !!screen.shared || off < 0 || off >= now.length || walk.words[i] < 0) return;
      for (let k = 0; k < 4 && off + k < now.length; k++) now[off + k] = (walk.words[i] >>> (8 * k)) & 255;
    });
    return now;
  }, [at, screen, walk]);
  return <Canvas id="drawn" screen={screen} data={b}>{screen.name} in memory, frame {walk.l.launch}, after this step</Canvas>;
}

function Player({ film }: { film: Film }) {
  const frames = film.frames!, [n, setN] = useState(0), [playing, setPlaying] = useState(false);
  const b = useMemo(() => bytes(film.bytes![n], extent(film)), [film, n]);
  useEffect(() => {
    if (!playing) return;
    const t = setInterval(() => setN((n) => (n + 1) % frames.length), 10 * Math.max(2, film.delay));
    return () => clearInterval(t);
  }, [playing, film]);
  return (
    <Canvas id="film" screen={film} data={b}>
      <span class="steer"><button type="button" aria-label={playing ? "Pause the frames" : "Play the frames"} aria-pressed={playing} onClick={() => setPlaying(!playing)}><Icon of={playing ? "pause" : "play"} /></button>
        <input type="range" aria-label="Frame" min={0} max={frames.length - 1} value={n} onInput={(e) => setN(Number(e.currentTarget.value))} /></span>
      {film.name} at the end of frame {frames[n]}, of {plural(frames.length, "frame", "frames")}
    </Canvas>
  );
}

function Canvas({ id, screen, data, children }: { id: string; screen: Screen; data: Uint8Array; children: ComponentChildren }) {
  const canvas = useRef<HTMLCanvasElement>(null), { pixels, lit } = useMemo(() => paint(screen, data), [screen, data]);
  useEffect(() => {
    canvas.current?.getContext("2d")?.putImageData(new ImageData(pixels, screen.width, screen.height), 0, 0);
  }, [pixels]);
  return (
    <figure>
      <canvas id={id} ref={canvas} width={screen.width} height={screen.height} role="img" aria-label={`${screen.name}: ${lit} of ${screen.width * screen.height} pixels are set`} data-lit={lit} />
      <figcaption>{children}</figcaption>
    </figure>
  );
}
