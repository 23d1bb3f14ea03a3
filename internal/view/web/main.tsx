// The page: reads its data, and shows what the address says.
import { Component, Fragment, h, render, type ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type Page, unpack } from "./data";
import { Help, Mark } from "./frame";
import { Card, Empty, Tips } from "./parts";
import { Compare } from "./compare";
import { Launch } from "./launch";
import { Learn } from "./learnpage";
import { Progress, useLive } from "./live";
import { Machine } from "./machine";
import { Comparisons } from "./measured";
import { Pipeline } from "./pipeline";
import { Source } from "./source";
import { Summary } from "./summary";
import { SweepReport } from "./sweeppage";
import { Time } from "./time";
import { type Route, go, href, useRoute } from "./route";
import "./style.css";

/** The pages, in the order of the bar, and what of a result they show: one launch, a launch or the whole, or the whole only. */
const pages: Record<string, { name: string; of: "launch" | "either" | "whole"; several?: boolean }> = {
  summary: { name: "Summary", of: "whole" },
  launch: { name: "Launch", of: "launch" },
  source: { name: "Source", of: "either" },
  time: { name: "Time", of: "either" },
  machine: { name: "Machine", of: "whole" },
  pipeline: { name: "Pipeline", of: "whole" },
  compare: { name: "Compare", of: "whole", several: true },
  learn: { name: "Learn", of: "whole" },
};

function App({ first, live }: { first: Page; live: boolean }) {
  const { page, state, lost, bad } = useLive(first, live);
  if (page.sweep) return <SweepReport sweep={page.sweep} heddle={page.heddle} />;
  if (page.results.length === 0 && page.comparisons.length > 0) {
    return (
      <Fragment>
        <header class="top"><span class="brand"><Mark /><span>Heddle</span></span></header>
        <main id="content"><Comparisons list={page.comparisons} /></main>
        <footer>Made by Heddle {page.heddle}. Everything is in this page; it sends nothing anywhere.</footer>
        <Tips />
      </Fragment>
    );
  }
  if (page.results.length > 0) return <Pages page={page} live={live && <Progress state={state} lost={lost} bad={bad} page={page} />} />;
  return (
    <Fragment>
      <header class="top"><span class="brand"><Mark /><span>Heddle</span></span></header>
      <main id="content">
        <Progress state={state} lost={lost} bad={bad} page={page} />
        <Card><h1>{state?.input ?? "A run"}</h1><Empty>{state?.done ? "The run gave no result; heddle says why where it was started." : "Results appear here as soon as there are some. A short run shows only its end."}</Empty></Card>
      </main>
    </Fragment>
  );
}

function Pages({ page, live }: { page: Page; live: ComponentChildren }) {
  const route = useRoute();
  const run = Math.min(route.run, page.results.length - 1), result = page.results[run];
  const [help, setHelp] = useState(false);
  const first = result.kernels[0]?.launch ?? 0;
  const launch = route.launch ?? (route.page === "launch" ? first : null);
  const at = launch === null ? -1 : result.indexOf(launch);
  const list = Object.entries(pages).filter(([, p]) => !p.several || page.results.length > 1 || page.comparisons.length > 0);
  const address = (name: string) => href({ page: name, launch: pages[name].of === "launch" ? launch ?? first : pages[name].of === "whole" ? null : route.launch, run });
  useEffect(() => {
    document.title = `${pages[route.page]?.name ?? "Page"}${launch !== null ? ` ${launch}` : ""} – ${result.name} – Heddle`;
    scrollTo(0, 0);
    // Narrow screens show a part of the bar.
    const bar = document.querySelector<HTMLElement>(".top nav"), here = bar?.querySelector<HTMLElement>("a[aria-current]");
    if (bar && here) bar.scrollLeft = here.offsetLeft - bar.offsetLeft - (bar.clientWidth - here.offsetWidth) / 2;
  }, [route.page, launch, run]);
  useEffect(() => {
    const f = (e: KeyboardEvent) => {
      if ((e.target as Element).closest("input,select,textarea") || e.ctrlKey || e.metaKey || e.altKey) return;
      const n = Number(e.key);
      if (n >= 1 && n <= list.length) location.hash = address(list[n - 1][0]);
      const step = e.key === "n" ? 1 : e.key === "p" ? -1 : 0;
      if (step && result.kernels.length > 0 && (route.page === "summary" || pages[route.page]?.of !== "whole")) {
        const to = result.kernels[Math.max(0, Math.min(result.kernels.length - 1, (at < 0 ? (step > 0 ? -1 : 1) : at) + step))];
        go({ page: route.page === "summary" ? "launch" : route.page, launch: to.launch, run });
      }
      if (e.key === "?") setHelp(true);
      if (e.key === "/") {
        const field = document.getElementById("filter");
        if (field) {
          e.preventDefault();
          field.focus();
        }
      }
      if (e.key === "Escape") setHelp(false);
    };
    addEventListener("keydown", f);
    return () => removeEventListener("keydown", f);
  });
  return (
    <Fragment>
      <a class="skip" href="#content" onClick={(e) => { e.preventDefault(); document.getElementById("content")?.focus(); }}>To the content</a>
      <header class="top">
        <a class="brand" href={href({ page: "summary", run })} aria-label="Heddle: summary"><Mark /><span>Heddle</span></a>
        <nav aria-label="Pages">{list.map(([name, p]) => <a key={name} href={address(name)} aria-current={route.page === name ? "page" : undefined}>{p.name}</a>)}</nav>
        <div class="what">
          {page.results.length > 1 && <select aria-label="Result" value={String(run)} onChange={(e) => go({ ...route, launch: null, page: route.page, query: {}, run: Number(e.currentTarget.value) })}>{page.results.map((r, i) => <option key={i} value={String(i)}>{r.name}</option>)}</select>}
          {result.kernels.length > 1 && route.page === "launch" && <select aria-label="Launch" value={String(launch)} onChange={(e) => go({ page: route.page, launch: Number(e.currentTarget.value), run })}>{result.kernels.map((k) => <option key={k.launch} value={String(k.launch)}>{k.launch}: {page.kernelName(k.name)}</option>)}</select>}
          <button type="button" class="round" aria-label="Help" onClick={() => setHelp(!help)}>?</button>
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        {live}
        <Guard key={`${route.page} ${launch} ${run}`}><Content page={page} route={{ ...route, run }} at={at} launch={launch} run={run} /></Guard>
      </main>
      <footer>Made by Heddle {page.heddle}. {live ? "This page asks only the heddle that made it, on this computer." : "Everything is in this page; it sends nothing anywhere."}</footer>
      {help && <Help keys={keys(list.map(([, p]) => p.name))} close={() => setHelp(false)} />}
      <Tips />
    </Fragment>
  );
}

