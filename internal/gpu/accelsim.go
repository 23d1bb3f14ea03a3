package gpu

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/mem/dram"
	"github.com/heddle-sim/heddle/internal/mem/noc"
)

// This file: the counters under GPGPU-Sim's names and in its format, so that
// scripts made for its output can read ours. Every name has the same meaning as
// there; where GPGPU-Sim prints 0 because it never counts something, so do we. All
// figures except those of the launch itself are running totals, as there.

// simText writes lines of the output.
type simText struct{ bytes.Buffer }

func (s *simText) f(format string, a ...any) { fmt.Fprintf(&s.Buffer, format, a...) }

// quot writes a quotient; a NaN looks as in C's library.
func quot(format string, a, b float64) string {
	switch {
	case b == 0 && a == 0:
		return "-nan"
	case b == 0:
		return "inf"
	}
	return fmt.Sprintf(format, a/b)
}

func quotU(format string, a, b uint64) string { return quot(format, float64(a), float64(b)) }

// quot32 is quotU in single precision, as GPGPU-Sim divides its DRAM counters; this
// shows in the last digits.
func quot32(format string, a, b uint64) string {
	if b == 0 {
		return quotU(format, a, b)
	}
	return fmt.Sprintf(format, float32(a)/float32(b))
}

// WriteAccelSim writes the counters after kernel k, launch number uid from 1,
// has ended. Elapsed is the time on the host since the start.
func (g *GPU) WriteAccelSim(w io.Writer, k *Kernel, uid int, stream int64, elapsed time.Duration) error {
	s := &simText{}
	tot := g.Totals()
	cycles, total := k.Cycles(), k.End
	hz := float64(g.cfg.Clocks.Core)
	seconds := uint64(max(1, elapsed/time.Second))

	s.f("kernel_name = %s \nkernel_launch_uid = %d \nkernel_stream_id = %d\n", k.Name, uid, stream)
	s.f("gpu_sim_cycle = %d\ngpu_sim_insn = %d\ngpu_ipc = %s\n", cycles, k.ThreadInsts, quotU("%12.4f", k.ThreadInsts, cycles))
	s.f("gpu_tot_sim_cycle = %d\ngpu_tot_sim_insn = %d\ngpu_tot_ipc = %s\n", total, tot.SM.ThreadInsts, quotU("%12.4f", tot.SM.ThreadInsts, total))
	s.f("gpu_tot_issued_cta = %d\n", tot.SM.BlocksLaunched)
	slots := uint64(g.cfg.Warps())
	s.f("gpu_occupancy = %s%% \ngpu_tot_occupancy = %s%% \n", quotU("%.4f", 100*k.SM.WarpCycles, slots*k.SM.Cycles), quotU("%.4f", 100*tot.SM.WarpCycles, slots*tot.SM.Cycles))
	s.f("max_total_param_size = 0\n") // of kernels launched by kernels: there are none
	s.f("gpu_stall_dramfull = %d\ngpu_stall_icnt2sh    = %d\n", tot.Chip.DRAMFull, tot.Chip.NetFull)
	s.f("partiton_level_parallism = %s\n", quotU("%12.4f", k.Slice.Packets, cycles))
	s.f("partiton_level_parallism_total  = %s\n", quotU("%12.4f", tot.Slice.Packets, total))
	s.f("partiton_level_parallism_util = %s\n", quotU("%12.4f", k.Slice.Packets, k.Chip.EnterCycles))
	s.f("partiton_level_parallism_util_total  = %s\n", quotU("%12.4f", tot.Slice.Packets, tot.Chip.EnterCycles))
	s.f("L2_BW  = %s GB/Sec\n", quot("%12.4f", mem.SectorBytes*float64(k.Slice.Replies)*hz/1e9, float64(cycles)))
	s.f("L2_BW_total  = %s GB/Sec\n", quot("%12.4f", mem.SectorBytes*float64(tot.Slice.Replies)*hz/1e9, float64(total)))
	s.f("gpu_total_sim_rate=%d\n\n", tot.SM.ThreadInsts/seconds)

	g.simCoreCaches(s, &tot)
	g.simCores(s, &tot)
	g.simTraffic(s, &tot)
	g.simTimes(s, &tot)
	g.simBanks(s)
	for ch := range g.mem.Parts.Channels() {
		g.simChannel(s, ch)
	}
	g.simL2(s, &tot)
	s.f("icnt_total_pkts_mem_to_simt=%d\nicnt_total_pkts_simt_to_mem=%d\n", tot.Reply.Flits, tot.Request.Flits)
	none := strings.Repeat(" 0", 27)
	s.f("LD_mem_lat_dist %s\nST_mem_lat_dist %s\n", none, none)
	g.simNetwork(s, &tot)

	d := elapsed / time.Second
	s.f("\n\ngpgpu_simulation_time = %d days, %d hrs, %d min, %d sec (%d sec)\n", d/86400, d/3600%24, d/60%60, d%60, d)
	s.f("gpgpu_simulation_rate = %d (inst/sec)\ngpgpu_simulation_rate = %d (cycle/sec)\n", tot.SM.ThreadInsts/seconds, total/seconds)
	s.f("gpgpu_silicon_slowdown = %dx\n", uint64(hz)/max(1, total/seconds))
	_, err := w.Write(s.Bytes())
	return err
}

