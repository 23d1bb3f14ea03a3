// Package report presents the result of a run: the model of a result, its JSON form and
// its text. It is independent of what produced a result, and computes only sums and
// ratios for display.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/heddle-sim/heddle/internal/plain"
	"github.com/heddle-sim/heddle/internal/report/found"
	"github.com/heddle-sim/heddle/internal/report/lesson"
)

// Version is Heddle's version: the tag of a release, or the next release followed by
// "-dev". CONTRIBUTING.md describes how a release is made.
const Version = "0.2.0-dev"

// ResultVersion is raised by every change after which the same input gives other counters.
// Results of many runs are kept under names that contain it, so that those from before are
// not taken for new ones.
const ResultVersion = 1

// Run is the result of a run. Its JSON form is stable: fields are added, never
// renamed. Seconds is the only field that may differ between two runs of the
// same input.
type Run struct {
	Heddle     string         `json:"heddle"`
	Input      string         `json:"input"`
	Programs   []string       `json:"programs"`
	GPU        string         `json:"gpu"`
	Mode       string         `json:"mode"`
	OK         bool           `json:"ok"`
	Conditions map[string]any `json:"conditions"` // run conditions that were set, by key

	*Timing                    // nil in a functional run
	WarpInstructions   uint64  `json:"warp_instructions"`
	ThreadInstructions uint64  `json:"thread_instructions"`
	Seconds            float64 `json:"seconds"`

	Kernels []Kernel `json:"kernels"`
	Links   []Link   `json:"links,omitempty"`             // between devices, those that were used
	LeftOut int      `json:"launches_left_out,omitempty"` // launches not selected
	Ranges  []*Range `json:"ranges,omitempty"`            // that the program named
	Steps   []Step   `json:"steps,omitempty"`
	Checks  []Check  `json:"checks"`

	Checkers []Checker `json:"checkers,omitempty"` // those of --check
	// Found is what checkers have found; nil if none ran. Hazards are in Checkers.
	Found    *found.Document `json:"checker_findings,omitempty"`
	Findings []Finding       `json:"findings,omitempty"` // of a timing run: what costs time
	// Lines are the instructions of a functional run with a page, over all launches: how many threads
	// ran each.
	Lines []Line `json:"lines,omitempty"`

	Dumps  []Dump   `json:"dumps,omitempty"`
	Error  *Failure `json:"error,omitempty"`
	Kepler *Kepler  `json:"kepler,omitempty"` // of the Kepler-style core only
	Trace  *Trace   `json:"trace,omitempty"`  // of replayed runs only
	// Sampling says how cycles were estimated; nil if all launches were simulated.
	Sampling *Sampling `json:"sampling,omitempty"`
	State    string    `json:"-"`                // the final state, for the report's text
	NoJob    bool      `json:"no_job,omitempty"` // the input is not a job file, which would have checks

	Pictures []string `json:"pictures,omitempty"` // files written

	// Small launches step by step, and the pictures that the frames of a job drew; with --html only.
	Lessons []*lesson.Lesson `json:"lessons,omitempty"`
	Films   []lesson.Film    `json:"films,omitempty"`
	// Ways of instructions through the pipeline of an SM: the first of the run, and those of ranges
	// that were asked for while it ran; with --html only.
	Ways []*Ways `json:"ways,omitempty"`
}

// Begun reports whether anything has run that is worth reporting.
func (r *Run) Begun() bool {
	return len(r.Kernels) > 0 || slices.ContainsFunc(r.Steps, func(s Step) bool { return s.StartCycle != nil })
}

// Kernel is one launch and its counters.
type Kernel struct {
	Name               string   `json:"name"`
	Launch             int      `json:"launch"`
	Device             *int     `json:"device,omitempty"` // nil if there is only one
	Code               string   `json:"code,omitempty"`   // sass or ptx
	Stream             int64    `json:"stream"`
	Grid               [3]int64 `json:"grid"`
	Block              [3]int64 `json:"block"`
	Registers          int      `json:"registers"`    // per thread; an estimate unless the input gives it
	SharedBytes        int      `json:"shared_bytes"` // per block, static and dynamic
	LocalBytes         int      `json:"local_bytes"`  // per thread
	Blocks             uint64   `json:"blocks"`       // completed blocks
	WarpInstructions   uint64   `json:"warp_instructions"`
	ThreadInstructions uint64   `json:"thread_instructions"`
	*KernelTiming               // nil in a functional run
}

