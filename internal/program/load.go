package program

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	xsass "github.com/heddle-sim/heddle/internal/exec/sass"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// Source is the text of a program file and the name by which messages call it.
type Source struct {
	Name string
	Text []byte
}

// Form is a form in which programs come. A new one is a row of forms.
type Form struct {
	Name string // for messages
	ext  string // of file names, lower case
	// begins reports whether a text begins as this form does; nil if only the
	// name tells.
	begins func(text []byte) bool
	// load parses a source and adds it to what is linked. The error lists all that
	// is wrong with the source.
	load func(l *Loader, s Source) error
	// instead says of a form without load what to give in its place.
	instead string
}

// The forms that can be loaded.
var (
	PTX  = &Form{Name: "PTX", ext: ".ptx", begins: firstWord(".version"), load: (*Loader).addPTX}
	SASS = &Form{Name: "SASS", ext: ".sass", begins: firstWord(".arch"), load: (*Loader).addSASS}
)

var forms = []*Form{
	PTX,
	SASS,
	{Name: "a cubin", ext: ".cubin", begins: magic("\x7fELF"), instead: "which Heddle does not support yet; give the PTX that it was made from"},
	{Name: "a program of the Kepler-style core", ext: ".kasm", instead: "which goes with no others: heddle run takes it, or a job file with .kasm programs alone"},
	{Name: "CUDA C++", ext: ".cu", instead: "compile it to PTX first, for example with clang -x cuda --cuda-device-only -S"},
}

// FormOf finds out what a file is, by how its text begins, or else by its name.
// It returns nil where neither tells.
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

// Refused returns why files of a form cannot be loaded, nil if they can. The error
// is a *FormError.
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
	Instead string // what to give in its place
}

func (e *FormError) Error() string { return fmt.Sprintf("%s is %s, %s", e.File, e.Form, e.Instead) }

// MixedError is a program of sources that do not go together.
type MixedError struct{ PTX, SASS string } // one file of each

func (e *MixedError) Error() string {
	return fmt.Sprintf("a program is PTX or SASS, not both: %s is PTX, %s is SASS", e.PTX, e.SASS)
}

// DuplicateError is a kernel that two files define.
type DuplicateError struct {
	Kernel, File, Other string
	Line                int
}

func (e *DuplicateError) Error() string {
	return fmt.Sprintf("%s:%d: kernel %s is in %s already", e.File, e.Line, e.Kernel, e.Other)
}

// ErrNoSource is what comes of linking nothing.
var ErrNoSource = errors.New("no program given")

// Loader makes one program of sources. The zero value has none yet.
type Loader struct {
	// As, if set, is the form of all sources, whatever they look like.
	As *Form

	mods []*ptx.Module
	sass []*xsass.Program
}

// Load makes a program of sources. The error joins all that is wrong with each;
// it holds a ptx.ErrorList or sass.ErrorList for each text with mistakes, or a
// *FormError, *MixedError or *DuplicateError.
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

// Add adds a source. What is of no known form is taken for PTX, whose parser says
// what it misses.
func (l *Loader) Add(s Source) error {
	f := cmp.Or(l.As, FormOf(s.Name, s.Text), PTX)
	if err := f.Refused(s.Name); err != nil {
		return err
	}
	return f.load(l, s)
}

func (l *Loader) addPTX(s Source) error {
	m, err := ptx.Parse(s.Name, s.Text)
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

// Link makes a program of all that was added. Names of PTX are resolved across
// files; of SASS the kernels of all files are together.
func (l *Loader) Link() (*Program, error) {
	out := &Program{}
	switch {
	case len(l.mods)+len(l.sass) == 0:
		return nil, ErrNoSource
	case len(l.sass) == 0:
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
		return nil, &MixedError{l.mods[0].File, l.sass[0].File()}
	}
	var errs []error
	for _, f := range l.sass {
		for _, k := range f.Kernels() {
			if old, ok := out.Kernel(k.Name()); ok {
				errs = append(errs, &DuplicateError{k.Name(), f.File(), old.(*xsass.Kernel).File(), int(k.Text().Pos.Line)})
			}
			out.kernels = append(out.kernels, k)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return out, nil
}

// magic tells a form by its first bytes.
func magic(want string) func([]byte) bool {
	return func(text []byte) bool { return bytes.HasPrefix(text, []byte(want)) }
}

// firstWord tells a form by the first thing in its text that is not white space
// or a comment.
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
