package exec

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// This file: other legal orders of a functional run. What threads see of each other
// depends on who runs first; each order gives the same results again.

// Sequence is an order in which blocks begin, and the warps of a block take turns. The zero
// value is forward: by their numbers.
type Sequence struct {
	Reverse bool   // from the last to the first; of a branch the taken side runs first
	Seed    uint64 // a random order, the same for the same seed; 0: none
}

// ParseSequence parses forward, reverse or seed=N.
func ParseSequence(s string) (Sequence, error) {
	number, seeded := strings.CutPrefix(s, "seed=")
	switch n, err := strconv.ParseUint(number, 10, 64); {
	case s == "" || s == "forward":
		return Sequence{}, nil
	case s == "reverse":
		return Sequence{Reverse: true}, nil
	case seeded && err == nil && n > 0:
		return Sequence{Seed: n}, nil
	}
	return Sequence{}, fmt.Errorf("%q is not an order; want forward, reverse or seed=N, where N is at least 1", s)
}

func (o Sequence) String() string {
	switch {
	case o.Seed != 0:
		return fmt.Sprintf("seed=%d", o.Seed)
	case o.Reverse:
		return "reverse"
	}
	return "forward"
}

// TakenFirst reports whether the taken side of a branch runs first.
func (o Sequence) TakenFirst() bool { return o.Reverse || mix(o.Seed)&1 != 0 && o.Seed != 0 }

// At returns the i-th of n things, as a permutation of 0 to n-1.
func (o Sequence) At(i, n uint64) uint64 {
	switch {
	case o.Seed != 0:
		return o.shuffled(i, n)
	case o.Reverse:
		return n - 1 - i
	}
	return i
}

// within is the order of the warps of block n: with a seed, each block has its own.
func (o Sequence) within(n uint64) Sequence {
	if o.Seed != 0 {
		o.Seed = mix(o.Seed^mix(n+1)) | 1
	}
	return o
}

// shuffled is a random permutation: a Feistel network of four rounds on the smallest even
// number of bits that holds n, repeated until the value is below n.
func (o Sequence) shuffled(i, n uint64) uint64 {
	half := max(1, (bits.Len64(n-1)+1)/2)
	mask := uint64(1)<<half - 1
	for {
		l, r := i>>half, i&mask
		for round := range uint64(4) {
			l, r = r, l^mix(o.Seed+round<<56+r)&mask
		}
		if i = l<<half | r; i < n {
			return i
		}
	}
}

// mix scrambles a number (the finaliser of MurmurHash3, public domain).
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
