package step

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/kasm"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/work/krun"
)

// RunKepler steps through a run of a core: start sets one up, and again whenever the user
// goes back. It returns the last run, whose core has finished, is stuck, has a fault or
// has reached the limit of cycles. The error is that of start, or reports that the user
// quit.
func (s *Session) RunKepler(start func() (*krun.Run, error)) (*krun.Run, error) {
	var last *krun.Run
	before := new(standing)
	err := s.repeat(func() error {
		r, err := start()
		if err != nil {
			return err
		}
		last = r
		c := &educational{Run: r, before: before}
		s.m = c
		for {
			if err := s.look(); err != nil {
				return err
			}
			if r.Over() {
				return nil
			}
			c.step()
			if err := s.ctx.Err(); err != nil {
				return err
			}
		}
	})
	return last, err
}

// educational is a session's view of the Kepler-style core: one SM, no caches.
type educational struct {
	*krun.Run
	ended  bool
	before *standing // as last seen by the user
	// The cycles in which each warp selected its last instructions, oldest first.
	issued [kepler.Warps][]uint64
	counts [kepler.Warps]uint64
}

// mostIssued is the number of instructions that backi can go back. Our choice.
const mostIssued = 1 << 16

// step simulates a cycle and records the selected instructions.
func (c *educational) step() {
	now := c.Core.Cycle()
	c.Core.Step()
	for w := range kepler.Warps {
		for n := c.Core.Selected(w); c.counts[w] < n; c.counts[w]++ {
			if len(c.issued[w]) == 2*mostIssued {
				c.issued[w] = append(c.issued[w][:0], c.issued[w][mostIssued:]...)
			}
			c.issued[w] = append(c.issued[w], now)
		}
	}
}

func (c *educational) issuedBefore(slot int, n uint64) (uint64, error) {
	list := c.issued[slot]
	if n > uint64(len(list)) {
		if c.counts[slot] > uint64(len(list)) {
			return 0, fmt.Errorf("only the last %d instructions of a warp are recorded; back N goes back by cycles", len(list))
		}
		return 0, fmt.Errorf("warp 0.%d has selected %s so far", slot, plural(uint64(len(list)), "instruction", "instructions"))
	}
	return list[len(list)-int(n)], nil
}

func (c *educational) now() uint64   { return c.Core.Cycle() }
func (c *educational) lookAt(uint64) {} // look runs in every cycle
func (c *educational) end()          { c.ended = true }
func (c *educational) over() bool    { return c.ended }

func (c *educational) status() string {
	var insts uint64
	n := 0
	for w := range kepler.Warps {
		insts += c.Core.Selected(w)
		if c.live(w) {
			n++
		}
	}
	s := fmt.Sprintf("cycle %d: %s; %s", c.now(), plural(insts, "warp instruction", "warp instructions"), plural(uint64(n), "warp runs", "warps run"))
	switch {
	case c.Core.Fault() != nil:
		s += "; " + c.Core.Fault().Error()
	case c.Core.Stuck():
		s += "; no forward progress"
	}
	return s
}

// live reports whether a warp was started and has not exited.
func (c *educational) live(w int) bool {
	return c.Core.Started(w) && c.Core.Status(w) != kepler.Exited
}

func (c *educational) slots(sm int) (int, error) {
	if sm != 0 {
		return 0, fmt.Errorf("no SM %d; the only SM is 0", sm)
	}
	return kepler.Warps, nil
}

func (c *educational) firstWarp() (sm, slot int, ok bool) {
	for w := range kepler.Warps {
		if c.live(w) {
			return 0, w, true
		}
	}
	for w := range kepler.Warps { // none is running
		if c.Core.Started(w) {
			return 0, w, true
		}
	}
	return 0, 0, false
}

// at formats an instruction.
func (c *educational) at(program, pc int) string {
	s := fmt.Sprintf("pc %d %s", pc, c.Core.Text(program, pc))
	if file, n := c.Place(program, pc); n > 0 {
		s += fmt.Sprintf(" (%s:%d)", filepath.Base(file), n)
	}
	return s
}

