package kepler

import (
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/exec/kasm"
	isa "github.com/heddle-sim/heddle/internal/isa/kasm"
)

// This file: the instructions that the datasheet lists as future work. Their latencies
// are our assumptions.

const (
	// atomicShared is the number of cycles that an atomic on shared memory takes
	// more than a load: one to modify the word.
	atomicShared = 1
	// texNearest and texBilinear are the numbers of cycles from the arrival of the
	// last texel to the answer: for selecting a word, and for four products and their
	// sum for each channel.
	texNearest  = 2
	texBilinear = 4
	// texLines is the maximum number of lines that the texture unit has requested.
	texLines = 128
)

// knows reports whether a machine has an operation.
func (sw *Switches) knows(op isa.Op) bool { return op.Known() && (sw.Extras || !op.Extra()) }

// extraRule returns the rule of an instruction of this file. All its hazards are
// checked.
func extraRule(op isa.Op) opRule {
	r := opRule{collects: useRs1 | useRs2, writes: true}
	switch a, shared, ok := op.Atomic(); {
	case ok:
		r.unit, r.global = unitLSU, !shared
		if a == isa.AtomicCas {
			r.collects |= useRs3
		}
	case op == isa.TRI || op == isa.INTP:
		r.collects |= useRs3
	case op == isa.RAST:
		r.collects, r.writes, r.setp = useRs1, false, true
	case op == isa.BARY:
		r.collects = useRs1
	case op == isa.TEX:
		r.collects |= useRs3
		r.unit, r.global = unitLSU, true
	case op == isa.SMID:
		r.collects = 0
	}
	r.checks, r.marks, r.ahead, r.pairs = r.collects, r.writes, r.writes, r.writes
	if r.writes {
		r.checks |= useRd
	}
	return r
}

// compute executes an instruction of the integer pipe.
func (k *Core) compute(now *cycle, h *slot, i *inst, out *kasm.Vector) {
	b := &k.buf[h.buf]
	switch {
	case i.extra && i.Op == isa.SMID:
		for l := range out {
			out[l] = uint32(k.sm)
		}
	case i.extra && kasm.Raster(i.Op, now.lanes, &k.tri[h.warp], &b[0], &b[1], &b[2], out):
	case k.cfg.IEEE && kasm.IEEE(i.Op, i.Imm, &b[0], &b[1], &b[2], out):
	default:
		kasm.Integer(i.Op, i.Imm, now.selp, &b[0], &b[1], &b[2], out)
	}
}

// atomics executes the lanes of an atomic transaction, in the order of lanes; each sees
// the results of those before it. It returns the largest number of lanes that share a
// word, because the memory changes a word once per cycle.
func (k *Core) atomics(from *request, t *transaction, line uint32) uint64 {
	a, _, _ := from.op.Atomic()
	words := k.lineFor(line)
	var uses [lineWords]uint8
	most := uint8(0)
	for m := t.mask; m != 0; m &= m - 1 {
		n := bits.TrailingZeros32(m)
		at := t.word[n]
		t.v[n] = words[at]
		words[at] = kasm.Atomic(a, words[at], from.data[n], from.third[n])
		uses[at]++
		most = max(most, uses[at])
	}
	return uint64(max(most, 1))
}

