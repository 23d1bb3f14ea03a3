package ptx_test

import (
	"encoding/binary"
	"testing"
)

func word(p []byte, i int) uint32 { return binary.LittleEndian.Uint32(p[4*i:]) }

// words lays numbers out as bytes.
func words(v ...uint32) []byte {
	p := make([]byte, 0, 4*len(v))
	for _, x := range v {
		p = binary.LittleEndian.AppendUint32(p, x)
	}
	return p
}

// expect compares the output, word by word, with want(i).
func expect(t *testing.T, got []byte, want func(i int) uint32) {
	t.Helper()
	bad := 0
	for i := range len(got) / 4 {
		if g, w := word(got, i), want(i); g != w {
			if t.Errorf("word %d is %#x (%d), want %#x (%d)", i, g, int32(g), w, int32(w)); bad > 8 {
				t.FailNow()
			}
			bad++
		}
	}
}

// TestAlloca: lanes allocate different amounts in a divergent loop, keep what
// they wrote there across calls that have local memory of their own, and get
// the same place again after a restore.
func TestAlloca(t *testing.T) {
	const f = `
	.func (.reg .u32 r) scribble(.reg .u32 a)
	{
		.local .align 4 .b32 mine[16];
		.reg .b64 %p;
		.reg .b32 %i;
		.reg .pred %q;
		mov.u64 %p, mine;
		mov.u32 %i, 0;
	L:	st.local.u32 [%p], a;
		add.u64 %p, %p, 4;
		add.u32 %i, %i, 1;
		setp.lt.u32 %q, %i, 16;
		@%q bra L;
		ld.local.u32 r, [mine+60];
		ret;
	}`
	got := runBody(t, bodyOpts{module: f}, `
		.reg .b64 %a<10>; .reg .b32 %r<10>; .reg .pred %p<4>; .local .align 8 .b64 own;`, `
		st.local.u64 [own], 77;
		stacksave.u64 %a0;
		and.b32 %r0, %t, 7;
		add.u32 %r0, %r0, 1;         // 1 … 8 blocks of 8 bytes
		mov.u32 %r1, 0;
		mov.u64 %a2, 0;              // list of blocks: each holds the one before
	ALLOC:
		alloca.u64 %a1, 16, 8;
		st.local.u64 [%a1], %a2;
		mad.lo.u32 %r2, %t, 100, %r1;
		st.local.u32 [%a1+8], %r2;
		mov.u64 %a2, %a1;
		call (%r3), scribble, (0xdeadbeef);
		add.u32 %r1, %r1, 1;
		setp.lt.u32 %p0, %r1, %r0;
		@%p0 bra ALLOC;
		mov.u32 %r4, 0;              // sum of what the blocks hold
	SUM:
		ld.local.u32 %r5, [%a2+8];
		add.u32 %r4, %r4, %r5;
		ld.local.u64 %a2, [%a2];
		setp.ne.u64 %p0, %a2, 0;
		@%p0 bra SUM;
		mul.wide.u32 %a3, %t, 12;
		add.u64 %a3, %out, %a3;
		st.global.u32 [%a3], %r4;
		stackrestore.u64 %a0;
		alloca.u64 %a4, 32, 8;
		stackrestore.u64 %a0;
		alloca.u64 %a5, 32, 0;
		sub.u64 %a4, %a4, %a5;
		cvt.u32.u64 %r6, %a4;
		st.global.u32 [%a3+4], %r6;
		ld.local.u32 %r7, [own];
		st.global.u32 [%a3+8], %r7;`, nil, 12*32)
	expect(t, got, func(i int) uint32 {
		l, n := uint32(i/3), uint32(i/3)&7+1
		return []uint32{n*100*l + n*(n-1)/2, 0, 77}[i%3]
	})
}

// TestAlloca32: the 32-bit forms.
func TestAlloca32(t *testing.T) {
	got := runBody(t, bodyOpts{block: 1}, ".reg .b32 %r<6>;", `
		stacksave.u32 %r0;
		alloca.u32 %r1, 64, 16;
		and.b32 %r2, %r1, 15;
		st.global.u32 [%out], %r2;
		st.local.u32 [%r1+60], 5;
		ld.local.u32 %r3, [%r1+60];
		st.global.u32 [%out+4], %r3;
		stackrestore.u32 %r0;
		stacksave.u32 %r4;
		sub.u32 %r4, %r4, %r0;
		st.global.u32 [%out+8], %r4;`, nil, 12)
	expect(t, got, func(i int) uint32 { return []uint32{0, 5, 0}[i] })
}

// TestCreatePolicy: policies of all forms are values that accesses take.
func TestCreatePolicy(t *testing.T) {
	got := runBody(t, bodyOpts{block: 1}, ".reg .b64 %a<6>; .reg .b32 %r<3>; .reg .f32 %f;", `
		mov.f32 %f, 0f3F000000;
		createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %a0, %f;
		createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %a1, [%out], 16, 32;
		createpolicy.cvt.L2.b64 %a2, %a1;
		createpolicy.fractional.L2::evict_normal.b64 %a3;
		st.global.L2::cache_hint.u32 [%out], 3, %a0;
		ld.global.L2::cache_hint.u32 %r0, [%out], %a1;
		add.u32 %r0, %r0, 1;
		st.global.L2::cache_hint.u32 [%out+4], %r0, %a3;
		sub.u64 %a4, %a1, %a2;
		st.global.u64 [%out+8], %a4;`, nil, 16)
	expect(t, got, func(i int) uint32 { return []uint32{3, 4, 0, 0}[i] })
}
