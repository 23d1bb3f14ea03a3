package step

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"github.com/heddle-sim/heddle/internal/near"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// chip is a GPU that is running work.
type chip struct {
	in    *run.Inside
	gpu   *gpu.GPU
	ended bool
}

func (c *chip) now() uint64         { return c.gpu.Now() }
func (c *chip) lookAt(cycle uint64) { c.gpu.LookAt(cycle) }
func (c *chip) end()                { c.ended = true }
func (c *chip) over() bool          { return c.ended }

// untilIssued is the goal that a warp issues n more instructions.
func (c *chip) untilIssued(sm, slot int, n uint64) (func() string, error) {
	core := c.gpu.Core(sm)
	first, ok := core.Stand(slot)
	if !ok {
		return nil, fmt.Errorf("no warp %d.%d at the moment", sm, slot)
	}
	return func() string {
		st, ok := core.Stand(slot)
		switch {
		case !ok || st.Age != first.Age:
			return fmt.Sprintf("warp %d.%d has ended", sm, slot)
		case st.Issued < first.Issued+n:
			return ""
		case st.Last >= 0:
			return fmt.Sprintf("warp %d.%d has issued %s", sm, slot, line(st.Work, int(st.Last)))
		}
		return reached
	}, nil
}

// line formats an instruction of a kernel.
func line(w exec.Work, at int) string { return gpu.Line(w, at) }

