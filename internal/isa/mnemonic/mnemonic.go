package mnemonic

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/near"
)

// Info is what is known from a mnemonic.
type Info struct {
	// Inst has all but PC, registers, targets and control bits.
	Inst isa.Inst
	// Base is the mnemonic without its modifiers, Mods are the modifiers.
	Base string
	Mods []string
	// As is the opcode whose description the rules assign to it, "" if it has its own.
	As string
	// Depbar reports whether it waits for dependence counters.
	Depbar bool
	// Writes and Reads are its predicates.
	Writes, Reads Predicates

	row *row
}

// Predicates describes an instruction's predicates besides its guard.
type Predicates struct {
	// Lane and Uniform say whether it has a lane predicate or a uniform predicate, surely or
	// perhaps; All that it has all lane predicates.
	Lane, Uniform         bool
	MayLane, MayUniform   bool
	All                   bool
	Carry, UniformByCarry bool
}

// Any reports whether there may be a lane predicate.
func (p Predicates) Any() bool { return p.Lane || p.MayLane || p.All }

// Rules classify names that no table has.
type Rules struct {
	// Unknown is the opcode, or the kind of opcodes (see Kinds), whose description they
	// get; "" is "int".
	Unknown string
	// Named does so for individual names.
	Named map[string]string
}

// kinds are the names for typical opcodes.
var kinds = map[string]string{
	"int": "IADD3", "fp32": "FADD", "fp64": "DADD", "half": "HADD2", "imad": "IMAD", "sfu": "MUFU", "tensor": "HMMA", "uniform": "UIADD3",
	"branch": "BRA", "nop": "NOP", "load": "LDG", "store": "STG", "atomic": "ATOMG", "shared-load": "LDS", "shared-store": "STS",
	"constant": "LDC", "texture": "TEX", "barrier": "BAR", "fence": "MEMBAR",
}

// Kinds lists the names of kinds that rules accept, in order.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }

// Count is the number of uses of a name that no table has.
type Count struct {
	Op string // without modifiers
	As string // the opcode used instead
	N  uint64 // uses counted by Note
}

// Table describes mnemonics for one architecture.
type Table struct {
	arch    int
	rules   Rules
	infos   map[string]*Info
	unknown map[string]*Count
}

