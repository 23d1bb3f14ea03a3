// Package sass executes NVIDIA's machine language since Turing: it decodes each
// kernel once into an array of operations over 32 lanes and runs blocks of
// warps on device memory. It computes values; it knows nothing of cycles,
// caches or pipelines.
//
// The hardware of these machines does not check dependences. So an instruction
// comes in three parts that a core model calls when it will (exec.Deferred):
// it issues, it accesses memory, its results become visible. Whoever issues too
// early reads old values. A functional run does the three at once.
//
// How it is laid out: inst.go and decode.go turn instructions of isa/sass into
// operations, warp.go holds running warps and the three parts, flow.go which
// lanes run where, block.go barriers and turns, machine.go programs and
// launches, and one file per family of instructions says what they do.
//
// # What is ours
//
// Where neither a manual nor a measurement says what hardware does, the
// comment of the operation says what is assumed. The larger ones:
//
//   - Of two sides of a branch the one that falls through goes first, unless the
//     launch says otherwise; a side runs until it waits, ends or yields.
//   - A convergence barrier is kept per lane: two parts of a warp that use the
//     same one at a time do not disturb each other.
//   - Addresses of code begin at 0 with the kernel's first instruction.
//   - Scopes up to the SM are a block's own. Where blocks can talk to each other,
//     by global atomics, by fences and strong accesses of wider scope, or by
//     loops that load one word again and again, they run in turn; else in
//     batches on several goroutines, see package exec.
//   - Lanes that an SHFL asks but that do not take part give the asker its own
//     value.
package sass
