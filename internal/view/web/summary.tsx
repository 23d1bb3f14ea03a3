// The first page: what ran, what costs time, and all launches.
import { Fragment, h, type ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Checker, Finding, Hazard, Kernel, Range, Result, Run } from "./data";
import { cyclesOf, mainStall } from "./data";
import { Checkers, verdict } from "./found";
import { base, bytes, count, duration, extent, percent, percentOf, place, plural, ratio, words } from "./format";
import { Bar, Card, Chart, type Column, Empty, Facts, Figure, Hint, Status, Swatch, Table, Term } from "./parts";
import { colour } from "./palette";
import { go, href, lineOf } from "./route";

export function Summary({ result, run }: { result: Result; run: number }) {
  const r = result.run;
  return (
    <Fragment>
      <Ran result={result} />
      {r.error && <Failure run={r} index={run} />}
      {result.timing && <Findings result={result} run={run} list={r.findings ?? []} />}
      <Checkers result={result} run={run} />
      {(r.checkers ?? []).filter((c) => c.checker === "hazards").map((c) => <Hazards key={c.checker} c={c} run={run} result={result} />)}
      {result.timing && <Strip result={result} run={run} />}
      <Launches result={result} run={run} />
      <Ranges result={result} />
      <Checks run={r} />
    </Fragment>
  );
}

function Ran({ result }: { result: Result }) {
  const r = result.run, p = result.page;
  const failed = (r.checks ?? []).filter((c) => !c.ok).length;
  const facts: [ComponentChildren, ComponentChildren][] = [
    ...(base(r.input) === r.input ? [] : [["input", r.input] as [ComponentChildren, ComponentChildren]]),
    ["programs", (r.programs ?? []).join(", ") || "–"],
    ["machine", result.timing && r.sms ? `${r.gpu}: ${plural(r.sms, "SM", "SMs")}, ${r.core} core` : r.gpu],
  ];
  if (r.core_from) facts.push(["core", `with the parameters of ${r.core_from}`]);
  if (result.timing && r.clocks?.core_mhz) facts.push(["clocks", `core ${r.clocks.core_mhz} MHz, network ${r.clocks.network_mhz} MHz, L2 ${r.clocks.l2_mhz} MHz, DRAM ${r.clocks.dram_mhz} MHz`]);
  const set = Object.entries(r.conditions ?? {});
  if (set.length > 0) facts.push(["conditions", set.map(([k, v]) => `${words(k)}: ${String(v)}`).join(" · ")]);
  if ((r.checkers ?? []).length > 0 || (!r.kepler && !r.trace)) facts.push(["checkers", verdict(result)]);
  facts.push(["simulated by", `Heddle ${r.heddle} in ${r.seconds.toFixed(2)} s, ${r.mode} run`]);
  return (
    <Card class="ran">
      <div class="headline">
        <h1 title={r.input}>{base(r.input)}</h1>
        {p.running ? <span class="status running">running</span> : r.error ? <Status ok={false}>{r.error.kind}</Status> : failed > 0 ? <Status ok={false}>{failed} of {plural((r.checks ?? []).length, "check", "checks")} failed</Status> : r.ok ? <Status ok>{(r.checks ?? []).length > 0 ? `${plural(r.checks!.length, "check", "checks")} ok` : "completed"}</Status> : <Status ok={false}>findings of a checker</Status>}
      </div>
      <dl class="figures">
        {result.timing && <Figure name={<Term page={p} name="cycles">cycles</Term>} value={count(r.cycles!)} unit="core cycles" note={r.clocks?.core_mhz ? duration(r.cycles! / (r.clocks.core_mhz * 1e6)) + " of the machine" : undefined} />}
        {r.sampling && <Figure name="sampled" value={`± ${((100 * r.sampling.margin_cycles) / Math.max(1, r.sampling.timed_cycles + r.sampling.estimated_cycles)).toFixed(1)} %`} note={`${count(r.sampling.timed)} of ${plural(r.sampling.launches, "launch", "launches")} simulated${r.sampling.timed_in_part > 0 ? ` (${count(r.sampling.timed_in_part)} in part)` : ""}, the cycles of the rest (≈) estimated`} />}
        <Figure name={<Term page={p} name="warp_instructions">warp instructions</Term>} value={count(r.warp_instructions)} note={`${count(r.thread_instructions)} thread instructions`} />
        {result.timing && <Figure name={<Term page={p} name="ipc">IPC</Term>} value={ratio(r.warp_instructions, r.cycles!)} unit="warp instructions per cycle" />}
        <Figure name="lanes active" value={percentOf(r.thread_instructions, 32 * r.warp_instructions)} note="of 32 per warp instruction" />
        <Figure name="launches" value={count(result.kernels.length)} note={r.launches_left_out ? `${count(r.launches_left_out)} left out` : undefined} />
      </dl>
      <Facts rows={facts} />
    </Card>
  );
}

