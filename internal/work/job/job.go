package job

import (
	"container/heap"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/heddle-sim/heddle/internal/isa"
)

// Job is a parsed job file.
type Job struct {
	File     string   // as given, for messages
	Programs []Text   // program files, in order
	GPU      string   // "" if the file names none
	GPUPos   isa.Pos  // its position
	Buffers  []*Data  // in file order, which is the order of allocation
	Symbols  []*Data  // variables of the program to set
	Textures []*Image // in file order
	Steps    []*Step  // only launches if the file has [[launches]]
	Checks   []*Check

	stepsGiven bool // [[steps]], not [[launches]]
	buffers    map[string]*Data
	symbols    map[string]*Data
}

// Text is a string of the job file with its position.
type Text struct {
	S   string
	Pos isa.Pos
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
	File     Text
}

// Image is a texture.
type Image struct {
	Name                 string
	Pos                  isa.Pos
	Buffer               Text
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
	Launch *Launch // StepLaunch
	Number int     // of the launch, from 0
	Copy   *Copy   // StepCopy, StepFill
	Event  Text    // StepRecord, StepWait
	Record int     // of a wait: Index of the record that it refers to
}

// Launch is a launch of a kernel.
type Launch struct {
	Pos       isa.Pos
	Kernel    Text // S is "" if the file names none
	Grid      [3]int64
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
	Text
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

	Type  Type   // of a fill's value; NoType: that of a variable of the program
	Value uint64 // its bits, if the type is known
	value *node  // as written
}

// Check compares a buffer or a symbol with expected values.
type Check struct {
	Pos       isa.Pos
	Symbol    bool
	Name      Text
	Type      Type // NoType: that of the buffer
	File      Text
	Values    []uint64 // bits, set when the type is known
	anyNaN    []bool
	values    *node // as written
	Offset    int64 // elements
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
	errorList
	job      *Job
	launches int // so far
}

// Parse parses a job file. It looks only at the text: Open checks whether files exist and
// kernels fit.
func Parse(file string, src []byte) (*Job, error) {
	root, err := decodeTOML(file, src)
	if err != nil {
		return nil, err
	}
	p := &parser{errorList: errorList{file: file}, job: &Job{File: file}}
	p.root(root)
	if err := p.err(); err != nil {
		return nil, err
	}
	return p.job, nil
}

// known reports keys of a table that are not among names.
func (p *parser) known(n *node, names ...string) {
	for _, k := range n.keys {
		if !slices.Contains(names, k) {
			p.unknown(n.kids[k].keyPos, k, names, "known keys here", "unknown key %q", k)
		}
	}
}

// str reads a string; found reports whether the key exists and is valid.
func (p *parser) str(n *node, key string) (t Text, found bool) {
	k := n.kids[key]
	if k == nil {
		return Text{}, false
	}
	s, ok := k.val.(string)
	if !ok {
		p.add(k.pos, "%s must be a string in quotes, not %s", key, k.kind())
		return Text{}, false
	}
	if s == "" {
		p.add(k.pos, "%s is empty", key)
		return Text{}, false
	}
	if strings.ContainsRune(s, 0) {
		p.add(k.pos, "%s contains a NUL character", key)
		return Text{}, false
	}
	return Text{s, k.pos}, true
}

// oneOf reads a string that must be among names; the first is the default.
func (p *parser) oneOf(n *node, key string, names ...string) string {
	t, ok := p.str(n, key)
	if !ok {
		return names[0]
	}
	if !slices.Contains(names, t.S) {
		p.unknown(t.Pos, t.S, names, "there are", "%s = %q is not known", key, t.S)
		return names[0]
	}
	return t.S
}

// integer reads an integer between lo and hi.
func (p *parser) integer(n *node, key string, lo, hi, def int64) int64 {
	k := n.kids[key]
	if k == nil {
		return def
	}
	return p.intValue(k, key, lo, hi, def)
}

func (p *parser) intValue(k *node, what string, lo, hi, def int64) int64 {
	v, ok := k.val.(int64)
	switch {
	case !ok:
		p.add(k.pos, "%s must be an integer, not %s", what, k.kind())
	case v < lo:
		p.add(k.pos, "%s is %d; it must be at least %d", what, v, lo)
	case v > hi:
		p.add(k.pos, "%s is %d; the maximum is %d", what, v, hi)
	default:
		return v
	}
	return def
}

