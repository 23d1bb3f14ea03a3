package dram

import "github.com/heddle-sim/heddle/internal/mem"

// twin is the channel written like the rules: one counter per constraint that
// counts down to zero, requests in plain slices, data pins as a list of slots. It
// is slow and has no shortcuts.
type twin struct {
	c     Config
	cycle uint64

	arrived []*mem.Req // under FIFO
	reads   [][]*twinReq
	writes  [][]*twinReq
	streakR []int64 // row of the streak, -1 if there is none
	streakW []int64
	writing bool

	bank []twinBank
	prio int
	now  struct{ ccd, rrd, rtw, wtr int }
	grp  []struct{ ccdl, rtpl int }

	pins   []*twinReq
	pinMin int
	isW    bool

	replies []*mem.Req
	log     []Command
	sched   int
	hits    int
}

type twinReq struct {
	r           *mem.Req
	asked, sent int
}

type twinBank struct {
	cur                              *twinReq
	open                             bool
	row                              uint32
	rcd, rcdwr, ras, rc, rp, wtp, rt int
}

func newTwin(c Config) *twin {
	t := &twin{
		c: c, bank: make([]twinBank, c.Banks), reads: make([][]*twinReq, c.Banks), writes: make([][]*twinReq, c.Banks),
		streakR: make([]int64, c.Banks), streakW: make([]int64, c.Banks), pinMin: c.CL,
	}
	t.grp = make([]struct{ ccdl, rtpl int }, c.Groups)
	for b := range t.streakR {
		t.streakR[b], t.streakW[b] = -1, -1
	}
	for range c.CL {
		t.pins = append(t.pins, nil)
	}
	return t
}

func (t *twin) count(q [][]*twinReq) int {
	n := 0
	for _, l := range q {
		n += len(l)
	}
	return n
}

func (t *twin) full(write bool) bool {
	if t.c.Scheduler == FIFO {
		return len(t.arrived) >= 2
	}
	if t.c.QueueSize == 0 {
		return false
	}
	if write && t.c.Writes.Enabled {
		return t.count(t.writes) >= t.c.Writes.Size
	}
	return t.count(t.reads) >= t.c.QueueSize
}

func (t *twin) push(r *mem.Req) {
	b := r.Bank
	switch {
	case t.c.Scheduler == FIFO:
		t.arrived = append(t.arrived, r)
	case t.c.Writes.Enabled && r.Write:
		t.writes[b] = append(t.writes[b], &twinReq{r: r})
	default:
		t.reads[b] = append(t.reads[b], &twinReq{r: r})
	}
}

