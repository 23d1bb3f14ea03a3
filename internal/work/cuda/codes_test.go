package cuda

import (
	"fmt"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
)

// TestFaultCodes: the error that a program gets depends on the kind of fault, not
// on its message.
func TestFaultCodes(t *testing.T) {
	for _, c := range []struct {
		kind exec.FaultKind
		what string
		want Error
	}{
		{exec.BadAddress, "out-of-bounds read of 4 bytes at 0x10", IllegalAddress},
		{exec.BadAddress, "misaligned in words only", IllegalAddress},
		{exec.Misaligned, "misaligned write of 8 bytes at 0x11", MisalignedAddress},
		{exec.Assertion, "assertion failed: x > 0", Assert},
		{exec.Trap, "trap: the program aborted itself", LaunchFailure},
		{exec.IllegalInst, "sparsity metadata 0x1: index 0b0000 at bit 4 selects no element of its pair", LaunchFailure},
		{exec.IllegalInst, "assertion failed at the trap", LaunchFailure},
	} {
		t.Run(c.what, func(t *testing.T) {
			err := fmt.Errorf("wrapped: %w", &exec.Fault{Kind: c.kind, What: c.what})
			if got := codeOf(err); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}
