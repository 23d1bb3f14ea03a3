package job

import "github.com/heddle-sim/heddle/internal/check"

// This file: what checkers hear of a job's steps other than launches.

// tell passes a step to the checkers, in the order of the file.
func (x *runner) tell(s *Step) {
	set := x.opt.Checks
	if set == nil {
		return
	}
	e := check.HostEvent{Call: s.Kind.String(), Stream: s.Stream, Async: true}
	switch s.Kind {
	case StepRecord:
		e.Kind, e.Object = check.HostRecord, uint64(s.Index)+1
	case StepWait:
		e.Kind, e.Object = check.HostWait, uint64(s.Record)+1
	case StepSync:
		e.Kind, e.Async = check.HostSyncAll, false
	case StepCopy, StepFill:
		m := x.moves[s]
		e.Bytes = uint64(m.Bytes)
		if m.From.Place == Buffer || m.From.Place == Symbol {
			read := e
			read.Kind, read.Addr = check.HostRead, m.from
			set.Host(&read)
		}
		if m.To.Place == HostFile {
			return
		}
		e.Kind, e.Addr = check.HostWrite, m.to
	default:
		return
	}
	set.Host(&e)
}
