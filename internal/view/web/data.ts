// The data of a page, as internal/view/pack.go packs them, and what several pages derive from
// them. Nothing here judges: verdicts are the findings of the result.

import { Columns, type Column } from "./columns";
import { count } from "./format";
import type { Film, Lesson } from "./learn";
import { type Report, Sweep } from "./sweep";

export type Numbers = Record<string, number>;

export interface Cache { accesses: number; hits: number; pending_hits: number; misses: number; sector_misses: number; refused: number; write_backs: number }
export interface Memory {
  l1: Cache; l1_const: Cache; l1_texture: Cache; l1_inst: Cache; l2: Cache;
  dram: { reads: number; writes: number; activates: number; precharges: number; requests: number; row_hits: number; busy_cycles: number; cycles: number; bytes_read: number; bytes_written: number; peak_gb_per_s: number };
  network: { request_packets: number; request_flits: number; reply_packets: number; reply_flits: number };
  mean_latency_cycles: number; replies: number; latency_log2: number[] | null; shared_conflict_cycles: number; const_conflict_cycles?: number;
  load_store_stall_cycles: number; l2_entry_stall_cycles: number; reply_stall_cycles: number;
}
export interface Peak { part: string; used: number; most: number; unit: string }
export interface LineCost { file: string; line: number; pc: number; source_file?: string; source_line?: number; instruction: string; share: number }
export interface Finding { rule: string; launch?: number; launches: number; kernel?: string; share: number; run_share: number; seen: string; try: string; lines?: LineCost[] }
export interface Kernel {
  name: string; launch: number; device?: number; code?: string; stream: number; grid: number[]; block: number[];
  registers: number; shared_bytes: number; local_bytes: number; blocks: number; warp_instructions: number; thread_instructions: number;
  // Of timing runs only; cycles tells.
  sampled?: boolean; // cycles is an estimate, and there are no counters
  passed_blocks?: number; passed_warp_instructions?: number; passed_cycles?: number; // blocks that were executed only, and the estimated part of the cycles
  cycles?: number; start_cycle: number; end_cycle: number; first_block_cycle: number; ipc: number; occupancy: number; blocks_per_sm: number; limited_by: string;
  occupancy_steps?: { resource: string; now: number; need: number; blocks_per_sm: number }[];
  register_estimate?: { fewer: number; more: number; blocks_per_sm_if_fewer: number; blocks_per_sm_if_more: number };
  peaks?: Peak[]; flops?: Numbers; l1_ways: number; overlapped: boolean; stalls: Numbers; slot_stalls: Numbers; warp_cycles: number; lanes_per_issue: number[] | null;
  memory: Memory; warps?: { warp: number; exit_cycle: number; cycles: number; stalls: Numbers }[];
}
export interface Place { file: string; line: number; pc: number; text: string; control: string }
export interface Hazard { kind: string; kernel: string; launch: number; block: number; warp: number; lane: number; cycle: number; instruction: Place; producer: Place; register: string; cycles_short: number; times: number; fixes: Place[] | null }
/** What checkers found; internal/report/found explains the fields. */
export interface FoundPlace { file?: string; line?: number; function?: string; pc?: number; inst?: string; library?: boolean }
export interface FoundStep extends FoundPlace { role: string; text?: string; chain?: FoundPlace[] | null }
export interface Found { rule: string; level: string; message: string; kernel?: string; launch: number; count: number; cause?: string; order?: string; steps: FoundStep[] | null; details?: Record<string, string> }
export interface FoundRule { id: string; checker: string; level: string; short: string; full?: string; mend?: string }
export interface Checker { checker: string; ok: boolean; found?: number; launches_not_watched?: number[]; left_out?: number; hazards?: Hazard[] }
export interface Channel { channel: number; device?: number; reads: number; writes: number; activates: number; precharges: number; requests: number; row_hits: number; busy_cycles: number; cycles: number; banks: Numbers[] | null }
export interface SM { sm: number; device?: number; blocks: number; warp_instructions: number; thread_instructions: number; busy_cycles: number; warp_cycles: number; mean_latency_cycles: number; l1: Cache }
export interface Slice { slice: number; device?: number; requests: number; l2: Cache }
/** A node of the network; side sms: SMs that share it. */
export interface Port { side: "sms" | "slice"; port: number; device?: number; request_packets: number; request_flits: number; reply_packets: number; reply_flits: number }
export interface Subnet { of: string; device?: number; kind: string; flit_bytes: number; packets: number; flits: number; mean_latency_cycles: number; max_latency_cycles: number; cycles: number; busy_cycles: number; conflicts: number; refused: number; full_outputs: number }
/** Who waits for whom in a run without progress; internal/report/standstill.go explains the fields. */
export interface Standing { sm: number; slot: number; kernel: string; block: number[]; warp: number; lanes: number; function?: string; pc: number; instruction?: string; file?: string; line?: number; source_file?: string; source_line?: number; state: string; waits_for?: string; barrier?: number; for_lanes?: number }
export interface Meeting { sm: number; kernel: string; block: number[]; barrier: number; came: number; need: number; missing: number[] | null }
export interface Standstill { warps: Standing[] | null; barriers: Meeting[] | null; grids: { kernel: string; total: number; placed: number; ended: number }[] | null; loops?: boolean; left_out?: number }
export interface Step { step: number; kind: string; stream: number; launch?: number; from?: string; to?: string; bytes?: number; event?: string; start_cycle?: number; end_cycle?: number }
export interface Range { name: string; times: number; launches: number; warp_instructions: number; thread_instructions: number; cycles?: number; ranges?: Range[] }
export interface History { every: number; end: number[]; columns: Record<string, number[]>; parts: { part: string; counter: string; every: number; counts: number[][] }[]; warps?: { every: number; states: string[]; slots: { sm: number; slot: number; states: string }[] } }
/** The way of instructions through the pipeline of an SM; internal/report/ways.go explains the fields. */
export interface WayInst { launch: number; pc: number; text: string; file?: string; line?: number; source_file?: string; source_line?: number }
export interface Recorded { sm: number; from_cycle: number; to_cycle: number; stages: string[]; instructions: WayInst[]; instruction: number[]; block: number[]; warp: number[]; slot: number[]; lanes: number[]; at: number[][]; waited_for: number[]; open?: number[] }
export interface Run {
  heddle: string; input: string; programs: string[] | null; gpu: string; mode: string; ok: boolean; conditions: Record<string, unknown> | null;
  core?: string; core_from?: string; sms: number; cycles?: number; clocks: { core_mhz: number; network_mhz: number; l2_mhz: number; dram_mhz: number };
  machine?: { warp_slots: number; block_slots: number; registers: number; shared_bytes: number; issues_per_cycle: number; l1_gb_per_s?: number; l2_gb_per_s?: number; gflop_per_s?: Numbers };
  memory: Memory; per_sm: SM[] | null; per_slice: Slice[] | null; per_channel: Channel[] | null; per_port?: Port[] | null; subnets?: Subnet[] | null; history?: History;
  now?: Standstill & { cycle: number; queues: { sm: number; name: string; len: number; cap: number }[] | null };
  warp_instructions: number; thread_instructions: number; seconds: number; kernels: Kernel[] | null;
  kepler?: { memory_transactions: number; split_transactions: number; shared_conflict_cycles: number };
  ways?: Recorded[]; lessons?: Lesson[]; films?: Film[];
  no_job?: boolean; trace?: unknown;
  sampling?: { launches: number; timed: number; timed_in_part: number; timed_cycles: number; estimated_cycles: number; margin_cycles: number };
  launches_left_out?: number; ranges?: Range[]; steps?: Step[];
  checks: { buffer?: string; symbol?: string; against: string; ok: boolean; elements: number; mismatches: number; tolerance?: number; first_mismatch?: { index: number; got: string; want: string } }[] | null;
  checkers?: Checker[];
  checker_findings?: { version: number; rules: FoundRule[] | null; findings: Found[] | null };
  findings?: Finding[];
  error?: { kind: string; message: string; kernel?: string; file?: string; line?: number; source_file?: string; source_line?: number; launch?: number; standstill?: Standstill };
}
interface Code { strings: string[]; function: number[]; file: number[]; source_file: number[]; pc: number[]; line: number[]; source_line: number[]; text: string[]; control: string[] }
interface Counts { code: number; at?: number[]; issues: number[]; threads: number[]; cycles: number[]; stalls: Record<string, number[]>; access: (number[] | null)[]; branches: (number[] | null)[]; waited: (number[] | null)[] }
export interface Blocks { block?: number[]; sm: number[]; start: number[]; end: number[] }
interface Packed { name: string; run: Run; codes: Code[] | null; counts: (Counts | null)[]; blocks: (Blocks | null)[]; whole?: Counts; columns: Column[] | null; sources: Record<string, number> }
interface Payload { heddle: string; results: Packed[] | null; names: Record<string, string>; explain: Record<string, [string, string, string]>; rules: Record<string, string>; kepler_rules: Record<string, string>; causes: Record<string, string>; texts: string[] | null; comparisons?: { name: string; is: Measured }[]; sweep?: Report }

