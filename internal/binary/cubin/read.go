package cubin

import (
	"bytes"
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// reader reads one file.
type reader struct {
	name string
	all  []byte // the file
	elf  *elf.File
	syms []elf.Symbol // by number; the first, which ELF leaves empty, too
	out  *File
	code map[int]*Function // by section
	// By name.
	kernels   map[string]*Kernel
	functions map[string]*Function
	data      map[int]int // section to index into out.Data
	errs      []error
}

// maxErrors bounds the messages about one file, our choice.
const maxErrors = 20

func (r *reader) fail(section string, at int, format string, args ...any) {
	if len(r.errs) < maxErrors {
		r.errs = append(r.errs, &Error{File: r.name, Section: section, Offset: int64(at), Msg: fmt.Sprintf(format, args...)})
	}
}

// Read reads a cubin; what it returns shares the memory of b. The error joins *Error values.
func Read(name string, b []byte) (*File, error) {
	r := &reader{name: name, all: b, out: &File{Name: name}, code: map[int]*Function{}, data: map[int]int{}, kernels: map[string]*Kernel{}, functions: map[string]*Function{}}
	if !Is(b) || len(b) > maxFile {
		r.fail("", -1, "this is no ELF file of device code")
		return nil, errors.Join(r.errs...)
	}
	if r.whole(b); len(r.errs) > 0 {
		return nil, errors.Join(r.errs...)
	}
	var err error
	if r.elf, err = elf.NewFile(plain{bytes.NewReader(b)}); err != nil {
		r.fail("", 0, "%v", err)
		return nil, errors.Join(r.errs...)
	}
	for i, s := range r.elf.Sections {
		if s.Name == "" { // for messages
			s.Name = fmt.Sprintf("number %d", i)
		}
	}
	r.header(b)
	if r.overlaps(); len(r.errs) > 0 {
		return nil, errors.Join(r.errs...)
	}
	if r.syms, err = r.elf.Symbols(); err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		r.fail(".symtab", -1, "%v", err)
	}
	r.syms = slices.Insert(r.syms, 0, elf.Symbol{})
	r.out.elf, r.out.syms = r.elf, r.syms
	r.texts()
	r.sections()
	r.symbols()
	r.attributes()
	r.relocations()
	if len(r.errs) > 0 {
		return nil, errors.Join(r.errs...)
	}
	return r.out, nil
}

// plain is a file whose header has ELF's version 1. Up to toolkit 12 compilers store their own
// in its place (120 for 12.0), which debug/elf refuses.
type plain struct{ *bytes.Reader }

const versionAt = 20 // of e_version, four bytes

func (p plain) ReadAt(b []byte, off int64) (int, error) {
	n, err := p.Reader.ReadAt(b, off)
	for i := range 4 {
		if at := versionAt + int64(i) - off; at >= 0 && at < int64(n) {
			b[at] = 0
			if i == 0 {
				b[at] = byte(elf.EV_CURRENT)
			}
		}
	}
	return n, err
}

// whole checks that the file has what its header says.
func (r *reader) whole(b []byte) {
	switch {
	case len(b) > elf.EI_DATA && (elf.Class(b[elf.EI_CLASS]) != elf.ELFCLASS64 || elf.Data(b[elf.EI_DATA]) != elf.ELFDATA2LSB):
		r.fail("", elf.EI_CLASS, "it is for addresses of 32 bits, or has its highest bytes first; want 64, and the lowest first")
		return
	case len(b) < headerBytes:
		r.fail("", len(b), "the file ends within its header of %d bytes: it is cut off", headerBytes)
		return
	}
	for _, t := range []struct {
		name        string
		at, size, n int
	}{{"sections", 40, 58, 60}, {"segments", 32, 54, 56}} {
		from, bytes := le.Uint64(b[t.at:]), uint64(le.Uint16(b[t.size:]))*uint64(le.Uint16(b[t.n:]))
		if bytes > 0 && (from > uint64(len(b)) || bytes > uint64(len(b))-from) {
			r.fail("", len(b), "the file ends here, but its table of %s takes %d bytes at %#x: it is cut off, or its header is damaged", t.name, bytes, from)
		}
	}
}

// header reads what the ELF header says.
func (r *reader) header(b []byte) {
	h := r.elf
	flags := le.Uint32(b[48:])
	r.out.Arch = int(flags & 0xff)
	if h.ABIVersion >= abiToolkit13 {
		r.out.Arch = int(flags >> 8 & 0xff)
	}
	r.out.Relocatable = h.Type == elf.ET_REL
}

