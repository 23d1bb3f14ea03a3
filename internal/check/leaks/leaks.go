// Package leaks finds memory that a program does not free: allocations of the host, and
// those of kernels on the device heap. It says nothing of a program that a fault has ended.
package leaks

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/plain"
)

// Name is the checker's name.
const Name = "leaks"

const mend = "Free the memory when it is not needed any more; in C++, let an object own it whose destructor does so."

// The rules.
var (
	Leak = &check.Rule{ID: "leak", Checker: Name, Level: check.Warning, Tags: []string{"memory", "leak"},
		Short: "Memory that the host has allocated is not freed.",
		Full:  "The program, or its use of the device, ends while the allocation is there. In a program that goes on, or in a library, such memory is lost.",
		Mend:  mend}
	LeakDeviceHeap = &check.Rule{ID: "leak-device-heap", Checker: Name, Level: check.Warning, Tags: []string{"memory", "leak"},
		Short: "Memory that a kernel has got from malloc or new is not freed.",
		Full:  "Blocks of the device heap stay until a kernel frees them: the end of the kernel does not. The heap is small, and malloc returns null when it is full.",
		Mend:  mend}
)

// Rules are the checker's rules.
func Rules() []*check.Rule { return []*check.Rule{Leak, LeakDeviceHeap} }

// block is an allocation that has not been freed.
type block struct {
	number      int // in order of allocation
	addr, bytes uint64
	event       *check.HostEvent // that allocated it; nil on the device heap
	where       exec.Where       // on the device heap
	places      []check.Place    // the program's line there, and its callers
	launch      int
}

type checker struct {
	live   map[uint64]*block
	parts  map[uint64]*block // of allocations, that an allocator of the program has given out
	blocks map[uint64]*block // without an address, by their number
	made   int
	found  []*check.Finding
	failed bool
	heap   map[exec.Kernel]bool // kernels that call malloc, so far
	hosts  map[int][]check.Place
}

// New makes the checker.
func New() check.Checker {
	return &checker{live: map[uint64]*block{}, parts: map[uint64]*block{}, blocks: map[uint64]*block{}, heap: map[exec.Kernel]bool{}, hosts: map[int][]check.Place{}}
}

func (c *checker) add(b *block) {
	b.number = c.made
	c.made++
	switch e := b.event; {
	case e != nil && e.Part:
		c.parts[b.addr] = b
	case e != nil && e.Kind == check.HostCreate:
		c.blocks[uint64(e.Block)] = b
	default:
		c.live[b.addr] = b
	}
}

// free ends what an event frees. Parts go with their allocation.
func (c *checker) free(e *check.HostEvent) {
	if e.Part {
		delete(c.parts, e.Addr)
		return
	}
	if b := c.live[e.Addr]; b != nil {
		maps.DeleteFunc(c.parts, func(addr uint64, _ *block) bool { return addr-b.addr < b.bytes })
	}
	delete(c.live, e.Addr)
}

// Host follows the program's memory.
func (c *checker) Host(e *check.HostEvent) {
	switch e.Kind {
	case check.HostAlloc, check.HostCreate:
		copied := *e
		c.add(&block{addr: e.Addr, bytes: e.Bytes, event: &copied})
	case check.HostFree:
		if !e.Bad {
			c.free(e)
		}
	case check.HostResize:
		if b := c.parts[e.Addr]; b != nil {
			b.bytes = e.Bytes
		}
	case check.HostWhole:
		maps.DeleteFunc(c.parts, func(addr uint64, _ *block) bool { return addr-e.Addr < e.Bytes })
	case check.HostDestroy:
		delete(c.blocks, uint64(e.Block))
	case check.HostReset:
		c.end(func(b *block) bool {
			if b.event != nil && b.event.Kind == check.HostCreate {
				return check.SameDevice(b.event.Block, e.Stream)
			}
			return b.addr-e.Addr < e.Bytes
		})
	case check.HostEnd:
		c.end(func(*block) bool { return true })
	}
}

// site is what findings are counted by.
type site struct {
	rule  *check.Rule
	call  string
	place check.Place
}

