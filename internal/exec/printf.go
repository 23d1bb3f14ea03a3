package exec

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// This file: printf in device code. CUDA formats on the host, so the text follows the C
// library (C standard, fprintf).

// Printf appends what printf writes to out. The arguments are at buf: 4 bytes for int and
// shorter, 8 for long long, pointers and double, each naturally aligned. Like CUDA's, it
// returns the number of arguments.
func Printf(out *bytes.Buffer, format string, t Thread, buf uint64) int {
	a := printfArgs{t: t, at: buf, ok: true}
	for p := 0; p < len(format); {
		if format[p] != '%' {
			out.WriteByte(format[p])
			p++
			continue
		}
		start := p
		var s conversion
		if s, p = a.conversion(format, p+1); p >= len(format) {
			out.WriteString(format[start:])
			return a.n
		}
		text, known := a.text(&s, format[p])
		p++
		if !a.ok {
			return a.n
		}
		if !known {
			text = format[start:p]
		}
		out.WriteString(text)
	}
	return a.n
}

// printfArgs are the arguments of a call.
type printfArgs struct {
	t  Thread
	at uint64 // the next one
	n  int    // that have been taken
	ok bool   // no read has failed
}

// take reads the next argument.
func (a *printfArgs) take(size int) (v uint64) {
	if !a.ok {
		return 0
	}
	a.at = (a.at + uint64(size) - 1) &^ uint64(size-1)
	v, a.ok = a.t.Word(a.at, size)
	a.at += uint64(size)
	a.n++
	return v
}

// integer reads the next argument as an integer of the conversion's length: its bits, left
// aligned in a word, and how far they are from the right.
func (a *printfArgs) integer(s *conversion) (v uint64, n int) {
	size := 4
	if s.long > 0 {
		size = 8
	}
	n = 64 - 8*max(1, size>>max(0, -s.long))
	return a.take(size) << n, n
}

// conversion reads a specification from p on, up to its letter, and returns the letter's
// position.
func (a *printfArgs) conversion(format string, p int) (conversion, int) {
	s := conversion{prec: -1}
	for ; p < len(format) && s.flag(format[p]); p++ {
	}
	number := func() int { // digits or an asterisk
		if p < len(format) && format[p] == '*' {
			p++
			return int(int32(a.take(4)))
		}
		n := 0
		for ; p < len(format) && format[p] >= '0' && format[p] <= '9'; p++ {
			n = min(10*n+int(format[p]-'0'), widestField)
		}
		return n
	}
	if s.width = number(); s.width < 0 {
		s.minus, s.width = true, -s.width
	}
	if p < len(format) && format[p] == '.' {
		p++
		s.prec = max(number(), -1) // a negative one counts as absent
	}
	s.width, s.prec = min(s.width, widestField), min(s.prec, widestField)
	for ; p < len(format); p++ {
		switch format[p] {
		case 'l', 'q', 'j', 'z', 't':
			s.long++
		case 'h':
			s.long--
		case 'L':
		default:
			return s, p
		}
	}
	return s, p
}

// text converts the next argument as letter c says; false if c is no conversion.
func (a *printfArgs) text(s *conversion, c byte) (string, bool) {
	switch c {
	case '%':
		return "%", true
	case 'd', 'i':
		v, n := a.integer(s)
		return s.signed(int64(v) >> n), true
	case 'u', 'x', 'X', 'o':
		v, n := a.integer(s)
		return s.unsigned(v>>n, c), true
	case 'c':
		return s.pad("", string([]byte{byte(a.take(4))}), false), true
	case 'p':
		v := a.take(8)
		if v == 0 {
			return s.pad("", "(nil)", false), true
		}
		return s.pad("", "0x"+strconv.FormatUint(v, 16), false), true
	case 's':
		v := a.take(8)
		var str string
		if a.ok {
			str, a.ok = stringAt(a.t, v)
		}
		if s.prec >= 0 {
			str = str[:min(s.prec, len(str))]
		}
		return s.pad("", str, false), true
	case 'f', 'F', 'e', 'E', 'g', 'G', 'a', 'A':
		return s.float(math.Float64frombits(a.take(8)), c), true
	}
	return "", false
}

// widestField bounds a width or precision, our choice: otherwise a program could ask
// for gigabytes.
const widestField = 1 << 16

// conversion is a conversion specification of printf.
type conversion struct {
	minus, plus, space, alt, zero bool
	width, prec                   int // prec is -1 if absent
	long                          int // l less h of the length
}

// flag reads a flag; false if c is not one.
func (s *conversion) flag(c byte) bool {
	switch c {
	case '-':
		s.minus = true
	case '+':
		s.plus = true
	case ' ':
		s.space = true
	case '#':
		s.alt = true
	case '0':
		s.zero = true
	default:
		return false
	}
	return true
}

