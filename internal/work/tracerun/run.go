package tracerun

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/replay"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/mnemonic"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/trace"
)

// Options are the settings of a run that are not part of its trace.
type Options = run.Options

// ahead is the number of actions that are submitted to the chip in advance: enough that
// several streams have work (our choice).
const ahead = 16

// mostFilled limits the bytes of one copy that go through the L2: these replace all
// earlier ones. The largest L2 of a built-in machine has 128 MiB; eight times as much is
// our choice.
const mostFilled = 1 << 30

// sized is a source with a known amount of data.
type sized interface{ Size() int64 }

// launch is a launch of the list.
type launch struct {
	number  int
	command int // its place in the set
	src     trace.Source
	head    trace.Header
	op      *gpu.Op
	work    *replay.Work
	again   *replay.Work // its rehearsal, if there is one
	size    int64

	warnings []string
}

// opened is a launch that has been read.
type opened struct {
	k    *trace.Kernel
	join replay.JoinReport
	err  error
}

// close releases the resources of a launch.
func (o *opened) close() {
	if o.k != nil {
		_ = o.k.Blocks.Close() // opened for reading only
	}
}

// runner is the state of one run.
type runner struct {
	set *trace.Set
	opt Options
	ses *run.Session
	rep replay.Options

	launches []*launch   // by number
	next     int         // the next command to submit
	given    int         // launches before it
	fed      []submitted // commands that have not ended, and some that have
	past     []bool      // by command: it has ended, as far as known
	read     chan opened // in the order in which launches are submitted
	stopped  <-chan struct{}
	running  map[*replay.Work]*launch
	done     int // completed launches
	warned   map[string]bool
	unknown  map[string]*report.UnknownOp
}

// maxDetailed is how many launches the result lists with their instructions, our choice: traces
// may have any number.
const maxDetailed = 100

// Run replays a trace. The result is valid also when an error is returned: a
// *trace.Error, *exec.LimitError, *exec.StuckError, *exec.LaunchError, or a context's
// error.
func Run(ctx context.Context, set *trace.Set, opt Options) (*report.Run, error) {
	opt.Timing = true
	x := &runner{
		set: set, opt: opt, ses: run.NewSession(run.Trace, set.Name, opt), running: map[*replay.Work]*launch{},
		unknown: map[string]*report.UnknownOp{}, warned: map[string]bool{},
	}
	x.ses.Detailed = maxDetailed
	x.ses.Res.Trace = &report.Trace{Form: set.Form, Warnings: slices.Clone(set.Warnings), Arch: []int{}, Control: []string{}}
	for _, w := range set.Warnings {
		x.warned[w] = true
	}
	return x.ses.End(x.run(ctx))
}

func (x *runner) run(ctx context.Context) error {
	if err := x.setup(); err != nil {
		return err
	}
	if err := x.ses.Keep(x); err != nil {
		return err
	}
	reading, stop := context.WithCancel(ctx)
	x.readAhead(reading)
	defer func() {
		stop()
		go func() { // ends after the launch that is being read
			for o := range x.read {
				o.close()
			}
		}()
	}()
	x.ses.Ended = x.ended
	x.ses.Look(&run.Inside{})
	x.ses.Chip.Feed(ahead, x.feed)
	err := x.ses.Finish(ctx)
	x.rest()
	return err
}

// setup makes the chip and finds the launches.
func (x *runner) setup() error {
	name := x.ses.Res.GPU
	cfg, err := x.opt.Settings.Machine(name)
	if err != nil {
		return err
	}
	// In trace mode Accel-Sim starts the next kernel after the last block, with
	// requests still in flight, and its clocks continue.
	cfg.Compat.DrainBetween, cfg.Compat.ClocksRestart = false, false
	if err := x.ses.PlugIn(name, cfg); err != nil {
		return err
	}
	if err := x.rules(&cfg); err != nil {
		return err
	}
	selected := 0
	x.past = make([]bool, len(x.set.Commands))
	for i := range x.set.Commands {
		src := x.set.Commands[i].Launch
		if src == nil {
			continue
		}
		l := &launch{number: len(x.launches), command: i, src: src, size: 1}
		x.launches = append(x.launches, l)
		if l.head, err = src.Header(); err != nil {
			l.head = trace.Header{Kernel: src.Name()} // Open reports the error in turn
		}
		if s, ok := src.(sized); ok {
			l.size = max(1, s.Size())
		}
		if x.opt.Select.Has(l.number, l.head.Kernel) {
			selected++
			x.ses.Weight += float64(l.size)
		}
	}
	x.ses.Res.Trace.Launches, x.ses.Launches = len(x.launches), len(x.launches)
	if len(x.launches) > 0 && selected == 0 {
		return fmt.Errorf("the selection %s matches none of the trace's %s (0 to %d)", x.opt.Select, report.Plural(len(x.launches), "launch", "launches"), len(x.launches)-1)
	}
	if len(x.launches) == 0 {
		return fmt.Errorf("%s: the trace has no launches", x.set.Name)
	}
	x.archs(cfg.Arch)
	return nil
}

