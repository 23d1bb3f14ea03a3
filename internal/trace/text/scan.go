package text

import (
	"bytes"
	"io"
	"math"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/trace"
)

// The lines around blocks and warps.
const (
	lineBegin = "#BEGIN_TB"
	lineEnd   = "#END_TB"
	lineBlock = "thread block = "
	lineWarp  = "warp = "
	lineInsts = "insts = "
)

// maxRecords bounds the records of a block, so that a small compressed file does
// not fill memory (our choice). They take 1.3 GB.
const maxRecords = 1 << 26

// scanner reads the text of a launch line by line.
type scanner struct {
	file string
	l    *lines
	h    trace.Header
	c    *code
	bad  *trace.Error

	inBlock bool
	index   trace.Dim
	warp    int32 // current warp, -1 for none
	lead    int   // decimal columns before the record, of which the first four are block and warp

	b     *trace.Block
	store bool // keep the records of a block; otherwise only those of a line

	last   int32  // form of the previous line, -1 if unknown
	lastAt int32  // its instruction
	exited uint32 // the warp's lanes that have executed EXIT
	spaces []byte
	static trace.Static
	key    []byte

	warpInsts, threadInsts uint64
	// globals are the accesses to global memory with an active lane, zeros those
	// whose first address is 0.
	globals, zeros uint64
	notes          *notes // nil when the file is read again
}

func newScanner(p place, in *input) *scanner {
	return &scanner{file: p.String(), l: newLines(in, 0, 0), warp: -1, last: -1}
}

// hexDigit is the value of a hexadecimal digit, 255 for any other byte.
var hexDigit = func() (t [256]uint8) {
	for i := range t {
		switch c := byte(i); {
		case c >= '0' && c <= '9':
			t[i] = c - '0'
		case c >= 'a' && c <= 'f':
			t[i] = c - 'a' + 10
		case c >= 'A' && c <= 'F':
			t[i] = c - 'A' + 10
		default:
			t[i] = 255
		}
	}
	return t
}()

func isEOF(err error) bool { return err == io.EOF }

// begin looks for the next block and reports whether there is one.
func (s *scanner) begin() (bool, *trace.Error) {
	s.inBlock, s.warp = false, -1
	b, ok := s.content()
	if !ok {
		if isEOF(s.l.err) {
			return false, nil
		}
		return false, s.ended("")
	}
	if string(b) != lineBegin {
		if bytes.HasPrefix([]byte(lineBegin), b) && !s.l.terminated {
			return false, s.ended("within a line")
		}
		return false, s.fail("expected %s, found %q; lines are missing or mixed up", lineBegin, clip(b))
	}
	return true, nil
}

// content returns the next line that is not empty.
func (s *scanner) content() ([]byte, bool) {
	for {
		b, ok := s.l.next()
		if !ok || len(b) > 0 {
			return b, ok
		}
	}
}

// block reads a block after begin has read its first line into s.b.
func (s *scanner) block() *trace.Error {
	s.last = -1
	b, ok := s.content()
	if !ok {
		return s.ended("where a thread block begins")
	}
	d, ok := parseDim(bytes.TrimPrefix(b, []byte(lineBlock)))
	if !ok || !bytes.HasPrefix(b, []byte(lineBlock)) {
		if !s.l.terminated {
			return s.ended("where a thread block begins")
		}
		return s.fail("expected \"%sx,y,z\", found %q", lineBlock, clip(b))
	}
	for i := range d {
		if d[i] >= s.h.Grid[i] {
			return s.fail("there is no thread block %v in a grid of %v", d, s.h.Grid)
		}
	}
	s.inBlock, s.index = true, d
	s.b.Index = d
	for {
		b, ok := s.content()
		if !ok {
			return s.ended("inside a thread block")
		}
		if string(b) == lineEnd {
			break
		}
		if err := s.oneWarp(b); err != nil {
			return err
		}
	}
	s.warp = -1
	if s.notes != nil {
		s.notes.warps(s)
	}
	return nil
}

