package step

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/sm/kepler"
)

// Kepler is a core of the Kepler-style machine set up to run.
type Kepler struct {
	Core *kepler.Core
	// Line says where an instruction of a program stands in its text; line 0
	// for one that nobody knows.
	Line func(program, pc int) (file string, line int)
}

// RunKepler runs a core through its conversation: start sets one up, and does
// so again whenever the user goes back. The core is the one that ran last; it
// has done, or is stuck, has a fault or has come to the limit of cycles. The
// error is that of start, or says that the user has left.
func (s *Session) RunKepler(start func() (Kepler, error), limit uint64) (*kepler.Core, error) {
	var core *kepler.Core
	err := s.repeat(func() error {
		k, err := start()
		if err != nil {
			return err
		}
		core = k.Core
		c := &educational{Kepler: k}
		s.m = c
		over := func() bool { return core.Ended() || !core.Done() && core.Cycle() >= limit }
		for {
			if err := s.look(); err != nil {
				return err
			}
			if over() {
				return nil
			}
			core.Step()
			if err := s.ctx.Err(); err != nil {
				return err
			}
		}
	})
	return core, err
}

// educational is the Kepler-style core as a session looks at it: one SM, no
// caches.
type educational struct {
	Kepler
	ended bool
}

func (c *educational) now() uint64   { return c.Core.Cycle() }
func (c *educational) lookAt(uint64) {} // every cycle is looked at
func (c *educational) end()          { c.ended = true }
func (c *educational) over() bool    { return c.ended }

func (c *educational) status() string {
	st := c.Core.Stats()
	n := 0
	for w := range kepler.Warps {
		if c.live(w) {
			n++
		}
	}
	s := fmt.Sprintf("cycle %d: %s; %s", c.now(), plural(st.Instructions(), "warp instruction", "warp instructions"), plural(uint64(n), "warp runs", "warps run"))
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
		return 0, fmt.Errorf("there is no SM %d; there is only SM 0", sm)
	}
	return kepler.Warps, nil
}

func (c *educational) firstWarp() (sm, slot int, ok bool) {
	for w := range kepler.Warps {
		if c.live(w) {
			return 0, w, true
		}
	}
	return 0, 0, false
}

// at names an instruction.
func (c *educational) at(program, pc int) string {
	s := fmt.Sprintf("pc %d %s", pc, c.Core.Text(program, pc))
	if file, n := c.Line(program, pc); n > 0 {
		s += fmt.Sprintf(" (%s:%d)", file, n)
	}
	return s
}

func (c *educational) untilIssued(sm, slot int, n uint64) (func() string, error) {
	if !c.live(slot) {
		return nil, fmt.Errorf("warp 0.%d does not run", slot)
	}
	last := c.Core.View(slot)
	var done uint64
	return func() string {
		v := c.Core.View(slot)
		done += uint64(v.Issued - last.Issued)
		was := last
		last = v
		switch {
		case done >= n:
			return fmt.Sprintf("warp 0.%d has sent %s on its way", slot, c.at(was.Program, int(was.PC)))
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
		f, l := c.Line(program, pc)
		return l == n && (file == "" || f == file)
	}
	for w := range kepler.Warps {
		for pc := range 256 {
			if c.Core.Started(w) && match(c.Core.View(w).Program, pc) {
				return c.untilAt(match), nil
			}
		}
	}
	return nil, fmt.Errorf("no instruction stands on line %s", text)
}

// untilAt is the goal that a warp is about to fetch an instruction for which
// match holds.
func (c *educational) untilAt(match func(program, pc int) bool) func() string {
	type stand struct {
		pc     uint32
		issued uint16
		live   bool
	}
	var last [kepler.Warps]stand
	look := func() (found int) {
		found = -1
		for w := range last {
			v := c.Core.View(w)
			st := stand{v.PC, v.Issued, c.live(w)}
			if st.live && st != last[w] && found < 0 && match(v.Program, int(v.PC)) {
				found = w
			}
			last[w] = st
		}
		return found
	}
	look()
	return func() string {
		w := look()
		if w < 0 {
			return ""
		}
		v := c.Core.View(w)
		return fmt.Sprintf("warp 0.%d comes to %s", w, c.at(v.Program, int(v.PC)))
	}
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
	fmt.Fprintln(t, "warp\tstate\tlanes\ttransactions\tnext")
	for i := range kepler.Warps {
		if c.Core.Started(i) {
			v := c.Core.View(i)
			fmt.Fprintf(t, "0.%d\t%v\t%08x\t%d\t%s\n", i, v.Status, v.Mask, v.Outstanding, c.at(v.Program, int(v.PC)))
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
	fmt.Fprintf(w, "  registers with results to come: %s; predicates: %s\n", list("R", v.Busy), list("P", v.BusyPreds))
	fmt.Fprintf(w, "  transactions not answered: %d\n", v.Outstanding)
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
			return fmt.Errorf("there is no register %q; they are R0 to R%d and P0 to P%d", n, registers-1, predicates-1)
		}
	}
	what := "all lanes; registers that are zero in all of them are left out"
	if lane >= 0 {
		what = fmt.Sprintf("lane %d; registers that are zero in all lanes are left out", lane)
	}
	fmt.Fprintf(w, "warp 0.%d, %s\n", slot, what)
	return printRegisters(w, list, ^isa.LaneMask(0), lane, names)
}

// Sizes of a warp's register files that are shown; predicate 7 is always true.
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
		return fmt.Errorf("%d values are more than %d", n, 4096)
	}
	if typeName != "" && typeName != "u32" {
		return fmt.Errorf("this memory is shown as words; leave %q out", typeName)
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
		fmt.Fprintln(t, "nothing is under way")
	}
	t.Flush()
}

func (c *educational) caches(w io.Writer, _ int) { fmt.Fprintln(w, "this core has no caches") }
