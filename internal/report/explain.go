package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// This file: what every counter means, in one table.

// Counter explains a counter.
type Counter struct {
	// Name is its path in the JSON result without "kernels.", or its name in
	// GPGPU-Sim's output; "[…]" there stands for the indices.
	Name string
	// Unit is what is counted.
	Unit string
	// Meaning is a sentence or two.
	Meaning string
	// Source says which part of the machine counts it.
	Source string
}

// The sources of counters.
const (
	byCore    = "SMs"
	byChip    = "chip"
	byL1      = "first-level caches"
	byL2      = "L2 slices"
	byNet     = "network"
	byDRAM    = "DRAM channels"
	byPart    = "memory partitions"
	byProgram = "executor"
	byTrace   = "trace"
	byRun     = "run"
	byJob     = "job"
	byMachine = "configuration"
)

// own are the counters of the JSON result.
var own = []Counter{
	{"cycles", "core cycles", "Of a launch: from the launch, its launch latency included, to its last write acknowledged. Of a run: from the start to the end of the last step.", byChip},
	{"seconds", "seconds", "Time that the simulation took on the host. The only figure that differs between two runs.", byRun},
	{"warp_instructions", "warp instructions", "Instructions issued, each once for a warp, those whose guard switches all lanes off included.", byProgram},
	{"thread_instructions", "thread instructions", "Lanes that were active and whose guard predicate held, summed over warp instructions; exit included.", byProgram},
	{"launches_left_out", "launches", "Launches that --kernels did not select.", byRun},
	{"dependences.consumers", "instructions", "Of the modern core: readers of a register that a scoreboard counts; left out where control bits guard dependences.", byMachine},
	{"dependences.warp_bits", "bits", "Of the modern core: storage that the mechanism needs for a warp, to keep its instructions from issuing too soon.", byMachine},
	{"dependences.sm_bits", "bits", "Of the modern core: that storage for all warps of an SM.", byMachine},
	{"dependences.register_file_percent", "percent", "Of the modern core: that storage in relation to the SM's registers.", byMachine},
	{"sms", "SMs", "Streaming multiprocessors of the machine.", byMachine},
	{"clocks.core_mhz", "MHz", "Clock of the SMs: the unit of all cycles that are not said to be others.", byMachine},
	{"clocks.network_mhz", "MHz", "Clock of the network between SMs and memory partitions.", byMachine},
	{"clocks.l2_mhz", "MHz", "Clock of the L2 slices.", byMachine},
	{"clocks.dram_mhz", "MHz", "Clock of the DRAM's commands; data move several times as often.", byMachine},

	{"launch", "", "Number of the launch in the job, from 0.", byJob},
	{"stream", "", "Stream of the launch.", byJob},
	{"grid", "blocks", "Extent of the grid.", byJob},
	{"block", "threads", "Extent of a block.", byJob},
	{"blocks", "blocks", "Blocks that ran to their end.", byChip},
	{"block_log.block", "", "With run.block_log: index of a block in its grid, x fastest. The log has the blocks that began.", byChip},
	{"block_log.sm", "", "SM on which the block ran.", byChip},
	{"block_log.start_cycle", "core cycles", "When the block was placed on its SM.", byChip},
	{"block_log.end_cycle", "core cycles", "When the block's last warp had ended and its stores were acknowledged; left out if the run ended first.", byChip},
	{"registers", "32-bit registers", "Registers of a thread, which limit occupancy: an estimate from the program's live values unless the job says it.", byProgram},
	{"register_estimate.fewer", "32-bit registers", "A quarter fewer registers than estimated. Left out where the job says how many there are.", byProgram},
	{"register_estimate.more", "32-bit registers", "A quarter more registers than estimated.", byProgram},
	{"register_estimate.blocks_per_sm_if_fewer", "blocks", "What blocks_per_sm would be with a quarter fewer registers.", byCore},
	{"register_estimate.blocks_per_sm_if_more", "blocks", "What blocks_per_sm would be with a quarter more registers; 0 if no block would fit.", byCore},
	{"shared_bytes", "bytes", "Shared memory of a block, static and dynamic.", byProgram},
	{"local_bytes", "bytes", "Local memory of a thread.", byProgram},
	{"start_cycle", "core cycles", "When the launch (or step) began, counted from the run's start.", byChip},
	{"end_cycle", "core cycles", "When the launch (or step) ended, counted from the run's start.", byChip},
	{"first_block_cycle", "core cycles", "When the launch's first block was placed on an SM; after the launch latency.", byChip},
	{"ipc", "warp instructions per core cycle", "Warp instructions divided by cycles, for the whole chip.", byChip},
	{"occupancy", "share, 0 to 1", "Resident warps divided by warp slots, over the cycles of those SMs that had any warp.", byCore},
	{"blocks_per_sm", "blocks", "Most blocks of the launch that an SM holds at a time.", byCore},
	{"limited_by", "", "What allows no more blocks on an SM: threads, warps, blocks, registers, shared memory, or the grid, which is spread over all SMs.", byCore},
	{"l1_ways", "ways", "Associativity of the L1 data cache during the launch; with an adaptive L1 it is what shared memory leaves.", byCore},
	{"warp_cycles", "warp cycles", "Resident warps summed over cycles: every warp of the launch from its start to its end. The stalls split it without a rest.", byCore},

	{"stalls.selected", "warp cycles", "The warp issued an instruction.", byCore},
	{"stalls.not_selected", "warp cycles", "The warp could have issued, but its scheduler took another. Many of these mean that there are more ready warps than needed.", byCore},
	{"stalls.no_instruction", "warp cycles", "The warp's instruction buffer was empty: instructions were being fetched and decoded, after a branch for example, or missed the instruction cache.", byCore},
	{"stalls.wait", "warp cycles", "The next instruction waits for the result of one of fixed latency, such as an addition; on the Kepler-style core also for a predicate.", byCore},
	{"stalls.short_scoreboard", "warp cycles", "The next instruction waits for shared memory or for the special function unit; on the Kepler-style core, whose special functions have a fixed latency, for shared memory.", byCore},
	{"stalls.long_scoreboard", "warp cycles", "The next instruction waits for a load that goes through a cache: global, local, constant or texture memory; on the Kepler-style core for global memory.", byCore},
	{"stalls.pipe_throttle", "warp cycles", "The next instruction is ready, but no issue register of its unit was free: that unit has too much to do.", byCore},
	{"stalls.barrier", "warp cycles", "The warp waits for others of its block at a barrier.", byCore},
	{"stalls.sync", "warp cycles", "Lanes of the warp wait for others of the same warp.", byCore},
	{"stalls.membar", "warp cycles", "The warp waits at a memory fence for its outstanding stores and loads.", byCore},
	{"stalls.atomics", "warp cycles", "The warp waits for the replies to its atomic operations.", byCore},
	{"stalls.drain", "warp cycles", "All lanes have ended; stores are not acknowledged or instructions are still in the pipeline. On the Kepler-style core: an EXIT or BAR waits for that, or fetch has come to the end of program memory.", byCore},
	{"stalls.math_pipe_throttle", "warp cycles", "Of the modern core: the next instruction is ready, but the pipe that executes it was taken.", byCore},
	{"stalls.lg_throttle", "warp cycles", "Of the modern core: the next instruction accesses global or local memory, and its sub-core holds as many memory instructions as it can.", byCore},
	{"stalls.mio_throttle", "warp cycles", "Of the modern core: the next instruction goes to shared memory or through the memory queue otherwise, or to another queue, and there was no place.", byCore},
	{"stalls.dispatch", "warp cycles", "Of the modern core: the stage behind issue was taken, since an earlier instruction waits for read ports of the registers, or the issue port was busy.", byCore},
	{"stalls.branch_resolving", "warp cycles", "Of the modern core: the warp has branched, and instructions from there have not come yet.", byCore},
	{"stalls.imc_miss", "warp cycles", "Of the modern core: an instruction of fixed latency reads a constant that its sub-core's constant cache does not have.", byCore},
	{"stalls.misc", "warp cycles", "Of the modern core: lanes of the warp wait for others of the same warp.", byCore},
	{"stalls.start", "warp cycles", "Of the Kepler-style core: the warp is ready, but fetch has not begun. It begins in cycle 69.", byCore},
	{"stalls.branch", "warp cycles", "Of the Kepler-style core: a branch was taken, by this warp or another; fetch pauses for two cycles.", byCore},
	{"stalls.bank_conflict", "warp cycles", "Of the Kepler-style core: shared memory serves the further words of a bank, which holds up fetch and decode.", byCore},
	{"stalls.collectors", "warp cycles", "Of the Kepler-style core: no operand collector is free, because the queues before the units are full or many instructions wait for operands.", byCore},
	{"stalls.transaction_slots", "warp cycles", "Of the Kepler-style core: the next instruction accesses global memory, and all 64 transaction slots of the warp are in use.", byCore},
	{"slot_stalls.idle", "scheduler cycles", "No warp of the scheduler had an instruction that it could consider: empty buffers, barriers, fences.", byCore},
	{"slot_stalls.scoreboard", "scheduler cycles", "Some warps had an instruction, and all of those waited for registers; on the Kepler-style core for registers or predicates.", byCore},
	{"slot_stalls.pipe", "scheduler cycles", "An instruction had its registers, but no issue register of its unit was free.", byCore},

	{"slot_stalls.no_warp", "scheduler cycles", "Of the modern core: no warp was resident in the sub-core.", byCore},
	{"slot_stalls.start", "scheduler cycles", "Of the Kepler-style core: cycles before the first fetch, which is in cycle 69.", byCore},
	{"slot_stalls.branch", "scheduler cycles", "Of the Kepler-style core: a branch was taken in this cycle or the one before.", byCore},
	{"slot_stalls.bank_conflict", "scheduler cycles", "Of the Kepler-style core: shared memory serves the further words of a bank, which holds up fetch and decode.", byCore},
	{"slot_stalls.collectors", "scheduler cycles", "Of the Kepler-style core: no operand collector was free.", byCore},
	{"slot_stalls.transaction_slots", "scheduler cycles", "Of the Kepler-style core: no warp waited for registers, and some had no transaction slot free for an access to global memory.", byCore},
	{"slot_stalls.drain", "scheduler cycles", "Of the Kepler-style core: warps that could have been selected had nothing left to fetch, or an EXIT or BAR on its way.", byCore},
	{"slot_stalls.barrier", "scheduler cycles", "Of the Kepler-style core: all warps that had not exited were at the barrier.", byCore},
	{"slot_stalls.done", "scheduler cycles", "Of the Kepler-style core: all warps had exited; the cycle in which the core notices it.", byCore},

	{"warps.warp", "", "Of the Kepler-style core: number of the warp, 0 to 23.", byMachine},
	{"warps.exit_cycle", "core cycles", "Of the Kepler-style core: the cycle in which the warp was first seen to have exited; 0 if it was not.", byCore},
	{"warps.cycles", "warp cycles", "Of the Kepler-style core: from the warp's start to its exit. The sum of its stalls.", byCore},
	{"warps.stalls", "warp cycles", "That time by the warp's states, as in stalls.", byCore},
	{"kepler.dual_issue_cycles", "core cycles", "Cycles in which fetch selected two instructions. With single_issue_cycles and the slot_stalls they add up to the run's cycles.", byCore},
	{"kepler.single_issue_cycles", "core cycles", "Cycles in which fetch selected one instruction.", byCore},
	{"kepler.squashed_instructions", "instructions", "Instructions that came to their unit after a branch had overtaken them, and did nothing.", byCore},
	{"kepler.branches_taken", "branches", "Branches taken: jumps, calls and returns, SSY, JOIN, BAR and EXIT, which empty the warp's pipeline, included.", byCore},
	{"kepler.memory_transactions", "transactions", "Lines of 128 bytes asked of global memory.", byCore},
	{"kepler.split_transactions", "transactions", "Those of them that are not the first of their access: its lanes touch several lines.", byCore},
	{"kepler.shared_conflict_cycles", "core cycles", "Cycles in which shared memory served the further words of a bank.", byCore},
	{"kepler.exit_cycle", "core cycles", "By warp: the cycle in which it was first seen to have exited.", byCore},

	{"trace.launches", "launches", "Of a replayed run: launches that the trace has, left out ones included.", byTrace},
	{"trace.architectures", "", "Of a replayed run: the architectures that it was recorded on, 86 for sm_86.", byTrace},
	{"trace.hidden_reads", "warp instructions", "Reads of predicates and uniform registers that the trace does not name.", byTrace},
	{"trace.hidden_reads_recovered", "warp instructions", "Those of them whose producer was found in the static code.", byTrace},
	{"trace.instructions_from_words", "instructions", "Static instructions that are described by their encoded words.", byTrace},
	{"trace.instructions_from_mnemonics", "instructions", "Static instructions that are described by their mnemonics alone.", byTrace},
	{"trace.unknown_mnemonics.warp_instructions", "warp instructions", "Records of a mnemonic that no table has; taken_for says what it was taken for (trace.unknown).", byTrace},
	{"trace.blocks_without_record", "blocks", "Blocks of the grids that the trace does not hold, and that did not run.", byTrace},

	{"memory.dram.reads", "bursts", "Read commands; those for write allocation in the L2 included.", byDRAM},
	{"memory.dram.writes", "bursts", "Write commands; written-back L2 lines included.", byDRAM},
	{"memory.dram.activates", "commands", "Rows opened.", byDRAM},
	{"memory.dram.precharges", "commands", "Rows closed.", byDRAM},
	{"memory.dram.requests", "requests", "Requests handed to the channels.", byDRAM},
	{"memory.dram.row_hits", "requests", "Requests that found their row open or in use.", byDRAM},
	{"memory.dram.busy_cycles", "command clock cycles", "Cycles of the data pins in use, summed over channels.", byDRAM},
	{"memory.dram.cycles", "command clock cycles", "Cycles that passed, summed over channels.", byDRAM},
	{"memory.dram.bytes_read", "bytes", "Data read: the reads times the bytes of a burst.", byDRAM},
	{"memory.dram.bytes_written", "bytes", "Data written: the writes times the bytes of a burst.", byDRAM},
	{"memory.dram.peak_gb_per_s", "10⁹ bytes per second", "What all data pins together can move at most.", byMachine},
	{"memory.network.request_packets", "packets", "Packets from SMs to memory partitions.", byNet},
	{"memory.network.request_flits", "flits", "The same, in units of the network's width.", byNet},
	{"memory.network.reply_packets", "packets", "Packets from memory partitions to SMs.", byNet},
	{"memory.network.reply_flits", "flits", "The same, in units of the network's width.", byNet},
	{"memory.mean_latency_cycles", "core cycles", "Mean time from making a request in an SM to the arrival of its reply there; L1 hits make no request.", byCore},
	{"memory.replies", "replies", "Replies over which mean_latency_cycles is the mean.", byCore},
	{"memory.shared_conflict_cycles", "core cycles", "Cycles for which the load/store units were held up by bank conflicts of shared memory.", byCore},
	{"memory.load_store_stall_cycles", "core cycles", "Cycles in which a load/store unit could not finish its instruction, for any reason.", byCore},
	{"memory.l2_entry_stall_cycles", "L2 cycles", "Cycles in which a slice could take nothing from the network because its queue was full.", byPart},
	{"memory.reply_stall_cycles", "network cycles", "Replies that found no room in the network, each cycle counted.", byPart},

	{"series.cycle", "core cycles", "Of --series: when a row was written. The row's other figures are those since the row before, resident_warps aside.", byChip},
	{"series.resident_warps", "warps", "Of --series: warps on all SMs at that moment.", byCore},

	{"lanes_per_issue", "warp instructions", "Issues by the number of active lanes: the first entry is for none, the last for all 32.", byCore},
	{"memory.latency_log2", "replies", "Replies by their latency: entry i counts those of 2^i to 2^(i+1)-1 core cycles.", byCore},

	{"per_sm.sm", "", "Number of the SM.", byMachine},
	{"per_sm.blocks", "blocks", "Blocks that ended on the SM.", byCore},
	{"per_sm.warp_instructions", "warp instructions", "Issued by the SM.", byCore},
	{"per_sm.thread_instructions", "thread instructions", "Lanes whose guard held, summed over them.", byCore},
	{"per_sm.busy_cycles", "core cycles", "Cycles with a resident warp.", byCore},
	{"per_sm.warp_cycles", "warp cycles", "Resident warps summed over cycles.", byCore},
	{"per_sm.mean_latency_cycles", "core cycles", "Mean time from making a request to the arrival of its reply.", byCore},
	{"per_slice.slice", "", "Number of the L2 slice.", byMachine},
	{"per_slice.requests", "packets", "Packets that came to the slice from the network.", byPart},
	{"per_channel.channel", "", "Number of the DRAM channel.", byMachine},
	{"per_channel.reads", "bursts", "Read commands of the channel.", byDRAM},
	{"per_channel.writes", "bursts", "Write commands of the channel.", byDRAM},
	{"per_channel.activates", "commands", "Rows opened in the channel.", byDRAM},
	{"per_channel.requests", "requests", "Requests handed to the channel.", byDRAM},
	{"per_channel.row_hits", "requests", "Requests that found their row open or in use.", byDRAM},
	{"per_channel.busy_cycles", "command clock cycles", "Cycles of the channel's data pins in use.", byDRAM},
	{"per_channel.cycles", "command clock cycles", "Cycles that passed in the channel.", byDRAM},
	{"per_channel.banks.bank", "", "Number of the bank in its channel.", byMachine},
	{"per_channel.banks.reads", "bursts", "Read commands of the bank.", byDRAM},
	{"per_channel.banks.writes", "bursts", "Write commands of the bank.", byDRAM},
	{"per_channel.banks.activates", "commands", "Rows opened in the bank.", byDRAM},
	{"per_channel.banks.requests", "requests", "Requests handed to the bank.", byDRAM},
	{"per_channel.banks.row_hits", "requests", "Requests that found their row open or in use.", byDRAM},

	{"checkers.launches_not_watched", "", "Of --check: launches by number in which there was nothing to watch, since scoreboards guard them.", byCore},
	{"checkers.left_out", "", "Of --check: times that something was found beyond the thousand different findings that an SM keeps.", byCore},
	{"checkers.hazards.launch", "", "Of --check hazards: number of the launch in which the hazard happened first.", byJob},
	{"checkers.hazards.sm", "", "SM on which it happened first.", byCore},
	{"checkers.hazards.block", "", "Index of the block in its grid, x fastest.", byCore},
	{"checkers.hazards.warp", "", "Warp of the block.", byCore},
	{"checkers.hazards.lane", "", "First lane that the hazard concerns.", byCore},
	{"checkers.hazards.cycle", "core cycles", "When the instruction issued, counted from the run's start.", byCore},
	{"checkers.hazards.cycles_short", "core cycles", "By how much it issued too soon; 0 if it went well that time although nothing in the program waits.", byCore},
	{"checkers.hazards.times", "", "Times that the hazard happened, over all warps and launches.", byCore},
	{"checkers.hazards.instruction.line", "", "Line of the instruction that issued too soon.", byProgram},
	{"checkers.hazards.instruction.pc", "instructions", "Its index in its kernel.", byProgram},
	{"checkers.hazards.producer.line", "", "Line of the instruction whose result or whose reads are not waited for.", byProgram},
	{"checkers.hazards.producer.pc", "instructions", "Its index in its kernel.", byProgram},
	{"checkers.hazards.fixes.line", "", "Line of an instruction that should have another control code.", byProgram},
	{"checkers.hazards.fixes.pc", "instructions", "Its index in its kernel.", byProgram},

	{"lines.line", "", "Line of the program text.", byProgram},
	{"lines.pc", "instructions", "Index of the instruction in its function.", byProgram},
	{"lines.source_line", "", "Line of the source that the program was compiled from, if it says so (.loc).", byProgram},
	{"lines.issues", "warp instructions", "Times that warps issued this instruction.", byCore},
	{"lines.thread_instructions", "thread instructions", "Lanes whose guard held, summed over its issues.", byCore},
	{"lines.warp_cycles", "warp cycles", "Time that warps spent at this instruction: waiting in front of it, and issuing it. The sum of its stalls.", byCore},
	{"lines.stalls", "warp cycles", "That time by the warps' states, as in stalls.", byCore},
}

