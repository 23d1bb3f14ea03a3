package gpu_test

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/gpu"
)

// litmusFrame is a kernel of clusters of which thread 0 of each block executes what is for its rank. %%h0 to %%h3 are
// the shared memory of the ranks, 64 bytes of zeros, then an mbarrier for one arrival at %%b0 to %%b3 and 64 bytes for
// copies; %%g is a word of global memory of the cluster. Each rank begins after a delay that its cluster's number says.
const litmusFrame = `.version 8.4
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out) .reqnctapercluster %[1]d
{
	.shared .align 128 .b8 s[256];
	.reg .b32 %%r<16>, %%h<4>, %%b<4>, %%v, %%s, %%rank, %%id, %%n, %%t;
	.reg .b64 %%a<4>, %%out, %%g;
	.reg .b16 %%all;
	.reg .pred %%p<8>, %%first;
	ld.param.u64 %%out, [out];
	mov.u32 %%t, %%tid.x; mov.u32 %%rank, %%cluster_ctarank; mov.u32 %%id, %%clusterid.x;
	mov.u32 %%s, s;
	mul.wide.u32 %%a0, %%id, 256; add.u64 %%g, %%out, %%a0; add.u64 %%g, %%g, 131072;
	mov.u32 %%n, %%ctaid.x; mul.wide.u32 %%a0, %%n, 4; add.u64 %%out, %%out, %%a0;
	mov.u32 %%v, 0; mov.u16 %%all, %[2]d;
	setp.eq.u32 %%first, %%t, 0;
%[3]s
	@!%%first bra zeros;
	st.shared.v4.u32 [%%s], {%%v, %%v, %%v, %%v}; st.shared.v4.u32 [%%s+16], {%%v, %%v, %%v, %%v};
	st.shared.v4.u32 [%%s+128], {%%v, %%v, %%v, %%v}; st.shared.v4.u32 [%%s+144], {%%v, %%v, %%v, %%v};
	st.global.u32 [%%g], %%v;
	mbarrier.init.shared.b64 [%%s+64], 1;
	fence.mbarrier_init.release.cluster;
zeros:
	barrier.cluster.arrive; barrier.cluster.wait;
	@!%%first bra end;
	shl.b32 %%r0, %%rank, 1; shr.u32 %%n, %%id, %%r0; and.b32 %%n, %%n, 3; mul.lo.u32 %%n, %%n, %[4]d;
late:
	setp.eq.u32 %%p0, %%n, 0; @%%p0 bra now;
	sub.u32 %%n, %%n, 1; bra late;
now:
%[5]s
end:
	barrier.cluster.arrive%[7]s; barrier.cluster.wait;
	@!%%first bra over;
%[6]s
	st.global.u32 [%%out], %%v;
over:
	barrier.cluster.arrive; barrier.cluster.wait;
	exit;
}
`

// Parts of litmus programs: X is a word of rank 0's memory, Y of rank 1's, Z of rank 2's.
var litmusWords = strings.NewReplacer("X", "[%h0]", "Y", "[%h1+16]", "Z", "[%h2]", "G", "[%g]",
	"ST ", "st.relaxed.cluster.shared::cluster.u32 ", "WEAK ", "st.shared::cluster.u32 ", "REL ", "st.release.cluster.shared::cluster.u32 ",
	"LD ", "ld.relaxed.cluster.shared::cluster.u32 ", "SEEN ", "ld.shared::cluster.u32 ", "ACQ ", "ld.acquire.cluster.shared::cluster.u32 ",
	"FENCE", "fence.acq_rel.cluster", "ALL", "fence.sc.cluster",
	"TELL1", "mad.lo.u32 %v, %v, 10, %r1", "TELL2", "mad.lo.u32 %v, %v, 10, %r2",
	"DONE1", "selp.u32 %r1, 1, 0, %p1")

