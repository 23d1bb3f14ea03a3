// What surrounds a page.
import { h } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Card } from "./parts";

export function Mark() {
  return <svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="7" fill="#0b5fa5" /><path d="M9 6v20M16 6v20M23 6v20" stroke="#fff" stroke-width="2.6" stroke-linecap="round" /><path d="M5 19c4-6 6 6 11 0s7 6 11 0" fill="none" stroke="#ffb000" stroke-width="3" stroke-linecap="round" /></svg>;
}

/** The keys of a page. */
export function Help({ keys, close }: { keys: [string, string][]; close: () => void }) {
  const [before] = useState(() => document.activeElement as HTMLElement | null);
  useEffect(() => () => before?.focus(), []);
  return (
    <div class="dialog" role="dialog" aria-modal="true" aria-label="Keys" onKeyDown={(e) => e.key === "Tab" && e.preventDefault()} onClick={(e) => e.target === e.currentTarget && close()}>
      <Card title="Keys" more={<button type="button" class="switch" ref={(b) => b?.focus()} onClick={close}>Close</button>}>
        <dl class="keys">{keys.map(([k, t]) => <div key={k}><dt><kbd>{k}</kbd></dt><dd>{t}</dd></div>)}</dl>
        <p class="note">Words with a dotted line have an explanation: point at them, or reach them with Tab.</p>
      </Card>
    </div>
  );
}
