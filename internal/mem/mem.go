// Package mem holds what the parts of the memory system pass to each other:
// requests, their pool, and bounded queues of them. Caches, the network, the
// partitions and DRAM are packages below it; the core models are its users.
//
// Only time is modelled here. Bytes live in package device; a request has their
// addresses, not their values.
package mem

import (
	"sync"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/ring"
)

// Kind says what a request is for. Counters are kept by kind; the names are
// those of GPGPU-Sim's access types.
type Kind uint8

// The kinds.
const (
	GlobalRead Kind = iota
	LocalRead
	ConstRead
	TexRead
	GlobalWrite
	LocalWrite
	L1WriteBack
	L2WriteBack
	InstRead
	L1WriteAlloc // the read that a write miss causes in an L1
	L2WriteAlloc
	Kinds // how many there are
)

var kindNames = [Kinds]string{
	"GLOBAL_ACC_R", "LOCAL_ACC_R", "CONST_ACC_R", "TEXTURE_ACC_R", "GLOBAL_ACC_W", "LOCAL_ACC_W",
	"L1_WRBK_ACC", "L2_WRBK_ACC", "INST_ACC_R", "L1_WR_ALLOC_R", "L2_WR_ALLOC_R",
}

func (k Kind) String() string { return kindNames[k] }

// Sizes of the memory system that no configuration changes.
const (
	LineBytes   = 128
	SectorBytes = 32
	ControlSize = 8 // bytes of a packet without data (GPGPU-Sim)
)

// ByteMask has a bit per byte of a 128-byte line.
type ByteMask [2]uint64

// Set marks n bytes from offset at.
func (m *ByteMask) Set(at, n int) {
	for n = min(n, LineBytes-at); n > 0; {
		i := at & 63
		k := min(n, 64-i)
		m[at>>6] |= ^uint64(0) >> (64 - k) << i
		at, n = at+k, n-k
	}
}

// Or returns the union.
func (m ByteMask) Or(o ByteMask) ByteMask { return ByteMask{m[0] | o[0], m[1] | o[1]} }

// And returns the intersection.
func (m ByteMask) And(o ByteMask) ByteMask { return ByteMask{m[0] & o[0], m[1] & o[1]} }

// Sector returns the mask's bits of one 32-byte sector.
func (m ByteMask) Sector(i int) uint32 { return uint32(m[i>>1] >> (32 * (i & 1))) }

// Ahead says whose prefetcher made a request.
type Ahead uint8

// The origins of a prefetch.
const (
	NotAhead Ahead = iota // none: an instruction wants the data
	AheadL1
	AheadL2
)

// Req is a request to memory, and the reply to it on its way back. One value
// is used from the SM to DRAM and back; it belongs to the queue that holds it.
type Req struct {
	Addr    uint64 // of its first byte; its unit aligns it
	Size    uint32 // bytes of data
	Kind    Kind
	Write   bool
	Atomic  bool
	OneAck  bool  // a write of several sectors that is acknowledged as one
	L2Only  bool  // bypasses the L1
	Sectors uint8 // of its 128-byte line, 4 bits
	Ahead   Ahead
	Sure    bool   // a read that hits the L1 whatever the L1 holds
	PC      uint32 // instruction that it is for, by its index in the kernel's code
	Bytes   ByteMask
	Lanes   isa.LaneMask

	SM    uint16 // that sent it
	Warp  uint16 // slot in the SM
	Owner uint32 // the SM's record of the instruction it belongs to

	Sub      int32 // L2 slice (sub-partition) it goes to, set by the address map
	Chan     int32 // DRAM channel
	Bank     int32
	Row      uint32
	Col      uint32
	PartAddr uint64 // address within its partition, which indexes the L2

	Reply  bool
	Orig   *Req   // the request of which this is a piece, or which caused it
	Pieces int32  // pieces not yet answered (on the original)
	Born   uint64 // core cycle in which it was made
	Ready  uint64 // core cycle before which a delay queue keeps it; of a reply: when it left its partition
}

// IsWriteBack reports whether r is a write-back: nothing waits for a reply.
func (r *Req) IsWriteBack() bool { return r.Kind == L1WriteBack || r.Kind == L2WriteBack }

// Pool recycles requests. It is used by one goroutine at a time. A request may be
// returned to a different pool.
type Pool struct {
	// Depot, if set, balances the free requests of several pools.
	Depot *Depot
	// Made counts the requests allocated, Live those handed out less those
	// returned. For pools that share a depot, only the sums are meaningful.
	Made, Live int

	free []*Req
}

// Get returns a zero request.
func (p *Pool) Get() *Req {
	p.Live++
	if len(p.free) == 0 && p.Depot != nil {
		p.free = p.Depot.take(p.free)
	}
	if n := len(p.free); n > 0 {
		r := p.free[n-1]
		p.free = p.free[:n-1]
		*r = Req{}
		return r
	}
	p.Made++
	return new(Req)
}

// Put returns a request to the pool; it must not be used any more.
func (p *Pool) Put(r *Req) {
	p.Live--
	p.free = append(p.free, r)
	if p.Depot != nil && len(p.free) >= 2*depotBatch {
		p.free = p.Depot.give(p.free)
	}
}

// depotBatch is the number of requests that move between a pool and its depot at a
// time (our choice: the lock is taken once per batch).
const depotBatch = 32

// Depot holds the surplus of pools that are used concurrently. Which free request a
// pool hands out does not affect results.
type Depot struct {
	mu   sync.Mutex
	free []*Req
}

// take moves a batch from the depot to a pool.
func (d *Depot) take(to []*Req) []*Req {
	d.mu.Lock()
	n := max(0, len(d.free)-depotBatch)
	to = append(to, d.free[n:]...)
	d.free = d.free[:n]
	d.mu.Unlock()
	return to
}

// give moves a batch from a pool to the depot.
func (d *Depot) give(from []*Req) []*Req {
	n := len(from) - depotBatch
	d.mu.Lock()
	d.free = append(d.free, from[n:]...)
	d.mu.Unlock()
	return from[:n]
}

// Queue is a FIFO of requests, or with PushReady a queue by Ready. A limit of 0 means no
// bound.
type Queue struct{ ring.Ring[*Req] }

// NewQueue returns an empty queue of at most limit requests.
func NewQueue(limit int) Queue { return Queue{ring.New[*Req](limit)} }

// Head returns the oldest request, nil if there is none.
func (q *Queue) Head() *Req {
	if q.Len() == 0 {
		return nil
	}
	return *q.Front()
}

// PushReady inserts a request before those that are ready later.
func (q *Queue) PushReady(r *Req) {
	q.Push(r)
	for i := q.Len() - 1; i > 0 && q.At(i-1).Ready > r.Ready; i-- {
		*q.Ring.At(i), *q.Ring.At(i - 1) = q.At(i-1), r
	}
}

// At returns the i-th oldest request.
func (q *Queue) At(i int) *Req { return *q.Ring.At(i) }

// Pop removes and returns the oldest request, nil if there is none.
func (q *Queue) Pop() *Req {
	if q.Len() == 0 {
		return nil
	}
	return q.Ring.Pop()
}
