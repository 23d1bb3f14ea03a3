// Package output is what becomes of findings: JSON that programs read and that processes pass
// on to each other, and text for people and for scripts.
package output

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/heddle-sim/heddle/internal/check"
)

// Version is the version of the JSON form. It rises when a field changes its meaning.
const Version = 1

// document is the JSON form of findings. Each rule is in it once.
type document struct {
	Version  int       `json:"version"`
	Rules    []rule    `json:"rules"`
	Findings []finding `json:"findings"`
}

type rule struct {
	ID      string   `json:"id"`
	Checker string   `json:"checker"`
	Level   level    `json:"level"`
	Short   string   `json:"short"`
	Full    string   `json:"full,omitempty"`
	Mend    string   `json:"mend,omitempty"`
	Tags    []string `json:"tags,omitempty"`
}

type finding struct {
	Rule    string            `json:"rule"`
	Level   level             `json:"level"`
	Message string            `json:"message"`
	Kernel  string            `json:"kernel,omitempty"`
	Launch  int               `json:"launch"`
	Count   uint64            `json:"count"`
	Cause   string            `json:"cause,omitempty"`
	Order   string            `json:"order,omitempty"`
	Steps   []step            `json:"steps"`
	Details map[string]string `json:"details,omitempty"`
}

type step struct {
	Role check.Role `json:"role"`
	Text string     `json:"text,omitempty"`
	place
	Chain []place `json:"chain,omitempty"`
}

type place struct {
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Function string `json:"function,omitempty"`
	PC       int    `json:"pc,omitempty"`
	Inst     string `json:"inst,omitempty"`
	Library  bool   `json:"library,omitempty"`
}

// level is a check.Level by name.
type level check.Level

var levels = []check.Level{check.Note, check.Warning, check.Error}

func (l level) MarshalText() ([]byte, error) { return []byte(check.Level(l).String()), nil }

func (l *level) UnmarshalText(b []byte) error {
	for _, x := range levels {
		if x.String() == string(b) {
			*l = level(x)
			return nil
		}
	}
	return fmt.Errorf("there is no level %q", b)
}

// Encode returns findings as JSON, in their order.
func Encode(list []*check.Finding) ([]byte, error) {
	doc := document{Version: Version, Rules: []rule{}, Findings: []finding{}}
	for _, r := range Rules(list) {
		doc.Rules = append(doc.Rules, rule{r.ID, r.Checker, level(r.Level), r.Short, r.Full, r.Mend, r.Tags})
	}
	for _, f := range list {
		x := finding{f.Rule.ID, level(f.Level), f.Message, f.Kernel, f.Launch, f.Count, f.Cause, f.Order, []step{}, f.Details}
		for _, s := range f.Steps {
			y := step{Role: s.Role, Text: s.Text, place: place(s.Place)}
			for _, p := range s.Chain {
				y.Chain = append(y.Chain, place(p))
			}
			x.Steps = append(x.Steps, y)
		}
		doc.Findings = append(doc.Findings, x)
	}
	b, err := json.MarshalIndent(doc, "", "  ")
	return append(b, '\n'), err
}

// Decode is the inverse of Encode. Findings of one rule share it.
func Decode(b []byte) ([]*check.Finding, error) {
	var doc document
	if err := json.Unmarshal(b, &doc); err != nil {
		return nil, fmt.Errorf("these are no findings: %w", err)
	}
	if doc.Version != Version {
		return nil, fmt.Errorf("the findings have version %d; this version of heddle reads %d", doc.Version, Version)
	}
	rules := map[string]*check.Rule{}
	for _, r := range doc.Rules {
		rules[r.ID] = &check.Rule{ID: r.ID, Checker: r.Checker, Level: check.Level(r.Level), Short: r.Short, Full: r.Full, Mend: r.Mend, Tags: r.Tags}
	}
	var list []*check.Finding
	for i, x := range doc.Findings {
		r := rules[x.Rule]
		if r == nil {
			return nil, fmt.Errorf("finding %d has the rule %q, which is not among the rules", i, x.Rule)
		}
		f := &check.Finding{Rule: r, Level: check.Level(x.Level), Message: x.Message, Kernel: x.Kernel, Launch: x.Launch, Count: x.Count, Cause: x.Cause, Order: x.Order, Details: x.Details}
		for _, y := range x.Steps {
			s := check.Step{Role: y.Role, Text: y.Text, Place: check.Place(y.place)}
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

// prefix begins the names of files that Write makes.
const prefix = "findings-"

// begun is when this process first wrote. A process may become another program without a new
// number, so the number alone does not tell programs apart.
var begun = sync.OnceValue(func() int64 { return time.Now().UnixNano() })

// Write keeps the findings of this process in a folder that several processes share. A later
// call replaces what an earlier one wrote, so that a program that crashes leaves what was
// found until then.
func Write(dir string, list []*check.Finding) error {
	b, err := Encode(list)
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, fmt.Sprintf("%s%d-%d.json", prefix, begun(), os.Getpid())), b)
}

// writeFile writes a file that others see only when it is complete.
func writeFile(path string, b []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), "new-")
	if err != nil {
		return err
	}
	_, err = file.Write(b)
	err = errors.Join(err, file.Chmod(0o644), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}

// ReadAll returns what all processes wrote to a folder, merged, in the order of Sort. A folder
// without findings has none.
func ReadAll(dir string) ([]*check.Finding, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var all []*check.Finding
	for _, e := range entries { // by name, and so by time
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		list, err := Decode(b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		all = append(all, list...)
	}
	return Merge(all), nil
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