// plural formats a number with its noun.
func plural(n uint64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// status describes the progress of the run in one line.
func (c *chip) status() string {
	var warps, insts, sms uint64
	for i := range c.gpu.Config().SMs() {
		x := c.gpu.Core(i)
		n := x.Resident()
		warps += uint64(n)
		insts += x.Count().WarpInsts
		if n > 0 {
			sms++
		}
	}
	s := fmt.Sprintf("cycle %d: %s", c.gpu.Now(), plural(insts, "warp instruction", "warp instructions"))
	if warps > 0 {
		s += fmt.Sprintf("; %s on %s", plural(warps, "warp", "warps"), plural(sms, "SM", "SMs"))
	}
	for _, k := range c.gpu.Running() {
		s += fmt.Sprintf("; %s: %d of %s placed, %d ended", k.Name, k.Placed(), plural(k.Total(), "block", "blocks"), k.Blocks)
		if k.Latency() > 0 {
			s += fmt.Sprintf(", %s of launch latency left", plural(k.Latency(), "cycle", "cycles"))
		}
	}
	return s
}

func (c *chip) slots(sm int) (int, error) {
	if n := c.gpu.Config().SMs(); sm < 0 || sm >= n {
		return 0, fmt.Errorf("no SM %d; the SMs are 0 to %d", sm, n-1)
	}
	return c.gpu.Core(sm).Slots(), nil
}

// firstWarp returns the first resident warp.
func (c *chip) firstWarp() (sm, slot int, ok bool) {
	for sm := range c.gpu.Config().SMs() {
		if list := c.gpu.Core(sm).Views(); len(list) > 0 {
			return sm, list[0].Slot, true
		}
	}
	return 0, 0, false
}

// each calls f for SM sm, or for all.
func (c *chip) each(sm int, f func(sm int, x gpu.Core)) {
	for i := range c.gpu.Config().SMs() {
		if sm < 0 || i == sm {
			f(i, c.gpu.Core(i))
		}
	}
}

// untilEnd is the goal that one of the running kernels ends.
func (c *chip) untilEnd() (func() string, error) {
	over := func(k *gpu.Kernel) bool { return k.Blocks == k.Total() }
	running := slices.DeleteFunc(slices.Clone(c.gpu.Running()), over)
	return func() string {
		for _, k := range running {
			if over(k) {
				return fmt.Sprintf("the last block of kernel %s has ended", k.Name)
			}
		}
		// A kernel that began later may end first.
		for _, k := range c.gpu.Running() {
			if !over(k) && !slices.Contains(running, k) {
				running = append(running, k)
			}
		}
		return ""
	}, nil
}

// untilBlock is the goal that a block is placed.
func (c *chip) untilBlock(text string) (func() string, error) {
	var idx exec.Dim3
	var n uint64
	parts := strings.Split(strings.Trim(text, "()"), ",")
	linear := len(parts) == 1
	for i, p := range parts {
		v, err := strconv.ParseUint(p, 0, 32)
		if err != nil || i > 2 {
			return nil, fmt.Errorf("%q is not a block; want its number, or X,Y,Z", text)
		}
		n = v
		*[]*uint32{&idx.X, &idx.Y, &idx.Z}[i] = uint32(v)
	}
	type place struct {
		k exec.Work
		b uint64
	}
	is := func(b exec.Block) bool { return linear && b.Linear() == n || !linear && b.Index() == idx }
	old := map[place]bool{}
	find := func(f func(sm int, b gpu.BlockView) bool) {
		for sm := range c.gpu.Config().SMs() {
			for _, b := range c.gpu.Core(sm).ResidentBlocks() {
				if is(b.Block) && f(sm, b) {
					return
				}
			}
		}
	}
	find(func(_ int, b gpu.BlockView) bool {
		old[place{b.Work, b.Block.Linear()}] = true
		return false
	})
	if linear {
		most, open := uint64(0), false
		for _, k := range c.gpu.Launches() {
			most = max(most, k.Total())
			open = open || n < k.Total() && k.Placed() <= n
		}
		if !open {
			return nil, fmt.Errorf("block %d is not waiting to be placed; the largest grid has blocks 0 to %d", n, int64(most)-1)
		}
	}
	return func() string {
		s := ""
		find(func(sm int, b gpu.BlockView) bool {
			if !old[place{b.Work, b.Block.Linear()}] {
				s = fmt.Sprintf("block %v of kernel %s is on SM %d", b.Block.Index(), b.Work.Name(), sm)
			}
			return s != ""
		})
		return s
	}, nil
}

// untilPC is the goal that a warp reaches an instruction.
func (c *chip) untilPC(text string) (func() string, error) {
	function, num := "", text
	if i := strings.LastIndexByte(text, ':'); i >= 0 {
		function, num = text[:i], text[i+1:]
	}
	pc, err := strconv.Atoi(num)
	if err != nil {
		return nil, fmt.Errorf("%q is not an instruction; want its number, or FUNCTION:NUMBER", text)
	}
	goal := c.untilAt(func(w exec.Where) bool { return w.PC == pc && w.Function == cmp.Or(function, w.Kernel) })
	if goal == nil {
		var has []string
		for _, k := range c.gpu.Launches() {
			last := -1
			for i := range k.Work().Code() {
				if w := gpu.Source(k.Work(), i); w.Function == cmp.Or(function, w.Kernel) {
					last = max(last, w.PC)
				}
			}
			if s := fmt.Sprintf("%s has 0 to %d", cmp.Or(function, k.Name), last); last >= 0 && !slices.Contains(has, s) {
				has = append(has, s)
			}
		}
		if len(has) == 0 {
			return nil, fmt.Errorf("no kernel has a function %s", function)
		}
		return nil, fmt.Errorf("no instruction %s; %s", text, strings.Join(has, ", "))
	}
	return goal, nil
}

// untilLine is the goal that a warp reaches a line of a program or of its source.
func (c *chip) untilLine(text string) (func() string, error) {
	file, num := "", text
	if i := strings.LastIndexByte(text, ':'); i >= 0 {
		file, num = text[:i], text[i+1:]
	}
	n, err := strconv.Atoi(num)
	if err != nil {
		return nil, fmt.Errorf("%q is not a line; want its number, or FILE:NUMBER", text)
	}
	is := func(path string) bool { return path == file || filepath.Base(path) == file }
	ptx := func(w exec.Where) bool { return (file == "" || is(w.File)) && w.Inst != "" }
	src := func(w exec.Where) bool { return file != "" && w.SrcLine > 0 && is(w.SrcFile) }
	goal := c.untilAt(func(w exec.Where) bool {
		return ptx(w) && int(w.Pos.Line) == n || src(w) && w.SrcLine == n
	})
	if goal != nil {
		return goal, nil
	}
	best, dist := 0, math.MaxInt
	for _, k := range c.gpu.Launches() {
		for i := range k.Work().Code() {
			w := gpu.Source(k.Work(), i)
			for _, l := range [2]struct {
				ok bool
				n  int
			}{{ptx(w), int(w.Pos.Line)}, {src(w), w.SrcLine}} {
				if d := max(l.n-n, n-l.n); l.ok && d < dist {
					best, dist = l.n, d
				}
			}
		}
	}
	if best == 0 {
		return nil, fmt.Errorf("no instruction of any kernel comes from a file %q", file)
	}
	return nil, fmt.Errorf("no instruction on line %s; the nearest is on line %d", text, best)
}

// untilAt is the goal that a warp reaches an instruction for which match holds, nil if no
// kernel has one.
func (c *chip) untilAt(match func(exec.Where) bool) func() string {
	marks := map[exec.Work][]bool{}
	mark := func(w exec.Work) []bool {
		m, ok := marks[w]
		if !ok {
			for i := range w.Code() {
				if match(gpu.Source(w, i)) {
					if m == nil {
						m = make([]bool, len(w.Code()))
					}
					m[i] = true
				}
			}
			marks[w] = m
		}
		return m
	}
	any := false
	for _, k := range c.gpu.Launches() {
		any = mark(k.Work()) != nil || any
	}
	if !any {
		return nil
	}
	type stand struct {
		gpu.Stands
		ok bool
	}
	last := make([][]stand, c.gpu.Config().SMs())
	look := func(came func(sm, slot int, st gpu.Stands, at int32) bool) {
		for sm := range last {
			x := c.gpu.Core(sm)
			if last[sm] == nil {
				last[sm] = make([]stand, x.Slots())
			}
			for s := range last[sm] {
				st, ok := x.Stand(s)
				old := last[sm][s]
				last[sm][s] = stand{st, ok}
				if !ok || old.ok && old.Stands == st {
					continue
				}
				same := old.ok && old.Age == st.Age
				if same && old.Next == st.Next && old.Issued == st.Issued {
					continue
				}
				if came(sm, s, st, st.Next) {
					return
				}
				// It may have reached an instruction and issued it in the same cycle.
				if (!same || old.Next != st.Last) && came(sm, s, st, st.Last) {
					return
				}
			}
		}
	}
	look(func(int, int, gpu.Stands, int32) bool { return false })
	return func() string {
		s := ""
		look(func(sm, slot int, st gpu.Stands, at int32) bool {
			if m := mark(st.Work); at < 0 || m == nil || !m[at] {
				return false
			}
			what := "has reached"
			if at != st.Next {
				what = "has reached and issued"
			}
			if s == "" {
				s = fmt.Sprintf("warp %d.%d %s %s", sm, slot, what, line(st.Work, int(at)))
			}
			return false // the positions of the others are still recorded
		})
		return s
	}
}

// where prints the progress of the run and the state of the selected warp.
func (c *chip) where(w io.Writer, sm, slot int) {
	fmt.Fprintln(w, c.status())
	for _, k := range c.gpu.Running() {
		fmt.Fprintf(w, "kernel %s: launched in cycle %d, at most %s per SM (%s)\n", k.Name, k.Start, plural(uint64(k.MaxBlocks), "block", "blocks"), k.LimitedBy)
	}
	if slot < 0 {
		return
	}
	if v, ok := c.gpu.Core(sm).View(slot); ok {
		fmt.Fprintln(w, c.gpu.Requests().DescribeWarp(sm, &v))
	} else {
		fmt.Fprintf(w, "the selected warp %d.%d is not on its SM\n", sm, slot)
	}
}

// mostWarps is the largest number of warps that are listed individually.
const mostWarps = 64

// states prints the number of warps in each state for each SM.
func (c *chip) states(w io.Writer) {
	c.each(-1, func(i int, x gpu.Core) {
		n := map[string]int{}
		list := x.Views()
		for _, v := range list {
			n[v.State]++
		}
		if len(list) == 0 {
			return
		}
		var parts []string
		for _, st := range c.gpu.States() {
			if n[st] > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", n[st], st))
			}
		}
		fmt.Fprintf(w, "SM %d: %s: %s\n", i, plural(uint64(len(list)), "warp", "warps"), strings.Join(parts, ", "))
	})
	fmt.Fprintln(w, "warps SM lists those of one SM")
}

