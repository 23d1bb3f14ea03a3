package sass

import (
	"fmt"
	"math/big"
	"math/bits"
	"strings"
	"testing"
)

// sum3 is the reference of IADD3: exact, a negated term as its inverse plus one.
func sum3(a, b, c uint32, neg [3]bool, carry int64) (uint32, bool, bool) {
	s := big.NewInt(carry)
	for i, v := range []uint32{a, b, c} {
		t := int64(v)
		if neg[i] {
			t = int64(^v) + 1
		}
		s.Add(s, big.NewInt(t))
	}
	v := s.Uint64()
	return uint32(v), v >= 1<<32, v >= 1<<33
}

// table3 is any function of three bits, bit by bit.
func table3(a, b, c uint32, lut uint32) (r uint32) {
	for i := range 32 {
		r |= lut >> (a>>i&1<<2 | b>>i&1<<1 | c>>i&1) & 1 << i
	}
	return r
}

// funnel shifts the pair {hi, lo} by exact arithmetic.
func funnel(lo, hi, n, width uint32, left, arith, wrap, upper bool) uint32 {
	if wrap {
		n %= width
	} else if n > width {
		n = width
	}
	x := new(big.Int).SetUint64(uint64(lo) | uint64(hi)<<32)
	if arith {
		x = big.NewInt(int64(uint64(lo) | uint64(hi)<<32))
	}
	if left {
		x.Lsh(x, uint(n))
	} else {
		x.Rsh(x, uint(n))
	}
	x.And(x, new(big.Int).SetUint64(^uint64(0)))
	v := x.Uint64()
	if upper {
		return uint32(v >> 32)
	}
	return uint32(v)
}

// lea is the reference of LEA for a shifted term.
func lea(t, b uint32, negT, negB bool) result {
	c := false
	if negT {
		c = c || t == 0
		t = -t
	}
	if negB {
		c = c || b == 0
		b = -b
	}
	s := uint64(t) + uint64(b)
	return result{r: [4]uint32{uint32(s)}, p: [2]bool{c || s >= 1<<32}}
}

func signedLess(a, b uint32) bool { return int32(a) < int32(b) }

// topBit is the place of the highest bit that is set, -1 if none is.
func topBit(v uint32) uint32 { return uint32(bits.Len32(v)) - 1 }

