// Package device is a GPU's memory: a 64-bit address space with allocations,
// guard gaps between them, symbols, a heap for kernels that call malloc, and
// views through which executing blocks read and write. It is the only place
// where the bytes of global and constant memory live, and the only place that
// decides whether an access to them is legal.
//
// It is not a timing model: caches, coalescing and DRAM know addresses but not
// values, this package knows values but not cycles. Shared, local and parameter
// memory belong to the executors; their addresses never reach this package.
//
// # Addresses
//
// Allocations are laid out upwards from Config.Base in the order in which they are
// made, so that every run gives the same addresses. An address is only used again once all
// up to Config.Top have been given out, which distinguishes a use after free from an access
// to a newer buffer.
//
// # Views
//
// A [View] is one block's view of memory. A direct view reads and writes in place. An
// overlay reads memory as it was and buffers its own writes until Commit. Blocks can
// then run on any number of goroutines, each with its own overlay, and the overlays
// are committed in block order: the outcome does not depend on the number of threads.
//
// # Between allocations
//
// A GPU maps some memory around every allocation. For callers that let programs reach
// it, [View.Stray] returns those bytes. They hold what was written there and belong to
// no allocation.
//
// # Concurrency
//
// Memory and View have no locks, except for creating such bytes. Any number of
// goroutines may read, each through its own overlay, as long as none of them commits,
// allocates, frees, uses the device heap or writes through a direct view meanwhile.
package device
