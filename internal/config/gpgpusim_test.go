package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/mem/noc"
)

// reference is a folder of configuration files and figures of other simulators.
const reference = "../../testdata/reference"

func values(g *GPU) map[string]string {
	m := map[string]string{}
	for i := range keys() {
		m[keys()[i].Name] = g.format(&keys()[i])
	}
	return m
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// smallChip is the test file followed by further options.
func smallChip(t *testing.T, more string) (*GPU, []Option, error) {
	t.Helper()
	return ReadGPGPUSim("small", []NamedText{
		{"gpgpusim.config", read(t, "testdata/small/gpgpusim.config")},
		{"trace.config", read(t, "testdata/small/trace.config")},
		{"more.config", more},
	}, func(string) (string, error) { return read(t, "testdata/fly/switch.icnt"), nil })
}

func TestOptionTokens(t *testing.T) {
	tests := []struct{ name, text, want, err string }{
		{"pairs", "-a 1 -b 2\n-c\t3", "1:-a 1:1 1:-b 1:2 2:-c 2:3", ""},
		{"comments", "# x -a 1\n-a 1 # -b 2\n-c#3\n4", "2:-a 2:1 3:-c 4:4", ""},
		{"quote", `-a "x y" -b 2`, "1:-a 1:x y 1:-b 1:2", ""},
		{"quote over lines", "-a \"x=1: # c\n   y=2\n\n  z\" -b 2", "1:-a 1:x=1: y=2 z 4:-b 4:2", ""},
		{"empty quote", `-a ""`, "1:-a 1:", ""},
		{"quote at end of line", "-a \"x\"\n-b 2", "1:-a 1:x 2:-b 2:2", ""},
		{"carriage returns", "-a 1\r\n-b \"2\r\n3\"\r\n", "1:-a 1:1 2:-b 2:2 3", ""},
		{"no last newline", "-a 1", "1:-a 1:1", ""},
		{"open quote", "-a 1\n-b \"x\n", "", "f:2: missing closing quote"},
		{"nothing", "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			list, err := optionTokens("f", tt.text)
			if tt.err != "" {
				if err == nil || err.Error() != tt.err {
					t.Fatalf("error %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, k := range list {
				got = append(got, fmt.Sprintf("%d:%s", k.line, k.text))
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("got  %s\nwant %s", s, tt.want)
			}
		})
	}
}

func TestOptionErrors(t *testing.T) {
	tests := []struct{ text, want string }{
		{"-gpgpu_n_cluster 3", "more.config:1: unknown option -gpgpu_n_cluster; did you mean -gpgpu_n_clusters?"},
		{"\n-no_such_thing_at_all 3", "more.config:2: unknown option -no_such_thing_at_all"},
		{"-gpgpu_n_clusters", "more.config:1: -gpgpu_n_clusters has no value"},
		{"-gpgpu_n_clusters -gpgpu_n_mem 1", "more.config:1: -gpgpu_n_clusters has no value"},
		{"gpgpu_n_clusters 1", `more.config:1: "gpgpu_n_clusters": want an option`},
		{"-gpgpu_n_clusters x", `more.config:1: -gpgpu_n_clusters x: "x": want a whole number`},
		{"-gpgpu_n_clusters 0", "chip.clusters = 0 is out of bounds: want 1 to 1024"},
		{"-gpgpu_n_clusters -5", "chip.clusters = -5 is out of bounds"},
		{"-gpgpu_n_clusters 1000000", "chip.clusters = 1000000 is out of bounds"},
		{"-gpgpu_n_clusters 99999999999999999999", "want a whole number"},
		{"-gpgpu_sub_core_model 2", `-gpgpu_sub_core_model 2: want 0 or 1, not "2"`},
		{"-gpgpu_dram_scheduler 2", "2 has no meaning here"},
		{"-gpgpu_dram_scheduler -1", "-1 has no meaning here"},
		{"-gpgpu_clock_domains 1:2:3", "3 clocks; want 4"},
		{"-gpgpu_clock_domains 1:2:3:0", "clocks.dram: 0 MHz is out of bounds"},
		{"-gpgpu_clock_domains 1:2:3:-4", "want a frequency in MHz"},
		{"-gpgpu_clock_domains 1:2:3:nan", "want a frequency in MHz"},
		{"-gpgpu_clock_domains 1:2:3:1e400", "want a frequency in MHz"},
		{"-gpgpu_shader_core_pipeline 512:16", "a warp of 16 lanes is not supported, only 32"},
		{"-gpgpu_pipeline_widths 1,1,1", "-gpgpu_pipeline_widths has 3 numbers; want 11"},
		{"-gpgpu_tensor_core_avail 1", "-gpgpu_pipeline_widths has 11 numbers; want 13"},
		{"-ptx_opcode_latency_fp 1,2,3", "3 numbers; want 5"},
		{"-ptx_opcode_latency_int 1,2,3,4", "4 numbers; want 6"},
		{"-specialized_unit_1 1,2,3", "3 parts; want 6"},
		{"-gpgpu_scheduler mine", "want lrr, two_level_active"},
		{"-gpgpu_scheduler two_level_active", "the number of warps is missing"},
		{"-gpgpu_cache:dl1 S:4:128", "cache \"S:4:128\""},
		{"-gpgpu_dram_timing_opt nbk=16", "CCD is missing"},
		{"-network_mode 3", "want 1 (a network file) or 2"},
		{"-network_mode 1", "-network_mode 1 needs a network file"},
		{"-icnt_subnets 1", "-icnt_subnets 1 is not supported, only 2"},
		{"-gpgpu_ptx_sim_mode 1", "use --mode functional"},
		{"-gpgpu_compute_capability_major 100", "want a number from 0 to 99"},
		{"-gpgpu_shmem_option 8,x", "want a whole number"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			_, _, err := smallChip(t, tt.text)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v\nwant %s", err, tt.want)
			}
		})
	}
	if _, _, err := ReadGPGPUSim("x", []NamedText{{"f", "-gpgpu_n_mem 4"}}, nil); err == nil || !strings.Contains(err.Error(), "-gpgpu_cache:dl2 is missing") {
		t.Errorf("a file without caches: %v", err)
	}
	// Several errors are reported at once.
	_, _, err := smallChip(t, "-gpgpu_n_mem x\n-gpgpu_n_clusters y")
	if err == nil || strings.Count(err.Error(), "more.config:") != 2 {
		t.Errorf("two mistakes: %v", err)
	}
}

