package job

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/binary/fatbin"
	"github.com/heddle-sim/heddle/internal/compile/machine"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	xprog "github.com/heddle-sim/heddle/internal/program"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/tomlfile"
)

// Ready is a job whose files have been read and whose launches fit their
// kernels.
type Ready struct {
	Job     *Job
	Program *xprog.Program
	kernels map[*Launch]exec.Kernel
	target  Target // for which the program was chosen; zero if there was no choice
}

// Target is what chooses among a program's device code.
type Target struct {
	Code        xprog.Code
	SM          int  // the GPU: ten times its compute capability
	ControlBits bool // its core model obeys those of machine code
	Contract    *machine.Contract
}

// same reports whether two targets choose the same code.
func (t Target) same(o Target) bool {
	contracts := t.Contract == o.Contract || t.Contract != nil && o.Contract != nil && *t.Contract == *o.Contract
	t.Contract, o.Contract = nil, nil
	return t == o && contracts
}

// TargetOf is the target of a run on a machine, which has a name or a file.
func TargetOf(machine string, opt Options) (Target, error) {
	cfg, err := opt.Settings.Machine(machine)
	if err != nil {
		return Target{}, err
	}
	return Target{Code: xprog.Code(opt.Code), SM: cfg.Arch, Contract: run.ContractOf(&cfg), ControlBits: run.HasControlBits(&cfg) && opt.Checks == nil && opt.Coverage == nil}, nil
}

// Choose makes a program of device code, as Choice.Load does; the machine counts only if there is a
// choice.
func Choose(machine string, opt Options, sources ...xprog.Source) (*xprog.Program, Target, error) {
	t := Target{Code: xprog.Code(opt.Code)}
	if opt.Code != "" && t.Code != xprog.AutoCode || slices.ContainsFunc(sources, xprog.Source.Several) {
		var err error
		if t, err = TargetOf(machine, opt); err != nil {
			return nil, t, err
		}
	}
	c := xprog.Choice{Code: t.Code, SM: t.SM, Contract: t.Contract, MachineFirst: t.ControlBits, Heads: true, Refused: func(why error) {
		if opt.Tell != nil {
			opt.Tell(fmt.Sprintf("%v; it runs as PTX", why))
		}
	}}
	prog, err := c.Load(sources...)
	return prog, t, err
}

// Load reads and opens a job file, for a run with the given options.
func Load(file string, opt Options) (*Ready, error) {
	j, err := ParseFile(file)
	if err != nil {
		return nil, err
	}
	return j.Open(opt)
}

// ParseFile parses a job file of the disk.
func ParseFile(file string) (*Job, error) { return parseFile(file, Parse) }

// ParseKeplerFile parses a job file for the Kepler-style core.
func ParseKeplerFile(file string) (*KeplerJob, error) { return parseFile(file, ParseKepler) }

func parseFile[T any](file string, parse func(file string, src []byte) (*T, error)) (*T, error) {
	src, err := ReadFile(file)
	if err != nil {
		return nil, &tomlfile.Error{File: file, Msg: "cannot read the job file: " + reason(err), Err: err}
	}
	return parse(file, src)
}

// reason returns the cause of a file error without the name of the file, which the
// surrounding message has.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// maxText limits program texts. The largest that we know have ten megabytes.
const maxText = 512 << 20

// ReadFile reads the text of a job or a program. It refuses anything that is not a
// regular file or is too large for a text, before reading.
func ReadFile(path string) ([]byte, error) {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case st.IsDir():
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("it is a folder")}
	case !st.Mode().IsRegular():
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("it is not a regular file")}
	case st.Size() > maxText:
		return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("it has %d bytes; the limit for a text is %d", st.Size(), maxText)}
	}
	return os.ReadFile(path)
}

// Path returns the path of a file of the job, relative to the current folder.
func (j *Job) Path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(j.File), name)
}

// opener collects the errors in the files of a job.
type opener struct {
	tomlfile.Reader
	job     *Job
	opt     Options
	ready   *Ready
	sources []error // PTX errors, which have their own positions
}