func TestIntegers(t *testing.T) {
	check(t, []opCase{
		{"IADD3 R0, P0, P1, R4, R5, R6", "i", 1, 2, func(l *lane) result {
			v, u, w := sum3(l.r[0], l.r[1], l.r[2], [3]bool{}, 0)
			return result{[4]uint32{v}, [2]bool{u, w}}
		}},
		{"IADD3 R0, P0, P1, -R4, R5, R6", "i", 1, 2, func(l *lane) result {
			v, u, w := sum3(l.r[0], l.r[1], l.r[2], [3]bool{true}, 0)
			return result{[4]uint32{v}, [2]bool{u, w}}
		}},
		{"IADD3 R0, R4, R5, -R6", "i", 1, 0, func(l *lane) result { return word1(l.r[0] + l.r[1] - l.r[2]) }},
		{"IADD3 R0, R4, R5, RZ", "i", 1, 0, func(l *lane) result { return word1(l.r[0] + l.r[1]) }},
		{"IADD3 R0, R4, -0x5, RZ", "i", 1, 0, func(l *lane) result { return word1(l.r[0] - 5) }},
		{"IADD3.X R0, P0, P1, R4, ~R5, R6, P2, P3", "i", 1, 2, func(l *lane) result {
			s := uint64(l.r[0]) + uint64(^l.r[1]) + uint64(l.r[2]) + uint64(b2u(l.p[0])) + uint64(b2u(l.p[1]))
			return result{[4]uint32{uint32(s)}, [2]bool{s >= 1<<32, s >= 1<<33}}
		}},
		{"IADD3.X R0, R4, R5, RZ, P2, !PT", "i", 1, 0, func(l *lane) result { return word1(l.r[0] + l.r[1] + b2u(l.p[0])) }},
		{"IMAD R0, R4, R5, R6", "i", 1, 0, func(l *lane) result { return word1(l.r[0]*l.r[1] + l.r[2]) }},
		{"IMAD R0, R4, R5, -R6", "i", 1, 0, func(l *lane) result { return word1(l.r[0]*l.r[1] - l.r[2]) }},
		{"IMAD.MOV.U32 R0, RZ, RZ, R6", "i", 1, 0, func(l *lane) result { return word1(l.r[2]) }},
		{"IMAD.SHL.U32 R0, R4, 0x10, RZ", "i", 1, 0, func(l *lane) result { return word1(l.r[0] << 4) }},
		{"IMAD.WIDE R0, R4, R5, R6", "i", 2, 0, func(l *lane) result {
			return word2(uint64(int64(int32(l.r[0]))*int64(int32(l.r[1]))) + l.pair(2))
		}},
		{"IMAD.WIDE.U32 R0, P0, R4, R5, R6", "i", 2, 1, func(l *lane) result {
			s := new(big.Int).SetUint64(uint64(l.r[0]) * uint64(l.r[1]))
			s.Add(s, new(big.Int).SetUint64(l.pair(2)))
			v := word2(new(big.Int).And(s, new(big.Int).SetUint64(^uint64(0))).Uint64())
			v.p[0] = s.BitLen() > 64
			return v
		}},
		{"IMAD.HI.U32 R0, R4, R5, R6", "i", 1, 0, func(l *lane) result {
			return word1(uint32((uint64(l.r[0])*uint64(l.r[1]) + l.pair(2)) >> 32))
		}},
		{"IMAD.X R0, R4, R5, R6, P2", "i", 1, 0, func(l *lane) result { return word1(l.r[0]*l.r[1] + l.r[2] + b2u(l.p[0])) }},
		{"LEA R0, P0, R4, R5, 0x3", "i", 1, 1, func(l *lane) result { return lea(l.r[0]<<3, l.r[1], false, false) }},
		{"LEA R0, P0, -R4, R5, 0x2", "i", 1, 1, func(l *lane) result { return lea(l.r[0]<<2, l.r[1], true, false) }},
		{"LEA R0, P0, -R4, -R5, 0x2", "i", 1, 1, func(l *lane) result { return lea(l.r[0]<<2, l.r[1], true, true) }},
		{"LEA R0, R4, -R5, 0x2", "i", 1, 0, func(l *lane) result { return lea(l.r[0]<<2, l.r[1], false, true) }},
		{"LEA.HI R0, P0, R4, R5, R6, 0x5", "i", 1, 1, func(l *lane) result {
			return lea(uint32((uint64(l.r[2])<<32|uint64(l.r[0]))>>27), l.r[1], false, false)
		}},
		{"LEA.HI.X R0, R4, R5, R6, 0x2, P2", "i", 1, 0, func(l *lane) result {
			return word1(uint32((uint64(l.r[2])<<32|uint64(l.r[0]))>>30) + l.r[1] + b2u(l.p[0]))
		}},
		{"LEA.HI.X.SX32 R0, R4, R5, 0x2, P2", "i", 1, 0, func(l *lane) result {
			return word1(uint32(int64(int32(l.r[0]))>>30) + l.r[1] + b2u(l.p[0]))
		}},
		{"LOP3.LUT R0, R4, R5, R6, 0x96, !PT", "i", 1, 0, func(l *lane) result { return word1(l.r[0] ^ l.r[1] ^ l.r[2]) }},
		{"LOP3.LUT R0, R4, R5, RZ, 0xc0, !PT", "i", 1, 0, func(l *lane) result { return word1(l.r[0] & l.r[1]) }},
		{"LOP3.LUT R0, R4, R5, RZ, 0xfc, !PT", "i", 1, 0, func(l *lane) result { return word1(l.r[0] | l.r[1]) }},
		{"LOP3.LUT R0, R4, R5, RZ, 0x3c, !PT", "i", 1, 0, func(l *lane) result { return word1(l.r[0] ^ l.r[1]) }},
		{"LOP3.LUT P0, R0, R4, R5, R6, 0xe4, !PT", "m", 1, 1, func(l *lane) result {
			v := table3(l.r[0], l.r[1], l.r[2], 0xe4)
			return result{[4]uint32{v}, [2]bool{v != 0}}
		}},
		{"LOP3.LUT P0, R0, R4, 0xff, R6, 0x1b, P2", "m", 1, 1, func(l *lane) result {
			v := table3(l.r[0], 0xff, l.r[2], 0x1b)
			return result{[4]uint32{v}, [2]bool{v != 0 || l.p[0]}}
		}},
		{"SHF.L.U32 R0, R4, R5, RZ", "is", 1, 0, func(l *lane) result { return word1(funnel(l.r[0], 0, l.r[1], 32, true, false, false, false)) }},
		{"SHF.R.U32.HI R0, RZ, R5, R6", "isi", 1, 0, func(l *lane) result {
			return word1(funnel(0, l.r[2], l.r[1], 32, false, false, false, true))
		}},
		{"SHF.R.S32.HI R0, RZ, R5, R6", "isi", 1, 0, func(l *lane) result {
			return word1(funnel(0, l.r[2], l.r[1], 32, false, true, false, true))
		}},
		{"SHF.L.U64.HI R0, R4, R5, R6", "isi", 1, 0, func(l *lane) result {
			return word1(funnel(l.r[0], l.r[2], l.r[1], 64, true, false, false, true))
		}},
		{"SHF.R.U64 R0, R4, R5, R6", "isi", 1, 0, func(l *lane) result {
			return word1(funnel(l.r[0], l.r[2], l.r[1], 64, false, false, false, false))
		}},
		{"SHF.R.S64 R0, R4, R5, R6", "isi", 1, 0, func(l *lane) result {
			return word1(funnel(l.r[0], l.r[2], l.r[1], 64, false, true, false, false))
		}},
		{"SHF.L.W.U32 R0, R4, R5, R6", "iii", 1, 0, func(l *lane) result {
			return word1(funnel(l.r[0], l.r[2], l.r[1], 32, true, false, true, false))
		}},
		{"PRMT R0, R4, R5, R6", "i", 1, 0, func(l *lane) result {
			var v uint32
			for i := range 4 {
				n := l.r[1] >> (4 * i) & 15
				src := uint64(l.r[2])<<32 | uint64(l.r[0])
				by := uint32(src>>(8*(n&7))) & 0xff
				if n&8 != 0 {
					by = uint32(int32(int8(by))>>7) & 0xff
				}
				v |= by << (8 * i)
			}
			return word1(v)
		}},
		{"BMSK R0, R4, R5", "m", 1, 0, func(l *lane) result {
			m := uint64(1)<<min(l.r[1], 32) - 1
			return word1(uint32(m << min(l.r[0], 32)))
		}},
		{"SGXT R0, R4, R5", "is", 1, 0, func(l *lane) result {
			n := min(l.r[1], 32)
			if n == 0 {
				return word1(0)
			}
			return word1(uint32(int32(l.r[0]<<(32-n)) >> (32 - n)))
		}},
		{"SGXT.U32 R0, R4, 0xb", "i", 1, 0, func(l *lane) result { return word1(l.r[0] % 2048) }},
		{"POPC R0, R4", "i", 1, 0, func(l *lane) result {
			n := uint32(0)
			for v := l.r[0]; v != 0; v >>= 1 {
				n += v & 1
			}
			return word1(n)
		}},
		{"FLO.U32 R0, R4", "i", 1, 0, func(l *lane) result { return word1(topBit(l.r[0])) }},
		{"FLO R0, R4", "i", 1, 0, func(l *lane) result {
			if int32(l.r[0]) < 0 {
				return word1(topBit(^l.r[0]))
			}
			return word1(topBit(l.r[0]))
		}},
		{"FLO.U32.SH R0, R4", "i", 1, 0, func(l *lane) result {
			if l.r[0] == 0 {
				return word1(full)
			}
			return word1(31 - topBit(l.r[0]))
		}},
		{"FLO.U32 R0, ~R4", "i", 1, 0, func(l *lane) result { return word1(topBit(^l.r[0])) }},
		{"BREV R0, R4", "i", 1, 0, func(l *lane) result {
			var v uint32
			for i := range 32 {
				v |= l.r[0] >> i & 1 << (31 - i)
			}
			return word1(v)
		}},
		{"IABS R0, R4", "i", 1, 0, func(l *lane) result { return word1(pick(int32(l.r[0]) < 0, -l.r[0], l.r[0])) }},
		{"IMNMX R0, R4, R5, P2", "i", 1, 0, func(l *lane) result {
			return word1(pick(signedLess(l.r[0], l.r[1]) == l.p[0], l.r[0], l.r[1]))
		}},
		{"IMNMX.U32 R0, R4, R5, !PT", "i", 1, 0, func(l *lane) result { return word1(max(l.r[0], l.r[1])) }},
		{"ISETP.LT.AND P0, P1, R4, R5, P2", "i", 0, 2, func(l *lane) result {
			c := signedLess(l.r[0], l.r[1])
			return result{p: [2]bool{c && l.p[0], !c && l.p[0]}}
		}},
		{"ISETP.GE.U32.OR P0, P1, R4, R5, !P2", "i", 0, 2, func(l *lane) result {
			c := l.r[0] >= l.r[1]
			return result{p: [2]bool{c || !l.p[0], !c || !l.p[0]}}
		}},
		{"ISETP.NE.XOR P0, PT, R4, R5, P2", "m", 0, 1, func(l *lane) result { return result{p: [2]bool{(l.r[0] != l.r[1]) != l.p[0]}} }},
		{"ISETP.GT.AND.EX P0, PT, R4, R5, PT, P2", "m", 0, 1, func(l *lane) result {
			c := int32(l.r[0]) > int32(l.r[1])
			if l.r[0] == l.r[1] {
				c = l.p[0]
			}
			return result{p: [2]bool{c}}
		}},
		{"SEL R0, R4, R5, P2", "i", 1, 0, func(l *lane) result { return word1(pick(l.p[0], l.r[0], l.r[1])) }},
		{"SEL R0, R4, 0x7, !P2", "i", 1, 0, func(l *lane) result { return word1(pick(!l.p[0], l.r[0], 7)) }},
		{"MOV R0, R4", "i", 1, 0, func(l *lane) result { return word1(l.r[0]) }},
		{"MOV R0, 0xdeadbeef", "i", 1, 0, func(l *lane) result { return word1(0xdeadbeef) }},
		{"IDP.4A.S8.U8 R0, R4, R5, R6", "i", 1, 0, func(l *lane) result {
			s := int64(int32(l.r[2]))
			for i := range 4 {
				s += int64(int8(l.r[0]>>(8*i))) * int64(uint8(l.r[1]>>(8*i)))
			}
			return word1(uint32(s))
		}},
		{"IDP.2A.LO.S16.S8 R0, R4, R5, R6", "i", 1, 0, func(l *lane) result {
			s := int64(int32(l.r[2]))
			for i := range 2 {
				s += int64(int16(l.r[0]>>(16*i))) * int64(int8(l.r[1]>>(8*i)))
			}
			return word1(uint32(s))
		}},
		{"VABSDIFF.U32 R0, R4, R5, R6", "i", 1, 0, func(l *lane) result {
			return word1(max(l.r[0], l.r[1]) - min(l.r[0], l.r[1]) + l.r[2])
		}},
		{"VABSDIFF4.U8.ACC R0, R4, R5, R6", "i", 1, 0, func(l *lane) result {
			s := l.r[2]
			for i := range 4 {
				a, b := uint8(l.r[0]>>(8*i)), uint8(l.r[1]>>(8*i))
				s += uint32(max(a, b) - min(a, b))
			}
			return word1(s)
		}},
		{"PLOP3.LUT P0, P1, P2, P3, P4, 0xe8, 0x17", "i", 0, 2, func(l *lane) result {
			n := b2u(l.p[0]) + b2u(l.p[1]) + b2u(l.p[2])
			return result{p: [2]bool{n >= 2, n < 2}}
		}},
		{"P2R.B1 R0, PR, R4, 0x1c", "i", 1, 0, func(l *lane) result {
			v := l.r[0] &^ 0x1c00
			for i, p := range l.p {
				v |= b2u(p) << (10 + i)
			}
			return word1(v)
		}},
		{"R2P PR, R4.B2, 0x3", "i", 0, 2, func(l *lane) result {
			return result{p: [2]bool{l.r[0]>>16&1 != 0, l.r[0]>>17&1 != 0}}
		}},
	})
}

