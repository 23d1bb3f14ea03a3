package dram

import (
	"math"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/ring"
)

// Kind is a command on the bus of a channel.
type Kind uint8

// The commands.
const (
	Activate  Kind = iota // open a row
	Precharge             // close it
	Read                  // a burst out of the open row
	Write                 // a burst into it
	Refresh               // all banks at once
)

var kindNames = [...]string{"ACT", "PRE", "RD", "WR", "REF"}

func (k Kind) String() string { return kindNames[k] }

// Command is an entry of the command log.
type Command struct {
	Cycle uint64 // of the channel, from 0
	Kind  Kind
	Bank  int    // 0 for Refresh
	Row   uint32 // the bank's open row; for Precharge the row it closes
}

// none ends a list of entries and stands for a bubble on the data pins.
const none = int32(-1)

// entry is a request inside the device. Entries live in one array and are
// named by their index.
type entry struct {
	req   *mem.Req
	row   uint32
	bank  int32
	write bool
	alloc bool // reads for write allocation and write-backs are counted separately
	back  bool
	asked int32 // bytes for which commands went out
	moved int32 // bytes that crossed the pins
	next  int32 // younger entry of the same bank, or next free entry
	since uint64
}

// list is a bank's waiting requests in order of arrival.
type list struct {
	first, last int32
	streak      bool // a row streak is in progress, on row
	row         uint32
}

type bank struct {
	cur  int32 // request in service, none
	open bool
	row  uint32 // last activated
	got  uint64 // cycle in which cur came

	uses  uint64 // requests handed over since the last change of row (FRFCFS)
	since uint64 // core cycle of that change

	// First cycle in which the command in question may go again.
	rcd, rcdwr, ras, rc, rp, wtp, rtp uint64
}

// Device is one channel.
type Device struct {
	cfg   Config
	now   uint64
	stats Stats
	per   []BankStats
	log   func(Command)

	entries []entry
	free    int32

	fifo    [fifoDepth]int32
	fifoLen int

	queues  [2][]list // reads (or all), writes
	waiting [2]uint64 // banks with entries in them
	pending [2]int
	writing bool     // FRFCFS is in a phase of writes
	plugged *plugged // nil for a built-in scheduler

	banks []bank
	prio  int
	group []uint8
	mask  uint64 // all banks
	busy  uint64 // banks with a request in service
	hit   uint64 // of these, those whose row is open
	reads uint64 // of these, those with a read

	ccd, rrd, rtw, wtr uint64
	ccdl, rtpl         []uint64 // by bank group
	rowAt              uint64   // no row command can go before this cycle
	quiet              uint64   // no timer runs from this cycle on

	pins     ring.Ring[int32] // bubbles and entries in order of their data
	pinMin   int
	pinMax   int
	pinUsed  int // entries in it
	pinWrite bool

	reply    mem.Queue
	replyMax int

	refreshAt  uint64 // next refresh is due
	refreshing bool

	atom, burst                  int32
	tRCDWR, tRTW, tWTR, tWTP     uint64
	tCCD, tCCDL, tRRD, tRCD      uint64
	tRAS, tRP, tRC, tRTPL, tREFI uint64
}

// New makes an idle channel with all rows closed.
func New(cfg Config) (*Device, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	d := &Device{
		cfg: cfg, free: none,
		per:   make([]BankStats, cfg.Banks),
		banks: make([]bank, cfg.Banks),
		group: make([]uint8, cfg.Banks),
		mask:  ^uint64(0) >> (64 - cfg.Banks),
		ccdl:  make([]uint64, cfg.Groups),
		rtpl:  make([]uint64, cfg.Groups),
		atom:  int32(cfg.AtomBytes()), burst: int32(cfg.BurstCycles()),
		tRCDWR: uint64(cfg.RCDWR()), tRTW: uint64(cfg.RTW()), tWTR: uint64(cfg.WTR()), tWTP: uint64(cfg.WTP()),
		tCCD: uint64(cfg.CCD), tCCDL: uint64(cfg.CCDL), tRRD: uint64(cfg.RRD), tRCD: uint64(cfg.RCD),
		tRAS: uint64(cfg.RAS), tRP: uint64(cfg.RP), tRC: uint64(cfg.RC), tRTPL: uint64(cfg.RTPL),
		tREFI: uint64(cfg.REFI), refreshAt: uint64(cfg.REFI),
	}
	for q := range d.queues {
		d.queues[q] = make([]list, cfg.Banks)
		for b := range d.queues[q] {
			d.queues[q][b] = list{first: none, last: none}
		}
	}
	d.plugged = newPlugged(&cfg)
	for b := range d.banks {
		d.banks[b].cur = none
		d.group[b] = uint8(cfg.Group(b))
	}
	d.pinMax = max(cfg.CL, cfg.WL) + 1
	d.pins = ring.Of(make([]int32, d.pinMax))
	d.setPinMin(cfg.CL)
	d.replyMax = cfg.ReturnQueue
	if d.replyMax == 0 {
		d.replyMax = defaultReply
	}
	d.reply = mem.NewQueue(d.replyMax)
	return d, nil
}

