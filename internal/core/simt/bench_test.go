package simt

import (
	"encoding/binary"
	"os"
	"testing"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/isa"
)

// mixed is a program of n rounds of arithmetic, shared and global loads, and a
// barrier, for w warps.
func mixed(w, n int) *script {
	code := []*isa.Inst{
		load(isa.Shared, 4, 1, 10), fma(2, 1, 3), fma(3, 2, 1, 4), alu(11, 11, 12), fma(4, 3, 2),
		load(isa.Global, 4, 5, 11), fma(6, 5, 4, 3), mov(7, 6), sin(8, 7), store(isa.Shared, 4, 10, 8),
		alu(10, 10), store(isa.Global, 4, 11, 6), bar(), bra(0), exit(),
	}
	s := &script{code: code, regs: 16}
	for i := range w {
		sh := strided(uint64(i)*128, 4)
		gl := strided(0x1000+uint64(i)*128, 4)
		var steps []step
		for range n {
			for pc := range len(code) - 1 {
				st := step{pc: pc}
				switch pc {
				case 0, 9:
					st.addr = sh
				case 5, 11:
					st.addr = gl
				}
				steps = append(steps, st)
			}
		}
		s.warps = append(s.warps, append(steps, step{pc: len(code) - 1}))
	}
	return s
}

func BenchmarkCore(b *testing.B) {
	for _, cf := range []struct {
		name string
		cfg  func(testing.TB) Config
	}{{"rtx2060", rtx2060}, {"gtx480", gtx480}} {
		b.Run(cf.name, func(b *testing.B) {
			cfg := cf.cfg(b)
			g := newRig(b, cfg)
			s := mixed(8, 200)
			s.log = make([]issued, 0, 1<<20)
			k, err := NewKernel(&cfg, s, core.KernelOptions{})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				for g.core.CanTake(k) {
					g.core.Launch(k, s.Block(0))
				}
				s.log = s.log[:0]
				for range 1000 {
					g.tick()
				}
			}
			st := &g.core.Stats
			b.ReportMetric(float64(st.WarpInsts)/b.Elapsed().Seconds()/1e6, "Mwarpinst/s")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(st.Cycles), "ns/cycle")
			b.ReportMetric(float64(st.WarpInsts)/float64(st.Cycles), "ipc")
		})
	}
}

// BenchmarkMatmul runs the reference set's tiled matrix product, functional
// execution included.
func BenchmarkMatmul(b *testing.B) {
	src, err := os.ReadFile("../../../testdata/reference/gpgpusim/matmul.ptx")
	if err != nil {
		b.Fatal(err)
	}
	p, mod := program(b, "matmul.ptx", src)
	dev := device.New(device.Config{Base: 0xc000_0000})
	m, err := xptx.NewMachine(p, dev)
	if err != nil {
		b.Fatal(err)
	}
	var params []byte
	for range 3 {
		a, err := dev.Alloc(1<<16, "m")
		if err != nil {
			b.Fatal(err)
		}
		params = binary.LittleEndian.AppendUint64(params, a)
	}
	params = binary.LittleEndian.AppendUint32(params, 64)
	name := ""
	for _, f := range mod.Funcs {
		if f.Entry && len(f.Name) > 8 && f.Name[len(f.Name)-5:] == "tiled" {
			name = f.Name
		}
	}
	k, ok := p.Kernel(name)
	if !ok {
		b.Fatalf("no kernel %q", name)
	}
	params = params[:k.ParamBytes()]
	g := newRig(b, rtx2060(b))
	for b.Loop() {
		w, err := m.NewWork(xptx.Launch{Kernel: k, Grid: exec.Dim3{X: 4, Y: 4, Z: 1}, Block: exec.Dim3{X: 16, Y: 16, Z: 1}, Params: params}, nil)
		if err != nil {
			b.Fatal(err)
		}
		g.runWork(w, 0, 1_000_000)
	}
	st := &g.core.Stats
	b.ReportMetric(float64(st.WarpInsts)/b.Elapsed().Seconds()/1e6, "Mwarpinst/s")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(st.Cycles), "ns/cycle")
	b.ReportMetric(float64(st.WarpInsts)/float64(st.Cycles), "ipc")
}
