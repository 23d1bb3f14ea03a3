package cache

import "github.com/heddle-sim/heddle/internal/mem"

// The twin is a second cache, written only for clarity: it scans ways, and keeps
// states as words and pending misses in a map. It shares the settings' types and
// the index functions (which have their own tests) with the real one.

type twinReq struct {
	id         uint32
	kind       mem.Kind
	addr, part uint64
	size       int
	write      bool
	atomic     bool
	sectors    int
	bytes      [128]bool
	forWrite   *twinReq
}

type twinSector struct {
	state                    string // "", "reserved", "valid", "modified"
	readable                 bool
	modifiedOnFill, readFill bool
}

type twinLine struct {
	tag        uint64
	used, born uint64
	sec        []twinSector
	dirty      [128]bool
	bytesFill  bool
}

func (l *twinLine) any(state string) bool {
	for _, s := range l.sec {
		if s.state == state {
			return true
		}
	}
	return false
}

func (l *twinLine) invalid() bool {
	return !l.any("reserved") && !l.any("valid") && !l.any("modified")
}

type twinMiss struct {
	sent  *twinReq
	addr  uint64
	size  int
	line  int // -1: taken at the fill
	list  []*twinReq
	left  int
	ready bool
}

type twin struct {
	cfg      Config
	ways     int
	stride   int
	alloc    Alloc
	lines    []twinLine
	touched  bool
	misses   map[uint64]*twinMiss
	done     []uint64
	queue    []*twinReq
	dataBusy int
	fillBusy int
	sent     Sent
	why      FailReason
	wb       int
	count    [mem.Kinds][Statuses]uint64
	fails    [mem.Kinds][FailReasons]uint64
}

func newTwin(cfg Config) *twin {
	t := &twin{cfg: cfg, ways: cfg.Ways, alloc: cfg.Alloc, misses: map[uint64]*twinMiss{}}
	n := cfg.Sets * max(cfg.Ways, cfg.MaxWays)
	per := 1
	if cfg.Sectored {
		per = 4
	}
	t.lines = make([]twinLine, n)
	for i := range t.lines {
		t.lines[i].sec = make([]twinSector, per)
	}
	t.setStride()
	return t
}

func (t *twin) setStride() {
	t.stride = max(t.cfg.Ways, t.cfg.MaxWays)
	if t.cfg.Compat.ReindexWays {
		t.stride = t.ways
	}
}

func (t *twin) setWays(n int) {
	t.ways = n
	t.setStride()
	if !t.cfg.Compat.ReindexWays {
		for i := range t.lines {
			if i%t.stride >= n {
				t.clear(i)
			}
		}
	}
}

func (t *twin) clear(i int) {
	for s := range t.lines[i].sec {
		t.lines[i].sec[s].state = ""
	}
}

func (t *twin) atom() uint64 {
	if t.cfg.Sectored {
		return 32
	}
	return uint64(t.cfg.Line)
}

func (t *twin) portWidth() int {
	if t.cfg.Port == 0 {
		return t.cfg.Line
	}
	return t.cfg.Port
}

func (t *twin) place(addr, part uint64) (set int, tag uint64) {
	line := uint64(t.cfg.Line)
	key := addr
	if t.cfg.Level == L2 {
		key = part
	}
	key = key / line * line
	shift := uint(0)
	for 1<<shift < t.cfg.Line {
		shift++
	}
	if t.cfg.Index == Linear && t.cfg.Compat.MaskIndex {
		return int(key>>shift) & (t.cfg.Sets - 1), addr / line * line
	}
	return Index(t.cfg.Index, t.cfg.Sets, shift, key), addr / line * line
}

func (t *twin) sectorOf(r *twinReq) int {
	if !t.cfg.Sectored {
		return 0
	}
	for s := range 4 {
		if r.sectors>>s&1 == 1 {
			return s
		}
	}
	return int(r.addr / 32 % 4)
}

// dirtyLine says whether a line counts as dirty.
func (t *twin) dirtyLine(i int) bool {
	if t.cfg.Write == WriteThrough && !t.cfg.Compat.ProtectWritten {
		return false
	}
	return t.lines[i].any("modified")
}

func (t *twin) spare() bool {
	n := 0
	for i := range t.lines {
		if t.dirtyLine(i) {
			n++
		}
	}
	return 100*n < t.cfg.WriteRatio*t.cfg.Sets*t.ways
}

