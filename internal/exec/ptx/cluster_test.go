package ptx_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/exec"
)

var le = binary.LittleEndian

// number is a body that puts the block's number in the grid into %blk and the address of its
// words of output, of 4·n bytes, into %row.
func number(n int) string {
	return fmt.Sprintf(`
	.reg .b32 %%blk, %%nx, %%ny, %%bx, %%by, %%bz;
	.reg .b64 %%row;
	mov.u32 %%bx, %%ctaid.x;  mov.u32 %%by, %%ctaid.y;  mov.u32 %%bz, %%ctaid.z;
	mov.u32 %%nx, %%nctaid.x;  mov.u32 %%ny, %%nctaid.y;
	mad.lo.u32 %%blk, %%bz, %%ny, %%by;
	mad.lo.u32 %%blk, %%blk, %%nx, %%bx;
	mul.wide.u32 %%row, %%blk, %d;
	add.u64 %%row, %%row, %%out;
`, 4*n)
}

var clusterShapes = []struct {
	name          string
	grid, cluster exec.Dim3
}{
	{"none", exec.Dim3{X: 3, Y: 2, Z: 2}, exec.Dim3{}},
	{"one", exec.Dim3{X: 3, Y: 2, Z: 2}, exec.Dim3{X: 1, Y: 1, Z: 1}},
	{"two wide", exec.Dim3{X: 4, Y: 3, Z: 2}, exec.Dim3{X: 2, Y: 1, Z: 1}},
	{"two high", exec.Dim3{X: 3, Y: 4, Z: 1}, exec.Dim3{X: 1, Y: 2, Z: 1}},
	{"a cube", exec.Dim3{X: 4, Y: 2, Z: 4}, exec.Dim3{X: 2, Y: 2, Z: 2}},
	{"sixteen", exec.Dim3{X: 8, Y: 4, Z: 1}, exec.Dim3{X: 8, Y: 2, Z: 1}},
}

// each calls f for every block of a grid, with its number, its cluster's place and its own in it.
func each(grid, cluster exec.Dim3, f func(n int, cl, in exec.Dim3)) {
	c := exec.Dim3{X: max(1, cluster.X), Y: max(1, cluster.Y), Z: max(1, cluster.Z)}
	n := 0
	for z := range grid.Z {
		for y := range grid.Y {
			for x := range grid.X {
				f(n, exec.Dim3{X: x / c.X, Y: y / c.Y, Z: z / c.Z}, exec.Dim3{X: x % c.X, Y: y % c.Y, Z: z % c.Z})
				n++
			}
		}
	}
}

// TestClusterRegisters reads all special registers of clusters, whose size comes from the launch or
// from the kernel.
func TestClusterRegisters(t *testing.T) {
	names := []string{"clusterid.x", "clusterid.y", "clusterid.z", "nclusterid.x", "nclusterid.y", "nclusterid.z",
		"cluster_ctaid.x", "cluster_ctaid.y", "cluster_ctaid.z", "cluster_nctaid.x", "cluster_nctaid.y", "cluster_nctaid.z", "cluster_ctarank", "cluster_nctarank"}
	body := number(16)
	for i, n := range names {
		body += fmt.Sprintf("mov.u32 %%r0, %%%s;\nst.global.u32 [%%row+%d], %%r0;\n", n, 4*i)
	}
	body += "mov.pred %p0, %is_explicit_cluster;\nselp.u32 %r0, 1, 0, %p0;\nst.global.u32 [%row+56], %r0;\n"
	for _, c := range clusterShapes {
		for _, own := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, kernel %v", c.name, own), func(t *testing.T) {
				o := bodyOpts{extent: c.grid, cluster: c.cluster}
				if own && c.cluster.X > 0 {
					o.cluster = exec.Dim3{}
					o.perf = fmt.Sprintf(" .explicitcluster .reqnctapercluster %d, %d, %d", c.cluster.X, c.cluster.Y, c.cluster.Z)
				}
				got := runBody(t, o, ".reg .b32 %r<2>;\n.reg .pred %p<2>;", body, nil, 64*int(c.grid.Count()))
				s := exec.Dim3{X: max(1, c.cluster.X), Y: max(1, c.cluster.Y), Z: max(1, c.cluster.Z)}
				each(c.grid, c.cluster, func(n int, cl, in exec.Dim3) {
					explicit := uint32(0)
					if c.cluster.X > 0 {
						explicit = 1
					}
					want := []uint32{cl.X, cl.Y, cl.Z, c.grid.X / s.X, c.grid.Y / s.Y, c.grid.Z / s.Z, in.X, in.Y, in.Z, s.X, s.Y, s.Z,
						in.X + s.X*(in.Y+s.Y*in.Z), uint32(s.Count()), explicit}
					for i, v := range want {
						if g := le.Uint32(got[64*n+4*i:]); g != v {
							t.Fatalf("block %d: value %d is %d, want %d", n, i, g, v)
						}
					}
				})
			})
		}
	}
}

