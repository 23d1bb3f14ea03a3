package sass

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// issue issues the next instruction of a warp.
func issue(t *testing.T, w *warp) exec.Pending {
	t.Helper()
	var e exec.Effects
	p, err := w.Issue(&e)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func reach(t *testing.T, w *warp, p exec.Pending) *exec.Effects {
	t.Helper()
	var e exec.Effects
	if err := w.Access(p, &e); err != nil {
		t.Fatal(err)
	}
	return &e
}

// TestHazards: an instruction reads what was visible when it issued; the operands of one with
// variable latency may change until its Access.
func TestHazards(t *testing.T) {
	mem := device.New(device.Config{})
	addr, err := mem.Alloc(256, "buf")
	if err != nil {
		t.Fatal(err)
	}
	if err := mem.Write(addr, []byte{1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0}); err != nil {
		t.Fatal(err)
	}
	start := func(text string) *warp {
		w := &begin(t, load(t, text+"\nEXIT\n"), Launch{}, mem).warps[0]
		w.live, w.mask = 1, 1
		w.rows[2][0], w.rows[3][0] = uint32(addr), uint32(addr>>32)
		return w
	}

	t.Run("a result is hidden until its commit", func(t *testing.T) {
		w := start("MOV R4, 0x7\nIADD3 R5, R4, 0x1, RZ\nIADD3 R6, R4, 0x1, RZ")
		w.rows[4][0] = 100
		p := issue(t, w)
		q := issue(t, w)
		w.Commit(p)
		r := issue(t, w)
		w.Commit(q)
		w.Commit(r)
		if w.rows[5][0] != 101 || w.rows[6][0] != 8 {
			t.Errorf("R5 = %d, R6 = %d, want 101 and 8", w.rows[5][0], w.rows[6][0])
		}
	})
	t.Run("predicates and uniform registers too", func(t *testing.T) {
		w := start("ISETP.NE.AND P0, PT, R2, RZ, PT\n@P0 MOV R4, 0x1\nUMOV UR4, 0x9\nMOV R5, UR4\n@P0 MOV R6, UR4")
		p := issue(t, w)
		if q := issue(t, w); q != exec.NoPending {
			t.Error("an instruction whose guard does not hold yet leaves something pending")
		}
		u := issue(t, w)
		q := issue(t, w)
		w.Commit(p)
		w.Commit(u)
		r := issue(t, w)
		w.Commit(q)
		w.Commit(r)
		if w.rows[4][0] != 0 || w.rows[5][0] != 0 || w.rows[6][0] != 9 {
			t.Errorf("R4 = %d, R5 = %d, R6 = %d, want 0, 0 and 9", w.rows[4][0], w.rows[5][0], w.rows[6][0])
		}
	})
	t.Run("an address overwritten before it was read", func(t *testing.T) {
		w := start("LDG.E R4, [R2]\nIADD3 R2, R2, 0x4, RZ")
		p := issue(t, w)
		w.Commit(issue(t, w))
		e := reach(t, w, p)
		w.Commit(p)
		if w.rows[4][0] != 2 || e.Addr[0] != addr+4 || e.Space != isa.Global || e.Lanes != 1 {
			t.Errorf("R4 = %d from %#x, want 2 from %#x", w.rows[4][0], e.Addr[0], addr+4)
		}
	})
	t.Run("a uniform register is read at issue", func(t *testing.T) {
		w := start("UMOV UR4, 0x5\nI2F.U32 R4, UR4\nUMOV UR4, 0x9")
		w.Commit(issue(t, w))
		p := issue(t, w)
		w.Commit(issue(t, w))
		reach(t, w, p)
		w.Commit(p)
		if got := math.Float32frombits(w.rows[4][0]); got != 5 {
			t.Errorf("R4 = %g, want 5", got)
		}
	})
	t.Run("an address overwritten after it was read", func(t *testing.T) {
		w := start("LDG.E R4, [R2]\nIADD3 R2, R2, 0x4, RZ")
		p := issue(t, w)
		reach(t, w, p)
		w.Commit(issue(t, w))
		w.Commit(p)
		if w.rows[4][0] != 1 {
			t.Errorf("R4 = %d, want 1", w.rows[4][0])
		}
	})
	t.Run("an earlier result that comes late", func(t *testing.T) {
		w := start("IADD3 R2, R2, 0x8, RZ\nLDG.E R4, [R2]")
		p := issue(t, w)
		q := issue(t, w)
		w.Commit(p) // the load has taken its operands: it issued too soon
		reach(t, w, q)
		w.Commit(q)
		if w.rows[4][0] != 1 {
			t.Errorf("R4 = %d, want 1", w.rows[4][0])
		}
	})
	t.Run("of two writes the later commit stays", func(t *testing.T) {
		w := start("LDG.E R4, [R2]\nMOV R4, 0x63")
		p := issue(t, w)
		q := issue(t, w)
		reach(t, w, p)
		w.Commit(q)
		w.Commit(p)
		if w.rows[4][0] != 1 {
			t.Errorf("R4 = %d, want 1", w.rows[4][0])
		}
	})
	t.Run("memory is touched at the access", func(t *testing.T) {
		w := start("MOV R5, 0x2a\nSTG.E [R2+0x20], R5\nLDG.E R4, [R2+0x20]\nLDG.E R6, [R2+0x20]")
		w.Commit(issue(t, w))
		st, l1, l2 := issue(t, w), issue(t, w), issue(t, w)
		if !w.Late(st) || !w.Late(l1) {
			t.Fatal("memory instructions are of variable latency")
		}
		reach(t, w, l1)
		if e := reach(t, w, st); !e.Wrote {
			t.Error("a store says that it wrote nothing")
		}
		reach(t, w, l2)
		for _, p := range []exec.Pending{l2, l1, st} {
			w.Commit(p)
		}
		if w.rows[4][0] != 0 || w.rows[6][0] != 0x2a {
			t.Errorf("R4 = %d, R6 = %d, want 0 and 42", w.rows[4][0], w.rows[6][0])
		}
	})
	t.Run("LDGSTS shows its bytes at the commit", func(t *testing.T) {
		w := start("LDGSTS.E [R8], [R2.64]\nLDS R4, [R8]\nLDS R5, [R8]")
		p := issue(t, w)
		reach(t, w, p)
		q := issue(t, w)
		reach(t, w, q)
		w.Commit(p)
		r := issue(t, w)
		reach(t, w, r)
		w.Commit(q)
		w.Commit(r)
		if w.rows[4][0] != 0 || w.rows[5][0] != 1 {
			t.Errorf("R4 = %d, R5 = %d, want 0 and 1", w.rows[4][0], w.rows[5][0])
		}
	})
	t.Run("records are used again", func(t *testing.T) {
		w := start(strings.Repeat("MOV R4, 0x7\n", 50))
		for range 50 {
			w.Commit(issue(t, w))
		}
		if len(w.blk.pend) != moreRecords {
			t.Errorf("%d records for one instruction at a time", len(w.blk.pend))
		}
	})
}

// TestOutOfOrder: a program in which every instruction waits for what it needs
// gives the same state by Step and by any legal order of issue, access and
// commit.
func TestOutOfOrder(t *testing.T) {
	templates := []string{
		"IADD3 R%d, R%d, R%d, R%d", "IMAD R%d, R%d, R%d, R%d", "LOP3.LUT R%d, R%d, R%d, R%d, 0x96, !PT", "FFMA R%d, R%d, R%d, R%d",
		"MUFU.RCP R%d, R%d", "SHFL.BFLY PT, R%d, R%d, 0x3, 0x1f", "POPC R%d, R%d", "MOV R%d, R%d",
		"LDS R%d, [R%d.X4]", "STS [R%d.X4], R%d", "ISETP.LT.AND P0, PT, R%d, R%d, PT", "@P0 IADD3 R%d, R%d, R%d, RZ", "@!P0 FADD R%d, R%d, R%d",
	}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 3))
		var b strings.Builder
		// R4 to R11 hold small numbers for addresses.
		for range 60 {
			s := templates[r.IntN(len(templates))]
			for strings.Contains(s, "%d") {
				reg := 4 + r.IntN(12)
				if strings.Contains(s, "[R%d") && strings.Index(s, "[R%d") < strings.Index(s, "%d") {
					reg = 20 // an address register that is never written
				} else if strings.HasPrefix(s, "LDS R") && !strings.Contains(s, "LDS R%d") {
					reg = 20
				}
				s = strings.Replace(s, "%d", []string{"4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "", "", "", "", "20"}[reg-4], 1)
			}
			b.WriteString(s + "\n")
		}
		k := load(t, b.String()+"EXIT\n")
		if len(k.bad) > 0 {
			t.Fatal(k.bad)
		}
		set := func(w *warp) {
			q := rand.New(rand.NewPCG(seed, 4))
			for reg := 4; reg < 16; reg++ {
				for i := range 32 {
					w.rows[reg][i] = q.Uint32()
				}
			}
			for i := range 32 {
				w.rows[20][i] = uint32(i)
			}
		}
		one := &begin(t, k, Launch{}, nil).warps[0]
		set(one)
		finish(t, one)

		two := &begin(t, k, Launch{}, nil).warps[0]
		set(two)
		type flight struct {
			p        exec.Pending
			info     *isa.Inst
			accessed bool
		}
		var out []flight
		// touches reports whether a compiler would make an instruction wait while another is
		// pending.
		touches := func(a, b *isa.Inst) bool {
			over := func(x, y []isa.Reg) bool {
				for _, p := range x {
					for _, q := range y {
						if p.File == q.File && p.Index < q.Index+uint32(q.Count) && q.Index < p.Index+uint32(p.Count) {
							return true
						}
					}
				}
				return false
			}
			return over(a.Dsts, b.Srcs) || over(a.Dsts, b.Dsts) || over(a.Srcs, b.Dsts) || a.Space != isa.NoSpace && b.Space != isa.NoSpace
		}
		for two.live != 0 {
			next, _, _, st := two.Next()
			free := st == exec.Ready
			for _, f := range out {
				free = free && !touches(f.info, next)
			}
			if free && (len(out) == 0 || r.IntN(3) > 0) {
				if p := issue(t, two); p != exec.NoPending {
					out = append(out, flight{p: p, info: next})
				}
				continue
			}
			n := r.IntN(len(out))
			f := &out[n]
			if two.Late(f.p) && !f.accessed {
				reach(t, two, f.p)
				f.accessed = true
				continue
			}
			two.Commit(f.p)
			out = append(out[:n], out[n+1:]...)
		}
		for _, f := range out {
			if two.Late(f.p) && !f.accessed {
				reach(t, two, f.p)
			}
			two.Commit(f.p)
		}
		for reg := 4; reg < 16; reg++ {
			if one.rows[reg] != two.rows[reg] {
				t.Fatalf("seed %d: R%d differs\n%s", seed, reg, b.String())
			}
		}
		if one.pr != two.pr || string(one.blk.Shared) != string(two.blk.Shared) {
			t.Fatalf("seed %d: predicates or shared memory differ\n%s", seed, b.String())
		}
	}
}