// TestLogic: every function of three operands.
func TestLogic(t *testing.T) {
	var cases []opCase
	for lut := range uint32(256) {
		cases = append(cases, opCase{fmt.Sprintf("LOP3.LUT P0, R0, R4, R5, R6, %#x, P2", lut), "i", 1, 1, func(l *lane) result {
			v := table3(l.r[0], l.r[1], l.r[2], lut)
			return result{[4]uint32{v}, [2]bool{v != 0 || l.p[0]}}
		}})
	}
	check(t, cases)
}

// TestFunnel: every form of funnel shift by a literal, with both words, one word twice and one word alone.
func TestFunnel(t *testing.T) {
	var cases []opCase
	for _, wrap := range []bool{false, true} {
		for _, kind := range []string{"L.U32", "L.U64", "R.U32", "R.S32", "R.U64", "R.S64"} {
			for _, upper := range []bool{false, true} {
				for _, n := range []uint32{0, 1, 13, 31, 32, 33, 45, 63, 64, 70, 0xffffffff} {
					for _, words := range [][2]string{{"R4", "R6"}, {"R4", "R4"}, {"R4", "RZ"}, {"RZ", "R6"}} {
						width := uint32(32)
						if strings.HasSuffix(kind, "64") {
							width = 64
						}
						text := "SHF." + kind[:2]
						if wrap {
							text += "W."
						}
						text += kind[2:]
						if upper {
							text += ".HI"
						}
						cases = append(cases, opCase{fmt.Sprintf("%s R0, %s, %#x, %s", text, words[0], n, words[1]), "i", 1, 0, func(l *lane) result {
							of := map[string]uint32{"R4": l.r[0], "R6": l.r[2]}
							return word1(funnel(of[words[0]], of[words[1]], n, width, kind[0] == 'L', kind[2] == 'S', wrap, upper))
						}})
					}
				}
			}
		}
	}
	check(t, cases)
}
