// Package system is the memory system of a chip as one component: the network
// of requests, the partitions with their L2 slices and DRAM, the network of
// replies, and the queues in which replies wait at the clusters of SMs.
//
// Its owner sends requests (Outbox), ticks its three clock domains (Cycle), and
// takes replies once a core cycle (Deliver). It knows neither SMs nor values.
package system

import (
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/mem/noc"
	"github.com/heddle-sim/heddle/internal/mem/part"
)

// Config are the settings of a memory system. They must have passed the checks
// of their packages.
type Config struct {
	Clusters, SMsPerCluster int         // of SMs; a cluster is a node of the networks
	FIFO                    int         // replies that can wait at a cluster
	Replies                 int         // that a cluster takes in a core cycle
	Net                     noc.Config  // of requests; replies go through its reverse
	Mem                     part.Config // the partitions
}

// Stats are counters of the system outside its parts.
type Stats struct {
	// DRAMFull counts L2 cycles in which a slice could take nothing from the
	// network (gpu_stall_dramfull), NetFull replies for which the network had no
	// room (gpu_stall_icnt2sh).
	DRAMFull, NetFull uint64
	// EnterCycles counts L2 cycles in which a slice took a packet.
	EnterCycles uint64
}

// Domains are the clock domains that tick in a Cycle.
type Domains struct{ Net, L2, DRAM bool }

// Memory is a memory system. It is not safe for concurrent use, but for Outboxes: what sends into
// them, each from one goroutine, may run beside a Cycle (noc.Outbox).
type Memory struct {
	Stats Stats
	Times Times
	// Parts are the partitions, Requests and Replies the networks; callers only
	// read them.
	Parts             *part.Memory
	Requests, Replies *noc.Network

	pool  *mem.Pool
	per   int         // SMs of a cluster
	takes int         // replies of a cluster in a core cycle
	wait  []mem.Queue // replies at each cluster
	held  int         // of all
	holds []uint64    // clusters with such replies, a bit each
}

// New returns an empty memory system. Requests that end in it return to the pool.
func New(cfg Config, pool *mem.Pool) (*Memory, error) {
	parts, err := part.New(cfg.Mem, pool)
	if err != nil {
		return nil, err
	}
	m := &Memory{Parts: parts, Requests: noc.New(cfg.Net), Replies: noc.New(cfg.Net.Reverse()), pool: pool, per: cfg.SMsPerCluster, takes: max(cfg.Replies, 1)}
	m.wait, m.holds = make([]mem.Queue, cfg.Clusters), make([]uint64, (cfg.Clusters+63)/64)
	for i := range m.wait {
		m.wait[i] = mem.NewQueue(cfg.FIFO)
	}
	m.Times.bank = make([]bankTime, cfg.Mem.Channels*cfg.Mem.DRAM.Banks)
	return m, nil
}

// Outbox returns a queue for the requests of a cluster. Outboxes of several
// clusters may be used concurrently; their owner flushes them (noc.Outbox).
func (m *Memory) Outbox(cluster int) noc.Outbox { return m.Requests.NewOutbox(cluster) }

// Send puts a request of the given size into a cluster's outbox, which must have
// room.
func (m *Memory) Send(out *noc.Outbox, r *mem.Req, bytes int) {
	m.Parts.Map().Decode(r)
	out.Push(r, int(r.Sub), bytes)
}

// Answer turns a request into its reply where memory takes no time. Room reports
// whether a cluster can take n of them.
func (m *Memory) Answer(cluster int, r *mem.Req, now uint64) {
	r.Reply, r.Ready = true, now
	m.hold(cluster, r)
}

// hold lets a reply wait at its cluster.
func (m *Memory) hold(cluster int, r *mem.Req) {
	m.wait[cluster].Push(r)
	m.held++
	m.holds[cluster>>6] |= 1 << (cluster & 63)
}

// Room reports whether n more replies can wait at a cluster.
func (m *Memory) Room(cluster, n int) bool { return m.wait[cluster].Room(n) }

