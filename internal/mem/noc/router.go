package noc

import "math/bits"

// advance simulates cycle now of the network, in the order of BookSim: nodes take
// arrived flits and return credits, and give a flit each to their routers; routers
// do their steps and send one flit and one credit over each link. What is sent in
// cycle t over a link of delay d arrives in cycle t+1+d.
func (f *fabric) advance(n *Network, now uint64) {
	if f.inside > 0 {
		f.arrive(now)
		f.leave(n, now)
	}
	f.inject(n, now)
	moved := false
	for r, w := range f.work {
		if w == 0 {
			continue
		}
		for s := range f.cfg.Steps {
			through := uint32(now)
			if s == f.cfg.Steps-1 {
				through++
			}
			if f.step(n, r, now, through) {
				moved = true
			}
		}
		f.send(r, now)
	}
	if moved {
		n.Stats.Busy++
	}
}

// slot is the index of a cycle's arrivals.
func (f *fabric) slot(cycle uint64) int { return int(cycle % uint64(len(f.flits))) }

// arrive takes the flits and credits that arrive in this cycle.
func (f *fabric) arrive(now uint64) {
	slot := f.slot(now)
	for i := range f.flits[slot] {
		a := &f.flits[slot][i]
		if d := int(a.to) - f.terms; d >= 0 {
			f.eject[d*f.vcs+int(a.flit.vc)].Push(a.flit)
			setBit(f.ejecting, d)
			continue
		}
		c := int(a.to)*f.vcs + int(a.flit.vc)
		f.buf[c].Push(a.flit)
		r := int(a.to) / f.ports
		f.work[r]++
		switch {
		case f.stage[c] == idle:
			f.begin(r, c)
		case f.stage[c] == moving && f.buf[c].Len() == 1:
			setBit(f.moving[r*f.words:], c-r*f.ports*f.vcs)
		}
	}
	f.flits[slot] = f.flits[slot][:0]
	for _, b := range f.credits[slot] {
		for m := b.vcs; m != 0; m &= m - 1 {
			o := int(b.to)*f.vcs + bits.TrailingZeros32(m)
			if f.credit[o]++; f.ended[o] && f.credit[o] == f.full[o] {
				f.ended[o], f.taken[o] = false, false
			}
			f.inside--
		}
	}
	f.credits[slot] = f.credits[slot][:0]
}

// begin starts routing the packet whose head has come to the front of a channel.
func (f *fabric) begin(r, c int) {
	port, lo, hi := f.route(r, &f.packets[f.buf[c].Front().packet])
	f.port[c], f.lo[c], f.hi[c], f.due[c] = int32(port), lo, hi, 0
	local := c - r*f.ports*f.vcs
	if f.cfg.RoutingDelay > 0 {
		f.stage[c] = finding
		setBit(f.finder[r*f.words:], local)
		return
	}
	f.stage[c] = asking
	setBit(f.asking[r*f.words:], local)
}

// leave moves the flits that have come to a sink, one of each channel, to where
// they are popped, and returns their credits.
func (f *fabric) leave(n *Network, now uint64) {
	for w, set := range f.ejecting {
		for ; set != 0; set &= set - 1 {
			d := w<<6 + bits.TrailingZeros64(set)
			var vcs uint32
			more := false
			for v := range f.vcs {
				q := d*f.vcs + v
				if f.eject[q].Len() == 0 {
					continue
				}
				// A packet larger than the buffer has it for itself.
				if int(f.held[q]) >= f.cfg.BoundaryBuffer && f.boundary[q].Len() > 0 {
					more = true
					continue
				}
				x := f.eject[q].Pop()
				more = more || f.eject[q].Len() > 0
				f.held[q]++
				vcs |= 1 << v
				p := &f.packets[x.packet]
				n.Latency.flits(uint64(uint32(now)-x.born), 1)
				if x.head {
					p.began = now
				}
				if x.tail {
					f.boundary[q].Push(x.packet)
					n.arrived(p, now)
				}
			}
			if !more {
				clearBit(f.ejecting, d)
			}
			if vcs != 0 {
				// Its flits were inside; now their credits are.
				slot := f.slot(now + 2 + uint64(f.cfg.CreditDelay))
				f.credits[slot] = append(f.credits[slot], refund{f.up[f.terms+d], vcs})
			}
		}
	}
}

