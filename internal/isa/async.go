package isa

// AsyncRole is what an instruction has to do with asynchronous operations: those
// that go on after it has issued, while the warp runs on.
type AsyncRole uint8

// The roles.
const (
	NotAsync     AsyncRole = iota
	AsyncStart             // starts an operation
	AsyncCommit            // closes the group of operations that the warp has started
	AsyncWait              // waits until at most Leave closed groups are under way
	AsyncWaitAll           // closes the group and waits for all
)

// Completion is where the end of an asynchronous operation is seen. A warp has a
// row of groups of each kind, which do not wait for each other.
type Completion uint8

// The completions.
const (
	ByNothing  Completion = iota
	ByGroup               // groups of cp.async and LDGSTS
	ByBulk                // groups of cp.async.bulk
	ByMbarrier            // a barrier in shared memory that counts bytes
)

// Async is an instruction's part in asynchronous operations; package exec
// (async.go) says who moves the bytes, and when the end is seen. Of a start, Done
// is where its end is seen; of a commit or a wait, the groups that are meant.
//
// A matrix product of a warp group (WGMMA) is a start whose groups are a further
// Completion. A tensor copy (TMA) is a start by ByMbarrier or ByBulk.
type Async struct {
	Does  AsyncRole
	Done  Completion
	Leave int32
}