// Waiting returns the number of replies that wait at a cluster, and the limit.
func (m *Memory) Waiting(cluster int) (n, limit int) {
	return m.wait[cluster].Len(), m.wait[cluster].Limit()
}

// Deliver passes the oldest replies at each cluster to hand, unless their SM is choked,
// and takes as many from the network. It is called at the beginning of a core cycle.
func (m *Memory) Deliver(now uint64, choked []bool, hand func(cluster int, r *mem.Req)) {
	if m.held == 0 && !m.Replies.Busy() {
		return
	}
	banks := m.Parts.Config().DRAM.Banks
	ready := m.Replies.Ready()
	for w := range m.holds {
		for set := m.holds[w] | ready[w]; set != 0; set &= set - 1 {
			c := w<<6 + bits.TrailingZeros64(set)
			q := &m.wait[c]
			for range m.takes {
				r := q.Head()
				if r == nil || choked[r.SM] && r.Kind != mem.InstRead {
					break
				}
				m.Times.delivered(now, r, int(r.Chan)*banks+int(r.Bank))
				hand(c, r)
				q.Pop()
				m.held--
			}
			for range m.takes {
				if q.Full() {
					break
				}
				r := m.Replies.Pop(c)
				if r == nil {
					break
				}
				m.hold(c, r)
			}
			if q.Len() == 0 {
				m.holds[w] &^= 1 << (c & 63)
			}
		}
	}
}

// Cycle simulates a tick of the given clock domains, in the order of GPGPU-Sim:
// replies into the network, DRAM, the L2 slices, then the networks themselves. now
// is the core cycle.
func (m *Memory) Cycle(f Domains, now uint64) {
	if f.Net {
		m.reply(now)
	}
	if f.DRAM {
		m.Parts.DRAMTick(now)
	}
	if f.L2 {
		m.enter(now)
	}
	if f.Net {
		m.Requests.Advance()
		m.Replies.Advance()
	}
}

// replyBytes is the size of a reply's packet (GPGPU-Sim).
func replyBytes(r *mem.Req) int {
	if r.Write && !r.Atomic {
		return mem.ControlSize
	}
	return mem.ControlSize + int(r.Size)
}

// reply moves one reply of each slice into the network.
func (m *Memory) reply(now uint64) {
	for w, set := range m.Parts.Replying() {
		for ; set != 0; set &= set - 1 {
			s := w<<6 + bits.TrailingZeros64(set)
			r := m.Parts.ReplyHead(s)
			n := replyBytes(r)
			if !m.Replies.HasRoom(s, n) {
				m.Stats.NetFull++
				continue
			}
			m.Parts.PopReply(s)
			r.Ready = now
			m.Replies.Push(r, s, int(r.SM)/m.per, n)
		}
	}
}

// enter moves one packet of each slice out of the network, and does the L2's
// cycle.
func (m *Memory) enter(now uint64) {
	m.Parts.BeginL2()
	awake, ready := m.Parts.Awake(), m.Requests.Ready()
	entered := false
	for w := range awake {
		for set := awake[w] | ready[w]; set != 0; {
			b := bits.TrailingZeros64(set)
			s := w<<6 + b
			if !m.Parts.CanTake(s, now) {
				m.Stats.DRAMFull++
			} else if r := m.Requests.Pop(s); r != nil {
				entered = true
				m.Times.entered(now, r)
				m.Parts.Enter(s, r, now)
			}
			m.Parts.CacheCycle(s, now)
			set = (awake[w] | ready[w]) &^ (2<<b - 1)
		}
	}
	if entered {
		m.Stats.EnterCycles++
	}
	m.Parts.EndL2()
}

// Moving reports whether anything is in the networks or waits at a cluster. Cycles
// of such a system cannot be skipped.
func (m *Memory) Moving() bool { return m.held > 0 || m.Requests.Busy() || m.Replies.Busy() }

// Idle reports whether nothing is left to do except for write-backs, which nothing
// waits for, and replies at the clusters, which their SMs account for.
func (m *Memory) Idle() bool {
	if m.Requests.Busy() || m.Replies.Busy() {
		return false
	}
	var n uint64
	for s := range m.Parts.Subs() {
		st := m.Parts.SubStats(s)
		n += st.Requests - st.Replies - st.Vanished
	}
	return n == 0
}

