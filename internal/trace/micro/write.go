package micro

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/trace"
)

// Write writes a recorded run as a folder of this format. It creates the folder,
// which must not contain a trace yet. Launches are read one after another, block by
// block; the static code of all stays in memory. Progress, if not nil, is called
// with the number of blocks written and the total of all grids.
//
// Functions keep the run's numbers where these are unique, as those of this format
// are. Otherwise they get new ones, and two instructions at one pc belong to two
// functions.
func Write(dir string, set *trace.Set, progress func(done, total uint64)) error {
	if _, err := os.Lstat(filepath.Join(dir, listName)); err == nil {
		return fail(dir, "it already contains a trace: name another folder, or remove it")
	}
	if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(staticName)), 0o755); err != nil {
		return err
	}
	w := &writer{
		dir: folder{dir: dir}, progress: progress,
		functions: map[functionKey]int32{}, byID: map[int32]*function{}, keep: strings.Contains(set.Form, form),
	}
	if err := w.set(set); err != nil {
		return err
	}
	return w.static(set)
}

// function is a function's code, by pc.
type function struct {
	name string
	arch int32
	code map[uint32]*trace.Static
}

// functionKey identifies a function in traces that do not number functions across
// the whole run.
type functionKey struct {
	kernel  string
	number  int32
	variant int
}

type writer struct {
	dir        folder
	stream     int64
	keep       bool // the run's function numbers are unique
	functions  map[functionKey]int32
	byID       map[int32]*function
	lastID     int32
	ids        map[int32]bool // numbers of launches
	lastLaunch int32

	progress    func(done, total uint64)
	done, total uint64
	stats       *bufio.Writer
}

func (w *writer) set(set *trace.Set) error {
	r := run{name: filepath.Base(set.Name), version: 4}
	launches := 0
	for i := range set.Commands {
		l := set.Commands[i].Launch
		if l == nil {
			continue
		}
		h, err := l.Header()
		if err != nil {
			return err
		}
		w.total += h.Grid.Count()
		if launches == 0 {
			r.arch, r.nvbit, w.stream = int32(h.Arch), h.NVBit, int64(h.Stream)
		} else if w.stream != int64(h.Stream) {
			w.stream = 0
		}
		launches++
	}
	s := stream{key: w.stream}
	f, err := os.Create(filepath.Join(w.dir.dir, "stats.csv"))
	if err != nil {
		return err
	}
	defer f.Close()
	w.stats = bufio.NewWriter(f)
	fmt.Fprintln(w.stats, "device id, stream id, kernel id, kernel mangled name, grid_dimX, grid_dimY, grid_dimZ, #blocks, block_dimX, block_dimY, block_dimZ, #threads, total_insts, total_reported_insts")
	w.ids = map[int32]bool{}
	for c := range set.All() {
		if c.Launch == nil {
			s.events = append(s.events, fmt.Sprintf("MemcpyHtoD,0x%016x,%d", c.Addr, c.Bytes))
			continue
		}
		if launches == 0 { // launches come while the run continues, and share stream 0
			if h, err := c.Launch.Header(); err == nil {
				r.arch, r.nvbit = int32(h.Arch), h.NVBit
				launches++
			}
		}
		k, err := w.launch(c.Launch)
		if errors.Is(err, trace.ErrDropped) {
			continue
		}
		if err != nil {
			return err
		}
		s.kernels = append(s.kernels, k)
		s.events = append(s.events, fmt.Sprintf("kernel-%d.trace", k.id))
	}
	if err := errors.Join(w.stats.Flush(), f.Close()); err != nil {
		return err
	}
	r.devices = []device{{streams: []stream{s}}}
	return os.WriteFile(filepath.Join(w.dir.dir, listName), r.put(), 0o644)
}

