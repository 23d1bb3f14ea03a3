package cuda

import (
	"fmt"
	"math/bits"
)

// Flags of arrays (cudaArray…).
const (
	arrayLayered = 1
	arraySurface = 2
	arrayCubemap = 4
	arrayGather  = 8
	arrayFlags   = arrayLayered | arraySurface | arrayCubemap | arrayGather
)

// Array is an image in device memory: contiguous rows, then planes, layers or faces.
type Array struct {
	on                   *Runtime
	Channel              Channel
	Width, Height, Depth uint64 // texels; 0 for dimensions that the image lacks; Depth also counts layers and faces
	Flags                uint32
	addr, texel          uint64
	level                bool // one level of a mipmap, which owns it
}

// Mipmap is a mipmapped array: an image and smaller ones, each with half the texels of
// the previous one in every dimension, but at least one.
type Mipmap struct {
	Array            // of the first level
	Levels  []uint64 // handles of the levels' arrays
	layered bool     // Depth counts layers, and every level has all of them
}

// Bounds of an array's sides (CUDA programming guide, table of technical
// specifications: 131072 texels of a one- or two-dimensional one, 2048 layers).
const (
	maxExtent = 131072
	maxLayers = 2048
)

// arrayShape returns an error unless an array can have these sides.
func arrayShape(c Channel, width, height, depth uint64, flags uint32) Error {
	_, _, _, ok := c.texel()
	layered, cube := flags&arrayLayered != 0, flags&arrayCubemap != 0
	switch {
	case !ok:
		return InvalidChannel
	case flags&^arrayFlags != 0, width == 0 || width > maxExtent || height > maxExtent || depth > maxExtent,
		layered && (depth == 0 || depth > maxLayers),
		cube && (width != height || depth%6 != 0 || depth == 0 || !layered && depth != 6),
		!layered && !cube && depth > 0 && height == 0,
		flags&arrayGather != 0 && (height == 0 || cube || depth > 0 && !layered): // two dimensions only
		return InvalidValue
	}
	return Success
}

// shrunk returns the length of a side at a level.
func shrunk(n uint64, level int) uint64 {
	if n == 0 {
		return 0
	}
	return max(1, n>>level)
}

// levelSize returns the sides of a level.
func (m *Mipmap) levelSize(level int) (width, height, depth uint64) {
	width, height, depth = shrunk(m.Width, level), shrunk(m.Height, level), m.Depth
	if !m.layered {
		depth = shrunk(depth, level)
	}
	return width, height, depth
}

// MallocArray makes an array.
func (t *Thread) MallocArray(c Channel, width, height, depth uint64, flags uint32) (h uint64, err Error) {
	err = t.do(func(r *Runtime) Error {
		if err := arrayShape(c, width, height, depth, flags); err != Success {
			return err
		}
		_, _, texel, _ := c.texel()
		addr, e := r.mem.Alloc(width*max(1, height)*max(1, depth)*texel, fmt.Sprintf("cudaMallocArray(%d,%d,%d)", width, height, depth))
		if e != nil {
			return MemoryAllocation
		}
		r.tellMemory(nil, &MemoryDetail{Addr: addr, Bytes: width * max(1, height) * max(1, depth) * texel, Kind: ArrayKind})
		h = r.handle()
		r.arrays[h] = &Array{on: r, Channel: c, Width: width, Height: height, Depth: depth, Flags: flags, addr: addr, texel: texel}
		return Success
	})
	return h, err
}

