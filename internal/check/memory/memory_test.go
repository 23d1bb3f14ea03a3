package memory

import (
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/isa"
)

func at(line int) []check.Place { return []check.Place{{File: "a.cu", Line: line, Function: "main"}} }

// Calls of a program: 1000 bytes at 0x1000, allocated in line 1 and freed in line 2.
var (
	alloc   = check.HostEvent{Kind: check.HostAlloc, Call: "cudaMalloc", Addr: 0x1000, Bytes: 1000, Host: at(1)}
	release = check.HostEvent{Kind: check.HostFree, Call: "cudaFree", Addr: 0x1000, Bytes: 1000, Host: at(2)}
)

func bad(kind check.HostKind, call string, addr, bytes uint64) check.HostEvent {
	return check.HostEvent{Kind: kind, Call: call, Addr: addr, Bytes: bytes, Bad: true, Host: at(9)}
}

// TestHost: what calls of the host mean, and that valid ones mean nothing.
func TestHost(t *testing.T) {
	for _, c := range []struct {
		name    string
		events  []check.HostEvent
		want    *check.Rule
		message string
		lines   []int // of all steps
	}{
		{"alloc and free", []check.HostEvent{alloc, release}, nil, "", nil},
		{"again after a free", []check.HostEvent{alloc, release, alloc, release}, nil, "", nil},
		{"a valid copy", []check.HostEvent{alloc, {Kind: check.HostWrite, Addr: 0x1000, Bytes: 1000}}, nil, "", nil},
		{"double free", []check.HostEvent{alloc, release, bad(check.HostFree, "cudaFree", 0x1000, 0)}, DoubleFree, "has freed before", []int{9, 1, 2}},
		{"free inside", []check.HostEvent{alloc, bad(check.HostFree, "cudaFree", 0x1010, 0)}, InvalidFree, "16 bytes into", []int{9, 1}},
		{"free of the wrong kind", []check.HostEvent{alloc, bad(check.HostFree, "cudaFreeHost", 0x1000, 0)}, InvalidFree, "function of its own", []int{9, 1}},
		{"free of nothing", []check.HostEvent{alloc, bad(check.HostFree, "cudaFree", 0x9000, 0)}, InvalidFree, "no call has allocated", []int{9}},
		{"free after a reset", []check.HostEvent{alloc, {Kind: check.HostReset, Call: "cudaDeviceReset", Bytes: 1 << 20}, bad(check.HostFree, "cudaFree", 0x1000, 0)}, DoubleFree, "cudaDeviceReset has freed", []int{9, 1, 0}},
		{"copy too long", []check.HostEvent{alloc, bad(check.HostWrite, "cudaMemcpy", 0x1000, 1024)}, OOBMemcpy, "24 bytes beyond the end", []int{9, 1}},
		{"copy from behind", []check.HostEvent{alloc, bad(check.HostRead, "cudaMemcpy", 0x1000+1008, 4)}, OOBMemcpy, "8 bytes after", []int{9, 1}},
		{"copy from before", []check.HostEvent{alloc, bad(check.HostRead, "cudaMemcpy", 0xff0, 4)}, OOBMemcpy, "16 bytes before", []int{9, 1}},
		{"copy to freed memory", []check.HostEvent{alloc, release, bad(check.HostWrite, "cudaMemcpy", 0x1000, 4)}, UseAfterFree, "cudaFree has freed", []int{9, 1, 2}},
		{"copy without memory", []check.HostEvent{bad(check.HostWrite, "cudaMemcpy", 0x1000, 4)}, OOBMemcpy, "nothing is allocated", []int{9}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := New(false)
			for _, e := range c.events {
				m.Host(&e)
			}
			expect(t, m.Findings(), c.want, c.message, c.lines)
		})
	}
}

