// Package hopper compares what the modern core takes for clusters, mbarriers, bulk copies and products
// of warp groups with measurements on hardware: small kernels in PTX that read the clock around one
// thing. `HEDDLE_ALL=1 go test ./bench/hopper -v -run Rows -streams` prints the table of docs/hopper.md; without
// the switch, slow rows are left out, and without the flag most of those that stream through the whole DRAM.
package hopper

import (
	"context"
	"flag"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle"
	"github.com/heddle-sim/heddle/internal/alltests"
)

// probe is a kernel of which thread 0 of each block writes what it has measured to out[2·block] and the
// next. Its body has the registers below, shared memory at s, and mbarriers at bars.
type probe struct {
	cluster, grid, block int
	shared               int
	gpu                  string
	set                  []string
	in                   int // bytes of the input
	body                 string
}

const frame = `.version 8.4
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 s[];
.visible .entry k(.param .u64 out, .param .u64 in)%s
{
	.shared .align 8 .b64 bars[8];
	.reg .b32 %%r<64>, %%t, %%rank;
	.reg .b64 %%a<16>, %%c<8>, %%out, %%in;
	.reg .pred %%p<8>, %%first;
	.reg .f32 %%d<128>;
	mov.u32 %%t, %%tid.x;
	mov.u32 %%rank, %%cluster_ctarank;
	ld.param.u64 %%in, [in];
	ld.param.u64 %%out, [out];
	mov.u32 %%r63, %%ctaid.x;
	mul.wide.u32 %%a15, %%r63, 16;
	add.u64 %%out, %%out, %%a15;
	setp.eq.u32 %%first, %%t, 0;
	mov.u64 %%c0, 0; mov.u64 %%c1, 0;
%s
	sub.u64 %%c1, %%c1, %%c0;
	@%%first st.global.u64 [%%out], %%c1;
	exit;
}
`

// run returns what thread 0 of each block has measured.
func (p probe) run(t testing.TB) []float64 {
	t.Helper()
	perf := ""
	if p.cluster > 1 {
		perf = fmt.Sprintf(" .reqnctapercluster %d", p.cluster)
	}
	prog, err := heddle.LoadSource(heddle.Source{Name: "probe.ptx", Text: fmt.Sprintf(frame, perf, p.body)})
	if err != nil {
		t.Fatal(err)
	}
	opts := []heddle.Option{heddle.Machine(p.gpu), heddle.Set("run.launch_latency=0"), heddle.Set("run.copies_fill_l2=false")}
	for _, s := range p.set {
		opts = append(opts, heddle.Set(s))
	}
	g, err := heddle.New(prog, opts...)
	if err != nil {
		t.Fatal(err)
	}
	grid := max(p.grid, p.cluster, 1)
	out, err := heddle.Upload(g, "out", make([]uint64, 2*grid))
	if err != nil {
		t.Fatal(err)
	}
	in, err := g.Alloc(max(p.in, 1024), "in")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.LaunchWith(context.Background(), "k", heddle.LaunchConfig{Grid: heddle.Dim(uint32(grid)), Block: heddle.Dim(uint32(max(p.block, 32))), Shared: p.shared}, out, in); err != nil {
		t.Fatalf("%v\n%s", err, p.body)
	}
	got, err := heddle.Download[uint64](g, out, 2*grid)
	if err != nil {
		t.Fatal(err)
	}
	list := make([]float64, grid)
	for i := range list {
		list[i] = float64(got[2*i])
	}
	return list
}

// fill replaces $1, $2 and so on in a text.
func fill(text string, by ...any) string {
	for i, x := range by {
		text = strings.ReplaceAll(text, fmt.Sprintf("$%d", i+1), fmt.Sprint(x))
	}
	return text
}

const (
	meet  = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
	start = "mov.u64 %c0, %clock64;\n"
	stop  = "mov.u64 %c1, %clock64;\n"
)

