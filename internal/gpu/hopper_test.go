package gpu_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/exec"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/gpu"
)

// teamFrame is a kernel of 64 threads whose word of output is %v; s is shared memory and bar an mbarrier
// that expects an arrival of each block of the cluster.
const teamFrame = `.version 8.4
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)%s
{
	.shared .align 128 .b8 s[8192];
	.shared .align 8 .b64 bar;
	.reg .b32 %%r<32>, %%v, %%t, %%rank, %%size, %%blk, %%bar, %%s;
	.reg .b64 %%a<8>, %%out, %%in;
	.reg .pred %%p<8>, %%first;
	.reg .f32 %%d<32>;
	ld.param.u64 %%out, [out];
	mov.u32 %%t, %%tid.x; mov.u32 %%rank, %%cluster_ctarank; mov.u32 %%size, %%cluster_nctarank; mov.u32 %%blk, %%ctaid.x;
	mov.u32 %%s, s; mov.u32 %%bar, bar;
	add.u64 %%in, %%out, 65536;
	mad.lo.u32 %%r31, %%blk, 64, %%t;
	mul.wide.u32 %%a7, %%r31, 4;
	add.u64 %%out, %%out, %%a7;
	mov.u32 %%v, 0;
	setp.eq.u32 %%first, %%t, 0;
	@%%first mbarrier.init.shared.b64 [%%bar], %%size;
	fence.mbarrier_init.release.cluster;
	barrier.cluster.arrive; barrier.cluster.wait;
	setp.ge.u32 %%p0, %%t, %%size;
%s
	barrier.cluster.arrive; barrier.cluster.wait;
	st.global.u32 [%%out], %%v;
	exit;
}
`

const (
	teamWait = "w: mbarrier.try_wait.parity.shared.b64 %p6, [%bar], 0; @!%p6 bra w;\n"
	teamMap  = "mad.lo.u32 %r0, %rank, 4, %s; mapa.shared::cluster.u32 %r1, %r0, %t; mad.lo.u32 %r2, %blk, 1000, %t;\n"
	teamRead = "mad.lo.u32 %r3, %t, 4, %s; ld.shared.u32 %v, [%r3];\n"
	allMeet  = "barrier.cluster.arrive; barrier.cluster.wait;\n"
	// moreBar makes an mbarrier at s that expects 64 arrivals, and a flag; %r1 is the next block's mbarrier.
	moreBar = "@%first mbarrier.init.shared.b64 [%s], 64; @%first st.shared.u32 [%s+16], 0; add.u32 %r1, %rank, 1; rem.u32 %r1, %r1, %size; mapa.shared::cluster.u32 %r1, %s, %r1;\n" +
		allMeet
	moreTest = "mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%s], 0;\n"
	moreFlag = "f: ld.acquire.cluster.shared.u32 %r2, [%s+16]; setp.eq.u32 %p3, %r2, 0; @%p3 bra f;\n" + moreTest
)

