package sdk

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Clangs converts a source for nvcc to clang's dialect. Split launch brackets, kernel<<
// <grid, block>> >(), are joined; alignas after __shared__ and the like becomes _Alignas;
// special registers in asm statements with operands, "%smid", get a second percent sign,
// and operands without a comma between them get one; a variable in the dynamic shared
// memory that is no array becomes a reference to one; extern "C"__global__ gets a blank,
// without which the keyword is part of the literal; and __noinline__ within an attribute,
// a macro in clang 14, loses its underscores. Line numbers do not change. It returns false
// and the original text if nothing had to change.
func Clangs(text []byte) ([]byte, bool) {
	if !slices.ContainsFunc([]string{"<<", "alignas", "asm", `"__`, "__noinline__", "__shared__"}, func(s string) bool { return bytes.Contains(text, []byte(s)) }) {
		return text, false
	}
	d := dialect{text: text, types: map[string][]string{}}
	d.scan()
	if len(d.edits) == 0 {
		return text, false
	}
	slices.SortStableFunc(d.edits, func(a, b edit) int { return a.from - b.from })
	var out []byte
	at := 0
	for _, e := range d.edits {
		out = append(append(out, text[at:e.from]...), e.put...)
		at = e.to
	}
	return append(out, text[at:]...), true
}

// edit is a change of a text: the bytes from..to become put.
type edit struct {
	from, to int
	put      string
}

// dialect processes a text, token by token.
type dialect struct {
	text        []byte
	edits       []edit
	lineEnd     int  // the position after the line that directive knows, with continuations
	inDirective bool // it is one of the preprocessor
	depth       int  // of braces
	// dynamics are the variables in the dynamic shared memory that are in scope, and types their
	// types by name; the last ones hide the others.
	dynamics []variable
	types    map[string][]string
}

// variable is a name and the depth of the braces around its declaration.
type variable struct {
	name  string
	depth int
}

// token is a word, or one other character, outside of comments and literals.
type token struct{ from, to int }

func (d *dialect) is(t token, s string) bool { return string(d.text[t.from:t.to]) == s }

// scan finds the necessary changes.
func (d *dialect) scan() {
	var tokens []token
	for at := 0; at < len(d.text); {
		t, next := d.next(at)
		if t.from < t.to {
			tokens = append(tokens, t)
			if d.is(t, "asm") || d.is(t, "__asm__") || d.is(t, "__asm") {
				d.asm(next)
			}
		}
		if t.from == t.to && d.text[at] == '"' && keyword.Match(d.text[next:]) {
			d.edits = append(d.edits, edit{next, next, " "})
		}
		at = next
	}
	for i := range tokens {
		switch {
		case d.is(tokens[i], "{"):
			d.depth++
		case d.is(tokens[i], "}"):
			d.leave()
		case d.is(tokens[i], "decltype"):
			d.typeOf(tokens[i:])
		case d.is(tokens[i], "<"):
			d.launch(tokens, i)
		case d.is(tokens[i], "__noinline__") && i > 0 && (d.is(tokens[i-1], "(") || d.is(tokens[i-1], ",")):
			d.edits = append(d.edits, edit{tokens[i].from, tokens[i].to, "noinline"})
		case d.is(tokens[i], "alignas") && i > 0 && slices.ContainsFunc([]string{"__shared__", "__device__", "__constant__", "__managed__"}, func(s string) bool { return d.is(tokens[i-1], s) }):
			d.edits = append(d.edits, edit{tokens[i].from, tokens[i].to, "_Alignas"})
		case d.is(tokens[i], "__shared__") && i > 0 && d.is(tokens[i-1], "extern") && !d.directive(tokens[i].from):
			d.dynamic(tokens[i+1:])
		}
	}
}

