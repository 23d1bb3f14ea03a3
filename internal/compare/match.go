package compare

import (
	"fmt"
	"strings"

	"github.com/heddle-sim/heddle/internal/near"
)

// How rows are paired.
const (
	ByName   = "name"   // rows of the same name; the n-th of a name with the n-th
	ByOrder  = "order"  // the n-th row with the n-th
	ByLaunch = "launch" // rows of the same launch number
)

// couple is the positions of two corresponding rows.
type couple struct{ a, b int }

// match finds the corresponding rows, in the order of a.
func match(a, b *Table, how string) ([]couple, error) {
	switch how {
	case ByOrder:
		var couples []couple
		for i := range min(len(a.Rows), len(b.Rows)) {
			couples = append(couples, couple{i, i})
		}
		return couples, nil
	case ByLaunch:
		keysA, err := launches(a)
		if err != nil {
			return nil, err
		}
		keysB, err := launches(b)
		if err != nil {
			return nil, err
		}
		return pairUp(keysA, keysB), nil
	case ByName:
		return byName(a, b)
	}
	return nil, fmt.Errorf("--match %s is not known; want name, order or launch", how)
}

// launches returns the launch numbers of a table as keys.
func launches(t *Table) ([]string, error) {
	keys := make([]string, len(t.Rows))
	seen := map[int]bool{}
	for i, r := range t.Rows {
		if r.Launch < 0 {
			return nil, &Error{File: r.File, Line: r.Line, Msg: "the row has no launch number; want a column called launch or ID, or --match order, which pairs rows in their order"}
		}
		if seen[r.Launch] {
			return nil, &Error{File: r.File, Line: r.Line, Msg: fmt.Sprintf("launch %d occurs twice; --match order pairs rows in their order", r.Launch)}
		}
		seen[r.Launch] = true
		keys[i] = fmt.Sprint(r.Launch)
	}
	return keys, nil
}

// byName pairs rows of the same name, and then, among the remaining names, those
// with the same identifier if each side has only one such name: a profiler writes
// "gemm(float*)" for a program's "_Z4gemmPf".
func byName(a, b *Table) ([]couple, error) {
	for _, t := range []*Table{a, b} {
		for _, r := range t.Rows {
			if r.Name != "" {
				continue
			}
			if len(a.Rows) == 1 && len(b.Rows) == 1 {
				return []couple{{0, 0}}, nil
			}
			return nil, &Error{File: r.File, Line: r.Line, Msg: "the row has no name; select the columns that make it with --name, or pair rows in their order with --match order"}
		}
	}
	keysA, keysB := names(a), names(b)
	alias := map[string]string{} // name in b to name in a
	leftA, leftB := apart(keysA, keysB), apart(keysB, keysA)
	for id, list := range leftA {
		if len(list) == 1 && len(leftB[id]) == 1 {
			alias[leftB[id][0]] = list[0]
		}
	}
	for i, k := range keysB {
		if n, ok := alias[k]; ok {
			keysB[i] = n
		}
	}
	return pairUp(keysA, keysB), nil
}

func names(t *Table) []string {
	keys := make([]string, len(t.Rows))
	for i, r := range t.Rows {
		keys[i] = r.Name
	}
	return keys
}

// apart returns the names that the other side lacks, by identifier.
func apart(keys, other []string) map[string][]string {
	have := map[string]bool{}
	for _, k := range other {
		have[k] = true
	}
	left := map[string][]string{}
	for _, k := range keys {
		if !have[k] {
			have[k] = true
			id := strings.ToLower(identifier(k))
			left[id] = append(left[id], k)
		}
	}
	return left
}

// pairUp pairs the n-th row of a key with the n-th row of the same key.
func pairUp(a, b []string) []couple {
	rows := map[string][]int{}
	for i, k := range b {
		rows[k] = append(rows[k], i)
	}
	var couples []couple
	for i, k := range a {
		if list := rows[k]; len(list) > 0 {
			couples = append(couples, couple{i, list[0]})
			rows[k] = list[1:]
		}
	}
	return couples
}

// nearest returns a hint with the row of the other side that is probably the
// partner of an unpaired row.
func nearest(r Row, other []string) string {
	if n := near.Name(r.Name, other); n != "" {
		return fmt.Sprintf("; did you mean %s?", shorten(n, 60))
	}
	return ""
}
