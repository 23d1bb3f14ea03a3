package plug

import (
	"fmt"
	"testing"
)

// Parts are numbered from First in the order of their registration; their names are
// unique.
func TestPoint(t *testing.T) {
	p := New[func() int]("test part", "built-in")
	before := Count()
	p.Register("a", func() int { return 1 })
	p.Register("b", func() int { return 2 })
	if got := Names("test part"); len(got) != 2 || got[0] != "a" || got[1] != "b" {
		t.Errorf("names are %q, want a and b", got)
	}
	if got := Count() - before; got != 2 {
		t.Errorf("%d parts were counted, want 2", got)
	}
	for n, want := range map[int]int{0: 0, First - 1: 0, First: 1, First + 1: 2, First + 2: 0} {
		got := 0
		if make, ok := p.Maker(n); ok {
			got = make()
		}
		if got != want {
			t.Errorf("part %d makes %d, want %d", n, got, want)
		}
	}
	for n, want := range map[int]string{-1: "", 0: "built-in", 1: "", First - 1: "", First: "a", First + 1: "b", First + 2: ""} {
		builtIn := []string{"built-in"}
		if got := p.Has(n, builtIn); got != (want != "") {
			t.Errorf("is there a part %d: %v", n, got)
		}
		if want == "" {
			want = fmt.Sprint("test part ", n)
		}
		if got := p.Name(n, builtIn); got != want {
			t.Errorf("part %d is called %q, want %q", n, got, want)
		}
	}
	for _, name := range []string{"", "a", "built-in"} {
		t.Run("refuses "+name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("it was registered")
				}
			}()
			p.Register(name, nil)
		})
	}
}

// The numbers of parts fit into a byte. One more part is refused, not confused with
// another.
func TestPointIsFull(t *testing.T) {
	p := New[int]("crowd")
	for i := range 256 - First {
		p.Register(fmt.Sprint("part ", i), i)
	}
	defer func() {
		if recover() == nil {
			t.Error("a part with the number 256 was registered")
		}
	}()
	p.Register("one more", 0)
}