// sharedAtomic executes one lane of an atomic on shared memory.
func (k *Core) sharedAtomic(r *request, lane int, at uint32) {
	a, _, _ := r.op.Atomic()
	word := k.shared[at : at+4]
	old := uint32(word[0]) | uint32(word[1])<<8 | uint32(word[2])<<16 | uint32(word[3])<<24
	k.read[lane] = old
	v := kasm.Atomic(a, old, r.data[lane], r.third[lane])
	word[0], word[1], word[2], word[3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
}

// sampler is the texture unit: it requests the lines that a TEX needs, one per cycle,
// while the load/store unit waits.
type sampler struct {
	busy   bool
	slot   uint8
	at, n  uint8
	flying uint8 // lines requested and not answered
	line   [4 * isa.Lanes]uint32
}

// sample simulates a cycle of the texture unit. It reports whether the current request
// is complete. Texels are read in the cycle in which it begins.
func (k *Core) sample() (consumed bool) {
	l, x := &k.lsu, &k.sampler
	if !x.busy {
		q := &k.free[l.warp]
		if q.n == 0 {
			return false
		}
		x.slot = q.ring[q.head]
		q.head, q.n = (q.head+1)%slots, q.n-1
		k.beginSample(l)
	}
	if x.flying >= texLines {
		return false
	}
	x.flying++
	k.send(l.warp, x.slot, x.line[x.at], textureRead, l.mask, 0)
	k.stats.Transactions++
	if x.at > 0 {
		k.stats.Replays++
		k.points[k.program[l.warp]][l.pc].Replays++
	}
	x.at++
	x.busy = x.at < x.n
	return !x.busy
}

// beginSample reads the texels of all lanes and collects their lines, in the order of
// lanes. A request without lanes requests one line, as a load does.
func (k *Core) beginSample(l *request) {
	x := &k.sampler
	x.busy, x.at, x.n = true, 0, 0
	t := &k.table[l.warp][x.slot]
	t.valid, t.store, t.last, t.warp, t.slot, t.rd, t.mask, t.group = true, false, l.mark, l.warp, x.slot, l.rd, l.mask, k.newGroup(l.warp)
	t.way = l.way
	clear(t.v[:])
	how := isa.TextureOf(l.imm)
	var words *[lineWords]uint32 // of the last line
	at := ^uint32(0)
	for m := l.mask; m != 0; m &= m - 1 {
		n := bits.TrailingZeros32(m)
		tap := kasm.Taps(how, l.addr[n], l.data[n], l.third[n])
		var texel [4]uint32
		for j, a := range tap.At[:tap.N] {
			if line := a / lineBytes; line != at {
				at, words = line, k.line[line]
				x.need(line)
			}
			if words != nil {
				texel[j] = words[a%lineBytes/4]
			}
		}
		t.v[n] = tap.Filter(&texel)
	}
	if x.n == 0 {
		x.need(l.third[0] / lineBytes)
	}
	t.lines, t.filter = x.n, texNearest
	if how.Bilinear {
		t.filter = texBilinear
	}
	k.outstanding[l.warp]++
	k.parts[l.warp][t.group]++
	k.open[l.warp][t.group] = false
}

// need adds a line if it is not in the list.
func (x *sampler) need(line uint32) {
	for _, have := range x.line[:x.n] {
		if have == line {
			return
		}
	}
	x.line[x.n] = line
	x.n++
}

// filtered handles the arrival of a line for a TEX. After the last one the texture unit
// starts to filter, and the answer follows.
func (k *Core) filtered(f flight, t *transaction) {
	k.sampler.flying--
	if t.lines--; t.lines == 0 {
		k.fly(f.warp, f.slot, k.cycle+uint64(t.filter))
	}
}

// checkTexture reports texels that are misaligned or not in memory.
func (k *Core) checkTexture(h *slot, l *request) {
	how := isa.TextureOf(l.imm)
	for m := l.mask; m != 0; m &= m - 1 {
		n := bits.TrailingZeros32(m)
		tap := kasm.Taps(how, l.addr[n], l.data[n], l.third[n])
		for _, a := range tap.At[:tap.N] {
			switch {
			case a%4 != 0:
				k.fail(h, m, fmt.Sprintf("misaligned texture: its first texel is at %#x", l.third[n]))
				return
			case a >= MemoryBytes:
				k.fail(h, m, fmt.Sprintf("texel at %#x, beyond the %d bytes of memory", a, MemoryBytes))
				return
			}
		}
	}
}

// access is the kind of a transaction.
type access uint8

const (
	read access = iota
	write
	atomic
	textureRead
)
