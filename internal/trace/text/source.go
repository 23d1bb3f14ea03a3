package text

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/trace"
)

// keepBytes bounds the part of a set that stays decoded after its scans (our
// choice).
const keepBytes = 8 << 20

// markEvery is the number of blocks between remembered places.
const markEvery = 256

// budget is memory that the launches of a set share.
type budget struct{ left atomic.Int64 }

// take takes n bytes if they are available.
func (b *budget) take(n int64) bool {
	if b.left.Add(-n) >= 0 {
		return true
	}
	b.left.Add(n)
	return false
}

// source is a launch in a file.
type source struct {
	place place
	// list is the line that names the launch, for messages; File is empty if there
	// is none.
	list   trace.Error
	budget *budget
	// insts is the number of instructions in stats.csv, -1 if it has none.
	insts int64
}

// Name returns the name of the file.
func (s *source) Name() string { return s.place.String() }

// Header reads only the header.
func (s *source) Header() (trace.Header, error) {
	in, err := s.open(0)
	if err != nil {
		return trace.Header{}, err
	}
	defer in.Close()
	sc := newScanner(s.place, in)
	if err := sc.readHeader(); err != nil {
		return trace.Header{}, err
	}
	return sc.h, nil
}

// open opens the file's text.
func (s *source) open(offset int64) (*input, error) {
	in, err := openText(s.place, offset)
	if err == nil {
		return in, nil
	}
	e := openError(s.place, err)
	if s.list.File != "" {
		e.Msg = fmt.Sprintf("%s (named at %s:%d)", e.Msg, s.list.File, s.list.Line)
	}
	return nil, e
}

// mark is the place of a block in a plain file.
type mark struct {
	offset int64
	line   int
}

// Open scans the file.
func (s *source) Open() (*trace.Kernel, error) {
	in, err := s.open(0)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	sc := newScanner(s.place, in)
	sc.notes = &notes{}
	if err := sc.readHeader(); err != nil {
		return nil, err
	}
	sc.c = newCode(sc.h.Version)
	if sc.h.Version < 3 {
		sc.lead = 4
	}
	k := &trace.Kernel{}
	bl := &blocks{source: s, code: sc.c, out: map[*trace.Block]bool{}, free: make(chan *trace.Block, mostFree)}
	first, ok := sc.content()
	switch {
	case !ok:
		return nil, sc.ended("before the first thread block")
	case hexDigit[first[0]] != 255:
		sc.l.back()
		if err := sc.raw(bl, k); err != nil {
			bl.release()
			return nil, err
		}
	default:
		sc.l.back()
		if err := sc.grouped(bl, k, in.plain); err != nil {
			bl.release()
			return nil, err
		}
	}
	k.Header = sc.h
	k.WarpInsts, k.ThreadInsts = sc.warpInsts, sc.threadInsts
	if sc.globals > 0 && sc.zeros == sc.globals {
		bl.release()
		return nil, sc.zeroError()
	}
	to := sc.c.seal()
	for _, b := range bl.kept {
		for i := range b.Insts {
			b.Insts[i].At = to[b.Insts[i].At]
		}
	}
	k.Code = sc.c.static
	k.Blocks = bl
	bl.h, bl.lead, bl.all = sc.h, sc.lead, len(k.Present)
	if n := k.Grid.Count(); uint64(len(k.Present)) < n {
		k.Warnings = append(k.Warnings, fmt.Sprintf("%s: %d of %d thread blocks are present; the others did nothing, or the file is truncated", sc.file, len(k.Present), n))
	}
	if s.insts >= 0 && uint64(s.insts) != k.WarpInsts {
		k.Warnings = append(k.Warnings, fmt.Sprintf("%s: stats.csv has %d instructions, the file %d", sc.file, s.insts, k.WarpInsts))
	}
	k.Warnings = append(k.Warnings, sc.notes.list()...)
	return k, nil
}

// order checks that no block appears twice.
type order struct {
	seen map[uint64]bool // nil as long as blocks ascend
}

// add adds the next block's linear index and reports whether it is new.
func (o *order) add(present []uint64, at uint64) bool {
	if o.seen == nil {
		if len(present) == 0 || at > present[len(present)-1] {
			return true
		}
		o.seen = make(map[uint64]bool, len(present))
		for _, p := range present {
			o.seen[p] = true
		}
	}
	if o.seen[at] {
		return false
	}
	o.seen[at] = true
	return true
}

