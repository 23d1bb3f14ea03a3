package ptx

import (
	"fmt"
	"github.com/heddle-sim/heddle/internal/near"
	"slices"
	"strings"
)

// formError is the reason why an instruction matches no row.
type formError struct {
	msg  string
	hint string
}

// Error returns the message, followed by what is allowed in parentheses.
func (e *formError) Error() string {
	if e.hint == "" {
		return e.msg
	}
	return e.msg + " (" + e.hint + ")"
}

// explain returns why no row matches.
func explain(in *Inst) *formError {
	rows := formsByOp[in.Op]
	if rows == nil {
		e := &formError{msg: "unknown opcode " + clip(in.Op)}
		if n := near.Name(in.Op, opcodes); n != "" {
			e.hint = "did you mean " + n + "?"
		}
		return e
	}
	best := closestRows(rows, in.Mods)
	closest := best[0]
	full := in.FullName()
	if len(full) > maxName {
		full = full[:maxName] + "..."
	}
	e := &formError{hint: "the form is " + closest.form.text(maxListed)}
	var expected slot
	for _, c := range best {
		if len(c.missing) > 0 {
			s := c.form.slots[c.missing[0]]
			expected.typ = s.typ && (expected.typ || expected.vals == nil)
			for _, v := range s.vals {
				if !expected.allows(v) {
					expected.vals = append(expected.vals, v)
				}
			}
		}
	}
	switch {
	case len(closest.wrong) > 0:
		e.msg = full + ": " + misplaced(in, rows, closest.wrong[0])
		if len(closest.missing) > 0 {
			e.hint = "expected " + expected.describe() + "; " + e.hint
		}
	case len(closest.missing) > 0:
		e.msg = fmt.Sprintf("%s: missing %s", full, expected.describe())
	default:
		e.msg = full + ": modifiers in the wrong order"
		for _, c := range best {
			if v, ok := c.form.match(in.Mods); ok && c.form.rule != nil {
				e.msg = full + ": " + c.form.rule(v)
				break
			}
		}
	}
	return e
}

// fit is how a row differs from an instruction: modifiers that it does not have, by index,
// and slots that they leave empty.
type fit struct {
	form           *Form
	wrong, missing []int
}

// cost orders rows by how close they come: those for which only modifiers are missing;
// otherwise those with the fewest modifiers to add, drop or replace, and of these the rows
// that match the longest run of modifiers as written.
func (f *fit) cost() [4]int {
	if len(f.wrong) == 0 {
		return [4]int{0, len(f.missing)}
	}
	return [4]int{1, max(len(f.wrong), len(f.missing)), len(f.wrong), -f.wrong[0]}
}

// closestRows returns the rows of the least cost.
func closestRows(rows []*Form, mods []string) []fit {
	var best []fit
	for _, f := range rows {
		c := fit{form: f}
		c.wrong, c.missing = f.misfit(mods)
		order := -1
		if len(best) > 0 {
			a, b := c.cost(), best[0].cost()
			order = slices.Compare(a[:], b[:])
		}
		switch {
		case order < 0:
			best = []fit{c}
		case order == 0:
			best = append(best, c)
		}
	}
	return best
}

// misplaced says what is wrong with a modifier.
func misplaced(in *Inst, rows []*Form, at int) string {
	mod := in.Mods[at]
	repeats := false // some row has two slots for it
	for _, f := range rows {
		places := 0
		for _, s := range f.slots {
			if s.allows(mod) {
				places++
			}
		}
		repeats = repeats || places > 1
	}
	switch {
	case slices.Contains(in.Mods[:at], mod) && !repeats:
		return fmt.Sprintf(".%s is given twice", clip(mod))
	case slices.Contains(modsByOp[in.Op], mod):
		return fmt.Sprintf(".%s cannot be combined with the other modifiers", mod)
	}
	msg := fmt.Sprintf("%s has no modifier .%s", in.Op, clip(mod))
	if n := near.Name(mod, modsByOp[in.Op]); n != "" {
		msg += ", did you mean ." + n + "?"
	}
	return msg
}

// maxName bounds the part of an instruction's name that a message shows; the names
// in the table are shorter.
const maxName = 200

// maxListed is the number of alternatives that a message lists.
const maxListed = 12

// text returns the row in the manual's notation with classes expanded. Lists longer
// than most are truncated.
func (f *Form) text(most int) string {
	var b strings.Builder
	b.WriteString(f.Op)
	for _, s := range f.slots {
		list, cut := s.vals, ""
		if len(list) > most {
			list, cut = list[:most], ",…"
		}
		switch {
		case s.opt:
			b.WriteString("{." + strings.Join(list, ",.") + cut + "}")
		case len(list) == 1:
			b.WriteString("." + list[0])
		default:
			b.WriteString(".{" + strings.Join(list, ",") + cut + "}")
		}
	}
	for i, a := range f.args {
		sep := ", "
		if i == 0 {
			sep = " "
		}
		if a.opt {
			b.WriteString("{" + sep + a.text() + "}")
		} else {
			b.WriteString(sep + a.text())
		}
	}
	return b.String()
}

// text returns the operand in the manual's notation.
func (a *argSpec) text() string {
	name := a.name
	switch a.kind {
	case argAddr:
		return "[" + name + "]"
	case argTex, argTensor:
		return "[" + name + ", {…}]"
	case argList:
		return "(" + name + ")"
	}
	switch {
	case a.n > 0, a.n == lenAny, a.n == lenFrag:
		name = "{" + name + "…}"
	case a.neg:
		name = "{!}" + name
	}
	switch {
	case a.pair2:
		name += "|q"
	case a.pair:
		name += "{|q}"
	}
	return name
}

// misfit assigns as many modifiers as possible and returns the indices of those
// that fit no slot and of the required slots that stayed empty.
func (f *Form) misfit(mods []string) (wrong, missing []int) {
	used := make([]bool, len(f.slots))
	for j, m := range mods {
		placed := false
		for i := range f.slots {
			if !used[i] && f.slots[i].allows(m) {
				used[i], placed = true, true
				break
			}
		}
		if !placed {
			wrong = append(wrong, j)
		}
	}
	for i, s := range f.slots {
		if !s.opt && !used[i] {
			missing = append(missing, i)
		}
	}
	return wrong, missing
}

// describe names the values of a slot, for messages.
func (s *slot) describe() string {
	if len(s.vals) == 1 {
		return "." + s.vals[0]
	}
	what := "one of ."
	if s.typ {
		what = "a type: ."
	}
	if len(s.vals) > maxListed {
		return what + strings.Join(s.vals[:maxListed], " .") + " …"
	}
	return what + strings.Join(s.vals, " .")
}
