package exec

// This file: the contract between function and timing for asynchronous operations
// (isa.Async): copies past the registers now, copies of tensors and products of
// warp groups in time.
//
// What an operation is. The instruction starts one for each lane of
// Effects.Lanes. Effects.Addr has the address on the side that Effects.Space names,
// global memory for copies between it and shared memory; Inst.Width is the bytes of
// a lane, 0 if they are known at run time only. An operation that one lane starts
// for many bytes (bulk and tensor copies) is one lane of Effects.
//
// Who moves the bytes. The executor, never the model, and at the same points as of
// any other instruction: at Step; of a Deferred warp, it reads at Access and writes
// at Commit. So a functional run completes operations at once, in program order, and
// a timing run moves bytes in the order of issue. A program that waits before it
// looks cannot tell that from hardware. One that does not wait sees the bytes too
// early instead of too late.
//
// Who counts. The executor counts what the program can read: arrivals and bytes at
// an mbarrier, when it moves the bytes. Groups cannot be read, so it has none:
// commits and waits do nothing there. The model counts groups by isa.Async: an
// operation joins its warp's open group when it issues, and leaves it when the last
// of its requests is answered. A wait holds the warp until few enough groups are
// under way.
//
// What models do not delay yet: an mbarrier's phase ends when the executor has moved
// the bytes. To delay it, a model must keep the program's test_wait from succeeding
// while operations ByMbarrier are under way; it needs the barrier's address in
// Effects, which it does not have.
//
// Clusters. A block is a cluster of its own: cluster barriers and shared::cluster
// addresses are the block's, and launches with larger clusters are refused (Check).
// Work hands out single blocks; for clusters it will have to hand out as many
// consecutive ones as Launch.Cluster counts, to one group of SMs at a time.
