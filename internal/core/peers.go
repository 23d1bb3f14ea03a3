package core

import "github.com/heddle-sim/heddle/internal/exec"

// This file: what SMs tell each other whose blocks are in one cluster. An SM sends a message with the
// core cycle at which it arrives; the chip keeps it until then. SMs account for the time on the way.

// PeerKind is what a message between SMs is about.
type PeerKind uint8

// The kinds of messages.
const (
	PeerRead    PeerKind = iota // an access to shared memory that has an answer
	PeerReply                   // that answer
	PeerWrite                   // a store to shared memory
	PeerAck                     // a store has been written
	PeerSignal                  // a change of an mbarrier
	PeerHeard                   // it has been applied
	PeerOpen                    // the barrier of the cluster has opened
	PeerProduct                 // a product of a pair of blocks, which the tensor units of both SMs work at
)

// PeerMessage is a message from one SM to another.
type PeerMessage struct {
	Due      uint64 // core cycle at which it arrives
	From, To int32  // SMs
	Kind     PeerKind
	Passes   uint16     // cycles that it takes of shared memory, or of the tensor units
	Warp     int16      // of the access or signal: its slot in the SM that made it
	Flight   int32      // and its record there
	Bytes    int32      // that its answer has
	Answer   bool       // a signal's sender waits until it has been applied
	Block    exec.Block // that gets a signal or whose barrier has opened
	Team     any        // its cluster (exec.ClusterMember)
	Notice   exec.Notice
	Opened   uint64 // how often the barrier has opened
}

// Peer is implemented by SMs that run clusters of more than one block.
type Peer interface {
	// Join tells which SMs have the blocks of a block's cluster, by rank, and the blocks.
	Join(b exec.Block, sms []int32, blocks []exec.Block)
	// Take takes a message that has arrived. It is called between two cycles.
	Take(m *PeerMessage)
}

// Dependent is implemented by kernels of SMs that are Dependents.
type Dependent interface {
	// Hold says whether the launch before the kernel's runs still, for which its warps can wait.
	Hold(on bool)
}

// Dependents is implemented by SMs on which a launch can begin while the one before it in its stream runs.
type Dependents interface {
	// Go lets warps of a kernel go on that wait for the launch before it. It is called between two cycles.
	Go(k Kernel)
}

// Hopper is implemented by Settings of a model that may time what Hopper added: clusters, the bulk copy
// engine, products of warp groups.
type Hopper interface {
	TimesHopper() bool
	TimesTensorMemory() bool // of Blackwell (tcgen05)
}

// timesHopper reports whether a core of these settings does.
func timesHopper(s Settings) bool {
	h, ok := s.(Hopper)
	return ok && h.TimesHopper()
}

// checkHopper refuses launches that a core cannot time.
func checkHopper(s Settings, w exec.Work) error {
	t := w.Traits()
	h, _ := s.(Hopper)
	switch {
	case t.Hopper == "tcgen05" && (h == nil || !h.TimesTensorMemory()):
		return Refuse(w, "this GPU's cores have no tensor memory for tcgen05; a functional run has, and GPUs with modern.hopper.tcgen_rate, such as b200")
	case timesHopper(s):
	case t.Cluster > 1:
		return Refuse(w, "this GPU's cores cannot run clusters of more than one block; a functional run can, and GPUs with modern.hopper.enabled, such as h100-pcie")
	case t.Hopper != "":
		return Refuse(w, "this GPU's cores cannot run %s; a functional run can, and GPUs with modern.hopper.enabled, such as h100-pcie", t.Hopper)
	}
	return nil
}