// inject gives each node's router a flit.
func (f *fabric) inject(n *Network, now uint64) {
	slot := f.slot(now + 2)
	for w, set := range f.sources {
		for ; set != 0; set &= set - 1 {
			s := w<<6 + bits.TrailingZeros64(set)
			id := *f.waiting[s].Front()
			p := &f.packets[id]
			first := (f.terms + s) * f.vcs // its channels
			v := int(f.lane[s])
			if v < 0 {
				if v = f.pick(s, first, p); v < 0 {
					n.Stats.OutFull++
					continue
				}
			} else if f.credit[first+v] == 0 {
				n.Stats.OutFull++
				continue
			}
			x := flit{packet: id, born: uint32(now), vc: uint8(v), head: f.ahead[s] == 0}
			f.ahead[s]++
			x.tail = f.ahead[s] == p.len
			if x.head {
				p.start = now
				f.taken[first+v], f.lane[s] = true, int8(v)
			}
			f.credit[first+v]--
			f.inside++
			n.inSize[s]--
			f.flits[slot] = append(f.flits[slot], arrival{x, f.down[f.terms+s]})
			if x.tail {
				f.release(first + v)
				f.lane[s], f.ahead[s], f.rotate[s] = -1, 0, uint8((v+1)%f.vcs)
				if f.waiting[s].Pop(); f.waiting[s].Len() == 0 {
					clearBit(f.sources, s)
				}
			}
		}
	}
}

// pick chooses the channel of a packet into its first router, -1 if none is free.
func (f *fabric) pick(s, first int, p *packet) int {
	if !f.cfg.AnyVC {
		v := f.laneOf(int(f.inNode[s]), int(f.outNode[p.dst]))
		if f.taken[first+v] || f.credit[first+v] == 0 {
			return -1
		}
		return v
	}
	for k := range f.vcs {
		v := (int(f.rotate[s]) + k) % f.vcs
		if !f.taken[first+v] && f.credit[first+v] > 0 {
			return v
		}
	}
	return -1
}

// release frees a channel after a tail was sent on it.
func (f *fabric) release(o int) {
	if f.cfg.HoldVC {
		f.ended[o] = true
		return
	}
	f.taken[o] = false
}

// ready reports whether a stage of delay cycles can end in this one. Its first
// cycle is that of the first call.
func (f *fabric) ready(c, delay int, now uint64) bool {
	if f.due[c] == 0 {
		f.due[c] = now + uint64(max(delay, 1))
	}
	return now+1 >= f.due[c]
}

