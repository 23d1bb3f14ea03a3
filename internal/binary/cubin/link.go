package cubin

import (
	"errors"
	"fmt"
	"slices"
)

// Link makes one file of several. What one refers to and another defines is found by name; of weak
// definitions the first counts, if there is no other. Names that no file defines stay open, in
// Externs. The error joins *Error values: files for different architectures, names that two files
// define.
func Link(name string, files ...*File) (*File, error) {
	if len(files) == 1 && !files[0].Relocatable {
		return files[0], nil
	}
	l := &linker{out: &File{Name: name, parts: make([]part, len(files))}, owner: map[string]int{}, places: map[string]Place{}, used: map[string]bool{}}
	for i, f := range files {
		l.out.parts[i].File = f
		l.define(i, f, false)
	}
	for i, f := range files {
		l.define(i, f, true)
	}
	for i, f := range files {
		l.add(i, f)
	}
	for i := range l.out.Relocations {
		r := &l.out.Relocations[i]
		if p, ok := l.places[r.Symbol]; ok && r.Place.Kind == Unknown {
			r.Place = p
		}
	}
	l.constants()
	l.out.Externs = slices.DeleteFunc(l.out.Externs, func(name string) bool { _, ok := l.places[name]; return ok })
	slices.Sort(l.out.Externs)
	l.out.Externs = slices.Compact(l.out.Externs)
	if len(l.errs) > 0 {
		return nil, errors.Join(l.errs...)
	}
	return l.out, nil
}

// constants writes the places of constants into the instructions that read them: banks that several
// files fill have them elsewhere than in each file.
func (l *linker) constants() {
	code := map[string]*Function{}
	for _, k := range l.out.Kernels {
		code[k.Name] = &k.Function
	}
	for _, fn := range l.out.Functions {
		code[fn.Name] = fn
	}
	own := map[string]bool{} // functions whose code is a copy
	l.out.Relocations = slices.DeleteFunc(l.out.Relocations, func(r Relocation) bool {
		f := code[r.At.Owner]
		if r.At.Kind != InCode || f == nil || r.Place.Kind != InConstant || r.Place.Owner != "" || r.Type != relocConstOperand && r.Type != relocConstRegister {
			return false
		}
		if !own[f.Name] {
			own[f.Name], f.Code = true, slices.Clone(f.Code)
		}
		// Both forms have the bank in the five bits from 54 on; before it the offset, in 14 bits of
		// words or in 16 of bytes.
		at, shift, first := r.Place.Offset+uint64(r.Addend), 2, 40
		if r.Type == relocConstRegister {
			shift, first = 0, 38
		}
		if at >= maxBank || at&(1<<shift-1) != 0 {
			return false // it stays, and is refused
		}
		word := le.Uint64(f.Code[r.At.Offset:])
		word &^= 1<<59 - 1<<first
		le.PutUint64(f.Code[r.At.Offset:], word|at>>shift<<first|uint64(r.Place.Bank)<<54)
		return true
	})
}

// part is a file that was linked.
type part struct {
	*File
	names map[string]string // of its functions that were taken: what they are called in the result
}

// linker links files.
type linker struct {
	out    *File
	owner  map[string]int   // names that all files see: the number of the file whose definition counts
	places map[string]Place // in the result, by such names
	used   map[string]bool  // names of functions in the result
	errs   []error
}

func (l *linker) fail(f *File, format string, args ...any) {
	l.errs = append(l.errs, &Error{File: f.Name, Offset: -1, Msg: fmt.Sprintf(format, args...)})
}

// symbols calls see for each name that a file defines for all.
func (f *File) symbols(see func(name string, weak bool)) {
	for _, k := range f.Kernels {
		if !k.Local {
			see(k.Name, k.Weak)
		}
	}
	for _, fn := range f.Functions {
		if !fn.Local {
			see(fn.Name, fn.Weak)
		}
	}
	for _, v := range f.Variables {
		if v.Global {
			see(v.Name, v.Weak)
		}
	}
}

