package kasm

import (
	"math"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/isa/kasm"
)

// This file: the rasteriser. All of it is integer arithmetic without overflow,
// and all of it is our own definition.
//
// A point is a word: x in the low half, y in the high half, both signed. Vertices
// count in sixteenths of a pixel, y downwards. Pixel coordinates count in pixels, of
// which the low twelve bits matter; the sample is the pixel's centre.

// Triangle is the triangle that each lane has set up, vertex by vertex.
type Triangle [3]Vector

// Raster computes TRI, RAST, BARY and INTP on the lanes of a mask: a, b and c are the
// values of rs1, rs2 and rs3. TRI changes t, the others only read it. It reports
// whether op is one of them. out may be one of the operands.
func Raster(op kasm.Op, mask uint32, t *Triangle, a, b, c, out *Vector) bool {
	switch op {
	case kasm.TRI:
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			t[0][l], t[1][l], t[2][l] = a[l], b[l], c[l]
			_, area := t.edges(l, point{})
			out[l] = uint32(int32(max(math.MinInt32, min(area, math.MaxInt32))))
		}
	case kasm.RAST:
		*out = t.cover(a, mask)
	case kasm.BARY:
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			w, area := t.edges(l, middle(a[l]))
			out[l] = share(w[1], area) | share(w[2], area)<<16
		}
	case kasm.INTP:
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			b1, b2 := int64(a[l]&0xffff), int64(a[l]>>16)
			v0, v1, v2 := int64(int16(b[l])), int64(int16(b[l]>>16)), int64(int16(c[l]))
			out[l] = uint32((v0<<16 + (v1-v0)*b1 + (v2-v0)*b2) >> 16)
		}
	default:
		return false
	}
	return true
}

// point is a position in sixteenths of a pixel.
type point struct{ x, y int64 }

// vertex unpacks a vertex.
func vertex(w uint32) point { return point{int64(int16(w)), int64(int16(w >> 16))} }

// middle is the sample of a pixel.
func middle(w uint32) point {
	x, y := int64(int32(w<<20)>>20), int64(int32(w<<4)>>20)
	return point{16*x + 8, 16*y + 8}
}

// edge is twice the area of the triangle a, b, p in 1/256 of a pixel: positive if p
// lies to the right of the line from a to b, as seen on a screen.
func edge(a, b, p point) int64 {
	return (b.x-a.x)*(p.y-a.y) - (b.y-a.y)*(p.x-a.x)
}

// edges returns the three edge functions of a lane's triangle at a point, each for the
// edge opposite the vertex, and their sum, twice the area: positive if the vertices
// are in clockwise order.
func (t *Triangle) edges(l int, p point) (w [3]int64, area int64) {
	v := [3]point{vertex(t[0][l]), vertex(t[1][l]), vertex(t[2][l])}
	for i := range w {
		w[i] = edge(v[(i+1)%3], v[(i+2)%3], p)
	}
	return w, w[0] + w[1] + w[2]
}

// cover finds the lanes whose triangle covers their pixel: the sample lies inside, or
// on a left or top edge. Triangles that share an edge therefore never share a pixel
// and leave none out. Either vertex order works.
func (t *Triangle) cover(pixels *Vector, mask uint32) (out Vector) {
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		p := middle(pixels[l])
		w, area := t.edges(l, p)
		sign := int64(1)
		if area < 0 {
			sign = -1
		}
		in := area != 0
		for i, e := range w {
			a, b := vertex(t[(i+1)%3][l]), vertex(t[(i+2)%3][l])
			dx, dy := sign*(b.x-a.x), sign*(b.y-a.y)
			in = in && (sign*e > 0 || e == 0 && (dy < 0 || dy == 0 && dx > 0))
		}
		out[l] = truth(in)
	}
	return out
}

// share is a part of the whole in 1/65536, rounded down, between 0 and 65535.
func share(part, whole int64) uint32 {
	if whole < 0 {
		part, whole = -part, -whole
	}
	if whole == 0 || part <= 0 {
		return 0
	}
	return uint32(min(part<<16/whole, 65535))
}