// optionCases has for every honoured option a value, and the value of the key that
// it sets. The values differ from those of the test file and the defaults.
var optionCases = []struct{ option, value, want string }{
	{"-gpgpu_n_clusters", "3", "chip.clusters = 3"},
	{"-gpgpu_n_cores_per_cluster", "5", "chip.sms_per_cluster = 5"},
	{"-gpgpu_n_mem", "4", "chip.channels = 4"},
	{"-gpgpu_n_sub_partition_per_mchannel", "1", "chip.slices_per_channel = 1"},
	{"-gpgpu_max_concurrent_kernel", "9", "chip.kernels = 9"},
	{"-gpgpu_concurrent_kernel_sm", "1", "chip.shared_sms = true"},
	{"-gpgpu_simt_core_sim_order", "0", "chip.rotate_sms = false"},
	{"-gpgpu_local_mem_map", "0", `chip.local_map = "slots"`},
	{"-gpgpu_clock_domains", "1.5:2.25:3.125:4", "clocks.core = 1.5; clocks.noc = 2.25; clocks.l2 = 3.125; clocks.dram = 4"},
	{"-gpgpu_compute_capability_major", "8", `compute_capability = "8.0"; architecture = "ampere"`},
	{"-gpgpu_compute_capability_minor", "5", `compute_capability = "7.5"; architecture = "turing"`},
	{"-gpgpu_shader_registers", "4096", "sm.registers = 4096"},
	{"-gpgpu_registers_per_block", "4096", "sm.registers_per_block = 4096"},
	{"-gpgpu_shader_cta", "7", "sm.blocks = 7"},
	{"-gpgpu_num_cta_barriers", "8", "sm.barriers = 8"},
	{"-gpgpu_shmem_size", "65536", "sm.shared = 65536"},
	{"-gpgpu_shmem_sizeDefault", "65536", "sm.shared_prefer_none = 65536"},
	{"-gpgpu_shmem_size_PrefL1", "8192", "sm.shared_prefer_l1 = 8192"},
	{"-gpgpu_shmem_size_PrefShared", "8192", "sm.shared_prefer_smem = 8192"},
	{"-gpgpu_shmem_per_block", "8192", "sm.shared_per_block = 8192"},
	{"-gpgpu_ignore_resources_limitation", "1", "sm.always_one_block = true"},
	{"-gpgpu_shader_core_pipeline", "256:32", "sm.threads = 256"},
	{"-gpgpu_scheduler", "lrr", `simt.scheduler = "lrr"`},
	{"-gpgpu_scheduler", "old", `simt.scheduler = "old"`},
	{"-gpgpu_scheduler", "rrr", `simt.scheduler = "rrr"`},
	{"-gpgpu_scheduler", "two_level_active:6:0:1", `simt.scheduler = "two-level"; simt.active_warps = 6`},
	{"-gpgpu_scheduler", "warp_limiting:2:5", `simt.scheduler = "warp-limiting"; simt.active_warps = 5`},
	{"-gpgpu_num_sched_per_core", "2", "simt.schedulers = 2"},
	{"-gpgpu_max_insn_issue_per_warp", "1", "simt.issue_per_warp = 1"},
	{"-gpgpu_dual_issue_diff_exec_units", "0", "simt.dual_differs = false"},
	{"-gpgpu_sub_core_model", "1", "simt.sub_cores = true"},
	{"-gpgpu_clock_gated_lanes", "1", "simt.gated_lanes = true"},
	{"-gpgpu_inst_fetch_throughput", "3", "simt.fetch_throughput = 3"},
	{"-gpgpu_perfect_inst_const_cache", "1", "simt.perfect_inst_const = true"},
	{"-gpgpu_tensor_core_avail", "1\n-gpgpu_pipeline_widths 1,1,1,1,1,1,1,1,1,1,2,3,4", "simt.tensor_port = true; simt.issue.tensor = 3; simt.exec.tensor = 4"},
	{"-gpgpu_pipeline_widths", "2,3,4,5,6,7,8,9,10,11,12", "simt.issue.sp = 2; simt.issue.dp = 3; simt.issue.int = 4; simt.issue.sfu = 5; simt.issue.mem = 6; simt.exec.sp = 7; simt.exec.dp = 8; simt.exec.int = 9; simt.exec.sfu = 10; simt.exec.mem = 11; simt.write_back = 12; simt.issue.tensor = 0"},
	{"-gpgpu_num_sp_units", "2", "simt.units.sp = 2"},
	{"-gpgpu_num_dp_units", "2", "simt.units.dp = 2"},
	{"-gpgpu_num_int_units", "2", "simt.units.int = 2"},
	{"-gpgpu_num_sfu_units", "2", "simt.units.sfu = 2"},
	{"-gpgpu_num_tensor_core_units", "2", "simt.units.tensor = 2"},
	{"-ptx_opcode_latency_int", "11,12,13,14,15,16", "simt.latency.int_add = 11; simt.latency.int_max = 12; simt.latency.int_mul = 13; simt.latency.int_mad = 14; simt.latency.int_div = 15; simt.latency.int_shfl = 16"},
	{"-ptx_opcode_latency_int", "11,12,13,14,15", "simt.latency.int_div = 15; simt.latency.int_shfl = 1"},
	{"-ptx_opcode_latency_fp", "11,12,13,14,15", "simt.latency.fp_add = 11; simt.latency.fp_max = 12; simt.latency.fp_mul = 13; simt.latency.fp_mad = 14; simt.latency.fp_div = 15"},
	{"-ptx_opcode_latency_dp", "11,12,13,14,15", "simt.latency.dp_add = 11; simt.latency.dp_max = 12; simt.latency.dp_mul = 13; simt.latency.dp_mad = 14; simt.latency.dp_div = 15"},
	{"-ptx_opcode_latency_sfu", "11", "simt.latency.sfu = 11"},
	{"-ptx_opcode_latency_tesnor", "11", "simt.latency.tensor = 11"},
	{"-ptx_opcode_initiation_int", "11,12,13,14,15,16", "simt.initiation.int_add = 11; simt.initiation.int_max = 12; simt.initiation.int_mul = 13; simt.initiation.int_mad = 14; simt.initiation.int_div = 15; simt.initiation.int_shfl = 16"},
	{"-ptx_opcode_initiation_fp", "11,12,13,14,15", "simt.initiation.fp_add = 11; simt.initiation.fp_max = 12; simt.initiation.fp_mul = 13; simt.initiation.fp_mad = 14; simt.initiation.fp_div = 15"},
	{"-ptx_opcode_initiation_dp", "11,12,13,14,15", "simt.initiation.dp_add = 11; simt.initiation.dp_max = 12; simt.initiation.dp_mul = 13; simt.initiation.dp_mad = 14; simt.initiation.dp_div = 15"},
	{"-ptx_opcode_initiation_sfu", "11", "simt.initiation.sfu = 11"},
	{"-ptx_opcode_initiation_tensor", "11", "simt.initiation.tensor = 11"},
	{"-trace_opcode_latency_initiation_int", "11,12", "simt.trace_latency.int = 11; simt.trace_initiation.int = 12"},
	{"-trace_opcode_latency_initiation_sp", "11,12", "simt.trace_latency.sp = 11; simt.trace_initiation.sp = 12"},
	{"-trace_opcode_latency_initiation_dp", "11,12", "simt.trace_latency.dp = 11; simt.trace_initiation.dp = 12"},
	{"-trace_opcode_latency_initiation_sfu", "11,12", "simt.trace_latency.sfu = 11; simt.trace_initiation.sfu = 12"},
	{"-trace_opcode_latency_initiation_tensor", "11,12", "simt.trace_latency.tensor = 11; simt.trace_initiation.tensor = 12"},
	{"-gpgpu_enable_specialized_operand_collector", "0", "simt.collector.specialized = false"},
	{"-gpgpu_num_reg_banks", "24", "simt.collector.banks = 24"},
	{"-gpgpu_reg_file_port_throughput", "3", "simt.collector.steps = 3"},
	{"-gpgpu_smem_latency", "33", "simt.shared_latency = 33"},
	{"-smem_latency", "33", "simt.shared_latency = 33"},
	{"-gpgpu_shmem_num_banks", "8", "simt.shared_banks = 8"},
	{"-gpgpu_shmem_limited_broadcast", "0", "simt.shared_one_cast = false"},
	{"-gpgpu_shmem_warp_parts", "4", "simt.shared_parts = 4"},
	{"-gpgpu_coalesce_arch", "35", "simt.coalesce_arch = 35"},
	{"-gpgpu_mem_unit_ports", "2", "simt.mem_ports = 2"},
	{"-gpgpu_n_ldst_response_buffer_size", "5", "simt.response_fifo = 5"},
	{"-gpgpu_perfect_mem", "1", "simt.perfect_memory = true"},
	{"-gpgpu_cache:dl1", "N:2:64:3,F:E:f:N:X,S:4:5,6:0,16", `l1d.enabled = true; l1d.sectored = false; l1d.sets = 2; l1d.line = 64; l1d.ways = 3; l1d.replace = "fifo"; l1d.write = "write-evict"; l1d.allocate = "on-fill"; l1d.write_miss = "send"; l1d.index = "xor"; l1d.mshr = "sector-associative"; l1d.entries = 4; l1d.merge = 5; l1d.miss_queue = 6; l1d.result_queue = 0; l1d.port = 16`},
	{"-gpgpu_cache:dl1", "S:2:128:3,L:L:s:W:P,A:4:5,6", `l1d.write = "local-back"; l1d.allocate = "streaming"; l1d.write_miss = "send-and-read"; l1d.index = "ipoly"; l1d.mshr = "associative"; l1d.port = 0`},
	{"-gpgpu_cache:dl1", "none", "l1d.enabled = false"},
	{"-gpgpu_cache:dl1PrefL1", "S:8:128:3,L:T:m:F:C,A:4:5,6", `l1d.prefer_l1.enabled = true; l1d.prefer_l1.sets = 8; l1d.prefer_l1.write = "write-through"; l1d.prefer_l1.write_miss = "read-first"; l1d.prefer_l1.index = "zero"`},
	{"-gpgpu_cache:dl1PrefShared", "S:32:128:3,L:T:m:N:H,A:4:5,6", `l1d.prefer_shared.enabled = true; l1d.prefer_shared.sets = 32; l1d.prefer_shared.index = "fermi"`},
	{"-gpgpu_cache:il1", "N:2:128:3,L:R:f:N:L,S:4:5,6", "l1i.sets = 2; l1i.ways = 3; l1i.entries = 4; l1i.merge = 5; l1i.miss_queue = 6"},
	{"-gpgpu_tex_cache:l1", "N:2:128:3,L:R:m:N:L,F:4:5,6:7", `l1t.sets = 2; l1t.ways = 3; l1t.mshr = "fifo"; l1t.entries = 4; l1t.merge = 5; l1t.miss_queue = 6; l1t.result_queue = 7`},
	{"-gpgpu_const_cache:l1", "N:2:64:3,L:R:f:N:L,S:4:5,6", "l1c.sets = 2; l1c.ways = 3; l1c.entries = 4; l1c.merge = 5; l1c.miss_queue = 6"},
	{"-gpgpu_l1_latency", "21", "l1d.latency = 21"},
	{"-gpgpu_l1_banks", "4", "l1d.banks = 4"},
	{"-gpgpu_l1_banks_byte_interleaving", "64", "l1d.bank_interleave = 64"},
	{"-gpgpu_l1_banks_hashing_function", "3", `l1d.bank_index = "fermi"`},
	{"-gpgpu_l1_cache_write_ratio", "25", "l1d.write_ratio = 25"},
	{"-gpgpu_gmem_skip_L1D", "1", "l1d.skip_global = true"},
	{"-gpgpu_adaptive_cache_config", "1", "l1d.adaptive = true"},
	{"-gpgpu_unified_l1d_size", "96", "l1d.unified = 96"},
	{"-gpgpu_shmem_option", "0,8,64", "l1d.shared_sizes = [0, 8, 64]"},
	{"-network_mode", "1\n-inter_config_file x", `noc.kind = "fly"`},
	{"-inter_config_file", "x\n-network_mode 1", "noc.flit_bytes = 48; noc.flit_in_buffer = 20; noc.flit_out_buffer = 12"},
	{"-gpgpu_n_cluster_ejection_buffer_size", "31", "noc.cluster_fifo = 31"},
	{"-icnt_in_buffer_limit", "31", "noc.in_buffer = 31"},
	{"-icnt_out_buffer_limit", "31", "noc.out_buffer = 31"},
	{"-icnt_arbiter_algo", "0", `noc.arbiter = "round-robin"`},
	{"-icnt_grant_cycles", "3", "noc.grant_cycles = 3"},
	{"-icnt_flit_size", "31", "noc.flit_bytes = 31"},
	{"-gpgpu_cache:dl2", "S:8:128:3,L:B:m:L:X,A:4:5,6:0,64", `l2.sets = 8; l2.ways = 3; l2.write = "write-back"; l2.write_miss = "read-later"; l2.index = "xor"; l2.entries = 4; l2.merge = 5; l2.miss_queue = 6; l2.port = 64`},
	{"-gpgpu_cache:dl2_texture_only", "1", "l2.texture_only = true"},
	{"-gpgpu_dram_partition_queues", "21:22:23:24", "partition.to_l2 = 21; partition.to_dram = 22; partition.from_dram = 23; partition.to_noc = 24"},
	{"-gpgpu_l2_rop_latency", "21", "partition.rop_latency = 21"},
	{"-dram_latency", "21", "partition.dram_latency = 21"},
	{"-rop_latency", "22", "partition.rop_latency = 22"},
	{"-gpgpu_dram_sched_queue_size", "22", "dram.queue = 22"},
	{"-gpgpu_pipeline_widths", "2,3,4,5,6,7,8", "simt.issue.sp = 2; simt.issue.sfu = 3; simt.issue.mem = 4; simt.issue.dp = 0; simt.exec.sp = 5; simt.exec.sfu = 6; simt.exec.mem = 7; simt.exec.int = 0; simt.write_back = 8"},
	{"-gpgpu_cache:dl1", "32:128:4,L:L:m:N:H,A:33:9,9", `l1d.sectored = false; l1d.sets = 32; l1d.index = "fermi"; l1d.entries = 33; l1d.miss_queue = 9`},
	{"-gpgpu_cache:dl1", "32:128:4,L:L:m:N,A:33:9,9", `l1d.sectored = false; l1d.sets = 32; l1d.index = "linear"; l1d.miss_queue = 9`},
	{"-gpgpu_cache:dl2", "64:128:8,L:B:m:W:L,A:32:4,5:0,16", `l2.sectored = false; l2.sets = 64; l2.write = "write-back"; l2.write_miss = "send-and-read"; l2.index = "linear"; l2.miss_queue = 5; l2.port = 16`},
	{"-gpgpu_mem_addr_mapping", "dramid@9;0", `partition.mapping = "dramid@9;0"`},
	{"-gpgpu_memory_partition_indexing", "1", `partition.indexing = "xor"`},
	{"-gpgpu_memory_partition_indexing", "2", `partition.indexing = "ipoly"`},
	{"-gpgpu_memory_partition_indexing", "3", `partition.indexing = "pae"`},
	{"-gpgpu_memory_partition_indexing", "4", `partition.indexing = "random"`},
	{"-gpgpu_simple_dram_model", "1", "dram.fixed_latency = true"},
	{"-gpgpu_dram_scheduler", "0", `dram.scheduler = "fifo"`},
	{"-gpgpu_frfcfs_dram_sched_queue_size", "21", "dram.queue = 21"},
	{"-gpgpu_dram_return_queue_size", "21", "dram.return_queue = 21"},
	{"-gpgpu_dram_buswidth", "8", "dram.bus_bytes = 8"},
	{"-gpgpu_dram_burst_length", "8", "dram.burst_length = 8"},
	{"-dram_data_command_freq_ratio", "4", "dram.data_ratio = 4"},
	{"-gpgpu_n_mem_per_ctrlr", "2", "dram.chips = 2"},
	{"-dram_dual_bus_interface", "1", "dram.dual_command = true"},
	{"-dram_bnk_indexing_policy", "1", `dram.bank_index = "xor"`},
	{"-dram_bnk_indexing_policy", "2", `dram.bank_index = "ipoly"`},
	{"-dram_bnkgrp_indexing_policy", "1", `dram.group_by = "low-bits"`},
	{"-dram_elimnate_rw_turnaround", "1", "dram.no_turnaround = true"},
	{"-dram_seperate_write_queue_enable", "1", "dram.write_queue = true"},
	{"-dram_write_queue_size", "64:56:33", "dram.write_size = 64; dram.write_high = 56; dram.write_low = 33"},
	{"-gpgpu_dram_timing_opt", "8:31:32:33:34:35:36:37:38:39:40:4:41:42", "dram.timing.banks = 8; dram.timing.ccd = 31; dram.timing.rrd = 32; dram.timing.rcd = 33; dram.timing.ras = 34; dram.timing.rp = 35; dram.timing.rc = 36; dram.timing.cl = 37; dram.timing.wl = 38; dram.timing.cdlr = 39; dram.timing.wr = 40; dram.timing.groups = 4; dram.timing.ccdl = 41; dram.timing.rtpl = 42"},
	{"-gpgpu_kernel_launch_latency", "71", "run.launch_latency = 71"},
	{"-gpgpu_TB_launch_latency", "71", "run.block_latency = 71"},
	{"-gpgpu_perf_sim_memcpy", "0", "run.copies_fill_l2 = false"},
	{"-gpgpu_flush_l1_cache", "1", "run.flush_l1 = true"},
	{"-gpgpu_flush_l2_cache", "1", `run.caches = "flushed"`},
	{"-gpgpu_deadlock_detect", "0", "run.detect_deadlock = false"},
	{"-gpgpu_max_cycle", "71", "run.max_cycles = 71"},
	{"-gpgpu_max_insn", "71", "run.max_insts = 71"},
	{"-gpgpu_max_cta", "71", "run.max_blocks = 71"},
	{"-gpgpu_max_completed_cta", "71", "run.max_done = 71"},
}

