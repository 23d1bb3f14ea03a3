package unset

import (
	"strings"

	"github.com/heddle-sim/heddle/internal/isa"
)

// does is what an instruction does with unset values.
type does uint8

const (
	passes   does = iota // its results are unset if a source is
	settles              // its results count as set
	packs                // its results are unset if all sources are
	ands                 // a source that is zero settles its result
	ors                  // a predicate that is true does
	selects              // selp: each lane takes one of two sources
	loads                // its results are what it reads
	stores               // writes its sources to memory
	atomics              // reads and writes memory: its sources are used
	swaps                // atom.exch: an atomic whose result is what it reads
	branches             // decides where to go
	votes                // its sources decide what all threads get
	matrices             // ldmatrix: lanes read rows for others
	products             // mma: a matrix product
)

// op is an instruction as the checker needs it: regs[from:mid] are the registers that it reads,
// regs[mid:to] those that it writes.
type op struct {
	from, mid, to uint32
	does          does
	uniform       bool // what it writes is one value for all lanes
}

// plan is the code of a launch.
type plan struct {
	code  []*isa.Inst
	ops   []op
	regs  []uint32
	first [isa.RegUPred + 1]uint32 // by file: register r of it is number first+r
	preds uint32                   // predicates have numbers from here on
	fresh []reg                    // the registers of a frame that has written nothing
}

// reg is the state of a register: in which lanes it is unset, and where the first of them
// got it. That is an index of block.records; 0: nothing has written the register.
type reg struct{ lanes, from uint32 }

// newPlan makes the plan of a code.
func newPlan(code []*isa.Inst) *plan {
	p := &plan{code: code, ops: make([]op, len(code))}
	if isMachine(code) {
		p.code = make([]*isa.Inst, len(code))
		for i, in := range code {
			p.code[i] = spread(in)
		}
	}
	var most [isa.RegUPred + 1]uint32 // registers of each file
	for _, in := range p.code {
		for _, list := range [][]isa.Reg{in.Srcs, in.Dsts} {
			for _, r := range list {
				most[r.File] = max(most[r.File], r.Index+1)
			}
		}
	}
	n := uint32(0)
	for _, file := range []isa.RegFile{isa.RegGPR, isa.RegUGPR, isa.RegPred, isa.RegUPred} {
		if file == isa.RegPred {
			p.preds = n
		}
		p.first[file] = n
		n += most[file]
	}
	for i, in := range p.code {
		o := &p.ops[i]
		o.does, o.from = doing(in), uint32(len(p.regs))
		for _, r := range in.Srcs {
			p.regs = append(p.regs, p.at(r))
		}
		o.mid = uint32(len(p.regs))
		for _, r := range in.Dsts {
			p.regs = append(p.regs, p.at(r))
			o.uniform = o.uniform || r.File == isa.RegUGPR || r.File == isa.RegUPred
		}
		o.to = uint32(len(p.regs))
	}
	p.fresh = make([]reg, n)
	for i := range p.fresh {
		p.fresh[i].lanes = ^uint32(0)
	}
	return p
}

// at is the number of a register in a frame.
func (p *plan) at(r isa.Reg) uint32 { return p.first[r.File] + r.Index }

// isPredicate reports whether a register is a predicate.
func isPredicate(r isa.Reg) bool { return r.File == isa.RegPred || r.File == isa.RegUPred }

// doing says what an instruction does.
func doing(in *isa.Inst) does {
	if machineOp(in) {
		return doingMachine(in)
	}
	name, rest, _ := strings.Cut(in.Op, ".")
	switch {
	case in.Flow != isa.FlowNext:
		return branches
	case in.Barrier && strings.Contains(rest, "red."), name == "redux", name == "vote" && !strings.Contains(rest, "ballot"):
		return votes
	case name == "ldmatrix" && strings.Contains(rest, ".m8n8."):
		return matrices
	case name == "mma" && !strings.Contains(rest, "sp") && newProduct(in).a > 0:
		return products
	case name == "tcgen05" && strings.HasPrefix(rest, "ld."):
		return loads
	case in.Unit == isa.UnitTensor, in.Async.Does != isa.NotAsync, in.Barrier:
		return settles
	case in.Atomic && strings.Contains(in.Op, ".exch"):
		return swaps
	case in.Atomic:
		return atomics
	}
	switch name {
	case "ld", "ldu":
		return loads
	case "st":
		return stores
	case "ldmatrix", "stmatrix", "movmatrix", "wmma", "vote", "elect", "mbarrier", "cp":
		return settles
	case "selp":
		if in.Then|in.Else != 0 {
			return selects
		}
	case "and":
		return ands
	case "or":
		switch rest {
		case "pred":
			return ors
		case "b64": // how clang puts two words together, of which one may have no value
			return packs
		}
	case "prmt", "bfi":
		return packs
	case "mov":
		if n := len(in.Srcs); n > 2 || n == 2 && !in.Guarded {
			return packs
		}
	case "cvt":
		if strings.Contains(rest, "x2") {
			return packs
		}
	}
	return passes
}
