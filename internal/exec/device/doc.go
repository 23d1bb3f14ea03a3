// Package device is a GPU's memory: a 64-bit address space with allocations,
// guard gaps between them, symbols, a heap for kernels that call malloc, and
// views through which executing blocks read and write. It is the only place
// where the bytes of global and constant memory live, and the only place that
// decides whether an access to them is legal.
//
// It is not a timing model: caches, coalescing and DRAM know addresses and no
// values, this package knows values and no cycles. Shared, local and parameter
// memory belong to the executors; their addresses never come here.
//
// # Addresses
//
// Allocations are laid out upwards from Config.Base in the order in which they
// are made, so that a run gives the same addresses every time. An address range
// is never handed out twice, which is how a use after free is told apart from
// an access to a newer buffer.
//
// # Views
//
// A [View] is what one block sees. A direct view reads and writes in place. An
// overlay reads memory as it was and keeps its own writes aside until Commit.
// Blocks may then run on any number of goroutines, each with its overlay, and
// the overlays are committed in block order: the outcome does not depend on the
// number of threads.
//
// # Between allocations
//
// A GPU has memory mapped a little outside of every allocation. For callers who
// let programs reach it, [View.Stray] gives such bytes, which hold what was written
// there and are no part of any allocation.
//
// # Concurrency
//
// Memory and View have no locks, but for the making of such bytes. Any number of goroutines may read, each
// through its own overlay, as long as nobody commits, allocates, frees, uses
// the device heap or writes through a direct view at the same time.
package device
