package leaks

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/exec"
)

func event(kind check.HostKind, addr, bytes uint64, line int) check.HostEvent {
	return check.HostEvent{Kind: kind, Call: "cudaMalloc", Addr: addr, Bytes: bytes, Host: []check.Place{{File: "a.cu", Line: line}}}
}

// ran is a block of a kernel whose threads stand in line 40, or in a header's function that line 50 calls.
type ran struct {
	exec.ProbedBlock
	header bool
}

func (r ran) Where(int, int) exec.Where {
	if r.header {
		return exec.Where{Kernel: "k", SrcFile: "/usr/lib/clang/19/include/cuda_wrappers/new", SrcLine: 48}
	}
	return exec.Where{Kernel: "k", SrcFile: "a.cu", SrcLine: 40}
}

func (r ran) Chain(int) []exec.Where {
	if r.header {
		return []exec.Where{{Kernel: "k", SrcFile: "a.cu", SrcLine: 50}}
	}
	return nil
}

// TestLeaks: leaks by the line that has allocated them, with counts and bytes.
func TestLeaks(t *testing.T) {
	end := check.HostEvent{Kind: check.HostEnd}
	create := func(block int64, line int) check.HostEvent {
		e := event(check.HostCreate, 0, 16, line)
		e.Block = block
		return e
	}
	for _, c := range []struct {
		name   string
		events []check.HostEvent
		heap   []uint64 // addresses that a kernel allocates; those that it has allocated it frees
		header bool     // it allocates in a function of a header
		failed bool
		want   []string
	}{
		{name: "all freed", events: []check.HostEvent{event(check.HostAlloc, 1, 8, 3), event(check.HostFree, 1, 8, 4), end}},
		{name: "one of two", events: []check.HostEvent{event(check.HostAlloc, 1, 8, 3), event(check.HostAlloc, 2, 16, 3), event(check.HostFree, 1, 8, 4), end}, want: []string{"leak 3 1 16"}},
		{name: "by line", events: []check.HostEvent{event(check.HostAlloc, 1, 8, 3), event(check.HostAlloc, 2, 16, 3), event(check.HostAlloc, 3, 32, 5), end}, want: []string{"leak 3 2 24", "leak 5 1 32"}},
		{name: "failed free", events: []check.HostEvent{event(check.HostAlloc, 1, 8, 3), {Kind: check.HostFree, Addr: 1, Bad: true}, end}, want: []string{"leak 3 1 8"}},
		{name: "the program goes on", events: []check.HostEvent{event(check.HostAlloc, 1, 8, 3)}},
		{name: "reset", events: []check.HostEvent{event(check.HostAlloc, 1, 8, 3), event(check.HostAlloc, 500, 8, 4), {Kind: check.HostReset, Bytes: 100}, event(check.HostFree, 500, 8, 5), end}, want: []string{"leak 3 1 8"}},
		{name: "memory that is mapped nowhere", events: []check.HostEvent{create(1, 3), create(2, 3), {Kind: check.HostDestroy, Block: 1}, end}, want: []string{"leak 3 1 16"}},
		{name: "mapped and unmapped", events: []check.HostEvent{create(1, 3), {Kind: check.HostMap, Block: 1, Addr: 64, Bytes: 16}, {Kind: check.HostUnmap, Block: 1, Addr: 64, Bytes: 16}, {Kind: check.HostDestroy, Block: 1}, end}},
		{name: "reset of its device", events: []check.HostEvent{create(check.OnDevice(1, 1), 3), create(1, 4), {Kind: check.HostReset, Stream: check.OnDevice(1, 0), Bytes: 100}, {Kind: check.HostDestroy, Block: 1}, end}, want: []string{"leak 3 1 16"}},
		{name: "two ends", events: []check.HostEvent{event(check.HostAlloc, 1, 8, 3), end, end}, want: []string{"leak 3 1 8"}},
		{name: "after a fault", events: []check.HostEvent{event(check.HostAlloc, 1, 8, 3), end}, failed: true},
		{name: "device heap", heap: []uint64{16, 32, 16}, events: []check.HostEvent{end}, want: []string{"leak-device-heap 40 1 64"}},
		{name: "operator new", heap: []uint64{16}, header: true, events: []check.HostEvent{end}, want: []string{"leak-device-heap 50 1 64"}},
		{name: "device heap freed", heap: []uint64{16, 16}, events: []check.HostEvent{end}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := New()
			p := x.Launch(&check.Launch{}).(*probe)
			p.heap = true
			b := p.Block(ran{header: c.header}).(exec.HeapProbe)
			live := map[uint64]bool{}
			for _, a := range c.heap {
				b.Heap(0, 0, a, 64, live[a])
				live[a] = true
			}
			for _, e := range c.events {
				x.Host(&e)
			}
			if c.failed {
				x.(check.Failer).Failed(0, errors.New("a fault"))
			}
			var got []string
			for _, f := range x.Findings() {
				got = append(got, fmt.Sprintln(f.Rule.ID, f.At().Line, f.Count, f.Details[check.Leaked]))
			}
			for i := range got {
				got[i] = got[i][:len(got[i])-1]
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}
