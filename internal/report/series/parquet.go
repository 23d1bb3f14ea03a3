// Package series converts time series of counters from lines of comma-separated values to
// a Parquet file. It does not interpret the counters.
package series

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// Parquet accepts a line of names followed by lines of comma-separated numbers, in pieces
// of any size, and writes them as a Parquet file: a column for each name, in order. A
// column has doubles if its first number has a decimal point, otherwise unsigned 64-bit
// integers.
type Parquet struct {
	out    io.Writer
	rest   []byte // an incomplete line
	names  []string
	double []bool
	row    parquet.Row
	w      *parquet.GenericWriter[any] // nil before the first numbers
	line   int
	err    error
}

// rowGroup is the number of rows kept in memory before they are written: our choice,
// about 20 MB for 40 columns.
const rowGroup = 1 << 16

// NewParquet returns a writer to out. The file is complete after Close.
func NewParquet(out io.Writer) *Parquet { return &Parquet{out: out} }

// Write takes a piece of text. It returns an error if a line is not a row of numbers, or
// if writing to out fails.
func (p *Parquet) Write(b []byte) (int, error) {
	p.rest = append(p.rest, b...)
	for p.err == nil {
		i := bytes.IndexByte(p.rest, '\n')
		if i < 0 {
			break
		}
		p.take(string(p.rest[:i]))
		p.rest = p.rest[i+1:]
	}
	if p.err != nil {
		return 0, p.err
	}
	return len(b), nil
}

// Close writes the remaining rows and the footer. It does not close the underlying
// writer.
func (p *Parquet) Close() error {
	if len(p.rest) > 0 && p.err == nil {
		p.take(string(p.rest))
		p.rest = nil
	}
	if p.err == nil && p.w == nil {
		p.begin(nil)
	}
	if p.err == nil {
		p.err = p.w.Close()
	}
	return p.err
}

// take parses a line.
func (p *Parquet) take(line string) {
	p.line++
	cells := strings.Split(line, ",")
	if p.names == nil {
		p.names = cells
		return
	}
	if len(cells) != len(p.names) {
		p.err = fmt.Errorf("line %d of the series has %d numbers, but there are %d names", p.line, len(cells), len(p.names))
		return
	}
	if p.w == nil {
		p.begin(cells)
	}
	for i, c := range cells {
		var v parquet.Value
		var err error
		if p.double[i] {
			var f float64
			f, err = strconv.ParseFloat(c, 64)
			v = parquet.DoubleValue(f)
		} else {
			var n uint64
			n, err = strconv.ParseUint(c, 10, 64)
			v = parquet.Int64Value(int64(n))
		}
		if err != nil {
			p.err = fmt.Errorf("line %d of the series, %s: %w", p.line, p.names[i], err)
			return
		}
		p.row[i] = v.Level(0, 0, i)
	}
	_, p.err = p.w.WriteRows([]parquet.Row{p.row})
}

// begin makes the columns, with kinds derived from the first numbers.
func (p *Parquet) begin(first []string) {
	p.double = make([]bool, len(p.names))
	p.row = make(parquet.Row, len(p.names))
	// The library keeps the order of a struct's fields, not that of a group.
	fields := make([]reflect.StructField, len(p.names))
	for i, n := range p.names {
		f := &fields[i]
		f.Name, f.Type, f.Tag = fmt.Sprintf("C%d", i), reflect.TypeFor[uint64](), reflect.StructTag(fmt.Sprintf("parquet:%q", n))
		if p.double[i] = first != nil && strings.Contains(first[i], "."); p.double[i] {
			f.Type = reflect.TypeFor[float64]()
		}
	}
	schema := parquet.SchemaOf(reflect.New(reflect.StructOf(fields)).Interface())
	p.w = parquet.NewGenericWriter[any](p.out, schema, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(rowGroup))
}
