package findings

import (
	"fmt"
	"math"
	"strings"

	"github.com/heddle-sim/heddle/internal/report"
)

// rules are all rules, those about launches first.
var rules = []Rule{
	{
		Name:    "uncoalesced-accesses",
		Explain: "The lanes of a warp access addresses that are far apart. Memory moves sectors of 32 bytes, of which such accesses use little.",
		Try:     "let neighbouring threads access neighbouring addresses, or pass through shared memory",
		launch:  uncoalesced,
	},
	{
		Name:    "atomic-contention",
		Explain: "Lanes of a warp change the same words by atomic operations, which happen one after the other.",
		Try:     "combine values within the warp or the block first (shuffles, shared memory), then one atomic each",
		launch:  contention,
	},
	{
		Name:    "bank-conflicts",
		Explain: "Lanes of a warp access different words of one bank of shared memory, which serves one a cycle.",
		Try:     "pad rows of shared arrays by a word, or permute the columns",
		launch:  conflicts,
	},
	{
		Name:    "constants-apart",
		Explain: "Lanes of a warp read constants at different addresses, of which the constant cache serves one a cycle (that of the SIMT core a line).",
		Try:     "index constants by what all lanes of a warp share, or have the table in shared or global memory",
		launch:  constantsApart,
	},
	{
		Name:    "memory-bandwidth",
		Explain: "The DRAM's data pins are busy most of the time.",
		Try:     "move fewer bytes: reuse data in registers, shared memory and caches, or use smaller types",
		launch:  bandwidth,
	},
	{
		Name:    "memory-latency",
		Explain: "Warps wait for loads while the DRAM is not busy: there are too few loads in flight.",
		Try:     "load several values before using the first (unroll), load ahead, or have more warps resident",
		launch:  latency,
	},
	{
		Name:    "few-warps",
		Explain: "Warps wait for results, and there are too few of them to fill the time.",
		Try:     "more threads per block or more blocks; fewer registers or less shared memory, if these limit the blocks on an SM",
		launch:  fewWarps,
	},
	{
		Name:    "small-grid",
		Explain: "The grid has fewer blocks than the GPU has SMs; the other SMs have nothing to do.",
		Try:     "smaller blocks, more blocks for the same work, or other kernels at the same time",
		launch:  smallGrid,
	},
	{
		Name:    "tail",
		Explain: "The blocks do not fill the last round on the SMs.",
		Try:     "a number of blocks that is a multiple of what fits, or smaller blocks",
		launch:  tail,
	},
	{
		Name:    "divergence",
		Explain: "Instructions execute with few active lanes, because the lanes of warps take different paths.",
		Try:     "let the lanes of a warp take the same path: sort or group the work, replace branches by selections",
		launch:  divergence,
	},
	{
		Name:    "partial-warps",
		Explain: "Lanes of warps stay empty, because the threads of a block do not fill its warps.",
		Try:     "blocks of a multiple of 32 threads",
		launch:  partialWarps,
	},
	{
		Name:    "barriers",
		Explain: "Warps wait for the other warps of their block.",
		Try:     "even out the work between barriers, have fewer of them, or smaller blocks",
		launch:  waiting("of the time, schedulers have only warps that wait at barriers", "barrier"),
	},
	{
		Name:    "shared-units-latency",
		Explain: "Warps wait for results of units that all parts of an SM share: shared memory, constants and parameters that are loaded, shuffles, special functions and divisions, f64 where it is slow.",
		Try:     "keep values in registers, load them earlier, have more warps resident, or take f32 where it suffices",
		launch:  waiting("of the time warps wait for shared memory, loaded constants, shuffles, special functions, divisions and f64", "short_scoreboard"),
	},
	{
		Name:    "memory-queue",
		Explain: "The queue of the memory units is full: too many instructions for shared memory, shuffles or constants.",
		Try:     "wider accesses (vectors of 2 or 4), fewer of them, or more arithmetic in between",
		launch:  waiting("of the time the queue of the memory units is full", "mio_throttle"),
	},
	{
		Name:    "too-many-loads",
		Explain: "A sub-core holds as many instructions for global memory as it can.",
		Try:     "wider loads (vectors of 2 or 4), and stores and loads that touch fewer sectors",
		launch:  waiting("of the time no further access to global memory fits", "lg_throttle"),
	},
	{
		Name:    "busy-pipe",
		Explain: "Instructions are ready, but the unit that executes them is busy.",
		Try:     "fewer instructions of this kind, or others that another unit executes",
		launch:  busyPipe,
	},
	{
		Name:    "dependent-instructions",
		Explain: "Instructions wait for the result of the one before, which has a fixed latency.",
		Try:     "independent work in between: several elements for a thread, several accumulators; or more warps",
		launch:  waiting("of the time warps wait for results of arithmetic", "wait"),
	},
	{
		Name:    "instruction-fetch",
		Explain: "Warps have no instruction to issue: it comes from a cache, or from memory.",
		Try:     "shorter code (less unrolling, fewer copies by inlining), and kernels that run longer than their code takes to load",
		launch:  fetch,
	},
	{
		Name:    "branches",
		Explain: "Warps have branched and wait for the instructions from the target.",
		Try:     "unroll short loops, and replace short branches by predicates or selections",
		launch:  waiting("of the time warps wait for the target of a branch", "branch_resolving", "branch"),
	},
	{
		Name:    "constant-misses",
		Explain: "Operands from constant memory, such as parameters, are not in the constant cache.",
		Try:     "fewer constants in use, the same ones by all warps; for short kernels, fewer parameters",
		launch:  waiting("of the time warps wait for operands from constant memory", "imc_miss"),
	},
	{
		Name:    "register-ports",
		Explain: "An instruction holds up the others because the ports of its registers are busy.",
		Try:     "operands in different banks (even and odd registers), and reuse of operands",
		launch:  waiting("of the time an instruction waits for read ports of the registers", "dispatch"),
	},
	{
		Name:    "spills",
		Explain: "Values that do not fit in registers, or arrays with variable indices, are in local memory.",
		Try:     "more registers for a thread (launch bounds), fewer live values, indices that are known when compiling",
		launch:  spills,
	},
	{
		Name:    "fences",
		Explain: "Warps wait at memory fences for their loads and stores.",
		Try:     "fewer fences, of a smaller scope",
		launch:  waiting("of the time warps wait at memory fences", "membar"),
	},
	{
		Name:    "ends-of-warps",
		Explain: "Warps have ended, but their stores and atomics are not acknowledged; they hold their places until then.",
		Try:     "more work for a thread, and stores that touch fewer sectors",
		launch:  ends,
	},
	{
		Name:    "row-misses",
		Explain: "DRAM requests find another row open in their bank, which has to be closed first.",
		Try:     "access addresses in order: neighbouring blocks at neighbouring addresses",
		launch:  rowMisses,
	},
	{
		Name:    "launch-latency",
		Explain: "The time from the launch to the first block is a large part of the whole.",
		Try:     "larger kernels: join several, or launch them as a graph",
		launch:  launchLatency,
	},
	{
		Name:    "many-launches",
		Explain: "Many short launches: most of the time no block runs.",
		Try:     "join kernels, launch them as a graph, or in several streams",
		run:     manyLaunches,
	},
	{
		Name:    "copies",
		Explain: "Copies between host and device take the time.",
		Try:     "copy while kernels run (streams, pinned memory), copy less, keep data on the device",
		run:     copies,
	},
	{
		Name:    "uneven-sms",
		Explain: "Some SMs have much more to do than others.",
		Try:     "more, smaller and equal blocks",
		run:     unevenSMs,
	},
	{
		Name:    "uneven-slices",
		Explain: "Some slices of the L2 get many more requests than others: addresses at a distance that hits the same slice (partition camping).",
		Try:     "pad rows of matrices, so that columns are spread over the slices",
		run:     unevenSlices,
	},
	{
		Name:    "uneven-channels",
		Explain: "Some DRAM channels are much busier than others (partition camping).",
		Try:     "pad rows of matrices, so that columns are spread over the channels",
		run:     unevenChannels,
	},
}

