package job

import (
	"container/heap"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/tomlfile"
)

// Job is a parsed job file.
type Job struct {
	File     string          // as given, for messages
	Programs []tomlfile.Text // program files, in order
	GPU      string          // "" if the file names none
	GPUPos   isa.Pos         // its position
	Buffers  []*Data         // in file order, which is the order of allocation
	Symbols  []*Data         // variables of the program to set
	Textures []*Image        // in file order
	Steps    []*Step         // only launches if the file has [[launches]]
	Checks   []*Check

	stepsGiven bool // [[steps]], not [[launches]]
	buffers    map[string]*Data
	symbols    map[string]*Data
}

// Init is the way in which a buffer is filled.
type Init uint8

// The initialisers.
const (
	InitZero Init = iota
	InitIota
	InitRandom
	InitValues
	InitFile
)

var initNames = []string{"zero", "iota", "random", "values", "file"}

func (i Init) String() string { return initNames[i] }

// Data is a buffer, or the value of a symbol.
type Data struct {
	Name     string
	Pos      isa.Pos
	Type     Type
	Count    int64 // elements; 0 if the size of a file or symbol determines it
	CountPos isa.Pos
	Init     Init
	Seed     uint64
	Range    valueRange
	Values   []uint64 // bits
	File     tomlfile.Text
}

// Image is a texture.
type Image struct {
	Name                 string
	Pos                  isa.Pos
	Buffer               tomlfile.Text
	Format               string // element type
	Channels             int
	Width, Height, Depth int64
	Linear               bool
	Address              [3]string
	Normalized           bool
	ReadNormalized       bool

	Pitch     int64 // bytes from row to row; 0: contiguous rows
	Layers    int64 // 0: not layered
	Levels    int64 // mipmap levels; 0: one
	Samples   int64 // of a multisampled image; 0: one
	Cube      bool
	MipLinear bool
}

// bytes returns a lower bound of the memory that the texture reads, which is exact for a
// single image with contiguous rows.
func (t *Image) bytes() int64 {
	return t.Width * max(1, t.Height) * max(1, t.Depth) * int64(t.Channels) * int64(TypeByName(t.Format).Size())
}

// StepKind is the kind of a step.
type StepKind uint8

// The kinds of steps.
const (
	StepLaunch StepKind = iota
	StepCopy
	StepFill
	StepRecord
	StepWait
	StepSync
)

var stepNames = []string{"launch", "copy", "fill", "record", "wait", "sync"}

func (k StepKind) String() string { return stepNames[k] }

// Step is one action of the host.
type Step struct {
	Kind   StepKind
	Pos    isa.Pos
	Index  int // in file order, from 0
	Stream int64
	Launch *Launch       // StepLaunch
	Number int           // of the launch, from 0
	Copy   *Copy         // StepCopy, StepFill
	Event  tomlfile.Text // StepRecord, StepWait
	Record int           // of a wait: Index of the record that it refers to
}

// Launch is a launch of a kernel.
type Launch struct {
	Pos       isa.Pos
	Kernel    tomlfile.Text // S is "" if the file names none
	Grid      [3]int64
	Cluster   [3]int64 // blocks of a cluster; zero: the kernel's own, or none
	Block     [3]int64
	BlockPos  isa.Pos
	Shared    int64
	SharedPos isa.Pos
	Registers int64  // 0: the estimate
	Coop      bool   // cooperative: blocks may wait for each other
	Prefer    string // "", "none", "l1" or "shared": see gpu.Preference
	Args      []*Arg
}

// threads is the number of threads of a launch: its weight in the progress of a run.
func (l *Launch) threads() float64 {
	n := 1.0
	for i := range l.Grid {
		n *= float64(l.Grid[i]) * float64(l.Block[i])
	}
	return n
}

// ArgKind is the kind of a kernel argument.
type ArgKind uint8

// The kinds of arguments.
const (
	ArgBytes   ArgKind = iota // a number or bytes, as Bytes
	ArgBuffer                 // address of Name plus Offset
	ArgTexture                // texture object Name
)

// Arg is an argument of a launch.
type Arg struct {
	Kind   ArgKind
	Pos    isa.Pos
	Word   string // its key in the file: "u32", "bytes", "buffer" …
	Bytes  []byte
	Name   string
	Offset int64 // bytes
}

// Place is the kind of one end of a copy.
type Place uint8

// The places.
const (
	Buffer    Place = iota
	HostFile        // "host:FILE"
	Symbol          // "symbol:NAME", a variable of the program
	FillValue       // of a fill: the element to repeat
)

// prefixes are the prefixes of the ends of copies.
var prefixes = map[Place]string{HostFile: "host:", Symbol: "symbol:"}

