package gpu_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/gpu"
)

// tcgenFrame is a kernel of 128 threads that multiplies matrices of small numbers in tensor memory, waits for it, and
// stores the first columns of the sum from out on. After them thread 0 stores how long it took.
const tcgenFrame = `.version 8.7
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out)
{
	.shared .align 1024 .b8 s[49152];
	.shared .align 8 .b64 bar;
	.shared .b32 place;
	.reg .b32 %%r<32>, %%t, %%bar, %%tm, %%desc;
	.reg .b64 %%a<8>, %%out, %%c<2>, %%da, %%db;
	.reg .pred %%p<8>, %%first;
	ld.param.u64 %%out, [out];
	mov.u32 %%t, %%tid.x; mov.u32 %%bar, bar; setp.eq.u32 %%first, %%t, 0;
	@%%first mbarrier.init.shared.b64 [%%bar], 1;
	mov.u32 %%r0, s; mad.lo.u32 %%r0, %%t, 4, %%r0; mov.u32 %%r1, 0;
fill:
	add.u32 %%r2, %%r1, %%t; and.b32 %%r2, %%r2, 0x01000100; or.b32 %%r2, %%r2, 0x3c003c00; st.shared.u32 [%%r0], %%r2;
	add.u32 %%r0, %%r0, 512; add.u32 %%r1, %%r1, 97; setp.lt.u32 %%p0, %%r1, 9312; @%%p0 bra fill;
	setp.lt.u32 %%p1, %%t, 32;
	@%%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [place], 512;
	bar.sync 0;
	ld.shared.u32 %%tm, [place];
	mov.u32 %%desc, %[1]d; mov.b64 %%da, %[2]d; mov.b64 %%db, %[3]d; setp.ne.u32 %%p0, %%t, %%t; setp.eq.u32 %%p3, %%t, %%t;
	mov.u64 %%c0, 0; mov.u64 %%c1, 0;
	@!%%first bra wait;
	fence.proxy.async;
	mov.u64 %%c0, %%clock64;
	%[4]s
	tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%%bar];
wait:
	mbarrier.try_wait.parity.shared.b64 %%p6, [%%bar], 0; @!%%p6 bra wait;
	mov.u64 %%c1, %%clock64;
	shr.u32 %%r0, %%t, 5; shl.b32 %%r0, %%r0, 21; add.u32 %%r0, %%r0, %%tm;
	tcgen05.ld.sync.aligned.32x32b.x4.b32 {%%r4, %%r5, %%r6, %%r7}, [%%r0]; tcgen05.wait::ld.sync.aligned;
	mul.wide.u32 %%a0, %%t, 16; add.u64 %%a0, %%a0, %%out; st.global.v4.u32 [%%a0], {%%r4, %%r5, %%r6, %%r7};
	sub.u64 %%c1, %%c1, %%c0; @%%first st.global.u64 [%%out+65528], %%c1;
	bar.sync 0;
	@%%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %%tm, 512;
	exit;
}
`

// tcgenText multiplies matrices of some rows and columns n times.
func tcgenText(kind, a string, rows, columns, n int, desc uint32) string {
	const matrix = uint64(8)<<16 | 16<<32 | 1<<46
	one := "tcgen05.mma.cta_group::1.kind::" + kind + " [%tm], " + a + ", %db, %desc, %p3;\n"
	if strings.Contains(kind, "block_scale") {
		one = strings.Replace(one, "%desc, ", "%desc, [%tm+256], [%tm+272], ", 1)
	}
	desc |= uint32(columns/8)<<17 | uint32(rows/16)<<24
	return fmt.Sprintf(tcgenFrame, desc, matrix, matrix|16384>>4, strings.Replace(strings.Repeat(one, n), "%p3;", "%p0;", 1))
}