// teamBodies are programs without races in all that clusters, mbarriers, bulk copies and products do.
var teamBodies = map[string]string{
	"stores":  "@%p0 bra met;" + teamMap + "st.shared::cluster.u32 [%r1], %r2; met:\n" + allMeet + teamRead,
	"generic": "@%p0 bra met;" + teamMap + "cvt.u64.u32 %a0, %r1; cvta.shared::cluster.u64 %a0, %a0; st.u32 [%a0], %r2; met:\n" + allMeet + teamRead,
	"loads":   "mad.lo.u32 %r0, %t, 4, %s; st.shared.u32 [%r0], %r31;\n" + allMeet + "rem.u32 %r1, %t, %size; mapa.shared::cluster.u32 %r1, %r0, %r1; ld.shared::cluster.u32 %v, [%r1];\n",
	"atomics": "mapa.shared::cluster.u32 %r1, %s, 0; atom.shared::cluster.add.u32 %r2, [%r1], 3;\n" + allMeet + "ld.shared::cluster.u32 %v, [%r1];\n",
	"arrivals": "@%p0 bra met; mapa.shared::cluster.u32 %r1, %bar, %t; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1]; met:\n" +
		teamWait + "mov.u32 %v, 5;",
	"asynchronous stores": `@%first mul.lo.u32 %r9, %size, 4; @%first mbarrier.expect_tx.shared.b64 [%bar], %r9;
		@%p0 bra met;` + teamMap + `mapa.shared::cluster.u32 %r4, %bar, %t;
		mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];
		st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r2, [%r4]; met:
		` + teamWait + teamRead,
	"copies to the next": `mad.lo.u32 %r0, %t, 4, %s; st.shared.u32 [%r0], %r31; fence.proxy.async;
		add.u32 %r1, %rank, 1; rem.u32 %r1, %r1, %size; mapa.shared::cluster.u32 %r2, %s, %r1; mapa.shared::cluster.u32 %r3, %bar, %r1;
		@%first mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 256;
		setp.lt.u32 %p1, %t, %size; @!%first and.pred %p1, %p1, %p1; setp.gt.u32 %p2, %t, 0; and.pred %p1, %p1, %p2;
		@%p1 mbarrier.arrive.shared.b64 _, [%bar];
		` + allMeet + `
		@%first cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r2+4096], [%s], 256, [%r3];
		` + teamWait + "ld.shared.u32 %v, [%r0+4096];\n",
	"multicast": `setp.eq.u32 %p1, %rank, 0; and.pred %p1, %p1, %first;
		@%first mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 4096;
		setp.lt.u32 %p3, %t, %size; setp.gt.u32 %p2, %t, 0; and.pred %p3, %p3, %p2;
		@%p3 mbarrier.arrive.shared.b64 _, [%bar];
		` + allMeet + `
		.reg .b16 %h; shl.b32 %r5, 1, %size; sub.u32 %r5, %r5, 1; cvt.u16.u32 %h, %r5;
		@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%s], [%in], 4096, [%bar], %h;
		` + teamWait + "mad.lo.u32 %r0, %t, 60, %s; ld.shared.u32 %v, [%r0];\n",
	"stores of bulks": `mad.lo.u32 %r0, %t, 4, %s; st.shared.u32 [%r0], %r31; fence.proxy.async; bar.sync 0;
		shl.b32 %r1, %blk, 8; cvt.u64.u32 %a0, %r1; add.u64 %a0, %a0, %in; add.u64 %a0, %a0, 65536;
		@%first cp.async.bulk.global.shared::cta.bulk_group [%a0], [%s], 256;
		@%first cp.async.bulk.commit_group;
		@%first cp.async.bulk.wait_group.read 0;
		bar.sync 0; st.shared.u32 [%r0], 7;
		@%first cp.async.bulk.wait_group 0;
		bar.sync 0; cvt.u64.u32 %a1, %t; shl.b64 %a1, %a1, 2; add.u64 %a1, %a1, %a0; ld.global.u32 %v, [%a1];`,
	"reductions": `mad.lo.u32 %r0, %t, 4, %s; st.shared.u32 [%r0], %t; fence.proxy.async; bar.sync 0;
		@%first cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%in], [%s], 256;
		@%first cp.async.bulk.commit_group; @%first cp.async.bulk.wait_group 0;`,
	"arrivals and a meeting": moreBar + `mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1];
		` + allMeet + moreTest + "selp.u32 %v, 1, 2, %p1;",
	"byte counts and a meeting": moreBar + `@%first mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%r1], 48;
		` + allMeet + "mbarrier.arrive.shared.b64 _, [%s];\n" + allMeet + moreTest + `selp.u32 %v, 1, 2, %p1;
		` + allMeet + `setp.lt.u32 %p2, %t, 48; @%p2 mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r1], 1;
		` + allMeet + moreTest + "selp.u32 %r0, 3, 5, %p1; mul.lo.u32 %v, %v, %r0;",
	"an arrival, a fence and a flag": moreBar + `@%first mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1], 64;
		fence.acq_rel.cluster; @%first st.relaxed.cluster.shared::cluster.u32 [%r1+16], 1;
		` + moreFlag + "selp.u32 %v, 1, 2, %p1;",
	"an arrival and the flag of another warp": moreBar + `mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1]; bar.sync 0;
		setp.eq.u32 %p2, %t, 40; @%p2 st.release.cluster.shared::cluster.u32 [%r1+16], 1;
		` + moreFlag + "selp.u32 %v, 1, 2, %p1;",
	"an arrival and an atomic": moreBar + `mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1]; bar.sync 0;
		@%first atom.acq_rel.cluster.shared::cluster.add.u32 %r0, [%r1+16], 1;
		` + moreFlag + "selp.u32 %v, 1, 2, %p1;",
	"maps that a block edits": `setp.lt.u32 %p1, %t, 32; @!%p1 bra loaded; mul.wide.u32 %a0, %t, 4; add.u64 %a0, %a0, %in; ld.global.u32 %r0, [%a0];
		mad.lo.u32 %r1, %t, 4, %s; st.shared.u32 [%r1+4096], %r0; bar.warp.sync -1;
		mul.wide.u32 %a1, %blk, 256; add.u64 %a1, %a1, %in; add.u64 %a2, %a1, 65536; add.u64 %a1, %a1, 1024; cvt.u64.u32 %a3, %s; add.u64 %a3, %a3, 4096;
		@%first tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%a3], %a2; bar.warp.sync -1;
		tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%a1], [%a3], 128;
		@%first tensormap.replace.tile.box_dim.global.b1024.b32 [%a1], 1, 16;
		fence.proxy.tensormap::generic.acquire.gpu [%a1], 128;
		@%first mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 2048; mov.u32 %r2, 0;
		@%first cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%a1, {%r2, %r2}], [%bar];
		setp.lt.u32 %p3, %t, %size; setp.gt.u32 %p2, %t, 0; and.pred %p3, %p3, %p2; @%p3 mbarrier.arrive.shared.b64 _, [%bar]; loaded:
		` + teamWait + "mad.lo.u32 %r0, %t, 28, %s; ld.shared.u32 %v, [%r0];\n",
	"lanes apart": `and.b32 %r0, %t, 1; setp.eq.u32 %p1, %r0, 0; @%p1 bra met; mov.u32 %r1, 0;
		next: add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 50; @%p2 bra next; met:
		barrier.cluster.arrive; barrier.cluster.wait; mov.u32 %v, %r0;`,
}