func (t *twin) step() (ended *mem.Req) {
	c := t.c
	atom := c.BurstLength * c.BusBytes * c.Chips
	burst := c.BurstLength / c.DataRatio
	depth := max(c.CL, c.WL) + 1

	// Pins.
	limit := c.ReturnQueue
	if limit == 0 {
		limit = 1024
	}
	if len(t.replies) < limit {
		head := t.pins[0]
		t.pins = t.pins[1:]
		if len(t.pins) < t.pinMin {
			t.pins = append(t.pins, nil)
		}
		if head != nil {
			head.sent += atom
			if head.sent >= int(head.r.Size) {
				if head.r.Kind == mem.L1WriteBack || head.r.Kind == mem.L2WriteBack {
					ended = head.r
				} else {
					t.replies = append(t.replies, head.r)
				}
			}
		}
	}

	t.schedule()

	// Commands.
	grp := func(b int) int {
		if c.GroupBy == GroupByLowBits {
			return b % c.Groups
		}
		return b / (c.Banks / c.Groups)
	}
	shift := func(min int, w bool) {
		if t.isW == w {
			return
		}
		t.isW, t.pinMin = w, min
		for len(t.pins) < min {
			t.pins = append(t.pins, nil)
		}
		for len(t.pins) > min && t.pins[len(t.pins)-1] == nil {
			t.pins = t.pins[:len(t.pins)-1]
		}
	}
	column := func(b int) bool {
		k := &t.bank[b]
		if k.cur == nil || !k.open || k.row != k.cur.r.Row || t.now.ccd > 0 || t.grp[grp(b)].ccdl > 0 || len(t.pins) >= depth {
			return false
		}
		if k.cur.r.Write {
			if k.rcdwr > 0 || t.now.rtw > 0 {
				return false
			}
			shift(c.WL, true)
			if !c.NoTurnaround {
				t.now.wtr = c.WL + burst + c.CDLR
			}
			k.wtp = c.WL + burst + c.WR
			t.log = append(t.log, Command{t.cycle, Write, b, k.row})
		} else {
			if k.rcd > 0 || t.now.wtr > 0 {
				return false
			}
			shift(c.CL, false)
			if !c.NoTurnaround {
				t.now.rtw = c.CL + burst + 2 - c.WL
			}
			k.rt = burst
			t.grp[grp(b)].rtpl = c.RTPL
			t.log = append(t.log, Command{t.cycle, Read, b, k.row})
		}
		t.now.ccd, t.grp[grp(b)].ccdl = c.CCD, c.CCDL
		if n := len(t.pins); n >= t.pinMin && n > 0 && t.pins[n-1] == nil {
			t.pins[n-1] = k.cur
		} else {
			t.pins = append(t.pins, k.cur)
		}
		if k.cur.asked += atom; k.cur.asked >= int(k.cur.r.Size) {
			k.cur = nil
		}
		return true
	}
	row := func(b int) bool {
		k := &t.bank[b]
		switch {
		case k.cur == nil:
			return false
		case !k.open && t.now.rrd == 0 && k.rp == 0 && k.rc == 0:
			k.open, k.row = true, k.cur.r.Row
			t.now.rrd, k.rcd, k.rcdwr, k.ras, k.rc = c.RRD, c.RCD, max(0, c.RCD-c.WL-1), c.RAS, c.RC
			t.log = append(t.log, Command{t.cycle, Activate, b, k.row})
		case k.open && k.row != k.cur.r.Row && k.ras == 0 && k.wtp == 0 && k.rt == 0 && t.grp[grp(b)].rtpl == 0:
			k.open, k.rp = false, c.RP
			t.log = append(t.log, Command{t.cycle, Precharge, b, k.row})
		default:
			return false
		}
		t.prio = (b + 1) % c.Banks
		return true
	}
	if c.Compat.ColumnBehindRow && !c.DualCommand {
		col, rw := false, false
		for i := range c.Banks {
			b := (t.prio + i) % c.Banks // prio moves with a row command
			col = col || column(b)
			rw = rw || !col && row(b)
		}
	} else if c.DualCommand {
		for i := range c.Banks {
			if column((t.prio + i) % c.Banks) {
				break
			}
		}
		p := t.prio
		for i := range c.Banks {
			if row((p + i) % c.Banks) {
				break
			}
		}
	} else {
		p := t.prio
		for i := range c.Banks {
			if b := (p + i) % c.Banks; column(b) || row(b) {
				break
			}
		}
	}

	// Time.
	down := func(v ...*int) {
		for _, p := range v {
			if *p > 0 {
				*p--
			}
		}
	}
	down(&t.now.ccd, &t.now.rrd, &t.now.rtw, &t.now.wtr)
	for b := range t.bank {
		k := &t.bank[b]
		down(&k.rcd, &k.rcdwr, &k.ras, &k.rc, &k.rp, &k.wtp, &k.rt)
	}
	for g := range t.grp {
		down(&t.grp[g].ccdl, &t.grp[g].rtpl)
	}
	t.cycle++
	return ended
}

// schedule hands one request to a free bank.
func (t *twin) schedule() {
	c := t.c
	if c.Scheduler == FIFO {
		if len(t.arrived) > 0 && t.bank[t.arrived[0].Bank].cur == nil {
			t.bank[t.arrived[0].Bank].cur = &twinReq{r: t.arrived[0]}
			t.arrived = t.arrived[1:]
		}
		return
	}
	for i := range c.Banks {
		b := (t.prio + i) % c.Banks
		if t.bank[b].cur != nil {
			continue
		}
		q, streak := t.reads, t.streakR
		if c.Writes.Enabled {
			n := t.count(t.writes)
			if !t.writing && n >= c.Writes.High {
				t.writing = true
			} else if t.writing && n < c.Writes.Low {
				t.writing = false
			}
			if t.writing {
				q, streak = t.writes, t.streakW
			}
		}
		if len(q[b]) == 0 {
			continue
		}
		// The candidates for this bank: each gets a rank, and the lowest wins.
		best, bestRank := -1, 1<<30
		for j, r := range q[b] {
			rank := 1<<20 + j
			if streak[b] >= 0 && int64(r.r.Row) == streak[b] || streak[b] < 0 && r.r.Row == t.bank[b].row {
				rank = j
			}
			if rank < bestRank {
				best, bestRank = j, rank
			}
		}
		x := q[b][best]
		t.sched++
		if bestRank < 1<<20 {
			t.hits++
		}
		q[b] = append(append([]*twinReq(nil), q[b][:best]...), q[b][best+1:]...)
		streak[b] = -1
		for _, r := range q[b] {
			if r.r.Row == x.r.Row {
				streak[b] = int64(x.r.Row)
			}
		}
		t.bank[b].cur = x
		t.prio = (t.prio + 1) % c.Banks
		return
	}
}
