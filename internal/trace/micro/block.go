package micro

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/trace"
)

// This file: the messages threadblock, warp, instruction and address.

// lookup finds the index of an instruction in the code of a launch. A warp mostly
// continues with the next one.
type lookup struct {
	code []trace.Static // ascending by function and pc
	last int
}

func (l *lookup) find(function int32, pc uint32) (int32, bool) {
	if n := l.last + 1; n < len(l.code) && l.code[n].Func == function && l.code[n].PC == pc {
		l.last = n
		return int32(n), true
	}
	n, ok := slices.BinarySearchFunc(l.code, 0, func(s trace.Static, _ int) int {
		if c := cmp.Compare(s.Func, function); c != 0 {
			return c
		}
		return cmp.Compare(s.PC, pc)
	})
	l.last = n
	return int32(n), ok
}

// getBlock reads a threadblock into b, whose slices it reuses. Seen, if not nil, is
// called with each address and its width.
func getBlock(msg []byte, code *lookup, b *trace.Block, seen func(at int32, width uint64)) error {
	b.Warps, b.Insts, b.Mems, b.Deltas = b.Warps[:0], b.Insts[:0], b.Mems[:0], b.Deltas[:0]
	type part struct {
		id  int64
		msg []byte
	}
	var warps []part
	err := each(msg, func(f field) (err error) {
		switch {
		case f.message(1):
			b.Index, err = getDim(f.bytes)
		case f.number(3):
			return errors.New("it is packed as by a later fork of the tracer, with one function for the block; only the plain form can be read")
		case f.message(2):
			id, v, err := entry(f.bytes)
			if err != nil {
				return err
			}
			if id < 0 || id > math.MaxInt32 {
				return fmt.Errorf("warp %d does not exist", id)
			}
			warps = append(warps, part{id, v})
		}
		return err
	})
	if err != nil {
		return err
	}
	slices.SortFunc(warps, func(a, b part) int { return cmp.Compare(a.id, b.id) })
	for i, p := range warps {
		if i > 0 && p.id == warps[i-1].id {
			return fmt.Errorf("warp %d appears twice", p.id)
		}
		w := trace.Warp{ID: int32(p.id), From: int32(len(b.Insts))}
		for rest := p.msg; len(rest) > 0; {
			var f field
			if f, rest, err = next(rest); err == nil && f.message(2) {
				err = getInst(f.bytes, code, b, seen)
			}
			if err != nil {
				return fmt.Errorf("warp %d, instruction %d: %w", p.id, len(b.Insts)-int(w.From)+1, err)
			}
		}
		w.Upto = int32(len(b.Insts))
		b.Warps = append(b.Warps, w)
	}
	return nil
}

// maxAddresses bounds the addresses of an instruction (our choice): an LDGSTS has
// two, others one.
const maxAddresses = 8

func getInst(msg []byte, code *lookup, b *trace.Block, seen func(at int32, width uint64)) error {
	if len(b.Insts) == math.MaxInt32 {
		return errors.New("a block of more than 2³¹ instructions")
	}
	var pc, active, predicate uint32
	var function int32
	var addresses [maxAddresses][]byte
	n := 0
	for rest := msg; len(rest) > 0; {
		var f field
		var err error
		if f, rest, err = next(rest); err != nil {
			return err
		}
		switch {
		case f.number(1):
			pc = uint32(f.value)
		case f.number(2):
			active = uint32(f.value)
		case f.number(3):
			predicate = uint32(f.value)
		case f.number(4):
			function = int32(f.value)
		case f.message(5):
			if n == maxAddresses {
				return fmt.Errorf("it has more than %d addresses", maxAddresses)
			}
			addresses[n] = f.bytes
			n++
		}
	}
	at, ok := code.find(function, pc)
	if !ok {
		return fmt.Errorf("function %d has no instruction at pc %#x in the static code: are both from the same run?", function, pc)
	}
	in := trace.Inst{At: at, Active: isa.LaneMask(active), Mask: isa.LaneMask(active & predicate), Mem: -1, NMems: uint8(n)}
	if n > 0 {
		in.Mem = int32(len(b.Mems))
	}
	for _, a := range addresses[:n] {
		width, err := getAddress(a, b, in.Mask)
		if err != nil {
			return err
		}
		if seen != nil {
			seen(at, width)
		}
	}
	b.Insts = append(b.Insts, in)
	if n == 0 && seen != nil {
		seen(at, 0)
	}
	return nil
}

