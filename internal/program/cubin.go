package program

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/heddle-sim/heddle/internal/binary/cubin"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// maxCode bounds the code of a file's kernels with what they call, in bytes, our choice: functions that
// many kernels call are in the code of each.
const maxCode = 1 << 28

// machineFile returns a cubin in the words of sass, in which the code of each kernel is followed by
// that of the functions that it calls. It fails if the tables lack the architecture, or if something
// is relocated in a way that is not supported.
func machineFile(f *cubin.File) (*sass.File, error) {
	out := &sass.File{Name: f.Name}
	var err error
	if out.Arch, err = sass.ParseArch(fmt.Sprintf("sm_%d", f.Arch)); err != nil {
		return nil, err
	}
	lines := sync.OnceValue(func() map[string][]cubin.Line {
		list, _ := f.Lines() // a program runs without them, too
		return list
	})
	functions := callees(f)
	x := &addresser{file: f, externs: map[string]bool{}, kernels: map[string]*cubin.Kernel{}}
	for _, name := range f.Externs {
		x.externs[name] = true
	}
	for _, k := range f.Kernels {
		x.kernels[k.Name] = k
	}
	pointers := x.pointed()
	images := map[string][]*image{} // by what is in them
	bytes := 0
	for _, k := range f.Kernels {
		text, err := machineCode(f, k, false)
		if err != nil {
			return nil, err
		}
		im := newImage(k, text, functions, pointers)
		if bytes += len(text.Binary); bytes > maxCode {
			return nil, fmt.Errorf("%s: its kernels, each with all that it calls, have more than %d bytes of code", f.Name, maxCode)
		}
		for name := range im.at {
			images[name] = append(images[name], im)
		}
		text.Source = func(i int) (string, int) {
			at := uint64(i) * sass.InstBytes
			name := im.functionAt(at)
			return lineAt(lines()[name], uint32(at-im.at[name]))
		}
		out.Kernels = append(out.Kernels, text)
	}
	for _, d := range f.Data {
		out.Data = append(out.Data, sass.Data{Name: d.Name, Init: d.Init, Bytes: d.Bytes, Align: d.Align})
	}
	out.Banks = f.Constants
	for _, v := range f.Variables {
		out.Variables = append(out.Variables, sass.Variable{Name: v.Name, Data: v.Data, Bank: v.Bank, Offset: v.Offset, Bytes: v.Bytes, Local: !v.Global})
	}
	for i := range f.Relocations {
		r := &f.Relocations[i]
		in := images[r.At.Owner]
		if r.At.Kind != cubin.InCode {
			in = []*image{nil}
		}
		for _, im := range in {
			out.Addresses = append(out.Addresses, x.addressOf(r, im))
		}
	}
	return out, nil
}

// Listing is a cubin as the text of a program, but for the kernels' instructions, which SetCode adds.
func Listing(f *cubin.File) (*sass.File, error) {
	out, err := machineFile(f)
	if err != nil {
		return nil, err
	}
	lines, err := f.Lines()
	for _, k := range out.Kernels {
		for _, l := range lines[k.Name] {
			k.Lines = append(k.Lines, sass.Line{Index: int(l.Offset / sass.InstBytes), File: l.File, Line: l.Line})
		}
	}
	return out, err
}

// image is a kernel's code with what it calls.
type image struct {
	text *sass.Kernel
	at   map[string]uint64 // offsets of functions in it
	code []*cubin.Function // in the order of their offsets
}

// callee is a function that others call, and what it calls itself.
type callee struct {
	*cubin.Function
	calls []string
}

// callees returns the kernels and functions of a file by name.
func callees(f *cubin.File) map[string]*callee {
	list := map[string]*callee{}
	type call struct{ from, to string }
	seen := map[call]bool{}
	for _, fn := range f.Functions {
		list[fn.Name] = &callee{Function: fn}
	}
	for _, k := range f.Kernels {
		list[k.Name] = &callee{Function: &k.Function}
	}
	for i := range f.Relocations {
		r := &f.Relocations[i]
		x := call{r.At.Owner, r.Place.Owner}
		if c := list[x.from]; r.At.Kind == cubin.InCode && r.Place.Kind == cubin.InCode && x.from != x.to && list[x.to] != nil && !seen[x] {
			seen[x], c.calls = true, append(c.calls, x.to)
		}
	}
	return list
}

// NOP, with which compilers fill code up (measured; the same from sm_70 on).
const nopLow, nopHigh = 0x7918, 0x000fc00000000000

