package container

import (
	"math/bits"
	"slices"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/trace"
)

// This file: the encoding of everything outside of parts.

const (
	magic      = "heddletr"
	tail       = "rteddleh"
	version    = 1
	headSize   = len(magic) + 1 // magic, version
	footSize   = 12 + len(tail) // bytes of the index, the same inflated, checksum: four bytes each, lowest first
	maxIndex   = 1 << 30        // bytes of an index, our own limit
	maxBlocks  = 1 << 26        // of a launch, our own limit: half a gigabyte for their list
	maxInline  = 1 << 14        // bytes of inline parts: small files need no frame for them
	smallParts = 1 << 11        // parts up to this size in bytes may be inline
)

// staticColumn is a stream of bytes of static code.
type staticColumn uint8

const (
	staticPC    staticColumn = iota // minus that of the previous entry and 16
	staticFunc                      // minus that of the previous entry
	staticOp                        // string
	staticShape                     // destinations, sources, immediates and width
	staticFiles                     // of registers
	staticRegs                      // numbers: RZ is 0, R0 1 and so on
	staticImms
	staticLine
	staticFlags   // which optional fields exist
	staticControl // stall, yield, counters, masks
	staticWords
	staticGuard
	staticText // string
	staticColumns
)

const (
	hasControl byte = 1 << iota
	hasWords
	hasGuard
	hasText
	hasKnown = hasControl | hasWords | hasGuard | hasText
)

// texts are the strings that occur, each stored once.
type texts struct {
	list []string
	at   map[string]uint64
}

func (t *texts) put(b []byte, s string) []byte {
	n, ok := t.at[s]
	if !ok {
		n = uint64(len(t.list))
		if t.at == nil {
			t.at = map[string]uint64{}
		}
		t.at[s] = n
		t.list = append(t.list, s)
	}
	return uvarint(b, n)
}

// putStatic appends an instruction to columns.
func putStatic(c *[staticColumns][]byte, t *texts, s, before *trace.Static) {
	num := func(k staticColumn, v uint64) { c[k] = uvarint(c[k], v) }
	num(staticPC, zigzag(int64(s.PC)-int64(before.PC)-16))
	num(staticFunc, zigzag(int64(s.Func)-int64(before.Func)))
	c[staticOp] = t.put(c[staticOp], s.Op)
	// One byte for the usual shape.
	if len(s.Dsts) < 2 && len(s.Srcs) < 6 && len(s.Imms) < 2 && slices.Contains(usualWidths, s.Width) {
		c[staticShape] = append(c[staticShape], byte(len(s.Dsts)|len(s.Srcs)<<1|len(s.Imms)<<4|slices.Index(usualWidths, s.Width)<<5))
	} else {
		c[staticShape] = append(c[staticShape], unusualShape)
		num(staticShape, uint64(len(s.Dsts)))
		num(staticShape, uint64(len(s.Srcs)))
		num(staticShape, uint64(len(s.Imms)))
		c[staticShape] = append(c[staticShape], s.Width)
	}
	for _, list := range [2][]trace.Reg{s.Dsts, s.Srcs} {
		for _, r := range list {
			c[staticFiles] = append(c[staticFiles], byte(r.File))
			switch {
			case r.N < 255:
				num(staticRegs, uint64(r.N)+1)
			case r.N == 255:
				num(staticRegs, 0)
			default:
				num(staticRegs, uint64(r.N))
			}
		}
	}
	for _, v := range s.Imms {
		num(staticImms, zigzag(v))
	}
	num(staticLine, zigzag(int64(s.Line)-int64(before.Line)))
	var flags byte
	if s.Control != nil {
		flags |= hasControl
		yield := byte(0)
		if s.Control.Yield {
			yield = 1
		}
		c[staticControl] = append(c[staticControl], s.Control.Stall, yield, s.Control.Write, s.Control.Read, s.Control.Wait, s.Control.Reuse)
	}
	if s.Words != [2]uint64{} {
		flags |= hasWords
		for _, w := range s.Words {
			for k := range 8 {
				c[staticWords] = append(c[staticWords], byte(w>>(8*k)))
			}
		}
	}
	if s.Guard != (trace.Guard{}) {
		flags |= hasGuard
		var g byte
		for i, v := range [...]bool{s.Guard.Known, s.Guard.Negated, s.Guard.Uniform} {
			if v {
				g |= 1 << i
			}
		}
		c[staticGuard] = append(c[staticGuard], g, s.Guard.Reg)
	}
	if s.Text != "" {
		flags |= hasText
		c[staticText] = t.put(c[staticText], s.Text)
	}
	c[staticFlags] = append(c[staticFlags], flags)
}

// usualWidths have numbers of three bits in the byte of a shape; unusualShape is
// not one of them: no instruction has seven sources there.
var usualWidths = []uint8{0, 4, 8, 16, 1, 2, 32, 64}

const unusualShape = 7 << 1

func (t *texts) get(r *reader) string {
	n := r.uvarint()
	if n >= uint64(len(t.list)) {
		r.bad = true
		return ""
	}
	return t.list[n]
}

