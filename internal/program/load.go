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
	"github.com/heddle-sim/heddle/internal/binary/fatbin"
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
	// parts unpacks a source that holds others, of which Choice selects.
	parts func(s Source) ([]Source, error)
	// instead says, for a form that is not loaded, what to provide instead.
	instead string
}

// The forms that can be loaded.
var (
	PTX   = &Form{Name: "PTX", ext: ".ptx", begins: firstWord(".version"), load: (*Loader).addPTX}
	SASS  = &Form{Name: "SASS", ext: ".sass", begins: firstWord(".arch"), load: (*Loader).addSASS}
	Cubin = &Form{Name: "a cubin", ext: ".cubin", begins: cubin.Is, load: (*Loader).addCubin}
)

// Forms that hold code for several GPUs.
var (
	Fatbin = &Form{Name: "a fat binary", ext: ".fatbin", begins: fatbin.Is, parts: func(s Source) ([]Source, error) { return []Source{s}, nil }, instead: choose}
	Host   = &Form{Name: "a file of the host with device code", begins: fatbin.IsHost, parts: hostParts, instead: choose}
)

const choose = "of which a GPU runs a part: give it to heddle run in a job file, or to heddle cuda"

// hostParts are the fat binaries of a file of the host.
func hostParts(s Source) ([]Source, error) {
	modules, err := fatbin.Modules(s.Name, s.Text)
	if err != nil {
		return nil, &ImageError{err}
	}
	var list []Source
	for _, m := range modules {
		list = append(list, Source{Name: m.Name, Text: m.Data})
	}
	return list, nil
}

var forms = []*Form{
	PTX,
	SASS,
	Cubin,
	Fatbin,
	Host,
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
		if f.ext != "" && f.ext == ext {
			return f
		}
	}
	return nil
}

// Refused returns why files of a form cannot be loaded by Choice.Load, nil if they can. The error
// is a *FormError.
func (f *Form) Refused(name string) error {
	if f.load != nil || f.parts != nil {
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
	// Yield makes what is added yield to other definitions of the same names; of several that
	// yield, the first counts.
	Yield bool

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
	}
	if f.load == nil {
		return &FormError{File: s.Name, Form: f.Name, Instead: f.instead}
	}
	return f.load(l, s)
}

func (l *Loader) addPTX(s Source) error {
	parse := ptx.Parse
	if l.Heads {
		parse = ptx.ParseHeads
	}
	m, err := parse(s.Name, s.Text)
	if err != nil {
		return err
	}
	for _, f := range m.Funcs {
		if l.Yield && f.Linkage == ptx.Visible {
			f.Linkage = ptx.Weak
		}
	}
	for _, v := range m.Vars {
		if l.Yield && v.Linkage == ptx.Visible {
			v.Linkage = ptx.Weak
		}
	}
	l.mods = append(l.mods, m)
	return nil
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
	if err != nil {
		return err
	}
	if l.Yield {
		f.Yield()
	}
	l.cubins = append(l.cubins, f)
	return nil
}

// linkCubins makes programs of the cubins: one of all that are relocatable, and one of each other.
func (l *Loader) linkCubins() ([]*xsass.Program, error) {
	var open, files []*cubin.File
	for _, f := range l.cubins {
		if f.Relocatable {
			open = append(open, f)
		} else {
			files = append(files, f)
		}
	}
	if len(open) > 0 {
		f, err := cubin.Link(open[0].Name, open...)
		if err != nil {
			return nil, &ImageError{err}
		}
		files = append(files, f)
	}
	var list []*xsass.Program
	for _, f := range files {
		text, err := machineFile(f)
		if err != nil {
			return nil, err
		}
		list = append(list, xsass.Load(text))
	}
	return list, nil
}

// Link makes a program of all added sources. Names of PTX and of relocatable cubins are resolved across
// files; the kernels of all other cubins and of files of SASS text are combined.
func (l *Loader) Link() (*Program, error) {
	out := &Program{sass: slices.Clone(l.sass)}
	if len(l.cubins) > 0 {
		list, err := l.linkCubins()
		if err != nil {
			return nil, err
		}
		out.sass = append(out.sass, list...)
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
	at := map[string]int{} // in out.kernels
	for _, f := range out.sass {
		for _, k := range f.Kernels() {
			n, twice := at[k.Name()]
			if !twice {
				at[k.Name()] = len(out.kernels)
				out.kernels = append(out.kernels, k)
				continue
			}
			switch old := out.kernels[n].(*xsass.Kernel); {
			case k.Text().Weak:
			case old.Text().Weak:
				out.kernels[n] = k
			default:
				errs = append(errs, &DuplicateError{k.Name(), f.File(), old.File(), int(k.Text().Pos.Line)})
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return out, nil
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