// statusOrder is the order in which outcomes are printed.
var statusOrder = [...]cache.Status{cache.Hit, cache.HitReserved, cache.Miss, cache.Fail, cache.SectorMiss, cache.MSHRHit}

// simBreakdown prints a cache's outcomes by kind of request.
func simBreakdown(s *simText, name string, st *cache.Stats) {
	for k := range mem.Kinds {
		for _, o := range statusOrder {
			s.f("\t%s[%v][%v] = %d\n", name, k, o, st.Accesses[k][o])
		}
	}
	for k := range mem.Kinds {
		a := &st.Accesses[k]
		if n := a[cache.Hit] + a[cache.HitReserved] + a[cache.Miss] + a[cache.SectorMiss]; n > 0 {
			s.f("\t%s[%v][TOTAL_ACCESS] = %d\n", name, k, n)
		}
	}
}

// simFails prints the reasons of refused accesses.
func simFails(s *simText, name string, st *cache.Stats) {
	for k := range mem.Kinds {
		for r := range cache.FailReasons {
			if n := st.Fails[k][r]; n > 0 {
				s.f("\t%s[%v][%v] = %d\n", name, k, r, n)
			}
		}
	}
}

// simCache prints the sums of a level. Without rate, the miss rate is left out if
// there was no access.
func simCache(s *simText, name, indent string, st *cache.Stats, rate bool) {
	s.f("%s%s_total_cache_accesses = %d\n%s%s_total_cache_misses = %d\n", indent, name, st.Total(), indent, name, st.Misses())
	if rate || st.Total() > 0 {
		s.f("%s%s_total_cache_miss_rate = %s\n", indent, name, quotU("%.4f", st.Misses(), st.Total()))
	}
	s.f("%s%s_total_cache_pending_hits = %d\n%s%s_total_cache_reservation_fails = %d\n", indent, name, st.Of(cache.HitReserved), indent, name, st.Of(cache.Fail))
}

// simOne prints the line of one cache.
func simOne(s *simText, name string, i int, st *cache.Stats) {
	s.f("%s[%d]: Access = %d, Miss = %d, Miss_rate = %s, Pending_hits = %d, Reservation_fails = %d\n",
		name, i, st.Total(), st.Misses(), quotU("%.3f", st.Misses(), st.Total()), st.Of(cache.HitReserved), st.Of(cache.Fail))
}

// simCoreCaches prints the SMs' caches.
func (g *GPU) simCoreCaches(s *simText, tot *Counters) {
	s.f("\n========= Core cache stats =========\nL1I_cache:\n")
	simCache(s, "L1I", "\t", &tot.L1I, false)
	s.f("L1D_cache:\n")
	for c := range g.cfg.Clusters {
		var st cache.Stats
		for i := range g.cfg.SMsPerCluster {
			if d := g.cores[c*g.cfg.SMsPerCluster+i].L1D(); d != nil {
				st.Add(&d.Stats)
			}
		}
		s.f("\t")
		simOne(s, "L1D_cache_core", c, &st)
	}
	simCache(s, "L1D", "\t", &tot.L1D, false)
	s.f("\tL1D_cache_data_port_util = %s\n", quotU("%.3f", tot.L1D.DataBusy, tot.L1D.Cycles))
	s.f("\tL1D_cache_fill_port_util = %s\n", quotU("%.3f", tot.L1D.FillBusy, tot.L1D.Cycles))
	s.f("L1C_cache:\n")
	simCache(s, "L1C", "\t", &tot.L1C, false)
	s.f("L1T_cache:\n")
	simCache(s, "L1T", "\t", &tot.L1T, false)
	var all cache.Stats
	for _, c := range []*cache.Stats{&tot.L1D, &tot.L1C, &tot.L1T, &tot.L1I} {
		all.Add(c)
	}
	s.f("\nTotal_core_cache_stats:\n")
	simBreakdown(s, "Total_core_cache_stats_breakdown", &all)
	s.f("\nTotal_core_cache_fail_stats:\n")
	simFails(s, "Total_core_cache_fail_stats_breakdown", &all)
}

