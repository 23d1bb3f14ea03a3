package heddle_test

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/heddle-sim/heddle"
)

// steps has a kernel that adds to every element of an array, slowly.
const steps = `.version 7.8
.target sm_80
.address_size 64
.visible .entry add(.param .u64 a, .param .u32 x)
{
	.reg .pred %p<1>;
	.reg .b32 %r<6>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd0, [a];
	ld.param.u32 %r0, [x];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd1, %r1, 4;
	add.s64 %rd1, %rd0, %rd1;
	mov.u32 %r3, 0;
L:	ld.global.u32 %r2, [%rd1];
	add.u32 %r2, %r2, %r0;
	st.global.u32 [%rd1], %r2;
	add.u32 %r3, %r3, 1;
	setp.lt.u32 %p0, %r3, 20;
	@%p0 bra L;
	ret;
}
`

// TestStreams: streams keep their order, wait for events, overlap on a machine, and
// give the same values as calls in order.
func TestStreams(t *testing.T) {
	prog, err := heddle.LoadSource(heddle.Source{Name: "steps.ptx", Text: steps})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		timing bool
		opt    []heddle.Option
	}{{"functional", false, nil}, {"timing", true, []heddle.Option{heddle.Machine("rtx-2060")}}} {
		t.Run(c.name, func(t *testing.T) {
			gpu, err := heddle.New(prog, c.opt...)
			if err != nil {
				t.Fatal(err)
			}
			ctx := context.Background()
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			a, err := heddle.Upload(gpu, "a", make([]uint32, 32))
			must(err)
			b, err := heddle.Upload(gpu, "b", make([]uint32, 32))
			must(err)
			one, two := gpu.NewStream(), gpu.NewStream()
			add := func(s *heddle.Stream, p heddle.Ptr, x uint32) *heddle.Pending {
				t.Helper()
				l, err := s.Launch(ctx, "add", heddle.LaunchConfig{Grid: heddle.Dim(1), Block: heddle.Dim(32)}, p, x)
				must(err)
				return l
			}
			words := binary.LittleEndian.AppendUint32(nil, 1000)
			must(one.Write(a, words))
			words[0]++ // the stream has its own copy
			first := add(one, a, 1)
			beside := add(two, b, 2)
			done, err := one.Record()
			must(err)
			must(two.Wait(done))
			last := add(two, a, 100) // only after the event
			out := make([]byte, 4)
			must(two.Read(a, out))
			must(gpu.Sync(ctx))
			if got := binary.LittleEndian.Uint32(out); got != 1000+20+2000 {
				t.Errorf("a[0] is %d, want 3020", got)
			}
			if got, err := heddle.Download[uint32](gpu, b, 2); err != nil || got[0] != 40 || got[1] != 40 {
				t.Errorf("b is %d, %v; want 40 and 40", got, err)
			}
			for i, l := range []*heddle.Pending{first, beside, last} {
				if s := l.Stats(); s.Blocks != 1 || s.WarpInstructions != 127 || (s.Cycles > 0) != c.timing {
					t.Errorf("launch %d: %+v", i, s)
				}
			}
			if res, err := gpu.Result(); err != nil || !res.OK || len(res.Kernels) != 3 {
				t.Errorf("the result has %d launches, %v", len(res.Kernels), err)
			}
			other, err := heddle.New(prog)
			must(err)
			if other.NewStream().Wait(done) == nil {
				t.Error("an event of another GPU was accepted")
			}
			if !c.timing {
				return
			}
			b0, b1 := beside.Span()
			f0, f1 := first.Span()
			l0, _ := last.Span()
			if b0 >= f1 || f0 >= b1 {
				t.Errorf("two streams do not overlap: %d to %d and %d to %d", f0, f1, b0, b1)
			}
			if l0 < done.Cycle() || done.Cycle() < f1 {
				t.Errorf("the event is at %d, after %d; the launch that waits for it begins at %d", done.Cycle(), f1, l0)
			}

			// A refused launch does not drop the wait for an event.
			must(one.Write(a, make([]byte, 4)))
			add(one, a, 1)
			done, err = one.Record()
			must(err)
			must(two.Wait(done))
			var refused *heddle.LaunchError
			if _, err := two.Launch(ctx, "add", heddle.LaunchConfig{Grid: heddle.Dim(1), Block: heddle.Dim(2048)}, a, uint32(1)); !errors.As(err, &refused) {
				t.Errorf("a block of 2048 threads: %v", err)
			}
			last = add(two, a, 1)
			must(gpu.Sync(ctx))
			if at, _ := last.Span(); at < done.Cycle() {
				t.Errorf("a launch that waits for an event at %d begins at %d", done.Cycle(), at)
			}

			// An allocation is released after the work given to streams before.
			spare, err := heddle.Upload(gpu, "spare", make([]uint32, 32))
			must(err)
			add(two, spare, 1)
			must(gpu.Free(spare))
			must(gpu.Sync(ctx))

			// A fault is returned by the first call that advances time. Then the
			// GPU continues, and events that did not happen block nothing.
			add(one, 0, 1)
			lost, err := one.Record()
			must(err)
			var fault *heddle.Fault
			if err := gpu.Read(b, make([]byte, 4)); !errors.As(err, &fault) {
				t.Errorf("a null pointer: %v", err)
			}
			if res, err := gpu.Result(); err != nil || res.OK || res.Error == nil {
				t.Errorf("the result does not have the fault: %+v, %v", res.Error, err)
			}
			must(two.Wait(lost))
			add(two, b, 1)
			must(gpu.Sync(ctx))
			if got, err := heddle.Download[uint32](gpu, b, 1); err != nil || got[0] != 60 {
				t.Errorf("after a fault b is %d, %v; want 60", got, err)
			}
		})
	}
}
