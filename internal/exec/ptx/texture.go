package ptx

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/exec/num"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: textures, samplers and surfaces, how the host binds them, and how
// instructions name them. sample.go reads textures, surface.go reads and writes
// surfaces.

// Texture describes a texture or surface: texels in device memory and how they
// are read.
//
// Texels are ordered in memory by channel, sample, x, y, z, face, layer. The levels of a
// mipmapped texture follow one another, each half the size of the previous one in every
// dimension and at least one texel. Pitch applies to level 0; the rows of the others are
// contiguous.
type Texture struct {
	Addr                 uint64
	Format               string    // element type: u8 s8 u16 s16 f16 u32 s32 f32
	Channels             int       // 1, 2 or 4
	Width, Height, Depth int       // in texels; 0 where the dimension is absent
	Pitch                int       // bytes per row; 0: rows are contiguous
	Linear               bool      // linear filtering; otherwise the nearest texel
	Address              [3]string // clamp (also if empty), wrap, mirror or border, for x, y and z
	Normalized           bool      // coordinates in [0, 1)
	ReadNormalized       bool      // integer texels are read as [0, 1] or [-1, 1]

	Layers    int  // of a layered texture; 0: not layered
	Cube      bool // six square faces, in every layer if it has layers
	Levels    int  // of a mipmapped texture; 0 and 1: only one
	MipLinear bool // blends the two nearest levels; otherwise the nearest
	Samples   int  // of a multisampled texture; 0 and 1: only one

	Border     [4]float32  // colour outside the image for address mode border
	SRGB       bool        // u8 read as [0, 1]: red, green and blue are sRGB, and become linear
	LevelBias  float32     // added to levels of detail
	LevelRange *[2]float32 // minimum and maximum level of detail; nil: no bounds

	// Layers of the image in memory, or faces of a cube without layers, that are
	// visible: LayerCount from FirstLayer on; 0: all.
	FirstLayer, LayerCount int
}

// addressMode is the handling of a coordinate outside the image. The values are those
// of txq.addr_mode, in the order in which the PTX manual lists them. (Assumed: the
// manual gives no numbers.)
type addressMode uint8

const (
	modeWrap addressMode = iota
	modeMirror
	modeClampOGL // the edge; blended with the border if filtering is linear
	modeClamp
	modeBorder
)

// hostModes are the address modes of Texture, ptxModes those of initialisers.
var (
	hostModes = map[string]addressMode{"": modeClamp, "clamp": modeClamp, "wrap": modeWrap, "mirror": modeMirror, "border": modeBorder}
	ptxModes  = map[string]addressMode{"wrap": modeWrap, "mirror": modeMirror, "clamp_ogl": modeClampOGL, "clamp_to_edge": modeClamp, "clamp_to_border": modeBorder}
)

// texFormat is an element type of texels and how it is read.
type texFormat uint8

const (
	fmtU8 texFormat = iota
	fmtS8
	fmtU16
	fmtS16
	fmtU32
	fmtS32
	fmtF16
	fmtF32
	fmtU8Norm
	fmtS8Norm
	fmtU16Norm
	fmtS16Norm
)

var texFormats = map[string]texFormat{"u8": fmtU8, "s8": fmtS8, "u16": fmtU16, "s16": fmtS16, "u32": fmtU32, "s32": fmtS32, "f16": fmtF16, "f32": fmtF32}

// float reports whether the texels reach registers as f32.
func (f texFormat) float() bool { return f >= fmtF16 }

// signed reports whether the texels are signed integers, normalised or not.
func (f texFormat) signed() bool {
	switch f {
	case fmtS8, fmtS16, fmtS32, fmtS8Norm, fmtS16Norm:
		return true
	}
	return false
}

// bytes is the size of one channel.
func (f texFormat) bytes() int {
	switch f {
	case fmtU8, fmtS8, fmtU8Norm, fmtS8Norm:
		return 1
	case fmtU32, fmtS32, fmtF32:
		return 4
	}
	return 2
}

