// Package allow decides which findings are known and not reported again: those that a comment
// in the source allows, those that a file of suppressions names, and those of a baseline.
package allow

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/check/output"
	"github.com/heddle-sim/heddle/internal/near"
)

// List is what is allowed. The zero value allows only what comments in the source do.
type List struct {
	Rules    []string // the IDs that there are; nil if this is not known
	entries  []entry
	baseline map[string]bool // fingerprints
}

// entry is an [[allow]] table. Each key that is set must match: patterns with * and ?, a file's
// by its end.
type entry struct {
	Rule   string `toml:"rule"`
	File   string `toml:"file"`
	Kernel string `toml:"kernel"`
	Reason string `toml:"reason"`
}

// ReadFile adds the suppressions of a TOML file.
func (l *List) ReadFile(name string) error {
	var doc struct {
		Allow []entry `toml:"allow"`
	}
	meta, err := toml.DecodeFile(name, &doc)
	if bad := (toml.ParseError{}); errors.As(err, &bad) {
		return fmt.Errorf("%s:%d: %s", name, bad.Position.Line, bad.Message)
	} else if file := (*fs.PathError)(nil); errors.As(err, &file) {
		return err
	} else if err != nil {
		return fmt.Errorf("%s: %s; want [[allow]] tables with rule, file, kernel and reason, which are texts", name, strings.TrimPrefix(err.Error(), "toml: "))
	}
	if keys := meta.Undecoded(); len(keys) > 0 {
		return fmt.Errorf("%s: the key %s is not known; want [[allow]] with rule, file, kernel and reason", name, keys[0])
	}
	for i, e := range doc.Allow {
		if e.Rule == "" && e.File == "" && e.Kernel == "" {
			return fmt.Errorf("%s: [[allow]] number %d would allow everything: give it a rule, a file or a kernel", name, i+1)
		}
		for _, p := range []string{e.Rule, e.File, e.Kernel} {
			if _, err := path.Match(p, ""); err != nil {
				return fmt.Errorf("%s: the pattern %q is not closed: want *, ?, or [letters]", name, p)
			}
		}
		if !l.known(e.Rule) {
			return fmt.Errorf("%s: %s", name, l.unknown(e.Rule))
		}
	}
	l.entries = append(l.entries, doc.Allow...)
	return nil
}

// known reports whether a pattern matches a rule that there is.
func (l *List) known(pattern string) bool {
	return l.Rules == nil || slices.ContainsFunc(l.Rules, func(id string) bool { return matches(pattern, id) })
}

// unknown is what is wrong with a pattern that matches no rule.
func (l *List) unknown(pattern string) string {
	return fmt.Sprintf("there is no rule %q%s", pattern, near.Suggest(pattern, l.Rules, "rules"))
}

// matches reports whether a pattern, if there is one, matches a text, or the end of a path.
func matches(pattern, text string) bool {
	if pattern == "" {
		return true
	}
	parts := strings.Split(filepath.ToSlash(text), "/")
	if n := strings.Count(pattern, "/") + 1; n < len(parts) {
		parts = parts[len(parts)-n:]
	}
	ok, err := path.Match(pattern, strings.Join(parts, "/"))
	return ok && err == nil
}

func (e *entry) allows(f *check.Finding) bool {
	return matches(e.Rule, f.Rule.ID) && matches(e.Kernel, f.Kernel) &&
		(e.File == "" || slices.ContainsFunc(places(f), func(p check.Place) bool { return p.File != "" && matches(e.File, p.File) }))
}

// places are all places of a finding, callers included.
func places(f *check.Finding) (list []check.Place) {
	for _, s := range f.Steps {
		list = append(append(list, s.Place), s.Chain...)
	}
	return list
}

// comment is a comment that allows rules, in C++ and in PTX.
var comment = regexp.MustCompile(`//\s*heddle:allow\s+([\w*?-]+(?:\s*,\s*[\w*?-]+)*)`)

// commented reports whether a comment allows the finding: in the line of one of its places, or
// alone in the line above. It calls wrong for a comment that names no rule.
func (l *List) commented(f *check.Finding, src *output.Sources, wrong func(string)) bool {
	for _, p := range places(f) {
		for above := range 2 {
			line := src.Line(p.File, p.Line-above)
			if !strings.Contains(line, "heddle:allow") || above == 1 && !strings.HasPrefix(line, "//") {
				continue
			}
			at := fmt.Sprintf("%s:%d", p.File, p.Line-above)
			m := comment.FindStringSubmatch(line)
			if m == nil {
				wrong(at + ": heddle:allow has no rule; want // heddle:allow RULE, RULE: why")
				continue
			}
			for rule := range strings.SplitSeq(m[1], ",") {
				rule = strings.TrimSpace(rule)
				if !l.known(rule) {
					wrong(at + ": " + l.unknown(rule))
				}
				if matches(rule, f.Rule.ID) {
					return true
				}
			}
		}
	}
	return false
}

// Counts says how many findings were left out, and why.
type Counts struct {
	Allowed  int // by comments and suppressions
	Baseline int
	Wrong    []string // what is wrong with comments at places of findings
}

// String is the counts in words, "" if nothing was left out.
func (c Counts) String() string {
	var parts []string
	if c.Allowed > 0 {
		parts = append(parts, fmt.Sprintf("%d allowed", c.Allowed))
	}
	if c.Baseline > 0 {
		parts = append(parts, fmt.Sprintf("%d in the baseline", c.Baseline))
	}
	return strings.Join(parts, ", ")
}

// Keep returns the findings that are to be reported.
func (l *List) Keep(list []*check.Finding, src *output.Sources) (kept []*check.Finding, out Counts) {
	wrong := func(s string) {
		if !slices.Contains(out.Wrong, s) {
			out.Wrong = append(out.Wrong, s)
		}
	}
	for _, f := range list {
		switch {
		case l.commented(f, src, wrong) || slices.ContainsFunc(l.entries, func(e entry) bool { return e.allows(f) }):
			out.Allowed++
		case l.baseline[output.Fingerprint(f, src)]:
			out.Baseline++
		default:
			kept = append(kept, f)
		}
	}
	return kept, out
}

// version is that of the form of baselines.
const version = 1

type baseline struct {
	Version  int     `json:"version"`
	Findings []known `json:"findings"`
}

// known is a finding in a baseline. All but the fingerprint is for people.
type known struct {
	Fingerprint string `json:"fingerprint"`
	Rule        string `json:"rule"`
	At          string `json:"at,omitempty"`
	Message     string `json:"message"`
}

// ReadBaseline adds the findings of a baseline.
func (l *List) ReadBaseline(name string) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var doc baseline
	if err := json.Unmarshal(b, &doc); err != nil || doc.Version != version {
		return fmt.Errorf("%s is not a baseline of this version of heddle: write it anew with --write-baseline", name)
	}
	if l.baseline == nil {
		l.baseline = map[string]bool{}
	}
	for _, k := range doc.Findings {
		l.baseline[k.Fingerprint] = true
	}
	return nil
}

// WriteBaseline writes findings as a baseline.
func WriteBaseline(name string, list []*check.Finding, src *output.Sources) error {
	doc := baseline{Version: version, Findings: []known{}}
	for _, f := range list {
		k := known{Fingerprint: output.Fingerprint(f, src), Rule: f.Rule.ID, Message: f.Message}
		if p := f.At(); p.File != "" {
			k.At = fmt.Sprintf("%s:%d", p.File, p.Line)
		}
		doc.Findings = append(doc.Findings, k)
	}
	b, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(b, '\n'), 0o666)
}
