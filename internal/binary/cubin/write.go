package cubin

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// This file: files from kernels and data. Sections are in the order in which compilers write them.

// writer writes one file.
type writer struct {
	f        *File
	sections []*outSection
	strings  []byte // of symbols
	symbols  []byte
	// Numbers of symbols by name: of variables, sections and what the file does not define; of functions;
	// and of labels. A name may be in several.
	number, entry, label map[string]uint32
	index                map[string]int // of sections, by name
	err                  error
}

// outSection is a section that is written.
type outSection struct {
	elf.SectionHeader
	data []byte
}

const symbolBytes = 24

// Write returns an executable cubin: kernels, functions, data, constants, symbols, relocations, and
// what launching needs; and lines of the source by function. It fails if a relocation is by a symbol
// that the file does not have.
func Write(f *File, lines map[string][]Line) ([]byte, error) {
	w := &writer{f: f, strings: []byte{0}, number: map[string]uint32{}, entry: map[string]uint32{}, label: map[string]uint32{}, index: map[string]int{}}
	w.section(".shstrtab", elf.SHT_STRTAB, 0, 1, nil)
	w.section(".strtab", elf.SHT_STRTAB, 0, 1, nil)
	w.section(".symtab", elf.SHT_SYMTAB, 0, 8, nil).Entsize = symbolBytes
	w.code()
	w.memory()
	first := w.symbolTable()
	w.infos()
	w.relocations()
	w.lineTable(lines)
	for _, s := range w.sections {
		switch {
		case s.Name == ".symtab":
			s.Link, s.Info, s.data = uint32(w.index[".strtab"]), first, w.symbols
		case s.Type == elf.SHT_RELA || s.Type == typeInfo || s.Flags&elf.SHF_EXECINSTR != 0:
			s.Link = uint32(w.index[".symtab"])
		}
	}
	w.sections[w.index[".strtab"]-1].data = w.strings
	if n := len(w.sections) + 1; n >= int(elf.SHN_LORESERVE) && w.err == nil {
		w.err = fmt.Errorf("%d sections exceed what an ELF file can have", n)
	}
	if w.err != nil {
		return nil, w.err
	}
	return w.bytes(), nil
}

// section appends a section.
func (w *writer) section(name string, typ elf.SectionType, flags elf.SectionFlag, align uint64, data []byte) *outSection {
	s := &outSection{elf.SectionHeader{Name: name, Type: typ, Flags: flags, Addralign: align, Size: uint64(len(data))}, data}
	w.sections = append(w.sections, s)
	w.index[name] = len(w.sections) // the first is empty
	return s
}

// code writes the code, which the others refer to.
func (w *writer) code() {
	const align = 128
	put := func(fn *Function, barriers int) {
		w.section(".text."+fn.Name, elf.SHT_PROGBITS, elf.SHF_ALLOC|elf.SHF_EXECINSTR|elf.SectionFlag(barriers)<<20, align, fn.Code)
	}
	for _, k := range w.f.Kernels {
		put(&k.Function, k.Barriers)
	}
	for _, fn := range w.f.Functions {
		put(fn, 0)
	}
}

// memory writes constants, data and the sizes of shared memory.
func (w *writer) memory() {
	for bank, b := range w.f.Constants {
		if len(b) > 0 {
			w.section(fmt.Sprintf(".nv.constant%d", bank), elf.SHT_PROGBITS, elf.SHF_ALLOC, 8, b)
		}
	}
	ends := w.relocated()
	for _, k := range w.f.Kernels {
		text := uint32(w.index[".text."+k.Name])
		for bank, b := range k.Constants {
			if bank == 0 && len(b) == 0 {
				b = make([]byte, min(max(uint64(k.ParamBase+k.ParamBytes), ends[k.Name]), maxBank))
			}
			if len(b) > 0 {
				w.section(fmt.Sprintf(".nv.constant%d.%s", bank, k.Name), elf.SHT_PROGBITS, elf.SHF_ALLOC, 4, b).Info = text
			}
		}
	}
	for _, d := range w.f.Data {
		typ := elf.SHT_PROGBITS
		if d.Init == nil {
			typ = elf.SHT_NOBITS
		}
		w.section(d.Name, typ, elf.SHF_WRITE|elf.SHF_ALLOC, d.Align, d.Init).Size = d.Bytes
	}
	for _, k := range w.f.Kernels {
		if k.Shared > 0 {
			s := w.section(".nv.shared."+k.Name, elf.SHT_NOBITS, elf.SHF_WRITE|elf.SHF_ALLOC, 16, nil)
			s.Size, s.Info = uint64(k.Shared), uint32(w.index[".text."+k.Name])
		}
	}
}

