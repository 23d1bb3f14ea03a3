// Addresses within the page: #/launch/3/source?line=kernel.cu:42&run=1
import { useEffect, useState } from "preact/hooks";

export interface Route {
  page: string;
  launch: number | null; // its number; null is the whole run
  run: number; // index of the result
  query: Record<string, string>;
}

export function parse(hash: string): Route {
  const [path, search = ""] = hash.replace(/^#\/?/, "").split("?");
  const query: Record<string, string> = {};
  new URLSearchParams(search).forEach((v, k) => (query[k] = v));
  const parts = path.split("/").filter((p) => p !== "");
  const run = Math.max(0, Number.parseInt(query.run ?? "0", 10) || 0);
  let launch: number | null = null;
  let page = parts[0] || "summary";
  if (page === "launch" && parts.length > 1 && /^\d+$/.test(parts[1])) {
    launch = Number(parts[1]);
    page = parts[2] || "launch";
  }
  return { page, launch, run, query };
}

export function href(to: { page: string; launch?: number | null; run?: number; query?: Record<string, string> }): string {
  const query = new URLSearchParams();
  for (const [k, v] of Object.entries(to.query ?? {})) if (v !== "" && k !== "run") query.set(k, v);
  if (to.run) query.set("run", String(to.run));
  const path = to.launch === null || to.launch === undefined ? to.page : to.page === "launch" ? `launch/${to.launch}` : `launch/${to.launch}/${to.page}`;
  const text = query.toString().replaceAll("%3A", ":").replaceAll("%2F", "/");
  return `#/${path}${text ? "?" + text : ""}`;
}

/** An instruction in the query of the page Source. */
export function lineOf(l: { file?: string; line?: number; pc: number }): { line: string } {
  return { line: l.line ? `${l.file}:${l.line}` : `pc:${l.pc}` };
}

export function go(to: Parameters<typeof href>[0]): void {
  location.hash = href(to);
}

/** Changes the query without a new entry in the history. */
export function replaceQuery(r: Route, query: Record<string, string>): void {
  history.replaceState(null, "", href({ ...r, query: { ...r.query, ...query } }));
}

export function useRoute(): Route {
  const [route, set] = useState(() => parse(location.hash));
  useEffect(() => {
    const changed = () => set(parse(location.hash));
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return route;
}