// TestFlow: where lanes go, by what they leave in R0.
func TestFlow(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       func(i int) uint32
	}{
		{"both sides of a branch, and back together", `
    S2R R1, SR_LANEID
    ISETP.GE.U32.AND P0, PT, R1, 0xc, PT
    BSSY B0, join
    @P0 BRA upper
    MOV R0, 0x1
    BRA meet
upper:
    MOV R0, 0x2
meet:
    BSYNC B0
join:
    VOTE.ANY R2, PT, PT
    LOP3.LUT R0, R0, R2, RZ, 0x3c, !PT
    EXIT`, func(i int) uint32 { return ^pick(i < 12, 1, 2) }},
		{"a loop that lanes leave one by one", `
    S2R R1, SR_LANEID
    BSSY B3, done
again:
    IADD3 R0, R0, 0x3, RZ
    ISETP.LE.U32.AND P0, PT, R0, R1, PT
    @P0 BRA again
    BSYNC B3
done:
    VOTE.ALL P1, PT
    VOTE.ANY R2, PT, PT
    IADD3 R0, R0, R2, RZ
    EXIT`, func(i int) uint32 { return uint32(i/3*3+3) + full }},
		{"lanes that break out", `
    S2R R1, SR_LANEID
    ISETP.EQ.AND P0, PT, R1, 0x5, PT
    BSSY B0, join
    @P0 BREAK B0
    @P0 BRA out
    BSYNC B0
join:
    VOTE.ANY R0, PT, PT
    EXIT
out:
    VOTE.ANY R0, PT, PT
    EXIT`, func(i int) uint32 {
			if i == 5 {
				return 1 << 5
			}
			return full &^ (1 << 5)
		}},
		{"a barrier saved in a register", `
    S2R R1, SR_LANEID
    BSSY B0, join
    BMOV.32.CLEAR R5, B0
    ISETP.EQ.AND P0, PT, R1, RZ, PT
    @P0 BRA l1
l1: BMOV.32 B0, R5
    BSYNC B0
join:
    VOTE.ANY R0, PT, PT
    EXIT`, func(int) uint32 { return full }},
		{"WARPSYNC brings lanes together", `
    S2R R1, SR_LANEID
    ISETP.LT.AND P0, PT, R1, 0x10, PT
    @P0 BRA l1
l1: WARPSYNC 0xffffffff
    VOTE.ANY R0, PT, PT
    EXIT`, func(int) uint32 { return full }},
		{"WARPSYNC with a mask for each half", `
    S2R R1, SR_LANEID
    ISETP.LT.AND P0, PT, R1, 0x10, PT
    SEL R4, RZ, 0xffff0000, P0
    @P0 MOV R4, 0xffff
    LOP3.LUT R5, R1, 0x1, RZ, 0xc0, !PT
    ISETP.EQ.AND P1, PT, R5, RZ, PT
    @P1 BRA l1
l1: WARPSYNC R4
    VOTE.ANY R0, PT, PT
    EXIT`, func(i int) uint32 {
			if i < 16 {
				return 0xffff
			}
			return 0xffff0000
		}},
		{"calls and returns", `
    S2R R1, SR_LANEID
    LOP3.LUT R2, R1, 0x1, RZ, 0xc0, !PT
    ISETP.EQ.AND P0, PT, R2, RZ, PT
    MOV R4, 0x80
    MOV R5, RZ
    @P0 CALL.REL.NOINC f
    NOP
    NOP
    EXIT
f:  MOV R0, 0x7
    RET.REL.NODEC R4 0x0`, func(i int) uint32 { return uint32((i + 1) % 2 * 7) }},
		{"a call as trap handlers have it", `
    NOP
    LEPC R12
    CALL.ABS 0x60
    IADD3 R0, R0, 0x1, RZ
    EXIT
    NOP
    MOV R0, 0x7
    RET.ABS R12 0x20`, func(int) uint32 { return 8 }},
		{"a jump by register", `
    S2R R1, SR_LANEID
    LOP3.LUT R2, R1, 0x3, RZ, 0xc0, !PT
    IMAD R4, R2, 0x20, RZ
    MOV R5, RZ
    BRX R4 0x0
    MOV R0, 0xa
    EXIT
    MOV R0, 0xb
    EXIT
    MOV R0, 0xc
    EXIT
    MOV R0, 0xd
    EXIT`, func(i int) uint32 { return uint32(0xa + i%4) }},
		{"EXIT of some lanes releases the others", `
    S2R R1, SR_LANEID
    ISETP.LT.AND P0, PT, R1, 0x8, PT
    BSSY B0, join
    @P0 EXIT
    BSYNC B0
join:
    VOTE.ANY R0, PT, PT
    EXIT`, func(i int) uint32 {
			if i < 8 {
				return 0
			}
			return 0xffffff00
		}},
		{"a lane that waits for another one's store", `
    S2R R1, SR_LANEID
    ISETP.NE.AND P0, PT, R1, RZ, PT
    MOV R3, 0x9
    @P0 BRA give
spin:
    LDS R0, [0x10]
    ISETP.EQ.AND P1, PT, R0, RZ, PT
    @P1 BRA spin
    EXIT
give:
    STS [0x10], R3
    EXIT`, func(i int) uint32 { return b2u(i == 0) * 9 }},
		{"a lane that waits for another one's store and jumps back by register", `
    S2R R1, SR_LANEID
    ISETP.NE.AND P0, PT, R1, RZ, PT
    MOV R3, 0x9
    MOV R4, 0x60
    MOV R5, RZ
    @P0 BRA give
    LDS R0, [0x10]
    ISETP.EQ.AND P1, PT, R0, RZ, PT
    @!P1 EXIT
    RET.ABS.NODEC R4 0x0
give:
    STS [0x10], R3
    EXIT`, func(i int) uint32 { return b2u(i == 0) * 9 }},
		{"BRA.DIV jumps where lanes are missing", `
    S2R R1, SR_LANEID
    ISETP.LT.AND P0, PT, R1, 0x4, PT
    @P0 BRA l1
l1: BRA.DIV ~URZ, apart
    EXIT
apart:
    MOV R0, 0x1
    EXIT`, func(int) uint32 { return 1 }},
	} {
		for _, takenFirst := range []bool{false, true} {
			k := load(t, c.text+"\n")
			if len(k.bad) > 0 {
				t.Fatal(c.name, k.bad)
			}
			w := &begin(t, k, Launch{TakenFirst: takenFirst}, nil).warps[0]
			finish(t, w)
			for i := range 32 {
				want := c.want(i)
				if got := w.rows[0][i]; got != want {
					t.Errorf("%s (taken first: %v): lane %d has %#x, want %#x", c.name, takenFirst, i, got, want)
					break
				}
			}
		}
	}
}

