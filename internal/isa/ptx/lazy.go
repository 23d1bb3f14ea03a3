package ptx

import (
	"strings"
	"sync"
)

// ParseHeads parses a file but for the bodies of its kernels, which Load parses one by one:
// of the hundreds of kernels in a module of a library, a program needs few. Errors in a body
// are reported by Load. A kernel whose body declares a variable in global or constant memory
// is parsed at once, as the variable has a place without the kernel.
func ParseHeads(name string, src []byte) (*Module, error) {
	return parse(name, src, &unread{})
}

// unread is what a module keeps for bodies that are parsed later.
type unread struct {
	mu     sync.Mutex
	nextID int    // of variables
	top    *scope // the module's names
}

// Load parses the body of a function of ParseHeads, once; it does nothing for others. The
// error is an ErrorList, and the function then has no body.
func (f *Func) Load() error {
	if f.load == nil {
		return nil
	}
	return f.load()
}

// postpone skips the body of a kernel, whose { is the current token, if it can be parsed
// later.
func (p *parser) postpone(f *Func) bool {
	if p.unread == nil || !f.Entry {
		return false
	}
	m, u, brace := p.mod, p.unread, p.tok
	start := p.lex // after the brace, where the lexer is unless the parser has looked ahead
	start.off, start.line, start.lineStart, start.fresh = brace.end(), brace.pos.Line, brace.off-int(brace.pos.Col)+1, false
	end := start
	if !end.skipBody() {
		return false
	}
	p.lex, p.peeked = end, false
	p.advance() // to the }
	p.advance()
	f.load = sync.OnceValue(func() error {
		u.mu.Lock()
		defer u.mu.Unlock()
		return m.body(f, u, brace, start)
	})
	return true
}

// body parses and resolves the body of a function that begins with a brace.
func (m *Module) body(f *Func, u *unread, brace token, rest lexer) error {
	p := &parser{mod: m, fn: f, tok: brace, lex: rest, nextID: u.nextID, modSets: map[string][]string{}}
	p.lex.report = p.lexError
	f.Body, _ = p.block()
	u.nextID = p.nextID
	if !p.stopped() {
		r := resolver{mod: m, top: u.top, cur: u.top, tainted: p.tainted}
		r.function(f)
		p.errs = append(p.errs, r.errs...)
	}
	if len(p.errs) > 0 {
		f.Body, f.Code, f.Vars = nil, nil, nil
		f.Labels, f.Protos, f.Tables = nil, nil, nil
		return finish(p.errs, m.File, m.Lines)
	}
	return nil
}

// local are the directives of a body that concern nothing outside of it.
var local = map[string]bool{"reg": true, "shared": true, "local": true, "param": true, "loc": true, "pragma": true, "branchtargets": true, "calltargets": true, "callprototype": true}

// skipBody moves the lexer from after the { of a body to its }. It reports false, and the
// lexer stays, where that needs a parser: the body declares something for others, or does
// not end.
func (l *lexer) skipBody() bool {
	at := *l
	sound := true
	at.report = func(Pos, string, string) { sound = false }
	depth := 1
	begins := true // a statement
	for {
		at.skip()
		if at.off == len(at.src) || !sound {
			return false
		}
		c := at.src[at.off]
		switch c {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				at.report = l.report
				*l = at
				return true
			}
		case '"':
			n := strings.IndexAny(at.src[at.off+1:], "\"\\\n")
			if n < 0 || at.src[at.off+1+n] != '"' {
				return false
			}
			at.off += n + 1
		case '.':
			if begins && !local[at.word(at.off+1)] {
				return false
			}
		case '@':
			if strings.HasPrefix(at.src[at.off:], "@@") {
				return false
			}
		}
		at.fresh = false
		at.off++
		word := at.word(at.off)
		at.off += len(word)
		begins = word == "" && (c == '{' || c == '}' || c == ';' || c == ':')
	}
}

// word returns the letters and digits from an offset on.
func (l *lexer) word(off int) string {
	end := off
	for end < len(l.src) && class[l.src[end]]&clsPart != 0 {
		end++
	}
	return l.src[off:end]
}