// oneWarp reads a warp whose first line is b.
func (s *scanner) oneWarp(b []byte) *trace.Error {
	w, k := decimal(bytes.TrimPrefix(b, []byte(lineWarp)))
	if !bytes.HasPrefix(b, []byte(lineWarp)) || k == 0 || k != len(b)-len(lineWarp) {
		if !s.l.terminated {
			return s.ended("inside a thread block")
		}
		if s.warp >= 0 && hexDigit[b[0]] != 255 {
			return s.fail("there are more instructions than \"%s\" announces", lineInsts)
		}
		return s.fail("expected \"%sN\" or %s, found %q", lineWarp, lineEnd, clip(b))
	}
	if n := warpsOf(&s.h); w >= uint64(n) {
		return s.fail("there is no warp %d in a thread block of %d warps", w, n)
	}
	if int32(w) <= s.warp {
		return s.fail("warp %d after warp %d: blocks or warps are mixed up", w, s.warp)
	}
	s.warp, s.last, s.exited = int32(w), -1, 0
	if b, _ = s.content(); b == nil {
		return s.ended("inside a thread block")
	}
	n, k := decimal(bytes.TrimPrefix(b, []byte(lineInsts)))
	if !bytes.HasPrefix(b, []byte(lineInsts)) || k == 0 || k != len(b)-len(lineInsts) {
		if !s.l.terminated {
			return s.ended("inside a thread block")
		}
		return s.fail("expected \"%sN\", found %q", lineInsts, clip(b))
	}
	if n > maxRecords {
		return s.fail("%d instructions of one warp are more than the %d that a block may have", n, maxRecords)
	}
	from := int32(len(s.b.Insts))
	for i := range n {
		b, ok := s.content()
		if !ok {
			return s.ended("inside a warp")
		}
		if hexDigit[b[0]] == 255 {
			if !s.l.terminated {
				return s.ended("inside a warp")
			}
			return s.fail("only %d of %d instructions are present: lines are missing", i, n)
		}
		if !s.store {
			s.b.Insts, s.b.Mems, s.b.Deltas = s.b.Insts[:0], s.b.Mems[:0], s.b.Deltas[:0]
		} else if len(s.b.Insts) == maxRecords {
			return s.fail("more than %d instructions in one block", maxRecords)
		}
		if err := s.record(b); err != nil {
			if !s.l.terminated {
				return s.ended("within a line")
			}
			return err
		}
	}
	upto := from
	if s.store {
		upto = int32(len(s.b.Insts))
	}
	s.b.Warps = append(s.b.Warps, trace.Warp{ID: s.warp, From: from, Upto: upto})
	if s.notes != nil {
		if n == 0 {
			s.notes.add(noteEmpty, s)
		} else if !s.c.traits[s.lastAt].exit {
			s.notes.add(noteExit, s)
		}
	}
	return nil
}

// warpsOf returns the number of warps of a block.
func warpsOf(h *trace.Header) int {
	return int((h.Block.Count() + isa.WarpSize - 1) / isa.WarpSize)
}

// record reads the line of an instruction.
func (s *scanner) record(b []byte) *trace.Error {
	i := 0
	if s.lead > 0 {
		if i = s.columns(b); i < 0 {
			return s.bad
		}
	}
	var line int32
	if s.h.LineInfo {
		n, k := decimal(b[i:])
		if k == 0 || n > math.MaxInt32 || i+k >= len(b) || b[i+k] != ' ' {
			return s.fail("expected a source line before the instruction in %q", clip(b))
		}
		line = int32(n)
		i += k + 1
	}
	var pc uint32
	k := i
	for ; i < len(b) && hexDigit[b[i]] != 255; i++ {
		pc = pc<<4 | uint32(hexDigit[b[i]])
	}
	if i == k || i-k > 8 || i == len(b) || b[i] != ' ' {
		return s.fail("expected an instruction, which begins with its pc in hexadecimal digits; found %q", clip(b))
	}
	i++
	var mask uint32
	k = i
	for ; i < len(b) && hexDigit[b[i]] != 255; i++ {
		mask = mask<<4 | uint32(hexDigit[b[i]])
	}
	if i-k != 8 || i == len(b) || b[i] != ' ' {
		return s.fail("expected a mask of eight hexadecimal digits after the pc; found %q", clip(b))
	}
	rest := b[i+1:]

	f := s.lookup(pc, line, rest)
	if f < 0 {
		return s.slow(pc, line, mask, rest)
	}
	form := &s.c.forms[f]
	at := form.at
	if form.mem {
		m, i, msg := s.addresses(rest, len(form.head), mask)
		if msg != "" {
			return s.fail("%s: %q", msg, clip(b))
		}
		if string(rest[i:]) != form.tail {
			s.b.Deltas = s.b.Deltas[:m.First]
			return s.slow(pc, line, mask, rest)
		}
		s.append(at, mask, &m)
	} else {
		s.append(at, mask, nil)
	}
	if s.last >= 0 {
		s.c.forms[s.last].follow = f
	}
	s.last = f
	return nil
}

