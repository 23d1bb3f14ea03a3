package program

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/binary/cubin"
	"github.com/heddle-sim/heddle/internal/binary/fatbin"
	"github.com/heddle-sim/heddle/internal/compile/machine"
	"github.com/heddle-sim/heddle/internal/exec"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// This file: machine code or PTX, for device code that holds both.

// Code selects what of a program's device code runs.
type Code string

// The values of Code; the empty one is AutoCode.
const (
	AutoCode Code = "auto" // see Choice.Load
	SASSCode Code = "sass" // machine code only
	PTXCode  Code = "ptx"  // PTX only
	// CompiledCode is machine code that we make of the PTX; kernels that cannot be compiled run as PTX.
	CompiledCode Code = "compiled"
)

// Choice is what of device code runs, and on what.
type Choice struct {
	Code Code
	SM   int // the GPU: ten times its compute capability
	// Contract is that of the cores for which CompiledCode is, nil: that of the architecture.
	Contract *machine.Contract
	// MachineFirst makes AutoCode prefer machine code to PTX, as a driver does.
	MachineFirst bool
	// Heads is that of Loader, for fat binaries.
	Heads bool
	// PTX, if set, is called with the PTX of each part, or why there is none, and returns what
	// is loaded in its place.
	PTX func(Source, error) (Source, error)
	// Skipped, if set, is called when PTX runs because machine code, which comes first, is
	// invalid; if it is not set, Load fails then.
	Skipped func(error)
	// Refused, if set, is called for each kernel that CompiledCode leaves as PTX, with the reason, a
	// *compile.Refusal.
	Refused func(error)
}

// NoMachineCodeError is device code without machine code for the GPU.
type NoMachineCodeError struct {
	Name string // of the program or the part
	SM   int    // of the GPU
	Why  string
}

func (e *NoMachineCodeError) Error() string {
	return fmt.Sprintf("%s has no machine code that runs on sm_%d: %s", e.Name, e.SM, e.Why)
}

// ImageError is device code in an invalid container, or machine code that does not link.
type ImageError struct{ Err error }

func (e *ImageError) Error() string { return e.Err.Error() }
func (e *ImageError) Unwrap() error { return e.Err }

// imageError is the error of a part.
func imageError(part string, err error) error { return &ImageError{fmt.Errorf("%s: %w", part, err)} }

// MachineCodeName is the name of a module or a part whose machine code runs.
func MachineCodeName(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, Cubin.ext), PTX.ext) + Cubin.ext
}

// CodeOf is what a kernel is: SASSCode or PTXCode.
func CodeOf(k exec.Kernel) Code {
	if _, ok := k.(*xptx.Kernel); ok {
		return PTXCode
	}
	return SASSCode
}

// ParseBody parses the body of a kernel that Heads left.
func ParseBody(k exec.Kernel) error {
	if x, ok := k.(*xptx.Kernel); ok {
		return x.Func().Load()
	}
	return nil
}

// isMachineCode reports whether a part is nothing but machine code.
func isMachineCode(s Source) bool {
	f := FormOf(s.Name, s.Text)
	return f == Cubin || f == SASS
}

// Several reports whether a source may hold code for several GPUs, of which Choice.Load selects.
func (s Source) Several() bool {
	f := FormOf(s.Name, s.Text)
	return f != nil && f.parts != nil
}

// AllMachineCode reports whether parts are nothing but machine code.
func AllMachineCode(parts []Source) bool {
	return len(parts) > 0 && !slices.ContainsFunc(parts, func(s Source) bool { return !isMachineCode(s) })
}

// Load makes a program of parts, each of which is a fat binary, a file of the host with some, PTX, a
// cubin, or SASS text: of the machine code of all, or of the PTX of all. Of a fat binary it takes the machine code for the GPU,
// or else for the highest earlier one of its generation; the PTX for the GPU, or else for the
// highest earlier one.
//
// AutoCode takes machine code with MachineFirst, and PTX otherwise; if there is none for the GPU, it
// takes the other. The error is a *NoMachineCodeError or a *fatbin.NoPTXError, or both joined, if
// there is no code for the GPU, an *ImageError for an invalid container, a *MixedError, or as that of
// Load.
func (c *Choice) Load(sources ...Source) (*Program, error) {
	parts, err := unpack(sources)
	if err != nil {
		return nil, err
	}
	switch c.Code {
	case SASSCode:
		return c.machineCode(parts)
	case PTXCode:
		return c.ptx(parts)
	case CompiledCode:
		prog, err := c.ptx(parts)
		if err == nil {
			err = c.compile(prog)
		}
		return prog, err
	}
	if AllMachineCode(sources) {
		return c.machineCode(parts)
	}
	if err := Mixed(sources); err != nil {
		return nil, err
	}
	return c.either(parts)
}

// either is Load with AutoCode.
func (c *Choice) either(parts []part) (*Program, error) {
	var noPTX *fatbin.NoPTXError
	if !c.MachineFirst {
		prog, err := c.ptx(parts)
		if !errors.As(err, &noPTX) {
			return prog, err
		}
		code, err2 := c.machineCode(parts)
		if err2 != nil {
			return nil, errors.Join(err, err2)
		}
		return code, nil
	}
	code, err := c.machineCode(parts)
	if err == nil {
		return code, nil
	}
	var none *NoMachineCodeError
	invalid := !errors.As(err, &none)
	if invalid && c.Skipped == nil {
		return nil, err
	}
	prog, err2 := c.ptx(parts)
	switch {
	case errors.As(err2, &noPTX):
		return nil, errors.Join(err2, err)
	case err2 == nil && invalid:
		c.Skipped(err)
	}
	return prog, err2
}

