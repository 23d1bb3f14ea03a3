package report

import (
	"fmt"
	"strings"
	"testing"
)

// A GPU with room for 100 registers of blocks of one thread: 20 registers give
// five blocks, 15 six, 25 four.
func TestRegisterEstimate(t *testing.T) {
	e := NewRegisterEstimate(20, func(n int) int { return 100 / n })
	if *e != (RegisterEstimate{Fewer: 15, More: 25, BlocksIfFewer: 6, BlocksIfMore: 4}) {
		t.Errorf("%+v", *e)
	}
	kernel := func(name string, e *RegisterEstimate) Kernel {
		return Kernel{Name: name, KernelTiming: &KernelTiming{RegisterEstimate: e}}
	}
	same := &RegisterEstimate{Fewer: 3, More: 5, BlocksIfFewer: 1, BlocksIfMore: 1}
	var b strings.Builder
	r := &Run{Kernels: []Kernel{kernel("a", e), kernel("said", nil), kernel("b", same), kernel("a", e), {Name: "functional"}}}
	r.estimateLine(&b)
	if got, want := b.String(), "regs are estimates; with a quarter fewer or more: a (15 to 25) has 6 to 4 blocks on an SM; b (3 to 5) has 1 block on an SM\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// Many kernels do not fill the screen.
	r = &Run{}
	for i := range 100 {
		r.Kernels = append(r.Kernels, kernel(fmt.Sprint("k", i), e))
	}
	b.Reset()
	r.estimateLine(&b)
	if got := b.String(); strings.Count(got, "blocks") != mostLines || !strings.HasSuffix(got, "; …\n") {
		t.Errorf("%q", got)
	}
	b.Reset()
	(&Run{Kernels: []Kernel{kernel("said", nil)}}).estimateLine(&b)
	if b.String() != "" {
		t.Errorf("%q of a launch with its own registers", b.String())
	}
}
