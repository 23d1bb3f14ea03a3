package output

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/report/found"
)

// This file: findings as SARIF 2.1.0, as code scanning of GitHub reads it.

// How many results of a run, and tags of a rule, GitHub accepts (documentation of code
// scanning, SARIF support).
const (
	mostResults = 25_000
	mostTags    = 20
)

// Repository returns the folder to which SARIF's paths are relative: the nearest one at or
// above dir that contains .git, else dir.
func Repository(dir string) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return dir
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// sarifWriter writes findings as SARIF.
type sarifWriter struct {
	root string // of the repository
	src  *Sources
}

// WriteSARIF writes findings as a SARIF log of one run. Paths are relative to the folder root,
// and version is that of heddle. Findings beyond the limit of GitHub are left out, the least
// serious first; the run's property leftOut says how many.
func WriteSARIF(w io.Writer, list []*check.Finding, src *Sources, root, version string) error {
	x := sarifWriter{root: root, src: src}
	run := sarif.NewRunWithInformationURI("heddle", "https://github.com/heddle-sim/heddle")
	run.Tool.Driver.SemanticVersion = &version
	rules := Rules(list)
	for _, r := range rules {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule(r))
	}
	if left := len(list) - mostResults; left > 0 {
		run.Properties = sarif.NewPropertyBag()
		run.Properties.Properties["leftOut"] = left
		list = list[:mostResults]
	}
	for _, f := range list {
		index, _ := slices.BinarySearchFunc(rules, f.Rule.ID, func(r *check.Rule, id string) int { return cmp.Compare(r.ID, id) })
		run.Results = append(run.Results, x.result(f, index))
	}
	return sarif.NewReport().AddRun(run).PrettyWrite(w)
}

// sarifRule describes a rule.
func sarifRule(r *check.Rule) *sarif.ReportingDescriptor {
	text := func(s string) *sarif.MultiformatMessageString {
		return sarif.NewMultiformatMessageString().WithText(cmp.Or(s, r.Short))
	}
	help := strings.TrimSpace(r.Full + "\n\n" + r.Mend)
	d := sarif.NewReportingDescriptor()
	name := ""
	for part := range strings.SplitSeq(r.ID, "-") {
		name += strings.ToUpper(part[:min(1, len(part))]) + part[min(1, len(part)):]
	}
	d.ID, d.Name = &r.ID, &name
	d.ShortDescription, d.FullDescription = text(r.Short), text(r.Full)
	d.Help = text(help).WithMarkdown(cmp.Or(help, r.Short))
	d.DefaultConfiguration = sarif.NewReportingConfiguration().WithLevel(r.Level.String())
	d.Properties = sarif.NewPropertyBag()
	for _, tag := range append([]string{"cuda", r.Checker}, r.Tags...) {
		if !slices.Contains(d.Properties.Tags, tag) && len(d.Properties.Tags) < mostTags {
			d.Properties.Tags = append(d.Properties.Tags, tag)
		}
	}
	d.Properties.Properties["precision"] = [...]string{"medium", "high", "very-high"}[r.Level]
	d.Properties.Properties["problem.severity"] = [...]string{"recommendation", "warning", "error"}[r.Level]
	return d
}

