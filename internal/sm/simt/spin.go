package simt

import (
	"strings"

	"github.com/heddle-sim/heddle/internal/exec"
)

// This file: warps that wait in a loop for what never comes. If every warp
// that can run has come back to a place with all registers as before, and
// memory has not changed in between, then all of them will go round for ever.

// spin watches the warps of a core.
type spin struct {
	broken  bool   // something has changed: they may go on
	seen    uint64 // warps that have been seen once
	looping uint64 // warps that came back as they were
	tries   int    // comparisons that a warp may fail
	failed  [maxWarps]int
	at      [maxWarps]int32 // instruction at which a warp was seen
	digest  [maxWarps]uint64
}

// WatchSpin begins to look for endless loops. A warp may come back to the same
// place so many times with other values before the search is given up.
func (c *Core) WatchSpin(tries int) {
	if c.spin == nil {
		c.spin = new(spin)
	}
	*c.spin = spin{tries: tries}
	c.spins = true
}

// EndSpin ends the search.
func (c *Core) EndSpin() { c.spins = false }

// Spinning reports whether no resident warp can do anything but go round for
// ever, as long as no other SM changes memory; ended is true if the search has
// been given up, since something has changed.
func (c *Core) Spinning() (yes, ended bool) {
	if !c.spins || c.spin.broken {
		return false, true
	}
	return c.alive&c.ready&^c.done&^c.spin.looping == 0, false
}

// issued is told of every instruction that is issued.
func (p *spin) issued(c *Core, s int32, o *op, e *exec.Effects) {
	if e.Wrote || e.Timed || e.Exited != 0 || !o.calm {
		p.broken = true
	}
	w := &c.warps[s]
	bit := uint64(1) << s
	if p.broken || p.looping&bit != 0 || w.state != exec.Ready || p.seen&bit != 0 && w.next != p.at[s] {
		return
	}
	h, ok := uint64(0), false
	if x, has := w.x.(exec.Digester); has {
		h, ok = x.Digest()
	}
	switch {
	case ok && p.seen&bit == 0:
		p.seen |= bit
		p.at[s], p.digest[s] = w.next, h
		return
	case ok && h == p.digest[s]:
		p.looping |= bit
		return
	}
	if p.failed[s]++; p.failed[s] > p.tries {
		p.broken = true
	}
}

// calmOps are the operations of which a loop that waits may consist: they do
// nothing but to registers and to where a warp goes on. Atomic ones are looked
// at when they execute.
var calmOps = func() map[string]bool {
	m := map[string]bool{}
	for _, s := range strings.Fields(`abs add addc and activemask atom bfe bfi bra brev clz cnot cvt cvta div fence fma isspacep
		ld ldu lop3 mad mad24 madc max membar min mov mul mul24 nanosleep neg not or popc prmt red rem sad selp set setp
		shf shl shr slct sub subc testp vote xor`) {
		m[s] = true
	}
	return m
}()

// calm reports whether a loop that waits may consist of such an instruction.
func calm(name string) bool {
	first, _, _ := strings.Cut(name, ".")
	return calmOps[first] || strings.HasPrefix(name, "bar.warp.")
}
