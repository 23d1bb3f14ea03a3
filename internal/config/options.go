package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/mem/dram"
	"github.com/heddle-sim/heddle/internal/param"
)

// optionRow is an option of GPGPU-Sim or of one of its descendants. Those that set
// one parameter are in its declaration, those of a core model beside the model, the
// others below.
type optionRow struct {
	param.Option
	use  Use
	only string // of Fixed
}

// allOptions returns every option, by name and as a list.
func allOptions() (at map[string]*optionRow, list []optionRow) {
	list = slices.Concat(ownOptions, fixedOptions, inertOptions)
	add := func(options ...param.Option) {
		for _, o := range options {
			row := optionRow{Option: o}
			if o.Set == nil {
				row.use = Unmatched
			}
			list = append(list, row)
		}
	}
	for i := range keys() {
		add(keys()[i].Options()...)
	}
	for _, m := range core.Models() {
		if m.Options != nil {
			add(m.Options()...)
		}
		if m.ChosenBy != "" {
			add(param.Option{Name: m.ChosenBy, Set: func(v string, put param.Put) error {
				chosen, err := param.Truth(v)
				if err != nil {
					return err
				}
				name := keyAt("core").Default
				if chosen {
					name = m.Name
				}
				return put("core", name)
			}})
		}
	}
	at = make(map[string]*optionRow, len(list))
	for i := range list {
		if at[list[i].Name] != nil {
			panic("config: two rows for " + list[i].Name)
		}
		at[list[i].Name] = &list[i]
	}
	return at, list
}

// honoured is an option that needs more than a number or a word, with a default;
// without one it is required (as for caches).
func honoured(name, def string, set func(v string, put param.Put) error) optionRow {
	return optionRow{Option: param.Option{Name: name, Default: def, Set: set}}
}

// together is an option that is checked when read, and used together with others.
func together(name, def string, check func(v string) error, keys ...string) optionRow {
	return optionRow{Option: param.Option{Name: name, Default: def, Keys: keys, Set: func(v string, _ param.Put) error { return check(v) }}}
}

// cacheOf is an option with a cache's string.
func cacheOf(name, def, table string) optionRow {
	row := honoured(name, def, func(v string, put param.Put) error { return setCache(table, v, put) })
	row.Required = def == ""
	return row
}

// fixed is an option with only one supported value.
func fixed(name, only, why string) optionRow {
	return optionRow{Option: param.Option{Name: name, Note: why}, use: Fixed, only: only}
}

// inert returns options that affect no cycle, for the same reason.
func inert(why string, names ...string) []optionRow {
	var list []optionRow
	for _, n := range names {
		list = append(list, optionRow{Option: param.Option{Name: n, Note: why}, use: Inert})
	}
	return list
}

// The options that finish uses again.
const (
	capabilityMajor = "-gpgpu_compute_capability_major"
	capabilityMinor = "-gpgpu_compute_capability_minor"
	networkMode     = "-network_mode"
	networkFile     = "-inter_config_file"
)