// decode reads one channel as the bits of a 32-bit register.
func (f texFormat) decode(b []byte) uint32 {
	switch f {
	case fmtU8:
		return uint32(b[0])
	case fmtS8:
		return uint32(int8(b[0]))
	case fmtU16:
		return uint32(le.Uint16(b))
	case fmtS16:
		return uint32(int16(le.Uint16(b)))
	case fmtF16:
		return num.F16ToF32(le.Uint16(b))
	case fmtU8Norm:
		return math.Float32bits(float32(b[0]) / 255)
	case fmtS8Norm:
		return math.Float32bits(max(float32(int8(b[0]))/127, -1))
	case fmtU16Norm:
		return math.Float32bits(float32(le.Uint16(b)) / 65535)
	case fmtS16Norm:
		return math.Float32bits(max(float32(int16(le.Uint16(b)))/32767, -1))
	}
	return le.Uint32(b)
}

// one is the value of an absent alpha channel.
func (f texFormat) one() uint32 {
	if f.float() {
		return 0x3f800000
	}
	return 1
}

// sampler describes how coordinates select texels.
type sampler struct {
	linear, mipLinear  bool
	normalized         bool // for a separate sampler: unless force_unnormalized_coords
	mode               [3]addressMode
	border             [4]float32
	bias               float64
	minLevel, maxLevel float64 // of detail
}

// texLevel is one mipmap level.
type texLevel struct {
	addr    uint64
	w, h, d int    // at least 1
	row     uint64 // bytes from a row to the next
	slice   uint64
	layer   uint64 // bytes from a layer or face to the next
}

// boundTex is a Texture prepared for use.
type boundTex struct {
	format   texFormat
	channels int
	size     int // bytes of a texel, one sample
	samples  int
	layers   int // six times as many for cubes
	first    int // layer in memory that is layer 0
	srgb     bool
	cube     bool
	layered  bool
	w, h, d  int // as the host gave them, 0 where absent
	levels   []texLevel
	smp      sampler
}

// texKind is the declared kind of a slot.
type texKind uint8

const (
	isTexture texKind = iota
	isSampler
	isSurface
	isObject // made by TextureObject: texture, sampler and surface in one
)

var texKindNames = [...]string{"texture reference", "sampler reference", "surface reference", "texture object"}

// texSlot is the target of a handle.
type texSlot struct {
	name  string
	kind  texKind
	bound bool // tex is set; samplers count as bound from the start
	smp   sampler
	set   initFields
	tex   boundTex
	bad   error // its initialiser is wrong
}

// initFields records which fields the program's initialiser sets.
type initFields struct {
	linear, normalized bool
	mode               [3]bool
}

// Handles are texBase+16*slot: outside all memory, and valid for 32-bit programs too.
// (Assumed; programs only pass them on.)
const texBase = 0x0800_0000

// objectBase is the first handle of objects. A program has at most maxObjects
// references, and at most as many objects exist at a time.
const (
	objectBase = texBase + 16*maxObjects
	maxObjects = 1 << 20
)

// textures holds the slots of a machine's references, and the objects.
type textures struct {
	slots   []texSlot
	byVar   map[*ptx.Var]int
	objects *Objects
}

// Objects are texture objects. Machines of several programs in one memory may share
// them: a handle is valid in all.
type Objects struct {
	Group int // handles of different groups, from 0, are different

	slots []texSlot
	free  []int // slots of destroyed objects, reused last in, first out
}

// base is the first handle.
func (o *Objects) base() uint64 { return objectBase + 16*maxObjects*uint64(o.Group) }

// UseObjects makes the machine's kernels use these texture objects instead of the
// machine's own.
func (m *Machine) UseObjects(o *Objects) { m.tex.objects = o }