// getAddress reads an address and returns its width.
func getAddress(msg []byte, b *trace.Block, mask isa.LaneMask) (width uint64, err error) {
	m := trace.Mem{First: int32(len(b.Deltas))}
	var mode uint64
	add := func(v uint64) error {
		if len(b.Deltas)-int(m.First) == 32 {
			return errors.New("an address has more than 32 lanes")
		}
		if len(b.Deltas) == math.MaxInt32 {
			return errors.New("a block of more than 2³¹ addresses")
		}
		b.Deltas = append(b.Deltas, int64(v))
		return nil
	}
	for rest := msg; len(rest) > 0; {
		var f field
		if f, rest, err = next(rest); err != nil {
			return 0, err
		}
		switch {
		case f.number(1):
			width = f.value
		case f.number(3):
			mode = f.value
		case f.number(4):
			m.Base = f.value
		case f.number(5):
			m.Stride = int32(f.value)
		case f.number(6):
			err = add(f.value)
		case f.message(6): // packed, as proto3 does
			for p := f.bytes; len(p) > 0 && err == nil; {
				v, n := protowire.ConsumeVarint(p)
				if n < 0 {
					return 0, errWire
				}
				p = p[n:]
				err = add(v)
			}
		}
		if err != nil {
			return 0, err
		}
	}
	if mode > uint64(trace.BaseDelta) {
		return 0, fmt.Errorf("its addresses have mode %d, which is unknown; want 0, 1 or 2", int64(mode))
	}
	if width > math.MaxUint8 {
		return 0, fmt.Errorf("an access of %d bytes per lane is too wide", int64(width))
	}
	m.Mode, m.N = trace.Mode(mode), uint8(len(b.Deltas)-int(m.First))
	if m.N == 0 {
		m.First = 0
	}
	need := 0
	switch m.Mode {
	case trace.ListAll:
		need = mask.Count()
	case trace.BaseDelta:
		need = mask.Count() - 1
	}
	if int(m.N) < need {
		return 0, fmt.Errorf("%d lanes are set, but there are addresses for %d", mask.Count(), mask.Count()-need+int(m.N))
	}
	b.Mems = append(b.Mems, m)
	return width, nil
}

// putBlock writes a threadblock. Functions returns the function and pc of an
// instruction of the launch's code.
func putBlock(b *trace.Block, code []trace.Static, function []int32) ([]byte, error) {
	msg := putBytes(nil, 1, putDim(b.Index))
	var warp, inst, address, packed []byte
	for i := range b.Warps {
		w := &b.Warps[i]
		warp = putNumber(warp[:0], 1, signed(w.ID))
		if w.From < 0 || w.Upto < w.From || int(w.Upto) > len(b.Insts) {
			return nil, fmt.Errorf("warp %d lacks its instructions", w.ID)
		}
		for j := range b.Insts[w.From:w.Upto] {
			in := &b.Insts[int(w.From)+j]
			if in.At < 0 || int(in.At) >= len(code) || in.NMems > 0 && (in.Mem < 0 || int(in.Mem)+int(in.NMems) > len(b.Mems)) || in.NMems > maxAddresses {
				return nil, fmt.Errorf("warp %d, instruction %d is not in its launch's code, or lacks its accesses", w.ID, j+1)
			}
			inst = putNumber(inst[:0], 1, uint64(code[in.At].PC))
			inst = putNumber(inst, 2, uint64(in.Active))
			inst = putNumber(inst, 3, uint64(in.Mask))
			inst = putNumber(inst, 4, signed(function[in.At]))
			for k := range in.NMems {
				m := &b.Mems[in.Mem+int32(k)]
				address = putNumber(address[:0], 1, uint64(code[in.At].Width))
				address = putNumber(address, 3, uint64(m.Mode))
				address = putNumber(address, 4, m.Base)
				address = putNumber(address, 5, signed(m.Stride))
				if m.N > 0 {
					if m.First < 0 || int(m.First)+int(m.N) > len(b.Deltas) {
						return nil, fmt.Errorf("warp %d, instruction %d lacks its addresses", w.ID, j+1)
					}
					packed = packed[:0]
					for _, v := range b.Deltas[m.First : m.First+int32(m.N)] {
						packed = protowire.AppendVarint(packed, uint64(v))
					}
					address = putBytes(address, 6, packed)
				}
				inst = putBytes(inst, 5, address)
			}
			warp = putBytes(warp, 2, inst)
		}
		msg = putEntry(msg, 2, int64(w.ID), warp)
	}
	return msg, nil
}