// TestBarriers: blocks of several warps.
func TestBarriers(t *testing.T) {
	for _, c := range []struct {
		name, text string
		threads    uint32
		want       func(thread int) uint32
	}{
		{"all warps see what was stored before", `
    S2R R1, SR_TID.X
    STS [R1.X4], R1
    BAR.SYNC 0x0
    LOP3.LUT R2, R1, 0x20, RZ, 0x3c, !PT
    LDS R0, [R2.X4]
    EXIT`, 128, func(i int) uint32 { return uint32(i ^ 32) }},
		{"a last warp that is not full", `
    S2R R1, SR_TID.X
    BAR.RED.POPC 0x1, PT
    B2R.RESULT R0
    EXIT`, 70, func(int) uint32 { return 70 }},
		{"and, or", `
    S2R R1, SR_TID.X
    ISETP.EQ.AND P0, PT, R1, 0x21, PT
    BAR.RED.OR 0x0, P0
    B2R.RESULT R2, P1
    BAR.RED.AND 0x0, P0
    B2R.RESULT R2, P2
    SEL R0, R0, 0x1, !P1
    @P2 MOV R0, 0x5
    EXIT`, 64, func(int) uint32 { return 1 }},
		{"one warp arrives, the other waits", `
    S2R R1, SR_TID.X
    ISETP.LT.AND P0, PT, R1, 0x20, PT
    @P0 BRA first
    BAR.SYNC 0x2, 0x40
    LDS R0, [RZ+0x40]
    EXIT
first:
    MOV R3, 0x6
    STS [RZ+0x40], R3
    BAR.ARV 0x2, 0x40
    EXIT`, 64, func(i int) uint32 { return b2u(i >= 32) * 6 }},
		{"a barrier that reduces nothing leaves the last result", `
    S2R R1, SR_TID.X
    BAR.RED.POPC 0x1, PT
    BAR.SYNC 0x2
    B2R.RESULT R0, P1
    EXIT`, 64, func(int) uint32 { return 64 }},
		{"all threads, and their number", `
    S2R R1, SR_TID.X
    ISETP.LT.AND P0, PT, R1, 0x20, PT
    @P0 BRA first
    BAR.SYNC 0x2, 0x40
    MOV R0, 0x1
    EXIT
first:
    BAR.SYNC 0x2
    MOV R0, 0x1
    EXIT`, 64, func(int) uint32 { return 1 }},
		{"many warps spin on a word of shared memory that the last one stores", `
    S2R R1, SR_TID.X
    ISETP.GE.U32.AND P0, PT, R1, 0x3e0, PT
    @P0 BRA give
spin:
    LDS R0, [0x10]
    ISETP.EQ.AND P1, PT, R0, RZ, PT
    @P1 BRA spin
    EXIT
give:
    MOV R0, 0x9
    STS [0x10], R0
    EXIT`, 1024, func(int) uint32 { return 9 }},
		{"warps that have exited count no more", `
    S2R R1, SR_TID.X
    ISETP.LT.AND P0, PT, R1, 0x40, PT
    @P0 EXIT
    BAR.SYNC 0x0
    MOV R0, 0x1
    EXIT`, 96, func(i int) uint32 { return b2u(i >= 64) }},
	} {
		k := load(t, c.text+"\n")
		if len(k.bad) > 0 {
			t.Fatal(c.name, k.bad)
		}
		b := begin(t, k, Launch{Block: exec.Dim3{X: c.threads, Y: 1, Z: 1}}, nil)
		// In slices that are shorter than a round of all warps.
		st := exec.Stopped
		for n := 0; st == exec.Stopped && n < 200; n++ {
			st = b.Run(1000)
		}
		if st != exec.Finished {
			t.Errorf("%s: ended with status %d, %v, %v", c.name, st, b.Failure(), b.Waits())
			continue
		}
		for i := range int(c.threads) {
			if got, want := b.warps[i/32].rows[0][i%32], c.want(i); got != want {
				t.Errorf("%s: thread %d has %#x, want %#x", c.name, i, got, want)
				break
			}
		}
	}
}