// levels are the caches of the JSON result.
var levels = []struct{ name, what, source string }{
	{"l1", "the L1 data caches", byL1},
	{"l1_const", "the constant caches", byL1},
	{"l1_texture", "the texture caches", byL1},
	{"l1_inst", "the instruction caches", byL1},
	{"l2", "the L2 slices", byL2},
}

// prefetchCounters are those of one level that has prefetchers; %s stands for it.
var prefetchCounters = []Counter{
	{"issued", "sectors or lines", "What the prefetchers of %s asked of the next level; not among the accesses. Left out where there is no prefetcher.", ""},
	{"useful", "sectors or lines", "What was read ahead into %s and found there by an access.", ""},
	{"late", "sectors or lines", "What an access asked of %s while it was on its way because of a prefetcher.", ""},
	{"unused", "sectors or lines", "What was read ahead into %s and lost its place before any access.", ""},
	{"present", "sectors or lines", "What a prefetcher of %s named although it was there or on its way already.", ""},
	{"refused", "sectors or lines", "What a prefetcher named and was not read, as %s had no room among the pending misses.", ""},
}

// cacheCounters are those of one level; %s stands for it.
var cacheCounters = []Counter{
	{"accesses", "sectors or lines", "Requests that %s accepted: hits, pending hits and misses. In sectored caches a request is one sector of 32 bytes, else a line.", ""},
	{"hits", "sectors or lines", "Accesses to %s that found their data.", ""},
	{"pending_hits", "sectors or lines", "Accesses to %s whose data an earlier miss had asked for already.", ""},
	{"misses", "sectors or lines", "Accesses to %s that found nothing, sector misses included.", ""},
	{"sector_misses", "sectors", "Accesses to %s that found the line, but not their sector of it.", ""},
	{"refused", "tries", "Tries that %s refused for want of room; they are repeated and are no accesses.", ""},
	{"write_backs", "requests", "Written lines or sectors that %s sent on when they were replaced.", ""},
}

