package view

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/klauspost/compress/flate"

	"github.com/heddle-sim/heddle/internal/plain"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/report/findings"
	"github.com/heddle-sim/heddle/internal/report/found"
)

// This file: the form in which a page holds results. Lines and blocks, of which there may be
// many, are columns; launches of one kernel share what is the same for all. The rest is the
// result's JSON, without the columns of numbers that columns.go takes out of it. The number of bytes of
// these columns (four bytes, the lowest first), the columns and the JSON are compressed (deflate) and
// written in base64.
//
// web/data.ts is the other end.

// payload is what a page is made of.
type payload struct {
	Heddle  string            `json:"heddle"` // version of the page
	Results []packed          `json:"results"`
	Names   map[string]string `json:"names"`        // of kernels, as in the program's source
	Explain map[string]term   `json:"explain"`      // counters by name
	Rules   map[string]string `json:"rules"`        // what the causes of findings are
	Kepler  map[string]string `json:"kepler_rules"` // the same for the Kepler-style core
	Causes  map[string]string `json:"causes"`       // of races
	Texts   []string          `json:"texts"`        // of programs

	Comparisons []measured      `json:"comparisons,omitempty"` // with tables
	Sweep       json.RawMessage `json:"sweep,omitempty"`
}

// measured is a comparison with a table.
type measured struct {
	Name string          `json:"name"`
	Is   json.RawMessage `json:"is"`
}

// term explains a counter: its unit, meaning and source.
type term [3]string

// packed is one result.
type packed struct {
	Name   string      `json:"name"` // of its file
	Run    *report.Run `json:"run"`  // without lines, logs of blocks, and data of lessons
	Codes  []*code     `json:"codes"`
	Counts []*counts   `json:"counts"` // by launch, nil for those without lines
	Blocks []*blocks   `json:"blocks"` // by launch, nil for those without a log
	// Whole are the counters of the lines of all launches together, of a functional run; else nil.
	Whole *counts `json:"whole,omitempty"`

	Sources map[string]int `json:"sources"` // index in texts, by the names of files

	Columns []column `json:"columns"` // of the run that are not in it
}

// code is the static part of a kernel's lines, a row for each instruction.
type code struct {
	Strings    []string `json:"strings"` // names of functions and files
	Function   []int    `json:"function"`
	File       []int    `json:"file"`
	SourceFile []int    `json:"source_file"`
	PC         []int    `json:"pc"`
	Line       []int    `json:"line"`
	SourceLine []int    `json:"source_line"`
	Text       []string `json:"text"`
	Control    []string `json:"control"`

	at   map[place]int
	text map[string]int
}

// place identifies an instruction of a kernel.
type place struct {
	function, file string
	pc, line       int
}

// counts are the counters of a launch's lines.
type counts struct {
	Code     int                 `json:"code"`         // index in Codes
	At       []int               `json:"at,omitempty"` // rows of the code, nil for all in order
	Issues   []uint64            `json:"issues"`
	Threads  []uint64            `json:"threads"`
	Cycles   []uint64            `json:"cycles"`
	Stalls   map[string][]uint64 `json:"stalls"`
	Access   [5][]uint64         `json:"access"`   // index, requests, sectors, least, conflicts
	Branches [4][]uint64         `json:"branches"` // index, taken, not taken, diverged
	Waited   [3][]uint64         `json:"waited"`   // index, row of the code waited for, warp cycles
}

// blocks is a log of blocks in the order of the grid.
type blocks struct {
	Block []uint64 `json:"block,omitempty"` // nil if they are 0, 1, 2 …
	SM    []int    `json:"sm"`
	Start []uint64 `json:"start"` // from the start of the launch
	End   []uint64 `json:"end"`   // the same, 0 for those that did not end
}

// number returns the index of a string.
func (c *code) number(s string) int {
	i, ok := c.text[s]
	if !ok {
		i = len(c.Strings)
		c.Strings, c.text[s] = append(c.Strings, s), i
	}
	return i
}

