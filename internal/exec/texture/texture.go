package texture

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strings"

	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/exec/num"
)

// This file: textures, how they lie in memory, and the formats of texels.

var le = binary.LittleEndian

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

// Mode is the handling of a coordinate outside the image. The values are those
// of txq.addr_mode, in the order in which the PTX manual lists them. (Assumed: the
// manual gives no numbers.)
type Mode uint8

const (
	Wrap Mode = iota
	Mirror
	ClampOGL // the edge; blended with the border if filtering is linear
	Clamp
	Border
)

// hostModes are the address modes of Texture.
var hostModes = map[string]Mode{"": Clamp, "clamp": Clamp, "wrap": Wrap, "mirror": Mirror, "border": Border}

// Format is an element type of texels and how it is read.
type Format uint8

const (
	fmtU8 Format = iota
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

var formats = map[string]Format{"u8": fmtU8, "s8": fmtS8, "u16": fmtU16, "s16": fmtS16, "u32": fmtU32, "s32": fmtS32, "f16": fmtF16, "f32": fmtF32}

// Float reports whether the texels reach registers as f32.
func (f Format) Float() bool { return f >= fmtF16 }

// Signed reports whether the texels are signed integers, normalised or not.
func (f Format) Signed() bool {
	switch f {
	case fmtS8, fmtS16, fmtS32, fmtS8Norm, fmtS16Norm:
		return true
	}
	return false
}

// Bytes is the size of one channel.
func (f Format) Bytes() int {
	switch f {
	case fmtU8, fmtS8, fmtU8Norm, fmtS8Norm:
		return 1
	case fmtU32, fmtS32, fmtF32:
		return 4
	}
	return 2
}

// decode reads one channel as the bits of a 32-bit register.
func (f Format) decode(b []byte) uint32 {
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
func (f Format) one() uint32 {
	if f.Float() {
		return 0x3f800000
	}
	return 1
}

// sampler describes how coordinates select texels.
type Sampler struct {
	linear, mipLinear  bool
	normalized         bool // for a separate sampler: unless force_unnormalized_coords
	mode               [3]Mode
	border             [4]float32
	bias               float64
	minLevel, maxLevel float64 // of detail
}

// level is one mipmap level.
type level struct {
	addr    uint64
	w, h, d int    // at least 1
	row     uint64 // bytes from a row to the next
	slice   uint64
	layer   uint64 // bytes from a layer or face to the next
}

// image is a Texture prepared for use.
type image struct {
	format   Format
	channels int
	size     int // bytes of a texel, one sample
	samples  int
	layers   int // six times as many for cubes
	first    int // layer in memory that is layer 0
	srgb     bool
	cube     bool
	layered  bool
	w, h, d  int // as the host gave them, 0 where absent
	levels   []level
	smp      Sampler
}

// Limits of a texture. (CUDA programming guide: 2^27 texels in linear memory, 131072 in
// a row or column of an array, 16384 in depth and 2048 layers; we only require that
// sizes can be computed.)
const maxTexels = 1 << 32

// ready checks a texture and computes where its parts lie.
func ready(mem *device.Memory, t Texture) (image, error) {
	b := image{channels: t.Channels, samples: max(1, t.Samples), layers: max(1, t.Layers), cube: t.Cube, layered: t.Layers > 0, w: t.Width, h: t.Height, d: t.Depth}
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
		return image{}, err
	}
	al, ok := mem.Find(t.Addr)
	if !ok {
		return image{}, fmt.Errorf("no memory is allocated at %#x, where the texture begins", t.Addr)
	}
	if end-t.Addr > al.Size-(t.Addr-al.Addr) {
		return image{}, fmt.Errorf("the texture takes %d bytes from %#x on, but %v ends before that", end-t.Addr, t.Addr, al)
	}
	return b, nil
}

// normalized are the integer formats as they are read with normalised values.
var normalized = map[Format]Format{fmtU8: fmtU8Norm, fmtS8: fmtS8Norm, fmtU16: fmtU16Norm, fmtS16: fmtS16Norm}

// readTexels sets the format of the texels.
func (b *image) readTexels(t *Texture) error {
	format, ok := formats[t.Format]
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
	if t.Linear && !format.Float() {
		return fmt.Errorf("linear filtering needs texels that are read as floats, not %s", t.Format)
	}
	if t.Channels != 1 && t.Channels != 2 && t.Channels != 4 {
		return fmt.Errorf("a texel must have 1, 2 or 4 channels, not %d", t.Channels)
	}
	b.size = format.Bytes() * t.Channels
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
func (b *image) readSampler(t *Texture) error {
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
func (b *image) layOut(t *Texture) (end uint64, err error) {
	most := bits.Len(uint(max(t.Width, t.Height, t.Depth)))
	if t.Levels > most {
		return 0, fmt.Errorf("a texture of %d by %d by %d texels has at most %d levels, not %d", t.Width, t.Height, t.Depth, most, t.Levels)
	}
	addr := t.Addr
	for l := range max(1, t.Levels) {
		lv := level{addr: addr, w: max(1, t.Width>>l), h: max(1, t.Height>>l), d: max(1, t.Depth>>l)}
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
func (b *image) view(t *Texture) error {
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
func lvBytes(lv *level, b *image) int { return lv.w * b.samples * b.size }