// TestClusterExchange has each block write to the shared memory of all blocks of its cluster, in
// every way, and read what came; barriers of the cluster are between.
func TestClusterExchange(t *testing.T) {
	// Word r of a block's memory comes from rank r.
	ways := map[string]string{
		"store":         "mapa.shared::cluster.u32 %r4, %r3, %r2;\nst.shared::cluster.u32 [%r4], %r5;",
		"store of 64":   "mapa.shared::cluster.u32 %r4, %r3, %r2;\nst.shared::cluster.v2.u16 [%r4], {%h0, %h1};",
		"generic store": "cvta.shared.u64 %a0, %a1;\nmapa.u64 %a0, %a0, %r2;\nst.u32 [%a0], %r5;",
		"cvta after":    "mapa.shared::cluster.u64 %a0, %a1, %r2;\ncvta.shared::cluster.u64 %a0, %a0;\nst.u32 [%a0], %r5;",
		"atomic add":    "mapa.shared::cluster.u32 %r4, %r3, %r2;\natom.relaxed.cluster.shared::cluster.add.u32 %r6, [%r4], %r5;",
		"reduction":     "mapa.shared::cluster.u32 %r4, %r3, %r2;\nred.relaxed.cluster.shared::cluster.or.b32 [%r4], %r5;",
		"generic cas":   "cvta.shared.u64 %a0, %a1;\nmapa.u64 %a0, %a0, %r2;\natom.cas.b32 %r6, [%a0], 0, %r5;",
	}
	const decls = ".reg .b32 %r<16>;\n.reg .b16 %h<2>;\n.reg .b64 %a<4>;\n.reg .pred %p<4>;\n.shared .align 16 .b32 s[16];"
	for name, way := range ways {
		for _, c := range clusterShapes[1:] {
			for _, aligned := range []string{"", ".aligned"} {
				t.Run(name+", "+c.name+aligned, func(t *testing.T) {
					body := number(16) + `
	mov.u32 %r0, %cluster_ctarank;
	mov.u32 %r1, %cluster_nctarank;
	setp.ne.u32 %p0, %t, 0;
	@%p0 bra met;
	mov.u32 %r3, s;
	mov.u64 %a1, s;
	mad.lo.u32 %r3, %r0, 4, %r3;
	mul.wide.u32 %a2, %r0, 4;
	add.u64 %a1, %a1, %a2;
	mad.lo.u32 %r5, %blk, 1000, 7;
	mov.b32 {%h0, %h1}, %r5;
	mov.u32 %r2, 0;
next:
	` + way + `
	add.u32 %r2, %r2, 1;
	setp.lt.u32 %p1, %r2, %r1;
	@%p1 bra next;
met:
	barrier.cluster.arrive.release` + aligned + `;
	barrier.cluster.wait.acquire` + aligned + `;
	setp.ge.u32 %p2, %t, %r1;
	@%p2 bra done;
	mov.u32 %r7, s;
	mad.lo.u32 %r7, %t, 4, %r7;
	ld.shared.u32 %r8, [%r7];
	mul.wide.u32 %a2, %t, 4;
	add.u64 %a2, %a2, %row;
	st.global.u32 [%a2], %r8;
done:
	barrier.cluster.arrive` + aligned + `;
	barrier.cluster.wait` + aligned + `;`
					got := runBody(t, bodyOpts{extent: c.grid, cluster: c.cluster, block: 64, threads: 4}, decls, body, nil, 64*int(c.grid.Count()))
					var number = map[[2]exec.Dim3]int{}
					each(c.grid, c.cluster, func(n int, cl, in exec.Dim3) { number[[2]exec.Dim3{cl, in}] = n })
					each(c.grid, c.cluster, func(n int, cl, in exec.Dim3) {
						for r := range c.cluster.Count() {
							from := number[[2]exec.Dim3{cl, c.cluster.At(r)}]
							if g, want := le.Uint32(got[64*n+4*int(r):]), uint32(1000*from+7); g != want {
								t.Fatalf("block %d: word %d is %d, want %d", n, r, g, want)
							}
						}
					})
				})
			}
		}
	}
}

