package modern

import (
	"math/bits"
	"strings"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/ring"
)

// This file: the engine for bulk copies (TMA). A copy starts when its instruction has left the address
// unit. The engine makes one request a cycle, for as much of a line of 128 bytes as the copy needs, and
// they go past the L1 to the L2 and the DRAM as others do. When the last has been answered, the copy's
// mbarriers get their signals.
//
// Not modelled: the cache of tensor maps, and the bandwidth of shared memory that copies take.

// engine is the copy engine of an SM, and what is left to do of its copies.
type engine struct {
	jobs     []job
	freeJ    []int32
	working  ring.Ring[int32] // flights of copies with requests to make
	asked    int              // requests that are not answered
	touched  bool             // it has copied something in this launch
	arrivals uint64           // tick at which it has taken the last arrival at a barrier of a block
	wayOut   uint64           // when the way to other SMs is free, in 64ths of a core cycle
	crowds   []crowd          `state:"-"` // by place of a block
	more     []moreWarp       `state:"-"` // by warp slot
	tensors  tensorUnits
}

// job is a copy, or what an instruction sends to other blocks of the cluster.
type job struct {
	spans   []exec.Span
	notices []exec.Notice
	far     []farAccess
	remote  int // bytes to each block that gets a signal
	write   bool
	atomic  bool
	tensor  bool
	many    bool
	answer  bool   // its sender may wait until its notices have been applied; they are in the order in which they are sent
	span    int    // of the next request
	at      int    // place of the next request in it
	out     int    // requests that are not answered
	copies  bool   // it waits for the copies of its warp
	left    bool   // and for nothing else
	due     uint64 // tick before which its notices are not sent; 0: none
}

// farAccess is an access to the memory of another block.
type farAccess struct {
	rank, lanes uint8
	passes      uint16
}

// bulkOwner marks the requests of copies by their Owner.
const bulkOwner = 1 << 31

// fewPast is the number of requests past the L1 from which on the engine makes no more (our choice).
const fewPast = 4

// engine sets the timing of an instruction that the copy engine executes.
func (o *op) engine(cfg *Config) {
	o.memory(cfg, isa.ClassCopy)
	o.path, o.load, o.raw, o.long = pathMemory, false, 0, true
	o.group = isa.NotAsync
	if strings.Contains(o.inst.Op, ".bulk_group") {
		o.group, o.sequence = isa.AsyncStart, bulkGroups
	}
}

// newJob returns an empty job for an instruction.
func (c *Core) newJob(fi int32) *job {
	var i int32
	if n := len(c.freeJ); n > 0 {
		i, c.freeJ = c.freeJ[n-1], c.freeJ[:n-1]
	} else {
		i = int32(len(c.jobs))
		c.jobs = append(c.jobs, job{})
	}
	j := &c.jobs[i]
	*j = job{spans: j.spans[:0], notices: j.notices[:0], far: j.far[:0]}
	c.flight[fi].job = i + 1
	return j
}

func (c *Core) freeJob(fi int32) {
	f := &c.flight[fi]
	c.freeJ = append(c.freeJ, f.job-1)
	f.job = 0
}

// undertake makes a job of what an instruction has started.
func (c *Core) undertake(fi int32, b *exec.Bulk) {
	j := c.newJob(fi)
	j.spans, j.notices = append(j.spans, b.Spans...), append(j.notices, b.Signals...)
	j.remote, j.write, j.atomic, j.tensor, j.many = b.Remote, b.Write, b.Atomic, b.Tensor, b.Many
	f := &c.flight[fi]
	if f.op.kind == tcgenCommit { // what the warp issues from now on does not count
		if end := c.more[f.warp].tcgen; end > 0 {
			j.due = end + uint64(c.cfg.Hopper.TcgenTail)
		}
	}
	if f.op.kind == copyArrive {
		j.copies = true
		m := &c.more[f.warp]
		m.arriving = append(m.arriving, fi)
		q := c.copiesOf(int32(f.warp), arriveGroups)
		q.last()
		q.under, q.sb = append(q.under, 0), append(q.sb, isa.NoCounter)
		c.trim(int32(f.warp), f.at, arriveGroups)
	}
	if f.op.team && f.op.kind == mbarChange && len(j.notices) > 0 { // all of them to other blocks
		j.answer = true
		c.crowds[c.warps[f.warp].Block].under++
	}
}

// begun is called when an instruction with a job has left the address unit.
func (c *Core) begun(t uint64, fi int32) {
	f := &c.flight[fi]
	j := &c.jobs[f.job-1]
	if f.op.kind != bulkCopy { // a store or an arrival at another block
		f.refs++
		if j.left = j.copies; !j.left {
			c.wheel.add(min(max(t+1, j.due), t+wheelSize-1), evBulkDone, fi)
		}
		c.respond(fi, t+uint64(f.op.raw))
		return
	}
	at := t + uint64(c.cfg.Hopper.BulkStart)
	if !c.touched {
		c.touched = true
		at += uint64(c.cfg.Hopper.BulkFirst)
	}
	if j.tensor {
		at += uint64(c.cfg.Hopper.BulkDescriptor)
	}
	if len(j.spans) == 0 {
		c.wheel.add(at, evBulkDone, fi)
		return
	}
	c.wheel.add(at, evBulkStart, fi)
}

