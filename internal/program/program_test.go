package program

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
)

// The same kernel in both languages: out[i] = i + bias for all threads of a
// block. Each text has a second kernel that stores to address 0, and a third that
// cannot run.
const ptxText = `
.version 7.8
.target sm_80
.address_size 64
.global .align 4 .u32 counter;
.visible .entry fill(.param .u64 out, .param .u32 bias)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	.shared .align 4 .b32 room[16];
	mov.u32 %r3, room;
	ld.param.u64 %rd0, [out];
	ld.param.u32 %r0, [bias];
	mov.u32 %r1, %tid.x;
	add.u32 %r2, %r1, %r0;
	mul.wide.u32 %rd1, %r1, 4;
	add.u64 %rd2, %rd0, %rd1;
	st.global.u32 [%rd2], %r2;
	ret;
}
.visible .entry wild()
{
	.reg .b64 %rd<2>;
	mov.u64 %rd0, 0;
	st.global.u32 [%rd0], 1;
	ret;
}
.visible .entry cannot()
{
	tcgen05.shift.cta_group::1.down [0];
	ret;
}
`

const sassText = `
.arch sm_86
.kernel fill
.param out, 8
.param bias, 4
.regs 16
.shared 64
    S2R R1, SR_TID.X ;
    IADD3 R2, R1, c[0x0][0x168], RZ ;
    MOV R3, 0x4 ;
    IMAD.WIDE.U32 R4, R1, R3, c[0x0][0x160] ;
    STG.E [R4.64], R2 ;
    EXIT ;
.kernel wild
.regs 16
.local 32
    MOV R4, RZ ;
    MOV R5, RZ ;
    STG.E [R4.64], R2 ;
    EXIT ;
.kernel cannot
.regs 16
    S2R R4, SR_SMEMSZ ;
    EXIT ;
`

