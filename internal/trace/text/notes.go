package text

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/trace"
)

// noteKind is something odd that does not keep a trace from being used.
type noteKind int

const (
	noteExit noteKind = iota
	noteEmpty
	noteMissing
	noteZero
	noteAfter
	noteValues
	noteKinds
)

// noteText says what is odd.
var noteText = [noteKinds]string{
	noteExit:    "the warp does not end with EXIT; it will be taken to end there",
	noteEmpty:   "the warp has no instructions",
	noteMissing: "not all warps of the block are here",
	noteZero:    "a lane accesses global memory at address 0, which the tracer writes where it saw no address",
	noteAfter:   "a lane goes on after its EXIT: lines are mixed up, or two warps are taken for one",
	noteValues:  "register values are left out",
}

// mostNotes bounds what is told of one kind.
const mostNotes = 8

// notes gathers what is odd, the first of each kind with their places.
type notes struct {
	first [noteKinds][]string
	count [noteKinds]uint64
}

// add notes the line or warp that a scanner is at.
func (n *notes) add(k noteKind, s *scanner) {
	n.count[k]++
	if len(n.first[k]) < mostNotes {
		n.first[k] = append(n.first[k], s.fail("%s", noteText[k]).Error())
	}
}

// warps checks that the block that a scanner is at the end of is complete.
func (n *notes) warps(s *scanner) {
	if have, all := len(s.b.Warps), warpsOf(&s.h); have < all {
		n.count[noteMissing]++
		if len(n.first[noteMissing]) < mostNotes {
			n.first[noteMissing] = append(n.first[noteMissing], s.fail("only %d of %d warps are here", have, all).Error())
		}
	}
}

// list returns all that is to be said.
func (n *notes) list() []string {
	var all []string
	for k := range noteKinds {
		all = append(all, n.first[k]...)
		if more := n.count[k] - uint64(len(n.first[k])); more > 0 {
			all = append(all, fmt.Sprintf("%d more of this kind: %s", more, noteText[k]))
		}
	}
	return all
}

// zeroError is what a trace is worth that has no addresses at all.
func (s *scanner) zeroError() *trace.Error {
	s.inBlock, s.warp = false, -1
	return &trace.Error{File: s.file, Msg: fmt.Sprintf(
		"all %d accesses to global memory have address 0 (the first: %s): the tracer saw no addresses; record again with a version of NVBit that supports the GPU and the driver",
		s.globals, s.notes.first[noteZero][0])}
}