// number reads a float or an integer as float64.
func (p *parser) number(k *node, what string) (float64, bool) {
	switch v := k.val.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	p.add(k.pos, "%s must be a number, not %s", what, k.kind())
	return 0, false
}

func (p *parser) boolean(n *node, key string) bool {
	k := n.kids[key]
	if k == nil {
		return false
	}
	v, ok := k.val.(bool)
	if !ok {
		p.add(k.pos, "%s must be true or false, not %s", key, k.kind())
	}
	return v
}

// tables returns the tables below a key such as [buffers.a], in file order.
func (p *parser) tables(n *node, key, example string, each func(name string, t *node)) {
	k := n.kids[key]
	if k == nil {
		return
	}
	if !k.table {
		p.add(k.pos, "%s must be tables such as [%s], not %s", key, example, k.kind())
		return
	}
	for _, name := range k.keys {
		t := k.kids[name]
		switch {
		case !t.table:
			p.add(t.keyPos, "%s.%s must be a table such as [%s], not %s", key, name, example, t.kind())
		case name == "":
			p.add(t.keyPos, "a name in %s is empty", key)
		default:
			each(name, t)
		}
	}
}

// list returns the tables of an array such as [[launches]].
func (p *parser) list(n *node, key string, each func(t *node)) {
	k := n.kids[key]
	if k == nil {
		return
	}
	if !k.array {
		p.add(k.pos, "%s must be a list of tables: write [[%s]], with two brackets", key, key)
		return
	}
	for _, t := range k.items {
		if !t.table {
			p.add(t.pos, "each of %s must be a table, not %s", key, t.kind())
			continue
		}
		each(t)
	}
}

func (p *parser) root(n *node) {
	p.known(n, "program", "programs", "gpu", "buffers", "symbols", "textures", "launches", "steps", "checks")
	p.programs(n)
	if t, ok := p.str(n, "gpu"); ok {
		p.job.GPU, p.job.GPUPos = t.S, t.Pos
	}
	p.tables(n, "buffers", "buffers.a", func(name string, t *node) {
		p.job.Buffers = append(p.job.Buffers, p.data(name, t, true))
	})
	p.tables(n, "symbols", "symbols.table", func(name string, t *node) {
		p.job.Symbols = append(p.job.Symbols, p.data(name, t, false))
	})
	p.tables(n, "textures", "textures.image", p.texture)

	launches, steps := n.kids["launches"], n.kids["steps"]
	if launches != nil && steps != nil {
		p.add(steps.keyPos, "a job has either [[launches]] or [[steps]], not both; write each launch as a step: launch = { … }")
	}
	p.list(n, "launches", func(t *node) {
		p.known(t, launchKeys...)
		p.launchStep(t, t)
	})
	p.job.stepsGiven = steps != nil
	p.list(n, "steps", p.step)
	if launches == nil && steps == nil {
		p.add(n.pos, "the job has no launches: add [[launches]] with grid, block and args")
	}
	p.list(n, "checks", p.check)
	p.names()
}

func (p *parser) programs(n *node) {
	one, many := n.kids["program"], n.kids["programs"]
	switch {
	case one != nil && many != nil:
		p.add(many.keyPos, "a job has either program or programs, not both")
	case one != nil:
		if t, ok := p.str(n, "program"); ok {
			p.job.Programs = []Text{t}
		}
	case many == nil:
		p.add(n.pos, "the job names no program: add program = \"FILE.ptx\"")
	case !many.array:
		p.add(many.pos, "programs must be a list of strings, not %s", many.kind())
	case len(many.items) == 0:
		p.add(many.pos, "programs is empty: name at least one file")
	default:
		for _, it := range many.items {
			s, ok := it.val.(string)
			if !ok || s == "" || strings.ContainsRune(s, 0) {
				p.add(it.pos, "each of programs must be a file's name in quotes, not %s", it.kind())
				continue
			}
			p.job.Programs = append(p.job.Programs, Text{s, it.pos})
		}
	}
}