// TestTcgenCommits: a commit to both blocks of a pair lets both go on; one of nothing takes no time.
func TestTcgenCommits(t *testing.T) {
	body := `setp.eq.u32 %p1, %rank, 0; and.pred %p1, %p1, %first; @!%p1 bra wait; mov.b16 %h, 3;
		tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%bar], %h;
		wait: setp.eq.u32 %p2, %rank, 1; and.pred %p2, %p2, %first; @%p2 mbarrier.arrive.shared.b64 _, [%bar];
		setp.eq.u32 %p3, %rank, 0; and.pred %p3, %p3, %first; @%p3 mbarrier.arrive.shared.b64 _, [%bar];
		` + teamWait + "mov.u32 %v, 7;"
	text := strings.NewReplacer("sm_90a", "sm_100a", ".version 8.4", ".version 8.7").Replace(fmt.Sprintf(teamFrame, " .reqnctapercluster 2", ".reg .b16 %h;\n"+body))
	want, _, err := onTeam(t, text, 4, nil)
	if err != nil {
		t.Fatal(err)
	}
	var took [2]uint64
	for i, set := range []string{"modern.hopper.tcgen_tail=0", "modern.hopper.tcgen_tail=700"} {
		got, cycles, err := onTeam(t, text, 4, teamConfig(t, "b200", 1+i, set))
		if err != nil {
			t.Fatal(err)
		}
		if took[i] = cycles; !bytes.Equal(got, want) {
			t.Error("other memory than in a functional run")
		}
	}
	if took[1] != took[0] { // no product comes before it, whose end it would tell
		t.Errorf("a commit of nothing takes %d and %d cycles", took[0], took[1])
	}
}

// takeoverText is a kernel whose clusters take over the work of others: word i of its memory counts how often tile i was
// worked at, word 64+i at how many tiles block i worked. A tile takes longer the higher its number is.
const takeoverText = `.version 8.7
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out) .reqnctapercluster %d
{
	.shared .align 16 .b8 answer[16];
	.shared .align 8 .b64 bar;
	.reg .b32 %%r<8>, %%t, %%x, %%p, %%rank;
	.reg .b64 %%a<4>, %%out;
	.reg .b128 %%q;
	.reg .pred %%p<4>, %%first, %%leads;
	ld.param.u64 %%out, [out]; mov.u32 %%t, %%tid.x; mov.u32 %%x, %%ctaid.x; mov.u32 %%rank, %%cluster_ctarank; mov.u32 %%p, 0;
	setp.eq.u32 %%first, %%t, 0; setp.eq.u32 %%leads, %%rank, 0; and.pred %%leads, %%leads, %%first;
	@%%first mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster;
	barrier.cluster.arrive; barrier.cluster.wait;
next:
	mul.wide.u32 %%a0, %%x, 4; add.u64 %%a0, %%a0, %%out; @%%first red.global.add.u32 [%%a0], 1;
	mov.u32 %%r0, %%ctaid.x; mul.wide.u32 %%a1, %%r0, 4; add.u64 %%a1, %%a1, %%out; @%%first red.global.add.u32 [%%a1+256], 1;
	mov.u32 %%r1, 0; mul.lo.u32 %%r2, %%x, 3;
turn: add.u32 %%r1, %%r1, 1; setp.lt.u32 %%p2, %%r1, %%r2; @%%p2 bra turn;
	@%%first mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;
	barrier.cluster.arrive; barrier.cluster.wait;
	@%%leads clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [answer], [bar];
again: mbarrier.try_wait.parity.shared.b64 %%p0, [bar], %%p; @!%%p0 bra again;
	xor.b32 %%p, %%p, 1;
	ld.shared.b128 %%q, [answer];
	clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %%p1, %%q;
	@!%%p1 bra over;
	clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %%x, %%q; add.u32 %%x, %%x, %%rank;
	barrier.cluster.arrive; barrier.cluster.wait;
	bra next;
over:
	barrier.cluster.arrive; barrier.cluster.wait;
	exit;
}
`

