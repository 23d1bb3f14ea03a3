package gpu

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: describing a run in which nothing moves.

// mostWaits bounds the lines of a report on a stuck run.
const mostWaits = 64

// stuck describes a run in which nothing moves.
func (g *GPU) stuck() error {
	q := g.Requests()
	e := &exec.StuckError{Standstill: g.standstill(q)}
	left := 0
	name := func(b exec.Block, w exec.Work) {
		e.Kernel, e.Block = w.Name(), b.Index()
	}
	var queues []string
	for sm, c := range g.cores {
		if b := c.Stuck(); b != nil && e.Kernel == "" {
			for _, r := range c.ResidentBlocks() {
				if r.Block == b {
					name(b, r.Work)
				}
			}
		}
		views := c.Views()
		for i := range views {
			if len(e.Waits) == mostWaits {
				left += len(views) - i
				break
			}
			e.Waits = append(e.Waits, q.DescribeWarp(sm, &views[i]))
		}
		if len(views) == 0 {
			continue
		}
		for _, x := range c.Queues() {
			if x.Len > 0 && len(queues) < mostWaits {
				s := fmt.Sprintf("SM %d, %s: %d", sm, x.Name, x.Len)
				if x.Cap > 0 {
					s += fmt.Sprintf(" of %d", x.Cap)
				}
				if x.What != "" {
					s += " (" + x.What + ")"
				}
				queues = append(queues, s)
			}
		}
	}
	if e.Kernel == "" {
		for _, c := range g.cores {
			if list := c.ResidentBlocks(); len(list) > 0 {
				name(list[0].Block, list[0].Work)
				break
			}
		}
	}
	if left > 0 {
		e.Waits = append(e.Waits, fmt.Sprintf("%d more warps", left))
	}
	for _, k := range g.active {
		if e.Kernel == "" {
			e.Kernel = k.Name
		}
		e.Waits = append(e.Waits, fmt.Sprintf("kernel %s: %d of %d blocks placed, %d ended", k.Name, k.next, k.total, k.Blocks))
	}
	e.Waits = append(e.Waits, queues...)
	e.Waits = append(e.Waits, g.mem.Queues()...)
	return e
}

// mostStanding bounds the lanes that a standstill describes (our choice: more are not a picture).
const mostStanding = 256

// Standing describes what all warps do between two cycles, in no more sets of lanes than most.
func (g *GPU) Standing(most int) *exec.Standstill { return g.standstillOf(g.Requests(), most) }

// standstill describes who waits for whom.
func (g *GPU) standstill(q *Requests) *exec.Standstill { return g.standstillOf(q, mostStanding) }

// standstillOf describes no more sets of lanes than most.
func (g *GPU) standstillOf(q *Requests, most int) *exec.Standstill {
	s := &stander{q: q, most: most, at: map[meeting]int{}}
	for sm, c := range g.cores {
		views := c.Views()
		for i := range views {
			s.add(sm, &views[i])
		}
	}
	for _, k := range g.active {
		s.Grids = append(s.Grids, exec.Begun{Kernel: k.Name, Total: k.total, Placed: k.next, Ended: k.Blocks})
	}
	return &s.Standstill
}

// stander builds a standstill.
type stander struct {
	exec.Standstill
	q    *Requests
	most int             // sets of lanes
	at   map[meeting]int // of the barriers so far, by the place of the block
}

// meeting identifies a barrier of a resident block.
type meeting struct {
	block exec.Block
	id    int
}

// add adds a warp: each set of its lanes that execute together, and those that wait for others
// to reconverge.
func (s *stander) add(sm int, v *WarpView) {
	x := exec.Standing{SM: sm, Slot: v.Slot, Warp: v.InBlock, Lanes: v.Live, State: v.State, Barrier: -1}
	x.Where.PC = -1
	own, _ := v.Exec.(exec.Inspector)
	if v.At >= 0 {
		x.Where, x.Lanes, x.Waits = Source(v.Work, v.At), v.Active, s.q.WaitsFor(sm, v)
	}
	if v.At >= 0 || v.Live == 0 || own == nil {
		s.put(v, x)
	}
	if own == nil {
		return
	}
	var seen isa.LaneMask
	for i, f := range own.Fragments() {
		if seen |= f.Lanes; i == 0 && v.At >= 0 {
			continue
		}
		x.Where, x.Lanes, x.Waits, x.For, x.Barrier = lookUp(v.Work, f.Function, f.PC), f.Lanes, f.Waits, f.For, -1
		if f.Barrier >= 0 {
			x.Barrier = s.meet(sm, v, f.Barrier)
		}
		s.put(v, x)
	}
	for _, j := range own.Joins() {
		if j.Came == 0 || j.Missing == 0 || j.Came&^seen == 0 {
			continue
		}
		x.Where, x.Lanes, x.For, x.Barrier = lookUp(v.Work, j.Function, j.PC), j.Came, j.Missing, -1
		x.Waits = fmt.Sprintf("waits for lanes %#08x, with which it reconverges", j.Missing)
		s.put(v, x)
	}
}

// put adds lanes that stand together.
func (s *stander) put(v *WarpView, x exec.Standing) {
	if len(s.Warps) == s.most {
		s.Left++
		return
	}
	x.Where.Kernel, x.Where.Block = v.Work.Name(), v.Block.Index()
	s.Warps = append(s.Warps, x)
}

// meet returns the index of a barrier, -1 if the block does not show it.
func (s *stander) meet(sm int, v *WarpView, id int) int {
	x, ok := v.Block.(exec.Meeter)
	if !ok {
		return -1
	}
	key := meeting{v.Block, id}
	i, known := s.at[key]
	if !known {
		i = len(s.Barriers)
		m := exec.Meeting{SM: sm, Kernel: v.Work.Name(), Block: v.Block.Index(), ID: id}
		m.Came, m.Need, m.Missing = x.Meeting(id)
		s.at[key], s.Barriers = i, append(s.Barriers, m)
	}
	return i
}
