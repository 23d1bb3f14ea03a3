package ptx_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"
)

// reduxReference folds the values of the lanes of a mask.
func reduxReference(op string, abs, nan bool, typ string, v []uint32, mask uint32) uint32 {
	var out uint32
	first, sawNaN, sawNumber := true, false, false
	var f float32
	for l := range v {
		if mask>>l&1 == 0 {
			continue
		}
		x := v[l]
		if typ == "f32" {
			y := math.Float32frombits(x)
			if abs {
				y = math.Float32frombits(x & 0x7fffffff)
			}
			switch {
			case y != y:
				sawNaN = true
			case !sawNumber:
				f, sawNumber = y, true
			case op == "min" && (y < f || y == f && math.Signbit(float64(y))),
				op == "max" && (y > f || y == f && !math.Signbit(float64(y))):
				f = y
			}
			continue
		}
		if first {
			out, first = x, false
			continue
		}
		less := x < out
		if typ == "s32" {
			less = int32(x) < int32(out)
		}
		switch op {
		case "add":
			out += x
		case "and":
			out &= x
		case "or":
			out |= x
		case "xor":
			out ^= x
		case "min":
			if less {
				out = x
			}
		case "max":
			if !less {
				out = x
			}
		}
	}
	if typ == "f32" {
		if sawNaN && nan || !sawNumber {
			return 0x7fffffff
		}
		return math.Float32bits(f)
	}
	return out
}

// TestRedux executes every form of redux.sync, with all lanes, with masks of
// some lanes, with several masks at once, and with one lane.
func TestRedux(t *testing.T) {
	type form struct{ op, mods, typ string }
	var forms []form
	for _, op := range []string{"add", "min", "max"} {
		forms = append(forms, form{op, "", "u32"}, form{op, "", "s32"})
	}
	for _, op := range []string{"and", "or", "xor"} {
		forms = append(forms, form{op, "", "b32"})
	}
	for _, op := range []string{"min", "max"} {
		for _, mods := range []string{"", ".abs", ".NaN", ".abs.NaN"} {
			forms = append(forms, form{op, mods, "f32"})
		}
	}
	// How the lanes are divided: each lane's member mask.
	divisions := map[string]func(l int) uint32{
		"all":      func(int) uint32 { return 0xffffffff },
		"halves":   func(l int) uint32 { return 0xffff << (l & 16) },
		"quads":    func(l int) uint32 { return 0xf << (l &^ 3) },
		"even odd": func(l int) uint32 { return 0x55555555 << (l & 1) },
		"alone":    func(l int) uint32 { return 1 << l },
	}
	corners := []uint32{0, 1, 0x80000000, 0x7fffffff, 0xffffffff, 0x7f800000, 0xff800000, 0x7fc00001, 0xffc00000, 0x3f800000, 0x80000001}
	for _, f := range forms {
		name := fmt.Sprintf("redux.sync.%s%s.%s", f.op, f.mods, f.typ)
		for div, maskOf := range divisions {
			rnd := tcRand(name + div)
			for range 4 {
				in := make([]byte, 256)
				v := make([]uint32, 32)
				for l := range 32 {
					v[l] = rnd.Uint32()
					if rnd.IntN(2) == 0 {
						v[l] = corners[rnd.IntN(len(corners))]
					}
					binary.LittleEndian.PutUint32(in[8*l:], v[l])
					binary.LittleEndian.PutUint32(in[8*l+4:], maskOf(l))
				}
				out := runBody(t, bodyOpts{target: "sm_100a"}, ".reg .b64 %p; .reg .b32 %v, %m, %d;", `mad.wide.u32 %p, %t, 8, %in0;
ld.global.v2.b32 {%v, %m}, [%p];
`+name+` %d, %v, %m;
mad.wide.u32 %p, %t, 4, %out;
st.global.b32 [%p], %d;`, [][]byte{in}, 128)
				for l := range 32 {
					want := reduxReference(f.op, strings.Contains(f.mods, "abs"), strings.Contains(f.mods, "NaN"), f.typ, v, maskOf(l))
					if got := binary.LittleEndian.Uint32(out[4*l:]); got != want {
						t.Fatalf("%s, %s, lane %d: %#x, want %#x of %#x", name, div, l, got, want, v)
					}
				}
			}
		}
	}
}

// TestReduxParts: lanes outside the member mask take no part, whether they are elsewhere in the
// program, have exited, or never existed (a block of 48).
func TestReduxParts(t *testing.T) {
	store := `mad.wide.u32 %p, %t, 4, %out;
st.global.b32 [%p], %d;`
	for _, c := range []struct {
		name, body string
		block      uint32
		want       func(t int) uint32
	}{
		{"diverged", `setp.lt.u32 %q, %t, 10;
mov.b32 %d, 7;
@!%q bra out;
redux.sync.add.u32 %d, %t, 0x3ff;
out:
` + store, 32, func(t int) uint32 { return uint32(when(t < 10, 45, 7)) }},
		{"immediate mask and guard", `setp.ge.u32 %q, %t, 30;
mov.b32 %d, 7;
@%q redux.sync.max.u32 %d, %t, 0xc0000000;
` + store, 32, func(t int) uint32 { return uint32(when(t >= 30, 31, 7)) }},
		{"both sides", `setp.lt.u32 %q, %t, 16;
@%q bra low;
redux.sync.add.s32 %d, %t, 0xffff0000;
bra out;
low:
redux.sync.add.s32 %d, %t, 0x0000ffff;
out:
` + store, 32, func(t int) uint32 { return uint32(when(t < 16, 120, 376)) }},
		{"partial warp", `mov.u32 %m, 0xffffffff;
setp.ge.u32 %q, %t, 32;
selp.b32 %m, 0xffff, %m, %q;
redux.sync.add.u32 %d, %t, %m;
` + store, 48, func(t int) uint32 { return uint32(when(t < 32, 496, 632)) }},
		{"exited lanes", `setp.lt.u32 %q, %t, 4;
@%q exit;
redux.sync.min.u32 %d, %t, 0xfffffff0;
` + store, 32, func(t int) uint32 { return uint32(when(t < 4, 0, 4)) }},
	} {
		out := runBody(t, bodyOpts{block: c.block}, ".reg .b64 %p; .reg .b32 %d, %m; .reg .pred %q;", c.body, nil, int(c.block)*4)
		for l := range int(c.block) {
			if got := binary.LittleEndian.Uint32(out[4*l:]); got != c.want(l) {
				t.Errorf("%s: thread %d has %d, want %d", c.name, l, got, c.want(l))
			}
		}
	}
}
