package ptx_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// bodyOpts are the conditions in which a test body runs; the zero value is one
// block of 32 threads on sm_90.
type bodyOpts struct {
	version     string    // "8.6" if empty
	target      string    // "sm_90" if empty
	module      string    // declarations and functions at module scope
	perf        string    // directives of the kernel
	block, grid uint32    // 32 and 1 if zero
	extent      exec.Dim3 // the grid in all dimensions, in place of grid
	cluster     exec.Dim3
	shared      int    // dynamic shared memory
	maxInsts    uint64 // 1<<24 if zero
	threads     int    // workers
	cooperative bool
	stepped     bool                  // one instruction of each warp at a time, as a core model does
	watch       func(e *exec.Effects) // called after every step
	warn        func(*exec.Warning)   // called with warnings
	probe       exec.Probe
	order       exec.Sequence
	outside     func(*exec.Fault)
	lenient     bool // accesses a little outside of allocations are tolerated
}

// runBody runs a one-kernel program and returns its output buffer, which is
// zero at the start. The body finds the address of the output in %out, of
// input number i in %in<i>, and its %tid.x in %t; decls are its registers and
// variables.
func runBody(t testing.TB, o bodyOpts, decls, body string, in [][]byte, outBytes int) []byte {
	t.Helper()
	out, err := tryBody(t, o, decls, body, in, outBytes)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// tryBody is runBody for programs that fail: it returns the error of linking, launching or
// running.
func tryBody(t testing.TB, o bodyOpts, decls, body string, in [][]byte, outBytes int) ([]byte, error) {
	t.Helper()
	or := func(s, d string) string {
		if s == "" {
			return d
		}
		return s
	}
	var src strings.Builder
	fmt.Fprintf(&src, ".version %s\n.target %s\n.address_size 64\n%s\n", or(o.version, "8.6"), or(o.target, "sm_90"), o.module)
	src.WriteString(".visible .entry k(.param .u64 p_out")
	for i := range in {
		fmt.Fprintf(&src, ", .param .u64 p_in%d", i)
	}
	fmt.Fprintf(&src, ")"+o.perf+"\n{\n.reg .b64 %%out, %%in<%d>;\n.reg .b32 %%t;\n%s\n", len(in)+1, decls)
	src.WriteString("ld.param.u64 %out, [p_out];\nmov.u32 %t, %tid.x;\n")
	for i := range in {
		fmt.Fprintf(&src, "ld.param.u64 %%in%d, [p_in%d];\n", i, i)
	}
	src.WriteString(body + "\nret;\n}\n")
	mod, err := ptx.Parse("test.ptx", []byte(src.String()))
	if err != nil {
		t.Fatalf("%v\n%s", err, src.String())
	}
	p, err := xptx.Link(mod)
	if err != nil {
		return nil, err
	}
	mem := device.New(device.Config{})
	m, err := xptx.NewMachine(p, mem)
	if err != nil {
		return nil, err
	}
	params := make([]byte, 8+8*len(in))
	place := func(i int, name string, data []byte) uint64 {
		a, err := mem.Alloc(uint64(max(1, len(data))), name)
		if err == nil && len(data) > 0 {
			err = mem.Write(a, data)
		}
		if err != nil {
			t.Fatal(err)
		}
		binary.LittleEndian.PutUint64(params[8*i:], a)
		return a
	}
	out := place(0, "out", make([]byte, outBytes))
	for i, data := range in {
		place(1+i, fmt.Sprintf("in%d", i), data)
	}
	k, ok := p.Kernel("k")
	if !ok {
		t.Fatal("the kernel is missing")
	}
	one := func(n, d uint32) exec.Dim3 {
		if n == 0 {
			n = d
		}
		return exec.Dim3{X: n, Y: 1, Z: 1}
	}
	if o.maxInsts == 0 {
		o.maxInsts = 1 << 24
	}
	l := xptx.Launch{Kernel: k, Grid: one(o.grid, 1), Block: one(o.block, 32), Shared: o.shared, Params: params, Cooperative: o.cooperative, Probe: o.probe, Outside: o.outside, Order: o.order, Cluster: o.cluster}
	if o.extent != (exec.Dim3{}) {
		l.Grid = o.extent
	}
	if o.warn != nil {
		m.Warn(o.warn)
	}
	if o.lenient {
		m.TolerateStrays()
	}
	if o.stepped {
		err = stepLaunch(m, l, o)
	} else {
		_, err = m.Run(context.Background(), l, xptx.Options{Threads: max(1, o.threads), MaxInsts: o.maxInsts})
	}
	if err != nil {
		return nil, err
	}
	got := make([]byte, outBytes)
	if outBytes > 0 {
		if err := mem.Read(out, got); err != nil {
			t.Fatal(err)
		}
	}
	return got, nil
}

// stepLaunch runs a launch with all blocks at once, one instruction of every warp
// in turn.
func stepLaunch(m *xptx.Machine, l xptx.Launch, o bodyOpts) error {
	work, err := m.NewWork(l, nil)
	if err != nil {
		return err
	}
	var blocks []exec.Block
	for n := range work.Blocks() {
		blocks = append(blocks, work.Block(n))
	}
	defer func() {
		for _, b := range blocks {
			b.Release()
		}
	}()
	var e exec.Effects
	for steps := uint64(0); ; {
		done, moved := true, false
		for _, b := range blocks {
			ran, left := false, false
			for i := range b.Warps() {
				w := b.Warp(i)
				_, _, _, st := w.Next()
				left = left || st != exec.Done
				if st != exec.Ready {
					continue
				}
				if err := xptx.StepPrivately(w, &e); err != nil {
					return err
				}
				ran = true
				if o.watch != nil {
					o.watch(&e)
				}
				if steps++; steps > o.maxInsts {
					return fmt.Errorf("no end after %d steps", o.maxInsts)
				}
			}
			if left && !ran && b.Unblock() {
				ran = true
			}
			done, moved = done && !left, moved || ran
		}
		if done {
			return nil
		}
		if !moved {
			return errors.New("stuck")
		}
	}
}
