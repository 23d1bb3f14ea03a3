package run

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/compile/machine"
	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/replay"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/report"
)

// This file: the chip of a run, and its counters as a result.

// Machine returns the chip that a run simulates.
func (s *Settings) Machine(name string) (gpu.Config, error) {
	c, err := s.GPUOf(name)
	if err != nil {
		return gpu.Config{}, err
	}
	return c.ChipConfig(), nil
}

// GPUOf returns the GPU with that name or file, with the values set by the user.
func (s *Settings) GPUOf(name string) (*config.GPU, error) {
	c, err := config.Load(name)
	if err != nil {
		return nil, err
	}
	if s.Core != "" {
		if err := c.SetCore(s.Core); err != nil {
			return nil, err
		}
	}
	for _, a := range s.Assignments {
		if err := c.Set(a); err != nil {
			return nil, fmt.Errorf("setting %s: %w", a, err)
		}
	}
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("GPU %s: %w", name, err)
	}
	return c, nil
}

// Check reports whether the set values are valid for their keys. Machine checks whether
// they fit together: a value that contradicts another one on one GPU may be valid on the
// next.
func (s *Settings) Check() error {
	if len(s.Assignments) == 0 {
		return nil
	}
	c, err := config.Load(DefaultGPU)
	if err != nil {
		return err
	}
	for _, a := range s.Assignments {
		if err := c.Set(a); err != nil {
			return fmt.Errorf("setting %s: %w", a, err)
		}
	}
	return nil
}

// conditions lists the run conditions that matter for comparisons.
func conditions(c *gpu.Config) map[string]any {
	icache := "cold"
	if c.Run.ICacheWarm {
		icache = "warm"
	}
	copies := "instant"
	if c.Copies.Timed {
		copies = "timed"
	}
	m := map[string]any{
		"caches": c.Run.Caches.String(), "icache": icache, "copies": copies,
		"copies_fill_l2": c.Run.CopiesFillL2, "launch_latency": c.Run.LaunchLatency,
	}
	if len(c.Ideals) > 0 {
		m["ideal"] = strings.Join(c.Ideals, ",")
	}
	return m
}

// describeMachine adds the machine to a result.
func describeMachine(cfg *gpu.Config, res *report.Run) {
	mhz := func(hz int64) float64 { return float64(hz) / 1e6 }
	res.Timing = &report.Timing{Core: cfg.Core.Model().Name, CoreFrom: cfg.CoreFrom, SMs: cfg.SMs(), Clocks: report.Clocks{
		Core: mhz(cfg.Clocks.Core), Network: mhz(cfg.Clocks.Net), L2: mhz(cfg.Clocks.L2), DRAM: mhz(cfg.Clocks.DRAM),
	}}
	res.Machine = limits(cfg)
	res.Conditions = conditions(cfg)
}

// summarize adds the counters of the whole run to a result.
func summarize(chip *gpu.GPU, res *report.Run) {
	res.Cycles = chip.Now()
	total := chip.Totals()
	res.Memory = memory(&total, chip.Config())
	parts(chip, res.Timing)
}

// HasControlBits reports whether the chip's cores can obey the control bits of machine code.
func HasControlBits(cfg *gpu.Config) bool {
	_, ok := cfg.Core.(core.ControlBits)
	return ok
}

// ContractOf is what the chip's cores leave to machine code, nil if they do not obey its control bits.
func ContractOf(cfg *gpu.Config) *machine.Contract {
	x, ok := cfg.Core.(core.ControlBits)
	if !ok {
		return nil
	}
	c := x.Contract()
	return &c
}

// guarded records in a result what guarded the dependences of a kernel's instructions.
func guarded(chip *gpu.GPU, k *gpu.Kernel, res *report.Run) {
	cfg := chip.Config()
	x, ok := cfg.Core.(core.ControlBits)
	if !ok {
		return
	}
	s := x.Guard(k.ControlBits())
	d := report.Dependence{Mechanism: s.Mechanism, Consumers: s.Consumers, WarpBits: s.Warp, SMBits: s.SM, RegisterFile: s.Percent}
	if !slices.Contains(res.Dependences, d) {
		res.Dependences = append(res.Dependences, d)
	}
}

