package cuda

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/heddle-sim/heddle/internal/binary/fatbin"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/program"
)

// linking holds texts that are linked into one module (CUlinkState).
type linking struct {
	parts  []part
	loader program.Loader
}

// Input is a kind of input to a link (CUjitInputType).
type Input int32

// The kinds of input. Objects and libraries of the host are not read.
const (
	InputCubin Input = iota
	InputPTX
	InputFatBinary
	InputObject
	InputLibrary
)

// NewLink starts a link.
func (d Driver) NewLink() (h uint64, res Result) {
	res = d.locked(func(r *Runtime, t *Thread) Result {
		if _, res := r.here(t); res != ResultSuccess {
			return res
		}
		h = r.handle()
		r.links[h] = &linking{}
		return ResultSuccess
	})
	return h, res
}

// AddToLink adds a text.
func (d Driver) AddToLink(link uint64, kind Input, name string, data []byte) (res Result, wrong error) {
	res = d.locked(func(r *Runtime, t *Thread) Result {
		l := r.links[link]
		switch {
		case l == nil:
			return ResultInvalidHandle
		case kind < InputCubin || kind > InputLibrary:
			return ResultInvalidValue
		}
		one := &module{name: r.moduleName(r.fileName(name))}
		fail := func(res Result, err error) Result {
			wrong = fmt.Errorf("%s: %w", one.name, err)
			return res
		}
		// What NVRTC returns as a cubin is a fat binary.
		if kind > InputFatBinary && !fatbin.Is(data) {
			return fail(ResultNoBinary, errObject)
		}
		if err := one.split(data); err != nil {
			return fail(ResultInvalidImage, err)
		}
		for _, p := range one.parts {
			form, text, err := r.linkable(p)
			var no *fatbin.NoPTXError
			switch {
			case errors.As(err, &no):
				return fail(ResultNoBinary, err)
			case err != nil:
				return fail(ResultInvalidImage, err)
			case l.loader.As != nil && l.loader.As != form:
				return fail(ResultNoBinary, errMixed)
			}
			l.loader.As = form
			if err := l.loader.Add(program.Source{Name: p.name, Text: text}); err != nil {
				wrong = detail(err)
				if form == program.Cubin {
					return ResultInvalidImage
				}
				return ResultInvalidPTX
			}
			l.parts = append(l.parts, part{p.name, text})
		}
		return ResultSuccess
	})
	return res, wrong
}

// linkable returns what of a part is linked: machine code if that is all that it has, else PTX.
func (r *Runtime) linkable(p part) (*program.Form, []byte, error) {
	if bytes.HasPrefix(p.data, []byte(elfMagic)) {
		return program.Cubin, p.data, nil
	}
	text, err := r.choose(p)
	var no *fatbin.NoPTXError
	if !errors.As(err, &no) {
		return program.PTX, text, err
	}
	entries, err2 := fatbin.Parse(p.data)
	if err2 != nil {
		return nil, nil, err2
	}
	e := fatbin.MachineCode(entries, r.cfg.Arch)
	if e == nil {
		return nil, nil, err
	}
	code, err := e.Image()
	return program.Cubin, code, err
}

// detail is the error with its source lines, if it has some.
func detail(err error) error {
	var errs ptx.ErrorList
	if errors.As(err, &errs) {
		return errors.New(errs.Detail())
	}
	return err
}

// CompleteLink returns a module of all texts, for LoadModule. Names that none of
// them defines are an error.
func (d Driver) CompleteLink(link uint64) (image []byte, res Result, wrong error) {
	res = d.locked(func(r *Runtime, t *Thread) Result {
		l := r.links[link]
		switch {
		case l == nil:
			return ResultInvalidHandle
		case len(l.parts) == 0:
			return ResultInvalidValue
		}
		if wrong = undefined(&l.loader); wrong != nil {
			return ResultInvalidPTX
		}
		le := binary.LittleEndian
		image = append([]byte(linkedMagic), make([]byte, 8)...)
		for _, p := range l.parts {
			for _, field := range [][]byte{[]byte(p.name), p.data} {
				image = append(le.AppendUint64(image, uint64(len(field))), field...)
			}
		}
		le.PutUint64(image[len(linkedMagic):], uint64(len(image)))
		return ResultSuccess
	})
	return image, res, wrong
}

// undefined returns an error that lists the undefined names of a program, nil if there
// are none.
func undefined(l *program.Loader) error {
	prog, err := l.Link()
	if err != nil {
		return detail(err)
	}
	var missing []error
	for _, name := range prog.Undefined() {
		missing = append(missing, fmt.Errorf("function %s is called, but none of the linked files defines it", name))
	}
	for _, k := range prog.Kernels() {
		for _, err := range k.Unusable() {
			if errors.Is(err, xptx.ErrUndefined) {
				missing = append(missing, err)
			}
		}
	}
	return errors.Join(missing...)
}

// EndLink discards a link.
func (d Driver) EndLink(link uint64) Result {
	return d.locked(func(r *Runtime, t *Thread) Result {
		if r.links[link] == nil {
			return ResultInvalidHandle
		}
		delete(r.links, link)
		return ResultSuccess
	})
}
