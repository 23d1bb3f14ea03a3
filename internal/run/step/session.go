package step

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"github.com/heddle-sim/heddle/internal/near"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/run"
)

// errAgain ends a run that is to be repeated from its start.
var errAgain = errors.New("the run is repeated")

// errQuit ends a run that the user quit.
var errQuit = fmt.Errorf("stopped by the command quit: %w", context.Canceled)

// maxLine limits a command line.
const maxLine = 1 << 16

// machine is the view of a machine that a session inspects.
type machine interface {
	now() uint64         // cycles so far
	lookAt(cycle uint64) // requests a call of look at that cycle
	end()                // the run has ended
	over() bool
	status() string // the progress of the run, in one line

	slots(sm int) (int, error)          // warp slots of an SM; the error lists the SMs
	firstWarp() (sm, slot int, ok bool) // the first resident one

	// Goals of a run: the functions are called after every cycle, and return a text
	// when the goal is reached.
	untilIssued(sm, slot int, n uint64) (func() string, error)
	untilEnd() (func() string, error)
	untilBlock(text string) (func() string, error)
	untilPC(text string) (func() string, error)
	untilLine(text string) (func() string, error)

	where(w io.Writer, sm, slot int)
	warps(w io.Writer, sm int) // of all SMs if it is -1
	warp(w io.Writer, sm, slot int) error
	regs(w io.Writer, sm, slot, lane int, names []string) error // of all lanes if it is -1
	mem(w io.Writer, at string, n uint64, typeName string) error
	queues(w io.Writer, sm int)
	caches(w io.Writer, sm int)
}

// Session is a dialogue about one run, which may be repeated from its start many times.
// It is used by one goroutine.
type Session struct {
	ctx    context.Context
	in     <-chan string
	out    io.Writer
	prompt string // "": commands are echoed, so that a script's output can be read

	m     machine
	goal  func() string // the goal of the run: returns a text when it is reached
	named string        // the goal in words
	to    int64         // target cycle of a repeated run, -1 for none
	quit  bool

	pending []string // commands read and not yet executed

	sm, slot int // the selected warp, slot -1 for none

	breaks   []breakpoint
	displays []string // commands to execute whenever the run stops

	printed, at int // bytes that kernels have printed, in all runs and in this one
	kernelOut   io.Writer
}