// Link is the traffic from one device to another.
type Link struct {
	From       int     `json:"from"`
	To         int     `json:"to"`
	Copies     uint64  `json:"copies"`
	Accesses   uint64  `json:"accesses"` // of kernels
	Bytes      uint64  `json:"bytes"`
	BusyCycles uint64  `json:"busy_cycles"`
	Rate       float64 `json:"gb_per_s"` // while it was busy
}

// linkTable shows the links between devices.
func (r *Run) linkTable(b *strings.Builder) {
	if len(r.Links) == 0 {
		return
	}
	t := NewTable("<link", "copies", "accesses", "bytes", "busy cycles", "busy", "GB/s")
	for _, l := range r.Links {
		t.Row(fmt.Sprintf("device %d to %d", l.From, l.To), Count(l.Copies), Count(l.Accesses), Count(l.Bytes), Count(l.BusyCycles), percent(float64(l.BusyCycles), float64(r.Cycles)), fmt.Sprintf("%.2f", l.Rate))
	}
	b.WriteString("\n")
	t.Write(b)
}

// column is a column of the tables of launches that only some runs have.
type column struct {
	head string
	cell func(x *row) string
}

// columns returns those of a run: the device if there are several, and what ran if that is not
// PTX everywhere.
func (r *Run) columns() []column {
	var list []column
	if slices.ContainsFunc(r.Kernels, func(k Kernel) bool { return k.Device != nil }) {
		list = append(list, column{"device", (*row).device})
	}
	if slices.ContainsFunc(r.Kernels, func(k Kernel) bool { return k.Code != "" && k.Code != "ptx" }) {
		list = append(list, column{"code", func(x *row) string { return x.Code }})
	}
	if r.Sampling != nil {
		list = append(list, column{"simulated", func(x *row) string { return Count(uint64(x.count - x.passed)) }})
	}
	return list
}

// insertColumns adds the columns after the first cell of a row; x is nil in the row of sums.
func insertColumns(list []column, x *row, cells []string) []string {
	for i, c := range list {
		text := ""
		if x != nil {
			text = c.cell(x)
		}
		cells = slices.Insert(cells, 1+i, text)
	}
	return cells
}

// device is the device of a row's launches, if they have the same.
func (x *row) device() string {
	if x.Device == nil {
		return "–"
	}
	return fmt.Sprint(*x.Device)
}

// Range is an interval of the program with a name, and the launches that it submitted
// within. All intervals of one name, within the same outer ones, count as one.
type Range struct {
	Name               string   `json:"name"`
	Times              int      `json:"times"` // that it began
	Launches           int      `json:"launches"`
	WarpInstructions   uint64   `json:"warp_instructions"`
	ThreadInstructions uint64   `json:"thread_instructions"`
	Cycles             uint64   `json:"cycles,omitempty"` // of its launches, summed, in a timing run
	Ranges             []*Range `json:"ranges,omitempty"` // within it
}

// Add counts a launch.
func (r *Range) Add(k *Kernel) {
	r.Launches++
	r.WarpInstructions += k.WarpInstructions
	r.ThreadInstructions += k.ThreadInstructions
	if k.KernelTiming != nil {
		r.Cycles += k.Cycles
	}
}

// rangeTable shows the named ranges, inner ones below outer ones.
func (r *Run) rangeTable(b *strings.Builder) {
	if len(r.Ranges) == 0 {
		return
	}
	head := []string{"<range", "times", "launches", "warp instr", "thread instr"}
	if r.Timing != nil {
		head = append(head, "kernel cycles")
	}
	t := NewTable(head...)
	more := 0
	var add func(list []*Range, depth int)
	add = func(list []*Range, depth int) {
		for _, x := range list {
			if len(t.rows) < mostRows {
				row := []string{strings.Repeat("  ", depth) + x.Name, Count(uint64(x.Times)), Count(uint64(x.Launches)), Count(x.WarpInstructions), Count(x.ThreadInstructions)}
				if r.Timing != nil {
					row = append(row, Count(x.Cycles))
				}
				t.Row(row...)
			} else {
				more++
			}
			add(x.Ranges, depth+1)
		}
	}
	add(r.Ranges, 0)
	b.WriteString("\n")
	t.Write(b)
	moreRows(b, more, "range", "ranges")
}