// SetLog passes all further commands to f; nil stops this.
func (d *Device) SetLog(f func(Command)) { d.log = f }

// Config returns the settings of the channel.
func (d *Device) Config() Config { return d.cfg }

// Stats returns the counters.
func (d *Device) Stats() *Stats { return &d.stats }

// Inherit takes over the counters of a device with the same settings.
func (d *Device) Inherit(old *Device) {
	d.stats = old.stats
	copy(d.per, old.per)
}

// Bank returns the counters of one bank.
func (d *Device) Bank(b int) BankStats {
	s := d.per[b]
	if d.banks[b].cur != none {
		s.Busy += d.now - d.banks[b].got
	}
	return s
}

// Pending returns the number of requests that wait for a bank.
func (d *Device) Pending() int { return d.fifoLen + d.pending[0] + d.pending[1] }

// Empty reports whether there is no request in the channel.
func (d *Device) Empty() bool {
	return d.Pending() == 0 && d.busy == 0 && d.pinUsed == 0 && d.reply.Len() == 0
}

// Full reports whether there is no room for a request of the given direction.
func (d *Device) Full(write bool) bool {
	switch {
	case d.cfg.Scheduler == FIFO:
		return d.fifoLen >= fifoDepth
	case d.cfg.QueueSize == 0:
		return false
	case d.cfg.Writes.Enabled && write:
		return d.pending[1] >= d.cfg.Writes.Size
	}
	return d.pending[0] >= d.cfg.QueueSize
}

// Push adds a request; the caller has checked that the channel is not Full. The
// request's Bank and Row say where it goes. core is the core cycle, used for
// waiting times.
func (d *Device) Push(r *mem.Req, core uint64) {
	i := d.free
	if i == none {
		i = int32(len(d.entries))
		d.entries = append(d.entries, entry{})
	} else {
		d.free = d.entries[i].next
	}
	d.entries[i] = entry{
		req: r, row: r.Row, bank: r.Bank & int32(d.cfg.Banks-1), write: r.Write,
		alloc: r.Kind == mem.L2WriteAlloc, back: r.Kind == mem.L2WriteBack,
		next: none, since: core,
	}
	d.stats.Requests++
	if r.Write {
		d.stats.WriteRequests += uint64(r.Size) / uint64(d.atom)
	} else {
		d.stats.ReadRequests += uint64(r.Size) / uint64(d.atom)
	}
	if d.cfg.Scheduler == FIFO {
		d.fifo[d.fifoLen] = i
		d.fifoLen++
		return
	}
	if d.plugged != nil {
		d.queue(r, i)
		return
	}
	q := 0
	if d.cfg.Writes.Enabled && r.Write {
		q = 1
	}
	b := d.entries[i].bank
	l := &d.queues[q][b]
	if l.last == none {
		l.first = i
	} else {
		d.entries[l.last].next = i
	}
	l.last = i
	d.waiting[q] |= 1 << b
	d.pending[q]++
}

// ReplyHead returns the oldest answered request that has not left, nil if there
// is none.
func (d *Device) ReplyHead() *mem.Req { return d.reply.Head() }

// Replies returns the number of answered requests that have not left.
func (d *Device) Replies() int { return d.reply.Len() }

// PopReply removes and returns ReplyHead.
func (d *Device) PopReply() *mem.Req { return d.reply.Pop() }

