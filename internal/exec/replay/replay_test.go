package replay

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/mnemonic"
	"github.com/heddle-sim/heddle/internal/trace"
)

// runAll replays a launch without timing, warps of a block in turn, and returns its counts. It
// fails if no warp can continue.
func runAll(t testing.TB, w *Work) (warps, threads uint64) {
	t.Helper()
	var e exec.Effects
	for n := range w.Blocks() {
		b := w.Block(n)
		for {
			moved, left := false, false
			for i := range b.Warps() {
				x := b.Warp(i)
				in, _, addr, st := x.Next()
				left = left || st != exec.Done
				if st != exec.Ready {
					continue
				}
				if w.Code()[addr/uint64(w.Traits().InstBytes)] != in {
					t.Fatalf("%s: address %#x is not that of %s", w.Name(), addr, in.Op)
				}
				if a, ok := x.(interface{ Ahead(int) (uint64, bool) }).Ahead(0); !ok || a != addr {
					t.Fatalf("%s: Ahead(0) is %#x %v, Next %#x", w.Name(), a, ok, addr)
				}
				if err := x.Step(&e); err != nil {
					t.Fatal(err)
				}
				if e.Inst != in {
					t.Fatal("another instruction was stepped than Next told")
				}
				moved = true
			}
			if !left {
				break
			}
			if !moved && !b.Unblock() {
				t.Fatalf("%s: block %v is stuck", w.Name(), b.Index())
			}
		}
		wi, ti := b.Counts()
		warps += wi
		threads += ti
		b.Release()
	}
	return warps, threads
}

// Every record of every real trace is replayed once, with all options.
func TestCounts(t *testing.T) {
	alltests.Only(t, "counts of traces")
	for _, a := range archives(t) {
		var lost HiddenReport
		for n, read := range a.kernels {
			k, stated := read(t)
			for _, o := range []Options{{}, {AsAccelSim: true}, {Hidden: HiddenRecover, Dependences: Inferred}} {
				w, err := New(k, o)
				if err != nil {
					t.Fatalf("%s %d: %v", a.name, n, err)
				}
				warps, threads := runAll(t, w)
				if warps != stated || warps != k.WarpInsts || threads != k.ThreadInsts {
					t.Errorf("%s %d: replayed %d warp and %d thread instructions; the trace states %d, records hold %d and %d",
						a.name, n, warps, threads, stated, k.WarpInsts, k.ThreadInsts)
				}
				r := w.Report()
				if len(r.Unknown) > 0 {
					t.Errorf("%s %d: unknown mnemonics %v", a.name, n, r.Unknown)
				}
				lost.Needed += r.Hidden.Needed
				lost.Recovered += r.Hidden.Recovered
				if n := len(k.Blocks.(*memBlocks).out); n > 0 {
					t.Errorf("%s: %d blocks were not given back", a.name, n)
				}
			}
		}
		t.Logf("%s: %d launches, %d reads of hidden registers, %.1f %% without a producer", a.name, len(a.kernels), lost.Needed, 100*lost.Lost())
	}
}

const head = `-kernel name = k
-grid dim = (1,1,1)
-block dim = (64,1,1)
-shmem = 0
-nregs = 8
-binary version = 80
-shmem base_addr = 0x7f0000000000
-local mem base_addr = 0x7e0000000000
-accelsim tracer version = 5
#BEGIN_TB
thread block = 0,0,0
`

// step is what a warp did in a step.
type step struct {
	Op      string
	Lanes   isa.LaneMask
	Space   isa.Space
	First   uint64 // address of the first lane
	Exited  isa.LaneMask
	Blocked bool
	State   exec.WarpState // after it
}

func take(t *testing.T, x exec.Warp) step {
	t.Helper()
	if _, _, _, st := x.Next(); st != exec.Ready {
		t.Fatalf("the warp cannot step: %v", st)
	}
	var e exec.Effects
	if err := x.Step(&e); err != nil {
		t.Fatal(err)
	}
	s := step{Op: e.Inst.Op, Lanes: e.Lanes, Space: e.Space, Exited: e.Exited, Blocked: e.Blocked}
	if e.Addr != nil && e.Lanes != 0 {
		s.First = e.Addr[e.Lanes.First()]
	}
	_, _, _, s.State = x.Next()
	return s
}

