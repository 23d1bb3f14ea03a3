package unset

import (
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/plain"
)

// This file: what is found, and where values came from.

// record is a read that found nothing set, by lanes of a warp: of memory, or of a register.
type record struct {
	rule  *check.Rule
	site  int
	step  check.Step // without text
	space isa.Space
	bytes int
	addr  [32]uint64 // where each lane last read
}

// moved marks the number of a record whose value went through memory: another thread may
// have read it.
const moved = 1 << 31

// recordKey tells records apart.
type recordKey struct {
	warp, site int
	rule       *check.Rule
}

// use is how a value is used.
type use int

const (
	usedStored use = iota
	usedAddress
	usedBranch
	usedTarget
	usedAccess
	usedAtomic
	usedRead // read, if that alone counts
)

var uses = [...]string{
	usedStored:  "stored",
	usedAddress: "used as an address",
	usedBranch:  "decides a branch",
	usedTarget:  "selects where a branch goes",
	usedAccess:  "decides whether memory is accessed",
	usedAtomic:  "operand of an atomic operation",
	usedRead:    "read",
}

// record returns the number of the record of a read by the running instruction, and the record.
func (b *block) record(warp, site int, rule *check.Rule, lane int) (uint32, *record) {
	k := recordKey{warp, site, rule}
	n, ok := b.known[k]
	if !ok {
		n = uint32(len(b.records))
		b.known[k] = n
		b.records = append(b.records, record{rule: rule, site: site, step: b.step(warp, lane)})
	}
	return n, &b.records[n]
}

// traced returns the number of the record of an unset register that lanes m read: this
// instruction is the one that reads it if nothing has written it.
func (b *block) traced(warp, site int, r *reg, m uint32) uint32 {
	if r.from != 0 {
		return r.from
	}
	n, _ := b.record(warp, site, register, bits.TrailingZeros32(m)&31)
	return n
}

// step is where a lane of a warp is.
func (b *block) step(warp, lane int) check.Step {
	s := check.Step{Role: check.First, Place: check.PlaceOf(b.probed.Where(warp, lane))}
	for _, c := range b.probed.Chain(warp) {
		s.Chain = append(s.Chain, check.PlaceOf(c))
	}
	return s
}

// use reports that lanes m use a value that is unset, which then counts as set.
func (b *block) use(warp, site int, r *reg, m uint32, how use) {
	n := b.traced(warp, site, r, m)
	r.lanes &^= m
	x := &b.records[n&^moved]
	f := b.c.count(findKey{rule: x.rule, kernel: b.kernel, site: x.site, complete: true}, uint64(bits.OnesCount32(m)))
	if f == nil {
		return
	}
	lane := bits.TrailingZeros32(m) & 31
	w := b.probed.Where(warp, lane)
	by, first := fmt.Sprintf(" by thread %v of block %v", w.Thread, w.Block), x.step
	switch {
	case x.rule == register:
		first.Text = "read" + by + ": " + b.text(x.site)
	case n&moved != 0:
		first.Text = fmt.Sprintf("read of %d bytes", x.bytes)
	default:
		first.Text = fmt.Sprintf("read of %d bytes", x.bytes) + by
	}
	f.Steps, f.Kernel, f.Launch = []check.Step{first}, plain.Instance(b.kernel), b.number
	if how != usedRead {
		other := b.step(warp, lane)
		other.Role, other.Text = check.Other, uses[how]+by
		f.Steps = append(f.Steps, other)
	}
	if x.rule != register {
		f.Details[check.Address], f.Details[check.Bytes], f.Details[check.Space] = fmt.Sprintf("%#x", x.addr[lane]), fmt.Sprint(x.bytes), x.space.String()
	}
	f.Details[check.Thread], f.Details[check.Block] = w.Thread.String(), w.Block.String()
}

// atRead reports reads of unset bytes by some lanes, where they are read.
func (b *block) atRead(a *exec.Access, lanes uint32, complete bool) {
	k := findKey{rule: ruleOf(a.Space), kernel: b.kernel, site: a.Site, complete: complete}
	f := b.c.count(k, uint64(bits.OnesCount32(lanes)))
	if f == nil {
		return
	}
	lane := bits.TrailingZeros32(lanes) & 31
	w := b.probed.Where(a.Warp, lane)
	s := b.step(a.Warp, lane)
	s.Text = fmt.Sprintf("read of %d bytes by thread %v of block %v", a.Bytes, w.Thread, w.Block)
	if !complete {
		f.Level = check.Note
		f.Message += " Only some of the bytes are unset: they may be padding."
	}
	f.Steps, f.Kernel, f.Launch = []check.Step{s}, plain.Instance(b.kernel), b.number
	f.Details[check.Address], f.Details[check.Bytes], f.Details[check.Space] = fmt.Sprintf("%#x", a.Addr[lane]), fmt.Sprint(a.Bytes), a.Space.String()
	f.Details[check.Thread], f.Details[check.Block] = w.Thread.String(), w.Block.String()
}

// ruleOf is the rule about reads of a space.
func ruleOf(s isa.Space) *check.Rule {
	switch s {
	case isa.Shared:
		return shared
	case isa.Local:
		return local
	}
	return global
}