// MallocMipmap makes a mipmapped array; the number of levels is limited to what the array
// can have.
func (t *Thread) MallocMipmap(c Channel, width, height, depth uint64, levels int, flags uint32) (h uint64, err Error) {
	err = t.do(func(r *Runtime) Error {
		if err := arrayShape(c, width, height, depth, flags); err != Success {
			return err
		}
		_, _, texel, _ := c.texel()
		m := &Mipmap{Array: Array{on: r, Channel: c, Width: width, Height: height, Depth: depth, Flags: flags, texel: texel},
			layered: flags&(arrayLayered|arrayCubemap) != 0}
		longest := max(width, height)
		if !m.layered {
			longest = max(longest, depth)
		}
		levels = max(1, min(levels, bits.Len64(longest)))
		var size uint64
		for l := range levels {
			w, h, d := m.levelSize(l)
			size += w * max(1, h) * max(1, d) * texel
		}
		addr, e := r.mem.Alloc(size, fmt.Sprintf("cudaMallocMipmappedArray(%d,%d,%d)", width, height, depth))
		if e != nil {
			return MemoryAllocation
		}
		m.addr = addr
		r.tellMemory(nil, &MemoryDetail{Addr: addr, Bytes: size, Kind: ArrayKind})
		for l := range levels {
			a := m.Array
			a.Width, a.Height, a.Depth = m.levelSize(l)
			a.addr, a.level = addr, true
			addr += a.bytes()
			n := r.handle()
			r.arrays[n] = &a
			m.Levels = append(m.Levels, n)
		}
		h = r.handle()
		r.mipmaps[h] = m
		return Success
	})
	return h, err
}

// FreeArray releases an array; it waits for all work. It refuses levels of a mipmap.
func (t *Thread) FreeArray(h uint64) Error {
	return t.do(func(r *Runtime) Error {
		if h == 0 {
			return Success
		}
		a := r.arrays[h]
		if a == nil || a.level {
			return InvalidHandle
		}
		if err := a.on.finishAll(); err != Success {
			return err
		}
		delete(r.arrays, h)
		r.tellWait(nil, 0)
		r.tellMemory(nil, &MemoryDetail{Free: true, Addr: a.addr, Bytes: a.bytes(), Kind: ArrayKind})
		if a.on.mem.Free(a.addr) != nil {
			return Unknown
		}
		return Success
	})
}

// FreeMipmap releases a mipmapped array and its levels; it waits for all work.
func (t *Thread) FreeMipmap(h uint64) Error {
	return t.do(func(r *Runtime) Error {
		if h == 0 {
			return Success
		}
		m := r.mipmaps[h]
		if m == nil {
			return InvalidHandle
		}
		if err := m.on.finishAll(); err != Success {
			return err
		}
		delete(r.mipmaps, h)
		for _, l := range m.Levels {
			delete(r.arrays, l)
		}
		r.tellWait(nil, 0)
		r.tellMemory(nil, &MemoryDetail{Free: true, Addr: m.addr, Bytes: m.bytes(), Kind: ArrayKind})
		if m.on.mem.Free(m.addr) != nil {
			return Unknown
		}
		return Success
	})
}

// Array returns the description with which an array was made.
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

// Level returns the array of a mipmap's level.
func (t *Thread) Level(mipmap uint64, level uint32) (h uint64, err Error) {
	err = t.do(func(r *Runtime) Error {
		m := r.mipmaps[mipmap]
		switch {
		case m == nil:
			return InvalidHandle
		case uint64(level) >= uint64(len(m.Levels)):
			return InvalidValue
		}
		h = m.Levels[level]
		return Success
	})
	return h, err
}

// layers returns the number of layers, 0 if the image has none, and whether each is a
// cube of six faces.
func (a *Array) layers() (layers uint64, cube bool) {
	cube = a.Flags&arrayCubemap != 0
	switch {
	case a.Flags&arrayLayered == 0:
		return 0, cube
	case cube:
		return a.Depth / 6, true
	}
	return a.Depth, false
}

// bytes returns the size of an array.
func (a *Array) bytes() uint64 { return a.Width * max(1, a.Height) * max(1, a.Depth) * a.texel }

// Place returns the address of a byte of an array, the bytes of a row, and those of a
// plane, layer or face. It is an error if the n bytes from there on exceed the array.
func (a *Array) Place(x, y, z, n uint64) (addr, row, plane uint64, err Error) {
	row = a.Width * a.texel
	plane = row * max(1, a.Height)
	if x >= row || y >= max(1, a.Height) || z >= max(1, a.Depth) {
		return 0, 0, 0, InvalidValue
	}
	at := x + y*row + z*plane
	if n > a.bytes()-at {
		return 0, 0, 0, InvalidValue
	}
	return a.addr + at, row, plane, Success
}