// Cycle simulates one command clock. It returns the write-back that ended in it, if
// any: nothing waits for write-backs, so they do not become replies.
func (d *Device) Cycle(core uint64) (ended *mem.Req) {
	if d.busy == 0 && d.pinUsed == 0 && d.pending[0]|d.pending[1]|d.fifoLen == 0 && d.tREFI == 0 {
		d.Skip(1)
		return nil
	}
	if !d.reply.Full() {
		ended = d.transfer()
	}
	switch d.cfg.Scheduler {
	case FRFCFS:
		d.scheduleFRFCFS(core)
	case FIFO:
		d.scheduleFIFO(core)
	default:
		d.schedulePlugged(core)
	}
	waiting := d.Pending()
	d.stats.QueueSum += uint64(waiting)
	d.stats.QueueMax = max(d.stats.QueueMax, waiting)

	ready := d.readyColumns()
	d.countParallelism(ready)
	column, row := d.command(ready)
	d.countCycle(column, row)
	d.now++
	return ended
}

// Skip has the effect of n calls of Cycle. All requests in the channel must be
// answered.
func (d *Device) Skip(n uint64) {
	if d.tREFI > 0 { // refreshes go on
		for range n {
			d.Cycle(0)
		}
		return
	}
	s := &d.stats
	if d.quiet > d.now {
		s.Active += min(n, d.quiet-d.now)
	}
	used := uint64(0) // the last burst may still be on the pins
	if d.ccd > d.now {
		used = min(n, d.ccd-d.now)
	}
	s.Used += used
	s.NoWork += n - used
	s.Cycles += n
	s.Idle += n
	d.now += n
	if !d.reply.Full() { // the bubbles of a longer line run out
		for left := n; left > 0 && d.pins.Len() > d.pinMin; left-- {
			d.pins.Drop()
		}
	}
}

// transfer advances the data pins by one cycle and ends a request whose last bytes
// have crossed them.
func (d *Device) transfer() (ended *mem.Req) {
	i := d.popPins()
	if i == none {
		return nil
	}
	e := &d.entries[i]
	e.moved += d.atom
	if uint32(e.moved) < e.req.Size {
		return nil
	}
	r := e.req
	*e = entry{next: d.free}
	d.free = i
	if r.IsWriteBack() {
		return r
	}
	r.Reply = true
	d.reply.Push(r)
	return nil
}

func (d *Device) scheduleFIFO(core uint64) {
	if d.fifoLen == 0 {
		return
	}
	i := d.fifo[0]
	b := d.entries[i].bank
	if d.banks[b].cur != none {
		return
	}
	copy(d.fifo[:], d.fifo[1:])
	d.fifoLen--
	d.serve(i, core)
}

// scheduleFRFCFS hands one request to a bank that has none.
func (d *Device) scheduleFRFCFS(core uint64) {
	idle := d.mask &^ d.busy
	if idle == 0 {
		return
	}
	q := 0
	if w := d.cfg.Writes; w.Enabled {
		switch {
		case !d.writing && d.pending[1] >= w.High:
			d.writing = true
		case d.writing && d.pending[1] < w.Low:
			d.writing = false
		}
		if d.writing {
			q = 1
		}
	}
	b := from(d.waiting[q]&idle, d.prio)
	if b < 0 {
		return
	}
	l := &d.queues[q][b]
	hit := true
	if !l.streak {
		l.row = d.banks[b].row
		if d.find(l.first, l.row) == none {
			l.row = d.entries[l.first].row
			hit = false
		}
	}
	// Take the oldest of the row; the streak lasts while there are others.
	before, i := none, l.first
	for d.entries[i].row != l.row {
		before, i = i, d.entries[i].next
	}
	after := d.entries[i].next
	if before == none {
		l.first = after
	} else {
		d.entries[before].next = after
	}
	if after == none {
		l.last = before
	}
	if l.first == none {
		d.waiting[q] &^= 1 << b
	}
	l.streak = d.find(after, l.row) != none
	d.pending[q]--
	d.hand(i, hit, core)
}