// end makes findings of the memory that is lost, one for each place of the program.
func (c *checker) end(lost func(b *block) bool) {
	var list []*block
	for _, blocks := range []map[uint64]*block{c.live, c.parts, c.blocks} {
		for addr, b := range blocks {
			if lost(b) {
				list = append(list, b)
				delete(blocks, addr)
			}
		}
	}
	slices.SortFunc(list, func(a, b *block) int { return cmp.Compare(a.number, b.number) })
	sites, bytes := map[site]*check.Finding{}, map[*check.Finding]uint64{}
	for _, b := range list {
		at, f := b.finding(c.hosts[b.launch])
		if x := sites[at]; x != nil {
			f = x
		} else {
			sites[at] = f
			c.found = append(c.found, f)
		}
		f.Count++
		bytes[f] += b.bytes
	}
	for f, n := range bytes {
		blocks := "allocation is"
		if f.Count > 1 {
			blocks = "allocations are"
		}
		f.Message = fmt.Sprintf("%d bytes in %d %s not freed", n, f.Count, blocks)
		f.Details[check.Leaked] = fmt.Sprint(n)
	}
}

// finding describes the first block of a site; host is the place of its launch.
func (b *block) finding(host []check.Place) (at site, f *check.Finding) {
	f = &check.Finding{Rule: Leak, Level: Leak.Level, Launch: -1, Details: map[string]string{check.AllocationBytes: fmt.Sprint(b.bytes)}}
	if b.event == nil || b.event.Kind != check.HostCreate {
		f.Details[check.AllocationAt] = fmt.Sprintf("%#x", b.addr)
	}
	step := check.Step{Role: check.Allocation}
	if e := b.event; e != nil {
		step.Text = fmt.Sprintf("%s of %d bytes", e.Call, b.bytes)
		if len(e.Host) > 0 {
			step.Place, step.Chain = e.Host[0], e.Host[1:]
		}
		at = site{rule: Leak, call: e.Call, place: step.Place}
	} else {
		w := &b.where
		f.Rule, f.Level, f.Kernel, f.Launch = LeakDeviceHeap, LeakDeviceHeap.Level, plain.Instance(w.Kernel), b.launch
		f.Details[check.Thread], f.Details[check.Block] = w.Thread.String(), w.Block.String()
		step.Text = fmt.Sprintf("malloc of %d bytes by thread %v of block %v", b.bytes, w.Thread, w.Block)
		step.Place, step.Chain = b.places[0], b.places[1:]
		at = site{rule: LeakDeviceHeap, call: w.Kernel, place: step.Place}
	}
	f.Steps = []check.Step{step}
	if host != nil && b.event == nil {
		f.Steps = append(f.Steps, check.Step{Role: check.Launched, Text: "launch", Place: host[0], Chain: host[1:]})
	}
	return at, f
}

// Failed ends the search: what a program does not free after a fault says nothing.
func (c *checker) Failed(int, error) { c.failed = true }

// Findings returns the leaks so far.
func (c *checker) Findings() []*check.Finding {
	if c.failed {
		return nil
	}
	return c.found
}

// Launch returns a probe that sees the device heap.
func (c *checker) Launch(l *check.Launch) exec.Probe {
	if len(l.Host) > 0 {
		c.hosts[l.Number] = l.Host
	}
	return &probe{c: c, launch: l.Number}
}

// probe sees the blocks of kernels that use the device heap.
type probe struct {
	c      *checker
	launch int
	heap   bool
}

// Begin looks whether the kernel uses the heap.
func (p *probe) Begin(l *exec.Launch, code []*isa.Inst, _ func(int) exec.Where, text func(int) string) {
	uses, known := p.c.heap[l.Kernel]
	if !known {
		for i := range code {
			t := text(i)
			if strings.HasPrefix(t, "call") && (strings.Contains(t, "malloc") || strings.Contains(t, "free")) {
				uses = true
				break
			}
		}
		p.c.heap[l.Kernel] = uses
	}
	p.heap = uses
}

// Block watches a block, if need be.
func (p *probe) Block(b exec.ProbedBlock) exec.BlockProbe {
	if !p.heap {
		return nil
	}
	return &blockProbe{probe: p, b: b}
}

// blockProbe sees the heap and nothing else.
type blockProbe struct {
	check.Deaf
	*probe
	b exec.ProbedBlock
}

// Heap is as in exec.HeapProbe.
func (p *blockProbe) Heap(warp, lane int, addr, bytes uint64, freed bool) {
	if freed {
		delete(p.c.live, addr)
		return
	}
	w := p.b.Where(warp, lane)
	p.c.add(&block{addr: addr, bytes: bytes, where: w, places: p.places(w, warp), launch: p.launch})
}

// places returns the place of an allocation and those of its callers, without what allocates
// for the program: operator new is a function of a header.
func (p *blockProbe) places(w exec.Where, warp int) []check.Place {
	list := []check.Place{check.PlaceOf(w)}
	for _, c := range p.b.Chain(warp) {
		list = append(list, check.PlaceOf(c))
	}
	if own := slices.IndexFunc(list, func(p check.Place) bool { return !p.Library }); own > 0 {
		list = list[own:]
	}
	return list
}