// simCores prints the SMs' other counters.
func (g *GPU) simCores(s *simText, tot *Counters) {
	sm := &tot.SM
	var terms core.Terms
	if tot.Own != nil {
		terms = tot.Own.Terms(sm)
	}
	lanes := 32 * terms.Completed
	if g.cfg.GatedLanes {
		lanes = terms.CompletedLanes
	}
	s.f("ctas_completed %d, Shader 0 warp_id issue ditsribution:\nwarp_id:\n", sm.BlocksDone)
	per := g.cores[0].Count().PerWarp
	for len(per) > 0 && per[len(per)-1] == 0 {
		per = per[:len(per)-1] // slots that were never used are not shown
	}
	for i := range per {
		s.f("%d, ", i)
	}
	s.f("\ndistro:\n")
	for _, n := range per {
		s.f("%d, ", n)
	}
	for _, c := range []struct {
		name string
		n    uint64
	}{
		{"\ngpgpu_n_tot_thrd_icount", lanes},
		{"gpgpu_n_tot_w_icount", terms.Completed},
		{"gpgpu_n_stall_shd_mem", terms.StallCycles},
		{"gpgpu_n_mem_read_local", sm.Packets[mem.LocalRead]},
		{"gpgpu_n_mem_write_local", sm.Packets[mem.LocalWrite]},
		{"gpgpu_n_mem_read_global", sm.Packets[mem.GlobalRead]},
		{"gpgpu_n_mem_write_global", sm.Packets[mem.GlobalWrite] + sm.Packets[mem.L1WriteBack]},
		{"gpgpu_n_mem_texture", sm.Packets[mem.TexRead]},
		{"gpgpu_n_mem_const", sm.Packets[mem.ConstRead]},
		{"gpgpu_n_load_insn ", sm.LoadInsts},
		{"gpgpu_n_store_insn", sm.StoreInsts},
		{"gpgpu_n_shmem_insn", sm.SharedInsts},
		{"gpgpu_n_sstarr_insn", 0}, // never counted there either
		{"gpgpu_n_tex_insn", sm.TextureInsts},
		{"gpgpu_n_const_mem_insn", sm.ConstInsts},
		{"gpgpu_n_param_mem_insn", sm.ParamInsts},
		{"gpgpu_n_shmem_bkconflict", sm.SharedConflicts},
		{"gpgpu_n_l1cache_bkconflict", sm.L1Conflicts},
		{"gpgpu_n_intrawarp_mshr_merge", 0}, // never counted there either
		{"gpgpu_n_cmem_portconflict", terms.ConstConflicts},
		{"gpgpu_stall_shd_mem[c_mem][resource_stall]", terms.ConstStalls},
		{"gpgpu_stall_shd_mem[s_mem][bk_conf]", terms.SharedStalls},
		{"gpgpu_stall_shd_mem[gl_mem][resource_stall]", terms.GlobalStalls},
		{"gpgpu_stall_shd_mem[gl_mem][coal_stall]", terms.CoalStalls},
		{"gpgpu_stall_shd_mem[gl_mem][data_port_stall]", terms.PortFull},
		{"gpu_reg_bank_conflict_stalls", 0}, // never counted there either
	} {
		s.f("%s = %d\n", c.name, c.n)
	}
	s.f("Warp Occupancy Distribution:\nStall:%d\tW0_Idle:%d\tW0_Scoreboard:%d", sm.Lanes[0]+terms.Stalled, terms.Idle, terms.Waiting)
	for n := 1; n <= 32; n++ {
		s.f("\tW%d:%d", n, sm.Lanes[n])
	}
	for i, name := range []string{"single_issue_nums", "dual_issue_nums"} {
		s.f("\n%s: ", name)
		for k, n := range terms.Issues {
			s.f("WS%d:%d\t", k, n[i])
		}
	}
	s.f("\n")
}