// onTeam runs a kernel, functionally or on a chip, and returns its memory and its time. At byte 65536 of
// its memory there is a tensor map of the bytes from 131072 on: 32 × 32 words, all of them in a box.
func onTeam(t *testing.T, text string, grid uint32, cfg *gpu.Config) ([]byte, uint64, error) {
	t.Helper()
	return onTeamAs(t, text, grid, cfg, func(w exec.Work) exec.Work { return w })
}

// onTeamAs does it with what as makes of the work, on a chip.
func onTeamAs(t *testing.T, text string, grid uint32, cfg *gpu.Config, as func(exec.Work) exec.Work) ([]byte, uint64, error) {
	t.Helper()
	const size = 1 << 18
	prog, m, mem := linked(t, text)
	params, addrs := buffers(t, size)
	threads := uint32(64)
	if strings.Contains(text, "wgmma") || strings.Contains(text, "tcgen05") {
		threads = 128
	}
	l := xptx.Launch{Kernel: prog.Kernels()[0], Grid: exec.Dim3{X: grid, Y: 1, Z: 1}, Block: exec.Dim3{X: threads, Y: 1, Z: 1}, Params: params(mem)}
	fill := make([]byte, size)
	for i := range fill[65536:] {
		fill[65536+i] = byte(i * 7 >> 3)
	}
	box := exec.TensorMap{
		Address: (*addrs)[0] + 131072, Type: exec.TensorU32, Rank: 2, Dims: [5]uint64{32, 32}, Strides: [5]uint64{4, 128}, Box: [5]uint32{32, 32}, Steps: [5]uint32{1, 1},
	}
	box.Encode((*[exec.TensorMapBytes]byte)(fill[65536:]))
	if err := mem.Write((*addrs)[0], fill); err != nil {
		t.Fatal(err)
	}
	var cycles uint64
	var chip *gpu.GPU
	var err error
	if cfg == nil {
		_, err = m.Run(context.Background(), l, exec.Options{})
	} else {
		if chip, err = gpu.New(*cfg); err != nil {
			t.Fatal(err)
		}
		op := &gpu.Op{Kind: gpu.OpLaunch, Make: func(bool) (exec.Work, error) {
			w, err := m.NewWork(l, nil)
			if err != nil {
				return nil, err
			}
			return as(w), nil
		}}
		if err = chip.Add(op); err == nil {
			err = chip.Finish(context.Background())
		}
		if op.Kernel != nil {
			cycles = op.Kernel.Cycles()
		}
	}
	if chip != nil && err == nil && chip.MailLeft() != 0 {
		t.Errorf("%d messages are left", chip.MailLeft())
	}
	got := make([]byte, size)
	if e := mem.Read((*addrs)[0], got); e != nil {
		t.Fatal(e)
	}
	return got, cycles, err
}

