package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/run/flags"
	"github.com/heddle-sim/heddle/internal/run/live"
	"github.com/heddle-sim/heddle/internal/view"
)

// This file: heddle view --live, which runs something while a page shows it.

// liveFlags are the flags of heddle run that a page of a running job can have.
type liveFlags struct {
	GPU       string   `name:"gpu" placeholder:"NAME" help:"For --live: the machine, as in heddle run."`
	Core      string   `placeholder:"CORE" help:"For --live: the core model, as in heddle run."`
	Set       []string `short:"C" sep:"none" placeholder:"KEY=VALUE" help:"For --live: set one value of the configuration (repeatable)."`
	Code      string   `default:"auto" placeholder:"WHAT" help:"For --live: what of a program's device code runs: ptx, sass or auto, as in heddle run."`
	Kernels   string   `placeholder:"LIST" help:"For --live: run only these launches, as in heddle run."`
	Check     []string `placeholder:"CHECKER" help:"For --live: check the run for errors, as in heddle run."`
	Threads   int      `placeholder:"N" help:"For --live: workers; default: one per core. Every N gives the same result."`
	MaxCycles uint64   `placeholder:"N" help:"For --live: stop after N cycles."`
	JSON      string   `name:"json" placeholder:"FILE" help:"For --live: write the final result as JSON."`
}

// used returns the first of the flags that was given, "" if none was.
func (f *liveFlags) used() string {
	for _, x := range []struct {
		name string
		on   bool
	}{
		{"--gpu", f.GPU != ""}, {"--core", f.Core != ""}, {"-C", len(f.Set) > 0}, {"--code", f.Code != "auto"}, {"--kernels", f.Kernels != ""},
		{"--check", len(f.Check) > 0}, {"--threads", f.Threads != 0}, {"--max-cycles", f.MaxCycles != 0}, {"--json", f.JSON != ""},
	} {
		if x.on {
			return x.name
		}
	}
	return ""
}

// flags returns the flags of the run.
func (c *viewCmd) flags() flags.Flags {
	f := c.liveFlags
	return flags.Flags{
		GPU: f.GPU, Core: f.Core, Set: f.Set, Code: f.Code, Kernels: f.Kernels, Check: f.Check, Threads: f.Threads, MaxCycles: f.MaxCycles, JSON: f.JSON,
		SourceRoot: c.SourceRoot, Mode: "timing", RecordForm: "accel-sim", Order: "forward", Progress: "never",
	}
}

// runLive runs an input while a page shows it, and serves the page until the user interrupts it.
func (c *viewCmd) runLive(e env) error {
	program := isProgram(c.Results[0])
	switch {
	case len(c.Results) != 1 && !program:
		return usage("--live runs one job or trace, but %d are given; a CUDA program and its arguments: heddle view --live -- PROGRAM ARGS", len(c.Results))
	case c.HTML != "" && program:
		return usage("--live shows a run while it goes on; for a file of its end: heddle cuda --html %s -- %s", c.HTML, strings.Join(c.Results, " "))
	case c.HTML != "":
		return usage("--live shows a run while it goes on; for a file of its end: heddle run %s --html %s", c.Results[0], c.HTML)
	}
	ctx, stop := context.WithCancel(e.ctx)
	defer stop()
	live := &livePage{Live: view.NewLive(ctx, c.Results[0], stop), ctx: ctx, view: c, close: func() {}}
	defer func() { live.close() }()
	inner := e
	inner.ctx = ctx
	var err error
	if program {
		r := cudaCmd{Program: flags.Program{Flags: c.flags(), Devices: 1}, Command: c.Results, live: live}
		err = r.Run(inner)
	} else {
		r := runCmd{Input: c.Results[0], Flags: c.flags(), live: live}
		err = r.Run(inner)
	}
	if live.shown && e.ctx.Err() == nil {
		fmt.Fprintf(e.stderr, "heddle: the page stays; interrupt (Ctrl-C) to end\n")
		<-e.ctx.Done()
	}
	return err
}

