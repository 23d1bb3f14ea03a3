package step

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// This file: commands that only the Kepler-style core supports.

// teaching is a machine that can be inspected after every cycle.
type teaching interface {
	machine
	untilLabel(name string) (func() string, error)
	issuedBefore(slot int, n uint64) (cycle uint64, err error) // the cycle that selected the n-th last instruction
	stopped()                                                  // the user has seen the current state
	changed(w io.Writer, slot int) error
	picture(w io.Writer, addr uint64, width, height int, format string, shades bool) error
	pipeline(w io.Writer)
}

// teaching returns the machine if it supports these commands.
func (s *Session) teaching(command string) (teaching, error) {
	t, ok := s.m.(teaching)
	if !ok {
		return nil, fmt.Errorf("only the Kepler-style core supports %s", command)
	}
	return t, nil
}

// breakpoint is a place to stop at.
type breakpoint struct {
	kind, value string
	hit         func() string // for the running machine; nil until armed
}

func (b *breakpoint) String() string { return b.kind + " " + b.value }

// arm makes the goal of a breakpoint.
func (b *breakpoint) arm(t teaching) error {
	var err error
	switch b.kind {
	case "cycle":
		n, perr := strconv.ParseUint(b.value, 0, 62)
		if perr != nil {
			return fmt.Errorf("%q is not a number", b.value)
		}
		b.hit = func() string {
			if t.now() != n {
				return ""
			}
			return fmt.Sprintf("cycle %d", n)
		}
	case "pc":
		b.hit, err = t.untilPC(b.value)
	case "line":
		b.hit, err = t.untilLine(b.value)
	case "label":
		b.hit, err = t.untilLabel(b.value)
	default:
		err = errors.New("break needs a place: cycle N, pc P, line L, or label NAME")
	}
	return err
}

// hits checks all breakpoints and returns a line for each that is reached.
func (s *Session) hits() string {
	var b strings.Builder
	for i := range s.breaks {
		x := &s.breaks[i]
		if x.hit == nil {
			t, ok := s.m.(teaching)
			if !ok || x.arm(t) != nil {
				continue
			}
		}
		if why := x.hit(); why != "" {
			fmt.Fprintf(&b, "break %d: %s\n", i+1, why)
		}
	}
	return b.String()
}

func (s *Session) breakAt(args []string) error {
	t, err := s.teaching("break")
	if err != nil {
		return err
	}
	if len(args) == 0 {
		for i := range s.breaks {
			s.printf("  %d: %v\n", i+1, &s.breaks[i])
		}
		if len(s.breaks) == 0 {
			s.printf("  none\n")
		}
		return nil
	}
	if err := atMost(args, 2); err != nil {
		return err
	}
	b := breakpoint{kind: args[0]}
	if len(args) == 2 {
		b.value = args[1]
	}
	if err := b.arm(t); err != nil {
		return err
	}
	s.breaks = append(s.breaks, b)
	s.printf("  %d: %v\n", len(s.breaks), &b)
	return nil
}

func (s *Session) remove(args []string) error {
	if err := atMost(args, 1); err != nil {
		return err
	}
	if len(args) == 0 {
		s.breaks = nil
		return nil
	}
	n, err := number(args, 0, 0)
	if err != nil {
		return err
	}
	if n < 1 || n > uint64(len(s.breaks)) {
		return fmt.Errorf("no breakpoint %d; break lists them", n)
	}
	s.breaks = slices.Delete(s.breaks, int(n)-1, int(n))
	return nil
}

func (s *Session) display(args []string) error {
	if len(args) == 0 {
		s.displays = nil
		return nil
	}
	for _, c := range commands {
		if c.name == args[0] && (c.goes || slices.Contains([]string{"back", "backi", "quit", "display"}, c.name)) {
			return fmt.Errorf("display cannot execute %s at every stop", args[0])
		}
	}
	if err := s.do(args[0], args[1:]); err != nil {
		return err
	}
	s.displays = append(s.displays, strings.Join(args, " "))
	return nil
}

// show executes the display commands of a stop, after which the current state counts as
// seen.
func (s *Session) show() {
	for _, d := range s.displays {
		words := strings.Fields(d)
		if err := s.do(words[0], words[1:]); err != nil {
			s.printf("%s: %v\n", d, err)
		}
	}
}

// seen notes that the run continues or is repeated.
func (s *Session) seen() {
	if t, ok := s.m.(teaching); ok {
		t.stopped()
	}
}

func (s *Session) backi(args []string) error {
	t, err := s.teaching("backi")
	if err != nil {
		return err
	}
	n, err := s.times(args)
	if err != nil || n == 0 {
		return err
	}
	cycle, err := t.issuedBefore(s.slot, n)
	if err != nil {
		return err
	}
	s.to = int64(cycle)
	return errAgain
}

func (s *Session) changed(args []string) error {
	t, err := s.teaching("changed")
	if err == nil {
		err = atMost(args, 1)
	}
	if err == nil {
		err = s.choose(args)
	}
	if err != nil {
		return err
	}
	return t.changed(s.out, s.slot)
}

func (s *Session) picture(args []string) error {
	t, err := s.teaching("fb")
	if err != nil {
		return err
	}
	format, shades := "rgb", false
	for len(args) > 3 {
		switch last := args[len(args)-1]; last {
		case "bit", "u8", "rgb":
			format = last
		case "ascii":
			shades = true
		default:
			return fmt.Errorf("unexpected %q; the format of a picture is bit, u8 or rgb, and ascii shows shades", last)
		}
		args = args[:len(args)-1]
	}
	if len(args) < 3 {
		return errors.New("fb needs ADDRESS WIDTH HEIGHT")
	}
	var n [3]uint64
	for i := range n {
		if n[i], err = number(args, i, 0); err != nil {
			return err
		}
	}
	if n[1] < 1 || n[2] < 1 || n[1] > mostPixels || n[2] > mostPixels {
		return fmt.Errorf("a picture has 1 to %d columns and rows", mostPixels)
	}
	return t.picture(s.out, n[0], int(n[1]), int(n[2]), format, shades)
}

// mostPixels limits a picture's sides, mostColumns the width of its display. Our choices.
const (
	mostPixels  = 1024
	mostColumns = 128
)

func (s *Session) pipeline(args []string) error {
	t, err := s.teaching("pipeline")
	if err == nil {
		err = atMost(args, 0)
	}
	if err == nil {
		t.pipeline(s.out)
	}
	return err
}