// New returns a table for a binary version (75 for sm_75; 0 is the newest). It is an error
// if Rules name an unknown opcode.
func New(arch int, r Rules) (*Table, error) {
	t := &Table{arch: arch, infos: map[string]*Info{}, unknown: map[string]*Count{}}
	t.rules.Named = map[string]string{}
	if r.Unknown == "" {
		r.Unknown = "int"
	}
	var err error
	if t.rules.Unknown, err = opcode(r.Unknown); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(r.Named)) {
		as, err := opcode(r.Named[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		t.rules.Named[strings.ToUpper(name)] = as
	}
	return t, nil
}

// opcode resolves what a rule names.
func opcode(name string) (string, error) {
	if op, ok := kinds[strings.ToLower(name)]; ok {
		return op, nil
	}
	up := strings.ToUpper(name)
	if byName[up] != nil {
		return up, nil
	}
	hint := near.Name(name, append(Kinds(), slices.Sorted(maps.Keys(byName))...))
	if hint != "" {
		hint = fmt.Sprintf("; did you mean %q?", hint)
	}
	return "", fmt.Errorf("cannot treat unknown mnemonics like %q: want an opcode or a kind of opcodes (%s)%s", name, strings.Join(Kinds(), ", "), hint)
}

// Known reports whether the tables have an opcode, given without modifiers.
func Known(base string) bool { return byName[base] != nil }

// Lookup describes a mnemonic with its modifiers. The result is shared and must not be
// changed.
func (t *Table) Lookup(op string) *Info {
	if i := t.infos[op]; i != nil {
		return i
	}
	i := t.describe(op)
	t.infos[op] = i
	return i
}

// Note counts n more uses of a mnemonic if no table has it.
func (t *Table) Note(op string, n uint64) {
	if i := t.Lookup(op); i.As != "" {
		c := t.unknown[i.Base]
		if c == nil {
			c = &Count{Op: i.Base, As: i.As}
			t.unknown[i.Base] = c
		}
		c.N += n
	}
}

// Unknown lists the names counted by Note that no table has, the most frequent first.
func (t *Table) Unknown() []Count {
	var list []Count
	for _, c := range t.unknown {
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b Count) int {
		if a.N != b.N {
			if a.N > b.N {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Op, b.Op)
	})
	return list
}

func (t *Table) describe(op string) *Info {
	words := strings.Split(op, ".")
	i := &Info{Base: words[0], Mods: words[1:]}
	name := i.Base
	r := byName[name]
	if as, ok := t.rules.Named[name]; ok && r == nil {
		name, i.As = as, as
	} else if r == nil {
		name, i.As = t.rules.Unknown, t.rules.Unknown
	}
	r = byName[name]
	i.row = r
	o := &i.Inst
	*o = isa.Inst{Op: op, Class: r.class, Unit: r.unit, Kind: r.kind, Data: r.data, Flow: r.flow, Space: r.space,
		Load: r.does&loads != 0, Store: r.does&stores != 0, Atomic: r.does&atomic != 0, Private: true}
	if o.Pipe = pipeOf(name, t.arch); o.Pipe == isa.PipeNone {
		o.Pipe = anyPipe(name)
	}
	o.Quick = halved(name)
	i.Depbar = r.does&depbar != 0
	switch i.Base {
	case "LDGSTS":
		o.Async = isa.Async{Does: isa.AsyncStart, Done: isa.ByGroup}
	case "LDGDEPBAR":
		o.Async = isa.Async{Does: isa.AsyncCommit, Done: isa.ByGroup}
	case "DEPBAR": // of any form (Accel-Sim)
		o.Async = isa.Async{Does: isa.AsyncWait, Done: isa.ByGroup}
	}
	o.Barrier = r.does&waits != 0 && !i.has("ARV") && !strings.HasSuffix(name, "_ARV")
	i.Writes, i.Reads = predicates(r, r.out, i), predicates(r, r.in, i)
	switch {
	case name == "F2F" && (i.has("F64")) || (name == "F2I" || name == "I2F" || name == "FRND") && t.arch != 0 && t.arch < 70 && i.has("F64"):
		o.Class, o.Unit, o.Data = isa.ClassFP64, isa.UnitFP64, isa.DataDouble
	case name == "HFMA2" && i.has("MMA"):
		o.Unit = isa.UnitFP16
	}
	if t.arch >= 100 && o.Atomic && o.Space == isa.Generic && strings.HasPrefix(name, "ATOMG") {
		o.Space = isa.Global
	}
	if o.Load || o.Store {
		i.memory()
	}
	if r.dst == matC {
		i.shape()
	}
	return i
}

// anyPipe is the class of an opcode that the map of its architecture lacks, taken from
// another generation.
func anyPipe(name string) isa.Pipe {
	for _, m := range []pipeMap{pipes.ampere, pipes.turing, pipes.volta, pipes.pascal, pipes.kepler} {
		if p := m[name]; p != isa.PipeNone {
			return p
		}
	}
	return isa.PipeALU
}

// predicates expands a row's columns for an instruction with modifiers.
func predicates(r *row, p preds, i *Info) Predicates {
	q := Predicates{Lane: p&perPred != 0, Uniform: p&uniPred != 0, MayLane: p&mayPred != 0, MayUniform: p&mayUni != 0, All: p&allPreds != 0}
	if p&carry != 0 && (i.has("X") || i.has("EX")) {
		q.Carry = true
		if r.does&uniform != 0 {
			q.Uniform, q.UniformByCarry = true, true
		} else {
			q.Lane = true
		}
	}
	return q
}

// has reports whether mods contains a modifier.
func (i *Info) has(m string) bool { return slices.Contains(i.Mods, m) }

// Has reports whether the mnemonic has a modifier.
func (i *Info) Has(m string) bool { return i.has(m) }
