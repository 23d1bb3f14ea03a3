package check_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/exec"
)

// ender is a checker that notes why launches ended early.
type ender struct{ told []string }

func (*ender) Launch(*check.Launch) exec.Probe { return nil }
func (*ender) Host(*check.HostEvent)           {}
func (*ender) Findings() []*check.Finding      { return nil }

func (e *ender) Failed(launch int, err error) {
	var f *exec.Fault
	what := "other"
	if errors.As(err, &f) {
		what = f.What
	}
	e.told = append(e.told, fmt.Sprint(launch, " ", what))
}

// TestFailed: checkers learn of each fault once, however often a run tells of it, and of those
// that come after the program has reset its device.
func TestFailed(t *testing.T) {
	first, second := &exec.Fault{What: "first"}, &exec.Fault{What: "second"}
	s, e := check.NewSet(), &ender{}
	s.Add("ender", e)
	s.Failed(0, first)
	s.Failed(3, fmt.Errorf("the run: %w", first))
	s.Failed(3, second)
	s.Failed(3, errors.Join(first, errors.New("a file cannot be written")))
	s.Failed(4, errors.New("interrupted"))
	s.Failed(4, errors.New("interrupted"))
	if want := []string{"0 first", "3 second", "4 other"}; !slices.Equal(e.told, want) {
		t.Errorf("told %q, want %q", e.told, want)
	}
}