// grouped scans the blocks of a file whose records are grouped by block.
func (s *scanner) grouped(bl *blocks, k *trace.Kernel, plain bool) *trace.Error {
	var o order
	s.b = &trace.Block{}
	keeping := true
	for {
		more, err := s.begin()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if plain && len(k.Present)%markEvery == 0 {
			bl.marks = append(bl.marks, mark{s.l.offset + int64(s.l.from), s.l.line - 1})
		}
		reset(s.b)
		s.store = keeping
		if err := s.block(); err != nil {
			return err
		}
		at := s.h.Grid.Linear(s.index)
		if !o.add(k.Present, at) {
			return s.fail("this thread block appears twice")
		}
		k.Present = append(k.Present, at)
		if keeping {
			keeping = bl.keep(s.b)
			if !keeping {
				s.b = &trace.Block{}
			}
		}
	}
	if len(k.Present) == 0 {
		return s.ended("before the first thread block")
	}
	return nil
}

// reset empties a block for reuse.
func reset(b *trace.Block) {
	b.Warps, b.Insts, b.Mems, b.Deltas = b.Warps[:0], b.Insts[:0], b.Mems[:0], b.Deltas[:0]
}

// bytesOf returns the memory that a block takes.
func bytesOf(b *trace.Block) int64 {
	const block, warp, inst, mem, delta = 128, 12, 20, 32, 8
	return block + warp*int64(len(b.Warps)) + inst*int64(len(b.Insts)) + mem*int64(len(b.Mems)) + delta*int64(len(b.Deltas))
}

// keep keeps a copy of a block if there is room.
func (bl *blocks) keep(b *trace.Block) bool {
	n := bytesOf(b)
	if !bl.source.budget.take(n) {
		return false
	}
	bl.taken += n
	bl.kept = append(bl.kept, &trace.Block{
		Index:  b.Index,
		Warps:  append([]trace.Warp(nil), b.Warps...),
		Insts:  append([]trace.Inst(nil), b.Insts...),
		Mems:   append([]trace.Mem(nil), b.Mems...),
		Deltas: append([]int64(nil), b.Deltas...),
	})
	return true
}

// maxRaw bounds the memory for a file whose records are not grouped (our choice).
const maxRaw = 1 << 30

// raw scans a file as the tracer wrote it: records in the order of execution, each
// with its block and warp. All of it is held in memory.
func (s *scanner) raw(bl *blocks, k *trace.Kernel) *trace.Error {
	parts := map[uint64][]*trace.Block{} // by block, for each warp
	warps := warpsOf(&s.h)
	line := &trace.Block{}
	var bytes int64
	var now *trace.Block
	var nowAt uint64
	for {
		b, ok := s.content()
		if !ok {
			if !isEOF(s.l.err) {
				return s.ended("")
			}
			break
		}
		if now == nil {
			if s.lead = leadOf(b, s.h.LineInfo); s.lead == 0 {
				return s.fail("expected block and warp, the pc and a mask in a line of a raw trace; found %q", clip(b))
			}
		}
		d, w, ok := lead(b)
		if !ok {
			return s.fail("expected block and warp in %q", clip(b))
		}
		for i := range d {
			if d[i] >= s.h.Grid[i] {
				return s.fail("there is no thread block %v in a grid of %v", d, s.h.Grid)
			}
		}
		if w >= uint64(warps) {
			return s.fail("there is no warp %d in a thread block of %d warps", w, warps)
		}
		at := s.h.Grid.Linear(d)
		if now == nil || at != nowAt || int32(w) != s.warp {
			list := parts[at]
			if list == nil {
				list = make([]*trace.Block, warps)
				parts[at] = list
				bytes += 8*int64(warps) + 64
			}
			if list[w] == nil {
				list[w] = &trace.Block{}
				bytes += 128
			}
			now, nowAt = list[w], at
		}
		s.inBlock, s.index, s.warp, s.last = true, d, int32(w), -1
		s.exited = 0
		reset(line)
		s.b, s.store = line, false
		if err := s.record(b); err != nil {
			if !s.l.terminated {
				return s.ended("within a line")
			}
			return err
		}
		if bytes += s.gather(now, line); bytes > maxRaw {
			return s.fail("this raw trace takes more than %d MiB, and separating its warps needs all of it in memory; group it with Accel-Sim's post-traces-processing", maxRaw>>20)
		}
	}
	return s.assemble(bl, k, parts)
}