func teamConfig(t *testing.T, name string, threads int, set ...string) *gpu.Config {
	t.Helper()
	c, err := config.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range append([]string{"run.launch_latency=0"}, set...) {
		if err := c.Set(s); err != nil {
			t.Fatal(err)
		}
	}
	cfg := c.ChipConfig()
	cfg.Run.Threads = threads
	return &cfg
}

// unmoved watches a block and does nothing.
type unmoved struct{}

func (unmoved) Executed(int, *exec.Effects, exec.Pending) {}
func (unmoved) Accessed(int, *exec.Effects, exec.Pending) {}
func (unmoved) Released()                                 {}

// TestTappedTeams: clusters, mbarriers and bulk copies take the same time, and leave the same memory, when something
// looks at what the warps execute (exec.Tap).
func TestTappedTeams(t *testing.T) {
	together(t, 3)
	for name, body := range teamBodies {
		t.Run(name, func(t *testing.T) {
			text := fmt.Sprintf(teamFrame, " .reqnctapercluster 2", body)
			want, plain, err := onTeam(t, text, 4, teamConfig(t, "h100-pcie", 1))
			if err != nil {
				t.Fatal(err)
			}
			tapped := func(w exec.Work) exec.Work {
				return exec.Tap(w, func(exec.Block) exec.BlockWatcher { return unmoved{} })
			}
			got, cycles, err := onTeamAs(t, text, 4, teamConfig(t, "h100-pcie", 1), tapped)
			if err != nil {
				t.Fatal(err)
			}
			if cycles != plain || !bytes.Equal(got, want) {
				t.Errorf("%d cycles, without a watcher %d; the same memory: %v", cycles, plain, bytes.Equal(got, want))
			}
		})
	}
}

// TestTeams runs the programs with clusters of several sizes: the chip leaves the same memory as a
// functional run, in the same time for every number of goroutines and without skipped cycles.
func TestTeams(t *testing.T) {
	together(t, 3)
	sizes := []int{2}
	if alltests.On() {
		sizes = []int{1, 2, 3, 8, 16}
	}
	for name, body := range teamBodies {
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%s, %d", name, size), func(t *testing.T) {
				perf := fmt.Sprintf(" .reqnctapercluster %d", size)
				text, grid := fmt.Sprintf(teamFrame, perf, body), uint32(4*size)
				want, _, err := onTeam(t, text, grid, nil)
				if err != nil {
					t.Fatal(err)
				}
				var first uint64
				for i, cfg := range []*gpu.Config{
					teamConfig(t, "h100-pcie", 1), teamConfig(t, "h100-pcie", 3), teamConfig(t, "h100-pcie", 1, "run.idle_skip=false"),
				} {
					got, cycles, err := onTeam(t, text, grid, cfg)
					if err != nil {
						t.Fatal(err)
					}
					if !bytes.Equal(got, want) {
						at := 0
						for got[at] == want[at] {
							at++
						}
						t.Fatalf("run %d: other bytes from %#x on", i, at)
					}
					if i == 0 {
						first = cycles
					}
					if cycles != first || cycles == 0 {
						t.Fatalf("run %d takes %d cycles, the first %d", i, cycles, first)
					}
				}
				got, _, err := onTeam(t, text, grid, teamConfig(t, "h100-pcie", 1, "modern.assembled=true"))
				if err != nil || !bytes.Equal(got, want) {
					t.Fatalf("with modern.assembled: other bytes, or %v", err)
				}
			})
		}
	}
}

