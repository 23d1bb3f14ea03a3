package core

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/mem"
)

// PacketSizes is the number of packet sizes that are counted separately.
const PacketSizes = mem.LineBytes/mem.SectorBytes + 1

// AtomicPackets is the index of atomics in Traffic.SentSizes and Traffic.ReplySizes.
const AtomicPackets = int(mem.Kinds)

// Traffic counts packets between a core and the memory system.
type Traffic struct {
	// Packets and Bytes count sent packets by kind of request.
	Packets, Bytes [mem.Kinds]uint64
	// ReplyPackets and ReplyBytes count received packets.
	ReplyPackets, ReplyBytes [mem.Kinds]uint64
	// SentSizes and ReplySizes split the packets by the size of their data, in sectors
	// up to a line; atomics are separate from other reads, at AtomicPackets.
	SentSizes, ReplySizes [mem.Kinds + 1][PacketSizes]uint64
	// Latency sums the core cycles from the creation of a request to the delivery of
	// its reply, over LatencyN replies; LatencyMax is the longest; LatencyLog counts
	// them by their base-2 logarithm.
	Latency, LatencyN uint64
	LatencyMax        uint64 `combine:"max"`
	LatencyLog        [32]uint64
}

// sized counts a packet by its bytes of data.
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

// Took counts the latency of a request whose reply arrives after core cycle now and
// before the next. No instruction waits for a prefetch, so prefetches do not count.
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

// RoomFor returns the bytes for which the network must have room before a request is sent.
func RoomFor(r *mem.Req) int {
	if r.Write {
		return mem.ControlSize + int(r.Size)
	}
	return mem.ControlSize
}

// TrySend sends a request of a core if the network has room for it.
func TrySend(t *Traffic, e *Env, id int, r *mem.Req) bool {
	if !e.HasRoom(RoomFor(r)) {
		return false
	}
	size := mem.ControlSize
	if r.Write || r.Atomic {
		size += int(r.Size)
	}
	r.SM = uint16(id)
	t.Packets[r.Kind]++
	t.Bytes[r.Kind] += uint64(size)
	sized(&t.SentSizes, r, uint64(size)-mem.ControlSize)
	e.Send(r, size)
	return true
}

// Drop returns a reply to the pool. If it was the last piece of a split request, it
// returns that request too. It reports whether the whole request is answered.
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

// LocalAddress returns the physical address of a byte of a thread's local memory.
// Words with the same local address are adjacent for all threads of the GPU. At is the
// local address, thread the thread's number on SM id of sms, and threads the number of
// threads per SM (GPGPU-Sim).
func LocalAddress(base, at uint64, thread, threads, id, sms int) uint64 {
	at &= 1<<24 - 1 // drops the window of a generic address
	all := uint64(threads) * uint64(sms)
	return base + 4*(at/4*all+uint64(threads)*uint64(id)+uint64(thread)) + at%4
}
