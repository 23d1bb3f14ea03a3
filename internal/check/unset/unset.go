// Package unset finds reads of memory that nothing has written: device memory since its
// allocation, shared memory since its block began, and copies by the host of such bytes.
//
// A read is reported where it happens. One that finds only some of its bytes unset is a
// note, since compilers move the padding of structures together with their members. Values
// are not followed through registers, and local memory and registers are not watched.
package unset

import (
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/plain"
)

// Name is the checker's name.
const Name = "init"

func rule(id string, level check.Level, short, full, mend string) *check.Rule {
	return &check.Rule{ID: id, Checker: Name, Level: level, Short: short, Full: full, Mend: mend, Tags: []string{"initialisation"}}
}

var (
	global = rule("uninit-global", check.Error, "A kernel reads device memory that nothing has written.",
		"Memory from cudaMalloc has no defined contents until a kernel, a copy or a memset writes it. What the kernel reads differs from run to run.",
		"Fill the memory before the launch (cudaMemset, cudaMemcpy), or let a kernel write it first.")
	shared = rule("uninit-shared", check.Error, "A kernel reads shared memory that its block has not written.",
		"Shared memory has no defined contents when a block begins. What the kernel reads is left from another block or kernel.",
		"Write the element before it is read, in this block.")
	copied = rule("uninit-copy", check.Warning, "The host copies device memory that nothing has written.",
		"The bytes that are copied have no defined contents.",
		"Copy only what was written, or fill the memory first (cudaMemset).")
)

// Rules returns the rules of the checker.
func Rules() []*check.Rule { return []*check.Rule{global, shared, copied} }

// findKey tells findings apart: a rule and a place.
type findKey struct {
	rule     *check.Rule
	kernel   string
	site     int
	call     check.Place
	complete bool // no byte of the read was set
}

// Checker is the checker of a run.
type Checker struct {
	memory shadow // global
	by     map[findKey]*check.Finding
	all    []*check.Finding
}

// New makes a checker.
func New() check.Checker {
	return &Checker{memory: shadow{}, by: map[findKey]*check.Finding{}}
}

// Findings is as in check.Checker.
func (c *Checker) Findings() []*check.Finding { return c.all }

// count counts a finding with those at the same place; it returns a new one to be filled in,
// nil if there is one.
func (c *Checker) count(k findKey, n uint64) *check.Finding {
	if old := c.by[k]; old != nil {
		old.Count += n
		return nil
	}
	f := &check.Finding{Rule: k.rule, Level: k.rule.Level, Launch: -1, Count: n, Message: k.rule.Short + " " + k.rule.Mend, Details: map[string]string{}}
	c.by[k], c.all = f, append(c.all, f)
	return f
}

// Host is as in check.Checker.
func (c *Checker) Host(e *check.HostEvent) {
	if e.Bad || e.Bytes == 0 {
		return
	}
	switch e.Kind {
	case check.HostAlloc:
		c.memory.mark(e.Addr, e.Bytes, !e.Set)
	case check.HostFree, check.HostReset, check.HostWrite:
		c.memory.mark(e.Addr, e.Bytes, false)
	case check.HostRead:
		n := c.memory.unset(e.Addr, e.Bytes)
		if n == 0 {
			return
		}
		k := findKey{rule: copied}
		if len(e.Host) > 0 {
			k.call = e.Host[0]
		}
		f := c.count(k, n)
		if f == nil {
			return
		}
		s := check.Step{Role: check.Called, Text: fmt.Sprintf("%s reads %d bytes, of which %d were never written", e.Call, e.Bytes, n)}
		if len(e.Host) > 0 {
			s.Place, s.Chain = e.Host[0], e.Host[1:]
		}
		f.Steps = []check.Step{s}
		f.Details[check.Address] = fmt.Sprintf("%#x", e.Addr)
	}
}

// launch is a launch, and its probe.
type launch struct {
	c      *Checker
	number int
	kernel string
}