// End is one end of a copy: a name or a file, without its prefix.
type End struct {
	tomlfile.Text
	Place Place
}

// String returns the end as written in the job file.
func (e End) String() string { return prefixes[e.Place] + e.S }

// Copy moves bytes between buffers, variables and files, or fills a buffer or a
// variable with one value.
type Copy struct {
	From, To End
	Bytes    int64   // set by Open; 0 before
	BytesPos isa.Pos // of the key, or of the step
	given    bool    // the file gives the number of bytes

	Type  Type           // of a fill's value; NoType: that of a variable of the program
	Value uint64         // its bits, if the type is known
	value *tomlfile.Node // as written
}

// Check compares a buffer or a symbol with expected values.
type Check struct {
	Pos       isa.Pos
	Symbol    bool
	Name      tomlfile.Text
	Type      Type // NoType: that of the buffer
	File      tomlfile.Text
	Values    []uint64 // bits, set when the type is known
	anyNaN    []bool
	values    *tomlfile.Node // as written
	Offset    int64          // elements
	OffsetPos isa.Pos
	Tolerance float64
}

// Our own limits.
const (
	maxCount   = 1 << 40 // elements of one buffer
	maxStreams = 1 << 20
)

// parser processes the nodes of a job file.
type parser struct {
	tomlfile.Reader
	job      *Job
	launches int // so far
}

// Parse parses a job file. It looks only at the text: Open checks whether files exist and
// kernels fit.
func Parse(file string, src []byte) (*Job, error) {
	root, err := tomlfile.Parse(file, src)
	if err != nil {
		return nil, err
	}
	p := &parser{Reader: tomlfile.Reader{File: file}, job: &Job{File: file}}
	p.root(root)
	if err := p.Err(); err != nil {
		return nil, err
	}
	return p.job, nil
}

func (p *parser) root(n *tomlfile.Node) {
	p.Known(n, "program", "programs", "gpu", "buffers", "symbols", "textures", "launches", "steps", "checks")
	p.programs(n)
	if t, ok := p.Str(n, "gpu"); ok {
		p.job.GPU, p.job.GPUPos = t.S, t.Pos
	}
	p.Tables(n, "buffers", "buffers.a", func(name string, t *tomlfile.Node) {
		p.job.Buffers = append(p.job.Buffers, p.data(name, t, true))
	})
	p.Tables(n, "symbols", "symbols.table", func(name string, t *tomlfile.Node) {
		p.job.Symbols = append(p.job.Symbols, p.data(name, t, false))
	})
	p.Tables(n, "textures", "textures.image", p.texture)

	launches, steps := n.Kids["launches"], n.Kids["steps"]
	if launches != nil && steps != nil {
		p.Add(steps.KeyPos, "a job has either [[launches]] or [[steps]], not both; write each launch as a step: launch = { … }")
	}
	p.List(n, "launches", func(t *tomlfile.Node) {
		p.Known(t, launchKeys...)
		p.launchStep(t, t)
	})
	p.job.stepsGiven = steps != nil
	p.List(n, "steps", p.step)
	if launches == nil && steps == nil {
		p.Add(n.Pos, "the job has no launches: add [[launches]] with grid, block and args")
	}
	p.List(n, "checks", p.check)
	p.names()
}

func (p *parser) programs(n *tomlfile.Node) {
	one, many := n.Kids["program"], n.Kids["programs"]
	switch {
	case one != nil && many != nil:
		p.Add(many.KeyPos, "a job has either program or programs, not both")
	case one != nil:
		if t, ok := p.Str(n, "program"); ok {
			p.job.Programs = []tomlfile.Text{t}
		}
	case many == nil:
		p.Add(n.Pos, "the job names no program: add program = \"FILE.ptx\"")
	case !many.Array:
		p.Add(many.Pos, "programs must be a list of strings, not %s", many.Kind())
	case len(many.Items) == 0:
		p.Add(many.Pos, "programs is empty: name at least one file")
	default:
		for _, it := range many.Items {
			s, ok := it.Val.(string)
			if !ok || s == "" || strings.ContainsRune(s, 0) {
				p.Add(it.Pos, "each of programs must be a file's name in quotes, not %s", it.Kind())
				continue
			}
			p.job.Programs = append(p.job.Programs, tomlfile.Text{S: s, Pos: it.Pos})
		}
	}
}