// TestBadEnds: programs that cannot continue end with a message that says where.
func TestBadEnds(t *testing.T) {
	for _, c := range []struct {
		name, text string
		stuck      bool
		want       []string
	}{
		{"a BSYNC that one lane does not reach", `
    S2R R1, SR_LANEID
    ISETP.EQ.AND P0, PT, R1, 0x3, PT
    BSSY B2, join
    @P0 BRA other
    BSYNC B2
join:
    EXIT
other:
    BAR.SYNC 0x1, 0x40
    EXIT`, true, []string{"BSYNC", "of B2, which have not arrived", "0x00000008", "barrier 1", "2 of 64"}},
		{"a WARPSYNC that one lane does not reach", `
    S2R R1, SR_LANEID
    MOV R3, 0xf
    ISETP.EQ.AND P0, PT, R1, 0x1, PT
    ISETP.GE.AND P2, PT, R1, 0x4, PT
    @P2 EXIT
    ISETP.EQ.AND P1, PT, R1, 0x3, PT
    @P0 BRA other
    @P1 BRA never
    WARPSYNC R3
    EXIT
other:
    WARPSYNC R3
    EXIT
never:
    BAR.SYNC 0x1, 0x40
    EXIT`, true, []string{"WARPSYNC", "waits for lanes 0x00000008 of its warp, which have not arrived"}},
		{"a barrier that is never completed", "BAR.SYNC 0x3, 0x60\nEXIT", true, []string{"warp 0", "waits at barrier 3, where 64 of 96 threads have arrived"}},
		{"a read of nothing", "MOV R2, 0x123450\nMOV R3, 0x7f\nLDG.E R4, [R2]\nEXIT", false, []string{"out-of-bounds read of 4 bytes at 0x7f00123450", "LDG.E R4", "thread (0,0,0)", "pc 2", "t.sass:11"}},
		{"a misaligned store", "MOV R2, 0x1002\nMOV R3, RZ\nSTG.E [R2], R4\nEXIT", false, []string{"misaligned write of 4 bytes at 0x1002", "STG.E"}},
		{"shared memory that the block does not have", "LDS R4, [RZ+0x1000]\nEXIT", false, []string{"out-of-bounds read of 4 bytes at shared address 0x1000", "4096"}},
		{"local memory that a thread does not have", "MOV R2, 0x8000\nSTL [R2], R4\nEXIT", false, []string{"local address 0x8000", "a thread has"}},
		{"a trap", "BPT.TRAP 0x1\nEXIT", false, []string{"trap"}},
		{"a jump out of the code", "MOV R2, 0x7770\nMOV R3, RZ\nRET.REL.NODEC R2 0x0\nEXIT", false, []string{"jump to 0x7770"}},
		{"a matrix instruction with half a warp", "S2R R1, SR_LANEID\nISETP.LT.AND P0, PT, R1, 0x10, PT\n@P0 HMMA.16816.F32 R4, R8, R12, R4\nEXIT", false, []string{"all 32 must take part"}},
		{"barriers that disagree", `
    S2R R1, SR_TID.X
    ISETP.LT.AND P0, PT, R1, 0x20, PT
    @P0 BRA first
    BAR.SYNC 0x2, 0x20
    EXIT
first:
    BAR.ARV 0x2, 0x40
    EXIT`, false, []string{"barrier 2: this thread expects 32 threads, others in the same phase expect 64"}},
		{"a matrix load with half a warp", "S2R R1, SR_LANEID\nISETP.LT.AND P0, PT, R1, 0x10, PT\n@P0 LDSM.16.M88.4 R4, [R8]\nEXIT", false, []string{"all 32 must take part"}},
		{"a barrier that does not exist", "MOV R2, 0x10\nBAR.SYNC R2\nEXIT", false, []string{"barrier 16", "0 to 15"}},
		{"an atomic operation on local memory", "MOV R2, 0x2000010\nMOV R3, RZ\nATOM.E.ADD.STRONG.GPU PT, R4, [R2], R4\nEXIT", false, []string{"neither global nor shared"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := load(t, c.text+"\n")
			if len(k.bad) > 0 {
				t.Fatal(k.bad)
			}
			_, err := launch(t, k, Launch{Grid: exec.Dim3{X: 1, Y: 1, Z: 1}, Block: exec.Dim3{X: 64, Y: 1, Z: 1}, Params: make([]byte, 20)}, device.New(device.Config{}))
			if err == nil {
				t.Fatal("it ran to its end")
			}
			var s *exec.StuckError
			var f *exec.Fault
			if c.stuck != errors.As(err, &s) || c.stuck == errors.As(err, &f) {
				t.Errorf("ends with %T: %v", err, err)
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("the message lacks %q:\n%v", w, err)
				}
			}
		})
	}
}