// hand gives entry i to its bank; hit says whether it hits the bank's row.
func (d *Device) hand(i int32, hit bool, core uint64) {
	b := d.entries[i].bank
	d.stats.Scheduled++
	write := d.entries[i].write
	if !write {
		d.stats.ReadScheduled++
	}
	if !hit { // a different row: the count of the last one ends
		k, s := &d.banks[b], &d.per[b]
		s.RowUsesMax = max(s.RowUsesMax, k.uses)
		s.RowSpanMax = max(s.RowSpanMax, core-k.since)
		k.uses, k.since = 0, core
	} else {
		d.stats.RowHits++
		d.per[b].RowHits++
		if write {
			d.stats.WriteRowHits++
		} else {
			d.stats.ReadRowHits++
		}
	}
	d.serve(i, core)
	d.prio = (d.prio + 1) & (d.cfg.Banks - 1)
}

// find returns the oldest entry of the row from i on.
func (d *Device) find(i int32, row uint32) int32 {
	for i != none && d.entries[i].row != row {
		i = d.entries[i].next
	}
	return i
}

// serve makes i the request of its bank.
func (d *Device) serve(i int32, core uint64) {
	e := &d.entries[i]
	e.next = none
	b := &d.banks[e.bank]
	bit := uint64(1) << e.bank
	b.cur, b.got = i, d.now
	d.busy |= bit
	s := &d.per[e.bank]
	b.uses++
	if b.open && b.row == e.row {
		d.hit |= bit
	}
	if !e.write {
		d.reads |= bit
	}
	d.rowAt = 0
	wait := core - e.since
	d.stats.WaitSum += wait
	d.stats.WaitMax = max(d.stats.WaitMax, wait)
	d.stats.WaitLog2[log2(wait)]++
	s.Requests++
	s.WaitMax = max(s.WaitMax, wait)
}

// log2 returns the logarithm rounded down, 0 for 0.
func log2(v uint64) int { return max(0, bits.Len64(v)-1) }

// from returns the first set bit of the mask at or after bit at, cyclically, -1
// if there is none.
func from(mask uint64, at int) int {
	if up := mask >> at << at; up != 0 {
		return bits.TrailingZeros64(up)
	}
	if mask != 0 {
		return bits.TrailingZeros64(mask)
	}
	return -1
}

// readyColumns returns the banks whose column command may go now.
func (d *Device) readyColumns() uint64 {
	if d.hit == 0 || d.now < d.ccd || d.pins.Len() >= d.pinMax || d.refreshing {
		return 0
	}
	can := d.hit
	if d.now < d.wtr {
		can &^= d.reads
	}
	if d.now < d.rtw {
		can &= d.reads
	}
	ready := uint64(0)
	for m := can; m != 0; m &= m - 1 {
		b := bits.TrailingZeros64(m)
		wait := d.banks[b].rcd
		if d.reads>>b&1 == 0 {
			wait = d.banks[b].rcdwr
		}
		if d.now >= wait && d.now >= d.ccdl[d.group[b]] {
			ready |= 1 << b
		}
	}
	return ready
}

// rowTime returns the first cycle in which a row command may go to bank b,
// which has a request for another row than its open one, or must close for a
// refresh.
func (d *Device) rowTime(b int) uint64 {
	k := &d.banks[b]
	if k.open {
		return max(k.ras, k.wtp, k.rtp, d.rtpl[d.group[b]])
	}
	return max(d.rrd, k.rp, k.rc)
}

// command puts the commands of this cycle on the bus.
func (d *Device) command(ready uint64) (column, row bool) {
	if d.tREFI > 0 && d.refresh() {
		return false, true
	}
	if ready == 0 && d.now < d.rowAt {
		return false, false
	}
	rows := d.busy &^ d.hit
	if d.refreshing {
		rows = 0
		for b := range d.banks {
			if d.banks[b].open {
				rows |= 1 << b
			}
		}
	}
	if d.cfg.DualCommand {
		if b := from(ready, d.prio); b >= 0 {
			d.column(b)
			column = true
		}
		row = d.firstRow(rows)
		return column, row
	}
	// One command: for each bank in turn, try the column command, then the row
	// command.
	soonest := uint64(math.MaxUint64)
	for m := ready | rows; m != 0; {
		b := from(m, d.prio)
		m &^= 1 << b
		if ready>>b&1 != 0 {
			d.column(b)
			return true, false
		}
		t := d.rowTime(b)
		if d.now >= t {
			passed := (b - d.prio) & (d.cfg.Banks - 1)
			d.row(b)
			if d.cfg.Compat.ColumnBehindRow {
				column = d.columnBehind(b, passed, ready)
			}
			return column, true
		}
		soonest = min(soonest, t)
	}
	d.rowAt = soonest
	return false, false
}

