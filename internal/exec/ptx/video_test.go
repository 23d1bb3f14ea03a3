package ptx_test

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// lineTest is one instruction on 32-bit registers a, b, c (and 64-bit A, B, C)
// with the result in d or D, against a reference. A text of a single instruction
// is guarded: every third lane must keep its zero.
type lineTest struct {
	text string // "vadd.u32.u32.u32 d, a.b0, b, c"
	wide bool   // the result is in D
	want func(a, b, c uint64) uint64
	// check replaces want for approximations.
	check func(a, b, c, got uint64) error
}

// runLines runs the instructions on corner and random operands.
func runLines(t *testing.T, list []lineTest) {
	t.Helper()
	const lanes, record = 128, 24
	rnd := rand.New(rand.NewPCG(7, uint64(len(list))))
	bad := 0
	for from := 0; from < len(list) && bad < 20; from += 100 {
		batch := list[from:min(from+100, len(list))]
		in := make([]byte, len(batch)*lanes*record)
		var body strings.Builder
		body.WriteString("mul.wide.u32 %x, %t, 8;\nadd.u64 %o, %out, %x;\nmul.wide.u32 %x, %t, 24;\nadd.u64 %p, %in0, %x;\n" +
			"rem.u32 %r, %t, 3;\nsetp.ne.u32 %on, %r, 2;\n")
		for k := range batch {
			for i := range lanes * 3 {
				v := operand(rnd, 64, formats["f64"])
				if i%2 == 0 || rnd.IntN(2) == 0 {
					v = operand(rnd, 32, formats["f32"]) | v<<32
				}
				binary.LittleEndian.PutUint64(in[k*lanes*record+8*i:], v)
			}
			guard := ""
			if !strings.Contains(batch[k].text, ";") {
				guard = "@%on "
			}
			body.WriteString("ld.global.b64 A, [%p];\nld.global.b64 B, [%p+8];\nld.global.b64 C, [%p+16];\n" +
				"cvt.u32.u64 a, A;\ncvt.u32.u64 b, B;\ncvt.u32.u64 c, C;\nmov.b32 d, 0;\nmov.b64 D, 0;\n" + guard + batch[k].text + ";\n")
			if !batch[k].wide {
				body.WriteString("cvt.u64.u32 D, d;\n")
			}
			fmt.Fprintf(&body, "st.global.b64 [%%o], D;\nadd.u64 %%o, %%o, %d;\nadd.u64 %%p, %%p, %d;\n", 8*lanes, record*lanes)
		}
		decls := ".reg .b64 %o, %p, %x, A, B, C, D;\n.reg .b32 a, b, c, d;\n.reg .b16 ha, hb, hc, hd;\n.reg .b32 %r;\n.reg .pred p, q, %on;"
		out := runBody(t, bodyOpts{version: "8.8", target: "sm_100a", block: lanes}, decls, body.String(), [][]byte{in}, len(batch)*lanes*8)
		for k := range batch {
			l := &batch[k]
			for i := range lanes {
				at := in[(k*lanes+i)*record:]
				a, b, c := binary.LittleEndian.Uint64(at), binary.LittleEndian.Uint64(at[8:]), binary.LittleEndian.Uint64(at[16:])
				got := binary.LittleEndian.Uint64(out[(k*lanes+i)*8:])
				off := i%3 == 2 && !strings.Contains(l.text, ";") // the guard keeps the lane out
				if l.check != nil && !off {
					if err := l.check(a, b, c, got); err != nil {
						t.Errorf("%s of %#x %#x %#x = %#x: %v", l.text, a, b, c, got, err)
						bad++
						break
					}
					continue
				}
				want := uint64(0)
				if !off {
					want = l.want(a, b, c)
				}
				if got != want {
					t.Errorf("%s of %#x %#x %#x = %#x, want %#x", l.text, a, b, c, got, want)
					bad++
					break
				}
			}
		}
	}
	t.Logf("%d instructions", len(list))
}

var types32 = []string{"u32", "s32"}

// field reads the part of a word that a selector names.
func field(v uint64, sel, typ string) *big.Int {
	switch {
	case sel == "":
		return integer(v, 32, signedType(typ))
	case sel[0] == 'b':
		return integer(v>>(8*(sel[1]-'0')), 8, signedType(typ))
	}
	return integer(v>>(16*(sel[1]-'0')), 16, signedType(typ))
}

func dot(sel string) string {
	if sel == "" {
		return ""
	}
	return "." + sel
}