// second begins the names of sections with another form of the code, from sm_100 on, which share
// bytes with the first (measured). They are not read.
const second = ".nv.merc."

// overlaps looks for bytes of the file that have two uses: one of them is wrong, and to read them
// again and again would take longer than the file is long.
func (r *reader) overlaps() {
	type span struct {
		name     string
		from, to uint64
	}
	h := r.all
	table := func(name string, at, size, n int) span {
		from := le.Uint64(h[at:])
		return span{name, from, from + uint64(le.Uint16(h[size:]))*uint64(le.Uint16(h[n:]))}
	}
	list := []span{{"the header", 0, headerBytes}, table("the table of sections", 40, 58, 60), table("the table of segments", 32, 54, 56)}
	for _, s := range r.elf.Sections {
		if strings.Contains(s.Name, second) {
			continue
		}
		if s.Type != elf.SHT_NOBITS && s.Type != elf.SHT_NULL && s.FileSize > 0 && s.Offset <= uint64(len(h)) && s.FileSize <= uint64(len(h)) {
			list = append(list, span{s.Name, s.Offset, s.Offset + s.FileSize})
		}
	}
	slices.SortStableFunc(list, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	last := list[0]
	for _, s := range list[1:] {
		if s.from < s.to && s.from < last.to {
			r.fail(s.name, 0, "its bytes, at %#x of the file, overlap those of %s, which end at %#x", s.from, last.name, last.to)
		}
		if s.to > last.to {
			last = s
		}
	}
}

// bytes returns what a section holds, in the file's own memory.
func (r *reader) bytes(s *elf.Section) []byte {
	if s.Flags&elf.SHF_COMPRESSED != 0 || s.Type == elf.SHT_NOBITS {
		r.fail(s.Name, -1, "it is compressed or empty, which is not supported")
		return nil
	}
	n := uint64(len(r.all))
	if s.Offset > n || s.FileSize > n-s.Offset {
		r.fail(s.Name, -1, "its %d bytes at offset %#x of the file are incomplete", s.Size, s.Offset)
		return nil
	}
	return r.all[s.Offset : s.Offset+s.FileSize : s.Offset+s.FileSize]
}

// headerBytes is the size of an ELF file's header.
const headerBytes = 64

// Extent is the size in bytes of a cubin in memory, of which at returns n bytes from an offset
// on. It fails if they do not begin a cubin.
func Extent(at func(offset, n uint64) []byte) (uint64, error) {
	const section = 64
	h := at(0, headerBytes)
	if !Is(h) || len(h) < headerBytes {
		return 0, errors.New("this is no ELF file of device code")
	}
	ph, sh := le.Uint64(h[32:]), le.Uint64(h[40:])
	size := max(headerBytes, ph+uint64(le.Uint16(h[54:]))*uint64(le.Uint16(h[56:])))
	n := uint64(le.Uint16(h[60:]))
	if sh > maxFile || size > maxFile || n > 0 && le.Uint16(h[58:]) != section {
		return 0, errors.New("the ELF file's header is invalid")
	}
	size = max(size, sh+n*section)
	table := at(sh, n*section)
	for ; len(table) >= section; table = table[section:] {
		from, bytes := le.Uint64(table[24:]), le.Uint64(table[32:])
		if elf.SectionType(le.Uint32(table[4:])) == elf.SHT_NOBITS {
			continue
		}
		if from > maxFile || bytes > maxFile {
			return 0, errors.New("a section of the ELF file is too large")
		}
		size = max(size, from+bytes)
	}
	return size, nil
}

// texts finds the code.
func (r *reader) texts() {
	for i, s := range r.elf.Sections {
		name, ok := strings.CutPrefix(s.Name, ".text.")
		if !ok || s.Type != elf.SHT_PROGBITS {
			continue
		}
		f := Function{Name: name, Code: r.bytes(s)}
		if len(f.Code)%16 != 0 {
			r.fail(s.Name, len(f.Code)&^15, "the code ends within an instruction; want a multiple of 16 bytes")
			continue
		}
		const noSymbol = 1<<24 - 1
		f.Regs = int(s.Info >> 24)
		kernel := false
		if n := int(s.Info & noSymbol); n < len(r.syms) && int(r.syms[n].Section) == i {
			kernel = r.syms[n].Other&otherEntry != 0
		}
		if !kernel {
			r.out.Functions = append(r.out.Functions, &f)
			r.code[i], r.functions[name] = &f, &f
			continue
		}
		k := &Kernel{Function: f, Barriers: int(s.Flags >> 20 & 0x7f)}
		r.out.Kernels = append(r.out.Kernels, k)
		r.code[i], r.functions[name], r.kernels[name] = &k.Function, &k.Function, k
	}
}

// sections reads memory and constants.
func (r *reader) sections() {
	for i, s := range r.elf.Sections {
		switch {
		case s.Name == ".nv.global" || s.Name == ".nv.global.init":
			d := &Data{Name: s.Name, Bytes: s.Size, Align: max(s.Addralign, 1)}
			if s.Size > maxFile {
				r.fail(s.Name, -1, "%d bytes of variables exceed the limit of %d", s.Size, maxFile)
				continue
			}
			if s.Type != elf.SHT_NOBITS {
				d.Init = r.bytes(s)
			}
			r.data[i] = len(r.out.Data)
			r.out.Data = append(r.out.Data, d)
		case strings.HasPrefix(s.Name, ".nv.shared."):
			if k := r.kernels[s.Name[len(".nv.shared."):]]; k != nil {
				if s.Size > maxFile {
					r.fail(s.Name, -1, "%d bytes of shared memory exceed what any GPU has", s.Size)
					continue
				}
				k.Shared = int(s.Size)
			}
		default:
			r.constants(s)
		}
	}
}

// bankOf is the constant bank that a section fills, and the kernel that it is for: ".nv.constant2.KERNEL".
func bankOf(section string) (bank int, owner string, ok bool) {
	rest, ok := strings.CutPrefix(section, ".nv.constant")
	if !ok || rest == "" || rest[0] < '0' || rest[0] >= '0'+Banks {
		return 0, "", false
	}
	bank = int(rest[0] - '0')
	if rest = rest[1:]; rest == "" {
		return bank, "", true
	}
	owner, ok = strings.CutPrefix(rest, ".")
	return bank, owner, ok
}

func (r *reader) constants(s *elf.Section) {
	bank, owner, ok := bankOf(s.Name)
	if !ok {
		return
	}
	if s.Size > maxBank {
		r.fail(s.Name, -1, "%d bytes exceed the %d of a constant bank", s.Size, maxBank)
		return
	}
	b := make([]byte, s.Size)
	if s.Type != elf.SHT_NOBITS {
		b = r.bytes(s)
	}
	to := &r.out.Constants[bank]
	if owner != "" {
		k := r.kernels[owner]
		if k == nil {
			r.fail(s.Name, -1, "there is no kernel %s", owner)
			return
		}
		to = &k.Constants[bank]
	}
	if *to != nil {
		r.fail(s.Name, -1, "constant bank %d is given twice", bank)
		return
	}
	*to = b
}

// symbols reads what names stand for.
func (r *reader) symbols() {
	for n := range r.syms {
		s := &r.syms[n]
		p := r.place(s)
		switch {
		case n == 0 || elf.ST_TYPE(s.Info) == elf.STT_SECTION:
		case s.Section == elf.SHN_UNDEF && elf.ST_TYPE(s.Info) == elf.STT_FUNC:
			r.out.Externs = append(r.out.Externs, s.Name)
		case s.Section == elf.SHN_UNDEF && elf.ST_TYPE(s.Info) == symTexture:
			r.out.Textures = append(r.out.Textures, s.Name)
		case s.Section == elf.SHN_UNDEF && elf.ST_TYPE(s.Info) == symSurface:
			r.out.Surfaces = append(r.out.Surfaces, s.Name)
		case p.Kind == InCode && elf.ST_TYPE(s.Info) == elf.STT_FUNC:
			f := r.code[int(s.Section)]
			if s.Value%16 != 0 || s.Value > uint64(len(f.Code)) {
				r.fail(".symtab", 24*n, "%s begins at %#x of %s, which has %#x bytes of code", s.Name, s.Value, f.Name, len(f.Code))
				continue
			}
			if s.Value > 0 || s.Name != f.Name {
				f.Labels = append(f.Labels, Label{s.Name, uint32(s.Value), uint32(s.Size)})
				continue
			}
			f.Local, f.Weak = elf.ST_BIND(s.Info) == elf.STB_LOCAL, elf.ST_BIND(s.Info) == elf.STB_WEAK
		case p.Kind == InData || p.Kind == InConstant && p.Owner == "":
			end := uint64(len(r.out.Constants[p.Bank]))
			if p.Kind == InData {
				end = r.out.Data[p.Index].Bytes
			}
			if s.Value > end || s.Size > end-s.Value {
				r.fail(".symtab", 24*n, "variable %s has %d bytes from %#x on, but its section has %d", s.Name, s.Size, s.Value, end)
				continue
			}
			v := Variable{Name: s.Name, Data: -1, Bank: p.Bank, Offset: s.Value, Bytes: s.Size, Global: elf.ST_BIND(s.Info) != elf.STB_LOCAL, Weak: elf.ST_BIND(s.Info) == elf.STB_WEAK}
			if p.Kind == InData {
				v.Data = p.Index
			}
			r.out.Variables = append(r.out.Variables, v)
		}
	}
	for _, f := range r.code {
		slices.SortFunc(f.Labels, func(a, b Label) int { return int(a.Offset) - int(b.Offset) })
	}
}

// place says where a symbol is.
func (r *reader) place(s *elf.Symbol) Place {
	p := r.inSection(int(s.Section))
	if p.Kind != Unknown {
		p.Offset = s.Value
	}
	return p
}

// inSection is the place at the beginning of a section, Unknown if it has none of a program's.
func (r *reader) inSection(n int) Place {
	if n <= 0 || n >= len(r.elf.Sections) {
		return Place{}
	}
	if f := r.code[n]; f != nil {
		return Place{Kind: InCode, Owner: f.Name}
	}
	if d, ok := r.data[n]; ok {
		return Place{Kind: InData, Index: d}
	}
	name := r.elf.Sections[n].Name
	if bank, owner, ok := bankOf(name); ok {
		return Place{Kind: InConstant, Bank: bank, Owner: owner}
	}
	if owner, ok := strings.CutPrefix(name, ".nv.shared."); ok {
		return Place{Kind: InShared, Owner: owner}
	}
	return Place{}
}

// attributes reads .nv.info of the file and of each kernel.
func (r *reader) attributes() {
	for _, s := range r.elf.Sections {
		if s.Type != typeInfo || !strings.HasPrefix(s.Name, ".nv.info") {
			continue
		}
		list := r.parseAttributes(s.Name, r.bytes(s))
		if s.Name == ".nv.info" {
			for _, a := range list {
				r.ofSymbol(s.Name, a)
			}
			continue
		}
		owner := strings.TrimPrefix(s.Name, ".nv.info.")
		if f := r.functions[owner]; f != nil {
			f.Attributes = list
		}
		if k := r.kernels[owner]; k != nil {
			r.ofKernel(s.Name, k)
		}
	}
}

// ofSymbol takes an attribute of the file that names a function: number of its symbol, value.
func (r *reader) ofSymbol(section string, a Attribute) {
	if a.ID != attrRegisters && a.ID != attrStackFrame && a.ID != attrStackLeast {
		return
	}
	if len(a.Data) < 8 {
		r.fail(section, a.At, "attribute %v has %d bytes; want 8", a.ID, len(a.Data))
		return
	}
	n, v := le.Uint32(a.Data), le.Uint32(a.Data[4:])
	if int64(n) >= int64(len(r.syms)) {
		r.fail(section, a.At, "attribute %v names symbol %d, but there are %d", a.ID, n, len(r.syms))
		return
	}
	s := &r.syms[n]
	f := r.code[int(s.Section)]
	if f == nil || s.Value != 0 { // of a function within a kernel's code
		return
	}
	most := uint32(1 << 24) // bytes of stack; no GPU offers near it
	if a.ID == attrRegisters {
		most = 256 // registers: what the encoding of their numbers has room for
	}
	if v > most {
		r.fail(section, a.At, "attribute %v of %s is %d, which no GPU offers", a.ID, f.Name, v)
		return
	}
	switch a.ID {
	case attrRegisters:
		f.Regs = int(v)
	case attrStackFrame:
		f.Stack = int(v)
	case attrStackLeast:
		f.Least = int(v)
	}
}

// ofKernel takes the attributes of a kernel.
func (r *reader) ofKernel(section string, k *Kernel) {
	bad := func(a *Attribute, want int) bool {
		if len(a.Data) >= want {
			return false
		}
		r.fail(section, a.At, "attribute %v has %d bytes; want %d", a.ID, len(a.Data), want)
		return true
	}
	for i := range k.Attributes {
		a := &k.Attributes[i]
		switch a.ID {
		case attrMaxThreads, attrBlock:
			to := &k.MaxThreads
			if a.ID == attrBlock {
				to = &k.Block
			}
			if !bad(a, 12) {
				for d := range to {
					to[d] = le.Uint32(a.Data[4*d:])
				}
			}
		case attrParamBank: // symbol, then offset and size in the bank
			if !bad(a, 8) {
				k.ParamBase, k.ParamBytes = int(le.Uint16(a.Data[4:])), int(le.Uint16(a.Data[6:]))
			}
		case attrBarriers:
			k.Barriers = int(a.Value)
		case attrParam, attrParamV2:
			// Index, ordinal, offset; then the size in the upper 14 bits of a word, or in the
			// second form in a half word.
			if bad(a, 12) {
				continue
			}
			n, p := int(le.Uint16(a.Data[4:])), Param{int(le.Uint16(a.Data[6:])), int(le.Uint32(a.Data[8:]) >> 18)}
			if a.ID == attrParamV2 {
				p.Bytes = int(le.Uint16(a.Data[8:]))
			}
			const most = 4096 // parameters fit into 32764 bytes, and most have eight
			if n >= most {
				r.fail(section, a.At, "parameter %d exceeds the limit of %d", n, most)
				continue
			}
			for len(k.Params) <= n {
				k.Params = append(k.Params, Param{})
			}
			k.Params[n] = p
		}
	}
	for i, p := range k.Params {
		if p.Offset+p.Bytes > k.ParamBytes || p.Bytes == 0 {
			r.fail(section, -1, "parameter %d has %d bytes at %d, but all have %d", i, p.Bytes, p.Offset, k.ParamBytes)
			return
		}
	}
}

// relocations reads the places whose values depend on addresses.
func (r *reader) relocations() {
	for _, s := range r.elf.Sections {
		if s.Type != elf.SHT_REL && s.Type != elf.SHT_RELA {
			continue
		}
		n := int(s.Info & (1<<24 - 1))
		if n <= 0 || n >= len(r.elf.Sections) {
			r.fail(s.Name, -1, "it relocates section %d, which does not exist", n)
			continue
		}
		target := r.elf.Sections[n]
		to, size := Relocation{At: r.inSection(n)}, target.Size
		if to.At.Kind == Unknown {
			continue // debug information
		}
		b, step := r.bytes(s), relSize(s)
		if len(b)%step != 0 {
			r.fail(s.Name, len(b)/step*step, "the last relocation is incomplete")
		}
		for at := 0; at+step <= len(b); at += step {
			to.At.Offset, to.Type = le.Uint64(b[at:]), le.Uint32(b[at+8:])
			sym := le.Uint32(b[at+12:])
			if int64(sym) >= int64(len(r.syms)) || to.At.Offset > size || size-to.At.Offset < to.width() {
				r.fail(s.Name, at, "relocation of %d bytes at %#x by symbol %d: %s has %#x bytes, and there are %d symbols", to.width(), to.At.Offset, sym, target.Name, size, len(r.syms))
				continue
			}
			if to.At.Kind == InCode && to.At.Offset%16 != 0 {
				r.fail(s.Name, at, "relocation at %#x of %s is not at the beginning of an instruction", to.At.Offset, target.Name)
				continue
			}
			to.Addend = 0
			if there := r.held(to.At); s.Type == elf.SHT_REL && to.width() == 8 && uint64(len(there)) >= to.At.Offset+8 {
				to.Addend = int64(le.Uint64(there[to.At.Offset:])) // what is there is added
			}
			if s.Type == elf.SHT_RELA {
				to.Addend = int64(le.Uint64(b[at+16:]))
			}
			by := &r.syms[sym]
			to.Symbol, to.Place, to.Global = by.Name, r.place(by), elf.ST_BIND(by.Info) != elf.STB_LOCAL
			r.out.Relocations = append(r.out.Relocations, to)
		}
	}
}

// held is what the section of a place of data or constants holds, as it was read; nil for zeros and if it
// could not be read.
func (r *reader) held(p Place) []byte {
	switch {
	case p.Kind == InData:
		return r.out.Data[p.Index].Init
	case p.Kind == InConstant && p.Owner == "":
		return r.out.Constants[p.Bank]
	case p.Kind == InConstant && r.kernels[p.Owner] != nil:
		return r.kernels[p.Owner].Constants[p.Bank]
	}
	return nil
}

// width is the bytes that a relocation changes, as far as its type is known.
func (r *Relocation) width() uint64 {
	switch {
	case r.At.Kind == InCode:
		return 16
	case r.Type == RelocWhole:
		return 8
	}
	return 4
}

// relSize is the size of a relocation: offset, type and symbol, and in SHT_RELA an addend.
func relSize(s *elf.Section) int {
	if s.Type == elf.SHT_RELA {
		return 24
	}
	return 16
}