// Files returns the paths of all files that a run of the job reads, the job file first.
func (j *Job) Files() []string {
	list := []string{j.File}
	add := func(t tomlfile.Text) {
		if t.S != "" {
			list = append(list, j.Path(t.S))
		}
	}
	for _, t := range j.Programs {
		add(t)
	}
	for _, d := range append(append([]*Data{}, j.Buffers...), j.Symbols...) {
		add(d.File)
	}
	for _, s := range j.Steps {
		if s.Copy != nil && s.Copy.From.Place == HostFile {
			add(s.Copy.From.Text)
		}
	}
	for _, c := range j.Checks {
		add(c.File)
	}
	return list
}

// Open reads the programs, links them, and checks that files exist and launches
// fit. The options choose what of the programs' device code runs.
func (j *Job) Open(opt Options) (*Ready, error) {
	o := &opener{Reader: tomlfile.Reader{File: j.File}, job: j, opt: opt, ready: &Ready{Job: j, kernels: map[*Launch]exec.Kernel{}}}
	if o.programs(); o.ready.Program != nil {
		o.launches()
		o.textures()
	}
	o.dataFiles()
	if err := run.CheckGPU(j.GPU); j.GPU != "" && !run.IsFile(j.GPU) && err != nil {
		o.Add(j.GPUPos, "%v", err)
	}
	if err := o.Err(); err != nil {
		o.sources = append(o.sources, err)
	}
	if len(o.sources) > 0 {
		return nil, errors.Join(o.sources...)
	}
	return o.ready, nil
}

// programs reads the program files and links them if all are valid.
func (o *opener) programs() {
	var list []xprog.Source
	whole := true
	for _, t := range o.job.Programs {
		path := o.job.Path(t.S)
		src, err := ReadFile(path)
		if err != nil {
			o.Add(t.Pos, "cannot read the program %s: %s", path, reason(err))
		} else if f := xprog.FormOf(path, src); f != nil {
			if err = f.Refused(path); err != nil {
				o.program(t.Pos, err)
			}
		}
		list = append(list, xprog.Source{Name: path, Text: src})
		whole = whole && err == nil
	}
	if !whole {
		return
	}
	prog, target, err := Choose(o.job.Machine(o.opt), o.opt, list...)
	if err != nil {
		o.program(o.job.Programs[0].Pos, err)
		return
	}
	o.ready.Program, o.ready.target = prog, target
}

// program records the errors of a program. Those that concern the whole file get its
// position in the job file.
func (o *opener) program(pos isa.Pos, err error) {
	var form *xprog.FormError
	var mixed *xprog.MixedError
	var none *xprog.NoMachineCodeError
	var noPTX *fatbin.NoPTXError
	if errors.As(err, &form) || errors.As(err, &mixed) || errors.As(err, &none) || errors.As(err, &noPTX) {
		o.Add(pos, "%v", err)
		return
	}
	o.sources = append(o.sources, err)
}

// launches finds the kernel of each launch and checks its arguments.
func (o *opener) launches() {
	prog := o.ready.Program
	var names []string
	for _, k := range prog.Kernels() {
		names = append(names, k.Name())
	}
	unusable := map[exec.Kernel]bool{}
	for _, s := range o.job.Steps {
		if s.Kind != StepLaunch {
			continue
		}
		l := s.Launch
		var k exec.Kernel
		if l.Kernel.S == "" {
			if len(names) != 1 {
				o.Add(l.Pos, "the launch names no kernel, and the program has %d%s; add kernel = \"NAME\"", len(names), list(": ", names))
				continue
			}
			k = prog.Kernels()[0]
		} else if found, ok := prog.Kernel(l.Kernel.S); ok {
			k = found
		} else {
			o.Unknown(l.Kernel.Pos, l.Kernel.S, names, "kernels", "unknown kernel %q", l.Kernel.S)
			continue
		}
		o.ready.kernels[l] = k
		if err := xprog.ParseBody(k); err != nil {
			o.sources = append(o.sources, err)
			continue
		}
		if why := k.Unusable(); len(why) > 0 {
			if !unusable[k] {
				unusable[k] = true
				var b strings.Builder
				for _, err := range why {
					fmt.Fprintf(&b, "\n  %v", err)
				}
				o.Add(l.Pos, "kernel %s cannot run:%s", k.Name(), b.String())
			}
			continue
		}
		if n, most := l.Block[0]*l.Block[1]*l.Block[2], int64(k.MaxThreads()); most > 0 && n > most {
			o.Add(l.BlockPos, "block has %d threads, but kernel %s is compiled for at most %d", n, k.Name(), most)
		}
		o.args(l, k)
	}
}

