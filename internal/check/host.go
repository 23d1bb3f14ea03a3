package check

// This file: what the host does, and what that orders.

// HostKind is what the host does.
type HostKind uint8

// What the host does. Memory is the device's, unless the event says otherwise.
const (
	HostAlloc   HostKind = iota // Addr, Bytes: new memory; on Stream if it is ordered by one
	HostFree                    // Addr, Bytes: it is gone
	HostWrite                   // the host, or a copy or memset on Stream, writes Addr, Bytes
	HostRead                    // the same, reading
	HostRecord                  // an event (Object) is recorded on Stream
	HostWait                    // Stream waits for an event (Object)
	HostSync                    // the host waits for Stream, or for an event (Object)
	HostSyncAll                 // the host waits for the device of Stream
	HostSet                     // the host may have written Addr, Bytes, at any time before
	HostCreate                  // Block, Bytes: new memory without an address (cuMemCreate)
	HostMap                     // Addr, Bytes: the memory Block is there from now on, and may be elsewhere, too
	HostUnmap                   // Addr, Bytes: the memory Block is there no more, and keeps its contents
	HostDestroy                 // Block: it is gone
	HostResize                  // Addr, Bytes: a part of an allocation (Part) that had Old bytes has Bytes now
	HostWhole                   // Addr, Bytes: no allocator shares out what lies there any more, and no parts of it are left
	HostReset                   // what lies in Addr, Bytes is gone, because the device of Stream was reset, and so are its Blocks
	HostEnd                     // the program ends
)

// HostEvent is something that the host does to memory or to the order of streams.
type HostEvent struct {
	Kind   HostKind
	Call   string // the function of the API: cudaMemcpy
	Addr   uint64
	Bytes  uint64
	Stream int64 // its number (OnDevice); Set replaces it by that of the node of a graph which does it
	// With are default streams of other devices on which the action has its place, too.
	With []int64
	// Async is set if the host does not wait: the action has its place on Stream. Otherwise the
	// host does it itself, after all work of Stream that it waits for.
	Async  bool
	Object uint64 // the event
	Old    uint64 // HostResize
	Block  int64  // memory without an address of its own: its handle, as a stream's number (OnDevice)
	Name   string // of an allocation: a kind of memory; of a Bad access to a variable: where in it
	Set    bool   // HostAlloc: the bytes have values
	Part   bool   // HostAlloc, HostFree: a part of an allocation, which an allocator of the program gives out
	// HeapAddr and HeapBytes are the range that the allocator of a part shares out; none: the whole
	// allocation.
	HeapAddr, HeapBytes uint64
	Shared              bool // HostAlloc: the host may look at it at any time
	// Bad is set for a call that failed, since its memory is not what it takes it for: nothing
	// was freed, read or written.
	Bad    bool
	Host   []Place // the call, the innermost first; nil if unknown
	Launch int     // the number of the last launch before it, -1 if there is none
	At     Clock   // filled in by Set: what happened before it
}

// OnDevice is the number of a stream of a device, for checkers. Stream 0 is the device's default
// stream, which waits for all others of the device and for which all of them wait (CUDA
// programming guide, default stream).
func OnDevice(device int, stream int64) int64 { return int64(device)<<deviceShift | stream }

// deviceShift is the number of bits of a stream's number within its device. Our choice.
const deviceShift = 40

// SameDevice reports whether two numbers of OnDevice are of one device.
func SameDevice(a, b int64) bool { return a>>deviceShift == b>>deviceShift }

// isLegacy reports whether a key is that of a default stream.
func isLegacy(key int64) bool { return key >= 0 && key&(1<<deviceShift-1) == 0 }

// Clock says how much of what each stream did, and of what the host did (HostThread), happened
// before: an action with a number up to the one given. Clocks are never changed.
type Clock map[int64]uint64

// HostThread is the key of the host in a Clock. Keys below it are of nodes of graphs.
const HostThread int64 = -1

// Before reports whether action n of a stream happened before.
func (c Clock) Before(stream int64, n uint64) bool { return n <= c[stream] }

// order is the order of what streams and the host do.
type order struct {
	clocks  map[int64]Clock // of each stream, and of the host: what happened before its next action
	events  map[uint64]Clock
	private map[int64]bool // streams that do not wait for the default stream

	graphs   map[int64][]*graphRun // that run on each stream, one within the other
	lanes    map[[2]int64][]int64  // keys for nodes of graphs, by that of the stream or chain, and how deep it is
	lastLane int64                 // the last of these keys
}

func newOrder() order {
	return order{clocks: map[int64]Clock{HostThread: {}}, events: map[uint64]Clock{}, private: map[int64]bool{}, graphs: map[int64][]*graphRun{}, lanes: map[[2]int64][]int64{}, lastLane: HostThread}
}

// join returns the union of clocks.
func join(list ...Clock) Clock {
	all := Clock{}
	for _, c := range list {
		for k, n := range c {
			all[k] = max(all[k], n)
		}
	}
	return all
}

// submit notes the next action of a stream and returns its clock, which includes itself.
func (o *order) submit(stream int64) Clock {
	stream = o.lane(stream)
	list := []Clock{o.clocks[stream]}
	if stream >= 0 { // the host knew nothing more when it launched a node's graph
		list = append(list, o.clocks[HostThread])
	}
	for s, c := range o.clocks {
		if s >= 0 && s != stream && stream >= 0 && SameDevice(s, stream) && !o.private[s] && !o.private[stream] && (isLegacy(s) || isLegacy(stream)) {
			list = append(list, c)
		}
	}
	c := join(list...)
	c[stream]++
	o.clocks[stream] = c
	return c
}

// host notes an action of the host and returns its clock.
func (o *order) host(e *HostEvent) Clock {
	switch e.Kind {
	case HostRecord:
		c := o.submit(e.Stream)
		o.events[e.Object] = c
		return c
	case HostWait:
		c := join(o.submit(e.Stream), o.events[e.Object])
		o.clocks[o.lane(e.Stream)] = c
		return c
	case HostSync:
		if e.Object != 0 {
			return o.meet(o.events[e.Object])
		}
		if isLegacy(e.Stream) { // it waits for others, and so does who waits for it
			return o.meet(o.submit(e.Stream))
		}
		return o.meet(o.clocks[o.lane(e.Stream)])
	case HostAlloc, HostFree, HostCreate, HostMap, HostUnmap, HostDestroy, HostResize, HostWhole:
		if !e.Async { // neither waits: calls that do say so themselves
			return o.meet()
		}
	case HostSet:
		return o.clocks[HostThread]
	case HostSyncAll, HostReset, HostEnd:
		var all []Clock
		for s, c := range o.clocks {
			if e.Kind != HostSyncAll || s < 0 || SameDevice(s, e.Stream) {
				all = append(all, c)
			}
		}
		return o.meet(all...)
	}
	c := o.submit(e.Stream)
	for _, s := range e.With {
		c = join(c, o.submit(s))
		o.clocks[o.lane(e.Stream)] = c
	}
	for _, s := range e.With {
		o.clocks[s] = c
	}
	if e.Async {
		return c
	}
	// A call that waits for its own action, which has its place on the stream.
	return o.meet(c)
}

// meet lets the host wait.
func (o *order) meet(list ...Clock) Clock {
	c := join(append(list, o.clocks[HostThread])...)
	c[HostThread]++
	o.clocks[HostThread] = c
	return c
}

// Private notes that a stream does not wait for the default stream.
func (s *Set) Private(stream int64) { s.order.private[stream] = true }
