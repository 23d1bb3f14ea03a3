package ptx_test

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// conversion is one cvt to be tested.
type conversion struct {
	name   string
	op     op
	dt, st ptx.Type
	dreg   int // bits of the destination register
	sreg   int // bits of each source register
	srcs   int // source values
	random bool
}

func registersFor(t ptx.Type, wide bool) []int {
	regs := []int{t.Bits()}
	if t.Bits() == 8 && t.Integer() {
		regs = []int{16} // there is no instruction to load an 8-bit register from memory but ld.b8
	}
	if wide {
		for b := 2 * regs[0]; b <= 64; b *= 2 {
			regs = append(regs, b)
		}
	}
	return regs
}

// conversions lists every cvt that the instruction table has, with every width
// of register where it may be wider than its type.
func conversions() []conversion {
	var list []conversion
	for _, f := range ptx.Forms() {
		if f.Op != "cvt" {
			continue
		}
		generic := strings.HasPrefix(f.Syntax, "cvt{")
		f.Expand(func(mods []string) bool {
			o := parseKey("cvt." + strings.Join(mods, "."))
			if o.has("pack") || o.has("scaled::n2::ue8m0") {
				return true
			}
			dt, st := ptx.Type(o.types[0]), ptx.Type(o.types[1])
			if dt.Elem() == "s2f6" || st.Elem() == "s2f6" {
				return true
			}
			c := conversion{name: "cvt." + strings.Join(mods, "."), op: o, dt: dt, st: st, srcs: 1, random: o.has("rs")}
			if st.Lanes() == 1 {
				c.srcs = dt.Lanes()
			}
			for _, c.dreg = range registersFor(dt, generic && dt != "bf16") {
				for _, c.sreg = range registersFor(st, generic && st != "bf16") {
					list = append(list, c)
				}
			}
			return true
		})
	}
	return list
}

// text is the conversion of the values at [%a] where %on holds, with the result
// at [%o].
func (c *conversion) text() string {
	var b, args strings.Builder
	fmt.Fprintf(&b, "{\n.reg .b%d d;\nld.global.b%d d, [%%a+40];\n", c.dreg, c.dreg)
	for s := range c.srcs {
		fmt.Fprintf(&b, ".reg .b%d s%d;\nld.global.b%d s%d, [%%a+%d];\n", c.sreg, s, c.sreg, s, 8*s)
		if s > 0 {
			args.WriteString(", ")
		}
		fmt.Fprintf(&args, "s%d", s)
	}
	a := args.String()
	if c.srcs == 4 {
		a = "{" + a + "}"
	}
	if c.random {
		b.WriteString(".reg .b32 rb;\nld.global.b32 rb, [%a+32];\n")
		a += ", rb"
	}
	fmt.Fprintf(&b, "@%%on %s d, %s;\nst.global.b%d [%%o], d;\n}\n", c.name, a, c.dreg)
	return b.String()
}

// want is the reference: v are the source registers, rbits the random bits.
func (c *conversion) want(v []uint64, rbits uint64) uint64 {
	dt, st := string(c.dt.Elem()), string(c.st.Elem())
	n := c.dt.Lanes()
	sw, dw := uint(c.st.Bits()/c.st.Lanes()), uint(c.dt.Bits()/n)
	d := uint64(0)
	for k := range n {
		x := v[0] >> (uint(k) * sw)
		if c.srcs > 1 {
			x = v[c.srcs-1-k]
		}
		x &= ^uint64(0) >> (64 - sw)
		var e uint64
		switch {
		case c.random:
			shift := uint(16 * k)
			if n == 4 {
				shift = uint(8 * k)
			}
			e = stochastic(c.op, dt, x, rbits>>shift)
		case dt == "ue8m0":
			e = toPower(c.op, formats[st].decode(x))
		case st == "ue8m0":
			r := real{nan: x == 0xff, x: newBig().SetInt64(1)}
			r.x.SetMantExp(r.x, int(x)-127)
			e = formats[dt].round(r, "rn", formats[dt].nan)
		case dt == "tf32":
			e = convert(c.op, dt, st, x)
			if mag := e & 0x7fffffff; mag <= formats["tf32"].inf {
				e = e&(1<<31) | mag<<13
			}
		default:
			e = convert(c.op, dt, st, x)
		}
		d |= e & (^uint64(0) >> (64 - dw)) << (uint(k) * dw)
	}
	if c.dt.Signed() {
		d = wrap(integer(d, uint(c.dt.Bits()), true), uint(c.dreg))
	}
	return d
}