// probe returns the outcome and the line: the matching one or the victim.
func (t *twin) probe(addr, part uint64, sec int, write bool) (Status, int) {
	set, tag := t.place(addr, part)
	lastInvalid, oldest := -1, -1
	spare := t.spare()
	for w := range t.ways {
		i := set*t.stride + w
		l := &t.lines[i]
		if l.tag == tag && !l.invalid() {
			switch s := l.sec[sec]; s.state {
			case "reserved":
				return HitReserved, i
			case "valid":
				return Hit, i
			case "modified":
				if write || s.readable {
					return Hit, i
				}
			}
			return SectorMiss, i
		}
		if l.any("reserved") || spare && t.dirtyLine(i) {
			continue
		}
		if l.invalid() {
			lastInvalid = i
			continue
		}
		age := func(i int) uint64 {
			if t.cfg.Replace == LRU {
				return t.lines[i].used
			}
			return t.lines[i].born
		}
		if oldest < 0 || age(i) < age(oldest) {
			oldest = i
		}
	}
	switch {
	case lastInvalid >= 0:
		return Miss, lastInvalid
	case oldest >= 0:
		return Miss, oldest
	}
	return Fail, -1
}

func (t *twin) allocate(i int, tag, now uint64, sec int) {
	l := &t.lines[i]
	l.tag, l.used, l.born, l.dirty, l.bytesFill = tag, now, now, [128]bool{}, false
	for s := range l.sec {
		l.sec[s] = twinSector{readable: true}
	}
	l.sec[sec].state = "reserved"
}

func (t *twin) allocateSector(i int, now uint64, sec int) {
	l := &t.lines[i]
	l.used = now
	s := &l.sec[sec]
	s.modifiedOnFill = s.state == "modified"
	s.readFill = false
	s.readable = true
	s.state = "reserved"
}

// tagAccess returns the line and the dirty victim to write back, if any.
func (t *twin) tagAccess(now uint64, r *twinReq, write bool) (int, *twinReq) {
	t.touched = true
	sec := t.sectorOf(r)
	st, i := t.probe(r.addr, r.part, sec, write)
	_, tag := t.place(r.addr, r.part)
	switch {
	case st == Hit || st == HitReserved:
		t.lines[i].used = now
		return i, nil
	case t.alloc != OnMiss:
		return -1, nil
	case st == SectorMiss:
		t.allocateSector(i, now, sec)
		return i, nil
	}
	l := &t.lines[i]
	var out *twinReq
	if l.any("modified") && t.cfg.Write != WriteThrough {
		out = &twinReq{kind: mem.L1WriteBack, addr: l.tag, write: true, bytes: l.dirty}
		if t.cfg.Level == L2 {
			out.kind = mem.L2WriteBack
		}
		for s := range l.sec {
			if l.sec[s].state == "modified" {
				out.sectors |= 1 << s
				out.size += 32
			}
		}
		if !t.cfg.Sectored {
			out.size, out.sectors = 128, 15
		}
	}
	t.allocate(i, tag, now, sec)
	return i, out
}

func (t *twin) markWritten(i, sec int, r *twinReq) {
	l := &t.lines[i]
	l.sec[sec].state = "modified"
	for b := range l.dirty {
		l.dirty[b] = l.dirty[b] || r.bytes[b]
	}
}

func (t *twin) allDirty(i, sec int) bool {
	lo, hi := sec*32, sec*32+32
	if !t.cfg.Sectored {
		lo = int(t.lines[i].tag % 128)
		hi = lo + t.cfg.Line
	}
	for b := lo; b < hi; b++ {
		if !t.lines[i].dirty[b] {
			return false
		}
	}
	return true
}

func (t *twin) full(n int) bool { return len(t.queue)+n > t.cfg.MissQueue }

func (t *twin) no(why FailReason) Status {
	t.why = why
	return Fail
}

func (t *twin) access(now uint64, r *twinReq) Status {
	t.sent, t.wb = 0, 0
	sec := t.sectorOf(r)
	st, i := t.probe(r.addr, r.part, sec, r.write)
	size := r.size
	res := Fail // Hit, Miss or Fail
	switch {
	case r.write && st == Hit:
		res = t.hitWrite(now, r, i, sec)
	case r.write && t.cfg.WriteAlloc == NoWriteAlloc:
		res = t.passWrite(r)
	case st == Fail:
		res = t.no(LineAllocFail)
	case r.write:
		res = t.missWrite(now, r, st, sec)
	case st == Hit:
		t.tagAccess(now, r, false)
		if r.atomic {
			t.markWritten(i, sec, r)
		}
		res = Hit
	default:
		res = t.missRead(now, r, st)
	}
	if res == Hit {
		w := t.portWidth()
		t.dataBusy += (size + w - 1) / w
	} else if res == Miss && t.wb > 0 {
		t.dataBusy += t.wb / t.portWidth()
	}
	if res == Miss && (st == HitReserved || st == SectorMiss) {
		res = st
	}
	if res == Fail {
		t.fails[r.kind][t.why]++
	}
	t.count[r.kind][res]++
	return res
}