// columnBehind looks for a column command after a row command to bank b, before
// which the scan had passed some banks. It starts as many banks and one more after
// the bank that follows b, and stops once every bank has been counted.
func (d *Device) columnBehind(b, passed int, ready uint64) bool {
	at := (b + passed + 2) & (d.cfg.Banks - 1)
	left := d.cfg.Banks - 1 - passed
	k := from(ready, at)
	if k < 0 || (k-at)&(d.cfg.Banks-1) >= left {
		return false
	}
	d.column(k)
	return true
}

func (d *Device) firstRow(rows uint64) bool {
	soonest := uint64(math.MaxUint64)
	for m := rows; m != 0; {
		b := from(m, d.prio)
		m &^= 1 << b
		t := d.rowTime(b)
		if d.now >= t {
			d.row(b)
			return true
		}
		soonest = min(soonest, t)
	}
	d.rowAt = soonest
	return false
}

// column issues the next burst of bank b's request.
func (d *Device) column(b int) {
	k := &d.banks[b]
	i := k.cur
	e := &d.entries[i]
	g := d.group[b]
	d.ccd = d.now + d.tCCD
	d.ccdl[g] = d.now + d.tCCDL
	d.awake(d.ccd)
	d.stats.DataCycles += uint64(d.burst)
	kind := Read
	if e.write {
		kind = Write
		if !d.pinWrite {
			d.pinWrite = true
			d.setPinMin(d.cfg.WL)
		}
		d.wtr = d.now + d.tWTR
		k.wtp = d.now + d.tWTP
		d.awake(d.wtr)
		d.per[b].Writes++
		if e.back {
			d.stats.WriteBacks++
		} else {
			d.stats.Writes++
		}
	} else {
		if d.pinWrite {
			d.pinWrite = false
			d.setPinMin(d.cfg.CL)
		}
		d.rtw = d.now + d.tRTW
		k.rtp = d.now + uint64(d.burst)
		d.rtpl[g] = d.now + d.tRTPL
		d.awake(d.rtw)
		d.per[b].Reads++
		if e.alloc {
			d.stats.AllocReads++
		} else {
			d.stats.Reads++
		}
	}
	d.pushPins(i)
	e.asked += d.atom
	if uint32(e.asked) >= e.req.Size {
		bit := uint64(1) << b
		k.cur = none
		d.busy &^= bit
		d.hit &^= bit
		d.reads &^= bit
		d.per[b].Busy += d.now - k.got
	}
	if d.log != nil {
		d.log(Command{d.now, kind, b, k.row})
	}
}

// row closes bank b if it is open and opens its request's row if it is not.
func (d *Device) row(b int) {
	k := &d.banks[b]
	kind := Precharge
	if k.open {
		k.open = false
		d.hit &^= 1 << b
		k.rp = d.now + d.tRP
		d.awake(k.rp)
		d.stats.Precharges++
	} else {
		kind = Activate
		k.open = true
		k.row = d.entries[k.cur].row
		d.hit |= 1 << b
		d.rrd = d.now + d.tRRD
		k.rcd = d.now + d.tRCD
		k.rcdwr = d.now + d.tRCDWR
		k.ras = d.now + d.tRAS
		k.rc = d.now + d.tRC
		d.awake(d.rrd)
		d.awake(max(k.rcd, k.ras, k.rc))
		d.stats.Activates++
		d.per[b].Activates++
	}
	d.prio = (b + 1) & (d.cfg.Banks - 1)
	d.rowAt = 0
	if d.log != nil {
		d.log(Command{d.now, kind, b, k.row})
	}
}

