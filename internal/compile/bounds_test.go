package compile

import (
	"testing"

	"github.com/heddle-sim/heddle/internal/compile/machine"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// TestBounded: a kernel gets the registers with which what it promises holds. Numbers are those of the
// machine's text, two more than code may name.
func TestBounded(t *testing.T) {
	for _, c := range []struct {
		name string
		fn   ptx.Func
		most int
		want int
	}{
		{"nothing", ptx.Func{}, 0, 255},
		{"the option", ptx.Func{}, 40, 40},
		{"an option too small", ptx.Func{}, 3, LeastRegisters},
		{".maxnreg", ptx.Func{MaxNReg: 64}, 0, 64},
		{".maxnreg before the option", ptx.Func{MaxNReg: 64}, 32, 64},
		{"1024 threads", ptx.Func{MaxNTID: [3]int{32, 32, 1}}, 0, 64},
		{"256 threads", ptx.Func{MaxNTID: [3]int{256}}, 32, 255},
		{"256 threads, 3 blocks", ptx.Func{MaxNTID: [3]int{256}, MinNCTA: 3}, 0, 80},
		{"one warp, 16 blocks", ptx.Func{ReqNTID: [3]int{32}, MinNCTA: 16}, 0, 32},
		{"more than fits", ptx.Func{MaxNTID: [3]int{1024}, MinNCTA: 8}, 0, LeastRegisters},
		{"absurd", ptx.Func{MaxNTID: [3]int{1 << 40, 1 << 40, 1 << 40}, MinNCTA: 1 << 62}, 0, 255},
	} {
		m := machine.Of(86, machine.Ampere)
		if got := bounded(&c.fn, m, c.most).Registers + m.Reserved; got != c.want {
			t.Errorf("%s: %d registers, want %d", c.name, got, c.want)
		}
	}
}