func (c *educational) untilIssued(sm, slot int, n uint64) (func() string, error) {
	if !c.live(slot) {
		return nil, fmt.Errorf("warp 0.%d is not running", slot)
	}
	from := c.Core.Selected(slot)
	return func() string {
		switch {
		case c.Core.Selected(slot)-from >= n:
			v := c.Core.View(slot)
			return fmt.Sprintf("warp 0.%d has selected %s", slot, c.at(v.Program, v.Last))
		case !c.live(slot):
			return fmt.Sprintf("warp 0.%d has exited", slot)
		}
		return ""
	}, nil
}

func (c *educational) untilEnd() (func() string, error) { return func() string { return "" }, nil }

func (c *educational) untilBlock(string) (func() string, error) {
	return nil, errors.New("this core has warps, but no blocks")
}

func (c *educational) untilPC(text string) (func() string, error) {
	pc, err := strconv.ParseUint(text, 0, 8)
	if err != nil {
		return nil, fmt.Errorf("%q is not an instruction; they are 0 to 255", text)
	}
	return c.untilAt(func(_, at int) bool { return at == int(pc) }), nil
}

func (c *educational) untilLine(text string) (func() string, error) {
	file, num := "", text
	if i := strings.LastIndexByte(text, ':'); i >= 0 {
		file, num = text[:i], text[i+1:]
	}
	n, err := strconv.Atoi(num)
	if err != nil {
		return nil, fmt.Errorf("%q is not a line; write its number, or FILE:NUMBER", text)
	}
	match := func(program, pc int) bool {
		f, l := c.Place(program, pc)
		return l == n && (file == "" || filepath.Base(f) == filepath.Base(file))
	}
	for w := range kepler.Warps {
		for pc := range 256 {
			if c.Core.Started(w) && match(c.Core.View(w).Program, pc) {
				return c.untilAt(match), nil
			}
		}
	}
	return nil, fmt.Errorf("no instruction on line %s", text)
}

// untilAt is the goal that a warp is about to fetch an instruction for which
// match holds.
func (c *educational) untilAt(match func(program, pc int) bool) func() string {
	type stand struct {
		pc     uint32
		issued uint64
		live   bool
	}
	var last [kepler.Warps]stand
	look := func() (found string) {
		for w := range last {
			v := c.Core.View(w)
			st := stand{v.PC, v.Issued, c.live(w)}
			switch was := last[w]; {
			case found != "" || !st.live || st == was:
			case st.issued == was.issued+2 && match(v.Program, v.Last): // the second of a pair is never the next instruction
				found = fmt.Sprintf("warp 0.%d has selected %s, together with the previous one", w, c.at(v.Program, v.Last))
			case match(v.Program, int(v.PC)):
				found = fmt.Sprintf("warp 0.%d has reached %s", w, c.at(v.Program, int(v.PC)))
			}
			last[w] = st
		}
		return found
	}
	look()
	return look
}

func (c *educational) where(w io.Writer, sm, slot int) {
	fmt.Fprintln(w, c.status())
	if slot >= 0 {
		c.warpLine(w, slot)
	}
	if c.Core.Stuck() {
		for _, s := range c.Core.Waits() {
			fmt.Fprintf(w, "  %s\n", s)
		}
	}
}

func (c *educational) warpLine(w io.Writer, slot int) {
	v := c.Core.View(slot)
	fmt.Fprintf(w, "warp 0.%d: %v, next %s, lanes %08x\n", slot, v.Status, c.at(v.Program, int(v.PC)), v.Mask)
}

func (c *educational) warps(w io.Writer, _ int) {
	t := tabwriter.NewWriter(w, 0, 1, 2, ' ', 0)
	fmt.Fprintln(t, "warp\tstate\tdid\tlanes\ttransactions\tstack\tcalls\tnext")
	for i := range kepler.Warps {
		if c.Core.Started(i) {
			v := c.Core.View(i)
			fmt.Fprintf(t, "0.%d\t%v\t%s\t%08x\t%d\t%d\t%d\t%s\n", i, v.Status, spoken(v.Did.String()), v.Mask, v.Outstanding, len(v.Stack), len(v.Calls), c.at(v.Program, int(v.PC)))
		}
	}
	t.Flush()
}