// Add makes a texture object of an image in mem and returns its handle, which is also
// valid as a surface object and as a sampler.
func (o *Objects) Add(mem *device.Memory, t Texture) (uint64, error) {
	b, err := readyTexture(mem, t)
	if err != nil {
		return 0, err
	}
	n := len(o.slots)
	if k := len(o.free); k > 0 {
		n, o.free = o.free[k-1], o.free[:k-1]
	} else if n >= maxObjects {
		return 0, fmt.Errorf("there are already %d texture objects; destroy those no longer used", maxObjects)
	} else {
		o.slots = append(o.slots, texSlot{})
	}
	o.slots[n] = texSlot{name: fmt.Sprintf("texture object %d", n), kind: isObject, bound: true, smp: b.smp, tex: b}
	return o.base() + 16*uint64(n), nil
}

// Remove destroys a texture object: a kernel that uses it afterwards faults, until its
// handle is reused. It fails if there is no such object.
func (o *Objects) Remove(handle uint64) error {
	i := handle - o.base()
	if i%16 != 0 || i/16 >= uint64(len(o.slots)) || !o.slots[i/16].bound {
		return fmt.Errorf("%#x is not the handle of a texture object", handle)
	}
	s := &o.slots[i/16]
	*s = texSlot{name: s.name, kind: isObject}
	o.free = append(o.free, int(i/16))
	return nil
}

func isTexVar(v *ptx.Var) bool { return v.Type.Opaque() || v.Space == ptx.SpaceTex }

// initTextures makes a slot for every reference of the program. External
// declarations share the slot of the definition. A bad initialiser makes only
// its reference unusable.
func (m *Machine) initTextures() {
	t := &m.tex
	t.byVar, t.objects = map[*ptx.Var]int{}, &Objects{}
	add := func(v *ptx.Var) int {
		s := texSlot{name: v.Name, smp: sampler{normalized: v.Type == "samplerref", mode: [3]addressMode{modeClamp, modeClamp, modeClamp}}}
		switch v.Type {
		case "samplerref":
			s.kind, s.bound = isSampler, true
		case "surfref":
			s.kind = isSurface
		}
		t.byVar[v] = len(t.slots)
		t.slots = append(t.slots, s)
		return len(t.slots) - 1
	}
	exported := map[string]int{}
	for _, mod := range m.prog.mods {
		local := map[string]int{}
		for _, v := range mod.Vars {
			if !isTexVar(v) || v.Linkage == ptx.Extern {
				continue
			}
			i, again := local[v.Name]
			if weak, dup := exported[v.Name]; !again && dup && v.Linkage != ptx.NoLinkage {
				i, again = weak, true
			}
			if again {
				t.byVar[v] = i
			} else {
				i = add(v)
			}
			local[v.Name] = i
			if v.Linkage != ptx.NoLinkage {
				exported[v.Name] = i
			}
			if err := t.slots[i].initialise(v.Init); err != nil {
				t.slots[i].bad = fmt.Errorf("%s:%w", mod.File, err)
			}
		}
	}
	for _, mod := range m.prog.mods {
		for _, v := range mod.Vars {
			if !isTexVar(v) || v.Linkage != ptx.Extern {
				continue
			}
			if i, ok := exported[v.Name]; ok {
				t.byVar[v] = i
			} else {
				exported[v.Name] = add(v)
			}
		}
	}
	for _, k := range m.prog.kernels {
		for _, v := range k.ast.Params {
			if isTexVar(v) {
				add(v)
			}
		}
	}
}