// TestParts: what an allocator of the program gives out, and the host's copies there.
func TestParts(t *testing.T) {
	give := func(addr, bytes uint64) check.HostEvent {
		return check.HostEvent{Kind: check.HostAlloc, Call: "heddle_give", Addr: addr, Bytes: bytes, Part: true, Host: at(3)}
	}
	take := func(addr, bytes uint64) check.HostEvent {
		return check.HostEvent{Kind: check.HostFree, Call: "heddle_take", Addr: addr, Bytes: bytes, Part: true, Host: at(4)}
	}
	write := func(addr, bytes uint64) check.HostEvent {
		return check.HostEvent{Kind: check.HostWrite, Call: "cudaMemcpy", Addr: addr, Bytes: bytes, Host: at(9)}
	}
	piece := func(addr uint64) check.HostEvent {
		return check.HostEvent{Kind: check.HostMap, Call: "cuMemMap", Addr: addr, Bytes: 0x1000, Host: at(5)}
	}
	// of a heap, which is a part of its allocation
	region := func(heap, heapBytes, addr, bytes uint64) check.HostEvent {
		e := give(addr, bytes)
		e.HeapAddr, e.HeapBytes = heap, heapBytes
		return e
	}
	resize := func(addr, bytes, old uint64) check.HostEvent {
		return check.HostEvent{Kind: check.HostResize, Call: "nvtxMemRegionsResize", Addr: addr, Bytes: bytes, Old: old, Host: at(7)}
	}
	whole := func(addr, bytes uint64) check.HostEvent {
		return check.HostEvent{Kind: check.HostWhole, Call: "nvtxMemHeapUnregister", Addr: addr, Bytes: bytes, Host: at(8)}
	}
	a, b := give(0x1000, 100), give(0x1100, 100)
	for _, c := range []struct {
		name    string
		events  []check.HostEvent
		want    *check.Rule
		message string
		lines   []int
	}{
		{"within parts", []check.HostEvent{alloc, a, b, write(0x1000, 100), write(0x1110, 84)}, nil, "", nil},
		{"no part yet", []check.HostEvent{alloc, write(0x1000, 1000)}, nil, "", nil},
		{"beyond a part", []check.HostEvent{alloc, a, b, write(0x1000, 101)}, OOBMemcpy, "0 bytes into a part", []int{9, 3}},
		{"between parts", []check.HostEvent{alloc, a, b, write(0x1080, 4)}, OOBMemcpy, "28 bytes after a part", []int{9, 3}},
		{"before all parts", []check.HostEvent{alloc, b, write(0x1000, 4)}, OOBMemcpy, "256 bytes before a part", []int{9, 3}},
		{"taken back", []check.HostEvent{alloc, a, b, take(0x1000, 100), write(0x1000, 4)}, UseAfterFree, "has been taken back", []int{9, 3, 4}},
		{"given out again, larger", []check.HostEvent{alloc, a, take(0x1000, 100), give(0x1000, 200), write(0x1000, 200)}, nil, "", nil},
		{"taken twice", []check.HostEvent{alloc, a, take(0x1000, 100), take(0x1000, 100)}, DoubleFree, "taken back before", []int{4, 3, 4}},
		{"never given", []check.HostEvent{alloc, a, take(0x1010, 100)}, InvalidFree, "not been given out", []int{4, 1}},
		{"in two pieces that are mapped side by side", []check.HostEvent{piece(0x1000), piece(0x2000), give(0x1f00, 512), give(0x2100, 256), write(0x1f00, 512), write(0x1fff, 2), write(0x2100, 256)}, nil, "", nil},
		{"beyond its end in the second piece", []check.HostEvent{piece(0x1000), piece(0x2000), give(0x1f00, 512), write(0x1f00, 513)}, OOBMemcpy, "0 bytes into a part", []int{9, 3}},
		{"taken back from both pieces", []check.HostEvent{piece(0x1000), piece(0x2000), give(0x1f00, 512), take(0x1f00, 512), write(0x2000, 4)}, UseAfterFree, "has been taken back", []int{9, 3, 4}},
		{"unmapped", []check.HostEvent{piece(0x1000), give(0x1f00, 16), {Kind: check.HostUnmap, Call: "cuMemUnmap", Addr: 0x1000, Bytes: 0x1000, Host: at(6)}, bad(check.HostWrite, "cudaMemcpy", 0x1f00, 4)}, UseAfterFree, "cuMemUnmap has freed", []int{9, 5, 6}},
		{"outside of the heap", []check.HostEvent{alloc, region(0x1000, 0x100, 0x1000, 16), write(0x1200, 16)}, nil, "", nil},
		{"in the heap, outside of its region", []check.HostEvent{alloc, region(0x1000, 0x100, 0x1000, 16), write(0x1080, 16)}, OOBMemcpy, "112 bytes after a part", []int{9, 3}},
		{"a heap ends, the other one stays", []check.HostEvent{alloc, region(0x1000, 0x100, 0x1000, 16), region(0x1100, 0x100, 0x1100, 16), whole(0x1000, 0x100), write(0x1080, 16), write(0x1180, 4)}, OOBMemcpy, "112 bytes after a part", []int{9, 3}},
		{"a region of the heap that stays ends", []check.HostEvent{alloc, region(0x1000, 0x100, 0x1000, 16), region(0x1100, 0x100, 0x1100, 16), whole(0x1000, 0x100), take(0x1100, 16)}, nil, "", nil},
		{"grown into the next piece, a pool too", []check.HostEvent{piece(0x1000), piece(0x2000), give(0x1f00, 16), give(0x2800, 16), resize(0x1f00, 512, 16), write(0x1f00, 512)}, nil, "", nil},
		{"shrunk, the next piece still a pool", []check.HostEvent{piece(0x1000), piece(0x2000), give(0x1f00, 512), give(0x2800, 16), resize(0x1f00, 16, 512), write(0x2000, 4)}, OOBMemcpy, "2048 bytes before a part", []int{9, 3}},
		{"the pool is freed, and its place allocated anew", []check.HostEvent{alloc, a, release, alloc, write(0x1080, 4)}, nil, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := New(false)
			for _, e := range c.events {
				m.Host(&e)
			}
			expect(t, m.Findings(), c.want, c.message, c.lines)
		})
	}
}