// list formats names after a prefix, or returns "" if there are none.
func list(prefix string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	if len(names) > 12 {
		names = append(names[:12:12], "…")
	}
	return prefix + strings.Join(names, ", ")
}

// args checks number and sizes of arguments.
func (o *opener) args(l *Launch, k exec.Kernel) {
	params := k.Params()
	if len(l.Args) != len(params) {
		var names []string
		for _, p := range params {
			names = append(names, p.Name)
		}
		fix := ""
		if len(l.Args) < len(params) {
			fix = fmt.Sprintf("; %s missing", strings.Join(names[len(l.Args):], ", "))
			if len(params)-len(l.Args) == 1 {
				fix = fmt.Sprintf("; %s is missing", names[len(l.Args)])
			}
		}
		o.Add(l.Pos, "kernel %s takes %d arguments%s, but args has %d%s", k.Name(), len(params), list(": ", names), len(l.Args), fix)
		return
	}
	for i, a := range l.Args {
		p := params[i]
		what := fmt.Sprintf("argument %d is for parameter %s of kernel %s", i+1, p.Name, k.Name())
		switch {
		case p.Opaque && a.Kind != ArgTexture:
			o.Add(a.Pos, "%s, a .%s: write { texture = \"NAME\" }, not %s", what, p.Type, a.Word)
		case p.Opaque:
		case a.Kind == ArgTexture && p.Size != 8:
			o.Add(a.Pos, "%s, which has %d bytes; a texture object has 8", what, p.Size)
		case a.Kind == ArgBuffer && p.Size != 8 && !(p.Size == 4 && k.AddressBytes() == 4):
			o.Add(a.Pos, "%s, which has %d bytes%s; a buffer's address has 8", what, p.Size, typeOf(p))
		case a.Kind == ArgBytes && len(a.Bytes) != p.Size:
			o.Add(a.Pos, "%s, which has %d bytes%s, but %s gives %d", what, p.Size, typeOf(p), a.Word, len(a.Bytes))
		}
		if a.Kind != ArgBuffer {
			continue
		}
		if d := o.job.buffer(a.Name); d != nil && d.Count > 0 && a.Offset > d.Count*int64(d.Type.Size()) {
			o.Add(a.Pos, "offset %d is beyond the end of buffer %q, which has %d bytes", a.Offset, a.Name, d.Count*int64(d.Type.Size()))
		}
	}
}

// typeOf formats a parameter's type for a message, if it has one.
func typeOf(p exec.Param) string {
	if p.Type == "" {
		return ""
	}
	return fmt.Sprintf(" (.%s)", p.Type)
}

// textures checks that each texture is used and fits its buffer.
func (o *opener) textures() {
	refs := o.ready.Program.References()
	used := map[string]bool{}
	for _, r := range refs {
		used[r] = true
	}
	for _, s := range o.job.Steps {
		if s.Kind == StepLaunch {
			for _, a := range s.Launch.Args {
				if a.Kind == ArgTexture {
					used[a.Name] = true
				}
			}
		}
	}
	for _, x := range o.job.Textures {
		if !used[x.Name] {
			o.Unknown(x.Pos, x.Name, refs, "texture references", "texture %q is neither a .texref of the program nor an argument of a launch", x.Name)
		}
	}
}

// fileSize returns the bytes of a regular file.
func (o *opener) fileSize(t tomlfile.Text) (int64, bool) {
	path := o.job.Path(t.S)
	st, err := os.Stat(path)
	switch {
	case err != nil:
		o.Add(t.Pos, "cannot read %s: %s", path, reason(err))
	case !st.Mode().IsRegular():
		o.Add(t.Pos, "%s is not a regular file", path)
	default:
		return st.Size(), true
	}
	return 0, false
}

// elements returns the number of elements in a file.
func (o *opener) elements(t tomlfile.Text, typ Type) (int64, bool) {
	n, ok := o.fileSize(t)
	if !ok {
		return 0, false
	}
	if n%int64(typ.Size()) != 0 {
		o.Add(t.Pos, "%s has %d bytes, not a whole number of %v (%d bytes each)", o.job.Path(t.S), n, typ, typ.Size())
		return 0, false
	}
	return n / int64(typ.Size()), true
}

