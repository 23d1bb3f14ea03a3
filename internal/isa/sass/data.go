package sass

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// This file: what programs keep in memory, and what addresses their code gets, as text. A place is a
// variable, a piece of data or a bank by its name, a kernel, or a function of the machine, and bytes
// from there on: "table", ".nv.global.init+0x50".

// bankName is the name of a constant bank that all kernels share.
func bankName(bank int) string { return fmt.Sprintf(".nv.constant%d", bank) }

// parts are the parts of addresses that instructions get, as text.
var parts = map[Part]string{Whole: "whole", Lower: "lower", Upper: "upper"}

// index finds variables by their places, and addresses by kernels.
type index struct {
	variables map[target][]extent
	addresses map[string][]*Address // in a kernel's code, and in its own constants
}

// target is a piece of data or a bank.
type target struct {
	to         AddressOf
	data, bank int
}

// extent is a variable, with what it takes to find one that holds a byte.
type extent struct {
	*Variable
	order int    // among all
	most  uint64 // the highest end of this one and those before it, which begin lower
}

// end is the first byte after a variable; an empty one holds its first byte.
func (v *Variable) end() uint64 { return v.Offset + max(v.Bytes, 1) }

// newIndex makes the index of a complete file. Of variables of one name, the first counts.
func (f *File) newIndex() *index {
	x := &index{map[target][]extent{}, map[string][]*Address{}}
	seen := map[string]bool{}
	for i := range f.Variables {
		v := &f.Variables[i]
		to := target{OfData, v.Data, 0}
		if v.Data < 0 {
			to = target{OfBank, 0, v.Bank}
		}
		if !seen[v.Name] {
			x.variables[to] = append(x.variables[to], extent{v, i, 0})
		}
		seen[v.Name] = true
	}
	for _, list := range x.variables {
		slices.SortStableFunc(list, func(a, b extent) int { return cmp.Compare(a.Offset, b.Offset) })
		most := uint64(0)
		for i := range list {
			most = max(most, list[i].end())
			list[i].most = most
		}
	}
	for i := range f.Addresses {
		if a := &f.Addresses[i]; a.Kernel+a.Owner != "" {
			x.addresses[a.Kernel+a.Owner] = append(x.addresses[a.Kernel+a.Owner], a)
		}
	}
	return x
}

// find is the first variable of the file that has a byte, nil if there is none.
func (x *index) find(to target, at uint64) *Variable {
	if to.to == OfData {
		to.bank = 0
	} else {
		to.data = 0
	}
	list := x.variables[to]
	n, _ := slices.BinarySearchFunc(list, at, func(s extent, at uint64) int {
		if s.Offset <= at {
			return -1
		}
		return 1
	})
	var best *extent
	for n--; n >= 0 && list[n].most > at; n-- {
		if s := &list[n]; s.end() > at && (best == nil || s.order < best.order) {
			best = s
		}
	}
	if best == nil {
		return nil
	}
	return best.Variable
}

// addressesOf are the addresses in a kernel's code and constants.
func (f *File) addressesOf(k *Kernel) []*Address {
	if f.index == nil {
		f.index = f.newIndex()
	}
	return f.index.addresses[k.Name]
}

// Place names what an address leads to, and how many bytes after it that is. The file is complete.
func (f *File) Place(a *Address) (name string, more uint64) {
	switch a.To {
	case OfFunction, OfPointer:
		return a.Function, a.Addend
	case OfCode:
		return a.Kernel, a.Addend
	}
	if f.index == nil {
		f.index = f.newIndex()
	}
	if v := f.index.find(target{a.To, a.ToData, a.ToBank}, a.Addend); v != nil {
		return v.Name, a.Addend - v.Offset
	}
	if a.To == OfBank {
		return bankName(a.ToBank), a.Addend
	}
	return f.Data[a.ToData].Name, a.Addend
}

// At names the section that has an address, and the offset there, for messages.
func (f *File) At(a *Address) string {
	name := bankName(a.Bank)
	switch {
	case a.Kernel != "":
		name = ".text." + a.Kernel
	case a.Data >= 0:
		name = f.Data[a.Data].Name
	case a.Owner != "":
		name += "." + a.Owner
	}
	return fmt.Sprintf("section %s, offset %#x", name, a.Offset)
}

// placeText is the text of a name with an offset.
func placeText(name string, more uint64) string {
	if more == 0 {
		return name
	}
	return fmt.Sprintf("%s+0x%x", name, more)
}

