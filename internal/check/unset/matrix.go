package unset

import (
	"math/bits"
	"strings"

	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: matrices whose elements lie in the registers of a warp (PTX manual, matrix
// fragments for mma.m16n8… and mma.m8n8…, ldmatrix).

// matrix follows ldmatrix: lane 8k+r reads row r of matrix k, of which lane 4r+c gets a part in
// register k; transposed, lane l gets the parts of rows 2(l%4) and the next.
func (b *block) matrix(in *isa.Inst, o *op, rows uint32, regs []reg) {
	transposed := strings.Contains(in.Op, ".trans") || strings.Contains(in.Op, ".MT88")
	for k, d := range b.plan.regs[o.mid:o.to] {
		mine, t := rows>>(8*k&31)&0xff, uint32(0)
		for lane := range 32 {
			if transposed {
				if two := mine >> (2 * (lane % 4)) & 3; two == 3 {
					t |= 1 << lane
				}
			} else {
				t |= mine >> (lane / 4) & 1 << lane
			}
		}
		regs[d].set(^uint32(0), t, b.from)
	}
}

// product is how many registers of a lane the operands of mma fill: a is 0 for those that are
// not followed.
type product struct{ a, b, c, rows int }

// newProduct finds the operands of an mma: each lane holds as much of C as of D, and of A once
// or twice as much as of B, as there are 8 or 16 rows.
func newProduct(in *isa.Inst) (p product) {
	if machineOp(in) {
		return machineProduct(in)
	}
	n, c := len(in.Srcs), len(in.Dsts)
	if in.Guarded {
		n--
	}
	wide := strings.Contains(in.Op, ".m16n8")
	switch rest := n - c; {
	case wide && rest%3 == 0 && (c == 2 || c == 4):
		p = product{a: rest / 3 * 2, b: rest / 3, c: c, rows: 16}
	case !wide && rest == 2 && c == 2: // of m8n8k4 with halves the lanes lie otherwise, and A and B have two each
		p = product{a: 1, b: 1, c: c, rows: 8}
	}
	return p
}

// product follows mma: an element of D is unset if one of its row of A, of its column of B, or
// that of C is. Lane l holds of A row l/4, and in each second register row l/4+8 if there is
// one; of B column l/4; of C and D columns 2(l%4) and the next, in one register or two.
func (b *block) product(warp, site int, m uint32, regs []reg) {
	o, in := &b.plan.ops[site], b.plan.code[site]
	srcs := b.plan.regs[o.from:o.mid]
	if in.Guarded {
		srcs = srcs[1:]
	}
	p := newProduct(in)
	var rows, columns, origin uint32
	note := func(r *reg, lanes uint32) {
		if lanes != 0 && origin == 0 {
			origin = b.traced(warp, site, r, lanes)
		}
	}
	for k, s := range srcs[:p.a+p.b] {
		lanes := regs[s].lanes & m
		note(&regs[s], lanes)
		for ; lanes != 0; lanes &= lanes - 1 {
			i := bits.TrailingZeros32(lanes) / 4
			switch {
			case k >= p.a:
				columns |= 1 << i
			case p.rows == 16:
				rows |= 1 << (i + 8*(k%2))
			default:
				rows |= 1 << i
			}
		}
	}
	perRow := p.c * 8 / p.rows // registers
	for k, d := range b.plan.regs[o.mid:o.to] {
		t, from := uint32(0), origin
		if at := p.a + p.b + k; at < len(srcs) { // machine code may leave C out
			c := &regs[srcs[at]]
			if t = c.lanes & m; t != 0 {
				from = b.traced(warp, site, c, t)
			}
		}
		for lane := range 32 {
			row, column := lane/4+8*(k/perRow), 2*(lane%4)
			bad := columns>>column&3 == 3
			if perRow == 2 {
				bad = columns>>(column+k%2)&1 != 0
			}
			if bad || rows>>row&1 != 0 {
				t |= 1 << lane
			}
		}
		regs[d].set(m, t&m, from)
	}
}
