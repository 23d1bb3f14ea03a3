package index

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/parquet-go/parquet-go"
)

// Rows is the answer to a query: names of columns, and rows of int64, float64, string or nil.
type Rows struct {
	Columns []string
	Cells   [][]any
}

// Query answers a query in SQL. It cannot change the database.
func (x *Index) Query(ctx context.Context, query string) (*Rows, error) {
	rows, err := x.db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	r := &Rows{}
	if r.Columns, err = rows.Columns(); err != nil {
		return nil, err
	}
	for rows.Next() {
		cells := make([]any, len(r.Columns))
		to := make([]any, len(cells))
		for i := range cells {
			to[i] = &cells[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		for i, c := range cells {
			if b, ok := c.([]byte); ok {
				cells[i] = string(b)
			}
		}
		r.Cells = append(r.Cells, cells)
	}
	return r, rows.Err()
}

// text is a cell as text.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

// WriteText prints aligned columns.
func (r *Rows) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(n int, cell func(i int) string) {
		for i := range n {
			if i > 0 {
				fmt.Fprint(t, "\t")
			}
			fmt.Fprint(t, cell(i))
		}
		fmt.Fprintln(t)
	}
	line(len(r.Columns), func(i int) string { return r.Columns[i] })
	for _, c := range r.Cells {
		line(len(c), func(i int) string { return text(c[i]) })
	}
	return t.Flush()
}

// WriteCSV writes comma-separated values, names first. What is nil is empty.
func (r *Rows) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	if err := c.Write(r.Columns); err != nil {
		return err
	}
	for _, cells := range r.Cells {
		line := make([]string, len(cells))
		for i, v := range cells {
			line[i] = text(v)
		}
		if err := c.Write(line); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// WriteJSON writes a list with an object for each row.
func (r *Rows) WriteJSON(w io.Writer) error {
	list := make([]map[string]any, 0, len(r.Cells))
	for _, cells := range r.Cells {
		m := map[string]any{}
		for i, v := range cells {
			m[r.Columns[i]] = v
		}
		list = append(list, m)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(list)
}

// WriteParquet writes a Parquet file. A column has integers if all of its values are, doubles if
// all are numbers, and otherwise texts; each may have nulls.
func (r *Rows) WriteParquet(w io.Writer) error {
	fields := make([]reflect.StructField, len(r.Columns))
	kinds := make([]reflect.Kind, len(r.Columns))
	names := columnNames(r.Columns)
	for i, name := range names {
		t := r.typeOf(i)
		kinds[i] = t.Kind()
		// The library keeps the order of a struct's fields, not that of a group.
		fields[i] = reflect.StructField{Name: fmt.Sprintf("C%d", i), Type: reflect.PointerTo(t), Tag: reflect.StructTag(fmt.Sprintf("parquet:%q", name+",optional"))}
	}
	out := parquet.NewGenericWriter[any](w, parquet.SchemaOf(reflect.New(reflect.StructOf(fields)).Interface()), parquet.Compression(&parquet.Zstd))
	row := make(parquet.Row, len(r.Columns))
	for _, cells := range r.Cells {
		for i, v := range cells {
			row[i] = value(v, kinds[i]).Level(0, level(v), i)
		}
		if _, err := out.WriteRows([]parquet.Row{row}); err != nil {
			return err
		}
	}
	return out.Close()
}

// columnNames are names that a struct's tag can have, each once: what an expression is called by SQLite
// may have commas and quotes.
func columnNames(list []string) []string {
	taken := map[string]bool{"-": true, "": true}
	names := make([]string, len(list))
	for i, name := range list {
		base := strings.Map(func(c rune) rune {
			if c == ',' || c == '"' || c == '\\' || c == '`' || c < ' ' {
				return '_'
			}
			return c
		}, name)
		name = base
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s_%d", base, n)
		}
		taken[name], names[i] = true, name
	}
	return names
}

// level is the definition level of a value.
func level(v any) int {
	if v == nil {
		return 0
	}
	return 1
}

// value is a cell in a column of a kind.
func value(v any, kind reflect.Kind) parquet.Value {
	switch v := v.(type) {
	case nil:
		return parquet.NullValue()
	case int64:
		switch kind {
		case reflect.Int64:
			return parquet.Int64Value(v)
		case reflect.Float64:
			return parquet.DoubleValue(float64(v))
		}
	case float64:
		if kind == reflect.Float64 {
			return parquet.DoubleValue(v)
		}
	}
	return parquet.ByteArrayValue([]byte(text(v)))
}

// typeOf is the type of a column.
func (r *Rows) typeOf(column int) reflect.Type {
	t := reflect.TypeFor[int64]()
	any := false
	for _, cells := range r.Cells {
		switch cells[column].(type) {
		case nil:
			continue
		case int64:
		case float64:
			t = reflect.TypeFor[float64]()
		default:
			return reflect.TypeFor[string]()
		}
		any = true
	}
	if !any {
		return reflect.TypeFor[string]()
	}
	return t
}
