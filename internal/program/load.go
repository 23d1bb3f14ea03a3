package program

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/binary/cubin"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	xsass "github.com/heddle-sim/heddle/internal/exec/sass"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// Source is the text of a program file and its name in messages.
type Source struct {
	Name string
	Text []byte
}

// Form is a file format of programs. A new one is a row of forms.
type Form struct {
	Name string // for messages
	ext  string // of file names, lower case
	// begins reports whether a text begins like this form; nil if only the file name
	// tells.
	begins func(text []byte) bool
	// load parses a source and adds it to what is linked. The error lists all mistakes in
	// the source.
	load func(l *Loader, s Source) error
	// instead says, for a form that is not loaded, what to provide instead.
	instead string
}

// The forms that can be loaded.
var (
	PTX   = &Form{Name: "PTX", ext: ".ptx", begins: firstWord(".version"), load: (*Loader).addPTX}
	SASS  = &Form{Name: "SASS", ext: ".sass", begins: firstWord(".arch"), load: (*Loader).addSASS}
	Cubin = &Form{Name: "a cubin", ext: ".cubin", begins: magic("\x7fELF"), load: (*Loader).addCubin}
)

var forms = []*Form{
	PTX,
	SASS,
	Cubin,
	{Name: "a program of the Kepler-style core", ext: ".kasm", instead: "which cannot be combined with other programs: give it to heddle run, or use a job file with only .kasm programs"},
	{Name: "CUDA C++", ext: ".cu", instead: "compile it to PTX first, for example with clang -x cuda --cuda-device-only -S"},
}

// FormOf identifies a file's form by the beginning of its text, or else by its name. It
// returns nil if neither is conclusive.
func FormOf(name string, text []byte) *Form {
	for _, f := range forms {
		if f.begins != nil && f.begins(text) {
			return f
		}
	}
	ext := strings.ToLower(filepath.Ext(name))
	for _, f := range forms {
		if f.ext == ext {
			return f
		}
	}
	return nil
}

// Refused returns why files of a form cannot be loaded, nil if they can. The error is a
// *FormError.
func (f *Form) Refused(name string) error {
	if f.load != nil {
		return nil
	}
	return &FormError{File: name, Form: f.Name, Instead: f.instead}
}

// FormError is a file of a form that cannot be loaded.
type FormError struct {
	File    string
	Form    string // what it is
	Instead string // what to provide instead
}

func (e *FormError) Error() string { return fmt.Sprintf("%s is %s, %s", e.File, e.Form, e.Instead) }

// MixedError is a program of sources that cannot be combined.
type MixedError struct{ PTX, SASS string } // one file of each

func (e *MixedError) Error() string {
	return fmt.Sprintf("a program must be PTX or SASS, not both: %s is PTX, %s is SASS", e.PTX, e.SASS)
}

// DuplicateError is a kernel that two files define.
type DuplicateError struct {
	Kernel, File, Other string
	Line                int
}

func (e *DuplicateError) Error() string {
	return fmt.Sprintf("%s:%d: kernel %s is already defined in %s", e.File, e.Line, e.Kernel, e.Other)
}

// ErrNoSource is the result of linking nothing.
var ErrNoSource = errors.New("no program given")

// Loader makes one program of sources. The zero value has none yet.
type Loader struct {
	// As, if set, is the form of all sources, regardless of their contents.
	As *Form
	// Heads leaves the bodies of PTX kernels to be parsed one by one: see ptx.ParseHeads.
	Heads bool

	mods   []*ptx.Module
	sass   []*xsass.Program
	cubins []*cubin.File
}

// Load makes a program of sources. The error joins the mistakes of each; it holds a
// ptx.ErrorList or sass.ErrorList for each text with mistakes, or a *FormError, *MixedError
// or *DuplicateError.
func Load(sources ...Source) (*Program, error) {
	var l Loader
	var errs []error
	for _, s := range sources {
		errs = append(errs, l.Add(s))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return l.Link()
}

// Add adds a source. An unknown form is treated as PTX, whose parser reports what is missing.
func (l *Loader) Add(s Source) error {
	f := l.As
	if f == nil {
		f = cmp.Or(FormOf(s.Name, s.Text), PTX)
		if err := f.Refused(s.Name); err != nil {
			return err
		}
	}
	return f.load(l, s)
}

func (l *Loader) addPTX(s Source) error {
	parse := ptx.Parse
	if l.Heads {
		parse = ptx.ParseHeads
	}
	m, err := parse(s.Name, s.Text)
	if err == nil {
		l.mods = append(l.mods, m)
	}
	return err
}

func (l *Loader) addSASS(s Source) error {
	f, err := sass.Parse(s.Name, string(s.Text), 0)
	if err == nil {
		l.sass = append(l.sass, xsass.Load(f))
	}
	return err
}

func (l *Loader) addCubin(s Source) error {
	f, err := cubin.Read(s.Name, s.Text)
	if err == nil {
		l.cubins = append(l.cubins, f)
	}
	return err
}

// linkCubins makes a program of all cubins.
func (l *Loader) linkCubins() (*xsass.Program, error) {
	f, err := cubin.Link(l.cubins[0].Name, l.cubins...)
	if err != nil {
		return nil, err
	}
	text, err := machineFile(f)
	if err != nil {
		return nil, err
	}
	return xsass.Load(text), nil
}

// Link makes a program of all added sources. Names of PTX and of cubins are resolved across files;
// the kernels of all files of SASS text are combined.
func (l *Loader) Link() (*Program, error) {
	out := &Program{sass: slices.Clone(l.sass)}
	if len(l.cubins) > 0 {
		p, err := l.linkCubins()
		if err != nil {
			return nil, err
		}
		out.sass = append(out.sass, p)
	}
	switch {
	case len(l.mods)+len(out.sass) == 0:
		return nil, ErrNoSource
	case len(out.sass) == 0:
		linked, err := xptx.Link(l.mods...)
		if err != nil {
			return nil, err
		}
		out.ptx = linked
		for _, k := range linked.Kernels() {
			out.kernels = append(out.kernels, k)
		}
		return out, nil
	case len(l.mods) > 0:
		return nil, &MixedError{l.mods[0].File, out.sass[0].File()}
	}
	var errs []error
	names := map[string]*xsass.Kernel{}
	for _, f := range out.sass {
		for _, k := range f.Kernels() {
			if old := names[k.Name()]; old != nil {
				errs = append(errs, &DuplicateError{k.Name(), f.File(), old.File(), int(k.Text().Pos.Line)})
			}
			names[k.Name()] = k
			out.kernels = append(out.kernels, k)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return out, nil
}

// magic identifies a form by its first bytes.
func magic(want string) func([]byte) bool {
	return func(text []byte) bool { return bytes.HasPrefix(text, []byte(want)) }
}

// firstWord identifies a form by the first thing in its text that is not white space or a
// comment.
func firstWord(want string) func([]byte) bool {
	return func(text []byte) bool {
		for {
			text = bytes.TrimLeft(text, " \t\r\n\ufeff")
			var end string
			switch {
			case bytes.HasPrefix(text, []byte("//")):
				end = "\n"
			case bytes.HasPrefix(text, []byte("/*")):
				end = "*/"
			default:
				return bytes.HasPrefix(text, []byte(want))
			}
			_, rest, closed := bytes.Cut(text, []byte(end))
			if !closed {
				return false
			}
			text = rest
		}
	}
}
