package tracerun_test

import (
	"context"
	"testing"

	"github.com/heddle-sim/heddle/internal/trace"
	"github.com/heddle-sim/heddle/internal/trace/open"
	"github.com/heddle-sim/heddle/internal/work/tracerun"
)

// onStream is a launch on another stream than it was recorded on.
type onStream struct {
	trace.Source
	stream uint64
}

func (s onStream) Header() (trace.Header, error) {
	h, err := s.Source.Header()
	h.Stream = s.stream
	return h, err
}

func (s onStream) Open() (*trace.Kernel, error) {
	k, err := s.Source.Open()
	if err == nil {
		k.Stream = s.stream
	}
	return k, err
}

// Launches of one stream follow each other, those of two overlap, and what is
// on stream 0, as copies are, waits for all before it and is waited for.
func TestStreams(t *testing.T) {
	const copied = -1
	for _, c := range []struct {
		name    string
		list    []int // streams of launches
		overlap bool
	}{
		{"one stream", []int{5, 5}, false},
		{"two streams", []int{5, 7}, true},
		{"the legacy stream first", []int{0, 7}, false},
		{"the legacy stream after it", []int{7, 0}, false},
		{"a copy between", []int{5, copied, 7}, false},
		{"a copy before", []int{copied, 5, 7}, true},
	} {
		for _, gpu := range []string{"rtx-2060", "rtx-a6000"} {
			set, err := open.Open(unpacked(t, "mgpusim-simtune-ffma-1-32-40"))
			if err != nil {
				t.Fatal(err)
			}
			var src trace.Source
			for _, x := range set.Commands {
				if x.Launch != nil {
					src = x.Launch
				}
			}
			set.Commands = nil
			for _, s := range c.list {
				if s == copied {
					set.Commands = append(set.Commands, trace.Command{Addr: 1 << 20, Bytes: 4096})
				} else {
					set.Commands = append(set.Commands, trace.Command{Launch: onStream{src, uint64(s)}})
				}
			}
			r, err := tracerun.Run(context.Background(), set, tracerun.Options{GPU: gpu, Threads: 1})
			if err != nil || len(r.Kernels) != 2 {
				t.Fatalf("%s on %s: %d launches, %v", c.name, gpu, len(r.Kernels), err)
			}
			a, b := r.Kernels[0], r.Kernels[1]
			if b.StartCycle < a.EndCycle != c.overlap {
				t.Errorf("%s on %s: cycles %d to %d and %d to %d; they should overlap: %v", c.name, gpu, a.StartCycle, a.EndCycle, b.StartCycle, b.EndCycle, c.overlap)
			}
			if a.Blocks != 1 || b.Blocks != 1 || a.WarpInstructions != b.WarpInstructions {
				t.Errorf("%s on %s: %d and %d blocks, %d and %d warp instructions of the same launch", c.name, gpu, a.Blocks, b.Blocks, a.WarpInstructions, b.WarpInstructions)
			}
		}
	}
}
