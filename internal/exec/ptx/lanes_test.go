package ptx_test

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// TestShuffles compares every mode with the manual's arithmetic, for all
// segment widths, clamps and distances, with and without .sync, a predicate,
// lanes that are off, and the destination as its own source.
func TestShuffles(t *testing.T) {
	rnd := rand.New(rand.NewPCG(21, 22))
	for round := range 400 {
		mode := []string{"up", "down", "bfly", "idx"}[round%4]
		val, dist, ctl := make([]uint32, 32), make([]uint32, 32), make([]uint32, 32)
		seg := uint32(32) - 1<<rnd.IntN(6) // 31, 30, 28, 24, 16, 0
		clamp := uint32(31)
		if mode == "up" {
			clamp = 0
		}
		if rnd.IntN(3) == 0 {
			clamp = rnd.Uint32N(32)
		}
		for i := range 32 {
			val[i], dist[i], ctl[i] = rnd.Uint32(), rnd.Uint32N(40), seg<<8|clamp
			switch rnd.IntN(8) {
			case 0:
				dist[i] = rnd.Uint32()
			case 1:
				ctl[i] = rnd.Uint32()
			}
		}
		member := rnd.Uint32() | 1<<rnd.IntN(32)
		if rnd.IntN(2) == 0 {
			member = 0xffffffff
		}
		op, tail := "shfl."+mode+".b32", ""
		if round%3 != 0 {
			op, tail = "shfl.sync."+mode+".b32", fmt.Sprintf(", %d", int32(member))
		}
		target := []string{"sm_60", "sm_80"}[rnd.IntN(2)]
		if round%3 == 0 {
			target = "sm_35"
		}
		body := fmt.Sprintf(`
			mul.wide.u32 %%a0, %%t, 4;
			add.u64 %%a1, %%in0, %%a0;
			add.u64 %%a2, %%out, %%a0;
			ld.global.u32 %%r0, [%%a1];
			ld.global.u32 %%r1, [%%a1+128];
			ld.global.u32 %%r2, [%%a1+256];
			shr.u32 %%r4, %d, %%t;
			and.b32 %%r4, %%r4, 1;
			setp.eq.u32 %%p0, %%r4, 1;
			mov.u32 %%r5, 2;
			@!%%p0 bra OFF;
			%s %%r0|%%p1, %%r0, %%r1, %%r2%s;
			selp.u32 %%r5, 1, 0, %%p1;
		OFF:
			st.global.u32 [%%a2], %%r0;
			st.global.u32 [%%a2+128], %%r5;`, int32(member), op, tail)
		got := runBody(t, bodyOpts{target: target, version: "6.0"}, regs, body, [][]byte{words(append(append(append([]uint32{}, val...), dist...), ctl...)...)}, 256)
		for lane := range 32 {
			if member>>lane&1 == 0 {
				if word(got, lane) != val[lane] || word(got, 32+lane) != 2 {
					t.Fatalf("%s: lane %d is off and changed", op, lane)
				}
				continue
			}
			// In units of segments: which lanes the segment has, where the limit is.
			segMask := int(ctl[lane] >> 8 & 31)
			cv, b := int(ctl[lane]&31), int(dist[lane]%32)
			maxLane := lane&segMask + cv&(31-segMask)
			minLane := lane & segMask
			j, ok := lane, false
			switch mode {
			case "up":
				j = lane - b
				ok = j >= maxLane
			case "down":
				j = lane + b
				ok = j <= maxLane
			case "bfly":
				j = lane ^ b
				ok = j <= maxLane
			case "idx":
				j = minLane + b&(31-segMask)
				ok = j <= maxLane
			}
			if !ok {
				j = lane
			}
			if member>>j&1 == 0 {
				continue // the manual leaves the value of a lane that is off open
			}
			wantP := uint32(0)
			if ok {
				wantP = 1
			}
			if g, p := word(got, lane), word(got, 32+lane); g != val[j] || p != wantP {
				t.Fatalf("%s, lane %d, b %d, c %#x: %#x|%d, want %#x|%d", op, lane, dist[lane], ctl[lane], g, p, val[j], wantP)
			}
		}
	}
}