// teamLitmus are programs with what the memory model (PTX manual, Memory Consistency Model) lets them see: the digits
// that each rank tells.
var teamLitmus = []struct {
	name    string
	ranks   []string
	final   string // what each rank tells when all have met
	allowed string
	varies  bool // more than one of these must be seen
}{
	{"message, release and acquire", []string{"WEAK Y, 1; REL [%h1], 1;", "ACQ %r1, [%h1]; SEEN %r2, Y; TELL1; TELL2;"}, "", "0,0 0,1 0,11", true},
	{"message, fences", []string{"WEAK Y, 1; FENCE; ST [%h1], 1;", "LD %r1, [%h1]; FENCE; SEEN %r2, Y; TELL1; TELL2;"}, "", "0,0 0,1 0,11", true},
	{"message in the sender's memory", []string{"WEAK X, 1; REL Y, 1;", "ACQ %r1, Y; SEEN %r2, X; TELL1; TELL2;"}, "", "0,0 0,1 0,11", true},
	{"message in a third block's memory", []string{"WEAK Z, 1; REL Y, 1;", "ACQ %r1, Y; SEEN %r2, Z; TELL1; TELL2;", ""}, "", "0,0,0 0,1,0 0,11,0", true},
	{"message in global memory", []string{"st.global.u32 G, 1; REL Y, 1;", "ACQ %r1, Y; ld.global.u32 %r2, G; TELL1; TELL2;"}, "", "0,0 0,1 0,11", true},
	{"message by an atomic", []string{"WEAK X, 1; red.release.cluster.shared::cluster.add.u32 Y, 1;", "atom.acquire.cluster.shared::cluster.add.u32 %r1, Y, 0; SEEN %r2, X; TELL1; TELL2;"}, "", "0,0 0,1 0,11", true},
	{"message without order", []string{"WEAK X, 1; ST Y, 1;", "LD %r1, Y; SEEN %r2, X; TELL1; TELL2;"}, "", "0,0 0,1 0,10 0,11", true},
	{"message of three", []string{"ST X, 1;", "ACQ %r1, X; TELL1; REL Y, 1;", "ACQ %r1, Y; LD %r2, X; TELL1; TELL2;"}, "", "0,0,0 0,0,1 0,0,10 0,0,11 0,1,0 0,1,1 0,1,11", true},
	{"message by way of a third", []string{"WEAK X, 1; REL Y, 1;", "ACQ %r1, Y; TELL1; @%p1 bra end; REL Z, %r1;", "ACQ %r1, Z; SEEN %r2, X; TELL1; TELL2;"}, "", "0,0,0 0,0,1 0,1,0 0,1,1 0,1,11", true},
	{"store buffering, fences", []string{"ST X, 1; ALL; LD %r1, Y; TELL1;", "ST Y, 1; ALL; LD %r1, X; TELL1;"}, "", "0,1 1,0 1,1", true},
	{"store buffering", []string{"ST X, 1; LD %r1, Y; TELL1;", "ST Y, 1; LD %r1, X; TELL1;"}, "", "0,0 0,1 1,0 1,1", true},
	{"load buffering", []string{"ACQ %r1, X; REL Y, 1; TELL1;", "ACQ %r1, Y; REL X, 1; TELL1;"}, "", "0,0 0,1 1,0", true},
	{"two reads of one word", []string{"ST X, 1; ST X, 2;", "LD %r1, X; LD %r2, X; TELL1; TELL2;"}, "", "0,0 0,1 0,2 0,11 0,12 0,22", true},
	{"two writes of one word", []string{"ST X, 1; ST X, 2;", ""}, "LD %r1, X; TELL1;", "2,2", false},
	{"two writes of two words, fences", []string{"ST X, 1; ALL; ST Y, 2;", "ST Y, 1; ALL; ST X, 2;"}, "LD %r1, X; LD %r2, Y; TELL1; TELL2;", "12,12 21,21 22,22", true},
	{"two readers of two writers, fences", []string{"ST X, 1;", "ST Y, 1;", "LD %r1, X; ALL; LD %r2, Y; TELL1; TELL2;", "LD %r1, Y; ALL; LD %r2, X; TELL1; TELL2;"}, "",
		"0,0,0,0 0,0,0,1 0,0,0,10 0,0,0,11 0,0,1,0 0,0,1,1 0,0,1,10 0,0,1,11 0,0,10,0 0,0,10,1 0,0,10,11 0,0,11,0 0,0,11,1 0,0,11,10 0,0,11,11", true},
	{"atomics of both", []string{"atom.relaxed.cluster.shared::cluster.add.u32 %r1, Y, 1; TELL1;", "atom.relaxed.cluster.shared::cluster.add.u32 %r1, Y, 1; TELL1;"}, "LD %r1, Y; TELL1;", "2,12 12,2", true},
	{"barrier", []string{"WEAK Y, 1;", ""}, "SEEN %r1, Y; TELL1;", "1,1", false},
	{"barrier, relaxed arrival after a fence", []string{"WEAK Y, 1; FENCE;", ""}, "SEEN %r1, Y; TELL1;", "1,1", false},
	{"barrier, and global memory", []string{"st.global.u32 G, 1;", ""}, "ld.global.u32 %r1, G; TELL1;", "1,1", false},
	{"arrival at an mbarrier, tested", []string{"WEAK Y, 1; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%b1];", "mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%b1], 0; DONE1; SEEN %r2, Y; TELL1; TELL2;"}, "", "0,0 0,1 0,11", true},
	{"arrival at an mbarrier, waited for", []string{"WEAK X, 1; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%b1];", "w: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%b1], 0; @!%p1 bra w; SEEN %r1, X; TELL1;"}, "", "0,1", false},
	{"an arrival, an answer, and a flag", []string{"WEAK Y, 1; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%b1]; w0: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%b0], 0; @!%p1 bra w0; SEEN %r1, X; TELL1;",
		"w1: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%b1], 0; @!%p1 bra w1; SEEN %r1, Y; TELL1; WEAK X, 2; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%b0];"}, "", "2,1", false},
	{"asynchronous store, tested", []string{"st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 Y, 1, [%b1];", "mbarrier.arrive.expect_tx.shared.b64 _, [%b1], 4; mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%b1], 0; DONE1; SEEN %r2, Y; TELL1; TELL2;"}, "", "0,0 0,1 0,11", true},
	{"asynchronous store, waited for", []string{"st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 Y, 1, [%b1];", "mbarrier.arrive.expect_tx.shared.b64 _, [%b1], 4; w: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%b1], 0; @!%p1 bra w; SEEN %r1, Y; TELL1;"}, "", "0,1", false},
	{"copy to the other block", []string{"st.shared.v4.u32 [%s+128], {1, 1, 1, 1}; fence.proxy.async; cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%h1+144], [%s+128], 16, [%b1];",
		"mbarrier.arrive.expect_tx.shared.b64 _, [%b1], 16; w: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%b1], 0; @!%p1 bra w; ld.shared.u32 %r1, [%s+156]; TELL1;"}, "", "0,1", false},
	{"multicast, waited for", []string{"st.global.v4.u32 G, {1, 1, 1, 1}; fence.proxy.async; mbarrier.arrive.expect_tx.shared.b64 _, [%s+64], 16; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%s+128], G, 16, [%s+64], %all; w0: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%s+64], 0; @!%p1 bra w0; ld.shared.u32 %r1, [%s+140]; TELL1;",
		"mbarrier.arrive.expect_tx.shared.b64 _, [%s+64], 16; w1: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%s+64], 0; @!%p1 bra w1; ld.shared.u32 %r1, [%s+140]; TELL1;"}, "", "1,1", false},
	{"multicast, tested by the other", []string{"st.global.v4.u32 G, {1, 1, 1, 1}; fence.proxy.async; mbarrier.arrive.expect_tx.shared.b64 _, [%s+64], 16; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%s+128], G, 16, [%s+64], %all; w0: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%s+64], 0; @!%p1 bra w0;",
		"mbarrier.arrive.expect_tx.shared.b64 _, [%s+64], 16; mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%s+64], 0; DONE1; ld.shared.u32 %r2, [%s+140]; TELL1; TELL2; w1: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%s+64], 0; @!%p1 bra w1;"}, "", "0,0 0,1 0,11", true},
}