// Step is one action of the host, in execution order.
type Step struct {
	Step   int    `json:"step"` // in the order of the input, from 0
	Kind   string `json:"kind"`
	Stream int64  `json:"stream"`
	Launch *int   `json:"launch,omitempty"` // of a launch: its number
	From   string `json:"from,omitempty"`   // of a copy
	To     string `json:"to,omitempty"`     // of a copy
	Bytes  int64  `json:"bytes,omitempty"`  // of a copy
	Event  string `json:"event,omitempty"`  // of a record or wait

	StartCycle *uint64 `json:"start_cycle,omitempty"` // in timing runs
	EndCycle   *uint64 `json:"end_cycle,omitempty"`
	Unfinished bool    `json:"unfinished,omitempty"` // the run ended before it did
}

// Check is one comparison of memory with expected values.
type Check struct {
	Buffer     string    `json:"buffer,omitempty"`
	Symbol     string    `json:"symbol,omitempty"`
	Against    string    `json:"against"` // the file, or "values"
	OK         bool      `json:"ok"`
	Elements   int64     `json:"elements"` // that were compared
	Mismatches int64     `json:"mismatches"`
	Tolerance  float64   `json:"tolerance,omitempty"`
	First      *Mismatch `json:"first_mismatch,omitempty"`
}

// Mismatch is an element with a wrong value. Values are text, because JSON has no
// infinities and no 64-bit integers.
type Mismatch struct {
	Index int64  `json:"index"` // in the buffer
	Got   string `json:"got"`
	Want  string `json:"want"`
}

// Dump is a buffer written to a file.
type Dump struct {
	Buffer string `json:"buffer"`
	File   string `json:"file"`
	Bytes  int64  `json:"bytes"`
}

// Failure is the reason why a run ended early.
type Failure struct {
	Kind        string     `json:"kind"` // fault, limit, stuck, launch, interrupted, signal or input
	Message     string     `json:"message"`
	Kernel      string     `json:"kernel,omitempty"`
	Function    string     `json:"function,omitempty"`
	Launch      *int       `json:"launch,omitempty"`
	Block       *[3]uint32 `json:"block,omitempty"`
	Thread      *[3]uint32 `json:"thread,omitempty"`
	Warp        *int       `json:"warp,omitempty"` // for cores whose warps are not in blocks
	PC          *int       `json:"pc,omitempty"`
	Instruction string     `json:"instruction,omitempty"`
	File        string     `json:"file,omitempty"`
	Line        int        `json:"line,omitempty"`
	SourceFile  string     `json:"source_file,omitempty"`
	SourceLine  int        `json:"source_line,omitempty"`
	// Standstill is who waits for whom, of a timing run without progress.
	Standstill *Standstill `json:"standstill,omitempty"`
}

// WriteJSON writes the result as JSON, indented, with a final newline.
func (r *Run) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// WithoutBlocks returns the result without logs of blocks, which a page keeps but the text need
// not show.
func (r *Run) WithoutBlocks() *Run {
	short := *r
	short.Kernels = slices.Clone(r.Kernels)
	for i := range short.Kernels {
		if k := &short.Kernels[i]; k.KernelTiming != nil {
			t := *k.KernelTiming
			t.BlockLog, k.KernelTiming = nil, &t
		}
	}
	return &short
}

// firstFew returns the names that fit on a line and the number of the others: programs
// that compile at run time load hundreds of modules.
func firstFew(names []string) []string {
	const most = 6
	if len(names) <= most {
		return names
	}
	return append(slices.Clone(names[:most-1]), fmt.Sprintf("%d more", len(names)-most+1))
}

// plainKernels returns kernels with their names as in the program's source.
func plainKernels(kernels []Kernel) []Kernel {
	names := make([]string, len(kernels))
	for i, k := range kernels {
		names[i] = k.Name
	}
	list := slices.Clone(kernels)
	for i, name := range plain.Names(names) {
		list[i].Name = name
	}
	return list
}

