package modern

import (
	"fmt"
	"strings"

	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/param"
)

// This file: the options that the simulator of "Dissecting and Modeling the
// Architecture of Modern GPU Cores" (MICRO 2025) adds to GPGPU-Sim's and that set
// several parameters or depend on each other. The others are declared with the
// parameters.

const (
	prefetching  = "-is_instruction_prefetching_enabled"
	streamBuffer = "-prefetch_per_stream_buffer_size"
	traceTimes   = "-trace_opcode_latency_initiation_"
	l1Constants  = "-gpgpu_const_cache:l1"
)

// options returns the options that set several parameters, and those that are ignored.
func options() []param.Option {
	prefetch := []string{"modern.prefetch"}
	list := []param.Option{
		tagsOf("-gpgpu_cache:il0", "modern.l0i"),
		tagsOf("-gpgpu_subcore_const_cache:l0", "modern.l0fl"),
		{Name: prefetching, Default: "0", Keys: prefetch, Set: func(v string, _ param.Put) error {
			_, err := param.Truth(v)
			return err
		}},
		{Name: streamBuffer, Default: "0", Keys: prefetch, Set: func(v string, _ param.Put) error {
			_, err := param.Number(v)
			return err
		}},
		{Name: "-offset_latency_firts_stage_memory_subcore", Set: setFirstStage},
		timesOf("half", true, false, "half"),
		timesOf("uniform", false, false, "uniform"),
		timesOf("branch", false, false, "branch"),
		timesOf("predicate", false, true, "setp", "pred"),
		timesOf("miscellaneous_no_queue", false, false, "misc"),
	}
	for n := range strings.FieldsSeq(ignored) {
		list = append(list, param.Option{Name: n, Note: "for the core of the MICRO 2025 simulator; no counterpart here"})
	}
	return list
}

// tagsOf returns an option whose value is a cache string, of which only the shape is
// used.
func tagsOf(name, table string) param.Option {
	return param.Option{Name: name, Set: func(v string, put param.Put) error {
		c, err := cache.ParseOption(v)
		if err != nil {
			return err
		}
		for i, n := range []int{c.Sets, c.Ways, c.Line} {
			if err := put(table+[...]string{".sets", ".ways", ".line"}[i], int64(n)); err != nil {
				return err
			}
		}
		return nil
	}}
}

// timesOf returns an option with a latency in the pipe and an interval, for classes of
// instructions. Halved is for units whose interval counts twice, padded for latencies
// that already count from issue.
func timesOf(name string, halved, padded bool, classes ...string) param.Option {
	return param.Option{Name: traceTimes + name, Set: func(v string, put param.Put) error {
		list, err := param.Numbers(v, ",")
		if err != nil {
			return err
		}
		if len(list) != 2 {
			return fmt.Errorf("%d numbers; want 2: latency, interval", len(list))
		}
		latency, interval := list[0]+list[1], list[1]
		if padded {
			latency = list[0]
		}
		if halved {
			interval = max(1, interval/2)
		}
		for _, c := range classes {
			if err := put("modern.time."+c+".interval", interval); err != nil {
				return err
			}
			if err := put("modern.time."+c+".latency", latency); err != nil {
				return err
			}
		}
		return nil
	}}
}

// setFirstStage makes the first stage of memory instructions, and hence their
// latencies, longer than on GA10x by the given number of cycles.
func setFirstStage(v string, put param.Put) error {
	n, err := param.Number(v)
	if err != nil {
		return err
	}
	if n < -2 || n > 64 {
		return fmt.Errorf("%d is out of bounds: want -2 to 64", n)
	}
	base := Ampere()
	for i := range parameters {
		p := &parameters[i]
		if p.Name != "modern.address_start" && !strings.HasSuffix(p.Name, "war") && !strings.HasSuffix(p.Name, "raw") {
			continue
		}
		v := p.Value(&base.Params)
		if list, ok := v.([]any); ok {
			for i := range list {
				list[i] = list[i].(int64) + n
			}
		} else {
			v = v.(int64) + n
		}
		if err := put(p.Name, v); err != nil {
			return err
		}
	}
	return nil
}