// archs records the architectures of the trace, and warns if they differ from the
// machine's.
func (x *runner) archs(machine int) {
	t := x.ses.Res.Trace
	for _, l := range x.launches {
		if a := l.head.Arch; a > 0 && !slices.Contains(t.Arch, a) {
			t.Arch = append(t.Arch, a)
		}
	}
	slices.Sort(t.Arch)
	for _, a := range t.Arch {
		if machine > 0 && a != machine {
			x.warn(fmt.Sprintf("the trace is for sm_%d, but %s is sm_%d: instructions run as on that machine if it has them", a, x.ses.Res.GPU, machine))
		}
	}
}

// rules converts the settings to options of replay.
func (x *runner) rules(cfg *gpu.Config) error {
	word := func(key, def string) string {
		if v, ok := x.opt.Settings.Conditions[key].(string); ok {
			return v
		}
		return def
	}
	hidden := "recover"
	if cfg.Compat.AccelSimTraces {
		hidden = "off"
	}
	o := &x.rep
	var err error
	if o.Hidden, err = replay.ParseHidden(word("trace.hidden_dependences", hidden)); err != nil {
		return err
	}
	bits, obeys := cfg.Core.(core.ControlBits)
	o.AsAccelSim = !obeys && o.Hidden == replay.HiddenOff
	if o.Dependences, err = replay.ParseDependences(word("trace.dependences", "inferred")); err != nil {
		return err
	}
	if obeys {
		o.Latencies = latencies(bits)
	} else {
		o.Dependences = replay.Scoreboard
	}
	if o.Rules, err = unknownRules(word("trace.unknown", "")); err != nil {
		return err
	}
	x.ses.Res.Trace.Hidden = o.Hidden.String()
	x.ses.Res.Conditions["trace.hidden_dependences"] = o.Hidden.String()
	x.ses.Res.Conditions["trace.dependences"] = o.Dependences.String()
	if u := word("trace.unknown", ""); u != "" {
		x.ses.Res.Conditions["trace.unknown"] = u
	}
	return nil
}

// latencies are the latencies for inferred control bits: those that compilers use on
// Ampere, or more if the machine is slower.
func latencies(bits core.ControlBits) replay.Latencies {
	l := replay.AmpereLatencies()
	for c := range l.Fixed {
		if l.Fixed[c] > 0 {
			l.Fixed[c] = max(l.Fixed[c], uint8(min(255, bits.FixedLatency(isa.Class(c)))))
		}
	}
	l.Predicate = max(l.Predicate, l.Fixed[isa.ClassSetp])
	return l
}

// unknownRules parses trace.unknown: MNEMONIC=KNOWN pairs, * for all others.
func unknownRules(text string) (mnemonic.Rules, error) {
	r := mnemonic.Rules{Named: map[string]string{}}
	if text == "" {
		return r, nil
	}
	for pair := range strings.SplitSeq(text, ",") {
		name, as, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if !ok || name == "" || as == "" {
			return r, fmt.Errorf("trace.unknown: invalid %q; want MNEMONIC=KNOWN", pair)
		}
		if name == "*" {
			r.Unknown = as
		} else {
			r.Named[name] = as
		}
	}
	if _, err := mnemonic.New(0, r); err != nil {
		return r, fmt.Errorf("trace.unknown: %w", err)
	}
	return r, nil
}