func (t *twin) hitWrite(now uint64, r *twinReq, i, sec int) Status {
	how := t.cfg.Write
	if how == LocalBack && r.kind == mem.GlobalWrite {
		how = WriteEvict
	}
	switch how {
	case WriteEvict, ReadOnly:
		if t.full(1) {
			return t.no(MissQueueFull)
		}
		t.send(r, SentWrite)
		t.lines[i].sec[sec].state = ""
		return Hit
	case WriteThrough:
		if t.full(1) {
			return t.no(MissQueueFull)
		}
		t.send(r, SentWrite)
	}
	t.tagAccess(now, r, true)
	t.markWritten(i, sec, r)
	if t.allDirty(i, sec) {
		t.lines[i].sec[sec].readable = true
	}
	return Hit
}

func (t *twin) send(r *twinReq, s Sent) {
	t.queue = append(t.queue, r)
	t.sent |= s
}

func (t *twin) sendVictim(v *twinReq) {
	if v != nil {
		t.send(v, SentWriteBack)
		t.wb = v.size
	}
}

func (t *twin) passWrite(r *twinReq) Status {
	if t.full(1) {
		return t.no(MissQueueFull)
	}
	t.send(r, SentWrite)
	return Miss
}

func (t *twin) mshrRoom(r *twinReq) (bool, FailReason) {
	m := t.misses[r.addr/t.atom()*t.atom()]
	if m != nil {
		return len(m.list) < t.cfg.Merge, MSHRMergeFail
	}
	return len(t.misses) < t.cfg.Entries, MSHREntryFail
}

func (t *twin) missRead(now uint64, r *twinReq, st Status) Status {
	m := t.misses[r.addr/t.atom()*t.atom()]
	need := 1
	if t.cfg.Compat.MissNeedsTwo {
		if t.cfg.Write != ReadOnly {
			need = 2
		}
	} else {
		if m != nil {
			need = 0
		}
		late := m != nil && m.ready && !t.cfg.Compat.LateMerge
		if st == Miss && t.alloc == OnMiss && !late && t.cfg.Write != WriteThrough {
			_, v := t.probe(r.addr, r.part, t.sectorOf(r), false)
			if t.lines[v].any("modified") {
				need++
			}
		}
	}
	if need > 0 && t.full(need) {
		return t.no(MissQueueFull)
	}
	if ok, why := t.mshrRoom(r); !ok {
		return t.no(why)
	}
	t.read(now, r, st, SentRead)
	return Miss
}

// read does the tag access and the MSHR part of a read that misses.
func (t *twin) read(now uint64, r *twinReq, st Status, s Sent) int {
	key := r.addr / t.atom() * t.atom()
	m := t.misses[key]
	line := -1
	var out *twinReq
	if m != nil && m.ready && !t.cfg.Compat.LateMerge {
		t.touched = true
		if st == HitReserved {
			_, i := t.probe(r.addr, r.part, t.sectorOf(r), false)
			t.lines[i].used = now
		}
	} else {
		line, out = t.tagAccess(now, r, false)
	}
	if m != nil {
		m.list = append(m.list, r)
		t.count[r.kind][MSHRHit]++
	} else {
		t.misses[key] = &twinMiss{sent: r, addr: r.addr, size: r.size, line: line, list: []*twinReq{r}}
		r.addr, r.size = key, int(t.atom())
		t.send(r, s)
	}
	t.sendVictim(out)
	return line
}

