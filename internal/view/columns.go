package view

import (
	"encoding/binary"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/report/lesson"
)

// This file: the columns of numbers of a page, which are most of it. In JSON they would take more
// than half of the time in which a page is written.
//
// web/columns.ts is the other end.

// columns are columns of numbers as bytes, one after the other.
type columns struct {
	bytes []byte
	list  []column
}

// column says where a column of a result belongs, and how many numbers it has.
type column struct {
	Path string `json:"path"` // from the result, in the names of its JSON, with slashes
	N    int    `json:"n"`
	// Words says that its numbers have four bytes, the lowest first, since they are of any size. Others are
	// signed varints as encoding/binary has them: small ones take a byte.
	Words bool `json:"words,omitempty"`
}

// take moves a column out of a result: *from is nil afterwards. One without numbers stays.
func take[T ~int | ~int64 | ~uint64 | ~uint32](c *columns, path string, from *[]T) {
	if len(*from) == 0 {
		return
	}
	c.bytes = slices.Grow(c.bytes, 2*len(*from))
	for _, n := range *from {
		c.bytes = binary.AppendVarint(c.bytes, int64(n))
	}
	c.list = append(c.list, column{Path: path, N: len(*from)})
	*from = nil
}

// words is take for numbers of any size.
func (c *columns) words(path string, from *[]uint32) {
	if len(*from) == 0 {
		return
	}
	c.bytes = slices.Grow(c.bytes, 4*len(*from))
	for _, n := range *from {
		c.bytes = binary.LittleEndian.AppendUint32(c.bytes, n)
	}
	c.list = append(c.list, column{Path: path, N: len(*from), Words: true})
	*from = nil
}

// lists is take for a list of columns. It returns their list without numbers.
func lists[T ~int64 | ~uint64](c *columns, path string, from [][]T) [][]T {
	to := slices.Clone(from)
	for i := range to {
		take(c, path+"/"+strconv.Itoa(i), &to[i])
	}
	return to
}

// lesson returns a lesson without its columns.
func (c *columns) lesson(path string, l *lesson.Lesson) *lesson.Lesson {
	x := *l
	s, v := &x.Steps, &x.Values
	take(c, path+"/steps/cycle", &s.Cycle)
	take(c, path+"/steps/kind", &s.Kind)
	take(c, path+"/steps/warp", &s.Warp)
	take(c, path+"/steps/at", &s.At)
	c.words(path+"/steps/active", &s.Active)
	c.words(path+"/steps/lanes", &s.Lanes)
	take(c, path+"/steps/values", &s.Values)
	take(c, path+"/steps/stores", &s.Stores)
	take(c, path+"/values/cell", &v.Cell)
	c.words(path+"/values/lanes", &v.Lanes)
	take(c, path+"/values/form", &v.Form)
	c.words(path+"/values/data", &v.Data)
	take(c, path+"/stores/word", &x.Stores.Word)
	c.words(path+"/stores/value", &x.Stores.Value)
	take(c, path+"/words/space", &x.Words.Space)
	take(c, path+"/words/addr", &x.Words.Addr)
	take(c, path+"/words/first", &x.Words.First)
	return &x
}

// history returns a history without its columns.
func (c *columns) history(path string, h *report.History) *report.History {
	x := *h
	take(c, path+"/end", &x.End)
	x.Columns = make(map[string][]uint64, len(h.Columns))
	for _, name := range slices.Sorted(maps.Keys(h.Columns)) {
		list := h.Columns[name]
		if strings.Contains(name, "/") { // no name of ours; the JSON has it
			x.Columns[name] = list
			continue
		}
		take(c, path+"/columns/"+name, &list)
		x.Columns[name] = list
	}
	x.Parts = slices.Clone(h.Parts)
	for i := range x.Parts {
		x.Parts[i].Counts = lists(c, path+"/parts/"+strconv.Itoa(i)+"/counts", x.Parts[i].Counts)
	}
	return &x
}

// ways returns the ways of instructions without their columns.
func (c *columns) ways(path string, from *report.Ways) *report.Ways {
	w := *from
	take(c, path+"/instruction", &w.Inst)
	take(c, path+"/block", &w.Block)
	take(c, path+"/warp", &w.Warp)
	take(c, path+"/slot", &w.Slot)
	c.words(path+"/lanes", &w.Lanes)
	w.At = lists(c, path+"/at", w.At)
	take(c, path+"/waited_for", &w.WaitedFor)
	return &w
}
