package simt

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// class is a class of instructions that the pipeline treats alike.
type class uint8

const (
	classALU class = iota
	classMem
	classFence
)

// op is an instruction with its properties on a core of one configuration.
type op struct {
	inst     *isa.Inst
	class    class
	load     bool // waits for a reply; true for atomics
	sure     bool // a load that hits the L1 whatever it holds (Ideal.Line)
	branches bool // conditionally
	calm     bool // changes only registers, control flow and memory, and Effects report the latter
	copy     bool // asynchronous copy: the warp waits for its replies separately
	// group is the kind of group that an asynchronous copy joins, a commit closes and
	// a wait waits for, until at most leave groups are left.
	group         isa.Completion
	commit, await bool
	leave         int
	set           Set
	lat           uint16 // cycles in the unit
	init          uint16 // cycles until the unit accepts the next one
	elem          uint8  // bytes per lane
	nDst          int32  // registers written
	// dst are the registers written, test those that must not be reserved, reads those
	// read through the collector.
	dst, test, reads []core.RegMask
	// readBanks and dstBanks are the bank numbers of the registers read and written,
	// without duplicates.
	readBanks, dstBanks []uint16
}

// Kernel is a launch made ready for the cores of one GPU. It is shared and
// never changes while they run it.
type Kernel struct {
	core.Fit

	ops   []op
	words int // 64-bit words of a warp's register mask
}

// NewPlaces returns empty places for its instructions.
func (k *Kernel) NewPlaces() core.Places { return make(core.Places, len(k.ops)) }

// NewKernel prepares a launch for cores of configuration cfg. The default size of an
// instruction is 8 bytes, as for PTX here. The error is an *exec.LaunchError if none
// of its blocks fits on an SM.
func NewKernel(cfg *Config, w exec.Work, o core.KernelOptions) (*Kernel, error) {
	if o.InstBytes == 0 {
		o.InstBytes = 8
	}
	fit, err := core.NewFit(cfg, w, o)
	if err != nil {
		return nil, err
	}
	for _, in := range w.Code() {
		if n := int(in.Named); cfg.Barriers > 0 && n > cfg.Barriers {
			return nil, core.Refuse(w, "%s, line %d of the program text: there is no barrier %d; a block has %d barriers on this GPU, numbered from 0", in.Op, in.Pos.Line, n-1, cfg.Barriers)
		}
	}
	k := &Kernel{Fit: fit}
	if err := k.decode(cfg); err != nil {
		return nil, core.Refuse(w, "%v", err)
	}
	return k, nil
}

// files is the number of register files of package isa that hold registers.
const files = int(isa.RegUPred)

// maxRegisters is the number of registers that the scoreboard's numbers can represent.
const maxRegisters = 1 << 16

// decode fills the table of instructions.
func (k *Kernel) decode(cfg *Config) error {
	code := k.Work.Code()
	// All files share one numbering, in which general registers come first and keep
	// their numbers.
	var size, first [files + 1]uint32
	total := 0
	for _, in := range code {
		total += 2*len(in.Dsts) + 2*len(in.Srcs)
		for _, list := range [2][]isa.Reg{in.Dsts, in.Srcs} {
			for _, r := range list {
				if int(r.File) <= files {
					size[r.File] = max(size[r.File], r.Index+1)
				}
			}
		}
	}
	n := uint32(0)
	for f := int(isa.RegGPR); f <= files; f++ {
		first[f] = n
		n += size[f]
	}
	if n > maxRegisters {
		return fmt.Errorf("uses %d registers; the scoreboard has at most %d", n, maxRegisters)
	}
	k.words = max(1, int(n+63)/64)
	number := func(r isa.Reg) (uint16, bool) {
		if r.File == isa.NoReg || int(r.File) > files {
			return 0, false
		}
		return uint16(first[r.File] + r.Index), true
	}
	k.ops = make([]op, len(code))
	hits := cfg.Ideal.Hits(k.Work)
	store := make([]uint16, 0, total)
	for i, in := range code {
		o := &k.ops[i]
		o.inst = in
		o.classify(cfg)
		o.init = uint16(core.Half(cfg.doubled(o.set), int(o.init)))
		o.sure = hits != nil && in.Load && !in.Store && !in.Atomic && hits(i)
		o.calm, o.branches = core.Calm(in.Op), core.Branches(in)
		at := len(store)
		for _, r := range in.Dsts {
			if n, ok := number(r); ok {
				store = appendNew(store, at, n)
			}
		}
		dsts := store[at:len(store):len(store)]
		// A guard is tested but not collected. It is the first source; an address is
		// the next.
		srcs, guard := in.Srcs, []isa.Reg(nil)
		if in.Guarded && len(srcs) > 0 && srcs[0].File == isa.RegPred {
			guard, srcs = srcs[:1], srcs[1:]
		}
		if in.Atomic && len(srcs) > 0 && cfg.Compat.AtomicAddressFree && in.Pipe == isa.PipeNone {
			srcs = srcs[1:]
		}
		at = len(store)
		for _, r := range srcs {
			if n, ok := number(r); ok {
				store = appendNew(store, at, n)
			}
		}
		o.readBanks, o.dstBanks = store[at:len(store):len(store)], dsts
		o.nDst, o.dst, o.reads = int32(len(dsts)), core.RegMasks(nil, dsts), core.RegMasks(nil, o.readBanks)
		if cfg.Compat.NameBanks {
			o.nameBanks(srcs, in.Dsts)
		}
		at = len(store)
		for _, list := range [3][]isa.Reg{guard, srcs, in.Dsts} {
			for _, r := range list {
				if n, ok := number(r); ok {
					store = appendNew(store, at, n)
				}
			}
		}
		o.test = core.RegMasks(nil, store[at:])
	}
	return nil
}

