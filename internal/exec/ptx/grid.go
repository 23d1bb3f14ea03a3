package ptx

import (
	"context"
	"fmt"

	"github.com/heddle-sim/heddle/internal/exec"
)

// Run executes a launch to its end; see exec.Machine.
func (m *Machine) Run(ctx context.Context, given Launch, o Options) (Result, error) {
	im, err := m.prepare(&given)
	if err != nil {
		return Result{}, err
	}
	l := launch{Launch: given}
	g := exec.Grid{
		Kernel: l.Kernel.Name(), Blocks: l.Grid.Count(), Talks: im.ordered, Spins: im.spins, Cooperative: l.Cooperative, Resident: l.Resident,
		Begin: func(worker int, n uint64, overlay int) exec.GridBlock {
			view := m.dview
			if overlay != exec.Direct {
				view = m.views[overlay]
			}
			return m.workers[worker].newBlock(im, &l, n, view)
		},
		Overlay: func(i int) exec.Overlay { return m.overlay(i) },
	}
	m.begin(&l)
	m.direct()
	m.needWorkers(g.Workers(o))
	if o.Out != nil || m.tell != nil {
		g.Ended = func(b exec.GridBlock) error {
			b.(*block).tellWarnings()
			out := &b.(*block).out
			if out.Len() == 0 || o.Out == nil {
				return nil
			}
			if _, err := o.Out.Write(out.Bytes()); err != nil {
				return fmt.Errorf("writing what the kernel printed: %w", err)
			}
			return nil
		}
	}
	res, err := g.Run(ctx, o, m.issued)
	m.issued += res.WarpInsts
	return res, err
}
