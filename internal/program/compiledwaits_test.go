package program_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/heddle-sim/heddle/internal/program"
)

// waits are bodies in which lanes wait for other lanes of their warp. %r30 is the lane, %r31 the address of a word of shared
// memory that the warp has for itself, of which eight are zero.
const waitBegin = `and.b32 %r30, %i, 31; shr.u32 %r31, %i, 5; shl.b32 %r31, %r31, 8; mov.u32 %r29, room; add.u32 %r31, %r31, %r29; mov.u32 %r28, 0;
	setp.lt.u32 %p19, %r30, 8; shl.b32 %r29, %r30, 2; add.u32 %r29, %r29, %r31; @%p19 st.shared.u32 [%r29], 0; bar.sync 0; setp.eq.u32 %p18, %r30, 0; setp.lt.u32 %p17, %r30, 16;
`

var waits = []struct{ name, body string }{
	{"a lock whose holder is known by a flag of an earlier round", `mov.u32 %r3, 0;
		L: atom.shared.cas.b32 %r4, [%r31], 0, 1; setp.ne.u32 %p1, %r4, 0; @%p1 bra NEXT;
		ld.volatile.shared.u32 %r5, [%r31+4]; add.u32 %r5, %r5, 1; st.volatile.shared.u32 [%r31+4], %r5; mov.u32 %r3, 1; membar.cta; atom.shared.exch.b32 %r4, [%r31], 0;
		NEXT: setp.eq.u32 %p2, %r3, 0; @%p2 bra L; bar.sync 0; ld.shared.u32 %r28, [%r31+4];`},
	{"a lock that is released after the loop", `L: atom.shared.cas.b32 %r4, [%r31], 0, 1; setp.ne.u32 %p1, %r4, 0; @%p1 bra L;
		ld.volatile.shared.u32 %r5, [%r31+4]; add.u32 %r5, %r5, 1; st.volatile.shared.u32 [%r31+4], %r5; membar.cta; st.volatile.shared.u32 [%r31], 0; bar.sync 0; ld.shared.u32 %r28, [%r31+4];`},
	{"a lock, got through a register of the round before", `mov.u32 %r4, 1;
		L: mov.u32 %r6, %r4; atom.shared.exch.b32 %r7, [%r31], 1; setp.eq.u32 %p1, %r7, 0; selp.u32 %r4, 0, %r4, %p1; setp.ne.u32 %p2, %r6, 0; setp.ne.and.u32 %p3, %r4, 0, %p2; @%p3 bra L;
		ld.volatile.shared.u32 %r5, [%r31+4]; add.u32 %r5, %r5, 1; st.volatile.shared.u32 [%r31+4], %r5; st.volatile.shared.u32 [%r31], 0; bar.sync 0; ld.shared.u32 %r28, [%r31+4];`},
	{"one lane waits, the others go on after the loop", `@!%p18 bra ON; L: ld.volatile.shared.u32 %r4, [%r31]; setp.eq.u32 %p1, %r4, 0; @%p1 bra L; ON: st.volatile.shared.u32 [%r31], 5; add.u32 %r28, %r30, 7;`},
	{"one lane waits by ld.cv", `@!%p18 bra ON; L: ld.global.cv.u32 %r4, [%out+32]; setp.eq.u32 %p1, %r4, 0; @%p1 bra L; ON: setp.eq.u32 %p2, %r30, 1; @%p2 st.global.wt.u32 [%out], 5; add.u32 %r28, %r30, 7;`},
	{"both sides of a branch", `@%p17 bra ONE; L: ld.volatile.shared.u32 %r4, [%r31]; setp.eq.u32 %p1, %r4, 0; @%p1 bra L; add.u32 %r28, %r4, 2; bra END; ONE: mov.u32 %r28, 3; st.volatile.shared.u32 [%r31], 5; END:`},
	{"both sides of a branch, the other way", `@!%p17 bra ONE; L: ld.volatile.shared.u32 %r4, [%r31]; setp.eq.u32 %p1, %r4, 0; @%p1 bra L; add.u32 %r28, %r4, 2; bra END; ONE: mov.u32 %r28, 3; st.volatile.shared.u32 [%r31], 5; END:`},
	{"both sides wait for each other", `@%p17 bra ONE; st.volatile.shared.u32 [%r31], 1; L: ld.volatile.shared.u32 %r4, [%r31+4]; setp.eq.u32 %p1, %r4, 0; @%p1 bra L; bra END;
		ONE: ld.volatile.shared.u32 %r4, [%r31]; setp.eq.u32 %p1, %r4, 0; @%p1 bra ONE; st.volatile.shared.u32 [%r31+4], 5; END: add.u32 %r28, %r28, 2;`},
	{"each lane waits for the one before", `L: ld.volatile.shared.u32 %r4, [%r31]; setp.ne.u32 %p1, %r4, %r30; @%p1 bra L; add.u32 %r5, %r4, 1; mov.u32 %r28, %r4; st.volatile.shared.u32 [%r31], %r5;`},
	{"each lane waits, in another number of rounds", `mov.u32 %r10, 0; and.b32 %r12, %r30, 3; M: ld.volatile.shared.u32 %r4, [%r31]; setp.ne.u32 %p1, %r4, %r30; @%p1 bra M; add.u32 %r10, %r10, 1; setp.le.u32 %p2, %r10, %r12; @%p2 bra M; add.u32 %r5, %r4, 1; mov.u32 %r28, %r10; st.volatile.shared.u32 [%r31], %r5;`},
	{"the way out does not depend on what is waited for", `mov.u32 %r10, 0; L: ld.volatile.shared.u32 %r4, [%r31]; setp.lt.u32 %p1, %r4, %r30; @%p1 bra L; setp.lt.u32 %p2, %r30, 20; @%p2 bra A; st.volatile.shared.u32 [%r31+4], %r30; A: add.u32 %r5, %r30, 1; st.volatile.shared.u32 [%r31], %r5; mov.u32 %r28, 4;`},
	{"a flag in local memory", `.local .b32 flag; mov.u32 %r3, 0; st.local.u32 [flag], %r3;
		L: atom.shared.cas.b32 %r4, [%r31], 0, 1; setp.ne.u32 %p1, %r4, 0; @%p1 bra NEXT; st.local.u32 [flag], 1; NEXT: ld.local.u32 %r3, [flag]; setp.eq.u32 %p2, %r3, 0; @%p2 bra L;
		ld.volatile.shared.u32 %r5, [%r31+4]; add.u32 %r5, %r5, 1; st.volatile.shared.u32 [%r31+4], %r5; st.volatile.shared.u32 [%r31], 0; bar.sync 0; ld.shared.u32 %r28, [%r31+4];`},
	{"a flag by a branch", `mov.u32 %r3, 0;
		L: atom.shared.cas.b32 %r4, [%r31], 0, 1; setp.ne.u32 %p1, %r4, 0; @%p1 bra NEXT; mov.u32 %r3, 1; NEXT: setp.eq.u32 %p2, %r3, 0; @%p2 bra L;
		ld.volatile.shared.u32 %r5, [%r31+4]; add.u32 %r5, %r5, 1; st.volatile.shared.u32 [%r31+4], %r5; st.volatile.shared.u32 [%r31], 0; bar.sync 0; ld.shared.u32 %r28, [%r31+4];`},
	{"an acquiring load", `@!%p18 bra ON; L: ld.acquire.cta.shared.u32 %r4, [%r31]; setp.eq.u32 %p1, %r4, 0; @%p1 bra L; ON: st.release.cta.shared.u32 [%r31], 5; add.u32 %r28, %r30, 7;`},
	{"a wait before a barrier, and then what lanes do together", `@!%p18 bra ON; mov.u32 %r10, 0; L: ld.volatile.shared.u32 %r4, [%r31+4]; add.u32 %r10, %r10, 1; add.u32 %r4, %r4, 3; setp.lt.u32 %p1, %r10, %r4; @%p1 bra L; ON: bar.sync 0; setp.eq.u32 %p2, %r30, 1; @%p18 st.volatile.shared.u32 [%r31], 5; @%p2 st.volatile.shared.u32 [%r31+8], 6; ld.volatile.shared.u32 %r28, [%r31]; ld.volatile.shared.u32 %r5, [%r31+8]; mad.lo.u32 %r28, %r5, 10, %r28;`},
	{"an mbarrier", `@%p18 mbarrier.init.shared.b64 [%r31+8], 32; bar.sync 0; @!%p18 bra ON; mbarrier.arrive.shared.b64 %d3, [%r31+8]; L: mbarrier.test_wait.shared.b64 %p1, [%r31+8], %d3; @!%p1 bra L; bra END; ON: mbarrier.arrive.shared.b64 _, [%r31+8]; END: add.u32 %r28, %r30, 7;`},
	{"a loop that sleeps", `@!%p18 bra ON; mov.u32 %r5, 8; L: nanosleep.u32 %r5; add.u32 %r5, %r5, 1; ld.volatile.shared.u32 %r4, [%r31]; setp.eq.u32 %p1, %r4, 0; @%p1 bra L; ON: st.volatile.shared.u32 [%r31], 5; add.u32 %r28, %r30, 7;`},
	{"a choice around a wait in a loop", `mov.u32 %r10, 0; M: setp.ne.u32 %p1, %r10, %r30; @%p1 bra B; L: ld.volatile.shared.u32 %r4, [%r31]; setp.ne.u32 %p2, %r4, %r30; @%p2 bra L; add.u32 %r28, %r4, 1; bra C; B: setp.ne.u32 %p3, %r30, 31; C: add.u32 %r5, %r30, 1; @!%p1 st.volatile.shared.u32 [%r31], %r5; add.u32 %r10, %r10, 1; setp.lt.u32 %p4, %r10, 32; @%p4 bra M;`},
	{"a barrier of some lanes", `@%p17 bra ONE; barrier.sync 1, 64; add.u32 %r28, %r28, 1; ONE: @!%p17 bra END; barrier.sync 1, 64; END: add.u32 %r28, %r28, 2;`},
	{"lanes of a warp meet from several places", `@%p17 bra ONE; bar.warp.sync -1; add.u32 %r28, %r28, 1; bra END; ONE: bar.warp.sync -1; END: add.u32 %r28, %r28, 2;`},
	{"sides that may end, and then what lanes do together", `setp.eq.u64 %p5, %out, 0; @%p17 bra ONE; st.shared.u32 [%r31], %r30; @%p5 bra DEAD; st.shared.u32 [%r31+4], %r30; bra ON; DEAD: st.shared.u32 [%r31], 1; exit;
		ONE: st.shared.u32 [%r31+8], %r30; @%p5 bra DEAD; st.shared.u32 [%r31+12], %r30; ON: shfl.sync.bfly.b32 %r28, %r30, 17, 31, -1;`},
	{"a wait, and then what lanes do together", `@!%p18 bra ON; L: ld.volatile.shared.u32 %r4, [%r31]; setp.eq.u32 %p1, %r4, 0; @%p1 bra L; ON: st.volatile.shared.u32 [%r31], 5; shfl.sync.bfly.b32 %r28, %r30, 3, 31, -1; vote.sync.ballot.b32 %r5, %p17, -1; add.u32 %r28, %r28, %r5; redux.sync.add.u32 %r6, %r30, -1; add.u32 %r28, %r28, %r6; bar.red.popc.u32 %r7, 0, %p17; add.u32 %r28, %r28, %r7;`},
	{"lanes go through a loop once more before what all do together, by a way of their own", `mov.u32 %r4, 0; mov.u32 %r7, 0; mov.u32 %r22, 0; mov.u32 %r21, 0; mov.u32 %r5, 5;
		L: add.u32 %r4, %r4, 1; red.shared.add.u32 [%r31], 1; add.u32 %r7, %r7, %r30; and.b32 %r8, %r7, 3; setp.ne.u32 %p1, %r8, 1; rem.u32 %r9, %r4, 7; setp.ne.u32 %p2, %r9, 0; and.pred %p1, %p1, %p2; @%p1 bra L;
		red.shared.add.u32 [%r31+4], 1; setp.gt.u32 %p1, %r4, 4; @%p1 bra M; red.shared.add.u32 [%r31+8], 1; add.u32 %r21, %r21, 100;
		M: shfl.sync.idx.b32 %r9, %r30, %r5, 31, -1; mad.lo.u32 %r28, %r28, 31, %r9; add.u32 %r21, %r21, 1; add.u32 %r22, %r22, 1; setp.lt.u32 %p3, %r22, 3; @%p3 bra L; mad.lo.u32 %r28, %r28, 7, %r21;`},
	{"the same, by the way of the others", `mov.u32 %r4, 0; mov.u32 %r7, 0; mov.u32 %r22, 0; mov.u32 %r21, 0; mov.u32 %r5, 5;
		L: add.u32 %r4, %r4, 1; red.shared.add.u32 [%r31], 1; add.u32 %r7, %r7, %r30; and.b32 %r8, %r7, 3; setp.ne.u32 %p1, %r8, 1; rem.u32 %r9, %r4, 7; setp.ne.u32 %p2, %r9, 0; and.pred %p1, %p1, %p2; @%p1 bra BACK;
		red.shared.add.u32 [%r31+4], 1; setp.gt.u32 %p1, %r4, 4; @%p1 bra M; red.shared.add.u32 [%r31+8], 1; add.u32 %r21, %r21, 100;
		M: shfl.sync.idx.b32 %r9, %r30, %r5, 31, -1; mad.lo.u32 %r28, %r28, 31, %r9; add.u32 %r21, %r21, 1; add.u32 %r22, %r22, 1; setp.ge.u32 %p3, %r22, 3; @%p3 bra END; BACK: bra.uni L; END: mad.lo.u32 %r28, %r28, 7, %r21;`},
	{"lanes go on with the outer loop from the inner one", `A: mov.u32 %r4, 0;
		B: add.u32 %r4, %r4, 1; setp.gt.u32 %p1, %r4, 2; @%p1 bra END; and.b32 %r8, %r30, 7; setp.eq.u32 %p1, %r8, 1; add.u32 %r28, %r28, 1; setp.lt.and.u32 %p1, %r28, 5, %p1; @%p1 bra A; bra B; END:`},
}

