// Package ptx executes PTX: it links parsed modules, decodes each kernel once
// into a flat array of operations over 32 lanes, and runs blocks of warps on
// device memory. It computes values and counts instructions; it knows nothing
// of cycles, caches or pipelines.
//
// Link makes a Program of one or more modules. A Machine is a Program placed in device
// memory; its Run executes a launch to the end. Results do not depend on the number of
// worker goroutines.
//
// Layout: program.go links and lays out variables, decode.go turns text-level
// instructions into operations, warp.go and block.go hold the state of running warps
// and their control flow, and one file per family of instructions implements them.
// ops_gen.go is generated from the rows in opgen for everything that is one expression
// per lane.
package ptx
