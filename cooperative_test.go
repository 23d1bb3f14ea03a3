package heddle_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle"
)

// gridBarrier is the barrier of all blocks as NVIDIA's cooperative groups have it, with
// labels of its own: thread 0 of each block adds to the word at byte 4 of the grid's
// workspace (%rd5; the amount is in %r11) and waits until its top bit has changed.
func gridBarrier(name string) string {
	return strings.ReplaceAll(`	bar.sync 0;
	@%p1 bra NAME_arrived;
	membar.gl;
	atom.global.add.u32 %r12, [%rd5+4], %r11;
NAME_poll:
	ld.volatile.global.u32 %r13, [%rd5+4];
	xor.b32 %r14, %r13, %r12;
	setp.ge.s32 %p4, %r14, 0;
	@%p4 bra NAME_poll;
	membar.gl;
NAME_arrived:
	bar.sync 0;
`, "NAME", name)
}

// gridSync is a kernel whose blocks meet twice in every round: after all have written a
// word, and after all have read the words. It traps if there is no workspace.
var gridSync = `.version 7.8
.target sm_80
.address_size 64
.visible .entry sums(.param .u64 words, .param .u64 out, .param .u32 rounds)
{
	.reg .pred %p<6>;
	.reg .b32 %r<24>;
	.reg .b64 %rd<16>;
	ld.param.u64 %rd1, [words];
	ld.param.u64 %rd2, [out];
	ld.param.u32 %r1, [rounds];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %nctaid.x;
	mov.u32 %r4, %tid.x;
	mov.u32 %r5, 0;
	mov.u32 %r20, 0;
again:
	// Block b writes b + round into words[b].
	setp.ne.u32 %p1, %r4, 0;
	@%p1 bra written;
	mul.wide.u32 %rd3, %r2, 4;
	add.s64 %rd4, %rd1, %rd3;
	add.u32 %r6, %r2, %r5;
	st.global.u32 [%rd4], %r6;
written:
	// The workspace, and what this block adds to its word.
	mov.b32 %r7, %envreg1;
	mov.b32 %r8, %envreg2;
	mov.b64 %rd5, {%r8, %r7};
	setp.ne.s64 %p2, %rd5, 0;
	@%p2 bra valid;
	trap;
valid:
	setp.eq.u32 %p3, %r2, 0;
	sub.u32 %r9, %r3, 1;
	sub.u32 %r10, 0x80000000, %r9;
	selp.b32 %r11, %r10, 1, %p3;
` + gridBarrier("written_all") + `
	// Thread 0 adds all words.
	@%p1 bra next;
	mov.u32 %r15, 0;
	mov.u64 %rd6, %rd1;
add:
	ld.volatile.global.u32 %r16, [%rd6];
	add.u32 %r20, %r20, %r16;
	add.s64 %rd6, %rd6, 4;
	add.u32 %r15, %r15, 1;
	setp.lt.u32 %p5, %r15, %r3;
	@%p5 bra add;
next:
	add.u32 %r5, %r5, 1;
` + gridBarrier("read_all") + `
	setp.lt.u32 %p4, %r5, %r1;
	@%p4 bra again;
	@%p1 bra done;
	mul.wide.u32 %rd3, %r2, 4;
	add.s64 %rd4, %rd2, %rd3;
	st.global.u32 [%rd4], %r20;
done:
	ret;
}
`

// TestGridWorkspace: blocks of a cooperative launch meet at a word of its workspace. Every
// launch has one of its own, which is clear, also launches side by side; others have none.
func TestGridWorkspace(t *testing.T) {
	prog, err := heddle.LoadSource(heddle.Source{Name: "sums.ptx", Text: gridSync})
	if err != nil {
		t.Fatal(err)
	}
	const rounds = 3
	for name, options := range map[string][]heddle.Option{
		"functional": {heddle.Threads(2)},
		"simt":       {heddle.Machine("rtx-2060")},
		"modern":     {heddle.Machine("rtx-a6000"), heddle.Set("run.caches=warm")},
	} {
		t.Run(name, func(t *testing.T) {
			gpu, err := heddle.New(prog, options...)
			if err != nil {
				t.Fatal(err)
			}
			ctx := context.Background()
			var outs []heddle.Ptr
			counts := []uint32{1, 5, 17}
			for i, blocks := range counts {
				words, err := heddle.Upload(gpu, fmt.Sprint("words", i), make([]uint32, blocks))
				if err != nil {
					t.Fatal(err)
				}
				out, err := heddle.Upload(gpu, fmt.Sprint("out", i), make([]uint32, blocks))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := gpu.NewStream().Launch(ctx, "sums", heddle.LaunchConfig{Grid: heddle.Dim(blocks), Block: heddle.Dim(64), Cooperative: true}, words, out, uint32(rounds)); err != nil {
					t.Fatal(err)
				}
				outs = append(outs, out)
			}
			if err := gpu.Sync(ctx); err != nil {
				t.Fatal(err)
			}
			for i, blocks := range counts {
				want := rounds*blocks*(blocks-1)/2 + blocks*rounds*(rounds-1)/2
				got, err := heddle.Download[uint32](gpu, outs[i], int(blocks))
				if err != nil {
					t.Fatal(err)
				}
				for b, n := range got {
					if n != want {
						t.Errorf("block %d of %d has %d, want %d", b, blocks, n, want)
					}
				}
			}
			var fault *heddle.Fault
			if _, err := gpu.Launch(ctx, "sums", heddle.Dim(2), heddle.Dim(64), outs[0], outs[0], uint32(1)); !errors.As(err, &fault) {
				t.Errorf("a launch that is not cooperative: %v, want a trap", err)
			}
		})
	}
}