// newImage lays out a kernel's code; text gets what all of it together needs. Code that calls what a
// register points to may call any of the pointers.
func newImage(k *cubin.Kernel, text *sass.Kernel, all map[string]*callee, pointers []string) *image {
	im := &image{text: text, at: map[string]uint64{}}
	var code []byte
	beyond := 0 // stack of what is called by a pointer
	for queue := []string{k.Name}; len(queue) > 0; queue = queue[1:] {
		c := all[queue[0]]
		if _, there := im.at[c.Name]; there {
			continue
		}
		if len(pointers) > 0 && callsAny(c.Code) {
			queue = append(queue, pointers...)
			for _, name := range pointers {
				beyond = max(beyond, stack(name, all, map[string]int{}))
			}
			pointers = nil
		}
		const align = 128 // of code (measured)
		for len(code)%align != 0 {
			code = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(code, nopLow), nopHigh)
		}
		im.at[c.Name], im.code = uint64(len(code)), append(im.code, c.Function)
		if len(code) == 0 {
			code = slices.Clip(c.Code)
		} else {
			first := len(code) / sass.InstBytes
			text.Labels = append(text.Labels, sass.Label{Name: c.Name, Index: first})
			for _, l := range c.Labels {
				text.Labels = append(text.Labels, sass.Label{Name: l.Name, Index: first + int(l.Offset/sass.InstBytes)})
			}
			code = append(code, c.Code...)
		}
		text.Regs = max(text.Regs, c.Regs)
		queue = append(queue, c.calls...)
	}
	text.Binary = code
	text.Local = max(text.Local, stack(k.Name, all, map[string]int{})+beyond)
	return im
}

// stack is what a function and all that it calls put on a thread's stack, as far as that is known: a
// function that calls itself counts once. known has the functions that have been seen.
func stack(name string, all map[string]*callee, known map[string]int) int {
	if n, seen := known[name]; seen {
		return n
	}
	known[name] = 0
	most := 0
	for _, c := range all[name].calls {
		most = max(most, stack(c, all, known))
	}
	known[name] = all[name].Stack + most
	return known[name]
}

// has reports whether a function is in an image; nil has none.
func (im *image) has(name string) bool {
	if im == nil {
		return false
	}
	_, ok := im.at[name]
	return ok
}

// functionAt is the function at an offset.
func (im *image) functionAt(offset uint64) string {
	n, found := slices.BinarySearchFunc(im.code, offset, func(f *cubin.Function, at uint64) int { return cmp.Compare(im.at[f.Name], at) })
	if !found {
		n--
	}
	return im.code[n].Name
}

// lineAt is where the instruction at an offset comes from; lines are in the order of theirs.
func lineAt(lines []cubin.Line, offset uint32) (file string, line int) {
	n, found := slices.BinarySearchFunc(lines, offset, func(l cubin.Line, at uint32) int { return cmp.Compare(l.Offset, at) })
	if !found {
		n--
	}
	if n < 0 {
		return "", 0
	}
	return lines[n].File, lines[n].Line
}

// addresser makes addresses of a file's relocations.
type addresser struct {
	file    *cubin.File
	externs map[string]bool
	kernels map[string]*cubin.Kernel
}

// addressOf is the address of a relocation; im is the image that it is in, nil for those of data
// and constants. One that is not supported has its Type.
func (x *addresser) addressOf(r *cubin.Relocation, im *image) sass.Address {
	a := sass.Address{Data: -1, Bank: r.At.Bank, Offset: r.At.Offset, Addend: uint64(r.Addend)}
	switch r.At.Kind {
	case cubin.InData:
		a.Data = r.At.Index
	case cubin.InConstant:
		a.Owner = r.At.Owner
	case cubin.InCode:
		a.Kernel = im.text.Name
		a.Offset += im.at[r.At.Owner]
	}
	refused := a
	refused.Type, refused.To, refused.Function = r.Type, sass.OfFunction, r.Symbol
	pointer := x.isPointer(r)
	switch code := r.At.Kind == cubin.InCode; {
	case !code && r.At.Owner == "" && (r.Type == cubin.RelocWhole && (pointer || r.Place.Kind != cubin.InCode) || r.Type == cubin.RelocDescWhole && pointer):
	case code && (r.Type == cubin.RelocLower || r.Type == cubin.RelocDescLow):
		a.Part = sass.Lower
	case code && (r.Type == cubin.RelocUpper || r.Type == cubin.RelocDescHigh):
		a.Part = sass.Upper
	case code && r.Type == cubin.RelocFunction && (r.Place.Kind == cubin.Unknown || r.Place.Kind == cubin.InCode):
	default:
		return refused
	}
	if pointer {
		a.To, a.Function = sass.OfPointer, r.Symbol
		return a
	}
	a.Addend += r.Place.Offset
	switch p := r.Place; {
	case p.Kind == cubin.InData:
		a.To, a.ToData = sass.OfData, p.Index
	case p.Kind == cubin.InConstant && p.Owner == "":
		a.To, a.ToBank = sass.OfBank, p.Bank
	case p.Kind == cubin.InCode && im.has(p.Owner):
		a.To = sass.OfCode
		a.Addend += im.at[p.Owner]
	case p.Kind == cubin.Unknown && x.externs[r.Symbol]:
		a.To, a.Function = sass.OfFunction, r.Symbol
	case p.Kind == cubin.Unknown:
		refused.Undefined = true
		return refused
	default:
		return refused
	}
	return a
}

