package gpu_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/core/modern"
	"github.com/heddle-sim/heddle/internal/exec"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/gpu"
)

// dependentText has a kernel for each of the given bodies, k0, k1 and so on. Each sums up the words of the row of its
// number of in, and writes the sum plus one into its words of the next row; v is how often a loop turns first.
func dependentText(bodies ...string) string {
	text := ".version 8.0\n.target sm_90\n.address_size 64\n"
	for i, b := range bodies {
		b = strings.NewReplacer(
			"release", "griddepcontrol.launch_dependents;",
			"wait", "griddepcontrol.wait;",
			"add", "ld.volatile.global.u32 %v, [%in]; add.u32 %v, %v, 1; st.global.u32 [%in+4096], %v;",
		).Replace(b)
		for k := range strings.Count(b, "spin ") {
			from, n := strings.Index(b, "spin "), 0
			fmt.Sscanf(b[from:], "spin %d", &n)
			b = strings.Replace(b, fmt.Sprintf("spin %d", n), fmt.Sprintf("mov.u32 %%r2, 0; L%d: add.u32 %%r2, %%r2, 1; setp.lt.u32 %%p1, %%r2, %d; @%%p1 bra L%[1]d;", k, n), 1)
		}
		text += fmt.Sprintf(`.visible .entry k%d(.param .u64 memory)
{
	.reg .b32 %%r<4>, %%v, %%t, %%blk;
	.reg .b64 %%a, %%in;
	.reg .pred %%p<4>, %%first;
	ld.param.u64 %%in, [memory]; mov.u32 %%t, %%tid.x; mov.u32 %%blk, %%ctaid.x; setp.eq.u32 %%first, %%blk, 0;
	mad.lo.u32 %%r1, %%blk, 32, %%t; mul.wide.u32 %%a, %%r1, 4; add.u64 %%in, %%in, %%a; add.u64 %%in, %%in, %d;
	%s
	exit;
}
`, i, 4096*i, b)
	}
	return text
}

// chain runs a program's kernels in one stream, those but the first as programmatic dependents where dependent says so.
// It returns the actions, and the last row of memory.
func chain(t *testing.T, text string, dependent func(i int) bool, between func(i int) *gpu.Op, cfg *gpu.Config) ([]*gpu.Op, []byte, error) {
	t.Helper()
	const blocks, rows = 16, 5
	prog, m, mem := linked(t, text)
	params, addrs := buffers(t, 4096*rows)
	p := params(mem)
	if err := mem.Write((*addrs)[0], make([]byte, 4096*rows)); err != nil {
		t.Fatal(err)
	}
	cfg.Run.BlockLog = true
	chip, err := gpu.New(*cfg)
	if err != nil {
		t.Fatal(err)
	}
	var ops []*gpu.Op
	for i, k := range prog.Kernels() {
		if x := between(i); x != nil {
			if err := chip.Add(x); err != nil {
				t.Fatal(err)
			}
		}
		l := xptx.Launch{Kernel: k, Grid: exec.Dim3{X: blocks, Y: 1, Z: 1}, Block: exec.Dim3{X: 32, Y: 1, Z: 1}, Params: p}
		o := &gpu.Op{Kind: gpu.OpLaunch, Stream: 1, Programmatic: dependent(i), Make: func(bool) (exec.Work, error) { return m.NewWork(l, nil) }}
		if err := chip.Add(o); err != nil {
			t.Fatal(err)
		}
		ops = append(ops, o)
	}
	err = chip.Finish(context.Background())
	last := make([]byte, 4*32*blocks)
	if e := mem.Read((*addrs)[0]+uint64(4096*len(ops)), last); e != nil {
		t.Fatal(e)
	}
	return ops, last, err
}