// TestTakeover: clusters on the chip take over the work of those that have no place yet, each of which is done once, in the
// same time on every number of goroutines. As many begin as have a place, and none later: those that end leave none.
func TestTakeover(t *testing.T) {
	together(t, 3)
	for _, size := range []int{1, 2, 4} {
		t.Run(fmt.Sprint("clusters of ", size), func(t *testing.T) {
			const grid, places = 40, 8
			var before uint64
			for i, set := range []string{"run.idle_skip=true", "run.idle_skip=true", "run.idle_skip=false"} {
				cfg := teamConfig(t, "b200", 1+2*(i%2), "chip.clusters=8", "chip.gpcs=1", "sm.blocks=1", set)
				got, cycles, err := onTeam(t, fmt.Sprintf(takeoverText, size), grid, cfg)
				if err != nil {
					t.Fatal(err)
				}
				worked, tiles := 0, uint32(0)
				for k := range grid {
					if n := binary.LittleEndian.Uint32(got[4*k:]); n != 1 {
						t.Errorf("run %d: tile %d was worked at %d times", i, k, n)
					}
					if n := binary.LittleEndian.Uint32(got[256+4*k:]); n > 0 {
						worked, tiles = worked+1, tiles+n
					}
				}
				if worked != places || tiles != grid {
					t.Errorf("run %d: %d blocks worked at %d tiles, want %d at %d", i, worked, tiles, places, grid)
				}
				if i > 0 && cycles != before {
					t.Errorf("run %d takes %d cycles, the one before %d", i, cycles, before)
				}
				before = cycles
			}
		})
	}
}

// TestTakeoverReleases: clusters whose work others have taken over count as ended for the dependents of their launch: those
// begin when all blocks that run have let them, which is not later if these do so at once than at their end.
func TestTakeoverReleases(t *testing.T) {
	const release = "griddepcontrol.launch_dependents;\n"
	for _, at := range []string{"next:\n", "over:\n"} {
		text := strings.Replace(fmt.Sprintf(takeoverText, 1), at, at+release, 1)
		second := text[strings.Index(text, ".visible"):]
		second = strings.Replace(strings.Replace(second[:strings.Index(second, "{")], " k(", " k2(", 1)+"{ griddepcontrol.wait; exit; }", ".param .u64 out", ".param .u64 out", 1)
		ops, _, err := chain(t, text+second, func(i int) bool { return i > 0 }, func(int) *gpu.Op { return nil }, teamConfig(t, "b200", 1, "chip.clusters=4", "chip.gpcs=1", "sm.blocks=1"))
		if err != nil {
			t.Fatal(err)
		}
		if ops[1].Start >= ops[0].End {
			t.Errorf("released after %q: the second begins in cycle %d, the first ends in %d", at, ops[1].Start, ops[0].End)
		}
		began := 0
		for _, b := range ops[0].Kernel.BlockLog {
			if b.Began {
				began++
			}
		}
		if began != 4 {
			t.Errorf("%d blocks are in the log as begun, want 4", began)
		}
	}
}

// TestTcgenTime: a product of tcgen05 takes the time of its multiplications, at 8,192 operations of dense f16 in a cycle, or of
// its operands in shared memory; the commit comes after it, and memory is that of a functional run.
func TestTcgenTime(t *testing.T) {
	together(t, 3)
	for _, c := range []struct {
		name, kind, a string
		rows, columns int
		desc          uint32
		cycles        uint64
	}{
		{"f16, 256 columns", "f16", "%da", 128, 256, 1 << 4, 128},
		{"f16, 128 columns", "f16", "%da", 128, 128, 1 << 4, 64},
		{"f16, 64 columns: operands", "f16", "%da", 128, 64, 1 << 4, 48},
		{"f16, 64 columns, A in tensor memory", "f16", "[%tm]", 128, 64, 1 << 4, 32},
		{"64 rows, 256 columns", "f16", "%da", 64, 256, 1 << 4, 128},
		{"64 rows, 64 columns", "f16", "%da", 64, 64, 1 << 4, 32},
		{"64 rows, A in tensor memory", "f16", "[%tm]", 64, 64, 1 << 4, 32},
		{"tf32", "tf32", "%da", 128, 256, 1<<4 | 2<<7 | 2<<10, 128},
		{"f8f6f4", "f8f6f4", "%da", 128, 256, 1 << 4, 128},
		{"i8", "i8", "%da", 128, 256, 2 << 4, 128},
		{"mxf4", "mxf4.block_scale", "%da", 128, 128, 1<<7 | 1<<10 | 1<<23, 64},
	} {
		t.Run(c.name, func(t *testing.T) {
			took := func(n int) uint64 {
				text := tcgenText(c.kind, c.a, c.rows, c.columns, n, c.desc)
				want, _, err := onTeam(t, text, 1, nil)
				if err != nil {
					t.Fatal(err)
				}
				var first uint64
				for i, cfg := range []*gpu.Config{teamConfig(t, "b200", 1), teamConfig(t, "b200", 3, "run.idle_skip=false")} {
					got, _, err := onTeam(t, text, 1, cfg)
					if err != nil {
						t.Fatal(err)
					}
					if !bytes.Equal(got[:65528], want[:65528]) {
						t.Fatal("other memory than in a functional run")
					}
					cycles := binary.LittleEndian.Uint64(got[65528:])
					if i > 0 && cycles != first {
						t.Fatalf("%d cycles, before %d", cycles, first)
					}
					first = cycles
				}
				return first
			}
			few, many := took(4), took(12)
			if got := many - few; got != 8*c.cycles {
				t.Errorf("8 products take %d cycles, want %d", got, 8*c.cycles)
			}
			if low := 4*c.cycles + 160; few < low || few > low+80 {
				t.Errorf("4 products and the wait for them take %d cycles, want %d and at most 80 more", few, low)
			}
		})
	}
}

