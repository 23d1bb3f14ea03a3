package dram

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/mem"
)

// configs are the presets, and variants of them for all other settings.
func configs() map[string]Config {
	all := map[string]Config{}
	for _, p := range Presets {
		all[p.Name] = p.Config
		c := p.Config
		c.Scheduler = FIFO
		all[p.Name+" fifo"] = c
		c = p.Config
		c.Writes = WriteQueue{Enabled: true, Size: 32, High: 28, Low: 12}
		all[p.Name+" writes apart"] = c
		c = p.Config
		c.NoTurnaround, c.GroupBy, c.DualCommand = true, GroupByHighBits, !c.DualCommand
		all[p.Name+" otherwise"] = c
		c = p.Config
		c.QueueSize, c.ReturnQueue = 3, 2
		all[p.Name+" short queues"] = c
		c = p.Config
		c.DualCommand, c.Compat = false, GPGPUSim()
		all[p.Name+" as GPGPU-Sim"] = c
	}
	return all
}

// stream is random traffic: bursts of requests to few or many rows and banks.
type stream struct {
	rng   *rand.Rand
	banks int
	left  int
	id    uint32
	mode  int
}

func (s *stream) next() *mem.Req {
	if s.left == 0 {
		return nil
	}
	if s.rng.IntN(50) == 0 {
		s.mode = s.rng.IntN(4)
	}
	s.left--
	s.id++
	r := &mem.Req{Owner: s.id, Size: 32, Kind: mem.GlobalRead}
	switch s.mode {
	case 0: // one bank, few rows
		r.Bank, r.Row = 3%int32(s.banks), uint32(s.rng.IntN(3))
	case 1: // streaming
		r.Bank, r.Row = int32(s.id/4)%int32(s.banks), s.id/64
	default:
		r.Bank, r.Row = int32(s.rng.IntN(s.banks)), uint32(s.rng.IntN(4))
	}
	switch s.rng.IntN(8) {
	case 0, 1:
		r.Kind, r.Write = mem.GlobalWrite, true
	case 2:
		r.Kind, r.Write = mem.L2WriteBack, true
		r.Size = 32 * (1 + s.rng.Uint32N(4))
	case 3:
		r.Kind = mem.L2WriteAlloc
	case 4:
		r.Size = 128
	}
	return r
}

// TestTwin runs the device and its twin together on random traffic: the same
// commands and replies in the same cycles, no constraint violated, nothing lost.
func TestTwin(t *testing.T) {
	for name, c := range configs() {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(3) {
				sideBySide(t, c, c, seed)
			}
		})
		if c.Scheduler != FRFCFS || c.Writes.Enabled {
			continue
		}
		t.Run(name+", plugged", func(t *testing.T) {
			plugged := c
			plugged.Scheduler = openRowFirst
			for seed := range uint64(3) {
				sideBySide(t, plugged, c, seed)
			}
		})
	}
}

