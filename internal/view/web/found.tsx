// What checkers found: the list, and what is known at a line of a text.
import { Fragment, h } from "preact";
import { useState } from "preact/hooks";
import type { Found, FoundPlace, Result } from "./data";
import { base, count, plural } from "./format";
import { Card, Empty, Status } from "./parts";
import { href } from "./route";

const signs: Record<string, string> = { error: "✖", warning: "⚠", note: "●" };

/** The sign of a level, which has a shape and a colour. */
export function Sign({ level }: { level: string }) {
  return <b class={`sign ${signs[level] ? level : "note"}`} role="img" aria-label={level} title={level}>{signs[level] ?? signs.note}</b>;
}

/** 2 errors, 1 note */
export function tally(list: Found[]): string {
  return ["error", "warning", "note"].flatMap((l) => {
    const n = list.filter((f) => f.level === l).length;
    return n > 0 ? [plural(n, l, l + "s")] : [];
  }).join(", ");
}

/** A place, as a link to its line where the page can show it. */
function Place({ p, run, how }: { p: FoundPlace; run: number; how: string }) {
  const shown = p.line ? `${base(p.file ?? "")}:${p.line}` : p.inst ? `instruction ${p.pc ?? 0}` : p.file ?? "";
  if (shown === "" && !p.function) return null;
  const to = p.line && !p.library ? href({ page: "source", run, query: { line: `${p.file}:${p.line}` } }) : "";
  return (
    <span class="place">
      <span class="muted">{how} </span>
      {to ? <a href={to} title={`${p.file}:${p.line}`}>{shown}</a> : <span title={p.file}>{shown}</span>}
      {p.function && <span class="muted"> in <code>{p.function}</code></span>}
      {!p.line && p.inst && <Fragment> <code>{p.inst}</code></Fragment>}
    </span>
  );
}

/** One finding with all that is known of it. */
export function One({ f, run, result }: { f: Found; run: number; result: Result }) {
  const rule = result.foundRule(f.rule), cause = f.cause ? result.page.cause(f.cause) : "";
  const details = Object.entries(f.details ?? {}).sort((a, b) => (a[0] < b[0] ? -1 : 1));
  const text = (role: string, said: string, i: number) => (i > 0 && !said.startsWith(role) ? (said ? `${role}: ${said}` : role) : said);
  return (
    <article class="found">
      <h3><Sign level={f.level} /> {f.message}</h3>
      <p class="facts-line muted">
        <code>{f.rule}</code>{f.count > 1 && <span>{count(f.count)} times</span>}
        {f.launch >= 0 && (result.indexOf(f.launch) >= 0 ? <span>in <a href={href({ page: "launch", launch: f.launch, run })}>launch {f.launch}</a>{f.kernel ? <Fragment>, of <code>{f.kernel}</code></Fragment> : ""}</span> : <span>in launch {f.launch}{f.kernel ? `, of ${f.kernel}` : ""}</span>)}
        {f.order && f.order !== "forward" && <span>with --order {f.order}</span>}
      </p>
      <ol class="steps">
        {(f.steps ?? []).map((s, i) => (
          <li key={i}>
            {text(s.role, s.text ?? "", i) && <span>{text(s.role, s.text ?? "", i)} </span>}
            <Place p={s} run={run} how="at" />
            {(s.chain ?? []).map((c, j) => <Place key={j} p={c} run={run} how="called from" />)}
          </li>
        ))}
      </ol>
      {cause && <p><span class="muted">Why:</span> {cause}.</p>}
      {rule?.mend && !f.message.includes(rule.mend) && <p class="try"><span aria-hidden="true">→</span> {rule.mend}</p>}
      {(rule?.full || details.length > 0) && (
        <details>
          <summary>More</summary>
          {rule?.full && <p>{rule.full}</p>}
          {details.length > 0 && <dl class="facts">{details.map(([k, v]) => <div key={k}><dt>{k}</dt><dd>{v}</dd></div>)}</dl>}
        </details>
      )}
    </article>
  );
}

/** How many findings are drawn at first, and more at a time: a run can have thousands of notes. */
const few = 12;

/** A list of findings. */
export function List({ list, run, result }: { list: Found[]; run: number; result: Result }) {
  const [n, set] = useState(few);
  return (
    <Fragment>
      <ol class="foundlist">{list.slice(0, n).map((f, i) => <li key={i}><One f={f} run={run} result={result} /></li>)}</ol>
      {list.length > n && <p class="links"><button type="button" onClick={() => set(n + 10 * few)}>{plural(Math.min(10 * few, list.length - n), "more finding", "more findings")}</button><span class="muted">{count(n)} of {count(list.length)} are shown</span></p>}
    </Fragment>
  );
}

/** The card of the summary: which checkers ran, and what they found. */
export function Checkers({ result, run }: { result: Result; run: number }) {
  const ran = (result.run.checkers ?? []).filter((c) => c.checker !== "hazards"), list = result.found;
  if (ran.length === 0) return null;
  const lost = ran.reduce((n, c) => n + (c.found ?? 0), 0);
  const missed = ran.filter((c) => (c.launches_not_watched?.length ?? 0) > 0);
  const none = missed.some((c) => c.launches_not_watched!.length === result.kernels.length);
  return (
    <Card title="What checkers found" class={list.some((f) => f.level !== "note") ? "bad" : ""} more={<span class="muted">checked: {ran.map((c) => c.checker).join(", ")}</span>}>
      {list.length > 0 ? <p class="about"><Status ok={ran.every((c) => c.ok)}>{tally(list)}</Status></p>
        : lost > 0 ? <Empty>{plural(lost, "finding", "findings")}. The result does not have them; <code>heddle check</code> prints them.</Empty>
        : none ? <Empty>Nothing was checked by {missed.map((c) => c.checker).join(", ")}.</Empty>
        : <Status ok>nothing found</Status>}
      <List list={list} run={run} result={result} />
      {missed.map((c) => <p key={c.checker} class="note">{plural(c.launches_not_watched!.length, "launch was", "launches were")} not checked by {c.checker}: machine code, {["races", "sync", "init", "memory"].includes(c.checker) ? "which this checker sees in functional runs only" : "and this checker sees PTX"}.</p>)}
    </Card>
  );
}

/** Which checkers ran, in a few words. */
export function verdict(result: Result): string {
  const ran = result.run.checkers ?? [];
  if (ran.length === 0) return "none ran";
  const said = result.found.length > 0 ? tally(result.found) : ran.every((c) => c.ok) ? "nothing found" : "";
  return ran.map((c) => c.checker).join(", ") + (said ? `: ${said}` : "");
}