// words are bytes as words of 32 bits.
func words(b []byte) string {
	list := make([]string, 0, (len(b)+3)/4)
	for i := 0; i < len(b); i += 4 {
		var word [4]byte // the last one may be incomplete
		copy(word[:], b[i:])
		list = append(list, fmt.Sprintf("%08x", binary.LittleEndian.Uint32(word[:])))
	}
	return strings.Join(list, " ")
}

// Head returns the directives of what all kernels share, one per line.
func (f *File) Head() []string {
	var list []string
	for _, d := range f.Data {
		line := fmt.Sprintf(".data %s, %d, %d", d.Name, d.Bytes, max(d.Align, 1))
		if d.Init != nil {
			line += ", " + words(d.Init)
		}
		list = append(list, line)
	}
	for bank, b := range f.Banks {
		if len(b) > 0 {
			list = append(list, fmt.Sprintf(".bank %d, %d, %s", bank, len(b), words(b)))
		}
	}
	for _, v := range f.Variables {
		at := bankName(v.Bank)
		if v.Data >= 0 {
			at = f.Data[v.Data].Name
		}
		line := fmt.Sprintf(".variable %s, %s, %d", v.Name, placeText(at, v.Offset), v.Bytes)
		if v.Local {
			line += ", local"
		}
		list = append(list, line)
	}
	for i := range f.Addresses {
		a := &f.Addresses[i]
		if a.Kernel == "" && a.Owner == "" {
			list = append(list, f.addressText(a))
		}
	}
	return list
}

// addressText is the directive of an address in data or constants.
func (f *File) addressText(a *Address) string {
	at := bankName(a.Bank)
	if a.Data >= 0 {
		at = f.Data[a.Data].Name
	}
	kind := ""
	if a.Type != 0 {
		kind = fmt.Sprintf("%d, ", a.Type)
	}
	return fmt.Sprintf(".address %s, %s%s", placeText(at, a.Offset), kind, placeText(f.Place(a)))
}

// ownAddresses returns the directives of addresses in the constants of one kernel.
func (f *File) ownAddresses(k *Kernel) (list []string) {
	for _, a := range f.addressesOf(k) {
		if a.Owner == k.Name {
			list = append(list, f.addressText(a))
		}
	}
	return list
}

// Notes returns what stands before the instructions of a kernel, by their numbers: the addresses that
// they get, and where they come from.
func (f *File) Notes(k *Kernel) map[int]string {
	list := map[int]string{}
	for _, line := range f.ownAddresses(k) {
		list[0] += line + "\n"
	}
	last := ""
	for i, l := range k.Lines {
		if i+1 < len(k.Lines) && k.Lines[i+1].Index == l.Index {
			continue // tables of lines may name several for one instruction: the last counts
		}
		if s := fmt.Sprintf(".line %s, %d\n", filepath.Base(l.File), l.Line); s != last && l.Line > 0 {
			list[l.Index] += s
			last = s
		}
	}
	for _, a := range f.addressesOf(k) {
		if a.Kernel == k.Name {
			part := parts[a.Part]
			if a.Type != 0 {
				part = fmt.Sprint(a.Type)
			}
			list[int(a.Offset/InstBytes)] += fmt.Sprintf(".address %s, %s\n", part, placeText(f.Place(a)))
		}
	}
	return list
}

// reference is an address in a text, whose name may be defined after it.
type reference struct {
	Address
	name string
	at   func(hint, format string, args ...any) // reports a mistake
}

// splitPlace reads NAME or NAME+OFFSET.
func splitPlace(text string) (name string, offset uint64, ok bool) {
	name, rest, more := strings.Cut(text, "+")
	if !more {
		return name, 0, name != ""
	}
	offset, err := strconv.ParseUint(rest, 0, 64)
	return name, offset, err == nil && name != ""
}

// sharedForms are the directives of what all kernels share, with the fewest and the most operands.
var sharedForms = map[string]struct {
	usage       string
	least, most int
	read        func(p *parser, args []string, col int)
}{
	".data":     {".data NAME, BYTES, ALIGNMENT, HEX WORDS", 3, 4, (*parser).data},
	".bank":     {".bank NUMBER, BYTES, HEX WORDS", 3, 3, (*parser).bank},
	".variable": {".variable NAME, PLACE, BYTES, local", 3, 4, (*parser).variable},
	".address":  {".address PLACE, TYPE, NAME", 2, 3, func(p *parser, args []string, col int) { p.dataAddress(args, col, "") }},
}

// shared reads a directive of what all kernels share. It reports false if there is none of that name.
func (p *parser) shared(name string, args []string, col int) bool {
	f, ok := sharedForms[name]
	switch {
	case !ok:
	case len(args) < f.least || len(args) > f.most:
		p.fail(col, "the form is: "+f.usage, "%s needs %d operands, not %d", name, f.least, len(args))
	default:
		f.read(p, args, col)
	}
	return ok
}