// simTraffic prints the packets between SMs and partitions by their sizes.
func (g *GPU) simTraffic(s *simText, tot *Counters) {
	for _, d := range []struct {
		name string
		by   *[mem.Kinds + 1][core.PacketSizes]uint64
	}{{"coretomem", &tot.SM.SentSizes}, {"memtocore", &tot.SM.ReplySizes}} {
		for k := range d.by {
			name := "GLOBAL_ATOMIC"
			if k != core.AtomicPackets {
				name = mem.Kind(k).String()
			}
			var list strings.Builder
			var bytes uint64
			for i, n := range d.by[k] {
				if n > 0 {
					size := uint64(mem.ControlSize + i*mem.SectorBytes)
					bytes += size * n
					fmt.Fprintf(&list, "%d:%d,", size, n)
				}
			}
			if bytes > 0 {
				s.f("traffic_breakdown_%s[%s] = %d {%s} \n", d.name, name, bytes, list.String())
			}
		}
	}
}

// simTimes prints the latencies of requests.
func (g *GPU) simTimes(s *simText, tot *Counters) {
	t := &g.mem.Times
	t.Settle(g.now)
	s.f("maxmflatency = %d \nmax_icnt2mem_latency = %d \nmaxmrqlatency = %d \nmax_icnt2sh_latency = %d \n",
		t.All.Max, t.ToMem.Max, tot.DRAM.WaitMax, t.ToSM.Max)
	for _, m := range []struct {
		name   string
		sum, n uint64
	}{
		{"averagemflatency", t.ClosedSum, t.Closed}, {"avg_icnt2mem_latency", t.ToMem.Sum, t.Closed},
		{"avg_mrq_latency", tot.DRAM.WaitSum, tot.DRAM.Scheduled}, {"avg_icnt2sh_latency", t.ToSM.Sum, t.Closed},
	} {
		if m.n > 0 {
			s.f("%s = %d \n", m.name, m.sum/m.n)
		}
	}
	table := func(name string, v []uint64) {
		s.f("%s:", name)
		for _, n := range v {
			s.f("%d \t", n)
		}
		s.f("\n")
	}
	table("mrq_lat_table", tot.DRAM.WaitLog2[:32])
	table("dq_lat_table", make([]uint64, 32)) // never counted there either
	table("mf_lat_table", t.All.Log[:])
	table("icnt2mem_lat_table", t.ToMem.Log[:24])
	table("icnt2sh_lat_table", t.ToSM.Log[:24])
	table("mf_lat_pw_table", t.Windows[:])
	t.Restart(g.now)
}

// simBanks prints the tables with a column for each bank of the DRAM.
func (g *GPU) simBanks(s *simText) {
	channels, banks := g.mem.Parts.Channels(), g.cfg.Mem.DRAM.Banks
	table := func(name string, cell func(ch, b int) string) {
		s.f("%s:\n", name)
		for ch := range channels {
			s.f("dram[%d]: ", ch)
			for b := range banks {
				s.f("%9s ", cell(ch, b))
			}
			s.f("\n")
		}
	}
	count := func(f func(b *dram.BankStats) uint64) func(ch, b int) string {
		return func(ch, b int) string {
			x := g.bank(ch, b)
			return fmt.Sprint(f(&x))
		}
	}
	// Here a row is activated when a run of requests to it begins that does not
	// find it open.
	table("maximum concurrent accesses to same row", count(func(b *dram.BankStats) uint64 { return b.RowUsesMax }))
	table("maximum service time to same row", count(func(b *dram.BankStats) uint64 { return b.RowSpanMax }))
	var uses, rows uint64
	table("average row accesses per activate", func(ch, b int) string {
		x := g.bank(ch, b)
		uses += x.Requests
		rows += x.Requests - x.RowHits
		return quot32("%f", x.Requests, x.Requests-x.RowHits)
	})
	s.f("average row locality = %d/%d = %s\n", uses, rows, quot32("%f", uses, rows))
	both := func(b *dram.BankStats) uint64 { return b.Reads + b.Writes }
	table("number of total memory accesses made", count(both))
	g.simSums(s, "total accesses: ", both)
	reads := func(b *dram.BankStats) uint64 { return b.Reads }
	table("number of total read accesses", count(reads))
	g.simSums(s, "total dram reads = ", reads)
	writes := func(b *dram.BankStats) uint64 { return b.Writes }
	table("number of total write accesses", count(writes))
	g.simSums(s, "total dram writes = ", writes)
	table("average mf latency per bank", func(ch, b int) string {
		x := g.bank(ch, b)
		if n := both(&x); n > 0 {
			sum, _ := g.mem.Times.Bank(ch*banks + b)
			return fmt.Sprint(sum / n)
		}
		return "none  "
	})
	table("maximum mf latency per bank", func(ch, b int) string {
		_, most := g.mem.Times.Bank(ch*banks + b)
		return fmt.Sprint(most)
	})
}