// Comparisons with tables, as heddle compare --json writes them.
export interface Side { files: string[]; what: string; metric: string; less: number; rows: number; notes?: string[] }
export interface Pair { name: string; name_b?: string; launch_a?: number; launch_b?: number; a: number; b: number; ratio: number; error_percent: number }
export interface Alone { name: string; launch?: number; value: number; file: string; line?: number }
export interface Measured {
  a: Side; b: Side; by: string; match: string; pairs: Pair[]; only_a: Alone[] | null; only_b: Alone[] | null;
  statistics: { pairs: number; mean_absolute_error_percent: number; median_absolute_error_percent: number; p90_absolute_error_percent: number; worst_absolute_error_percent: number; worst: string; mean_error_percent: number; correlation: number | null; log_correlation: number | null };
}

/** One instruction or source line with its counters. */
export interface Line {
  code: number; copy: number; file: string; line: number; fn: string; pc: number; text: string; control: string; sourceFile: string; sourceLine: number;
  issues: number; threads: number; cycles: number; stalls: Numbers;
  /** In a functional run: the threads that reached it; of a source line, its instruction that most reached. */
  ran: number;
  requests: number; sectors: number; least: number; conflicts: number; taken: number; notTaken: number; diverged: number; branch: boolean;
  /** Warp cycles that it waited for other instructions, by their identity. */
  waited: Map<string, number>;
}