// finish sets what depends on several options, or on options that GPGPU-Sim also uses
// for its own core.
func finish(g param.Given, chosen bool) error {
	if !chosen {
		return nil
	}
	put := func(source, key string, v int64) error {
		if err := g.Put(source, key, v); err != nil {
			return fmt.Errorf("%s: %w", source, err)
		}
		return nil
	}
	lines := int64(0)
	if on, err := param.Truth(g.Value(prefetching)); on && err == nil {
		lines, _ = param.Number(g.Value(streamBuffer))
	}
	if err := put(prefetching+" and "+streamBuffer, "modern.prefetch", lines); err != nil {
		return err
	}
	for _, x := range []struct{ option, key string }{{"-gpgpu_l1_banks", "modern.l1_banks"}, {"-gpgpu_shmem_num_banks", "modern.shared_banks"}} {
		n, err := param.Number(g.Value(x.option))
		if err != nil {
			return err
		}
		if err := put(x.option, x.key, n); err != nil {
			return err
		}
	}
	for _, x := range []struct{ option, latency, interval string }{
		{"spec_op_2", "", ""}, {"sfu", "", "sfu"}, {"dp", "", "fp64"}, {"int", "int", "int"}, {"sp", "fp32", "fp32"}, {"sp", "imad", "imad"},
	} {
		option := traceTimes + x.option
		t, err := param.Numbers(g.Value(option), ",")
		if err == nil && x.interval == "" {
			err = put(option, "modern.texture", t[0])
		}
		if err == nil && x.interval != "" {
			err = put(option, "modern.time."+x.interval+".interval", t[1])
		}
		if err == nil && x.latency != "" {
			err = put(option, "modern.time."+x.latency+".latency", t[0]+t[1])
		}
		if err != nil {
			return err
		}
	}
	constants := g.Value(l1Constants)
	if c, err := cache.ParseOption(constants); err != nil || c.Disabled {
		return err
	}
	return tagsOf(l1Constants, "modern.l0vl").Set(constants, func(key string, v any) error { return g.Put(l1Constants, key, v) })
}

// ignored are the options without a counterpart here.
const ignored = `
	-branch_initiation -branch_latency -constant_cache_latency_at_sm_structure -custom_omp_scheduler_ratio_to_dynamic -dp_shared_intermidiate_stages
	-dp_sm_shared_queue_size -dp_subcore_max_latency -fetch_decode_width -filter_first_kernel_id -filter_last_kernel_id -half_initiation -half_latency
	-ibuffer_coalescing -interwarp_coalescing_quanta -interwarp_coalescing_quanta_warppool_policy_miss_ratio_threshold
	-interwarp_coalescing_selection_policy_string -is_L0I_enabled -is_const_cache_accessed_blocks_tracking_enabled -is_custom_omp_scheduler_enabled
	-is_dp_pipeline_shared_for_subcores -is_extra_traces_enabled -is_fetch_and_decode_improved -is_fp32_and_int_unified_pipeline
	-is_global_memory_accesses_blocks_tracking_enabled -is_ibuffer_remodeled_enabled -is_interwarp_coalescing_enabled
	-is_load_half_bandwidth_in_the_subcore_link_to_sm_enabled -is_num_virtual_pages_tracking_enabled
	-is_store_half_bandwidth_in_the_subcore_link_to_sm_enabled -max_latency_regular_register_file_latency -max_operands_regular_register_file
	-max_pops_per_cycle_register_file_write_queue_for_fixed_latency_instructions -max_reply_allowed_from_L1I -max_request_allowed_to_L1I
	-max_size_interwarp_coalescing_per_table -measure_coalescing_potential_stats -memmory_max_concurrent_requests_shmem_per_sm
	-memmory_max_concurrent_requests_standard_per_sm -memory_global_shared_latency_for_ldgsts -memory_intermidiate_stages_subcore_unit
	-memory_maximum_coalescing_cycles -memory_num_scalar_units_per_subcore -memory_shared_memory_extra_latency_ldsm_multiple_matrix
	-memory_shared_memory_minimum_latency -memory_subcore_extra_latency_load_shared_mem -memory_subcore_link_to_sm_byte_size
	-miscellaneous_no_queue_initiation -miscellaneous_no_queue_latency -miscellaneous_queue_initiation -miscellaneous_queue_latency
	-num_cycles_needed_to_write_a_reg_from_sm_struct_to_subcore
	-num_cycles_to_wait_to_dispatch_another_inst_from_subcore_to_sm_shared_pipeline_when_is_dp_inst -num_instruction_prefetches_per_cycle
	-num_interwarp_coalescing_tables -num_regular_register_file_write_ports_per_bank -num_threads_granularity_read_regular_register_file_dp_inst
	-num_threads_granularity_read_regular_register_file_mem_inst -num_threads_granularity_read_regular_register_file_other_inst
	-num_threads_granularity_read_regular_register_file_sfu_inst -number_of_clusters_for_prt_selection -predicate_initiation -predicate_latency
	-prefetch_num_stream_buffers -prt_selection_policy_string -scoreboard_war_dynamic_power -scoreboard_war_max_uses_per_reg -scoreboard_war_mode
	-scoreboard_war_static_power -sm_memory_unit_bypass_l1d_directly_go_to_l2_access_queue_size -sm_memory_unit_l1c_access_queue_size
	-sm_memory_unit_l1d_access_queue_size -sm_memory_unit_l1t_access_queue_size -sm_memory_unit_miscellaneous_access_queue_size
	-sm_memory_unit_shmem_access_queue_size -tensor_latency -tensor_rate_per_cycle -trace_opcode_latency_initiation_miscellaneous_queue
	-uniform_initiation -uniform_latency -virtual_page_size_in_bytes
`