// getStatic reads an instruction.
func getStatic(c *[staticColumns]reader, t *texts, before *trace.Static) trace.Static {
	s := trace.Static{
		PC:   uint32(int64(before.PC) + 16 + c[staticPC].varint()),
		Func: int32(int64(before.Func) + c[staticFunc].varint()),
		Op:   t.get(&c[staticOp]),
	}
	shape := c[staticShape].byte()
	dsts, srcs, imms := int(shape&1), int(shape>>1&7), int(shape>>4&1)
	s.Width = usualWidths[shape>>5]
	if shape == unusualShape {
		r := &c[staticShape]
		left := uint64(len(c[staticFiles].b)-c[staticFiles].at) + 1
		dsts, srcs = int(r.below(left)), int(r.below(left))
		imms = int(r.below(uint64(len(c[staticImms].b)-c[staticImms].at) + 1))
		s.Width = r.byte()
	}
	regs := func(n int) []trace.Reg {
		if n == 0 {
			return nil
		}
		list := make([]trace.Reg, n)
		for i := range list {
			list[i].File = isa.RegFile(c[staticFiles].byte())
			v := c[staticRegs].below(1 << 16)
			switch {
			case v == 0:
				list[i].N = 255
			case v <= 255:
				list[i].N = uint16(v - 1)
			default:
				list[i].N = uint16(v)
			}
		}
		return list
	}
	s.Dsts, s.Srcs = regs(dsts), regs(srcs)
	for range imms {
		s.Imms = append(s.Imms, c[staticImms].varint())
	}
	s.Line = int32(int64(before.Line) + c[staticLine].varint())
	flags := c[staticFlags].byte()
	if flags&^hasKnown != 0 {
		c[staticFlags].bad = true
	}
	if flags&hasControl != 0 {
		if b := c[staticControl].bytes(6); b != nil {
			s.Control = &isa.Control{Stall: b[0], Yield: b[1] == 1, Write: b[2], Read: b[3], Wait: b[4], Reuse: b[5]}
		}
	}
	if flags&hasWords != 0 {
		for i := range s.Words {
			for k := range 8 {
				s.Words[i] |= uint64(c[staticWords].byte()) << (8 * k)
			}
		}
	}
	if flags&hasGuard != 0 {
		g := c[staticGuard].byte()
		s.Guard = trace.Guard{Known: g&1 != 0, Negated: g&2 != 0, Uniform: g&4 != 0, Reg: c[staticGuard].byte()}
	}
	if flags&hasText != 0 {
		s.Text = t.get(&c[staticText])
	}
	return s
}

// part is an entry of the table of parts.
type part struct {
	at, size int64 // in the file; for an inline part, in the index
	flags    byte
	blocks   uint64
	insts    uint64
	crc      uint32
}

func putHeader(b []byte, t *texts, h *trace.Header) []byte {
	b = t.put(b, h.Kernel)
	b = uvarint(b, zigzag(h.ID))
	for _, d := range [2]trace.Dim{h.Grid, h.Block} {
		for _, v := range d {
			b = uvarint(b, uint64(v))
		}
	}
	for _, v := range [...]int{h.Shared, h.Registers, h.Arch, h.Version} {
		b = uvarint(b, zigzag(int64(v)))
	}
	b = uvarint(b, h.Stream)
	b = putBase(b, h.SharedBase)
	b = putBase(b, h.LocalBase)
	b = t.put(b, h.NVBit)
	line := byte(0)
	if h.LineInfo {
		line = 1
	}
	b = append(b, line)
	return putTexts(b, t, h.Extra)
}

// putBase writes the address of a window of 16 MiB in a few bytes.
func putBase(b []byte, v uint64) []byte { return uvarint(b, bits.RotateLeft64(v, -24)) }

func getBase(r *reader) uint64 { return bits.RotateLeft64(r.uvarint(), 24) }

func putTexts(b []byte, t *texts, list []string) []byte {
	b = uvarint(b, uint64(len(list)))
	for _, s := range list {
		b = t.put(b, s)
	}
	return b
}

func (t *texts) getList(r *reader) []string {
	n := r.count(1)
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = t.get(r)
	}
	return list
}

func getHeader(r *reader, t *texts) trace.Header {
	h := trace.Header{Kernel: t.get(r), ID: r.varint()}
	for _, d := range [2]*trace.Dim{&h.Grid, &h.Block} {
		for i := range d {
			d[i] = uint32(r.below(1 << 32))
		}
	}
	for _, v := range [...]*int{&h.Shared, &h.Registers, &h.Arch, &h.Version} {
		*v = int(r.varint())
	}
	h.Stream = r.uvarint()
	h.SharedBase, h.LocalBase = getBase(r), getBase(r)
	h.NVBit = t.get(r)
	h.LineInfo = r.byte() == 1
	h.Extra = t.getList(r)
	return h
}

// putRuns writes numbers as runs of consecutive ones: their count, then for each
// run its first number minus the end of the previous run, and its length.
func putRuns(b []byte, list []uint64) []byte {
	b = uvarint(b, uint64(len(list)))
	end := uint64(0)
	for i := 0; i < len(list); {
		n := 1
		for i+n < len(list) && list[i+n] == list[i]+uint64(n) {
			n++
		}
		b = uvarint(b, zigzag(int64(list[i]-end)))
		b = uvarint(b, uint64(n))
		end = list[i] + uint64(n)
		i += n
	}
	return b
}

// getRuns reads numbers, each below limit; at most most of them are allowed.
func getRuns(r *reader, limit, most uint64) []uint64 {
	n := r.uvarint()
	if n > most {
		r.bad = true
		return nil
	}
	var list []uint64
	end := uint64(0)
	for uint64(len(list)) < n {
		first := end + uint64(r.varint())
		k := r.uvarint()
		if r.bad || k == 0 || k > n-uint64(len(list)) || first >= limit || k > limit-first {
			r.bad = true
			return nil
		}
		for i := range k {
			list = append(list, first+i)
		}
		end = first + k
	}
	return list
}

// skipRuns reads past runs and returns their bytes.
func skipRuns(r *reader) []byte {
	from := r.at
	for n := r.uvarint(); n > 0; {
		r.varint()
		k := r.uvarint()
		if r.bad || k == 0 || k > n {
			r.bad = true
			return nil
		}
		n -= k
	}
	return r.b[from:r.at]
}