// traced is classify for an instruction of a trace (Accel-Sim; the classes are
// specified at isa.Pipe).
func (o *op) traced(cfg *Config) Timing {
	in := o.inst
	tr := &cfg.TraceTime
	t := Timing{1, 1}
	switch p := in.Pipe; p {
	case isa.PipeALU, isa.PipeInt:
		t = tr.Int
	case isa.PipeSP:
		o.set, t = SP, tr.SP
	case isa.PipeDP:
		o.set, t = DP, tr.DP
	case isa.PipeSFU:
		o.set, t = SFU, tr.SFU
	case isa.PipeTensor:
		o.set, t = Tensor, tr.Tensor
	case isa.PipeMemory:
		o.class, o.set = classMem, Mem
		o.load = in.Load || in.Atomic
		o.elem = max(in.Width, 1)
	case isa.PipeFence:
		o.class, o.set = classFence, Mem
	default:
		if p < isa.PipeSpec1 {
			break
		}
		t = tr.Int
		if s := Spec1 + Set(p-isa.PipeSpec1); cfg.Units[s] > 0 {
			o.set, t = s, tr.Spec[p-isa.PipeSpec1]
		}
	}
	if in.Quick {
		t.Initiation = max(1, t.Initiation/2)
	}
	return t
}

// noBank marks a register without a bank.
const noBank = 0xffff

// nameBanks takes the bank numbers of registers from the numbers in their names.
// Registers with the same number are read once; those without a number are neither
// read nor written through the banks.
func (o *op) nameBanks(srcs, dsts []isa.Reg) {
	o.readBanks, o.dstBanks = nil, make([]uint16, o.nDst)
	for _, r := range srcs {
		if r.Number > 0 {
			o.readBanks = appendNew(o.readBanks, 0, r.Number-1)
		}
	}
	at := 0
	seen := map[isa.Reg]bool{}
	for _, r := range dsts {
		if seen[r] || at == len(o.dstBanks) {
			continue
		}
		seen[r] = true
		o.dstBanks[at] = r.Number - 1 // noBank if it has none
		at++
	}
}

// appendNew appends v unless it is among s[from:].
func appendNew(s []uint16, from int, v uint16) []uint16 {
	for _, x := range s[from:] {
		if x == v {
			return s
		}
	}
	return append(s, v)
}

// classify determines where an instruction executes and how long it takes (GPGPU-Sim
// 2.3 and 9).
func (o *op) classify(cfg *Config) {
	in := o.inst
	t := cfg.OtherTime
	o.set = Int
	switch {
	case in.Pipe != isa.PipeNone:
		t = o.traced(cfg)
	case in.Kind == isa.KindFence:
		o.class, o.set, t = classFence, Mem, Timing{1, 1}
	case in.Load || in.Store:
		o.class, o.set, t = classMem, Mem, Timing{1, 1}
		o.load = in.Load || in.Atomic
		o.elem = in.Width
		if o.elem == 0 {
			o.elem = max(in.Elem, 1)
		}
	case in.Unit == isa.UnitTensor:
		o.set, t = Tensor, cfg.TensorTime
	case in.Unit == isa.UnitSFU && in.Kind == isa.KindOther:
		o.set, t = SFU, cfg.SFUTime
	case in.Kind != isa.KindOther:
		times := &cfg.IntTime
		switch in.Data {
		case isa.DataFloat:
			times, o.set = &cfg.FloatTime, SP
		case isa.DataDouble:
			times, o.set = &cfg.DoubleTime, DP
		}
		switch in.Kind {
		case isa.KindAdd:
			t = times.Add
		case isa.KindMax:
			t = times.Max
		case isa.KindMul:
			t = times.Mul
		case isa.KindMad:
			t = times.Mad
		case isa.KindDiv:
			t, o.set = times.Div, SFU
		case isa.KindMul24:
			t, o.set = cfg.IntTime.Mul, Int
			t.Latency++
			t.Initiation++
		case isa.KindMad24:
			t, o.set = cfg.IntTime.Mad, Int
			t.Latency++
			t.Initiation++
		case isa.KindShfl:
			t, o.set = cfg.IntTime.Shfl, Int
		}
	}
	switch {
	case o.set == Int && cfg.Units[Int] == 0:
		o.set = SP
	case o.set == DP && cfg.Units[DP] == 0:
		o.set = SFU
	case o.set == Tensor && cfg.Units[Tensor] == 0:
		// Such a GPU has no matrix instructions. A program that uses them anyway
		// computes its products on the SP units, with the tensor units' timing
		// (assumed).
		o.set = SP
	}
	o.copying()
	o.lat, o.init = uint16(t.Latency), uint16(t.Initiation)
}