// TestClusterRing passes a sum around the blocks of a cluster: each waits at its own mbarrier, adds
// its number and stores the sum with st.async into the next block.
func TestClusterRing(t *testing.T) {
	const decls = ".reg .b32 %r<16>;\n.reg .b64 %a<4>;\n.reg .pred %p<4>;\n.shared .align 16 .b64 bar;\n.shared .align 4 .b32 box;"
	body := number(1) + `
	setp.ne.u32 %p0, %t, 0;
	mov.u32 %r0, %cluster_ctarank;
	mov.u32 %r1, %cluster_nctarank;
	@!%p0 mbarrier.init.shared.b64 [bar], 1;
	@!%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 4;
	fence.mbarrier_init.release.cluster;
	barrier.cluster.arrive; barrier.cluster.wait;
	@%p0 bra done;
	mov.u32 %r2, 0;
	setp.eq.u32 %p1, %r0, 0;
	@%p1 bra add;
wait:
	mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [bar], 0;
	@!%p2 bra wait;
	ld.shared.u32 %r2, [box];
add:
	add.u32 %r2, %r2, %blk;
	st.global.u32 [%row], %r2;
	add.u32 %r3, %r0, 1;
	setp.eq.u32 %p1, %r3, %r1;
	selp.u32 %r3, 0, %r3, %p1;
	mov.u32 %r4, bar; mapa.shared::cluster.u32 %r4, %r4, %r3;
	mov.u32 %r5, box; mapa.shared::cluster.u32 %r5, %r5, %r3;
	getctarank.shared::cluster.u32 %r6, %r5;
	setp.ne.u32 %p3, %r6, %r3;
	@%p3 trap;
	st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r5], %r2, [%r4];
done:
	barrier.cluster.arrive; barrier.cluster.wait;`
	for _, c := range clusterShapes[1:] {
		for _, order := range []exec.Sequence{{}, {Reverse: true}, {Seed: 5}} {
			t.Run(fmt.Sprint(c.name, order), func(t *testing.T) {
				got := runBody(t, bodyOpts{extent: c.grid, cluster: c.cluster, order: order}, decls, body, nil, 4*int(c.grid.Count()))
				sums := map[exec.Dim3]map[uint32]uint32{}
				each(c.grid, c.cluster, func(n int, cl, in exec.Dim3) {
					if sums[cl] == nil {
						sums[cl] = map[uint32]uint32{}
					}
					sums[cl][in.X+c.cluster.X*(in.Y+c.cluster.Y*in.Z)] = uint32(n)
				})
				each(c.grid, c.cluster, func(n int, cl, in exec.Dim3) {
					want := uint32(0)
					for r := range in.X + c.cluster.X*(in.Y+c.cluster.Y*in.Z) + 1 {
						want += sums[cl][r]
					}
					if g := le.Uint32(got[4*n:]); g != want {
						t.Fatalf("block %d has %d, want %d", n, g, want)
					}
				})
			})
		}
	}
}

