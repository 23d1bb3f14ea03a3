package run

import (
	"errors"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/check/output"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/report"
)

// This file: the checkers of a run.

// Watch gives a launch what sees it: the probe of checkers, and counters of coverage, if the
// run has them. It is called in the order in which the host submits launches. host is the
// host's call, if known.
func (s *Session) Watch(l *exec.Launch, number int, stream int64, host []check.Place) {
	l.Coverage = s.covered
	if s.opt.Checks != nil {
		l.Probe, l.Outside = s.opt.Checks.Launch(number, stream, host), s.opt.Checks.Outside(number)
	}
}

// Failed tells the checkers why a launch ended early. It is called when that happens, if the
// run may go on; launch is -1 if it is not known which one it was.
func (s *Session) Failed(launch int, err error) {
	if s.opt.Checks == nil || err == nil {
		return
	}
	if launch < 0 {
		launch = failedLaunch(s.Res, err)
	}
	s.opt.Checks.Failed(launch, err)
}

// conclude adds the verdict of each checker, and what they found, to a result; err is why the run
// ended early.
func (s *Session) conclude(res *report.Run, err error) {
	set := s.opt.Checks
	s.Failed(-1, err)
	found := map[string]uint64{}
	all := set.Findings()
	res.Found = output.Document(all)
	for _, f := range all {
		if f.Level > check.Note {
			found[f.Rule.Checker]++
		}
	}
	for _, name := range set.Names() {
		c := report.Checker{Checker: name, OK: found[name] == 0, Found: found[name]}
		for i := range res.Kernels {
			if n := res.Kernels[i].Launch; set.Blind(name, n) {
				c.NotWatched = append(c.NotWatched, n)
			}
		}
		res.Checkers = append(res.Checkers, c)
	}
}

// failedLaunch returns the number of the launch that an error is about: the last one of its
// kernel, or the last one of all.
func failedLaunch(res *report.Run, err error) int {
	last, kernel := -1, ""
	var fault *exec.Fault
	var stuck *exec.StuckError
	switch {
	case errors.As(err, &fault):
		kernel = fault.Where.Kernel
	case errors.As(err, &stuck):
		kernel = stuck.Kernel
	}
	for i := range res.Kernels {
		if k := &res.Kernels[i]; k.Name == kernel {
			last = k.Launch
		}
	}
	if n := len(res.Kernels); last < 0 && n > 0 {
		last = res.Kernels[n-1].Launch
	}
	return last
}