// used makes the warp wait for a register.
func used(r string) string { return fill("setp.eq.u32 %p7, $1, 0x7ffffff1;\n@%p7 trap;\n", r) }

// wait polls an mbarrier until a phase has ended.
func wait(label, bar string, parity int) string {
	return fill("$1: mbarrier.try_wait.parity.shared::cta.b64 %p6, [$2], $3;\n@!%p6 bra $1;\n", label, bar, parity)
}

// row is a measurement on hardware, and how the model gets it.
type row struct {
	name     string
	hardware float64
	unit     string
	model    func(t testing.TB) float64
	within   float64 // the most that the model may differ, in percent; 0: the difference is known and said
	differs  float64 // what it differed when the row was last looked at, in percent, as in docs/hopper.md
	slow     bool    // takes seconds
	streams  bool    // takes minutes, as all SMs read or write 100 MiB
}

// streams is for a person: four streams through the DRAM would take a quarter of what all tests may.
var streams = flag.Bool("streams", false, "also rows that take minutes each")

// slope fits time = a + bytes/rate to two sizes and returns the rate.
func slope(t testing.TB, of func(kib int) probe, sum float64) float64 {
	const small, large = 16, 96
	a, b := of(small).run(t), of(large).run(t)
	return sum * (large - small) * 1024 / (longest(b) - longest(a))
}

func longest(list []float64) (most float64) {
	for _, x := range list {
		most = max(most, x)
	}
	return most
}

// remoteChain loads from rank's memory through pointers to themselves.
func remoteChain(rank int) probe {
	return probe{gpu: "h200", cluster: 2, shared: 1024, body: fill(`
	mov.u32 %r0, s;
	mapa.shared::cluster.u32 %r1, %r0, %rank;
	st.shared.u32 [%r0], %r1;
	mapa.shared::cluster.u32 %r1, %r0, $1;
	`+meet+`
	setp.ne.u32 %p0, %rank, 0;
	@%p0 bra end;
	ld.shared::cluster.u32 %r1, [%r1];
	`+used("%r1")+start+strings.Repeat("ld.shared::cluster.u32 %r1, [%r1];\n", 64)+used("%r1")+stop+`
end:
	`+meet, rank)}
}

// tile moves kib KiB between two blocks by 1024 threads; both ways, or from rank 0 only.
func tile(kib int, both bool, access, after string) probe {
	body := `
	mov.u32 %r0, s;
	mad.lo.u32 %r0, %t, 16, %r0;
	xor.b32 %r1, %rank, 1;
	mapa.shared::cluster.u32 %r2, %r0, %r1;
	` + meet
	if !both {
		body += "setp.ne.u32 %p0, %rank, 0;\n@%p0 bra end;\n"
	}
	body += "bar.sync 0;\n" + start
	for i := range kib / 16 {
		body += fill(access+"\n", 4+4*i, 5+4*i, 6+4*i, 7+4*i, i*16384)
	}
	if after == "" {
		for i := range kib / 16 {
			body += used(fill("%r$1", 4+4*i))
		}
	}
	return probe{gpu: "h200", cluster: 2, block: 1024, shared: 200 << 10, body: body + after + "bar.sync 0;\n" + stop + "end:\n" + meet}
}

const (
	farLoad  = "ld.shared::cluster.v4.u32 {%r$1, %r$2, %r$3, %r$4}, [%r2+$5];"
	farStore = "st.shared::cluster.v4.u32 [%r2+$5], {%r$1, %r$2, %r$3, %r$4};"
)

func loadTile(both bool) func(int) probe {
	return func(kib int) probe { return tile(kib, both, farLoad, "") }
}

func storeTile(both bool) func(int) probe {
	return func(kib int) probe { return tile(kib, both, farStore, "fence.acq_rel.cluster;\n") }
}

