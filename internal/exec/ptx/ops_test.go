package ptx_test

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// reference is what an operation of the generated table must compute.
type reference struct {
	types []string                           // of the sources
	want  func(v []uint64) uint64            // the exact result, or
	check func(v []uint64, got uint64) error // what a result must satisfy
	skip  func(v []uint64) bool              // operands for which PTX leaves the result open
}

// op is a key of the table, taken apart.
type op struct {
	name  string
	mods  []string
	types []string
}

func parseKey(key string) op {
	parts := strings.Split(key, ".")
	o := op{name: parts[0]}
	for _, p := range parts[1:] {
		if ptx.Type(p).Known() {
			o.types = append(o.types, p)
		} else {
			o.mods = append(o.mods, p)
		}
	}
	return o
}

func (o op) has(mod string) bool { return slices.Contains(o.mods, mod) }

// rounding is the mode that the key names, to nearest if none.
func (o op) rounding() string {
	for _, m := range o.mods {
		switch strings.TrimSuffix(m, "i") {
		case "rz", "rm", "rp", "rna":
			return strings.TrimSuffix(m, "i")
		}
	}
	return "rn"
}

func widthOf(t string) uint { return uint(ptx.Type(t).Bits()) }
func signedType(t string) bool {
	return ptx.Type(t).Signed()
}

