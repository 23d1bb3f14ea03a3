// Package kasm computes what the instructions of the Kepler-style core do to the 32
// lanes of a warp: integer operations, comparisons, the core's own floating-point
// arithmetic and its table-driven special functions. The atomics, the rasteriser and
// the texture unit are our own definitions.
//
// It keeps no state and knows nothing of cycles; registers, masks, memory and ordering
// belong to core/kepler.
package kasm

import "github.com/heddle-sim/heddle/internal/isa/kasm"

// Vector is one value for each lane.
type Vector [kasm.Lanes]uint32