// TestNoExit: code that ends without EXIT, as words can.
func TestNoExit(t *testing.T) {
	f, err := sass.Parse("t.sass", header+"NOP\nNOP\nEXIT\n", 0)
	if err != nil {
		t.Fatal(err)
	}
	f.Kernels[0].Code = f.Kernels[0].Code[:2]
	k := Load(f).Kernels()[0]
	_, err = launch(t, k, Launch{Grid: exec.Dim3{X: 1, Y: 1, Z: 1}, Block: exec.Dim3{X: 1, Y: 1, Z: 1}, Params: make([]byte, 20)}, device.New(device.Config{}))
	if err == nil || !strings.Contains(err.Error(), "end it with EXIT") {
		t.Errorf("%v", err)
	}
}

// TestLimit: an endless loop ends at the limit.
func TestLimit(t *testing.T) {
	k := load(t, "loop:\nYIELD\nBRA loop\nEXIT\n")
	_, err := NewMachine(device.New(device.Config{})).Run(t.Context(), Launch{Kernel: k, Grid: exec.Dim3{X: 3, Y: 1, Z: 1}, Block: exec.Dim3{X: 33, Y: 1, Z: 1}, Params: make([]byte, 20)}, Options{MaxInsts: 50_000})
	var l *exec.LimitError
	if !errors.As(err, &l) || l.Limit != 50_000 {
		t.Fatalf("%v", err)
	}
}

