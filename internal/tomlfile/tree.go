// Package tomlfile reads TOML files whose users must learn where a mistake is: trees of values
// with the position of each key and value, functions that read values of a kind, and lists
// of errors with file, line and column.
//
// It does not know what the files mean.
package tomlfile

import (
	"errors"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"github.com/heddle-sim/heddle/internal/isa"
)

// Node is a value of a TOML file with its position. The values come from the TOML
// library, the positions from our own scan (see place), because the library keeps only
// those of errors.
type Node struct {
	Val    any // string, int64, float64, bool, time.Time, nil for tables and arrays
	Pos    isa.Pos
	KeyPos isa.Pos

	Table bool
	Keys  []string // of a table, in file order
	Kids  map[string]*Node

	Array bool
	Items []*Node
}

// Kind returns the name of the node's type for messages.
func (n *Node) Kind() string {
	switch {
	case n.Table:
		return "a table"
	case n.Array:
		return "a list"
	}
	switch n.Val.(type) {
	case string:
		return "a string"
	case int64:
		return "an integer"
	case float64:
		return "a floating-point number"
	case bool:
		return "a boolean"
	}
	return "a date or time"
}

// MaxBytes limits the text of a file; large data belong in separate files.
const MaxBytes = 16 << 20

// maxNesting limits nested lists.
const maxNesting = 64

// Parse parses a TOML text into nodes. Its errors are Errors.
func Parse(file string, src []byte) (*Node, error) {
	errs := Reader{File: file}
	if len(src) > MaxBytes {
		errs.Add(isa.Pos{}, "the file has %d bytes; the limit is %d; put data into separate files", len(src), MaxBytes)
		return nil, errs.Err()
	}
	s := placeScanner{src: string(src)}
	s.src = strings.TrimPrefix(s.src, "\ufeff")
	s.scan()
	if s.deep.Line > 0 {
		errs.Add(s.deep, "more than %d nested lists or tables", maxNesting)
		return nil, errs.Err()
	}
	data := map[string]any{}
	if _, err := toml.Decode(string(src), &data); err != nil {
		var pe toml.ParseError
		if errors.As(err, &pe) {
			errs.Add(isa.Pos{Line: int32(pe.Position.Line), Col: int32(pe.Position.Col)}, "not valid TOML: %s", pe.Message)
		} else {
			errs.Add(isa.Pos{}, "not valid TOML: %v", err)
		}
		return nil, errs.Err()
	}
	return build(data, &s.root, isa.Pos{Line: 1, Col: 1}), nil
}

// build combines a decoded value with its positions; a missing position is replaced by
// the enclosing one.
func build(v any, p *place, around isa.Pos) *Node {
	if p == nil {
		p = &place{}
	}
	n := &Node{Pos: p.val, KeyPos: p.key}
	if n.KeyPos.Line == 0 {
		n.KeyPos = around
	}
	if n.Pos.Line == 0 {
		n.Pos = n.KeyPos
	}
	switch v := v.(type) {
	case map[string]any:
		n.Table = true
		n.Kids = make(map[string]*Node, len(v))
		for k, x := range v {
			n.Keys = append(n.Keys, k)
			n.Kids[k] = build(x, p.kids[k], n.Pos)
		}
		sort.Slice(n.Keys, func(i, j int) bool {
			a, b := n.Kids[n.Keys[i]].KeyPos, n.Kids[n.Keys[j]].KeyPos
			if a != b {
				return a.Line < b.Line || a.Line == b.Line && a.Col < b.Col
			}
			return n.Keys[i] < n.Keys[j]
		})
	case []map[string]any:
		n.Array = true
		for i, x := range v {
			n.Items = append(n.Items, build(x, p.item(i), n.Pos))
		}
	case []any:
		n.Array = true
		for i, x := range v {
			n.Items = append(n.Items, build(x, p.item(i), n.Pos))
		}
	default:
		n.Val = v
	}
	return n
}

// place has the positions of a key, its value, and its contents.
type place struct {
	key, val isa.Pos
	kids     map[string]*place
	items    []*place
}

func (p *place) item(i int) *place {
	if i < len(p.items) {
		return p.items[i]
	}
	return nil
}

func (p *place) kid(key string, pos isa.Pos) *place {
	if k := p.kids[key]; k != nil {
		return k
	}
	if p.kids == nil {
		p.kids = map[string]*place{}
	}
	k := &place{key: pos, val: pos}
	p.kids[key] = k
	return k
}

// placeScanner scans TOML text and records the positions of keys and values. It accepts
// more than TOML, because the library checks the text, and it never fails: at an error it
// continues with the next line.
type placeScanner struct {
	src  string
	i    int
	line int32 // lines before i
	root place
	deep isa.Pos // where nesting exceeds maxNesting

	counted int   // an offset in the line, and
	col     int32 // the characters of the line before it
}

func (s *placeScanner) pos() isa.Pos {
	s.col += int32(utf8.RuneCountInString(s.src[s.counted:s.i]))
	s.counted = s.i
	return isa.Pos{Line: s.line + 1, Col: s.col + 1}
}

func (s *placeScanner) peek() byte {
	if s.i < len(s.src) {
		return s.src[s.i]
	}
	return 0
}

// next skips one byte and counts lines.
func (s *placeScanner) next() {
	if s.src[s.i] == '\n' {
		s.line++
		s.counted, s.col = s.i+1, 0
	}
	s.i++
}