// TestArrivalsWithCopies: cp.async.mbarrier.arrive arrives when the copies that its thread has issued before it have
// ended, whatever it issues afterwards. v are the cycles until the phase ends; a copy from the DRAM takes more than 500.
func TestArrivalsWithCopies(t *testing.T) {
	const (
		begin = "@%first mbarrier.init.shared.b64 [%s], 64; @%first mbarrier.init.shared.b64 [%s+8], 1; bar.sync 0; mad.lo.u32 %r0, %t, 16, %s; mul.wide.u32 %a0, %t, 16; add.u64 %a0, %a0, %in;\n" +
			"mov.u32 %r5, %clock;\n"
		end  = "w2: mbarrier.try_wait.parity.shared.b64 %p6, [%s], 0; @!%p6 bra w2; mov.u32 %r6, %clock; sub.u32 %v, %r6, %r5; cp.async.wait_all;\n"
		copy = "cp.async.cg.shared.global [%r0+1024], [%a0], 16;\n"
	)
	arrive := "cp.async.mbarrier.arrive.noinc.shared.b64 [%s];\n"
	for _, c := range []struct {
		name, body string
		waits      bool
	}{
		{"a copy", copy + arrive, true},
		{"none", arrive, false},
		{"a copy afterwards", arrive + copy, false},
		{"a copy that has ended", copy + "cp.async.wait_all; mov.u32 %r5, %clock;" + arrive, false},
		{"a copy in a closed group", copy + "cp.async.commit_group;" + arrive, true},
		{"two", copy + arrive + "w1: mbarrier.try_wait.parity.shared.b64 %p6, [%s], 0; @!%p6 bra w1; mov.u32 %r5, %clock; add.u64 %a0, %a0, 8192; xor.b32 %r0, %r0, 0;" +
			strings.Replace(copy, "1024", "2048", 1) + arrive + strings.NewReplacer("], 0; @", "], 1; @", "w2", "w4").Replace(end) + "bra over;", true},
		{"added to the phase", copy + "cp.async.mbarrier.arrive.shared.b64 [%s+8]; @%first mbarrier.arrive.shared.b64 _, [%s+8];" +
			strings.NewReplacer("[%s]", "[%s+8]", "w2", "w3").Replace(end) + "bra over;", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := fmt.Sprintf(teamFrame, "", begin+c.body+end+"over:")
			got, _, err := onTeam(t, text, 1, teamConfig(t, "h100-pcie", 1))
			if err != nil {
				t.Fatal(err)
			}
			if v := binary.LittleEndian.Uint32(got[4*40:]); (v > 500) != c.waits {
				t.Errorf("the phase ends after %d cycles", v)
			}
		})
	}
}

