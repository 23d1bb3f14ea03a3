package job

import (
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/kasm"
	"github.com/heddle-sim/heddle/internal/tomlfile"
)

// This file: the job file format for the Kepler-style core. Its programs are .kasm. There
// is no allocator and no grid: the file gives the addresses of buffers, and the host
// starts warps. A job with several frames runs the core once per frame, with different
// values in registers.

// KeplerJob is a parsed job file for the Kepler-style core.
type KeplerJob struct {
	*Job     // file, programs, buffers and checks of buffers
	Settings []KeplerSetting
	Frames   int
	Warps    []*WarpStart
	Images   []*FrameImage
	Checks   []*KeplerCheck

	places    map[string]*bufferPlace
	keplerPos isa.Pos // of the job's settings of the machine
}

// KeplerSetting is a dotted key of [kepler] and its value in command line syntax.
type KeplerSetting struct {
	Key, Value string
	Pos        isa.Pos
}

// bufferPlace is the address of a buffer.
type bufferPlace struct {
	at     uint32 // byte address
	pos    isa.Pos
	shared bool
}

// WarpStart describes how the host starts some warps.
type WarpStart struct {
	Pos       isa.Pos
	Warps     []int
	Program   tomlfile.Text // S is "" if the job has one program
	PC        int
	Label     tomlfile.Text // instead of PC
	Mask      uint32
	Registers []RegisterStart
}

// RegisterStart is the initial value of a register.
type RegisterStart struct {
	Register               int
	Start                  uint32
	PerWarp, PerLane, Step uint32   // added for each warp, lane and frame
	Lanes, Frames          []uint32 // instead: one value for each lane, or frame
}

// at returns the value of a lane in a frame.
func (r *RegisterStart) at(warp, lane, frame int) uint32 {
	switch {
	case r.Lanes != nil:
		return r.Lanes[lane]
	case r.Frames != nil:
		return r.Frames[frame]
	}
	return r.Start + uint32(warp)*r.PerWarp + uint32(lane)*r.PerLane + uint32(frame)*r.Step
}

// lastFrame means the last frame, allFrames all frames in order.
const (
	lastFrame = -1
	allFrames = -2
)

// KeplerCheck is a check of a buffer, unless one of Register, Predicate and Cycles is
// set.
type KeplerCheck struct {
	*Check
	Register  int // -1: none
	Predicate int // -1: none
	Warp      int
	Lanes     uint32        // in which the predicate must hold
	Cycles    uint64        // 0: none
	Frame     int           // from 0, lastFrame or allFrames
	Level     tomlfile.Text // only at this level; S is "" for both
}

// Limits of the format, our choice.
const (
	maxFrames = 100_000
	maxEdge   = 4096 // pixels of a picture's side
	maxScale  = 64
	maxPixels = 1 << 28 // of all frames of a GIF
	maxKept   = 1 << 30 // bytes of all frames that one check compares
)

// IsKepler reports whether a file is a job for the Kepler-style core: its gpu is, or one
// of its programs is .kasm. Errors in it are found later.
func IsKepler(path string) bool {
	src, err := ReadFile(path)
	if err != nil || len(src) > tomlfile.MaxBytes {
		return false
	}
	var head struct {
		GPU, Program string
		Programs     []string
	}
	if _, err := toml.Decode(string(src), &head); err != nil {
		return false
	}
	return head.GPU == kepler.Name || slices.ContainsFunc(append(head.Programs, head.Program), isKasm)
}

func isKasm(file string) bool { return strings.EqualFold(filepath.Ext(file), ".kasm") }

// keplerParser processes the nodes of a job file for the Kepler-style core.
type keplerParser struct {
	parser
	k *KeplerJob
}

// ParseKepler parses a job file for the Kepler-style core. Open checks whether files
// exist and programs assemble.
func ParseKepler(file string, src []byte) (*KeplerJob, error) {
	root, err := tomlfile.Parse(file, src)
	if err != nil {
		return nil, err
	}
	j := &Job{File: file}
	p := &keplerParser{parser: parser{Reader: tomlfile.Reader{File: file}, job: j}, k: &KeplerJob{Job: j, places: map[string]*bufferPlace{}}}
	p.root(root)
	if err := p.Err(); err != nil {
		return nil, err
	}
	return p.k, nil
}