// expect compares findings with the one that is wanted; none if want is nil.
func expect(t *testing.T, list []*check.Finding, want *check.Rule, message string, lines []int) {
	t.Helper()
	if want == nil {
		if len(list) > 0 {
			t.Errorf("found %s: %s", list[0].Rule.ID, list[0].Message)
		}
		return
	}
	if len(list) != 1 || list[0].Rule != want || !strings.Contains(list[0].Message, message) || list[0].Count != 1 {
		t.Fatalf("found %+v; want one of %s with %q", list, want.ID, message)
	}
	var got []int
	for _, s := range list[0].Steps {
		got = append(got, s.Place.Line)
	}
	if len(got) != len(lines) {
		t.Fatalf("steps in lines %v, want %v", got, lines)
	}
	for i := range got {
		if got[i] != lines[i] {
			t.Errorf("steps in lines %v, want %v", got, lines)
		}
	}
}

// TestFaults: the rule of each fault of a kernel, with where its memory was allocated and
// freed, and the launch.
func TestFaults(t *testing.T) {
	near := device.Allocation{Addr: 0x1000, Size: 1000}
	for _, c := range []struct {
		name  string
		fault exec.Fault
		want  *check.Rule
		lines []int
	}{
		{"global", exec.Fault{Kind: exec.BadAddress, Access: &device.Fault{Addr: 0x1400, Size: 4, Nearest: near}}, OOBGlobal, []int{5, 1, 2, 7}},
		{"null", exec.Fault{Kind: exec.BadAddress, Access: &device.Fault{Kind: device.NullPointer, Size: 4}}, OOBGlobal, []int{5, 7}},
		{"freed", exec.Fault{Kind: exec.BadAddress, Access: &device.Fault{Kind: device.UseAfterFree, Addr: 0x1000, Size: 4, Nearest: near}}, UseAfterFree, []int{5, 1, 2, 7}},
		{"shared", exec.Fault{Kind: exec.BadAddress, Access: &device.Fault{Addr: 64, Size: 4, Space: isa.Shared, Nearest: near}}, OOBShared, []int{5, 7}},
		{"local", exec.Fault{Kind: exec.BadAddress, Access: &device.Fault{Addr: 64, Size: 4, Space: isa.Local}}, OOBLocal, []int{5, 7}},
		{"misaligned", exec.Fault{Kind: exec.Misaligned, Access: &device.Fault{Kind: device.Misaligned, Addr: 0x1002, Size: 4}}, Misaligned, []int{5, 7}},
		{"heap, twice", exec.Fault{Kind: exec.DoubleFree}, DoubleFree, []int{5, 7}},
		{"heap, elsewhere", exec.Fault{Kind: exec.BadFree}, InvalidFree, []int{5, 7}},
		{"trap", exec.Fault{Kind: exec.Trap}, nil, nil},
		{"assertion", exec.Fault{Kind: exec.Assertion}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := New(false)
			for _, e := range []check.HostEvent{alloc, release} {
				m.Host(&e)
			}
			m.Launch(&check.Launch{Number: 3, Host: at(7)})
			c.fault.Where = exec.Where{Kernel: "k", SrcFile: "a.cu", SrcLine: 5}
			m.(check.Failer).Failed(3, &c.fault)
			expect(t, m.Findings(), c.want, "", c.lines)
		})
	}
}