// TestOps runs every operation of the generated table against its reference,
// on full and sparse warps.
func TestOps(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	evaluated := 0
	for _, key := range xptx.OpKeys() {
		ref := referenceOf(parseKey(key))
		if ref == nil {
			t.Errorf("%s has no reference", key)
			continue
		}
		if len(ref.types) != len(xptx.OpSig(key))-1 {
			t.Errorf("%s: the reference takes %d sources, the operation %s", key, len(ref.types), xptx.OpSig(key))
			continue
		}
		bad := 0
		for round := 0; round < alltests.Count(16, 64) && bad < 3; round++ {
			var src [3][32]uint64
			for k, typ := range ref.types {
				for i := range 32 {
					src[k][i] = operandOf(rnd, typ)
				}
			}
			if round == 0 { // corners with themselves
				for k, typ := range ref.types {
					for i := range 32 {
						list := corners[elemWidth(typ)]
						src[k][i] = list[i%len(list)]
					}
				}
			}
			if strings.HasPrefix(key, "cvt.") { // the source's register may be wider
				for k, typ := range ref.types {
					for i := range 32 {
						src[k][i] |= rnd.Uint64() << widthOf(typ)
					}
				}
			}
			mask := ^uint32(0)
			if round%4 == 3 {
				mask = rnd.Uint32() | 1
			}
			old := rnd.Uint64()
			got, wide := xptx.RunOp(key, &src, mask, old)
			for i := range 32 {
				if mask>>i&1 == 0 {
					if want := old & (^uint64(0) >> (32 * b2i(!wide))); got[i] != want {
						t.Errorf("%s wrote a lane that is off: %#x instead of %#x", key, got[i], want)
					}
					continue
				}
				v := []uint64{src[0][i], src[1][i], src[2][i]}[:len(ref.types)]
				if ref.skip != nil && ref.skip(v) {
					continue
				}
				evaluated++
				if ref.check != nil {
					if err := ref.check(v, got[i]); err != nil {
						t.Errorf("%s %#x = %#x: %v", key, v, got[i], err)
						bad++
					}
				} else if want := ref.want(v); got[i] != want {
					t.Errorf("%s %#x = %#x, want %#x", key, v, got[i], want)
					bad++
				}
			}
		}
	}
	t.Logf("%d operations, %d results", len(xptx.OpKeys()), evaluated)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func elemWidth(typ string) uint {
	if e := ptx.Type(typ).Elem(); e != ptx.Type(typ) {
		return uint(e.Bits())
	}
	return widthOf(typ)
}

func operandOf(rnd *rand.Rand, typ string) uint64 {
	if pt := ptx.Type(typ); pt.Packed() {
		w := elemWidth(typ)
		v := uint64(0)
		for i := range pt.Lanes() {
			v |= operand(rnd, w, formats[string(pt.Elem())]) << (uint(i) * w)
		}
		return v
	}
	return operand(rnd, widthOf(typ), formats[typ])
}

// lanewise applies the reference of the element type to each element.
func lanewise(elem *reference, typ string, sources int) *reference {
	w, n := elemWidth(typ), ptx.Type(typ).Lanes()
	each := func(v []uint64, k int) []uint64 {
		e := make([]uint64, len(v))
		for i := range v {
			e[i] = v[i] >> (uint(k) * w) & (^uint64(0) >> (64 - w))
		}
		return e
	}
	r := &reference{types: slices.Repeat([]string{typ}, sources)}
	if elem.check != nil {
		r.check = func(v []uint64, got uint64) error {
			for k := range n {
				if err := elem.check(each(v, k), got>>(uint(k)*w)&(^uint64(0)>>(64-w))); err != nil {
					return fmt.Errorf("element %d: %w", k, err)
				}
			}
			return nil
		}
		return r
	}
	r.want = func(v []uint64) uint64 {
		d := uint64(0)
		for k := range n {
			d |= elem.want(each(v, k)) << (uint(k) * w)
		}
		return d
	}
	return r
}

// referenceOf returns the reference of an operation, nil if there is none.
func referenceOf(o op) *reference {
	if len(o.types) == 0 {
		return nil
	}
	t := o.types[0]
	if pt := ptx.Type(t); len(o.types) == 1 && pt.Packed() {
		elem := o
		elem.types = []string{string(pt.Elem())}
		if r := referenceOf(elem); r != nil {
			return lanewise(r, t, len(r.types))
		}
		return nil
	}
	if o.name == "cvt" {
		return cvtReference(o)
	}
	if formats[t] != nil {
		if r := approxReference(o); r != nil {
			return r
		}
		return floatReference(o)
	}
	if r := bitReference(o); r != nil {
		return r
	}
	return intReference(o)
}

// intReference is integer arithmetic.
func intReference(o op) *reference {
	t := o.types[0]
	w, s := widthOf(t), signedType(t)
	clamp := func(i *big.Int) *big.Int {
		lim := new(big.Int).Lsh(big.NewInt(1), w-1)
		if i.Cmp(lim) >= 0 {
			return lim.Sub(lim, big.NewInt(1))
		}
		if i.Cmp(new(big.Int).Neg(lim)) < 0 {
			return lim.Neg(lim)
		}
		return i
	}
	fin := func(i *big.Int) uint64 {
		if o.has("sat") {
			i = clamp(i)
		}
		if o.has("relu") && i.Sign() < 0 {
			i = new(big.Int)
		}
		return wrap(i, w)
	}
	of := func(n int, f func(x []*big.Int) *big.Int) *reference {
		return &reference{types: slices.Repeat([]string{t}, n), want: func(v []uint64) uint64 {
			x := make([]*big.Int, n)
			for i := range x {
				x[i] = integer(v[i], w, s)
			}
			return fin(f(x))
		}}
	}
	n := func() *big.Int { return new(big.Int) }
	product := func(a, b *big.Int) *big.Int {
		p := n().Mul(a, b)
		switch {
		case o.has("hi"):
			return p.Rsh(p, w)
		case o.has("lo"):
			return integer(wrap(p, w), w, s)
		}
		return p
	}
	switch o.name {
	case "add":
		return of(2, func(x []*big.Int) *big.Int { return n().Add(x[0], x[1]) })
	case "sub":
		return of(2, func(x []*big.Int) *big.Int { return n().Sub(x[0], x[1]) })
	case "neg":
		return of(1, func(x []*big.Int) *big.Int { return n().Neg(x[0]) })
	case "abs":
		return of(1, func(x []*big.Int) *big.Int { return n().Abs(x[0]) })
	case "sad":
		return of(3, func(x []*big.Int) *big.Int {
			d := n().Sub(x[0], x[1])
			return d.Add(d.Abs(d), x[2])
		})
	case "div", "rem":
		return of(2, func(x []*big.Int) *big.Int {
			if x[1].Sign() == 0 { // as hardware is seen to do: all ones, and the dividend
				if o.name == "rem" {
					return x[0]
				}
				return big.NewInt(-1)
			}
			q, m := n().QuoRem(x[0], x[1], n())
			if o.name == "rem" {
				return m
			}
			return q
		})
	case "min", "max":
		return of(2, func(x []*big.Int) *big.Int {
			if (x[0].Cmp(x[1]) < 0) == (o.name == "min") {
				return x[0]
			}
			return x[1]
		})
	case "mul", "mad":
		k := 2 + b2i(o.name == "mad")
		if !o.has("wide") {
			return of(k, func(x []*big.Int) *big.Int {
				p := product(x[0], x[1])
				if k == 3 {
					p = n().Add(p, x[2])
				}
				return p
			})
		}
		types := []string{t, t}
		if k == 3 {
			types = append(types, fmt.Sprintf("%c%d", t[0], 2*w))
		}
		return &reference{types: types, want: func(v []uint64) uint64 {
			p := n().Mul(integer(v[0], w, s), integer(v[1], w, s))
			if k == 3 {
				p.Add(p, integer(v[2], 2*w, s))
			}
			return wrap(p, 2*w)
		}}
	case "mul24", "mad24":
		k := 2 + b2i(o.name == "mad24")
		return &reference{types: slices.Repeat([]string{t}, k), want: func(v []uint64) uint64 {
			p := n().Mul(integer(v[0], 24, s), integer(v[1], 24, s))
			if o.has("hi") {
				p.Rsh(p, 16)
			}
			p = integer(wrap(p, 32), 32, s)
			if k == 3 {
				p.Add(p, integer(v[2], 32, s))
			}
			return fin(p)
		}}
	case "dp4a", "dp2a":
		return &reference{types: []string{"b32", "b32", "b32"}, want: func(v []uint64) uint64 {
			sa, sb := signedType(o.types[0]), signedType(o.types[1])
			d := integer(v[2], 32, false)
			if o.name == "dp4a" {
				for i := range uint(4) {
					d.Add(d, n().Mul(integer(v[0]>>(8*i), 8, sa), integer(v[1]>>(8*i), 8, sb)))
				}
				return wrap(d, 32)
			}
			b := v[1]
			if o.has("hi") {
				b >>= 16
			}
			for i := range uint(2) {
				d.Add(d, n().Mul(integer(v[0]>>(16*i), 16, sa), integer(b>>(8*i), 8, sb)))
			}
			return wrap(d, 32)
		}}
	}
	return nil
}

// bitReference is logic, shifts and bit fields, on strings of bits where that
// is the plainest.
func bitReference(o op) *reference {
	t := o.types[0]
	w, s := widthOf(t), signedType(t)
	ones := ^uint64(0) >> (64 - w)
	two := []string{t, t}
	bit := func(v uint64, i uint) uint64 {
		if i >= 64 {
			return 0
		}
		return v >> i & 1
	}
	switch o.name {
	case "and":
		return &reference{types: two, want: func(v []uint64) uint64 { return v[0] & v[1] }}
	case "or":
		return &reference{types: two, want: func(v []uint64) uint64 { return v[0] | v[1] }}
	case "xor":
		return &reference{types: two, want: func(v []uint64) uint64 { return v[0] ^ v[1] }}
	case "not":
		return &reference{types: []string{t}, want: func(v []uint64) uint64 { return ones - v[0] }}
	case "cnot":
		return &reference{types: []string{t}, want: func(v []uint64) uint64 { return uint64(b2i(v[0] == 0)) }}
	case "shl":
		return &reference{types: []string{t, "u32"}, want: func(v []uint64) uint64 {
			return wrap(new(big.Int).Lsh(integer(v[0], w, false), uint(min(v[1], 200))), w)
		}}
	case "shr":
		return &reference{types: []string{t, "u32"}, want: func(v []uint64) uint64 {
			return wrap(new(big.Int).Rsh(integer(v[0], w, s), uint(min(v[1], 200))), w)
		}}
	case "shf":
		return &reference{types: []string{"b32", "b32", "u32"}, want: func(v []uint64) uint64 {
			n := uint(v[2]) % 32
			if o.has("clamp") {
				n = uint(min(v[2], 32))
			}
			x := new(big.Int).Add(new(big.Int).Lsh(integer(v[1], 32, false), 32), integer(v[0], 32, false))
			if o.has("l") {
				return wrap(x.Rsh(x.Lsh(x, n), 32), 32)
			}
			return wrap(x.Rsh(x, n), 32)
		}}
	case "popc", "clz", "bfind", "brev":
		return &reference{types: []string{t}, want: func(v []uint64) uint64 {
			x, count, top := v[0], uint64(0), -1
			if o.name == "bfind" && s && bit(x, w-1) == 1 {
				x = ones - x
			}
			r := uint64(0)
			for i := range w {
				count += bit(x, i)
				r |= bit(x, i) << (w - 1 - i)
				if bit(x, i) == 1 {
					top = int(i)
				}
			}
			switch {
			case o.name == "popc":
				return count
			case o.name == "clz":
				return uint64(int(w) - 1 - top)
			case o.name == "brev":
				return r
			case top < 0:
				return 0xffffffff
			case o.has("shiftamt"):
				return uint64(int(w) - 1 - top)
			}
			return uint64(top)
		}}
	case "bfe":
		return &reference{types: []string{t, "u32", "u32"}, want: func(v []uint64) uint64 {
			pos, length := uint(v[1]&0xff), uint(v[2]&0xff)
			sign := uint64(0)
			if s && length > 0 {
				sign = bit(v[0], min(pos+length-1, w-1))
			}
			d := uint64(0)
			for i := range w {
				if i < length && pos+i < w {
					d |= bit(v[0], pos+i) << i
				} else {
					d |= sign << i
				}
			}
			return d
		}}
	case "bmsk":
		return &reference{types: []string{"u32", "u32"}, want: func(v []uint64) uint64 {
			a, b := uint(v[0]), uint(v[1])
			if o.has("wrap") {
				a, b = a%32, b%32
			}
			d := uint64(0)
			for i := range uint(32) {
				if i >= a && uint64(i) < uint64(a)+uint64(b) {
					d |= 1 << i
				}
			}
			return d
		}}
	case "szext":
		return &reference{types: []string{t, "u32"}, want: func(v []uint64) uint64 {
			n := uint(min(v[1], 32))
			if o.has("wrap") {
				n = uint(v[1] % 32)
			}
			if n == 0 {
				return 0
			}
			return wrap(integer(v[0], n, s), 32)
		}}
	case "fns":
		return &reference{types: []string{"b32", "b32", "s32"}, want: func(v []uint64) uint64 {
			base, offset := int(v[1]), int(int32(v[2]))
			if v[1] > 31 {
				return 0xffffffff
			}
			step := 1
			if offset < 0 {
				step, offset = -1, -offset
			}
			if offset == 0 {
				if bit(v[0], uint(base)) == 1 {
					return uint64(base)
				}
				return 0xffffffff
			}
			for i := base; i >= 0 && i < 32; i += step {
				if bit(v[0], uint(i)) == 1 {
					if offset--; offset == 0 {
						return uint64(i)
					}
				}
			}
			return 0xffffffff
		}, skip: func(v []uint64) bool { return v[1] > 31 }}
	case "prmt":
		mode := ""
		if len(o.mods) > 0 {
			mode = o.mods[0]
		}
		return &reference{types: []string{"b32", "b32", "b32"}, want: func(v []uint64) uint64 {
			var pool [8]byte
			for i := range 4 {
				pool[i], pool[4+i] = byte(v[0]>>(8*i)), byte(v[1]>>(8*i))
			}
			c := int(v[2] & 3)
			var pick [4]int // lowest first
			switch mode {
			case "f4e":
				pick = [4]int{c, c + 1, c + 2, c + 3}
			case "b4e":
				pick = [4]int{c, (c + 7) % 8, (c + 6) % 8, (c + 5) % 8}
			case "rc8":
				pick = [4]int{c, c, c, c}
			case "ecl":
				pick = [4]int{max(0, c), max(1, c), max(2, c), 3}
			case "ecr":
				pick = [4]int{0, min(1, c), min(2, c), min(3, c)}
			case "rc16":
				pick = [4]int{2 * (c & 1), 2*(c&1) + 1, 2 * (c & 1), 2*(c&1) + 1}
			default:
				for i := range pick {
					pick[i] = int(v[2] >> (4 * i) & 15)
				}
			}
			d := uint64(0)
			for i, p := range pick {
				b := pool[p&7]
				if p >= 8 {
					b = byte(int8(b) >> 7)
				}
				d |= uint64(b) << (8 * i)
			}
			return d
		}}
	}
	return nil
}

// floatReference is float arithmetic that is rounded once.
func floatReference(o op) *reference {
	t := o.types[0]
	f := formats[t]
	if f == nil {
		return nil
	}
	mode := o.rounding()
	src := slices.Repeat([]*floatFormat{f}, 3)
	types := []string{t, t, t}
	if len(o.types) == 2 { // mixed precision: the last source has the result's type
		narrow := formats[o.types[1]]
		src[0], types[0] = narrow, o.types[1]
		if o.name == "fma" {
			src[1], types[1] = narrow, o.types[1]
		}
	}
	z := func(v uint64) uint64 {
		if o.has("ftz") {
			return f.flush(v)
		}
		return v
	}
	// nanOf is what an operation with the result NaN returns.
	nanOf := func(v []uint64) uint64 {
		if t == "f64" {
			for _, x := range v {
				if f.decode(x).nan {
					return x | 1<<51
				}
			}
		}
		return f.nan
	}
	of := func(n int, g func(x []real) real) *reference {
		return &reference{types: types[:n], want: func(v []uint64) uint64 {
			x := make([]real, n)
			for i := range x {
				b := v[i]
				if src[i] == f {
					b = z(b)
				}
				x[i] = src[i].decode(b)
			}
			d := z(f.round(g(x), mode, nanOf(v)))
			if o.has("sat") {
				d = f.saturate(d)
			}
			if o.has("relu") {
				d = f.relu(d)
			}
			return d
		}}
	}
	neg := func(r real) real { r.neg = !r.neg; return r }
	signBit := uint64(1) << (f.bits - 1)
	bitwise := func(n int, g func(v []uint64) uint64) *reference {
		return &reference{types: types[:n], want: func(v []uint64) uint64 {
			x := slices.Clone(v)
			for i := range x {
				x[i] = z(x[i])
			}
			return z(g(x))
		}}
	}
	switch o.name {
	case "add":
		return of(2, func(x []real) real { return sumOf(x[0], x[1], mode) })
	case "sub":
		return of(2, func(x []real) real { return sumOf(x[0], neg(x[1]), mode) })
	case "mul":
		return of(2, func(x []real) real { return productOf(x[0], x[1]) })
	case "fma", "mad":
		return of(3, func(x []real) real { return sumOf(productOf(x[0], x[1]), x[2], mode) })
	case "div":
		return of(2, func(x []real) real { return quotientOf(x[0], x[1]) })
	case "rcp":
		return of(1, func(x []real) real { return quotientOf(intReal(big.NewInt(1)), x[0]) })
	case "sqrt":
		return of(1, func(x []real) real { return rootOf(x[0]) })
	case "neg":
		return bitwise(1, func(v []uint64) uint64 { return v[0] ^ signBit })
	case "abs":
		return bitwise(1, func(v []uint64) uint64 { return v[0] &^ signBit })
	case "copysign":
		return bitwise(2, func(v []uint64) uint64 { return v[0]&signBit | v[1]&^signBit })
	case "min", "max", "min3", "max3":
		n := 2 + b2i(strings.HasSuffix(o.name, "3"))
		wantMin := strings.HasPrefix(o.name, "min")
		return bitwise(n, func(v []uint64) uint64 {
			sign := uint64(0)
			if o.has("xorsign") {
				sign = (v[0] ^ v[1]) & signBit
			}
			var best uint64
			found, nan := false, false
			for _, x := range v {
				if o.has("abs") {
					x &^= signBit
				}
				if f.decode(x).nan {
					nan = true
					continue
				}
				c := 1
				if found {
					c = compareReal(f.decode(x), f.decode(best))
					if c == 0 { // zeros: -0 is below +0
						c = int(best>>(f.bits-1)) - int(x>>(f.bits-1))
					}
				}
				if !found || (c < 0) == wantMin && c != 0 {
					best, found = x, true
				}
			}
			if !found || nan && o.has("NaN") {
				return nanOf(v)
			}
			return best | sign
		})
	}
	return nil
}

// approxReference checks an approximation against math, within the bound that
// the manual gives.
func approxReference(o op) *reference {
	t := o.types[0]
	f := formats[t]
	old := len(o.mods) == 0 || len(o.mods) == 1 && o.mods[0] == "ftz"
	switch o.name {
	case "sin", "cos", "lg2", "ex2", "tanh", "rsqrt":
	case "rcp", "sqrt", "div":
		if !o.has("approx") && !o.has("full") && (!old || t == "f64") {
			return nil
		}
	default:
		return nil
	}
	ftz := o.has("ftz") || old && t == "f32"
	value := func(v uint64) float64 {
		if ftz {
			v = f.flush(v)
		}
		r := f.decode(v)
		switch {
		case r.nan:
			return math.NaN()
		case r.inf && r.neg:
			return math.Inf(-1)
		case r.inf:
			return math.Inf(1)
		case r.zero() && r.neg:
			return math.Copysign(0, -1)
		}
		x, _ := r.signed().Float64()
		return x
	}
	// within checks a relative or absolute error; below the normal range one
	// unit of the smallest subnormal more.
	within := func(got, want, rel, abs float64) error {
		switch {
		case math.IsNaN(want):
			if !math.IsNaN(got) {
				return fmt.Errorf("want NaN, not %g", got)
			}
			return nil
		case math.IsNaN(got):
			return fmt.Errorf("NaN instead of %g", want)
		}
		least := math.Ldexp(1, f.emin)
		largest, _ := f.decode(f.inf - 1).x.Float64()
		if math.IsInf(got, 0) {
			if math.IsInf(want, 0) && got == want || math.Abs(want) > largest*(1-rel) && math.Signbit(got) == math.Signbit(want) {
				return nil
			}
			return fmt.Errorf("infinite instead of %g", want)
		}
		if math.IsInf(want, 0) {
			return fmt.Errorf("%g instead of %g", got, want)
		}
		tol := rel*math.Abs(want) + abs
		if math.Abs(want) < least {
			tol += math.Ldexp(least, -int(f.mant))
		}
		if ftz && math.Abs(want) <= least*(1+rel) {
			tol += least // the result is flushed
		}
		if e := math.Abs(got - want); e > tol {
			return fmt.Errorf("%g is off by %g from %g, more than %g", got, e, want, tol)
		}
		if want != 0 && got != 0 && math.Signbit(got) != math.Signbit(want) && abs == 0 {
			return fmt.Errorf("%g instead of %g", got, want)
		}
		if want == 0 && got == 0 && math.Signbit(got) != math.Signbit(want) {
			return fmt.Errorf("a zero of the wrong sign")
		}
		return nil
	}
	unary := func(g func(x float64) float64, rel, abs func(x float64) float64) *reference {
		return &reference{types: []string{t}, check: func(v []uint64, got uint64) error {
			x := value(v[0])
			saved := ftz
			ftz = false
			y := value(got)
			ftz = saved
			return within(y, g(x), rel(x), abs(x))
		}}
	}
	is := func(c float64) func(float64) float64 { return func(float64) float64 { return c } }
	exp2 := func(n float64) float64 { return math.Exp2(n) }
	switch o.name {
	case "rcp":
		if t == "f64" { // of operand and result only the upper halves count
			return &reference{types: []string{t}, check: func(v []uint64, got uint64) error {
				x := math.Float64frombits(v[0] >> 32 << 32)
				if math.Float64bits(x)&0x7ff0000000000000 == 0 {
					x = math.Copysign(0, x)
				}
				if got&0xffffffff != 0 {
					return fmt.Errorf("the lower half is not zero")
				}
				return within(math.Float64frombits(got), 1/x, exp2(-19), 0)
			}}
		}
		return unary(func(x float64) float64 { return 1 / x }, is(exp2(-23)), is(0))
	case "sqrt":
		return unary(math.Sqrt, is(exp2(-23)), is(0))
	case "rsqrt":
		rel := exp2(-22.9)
		if t == "f64" {
			rel = exp2(-50)
			if o.has("ftz") {
				return &reference{types: []string{t}, check: func(v []uint64, got uint64) error {
					x := math.Float64frombits(v[0] >> 32 << 32)
					if math.Float64bits(x)&0x7ff0000000000000 == 0 {
						x = math.Copysign(0, x)
					}
					if got&0xffffffff != 0 {
						return fmt.Errorf("the lower half is not zero")
					}
					return within(math.Float64frombits(got), rsqrt(x), exp2(-19), 0)
				}}
			}
		}
		return unary(rsqrt, is(rel), is(0))
	case "ex2":
		rel := map[string]float64{"f32": exp2(-22), "f16": exp2(-9.9), "bf16": exp2(-7)}[t]
		return unary(math.Exp2, is(rel), is(0))
	case "lg2":
		return unary(math.Log2, func(x float64) float64 {
			if x > 0.5 && x < 2 {
				return 0
			}
			return exp2(-22)
		}, func(x float64) float64 {
			if x > 0.5 && x < 2 {
				return exp2(-22)
			}
			return 0
		})
	case "tanh":
		if t == "f16" {
			return unary(math.Tanh, is(0), is(exp2(-10.987)))
		}
		return unary(math.Tanh, is(map[string]float64{"f32": exp2(-11), "bf16": exp2(-8)}[t]), is(0))
	case "sin", "cos":
		g := math.Sin
		if o.name == "cos" {
			g = math.Cos
		}
		return unary(g, is(0), func(x float64) float64 {
			switch x = math.Abs(x); {
			case x <= 2*math.Pi:
				return exp2(-20.5)
			case x <= 100*math.Pi:
				return exp2(-14.7)
			}
			return 2 // nothing is promised
		})
	case "div":
		return &reference{types: []string{t, t}, check: func(v []uint64, got uint64) error {
			a, b := value(v[0]), value(v[1])
			saved := ftz
			ftz = false
			y := value(got)
			ftz = saved
			want := a / b
			if m := math.Abs(b); !o.has("full") && m > exp2(126) && !math.IsInf(b, 0) {
				// The manual: zero, or NaN for an infinite dividend.
				want = math.Copysign(0, a) * math.Copysign(1, b)
				if math.IsInf(a, 0) {
					want = math.NaN()
				}
				if math.IsNaN(a) {
					want = a
				}
			}
			return within(y, want, exp2(-22), 0)
		}, skip: func(v []uint64) bool {
			// Outside this range div.approx promises nothing.
			m := math.Abs(value(v[1]))
			return !o.has("full") && m < exp2(-126) && m > 0
		}}
	}
	return nil
}

func rsqrt(x float64) float64 {
	if x == 0 {
		return math.Copysign(math.Inf(1), x)
	}
	return 1 / math.Sqrt(x)
}

// TestGenerated fails if ops_gen.go is not the output of opgen.
func TestGenerated(t *testing.T) {
	dir := t.TempDir()
	gen := filepath.Join(dir, "opgen")
	if out, err := exec.Command("go", "build", "-o", gen, "./opgen").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(gen)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want, err := os.ReadFile(filepath.Join(dir, "ops_gen.go"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("ops_gen.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("ops_gen.go is stale: run go generate ./internal/exec/ptx")
	}
}

// TestCmps runs every comparison of the generated table against its reference.
func TestCmps(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, key := range xptx.CmpKeys() {
		parts := strings.Split(key, ".")
		ftz := parts[0] == "ftz"
		if ftz {
			parts = parts[1:]
		}
		cmp, typ := parts[0], parts[1]
		f := formats[typ]
		bad := 0
		for round := 0; round < 40 && bad < 3; round++ {
			var src [3][32]uint64
			for k := range 2 {
				for i := range 32 {
					src[k][i] = operandOf(rnd, typ)
					if k == 1 && rnd.IntN(4) == 0 {
						src[1][i] = src[0][i]
					}
				}
			}
			mask := ^uint32(0)
			if round%4 == 3 {
				mask = rnd.Uint32() | 1
			}
			got := xptx.RunCmp(key, &src, mask)
			if got&^mask != 0 {
				t.Errorf("%s: lanes that are off hold", key)
			}
			for i := range 32 {
				if mask>>i&1 == 0 {
					continue
				}
				a, b := src[0][i], src[1][i]
				rel := 0
				if f != nil {
					if ftz {
						a, b = f.flush(a), f.flush(b)
					}
					rel = compareReal(f.decode(a), f.decode(b))
				} else {
					s := signedType(typ)
					rel = integer(a, widthOf(typ), s).Cmp(integer(b, widthOf(typ), s))
				}
				want, ok := holds(cmp, rel)
				if !ok {
					t.Fatalf("%s has no reference", key)
				}
				if have := got>>i&1 == 1; have != want {
					t.Errorf("%s of %#x and %#x is %v", key, src[0][i], src[1][i], have)
					bad++
				}
			}
		}
	}
	t.Logf("%d comparisons", len(xptx.CmpKeys()))
}

// holds reports whether a comparison holds for two operands whose relation is rel (2:
// unordered).
func holds(cmp string, rel int) (holds, known bool) {
	if cmp == "num" || cmp == "nan" {
		return (rel == 2) == (cmp == "nan"), true
	}
	base, orUnordered := cmp, false
	if len(cmp) == 3 && cmp[2] == 'u' {
		base, orUnordered = cmp[:2], true
	}
	if rel == 2 {
		return orUnordered, true
	}
	switch base {
	case "eq":
		return rel == 0, true
	case "ne":
		return rel != 0, true
	case "lt", "lo":
		return rel < 0, true
	case "le", "ls":
		return rel <= 0, true
	case "gt", "hi":
		return rel > 0, true
	case "ge", "hs":
		return rel >= 0, true
	}
	return false, false
}
