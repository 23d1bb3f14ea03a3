package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// This file: a table that explains every counter.

// Counter explains a counter.
type Counter struct {
	// Name is its path in the JSON result without "kernels.", or its name in
	// GPGPU-Sim's output; "[…]" there stands for the indices.
	Name string
	// Unit is what is counted.
	Unit string
	// Meaning is a sentence or two.
	Meaning string
	// Source is the part of the machine that counts it.
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
	{"cycles", "core cycles", "For a launch: from the launch, including its launch latency, to the acknowledgement of its last write. For a run: from the start to the end of the last step.", byChip},
	{"seconds", "seconds", "Host time of the simulation. The only figure that differs between two runs.", byRun},
	{"warp_instructions", "warp instructions", "Instructions issued, counted once per warp, including those whose guard disables all lanes.", byProgram},
	{"thread_instructions", "thread instructions", "Lanes that were active and whose guard predicate held, summed over warp instructions; exit included.", byProgram},
	{"launches_left_out", "launches", "Launches that --kernels did not select.", byRun},
	{"sampling.target_percent", "%", "--target-error.", byRun},
	{"sampling.seed", "", "Of the random distances between launches that are simulated to look whether their group still behaves as before.", byRun},
	{"sampling.launches", "launches", "All of the run.", byRun},
	{"sampling.timed", "launches", "Those that were simulated; the others were executed, and their cycles are estimates.", byRun},
	{"sampling.timed_cycles", "core cycles", "Of what was simulated, summed over launches.", byChip},
	{"sampling.estimated_cycles", "core cycles", "Of the others, summed.", byRun},
	{"sampling.margin_cycles", "core cycles", "Half the width of the interval around both sums that holds the truth in 95 of 100 cases, if launches of a group are alike.", byRun},
	{"sampling.warp_instructions", "warp instructions", "Of all launches.", byProgram},
	{"sampling.timed_warp_instructions", "warp instructions", "Of what was simulated.", byProgram},
	{"sampling.groups.warp_instructions", "warp instructions", "Of the first launch of the group; those of the others differ by at most a twentieth.", byProgram},
	{"sampling.groups.launches", "launches", "Of the group: the same kernel and grid, and about as many instructions.", byRun},
	{"sampling.groups.timed", "launches", "Of the group, simulated.", byRun},
	{"sampling.groups.timed_cycles", "core cycles", "Of these, summed.", byChip},
	{"sampling.groups.estimated_cycles", "core cycles", "Of the other launches of the group, summed.", byRun},
	{"sampling.groups.spread_percent", "%", "Standard deviation of the group's cycles per warp instruction over their mean.", byRun},
	{"sampling.groups.margin_cycles", "core cycles", "What the spread lets the group's estimated cycles be off.", byRun},
	{"sampling.timed_in_part", "launches", "Launches among those simulated of which some blocks were executed only. These blocks' cycles and instructions count as estimated.", byRun},
	{"passed_blocks", "blocks", "Blocks of the launch that were executed, but not simulated. Only blocks and instructions count them.", byRun},
	{"passed_warp_instructions", "warp instructions", "Those of these blocks.", byProgram},
	{"passed_cycles", "core cycles", "The estimated time that these blocks take, which is in the launch's cycles.", byRun},
	{"sampled", "", "The launch was executed, but not simulated: its cycles are an estimate, and it has no counters but instructions.", byRun},
	{"ranges.times", "", "How often the program began a range of this name within the same outer ranges.", byProgram},
	{"ranges.launches", "launches", "Launches that the program submitted within the range, including those within inner ranges.", byProgram},
	{"ranges.warp_instructions", "warp instructions", "Of the launches of the range.", byProgram},
	{"ranges.thread_instructions", "thread instructions", "Of the launches of the range.", byProgram},
	{"ranges.cycles", "core cycles", "Of the launches of the range, summed: more than passed if they overlapped.", byChip},
	{"device", "", "The device of a launch; only in runs with several.", byProgram},
	{"per_sm.device", "", "The device of the SM; only in runs with several.", byMachine},
	{"per_slice.device", "", "The device of the L2 slice; only in runs with several.", byMachine},
	{"per_channel.device", "", "The device of the channel; only in runs with several.", byMachine},
	{"links.from", "", "The device from which copies came.", byRun},
	{"links.to", "", "The device to which they went.", byRun},
	{"links.copies", "copies", "Copies from one device to the other.", byRun},
	{"links.accesses", "requests", "Requests of kernels whose data passed from the one to the other: reads of memory at the one, writes to memory at the other, atomics both ways.", byRun},
	{"links.bytes", "bytes", "That copies and accesses moved.", byRun},
	{"links.busy_cycles", "core cycles", "From the start of each copy to its end, and while data of accesses passed; a link carries one thing at a time.", byRun},
	{"links.gb_per_s", "GB/s", "Bytes by the time in which the link was busy.", byRun},
	{"dependences.consumers", "instructions", "Modern core: the number of readers of a register that a scoreboard can count; left out if control bits guard dependences.", byMachine},
	{"dependences.warp_bits", "bits", "Modern core: storage per warp of the mechanism that keeps instructions from issuing too early.", byMachine},
	{"dependences.sm_bits", "bits", "Modern core: that storage for all warps of an SM.", byMachine},
	{"dependences.register_file_percent", "percent", "Modern core: that storage relative to the SM's register file.", byMachine},
	{"sms", "SMs", "Streaming multiprocessors of the machine.", byMachine},
	{"clocks.core_mhz", "MHz", "Clock of the SMs: the unit of all cycles unless stated otherwise.", byMachine},
	{"clocks.network_mhz", "MHz", "Clock of the network between SMs and memory partitions.", byMachine},
	{"clocks.l2_mhz", "MHz", "Clock of the L2 slices.", byMachine},
	{"clocks.dram_mhz", "MHz", "Clock of the DRAM's commands; data are transferred several times per cycle.", byMachine},

	{"machine.warp_slots", "warps", "Warps that an SM holds at most.", byMachine},
	{"machine.block_slots", "blocks", "Blocks that an SM holds at most.", byMachine},
	{"machine.registers", "32-bit registers", "Registers of an SM.", byMachine},
	{"machine.shared_bytes", "bytes", "Shared memory of an SM that blocks can use.", byMachine},
	{"machine.issues_per_cycle", "warp instructions per core cycle", "What the schedulers of all SMs issue at most.", byMachine},
	{"machine.l1_gb_per_s", "10⁹ bytes per second", "What all L1 data caches look up at most: their sectors of 32 bytes a cycle.", byMachine},
	{"machine.l2_gb_per_s", "10⁹ bytes per second", "What all L2 slices serve at most: 32 bytes a cycle each.", byMachine},
	{"machine.gflop_per_s", "10⁹ operations per second", "Floating-point operations of all SMs at most, by the kind of number: f16 in pairs, f32, f64, and tensor for HMMA.16816 with f32 accumulators. A fused multiply-add counts as two.", byMachine},

	{"launch", "", "Number of the launch in the job, from 0.", byJob},
	{"stream", "", "Stream of the launch.", byJob},
	{"grid", "blocks", "Extent of the grid.", byJob},
	{"block", "threads", "Extent of a block.", byJob},
	{"blocks", "blocks", "Blocks that completed.", byChip},
	{"block_log.block", "", "With run.block_log: index of a block in its grid, x fastest. The log has the blocks that began.", byChip},
	{"block_log.sm", "", "SM on which the block ran.", byChip},
	{"block_log.start_cycle", "core cycles", "When the block was placed on its SM.", byChip},
	{"block_log.end_cycle", "core cycles", "When the block's last warp had ended and its stores were acknowledged; left out if the run ended before.", byChip},
	{"registers", "32-bit registers", "Registers per thread, which limit occupancy: an estimate from the program's live values unless the job gives it.", byProgram},
	{"register_estimate.fewer", "32-bit registers", "A quarter fewer registers than estimated. Left out if the job gives the number.", byProgram},
	{"register_estimate.more", "32-bit registers", "A quarter more registers than estimated.", byProgram},
	{"register_estimate.blocks_per_sm_if_fewer", "blocks", "What blocks_per_sm would be with a quarter fewer registers.", byCore},
	{"register_estimate.blocks_per_sm_if_more", "blocks", "What blocks_per_sm would be with a quarter more registers; 0 if no block would fit.", byCore},
	{"shared_bytes", "bytes", "Shared memory per block, static and dynamic.", byProgram},
	{"local_bytes", "bytes", "Local memory per thread.", byProgram},
	{"start_cycle", "core cycles", "When the launch (or step) began, counted from the run's start.", byChip},
	{"end_cycle", "core cycles", "When the launch (or step) ended, counted from the run's start.", byChip},
	{"first_block_cycle", "core cycles", "When the launch's first block was placed on an SM; after the launch latency.", byChip},
	{"ipc", "warp instructions per core cycle", "Warp instructions divided by cycles, for the whole chip.", byChip},
	{"occupancy", "share, 0 to 1", "Resident warps divided by warp slots, over the cycles of those SMs that had any warp.", byCore},
	{"blocks_per_sm", "blocks", "Largest number of blocks of the launch that an SM holds at a time.", byCore},
	{"limited_by", "", "What limits the blocks on an SM: threads, warps, blocks, registers, shared memory, or the grid, which is spread over all SMs.", byCore},
	{"l1_ways", "ways", "Associativity of the L1 data cache during the launch; with an adaptive L1 it is what shared memory leaves.", byCore},
	{"occupancy_steps.now", "", "What a block needs of the resource, for registers a thread.", byProgram},
	{"occupancy_steps.need", "", "What it may need at most for an SM to hold more blocks.", byCore},
	{"occupancy_steps.blocks_per_sm", "blocks", "What an SM holds then.", byCore},
	{"peaks.used", "", "What the launch used of a part of the machine, in the unit given: issue slots, cycles of a pipe, look-ups of the L1, packets of the network, accesses to the L2, cycles of the DRAM's data pins.", byChip},
	{"peaks.most", "", "What that part does at most in the launch's cycles, over the whole chip. Where FP32 instructions may take the integer pipes, these count for both.", byMachine},
	{"flops", "operations", "Floating-point operations by the kind of number (f16, f32, f64, tensor): active lanes of instructions that add or multiply, twice for those that do both; products and sums of matrix instructions.", byProgram},
	{"warp_cycles", "warp cycles", "Resident warps summed over cycles: every warp of the launch from its start to its end. The sum of the stalls.", byCore},

	{"stalls.selected", "warp cycles", "The warp issued an instruction.", byCore},
	{"stalls.not_selected", "warp cycles", "The warp could have issued, but its scheduler selected another. A large value means that there are more ready warps than needed.", byCore},
	{"stalls.no_instruction", "warp cycles", "The warp's instruction buffer was empty: instructions were being fetched and decoded, for example after a branch, or missed the instruction cache.", byCore},
	{"stalls.wait", "warp cycles", "The next instruction waits for a result of fixed latency, such as that of an addition; on the Kepler-style core also for a predicate.", byCore},
	{"stalls.short_scoreboard", "warp cycles", "The next instruction waits for shared memory or for the special function unit; on the Kepler-style core, whose special functions have a fixed latency, for shared memory.", byCore},
	{"stalls.long_scoreboard", "warp cycles", "The next instruction waits for a load that goes through a cache: global, local, constant or texture memory; on the Kepler-style core for global memory.", byCore},
	{"stalls.pipe_throttle", "warp cycles", "The next instruction is ready, but no issue register of its unit was free: that unit is overloaded.", byCore},
	{"stalls.barrier", "warp cycles", "The warp waits for others of its block at a barrier.", byCore},
	{"stalls.sync", "warp cycles", "Lanes of the warp wait for others of the same warp.", byCore},
	{"stalls.membar", "warp cycles", "The warp waits at a memory fence for its outstanding stores and loads.", byCore},
	{"stalls.atomics", "warp cycles", "The warp waits for the replies to its atomic operations.", byCore},
	{"stalls.drain", "warp cycles", "All lanes have ended, but stores are not acknowledged or instructions are still in the pipeline. On the Kepler-style core: an EXIT or BAR waits for that, or fetch has reached the end of program memory.", byCore},
	{"stalls.math_pipe_throttle", "warp cycles", "Modern core: the next instruction is ready, but its pipe was busy.", byCore},
	{"stalls.lg_throttle", "warp cycles", "Modern core: the next instruction accesses global or local memory, but its sub-core already holds its maximum of memory instructions.", byCore},
	{"stalls.mio_throttle", "warp cycles", "Modern core: the next instruction needs the memory queue, for example for shared memory, or another queue, and the queue was full.", byCore},
	{"stalls.dispatch", "warp cycles", "Modern core: the stage after issue was busy, because an earlier instruction waits for read ports of the registers, or the issue port was busy.", byCore},
	{"stalls.branch_resolving", "warp cycles", "Modern core: the warp has branched, and the instructions from the target have not arrived yet.", byCore},
	{"stalls.imc_miss", "warp cycles", "Modern core: an instruction of fixed latency reads a constant that is not in its sub-core's constant cache.", byCore},
	{"stalls.misc", "warp cycles", "Modern core: lanes of the warp wait for others of the same warp, or the warp waits for registers that other warps give back (setmaxnreg).", byCore},
	{"stalls.mbarrier", "warp cycles", "Modern core of a Hopper GPU: the warp has tried to wait for an mbarrier whose phase has not ended, and is suspended.", byCore},
	{"stalls.cluster_barrier", "warp cycles", "Modern core of a Hopper GPU: the warp waits for others at the barrier of its cluster, or for the news that it has opened.", byCore},
	{"stalls.bulk_group", "warp cycles", "Modern core of a Hopper GPU: the warp waits for groups of bulk copies.", byCore},
	{"stalls.wgmma", "warp cycles", "Modern core of a Hopper GPU: the warp waits for the others of its warp group to issue a product, or for groups of products.", byCore},
	{"stalls.grid_dependency", "warp cycles", "Modern core of a Hopper GPU: the warp waits at griddepcontrol.wait for the end of the launch before its own.", byCore},
	{"stalls.start", "warp cycles", "Of the Kepler-style core: the warp is ready, but fetch has not begun. It begins in cycle 69.", byCore},
	{"stalls.branch", "warp cycles", "Of the Kepler-style core: a branch was taken, by this warp or another; fetch pauses for two cycles.", byCore},
	{"stalls.bank_conflict", "warp cycles", "Of the Kepler-style core: shared memory serves the remaining words of a bank, which stalls fetch and decode.", byCore},
	{"stalls.collectors", "warp cycles", "Of the Kepler-style core: no operand collector is free, because the queues before the units are full or many instructions wait for operands.", byCore},
	{"stalls.transaction_slots", "warp cycles", "Of the Kepler-style core: the next instruction accesses global memory, and all 64 transaction slots of the warp are in use.", byCore},
	{"slot_stalls.idle", "scheduler cycles", "No warp of the scheduler had an instruction to consider: empty buffers, barriers, fences.", byCore},
	{"slot_stalls.scoreboard", "scheduler cycles", "Some warps had an instruction, but all of these waited for registers; on the Kepler-style core for registers or predicates.", byCore},
	{"slot_stalls.pipe", "scheduler cycles", "An instruction had its registers, but no issue register of its unit was free.", byCore},

	{"slot_stalls.no_warp", "scheduler cycles", "Modern core: no warp was resident in the sub-core.", byCore},
	{"slot_stalls.start", "scheduler cycles", "Of the Kepler-style core: cycles before the first fetch, which is in cycle 69.", byCore},
	{"slot_stalls.branch", "scheduler cycles", "Of the Kepler-style core: a branch was taken in this cycle or the one before.", byCore},
	{"slot_stalls.bank_conflict", "scheduler cycles", "Of the Kepler-style core: shared memory serves the remaining words of a bank, which stalls fetch and decode.", byCore},
	{"slot_stalls.collectors", "scheduler cycles", "Of the Kepler-style core: no operand collector was free.", byCore},
	{"slot_stalls.transaction_slots", "scheduler cycles", "Of the Kepler-style core: no warp waited for registers, but some had no free transaction slot for an access to global memory.", byCore},
	{"slot_stalls.drain", "scheduler cycles", "Of the Kepler-style core: warps that could have been selected had nothing left to fetch, or an EXIT or BAR in flight.", byCore},
	{"slot_stalls.barrier", "scheduler cycles", "Of the Kepler-style core: all warps that had not exited were at the barrier.", byCore},
	{"slot_stalls.done", "scheduler cycles", "Of the Kepler-style core: all warps had exited; the cycle in which the core notices it.", byCore},

	{"warps.warp", "", "Of the Kepler-style core: number of the warp, 0 to 23.", byMachine},
	{"warps.exit_cycle", "core cycles", "Of the Kepler-style core: the cycle in which the core noticed that the warp had exited; 0 if it did not exit.", byCore},
	{"warps.cycles", "warp cycles", "Of the Kepler-style core: from the warp's start to its exit. The sum of its stalls.", byCore},
	{"warps.stalls", "warp cycles", "That time by the warp's states, as in stalls.", byCore},
	{"kepler.dual_issue_cycles", "core cycles", "Cycles in which fetch selected two instructions. These, single_issue_cycles and the slot_stalls add up to the run's cycles.", byCore},
	{"kepler.single_issue_cycles", "core cycles", "Cycles in which fetch selected one instruction.", byCore},
	{"kepler.squashed_instructions", "instructions", "Instructions that reached their unit after a branch had squashed them, and had no effect.", byCore},
	{"kepler.branches_taken", "branches", "Branches taken: jumps, calls, returns, and also SSY, JOIN, BAR and EXIT, which empty the warp's pipeline.", byCore},
	{"kepler.memory_transactions", "transactions", "Lines of 128 bytes requested from global memory.", byCore},
	{"kepler.split_transactions", "transactions", "Those that are not the first of an access whose lanes touch several lines.", byCore},
	{"kepler.shared_conflict_cycles", "core cycles", "Cycles in which shared memory served the remaining words of a bank.", byCore},
	{"kepler.exit_cycle", "core cycles", "By warp: the cycle in which the core noticed that it had exited.", byCore},

	{"trace.launches", "launches", "Replayed runs: launches in the trace, including those left out.", byTrace},
	{"trace.architectures", "", "Replayed runs: the architectures on which the trace was recorded, 86 for sm_86.", byTrace},
	{"trace.hidden_reads", "warp instructions", "Reads of predicates and uniform registers that the trace does not record.", byTrace},
	{"trace.hidden_reads_recovered", "warp instructions", "Those whose producer was found in the static code.", byTrace},
	{"trace.instructions_from_words", "instructions", "Static instructions identified by their encoded words.", byTrace},
	{"trace.instructions_from_mnemonics", "instructions", "Static instructions identified only by their mnemonics.", byTrace},
	{"trace.unknown_mnemonics.warp_instructions", "warp instructions", "Records of an unknown mnemonic; taken_for is the instruction that it was treated as (trace.unknown).", byTrace},
	{"trace.blocks_without_record", "blocks", "Blocks of the grids that are missing from the trace and did not run.", byTrace},

	{"memory.dram.reads", "bursts", "Read commands, including those for write allocation in the L2.", byDRAM},
	{"memory.dram.writes", "bursts", "Write commands, including those of written-back L2 lines.", byDRAM},
	{"memory.dram.activates", "commands", "Rows opened.", byDRAM},
	{"memory.dram.precharges", "commands", "Rows closed.", byDRAM},
	{"memory.dram.requests", "requests", "Requests passed to the channels.", byDRAM},
	{"memory.dram.row_hits", "requests", "Requests that found their row open or in use.", byDRAM},
	{"memory.dram.busy_cycles", "command clock cycles", "Cycles with the data pins busy, summed over channels.", byDRAM},
	{"memory.dram.cycles", "command clock cycles", "Cycles that passed, summed over channels.", byDRAM},
	{"memory.dram.bytes_read", "bytes", "Data read: the reads times the bytes of a burst.", byDRAM},
	{"memory.dram.bytes_written", "bytes", "Data written: the writes times the bytes of a burst.", byDRAM},
	{"memory.dram.peak_gb_per_s", "10⁹ bytes per second", "Peak rate of all data pins together.", byMachine},
	{"memory.network.request_packets", "packets", "Packets from SMs to memory partitions.", byNet},
	{"memory.network.request_flits", "flits", "The same, in units of the network's width.", byNet},
	{"memory.network.reply_packets", "packets", "Packets from memory partitions to SMs.", byNet},
	{"memory.network.reply_flits", "flits", "The same, in units of the network's width.", byNet},
	{"memory.mean_latency_cycles", "core cycles", "Mean time from the creation of a request in an SM to the arrival of its reply there; L1 hits make no request, and prefetches do not count.", byCore},
	{"memory.replies", "replies", "Replies over which mean_latency_cycles is the mean.", byCore},
	{"memory.shared_conflict_cycles", "core cycles", "Cycles in which bank conflicts of shared memory stalled the load/store units.", byCore},
	{"memory.const_conflict_cycles", "core cycles", "Cycles in which loads of constants were served again, because lanes of a warp read several addresses (modern core) or lines (SIMT core).", byCore},
	{"memory.load_store_stall_cycles", "core cycles", "Cycles in which a load/store unit could not finish its instruction, for any reason.", byCore},
	{"memory.l2_entry_stall_cycles", "L2 cycles", "Cycles in which a slice could not accept packets from the network because its queue was full.", byPart},
	{"memory.reply_stall_cycles", "network cycles", "Cycles that replies waited for room in the network, summed over replies.", byPart},

	{"series.cycle", "core cycles", "--series: when a row was written. The other figures count since the previous row, except resident_warps.", byChip},
	{"series.resident_warps", "warps", "--series: warps on all SMs at that moment.", byCore},

	{"history.every", "core cycles", "--html: length of a row. Rows begin short and double in length whenever there are 2,000.", byChip},
	{"history.end", "core cycles", "--html: when a row ended. The columns are those of --series, as counts since the row before.", byChip},
	{"history.warps.every", "core cycles", "--html: between two samples of what warps do.", byChip},
	{"history.warps.slots.sm", "", "--html: the SM of a warp slot.", byChip},
	{"history.warps.slots.slot", "", "--html: its number on the SM.", byChip},
	{"history.warps.slots", "", "--html: slots of warps. states has a letter for each sample, a for the first of history.warps.states, and a point where no warp was in the slot.", byChip},
	{"history.parts.every", "core cycles", "--html: length of a row of the parts.", byChip},
	{"history.parts.counts", "", "--html: the counter of each part over time: instructions and warp cycles of SMs, requests of L2 slices, busy cycles of DRAM channels.", byChip},

	{"lanes_per_issue", "warp instructions", "Issues by the number of active lanes: the first entry is for none, the last for all 32.", byCore},
	{"memory.latency_log2", "replies", "Replies by their latency: entry i counts those of 2^i to 2^(i+1)-1 core cycles.", byCore},

	{"per_sm.sm", "", "Number of the SM.", byMachine},
	{"per_sm.blocks", "blocks", "Blocks that ended on the SM.", byCore},
	{"per_sm.warp_instructions", "warp instructions", "Issued by the SM.", byCore},
	{"per_sm.thread_instructions", "thread instructions", "Lanes whose guard held, summed over them.", byCore},
	{"per_sm.busy_cycles", "core cycles", "Cycles with a resident warp.", byCore},
	{"per_sm.warp_cycles", "warp cycles", "Resident warps summed over cycles.", byCore},
	{"per_sm.mean_latency_cycles", "core cycles", "Mean time from the creation of a request to the arrival of its reply.", byCore},
	{"per_slice.slice", "", "Number of the L2 slice.", byMachine},
	{"per_slice.requests", "packets", "Packets that the slice received from the network.", byPart},
	{"per_channel.channel", "", "Number of the DRAM channel.", byMachine},
	{"per_channel.reads", "bursts", "Read commands of the channel.", byDRAM},
	{"per_channel.writes", "bursts", "Write commands of the channel.", byDRAM},
	{"per_channel.activates", "commands", "Rows opened in the channel.", byDRAM},
	{"per_channel.requests", "requests", "Requests passed to the channel.", byDRAM},
	{"per_channel.row_hits", "requests", "Requests that found their row open or in use.", byDRAM},
	{"per_channel.busy_cycles", "command clock cycles", "Cycles with the channel's data pins busy.", byDRAM},
	{"per_channel.cycles", "command clock cycles", "Cycles that passed in the channel.", byDRAM},
	{"per_channel.banks.bank", "", "Number of the bank in its channel.", byMachine},
	{"per_channel.banks.reads", "bursts", "Read commands of the bank.", byDRAM},
	{"per_channel.banks.writes", "bursts", "Write commands of the bank.", byDRAM},
	{"per_channel.banks.activates", "commands", "Rows opened in the bank.", byDRAM},
	{"per_channel.banks.requests", "requests", "Requests passed to the bank.", byDRAM},
	{"per_channel.banks.row_hits", "requests", "Requests that found their row open or in use.", byDRAM},

	{"per_port.port", "", "Number of the network's node on its side: of SMs that share it, or of an L2 slice.", byMachine},
	{"per_port.device", "", "The device of the node; only in runs with several.", byMachine},
	{"per_port.request_packets", "packets", "Requests that the node sent, or as an L2 slice got.", byNet},
	{"per_port.request_flits", "flits", "The same in units of noc.flit_bytes.", byNet},
	{"per_port.reply_packets", "packets", "Replies that the node got, or as an L2 slice sent.", byNet},
	{"per_port.reply_flits", "flits", "The same in units of noc.flit_bytes.", byNet},
	{"subnets.device", "", "The device of the network; only in runs with several.", byMachine},
	{"subnets.flit_bytes", "bytes", "Size of a flit.", byMachine},
	{"subnets.packets", "packets", "Packets that entered this direction of the network.", byNet},
	{"subnets.flits", "flits", "The same in units of noc.flit_bytes.", byNet},
	{"subnets.mean_latency_cycles", "network cycles", "Mean time from a packet's entry to its arrival at the other end.", byNet},
	{"subnets.max_latency_cycles", "network cycles", "The longest such time.", byNet},
	{"subnets.cycles", "network cycles", "Cycles that passed in the network.", byNet},
	{"subnets.busy_cycles", "network cycles", "Cycles in which something moved.", byNet},
	{"subnets.conflicts", "", "Crossbar: inputs whose packet wanted the output of an earlier input, summed over cycles. Routers: requests for a channel that another one was given.", byNet},
	{"subnets.refused", "", "Attempts to enter the network that found its first buffer full.", byNet},
	{"subnets.full_outputs", "", "Attempts to go on that found no room: full outputs of the crossbar, missing credits of routers.", byNet},

	{"checkers.found", "findings", "--check: errors and warnings that a checker of memory or threads has found, each counted once.", byJob},
	{"checkers.launches_not_watched", "", "--check: numbers of the launches that could not be checked, because scoreboards guard them.", byCore},
	{"checkers.left_out", "", "--check: occurrences of findings beyond the thousand different ones that an SM keeps.", byCore},
	{"checker_findings.version", "", "Version of the form in which findings are written, that of heddle check --json.", byJob},
	{"checker_findings.findings.launch", "", "Number of the launch in which it was first found; -1 if it is the host's.", byJob},
	{"checker_findings.findings.count", "", "How often it was found: pairs of bytes for races, accesses, allocations that are not freed.", byJob},
	{"checker_findings.findings.steps.line", "", "Line of the source where it happens, or of the program's text without lines of a source.", byProgram},
	{"checker_findings.findings.steps.pc", "instructions", "Index of the instruction in its function.", byProgram},
	{"checker_findings.findings.steps.chain.line", "", "Line of a caller.", byProgram},
	{"checker_findings.findings.steps.chain.pc", "instructions", "Index of the call in its function.", byProgram},
	{"checkers.hazards.launch", "", "--check hazards: number of the launch in which the hazard first occurred.", byJob},
	{"checkers.hazards.sm", "", "SM on which it first occurred.", byCore},
	{"checkers.hazards.block", "", "Index of the block in its grid, x fastest.", byCore},
	{"checkers.hazards.warp", "", "Number of the warp in its block.", byCore},
	{"checkers.hazards.lane", "", "First affected lane.", byCore},
	{"checkers.hazards.cycle", "core cycles", "When the instruction issued, counted from the run's start.", byCore},
	{"checkers.hazards.cycles_short", "core cycles", "By how much it issued too early; 0 if it did not, although nothing in the program waits.", byCore},
	{"checkers.hazards.times", "", "Occurrences of the hazard, over all warps and launches.", byCore},
	{"checkers.hazards.instruction.line", "", "Line of the instruction that issued too early.", byProgram},
	{"checkers.hazards.instruction.pc", "instructions", "Its index in its kernel.", byProgram},
	{"checkers.hazards.producer.line", "", "Line of the instruction whose result or reads it does not wait for.", byProgram},
	{"checkers.hazards.producer.pc", "instructions", "Its index in its kernel.", byProgram},
	{"checkers.hazards.fixes.line", "", "Line of an instruction that needs another control code.", byProgram},
	{"checkers.hazards.fixes.pc", "instructions", "Its index in its kernel.", byProgram},

	{"findings.launch", "", "Launch that the cause costs most; absent if it concerns the whole run.", byRun},
	{"findings.launches", "launches", "Launches of the same kernel with the same cause.", byRun},
	{"findings.share", "", "What the cause costs at most, as a share of the launch's cycles, 0 to 1: the part of scheduler cycles without an issue, divided among the states in which warps waited. Other causes may take its place.", byRun},
	{"findings.run_share", "", "The same for all of its launches, as a share of the run's cycles; where several run at the same time, their mean.", byRun},
	{"findings.lines.line", "", "Line of the program text.", byProgram},
	{"findings.lines.pc", "instructions", "Index of the instruction in its function.", byProgram},
	{"findings.lines.source_line", "", "Line of the source from which the program was compiled.", byProgram},
	{"findings.lines.share", "", "Part of the cause that is this line's, 0 to 1.", byCore},

	{"lines.line", "", "Line of the program text.", byProgram},
	{"lines.pc", "instructions", "Index of the instruction in its function.", byProgram},
	{"lines.source_line", "", "Line of the source from which the program was compiled, if it has this information (.loc).", byProgram},
	{"lines.issues", "warp instructions", "Times that warps issued this instruction.", byCore},
	{"lines.thread_instructions", "thread instructions", "Lanes whose guard held, summed over its issues. Of a functional run with --html: threads that reached it, over all launches.", byCore},
	{"lines.warp_cycles", "warp cycles", "Time that warps spent at this instruction: waiting to issue it, and issuing it. The sum of its stalls.", byCore},
	{"lines.requests", "warp instructions", "Times that warps accessed global or local memory here.", byCore},
	{"lines.sectors", "sectors", "32-byte sectors that these accesses touch. 4 an access are the least for 4 bytes a lane, 32 the most.", byCore},
	{"lines.least_sectors", "sectors", "Sectors that the accessed bytes would fill if they were adjacent. Lanes that share bytes need fewer.", byCore},
	{"lines.split_transactions", "transactions", "Of the Kepler-style core: lines of 128 bytes requested after the first of an access, because its lanes touch several.", byCore},
	{"lines.conflict_cycles", "core cycles", "Cycles that bank conflicts add to its accesses to shared memory; on the modern core also those that the addresses of lanes after the first add to its loads of constants.", byCore},
	{"lines.taken", "warp instructions", "Of a conditional branch: issues in which all active lanes take it; of a functional run, threads that take it.", byCore},
	{"lines.not_taken", "warp instructions", "Of a conditional branch: issues in which no lane takes it; of a functional run, threads that do not.", byCore},
	{"lines.waited_for.function", "", "The function of an instruction for whose result, or whose reading of registers, warps waited at this line. Runs with --html have the longest such waits, at most 8. A wait for several instructions counts for the one that ended last. Waits for control bits to count down, barriers of blocks and busy units are for no instruction.", byProgram},
	{"lines.waited_for.file", "", "The file of that instruction.", byProgram},
	{"lines.waited_for.line", "", "Its line there.", byProgram},
	{"lines.waited_for.pc", "", "Its index in its function.", byProgram},
	{"lines.waited_for.warp_cycles", "warp cycles", "Cycles that warps waited at this line for it, of the line's stalls wait, short_scoreboard and long_scoreboard.", byCore},
	{"lines.diverged", "warp instructions", "Of a conditional branch: issues in which only some of the active lanes take it.", byCore},
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

// cacheCounters are the counters of one level; %s is its name.
var cacheCounters = []Counter{
	{"accesses", "sectors or lines", "Requests that %s accepted: hits, pending hits and misses. In sectored caches a request is one sector of 32 bytes, otherwise a line.", ""},
	{"hits", "sectors or lines", "Accesses to %s that found their data.", ""},
	{"pending_hits", "sectors or lines", "Accesses to %s whose data an earlier miss had already requested.", ""},
	{"misses", "sectors or lines", "Accesses to %s that did not find their data, including sector misses.", ""},
	{"sector_misses", "sectors", "Accesses to %s that found the line, but not their sector of it.", ""},
	{"refused", "tries", "Attempts that %s refused for lack of room; they are repeated and do not count as accesses.", ""},
	{"write_backs", "requests", "Written lines or sectors that %s wrote back when they were replaced.", ""},
}

// modernSlots are the warp states that explain why a sub-core of the modern core did not
// issue.
var modernSlots = []string{
	"not_selected", "no_instruction", "wait", "short_scoreboard", "long_scoreboard", "math_pipe_throttle", "lg_throttle", "mio_throttle",
	"dispatch", "barrier", "membar", "branch_resolving", "imc_miss", "drain", "misc", "mbarrier", "cluster_barrier", "bulk_group", "wgmma",
	"grid_dependency",
}

// Counters returns all explained counters, those of the JSON result first.
func Counters() []Counter {
	list := slices.Clone(own)
	for _, s := range modernSlots {
		if n := "slot_stalls." + s; !slices.ContainsFunc(own, func(c Counter) bool { return c.Name == n }) {
			list = append(list, Counter{n, "scheduler cycles", "Modern core: the warp of the sub-core closest to issuing was in this state; see stalls." + s + ".", byCore})
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

// Own reports whether the counter is one of the JSON result, not of GPGPU-Sim's output.
func (c *Counter) Own() bool {
	return !slices.ContainsFunc(accelSim, func(x Counter) bool { return x.Name == c.Name })
}

// Explained finds the counters with a name: the whole name, the last parts of a path, or
// an indexed name of GPGPU-Sim with any indices. If there are none, near lists the names
// that contain it.
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

// noIndices removes bracketed parts from a name.
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

// WriteExplanation writes the explanation of a counter as text.
func (c *Counter) WriteExplanation(w io.Writer) error {
	unit := c.Unit
	if unit == "" {
		unit = "none"
	}
	_, err := fmt.Fprintf(w, "%s\n  %s\n  unit: %s; counted by: %s\n", c.Name, c.Meaning, unit, c.Source)
	return err
}