// TestMulticast sends a copy to random blocks of a cluster, and counts arrivals and bytes at each.
func TestMulticast(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	const decls = ".reg .b32 %r<16>;\n.reg .b16 %h;\n.reg .b64 %a<4>;\n.reg .pred %p<4>;\n.shared .align 128 .b8 s[256];\n.shared .align 8 .b64 bar;"
	for range 40 {
		size := uint32(1 + rnd.IntN(8))
		sender, mask := rnd.IntN(int(size)), uint32(1+rnd.IntN(1<<size-1))
		bytesOf := 16 * (1 + rnd.IntN(16))
		data := make([]byte, 256)
		for i := range data {
			data[i] = byte(rnd.Uint32())
		}
		body := number(64) + fmt.Sprintf(`
	setp.ne.u32 %%p0, %%t, 0;
	mov.u32 %%r0, %%cluster_ctarank;
	@!%%p0 mbarrier.init.shared.b64 [bar], 1;
	barrier.cluster.arrive; barrier.cluster.wait;
	setp.ne.or.u32 %%p1, %%r0, %d, %%p0;
	mov.u16 %%h, %d;
	@!%%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [s], [%%in0], %d, [bar], %%h;
	mov.u32 %%r1, %d;
	shr.u32 %%r1, %%r1, %%r0;
	and.b32 %%r1, %%r1, 1;
	setp.eq.or.u32 %%p2, %%r1, 0, %%p0;
	@%%p2 bra met;
	mbarrier.arrive.expect_tx.shared.b64 _, [bar], %d;
wait:
	mbarrier.try_wait.parity.shared::cta.b64 %%p3, [bar], 0;
	@!%%p3 bra wait;
met:
	bar.sync 0;
	mov.u32 %%r2, s;
	mad.lo.u32 %%r2, %%t, 8, %%r2;
	ld.shared.u64 %%a0, [%%r2];
	mul.wide.u32 %%a1, %%t, 8;
	add.u64 %%a1, %%a1, %%row;
	st.global.u64 [%%a1], %%a0;
	barrier.cluster.arrive; barrier.cluster.wait;`, sender, mask, bytesOf, mask, bytesOf)
		got := runBody(t, bodyOpts{grid: 2 * size, cluster: exec.Dim3{X: size, Y: 1, Z: 1}}, decls, body, [][]byte{data}, 256*2*int(size))
		for b := range 2 * size {
			want := make([]byte, 256)
			if mask>>(b%size)&1 != 0 {
				copy(want, data[:bytesOf])
			}
			if !bytes.Equal(got[256*b:256*(b+1)], want) {
				t.Fatalf("cluster of %d, rank %d to %#x, %d bytes: block %d differs", size, sender, mask, bytesOf, b)
			}
		}
	}
}

// TestBulkToPeer copies shared memory to the next block with cp.async.bulk, whose mbarrier lies
// there, and reduces into it.
func TestBulkToPeer(t *testing.T) {
	const decls = ".reg .b32 %r<16>;\n.reg .b64 %a<4>;\n.reg .pred %p<4>;\n.shared .align 128 .b32 mine[32];\n.shared .align 128 .b32 s[32];\n.shared .align 8 .b64 bar;"
	for _, c := range []struct {
		name, op string
		want     func(from, lane uint32) uint32
	}{
		{"copy", "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes", func(from, lane uint32) uint32 { return 100*from + lane }},
		{"add", "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32", func(from, lane uint32) uint32 { return 100*from + lane + 5 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := number(32) + `
	setp.ne.u32 %p0, %t, 0;
	mov.u32 %r0, %cluster_ctarank;
	mov.u32 %r1, %cluster_nctarank;
	mov.u32 %r2, mine; mad.lo.u32 %r2, %t, 4, %r2;
	mov.u32 %r3, s; mad.lo.u32 %r3, %t, 4, %r3;
	mad.lo.u32 %r4, %blk, 100, %t;
	st.shared.u32 [%r2], %r4;
	st.shared.u32 [%r3], 5;
	@!%p0 mbarrier.init.shared.b64 [bar], 1;
	@!%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;
	fence.proxy.async.shared::cta;
	barrier.cluster.arrive; barrier.cluster.wait;
	add.u32 %r5, %r0, 1;
	rem.u32 %r5, %r5, %r1;
	mov.u32 %r6, s; mapa.shared::cluster.u32 %r6, %r6, %r5;
	mov.u32 %r7, bar; mapa.shared::cluster.u32 %r7, %r7, %r5;
	@!%p0 ` + c.op + ` [%r6], [mine], 128, [%r7];
wait:
	mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;
	@!%p1 bra wait;
	ld.shared.u32 %r8, [%r3];
	mul.wide.u32 %a1, %t, 4;
	add.u64 %a1, %a1, %row;
	st.global.u32 [%a1], %r8;
	barrier.cluster.arrive; barrier.cluster.wait;`
			got := runBody(t, bodyOpts{grid: 8, cluster: exec.Dim3{X: 4, Y: 1, Z: 1}}, decls, body, nil, 128*8)
			for b := range uint32(8) {
				from := b&^3 | (b+3)&3
				for lane := range uint32(32) {
					if g := le.Uint32(got[128*b+4*lane:]); g != c.want(from, lane) {
						t.Fatalf("block %d, word %d: %d, want %d", b, lane, g, c.want(from, lane))
					}
				}
			}
		})
	}
}

