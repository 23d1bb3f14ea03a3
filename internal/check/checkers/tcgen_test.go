package checkers_test

import (
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
)

// tcgenPrograms are programs without faults, whose lines TestTcgen takes away or changes: 128 threads, whose first warp
// allocates columns and issues products of matrices in shared memory, and whose warps read the result.
var tcgenPrograms = map[string]string{
	"a product": `
mov.u32 %r1, sm; setp.eq.u32 %p1, %t, 0; setp.lt.u32 %p2, %t, 32; mul.lo.u32 %r5, %t, 16; add.u32 %r2, %r1, %r5; add.u32 %r3, %r1, 8192; setp.ne.u32 %p3, %t, %t; mov.b64 %a1, {%r1, 0}; shr.u64 %a1, %a1, 4; or.b64 %a1, %a1, 0x0000401000080000;
@%p1 mbarrier.init.shared.b64 [%r3], 1;
@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r3+64], 64;
st.shared.v4.u32 [%r2], {%t, %t, %t, %t}; st.shared.v4.u32 [%r2+2048], {%t, %t, %t, %t};
fence.proxy.async;
bar.sync 0;
ld.shared.u32 %r4, [%r3+64]; shl.b32 %r6, %t, 16; and.b32 %r6, %r6, 0x600000; add.u32 %r6, %r6, %r4;
@%p1 tcgen05.mma.cta_group::1.kind::f16 [%r4], %a1, %a1, 0x8040010, %p3;
@%p1 tcgen05.mma.cta_group::1.kind::f16 [%r4], %a1, %a1, 0x8040010, 1;
@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r3];
L: mbarrier.try_wait.parity.shared.b64 %p4, [%r3], 0; @!%p4 bra L;
st.shared.u32 [%r2], 7;
tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r7, %r8}, [%r6];
tcgen05.wait::ld.sync.aligned;
add.u32 %r7, %r7, %r8; mov.u32 %r5, %ctaid.x; mad.lo.u32 %r5, %r5, 128, %t; mul.wide.u32 %a2, %r5, 4; add.u64 %a2, %a2, %m; st.global.u32 [%a2], %r7;
bar.sync 0;
@%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r4, 64;`,

	"a pair": `
mov.u32 %r1, sm; setp.lt.u32 %p2, %t, 32; mul.lo.u32 %r5, %t, 16; add.u32 %r2, %r1, %r5; add.u32 %r3, %r1, 8192; setp.eq.u32 %p1, %t, 0; mov.u32 %r6, %cluster_ctarank; setp.eq.and.u32 %p3, %r6, 0, %p1; mov.b64 %a1, {%r1, 0}; and.b64 %a1, %a1, 0x3ffff; shr.u64 %a1, %a1, 4; or.b64 %a1, %a1, 0x0000401000080000; mov.b16 %h1, 3;
@%p1 mbarrier.init.shared.b64 [%r3], 1;
fence.mbarrier_init.release.cluster;
@%p2 tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r3+64], 32;
st.shared.v4.u32 [%r2], {%t, %t, %t, %t}; st.shared.v4.u32 [%r2+2048], {%t, %t, %t, %t};
fence.proxy.async;
barrier.cluster.arrive; barrier.cluster.wait;
ld.shared.u32 %r4, [%r3+64]; shl.b32 %r6, %t, 16; and.b32 %r6, %r6, 0x600000; add.u32 %r6, %r6, %r4; setp.ne.u32 %p4, %t, %t;
@%p3 tcgen05.mma.cta_group::2.kind::f16 [%r4], %a1, %a1, 0x10040010, %p4;
@%p3 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r3], %h1;
L: mbarrier.try_wait.parity.shared.b64 %p4, [%r3], 0; @!%p4 bra L;
st.shared.u32 [%r2], 7;
tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r7}, [%r6];
tcgen05.wait::ld.sync.aligned;
barrier.cluster.arrive; barrier.cluster.wait;
@%p2 tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r4, 32;`,

	"a store": `
mov.u32 %r1, sm; setp.lt.u32 %p2, %t, 32; add.u32 %r3, %r1, 8192; setp.eq.u32 %p1, %t, 0; mov.b64 %a1, {%r1, 0}; shr.u64 %a1, %a1, 4; or.b64 %a1, %a1, 0x0000401000080000; mul.lo.u32 %r5, %t, 16; add.u32 %r2, %r1, %r5;
@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r3+64], 64; @%p1 mbarrier.init.shared.b64 [%r3], 1;
st.shared.v4.u32 [%r2], {%t, %t, %t, %t};
fence.proxy.async;
bar.sync 0;
ld.shared.u32 %r4, [%r3+64]; shl.b32 %r6, %t, 16; and.b32 %r6, %r6, 0x600000; add.u32 %r6, %r6, %r4;
tcgen05.st.sync.aligned.32x32b.x16.b32 [%r6], {%t, %t, %t, %t, %t, %t, %t, %t, %t, %t, %t, %t, %t, %t, %t, %t};
tcgen05.wait::st.sync.aligned;
bar.sync 0;
@%p1 tcgen05.mma.cta_group::1.kind::f16 [%r4], %a1, %a1, 0x8040010, 1;
@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r3];
L: mbarrier.try_wait.parity.shared.b64 %p4, [%r3], 0; @!%p4 bra L;
bar.sync 0;
@%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r4, 64;`,
}

