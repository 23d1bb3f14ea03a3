package part

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/mem"
)

// This file: an L2 of two halves, as the A100 and the H100 have it. An SM looks into the half that it
// belongs to. What is not there is fetched from the other half, which takes longer, and stays in its
// own; what must make room for it goes to the other half, unless that has it too. So a pointer chase
// sees the near latency up to half of the L2's size, the far one up to all of it, and then the DRAM,
// which is what gpu-benches measured. Writes and atomics happen in the half that an address belongs to.
// The way there has a bandwidth for writes. Reads are not limited by it: an H200 streams 4,118 bytes a
// cycle from its L2, half of them from the other half (FlashGPU-Sim).
//
// The halves are lists of lines beside the slices, which say how far an access goes. Whether it hits is up to the
// slices, so that copies in both halves take no room from other lines there. Which SMs and which
// addresses belong to which half is not published; here SMs alternate, and addresses are hashed.

// halfWays is the associativity of a half (our choice).
const halfWays = 16

// halves are the lines of the two halves of an L2, by set, the latest first.
type halves struct {
	lines [2][]nearby
	sets  uint64    // odd, so that strides of powers of two spread
	last  []uint64  // by slice: line of its last write to the other half, plus one
	link  [2]uint64 // until when the way to a half is taken by writes, in parts of a core cycle
}

// parts are the units of a core cycle in which the way between the halves is taken, fine enough for some
// hundred bytes a cycle.
const parts = 1024

// farBacklog is for how many core cycles writes may wait for the way to the other half before the slices
// take no more requests (our choice).
const farBacklog = 64

// full reports whether too many writes wait for the other half.
func (h *halves) full(now uint64) bool { return max(h.link[0], h.link[1]) > parts*(now+farBacklog) }

// write takes the way to a half for a write from a core cycle on, and returns how long the write waits.
// Sectors of a line that a slice gets one after the other have one header.
func (h *halves) write(to int, r *mem.Req, now uint64, cfg *Config) uint64 {
	if cfg.FarBytes == 0 {
		return 0
	}
	bytes, line := int(r.Size), r.Addr/mem.LineBytes+1
	if h.last[r.Sub] != line {
		h.last[r.Sub] = line
		bytes += cfg.FarHeader
	}
	from := max(parts*now, h.link[to])
	h.link[to] = from + uint64(parts*bytes/cfg.FarBytes)
	return from/parts - now
}

// nearby is a line that a half has.
type nearby struct {
	line uint64 // its number plus one; 0: none
	come uint64 // core cycle in which it comes from the other half
}

// newHalves returns the empty halves of an L2 of some slices and lines.
func newHalves(slices, lines int) halves {
	h := halves{sets: uint64(lines/2/halfWays) | 1, last: make([]uint64, slices)}
	for i := range h.lines {
		h.lines[i] = make([]nearby, h.sets*halfWays)
	}
	return h
}

// home is the half that a line belongs to.
func home(line uint64) int { return bits.OnesCount64(line*0x9E3779B97F4A7C15>>32) & 1 }

func (h *halves) set(half int, line uint64) []nearby {
	at := line % h.sets * halfWays
	return h.lines[half][at : at+halfWays]
}

// find returns a half's line, which it makes the latest of its set, or nil.
func (h *halves) find(half int, line uint64) *nearby {
	set := h.set(half, line)
	for i, x := range set {
		if x.line == line+1 {
			copy(set[1:i+1], set[:i])
			set[0] = x
			return &set[0]
		}
	}
	return nil
}

// has reports whether a half has a line. It does not count as a use.
func (h *halves) has(half int, line uint64) bool {
	for _, x := range h.set(half, line) {
		if x.line == line+1 {
			return true
		}
	}
	return false
}

// put makes a line the latest of a half that does not have it, and returns the line that had to go
// plus one, 0 if there was room.
func (h *halves) put(half int, line, come uint64) (victim uint64) {
	set := h.set(half, line)
	victim = set[halfWays-1].line
	copy(set[1:], set)
	set[0] = nearby{line + 1, come}
	return victim
}

// drop removes a line from a half.
func (h *halves) drop(half int, line uint64) {
	set := h.set(half, line)
	for i, x := range set {
		if x.line == line+1 {
			copy(set[i:], set[i+1:])
			set[halfWays-1] = nearby{}
			return
		}
	}
}

// keep puts a line into the half that it belongs to and nowhere else, as a write does.
func (h *halves) keep(line uint64) {
	at := home(line)
	h.drop(1-at, line)
	if h.find(at, line) == nil {
		h.put(at, line, 0)
	}
}

// access returns the core cycle in which a request that has entered is at its data. A line on its way
// from the other half is waited for.
func (h *halves) access(r *mem.Req, now uint64, cfg *Config) uint64 {
	near, far := now+uint64(cfg.ROPLatency), uint64(cfg.FarLatency)
	line, own := r.Addr/mem.LineBytes, int(r.SM&1)
	if r.Write || r.Atomic {
		h.keep(line)
		if to := home(line); to != own {
			return near + far + h.write(to, r, now, cfg)
		}
		return near
	}
	if x := h.find(own, line); x != nil {
		return max(near, x.come)
	}
	at := near
	if h.has(1-own, line) {
		at += far
	}
	if v := h.put(own, line, at); v != 0 && !h.has(1-own, v-1) {
		h.put(1-own, v-1, 0)
	}
	return at
}

// clear empties both halves.
func (h *halves) clear() {
	for i := range h.lines {
		clear(h.lines[i])
	}
}
