package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// optionRow is an option of GPGPU-Sim or Accel-Sim.
type optionRow struct {
	name     string
	def      string // what it is where a file does not say, as an option; "" if the values' own defaults do
	use      Use
	only     string // of Fixed
	note     string // why it sets nothing
	required bool
	apply    func(r *reader, value string) error
}

// optionAt finds an option by its name.
var optionAt = func() map[string]*optionRow {
	m := make(map[string]*optionRow, len(optionTable))
	for i := range optionTable {
		if m[optionTable[i].name] != nil {
			panic("config: two rows for " + optionTable[i].name)
		}
		m[optionTable[i].name] = &optionTable[i]
	}
	return m
}()

// num is an option whose number becomes a value.
func num(name, def, key string) optionRow {
	return optionRow{name: name, def: def, apply: func(r *reader, v string) error {
		n, err := number(v)
		if err != nil {
			return err
		}
		return r.put(key, n)
	}}
}

// truth reads 0 or 1.
func truth(v string) (bool, error) {
	switch v = strings.TrimSpace(v); v {
	case "0":
		return false, nil
	case "1":
		return true, nil
	}
	return false, fmt.Errorf("want 0 or 1, not %.20q", v)
}

// flag is an option that is 0 or 1.
func flag(name, def, key string) optionRow {
	return optionRow{name: name, def: def, apply: func(r *reader, v string) error {
		b, err := truth(v)
		if err != nil {
			return err
		}
		return r.put(key, b)
	}}
}

// words is an option whose number stands for a word: 0 for the first, …
func words(name, def, key string, list ...string) optionRow {
	return optionRow{name: name, def: def, apply: func(r *reader, v string) error {
		n, err := number(v)
		if err != nil {
			return err
		}
		if n < 0 || n >= int64(len(list)) || list[n] == "" {
			return fmt.Errorf("%d stands for nothing here", n)
		}
		return r.put(key, list[n])
	}}
}

// text is an option that is kept as it is.
func text(name, key string) optionRow {
	return optionRow{name: name, apply: func(r *reader, v string) error { return r.put(key, v) }}
}

// numbers splits a list of numbers.
func numbers(v, sep string) ([]int64, error) {
	var list []int64
	for s := range strings.SplitSeq(v, sep) {
		n, err := number(s)
		if err != nil {
			return nil, err
		}
		if list = append(list, n); len(list) > 64 {
			return nil, errors.New("more than 64 numbers")
		}
	}
	return list, nil
}

// nums is an option whose numbers become values; the last key may lack one,
// which is 1 then, if optional is set.
func nums(name, def, sep string, optional bool, into ...string) optionRow {
	return optionRow{name: name, def: def, apply: func(r *reader, v string) error {
		list, err := numbers(v, sep)
		if err != nil {
			return err
		}
		if optional && len(list) == len(into)-1 {
			list = append(list, 1)
		}
		if len(list) != len(into) {
			return fmt.Errorf("%d numbers, %d are wanted", len(list), len(into))
		}
		for i, k := range into {
			if err := r.put(k, list[i]); err != nil {
				return err
			}
		}
		return nil
	}}
}

// below puts the table before each last part of a key.
func below(table string, last ...string) []string {
	out := slices.Clone(last)
	for i := range out {
		out[i] = table + "." + out[i]
	}
	return out
}

// cacheOf is an option with a cache's string.
func cacheOf(name, def, table string) optionRow {
	return optionRow{name: name, def: def, required: def == "", apply: func(r *reader, v string) error { return r.setCache(table, v) }}
}

// needed makes an option one that cannot be left out.
func needed(row optionRow) optionRow {
	row.required = true
	return row
}

// fixed is an option of which only one value is supported.
func fixed(name, only, why string) optionRow {
	return optionRow{name: name, use: Fixed, only: only, note: why}
}

// inert are options that change no cycle, for the same reason.
func inert(why string, names ...string) []optionRow {
	var list []optionRow
	for _, n := range names {
		list = append(list, optionRow{name: n, use: Inert, note: why})
	}
	return list
}

