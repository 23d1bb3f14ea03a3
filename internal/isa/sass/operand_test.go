package sass

import "testing"

// TestFloats: numbers and their bits by the definition of the formats.
func TestFloats(t *testing.T) {
	for _, test := range []struct {
		text  string
		width int
		bits  uint64
	}{
		{"0", 16, 0}, {"-0", 16, 0x8000}, {"1", 16, 0x3c00}, {"-0.5", 16, 0xb800}, {"65504", 16, 0x7bff},
		{"5.9604644775390625e-08", 16, 1}, {"+INF", 16, 0x7c00}, {"-QNAN", 16, 0xfe00},
		{"1", 32, 0x3f800000}, {"-2.5", 32, 0xc0200000}, {"1.84467440737095516160e+19", 32, 0x5f800000}, {"+INF", 32, 0x7f800000},
		{"1.1754943508222875080e-38", 32, 0x00800000}, {"1", 64, 0x3ff0000000000000}, {"-INF", 64, 0xfff0000000000000},
		{"2.2250738585072013831e-308", 64, 0x0010000000000000},
	} {
		bits, err := parseFloat(test.text, test.width)
		if err != nil || bits != test.bits {
			t.Errorf("%s of %d bits: %x, %v, want %x", test.text, test.width, bits, err, test.bits)
		}
		back, err := parseFloat(floatText(test.bits, test.width), test.width)
		if err != nil || back != test.bits {
			t.Errorf("%x of %d bits is written %s, which is %x, %v", test.bits, test.width, floatText(test.bits, test.width), back, err)
		}
	}
	for text, width := range map[string]int{"65520": 16, "1e40": 32, "1e400": 64, "0x10000": 16, "0x100000000": 32, "SNAN": 32} {
		if bits, err := parseFloat(text, width); err == nil {
			t.Errorf("%s of %d bits: %x", text, width, bits)
		}
	}
}

// TestHalves goes through all numbers of 16 bits.
func TestHalves(t *testing.T) {
	for v := range uint64(1 << 16) {
		if back, err := parseFloat(floatText(v, 16), 16); err != nil || back != v {
			t.Fatalf("%04x is written %s, which is %04x, %v", v, floatText(v, 16), back, err)
		}
		o := Operand{Kind: FImm, Bits: v, Width: 16, Brain: true}
		if back, err := parseHalves(o.String(), immB2); err != nil || back != v {
			t.Fatalf("bfloat16 %04x is written %s, which is %04x, %v", v, o.String(), back, err)
		}
	}
}
