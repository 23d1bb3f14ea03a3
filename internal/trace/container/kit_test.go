package container

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/heddle-sim/heddle/internal/trace"
)

// memory is a launch in memory.
type memory struct {
	name   string
	kernel trace.Kernel
	blocks []*trace.Block
}

func (m *memory) Name() string                  { return m.name }
func (m *memory) Header() (trace.Header, error) { return m.kernel.Header, nil }
func (m *memory) Open() (*trace.Kernel, error) {
	k := m.kernel
	k.Blocks = m
	return &k, nil
}
func (m *memory) Block(i int) (*trace.Block, error) { return m.blocks[i], nil }
func (m *memory) Free(*trace.Block)                 {}
func (m *memory) Close() error                      { return nil }

// equal compares two sets, launches and blocks included.
func equal(t testing.TB, want, got *trace.Set) {
	t.Helper()
	if d := cmp.Diff(want, got, alike); d != "" {
		t.Fatal(d)
	}
	for i := range want.Commands {
		a, b := want.Commands[i].Launch, got.Commands[i].Launch
		if (a == nil) != (b == nil) {
			t.Fatalf("command %d: a launch and a copy", i)
		}
		if a != nil {
			equalLaunch(t, a, b, nil)
		}
	}
}

// alike ignores what a container does not keep: where the trace was, and in which
// order a block holds addresses.
var alike = cmp.Options{
	cmpopts.EquateEmpty(),
	cmp.Transformer("command", func(c trace.Command) [5]any {
		return [5]any{filepath.Base(c.File), c.Line, c.Text, c.Addr, c.Bytes}
	}),
	cmpopts.IgnoreFields(trace.Set{}, "Name", "Form", "Files"),
	cmpopts.IgnoreFields(trace.Kernel{}, "Blocks"),
	cmp.Transformer("place", func(m trace.Mem) trace.Mem {
		if m.N == 0 {
			m.First = 0
		}
		return m
	}),
}

// equalLaunch compares two launches; the second's blocks are read in the given
// order, ascending if nil.
func equalLaunch(t testing.TB, a, b trace.Source, order []int) {
	t.Helper()
	x, err := a.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer x.Blocks.Close()
	y, err := b.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer y.Blocks.Close()
	if d := cmp.Diff(x, y, alike); d != "" {
		t.Fatal(d)
	}
	for n := range x.Present {
		if order != nil {
			n = order[n]
		}
		p, err := x.Blocks.Block(n)
		if err != nil {
			t.Fatal(err)
		}
		q, err := y.Blocks.Block(n)
		if err != nil {
			t.Fatal(err)
		}
		if p.Index != q.Index || !slices.Equal(p.Warps, q.Warps) || !slices.Equal(p.Insts, q.Insts) || !slices.Equal(p.Deltas, q.Deltas) ||
			!slices.EqualFunc(p.Mems, q.Mems, func(a, b trace.Mem) bool { return cmp.Equal(a, b, alike) }) {
			t.Fatalf("%s, block %d: %s", a.Name(), n, cmp.Diff(p, q, alike))
		}
		x.Blocks.Free(p)
		y.Blocks.Free(q)
	}
}
