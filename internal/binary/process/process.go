// Package process finds the source lines of code of the running process: of the program
// and of the libraries that it has loaded. It reads their files when it is first asked for
// an address in them.
package process

import (
	"bufio"
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/plain"
)

// Frame is a function in progress.
type Frame struct {
	File     string // "" if the file has no line numbers (the compiler's -g)
	Line     int
	Function string // readable; the file and an offset if it has no symbol
	Module   string // the file of the program or library
}

// Code is the code of the running process. It is used by one goroutine at a time.
type Code struct {
	known   map[uint64][]Frame
	modules map[string]*module
	maps    []mapping
}

// New returns the code of this process.
func New() *Code { return &Code{known: map[uint64][]Frame{}, modules: map[string]*module{}} }

// At returns the functions at an address, the innermost first: several where calls are
// inlined. It returns nil for an address that is in no file.
func (c *Code) At(pc uint64) []Frame {
	list, ok := c.known[pc]
	if !ok {
		list = c.find(pc)
		c.known[pc] = list
	}
	return list
}

func (c *Code) find(pc uint64) []Frame {
	m := c.mapping(pc)
	if m == nil {
		return nil
	}
	x := c.modules[m.file]
	if x == nil {
		x = open(m.file)
		c.modules[m.file] = x
	}
	return x.at(pc - m.start + m.offset)
}

// mapping is a part of a file in memory.
type mapping struct {
	start, end, offset uint64
	file               string
}

// mapping returns the part of a file at an address. Libraries may have been loaded since the
// list was read.
func (c *Code) mapping(pc uint64) *mapping {
	for range 2 {
		for i := range c.maps {
			if m := &c.maps[i]; pc >= m.start && pc < m.end {
				return m
			}
		}
		c.maps = mappings()
	}
	return nil
}

func mappings() (list []mapping) {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return nil
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var m mapping
		var mode, device string
		var inode uint64
		if _, err := fmt.Sscanf(s.Text(), "%x-%x %s %x %s %d", &m.start, &m.end, &mode, &m.offset, &device, &inode); err != nil {
			continue
		}
		if i := strings.IndexByte(s.Text(), '/'); i >= 0 && strings.Contains(mode, "x") {
			m.file = s.Text()[i:]
			list = append(list, m)
		}
	}
	return list
}

// module is a file with code.
type module struct {
	name    string
	loads   []elf.ProgHeader
	symbols []elf.Symbol // functions, by address
	dwarf   *dwarf.Data  // nil without
	units   []unit
}

// unit is a compilation unit.
type unit struct {
	entry  *dwarf.Entry
	ranges [][2]uint64
}

// open reads a file as far as it goes: what it lacks is left out of its frames.
func open(name string) *module {
	m := &module{name: name}
	f, err := elf.Open(name)
	if err != nil {
		return m
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			m.loads = append(m.loads, p.ProgHeader)
		}
	}
	all, _ := f.Symbols()
	dynamic, _ := f.DynamicSymbols()
	for _, s := range append(all, dynamic...) {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Value != 0 {
			m.symbols = append(m.symbols, s)
		}
	}
	slices.SortStableFunc(m.symbols, func(a, b elf.Symbol) int { return cmp.Compare(a.Value, b.Value) })
	if f.Section(".debug_line") == nil {
		return m
	}
	if m.dwarf, err = f.DWARF(); err == nil {
		m.units = unitsOf(m.dwarf)
	}
	return m
}

// file returns the name of a source file. The reader of DWARF 5 puts the compiler's folder
// before the unit's own file, even if its name has one.
func (u *unit) file(f *dwarf.LineFile) string {
	name, _ := u.entry.Val(dwarf.AttrName).(string)
	if dir, _ := u.entry.Val(dwarf.AttrCompDir).(string); filepath.IsAbs(name) && f.Name == filepath.Join(dir, name) {
		return name
	}
	return f.Name
}

func unitsOf(d *dwarf.Data) (list []unit) {
	r := d.Reader()
	for {
		e, err := r.Next()
		if e == nil || err != nil {
			return list
		}
		if ranges, err := d.Ranges(e); err == nil && e.Tag == dwarf.TagCompileUnit {
			list = append(list, unit{e, ranges})
		}
		r.SkipChildren()
	}
}