function Failure({ run, index }: { run: Run; index: number }) {
  const e = run.error!;
  return (
    <Card title={`The run ended early: ${e.kind}`} class="bad">
      <p class="message">{e.message}</p>
      {e.file && <p class="muted">{e.kernel} at {e.file}:{e.line}{e.source_file ? ` (${e.source_file}:${e.source_line})` : ""}</p>}
      {e.standstill && <p class="links"><a class="button" href={href({ page: "machine", run: index })}>Who waits for whom</a></p>}
    </Card>
  );
}

/** The line on which a finding sits, as a link to it. */
export function Where({ f, run }: { f: Finding; run: number }) {
  const lines = (f.lines ?? []).filter((l) => l.share >= 0.005); // others would show as 0 %
  if (lines.length === 0) return null;
  return (
    <ul class="where">
      {lines.slice(0, 3).map((l, i) => {
        const source = l.source_line ? `${l.source_file}:${l.source_line}` : "";
        const shown = source ? `${base(l.source_file!)}:${l.source_line}` : place(l);
        return (
          <li key={i}>
            <a href={href({ page: "source", launch: f.launch ?? null, run, query: lineOf(l) })} title={source || lineOf(l).line}>{shown}</a>
            <code>{l.instruction}</code><span class="muted">{percent(l.share, 0)}</span>
          </li>
        );
      })}
    </ul>
  );
}

/** What costs time, as the result says it. */
export function Findings({ result, run, list, launch }: { result: Result; run: number; list: Finding[]; launch?: number }) {
  const [all, setAll] = useState(false);
  const shown = all ? list : list.slice(0, 3);
  if (result.run.error?.kind === "stuck") return null; // its time has no causes
  return (
    <Card title="What costs most" more={list.length > 3 && <button type="button" class="switch" aria-pressed={all} onClick={() => setAll(!all)}>All {list.length}</button>}>
      {list.length === 0 && <Empty>The result names no cause that costs 3 % of the time or more.</Empty>}
      <ol class="findings">
        {shown.map((f, i) => {
          const share = launch === undefined ? f.run_share : f.share;
          return (
            <li key={i}>
              <div class="cost"><span class="value">{percent(share, 0)}</span><span class="sub">at most</span></div>
              <div>
                <h3><Hint tip={<p>{result.rule(f.rule)} The cost is an upper bound: other causes may take its place.</p>}>{words(f.rule)}</Hint>
                  {launch === undefined && f.kernel && result.kernels.length > 1 && <span class="muted"> in <a href={href({ page: "launch", launch: f.launch, run })}>{result.page.kernelName(f.kernel)}</a>{f.launches > 1 && `, ${count(f.launches)} launches; seen in launch ${f.launch}`}</span>}
                  {launch !== undefined && f.launch !== launch && <span class="muted"> in <a href={href({ page: "launch", launch: f.launch, run })}>launch {f.launch}</a>, which it costs most</span>}
                </h3>
                <Bar share={share} />
                <p>{f.seen}</p>
                <p class="try"><span aria-hidden="true">→</span> {f.try}</p>
                <Where f={f} run={run} />
              </div>
            </li>
          );
        })}
      </ol>
    </Card>
  );
}