// bank returns the counters of a bank; they are zero if the DRAM has none.
func (g *GPU) bank(ch, b int) dram.BankStats {
	if d := g.mem.Parts.DRAM(ch); d != nil {
		return d.Bank(b)
	}
	return dram.BankStats{}
}

// simSums prints a total, and the minimum and maximum of banks and chips.
func (g *GPU) simSums(s *simText, name string, count func(b *dram.BankStats) uint64) {
	var total uint64
	bank, chip := [2]uint64{^uint64(0), 0}, [2]uint64{^uint64(0), 0}
	for ch := range g.mem.Parts.Channels() {
		var sum uint64
		for b := range g.cfg.Mem.DRAM.Banks {
			x := g.bank(ch, b)
			n := count(&x)
			sum += n
			bank[0], bank[1] = min(bank[0], n), max(bank[1], n)
		}
		total += sum
		chip[0], chip[1] = min(chip[0], sum), max(chip[1], sum)
	}
	s.f("%s%d\n", name, total)
	for _, x := range []struct {
		name string
		v    [2]uint64
	}{{"bank", bank}, {"chip", chip}} {
		if x.v[0] == 0 {
			s.f("min_%s_accesses = 0!\n", x.name)
		} else {
			s.f("%s skew: %d/%d = %s\n", x.name, x.v[1], x.v[0], quotU("%.2f", x.v[1], x.v[0]))
		}
	}
}

// simChannel prints a memory partition's DRAM.
func (g *GPU) simChannel(s *simText, ch int) {
	o := g.mem.Parts.Occupancy(ch * g.cfg.Mem.Subs)
	s.f("\nMemory Partition %d: \n", ch)
	s.f("In Dram Latency Queue (total = %d): \n", o.Latency)
	dev := g.mem.Parts.DRAM(ch)
	if dev == nil {
		return
	}
	c, d := dev.Config(), dev.Stats()
	s.f("DRAM[%d]: %d bks, busW=%d BL=%d CL=%d, tRRD=%d tCCD=%d, tRCD=%d tRAS=%d tRP=%d tRC=%d\n",
		ch, c.Banks, c.BusBytes, c.BurstLength, c.CL, c.RRD, c.CCD, c.RCD, c.RAS, c.RP, c.RC)
	s.f("n_cmd=%d n_nop=%d n_act=%d n_pre=%d n_ref_event=%d n_req=%d n_rd=%d n_rd_L2_A=%d n_write=%d n_wr_bk=%d bw_util=%s\n",
		d.Cycles, d.Idle, d.Activates, d.Precharges, d.Refreshes, d.Requests, d.Reads, d.AllocReads, d.Writes, d.WriteBacks, quotU("%.4g", d.DataCycles, d.Cycles))
	s.f("n_activity=%d dram_eff=%s\n", d.Active, quotU("%.4g", d.DataCycles, d.Active))
	for b := range c.Banks {
		x := dev.Bank(b)
		s.f("bk%d: %da %di ", b, x.Reads, d.Cycles-min(d.Cycles, x.Busy))
	}
	s.f("\n\n------------------------------------------------------------------------\n\n")
	for _, q := range []struct {
		name string
		a, b uint64
	}{
		{"Row_Buffer_Locality", d.RowHits, d.Scheduled},
		{"Row_Buffer_Locality_read", d.ReadRowHits, d.ReadScheduled},
		{"Row_Buffer_Locality_write", d.WriteRowHits, d.Scheduled - d.ReadScheduled},
		{"Bank_Level_Parallism", d.BanksBusy, d.BanksBusyCycles},
		{"Bank_Level_Parallism_Col", d.BanksOpen, d.BanksOpenCycles},
		{"Bank_Level_Parallism_Ready", d.BanksReady, d.BanksReadyCycles},
	} {
		s.f("%s = %s\n", q.name, quot32("%.6f", q.a, q.b))
	}
	s.f("write_to_read_ratio_blp_rw_average = %s\n", quot("%.6f", float64(d.OpenWriteShare)/(1<<32), float64(d.BanksOpenCycles)))
	s.f("GrpLevelPara = %s \n\n", quot32("%.6f", d.GroupsOpen, d.BanksOpenCycles))
	count := func(name string, n uint64) { s.f("%s = %d \n", name, n) }
	s.f("BW Util details:\nbwutil = %s \n", quotU("%.6f", d.DataCycles, d.Cycles))
	count("total_CMD", d.Cycles)
	count("util_bw", d.Used)
	count("Wasted_Col", d.LostColumn)
	count("Wasted_Row", d.LostRow)
	count("Idle", d.NoWork)
	s.f("\nBW Util Bottlenecks: \n")
	h := &d.Held
	count("RCDc_limit", h.RCD)
	count("RCDWRc_limit", h.RCDWR)
	count("WTRc_limit", h.WTR)
	count("RTWc_limit", h.RTW)
	count("CCDLc_limit", h.CCDL)
	count("rwq", h.Pins)
	count("CCDLc_limit_alone", h.CCDLAlone)
	count("WTRc_limit_alone", h.WTRAlone)
	count("RTWc_limit_alone", h.RTWAlone)
	s.f("\nCommands details: \n")
	count("total_CMD", d.Cycles)
	count("n_nop", d.Idle)
	count("Read", d.Reads)
	count("Write", d.Writes)
	count("L2_Alloc", d.AllocReads)
	count("L2_WB", d.WriteBacks)
	count("n_act", d.Activates)
	count("n_pre", d.Precharges)
	count("n_ref", d.Refreshes)
	count("n_req", d.Requests)
	count("total_req", d.Reads+d.Writes+d.AllocReads+d.WriteBacks)
	s.f("\nDual Bus Interface Util: \n")
	count("issued_total_row", d.Rows)
	count("issued_total_col", d.Columns)
	either := d.Rows + d.Columns - d.DoubleIssue
	s.f("Row_Bus_Util =  %s \nCoL_Bus_Util = %s \nEither_Row_CoL_Bus_Util = %s \n", quotU("%.6f", d.Rows, d.Cycles), quotU("%.6f", d.Columns, d.Cycles), quotU("%.6f", either, d.Cycles))
	s.f("Issued_on_Two_Bus_Simul_Util = %s \nissued_two_Eff = %s \nqueue_avg = %s \n\n\n",
		quot32("%.6f", d.DoubleIssue, d.Cycles), quotU("%.6f", d.DoubleIssue, either), quot32("%.6f", d.QueueSum, d.Cycles))
	bins := strings.Repeat(" 0", 10) // never counted there either
	s.f("dram_util_bins:%s\ndram_eff_bins:%s\nmrqq: max=%d avg=%s\n", bins, bins, d.QueueMax, quot32("%.6g", d.QueueSum, d.Cycles))
}

