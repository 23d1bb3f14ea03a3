package sweep

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/heddle-sim/heddle/internal/sweep/store"
)

// Report is a sweep as a page shows it (package view, web/sweep.ts and web/sweeppage.tsx): columns of
// its points, and which of them are best.
type Report struct {
	Name     string         `json:"name"`               // of the sweep's file, or its store
	Store    string         `json:"store"`              // the folder
	Pages    string         `json:"pages,omitempty"`    // folder beside the report with a page for each result, DIGEST.html
	Baseline string         `json:"baseline,omitempty"` // in words
	Axes     []ReportAxis   `json:"axes"`               // inputs first
	Metrics  []ReportMetric `json:"metrics"`

	At      [][]int        `json:"at"`      // by axis and point: index of the level
	Values  [][]*float64   `json:"values"`  // by metric and point; null where there is none
	Digests []string       `json:"digests"` // by point
	Codes   map[int]int    `json:"codes,omitempty"`
	States  map[int]string `json:"states,omitempty"` // of points without a result: why there is none
	Bases   []int          `json:"bases,omitempty"`  // by point: that with which it is compared, -1 for none
	Counted []bool         `json:"counted"`          // by point: whether it takes part in comparisons

	Verdicts []Verdict `json:"verdicts"`
}

// ReportAxis is what varies, and its values as text.
type ReportAxis struct {
	Name   string   `json:"name"`
	Levels []string `json:"levels"`
	Base   int      `json:"base"`            // the level of the baseline; -1 if it leaves the axis open
	Keyed  bool     `json:"keyed,omitempty"` // levels have the names of their keys
}

// ReportMetric is a number of the results, and which of two is better.
type ReportMetric struct {
	Name string `json:"name"`
	More bool   `json:"more"` // more is better
}

// Verdict says of a metric and an input which points are best and worst. Of all inputs together
// (Input is -1) it says this of the geometric means of points that differ only in their input.
type Verdict struct {
	Metric int   `json:"metric"`
	Input  int   `json:"input"`  // level of the first axis
	Inputs int   `json:"inputs"` // how many count
	Best   Pick  `json:"best"`
	Worst  Pick  `json:"worst"`
	Base   *Pick `json:"base,omitempty"` // the baseline of the best one
}

// Pick is what was found: points with equal values.
type Pick struct {
	Point  int     `json:"point"`  // the first; -1 for means
	Points int     `json:"points"` // how many have this value
	At     []int   `json:"at"`     // the level that they have in common by axis, -1 if they differ
	Value  float64 `json:"value"`
}

// Summary makes the report of a table that this sweep has made.
func (f *File) Summary(t *Table, s *store.Store) *Report {
	r := newReport(f.Path, s, t, f.Report)
	inputs := ReportAxis{Name: "input"}
	for _, in := range f.Inputs {
		inputs.Levels = append(inputs.Levels, in.Name)
	}
	r.Axes = []ReportAxis{inputs}
	if len(f.GPUs) > 0 {
		r.Axes = append(r.Axes, ReportAxis{Name: "gpu", Levels: slices.Clone(f.GPUs)})
	}
	for _, a := range f.Axes {
		r.Axes = append(r.Axes, ReportAxis{Name: a.Name, Levels: a.levels(), Keyed: !slices.Equal(a.keys(), []string{a.Name})})
	}
	for range r.Axes {
		r.At = append(r.At, make([]int, len(t.Rows)))
	}
	for i := range t.Rows { // of points in a row the last axis varies first
		n := t.Rows[i].Point.Number
		for a := len(r.Axes) - 1; a >= 0; a-- {
			levels := len(r.Axes[a].Levels)
			r.At[a][i] = n % levels
			n /= levels
		}
	}
	r.finish(t, f.Report.Baseline)
	return r
}