func (p *parser) data(name string, t *tomlfile.Node, buffer bool) *Data {
	d := &Data{Name: name, Pos: t.KeyPos, Range: defaultRange()}
	p.Known(t, "type", "count", "init", "seed", "range", "values", "file")
	d.Type = p.elementType(t, true)
	explicit := t.Kids["init"] != nil
	switch init := p.OneOf(t, "init", initNames...); {
	case !explicit && t.Kids["values"] != nil:
		d.Init = InitValues
	case !explicit && t.Kids["file"] != nil:
		d.Init = InitFile
	default:
		for i, n := range initNames {
			if n == init {
				d.Init = Init(i)
			}
		}
	}
	d.CountPos = d.Pos
	if k := t.Kids["count"]; k != nil {
		d.CountPos = k.Pos
		d.Count = p.Integer(t, "count", 1, maxCount, 1)
	} else if buffer && d.Init != InitValues && d.Init != InitFile {
		p.Add(d.Pos, "buffer %q has no count: add count = N, the number of elements", name)
	}
	for _, only := range []struct {
		key  string
		init Init
	}{{"seed", InitRandom}, {"range", InitRandom}, {"values", InitValues}, {"file", InitFile}} {
		k := t.Kids[only.key]
		if k != nil && d.Init != only.init {
			p.Add(k.KeyPos, "%s goes with init = %q, but init is %q", only.key, only.init, d.Init)
		}
		if k == nil && d.Init == only.init && (only.key == "values" || only.key == "file") {
			p.Add(d.Pos, "%q has init = %q but no %s", name, d.Init, only.key)
		}
	}
	if d.Type == NoType {
		return d
	}
	switch d.Init {
	case InitRandom:
		p.random(t, d)
	case InitFile:
		d.File, _ = p.Str(t, "file")
	case InitValues:
		if k := t.Kids["values"]; k != nil {
			d.Values, _ = p.literals(k, d.Type)
			n := int64(len(d.Values))
			if d.Count == 0 {
				d.Count = max(1, n)
			}
			if n > d.Count {
				p.Add(k.Pos, "%q has count = %d, but %d values; make count larger or the list shorter", name, d.Count, n)
			}
		}
	}
	return d
}

// elementType reads `type`.
func (p *parser) elementType(t *tomlfile.Node, needed bool) Type {
	s, ok := p.Str(t, "type")
	if !ok {
		if needed && t.Kids["type"] == nil {
			p.Add(t.KeyPos, "no type: add type = \"f32\" (or one of %s)", strings.Join(TypeNames(), " "))
		}
		return NoType
	}
	typ := TypeByName(s.S)
	if typ == NoType {
		p.Unknown(s.Pos, s.S, TypeNames(), "there are", "type = %q is not known", s.S)
	}
	return typ
}

func (p *parser) random(t *tomlfile.Node, d *Data) {
	d.Seed = 1
	if k := t.Kids["seed"]; k != nil {
		v, ok := k.Val.(int64)
		if !ok {
			p.Add(k.Pos, "seed must be an integer, not %s", k.Kind())
		}
		d.Seed = uint64(v)
	}
	k := t.Kids["range"]
	if k == nil {
		return
	}
	if !k.Array || len(k.Items) != 2 {
		p.Add(k.Pos, "range must be a list of two numbers, [low, high]")
		return
	}
	if d.Type.Float() {
		lo, ok1 := p.Number(k.Items[0], "the low end of range")
		hi, ok2 := p.Number(k.Items[1], "the high end of range")
		switch {
		case !ok1 || !ok2:
		case math.IsInf(hi-lo, 0) || math.IsNaN(hi-lo):
			p.Add(k.Pos, "range must be finite")
		case hi < lo:
			p.Add(k.Pos, "the end of range (%v) is below its start (%v)", hi, lo)
		default:
			d.Range = valueRange{flo: lo, fhi: hi}
		}
		return
	}
	var b [2]uint64
	for i, it := range k.Items {
		v, _, err := d.Type.literal(it.Val)
		if err != nil {
			p.Add(it.Pos, "range: %v", err)
			return
		}
		b[i] = v
	}
	if d.Type.Signed() && int64(b[1]) < int64(b[0]) || !d.Type.Signed() && b[1] < b[0] {
		p.Add(k.Pos, "the end of range (%s) is below its start (%s)", d.Type.Format(b[1]), d.Type.Format(b[0]))
		return
	}
	d.Range = valueRange{ilo: b[0], ihi: b[1]}
}

// literals reads a list of numbers as elements of a type.
func (p *parser) literals(k *tomlfile.Node, t Type) (bits []uint64, anyNaN []bool) {
	if !k.Array {
		p.Add(k.Pos, "values must be a list of numbers, not %s", k.Kind())
		return nil, nil
	}
	for _, it := range k.Items {
		if it.Table || it.Array {
			p.Add(it.Pos, "values must be numbers, not %s", it.Kind())
			continue
		}
		b, nan, err := t.literal(it.Val)
		if err != nil {
			p.Add(it.Pos, "%v", err)
			continue
		}
		bits = append(bits, b)
		anyNaN = append(anyNaN, nan)
	}
	return bits, anyNaN
}