/** The cycles of a launch as a text; estimates have a sign before them. */
export function cyclesOf(k: Kernel): string { return (k.sampled || k.passed_blocks ? "≈ " : "") + count(k.cycles ?? 0); }

/** A launch as if only its simulated blocks had run: what its counters are of. */
export function simulated(k: Kernel): Kernel {
  return { ...k, cycles: k.cycles === undefined ? undefined : k.cycles - (k.passed_cycles ?? 0), warp_instructions: k.warp_instructions - (k.passed_warp_instructions ?? 0) };
}

/** What identifies an instruction; code is that of its kernel, as modules may have kernels of one name. */
export function identity(l: { code: number; file: string; line: number; fn: string; pc: number }): string {
  return `${l.code}\n${l.file}\n${l.line}\n${l.fn}\n${l.pc}`;
}

export class Result {
  constructor(private packed: Packed, readonly page: Page) {
    for (const k of this.kernels) { // Go writes empty maps as null
      k.stalls ??= {};
      k.slot_stalls ??= {};
    }
  }
  get name(): string { return this.packed.name || this.packed.run.input; }
  get run(): Run { return this.packed.run; }
  get kernels(): Kernel[] { return this.packed.run.kernels ?? []; }
  get timing(): boolean { return this.packed.run.cycles !== undefined; }
  /** What checkers found, the most serious first. */
  get found(): Found[] { return this.packed.run.checker_findings?.findings ?? []; }
  foundRule(id: string): FoundRule | undefined { return this.packed.run.checker_findings?.rules?.find((r) => r.id === id); }
  /** The first of the names of files with one text: host and device code may name a file differently. */
  sameFile(file: string, names: string[]): string {
    const n = known(this.packed.sources, file);
    return n === undefined ? file : names.find((x) => known(this.packed.sources, x) === n) ?? file;
  }
  /** What the cause of a finding is. */
  rule(name: string): string { return this.page.rule(name, this.run.kepler !== undefined); }
  source(file: string): string | undefined { return this.page.text(known(this.packed.sources, file) ?? -1); }
  blocks(at: number): Blocks | null { return this.packed.blocks[at]; }