// relocated returns the ends of what is relocated in the kernels' own constant banks 0.
func (w *writer) relocated() map[string]uint64 {
	ends := map[string]uint64{}
	for i := range w.f.Relocations {
		if r := &w.f.Relocations[i]; r.At.Kind == InConstant && r.At.Bank == 0 && r.At.Owner != "" {
			ends[r.At.Owner] = max(ends[r.At.Owner], r.At.Offset+r.width())
		}
	}
	return ends
}

// symbol appends a symbol, numbers it in a map unless the name is there, and returns its number.
func (w *writer) symbol(in map[string]uint32, name string, bind elf.SymBind, typ elf.SymType, other uint8, section int, value, size uint64) uint32 {
	n := uint32(len(w.symbols) / symbolBytes)
	b := le.AppendUint32(w.symbols, uint32(len(w.strings)))
	b = append(b, elf.ST_INFO(bind, typ), other)
	b = le.AppendUint16(b, uint16(section))
	w.symbols = le.AppendUint64(le.AppendUint64(b, value), size)
	w.strings = append(append(w.strings, name...), 0)
	if _, known := in[name]; !known {
		in[name] = n
	}
	return n
}

// symbolTable writes all symbols: first those that only the file sees, as ELF wants it. It returns
// the number of the first other one.
func (w *writer) symbolTable() uint32 {
	w.symbols = make([]byte, symbolBytes)
	for i, s := range w.sections {
		if s.Flags&elf.SHF_ALLOC != 0 {
			w.symbol(w.number, s.Name, elf.STB_LOCAL, elf.STT_SECTION, 0, i+1, 0, 0)
		}
	}
	variables := func(global bool) {
		for _, v := range w.f.Variables {
			section := fmt.Sprintf(".nv.constant%d", v.Bank)
			if v.Data >= 0 {
				section = w.f.Data[v.Data].Name
			}
			if v.Global == global {
				w.symbol(w.number, v.Name, bindOf(!v.Global, v.Weak), elf.STT_OBJECT, 0, w.index[section], v.Offset, v.Bytes)
			}
		}
	}
	functions := func(local bool) {
		put := func(fn *Function, other uint8) {
			section := w.index[".text."+fn.Name]
			if fn.Local == local {
				n := w.symbol(w.entry, fn.Name, bindOf(fn.Local, fn.Weak), elf.STT_FUNC, other, section, 0, uint64(len(fn.Code)))
				w.sections[section-1].Info = uint32(fn.Regs)<<24 | n
			}
			end := uint32(len(fn.Code))
			ends := make([]uint32, len(fn.Labels))
			for i, l := range slices.Backward(fn.Labels) {
				ends[i], end = end, l.Offset
			}
			for i, l := range fn.Labels {
				if local {
					w.symbol(w.label, l.Name, elf.STB_LOCAL, elf.STT_FUNC, 0, section, uint64(l.Offset), uint64(cmp.Or(l.Bytes, ends[i]-l.Offset)))
				}
			}
		}
		for _, k := range w.f.Kernels {
			put(&k.Function, otherEntry)
		}
		for _, fn := range w.f.Functions {
			put(fn, 0)
		}
	}
	variables(false)
	functions(true)
	first := uint32(len(w.symbols) / symbolBytes)
	functions(false)
	variables(true)
	for _, name := range w.f.Externs {
		w.symbol(w.number, name, elf.STB_GLOBAL, elf.STT_FUNC, 0, 0, 0, 0)
	}
	for _, name := range w.f.Textures {
		w.symbol(w.number, name, elf.STB_GLOBAL, symTexture, 0, 0, 0, 0)
	}
	for _, name := range w.f.Surfaces {
		w.symbol(w.number, name, elf.STB_GLOBAL, symSurface, 0, 0, 0, 0)
	}
	return first
}

func bindOf(local, weak bool) elf.SymBind {
	switch {
	case local:
		return elf.STB_LOCAL
	case weak:
		return elf.STB_WEAK
	}
	return elf.STB_GLOBAL
}

// record appends an attribute with data to a section of them.
func record(b []byte, id AttributeID, words ...uint32) []byte {
	b = append(b, formatSized, byte(id))
	b = le.AppendUint16(b, uint16(4*len(words)))
	for _, w := range words {
		b = le.AppendUint32(b, w)
	}
	return b
}