// simL2 prints the L2 slices.
func (g *GPU) simL2(s *simText, tot *Counters) {
	s.f("\n========= L2 cache stats =========\n")
	for i := range g.mem.Parts.Subs() {
		st := g.mem.Parts.L2Stats(i)
		if st == nil {
			st = &cache.Stats{}
		}
		simOne(s, "L2_cache_bank", i, st)
	}
	simCache(s, "L2", "", &tot.L2, false)
	s.f("L2_total_cache_breakdown:\n")
	simBreakdown(s, "L2_cache_stats_breakdown", &tot.L2)
	s.f("L2_total_cache_reservation_fail_breakdown:\n")
	simFails(s, "L2_cache_stats_fail_breakdown", &tot.L2)
	s.f("L2_cache_data_port_util = %s\nL2_cache_fill_port_util = %s\n\n", quotU("%.3f", tot.L2.DataBusy, tot.L2.Cycles), quotU("%.3f", tot.L2.FillBusy, tot.L2.Cycles))
}

// simNetwork prints the network, in the format of the local crossbar or of BookSim.
func (g *GPU) simNetwork(s *simText, tot *Counters) {
	s.f("----------------------------Interconnect-DETAILS--------------------------------\n")
	if g.cfg.Net.Kind != noc.Local {
		g.simRouters(s)
	} else {
		for _, n := range []struct {
			name    string
			st      *noc.Stats
			in, out int
		}{{"Req", &tot.Request, g.cfg.Clusters, g.cfg.Slices()}, {"Reply", &tot.Reply, g.cfg.Slices(), g.cfg.Clusters}} {
			st := n.st
			s.f("%s_Network_injected_packets_num = %d\n%s_Network_cycles = %d\n", n.name, st.Packets, n.name, st.Cycles)
			for _, q := range []struct {
				name string
				a, b uint64
			}{
				{"Network_injected_packets_per_cycle", st.Packets, st.Cycles},
				{"Network_conflicts_per_cycle", st.Conflicts, st.Cycles},
				{"Network_conflicts_per_cycle_util", st.Conflicts, st.Active},
				{"Bank_Level_Parallism", st.Moved, st.Active},
				{"Network_in_buffer_full_per_cycle", st.InFull, st.Cycles},
				{"Network_in_buffer_avg_util", st.InFill, st.Cycles * uint64(n.in)},
				{"Network_out_buffer_full_per_cycle", st.OutFull, st.Cycles},
				{"Network_out_buffer_avg_util", st.OutFill, st.Cycles * uint64(n.out)},
			} {
				s.f("%s_%s = %s\n", n.name, q.name, quotU("%12.4f", q.a, q.b))
			}
			s.f("\n")
		}
	}
	s.f("----------------------------END-of-Interconnect-DETAILS-------------------------\n")
}