// put copies kib KiB of shared memory to the next block of a ring of n.
func put(n int) func(int) probe {
	return func(kib int) probe {
		return probe{gpu: "h200", cluster: n, shared: 200 << 10, body: fill(`
	mov.u32 %r0, s; mov.u32 %r1, bars;
	@%first mbarrier.init.shared.b64 [%r1], 1;
	fence.mbarrier_init.release.cluster;
	@%first mbarrier.arrive.expect_tx.shared.b64 _, [%r1], $1;
	add.u32 %r2, %rank, 1;
	rem.u32 %r2, %r2, $2;
	mapa.shared::cluster.u32 %r3, %r0, %r2;
	mapa.shared::cluster.u32 %r4, %r1, %r2;
	`+meet+start+`
	@%first cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r3+98304], [%r0], $1, [%r4];
	`+wait("w", "%r1", 0)+stop+meet, kib*1024, n)}
	}
}

// alone is the body of a block of one warp with an mbarrier that expects count arrivals.
func alone(count int, body string) probe {
	return probe{gpu: "h200", body: fill(`
	mov.u32 %r0, s; mov.u32 %r1, bars;
	@!%first bra end;
	mbarrier.init.shared.b64 [%r1], $1;
	`, count) + body + "\nend:\n", shared: 64 << 10, in: 1 << 20}
}

// bulk times a copy of n bytes from global memory until its mbarrier has been waited for.
func bulk(n int, again bool) probe {
	one := func(label string, parity int) string {
		return start + fill(`mbarrier.arrive.expect_tx.shared.b64 _, [%r1], $1;
		cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%in], $1, [%r1];
		`, n) + wait(label, "%r1", parity) + stop
	}
	body := one("w0", 0)
	if again {
		body += one("w1", 1)
	}
	return alone(1, body)
}

// multicast copies n bytes to two blocks, or each its own.
func multicast(n int, many bool) probe {
	copies := "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%in], BYTES, [%r1];"
	if many {
		copies = "mov.u16 %h, 3; setp.eq.u32 %p1, %rank, 0; @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r0], [%in], BYTES, [%r1], %h;"
	}
	return probe{gpu: "h200", cluster: 2, shared: 64 << 10, in: 1 << 20, body: strings.ReplaceAll(`
	.reg .b16 %h;
	mov.u32 %r0, s; mov.u32 %r1, bars;
	@%first mbarrier.init.shared.b64 [%r1], 1;
	fence.mbarrier_init.release.cluster;
	@%first mbarrier.arrive.expect_tx.shared.b64 _, [%r1], BYTES;
	`+meet+`
	@!%first bra end;
	`+start+copies+"\n"+wait("w", "%r1", 0)+stop+`
	end:
	`+meet, "BYTES", fmt.Sprint(n))}
}

// product is a product of m64nNk16 of f16 with sums in f32, A and B in shared memory.
func product(n int) string {
	regs := make([]string, n/2)
	for i := range regs {
		regs[i] = fill("%d$1", i)
	}
	return fill("wgmma.mma_async.sync.aligned.m64n$1k16.f32.f16.f16 {$2}, %a0, %a0, 1, 1, 1, 0, 0;\n", n, strings.Join(regs, ", "))
}

const (
	groupFence = "wgmma.fence.sync.aligned;\n"
	groupWait  = "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
)

func group(body string) probe {
	return probe{gpu: "h200", block: 128, shared: 32 << 10, body: "mov.b64 %a0, " + fmt.Sprint(uint64(8)<<16|16<<32) + ";\nbar.sync 0;\n" + body}
}

