package core

import (
	"cmp"
	"math/bits"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/param"
)

// This file: idealisations of an SM. Each removes one cause of lost time; what instructions
// compute stays the same. No machine has them; all are off unless a what-if question turns
// one on.

// Ideal are the idealisations that core models offer. A model lists those that it obeys in
// Model.Ideals; the others are refused.
type Ideal struct {
	MSHRs         bool   `key:"mshrs" help:"caches of data follow any number of misses at a time, and SMs any number of pending requests" def:"false" source:"what-if; no machine has it"`
	Coalescing    bool   `help:"a warp's access to global memory touches as few lines and sectors as its bytes fill" def:"false" source:"what-if; no machine has it"`
	SharedBanks   bool   `help:"accesses to shared memory have no bank conflicts" def:"false" source:"what-if; no machine has it"`
	ICache        bool   `key:"icache" help:"every fetch of an instruction hits" def:"false" source:"what-if; no machine has it"`
	Const         bool   `help:"every look-up of a constant hits" def:"false" source:"what-if; no machine has it"`
	RegisterPorts bool   `help:"any number of registers can be read and written in a cycle" def:"false" source:"what-if; no machine has it"`
	Occupancy     bool   `help:"registers, shared memory and places for blocks never limit the blocks on an SM; its threads do" def:"false" source:"what-if; no machine has it"`
	Divergence    bool   `help:"a warp whose lanes have diverged issues as many instructions as its fullest lane needs" def:"false" source:"what-if; no machine has it"`
	IssueWidth    bool   `help:"schedulers issue twice as many instructions in a cycle, and fetch as many" def:"false" source:"what-if; no machine has it"`
	Double        Pipes  `help:"pipes that accept twice as many instructions"`
	Line          string `help:"FILE:LINE of a program text or its source: loads there hit the L1 data cache; empty: none" def:"" source:"what-if; no machine has it"`
}

// Pipes are the pipes that can be doubled.
type Pipes struct {
	Int     bool `help:"the integer pipe accepts twice as many instructions" def:"false" source:"what-if; no machine has it"`
	FP32    bool `key:"fp32" help:"the f32 pipe accepts twice as many instructions" def:"false" source:"what-if; no machine has it"`
	FP64    bool `key:"fp64" help:"the f64 pipe accepts twice as many instructions" def:"false" source:"what-if; no machine has it"`
	SFU     bool `key:"sfu" help:"the special function units accept twice as many instructions" def:"false" source:"what-if; no machine has it"`
	Tensor  bool `help:"the tensor units accept twice as many instructions" def:"false" source:"what-if; no machine has it"`
	Uniform bool `help:"the uniform datapath accepts twice as many instructions" def:"false" source:"what-if; no machine has it"`
	Memory  bool `help:"the load/store path of an SM accepts twice as many instructions; L1 and shared memory serve twice as much per cycle" def:"false" source:"what-if; no machine has it"`
}

// Ideals returns the names of all idealisations of SMs, for models that obey all.
func Ideals() []string {
	var names []string
	for _, p := range param.Of(new(Ideal), "", false) {
		names = append(names, p.Name)
	}
	return names
}

// Unlimited is more of anything than an SM ever holds.
const Unlimited = 1 << 40

// Half halves an interval between instructions, rounded up, if the pipe is doubled.
func Half(doubled bool, interval int) int {
	if doubled {
		return (interval + 1) / 2
	}
	return interval
}

// SectorsPerLine is the number of sectors of a line of the L1 data cache.
const SectorsPerLine = mem.LineBytes / mem.SectorBytes

// Packed returns how few sectors and lines suffice for a warp's access of size bytes, elements of
// elem bytes each, which now touches that many sectors of n lines; from is the line with which they
// begin. It depends on where in its line the first access is (its bytes), so that a loop that goes
// along the lines reads each once.
func Packed(n, touched, size, elem int, first *mem.ByteMask) (sectors, lines, from int) {
	sectors = min(touched, (size+mem.SectorBytes-1)/mem.SectorBytes)
	lines = min(n, (sectors+SectorsPerLine-1)/SectorsPerLine)
	offset := bits.TrailingZeros64(first[0])
	if first[0] == 0 {
		offset = 64 + bits.TrailingZeros64(first[1])
	}
	return sectors, lines, offset / elem * lines
}

// Hits returns a function that reports whether loads at instruction i of a launch's code
// hit the L1 data cache because of Line; nil if there are none.
func (d *Ideal) Hits(w exec.Work) func(i int) bool {
	file, line, ok := SplitLine(d.Line)
	src := w.Traits().Source
	if !ok || src == nil {
		return nil
	}
	return func(i int) bool {
		at := src(i)
		return line == int(at.Pos.Line) && SameFile(at.File, file) || line == at.SrcLine && SameFile(at.SrcFile, file)
	}
}

// SplitLine splits FILE:LINE.
func SplitLine(text string) (file string, line int, ok bool) {
	i := strings.LastIndexByte(text, ':')
	if i <= 0 {
		return "", 0, false
	}
	line, err := strconv.Atoi(text[i+1:])
	return text[:i], line, err == nil && line > 0
}

// SameFile reports whether a name, which may begin with some of its folders, names a file.
func SameFile(file, name string) bool {
	file, name = path.Clean(filepath.ToSlash(cmp.Or(file, "?"))), path.Clean(filepath.ToSlash(name))
	return file == name || strings.HasSuffix(file, "/"+name)
}

// FreePaths counts the instructions that a warp's lanes have executed since all of them
// were last active together. An instruction is free if its lanes catch up with a lane that
// has executed more.
type FreePaths struct {
	count [32]uint16
	most  uint16
}

// Charge counts an instruction that issues with the given lanes active; live are those that
// have not ended.
func (f *FreePaths) Charge(active, live isa.LaneMask) {
	if active&live == live {
		if f.most != 0 {
			*f = FreePaths{}
		}
		return
	}
	f.add(active)
}

// Free reports whether an instruction with the given lanes active is free, and counts it if
// it is.
func (f *FreePaths) Free(active, live isa.LaneMask) bool {
	if f.most == 0 || active&live == live {
		return false
	}
	for i := range f.count {
		if active>>i&1 != 0 && f.count[i] >= f.most {
			return false
		}
	}
	f.add(active)
	return true
}

func (f *FreePaths) add(active isa.LaneMask) {
	for i := range f.count {
		if active>>i&1 == 0 {
			continue
		}
		if f.count[i]++; f.count[i] > f.most {
			f.most = f.count[i]
		}
	}
	if f.most == 1<<16-1 { // a very long region: start over
		*f = FreePaths{}
	}
}

// CountFree counts an instruction that has executed without an issue: its lanes, here and
// at its place if places are kept. It is no warp instruction, because those are issues.
func (s *Stats) CountFree(p Places, at int, lanes isa.LaneMask) {
	n := uint64(lanes.Count())
	s.ThreadInsts += n
	if p != nil {
		p[at].Lanes += n
	}
}