// litmusText is the kernel of a litmus program; a step is how many turns of a loop delays differ. The barrier at its end
// releases nothing if relaxed.
func litmusText(ranks []string, final string, step int, relaxed bool) string {
	n, arrive := len(ranks), ""
	if relaxed {
		arrive = ".relaxed"
	}
	var homes, parts strings.Builder
	for r := range n {
		fmt.Fprintf(&homes, "\tmapa.shared::cluster.u32 %%h%d, %%s, %d; add.u32 %%b%d, %%h%d, 64;\n", r, r, r, r)
	}
	for r, body := range ranks {
		fmt.Fprintf(&parts, "\tsetp.ne.u32 %%p0, %%rank, %d; @%%p0 bra not%d;\n\tsetp.ne.u32 %%p1, %%rank, %%rank;\n%s\nbra end;\nnot%d:\n", r, r, litmusWords.Replace(body), r)
	}
	return fmt.Sprintf(litmusFrame, n, 1<<n-1, homes.String(), step, parts.String(), litmusWords.Replace(final), arrive)
}

// TestTeamLitmus runs litmus programs of clusters, with all combinations of four delays of each rank: functionally, and
// in time with two sizes of the delays. Only what the memory model allows is seen.
func TestTeamLitmus(t *testing.T) {
	together(t, 3)
	for _, c := range teamLitmus {
		if len(c.ranks) > 2 && !alltests.On() {
			continue // up to 256 clusters
		}
		t.Run(c.name, func(t *testing.T) {
			allowed := strings.Fields(c.allowed)
			timed := map[string]int{}
			n := len(c.ranks)
			for _, run := range []struct {
				name string
				step int
				cfg  *gpu.Config
			}{
				{"functional", 1, nil}, {"timed, short delays", 8, teamConfig(t, "h100-pcie", 1)}, {"timed, long delays", 12, teamConfig(t, "h100-pcie", 2)},
			} {
				if run.step > 10 && !alltests.On() {
					continue
				}
				clusters := 1 << (2 * n)
				mem, _, err := onTeam(t, litmusText(c.ranks, c.final, run.step, strings.Contains(c.name, "relaxed arrival")), uint32(clusters*n), run.cfg)
				if err != nil {
					t.Fatal(err)
				}
				for i := range clusters {
					told := make([]string, n)
					for r := range told {
						told[r] = fmt.Sprint(binary.LittleEndian.Uint32(mem[4*(i*n+r):]))
					}
					got := strings.Join(told, ",")
					if !slices.Contains(allowed, got) {
						t.Fatalf("%s, cluster %d: sees %s, may see %v", run.name, i, got, allowed)
					}
					if run.cfg != nil {
						timed[got]++
					}
				}
			}
			if c.varies && len(timed) < 2 {
				t.Errorf("with all delays only %v is seen", slices.Collect(maps.Keys(timed)))
			}
		})
	}
}
