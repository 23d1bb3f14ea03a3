package report

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// This file: the text for timing runs.

// Limits of the text: a run with few launches fits on one screen.
const (
	barWidth    = 32
	mostLines   = 8   // of the hottest
	mostProgram = 100 // of programs that are printed in full
)

// timed are the figures of a row of the table of launches.
type timed struct {
	cycles, warpCycles  uint64
	occupied, simulated float64 // occupancy times cycles, and the cycles that it is known of
	blocks              int     // on an SM
	limited             string
	stalls              map[string]uint64
}

// add adds a launch; it is nil in a functional run.
func (t *timed) add(k *KernelTiming) {
	if k == nil {
		return
	}
	x := &timed{cycles: k.Cycles, warpCycles: k.WarpCycles, blocks: k.BlocksPerSM, limited: k.LimitedBy, stalls: k.Stalls}
	if !k.Sampled {
		x.occupied, x.simulated = k.Occupancy*float64(k.Cycles), float64(k.Cycles)
	}
	t.join(x)
}

// join adds the figures of other launches.
func (t *timed) join(o *timed) {
	if t.stalls == nil {
		t.stalls = map[string]uint64{}
		t.blocks, t.limited = o.blocks, o.limited
	}
	t.cycles += o.cycles
	t.warpCycles += o.warpCycles
	t.occupied += o.occupied
	t.simulated += o.simulated
	if t.limited != o.limited {
		t.limited = "various"
	}
	if t.blocks != o.blocks {
		t.blocks = 0
	}
	for s, n := range o.stalls {
		t.stalls[s] += n
	}
}

// machineLine describes the simulated machine.
func (r *Run) machineLine(b *strings.Builder) {
	c := &r.Clocks
	if c.Core == 0 { // a machine without clock frequencies
		fmt.Fprintf(b, "%s: %s, %s core\n", r.GPU, Plural(r.SMs, "SM", "SMs"), r.Core)
		return
	}
	mhz := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	fmt.Fprintf(b, "%s: %s, %s core; MHz: core %s, network %s, L2 %s, DRAM %s\n",
		r.GPU, Plural(r.SMs, "SM", "SMs"), r.Core, mhz(c.Core), mhz(c.Network), mhz(c.L2), mhz(c.DRAM))
	if r.CoreFrom != "" {
		fmt.Fprintf(b, "  the core uses the parameters of %s, because %s has none for it\n", r.CoreFrom, r.GPU)
	}
	for _, d := range r.Dependences {
		of := ""
		if d.Consumers > 0 {
			of = fmt.Sprintf(" of %s", Plural(d.Consumers, "consumer", "consumers"))
		}
		fmt.Fprintf(b, "  dependences guarded by %s%s: %s a warp, %s an SM, %.2f %% of the register file\n",
			d.Mechanism, of, Plural(d.WarpBits, "bit", "bits"), Count(uint64(d.SMBits)), d.RegisterFile)
	}
}

// timingTable is the table of launches.
func (r *Run) timingTable(b *strings.Builder) {
	if len(r.Kernels) == 0 {
		b.WriteString("no kernel ran\n")
		return
	}
	// If launches overlap, show when they began.
	overlap := slices.ContainsFunc(r.Kernels, func(k Kernel) bool { return k.KernelTiming != nil && k.Shared || k.Device != nil })
	head := []string{"launch", "<kernel", "grid", "block", "regs", "shared", "cycles", "warp instr", "IPC", "lanes", "occupancy", "blocks/SM", "<limited by", "<main stall"}
	if overlap {
		head = slices.Insert(head, 1, "stream", "start")
	}
	extra := r.columns()
	for i, c := range extra {
		head = slices.Insert(head, 1+i, c.head)
	}
	t := NewTable(head...)
	add := func(x *row, start []string, cells ...string) {
		if overlap {
			cells = slices.Insert(cells, 1, start...)
		}
		t.Row(insertColumns(extra, x, cells)...)
	}
	for _, x := range r.rows() {
		number, grid, block, shared := x.labels()
		m := &x.timed
		blocks := "–"
		if m.blocks > 0 {
			blocks = fmt.Sprint(m.blocks)
		}
		occ := "–"
		if m.simulated > 0 {
			occ = percent(m.occupied, m.simulated)
		}
		start := []string{"", ""}
		if x.count == 1 && x.KernelTiming != nil {
			start = []string{fmt.Sprint(x.Stream), Count(x.StartCycle)}
		}
		add(&x, start, number, x.Name, grid, block, fmt.Sprint(x.Registers), shared, Count(m.cycles), Count(x.WarpInstructions), ratio(x.WarpInstructions, m.cycles),
			lanes(x.WarpInstructions, x.ThreadInstructions), occ, blocks, m.limited, mostly(m.stalls, 1))
	}
	if len(r.Kernels) > 1 {
		t.Rule()
		add(nil, []string{"", ""}, "", "total", "", "", "", "", Count(r.Cycles), Count(r.WarpInstructions), ratio(r.WarpInstructions, r.Cycles),
			lanes(r.WarpInstructions, r.ThreadInstructions), "", "", "", "")
	}
	t.Write(b)
}

