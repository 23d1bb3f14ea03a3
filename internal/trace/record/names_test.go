package record

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/mnemonic"
	"github.com/heddle-sim/heddle/internal/trace"
)

// TestCompress: compressed addresses expand to the original ones, in the mode that
// the tracer's rule gives.
func TestCompress(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mask := isa.LaneMask(rapid.Uint32Range(1, 1<<32-1).Draw(t, "mask"))
		if rapid.Bool().Draw(t, "run") {
			from := rapid.IntRange(0, 31).Draw(t, "from")
			n := rapid.IntRange(1, 32-from).Draw(t, "lanes")
			mask = isa.LaneMask((uint64(1)<<n - 1) << from)
		}
		var addr, back [32]uint64
		step := rapid.SampledFrom([]int64{0, 4, -8, 1 << 31, -1 << 31, 1<<31 - 1, 1 << 40}).Draw(t, "step")
		even := rapid.Bool().Draw(t, "even")
		at := rapid.Uint64().Draw(t, "base")
		for i := range addr {
			addr[i] = at + uint64(step*int64(i))
			if !even {
				addr[i] += uint64(rapid.IntRange(0, 3).Draw(t, "off"))
			}
		}
		m, deltas := compress(mask, &addr, []int64{1, 2, 3})
		b := trace.Block{Deltas: deltas}
		b.Expand(&m, mask, &back)
		var lanes []int
		for i := range 32 {
			if mask>>i&1 == 1 {
				lanes = append(lanes, i)
				if back[i] != addr[i] {
					t.Fatalf("lane %d: %#x for %#x", i, back[i], addr[i])
				}
			}
		}
		n := len(lanes)
		regular := n >= 2 && lanes[n-1]-lanes[0] == n-1
		for i := 1; i < n && regular; i++ {
			d := int64(addr[lanes[i]] - addr[lanes[i-1]])
			regular = d == int64(addr[lanes[1]]-addr[lanes[0]]) && d == int64(int32(d))
		}
		switch {
		case regular && (m.Mode != trace.BaseStride || m.N != 0):
			t.Fatalf("mode %d with %d differences for a run with equal steps", m.Mode, m.N)
		case !regular && (m.Mode != trace.BaseDelta || int(m.N) != n-1):
			t.Fatalf("mode %d with %d differences for %d lanes", m.Mode, m.N, n)
		}
	})
}