// TestRegistersGivenBack: a warp that asks for more registers goes on when another has given back as many. Warp 0 sets a
// flag before it gives any back; v is what warp 1 sees of it after it has asked.
func TestRegistersGivenBack(t *testing.T) {
	const flag = "@%first st.volatile.shared.u32 [%s], 0; bar.sync 0; setp.ge.u32 %p1, %t, 32; @%p1 bra second;\n" +
		"mov.u32 %r2, 0; L: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 200; @%p2 bra L; @%first st.volatile.shared.u32 [%s], 1;\n"
	for _, c := range []struct {
		name, perf, body string
		sees             uint32
		says             string
	}{
		{"all that it lacks", " .maxnreg 64", "setmaxnreg.dec.sync.aligned.u32 24; bra end; second: setmaxnreg.inc.sync.aligned.u32 104;", 1, ""},
		{"by the number of threads", " .reqntid 64, 1, 1 .minnctapersm 16", "setmaxnreg.dec.sync.aligned.u32 24; bra end; second: setmaxnreg.inc.sync.aligned.u32 104;", 1, ""},
		{"no more than it has", " .maxnreg 64", "setmaxnreg.dec.sync.aligned.u32 24; bra end; second: setmaxnreg.inc.sync.aligned.u32 64;", 0, ""},
		{"what it has given back itself", " .maxnreg 64", "bra end; second: setmaxnreg.dec.sync.aligned.u32 24; setmaxnreg.inc.sync.aligned.u32 64;", 0, ""},
		{"a number that nothing determines", "", "setmaxnreg.dec.sync.aligned.u32 24; bra end; second: setmaxnreg.inc.sync.aligned.u32 104;", 0, ""},
		{"guards that do not hold", " .maxnreg 64", "bra end; second: setp.ne.u32 %p3, %t, %t; @%p3 setmaxnreg.inc.sync.aligned.u32 104;", 0, ""},
		{"dec to more", " .maxnreg 64", "bra end; second: setmaxnreg.dec.sync.aligned.u32 104;", 0, ""},
		{"too few", " .maxnreg 64", "setmaxnreg.dec.sync.aligned.u32 32; bar.sync 0; bra end; second: setmaxnreg.inc.sync.aligned.u32 104; bar.sync 0;", 0, "misc"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := fmt.Sprintf(teamFrame, c.perf, flag+c.body+" ld.volatile.shared.u32 %v, [%s]; end:")
			for _, set := range []string{"modern.assembled=false", "modern.assembled=true"} {
				got, _, err := onTeam(t, text, 1, teamConfig(t, "h100-pcie", 1, set))
				if c.says != "" {
					if err == nil || !strings.Contains(err.Error(), c.says) {
						t.Errorf("%s: got %v, want %q", set, err, c.says)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if v := got[4*32]; uint32(v) != c.sees {
					t.Errorf("%s: warp 1 sees %d, want %d", set, v, c.sees)
				}
			}
		})
	}
}

// TestTeamRefusals: what a GPU cannot time is refused by its name.
func TestTeamRefusals(t *testing.T) {
	product := "mov.b64 %a0, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, %a0, %a0, 0, 1, 1, 0, 0;"
	for _, c := range []struct{ name, gpu, set, perf, body, says string }{
		{"clusters", "rtx-3070", "", " .reqnctapercluster 2", "", "cannot run clusters of more than one block"},
		{"products", "rtx-3070", "", "", product, "cannot run wgmma"},
		{"switched off", "h100-pcie", "modern.hopper.enabled=false", "", product, "cannot run wgmma"},
		{"small groups", "h100-pcie", "chip.gpcs=64", " .reqnctapercluster 4", "", "the largest group of SMs of this GPU that can hold one has 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var set []string
			if c.set != "" {
				set = append(set, c.set)
			}
			_, _, err := onTeam(t, fmt.Sprintf(teamFrame, c.perf, c.body), 4, teamConfig(t, c.gpu, 1, set...))
			var refused *exec.LaunchError
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}

// TestTeamFaults: wrong programs end with a message on a chip, too.
func TestTeamFaults(t *testing.T) {
	for _, c := range []struct{ name, body, says string }{
		{"late signal", "mapa.shared::cluster.u32 %r1, %bar, 1; setp.eq.u32 %p1, %rank, 0; @%p1 mbarrier.arrive.shared::cluster.b64 _, [%r1], 9;", "9 arrivals at the mbarrier"},
		{"barrier that one block leaves out", "setp.eq.u32 %p1, %rank, 1; @!%p1 bra all; barrier.sync 1, 96; all:", "waits at the barrier of the cluster"},
		{"memory of a block that has ended", "setp.eq.u32 %p1, %rank, 1; @%p1 exit; mapa.shared::cluster.u32 %r1, %s, 1; mov.u32 %r2, 0; next: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 900; @%p2 bra next; ld.shared::cluster.u32 %v, [%r1];", "has exited"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := onTeam(t, fmt.Sprintf(teamFrame, " .reqnctapercluster 2", c.body), 4, teamConfig(t, "h100-pcie", 1))
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}

// TestTeamSignals: a message about a signal that cannot be applied names the instruction that sent it. That
// block 1 has ended is its own fault, not one of the block that has its place then.
func TestTeamSignals(t *testing.T) {
	for _, c := range []struct{ name, body, inst, says string }{
		{"too many arrivals", "mapa.shared::cluster.u32 %r1, %bar, 1; setp.eq.u32 %p1, %rank, 0; @%p1 mbarrier.arrive.shared::cluster.b64 _, [%r1], 9;", "mbarrier.arrive", "9 arrivals at the mbarrier"},
		{"a block that has ended", "mapa.shared::cluster.u32 %r1, %bar, 1; mapa.shared::cluster.u32 %r3, %s, 1; setp.eq.u32 %p1, %rank, 1; mov.u32 %r2, 0;" + allMeet + `@!%p1 bra send;
			next: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 4; @%p2 bra next; exit; send:
			@%first st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r3], %r2, [%r1];`, "st.async", "block 1 of the cluster had ended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := fmt.Sprintf(teamFrame, " .reqnctapercluster 2", c.body)
			_, _, err := onTeam(t, text, 64, teamConfig(t, "h100-pcie", 1, "chip.clusters=2", "chip.gpcs=1"))
			var f *exec.Fault
			if !errors.As(err, &f) || !strings.Contains(f.What, c.says) || !strings.HasPrefix(f.Where.Inst, c.inst) || f.Where.PC < 0 || f.Where.Pos.Line == 0 {
				t.Errorf("got %v, want %q at %s", err, c.says, c.inst)
			}
		})
	}
}

// TestTeamPlaces: signals reach no block that has the place of an earlier one, and its storage.
func TestTeamPlaces(t *testing.T) {
	send := "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1];\n"
	for name, body := range map[string]string{
		"arrivals at the end": moreBar + strings.Repeat(send, 8),
		// The launch ends while news of the barrier, which ends let open, is on its way.
		"ends at the barrier": "setp.eq.u32 %p1, %rank, 1; @%p1 exit; barrier.cluster.arrive; exit;",
	} {
		t.Run(name, func(t *testing.T) {
			text := fmt.Sprintf(teamFrame, " .reqnctapercluster 2", body)
			want, _, err := onTeam(t, text, 64, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := onTeam(t, text, 64, teamConfig(t, "h100-pcie", 1, "chip.clusters=2", "chip.gpcs=1"))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Error("other bytes than in a functional run")
			}
		})
	}
}

// hopperEffects are changes of each parameter of what Hopper added, with a program whose time they
// change, and whether to more cycles.
var hopperEffects = []struct {
	set, body string
	more      bool
}{
	{"modern.hopper.mbarrier_wait=90", "arrivals", true},
	{"modern.hopper.mbarrier_wake=60", "arrivals", true},
	{"modern.hopper.suspend=9", "multicast", false},
	{"modern.hopper.peer_latency=200", "loads", true},
	{"modern.hopper.peer_cycles=30", "loads", true},
	{"modern.hopper.peer_command=128", "loads", true},
	{"modern.hopper.peer_header=128", "far stores", true},
	{"modern.hopper.peer_signal=400", "arrivals", true},
	{"modern.hopper.peer_store=1500", "far stores", true},
	{"modern.hopper.cluster_barrier=500", "loads", true},
	{"modern.hopper.bulk_start=200", "multicast", true},
	{"modern.hopper.bulk_descriptor=300", "box", true},
	{"modern.hopper.bulk_end=200", "multicast", true},
	{"modern.hopper.bulk_requests=1", "multicast", true},
	{"modern.hopper.multicast=300", "multicast", true},
	{"modern.hopper.product_tail=300", "product", true},
	{"modern.hopper.product_tail_regs=300", "product of registers", true},
	{"modern.hopper.product_gap=50", "products", true},
	{"modern.hopper.product_gap_regs=50", "products of registers", true},
	{"modern.hopper.product_queue=1", "products and sums", true},
	{"modern.hopper.product_queue_regs=1", "products of registers and sums", true},
	{"modern.hopper.proxy_fence=500", "copies to the next", true},
	{"modern.hopper.mbarrier_accept=60", "own signals", true},
	{"modern.hopper.mbarrier_gap=60", "own signals", true},
	{"modern.hopper.mbarrier_own=900", "waits", true},
	{"modern.hopper.barrier_arrive=60", "barriers", true},
	{"modern.hopper.barrier_release=900", "barriers", true},
	{"modern.hopper.peer_own=900", "own memory", true},
	{"modern.hopper.bulk_first=3000", "box", true},
	{"modern.hopper.product_fence=60", "product", true},
	{"modern.hopper.enabled=false", "waits", false},
	{"modern.hopper.tcgen_rate=512", "tcgen05", true},
	{"modern.hopper.tcgen_tail=500", "tcgen05", true},
	{"modern.hopper.tcgen_load=200", "tcgen05", true},
	{"chip.gpcs=1", "far stores", false},
}

// effectBodies are further programs for them.
func effectBody(name string) (perf, body string) {
	perf = " .reqnctapercluster 2"
	if b, ok := teamBodies[name]; ok {
		return perf, b
	}
	regs := strings.Contains(name, "registers")
	a := "%a0"
	if regs {
		a = "{%r4, %r5, %r6, %r7}"
	}
	columns, n, sums := 8, 12, ""
	if strings.HasSuffix(name, "sums") { // they go on while products are in the tensor units
		columns, n, sums = 64, 4, strings.Repeat("add.u32 %v, %v, 3;\n", 80)
	}
	if strings.HasPrefix(name, "product ") || name == "product" {
		n = 1
	}
	var d []string
	for i := range columns / 2 {
		d = append(d, fmt.Sprintf("%%d%d", i))
	}
	product := fmt.Sprintf("wgmma.mma_async.sync.aligned.m64n%dk16.f32.f16.f16 {%s}, %s, %%a0, 0, 1, 1, 0, 0;\n", columns, strings.Join(d, ", "), a)
	if regs { // which has no transposition of A
		product = strings.Replace(product, "1, 0, 0;", "1, 0;", 1)
	}
	switch {
	case name == "own signals":
		return "", "@!%first bra over; " + strings.Repeat("mbarrier.arrive.shared.b64 _, [%bar]; mbarrier.test_wait.parity.shared.b64 %p0, [%bar], 0;\n", 8) + "over:\n"
	case name == "barriers":
		return "", strings.Repeat("bar.sync 0;\n", 20)
	case name == "own memory":
		return perf, "mapa.shared::cluster.u32 %r1, %s, %rank;" + strings.Repeat("ld.shared::cluster.u32 %r0, [%r1]; add.u32 %r0, %r0, 1;\n", 8)
	case strings.HasPrefix(name, "product"):
		return "", "mov.b64 %a0, 0; mov.b32 %r4, 0; mov.b32 %r5, 0; mov.b32 %r6, 0; mov.b32 %r7, 0; wgmma.fence.sync.aligned;" + strings.Repeat(product, n) + sums + "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
	case name == "far stores":
		return perf, "mad.lo.u32 %r0, %t, 4, %s; xor.b32 %r1, %rank, 1; mapa.shared::cluster.u32 %r1, %r0, %r1;" +
			strings.Repeat("st.shared::cluster.u32 [%r1], %t;\n", 40) + "fence.acq_rel.cluster;\n"
	case name == "box":
		return "", `@!%first bra over; mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 4096; mov.b32 %r0, 0;
			cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%in, {%r0, %r0}], [%bar];
			` + teamWait + "over:\n"
	}
	return "", "@!%first bra over; mbarrier.arrive.shared.b64 _, [%bar];\n" + teamWait + "over:\n"
}

// TestHopperParameters: each parameter has an effect, and the list has all of them.
func TestHopperParameters(t *testing.T) {
	alltests.Only(t, "effects of settings")
	left := map[string]bool{}
	for _, k := range config.Keys() {
		if strings.HasPrefix(k.Name, "modern.hopper.") || k.Name == "chip.gpcs" {
			left[k.Name] = true
		}
	}
	for _, e := range hopperEffects {
		key, _, _ := strings.Cut(e.set, "=")
		delete(left, key)
		perf, body := effectBody(e.body)
		text := fmt.Sprintf(teamFrame, perf, body)
		var took [2]uint64
		for i, set := range [][]string{nil, {e.set}} {
			cfg, grid := teamConfig(t, "h100-pcie", 1, set...), uint32(228)
			if e.body == "tcgen05" {
				cfg, grid, text = teamConfig(t, "b200", 1, set...), 1, tcgenText("f16", "%da", 128, 128, 4, 1<<4)
			}
			_, cycles, err := onTeam(t, text, grid, cfg)
			if err != nil {
				t.Fatalf("%s, %s: %v", e.body, e.set, err)
			}
			took[i] = cycles
		}
		if took[1] == took[0] || e.more && took[1] < took[0] {
			t.Errorf("%s: %s takes %d cycles, and %d before", e.set, e.body, took[1], took[0])
		}
	}
	for k := range left {
		t.Errorf("%s is not tried", k)
	}
}
