package num

// This file: a row of A times eight columns of B at once, with the results of the dot
// products in dot.go. Eight sums hide each other's latency, and B is converted once for
// all rows.

// Columns is the number of columns of a panel.
const Columns = 8

// PanelRows is the maximum number of rows of B in a panel: K of m16n8k64.
const PanelRows = 64

// FloatPanel holds eight columns of B by rows. The zero value has no rows.
type FloatPanel struct {
	b [PanelRows][Columns]float64
	k int
}

// Fill takes eight columns of k elements each, at most PanelRows, one after another.
func (p *FloatPanel) Fill(b []float32, k int) {
	p.k = k
	for c := range Columns {
		rows := p.b[:k]
		for i, x := range b[c*k:][:len(rows)] {
			rows[i][c] = float64(x)
		}
	}
}

// RowF32 adds the products of a row of A to the accumulators, each as DotF32 does.
func (p *FloatPanel) RowF32(acc *[Columns]uint32, a []float32) {
	var s [Columns]float64
	for i, x := range acc {
		s[i] = float64(f32(x))
	}
	p.sum(&s, a)
	for i, x := range s {
		if acc[i] = b32(float32(x)); x != x {
			acc[i] = NaNF32
		}
	}
}

// RowF16 is RowF32 with accumulators of f16, as DotF32F16 has.
func (p *FloatPanel) RowF16(acc *[Columns]uint32, a []float32) {
	var s [Columns]float64
	for i, x := range acc {
		s[i] = float64(h32(uint16(x)))
	}
	p.sum(&s, a)
	for i, x := range s {
		acc[i] = uint32(F64ToF16(b64(x), RN))
	}
}

// sum adds the products in ascending order.
func (p *FloatPanel) sum(s *[Columns]float64, a []float32) {
	b := p.b[:min(p.k, len(a))]
	a = a[:len(b)]
	// Four at a time: their sums and products fit into the host's registers.
	for c := 0; c < Columns; c += 4 {
		s0, s1, s2, s3 := s[c], s[c+1], s[c+2], s[c+3]
		for i, x := range a {
			x, r := float64(x), (*[4]float64)(b[i][c:])
			s0 += mul(x, r[0])
			s1 += mul(x, r[1])
			s2 += mul(x, r[2])
			s3 += mul(x, r[3])
		}
		s[c], s[c+1], s[c+2], s[c+3] = s0, s1, s2, s3
	}
}

// IntPanel holds eight columns of B of integers of at most eight bits. A word holds the
// elements of a row in three columns, fieldBits apart, so that one multiplication serves
// three sums.
type IntPanel struct {
	b      [PanelRows][3]int64
	k      int
	signed bool // an element of A or B may be negative
}

const (
	fieldBits = 21
	fieldMask = 1<<fieldBits - 1
	// fieldRows is the number of products that a field holds: 32·255·255 < 2^21, and with
	// a negative factor they lie in 32·-128·255 ≥ -2^20 to 32·127·255 < 2^20.
	fieldRows = 32
)

// Fill takes eight columns of k elements each, at most PanelRows, one after another. Signed means
// that elements of A or B may be negative.
func (p *IntPanel) Fill(b []int32, k int, signed bool) {
	p.k, p.signed = k, signed
	rows := p.b[:k]
	column := func(c int) []int32 { return b[c*k:][:len(rows)] }
	for w := range 2 {
		x, y, z := column(3*w), column(3*w+1), column(3*w+2)
		for i := range rows {
			rows[i][w] = int64(x[i]) + int64(y[i])<<fieldBits + int64(z[i])<<(2*fieldBits)
		}
	}
	x, y := column(6), column(7)
	for i := range rows {
		rows[i][2] = int64(x[i]) + int64(y[i])<<fieldBits
	}
}

// Row adds the products of a row of A to the accumulators, each as DotInt does.
func (p *IntPanel) Row(acc *[Columns]uint32, a []int32, satfinite bool) {
	bias := int64(0) // makes the sums of all fields positive
	if p.signed {
		bias = 1 << (fieldBits - 1)
	}
	var sum [Columns]int64
	for i, x := range acc {
		sum[i] = int64(int32(x)) - bias*int64((p.k+fieldRows-1)/fieldRows)
	}
	start := bias | bias<<fieldBits | bias<<(2*fieldBits)
	for at := 0; at < p.k; at += fieldRows {
		b := p.b[at:min(p.k, at+fieldRows)]
		a := a[at:][:len(b)]
		s0, s1, s2 := start, start, start
		for i, x := range a {
			x, r := int64(x), &b[i]
			s0 += x * r[0]
			s1 += x * r[1]
			s2 += x * r[2]
		}
		sum[0] += s0 & fieldMask
		sum[1] += s0 >> fieldBits & fieldMask
		sum[2] += s0 >> (2 * fieldBits) & fieldMask
		sum[3] += s1 & fieldMask
		sum[4] += s1 >> fieldBits & fieldMask
		sum[5] += s1 >> (2 * fieldBits) & fieldMask
		sum[6] += s2 & fieldMask
		sum[7] += s2 >> fieldBits & fieldMask
	}
	for i, x := range sum {
		if acc[i] = uint32(x); satfinite {
			acc[i] = uint32(clampS32(x))
		}
	}
}

// Unpack8 takes four integers out of a register.
func Unpack8(to *[4]int32, x uint32, signed bool) {
	if signed {
		*to = [4]int32{int32(int8(x)), int32(int8(x >> 8)), int32(int8(x >> 16)), int32(x) >> 24}
	} else {
		*to = [4]int32{int32(x & 0xff), int32(x >> 8 & 0xff), int32(x >> 16 & 0xff), int32(x >> 24)}
	}
}

// Unpack4 takes eight integers out of a register.
func Unpack4(to *[8]int32, x uint32, signed bool) {
	for i := range to {
		if to[i] = int32(x & 15); signed {
			to[i] = int32(x<<28) >> 28
		}
		x >>= 4
	}
}
