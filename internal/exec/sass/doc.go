// Package sass executes NVIDIA's machine language since Turing: it decodes each
// kernel once into an array of operations over 32 lanes and runs blocks of
// warps on device memory. It computes values; it knows nothing of cycles,
// caches or pipelines.
//
// The hardware does not check dependences. An instruction therefore has three parts
// that a core model calls when it chooses (exec.Deferred): it issues, it accesses
// memory, its results become visible. An instruction that issues too early reads old
// values. A functional run does all three at once.
//
// Layout: inst.go and decode.go turn instructions of isa/sass into operations, warp.go
// holds running warps and the three parts, flow.go decides which lanes run where,
// block.go has barriers and scheduling, machine.go programs and launches, and one file
// per family of instructions implements them.
//
// # Our conventions
//
// If neither a manual nor a measurement says what hardware does, the comment of the
// operation states the assumption. The larger ones:
//
//   - Of the two sides of a branch the fall-through side runs first, unless the launch
//     says otherwise; a side runs until it waits, ends or yields.
//   - A convergence barrier is kept per lane: two parts of a warp that use the same one
//     at the same time do not interfere.
//   - Addresses of code begin at 0 with the kernel's first instruction.
//   - Scopes up to the SM are a block's own. Blocks run in turn if they can communicate:
//     by global atomics, by fences and strong accesses of wider scope, or by loops that
//     load one word repeatedly. Otherwise they run in batches on several goroutines, see
//     package exec.
//   - An SHFL from a lane that does not take part returns 0.
package sass
