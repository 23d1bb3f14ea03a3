package ptx

import "strings"

// tokKind is the kind of a token.
type tokKind uint8

const (
	tokEOF    tokKind = iota
	tokIdent          // add, %r1, $L_1, _
	tokDot            // .u32, .shared::cta, .1d; text is without the dot
	tokNum            // any literal number
	tokString         // text includes the quotes
	tokPunct          // one or two characters
	tokLine           // an @@DWARF line, whole
	tokBad            // not a token; reported by the lexer
)

// token is a token of the text.
type token struct {
	kind  tokKind
	first bool // first on its line
	glued bool // directly after the previous token
	pos   Pos
	off   int // byte offset of its start
	text  string
}

func (t token) end() int {
	if t.kind == tokDot {
		return t.off + 1 + len(t.text)
	}
	return t.off + len(t.text)
}

// is reports whether the token is the punctuation s.
func (t token) is(s string) bool { return t.kind == tokPunct && t.text == s }

// dot reports whether the token is the directive or modifier .s.
func (t token) dot(s string) bool { return t.kind == tokDot && t.text == s }

// describe names the token in a message.
func (t token) describe() string {
	switch t.kind {
	case tokEOF:
		return "the end of the file"
	case tokDot:
		return "." + clip(t.text)
	}
	return clip(t.text)
}

// clip shortens text that a message quotes.
func clip(s string) string {
	if len(s) > 48 {
		return s[:45] + "..."
	}
	return s
}

// lexer splits the text into tokens on demand.
type lexer struct {
	src       string
	off       int
	line      int32
	lineStart int // offset of the current line's first byte
	fresh     bool
	report    func(pos Pos, msg, hint string)
}

// Character classes: identifiers and spaces.
const (
	clsStart = 1 << iota // may begin an identifier
	clsPart              // may continue one
	clsDigit
	clsHex
)

var class = func() (t [256]uint8) {
	for c := 0; c < 256; c++ {
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$':
			t[c] = clsStart | clsPart
		case c == '%':
			t[c] = clsStart
		case c >= '0' && c <= '9':
			t[c] = clsPart | clsDigit | clsHex
		}
		if c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' {
			t[c] |= clsHex
		}
	}
	return t
}()

func (l *lexer) pos(off int) Pos { return Pos{Line: l.line, Col: int32(off-l.lineStart) + 1} }

// skip skips white space, comments and preprocessor line marks.
func (l *lexer) skip() {
	for l.off < len(l.src) {
		switch c := l.src[l.off]; c {
		case '\n':
			l.off++
			l.line++
			l.lineStart = l.off
			l.fresh = true
		case ' ', '\t', '\r', '\v', '\f':
			l.off++
		case '/':
			if strings.HasPrefix(l.src[l.off:], "//") {
				l.toLineEnd()
				continue
			}
			if !strings.HasPrefix(l.src[l.off:], "/*") {
				return
			}
			start := l.pos(l.off)
			n := strings.Index(l.src[l.off+2:], "*/")
			end := l.off + 2 + n + 2
			if n < 0 {
				end = len(l.src)
				l.report(start, "comment without its end", "close it with */")
			}
			for l.off < end {
				if l.src[l.off] == '\n' {
					l.line++
					l.lineStart = l.off + 1
					l.fresh = true
				}
				l.off++
			}
		case '#':
			if !l.fresh {
				return
			}
			rest := strings.TrimLeft(l.src[l.off+1:min(len(l.src), l.off+64)], " \t")
			if !strings.HasPrefix(rest, "line") && (rest == "" || class[rest[0]]&clsDigit == 0) {
				l.report(l.pos(l.off), "preprocessor directive", "run the file through the C preprocessor first")
			}
			l.toLineEnd()
		default:
			return
		}
	}
}

func (l *lexer) toLineEnd() {
	if n := strings.IndexByte(l.src[l.off:], '\n'); n >= 0 {
		l.off += n
	} else {
		l.off = len(l.src)
	}
}