  /** The index of the launch with a number, -1 if there is none. */
  indexOf(launch: number): number { return this.kernels.findIndex((k) => k.launch === launch); }

  private cache = new Map<number, Line[]>();
  private copies = new Map<number, number>();

  /** How many other codes of kernels of this name there are before one. */
  private copy(code: number): number {
    if (this.copies.size === 0) {
      const of = new Map<string, Set<number>>();
      this.packed.counts.forEach((c, i) => {
        if (!c) return;
        const all = of.get(this.kernels[i].name) ?? new Set();
        of.set(this.kernels[i].name, all.add(c.code));
        this.copies.set(c.code, [...all].indexOf(c.code));
      });
    }
    return this.copies.get(code) ?? 0;
  }

  /** The lines of a launch by its index, of all launches for -1. */
  lines(at: number): Line[] {
    let list = this.cache.get(at);
    if (!list) {
      list = this.packed.whole ? this.linesOf(this.packed.whole) : at >= 0 ? this.linesOf(this.packed.counts[at]) : this.sum();
      this.cache.set(at, list);
    }
    return list;
  }

  private linesOf(c: Counts | null): Line[] {
    if (!c) return [];
    const whole = c === this.packed.whole;
    const code = (this.packed.codes ?? [])[c.code], copy = this.copy(c.code);
    const list: Line[] = c.issues.map((issues, i) => {
      const row = c.at ? c.at[i] : i;
      const stalls: Numbers = {};
      for (const s in c.stalls) if (c.stalls[s][i] > 0) stalls[s] = c.stalls[s][i];
      return {
        code: c.code, copy, file: code.strings[code.file[row]], line: code.line[row], fn: code.strings[code.function[row]], pc: code.pc[row], text: code.text[row], control: code.control[row],
        sourceFile: code.strings[code.source_file[row]], sourceLine: code.source_line[row], issues, threads: c.threads[i], cycles: c.cycles[i], stalls, ran: whole ? c.threads[i] : 0,
        requests: 0, sectors: 0, least: 0, conflicts: 0, taken: 0, notTaken: 0, diverged: 0, branch: false, waited: new Map(),
      };
    });
    const [index, requests, sectors, least, conflicts] = c.access;
    index?.forEach((i, j) => Object.assign(list[i], { requests: requests![j], sectors: sectors![j], least: least![j], conflicts: conflicts![j] }));
    const [where, taken, notTaken, diverged] = c.branches;
    where?.forEach((i, j) => Object.assign(list[i], { taken: taken![j], notTaken: notTaken![j], diverged: diverged![j], branch: true }));
    const [waits, from, cycles] = c.waited;
    waits?.forEach((i, j) => {
      const row = from![j];
      list[i].waited.set(identity({ code: c.code, file: code.strings[code.file[row]], line: code.line[row], fn: code.strings[code.function[row]], pc: code.pc[row] }), cycles![j]);
    });
    return list;
  }

