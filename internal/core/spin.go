package core

import (
	"strings"

	"github.com/heddle-sim/heddle/internal/exec"
)

// maxWarps is the most warp slots that a core has: a bit each in a mask.
const maxWarps = 64

// Spin watches the warps of a core for those that wait in a loop for what never
// comes. If every warp that can run has come back to a place with all registers
// as before, and memory has not changed in between, then all of them will go
// round for ever.
type Spin struct {
	broken  bool   // something has changed: they may go on
	seen    uint64 // warps that have been seen once
	looping uint64 // warps that came back as they were
	tries   int    // comparisons that a warp may fail
	failed  [maxWarps]int
	at      [maxWarps]int32 // instruction at which a warp was seen
	digest  [maxWarps]uint64
}

// Watch begins a search. A warp may come back to the same place so many times
// with other values before the search is given up.
func (p *Spin) Watch(tries int) { *p = Spin{tries: tries} }

// Break gives the search up: something has changed.
func (p *Spin) Break() { p.broken = true }

// Spinning reports whether all warps of a set, those that can run, have come
// back as they were; ended is true if the search has been given up, since
// something has changed.
func (p *Spin) Spinning(running uint64) (yes, ended bool) {
	if p.broken {
		return false, true
	}
	return running&^p.looping == 0, false
}

// Issued is told of every instruction that is issued: the warp x in slot s has
// done what e says and executes instruction next after it; ready is false if it
// cannot. Calm is what Calm says of the instruction.
func (p *Spin) Issued(s int, x exec.Warp, next int32, ready, calm bool, e *exec.Effects) {
	if e.Wrote || e.Timed || e.Exited != 0 || !calm {
		p.broken = true
	}
	bit := uint64(1) << s
	if p.broken || p.looping&bit != 0 || !ready || p.seen&bit != 0 && next != p.at[s] {
		return
	}
	h, ok := uint64(0), false
	if d, has := x.(exec.Digester); has {
		h, ok = d.Digest()
	}
	switch {
	case ok && p.seen&bit == 0:
		p.seen |= bit
		p.at[s], p.digest[s] = next, h
		return
	case ok && h == p.digest[s]:
		p.looping |= bit
		return
	}
	if p.failed[s]++; p.failed[s] > p.tries {
		p.broken = true
	}
}

// calmOps are the operations, of PTX and of SASS, of which a loop that waits may
// consist: they do nothing but to registers and to where a warp goes on. Atomic
// ones are looked at when they execute.
var calmOps = func() map[string]bool {
	m := map[string]bool{}
	for _, s := range strings.Fields(`abs add addc and activemask atom bfe bfi bra brev clz cnot cvt cvta div fence fma isspacep
		ld ldu lop3 mad mad24 madc max membar min mov mul mul24 nanosleep neg not or popc prmt red rem sad selp set setp
		shf shl shr slct sub subc testp vote xor
		ATOM ATOMG ATOMS BMOV BRA BREAK BSSY BSYNC CCTL CS2R DADD DEPBAR DFMA DMUL DSETP ERRBAR F2F F2I FADD FFMA FMNMX FMUL FSEL FSETP
		I2F IABS IADD3 IMAD IMNMX ISETP LD LDC LDG LDL LDS LEA LOP3 MEMBAR MOV MUFU NANOSLEEP NOP P2R PLOP3 POPC PRMT R2P R2UR S2R S2UR
		SEL SHF UIADD3 UIMAD UISETP ULDC ULEA ULOP3 UMOV UPLOP3 USEL USHF VOTE WARPSYNC YIELD`) {
		m[s] = true
	}
	return m
}()

// Calm reports whether a loop that waits may consist of instructions with an
// opcode.
func Calm(name string) bool {
	first, _, _ := strings.Cut(name, ".")
	return calmOps[first] || strings.HasPrefix(name, "bar.warp.")
}
