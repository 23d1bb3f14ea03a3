package config_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/gpu"
)

// effect is a setting, a kernel that it affects, and the change of the run.
type effect struct {
	set  string // see base
	on   string // see loadOf; "trace " and a name: see traces
	want string // see felt
	with string // settings of both runs, see base
}

// effects has a row for each option of GPGPU-Sim that is honoured and for each key
// of a GPU on which runs depend. Directions are checked where they follow from the
// meaning of the setting.
var effects = slices.Concat(plain,
	times16("latency", map[string]int{"int_add": 9, "int_max": 9, "int_mul": 11, "int_mad": 13, "int_div": 47, "int_shfl": 17,
		"fp_add": 9, "fp_max": 10, "fp_mul": 12, "fp_mad": 15, "fp_div": 53, "dp_add": 17, "dp_max": 18, "dp_mul": 19, "dp_mad": 25, "dp_div": 97}),
	times16("initiation", map[string]int{"int_add": 4, "int_max": 6, "int_mul": 8, "int_mad": 10, "int_div": 30, "int_shfl": 12,
		"fp_add": 5, "fp_max": 7, "fp_mul": 9, "fp_mad": 11, "fp_div": 30, "dp_add": 12, "dp_max": 14, "dp_mul": 16, "dp_mad": 18, "dp_div": 60}),
	collectors(),
	preferred("l1d.prefer_l1", "-gpgpu_cache:dl1PrefL1", "l1"),
	preferred("l1d.prefer_shared", "-gpgpu_cache:dl1PrefShared", "smem"),
	networkEffects,
	compatEffects,
	modernEffects,
	idealEffects,
	traceEffects,
)