// lookup returns the form of a line, -1 if it is unknown.
func (s *scanner) lookup(pc uint32, line int32, rest []byte) int32 {
	if s.last >= 0 {
		if f := s.c.forms[s.last].follow; s.c.forms[f].is(pc, line, rest) {
			return f
		}
	}
	for i := s.c.heads[s.c.hash(pc)]; i != 0; i = s.c.forms[i-1].next {
		if s.c.forms[i-1].is(pc, line, rest) {
			return i - 1
		}
	}
	return -1
}

// is reports whether a line has this form, up to the addresses.
func (f *form) is(pc uint32, line int32, rest []byte) bool {
	if f.pc != pc || f.line != line || len(rest) < len(f.head) || string(rest[:len(f.head)]) != f.head {
		return false
	}
	if f.mem {
		return len(rest) > len(f.head) && rest[len(f.head)] == ' '
	}
	return len(rest) == len(f.head)
}

// append stores a record.
func (s *scanner) append(at int32, mask uint32, m *trace.Mem) {
	s.lastAt = at
	s.warpInsts++
	s.threadInsts += uint64(bits.OnesCount32(mask))
	if mask&s.exited != 0 && s.notes != nil {
		s.notes.add(noteAfter, s)
	}
	if s.c.traits[at].exit {
		s.exited |= mask
	}
	in := trace.Inst{At: at, Active: isa.LaneMask(mask), Mask: isa.LaneMask(mask), Mem: -1}
	if m != nil {
		in.Mem, in.NMems = int32(len(s.b.Mems)), 1
		s.b.Mems = append(s.b.Mems, *m)
		if mask != 0 && s.notes != nil && s.c.traits[at].global {
			s.globals++
			if m.Base == 0 && (m.Mode != trace.ListAll || s.b.Deltas[m.First] == 0) {
				s.zeros++
				s.notes.add(noteZero, s)
			}
		}
	}
	s.b.Insts = append(s.b.Insts, in)
}

// columns reads the block and warp before a record and checks that they are the
// current ones. It returns where the record begins, or -1.
func (s *scanner) columns(b []byte) int {
	at := 0
	var lead [4]uint64
	for i := range s.lead {
		n, k := decimal(b[at:])
		if k == 0 || at+k >= len(b) || b[at+k] != ' ' {
			s.bad = s.fail("expected %d decimal numbers, starting with block and warp, before the instruction in %q", s.lead, clip(b))
			return -1
		}
		if i < len(lead) {
			lead[i] = n
		}
		at += k + 1
	}
	if lead != [4]uint64{uint64(s.index[0]), uint64(s.index[1]), uint64(s.index[2]), uint64(s.warp)} {
		s.bad = s.fail("this line belongs to thread block %d,%d,%d, warp %d: lines are mixed up", lead[0], lead[1], lead[2], lead[3])
		return -1
	}
	return at
}