// sideBySide compares a device with the settings of with a twin with the settings
// c.
func sideBySide(t *testing.T, of, c Config, seed uint64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	s := &stream{rng: rng, banks: c.Banks, left: 700, mode: 2}
	d, err := New(of)
	if err != nil {
		t.Fatal(err)
	}
	w := newTwin(c)
	var log []Command
	d.SetLog(func(x Command) { log = append(log, x) })
	var held *mem.Req
	in, out, atoms := 0, 0, 0
	rate, drain := 1+rng.IntN(6), 1+rng.IntN(3)
	stop := 0
	for cycle := range 200_000 {
		if rng.IntN(2000) == 0 {
			rate, drain = 1+rng.IntN(40), 1+rng.IntN(8)
		}
		// Replies leave first, as in the partition.
		if a := d.ReplyHead(); rng.IntN(drain) == 0 && a != nil {
			if len(w.replies) == 0 || w.replies[0] != a {
				t.Fatalf("cycle %d: replies differ", cycle)
			}
			d.PopReply()
			w.replies = w.replies[1:]
			out++
		}
		a, b := d.Cycle(uint64(cycle)), w.step()
		if a != b {
			t.Fatalf("cycle %d: write-back %v ended, twin %v", cycle, a, b)
		}
		if a != nil {
			out++
		}
		if held == nil && rng.IntN(rate) == 0 {
			held = s.next()
		}
		if held != nil {
			if f := d.Full(held.Write); f != w.full(held.Write) {
				t.Fatalf("cycle %d: full %v, twin %v", cycle, f, !f)
			} else if !f {
				d.Push(held, uint64(cycle))
				w.push(held)
				atoms += (int(held.Size) + c.AtomBytes() - 1) / c.AtomBytes()
				in++
				held = nil
			}
		}
		if len(log) != len(w.log) || len(log) > 0 && log[len(log)-1] != w.log[len(log)-1] {
			n := max(0, min(len(log), len(w.log))-3)
			t.Fatalf("cycle %d: commands differ: %v", cycle, cmp.Diff(w.log[n:], log[n:]))
		}
		if s.left == 0 && held == nil && d.Empty() {
			if stop++; stop > 200 {
				break
			}
		}
		// With a write queue the last writes wait for the watermark.
		if s.left == 0 && c.Writes.Enabled && d.Pending() == d.pending[1] && !d.writing && d.busy == 0 && d.pinUsed == 0 {
			in -= d.Pending()
			for _, q := range w.writes {
				for _, r := range q {
					atoms -= (int(r.r.Size) + c.AtomBytes() - 1) / c.AtomBytes()
				}
			}
			out += d.Replies()
			break
		}
	}
	if in != out {
		t.Fatalf("%d requests in, %d out", in, out)
	}
	if bad := checkLog(c, log); len(bad) > 0 {
		t.Fatal(strings.Join(bad, "\n"))
	}
	st := d.Stats()
	if n := st.Reads + st.AllocReads + st.Writes + st.WriteBacks; int(n) != atoms {
		t.Errorf("%d column commands for %d atoms", n, atoms)
	}
	if n := st.Used + st.LostColumn + st.LostRow + st.NoWork; n != st.Cycles {
		t.Errorf("%d cycles accounted for of %d", n, st.Cycles)
	}
	if c.Scheduler == FRFCFS && (int(st.Scheduled) != w.sched || int(st.RowHits) != w.hits) {
		t.Errorf("%d of %d scheduled were row hits, twin %d of %d", st.RowHits, st.Scheduled, w.hits, w.sched)
	}
	if st.Idle+st.Columns+st.Rows-st.DoubleIssue != st.Cycles {
		t.Errorf("cycles with and without commands do not sum to all cycles: %+v", st)
	}
}

// run pushes the requests before the given cycles and returns the log and the
// cycle in which each reply could first be taken.
func run(t *testing.T, c Config, reqs []*mem.Req, at []uint64, cycles uint64) ([]Command, map[uint32]uint64) {
	t.Helper()
	d, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	var log []Command
	d.SetLog(func(x Command) { log = append(log, x) })
	done := map[uint32]uint64{}
	for cycle := range cycles {
		for i, r := range reqs {
			if at[i] == cycle {
				if d.Full(r.Write) {
					t.Fatalf("no room for request %d in cycle %d", i, cycle)
				}
				d.Push(r, cycle)
			}
		}
		if r := d.Cycle(cycle); r != nil {
			done[r.Owner] = cycle
		}
		for r := d.PopReply(); r != nil; r = d.PopReply() {
			done[r.Owner] = cycle
		}
	}
	if bad := checkLog(c, log); len(bad) > 0 {
		t.Error(strings.Join(bad, "\n"))
	}
	return log, done
}

func show(log []Command) string {
	var s []string
	for _, x := range log {
		if x.Kind == Refresh {
			s = append(s, fmt.Sprintf("%d REF", x.Cycle))
			continue
		}
		s = append(s, fmt.Sprintf("%d %v b%d r%d", x.Cycle, x.Kind, x.Bank, x.Row))
	}
	return strings.Join(s, ", ")
}

