package cuda

import (
	"fmt"
	"math"
	"strings"

	"github.com/heddle-sim/heddle/internal/exec/texture"
)

// Channel describes a texel (cudaChannelFormatDesc): the bits of each component and their
// kind.
type Channel struct {
	Bits [4]int32 // 0: no such component
	Kind int32    // 0 signed, 1 unsigned, 2 float
}

// texel returns the format of a texel's components, their number and total bytes; false
// for texels that no texture can have.
func (c Channel) texel() (format string, components int, bytes uint64, ok bool) {
	for components < 4 && c.Bits[components] > 0 {
		if c.Bits[components] != c.Bits[0] {
			return "", 0, 0, false
		}
		components++
	}
	for _, b := range c.Bits[components:] {
		if b != 0 {
			return "", 0, 0, false
		}
	}
	letter := map[int32]string{0: "s", 1: "u", 2: "f"}[c.Kind]
	switch {
	case letter == "" || components == 0 || components == 3:
		return "", 0, 0, false
	case c.Bits[0] == 8 && letter != "f", c.Bits[0] == 16, c.Bits[0] == 32:
		return fmt.Sprintf("%s%d", letter, c.Bits[0]), components, uint64(components) * uint64(c.Bits[0]) / 8, true
	}
	return "", 0, 0, false
}

// Sampling is how a texture is read: the settings of a textureReference or of a
// cudaTextureDesc.
type Sampling struct {
	Normalized     bool     // coordinates are in [0, 1)
	Linear         bool     // interpolate
	ReadNormalized bool     // integers of 8 and 16 bits are read as fractions
	Address        [3]int32 // 0 wrap, 1 clamp, 2 mirror, 3 border, by dimension
	SRGB           bool     // bytes read as fractions are sRGB
	Border         [4]float32
	MaxAnisotropy  uint32  // has no effect
	MipLinear      bool    // blend the levels of a mipmap
	LevelBias      float32 // added to the level of detail
	MinLevel       float32 // least level of detail
	MaxLevel       float32 // greatest level of detail
	NoTrilinear    bool    // has no effect
	Seamless       bool    // is not supported
}

// Image is where the texels of a texture are: in an array, in a mipmapped array,
// or in device memory.
type Image struct {
	Array         uint64  // a handle
	Mipmap        uint64  // a handle
	Addr          uint64  // if neither is given
	Channel       Channel // of device memory
	Width, Height uint64  // texels; Height is 0 for a row
	Pitch         uint64  // bytes from row to row
	Bytes         uint64  // of a row without Width; bytes beyond the allocation do not count
}

// View is a part of an array, or its texels reinterpreted (cudaResourceViewDesc).
type View struct {
	Format                int32 // cudaResourceViewFormat, 0: the array's own
	Width, Height, Depth  uint64
	FirstLevel, LastLevel uint32
	FirstLayer, LastLayer uint32
}

// viewFormats are the texels of views, by cudaResourceViewFormat from 1 on; later formats
// are compressed.
var viewFormats = func() (list []Channel) {
	add := func(bits, kind int32) {
		for _, n := range []int{1, 2, 4} {
			c := Channel{Kind: kind}
			for i := range n {
				c.Bits[i] = bits
			}
			list = append(list, c)
		}
	}
	for _, bits := range []int32{8, 16, 32} {
		add(bits, 1)
		add(bits, 0)
	}
	add(16, 2)
	add(32, 2)
	return list
}()

// texture returns the executor's description of texels and their sampling, without their
// address.
func (s *Sampling) texture(c Channel) (t texture.Texture, texel uint64, err Error) {
	format, n, texel, ok := c.texel()
	if !ok {
		return t, 0, InvalidChannel
	}
	t = texture.Texture{Format: format, Channels: n, Linear: s.Linear, Normalized: s.Normalized, Border: s.Border,
		ReadNormalized: s.ReadNormalized && c.Kind != 2 && c.Bits[0] < 32}
	t.SRGB = s.SRGB && t.ReadNormalized && format == "u8"
	for i, a := range s.Address {
		if a < 0 || a > 3 {
			return t, 0, InvalidValue
		}
		t.Address[i] = [...]string{"wrap", "clamp", "mirror", "border"}[a]
	}
	return t, texel, Success
}