// TestRepeated: a place is reported once, with a count.
func TestRepeated(t *testing.T) {
	m := New(false)
	for range 5 {
		e := bad(check.HostFree, "cudaFree", 0x9000, 0)
		m.Host(&e)
	}
	if list := m.Findings(); len(list) != 1 || list[0].Count != 5 {
		t.Errorf("five frees of one line: %+v", list)
	}
}

// TestKeepGoing: a kernel survives its faults, each place is reported once, and a kernel that
// does nothing else is ended.
func TestKeepGoing(t *testing.T) {
	m := New(true)
	b := m.Launch(&check.Launch{Number: 2}).Block(nil).(exec.FaultProbe)
	survived := 0
	for i := range mostFaults + 1 {
		f := exec.Fault{Kind: exec.BadAddress, Access: &device.Fault{Addr: 0x1000, Size: 4}, Where: exec.Where{SrcFile: "a.cu", SrcLine: 1 + i%2}}
		if b.Fault(&f) {
			survived++
		}
	}
	list := m.Findings()
	if len(list) != 2 || list[0].Count != mostFaults/2 || list[0].Launch != 2 || survived != mostFaults {
		t.Errorf("%d survived, findings %+v", survived, list)
	}
	if m := New(false); m.Launch(&check.Launch{}) != nil {
		t.Error("it has a probe although the first fault ends the kernel")
	}
}

// TestKeepGoingBlind: a fault that has ended a kernel in spite of --keep-going says why.
func TestKeepGoingBlind(t *testing.T) {
	for _, c := range []struct {
		name              string
		keepGoing, probed bool
		want              bool
	}{
		{"machine code", true, false, true},
		{"PTX, after too many faults", true, true, false},
		{"nobody asked", false, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := New(c.keepGoing)
			if p := m.Launch(&check.Launch{Number: 2}); c.probed {
				p.Begin(&exec.Launch{}, nil, nil, nil)
			}
			m.(check.Failer).Failed(2, &exec.Fault{Kind: exec.BadAddress, What: "out-of-bounds read", Access: &device.Fault{Addr: 0x1000, Size: 4}})
			if got := m.Findings()[0].Message; strings.Contains(got, "machine code") != c.want {
				t.Errorf("the message is %q", got)
			}
		})
	}
}

// TestOutside: an access that leaves its variable is an error with readable names, and no end.
func TestOutside(t *testing.T) {
	m := New(false)
	m.(check.Outsider).Outside(1, &exec.Fault{Kind: exec.BadAddress, What: "read of 4 bytes, which was made from _ZZ3twoPiiE5first", Access: &device.Fault{Addr: 128, Size: 4, Space: isa.Shared}, Where: exec.Where{SrcFile: "a.cu", SrcLine: 5}})
	expect(t, m.Findings(), OOBShared, "made from two::first", []int{5})
}
