package hopper

import (
	"strings"
	"testing"
)

// way is how a stream brings its bytes.
type way int

const (
	loads  way = iota // ld.global.v4, sixteen in flight in each lane
	bulks             // cp.async.bulk of 8 KiB
	asyncs            // cp.async of 16 bytes, sixteen in flight in each lane
	stores            // st.global.v4
)

const (
	chunk     = 8192 // bytes that a warp has in flight
	producers = 16   // warps of a block
	sms       = 132
)

// round reads a chunk of a warp at %a1; its mbarrier is at %r1, and its part of shared memory at %r2.
func (w way) round() string {
	if w == bulks {
		return `@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 8192;
	@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%a1], 8192, [%r1];
	` + strings.ReplaceAll(wait("w", "%r1", 0), ", 0;", ", %r7;")
	}
	var load, use strings.Builder
	for i := range chunk / 512 {
		switch w {
		case asyncs:
			load.WriteString(fill("cp.async.cg.shared.global [%r2+$1], [%a1+$1], 16;\n", 512*i))
			continue
		case stores:
			load.WriteString(fill("st.global.v4.f32 [%a1+$1], {%d0, %d1, %d2, %d3};\n", 512*i))
			continue
		}
		load.WriteString(fill("ld.global.v4.f32 {%d$2, %d$3, %d$4, %d$5}, [%a1+$1];\n", 512*i, 4*i, 4*i+1, 4*i+2, 4*i+3))
		use.WriteString(fill("setp.eq.f32 %p7, %d$1, 0f12345678;\n@%p7 trap;\n", 4*i))
	}
	if w == asyncs {
		use.WriteString("cp.async.wait_all;\n")
	}
	return load.String() + use.String()
}

// stream lets 132 blocks of 16 warps take chunks of 8 KiB in turn, of mib MiB again and again, as FlashGPU-Sim's
// programs do (which have 16 more warps that add up). A round is a chunk for each warp, 16.5 MiB in all; no warp waits
// for another; mib is at least such a round. Each block measures the rounds after warm
// ones, when all are under way; loads and stores that are outstanding then are not waited for, only at the end.
func stream(gpu string, w way, mib, warm, rounds int) probe {
	size, lane, arrived := mib<<20, 16, ""
	if w == stores { // issue far ahead of memory
		arrived = "fence.acq_rel.gpu;"
	}
	if w == bulks {
		lane = 0
	}
	return probe{gpu: gpu, grid: sms, block: producers * 32, shared: producers * chunk, in: size, body: fill(`
	.shared .align 8 .b64 each[16];
	shr.u32 %r3, %t, 5;
	and.b32 %r4, %t, 31;
	setp.eq.u32 %p0, %r4, 0;
	mov.u32 %r1, each;
	mad.lo.u32 %r1, %r3, 8, %r1;
	@%p0 mbarrier.init.shared.b64 [%r1], 1;
	mov.u32 %r2, s;
	mad.lo.u32 %r2, %r3, 8192, %r2;
	mad.lo.u32 %r2, %r4, $2, %r2;
	mad.lo.u32 %r5, %r63, 16, %r3;
	mul.wide.u32 %a3, %r5, 8192;
	mul.wide.u32 %a6, %r4, $2;
	add.u64 %a6, %a6, %in;
	mov.u64 %a4, $1;
	mov.u32 %r6, 0;
	mov.u32 %r7, 0;
	bar.sync 0;
next:
	setp.ne.u32 %p1, %r6, $3;
	@%p1 bra under_way;
	mov.u64 %c0, %clock64;
under_way:
	add.u64 %a1, %a6, %a3;
	`, size, lane, warm) + w.round() + fill(`
	add.u64 %a3, %a3, $1;
	setp.ge.u64 %p1, %a3, %a4;
	@%p1 sub.u64 %a3, %a3, %a4;
	xor.b32 %r7, %r7, 1;
	add.u32 %r6, %r6, 1;
	setp.lt.u32 %p1, %r6, $2;
	@%p1 bra next;
	$3
	bar.sync 0;
	`, sms*producers*chunk, warm+rounds, arrived) + stop}
}

// flow is the rate at which the last of some rounds go: from the DRAM if the bytes are more than the L2 has and warm is 0,
// else from the L2, which warm rounds have filled.
func flow(gpu string, w way, mib, warm, rounds int) func(t testing.TB) float64 {
	return func(t testing.TB) float64 {
		return float64(rounds*sms*producers*chunk) / longest(stream(gpu, w, mib, warm, rounds).run(t))
	}
}

// written is the rate at which stores go to the DRAM once the L2 is full of lines that must be written back, by the
// times of two numbers of rounds: warps store far ahead of memory, and some of them farther than others, so that the
// last rounds of a block say nothing.
func written(gpu string, mib, few, many int) func(t testing.TB) float64 {
	return func(t testing.TB) float64 {
		took := func(rounds int) float64 { return longest(stream(gpu, stores, mib, 0, rounds).run(t)) }
		return float64((many-few)*sms*producers*chunk) / (took(many) - took(few))
	}
}
