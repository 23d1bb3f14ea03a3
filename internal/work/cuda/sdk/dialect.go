package sdk

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// Clangs converts a source for nvcc to clang's dialect. Split launch brackets, kernel<<
// <grid, block>> >(), are joined; alignas after __shared__ and the like becomes _Alignas;
// special registers in asm statements with operands, "%smid", get a second percent sign;
// extern "C"__global__ gets a blank, without which the keyword is part of the literal;
// and __noinline__ within an attribute, a macro in clang 14, loses its underscores. Line
// numbers do not change. It returns false and the original text if nothing had to change.
func Clangs(text []byte) ([]byte, bool) {
	if !bytes.Contains(text, []byte("<<")) && !bytes.Contains(text, []byte("alignas")) && !bytes.Contains(text, []byte("asm")) && !bytes.Contains(text, []byte(`"__`)) && !bytes.Contains(text, []byte("__noinline__")) {
		return text, false
	}
	d := dialect{text: text}
	d.scan()
	if len(d.edits) == 0 {
		return text, false
	}
	slices.SortFunc(d.edits, func(a, b edit) int { return a.from - b.from })
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
	text  []byte
	edits []edit
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
		case d.is(tokens[i], "<"):
			d.launch(tokens, i)
		case d.is(tokens[i], "__noinline__") && i > 0 && (d.is(tokens[i-1], "(") || d.is(tokens[i-1], ",")):
			d.edits = append(d.edits, edit{tokens[i].from, tokens[i].to, "noinline"})
		case d.is(tokens[i], "alignas") && i > 0 && slices.ContainsFunc([]string{"__shared__", "__device__", "__constant__", "__managed__"}, func(s string) bool { return d.is(tokens[i-1], s) }):
			d.edits = append(d.edits, edit{tokens[i].from, tokens[i].to, "_Alignas"})
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
// keyword ends at a position. Without operands the text is literal.
func (d *dialect) asm(at int) {
	var texts []token // string literals before the first colon
	for depth := 0; at < len(d.text); {
		t, next := d.next(at)
		switch {
		case t.from == t.to:
			if d.text[at] == '"' {
				texts = append(texts, token{at, next})
			}
		case d.is(t, "("):
			depth++
		case d.is(t, ")"), d.is(t, ";"):
			if depth--; depth <= 0 {
				return
			}
		case d.is(t, ":") && depth == 1:
			for _, t := range texts {
				for _, m := range register.FindAllSubmatchIndex(d.text[t.from:t.to], -1) {
					if m[2] >= 0 {
						d.edits = append(d.edits, edit{t.from + m[2], t.from + m[2], "%"})
					}
				}
			}
			return
		case depth == 0 && !d.is(t, "volatile") && !d.is(t, "__volatile__") && !d.is(t, "__volatile"):
			return
		}
		at = next
	}
}

// register finds percent signs: doubled ones, and those of special registers, whose names
// have at least three letters. Operands are numbers with at most one letter before.
var register = regexp.MustCompile(`%%|(%)[a-z_]{3}`)

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
	case bytes.HasPrefix(rest, []byte(`R"`)):
		if i := bytes.IndexByte(rest, '('); i >= 2 && i <= 18 {
			return token{}, until(at+i, ")"+string(rest[2:i])+`"`)
		}
		return token{}, at + 2
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
		return token{at, to}, to
	}
	return token{at, at + 1}, at + 1
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

var quoted = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]`)

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
// such files that they include from their own folders or from the given folders. It
// returns the name of a file for -ivfsoverlay that lists the copies, or "" if there are
// none. All files are in dir.
func Overlay(dir string, sources, folders []string) (string, error) {
	var changed []Copy
	seen := map[string]bool{}
	waiting := slices.Clone(sources)
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
			for _, folder := range append([]string{filepath.Dir(name)}, folders...) {
				waiting = append(waiting, filepath.Join(folder, string(m[1])))
			}
		}
	}
	if len(changed) == 0 {
		return "", nil
	}
	return OverlayOf(dir, changed)
}