// plain are the effects written out in full.
var plain = []effect{
	// The chip.
	{"-gpgpu_n_clusters 4", "stream.many", "differ", ""},
	{"-gpgpu_n_cores_per_cluster 1", "long.many", "more", ""},
	{"-gpgpu_n_mem 1", "rows", "more", ""},
	{"-gpgpu_n_sub_partition_per_mchannel 1", "rows", "more", ""},
	{"-gpgpu_max_concurrent_kernel 1", "long.streams", "more", ""},
	{"chip.block_scheduler=lowest-first", "chase.many", "differ", "sm.blocks=1"},
	{"-gpgpu_concurrent_kernel_sm 1", "chase.streams", "less", ""},
	{"-gpgpu_simt_core_sim_order 0", "stream", "differ", ""},
	{"-gpgpu_local_mem_map 0", "local", "differ", ""},
	{"clocks.core=500", "rows", "less", ""}, // in cycles of the core
	{"clocks.noc=500", "rows", "more", ""},
	{"clocks.l2=500", "rows", "more", ""},
	{"clocks.dram=500", "rows", "more", ""},
	{"-gpgpu_clock_domains 1000:900:950:700", "rows", "more", ""},

	// Limits of an SM.
	{"-gpgpu_shader_core_pipeline 128:32", "chase.many", "more", ""},
	{"-gpgpu_shader_cta 2", "chase.many", "more", ""},
	{"-gpgpu_shader_registers 8192", "long.big", "blocks per SM less", ""},
	{"sm.register_granule=32", "long.regs", "blocks per SM less", ""},
	{"sm.warp_granule=8", "long.regs", "blocks per SM less", ""},
	{"-gpgpu_shmem_size 16384", "long.big", "blocks per SM less", ""},
	{"sm.shared=16384", "long.big", "blocks per SM less", "sm.shared_per_block=16384"},
	{"-gpgpu_shmem_sizeDefault 32768", "long.big.none", "blocks per SM more", ""},
	{"-gpgpu_shmem_size_PrefL1 32768", "long.big.l1", "blocks per SM more", ""},
	{"-gpgpu_shmem_size_PrefShared 32768", "long.big.smem", "blocks per SM more", ""},
	{"-gpgpu_num_cta_barriers 2", "named", "end done refused", ""},
	{"sm.shared_granule=16384", "long.some", "blocks per SM less", "-gpgpu_n_clusters 1\n-gpgpu_n_cores_per_cluster 1"},
	{"sm.shared_reserved=8000", "long.big", "blocks per SM less", ""},
	{"-gpgpu_ignore_resources_limitation 1", "long.huge", "end refused done", ""},

	// Issue.
	{"-gpgpu_scheduler lrr", "stream", "differ", ""},
	{"-gpgpu_scheduler old", "mix", "differ", ""},
	{"-gpgpu_scheduler rrr", "chase.many", "more", ""},
	{"-gpgpu_scheduler two_level_active:2:0:1", "mix", "differ", ""},
	{"-gpgpu_scheduler warp_limiting:2:2", "chase.many", "more", ""},
	{"simt.active_warps=2", "chase.many", "differ", "-gpgpu_scheduler two_level_active:4:0:1"},
	{"-gpgpu_num_sched_per_core 1", "flood_int_add", "more", ""},
	{"-gpgpu_max_insn_issue_per_warp 2", "banks", "differ", ""},
	{"-gpgpu_dual_issue_diff_exec_units 0", "flood_int_add.one", "less", "-gpgpu_max_insn_issue_per_warp 2"},
	{"-gpgpu_sub_core_model 1", "mix", "differ", ""},
	{"-gpgpu_inst_fetch_throughput 3", "flood_int_add.one", "less", "-gpgpu_perfect_inst_const_cache 1"},
	{"-gpgpu_perfect_inst_const_cache 1", "consts", "less", ""},
	{"-gpgpu_tensor_core_avail 0\n-gpgpu_num_tensor_core_units 0", "mix", "differ", ""},
	{"simt.tensor_port=false", "", "refused without it no instruction reaches the tensor units", ""},
	{"-gpgpu_pipeline_widths 1,1,1,1,1,1,1,1,1,1,1,1,1", "mix", "more", ""},
	{"simt.issue.sp=1", "banks", "differ", ""},
	{"simt.issue.dp=1", "mix", "differ", ""},
	{"simt.issue.int=1", "banks", "differ", ""},
	{"simt.issue.sfu=1", "mix", "differ", ""},
	{"simt.issue.mem=1", "stream", "differ", ""},
	{"simt.issue.tensor=1", "mix", "differ", ""},
	{"simt.exec.sp=1", "banks.twice", "differ", ""},
	{"simt.exec.dp=1", "mix", "differ", ""},
	{"simt.exec.int=1", "banks", "differ", ""},
	{"simt.exec.sfu=1", "mix", "differ", ""},
	{"simt.exec.mem=1", "stream", "differ", ""},
	{"simt.exec.tensor=1", "mix", "differ", ""},
	{"simt.write_back=1", "banks", "more", ""},
	{"-gpgpu_num_sp_units 1", "flood_fp_mad", "more", ""},
	{"-gpgpu_num_dp_units 1", "flood_dp_mad", "more", ""},
	{"-gpgpu_num_dp_units 0", "mix", "more", ""},
	{"-gpgpu_num_int_units 1", "flood_int_mul", "more", ""},
	{"-gpgpu_num_int_units 0", "banks", "more", ""},
	{"-gpgpu_num_sfu_units 1", "flood_sfu", "more", ""},
	{"-gpgpu_num_tensor_core_units 1", "flood_tensor", "more", ""},
	{"-ptx_opcode_latency_int 11,12,13,14,41,16", "mix", "differ", ""},
	{"-ptx_opcode_latency_fp 11,12,13,14,51", "mix", "differ", ""},
	{"-ptx_opcode_latency_dp 31,32,33,34,91", "mix", "differ", ""},
	{"-ptx_opcode_latency_sfu 33", "chain_sfu", "steps 3", perfect},
	{"-ptx_opcode_latency_tesnor 29", "chain_tensor", "steps 5", perfect},
	{"-ptx_opcode_initiation_int 4,6,8,10,9,12", "mix", "differ", ""},
	{"-ptx_opcode_initiation_fp 5,6,7,8,9", "mix", "differ", ""},
	{"-ptx_opcode_initiation_dp 12,13,14,15,30", "mix", "differ", ""},
	{"-ptx_opcode_initiation_sfu 20", "flood_sfu", "more", ""},
	{"-ptx_opcode_initiation_tensor 20", "flood_tensor", "more", ""},
	{"simt.other_latency=5", "chain_other", "steps 4", perfect},
	{"simt.other_initiation=4", "flood_other", "more", "simt.other_latency=5"},

	// Reading operands.
	{"-gpgpu_enable_specialized_operand_collector 1", "mix", "differ", ""},
	{"-gpgpu_num_reg_banks 2", "mix", "more", ""},
	{"-gpgpu_reg_file_port_throughput 3", "banks", "less", ""},
	{"-gpgpu_operand_collector_num_units_gen 2", "banks", "more", ""},
	{"-gpgpu_operand_collector_num_in_ports_gen 1", "banks", "differ", ""},
	{"-gpgpu_operand_collector_num_out_ports_gen 1", "banks", "more", ""},

	// Loads and stores.
	{"-gpgpu_coalesce_arch 20", "wide", "differ", "-gpgpu_cache:dl1 N:4:128:4,L:L:m:N:L,S:8:4,8"},
	{"-gpgpu_coalesce_arch 13", "wide", "differ", "-gpgpu_cache:dl1 N:4:128:4,L:L:m:N:L,S:8:4,8"},
	{"-gpgpu_mem_unit_ports 2", "shared", "less", ""},
	{"-gpgpu_smem_latency 30", "shared.one", "more", ""},
	{"-smem_latency 30", "shared.one", "more", ""},
	{"-gpgpu_shmem_num_banks 16", "shared", ".SM.SharedConflicts more", ""},
	{"-gpgpu_shmem_warp_parts 2", "shared", "differ", ""},
	{"-gpgpu_shmem_limited_broadcast 1", "shared", ".SM.SharedConflicts more", ""},
	{"-gpgpu_n_ldst_response_buffer_size 1", "constmix", "differ", "l1c.port=8\nl1d.port=8"},
	{"-gpgpu_perfect_mem 1", "rows", "less", ""},

	// The L1 data cache.
	{"-gpgpu_cache:dl1 none", "reuse", "more", ""},
	{"-gpgpu_cache:dl1 N:8:64:2,L:L:m:N:L,S:8:4,8", "reuse", "differ", ""},
	{"l1d.sectored=false", "sectors", "differ", "l1d.mshr=sector-associative"},
	{"l1d.sets=2", "reuse", ".L1D misses more", ""},
	{"l1d.line=64", "reuse", "differ", "l1d.sectored=false\nl1d.mshr=sector-associative"},
	{"l1d.ways=2", "reuse", ".L1D misses more", ""},
	{"l1d.replace=fifo", "evict", "differ", ""},
	{"l1d.prefetcher=next-line", "stream", ".L1D.Prefetch.Issued more", ""},
	{"l1d.prefetcher=none", "stream", ".L1D.Prefetch.Issued less", "l1d.prefetcher=next-line"},
	{"l1d.write=write-back", "dirty", ".Request.Packets less", ""},
	{"l1d.write=write-evict", "sectors", ".L1D misses more", "l1d.write_miss=send"},
	{"l1d.write=local-back", "local", ".Request.Packets less", "l1d.write_miss=send"},
	{"l1d.allocate=on-fill", "merge", "differ", "l1d.write_miss=send"},
	{"l1d.allocate=streaming", "merge", "differ", "l1d.write_miss=send\nl1d.adaptive=true\nl1d.unified=40\nl1d.shared_sizes=0,8,32\nl1d.allocate=on-fill"},
	{"l1d.write_miss=send", "evict", "differ", ""},
	{"l1d.write_miss=send-and-read", "partial", ".Request.Packets more", ""},
	{"l1d.write_miss=read-first", "partial", "differ", ""},
	{"l1d.index=xor", "partial.many", "differ", ""},
	{"l1d.index=ipoly", "stream", "differ", "l1d.sets=16"},
	{"l1d.index=fermi", "evict.many", "differ", "l1d.sets=32"},
	{"l1d.index=zero", "reuse", "more", ""},
	{"l1d.mshr=fifo", "", "refused texture cache", ""},
	{"l1d.entries=2", "stream", "more", ""},
	{"l1d.merge=1", "merge", "more", ""},
	{"l1d.miss_queue=3", "partial", "differ", ""},
	{"l1d.port=8", "reuse", ".L1D.DataBusy more", ""},
	{"-gpgpu_cache:dl1PrefL1 S:4:128:2,L:T:m:L:L,A:8:4,8:0,32", "reuse.l1", ".L1D misses more", ""},
	{"-gpgpu_cache:dl1PrefShared S:4:128:2,L:T:m:L:L,A:8:4,8:0,32", "reuse.smem", ".L1D misses more", ""},
	{"l1d.prefer_l1.enabled=false", "reuse.l1", "differ", "-gpgpu_cache:dl1PrefL1 S:4:128:2,L:T:m:L:L,A:8:4,8:0,32"},
	{"l1d.prefer_shared.enabled=false", "reuse.smem", "differ", "-gpgpu_cache:dl1PrefShared S:4:128:2,L:T:m:L:L,A:8:4,8:0,32"},
	{"-gpgpu_l1_latency 20", "reuse.one", "more", ""},
	{"-gpgpu_l1_banks 1", "reuse", "more", ""},
	{"-gpgpu_l1_banks_byte_interleaving 128", "reuse", "differ", ""},
	{"-gpgpu_l1_banks_hashing_function 1", "reuse", "differ", ""},
	{"l1d.bank_index=ipoly", "reuse", "differ", "-gpgpu_l1_banks 16"},
	{"l1d.bank_index=fermi", "stream", "differ", "-gpgpu_l1_banks 32"},
	{"-gpgpu_l1_cache_write_ratio 20", "evict", "differ", ""},
	{"-gpgpu_gmem_skip_L1D 1", "reuse", ".L1D misses less", ""},
	{"-gpgpu_adaptive_cache_config 1", "reuse", "L1 ways more", "-gpgpu_unified_l1d_size 40\n-gpgpu_shmem_option 0,8,32"},
	{"-gpgpu_unified_l1d_size 48", "reuse", "L1 ways more", "-gpgpu_adaptive_cache_config 1\n-gpgpu_unified_l1d_size 40\n-gpgpu_shmem_option 0,8,32"},
	{"-gpgpu_shmem_option 0,16,32", "long.some", "L1 ways more", "-gpgpu_adaptive_cache_config 1\n-gpgpu_unified_l1d_size 40\n-gpgpu_shmem_option 0,8,32"},

	// The other first-level caches.
	{"-gpgpu_const_cache:l1 N:2:64:2,L:R:f:N:L,S:2:4,4", "consts", ".L1C misses more", ""},
	{"l1c.enabled=false", "", "refused an SM needs this cache", ""},
	{"l1c.sectored=true", "", "refused this cache reads whole lines", "l1c.line=128"},
	{"l1c.sets=2", "consts", ".L1C misses more", ""},
	{"l1c.line=128", "constmix", "differ", ""},
	{"l1c.ways=1", "consts", ".L1C misses more", ""},
	{"l1c.replace=fifo", "constmix", "differ", ""},
	{"l1c.write=write-back", "", "refused nothing is written to this cache", "l1c.allocate=on-miss"},
	{"l1c.allocate=on-miss", "constmix", "differ", ""},
	{"l1c.write_miss=read-later", "", "refused", ""},
	{"l1c.index=zero", "consts", ".L1C misses more", ""},
	{"l1c.mshr=fifo", "", "refused texture cache", ""},
	{"l1c.entries=1", "constmix", "more", ""},
	{"l1c.merge=1", "consts", "more", ""},
	{"l1c.miss_queue=1", "constmix", "differ", "noc.in_buffer=1\nclocks.noc=200\nl1c.entries=8"},
	{"l1c.port=8", "consts", "more", ""},
	{"-gpgpu_tex_cache:l1 N:2:128:2,L:R:m:N:L,T:8:4,8:2", "tex", ".L1T misses more", ""},
	{"l1t.enabled=false", "tex", "more", ""},
	{"l1t.sectored=true", "", "refused a texture cache must be of type N", ""},
	{"l1t.sets=2", "tex", ".L1T misses more", ""},
	{"l1t.line=64", "tex", ".L1T misses more", ""},
	{"l1t.ways=1", "tex", ".L1T misses more", ""},
	{"l1t.replace=fifo", "tex.many", "differ", ""},
	{"l1t.write=write-back", "", "refused a texture cache must be of type N", ""},
	{"l1t.allocate=on-fill", "", "refused a texture cache must be of type N", ""},
	{"l1t.write_miss=read-later", "", "refused a read-only cache", ""},
	{"l1t.index=xor", "tex.many", "differ", ""},
	{"l1t.mshr=associative", "", "refused a texture cache needs fifo", ""},
	{"l1t.entries=2", "tex", "more", ""},
	{"l1t.merge=1", "tex.many", "differ", ""},
	{"l1t.miss_queue=1", "tex", "more", ""},
	{"l1t.result_queue=1", "tex.many", "differ", ""},
	{"-gpgpu_cache:il1 N:2:128:2,L:R:f:N:L,S:2:4,4", "roam", ".L1I misses more", ""},
	{"l1i.enabled=false", "", "refused an SM needs this cache", ""},
	{"l1i.sectored=true", "", "refused this cache reads whole lines", ""},
	{"l1i.sets=2", "roam", ".L1I misses more", ""},
	{"l1i.line=64", "roam", ".L1I misses more", ""},
	{"l1i.ways=1", "roam", ".L1I misses more", ""},
	{"l1i.replace=fifo", "roam", "differ", ""},
	{"l1i.write=write-back", "", "refused nothing is written to this cache", "l1i.allocate=on-miss"},
	{"l1i.allocate=on-miss", "roam", "differ", ""},
	{"l1i.write_miss=read-later", "", "refused", ""},
	{"l1i.index=zero", "roam", ".L1I misses more", ""},
	{"l1i.mshr=fifo", "", "refused texture cache", ""},
	{"l1i.entries=1", "roam", "more", ""},
	{"l1i.merge=1", "roam", "differ", ""},
	{"l1i.miss_queue=1", "roam", "differ", "noc.in_buffer=1\nclocks.noc=200\nl1i.entries=8"},
	{"l1i.port=16", "roam", ".L1I.FillBusy more", ""},

	// The network.
	{"-network_mode 1\n-inter_config_file x", "rows", "more", ""},
	{"-inter_config_file x\n-network_mode 1\nnet flit_size = 8;", "rows", "more", "-network_mode 1\n-inter_config_file x"},
	{"noc.kind=mesh", "rows", "differ", "noc.kind=fly"},
	{"noc.kind=torus", "rows", "differ", "noc.kind=fly"},
	{"-gpgpu_n_cluster_ejection_buffer_size 1", "rows", "differ", "l1d.port=8"},
	{"-icnt_in_buffer_limit 1", "rows", "differ", ""},
	{"-icnt_out_buffer_limit 1", "rows", "differ", ""},
	{"-icnt_arbiter_algo 0", "rows", "differ", ""},
	{"-icnt_grant_cycles 3", "rows", "differ", ""},
	{"-icnt_flit_size 16", "rows", ".Request.Flits more", ""},
	{"noc.radix=4", "rows", "differ", "noc.kind=mesh"},
	{"noc.dimensions=1", "rows", "differ", "noc.kind=mesh"},
	{"noc.placement=in-order", "rows", "differ", "noc.kind=mesh"},
	{"noc.vcs=2", "rows", "differ", "noc.kind=fly"},
	{"noc.any_vc=true", "rows", "differ", "noc.kind=fly\nnoc.vcs=2"},
	{"noc.vc_buffer=2", "rows", "more", "noc.kind=mesh"},
	{"noc.flit_in_buffer=5", "rows", "differ", "noc.kind=mesh"},
	{"noc.flit_out_buffer=2", "rows", "more", "noc.kind=mesh"},
	{"noc.boundary_buffer=1", "rows", "differ", "noc.kind=mesh\nl1d.port=8"},
	{"noc.hold_vc=true", "rows", "more", "noc.kind=mesh"},
	{"noc.arbiter=round-robin", "rows", "differ", "noc.kind=mesh\nnoc.vcs=4\nnoc.any_vc=true"},
	{"noc.iterations=3", "rows.many", "differ", "noc.kind=mesh\nnoc.vcs=4"},
	{"noc.routing_delay=3", "rows", "more", "noc.kind=mesh"},
	{"noc.vc_delay=3", "rows", "more", "noc.kind=mesh"},
	{"noc.switch_delay=3", "rows", "more", "noc.kind=mesh"},
	{"noc.credit_delay=3", "rows", "more", "noc.kind=mesh\nnoc.vc_buffer=4"},
	{"noc.link_delay=3", "rows", "more", "noc.kind=mesh"},
	{"noc.input_speedup=2", "rows", "differ", "noc.kind=mesh\nnoc.vcs=2"},
	{"noc.output_speedup=2", "rows", "differ", "noc.kind=mesh\nnoc.vcs=4\nnoc.any_vc=true\nnoc.router_steps=1"},
	{"noc.router_steps=1", "rows", "more", "noc.kind=fly"},

	// Partitions and L2.
	{"-gpgpu_l2_rop_latency 90", "rows", "more", ""},
	{"-rop_latency 90", "rows", "more", ""},
	{"-dram_latency 90", "rows", "more", ""},
	{"-gpgpu_dram_partition_queues 5:4:4:4", "rows", "differ", ""},
	{"partition.to_l2=4", "rows", "more", ""},
	{"partition.to_dram=1", "rows", "differ", ""},
	{"partition.from_dram=1", "rows", "differ", ""},
	{"partition.to_noc=1", "rows", "differ", ""},
	{"-gpgpu_mem_addr_mapping dramid@10;00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.RCCCBBBB.CCCSSSSS", "rows", "differ", ""},
	{"-gpgpu_memory_partition_indexing 1", "rows", "differ", ""},
	{"-gpgpu_memory_partition_indexing 2", "rows", "differ", ""},
	{"-gpgpu_memory_partition_indexing 4", "rows", "differ", ""},
	{"-gpgpu_cache:dl2 none", "sectors", "more", ""},
	{"-gpgpu_cache:dl2 N:8:128:4,L:B:m:W:L,A:16:4,8:0,32", "sectors", "differ", ""},
	{"-gpgpu_cache:dl2_texture_only 1", "sectors", "more", ""},
	{"l2.sectored=false", "sectors", "differ", "l2.write_miss=send-and-read"},
	{"l2.sets=4", "evict", ".L2 misses more", ""},
	{"l2.line=64", "sectors", "differ", "l2.sectored=false\nl2.write_miss=send-and-read\n-gpgpu_cache:dl1 none\nsimt.perfect_inst_const=true"},
	{"l2.ways=2", "evict", ".L2 misses more", ""},
	{"l2.replace=fifo", "evict", "differ", ""},
	{"l2.prefetcher=next-line", "rows", ".L2.Prefetch.Issued more", ""},
	{"l2.prefetcher=none", "rows", ".L2.Prefetch.Issued less", "l2.prefetcher=next-line"},
	{"l2.write=write-through", "dirty", ".DRAM.WriteBacks less", ""},
	{"l2.write=write-evict", "dirty", "differ", "l2.write=write-through\nl2.write_miss=send"},
	{"l2.allocate=on-fill", "rows", "differ", "l2.write=write-through\nl2.write_miss=send"},
	{"l2.write_miss=send", "dirty", "differ", ""},
	{"l2.write_miss=send-and-read", "dirty", ".DRAM.AllocReads more", ""},
	{"l2.write_miss=read-first", "partial", ".DRAM.AllocReads more", ""},
	{"l2.index=xor", "rows", "differ", ""},
	{"l2.index=ipoly", "rows", "differ", "l2.sets=16"},
	{"l2.index=fermi", "rows", "differ", "l2.sets=32"},
	{"l2.index=zero", "rows", ".L2 misses more", ""},
	{"l2.mshr=fifo", "", "refused texture cache", ""},
	{"l2.entries=2", "rows", "more", ""},
	{"l2.merge=1", "merge", "differ", ""},
	{"l2.miss_queue=3", "rows", "differ", ""},
	{"l2.port=8", "rows", ".L2.DataBusy more", ""},

	// DRAM.
	{"dram.preset=hbm2", "rows", "differ", ""},
	{"dram.preset=gddr6", "rows", "differ", "dram.preset=gddr5"},
	{"dram.preset=hbm3", "rows", "differ", "dram.preset=gddr5x"},
	{"-gpgpu_simple_dram_model 1", "rows", "less", ""},
	{"-gpgpu_dram_scheduler 0", "rows", "more", ""},
	{"-gpgpu_frfcfs_dram_sched_queue_size 1", "rows", "more", ""},
	{"-gpgpu_dram_sched_queue_size 1", "rows", "more", ""},
	{"-gpgpu_dram_return_queue_size 1", "rows", "differ", ""},
	{"-gpgpu_dram_buswidth 8", "rows", "differ", ""},
	{"-gpgpu_dram_burst_length 4", "rows", ".DRAM.Reads more", ""},
	{"-dram_data_command_freq_ratio 2", "rows", ".DRAM.DataCycles more", ""},
	{"-gpgpu_n_mem_per_ctrlr 2", "rows", "differ", ""},
	{"-dram_dual_bus_interface 1", "rows", "differ", ""},
	{"-dram_bnk_indexing_policy 1", "rows", "differ", ""},
	{"-dram_bnk_indexing_policy 2", "rows", "differ", ""},
	{"-dram_bnkgrp_indexing_policy 0", "rows", "differ", ""},
	{"-dram_elimnate_rw_turnaround 1", "rows", "less", ""},
	{"-dram_seperate_write_queue_enable 1", "dirty", "differ", "-dram_write_queue_size 8:6:3"},
	{"-dram_write_queue_size 16:6:3", "dirty.many", "differ", "-dram_write_queue_size 8:6:3\n-dram_seperate_write_queue_enable 1"},
	{"-dram_write_queue_size 8:4:3", "dirty", "differ", "-dram_write_queue_size 8:6:3\n-dram_seperate_write_queue_enable 1"},
	{"-dram_write_queue_size 8:6:1", "dirty", "differ", "-dram_write_queue_size 8:6:3\n-dram_seperate_write_queue_enable 1"},
	{"-gpgpu_dram_timing_opt 16:8:12:24:56:24:80:24:8:10:24:4:9:4", "rows", "more", ""},
	{"dram.timing.banks=8", "", "refused has 4 bank", ""},
	{"dram.timing.groups=1", "rows", "differ", ""},
	{"dram.timing.ccd=8", "rows", "more", ""},
	{"dram.timing.ccdl=12", "rows", "more", ""},
	{"dram.timing.rrd=30", "rows", "more", ""},
	{"dram.timing.rcd=30", "rows", "more", ""},
	{"dram.timing.ras=70", "rows", "more", ""},
	{"dram.timing.rp=30", "rows", "more", ""},
	{"dram.timing.rc=90", "rows", "more", ""},
	{"dram.timing.cl=30", "rows", "more", ""},
	{"dram.timing.wl=10", "rows", "differ", ""},
	{"dram.timing.cdlr=30", "rows", "more", ""},
	{"dram.timing.wr=60", "rows", "more", ""},
	{"dram.timing.rtpl=40", "rows", "more", ""},
	{"dram.timing.refi=500", "rows", ".DRAM.Refreshes more", "dram.timing.rfc=60"},
	{"dram.timing.rfc=120", "rows", "more", "dram.timing.rfc=60\ndram.timing.refi=500"},

	// Conditions of the run.
	{"-gpgpu_kernel_launch_latency 70", "empty.one", "by 50", perfect},
	{"-gpgpu_TB_launch_latency 5", "empty", "by 40", perfect}, // 8 blocks
	{"run.block_interval=500000", "empty", "more", perfect},
	{"run.block_turnaround=400", "empty", "more", perfect + "sm.blocks=1\n"},
	{"run.warp_turnaround=400", "empty", "more", perfect + "sm.blocks=1\n"},
	{"-gpgpu_perf_sim_memcpy 0", "reuse.twice", ".L2 misses more", ""},
	{"-gpgpu_flush_l1_cache 0", "reuse.twice", ".L1D misses less", ""},
	{"-gpgpu_flush_l2_cache 1", "partial.twice", "differ", ""},
	{"run.caches=warm", "reuse", "launch 0 start more", ""},
	{"run.icache=warm", "long", ".L1I misses less", ""},
	{"run.copies=timed", "empty.engines", "more", ""},
	{"link.to_device=1000", "empty.engines", "more", "run.copies=timed"},
	{"link.to_host=1000", "empty.engines", "more", "run.copies=timed"},
	{"link.peer=1000", "empty.peer", "more", ""},
	{"link.latency=50000", "empty.engines", "more", "run.copies=timed"},
	{"link.one_engine=true", "empty.engines", "more", "run.copies=timed"},
	{"link.dram_share=1", "empty.engines", "more", "run.copies=timed"},
	{"run.block_log=true", "empty", "logged blocks more", ""},
	{"-gpgpu_clock_gated_lanes 1", "short.printed", "gpgpu_n_tot_thrd_icount less", ""},
	{"-gpgpu_deadlock_detect 0", "hang", "end stuck limit", ""},
	{"-gpgpu_max_cycle 300", "long", "end done limit", ""},
	{"-gpgpu_max_insn 500", "long", "end done limit", ""},
	{"-gpgpu_max_cta 2", "long.many", "end done limit", ""},
	{"-gpgpu_max_completed_cta 2", "long.many", "end done limit", ""},
}

