// Package memory finds accesses outside of memory: those of kernels, which end them, and
// those of the host, which are calls that fail. It watches no kernel: what it costs is a
// table of the program's allocations.
package memory

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/plain"
)

// Name is the checker's name.
const Name = "memory"

// allocation is memory that the host has allocated.
type allocation struct {
	addr, bytes uint64
	call        string // that allocated it
	host, freed []check.Place
	freedBy     string // the call, "" while it is there
	// parts are what an allocator of the program has given out of it, by address, with those that it
	// has taken back and not given out since. Nil: it is no pool.
	parts []*allocation
	// heaps are the ranges of it that allocators share out; what lies outside of them is as in any
	// allocation.
	heaps []heap
}

// heap is a range of addresses.
type heap struct{ addr, bytes uint64 }

func (h heap) contains(addr uint64) bool { return addr-h.addr < h.bytes }

// within is the part of it that lies in another range.
func (h heap) within(o heap) heap {
	from, to := max(h.addr, o.addr), min(h.addr+h.bytes, o.addr+o.bytes)
	return heap{from, max(from, to) - from}
}

func (a *allocation) contains(addr uint64) bool { return addr-a.addr < max(a.bytes, 1) }

// checker is the checker of memory.
type checker struct {
	keepGoing bool
	memory    map[uint64]*allocation // the last one at each address
	pools     []*allocation          // that are there and have parts, by address
	outside   map[outsideKey]*check.Finding
	launches  map[int][]check.Place
	watched   map[int]bool // with keepGoing: launches that go on after faults
	found     []*check.Finding
}

// New makes the checker. If it keeps going, a kernel leaves out what faults and runs on, so
// that one run shows all its faults; otherwise its first fault ends it, as on a GPU.
func New(keepGoing bool) check.Checker {
	return &checker{keepGoing: keepGoing, memory: map[uint64]*allocation{}, outside: map[outsideKey]*check.Finding{}, launches: map[int][]check.Place{}, watched: map[int]bool{}}
}

// Launch notes where a launch is. It has a probe only to keep going, or to look at pools.
func (c *checker) Launch(l *check.Launch) exec.Probe {
	if len(l.Host) > 0 {
		c.launches[l.Number] = l.Host
	}
	if c.keepGoing || len(c.pools) > 0 {
		return &probe{c: c, launch: l.Number}
	}
	return nil
}

// probe is a launch, to keep going and to look at pools.
type probe struct {
	c      *checker
	launch int
	kernel string
	faults int
}

// block is a block of a launch.
type block struct {
	check.Deaf
	*probe
	probed exec.ProbedBlock
}

// mostFaults bounds the faults that a launch survives, our choice: a loop whose bound could not
// be read may go on for ever.
const mostFaults = 10_000

// OfMachineCode is as in exec.MachineProbe.
func (p *probe) OfMachineCode() exec.Probe { return p }

// Begin and Block are as in exec.Probe.
func (p *probe) Begin(l *exec.Launch, _ []*isa.Inst, _ func(int) exec.Where, _ func(int) string) {
	p.c.watched[p.launch] = true
	if l.Kernel != nil {
		p.kernel = plain.Instance(l.Kernel.Name())
	}
}
func (p *probe) Block(b exec.ProbedBlock) exec.BlockProbe {
	x := &block{probe: p, probed: b}
	if p.c.keepGoing {
		return lasting{x}
	}
	return x
}

// lasting is a block that goes on after faults.
type lasting struct{ *block }

// Fault is as in exec.FaultProbe.
func (p lasting) Fault(f *exec.Fault) bool {
	if p.faults++; p.faults > mostFaults {
		return false
	}
	p.c.Failed(p.launch, f)
	return true
}

// Host follows the program's memory.
func (c *checker) Host(e *check.HostEvent) {
	if e.Part {
		c.part(e)
		return
	}
	switch e.Kind {
	case check.HostResize:
		c.resize(e)
	case check.HostWhole:
		c.whole(e)
	case check.HostAlloc, check.HostMap:
		c.memory[e.Addr] = &allocation{addr: e.Addr, bytes: e.Bytes, call: e.Call, host: e.Host}
	case check.HostFree, check.HostUnmap:
		if e.Bad {
			c.badFree(e)
		} else if a := c.memory[e.Addr]; a != nil {
			a.freed, a.freedBy = e.Host, e.Call
			c.pools = slices.DeleteFunc(c.pools, func(p *allocation) bool { return p == a })
		}
	case check.HostRead, check.HostWrite:
		if e.Bad {
			c.badCopy(e)
		} else {
			c.copyInPool(e)
		}
	case check.HostReset:
		c.pools = slices.DeleteFunc(c.pools, func(p *allocation) bool { return p.addr-e.Addr < e.Bytes })
		for _, a := range c.memory {
			if a.addr-e.Addr < e.Bytes && a.freedBy == "" {
				a.freed, a.freedBy = e.Host, e.Call
			}
		}
	}
}