// upTo reads a number from 0 to most.
func (p *parser) upTo(most uint64, text string, col int) (uint64, bool) {
	v, err := strconv.ParseUint(text, 0, 64)
	if err != nil || v > most {
		p.fail(col, fmt.Sprintf("0 to %d", most), "%q is not in range", text)
		return 0, false
	}
	return v, true
}

// data reads .data.
func (p *parser) data(args []string, col int) {
	n, ok1 := p.upTo(maxData, args[1], col)
	align, ok2 := p.upTo(1<<16, args[2], col)
	if !ok1 || !ok2 {
		return
	}
	d := Data{Name: args[0], Bytes: n, Align: align}
	_, twice := p.section(args[0], new(int), new(int))
	switch {
	case align&(align-1) != 0 || align == 0:
		p.fail(col, "a power of two", "%d is no alignment", align)
		return
	case args[0] != ".nv.global" && args[0] != ".nv.global.init" || twice:
		p.fail(col, "there are .nv.global and .nv.global.init, each once", "data cannot be called %s here", args[0])
		return
	}
	if len(args) == 4 {
		if d.Init, ok1 = p.words(args[3], n, col); !ok1 {
			return
		}
	}
	p.file.Data = append(p.file.Data, d)
}

// bank reads .bank.
func (p *parser) bank(args []string, col int) {
	bank, ok1 := p.upTo(ConstBanks-1, args[0], col)
	n, ok2 := p.upTo(maxBank, args[1], col)
	if !ok1 || !ok2 {
		return
	}
	b, ok := p.words(args[2], n, col)
	switch {
	case !ok:
	case p.file.Banks[bank] != nil:
		p.fail(col, "put all of its words in one", "bank %d is given twice", bank)
	default:
		p.file.Banks[bank] = b
	}
}

// variable reads .variable.
func (p *parser) variable(args []string, col int) {
	n, ok := p.upTo(maxData, args[2], col)
	if !ok {
		return
	}
	at, offset, ok := splitPlace(args[1])
	v := Variable{Name: args[0], Data: -1, Offset: offset, Bytes: n, Local: len(args) == 4}
	size, found := p.section(at, &v.Data, &v.Bank)
	switch {
	case !ok || !found:
		p.fail(col, "define it with .data or .bank before", "there is no data %s", args[1])
	case v.Local && args[3] != "local":
		p.fail(col, "want local, or nothing", "%q is not known here", args[3])
	case offset > size || n > size-offset:
		p.fail(col, "", "%s has %d bytes from %d on, but there are %d", v.Name, n, offset, size)
	default:
		p.file.Variables = append(p.file.Variables, v)
	}
}

// dataAddress reads .address of data or constants: of the kernel owner, or of all.
func (p *parser) dataAddress(args []string, col int, owner string) {
	at, offset, ok := splitPlace(args[0])
	r := reference{Address: Address{Data: -1, Offset: offset, Owner: owner}, at: p.here(col)}
	size, found := p.section(at, &r.Data, &r.Bank)
	if owner != "" {
		size, found = maxBank, false
		for bank := range ConstBanks {
			if bankName(bank) == at {
				r.Data, r.Bank, found = -1, bank, true
			}
		}
	}
	switch {
	case !ok || !found:
		p.fail(col, "define it with .data or .bank before", "there is no data %s", args[0])
		return
	case offset > size || size-offset < 4 || size-offset < 8 && len(args) == 2:
		p.fail(col, "an address has 8 bytes", "offset %d is beyond the %d bytes of %s", offset, size, at)
		return
	case len(args) == 3 && !p.addressType(&r, args[1], col):
		return
	}
	p.refer(r, args[len(args)-1])
}

// addressType reads the type of a relocation that is not supported.
func (p *parser) addressType(r *reference, text string, col int) bool {
	v, err := strconv.ParseUint(text, 10, 32)
	if err != nil || v == 0 {
		p.fail(col, "a number from 1 on", "%q is no type of a relocation", text)
		return false
	}
	r.Type = uint32(v)
	return true
}

// maxData bounds a piece of data, our choice, as that of files.
const maxData = 1 << 30

// here returns a function that reports mistakes in the current line, later.
func (p *parser) here(col int) func(hint, format string, args ...any) {
	no, line := p.lineNo, p.line
	return func(hint, format string, args ...any) {
		p.lineNo, p.line = no, line
		p.fail(col, hint, format, args...)
	}
}

