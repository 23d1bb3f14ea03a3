package trace

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/isa"
)

// Summary describes a launch without running it.
type Summary struct {
	Header
	// Code is the number of distinct static instructions, Control how many of them
	// have control bits.
	Code, Control int
	// Blocks counts the blocks of the grid, Present those in the trace.
	Blocks, Present uint64
	// Missing are the first blocks that the trace lacks, at most ten.
	Missing []Dim
	Warps   uint64
	// WarpInsts and ThreadInsts count records, and lanes whose guard held.
	WarpInsts, ThreadInsts uint64
	// Ops counts warp instructions by mnemonic, the most frequent first.
	Ops []OpCount
	// Bytes counts the bytes accessed by lanes, by space in the order of Spaces:
	// lanes times the width that the trace states, which may differ from what the
	// hardware moves.
	Bytes    [NumSpaces]uint64
	Warnings []string
}

// OpCount is a mnemonic with modifiers and the number of its executions.
type OpCount struct {
	Op    string
	Count uint64
}

// Space is a memory that an opcode addresses.
type Space uint8

// The spaces. A generic address is resolved by its value if the header has the
// windows; otherwise it stays Generic.
const (
	SpaceGlobal Space = iota
	SpaceShared
	SpaceLocal
	SpaceConst
	SpaceGeneric
	SpaceOther
	NumSpaces
)

var spaceNames = [NumSpaces]string{"global", "shared", "local", "constant", "generic", "other"}

func (s Space) String() string { return spaceNames[s] }

// window is the size of the generic windows of shared and local memory in
// bytes (read from the tracer: 16 MiB).
const window = 16 << 20

// SpaceOf returns the memory that an opcode accesses; modifiers are optional.
// LDGSTS counts as global, which it reads; its write to shared memory does not
// count.
func SpaceOf(op string) Space {
	base, _, _ := strings.Cut(op, ".")
	switch base {
	case "LDG", "STG", "ATOMG", "RED", "REDG", "LDGSTS", "TLD", "TEX", "SULD", "SUST", "SUATOM", "SURED":
		return SpaceGlobal
	case "LDS", "STS", "LDSM", "STSM", "ATOMS", "REDS", "LDSLK", "STSCUL":
		return SpaceShared
	case "LDL", "STL":
		return SpaceLocal
	case "LDC", "LDCU":
		return SpaceConst
	case "LD", "ST", "ATOM":
		return SpaceGeneric
	}
	return SpaceOther
}

// SpaceAt returns the memory that an access reaches: for a generic address with
// known windows, that of the window around it; otherwise space.
func (h *Header) SpaceAt(s Space, addr uint64) Space {
	if s != SpaceGeneric || h.SharedBase == 0 && h.LocalBase == 0 {
		return s
	}
	switch {
	case h.SharedBase != 0 && addr-h.SharedBase < window:
		return SpaceShared
	case h.LocalBase != 0 && addr-h.LocalBase < window:
		return SpaceLocal
	}
	return SpaceGlobal
}

// mostMissing bounds Summary.Missing.
const mostMissing = 10

// Summarize reads a launch whole. Errors of reading are of type *Error.
func Summarize(k *Kernel) (*Summary, error) {
	s := &Summary{
		Header: k.Header, Code: len(k.Code),
		Blocks: k.Grid.Count(), Present: uint64(len(k.Present)),
		WarpInsts: k.WarpInsts, ThreadInsts: k.ThreadInsts,
		Missing:  k.missing(),
		Warnings: k.Warnings,
	}
	spaces := make([]Space, len(k.Code))
	for i := range k.Code {
		spaces[i] = SpaceOf(k.Code[i].Op)
		if k.Code[i].Control != nil {
			s.Control++
		}
	}
	counts := make([]uint64, len(k.Code))
	for i := range k.Present {
		b, err := k.Blocks.Block(i)
		if err != nil {
			return nil, err
		}
		s.Warps += uint64(len(b.Warps))
		for j := range b.Insts {
			in := &b.Insts[j]
			counts[in.At]++
			if in.NMems > 0 {
				s.addBytes(k, b, in, spaces[in.At])
			}
		}
		k.Blocks.Free(b)
	}
	ops := map[string]uint64{}
	for i, n := range counts {
		if n > 0 {
			ops[k.Code[i].Op] += n
		}
	}
	for _, op := range slices.Sorted(maps.Keys(ops)) {
		s.Ops = append(s.Ops, OpCount{op, ops[op]})
	}
	slices.SortStableFunc(s.Ops, func(a, b OpCount) int { return cmp.Compare(b.Count, a.Count) })
	return s, nil
}

// addBytes counts an access.
func (s *Summary) addBytes(k *Kernel, b *Block, in *Inst, space Space) {
	n := uint64(k.Code[in.At].Width)
	if space != SpaceGeneric {
		s.Bytes[space] += n * uint64(in.Mask.Count())
		return
	}
	var addr [isa.WarpSize]uint64
	b.Expand(&b.Mems[in.Mem], in.Mask, &addr)
	for m := in.Mask; m != 0; m &= m - 1 {
		s.Bytes[k.SpaceAt(space, addr[m.First()])] += n
	}
}

// missing returns the first blocks of the grid that are not present.
func (k *Kernel) missing() (list []Dim) {
	if uint64(len(k.Present)) >= k.Grid.Count() {
		return nil
	}
	have := k.Present
	if !slices.IsSorted(have) {
		have = slices.Sorted(slices.Values(have))
	}
	at := uint64(0)
	for _, p := range have {
		for ; at < p; at++ {
			if list = append(list, k.Grid.At(at)); len(list) == mostMissing {
				return list
			}
		}
		at = p + 1
	}
	for ; at < k.Grid.Count() && len(list) < mostMissing; at++ {
		list = append(list, k.Grid.At(at))
	}
	return list
}

func (d Dim) String() string { return fmt.Sprintf("%d,%d,%d", d[0], d[1], d[2]) }