// readAhead reads launches in submission order, a few ahead.
func (x *runner) readAhead(ctx context.Context) {
	// One launch waits while the next one is being read: each holds decoded
	// blocks (our choice).
	x.read = make(chan opened, 1)
	x.stopped = ctx.Done()
	var order []*launch
	for _, l := range x.launches {
		if x.opt.Select.Has(l.number, l.head.Kernel) && !x.past[l.command] {
			order = append(order, l)
		}
	}
	go func() {
		defer close(x.read)
		for _, l := range order {
			if ctx.Err() != nil {
				return
			}
			o := x.open(l)
			if ctx.Err() != nil { // select might choose the other case
				o.close()
				return
			}
			select {
			case x.read <- o:
			case <-ctx.Done():
				o.close()
				return
			}
			if o.err != nil {
				return
			}
		}
	}()
}

// open reads a launch.
func (x *runner) open(l *launch) (o opened) {
	o.k, o.err = l.src.Open()
	if o.err == nil && x.opt.Listing != nil {
		if o.join, o.err = replay.Join(o.k, x.opt.Listing); o.err != nil {
			o.close()
		}
	}
	return o
}

// feed submits the next action to the chip.
func (x *runner) feed() (*gpu.Op, error) {
	for x.next < len(x.set.Commands) {
		c := &x.set.Commands[x.next]
		x.next++
		if c.Launch == nil {
			if !x.past[x.next-1] {
				return x.submit(x.copy(c)), nil
			}
			continue
		}
		l := x.launches[x.given]
		x.given++
		if !x.opt.Select.Has(l.number, l.head.Kernel) {
			x.ses.Res.LeftOut++
			continue
		}
		if x.past[l.command] {
			continue
		}
		op, err := x.launch(l)
		if err != nil {
			return nil, err
		}
		return x.submit(op), nil
	}
	return nil, nil
}

// copy is a copy to the device. Its bytes are not in the trace.
func (x *runner) copy(c *trace.Command) *gpu.Op {
	over := c.Bytes - min(c.Bytes, mostFilled)
	over &^= 255 // keeps the alignment of sectors and lines
	return &gpu.Op{
		Kind: gpu.OpCopy, Copy: func() error { return nil }, Way: gpu.ToDevice, Bytes: c.Bytes, Fills: []gpu.Range{{Addr: c.Addr + over, Bytes: c.Bytes - over}},
	}
}

// launch makes a launch's action.
func (x *runner) launch(l *launch) (*gpu.Op, error) {
	var o opened
	select {
	case o = <-x.read:
	case <-x.stopped:
		return nil, context.Canceled // Finish returns the reason
	}
	if o.err != nil {
		return nil, o.err
	}
	w, err := x.ready(l, &o)
	if err != nil {
		return nil, err
	}
	// Inferred bits are not the program's, so there is nothing to check.
	unwatched := w.Report().Control != "recorded"
	if x.opt.Hazards && unwatched && len(x.running) == 0 && x.done == 0 {
		o.close()
		return nil, &trace.Error{File: l.src.Name(), Msg: "the hazard checker checks control bits, but this launch was recorded without them; give a disassembly that has them (--sass), or a trace in the MICRO 2025 form"}
	}
	l.work, l.head = w, o.k.Header
	x.running[w] = l
	l.warnings = o.k.Warnings
	if x.opt.Listing != nil {
		x.joined(o.k.Kernel, &o.join)
	}
	l.op = &gpu.Op{
		Kind: gpu.OpLaunch, Stream: int64(o.k.Stream), Options: gpu.LaunchOptions{Registers: o.k.Registers},
		Make: func(rehearsal bool) (exec.Work, error) {
			if !rehearsal {
				return w, nil
			}
			o := x.open(l)
			if o.err != nil {
				return nil, o.err
			}
			again, err := x.ready(l, &o)
			if err != nil {
				return nil, err
			}
			l.again = again
			x.running[again] = l
			return again, nil
		},
	}
	x.ses.Note(&run.Launch{
		Number: l.number, Stream: int64(l.head.Stream), Grid: extent(l.head.Grid), Block: extent(l.head.Block), Weight: float64(l.size), Unwatched: unwatched,
	}, l.op)
	return l.op, nil
}

// extent formats an extent for results.
func extent(d trace.Dim) [3]int64 { return [3]int64{int64(d[0]), int64(d[1]), int64(d[2])} }

// ready converts a launch that has been read to work.
func (x *runner) ready(l *launch, o *opened) (*replay.Work, error) {
	w, err := replay.New(o.k, x.rep)
	if err != nil {
		o.close()
		return nil, &trace.Error{File: l.src.Name(), Msg: err.Error()}
	}
	x.fit(o.k)
	return w, nil
}

