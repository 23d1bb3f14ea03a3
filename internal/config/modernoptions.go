package config

import (
	"fmt"
	"strings"

	"github.com/heddle-sim/heddle/internal/mem/cache"
)

// This file: the options that the simulator behind "Dissecting and Modeling the
// Architecture of Modern GPU Cores" (MICRO 2025) has beyond those of GPGPU-Sim,
// as far as the modern core has something like them.

// modernAt finds one of them by its name.
var modernAt = func() map[string]*optionRow {
	table := modernTable()
	m := make(map[string]*optionRow, len(table))
	for i := range table {
		if m[table[i].name] != nil || optionAt[table[i].name] != nil {
			panic("config: two rows for " + table[i].name)
		}
		m[table[i].name] = &table[i]
	}
	return m
}()

// plus is an option whose number becomes a value, changed by so much.
func plus(name, key string, more int64) optionRow {
	return optionRow{name: name, apply: func(r *reader, v string) error {
		n, err := number(v)
		if err != nil {
			return err
		}
		return r.put(key, n+more)
	}}
}

// not is an option that is 0 or 1 for a value that is the other way round.
func not(name, key string) optionRow {
	return optionRow{name: name, apply: func(r *reader, v string) error {
		b, err := truth(v)
		if err != nil {
			return err
		}
		return r.put(key, !b)
	}}
}

// tagsOf is an option with a cache's string, of which the shape counts.
func tagsOf(name, table string) optionRow {
	return optionRow{name: name, apply: func(r *reader, v string) error {
		c, err := cache.ParseConfig(newCache(v))
		if err != nil {
			return err
		}
		return r.putTags(table, &c)
	}}
}

func (r *reader) putTags(table string, c *cache.Config) error {
	for i, n := range []int{c.Sets, c.Ways, c.Line} {
		if err := r.put(table+[...]string{".sets", ".ways", ".line"}[i], int64(n)); err != nil {
			return err
		}
	}
	return nil
}

// timesOf is an option with a latency in the pipe and an interval, for classes
// of instructions; halved is for units of which the interval counts twice, and
// padded for latencies that count from issue already.
func timesOf(name string, halved, padded bool, classes ...string) optionRow {
	return optionRow{name: name, apply: func(r *reader, v string) error {
		list, err := numbers(v, ",")
		if err != nil {
			return err
		}
		if len(list) != 2 {
			return fmt.Errorf("%d numbers, 2 are wanted: latency, interval", len(list))
		}
		latency, interval := list[0]+list[1], list[1]
		if padded {
			latency = list[0]
		}
		if halved {
			interval = max(1, interval/2)
		}
		for _, c := range classes {
			if err := r.put("modern.time."+c+".interval", interval); err != nil {
				return err
			}
			if err := r.put("modern.time."+c+".latency", latency); err != nil {
				return err
			}
		}
		return nil
	}}
}

// modernTable holds the options.
func modernTable() []optionRow {
	const trace = "-trace_opcode_latency_initiation_"
	return []optionRow{
		words("-is_SM_remodeling_enabled", "", "core", "simt", "modern"),
		words("-is_remodeling_scoreboarding_enabled", "", "modern.dependences", "hybrid", "scoreboard"),
		num("-num_subcores_in_SM", "", "modern.sub_cores"),
		num("-ibuffer_remodeled_size", "", "modern.buffer"),
		tagsOf("-gpgpu_cache:il0", "modern.l0i"),
		tagsOf("-gpgpu_subcore_const_cache:l0", "modern.l0fl"),
		num("-latency_L0_to_L1", "", "modern.link_up"),
		num("-latency_L1_to_L0", "", "modern.link_down"),
		flag("-perfect_instruction_cache", "", "modern.perfect_icache"),
		flag("-perfect_constant_cache", "", "modern.perfect_const"),
		not("-invalidate_instruction_caches_at_kernel_end", "modern.keep_code"),
		{name: "-is_instruction_prefetching_enabled", apply: func(r *reader, v string) (err error) {
			r.prefetch, err = truth(v)
			r.keys = []string{"modern.prefetch"}
			return err
		}},
		{name: "-prefetch_per_stream_buffer_size", apply: func(r *reader, v string) (err error) {
			r.stream, err = number(v)
			r.keys = []string{"modern.prefetch"}
			return err
		}},
		num("-num_const_cache_cycle_misses_before_switch_to_other_warp", "", "modern.const_switch"),
		num("-num_cycles_issue_port_busy_after_imadwide", "", "modern.mad_bubble"),
		num("-num_stall_cycles_wait_after_bits_stall_0_and_yield", "", "modern.zero_stall"),
		flag("-is_rf_cache_enabled", "", "modern.rfc"),
		num("-num_regular_register_file_read_ports_per_bank", "", "modern.ports"),
		num("-max_size_register_file_write_queue_for_fixed_latency_instructions", "", "modern.result_queue"),
		flag("-is_fp32ops_allowed_in_int_pipeline", "", "modern.fp32_on_int"),
		num("-tensor_extra_latency_16816_fp32_1688_fp32", "", "modern.tensor_extra"),
		num("-dp_subcore_queue_size", "", "modern.queue_fp64"),
		num("-miscellaneous_queue_size", "", "modern.queue_misc"),
		plus("-memory_subcore_queue_size", "modern.mem_queue", 1), // and the latch before it
		num("-num_cycles_to_wait_to_dispatch_another_inst_from_subcore_to_sm_shared_pipeline_when_is_mem_inst", "", "modern.accept_cycles"),
		{name: "-offset_latency_firts_stage_memory_subcore", apply: func(r *reader, v string) error {
			n, err := number(v)
			if err != nil {
				return err
			}
			if n < -2 || n > 64 {
				return fmt.Errorf("%d is out of bounds: want -2 to 64", n)
			}
			return r.firstStage(n)
		}},
		num("-memory_sm_prt_size", "", "modern.prt"),
		num("-number_of_coalescers", "", "modern.coalescers"),
		num("-memory_l1d_minimum_latency", "", "modern.l1_latency"),
		num("-memory_l1d_max_lookups_per_cycle_per_bank", "", "modern.l1_lookups"),
		num("-num_cycles_to_stall_SM_at_cta_memory_barrier", "", "modern.fence_block"),
		num("-num_cycles_to_stall_SM_at_gpu_memory_barrier", "", "modern.fence_gpu"),
		num("-num_cycles_to_stall_SM_at_system_memory_barrier", "", "modern.fence_system"),
		timesOf(trace+"half", true, false, "half"),
		timesOf(trace+"uniform", false, false, "uniform"),
		timesOf(trace+"branch", false, false, "branch"),
		timesOf(trace+"predicate", false, true, "setp", "pred"),
		timesOf(trace+"miscellaneous_no_queue", false, false, "misc"),
	}
}