// WriteText writes the report as text.
func (r *Run) WriteText(w io.Writer) error {
	if r.NoJob && r.Trace == nil { // jobs, and selections of a trace's launches, use mangled names
		shown := *r
		shown.Kernels = plainKernels(r.Kernels)
		shown.Findings = slices.Clone(r.Findings)
		for i := range shown.Findings { // those of no single launch have no kernel
			f := &shown.Findings[i]
			if k := slices.IndexFunc(r.Kernels, func(k Kernel) bool { return k.Name == f.Kernel }); k >= 0 {
				f.Kernel = shown.Kernels[k].Name
			}
		}
		r = &shown
	}
	var b strings.Builder
	fmt.Fprintf(&b, "heddle %s  %s  %s", r.Heddle, r.Input, r.Mode)
	if len(r.Programs) > 0 {
		fmt.Fprintf(&b, "  (%s)", strings.Join(firstFew(r.Programs), ", "))
	}
	b.WriteString("\n")
	if r.Timing != nil {
		r.machineLine(&b)
	}
	if len(r.Conditions) > 0 {
		b.WriteString("conditions ")
		for _, k := range sortedKeys(r.Conditions) {
			fmt.Fprintf(&b, " %s=%v", k, r.Conditions[k])
		}
		b.WriteString("\n")
	}
	if r.Trace != nil {
		r.Trace.write(&b)
	}
	b.WriteString("\n")
	if r.Timing != nil {
		r.timingTable(&b)
		r.estimateLine(&b)
		r.Sampling.write(&b)
	} else {
		r.kernelTable(&b)
	}
	if r.LeftOut > 0 {
		what := Plural(r.LeftOut, "launch", "launches")
		if r.Kepler != nil {
			what = Plural(r.LeftOut, "frame", "frames")
		}
		fmt.Fprintf(&b, "%s left out (--kernels)\n", what)
	}
	r.rangeTable(&b)
	if r.Timing != nil {
		r.linkTable(&b)
		r.stepTable(&b)
		r.blockTable(&b)
		r.findingTable(&b)
		r.timingSections(&b)
	}
	if len(r.Checks) > 0 {
		b.WriteString("\n")
		r.checkTable(&b)
	}
	r.checkerTable(&b)
	for _, d := range r.Dumps {
		fmt.Fprintf(&b, "\n%s: %s bytes to %s", d.Buffer, Count(uint64(d.Bytes)), d.File)
	}
	for _, p := range r.Pictures {
		fmt.Fprintf(&b, "\n%s written", p)
	}
	if len(r.Dumps)+len(r.Pictures) > 0 {
		b.WriteString("\n")
	}
	if r.State != "" {
		fmt.Fprintf(&b, "\n%s", r.State)
	}
	fmt.Fprintf(&b, "\n%s\n", r.Summary())
	_, err := io.WriteString(w, b.String())
	return err
}

// mostRows limits the rows of the table of launches; longer runs combine launches of the
// same kernel.
const mostRows = 24

// row is a row of the table of launches: one launch, or several of one kernel.
type row struct {
	Kernel
	last, count int // the number of the last launch, and the count of launches
	passed      int // of these, those that were not simulated
	same        bool
	timed       timed
}

// rows groups launches until the table is short enough: neighbours of the same
// kernel first, then all of the same kernel.
func (r *Run) rows() []row {
	var rows []row
	for _, k := range r.Kernels {
		x := row{Kernel: k, last: k.Launch, count: 1, same: true}
		if k.KernelTiming != nil && k.Sampled {
			x.passed = 1
		}
		x.timed.add(k.KernelTiming)
		rows = append(rows, x)
	}
	for _, adjacent := range []bool{true, false} {
		if len(rows) <= mostRows {
			break
		}
		var merged []row
		at := map[string]int{}
		for _, x := range rows {
			i, seen := at[x.Name]
			if !seen || adjacent && i != len(merged)-1 {
				at[x.Name] = len(merged)
				merged = append(merged, x)
				continue
			}
			m := &merged[i]
			m.same = m.same && x.same && m.Grid == x.Grid && m.Block == x.Block && m.SharedBytes == x.SharedBytes
			if m.Device != nil && (x.Device == nil || *x.Device != *m.Device) {
				m.Device = nil
			}
			if m.Code != x.Code {
				m.Code = "both"
			}
			m.last = x.last
			m.count += x.count
			m.passed += x.passed
			m.WarpInstructions += x.WarpInstructions
			m.ThreadInstructions += x.ThreadInstructions
			m.timed.join(&x.timed)
		}
		rows = merged
	}
	return rows
}

// labels returns a row's launch numbers and extents.
func (x *row) labels() (number, grid, block, shared string) {
	number, grid, block, shared = fmt.Sprint(x.Launch), dims(x.Grid), dims(x.Block), Bytes(uint64(x.SharedBytes))
	if x.count > 1 {
		number = fmt.Sprintf("%d–%d", x.Launch, x.last)
		if x.count != x.last-x.Launch+1 {
			number = fmt.Sprintf("%d of %s", x.count, number)
		}
	}
	if !x.same {
		grid, block, shared = "various", "", ""
	}
	return number, grid, block, shared
}