// networkEffects are the settings of a network file.
var networkEffects = []effect{
	{"net flit_size = 16;", "rows", "differ", mesh},
	{"net input_buffer_size = 5;", "rows", "differ", mesh},
	{"net ejection_buffer_size = 3;", "rows", "differ", mesh},
	{"net vc_buf_size = 2;", "rows", "more", mesh},
	{"net boundary_buffer_size = 1;", "rows", "differ", mesh + "l1d.port=8\n"},
	{"net topology = torus; routing_function = dim_order;", "rows", "differ", mesh},
	{"net k = 4; n = 2;", "rows", "differ", mesh},
	{"net n = 3; k = 2;", "rows", "differ", mesh},
	{"net num_vcs = 2;", "rows", "differ", mesh},
	{"net alloc_iters = 3;", "rows.many", "differ", mesh + "net num_vcs = 4;\n"},
	{"net credit_delay = 3;", "rows", "more", mesh + "net vc_buf_size = 4;\n"},
	{"net routing_delay = 3;", "rows", "more", mesh},
	{"net vc_alloc_delay = 3;", "rows", "more", mesh},
	{"net sw_alloc_delay = 3;", "rows", "more", mesh},
	{"net input_speedup = 2;", "rows", "differ", mesh + "net num_vcs = 2;\n"},
	{"net output_speedup = 2;", "rows", "differ", mesh + "net num_vcs = 4; internal_speedup = 1;\n"},
	{"net internal_speedup = 1;", "rows", "more", mesh},
	{"net vc_allocator = separable_input_first;", "rows", "differ", mesh + "net num_vcs = 4;\n"},
	{"net sw_allocator = separable_input_first;", "rows", "differ", mesh + "net num_vcs = 4;\n"},
	{"net wait_for_tail_credit = 1;", "rows", "more", mesh},
	{"net use_noc_latency = 0;", "rows", "less", mesh + "net topology = torus;\n"},
	{"net use_map = 0;", "rows", "differ", mesh},
}