// ownOptions are options of the machine that set several parameters or need special
// parsing. Defaults are those that GPGPU-Sim prints.
var ownOptions = []optionRow{
	honoured("-gpgpu_clock_domains", "500.0:2000.0:2000.0:2000.0", func(v string, put param.Put) error {
		parts := strings.Split(v, ":")
		into := []string{"clocks.core", "clocks.noc", "clocks.l2", "clocks.dram"}
		if len(parts) != len(into) {
			return fmt.Errorf("%d clocks; want 4: core:network:L2:DRAM", len(parts))
		}
		for i, p := range parts {
			f, err := strconv.ParseFloat(strings.TrimSpace(p), 64)
			if err != nil {
				return fmt.Errorf("%.20q: want a frequency in MHz", p)
			}
			if err := put(into[i], f); err != nil {
				return err
			}
		}
		return nil
	}),
	together(capabilityMajor, "7", checkSmall, "compute_capability", "architecture"),
	together(capabilityMinor, "0", checkSmall, "compute_capability", "architecture"),
	honoured("-gpgpu_shader_core_pipeline", "1024:32", func(v string, put param.Put) error {
		list, err := param.Numbers(v, ":")
		if err != nil {
			return err
		}
		if len(list) != 2 {
			return errors.New("want threads:lanes, such as 1536:32")
		}
		if list[1] != 32 {
			return fmt.Errorf("a warp of %d lanes is not supported, only 32", list[1])
		}
		return put("sm.threads", list[0])
	}),
	cacheOf("-gpgpu_cache:dl1", "none", "l1d"),
	cacheOf("-gpgpu_cache:dl1PrefL1", "none", "l1d.prefer_l1"),
	cacheOf("-gpgpu_cache:dl1PrefShared", "none", "l1d.prefer_shared"),
	cacheOf("-gpgpu_cache:il1", "", "l1i"),
	cacheOf("-gpgpu_tex_cache:l1", "", "l1t"),
	cacheOf("-gpgpu_const_cache:l1", "", "l1c"),
	cacheOf("-gpgpu_cache:dl2", "", "l2"),
	honoured("-gpgpu_shmem_option", "0", func(v string, put param.Put) error {
		list, err := param.Numbers(v, ",")
		if err != nil {
			return err
		}
		var any []any
		for _, n := range list {
			any = append(any, n)
		}
		return put("l1d.shared_sizes", any)
	}),
	honoured(networkMode, "1", func(v string, put param.Put) error {
		switch v {
		case "1":
			return put("noc.kind", "fly")
		case "2":
			return put("noc.kind", "crossbar")
		}
		return errors.New("want 1 (a network file) or 2 (the crossbar)")
	}),
	together(networkFile, "", func(string) error { return nil }, "noc"),
	{Option: param.OfNumbers("-gpgpu_dram_partition_queues", "8:8:8:8", ":", param.Below("partition", "to_l2", "to_dram", "from_dram", "to_noc")...)},
	{Option: param.OfNumbers("-dram_write_queue_size", "32:28:16", ":", param.Below("dram", "write_size", "write_high", "write_low")...)},
	{Option: param.Option{Name: "-gpgpu_dram_timing_opt", Required: true, Set: func(v string, put param.Put) error {
		t, err := dram.ParseTiming(v)
		if err != nil {
			return err
		}
		return putTiming(&t, func(key string, n int64) error { return put(key, n) })
	}}},
}

// fixedOptions are those with only one supported value.
var fixedOptions = []optionRow{
	fixed("-icnt_subnets", "2", "replies have their own network; with one network GPGPU-Sim looks for them in another"),
	fixed("-gpgpu_simd_model", "1", "warps reconverge at the immediate post-dominator"),
	fixed("-gpgpu_ptx_sim_mode", "0", "to compute without timing, use --mode functional"),
	fixed("-gpgpu_ptx_convert_to_ptxplus", "0", "PTX runs as it is"),
	fixed("-gpgpu_cdp_enabled", "0", "launches from the device are not supported"),
	fixed("-dvfs_enabled", "0", "clocks do not change during a run"),
	fixed("-checkpoint_option", "0", "its checkpoints are not supported"),
	fixed("-resume_option", "0", "its checkpoints are not supported"),
}

