package exec_test

import (
	"fmt"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
)

func TestSequence(t *testing.T) {
	for _, s := range []string{"forward", "reverse", "seed=1", "seed=77"} {
		t.Run(s, func(t *testing.T) {
			o, err := exec.ParseSequence(s)
			if err != nil || o.String() != s {
				t.Fatalf("ParseSequence(%q) = %v, %v", s, o, err)
			}
			for _, n := range []uint64{1, 2, 3, 7, 32, 33, 1000} {
				seen := make([]bool, n)
				for i := range n {
					at := o.At(i, n)
					if at >= n || seen[at] {
						t.Fatalf("of %d things, number %d is %d, which is no permutation", n, i, at)
					}
					seen[at] = true
				}
			}
		})
	}
	for _, s := range []string{"backward", "seed=", "seed=0", "seed=-1", "seed"} {
		if o, err := exec.ParseSequence(s); err == nil {
			t.Errorf("ParseSequence(%q) = %v, want an error", s, o)
		}
	}
	a, b := exec.Sequence{Seed: 1}, exec.Sequence{Seed: 2}
	var x, y []uint64
	for i := range uint64(100) {
		x, y = append(x, a.At(i, 100)), append(y, b.At(i, 100))
	}
	if fmt.Sprint(x) == fmt.Sprint(y) {
		t.Error("two seeds give one order")
	}
}