// words reads n bytes in words of 32 bits.
func (p *parser) words(text string, n uint64, col int) ([]byte, bool) {
	fields := strings.Fields(text)
	if uint64(len(fields)) != (n+3)/4 {
		p.fail(col, "a word has 8 hexadecimal digits", "%d bytes take %d words; got %d", n, (n+3)/4, len(fields))
		return nil, false
	}
	b := make([]byte, 0, 4*len(fields))
	for _, w := range fields {
		v, err := strconv.ParseUint(w, 16, 32)
		if err != nil {
			p.fail(col, "words of up to 8 hexadecimal digits", "%q is not a word", w)
			return nil, false
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return b[:n], true
}

// section finds a piece of data or a bank by its name, and its size.
func (p *parser) section(name string, data, bank *int) (size uint64, ok bool) {
	for i, d := range p.file.Data {
		if d.Name == name {
			*data = i
			return d.Bytes, true
		}
	}
	for i, b := range p.file.Banks {
		if len(b) > 0 && bankName(i) == name {
			*bank = i
			return uint64(len(b)), true
		}
	}
	return 0, false
}

// refer records that a place gets the address of what a text names.
func (p *parser) refer(r reference, text string) {
	ok := false
	if r.name, r.Addend, ok = splitPlace(text); !ok || strings.ContainsFunc(text, unicode.IsControl) {
		r.at("a name, or a name and an offset: table+0x10", "%q is no place", text)
		return
	}
	p.references = append(p.references, r)
}

// instructionAddress reads .address of an instruction, or of the kernel's own constants.
func (p *parser) instructionAddress(args []string, col int) {
	if len(args) == 3 {
		p.dataAddress(args, col, p.kernel.Name)
		return
	}
	r := reference{Address: Address{Data: -1, Kernel: p.kernel.Name, Offset: uint64(len(p.stmts)) * InstBytes}, at: p.here(col)}
	for part, name := range parts {
		if args[0] == name {
			r.Part = part
			p.refer(r, args[1])
			return
		}
	}
	if _, err := strconv.Atoi(args[0]); err != nil {
		p.fail(col, "want lower, upper or whole", "%q is no part of an address", args[0])
	} else if p.addressType(&r, args[0], col) {
		p.refer(r, args[1])
	}
}

// resolve finds what the names of addresses stand for.
func (p *parser) resolve() {
	kernels, labels, variables := map[string]*Kernel{}, map[string]bool{}, map[string]*Variable{}
	for _, k := range slices.Backward(p.file.Kernels) { // of several of one name, the first counts
		kernels[k.Name] = k
		for _, l := range k.Labels {
			labels[l.Name] = true
		}
	}
	for i := range p.file.Variables {
		v := &p.file.Variables[len(p.file.Variables)-1-i]
		variables[v.Name] = v
	}
	for _, r := range p.references {
		a := r.Address
		found := false
		if a.Type != 0 {
			a.To, a.Function = OfFunction, r.name
			p.file.Addresses = append(p.file.Addresses, a)
			continue
		}
		if v := variables[r.name]; v != nil {
			a.To, a.ToData, a.ToBank, found = OfBank, v.Data, v.Bank, true
			a.Addend += v.Offset
			if v.Data >= 0 {
				a.To = OfData
			}
		}
		data, bank := -1, 0
		if !found {
			if _, found = p.section(r.name, &data, &bank); found {
				a.To, a.ToData, a.ToBank = OfBank, data, bank
				if data >= 0 {
					a.To = OfData
				}
			}
		}
		if k := kernels[a.Kernel]; k != nil && a.Offset >= uint64(len(k.Code))*InstBytes {
			r.at("put it before the instruction that gets the address", "no instruction follows")
			continue
		}
		switch {
		case found:
		case a.Kernel == r.name:
			a.To = OfCode
		case kernels[r.name] != nil:
			r.at("", "code gets only addresses of its own kernel, not of %s", r.name)
			continue
		case !namePattern.MatchString(r.name):
			r.at("define it with .data, .bank or .variable", "there is no %s", r.name)
			continue
		default:
			a.To, a.Function = OfFunction, r.name
			if labels[r.name] && (a.Kernel == "" || a.Part != Whole) {
				a.To = OfPointer
			}
		}
		p.file.Addresses = append(p.file.Addresses, a)
	}
}

// sourceLine reads .line FILE, NUMBER.
func (p *parser) sourceLine(args []string, col int) {
	last := len(args) - 1
	n, err := strconv.Atoi(args[last])
	if err != nil || n < 1 {
		p.fail(col, "the form is: .line FILE, NUMBER", "%q is not a line", args[last])
		return
	}
	p.kernel.Lines = append(p.kernel.Lines, Line{Index: len(p.stmts), File: strings.Join(args[:last], ", "), Line: n})
}
