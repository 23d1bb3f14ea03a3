// A page of a run that goes on: its server sends how far the run is, and the results so far.
import { h } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type Page, unpack } from "./data";
import { base, count, percent, plural } from "./format";

/** How far a run is; internal/view/live.go explains the fields. */
export interface Live {
  is: "runs" | "paused" | "ended" | "stopped"; holds: boolean; done: boolean; input: string; gpu: string; share: number; seconds: number; left: number;
  each: string; launch: number; launches: number; kernel: string; blocks: number; total: number; cycles: number; warp_instructions: number;
}

/** The page as it grows, and how far the run is; null where nothing runs. */
export function useLive(first: Page, live: boolean): { page: Page; state: Live | null; lost: boolean; bad: string } {
  const [page, setPage] = useState(first), [state, setState] = useState<Live | null>(null), [lost, setLost] = useState(false), [bad, setBad] = useState("");
  useEffect(() => {
    if (!live) return;
    const source = new EventSource("events");
    let order = Promise.resolve(); // results take time to unpack, and must not overtake each other
    source.addEventListener("page", (e) => {
      order = order.then(() => unpack((e as MessageEvent<string>).data)).then((p) => {
        setPage(p);
        setBad("");
      }).catch((why) => setBad(String(why)));
    });
    source.addEventListener("state", (e) => {
      const s = JSON.parse((e as MessageEvent<string>).data) as Live;
      setLost(false);
      if (s.done) source.close();
      order = order.then(() => setState(s));
    });
    source.onerror = () => setLost(true);
    return () => source.close();
  }, []);
  page.running = live && !state?.done;
  page.holds = page.running && state?.holds === true;
  return { page, state, lost, bad };
}

/** Seconds of the reader, as the progress line of a terminal has them. */
function time(seconds: number): string {
  const s = Math.round(seconds);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
}

/** How far the run is, and a way to stop it. */
export function Progress({ state, lost, bad, page }: { state: Live | null; lost: boolean; bad: string; page: Page }) {
  const [asked, ask] = useState(false);
  if (!state) return <div class="going" role="status">{lost ? "The connection to heddle was lost." : "Waiting for the run …"}</div>;
  const s = state, parts: string[] = [];
  if (s.kernel) parts.push(`${s.each} ${s.launches > 0 ? `${s.launch + 1} of ${s.launches}` : s.launch}: ${page.kernelName(s.kernel)}`);
  if (s.total > 0) parts.push(`${count(s.blocks)} of ${plural(s.total, "block", "blocks")}`);
  if (s.cycles > 0) parts.push(`${count(s.cycles)} cycles`);
  if (s.warp_instructions > 0) parts.push(`${plural(s.warp_instructions, "warp instruction", "warp instructions")}`);
  const done = s.done ? (s.is === "stopped" ? "Stopped by you; the results are those until then." : "The run has ended. These are its final results.") : "";
  // Nobody knows how many launches a CUDA program will have: then it is the share of the launch.
  const whole = s.share > 0 || s.launches > 0, share = Math.max(0, Math.min(1, whole ? s.share : s.total > 0 ? s.blocks / s.total : 0));
  const post = (what: string) => fetch(what, { method: "POST" });
  const stop = () => {
    ask(true);
    post("stop").catch(() => ask(false));
  };
  const halts = s.holds && !s.done && !asked && (s.is === "runs" || s.is === "paused");
  return (
    <div class={"going" + (s.done ? " done" : "")} role="region" aria-label="Progress">
      <div class="line">
        <b>{s.done ? (s.is === "stopped" ? "Stopped" : "Ended") : s.is === "stopped" || asked ? "Stopping" : s.is === "paused" ? "Paused" : "Running"}</b>
        <span class="what-runs" title={s.input}>{base(s.input)}{s.gpu && ` on ${base(s.gpu)}`}</span>
        <span class="muted">{time(s.seconds)}{s.left > 0 && !s.done && `, about ${time(s.left)} left`}</span>
        {halts && <span class="group">
          {s.is === "paused" ? <button type="button" onClick={() => void post("continue")}>Continue</button> : <button type="button" onClick={() => void post("pause")}>Pause</button>}
          {s.is === "paused" && <button type="button" title="until the counters are looked at again, some thousand cycles later" onClick={() => void post("step")}>Step</button>}
        </span>}
        {!s.done && <button type="button" class="stop" disabled={asked || s.is === "stopped"} onClick={stop}>Stop</button>}
      </div>
      {!s.done && <div class="progress" role="progressbar" aria-label={`Share of the ${whole ? "run" : s.each} that is done`} aria-valuemin={0} aria-valuemax={100} aria-valuenow={share > 0 ? Math.floor(100 * share) : undefined}><i style={{ width: `${100 * share}%` }} /></div>}
      <p class="muted">{s.done ? done : [share > 0 ? percent(Math.floor(100 * share) / 100, 0) + (whole ? "" : ` of the ${s.each}`) : "", ...parts].filter((t) => t !== "").join(" · ")}</p>
      {bad && <p class="error" role="alert">The last results cannot be shown: {bad}. What is shown are those before them.</p>}
      {lost && !s.done && <p class="error">The connection to heddle was lost. What is shown is the last that came.</p>}
    </div>
  );
}