func (c *educational) warp(w io.Writer, _, slot int) error {
	if !c.Core.Started(slot) {
		return fmt.Errorf("warp 0.%d was not started", slot)
	}
	c.warpLine(w, slot)
	v := c.Core.View(slot)
	list := func(kind string, regs []int) string {
		var s []string
		for _, r := range regs {
			s = append(s, fmt.Sprint(kind, r))
		}
		return cmp.Or(strings.Join(s, " "), "none")
	}
	fmt.Fprintf(w, "  registers with pending results: %s; predicates: %s\n", list("R", v.Busy), list("P", v.BusyPreds))
	fmt.Fprintf(w, "  outstanding transactions: %d\n", v.Outstanding)
	for i, f := range v.Stack {
		fmt.Fprintf(w, "  divergence stack %d: pc %d, lanes %08x\n", i, f.PC, f.Mask)
	}
	for i, pc := range v.Calls {
		fmt.Fprintf(w, "  call %d returns to pc %d\n", i, pc)
	}
	return nil
}

func (c *educational) regs(w io.Writer, _, slot, lane int, names []string) error {
	if !c.Core.Started(slot) {
		return fmt.Errorf("warp 0.%d was not started", slot)
	}
	var list []exec.Register
	for i := range registers {
		r := exec.Register{Name: fmt.Sprint("R", i), Type: ".b32", Bits: 32}
		any := false
		for l, v := range c.Core.Register(slot, i) {
			r.Lo[l] = uint64(v)
			any = any || v != 0
		}
		if any || slices.Contains(names, r.Name) {
			list = append(list, r)
		}
	}
	for i := range predicates {
		r := exec.Register{Name: fmt.Sprint("P", i), Type: ".pred", Bits: 1}
		for l := range 32 {
			r.Lo[l] = uint64(c.Core.Predicate(slot, i) >> l & 1)
		}
		list = append(list, r)
	}
	for _, n := range names {
		if !slices.ContainsFunc(list, func(r exec.Register) bool { return r.Name == n }) {
			return fmt.Errorf("unknown register %q; the registers are R0 to R%d and P0 to P%d", n, registers-1, predicates-1)
		}
	}
	what := "all lanes; registers that are zero in all of them are left out"
	if lane >= 0 {
		what = fmt.Sprintf("lane %d; registers that are zero in all lanes are left out", lane)
	}
	fmt.Fprintf(w, "warp 0.%d, %s\n", slot, what)
	return printRegisters(w, list, ^isa.LaneMask(0), lane, names)
}

// Displayed sizes of a warp's register files; predicate 7 is always true.
const (
	registers  = 64
	predicates = 7
)

func (c *educational) mem(w io.Writer, at string, n uint64, typeName string) error {
	base, plus, _ := strings.Cut(at, "+")
	addr, err := strconv.ParseUint(base, 0, 32)
	if err != nil {
		return fmt.Errorf("%q is not an address", base)
	}
	if plus != "" {
		off, err := strconv.ParseUint(plus, 0, 32)
		if err != nil {
			return fmt.Errorf("%q is not a number of bytes", plus)
		}
		addr += off
	}
	if n = cmp.Or(n, 8); n > 4096 {
		return fmt.Errorf("%d values exceed the limit of %d", n, 4096)
	}
	if typeName != "" && typeName != "u32" {
		return fmt.Errorf("this memory is shown as words; remove %q", typeName)
	}
	if addr%4 != 0 || addr+4*n > 1<<32 {
		return fmt.Errorf("%#x is not a word of this memory", addr)
	}
	for i := range n {
		if i%8 == 0 {
			if i > 0 {
				fmt.Fprintln(w)
			}
			fmt.Fprintf(w, "  %#x:", addr+4*i)
		}
		fmt.Fprintf(w, " %08x", c.Core.Memory(uint32(addr+4*i)))
	}
	fmt.Fprintln(w)
	return nil
}