/** What the checker of control bits found. */
function Hazards({ c, run, result }: { c: Checker; run: number; result: Result }) {
  const list = c.hazards ?? [], missed = c.launches_not_watched?.length ?? 0;
  const columns: Column<Hazard>[] = [
    { key: "reg", head: "register", text: true, cell: (x) => <Fragment><code>{x.register}</code> <span class="muted">{words(x.kind)}</span></Fragment> },
    { key: "inst", head: "instruction", text: true, cell: (x) => <a href={href({ page: "source", launch: x.launch, run, query: lineOf(x.instruction) })}>{place(x.instruction)} <code>{x.instruction.text}</code></a> },
    { key: "after", head: "does not wait for", text: true, cell: (x) => <Fragment>{place(x.producer)} <code>{x.producer.text}</code></Fragment> },
    { key: "fix", head: "control code that fixes it", text: true, cell: (x) => ((x.fixes ?? []).length > 0 ? x.fixes!.map((f) => `${place(f)} ${f.control}`).join(", ") : "other instructions in between") },
    { key: "short", head: "too early by", cell: (x) => (x.cycles_short > 0 ? plural(x.cycles_short, "cycle", "cycles") : "not waited for"), value: (x) => x.cycles_short },
    { key: "times", head: "times", cell: (x) => count(x.times), value: (x) => x.times },
    { key: "first", head: "first at", text: true, cell: (x) => `${result.page.kernelName(x.kernel)} launch ${x.launch}, block ${x.block}, warp ${x.warp}, lane ${x.lane}` },
  ];
  return (
    <Card title={`Checker: ${c.checker}`} class={c.ok ? "" : "bad"}>
      {list.length > 0 ? <Table label={`Findings of ${c.checker}`} rows={list} columns={columns} /> : missed > 0 && missed === result.kernels.length ? <Empty>Nothing was checked.</Empty> : <Status ok>nothing found</Status>}
      {(c.left_out ?? 0) > 0 && <p class="note">Others occurred {plural(c.left_out!, "time", "times")} but were not kept; fix these first.</p>}
      {missed > 0 && <p class="note">{plural(missed, "launch was", "launches were")} not checked.</p>}
    </Card>
  );
}

/** Streams as rows, launches and copies as blocks. */
function Strip({ result, run }: { result: Result; run: number }) {
  const r = result.run, total = r.cycles || 1;
  const spans = useMemo(() => {
    const list: { stream: string; from: number; to: number; name: string; launch: number | null; fill: string }[] = [];
    for (const k of result.kernels) {
      if (k.cycles === undefined) continue;
      const main = mainStall(k.stalls);
      list.push({ stream: `${k.device !== undefined ? `device ${k.device}, ` : ""}stream ${k.stream}`, from: k.start_cycle, to: k.end_cycle, name: `launch ${k.launch}: ${result.page.kernelName(k.name)}`, launch: k.launch, fill: main ? colour(main.state) : "#9aa3ad" });
    }
    for (const s of r.steps ?? []) {
      if (s.kind === "copy" && s.start_cycle !== undefined && s.end_cycle !== undefined && s.end_cycle > s.start_cycle) {
        list.push({ stream: `stream ${s.stream}`, from: s.start_cycle, to: s.end_cycle, name: `copy ${s.from ?? ""} to ${s.to ?? ""}, ${bytes(s.bytes ?? 0)}`, launch: null, fill: "#6b7785" });
      }
    }
    return list;
  }, [result]);
  const streams = [...new Set(spans.map((s) => s.stream))].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  if (spans.length < 2) return null;
  // A screen has fewer points than a long run has launches: those that begin and end on one point are drawn as one.
  const width = 1000, left = 0, x = (c: number) => left + (c / total) * width;
  const drawn = streams.map((name) => {
    const list = spans.filter((s) => s.stream === name).sort((a, b) => a.from - b.from);
    const out: (typeof list[number] & { n: number })[] = [];
    for (const s of list) {
      const last = out[out.length - 1];
      if (last && x(s.to) - x(last.from) < 1.5) {
        last.to = Math.max(last.to, s.to);
        last.n++;
      } else out.push({ ...s, n: 1 });
    }
    return { name, list: out };
  });
  return (
    <Chart title="Streams over time" note="Colour: the main stall of the launch. Select one to open it." table={() => (
      <Table label="Launches and copies" rows={spans} columns={[
        { key: "s", head: "stream", text: true, cell: (s) => s.stream, value: (s) => s.stream },
        { key: "n", head: "what", text: true, cell: (s) => s.name },
        { key: "f", head: "from cycle", cell: (s) => count(s.from), value: (s) => s.from },
        { key: "t", head: "to cycle", cell: (s) => count(s.to), value: (s) => s.to },
        { key: "c", head: "cycles", cell: (s) => count(s.to - s.from), value: (s) => s.to - s.from },
      ]} />
    )}>
      <div class="strip">
        {drawn.map((d) => (
          <div class="lane" key={d.name}>
            <span class="name">{d.name}</span>
            <svg viewBox={`0 0 ${width} 26`} preserveAspectRatio="none" role="img" aria-label={`${d.name}: ${plural(d.list.reduce((n, s) => n + s.n, 0), "action", "actions")}`}>
              {d.list.map((s, i) => (
                <rect key={i} class={s.launch !== null ? "go" : ""} x={x(s.from)} y={2} width={Math.max(0.8, x(s.to) - x(s.from) - 0.4)} height={22} fill={s.fill} onClick={s.launch !== null ? () => go({ page: "launch", launch: s.launch, run }) : undefined}>
                  <title>{s.n > 1 ? `${s.n} actions, ` : ""}{s.name}, cycles {count(s.from)} to {count(s.to)}</title>
                </rect>
              ))}
            </svg>
          </div>
        ))}
        <div class="lane axis"><span class="name">cycle</span><span class="ends"><span>0</span><span>{count(total / 2)}</span><span>{count(total)}</span></span></div>
      </div>
    </Chart>
  );
}

