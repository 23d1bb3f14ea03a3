package trace

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/isa"
)

// list is blocks in memory.
type list []*Block

func (l list) Block(i int) (*Block, error) { return l[i], nil }
func (list) Free(*Block)                   {}
func (list) Close() error                  { return nil }

// A summary of a launch of four blocks, of which the trace has two.
func TestSummarize(t *testing.T) {
	const shared, local = 0x7f5e00000000, 0x7f5ddd000000
	k := &Kernel{
		Header: Header{Kernel: "k", Grid: Dim{2, 2, 1}, Block: Dim{32, 1, 1}, SharedBase: shared, LocalBase: local},
		Code: []Static{
			{PC: 0, Op: "MOV", Control: &isa.Control{}},
			{PC: 16, Op: "LDG.E.64", Width: 8},
			{PC: 32, Op: "LD.E", Width: 4},
			{PC: 48, Op: "STS.U8", Width: 1},
			{PC: 64, Op: "EXIT"},
		},
		Present:   []uint64{1, 3},
		WarpInsts: 7, ThreadInsts: 103,
	}
	block := func(in ...Inst) *Block {
		b := &Block{Warps: []Warp{{Upto: int32(len(in))}}, Insts: in}
		b.Mems = []Mem{{Mode: BaseDelta, Base: shared + 8, N: 3}, {Mode: BaseStride, Base: 0x10, Stride: 4}}
		// The windows of shared and local memory have 16 MiB each.
		b.Deltas = []int64{1<<24 - 12, local - (shared + 1<<24 - 4), 1 << 20}
		return b
	}
	k.Blocks = list{
		block(Inst{At: 0, Mask: isa.FullMask, Mem: -1}, Inst{At: 1, Mask: 0xff, Mem: 1, NMems: 1}, Inst{At: 4, Mask: isa.FullMask, Mem: -1}),
		block(Inst{At: 2, Mask: 0xf, Mem: 0, NMems: 1}, Inst{At: 3, Mask: 7, Mem: 1, NMems: 1}, Inst{At: 1, Mask: 0, Mem: 1, NMems: 1}, Inst{At: 4, Mask: isa.FullMask, Mem: -1}),
	}
	s, err := Summarize(k)
	if err != nil {
		t.Fatal(err)
	}
	want := &Summary{
		Header: k.Header, Code: 5, Control: 1, Blocks: 4, Present: 2, Warps: 2, WarpInsts: 7, ThreadInsts: 103,
		Missing: []Dim{{0, 0, 0}, {0, 1, 0}},
		Ops:     []OpCount{{"EXIT", 2}, {"LDG.E.64", 2}, {"LD.E", 1}, {"MOV", 1}, {"STS.U8", 1}},
	}
	// LDG: eight lanes of eight bytes and none. STS: three of one byte. LD: four
	// lanes, one in the window of shared memory, one 4 bytes before its end, one in
	// the first byte of that of local memory, one 1 MiB after it.
	want.Bytes[SpaceGlobal] = 8 * 8
	want.Bytes[SpaceShared] = 3*1 + 4*2
	want.Bytes[SpaceLocal] = 4 * 2
	if d := cmp.Diff(want, s); d != "" {
		t.Error(d)
	}
}

// Where the header has windows, an address belongs to the window around it.
func TestSpaceAt(t *testing.T) {
	h := Header{SharedBase: 0x1000000, LocalBase: 0x4000000}
	for _, c := range []struct {
		h    Header
		op   string
		addr uint64
		want Space
	}{
		{h, "LD.E", 0x1000000, SpaceShared}, {h, "LD.E", 0x1ffffff, SpaceShared}, {h, "ST", 0x2000000, SpaceGlobal}, {h, "ST", 0xffffff, SpaceGlobal},
		{h, "ATOM.ADD", 0x4ffffff, SpaceLocal}, {h, "LDG", 0x1000000, SpaceGlobal}, {h, "LDS.U.32", 0x1000000, SpaceShared}, {h, "STL.64", 0, SpaceLocal},
		{h, "LDC", 0, SpaceConst}, {h, "MOV", 0, SpaceOther}, {Header{}, "LD", 0x1000000, SpaceGeneric},
	} {
		if s := c.h.SpaceAt(SpaceOf(c.op), c.addr); s != c.want {
			t.Errorf("%s at %#x reaches %v, not %v", c.op, c.addr, s, c.want)
		}
	}
}
