package kasm

import "github.com/heddle-sim/heddle/internal/isa/kasm"

// This file: the texture unit, our own definition. Coordinates count texels,
// with eight bits of fraction; the texel (0, 0) reaches from 0 to 1. A texel is
// a word of four channels of eight bits.

// Tap is the texels that a lane reads: one, or four to interpolate between.
type Tap struct {
	N      int // 1 or 4
	At     [4]uint32
	fx, fy uint32 // in 1/256, towards the second texel of a row and the second row
}

// Taps returns what a lane reads at (u, v) of a texture that begins at an address;
// for bilinear filtering in the order upper left, upper right, lower left, lower
// right.
func Taps(t kasm.Texture, u, v, base uint32) Tap {
	place := func(x, y int64) uint32 {
		return base + 4*uint32(within(y, t.LogH, t.Clamp)<<t.LogW+within(x, t.LogW, t.Clamp))
	}
	x, y := int64(int32(u)), int64(int32(v))
	if !t.Bilinear {
		return Tap{N: 1, At: [4]uint32{place(x>>8, y>>8)}}
	}
	x, y = x-128, y-128 // relative to texel centres
	fx, fy := uint32(x&255), uint32(y&255)
	x, y = x>>8, y>>8
	return Tap{4, [4]uint32{place(x, y), place(x+1, y), place(x, y+1), place(x+1, y+1)}, fx, fy}
}

// Filter makes one texel from those that were read: each channel is their mean,
// weighted by distance and rounded to nearest, halves up.
func (t *Tap) Filter(c *[4]uint32) uint32 {
	if t.N == 1 {
		return c[0]
	}
	w := [4]uint32{(256 - t.fx) * (256 - t.fy), t.fx * (256 - t.fy), (256 - t.fx) * t.fy, t.fx * t.fy}
	out := uint32(0)
	for s := 0; s < 32; s += 8 {
		sum := uint32(1 << 15)
		for k, texel := range c {
			sum += texel >> s & 255 * w[k]
		}
		out |= sum >> 16 << s
	}
	return out
}

// within wraps or clamps a texel's index into a texture of 1<<log texels.
func within(n int64, log int, clamp bool) int64 {
	last := int64(1)<<log - 1
	if clamp {
		return max(0, min(n, last))
	}
	return n & last
}
