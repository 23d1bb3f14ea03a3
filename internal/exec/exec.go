// Package exec holds what all functional executors share: launches, the ways a
// run can end badly, and the running of a grid's blocks on several goroutines
// with one result for every number of them.
//
// What an instruction does is not here but in exec/ptx (and its siblings for
// other instruction sets); when it happens is for the timing models.
package exec

import (
	"errors"
	"fmt"
	"strings"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/plain"
)

// Dim3 is an extent or an index in blocks or threads: X varies fastest.
type Dim3 struct{ X, Y, Z uint32 }

// Count returns X·Y·Z.
func (d Dim3) Count() uint64 { return uint64(d.X) * uint64(d.Y) * uint64(d.Z) }

// At returns the index of the n-th element in X-fastest order.
func (d Dim3) At(n uint64) Dim3 {
	x, y := uint64(d.X), uint64(d.Y)
	return Dim3{uint32(n % x), uint32(n / x % y), uint32(n / (x * y))}
}

func (d Dim3) String() string { return fmt.Sprintf("(%d,%d,%d)", d.X, d.Y, d.Z) }

// Where is the place of an instruction in a run.
type Where struct {
	Kernel   string
	Function string // the function executing, if not the kernel itself
	Block    Dim3
	Thread   Dim3
	PC       int    // instruction index in its function
	Inst     string // the instruction as the program writes it
	File     string // program text
	Pos      isa.Pos
	SrcFile  string // source file and line from debug information, if any
	SrcLine  int
	Inlined  string // file and line where the outermost function of that line was inlined, "" if it was not
}

func (w Where) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "kernel %s", plain.Instance(w.Kernel))
	if w.Function != "" && w.Function != w.Kernel {
		fmt.Fprintf(&b, " in function %s", plain.Instance(w.Function))
	}
	fmt.Fprintf(&b, ", block %v, thread %v, pc %d: %s\n  at %s:%d", w.Block, w.Thread, w.PC, w.Inst, w.File, w.Pos.Line)
	if w.SrcLine > 0 {
		fmt.Fprintf(&b, " (source %s:%d", w.SrcFile, w.SrcLine)
		if w.Inlined != "" {
			fmt.Fprintf(&b, ", inlined at %s", w.Inlined)
		}
		b.WriteString(")")
	}
	return b.String()
}

// Fault is an instruction that did something illegal: an access outside every
// allocation, a misaligned one, trap, a failed assertion, a stack overflow.
type Fault struct {
	Where Where
	Kind  FaultKind
	What  string // "out-of-bounds read of 4 bytes at 0x… …"
}

// FaultKind says what sort of thing a Fault is.
type FaultKind uint8

// The kinds of fault.
const (
	IllegalInst FaultKind = iota // an instruction that cannot do what it is asked for
	BadAddress                   // an access to memory that may not be accessed
	Misaligned                   // an address that is no multiple of the access size
	Assertion                    // assert in device code
	Trap                         // the program aborted itself
)

func (f *Fault) Error() string { return f.What + "\n  " + f.Where.String() }

// WarningKind says what a Warning is about.
type WarningKind uint8

// The kinds of warning.
const (
	StrayRead  WarningKind = iota // a read outside of every allocation, but near one
	StrayWrite                    // such a write
	SyncMask                      // a member mask that lacks the thread that has it
	AbsentLane                    // a register was read of a lane that takes no part
)

// Warning is something that is wrong and that a GPU lets pass: the run goes on.
type Warning struct {
	Fault
	Kind WarningKind
}

// Line names the line of the program that a warning is about, and its kind, so
// that each needs to be said once. Several lines of PTX may come of one of the
// source, which counts where it is known.
func (w *Warning) Line() string {
	at := &w.Where
	line := at.Pos.Line
	if at.SrcLine > 0 {
		line = 0
	}
	return fmt.Sprintln(w.Kind, at.Kernel, at.File, line, at.SrcFile, at.SrcLine, at.Inlined)
}

// LimitError ends a run that reached a limit.
type LimitError struct {
	Limit uint64 // so many of What
	What  string // "" is warp instructions; else "cycles" and the like
	Where Where  // where one warp stood, if that is known
}

// Reached says which limit it was.
func (e *LimitError) Reached() string {
	what := e.What
	if what == "" {
		what = "warp instructions"
	}
	return fmt.Sprintf("stopped after %d %s, the limit", e.Limit, what)
}

func (e *LimitError) Error() string {
	if e.Where.Kernel == "" {
		return e.Reached()
	}
	return fmt.Sprintf("%s\n  %s", e.Reached(), e.Where)
}

// NameLimit returns the message of an error. Where that is a limit on instructions
// or cycles, the name by which the user can set it follows it.
func NameLimit(err error, name string) string {
	var e *LimitError
	if !errors.As(err, &e) || e.What != "" && e.What != "cycles" {
		return err.Error()
	}
	return strings.Replace(err.Error(), e.Reached(), e.Reached()+" ("+name+")", 1)
}

// StuckError ends a run in which no warp can go on: barriers and waits that
// can never be satisfied.
type StuckError struct {
	Kernel string
	Block  Dim3
	Waits  []string // what each warp waits for
}

func (e *StuckError) Error() string {
	return fmt.Sprintf("no forward progress in kernel %s, block %v:\n  %s", plain.Instance(e.Kernel), e.Block, strings.Join(e.Waits, "\n  "))
}

// LaunchError is a launch that the kernel or the machine cannot take: too many
// threads, wrong parameters, a kernel with unsupported instructions.
type LaunchError struct {
	Kernel string
	Msg    string
	// NotResident says that it is a cooperative launch of more blocks than can be
	// resident at a time.
	NotResident bool
}

func (e *LaunchError) Error() string {
	return fmt.Sprintf("cannot launch kernel %s: %s", plain.Instance(e.Kernel), e.Msg)
}