// textureTypes are the element types of textures.
var textureTypes = []string{"u8", "s8", "u16", "s16", "f16", "u32", "s32", "f32"}

// addressModes are the treatments of texture coordinates outside the image.
var addressModes = []string{"clamp", "wrap", "mirror", "border"}

func (p *parser) texture(name string, t *tomlfile.Node) {
	x := &Image{Name: name, Pos: t.KeyPos}
	p.job.Textures = append(p.job.Textures, x)
	p.Known(t, "buffer", "format", "width", "height", "depth", "filter", "address", "normalized", "read",
		"pitch", "layers", "cube", "levels", "mip_filter", "samples")
	var ok bool
	if x.Buffer, ok = p.Str(t, "buffer"); !ok && t.Kids["buffer"] == nil {
		p.Add(x.Pos, "texture %q has no buffer: add buffer = \"NAME\"", name)
	}
	x.Format, x.Channels = "f32", 1
	if f, ok := p.Str(t, "format"); ok {
		elem, chans, many := strings.Cut(f.S, "x")
		x.Format = elem
		switch {
		case !slices.Contains(textureTypes, elem):
			p.Unknown(f.Pos, elem, textureTypes, "there are", "format = %q: the element type %q is not known", f.S, elem)
			x.Format = "f32"
		case many && chans == "2":
			x.Channels = 2
		case many && chans == "4":
			x.Channels = 4
		case many && chans != "1":
			p.Add(f.Pos, "format = %q: a texture has 1, 2 or 4 channels, as in \"u8x4\"", f.S)
		}
	} else if t.Kids["format"] == nil {
		p.Add(x.Pos, "texture %q has no format: add format = \"f32\", or for example \"u8x4\"", name)
	}
	if t.Kids["width"] == nil {
		p.Add(x.Pos, "texture %q has no width: add width = N, in texels", name)
	}
	x.Width = p.Integer(t, "width", 1, 1<<27, 1)
	x.Height = p.Integer(t, "height", 1, 1<<17, 0)
	x.Depth = p.Integer(t, "depth", 1, 1<<14, 0)
	if x.Depth > 0 && x.Height == 0 {
		p.Add(x.Pos, "texture %q has a depth but no height", name)
	}
	x.Linear = p.OneOf(t, "filter", "point", "linear") == "linear"
	x.Normalized = p.Boolean(t, "normalized")
	x.ReadNormalized = p.OneOf(t, "read", "element", "normalized") == "normalized"
	x.Pitch = p.Integer(t, "pitch", 1, 1<<31, 0)
	x.Layers = p.Integer(t, "layers", 1, 2048, 0)
	x.Levels = p.Integer(t, "levels", 1, 28, 0)
	x.Samples = p.Integer(t, "samples", 1, 16, 0)
	x.Cube = p.Boolean(t, "cube")
	x.MipLinear = p.OneOf(t, "mip_filter", "point", "linear") == "linear"
	x.Address = [3]string{"clamp", "clamp", "clamp"}
	p.address(t, x)
	float := x.Format == "f32" || x.Format == "f16"
	if x.ReadNormalized && (float || strings.HasSuffix(x.Format, "32")) {
		p.Add(t.Kids["read"].Pos, "read = \"normalized\" is for 8- and 16-bit integers, not %s", x.Format)
	}
	if x.Linear && !float && !x.ReadNormalized {
		p.Add(t.Kids["filter"].Pos, "filter = \"linear\" needs a float format or read = \"normalized\", not %s", x.Format)
	}
}

func (p *parser) address(t *tomlfile.Node, x *Image) {
	k := t.Kids["address"]
	if k == nil {
		return
	}
	items := []*tomlfile.Node{k}
	if k.Array {
		items = k.Items
		if len(items) == 0 || len(items) > 3 {
			p.Add(k.Pos, "address has %d modes; want one, or one for each dimension", len(items))
			return
		}
	}
	for i, it := range items {
		s, ok := it.Val.(string)
		switch {
		case !ok:
			p.Add(it.Pos, "address must be a string, not %s", it.Kind())
		case !slices.Contains(addressModes, s):
			p.Unknown(it.Pos, s, addressModes, "there are", "address = %q is not known", s)
		case !x.Normalized && (s == "wrap" || s == "mirror"):
			p.Add(it.Pos, "address = %q needs normalized = true", s)
		case k.Array:
			x.Address[i] = s
		default:
			x.Address = [3]string{s, s, s}
		}
	}
}