// TestVotesAndMatches: every mode, with the warp split into tiles of which each
// has its own member mask.
func TestVotesAndMatches(t *testing.T) {
	rnd := rand.New(rand.NewPCG(23, 24))
	for round := range 200 {
		// A random partition of the lanes, up to five tiles.
		var mask [32]uint32
		tiles := 1 + rnd.IntN(5)
		tile := make([]int, 32)
		for i := range tile {
			tile[i] = rnd.IntN(tiles)
		}
		in := make([]uint32, 0, 128)
		for i := range mask {
			for k := range tile {
				if tile[k] == tile[i] {
					mask[i] |= 1 << k
				}
			}
			in = append(in, mask[i])
		}
		pred, val := make([]uint32, 32), make([]uint64, 32)
		for i := range pred {
			pred[i] = min(1, rnd.Uint32N(1+uint32(rnd.IntN(3))))
			if round%5 == 0 {
				pred[i] = 1
			}
			val[i] = rnd.Uint64N(3) << (32 * (round % 2))
			if round%7 == 0 {
				val[i] = 5
			}
		}
		in = append(in, pred...)
		for _, v := range val {
			in = append(in, uint32(v), uint32(v>>32))
		}
		body := `
			mul.wide.u32 %a0, %t, 4;
			add.u64 %a1, %in0, %a0;
			add.u64 %a2, %a1, %a0;
			ld.global.u32 %r0, [%a1];
			ld.global.u32 %r1, [%a1+128];
			ld.global.u64 %a3, [%a2+256];
			ld.global.u32 %r2, [%a2+256];
			setp.ne.u32 %p0, %r1, 0;
			vote.sync.all.pred %p1, %p0, %r0;
			vote.sync.any.pred %p2, %p0, %r0;
			vote.sync.uni.pred %p3, %p0, %r0;
			vote.sync.any.pred %p4, !%p0, %r0;
			vote.sync.ballot.b32 %r3, %p0, %r0;
			match.any.sync.b64 %r4, %a3, %r0;
			match.any.sync.b32 %r5, %r2, %r0;
			match.all.sync.b64 %r6|%p5, %a3, %r0;
			elect.sync %r7|%p6, %r0;
			selp.u32 %r8, 1, 0, %p1;
			selp.u32 %r9, 2, 0, %p2;
			or.b32 %r8, %r8, %r9;
			selp.u32 %r9, 4, 0, %p3;
			or.b32 %r8, %r8, %r9;
			selp.u32 %r9, 8, 0, %p4;
			or.b32 %r8, %r8, %r9;
			selp.u32 %r9, 16, 0, %p5;
			or.b32 %r8, %r8, %r9;
			selp.u32 %r9, 32, 0, %p6;
			or.b32 %r8, %r8, %r9;
			add.u64 %a4, %out, %a0;
			st.global.u32 [%a4], %r3;
			st.global.u32 [%a4+128], %r4;
			st.global.u32 [%a4+256], %r5;
			st.global.u32 [%a4+384], %r6;
			st.global.u32 [%a4+512], %r7;
			st.global.u32 [%a4+640], %r8;`
		got := runBody(t, bodyOpts{}, ".reg .b64 %a<10>; .reg .b32 %r<12>; .reg .pred %p<8>;", body, [][]byte{words(in...)}, 768)
		for i := range 32 {
			var ballot, same64, same32 uint32
			for k := range 32 {
				if mask[i]>>k&1 == 0 {
					continue
				}
				ballot |= pred[k] << k
				if val[k] == val[i] {
					same64 |= 1 << k
				}
				if uint32(val[k]) == uint32(val[i]) {
					same32 |= 1 << k
				}
			}
			leader := uint32(bits.TrailingZeros32(mask[i]))
			flags, all := uint32(0), uint32(0)
			if ballot == mask[i] {
				flags |= 1
			} else {
				flags |= 8
			}
			if ballot != 0 {
				flags |= 2
			}
			if ballot == 0 || ballot == mask[i] {
				flags |= 4
			}
			if same64 == mask[i] {
				flags |= 16
				all = mask[i]
			}
			if int(leader) == i {
				flags |= 32
			}
			for k, w := range []uint32{ballot, same64, same32, all, leader, flags} {
				if g := word(got, 32*k+i); g != w {
					t.Fatalf("round %d, lane %d of tile %#x, result %d: %#x, want %#x", round, i, mask[i], k, g, w)
				}
			}
		}
	}
}

