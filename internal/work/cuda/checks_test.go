package cuda

import (
	"fmt"
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/exec"
)

// listener is a checker that notes what the host does.
type listener struct{ told []string }

func (*listener) Launch(*check.Launch) exec.Probe { return nil }
func (*listener) Findings() []*check.Finding      { return nil }

func (l *listener) Host(e *check.HostEvent) {
	names := [...]string{"alloc", "free", "write", "read", "record", "wait", "sync", "sync all", "set", "create", "map", "unmap", "destroy", "resize", "whole", "reset", "end"}
	s := fmt.Sprint(names[e.Kind], " ", e.Bytes)
	if e.Block != 0 {
		s += fmt.Sprintf(" of %#x", e.Block)
	}
	if e.Async {
		s += " async"
	}
	if e.Bad {
		s += " bad"
	}
	l.told = append(l.told, s)
}

// TestHostEvents: what checkers hear of calls, the same in both modes.
func TestHostEvents(t *testing.T) {
	for _, timing := range []bool{false, true} {
		l := &listener{}
		set := check.NewSet()
		set.Add("listener", l)
		o := Options{Host: realHost{&memory{pieces: map[uint64][]byte{stack: make([]byte, 256)}}}}
		o.Timing, o.Checks = timing, set
		r, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		th := r.Thread(1)
		p, _ := th.Malloc(64)
		ev, _ := th.EventCreate(0)
		for _, c := range []struct {
			name string
			call func() Error
			want []string
			bad  bool // the call fails
		}{
			{"malloc", func() Error { return Success }, []string{"alloc 64"}, false},
			{"copy to the device", func() Error { return th.Copy(p, stack, 64, HostToDevice, 0, false) }, []string{"write 64"}, false},
			{"copy from the device", func() Error { return th.Copy(stack, p, 32, DeviceToHost, 0, false) }, []string{"read 32"}, false},
			{"copy on the device", func() Error { return th.Copy(p, p+32, 32, DeviceToDevice, 0, false) }, []string{"read 32 async", "write 32 async"}, false},
			{"copy to pageable memory", func() Error { return th.Copy(stack, p, 8, DeviceToHost, 0, true) }, []string{"read 8"}, false},
			{"fill", func() Error { return th.Fill(p, 1, line(16), 0) }, []string{"write 16 async"}, false},
			{"fill of rows", func() Error {
				return th.Fill(p, 1, Rows{Width: 4, Height: 2, Depth: 1, DstPitch: 16}, 0)
			}, []string{"write 4 async", "write 4 async"}, false},
			{"copy beyond the end", func() Error { return th.Copy(p, stack, 65, HostToDevice, 0, false) }, []string{"write 65 bad"}, true},
			{"record", func() Error { return th.EventRecord(ev, 0, 0) }, []string{"record 0 async"}, false},
			{"wait of a stream", func() Error { return th.StreamWait(0, ev, 0) }, []string{"wait 0 async"}, false},
			{"wait for an event", func() Error { return th.EventSynchronize(ev) }, []string{"sync 0"}, false},
			{"wait for a stream", func() Error { return th.StreamSynchronize(0) }, []string{"sync 0"}, false},
			{"wait for all", th.Synchronize, []string{"sync all 0"}, false},
			{"free inside", func() Error { return th.Free(p + 16) }, []string{"free 0 bad"}, true},
			{"free", func() Error { return th.Free(p) }, []string{"sync all 0", "free 64"}, false},
			{"free again", func() Error { return th.Free(p) }, []string{"free 0 bad"}, true},
			{"free of null", func() Error { return th.Free(0) }, nil, false},
			{"end", func() Error { r.Result(); return Success }, []string{"end 0"}, false},
		} {
			err := c.call()
			if got := l.told; !slices.Equal(got, c.want) || (err != Success) != c.bad {
				t.Errorf("timing %v, %s: told %q, want %q; %v", timing, c.name, got, c.want, err)
			}
			l.told = nil
		}
	}
}

// TestMappedEvents: what checkers hear of memory that is mapped, of two devices.
func TestMappedEvents(t *testing.T) {
	l := &listener{}
	b := several(t, 2, func(o *Options) {
		o.Checks = check.NewSet()
		o.Checks.Add("listener", l)
	})
	at, _ := b.Reserve(4*Granularity, 0)
	const size = Granularity
	var own, others uint64
	create := func(h *uint64, device int) func() Error {
		return func() (err Error) { *h, err = b.MemCreate(device, size); return err }
	}
	for _, c := range []struct {
		name string
		call func() Error
		want []string
		bad  bool // the call fails
	}{
		{"create", create(&own, 0), []string{"create 2097152 of 0x1"}, false},
		{"create on device 1", create(&others, 1), []string{"create 2097152 of 0x10000000001"}, false},
		{"map", func() Error { return b.MemMap(at, size, own) }, []string{"map 2097152 of 0x1"}, false},
		{"map where something is", func() Error { return b.MemMap(at, size, own) }, nil, true},
		{"map of device 1", func() Error { return b.MemMap(at+size, size, others) }, []string{"map 2097152 of 0x10000000001"}, false},
		{"map again elsewhere", func() Error { return b.MemMap(at+3*size, size, own) }, []string{"map 2097152 of 0x1"}, false},
		{"release while mapped", func() Error { return b.MemRelease(own) }, nil, false},
		{"unmap half", func() Error { return b.MemUnmap(at, size/2) }, nil, true},
		{"unmap two", func() Error { return b.MemUnmap(at, 2*size) }, []string{"unmap 2097152 of 0x1", "unmap 2097152 of 0x10000000001"}, false},
		{"the last use", func() Error { return b.MemUnmap(at+3*size, size) }, []string{"unmap 2097152 of 0x1", "destroy 2097152 of 0x1"}, false},
		{"release of what is mapped nowhere", func() Error { return b.MemRelease(others) }, []string{"destroy 2097152 of 0x10000000001"}, false},
	} {
		l.told = nil
		if err := c.call(); !slices.Equal(l.told, c.want) || (err != Success) != c.bad {
			t.Errorf("%s: told %q, want %q; %v", c.name, l.told, c.want, err)
		}
	}
}