func (p *parser) data(name string, t *node, buffer bool) *Data {
	d := &Data{Name: name, Pos: t.keyPos, Range: defaultRange()}
	p.known(t, "type", "count", "init", "seed", "range", "values", "file")
	d.Type = p.elementType(t, true)
	explicit := t.kids["init"] != nil
	switch init := p.oneOf(t, "init", initNames...); {
	case !explicit && t.kids["values"] != nil:
		d.Init = InitValues
	case !explicit && t.kids["file"] != nil:
		d.Init = InitFile
	default:
		for i, n := range initNames {
			if n == init {
				d.Init = Init(i)
			}
		}
	}
	d.CountPos = d.Pos
	if k := t.kids["count"]; k != nil {
		d.CountPos = k.pos
		d.Count = p.integer(t, "count", 1, maxCount, 1)
	} else if buffer && d.Init != InitValues && d.Init != InitFile {
		p.add(d.Pos, "buffer %q has no count: add count = N, the number of elements", name)
	}
	for _, only := range []struct {
		key  string
		init Init
	}{{"seed", InitRandom}, {"range", InitRandom}, {"values", InitValues}, {"file", InitFile}} {
		k := t.kids[only.key]
		if k != nil && d.Init != only.init {
			p.add(k.keyPos, "%s goes with init = %q, but init is %q", only.key, only.init, d.Init)
		}
		if k == nil && d.Init == only.init && (only.key == "values" || only.key == "file") {
			p.add(d.Pos, "%q has init = %q but no %s", name, d.Init, only.key)
		}
	}
	if d.Type == NoType {
		return d
	}
	switch d.Init {
	case InitRandom:
		p.random(t, d)
	case InitFile:
		d.File, _ = p.str(t, "file")
	case InitValues:
		if k := t.kids["values"]; k != nil {
			d.Values, _ = p.literals(k, d.Type)
			n := int64(len(d.Values))
			if d.Count == 0 {
				d.Count = max(1, n)
			}
			if n > d.Count {
				p.add(k.pos, "%q has count = %d, but %d values; make count larger or the list shorter", name, d.Count, n)
			}
		}
	}
	return d
}

// elementType reads `type`.
func (p *parser) elementType(t *node, needed bool) Type {
	s, ok := p.str(t, "type")
	if !ok {
		if needed && t.kids["type"] == nil {
			p.add(t.keyPos, "no type: add type = \"f32\" (or one of %s)", strings.Join(TypeNames(), " "))
		}
		return NoType
	}
	typ := TypeByName(s.S)
	if typ == NoType {
		p.unknown(s.Pos, s.S, TypeNames(), "there are", "type = %q is not known", s.S)
	}
	return typ
}

func (p *parser) random(t *node, d *Data) {
	d.Seed = 1
	if k := t.kids["seed"]; k != nil {
		v, ok := k.val.(int64)
		if !ok {
			p.add(k.pos, "seed must be an integer, not %s", k.kind())
		}
		d.Seed = uint64(v)
	}
	k := t.kids["range"]
	if k == nil {
		return
	}
	if !k.array || len(k.items) != 2 {
		p.add(k.pos, "range must be a list of two numbers, [low, high]")
		return
	}
	if d.Type.Float() {
		lo, ok1 := p.number(k.items[0], "the low end of range")
		hi, ok2 := p.number(k.items[1], "the high end of range")
		switch {
		case !ok1 || !ok2:
		case math.IsInf(hi-lo, 0) || math.IsNaN(hi-lo):
			p.add(k.pos, "range must be finite")
		case hi < lo:
			p.add(k.pos, "the end of range (%v) is below its start (%v)", hi, lo)
		default:
			d.Range = valueRange{flo: lo, fhi: hi}
		}
		return
	}
	var b [2]uint64
	for i, it := range k.items {
		v, _, err := d.Type.literal(it.val)
		if err != nil {
			p.add(it.pos, "range: %v", err)
			return
		}
		b[i] = v
	}
	if d.Type.Signed() && int64(b[1]) < int64(b[0]) || !d.Type.Signed() && b[1] < b[0] {
		p.add(k.pos, "the end of range (%s) is below its start (%s)", d.Type.Format(b[1]), d.Type.Format(b[0]))
		return
	}
	d.Range = valueRange{ilo: b[0], ihi: b[1]}
}

