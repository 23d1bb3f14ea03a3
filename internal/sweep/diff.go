package sweep

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/heddle-sim/heddle/internal/sweep/store"
)

// Difference compares a metric of the points that two stores have in common: those with the
// same input, GPU and settings, by their names.
type Difference struct {
	Metric string
	Same   int // points with equal values
	Pairs  []Pair
	OnlyA  int // points without a partner
	OnlyB  int
}

// Pair is a point whose values differ.
type Pair struct {
	Point string
	A, B  float64
}

// Diff compares two stores by a metric; "" is the number of cycles.
func Diff(a, b *store.Store, metric string) (*Difference, error) {
	d := &Difference{Metric: cmp.Or(metric, defaultMetrics[0])}
	before, err := Values(a, d.Metric)
	if err != nil {
		return nil, err
	}
	after, err := Values(b, d.Metric)
	if err != nil {
		return nil, err
	}
	for p, x := range before {
		y, ok := after[p]
		switch {
		case !ok:
			d.OnlyA++
		case x == y:
			d.Same++
		default:
			d.Pairs = append(d.Pairs, Pair{p, x, y})
		}
	}
	d.OnlyB = len(after) - d.Same - len(d.Pairs)
	change := func(p Pair) float64 { return max(p.A/p.B, p.B/p.A) }
	slices.SortFunc(d.Pairs, func(x, y Pair) int {
		return cmp.Or(cmp.Compare(change(y), change(x)), cmp.Compare(x.Point, y.Point))
	})
	return d, nil
}

// Values are those of a metric by the names of points. Results without it, and damaged ones, are left
// out.
func Values(s *store.Store, metric string) (map[string]float64, error) {
	digests, err := s.Digests()
	if err != nil {
		return nil, err
	}
	found := map[string]float64{}
	undefined := false
	made := map[string]time.Time{} // of results of one name, as before and after a change of the input, the last counts
	for _, d := range digests {
		r, err := s.Get(d)
		if err != nil {
			continue
		}
		x, err := parse(s, r)
		if err != nil {
			continue
		}
		if v, ok := x.metric(metric); ok {
			if name := Title(r); !r.Made.Before(made[name]) {
				found[name], made[name] = v, r.Made
			}
		} else if x.undefined(metric) {
			undefined = true
		}
	}
	if len(found) == 0 && undefined {
		return nil, fmt.Errorf("%q has no value in any result in %s: what it is divided by is 0", metric, s.Dir)
	}
	if len(found) == 0 && len(digests) > 0 {
		return nil, fmt.Errorf("no result in %s has a number called %q", s.Dir, metric)
	}
	return found, nil
}

// Title describes the point of a record in a line.
func Title(r *store.Record) string {
	p := Point{Input: &Input{Name: r.Input}, GPU: r.GPU, Settings: r.Settings}
	return p.String()
}

// WriteText prints the pairs that differ, the largest change first.
func (d *Difference) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(d.Pairs) > 0 {
		fmt.Fprintln(t, strings.Join([]string{"point", "A", "B", "B / A"}, "\t"))
	}
	for _, p := range d.Pairs {
		ratio := "-"
		if p.A != 0 {
			ratio = fmt.Sprintf("%.4f", p.B/p.A)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", p.Point, number(&p.A), number(&p.B), ratio)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s: %d points are equal, %d differ; %d are in A only, %d in B only\n", d.Metric, d.Same, len(d.Pairs), d.OnlyA, d.OnlyB)
	return err
}