func (p *keplerParser) root(n *tomlfile.Node) {
	p.Known(n, "program", "programs", "gpu", "kepler", "buffers", "frames", "warps", "images", "checks")
	p.programs(n)
	for _, t := range p.job.Programs {
		if !isKasm(t.S) {
			p.Add(t.Pos, "%s is not .kasm; a job cannot combine programs of the Kepler-style core with others", t.S)
		}
	}
	if t, ok := p.Str(n, "gpu"); ok {
		p.job.GPU, p.job.GPUPos = t.S, t.Pos
		if t.S != kepler.Name && filepath.Ext(t.S) != ".toml" {
			p.Add(t.Pos, "gpu = %q: programs in .kasm run on %q, or a file with extends = %q; remove gpu", t.S, kepler.Name, kepler.Name)
		}
	}
	p.k.keplerPos = p.job.GPUPos
	if k := n.Kids["kepler"]; k != nil {
		p.k.keplerPos = k.KeyPos
		p.settings("kepler", k)
	}
	p.Tables(n, "buffers", "buffers.a", p.buffer)
	p.job.buffers, p.job.symbols = map[string]*Data{}, map[string]*Data{}
	for _, d := range p.job.Buffers {
		p.job.buffers[d.Name] = d
	}
	p.k.Frames = int(p.Integer(n, "frames", 1, maxFrames, 1))
	p.List(n, "warps", p.warps)
	if n.Kids["warps"] == nil {
		p.Add(n.Pos, "the job starts no warps: add [[warps]] with warp = 0")
	}
	p.List(n, "images", p.image)
	p.List(n, "checks", p.check)
}

// settings collects the keys below [kepler].
func (p *keplerParser) settings(key string, n *tomlfile.Node) {
	switch v := n.Val.(type) {
	case string:
		p.k.Settings = append(p.k.Settings, KeplerSetting{key, v, n.Pos})
	case int64:
		p.k.Settings = append(p.k.Settings, KeplerSetting{key, strconv.FormatInt(v, 10), n.Pos})
	case bool:
		p.k.Settings = append(p.k.Settings, KeplerSetting{key, strconv.FormatBool(v), n.Pos})
	default:
		if !n.Table {
			p.Add(n.Pos, "%s cannot be %s", key, n.Kind())
			return
		}
		for _, k := range n.Keys {
			p.settings(key+"."+k, n.Kids[k])
		}
	}
}

// without returns a table without some of its keys.
func without(n *tomlfile.Node, keys ...string) *tomlfile.Node {
	c := *n
	c.Keys = slices.DeleteFunc(slices.Clone(n.Keys), func(k string) bool { return slices.Contains(keys, k) })
	return &c
}

// buffer reads a buffer: as in every job, plus its address.
func (p *keplerParser) buffer(name string, t *tomlfile.Node) {
	d := p.data(name, without(t, "at", "space"), true)
	p.job.Buffers = append(p.job.Buffers, d)
	place := &bufferPlace{pos: t.KeyPos, shared: p.OneOf(t, "space", "global", "shared") == "shared"}
	p.k.places[name] = place
	k := t.Kids["at"]
	if k == nil {
		p.Add(t.KeyPos, "buffer %q has no address: add at = 0x1000, in bytes", name)
		return
	}
	place.pos = k.Pos
	place.at = uint32(p.Int(k, "at", 0, math.MaxUint32, 0))
	if place.at%4 != 0 {
		p.Add(k.Pos, "at = %#x is not the address of a word; it must be a multiple of 4", place.at)
	}
}

// size returns the size of a buffer's memory, in bytes.
func (b *bufferPlace) size() int64 {
	if b.shared {
		return kepler.SharedBytes
	}
	return kepler.MemoryBytes
}

// bits reads a register's value: an integer of 32 bits, signed or not, or a
// number with a point, which is a binary32.
func (p *keplerParser) bits(k *tomlfile.Node, what string) uint32 {
	if f, ok := k.Val.(float64); ok {
		v, _, err := F32.literal(f)
		if err != nil {
			p.Add(k.Pos, "%s: %v", what, err)
		}
		return uint32(v)
	}
	return uint32(p.Int(k, what, math.MinInt32, math.MaxUint32, 0))
}

