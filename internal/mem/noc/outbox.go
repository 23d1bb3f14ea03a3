package noc

import "github.com/heddle-sim/heddle/internal/mem"

// Outbox holds what the owner of an input node sends until all owners have finished
// their cycle. Outboxes of different nodes may be used concurrently, while the network
// is not used but by an Advance that Advanced waits for. HasRoom answers as the network
// would after it if every packet were pushed immediately.
type Outbox struct {
	// Advanced, if not nil, returns when the network has advanced in this cycle.
	Advanced func() `state:"-"`

	net  *Network
	src  int
	list []parcel
	size int    // space that they will take in the node's buffer
	most int    // upper bound of inSize: its value at the last Flush or refusal; the network only lowers it
	full uint64 // calls of HasRoom without room
}

// parcel is a packet on its way to the network.
type parcel struct {
	req        *mem.Req
	dst, bytes int32
}

// NewOutbox returns the outbox of an input node.
func (n *Network) NewOutbox(src int) Outbox { return Outbox{net: n, src: src} }

// HasRoom reports whether the node has room for one more packet of the given size.
func (o *Outbox) HasRoom(bytes int) bool {
	n := o.net
	more := o.size + n.size(bytes)
	if o.most+more <= n.cfg.InBuffer {
		return true
	}
	if o.Advanced != nil {
		o.Advanced()
	}
	o.most = n.inSize[o.src]
	if o.most+more <= n.cfg.InBuffer || o.most+o.size == 0 {
		return true
	}
	o.full++
	return false
}

// Refuses is the opposite of HasRoom, for an empty outbox while nothing else uses the
// network: Flush has nothing to count.
func (o *Outbox) Refuses(bytes int) bool { return !o.net.HasRoom(o.src, bytes) }

// Push adds a packet. HasRoom must have returned true.
func (o *Outbox) Push(r *mem.Req, dst, bytes int) {
	o.list = append(o.list, parcel{r, int32(dst), int32(bytes)})
	o.size += o.net.size(bytes)
}

// Flush pushes the packets into the network.
func (o *Outbox) Flush() {
	if o.full > 0 {
		o.net.Stats.InFull += o.full
		o.full = 0
	}
	if len(o.list) == 0 {
		return
	}
	for i := range o.list {
		p := &o.list[i]
		o.net.Push(p.req, o.src, int(p.dst), int(p.bytes))
		p.req = nil
	}
	o.list, o.size = o.list[:0], 0
	o.most = o.net.inSize[o.src]
}

// Used reports whether Flush has anything to do.
func (o *Outbox) Used() bool { return len(o.list) > 0 || o.full > 0 }