function Launches({ result, run }: { result: Result; run: number }) {
  const page = result.page, kernels = result.kernels;
  const [filter, setFilter] = useState("");
  const { rows, bad } = useMemo(() => {
    if (!filter) return { rows: kernels, bad: "" };
    try {
      const re = new RegExp(filter, "i");
      return { rows: kernels.filter((k) => re.test(page.kernelName(k.name)) || re.test(k.name)), bad: "" };
    } catch {
      return { rows: kernels, bad: "not a regular expression" };
    }
  }, [filter, kernels]);
  const columns = useMemo(() => {
    const list: Column<Kernel>[] = [
      { key: "launch", head: <Term page={page} name="launch">launch</Term>, cell: (k) => k.launch, value: (k) => k.launch },
      { key: "kernel", head: "kernel", text: true, class: "name", cell: (k) => <a href={href({ page: "launch", launch: k.launch, run })} title={page.kernelName(k.name)}>{page.kernelName(k.name)}</a>, value: (k) => page.kernelName(k.name) },
    ];
    if (kernels.some((k) => k.device !== undefined)) list.push({ key: "device", head: "device", cell: (k) => k.device ?? "–", value: (k) => k.device ?? -1 });
    if (kernels.some((k) => k.code && k.code !== "ptx")) list.push({ key: "code", head: "code", text: true, cell: (k) => k.code ?? "–", value: (k) => k.code ?? "" });
    if (kernels.some((k) => k.stream !== kernels[0].stream)) list.push({ key: "stream", head: <Term page={page} name="stream">stream</Term>, cell: (k) => k.stream, value: (k) => k.stream });
    list.push(
      { key: "grid", head: <Term page={page} name="grid">grid</Term>, cell: (k) => extent(k.grid), value: (k) => k.grid.reduce((a, b) => a * b, 1) },
      { key: "block", head: <Term page={page} name="block">block</Term>, cell: (k) => extent(k.block), value: (k) => k.block.reduce((a, b) => a * b, 1) },
      { key: "regs", head: <Term page={page} name="registers">regs</Term>, cell: (k) => k.registers, value: (k) => k.registers },
      { key: "shared", head: <Term page={page} name="shared_bytes">shared</Term>, cell: (k) => bytes(k.shared_bytes), value: (k) => k.shared_bytes },
    );
    if (result.timing) list.push({ key: "cycles", head: <Term page={page} name="cycles">cycles</Term>, cell: cyclesOf, value: (k) => k.cycles ?? 0 });
    list.push({ key: "warp", head: <Term page={page} name="warp_instructions">warp instr</Term>, cell: (k) => count(k.warp_instructions), value: (k) => k.warp_instructions });
    if (result.timing) list.push({ key: "ipc", head: <Term page={page} name="ipc">IPC</Term>, cell: (k) => ratio(k.warp_instructions, k.cycles ?? 0), value: (k) => k.ipc ?? 0 });
    list.push({ key: "lanes", head: "lanes", cell: (k) => percentOf(k.thread_instructions, 32 * k.warp_instructions), value: (k) => k.thread_instructions / Math.max(1, k.warp_instructions) });
    if (result.timing) {
      list.push(
        { key: "occupancy", head: <Term page={page} name="occupancy">occupancy</Term>, cell: (k) => percent(k.occupancy ?? 0), value: (k) => k.occupancy ?? 0 },
        { key: "blocks", head: <Term page={page} name="blocks_per_sm">blocks/SM</Term>, cell: (k) => k.blocks_per_sm || "–", value: (k) => k.blocks_per_sm ?? 0 },
        { key: "limit", head: <Term page={page} name="limited_by">limited by</Term>, text: true, cell: (k) => k.limited_by, value: (k) => k.limited_by ?? "" },
        { key: "stall", head: "main stall", text: true, cell: (k) => {
          const m = k.stalls && mainStall(k.stalls);
          return m ? <span class="nowrap"><Swatch state={m.state} />{words(m.state)} {percent(m.share, 0)}</span> : "–";
        }, value: (k) => (k.stalls && mainStall(k.stalls)?.state) || "" },
      );
    }
    return list;
  }, [result]);
  return (
    <Card title={<Fragment>Launches <span class="muted">{rows.length < kernels.length ? `${count(rows.length)} of ` : ""}{count(kernels.length)}</span></Fragment>} more={kernels.length > 8 && (
      <label class="filter">Filter <input id="filter" type="search" value={filter} placeholder="regular expression" aria-invalid={bad !== ""} onInput={(e) => setFilter(e.currentTarget.value)} />{bad && <span class="error">{bad}</span>}</label>
    )}>
      {kernels.length === 0 ? <Empty>No kernel ran.</Empty> : rows.length === 0 ? <Empty>No kernel has a name that fits.</Empty> : <Table label="Launches" rows={rows} columns={columns} onRow={(k) => go({ page: "launch", launch: k.launch, run })} />}
    </Card>
  );
}