// TestCommands gives the commands of small cases cycle by cycle, computed by hand
// from the data-sheet numbers of the GDDR6 preset: CCD 4, CCDL 6, RRD 12, RCD 24,
// RAS 55, RP 24, RC 78, CL 24, WL 8, CDLR 10, WR 24, RTPL 4, burst 4; so RCDWR 15,
// RTW 22, WTR 22, WTP 36.
func TestCommands(t *testing.T) {
	p, _ := Named("gddr6")
	hbm, _ := Named("hbm2")
	one := hbm.Config
	one.DualCommand = false
	type req struct {
		at    uint64
		bank  int32
		row   uint32
		write bool
	}
	rd := func(at uint64, bank int32, row uint32) req { return req{at, bank, row, false} }
	wr := func(at uint64, bank int32, row uint32) req { return req{at, bank, row, true} }
	for _, v := range []struct {
		name string
		c    Config
		reqs []req
		want string
		done []uint64
	}{
		{"closed row read: RCD, then CL", p.Config, []req{rd(0, 0, 5)},
			"0 ACT b0 r5, 24 RD b0 r5", []uint64{48}},
		{"closed row write: RCDWR, then WL", p.Config, []req{wr(0, 0, 5)},
			"0 ACT b0 r5, 15 WR b0 r5", []uint64{23}},
		{"open row, same group: CCDL", p.Config, []req{rd(0, 0, 5), rd(0, 0, 5)},
			"0 ACT b0 r5, 24 RD b0 r5, 30 RD b0 r5", []uint64{48, 54}},
		{"two groups: RRD, CCD not reached", p.Config, []req{rd(0, 0, 5), rd(0, 1, 5)},
			"0 ACT b0 r5, 12 ACT b1 r5, 24 RD b0 r5, 36 RD b1 r5", []uint64{48, 60}},
		{"two groups, both open: CCD", p.Config, []req{rd(0, 0, 5), rd(0, 1, 5), rd(100, 0, 5), rd(100, 1, 5)},
			"0 ACT b0 r5, 12 ACT b1 r5, 24 RD b0 r5, 36 RD b1 r5, 100 RD b0 r5, 104 RD b1 r5", []uint64{48, 60, 124, 128}},
		{"one group, both open: CCDL", p.Config, []req{rd(0, 0, 5), rd(0, 4, 5), rd(100, 0, 5), rd(100, 4, 5)},
			"0 ACT b0 r5, 12 ACT b4 r5, 24 RD b0 r5, 36 RD b4 r5, 100 RD b0 r5, 106 RD b4 r5", []uint64{48, 60, 124, 130}},
		{"conflict at once: RAS, RC", p.Config, []req{rd(0, 0, 5), rd(0, 0, 6)},
			"0 ACT b0 r5, 24 RD b0 r5, 55 PRE b0 r5, 79 ACT b0 r6, 103 RD b0 r6", []uint64{48, 127}},
		{"conflict later: RP, RCD", p.Config, []req{rd(0, 0, 5), rd(200, 0, 6)},
			"0 ACT b0 r5, 24 RD b0 r5, 200 PRE b0 r5, 224 ACT b0 r6, 248 RD b0 r6", []uint64{48, 272}},
		{"conflict after a write: WTP", p.Config, []req{wr(0, 0, 5), wr(95, 0, 5), rd(96, 0, 6)},
			"0 ACT b0 r5, 15 WR b0 r5, 95 WR b0 r5, 131 PRE b0 r5, 155 ACT b0 r6, 179 RD b0 r6", []uint64{23, 103, 203}},
		{"read, then write: RTW", p.Config, []req{rd(0, 0, 5), wr(1, 0, 5)},
			"0 ACT b0 r5, 24 RD b0 r5, 46 WR b0 r5", []uint64{48, 54}},
		{"write, then read: WTR", p.Config, []req{wr(0, 0, 5), rd(1, 0, 5)},
			"0 ACT b0 r5, 15 WR b0 r5, 37 RD b0 r5", []uint64{23, 61}},
		{"precharge after a read of the group: RTPL", p.Config,
			[]req{rd(0, 0, 5), rd(0, 4, 5), rd(100, 4, 5), rd(101, 0, 6)},
			"0 ACT b0 r5, 12 ACT b4 r5, 24 RD b0 r5, 36 RD b4 r5, 100 RD b4 r5, 104 PRE b0 r5, 128 ACT b0 r6, 152 RD b0 r6",
			[]uint64{48, 60, 124, 176}},
		// HBM2: CCDL 2, RRD 3, RCD 12, CL 12; both buses in one cycle.
		{"column and row together", hbm.Config, []req{rd(0, 0, 5), rd(12, 1, 6)},
			"0 ACT b0 r5, 12 RD b0 r5, 12 ACT b1 r6, 24 RD b1 r6", []uint64{24, 36}},
		{"one bus", one, []req{rd(0, 0, 5), rd(12, 1, 6)},
			"0 ACT b0 r5, 12 RD b0 r5, 13 ACT b1 r6, 25 RD b1 r6", []uint64{24, 37}},
		// In cycle 12 the scan starts at bank 4. The row command to bank 5 is
		// its second look; it continues three further, at 8, and reaches 2.
		{"one bus, a column after a row", func() Config { c := one; c.Compat = GPGPUSim(); return c }(),
			[]req{rd(0, 2, 5), rd(12, 5, 6)},
			"0 ACT b2 r5, 12 ACT b5 r6, 12 RD b2 r5, 24 RD b5 r6", []uint64{24, 36}},
		{"one bus, row first", one, []req{rd(0, 2, 5), rd(12, 5, 6)},
			"0 ACT b2 r5, 12 ACT b5 r6, 13 RD b2 r5, 24 RD b5 r6", []uint64{25, 36}},
		// Here it starts at 8 and finds bank 4 in its thirteenth look; three
		// are left, from bank 2 to 4, and bank 6 is not among them.
		{"one bus, the column passed over", func() Config { c := one; c.Compat = GPGPUSim(); return c }(),
			[]req{rd(0, 6, 5), rd(12, 4, 6)},
			"0 ACT b6 r5, 12 ACT b4 r6, 13 RD b6 r5, 24 RD b4 r6", []uint64{25, 36}},
	} {
		t.Run(v.name, func(t *testing.T) {
			var reqs []*mem.Req
			var at []uint64
			for i, q := range v.reqs {
				kind := mem.GlobalRead
				if q.write {
					kind = mem.GlobalWrite
				}
				reqs = append(reqs, &mem.Req{Owner: uint32(i), Bank: q.bank, Row: q.row, Write: q.write, Kind: kind, Size: 32})
				at = append(at, q.at)
			}
			log, done := run(t, v.c, reqs, at, 400)
			if got := show(log); got != v.want {
				t.Errorf("commands\n got %s\nwant %s", got, v.want)
			}
			for i, want := range v.done {
				if done[uint32(i)] != want {
					t.Errorf("request %d done in cycle %d, want %d", i, done[uint32(i)], want)
				}
			}
		})
	}
}