func load(t *testing.T, name, text string) *Program {
	t.Helper()
	p, err := Load(Source{name, []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func fromPTX(t *testing.T) *Program  { return load(t, "t.ptx", ptxText) }
func fromSASS(t *testing.T) *Program { return load(t, "t.sass", sassText) }

// TestKernels: descriptions of kernels, in both languages.
func TestKernels(t *testing.T) {
	for _, c := range []struct {
		name   string
		p      *Program
		types  []string
		shared int
		local  int // of wild
		guess  bool
		isPTX  bool
	}{
		{"PTX", fromPTX(t), []string{"u64", "u32"}, 64, 0, true, true},
		{"SASS", fromSASS(t), []string{"", ""}, 64, 32, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var names []string
			for _, k := range c.p.Kernels() {
				names = append(names, k.Name())
			}
			if diff := cmp.Diff([]string{"fill", "wild", "cannot"}, names); diff != "" {
				t.Error(diff)
			}
			if _, ok := c.p.Kernel("fil"); ok {
				t.Error("a kernel that does not exist is found")
			}
			if (c.p.PTX() != nil) != c.isPTX {
				t.Errorf("PTX program: %v", c.p.PTX())
			}
			k, ok := c.p.Kernel("fill")
			if !ok {
				t.Fatal("fill is not found")
			}
			want := []exec.Param{{Name: "out", Type: c.types[0], Size: 8}, {Name: "bias", Type: c.types[1], Size: 4, Offset: 8}}
			if diff := cmp.Diff(want, k.Params()); diff != "" {
				t.Error(diff)
			}
			if k.ParamBytes() != 12 || k.AddressBytes() != 8 || k.MaxThreads() != 0 || k.StaticShared() != c.shared || k.RegistersEstimated() != c.guess {
				t.Errorf("%d bytes of parameters, addresses of %d, %d threads, %d bytes of shared memory, estimated: %v",
					k.ParamBytes(), k.AddressBytes(), k.MaxThreads(), k.StaticShared(), k.RegistersEstimated())
			}
			if n := k.Registers(); n < 4 || n > 16 || n != k.Registers() {
				t.Errorf("%d registers, then %d", n, k.Registers())
			}
			if len(k.Unusable()) != 0 {
				t.Errorf("fill cannot run: %v", k.Unusable())
			}
			wild, _ := c.p.Kernel("wild")
			if wild.LocalBytes() != c.local || wild.ParamBytes() != 0 || len(wild.Params()) != 0 {
				t.Errorf("wild has %d bytes of local memory, parameters %v", wild.LocalBytes(), wild.Params())
			}
			cannot, _ := c.p.Kernel("cannot")
			if len(cannot.Unusable()) != 1 {
				t.Errorf("cannot is unusable for %v", cannot.Unusable())
			}
		})
	}
}

// TestRun: launches in both languages have the same effects, counts of blocks and
// errors of the same types.
func TestRun(t *testing.T) {
	for name, p := range map[string]*Program{"PTX": fromPTX(t), "SASS": fromSASS(t)} {
		t.Run(name, func(t *testing.T) {
			mem := device.New(device.Config{})
			m, err := NewMachine(p, mem)
			if err != nil {
				t.Fatal(err)
			}
			out, err := mem.Alloc(4*64, "out")
			if err != nil {
				t.Fatal(err)
			}
			params := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, out), 1000)
			fill, _ := p.Kernel("fill")
			one := exec.Dim3{X: 1, Y: 1, Z: 1}
			l := exec.Launch{Kernel: fill, Grid: exec.Dim3{X: 3, Y: 1, Z: 1}, Block: exec.Dim3{X: 64, Y: 1, Z: 1}, Params: params}
			var heard []uint64
			res, err := m.Run(t.Context(), l, exec.Options{Threads: 2, Progress: func(done, total, _ uint64) { heard = append(heard, done, total) }})
			if err != nil || res.Blocks != 3 || res.ThreadInsts != 32*res.WarpInsts || res.WarpInsts == 0 {
				t.Errorf("%+v, %v", res, err)
			}
			if n := len(heard); n < 2 || heard[n-2] != 3 || heard[n-1] != 3 {
				t.Errorf("progress %v", heard)
			}
			got := make([]byte, 4*64)
			if err := mem.Read(out, got); err != nil {
				t.Fatal(err)
			}
			for i := range 64 {
				if v := binary.LittleEndian.Uint32(got[4*i:]); v != uint32(1000+i) {
					t.Fatalf("out[%d] = %d", i, v)
				}
			}

			// The same kernel through a core model.
			w, err := m.NewWork(l, new(bytes.Buffer))
			if err != nil {
				t.Fatal(err)
			}
			if w.Name() != "fill" || w.Blocks() != 3 || w.Threads() != 64 || w.Shared() != fill.StaticShared() || len(w.Code()) == 0 {
				t.Errorf("work %s: %d blocks of %d threads, %d bytes shared, %d instructions", w.Name(), w.Blocks(), w.Threads(), w.Shared(), len(w.Code()))
			}
			if b := w.Block(2); b.Index() != (exec.Dim3{X: 2}) || b.Warps() != 2 {
				t.Errorf("block %v of %d warps", b.Index(), b.Warps())
			}

			var launch *exec.LaunchError
			var fault *exec.Fault
			var limit *exec.LimitError
			cannot, _ := p.Kernel("cannot")
			for what, bad := range map[string]exec.Launch{
				"too few parameters":      {Kernel: fill, Grid: one, Block: one, Params: params[:8]},
				"no threads":              {Kernel: fill, Grid: one, Params: params},
				"too many threads":        {Kernel: fill, Grid: one, Block: exec.Dim3{X: 1025, Y: 1, Z: 1}, Params: params},
				"too much shared memory":  {Kernel: fill, Grid: one, Block: one, Shared: 1 << 20, Params: params},
				"a cluster of two blocks": {Kernel: fill, Grid: one, Block: one, Cluster: exec.Dim3{X: 2, Y: 1, Z: 1}, Params: params},
				"an unusable kernel":      {Kernel: cannot, Grid: one, Block: one},
			} {
				if _, err := m.Run(t.Context(), bad, exec.Options{}); !errors.As(err, &launch) {
					t.Errorf("%s: run ends with %v", what, err)
				}
				if _, err := m.NewWork(bad, nil); !errors.As(err, &launch) {
					t.Errorf("%s: made ready with %v", what, err)
				}
			}
			wild, _ := p.Kernel("wild")
			if _, err := m.Run(t.Context(), exec.Launch{Kernel: wild, Grid: one, Block: one}, exec.Options{}); !errors.As(err, &fault) || fault.Where.Kernel != "wild" {
				t.Errorf("a store to address 0 ends with %v", err)
			}
			if _, err := m.Run(t.Context(), l, exec.Options{MaxInsts: 3}); !errors.As(err, &limit) {
				t.Errorf("a limit ends with %v", err)
			}
		})
	}
}

// TestSymbols: PTX has variables, SASS has none.
func TestSymbols(t *testing.T) {
	m, err := NewMachine(fromPTX(t), device.New(device.Config{}))
	if err != nil {
		t.Fatal(err)
	}
	s, ok := m.Symbol("counter")
	if !ok || s.Size != 4 || s.Const || len(m.Symbols()) != 1 || m.Symbols()[0] != "counter" {
		t.Errorf("%+v, %v of %v", s, ok, m.Symbols())
	}
	if m, err = NewMachine(fromSASS(t), device.New(device.Config{})); err != nil {
		t.Fatal(err)
	}
	if _, ok := m.Symbol("counter"); ok || len(m.Symbols()) != 0 {
		t.Error("SASS has variables")
	}
}