// next returns the next token.
func (l *lexer) next() token {
	before := l.off
	l.skip()
	t := token{first: l.fresh, glued: l.off == before, pos: l.pos(l.off), off: l.off}
	l.fresh = false
	if l.off >= len(l.src) {
		t.kind = tokEOF
		return t
	}
	s := l.src
	i := l.off
	c := s[i]
	switch {
	case class[c]&clsStart != 0:
		i++
		for i < len(s) && class[s[i]]&clsPart != 0 {
			i++
		}
		if c == '%' && i == l.off+1 {
			t.kind = tokPunct // the remainder operator
			break
		}
		t.kind = tokIdent
	case class[c]&clsDigit != 0:
		t.kind, i = tokNum, l.number(i)
	case c == '.':
		return l.dotToken(t)
	case c == '"':
		t.kind = tokString
		i++
		for i < len(s) && s[i] != '"' && s[i] != '\n' {
			if s[i] == '\\' && i+1 < len(s) && s[i+1] != '\n' {
				i++
			}
			i++
		}
		if i < len(s) && s[i] == '"' {
			i++
		} else {
			t.kind = tokBad
			l.report(t.pos, "string without its end", `close it with " on the same line`)
		}
	case c == '@' && strings.HasPrefix(s[i:], "@@"):
		l.toLineEnd()
		t.kind, t.text = tokLine, strings.TrimRight(s[i:l.off], " \t\r")
		return t
	default:
		i = l.punct(&t, i)
	}
	t.text = s[l.off:i]
	l.off = i
	return t
}

// dotToken reads a token that begins with a dot: a directive, a modifier, or
// a decimal fraction such as .5.
func (l *lexer) dotToken(t token) token {
	s := l.src
	i := l.off + 1
	if end := l.fraction(i); end > i && (l.off == 0 || class[s[l.off-1]]&clsPart == 0) {
		t.kind, t.text = tokNum, s[l.off:end]
		l.off = end
		return t
	}
	for i < len(s) && class[s[i]]&clsPart != 0 {
		i++
		if i+2 < len(s) && s[i] == ':' && s[i+1] == ':' && class[s[i+2]]&clsPart != 0 {
			i += 2
		}
	}
	t.kind, t.text = tokDot, s[l.off+1:i]
	if t.text == "" {
		t.kind, t.text = tokPunct, "."
	}
	l.off = i
	return t
}

// fraction returns the end of the digits and exponent of a fraction at i, or i if
// there is a longer word such as 1d.
func (l *lexer) fraction(i int) int {
	s, start := l.src, i
	for i < len(s) && class[s[i]]&clsDigit != 0 {
		i++
	}
	if i == start {
		return start
	}
	i = l.exponent(i)
	if i < len(s) && class[s[i]]&clsPart != 0 {
		return start
	}
	return i
}

// exponent returns the end of an exponent at i, or i if there is none.
func (l *lexer) exponent(i int) int {
	s := l.src
	if i >= len(s) || s[i]|0x20 != 'e' {
		return i
	}
	j := i + 1
	if j < len(s) && (s[j] == '+' || s[j] == '-') {
		j++
	}
	if j >= len(s) || class[s[j]]&clsDigit == 0 {
		return i
	}
	for j < len(s) && class[s[j]]&clsDigit != 0 {
		j++
	}
	return j
}

// number returns the end of the literal at i. It includes letters that belong to no
// literal, so that parseNumber can report the whole.
func (l *lexer) number(i int) int {
	s := l.src
	if s[i] == '0' && i+1 < len(s) {
		switch s[i+1] | 0x20 {
		case 'x', 'f', 'd', 'b':
			for i < len(s) && class[s[i]]&clsPart != 0 {
				i++
			}
			return i
		}
	}
	for i < len(s) && class[s[i]]&clsDigit != 0 {
		i++
	}
	if i < len(s) && s[i] == '.' && (i+1 >= len(s) || class[s[i+1]]&clsStart == 0 || s[i+1]|0x20 == 'e') {
		i++
		for i < len(s) && class[s[i]]&clsDigit != 0 {
			i++
		}
	}
	i = l.exponent(i)
	for i < len(s) && class[s[i]]&clsPart != 0 {
		i++
	}
	return i
}

// punct reads an operator or separator and returns its end.
func (l *lexer) punct(t *token, i int) int {
	s := l.src
	t.kind = tokPunct
	if i+1 < len(s) {
		switch s[i : i+2] {
		case "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "::":
			return i + 2
		}
	}
	if strings.IndexByte("{}[]()<>,;:=+-*/!~&|^?@", s[i]) >= 0 {
		return i + 1
	}
	t.kind = tokBad
	i++
	for i < len(s) && s[i]&0xc0 == 0x80 { // the rest of a multi-byte character
		i++
	}
	msg := "character that is not allowed in PTX"
	if c := s[l.off]; c > ' ' && c < 0x7f {
		msg = "character " + string(c) + " is not allowed here"
	}
	l.report(t.pos, msg, "")
	return i
}