// TestOldVotes: the forms without a member mask count the active lanes.
func TestOldVotes(t *testing.T) {
	got := runBody(t, bodyOpts{target: "sm_35", version: "4.0"}, regs, `
		mov.u32 %r0, 0;
		setp.ge.u32 %p0, %t, 20;
		@%p0 bra END;
		setp.lt.u32 %p1, %t, 20;
		vote.all.pred %p2, %p1;
		setp.lt.u32 %p1, %t, 3;
		vote.ballot.b32 %r0, %p1;
		@%p2 add.u32 %r0, %r0, 0x100;
	END:
	`+at("%r0"), nil, 128)
	expect(t, got, func(i int) uint32 {
		if i >= 20 {
			return 0
		}
		return 0x107
	})
}

// TestWarpSynchronisation: lanes that come late, from elsewhere, or not at all.
func TestWarpSynchronisation(t *testing.T) {
	checkWarpSynchronisation(t, false)
	checkWarpSynchronisation(t, true)
}

func checkWarpSynchronisation(t *testing.T, stepped bool) {
	t.Helper()
	delay := `
		mul.lo.u32 %r10, %t, 7;
	D:	setp.eq.u32 %p5, %r10, 0;
		@%p5 bra E;
		sub.u32 %r10, %r10, 1;
		bra D;
	E:`
	// Lanes leave a loop at different times and shuffle inside it.
	got := runBody(t, bodyOpts{stepped: stepped}, regs, delay+`
		mov.u32 %r0, 0;
		mov.u32 %r2, 0;
	L:	setp.gt.u32 %p0, %r0, %t;
		vote.sync.ballot.b32 %r1, %p0, -1;
		popc.b32 %r1, %r1;
		mad.lo.u32 %r2, %r2, 3, %r1;
		add.u32 %r0, %r0, 1;
		setp.lt.u32 %p1, %r0, 5;
		@%p1 bra L;
	`+at("%r2"), nil, 128)
	expect(t, got, func(int) uint32 {
		v := uint32(0)
		for r := range uint32(5) {
			v = v*3 + r
		}
		return v
	})
	// A lane reads what another one stored before bar.warp.sync, though the two
	// stand at different instructions and one took a detour.
	got = runBody(t, bodyOpts{stepped: stepped}, regs+".shared .b32 s[32];", `
		mov.u64 %a0, s;
		mul.wide.u32 %a1, %t, 4;
		add.u64 %a1, %a0, %a1;
		xor.b32 %r3, %t, 31;
		mul.wide.u32 %a2, %r3, 4;
		add.u64 %a2, %a0, %a2;
		and.b32 %r0, %t, 1;
		setp.eq.u32 %p0, %r0, 0;
		@%p0 bra EVEN;
	`+delay+`
		mul.lo.u32 %r1, %t, 5;
		st.shared.u32 [%a1], %r1;
		bar.warp.sync 0xffffffff;
		ld.shared.u32 %r2, [%a2];
		bra JOIN;
	EVEN:
		mul.lo.u32 %r1, %t, 3;
		st.shared.u32 [%a1], %r1;
		bar.warp.sync 0xffffffff;
		ld.shared.u32 %r2, [%a2];
	JOIN:
	`+at("%r2"), nil, 128)
	expect(t, got, func(i int) uint32 {
		j := uint32(31 - i)
		if j%2 == 0 {
			return 3 * j
		}
		return 5 * j
	})
	// Half of the warp waits while the other half leaves; another warp spins
	// meanwhile on what the waiting half will store.
	got = runBody(t, bodyOpts{block: 64, stepped: stepped}, regs+".shared .b32 flag;", `
		setp.eq.u32 %p0, %t, 0;
		@%p0 st.shared.u32 [flag], 0;
		bar.sync 0;
		setp.ge.u32 %p0, %t, 32;
		@%p0 bra SPIN;
		setp.ge.u32 %p0, %t, 16;
		@%p0 bra LATE;
		bar.warp.sync -1;
		st.volatile.shared.u32 [flag], 77;
		bra END;
	LATE:
	`+delay+`
		exit;
	SPIN:
		ld.volatile.shared.u32 %r0, [flag];
		setp.eq.u32 %p1, %r0, 0;
		@%p1 bra SPIN;
	END:
		mov.u32 %r1, 1;
	`+at("%r1"), nil, 256)
	expect(t, got, func(i int) uint32 {
		if i >= 16 && i < 32 {
			return 0
		}
		return 1
	})
	// Tiles that come together at different times.
	got = runBody(t, bodyOpts{stepped: stepped}, regs, delay+`
		shr.u32 %r0, %t, 3;
		shl.b32 %r0, %r0, 3;
		shl.b32 %r1, 0xff, %r0;
		setp.gt.u32 %p0, %t, 5;
		setp.eq.u32 %p1, %t, 6;
		@%p1 bra SLOW;
	BACK:
		vote.sync.ballot.b32 %r2, %p0, %r1;
		bra END;
	SLOW:
		mov.u32 %r3, 50;
	S:	sub.u32 %r3, %r3, 1;
		setp.ne.u32 %p2, %r3, 0;
		@%p2 bra S;
		bra BACK;
	END:
		activemask.b32 %r4;
	`+at("%r2"), nil, 128)
	expect(t, got, func(i int) uint32 { return 0xffffffc0 & (0xff << (i / 8 * 8)) })
}