// literals reads a list of numbers as elements of a type.
func (p *parser) literals(k *node, t Type) (bits []uint64, anyNaN []bool) {
	if !k.array {
		p.add(k.pos, "values must be a list of numbers, not %s", k.kind())
		return nil, nil
	}
	for _, it := range k.items {
		if it.table || it.array {
			p.add(it.pos, "values must be numbers, not %s", it.kind())
			continue
		}
		b, nan, err := t.literal(it.val)
		if err != nil {
			p.add(it.pos, "%v", err)
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

func (p *parser) texture(name string, t *node) {
	x := &Image{Name: name, Pos: t.keyPos}
	p.job.Textures = append(p.job.Textures, x)
	p.known(t, "buffer", "format", "width", "height", "depth", "filter", "address", "normalized", "read",
		"pitch", "layers", "cube", "levels", "mip_filter", "samples")
	var ok bool
	if x.Buffer, ok = p.str(t, "buffer"); !ok && t.kids["buffer"] == nil {
		p.add(x.Pos, "texture %q has no buffer: add buffer = \"NAME\"", name)
	}
	x.Format, x.Channels = "f32", 1
	if f, ok := p.str(t, "format"); ok {
		elem, chans, many := strings.Cut(f.S, "x")
		x.Format = elem
		switch {
		case !slices.Contains(textureTypes, elem):
			p.unknown(f.Pos, elem, textureTypes, "there are", "format = %q: the element type %q is not known", f.S, elem)
			x.Format = "f32"
		case many && chans == "2":
			x.Channels = 2
		case many && chans == "4":
			x.Channels = 4
		case many && chans != "1":
			p.add(f.Pos, "format = %q: a texture has 1, 2 or 4 channels, as in \"u8x4\"", f.S)
		}
	} else if t.kids["format"] == nil {
		p.add(x.Pos, "texture %q has no format: add format = \"f32\", or for example \"u8x4\"", name)
	}
	if t.kids["width"] == nil {
		p.add(x.Pos, "texture %q has no width: add width = N, in texels", name)
	}
	x.Width = p.integer(t, "width", 1, 1<<27, 1)
	x.Height = p.integer(t, "height", 1, 1<<17, 0)
	x.Depth = p.integer(t, "depth", 1, 1<<14, 0)
	if x.Depth > 0 && x.Height == 0 {
		p.add(x.Pos, "texture %q has a depth but no height", name)
	}
	x.Linear = p.oneOf(t, "filter", "point", "linear") == "linear"
	x.Normalized = p.boolean(t, "normalized")
	x.ReadNormalized = p.oneOf(t, "read", "element", "normalized") == "normalized"
	x.Pitch = p.integer(t, "pitch", 1, 1<<31, 0)
	x.Layers = p.integer(t, "layers", 1, 2048, 0)
	x.Levels = p.integer(t, "levels", 1, 28, 0)
	x.Samples = p.integer(t, "samples", 1, 16, 0)
	x.Cube = p.boolean(t, "cube")
	x.MipLinear = p.oneOf(t, "mip_filter", "point", "linear") == "linear"
	x.Address = [3]string{"clamp", "clamp", "clamp"}
	p.address(t, x)
	float := x.Format == "f32" || x.Format == "f16"
	if x.ReadNormalized && (float || strings.HasSuffix(x.Format, "32")) {
		p.add(t.kids["read"].pos, "read = \"normalized\" is for 8- and 16-bit integers, not %s", x.Format)
	}
	if x.Linear && !float && !x.ReadNormalized {
		p.add(t.kids["filter"].pos, "filter = \"linear\" needs a float format or read = \"normalized\", not %s", x.Format)
	}
}

func (p *parser) address(t *node, x *Image) {
	k := t.kids["address"]
	if k == nil {
		return
	}
	items := []*node{k}
	if k.array {
		items = k.items
		if len(items) == 0 || len(items) > 3 {
			p.add(k.pos, "address has %d modes; want one, or one for each dimension", len(items))
			return
		}
	}
	for i, it := range items {
		s, ok := it.val.(string)
		switch {
		case !ok:
			p.add(it.pos, "address must be a string, not %s", it.kind())
		case !slices.Contains(addressModes, s):
			p.unknown(it.pos, s, addressModes, "there are", "address = %q is not known", s)
		case !x.Normalized && (s == "wrap" || s == "mirror"):
			p.add(it.pos, "address = %q needs normalized = true", s)
		case k.array:
			x.Address[i] = s
		default:
			x.Address = [3]string{s, s, s}
		}
	}
}

var launchKeys = []string{"kernel", "grid", "block", "shared", "stream", "registers", "cooperative", "prefer", "args"}

// launchStep adds the launch in t as a step at a position.
func (p *parser) launchStep(t, at *node) {
	l := &Launch{Pos: at.keyPos}
	s := &Step{Kind: StepLaunch, Pos: at.keyPos, Launch: l, Number: p.launches}
	p.launches++
	p.job.Steps = append(p.job.Steps, s)
	l.Kernel, _ = p.str(t, "kernel")
	l.Grid, _ = p.dim3(t, "grid", [3]int64{isa.MaxGridX, isa.MaxGridYZ, isa.MaxGridYZ})
	l.Block, l.BlockPos = p.dim3(t, "block", [3]int64{isa.MaxThreads, isa.MaxThreads, isa.MaxBlockZ})
	if n := l.Block[0] * l.Block[1] * l.Block[2]; n > isa.MaxThreads {
		p.add(l.BlockPos, "block has %d threads; the maximum is %d", n, isa.MaxThreads)
	}
	l.Shared = p.integer(t, "shared", 0, 1<<24, 0)
	l.SharedPos = l.Pos
	if k := t.kids["shared"]; k != nil {
		l.SharedPos = k.pos
	}
	s.Stream = p.integer(t, "stream", 0, maxStreams, 0)
	l.Registers = p.integer(t, "registers", 1, 255, 0)
	l.Coop = p.boolean(t, "cooperative")
	if s, ok := p.str(t, "prefer"); ok {
		if l.Prefer = s.S; !slices.Contains([]string{"none", "l1", "shared"}, s.S) {
			p.add(t.kids["prefer"].pos, "prefer = %q: want \"l1\", \"shared\" or \"none\"", s.S)
		}
	}
	k := t.kids["args"]
	if k == nil {
		return
	}
	if !k.array {
		p.add(k.pos, "args must be a list such as [{ buffer = \"a\" }, { u32 = 1 }], not %s", k.kind())
		return
	}
	total := 0
	for i, it := range k.items {
		a := p.arg(it, i)
		total += len(a.Bytes)
		l.Args = append(l.Args, a)
	}
	if total > isa.MaxParams {
		p.add(k.pos, "args have %d bytes; the maximum is %d", total, isa.MaxParams)
	}
}

// dim3 reads an extent: [x, y, z], a shorter list, or a number.
func (p *parser) dim3(t *node, key string, limit [3]int64) ([3]int64, isa.Pos) {
	d := [3]int64{1, 1, 1}
	k := t.kids[key]
	if k == nil {
		p.add(t.keyPos, "the launch has no %s: add %s = [X, Y, Z]", key, key)
		return d, t.keyPos
	}
	items := []*node{k}
	if k.array {
		items = k.items
	}
	if len(items) == 0 || len(items) > 3 {
		p.add(k.pos, "%s has %d numbers; want one to three, [X, Y, Z]", key, len(items))
		return d, k.pos
	}
	for i, it := range items {
		d[i] = p.intValue(it, key+"."+"xyz"[i:i+1], 1, limit[i], 1)
	}
	return d, k.pos
}

var argWords = []string{"buffer", "u8", "s8", "u16", "s16", "f16", "bf16", "u32", "s32", "f32", "u64", "s64", "f64", "bytes", "texture"}

func (p *parser) arg(n *node, i int) *Arg {
	a := &Arg{Pos: n.pos}
	if !n.table {
		p.add(n.pos, "argument %d must be a table such as { u32 = 1 } or { buffer = \"a\" }, not %s", i+1, n.kind())
		return a
	}
	p.known(n, append([]string{"offset"}, argWords...)...)
	var words []string
	for _, k := range n.keys {
		if slices.Contains(argWords, k) {
			words = append(words, k)
		}
	}
	if len(words) != 1 {
		if len(words) > 1 {
			p.add(n.pos, "argument %d is both %s and %s; want one of them", i+1, words[0], words[1])
		} else {
			p.add(n.pos, "argument %d is empty; want for example { u32 = 1 } or { buffer = \"a\" }", i+1)
		}
		return a
	}
	a.Word = words[0]
	k := n.kids[a.Word]
	if off := n.kids["offset"]; off != nil && a.Word != "buffer" {
		p.add(off.keyPos, "offset goes with buffer, not with %s", a.Word)
	}
	switch a.Word {
	case "buffer":
		a.Kind = ArgBuffer
		t, _ := p.str(n, "buffer")
		a.Name = t.S
		a.Offset = p.integer(n, "offset", 0, math.MaxInt64, 0)
	case "texture":
		a.Kind = ArgTexture
		t, _ := p.str(n, "texture")
		a.Name = t.S
	case "bytes":
		t, ok := p.str(n, "bytes")
		if !ok {
			break
		}
		b, err := hexBytes(t.S)
		if err != nil {
			p.add(t.Pos, "bytes = %q: %v", shorten(t.S), err)
		}
		a.Bytes = b
	default:
		typ := TypeByName(a.Word)
		if k.table || k.array {
			p.add(k.pos, "%s must be a number, not %s", a.Word, k.kind())
			break
		}
		bits, _, err := typ.literal(k.val)
		if err != nil {
			p.add(k.pos, "%v", err)
		}
		a.Bytes = make([]byte, typ.Size())
		typ.put(a.Bytes, bits)
	}
	return a
}

func (p *parser) step(t *node) {
	p.known(t, stepNames...)
	if len(t.keys) != 1 || !slices.Contains(stepNames, t.keys[0]) {
		if len(t.keys) != 1 {
			p.add(t.keyPos, "a step is exactly one of %s", strings.Join(stepNames, ", "))
		}
		return
	}
	key := t.keys[0]
	k := t.kids[key]
	if key == "sync" {
		if v, ok := k.val.(bool); !ok || !v {
			p.add(k.pos, "sync must be true")
		}
		p.job.Steps = append(p.job.Steps, &Step{Kind: StepSync, Pos: t.keyPos})
		return
	}
	if !k.table {
		p.add(k.pos, "%s must be a table, %s = { … }, not %s", key, key, k.kind())
		return
	}
	switch key {
	case "launch":
		p.known(k, launchKeys...)
		p.launchStep(k, t)
	case "copy", "fill":
		p.copy(key, k, t)
	default:
		p.known(k, "event", "stream")
		s := &Step{Kind: StepRecord, Pos: t.keyPos}
		if key == "wait" {
			s.Kind = StepWait
		}
		var ok bool
		if s.Event, ok = p.str(k, "event"); !ok && k.kids["event"] == nil {
			p.add(k.keyPos, "%s has no event: add event = \"NAME\"", key)
		}
		s.Stream = p.integer(k, "stream", 0, maxStreams, 0)
		p.job.Steps = append(p.job.Steps, s)
	}
}

// copy reads a copy or a fill, as word says.
func (p *parser) copy(word string, k, at *node) {
	c := &Copy{BytesPos: k.keyPos}
	kind := StepCopy
	if word == "fill" {
		kind = StepFill
		p.known(k, "to", "value", "bytes", "stream")
		c.From.Place = FillValue
		if c.value = k.kids["value"]; c.value == nil {
			p.add(k.keyPos, "fill has no value: add value = NUMBER")
		}
	} else {
		p.known(k, "from", "to", "bytes", "stream")
		c.From = p.end(word, k, "from")
	}
	c.To = p.end(word, k, "to")
	switch {
	case c.To.Place != HostFile:
	case kind == StepFill:
		p.add(k.keyPos, "the target of a fill must be a buffer or a symbol, because fill writes device memory")
	case c.From.Place == HostFile:
		p.add(k.keyPos, "copy from a file to a file: one end must be a buffer or a symbol")
	}
	if b := k.kids["bytes"]; b != nil {
		c.BytesPos, c.given = b.pos, true
		c.Bytes = p.integer(k, "bytes", 1, math.MaxInt64, 1)
	}
	p.job.Steps = append(p.job.Steps, &Step{Kind: kind, Pos: at.keyPos, Stream: p.integer(k, "stream", 0, maxStreams, 0), Copy: c})
}

// end reads an end of a copy or a fill.
func (p *parser) end(word string, k *node, key string) End {
	t, ok := p.str(k, key)
	if !ok {
		if k.kids[key] == nil {
			p.add(k.keyPos, "%s has no %s: add %s = \"BUFFER\", \"host:FILE\" or \"symbol:NAME\"", word, key, key)
		}
		return End{}
	}
	for _, place := range []Place{HostFile, Symbol} {
		if name, found := strings.CutPrefix(t.S, prefixes[place]); found {
			if name == "" {
				p.add(t.Pos, "%s = %q names nothing", key, t.S)
			}
			return End{Text{name, t.Pos}, place}
		}
	}
	return End{Text: t}
}

func (p *parser) check(t *node) {
	c := &Check{Pos: t.keyPos}
	p.job.Checks = append(p.job.Checks, c)
	p.known(t, "buffer", "symbol", "type", "file", "values", "offset", "tolerance")
	buffer, symbol := t.kids["buffer"], t.kids["symbol"]
	switch {
	case buffer != nil && symbol != nil:
		p.add(symbol.keyPos, "a check has either buffer or symbol, not both")
	case symbol != nil:
		c.Symbol = true
		c.Name, _ = p.str(t, "symbol")
	case buffer != nil:
		c.Name, _ = p.str(t, "buffer")
	default:
		p.add(c.Pos, "the check has no target: add buffer = \"NAME\" or symbol = \"NAME\"")
	}
	c.Type = p.elementType(t, false)
	file, values := t.kids["file"], t.kids["values"]
	switch {
	case file != nil && values != nil:
		p.add(values.keyPos, "a check has either file or values, not both")
	case file != nil:
		c.File, _ = p.str(t, "file")
	case values == nil:
		p.add(c.Pos, "the check has no expected values: add file = \"FILE\" or values = [ … ]")
	case !values.array:
		p.add(values.pos, "values must be a list of numbers, not %s", values.kind())
	case len(values.items) == 0:
		p.add(values.pos, "values is empty: the check would compare nothing")
	default:
		c.values = values
	}
	c.Offset = p.integer(t, "offset", 0, maxCount, 0)
	c.OffsetPos = c.Pos
	if k := t.kids["offset"]; k != nil {
		c.OffsetPos = k.pos
	}
	if k := t.kids["tolerance"]; k != nil {
		v, ok := p.number(k, "tolerance")
		if ok && !(v >= 0 && v <= 1) {
			p.add(k.pos, "tolerance is %v; it must be between 0 and 1 (it is relative)", v)
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
	buffer := func(t Text) {
		if t.S != "" && j.buffer(t.S) == nil {
			p.unknown(t.Pos, t.S, buffers, "buffers", "unknown buffer %q", t.S)
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
					buffer(Text{a.Name, a.Pos})
				}
				if a.Kind == ArgTexture && a.Name != "" && !isTexture[a.Name] {
					p.unknown(a.Pos, a.Name, textures, "textures", "unknown texture %q", a.Name)
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
				p.unknown(s.Event.Pos, s.Event.S, recorded, "events recorded", "no step records event %q, which this step waits for", s.Event.S)
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
	if len(p.errs) == 0 {
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
	if c.value.table || c.value.array {
		p.add(c.value.pos, "value must be a number, not %s", c.value.kind())
		return
	}
	var err error
	if c.Value, _, err = c.Type.literal(c.value.val); err != nil {
		p.add(c.value.pos, "%v", err)
		return
	}
	c.From.S = c.Type.Format(c.Value)
	if size := int64(c.Type.Size()); c.Bytes%size != 0 {
		p.add(c.BytesPos, "bytes = %d is not a whole number of %v (%d bytes each)", c.Bytes, c.Type, size)
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
				p.add(e.Pos, "the wait for event %q never ends: the event is recorded only after a step that follows this wait", e.S)
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
