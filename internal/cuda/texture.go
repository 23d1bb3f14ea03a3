package cuda

import (
	"fmt"
	"math"

	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
)

// Channel describes a texel (cudaChannelFormatDesc): the bits of each component,
// and what they are.
type Channel struct {
	Bits [4]int32 // 0: the component is not there
	Kind int32    // 0 signed, 1 unsigned, 2 float
}

// texel returns the format of a texel's components, their number, and the bytes
// of all; false for texels that no texture can have.
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
	ReadNormalized bool     // integers are read as fractions
	Address        [3]int32 // 0 wrap, 1 clamp, 2 mirror, 3 border, by dimension
}

// texture returns what the executor wants to know, but the place.
func (s *Sampling) texture(c Channel) (t xptx.Texture, texel uint64, err Error) {
	format, n, texel, ok := c.texel()
	if !ok {
		return t, 0, InvalidChannel
	}
	t = xptx.Texture{Format: format, Channels: n, Linear: s.Linear, Normalized: s.Normalized, ReadNormalized: s.ReadNormalized}
	for i, a := range s.Address {
		if a < 0 || a > 3 {
			return t, 0, InvalidValue
		}
		t.Address[i] = [...]string{"wrap", "clamp", "mirror", "border"}[a]
	}
	return t, texel, Success
}

// Array is an image in device memory whose rows follow each other closely.
type Array struct {
	Channel              Channel
	Width, Height, Depth uint64 // texels; Height and Depth are 0 where the image has fewer dimensions
	Flags                uint32
	addr, texel          uint64
}

// maxExtent bounds the sides of an array (CUDA programming guide, table of
// technical specifications: 131072 texels of a one- or two-dimensional one).
const maxExtent = 131072

// MallocArray makes an array. The addresses of its texels are ArrayPlace's.
func (t *Thread) MallocArray(c Channel, width, height, depth uint64, flags uint32) (h uint64, err Error) {
	err = t.do(func(r *Runtime) Error {
		_, _, texel, ok := c.texel()
		switch {
		case !ok:
			return InvalidChannel
		case width == 0 || width > maxExtent || height > maxExtent || depth > maxExtent || depth > 0 && height == 0:
			return InvalidValue
		case flags&^surfaceStore != 0: // layers, cubes and gathering
			r.once("layers", "arrays with layers or faces are not supported (cudaMalloc3DArray, flags %#x)", flags)
			return NotSupported
		}
		addr, e := r.mem.Alloc(width*max(1, height)*max(1, depth)*texel, fmt.Sprintf("cudaMallocArray(%d,%d,%d)", width, height, depth))
		if e != nil {
			return MemoryAllocation
		}
		h = r.handle()
		r.arrays[h] = &Array{Channel: c, Width: width, Height: height, Depth: depth, Flags: flags, addr: addr, texel: texel}
		return Success
	})
	return h, err
}

// surfaceStore is cudaArraySurfaceLoadStore.
const surfaceStore = 2

// FreeArray releases an array; it waits for all work.
func (t *Thread) FreeArray(h uint64) Error {
	return t.do(func(r *Runtime) Error {
		if h == 0 {
			return Success
		}
		a := r.arrays[h]
		if a == nil {
			return InvalidHandle
		}
		if err := r.finish(); err != Success {
			return err
		}
		delete(r.arrays, h)
		if r.mem.Free(a.addr) != nil {
			return Unknown
		}
		return Success
	})
}

// Array returns what an array was made with.
func (t *Thread) Array(h uint64) (a Array, err Error) {
	err = t.do(func(r *Runtime) Error {
		if r.arrays[h] == nil {
			return InvalidHandle
		}
		a = *r.arrays[h]
		return Success
	})
	return a, err
}