// levels are the values of an axis as text.
func (a *Axis) levels() (list []string) {
	for _, v := range a.Values {
		var parts []string
		for _, s := range v {
			if s.Key == a.Name {
				parts = append(parts, s.Value)
			} else {
				parts = append(parts, s.Key+"="+s.Value)
			}
		}
		list = append(list, strings.Join(parts, " "))
	}
	return list
}

// StoreReport makes the table and the report of all that a store has, whatever sweeps it is from:
// its axes are the keys that differ. Of results of one name, the last counts.
func StoreReport(s *store.Store, how ReportOptions) (*Table, *Report, error) {
	points, err := storePoints(s)
	if err != nil {
		return nil, nil, err
	}
	if len(points) == 0 {
		return nil, nil, fmt.Errorf("%s has no result yet", s.Dir)
	}
	f := &File{Path: s.Dir, Report: how}
	if b := how.Baseline; len(b) > 0 && !slices.ContainsFunc(points, func(p *Point) bool { return p.has(b) }) {
		return nil, nil, fmt.Errorf("%s has no result of the baseline (%s)", s.Dir, join(b))
	}
	t, err := f.table(points, s, differing(points))
	if err != nil {
		return nil, nil, err
	}
	r := newReport(f.Path, s, t, f.Report)
	for c, name := range t.Columns {
		axis, at := ReportAxis{Name: name}, make([]int, len(t.Rows))
		index := map[string]int{}
		for i := range t.Rows {
			if _, ok := index[t.Rows[i].Cells[c]]; !ok {
				index[t.Rows[i].Cells[c]] = 0
				axis.Levels = append(axis.Levels, t.Rows[i].Cells[c])
			}
		}
		slices.SortFunc(axis.Levels, byNumber)
		for i, l := range axis.Levels {
			index[l] = i
		}
		for i := range t.Rows {
			at[i] = index[t.Rows[i].Cells[c]]
		}
		r.Axes, r.At = append(r.Axes, axis), append(r.At, at)
	}
	r.finish(t, f.Report.Baseline)
	return t, r, nil
}

// byNumber orders numbers by their value, and after them texts.
func byNumber(a, b string) int {
	x, errA := strconv.ParseFloat(a, 64)
	y, errB := strconv.ParseFloat(b, 64)
	switch {
	case errA == nil && errB == nil:
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(a, b))
	case errA == nil || errB == nil:
		return cmp.Compare(btoi(errA != nil), btoi(errB != nil))
	}
	return cmp.Compare(a, b)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// storePoints lists what a store has as points of a sweep, by name.
func storePoints(s *store.Store) ([]*Point, error) {
	results, err := s.Digests()
	if err != nil {
		return nil, err
	}
	failures, err := s.Failures()
	if err != nil {
		return nil, err
	}
	last := map[string]*store.Record{}
	inputs := map[string]*Input{}
	for i, d := range append(results, failures...) {
		get := s.Get
		if i >= len(results) {
			get = s.Failure
		}
		r, err := get(d)
		if err != nil {
			continue // damaged, or removed since
		}
		r.Result = nil
		if name := Title(r); last[name] == nil || last[name].Made.Before(r.Made) {
			last[name] = r
		}
		if inputs[r.Input] == nil {
			inputs[r.Input] = &Input{Name: r.Input}
		}
	}
	var list []*Point
	for _, r := range last {
		list = append(list, &Point{Input: inputs[r.Input], GPU: r.GPU, Settings: r.Settings, Digest: r.Digest})
	}
	slices.SortFunc(list, func(a, b *Point) int { return cmp.Compare(a.String(), b.String()) })
	for i, p := range list {
		p.Number = i
	}
	return list, nil
}

// differing are the columns in which points differ, the input first.
func differing(points []*Point) []string {
	var keys []string
	for _, p := range points {
		for _, s := range p.Settings {
			if !slices.Contains(keys, s.Key) {
				keys = append(keys, s.Key)
			}
		}
	}
	slices.Sort(keys)
	keys = slices.DeleteFunc(append([]string{"gpu"}, keys...), func(k string) bool {
		return !slices.ContainsFunc(points, func(p *Point) bool { return p.value(k) != points[0].value(k) })
	})
	return append([]string{"input"}, keys...)
}

