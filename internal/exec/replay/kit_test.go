package replay

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/trace"
	"github.com/heddle-sim/heddle/internal/trace/tracetest"
)

// memBlocks are blocks in memory; those given back are checked against those
// asked for.
type memBlocks struct {
	list []*trace.Block
	out  map[*trace.Block]bool
	t    testing.TB
	fail map[int]error
}

func (m *memBlocks) Block(i int) (*trace.Block, error) {
	if err := m.fail[i]; err != nil {
		return nil, err
	}
	b := m.list[i]
	if m.out[b] {
		m.t.Errorf("block %d is requested twice", i)
	}
	m.out[b] = true
	return b, nil
}

func (m *memBlocks) Free(b *trace.Block) {
	if !m.out[b] {
		m.t.Error("a block is returned that is not in use")
	}
	delete(m.out, b)
}

func (m *memBlocks) Close() error { return nil }

// reader builds a kernel from the lines of a grouped trace: an independent, simple reader of
// the format, without checks.
type reader struct {
	k       *trace.Kernel
	blocks  []*trace.Block
	statics map[string]int32
	version int
	insts   uint64 // that the trace states
}

func newReader() *reader {
	return &reader{k: &trace.Kernel{}, statics: map[string]int32{}}
}

func dims(s string) (d trace.Dim) {
	for i, f := range strings.Split(strings.Trim(s, "()"), ",") {
		n, _ := strconv.ParseUint(f, 10, 32)
		d[i] = uint32(n)
	}
	return d
}

func hex(s string) uint64 {
	v, err := strconv.ParseUint(strings.TrimPrefix(s, "0x"), 16, 64)
	if err != nil {
		panic(err)
	}
	return v
}

func number(s string) int {
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		panic(err)
	}
	return int(v)
}

func (r *reader) line(l string) {
	l = strings.TrimSpace(l)
	if l == "" {
		return
	}
	if key, v, ok := strings.Cut(l, " = "); ok {
		h := &r.k.Header
		switch key {
		case "-kernel name":
			h.Kernel = v
		case "-grid dim":
			h.Grid = dims(v)
		case "-block dim":
			h.Block = dims(v)
		case "-shmem":
			h.Shared = number(v)
		case "-nregs":
			h.Registers = number(v)
		case "-binary version":
			h.Arch = number(v)
		case "-shmem base_addr":
			h.SharedBase = hex(v)
		case "-local mem base_addr":
			h.LocalBase = hex(v)
		case "-accelsim tracer version":
			r.version = number(v)
			h.Version = r.version
		case "thread block":
			b := &trace.Block{Index: dims(v)}
			r.blocks = append(r.blocks, b)
			r.k.Present = append(r.k.Present, h.Grid.Linear(b.Index))
		case "warp":
			b := r.blocks[len(r.blocks)-1]
			n := int32(len(b.Insts))
			b.Warps = append(b.Warps, trace.Warp{ID: int32(number(v)), From: n, Upto: n})
		case "insts":
			r.insts += uint64(number(v))
		}
		return
	}
	if l[0] == '#' || l[0] == '-' {
		return
	}
	f := strings.Fields(l)
	if r.version < 3 {
		f = f[4:]
	}
	b := r.blocks[len(r.blocks)-1]
	in := trace.Inst{Mask: isa.LaneMask(hex(f[1])), Mem: -1}
	in.Active = in.Mask
	s := trace.Static{PC: uint32(hex(f[0]))}
	i := 2
	regs := func() (list []trace.Reg) {
		n := number(f[i])
		i++
		for range n {
			reg := trace.Reg{File: isa.RegGPR}
			name := f[i]
			if strings.HasPrefix(name, "U") {
				reg.File, name = isa.RegUGPR, name[1:]
			}
			reg.N = uint16(number(name[1:]))
			list = append(list, reg)
			i++
		}
		return list
	}
	s.Dsts = regs()
	s.Op = f[i]
	i++
	s.Srcs = regs()
	s.Width = uint8(number(f[i]))
	i++
	if s.Width > 0 {
		m := trace.Mem{Mode: trace.Mode(number(f[i])), First: int32(len(b.Deltas))}
		i++
		lanes := in.Mask.Count()
		switch m.Mode {
		case trace.ListAll:
			for range lanes {
				b.Deltas = append(b.Deltas, int64(hex(f[i])))
				m.N++
				i++
			}
		case trace.BaseStride:
			m.Base, m.Stride = hex(f[i]), int32(number(f[i+1]))
			i += 2
		case trace.BaseDelta:
			m.Base = hex(f[i])
			i++
			for range lanes - 1 {
				b.Deltas = append(b.Deltas, int64(number(f[i])))
				m.N++
				i++
			}
		}
		in.Mem, in.NMems = int32(len(b.Mems)), 1
		b.Mems = append(b.Mems, m)
	}
	if r.version == 5 {
		s.Imms = []int64{int64(number(f[i]))}
	}
	key := fmt.Sprint(s)
	at, ok := r.statics[key]
	if !ok {
		at = int32(len(r.k.Code))
		r.statics[key] = at
		r.k.Code = append(r.k.Code, s)
	}
	in.At = at
	b.Insts = append(b.Insts, in)
	b.Warps[len(b.Warps)-1].Upto++
	r.k.WarpInsts++
	r.k.ThreadInsts += uint64(in.Mask.Count())
}

func (r *reader) kernel(t testing.TB) *trace.Kernel {
	r.k.Blocks = &memBlocks{list: r.blocks, out: map[*trace.Block]bool{}, t: t, fail: map[int]error{}}
	return r.k
}

func readText(t testing.TB, text string) *trace.Kernel {
	r := newReader()
	for l := range strings.Lines(text) {
		r.line(l)
	}
	return r.kernel(t)
}

// archive is a trace of the reference data, unpacked: its launches in the order
// of its list, with the instructions that the files state.
type archive struct {
	name    string
	kernels []func(t testing.TB) (*trace.Kernel, uint64)
}

// archives reads the traces whose names have one of the given parts, all if
// there is none.
func archives(t testing.TB, parts ...string) []archive {
	t.Helper()
	var list []archive
	for _, name := range tracetest.Names(t) {
		if len(parts) > 0 && !slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(name, p) }) {
			continue
		}
		files := tracetest.Files(t, name)
		a := archive{name: name}
		for l := range strings.Lines(files["kernelslist.g"]) {
			if l = strings.TrimSpace(l); !strings.HasPrefix(l, "kernel") {
				continue
			}
			text, ok := files[l]
			if !ok {
				t.Fatalf("%s has no %s", name, l)
			}
			a.kernels = append(a.kernels, func(t testing.TB) (*trace.Kernel, uint64) {
				r := newReader()
				for l := range strings.Lines(text) {
					r.line(l)
				}
				return r.kernel(t), r.insts
			})
		}
		list = append(list, a)
	}
	return list
}
