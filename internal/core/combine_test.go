package core

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Counters are added and subtracted by kind: sums and maxima; lists become as long as
// the longer one.
func TestCombine(t *testing.T) {
	type inner struct {
		A          uint64
		LatencyMax uint64 `combine:"max"`
		B          [2]uint64
	}
	type counters struct {
		X       uint64
		In      inner
		Longest int
		WaitMax uint64 `combine:"max"`
		List    []inner
		Y       [2][2]uint64
	}
	a := counters{1, inner{2, 30, [2]uint64{4, 5}}, 6, 7, []inner{{1, 2, [2]uint64{3, 4}}}, [2][2]uint64{{1, 2}, {3, 4}}}
	b := counters{10, inner{20, 3, [2]uint64{40, 50}}, 60, 70, []inner{{10, 20, [2]uint64{30, 40}}, {5, 6, [2]uint64{7, 8}}}, [2][2]uint64{{10, 20}, {30, 40}}}
	sum := a
	sum.List = append([]inner(nil), a.List...)
	Add(&sum, &b)
	want := counters{11, inner{22, 30, [2]uint64{44, 55}}, 60, 70, []inner{{11, 20, [2]uint64{33, 44}}, {5, 6, [2]uint64{7, 8}}}, [2][2]uint64{{11, 22}, {33, 44}}}
	if d := cmp.Diff(want, sum); d != "" {
		t.Errorf("a sum (-want +got):\n%s", d)
	}
	Sub(&sum, &a)
	want = counters{10, inner{20, 30, [2]uint64{40, 50}}, 60, 70, []inner{{10, 20, [2]uint64{30, 40}}, {5, 6, [2]uint64{7, 8}}}, [2][2]uint64{{10, 20}, {30, 40}}}
	if d := cmp.Diff(want, sum); d != "" {
		t.Errorf("a difference (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]inner{{1, 2, [2]uint64{3, 4}}}, a.List); d != "" {
		t.Errorf("an operand changed:\n%s", d)
	}
}
