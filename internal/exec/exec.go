// Package exec holds what all functional executors share: launches, the ways in which
// a run can fail, and running a grid's blocks on several goroutines with results that
// do not depend on their number.
//
// What an instruction does is defined in exec/ptx and its siblings for other
// instruction sets; when it happens is defined by the timing models.
package exec

import (
	"errors"
	"fmt"
	"strings"

	"github.com/heddle-sim/heddle/internal/exec/device"
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
	Function string // the executing function, if not the kernel itself
	Block    Dim3
	Thread   Dim3
	PC       int    // instruction index in its function
	Inst     string // the instruction as the program writes it
	File     string // program text
	Pos      isa.Pos
	SrcFile  string // source file and line from debug information, if any
	SrcLine  int
	Inlined  string // file and line where the outermost function of that line was inlined, "" if it was not
	// Near is the file and line of an instruction before it, if the compiler has made the instruction
	// of several lines and gives it none: its file is the same.
	Near string
}

func (w Where) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "kernel %s", plain.Instance(w.Kernel))
	if w.Function != "" && w.Function != w.Kernel {
		fmt.Fprintf(&b, " in function %s", plain.Instance(w.Function))
	}
	fmt.Fprintf(&b, ", block %v, thread %v, pc %d: %s\n  at %s", w.Block, w.Thread, w.PC, w.Inst, w.File)
	if w.Pos.Line > 0 { // a text, no machine code
		fmt.Fprintf(&b, ":%d", w.Pos.Line)
	}
	if w.SrcLine > 0 {
		fmt.Fprintf(&b, " (source %s:%d", w.SrcFile, w.SrcLine)
		if w.Inlined != "" {
			fmt.Fprintf(&b, ", inlined at %s", w.Inlined)
		}
		b.WriteString(")")
	}
	return b.String()
}

// Fault is an illegal action of an instruction: an access outside every allocation, a
// misaligned one, trap, a failed assertion, a stack overflow.
type Fault struct {
	Where Where
	Kind  FaultKind
	What  string // "out-of-bounds read of 4 bytes at 0x… …"
	// Access is the access that was illegal, nil if it was something else. Its Space is set
	// for shared and local memory.
	Access *device.Fault
}

// FaultKind classifies a Fault.
type FaultKind uint8

// The kinds of fault.
const (
	IllegalInst   FaultKind = iota // an instruction with invalid operands
	BadAddress                     // an access to memory that may not be accessed
	Misaligned                     // an address that is not a multiple of the access size
	Assertion                      // assert in device code
	Trap                           // the program aborted itself
	BadFree                        // free of what is no block of the device heap
	DoubleFree                     // free of a block that is free
	BadBarrier                     // an operation that the state of an mbarrier does not allow
	BadCall                        // a call or jump to where there is no such function
	StackOverflow                  // calls nested deeper than a thread's stack allows
)

func (f *Fault) Error() string { return f.What + "\n  " + f.Where.String() }

// WarningKind classifies a Warning.
type WarningKind uint8

// The kinds of warning.
const (
	StrayRead  WarningKind = iota // a read outside of every allocation, but near one
	StrayWrite                    // such a write
	SyncMask                      // a member mask without the executing thread
	AbsentLane                    // a register was read from a lane that does not take part
	leftObject                    // for Launch.Outside
)

// Warning is an error of the program that a GPU tolerates: the run goes on.
type Warning struct {
	Fault
	Kind WarningKind
}

// Line identifies the program line and kind of a warning, so that each is reported
// once. Several lines of PTX may come from one source line, which counts if known. Machine code
// without source lines has instructions only.
func (w *Warning) Line() string {
	at := &w.Where
	line, pc := at.Pos.Line, 0
	switch {
	case at.SrcLine > 0:
		line = 0
	case line == 0:
		pc = at.PC
	}
	return fmt.Sprintln(w.Kind, at.Kernel, at.File, line, pc, at.SrcFile, at.SrcLine, at.Inlined)
}

// OncePerLine returns a function that calls tell with the first warning of each Line;
// nil if tell is.
func OncePerLine(tell func(*Warning)) func(*Warning) {
	if tell == nil {
		return nil
	}
	said := map[string]bool{}
	return func(w *Warning) {
		if line := w.Line(); !said[line] {
			said[line] = true
			tell(w)
		}
	}
}

// LimitError ends a run that has reached a limit.
type LimitError struct {
	Limit uint64 // in units of What
	What  string // "" means warp instructions; otherwise "cycles" and the like
	Where Where  // the place of one warp, if known
}

// Reached describes the limit.
func (e *LimitError) Reached() string {
	what := e.What
	if what == "" {
		what = "warp instructions"
	}
	return fmt.Sprintf("stopped after %d %s: limit reached", e.Limit, what)
}

func (e *LimitError) Error() string {
	if e.Where.Kernel == "" {
		return e.Reached()
	}
	return fmt.Sprintf("%s\n  %s", e.Reached(), e.Where)
}

// NameLimit returns the message of an error. For a limit on instructions or cycles, it
// appends the name of the option that sets it.
func NameLimit(err error, name string) string {
	var e *LimitError
	if !errors.As(err, &e) || e.What != "" && e.What != "cycles" {
		return err.Error()
	}
	return strings.Replace(err.Error(), e.Reached(), e.Reached()+" ("+name+")", 1)
}

// StuckError ends a run in which no warp can continue: barriers and waits can never be
// satisfied.
type StuckError struct {
	Kernel string
	Block  Dim3
	Waits  []string // what each warp waits for
	// Standstill is the same as data; nil in a functional run.
	Standstill *Standstill
	// Loops are the places of warps that repeat the same instructions for ever, in a functional
	// run; Ended is how many of Total blocks have ended.
	Loops        []Where
	Ended, Total uint64
}

func (e *StuckError) Error() string {
	return fmt.Sprintf("no forward progress in kernel %s, block %v:\n  %s", plain.Instance(e.Kernel), e.Block, strings.Join(e.Waits, "\n  "))
}

// LaunchError is a launch that the kernel or the machine does not support: too many
// threads, wrong parameters, unsupported instructions.
type LaunchError struct {
	Kernel string
	Msg    string
	// NotResident marks a cooperative launch with more blocks than can be resident at a
	// time.
	NotResident bool
}

func (e *LaunchError) Error() string {
	return fmt.Sprintf("cannot launch kernel %s: %s", plain.Instance(e.Kernel), e.Msg)
}