// bitList reads a list of n values.
func (p *keplerParser) bitList(k *tomlfile.Node, what, each string, n int) []uint32 {
	if len(k.Items) != n {
		p.Add(k.Pos, "%s has %d values; it needs %d, one for each %s", what, len(k.Items), n, each)
		return make([]uint32, n)
	}
	list := make([]uint32, n)
	for i, it := range k.Items {
		list[i] = p.bits(it, what)
	}
	return list
}

// index reads the number after a letter: R5, P1.
func (p *keplerParser) index(t tomlfile.Text, letter string, n int) int {
	digits, ok := strings.CutPrefix(t.S, letter)
	v, err := strconv.Atoi(digits)
	if !ok || err != nil || v < 0 || v >= n || digits != strconv.Itoa(v) {
		p.Add(t.Pos, "%s does not exist; want %s0 to %s%d", t.S, letter, letter, n-1)
		return 0
	}
	return v
}

// warps reads a [[warps]].
func (p *keplerParser) warps(t *tomlfile.Node) {
	w := &WarpStart{Pos: t.KeyPos, Mask: ^uint32(0)}
	p.k.Warps = append(p.k.Warps, w)
	p.Known(t, "warp", "warps", "program", "pc", "lanes", "registers")
	one, many := t.Kids["warp"], t.Kids["warps"]
	var items []*tomlfile.Node
	switch {
	case one != nil && many != nil:
		p.Add(many.KeyPos, "want either warp or warps, not both")
	case one != nil:
		items = []*tomlfile.Node{one}
	case many == nil:
		p.Add(t.KeyPos, "no warps given: add warp = 0, or warps = [0, 1]")
	case !many.Array || len(many.Items) == 0:
		p.Add(many.Pos, "warps must be a list of numbers such as [0, 1]")
	default:
		items = many.Items
	}
	for _, it := range items {
		n := int(p.Int(it, "warp", 0, kepler.Warps-1, 0))
		for _, o := range p.k.Warps {
			if slices.Contains(o.Warps, n) {
				p.Add(it.Pos, "warp %d is started twice", n)
			}
		}
		w.Warps = append(w.Warps, n)
	}
	w.Program, _ = p.Str(t, "program")
	switch k := t.Kids["pc"]; {
	case k == nil:
	case k.Val != nil && k.Kind() == "a string":
		w.Label, _ = p.Str(t, "pc")
	default:
		w.PC = int(p.Int(k, "pc", 0, kasm.ProgramWords-1, 0))
	}
	w.Mask = uint32(p.Integer(t, "lanes", 0, math.MaxUint32, math.MaxUint32))
	switch k := t.Kids["registers"]; {
	case k == nil:
	case !k.Table:
		p.Add(k.Pos, "registers must be a table such as { R1 = 5 }, not %s", k.Kind())
	default:
		for _, name := range k.Keys {
			w.Registers = append(w.Registers, p.register(name, k.Kids[name]))
		}
	}
}

// register reads the initial value of a register.
func (p *keplerParser) register(name string, k *tomlfile.Node) RegisterStart {
	r := RegisterStart{Register: p.index(tomlfile.Text{S: name, Pos: k.KeyPos}, "R", kasm.Registers)}
	switch {
	case k.Array:
		r.Lanes = p.bitList(k, name, "lane", kasm.Lanes)
	case k.Table:
		p.Known(k, "start", "warp", "lane", "frame", "frames")
		for key, to := range map[string]*uint32{"start": &r.Start, "warp": &r.PerWarp, "lane": &r.PerLane, "frame": &r.Step} {
			if v := k.Kids[key]; v != nil {
				*to = uint32(p.Int(v, name+"."+key, math.MinInt32, math.MaxUint32, 0))
			}
		}
		if f := k.Kids["frames"]; f != nil {
			if len(k.Keys) > 1 {
				p.Add(f.KeyPos, "%s: frames lists every value and cannot be combined with other keys", name)
			}
			r.Frames = p.bitList(f, name+".frames", "frame", p.k.Frames)
		}
	default:
		r.Start = p.bits(k, name)
	}
	return r
}