func TestEachOption(t *testing.T) {
	cases := slices.Clone(optionCases)
	for _, s := range [][2]string{{"gen", "gen"}, {"sp", "sp"}, {"dp", "dp"}, {"int", "int"}, {"sfu", "sfu"}, {"mem", "mem"}, {"tensor_core", "tensor"}} {
		for i, p := range [][2]string{{"units", "units"}, {"in_ports", "in_ports"}, {"out_ports", "out_ports"}} {
			cases = append(cases, struct{ option, value, want string }{
				"-gpgpu_operand_collector_num_" + p[0] + "_" + s[0], fmt.Sprint(9 + i), fmt.Sprintf("simt.collector.%s.%s = %d", s[1], p[1], 9+i)})
		}
	}
	for i := 1; i <= 8; i++ {
		at := fmt.Sprintf("simt.special%d.", i)
		cases = append(cases,
			struct{ option, value, want string }{fmt.Sprintf("-specialized_unit_%d", i), "1,5,66,7,8,UDP",
				at + "units = 5; " + at + "depth = 66; " + at + "issue_width = 7; " + at + "exec_width = 8; " + at + `name = "UDP"`},
			struct{ option, value, want string }{fmt.Sprintf("-trace_opcode_latency_initiation_spec_op_%d", i), "11,12", at + "latency = 11; " + at + "initiation = 12"})
	}
	base, _, err := smallChip(t, "")
	if err != nil {
		t.Fatal(err)
	}
	before := values(base)
	tested := map[string]bool{}
	for _, tt := range cases {
		tested[tt.option] = true
		t.Run(tt.option+" "+tt.value, func(t *testing.T) {
			g, options, err := smallChip(t, tt.option+" "+tt.value)
			if err != nil {
				t.Fatal(err)
			}
			after := values(g)
			changed := false
			for part := range strings.SplitSeq(tt.want, "; ") {
				key, want, _ := strings.Cut(part, " = ")
				if got, ok := after[key]; !ok || got != want {
					t.Errorf("%s = %s, want %s", key, got, want)
				}
				changed = changed || before[key] != after[key]
			}
			if !changed {
				t.Error("the option changes nothing")
			}
			i := slices.IndexFunc(options, func(o Option) bool { return o.Name == tt.option && o.File == "more.config" })
			if i < 0 || len(options[i].Keys) == 0 {
				t.Fatal("it is not listed with its keys")
			}
			want, why := Honoured, ""
			if s, all := allInert(options[i].Keys); all {
				want, why = Inert, s
			}
			if o := options[i]; o.Use != want || o.Note != why {
				t.Errorf("it is listed as %v (%s), want %v (%s)", o.Use, o.Note, want, why)
			}
		})
	}
	for _, name := range OptionNames(Honoured) {
		if !tested[name] {
			t.Errorf("%s is honoured and has no test", name)
		}
	}
}