// addresses reads the mode and the addresses of a record from b[i:], which begins
// with a space. It returns where they end, and an error message, if any.
func (s *scanner) addresses(b []byte, i int, mask uint32) (m trace.Mem, end int, msg string) {
	m.First = int32(len(s.b.Deltas))
	if i+1 >= len(b) || b[i] != ' ' {
		return m, i, "the mode of the addresses is missing"
	}
	m.Mode = trace.Mode(b[i+1] - '0')
	i += 2
	lanes := bits.OnesCount32(mask)
	switch m.Mode {
	case trace.ListAll:
		for range lanes {
			a, k := hexNumber(b, i)
			if k == i {
				return m, i, "expected an address for each lane of the mask"
			}
			s.b.Deltas = append(s.b.Deltas, int64(a))
			i = k
		}
		m.N = uint8(lanes)
	case trace.BaseStride:
		var k int
		if m.Base, k = hexNumber(b, i); k == i {
			return m, i, "expected a base address"
		}
		i = k
		n, k := signed(b, i)
		if k == i || n != int64(int32(n)) {
			return m, i, "expected a stride of at most 32 bits"
		}
		m.Stride, i = int32(n), k
	case trace.BaseDelta:
		var k int
		if m.Base, k = hexNumber(b, i); k == i {
			return m, i, "expected a base address"
		}
		i = k
		for range lanes - 1 {
			n, k := signed(b, i)
			if k == i {
				return m, i, "expected a difference of addresses for each lane of the mask but the first"
			}
			s.b.Deltas = append(s.b.Deltas, n)
			i = k
			m.N++
		}
	default:
		return m, i, "invalid mode of addresses; want 0, 1 or 2"
	}
	if i < len(b) && b[i] != ' ' {
		return m, i, "addresses must be separated by spaces"
	}
	return m, i, ""
}

// hexNumber reads a space and a hexadecimal number, with or without 0x. It returns
// where it ends, or i if there is none.
func hexNumber(b []byte, i int) (n uint64, end int) {
	k := i + 1
	if k >= len(b) || b[i] != ' ' {
		return 0, i
	}
	if k+1 < len(b) && b[k] == '0' && b[k+1] == 'x' {
		k += 2
	}
	from := k
	for ; k < len(b) && hexDigit[b[k]] != 255; k++ {
		n = n<<4 | uint64(hexDigit[b[k]])
	}
	if k == from || k-from > 16 {
		return 0, i
	}
	return n, k
}

// signed reads a space and a decimal number. It returns where it ends, or i if
// there is none.
func signed(b []byte, i int) (n int64, end int) {
	k := i + 1
	if k >= len(b) || b[i] != ' ' {
		return 0, i
	}
	minus := b[k] == '-'
	if minus {
		k++
	}
	from := k
	var u uint64
	for ; k < len(b) && b[k]-'0' <= 9; k++ {
		u = u*10 + uint64(b[k]-'0')
	}
	if k == from || k-from > 18 {
		// Differences between far windows need 19 digits.
		if k-from != 19 || u > math.MaxInt64 {
			return 0, i
		}
	}
	n = int64(u)
	if minus {
		n = -n
	}
	return n, k
}