// waiting is a rule about states of warps.
func waiting(what string, states ...string) func(*launch) *cost {
	return func(l *launch) *cost {
		share := l.waits(states...)
		return &cost{share, percent(share) + " " + what, l.waiting(states...)}
	}
}

// mnemonic is the first word of an instruction after its guard.
func mnemonic(instruction string) string {
	words := strings.Fields(instruction)
	if len(words) > 1 && strings.HasPrefix(words[0], "@") {
		words = words[1:]
	}
	return strings.Join(words[:min(1, len(words))], "")
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// opcode is the part of a mnemonic before the first dot: ATOMG, atom.
func opcode(x *report.Line) string {
	op, _, _ := strings.Cut(strings.ToLower(x.Instruction), ".")
	return op
}

// atomic reports whether a line is an atomic operation on global memory.
func atomic(x *report.Line) bool {
	switch opcode(x) {
	case "atom", "atomg", "red", "redg":
		return !strings.Contains(x.Instruction, ".shared")
	}
	return false
}

// local reports whether a line accesses local memory.
func local(x *report.Line) bool {
	op := opcode(x)
	return op == "ldl" || op == "stl" || (op == "ld" || op == "st") && strings.Contains(x.Instruction, ".local")
}

// constant reports whether a line loads constants or parameters.
func constant(x *report.Line) bool {
	op := opcode(x)
	return op == "ldc" || op == "ld" && (strings.Contains(x.Instruction, ".const") || strings.Contains(x.Instruction, ".param"))
}

// sectors sums the sectors of the lines of a kind, and those of all lines.
func (l *launch) sectors(of func(*report.Line) uint64) (some, all uint64) {
	for i := range l.Lines {
		if x := &l.Lines[i]; x.Accesses != nil {
			some += of(x)
			all += x.Sectors
		}
	}
	return some, all
}

// wasted are the sectors of a line beyond twice those that its bytes would fill.
func wasted(x *report.Line) uint64 {
	if x.Accesses == nil || atomic(x) || local(x) || x.Sectors <= 2*x.LeastSectors {
		return 0
	}
	return x.Sectors - x.LeastSectors
}

// contended are the sectors of an atomic operation that lanes of a warp could share: each lane
// that changes the same bytes as another is an access of its own.
func contended(x *report.Line) uint64 {
	if x.Accesses == nil || !atomic(x) || x.Sectors <= 2*x.LeastSectors {
		return 0
	}
	return x.Sectors - x.LeastSectors
}

// writes reports whether a line is a store to global memory or an atomic operation.
func writes(x *report.Line) bool {
	switch opcode(x) {
	case "st", "stg":
		return !strings.Contains(x.Instruction, ".shared")
	}
	return atomic(x)
}

// drained is the part of the time in which warps have ended and wait that is due to some of the
// sectors which they write.
func (l *launch) drained(of func(*report.Line) uint64) float64 {
	var some, all uint64
	for i := range l.Lines {
		if x := &l.Lines[i]; x.Accesses != nil && writes(x) {
			some += of(x)
			all += x.Sectors
		}
	}
	if all == 0 {
		return 0
	}
	return l.waits("drain") * float64(some) / float64(all)
}

// ends is the time in which warps have ended and wait for stores and atomics that are as they
// should be.
func ends(l *launch) *cost {
	share := l.waits("drain") - l.drained(wasted) - l.drained(contended)
	return &cost{share, percent(share) + " of the time warps wait for their last stores and atomics", l.waiting("drain")}
}

func uncoalesced(l *launch) *cost {
	n, all := l.sectors(wasted)
	if n == 0 {
		return nil
	}
	drained := l.drained(wasted)
	return &cost{
		l.memory()*float64(n)/float64(all) + drained,
		fmt.Sprintf("accesses touch %s sectors of 32 bytes, %s of them without need; %s of the time warps wait for memory", report.Count(all), percent(float64(n)/float64(all)), percent(l.memory()+l.waits("drain"))),
		l.lines(wasted),
	}
}

func contention(l *launch) *cost {
	n, all := l.sectors(contended)
	if n == 0 {
		return nil
	}
	atomics, _ := l.sectors(func(x *report.Line) uint64 {
		if !atomic(x) {
			return 0
		}
		return x.Sectors
	})
	share := max(l.waits("atomics"), l.memory()*float64(n)/float64(all)) + l.drained(contended)
	return &cost{share, fmt.Sprintf("atomic operations make %s accesses, of which lanes of one warp could share %s", report.Count(atomics), percent(float64(n)/float64(atomics))), l.lines(contended)}
}

func conflicts(l *launch) *cost {
	return l.conflicts(l.Memory.SharedConflictCycles, "bank conflicts", func(x *report.Line) bool { return !constant(x) })
}

func constantsApart(l *launch) *cost {
	return l.conflicts(l.Memory.ConstConflictCycles, "lanes that read different constants", constant)
}

// conflicts is the cost of n cycles for one of several lanes at a time, at the lines of a kind.
func (l *launch) conflicts(n uint64, what string, kind func(*report.Line) bool) *cost {
	if n == 0 {
		return nil
	}
	share := float64(n) / float64(l.Cycles) / float64(l.active)
	return &cost{share, fmt.Sprintf("%s cycles lost to %s, %s of the time of each SM", report.Count(n), what, percent(share)), l.lines(func(x *report.Line) uint64 {
		if x.Accesses == nil || !kind(x) {
			return 0
		}
		return x.ConflictCycles
	})}
}

// busyDRAM is the share of time in which the DRAM's data pins are busy.
func (l *launch) busyDRAM() float64 {
	d := &l.Memory.DRAM
	if d.Cycles == 0 {
		return 0
	}
	return float64(d.BusyCycles) / float64(d.Cycles)
}

// saturated is the share of busy data pins from which on the DRAM limits a launch.
const saturated = 0.6

func bandwidth(l *launch) *cost {
	busy := l.busyDRAM()
	if busy < saturated {
		return nil
	}
	d := &l.Memory.DRAM
	return &cost{busy, fmt.Sprintf("the DRAM's data pins are busy %s of the time: %s read, %s written", percent(busy), report.Bytes(d.BytesRead), report.Bytes(d.BytesWritten)), l.waiting("long_scoreboard", "lg_throttle")}
}

func latency(l *launch) *cost {
	share := l.memory()
	if l.busyDRAM() >= saturated {
		return nil
	}
	return &cost{share, fmt.Sprintf("%s of the time warps wait for memory, whose round trip takes %.0f cycles; the DRAM is busy %s of the time", percent(share), l.Memory.MeanLatencyCycles, percent(l.busyDRAM())), l.waiting("long_scoreboard", "lg_throttle", "atomics")}
}

// enough is the occupancy from which on more warps seldom help (our choice).
const enough = 0.5

func fewWarps(l *launch) *cost {
	share := l.waits("long_scoreboard", "short_scoreboard", "wait", "pipe_throttle")
	if l.Occupancy >= enough || share < 0.2 {
		return nil
	}
	seen := fmt.Sprintf("%s of the warps that fit are resident; %s", percent(l.Occupancy), limits[l.LimitedBy])
	return &cost{share * (1 - l.Occupancy), strings.TrimSuffix(seen, "; "), nil}
}

// limits says what limits the blocks on an SM.
var limits = map[string]string{
	"grid":           "the grid has no more blocks",
	"registers":      "registers limit the blocks on an SM",
	"shared memory":  "shared memory limits the blocks on an SM",
	"threads":        "the threads of blocks limit their number on an SM",
	"warps":          "the warps of blocks limit their number on an SM",
	"blocks":         "the number of blocks on an SM is at its limit",
	"resident warps": "the warps of blocks limit their number on an SM",
}

func smallGrid(l *launch) *cost {
	if l.Shared || l.blocks == 0 || l.blocks >= uint64(l.run.SMs) {
		return nil
	}
	return &cost{1 - float64(l.blocks)/float64(l.run.SMs), fmt.Sprintf("%s for %d SMs", report.Plural(int(l.blocks), "block", "blocks"), l.run.SMs), nil}
}

func tail(l *launch) *cost {
	fit := float64(l.BlocksPerSM * l.run.SMs)
	if l.Shared || fit == 0 || float64(l.blocks) <= fit {
		return nil
	}
	rounds := float64(l.blocks) / fit
	whole := math.Ceil(rounds)
	return &cost{(whole - rounds) / whole, fmt.Sprintf("%d blocks make %.2f rounds of %.0f that fit at once; the last one is filled to %s", l.blocks, rounds, fit, percent(1-(whole-rounds))), nil}
}

// lanes returns the mean of lanes that are active in an instruction, and of those that the blocks'
// warps have.
func (l *launch) lanes() (active, have float64) {
	var issues, lanes uint64
	for n, k := range l.LanesPerIssue {
		issues += k
		lanes += uint64(n) * k
	}
	threads := l.Block[0] * l.Block[1] * l.Block[2]
	if issues == 0 || threads == 0 {
		return 0, 0
	}
	return float64(lanes) / float64(issues), float64(threads) / float64((threads+31)/32)
}

func divergence(l *launch) *cost {
	active, have := l.lanes()
	lines := l.lines(func(x *report.Line) uint64 {
		if x.Branches == nil {
			return 0
		}
		return x.Diverged
	})
	if active >= have || lines == nil {
		return nil
	}
	// Waits for memory do not repeat on each path.
	return &cost{(1 - active/have) * (1 - l.memory()), fmt.Sprintf("%.1f of %.3g lanes are active in an instruction", active, have), lines}
}

func partialWarps(l *launch) *cost {
	_, have := l.lanes()
	if have == 0 || have == 32 {
		return nil
	}
	return &cost{(1 - have/32) * (1 - l.memory()), fmt.Sprintf("warps have %.3g of 32 threads: blocks have %d", have, l.Block[0]*l.Block[1]*l.Block[2]), nil}
}

func busyPipe(l *launch) *cost {
	share := l.waits("math_pipe_throttle", "pipe_throttle", "collectors")
	lines := l.waiting("math_pipe_throttle", "pipe_throttle", "collectors")
	seen := percent(share) + " of the time the unit of a ready instruction is busy"
	if len(lines) > 0 {
		seen += ", mostly that of " + mnemonic(lines[0].Instruction)
	}
	return &cost{share, seen, lines}
}

func fetch(l *launch) *cost {
	share := l.waits("no_instruction")
	seen := percent(share) + " of the time warps have no instruction"
	if c := &l.Memory.L1Inst; c.Misses > 0 {
		seen += fmt.Sprintf("; %s of the accesses to the L1 instruction cache miss", percent(float64(c.Misses)/float64(c.Accesses)))
	}
	return &cost{share, seen, l.waiting("no_instruction")}
}

func spills(l *launch) *cost {
	of := func(x *report.Line) uint64 {
		if x.Accesses == nil || !local(x) {
			return 0
		}
		return x.Sectors
	}
	n, all := l.sectors(of)
	if n == 0 {
		return nil
	}
	return &cost{l.memory() * float64(n) / float64(all), fmt.Sprintf("%s of the sectors that accesses touch are local memory (%s a thread)", percent(float64(n)/float64(all)), report.Bytes(uint64(l.LocalBytes))), l.lines(of)}
}

func rowMisses(l *launch) *cost {
	d := &l.Memory.DRAM
	if d.Requests == 0 || 2*d.RowHits > d.Requests || l.Memory.L2.Accesses == 0 {
		return nil
	}
	miss := 1 - float64(d.RowHits)/float64(d.Requests)
	beyond := float64(l.Memory.L2.Misses) / float64(l.Memory.L2.Accesses) // part of the requests that reach the DRAM
	return &cost{l.memory() * miss * beyond, fmt.Sprintf("%s of the DRAM's requests find their row closed", percent(miss)), nil}
}

func launchLatency(l *launch) *cost {
	if l.FirstBlockCycle < l.StartCycle {
		return nil
	}
	share := float64(l.FirstBlockCycle-l.StartCycle) / float64(l.Cycles)
	return &cost{share, fmt.Sprintf("the first block begins after %s of %s cycles", report.Count(l.FirstBlockCycle-l.StartCycle), report.Count(l.Cycles)), nil}
}
