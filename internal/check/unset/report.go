package unset

import (
	"fmt"
	"maps"
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
	// source is the number of the value's source in Checker.kept, 0 if it has none, and first the
	// text of its step, if it came through global memory.
	source uint32
	first  string
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
	usedVote
	usedRead // read, if that alone counts
)

var uses = [...]string{
	usedStored:  "stored",
	usedAddress: "used as an address",
	usedBranch:  "decides a branch",
	usedTarget:  "selects where a branch goes",
	usedAccess:  "decides whether memory is accessed",
	usedAtomic:  "operand of an atomic operation",
	usedVote:    "operand of a vote or of a reduction of threads",
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
	kernel := b.kernel
	if x.source != 0 && x.first != "" {
		kernel = b.c.kept.sources[x.source-1].kernel
	}
	b.warpOf = warp
	f := b.c.count(findKey{rule: x.rule, kernel: kernel, site: x.site, complete: true}, uint64(bits.OnesCount32(m)))
	if f == nil {
		return
	}
	if x.source != 0 && x.first != "" {
		b.c.kept.sources[x.source-1].fill(f)
	} else {
		first := x.step
		first.Text = b.firstText(x, n, m)
		f.Steps, f.Kernel, f.Launch = []check.Step{first}, instance(b.kernel), b.number
		maps.Copy(f.Details, b.details(x, m))
	}
	if how != usedRead {
		lane := bits.TrailingZeros32(m) & 31
		w := b.probed.Where(warp, lane)
		other := b.step(warp, lane)
		other.Role, other.Text = check.Other, fmt.Sprintf("%s by thread %v of block %v", uses[how], w.Thread, w.Block)
		f.Steps = append(f.Steps, other)
	}
}

// firstText says what happened where a value was read, which lanes m of the running instruction
// have now; n is the number of its record.
func (b *block) firstText(x *record, n, m uint32) string {
	w := b.probed.Where(b.warpOf, bits.TrailingZeros32(m)&31)
	by := fmt.Sprintf(" by thread %v of block %v", w.Thread, w.Block)
	switch {
	case x.rule == register:
		return "read" + by + ": " + b.text(x.site)
	case n&moved != 0:
		return fmt.Sprintf("read of %d bytes", x.bytes)
	}
	return fmt.Sprintf("read of %d bytes", x.bytes) + by
}

// details are those of a finding about a value that lanes m have.
func (b *block) details(x *record, m uint32) map[string]string {
	lane := bits.TrailingZeros32(m) & 31
	w := b.probed.Where(b.warpOf, lane)
	d := map[string]string{check.Thread: w.Thread.String(), check.Block: w.Block.String()}
	if x.rule != register {
		d[check.Address], d[check.Bytes], d[check.Space] = fmt.Sprintf("%#x", x.addr[lane]), fmt.Sprint(x.bytes), x.space.String()
	}
	return d
}

// instance is the name of a kernel for findings.
func instance(kernel string) string { return plain.Instance(kernel) }

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
	f.Steps, f.Kernel, f.Launch = []check.Step{s}, instance(b.kernel), b.number
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
	case isa.TensorMem:
		return tensor
	}
	return global
}