// pad pads a sign or prefix and what follows it to the width.
func (s *conversion) pad(sign, body string, zeros bool) string {
	n := s.width - len(sign) - len(body)
	switch {
	case n <= 0:
		return sign + body
	case s.minus:
		return sign + body + strings.Repeat(" ", n)
	case zeros:
		return sign + strings.Repeat("0", n) + body
	}
	return strings.Repeat(" ", n) + sign + body
}

// sign returns the sign or blank before a number.
func (s *conversion) sign(negative bool) string {
	switch {
	case negative:
		return "-"
	case s.plus:
		return "+"
	case s.space:
		return " "
	}
	return ""
}

// digits pads an integer with zeros to the precision.
func (s *conversion) digits(d string) string {
	if s.prec == 0 && d == "0" {
		return ""
	}
	return strings.Repeat("0", max(0, s.prec-len(d))) + d
}

func (s *conversion) signed(v int64) string {
	abs := uint64(v)
	if v < 0 {
		abs = -abs
	}
	return s.pad(s.sign(v < 0), s.digits(strconv.FormatUint(abs, 10)), s.zero && s.prec < 0)
}

func (s *conversion) unsigned(v uint64, c byte) string {
	base := map[byte]int{'u': 10, 'o': 8, 'x': 16, 'X': 16}[c]
	d, prefix := s.digits(strconv.FormatUint(v, base)), ""
	switch {
	case s.alt && base == 16 && v != 0:
		prefix = "0x"
	case s.alt && base == 8 && !strings.HasPrefix(d, "0"):
		d = "0" + d
	}
	if c == 'X' {
		d, prefix = strings.ToUpper(d), strings.ToUpper(prefix)
	}
	return s.pad(prefix, d, s.zero && s.prec < 0)
}

func (s *conversion) float(v float64, c byte) string {
	sign, body, zeros := s.sign(math.Signbit(v)), "", s.zero
	abs, prec := math.Abs(v), s.prec
	if prec < 0 {
		prec = 6
	}
	point := func(d string) string { // adds a point if there is none
		if !s.alt || strings.Contains(d, ".") {
			return d
		}
		m, e, exp := strings.Cut(d, "e")
		if exp {
			return m + ".e" + e
		}
		return d + "."
	}
	lower := c | 0x20
	switch {
	case math.IsNaN(v):
		body, zeros = "nan", false
	case math.IsInf(v, 0):
		body, zeros = "inf", false
	case lower == 'a':
		sign, body = sign+"0x", s.hex(abs)
	case lower == 'g':
		prec = max(prec, 1)
		body = strconv.FormatFloat(abs, 'e', prec-1, 64)
		m, e, _ := strings.Cut(body, "e")
		if x, _ := strconv.Atoi(e); x >= -4 && x < prec {
			m, e = strconv.FormatFloat(abs, 'f', prec-1-x, 64), ""
		} else {
			e = "e" + e
		}
		if strings.Contains(m, ".") && !s.alt {
			m = strings.TrimRight(strings.TrimRight(m, "0"), ".")
		}
		body = point(m + e)
	default:
		body = point(strconv.FormatFloat(abs, lower, prec, 64))
	}
	if c != lower {
		sign, body = strings.ToUpper(sign), strings.ToUpper(body)
	}
	return s.pad(sign, body, zeros)
}

// hex is %a without sign and 0x. Normal numbers begin with 1, others with 0, and
// the last digit is rounded to even, as the C library of Linux does.
func (s *conversion) hex(v float64) string {
	const digits = 13 // of 52 bits
	b := math.Float64bits(v)
	exp, m := int(b>>52), b&(1<<52-1)
	if exp > 0 {
		m |= 1 << 52
	}
	exp = max(exp, 1) - 1023
	if m == 0 {
		exp = 0
	}
	if s.prec >= 0 && s.prec < digits {
		cut := 4 * uint(digits-s.prec)
		rest, half := m&(1<<cut-1), uint64(1)<<(cut-1)
		m >>= cut
		if rest > half || rest == half && m&1 != 0 {
			m++
		}
		m <<= cut
	}
	d := fmt.Sprintf("%0*x", digits, m&(1<<52-1))
	switch {
	case s.prec < 0:
		d = strings.TrimRight(d, "0")
	case s.prec <= digits:
		d = d[:s.prec]
	default:
		d += strings.Repeat("0", s.prec-digits)
	}
	if d != "" || s.alt {
		d = "." + d
	}
	return fmt.Sprintf("%d%sp%+d", m>>52, d, exp)
}
