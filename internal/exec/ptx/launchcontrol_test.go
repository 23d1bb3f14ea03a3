package ptx_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
)

// takeover is the body of a kernel whose clusters take over the work of others: each block adds one to the word of each
// tile that it works at, and to that of its own block after them. The tile of a block is its place in the cluster.
const takeover = `
	.reg .b32 %x, %y, %z, %n, %p, %rank, %me, %bytes;
	mov.u32 %x, %ctaid.x; mov.u32 %y, %ctaid.y; mov.u32 %z, %ctaid.z; mov.u32 %rank, %cluster_ctarank; mov.u32 %p, 0;
	setp.eq.u32 %first, %t, 0; setp.eq.u32 %leads, %rank, 0; and.pred %leads, %leads, %first;
	mov.u32 %r0, %nctaid.x; mov.u32 %r1, %nctaid.y; mad.lo.u32 %me, %z, %r1, %y; mad.lo.u32 %me, %me, %r0, %x;
	@%first mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster;
	barrier.cluster.arrive; barrier.cluster.wait;
next:
	mov.u32 %r2, %nctaid.x; mov.u32 %r3, %nctaid.y; mad.lo.u32 %n, %z, %r3, %y; mad.lo.u32 %n, %n, %r2, %x;
	mul.wide.u32 %a0, %n, 4; add.u64 %a0, %a0, %out; @%first red.global.add.u32 [%a0], 1;
	mul.wide.u32 %a1, %me, 4; add.u64 %a1, %a1, %out; @%first red.global.add.u32 [%a1+256], 1;
	@%first mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;
	barrier.cluster.arrive; barrier.cluster.wait;
	@%leads clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [answer], [bar];
again: mbarrier.try_wait.parity.shared.b64 %p0, [bar], %p; @!%p0 bra again;
	xor.b32 %p, %p, 1;
	ld.shared.b128 %q, [answer];
	clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %q;
	@!%p1 bra over;
	QUERY
	mov.u32 %r4, %cluster_ctaid.x; add.u32 %x, %x, %r4; mov.u32 %r4, %cluster_ctaid.y; add.u32 %y, %y, %r4; mov.u32 %r4, %cluster_ctaid.z; add.u32 %z, %z, %r4;
	barrier.cluster.arrive; barrier.cluster.wait;
	bra next;
over:
	barrier.cluster.arrive; barrier.cluster.wait;`

const takeoverDecls = ".reg .b32 %r<8>;\n.reg .b64 %a<4>;\n.reg .b128 %q;\n.reg .pred %p<4>, %first, %leads;\n.shared .align 16 .b8 answer[16];\n.shared .align 8 .b64 bar;\n"

// TestLaunchControl: clusters take over the work of others, each of which is done once, whatever the order of blocks. A
// functional run begins one cluster, which does it all; a core model that gives none away begins all.
func TestLaunchControl(t *testing.T) {
	queries := map[string]string{
		"vector": "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%x, %y, %z, _}, %q;",
		"scalars": "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %x, %q; clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %y, %q;" +
			"clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128 %z, %q;",
	}
	for name, query := range queries {
		for _, c := range []struct {
			grid, cluster exec.Dim3
			order         exec.Sequence
			stepped       bool
		}{
			{grid: exec.Dim3{X: 7, Y: 1, Z: 1}},
			{grid: exec.Dim3{X: 4, Y: 3, Z: 2}},
			{grid: exec.Dim3{X: 8, Y: 1, Z: 1}, cluster: exec.Dim3{X: 2, Y: 1, Z: 1}},
			{grid: exec.Dim3{X: 4, Y: 4, Z: 2}, cluster: exec.Dim3{X: 2, Y: 2, Z: 1}},
			{grid: exec.Dim3{X: 4, Y: 4, Z: 2}, cluster: exec.Dim3{X: 2, Y: 2, Z: 1}, order: exec.Sequence{Reverse: true}},
			{grid: exec.Dim3{X: 4, Y: 3, Z: 2}, stepped: true},
		} {
			t.Run(fmt.Sprintf("%s %v %v %v", name, c.grid, c.cluster, c.stepped), func(t *testing.T) {
				o := bodyOpts{version: "8.7", target: "sm_100a", extent: c.grid, cluster: c.cluster, order: c.order, stepped: c.stepped}
				got := runBody(t, o, takeoverDecls, strings.Replace(takeover, "QUERY", query, 1), nil, 512)
				blocks, size := int(c.grid.Count()), max(1, int(c.cluster.Count()))
				most := uint32(blocks / size)
				if c.stepped {
					most = 1
				}
				worked := 0
				for i := range 64 {
					tile, own := le.Uint32(got[4*i:]), le.Uint32(got[256+4*i:])
					if want := uint32(map[bool]int{true: 1}[i < blocks]); tile != want {
						t.Errorf("tile %d was worked at %d times, want %d", i, tile, want)
					}
					if own > 0 {
						if worked++; own != most {
							t.Errorf("block %d worked at %d tiles, want %d", i, own, most)
						}
					}
				}
				if want := map[bool]int{true: blocks, false: size}[c.stepped]; worked != want {
					t.Errorf("%d blocks began, want %d", worked, want)
				}
			})
		}
	}
}