func (t *twin) missWrite(now uint64, r *twinReq, st Status, sec int) Status {
	n := 0
	for _, b := range r.bytes {
		if b {
			n++
		}
	}
	whole := n == int(t.atom())
	if t.cfg.WriteAlloc == LazyFetch || t.cfg.WriteAlloc == FetchOnWrite && whole {
		if t.full(1) {
			return t.no(MissQueueFull)
		}
		if t.cfg.Write == WriteThrough {
			t.send(r, SentWrite)
		}
		i, out := t.tagAccess(now, r, true)
		t.markWritten(i, sec, r)
		s := &t.lines[i].sec[sec]
		s.readable = whole || t.allDirty(i, sec)
		if st == HitReserved {
			s.modifiedOnFill = true
			t.lines[i].bytesFill = true
			if !whole {
				s.readFill = true
			}
		}
		t.sendVictim(out)
		return Miss
	}
	need := 2
	if t.cfg.WriteAlloc == NaiveAlloc {
		need = 3
	}
	if t.full(need) {
		return t.no(MissQueueFull)
	}
	if ok, why := t.mshrRoom(r); !ok {
		return t.no(why)
	}
	rd := *r
	rd.write, rd.kind, rd.size = false, mem.L1WriteAlloc, int(t.atom())
	if t.cfg.Level == L2 {
		rd.kind = mem.L2WriteAlloc
	}
	if t.cfg.WriteAlloc == NaiveAlloc {
		t.send(r, SentWrite)
	} else {
		rd.forWrite = r
		if m := t.misses[r.addr/t.atom()*t.atom()]; m != nil {
			behind, wrote := false, false
			for _, x := range m.list {
				alloc := x.kind == mem.L1WriteAlloc || x.kind == mem.L2WriteAlloc
				behind = behind || wrote && !alloc
				wrote = wrote || alloc
			}
			if behind || m.ready && !t.cfg.Compat.LateMerge {
				return t.no(MSHRRWPending)
			}
		}
	}
	i := t.read(now, &rd, st, SentWriteAlloc)
	t.sent |= SentWriteAlloc
	if t.cfg.WriteAlloc == FetchOnWrite && i >= 0 {
		t.lines[i].sec[sec].modifiedOnFill = true
		t.lines[i].bytesFill = true
	}
	return Miss
}

func (t *twin) putSector(i, sec int, bytes [128]bool) {
	l := &t.lines[i]
	s := &l.sec[sec]
	s.state = "valid"
	if s.modifiedOnFill {
		s.state = "modified"
	}
	s.modifiedOnFill = false
	s.readable = s.readable || s.readFill
	s.readFill = false
	if l.bytesFill {
		for b := range bytes {
			l.dirty[b] = l.dirty[b] || bytes[b]
		}
	}
}

func (t *twin) fillAddr(now, addr, part uint64, sec int, write bool, bytes [128]bool) int {
	if !t.cfg.Compat.FillByWay {
		t.touched = true
	}
	st, i := t.probe(addr, part, sec, write)
	_, tag := t.place(addr, part)
	switch st {
	case Fail:
		return -1
	case Miss:
		t.allocate(i, tag, now, sec)
	case SectorMiss:
		t.allocateSector(i, now, sec)
	}
	t.putSector(i, sec, bytes)
	return i
}

// fill takes one piece of the reply to the request for a key.
func (t *twin) fill(now uint64, r *twinReq, pieces int) {
	var key uint64
	for k, m := range t.misses {
		if m.sent == r {
			key = k
		}
	}
	m := t.misses[key]
	if m.left == 0 {
		m.left = pieces
	}
	m.left--
	if m.left > 0 {
		return
	}
	r.addr, r.size = m.addr, m.size
	sec := t.sectorOf(r)
	line := -1
	switch {
	case m.line < 0 && t.alloc != OnMiss:
		line = t.fillAddr(now, r.addr, r.part, sec, false, r.bytes)
	case m.line >= 0 && t.cfg.Compat.FillByWay:
		line = m.line
		t.putSector(line, sec, r.bytes)
	default:
		st, i := t.probe(r.addr, r.part, sec, false)
		if st == Hit || st == HitReserved || st == SectorMiss {
			if s := t.lines[i].sec[sec]; s.state == "reserved" || s.modifiedOnFill {
				line = i
				t.touched = true
				t.putSector(i, sec, r.bytes)
			}
		}
	}
	m.ready = true
	t.done = append(t.done, key)
	for _, x := range m.list {
		if x.atomic && line >= 0 {
			t.markWritten(line, sec, r)
			break
		}
	}
	t.fillBusy += int(t.atom()) / t.portWidth()
}

func (t *twin) popReady() *twinReq {
	if len(t.done) == 0 {
		return nil
	}
	m := t.misses[t.done[0]]
	r := m.list[0]
	m.list = m.list[1:]
	if len(m.list) == 0 {
		delete(t.misses, t.done[0])
		t.done = t.done[1:]
	}
	return r
}

func (t *twin) invalidate() {
	if t.touched {
		for i := range min(len(t.lines), t.cfg.Sets*t.stride) {
			if i%t.stride < t.ways {
				t.clear(i)
			}
		}
	}
	t.touched = false
}

func (t *twin) flush() {
	for i := range min(len(t.lines), t.cfg.Sets*t.stride) {
		if i%t.stride < t.ways && t.lines[i].any("modified") {
			t.clear(i)
		}
	}
}
