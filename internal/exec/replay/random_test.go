package replay

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/trace"
)

// ops are mnemonics of all classes, and some unknown ones.
var ops = []string{
	"IADD3", "IADD3.X", "IMAD.WIDE", "FFMA", "HFMA2.MMA", "DADD", "MUFU.RCP", "ISETP.GE.AND", "PLOP3.LUT", "SEL", "P2R", "R2P", "LEA.HI.X",
	"ULDC.64", "UIADD3", "UISETP.LT", "R2UR", "S2UR", "S2R", "CS2R", "SHFL.IDX", "VOTE.ALL", "POPC", "HMMA.16816.F32", "F2F.F64.F32",
	"LDG.E.128", "LDG.E.U8", "STG.E.64", "LD.E", "ST.E", "LDL", "STL", "LDS.64", "STS", "ATOMG.E.ADD", "RED.E.ADD", "ATOMS.ADD", "LDC.64", "LDGSTS.E.BYPASS.128",
	"LDGDEPBAR", "DEPBAR.LE", "LDSM.16.M88.4", "TEX.B", "MEMBAR.SC.GPU", "BAR.SYNC", "BAR.ARV", "BAR.RED.POPC", "BRA", "BRX", "CALL.REL.NOINC", "RET.REL.NODEC",
	"BSSY", "BSYNC", "WARPSYNC", "EXIT", "NOP", "KILL", "WHATEVER.64", "",
}

// randomLaunch draws a launch.
func randomLaunch(t *rapid.T, tb testing.TB) *trace.Kernel {
	arch := rapid.SampledFrom([]int{0, 35, 61, 70, 75, 80, 86, 90, 120}).Draw(t, "arch")
	k := &trace.Kernel{Header: trace.Header{Kernel: "k", Grid: trace.Dim{4, 1, 1}, Block: trace.Dim{uint32(rapid.IntRange(1, 200).Draw(t, "threads")), 1, 1}, Arch: arch, Registers: 32,
		SharedBase: 1 << 40, LocalBase: 1 << 41, Version: rapid.IntRange(0, 6).Draw(t, "version")}}
	reg := rapid.Custom(func(t *rapid.T) trace.Reg {
		file := isa.RegGPR
		if rapid.IntRange(0, 5).Draw(t, "uniform") == 0 {
			file = isa.RegUGPR
		}
		return trace.Reg{File: file, N: rapid.SampledFrom([]uint16{0, 1, 2, 3, 4, 5, 6, 8, 62, 63, 254, 255, 60000}).Draw(t, "n")}
	})
	n := rapid.IntRange(0, 20).Draw(t, "static")
	for i := range n {
		s := trace.Static{PC: uint32(16 * i), Op: rapid.SampledFrom(ops).Draw(t, "op"),
			Dsts: rapid.SliceOfN(reg, 0, 2).Draw(t, "dsts"), Srcs: rapid.SliceOfN(reg, 0, 5).Draw(t, "srcs")}
		switch rapid.IntRange(0, 9).Draw(t, "place") {
		case 0:
			s.PC = rapid.Uint32().Draw(t, "pc")
		case 1:
			s.Func = int32(rapid.IntRange(-2, 2).Draw(t, "func"))
		}
		if rapid.IntRange(0, 3).Draw(t, "imm") == 0 {
			s.Imms = []int64{rapid.Int64().Draw(t, "imm")}
		}
		if rapid.IntRange(0, 5).Draw(t, "guard") == 0 {
			s.Guard = trace.Guard{Known: true, Reg: uint8(rapid.IntRange(0, 7).Draw(t, "p")), Uniform: rapid.Bool().Draw(t, "up")}
		}
		if rapid.IntRange(0, 5).Draw(t, "words") == 0 {
			s.Words = [2]uint64{rapid.Uint64().Draw(t, "lo"), rapid.Uint64().Draw(t, "hi")}
		}
		if rapid.IntRange(0, 5).Draw(t, "text") == 0 {
			s.Text = rapid.SampledFrom([]string{"BAR.SYNC 0x1, 0x20", "BAR.SYNC 0xf, 0xffffffffffff", "IADD3 R1, R2, R3, R4", "@P0 SEL R1, R2, R3, P1", "x"}).Draw(t, "dis")
		}
		k.Code = append(k.Code, s)
	}
	list := &memBlocks{out: map[*trace.Block]bool{}, t: tb, fail: map[int]error{}}
	for i := range rapid.IntRange(0, 3).Draw(t, "blocks") {
		b := &trace.Block{Index: trace.Dim{uint32(i), 0, 0}}
		for id := range (k.Block[0] + 31) / 32 {
			if n == 0 || rapid.IntRange(0, 4).Draw(t, "absent") == 0 {
				continue
			}
			from := int32(len(b.Insts))
			for _, at := range rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 30).Draw(t, "path") {
				x := trace.Inst{At: int32(at), Active: isa.FullMask, Mask: rapid.SampledFrom([]isa.LaneMask{0, 1, 0xffff, 0xffff0000, isa.FullMask}).Draw(t, "mask"), Mem: -1}
				if rapid.Bool().Draw(t, "mem") {
					m := trace.Mem{Mode: trace.Mode(rapid.IntRange(0, 2).Draw(t, "mode")), Base: rapid.SampledFrom([]uint64{0, 1 << 40, 1<<41 + 8, 1 << 47, ^uint64(0)}).Draw(t, "base"),
						Stride: int32(rapid.IntRange(-200, 200).Draw(t, "stride")), First: int32(len(b.Deltas)), N: uint8(rapid.IntRange(0, 32).Draw(t, "deltas"))}
					for range m.N {
						b.Deltas = append(b.Deltas, 4)
					}
					x.Mem, x.NMems = int32(len(b.Mems)), 1
					b.Mems = append(b.Mems, m)
				}
				b.Insts = append(b.Insts, x)
				k.WarpInsts++
				k.ThreadInsts += uint64(x.Mask.Count())
			}
			b.Warps = append(b.Warps, trace.Warp{ID: int32(id), From: from, Upto: int32(len(b.Insts))})
		}
		list.list = append(list.list, b)
		k.Present = append(k.Present, uint64(i))
	}
	k.Blocks = list
	return k
}