// image returns a texture with the address of its texels.
func (r *Runtime) image(i Image, s Sampling, v *View) (t texture.Texture, err Error) {
	switch {
	case s.Seamless:
		r.once("seamless", "cube maps with seamless faces (seamlessCubemap) are not supported")
		return t, NotSupported
	case i.Array != 0 || i.Mipmap != 0:
		t, err = r.arrayImage(i, s, v)
	case v != nil:
		return t, InvalidValue // only arrays have views
	default:
		t, err = r.memoryImage(i, s)
	}
	if err == Success && t.Linear && t.Format[0] != 'f' && !t.ReadNormalized {
		err = InvalidFilter
	}
	return t, err
}

// arrayImage is image for an array or a mipmap.
func (r *Runtime) arrayImage(i Image, s Sampling, v *View) (t texture.Texture, err Error) {
	a := r.arrays[i.Array]
	m := r.mipmaps[i.Mipmap]
	levels := 1
	switch {
	case i.Mipmap != 0 && m == nil, i.Mipmap == 0 && a == nil:
		return t, InvalidHandle
	case m != nil:
		if !s.Normalized { // required by the driver API (cuTexObjectCreate)
			return t, InvalidValue
		}
		a, levels = &m.Array, len(m.Levels)
	}
	c, width, height, depth, addr, first := a.Channel, a.Width, a.Height, a.Depth, a.addr, 0
	if v != nil {
		last := 0
		if m != nil {
			first, last = int(v.FirstLevel), int(v.LastLevel)
		}
		if v.FirstLevel > v.LastLevel || last >= levels {
			return t, InvalidValue
		}
		if m != nil {
			width, height, depth = m.levelSize(first)
			addr, levels = r.arrays[m.Levels[first]].addr, last-first+1
		}
		if v.Format != 0 {
			if v.Format < 0 || int(v.Format) > len(viewFormats) {
				r.once("view", "views of compressed texels (cudaResourceViewDesc, format %#x) are not supported", v.Format)
				return t, NotSupported
			}
			c = viewFormats[v.Format-1]
		}
	}
	t, texel, err := s.texture(c)
	if err != Success {
		return t, err
	}
	layers, cube := a.layers()
	t.Addr, t.Width, t.Height, t.Cube, t.Levels, t.Layers = addr, int(width), int(height), cube, levels, int(layers)
	if layers == 0 && !cube {
		t.Depth = int(depth)
	}
	t.MipLinear, t.LevelBias = s.MipLinear, s.LevelBias
	if m != nil {
		t.LevelRange = &[2]float32{s.MinLevel, s.MaxLevel}
	}
	if v == nil {
		return t, Success
	}
	// The new texels must have the same size and number.
	if texel != a.texel || v.Width != 0 && v.Width != width || v.Height != 0 && v.Height != height ||
		v.Depth != 0 && layers == 0 && !cube && v.Depth != depth || v.FirstLayer > v.LastLayer {
		return t, InvalidValue
	}
	if v.LastLayer > 0 {
		n := max(1, int(layers))
		if cube { // a view counts faces, not cubes
			n *= 6
		}
		first, count := int(v.FirstLayer), int(v.LastLayer)-int(v.FirstLayer)+1
		if int64(v.LastLayer) >= int64(n) || cube && (first%6 != 0 || count%6 != 0) {
			return t, InvalidValue
		}
		if cube && layers > 0 {
			first, count = first/6, count/6
		}
		t.FirstLayer, t.LayerCount = first, count
	}
	return t, Success
}