// TestOpenRowFirst: requests for the open row go before older ones for other rows,
// also those that arrive during the streak; then the oldest goes.
func TestOpenRowFirst(t *testing.T) {
	p, _ := Named("gddr6")
	rows := []uint32{1, 2, 1, 3, 2, 1}
	var reqs []*mem.Req
	at := make([]uint64, len(rows))
	for i, row := range rows {
		reqs = append(reqs, &mem.Req{Owner: uint32(i), Bank: 0, Row: row, Size: 32})
	}
	at[5] = 25 // arrives while row 1 is open
	_, done := run(t, p.Config, reqs, at, 1000)
	var order []uint32
	for i := range rows {
		order = append(order, uint32(i))
	}
	slices.SortFunc(order, func(a, b uint32) int { return int(done[a]) - int(done[b]) })
	if want := []uint32{0, 2, 5, 1, 4, 3}; !slices.Equal(order, want) {
		t.Errorf("served in order %v, want %v", order, want)
	}
}

// TestWriteQueue: writes wait for the high watermark, and go until fewer than the
// low watermark are left.
func TestWriteQueue(t *testing.T) {
	p, _ := Named("gddr6")
	c := p.Config
	c.Writes = WriteQueue{Enabled: true, Size: 8, High: 4, Low: 2}
	for _, n := range []int{3, 4} {
		d, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		for range n {
			d.Push(&mem.Req{Write: true, Kind: mem.GlobalWrite, Size: 32, Row: 1}, 0)
		}
		for cycle := range uint64(500) {
			d.Cycle(cycle)
		}
		// Row 1 in one bank: 4, 3 and 2 pending are served, 1 is below Low.
		if want := map[int]int{3: 3, 4: 1}[n]; d.Pending() != want {
			t.Errorf("of %d writes %d wait at the end, want %d", n, d.Pending(), want)
		}
	}
	d, _ := New(c)
	for i := range 8 {
		if d.Full(true) {
			t.Fatalf("full with %d writes", i)
		}
		d.Push(&mem.Req{Write: true, Size: 32}, 0)
	}
	if !d.Full(true) || d.Full(false) {
		t.Errorf("8 writes of 8: full for writes %v, for reads %v", d.Full(true), d.Full(false))
	}
}