const mesh = "-network_mode 1\n-inter_config_file x\nnet topology = mesh;\n"

// compatEffects switches behaviours of GPGPU-Sim off, one by one.
var compatEffects = []effect{
	{"compat.cache.miss_needs_two=false", "stream", "differ", ""},
	{"compat.cache.protect_written=false", "evict", "differ", "-gpgpu_l1_cache_write_ratio 20"},
	{"compat.cache.reindex_ways=false", "reuse.shrink", "differ", "-gpgpu_flush_l1_cache 0\nl1d.adaptive=true\nl1d.unified=40\nl1d.shared_sizes=0,8,32"},
	{"compat.cache.fill_by_way=false", "fences", "differ", ""},
	{"compat.cache.late_merge=false", "merge", "differ", ""},
	{"compat.cache.victim_slice=false", "dirty", "differ", "l1d.write=write-back"},
	{"compat.cache.mask_index=false", "stream", "differ", "l1d.sets=3"},
	{"compat.partition.cumulative_masks=false", "stream", "differ", "-gpgpu_coalesce_arch 20\nl2.write_miss=read-first\n" + lines},
	{"compat.partition.piece_addresses=false", "wide", "differ", ""},
	{"compat.partition.copy_truncates=false", "reuse.far", ".L2 misses less", ""},
	{"compat.partition.library_random=false", "rows", "differ", "partition.indexing=random"},
	{"compat.partition.flush_slices=false", "partial.twice", "differ", "run.caches=flushed"},
	{"compat.dram.column_behind_row=false", "rows", "differ", ""},
	{"compat.simt.oldest_blocks=false", "mix", "differ", "simt.sub_cores=true"},
	{"compat.simt.next_group_first=false", "mix", "differ", "simt.sub_cores=true"},
	{"compat.simt.retire_in_scan=false", "short.many", "differ", ""},
	{"compat.simt.highest_first=false", "rows", "differ", ""},
	{"compat.simt.word_per_lane=false", "cast", ".SM.SharedConflicts more", ""},
	{"compat.simt.fence_loads_only=false", "fences", "more", ""},
	{"compat.simt.atomics_block=false", "atomics.one", "less", ""},
	{"compat.simt.atomic_address_free=false", "counter.one", "differ", ""},
	{"compat.simt.name_banks=false", "names", "differ", ""},
	{"compat.chip.drain_between=false", "short", "less", "l1d.write_miss=send-and-read"},
	{"compat.chip.clocks_restart=false", "rows.twice", "differ", ""},
	{"compat.chip.rounded_clocks=false", "rows", "differ", ""},
	{"compat.chip.copies_back_fill=false", "reuse.twice", "differ", ""},
	{"compat.chip.flush_dirty_only=false", "dirty.twice", "differ", "run.caches=flushed"},
	{"compat.chip.taken_first=false", "branches", "differ", ""},
	{"compat.chip.packed_memory=false", "rows", "differ", ""},
}