// modernSlots are the states of warps that explain why a sub-core of the modern
// core has not issued.
var modernSlots = []string{
	"not_selected", "no_instruction", "wait", "short_scoreboard", "long_scoreboard", "math_pipe_throttle", "lg_throttle", "mio_throttle",
	"dispatch", "barrier", "membar", "branch_resolving", "imc_miss", "drain", "misc",
}

// Counters returns all explained counters, those of the JSON result first.
func Counters() []Counter {
	list := slices.Clone(own)
	for _, s := range modernSlots {
		if n := "slot_stalls." + s; !slices.ContainsFunc(own, func(c Counter) bool { return c.Name == n }) {
			list = append(list, Counter{n, "scheduler cycles", "Of the modern core: the warp of the sub-core that was nearest to issuing was in this state; see stalls." + s + ".", byCore})
		}
	}
	for _, l := range levels {
		for _, c := range cacheCounters {
			list = append(list, Counter{"memory." + l.name + "." + c.Name, c.Unit, fmt.Sprintf(c.Meaning, l.what), l.source})
		}
		if l.name != "l1" && l.name != "l2" {
			continue
		}
		for _, c := range prefetchCounters {
			list = append(list, Counter{"memory." + l.name + "_prefetch." + c.Name, c.Unit, fmt.Sprintf(c.Meaning, l.what), l.source})
		}
	}
	for _, c := range cacheCounters {
		list = append(list,
			Counter{"per_sm.l1." + c.Name, c.Unit, fmt.Sprintf(c.Meaning, "the SM's L1 data cache"), byL1},
			Counter{"per_slice.l2." + c.Name, c.Unit, fmt.Sprintf(c.Meaning, "the slice"), byL2})
	}
	return append(list, accelSim...)
}