// TestTcgenAfterCommit: a commit waits for the products before it, not for those that its warp issues after it.
func TestTcgenAfterCommit(t *testing.T) {
	const commit = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%bar];\n"
	plain := tcgenText("f16", "%da", 128, 256, 4, 1<<4)
	product := strings.SplitAfter(plain[strings.Index(plain, "tcgen05.mma"):], ";\n")[1]
	took := func(text string) uint64 {
		got, _, err := onTeam(t, text, 1, teamConfig(t, "b200", 1))
		if err != nil {
			t.Fatal(err)
		}
		return binary.LittleEndian.Uint64(got[65528:])
	}
	want := took(plain)
	if got := took(strings.Replace(plain, commit, commit+strings.Repeat(product, 12), 1)); got > want+100 {
		t.Errorf("%d cycles with twelve products after the commit, %d without", got, want)
	}
}

// TestTcgenOtherWarps: a commit does not wait for products that another warp has issued before it; both have the values of
// a functional run.
func TestTcgenOtherWarps(t *testing.T) {
	const commit = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%bar"
	plain := tcgenText("f16", "%da", 128, 256, 1, 1<<4)
	from := strings.Index(plain, "tcgen05.mma")
	product := strings.Replace(plain[from:][:strings.Index(plain[from:], ";")+1], "%p0", "%p3", 1)
	text := func(others int) string {
		theirs := "@%p4 " + strings.Replace(product, "[%tm]", "[%r3]", 1) + "\n"
		return strings.NewReplacer(
			".b64 bar;", ".b64 bar[2];",
			"@%first mbarrier.init.shared.b64 [%bar], 1;", "@%first mbarrier.init.shared.b64 [%bar], 1; @%first mbarrier.init.shared.b64 [%bar+8], 1; setp.eq.u32 %p4, %t, 32;",
			"@!%first bra wait;", "add.u32 %r3, %tm, 256;",
			product, "", strings.Replace(product, "%p3", "%p0", 1), "@%first "+strings.Replace(product, "%p3", "%p0", 1)+"\n@%p4 "+strings.NewReplacer("[%tm]", "[%r3]", "%p3", "%p0").Replace(product)+"\nbar.sync 0;\n"+strings.Repeat(theirs, others)+"bar.sync 0;",
			commit+"];", "@%first "+commit+"]; @%p4 "+commit+"+8];",
			"shr.u32 %r0, %t, 5;", "more: mbarrier.try_wait.parity.shared.b64 %p6, [%bar+8], 0; @!%p6 bra more;\nshr.u32 %r0, %t, 5;",
			"x4.b32 {%r4, %r5, %r6, %r7}, [%r0];", "x2.b32 {%r4, %r5}, [%r0]; tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r6, %r7}, [%r0+256];",
		).Replace(plain)
	}
	var took [2]uint64
	for i, others := range []int{0, 12} {
		want, _, err := onTeam(t, text(others), 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := onTeam(t, text(others), 1, teamConfig(t, "b200", 1))
		if err != nil {
			t.Fatal(err)
		}
		if took[i] = binary.LittleEndian.Uint64(got[65528:]); !bytes.Equal(got[:65528], want[:65528]) {
			t.Errorf("other memory than in a functional run, with %d products of the other warp", others)
		}
		a, b := math.Float32frombits(binary.LittleEndian.Uint32(want)), math.Float32frombits(binary.LittleEndian.Uint32(want[8:]))
		if sum := a * float32(others+1); a == 0 || b < sum*.9999 || b > sum*1.0001 {
			t.Errorf("the sum of the other warp's products is %g, that of one %g, want %d times that", b, a, others+1)
		}
	}
	if took[1] > took[0]+100 {
		t.Errorf("%d cycles with twelve products of another warp, %d without", took[1], took[0])
	}
}

// pairText is a kernel of two blocks of which the first issues n products, of its own or of the pair, and a commit to both;
// each waits. The second then issues a product of its own and waits for that. Each block shows its part of the first
// sum; after all, the second one stores when its first wait ended and how long its own product took.
func pairText(pair bool, n int) string {
	group, rows := "1", 128
	if pair {
		group, rows = "2", 256
	}
	const matrix = uint64(8)<<16 | 16<<32 | 1<<46
	one := fmt.Sprintf("@%%p1 tcgen05.mma.cta_group::%s.kind::f16 [%%tm], %%a4, %%a4, %d, %%p4;\n", group, 1<<4|128/8<<17|rows/16<<24)
	body := fmt.Sprintf(`.reg .b16 %%h; .reg .b32 %%tm; .reg .b64 %%c<3>; .shared .b32 place; .shared .align 8 .b64 bar2;
	mov.u32 %%r0, 0; mad.lo.u32 %%r1, %%t, 16, %%s; mov.u32 %%r2, 0x3c003c00;
	fill: st.shared.v4.u32 [%%r1], {%%r2, %%r2, %%r2, %%r2}; add.u32 %%r1, %%r1, 2048; add.u32 %%r0, %%r0, 1; setp.lt.u32 %%p1, %%r0, 4; @%%p1 bra fill;
	@%%first mbarrier.init.shared.b64 [bar2], 1; fence.proxy.async; setp.lt.u32 %%p2, %%t, 32; mov.b64 %%a4, %d;
	mov.u32 %%r4, %%s; shr.u32 %%r4, %%r4, 4; cvt.u64.u32 %%a5, %%r4; or.b64 %%a4, %%a4, %%a5;
	@%%p2 tcgen05.alloc.cta_group::%s.sync.aligned.shared::cta.b32 [place], 512;
	barrier.cluster.arrive; barrier.cluster.wait;
	ld.shared.u32 %%tm, [place]; setp.ne.u32 %%p4, %%t, %%t; setp.eq.u32 %%p5, %%t, %%t; mov.b16 %%h, 3;
	setp.eq.u32 %%p1, %%rank, 0; and.pred %%p1, %%p1, %%first; setp.eq.u32 %%p3, %%rank, 1; and.pred %%p3, %%p3, %%first;
	mov.u64 %%c0, %%clock64;
	%s
	@%%p1 tcgen05.commit.cta_group::%s.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%%bar], %%h;
	@%%first mbarrier.arrive.shared.b64 _, [%%bar];
	setp.eq.u32 %%p7, %%rank, 0; @%%p7 bra w;
	mov.u32 %%r0, 0; delay: add.u32 %%r0, %%r0, 1; setp.lt.u32 %%p7, %%r0, 30; @%%p7 bra delay;
	mov.u64 %%c1, %%clock64; add.u32 %%r3, %%tm, 256;
	@%%p3 tcgen05.mma.cta_group::1.kind::f16 [%%r3], %%a4, %%a4, %d, %%p4;
	@%%p3 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar2];
	own: mbarrier.try_wait.parity.shared.b64 %%p6, [bar2], 0; @!%%p6 bra own;
	mov.u64 %%c2, %%clock64; sub.u64 %%c1, %%c2, %%c1;
	`, matrix, group, strings.Repeat(one, n), group, 1<<4|128/8<<17|128/16<<24) + teamWait + `
	mov.u64 %c2, %clock64; sub.u64 %c0, %c2, %c0; ld.param.u64 %a6, [out]; @%p3 st.global.u64 [%a6+65528], %c0; @%p3 st.global.u64 [%a6+65520], %c1;
	shr.u32 %r0, %t, 5; shl.b32 %r0, %r0, 21; add.u32 %r0, %r0, %tm; tcgen05.ld.sync.aligned.32x32b.x1.b32 %v, [%r0]; tcgen05.wait::ld.sync.aligned;
	barrier.cluster.arrive; barrier.cluster.wait;
	@%p2 tcgen05.dealloc.cta_group::` + group + `.sync.aligned.b32 %tm, 512;
	`
	if at := strings.Index(body, one) + len(one); n > 1 { // all but the first add
		body = body[:at] + strings.Replace(body[at:], one, strings.Replace(one, "%p4", "%p5", 1), n-1)
	}
	return strings.NewReplacer("sm_90a", "sm_100a", ".version 8.4", ".version 8.7", ".align 128", ".align 1024").Replace(fmt.Sprintf(teamFrame, " .reqnctapercluster 2", body))
}

// TestTcgenPairs: a commit to both blocks of a pair lets the second go on when products of the first, or of both, have ended;
// those of the pair take the tensor units of both SMs, so that a product of the second block comes after them.
func TestTcgenPairs(t *testing.T) {
	together(t, 3)
	took := map[string][2]uint64{}
	for _, pair := range []bool{false, true} {
		for _, n := range []int{18, 34} {
			want, _, err := onTeam(t, pairText(pair, n), 2, nil)
			if err != nil {
				t.Fatal(err)
			}
			for row := range 128 { // of all ones, and K is 16; blocks of 128 threads lie 256 bytes apart
				if x := math.Float32frombits(binary.LittleEndian.Uint32(want[4*row:])); row < 64 && x != float32(16*n) {
					t.Fatalf("row %d is %g, want %d", row, x, 16*n)
				}
			}
			for i := range 2 {
				got, _, err := onTeam(t, pairText(pair, n), 2, teamConfig(t, "b200", 1+2*i))
				if err != nil {
					t.Fatal(err)
				}
				now := [2]uint64{binary.LittleEndian.Uint64(got[65528:]), binary.LittleEndian.Uint64(got[65520:])}
				name := fmt.Sprint(pair, n)
				if i > 0 && now != took[name] {
					t.Errorf("%v cycles on three threads, %v on one", now, took[name])
				}
				if took[name] = now; !bytes.Equal(got[:65520], want[:65520]) {
					t.Errorf("other memory than in a functional run: pair %v, %d products", pair, n)
				}
			}
		}
		few, many := took[fmt.Sprint(pair, 18)], took[fmt.Sprint(pair, 34)]
		if d := many[0] - few[0]; d < 16*64-40 || d > 16*64+40 {
			t.Errorf("pair %v: the second block waits %d cycles longer for 16 more products, want %d", pair, d, 16*64)
		}
		if d := int64(many[1] - few[1]); pair == (d < 600) {
			t.Errorf("pair %v: a product of the second block takes %d cycles more after 16 more products", pair, d)
		}
	}
}

// TestTcgenNeedsTensorMemory: other GPUs with what Hopper added do not time it, and the message names one that does.
func TestTcgenNeedsTensorMemory(t *testing.T) {
	_, _, err := onTeam(t, tcgenText("f16", "%da", 128, 128, 1, 1<<4), 1, teamConfig(t, "h100-pcie", 1))
	if err == nil || !strings.Contains(err.Error(), "such as b200") {
		t.Errorf("%v", err)
	}
}