// Inert options change nothing, and those with one supported value accept only that
// one.
func TestOptionsWithoutEffect(t *testing.T) {
	base, _, err := smallChip(t, "")
	if err != nil {
		t.Fatal(err)
	}
	_, rows := allOptions()
	for _, row := range rows {
		switch row.use {
		case Inert:
			g, options, err := smallChip(t, row.Name+" 1")
			if err != nil {
				t.Errorf("%s: %v", row.Name, err)
				continue
			}
			if d := cmp.Diff(values(base), values(g)); d != "" {
				t.Errorf("%s changes:\n%s", row.Name, d)
			}
			if o := options[len(options)-1]; o.Use != Inert || o.Note == "" {
				t.Errorf("%s is not listed as inert, with a reason", row.Name)
			}
		case Fixed:
			if _, _, err := smallChip(t, row.Name+" "+row.only); err != nil {
				t.Errorf("%s %s: %v", row.Name, row.only, err)
			}
			if _, _, err := smallChip(t, row.Name+" 7"); err == nil {
				t.Errorf("%s 7 is accepted", row.Name)
			}
		case Unmatched:
			_, options, err := smallChip(t, row.Name+" 1")
			if err != nil {
				t.Errorf("%s: %v", row.Name, err)
			} else if o := options[len(options)-1]; o.Use != Unmatched || o.Note == "" {
				t.Errorf("%s is listed as %v, with the reason %q", row.Name, o.Use, o.Note)
			}
		}
	}
}