// initialise applies the program's initialiser of a reference.
func (s *texSlot) initialise(in *ptx.Init) error {
	if in == nil {
		return nil
	}
	list := in.List
	if list == nil {
		list = []*ptx.Init{in}
	}
	for _, e := range list {
		if e.Expr == nil || e.Expr.Entry == nil {
			return fmt.Errorf("%d:%d: initialiser of %s: want fields such as filter_mode = linear", e.Pos.Line, e.Pos.Col, s.name)
		}
		f, p := e.Expr.Entry, e.Expr.Pos
		bad := func(want string) error {
			return fmt.Errorf("%d:%d: initialiser of %s: invalid %s = %s; want %s", p.Line, p.Col, s.name, f.Name, f.Value, want)
		}
		switch f.Name {
		case "filter_mode":
			if f.Value != "linear" && f.Value != "nearest" {
				return bad("nearest or linear")
			}
			s.smp.linear, s.set.linear = f.Value == "linear", true
		case "normalized_coords", "force_unnormalized_coords":
			if f.Value != "0" && f.Value != "1" {
				return bad("0 or 1")
			}
			s.smp.normalized, s.set.normalized = (f.Value == "1") == (f.Name == "normalized_coords"), true
		case "addr_mode_0", "addr_mode_1", "addr_mode_2":
			mode, ok := ptxModes[f.Value]
			if !ok {
				return bad("wrap, mirror, clamp_ogl, clamp_to_edge or clamp_to_border")
			}
			k := f.Name[len(f.Name)-1] - '0'
			s.smp.mode[k], s.set.mode[k] = mode, true
		case "width", "height", "depth", "channel_data_type", "channel_order", "array_size", "memory_layout", "num_mipmap_levels", "num_samples":
			// These come from what the host binds.
		default:
			return fmt.Errorf("%d:%d: initialiser of %s: unknown field %s", p.Line, p.Col, s.name, f.Name)
		}
	}
	return nil
}

// textureHandle is the handle of a reference at module scope.
func (im *image) textureHandle(v *ptx.Var) uint64 {
	if im.m == nil {
		return 0
	}
	i, ok := im.m.tex.byVar[v]
	if !ok {
		return 0
	}
	return texBase + 16*uint64(i)
}

// slotOf finds the target of a handle, nil if there is none.
func (t *textures) slotOf(handle uint64) *texSlot {
	i, slots := handle-texBase, t.slots
	if handle >= objectBase {
		i, slots = handle-t.objects.base(), t.objects.slots
	}
	if i%16 != 0 || i/16 >= uint64(len(slots)) {
		return nil
	}
	return &slots[i/16]
}

// HasTexture reports whether the program has a texture or surface reference of that
// name.
func (m *Machine) HasTexture(name string, surface bool) bool {
	kind := isTexture
	if surface {
		kind = isSurface
	}
	return slices.ContainsFunc(m.tex.slots, func(s texSlot) bool { return s.kind == kind && s.name == name })
}

// BindTexture binds the texture, surface or sampler references of the name, and the
// kernel parameters of these types with that name. A sampler takes only filtering and
// address modes. Zero values of filtering, address modes and normalised coordinates in
// t are replaced by those of the program's initialiser of the reference.
func (m *Machine) BindTexture(name string, t Texture) error {
	b, err := readyTexture(m.mem, t)
	if err != nil {
		return err
	}
	found := false
	for i := range m.tex.slots {
		s := &m.tex.slots[i]
		if s.name != name {
			continue
		}
		if err := s.bind(&b, &t); err != nil {
			return err
		}
		found = true
	}
	if !found {
		return fmt.Errorf("the program has no texture, surface or sampler reference %q", name)
	}
	return nil
}

// BindTextureOf is BindTexture for the reference of that name in one of the linked
// modules, numbered from 0: other modules may have their own reference of that name.
func (m *Machine) BindTextureOf(module int, name string, t Texture) error {
	if module >= 0 && module < len(m.prog.mods) {
		for _, v := range m.prog.mods[module].Vars {
			if i, ok := m.tex.byVar[v]; ok && v.Name == name {
				b, err := readyTexture(m.mem, t)
				if err != nil {
					return err
				}
				return m.tex.slots[i].bind(&b, &t)
			}
		}
	}
	return m.BindTexture(name, t)
}

