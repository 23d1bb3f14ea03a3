package cli

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/binary/cubin"
	"github.com/heddle-sim/heddle/internal/binary/fatbin"
	"github.com/heddle-sim/heddle/internal/isa/sass"
	"github.com/heddle-sim/heddle/internal/near"
	"github.com/heddle-sim/heddle/internal/program"
)

// image is a cubin in a file.
type image struct {
	name string // for messages and comments
	arch int
	data func() ([]byte, error)
}

// isBinary reports whether a file holds machine code in some container.
func isBinary(b []byte) bool { return fatbin.IsHost(b) || fatbin.Is(b) }

// images lists the cubins of a file: a cubin, a fat binary, or a file of the host with fat binaries.
func images(path string, b []byte) ([]image, error) {
	if cubin.Is(b) {
		f, err := cubin.Read(path, b)
		if err != nil {
			return nil, err
		}
		return []image{{path, f.Arch, func() ([]byte, error) { return b, nil }}}, nil
	}
	var entries []fatbin.Entry
	var err error
	if fatbin.Is(b) {
		entries, err = fatbin.Parse(b)
	} else {
		entries, err = fatbin.Entries(path, b)
	}
	if err != nil {
		return nil, err
	}
	var list []image
	number := map[int]int{}
	for _, e := range entries {
		if e.Kind == fatbin.Cubin {
			number[e.SM]++
			list = append(list, image{fmt.Sprintf("%s, image %d", path, number[e.SM]), e.SM, e.Image})
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has PTX but no machine code", path)
	}
	return list, nil
}

// binary disassembles the kernels in a cubin, a fat binary, or a file of the host that holds them.
func (c *disasmCmd) binary(e env, b []byte) error {
	list, err := images(c.File, b)
	if err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	if list, err = c.ofArch(list); err != nil {
		return err
	}
	to := e.stdout
	if c.Out != "-" {
		f, err := os.Create(c.Out)
		if err != nil {
			return usage("--out: %w", err)
		}
		defer f.Close()
		to = f
	}
	w := bufio.NewWriterSize(to, 1<<16)
	out := lister(&textLister{w: w, single: len(list) == 1})
	if c.JSON {
		out = &jsonLister{w: w}
	}
	err = c.kernels(list, out)
	return cmp.Or(err, w.Flush())
}

// ofArch selects the images of --arch, or all if they are of one architecture.
func (c *disasmCmd) ofArch(list []image) ([]image, error) {
	var archs []string
	for _, im := range list {
		if a := sass.Arch(im.arch).String(); !slices.Contains(archs, a) {
			archs = append(archs, a)
		}
	}
	switch {
	case c.Arch == "" && len(archs) > 1:
		return nil, usage("%s has machine code for %s: choose one with --arch", c.File, strings.Join(archs, ", "))
	case c.Arch != "" && !slices.Contains(archs, c.Arch):
		return nil, usage("--arch: %s has machine code for %s, not %s", c.File, strings.Join(archs, ", "), c.Arch)
	}
	return slices.DeleteFunc(list, func(im image) bool { return c.Arch != "" && sass.Arch(im.arch).String() != c.Arch }), nil
}

// kernels lists the kernels of images, or the one of --kernel.
func (c *disasmCmd) kernels(list []image, out lister) error {
	var names []string
	found := false
	for _, im := range list {
		b, err := im.data()
		if err != nil {
			return &exitError{code: exitUsage, err: fmt.Errorf("%s: %w", im.name, err)}
		}
		f, err := cubin.Read(im.name, b)
		if err != nil {
			return &exitError{code: exitUsage, err: err}
		}
		begun := false
		for _, k := range f.Kernels {
			if c.Kernel != "" && k.Name != c.Kernel {
				names = append(names, k.Name)
				continue
			}
			if !begun {
				begun = true
				if err := out.image(f); err != nil {
					return err
				}
			}
			found = true
			text, err := program.MachineCode(f, k)
			if err != nil {
				return &exitError{code: exitUsage, err: fmt.Errorf("%s: %w", im.name, err)}
			}
			if err := out.kernel(k, text); err != nil {
				return err
			}
		}
	}
	if !found && c.Kernel == "" {
		return usage("%s has no kernels", c.File)
	}
	if !found {
		hint := ""
		if n := near.Name(c.Kernel, names); n != "" {
			hint = fmt.Sprintf(": did you mean %s?", n)
		}
		return usage("%s has no kernel %s%s", c.File, c.Kernel, hint)
	}
	return out.end()
}

// lister writes what is found.
type lister interface {
	image(f *cubin.File) error
	kernel(k *cubin.Kernel, text *sass.Kernel) error
	end() error
}

// textLister writes a program's text. What the kernels of an image share is in directives if there is
// one image, else in comments, since a text has one program.
type textLister struct {
	w      *bufio.Writer
	single bool
	arch   int
	file   *sass.File // the current image
}

// place is an instruction.
type place struct {
	kernel string
	index  int
}

// symbols lists the instructions that get addresses when a file is loaded, and whose.
func symbols(f *cubin.File) map[place]string {
	list := map[place]string{}
	for _, r := range f.Relocations {
		if r.At.Kind == cubin.InCode {
			list[place{r.At.Owner, int(r.At.Offset / sass.InstBytes)}] = r.Symbol
		}
	}
	return list
}

func (t *textLister) image(f *cubin.File) (err error) {
	if t.arch == 0 {
		t.arch = f.Arch
		fmt.Fprintf(t.w, ".arch %v\n", sass.Arch(f.Arch))
	}
	fmt.Fprintf(t.w, "\n// %s\n", f.Name)
	if t.file, err = program.Listing(f); err != nil {
		return err
	}
	for _, line := range t.file.Head() {
		fmt.Fprintln(t.w, t.note()+line)
	}
	return nil
}

// note begins the lines of what cannot be a directive.
func (t *textLister) note() string {
	if t.single {
		return ""
	}
	return "// "
}

func (t *textLister) kernel(k *cubin.Kernel, text *sass.Kernel) error {
	t.w.WriteByte('\n')
	own := t.file.Kernel(k.Name)
	if own.Refused != nil {
		fmt.Fprintf(t.w, "// it cannot run: %v\n", own.Refused)
	}
	list := t.file.Notes(own)
	if t.single {
		if err := own.SetCode(own.Binary); err != nil {
			return err
		}
		text = own
	} else {
		for i, s := range list {
			list[i] = "// " + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "; ") + "\n"
		}
	}
	_, err := io.WriteString(t.w, text.Listing(list))
	own.Code = nil
	return err
}

