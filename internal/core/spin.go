package core

import (
	"strings"

	"github.com/heddle-sim/heddle/internal/exec"
)

// maxWarps is the maximum number of warp slots of a core, a bit each in a mask.
const maxWarps = 64

// Spin detects endless wait loops. If every warp that can run has returned to an
// instruction with all registers unchanged, and memory has not changed in between,
// then all of them will loop forever.
type Spin struct {
	broken  bool   // something has changed, so the loops may end
	seen    uint64 // warps whose state has been recorded
	looping uint64 // warps that returned with the same state
	tries   int    // number of comparisons that a warp may fail
	failed  [maxWarps]int
	at      [maxWarps]int32 // instruction at which the state was recorded
	digest  [maxWarps]uint64
}

// SpinWatch is the search of a core for endless loops. A model embeds it.
type SpinWatch struct {
	Spin  *Spin // nil before the first search
	Spins bool  // every issue is reported to Spin
}

// WatchSpin starts the search. It ends once a warp has returned more than tries times
// to the same instruction with other values.
func (w *SpinWatch) WatchSpin(tries int) {
	if w.Spin == nil {
		w.Spin = new(Spin)
	}
	*w.Spin, w.Spins = Spin{tries: tries}, true
}

// EndSpin ends the search.
func (w *SpinWatch) EndSpin() { w.Spins = false }

// BreakSpin ends a search because something has changed.
func (w *SpinWatch) BreakSpin() {
	if w.Spins {
		w.Spin.broken = true
	}
}

// Looping reports whether the warps in a set will loop forever unless another SM changes
// memory, and the warps that have ended do not wait for accesses that could change it.
// Ended is true if the search has ended because something has changed.
func (w *SpinWatch) Looping(running uint64, waiting bool) (yes, ended bool) {
	if !w.Spins {
		return false, true
	}
	yes, ended = w.Spin.Spinning(running)
	return yes && !waiting, ended
}

// Spinning reports whether all running warps have returned with the same state. Ended
// is true if the search has ended because something has changed.
func (p *Spin) Spinning(running uint64) (yes, ended bool) {
	if p.broken {
		return false, true
	}
	return running&^p.looping == 0, false
}

// Issued notes an issued instruction of the warp x in slot s. E are its effects, next is
// the warp's next instruction, ready is false if the warp cannot step, and calm is the
// result of Calm for the instruction.
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

// calmOps are the operations of PTX and SASS that a wait loop may consist of: they
// affect only registers and control flow. Whether an atomic wrote is checked when it
// executes.
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

// Calm reports whether a wait loop may contain instructions with an opcode.
func Calm(name string) bool {
	first, _, _ := strings.Cut(name, ".")
	return calmOps[first] || strings.HasPrefix(name, "bar.warp.")
}