// lines is an L1 that is filled by whole lines.
const lines = "-gpgpu_cache:dl1 N:4:128:4,L:T:m:N:L,S:8:4,8\n"

// perfect makes instruction fetches immediate, and the clocks tick together.
const perfect = "-gpgpu_perfect_inst_const_cache 1\n-gpgpu_clock_domains 1000:1000:1000:1000\n"

// times16 is a row for the latency or initiation of each kind of instruction.
func times16(what string, values map[string]int) []effect {
	var list []effect
	was := map[string]int{"int_add": 4, "int_max": 6, "int_mul": 8, "int_mad": 10, "int_div": 40, "int_shfl": 12,
		"fp_add": 5, "fp_max": 7, "fp_mul": 9, "fp_mad": 11, "fp_div": 50, "dp_add": 12, "dp_max": 14, "dp_mul": 16, "dp_mad": 18, "dp_div": 90}
	for _, op := range slices.Sorted(maps.Keys(values)) {
		e := effect{fmt.Sprintf("simt.%s.%s=%d", what, op, values[op]), "flood_" + op, "more", ""}
		if what == "latency" {
			e.on, e.want = "chain_"+op, fmt.Sprint("steps ", values[op]-was[op])
			e.with = perfect
		}
		list = append(list, e)
	}
	return list
}