// ratio formats a quotient with two decimals.
func ratio(a, b uint64) string {
	if b == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", float64(a)/float64(b))
}

// percent formats a share.
func percent(a, b float64) string {
	if b == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*a/b)
}

// selected is the state of an issuing warp; all others are waits.
const selected = "selected"

// spoken returns a state's name in words.
func spoken(state string) string { return strings.ReplaceAll(state, "_", " ") }

// share is a named part of a total.
type share struct {
	name string
	n    uint64
}

// shares sorts counters in descending order, without zeros.
func shares(m map[string]uint64) []share {
	var list []share
	for s, n := range m {
		if n > 0 {
			list = append(list, share{s, n})
		}
	}
	slices.SortFunc(list, func(a, b share) int {
		return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.name, b.name))
	})
	return list
}

// mostly lists the largest waits and their shares of the total.
func mostly(stalls map[string]uint64, most int) string {
	var total uint64
	for _, n := range stalls {
		total += n
	}
	var parts []string
	for _, s := range shares(stalls) {
		if s.name == selected {
			continue
		}
		p := 100 * float64(s.n) / float64(total)
		if len(parts) == most || len(parts) > 0 && p < 10 {
			break
		}
		parts = append(parts, fmt.Sprintf("%s %.0f %%", spoken(s.name), p))
	}
	return strings.Join(parts, ", ")
}

// Bar draws a share as a bar, to an eighth of a character.
func Bar(part, of uint64) string {
	if of == 0 {
		return ""
	}
	n := int(float64(part)/float64(of)*barWidth*8 + 0.5)
	if n == 0 && part > 0 {
		n = 1
	}
	s := strings.Repeat("█", n/8)
	if n%8 > 0 {
		s += string([]rune("▏▎▍▌▋▊▉")[n%8-1])
	}
	return s
}

// timingSections are the parts of the report below the table of launches.
func (r *Run) timingSections(b *strings.Builder) {
	stalls := map[string]uint64{}
	var warpCycles uint64
	for i := range r.Kernels {
		k := r.Kernels[i].KernelTiming
		if k == nil {
			continue
		}
		for s, n := range k.Stalls {
			stalls[s] += n
		}
		warpCycles += k.WarpCycles
	}
	if warpCycles == 0 {
		return
	}
	t := NewTable("<what warps did", "cycles", "share", "<")
	for _, s := range shares(stalls) {
		t.Row(spoken(s.name), Count(s.n), percent(float64(s.n), float64(warpCycles)), Bar(s.n, warpCycles))
	}
	b.WriteString("\n")
	t.Write(b)
	if r.Kepler != nil {
		r.fetchTable(b)
	}
	if r.Kepler == nil || r.Memory.Replies > 0 { // not only the mock memory
		var memory strings.Builder
		if r.memoryTable(&memory); memory.Len() > 0 {
			b.WriteString("\n" + memory.String())
		}
	}
	r.hotLines(b, warpCycles)
}

// memoryTable shows the counters of the memory system, if it was used.
func (r *Run) memoryTable(b *strings.Builder) {
	m := &r.Memory
	t := NewTable("<memory", "accesses", "hits", "pending", "misses", "written back")
	for _, l := range []struct {
		name string
		c    *Cache
	}{{"L1 data", &m.L1}, {"L1 constant", &m.L1Const}, {"L1 texture", &m.L1Texture}, {"L1 instruction", &m.L1Inst}, {"L2", &m.L2}} {
		if l.c.Accesses == 0 {
			continue
		}
		of := float64(l.c.Accesses)
		t.Row(l.name, Count(l.c.Accesses), percent(float64(l.c.Hits), of), percent(float64(l.c.PendingHits), of), percent(float64(l.c.Misses), of), Count(l.c.WriteBacks))
	}
	if len(t.rows) > 0 {
		t.Write(b)
	}
	for _, l := range []struct {
		name string
		p    *Prefetch
	}{{"L1 data", m.L1Prefetch}, {"L2", m.L2Prefetch}} {
		if p := l.p; p != nil {
			of := float64(p.Issued)
			fmt.Fprintf(b, "%s prefetches: %s issued, %s useful, %s late, %s unused; %s were present, %s refused\n", l.name, Count(p.Issued),
				percent(float64(p.Useful), of), percent(float64(p.Late), of), percent(float64(p.Unused), of), Count(p.Present), Count(p.Refused))
		}
	}
	if d := &m.DRAM; d.Requests > 0 {
		fmt.Fprintf(b, "DRAM  %s read, %s written", Bytes(d.BytesRead), Bytes(d.BytesWritten))
		if s := float64(r.Cycles) / (r.Clocks.Core * 1e6); s > 0 && d.Peak > 0 {
			rate := float64(d.BytesRead+d.BytesWritten) / s / 1e9
			fmt.Fprintf(b, ", %.1f GB/s of %.1f (%s)", rate, d.Peak, percent(rate, d.Peak))
		}
		fmt.Fprintf(b, "; row hits %s\n", percent(float64(d.RowHits), float64(d.Requests)))
	}
	if m.Replies > 0 {
		fmt.Fprintf(b, "average memory round trip: %.0f cycles\n", m.MeanLatencyCycles)
	}
	if m.SharedConflictCycles > 0 {
		fmt.Fprintf(b, "shared memory: %s cycles lost to bank conflicts\n", Count(m.SharedConflictCycles))
	}
	if m.ConstConflictCycles > 0 {
		fmt.Fprintf(b, "constants: %s cycles lost to lanes that read different ones\n", Count(m.ConstConflictCycles))
	}
}