// waitNested is a wait in a loop of a loop, in which each lane waits for the one before.
const waitNested = `mov.u32 %r10, 0; M: mad.lo.u32 %r11, %r10, 32, %r30; L: ld.volatile.shared.u32 %r4, [%r31]; setp.ne.u32 %p1, %r4, %r11; @%p1 bra L; add.u32 %r5, %r4, 1; add.u32 %r28, %r28, %r4; st.volatile.shared.u32 [%r31], %r5;
	add.u32 %r10, %r10, 1; setp.lt.u32 %p2, %r10, 3; @%p2 bra M;`

// TestCompiledNestedWait: lanes do not wait for others after a loop in which those wait for them.
func TestCompiledNestedWait(t *testing.T) {
	got, refused, err := bodyRun(t, program.CompiledCode, waitBegin+waitNested+" st.global.u32 [%out+8], %r28;", rowInput())
	if err != nil || refused != "" {
		t.Fatal(err, refused)
	}
	for i := range 64 {
		if v, want := binary.LittleEndian.Uint32(got[32*i+8:]), uint32(3*(i%32)+96); v != want {
			t.Errorf("thread %d: got %d, want %d", i, v, want)
		}
	}
}

// TestCompiledWaits: where lanes wait for others of their warp, compiled code comes to an end as PTX does.
func TestCompiledWaits(t *testing.T) {
	input := rowInput()
	for _, c := range waits {
		t.Run(c.name, func(t *testing.T) {
			body := waitBegin + c.body + " st.global.u32 [%out+8], %r28;"
			want, _, err := bodyRun(t, program.PTXCode, body, input)
			if err != nil {
				t.Fatal("PTX: ", err)
			}
			got, refused, err := bodyRun(t, program.CompiledCode, body, input)
			if err != nil || refused != "" {
				t.Fatal(err, refused)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("got %x\nwant %x", got, want)
			}
		})
	}
}