// isProgram reports whether an input is a program of this computer, or a script that starts one.
func isProgram(name string) bool {
	path, err := exec.LookPath(name)
	if err != nil {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 4)
	n, _ := io.ReadFull(f, head)
	return strings.HasPrefix(string(head[:n]), "\x7fELF") || strings.HasPrefix(string(head[:n]), "#!")
}

// livePage is the page of a run that goes on, nil for runs without one.
type livePage struct {
	*view.Live
	ctx   context.Context // ends when the run shall end
	view  *viewCmd
	shown bool   // it has a final result
	close func() // ends the server

	// Of CUDA programs.
	socket string
	mutex  sync.Mutex
	latest map[int]*report.Run // by the number of the program
}

// serve starts the server.
func (p *livePage) serve(e env) error {
	s, err := view.ListenLive(p.Live)
	if err != nil {
		return usage("%w", err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(e.ctx))
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	done := p.view.announce(e, s.URL())
	p.close = func() {
		stop()
		<-ended
		done()
	}
	return nil
}

// begin starts the server, and makes the run show itself.
func (p *livePage) begin(e env, o *run.Options) error {
	if err := p.serve(e); err != nil {
		return err
	}
	o.Page, o.Progress = true, p.progress
	o.Live = func(soFar func() *report.Run) *run.Wish {
		return p.look(e, func() (*view.Page, error) { return pageOf(p.view.SourceRoot, soFar()), nil })
	}
	return nil
}

// beginProgram starts the server, and waits for the results of a CUDA program, which has a folder.
// The function that it returns ends that.
func (p *livePage) beginProgram(e env, dir string) (end func(), err error) {
	p.socket, p.latest = filepath.Join(dir, "live"), map[int]*report.Run{}
	s, err := live.Listen(p.socket, live.Viewer{
		Progress: p.progress,
		Look: func(program int, soFar func() (*report.Run, error)) *run.Wish {
			return p.look(e, func() (*view.Page, error) {
				res, err := soFar()
				if err != nil {
					return nil, err
				}
				p.mutex.Lock()
				defer p.mutex.Unlock()
				p.latest[program] = res
				var list []*report.Run
				for _, n := range slices.Sorted(maps.Keys(p.latest)) {
					list = append(list, p.latest[n])
				}
				return pageOf(append(slices.Clone(p.view.SourceRoot), pageTexts(dir)), list...), nil
			})
		},
		Stopped: func() bool { return p.ctx.Err() != nil },
	})
	if err != nil {
		return nil, usage("%w", err)
	}
	if err := p.serve(e); err != nil {
		s.Close()
		return nil, err
	}
	return s.Close, nil
}

// progress shows how far the run is.
func (p *livePage) progress(s run.Progress) {
	p.Show(view.State{
		GPU: s.GPU, Share: s.Share, Each: s.Each, Launch: s.Launch, Launches: s.Launches, Kernel: s.Kernel,
		Blocks: s.Blocks, Total: s.Total, Cycles: s.Cycles, Insts: s.WarpInsts,
	})
}

// look shows the results so far, if it is time, and returns what the run shall record.
func (p *livePage) look(e env, page func() (*view.Page, error)) *run.Wish {
	r, err := p.Look(page)
	if err != nil && p.ctx.Err() == nil {
		fmt.Fprintf(e.stderr, "heddle: %v\n", err)
	}
	if r == nil {
		return nil
	}
	return &run.Wish{SM: r.SM, Cycles: r.Cycles}
}

// end shows the final results; there are none if the run did not begin.
func (p *livePage) end(roots []string, list ...*report.Run) error {
	for _, res := range list {
		p.shown = p.shown || res.Begun()
	}
	return p.End(pageOf(append(slices.Clone(p.view.SourceRoot), roots...), list...))
}