// preferred is a row for each key of the cache that a launch may prefer: those
// of the plain L1, by a launch that prefers the other one.
func preferred(table, option, how string) []effect {
	fields := strings.Fields("sectored sets line ways replace write allocate write_miss index mshr entries merge miss_queue port")
	move := func(text string) string {
		for _, f := range fields {
			text = strings.ReplaceAll(text, "l1d."+f+"=", table+"."+f+"=")
		}
		return text
	}
	var list []effect
	for _, e := range plain {
		set := move(e.set)
		// With an adaptive L1 preferences have no effect.
		if set == e.set || strings.Contains(e.set, "\n") || strings.Contains(e.with, "l1d.adaptive") {
			continue
		}
		with := option + " S:4:128:4,L:T:m:L:L,A:8:4,8:0,32\n" + move(e.with)
		list = append(list, effect{set, strings.TrimPrefix(e.on+"."+how, "."+how), e.want, with})
	}
	return list
}

// collectors is a row for each size of each set of private collectors. One of each
// is compared with two, where registers and units are no limit.
func collectors() []effect {
	var list []effect
	for _, s := range []struct{ option, on string }{
		{"sp", "flood_fp_add"}, {"dp", "flood_dp_add"}, {"int", "flood_int_add"}, {"sfu", "flood_sfu"}, {"mem", "cast"}, {"tensor_core", "flood_tensor"},
	} {
		with := perfect + "-gpgpu_enable_specialized_operand_collector 1\n-gpgpu_num_reg_banks 64\n" +
			"-ptx_opcode_initiation_dp 1,1,1,1,1\n-ptx_opcode_initiation_sfu 1\n-ptx_opcode_initiation_tensor 1\n-gpgpu_inst_fetch_throughput 4\n"
		for _, t := range []string{"gen", "sp", "dp", "int", "sfu", "mem", "tensor_core"} {
			n := 4
			if s.option == "mem" && t == "mem" {
				with += "-gpgpu_mem_unit_ports 4\n"
			}
			if t == "gen" {
				n = 0
			}
			with += fmt.Sprintf("-gpgpu_operand_collector_num_units_%[1]s %[2]d\n-gpgpu_operand_collector_num_in_ports_%[1]s %[2]d\n-gpgpu_operand_collector_num_out_ports_%[1]s %[2]d\n", t, n)
		}
		for _, p := range []string{"units", "in_ports", "out_ports"} {
			list = append(list, effect{fmt.Sprintf("-gpgpu_operand_collector_num_%s_%s 1", p, s.option), s.on, "more", with})
		}
	}
	return list
}

