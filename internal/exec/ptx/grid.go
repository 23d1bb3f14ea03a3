package ptx

import (
	"context"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
)

// Run executes a launch to its end; see exec.Machine.
func (m *Machine) Run(ctx context.Context, given Launch, o Options) (Result, error) {
	im, err := m.prepare(&given)
	if err != nil {
		return Result{}, err
	}
	l := launch{Launch: given}
	l.TakenFirst = l.TakenFirst || l.Order.TakenFirst()
	g := exec.Grid{
		Kernel: im.kernel.Name(), Blocks: l.Grid.Count(), Talks: im.ordered || im.probed, Spins: im.spins, Cooperative: l.Cooperative, Resident: l.Resident, Order: l.Order, Warner: &m.Warner,
	}
	if im.rests {
		l.rest = new(exec.Rest)
		g.Rest = l.rest
	}
	m.begin(im, &l)
	begin := func(wk *worker, n uint64, view *device.View) exec.GridBlock { return wk.newBlock(im, &l, n, view) }
	if size := l.ClusterSize().Count(); size > 1 {
		g.Blocks, g.Per = g.Blocks/size, size
		begin = func(wk *worker, n uint64, view *device.View) exec.GridBlock { return wk.newCluster(im, &l, n, view) }
	}
	return m.crew.Run(ctx, g, o, begin)
}