// warps prints a table of warps.
func (c *chip) warps(w io.Writer, sm int) {
	if sm < 0 {
		all := 0
		c.each(-1, func(_ int, x gpu.Core) { all += x.Resident() })
		if all > mostWarps {
			c.states(w)
			return
		}
	}
	t := tabwriter.NewWriter(w, 0, 1, 2, ' ', 0)
	n := 0
	c.each(sm, func(i int, x gpu.Core) {
		for _, v := range x.Views() {
			if n == 0 {
				fmt.Fprintln(t, "warp\tblock\tin block\tstate\tactive\tlive\tin flight\tnext")
			}
			n++
			next := "-"
			if v.At >= 0 {
				next = line(v.Work, v.At)
			}
			fmt.Fprintf(t, "%d.%d\t%v\t%d\t%v\t%08x\t%08x\t%d\t%s\n", i, v.Slot, v.Block.Index(), v.InBlock, v.State, uint32(v.Active), uint32(v.Live), len(v.Flights), next)
		}
	})
	if n == 0 {
		fmt.Fprintln(t, "no warps")
	}
	t.Flush()
}

// warp prints the state of a warp except its registers.
func (c *chip) warp(w io.Writer, sm, slot int) error {
	v, ok := c.gpu.Core(sm).View(slot)
	if !ok {
		return fmt.Errorf("no warp %d.%d at the moment", sm, slot)
	}
	q := c.gpu.Requests()
	fmt.Fprintln(w, q.DescribeWarp(sm, &v))
	fmt.Fprintf(w, "  lanes: %08x live, %08x active; %s issued from its slot\n", uint32(v.Live), uint32(v.Active), plural(v.Issued, "instruction", "instructions"))
	if x, ok := v.Exec.(exec.Inspector); ok {
		for _, f := range x.Fragments() {
			fmt.Fprintf(w, "  lanes %08x at pc %s %s\n", uint32(f.Lanes), place(v.Work, f.Function, f.PC), cmp.Or(f.Waits, "can run"))
		}
		for _, j := range x.Joins() {
			at := "the end of " + j.Function
			if j.PC >= 0 {
				at = "pc " + place(v.Work, j.Function, j.PC)
			}
			fmt.Fprintf(w, "  reconverge at %s: %08x came, %08x to come\n", at, uint32(j.Came), uint32(j.Missing))
		}
	}
	var buffer []string
	for _, at := range v.Buffer {
		buffer = append(buffer, line(v.Work, at))
	}
	switch {
	case v.Missed:
		buffer = append(buffer, "instruction cache miss")
	case len(buffer) == 0:
		buffer = append(buffer, "empty")
	}
	fmt.Fprintf(w, "  instruction buffer: %s\n", strings.Join(buffer, ", "))
	fmt.Fprintf(w, "  waits for the results of %s, %s, %s, %s\n", plural(uint64(v.Reserved), "register", "registers"),
		plural(uint64(v.Stores), "store", "stores"), plural(uint64(v.Atomics), "lane of atomics", "lanes of atomics"), plural(uint64(v.Copies), "copy", "copies"))
	for i := range v.Flights {
		f := &v.Flights[i]
		fmt.Fprintf(w, "  in flight: %s, lanes %08x, in %s", line(v.Work, f.At), uint32(f.Lanes), f.Place)
		if f.Unsent > 0 {
			fmt.Fprintf(w, ", %s to send", plural(uint64(f.Unsent), "access", "accesses"))
		}
		if f.Unanswered > 0 {
			fmt.Fprintf(w, ", %d not answered", f.Unanswered)
		}
		if f.Blocks {
			fmt.Fprint(w, "; the next instruction waits for it")
		}
		fmt.Fprintln(w)
	}
	const most = 8
	list := q.Of(sm, slot, func(*mem.Req) bool { return true })
	for i, r := range list {
		if i == most {
			fmt.Fprintf(w, "  %d more requests\n", len(list)-most)
			break
		}
		fmt.Fprintf(w, "  request: %v of %d bytes at %#x, sent in cycle %d, %s\n", r.Kind, r.Size, r.Addr, r.Born, q.Place(r))
	}
	return nil
}