// inertOptions affect no cycle.
var inertOptions = slices.Concat(
	inert("it only prints or logs", "-gpgpu_runtime_stat", "-gpgpu_ptx_instruction_classification", "-gpgpu_memlatency_stat", "-enable_ptx_file_line_stats",
		"-ptx_line_stats_filename", "-visualizer_enabled", "-visualizer_outputfile", "-visualizer_zlevel", "-gpgpu_cflog_interval",
		"-liveness_message_freq", "-trace_enabled", "-trace_components", "-trace_sampling_core", "-trace_sampling_memory_partition",
		"-gpgpu_warpdistro_shader", "-gpgpu_warp_issue_shader", "-icnt_verbose", "-gpgpu_mem_addr_test", "-keep", "-save_embedded_ptx",
		"-gpgpu_ptx_save_converted_ptxplus", "-gpgpu_ptx_inst_debug_to_file", "-gpgpu_ptx_inst_debug_file", "-gpgpu_ptx_inst_debug_thread_uid"),
	inert("the power model affects no cycle", "-power_simulation_enabled", "-power_simulation_mode", "-power_per_cycle_dump", "-power_trace_enabled",
		"-power_trace_zlevel", "-gpuwattch_xml_file", "-accelwattch_xml_file", "-hw_perf_file_name", "-hw_perf_bench_name", "-aggregate_power_stats",
		"-steady_power_levels_enabled", "-steady_state_definition", "-n_regfile_gating_group", "-gpgpu_clock_gated_reg_file",
		"-accelwattch_hybrid_perfsim_L1_RH", "-accelwattch_hybrid_perfsim_L1_RM", "-accelwattch_hybrid_perfsim_L1_WH", "-accelwattch_hybrid_perfsim_L1_WM",
		"-accelwattch_hybrid_perfsim_L2_RH", "-accelwattch_hybrid_perfsim_L2_RM", "-accelwattch_hybrid_perfsim_L2_WH", "-accelwattch_hybrid_perfsim_L2_WM",
		"-accelwattch_hybrid_perfsim_CC_ACC", "-accelwattch_hybrid_perfsim_SHARED_ACC", "-accelwattch_hybrid_perfsim_DRAM_RD", "-accelwattch_hybrid_perfsim_DRAM_WR",
		"-accelwattch_hybrid_perfsim_NOC", "-accelwattch_hybrid_perfsim_PIPE_DUTY", "-accelwattch_hybrid_perfsim_NUM_SM_IDLE",
		"-accelwattch_hybrid_perfsim_CYCLES", "-accelwattch_hybrid_perfsim_VOLTAGE"),
	inert("a value that the CUDA runtime returns", "-gpgpu_stack_size_limit", "-gpgpu_heap_size_limit", "-gpgpu_runtime_sync_depth_limit",
		"-gpgpu_runtime_pending_launch_count_limit"),
	inert("it selects the PTX of a CUDA program; a job names its PTX", "-gpgpu_ptx_force_max_capability", "-gpgpu_ptx_use_cuobjdump", "-gpgpu_experimental_lib_support"),
	inert("it is the target of NVIDIA's ptxas, for registers per thread; here these come from the job or an estimate", "-gpgpu_occupancy_sm_number"),
	inert("the mapping string overrides it", "-gpgpu_mem_address_mask"),
	inert("GPGPU-Sim reads it and never uses it", "-l2_ideal", "-gpgpu_num_mem_units", "-gpgpu_reg_bank_use_warp_id"),
	inert("launches from the device are not supported", "-cdp_latency"),
	inert("it has no effect without checkpoint_option and resume_option", "-checkpoint_kernel", "-checkpoint_CTA", "-checkpoint_CTA_t",
		"-checkpoint_insn_Y", "-resume_kernel", "-resume_CTA"),
)

// checkSmall accepts a number of at most two digits.
func checkSmall(v string) error {
	if n, err := param.Number(v); err != nil || n < 0 || n > 99 {
		return fmt.Errorf("%.20q: want a number from 0 to 99", v)
	}
	return nil
}

// setCache reads a cache string into the keys below a table.
func setCache(table, text string, put param.Put) error {
	c, err := cache.ParseOption(text)
	if err != nil {
		return err
	}
	if err := put(table+".enabled", !c.Disabled); err != nil || c.Disabled {
		return err
	}
	word := func(last string, i int) any { return keyAt(table + "." + last).Enum[i] }
	for _, p := range []struct {
		last string
		v    any
	}{
		{"sectored", c.Sectored}, {"sets", int64(c.Sets)}, {"line", int64(c.Line)}, {"ways", int64(c.Ways)},
		{"replace", word("replace", int(c.Replace))}, {"write", word("write", int(c.Write))},
		{"allocate", word("allocate", int(c.Alloc))}, {"write_miss", word("write_miss", int(c.WriteAlloc))},
		{"index", word("index", int(c.Index))}, {"mshr", word("mshr", int(c.MSHR))},
		{"entries", int64(c.Entries)}, {"merge", int64(c.Merge)}, {"miss_queue", int64(c.MissQueue)},
		{"result_queue", int64(c.ResultQueue)}, {"port", int64(c.Port)},
	} {
		if err := put(table+"."+p.last, p.v); err != nil {
			return err
		}
	}
	return nil
}