// Texel returns the bytes of a texel.
func (a *Array) Texel() uint64 { return a.texel }

// Side is one side of a copy between boxes: in an array, or in rows and planes
// of memory.
type Side struct {
	Array   uint64 // a handle, 0: memory
	Addr    uint64
	Pitch   uint64 // bytes from row to row
	Plane   uint64 // bytes from plane to plane
	X, Y, Z uint64 // the start of the box: X in bytes, Z also counts layers and faces
}

// Box is a copy between two sides; its width is in bytes.
type Box struct {
	Dst, Src             Side
	Width, Height, Depth uint64
}

// CopyBox copies a box, which must be inside the arrays. The width is in bytes.
func (t *Thread) CopyBox(dst, src Side, width, height, depth uint64, kind Kind, h uint64, async bool) Error {
	return t.do(func(r *Runtime) Error {
		to, from, c, err := r.rows(Box{dst, src, width, height, depth})
		if err != Success {
			return err
		}
		return r.copy(to, from, c, kind, h, async)
	})
}

// AnyDevice is the number of a side's device where the program does not name it.
const AnyDevice = -1

// CopyBoxPeer is CopyBox for a program that names the devices of both sides. Rows must be in
// their pitch, and those of one plane before the next.
func (t *Thread) CopyBoxPeer(b Box, to, from int, kind Kind, h uint64, async bool) Error {
	return t.do(func(r *Runtime) Error {
		dst, src, c, err := r.rows(b)
		if err == Success {
			err = r.peerSide(b.Dst, c, to)
		}
		if err == Success {
			err = r.peerSide(b.Src, c, from)
		}
		if err != Success {
			return err
		}
		return r.copy(dst, src, c, kind, h, async)
	})
}

// peerSide checks a side of a copy whose device is named.
func (r *Runtime) peerSide(s Side, c Rows, number int) Error {
	on := r.at(s.Addr)
	a := r.arrays[s.Array]
	if a != nil {
		on = a.on
	}
	switch {
	case number != AnyDevice && (a != nil || onDevice(s.Addr)) && on.number != number:
		return InvalidValue
	case a != nil || c.empty():
		return Success
	case s.X+c.Width > s.Pitch:
		return InvalidPitchValue
	case s.Z+c.Depth > 1 && s.Plane/s.Pitch < s.Y+c.Height:
		return InvalidValue
	}
	return Success
}

// rows returns the rows of a box.
func (r *Runtime) rows(b Box) (dst, src uint64, c Rows, err Error) {
	c = Rows{Width: b.Width, Height: b.Height, Depth: b.Depth}
	if dst, c.DstPitch, c.DstPlane, err = r.corner(b.Dst, c); err == Success {
		src, c.SrcPitch, c.SrcPlane, err = r.corner(b.Src, c)
	}
	return dst, src, c, err
}

// corner returns the address at which a side of a copy begins, and the distance in bytes
// between rows and between planes.
func (r *Runtime) corner(s Side, c Rows) (addr, row, plane uint64, err Error) {
	for _, n := range []uint64{s.X, s.Y, s.Z, c.Width, c.Height, c.Depth, s.Pitch, s.Plane} {
		if n > 1<<46 { // larger than any side, so that sums do not overflow
			return 0, 0, 0, InvalidValue
		}
	}
	if s.Array == 0 {
		if s.Y > 0 && s.Pitch > (1<<46)/s.Y || s.Z > 0 && s.Plane > (1<<46)/s.Z {
			return 0, 0, 0, InvalidValue
		}
		return s.Addr + s.X + s.Y*s.Pitch + s.Z*s.Plane, s.Pitch, s.Plane, Success
	}
	a := r.arrays[s.Array]
	if a == nil {
		return 0, 0, 0, InvalidHandle
	}
	addr, row, plane, err = a.Place(s.X, s.Y, s.Z, 0)
	if err == Success && (s.X+c.Width > row || s.Y+c.Height > max(1, a.Height) || s.Z+c.Depth > max(1, a.Depth)) {
		err = InvalidValue
	}
	return addr, row, plane, err
}
