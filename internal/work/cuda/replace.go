package cuda

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/program"
)

// Replacement is a PTX text that replaces one of the program's: the one with this name,
// otherwise the one with kernels or functions of the same names.
type Replacement struct {
	Name string // for messages
	Text []byte

	names []string // of what it defines
	used  bool
}

// replacements parses the given replacements.
func replacements(list []Replacement) ([]Replacement, error) {
	list = slices.Clone(list)
	for i := range list {
		mod, err := ptx.Parse(list[i].Name, list[i].Text)
		if err != nil {
			return nil, err
		}
		list[i].names = defines(mod)
		if len(list[i].names) == 0 {
			return nil, fmt.Errorf("%s has no kernels and no functions, so it cannot replace a module of the program", list[i].Name)
		}
	}
	return list, nil
}

// defines returns the names of the kernels and functions of a text.
func defines(mod *ptx.Module) []string {
	var names []string
	for _, f := range mod.Funcs {
		if f.Body != nil {
			names = append(names, f.Name)
		}
	}
	return names
}

// replacement returns the replacement of a part of a module, or nil. Its text is its own
// PTX for the GPU, if there is any.
func (r *Runtime) replacement(m *module, s program.Source) *Replacement {
	if len(r.replace) == 0 {
		return nil
	}
	var names []string
	if mod, err := ptx.Parse(s.Name, s.Text); s.Text != nil && err == nil {
		names = defines(mod)
	} else {
		for _, f := range r.kernels {
			if f.module == m {
				names = append(names, f.name)
			}
		}
	}
	r.offered = append(r.offered, fmt.Sprintf("%s with %s", s.Name, strings.Join(names, ", ")))
	for i := range r.replace {
		if x := &r.replace[i]; x.Name == s.Name {
			x.used = true
			return x
		}
	}
	for i := range r.replace {
		x := &r.replace[i]
		if slices.ContainsFunc(x.names, func(n string) bool { return slices.Contains(names, n) }) {
			x.used = true
			return x
		}
	}
	return nil
}

// fits returns an error if a kernel's parameters differ from those of the kernel that it
// replaces, because the program passes the original ones.
func (x *Replacement) fits(name string, own []byte) error {
	kernels := func(name string, text []byte) *program.Program {
		l := program.Loader{As: program.PTX}
		if l.Add(program.Source{Name: name, Text: text}) != nil { // loading it reports the error
			return nil
		}
		p, _ := l.Link()
		return p
	}
	was, is := kernels(name, own), kernels(x.Name, x.Text)
	if was == nil || is == nil {
		return nil
	}
	for _, n := range x.names {
		a, ok := was.Kernel(n)
		b, ok2 := is.Kernel(n)
		if !ok || !ok2 || slices.EqualFunc(a.Params(), b.Params(), func(p, q exec.Param) bool { return p.Offset == q.Offset && p.Size == q.Size }) {
			continue
		}
		return fmt.Errorf("%s: kernel %s has %d parameters of %d bytes in all, but the program passes those of %s, %d of %d bytes: leave the parameters unchanged",
			x.Name, n, len(b.Params()), b.ParamBytes(), name, len(a.Params()), a.ParamBytes())
	}
	return nil
}

// unused reports replacements that were not used.
func (r *Runtime) unused() {
	for _, x := range r.replace {
		if x.used {
			continue
		}
		loaded := "it loaded none"
		if len(r.offered) > 0 {
			loaded = "it loaded " + strings.Join(r.offered, "; ")
		}
		r.once("unused "+x.Name, "%s was not used: it defines %s, and no module that the program loaded has one of these; %s",
			x.Name, strings.Join(x.names, ", "), loaded)
	}
}
