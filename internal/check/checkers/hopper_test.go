package checkers_test

import (
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
)

// Programs without faults, whose lines TestHopper takes away or changes.
var hopperPrograms = map[string]string{
	"a bulk copy to shared memory": `
mov.u32 %r1, sm; setp.eq.u32 %p1, %t, 0; mul.lo.u32 %r5, %t, 4; add.u32 %r2, %r1, %r5; add.u32 %r3, %r1, 8192;
@%p1 mbarrier.init.shared.b64 [%r3], 1;
@%p1 fence.mbarrier_init.release.cluster;
bar.sync 0;
@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 512;
@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%m], 512, [%r3];
L: mbarrier.try_wait.parity.shared.b64 %p2, [%r3], 0; @!%p2 bra L;
ld.shared.u32 %r4, [%r2];
bar.sync 0;
st.shared.u32 [%r2], %r4;`,

	"a bulk copy from shared memory": `
mov.u32 %r1, sm; setp.eq.u32 %p1, %t, 0; mul.lo.u32 %r5, %t, 4; add.u32 %r2, %r1, %r5; mov.u32 %r6, %ctaid.x; mad.wide.u32 %a1, %r6, 512, %m;
st.shared.u32 [%r2], %t;
fence.proxy.async;
bar.sync 0;
@%p1 cp.async.bulk.global.shared::cta.bulk_group [%a1], [%r1], 512;
@%p1 cp.async.bulk.commit_group;
@%p1 cp.async.bulk.wait_group.read 0;
bar.sync 0;
st.shared.u32 [%r2], 7;`,

	"a fence of a third thread": `
mov.u32 %r1, sm; setp.eq.u32 %p1, %t, 0; setp.eq.u32 %p2, %t, 32; setp.ge.u32 %p3, %t, 64; mul.lo.u32 %r5, %t, 4; add.u32 %r2, %r1, %r5; sub.u32 %r2, %r2, 256; add.u32 %r3, %r1, 8192; setp.eq.u32 %p4, %t, 127; mov.u32 %r6, %ctaid.x; mad.wide.u32 %a1, %r6, 512, %m;
@%p1 st.shared.u32 [%r3], 0; @%p3 st.shared.u32 [%r2], %t;
bar.sync 0;
@%p2 fence.proxy.async;
bar.sync 0;
@%p1 cp.async.bulk.global.shared::cta.bulk_group [%a1], [%r1], 256;
@%p1 cp.async.bulk.commit_group;
@%p1 cp.async.bulk.wait_group 0;`,

	"a product": `
mov.u32 %r1, sm; mul.lo.u32 %r5, %t, 16; add.u32 %r2, %r1, %r5; mov.b64 %a1, {%r1, 0}; shr.u64 %a1, %a1, 4; or.b64 %a1, %a1, 0x0000001000080000;
st.shared.v4.u32 [%r2], {%t, %t, %t, %t}; st.shared.v4.u32 [%r2+2048], {%t, %t, %t, %t};
fence.proxy.async;
bar.sync 0;
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%v1, %v2, %v3, %v4}, %a1, %a1, 0, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
add.f32 %v5, %v1, %v2;
bar.sync 0;
st.shared.u32 [%r2], 7;`,

	"two signals of copies": `
mov.u32 %r1, sm; setp.eq.u32 %p1, %t, 0; mul.lo.u32 %r5, %t, 4; add.u32 %r2, %r1, %r5; xor.b32 %r3, %r2, 128; add.u32 %r7, %r1, 8192; mul.wide.u32 %a2, %t, 4; add.u64 %a1, %m, %a2;
@%p1 mbarrier.init.shared.b64 [%r7], 128; @%p1 mbarrier.init.shared.b64 [%r7+8], 128;
bar.sync 0;
cp.async.ca.shared.global [%r2], [%a1], 4; cp.async.mbarrier.arrive.noinc.shared.b64 [%r7];
cp.async.ca.shared.global [%r2+512], [%a1], 4; cp.async.mbarrier.arrive.noinc.shared.b64 [%r7+8];
L: mbarrier.test_wait.parity.shared.b64 %p2, [%r7], 0; @!%p2 bra L;
ld.shared.u32 %r4, [%r3];
M: mbarrier.test_wait.parity.shared.b64 %p2, [%r7+8], 0; @!%p2 bra M;
ld.shared.u32 %r4, [%r3+512];`,

	"memory of another block": `
mov.u32 %r1, sm; mul.lo.u32 %r5, %t, 4; add.u32 %r2, %r1, %r5; mov.u32 %r6, %cluster_ctarank; xor.b32 %r6, %r6, 1; mapa.shared::cluster.u32 %r3, %r2, %r6;
barrier.cluster.arrive; barrier.cluster.wait;
st.shared::cluster.u32 [%r3], %t;
barrier.cluster.arrive; barrier.cluster.wait;
ld.shared.u32 %r4, [%r2];
ld.shared::cluster.u32 %r4, [%r3];
barrier.cluster.arrive; barrier.cluster.wait;`,

	"signals to another block": `
mov.u32 %r1, sm; setp.eq.u32 %p1, %t, 0; mul.lo.u32 %r5, %t, 4; add.u32 %r2, %r1, %r5; add.u32 %r7, %r1, 8192; mov.u32 %r6, %cluster_ctarank; xor.b32 %r6, %r6, 1; mapa.shared::cluster.u32 %r3, %r2, %r6; mapa.shared::cluster.u32 %r8, %r7, %r6;
@%p1 mbarrier.init.shared.b64 [%r7], 128;
@%p1 fence.mbarrier_init.release.cluster;
barrier.cluster.arrive.relaxed; barrier.cluster.wait;
st.shared::cluster.u32 [%r3], %t;
mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r8];
L: mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p2, [%r7], 0; @!%p2 bra L;
ld.shared.u32 %r4, [%r2];
barrier.cluster.arrive; barrier.cluster.wait;`,

	"a multicast": `
mov.u32 %r1, sm; setp.eq.u32 %p1, %t, 0; mov.u32 %r6, %cluster_ctarank; setp.eq.and.u32 %p3, %r6, 0, %p1; mul.lo.u32 %r5, %t, 4; add.u32 %r2, %r1, %r5; add.u32 %r3, %r1, 8192; mov.b16 %h1, 3;
@%p1 mbarrier.init.shared.b64 [%r3], 1;
@%p1 fence.mbarrier_init.release.cluster;
@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 512;
barrier.cluster.arrive; barrier.cluster.wait;
@%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%m], 512, [%r3], %h1;
L: mbarrier.try_wait.parity.shared.b64 %p2, [%r3], 0; @!%p2 bra L;
ld.shared.u32 %r4, [%r2];
barrier.cluster.arrive; barrier.cluster.wait;`,
}