// isPointer reports whether a relocation is the address of a function that code calls through a
// register, rather than a place in the code of its own kernel.
func (x *addresser) isPointer(r *cubin.Relocation) bool {
	switch {
	case r.Place.Kind != cubin.InCode || r.Addend != 0 || r.Type == cubin.RelocFunction:
		return false
	case r.At.Kind == cubin.InCode && r.At.Owner == r.Place.Owner && r.Type != cubin.RelocDescLow && r.Type != cubin.RelocDescHigh:
		return false
	case r.Place.Offset == 0:
		return r.Symbol == r.Place.Owner && x.kernels[r.Symbol] == nil
	}
	k := x.kernels[r.Place.Owner]
	return k != nil && slices.ContainsFunc(k.Labels, func(l cubin.Label) bool { return l.Name == r.Symbol && uint64(l.Offset) == r.Place.Offset })
}

// pointed lists the functions whose addresses are anywhere in a file, each once.
func (x *addresser) pointed() []string {
	var list []string
	seen := map[string]bool{}
	for i := range x.file.Relocations {
		if r := &x.file.Relocations[i]; r.Place.Offset == 0 && !seen[r.Symbol] && x.isPointer(r) {
			seen[r.Symbol], list = true, append(list, r.Symbol)
		}
	}
	return list
}

// callsAny reports whether code calls what a register points to: CALL.ABS and CALL.REL with one.
func callsAny(code []byte) bool {
	const opcode, absolute, relative = 0xfff, 0x343, 0x344
	for at := 0; at+sass.InstBytes <= len(code); at += sass.InstBytes {
		if op := binary.LittleEndian.Uint16(code[at:]) & opcode; op == absolute || op == relative {
			return true
		}
	}
	return false
}

// MachineCode returns a kernel of a cubin in the words of sass. It fails if the
// tables lack the architecture.
func MachineCode(f *cubin.File, k *cubin.Kernel) (*sass.Kernel, error) {
	out, err := machineCode(f, k, true)
	if err != nil {
		return nil, err
	}
	return out, out.SetCode(k.Code)
}

// From sm_90 on the system has the beginning of a block's shared memory; the sizes in cubins
// include it.
const (
	firstReserved  = 90
	reservedShared = 0x400
)

// machineCode is MachineCode before its code is decoded, with or without the constants that all
// kernels share.
func machineCode(f *cubin.File, k *cubin.Kernel, shared bool) (*sass.Kernel, error) {
	arch, err := sass.ParseArch(fmt.Sprintf("sm_%d", f.Arch))
	if err != nil {
		return nil, err
	}
	var refused error
	if len(k.Params) > 0 && k.ParamBase != arch.ParamBase() {
		refused = fmt.Errorf("%s: the parameters of kernel %s begin at %#x of constant bank 0; those of %s begin at %#x", f.Name, k.Name, k.ParamBase, arch, arch.ParamBase())
	}
	out := &sass.Kernel{Refused: refused, Name: k.Name, Weak: k.Weak, Arch: arch, Regs: k.Regs, Shared: k.Shared, Local: k.Least, Barriers: k.Barriers, MaxThreads: k.MaxThreads, Block: k.Block}
	if arch >= firstReserved && k.Shared >= reservedShared {
		out.Reserved = reservedShared
	}
	for i, p := range k.Params {
		out.Params = append(out.Params, sass.Param{Name: fmt.Sprintf("p%d", i), Bytes: p.Bytes, Offset: k.ParamBase + p.Offset})
	}
	for bank := 1; bank < cubin.Banks; bank++ {
		if b := f.Constants[bank]; len(b) > 0 && shared {
			out.Consts = append(out.Consts, sass.ConstData{Bank: bank, Bytes: b})
		}
		if b := k.Constants[bank]; len(b) > 0 {
			out.Consts = append(out.Consts, sass.ConstData{Bank: bank, Bytes: b})
		}
	}
	for _, l := range k.Labels {
		out.Labels = append(out.Labels, sass.Label{Name: l.Name, Index: int(l.Offset / sass.InstBytes)})
	}
	out.Binary = k.Code
	return out, nil
}