// gather adds the record of a line to its warp and returns the memory that it
// takes. The two records of an LDGSTS, for destination and source, become one.
func (s *scanner) gather(to, line *trace.Block) int64 {
	in := line.Insts[0]
	if in.Mem >= 0 {
		m := line.Mems[0]
		m.First = int32(len(to.Deltas))
		in.Mem = int32(len(to.Mems))
		to.Mems = append(to.Mems, m)
		to.Deltas = append(to.Deltas, line.Deltas...)
		if n := len(to.Insts); n > 0 && s.c.traits[in.At].async {
			if before := &to.Insts[n-1]; before.At == in.At && before.Mask == in.Mask && before.NMems == 1 {
				before.NMems = 2
				s.warpInsts--
				s.threadInsts -= uint64(in.Mask.Count())
				return bytesOf(line)
			}
		}
	}
	to.Insts = append(to.Insts, in)
	return bytesOf(line)
}

// assemble builds blocks from warps, in linear order.
func (s *scanner) assemble(bl *blocks, k *trace.Kernel, parts map[uint64][]*trace.Block) *trace.Error {
	for at := range parts {
		k.Present = append(k.Present, at)
	}
	slices.Sort(k.Present)
	for _, at := range k.Present {
		b := &trace.Block{Index: s.h.Grid.At(at)}
		s.inBlock, s.index, s.b = true, b.Index, b
		for w, p := range parts[at] {
			if p == nil {
				continue
			}
			s.warp = int32(w)
			from := int32(len(b.Insts))
			mems, deltas := int32(len(b.Mems)), int32(len(b.Deltas))
			var exited isa.LaneMask
			for _, in := range p.Insts {
				if in.Mem >= 0 {
					in.Mem += mems
				}
				if in.Mask&exited != 0 {
					s.notes.add(noteAfter, s)
				}
				if s.c.traits[in.At].exit {
					exited |= in.Mask
				}
				b.Insts = append(b.Insts, in)
			}
			for _, m := range p.Mems {
				m.First += deltas
				b.Mems = append(b.Mems, m)
			}
			b.Deltas = append(b.Deltas, p.Deltas...)
			b.Warps = append(b.Warps, trace.Warp{ID: s.warp, From: from, Upto: int32(len(b.Insts))})
			if !s.c.traits[b.Insts[len(b.Insts)-1].At].exit {
				s.notes.add(noteExit, s)
			}
		}
		s.warp = -1
		s.notes.warps(s)
		delete(parts, at)
		bl.kept = append(bl.kept, b)
	}
	return nil
}

// lead reads the block and warp at the beginning of a raw line.
func lead(b []byte) (d trace.Dim, w uint64, ok bool) {
	var v [4]uint64
	for i := range v {
		n, k := decimal(b)
		if k == 0 || k == len(b) || b[k] != ' ' || n > 1<<32-1 {
			return d, 0, false
		}
		v[i], b = n, b[k+1:]
	}
	return trace.Dim{uint32(v[0]), uint32(v[1]), uint32(v[2])}, v[3], true
}

// leadOf returns the number of columns before the record in a raw line: four, or
// more with some options of the tracer. The mask is the first number of eight
// hexadecimal digits with the pc before it. The result is 0 if there is none.
func leadOf(b []byte, lineInfo bool) int {
	t := tokens{b: b}
	before := 0
	for i := 0; i < 32; i++ {
		tok := t.next()
		if len(tok) == 0 {
			return 0
		}
		if len(tok) == 8 && before >= 4 && isHex(tok) {
			n := i - 1
			if lineInfo {
				n--
			}
			if n < 4 {
				return 0
			}
			return n
		}
		before = len(tok)
	}
	return 0
}

func isHex(b []byte) bool {
	for _, c := range b {
		if hexDigit[c] == 255 {
			return false
		}
	}
	return true
}