// launch joins the brackets of a launch that begins at token i. Only << and < with a
// blank between, or a complete <<<, begin one; operator<< < does not.
func (d *dialect) launch(tokens []token, i int) {
	if i == 0 || i+2 >= len(tokens) || !d.is(tokens[i+1], "<") || !d.is(tokens[i+2], "<") || tokens[i].to != tokens[i+1].from && tokens[i+1].to != tokens[i+2].from {
		return
	}
	if before := tokens[i-1]; d.is(before, "<") || d.is(before, "operator") {
		return
	}
	depth := 0
	for k := i + 3; k < len(tokens); k++ {
		switch {
		case d.is(tokens[k], "("), d.is(tokens[k], "["), d.is(tokens[k], "{"):
			depth++
		case d.is(tokens[k], ")"), d.is(tokens[k], "]"), d.is(tokens[k], "}"):
			depth--
		case d.is(tokens[k], ";"):
			depth = -1
		case depth == 0 && k+3 < len(tokens) && d.is(tokens[k], ">") && d.is(tokens[k+1], ">") && d.is(tokens[k+2], ">") && d.is(tokens[k+3], "("):
			d.whole(tokens[i], tokens[i+1], tokens[i+2])
			d.whole(tokens[k], tokens[k+1], tokens[k+2])
			return
		}
		if depth < 0 {
			return
		}
	}
}

// asm doubles the percent signs before special registers in an asm statement whose
// keyword ends at a position, and separates its operands: a constraint, and a value in
// parentheses. Without operands the text is literal.
func (d *dialect) asm(at int) {
	var texts []token // string literals before the first colon
	operands := false
	constrained := false // the token before was a literal
	value := false       // what is between parentheses follows a literal
	ended := 0           // where the last operand ended, if nothing has followed
	for depth := 0; at < len(d.text); {
		t, next := d.next(at)
		switch {
		case t.from == t.to && d.text[at] == '"':
			if !operands {
				texts = append(texts, token{at, next})
			} else if ended > 0 && depth == 1 {
				d.edits = append(d.edits, edit{ended, ended, ","})
			}
			ended = 0
		case t.from == t.to:
		case d.is(t, "("):
			if depth, ended = depth+1, 0; depth == 2 {
				value = constrained
			}
		case d.is(t, ")"), d.is(t, ";"):
			if depth--; depth <= 0 {
				return
			}
			if ended = 0; operands && depth == 1 && value {
				ended = next
			}
		case d.is(t, ":") && depth == 1:
			ended = 0
			if operands {
				break
			}
			operands = true
			for _, t := range texts {
				for _, m := range register.FindAllSubmatchIndex(d.text[t.from:t.to], -1) {
					if m[2] >= 0 {
						d.edits = append(d.edits, edit{t.from + m[2], t.from + m[2], "%"})
					}
				}
			}
		case depth == 0 && !d.is(t, "volatile") && !d.is(t, "__volatile__") && !d.is(t, "__volatile"):
			return
		default:
			ended = 0
		}
		if t.from < t.to || d.text[at] == '"' {
			constrained = t.from == t.to
		}
		at = next
	}
}

// dynamic makes a variable of any type in the dynamic shared memory, whose tokens after
// extern __shared__ are given, a reference: the memory is an array of bytes, which may have
// the same name with different types, as with nvcc. Arrays stay. The reference is constant,
// so that lambdas use it without a copy of the variable; the compiler accepts the conversion
// in a constant only as an operand of such a condition.
func (d *dialect) dynamic(tokens []token) {
	for len(tokens) > 1 && slices.ContainsFunc([]string{"alignas", "__align__", "__attribute__"}, func(s string) bool { return d.is(tokens[0], s) }) {
		depth, i := 0, 1
		for ; i < len(tokens) && i < declaration; i++ {
			if d.is(tokens[i], "(") {
				depth++
			} else if d.is(tokens[i], ")") {
				if depth--; depth == 0 {
					break
				}
			}
		}
		tokens = tokens[min(i+1, len(tokens)):]
	}
	end, angles := -1, 0
	for i, t := range tokens[:min(len(tokens), declaration)] {
		switch s := string(d.text[t.from:t.to]); {
		case s == "<":
			angles++
		case s == ">":
			angles--
		case s == ";" && angles == 0:
			end = i
		case angles == 0 && (s == "," || !wordByte(s[0]) && s != ":" && s != "*"):
			return
		}
		if end >= 0 {
			break
		}
	}
	if end < 2 || !wordByte(d.text[tokens[end-1].from]) {
		return
	}
	name := tokens[end-1]
	var text []byte
	for i, t := range tokens[:end-1] {
		if i > 0 && wordByte(text[len(text)-1]) && wordByte(d.text[t.from]) {
			text = append(text, ' ')
		}
		text = append(text, d.text[t.from:t.to]...)
	}
	typ, array := string(text), "heddle_"+string(d.text[name.from:name.to])
	object := "*(" + typ + " *)" + array
	d.edits = append(d.edits,
		edit{tokens[0].from, tokens[0].from, "__attribute__((aligned(alignof(" + typ + ")))) unsigned char " + array + "[]; constexpr "},
		edit{name.from, name.from, "&"},
		edit{name.to, name.to, " = __builtin_constant_p(0) ? " + object + " : " + object})
	word := string(d.text[name.from:name.to])
	d.dynamics = append(d.dynamics, variable{word, d.depth})
	d.types[word] = append(d.types[word], typ)
}