// loadOf reads the name of a load: a kernel and, after dots, how it is launched.
func loadOf(name string) load {
	parts := strings.Split(name, ".")
	kernel := parts[0]
	l := load{kernel: kernel, blocks: 8, threads: 128}
	switch {
	case strings.HasPrefix(kernel, "chain_"):
		l.blocks, l.threads = 1, 32
	case strings.HasPrefix(kernel, "flood_"):
		l.blocks, l.threads = 4, 256
	case kernel == "hang":
		l.blocks = 1
	}
	for _, how := range parts[1:] {
		l.shape(how)
	}
	return l
}

// shape changes how a kernel is launched.
func (l *load) shape(how string) {
	switch how {
	case "one":
		l.blocks, l.threads = 1, 32
	case "many":
		l.blocks, l.threads = 40, 64
	case "twice": // with copies before each
		l.blocks, l.threads, l.launches, l.copies, l.back = 6, 96, 2, true, true
	case "streams":
		l.blocks, l.threads, l.launches, l.streams = 3, 64, 2, 3
	case "big": // blocks that need many resources
		l.blocks, l.registers, l.shared = 24, 63, 9000
	case "regs":
		l.blocks, l.registers = 24, 40
	case "some":
		l.shared = 4100
	case "engines":
		l.engines = true
	case "peer": // with a copy between chips
		l.peer = true
	case "printed":
		l.threads, l.printed = 50, true
	case "shrink": // the second without the shared memory of the first
		l.launches, l.shared, l.shrink = 2, 20_000, true
	case "far": // beyond the first 4 GiB
		l.launches, l.copies, l.far = 2, true, true
	case "huge": // a block that fits on no SM
		l.shared = 40_000
	case "none":
		l.prefer = gpu.PreferNone
	case "l1":
		l.prefer = gpu.PreferL1
	case "smem":
		l.prefer = gpu.PreferShared
	default:
		panic("no shape " + how)
	}
}

// felt returns what is wrong with the change of an outcome, "" if it is as
// expected.
//
//	differ          some number changes
//	more, less      the run takes more or fewer cycles
//	NAME more       the same for the counter of that name; NAME misses is a cache's
//	by N            the run takes N cycles more
//	steps N         each instruction of a chain takes N cycles more
//	end A B         the end was A and is now B
func felt(want string, before, after outcome) string {
	if rest, ok := strings.CutPrefix(want, "end "); ok {
		a, b, _ := strings.Cut(rest, " ")
		if strings.ReplaceAll(a, "done", "") != before.end || strings.ReplaceAll(b, "done", "") != after.end {
			return fmt.Sprintf("ended with %q and %q", before.end, after.end)
		}
		return ""
	}
	if before.end != "" || after.end != "" {
		return fmt.Sprintf("ended with %q and %q: %.300s", before.end, after.end, after.explains)
	}
	name, dir := "cycles", want
	if i := strings.LastIndexByte(want, ' '); i > 0 && !strings.HasPrefix(want, "by ") && !strings.HasPrefix(want, "steps ") {
		name, dir = want[:i], want[i+1:]
	}
	a, b := before.counter(name), after.counter(name)
	var n int64
	switch {
	case dir == "differ":
		if maps.Equal(before.numbers, after.numbers) {
			return "no number changes"
		}
		return ""
	case dir == "more" && b > a, dir == "less" && b < a:
		return ""
	case strings.HasPrefix(dir, "by "):
		fmt.Sscan(dir[3:], &n)
	case strings.HasPrefix(dir, "steps "):
		fmt.Sscan(dir[6:], &n)
		n *= chainLength
	}
	if n != 0 && int64(b)-int64(a) == n {
		return ""
	}
	return fmt.Sprintf("%s were %d and are %d", name, a, b)
}