func TestSmallFolder(t *testing.T) {
	g, options, err := LoadWithOptions("testdata/small")
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"name": `"small"`, "clocks.noc": "900.5", "clocks.dram": "1200.25", "run.launch_latency": "70", "dram.timing.cl": "12",
		"dram.timing.wr": "12", "simt.special1.units": "2", "simt.special1.latency": "9", "simt.trace_latency.int": "5",
		"l2.index": `"ipoly"`, "noc.kind": `"crossbar"`, "sm.register_granule": "4", "compat.cache.miss_needs_two": "true",
		"simt.fetch_throughput": "1", "run.copies_fill_l2": "true",
	} {
		if got, _ := g.Value(key); got != want {
			t.Errorf("%s = %s, want %s", key, got, want)
		}
	}
	for key, want := range map[string]string{
		"chip.clusters": "gpgpusim.config:2 -gpgpu_n_clusters", "simt.fetch_throughput": "GPGPU-Sim's default of -gpgpu_inst_fetch_throughput",
		"simt.special1.units": "trace.config:2 -specialized_unit_1", "noc.link_delay": "default; no option of GPGPU-Sim",
	} {
		if got := g.Source(key); got != want {
			t.Errorf("source of %s: %s, want %s", key, got, want)
		}
	}
	last := options[len(options)-1]
	if last.Name != "-trace_opcode_latency_initiation_spec_op_1" || last.Line != 3 {
		t.Errorf("last option %+v", last)
	}
	fly, options, err := LoadWithOptions("testdata/fly/gpgpusim.config")
	if err != nil {
		t.Fatal(err)
	}
	if fly.NoC.FlitBytes != 48 || fly.NoC.FlitInBuffer != 20 || fly.NoC.FlitOutBuffer != 12 || fly.NoC.Kind != noc.Fly {
		t.Errorf("network %+v", fly.NoC)
	}
	if fly.NoC.VCBuffer != 24 {
		t.Errorf("vc_buf_size after ejection_buffer_size: %d flits", fly.NoC.VCBuffer)
	}
	if o := options[len(options)-3]; o.Name != "vc_buf_size" || o.Use != Honoured || !slices.Equal(o.Keys, []string{"noc.vc_buffer"}) {
		t.Errorf("vc_buf_size after ejection_buffer_size: %+v", o)
	}
}