// newReport has what does not depend on the axes.
func newReport(name string, s *store.Store, t *Table, how ReportOptions) *Report {
	r := &Report{Name: filepath.Base(name), Store: s.Dir, Baseline: join(how.Baseline), Counted: t.counted(), Codes: map[int]int{}, States: map[int]string{}}
	for m, name := range t.Metrics {
		r.Metrics = append(r.Metrics, ReportMetric{name, how.more(name)})
		values := make([]*float64, len(t.Rows))
		for i := range t.Rows {
			if t.Rows[i].State == "" {
				values[i] = t.Rows[i].Values[m]
			}
		}
		r.Values = append(r.Values, values)
	}
	for i := range t.Rows {
		x := &t.Rows[i]
		r.Digests = append(r.Digests, x.Point.Digest)
		if x.Code != 0 && x.State == "" {
			r.Codes[i] = x.Code
		}
		if x.State != "" {
			r.States[i] = x.State
		}
	}
	return r
}

// finish adds what follows from the baseline and the axes.
func (r *Report) finish(t *Table, baseline []Setting) {
	for a := range r.Axes {
		r.Axes[a].Base = -1
		first := true
		for i := range t.Rows {
			if len(baseline) == 0 || !t.Rows[i].Point.has(baseline) {
				continue
			}
			if at := r.At[a][i]; first {
				r.Axes[a].Base, first = at, false
			} else if at != r.Axes[a].Base {
				r.Axes[a].Base = -1
				break
			}
		}
	}
	if len(r.Axes[0].Levels) > 1 {
		r.Axes[0].Base = -1 // an input is compared with itself
	}
	for _, x := range t.Rows {
		if len(baseline) > 0 {
			r.Bases = append(r.Bases, x.base)
		}
	}
	r.judge()
}

// judge finds the best and the worst of each metric: of each input, and of all together.
func (r *Report) judge() {
	for m := range r.Metrics {
		if len(r.Axes[0].Levels) > 1 {
			if means, inputs := r.means(m); inputs > 1 {
				r.verdict(Verdict{Metric: m, Input: -1, Inputs: inputs}, means)
			}
		}
		lists := make([][]candidate, len(r.Axes[0].Levels))
		for i := range r.Digests {
			if x := r.value(m, i); x != nil {
				c := candidate{point: i, at: r.at(i), value: *x}
				if r.Bases != nil && r.Bases[i] >= 0 && r.value(m, r.Bases[i]) != nil {
					b := r.Bases[i]
					c.base = &candidate{point: b, at: r.at(b), value: *r.value(m, b)}
				}
				lists[r.At[0][i]] = append(lists[r.At[0][i]], c)
			}
		}
		for in, list := range lists {
			r.verdict(Verdict{Metric: m, Input: in, Inputs: 1}, list)
		}
	}
}

// candidate is a point, or the mean of several, and that with which it is compared.
type candidate struct {
	point int // -1 for means
	at    []int
	value float64
	base  *candidate
}

// verdict adds what is best and worst of a list.
func (r *Report) verdict(v Verdict, list []candidate) {
	if len(list) == 0 {
		return
	}
	best, worst := &list[0], &list[0]
	for i := range list {
		if c := &list[i]; r.better(v.Metric, c.value, best.value) {
			best = c
		} else if r.better(v.Metric, worst.value, c.value) {
			worst = c
		}
	}
	v.Best, v.Worst = pick(*best, list), pick(*worst, list)
	if best.base != nil {
		p := pick(*best.base, nil)
		v.Base = &p
	}
	r.Verdicts = append(r.Verdicts, v)
}