// Addresses keep their meaning: generic ones are those of the window in which
// they lie.
func TestMemory(t *testing.T) {
	k := readText(t, head+`warp = 0
insts = 9
0000 ffffffff 1 R2 LDG.E.64 1 R4 8 1 0x1000 8 0
0010 ffffffff 1 R2 LD.E 1 R4 4 1 0x7f0000000040 4 0
0020 ffffffff 1 R2 LD.E 1 R4 4 1 0x7e0000fffbc8 4 0
0030 ffffffff 1 R2 LD.E 1 R4 4 1 0x7d0000000000 4 0
0040 ffffffff 1 R2 LDL 1 R4 4 1 0xfffbc8 0 0
0050 80000000 0 STS.128 2 R4 R8 16 2 0x80 0
0060 00000000 1 R2 LDG.E 1 R4 4 1 0x0 0 0
0070 00000003 1 R2 ATOMG.E.ADD.STRONG.GPU 2 R4 R6 4 2 0x2000 4 0
0080 ffffffff 0 EXIT 0 0 0
`)
	w, err := New(k, Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := w.Block(0).Warp(0)
	for _, want := range []step{
		{Op: "LDG.E.64", Lanes: isa.FullMask, Space: isa.Global, First: 0x1000},
		{Op: "LD.E", Lanes: isa.FullMask, Space: isa.Shared, First: 0x40},
		{Op: "LD.E", Lanes: isa.FullMask, Space: isa.Local, First: 0xfffbc8},
		{Op: "LD.E", Lanes: isa.FullMask, Space: isa.Global, First: 0x7d0000000000},
		{Op: "LDL", Lanes: isa.FullMask, Space: isa.Local, First: 0xfffbc8},
		{Op: "STS.128", Lanes: 1 << 31, Space: isa.Shared, First: 0x80},
		{Op: "LDG.E", Space: isa.Global},
		{Op: "ATOMG.E.ADD.STRONG.GPU", Lanes: 3, Space: isa.Global, First: 0x2000},
		{Op: "EXIT", Lanes: isa.FullMask, Exited: isa.FullMask, State: exec.Done},
	} {
		if d := cmp.Diff(want, take(t, x)); d != "" {
			t.Errorf("%s: %s", want.Op, d)
		}
	}
	in := w.Code()[0]
	if in.Width != 8 || !in.Load || len(in.Dsts) != 1 || in.Dsts[0].Count != 2 || in.Srcs[0].Count != 2 {
		t.Errorf("LDG.E.64 moves %d bytes, results %v, sources %v", in.Width, in.Dsts, in.Srcs)
	}
}

// A barrier holds warps until all that have not ended have arrived.
func TestBarrier(t *testing.T) {
	k := readText(t, head+`warp = 0
insts = 3
0000 ffffffff 0 BAR.SYNC 0 0 0
0010 ffffffff 0 NOP 0 0 0
0020 ffffffff 0 EXIT 0 0 0
warp = 1
insts = 5
0030 0000ffff 0 EXIT 0 0 0
0000 00ff0000 0 BAR.SYNC 0 0 0
0000 ff000000 0 BAR.SYNC 0 0 0
0010 ffff0000 0 NOP 0 0 0
0020 ffff0000 0 EXIT 0 0 0
`)
	w, err := New(k, Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := w.Block(0)
	a, c := b.Warp(0), b.Warp(1)
	for _, s := range []struct {
		x    exec.Warp
		want step
	}{
		{a, step{Op: "BAR.SYNC", Lanes: isa.FullMask, Blocked: true, State: exec.AtBarrier}},
		{c, step{Op: "EXIT", Lanes: 0xffff, Exited: 0xffff}},
		{c, step{Op: "BAR.SYNC", Lanes: 0xff0000}},   // half of the warp has arrived
		{c, step{Op: "BAR.SYNC", Lanes: 0xff000000}}, // all of it: it opens
		{a, step{Op: "NOP", Lanes: isa.FullMask}},
		{c, step{Op: "NOP", Lanes: 0xffff0000}},
	} {
		if d := cmp.Diff(s.want, take(t, s.x)); d != "" {
			t.Errorf("%s", d)
		}
	}
}

// Barriers with several numbers and counts are distinguished if the disassembly gives them;
// otherwise no warp waits forever.
func TestNumberedBarriers(t *testing.T) {
	text := strings.Replace(head, "(64,1,1)", "(96,1,1)", 1) + `warp = 0
insts = 2
0000 ffffffff 0 BAR.SYNC.DEFER_BLOCKING 0 0 0
0020 ffffffff 0 EXIT 0 0 0
warp = 1
insts = 2
0000 ffffffff 0 BAR.SYNC.DEFER_BLOCKING 0 0 0
0020 ffffffff 0 EXIT 0 0 0
warp = 2
insts = 3
0010 ffffffff 0 BAR.ARV 0 0 0
0030 ffffffff 0 BAR.SYNC.DEFER_BLOCKING 0 0 0
0020 ffffffff 0 EXIT 0 0 0
`
	k := readText(t, text)
	for i, dis := range map[uint32]string{0: "BAR.SYNC.DEFER_BLOCKING 0x1, 0x60", 0x10: "BAR.ARV 0x1, 0x60", 0x30: "BAR.SYNC.DEFER_BLOCKING 0x2, 0x20"} {
		for j := range k.Code {
			if k.Code[j].PC == i {
				k.Code[j].Text = dis
			}
		}
	}
	w, err := New(k, Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := w.Block(0)
	states := func() (s [3]exec.WarpState) {
		for i := range s {
			_, _, _, s[i] = b.Warp(i).Next()
		}
		return s
	}
	take(t, b.Warp(0))
	take(t, b.Warp(1))
	if s := states(); s != [3]exec.WarpState{exec.AtBarrier, exec.AtBarrier, exec.Ready} {
		t.Errorf("two of three warps have come: %v", s)
	}
	take(t, b.Warp(2)) // arrives without waiting
	if s := states(); s != [3]exec.WarpState{} {
		t.Errorf("the third has arrived: %v", s)
	}
	take(t, b.Warp(2)) // a separate barrier
	if s := states(); s != [3]exec.WarpState{} {
		t.Errorf("a barrier of one warp: %v", s)
	}
	// Without the numbers the third arrives at the barrier of the others, and then waits
	// at it alone in the end.
	w, err = New(readText(t, text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := runAll(t, w); n != 7 {
		t.Errorf("%d instructions of 7", n)
	}
}

// Each lane of a generic access lies in the window of its own address; for Accel-Sim all lie
// in that of the first.
func TestGenericWindows(t *testing.T) {
	const shared, local, global = "0x7f0000000010", "0x7e0000000020", "0x10000"
	for _, c := range []struct {
		first, second string
		space         isa.Space // Generic: split
		shared, local isa.LaneMask
		accelSim      isa.Space
	}{
		{shared, shared, isa.Shared, 0, 0, isa.Shared},
		{local, local, isa.Local, 0, 0, isa.Local},
		{global, global, isa.Global, 0, 0, isa.Global},
		{shared, global, isa.Generic, 1, 0, isa.Shared},
		{global, shared, isa.Generic, 2, 0, isa.Global},
		{local, shared, isa.Generic, 2, 1, isa.Local},
		{global, local, isa.Generic, 0, 2, isa.Global},
	} {
		for _, accelSim := range []bool{false, true} {
			w, err := New(readText(t, head+"warp = 0\ninsts = 2\n0000 00000003 1 R2 LD.E 1 R4 4 0 "+c.first+" "+c.second+" 0\n0010 00000003 0 EXIT 0 0 0\n"), Options{AsAccelSim: accelSim})
			if err != nil {
				t.Fatal(err)
			}
			var got exec.Effects
			if err := w.Block(0).Warp(0).Step(&got); err != nil {
				t.Fatal(err)
			}
			want := exec.Effects{Space: c.space, Shared: c.shared, Local: c.local}
			if accelSim {
				want = exec.Effects{Space: c.accelSim}
			}
			if got.Space != want.Space || got.Shared != want.Shared || got.Local != want.Local {
				t.Errorf("%s and %s, as Accel-Sim %v: %v, lanes %#x in shared and %#x in local memory; want %v, %#x, %#x",
					c.first, c.second, accelSim, got.Space, got.Shared, got.Local, want.Space, want.Shared, want.Local)
			}
		}
	}
}

// In Accel-Sim a load bypasses the L1 if it is strong within the GPU; the rest of the mnemonic
// does not matter.
func TestPastL1(t *testing.T) {
	for _, c := range []struct {
		op             string
		ours, accelSim isa.CacheOp
	}{
		{"LDG.E", isa.CacheDefault, isa.CacheDefault},
		{"LDG.E.CG", isa.CacheCG, isa.CacheDefault},
		{"LDG.E.CV", isa.CacheCV, isa.CacheDefault},
		{"LDG.E.STRONG.GPU", isa.CacheCG, isa.CacheCG},
		{"LDG.E.64.STRONG.GPU", isa.CacheCG, isa.CacheCG},
		{"LDG.E.STRONG.SYS", isa.CacheCG, isa.CacheDefault},
		{"LDG.E.CONSTANT", isa.CacheNC, isa.CacheNC},
	} {
		for _, accelSim := range []bool{false, true} {
			want := c.ours
			if accelSim {
				want = c.accelSim
			}
			w, err := New(readText(t, head+"warp = 0\ninsts = 2\n0000 ffffffff 1 R2 "+c.op+" 1 R4 4 1 0x7f1000000000 4 0\n0010 ffffffff 0 EXIT 0 0 0\n"), Options{AsAccelSim: accelSim})
			if err != nil {
				t.Fatal(err)
			}
			if got := w.Code()[0].Cache; got != want {
				t.Errorf("%s, as Accel-Sim %v: cache operator %d, want %d", c.op, accelSim, got, want)
			}
		}
	}
}

// Unknown mnemonics are listed with the opcodes as which they are treated.
func TestUnknown(t *testing.T) {
	w, err := New(readText(t, head+"warp = 0\ninsts = 3\n0000 ffffffff 1 R1 FROB.X 0 0 0\n0000 ffffffff 1 R1 FROB.X 0 0 0\n0010 ffffffff 0 EXIT 0 0 0\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	runAll(t, w)
	if d := cmp.Diff([]mnemonic.Count{{Op: "FROB", As: "IADD3", N: 2}}, w.Report().Unknown); d != "" {
		t.Error(d)
	}
}

// Warps that wait for one that has ended continue, and so does one that waits for a barrier of
// no other warp.
func TestBarrierOfTheLast(t *testing.T) {
	k := readText(t, head+`warp = 0
insts = 2
0000 ffffffff 0 BAR.SYNC 0 0 0
0020 ffffffff 0 EXIT 0 0 0
warp = 1
insts = 1
0020 ffffffff 0 EXIT 0 0 0
`)
	w, err := New(k, Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := w.Block(0)
	if s := take(t, b.Warp(0)); s.State != exec.AtBarrier {
		t.Errorf("the first warp does not wait: %+v", s)
	}
	if s := take(t, b.Warp(1)); s.State != exec.Done {
		t.Errorf("%+v", s)
	}
	if s := take(t, b.Warp(0)); s.Op != "EXIT" {
		t.Errorf("%+v", s)
	}
}

// A warp whose records end is done, with or without EXIT; one without records never existed.
func TestMissingExit(t *testing.T) {
	k := readText(t, head+"warp = 1\ninsts = 1\n0000 0000ffff 0 NOP 0 0 0\n")
	w, err := New(k, Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := w.Block(0)
	if _, _, _, st := b.Warp(0).Next(); st != exec.Done || b.Warp(0).Live() != 0 {
		t.Errorf("a warp without records is %v", st)
	}
	if d := cmp.Diff(step{Op: "NOP", Lanes: 0xffff, Exited: isa.FullMask, State: exec.Done}, take(t, b.Warp(1))); d != "" {
		t.Error(d)
	}
}

// A block that cannot be read fails in its first step, and the error stays.
func TestBadBlock(t *testing.T) {
	text := head + "warp = 0\ninsts = 1\n0000 ffffffff 0 EXIT 0 0 0\n"
	bad := errors.New("corrupt")
	for name, spoil := range map[string]func(k *trace.Kernel){
		"unreadable":      func(k *trace.Kernel) { k.Blocks.(*memBlocks).fail[0] = bad },
		"warp too many":   func(k *trace.Kernel) { k.Blocks.(*memBlocks).list[0].Warps[0].ID = 2 },
		"negative warp":   func(k *trace.Kernel) { k.Blocks.(*memBlocks).list[0].Warps[0].ID = -1 },
		"records beyond":  func(k *trace.Kernel) { k.Blocks.(*memBlocks).list[0].Warps[0].Upto = 9 },
		"no instruction":  func(k *trace.Kernel) { k.Blocks.(*memBlocks).list[0].Insts[0].At = 7 },
		"negative":        func(k *trace.Kernel) { k.Blocks.(*memBlocks).list[0].Insts[0].At = -7 },
		"address missing": func(k *trace.Kernel) { k.Blocks.(*memBlocks).list[0].Insts[0].NMems = 1 },
		"no addresses":    func(k *trace.Kernel) { k.Blocks.(*memBlocks).list[0].Mems = []trace.Mem{{N: 3}} },
	} {
		k := readText(t, text)
		spoil(k)
		w, err := New(k, Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		b := w.Block(0)
		var e exec.Effects
		if _, _, _, st := b.Warp(0).Next(); st != exec.Ready {
			t.Errorf("%s: no warp can tell: %v", name, st)
		} else if err := b.Warp(0).Step(&e); err == nil || w.Err() == nil {
			t.Errorf("%s: no error", name)
		}
		b.Release()
	}
}

func TestRefused(t *testing.T) {
	for want, spoil := range map[string]func(k *trace.Kernel){
		"want 1 to 1024":                               func(k *trace.Kernel) { k.Block = trace.Dim{1 << 31, 1 << 31, 1 << 31} },
		"block of 2048 threads":                        func(k *trace.Kernel) { k.Block = trace.Dim{1024, 2, 1} },
		"extent must be at least 1":                    func(k *trace.Kernel) { k.Grid[1] = 0 },
		"are invalid":                                  func(k *trace.Kernel) { k.Shared = -1 },
		"a block of 0×1×1 threads":                     func(k *trace.Kernel) { k.Block[0] = 0 },
		"80000 registers are invalid":                  func(k *trace.Kernel) { k.Registers = 80000 },
		"cannot treat unknown mnemonics like \"flot\"": func(k *trace.Kernel) {},
	} {
		k := readText(t, head+"warp = 0\ninsts = 1\n0000 ffffffff 0 EXIT 0 0 0\n")
		spoil(k)
		o := Options{}
		if strings.Contains(want, "flot") {
			o.Rules.Unknown = "flot"
		}
		if _, err := New(k, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Code keeps its distances as long as they are reasonable.
func TestPlaces(t *testing.T) {
	k := readText(t, head+`warp = 0
insts = 4
0020 ffffffff 0 NOP 0 0 0
0050 ffffffff 0 NOP.A 0 0 0
fffffff0 ffffffff 0 NOP.B 0 0 0
0020 ffffffff 0 EXIT 0 0 0
`)
	w, err := New(k, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, in := range w.Code() {
		if int(in.PC) != i {
			t.Errorf("instruction %d has pc %d", i, in.PC)
		}
		got = append(got, in.Op)
	}
	// EXIT is at an address of another function, so it comes last.
	if d := cmp.Diff([]string{"NOP", filler, filler, "NOP.A", "NOP.B", "EXIT"}, got); d != "" {
		t.Error(d)
	}
	// Before Volta every fourth word holds control bits.
	w.k.Arch, w.bytes = 61, 8
	for pc, want := range map[uint32]uint64{8: 0, 0x10: 1, 0x18: 2, 0x28: 3, 0x38: 5, 0x48: 6} {
		if got := w.slot(pc); got != want {
			t.Errorf("sm_61: address %#x is number %d, want %d", pc, got, want)
		}
	}
}

// A step allocates nothing, and neither does a block once others have ended.
func TestNoAllocation(t *testing.T) {
	k := readText(t, head+strings.Repeat(`warp = 0
insts = 3
0000 ffffffff 1 R2 LDG.E 1 R4 4 1 0x1000 4 0
0010 ffffffff 0 BAR.SYNC 0 0 0
0020 ffffffff 0 EXIT 0 0 0
`, 1))
	w, err := New(k, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var e exec.Effects
	run := func() {
		b := w.Block(0)
		for x := b.Warp(0); ; {
			if _, _, _, st := x.Next(); st == exec.Done {
				break
			}
			if err := x.Step(&e); err != nil {
				t.Fatal(err)
			}
		}
		b.Release()
	}
	run()
	if n := testing.AllocsPerRun(100, run); n > 0 {
		t.Errorf("%v allocations a block", n)
	}
}