// slow reads a line of unknown form, and remembers the form.
func (s *scanner) slow(pc uint32, line int32, mask uint32, rest []byte) *trace.Error {
	if rest[0] == ' ' || bytes.Contains(rest, []byte("  ")) || bytes.IndexByte(rest, '\t') >= 0 {
		s.spaces = append(s.spaces[:0], bytes.Join(bytes.Fields(rest), []byte(" "))...)
		rest = s.spaces
	}
	st := &s.static
	*st = trace.Static{PC: pc, Line: line, Dsts: st.Dsts[:0], Srcs: st.Srcs[:0], Imms: st.Imms[:0]}
	t := tokens{b: rest}
	var ok bool
	if st.Dsts, ok = t.registers(st.Dsts); !ok {
		return s.fail("the destinations, a number and as many registers, cannot be read in %q", clip(rest))
	}
	op := t.next()
	if !isOpcode(op) {
		return s.fail("expected an opcode in %q, found %q", clip(rest), clip(op))
	}
	st.Op = string(op)
	if st.Srcs, ok = t.registers(st.Srcs); !ok {
		return s.fail("the sources, a number and as many registers, cannot be read in %q", clip(rest))
	}
	width := t.next()
	n, k := decimal(width)
	if k == 0 || k != len(width) || n > 255 {
		return s.fail("expected a width in bytes after the sources in %q", clip(rest))
	}
	st.Width = uint8(n)
	f := form{pc: pc, line: line, mem: n > 0}
	headEnd, tailAt := t.at, t.at
	var m trace.Mem
	if f.mem {
		var msg string
		if m, tailAt, msg = s.addresses(rest, t.at, mask); msg != "" {
			return s.fail("%s: %q", msg, clip(rest))
		}
		t.at = tailAt
	}
	values, err := s.immediates(&t)
	if err != nil {
		return err
	}
	s.key = appendKey(s.key[:0], st)
	at, ok := s.c.find(st, s.key)
	if !ok {
		if s.c.sealed {
			return s.fail("the file changed while it was being read")
		}
		return s.fail("more than %d different instructions: not a trace of one kernel", maxCode)
	}
	s.last = -1
	if !values && !s.c.sealed {
		f.at, f.head = at, string(rest)
		if f.mem {
			f.head, f.tail = string(rest[:headEnd]), string(rest[tailAt:])
		}
		s.last = s.c.add(f)
	}
	if f.mem {
		s.append(at, mask, &m)
	} else {
		s.append(at, mask, nil)
	}
	if values && s.notes != nil {
		s.notes.add(noteValues, s)
	}
	return nil
}

// immediates reads what follows the addresses: nothing before version 5; a number
// in version 5; up to two numbers and NoVal, or Val and register values, in version
// 6. It reports whether there were values.
func (s *scanner) immediates(t *tokens) (values bool, err *trace.Error) {
	st := &s.static
	for {
		b := t.next()
		if len(b) == 0 {
			break
		}
		if s.c.version >= 6 && string(b) == "NoVal" {
			if len(t.next()) > 0 {
				return false, s.fail("NoVal must end the line: %q", clip(t.b))
			}
			return false, nil
		}
		if s.c.version >= 6 && string(b) == "Val" {
			return true, nil
		}
		most := 0
		if s.c.version >= 5 {
			most = s.c.version - 4
		}
		if len(st.Imms) == most {
			return false, s.fail("the line has more than version %d allows, from %q on: %q", s.c.version, clip(b), clip(t.b))
		}
		n, end := signed(t.b, t.at-len(b)-1)
		if end != t.at {
			return false, s.fail("expected an immediate instead of %q: %q", clip(b), clip(t.b))
		}
		st.Imms = append(st.Imms, n)
	}
	switch {
	case s.c.version >= 6:
		return false, s.fail("NoVal or Val is missing at the end: %q", clip(t.b))
	case s.c.version == 5 && len(st.Imms) == 0:
		return false, s.fail("the immediate is missing at the end: %q", clip(t.b))
	}
	return false, nil
}

// tokens iterates over text separated by single spaces.
type tokens struct {
	b  []byte
	at int // after the token that next returned
}

// next returns the next token, an empty one at the end.
func (t *tokens) next() []byte {
	i := t.at
	if i > 0 && i < len(t.b) {
		i++ // the space
	}
	k := i
	for k < len(t.b) && t.b[k] != ' ' {
		k++
	}
	t.at = k
	return t.b[i:k]
}

// registers reads a number and as many registers.
func (t *tokens) registers(list []trace.Reg) ([]trace.Reg, bool) {
	b := t.next()
	n, k := decimal(b)
	if k == 0 || k != len(b) || n > maxOperands {
		return list, false
	}
	for range n {
		r, ok := register(t.next())
		if !ok {
			return list, false
		}
		list = append(list, r)
	}
	return list, true
}

// isOpcode reports whether a token may be a mnemonic: a letter, then letters,
// digits, dots and underscores.
func isOpcode(b []byte) bool {
	if len(b) == 0 || len(b) > maxOpcode || b[0] < 'A' || b[0] > 'Z' {
		return false
	}
	for _, c := range b {
		switch {
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '.', c == '_':
		default:
			return false
		}
	}
	return true
}