// at returns the functions at an offset of the file.
func (m *module) at(offset uint64) []Frame {
	addr := offset
	for _, p := range m.loads {
		if offset >= p.Off && offset-p.Off < p.Filesz {
			addr = offset - p.Off + p.Vaddr
		}
	}
	list := m.lines(addr)
	name, found := m.symbol(addr)
	switch {
	case len(list) == 0 && found:
		list = []Frame{{Function: plain.Name(name)}}
	case len(list) == 0:
		list = []Frame{{Function: fmt.Sprintf("%s+%#x", m.name, offset)}}
	case found: // with its parameters, and as stubs of kernels are called
		list[len(list)-1].Function = plain.Name(name)
	}
	for i := range list {
		list[i].Module = m.name
	}
	return list
}

// symbol returns the name of the function at an address.
func (m *module) symbol(addr uint64) (name string, ok bool) {
	i, found := slices.BinarySearchFunc(m.symbols, addr, func(s elf.Symbol, addr uint64) int { return cmp.Compare(s.Value, addr) })
	if !found {
		i--
	}
	if i < 0 || addr-m.symbols[i].Value >= max(m.symbols[i].Size, 1) {
		return "", false
	}
	return m.symbols[i].Name, true
}

// lines returns the functions at an address whose lines are known.
func (m *module) lines(addr uint64) []Frame {
	for _, u := range m.units {
		if !within(u.ranges, addr) {
			continue
		}
		r, err := m.dwarf.LineReader(u.entry)
		if r == nil || err != nil {
			return nil
		}
		var at dwarf.LineEntry
		if r.SeekPC(addr, &at) != nil || at.File == nil {
			return nil
		}
		list := []Frame{{File: u.file(at.File), Line: at.Line}}
		return m.inlined(list, &u, r.Files(), addr)
	}
	return nil
}

// inlined appends to the innermost frame those into which it was inlined.
func (m *module) inlined(list []Frame, u *unit, files []*dwarf.LineFile, addr uint64) []Frame {
	r := m.dwarf.Reader()
	r.Seek(u.entry.Offset)
	if _, err := r.Next(); err != nil {
		return list
	}
	var chain []*dwarf.Entry // the outermost first
	for {
		e, err := r.Next()
		if e == nil || err != nil || e.Tag == dwarf.TagCompileUnit {
			break
		}
		if e.Tag == 0 {
			continue
		}
		ranges, err := m.dwarf.Ranges(e)
		inside := err == nil && within(ranges, addr)
		switch {
		case inside && (e.Tag == dwarf.TagSubprogram || e.Tag == dwarf.TagInlinedSubroutine):
			chain = append(chain, e)
		case e.Tag == dwarf.TagNamespace, e.Tag == dwarf.TagStructType, e.Tag == dwarf.TagClassType, e.Tag == dwarf.TagLexDwarfBlock && (inside || len(ranges) == 0):
		case e.Children:
			r.SkipChildren()
		}
	}
	for i := len(chain) - 1; i >= 0; i-- {
		list[len(list)-1].Function = m.nameOf(chain[i])
		line, _ := chain[i].Val(dwarf.AttrCallLine).(int64)
		file, ok := chain[i].Val(dwarf.AttrCallFile).(int64)
		if i == 0 || !ok || file < 0 || int(file) >= len(files) || files[file] == nil {
			break
		}
		list = append(list, Frame{File: u.file(files[file]), Line: int(line)})
	}
	return list
}

// nameOf returns the name of a function, or of the one that was inlined.
func (m *module) nameOf(e *dwarf.Entry) string {
	for range 4 {
		if s, ok := e.Val(dwarf.AttrLinkageName).(string); ok {
			return plain.Name(s)
		}
		if s, ok := e.Val(dwarf.AttrName).(string); ok {
			return s
		}
		at, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !ok {
			if at, ok = e.Val(dwarf.AttrSpecification).(dwarf.Offset); !ok {
				return ""
			}
		}
		r := m.dwarf.Reader()
		r.Seek(at)
		next, err := r.Next()
		if next == nil || err != nil {
			return ""
		}
		e = next
	}
	return ""
}

func within(ranges [][2]uint64, addr uint64) bool {
	return slices.ContainsFunc(ranges, func(r [2]uint64) bool { return addr >= r[0] && addr < r[1] })
}