// place formats an instruction with its function.
func place(k exec.Work, function string, pc int) string {
	if function == "" || function == k.Name() {
		return strconv.Itoa(pc)
	}
	return fmt.Sprintf("%s:%d", function, pc)
}

// regs prints registers.
func (c *chip) regs(w io.Writer, sm, slot, lane int, names []string) error {
	v, ok := c.gpu.Core(sm).View(slot)
	if !ok {
		return fmt.Errorf("no warp %d.%d at the moment", sm, slot)
	}
	x, ok := v.Exec.(exec.Inspector)
	if !ok {
		return errors.New("no registers to show: a trace has no values")
	}
	if v.Live == 0 {
		return fmt.Errorf("all lanes of warp %d.%d have exited", sm, slot)
	}
	at := lane
	if at < 0 {
		at = cmp.Or(v.Active, v.Live).First()
	}
	f, ok := x.Frame(at)
	if !ok {
		return fmt.Errorf("lane %d of warp %d.%d is not live", at, sm, slot)
	}
	known := map[string]bool{}
	for _, r := range f.Registers {
		known[r.Name] = true
	}
	for _, n := range names {
		if !known[n] {
			hint := ""
			if found := near.Name(n, mapKeys(known)); found != "" {
				hint = fmt.Sprintf("; did you mean %s?", found)
			}
			return fmt.Errorf("function %s uses no register %q%s", f.Function, n, hint)
		}
	}
	what := fmt.Sprintf("lanes %08x", uint32(f.Lanes))
	if lane >= 0 {
		what = fmt.Sprintf("lane %d", lane)
	}
	fmt.Fprintf(w, "warp %d.%d, function %s, %s\n", sm, slot, f.Function, what)
	return printRegisters(w, f.Registers, f.Lanes, lane, names)
}