// Findings returns what was found.
func (c *checker) Findings() []*check.Finding { return c.found }

// nearest returns the allocation that contains an address or comes closest to it; of equals
// one that is not freed, then the lowest. nil if there is none.
func (c *checker) nearest(addr uint64) (best *allocation) {
	distance := func(a *allocation) uint64 {
		switch {
		case a.contains(addr):
			return 0
		case addr < a.addr:
			return a.addr - addr
		}
		return addr - a.addr - a.bytes + 1
	}
	gone := func(a *allocation) int { return min(len(a.freedBy), 1) }
	for _, a := range c.memory {
		if best == nil || cmp.Or(cmp.Compare(distance(a), distance(best)), cmp.Compare(gone(a), gone(best)), cmp.Compare(a.addr, best.addr)) < 0 {
			best = a
		}
	}
	return best
}

// add adds a finding of the host, or counts one more of a known one.
func (c *checker) add(f *check.Finding) {
	for _, x := range c.found {
		if x.Rule == f.Rule && x.At() == f.At() && x.Kernel == f.Kernel {
			x.Count++
			return
		}
	}
	f.Level, f.Count = f.Rule.Level, 1
	c.found = append(c.found, f)
}

// hostStep is a call of the host.
func hostStep(role check.Role, text string, host []check.Place) check.Step {
	s := check.Step{Role: role, Text: text}
	if len(host) > 0 {
		s.Place, s.Chain = host[0], host[1:]
	}
	return s
}

// steps describes an allocation: where it began, and where it ended.
func (a *allocation) steps() (list []check.Step) {
	if a == nil {
		return nil
	}
	list = append(list, hostStep(check.Allocation, fmt.Sprintf("%s of %d bytes at %#x", a.call, a.bytes, a.addr), a.host))
	if a.freedBy != "" {
		list = append(list, hostStep(check.Freed, a.freedBy+" of it", a.freed))
	}
	return list
}

// position says where an address is, as seen from an allocation.
func (a *allocation) position(addr uint64) string {
	switch {
	case a.contains(addr):
		return fmt.Sprintf("%d bytes into", addr-a.addr)
	case addr < a.addr:
		return fmt.Sprintf("%d bytes before", a.addr-addr)
	}
	return fmt.Sprintf("%d bytes after", addr-a.addr-a.bytes)
}

// details are those of an access or a free.
func (a *allocation) details(addr uint64) map[string]string {
	d := map[string]string{check.Address: fmt.Sprintf("%#x", addr)}
	if a != nil {
		d[check.AllocationAt] = fmt.Sprintf("%#x", a.addr)
		d[check.AllocationBytes] = fmt.Sprint(a.bytes)
		d[check.Distance] = a.position(addr)
	}
	return d
}

func (c *checker) badFree(e *check.HostEvent) {
	a := c.nearest(e.Addr)
	if a != nil && !a.contains(e.Addr) {
		a = nil
	}
	f := &check.Finding{Rule: InvalidFree, Launch: -1, Details: a.details(e.Addr)}
	switch {
	case a == nil:
		f.Message = fmt.Sprintf("%s of %#x, which no call has allocated", e.Call, e.Addr)
	case a.freedBy != "":
		f.Rule = DoubleFree
		f.Message = fmt.Sprintf("%s of %#x, which %s has freed before", e.Call, e.Addr, a.freedBy)
		if a.addr != e.Addr {
			f.Rule = InvalidFree
		}
	case a.addr == e.Addr:
		f.Message = fmt.Sprintf("%s of %#x, which %s has allocated: it has a function of its own to free it", e.Call, e.Addr, a.call)
	default:
		f.Message = fmt.Sprintf("%s of %#x, which is %d bytes into an allocation of %d bytes", e.Call, e.Addr, e.Addr-a.addr, a.bytes)
	}
	f.Steps = append([]check.Step{hostStep(check.Called, e.Call, e.Host)}, a.steps()...)
	c.add(f)
}