// toPower encodes ue8m0: the power of two next to the magnitude.
func toPower(o op, r real) uint64 {
	if r.nan {
		return 0xff
	}
	k := 128
	if !r.inf {
		k = -127
		if o.has("rp") { // the smallest that is not below
			for k < 128 && newBig().SetMantExp(big.NewFloat(1), k).Cmp(r.x) < 0 {
				k++
			}
		} else { // the largest that is not above
			for k < 127 && newBig().SetMantExp(big.NewFloat(1), k+1).Cmp(r.x) <= 0 {
				k++
			}
		}
	}
	if k == 128 && o.has("satfinite") {
		k = 127
	}
	return uint64(k + 127)
}

// stochastic rounds an f32: a carry out of random bits plus the first bits
// dropped takes the magnitude up.
func stochastic(o op, dt string, v, rbits uint64) uint64 {
	f := formats[dt]
	n := map[string]uint{"f16": 13, "bf16": 16}[dt]
	if n == 0 {
		n = 8
	}
	r := formats["f32"].decode(v)
	sign := uint64(b2i(r.neg)) << (f.bits - 1)
	var d uint64
	switch {
	case r.nan:
		d = f.nan
	case r.inf:
		d = f.infinity(sign)
	default:
		e := f.emin
		if r.x.Sign() != 0 {
			e = max(e, r.x.MantExp(nil)-1)
		}
		// floor(x / 2^(q-n)) + random, without its n lowest bits.
		i, _ := r.fraction(e - int(f.mant) - int(n))
		i.Add(i, new(big.Int).SetUint64(rbits&(1<<n-1)))
		i.Rsh(i, n)
		i.Add(i, new(big.Int).Lsh(big.NewInt(int64(e-f.emin)), f.mant))
		d = f.infinity(sign)
		if i.Cmp(new(big.Int).SetUint64(f.inf)) < 0 {
			d = sign | i.Uint64()
		}
	}
	if o.has("satfinite") && !r.nan && d&^sign == f.inf {
		d--
	}
	if o.has("relu") {
		d = f.relu(d)
	}
	return d
}

// cvtReference is a conversion, registers as wide as their types.
func cvtReference(o op) *reference {
	dt, st := o.types[0], o.types[1]
	if pt := ptx.Type(dt); pt.Packed() {
		c := conversion{op: o, dt: pt, st: ptx.Type(st), dreg: pt.Bits(), srcs: pt.Lanes()}
		return &reference{types: slices.Repeat([]string{st}, c.srcs), want: func(v []uint64) uint64 { return c.want(v, 0) }}
	}
	return &reference{types: []string{st}, want: func(v []uint64) uint64 { return convert(o, dt, st, v[0]) }}
}