func (t *textLister) end() error { return nil }

// jsonLister writes one JSON document, kernel by kernel.
type jsonLister struct {
	w       *bufio.Writer
	file    *cubin.File
	lines   map[string][]cubin.Line
	symbols map[place]string
	some    bool
}

// jsonKernel is a kernel in JSON.
type jsonKernel struct {
	Name      string            `json:"name"`
	Image     string            `json:"image"` // the cubin that holds it
	Arch      string            `json:"arch"`
	Registers int               `json:"registers"`
	Shared    int               `json:"shared_bytes"`
	Stack     int               `json:"stack_bytes"`
	Barriers  int               `json:"barriers"`
	Params    []jsonParam       `json:"parameters"`
	Labels    []jsonLabel       `json:"labels"`
	Code      []jsonInstruction `json:"code"`
}

type jsonParam struct {
	Offset int `json:"offset"` // bytes in constant bank 0
	Bytes  int `json:"bytes"`
}

type jsonLabel struct {
	Name    string `json:"name"`
	Address int    `json:"address"`
}

type jsonInstruction struct {
	Address uint32    `json:"address"`
	Words   [2]string `json:"words"` // the low one first
	Control string    `json:"control"`
	Text    string    `json:"text"`
	File    string    `json:"file,omitempty"`
	Line    int       `json:"line,omitempty"`
	Symbol  string    `json:"symbol,omitempty"` // whose address the instruction gets
}

func (j *jsonLister) image(f *cubin.File) (err error) {
	j.file, j.symbols = f, symbols(f)
	j.lines, err = f.Lines()
	return err
}

func (j *jsonLister) kernel(k *cubin.Kernel, text *sass.Kernel) error {
	out := jsonKernel{
		Name: k.Name, Image: j.file.Name, Arch: text.Arch.String(), Registers: k.Regs, Shared: k.Shared, Stack: k.Least, Barriers: k.Barriers,
		Params: []jsonParam{}, Labels: []jsonLabel{}, Code: make([]jsonInstruction, len(text.Code)),
	}
	for _, l := range text.Labels {
		out.Labels = append(out.Labels, jsonLabel{l.Name, l.Index * sass.InstBytes})
	}
	for _, p := range text.Params {
		out.Params = append(out.Params, jsonParam{p.Offset, p.Bytes})
	}
	lines := j.lines[k.Name]
	var at cubin.Line
	for i := range text.Code {
		in := &text.Code[i]
		for len(lines) > 0 && lines[0].Offset <= in.Addr {
			at, lines = lines[0], lines[1:]
		}
		out.Code[i] = jsonInstruction{
			Address: in.Addr, Words: [2]string{fmt.Sprintf("%016x", in.Words[0]), fmt.Sprintf("%016x", in.Words[1])},
			Control: in.Ctl.String(), Text: in.Text(), File: at.File, Line: at.Line,
			Symbol: j.symbols[place{k.Name, i}],
		}
	}
	begin := "{\"kernels\": [\n"
	if j.some {
		begin = ",\n"
	}
	j.some = true
	b, err := json.Marshal(&out)
	if err != nil {
		return err
	}
	_, err = j.w.WriteString(begin)
	_, err2 := j.w.Write(b)
	return errors.Join(err, err2)
}

func (j *jsonLister) end() error {
	_, err := j.w.WriteString("\n]}\n")
	return err
}