// infos writes what launching needs.
func (w *writer) infos() {
	var all []byte
	put := func(fn *Function) {
		n := w.entry[fn.Name]
		all = record(all, attrRegisters, n, uint32(fn.Regs))
		all = record(all, attrStackFrame, n, uint32(fn.Stack))
		all = record(all, attrStackLeast, n, uint32(fn.Least))
	}
	for _, k := range w.f.Kernels {
		put(&k.Function)
	}
	for _, fn := range w.f.Functions {
		put(fn)
	}
	w.section(".nv.info", typeInfo, 0, 4, all)
	for _, k := range w.f.Kernels {
		b := record(nil, attrParamBank, w.number[".nv.constant0."+k.Name], uint32(k.ParamBytes)<<16|uint32(k.ParamBase))
		b = le.AppendUint16(append(b, formatHalf, byte(attrParamBytes)), uint16(k.ParamBytes))
		for i, p := range k.Params {
			const bank = 0x1f << 12 // in which it is (measured)
			if at := uint32(p.Offset)<<16 | uint32(i); p.Bytes < 1<<14 {
				b = record(b, attrParam, 0, at, uint32(p.Bytes)<<18|bank)
			} else { // the size has only 14 bits there
				b = record(b, attrParamV2, 0, at, uint32(p.Bytes))
			}
		}
		if k.MaxThreads != [3]uint32{} {
			b = record(b, attrMaxThreads, k.MaxThreads[:]...)
		}
		if k.Block != [3]uint32{} {
			b = record(b, attrBlock, k.Block[:]...)
		}
		for _, a := range k.Attributes {
			if a.ID == attrExits {
				b = append(le.AppendUint16(append(b, formatSized, byte(a.ID)), uint16(len(a.Data))), a.Data...)
			}
		}
		w.section(".nv.info."+k.Name, typeInfo, 0, 4, b).Info = uint32(w.index[".text."+k.Name])
	}
}

// nameOf is the section of a place.
func (f *File) nameOf(p Place) string {
	switch {
	case p.Kind == InCode:
		return ".text." + p.Owner
	case p.Kind == InData:
		return f.Data[p.Index].Name
	case p.Kind == InConstant && p.Owner != "":
		return fmt.Sprintf(".nv.constant%d.%s", p.Bank, p.Owner)
	case p.Kind == InConstant:
		return fmt.Sprintf(".nv.constant%d", p.Bank)
	case p.Kind == InShared:
		return ".nv.shared." + p.Owner
	}
	return ""
}

// relocations writes a section of them for each section that they change.
func (w *writer) relocations() {
	of := map[string][]byte{}
	for _, r := range w.f.Relocations {
		list := []map[string]uint32{w.number, w.entry, w.label}
		if r.Place.Kind == InCode && r.Place.Owner == r.Symbol {
			list = list[1:]
		}
		i := slices.IndexFunc(list, func(m map[string]uint32) bool { _, known := m[r.Symbol]; return known })
		if i < 0 {
			w.err = fmt.Errorf("an address of %s is wanted, which is no symbol of the file", r.Symbol)
			return
		}
		name := w.f.nameOf(r.At)
		b := le.AppendUint32(le.AppendUint64(of[name], r.At.Offset), r.Type)
		of[name] = le.AppendUint64(le.AppendUint32(b, list[i][r.Symbol]), uint64(r.Addend))
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		s := w.section(".rela"+name, elf.SHT_RELA, elf.SHF_INFO_LINK, 8, of[name])
		s.Info, s.Entsize = uint32(w.index[name]), symbolBytes
	}
}

// Opcodes of line tables (DWARF 2, 6.2.5).
const (
	lineExtended   = 0
	lineCopy       = 1
	lineAdvancePC  = 2
	lineAdvance    = 3
	lineFile       = 4
	lineEnd        = 1 // extended
	lineSetAddress = 2 // extended
	lineOpcodeBase = 10
)