// result makes a result of a finding.
func (x *sarifWriter) result(f *check.Finding, rule int) *sarif.Result {
	r := sarif.NewResult()
	r.RuleID, r.RuleIndex, r.Level = &f.Rule.ID, rule, f.Level.String()
	count := int(min(max(f.Count, 1), 1<<31-1))
	r.OccurrenceCount = &count
	r.PartialFingerprints = map[string]string{"primaryLocationLineHash": Fingerprint(f, x.src) + ":1"}

	main, at := x.primary(f)
	if main >= 0 {
		r.Locations = []*sarif.Location{x.location(at)}
	}
	message := f.Message
	flow := sarif.NewCodeFlow()
	for i, s := range f.Steps {
		if l := x.location(s.Place); i > 0 || main != 0 || at != s.Place {
			n := len(r.RelatedLocations) + 1
			l.ID = n
			l.Message = sarif.NewTextMessage(strings.TrimSuffix(string(s.Role)+": "+s.Text, ": "))
			if l.PhysicalLocation != nil { // links need a place
				r.RelatedLocations = append(r.RelatedLocations, l)
				message += fmt.Sprintf(" [%s](%d).", upper(string(s.Role)), n)
			}
		}
		if t := x.flow(s); t != nil {
			flow.ThreadFlows = append(flow.ThreadFlows, t)
		}
	}
	if why := found.Causes[f.Cause]; why != "" {
		message += " " + upper(why) + "."
	}
	r.Message = sarif.NewTextMessage(message)
	if len(flow.ThreadFlows) > 0 {
		r.CodeFlows = []*sarif.CodeFlow{flow}
	}
	r.Properties = sarif.NewPropertyBag()
	for k, v := range f.Details {
		r.Properties.Properties[k] = v
	}
	for k, v := range map[string]string{"kernel": f.Kernel, "order": f.Order, "cause": f.Cause} {
		if v != "" {
			r.Properties.Properties[k] = v
		}
	}
	if f.Launch >= 0 {
		r.Properties.Properties["launch"] = f.Launch
	}
	return r
}

// upper returns text with a capital.
func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// primary returns where a finding is shown: the first place in a file of the repository,
// callers included, else the first in a file of the program, and the step it belongs to. -1 if
// no file is known.
func (x *sarifWriter) primary(f *check.Finding) (step int, at check.Place) {
	step = -1
	for i, s := range f.Steps {
		for _, p := range append([]check.Place{s.Place}, s.Chain...) {
			switch {
			case p.File == "" || p.Line < 1 || p.Library:
			case x.inside(p.File):
				return i, p
			case step < 0:
				step, at = i, p
			}
		}
	}
	return step, at
}

// path is a file's path relative to the repository.
func (x *sarifWriter) path(file string) (string, bool) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return "", false
	}
	if found := x.src.Path(file); found != "" {
		if abs, err = filepath.Abs(found); err != nil {
			return "", false
		}
	}
	rel, err := filepath.Rel(x.root, abs)
	if err != nil || !filepath.IsLocal(rel) {
		return filepath.ToSlash(abs), false
	}
	return filepath.ToSlash(rel), true
}

func (x *sarifWriter) inside(file string) bool {
	_, ok := x.path(file)
	return ok
}

// location makes a location of a place.
func (x *sarifWriter) location(p check.Place) *sarif.Location {
	l := sarif.NewLocation()
	if p.Function != "" {
		name := p.Function
		l.LogicalLocations = append(l.LogicalLocations, sarif.NewLogicalLocation().WithFullyQualifiedName(name).WithKind("function"))
	}
	if p.File == "" || p.Line < 1 {
		return l
	}
	a := sarif.NewArtifactLocation()
	path, ok := x.path(p.File)
	uri := url.URL{Path: path}
	if ok {
		base := "%SRCROOT%"
		a.URIBaseID = &base
	} else {
		uri.Scheme = "file"
	}
	text := uri.String()
	a.URI = &text
	l.PhysicalLocation = sarif.NewPhysicalLocation().WithArtifactLocation(a).WithRegion(sarif.NewRegion().WithStartLine(p.Line))
	return l
}

// flow is how a thread came to a step, the outermost call first; nil for what no thread of a
// kernel does, and without places.
func (x *sarifWriter) flow(s check.Step) *sarif.ThreadFlow {
	if s.Role != check.First && s.Role != check.Other {
		return nil
	}
	t := sarif.NewThreadFlow()
	for i, p := range slices.Backward(append([]check.Place{s.Place}, s.Chain...)) {
		l := x.location(p)
		if l.PhysicalLocation == nil {
			continue
		}
		text := "call"
		if i == 0 {
			text = cmp.Or(s.Text, string(s.Role))
		}
		l.Message = sarif.NewTextMessage(text)
		t.Locations = append(t.Locations, sarif.NewThreadFlowLocation().WithLocation(l))
	}
	if len(t.Locations) == 0 {
		return nil
	}
	return t
}