// part is a source, perhaps one of the modules of a file that has several: a compiler made them one
// by one, so they may define the same.
type part struct {
	Source
	module bool
}

// unpack replaces files of the host by what they hold. The error has all that cannot be loaded.
func unpack(sources []Source) ([]part, error) {
	var list []part
	var errs []error
	for _, p := range sources {
		f := FormOf(p.Name, p.Text)
		var inside []Source
		var err error
		switch {
		case f == nil || f.load != nil:
			inside = []Source{p}
		case f.parts != nil:
			inside, err = f.parts(p)
		default:
			err = f.Refused(p.Name)
		}
		for _, s := range inside {
			list = append(list, part{s, len(inside) > 1})
		}
		errs = append(errs, err)
	}
	return list, errors.Join(errs...)
}

// Mixed returns an error if some parts are only PTX and others only machine code.
func Mixed(parts []Source) error {
	text := slices.IndexFunc(parts, func(s Source) bool { return !isMachineCode(s) && !fatbin.Is(s.Text) && !fatbin.IsHost(s.Text) })
	code := slices.IndexFunc(parts, isMachineCode)
	if text < 0 || code < 0 {
		return nil
	}
	return &MixedError{parts[text].Name, parts[code].Name}
}

// machineCode makes a program of the machine code of all parts.
func (c *Choice) machineCode(parts []part) (*Program, error) {
	var l Loader
	var errs []error
	for _, p := range parts {
		code, err := c.machineCodeOf(p.Source)
		if none := (*NoMachineCodeError)(nil); errors.As(err, &none) { // as for this part, so for others
			return nil, errors.Join(append(errs, err)...)
		}
		if err == nil {
			l.Yield = p.module
			if err = l.Add(code); err != nil && cubin.Is(code.Text) {
				err = &ImageError{err}
			}
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	prog, err := l.Link()
	if err != nil {
		return nil, &ImageError{err}
	}
	return prog, nil
}

// machineCodeOf takes the machine code for the GPU out of a part.
func (c *Choice) machineCodeOf(p Source) (Source, error) {
	if !fatbin.Is(p.Text) {
		if !isMachineCode(p) {
			return p, &NoMachineCodeError{p.Name, c.SM, "it is PTX"}
		}
		if cubin.Is(p.Text) {
			p.Name = MachineCodeName(p.Name)
		}
		return p, nil
	}
	entries, err := fatbin.Parse(p.Text)
	if err != nil {
		return p, imageError(p.Name, err)
	}
	e := fatbin.MachineCode(entries, c.SM)
	if e == nil {
		return p, &NoMachineCodeError{p.Name, c.SM, "there is none for it, nor for an earlier GPU of its generation" + contents(entries)}
	}
	if !sass.Arch(e.SM).Executes() {
		return p, &NoMachineCodeError{p.Name, c.SM, fmt.Sprintf("that for sm_%d can only be listed; %s is executed", e.SM, sass.ExecutedArchs)}
	}
	code, err := e.Image()
	if err == nil && !cubin.Is(code) {
		err = errors.New("its machine code is no ELF file of device code")
	}
	if err != nil {
		return p, imageError(p.Name, err)
	}
	return Source{Name: MachineCodeName(p.Name), Text: code}, nil
}

// contents lists what a fat binary holds, for messages.
func contents(entries []fatbin.Entry) string {
	var list []string
	for _, e := range entries {
		what := "machine code for sm_"
		if e.Kind == fatbin.PTX {
			what = "PTX for compute_"
		} else if e.Kind != fatbin.Cubin {
			continue
		}
		if s := fmt.Sprintf("%s%d", what, e.SM); !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "; there is " + strings.Join(list, ", ") + ": choose another GPU, or other code (--gpu, --code)"
}

// ptx makes a program of the PTX of all parts.
func (c *Choice) ptx(parts []part) (*Program, error) {
	l := Loader{As: PTX}
	var errs []error
	for _, p := range parts {
		text, err := c.ptxOf(p.Source)
		if c.PTX != nil {
			text, err = c.PTX(text, err)
		}
		if none := (*fatbin.NoPTXError)(nil); errors.As(err, &none) {
			return nil, errors.Join(append(errs, err)...)
		}
		if err == nil {
			l.Heads, l.Yield = c.Heads && fatbin.Is(p.Text), p.module
			err = l.Add(text)
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return l.Link()
}

// ptxOf takes the PTX for the GPU out of a part.
func (c *Choice) ptxOf(p Source) (Source, error) {
	none := Source{Name: p.Name}
	if isMachineCode(p) {
		no := &fatbin.NoPTXError{SM: c.SM}
		if f, err := cubin.Read(p.Name, p.Text); err == nil {
			no.Machine = []int{f.Arch}
		}
		return none, fmt.Errorf("%s: %w", p.Name, no)
	}
	if !fatbin.Is(p.Text) {
		return p, nil
	}
	entries, err := fatbin.Parse(p.Text)
	if err != nil {
		return none, imageError(p.Name, err)
	}
	e, err := fatbin.Newest(entries, c.SM)
	if err != nil {
		return none, fmt.Errorf("%s: %w", p.Name, err)
	}
	text, err := e.Text()
	if err != nil {
		return none, imageError(p.Name, err)
	}
	return Source{Name: p.Name, Text: text}, nil
}