// memoryImage is image for device memory. A row of texels is fetched by index: there is
// no filtering and no normalized coordinates.
func (r *Runtime) memoryImage(i Image, s Sampling) (t texture.Texture, err Error) {
	if i.Height == 0 {
		s.Linear, s.Normalized = false, false
	}
	t, texel, err := s.texture(i.Channel)
	if err != Success {
		return t, err
	}
	a, ok := r.mem.Find(i.Addr)
	if !ok || a.Freed || !a.Contains(i.Addr) {
		return t, InvalidValue
	}
	left := a.Size - (i.Addr - a.Addr)
	width := i.Width
	if width == 0 {
		width = min(i.Bytes, left) / texel
	}
	if width == 0 || width > math.MaxInt32 || i.Height > maxExtent || i.Pitch > math.MaxInt32 {
		return t, InvalidValue
	}
	if i.Height > 0 && (i.Pitch < width*texel || (i.Height-1)*i.Pitch+width*texel > left) {
		return t, InvalidValue
	}
	t.Addr, t.Width, t.Height = i.Addr, int(width), int(i.Height)
	if i.Height > 0 {
		t.Pitch = int(i.Pitch)
	}
	return t, Success
}

// object is a texture or surface object.
type object struct {
	on       *Runtime
	image    Image
	sampling Sampling
	view     *View // or nil
	surface  bool
}

// TextureObject makes a texture object; with a nil view it covers the whole image.
func (t *Thread) TextureObject(i Image, s Sampling, view *View) (h uint64, err Error) {
	err = t.do(func(r *Runtime) (e Error) {
		if view != nil {
			v := *view
			view = &v
		}
		h, e = r.addObject(object{image: i, sampling: s, view: view})
		return e
	})
	return h, err
}

// SurfaceObject makes a surface object of an array that permits it.
func (t *Thread) SurfaceObject(array uint64) (h uint64, err Error) {
	err = t.do(func(r *Runtime) (e Error) {
		if e := r.surfaceArray(array); e != Success {
			return e
		}
		h, e = r.addObject(object{image: Image{Array: array}, surface: true})
		return e
	})
	return h, err
}

// surfaceArray returns an error unless an array permits surfaces.
func (r *Runtime) surfaceArray(h uint64) Error {
	a := r.arrays[h]
	switch {
	case a == nil:
		return InvalidHandle
	case a.Flags&arraySurface == 0:
		r.once("surface", "a surface needs an array with the flag cudaArraySurfaceLoadStore")
		return InvalidValue
	}
	return Success
}

func (r *Runtime) addObject(o object) (uint64, Error) {
	tex, err := r.image(o.image, o.sampling, o.view)
	if err != Success {
		return 0, err
	}
	h, e := r.texels.Add(r.mem, tex)
	if e != nil {
		r.say("texture object: %v", e)
		return 0, InvalidValue
	}
	o.on = r
	r.objects[h] = &o
	return h, Success
}

// object returns a texture or surface object of any device.
func (a *app) object(h uint64) *object {
	for _, d := range a.devices {
		if o := d.objects[h]; o != nil {
			return o
		}
	}
	return nil
}

// FreeObject destroys a texture or surface object; earlier work may still use it. Freeing
// object 0 has no effect.
func (t *Thread) FreeObject(h uint64, surface bool) Error {
	return t.do(func(r *Runtime) Error {
		o := r.object(h)
		switch {
		case h == 0:
			return Success
		case o == nil || o.surface != surface:
			return InvalidValue
		}
		r = o.on
		delete(r.objects, h)
		r.afterwards(func() {
			if err := r.texels.Remove(h); err != nil {
				r.say("%v", err)
			}
		})
		return Success
	})
}

// Object returns the parameters of a texture or surface object; view is nil if there is
// none.
func (t *Thread) Object(h uint64, surface bool) (i Image, s Sampling, view *View, err Error) {
	err = t.do(func(r *Runtime) Error {
		o := r.object(h)
		if o == nil || o.surface != surface {
			return InvalidValue
		}
		i, s, view = o.image, o.sampling, o.view
		return Success
	})
	return i, s, view, err
}