// TestRefresh: with refresh on, traffic still flows, refreshes come in time,
// and none comes with it off.
func TestRefresh(t *testing.T) {
	for _, p := range Presets {
		c := p.Refreshing()
		d, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		var log []Command
		d.SetLog(func(x Command) { log = append(log, x) })
		rng := rand.New(rand.NewPCG(7, 7))
		s := &stream{rng: rng, banks: c.Banks, left: 3000, mode: 2}
		out, cycles := 0, uint64(0)
		for ; cycles < 200_000 && (s.left > 0 || !d.Empty()); cycles++ {
			if !d.Full(false) && rng.IntN(8) == 0 {
				if r := s.next(); r != nil {
					d.Push(r, cycles)
				}
			}
			if d.Cycle(cycles) != nil {
				out++
			}
			if d.PopReply() != nil {
				out++
			}
		}
		if out != 3000 {
			t.Errorf("%s: %d of 3000 requests came back", p.Name, out)
		}
		if bad := checkLog(c, log); len(bad) > 0 {
			t.Errorf("%s: %s", p.Name, strings.Join(bad, "\n"))
		}
		n := d.Stats().Refreshes
		if want := cycles / uint64(c.REFI); n+1 < want || n > want {
			t.Errorf("%s: %d refreshes in %d cycles, one in %d expected", p.Name, n, cycles, c.REFI)
		}
	}
}

// TestSkip: cycles without a request may be skipped without a difference in
// any counter or later command.
func TestSkip(t *testing.T) {
	for name, c := range configs() {
		c.Writes.Enabled = false
		a, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := New(c)
		var la, lb []Command
		a.SetLog(func(x Command) { la = append(la, x) })
		b.SetLog(func(x Command) { lb = append(lb, x) })
		rng := rand.New(rand.NewPCG(3, 9))
		s := &stream{rng: rng, banks: c.Banks, left: 200, mode: 2}
		for cycle := uint64(0); s.left > 0 || !a.Empty(); cycle++ {
			if rng.IntN(60) == 0 && !a.Full(false) {
				if r := s.next(); r != nil {
					other := *r
					a.Push(r, cycle)
					b.Push(&other, cycle)
				}
			}
			a.stepSlowly(cycle)
			a.PopReply()
			if b.Empty() {
				b.Skip(1)
			} else {
				b.Cycle(cycle)
			}
			b.PopReply()
		}
		a.stepSlowly(0)
		b.Skip(1)
		if d := cmp.Diff(a.Stats(), b.Stats()); d != "" {
			t.Errorf("%s: counters differ (-stepped +skipped):\n%s", name, d)
		}
		if d := cmp.Diff(la, lb); d != "" {
			t.Errorf("%s: commands differ (-stepped +skipped):\n%s", name, d)
		}
	}
}

// stepSlowly steps with Cycle, without its shortcut.
func (d *Device) stepSlowly(core uint64) {
	if d.busy == 0 && d.pinUsed == 0 && d.Pending() == 0 {
		if !d.reply.Full() {
			d.transfer()
		}
		d.countParallelism(0)
		d.countCycle(false, false)
		d.now++
		return
	}
	d.Cycle(core)
}