func TestWriteOptions(t *testing.T) {
	g, options, err := smallChip(t, "-l2_ideal 1\n-icnt_subnets 2\n-branch_latency 2")
	if err != nil {
		t.Fatal(err)
	}
	for i := range keys() {
		if k := &keys()[i]; strings.HasPrefix(k.Name, "compat.") && g.format(k) != "true" {
			t.Errorf("%s is off in a file of GPGPU-Sim", k.Name)
		}
	}
	var out strings.Builder
	if err := WriteOptions(&out, options); err != nil {
		t.Fatal(err)
	}
	got := out.String()
	order := []string{
		"honoured:\n", "  -gpgpu_n_clusters 2  # chip.clusters\n", "inert:\n", "  -l2_ideal 1  # GPGPU-Sim reads it and never uses it\n",
		"fixed:\n", "  -icnt_subnets 2  # ", "without counterpart:\n", "  -branch_latency 2  # ",
	}
	for _, want := range order {
		_, rest, ok := strings.Cut(got, want)
		if !ok {
			t.Fatalf("%q is missing, or not in order, in:\n%s", want, out.String())
		}
		got = rest
	}
}

// readSwitch reads the small folder's configuration with its own network file: 2
// clusters and 4 slices.
func readSwitch(t *testing.T, text string) (*GPU, []Option, error) {
	t.Helper()
	return ReadGPGPUSim("x", []NamedText{{"f", read(t, "testdata/fly/gpgpusim.config")}}, func(string) (string, error) { return text, nil })
}