// TestHopper finds what is wrong with programs that use the asynchronous proxy and clusters once a line is
// missing or another one, and nothing as long as they are whole.
func TestHopper(t *testing.T) {
	for _, c := range []struct{ program, name, line, by, want string }{
		{"a bulk copy to shared memory", "whole", "", "", ""},
		{"a bulk copy to shared memory", "no fence after the mbarrier is made", "@%p1 fence.mbarrier_init.release.cluster;", "", "proxy-fence warning x2 line 6"},
		{"a bulk copy to shared memory", "a fence of the proxy instead", "fence.mbarrier_init.release.cluster", "fence.proxy.async", ""},
		{"a bulk copy to shared memory", "no wait", "L: mbarrier.try_wait.parity.shared.b64 %p2, [%r3], 0; @!%p2 bra L;", "", "race-shared-interwarp error x768 line 10\nrace-shared-interwarp error x768 line 6\nrace-shared-intrawarp error x256 line 10\nrace-shared-intrawarp error x256 line 8"},
		{"a bulk copy to shared memory", "a test that may fail", "@!%p2 bra L;", "", "race-shared-interwarp error x256 line 8"},

		{"a bulk copy from shared memory", "whole", "", "", ""},
		{"a bulk copy from shared memory", "no fence", "fence.proxy.async;", "", "proxy-fence error x2 line 5"},
		{"a bulk copy from shared memory", "another fence", "fence.proxy.async", "fence.acq_rel.cta", "proxy-fence error x2 line 5"},
		{"a bulk copy from shared memory", "a fence of the thread that copies", "fence.proxy.async;\nbar.sync 0;", "bar.sync 0;\nfence.proxy.async;", ""},
		{"a bulk copy from shared memory", "no barrier", "fence.proxy.async;\nbar.sync 0;", "fence.proxy.async;\n", "race-shared-interwarp error x768 line 2\nrace-shared-intrawarp error x248 line 5"},
		{"a bulk copy from shared memory", "no wait", "@%p1 cp.async.bulk.wait_group.read 0;", "", "race-shared-interwarp error x768 line 9\nrace-shared-intrawarp error x256 line 9"},

		{"a fence of a third thread", "whole", "", "", ""},
		{"a fence of a third thread", "before it knows of the writes", "bar.sync 0;\n@%p2 fence", "@%p2 fence", "proxy-fence error x2 line 5"},
		{"a fence of a third thread", "that the copy does not know of", "fence.proxy.async;\nbar.sync 0;", "fence.proxy.async;", "proxy-fence error x2 line 5"},
		{"a fence of a third thread", "of those who wrote, but not before the copy", "@%p2 fence.proxy.async;\nbar.sync 0;", "@%p3 fence.proxy.async; @%p4 st.relaxed.cta.shared.u32 [%r3], 1; L: ld.relaxed.cta.shared.u32 %r4, [%r3]; setp.eq.u32 %p4, %r4, 0; @%p4 bra L;", "proxy-fence error x2 line 5"},

		{"a product", "whole", "", "", ""},
		{"a product", "no fence", "fence.proxy.async;", "", "proxy-fence error x10 line 6"},
		{"a product", "of what the warps of its group have written", "fence.proxy.async;\nbar.sync 0;", "fence.proxy.async;\n", ""},
		{"a product", "no wait", "wgmma.wait_group.sync.aligned 0;", "", "race-shared-intrawarp error x1152 line 11\nwgmma-wait error x256 line 9"},
		{"a product", "no group", "wgmma.commit_group.sync.aligned;", "", "race-shared-intrawarp error x1152 line 11\nwgmma-wait error x256 line 9"},
		{"a product", "a wait for the group before", "wait_group.sync.aligned 0", "wait_group.sync.aligned 1", "race-shared-intrawarp error x1152 line 11\nwgmma-wait error x256 line 9"},
		{"a product", "copied and stored too early", "wgmma.wait_group.sync.aligned 0;", "mov.f32 %v6, %v1; st.shared.f32 [%r1+16000], %v6; wgmma.wait_group.sync.aligned 0;", "race-shared-interwarp note x49152 line 8\nrace-shared-intrawarp note x15872 line 8\nwgmma-wait error x256 line 8"},

		{"a product", "one lane overwrites what all read too early", "wgmma.wait_group.sync.aligned 0;\nadd.f32 %v5, %v1, %v2;", "setp.eq.u32 %p1, %t, 0; @%p1 mov.f32 %v1, 0f00000000; add.f32 %v5, %v1, %v1; wgmma.wait_group.sync.aligned 0;", "wgmma-wait error x254 line 8"},

		{"two signals of copies", "whole", "", "", ""},
		{"two signals of copies", "no wait for the second", "M: mbarrier.test_wait.parity.shared.b64 %p2, [%r7+8], 0; @!%p2 bra M;", "", "race-shared-interwarp error x1024 line 9"},

		{"memory of another block", "whole", "", "", ""},
		{"memory of another block", "before the other has begun", "barrier.cluster.arrive; barrier.cluster.wait;\nst.", "st.", "cluster-lifetime error x8 line 2"},
		{"memory of another block", "read too early", "%t;\nbarrier.cluster.arrive; barrier.cluster.wait;\n", "%t;\n", "race-shared-interblock error x1024 line 3"},

		{"signals to another block", "whole", "", "", ""},
		{"signals to another block", "no wait", "L: mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p2, [%r7], 0; @!%p2 bra L;", "", "race-shared-interblock error x1024 line 5"},
		{"signals to another block", "a relaxed wait", "parity.acquire.cluster", "parity.relaxed.cluster", "race-shared-interblock error x1024 line 8"},
		{"signals to another block", "a mbarrier that may not be made", "@%p1 fence.mbarrier_init.release.cluster;", "", "race-shared-interblock error x2048 line 6\nrace-shared-interwarp error x93184 line 7\nrace-shared-intrawarp error x30256 line 7"},

		{"a multicast", "whole", "", "", ""},
		{"a multicast", "no wait", "L: mbarrier.try_wait.parity.shared.b64 %p2, [%r3], 0; @!%p2 bra L;", "", "cluster-lifetime error x1 line 6\nrace-shared-interblock error x512 line 6\nrace-shared-interwarp error x384 line 8\nrace-shared-intrawarp error x128 line 8"},
	} {
		t.Run(c.program+"/"+c.name, func(t *testing.T) {
			body := hopperPrograms[c.program]
			if !strings.Contains(body, c.line) {
				t.Fatalf("%q is not in the program", c.line)
			}
			l := exec.Launch{Grid: exec.Dim3{X: 2, Y: 1, Z: 1}, Block: exec.Dim3{X: 128, Y: 1, Z: 1}}
			if strings.Contains(body, "cluster_ctarank") {
				l.Cluster = exec.Dim3{X: 2, Y: 1, Z: 1}
			}
			got := findIn(t, []string{"all"}, "sm_90a", l, strings.Replace(body, c.line, c.by, 1))
			if got != c.want {
				t.Errorf("found\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}