// define decides whose definitions count: first of those that are not weak, then of the others.
func (l *linker) define(i int, f *File, weak bool) {
	f.symbols(func(name string, isWeak bool) {
		switch old, known := l.owner[name]; {
		case isWeak != weak:
		case !known:
			l.owner[name] = i
		case !weak:
			l.fail(f, "%s is defined twice, here and in %s", name, l.out.parts[old].Name)
		}
	})
}

// add appends file i.
func (l *linker) add(i int, f *File) {
	out := l.out
	if i == 0 {
		out.Arch = f.Arch
	} else if f.Arch != out.Arch {
		l.fail(f, "it is for sm_%d, but %s is for sm_%d: files that are linked are for one architecture", f.Arch, out.parts[0].Name, out.Arch)
		return
	}
	gone := l.addCode(i, f)
	data := len(out.Data)
	out.Data = append(out.Data, f.Data...)
	base, ok := l.addConstants(f)
	if !ok {
		return
	}
	moved := func(p Place) Place {
		switch {
		case p.Kind == InData:
			p.Index += data
		case p.Kind == InConstant && p.Owner == "":
			p.Offset += base[p.Bank]
		case out.parts[i].names[p.Owner] != "":
			p.Owner = out.parts[i].names[p.Owner]
		}
		return p
	}
	for _, v := range f.Variables {
		p := moved(Place{Kind: InData, Index: v.Data, Offset: v.Offset})
		if v.Data < 0 {
			p = moved(Place{Kind: InConstant, Bank: v.Bank, Offset: v.Offset})
		} else {
			v.Data = p.Index
		}
		v.Offset = p.Offset
		if n, ok := l.owner[v.Name]; v.Global && ok {
			if n != i {
				continue
			}
			l.places[v.Name] = p
		}
		out.Variables = append(out.Variables, v)
	}
	for _, r := range f.Relocations {
		if r.At.Owner != "" && gone[r.At.Owner] {
			continue
		}
		r.At, r.Place = moved(r.At), moved(r.Place)
		if n, ok := l.owner[r.Symbol]; ok && n != i && r.Global {
			r.Place = Place{} // another file's definition counts
		}
		out.Relocations = append(out.Relocations, r)
	}
	out.Externs = append(out.Externs, f.Externs...)
	out.Textures = append(out.Textures, f.Textures...)
	out.Surfaces = append(out.Surfaces, f.Surfaces...)
}

// addCode appends the kernels and functions of file i whose definitions count, and returns the names of
// the others. A function that only its file sees gets a name of its own if others have the same.
func (l *linker) addCode(i int, f *File) (gone map[string]bool) {
	out, names := l.out, map[string]string{}
	gone = map[string]bool{}
	out.parts[i].names = names
	place := func(fn *Function) bool {
		n, seen := l.owner[fn.Name]
		if !fn.Local && n != i {
			gone[fn.Name] = true
			return false
		}
		old := fn.Name
		switch {
		case fn.Local && (l.used[old] || seen):
			fn.Name = fmt.Sprintf("%s$%d", old, i+1)
		case !fn.Local:
			l.places[old] = Place{Kind: InCode, Owner: old}
		}
		names[old], l.used[fn.Name] = fn.Name, true
		return true
	}
	for _, k := range f.Kernels {
		copied := *k
		if place(&copied.Function) {
			out.Kernels = append(out.Kernels, &copied)
		}
	}
	for _, fn := range f.Functions {
		copied := *fn
		if place(&copied) {
			out.Functions = append(out.Functions, &copied)
		}
	}
	return gone
}

// addConstants appends the banks that all kernels of a file share, and returns where they begin. It
// fails if a bank gets too large.
func (l *linker) addConstants(f *File) (base [Banks]uint64, ok bool) {
	for bank, b := range f.Constants {
		if len(b) == 0 {
			continue
		}
		const align = 16 // of the widest load
		have := l.out.Constants[bank]
		base[bank] = uint64(len(have)+align-1) &^ (align - 1)
		if n := base[bank] + uint64(len(b)); n > maxBank {
			l.fail(f, "with the other files, constant bank %d has %d bytes; the limit is %d", bank, n, maxBank)
			return base, false
		}
		have = append(slices.Clip(have), make([]byte, base[bank]-uint64(len(have)))...)
		l.out.Constants[bank] = append(have, b...)
	}
	return base, true
}