// launch writes the blocks of a launch.
func (w *writer) launch(src trace.Source) (k kernel, err error) {
	t, err := src.Open()
	if err != nil {
		return k, err
	}
	defer t.Blocks.Close()
	k = kernel{
		id: w.kernelID(t.ID), shared: int32(t.Shared), registers: int32(t.Registers), sharedBase: t.SharedBase, localBase: t.LocalBase,
		grid: t.Grid, block: t.Block,
	}
	dir := w.dir.blocks(0, w.stream, int64(k.id))
	defer func() {
		if errors.Is(err, trace.ErrDropped) {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	functions := make([]int32, len(t.Code))
	for i := range t.Code {
		functions[i] = w.place(&t.Code[i], t.Kernel, int32(t.Arch))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return k, err
	}
	done := w.done
	for i := range t.Present {
		b, err := t.Blocks.Block(i)
		if err != nil {
			return k, err
		}
		if i == 0 && len(b.Insts) > 0 { // a launch starts in its own function
			k.function = functions[b.Insts[0].At]
			w.byID[k.function].name = t.Kernel + variant + "0"
		}
		index := fmt.Sprintf("%d,%d,%d", b.Index[0], b.Index[1], b.Index[2])
		msg, err := putBlock(b, t.Code, functions)
		if err != nil {
			return k, &trace.Error{File: src.Name(), Block: "thread block " + index, Msg: err.Error()}
		}
		t.Blocks.Free(b)
		name := fmt.Sprintf("d_0_s_%d_k_%d_%s.pb", w.stream, k.id, index)
		if err := os.WriteFile(filepath.Join(dir, name), msg, 0o644); err != nil {
			return k, err
		}
		w.done++
		if w.progress != nil {
			w.progress(min(w.done, w.total), w.total)
		}
	}
	w.done = done + t.Grid.Count()
	if w.progress != nil {
		w.progress(min(w.done, w.total), w.total)
	}
	k.name = t.Kernel + variant + "0"
	fmt.Fprintf(w.stats, "0, %d, kernel-%d.trace, %s, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d\n", w.stream, k.id, t.Kernel,
		t.Grid[0], t.Grid[1], t.Grid[2], t.Grid.Count(), t.Block[0], t.Block[1], t.Block[2], t.Block.Count(), t.WarpInsts, t.WarpInsts)
	return k, nil
}

// kernelID returns the number of a launch: its own if no other launch has it.
func (w *writer) kernelID(id int64) int32 {
	n := int32(id)
	if id < 0 || id > math.MaxInt32 || w.ids[n] {
		for n = w.lastLaunch + 1; w.ids[n]; n++ {
		}
	}
	w.ids[n] = true
	w.lastLaunch = max(w.lastLaunch, n)
	return n
}

// place adds an instruction to the code of a function and returns the function's
// number.
func (w *writer) place(s *trace.Static, kernel string, arch int32) int32 {
	if w.keep {
		if w.fits(s.Func, s) {
			w.add(s.Func, s, arch)
			return s.Func
		}
	}
	for v := 0; ; v++ {
		key := functionKey{kernel, s.Func, v}
		id, ok := w.functions[key]
		if !ok {
			for id = w.lastID + 1; w.byID[id] != nil; id++ {
			}
			w.functions[key] = id
		}
		if w.fits(id, s) {
			w.add(id, s, arch)
			return id
		}
	}
}

// fits reports whether a function has no other instruction at this pc.
func (w *writer) fits(id int32, s *trace.Static) bool {
	f := w.byID[id]
	if f == nil || f.code[s.PC] == nil {
		return true
	}
	a, b := *f.code[s.PC], *s
	a.Func, b.Func = 0, 0
	if w.keep { // the width is that of a launch's accesses, not part of the code
		a.Width, b.Width = 0, 0
	}
	return reflect.DeepEqual(a, b)
}

func (w *writer) add(id int32, s *trace.Static, arch int32) {
	f := w.byID[id]
	if f == nil {
		f = &function{name: fmt.Sprintf("function_%d%s0", id, variant), arch: arch, code: map[uint32]*trace.Static{}}
		w.byID[id] = f
		w.lastID = max(w.lastID, id)
	}
	if f.code[s.PC] == nil {
		c := *s
		f.code[s.PC] = &c
	}
}

// static writes the code of all functions.
func (w *writer) static(set *trace.Set) error {
	f, err := os.Create(filepath.Join(w.dir.dir, staticName))
	if err != nil {
		return err
	}
	defer f.Close()
	out := bufio.NewWriter(f)
	name, err := json.Marshal(filepath.Base(set.Name))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "{\"benchmark_name\":%s,\"kernels\":[", name)
	ids := make([]int32, 0, len(w.byID))
	for id := range w.byID {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for i, id := range ids {
		b, err := json.Marshal(w.function(id))
		if err != nil {
			return err
		}
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(b)
	}
	out.WriteString("]}")
	return errors.Join(out.Flush(), f.Close())
}

func (w *writer) function(id int32) jsonFunction {
	f := w.byID[id]
	j := jsonFunction{Name: f.name, Arch: f.arch, ID: id, Captured: true}
	pcs := make([]uint32, 0, len(f.code))
	for pc, s := range f.code {
		pcs = append(pcs, pc)
		j.Captured = j.Captured && s.Control != nil
	}
	slices.Sort(pcs)
	for _, pc := range pcs {
		j.Insts = append(j.Insts, put(f.code[pc], j.Captured))
	}
	return j
}
