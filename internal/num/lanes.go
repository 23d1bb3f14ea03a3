package num

// Lanes is one 32-bit register of a warp.
type Lanes = [32]uint32

// AddF32Lanes is add.rn.f32 on a whole warp. The destination may be one of the
// operands, here and below.
func AddF32Lanes(d, a, b *Lanes) {
	for i := range d {
		d[i] = b32(Add32(f32(a[i]), f32(b[i])))
	}
}

// SubF32Lanes is sub.rn.f32 on a whole warp.
func SubF32Lanes(d, a, b *Lanes) {
	for i := range d {
		d[i] = b32(Sub32(f32(a[i]), f32(b[i])))
	}
}

// MulF32Lanes is mul.rn.f32 on a whole warp.
func MulF32Lanes(d, a, b *Lanes) {
	for i := range d {
		d[i] = b32(Mul32(f32(a[i]), f32(b[i])))
	}
}

// FMAF32Lanes is fma.rn.f32 on a whole warp: FMA32 with its fast path in the
// loop, which the compiler does not inline.
func FMAF32Lanes(d, a, b, c *Lanes) {
	for i := range d {
		p, z := float64(f32(a[i]))*float64(f32(b[i])), float64(f32(c[i]))
		s := p + z
		u := b64(s)
		r := float32(s)
		if u&0x1fffffff == 0x10000000 || (u>>52&0x7ff)-897 >= 253 {
			r = fma32Slow(p, z)
		}
		d[i] = b32(r)
	}
}