var launchKeys = []string{"kernel", "grid", "cluster", "block", "shared", "stream", "registers", "cooperative", "prefer", "args"}

// launchStep adds the launch in t as a step at a position.
func (p *parser) launchStep(t, at *tomlfile.Node) {
	l := &Launch{Pos: at.KeyPos}
	s := &Step{Kind: StepLaunch, Pos: at.KeyPos, Launch: l, Number: p.launches}
	p.launches++
	p.job.Steps = append(p.job.Steps, s)
	l.Kernel, _ = p.Str(t, "kernel")
	l.Grid, _ = p.dim3(t, "grid", [3]int64{isa.MaxGridX, isa.MaxGridYZ, isa.MaxGridYZ})
	if t.Kids["cluster"] != nil {
		l.Cluster, _ = p.dim3(t, "cluster", [3]int64{isa.MaxCluster, isa.MaxCluster, isa.MaxCluster})
	}
	l.Block, l.BlockPos = p.dim3(t, "block", [3]int64{isa.MaxThreads, isa.MaxThreads, isa.MaxBlockZ})
	if n := l.Block[0] * l.Block[1] * l.Block[2]; n > isa.MaxThreads {
		p.Add(l.BlockPos, "block has %d threads; the maximum is %d", n, isa.MaxThreads)
	}
	l.Shared = p.Integer(t, "shared", 0, 1<<24, 0)
	l.SharedPos = l.Pos
	if k := t.Kids["shared"]; k != nil {
		l.SharedPos = k.Pos
	}
	s.Stream = p.Integer(t, "stream", 0, maxStreams, 0)
	l.Registers = p.Integer(t, "registers", 1, 255, 0)
	l.Coop = p.Boolean(t, "cooperative")
	if s, ok := p.Str(t, "prefer"); ok {
		if l.Prefer = s.S; !slices.Contains([]string{"none", "l1", "shared"}, s.S) {
			p.Add(t.Kids["prefer"].Pos, "prefer = %q: want \"l1\", \"shared\" or \"none\"", s.S)
		}
	}
	k := t.Kids["args"]
	if k == nil {
		return
	}
	if !k.Array {
		p.Add(k.Pos, "args must be a list such as [{ buffer = \"a\" }, { u32 = 1 }], not %s", k.Kind())
		return
	}
	total := 0
	for i, it := range k.Items {
		a := p.arg(it, i)
		total += len(a.Bytes)
		l.Args = append(l.Args, a)
	}
	if total > isa.MaxParams {
		p.Add(k.Pos, "args have %d bytes; the maximum is %d", total, isa.MaxParams)
	}
}

// dim3 reads an extent: [x, y, z], a shorter list, or a number.
func (p *parser) dim3(t *tomlfile.Node, key string, limit [3]int64) ([3]int64, isa.Pos) {
	d := [3]int64{1, 1, 1}
	k := t.Kids[key]
	if k == nil {
		p.Add(t.KeyPos, "the launch has no %s: add %s = [X, Y, Z]", key, key)
		return d, t.KeyPos
	}
	items := []*tomlfile.Node{k}
	if k.Array {
		items = k.Items
	}
	if len(items) == 0 || len(items) > 3 {
		p.Add(k.Pos, "%s has %d numbers; want one to three, [X, Y, Z]", key, len(items))
		return d, k.Pos
	}
	for i, it := range items {
		d[i] = p.Int(it, key+"."+"xyz"[i:i+1], 1, limit[i], 1)
	}
	return d, k.Pos
}

var argWords = []string{"buffer", "u8", "s8", "u16", "s16", "f16", "bf16", "u32", "s32", "f32", "u64", "s64", "f64", "bytes", "texture"}

