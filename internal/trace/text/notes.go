package text

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/trace"
)

// noteKind is an oddity that does not make a trace unusable.
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

// noteText describes the oddities.
var noteText = [noteKinds]string{
	noteExit:    "the warp does not end with EXIT; it ends there in the replay",
	noteEmpty:   "the warp has no instructions",
	noteMissing: "some warps of the block are missing",
	noteZero:    "a lane accesses global memory at address 0, which the tracer writes where it saw no address",
	noteAfter:   "a lane continues after its EXIT: lines are mixed up, or two warps are merged",
	noteValues:  "register values are left out",
}

// mostNotes bounds the notes of one kind.
const mostNotes = 8

// notes collects oddities, the first of each kind with their places.
type notes struct {
	first [noteKinds][]string
	count [noteKinds]uint64
}

// add adds a note with the scanner's current line or warp.
func (n *notes) add(k noteKind, s *scanner) {
	n.count[k]++
	if len(n.first[k]) < mostNotes {
		n.first[k] = append(n.first[k], s.fail("%s", noteText[k]).Error())
	}
}

// warps checks that the block that the scanner has just read is complete.
func (n *notes) warps(s *scanner) {
	if have, all := len(s.b.Warps), warpsOf(&s.h); have < all {
		n.count[noteMissing]++
		if len(n.first[noteMissing]) < mostNotes {
			n.first[noteMissing] = append(n.first[noteMissing], s.fail("only %d of %d warps are present", have, all).Error())
		}
	}
}

// list returns all notes.
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

// zeroError returns the error for a trace without any addresses.
func (s *scanner) zeroError() *trace.Error {
	s.inBlock, s.warp = false, -1
	return &trace.Error{File: s.file, Msg: fmt.Sprintf(
		"all %d accesses to global memory have address 0 (the first: %s): the tracer saw no addresses; record again with a version of NVBit that supports the GPU and the driver",
		s.globals, s.notes.first[noteZero][0])}
}
