package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/report"
)

// This file: runs that count cycles. The host side of a job becomes actions on
// the chip's streams; values are computed by the same executor as in a
// functional run, in the order in which the chip issues instructions.

// Machine returns the chip that a run simulates: the GPU of that name or file,
// with the values that were set.
func (s *Settings) Machine(name string) (gpu.Config, error) {
	if !slices.Contains(config.Names(), name) && slices.Contains(GPUs, name) && !config.IsKepler(name) {
		return gpu.Config{}, fmt.Errorf("GPU %s has no timing model yet; there are %s (or compute only, with --mode functional)",
			name, strings.Join(config.Names(), ", "))
	}
	c, err := config.Load(name)
	if err != nil {
		return gpu.Config{}, err
	}
	if s.Core != "" {
		if err := c.SetCore(s.Core); err != nil {
			return gpu.Config{}, err
		}
	}
	for _, a := range s.Assignments {
		if err := c.Set(a); err != nil {
			return gpu.Config{}, fmt.Errorf("-C %s: %w", a, err)
		}
	}
	if err := c.Check(); err != nil {
		return gpu.Config{}, fmt.Errorf("GPU %s: %w", name, err)
	}
	return c.ChipConfig(), nil
}

// check says whether the values that were set are values of their keys.
func (s *Settings) check() error {
	if len(s.Assignments) == 0 {
		return nil
	}
	c, err := config.Load(DefaultGPU)
	if err != nil {
		return err
	}
	for _, a := range s.Assignments {
		if err := c.Set(a); err != nil {
			return fmt.Errorf("-C %s: %w", a, err)
		}
	}
	return nil
}

// conditions lists the run conditions that decide a comparison.
func conditions(c *gpu.Config) map[string]any {
	icache := "cold"
	if c.Run.ICacheWarm {
		icache = "warm"
	}
	copies := "instant"
	if c.Copies.Timed {
		copies = "timed"
	}
	return map[string]any{
		"caches": c.Run.Caches.String(), "icache": icache, "copies": copies,
		"copies_fill_l2": c.Run.CopiesFillL2, "launch_latency": c.Run.LaunchLatency,
	}
}

// chipRun is what a timing run has beyond a functional one.
type chipRun struct {
	chip *gpu.GPU
	ops  []*gpu.Op // by step, nil for those left out
}

// plugIn makes the chip of a timing run.
func (x *runner) plugIn() error {
	name := cmp.Or(x.opt.GPU, x.job.GPU, DefaultGPU)
	if x.opt.GPU == "" && IsFile(x.job.GPU) {
		name = x.job.Path(x.job.GPU)
	}
	cfg, err := x.opt.Settings.Machine(name)
	if err != nil {
		return err
	}
	if x.opt.MaxInsts > 0 {
		cfg.Run.MaxCycles = x.opt.MaxInsts
	}
	cfg.Run.Threads = cmp.Or(x.opt.Threads, runtime.GOMAXPROCS(0))
	chip, err := gpu.New(cfg)
	if err != nil {
		return fmt.Errorf("GPU %s: %w", name, err)
	}
	x.timing = &chipRun{chip: chip}
	chip.KeepPlaces()
	if x.opt.Hazards {
		if err := x.watchHazards(&cfg); err != nil {
			return err
		}
	}
	mhz := func(hz int64) float64 { return float64(hz) / 1e6 }
	x.res.Mode, x.res.Timing = "timing", &report.Timing{Core: cfg.Core.String(), CoreFrom: cfg.CoreFrom, SMs: cfg.SMs(), Clocks: report.Clocks{
		Core: mhz(cfg.Clocks.Core), Network: mhz(cfg.Clocks.Net), L2: mhz(cfg.Clocks.L2), DRAM: mhz(cfg.Clocks.DRAM),
	}}
	x.res.Conditions = conditions(&cfg)
	return nil
}

// filled tells the chip which memory was filled before the first step, as
// copies from the host.
func (x *runner) filled() {
	for _, d := range x.job.Buffers {
		x.timing.chip.Fill([]gpu.Range{{Addr: x.addr[d.Name], Bytes: uint64(d.Count) * uint64(d.Type.Size())}})
	}
}

