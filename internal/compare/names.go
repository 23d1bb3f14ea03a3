package compare

import (
	"strings"
	"unicode"
)

// identifier returns the name of a function in its source, without namespaces,
// template arguments, parameters and result: gemm of "_ZN3lib4gemmIfEEvPT_"
// (Itanium C++ ABI, "Mangling") as well as of "void lib::gemm<float>(float*)",
// which profilers write. Other names are returned unchanged.
func identifier(name string) string {
	if rest, ok := strings.CutPrefix(name, "_Z"); ok {
		if id := mangled(rest); id != "" {
			return id
		}
		return name
	}
	s := strings.ReplaceAll(name, "(anonymous namespace)::", "")
	s = cutBracket(s, '(')
	for {
		end := strings.TrimRight(s, " ")
		if !strings.HasSuffix(end, ">") {
			break
		}
		cut := openBracket(end)
		if cut <= 0 {
			break
		}
		s = end[:cut]
	}
	if i := strings.LastIndex(s, "::"); i >= 0 {
		s = s[i+2:]
	}
	if i := strings.LastIndexByte(strings.TrimSpace(s), ' '); i >= 0 {
		s = strings.TrimSpace(s)[i+1:]
	}
	s = strings.TrimSpace(s)
	if s == "" || strings.ContainsFunc(s, func(r rune) bool {
		return r != '_' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		return name
	}
	return s
}

// cutBracket cuts a text before the first given bracket outside of <…>.
func cutBracket(s string, bracket rune) string {
	depth := 0
	for i, r := range s {
		switch {
		case r == bracket && depth == 0:
			return s[:i]
		case r == '<':
			depth++
		case r == '>':
			depth--
		}
	}
	return s
}

// openBracket returns the position of the < that the last > closes, or -1.
func openBracket(s string) int {
	depth := 0
	for i := len(s) - 1; i >= 0; i-- {
		switch s[i] {
		case '>':
			depth++
		case '<':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// mangled returns the last source name in an encoded name, "" if there is none.
func mangled(s string) string {
	nested := strings.HasPrefix(s, "N")
	if nested {
		s = strings.TrimLeft(s[1:], "rVKRO") // qualifiers of a member function
	}
	id := ""
	for {
		s = strings.TrimPrefix(s, "L") // internal linkage
		digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
		if digits == 0 || digits > 4 {
			return id
		}
		n := 0
		for _, d := range s[:digits] {
			n = 10*n + int(d-'0')
		}
		if n == 0 || n > len(s)-digits {
			return id
		}
		id, s = s[digits:digits+n], s[digits+n:]
		if !nested {
			return id
		}
		if strings.HasPrefix(s, "I") { // arguments of a template, which may be followed by a member
			return id
		}
	}
}
