// Package explain says in a sentence what an instruction does, for people who learn. It reads the
// instruction's text, and knows nothing else of it: the tables are in words.go, a line for each
// opcode. It is exact about which operand is what, and leaves out roundings and rare modifiers.
package explain

import (
	"slices"
	"strings"
)

// Sentence explains an instruction of a set (ptx, sass or kasm), written as its program has it or as a
// disassembler does. It is "" for an opcode that the tables do not have.
func Sentence(set, text string) string {
	table := tables[set]
	guard, name, ops := split(text)
	words, rest := find(table, name)
	uniform := false
	if words == "" && set == "sass" && strings.HasPrefix(name, "U") {
		words, rest = find(table, name[1:])
		uniform = words != ""
	}
	if words == "" {
		return ""
	}
	s := fill(words, rest, ops)
	if uniform {
		s += " The values are uniform: one for all lanes of the warp."
	}
	switch g, not := strings.CutPrefix(guard, "!"); {
	case g == "" || g == "PT" || g == "UPT" || set == "kasm" && g == "P7" && !not:
	case not:
		s = "Only in lanes where " + g + " does not hold: " + lower(s)
	default:
		s = "Only in lanes where " + g + " holds: " + lower(s)
	}
	return s
}

// Known reports whether a table has an opcode, which may have modifiers.
func Known(set, name string) bool { return Sentence(set, name) != "" }

// lower makes the first letter of a sentence small, unless it begins with a name.
func lower(s string) string {
	if len(s) > 1 && s[1] >= 'a' && s[1] <= 'z' {
		return strings.ToLower(s[:1]) + s[1:]
	}
	return s
}

// split takes an instruction apart: its guard without @, the name with modifiers, and the operands.
func split(text string) (guard, name string, ops []string) {
	text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), ";"))
	for strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") { // control codes
		_, after, ok := strings.Cut(text, "]")
		if !ok {
			break
		}
		text = strings.TrimSpace(after)
	}
	if g, ok := strings.CutPrefix(text, "@"); ok {
		guard, text, _ = strings.Cut(g, " ")
		text = strings.TrimSpace(text)
	}
	name, text, _ = strings.Cut(text, " ")
	depth, from := 0, 0
	for i, c := range text {
		switch c {
		case '[', '{', '(':
			depth++
		case ']', '}', ')':
			depth--
		case ',':
			if depth == 0 {
				ops = append(ops, strings.TrimSpace(text[from:i]))
				from = i + 1
			}
		}
	}
	last := strings.TrimSpace(text[from:])
	for { // fields of a word that are written after the operands: rd=57
		before, field, ok := cutLast(last)
		if !ok || !strings.Contains(field, "=") {
			break
		}
		last = before
	}
	if last != "" {
		ops = append(ops, last)
	}
	return guard, name, ops
}

// cutLast takes the last word off.
func cutLast(s string) (before, word string, ok bool) {
	i := strings.LastIndexByte(s, ' ')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// find looks a name up, with fewer and fewer of its modifiers, and returns the modifiers that are left.
func find(table map[string]string, name string) (words string, rest []string) {
	parts := strings.Split(name, ".")
	for n := len(parts); n > 0; n-- {
		if w, ok := table[strings.Join(parts[:n], ".")]; ok {
			return w, parts[n:]
		}
	}
	return "", nil
}

// comparisons are the words for those of setp and its kin.
var comparisons = map[string]string{
	"eq": "equals", "ne": "differs from", "lt": "is less than", "le": "is at most", "gt": "is greater than", "ge": "is at least",
	"lo": "is less than", "ls": "is at most", "hi": "is greater than", "hs": "is at least",
	"equ": "equals", "neu": "differs from", "ltu": "is less than", "leu": "is at most", "gtu": "is greater than", "geu": "is at least",
}

// kinds are the words for types.
var kinds = map[string]string{"f16": "half-precision", "f32": "single-precision", "f64": "double-precision", "bf16": "bfloat16"}

// fill puts operands into a sentence: {n} is operand n, {n+} all from n on joined by "and", without
// registers that are always zero and predicates; {cmp} a comparison, {mods} the modifiers.
func fill(words string, mods, ops []string) string {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(words, "{")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		key, rest, _ := strings.Cut(after, "}")
		b.WriteString(operand(key, mods, ops))
		words = rest
	}
}

// operand is what a key of a sentence stands for.
func operand(key string, mods, ops []string) string {
	switch key {
	case "cmp":
		for _, m := range mods {
			if c := comparisons[strings.ToLower(m)]; c != "" {
				return c
			}
		}
		return "compares as asked with"
	case "mods":
		if len(mods) == 0 {
			return "as asked"
		}
		return "." + strings.Join(mods, ".")
	case "kind":
		for _, m := range mods {
			if k := kinds[m]; k != "" {
				return k + " "
			}
		}
		return ""
	}
	n := int(key[0] - '0')
	if key[1:] != "+" {
		if n < len(ops) {
			return ops[n]
		}
		return "the default"
	}
	list := slices.Clone(ops[min(n, len(ops)):])
	list = slices.DeleteFunc(list, func(o string) bool {
		p := strings.TrimPrefix(strings.TrimPrefix(o, "!"), "U")
		return o == "RZ" || o == "URZ" || len(p) == 2 && p[0] == 'P' || strings.Contains(o, "=")
	})
	switch len(list) {
	case 0:
		return "0"
	case 1:
		return list[0]
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}

// tables are the words by set and opcode.
var tables = map[string]map[string]string{"kasm": parse(kasmWords), "ptx": parse(ptxWords), "sass": parse(sassWords)}

// parse reads a table: an opcode and its sentence on each line.
func parse(text string) map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		names, words, _ := strings.Cut(line, " ")
		for name := range strings.SplitSeq(names, ",") {
			m[name] = strings.TrimSpace(words)
		}
	}
	return m
}