// TestNetworkSettings: a setting of a network file changes exactly its keys.
func TestNetworkSettings(t *testing.T) {
	base, _, err := readSwitch(t, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ text, want string }{
		{"topology = fly;", ""},
		{"topology = fly; k = 6; n = 1; routing_function = dest_tag;", "noc.dimensions=1"},
		{"k = 7;", "noc.radix=7"},
		{"topology = fly; k = 3; n = 2;", "noc.dimensions=2 noc.radix=3"},
		{"n = 3; k = 2; routing_function = dor; topology = mesh", `noc.dimensions=3 noc.kind="mesh" noc.radix=2`},
		{"topology = mesh; routing_function = dim_order;", `noc.kind="mesh"`},
		{"topology = torus; routing_function = dim_order;", `noc.kind="torus" noc.link_delay=2`},
		{"topology = torus; use_noc_latency = 1;", `noc.kind="torus" noc.link_delay=2`},
		{"topology = torus; use_noc_latency = 0;", `noc.kind="torus"`},
		{"num_vcs = 1;", "noc.vcs=1"},
		{"num_vcs = 4; read_request_end_vc = 3; write_reply_end_vc = 3;", "noc.any_vc=true noc.vcs=4"},
		{"vc_buf_size = 20;", "noc.flit_out_buffer=20 noc.vc_buffer=20"},
		{"ejection_buffer_size = 30;", "noc.flit_out_buffer=30"},
		{"ejection_buffer_size = 30; vc_buf_size = 20;", "noc.flit_out_buffer=30 noc.vc_buffer=20"},
		{"vc_buf_size = 20; ejection_buffer_size = 30;", "noc.flit_out_buffer=30 noc.vc_buffer=20"},
		{"boundary_buffer_size = 11;", "noc.boundary_buffer=11"},
		{"input_buffer_size = 13;", "noc.flit_in_buffer=13"},
		{"flit_size = 48;", "noc.flit_bytes=48"},
		{"use_map = 0;", `noc.placement="in-order"`},
		{"wait_for_tail_credit = 1;", "noc.hold_vc=true"},
		{"vc_allocator = islip; sw_allocator = islip;", ""},
		{"vc_allocator = separable_input_first; sw_allocator = separable_input_first;", `noc.arbiter="round-robin"`},
		{"alloc_iters = 3;", "noc.iterations=3"},
		{"credit_delay = 3;", "noc.credit_delay=3"},
		{"routing_delay = 3;", "noc.routing_delay=3"},
		{"vc_alloc_delay = 3;", "noc.vc_delay=3"},
		{"sw_alloc_delay = 3;", "noc.switch_delay=3"},
		{"num_vcs = 2; input_speedup = 2;", "noc.any_vc=true noc.input_speedup=2 noc.vcs=2"},
		{"output_speedup = 3;", "noc.output_speedup=3"},
		{"internal_speedup = 1.0;", "noc.router_steps=1"},
		{"injection_rate = 0.5; packet_size = {{1,2},{3}};", ""},
	} {
		g, options, err := readSwitch(t, tt.text)
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
			continue
		}
		named := map[string]bool{}
		for _, o := range options {
			if o.File == "switch.icnt" {
				for _, k := range o.Keys {
					named[k] = true
				}
			}
		}
		var got []string
		for i := range keys() {
			name := keys()[i].Name
			if v := g.format(&keys()[i]); v != base.format(&keys()[i]) {
				got = append(got, name+"="+v)
				if !named[name] && name != "noc.link_delay" {
					t.Errorf("%q: no setting is said to set %s", tt.text, name)
				}
			}
		}
		slices.Sort(got)
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%q changes %q, want %q", tt.text, s, tt.want)
		}
	}
}