// blanks skips spaces and, if lines is set, line ends and comments.
func (s *placeScanner) blanks(lines bool) {
	for s.i < len(s.src) {
		switch c := s.src[s.i]; {
		case c == ' ' || c == '\t':
			s.i++
		case lines && (c == '\n' || c == '\r'):
			s.next()
		case lines && c == '#':
			for s.i < len(s.src) && s.src[s.i] != '\n' {
				s.i++
			}
		default:
			return
		}
	}
}

// restOfLine goes to the end of the line.
func (s *placeScanner) restOfLine() {
	for s.i < len(s.src) && s.src[s.i] != '\n' {
		s.i++
	}
}

func (s *placeScanner) scan() {
	cur := &s.root
	for {
		s.blanks(true)
		if s.i >= len(s.src) || s.deep.Line > 0 {
			return
		}
		start := s.i
		if s.peek() == '[' {
			pos := s.pos()
			s.i++
			list := s.peek() == '['
			if list {
				s.i++
			}
			cur = s.header(&s.root, pos, list)
			s.restOfLine()
		} else {
			s.keyValue(cur, 0)
			s.restOfLine()
		}
		if s.i == start {
			s.next()
		}
	}
}

// tooDeep ends the scan at values or keys that are nested too deeply.
func (s *placeScanner) tooDeep(depth int, pos isa.Pos) bool {
	if depth < maxNesting {
		return false
	}
	s.deep, s.i = pos, len(s.src)
	return true
}

// header reads the path of a [table] or [[list]] header and returns its place.
func (s *placeScanner) header(root *place, pos isa.Pos, list bool) *place {
	cur := root
	for depth := 0; ; depth++ {
		s.blanks(false)
		key, keyPos, ok := s.key()
		if !ok || s.tooDeep(depth, keyPos) {
			return cur
		}
		cur = cur.kid(key, keyPos)
		s.blanks(false)
		last := s.peek() != '.'
		if !last {
			s.i++
		}
		switch {
		case last && list:
			it := &place{key: pos, val: pos}
			cur.items = append(cur.items, it)
			return it
		case last:
			return cur
		case len(cur.items) > 0:
			cur = cur.items[len(cur.items)-1]
		}
	}
}

// keyValue reads `key.key = value` into cur.
func (s *placeScanner) keyValue(cur *place, depth int) {
	for ; ; depth++ {
		s.blanks(false)
		key, pos, ok := s.key()
		if !ok || s.tooDeep(depth, pos) {
			return
		}
		cur = cur.kid(key, pos)
		s.blanks(false)
		if s.peek() != '.' {
			break
		}
		s.i++
	}
	if s.peek() != '=' {
		return
	}
	s.i++
	s.blanks(false)
	s.value(cur, depth)
}

// key reads one part of a key, bare or quoted.
func (s *placeScanner) key() (string, isa.Pos, bool) {
	pos := s.pos()
	if c := s.peek(); c == '"' || c == '\'' {
		start := s.i
		s.str()
		return unquoteKey(s.src[start:s.i]), pos, true
	}
	start := s.i
	for s.i < len(s.src) && !strings.ContainsRune(" \t\r\n.=[]{},#\"'", rune(s.src[s.i])) {
		s.i++
	}
	return s.src[start:s.i], pos, s.i > start
}

// unquoteKey returns the contents of a quoted key. Escapes are not decoded: such keys
// only lose their position.
func unquoteKey(q string) string {
	if len(q) < 2 {
		return q
	}
	return q[1 : len(q)-1]
}

// str skips a string of any of the four forms.
func (s *placeScanner) str() {
	q := s.src[s.i]
	triple := strings.Repeat(string(q), 3)
	if strings.HasPrefix(s.src[s.i:], triple) {
		s.i += 3
		for s.i < len(s.src) && !strings.HasPrefix(s.src[s.i:], triple) {
			if q == '"' && s.src[s.i] == '\\' && s.i+1 < len(s.src) {
				s.next()
			}
			s.next()
		}
		s.i = min(s.i+3, len(s.src))
		for s.peek() == q { // quotes just before the closing three
			s.i++
		}
		return
	}
	s.i++
	for s.i < len(s.src) && s.src[s.i] != q && s.src[s.i] != '\n' {
		if q == '"' && s.src[s.i] == '\\' && s.i+1 < len(s.src) && s.src[s.i+1] != '\n' {
			s.i++
		}
		s.i++
	}
	if s.peek() == q {
		s.i++
	}
}

// value reads a value and records its position in p.
func (s *placeScanner) value(p *place, depth int) {
	p.val = s.pos()
	if s.tooDeep(depth, p.val) {
		return
	}
	switch c := s.peek(); c {
	case '"', '\'':
		s.str()
	case '[':
		s.i++
		for {
			s.blanks(true)
			switch c := s.peek(); {
			case s.i >= len(s.src):
				return
			case c == ']':
				s.i++
				return
			case c == ',':
				s.i++
			default:
				it := &place{}
				p.items = append(p.items, it)
				start := s.i
				s.value(it, depth+1)
				it.key = it.val
				if s.i == start {
					s.next()
				}
			}
		}
	case '{':
		s.i++
		for {
			s.blanks(true)
			switch c := s.peek(); {
			case s.i >= len(s.src):
				return
			case c == '}':
				s.i++
				return
			case c == ',':
				s.i++
			default:
				start := s.i
				s.keyValue(p, depth+1)
				if s.i == start {
					s.next()
				}
			}
		}
	default:
		for s.i < len(s.src) && !strings.ContainsRune(",]}#\r\n \t", rune(s.src[s.i])) {
			s.i++
		}
	}
}