func (p *parser) arg(n *tomlfile.Node, i int) *Arg {
	a := &Arg{Pos: n.Pos}
	if !n.Table {
		p.Add(n.Pos, "argument %d must be a table such as { u32 = 1 } or { buffer = \"a\" }, not %s", i+1, n.Kind())
		return a
	}
	p.Known(n, append([]string{"offset"}, argWords...)...)
	var words []string
	for _, k := range n.Keys {
		if slices.Contains(argWords, k) {
			words = append(words, k)
		}
	}
	if len(words) != 1 {
		if len(words) > 1 {
			p.Add(n.Pos, "argument %d is both %s and %s; want one of them", i+1, words[0], words[1])
		} else {
			p.Add(n.Pos, "argument %d is empty; want for example { u32 = 1 } or { buffer = \"a\" }", i+1)
		}
		return a
	}
	a.Word = words[0]
	k := n.Kids[a.Word]
	if off := n.Kids["offset"]; off != nil && a.Word != "buffer" {
		p.Add(off.KeyPos, "offset goes with buffer, not with %s", a.Word)
	}
	switch a.Word {
	case "buffer":
		a.Kind = ArgBuffer
		t, _ := p.Str(n, "buffer")
		a.Name = t.S
		a.Offset = p.Integer(n, "offset", 0, math.MaxInt64, 0)
	case "texture":
		a.Kind = ArgTexture
		t, _ := p.Str(n, "texture")
		a.Name = t.S
	case "bytes":
		t, ok := p.Str(n, "bytes")
		if !ok {
			break
		}
		b, err := hexBytes(t.S)
		if err != nil {
			p.Add(t.Pos, "bytes = %q: %v", shorten(t.S), err)
		}
		a.Bytes = b
	default:
		typ := TypeByName(a.Word)
		if k.Table || k.Array {
			p.Add(k.Pos, "%s must be a number, not %s", a.Word, k.Kind())
			break
		}
		bits, _, err := typ.literal(k.Val)
		if err != nil {
			p.Add(k.Pos, "%v", err)
		}
		a.Bytes = make([]byte, typ.Size())
		typ.put(a.Bytes, bits)
	}
	return a
}

func (p *parser) step(t *tomlfile.Node) {
	p.Known(t, stepNames...)
	if len(t.Keys) != 1 || !slices.Contains(stepNames, t.Keys[0]) {
		if len(t.Keys) != 1 {
			p.Add(t.KeyPos, "a step is exactly one of %s", strings.Join(stepNames, ", "))
		}
		return
	}
	key := t.Keys[0]
	k := t.Kids[key]
	if key == "sync" {
		if v, ok := k.Val.(bool); !ok || !v {
			p.Add(k.Pos, "sync must be true")
		}
		p.job.Steps = append(p.job.Steps, &Step{Kind: StepSync, Pos: t.KeyPos})
		return
	}
	if !k.Table {
		p.Add(k.Pos, "%s must be a table, %s = { … }, not %s", key, key, k.Kind())
		return
	}
	switch key {
	case "launch":
		p.Known(k, launchKeys...)
		p.launchStep(k, t)
	case "copy", "fill":
		p.copy(key, k, t)
	default:
		p.Known(k, "event", "stream")
		s := &Step{Kind: StepRecord, Pos: t.KeyPos}
		if key == "wait" {
			s.Kind = StepWait
		}
		var ok bool
		if s.Event, ok = p.Str(k, "event"); !ok && k.Kids["event"] == nil {
			p.Add(k.KeyPos, "%s has no event: add event = \"NAME\"", key)
		}
		s.Stream = p.Integer(k, "stream", 0, maxStreams, 0)
		p.job.Steps = append(p.job.Steps, s)
	}
}

// copy reads a copy or a fill, as word says.
func (p *parser) copy(word string, k, at *tomlfile.Node) {
	c := &Copy{BytesPos: k.KeyPos}
	kind := StepCopy
	if word == "fill" {
		kind = StepFill
		p.Known(k, "to", "value", "bytes", "stream")
		c.From.Place = FillValue
		if c.value = k.Kids["value"]; c.value == nil {
			p.Add(k.KeyPos, "fill has no value: add value = NUMBER")
		}
	} else {
		p.Known(k, "from", "to", "bytes", "stream")
		c.From = p.end(word, k, "from")
	}
	c.To = p.end(word, k, "to")
	switch {
	case c.To.Place != HostFile:
	case kind == StepFill:
		p.Add(k.KeyPos, "the target of a fill must be a buffer or a symbol, because fill writes device memory")
	case c.From.Place == HostFile:
		p.Add(k.KeyPos, "copy from a file to a file: one end must be a buffer or a symbol")
	}
	if b := k.Kids["bytes"]; b != nil {
		c.BytesPos, c.given = b.Pos, true
		c.Bytes = p.Integer(k, "bytes", 1, math.MaxInt64, 1)
	}
	p.job.Steps = append(p.job.Steps, &Step{Kind: kind, Pos: at.KeyPos, Stream: p.Integer(k, "stream", 0, maxStreams, 0), Copy: c})
}