func bigMin(a, b *big.Int) *big.Int {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

func bigMax(a, b *big.Int) *big.Int {
	if a.Cmp(b) > 0 {
		return a
	}
	return b
}

// clampTo clamps to a signed or unsigned integer of the given width.
func clampTo(v *big.Int, width uint, signed bool) *big.Int {
	lo, hi := new(big.Int), new(big.Int).Lsh(big.NewInt(1), width)
	if signed {
		hi.Rsh(hi, 1)
		lo.Neg(hi)
	}
	return bigMin(bigMax(v, lo), hi.Sub(hi, big.NewInt(1)))
}

// primary is the operation of a video instruction on its selected operands.
func primary(name string, wrapShift bool, a, b *big.Int) *big.Int {
	r := new(big.Int)
	switch name {
	case "vadd":
		return r.Add(a, b)
	case "vsub":
		return r.Sub(a, b)
	case "vabsdiff":
		return r.Abs(r.Sub(a, b))
	case "vmin":
		return bigMin(a, b)
	case "vmax":
		return bigMax(a, b)
	case "vavrg":
		if r.Add(a, b).Sign() >= 0 {
			r.Add(r, big.NewInt(1))
		}
		return r.Rsh(r, 1)
	}
	n := b.Uint64()
	if wrapShift {
		n %= 32
	}
	n = min(n, 32)
	if name == "vshl" {
		return r.Lsh(a, uint(n))
	}
	return r.Rsh(a, uint(n))
}

// finish saturates, then combines with c.
func finish(v *big.Int, c uint64, dsel, second string, sat, signed, merge bool) uint64 {
	width, at := uint(32), uint(0)
	if merge && dsel != "" {
		width = map[byte]uint{'b': 8, 'h': 16}[dsel[0]]
		at = width * uint(dsel[1]-'0')
	}
	if sat {
		v = clampTo(v, width, signed)
	}
	switch second {
	case "add":
		return wrap(new(big.Int).Add(v, integer(c, 32, signed)), 32)
	case "min":
		return wrap(bigMin(v, integer(c, 32, signed)), 32)
	case "max":
		return wrap(bigMax(v, integer(c, 32, signed)), 32)
	}
	if !merge {
		return wrap(v, 32)
	}
	keep := c & 0xffffffff &^ ((1<<width - 1) << at)
	return keep | wrap(v, width)<<at
}

var selectors = []string{"", "b0", "b1", "b2", "b3", "h0", "h1"}

// TestVideo runs the scalar video instructions in every combination of types
// and modifiers, with selectors in turn.
func TestVideo(t *testing.T) {
	var list []lineTest
	n := 0
	turn := func(list []string, step int) string { return list[n/step%len(list)] }
	for _, name := range []string{"vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr"} {
		shift := name == "vshl" || name == "vshr"
		for _, dt := range types32 {
			for _, at := range types32 {
				for _, bt := range types32 {
					if shift && bt == "s32" {
						continue
					}
					for _, sat := range []string{"", ".sat"} {
						for _, mode := range []string{".clamp", ".wrap"} {
							if !shift && mode == ".wrap" {
								continue
							}
							for _, second := range []string{"none", "merge", "add", "min", "max"} {
								for range 3 {
									n++
									asel, bsel, dsel := turn(selectors, 1), turn(selectors, 7), ""
									text := name + "." + dt + "." + at + "." + bt + sat
									if shift {
										text += mode
									}
									switch second {
									case "none":
										text += " d, a" + dot(asel) + ", b" + dot(bsel)
									case "merge":
										dsel = turn(selectors, 3)
										text += " d" + dot(dsel) + ", a" + dot(asel) + ", b" + dot(bsel) + ", c"
									default:
										text += "." + second + " d, a" + dot(asel) + ", b" + dot(bsel) + ", c"
									}
									list = append(list, lineTest{text: text, want: func(a, b, c uint64) uint64 {
										v := primary(name, mode == ".wrap", field(a, asel, at), field(b, bsel, bt))
										return finish(v, c, dsel, second, sat != "", dt == "s32", second == "merge")
									}})
								}
							}
						}
					}
				}
			}
		}
	}
	for _, at := range types32 {
		for _, bt := range types32 {
			for _, cmp := range []string{"eq", "ne", "lt", "le", "gt", "ge"} {
				for _, second := range []string{"none", "merge", "add", "min", "max"} {
					n++
					asel, bsel, dsel := turn(selectors, 1), turn(selectors, 7), ""
					text := "vset." + at + "." + bt + "." + cmp
					switch second {
					case "none":
						text += " d, a" + dot(asel) + ", b" + dot(bsel)
					case "merge":
						dsel = turn(selectors, 3)
						text += " d" + dot(dsel) + ", a" + dot(asel) + ", b" + dot(bsel) + ", c"
					default:
						text += "." + second + " d, a" + dot(asel) + ", b" + dot(bsel) + ", c"
					}
					list = append(list, lineTest{text: text, want: func(a, b, c uint64) uint64 {
						ok, _ := holds(cmp, field(a, asel, at).Cmp(field(b, bsel, bt)))
						return finish(big.NewInt(int64(b2i(ok))), c, dsel, second, false, false, second == "merge")
					}})
				}
			}
		}
	}
	runLines(t, list)
}

// TestVmad runs vmad with every sign, scale and negation that PTX allows.
func TestVmad(t *testing.T) {
	var list []lineTest
	n := 0
	for _, at := range types32 {
		for _, bt := range types32 {
			for _, neg := range []string{"", "a", "b", "c", "ab", "po"} {
				for _, sat := range []string{"", ".sat"} {
					for _, shr := range []uint{0, 7, 15} {
						n++
						asel, bsel := selectors[n%7], selectors[n/2%7]
						negProduct := neg == "a" || neg == "b"
						unsigned := at == "u32" && bt == "u32" && !negProduct
						final := "s32"
						if unsigned && neg != "c" {
							final = "u32"
						}
						text := "vmad." + final + "." + at + "." + bt
						if neg == "po" {
							text += ".po"
						}
						text += sat
						if shr > 0 {
							text += fmt.Sprintf(".shr%d", shr)
						}
						minus := func(r string) string {
							if strings.Contains(neg, r) && neg != "po" {
								return "-" + r
							}
							return r
						}
						text += " d, " + minus("a") + dot(asel) + ", " + minus("b") + dot(bsel) + ", " + minus("c")
						list = append(list, lineTest{text: text, want: func(a, b, c uint64) uint64 {
							p := new(big.Int).Mul(field(a, asel, at), field(b, bsel, bt))
							if negProduct {
								p.Neg(p)
							}
							x := integer(c, 32, !unsigned)
							if neg == "c" {
								x.Neg(x)
							}
							p.Add(p, x)
							if neg == "po" {
								p.Add(p, big.NewInt(1))
							}
							p.Rsh(p, shr)
							if sat != "" {
								p = clampTo(p, 32, final == "s32")
							}
							return wrap(p, 32)
						}})
					}
				}
			}
		}
	}
	runLines(t, list)
}

// TestVideoSimd runs the SIMD video instructions in every combination of types
// and modifiers, with masks and selectors in turn.
func TestVideoSimd(t *testing.T) {
	var list []lineTest
	n := 0
	masks := map[int][]string{2: {"", "h0", "h1", "h10"}, 4: {"", "b0", "b1", "b2", "b3", "b3210"}}
	asels := map[int][]string{2: {"", "h10", "h01", "h32", "h23", "h31", "h00"}, 4: {"", "b3210", "b7654", "b0123", "b4567", "b1357", "b7700"}}
	for _, lanes := range []int{2, 4} {
		width := uint(32 / lanes)
		for _, name := range []string{"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset"} {
			for _, dt := range types32 {
				for _, at := range types32 {
					for _, bt := range types32 {
						mods := []string{"", ".sat", ".add"}
						cmps := []string{""}
						if name == "vset" {
							mods, cmps = []string{"", ".add"}, []string{"eq", "ne", "lt", "le", "gt", "ge"}
							if dt == "s32" {
								continue
							}
						}
						for _, mod := range mods {
							for _, cmp := range cmps {
								for range 3 {
									n++
									pick := func(l []string, step int) string { return l[n/step%len(l)] }
									mask, asel, bsel := pick(masks[lanes], 1), pick(asels[lanes], 2), pick(asels[lanes], 3)
									text := fmt.Sprintf("%s%d.%s.%s.%s%s", name, lanes, dt, at, bt, mod)
									if name == "vset" {
										text = fmt.Sprintf("%s%d.%s.%s.%s%s", name, lanes, at, bt, cmp, mod)
									}
									text += " d" + dot(mask) + ", a" + dot(asel) + ", b" + dot(bsel) + ", c"
									elem := func(sel string, first, i int, a, b uint64, typ string) *big.Int {
										k := first + i
										if sel != "" {
											k = int(sel[len(sel)-1-i] - '0')
										}
										w := a
										if k >= lanes {
											w, k = b, k-lanes
										}
										return integer(w>>(uint(k)*width), width, signedType(typ))
									}
									list = append(list, lineTest{text: text, want: func(a, b, c uint64) uint64 {
										sum, merged := integer(c, 32, false), c&0xffffffff
										for i := range lanes {
											if mask != "" && !slices.Contains([]byte(mask[1:]), byte('0'+i)) {
												continue
											}
											x, y := elem(asel, 0, i, a, b, at), elem(bsel, lanes, i, a, b, bt)
											var v *big.Int
											if name == "vset" {
												ok, _ := holds(cmp, x.Cmp(y))
												v = big.NewInt(int64(b2i(ok)))
											} else {
												v = primary(name, false, x, y)
											}
											if mod == ".sat" {
												v = clampTo(v, width, dt == "s32")
											}
											sum.Add(sum, v)
											at := uint(i) * width
											merged = merged&^((1<<width-1)<<at) | wrap(v, width)<<at
										}
										if mod == ".add" {
											return wrap(sum, 32)
										}
										return merged
									}})
								}
							}
						}
					}
				}
			}
		}
	}
	runLines(t, list)
}