// leave ends a scope.
func (d *dialect) leave() {
	d.depth--
	for n := len(d.dynamics) - 1; n >= 0 && d.dynamics[n].depth > d.depth; n-- {
		name := d.dynamics[n].name
		d.types[name] = d.types[name][:len(d.types[name])-1]
		d.dynamics = d.dynamics[:n]
	}
}

// typeOf changes decltype of a variable that has become a reference, whose tokens are given, to
// the type that it had.
func (d *dialect) typeOf(tokens []token) {
	if len(tokens) < 6 || !d.is(tokens[1], "(") || !d.is(tokens[3], ")") {
		return
	}
	types := d.types[string(d.text[tokens[2].from:tokens[2].to])]
	if len(types) == 0 {
		return
	}
	e := edit{tokens[0].from, tokens[0].to, "__typeof__"}
	if d.is(tokens[4], ":") && d.is(tokens[5], ":") {
		e.to = tokens[3].to
		e.put = types[len(types)-1] + strings.Repeat("\n", bytes.Count(d.text[e.from:e.to], []byte("\n")))
	}
	d.edits = append(d.edits, e)
}

// directive reports whether a position, not before that of the last call, is in a line of the
// preprocessor.
func (d *dialect) directive(at int) bool {
	for d.lineEnd <= at {
		start := d.lineEnd
		for {
			end := bytes.IndexByte(d.text[d.lineEnd:], '\n')
			if end < 0 {
				d.lineEnd = len(d.text) + 1
				break
			}
			d.lineEnd += end + 1
			if !bytes.HasSuffix(bytes.TrimRight(d.text[start:d.lineEnd], "\r\n"), []byte("\\")) {
				break
			}
		}
		d.inDirective = bytes.HasPrefix(bytes.TrimLeft(d.text[start:], " \t"), []byte("#"))
	}
	return d.inDirective
}

// declaration limits the tokens of a declaration that is converted: our choice.
const declaration = 200

// register finds percent signs: doubled ones, and those of special registers, whose names
// have at least three letters. Operands are numbers with at most one letter before.
var register = regexp.MustCompile(`%%|(%)[a-z_]{3}`)

// raw matches the beginning of a raw string, whose delimiter has at most 16 characters
// (C++, [lex.string]), and longestRaw is its length.
var raw = regexp.MustCompile(`^(?:u8|u|U|L)?R"([^()\\\s]{0,16})\(`)

const longestRaw = len(`u8R"`) + 16 + 1

// keyword matches a text that begins with a keyword of CUDA.
var keyword = regexp.MustCompile(`^__(global|device|host|shared|constant|managed|noinline|forceinline|launch_bounds)__\b`)

// whole joins three brackets, and moves the text between them after these.
func (d *dialect) whole(a, b, c token) {
	if a.to == b.from && b.to == c.from {
		return
	}
	bracket := string(d.text[a.from:a.to])
	d.edits = append(d.edits, edit{a.from, c.to, bracket + bracket + bracket + string(d.text[a.to:b.from]) + string(d.text[b.to:c.from])})
}