// pair is two 16 KiB copies and waits, in 128 blocks, again and again; each time the same bytes, or others.
func pair(hot bool) probe {
	const rounds = 8
	body := `
	mov.u32 %r0, s; mov.u32 %r1, bars;
	@!%first bra end;
	mbarrier.init.shared.b64 [%r1], 1;
	mul.wide.u32 %a1, %r63, 32768;
	add.u64 %in, %in, %a1;
	`
	for i := range rounds {
		if i == 4 {
			body += start
		}
		at := 0
		if !hot {
			at = i * 128 * 32768
		}
		body += fill(`mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 32768;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%in+$1], 16384, [%r1];
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0+16384], [%in+$2], 16384, [%r1];
	`, at, at+16384) + wait(fill("w$1", i), "%r1", i%2)
	}
	return probe{gpu: "h100-sxm", set: []string{"clocks.core=1500", "clocks.noc=3000", "clocks.l2=1500"}, grid: 128, shared: 64 << 10, in: rounds * 128 * 32768, body: body + stop + "end:\n"}
}

// ring passes a token among three warp groups by named barriers, 16 rounds.
func ring() probe {
	body := `
	shr.u32 %r0, %t, 7;
	add.u32 %r1, %r0, 1;
	rem.u32 %r1, %r1, 3;
	bar.sync 15;
	` + start + `
	mov.u32 %r5, 0;
	setp.eq.u32 %p2, %r0, 0;
	`
	return probe{gpu: "h100-sxm", block: 384, body: body + `
next:
	setp.ne.u32 %p3, %r5, 0;
	@!%p2 bra take;
	@!%p3 bra give;
take:
	bar.sync %r0, 256;
give:
	bar.arrive %r1, 256;
	add.u32 %r5, %r5, 1;
	setp.lt.u32 %p4, %r5, 17;
	@%p4 bra next;
	@!%p2 bra over;
	bar.sync %r0, 256;
over:
	` + stop}
}

// rounds is a producer and a number of consumers, warps that wait for each other by two mbarriers.
func rounds(consumers int) probe {
	const n = 16
	return probe{gpu: "h100-sxm", block: 32 * (consumers + 1), shared: 1024, body: fill(`
	mov.u32 %r1, bars;
	add.u32 %r2, %r1, 8;
	@%first mbarrier.init.shared.b64 [%r1], 1;
	@%first mbarrier.init.shared.b64 [%r2], $1;
	bar.sync 0;
	and.b32 %r3, %t, 31;
	setp.ne.u32 %p0, %r3, 0;
	mov.u32 %r5, 0;
	@%p0 bra end;
	`, consumers) + start + fill(`
next:
	and.b32 %r6, %r5, 1;
	@!%first bra consume;
	mbarrier.arrive.shared.b64 _, [%r1];
w0:	mbarrier.try_wait.parity.shared::cta.b64 %p6, [%r2], %r6;
	@!%p6 bra w0;
	bra.uni after;
consume:
w1:	mbarrier.try_wait.parity.shared::cta.b64 %p6, [%r1], %r6;
	@!%p6 bra w1;
	mbarrier.arrive.shared.b64 _, [%r2];
after:
	add.u32 %r5, %r5, 1;
	setp.lt.u32 %p4, %r5, $1;
	@%p4 bra next;
	`, n) + stop + "end:\n"}
}

// first is what the first block measures.
func first(p probe, of float64) func(t testing.TB) float64 {
	return func(t testing.TB) float64 { return p.run(t)[0] / of }
}

func most(p probe, of float64) func(t testing.TB) float64 {
	return func(t testing.TB) float64 { return longest(p.run(t)) / of }
}

func rate(of func(int) probe, sum float64) func(t testing.TB) float64 {
	return func(t testing.TB) float64 { return slope(t, of, sum) }
}