// end reads an end of a copy or a fill.
func (p *parser) end(word string, k *tomlfile.Node, key string) End {
	t, ok := p.Str(k, key)
	if !ok {
		if k.Kids[key] == nil {
			p.Add(k.KeyPos, "%s has no %s: add %s = \"BUFFER\", \"host:FILE\" or \"symbol:NAME\"", word, key, key)
		}
		return End{}
	}
	for _, place := range []Place{HostFile, Symbol} {
		if name, found := strings.CutPrefix(t.S, prefixes[place]); found {
			if name == "" {
				p.Add(t.Pos, "%s = %q names nothing", key, t.S)
			}
			return End{tomlfile.Text{S: name, Pos: t.Pos}, place}
		}
	}
	return End{Text: t}
}

func (p *parser) check(t *tomlfile.Node) {
	c := &Check{Pos: t.KeyPos}
	p.job.Checks = append(p.job.Checks, c)
	p.Known(t, "buffer", "symbol", "type", "file", "values", "offset", "tolerance")
	buffer, symbol := t.Kids["buffer"], t.Kids["symbol"]
	switch {
	case buffer != nil && symbol != nil:
		p.Add(symbol.KeyPos, "a check has either buffer or symbol, not both")
	case symbol != nil:
		c.Symbol = true
		c.Name, _ = p.Str(t, "symbol")
	case buffer != nil:
		c.Name, _ = p.Str(t, "buffer")
	default:
		p.Add(c.Pos, "the check has no target: add buffer = \"NAME\" or symbol = \"NAME\"")
	}
	c.Type = p.elementType(t, false)
	file, values := t.Kids["file"], t.Kids["values"]
	switch {
	case file != nil && values != nil:
		p.Add(values.KeyPos, "a check has either file or values, not both")
	case file != nil:
		c.File, _ = p.Str(t, "file")
	case values == nil:
		p.Add(c.Pos, "the check has no expected values: add file = \"FILE\" or values = [ … ]")
	case !values.Array:
		p.Add(values.Pos, "values must be a list of numbers, not %s", values.Kind())
	case len(values.Items) == 0:
		p.Add(values.Pos, "values is empty: the check would compare nothing")
	default:
		c.values = values
	}
	c.Offset = p.Integer(t, "offset", 0, maxCount, 0)
	c.OffsetPos = c.Pos
	if k := t.Kids["offset"]; k != nil {
		c.OffsetPos = k.Pos
	}
	if k := t.Kids["tolerance"]; k != nil {
		v, ok := p.Number(k, "tolerance")
		if ok && !(v >= 0 && v <= 1) {
			p.Add(k.Pos, "tolerance is %v; it must be between 0 and 1 (it is relative)", v)
		}
		c.Tolerance = v
	}
}

// buffer returns the buffer with a name, nil if there is none.
func (j *Job) buffer(name string) *Data { return j.buffers[name] }

// BufferNames lists the buffers in file order.
func (j *Job) BufferNames() []string {
	names := make([]string, len(j.Buffers))
	for i, d := range j.Buffers {
		names[i] = d.Name
	}
	return names
}

// names resolves the references between parts of the file.
func (p *parser) names() {
	j := p.job
	j.buffers, j.symbols = map[string]*Data{}, map[string]*Data{}
	for _, d := range j.Buffers {
		j.buffers[d.Name] = d
	}
	for _, d := range j.Symbols {
		j.symbols[d.Name] = d
	}
	buffers := j.BufferNames()
	buffer := func(t tomlfile.Text) {
		if t.S != "" && j.buffer(t.S) == nil {
			p.Unknown(t.Pos, t.S, buffers, "buffers", "unknown buffer %q", t.S)
		}
	}
	var textures []string
	isTexture := map[string]bool{}
	for _, x := range j.Textures {
		isTexture[x.Name] = true
		textures = append(textures, x.Name)
		buffer(x.Buffer)
	}
	var recorded []string // each event once, in file order
	isRecorded := map[string]bool{}
	for _, s := range j.Steps {
		if s.Kind == StepRecord && !isRecorded[s.Event.S] {
			isRecorded[s.Event.S] = true
			recorded = append(recorded, s.Event.S)
		}
	}
	for _, s := range j.Steps {
		switch s.Kind {
		case StepLaunch:
			for _, a := range s.Launch.Args {
				if a.Kind == ArgBuffer {
					buffer(tomlfile.Text{S: a.Name, Pos: a.Pos})
				}
				if a.Kind == ArgTexture && a.Name != "" && !isTexture[a.Name] {
					p.Unknown(a.Pos, a.Name, textures, "textures", "unknown texture %q", a.Name)
				}
			}
		case StepCopy, StepFill:
			for _, e := range []End{s.Copy.From, s.Copy.To} {
				if e.Place == Buffer {
					buffer(e.Text)
				}
			}
			p.fillValue(s.Copy)
		case StepWait:
			if s.Event.S != "" && !isRecorded[s.Event.S] {
				p.Unknown(s.Event.Pos, s.Event.S, recorded, "events recorded", "no step records event %q, which this step waits for", s.Event.S)
			}
		}
	}
	for _, c := range j.Checks {
		if !c.Symbol {
			buffer(c.Name)
		}
		p.checkValues(c)
	}
	for i, s := range j.Steps {
		s.Index = i
	}
	if p.Wrong() == 0 {
		p.order()
	}
}