// TestTcgen finds what is wrong with programs that use tensor memory once a line is missing or another one, and nothing as
// long as they are whole.
func TestTcgen(t *testing.T) {
	const second = "@%p1 tcgen05.mma.cta_group::1.kind::f16 [%r4], %a1, %a1, 0x8040010, 1;\n"
	const commit = "@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r3];\n"
	const wait = "L: mbarrier.try_wait.parity.shared.b64 %p4, [%r3], 0; @!%p4 bra L;"
	for _, c := range []struct{ program, name, line, by, want string }{
		{"a product", "whole", "", "", ""},
		{"a product", "no fence between the proxies", "fence.proxy.async;", "", "proxy-fence error x8 line 8\nproxy-fence error x8 line 8\nproxy-fence error x8 line 9\nproxy-fence error x8 line 9"},
		{"a product", "no barrier before it", "fence.proxy.async;\nbar.sync 0;", "fence.proxy.async;", "race-shared-interwarp error x1536 line 10\nrace-shared-interwarp error x3072 line 4\nrace-shared-interwarp error x3072 line 4\nrace-shared-interwarp error x768 line 6\nrace-shared-intrawarp error x248 line 6\nrace-shared-intrawarp error x496 line 10"},
		{"a product", "no wait", wait, "", "race-shared-interwarp error x256 line 8\nrace-shared-interwarp error x768 line 9\nrace-shared-intrawarp error x256 line 12\nrace-tensor-memory error x16384 line 17\nrace-tensor-memory error x2048 line 9\nrace-tensor-memory error x512 line 8\nuninit-tensor-memory error x64 line 13"},
		{"a product", "no commit, and no wait", commit + wait, "", "race-shared-interwarp error x256 line 8\nrace-shared-interwarp error x768 line 9\nrace-shared-intrawarp error x256 line 11\nrace-tensor-memory error x16384 line 16\nrace-tensor-memory error x2048 line 9\nrace-tensor-memory error x512 line 8\nuninit-tensor-memory error x64 line 12"},
		{"a product", "a commit before the second", second + commit, commit + second, "race-shared-interwarp error x768 line 12\nrace-shared-intrawarp error x256 line 12\nrace-tensor-memory error x16384 line 17\nrace-tensor-memory error x2048 line 13"},
		{"a product", "sums of columns that have no value", "0x8040010, %p3;", "0x8040010, 1;", "uninit-tensor-memory error x8 line 8"},
		{"a product", "columns beyond it", "{%r7, %r8}, [%r6]", "{%r7, %r8}, [%r6+32]", "uninit-tensor-memory error x256 line 13"},
		{"a product", "the load is not waited for", "tcgen05.wait::ld.sync.aligned;", "", "race-tensor-memory error x2048 line 17\ntensor-load-wait error x256 line 15"},
		{"a product", "not freed", "@%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r4, 64;", "", "tensor-memory-kept error x2 line 17"},

		{"a product", "columns given back and taken again before the next product", wait, wait + "\nbar.sync 0;\n@%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r4, 64;\n@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r3+64], 64;\nbar.sync 0;\n@%p1 tcgen05.mma.cta_group::1.kind::f16 [%r4], %a1, %a1, 0x8040010, %p3;\n" + commit + "K: mbarrier.try_wait.parity.shared.b64 %p4, [%r3], 1; @!%p4 bra K;", ""},

		{"a pair", "whole", "", "", ""},
		{"a pair", "no fence between the proxies", "fence.proxy.async;", "", "proxy-fence error x8 line 9\nproxy-fence error x8 line 9"},
		{"a pair", "no wait", wait, "", "cluster-lifetime error x8 line 9\nrace-shared-interblock error x512 line 9\nrace-shared-interwarp error x384 line 12\nrace-shared-intrawarp error x128 line 12\nrace-tensor-memory error x1024 line 9\nrace-tensor-memory error x16384 line 16"},

		{"a store", "whole", "", "", ""},
		{"a store", "not waited for", "tcgen05.wait::st.sync.aligned;", "", "race-tensor-memory error x16384 line 10\nrace-tensor-memory error x16384 line 14"},
		{"a store", "a wait for loads", "wait::st", "wait::ld", "race-tensor-memory error x16384 line 10\nrace-tensor-memory error x16384 line 14"},
		{"a store", "no barrier after it", "wait::st.sync.aligned;\nbar.sync 0;", "wait::st.sync.aligned;", "race-tensor-memory error x12288 line 9\nuninit-tensor-memory error x4 line 9"},
		{"a store", "of fewer columns", "x16.b32 [%r6], {%t, %t, %t, %t, %t, %t, %t, %t, ", "x8.b32 [%r6], {", "uninit-tensor-memory error x8 line 10"},
	} {
		t.Run(c.program+"/"+c.name, func(t *testing.T) {
			body := tcgenPrograms[c.program]
			if !strings.Contains(body, c.line) {
				t.Fatalf("%q is not in the program", c.line)
			}
			l := exec.Launch{Grid: exec.Dim3{X: 2, Y: 1, Z: 1}, Block: exec.Dim3{X: 128, Y: 1, Z: 1}}
			if strings.Contains(body, "cluster_ctarank") {
				l.Cluster = exec.Dim3{X: 2, Y: 1, Z: 1}
			}
			got := findIn(t, []string{"all"}, "sm_100a", l, strings.Replace(body, c.line, c.by, 1))
			if got != c.want {
				t.Errorf("found\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}
