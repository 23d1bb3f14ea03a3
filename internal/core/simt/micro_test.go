package simt

import (
	"encoding/binary"
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/mem"
)

const microRuns = "../../../testdata/reference/gpgpusim/micro"

// program links one PTX file.
func program(t testing.TB, name string, src []byte) (*xptx.Program, *ptx.Module) {
	t.Helper()
	mod, err := ptx.Parse(name, src)
	if err != nil {
		t.Fatal(err)
	}
	p, err := xptx.Link(mod)
	if err != nil {
		t.Fatal(err)
	}
	return p, mod
}

// runWork runs the blocks of a launch on the rig's core and returns the cycles from the
// launch of the first block to the end of the last.
func (g *rig) runWork(w exec.Work, base uint64, limit int) uint64 {
	g.t.Helper()
	k, err := NewKernel(g.core.Config(), w, core.KernelOptions{Registers: 16, CodeBase: base})
	if err != nil {
		g.t.Fatal(err)
	}
	next, ended, start := uint64(0), g.ended, g.cycle
	for range limit {
		if next < w.Blocks() && g.core.CanTake(k) {
			if b := w.Block(next); !g.core.Launch(k, b) {
				g.t.Fatal("no room for the block")
			}
			next++
		}
		g.tick()
		if err := g.core.Err(); err != nil {
			g.t.Fatal(err)
		}
		if g.ended-ended == int(w.Blocks()) {
			return g.cycle - start
		}
	}
	g.t.Fatalf("%s: not at the end after %d cycles", w.Name(), limit)
	return 0
}

// TestMicroKernels compares the cycles of one-warp kernels with GPGPU-Sim's.
func TestMicroKernels(t *testing.T) {
	src, err := os.ReadFile(filepath.Join(microRuns, "micro.ptx"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(microRuns, "micro.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	p, mod := program(t, "micro.ptx", src)
	configs := map[string]struct {
		cfg    func(testing.TB) Config
		launch uint64 // launch latency
		delay  uint64 // from the network to the reply, L2 hit
		more   [mem.Kinds]uint64
		off    int64
	}{
		"SM7_QV100":    {qv100, 5000, 160 + 6, [mem.Kinds]uint64{}, 0},
		"SM75_RTX2060": {rtx2060, 5000, 194 + 6, [mem.Kinds]uint64{}, 0},
		"SM2_GTX480":   {gtx480, 0, 120 + 16, [mem.Kinds]uint64{mem.InstRead: 3, mem.ConstRead: 114}, 20},
	}
	bases, base := map[string]uint64{}, uint64(0)
	for _, f := range mod.Funcs {
		bases[f.Name] = base
		base += 8 * uint64(len(f.Code))
	}
	for _, r := range rows[1:] {
		cf, ok := configs[r[0]]
		if !ok {
			continue
		}
		t.Run(r[0]+"/"+r[1], func(t *testing.T) {
			want, _ := strconv.ParseUint(r[2], 10, 64)
			insts, _ := strconv.ParseUint(r[4], 10, 64)
			dev := device.New(device.Config{Base: 0xc000_0000})
			m, err := xptx.NewMachine(p, dev)
			if err != nil {
				t.Fatal(err)
			}
			out, err := dev.Alloc(1<<16, "out")
			if err != nil {
				t.Fatal(err)
			}
			k, ok := p.Kernel(r[1])
			if !ok {
				t.Fatal("no such kernel")
			}
			params := binary.LittleEndian.AppendUint64(nil, out)
			g := newRig(t, cf.cfg(t))
			g.delay = cf.delay
			g.more = cf.more
			// The runs are of a second launch, with warm instruction and constant
			// caches.
			var got, before uint64
			for range 2 {
				w, err := m.NewWork(xptx.Launch{Kernel: k, Grid: exec.Dim3{X: 1, Y: 1, Z: 1}, Block: exec.Dim3{X: 32, Y: 1, Z: 1}, Params: params}, nil)
				if err != nil {
					t.Fatal(err)
				}
				if d := g.core.L1D(); d != nil {
					d.Invalidate()
				}
				if d := g.core.L1I(); d != nil {
					d.Invalidate()
					g.core.L1C().Invalidate()
				}
				before = g.core.Stats.WarpInsts
				// The block is placed at the end of the tick after the latency.
				got = g.runWork(w, bases[r[1]], 200000) + cf.launch + 1
				for range 1000 { // until nothing is in flight
					g.tick()
				}
			}
			before = g.core.Stats.WarpInsts - before
			// A memory of fixed latency stands in for GTX480's, whose constant and
			// instruction misses go to a DRAM.
			if d := int64(got) - int64(want); d > cf.off || -d > cf.off || before != insts {
				t.Errorf("%d cycles, %d warp instructions; GPGPU-Sim has %d and %d", got, before, want, insts)
			}
		})
	}
}