// stepsTimed runs the steps on the chip.
func (x *runner) stepsTimed(ctx context.Context) error {
	t := x.timing
	t.ops = make([]*gpu.Op, len(x.job.Steps))
	if x.opt.Progress != nil {
		number := map[*gpu.Kernel]int{}
		t.chip.OnProgress(func(p gpu.Progress) {
			if len(number) == 0 {
				for i, o := range t.ops {
					if o != nil && o.Kernel != nil {
						number[o.Kernel] = x.job.Steps[i].Number
					}
				}
			}
			x.opt.Progress(Progress{
				Launch: number[p.Kernel], Launches: x.launches, Kernel: p.Kernel.Name,
				Blocks: p.Blocks, Total: p.Total, WarpInsts: p.WarpInsts, Cycles: p.Cycle,
			})
		})
	}
	var printed error
	if x.opt.AccelSim != nil {
		start := time.Now()
		t.chip.OnEnd(func(k *gpu.Kernel) {
			for i, o := range t.ops {
				if s := x.job.Steps[i]; o != nil && o.Kernel == k && printed == nil {
					printed = t.chip.WriteAccelSim(x.opt.AccelSim, k, s.Number+1, s.Stream, time.Since(start))
				}
			}
		})
	}
	var rows *series
	if x.opt.Series != nil {
		rows = startSeries(t.chip, *x.opt.Series)
	}
	if x.opt.Timeline != nil {
		record(t.chip, x.opt.Timeline)
	}
	x.inside()
	err := x.give()
	if err == nil && x.opt.Hazards {
		if err := x.anyHazards(); err != nil {
			return &Error{File: x.job.File, Msg: err.Error(), Err: err}
		}
	}
	if err == nil {
		err = t.chip.Finish(ctx)
	}
	x.collect()
	if x.opt.Hazards {
		x.hazards()
	}
	if rows != nil {
		printed = errors.Join(printed, rows.end())
	}
	if x.opt.Timeline != nil {
		t.chip.FlushLog()
		x.spans(x.opt.Timeline)
	}
	return errors.Join(err, printed)
}

// give hands all steps to the chip.
func (x *runner) give() error {
	for i, s := range x.job.Steps {
		o := &gpu.Op{Stream: s.Stream}
		switch s.Kind {
		case StepLaunch:
			k := x.ready.kernels[s.Launch]
			if !x.opt.Select.Has(s.Number, k.Name()) {
				x.res.LeftOut++
				continue
			}
			l, err := x.prepare(s)
			if err != nil {
				return err
			}
			l.TakenFirst = x.timing.chip.Config().Compat.TakenFirst
			o.Kind, o.Options.Registers = gpu.OpLaunch, int(s.Launch.Registers)
			if o.Options.Registers == 0 {
				o.Options.Registers = k.Registers()
			}
			o.Options.Prefer = map[string]gpu.Preference{"none": gpu.PreferNone, "l1": gpu.PreferL1, "shared": gpu.PreferShared}[s.Launch.Prefer]
			o.Make = func(rehearsal bool) (exec.Work, error) {
				if rehearsal {
					return x.machine.NewWork(l, nil)
				}
				return x.machine.NewWork(l, x.opt.Out)
			}
			o.Save = x.mem.Save
		case StepCopy, StepFill:
			m := x.moves[s]
			o.Kind, o.Copy = gpu.OpCopy, func() error { return x.copy(m) }
			o.Way, o.Bytes = m.way(), uint64(m.Bytes)
			if o.Way != gpu.ToHost {
				o.Fills = []gpu.Range{{Addr: m.to, Bytes: o.Bytes}}
			} else {
				o.ToHost = []gpu.Range{{Addr: m.from, Bytes: o.Bytes}}
			}
		case StepRecord:
			o.Kind, o.Event = gpu.OpRecord, s.Index
		case StepWait:
			o.Kind, o.Event = gpu.OpWait, s.Record
		case StepSync:
			o.Kind = gpu.OpSync
		}
		if err := x.timing.chip.Add(o); err != nil {
			var le *exec.LaunchError
			if errors.As(err, &le) {
				err = &Error{File: x.job.File, Pos: s.Launch.Pos, Msg: le.Error(), Err: err}
				x.res.Error = failure(err, &s.Number)
			}
			return err
		}
		x.timing.ops[i] = o
	}
	return nil
}

// collect writes what the chip did into the result.
func (x *runner) collect() {
	t := x.timing
	for i, s := range x.job.Steps {
		o := t.ops[i]
		if o == nil {
			continue
		}
		if o.Kernel != nil && o.Begun() {
			x.guarded(o.Kernel)
			x.res.Kernels = append(x.res.Kernels, x.kernel(s, o.Kernel))
			x.res.WarpInstructions += o.Kernel.WarpInsts
			x.res.ThreadInstructions += o.Kernel.ThreadInsts
		}
		if !x.job.stepsGiven {
			continue
		}
		rs := report.Step{Step: s.Index, Kind: s.Kind.String(), Stream: s.Stream, Event: s.Event.S}
		if s.Kind == StepLaunch {
			rs.Launch = &s.Number
		}
		if m := x.moves[s]; m != nil {
			m.describe(&rs)
		}
		if o.Begun() {
			start, end := o.Start, o.End
			rs.StartCycle, rs.EndCycle, rs.Unfinished = &start, &end, !o.Ended()
		}
		x.res.Steps = append(x.res.Steps, rs)
	}
	x.res.Cycles = t.chip.Now()
	total := t.chip.Totals()
	x.res.Memory = memory(&total, t.chip.Config())
	parts(t.chip, x.res.Timing)
}