// step simulates one step of a router. A flit's progress takes effect in the next
// step. It reports whether a flit went into the switch; that flit can be sent from
// cycle through on.
func (f *fabric) step(n *Network, r int, now uint64, through uint32) bool {
	base, width := r*f.ports*f.vcs, f.vcs
	finder, askers, moves := f.finder[r*f.words:(r+1)*f.words], f.asking[r*f.words:(r+1)*f.words], f.moving[r*f.words:(r+1)*f.words]

	va := &f.vcAlloc
	va.reqs = va.reqs[:0]
	for w, set := range askers {
		for ; set != 0; set &= set - 1 {
			i := w<<6 + bits.TrailingZeros64(set)
			c := base + i
			if !f.ready(c, f.cfg.VCDelay, now) {
				continue
			}
			o := int(f.port[c]) * width
			for v := int(f.lo[c]); v <= int(f.hi[c]); v++ {
				if !f.taken[base+o+v] {
					va.reqs = append(va.reqs, request{in: int32(i), out: int32(o + v), channel: int32(i)})
				}
			}
		}
	}
	va.match(r)
	if k := len(va.reqs) - len(va.got); k > 0 {
		n.Stats.Conflicts += uint64(k)
	}

	sa := &f.swAlloc
	sa.reqs = sa.reqs[:0]
	for w, set := range moves {
		for ; set != 0; set &= set - 1 {
			i := w<<6 + bits.TrailingZeros64(set)
			c := base + i
			o := int(f.to[c])
			if f.credit[o] == 0 {
				n.Stats.OutFull++
				continue
			}
			if !f.ready(c, f.cfg.SwitchDelay, now) {
				continue
			}
			ip, v, op := i/width, i%width, (o-base)/width
			in := ip*f.cfg.InputSpeedup + v%f.cfg.InputSpeedup
			turn := v - int(f.swNext[r*sa.ins+in])
			if turn < 0 {
				turn += width
			}
			sa.reqs = append(sa.reqs, request{in: int32(in), out: int32(op*f.cfg.OutputSpeedup + ip%f.cfg.OutputSpeedup), turn: int32(turn), channel: int32(i)})
		}
	}
	sa.match(r)

	for w, set := range finder {
		for ; set != 0; set &= set - 1 {
			i := w<<6 + bits.TrailingZeros64(set)
			if c := base + i; f.ready(c, f.cfg.RoutingDelay, now) {
				f.stage[c], f.due[c] = asking, 0
				clearBit(finder, i)
				setBit(askers, i)
			}
		}
	}
	for _, q := range va.got {
		i := int(va.reqs[q].channel)
		c, o := base+i, base+int(va.reqs[q].out)
		f.taken[o], f.to[c] = true, int32(o)
		f.stage[c], f.due[c] = moving, 0
		clearBit(askers, i)
		setBit(moves, i)
	}
	for _, q := range sa.got {
		f.pass(r, int(sa.reqs[q].channel), moves, through)
		f.swNext[r*sa.ins+int(sa.reqs[q].in)] = uint8((int(sa.reqs[q].channel)%width + f.cfg.InputSpeedup) % width)
	}
	for _, q := range sa.got {
		ip := r*f.ports + int(sa.reqs[q].channel)/width
		if vcs := f.given[ip]; vcs != 0 {
			f.given[ip] = 0
			f.returned[ip].Push(vcs)
			setBit(f.giving[r*f.portW:], ip-r*f.ports)
			f.work[r]++
		}
	}
	return len(sa.got) > 0
}

// pass moves a channel's first flit through the switch.
func (f *fabric) pass(r, i int, moves []uint64, through uint32) {
	base := r * f.ports * f.vcs
	c := base + i
	o := int(f.to[c])
	x := f.buf[c].Pop()
	x.vc, x.ready = uint8((o-base)%f.vcs), through
	f.credit[o]--
	f.inside++ // the credit that it gives back
	op := o / f.vcs
	f.queue[op].Push(x)
	setBit(f.sending[r*f.portW:], op-r*f.ports)
	f.given[c/f.vcs] |= 1 << (i % f.vcs)
	f.due[c] = 0
	if x.head {
		f.packets[x.packet].hops++
	}
	switch {
	case x.tail:
		f.release(o)
		clearBit(moves, i)
		f.stage[c] = idle
		if f.buf[c].Len() > 0 {
			f.begin(r, c)
		}
	case f.buf[c].Len() == 0:
		clearBit(moves, i)
	}
}

// send gives each link of a router a flit and a credit.
func (f *fabric) send(r int, now uint64) {
	first := r * f.ports
	sending, giving := f.sending[r*f.portW:(r+1)*f.portW], f.giving[r*f.portW:(r+1)*f.portW]
	for w, set := range sending {
		for ; set != 0; set &= set - 1 {
			i := w<<6 + bits.TrailingZeros64(set)
			if f.queue[first+i].Front().ready == uint32(now+1) {
				continue // at most one cycle ahead
			}
			x := f.queue[first+i].Pop()
			if f.queue[first+i].Len() == 0 {
				clearBit(sending, i)
			}
			to, at := f.down[first+i], now+2
			if int(to) < f.terms {
				at = now + 1 + uint64(f.cfg.LinkDelay)
			}
			slot := f.slot(at)
			f.flits[slot] = append(f.flits[slot], arrival{x, to})
			f.work[r]--
		}
	}
	for w, set := range giving {
		for ; set != 0; set &= set - 1 {
			i := w<<6 + bits.TrailingZeros64(set)
			vcs := f.returned[first+i].Pop()
			if f.returned[first+i].Len() == 0 {
				clearBit(giving, i)
			}
			to, at := f.up[first+i], now+2
			if int(to) < f.terms {
				at = now + 1 + uint64(f.cfg.LinkDelay+f.cfg.CreditDelay)
			}
			slot := f.slot(at)
			f.credits[slot] = append(f.credits[slot], refund{to, vcs})
			f.work[r]--
		}
	}
}