// bind connects a reference to an image, or a sampler to its settings.
func (s *texSlot) bind(b *boundTex, t *Texture) error {
	if s.bad != nil {
		return s.bad
	}
	s.bound = true
	smp := b.smp
	if s.set.linear && !t.Linear {
		smp.linear = s.smp.linear
	}
	if s.set.normalized && !t.Normalized {
		smp.normalized = s.smp.normalized
	}
	for k := range smp.mode {
		if s.set.mode[k] && t.Address[k] == "" {
			smp.mode[k] = s.smp.mode[k]
		}
	}
	if s.kind == isSampler {
		smp.normalized = s.smp.normalized
		s.smp = smp
		return nil
	}
	s.tex = *b
	s.tex.smp = smp
	return nil
}

// TextureObject makes a texture object, as Objects.Add does.
func (m *Machine) TextureObject(t Texture) (uint64, error) { return m.tex.objects.Add(m.mem, t) }

// Limits of a texture. (CUDA programming guide: 2^27 texels in linear memory, 131072 in
// a row or column of an array, 16384 in depth and 2048 layers; we only require that
// sizes can be computed.)
const maxTexels = 1 << 32

// readyTexture checks a texture and computes where its parts lie.
func readyTexture(mem *device.Memory, t Texture) (boundTex, error) {
	b := boundTex{channels: t.Channels, samples: max(1, t.Samples), layers: max(1, t.Layers), cube: t.Cube, layered: t.Layers > 0, w: t.Width, h: t.Height, d: t.Depth}
	if t.Cube {
		b.layers *= 6
	}
	err := b.readTexels(&t)
	if err == nil {
		err = checkShape(&t)
	}
	if err == nil {
		err = b.readSampler(&t)
	}
	var end uint64
	if err == nil {
		end, err = b.layOut(&t)
	}
	if err == nil {
		err = b.view(&t)
	}
	if err != nil {
		return boundTex{}, err
	}
	al, ok := mem.Find(t.Addr)
	if !ok {
		return boundTex{}, fmt.Errorf("no memory is allocated at %#x, where the texture begins", t.Addr)
	}
	if end-t.Addr > al.Size-(t.Addr-al.Addr) {
		return boundTex{}, fmt.Errorf("the texture takes %d bytes from %#x on, but %v ends before that", end-t.Addr, t.Addr, al)
	}
	return b, nil
}

// normalized are the integer formats as they are read with normalised values.
var normalized = map[texFormat]texFormat{fmtU8: fmtU8Norm, fmtS8: fmtS8Norm, fmtU16: fmtU16Norm, fmtS16: fmtS16Norm}

// readTexels sets the format of the texels.
func (b *boundTex) readTexels(t *Texture) error {
	format, ok := texFormats[t.Format]
	if !ok {
		return fmt.Errorf("unknown texture format %q; want u8, s8, u16, s16, f16, u32, s32 or f32", t.Format)
	}
	if t.ReadNormalized {
		if format, ok = normalized[format]; !ok {
			return fmt.Errorf("texels of %s cannot be read as normalised floats, only 8- and 16-bit integers", t.Format)
		}
	}
	b.format = format
	if t.SRGB && format != fmtU8Norm {
		return fmt.Errorf("sRGB needs u8 texels that are read as normalised floats, not %s", t.Format)
	}
	b.srgb = t.SRGB
	if t.Linear && !format.float() {
		return fmt.Errorf("linear filtering needs texels that are read as floats, not %s", t.Format)
	}
	if t.Channels != 1 && t.Channels != 2 && t.Channels != 4 {
		return fmt.Errorf("a texel must have 1, 2 or 4 channels, not %d", t.Channels)
	}
	b.size = format.bytes() * t.Channels
	return nil
}