// frame reads the frame of a check or picture.
func (p *keplerParser) frame(t *tomlfile.Node, all bool) int {
	k := t.Kids["frame"]
	if k == nil {
		return lastFrame
	}
	if s, ok := k.Val.(string); ok && all {
		if s != "all" {
			p.Add(k.Pos, "frame = %q is not known; want a number, or \"all\" for all frames in order", s)
		}
		return allFrames
	}
	return int(p.Int(k, "frame", 0, int64(p.k.Frames)-1, 0))
}

// knownBuffer finds a buffer, and reports an error if there is none.
func (p *keplerParser) knownBuffer(t tomlfile.Text) *Data {
	d := p.job.buffer(t.S)
	if t.S != "" && d == nil {
		p.Unknown(t.Pos, t.S, p.job.BufferNames(), "buffers", "unknown buffer %q", t.S)
	}
	return d
}

// check reads a [[checks]].
func (p *keplerParser) check(t *tomlfile.Node) {
	c := &KeplerCheck{Register: -1, Predicate: -1}
	p.k.Checks = append(p.k.Checks, c)
	c.Frame = p.frame(t, true)
	if k := t.Kids["conform"]; k != nil {
		c.Level, _ = p.Str(t, "conform")
		if _, err := kepler.LevelByName(c.Level.S); c.Level.S != "" && err != nil {
			p.Add(k.Pos, "conform: %v", err)
		}
	}
	var of []string
	for _, key := range []string{"buffer", "register", "predicate", "cycles"} {
		if t.Kids[key] != nil {
			of = append(of, key)
		}
	}
	if len(of) != 1 {
		p.Add(t.KeyPos, "a check has exactly one of buffer, register, predicate and cycles")
		c.Check = &Check{Pos: t.KeyPos}
		return
	}
	warp := func() {
		c.Warp = int(p.Integer(t, "warp", 0, kepler.Warps-1, 0))
		if !slices.ContainsFunc(p.k.Warps, func(w *WarpStart) bool { return slices.Contains(w.Warps, c.Warp) }) {
			p.Add(t.KeyPos, "the job does not start warp %d, which this check refers to", c.Warp)
		}
	}
	c.Check = &Check{Pos: t.KeyPos}
	switch of[0] {
	case "buffer":
		p.parser.check(without(t, "frame", "conform"))
		c.Check = p.job.Checks[len(p.job.Checks)-1]
		if p.knownBuffer(c.Name) != nil {
			p.checkValues(c.Check)
		}
		return
	case "register":
		p.Known(t, "register", "warp", "type", "values", "offset", "frame", "conform")
		c.Name, _ = p.Str(t, "register")
		c.Register = p.index(c.Name, "R", kasm.Registers)
		warp()
		if c.Type = p.elementType(t, false); c.Type == NoType {
			c.Type = U32
		}
		if c.Type.Size() != 4 {
			p.Add(t.Kids["type"].Pos, "a register is u32, s32 or f32, not %v", c.Type)
			return
		}
		v := t.Kids["values"]
		c.Offset = p.Integer(t, "offset", 0, kasm.Lanes-1, 0)
		if v == nil || !v.Array || len(v.Items) == 0 || int64(len(v.Items)) > kasm.Lanes-c.Offset {
			p.Add(t.KeyPos, "the check needs values = [ … ], one for each lane from lane %d on", c.Offset)
			return
		}
		c.Values, c.anyNaN = p.literals(v, c.Type)
	case "predicate":
		p.Known(t, "predicate", "warp", "lanes", "frame", "conform")
		c.Name, _ = p.Str(t, "predicate")
		c.Predicate = p.index(c.Name, "P", kasm.Predicates)
		warp()
		if t.Kids["lanes"] == nil {
			p.Add(t.KeyPos, "the check needs lanes = 0x0f, the lanes in which %s holds", c.Name.S)
		}
		c.Lanes = uint32(p.Integer(t, "lanes", 0, math.MaxUint32, 0))
	case "cycles":
		p.Known(t, "cycles", "conform")
		c.Cycles = uint64(p.Integer(t, "cycles", 1, math.MaxInt64, 1))
	}
	if c.Frame == allFrames {
		p.Add(t.Kids["frame"].Pos, "frame = \"all\" requires buffer")
	}
}