func (c *checker) badCopy(e *check.HostEvent) {
	does := "reads"
	if e.Kind == check.HostWrite {
		does = "writes"
	}
	var a *allocation
	if e.Name == "" {
		a = c.nearest(e.Addr)
	}
	f := &check.Finding{Rule: OOBMemcpy, Launch: -1, Details: a.details(e.Addr)}
	f.Details[check.Bytes] = fmt.Sprint(e.Bytes)
	f.Message = fmt.Sprintf("%s %s %d bytes at %#x", e.Call, does, e.Bytes, e.Addr)
	switch {
	case e.Name != "":
		f.Message += ", " + e.Name
	case a == nil:
		f.Message += ", where nothing is allocated"
	case a.contains(e.Addr) && a.freedBy != "":
		f.Rule = UseAfterFree
		f.Message += fmt.Sprintf(", in memory that %s has freed", a.freedBy)
	case a.contains(e.Addr):
		f.Message += fmt.Sprintf(", %d bytes beyond the end of an allocation of %d bytes", e.Addr+e.Bytes-a.addr-a.bytes, a.bytes)
	default:
		f.Message += fmt.Sprintf(", %s the nearest allocation, of %d bytes", a.position(e.Addr), a.bytes)
	}
	f.Steps = append([]check.Step{hostStep(check.Called, e.Call, e.Host)}, a.steps()...)
	c.add(f)
}

// Outside is as in check.Outsider.
func (c *checker) Outside(launch int, f *exec.Fault) {
	f.What = strings.ReplaceAll(mangled.ReplaceAllStringFunc(f.What, plain.Name), "()::", "::")
	c.Failed(launch, f)
}

// mangled matches names of C++ variables.
var mangled = regexp.MustCompile(`\b_Z\w+`)

// Failed makes a finding of the fault that has ended a launch.
func (c *checker) Failed(launch int, err error) {
	var fault *exec.Fault
	if !errors.As(err, &fault) {
		return
	}
	rule := ruleOf(fault)
	if rule == nil {
		return
	}
	what, _, _ := strings.Cut(fault.What, "\n")
	at := &fault.Where
	f := &check.Finding{Rule: rule, Message: what, Kernel: plain.Instance(at.Kernel), Launch: launch, Details: map[string]string{}}
	f.Details[check.Thread], f.Details[check.Block] = at.Thread.String(), at.Block.String()
	text := fmt.Sprintf("by thread %s of block %s", f.Details[check.Thread], f.Details[check.Block])
	var near *allocation
	if x := fault.Access; x != nil {
		access := "read"
		if x.Write {
			access = "write"
		}
		text = fmt.Sprintf("%s of %d bytes %s", access, x.Size, text)
		f.Details[check.Address], f.Details[check.Bytes] = fmt.Sprintf("%#x", x.Addr), fmt.Sprint(x.Size)
		f.Details[check.Access], f.Details[check.Space] = access, "global"
		if x.Space != isa.NoSpace && x.Space != isa.Generic {
			f.Details[check.Space] = x.Space.String()
		}
		if n := &x.Nearest; f.Details[check.Space] == "global" && n.Size > 0 {
			near = &allocation{addr: n.Addr, bytes: n.Size}
			f.Details[check.AllocationAt], f.Details[check.AllocationBytes] = fmt.Sprintf("%#x", n.Addr), fmt.Sprint(n.Size)
			f.Details[check.Distance] = near.position(x.Addr)
			near = c.memory[n.Addr]
		}
	}
	if c.keepGoing && !c.watched[launch] {
		f.Message += ". The kernel ran as machine code with cycles, which ends at its first fault in spite of --keep-going: use --mode functional, or run the program's PTX (--code ptx)"
	}
	f.Steps = append([]check.Step{{Role: check.First, Text: text, Place: check.PlaceOf(*at)}}, near.steps()...)
	if host := c.launches[launch]; host != nil {
		f.Steps = append(f.Steps, hostStep(check.Launched, "launch", host))
	}
	c.add(f)
}

// ruleOf returns the rule that a fault breaks, nil if it is no fault of memory.
func ruleOf(f *exec.Fault) *check.Rule {
	switch f.Kind {
	case exec.Misaligned:
		return Misaligned
	case exec.BadFree:
		return InvalidFree
	case exec.DoubleFree:
		return DoubleFree
	case exec.BadCall:
		return BadCall
	case exec.StackOverflow:
		return StackOverflow
	case exec.BadAddress:
	default:
		return nil
	}
	x := f.Access
	switch {
	case x == nil: // textures, surfaces and strings
		return OOBGlobal
	case x.Space == isa.Shared:
		return OOBShared
	case x.Space == isa.Local:
		return OOBLocal
	case x.Space == isa.Const, strings.HasPrefix(f.Where.Inst, "ld.const"), x.Nearest.ReadOnly():
		return OOBConstant
	case x.Kind == device.UseAfterFree:
		return UseAfterFree
	}
	return OOBGlobal
}

// Rules are the checker's rules.
func Rules() []*check.Rule { return slices.Clone(rules) }