// TestTilesWaitApart: two tiles are incomplete at one instruction at the same time; completing
// the first does not release the second. A loop exit that is never taken keeps the lanes from
// reconverging earlier.
func TestTilesWaitApart(t *testing.T) {
	checkTilesWaitApart(t, false)
	checkTilesWaitApart(t, true)
}

func checkTilesWaitApart(t *testing.T, stepped bool) {
	t.Helper()
	got := runBody(t, bodyOpts{stepped: stepped}, regs, `
		and.b32 %r0, %t, 24;
		shl.b32 %r1, 0xff, %r0;
		setp.ne.u32 %p0, %t, 99;
		mov.u32 %r3, 0;
		mov.u32 %r2, 0;
		setp.eq.u32 %p1, %t, 3;
		@%p1 mov.u32 %r3, 100;
		setp.eq.u32 %p1, %t, 12;
		@%p1 mov.u32 %r3, 4000;
	LOOP:
		setp.eq.u32 %p1, %r3, 0;
		@%p1 bra VOTE;
		setp.gt.u32 %p2, %r3, 100000;
		@%p2 bra END;
		sub.u32 %r3, %r3, 1;
		bra LOOP;
	VOTE:
		vote.sync.ballot.b32 %r2, %p0, %r1;
	END:
	`+at("%r2"), nil, 128)
	expect(t, got, func(i int) uint32 { return 0xff << (i / 8 * 8) })
}

// TestSyncAcrossJoin: half of a warp waits inside a branch for the other half,
// which has reached the end of the branch, while another warp spins on what
// comes after.
func TestSyncAcrossJoin(t *testing.T) {
	checkSyncAcrossJoin(t, false)
	checkSyncAcrossJoin(t, true)
}