// TestPresetsFit: the numbers of a preset do not contradict each other, and open
// rows can keep all pins busy.
func TestPresetsFit(t *testing.T) {
	for _, p := range Presets {
		c := p.Config
		if err := c.Check(); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		if c.BurstLength/c.DataRatio != c.CCD {
			t.Errorf("%s: a burst takes %d cycles, column commands come every %d", p.Name, c.BurstLength/c.DataRatio, c.CCD)
		}
		if c.CCDL < c.CCD || c.RAS < c.RCD || c.WL > c.CL || c.Groups*c.CCD < c.CCDL {
			t.Errorf("%s: %+v", p.Name, c.Timing)
		}
		// All are nanoseconds rounded to cycles one by one.
		if d := c.RAS + c.RP - c.RC; d < 0 || d > 1 {
			t.Errorf("%s: RAS %d and RP %d make no RC of %d", p.Name, c.RAS, c.RP, c.RC)
		}
		r := p.Refreshing()
		if err := r.Check(); err != nil || r.REFI <= 10*r.RFC {
			t.Errorf("%s: a refresh of %d every %d cycles: %v", p.Name, r.RFC, r.REFI, err)
		}
		if p.Source == "" || c.AtomBytes() < 32 {
			t.Errorf("%s: source %q, %d bytes of a burst", p.Name, p.Source, c.AtomBytes())
		}
	}
}

// TestRowBandwidth: reads that stay in open rows of different groups come at
// one burst per CCD.
func TestRowBandwidth(t *testing.T) {
	for _, p := range Presets {
		d, err := New(p.Config)
		if err != nil {
			t.Fatal(err)
		}
		n, i := 0, int32(0)
		for cycle := range uint64(20_000) {
			for !d.Full(false) {
				d.Push(&mem.Req{Size: uint32(p.Config.AtomBytes()), Bank: i % int32(p.Config.Banks), Row: 1}, cycle)
				i++
			}
			d.Cycle(cycle)
			if d.PopReply() != nil {
				n++
			}
		}
		best := 20_000 / max(p.Config.CCD, 1)
		if n > best || n < best*95/100 {
			t.Errorf("%s: %d bursts in 20000 cycles, the bound is %d", p.Name, n, best)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	p, _ := Named("gddr6")
	d, err := New(p.Config)
	if err != nil {
		t.Fatal(err)
	}
	pool := new(mem.Pool)
	i := int32(0)
	step := func() {
		if !d.Full(false) {
			r := pool.Get()
			r.Size, r.Bank, r.Row = 32, i*7%16, uint32(i/40)
			i++
			d.Push(r, 0)
		}
		d.Cycle(0)
		if r := d.PopReply(); r != nil {
			pool.Put(r)
		}
	}
	for range 5000 {
		step()
	}
	if n := testing.AllocsPerRun(5000, step); n != 0 {
		t.Errorf("%v allocations per cycle", n)
	}
}

func TestCheckConfig(t *testing.T) {
	good, _ := Named("gddr6")
	if err := good.Config.Check(); err != nil {
		t.Fatal(err)
	}
	for _, v := range []struct {
		name string
		edit func(*Config)
		want string
	}{
		{"no banks", func(c *Config) { c.Banks = 0 }, "0 banks"},
		{"odd banks", func(c *Config) { c.Banks = 12 }, "12 banks"},
		{"too many banks", func(c *Config) { c.Banks = 128 }, "128 banks"},
		{"more groups than banks", func(c *Config) { c.Groups = 32 }, "32 bank groups"},
		{"negative latency", func(c *Config) { c.RCD = -1 }, "dram.timing.rcd = -1"},
		{"no read latency", func(c *Config) { c.CL = 0 }, "dram.timing.cl = 0"},
		{"no burst", func(c *Config) { c.BurstLength = 0 }, "burst length is 0"},
		{"torn burst", func(c *Config) { c.BurstLength = 6 }, "want a multiple of the 4"},
		{"unknown scheduler", func(c *Config) { c.Scheduler = 9 }, "scheduler 9"},
		{"unknown grouping", func(c *Config) { c.GroupBy = 9 }, "grouping 9"},
		{"negative queue", func(c *Config) { c.QueueSize = -1 }, "scheduler queue"},
		{"watermarks crossed", func(c *Config) { c.Writes = WriteQueue{true, 8, 4, 5} }, "low watermark"},
		{"watermark beyond the queue", func(c *Config) { c.Writes = WriteQueue{true, 8, 9, 5} }, "high watermark"},
		{"write queue under fifo", func(c *Config) { c.Scheduler, c.Writes = FIFO, WriteQueue{true, 8, 4, 2} }, "frfcfs"},
		{"refresh without end", func(c *Config) { c.REFI, c.RFC = 10, 10 }, "no time is left"},
	} {
		c := good.Config
		v.edit(&c)
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), v.want) {
			t.Errorf("%s: %v, want %q in it", v.name, err, v.want)
		}
	}
}

