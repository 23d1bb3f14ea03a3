package kasm

import "github.com/heddle-sim/heddle/internal/isa/kasm"

// Atomic returns what an atomic leaves in memory: old is the word there, b and
// c are the values of rs2 and rs3. The instruction's own result is old.
func Atomic(a kasm.Atomic, old, b, c uint32) uint32 {
	switch a {
	case kasm.AtomicAdd:
		return old + b
	case kasm.AtomicMin:
		return uint32(min(int32(old), int32(b)))
	case kasm.AtomicMax:
		return uint32(max(int32(old), int32(b)))
	case kasm.AtomicAnd:
		return old & b
	case kasm.AtomicOr:
		return old | b
	case kasm.AtomicXor:
		return old ^ b
	case kasm.AtomicExch:
		return b
	case kasm.AtomicCas:
		if old == b {
			return c
		}
	}
	return old
}