/** Shows in place of a page that cannot be drawn why that is so; the other pages stay. */
class Guard extends Component<{ children: ComponentChildren }, { why?: string }> {
  static getDerivedStateFromError(e: unknown) { return { why: String(e) }; }
  render() {
    return this.state.why === undefined ? this.props.children : <Card title="This page cannot be shown" class="bad"><p class="message">{this.state.why}</p><p>The result is damaged, or of another version of Heddle.</p></Card>;
  }
}

function Content({ page, route, at, launch, run }: { page: Page; route: Route; at: number; launch: number | null; run: number }) {
  const result = page.results[run];
  if (launch !== null && at < 0 && route.page !== "launch") return <Card title={`No launch ${launch}`}><Empty>The result has no launch with this number. <a href={href({ page: "summary", run })}>All launches</a></Empty></Card>;
  switch (route.page) {
    case "summary": return <Summary key={run} result={result} run={run} />;
    case "launch": return <Launch key={`${run} ${at}`} result={result} run={run} at={at} />;
    case "source": return <Source key={`${run} ${at}`} result={result} route={route} at={at} />;
    case "time": return <Time key={run} result={result} route={route} at={at} />;
    case "machine": return <Machine key={run} result={result} run={run} />;
    case "pipeline": return <Pipeline key={run} result={result} run={run} />;
    case "learn": return <Learn key={run} result={result} route={route} />;
    case "compare": return <Compare page={page} route={route} />;
  }
  return <Card title="No such page"><Empty>There is no page “{route.page}”. <a href={href({ page: "summary", run })}>Summary</a></Empty></Card>;
}

function keys(names: string[]): [string, string][] {
  return [...names.map((n, i) => [String(i + 1), `page ${n}`] as [string, string]), ["n, p", "next, previous launch"], ["h, H", "next, previous hottest line (Source)"], ["f, F", "next, previous finding of a checker (Source)"], ["/", "filter launches (Summary)"], ["↑ ↓", "select a line (Source, Learn)"], ["← → ↑ ↓", "read a chart that Tab has reached (Time)"], ["→, ←", "step forward, back; ten with Shift (Learn)"], ["Home, End", "start, end (Learn)"], ["w, W", "follow the next, previous warp (Learn)"], ["[, ]", "previous, next frame or launch (Learn)"], ["Space", "play, pause (Learn)"], ["?", "this list"], ["Esc", "close"]];
}

async function start() {
  const app = document.getElementById("app")!;
  try {
    const data = document.getElementById("data")!;
    const page = await unpack(data.textContent ?? "");
    data.remove();
    render(<App first={page} live={app.dataset.live !== undefined} />, app);
    requestAnimationFrame(() => setTimeout(() => (app.dataset.ready = "true"), 0)); // the effects have run
  } catch (e) {
    render(<main><Card title="This page cannot be shown" class="bad"><p class="message">{String(e)}</p><p>The file is damaged, or this browser is too old: it needs DecompressionStream (2023).</p></Card></main>, app);
    app.dataset.ready = "failed";
  }
}

void start();