// TestRemoteArrive counts arrivals of all blocks at the mbarrier of the first.
func TestRemoteArrive(t *testing.T) {
	const decls = ".reg .b32 %r<16>;\n.reg .b64 %a<4>;\n.reg .pred %p<4>;\n.shared .align 8 .b64 bar;\n.shared .align 8 .b32 sum;"
	body := number(1) + `
	setp.ne.u32 %p0, %t, 0;
	mov.u32 %r0, %cluster_ctarank;
	@!%p0 mbarrier.init.shared.b64 [bar], 128;
	barrier.cluster.arrive; barrier.cluster.wait;
	mov.u32 %r1, bar; mapa.shared::cluster.u32 %r1, %r1, 0;
	mov.u32 %r2, sum; mapa.shared::cluster.u32 %r2, %r2, 0;
	red.relaxed.cluster.shared::cluster.add.u32 [%r2], %t;
	mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1];
	setp.ne.u32 %p1, %r0, 0;
	@%p1 bra done;
wait:
	mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [bar], 0;
	@!%p2 bra wait;
	ld.shared.u32 %r3, [sum];
	@!%p0 st.global.u32 [%row], %r3;
done:
	barrier.cluster.arrive; barrier.cluster.wait;`
	got := runBody(t, bodyOpts{grid: 8, cluster: exec.Dim3{X: 4, Y: 1, Z: 1}}, decls, body, nil, 32)
	for _, b := range []int{0, 4} {
		if g := le.Uint32(got[4*b:]); g != 4*31*16 {
			t.Errorf("block %d: %d, want %d", b, g, 4*31*16)
		}
	}
}

// TestClusterBarrierAfterExit: threads and whole blocks that have exited count as arrived.
func TestClusterBarrierAfterExit(t *testing.T) {
	body := number(1) + `
	mov.u32 %r0, %cluster_ctarank;
	setp.eq.u32 %p0, %r0, 1;
	@%p0 exit;
	setp.gt.u32 %p0, %t, 40;
	@%p0 exit;
	barrier.cluster.arrive; barrier.cluster.wait;
	st.global.u32 [%row], 9;`
	got := runBody(t, bodyOpts{block: 64, grid: 4, cluster: exec.Dim3{X: 4, Y: 1, Z: 1}}, ".reg .b32 %r<4>;\n.reg .pred %p<2>;", body, nil, 16)
	for b, want := range []uint32{9, 0, 9, 9} {
		if g := le.Uint32(got[4*b:]); g != want {
			t.Errorf("block %d: %d, want %d", b, g, want)
		}
	}
}