// Extent formats an extent for results.
func Extent(d exec.Dim3) [3]int64 { return [3]int64{int64(d.X), int64(d.Y), int64(d.Z)} }

// describe describes a launch and its counters.
func describe(chip *gpu.GPU, k *gpu.Kernel, l Launch) report.Kernel {
	cfg := chip.Config()
	sm := &k.SM
	t := &report.KernelTiming{
		StartCycle: k.Start, EndCycle: k.End, Cycles: k.Cycles(), FirstBlockCycle: k.FirstBlock,
		PassedBlocks: k.PassedBlocks, PassedWarpInstructions: k.PassedWarpInsts, PassedCycles: k.PassedCycles, BlocksPerSM: k.MaxBlocks, LimitedBy: k.LimitedBy.String(), Shared: !k.Alone, L1Ways: k.L1Ways,
		Stalls: map[string]uint64{}, SlotStalls: k.SlotStalls(),
	}
	if l.Estimated {
		t.RegisterEstimate = report.NewRegisterEstimate(k.Registers, func(regs int) int {
			n, _ := cfg.Core.Occupancy(int(l.Block[0]*l.Block[1]*l.Block[2]), regs, k.Shared)
			if k.LimitedBy == core.ByGrid {
				n = min(n, k.MaxBlocks)
			}
			return n
		})
	}
	if t.Cycles > 0 {
		t.IPC = float64(k.WarpInsts) / float64(t.Cycles)
	}
	if sm.Cycles > 0 {
		t.Occupancy = float64(sm.WarpCycles) / float64(sm.Cycles) / float64(cfg.Warps())
	}
	t.Lines, t.LanesPerIssue = lines(chip, k), slices.Clone(sm.Lanes[:])
	for st, name := range chip.States() {
		var n uint64
		for i := range k.Places {
			n += k.Places[i].States[st]
		}
		t.Stalls[name] = n
		t.WarpCycles += n
	}
	t.Memory = memory(&k.Counters, cfg)
	t.Peaks, t.Flops, t.Occupancies = peaks(k, cfg, &t.Memory), flops(k), occupancySteps(k, cfg)
	for i, b := range k.BlockLog {
		if !b.Began {
			continue
		}
		r := report.BlockRun{Block: uint64(i), SM: b.SM, StartCycle: b.Start}
		if b.End > 0 {
			r.EndCycle = &b.End
		}
		t.BlockLog = append(t.BlockLog, r)
	}
	return report.Kernel{
		Name: k.Name, Launch: l.Number, Device: l.Device, Code: l.Code, Stream: l.Stream, Grid: l.Grid, Block: l.Block,
		Registers: k.Registers, SharedBytes: k.Shared, LocalBytes: l.LocalBytes,
		Blocks: k.Blocks, WarpInstructions: k.WarpInsts, ThreadInstructions: k.ThreadInsts, KernelTiming: t,
	}
}

// where returns the place and the text of an instruction of a kernel's code. Traces have no
// text, but addresses.
func where(w exec.Work, src *exec.Traits, i int) (at exec.Where, text string) {
	if src.Source != nil {
		return src.Source(i), src.Text(i)
	}
	at = exec.Where{Function: w.Name(), PC: i, Inst: w.Code()[i].Op, Pos: w.Code()[i].Pos}
	if x, ok := exec.Untapped(w).(*replay.Work); ok {
		at.PC = x.PC(i)
	}
	return at, at.Inst
}

// mostProducers bounds the instructions for which a line says that it waited (our choice:
// instructions have few sources).
const mostProducers = 8