// netSample has the figures of both subnets of a network with routers together
// during one launch: mean, minimum and maximum of each.
type netSample struct {
	latency, rate [4][3]float64
	at            [4][2]int // the nodes of the minimum and the maximum rate
	hops          float64
}

// latencies and rates name the figures of a sample in its order.
var latencies = [4]string{"Packet latency", "Network latency", "Flit latency", "Fragmentation"}

var rates = [4]struct {
	name  string
	value func(g *GPU, node int) uint64
}{
	{"Injected packet rate", func(g *GPU, n int) uint64 { return g.sentBy(n).Packets }},
	{"Accepted packet rate", func(g *GPU, n int) uint64 { return g.gotBy(n).Packets }},
	{"Injected flit rate", func(g *GPU, n int) uint64 { return g.sentBy(n).Flits }},
	{"Accepted flit rate", func(g *GPU, n int) uint64 { return g.gotBy(n).Flits }},
}

// nodes returns the number of nodes of a network with routers: the clusters, then the
// slices.
func (g *GPU) nodes() int { return g.cfg.Clusters + g.cfg.Slices() }

// sentBy is what a node has sent during this launch, gotBy what it has received.
func (g *GPU) sentBy(node int) noc.Traffic {
	if c := g.cfg.Clusters; node >= c {
		return g.mem.Replies.In[node-c].Less(g.routed.before(node).sent)
	}
	return g.mem.Requests.In[node].Less(g.routed.before(node).sent)
}

func (g *GPU) gotBy(node int) noc.Traffic {
	if c := g.cfg.Clusters; node >= c {
		return g.mem.Requests.Out[node-c].Less(g.routed.before(node).got)
	}
	return g.mem.Replies.Out[node].Less(g.routed.before(node).got)
}

// nodeTraffic is what a node had sent and received by the end of a launch.
type nodeTraffic struct{ sent, got noc.Traffic }

// before returns what a node had sent and received before this launch.
func (t *netTotals) before(node int) nodeTraffic {
	if t.nodes == nil {
		return nodeTraffic{}
	}
	return t.nodes[node]
}

// sample returns the figures of this launch.
func (g *GPU) sample() (x netSample) {
	a, b := &g.mem.Requests.Latency, &g.mem.Replies.Latency
	packets, flits := a.Packets+b.Packets, a.Flits+b.Flits
	low := func(x, y, nx, ny uint64) uint64 {
		switch {
		case nx == 0:
			return y
		case ny == 0:
			return x
		}
		return min(x, y)
	}
	for i, l := range []struct{ sum, n, min, max uint64 }{
		{a.Sum + b.Sum, packets, low(a.Min, b.Min, a.Packets, b.Packets), max(a.Max, b.Max)},
		{a.NetSum + b.NetSum, packets, low(a.NetMin, b.NetMin, a.Packets, b.Packets), max(a.NetMax, b.NetMax)},
		{a.FlitSum + b.FlitSum, flits, low(a.FlitMin, b.FlitMin, a.Flits, b.Flits), max(a.FlitMax, b.FlitMax)},
		{a.GapSum + b.GapSum, packets, low(a.GapMin, b.GapMin, a.Packets, b.Packets), max(a.GapMax, b.GapMax)},
	} {
		x.latency[i] = [3]float64{mean(l.sum, l.n), float64(l.min), float64(l.max)}
	}
	x.hops = mean(a.Hops+b.Hops, packets)
	cycles, nodes := float64(g.mem.Requests.Stats.Cycles-g.routed.cycles), g.nodes()
	for i, r := range rates {
		sum, lo, hi := uint64(0), 0, 0
		for n := range nodes {
			v := r.value(g, n)
			sum += v
			if v < r.value(g, lo) {
				lo = n
			}
			if v > r.value(g, hi) {
				hi = n
			}
		}
		x.rate[i] = [3]float64{float64(sum) / (cycles * float64(nodes)), float64(r.value(g, lo)) / cycles, float64(r.value(g, hi)) / cycles}
		x.at[i] = [2]int{lo, hi}
	}
	return x
}

