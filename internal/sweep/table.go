package sweep

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/heddle-sim/heddle/internal/near"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/sweep/store"
)

// Table has a row for each point of a sweep.
type Table struct {
	Columns []string // of what varies: input, gpu, keys
	Metrics []string
	Rows    []Row
}

// Row is a point and what it came to.
type Row struct {
	Point  *Point
	Cells  []string   // by Columns
	State  string     // "" is a result; otherwise why there is none
	Code   int        // exit code
	Values []*float64 // by Metrics; nil where the result has none
	// Ratio is the first metric by that of the baseline with the same values of everything
	// that the baseline leaves open; 0 without one.
	Ratio float64
	base  int // row of that point; -1 if there is none
}

// defaultMetrics are those of a sweep that names none.
var defaultMetrics = []string{"cycles", "ipc"}

// Table makes the table of what there is.
func (f *File) Table(list []*Point, s *store.Store) (*Table, error) {
	return f.table(list, s, f.columns())
}

func (f *File) table(list []*Point, s *store.Store, columns []string) (*Table, error) {
	t := &Table{Metrics: f.Report.Metrics, Columns: columns}
	if len(t.Metrics) == 0 {
		t.Metrics = defaultMetrics
	}
	unknown := map[string]*result{}
	kept := map[string]*Row{} // by digest
	for _, p := range list {
		same := kept[p.Digest]
		if same == nil {
			r, err := load(s, p.Digest)
			if err != nil {
				return nil, err
			}
			same = t.read(r, unknown)
			kept[p.Digest] = same
		}
		row := *same
		row.Point, row.Cells = p, make([]string, len(t.Columns))
		for i, c := range t.Columns {
			row.Cells[i] = p.value(c)
		}
		t.Rows = append(t.Rows, row)
	}
	for _, m := range f.Report.Metrics { // functional runs lack the default ones
		for name := range strings.SplitSeq(m, quotient) {
			if r := unknown[name]; r != nil {
				return nil, fmt.Errorf("no result has a number called %q%s", name, near.Suggest(name, r.names(), "there are"))
			}
		}
	}
	t.compare(f.Report.Baseline, f.fixed())
	return t, nil
}

// read takes from a result what the table needs of it. Names of metrics that no result has had so
// far get one in unknown.
func (t *Table) read(r *result, unknown map[string]*result) *Row {
	row := &Row{State: r.state, Code: r.code}
	for _, m := range t.Metrics {
		var value *float64
		if x, ok := r.metric(m); ok {
			value = &x
		}
		row.Values = append(row.Values, value)
		for name := range strings.SplitSeq(m, quotient) {
			if _, ok := r.metric(name); ok || r.undefined(name) {
				unknown[name] = nil
			} else if _, seen := unknown[name]; !seen && r.tree != nil {
				unknown[name] = r
			}
		}
	}
	return row
}

// columns are what varies in a sweep; the input is always one.
func (f *File) columns() []string {
	list := []string{"input"}
	if len(f.GPUs) > 1 {
		list = append(list, "gpu")
	}
	for _, a := range f.Axes {
		if len(a.Values) < 2 {
			continue
		}
		for _, key := range a.keys() {
			if !slices.Contains(list, key) {
				list = append(list, key)
			}
		}
	}
	return list
}

// value is that of a column; "" if the point leaves it to the machine.
func (p *Point) value(column string) string {
	switch column {
	case "input":
		return p.Input.Name
	case "gpu":
		return p.GPU
	}
	for _, s := range p.Settings {
		if s.Key == column {
			return s.Value
		}
	}
	return ""
}

// counted says by row whether it takes part in comparisons: runs that did not end as they should
// do not, unless none did.
func (t *Table) counted() []bool {
	good := slices.ContainsFunc(t.Rows, func(x Row) bool { return x.State == "" && x.Code == 0 })
	list := make([]bool, len(t.Rows))
	for i, x := range t.Rows {
		list[i] = x.State == "" && (x.Code == 0 || !good)
	}
	return list
}

// compare sets the ratios.
func (t *Table) compare(baseline []Setting, fixed []string) {
	if len(baseline) == 0 {
		return
	}
	bases := map[string]int{}
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.Point.has(baseline) {
			bases[t.rest(r, fixed)] = i
		}
	}
	counted := t.counted()
	for i := range t.Rows {
		r := &t.Rows[i]
		at, ok := bases[t.rest(r, fixed)]
		if r.base = at; !ok {
			r.base = -1
			continue
		}
		if b := &t.Rows[at]; counted[i] && counted[at] && r.Values[0] != nil && b.Values[0] != nil && *b.Values[0] != 0 {
			r.Ratio = *r.Values[0] / *b.Values[0]
		}
	}
}

// fixed are the keys that the baseline gives, and those that go together with one of them.
func (f *File) fixed() (list []string) {
	for _, s := range f.Report.Baseline {
		list = append(list, s.Key)
		for _, a := range f.Axes {
			if keys := a.keys(); slices.Contains(keys, s.Key) {
				list = append(list, keys...)
			}
		}
	}
	return list
}