// lines assigns a kernel's counters to the lines of the program.
func lines(chip *gpu.GPU, k *gpu.Kernel) []report.Line {
	src := k.Work().Traits()
	var list []report.Line
	code := k.Work().Code()
	names := chip.States()
	for i := range k.Places {
		p := &k.Places[i]
		l := report.Line{Issues: p.Issues, ThreadInstructions: p.Lanes, Stalls: map[string]uint64{}}
		for st, n := range p.States {
			if n > 0 {
				l.Stalls[names[st]] = n
				l.WarpCycles += n
			}
		}
		if l.WarpCycles == 0 && l.ThreadInstructions == 0 && l.Issues == 0 {
			continue
		}
		var w exec.Where
		w, l.Text = where(k.Work(), &src, i)
		if c := code[i].Control; c != nil {
			l.Control = c.String()
		}
		if p.Requests+p.Conflicts > 0 {
			l.Accesses = &report.Accesses{Requests: p.Requests, Sectors: p.Sectors, LeastSectors: p.Least, ConflictCycles: p.Conflicts}
		}
		if src.Kernel != nil && core.Branches(code[i]) { // traces do not record guards
			l.Branches = &report.Branches{Taken: p.Taken, NotTaken: p.Issues - p.Taken - p.Split, Diverged: p.Split}
		}
		for _, e := range k.Edges.Of(i) {
			if len(l.WaitedFor) == mostProducers {
				break
			}
			at, _ := where(k.Work(), &src, int(e.From))
			l.WaitedFor = append(l.WaitedFor, report.Producer{Function: at.Function, File: at.File, Line: int(at.Pos.Line), PC: at.PC, WarpCycles: e.Cycles})
		}
		l.File, l.Line, l.PC, l.Function, l.Instruction = w.File, int(w.Pos.Line), w.PC, w.Function, w.Inst
		l.SourceFile, l.SourceLine = w.SrcFile, w.SrcLine
		list = append(list, l)
	}
	return list
}

// memory describes the counters of the memory system.
func memory(c *gpu.Counters, cfg *gpu.Config) report.Memory {
	sm := &c.SM
	m := report.Memory{
		L1: cacheLevel(&c.L1D), L1Const: cacheLevel(&c.L1C), L1Texture: cacheLevel(&c.L1T), L1Inst: cacheLevel(&c.L1I), L2: cacheLevel(&c.L2),
		L1Prefetch: readAhead(c.L1D.Prefetch), L2Prefetch: readAhead(c.L2.Prefetch),
		DRAM: report.DRAM{
			Reads: c.DRAMReads(), Writes: c.DRAMWrites(), Activates: c.DRAM.Activates, Precharges: c.DRAM.Precharges,
			Requests: c.DRAM.Requests, RowHits: c.DRAM.RowHits, BusyCycles: c.DRAM.DataCycles, Cycles: c.DRAM.Cycles,
		},
		Network: report.Network{
			RequestPackets: c.Request.Packets, RequestFlits: c.Request.Flits, ReplyPackets: c.Reply.Packets, ReplyFlits: c.Reply.Flits,
		},
		SharedConflictCycles: sm.SharedConflicts, ConstConflictCycles: sm.ConstConflicts,
		L2EntryStallCycles: c.Chip.DRAMFull, ReplyStallCycles: c.Chip.NetFull,
	}
	if c.Own != nil {
		m.LoadStoreStallCycles = c.Own.LoadStoreStalls()
	}
	if d := &cfg.Mem.DRAM; !cfg.Mem.FixedLatency {
		m.DRAM.BytesRead = m.DRAM.Reads * uint64(d.AtomBytes())
		m.DRAM.BytesWritten = m.DRAM.Writes * uint64(d.AtomBytes())
		m.DRAM.Peak = float64(cfg.Mem.Channels*d.BusBytes*d.Chips*d.DataRatio) * float64(cfg.Clocks.DRAM) / 1e9
	}
	if sm.LatencyN > 0 {
		m.Replies, m.LatencyLog2 = sm.LatencyN, latencies(sm)
		m.MeanLatencyCycles = float64(sm.Latency) / float64(sm.LatencyN)
	}
	return m
}

// readAhead returns what the prefetchers of a level did, nil if that is nothing.
func readAhead(n cache.Prefetches) *report.Prefetch {
	if n == (cache.Prefetches{}) {
		return nil
	}
	return (*report.Prefetch)(&n)
}

func cacheLevel(s *cache.Stats) report.Cache {
	return report.Cache{
		Accesses: s.Total(), Hits: s.Of(cache.Hit), PendingHits: s.Of(cache.HitReserved),
		Misses: s.Misses(), SectorMisses: s.Of(cache.SectorMiss), Refused: s.Of(cache.Fail), WriteBacks: s.WriteBacks,
	}
}
