package exec

import (
	"slices"

	"github.com/heddle-sim/heddle/internal/isa"
)

// Warner is what a machine does about errors that a GPU tolerates. Each instruction is
// reported once for each kind, in the order in which blocks end, and the run continues.
type Warner struct {
	lenient bool
	tell    func(*Warning)
	told    []warned // not written while instructions are executed
}

// warned is a warning about an instruction.
type warned struct {
	at *isa.Inst
	Warning
}

// Warn registers the function that is called for warnings.
func (m *Warner) Warn(tell func(*Warning)) { m.tell = tell }

// Warns reports whether there is one.
func (m *Warner) Warns() bool { return m.tell != nil }

// TolerateStrays lets reads and writes outside every allocation, but near a live one,
// reach the memory that a GPU has there (device.View.Stray). Every other illegal access
// remains a fault.
func (m *Warner) TolerateStrays() { m.lenient = true }

// WidestStray bounds a tolerated access, in bytes: loads and stores are no larger;
// larger accesses are bulk copies, whose bounds are explicit.
const WidestStray = 32

// Tolerates reports whether an access of some bytes is tolerated.
func (m *Warner) Tolerates(size int) bool { return m.lenient && size <= WidestStray }

// Warnings are those of a block, which are reported when it ends.
type Warnings struct{ list []warned }

// Add records a warning about an instruction, unless it is known. what is called only if it is
// not.
func (b *Warnings) Add(m *Warner, at *isa.Inst, kind WarningKind, what func() Fault) {
	same := func(x warned) bool { return x.at == at && x.Kind == kind }
	if m.tell == nil && kind != leftObject || slices.ContainsFunc(m.told, same) || slices.ContainsFunc(b.list, same) {
		return
	}
	b.list = append(b.list, warned{at, Warning{Kind: kind, Fault: what()}})
}

// Reset forgets the warnings.
func (b *Warnings) Reset() { b.list = b.list[:0] }

// Tell reports the warnings that no earlier block has reported; outside is as in Launch.
func (b *Warnings) Tell(m *Warner, outside func(*Fault)) {
	for _, x := range b.list {
		if !slices.ContainsFunc(m.told, func(y warned) bool { return y.at == x.at && y.Kind == x.Kind }) {
			m.told = append(m.told, warned{x.at, Warning{Kind: x.Kind}})
			if x.Kind == leftObject {
				outside(&x.Fault)
			} else {
				m.tell(&x.Warning)
			}
		}
	}
	b.Reset()
}
