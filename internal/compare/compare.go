package compare

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Pair is two corresponding rows.
type Pair struct {
	A, B  Row
	Ratio float64 // B/A
	Error float64 // (B−A)/A in percent
}

// Group is the pairs whose reference is of one kind.
type Group struct {
	Name string
	Statistics
}

// Comparison is the result of comparing two tables.
type Comparison struct {
	A, B  *Table
	By    string // what a row is: Kernels or Runs
	Match string // how rows found their partners

	Pairs      []Pair // in the order of A
	NoRatio    []Pair // whose reference is 0 or less: they count nowhere
	Small      int    // pairs left out because their reference is below the minimum
	OnlyA      []Row  // without a partner
	OnlyB      []Row
	Repeated   int // names that A has more than once without launch numbers, if rows are matched by name
	Statistics Statistics
	Groups     []Group // if there are several, with two pairs or more on average; in the order of A
}

// Compare pairs the rows of two tables and computes their ratios, errors and
// statistics. Pairs whose reference is below least are left out. It is an error if
// nothing can be compared.
func Compare(a, b *Table, by, how string, least float64) (*Comparison, error) {
	if !(least >= 0 && least <= mostValue) {
		return nil, fmt.Errorf("--min-cycles %g is invalid; want a number from 0 to %g", least, mostValue)
	}
	for _, t := range []*Table{a, b} {
		if len(t.Rows) == 0 {
			return nil, &Error{File: strings.Join(t.Files, ", "), Msg: "there are no rows to compare" + whyNone(t)}
		}
	}
	couples, err := match(a, b, how)
	if err != nil {
		return nil, err
	}
	c := &Comparison{A: a, B: b, By: by, Match: how}
	usedA, usedB := make([]bool, len(a.Rows)), make([]bool, len(b.Rows))
	for _, k := range couples {
		usedA[k.a], usedB[k.b] = true, true
		p := Pair{A: a.Rows[k.a], B: b.Rows[k.b]}
		switch {
		case p.A.Value < least:
			c.Small++
		case p.A.Value < leastValue:
			c.NoRatio = append(c.NoRatio, p)
		default:
			p.Ratio = p.B.Value / p.A.Value
			p.Error = 100 * (p.B.Value - p.A.Value) / p.A.Value
			c.Pairs = append(c.Pairs, p)
		}
	}
	c.OnlyA, c.OnlyB = without(a.Rows, usedA), without(b.Rows, usedB)
	if len(c.Pairs) == 0 {
		return nil, c.nothing(least)
	}
	if how == ByName {
		c.Repeated = repeated(a.Rows)
	}
	c.Statistics = statistics(c.Pairs)
	c.Groups = groups(c.Pairs)
	return c, nil
}

func whyNone(t *Table) string {
	if len(t.Notes) > 0 {
		return " (" + strings.Join(t.Notes, "; ") + ")"
	}
	return "; does --where leave any?"
}

func without(rows []Row, used []bool) []Row {
	var left []Row
	for i, r := range rows {
		if !used[i] {
			left = append(left, r)
		}
	}
	return left
}

// nothing returns the reason why there is no pair to compare.
func (c *Comparison) nothing(least float64) error {
	switch {
	case c.Small > 0:
		return fmt.Errorf("none of %s has a reference of at least --min-cycles %g", plural(c.Small, "pair"), least)
	case len(c.NoRatio) > 0:
		return fmt.Errorf("none of %s has a reference above 0; is --less-a too large?", plural(len(c.NoRatio), "pair"))
	}
	a, b := c.OnlyA[0], c.OnlyB[0]
	if c.Match == ByLaunch {
		return fmt.Errorf("no launch number is on both sides: A begins with %d, B with %d; --match order pairs rows in their order", a.Launch, b.Launch)
	}
	return fmt.Errorf("no name is on both sides: A has %s, B has %s%s; --match order pairs rows in their order, --name selects the columns that make a name",
		shorten(a.Name, 60), shorten(b.Name, 60), more(len(c.OnlyA)+len(c.OnlyB)-2))
}

func more(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", and %s", plural(n, "more row"))
}

// repeated counts names of several rows without a launch number: these may be
// launches, or measurements of the same thing.
func repeated(rows []Row) int {
	count, n := map[string]int{}, 0
	for _, r := range rows {
		if r.Launch >= 0 {
			continue
		}
		if count[r.Name]++; count[r.Name] == 2 {
			n++
		}
	}
	return n
}

// groups returns the statistics by kind.
func groups(pairs []Pair) []Group {
	var list []Group
	of := map[string][]Pair{}
	for _, p := range pairs {
		if len(of[p.A.Group]) == 0 {
			list = append(list, Group{Name: p.A.Group})
		}
		of[p.A.Group] = append(of[p.A.Group], p)
	}
	if len(list) < 2 || 2*len(list) > len(pairs) {
		return nil
	}
	for i := range list {
		list[i].Statistics = statistics(of[list[i].Name])
	}
	return list
}

// Ascending returns the pairs in ascending order of their absolute errors; pairs
// with equal errors in the order of A.
func (c *Comparison) Ascending() []Pair {
	pairs := slices.Clone(c.Pairs)
	slices.SortStableFunc(pairs, func(p, q Pair) int {
		e, f := math.Abs(p.Error), math.Abs(q.Error)
		switch {
		case e < f:
			return -1
		case e > f:
			return 1
		}
		return 0
	})
	return pairs
}

// Judge returns an error if the comparison is worse than allowed: if the mean of
// absolute errors exceeds above (in percent; NaN allows any), or, if strict is set,
// if a row has no partner or no error.
func (c *Comparison) Judge(above float64, strict bool) error {
	var errs []error
	if c.Statistics.MeanAbsolute > above {
		errs = append(errs, fmt.Errorf("the mean of absolute errors is %s, above the %g %% of --fail-above", percent(c.Statistics.MeanAbsolute), above))
	}
	if n := len(c.OnlyA) + len(c.OnlyB) + len(c.NoRatio); strict && n > 0 {
		errs = append(errs, fmt.Errorf("%s could not be compared (--strict)", plural(n, "row")))
	}
	return errors.Join(errs...)
}