// optionTable holds every option that GPGPU-Sim and the trace reader of
// Accel-Sim have, with their defaults (the list that
// GPGPU-Sim prints).
var optionTable = slices.Concat([]optionRow{
	// The chip.
	needed(num("-gpgpu_n_clusters", "10", "chip.clusters")),
	num("-gpgpu_n_cores_per_cluster", "3", "chip.sms_per_cluster"),
	num("-gpgpu_n_mem", "8", "chip.channels"),
	num("-gpgpu_n_sub_partition_per_mchannel", "1", "chip.slices_per_channel"),
	num("-gpgpu_max_concurrent_kernel", "32", "chip.kernels"),
	flag("-gpgpu_concurrent_kernel_sm", "0", "chip.shared_sms"),
	flag("-gpgpu_simt_core_sim_order", "1", "chip.rotate_sms"),
	words("-gpgpu_local_mem_map", "1", "chip.local_map", "slots", "interleaved"),
	{name: "-gpgpu_clock_domains", def: "500.0:2000.0:2000.0:2000.0", apply: func(r *reader, v string) error {
		parts := strings.Split(v, ":")
		into := []string{"clocks.core", "clocks.noc", "clocks.l2", "clocks.dram"}
		if len(parts) != len(into) {
			return fmt.Errorf("%d clocks, 4 are wanted: core:network:L2:DRAM", len(parts))
		}
		for i, p := range parts {
			f, err := strconv.ParseFloat(strings.TrimSpace(p), 64)
			if err != nil {
				return fmt.Errorf("%.20q is not a frequency in MHz", p)
			}
			if err := r.put(into[i], f); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "-gpgpu_compute_capability_major", def: "7", apply: func(r *reader, v string) (err error) {
		r.major, err = small(v)
		r.keys = []string{"compute_capability", "architecture"}
		return err
	}},
	{name: "-gpgpu_compute_capability_minor", def: "0", apply: func(r *reader, v string) (err error) {
		r.minor, err = small(v)
		r.keys = []string{"compute_capability", "architecture"}
		return err
	}},

	// What an SM holds.
	num("-gpgpu_shader_registers", "8192", "sm.registers"),
	num("-gpgpu_registers_per_block", "8192", "sm.registers_per_block"),
	num("-gpgpu_shader_cta", "32", "sm.blocks"),
	num("-gpgpu_num_cta_barriers", "16", "sm.barriers"),
	num("-gpgpu_shmem_size", "16384", "sm.shared"),
	num("-gpgpu_shmem_sizeDefault", "16384", "sm.shared_prefer_none"),
	num("-gpgpu_shmem_size_PrefL1", "16384", "sm.shared_prefer_l1"),
	num("-gpgpu_shmem_size_PrefShared", "16384", "sm.shared_prefer_smem"),
	num("-gpgpu_shmem_per_block", "49152", "sm.shared_per_block"),
	flag("-gpgpu_ignore_resources_limitation", "0", "sm.always_one_block"),
	{name: "-gpgpu_shader_core_pipeline", def: "1024:32", apply: func(r *reader, v string) error {
		list, err := numbers(v, ":")
		if err != nil {
			return err
		}
		if len(list) != 2 {
			return errors.New("want threads:lanes, such as 1536:32")
		}
		if list[1] != 32 {
			return fmt.Errorf("a warp of %d lanes is not supported, only 32", list[1])
		}
		return r.put("sm.threads", list[0])
	}},

	// The core.
	{name: "-gpgpu_scheduler", def: "gto", apply: func(r *reader, v string) error { return r.setScheduler(v) }},
	num("-gpgpu_num_sched_per_core", "1", "simt.schedulers"),
	num("-gpgpu_max_insn_issue_per_warp", "2", "simt.issue_per_warp"),
	flag("-gpgpu_dual_issue_diff_exec_units", "1", "simt.dual_differs"),
	flag("-gpgpu_sub_core_model", "0", "simt.sub_cores"),
	flag("-gpgpu_clock_gated_lanes", "0", "simt.gated_lanes"),
	num("-gpgpu_inst_fetch_throughput", "1", "simt.fetch_throughput"),
	flag("-gpgpu_perfect_inst_const_cache", "0", "simt.perfect_inst_const"),
	{name: "-gpgpu_tensor_core_avail", def: "0", apply: func(r *reader, v string) error {
		b, err := truth(v)
		if err != nil {
			return err
		}
		r.tensor = b
		return r.put("simt.tensor_port", b)
	}},
	{name: "-gpgpu_pipeline_widths", def: "1,1,1,1,1,1,1,1,1,1,1,1,1", apply: func(r *reader, v string) error {
		list, err := numbers(v, ",")
		if err != nil {
			return err
		}
		r.widths = r.widths[:0]
		for _, n := range list {
			if n < 0 || n > 64 {
				return fmt.Errorf("width %d is out of bounds", n)
			}
			r.widths = append(r.widths, int(n))
		}
		r.keys = []string{"simt.issue", "simt.exec", "simt.write_back"}
		return nil
	}},
	num("-gpgpu_num_sp_units", "1", "simt.units.sp"),
	num("-gpgpu_num_dp_units", "0", "simt.units.dp"),
	num("-gpgpu_num_int_units", "0", "simt.units.int"),
	num("-gpgpu_num_sfu_units", "1", "simt.units.sfu"),
	num("-gpgpu_num_tensor_core_units", "0", "simt.units.tensor"),
	nums("-ptx_opcode_latency_int", "1,1,19,25,145,32", ",", true, below("simt.latency", "int_add", "int_max", "int_mul", "int_mad", "int_div", "int_shfl")...),
	nums("-ptx_opcode_latency_fp", "1,1,1,1,30", ",", false, below("simt.latency", "fp_add", "fp_max", "fp_mul", "fp_mad", "fp_div")...),
	nums("-ptx_opcode_latency_dp", "8,8,8,8,335", ",", false, below("simt.latency", "dp_add", "dp_max", "dp_mul", "dp_mad", "dp_div")...),
	num("-ptx_opcode_latency_sfu", "8", "simt.latency.sfu"),
	num("-ptx_opcode_latency_tesnor", "64", "simt.latency.tensor"),
	nums("-ptx_opcode_initiation_int", "1,1,4,4,32,4", ",", true, below("simt.initiation", "int_add", "int_max", "int_mul", "int_mad", "int_div", "int_shfl")...),
	nums("-ptx_opcode_initiation_fp", "1,1,1,1,5", ",", false, below("simt.initiation", "fp_add", "fp_max", "fp_mul", "fp_mad", "fp_div")...),
	nums("-ptx_opcode_initiation_dp", "8,8,8,8,130", ",", false, below("simt.initiation", "dp_add", "dp_max", "dp_mul", "dp_mad", "dp_div")...),
	num("-ptx_opcode_initiation_sfu", "8", "simt.initiation.sfu"),
	num("-ptx_opcode_initiation_tensor", "64", "simt.initiation.tensor"),
	nums("-trace_opcode_latency_initiation_int", "4,1", ",", false, "simt.trace_latency.int", "simt.trace_initiation.int"),
	nums("-trace_opcode_latency_initiation_sp", "4,1", ",", false, "simt.trace_latency.sp", "simt.trace_initiation.sp"),
	nums("-trace_opcode_latency_initiation_dp", "4,1", ",", false, "simt.trace_latency.dp", "simt.trace_initiation.dp"),
	nums("-trace_opcode_latency_initiation_sfu", "4,1", ",", false, "simt.trace_latency.sfu", "simt.trace_initiation.sfu"),
	nums("-trace_opcode_latency_initiation_tensor", "4,1", ",", false, "simt.trace_latency.tensor", "simt.trace_initiation.tensor"),

	// Operand collectors.
	flag("-gpgpu_enable_specialized_operand_collector", "1", "simt.collector.specialized"),
	num("-gpgpu_num_reg_banks", "8", "simt.collector.banks"),
	num("-gpgpu_reg_file_port_throughput", "1", "simt.collector.steps"),

	// Shared memory and the load/store unit.
	num("-gpgpu_smem_latency", "3", "simt.shared_latency"),
	num("-smem_latency", "", "simt.shared_latency"), // the Kepler Titan's file calls it so
	num("-gpgpu_shmem_num_banks", "16", "simt.shared_banks"),
	flag("-gpgpu_shmem_limited_broadcast", "1", "simt.shared_one_cast"),
	num("-gpgpu_shmem_warp_parts", "2", "simt.shared_parts"),
	num("-gpgpu_coalesce_arch", "13", "simt.coalesce_arch"),
	num("-gpgpu_mem_unit_ports", "1", "simt.mem_ports"),
	num("-gpgpu_n_ldst_response_buffer_size", "2", "simt.response_fifo"),
	flag("-gpgpu_perfect_mem", "0", "simt.perfect_memory"),

	// First-level caches.
	cacheOf("-gpgpu_cache:dl1", "none", "l1d"),
	cacheOf("-gpgpu_cache:dl1PrefL1", "none", "l1d.prefer_l1"),
	cacheOf("-gpgpu_cache:dl1PrefShared", "none", "l1d.prefer_shared"),
	cacheOf("-gpgpu_cache:il1", "", "l1i"),
	cacheOf("-gpgpu_tex_cache:l1", "", "l1t"),
	cacheOf("-gpgpu_const_cache:l1", "", "l1c"),
	num("-gpgpu_l1_latency", "1", "l1d.latency"),
	num("-gpgpu_l1_banks", "1", "l1d.banks"),
	num("-gpgpu_l1_banks_byte_interleaving", "32", "l1d.bank_interleave"),
	words("-gpgpu_l1_banks_hashing_function", "0", "l1d.bank_index", "linear", "xor", "ipoly", "fermi"),
	num("-gpgpu_l1_cache_write_ratio", "0", "l1d.write_ratio"),
	flag("-gpgpu_gmem_skip_L1D", "0", "l1d.skip_global"),
	flag("-gpgpu_adaptive_cache_config", "0", "l1d.adaptive"),
	num("-gpgpu_unified_l1d_size", "0", "l1d.unified"),
	{name: "-gpgpu_shmem_option", def: "0", apply: func(r *reader, v string) error {
		list, err := numbers(v, ",")
		if err != nil {
			return err
		}
		var any []any
		for _, n := range list {
			any = append(any, n)
		}
		return r.put("l1d.shared_sizes", any)
	}},

	// The network.
	{name: "-network_mode", def: "1", apply: func(r *reader, v string) error {
		switch strings.TrimSpace(v) {
		case "1":
			r.mode = 1
			return r.put("noc.kind", "fly")
		case "2":
			r.mode = 2
			return r.put("noc.kind", "crossbar")
		}
		return errors.New("want 1 (a network file) or 2 (the crossbar)")
	}},
	{name: "-inter_config_file", apply: func(r *reader, v string) error {
		r.network = v
		r.keys = []string{"noc"}
		return nil
	}},
	num("-gpgpu_n_cluster_ejection_buffer_size", "8", "noc.cluster_fifo"),
	num("-icnt_in_buffer_limit", "64", "noc.in_buffer"),
	num("-icnt_out_buffer_limit", "64", "noc.out_buffer"),
	words("-icnt_arbiter_algo", "1", "noc.arbiter", "round-robin", "islip"),
	num("-icnt_grant_cycles", "1", "noc.grant_cycles"),
	num("-icnt_flit_size", "32", "noc.flit_bytes"),
	fixed("-icnt_subnets", "2", "replies have a network of their own; with one network GPGPU-Sim looks for them in another"),

	// Partitions and L2.
	needed(cacheOf("-gpgpu_cache:dl2", "", "l2")),
	flag("-gpgpu_cache:dl2_texture_only", "1", "l2.texture_only"),
	nums("-gpgpu_dram_partition_queues", "8:8:8:8", ":", false, below("partition", "to_l2", "to_dram", "from_dram", "to_noc")...),
	num("-gpgpu_l2_rop_latency", "85", "partition.rop_latency"),
	num("-dram_latency", "30", "partition.dram_latency"),
	num("-rop_latency", "", "partition.rop_latency"), // its name in GPGPU-Sim 3
	needed(text("-gpgpu_mem_addr_mapping", "partition.mapping")),
	words("-gpgpu_memory_partition_indexing", "0", "partition.indexing", "consecutive", "xor", "ipoly", "pae", "random"),

	// DRAM.
	flag("-gpgpu_simple_dram_model", "0", "dram.fixed_latency"),
	words("-gpgpu_dram_scheduler", "1", "dram.scheduler", "fifo", "frfcfs"),
	num("-gpgpu_frfcfs_dram_sched_queue_size", "0", "dram.queue"),
	num("-gpgpu_dram_return_queue_size", "0", "dram.return_queue"),
	num("-gpgpu_dram_sched_queue_size", "", "dram.queue"), // its name in GPGPU-Sim 3.1
	num("-gpgpu_dram_buswidth", "4", "dram.bus_bytes"),
	num("-gpgpu_dram_burst_length", "4", "dram.burst_length"),
	num("-dram_data_command_freq_ratio", "2", "dram.data_ratio"),
	num("-gpgpu_n_mem_per_ctrlr", "1", "dram.chips"),
	flag("-dram_dual_bus_interface", "0", "dram.dual_command"),
	words("-dram_bnk_indexing_policy", "0", "dram.bank_index", "linear", "xor", "ipoly"),
	words("-dram_bnkgrp_indexing_policy", "0", "dram.group_by", "high-bits", "low-bits"),
	flag("-dram_elimnate_rw_turnaround", "0", "dram.no_turnaround"),
	flag("-dram_seperate_write_queue_enable", "0", "dram.write_queue"),
	nums("-dram_write_queue_size", "32:28:16", ":", false, below("dram", "write_size", "write_high", "write_low")...),
	{name: "-gpgpu_dram_timing_opt", required: true, apply: func(r *reader, v string) error { return r.setTiming(v) }},

	// Conditions of the run.
	num("-gpgpu_kernel_launch_latency", "0", "run.launch_latency"),
	num("-gpgpu_TB_launch_latency", "0", "run.block_latency"),
	flag("-gpgpu_perf_sim_memcpy", "1", "run.copies_fill_l2"),
	flag("-gpgpu_flush_l1_cache", "0", "run.flush_l1"),
	words("-gpgpu_flush_l2_cache", "0", "run.caches", "l2-kept", "flushed"),
	flag("-gpgpu_deadlock_detect", "1", "run.detect_deadlock"),
	num("-gpgpu_max_cycle", "0", "run.max_cycles"),
	num("-gpgpu_max_insn", "0", "run.max_insts"),
	num("-gpgpu_max_cta", "0", "run.max_blocks"),
	num("-gpgpu_max_completed_cta", "0", "run.max_done"),

	fixed("-gpgpu_simd_model", "1", "warps reconverge at the immediate post-dominator"),
	fixed("-gpgpu_ptx_sim_mode", "0", "to compute without timing, use --mode functional"),
	fixed("-gpgpu_ptx_convert_to_ptxplus", "0", "PTX runs as it is"),
	fixed("-gpgpu_cdp_enabled", "0", "launches from the device are not supported"),
	fixed("-dvfs_enabled", "0", "clocks do not change during a run"),
	fixed("-checkpoint_option", "0", "its checkpoints are not supported"),
	fixed("-resume_option", "0", "its checkpoints are not supported"),
},
	collectorOptions(), specialOptions(),
	inert("it only prints or logs", "-gpgpu_runtime_stat", "-gpgpu_ptx_instruction_classification", "-gpgpu_memlatency_stat", "-enable_ptx_file_line_stats",
		"-ptx_line_stats_filename", "-visualizer_enabled", "-visualizer_outputfile", "-visualizer_zlevel", "-gpgpu_cflog_interval",
		"-liveness_message_freq", "-trace_enabled", "-trace_components", "-trace_sampling_core", "-trace_sampling_memory_partition",
		"-gpgpu_warpdistro_shader", "-gpgpu_warp_issue_shader", "-icnt_verbose", "-gpgpu_mem_addr_test", "-keep", "-save_embedded_ptx",
		"-gpgpu_ptx_save_converted_ptxplus", "-gpgpu_ptx_inst_debug_to_file", "-gpgpu_ptx_inst_debug_file", "-gpgpu_ptx_inst_debug_thread_uid"),
	inert("the power model changes no cycle", "-power_simulation_enabled", "-power_simulation_mode", "-power_per_cycle_dump", "-power_trace_enabled",
		"-power_trace_zlevel", "-gpuwattch_xml_file", "-accelwattch_xml_file", "-hw_perf_file_name", "-hw_perf_bench_name", "-aggregate_power_stats",
		"-steady_power_levels_enabled", "-steady_state_definition", "-n_regfile_gating_group", "-gpgpu_clock_gated_reg_file",
		"-accelwattch_hybrid_perfsim_L1_RH", "-accelwattch_hybrid_perfsim_L1_RM", "-accelwattch_hybrid_perfsim_L1_WH", "-accelwattch_hybrid_perfsim_L1_WM",
		"-accelwattch_hybrid_perfsim_L2_RH", "-accelwattch_hybrid_perfsim_L2_RM", "-accelwattch_hybrid_perfsim_L2_WH", "-accelwattch_hybrid_perfsim_L2_WM",
		"-accelwattch_hybrid_perfsim_CC_ACC", "-accelwattch_hybrid_perfsim_SHARED_ACC", "-accelwattch_hybrid_perfsim_DRAM_RD", "-accelwattch_hybrid_perfsim_DRAM_WR",
		"-accelwattch_hybrid_perfsim_NOC", "-accelwattch_hybrid_perfsim_PIPE_DUTY", "-accelwattch_hybrid_perfsim_NUM_SM_IDLE",
		"-accelwattch_hybrid_perfsim_CYCLES", "-accelwattch_hybrid_perfsim_VOLTAGE"),
	inert("a value that the CUDA runtime returns", "-gpgpu_stack_size_limit", "-gpgpu_heap_size_limit", "-gpgpu_runtime_sync_depth_limit",
		"-gpgpu_runtime_pending_launch_count_limit"),
	inert("it picks the PTX of a CUDA program; a job names its PTX", "-gpgpu_ptx_force_max_capability", "-gpgpu_ptx_use_cuobjdump", "-gpgpu_experimental_lib_support"),
	inert("it is the target of NVIDIA's ptxas, for registers per thread; here the job or an estimate says how many", "-gpgpu_occupancy_sm_number"),
	inert("the mapping string overrides it", "-gpgpu_mem_address_mask"),
	inert("GPGPU-Sim reads it and never uses it", "-l2_ideal", "-gpgpu_num_mem_units", "-gpgpu_reg_bank_use_warp_id"),
	inert("launches from the device are not supported", "-cdp_latency"),
	inert("without checkpoint_option and resume_option it means nothing", "-checkpoint_kernel", "-checkpoint_CTA", "-checkpoint_CTA_t",
		"-checkpoint_insn_Y", "-resume_kernel", "-resume_CTA"),
)

// small reads a number of at most two digits.
func small(v string) (int, error) {
	n, err := strconv.ParseUint(strings.TrimSpace(v), 10, 8)
	if err != nil || n > 99 {
		return 0, fmt.Errorf("%.20q is no number from 0 to 99", v)
	}
	return int(n), nil
}

// collectorOptions are three options for each set of collectors.
func collectorOptions() []optionRow {
	var list []optionRow
	for _, s := range []struct{ option, key, units, ports string }{
		{"gen", "gen", "0", "0"}, {"sp", "sp", "4", "1"}, {"dp", "dp", "0", "0"}, {"int", "int", "0", "0"},
		{"sfu", "sfu", "4", "1"}, {"mem", "mem", "2", "1"}, {"tensor_core", "tensor", "4", "1"},
	} {
		list = append(list,
			num("-gpgpu_operand_collector_num_units_"+s.option, s.units, "simt.collector."+s.key+".units"),
			num("-gpgpu_operand_collector_num_in_ports_"+s.option, s.ports, "simt.collector."+s.key+".in_ports"),
			num("-gpgpu_operand_collector_num_out_ports_"+s.option, s.ports, "simt.collector."+s.key+".out_ports"))
	}
	return list
}

// specialOptions are two options for each special unit.
func specialOptions() []optionRow {
	var list []optionRow
	for i := 1; i <= 8; i++ { // SPECIALIZED_UNIT_NUM (GPGPU-Sim)
		at := fmt.Sprintf("simt.special%d", i)
		list = append(list, optionRow{name: fmt.Sprintf("-specialized_unit_%d", i), def: "0,4,4,4,4,BRA", apply: func(r *reader, v string) error {
			parts := strings.Split(v, ",")
			if len(parts) != 6 {
				return fmt.Errorf("%d parts, 6 are wanted: enabled, units, depth, two widths, name", len(parts))
			}
			on, err := truth(parts[0])
			if err != nil {
				return err
			}
			into := below(at, "units", "depth", "issue_width", "exec_width")
			for i, k := range into {
				n, err := number(parts[i+1])
				if err != nil {
					return err
				}
				if i == 0 && !on {
					n = 0
				}
				if err := r.put(k, n); err != nil {
					return err
				}
			}
			return r.put(at+".name", strings.TrimSpace(parts[5]))
		}}, nums(fmt.Sprintf("-trace_opcode_latency_initiation_spec_op_%d", i), "4,4", ",", false, at+".latency", at+".initiation"))
	}
	return list
}

// modernOptions are the options of the files of "Dissecting and Modeling the
// Architecture of Modern GPU Cores" (MICRO 2025) that GPGPU-Sim does not have and
// to which nothing here corresponds: see modernTable for the others.
var modernOptions = []string{
	"-branch_initiation", "-branch_latency", "-constant_cache_latency_at_sm_structure", "-custom_omp_scheduler_ratio_to_dynamic",
	"-dp_shared_intermidiate_stages", "-dp_sm_shared_queue_size", "-dp_subcore_max_latency", "-fetch_decode_width", "-filter_first_kernel_id",
	"-filter_last_kernel_id", "-half_initiation", "-half_latency", "-ibuffer_coalescing", "-interwarp_coalescing_quanta",
	"-interwarp_coalescing_quanta_warppool_policy_miss_ratio_threshold", "-interwarp_coalescing_selection_policy_string", "-is_L0I_enabled",
	"-is_const_cache_accessed_blocks_tracking_enabled", "-is_custom_omp_scheduler_enabled", "-is_dp_pipeline_shared_for_subcores",
	"-is_extra_traces_enabled", "-is_fetch_and_decode_improved", "-is_fp32_and_int_unified_pipeline",
	"-is_global_memory_accesses_blocks_tracking_enabled", "-is_ibuffer_remodeled_enabled", "-is_interwarp_coalescing_enabled",
	"-is_load_half_bandwidth_in_the_subcore_link_to_sm_enabled", "-is_num_virtual_pages_tracking_enabled",
	"-is_store_half_bandwidth_in_the_subcore_link_to_sm_enabled", "-max_latency_regular_register_file_latency",
	"-max_operands_regular_register_file", "-max_pops_per_cycle_register_file_write_queue_for_fixed_latency_instructions",
	"-max_reply_allowed_from_L1I", "-max_request_allowed_to_L1I", "-max_size_interwarp_coalescing_per_table",
	"-measure_coalescing_potential_stats", "-memmory_max_concurrent_requests_shmem_per_sm",
	"-memmory_max_concurrent_requests_standard_per_sm", "-memory_global_shared_latency_for_ldgsts",
	"-memory_intermidiate_stages_subcore_unit", "-memory_maximum_coalescing_cycles", "-memory_num_scalar_units_per_subcore",
	"-memory_shared_memory_extra_latency_ldsm_multiple_matrix", "-memory_shared_memory_minimum_latency",
	"-memory_subcore_extra_latency_load_shared_mem", "-memory_subcore_link_to_sm_byte_size", "-miscellaneous_no_queue_initiation",
	"-miscellaneous_no_queue_latency", "-miscellaneous_queue_initiation", "-miscellaneous_queue_latency",
	"-num_cycles_needed_to_write_a_reg_from_sm_struct_to_subcore",
	"-num_cycles_to_wait_to_dispatch_another_inst_from_subcore_to_sm_shared_pipeline_when_is_dp_inst",
	"-num_instruction_prefetches_per_cycle", "-num_interwarp_coalescing_tables", "-num_regular_register_file_write_ports_per_bank",
	"-num_threads_granularity_read_regular_register_file_dp_inst", "-num_threads_granularity_read_regular_register_file_mem_inst",
	"-num_threads_granularity_read_regular_register_file_other_inst", "-num_threads_granularity_read_regular_register_file_sfu_inst",
	"-number_of_clusters_for_prt_selection", "-predicate_initiation", "-predicate_latency", "-prefetch_num_stream_buffers",
	"-prt_selection_policy_string", "-scoreboard_war_dynamic_power", "-scoreboard_war_max_uses_per_reg", "-scoreboard_war_mode",
	"-scoreboard_war_static_power", "-sm_memory_unit_bypass_l1d_directly_go_to_l2_access_queue_size", "-sm_memory_unit_l1c_access_queue_size",
	"-sm_memory_unit_l1d_access_queue_size", "-sm_memory_unit_l1t_access_queue_size", "-sm_memory_unit_miscellaneous_access_queue_size",
	"-sm_memory_unit_shmem_access_queue_size", "-tensor_latency", "-tensor_rate_per_cycle",
	"-trace_opcode_latency_initiation_miscellaneous_queue", "-uniform_initiation", "-uniform_latency", "-virtual_page_size_in_bytes",
}