func TestParseTiming(t *testing.T) {
	want := Timing{
		Banks: 16, Groups: 4, CCD: 2, CCDL: 3, RRD: 6, RCD: 12, RAS: 28, RP: 12, RC: 40,
		CL: 12, WL: 4, CDLR: 5, WR: 12, RTPL: 2,
	}
	older := want
	older.Groups, older.CCDL, older.RTPL = 1, 0, 0
	for _, v := range []struct {
		in   string
		want Timing
		err  string
	}{
		{"nbk=16:CCD=2:RRD=6:RCD=12:RAS=28:RP=12:RC=40: CL=12:WL=4:CDLR=5:WR=12:nbkgrp=4:CCDL=3:RTPL=2", want, ""},
		{"RTPL=2:nbk=16:CCD=2:RRD=6:RCD=12:RAS=28:CCDL=3:RP=12:RC=40:CL=12:WL=4:CDLR=5:WR=12:nbkgrp=4", want, ""},
		{"16:2:6:12:28:12:40:12:4:5:12:4:3:2", want, ""},
		{"16:2:6:12:28:12:40:12:4:5:12", older, ""},
		{"", Timing{}, "empty"},
		{"16:2", Timing{}, "RRD is missing"},
		{"16:2:6:12:28:12:40:12:4:5:12:4:3:2:1", Timing{}, "at most 14"},
		{"nbk=16:CCD=2", Timing{}, "missing"},
		{"nbk=16:nbk=8", Timing{}, "twice"},
		{"nbk=16:tCCD=2", Timing{}, `unknown key "tCCD"`},
		{"nbk=16:CCD", Timing{}, "no value"},
		{"nbk=x", Timing{}, "whole number"},
		{"nbk=-16", Timing{}, "want 0 to"},
		{"nbk=99999999999999999999", Timing{}, "whole number"},
	} {
		got, err := ParseTiming(v.in)
		if v.err != "" {
			if err == nil || !strings.Contains(err.Error(), v.err) {
				t.Errorf("%q: error %v, want %q in it", v.in, err, v.err)
			}
			continue
		}
		if err != nil || got != v.want {
			t.Errorf("%q: %+v, %v", v.in, got, err)
		}
	}
}

func FuzzParseTiming(f *testing.F) {
	f.Add("nbk=16:CCD=2:RRD=6:RCD=12:RAS=28:RP=12:RC=40: CL=12:WL=4:CDLR=5:WR=12:nbkgrp=4:CCDL=3:RTPL=2")
	f.Add("16:2:6:12:28:12:40:12:4:5:12:4:3:2")
	f.Fuzz(func(t *testing.T, s string) {
		tm, err := ParseTiming(s)
		if err != nil {
			return
		}
		p, _ := Named("gddr6")
		c := p.Config
		c.Timing = tm
		if c.Check() != nil {
			return
		}
		d, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		d.Push(&mem.Req{Size: 32}, 0)
		for cycle := range uint64(100) {
			d.Cycle(cycle)
		}
	})
}

func BenchmarkCycle(b *testing.B) {
	for _, v := range []struct {
		name  string
		gap   int
		sched Scheduler
	}{{"full", 1, FRFCFS}, {"half", 12, FRFCFS}, {"light", 200, FRFCFS}, {"full-plugged", 1, openRowFirst}, {"half-plugged", 12, openRowFirst}} {
		b.Run(v.name, func(b *testing.B) {
			p, _ := Named("gddr6")
			p.Config.Scheduler = v.sched
			d, err := New(p.Config)
			if err != nil {
				b.Fatal(err)
			}
			pool := new(mem.Pool)
			i := int32(0)
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				if n%v.gap == 0 && !d.Full(false) {
					r := pool.Get()
					r.Size, r.Bank, r.Row = 32, i*7%16, uint32(i/40)
					i++
					d.Push(r, 0)
				}
				d.Cycle(0)
				if r := d.PopReply(); r != nil {
					pool.Put(r)
				}
			}
		})
	}
}