// TestKnownMnemonics: Accel-Sim's table for sm_86 has every name that PTX
// instructions get.
func TestKnownMnemonics(t *testing.T) {
	table, err := mnemonic.New(ptxArch, mnemonic.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, list := range opcodes {
		names = append(names, list[:]...)
	}
	names = append(names, units[:]...)
	for _, base := range []string{"ld", "st", "atom", "red"} {
		for _, space := range []isa.Space{isa.Generic, isa.Global, isa.Shared, isa.Local, isa.Const, isa.Param, isa.Texture, isa.Surface} {
			for _, width := range []uint8{1, 2, 4, 8, 16} {
				in := isa.Inst{Op: base, Space: space, Width: width, Load: base != "st", Store: base != "ld", Atomic: base == "atom" || base == "red"}
				names = append(names, mnemonicOf(&in, "", true))
			}
		}
	}
	for _, name := range names {
		if name == "" {
			continue
		}
		base, _, _ := strings.Cut(name, ".")
		if f := table.Lookup(name); !mnemonic.Known(base) || f.As != "" || f.Inst.Pipe == isa.PipeNone {
			t.Errorf("%s is not an opcode of sm_%d", name, ptxArch)
		}
	}
}

// TestNames: PTX instructions and their mnemonics.
func TestNames(t *testing.T) {
	at := func(in isa.Inst, s isa.Space, width uint8, load, store bool) isa.Inst {
		in.Space, in.Width, in.Load, in.Store = s, width, load, store
		return in
	}
	for _, c := range []struct {
		op    string
		in    isa.Inst
		text  string
		inner bool // in a function that the kernel calls
		want  string
	}{
		{op: "add.s32", want: "IADD3"},
		{op: "add.f32", in: isa.Inst{Data: isa.DataFloat}, want: "FADD"},
		{op: "fma.rn.f64", in: isa.Inst{Data: isa.DataDouble}, want: "DFMA"},
		{op: "fma.rn.f16x2", in: isa.Inst{Data: isa.DataHalf}, want: "HFMA2"},
		{op: "mad.lo.s32", want: "IMAD"},
		{op: "mul.wide.s32", want: "IMAD.WIDE"},
		{op: "setp.lt.f32", in: isa.Inst{Data: isa.DataFloat}, want: "FSETP"},
		{op: "and.b32", want: "LOP3.LUT"},
		{op: "and.pred", want: "PLOP3.LUT"},
		{op: "cvt.rn.f32.s32", want: "I2F"},
		{op: "cvt.rzi.s32.f32", want: "F2I"},
		{op: "cvt.f64.f32", want: "F2F.F64"},
		{op: "cvt.rni.f32.f32", want: "FRND"},
		{op: "cvt.u64.u32", want: "PRMT"},
		{op: "mov.u32", text: "mov.u32 %r1, %tid.x;", want: "S2R"},
		{op: "mov.u32", text: "mov.u32 %r1, %ntid.x;", want: "MOV"},
		{op: "mov.u32", text: "mov.u32 %r1, %clock;", want: "CS2R"},
		{op: "sin.approx.f32", in: isa.Inst{Data: isa.DataFloat}, want: "MUFU.SIN"},
		{op: "ld.global.f32", in: at(isa.Inst{}, isa.Global, 4, true, false), want: "LDG.E"},
		{op: "ld.global.v4.f32", in: at(isa.Inst{}, isa.Global, 16, true, false), want: "LDG.E.128"},
		{op: "st.global.f64", in: at(isa.Inst{}, isa.Global, 8, false, true), want: "STG.E.64"},
		{op: "ld.shared.u8", in: at(isa.Inst{}, isa.Shared, 1, true, false), want: "LDS.U8"},
		{op: "st.local.u16", in: at(isa.Inst{}, isa.Local, 2, false, true), want: "STL.U16"},
		{op: "ld.u32", in: at(isa.Inst{}, isa.Generic, 4, true, false), want: "LD.E"},
		{op: "ld.param.u64", in: at(isa.Inst{}, isa.Param, 8, true, false), want: "LDC.64"},
		{op: "atom.global.add.u32", in: at(isa.Inst{Atomic: true}, isa.Global, 4, true, true), want: "ATOMG.E.ADD"},
		{op: "atom.shared.add.u32", in: at(isa.Inst{Atomic: true}, isa.Shared, 4, true, true), want: "ATOMS.ADD"},
		{op: "red.global.add.u32", in: at(isa.Inst{Atomic: true}, isa.Global, 4, true, true), want: "RED.E.ADD"},
		{op: "atom.shared.cas.b64", in: at(isa.Inst{Atomic: true}, isa.Shared, 8, true, true), want: "ATOMS.CAS.64"},
		{op: "atom.max.u32", in: at(isa.Inst{Atomic: true}, isa.Generic, 4, true, true), want: "ATOM.E.MAX"},
		{op: "bar.sync", in: isa.Inst{Barrier: true}, want: "BAR.SYNC"},
		{op: "bar.arrive", want: "BAR.ARV"},
		{op: "bra", in: isa.Inst{Flow: isa.FlowBranch}, want: "BRA"},
		{op: "ret", in: isa.Inst{Flow: isa.FlowReturn}, want: "EXIT"},
		{op: "ret", in: isa.Inst{Flow: isa.FlowReturn}, inner: true, want: "RET.REL.NODEC"},
		{op: "exit", in: isa.Inst{Flow: isa.FlowExit}, inner: true, want: "EXIT"},
		{op: "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", in: isa.Inst{Unit: isa.UnitTensor}, want: "HMMA.16816"},
		{op: "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", in: isa.Inst{Unit: isa.UnitTensor}, want: "DMMA.884"},
		{op: "cp.async.ca.shared.global", in: at(isa.Inst{}, isa.Global, 16, true, false), want: "LDGSTS.E.128"},
		{op: "cp.async.commit_group", want: "LDGDEPBAR"},
	} {
		c.in.Op = c.op
		if got := mnemonicOf(&c.in, c.text, !c.inner); got != c.want {
			t.Errorf("%s: %s, want %s", c.op, got, c.want)
		}
	}
}

// TestFold: PTX registers share 252 names, in which pairs and groups of four stay
// together; predicates have none.
func TestFold(t *testing.T) {
	var got []trace.Reg
	fold(&got, []isa.Reg{
		{File: isa.RegGPR, Index: 5, Count: 1}, {File: isa.RegPred, Index: 1, Count: 1},
		{File: isa.RegGPR, Index: 252, Count: 4}, {File: isa.RegGPR, Index: 1006, Count: 2},
	})
	want := []uint16{5, 0, 250}
	if len(got) != len(want) {
		t.Fatalf("%v", got)
	}
	for i, n := range want {
		if got[i] != (trace.Reg{File: isa.RegGPR, N: n}) {
			t.Errorf("%v, want R%d", got[i], n)
		}
	}
}

// huge is a launch with more blocks than can be recorded.
type huge struct{ exec.Work }

func (huge) Name() string   { return "huge" }
func (huge) Blocks() uint64 { return mostBlocks + 1 }

// TestTooLarge: a grid whose list of blocks would not fit is refused before the
// run, by name.
func TestTooLarge(t *testing.T) {
	r := New("test", func(*trace.Set) error { return nil })
	if w, _ := r.Launch(huge{}, Launch{Grid: [3]int64{mostBlocks + 1, 1, 1}, Block: [3]int64{1, 1, 1}}); w != (huge{}) {
		t.Errorf("it was replaced by %T", w)
	}
	if err := r.Begin(); err == nil || !strings.Contains(err.Error(), "kernel huge has 16777217 blocks") {
		t.Errorf("%v", err)
	}
	if err := r.Finish(); err != nil {
		t.Errorf("nothing was started, but: %v", err)
	}
}