function Ranges({ result }: { result: Result }) {
  const rows = useMemo(() => {
    const list: { r: Range; depth: number }[] = [];
    const add = (ranges: Range[] | undefined, depth: number) => ranges?.forEach((r) => (list.push({ r, depth }), add(r.ranges, depth + 1)));
    add(result.run.ranges, 0);
    return list;
  }, [result]);
  if (rows.length === 0) return null;
  return (
    <Card title="Ranges that the program named">
      <Table label="Ranges" rows={rows} columns={[
        { key: "n", head: "range", text: true, cell: (x) => <span style={{ paddingLeft: `${x.depth * 16}px` }}>{x.r.name}</span> },
        { key: "t", head: <Term page={result.page} name="ranges.times">times</Term>, cell: (x) => count(x.r.times), value: (x) => x.r.times },
        { key: "l", head: <Term page={result.page} name="ranges.launches">launches</Term>, cell: (x) => count(x.r.launches), value: (x) => x.r.launches },
        { key: "w", head: "warp instr", cell: (x) => count(x.r.warp_instructions), value: (x) => x.r.warp_instructions },
        { key: "c", head: "kernel cycles", cell: (x) => count(x.r.cycles ?? 0), value: (x) => x.r.cycles ?? 0 },
      ]} />
    </Card>
  );
}

function Checks({ run }: { run: Run }) {
  const list = run.checks ?? [];
  if (list.length === 0) return null;
  return (
    <Card title="Checks of values">
      <Table label="Checks" rows={list} columns={[
        { key: "b", head: "what", text: true, cell: (c) => c.buffer || `symbol ${c.symbol}` },
        { key: "a", head: "against", text: true, cell: (c) => c.against },
        { key: "e", head: "elements", cell: (c) => count(c.elements) },
        { key: "t", head: "tolerance", cell: (c) => (c.tolerance ? String(c.tolerance) : "bit for bit") },
        { key: "r", head: "result", text: true, cell: (c) => (c.ok ? <Status ok>ok</Status> : <Status ok={false}>{plural(c.mismatches, "mismatch", "mismatches")}{c.first_mismatch && `; the first is [${c.first_mismatch.index}]: got ${c.first_mismatch.got}, want ${c.first_mismatch.want}`}</Status>) },
      ]} />
    </Card>
  );
}