// TestDependents: launches that may begin while the one before them runs do so as soon as its blocks let them, wait for
// its end where they say so, and end no earlier; on every number of goroutines in the same cycles.
func TestDependents(t *testing.T) {
	const (
		serial = iota // the second begins when the first has ended
		early         // the second begins before
		late          // it begins before, but after block 1 has ended, which does not let it
	)
	const first = "@%first bra zero; setp.eq.u32 %p0, %blk, 1; @%p0 bra second; bra other; zero: "
	all, none := func(i int) bool { return i > 0 }, func(int) *gpu.Op { return nil }
	for _, c := range []struct {
		name      string
		bodies    []string
		dependent func(int) bool
		between   func(int) *gpu.Op
		set       []string
		want      int
		waits     bool   // warps of the last launch wait
		sum       uint32 // the words of the last row
	}{
		{"released at once", []string{"release spin 120 add", "wait add"}, all, none, nil, early, true, 2},
		{"no attribute", []string{"release spin 120 add", "wait add"}, func(int) bool { return false }, none, nil, serial, false, 2},
		{"released by none", []string{"spin 120 add", "wait add"}, all, none, nil, serial, false, 2},
		{"released by all but one, which ends", []string{"@!%first bra keep; spin 50 add exit; keep: release spin 120 add", "wait add"}, all, none, nil, early, true, 2},
		{"released by one", []string{first + "release spin 200 add exit; second: spin 100 other: add", "wait add"}, all, none, nil, late, true, 2},
		{"released three times by one", []string{first + "release release release spin 200 add exit; second: spin 100 other: add", "wait add"}, all, none, nil, late, true, 2},
		{"released by one that ends", []string{first + "release add exit; second: spin 100 add exit; other: release spin 200 add", "wait add"}, all, none, nil, late, true, 2},
		{"work before the wait", []string{"release spin 120 add", "spin 250 wait add"}, all, none, nil, early, false, 2},
		{"three", []string{"release spin 120 add", "release wait add", "release wait add"}, all, none, nil, early, true, 3},
		{"the third alone waits", []string{"release spin 120 add", "release spin 9", "wait add"}, all, none, nil, early, true, 1},
		{"after one that does not wait", []string{"release spin 120 add", "spin 9", "add"}, func(i int) bool { return i == 1 }, none, nil, early, false, 1},
		{"a copy between", []string{"release spin 120 add", "wait add"}, all, func(i int) *gpu.Op {
			if i == 0 {
				return nil
			}
			return &gpu.Op{Kind: gpu.OpCopy, Stream: 1, Copy: func() error { return nil }}
		}, nil, serial, false, 2},
		{"no place on the chip", []string{"release spin 120 add", "wait add"}, all, none, []string{"chip.kernels=1"}, serial, false, 2},
		{"cores before Hopper", []string{"release spin 120 add", "wait add"}, all, none, []string{"modern.hopper.enabled=false"}, serial, false, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before []uint64
			for run, cfg := range []*gpu.Config{
				teamConfig(t, "h100-pcie", 1, c.set...), teamConfig(t, "h100-pcie", 3, c.set...), teamConfig(t, "h100-pcie", 1, append(c.set, "run.idle_skip=false")...),
				teamConfig(t, "h100-pcie", 1, append(c.set, "modern.assembled=true")...),
			} {
				ops, last, err := chain(t, dependentText(c.bodies...), c.dependent, c.between, cfg)
				if err != nil {
					t.Fatal(err)
				}
				var times []uint64
				for i, o := range ops {
					if !o.Ended() || i > 0 && o.End < ops[i-1].End {
						t.Errorf("launch %d has ended: %v, in cycle %d, the one before it in %d", i, o.Ended(), o.End, ops[i-1].End)
					}
					times = append(times, o.Start, o.Kernel.End, o.End)
				}
				want := bytes.Repeat(binary.LittleEndian.AppendUint32(nil, c.sum), len(last)/4)
				if !bytes.Equal(last, want) {
					t.Errorf("run %d: the last row is %x, want %d", run, last[:16], c.sum)
				}
				if got := ops[1].Start < ops[0].End; got != (c.want != serial) {
					t.Errorf("run %d: the second begins in cycle %d, the first ends in %d", run, ops[1].Start, ops[0].End)
				}
				if end := ops[0].Kernel.BlockLog[1].End; c.want == late && ops[1].Start < end {
					t.Errorf("run %d: the second begins in cycle %d, block 1 of the first ends in %d", run, ops[1].Start, end)
				}
				if n := ops[len(ops)-1].Kernel.SM.States[modern.GridDependency]; (n > 0) != c.waits {
					t.Errorf("run %d: warps wait %d cycles for the launch before theirs", run, n)
				}
				switch {
				case run == 0:
					before = times
				case run < 3 && fmt.Sprint(times) != fmt.Sprint(before):
					t.Errorf("run %d takes %v, the first %v", run, times, before)
				}
			}
		})
	}
}

// TestDependentsEarlyEnd: a run that a limit ends while a dependent has ended and its primary has not ends both.
func TestDependentsEarlyEnd(t *testing.T) {
	ops, _, err := chain(t, dependentText("release spin 1200 add", "spin 9", "add"), func(i int) bool { return i == 1 }, func(int) *gpu.Op { return nil },
		teamConfig(t, "h100-pcie", 1, "run.max_cycles=9000"))
	var limit *exec.LimitError
	if !errors.As(err, &limit) {
		t.Fatalf("got %v, want a limit", err)
	}
	if ops[0].Ended() || ops[1].Kernel.Blocks != ops[1].Kernel.Total() || ops[2].Begun() {
		t.Errorf("ended: %v, %d blocks of the second, begun: %v", ops[0].Ended(), ops[1].Kernel.Blocks, ops[2].Begun())
	}
}
