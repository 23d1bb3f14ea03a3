package container

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/heddle-sim/heddle/internal/isa"
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

// textTrace reads a folder of Accel-Sim's text: enough of it for files that
// are right.
func textTrace(t testing.TB, dir string) *trace.Set {
	t.Helper()
	set := &trace.Set{Name: dir, Form: "Accel-Sim"}
	list, err := os.ReadFile(filepath.Join(dir, "kernelslist.g"))
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(list)), "\n") {
		c := trace.Command{File: "kernelslist.g", Line: i + 1, Text: line}
		if _, err := fmt.Sscanf(line, "MemcpyHtoD,0x%x,%d", &c.Addr, &c.Bytes); err != nil {
			c.Launch = textLaunch(t, filepath.Join(dir, line))
		}
		set.Commands = append(set.Commands, c)
	}
	return set
}

func textLaunch(t testing.TB, path string) *memory {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m := &memory{name: path}
	k := &m.kernel
	at := map[string]int32{}
	var b *trace.Block
	must := func(s string, base, bits int) uint64 {
		v, err := strconv.ParseUint(s, base, bits)
		if err != nil {
			t.Fatal(path, s, err)
		}
		return v
	}
	num := func(s string) int64 {
		v, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			t.Fatal(path, err)
		}
		return v
	}
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		line := sc.Text()
		if key, v, ok := strings.Cut(line, " = "); ok {
			v = strings.TrimSpace(v)
			var d trace.Dim
			fmt.Sscanf(v, "(%d,%d,%d)", &d[0], &d[1], &d[2])
			switch key {
			case "-kernel name":
				k.Kernel = v
			case "-kernel id":
				k.ID = num(v)
			case "-grid dim":
				k.Grid = d
			case "-block dim":
				k.Block = d
			case "-shmem":
				k.Shared = int(num(v))
			case "-nregs":
				k.Registers = int(num(v))
			case "-binary version":
				k.Arch = int(num(v))
			case "-shmem base_addr":
				k.SharedBase = must(v[2:], 16, 64)
			case "-local mem base_addr":
				k.LocalBase = must(v[2:], 16, 64)
			case "-nvbit version":
				k.NVBit = v
			case "-accelsim tracer version":
				k.Version = int(num(v))
			case "#traces format":
				k.Extra = append(k.Extra, line)
			case "thread block":
				fmt.Sscanf(v, "%d,%d,%d", &d[0], &d[1], &d[2])
				b = &trace.Block{Index: d}
				m.blocks = append(m.blocks, b)
				k.Present = append(k.Present, k.Grid.Linear(d))
			case "warp":
				n := int32(len(b.Insts))
				b.Warps = append(b.Warps, trace.Warp{ID: int32(num(v)), From: n, Upto: n})
			}
			continue
		}
		w := strings.Fields(line)
		if len(w) < 4 || strings.HasPrefix(line, "#") {
			continue
		}
		if k.Version < 3 {
			w = w[4:]
		}
		s := trace.Static{PC: uint32(must(w[0], 16, 32))}
		mask := isa.LaneMask(must(w[1], 16, 32))
		w = w[2:]
		regs := func() (list []trace.Reg) {
			n := num(w[0])
			for _, r := range w[1 : 1+n] {
				list = append(list, trace.Reg{File: isa.RegGPR, N: uint16(must(r[1:], 10, 16))})
			}
			w = w[1+n:]
			return list
		}
		s.Dsts = regs()
		s.Op, w = w[0], w[1:]
		s.Srcs = regs()
		s.Width = uint8(num(w[0]))
		in := trace.Inst{Active: mask, Mask: mask, Mem: -1}
		w = w[1:]
		if s.Width > 0 {
			x := trace.Mem{Mode: trace.Mode(num(w[0]))}
			in.Mem, in.NMems = int32(len(b.Mems)), 1
			switch x.Mode {
			case trace.BaseStride:
				x.Base, x.Stride = must(w[1][2:], 16, 64), int32(num(w[2]))
				w = w[3:]
			case trace.BaseDelta:
				x.Base, x.First, x.N = must(w[1][2:], 16, 64), int32(len(b.Deltas)), uint8(mask.Count()-1)
				for _, d := range w[2 : 2+x.N] {
					b.Deltas = append(b.Deltas, num(d))
				}
				w = w[2+x.N:]
			}
			b.Mems = append(b.Mems, x)
		}
		if k.Version >= 5 {
			s.Imms = []int64{num(w[0])}
		}
		key := fmt.Sprint(s)
		n, ok := at[key]
		if !ok {
			n = int32(len(k.Code))
			at[key] = n
			k.Code = append(k.Code, s)
		}
		in.At = n
		b.Insts = append(b.Insts, in)
		b.Warps[len(b.Warps)-1].Upto++
		k.WarpInsts++
		k.ThreadInsts += uint64(mask.Count())
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	order := make([]int32, len(k.Code))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return int(k.Code[a].PC) - int(k.Code[b].PC) })
	place := make([]int32, len(order))
	code := make([]trace.Static, len(order))
	for i, o := range order {
		place[o], code[i] = int32(i), k.Code[o]
	}
	k.Code = code
	for _, b := range m.blocks {
		for i := range b.Insts {
			b.Insts[i].At = place[b.Insts[i].At]
		}
	}
	return m
}

// equal compares two sets, launches and blocks included.
func equal(t testing.TB, want, got *trace.Set) {
	t.Helper()
	if d := cmp.Diff(want, got, alike); d != "" {
		t.Fatal(d)
	}
	for i := range want.Commands {
		a, b := want.Commands[i].Launch, got.Commands[i].Launch
		if (a == nil) != (b == nil) {
			t.Fatalf("command %d: one is a launch, the other a copy", i)
		}
		if a != nil {
			equalLaunch(t, a, b, nil)
		}
	}
}

// alike leaves aside what a container does not keep: where the trace lay, and
// in which order a block holds addresses.
var alike = cmp.Options{
	cmpopts.EquateEmpty(),
	cmpopts.IgnoreFields(trace.Command{}, "Launch"),
	cmpopts.IgnoreFields(trace.Set{}, "Name", "Form"),
	cmpopts.IgnoreFields(trace.Kernel{}, "Blocks"),
	cmp.Transformer("place", func(m trace.Mem) trace.Mem {
		if m.N == 0 {
			m.First = 0
		}
		return m
	}),
}

// equalLaunch compares two launches; the second's blocks are asked for in
// the order given, nil for ascending.
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