// shorten cuts a text to n characters.
func shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return strings.TrimRight(string(r[:n-1]), " ,") + "…"
	}
	return s
}

// hotLines shows the instructions at which warps spent most of their time, over all
// launches.
func (r *Run) hotLines(b *strings.Builder, total uint64) {
	type key struct {
		file, function string
		pc             int
	}
	at := map[key]int{}
	var list []Line
	for i := range r.Kernels {
		k := r.Kernels[i].KernelTiming
		if k == nil {
			continue
		}
		for _, l := range k.Lines {
			p := key{l.File, l.Function, l.PC}
			n, seen := at[p]
			if !seen {
				n = len(list)
				at[p] = n
				sum := l
				sum.Issues, sum.WarpCycles, sum.Stalls = 0, 0, map[string]uint64{}
				list = append(list, sum)
			}
			list[n].Issues += l.Issues
			list[n].WarpCycles += l.WarpCycles
			for s, c := range l.Stalls {
				list[n].Stalls[s] += c
			}
		}
	}
	if len(list) == 0 {
		return
	}
	if len(list) <= mostProgram && !slices.ContainsFunc(list, func(l Line) bool { return l.Control == "" || l.File == "" }) {
		programLines(b, list, total)
		return
	}
	slices.SortStableFunc(list, func(a, b Line) int { return cmp.Compare(b.WarpCycles, a.WarpCycles) })
	head := []string{"<hottest lines", "<source", "<instruction", "issues", "share", "<waiting for"}
	sources := slices.ContainsFunc(list, func(l Line) bool { return l.SourceLine > 0 })
	if !sources {
		head = slices.Delete(head, 1, 2)
	}
	t := NewTable(head...)
	for i, l := range list {
		if i == mostLines || i > 0 && l.WarpCycles*100 < total {
			break
		}
		cells := []string{l.place()}
		switch {
		case l.SourceLine > 0:
			cells = append(cells, fmt.Sprintf("%s:%d", filepath.Base(l.SourceFile), l.SourceLine))
		case sources:
			cells = append(cells, "")
		}
		t.Row(append(cells, l.code(36), Count(l.Issues), percent(float64(l.WarpCycles), float64(total)), mostly(l.Stalls, 2))...)
	}
	b.WriteString("\n")
	t.Write(b)
}

// place returns the location of an instruction.
func (l *Line) place() string { return Place(l.File, l.Function, l.Line, l.PC) }

// Place names an instruction for readers: the line of the program's text, or else the place in its
// file, or, without one, as in traces, in its function.
func Place(file, function string, line, pc int) string {
	switch {
	case file == "":
		return strings.TrimSpace(fmt.Sprintf("%s pc %#x", shorten(function, 24), pc))
	case line == 0:
		return fmt.Sprintf("%s pc %d", filepath.Base(file), pc)
	}
	return fmt.Sprintf("%s:%d", filepath.Base(file), line)
}

// code returns an instruction with its control code, shortened to most characters.
func (l *Line) code(most int) string {
	text := shorten(cmp.Or(l.Text, l.Instruction), most)
	if l.Control != "" {
		return l.Control + "  " + text
	}
	return text
}

// programLines prints programs with control codes, with counters for each instruction
// that warps reached. Such programs are written by hand, and their authors want to see
// every line.
func programLines(b *strings.Builder, list []Line, total uint64) {
	slices.SortStableFunc(list, func(a, b Line) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.PC, b.PC)) })
	t := NewTable("<line", "<instruction", "issues", "warp cycles", "share", "<waiting for")
	for i := range list {
		l := &list[i]
		t.Row(l.place(), l.code(48), Count(l.Issues), Count(l.WarpCycles), percent(float64(l.WarpCycles), float64(total)), mostly(l.Stalls, 2))
	}
	b.WriteString("\n")
	t.Write(b)
}