// printRegisters prints the registers of a list that have one of the names, or all, in
// one lane or, if lane is -1, in all lanes.
func printRegisters(w io.Writer, list []exec.Register, lanes isa.LaneMask, lane int, names []string) error {
	t := tabwriter.NewWriter(w, 0, 1, 2, ' ', 0)
	for i := range list {
		r := &list[i]
		if len(names) > 0 && !slices.Contains(names, r.Name) {
			continue
		}
		if lane >= 0 {
			fmt.Fprintf(t, "  %s\t%s\t%s\n", r.Name, r.Type, value(r, lane))
			continue
		}
		if r.Bits == 1 {
			m := uint32(0)
			for l := range 32 {
				m |= uint32(r.Lo[l]&1) << l
			}
			fmt.Fprintf(t, "  %s\t%s\tholds in %08x\n", r.Name, r.Type, m&uint32(lanes))
			continue
		}
		lead := fmt.Sprintf("  %s\t%s", r.Name, r.Type)
		for _, row := range rows(r, lanes) {
			fmt.Fprintf(t, "%s\t%s\n", lead, row)
			lead = "\t"
		}
	}
	return t.Flush()
}

func mapKeys(m map[string]bool) []string {
	var list []string
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

// rows formats a register's values in all lanes, with runs of equal values, and of
// integers with a constant step, combined.
func rows(r *exec.Register, lanes isa.LaneMask) []string {
	const short = 4 // runs up to this length are written out
	whole := r.Type != ".f32" && r.Type != ".f64" && r.Bits <= 64
	mask := ^uint64(0) >> (64 - min(64, r.Bits))
	var cells []string
	for l := 0; l < 32; {
		if lanes>>l&1 == 0 {
			l++
			continue
		}
		// The longest run from here with a constant difference.
		run := func(step uint64) int {
			end := l + 1
			for end < 32 && lanes>>end&1 != 0 && (r.Lo[end]-r.Lo[end-1])&mask == step && r.Hi[end] == r.Hi[l] {
				end++
			}
			return end
		}
		end, step := run(0), uint64(0)
		if end == l+1 && end < 32 && whole {
			d := (r.Lo[end] - r.Lo[l]) & mask
			if e := run(d); e >= l+short {
				end, step = e, d
			}
		}
		name := strconv.Itoa(l)
		if end > l+1 {
			name += fmt.Sprintf("-%d", end-1)
		}
		cell := fmt.Sprintf("%s: %s", name, value(r, l))
		if step != 0 {
			by := strconv.FormatUint(step, 10)
			if step > mask>>1 {
				by = "-" + strconv.FormatUint(-step&mask, 10)
			}
			cell += fmt.Sprintf(" to %s by %s", value(r, end-1), by)
		}
		cells = append(cells, cell)
		l = end
	}
	const perRow = 4
	var list []string
	for part := range slices.Chunk(cells, perRow) {
		list = append(list, strings.Join(part, "   "))
	}
	return list
}

// value formats a register's value in a lane, by its declared type.
func value(r *exec.Register, lane int) string {
	v := r.Lo[lane]
	switch r.Type {
	case ".pred":
		return strconv.FormatUint(v, 10)
	case ".f32":
		return fmt.Sprintf("%v (0x%08x)", math.Float32frombits(uint32(v)), uint32(v))
	case ".f64":
		return fmt.Sprintf("%v (0x%016x)", math.Float64frombits(v), v)
	case ".s16":
		return strconv.Itoa(int(int16(v)))
	case ".s32":
		return strconv.Itoa(int(int32(v)))
	case ".s64":
		return strconv.FormatInt(int64(v), 10)
	case ".u8", ".u16", ".u32", ".u64":
		return strconv.FormatUint(v, 10)
	}
	if r.Bits > 64 {
		return fmt.Sprintf("0x%016x%016x", r.Hi[lane], v)
	}
	return fmt.Sprintf("0x%0*x", r.Bits/4, v)
}

// mem prints device memory.
func (c *chip) mem(w io.Writer, at string, n uint64, typeName string) error {
	base, plus, _ := strings.Cut(at, "+")
	if c.in.Memory == nil {
		return errors.New("no memory to show: a trace has addresses but no values")
	}
	typ := job.U32
	addr, err := strconv.ParseUint(base, 0, 64)
	if err != nil {
		i := slices.IndexFunc(c.in.Buffers, func(b run.Buffer) bool { return b.Name == base })
		if i < 0 {
			var names []string
			for _, b := range c.in.Buffers {
				names = append(names, b.Name)
			}
			hint := "; there are no buffers"
			if slices.Sort(names); len(names) > 0 {
				hint = "; the buffers are " + strings.Join(names, ", ")
			}
			return fmt.Errorf("%q is neither an address nor a buffer%s", base, hint)
		}
		addr, typ = c.in.Buffers[i].Addr, job.TypeByName(c.in.Buffers[i].Type)
	}
	if plus != "" {
		off, err := strconv.ParseUint(plus, 0, 64)
		if err != nil {
			return fmt.Errorf("%q is not a number of bytes", plus)
		}
		addr += off
	}
	if typeName != "" {
		if typ = job.TypeByName(typeName); typ == job.NoType {
			return fmt.Errorf("unknown type %q; want a type such as u8, s16, u32, f32 or f64", typeName)
		}
	}
	const most = 4096
	n = cmp.Or(n, 8)
	if n > most {
		return fmt.Errorf("%d values exceed the limit of %d", n, most)
	}
	size := uint64(typ.Size())
	b, err := c.in.Memory.Bytes(addr, n*size)
	if err != nil {
		return err
	}
	const perRow = 8
	for i := uint64(0); i < n; i++ {
		if i%perRow == 0 {
			if i > 0 {
				fmt.Fprintln(w)
			}
			fmt.Fprintf(w, "  %#x:", addr+i*size)
		}
		var raw [8]byte
		copy(raw[:], b[i*size:(i+1)*size])
		fmt.Fprintf(w, " %s", typ.Format(binary.LittleEndian.Uint64(raw[:])))
	}
	fmt.Fprintln(w)
	return nil
}

// queues prints the contents of the SMs' pipelines and, for all SMs, of the networks and
// the memory. Empty queues are left out.
func (c *chip) queues(w io.Writer, sm int) {
	t := tabwriter.NewWriter(w, 0, 1, 2, ' ', 0)
	any := false
	row := func(who, name string, n, limit int, what string) {
		if n == 0 {
			return
		}
		any = true
		size := strconv.Itoa(n)
		if limit > 0 {
			size += fmt.Sprintf(" of %d", limit)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", who, name, size, what)
	}
	c.each(sm, func(i int, x gpu.Core) {
		for _, q := range x.Queues() {
			row(fmt.Sprintf("SM %d", i), q.Name, q.Len, q.Cap, q.What)
		}
	})
	if sm < 0 {
		c.outside(row)
	}
	if !any {
		fmt.Fprintln(t, "nothing in flight")
	}
	t.Flush()
}

// outside lists the queues between the SMs and the DRAM.
func (c *chip) outside(row func(who, name string, n, limit int, what string)) {
	g := c.gpu
	for i := range g.Config().Clusters {
		n, limit := g.Memory().Waiting(i)
		row(fmt.Sprintf("cluster %d", i), "replies", n, limit, "")
	}
	request, reply := g.Memory().Requests, g.Memory().Replies
	way, there := request.Packets()
	row("request network", "under way", way, 0, "")
	row("request network", "arrived", there, 0, "")
	way, there = reply.Packets()
	row("reply network", "under way", way, 0, "")
	row("reply network", "arrived", there, 0, "")
	p := g.Memory().Parts
	cfg := p.Config()
	for s := range p.Subs() {
		o := p.Occupancy(s)
		who := fmt.Sprintf("L2 slice %d", s)
		row(who, "delay before it", o.Delay, 0, "")
		row(who, "queue to it", o.ToL2, cfg.Queues.ToL2, "")
		row(who, "pending misses", o.Misses, cfg.L2.Entries, "")
		row(who, "miss queue", o.MissLen, cfg.L2.MissQueue, "")
		row(who, "queue to the DRAM", o.ToDRAM, cfg.Queues.ToDRAM, "")
		row(who, "queue from the DRAM", o.FromDRAM, cfg.Queues.FromDRAM, "")
		row(who, "queue to the network", o.ToNet, cfg.Queues.ToNet, "")
	}
	per := p.Subs() / p.Channels()
	for ch := range p.Channels() {
		o := p.Occupancy(ch * per)
		who := fmt.Sprintf("DRAM channel %d", ch)
		row(who, "delay before it", o.Latency, 0, "")
		row(who, "waiting for banks", o.Scheduler, 0, "")
		row(who, "answered", o.Returned, 0, "")
	}
}

// caches prints the caches' contents and counters, without unused caches.
func (c *chip) caches(w io.Writer, sm int) {
	t := tabwriter.NewWriter(w, 0, 1, 2, ' ', 0)
	fmt.Fprintln(t, "cache\tlines with data\twaiting\tdirty\tof\tpending misses\taccesses\thits\tpending hits\tmisses\trefused")
	any := false
	row := func(name string, x *cache.Cache) {
		if x == nil || x.Stats.Total() == 0 && x.Stats.Of(cache.Fail) == 0 {
			return
		}
		any = true
		valid, reserved, dirty, all := x.Lines()
		s := &x.Stats
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", name, valid, reserved, dirty, all, x.Pending(),
			s.Total(), s.Of(cache.Hit), s.Of(cache.HitReserved), s.Misses(), s.Of(cache.Fail))
	}
	c.each(sm, func(i int, x gpu.Core) {
		row(fmt.Sprintf("SM %d L1D", i), x.L1D())
		row(fmt.Sprintf("SM %d constant", i), x.L1C())
		row(fmt.Sprintf("SM %d instruction", i), x.L1I())
		if l := x.L1T(); l != nil && l.Stats.Total() > 0 {
			any = true
			valid, all := l.Lines()
			s := &l.Stats
			fmt.Fprintf(t, "SM %d texture\t%d\t-\t-\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", i, valid, all, l.Pending(),
				s.Total(), s.Of(cache.Hit), s.Of(cache.HitReserved), s.Misses(), s.Of(cache.Fail))
		}
	})
	if sm < 0 {
		p := c.gpu.Memory().Parts
		for s := range p.Subs() {
			row(fmt.Sprintf("L2 slice %d", s), p.L2(s))
		}
	}
	if !any {
		fmt.Fprintln(w, "no cache has been accessed yet")
		return
	}
	t.Flush()
}