// copied notes that the copies have ended for which the first n arrivals of a warp wait.
func (c *Core) copied(g int32, n int) {
	m := &c.more[g]
	for _, fi := range m.arriving[:n] {
		j := &c.jobs[c.flight[fi].job-1]
		if j.copies = false; j.left {
			c.wheel.add(c.tick+1, evBulkDone, fi)
		}
	}
	m.arriving = m.arriving[:copy(m.arriving, m.arriving[n:])]
}

// copyOn makes a request of the oldest copy.
func (c *Core) copyOn() {
	if c.asked >= c.cfg.Hopper.BulkRequests || c.ls.past.Len() >= fewPast {
		return
	}
	fi := *c.working.Front()
	j := &c.jobs[c.flight[fi].job-1]
	c.moved = true
	if c.askLine(fi, j); j.span < len(j.spans) {
		return
	}
	c.working.Pop()
	if c.flight[fi].op.group == isa.AsyncStart {
		c.groupEnded(&c.flight[fi], bulkReads) // what it reads of shared memory has been read
	}
}

// askLine makes the next request of a copy.
func (c *Core) askLine(fi int32, j *job) {
	s := &j.spans[j.span]
	addr := s.Addr + uint64(j.at)
	line := addr &^ (mem.LineBytes - 1)
	from := int(addr - line)
	n := min(mem.LineBytes-from, s.Size-j.at)
	r := c.env.Pool.Get()
	lo, hi := from/mem.SectorBytes, (from+n-1)/mem.SectorBytes
	r.Sectors = uint8(1<<(hi+1) - 1<<lo)
	r.Addr, r.Size = line+uint64(lo*mem.SectorBytes), uint32(bits.OnesCount8(r.Sectors)*mem.SectorBytes)
	r.Bytes.Set(from, n)
	f := &c.flight[fi]
	r.SM, r.Warp, r.Owner, r.Born, r.PC = uint16(c.id), uint16(f.warp), uint32(fi)|bulkOwner, c.now, uint32(f.at)
	r.Write, r.Atomic, r.L2Only = j.write && !j.atomic, j.atomic, true
	if r.Kind = mem.GlobalRead; r.Write {
		r.Kind = mem.GlobalWrite
	}
	c.ls.past.Push(r)
	j.out++
	c.asked++
	if j.at += n; j.at == s.Size {
		j.span, j.at = j.span+1, 0
	}
}

// bulkAnswer takes a reply to a request of a copy.
func (c *Core) bulkAnswer(r *mem.Req) {
	owner := r.Owner
	if r.Orig != nil {
		owner = r.Orig.Owner
	}
	if !core.Drop(c.env.Pool, r) {
		return
	}
	fi := int32(owner &^ bulkOwner)
	j := &c.jobs[c.flight[fi].job-1]
	j.out--
	c.asked--
	if j.out > 0 || j.span < len(j.spans) {
		return
	}
	due := c.tick + 1
	if !j.write {
		due = c.tick + uint64(c.cfg.Hopper.BulkEnd)
		if j.many {
			due += uint64(c.cfg.Hopper.Multicast)
		}
	}
	c.wheel.add(due, evBulkDone, fi)
}

// bulkDone sends the signals of a copy, or of another operation on the memory of other blocks.
func (c *Core) bulkDone(t uint64, fi int32) {
	f := &c.flight[fi]
	if due := c.jobs[f.job-1].due; due > t { // further ahead than the wheel
		c.wheel.add(min(due, t+wheelSize-1), evBulkDone, fi)
		return
	}
	if c.env.Turn != nil && f.op.team { // other SMs see the block's mbarriers
		c.env.Turn()
	}
	j := &c.jobs[f.job-1]
	h := &c.cfg.Hopper
	blk := c.warps[f.warp].Block
	x := &c.crowds[blk]
	for i := range j.notices {
		n := j.notices[i]
		if n.Rank == x.rank || len(x.sms) == 0 {
			c.signal(blk, n, t)
			continue
		}
		m := core.PeerMessage{To: x.sms[n.Rank], Kind: core.PeerSignal, Block: x.blocks[n.Rank], Team: x.team, Notice: n, Warp: f.warp, Answer: j.answer && i == len(j.notices)-1}
		if len(j.spans) > 0 { // multicast: the bytes came with the others
			m.From, m.Due = int32(c.id), c.now+1
			c.env.Peer(m)
			continue
		}
		c.sendPeer(c.now, h.PeerSignal, max(h.PeerCommand, j.remote/len(j.notices)), m)
	}
	own := f.op.kind == bulkCopy
	reads := own && len(j.spans) == 0 && f.op.group == isa.AsyncStart
	c.freeJob(fi)
	if reads {
		c.groupEnded(f, bulkReads)
	}
	if own {
		c.finish(fi)
		return
	}
	c.endRef(fi)
}
