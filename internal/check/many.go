package check

import (
	"slices"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// many is several probes of a launch as one.
type many []exec.Probe

func (m many) Begin(l *exec.Launch, code []*isa.Inst, source func(int) exec.Where, text func(int) string) {
	for _, p := range m {
		p.Begin(l, code, source, text)
	}
}

// Follows is as in exec.Follower.
func (m many) Follows() bool { return slices.ContainsFunc(m, exec.Follows) }

// OfMachineCode is as in exec.MachineProbe.
func (m many) OfMachineCode() exec.Probe {
	var list many
	for _, p := range m {
		if x := exec.OfMachineCode(p); x != nil {
			list = append(list, x)
		}
	}
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	}
	return list
}

func (m many) Block(b exec.ProbedBlock) exec.BlockProbe {
	var list manyBlocks
	for _, p := range m {
		if x := p.Block(b); x != nil {
			list = append(list, x)
		}
	}
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	}
	var flows manyFlows
	for _, x := range list {
		if f, ok := x.(exec.FlowProbe); ok {
			flows.flows = append(flows.flows, f)
		}
	}
	if flows.manyBlocks = list; len(flows.flows) > 1 {
		return flows
	}
	return list
}

// manyFlows is probes of a block as one, of which several follow values.
type manyFlows struct {
	manyBlocks
	flows []exec.FlowProbe
}

// Executed, Shuffled, Enter and Passed are as in exec.FlowProbe.
func (m manyFlows) Executed(warp, site int, lanes, active isa.LaneMask, depth int) {
	for _, f := range m.flows {
		f.Executed(warp, site, lanes, active, depth)
	}
}

func (m manyFlows) Shuffled(warp, site int, lanes isa.LaneMask, from *[32]uint8, depth int) {
	for _, f := range m.flows {
		f.Shuffled(warp, site, lanes, from, depth)
	}
}

func (m manyFlows) Enter(warp int, lanes isa.LaneMask, c *exec.Callee) {
	for _, f := range m.flows {
		f.Enter(warp, lanes, c)
	}
}

func (m manyFlows) Passed(warp int, lanes isa.LaneMask, depth int, reg isa.Reg, addr uint64, bytes int) {
	for _, f := range m.flows {
		f.Passed(warp, lanes, depth, reg, addr, bytes)
	}
}

// manyBlocks is several probes of a block as one.
type manyBlocks []exec.BlockProbe

// Parts is as exec.ProbeAs needs it.
func (m manyBlocks) Parts() []exec.BlockProbe { return m }

func (m manyBlocks) Access(a *exec.Access) {
	for _, p := range m {
		p.Access(a)
	}
}

// Heap is as in exec.HeapProbe, for those that want it.
func (m manyBlocks) Heap(warp, lane int, addr, bytes uint64, freed bool) {
	for _, p := range m {
		if h, ok := p.(exec.HeapProbe); ok {
			h.Heap(warp, lane, addr, bytes, freed)
		}
	}
}

func (m manyBlocks) Arrive(warp int, lanes isa.LaneMask, bar int, waits bool) {
	for _, p := range m {
		p.Arrive(warp, lanes, bar, waits)
	}
}

func (m manyBlocks) Open(bar int) {
	for _, p := range m {
		p.Open(bar)
	}
}

func (m manyBlocks) Meet(warp int, lanes isa.LaneMask) {
	for _, p := range m {
		p.Meet(warp, lanes)
	}
}

func (m manyBlocks) Fence(warp int, lanes isa.LaneMask, order isa.Order, scope isa.Scope) {
	for _, p := range m {
		p.Fence(warp, lanes, order, scope)
	}
}

func (m manyBlocks) Signal(s *exec.Signal) {
	for _, p := range m {
		p.Signal(s)
	}
}

func (m manyBlocks) Group(warp int, lanes isa.LaneMask, a isa.Async) {
	for _, p := range m {
		p.Group(warp, lanes, a)
	}
}

func (m manyBlocks) Misuse(kind exec.Misuse, warp int, lanes, mask isa.LaneMask) {
	for _, p := range m {
		p.Misuse(kind, warp, lanes, mask)
	}
}

func (m manyBlocks) Exit(warp int, lanes isa.LaneMask) {
	for _, p := range m {
		p.Exit(warp, lanes)
	}
}

func (m manyBlocks) End() {
	for _, p := range m {
		p.End()
	}
}