func (r *Run) kernelTable(b *strings.Builder) {
	if len(r.Kernels) == 0 {
		b.WriteString("no kernel ran\n")
		return
	}
	head := []string{"launch", "<kernel", "grid", "block", "regs", "shared", "warp instr", "thread instr", "lanes"}
	extra := r.columns()
	for i, c := range extra {
		head = slices.Insert(head, 1+i, c.head)
	}
	t := NewTable(head...)
	for _, x := range r.rows() {
		number, grid, block, shared := x.labels()
		t.Row(insertColumns(extra, &x, []string{number, x.Name, grid, block, fmt.Sprint(x.Registers), shared,
			Count(x.WarpInstructions), Count(x.ThreadInstructions), lanes(x.WarpInstructions, x.ThreadInstructions)})...)
	}
	if len(r.Kernels) > 1 {
		t.Rule()
		t.Row(insertColumns(extra, nil, []string{"", "total", "", "", "", "", Count(r.WarpInstructions), Count(r.ThreadInstructions), lanes(r.WarpInstructions, r.ThreadInstructions)})...)
	}
	t.Write(b)
}

func (r *Run) checkTable(b *strings.Builder) {
	t := NewTable("<check", "<against", "elements", "tolerance", "<result")
	for _, c := range r.Checks {
		name := c.Buffer
		if name == "" {
			name = "symbol " + c.Symbol
		}
		tol := "bit for bit"
		if c.Tolerance > 0 {
			tol = fmt.Sprint(c.Tolerance)
		}
		result := "✓ ok"
		if !c.OK {
			result = "✗ FAILED: " + Plural(int(c.Mismatches), "mismatch", "mismatches")
			if c.First != nil {
				result += fmt.Sprintf("; the first is [%d]: got %s, want %s", c.First.Index, c.First.Got, c.First.Want)
			}
		}
		t.Row(name, c.Against, Count(uint64(c.Elements)), tol, result)
	}
	t.Write(b)
}

// Summary is the last line of the report: how the run ended, and how fast it was.
func (r *Run) Summary() string {
	d := time.Duration(r.Seconds * float64(time.Second))
	state := "done"
	switch {
	case r.Error != nil && r.Error.Kind == "interrupted":
		state = "interrupted"
	case r.Error != nil && r.Error.Kind == "signal":
		state = r.Error.Message
	case r.Error != nil:
		state = "stopped"
	}
	s := fmt.Sprintf("%s in %s", state, Duration(d))
	if r.Seconds > 0 && r.Timing != nil {
		s += fmt.Sprintf(", %s cycles and %s warp instructions a second", Rate(float64(r.Cycles)/r.Seconds), Rate(float64(r.WarpInstructions)/r.Seconds))
	} else if r.Seconds > 0 && r.ThreadInstructions > 0 {
		s += fmt.Sprintf(", %s thread instructions a second", Rate(float64(r.ThreadInstructions)/r.Seconds))
	}
	failed := 0
	for _, c := range r.Checks {
		if !c.OK {
			failed++
		}
	}
	switch {
	case failed > 0:
		s += fmt.Sprintf(": %d of %s FAILED", failed, Plural(len(r.Checks), "check", "checks"))
	case r.Error == nil && len(r.Checks) > 0:
		s += fmt.Sprintf(": %s ok", Plural(len(r.Checks), "check", "checks"))
	case r.NoJob || r.Error != nil || len(r.Programs) == 1 && r.Programs[0] == r.Input: // a program by itself
	case r.LeftOut > 0:
		s += "; no check covers what ran"
	default:
		s += "; the job has no checks"
	}
	for i := range r.Checkers {
		if found := r.Checkers[i].found(); found != "" {
			s += "; " + found
		}
	}
	return s
}

// lanes formats the share of active lanes in percent.
func lanes(warp, thread uint64) string {
	if warp == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(thread)/float64(32*warp))
}

// dims formats an extent as 64×16, without trailing ones.
func dims(d [3]int64) string {
	s := fmt.Sprint(d[0])
	if d[1] > 1 || d[2] > 1 {
		s += fmt.Sprintf("×%d", d[1])
	}
	if d[2] > 1 {
		s += fmt.Sprintf("×%d", d[2])
	}
	return s
}