// NextEvent returns the core cycle of the next event, if nothing is sent before and
// the system is not Moving.
func (m *Memory) NextEvent(now uint64) uint64 { return m.Parts.NextEvent(now) }

// Skip has the effect of cycles of the domains in which nothing happens.
func (m *Memory) Skip(net, l2, dram uint64) {
	m.Parts.Skip(l2, dram)
	m.Requests.Skip(net)
	m.Replies.Skip(net)
}

// Inherit takes over the counters of another system with the same settings.
// Requests still in that system count as vanished.
func (m *Memory) Inherit(o *Memory) {
	m.Stats, m.Times = o.Stats, o.Times
	m.Requests.Inherit(o.Requests)
	m.Replies.Inherit(o.Replies)
	for i := range m.Parts.Subs() {
		s := m.Parts.SubStats(i)
		*s = *o.Parts.SubStats(i)
		s.Vanished = s.Requests - s.Replies
		if a := m.Parts.L2Stats(i); a != nil {
			*a = *o.Parts.L2Stats(i)
		}
	}
	for i := range m.Parts.Channels() {
		*m.Parts.ChannelStats(i) = *o.Parts.ChannelStats(i)
		if d := m.Parts.DRAM(i); d != nil {
			d.Inherit(o.Parts.DRAM(i))
		} else if s := m.Parts.DRAMStats(i); s != nil {
			*s = *o.Parts.DRAMStats(i)
		}
	}
}

// Each calls in for every request in the system, with its place, and miss for every
// pending miss of an L2 slice.
func (m *Memory) Each(in func(r *mem.Req, place string), miss func(name string, p cache.Pending)) {
	m.Requests.Each(func(r *mem.Req, node int, arrived bool) {
		if arrived {
			in(r, fmt.Sprintf("in the request network, at L2 slice %d", node))
		} else {
			in(r, fmt.Sprintf("in the request network, from cluster %d to L2 slice %d", node, r.Sub))
		}
	})
	m.Replies.Each(func(r *mem.Req, node int, arrived bool) {
		if arrived {
			in(r, fmt.Sprintf("answered, in the reply network at cluster %d", node))
		} else {
			in(r, fmt.Sprintf("answered, in the reply network from L2 slice %d", node))
		}
	})
	for i := range m.wait {
		for k := range m.wait[i].Len() {
			in(m.wait[i].At(k), fmt.Sprintf("answered, in the reply queue of cluster %d", i))
		}
	}
	m.Parts.Each(in)
	for s := range m.Parts.Subs() {
		if l2 := m.Parts.L2(s); l2 != nil {
			l2.EachPending(func(p cache.Pending) { miss(fmt.Sprintf("L2 slice %d", s), p) })
		}
	}
}

// Queues describes every queue that is not empty.
func (m *Memory) Queues() []string {
	var list []string
	for i := range m.wait {
		if n := m.wait[i].Len(); n > 0 {
			list = append(list, fmt.Sprintf("cluster %d: %d replies wait", i, n))
		}
	}
	for _, n := range []struct {
		name string
		net  *noc.Network
	}{{"request", m.Requests}, {"reply", m.Replies}} {
		if n.net.Busy() {
			way, there := n.net.Packets()
			list = append(list, fmt.Sprintf("%s network: %d packets in transit, %d arrived and not taken", n.name, way, there))
		}
	}
	for s := range m.Parts.Subs() {
		o := m.Parts.Occupancy(s)
		if o.Away > 0 {
			list = append(list, fmt.Sprintf("slice %d: %d at other devices", s, o.Away))
		}
		if o.Delay+o.ToL2+o.ToDRAM+o.FromDRAM+o.ToNet+o.Misses > 0 {
			list = append(list, fmt.Sprintf("slice %d: %d before the L2, %d to the L2, %d misses, %d to and %d from the DRAM, %d to the network",
				s, o.Delay, o.ToL2, o.Misses, o.ToDRAM, o.FromDRAM, o.ToNet))
		}
	}
	return list
}
