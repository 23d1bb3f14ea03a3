package ptx

import (
	"context"
	"fmt"

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
	g := exec.Grid{
		Kernel: im.kernel.Name(), Blocks: l.Grid.Count(), Talks: im.ordered, Spins: im.spins, Cooperative: l.Cooperative, Resident: l.Resident,
	}
	m.begin(im, &l)
	if o.Out != nil || m.Warns() {
		g.Ended = func(b exec.GridBlock) error {
			b.(*block).warnings.Tell(&m.Warner)
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
	return m.crew.Run(ctx, g, o, func(wk *worker, n uint64, view *device.View) exec.GridBlock { return wk.newBlock(im, &l, n, view) })
}
