package report

import (
	"fmt"
	"slices"
	"strings"
)

// RegisterEstimate shows how much depends on the estimate of a kernel's registers: the
// blocks that an SM could hold if a thread needed a quarter fewer of them, or a quarter
// more.
type RegisterEstimate struct {
	Fewer         int `json:"fewer"`
	More          int `json:"more"`
	BlocksIfFewer int `json:"blocks_per_sm_if_fewer"`
	BlocksIfMore  int `json:"blocks_per_sm_if_more"`
}

// NewRegisterEstimate returns the estimate for a number of registers; blocks returns the
// blocks per SM for a number of registers.
func NewRegisterEstimate(registers int, blocks func(registers int) int) *RegisterEstimate {
	e := &RegisterEstimate{Fewer: (3*registers + 3) / 4, More: 5 * registers / 4}
	e.BlocksIfFewer, e.BlocksIfMore = blocks(e.Fewer), blocks(e.More)
	return e
}

// estimateLine prints what the estimates of registers affect, kernel by kernel.
func (r *Run) estimateLine(b *strings.Builder) {
	var list []string
	more := 0
	for i := range r.Kernels {
		k := &r.Kernels[i]
		if k.KernelTiming == nil || k.RegisterEstimate == nil {
			continue
		}
		e := k.RegisterEstimate
		blocks := Plural(e.BlocksIfMore, "block", "blocks")
		if e.BlocksIfMore != e.BlocksIfFewer {
			blocks = fmt.Sprintf("%d to %s", e.BlocksIfFewer, blocks)
		}
		text := fmt.Sprintf("%s (%d to %d) has %s on an SM", k.Name, e.Fewer, e.More, blocks)
		switch {
		case slices.Contains(list, text):
		case len(list) == mostLines:
			more++
		default:
			list = append(list, text)
		}
	}
	if len(list) == 0 {
		return
	}
	if more > 0 {
		list = append(list, "…")
	}
	fmt.Fprintf(b, "regs are estimates; with a quarter fewer or more: %s\n", strings.Join(list, "; "))
}