// firstStage makes the first stage of memory instructions, and so their
// latencies, longer by n cycles than on GA10x.
func (r *reader) firstStage(n int64) error {
	base := &GPU{}
	for i := range keys() {
		k := &keys()[i]
		last := k.Name[strings.LastIndexByte(k.Name, '.')+1:]
		if k.Root != "modern" || k.Name != "modern.address_start" && !strings.HasSuffix(last, "war") && !strings.HasSuffix(last, "raw") {
			continue
		}
		v := k.Value(base.root(k))
		if list, ok := v.([]any); ok {
			for i := range list {
				list[i] = list[i].(int64) + n
			}
		} else {
			v = v.(int64) + n
		}
		if err := r.put(k.Name, v); err != nil {
			return err
		}
	}
	return nil
}

// finishModern sets what depends on several options, or on those of GPGPU-Sim.
func (r *reader) finishModern() error {
	g := r.g
	if g.Core != "modern" {
		return nil
	}
	n := int64(0)
	if r.prefetch {
		n = r.stream
	}
	for _, p := range []struct {
		source, key string
		v           any
	}{
		{"-is_instruction_prefetching_enabled and -prefetch_per_stream_buffer_size", "modern.prefetch", n},
		{"-gpgpu_l1_banks", "modern.l1_banks", int64(g.L1D.Banks)},
		{"-gpgpu_shmem_num_banks", "modern.shared_banks", int64(g.number("simt.shared_banks"))},
		{"-trace_opcode_latency_initiation_spec_op_2", "modern.texture", int64(g.number("simt.special2.latency"))},
		{"-trace_opcode_latency_initiation_sfu", "modern.time.sfu.interval", int64(g.number("simt.trace_initiation.sfu"))},
		{"-trace_opcode_latency_initiation_dp", "modern.time.fp64.interval", int64(g.number("simt.trace_initiation.dp"))},
		{"-trace_opcode_latency_initiation_int", "modern.time.int.interval", int64(g.number("simt.trace_initiation.int"))},
		{"-trace_opcode_latency_initiation_int", "modern.time.int.latency", int64(g.number("simt.trace_latency.int") + g.number("simt.trace_initiation.int"))},
		{"-trace_opcode_latency_initiation_sp", "modern.time.fp32.interval", int64(g.number("simt.trace_initiation.sp"))},
		{"-trace_opcode_latency_initiation_sp", "modern.time.fp32.latency", int64(g.number("simt.trace_latency.sp") + g.number("simt.trace_initiation.sp"))},
		{"-trace_opcode_latency_initiation_sp", "modern.time.imad.interval", int64(g.number("simt.trace_initiation.sp"))},
		{"-trace_opcode_latency_initiation_sp", "modern.time.imad.latency", int64(g.number("simt.trace_latency.sp") + g.number("simt.trace_initiation.sp"))},
	} {
		r.source = p.source
		if err := r.put(p.key, p.v); err != nil {
			return fmt.Errorf("%s: %w", p.source, err)
		}
	}
	if !g.L1C.Enabled {
		return nil
	}
	r.source = "-gpgpu_const_cache:l1"
	return r.putTags("modern.l0vl", &cache.Config{Sets: g.L1C.Sets, Ways: g.L1C.Ways, Line: g.L1C.Line})
}
