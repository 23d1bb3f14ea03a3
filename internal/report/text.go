package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Table is a text table. Columns are right-aligned, or left-aligned if the heading begins
// with "<".
type Table struct {
	head []string
	left []bool
	rows [][]string // nil is a rule
}

// NewTable returns an empty table.
func NewTable(head ...string) *Table {
	t := &Table{}
	for _, h := range head {
		h, left := strings.CutPrefix(h, "<")
		t.head = append(t.head, h)
		t.left = append(t.left, left)
	}
	return t
}

// Row adds a row with one cell for each column.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, cells) }

// Rule adds a line between rows.
func (t *Table) Rule() { t.rows = append(t.rows, nil) }

// Write writes the table with two spaces between columns and none at line ends.
func (t *Table) Write(b *strings.Builder) {
	width := make([]int, len(t.head))
	all := append([][]string{t.head}, t.rows...)
	for _, r := range all {
		for i, c := range r {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	for _, r := range all {
		var line strings.Builder
		if r == nil {
			total := -2
			for _, w := range width {
				total += w + 2
			}
			line.WriteString(strings.Repeat("─", total))
		}
		for i, c := range r {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(c))
			if i > 0 {
				line.WriteString("  ")
			}
			if t.left[i] {
				line.WriteString(c + pad)
			} else {
				line.WriteString(pad + c)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " "))
		b.WriteByte('\n')
	}
}

// Wrap joins words with ", " into lines of at most width characters; all but the first
// are indented.
func Wrap(words []string, width, indent int) string {
	var b strings.Builder
	at := indent
	for i, w := range words {
		n := utf8.RuneCountInString(w)
		if i > 0 {
			if at+n+3 > width {
				b.WriteString(",\n" + strings.Repeat(" ", indent))
				at = indent
			} else {
				b.WriteString(", ")
				at += 2
			}
		}
		b.WriteString(w)
		at += n
	}
	return b.String()
}

// Count formats a number with its digits in groups: 1,234,567.
func Count(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Bytes formats a size in bytes with a binary unit.
func Bytes(n uint64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	f, u := float64(n), 0
	for f >= 1024 && u < len(units)-1 {
		f, u = f/1024, u+1
	}
	return strconv.FormatFloat(f, 'f', places(f, u), 64) + " " + units[u]
}

// places returns the number of decimals of a scaled number.
func places(f float64, unit int) int {
	if unit == 0 || f == float64(int64(f)) {
		return 0
	}
	return 1
}

// Rate formats a number per second with about three digits: 12.3 million.
func Rate(f float64) string {
	switch {
	case f >= 1e9:
		return fmt.Sprintf("%.2f billion", f/1e9)
	case f >= 1e6:
		return fmt.Sprintf("%.1f million", f/1e6)
	case f >= 1e3:
		return fmt.Sprintf("%.1f thousand", f/1e3)
	}
	return fmt.Sprintf("%.0f", f)
}

// Duration formats a time with a resolution that suits its size.
func Duration(d time.Duration) string {
	switch {
	case d >= time.Hour:
		return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
	case d >= time.Minute:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	case d >= time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.1f ms", d.Seconds()*1e3)
	}
	return fmt.Sprintf("%d µs", d.Microseconds())
}

// Plural formats a count with its noun.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(uint64(n)) + " " + many
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