  private sum(): Line[] {
    const all = new Map<string, Line>();
    this.kernels.forEach((_, at) => {
      for (const l of this.linesOf(this.packed.counts[at])) {
        const key = identity(l);
        const old = all.get(key);
        if (old) add(old, l);
        else all.set(key, l);
      }
    });
    return [...all.values()];
  }
}

/** Adds the counters of a line to another. */
export function add(to: Line, l: Line): void {
  to.ran = Math.max(to.ran, l.ran);
  to.issues += l.issues; to.threads += l.threads; to.cycles += l.cycles;
  to.requests += l.requests; to.sectors += l.sectors; to.least += l.least; to.conflicts += l.conflicts;
  to.taken += l.taken; to.notTaken += l.notTaken; to.diverged += l.diverged; to.branch ||= l.branch;
  for (const s in l.stalls) to.stalls[s] = (to.stalls[s] ?? 0) + l.stalls[s];
  for (const [k, n] of l.waited) to.waited.set(k, (to.waited.get(k) ?? 0) + n);
}

/** Lines joined by a key of each; "" leaves one out. */
export function group(lines: Line[], key: (l: Line) => string): Map<string, Line> {
  const all = new Map<string, Line>();
  for (const l of lines) {
    const k = key(l);
    if (k === "") continue;
    const old = all.get(k);
    if (old) add(old, l);
    else all.set(k, { ...l, stalls: { ...l.stalls }, waited: new Map(l.waited) });
  }
  return all;
}

/** What is known by a name of a program, which may be one that every object has: constructor. */
function known<T>(map: Record<string, T>, name: string): T | undefined {
  return Object.hasOwn(map, name) ? map[name] : undefined;
}

export interface Term { name: string; unit: string; meaning: string; source: string }

export class Page {
  readonly results: Result[];
  /** The report of a sweep, which stands alone. */
  readonly sweep?: Sweep;
  /** The results are those of a run that goes on. */
  running = false;
  /** It can pause, and record what it is asked for. */
  holds = false;
  constructor(private data: Payload) {
    this.results = (data.results ?? []).map((p) => new Result(p, this));
    this.sweep = data.sweep && new Sweep(data.sweep);
  }
  /** Comparisons with tables of measurements. */
  get comparisons() { return this.data.comparisons ?? []; }
  get heddle(): string { return this.data.heddle; }
  kernelName(name: string): string { return known(this.data.names, name) ?? name; }
  text(n: number): string | undefined { return (this.data.texts ?? [])[n]; }
  rule(name: string, kepler: boolean): string { return known(kepler ? this.data.kepler_rules : this.data.rules, name) ?? ""; }
  /** The cause of a race in words. */
  cause(name: string): string { return known(this.data.causes, name) ?? ""; }
  /** The explanation of a counter; the words of heddle run --explain. */
  term(name: string): Term | undefined {
    const t = known(this.data.explain, name);
    return t && { name, unit: t[0], meaning: t[1], source: t[2] };
  }
}

/** Reads the data of a page: base64 of deflated columns and a JSON text. */
export async function unpack(text: string): Promise<Page> {
  const raw = atob(text.trim());
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const data = await new Response(stream).arrayBuffer();
  const columns = 4 + new DataView(data).getUint32(0, true);
  const payload = JSON.parse(new TextDecoder().decode(new Uint8Array(data, columns))) as Payload;
  const reader = new Columns(new Uint8Array(data, 4, columns - 4));
  for (const r of payload.results ?? []) reader.put(r.run, r.columns ?? []);
  return new Page(payload);
}

/** The waits of a launch or line, largest first, without issuing. */
export function waits(stalls: Numbers): [string, number][] {
  return Object.entries(stalls).filter(([s, n]) => n > 0 && s !== "selected").sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

/** The largest wait of all, as the text report has it. */
export function mainStall(stalls: Numbers): { state: string; share: number } | null {
  const total = Object.values(stalls).reduce((a, b) => a + b, 0);
  const list = waits(stalls);
  return total > 0 && list.length > 0 ? { state: list[0][0], share: list[0][1] / total } : null;
}