func mean(sum, n uint64) float64 { return float64(sum) / float64(n) }

// three writes a mean, a minimum and a maximum, each with its tail.
func (s *simText) three(name, eq string, v [3]float64, tails [3]string) {
	s.f("%s average%s%s%s\n\tminimum = %s%s\n\tmaximum = %s%s\n", name, eq, number(v[0]), tails[0], number(v[1]), tails[1], number(v[2]), tails[2])
}

// simRouters prints both subnets of a network with routers together. The first part is
// of this launch alone, the second the mean of all launches, with equal weights.
func (g *GPU) simRouters(s *simText) {
	a, b := &g.mem.Requests.Latency, &g.mem.Replies.Latency
	slowest := a.Slowest
	if b.Max > a.Max {
		slowest = b.Slowest
	}
	var sent, got noc.Traffic
	for n := range g.nodes() {
		in, out := g.sentBy(n), g.gotBy(n)
		sent.Packets += in.Packets
		sent.Flits += in.Flits
		got.Packets += out.Packets
		got.Flits += out.Flits
	}
	x := g.sample()
	s.f("Class 0:\n")
	for i, v := range x.latency {
		s.three(latencies[i], " = ", v, [3]string{})
		switch i {
		case 1:
			s.f("Slowest packet = %d\n", slowest)
		case 2:
			s.f("Slowest flit = %d\n", slowest)
		}
	}
	for i, v := range x.rate {
		eq := " = "
		if i == 3 {
			eq = "= "
		}
		s.three(rates[i].name, eq, v, [3]string{"", fmt.Sprintf(" (at node %d)", x.at[i][0]), fmt.Sprintf(" (at node %d)", x.at[i][1])})
	}
	s.f("Injected packet length average = %s\nAccepted packet length average = %s\n", number(mean(sent.Flits, sent.Packets)), number(mean(got.Flits, got.Packets)))
	s.f("Total in-flight flits = %d (0 measured)\n", g.routed.sent+sent.Flits-g.routed.got-got.Flits)

	all := &g.routed
	all.add(&x)
	all.write(s)

	// The next launch starts a new sample.
	all.cycles = g.mem.Requests.Stats.Cycles
	all.sent += sent.Flits
	all.got += got.Flits
	g.mem.Requests.NewSample()
	g.mem.Replies.NewSample()
	now := make([]nodeTraffic, g.nodes())
	for n := range now {
		was, sent, got := all.before(n), g.sentBy(n), g.gotBy(n)
		now[n] = nodeTraffic{was.sent.Plus(sent), was.got.Plus(got)}
	}
	all.nodes = now
}

// number writes a number with six digits; a NaN looks as in C's library.
func number(v float64) string {
	if v != v {
		return "-nan"
	}
	return fmt.Sprintf("%.6g", v)
}

func over(v [3]float64, n float64) [3]float64 { return [3]float64{v[0] / n, v[1] / n, v[2] / n} }

// netTotals are the samples of the launches so far.
type netTotals struct {
	samples   int
	sum       netSample
	cycles    uint64        // of the network, at the last one
	sent, got uint64        // flits
	nodes     []nodeTraffic // nil before the first
}

func (t *netTotals) add(x *netSample) {
	t.samples++
	for i := range x.latency {
		for k := range x.latency[i] {
			t.sum.latency[i][k] += x.latency[i][k]
			t.sum.rate[i][k] += x.rate[i][k]
		}
	}
	t.sum.hops += x.hops
}

// write prints the means over all launches.
func (t *netTotals) write(s *simText) {
	n := float64(t.samples)
	tail := fmt.Sprintf(" (%d samples)", t.samples)
	tails := [3]string{tail, tail, tail}
	s.f("====== Overall Traffic Statistics ======\n====== Traffic class 0 ======\n")
	for i, name := range latencies {
		s.three(name, " = ", over(t.sum.latency[i], n), tails)
	}
	for i, r := range rates {
		s.three(r.name, " = ", over(t.sum.rate[i], n), tails)
	}
	s.f("Injected packet size average = %s%s\nAccepted packet size average = %s%s\nHops average = %s%s\n",
		number(t.sum.rate[2][0]/t.sum.rate[0][0]), tail, number(t.sum.rate[3][0]/t.sum.rate[1][0]), tail, number(t.sum.hops/n), tail)
}