// rest identifies what a baseline leaves open.
func (t *Table) rest(r *Row, fixed []string) string {
	var parts []string
	for i, c := range t.Columns {
		if !slices.Contains(fixed, c) {
			parts = append(parts, r.Cells[i])
		}
	}
	return strings.Join(parts, "\x00")
}

func join(list []Setting) string {
	var parts []string
	for _, s := range list {
		parts = append(parts, s.Key+" = "+s.Value)
	}
	return strings.Join(parts, ", ")
}

// WriteText prints the table. Points without a result come last, with the reason.
func (t *Table) WriteText(w io.Writer) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	ratio := slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Ratio != 0 })
	head := slices.Concat(t.Columns, t.Metrics)
	if ratio {
		head = append(head, t.Metrics[0]+" / baseline")
	}
	fmt.Fprintln(tab, strings.Join(head, "\t"))
	for _, r := range t.Rows {
		if r.State != "" {
			continue
		}
		cells := slices.Clone(r.Cells)
		for i, c := range cells {
			cells[i] = cmp.Or(c, "–")
		}
		for _, v := range r.Values {
			cells = append(cells, number(v))
		}
		switch {
		case ratio && r.Ratio != 0:
			cells = append(cells, strconv.FormatFloat(r.Ratio, 'f', 3, 64))
		case ratio:
			cells = append(cells, "–")
		}
		if r.Code != 0 {
			cells = append(cells, fmt.Sprintf("exit code %d", r.Code))
		}
		fmt.Fprintln(tab, strings.Join(cells, "\t"))
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	for _, r := range t.Rows {
		if r.State != "" {
			fmt.Fprintf(w, "no result: %s: %s\n", r.Point, r.State)
		}
	}
	return nil
}

// number is a value with as many digits as one compares.
func number(v *float64) string {
	switch {
	case v == nil:
		return "–"
	case *v >= 0 && *v == float64(uint64(*v)):
		return report.Count(uint64(*v))
	}
	return strconv.FormatFloat(*v, 'f', 3, 64)
}

// result is the result of a point, as far as a table needs it.
type result struct {
	tree  map[string]any
	state string
	code  int
}

// load reads a result.
func load(s *store.Store, digest string) (*result, error) {
	r, err := s.Get(digest)
	if errors.Is(err, fs.ErrNotExist) {
		if f, ferr := s.Failure(digest); ferr == nil {
			return &result{state: cmp.Or(f.Why, "unknown") + firstLine(f.Messages), code: f.Code}, nil
		}
		return &result{state: "it has not run"}, nil
	}
	if err != nil {
		return nil, err
	}
	return parse(s, r)
}

// parse reads the result of a record, without its lists: they have no metrics, and are most of it.
func parse(s *store.Store, r *store.Record) (*result, error) {
	x := &result{code: r.Code, tree: map[string]any{}}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(r.Result, &fields); err != nil {
		return nil, &store.Damaged{File: s.Path(r.Digest), Err: err}
	}
	for name, text := range fields {
		if text[0] == '[' {
			continue
		}
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			return nil, &store.Damaged{File: s.Path(r.Digest), Err: err}
		}
		x.tree[name] = v
	}
	return x, nil
}

func firstLine(text string) string {
	if line, _, _ := strings.Cut(text, "\n"); line != "" {
		return ": " + line
	}
	return ""
}

// quotient stands between the names of two numbers, the first of which is divided by the second.
const quotient = " / "

// metric returns a number of the result by its name with dots, or one that is made of others.
func (r *result) metric(name string) (float64, bool) {
	if a, b, ok := strings.Cut(name, quotient); ok {
		x, ok := r.metric(a)
		y, also := r.metric(b)
		return x / y, ok && also && y != 0
	}
	if name == "ipc" { // warp instructions in a cycle
		n, ok := r.metric("warp_instructions")
		cycles, also := r.metric("cycles")
		return n / cycles, ok && also && cycles > 0
	}
	var v any = r.tree
	for part := range strings.SplitSeq(name, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return 0, false
		}
		v = m[part]
	}
	x, ok := v.(float64)
	return x, ok
}

// undefined reports whether a number that is made of others has none only since it is divided by 0.
func (r *result) undefined(name string) bool {
	a, b, ok := strings.Cut(name, quotient)
	if !ok {
		if name != "ipc" {
			return false
		}
		a, b = "warp_instructions", "cycles"
	}
	_, has := r.metric(a)
	y, also := r.metric(b)
	return has && also && y == 0
}

// names are those of all numbers.
func (r *result) names() []string {
	list := []string{"ipc"}
	var walk func(prefix string, m map[string]any)
	walk = func(prefix string, m map[string]any) {
		for k, v := range m {
			switch v := v.(type) {
			case float64:
				list = append(list, prefix+k)
			case map[string]any:
				walk(prefix+k+".", v)
			}
		}
	}
	walk("", r.tree)
	slices.Sort(list)
	return list
}
