// Package output is what becomes of findings: their form in results and files, through which
// processes also pass them on to each other, and text for people and for scripts.
package output

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/report/found"
)

// levels are the levels in ascending order.
var levels = []check.Level{check.Note, check.Warning, check.Error}

// levelOf returns the level with a name.
func levelOf(name string) (check.Level, error) {
	i := slices.IndexFunc(levels, func(l check.Level) bool { return l.String() == name })
	if i < 0 {
		return 0, fmt.Errorf("there is no level %q", name)
	}
	return levels[i], nil
}

// Document returns findings in the form of results and files, in their order.
func Document(list []*check.Finding) *found.Document {
	doc := &found.Document{Version: found.Version, Rules: []found.Rule{}, Findings: []found.Finding{}}
	for _, r := range Rules(list) {
		doc.Rules = append(doc.Rules, found.Rule{ID: r.ID, Checker: r.Checker, Level: r.Level.String(), Short: r.Short, Full: r.Full, Mend: r.Mend, Tags: r.Tags})
	}
	for _, f := range list {
		x := found.Finding{Rule: f.Rule.ID, Level: f.Level.String(), Message: f.Message, Kernel: f.Kernel, Launch: f.Launch, Count: f.Count, Cause: f.Cause, Order: f.Order, Steps: []found.Step{}, Details: f.Details}
		for _, s := range f.Steps {
			y := found.Step{Role: string(s.Role), Text: s.Text, Place: found.Place(s.Place)}
			for _, p := range s.Chain {
				y.Chain = append(y.Chain, found.Place(p))
			}
			x.Steps = append(x.Steps, y)
		}
		doc.Findings = append(doc.Findings, x)
	}
	return doc
}

// Encode returns findings as JSON, in their order.
func Encode(list []*check.Finding) ([]byte, error) {
	b, err := json.MarshalIndent(Document(list), "", "  ")
	return append(b, '\n'), err
}

// Of is the inverse of Document; nil has no findings. Findings of one rule share it.
func Of(doc *found.Document) ([]*check.Finding, error) {
	if doc == nil {
		return nil, nil
	}
	if doc.Version != found.Version {
		return nil, fmt.Errorf("the findings have version %d; this version of heddle reads %d", doc.Version, found.Version)
	}
	rules := map[string]*check.Rule{}
	for _, r := range doc.Rules {
		l, err := levelOf(r.Level)
		if err != nil {
			return nil, err
		}
		rules[r.ID] = &check.Rule{ID: r.ID, Checker: r.Checker, Level: l, Short: r.Short, Full: r.Full, Mend: r.Mend, Tags: r.Tags}
	}
	var list []*check.Finding
	for i, x := range doc.Findings {
		r := rules[x.Rule]
		if r == nil {
			return nil, fmt.Errorf("finding %d has the rule %q, which is not among the rules", i, x.Rule)
		}
		l, err := levelOf(x.Level)
		if err != nil {
			return nil, err
		}
		f := &check.Finding{Rule: r, Level: l, Message: x.Message, Kernel: x.Kernel, Launch: x.Launch, Count: x.Count, Cause: x.Cause, Order: x.Order, Details: x.Details}
		for _, y := range x.Steps {
			s := check.Step{Role: check.Role(y.Role), Text: y.Text, Place: check.Place(y.Place)}
			for _, p := range y.Chain {
				s.Chain = append(s.Chain, check.Place(p))
			}
			f.Steps = append(f.Steps, s)
		}
		list = append(list, f)
	}
	return list, nil
}

// Rules returns the rules of findings by ID, each once.
func Rules(list []*check.Finding) []*check.Rule {
	var rules []*check.Rule
	for _, f := range list {
		rules = append(rules, f.Rule)
	}
	slices.SortFunc(rules, func(a, b *check.Rule) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(rules, func(a, b *check.Rule) bool { return a.ID == b.ID })
}

// key is what makes two findings one: the rule, and where.
type key struct{ rule, kernel, cause, at string }

func keyOf(f *check.Finding) key {
	at := sides(f, func(s *check.Step) string {
		p := s.Place
		text := fmt.Sprintf("%s:%d %s", p.File, p.Line, p.Function)
		if p.Line == 0 {
			text += fmt.Sprintf(" %d", p.PC)
		}
		return text
	})
	return key{f.Rule.ID, f.Kernel, f.Cause, at}
}

// sides returns a text of the steps of a finding, of each its role and what text says of it. The
// two accesses of a race are in one order, whichever of them came later in a run.
func sides(f *check.Finding, text func(s *check.Step) string) string {
	var list []string
	race := strings.HasPrefix(f.Rule.ID, "race-")
	for i := range f.Steps {
		s := &f.Steps[i]
		role := s.Role
		if race && role == check.Other {
			role = check.First
		}
		list = append(list, fmt.Sprintf("%s %s\n", role, text(s)))
	}
	if race {
		slices.Sort(list)
	}
	return strings.Join(list, "")
}

// Merge makes one finding of those with the same rule at the same places, and returns them in
// the order of Sort. Their counts add up; the rest is that of the most serious, of equals the first.
func Merge(list []*check.Finding) []*check.Finding {
	first := map[key]*check.Finding{}
	var all []*check.Finding
	for _, f := range list {
		k := keyOf(f)
		if x := first[k]; x != nil {
			join(x, f, x.Count+f.Count)
			continue
		}
		x := *f
		first[k] = &x
		all = append(all, &x)
	}
	check.Sort(all)
	return all
}

// Divide gives each of several programs those of the findings that are kept which it has itself,
// with its own counts. What none of them has, as it came up in a run in another order, goes to the last.
func Divide(kept []*check.Finding, programs ...[]*check.Finding) [][]*check.Finding {
	if len(programs) == 1 {
		return [][]*check.Finding{kept}
	}
	left := map[key]*check.Finding{}
	for _, f := range kept {
		left[keyOf(f)] = f
	}
	known := maps.Clone(left)
	parts := make([][]*check.Finding, len(programs))
	for i, list := range programs {
		for _, f := range list {
			if k := keyOf(f); known[k] != nil {
				parts[i] = append(parts[i], f)
				delete(left, k)
			}
		}
	}
	for _, f := range kept {
		if left[keyOf(f)] != nil {
			parts[len(parts)-1] = append(parts[len(parts)-1], f)
		}
	}
	return parts
}

// MergeRuns is Merge for findings of several runs of one program: the count is the largest
// of a run, and of equals that of the first run is kept. A race that another run explains by
// another cause is the same.
func MergeRuns(runs ...[]*check.Finding) []*check.Finding {
	exact, any := map[key]*check.Finding{}, map[key]*check.Finding{}
	var all []*check.Finding
	for _, run := range runs {
		begun := len(all)
		for _, f := range Merge(run) {
			k := keyOf(f)
			whole := k
			k.cause = ""
			if x := cmp.Or(exact[whole], any[k]); x != nil {
				join(x, f, max(x.Count, f.Count))
				continue
			}
			exact[whole] = f
			all = append(all, f)
		}
		for _, f := range all[begun:] {
			k := keyOf(f)
			k.cause = ""
			any[k] = cmp.Or(any[k], f)
		}
	}
	check.Sort(all)
	return all
}

// join makes x the more serious of two findings, with a count.
func join(x, f *check.Finding, count uint64) {
	if f.Level > x.Level {
		*x = *f
	}
	x.Count = count
}