// checkShape checks the dimensions of a texture.
func checkShape(t *Texture) error {
	switch {
	case t.Width < 1 || t.Height < 0 || t.Depth < 0 || t.Layers < 0 || t.Levels < 0 || t.Samples < 0 || t.Pitch < 0:
		return fmt.Errorf("a texture cannot be %d by %d by %d texels with %d layers, %d levels, %d samples and a pitch of %d bytes", t.Width, t.Height, t.Depth, t.Layers, t.Levels, t.Samples, t.Pitch)
	case t.Depth > 0 && t.Height == 0:
		return errors.New("a texture with depth needs a height")
	case t.Cube && (t.Width != t.Height || t.Depth > 0):
		return fmt.Errorf("the faces of a cube must be squares, not %d by %d by %d texels", t.Width, t.Height, t.Depth)
	case t.Depth > 0 && t.Layers > 0:
		return errors.New("a texture with layers cannot have a depth")
	case t.Samples > 1 && (t.Levels > 1 || t.Cube || t.Depth > 0 || t.Linear):
		return errors.New("a multisampled texture must have two dimensions, one level and no filtering")
	}
	texels := uint64(1)
	for _, n := range []int{t.Width, t.Height, t.Depth, t.Layers, t.Samples} {
		if uint64(n) > maxTexels || texels*uint64(max(1, n)) > maxTexels {
			return fmt.Errorf("the texture has more than %d texels", uint64(maxTexels))
		}
		texels *= uint64(max(1, n))
	}
	return nil
}

// readSampler sets how coordinates select texels.
func (b *boundTex) readSampler(t *Texture) error {
	for k, a := range t.Address {
		mode, ok := hostModes[strings.ToLower(a)]
		if !ok {
			return fmt.Errorf("unknown address mode %q; want clamp, wrap, mirror or border", a)
		}
		b.smp.mode[k] = mode
	}
	b.smp.linear, b.smp.mipLinear, b.smp.normalized, b.smp.border = t.Linear, t.MipLinear, t.Normalized, t.Border
	b.smp.bias, b.smp.maxLevel = float64(t.LevelBias), math.Inf(1)
	if r := t.LevelRange; r != nil {
		b.smp.minLevel, b.smp.maxLevel = float64(r[0]), float64(r[1])
	}
	return nil
}

// layOut places the levels one after another, and returns where the last texel ends.
func (b *boundTex) layOut(t *Texture) (end uint64, err error) {
	most := bits.Len(uint(max(t.Width, t.Height, t.Depth)))
	if t.Levels > most {
		return 0, fmt.Errorf("a texture of %d by %d by %d texels has at most %d levels, not %d", t.Width, t.Height, t.Depth, most, t.Levels)
	}
	addr := t.Addr
	for l := range max(1, t.Levels) {
		lv := texLevel{addr: addr, w: max(1, t.Width>>l), h: max(1, t.Height>>l), d: max(1, t.Depth>>l)}
		lv.row = uint64(lv.w) * uint64(b.samples*b.size)
		if l == 0 && t.Pitch > 0 {
			if uint64(t.Pitch) < lv.row {
				return 0, fmt.Errorf("a pitch of %d bytes is too small for rows of %d", t.Pitch, lv.row)
			}
			lv.row = uint64(t.Pitch)
		}
		if float64(lv.row)*float64(lv.h)*float64(lv.d)*float64(b.layers) > 1<<48 {
			return 0, errors.New("the texture is larger than the address space")
		}
		lv.slice = lv.row * uint64(lv.h)
		lv.layer = lv.slice * uint64(lv.d)
		addr += lv.layer * uint64(b.layers)
		b.levels = append(b.levels, lv)
	}
	if len(b.levels) == 1 { // the last row need not extend to its pitch
		first := &b.levels[0]
		return addr - first.row + uint64(lvBytes(first, b)), nil
	}
	return addr, nil
}

// view limits the layers to those that the texture shows.
func (b *boundTex) view(t *Texture) error {
	n := t.LayerCount
	if n == 0 && t.FirstLayer == 0 {
		return nil
	}
	all := max(1, t.Layers)
	if t.Cube && t.Layers == 0 {
		all = 6
	}
	if t.FirstLayer < 0 || n < 1 || t.FirstLayer > all-n {
		return fmt.Errorf("the texture has layers 0 to %d; it does not have %d layers from %d on", all-1, n, t.FirstLayer)
	}
	per := b.layers / all
	b.first, b.layers = t.FirstLayer*per, n*per
	if b.cube && b.layers%6 != 0 {
		return fmt.Errorf("a cube must have six faces, not %d", b.layers)
	}
	return nil
}

