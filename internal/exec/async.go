package exec

// This file: the contract between function and timing for asynchronous operations
// (isa.Async): copies that bypass the registers now, tensor copies and warp-group
// products later.
//
// What an operation is. The instruction starts one operation per lane of
// Effects.Lanes. Effects.Addr holds the addresses in the space named by
// Effects.Space, which is global memory for copies between global and shared memory.
// Inst.Width is the number of bytes per lane, 0 if it is known only at run time. An
// operation that one lane starts for many bytes (bulk and tensor copies) is one lane
// of Effects.
//
// Who moves the bytes. The executor, never the model, and at the same points as for
// any other instruction: at Step, or, for a Deferred warp, reading at Access and
// writing at Commit. A functional run therefore completes operations immediately, in
// program order, and a timing run moves bytes in issue order. A program that waits
// before it reads cannot distinguish this from hardware. A program that does not wait
// sees the bytes too early instead of too late.
//
// Who counts. The executor counts what the program can read: the arrivals and bytes
// of an mbarrier, when it moves the bytes. Groups cannot be read, so the executor has
// none, and commits and waits do nothing there. The model counts groups by isa.Async:
// an operation joins its warp's open group when it issues and leaves it when the last
// of its requests is answered. A wait holds the warp until few enough groups are
// outstanding.
//
// An mbarrier's phase ends as soon as the executor has moved the bytes, unless the model
// takes that on itself: see later.go.
//
// Clusters. A functional run gives the blocks of a cluster their turns as if they were one block
// (NewCluster), so that they reach each other's shared memory. Work hands out the blocks of a
// cluster one after the other, and a chip places them together. All their instructions take turns
// with those of other SMs.