// rows are measurements that FlashGPU-Sim publishes: of an H200 in docs/cluster_noc/calibration.md, of an
// H100 at 1500 MHz in configs/SM90_H100_SASS_FRONTEND.
var rows = []row{
	{"load from another block, dependent", 193.4, "cycles", first(remoteChain(1), 64), 10, 5, false, false},
	{"load from the block's own memory, same program", 37.0, "cycles", first(remoteChain(0), 64), 10, 1, false, false},
	{"loads one way", 19.9, "B/cycle", rate(loadTile(false), 1), 10, 7, false, false},
	{"loads both ways, sum", 30.7, "B/cycle", rate(loadTile(true), 2), 15, 11, false, false},
	{"stores one way", 18.9, "B/cycle", rate(storeTile(false), 1), 10, 0, false, false},
	{"stores both ways, sum", 36.3, "B/cycle", rate(storeTile(true), 2), 10, 5, false, false},
	{"bulk copies to the next of 2, sum", 41.1, "B/cycle", rate(put(2), 2), 10, 4, false, false},
	{"bulk copies to the next of 8, sum", 163.9, "B/cycle", rate(put(8), 8), 10, 4, false, false},
	{"store and fence.sc.cluster", 660, "cycles", first(probe{gpu: "h200", cluster: 2, shared: 1024, body: "mov.u32 %r0, s; xor.b32 %r1, %rank, 1; mapa.shared::cluster.u32 %r2, %r0, %r1;\n" + meet + start + "st.shared::cluster.u32 [%r2], %r1;\nfence.sc.cluster;\n" + stop + meet}, 1), 15, -2, false, false},
	{"mbarrier.arrive", 6, "cycles", first(alone(64, start+strings.Repeat("mbarrier.arrive.shared.b64 _, [%r1];\n", 32)+stop), 32), 10, 1, false, false},
	{"mbarrier.try_wait, succeeds", 43, "cycles", first(alone(1, "mbarrier.arrive.shared.b64 _, [%r1];\n"+strings.Repeat("add.u32 %r5, %r5, 1;\n", 32)+start+wait("w", "%r1", 0)+stop+"st.shared.u32 [%r1+64], %r5;\n"), 1), 20, -12, false, false},
	{"arrive.expect_tx of 0 and try_wait", 71, "cycles", first(alone(1, start+"mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 0;\n"+wait("w", "%r1", 0)+stop), 1), 10, 0, false, false},
	{"mbarrier.try_wait, fails", 7776, "cycles", first(alone(1, start+"mbarrier.try_wait.parity.shared::cta.b64 %p6, [%r1], 0;\n@%p6 trap;\n"+stop), 1), 5, 0, false, false},
	{"arrival at another block's mbarrier, until its wait ends", 212, "cycles", most(probe{gpu: "h200", cluster: 2, body: `
	mov.u32 %r1, bars;
	@%first mbarrier.init.shared.b64 [%r1], 1;
	fence.mbarrier_init.release.cluster;
	mapa.shared::cluster.u32 %r2, %r1, 1;
	` + meet + `
	@!%first bra end;
	setp.eq.u32 %p0, %rank, 0;
	` + start + `
	@%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];
	@%p0 bra end;
	` + wait("w", "%r1", 0) + stop + "end: @%first mov.u64 %c0, %c0;\n" + meet + "@%p0 mov.u64 %c1, %c0;\n"}, 1), 10, 0, false, false},
	{"bulk copy of 256 B, cold", 1351, "cycles", first(bulk(256, false), 1), 10, 0, false, false},
	{"bulk copy of 1 KiB, cold", 1346, "cycles", first(bulk(1024, false), 1), 10, 2, false, false},
	{"bulk copy of 4 KiB, cold", 1649, "cycles", first(bulk(4096, false), 1), 15, -15, false, false},
	{"bulk copy of 16 KiB, cold", 1887, "cycles", first(bulk(16384, false), 1), 20, -15, false, false},
	{"multicast more than unicast, 4 KiB", 99, "cycles", func(t testing.TB) float64 {
		return multicast(4096, true).run(t)[0] - longest(multicast(4096, false).run(t))
	}, 20, 0, false, false},
	{"read of the DRAM by loads", 2235, "B/cycle", flow("h200", loads, 100, 0, 6), 10, -1, true, true},
	{"read of the DRAM by bulk copies", 2299, "B/cycle", flow("h200", bulks, 100, 0, 6), 10, 4, true, false},
	{"read of the DRAM by cp.async", 2292, "B/cycle", flow("h200", asyncs, 100, 0, 6), 0, -22, true, true},
	{"read of the DRAM by loads, H100 SXM", 1389, "B/cycle", flow("h100-sxm", loads, 100, 0, 6), 15, 6, true, true}, // mt4g: 2561 GiB/s
	{"write of the DRAM", 2180, "B/cycle", written("h200", 120, 5, 7), 0, -14, true, true},                          // gpu-benches: 3890 GB/s
	{"read of 40 MiB in the L2 by bulk copies", 4118, "B/cycle", flow("h200", bulks, 40, 3, 6), 10, 9, true, false},
	{"read of 40 MiB in the L2 by loads", 3743, "B/cycle", flow("h200", loads, 40, 3, 6), 15, -13, true, false},
	{"two copies of 16 KiB in 128 blocks, in the L2", 1280, "cycles", most(pair(true), 4), 10, 0, true, false},
	{"two copies of 16 KiB in 128 blocks, from the DRAM", 2275, "cycles", most(pair(false), 4), 10, 4, true, false},
	{"wgmma m64n64k16: commit and wait", 75, "cycles", first(group(groupFence+product(64)+start+groupWait+stop), 1), 5, 0, false, false},
	{"wgmma m64n128k16: commit and wait", 107, "cycles", first(group(groupFence+product(128)+start+groupWait+stop), 1), 5, 0, false, false},
	{"wgmma m64n64k16: fence, product, commit, wait", 97.8, "cycles", first(group(start+strings.Repeat(groupFence+product(64)+groupWait, 16)+stop), 16), 5, 0, false, false},
	{"wgmma m64n128k16: fence, product, commit, wait", 129.8, "cycles", first(group(start+strings.Repeat(groupFence+product(128)+groupWait, 16)+stop), 16), 5, 0, false, false},
	{"wgmma m64n64k16: to the next issue", 4.3, "cycles", first(group(groupFence+start+strings.Repeat(product(64), 5)+stop+groupWait), 5), 10, -2, false, false},
	{"token among three warp groups, named barriers, a round", 111, "cycles", first(ring(), 17), 10, 2, false, false},
	{"mbarriers, producer and 1 consumer, a round", 133, "cycles", first(rounds(1), 16), 20, -1, false, false},
	{"mbarriers, producer and 4 consumers, a round", 139, "cycles", first(rounds(4), 16), 20, 0, false, false},
	{"mbarriers, producer and 12 consumers, a round", 158, "cycles", first(rounds(12), 16), 20, -2, false, false},
}

// drift is by how many percent of the hardware's value a row may change before someone has to look at it.
const drift = 2

// TestRows compares the model with hardware.
func TestRows(t *testing.T) {
	var b strings.Builder
	for _, r := range rows {
		if r.slow && !alltests.On() || r.streams && !*streams {
			continue
		}
		got := r.model(t)
		diff := 100 * (got/r.hardware - 1)
		fmt.Fprintf(&b, "| %s | %g %s | %.4g | %+.0f %% |\n", r.name, r.hardware, r.unit, got, diff)
		if r.within > 0 && math.Abs(diff) > r.within {
			t.Errorf("%s: %.4g %s, hardware %g: %+.1f %%, want at most %g %%", r.name, got, r.unit, r.hardware, diff, r.within)
		}
		if math.Abs(diff-r.differs) > drift {
			t.Errorf("%s: %.4g %s, hardware %g: %+.1f %%, was %+g %%: if that is meant, change it here and in docs/hopper.md", r.name, got, r.unit, r.hardware, diff, r.differs)
		}
	}
	t.Logf("\n| | hardware | model | |\n| --- | ---: | ---: | ---: |\n%s", b.String())
}