// lvBytes is the number of bytes of a row's texels.
func lvBytes(lv *texLevel, b *boundTex) int { return lv.w * b.samples * b.size }

// texSource is how an instruction names a texture, sampler or surface.
type texSource struct {
	handle uint64 // of a reference at module scope, or a parameter's fallback
	r      ref    // register with the handle, none for a reference
	wide   bool
	param  int // offset of a kernel parameter with the handle, -1 if none
	want   texKind
	query  bool // if want is a sampler, a texture is also accepted
}

// texSource decodes the part of an operand that names a texture, sampler or
// surface.
func (d *dec) texSource(a *ptx.Operand, want texKind) (texSource, error) {
	s := texSource{r: none, param: -1, want: want}
	if a.Kind == ptx.OpAddr {
		if a.Offset != 0 || len(a.List) == 0 {
			return s, errors.New("has an offset to a texture or surface")
		}
		a = &a.List[0]
	}
	switch a.Kind {
	case ptx.OpTexAddr:
		return d.texSource(&a.List[0], want)
	case ptx.OpReg:
		r, c, t, err := d.reg(a, false)
		if err == nil && c != c64 && c != c32 {
			err = fmt.Errorf("has a texture or surface in %s, which has type .%s", a.Name, t)
		}
		s.r, s.wide = r, c == c64
		return s, err
	case ptx.OpSym:
		v := a.Var
		if v == nil || !isTexVar(v) {
			return s, fmt.Errorf("needs a texture, sampler or surface instead of %s", a.Name)
		}
		if v.Space == ptx.SpaceParam {
			if !d.ast.Entry || !isParam(d.ast, v) {
				return s, fmt.Errorf("names %s, but only kernels have parameters of type .%s", v.Name, v.Type)
			}
			for _, p := range d.im.kernel.params {
				if p.Name == v.Name {
					s.param = p.Offset
				}
			}
		}
		s.handle = d.im.textureHandle(v)
		return s, nil
	}
	return s, fmt.Errorf("needs a texture, sampler or surface instead of %q", a.Name)
}

// uniform reports whether the lanes of m all name the same thing.
func (s *texSource) uniform(w *warp, m uint32) bool {
	if s.r == none {
		return true
	}
	first := bits.TrailingZeros32(m) & 31
	if s.wide {
		h := w.u64(s.r)
		for k := m; k != 0; k &= k - 1 {
			if h[bits.TrailingZeros32(k)&31] != h[first] {
				return false
			}
		}
		return true
	}
	h := w.u32(s.r)
	for k := m; k != 0; k &= k - 1 {
		if h[bits.TrailingZeros32(k)&31] != h[first] {
			return false
		}
	}
	return true
}

// slot finds the target that lane i of an instruction names, nil after a fault. An
// unbound reference is a fault.
func (w *warp) slot(s *texSource, i int) *texSlot {
	h := s.handle
	switch {
	case s.r != none && s.wide:
		h = w.u64(s.r)[i&31]
	case s.r != none:
		h = uint64(w.u32(s.r)[i&31])
	case s.param >= 0 && s.param+8 <= len(w.blk.params):
		if p := le.Uint64(w.blk.params[s.param:]); p != 0 {
			h = p
		}
	}
	t := w.blk.im.m.tex.slotOf(h)
	switch {
	case t == nil:
		w.failf(1<<i, "%#x is not the handle of a texture, sampler or surface", h)
	case t.bad != nil:
		w.failf(1<<i, "%v", t.bad)
		return nil
	case !t.bound && t.kind == isObject:
		w.failf(1<<i, "the %s is used, but the host has destroyed it", t.name)
		return nil
	case !t.bound:
		w.failf(1<<i, "the %s %s is used, but the host has bound nothing to it", texKindNames[t.kind], t.name)
		return nil
	case s.want == isSampler && t.kind != isSampler && t.kind != isObject && !s.query,
		s.want != isSampler && t.kind == isSampler:
		w.failf(1<<i, "%s is a %s; want a %s", t.name, texKindNames[t.kind], texKindNames[s.want])
		return nil
	}
	return t
}