func (c *educational) queues(w io.Writer, _ int) {
	t := tabwriter.NewWriter(w, 0, 1, 2, ' ', 0)
	any := false
	for _, q := range c.Core.Queues() {
		if q.Len == 0 {
			continue
		}
		any = true
		size := strconv.Itoa(q.Len)
		if q.Cap > 0 {
			size += fmt.Sprintf(" of %d", q.Cap)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", q.Name, size, q.What)
	}
	if !any {
		fmt.Fprintln(t, "nothing in flight")
	}
	t.Flush()
}

// untilLabel is the goal that a warp reaches a label of its program.
func (c *educational) untilLabel(name string) (func() string, error) {
	at := map[int]int{} // by program
	for i, p := range c.Programs {
		if pc, ok := p.Labels[name]; ok {
			at[i+1] = pc
		}
	}
	if len(at) == 0 {
		return nil, fmt.Errorf("no program has a label %q", name)
	}
	return c.untilAt(func(program, pc int) bool {
		n, ok := at[program]
		return ok && n == pc
	}), nil
}

// standing is the state of all warps that the command changed compares.
type standing struct {
	known bool
	cycle uint64
	regs  [kepler.Warps][registers]kasm.Vector
	preds [kepler.Warps][predicates]uint32
	masks [kepler.Warps]uint32
}

func (c *educational) stopped() {
	b := c.before
	b.known, b.cycle = true, c.now()
	for w := range kepler.Warps {
		if !c.Core.Started(w) {
			continue
		}
		for i := range registers {
			b.regs[w][i] = c.Core.Register(w, i)
		}
		for i := range predicates {
			b.preds[w][i] = c.Core.Predicate(w, i)
		}
		b.masks[w] = c.Core.Mask(w)
	}
}

func (c *educational) changed(w io.Writer, slot int) error {
	b := c.before
	switch {
	case !c.Core.Started(slot):
		return fmt.Errorf("warp 0.%d was not started", slot)
	case !b.known:
		fmt.Fprintln(w, "  the run has not advanced yet")
		return nil
	}
	fmt.Fprintf(w, "warp 0.%d, since cycle %d\n", slot, b.cycle)
	any := false
	if was, is := b.masks[slot], c.Core.Mask(slot); was != is {
		any = true
		fmt.Fprintf(w, "  lanes %08x, were %08x\n", is, was)
	}
	for i := range predicates {
		if was, is := b.preds[slot][i], c.Core.Predicate(slot, i); was != is {
			any = true
			fmt.Fprintf(w, "  P%d %08x, was %08x\n", i, is, was)
		}
	}
	for i := range registers {
		was, is := b.regs[slot][i], c.Core.Register(slot, i)
		if was == is {
			continue
		}
		any = true
		fmt.Fprintf(w, "  R%d %s\n", i, differences(&is, &was))
	}
	if !any {
		fmt.Fprintln(w, "  nothing")
	}
	return nil
}

// differences lists the lanes in which vectors differ. Neighbours with equal values or a
// constant step are combined.
func differences(is, was *kasm.Vector) string {
	var parts []string
	for l := 0; l < len(is); l++ {
		if is[l] == was[l] {
			continue
		}
		end := l
		for end+1 < len(is) && is[end+1] != was[end+1] && is[end+1]-is[end] == is[l+1]-is[l] && was[end+1]-was[end] == was[l+1]-was[l] {
			end++
		}
		if end == l+1 && (is[l] != is[end] || was[l] != was[end]) {
			end = l // any two values have a step
		}
		lanes := fmt.Sprint("lane ", l)
		if end > l {
			lanes = fmt.Sprintf("lanes %d-%d", l, end)
		}
		parts = append(parts, fmt.Sprintf("%s: %s, was %s", lanes, progression(is[l:end+1]), progression(was[l:end+1])))
		l = end
	}
	return strings.Join(parts, "; ")
}

// progression formats values with a constant step.
func progression(v []uint32) string {
	if len(v) == 1 || v[0] == v[1] {
		return fmt.Sprintf("%08x", v[0])
	}
	return fmt.Sprintf("%08x to %08x by %d", v[0], v[len(v)-1], int32(v[1]-v[0]))
}

// picture draws memory: rows of bits (the lowest of each byte on the left), bytes or
// words as pixels.
func (c *educational) picture(w io.Writer, addr uint64, width, height int, format string, shades bool) error {
	row := uint64(width) * 4
	switch format {
	case "bit":
		row = (uint64(width) + 7) / 8
	case "u8":
		row = uint64(width)
	}
	if format == "rgb" && addr%4 != 0 || addr+row*uint64(height) > 1<<32 {
		return fmt.Errorf("%#x is not a word of this memory, or the picture extends beyond its end", addr)
	}
	pixel := func(x, y int) uint32 {
		at := addr + uint64(y)*row
		switch format {
		case "bit":
			at += uint64(x) / 8
			return c.Core.Memory(uint32(at)) >> (at % 4 * 8) >> (x % 8) & 1
		case "u8":
			at += uint64(x)
			return c.Core.Memory(uint32(at)) >> (at % 4 * 8) & 255
		}
		return brightness(c.Core.Memory(uint32(at + 4*uint64(x))))
	}
	// In large pictures a character shows the brightest pixel of a square, so that no
	// line is lost.
	side := (width + mostColumns - 1) / mostColumns
	cols, rows := (width+side-1)/side, (height+side-1)/side
	values := make([]uint32, cols*rows)
	for y := range height {
		for x := range width {
			p := &values[y/side*cols+x/side]
			*p = max(*p, pixel(x, y))
		}
	}
	if side > 1 {
		fmt.Fprintf(w, "  one character is %d by %d pixels\n", side, side)
	}
	at := func(x, y int) uint32 {
		if y >= rows {
			return 0
		}
		return values[y*cols+x]
	}
	if shades {
		const ramp = " .:-=+*#%@"
		most := max(1, slices.Max(values))
		for y := range rows {
			line := make([]byte, cols)
			for x := range line {
				v := at(x, y)
				n := int(uint64(v) * uint64(len(ramp)-1) / uint64(most))
				if v > 0 {
					n = max(n, 1)
				}
				line[x] = ramp[n]
			}
			fmt.Fprintf(w, "  |%s|\n", line)
		}
		return nil
	}
	for y := 0; y < rows; y += 2 {
		line := make([]rune, cols)
		for x := range line {
			n := 0
			if at(x, y) != 0 {
				n = 1
			}
			if at(x, y+1) != 0 {
				n += 2
			}
			line[x] = [4]rune{' ', '▀', '▄', '█'}[n]
		}
		fmt.Fprintf(w, "  |%s|\n", string(line))
	}
	return nil
}

// brightness returns the largest of the lower three bytes (red, green and blue) of a
// colour, or a small number itself.
func brightness(v uint32) uint32 {
	if v < 256 {
		return v
	}
	return max(v>>16&255, v>>8&255, v&255, 1)
}

func (c *educational) pipeline(w io.Writer) {
	fmt.Fprintf(w, "fetch in the previous cycle: %s\n", spoken(c.Core.Did().String()))
	t := tabwriter.NewWriter(w, 0, 1, 2, ' ', 0)
	for _, q := range c.Core.Queues() {
		size := strconv.Itoa(q.Len)
		if q.Cap > 0 {
			size += fmt.Sprintf(" of %d", q.Cap)
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\n", q.Name, size, cmp.Or(q.What, "–"))
	}
	t.Flush()
}

// spoken returns a state's name in words.
func spoken(state string) string { return strings.ReplaceAll(state, "_", " ") }

func (c *educational) caches(w io.Writer, _ int) { fmt.Fprintln(w, "this core has no caches") }