// warn adds a warning to the result, once.
func (x *runner) warn(w string) {
	if !x.warned[w] {
		x.warned[w] = true
		x.ses.Res.Trace.Warnings = append(x.ses.Res.Trace.Warnings, w)
	}
}

// fit reduces the resources of a block to those of an SM, so that a trace of a larger
// machine runs, with one block at a time on each SM. It warns about this.
func (x *runner) fit(k *trace.Kernel) {
	cfg, threads := x.ses.Chip.Config(), int(k.Block.Count())
	fits := func(registers, shared int) bool {
		n, _ := cfg.Occupancy(threads, registers, shared)
		return n > 0
	}
	if !fits(0, 0) {
		return // the chip reports that it has too few threads
	}
	warn := func(format string, args ...any) { x.warn(k.Kernel + fmt.Sprintf(format, args...)) }
	if !fits(0, k.Shared) {
		most := sort.Search(k.Shared, func(n int) bool { return !fits(0, n+1) })
		warn(" needs %d bytes of shared memory per block, but an SM of %s has %d: it runs as if that were enough", k.Shared, x.ses.Res.GPU, most)
		k.Shared = most
	}
	if !fits(k.Registers, 0) {
		most := sort.Search(k.Registers, func(n int) bool { return !fits(n+1, 0) })
		warn(" needs %d registers for each of the %d threads of a block, but an SM of %s has %d: it runs as if that were enough", k.Registers, threads, x.ses.Res.GPU, most)
		k.Registers = most
	}
}

// note adds the basis of a completed launch to the result.
func (x *runner) note(l *launch) {
	t, r := x.ses.Res.Trace, l.work.Report()
	t.Words += r.Words
	t.Mnemonics += r.Mnemonic
	t.Needed += r.Hidden.Needed
	t.Recovered += r.Hidden.Recovered
	t.Absent += min(r.Absent, math.MaxUint64-t.Absent)
	control := "scoreboards"
	if r.Control != "none" {
		control = "control bits, " + r.Control
	}
	if r.Why != "" {
		control += " (" + r.Why + ")"
	}
	if !slices.Contains(t.Control, control) {
		t.Control = append(t.Control, control)
	}
	for _, u := range r.Unknown {
		e := x.unknown[u.Op]
		if e == nil {
			e = &report.UnknownOp{Mnemonic: u.Op, As: u.As}
			x.unknown[u.Op] = e
		}
		e.Count += u.N
	}
	for _, list := range [2][]string{l.warnings, r.Warnings} {
		for _, w := range list {
			x.warn(w)
		}
	}
}

// joined warns about instructions that are missing from a listing.
func (x *runner) joined(kernel string, j *replay.JoinReport) {
	if j.Covered == j.Total {
		return
	}
	w := fmt.Sprintf("%s has %d of the %d static instructions of %s", x.opt.Listing.File, j.Covered, j.Total, kernel)
	if len(j.Missing) > 0 {
		w += "; not those at " + strings.Join(j.Missing, ", ")
	}
	x.warn(w)
}

// free releases the resources of work.
func (x *runner) free(w **replay.Work) {
	if *w != nil {
		delete(x.running, *w)
		_ = (*w).Trace().Blocks.Close() // read completely, or the run ended early
		*w = nil
	}
}

// ended records the basis of a completed launch, and releases its resources.
func (x *runner) ended(k *gpu.Kernel, l *run.Launch) {
	w, _ := exec.Untapped(k.Work()).(*replay.Work)
	switch own := x.running[w]; {
	case own == nil:
	case l == nil: // a rehearsal that warmed the caches
		x.free(&own.again)
	default:
		x.note(own)
		x.free(&own.work)
		own.op = nil
		x.done++
	}
}

// rest records launches that have begun but not ended, releases those that have not
// begun, and sums up.
func (x *runner) rest() {
	for _, l := range x.launches {
		if l.work != nil && l.op.Begun() {
			x.note(l)
		}
		x.free(&l.again)
		x.free(&l.work)
	}
	for _, name := range slices.Sorted(maps.Keys(x.unknown)) {
		x.ses.Res.Trace.Unknown = append(x.ses.Res.Trace.Unknown, *x.unknown[name])
	}
}
