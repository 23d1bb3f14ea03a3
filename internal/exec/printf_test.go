package exec

import (
	"math"
	"testing"
)

// TestPrintfNumbers: numbers are written as the C library writes them (the
// expected texts are those of glibc's printf).
func TestPrintfNumbers(t *testing.T) {
	for _, c := range []struct {
		flags       string
		width, prec int
		conv        byte
		v           float64
		want        string
	}{
		{"", 0, -1, 'f', 1.5, "1.500000"},
		{"", 10, -1, 'f', math.Inf(1), "       inf"},
		{"-", 10, -1, 'f', math.Inf(-1), "-inf      "},
		{"0", 10, -1, 'f', math.Inf(1), "       inf"},
		{"+", 0, -1, 'F', math.Inf(1), "+INF"},
		{"", 0, -1, 'f', math.Float64frombits(0xfff8000000000000), "-nan"},
		{" ", 0, -1, 'f', math.Float64frombits(0x7ff8000000000000), " nan"},
		{"#", 0, 0, 'f', 3, "3."},
		{"#", 0, 0, 'e', 3, "3.e+00"},
		{"0", 10, 2, 'f', -1.5, "-000001.50"},
		{"", 0, 0, 'f', 0.5, "0"},
		{"", 0, 0, 'f', 1.5, "2"},
		{"", 0, -1, 'g', 100000, "100000"},
		{"", 0, -1, 'g', 1000000, "1e+06"},
		{"", 0, -1, 'g', 0.0001, "0.0001"},
		{"", 0, -1, 'g', 0.00001, "1e-05"},
		{"", 0, 0, 'g', 123, "1e+02"},
		{"#", 0, -1, 'g', 1, "1.00000"},
		{"#", 0, 1, 'g', 100, "1.e+02"},
		{"", 0, 3, 'G', 1e-10, "1E-10"},
		{"", 0, 2, 'g', 99.9, "1e+02"},
		{"", 0, -1, 'g', 0, "0"},
		{"", 0, -1, 'a', 3, "0x1.8p+1"},
		{"", 0, -1, 'a', 0, "0x0p+0"},
		{"", 0, -1, 'A', -0.1, "-0X1.999999999999AP-4"},
		{"", 0, -1, 'a', 5e-324, "0x0.0000000000001p-1022"},
		{"", 0, 0, 'a', 1.5, "0x2p+0"},
		{"", 0, 2, 'a', 1.999, "0x2.00p+0"},
		{"0", 12, 1, 'a', 1, "0x00001.0p+0"},
		{"", 0, 15, 'a', 1, "0x1.000000000000000p+0"},
	} {
		s := conversion{width: c.width, prec: c.prec}
		for i := range c.flags {
			s.flag(c.flags[i])
		}
		if got := s.float(c.v, c.conv); got != c.want {
			t.Errorf("%%%s%d.%d%c of %g is %q, want %q", c.flags, c.width, c.prec, c.conv, c.v, got, c.want)
		}
	}
	for _, c := range []struct {
		flags       string
		width, prec int
		conv        byte
		v           int64
		want        string
	}{
		{"", 0, -1, 'd', math.MinInt64, "-9223372036854775808"},
		{"0", 8, 3, 'd', -5, "    -005"},
		{"0", 8, -1, 'd', -5, "-0000005"},
		{"-0", 8, -1, 'd', -5, "-5      "},
		{"+ ", 0, -1, 'd', 5, "+5"},
		{" ", 0, -1, 'd', 5, " 5"},
		{"", 3, 0, 'd', 0, "   "},
		{"+", 0, -1, 'u', 5, "5"},
		{" ", 0, -1, 'x', 255, "ff"},
		{"#", 0, -1, 'x', 0, "0"},
		{"#", 0, -1, 'X', 255, "0XFF"},
		{"#0", 8, -1, 'x', 255, "0x0000ff"},
		{"#", 0, -1, 'o', 8, "010"},
		{"#", 0, 0, 'o', 0, "0"},
		{"#", 0, 4, 'o', 8, "0010"},
	} {
		s := conversion{width: c.width, prec: c.prec}
		for i := range c.flags {
			s.flag(c.flags[i])
		}
		got := ""
		if c.conv == 'd' {
			got = s.signed(c.v)
		} else {
			got = s.unsigned(uint64(c.v), c.conv)
		}
		if got != c.want {
			t.Errorf("%%%s%d.%d%c of %d is %q, want %q", c.flags, c.width, c.prec, c.conv, c.v, got, c.want)
		}
	}
}