// pick joins those of a list that are equal to one.
func pick(c candidate, list []candidate) Pick {
	p := Pick{Point: c.point, Points: 1, At: slices.Clone(c.at), Value: c.value}
	same := 0
	for _, o := range list {
		if o.value != c.value {
			continue
		}
		same++
		for a, l := range o.at {
			if p.At[a] != l {
				p.At[a] = -1
			}
		}
	}
	p.Points = max(1, same)
	return p
}

// at are the levels of a point by axis.
func (r *Report) at(point int) []int {
	list := make([]int, len(r.Axes))
	for a := range r.Axes {
		list[a] = r.At[a][point]
	}
	return list
}

func (r *Report) value(metric, point int) *float64 {
	if !r.Counted[point] {
		return nil
	}
	return r.Values[metric][point]
}

func (r *Report) better(metric int, a, b float64) bool {
	if r.Metrics[metric].More {
		return a > b
	}
	return a < b
}

// means are geometric ones of what differs only in the input, over the inputs that have any positive
// value. What lacks one of them does not take part.
func (r *Report) means(m int) (list []candidate, inputs int) {
	type mean struct {
		candidate
		n    int
		base string
	}
	all := map[string]*mean{}
	var order []*mean
	seen := map[int]bool{}
	for i := range r.Digests {
		x := r.value(m, i)
		if x == nil || *x <= 0 {
			continue
		}
		key := r.beside(i)
		g := all[key]
		if g == nil {
			g = &mean{candidate: candidate{point: -1, at: r.at(i)}}
			g.at[0] = -1
			if r.Bases != nil && r.Bases[i] >= 0 {
				g.base = r.beside(r.Bases[i])
			}
			all[key], order = g, append(order, g)
		}
		seen[r.At[0][i]] = true
		g.value += math.Log(*x)
		g.n++
	}
	order = slices.DeleteFunc(order, func(g *mean) bool { return g.n != len(seen) })
	for _, g := range order {
		g.value = rounded(math.Exp(g.value / float64(g.n)))
	}
	for _, g := range order {
		if b := all[g.base]; b != nil && b.n == len(seen) {
			g.candidate.base = &b.candidate
		}
		list = append(list, g.candidate)
	}
	return list, len(seen)
}

// rounded keeps twelve digits, so that means of equal values are equal.
func rounded(x float64) float64 {
	y, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 12, 64), 64) // it has just been written
	return y
}

// beside identifies the points that differ from one in their input alone.
func (r *Report) beside(point int) string {
	var b strings.Builder
	for a := 1; a < len(r.Axes); a++ {
		fmt.Fprintf(&b, "%d ", r.At[a][point])
	}
	return b.String()
}

// WriteText prints the best and the worst of each metric.
func (r *Report) WriteText(w io.Writer) error {
	if len(r.Digests) < 2 || len(r.Verdicts) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nmetric\tinput\tbest\tof\tworst\tof\tbaseline")
	for _, v := range r.Verdicts {
		input := fmt.Sprintf("all %d (mean)", v.Inputs)
		if v.Input >= 0 {
			input = r.Axes[0].Levels[v.Input]
		}
		base := "–"
		if v.Base != nil {
			base = number(&v.Base.Value)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Metrics[v.Metric].Name, input, number(&v.Best.Value), r.words(v.Best), number(&v.Worst.Value), r.words(v.Worst), base)
	}
	return t.Flush()
}

// words describes what points have in common, without their input.
func (r *Report) words(p Pick) string {
	var parts []string
	for a := 1; a < len(r.Axes); a++ {
		x := &r.Axes[a]
		switch {
		case len(x.Levels) < 2 || p.At[a] < 0:
		case x.Keyed:
			parts = append(parts, x.Levels[p.At[a]])
		default:
			parts = append(parts, x.Name+"="+cmp.Or(x.Levels[p.At[a]], "–"))
		}
	}
	text := strings.Join(parts, " ")
	if p.Points > 1 {
		text = strings.TrimSpace(fmt.Sprintf("%s (%d points)", text, p.Points))
	}
	return cmp.Or(text, "–")
}