// checkValues converts a check's values to bits if the type is known from the text.
func (p *parser) checkValues(c *Check) {
	if c.Type == NoType {
		if c.Symbol {
			if d := p.job.symbols[c.Name.S]; d != nil {
				c.Type = d.Type
			}
		} else if d := p.job.buffer(c.Name.S); d != nil {
			c.Type = d.Type
		}
	}
	if c.values != nil && c.Type != NoType {
		c.Values, c.anyNaN = p.literals(c.values, c.Type)
	}
}

// fillValue converts a fill's value to bits if the type is known from the text.
func (p *parser) fillValue(c *Copy) {
	if c.value == nil {
		return
	}
	from := p.job.symbols
	if c.To.Place == Buffer {
		from = p.job.buffers
	}
	if d := from[c.To.S]; d != nil && d.Type != NoType {
		c.Type = d.Type
		p.fillBits(c)
	}
}

// fillBits converts a fill's value to bits of its type.
func (p *parser) fillBits(c *Copy) {
	if c.value.Table || c.value.Array {
		p.Add(c.value.Pos, "value must be a number, not %s", c.value.Kind())
		return
	}
	var err error
	if c.Value, _, err = c.Type.literal(c.value.Val); err != nil {
		p.Add(c.value.Pos, "%v", err)
		return
	}
	c.From.S = c.Type.Format(c.Value)
	if size := int64(c.Type.Size()); c.Bytes%size != 0 {
		p.Add(c.BytesPos, "bytes = %d is not a whole number of %v (%d bytes each)", c.Bytes, c.Type, size)
	}
}

// order sorts the steps into execution order: each stream's in file order, a wait after
// the record that it refers to (the last before it in the file, otherwise the first after
// it), and nothing across a sync. Of the steps that are ready, the first in the file
// runs.
func (p *parser) order() {
	steps := p.job.Steps
	records := map[string][]int{}
	for i, s := range steps {
		if s.Kind == StepRecord {
			records[s.Event.S] = append(records[s.Event.S], i)
		}
	}
	// recordOf returns the step that a wait refers to, -1 for other steps.
	recordOf := func(i int) int {
		if steps[i].Kind != StepWait {
			return -1
		}
		r := records[steps[i].Event.S]
		return r[max(0, sort.SearchInts(r, i)-1)]
	}
	for i, s := range steps {
		s.Record = recordOf(i)
	}
	done := make([]bool, len(steps))
	ordered := make([]*Step, 0, len(steps))
	for first := 0; first < len(steps); {
		// The steps up to the next sync, by stream. The first of each stream is
		// ready, or it waits for a record.
		queues := map[int64][]int{}
		end := first
		for ; end < len(steps) && steps[end].Kind != StepSync; end++ {
			queues[steps[end].Stream] = append(queues[steps[end].Stream], end)
		}
		var ready indexHeap
		waiting := map[int][]int{}
		offer := func(i int) {
			if r := recordOf(i); r >= 0 && !done[r] {
				waiting[r] = append(waiting[r], i)
			} else {
				heap.Push(&ready, i)
			}
		}
		for _, q := range queues {
			offer(q[0])
		}
		for len(ready) > 0 {
			i := heap.Pop(&ready).(int)
			done[i] = true
			ordered = append(ordered, steps[i])
			q := queues[steps[i].Stream][1:]
			queues[steps[i].Stream] = q
			if len(q) > 0 {
				offer(q[0])
			}
			for _, w := range waiting[i] {
				heap.Push(&ready, w)
			}
			delete(waiting, i)
		}
		for _, ws := range waiting {
			for _, w := range ws {
				e := steps[w].Event
				p.Add(e.Pos, "the wait for event %q never ends: the event is recorded only after a step that follows this wait", e.S)
			}
		}
		if len(waiting) > 0 {
			return
		}
		if end < len(steps) {
			ordered = append(ordered, steps[end])
		}
		first = end + 1
	}
	p.job.Steps = ordered
}

// indexHeap is a heap of step indices, smallest first.
type indexHeap []int

func (h indexHeap) Len() int           { return len(h) }
func (h indexHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h indexHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *indexHeap) Push(x any)        { *h = append(*h, x.(int)) }
func (h *indexHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}
