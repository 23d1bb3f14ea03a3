package check

import (
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// Deaf is an exec.BlockProbe that does nothing. Checkers embed it for the calls that they do
// not need.
type Deaf struct{}

// The calls are as in exec.BlockProbe.
func (Deaf) Access(*exec.Access)                                 {}
func (Deaf) Arrive(int, isa.LaneMask, int, bool)                 {}
func (Deaf) Open(int)                                            {}
func (Deaf) Meet(int, isa.LaneMask)                              {}
func (Deaf) Fence(int, isa.LaneMask, isa.Order, isa.Scope)       {}
func (Deaf) Signal(*exec.Signal)                                 {}
func (Deaf) Group(int, isa.LaneMask, isa.Async)                  {}
func (Deaf) Misuse(exec.Misuse, int, isa.LaneMask, isa.LaneMask) {}
func (Deaf) Exit(int, isa.LaneMask)                              {}
func (Deaf) End()                                                {}