// convert converts one value of type st, with the modifiers of o.
func convert(o op, dt, st string, v uint64) uint64 {
	mode := o.rounding()
	dw, sw := widthOf(dt), widthOf(st)
	df, sf := formats[dt], formats[st]
	v &= ^uint64(0) >> (64 - sw)
	if sf != nil && st == "f32" && o.has("ftz") {
		v = sf.flush(v)
	}
	var d uint64
	switch {
	case df == nil && sf == nil:
		i := integer(v, sw, signedType(st))
		if o.has("sat") {
			return toInt(intReal(i), "rz", dw, signedType(dt), 0)
		}
		return wrap(i, dw)
	case df == nil:
		// NaN is 0, but the integer with only its top bit where one side has 64 bits.
		nan := uint64(0)
		if st == "f64" || dw == 64 {
			nan = 1 << (dw - 1)
		}
		return toInt(sf.decode(v), mode, dw, signedType(dt), nan)
	case sf == nil:
		d = df.round(intReal(integer(v, sw, signedType(st))), mode, df.nan)
	default:
		r := sf.decode(v)
		nan := df.nan
		if dt == "f64" { // payload and sign are kept, quiet
			nan = v>>(sw-1)<<63 | 0x7ff8000000000000 | v&(1<<sf.mant-1)<<(52-sf.mant)
			if st == "f16" {
				nan = 0x7fffffffe0000000 // by way of the f32 NaN
			}
		}
		if df == sf {
			integralMode := false
			for _, m := range o.mods {
				integralMode = integralMode || len(m) == 3 && m[0] == 'r' && m[2] == 'i'
			}
			if !integralMode {
				d = v
				break
			}
			r = integral(r, mode)
		}
		if st == "bf16" && dt == "f32" && r.nan {
			d = v << 16
			break
		}
		d = df.round(r, mode, nan)
	}
	if dt == "f32" && o.has("ftz") {
		d = df.flush(d)
	}
	if o.has("satfinite") && d&(1<<(df.bits-1)-1) == df.inf && !sf.decode(v).nan {
		d--
	}
	if o.has("sat") {
		d = df.saturate(d)
	}
	if o.has("relu") {
		d = df.relu(d)
	}
	return d
}

// TestCvt runs every conversion, with registers of every width, against the
// reference.
func TestCvt(t *testing.T) {
	const lanes, record = 128, 48 // bytes of a lane's operands: sources, random bits, old value
	rnd := rand.New(rand.NewPCG(5, 6))
	list := conversions()
	bad := 0
	for from := 0; from < len(list) && bad < 20; from += 50 {
		batch := list[from:min(from+50, len(list))]
		in := make([]byte, len(batch)*lanes*record)
		var body strings.Builder
		body.WriteString("mul.wide.u32 %x, %t, 8;\nadd.u64 %o, %out, %x;\nmul.wide.u32 %x, %t, 48;\nadd.u64 %a, %in0, %x;\n" +
			"rem.u32 %r, %t, 3;\nsetp.ne.u32 %on, %r, 2;\n")
		for k := range batch {
			c := &batch[k]
			body.WriteString(c.text())
			fmt.Fprintf(&body, "add.u64 %%o, %%o, %d;\nadd.u64 %%a, %%a, %d;\n", 8*lanes, record*lanes)
			for i := range lanes {
				at := in[(k*lanes+i)*record:]
				for s := range c.srcs {
					v := operandOf(rnd, string(c.st)) | rnd.Uint64()<<(c.st.Bits()-1)<<1
					binary.LittleEndian.PutUint64(at[8*s:], v)
				}
				binary.LittleEndian.PutUint64(at[32:], rnd.Uint64())
				binary.LittleEndian.PutUint64(at[40:], rnd.Uint64())
			}
		}
		out := runBody(t, bodyOpts{version: "9.1", target: "sm_100a", block: lanes}, ".reg .b64 %o, %a, %x;\n.reg .b32 %r;\n.reg .pred %on;", body.String(), [][]byte{in}, len(batch)*lanes*8)
		for k := range batch {
			c := &batch[k]
			for i := range lanes {
				at := in[(k*lanes+i)*record:]
				v := make([]uint64, c.srcs)
				for s := range v {
					v[s] = binary.LittleEndian.Uint64(at[8*s:])
				}
				rb := binary.LittleEndian.Uint64(at[32:])
				got := binary.LittleEndian.Uint64(out[(k*lanes+i)*8:])
				want := c.want(v, rb&0xffffffff)
				if i%3 == 2 {
					want = binary.LittleEndian.Uint64(at[40:]) & (^uint64(0) >> (64 - c.dreg))
				}
				if got != want {
					t.Errorf("%s of %#x (random %#x) from %d-bit to %d-bit registers = %#x, want %#x", c.name, v, rb, c.sreg, c.dreg, got, want)
					bad++
					break
				}
			}
		}
	}
	t.Logf("%d conversions", len(list))
}
