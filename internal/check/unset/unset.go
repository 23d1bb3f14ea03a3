// Package unset finds uses of values that nothing has written: of device memory since its
// allocation, of shared memory since its block began, of local memory and registers since
// their function began; and copies by the host of such bytes.
//
// Values are followed from the read through registers, shuffles, local and shared memory. What
// counts is a use: as an address, as an operand of an atomic operation, in a store to global
// memory, where a branch or an access depends on the value, or where a vote or a reduction of
// threads does. Programs read rows of a tile or lanes of a warp that they then leave out, and
// that is no error: so products of matrices are followed by rows and columns, and ballots count
// as set, like matrices of wmma, and carries. Registers are unset as a
// whole: one that is packed of parts is set if a part is. A read of which only some bytes are
// unset is a note where it happens, since compilers move the padding of structures together
// with their members; its value counts as set.
package unset

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// Name is the checker's name.
const Name = "init"

func rule(id string, level check.Level, short, full, mend string) *check.Rule {
	return &check.Rule{ID: id, Checker: Name, Level: level, Short: short, Full: full, Mend: mend, Tags: []string{"initialisation"}}
}

var (
	global = rule("uninit-global", check.Error, "A kernel reads device memory that nothing has written.",
		"Memory from cudaMalloc, or from malloc in a kernel, has no defined contents until a kernel, a copy or a memset writes it. What the kernel reads differs from run to run.",
		"Fill the memory before the launch (cudaMemset, cudaMemcpy), or let a kernel write it first.")
	shared = rule("uninit-shared", check.Error, "A kernel reads shared memory that its block has not written.",
		"Shared memory has no defined contents when a block begins. What the kernel reads is left from another block or kernel.",
		"Write the element before it is read, in this block.")
	local = rule("uninit-local", check.Error, "A kernel uses local memory that its thread has not written.",
		"A local array or variable has no defined contents when its function begins.",
		"Give the variable a value before it is read, on every path.")
	tensor = rule("uninit-tensor-memory", check.Error, "A kernel reads tensor memory that its block has not written.",
		"Columns of tensor memory have no defined contents when they have been allocated. A product whose predicate enable-input-d is true reads D, too.",
		"Let the first product of a sum not add D, or write the columns before they are read (tcgen05.st, tcgen05.cp).")
	register = rule("uninit-register", check.Error, "A kernel uses a register that its thread has not written.",
		"A register has no defined contents when its function begins: mostly it is a local variable without a value.",
		"Give the variable a value before it is read, on every path.")
	copied = rule("uninit-copy", check.Warning, "The host copies device memory that nothing has written.",
		"The bytes that are copied have no defined contents.",
		"Copy only what was written, or fill the memory first (cudaMemset).")
)

// Rules returns the rules of the checker.
func Rules() []*check.Rule { return []*check.Rule{global, shared, local, tensor, register, copied} }

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
	atReads bool
	memory  shadow            // global
	heap    map[uint64]uint64 // bytes of the blocks of the device heap, by address
	kept    kept
	blocks  map[int64]*mapped // memory without an address of its own
	plans   map[*isa.Inst]*plan
	by      map[findKey]*check.Finding
	all     []*check.Finding
}

// New makes a checker. If atReads is set it reports reads themselves, not what is done with
// what was read.
func New(atReads bool) check.Checker {
	return &Checker{atReads: atReads, memory: shadow{}, heap: map[uint64]uint64{}, kept: kept{known: map[findKey]uint32{}, at: map[uint64]uint32{}}, blocks: map[int64]*mapped{}, plans: map[*isa.Inst]*plan{}, by: map[findKey]*check.Finding{}}
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
		if !e.Part || !c.twice(e.Addr, e.Bytes) {
			c.memory.mark(e.Addr, e.Bytes, !e.Set)
			c.kept.begins(e.Addr, e.Bytes, !e.Set && !e.Shared)
		}
	case check.HostFree:
		c.set(e.Addr, e.Bytes)
	case check.HostResize:
		if e.Bytes > e.Old && !c.twice(e.Addr, e.Bytes) {
			c.memory.mark(e.Addr+e.Old, e.Bytes-e.Old, true)
			c.kept.begins(e.Addr+e.Old, e.Bytes-e.Old, true)
		}
	case check.HostCreate:
		c.blocks[e.Block] = &mapped{bytes: e.Bytes}
	case check.HostMap:
		c.mapTo(e)
	case check.HostUnmap:
		c.unmap(e)
	case check.HostDestroy:
		delete(c.blocks, e.Block)
	case check.HostReset:
		c.memory.forget(e.Addr, e.Bytes)
		c.kept.ends(e.Addr, e.Bytes)
		c.reset(e)
	case check.HostSet, check.HostWrite:
		c.memory.mark(e.Addr, e.Bytes, false)
	case check.HostRead:
		n := c.memory.unset(e.Addr, e.Bytes)
		if n > 0 && len(c.kept.at) > 0 {
			n -= c.copiedOut(e)
		}
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
		f.Steps = []check.Step{hostStep(e, fmt.Sprintf("%s reads %d bytes, of which %d were never written", e.Call, e.Bytes, n))}
		f.Details[check.Address] = fmt.Sprintf("%#x", e.Addr)
	}
}

// launch is a launch, and its probe.
type launch struct {
	c      *Checker
	number int
	kernel string
	plan   *plan
	text   func(site int) string
	free   []*block
	peers  check.Peers[block]
}

// Launch is as in check.Checker.
func (c *Checker) Launch(l *check.Launch) exec.Probe { return &launch{c: c, number: l.Number} }

// Follows is as in exec.Follower.
func (l *launch) Follows() bool { return true }

// OfMachineCode is as in exec.MachineProbe.
func (l *launch) OfMachineCode() exec.Probe { return l }

// Begin is as in exec.Probe.
func (l *launch) Begin(x *exec.Launch, code []*isa.Inst, _ func(int) exec.Where, text func(int) string) {
	if x.Kernel != nil {
		l.kernel = x.Kernel.Name()
	}
	l.text = text
	l.peers.Begin(x)
	if len(code) == 0 {
		l.plan = newPlan(code)
		return
	}
	if l.plan = l.c.plans[code[0]]; l.plan == nil || len(l.plan.code) != len(code) {
		l.plan = newPlan(code)
		l.c.plans[code[0]] = l.plan
	}
}

// Block is as in exec.Probe.
func (l *launch) Block(p exec.ProbedBlock) exec.BlockProbe {
	var b *block
	if n := len(l.free); n > 0 {
		b, l.free = l.free[n-1], l.free[:n-1]
	} else {
		b = &block{launch: l, known: map[recordKey]uint32{}, moved: map[word4]uint32{}}
	}
	b.start(p)
	l.peers.Add(p.Linear(), b)
	return b
}