// dataFiles checks the files of buffers, copies and checks.
func (o *opener) dataFiles() {
	j := o.job
	for _, d := range append(append([]*Data{}, j.Buffers...), j.Symbols...) {
		if d.Init != InitFile {
			continue
		}
		n, ok := o.elements(d.File, d.Type)
		switch {
		case !ok:
		case n == 0:
			o.Add(d.File.Pos, "%s is empty", j.Path(d.File.S))
		case d.Count == 0:
			d.Count = n
		case n != d.Count:
			o.Add(d.File.Pos, "%s holds %d elements of %v, but %q has count = %d", j.Path(d.File.S), n, d.Type, d.Name, d.Count)
		}
	}
	for _, x := range j.Textures {
		d := j.buffer(x.Buffer.S)
		if have := d.Count * int64(d.Type.Size()); d.Count > 0 && x.bytes() > have {
			o.Add(x.Pos, "texture %q reads %d bytes, but buffer %q has %d", x.Name, x.bytes(), d.Name, have)
		}
	}
	for _, s := range j.Steps {
		if s.Copy != nil {
			o.copy(s.Copy)
		}
	}
	for _, c := range j.Checks {
		o.check(c)
	}
}

// copy determines the number of bytes of a copy, if that is possible before the program's
// variables have addresses.
func (o *opener) copy(c *Copy) {
	from, to := int64(anySize), int64(anySize)
	switch c.From.Place {
	case Buffer:
		from = o.job.buffer(c.From.S).size()
	case HostFile:
		n, ok := o.fileSize(c.From.Text)
		if !ok {
			return
		}
		if n == 0 {
			o.Add(c.From.Pos, "%s is empty: nothing would be copied", o.job.Path(c.From.S))
			return
		}
		from = n
	}
	if c.To.Place == Buffer {
		to = o.job.buffer(c.To.S).size()
	}
	if err := c.settle(o.job, from, to); err != nil {
		o.Add(err.Pos, "%s", err.Msg)
	}
}

// size returns the bytes of a buffer, anySize if its count is unknown because of an
// error.
func (d *Data) size() int64 {
	if d.Count == 0 {
		return anySize
	}
	return d.Count * int64(d.Type.Size())
}

// anySize is the size of an end of a copy that adapts to the other one.
const anySize = -1

// settle determines the number of bytes of a copy from the sizes of its ends.
func (c *Copy) settle(j *Job, from, to int64) *tomlfile.Error {
	switch {
	case c.given && c.Bytes > from && from != anySize:
		return j.at(c.BytesPos, "bytes = %d, but %s has %d", c.Bytes, c.From.S, from)
	case c.given && c.Bytes > to && to != anySize:
		return j.at(c.BytesPos, "bytes = %d, but %s has %d", c.Bytes, c.To.S, to)
	case c.given:
	case from > to && to != anySize:
		return j.at(c.To.Pos, "%s has %d bytes, too few for the %d of %s; give bytes = N", c.To.S, to, from, c.From.S)
	case c.From.Place == FillValue:
		c.Bytes = max(to, 0)
	default:
		c.Bytes = max(from, 0)
	}
	return nil
}

// check determines the number of elements that a check compares.
func (o *opener) check(c *Check) {
	d := o.job.buffers[c.Name.S]
	if c.Symbol {
		d = o.job.symbols[c.Name.S]
	}
	n := int64(len(c.Values))
	if c.File.S != "" {
		if c.Type == NoType { // a symbol whose type only the program has
			o.fileSize(c.File)
			return
		}
		var ok bool
		if n, ok = o.elements(c.File, c.Type); !ok {
			return
		}
		if n == 0 {
			o.Add(c.File.Pos, "%s is empty: the check would compare nothing", o.job.Path(c.File.S))
		}
	}
	if d == nil || d.Count == 0 || c.Type == NoType {
		return
	}
	if have := d.Count * int64(d.Type.Size()) / int64(c.Type.Size()); n > have || c.Offset > have-n {
		pos, at := c.Pos, ""
		if c.Offset > 0 {
			pos, at = c.OffsetPos, fmt.Sprintf(" from offset %d", c.Offset)
		}
		o.Add(pos, "the check compares %d elements%s, but %q has %d", n, at, c.Name.S, have)
	}
}

// at returns an error at a position in the job file.
func (j *Job) at(pos isa.Pos, format string, args ...any) *tomlfile.Error {
	return &tomlfile.Error{File: j.File, Pos: pos, Msg: fmt.Sprintf(format, args...)}
}
