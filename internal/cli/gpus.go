package cli

import (
	"bytes"
	"fmt"
	"text/tabwriter"

	"github.com/heddle-sim/heddle/internal/config"
)

// gpusCmd is `heddle gpus`.
type gpusCmd struct {
	Name    string   `arg:"" optional:"" name:"name" help:"A GPU of the list, or a file: TOML, or a gpgpusim.config. Default: print the list."`
	Set     []string `short:"C" sep:"none" placeholder:"KEY=VALUE" help:"Change one value (repeatable)."`
	Options bool     `help:"Show how each option of a gpgpusim.config was handled instead."`
}

// Run prints the list, or a GPU.
func (c *gpusCmd) Run(e env) error {
	if c.Name == "" {
		if len(c.Set) > 0 || c.Options {
			return usage("name a GPU: heddle gpus NAME; heddle gpus lists them")
		}
		return listGPUs(e)
	}
	if config.IsKepler(c.Name) {
		return c.kepler(e)
	}
	g, options, err := config.LoadWithOptions(c.Name)
	if err != nil {
		return usage("%w", err)
	}
	var out bytes.Buffer
	if c.Options {
		if options == nil {
			return c.noOptions()
		}
		if err := config.WriteOptions(&out, options); err != nil {
			return err
		}
		_, err := e.stdout.Write(out.Bytes())
		return err
	}
	for _, s := range c.Set {
		if err := g.Set(s); err != nil {
			return usage("-C: %w", err)
		}
	}
	if err := g.Check(); err != nil {
		return usage("-C: %w", err)
	}
	if err := g.WriteTOML(&out); err != nil {
		return err
	}
	_, err = e.stdout.Write(out.Bytes())
	return err
}

// noOptions returns an error for a machine without options to show.
func (c *gpusCmd) noOptions() error {
	return usage("%s is not a gpgpusim.config; heddle gpus %s shows its values and their sources", c.Name, c.Name)
}

// kepler prints a machine of the Kepler-style core.
func (c *gpusCmd) kepler(e env) error {
	if c.Options {
		return c.noOptions()
	}
	m, err := config.LoadKepler(c.Name)
	if err != nil {
		return usage("%w", err)
	}
	if err := m.Set(c.Set...); err != nil {
		return usage("%w", err)
	}
	return m.WriteTOML(e.stdout)
}

// listGPUs prints a line for each built-in GPU.
func listGPUs(e env) error {
	w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tCORE\tSMs\tMHz\tL2\tDRAM\tDESCRIPTION")
	for _, n := range config.Names() {
		g, err := config.Load(n)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%d KiB\t%s GB/s\t%s\n", n, g.Core, g.SMs(), g.Clocks.Core.MHz(), g.L2Bytes()>>10, g.DRAMBandwidth(), g.Description)
	}
	m := config.NewKepler()
	fmt.Fprintf(w, "%s\tkepler\t%d\t-\t-\t-\t%s\n", m.Name, m.Chip.SMs, m.Description)
	return w.Flush()
}
