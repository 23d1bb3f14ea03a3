package compare

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/report"
)

// The number of rows without a partner that the text names on each side, and the
// width of a name there (our choice); JSON has all of them, in full.
const (
	mostLeft  = 20
	nameWidth = 44
)

// WriteText writes the comparison for a reader: rows in ascending order of their
// errors, unless brief is set, and a summary.
func (c *Comparison) WriteText(w io.Writer, brief bool) error {
	var b strings.Builder
	for _, t := range []*Table{c.A, c.B} {
		fmt.Fprintf(&b, "%s  %s: %s, %s of %s", strings.ToUpper(t.Side), files(t), t.What, plural(len(t.Rows), c.By), t.Metric)
		if t.Less > 0 {
			fmt.Fprintf(&b, ", less %s for each launch", value(t.Less))
		}
		b.WriteByte('\n')
	}
	for _, t := range []*Table{c.A, c.B} {
		for _, n := range t.Notes {
			fmt.Fprintf(&b, "note: %s\n", n)
		}
	}
	if c.Repeated > 0 {
		fmt.Fprintf(&b, "note: A has %s more than once; the first is compared with the first, the second with the second, and so on\n", plural(c.Repeated, "name"))
	}
	b.WriteByte('\n')
	if !brief {
		t := report.NewTable("<"+c.By, "A", "B", "B/A", "error")
		for _, p := range c.Ascending() {
			t.Row(label(p), value(p.A.Value), value(p.B.Value), fmt.Sprintf("%.3f", p.Ratio), signed(p.Error))
		}
		t.Write(&b)
		b.WriteByte('\n')
	}
	if len(c.Groups) > 0 {
		t := report.NewTable("<"+kind(c.By), c.By+"s", "mean |error|", "median", "90th", "worst", "mean error")
		for _, g := range c.Groups {
			t.Row(shorten(g.Name, nameWidth), strconv.Itoa(g.Pairs), percent(g.MeanAbsolute), percent(g.MedianAbsolute), percent(g.P90Absolute), percent(g.WorstAbsolute), signed(g.Mean))
		}
		t.Write(&b)
		b.WriteByte('\n')
	}
	c.summary(&b)
	c.left(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// kind is the heading of groups.
func kind(by string) string {
	if by == Runs {
		return "benchmark"
	}
	return "function"
}

// summary writes the statistics.
func (c *Comparison) summary(b *strings.Builder) {
	s := &c.Statistics
	fmt.Fprintf(b, "%s by %s: mean of absolute errors %s, median %s, 90th percentile %s, worst %s (%s)\n", plural(s.Pairs, "pair"), c.Match,
		percent(s.MeanAbsolute), percent(s.MedianAbsolute), percent(s.P90Absolute), percent(s.WorstAbsolute), shorten(s.Worst, nameWidth))
	fmt.Fprintf(b, "mean error %s, correlation %s, of logarithms %s\n", signed(s.Mean), coefficient(s.Correlation), coefficient(s.LogCorrelation))
	if c.Small > 0 {
		fmt.Fprintf(b, "%s left out: A is below --min-cycles\n", plural(c.Small, "pair"))
	}
	for _, p := range c.NoRatio[:min(len(c.NoRatio), mostLeft)] {
		fmt.Fprintf(b, "no error: %s, where A is %s and B is %s\n", label(p), value(p.A.Value), value(p.B.Value))
	}
	if n := len(c.NoRatio) - mostLeft; n > 0 {
		fmt.Fprintf(b, "no error: %s\n", plural(n, "more pair"))
	}
}

// left names the rows without a partner.
func (c *Comparison) left(b *strings.Builder) {
	for _, side := range []struct {
		name  string
		rows  []Row
		other []Row
	}{{"A", c.OnlyA, c.OnlyB}, {"B", c.OnlyB, c.OnlyA}} {
		var others []string
		for _, r := range side.other[:min(len(side.other), 1000)] { // candidates for the hint
			others = append(others, r.Name)
		}
		for _, r := range side.rows[:min(len(side.rows), mostLeft)] {
			fmt.Fprintf(b, "only in %s: %s%s, %s%s\n", side.name, rowName(r), place(r), value(r.Value), nearest(r, others))
		}
		if n := len(side.rows) - mostLeft; n > 0 {
			fmt.Fprintf(b, "only in %s: %s\n", side.name, plural(n, "more row"))
		}
	}
}

func files(t *Table) string {
	if len(t.Files) == 1 {
		return t.Files[0]
	}
	return fmt.Sprintf("%s … (%d files)", t.Files[0], len(t.Files))
}

// label names a pair by its reference, with the launch if known.
func label(p Pair) string {
	if p.A.Name == "" {
		return rowName(p.B)
	}
	s := rowName(p.A)
	if p.A.Launch < 0 && p.B.Launch >= 0 {
		s += fmt.Sprintf(" #%d", p.B.Launch)
	}
	return s
}

func rowName(r Row) string {
	s := shorten(r.Name, nameWidth)
	if s == "" {
		s = "(no name)"
	}
	if r.Launch >= 0 {
		s += fmt.Sprintf(" #%d", r.Launch)
	}
	return s
}

// place returns the place of a row in its file.
func place(r Row) string {
	if r.Line > 0 {
		return fmt.Sprintf(" (%s:%d)", r.File, r.Line)
	}
	return fmt.Sprintf(" (%s)", r.File)
}

// value writes a value with its digits in groups, and with decimals if there are
// any.
func value(v float64) string {
	if v < 0 {
		return "-" + value(-v)
	}
	if v >= 1e18 || v > 0 && v < 0.005 {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	hundredths := uint64(math.Round(math.Mod(v, 1) * 100))
	whole := uint64(v) + hundredths/100
	s := report.Count(whole)
	if hundredths %= 100; hundredths != 0 {
		s += fmt.Sprintf(".%02d", hundredths)
	}
	return s
}

func percent(v float64) string {
	if v >= 1e7 {
		return fmt.Sprintf("%.3g %%", v)
	}
	return fmt.Sprintf("%.2f %%", v)
}

func signed(v float64) string {
	if v >= 0 {
		return "+" + percent(v)
	}
	return percent(v)
}

func coefficient(r *float64) string {
	if r == nil {
		return "undefined"
	}
	return fmt.Sprintf("%.4f", *r)
}

// The JSON form; fields are added, never renamed.
type (
	jsonSide struct {
		Files  []string `json:"files"`
		What   string   `json:"what"`
		Metric string   `json:"metric"`
		Less   float64  `json:"less"` // for each launch
		Rows   int      `json:"rows"`
		Notes  []string `json:"notes,omitempty"`
	}
	jsonRow struct {
		Name   string  `json:"name"`
		Launch *int    `json:"launch,omitempty"`
		Value  float64 `json:"value"`
		File   string  `json:"file"`
		Line   int     `json:"line,omitempty"`
	}
	jsonPair struct {
		Name    string   `json:"name"`             // in A
		NameB   string   `json:"name_b,omitempty"` // if B has a different one
		LaunchA *int     `json:"launch_a,omitempty"`
		LaunchB *int     `json:"launch_b,omitempty"`
		A       float64  `json:"a"`
		B       float64  `json:"b"`
		Ratio   *float64 `json:"ratio,omitempty"`
		Error   *float64 `json:"error_percent,omitempty"`
	}
	jsonGroup struct {
		Name string `json:"name"`
		Statistics
	}
	jsonComparison struct {
		Heddle      string      `json:"heddle"`
		A           jsonSide    `json:"a"`
		B           jsonSide    `json:"b"`
		By          string      `json:"by"`
		Match       string      `json:"match"`
		OK          bool        `json:"ok"`
		Percentiles string      `json:"percentiles"` // their definition
		Statistics  Statistics  `json:"statistics"`
		Groups      []jsonGroup `json:"groups,omitempty"`
		Ascending   []float64   `json:"absolute_errors_percent"` // ascending
		Pairs       []jsonPair  `json:"pairs"`
		NoRatio     []jsonPair  `json:"without_error"`
		Small       int         `json:"below_minimum"`
		OnlyA       []jsonRow   `json:"only_a"`
		OnlyB       []jsonRow   `json:"only_b"`
	}
)

// WriteJSON writes the comparison as JSON, indented, with a final newline; ok is
// Judge's verdict.
func (c *Comparison) WriteJSON(w io.Writer, ok bool) error {
	j := jsonComparison{
		Heddle: report.Version, A: c.A.json(), B: c.B.json(), By: c.By, Match: c.Match, OK: ok,
		Percentiles: "linear interpolation between ranks", Statistics: c.Statistics, Small: c.Small,
		Pairs: []jsonPair{}, NoRatio: []jsonPair{}, OnlyA: jsonRows(c.OnlyA), OnlyB: jsonRows(c.OnlyB),
	}
	for _, g := range c.Groups {
		j.Groups = append(j.Groups, jsonGroup(g))
	}
	for _, p := range c.Ascending() {
		j.Ascending = append(j.Ascending, math.Abs(p.Error))
	}
	for _, p := range c.Pairs {
		x := p.json()
		x.Ratio, x.Error = &p.Ratio, &p.Error
		j.Pairs = append(j.Pairs, x)
	}
	for _, p := range c.NoRatio {
		j.NoRatio = append(j.NoRatio, p.json())
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(j)
}

// Parse reads what WriteJSON has written and returns it without spaces, with all fields; false
// if the text is something else.
func Parse(text []byte) (json.RawMessage, bool) {
	var c jsonComparison
	if json.Unmarshal(text, &c) != nil || c.Heddle == "" || c.Match == "" || c.Pairs == nil {
		return nil, false
	}
	for i := range c.Pairs {
		if p := &c.Pairs[i]; p.Ratio == nil || p.Error == nil {
			return nil, false
		}
	}
	out, err := json.Marshal(c)
	return out, err == nil
}

func (t *Table) json() jsonSide {
	return jsonSide{Files: t.Files, What: t.What, Metric: t.Metric, Less: t.Less, Rows: len(t.Rows), Notes: t.Notes}
}

func (p *Pair) json() jsonPair {
	j := jsonPair{Name: p.A.Name, LaunchA: launchOf(p.A), LaunchB: launchOf(p.B), A: p.A.Value, B: p.B.Value}
	if p.B.Name != p.A.Name {
		j.NameB = p.B.Name
	}
	return j
}

func launchOf(r Row) *int {
	if r.Launch < 0 {
		return nil
	}
	return &r.Launch
}

func jsonRows(rows []Row) []jsonRow {
	list := []jsonRow{}
	for _, r := range rows {
		list = append(list, jsonRow{Name: r.Name, Launch: launchOf(r), Value: r.Value, File: r.File, Line: r.Line})
	}
	return list
}

// WriteCSV writes a line for every pair, in the order of A, and then one for every
// unpaired row, with the other side empty.
func (c *Comparison) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	lines := [][]string{{"name", "name_b", "launch_a", "launch_b", "a", "b", "ratio", "error_percent", "only"}}
	for _, p := range c.Pairs {
		lines = append(lines, p.csv(exact(p.Ratio), exact(p.Error)))
	}
	for _, p := range c.NoRatio {
		lines = append(lines, p.csv("", ""))
	}
	for _, r := range c.OnlyA {
		lines = append(lines, []string{r.Name, "", launchText(r), "", exact(r.Value), "", "", "", "a"})
	}
	for _, r := range c.OnlyB {
		lines = append(lines, []string{"", r.Name, "", launchText(r), "", exact(r.Value), "", "", "b"})
	}
	if err := out.WriteAll(lines); err != nil {
		return err
	}
	return out.Error()
}

func (p *Pair) csv(ratio, error string) []string {
	return []string{p.A.Name, p.B.Name, launchText(p.A), launchText(p.B), exact(p.A.Value), exact(p.B.Value), ratio, error, ""}
}

func launchText(r Row) string {
	if r.Launch < 0 {
		return ""
	}
	return strconv.Itoa(r.Launch)
}

// exact writes a number with as many digits as reading it back needs.
func exact(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