// guarded notes what guarded the dependences of a kernel's instructions.
func (x *runner) guarded(k *gpu.Kernel) {
	cfg := x.timing.chip.Config()
	if cfg.Core != gpu.Modern {
		return
	}
	d := report.Dependence{Mechanism: "control bits"}
	if !k.ControlBits() {
		d.Mechanism, d.Consumers = "scoreboards", cfg.Modern.Consumers
	}
	s := cfg.Modern.DependenceBits(k.ControlBits())
	d.WarpBits, d.SMBits, d.RegisterFile = s.Warp, s.SM, s.Percent
	if !slices.Contains(x.res.Dependences, d) {
		x.res.Dependences = append(x.res.Dependences, d)
	}
}

// kernel describes a launch and its counters.
func (x *runner) kernel(s *Step, k *gpu.Kernel) report.Kernel {
	l, src := s.Launch, x.ready.kernels[s.Launch]
	cfg := x.timing.chip.Config()
	sm := &k.SM
	t := &report.KernelTiming{
		StartCycle: k.Start, EndCycle: k.End, Cycles: k.Cycles(), FirstBlockCycle: k.FirstBlock,
		BlocksPerSM: k.MaxBlocks, LimitedBy: k.LimitedBy, Shared: !k.Alone, L1Ways: k.L1Ways,
		Stalls: map[string]uint64{}, SlotStalls: k.SlotStalls(),
	}
	if l.Registers == 0 && src.RegistersEstimated() {
		t.RegisterEstimate = report.NewRegisterEstimate(k.Registers, func(regs int) int {
			n, _ := cfg.Occupancy(int(l.Block[0]*l.Block[1]*l.Block[2]), regs, k.Shared)
			if k.LimitedBy == gpu.ByGrid {
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
	t.Lines, t.LanesPerIssue = x.lines(k), sm.Lanes[:]
	for st, name := range x.timing.chip.States() {
		var n uint64
		for i := range k.Places {
			n += k.Places[i].States[st]
		}
		t.Stalls[name] = n
		t.WarpCycles += n
	}
	t.Memory = memory(&k.Counters, cfg)
	for i, b := range k.BlockLog {
		r := report.BlockRun{Block: uint64(i), SM: b.SM, StartCycle: b.Start}
		if b.End > 0 {
			r.EndCycle = &b.End
		}
		t.BlockLog = append(t.BlockLog, r)
	}
	return report.Kernel{
		Name: k.Name, Launch: s.Number, Stream: s.Stream, Grid: l.Grid, Block: l.Block,
		Registers: k.Registers, SharedBytes: k.Shared, LocalBytes: src.LocalBytes(),
		Blocks: k.Blocks, WarpInstructions: k.WarpInsts, ThreadInstructions: k.ThreadInsts, KernelTiming: t,
	}
}

// lines lays what a kernel's warps did beside the program's text.
func (x *runner) lines(k *gpu.Kernel) []report.Line {
	src, ok := k.Work().(sourced)
	if !ok {
		return nil
	}
	var list []report.Line
	code := k.Work().Code()
	names := x.timing.chip.States()
	for i := range k.Places {
		p := &k.Places[i]
		l := report.Line{Issues: p.Issues, ThreadInstructions: p.Lanes, Stalls: map[string]uint64{}}
		for st, n := range p.States {
			if n > 0 {
				l.Stalls[names[st]] = n
				l.WarpCycles += n
			}
		}
		if l.WarpCycles == 0 && l.Issues == 0 {
			continue
		}
		w := src.Source(i)
		l.Text = src.Text(i)
		if c := code[i].Control; c != nil {
			l.Control = c.String()
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
		DRAM: report.DRAM{
			Reads: c.DRAMReads(), Writes: c.DRAMWrites(), Activates: c.DRAM.Activates, Precharges: c.DRAM.Precharges,
			Requests: c.DRAM.Requests, RowHits: c.DRAM.RowHits, BusyCycles: c.DRAM.DataCycles, Cycles: c.DRAM.Cycles,
		},
		Network: report.Network{
			RequestPackets: c.Request.Packets, RequestFlits: c.Request.Flits, ReplyPackets: c.Reply.Packets, ReplyFlits: c.Reply.Flits,
		},
		SharedConflictCycles: sm.SharedConflicts, LoadStoreStallCycles: sm.LSStalls,
		L2EntryStallCycles: c.Chip.DRAMFull, ReplyStallCycles: c.Chip.NetFull,
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

func cacheLevel(s *cache.Stats) report.Cache {
	return report.Cache{
		Accesses: s.Total(), Hits: s.Of(cache.Hit), PendingHits: s.Of(cache.HitReserved),
		Misses: s.Misses(), SectorMisses: s.Of(cache.SectorMiss), Refused: s.Of(cache.Fail), WriteBacks: s.WriteBacks,
	}
}