// request asks an allocator to match an input with an output.
type request struct {
	in, out int32
	turn    int32 // of requests for the same pair, the lowest wins
	channel int32 // the requesting channel
}

// allocator matches inputs and outputs, each with at most one of the other side.
// One side chooses first, then the other among those that chose it; pointers move
// past what was matched in the first round.
type allocator struct {
	ins, outs int
	rounds    int
	outFirst  bool
	inNext    []int32 // by router and input: output that comes first
	outNext   []int32

	reqs []request
	got  []int32 // requests that were granted

	inDone, outDone []bool
	choice          [2][]int32 // by number on the first and the second side: request chosen, plus 1
	key             [2][]int32
	chose           [2][]int32 // those with a choice
}

func newAllocator(c *Config, routers, ins, outs int) allocator {
	a := allocator{ins: ins, outs: outs, rounds: c.Iterations, outFirst: c.Arbiter == ISLIP}
	a.inNext, a.outNext = make([]int32, routers*ins), make([]int32, routers*outs)
	a.inDone, a.outDone = make([]bool, ins), make([]bool, outs)
	for i := range a.choice {
		n := max(ins, outs)
		a.choice[i], a.key[i], a.chose[i] = make([]int32, n), make([]int32, n), make([]int32, 0, n)
	}
	a.got = make([]int32, 0, min(ins, outs))
	return a
}

// match grants requests of router r.
func (a *allocator) match(r int) {
	a.got = a.got[:0]
	if len(a.reqs) == 0 {
		return
	}
	for round := range a.rounds {
		for i := range a.reqs {
			if q := &a.reqs[i]; !a.inDone[q.in] && !a.outDone[q.out] {
				a.offer(r, 0, int32(i), a.outFirst)
			}
		}
		if len(a.chose[0]) == 0 {
			break
		}
		for _, x := range a.chose[0] {
			a.offer(r, 1, a.choice[0][x]-1, !a.outFirst)
			a.choice[0][x] = 0
		}
		for _, y := range a.chose[1] {
			i := a.choice[1][y] - 1
			a.choice[1][y] = 0
			q := &a.reqs[i]
			a.inDone[q.in], a.outDone[q.out] = true, true
			a.got = append(a.got, i)
			if round == 0 {
				a.inNext[r*a.ins+int(q.in)] = (q.out + 1) % int32(a.outs)
				a.outNext[r*a.outs+int(q.out)] = (q.in + 1) % int32(a.ins)
			}
		}
		a.chose[0], a.chose[1] = a.chose[0][:0], a.chose[1][:0]
	}
	for _, i := range a.got {
		a.inDone[a.reqs[i].in], a.outDone[a.reqs[i].out] = false, false
	}
}

// offer lets the output, or else the input, of a request choose it if it comes
// before the current choice.
func (a *allocator) offer(r, side int, i int32, output bool) {
	q := &a.reqs[i]
	who, key, size := q.in, q.out-a.inNext[r*a.ins+int(q.in)], a.outs
	if output {
		who, key, size = q.out, q.in-a.outNext[r*a.outs+int(q.out)], a.ins
	}
	if key < 0 {
		key += int32(size)
	}
	switch c := a.choice[side][who]; {
	case c == 0:
		a.chose[side] = append(a.chose[side], who)
	case key > a.key[side][who] || key == a.key[side][who] && q.turn >= a.reqs[c-1].turn:
		return
	}
	a.choice[side][who], a.key[side][who] = i+1, key
}