// agrees reports whether the code says of the lines that it has what they say.
func (c *code) agrees(lines []report.Line) bool {
	for i := range lines {
		l := &lines[i]
		row, ok := c.at[place{l.Function, l.File, l.PC, l.Line}]
		if ok && (c.Text[row] != l.Text || c.Control[row] != l.Control || c.SourceLine[row] != l.SourceLine || c.Strings[c.SourceFile[row]] != l.SourceFile) {
			return false
		}
	}
	return true
}

// row returns the row of a line.
func (c *code) row(l *report.Line) int {
	p := place{l.Function, l.File, l.PC, l.Line}
	i, ok := c.at[p]
	if !ok {
		i = len(c.PC)
		c.at[p] = i
		c.Function, c.File, c.SourceFile = append(c.Function, c.number(l.Function)), append(c.File, c.number(l.File)), append(c.SourceFile, c.number(l.SourceFile))
		c.PC, c.Line, c.SourceLine = append(c.PC, l.PC), append(c.Line, l.Line), append(c.SourceLine, l.SourceLine)
		c.Text, c.Control = append(c.Text, l.Text), append(c.Control, l.Control)
	}
	return i
}

// pack brings a result into the form of a page. Bytes of columns are added to cols.
func pack(name string, r *report.Run, cols *columns) packed {
	short := *r
	short.Kernels = make([]report.Kernel, len(r.Kernels))
	p := packed{Name: name, Run: &short, Counts: make([]*counts, len(r.Kernels)), Blocks: make([]*blocks, len(r.Kernels))}
	codes := map[string][]int{} // by the kernel's name, which several modules may have
	for i, k := range r.Kernels {
		if k.KernelTiming != nil {
			if len(k.Lines) > 0 {
				at := slices.IndexFunc(codes[k.Name], func(n int) bool { return p.Codes[n].agrees(k.Lines) })
				if at < 0 {
					at = len(codes[k.Name])
					codes[k.Name] = append(codes[k.Name], len(p.Codes))
					p.Codes = append(p.Codes, &code{at: map[place]int{}, text: map[string]int{}})
				}
				n := codes[k.Name][at]
				p.Counts[i] = p.Codes[n].pack(n, k.Lines)
			}
			p.Blocks[i] = packBlocks(k.KernelTiming)
			t := *k.KernelTiming
			t.Lines, t.BlockLog = nil, nil
			k.KernelTiming = &t
		}
		short.Kernels[i] = k
	}
	short.Lessons, short.Ways = slices.Clone(r.Lessons), slices.Clone(r.Ways)
	for i, l := range r.Lessons {
		short.Lessons[i] = cols.lesson("lessons/"+strconv.Itoa(i), l)
	}
	for i, w := range r.Ways {
		short.Ways[i] = cols.ways("ways/"+strconv.Itoa(i), w)
	}
	if r.Timing != nil && r.History != nil {
		t := *r.Timing
		t.History = cols.history("history", r.History)
		short.Timing = &t
	}
	p.Columns, cols.list = cols.list, nil
	if len(r.Lines) > 0 {
		c := &code{at: map[place]int{}, text: map[string]int{}}
		p.Whole, p.Codes = c.pack(len(p.Codes), r.Lines), append(p.Codes, c)
		short.Lines = nil
	}
	return p
}