// New returns a session that reads commands from in and prints to out. An interactive
// session has a prompt; otherwise commands are echoed.
func New(ctx context.Context, in io.Reader, out io.Writer, interactive bool) *Session {
	lines := make(chan string)
	go func() {
		defer close(lines)
		sc := bufio.NewScanner(in)
		sc.Buffer(nil, maxLine)
		for sc.Scan() {
			select {
			case lines <- sc.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	s := &Session{ctx: ctx, in: lines, out: out, to: -1, slot: -1}
	if interactive {
		s.prompt = "(step) "
	}
	return s
}

// Output returns a writer for the output of kernels. In a repeated run it skips what has
// been printed before.
func (s *Session) Output(w io.Writer) io.Writer {
	s.kernelOut = w
	return outputOnce{s}
}

type outputOnce struct{ s *Session }

func (o outputOnce) Write(p []byte) (int, error) {
	s := o.s
	n := len(p)
	old := min(max(0, s.printed-s.at), n)
	s.at += n
	if old == n {
		return n, nil
	}
	s.printed = s.at
	m, err := s.kernelOut.Write(p[old:])
	return old + m, err
}

// Run steps through a run: once is called, and again whenever the user goes back. The
// error is that of the last run.
func (s *Session) Run(once func(inside func(*run.Inside) func() error) error) error {
	return s.repeat(func() error { return once(s.attach) })
}

// repeat calls a function until the user no longer goes back.
func (s *Session) repeat(run func() error) error {
	for {
		s.at = 0
		s.m = nil
		for i := range s.breaks {
			s.breaks[i].hit = nil
		}
		err := run()
		switch {
		case errors.Is(err, errAgain):
			continue
		case s.quit || s.m == nil || s.ctx.Err() != nil:
			return err
		}
		if s.goal != nil && s.named != "" {
			s.printf("the run ended before this goal: %s\n", s.named)
		}
		s.goal, s.to = nil, -1
		s.m.end()
		if err != nil {
			s.printf("the run has ended: %v\n", err)
		} else {
			s.printf("the run has ended\n")
		}
		s.printf("%s\n", s.m.status())
		s.show()
		if again := s.converse(); errors.Is(again, errAgain) {
			continue
		}
		return err
	}
}

// attach is called before a run begins.
func (s *Session) attach(in *run.Inside) func() error {
	s.m = &chip{in: in, gpu: in.Chip}
	return s.look
}

// look is called after every cycle.
func (s *Session) look() error {
	c := s.m
	switch {
	case s.to >= 0:
		s.hits()
		if c.now() < uint64(s.to) {
			c.lookAt(uint64(s.to))
			return nil
		}
		s.to = -1
	case s.goal != nil:
		why := s.goal()
		hit := s.hits()
		if why == "" && hit == "" {
			return nil
		}
		s.goal = nil
		if why != "" && why != reached {
			s.printf("%s\n", why)
		}
		s.printf("%s", hit)
	}
	s.printf("%s\n", c.status())
	s.show()
	return s.converse()
}

// reached is the text of a goal that needs no description.
const reached = "."

func (s *Session) printf(format string, a ...any) { fmt.Fprintf(s.out, format, a...) }

// errGo is returned by commands that continue the run.
var errGo = errors.New("go on")

// converse reads and executes commands until one continues the run (nil), repeats it
// (errAgain) or ends it (errQuit).
func (s *Session) converse() error {
	for {
		text, err := s.next()
		if err != nil {
			return err
		}
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		if s.prompt == "" {
			s.printf("> %s\n", strings.Join(words, " "))
		}
		err = s.do(words[0], words[1:])
		switch {
		case err == nil:
		case errors.Is(err, errGo):
			s.seen()
			return nil
		case errors.Is(err, errAgain), errors.Is(err, errQuit):
			s.seen()
			return err
		default:
			s.printf("error: %v\n", err)
		}
	}
}

// next returns the next command; the end of the input means quit.
func (s *Session) next() (string, error) {
	for len(s.pending) == 0 {
		if s.prompt != "" {
			s.printf("%s", s.prompt)
		}
		select {
		case <-s.ctx.Done():
			return "", s.ctx.Err()
		case line, ok := <-s.in:
			if !ok {
				if s.prompt != "" {
					s.printf("\n")
				}
				s.quit = true
				return "", errQuit
			}
			line, _, _ = strings.Cut(line, "#")
			s.pending = strings.Split(line, ";")
		}
	}
	text := s.pending[0]
	s.pending = s.pending[1:]
	return text, nil
}

// command is one command of the language.
type command struct {
	name, args, help string
	do               func(s *Session, args []string) error
	goes             bool // continues the run
}

var commands []command

func init() {
	commands = []command{
		{"step", "[N]", "continue for N core cycles (1)", (*Session).step, true},
		{"stepi", "[N] [SM.W]", "continue until a warp has issued N instructions (1)", (*Session).stepi, true},
		{"until", "cycle N", "continue to that cycle", (*Session).until, true},
		{"until", "block B", "… until block B, a number or X,Y,Z, is placed on an SM", nil, true},
		{"until", "pc P", "… until a warp reaches instruction P, or FUNCTION:P", nil, true},
		{"until", "line L", "… until a warp reaches that line of the PTX, or FILE:L, which may be a source file", nil, true},
		{"until", "label NAME", "… until a warp reaches that label (Kepler-style core)", nil, true},
		{"until", "end", "… until a kernel has ended", nil, true},
		{"run", "", "continue to the end", (*Session).run, true},
		{"back", "[N]", "go back by N core cycles (1); this reruns the job from its start", (*Session).back, false},
		{"backi", "[N] [SM.W]", "go back to before a warp's last N instructions (1) were selected (Kepler-style core)", (*Session).backi, false},
		{"break", "cycle N|pc P|line L|label NAME", "set a breakpoint (Kepler-style core); without arguments, list the breakpoints", (*Session).breakAt, false},
		{"delete", "[N]", "delete breakpoint N, or all", (*Session).remove, false},
		{"display", "[COMMAND]", "execute a command whenever the run stops; without arguments, stop doing so", (*Session).display, false},
		{"where", "", "the cycle, the running kernels, and the selected warp", (*Session).where, false},
		{"warps", "[SM]", "all resident warps with their positions and states", (*Session).warps, false},
		{"warp", "[SM.W]", "select a warp and show its lanes, instructions in flight and what it waits for", (*Session).warp, false},
		{"regs", "[SM.W] [LANE] [NAME…]", "registers and predicates of a warp's lanes", (*Session).regs, false},
		{"changed", "[SM.W]", "what has changed in a warp since the previous stop (Kepler-style core)", (*Session).changed, false},
		{"fb", "ADDRESS WIDTH HEIGHT [bit|u8|rgb] [ascii]", "memory as a picture with a bit, byte or word (rgb) per pixel: blocks where it is not zero, or shades (Kepler-style core)", (*Session).picture, false},
		{"pipeline", "", "all stages, and what fetch did in the previous cycle (Kepler-style core)", (*Session).pipeline, false},
		{"mem", "ADDRESS|BUFFER[+N] [COUNT] [TYPE]", "device memory: COUNT (8) values of TYPE (u32, f32, …)", (*Session).mem, false},
		{"queues", "[SM]", "the contents of pipelines, queues, networks and DRAM", (*Session).queues, false},
		{"caches", "[SM]", "lines, pending misses and hits of the caches", (*Session).caches, false},
		{"help", "", "this list", (*Session).help, false},
		{"quit", "", "end the run and print the results so far (as does the end of the input)", (*Session).leave, false},
	}
}

// do executes a command, given by its name or a unique prefix.
func (s *Session) do(name string, args []string) error {
	var found []command
	for _, c := range commands {
		if c.do == nil {
			continue
		}
		if c.name == name {
			found = []command{c}
			break
		}
		if strings.HasPrefix(c.name, name) {
			found = append(found, c)
		}
	}
	// Single letters stand for the most frequent commands.
	short := map[string]string{"s": "step", "si": "stepi", "w": "warps", "r": "run", "q": "quit", "b": "break"}
	if full, ok := short[name]; ok {
		for _, c := range commands {
			if c.name == full {
				found = []command{c}
			}
		}
	}
	switch len(found) {
	case 0:
		hint := "; help lists them"
		var names []string
		for _, c := range commands {
			if c.do != nil {
				names = append(names, c.name)
			}
		}
		if n := near.Name(name, names); n != "" {
			hint = fmt.Sprintf("; did you mean %q?", n)
		}
		return fmt.Errorf("unknown command %q%s", name, hint)
	case 1:
		if found[0].goes && s.m.over() {
			return errors.New("the run has ended; back [N] goes back, quit prints the report")
		}
		return found[0].do(s, args)
	}
	var names []string
	for _, c := range found {
		names = append(names, c.name)
	}
	return fmt.Errorf("%q may be %s", name, strings.Join(names, " or "))
}

func (s *Session) help(args []string) error {
	if err := atMost(args, 0); err != nil {
		return err
	}
	wide := 0
	for _, c := range commands {
		wide = max(wide, len(c.name)+1+len(c.args))
	}
	for _, c := range commands {
		s.printf("  %-*s  %s\n", wide, strings.TrimSpace(c.name+" "+c.args), c.help)
	}
	s.printf("A unique prefix of a name is enough. ; separates commands, # starts a comment. SM.W is a warp by its SM and slot; W alone is a warp of the selected SM.\n")
	return nil
}

func atMost(args []string, n int) error {
	if len(args) > n {
		return fmt.Errorf("unexpected %q", args[n])
	}
	return nil
}

// number parses a count: the word at i, or the default without one.
func number(args []string, i int, without uint64) (uint64, error) {
	if len(args) <= i {
		return without, nil
	}
	n, err := strconv.ParseUint(args[i], 0, 62)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number", args[i])
	}
	return n, nil
}

// goOn continues the run until goal returns a text.
func (s *Session) goOn(named string, goal func() string) error {
	s.named, s.goal = named, goal
	return errGo
}

// toCycle continues the run to a cycle.
func (s *Session) toCycle(n uint64) error {
	m := s.m
	m.lookAt(n)
	return s.goOn(fmt.Sprintf("cycle %d", n), func() string {
		if m.now() < n {
			return ""
		}
		return reached
	})
}

func (s *Session) step(args []string) error {
	n, err := number(args, 0, 1)
	if err == nil {
		err = atMost(args, 1)
	}
	if err != nil {
		return err
	}
	if n == 0 {
		return nil
	}
	return s.toCycle(s.m.now() + n)
}

// times reads how often, 1 if nothing says so, and chooses the warp that stands
// after it.
func (s *Session) times(args []string) (uint64, error) {
	n := uint64(1)
	if len(args) > 0 && !strings.Contains(args[0], ".") {
		var err error
		if n, err = number(args, 0, 1); err != nil {
			return 0, err
		}
		args = args[1:]
	}
	if err := atMost(args, 1); err != nil {
		return 0, err
	}
	return n, s.choose(args)
}

func (s *Session) stepi(args []string) error {
	n, err := s.times(args)
	if err != nil {
		return err
	}
	sm, slot := s.sm, s.slot
	goal, err := s.m.untilIssued(sm, slot, n)
	if err != nil || n == 0 {
		return err
	}
	return s.goOn(fmt.Sprintf("%d instructions of warp %d.%d", n, sm, slot), goal)
}

func (s *Session) until(args []string) error {
	kinds := []string{"cycle", "block", "pc", "line", "label", "end"}
	if len(args) == 0 || !slices.Contains(kinds, args[0]) {
		return fmt.Errorf("until needs a goal: cycle N, block B, pc P, line L, label NAME, or end")
	}
	if args[0] == "end" {
		if err := atMost(args, 1); err != nil {
			return err
		}
		goal, err := s.m.untilEnd()
		if err != nil {
			return err
		}
		return s.goOn("end", goal)
	}
	if len(args) != 2 {
		return fmt.Errorf("until %s takes one value", args[0])
	}
	var goal func() string
	var err error
	switch args[0] {
	case "cycle":
		n, err := number(args, 1, 0)
		if err != nil {
			return err
		}
		if now := s.m.now(); n <= now {
			return fmt.Errorf("this is already cycle %d; back %d goes to cycle %d", now, now-n, n)
		}
		return s.toCycle(n)
	case "block":
		goal, err = s.m.untilBlock(args[1])
	case "pc":
		goal, err = s.m.untilPC(args[1])
	case "line":
		goal, err = s.m.untilLine(args[1])
	case "label":
		t, terr := s.teaching("until label")
		if terr != nil {
			return terr
		}
		goal, err = t.untilLabel(args[1])
	}
	if err != nil {
		return err
	}
	return s.goOn("until "+strings.Join(args, " "), goal)
}

func (s *Session) run(args []string) error {
	if err := atMost(args, 0); err != nil {
		return err
	}
	return s.goOn("", func() string { return "" })
}

func (s *Session) back(args []string) error {
	n, err := number(args, 0, 1)
	if err == nil {
		err = atMost(args, 1)
	}
	if err != nil {
		return err
	}
	now := s.m.now()
	if n > now {
		return fmt.Errorf("this is cycle %d; fewer than %d precede it", now, n)
	}
	s.to = int64(now - n)
	return errAgain
}

func (s *Session) leave(args []string) error {
	if err := atMost(args, 0); err != nil {
		return err
	}
	s.quit = true
	return errQuit
}

// choose selects the warp SM.W, or W on the selected SM; without a word it keeps the
// selected warp, or takes the first one.
func (s *Session) choose(args []string) error {
	if len(args) == 0 {
		if s.slot >= 0 {
			return nil
		}
		sm, slot, ok := s.m.firstWarp()
		if !ok {
			return errors.New("no SM has a warp at the moment")
		}
		s.sm, s.slot = sm, slot
		return nil
	}
	sm, slot := s.sm, 0
	a, b, both := strings.Cut(args[0], ".")
	if !both {
		a, b = fmt.Sprint(sm), a
	}
	sm, err1 := strconv.Atoi(a)
	slot, err2 := strconv.Atoi(b)
	if err1 != nil || err2 != nil {
		return fmt.Errorf("%q is not a warp; want SM.W, such as 0.3", args[0])
	}
	n, err := s.m.slots(sm)
	if err != nil {
		return err
	}
	if slot < 0 || slot >= n {
		return fmt.Errorf("an SM has warp slots 0 to %d, not %d", n-1, slot)
	}
	s.sm, s.slot = sm, slot
	return nil
}

func (s *Session) where(args []string) error {
	if err := atMost(args, 0); err != nil {
		return err
	}
	s.m.where(s.out, s.sm, s.slot)
	return nil
}

// smArg reads an optional SM, -1 for all.
func (s *Session) smArg(args []string) (int, error) {
	if err := atMost(args, 1); err != nil {
		return 0, err
	}
	if len(args) == 0 {
		return -1, nil
	}
	sm, err := strconv.Atoi(args[0])
	if err != nil {
		return 0, fmt.Errorf("%q is not the number of an SM", args[0])
	}
	_, err = s.m.slots(sm)
	return sm, err
}

func (s *Session) warps(args []string) error {
	sm, err := s.smArg(args)
	if err == nil {
		s.m.warps(s.out, sm)
	}
	return err
}

func (s *Session) warp(args []string) error {
	if err := atMost(args, 1); err != nil {
		return err
	}
	if err := s.choose(args); err != nil {
		return err
	}
	return s.m.warp(s.out, s.sm, s.slot)
}

func (s *Session) regs(args []string) error {
	lane := -1
	var names []string
	if len(args) > 0 && strings.Contains(args[0], ".") && args[0][0] != '%' {
		if err := s.choose(args[:1]); err != nil {
			return err
		}
		args = args[1:]
	} else if err := s.choose(nil); err != nil {
		return err
	}
	for _, a := range args {
		if n, err := strconv.Atoi(a); err == nil {
			if n < 0 || n > 31 || lane >= 0 {
				return fmt.Errorf("%q: want a single lane from 0 to 31", a)
			}
			lane = n
			continue
		}
		names = append(names, a)
	}
	return s.m.regs(s.out, s.sm, s.slot, lane, names)
}

func (s *Session) mem(args []string) error {
	if len(args) == 0 {
		return errors.New("mem needs an address or a buffer, optionally followed by +BYTES")
	}
	if err := atMost(args, 3); err != nil {
		return err
	}
	n := uint64(0)
	typ := ""
	for _, a := range args[1:] {
		if v, err := strconv.ParseUint(a, 0, 32); err == nil && n == 0 {
			n = v
		} else if typ == "" {
			typ = a
		} else {
			return fmt.Errorf("unexpected %q", a)
		}
	}
	return s.m.mem(s.out, args[0], n, typ)
}

func (s *Session) queues(args []string) error {
	sm, err := s.smArg(args)
	if err == nil {
		s.m.queues(s.out, sm)
	}
	return err
}

func (s *Session) caches(args []string) error {
	sm, err := s.smArg(args)
	if err == nil {
		s.m.caches(s.out, sm)
	}
	return err
}