// reference is a texture or surface at file scope, identified by the address of the
// program's textureReference or surfaceReference.
type reference struct {
	module  *module
	part    int // of the module
	name    string
	norm    bool // read integers as fractions
	surface bool
	bound   [MaxDevices]bool // by device
}

// symbol returns the name in the module of a texture or surface as nvcc registers it: qualified,
// after a "::" (seen in Debian's MAGMA 2.6.2, CUDA 11.8). Modules have names as C++'s ABI for
// Itanium mangles them, which names at file scope are without a change.
func symbol(name string) string {
	name, found := strings.CutPrefix(name, "::")
	if !found || !strings.Contains(name, "::") {
		return name
	}
	var b strings.Builder
	b.WriteString("_ZN")
	for part := range strings.SplitSeq(name, "::") {
		fmt.Fprintf(&b, "%d%s", len(part), part)
	}
	b.WriteString("E")
	return b.String()
}

// RegisterTexture registers the device texture of a textureReference at a host address,
// and whether it reads integers as fractions.
func (r *Runtime) RegisterTexture(handle, host uint64, name string, norm bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m := r.module(handle); m != nil {
		r.textures[host] = &reference{module: m, part: partOf(handle), name: symbol(name), norm: norm}
	}
}

// RegisterSurface registers the device surface of a surfaceReference.
func (r *Runtime) RegisterSurface(handle, host uint64, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m := r.module(handle); m != nil {
		r.textures[host] = &reference{module: m, part: partOf(handle), name: symbol(name), surface: true}
	}
}

// reference returns the texture or surface at an address.
func (r *Runtime) reference(host uint64, surface bool) (*reference, Error) {
	ref := r.textures[host]
	switch {
	case ref != nil && ref.surface == surface:
		return ref, Success
	case surface:
		return nil, InvalidSurface
	}
	return nil, InvalidTexture
}

// Reference returns an error unless there is a texture or surface reference at a host
// address.
func (t *Thread) Reference(host uint64, surface bool) Error {
	return t.do(func(r *Runtime) Error {
		_, err := r.reference(host, surface)
		return err
	})
}

// Bound returns an error unless a texture at file scope is bound.
func (t *Thread) Bound(host uint64) Error {
	return t.do(func(r *Runtime) Error {
		ref, err := r.reference(host, false)
		if err == Success && !ref.bound[r.number] {
			err = InvalidTextureBinding
		}
		return err
	})
}

// Bind binds an image to a texture at file scope. It waits for all work, which may still
// use the previous binding.
func (t *Thread) Bind(host uint64, i Image, s Sampling) Error {
	return t.do(func(r *Runtime) Error {
		ref, err := r.reference(host, false)
		if err != Success {
			return err
		}
		s.ReadNormalized = ref.norm
		return r.bind(ref, i, s)
	})
}

// BindSurface binds an array to a surface at file scope. It waits for all work.
func (t *Thread) BindSurface(host, array uint64) Error {
	return t.do(func(r *Runtime) Error {
		ref, err := r.reference(host, true)
		if err != Success {
			return err
		}
		if err := r.surfaceArray(array); err != Success {
			return err
		}
		return r.bind(ref, Image{Array: array}, Sampling{})
	})
}

func (r *Runtime) bind(ref *reference, i Image, s Sampling) Error {
	if err := r.load(ref.module); err != Success {
		return err
	}
	tex, err := r.image(i, s, nil)
	if err != Success {
		return err
	}
	if err := r.finish(); err != Success {
		return err
	}
	if e := ref.module.machine[r.number].BindTextureOf(ref.part, ref.name, tex); e != nil {
		r.say("texture %s: %v", ref.name, e)
		return InvalidValue
	}
	ref.bound[r.number] = true
	return Success
}

// Unbind ends a binding; kernels can read the image until the next binding.
func (t *Thread) Unbind(host uint64) Error {
	return t.do(func(r *Runtime) Error {
		ref, err := r.reference(host, false)
		if err == Success {
			ref.bound[r.number] = false
		}
		return err
	})
}