// Launch is as in check.Checker.
func (c *Checker) Launch(l *check.Launch) exec.Probe { return &launch{c: c, number: l.Number} }

// Begin is as in exec.Probe.
func (l *launch) Begin(x *exec.Launch, _ []*isa.Inst, _ func(int) exec.Where, _ func(int) string) {
	if x.Kernel != nil {
		l.kernel = x.Kernel.Name()
	}
}

// Block is as in exec.Probe.
func (l *launch) Block(p exec.ProbedBlock) exec.BlockProbe {
	b := &block{launch: l, probed: p, shared: shadow{}}
	b.shared.mark(0, uint64(len(p.SharedBytes())), true)
	return b
}

// block is a block, and its probe.
type block struct {
	check.Deaf
	*launch
	probed exec.ProbedBlock
	shared shadow
	// source is the state of the bytes that the last asynchronous copy read, by lane.
	source [32]uint64
	copies bool
}

// Access is as in exec.BlockProbe.
func (b *block) Access(a *exec.Access) {
	var m shadow
	switch a.Space {
	case isa.Global:
		m = b.c.memory
	case isa.Shared:
		m = b.shared
	default:
		return
	}
	size := uint64(a.Bytes)
	if a.Flight && a.Read && !a.Write && size <= 64 { // the copy takes the state along
		for k := uint32(a.Lanes); k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			b.source[i] = m.bits(a.Addr[i], size)
		}
		b.copies = true
		return
	}
	if a.Read && len(m) > 0 {
		b.read(a, m, size)
	}
	if a.Write && len(m) > 0 {
		for k := uint32(a.Lanes); k != 0; k &= k - 1 {
			m.mark(a.Addr[bits.TrailingZeros32(k)&31], size, false)
		}
	}
	if b.copies && a.Flight && a.Write {
		for k := uint32(a.Lanes); k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			for set := b.source[i]; set != 0 && size <= 64; set &= set - 1 {
				m.mark(a.Addr[i]+uint64(bits.TrailingZeros64(set)), 1, true)
			}
		}
		b.source, b.copies = [32]uint64{}, false
	}
}

// read looks for unset bytes.
func (b *block) read(a *exec.Access, m shadow, size uint64) {
	var whole, part uint32
	for k := uint32(a.Lanes); k != 0; k &= k - 1 {
		i := bits.TrailingZeros32(k) & 31
		switch m.unset(a.Addr[i], size) {
		case 0:
		case size:
			whole |= 1 << i
		default:
			part |= 1 << i
		}
	}
	b.report(a, whole, true)
	b.report(a, part, false)
}

// report reports reads of unset bytes by some lanes.
func (b *block) report(a *exec.Access, lanes uint32, complete bool) {
	if lanes == 0 {
		return
	}
	k := findKey{rule: global, kernel: b.kernel, site: a.Site, complete: complete}
	if a.Space == isa.Shared {
		k.rule = shared
	}
	f := b.c.count(k, uint64(bits.OnesCount32(lanes)))
	if f == nil {
		return
	}
	lane := bits.TrailingZeros32(lanes) & 31
	w := b.probed.Where(a.Warp, lane)
	s := check.Step{Role: check.First, Place: check.PlaceOf(w), Text: fmt.Sprintf("read of %d bytes by thread %v of block %v", a.Bytes, w.Thread, w.Block)}
	for _, c := range b.probed.Chain(a.Warp) {
		s.Chain = append(s.Chain, check.PlaceOf(c))
	}
	if !complete {
		f.Level = check.Note
		f.Message += " Only some of the bytes are unset: they may be padding."
	}
	f.Steps, f.Kernel, f.Launch = []check.Step{s}, plain.Instance(b.kernel), b.number
	f.Details[check.Address], f.Details[check.Bytes], f.Details[check.Space] = fmt.Sprintf("%#x", a.Addr[lane]), fmt.Sprint(a.Bytes), a.Space.String()
	f.Details[check.Thread], f.Details[check.Block] = w.Thread.String(), w.Block.String()
}
