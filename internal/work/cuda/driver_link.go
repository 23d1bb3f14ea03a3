package cuda

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/program"
)

// linking holds what is linked into one module (CUlinkState): of each part LoadModule chooses machine
// code or PTX.
type linking struct{ parts []program.Source }

// Input is a kind of input to a link (CUjitInputType).
type Input int32

// The kinds of input. Objects and libraries are the host's, with fat binaries in them.
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
		if err := one.split(data); err != nil {
			return fail(ResultInvalidImage, err)
		}
		form := program.FormOf("", data)
		if kind >= InputObject && form != program.Host && form != program.Fatbin { // NVRTC's objects are fat binaries
			return fail(ResultNoBinary, errObject)
		}
		parts := slices.Concat(l.parts, one.parts)
		if program.Mixed(parts) != nil {
			return fail(ResultNoBinary, errMixed)
		}
		c := r.choice()
		if _, err := c.Load(one.parts...); err != nil {
			if form == program.Host {
				return fail(ResultNoBinary, err)
			}
			wrong = detail(err)
			return loadError(err).Result()
		}
		l.parts = parts
		return ResultSuccess
	})
	return res, wrong
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
		c := r.choice()
		prog, err := c.Load(l.parts...)
		if err != nil {
			wrong = detail(err)
			return loadError(err).Result()
		}
		if wrong = undefined(prog); wrong != nil {
			if prog.PTX() == nil {
				return ResultInvalidImage
			}
			return ResultInvalidPTX
		}
		le := binary.LittleEndian
		image = append([]byte(linkedMagic), make([]byte, 8)...)
		for _, p := range l.parts {
			for _, field := range [][]byte{[]byte(p.Name), p.Text} {
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
func undefined(prog *program.Program) error {
	var missing []error
	for _, name := range prog.Undefined() {
		missing = append(missing, fmt.Errorf("%s is used, but none of the linked files defines it", name))
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