// lineTable writes where instructions come from.
func (w *writer) lineTable(lines map[string][]Line) {
	if len(lines) == 0 {
		return
	}
	number := map[string]uint64{}
	var names, program, relocs []byte
	var at []int // of addresses in the program
	var by []string
	for _, s := range w.sections {
		if s.Flags&elf.SHF_EXECINSTR == 0 || len(lines[s.Name[len(".text."):]]) == 0 {
			continue
		}
		fn := s.Name[len(".text."):]
		program = append(program, lineExtended, 9, lineSetAddress)
		at, by = append(at, len(program)), append(by, fn)
		program = le.AppendUint64(program, 0)
		pc, line := uint32(0), 1
		for _, l := range lines[fn] {
			if number[l.File] == 0 {
				number[l.File] = uint64(len(number) + 1)
				names = append(append(names, l.File...), 0, 0, 0, 0) // no folder, time or size
			}
			program = binary.AppendUvarint(append(program, lineFile), number[l.File])
			program = binary.AppendUvarint(append(program, lineAdvancePC), uint64(l.Offset-pc))
			program = appendSigned(append(program, lineAdvance), l.Line-line)
			program = append(program, lineCopy)
			pc, line = l.Offset, l.Line
		}
		program = binary.AppendUvarint(append(program, lineAdvancePC), uint64(uint32(len(s.data))-pc))
		program = append(program, lineExtended, 1, lineEnd)
	}
	head := []byte{1, 1, 0xf6, 245, lineOpcodeBase, 0, 1, 1, 1, 1, 0, 0, 0, 1} // bytes per instruction, statements, special opcodes; operands of opcodes 1 to 9
	head = append(append(append(head, 0), names...), 0)
	b := le.AppendUint32(nil, uint32(6+len(head)+len(program)))
	b = le.AppendUint32(le.AppendUint16(b, 2), uint32(len(head)))
	b = append(b, head...)
	for i, n := range at {
		relocs = le.AppendUint32(le.AppendUint64(relocs, uint64(len(b)+n)), RelocWhole)
		relocs = le.AppendUint64(le.AppendUint32(relocs, w.entry[by[i]]), 0)
	}
	w.section(sourceLines, elf.SHT_PROGBITS, 0, 1, append(b, program...))
	s := w.section(".rela"+sourceLines, elf.SHT_RELA, elf.SHF_INFO_LINK, 8, relocs)
	s.Info, s.Entsize = uint32(w.index[sourceLines]), symbolBytes
}

// appendSigned appends a signed LEB128 number.
func appendSigned(b []byte, v int) []byte {
	for {
		c := byte(v & 0x7f)
		if v >>= 7; v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

// bytes lays out the file: the header, the sections, the table of them.
func (w *writer) bytes() []byte {
	names := []byte{0}
	name := make([]uint32, len(w.sections))
	for i, s := range w.sections {
		name[i] = uint32(len(names))
		names = append(append(names, s.Name...), 0)
	}
	w.sections[0].data = names
	out := make([]byte, headerBytes)
	pad := func(align uint64) {
		out = append(out, make([]byte, -uint64(len(out))&(max(align, 1)-1))...)
	}
	table := make([]byte, 64) // the first is empty
	for i, s := range w.sections {
		if s.Type != elf.SHT_NOBITS {
			pad(s.Addralign)
			s.Size = uint64(len(s.data))
		}
		s.Offset = uint64(len(out))
		out = append(out, s.data...)
		table = le.AppendUint32(le.AppendUint32(table, name[i]), uint32(s.Type))
		for _, v := range []uint64{uint64(s.Flags), 0, s.Offset, s.Size} {
			table = le.AppendUint64(table, v)
		}
		table = le.AppendUint32(le.AppendUint32(table, s.Link), s.Info)
		table = le.AppendUint64(le.AppendUint64(table, s.Addralign), s.Entsize)
	}
	pad(8)
	const (
		osABI, abiVersion = 0x33, 7       // of toolkits before 13 (measured)
		flags             = 0x400 | 0x100 // addresses of 64 bits, unified textures (measured)
		current           = uint16(elf.ET_EXEC)
	)
	copy(out, elf.ELFMAG)
	copy(out[4:], []byte{byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT), osABI, abiVersion})
	le.PutUint16(out[16:], current)
	le.PutUint16(out[18:], uint16(machine))
	le.PutUint32(out[20:], uint32(elf.EV_CURRENT))
	le.PutUint64(out[40:], uint64(len(out)))
	le.PutUint32(out[48:], uint32(w.f.Arch)<<16|flags|uint32(w.f.Arch))
	le.PutUint16(out[52:], headerBytes)
	le.PutUint16(out[54:], 56) // of a program header; there are none
	le.PutUint16(out[58:], 64)
	le.PutUint16(out[60:], uint16(len(w.sections)+1))
	le.PutUint16(out[62:], 1) // .shstrtab
	return append(out, table...)
}