// pack brings the lines of a launch into columns.
func (c *code) pack(number int, lines []report.Line) *counts {
	x := &counts{Code: number, Stalls: map[string][]uint64{}}
	all := true
	for i := range lines {
		l := &lines[i]
		at := c.row(l)
		all = all && at == i
		x.At = append(x.At, at)
		x.Issues, x.Threads, x.Cycles = append(x.Issues, l.Issues), append(x.Threads, l.ThreadInstructions), append(x.Cycles, l.WarpCycles)
		for state, n := range l.Stalls {
			if x.Stalls[state] == nil {
				x.Stalls[state] = make([]uint64, len(lines))
			}
			x.Stalls[state][i] = n
		}
		if a := l.Accesses; a != nil {
			for j, n := range [...]uint64{uint64(i), a.Requests, a.Sectors, a.LeastSectors, a.ConflictCycles} {
				x.Access[j] = append(x.Access[j], n)
			}
		}
		if b := l.Branches; b != nil {
			for j, n := range [...]uint64{uint64(i), b.Taken, b.NotTaken, b.Diverged} {
				x.Branches[j] = append(x.Branches[j], n)
			}
		}
	}
	for i := range lines {
		for _, p := range lines[i].WaitedFor {
			if row, ok := c.at[place{p.Function, p.File, p.PC, p.Line}]; ok {
				for j, n := range [...]uint64{uint64(i), uint64(row), p.WarpCycles} {
					x.Waited[j] = append(x.Waited[j], n)
				}
			}
		}
	}
	if all {
		x.At = nil
	}
	return x
}

// packBlocks brings the log of a launch's blocks into columns; nil if there is none.
func packBlocks(k *report.KernelTiming) *blocks {
	if len(k.BlockLog) == 0 {
		return nil
	}
	x := &blocks{}
	plain := true
	for i, b := range k.BlockLog {
		plain = plain && b.Block == uint64(i)
		end := uint64(0)
		if b.EndCycle != nil {
			end = *b.EndCycle - k.StartCycle
		}
		x.Block, x.SM = append(x.Block, b.Block), append(x.SM, b.SM)
		x.Start, x.End = append(x.Start, b.StartCycle-k.StartCycle), append(x.End, end)
	}
	if plain {
		x.Block = nil
	}
	return x
}

// explained returns what the causes of rules are, by their names.
func explained(rules []findings.Rule) map[string]string {
	m := map[string]string{}
	for _, r := range rules {
		m[r.Name] = r.Explain
	}
	return m
}

// compression is flate's level: two thirds of level 5's time, and a tenth of the usual one's, for
// 2 to 4 % more bytes of a page.
const compression = 2

// pack returns the page's data.
func (p *Page) pack() ([]byte, error) {
	x := payload{Heddle: report.Version, Names: map[string]string{}, Explain: map[string]term{}, Rules: explained(findings.Rules()), Kepler: explained(findings.KeplerRules()), Causes: found.Causes, Sweep: p.Sweep}
	at := map[string]int{}
	cols := columns{bytes: make([]byte, 0, 1<<19)}
	for _, r := range p.Results {
		one := pack(r.Name, r.Run, &cols)
		one.Sources = map[string]int{}
		for _, name := range slices.Sorted(maps.Keys(r.Sources)) {
			text := r.Sources[name]
			n, known := at[text]
			if !known {
				n = len(x.Texts)
				at[text], x.Texts = n, append(x.Texts, text)
			}
			one.Sources[name] = n
		}
		x.Results = append(x.Results, one)
		var names []string
		for _, k := range r.Run.Kernels {
			names = append(names, k.Name)
		}
		for i, n := range plain.Names(names) {
			if n != names[i] {
				x.Names[names[i]] = n
			}
		}
	}
	for _, c := range report.Counters() {
		if c.Own() {
			x.Explain[c.Name] = term{c.Unit, c.Meaning, c.Source}
		}
	}
	for _, c := range p.Comparisons {
		x.Comparisons = append(x.Comparisons, measured{c.Name, c.JSON})
	}
	var b bytes.Buffer
	b.Grow(1 << 18)
	w, err := flate.NewWriter(&b, compression)
	if err == nil {
		_, err = w.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(cols.bytes))))
	}
	if err == nil {
		_, err = w.Write(cols.bytes)
	}
	if err == nil {
		err = json.NewEncoder(w).Encode(x) // a copy less than Marshal
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("packing the results of a page: %w", err)
	}
	return base64.StdEncoding.AppendEncode(make([]byte, 0, base64.StdEncoding.EncodedLen(b.Len())), b.Bytes()), nil
}