// TestClusterFaults: what programs may not do, and launches that are refused.
func TestClusterFaults(t *testing.T) {
	two := exec.Dim3{X: 2, Y: 1, Z: 1}
	const decls = ".reg .b32 %r<8>;\n.reg .b16 %h;\n.reg .b64 %a<4>;\n.reg .pred %p<4>;\n.shared .align 16 .b32 s[16];\n.shared .align 8 .b64 bar;"
	for _, c := range []struct {
		name, body, says string
		o                bodyOpts
	}{
		{"rank", "mov.u32 %r0, s; mapa.shared::cluster.u32 %r0, %r0, 2;", "address in block 2 of a cluster, which has 2", bodyOpts{}},
		{"beyond the cluster", "mov.u32 %r0, s; mapa.shared::cluster.u32 %r0, %r0, 1; add.u32 %r0, %r0, 0x40000; ld.shared::cluster.u32 %r1, [%r0];", "in block 2 of a cluster that has 2", bodyOpts{}},
		{"beyond the block", "mov.u32 %r0, s; mapa.shared::cluster.u32 %r0, %r0, 1; ld.shared::cluster.u32 %r1, [%r0+1024];", "read of 4 bytes at shared address 0x440400, at 0x400 in block 1 of the cluster, which has 64 bytes", bodyOpts{}},
		{"exited", `mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p0, %r1, 1; @%p0 exit;
			barrier.cluster.arrive; barrier.cluster.wait;
			mov.u32 %r0, s; mapa.shared::cluster.u32 %r0, %r0, 1; st.shared::cluster.u32 [%r0], 1;`, "in block 1 of the cluster, which has exited", bodyOpts{}},
		{"remote wait", `mov.u32 %r0, bar; mapa.shared::cluster.u32 %r0, %r0, 1; mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p0, %r1, 0;
			@%p0 mbarrier.test_wait.parity.shared.b64 %p1, [%r0], 0;`, "can only wait at its own", bodyOpts{}},
		{"returned state", "mbarrier.init.shared.b64 [bar], 9; barrier.cluster.arrive; barrier.cluster.wait; mov.u32 %r0, bar; mapa.shared::cluster.u32 %r0, %r0, 1; mbarrier.arrive.shared::cluster.b64 %a0, [%r0]; barrier.cluster.arrive; barrier.cluster.wait;", "must be _", bodyOpts{}},
		{"multicast", "mbarrier.init.shared.b64 [bar], 1; mov.u16 %h, 5; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [s], [%out], 16, [bar], %h;", "multicast to the blocks 0x5 of a cluster that has 2", bodyOpts{}},
		{"barrier that one block leaves out", `mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p0, %r1, 1; @!%p0 bra all; barrier.sync 1, 64; all: barrier.cluster.arrive; barrier.cluster.wait;`,
			"waits at the barrier of the cluster, where all threads of 1 of 2 blocks have arrived", bodyOpts{}},
		{"endless wait", "mbarrier.init.shared.b64 [bar], 1; next: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra next;", "repeats the same instructions", bodyOpts{maxInsts: 1 << 26}},
		{"another size", "", "it requires clusters of (4,1,1) blocks (.reqnctapercluster), not of (2,1,1)", bodyOpts{perf: ".reqnctapercluster 4"}},
		{"own size", "", "does not divide", bodyOpts{perf: ".reqnctapercluster 3", cluster: exec.Dim3{X: 3, Y: 1, Z: 1}}},
		{"too many", "", "at most 1 blocks per cluster", bodyOpts{perf: ".maxclusterrank 1"}},
		{"grid of clusters", "", ".blocksareclusters", bodyOpts{perf: ".reqntid 32 .reqnctapercluster 2 .blocksareclusters"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "endless wait" {
				alltests.Only(t, "it takes seconds")
			}
			if c.o.cluster == (exec.Dim3{}) {
				c.o.cluster = two
			}
			c.o.grid = 4
			_, err := tryBody(t, c.o, decls, c.body, nil, 64)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
	t.Run("explicit", func(t *testing.T) {
		if _, err := tryBody(t, bodyOpts{perf: ".explicitcluster"}, "", "", nil, 4); err == nil || !strings.Contains(err.Error(), ".explicitcluster") {
			t.Error(err)
		}
	})
}

// TestClustersForAnyThreads: a program with races has one result for any number of workers.
func TestClustersForAnyThreads(t *testing.T) {
	const decls = ".reg .b32 %r<8>;\n.reg .b64 %a<4>;\n.reg .pred %p<4>;\n.shared .align 16 .b32 s[64];"
	body := number(64) + `
	mov.u32 %r1, %cluster_ctarank;
	mov.u32 %r4, 0;
next:
	mad.lo.u32 %r5, %r4, 7, %r1; and.b32 %r5, %r5, 3;
	mov.u32 %r0, s; mad.lo.u32 %r0, %t, 4, %r0; mapa.shared::cluster.u32 %r2, %r0, %r5;
	ld.shared::cluster.u32 %r3, [%r2];
	mad.lo.u32 %r3, %r3, 31, %blk;
	st.shared::cluster.u32 [%r2], %r3;
	add.u32 %r4, %r4, 1;
	setp.lt.u32 %p0, %r4, 500;
	@%p0 bra next;
	barrier.cluster.arrive; barrier.cluster.wait;
	ld.shared.u32 %r3, [%r0];
	mul.wide.u32 %a1, %t, 4;
	add.u64 %a1, %a1, %row;
	st.global.u32 [%a1], %r3;
	barrier.cluster.arrive; barrier.cluster.wait;`
	var want []byte
	for _, threads := range []int{1, 2, 5} {
		got := runBody(t, bodyOpts{block: 64, grid: 48, cluster: exec.Dim3{X: 4, Y: 1, Z: 1}, threads: threads}, decls, body, nil, 48*256)
		if want == nil {
			want = got
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%d workers: another result", threads)
		}
	}
}