// counter returns a number of a run.
func (o *outcome) counter(name string) uint64 {
	cache, ok := strings.CutSuffix(name, " misses")
	if !ok {
		return o.numbers[name]
	}
	var n uint64
	for k, v := range o.numbers {
		if strings.HasPrefix(k, cache+".Accesses[") && (strings.HasSuffix(k, "[2]") || strings.HasSuffix(k, "[3]")) {
			n += v
		}
	}
	return n
}

// TestEffects changes each setting and checks that it affects a kernel.
func TestEffects(t *testing.T) {
	seen := map[string]outcome{}
	for i, e := range effects {
		if i%24 != 0 && !alltests.On() {
			continue
		}
		t.Run(strings.ReplaceAll(e.set, "\n", " "), func(t *testing.T) {
			if want, ok := strings.CutPrefix(e.want, "refused"); ok {
				refused(t, e, strings.TrimSpace(want))
				return
			}
			run := func(lines string) outcome {
				if name, ok := strings.CutPrefix(e.on, "trace "); ok {
					return performTrace(t, base(t, lines), name)
				}
				return perform(t, base(t, lines), loadOf(e.on))
			}
			key := e.on + "\n" + e.with
			before, ok := seen[key]
			if !ok {
				before = run(e.with)
				seen[key] = before
			}
			if wrong := felt(e.want, before, run(e.with+"\n"+e.set)); wrong != "" {
				t.Errorf("%s: want %s: %s", e.on, e.want, wrong)
			}
		})
	}
}

// refused checks that a setting is refused with these words.
func refused(t *testing.T, e effect, words string) {
	t.Helper()
	g := base(t, e.with)
	err := g.Set(e.set)
	if err == nil {
		err = g.Check()
	}
	if err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("refused with %v, want %q", err, words)
	}
}

// sameWords are words of keys that are equivalent to other words, with the reason;
// GPGPU-Sim has them too.
var sameWords = map[string]string{
	"mshr sector-associative": "a cache sees by itself in how many pieces an answer comes, so it is as associative",
	"mshr sector-fifo":        "likewise, as fifo",
	"partition.indexing pae":  "GPGPU-Sim leaves it as consecutive",

	"modern.dependences scoreboard": "PTX has no control bits, so that hybrid means scoreboards",
}

// wordOf names a word of a key. All caches share one model, so a test of one of
// them covers the others.
func wordOf(key, word string) string {
	table, last := key[:max(0, strings.LastIndexByte(key, '.'))], key[strings.LastIndexByte(key, '.')+1:]
	if slices.Contains([]string{"l1d", "l1c", "l1t", "l1i", "l2", "l1d.prefer_l1", "l1d.prefer_shared"}, table) {
		key = last
	}
	if strings.HasPrefix(key, "modern.time.") {
		key = last // all classes have the same choice of pipes
	}
	return key + " " + strings.Trim(word, `"`)
}

// TestEverySettingIsTried checks that each option, each setting of a network file,
// each key and each word of a key is among the effects, except for keys on which no
// run depends.
func TestEverySettingIsTried(t *testing.T) {
	alltests.Only(t, "the list of settings that are tried")
	options, nets, keys, words := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	bases := map[string]*config.GPU{}
	for _, e := range effects {
		var after *config.GPU
		before := bases[e.with]
		if before == nil {
			before = base(t, e.with)
			bases[e.with] = before
		}
		if !strings.HasPrefix(e.want, "refused") {
			after = base(t, e.with+"\n"+e.set)
		} else if k, v, ok := strings.Cut(e.set, "="); ok {
			was, _ := before.Value(k)
			keys[k], words[wordOf(k, v)], words[wordOf(k, was)] = true, true, true
			continue
		}
		for line := range strings.SplitSeq(e.set, "\n") {
			name, _, _ := strings.Cut(line, " ")
			if options[name] = true; name == "net" {
				for s := range strings.SplitSeq(line[4:], ";") {
					n, _, _ := strings.Cut(s, "=")
					nets[strings.TrimSpace(n)] = true
				}
			}
		}
		var changed []string
		for _, k := range config.Keys() {
			a, _ := before.Value(k.Name)
			b, _ := after.Value(k.Name)
			if a != b {
				changed = append(changed, k.Name)
				words[wordOf(k.Name, a)], words[wordOf(k.Name, b)] = true, true
			}
		}
		if len(changed) == 1 {
			keys[changed[0]] = true
		} else if k, _, ok := strings.Cut(e.set, "="); ok && !strings.Contains(e.set, "\n") {
			keys[k] = keys[k] || slices.Contains(changed, k)
		}
	}
	for _, o := range config.OptionNames(config.Honoured) {
		inert := config.OptionIsInert(o)
		if options[o] == inert {
			t.Errorf("%s is tried: %v; no run depends on what it sets: %v", o, options[o], inert)
		}
	}
	for _, n := range config.NetworkNames() {
		if !nets[n] && !config.NetworkIsFixed(n) {
			t.Errorf("%s of a network file is not tried", n)
		}
	}
	for _, k := range config.Keys() {
		if keys[k.Name] == (k.Inert != "" || slices.Contains(notInPTX, k.Name)) {
			t.Errorf("%s is tried alone: %v; no run depends on it: %q", k.Name, keys[k.Name], k.Inert)
		}
		if k.Inert != "" || len(k.Enum) == 0 {
			continue
		}
		for _, w := range k.Enum {
			if !words[wordOf(k.Name, w)] && sameWords[wordOf(k.Name, w)] == "" {
				t.Errorf("%s = %s is not tried", k.Name, w)
			}
		}
	}
}