func checkSyncAcrossJoin(t *testing.T, stepped bool) {
	t.Helper()
	got := runBody(t, bodyOpts{block: 64, stepped: stepped}, regs+".shared .b32 flag;", `
		setp.eq.u32 %p0, %t, 0;
		@%p0 st.shared.u32 [flag], 0;
		bar.sync 0;
		setp.ge.u32 %p0, %t, 32;
		@%p0 bra SPIN;
		mov.u32 %r1, 1;
		setp.lt.u32 %p1, %t, 16;
		@%p1 bra INNER;
		mov.u32 %r1, 2;
		bra JOIN;
	INNER:
		bar.warp.sync 0xffffffff;
		mov.u32 %r1, 3;
		bra LAST;
	JOIN:
		bar.warp.sync 0xffffffff;
		add.u32 %r1, %r1, 10;
	LAST:
		bar.warp.sync 0xffffffff;
		st.volatile.shared.u32 [flag], 1;
		bra END;
	SPIN:
		ld.volatile.shared.u32 %r0, [flag];
		setp.eq.u32 %p1, %r0, 0;
		@%p1 bra SPIN;
		mov.u32 %r1, 7;
	END:
	`+at("%r1"), nil, 256)
	expect(t, got, func(i int) uint32 {
		switch {
		case i < 16:
			return 3
		case i < 32:
			return 12
		}
		return 7
	})
	// The same with the join before the second half's barrier.
	got = runBody(t, bodyOpts{block: 64, stepped: stepped}, regs+".shared .b32 flag;", `
		setp.eq.u32 %p0, %t, 0;
		@%p0 st.shared.u32 [flag], 0;
		bar.sync 0;
		setp.ge.u32 %p0, %t, 32;
		@%p0 bra SPIN;
		setp.ge.u32 %p1, %t, 16;
		mov.u32 %r1, 2;
		@%p1 bra JOIN;
		bar.warp.sync 0xffffffff;
		mov.u32 %r1, 3;
	JOIN:
		add.u32 %r1, %r1, 10;
		bar.warp.sync 0xffffffff;
		st.volatile.shared.u32 [flag], 1;
		bra END;
	SPIN:
		ld.volatile.shared.u32 %r0, [flag];
		setp.eq.u32 %p1, %r0, 0;
		@%p1 bra SPIN;
		mov.u32 %r1, 7;
	END:
	`+at("%r1"), nil, 256)
	expect(t, got, func(i int) uint32 {
		switch {
		case i < 16:
			return 13
		case i < 32:
			return 12
		}
		return 7
	})
}

// TestActiveMask: the lanes that execute together and whose guard holds.
func TestActiveMask(t *testing.T) {
	got := runBody(t, bodyOpts{block: 40}, regs, `
		setp.lt.u32 %p0, %t, 7;
		mov.u32 %r0, 0;
		@%p0 bra A;
		activemask.b32 %r0;
		bra B;
	A:	setp.ne.u32 %p1, %t, 2;
		@%p1 activemask.b32 %r0;
	B:	activemask.b32 %r1;
		mul.lo.u32 %r0, %r0, 2;
		add.u32 %r0, %r0, %r1;
	`+at("%r0"), nil, 160)
	expect(t, got, func(i int) uint32 {
		switch {
		case i >= 32:
			return 3 * 0xff
		case i == 2:
			return 0xffffffff // its guard was off
		case i < 7:
			return 2*0x7b - 1 // the second mask is all ones
		}
		m := uint32(0xffffff80)
		return 2*m - 1
	})
}

// TestPartialWarp: lanes that never existed are in no group.
func TestPartialWarp(t *testing.T) {
	got := runBody(t, bodyOpts{block: 13}, regs, "setp.lt.u32 %p0, %t, 5;\nvote.sync.ballot.b32 %r0, !%p0, -1;\nbar.warp.sync -1;\nshfl.sync.idx.b32 %r1, %r0, 12, 31, -1;\n"+at("%r1"), nil, 52)
	if g := binary.LittleEndian.Uint32(got); g != 0x1fe0 {
		t.Errorf("ballot %#x, want 0x1fe0", g)
	}
}

// TestSyncReconverges: lanes that a branch has permanently separated, since some had to
// continue from its end without the others, are together again after a warp barrier.
func TestSyncReconverges(t *testing.T) {
	for _, stepped := range []bool{false, true} {
		for _, c := range []struct {
			name, sync string
			want       uint32
		}{
			{"barrier", "bar.warp.sync -1;", 0xffffffff},
			{"shuffle", "shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;", 0xffffffff},
			{"vote", "vote.sync.ballot.b32 %r2, %p0, -1;", 0xffffffff},
		} {
			t.Run(fmt.Sprintf("%s, stepped %v", c.name, stepped), func(t *testing.T) {
				got := runBody(t, bodyOpts{stepped: stepped}, regs+".shared .b32 flag;", `
					st.volatile.shared.u32 [flag], 0;
					bar.warp.sync -1;
					setp.lt.u32 %p0, %t, 16;
					@%p0 bra JOIN;
				SPIN: // until those at the join have gone on
					ld.volatile.shared.u32 %r0, [flag];
					setp.eq.u32 %p1, %r0, 0;
					@%p1 bra SPIN;
				JOIN:
					st.volatile.shared.u32 [flag], 1;
					`+c.sync+`
					activemask.b32 %r1;
				`+at("%r1"), nil, 128)
				expect(t, got, func(int) uint32 { return c.want })
			})
		}
	}
}
