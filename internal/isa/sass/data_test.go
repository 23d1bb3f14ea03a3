package sass

import (
	"maps"
	"testing"
)

// TestNotes: of the lines that a table names for an instruction the last counts, and one that goes on
// is not repeated.
func TestNotes(t *testing.T) {
	k := &Kernel{Name: "k", Lines: []Line{{0, "dir/a.cu", 1}, {0, "b.cu", 2}, {1, "dir/a.cu", 1}, {1, "b.cu", 2}, {2, "b.cu", 0}, {3, "b.cu", 2}, {5, "dir/a.cu", 3}}}
	f := &File{Kernels: []*Kernel{k}, Data: []Data{{Name: "d", Bytes: 8}}, Addresses: []Address{
		{Data: -1, Kernel: "k", Offset: 16, Part: Lower, ToData: 0, Addend: 4}, {Data: -1, Kernel: "k", Offset: 80, To: OfFunction, Function: "free"}, {Data: -1, Bank: 4, ToData: 0},
	}}
	want := map[int]string{0: ".line b.cu, 2\n", 1: ".address lower, d+0x4\n", 5: ".line a.cu, 3\n.address whole, free\n"}
	if got := f.Notes(k); !maps.Equal(got, want) {
		t.Errorf("%v; want %v", got, want)
	}
}