// TestLaunchControlFaults: tries that are wrong.
func TestLaunchControlFaults(t *testing.T) {
	for _, c := range []struct{ name, inst, says string }{
		{"misaligned", "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [answer+8], [bar];", "must be a multiple of 16"},
		{"no mbarrier", "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [answer], [answer];", "is not initialised"},
		{"outside", "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [answer+1048576], [bar];", "out-of-bounds write"},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := "setp.eq.u32 %first, %t, 0; @%first mbarrier.init.shared.b64 [bar], 1; bar.sync 0; @%first " + c.inst
			_, err := tryBody(t, bodyOpts{version: "8.7", target: "sm_100a"}, takeoverDecls, body, nil, 4)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}

// TestEvenBlock: in kernels whose blocks work in pairs, an address of shared::cluster whose bit 24 is cleared lies in the
// even block, one with it in the block itself. Each block has an mbarrier and stores how many arrivals it lacks of 8.
func TestEvenBlock(t *testing.T) {
	const decls = ".reg .b32 %r<8>, %bar;\n.reg .b64 %a<8>, %state;\n.reg .pred %p<4>, %first;\n.shared .align 8 .b64 bar;\n.shared .b32 word;\n"
	const pair = "setp.ne.u32 %p3, %t, %t; @%p3 tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;\n"
	const count = `
	barrier.cluster.arrive; barrier.cluster.wait;
	mov.u32 %r4, 0;
more: mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0; @%p1 bra done; add.u32 %r4, %r4, 1; @%first mbarrier.arrive.shared.b64 _, [bar]; bar.warp.sync -1; bra more;
done: mov.u32 %r5, %ctaid.x; mul.wide.u32 %a7, %r5, 4; add.u64 %a7, %a7, %out; @%first st.global.u32 [%a7], %r4;`
	for _, c := range []struct {
		name, body string
		lacks      [4]uint32
	}{
		{"symbol, cleared", pair + "mov.u32 %bar, bar; and.b32 %bar, %bar, 0xfeffffff; @%first mbarrier.arrive.shared::cluster.b64 _, [%bar];", [4]uint32{6, 8, 6, 8}},
		{"symbol", pair + "mov.u32 %bar, bar; @%first mbarrier.arrive.shared::cluster.b64 _, [%bar];", [4]uint32{7, 7, 7, 7}},
		{"converted, cleared", pair + "mov.u64 %a0, bar; cvta.shared.u64 %a0, %a0; cvta.to.shared.u64 %a1, %a0; cvt.u32.u64 %bar, %a1; and.b32 %bar, %bar, 0xfeffffff; @%first mbarrier.arrive.shared::cluster.b64 _, [%bar], 2;", [4]uint32{4, 8, 4, 8}},
		{"converted", pair + "mov.u64 %a0, bar; cvta.shared.u64 %a0, %a0; cvta.to.shared.u64 %a1, %a0; cvt.u32.u64 %bar, %a1; @%first mbarrier.arrive.shared::cluster.b64 _, [%bar], 2;", [4]uint32{6, 6, 6, 6}},
		{"mapped", pair + "mov.u32 %bar, bar; mapa.shared::cluster.u32 %bar, %bar, 3; @%first mbarrier.arrive.shared::cluster.b64 _, [%bar];", [4]uint32{8, 8, 8, 4}},
		{"named in the instruction", pair + "@%first mbarrier.arrive.shared::cluster.b64 _, [bar];", [4]uint32{7, 7, 7, 7}},
		{"of the block, cleared", pair + "mov.u32 %bar, bar; and.b32 %bar, %bar, 0xfeffffff; @%first mbarrier.arrive.shared::cta.b64 _, [%bar];", [4]uint32{7, 7, 7, 7}},
		{"no pairs", "mov.u32 %bar, bar; and.b32 %bar, %bar, 0xfeffffff; @%first mbarrier.arrive.shared::cluster.b64 _, [%bar];", [4]uint32{7, 7, 7, 7}},
		{"loads and stores of the cluster", pair + "mov.u32 %r0, word; mapa.shared::cluster.u32 %r1, %r0, 2; @%first st.shared::cluster.u32 [%r1], 5; mov.u64 %a0, word; cvta.shared::cluster.u64 %a0, %a0; mapa.u64 %a1, %a0, 2;" +
			"barrier.cluster.arrive; barrier.cluster.wait; ld.shared::cluster.u32 %r2, [%r1]; ld.u32 %r3, [%a1]; setp.eq.u32 %p2, %r2, %r3; selp.u32 %r2, %r2, 1, %p2; mov.u32 %bar, bar; @%first mbarrier.arrive.shared::cta.b64 _, [%bar], %r2;", [4]uint32{3, 3, 3, 3}},
		{"loads and stores", pair + "mov.u32 %r0, word; st.shared.u32 [%r0], 3; ld.shared.u32 %r1, [word]; mov.u64 %a0, word; cvta.shared.u64 %a0, %a0; ld.u32 %r2, [%a0]; add.u32 %r1, %r1, %r2;" +
			"mov.u32 %bar, bar; @%first mbarrier.arrive.shared::cta.b64 _, [%bar], %r1;", [4]uint32{2, 2, 2, 2}},
	} {
		for _, stepped := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, " ", stepped), func(t *testing.T) {
				begin := "setp.eq.u32 %first, %t, 0; @%first mbarrier.init.shared.b64 [bar], 8; fence.mbarrier_init.release.cluster; barrier.cluster.arrive; barrier.cluster.wait;\n"
				got := runBody(t, bodyOpts{version: "8.7", target: "sm_100a", grid: 4, cluster: exec.Dim3{X: 4, Y: 1, Z: 1}, stepped: stepped}, decls, begin+c.body+count, nil, 16)
				for i, want := range c.lacks {
					if n := le.Uint32(got[4*i:]); n != want {
						t.Errorf("the mbarrier of block %d lacks %d arrivals, want %d", i, n, want)
					}
				}
			})
		}
	}
}
