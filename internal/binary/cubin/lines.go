package cubin

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
)

// Line is where an instruction comes from.
type Line struct {
	Offset uint32 // of the first instruction from there; bytes
	File   string
	Line   int // 0: unknown
}

// The sections with the lines of the source, and with those of the PTX.
const (
	sourceLines = ".debug_line"
	ptxLines    = ".nv_debug_line_sass"
	ptxText     = ".nv_debug_ptx_txt"
)

// lineShift leaves each function its own range of addresses while a table is read, whose
// relocations name the functions.
const lineShift = 32

// SourceLines returns, for each function by name, the lines of the source in the order of
// their offsets: files compiled with -lineinfo have them. The error is a *Error.
func (f *File) SourceLines() (map[string][]Line, error) { return f.lines(sourceLines) }

// PTXLines returns the lines of the PTX text.
func (f *File) PTXLines() (map[string][]Line, error) { return f.lines(ptxLines) }

// Lines returns the lines of the source, or else those of the PTX.
func (f *File) Lines() (map[string][]Line, error) {
	lines, err := f.SourceLines()
	if err == nil && len(lines) == 0 {
		lines, err = f.PTXLines()
	}
	return lines, err
}

// PTX returns the PTX that a file compiled with -lineinfo carries, nil if it has none.
func (f *File) PTX() []byte {
	if f.elf == nil {
		return nil
	}
	s := f.elf.Section(ptxText)
	if s == nil {
		return nil
	}
	b, err := s.Data()
	if err != nil {
		return nil
	}
	// Zeros take the place of line ends, and eight precede the text.
	b = slices.Clone(b)
	for i, c := range b {
		if c == 0 {
			b[i] = '\n'
		}
	}
	return []byte(strings.TrimLeft(string(b), "\n"))
}

func (f *File) lines(section string) (map[string][]Line, error) {
	if f.elf == nil {
		all := map[string][]Line{}
		for _, part := range f.parts {
			list, err := part.lines(section)
			if err != nil {
				return nil, err
			}
			for name, lines := range list {
				if now, taken := part.names[name]; taken {
					all[now] = lines
				}
			}
		}
		return all, nil
	}
	fail := func(err error) error { return &Error{File: f.Name, Section: section, Offset: -1, Msg: err.Error()} }
	s := f.elf.Section(section)
	if s == nil {
		return nil, nil
	}
	b, err := s.Data()
	if err != nil {
		return nil, fail(err)
	}
	b = slices.Clone(b)
	var names []string // by address >> lineShift, from 1
	for _, rel := range f.elf.Sections {
		if rel.Type != elf.SHT_REL && rel.Type != elf.SHT_RELA || rel.Info == 0 || int(rel.Info) >= len(f.elf.Sections) || f.elf.Sections[rel.Info] != s {
			continue
		}
		list, err := rel.Data()
		if err != nil {
			return nil, fail(err)
		}
		step := relSize(rel)
		for ; len(list) >= step; list = list[step:] {
			at, n := le.Uint64(list), le.Uint32(list[12:])
			if at > uint64(len(b)) || uint64(len(b))-at < 8 || int64(n) >= int64(len(f.syms)) {
				return nil, fail(errors.New("a relocation is outside"))
			}
			names = append(names, f.syms[n].Name)
			le.PutUint64(b[at:], uint64(len(names))<<lineShift+le.Uint64(b[at:]))
		}
	}
	out := map[string][]Line{}
	str, _ := f.sectionData(".debug_str")
	for from := 0; from < len(b); {
		n, err := unitBytes(b[from:])
		if err != nil {
			return nil, fail(err)
		}
		if err := readUnit(b, from, str, names, out); err != nil {
			return nil, fail(err)
		}
		from += n
	}
	for name := range out {
		slices.SortStableFunc(out[name], func(a, b Line) int { return int(a.Offset) - int(b.Offset) })
	}
	return out, nil
}

func (f *File) sectionData(name string) ([]byte, error) {
	s := f.elf.Section(name)
	if s == nil {
		return nil, nil
	}
	return s.Data()
}

// unitBytes is the size of the table that b begins with.
func unitBytes(b []byte) (int, error) {
	const long = 0xffffffff // a length of 64 bits follows
	if len(b) < 4 {
		return 0, io.ErrUnexpectedEOF
	}
	n := uint64(le.Uint32(b))
	if n == long || n > uint64(len(b)-4) {
		return 0, io.ErrUnexpectedEOF
	}
	return 4 + int(n), nil
}

// readUnit reads the table at an offset. There is no .debug_info that would lead to it:
// debug/dwarf gets one that consists of a unit with nothing else.
func readUnit(b []byte, at int, str []byte, names []string, out map[string][]Line) error {
	abbrev := []byte{
		1, 0x11, 0, // abbreviation 1: a compilation unit without children
		0x10, 0x06, // its line table, in four bytes
		0, 0, 0,
	}
	info := binary.LittleEndian.AppendUint32(nil, 0)
	info = append(info, 2, 0, 0, 0, 0, 0, 8, 1) // DWARF 2, abbreviations at 0, addresses of 8 bytes
	info = binary.LittleEndian.AppendUint32(info, uint32(at))
	le.PutUint32(info, uint32(len(info)-4))
	d, err := dwarf.New(abbrev, nil, nil, info, b, nil, nil, str)
	if err != nil {
		return err
	}
	unit, err := d.Reader().Next()
	if err != nil {
		return err
	}
	r, err := d.LineReader(unit)
	if err != nil || r == nil {
		return err
	}
	for {
		var e dwarf.LineEntry
		if err := r.Next(&e); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		n := int(e.Address >> lineShift)
		if e.EndSequence || n < 1 || n > len(names) {
			continue
		}
		l := Line{Offset: uint32(e.Address), Line: e.Line}
		if e.File != nil {
			l.File = e.File.Name
		}
		out[names[n-1]] = append(out[names[n-1]], l)
	}
}