// next returns the token at a position, which is empty for a blank, a comment or a
// literal, and the position after it.
func (d *dialect) next(at int) (token, int) {
	text := d.text
	rest := text[at:]
	c := text[at]
	until := func(from int, end string) int {
		if i := bytes.Index(text[from:], []byte(end)); i >= 0 {
			return from + i + len(end)
		}
		return len(text)
	}
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		return token{}, until(at, "\n")
	case bytes.HasPrefix(rest, []byte("/*")):
		return token{}, until(at+2, "*/")
	case c == '"' || c == '\'':
		for i := at + 1; i < len(text); i++ {
			switch text[i] {
			case '\\':
				i++
			case c, '\n':
				return token{}, i + 1
			}
		}
		return token{}, len(text)
	case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		return token{}, at + 1
	case wordByte(c):
		to := at + 1
		for to < len(text) && (wordByte(text[to]) || text[to] == '\'' && c >= '0' && c <= '9') {
			to++
		}
		if to == len(text) || text[to] != '"' {
			return token{at, to}, to
		}
		if m := raw.FindSubmatchIndex(rest[:min(len(rest), longestRaw)]); m != nil {
			return token{}, until(at+m[1], ")"+string(rest[m[2]:m[3]])+`"`)
		}
		return token{at, to}, to
	}
	return token{at, at + 1}, at + 1
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

var (
	quoted = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]`)
	// The name of a file in a macro.
	includeMacro = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]+([A-Za-z_]\w*)`)
	fileMacro    = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)[ \t]+["<]([^">\n]+)[">]`)
)

// largestSource limits the files that Overlay reads, in bytes: our choice.
const largestSource = 16 << 20

// Copy is a file that clang reads in place of another one, which need not exist.
type Copy struct {
	Name string // of the file that is read
	File string // what it contains
}

// OverlayOf writes a file for -ivfsoverlay that lists copies into dir, and returns its
// name.
func OverlayOf(dir string, copies []Copy) (string, error) {
	type file struct {
		Name     string `json:"name"`
		Type     string `json:"type"`
		External string `json:"external-contents"`
	}
	roots := make([]file, len(copies))
	for i, c := range copies {
		roots[i] = file{c.Name, "file", c.File}
	}
	overlay, err := json.Marshal(map[string]any{"version": 0, "case-sensitive": "true", "use-external-names": "false", "roots": roots})
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, overlay, 0o666)
}

// Overlay writes converted copies of those sources that clang does not accept, and of
// such files that they include from their own folders or from the given folders, by name
// or by a macro that one of the files defines. It returns the name of a file for -ivfsoverlay that lists the copies, or "" if there are
// none. All files are in dir.
func Overlay(dir string, sources, folders []string) (string, error) {
	var changed []Copy
	seen := map[string]bool{}
	waiting := slices.Clone(sources)
	// Files by macros, and the folders of those that include one by a macro.
	named, places := map[string][]string{}, map[string][]string{}
	wait := func(file, from string) {
		for _, folder := range append([]string{from}, folders...) {
			waiting = append(waiting, filepath.Join(folder, file))
		}
	}
	for len(waiting) > 0 {
		name, err := filepath.Abs(waiting[0])
		waiting = waiting[1:]
		if err != nil || seen[name] {
			continue
		}
		seen[name] = true
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() || info.Size() > largestSource {
			continue // clang reports missing files
		}
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		if text, ok := Clangs(text); ok {
			f, err := os.CreateTemp(dir, "*-"+filepath.Base(name))
			if err != nil {
				return "", err
			}
			_, err = f.Write(text)
			if e := f.Close(); err == nil {
				err = e
			}
			if err != nil {
				return "", err
			}
			changed = append(changed, Copy{name, f.Name()})
		}
		for _, m := range quoted.FindAllSubmatch(text, -1) {
			wait(string(m[1]), filepath.Dir(name))
		}
		for _, m := range fileMacro.FindAllSubmatch(text, -1) {
			macro, file := string(m[1]), string(m[2])
			named[macro] = append(named[macro], file)
			for _, from := range places[macro] {
				wait(file, from)
			}
		}
		for _, m := range includeMacro.FindAllSubmatch(text, -1) {
			macro, from := string(m[1]), filepath.Dir(name)
			places[macro] = append(places[macro], from)
			for _, file := range named[macro] {
				wait(file, from)
			}
		}
	}
	if len(changed) == 0 {
		return "", nil
	}
	return OverlayOf(dir, changed)
}
