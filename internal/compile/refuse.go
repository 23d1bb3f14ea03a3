package compile

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// Refusal is a kernel that cannot be compiled, and why.
type Refusal struct {
	Kernel string
	File   string
	Pos    ptx.Pos // of the instruction or the declaration that is the reason; line 0 if it is none
	What   string  // the reason in short, equal for equal reasons: an opcode with its modifiers
	Why    string  // the rest of the sentence
}

func (e *Refusal) Error() string {
	at := e.File
	if e.Pos.Line > 0 {
		at = fmt.Sprintf("%s:%d:%d", e.File, e.Pos.Line, e.Pos.Col)
	}
	return fmt.Sprintf("%s: kernel %s: %s %s", at, e.Kernel, e.What, e.Why)
}

// refuse ends the compilation of a kernel from anywhere in a pass.
type refuse struct{ what, why string }

// notYet refuses what the compiler does not know.
const notYet = "cannot be compiled yet"

// stop refuses the kernel.
func stop(what, why string) { panic(&refuse{what, why}) }