// Any trace is replayed to its end, every record once, and inferred control bits guard all
// dependences in the order in which its warps ran.
func TestRandom(t *testing.T) {
	l := AmpereLatencies()
	rapid.Check(t, func(r *rapid.T) {
		k := randomLaunch(r, t)
		for _, o := range []Options{{}, {AsAccelSim: true}, {Hidden: HiddenRecover, Dependences: Inferred}, {Dependences: Inferred}} {
			w, err := New(k, o)
			if err != nil {
				r.Fatal(err)
			}
			warps, threads := runAll(t, w)
			if warps != k.WarpInsts || threads != k.ThreadInsts {
				r.Fatalf("%+v: %d warp and %d thread instructions, want %d and %d", o, warps, threads, k.WarpInsts, k.ThreadInsts)
			}
			if w.Report().Control != "inferred" {
				continue
			}
			var code []isa.Inst
			var bits []isa.Control
			for _, in := range w.Code() {
				code = append(code, *in)
				bits = append(bits, *in.Control)
			}
			for _, b := range k.Blocks.(*memBlocks).list {
				for _, v := range b.Warps {
					var path []int
					for _, x := range b.Insts[v.From:v.Upto] {
						path = append(path, w.At(int(x.At)))
					}
					if h := walk(code, bits, path, l, l.late); len(h) > 0 {
						r.Fatal(fmt.Sprintf("%s [%d] %v after %s [%d] %v: %s", code[h[0].at].Op, h[0].at, bits[h[0].at], code[h[0].by].Op, h[0].by, bits[h[0].by], h[0].what))
					}
				}
			}
		}
	})
}
