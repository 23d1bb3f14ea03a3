package isa

// AsyncRole is an instruction's role in asynchronous operations: those that continue after
// it has issued, while the warp runs on.
type AsyncRole uint8

// The roles.
const (
	NotAsync     AsyncRole = iota
	AsyncStart             // starts an operation
	AsyncCommit            // closes the group of operations that the warp has started
	AsyncWait              // waits until at most Leave closed groups are outstanding
	AsyncWaitAll           // closes the group and waits for all
)

// Completion is where the end of an asynchronous operation is observed. A warp has a
// sequence of groups of each kind; the kinds are independent of each other.
type Completion uint8

// The completions.
const (
	ByNothing     Completion = iota
	ByGroup                  // groups of cp.async and LDGSTS
	ByBulk                   // groups of cp.async.bulk
	ByMbarrier               // a barrier in shared memory that counts bytes
	ByProduct                // groups of wgmma
	ByCommit                 // an mbarrier that a commit of tcgen05 names: products, and copies into tensor memory
	ByTensorLoad             // tcgen05.wait::ld
	ByTensorStore            // tcgen05.wait::st
)

// Async is an instruction's part in asynchronous operations; package exec (async.go)
// describes who moves the bytes, and when the end is observed. For a start, Done is where
// its end is observed; for a commit or a wait, the groups concerned.
//
// A tensor copy (TMA) is a start by ByMbarrier or ByBulk. The start of a warp-group matrix
// product (WGMMA) is known by Inst.Tensor; its groups are ByProduct.
type Async struct {
	Does  AsyncRole
	Done  Completion
	Leave int32
	// Read says that a wait is only for the reading of sources.
	Read bool
}