// Place returns the address of a byte of an array, the bytes of a row, and those
// of a plane. It is an error if n bytes from there on are not all in the array.
func (a *Array) Place(x, y, z, n uint64) (addr, row, plane uint64, err Error) {
	row = a.Width * a.texel
	plane = row * max(1, a.Height)
	all := plane * max(1, a.Depth)
	if x >= row || y >= max(1, a.Height) || z >= max(1, a.Depth) {
		return 0, 0, 0, InvalidValue
	}
	at := x + y*row + z*plane
	if n > all-at {
		return 0, 0, 0, InvalidValue
	}
	return a.addr + at, row, plane, Success
}

// Texel returns the bytes of a texel.
func (a *Array) Texel() uint64 { return a.texel }

// reference is a texture at file scope, by the address of the program's
// textureReference.
type reference struct {
	module *module
	name   string
	norm   bool // integers are read as fractions
}

// RegisterTexture says which texture of the device a textureReference at an
// address of the host stands for, and whether it reads integers as fractions.
func (r *Runtime) RegisterTexture(handle, host uint64, name string, norm bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m := r.module(handle); m != nil {
		r.textures[host] = &reference{m, name, norm}
	}
}

// Image is where the texels of a texture are: in an array, or in device memory.
type Image struct {
	Array         uint64 // a handle, 0: device memory
	Addr          uint64
	Channel       Channel // of device memory
	Width, Height uint64  // texels; Height is 0 for a row
	Pitch         uint64  // bytes from row to row
	Bytes         uint64  // of a row that gives no Width; what is beyond the allocation does not count
}

// image completes a texture with the place of its texels.
func (r *Runtime) image(i Image, s Sampling) (t xptx.Texture, err Error) {
	if i.Array != 0 {
		a := r.arrays[i.Array]
		if a == nil {
			return t, InvalidHandle
		}
		t, _, err = s.texture(a.Channel)
		t.Addr, t.Width, t.Height, t.Depth = a.addr, int(a.Width), int(a.Height), int(a.Depth)
		return t, err
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

// Bind lets a texture at file scope read an image. It waits for all work, which
// may still read another.
func (t *Thread) Bind(host uint64, i Image, s Sampling) Error {
	return t.do(func(r *Runtime) Error {
		ref := r.textures[host]
		if ref == nil {
			return InvalidTexture
		}
		if err := r.load(ref.module); err != Success {
			return err
		}
		s.ReadNormalized = ref.norm
		tex, err := r.image(i, s)
		if err != Success {
			return err
		}
		if err := r.finish(); err != Success {
			return err
		}
		if e := ref.module.machine.PTX().BindTexture(ref.name, tex); e != nil {
			r.say("texture %s: %v", ref.name, e)
			return InvalidValue
		}
		return Success
	})
}

// Unbind ends a binding; what it was stays readable until another one.
func (t *Thread) Unbind(host uint64) Error {
	return t.do(func(r *Runtime) Error {
		if r.textures[host] == nil {
			return InvalidTexture
		}
		return Success
	})
}

// TextureObject makes a texture object, which is also good as a surface object.
func (t *Thread) TextureObject(i Image, s Sampling) (h uint64, err Error) {
	err = t.do(func(r *Runtime) Error {
		tex, err := r.image(i, s)
		if err != Success {
			return err
		}
		// Kernels of every module may read it: its number must be the same in all.
		for _, m := range r.modules {
			if m.gone || r.load(m) != Success {
				continue
			}
			n, e := m.machine.PTX().TextureObject(tex)
			switch {
			case e != nil:
				r.say("texture object: %v", e)
				return InvalidValue
			case h != 0 && n != h:
				r.once("objects", "texture objects in a program of several modules, some with texture references, are not supported")
				return NotSupported
			}
			h = n
		}
		if h == 0 {
			return InvalidValue
		}
		return Success
	})
	return h, err
}

// FreeTextureObject ends a texture object.
func (t *Thread) FreeTextureObject(h uint64) Error {
	return t.do(func(*Runtime) Error { return Success })
}
