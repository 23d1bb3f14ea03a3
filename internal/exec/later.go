package exec

// This file: what goes on after a step, on a core that times it: copies by the bulk copy engine
// (TMA), and operations on the memory of other blocks of the cluster. The executor moves all bytes
// when it steps the instruction, as in async.go; but a change of an mbarrier that a copy or another
// block causes is a Notice, which the core model gives to the block when the bytes have come. A
// program that waits at the barrier before it looks therefore has the results of a functional run.
//
// Arrivals and changes of byte counts are not asynchronous, unlike copies and st.async: the core model
// makes what orders memory for the cluster (PTX manual, Memory Consistency Model) wait until those of
// its block have been applied.

// Span is a piece of global memory.
type Span struct {
	Addr uint64
	Size int // bytes
}

// Notice is a change of an mbarrier that is still to come.
type Notice struct {
	Rank     int    // of the block whose barrier it is, in its cluster
	Addr     uint64 // in that block's shared memory
	Arrivals int64
	Tx       int64 // added to the bytes that the phase waits for: negative for bytes that have come
	Drop     bool  // the arrivals are also taken off the later phases
	Origin   Origin
}

// Origin is the instruction that has caused a Notice.
type Origin struct {
	Code  Places
	At    int // of its instructions, as in Work.Code
	Block Dim3
}

// Places is a kernel's code.
type Places interface {
	// Place returns where instruction i is: everything but the block and the thread.
	Place(i int) Where
}

// Where returns where the instruction is. The thread is left out.
func (o *Origin) Where() Where {
	if o.Code == nil {
		return Where{Block: o.Block, PC: -1}
	}
	w := o.Code.Place(o.At)
	w.Block = o.Block
	return w
}

// Bulk is what a step has started. Its lists are valid until the warp's next step.
type Bulk struct {
	Spans   []Span   // of global memory, in the order in which they are accessed
	Signals []Notice // at the end
	Remote  int      // bytes that go to each block that gets a signal, through the cluster's network
	Write   bool     // the spans are written
	Atomic  bool     // and reduced
	Tensor  bool     // by a tensor map
	Many    bool     // multicast
	// Of a product or a copy into tensor memory (tcgen05), for each of its SMs. Signals of a commit wait for those before it.
	Products int  // multiplications, in units of elements of 16 bits
	Operands int  // bytes that it reads of shared memory
	Pair     bool // the SM of the other block of a pair works at it as well
}

// Postponer is a Block whose signals can be postponed.
type Postponer interface {
	// Postpone makes steps return Effects.Bulk, and leaves its signals to the caller.
	Postpone()
	// Signal applies one that is for this block. The error is a *Fault.
	Signal(s Notice) error
}

// Suspender is a Warp that may wait for an mbarrier.
type Suspender interface {
	// Suspends reports whether the next instruction is a try_wait that would not succeed now.
	Suspends() bool
}

// ClusterMember is implemented by a Block that a core model runs as part of a cluster. The blocks of a
// cluster are started in the order of their ranks, one after the other.
type ClusterMember interface {
	Rank() int
	// Opened counts how often the barrier of the cluster has opened.
	Opened() uint64
	// Team identifies the cluster: no other has the same, although others may have its blocks after it,
	// which are used again.
	Team() any
}
