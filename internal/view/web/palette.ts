// The one palette of warp states. Its colours are in palette.json, which a test checks for
// contrast and for people who do not tell all colours apart.
import palette from "./palette.json";

const states = palette.states as unknown as Record<string, [string, string]>;
const families = palette.families as Record<string, string>;
const order = Object.keys(states);

export function colour(state: string): string {
  return (states[state] ?? ["none", "#9aa3ad"])[1];
}

/** What states of one hue have in common. */
export function family(state: string): string {
  return families[(states[state] ?? ["none"])[0]];
}

/** Black or white, whichever is easier to read on a colour. */
export function ink(hex: string): string {
  const part = (i: number) => {
    const c = parseInt(hex.slice(i, i + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  };
  const light = 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
  return 1.05 / (light + 0.05) >= (light + 0.05) / 0.05 ? "#fff" : "#000";
}

/** States in the order of the palette, which keeps families together. */
export function sorted(names: string[]): string[] {
  const at = (n: string) => {
    const i = order.indexOf(n);
    return i < 0 ? order.length : i;
  };
  return [...names].sort((a, b) => at(a) - at(b) || (a < b ? -1 : 1));
}