func TestNetworkErrors(t *testing.T) {
	tests := []struct{ text, want string }{
		{"k = 5;", "switch.icnt:1: k = 5: want the chip's 6 nodes"},
		{"\nn = 2;\nk = 2;", "switch.icnt:3: k = 2: want the chip's 6 nodes"},
		{"n = 0;", "n = \"0\": want a whole number above 0"},
		{"n = 99; k = 2;", "noc.dimensions = 99 is out of bounds"},
		{"topology = cmesh;", "topology = cmesh is not supported: want fly, mesh, torus"},
		{"topology = mesh; routing_function = dest_tag;", "routing_function = dest_tag is not supported: in a mesh, want dor, dim_order"},
		{"routing_function = valiant;", "routing_function = valiant is not supported: in a fly, want dest_tag"},
		{"topology = torus; num_vcs = 3;", "even number of virtual channels"},
		{"num_vcs = 2; read_reply_end_vc = 0;", "read_reply_end_vc = 0 is not supported: want 1"},
		{"vc_allocator = islip; sw_allocator = separable_input_first;", "sw_allocator = separable_input_first is not supported: want both allocators"},
		{"sw_allocator = wavefront;", "sw_allocator = wavefront is not supported: want islip, separable_input_first"},
		{"wait_for_tail_credit = 2;", "wait_for_tail_credit = 2 is invalid"},
		{"use_map = 1;", "use_map = 1 is not supported, only 0"},
		{"vc_alloc_delay = 0;", "noc.vc_delay = 0 is out of bounds"},
		{"input_speedup = 2;", "input speedup 2: want a divisor of the 1 virtual channels"},
		{"num_vc = 1;", "unknown setting num_vc; did you mean num_vcs?"},
		{"flit_size = big;", "want a whole number"},
		{"flit_size = 0;", "noc.flit_bytes = 0 is out of bounds"},
		{"flit_size", "want the form name = value"},
		{"= 3;", "want the form name = value"},
		{"internal_speedup = 1.5;", "internal_speedup = \"1.5\": want a whole number"},
	}
	for _, tt := range tests {
		g, _, err := readSwitch(t, tt.text)
		if err == nil {
			err = g.Check()
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: error %v, want %s", tt.text, err, tt.want)
		}
	}
	_, _, err := ReadGPGPUSim("x", []NamedText{{"f", read(t, "testdata/fly/gpgpusim.config")}},
		func(path string) (string, error) { return "", errors.New("no " + path) })
	if err == nil || !strings.Contains(err.Error(), "no switch.icnt") {
		t.Errorf("missing network file: %v", err)
	}
}

var folders = map[string]string{
	"gtx-480": "SM2_GTX480", "titan-x-pascal": "SM6_TITANX", "v100": "SM7_QV100", "rtx-2060": "SM75_RTX2060", "rtx-3070": "SM86_RTX3070",
}

// The shipped GPUs have the values of the configurations that they name as their
// source, except those marked as ours or the vendor's.
func TestLibraryAgainstItsSources(t *testing.T) {
	for name, folder := range folders {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(reference, "configs", folder)
			want, _, err := load(dir, "")
			if err != nil {
				t.Fatal(err)
			}
			got, err := Load(name)
			if err != nil {
				t.Fatal(err)
			}
			same := 0
			for i := range keys() {
				k := &keys()[i]
				src := got.Source(k.Name)
				if strings.HasPrefix(k.Name, "compat.") || !strings.HasPrefix(src, folder) && !strings.HasPrefix(src, "GPGPU-Sim") {
					continue
				}
				if a, b := got.format(k), want.format(k); a != b {
					t.Errorf("%s = %s, %s has %s", k.Name, a, folder, b)
				}
				same++
			}
			if same < 200 {
				t.Errorf("only %d values name %s as their source", same, folder)
			}
		})
	}
}

// Every configuration folder can be read, and its options are honoured, inert,
// fixed or for the modern core.
func TestReadsEveryFolder(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(reference, "configs*/*/gpgpusim.config"))
	if err != nil || len(dirs) < 14 {
		t.Fatal(dirs, err)
	}
	for _, file := range dirs {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			g, options, err := LoadWithOptions(file)
			if err != nil {
				t.Fatal(err)
			}
			var count [4]int
			for _, o := range options {
				count[o.Use]++
			}
			t.Logf("%d SMs, honoured %d, inert %d, fixed %d, without counterpart %d", g.SMs(), count[Honoured], count[Inert], count[Fixed], count[Unmatched])
			if !strings.Contains(file, "configs-modern") && count[Unmatched] != 0 {
				t.Error("options of the modern core in a file of GPGPU-Sim")
			}
		})
	}
}

// GPGPU-Sim prints every option in force, defaults included. Reading that list must
// give the same GPU as reading the configuration of the run.
func TestDefaultsAgainstPrintedOptions(t *testing.T) {
	for _, folder := range []string{"SM2_GTX480", "SM75_RTX2060", "SM7_QV100"} {
		t.Run(folder, func(t *testing.T) {
			printed := read(t, filepath.Join(reference, "gpgpusim/options", folder+".config"))
			if n := strings.Count(printed, "\n"); n < 150 {
				t.Fatalf("only %d options are printed", n)
			}
			dir := filepath.Join(reference, "configs", folder)
			network := func(path string) (string, error) { return readFile(filepath.Join(dir, path)) }
			want, _, err := ReadGPGPUSim(folder, []NamedText{{"printed", printed}}, network)
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := ReadGPGPUSim(folder, []NamedText{{"gpgpusim.config", read(t, filepath.Join(dir, "gpgpusim.config"))}}, network)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(values(want), values(got)); d != "" {
				t.Errorf("printed (-), read (+):\n%s", d)
			}
		})
	}
}

func FuzzReadGPGPUSim(f *testing.F) {
	text, err := os.ReadFile("testdata/fly/gpgpusim.config")
	if err != nil {
		f.Fatal(err)
	}
	network, err := os.ReadFile("testdata/fly/switch.icnt")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text), string(network))
	f.Add("-a \"b\n", "k=1")
	for _, c := range optionCases {
		f.Add(string(text)+"\n"+c.option+" "+c.value, "")
	}
	f.Fuzz(func(t *testing.T, text, network string) {
		g, _, err := ReadGPGPUSim("fuzz", []NamedText{{"f", text}}, func(string) (string, error) { return network, nil })
		if err != nil {
			return
		}
		checkSurvives(t, g)
	})
}