// Explained finds the counters that a name means: the whole name, the last
// parts of a path, or an indexed name of GPGPU-Sim's with any indices. Without
// any, near are the names that contain it.
func Explained(name string) (found []Counter, near []string) {
	name = strings.TrimPrefix(strings.TrimSpace(name), "kernels.")
	plain := noIndices(name)
	for _, c := range Counters() {
		switch {
		case c.Name == name, strings.HasSuffix(c.Name, "."+name), noIndices(c.Name) == plain && plain != "":
			found = append(found, c)
		case name != "" && strings.Contains(strings.ToLower(c.Name), strings.ToLower(name)):
			near = append(near, c.Name)
		}
	}
	return found, near
}

// noIndices takes what stands in brackets out of a name.
func noIndices(s string) string {
	var b strings.Builder
	depth := 0
	for _, c := range s {
		switch {
		case c == '[':
			depth++
		case c == ']':
			depth = max(0, depth-1)
		case depth == 0:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// WriteExplanation writes what a counter is, for a person.
func (c *Counter) WriteExplanation(w io.Writer) error {
	unit := c.Unit
	if unit == "" {
		unit = "none"
	}
	_, err := fmt.Fprintf(w, "%s\n  %s\n  unit: %s; counted by: %s\n", c.Name, c.Meaning, unit, c.Source)
	return err
}