// refresh starts a refresh when it is due and sends it once all banks are
// closed and recovered. Until then no new row opens and no burst starts.
func (d *Device) refresh() bool {
	if !d.refreshing {
		if d.now < d.refreshAt {
			return false
		}
		d.refreshing, d.rowAt = true, 0
	}
	for b := range d.banks {
		if k := &d.banks[b]; k.open || d.now < k.rp || d.now < k.rc {
			return false
		}
	}
	d.refreshing, d.rowAt = false, 0
	d.refreshAt += d.tREFI
	until := d.now + uint64(d.cfg.RFC)
	for b := range d.banks {
		d.banks[b].rp = max(d.banks[b].rp, until)
	}
	d.awake(until)
	d.stats.Refreshes++
	if d.log != nil {
		d.log(Command{d.now, Refresh, 0, 0})
	}
	return true
}

// awake notes that a timer runs until the given cycle.
func (d *Device) awake(until uint64) { d.quiet = max(d.quiet, until) }

// setPinMin sets the minimum distance from a command to its data to n, by adding or
// removing bubbles at the end of the line.
func (d *Device) setPinMin(n int) {
	d.pinMin = n
	for d.pins.Len() < n {
		d.pins.Push(none)
	}
	for d.pins.Len() > n && *d.pins.At(d.pins.Len() - 1) == none {
		d.pins.Drop()
	}
}

// pushPins puts an entry's data at the end of the line.
func (d *Device) pushPins(i int32) {
	d.pinUsed++
	if n := d.pins.Len(); n >= d.pinMin && n > 0 {
		if last := d.pins.At(n - 1); *last == none {
			*last = i
			return
		}
	}
	d.pins.Push(i)
}

func (d *Device) popPins() int32 {
	i := d.pins.Pop()
	if d.pins.Len() < d.pinMin {
		d.pins.Push(none)
	}
	if i != none {
		d.pinUsed--
	}
	return i
}

// countParallelism counts the banks at work before the cycle's commands.
func (d *Device) countParallelism(ready uint64) {
	s := &d.stats
	if d.busy != 0 {
		s.BanksBusy += uint64(bits.OnesCount64(d.busy))
		s.BanksBusyCycles++
	}
	if d.hit != 0 {
		n := uint64(bits.OnesCount64(d.hit))
		s.BanksOpen += n
		s.BanksOpenCycles++
		s.OpenWriteShare += uint64(bits.OnesCount64(d.hit&^d.reads)) << 32 / n
		var groups uint64
		for m := d.hit; m != 0; m &= m - 1 {
			groups |= 1 << d.group[bits.TrailingZeros64(m)]
		}
		s.GroupsOpen += uint64(bits.OnesCount64(groups))
	}
	if ready != 0 {
		s.BanksReady += uint64(bits.OnesCount64(ready))
		s.BanksReadyCycles++
	}
}

// countCycle counts what the cycle was used for.
func (d *Device) countCycle(column, row bool) {
	s := &d.stats
	s.Cycles++
	if column {
		s.Columns++
	}
	if row {
		s.Rows++
	}
	if column && row {
		s.DoubleIssue++
	}
	if !column && !row {
		s.Idle++
	}
	if d.busy != 0 {
		s.AfterBusyCycles++
	}
	if d.busy != 0 || d.quiet > d.now {
		s.Active++
	}
	switch {
	case column || d.now < d.ccd:
		s.Used++
	case d.hit != 0:
		s.LostColumn++
		d.countHeld()
	case d.busy != 0:
		s.LostRow++
	default:
		s.NoWork++
	}
}

func (d *Device) countHeld() {
	h := &d.stats.Held
	for m := d.hit; m != 0; m &= m - 1 {
		b := bits.TrailingZeros64(m)
		ccdl := d.now < d.ccdl[d.group[b]]
		if ccdl {
			h.CCDL++
		}
		if d.now < d.ccd {
			h.CCD++
		}
		if d.pins.Len() >= d.pinMax {
			h.Pins++
		}
		if d.reads>>b&1 != 0 {
			turn := d.now < d.wtr
			if d.now < d.banks[b].rcd {
				h.RCD++
			}
			if turn {
				h.WTR++
			}
			if ccdl && !turn {
				h.CCDLAlone++
			}
			if turn && !ccdl {
				h.WTRAlone++
			}
			continue
		}
		turn := d.now < d.rtw
		if d.now < d.banks[b].rcdwr {
			h.RCDWR++
		}
		if turn {
			h.RTW++
		}
		if ccdl && !turn {
			h.CCDLAlone++
		}
		if turn && !ccdl {
			h.RTWAlone++
		}
	}
}
