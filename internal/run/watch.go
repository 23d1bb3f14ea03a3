package run

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"path/filepath"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/report/timeline"
)

// This file: series of counters and timelines of timing runs.

// Series is a request for a series of counters: a line of comma-separated values every
// Every core cycles.
type Series struct {
	Every uint64
	Out   io.Writer
}

// Rows writes the rows of a Series.
type Rows struct {
	chip *gpu.GPU
	w    *bufio.Writer
	text bytes.Buffer // what has left w, for checkpoints
	last gpu.Sample
}

// startSeries starts observing the chip; kept says that checkpoints need the rows so far.
func startSeries(chip *gpu.GPU, s Series, kept bool) *Rows {
	x := &Rows{chip: chip, w: bufio.NewWriter(s.Out)}
	if kept {
		x.w.Reset(io.MultiWriter(s.Out, &x.text))
	}
	fmt.Fprint(x.w, "cycle,warp_instructions,thread_instructions,ipc,resident_warps,blocks")
	for _, st := range chip.States() {
		fmt.Fprintf(x.w, ",stalls.%s", st)
	}
	fmt.Fprintln(x.w, ",memory.l1.accesses,memory.l1.hits,memory.l2.accesses,memory.l2.hits,memory.dram.reads,memory.dram.writes,"+
		"memory.network.request_packets,memory.network.reply_packets,memory.mean_latency_cycles")
	chip.OnSample(s.Every, x.row)
	return x
}

// row writes the changes since the last row.
func (x *Rows) row() {
	s, o := x.chip.Sample(), &x.last
	if s.Cycle == o.Cycle {
		return
	}
	insts := s.WarpInsts - o.WarpInsts
	fmt.Fprintf(x.w, "%d,%d,%d,%.4f,%d,%d", s.Cycle, insts, s.ThreadInsts-o.ThreadInsts, float64(insts)/float64(s.Cycle-o.Cycle), s.Resident, s.Blocks-o.Blocks)
	for st := range x.chip.States() {
		fmt.Fprintf(x.w, ",%d", s.States[st]-o.States[st])
	}
	mean := 0.0
	if n := s.LatencyN - o.LatencyN; n > 0 {
		mean = float64(s.Latency-o.Latency) / float64(n)
	}
	fmt.Fprintf(x.w, ",%d,%d,%d,%d,%d,%d,%d,%d,%.1f\n", s.L1Accesses-o.L1Accesses, s.L1Hits-o.L1Hits, s.L2Accesses-o.L2Accesses, s.L2Hits-o.L2Hits,
		s.DRAMReads-o.DRAMReads, s.DRAMWrites-o.DRAMWrites, s.Requests-o.Requests, s.Replies-o.Replies, mean)
	x.last = s
}

// end writes the last, shorter row.
func (x *Rows) end() error {
	x.row()
	return x.w.Flush()
}

// recordWays records the way of every instruction.
func recordWays(chip *gpu.GPU, r *timeline.Recorder) {
	programs := map[exec.Work]int32{}
	r.Stages(chip.Stages())
	for sm := range chip.Config().SMs() {
		chip.Log(sm, func(list []gpu.Record) {
			for i := range list {
				e := &list[i]
				p, ok := programs[e.Work]
				if !ok {
					p = r.AddProgram(program(e.Work))
					programs[e.Work] = p
				}
				r.Add(timeline.Inst{
					At: e.Times, Block: e.Block, Program: p, Index: e.At, SM: int32(sm), Sched: int32(e.Sched), Slot: int32(e.Slot), Warp: int32(e.Warp), Lanes: uint32(e.Lanes),
				})
			}
		})
	}
}

// program returns the texts of a kernel's instructions.
func program(w exec.Work) timeline.Program {
	p := timeline.Program{Kernel: w.Name()}
	src := w.Traits()
	for i, in := range w.Code() {
		name, place := in.Op, ""
		if src.Source != nil {
			name = src.Text(i)
			wh := src.Source(i)
			place = fmt.Sprintf("%s:%d", filepath.Base(wh.File), wh.Pos.Line)
			if wh.SrcLine > 0 {
				place += fmt.Sprintf(" (%s:%d)", filepath.Base(wh.SrcFile), wh.SrcLine)
			}
		}
		p.Insts, p.Places = append(p.Insts, name), append(p.Places, place)
	}
	return p
}
