package sass

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/isa"
)

// Places of the control bits (checked against recorded words and listings).
var (
	stallSpan = span{{108, 105}}
	writeSpan = span{{112, 110}}
	readSpan  = span{{115, 113}}
	waitSpan  = span{{121, 116}}
)

// noYield is clear if the warp must not issue in the next cycle.
const noYield = 109

// decodeControl reads the control bits except reuse, which belongs to the operands.
func decodeControl(w word128) (isa.Control, error) {
	c := isa.Control{
		Stall: uint8(stallSpan.get(w)), Yield: w.bit(noYield) == 0,
		Write: uint8(writeSpan.get(w)), Read: uint8(readSpan.get(w)), Wait: uint8(waitSpan.get(w)),
	}
	if c.Write == 6 || c.Read == 6 {
		return c, fmt.Errorf("dependence counter 6 does not exist")
	}
	return c, nil
}

// encodeControl writes the control bits.
func encodeControl(w *word128, c isa.Control) {
	stallSpan.set(w, uint64(c.Stall))
	v := uint64(1)
	if c.Yield {
		v = 0
	}
	w.setBit(noYield, v)
	writeSpan.set(w, uint64(c.Write))
	readSpan.set(w, uint64(c.Read))
	waitSpan.set(w, uint64(c.Wait))
}
