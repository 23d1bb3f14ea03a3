package core

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/mem"
)

// PacketSizes is how many sizes of packets are told apart.
const PacketSizes = mem.LineBytes/mem.SectorBytes + 1

// AtomicPackets is where Traffic.SentSizes and Traffic.ReplySizes count atomics.
const AtomicPackets = int(mem.Kinds)

// Traffic are the counters of what passes between a core and the memory system.
type Traffic struct {
	// Packets and Bytes count what was sent, by kind of request.
	Packets, Bytes [mem.Kinds]uint64
	// ReplyPackets and ReplyBytes count what came in.
	ReplyPackets, ReplyBytes [mem.Kinds]uint64
	// SentSizes and ReplySizes split the packets by their data, in steps of a
	// sector up to a line; atomics are apart from other reads, at AtomicPackets.
	SentSizes, ReplySizes [mem.Kinds + 1][PacketSizes]uint64
	// Latency sums the core cycles from making a request to its delivery, over
	// LatencyN replies; LatencyMax is the longest, LatencyLog counts them by
	// the logarithm to base 2.
	Latency, LatencyN uint64
	LatencyMax        uint64 `combine:"max"`
	LatencyLog        [32]uint64
}

// sized counts a packet with so many bytes of data.
func sized(by *[mem.Kinds + 1][PacketSizes]uint64, r *mem.Req, data uint64) {
	k := int(r.Kind)
	if r.Atomic {
		k = AtomicPackets
	}
	by[k][min((data+mem.SectorBytes-1)/mem.SectorBytes, PacketSizes-1)]++
}

// Came counts a reply.
func (t *Traffic) Came(r *mem.Req) {
	size := uint64(mem.ControlSize)
	if !r.Write {
		size += uint64(r.Size)
	}
	t.ReplyPackets[r.Kind]++
	t.ReplyBytes[r.Kind] += size
	sized(&t.ReplySizes, r, size-mem.ControlSize)
}

// Took counts how long a request has taken that is answered after core cycle
// now: a reply comes between two cycles. No instruction waits for a prefetch, so its
// time is left out.
func (t *Traffic) Took(r *mem.Req, now uint64) {
	if r.Born == 0 || now < r.Born || Unasked(r) {
		return
	}
	d := now + 1 - r.Born
	t.Latency += d
	t.LatencyN++
	t.LatencyMax = max(t.LatencyMax, d)
	t.LatencyLog[min(bits.Len64(d), 31)]++
}

// TrySend sends a request of a core if the network has room for it.
func TrySend(t *Traffic, e *Env, id int, r *mem.Req) bool {
	test, size := mem.ControlSize, mem.ControlSize
	if r.Write {
		test += int(r.Size)
	}
	if r.Write || r.Atomic {
		size += int(r.Size)
	}
	if !e.HasRoom(test) {
		return false
	}
	r.SM = uint16(id)
	t.Packets[r.Kind]++
	t.Bytes[r.Kind] += uint64(size)
	sized(&t.SentSizes, r, uint64(size)-mem.ControlSize)
	e.Send(r, size)
	return true
}

// Drop returns a reply to the pool, and with its last piece the request that
// it was cut from. It reports whether the request is answered.
func Drop(p *mem.Pool, r *mem.Req) bool {
	o := r.Orig
	p.Put(r)
	if o == nil {
		return true
	}
	o.Pieces--
	if o.Pieces > 0 {
		return false
	}
	p.Put(o)
	return true
}

// Unasked reports whether a reply, or the request of which it is a piece, was made by
// the prefetcher of an L1D.
func Unasked(r *mem.Req) bool {
	return r.Ahead == mem.AheadL1 || r.Orig != nil && r.Orig.Ahead == mem.AheadL1
}

// LocalAddress returns where a word of a thread's local memory lies: word by
// word, with the threads of the whole GPU side by side. At is the thread's
// address, thread its number on SM id of sms, each with so many threads
// (GPGPU-Sim).
func LocalAddress(base, at uint64, thread, threads, id, sms int) uint64 {
	at &= 1<<24 - 1 // drops the window of a generic address
	all := uint64(threads) * uint64(sms)
	return base + 4*(at/4*all+uint64(threads)*uint64(id)+uint64(thread)) + at%4
}