// TestEndlessBarriers: loops in which warps wait at a barrier each time around end if nothing
// changes, and go on if something counts.
func TestEndlessBarriers(t *testing.T) {
	alltests.Only(t, "barriers that nobody completes")
	for _, c := range []struct {
		name, text string
		stuck      bool
	}{
		{"a barrier and nothing else", "loop:\nBAR.SYNC 0x0\nBRA loop\nEXIT\n", true},
		{"one lane does something", "S2R R1, SR_TID.X\nISETP.NE.AND P0, PT, R1, RZ, PT\nloop:\nBSSY B0, join\n@P0 BRA join\nMOV R4, 0x7\njoin:\nBSYNC B0\nBAR.SYNC 0x0\nBRA loop\nEXIT\n", true},
		{"a counter", "loop:\nBAR.SYNC 0x0\nIADD3 R1, R1, 0x1, RZ\nBRA loop\nEXIT\n", false},
		{"a counter of one warp", "S2R R1, SR_TID.X\nISETP.GE.AND P0, PT, R1, 0x20, PT\nloop:\n@!P0 IADD3 R5, R5, 0x1, RZ\nBAR.SYNC 0x0\nBRA loop\nEXIT\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := load(t, c.text)
			_, err := NewMachine(device.New(device.Config{})).Run(t.Context(), Launch{Kernel: k, Grid: exec.Dim3{X: 1, Y: 1, Z: 1}, Block: exec.Dim3{X: 96, Y: 1, Z: 1}, Params: make([]byte, 20)}, Options{MaxInsts: 1 << 24})
			var stuck *exec.StuckError
			var limit *exec.LimitError
			if errors.As(err, &stuck) != c.stuck || errors.As(err, &limit) == c.stuck {
				t.Fatalf("%v; want that it loops: %v", err, c.stuck)
			}
			if c.stuck && len(stuck.Loops) == 0 {
				t.Error("nothing says where")
			}
		})
	}
}

// TestRefused: all forms that cannot be executed are named when the kernel is loaded.
func TestRefused(t *testing.T) {
	k := load(t, "NOP\nS2R R4, SR_SWINHI\nS2R R1, SR_SMEMSZ\nBRXU.DIV UR4 0x0\nEXIT\n")
	if len(k.bad) != 3 {
		t.Fatalf("%d instructions refused: %v", len(k.bad), k.bad)
	}
	for i, want := range []string{"t.sass:10:", "t.sass:11:", "t.sass:12:"} {
		if got := k.bad[i].Error(); !strings.HasPrefix(got, want) || !strings.Contains(got, "words") {
			t.Errorf("%q should begin with %q", got, want)
		}
	}
	_, err := launch(t, k, Launch{Grid: exec.Dim3{X: 1, Y: 1, Z: 1}, Block: exec.Dim3{X: 1, Y: 1, Z: 1}}, device.New(device.Config{}))
	var le *exec.LaunchError
	if !errors.As(err, &le) {
		t.Errorf("%v", err)
	}
}