// texGeometry is the shape of an access.
type texGeometry struct {
	name          string
	dims          int // that locate a texel within a layer; 3 for cubes, a direction
	layer, sample int // place in the coordinates, -1 if none
	first         int // place of the first of dims
	cube          bool
}

var texGeometries = []texGeometry{
	{name: "1d", dims: 1, layer: -1, sample: -1},
	{name: "2d", dims: 2, layer: -1, sample: -1},
	{name: "3d", dims: 3, layer: -1, sample: -1},
	{name: "a1d", dims: 1, layer: 0, sample: -1, first: 1},
	{name: "a2d", dims: 2, layer: 0, sample: -1, first: 1},
	{name: "cube", dims: 3, layer: -1, sample: -1, cube: true},
	{name: "acube", dims: 3, layer: 0, sample: -1, first: 1, cube: true},
	{name: "2dms", dims: 2, layer: -1, sample: 0, first: 1},
	{name: "a2dms", dims: 2, layer: 0, sample: 1, first: 2},
}

// geometryOf finds the geometry among an instruction's modifiers.
func geometryOf(in *ptx.Inst) (texGeometry, error) {
	for _, g := range texGeometries {
		if slices.Contains(in.Mods, g.name) {
			return g, nil
		}
	}
	return texGeometry{}, errors.New("needs a geometry such as .2d")
}

// texCoords describes the coordinates of an access.
type texCoords struct {
	texGeometry
	r      [3]ref
	layerR ref
	sampR  ref
}

// coords decodes the coordinates of an access, which are of type t.
func (d *dec) coords(in *ptx.Inst, a *ptx.Operand, t ptx.Type) (texCoords, error) {
	var c texCoords
	var err error
	if c.texGeometry, err = geometryOf(in); err != nil {
		return c, err
	}
	list, err := d.texVector(a, c.first+c.dims)
	if err != nil {
		return c, err
	}
	c.layerR, c.sampR, c.r = none, none, [3]ref{none, none, none}
	for k := range c.dims {
		if c.r[k], err = d.src32(&list[c.first+k], t); err != nil {
			return c, err
		}
	}
	if c.layer >= 0 {
		if c.layerR, err = d.src32(&list[c.layer], "u32"); err != nil {
			return c, err
		}
	}
	if c.sample >= 0 {
		c.sampR, err = d.src32(&list[c.sample], "u32")
	}
	return c, err
}

// texVector lists the elements of an operand that is a vector in braces, a
// vector register or a scalar, at least n of them.
func (d *dec) texVector(a *ptx.Operand, n int) ([]ptx.Operand, error) {
	list := []ptx.Operand{*a}
	switch {
	case a.Kind == ptx.OpVec:
		list = a.List
	case a.Kind == ptx.OpReg && a.Var != nil && a.Var.Vec > 1 && a.Elem == "":
		list = nil
		for k := range min(a.Var.Vec, 4) {
			e := *a
			e.Elem = "xyzw"[k : k+1]
			list = append(list, e)
		}
	}
	if len(list) < n {
		return nil, fmt.Errorf("needs %d elements, not %d", n, len(list))
	}
	return list, nil
}

// texParts splits the operand [texture, {coordinates}] or [texture, sampler,
// {coordinates}].
func texParts(a *ptx.Operand) (tex, smp, coords *ptx.Operand, err error) {
	if a.Kind == ptx.OpTexAddr {
		switch l := a.List; len(l) {
		case 2:
			return &l[0], nil, &l[1], nil
		case 3:
			return &l[0], &l[1], &l[2], nil
		}
	}
	return nil, nil, nil, errors.New("needs an operand of the form [texture, {coordinates}]")
}
