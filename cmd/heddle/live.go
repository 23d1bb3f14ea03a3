package main

import (
	"context"
	"fmt"

	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/run/flags"
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

// runLive runs an input while a page shows it, and serves the page until the user interrupts it.
func (c *viewCmd) runLive(e env) error {
	switch {
	case len(c.Results) != 1:
		return usage("--live runs one job or trace, but %d are given", len(c.Results))
	case c.HTML != "":
		return usage("--live shows a run while it goes on; for a file of its end: heddle run %s --html %s", c.Results[0], c.HTML)
	}
	ctx, stop := context.WithCancel(e.ctx)
	defer stop()
	f := c.liveFlags
	r := runCmd{Input: c.Results[0], Flags: flags.Flags{
		GPU: f.GPU, Core: f.Core, Set: f.Set, Code: f.Code, Kernels: f.Kernels, Check: f.Check, Threads: f.Threads, MaxCycles: f.MaxCycles, JSON: f.JSON,
		SourceRoot: c.SourceRoot, Mode: "timing", RecordForm: "accel-sim", Progress: "never",
	}}
	r.live = &livePage{view: c, run: &r, Live: view.NewLive(ctx, r.Input, stop), close: func() {}}
	defer func() { r.live.close() }()
	inner := e
	inner.ctx = ctx
	err := r.Run(inner)
	if r.live.shown && e.ctx.Err() == nil {
		fmt.Fprintf(e.stderr, "heddle: the page stays; interrupt (Ctrl-C) to end\n")
		<-e.ctx.Done()
	}
	return err
}

// livePage is the page of a run that goes on, nil for runs without one.
type livePage struct {
	*view.Live
	view  *viewCmd
	run   *runCmd
	shown bool   // it has a final result
	close func() // ends the server
}

// page returns a page of a result.
func (p *livePage) page(res *report.Run) *view.Page {
	return view.New([]view.Result{{Run: res}}, p.run.SourceRoot)
}

// begin starts the server, and makes the run show itself.
func (p *livePage) begin(e env, o *run.Options) error {
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
	o.Page = true
	o.Progress = func(s run.Progress) {
		p.Show(view.State{
			GPU: s.GPU, Share: s.Share, Each: s.Each, Launch: s.Launch, Launches: s.Launches, Kernel: s.Kernel,
			Blocks: s.Blocks, Total: s.Total, Cycles: s.Cycles, Insts: s.WarpInsts,
		})
	}
	o.Live = func(soFar func() *report.Run) {
		if err := p.Look(func() *view.Page { return p.page(soFar()) }); err != nil {
			fmt.Fprintf(e.stderr, "heddle: %v\n", err)
		}
	}
	return nil
}

// end shows the final result; there is none if the run did not begin.
func (p *livePage) end(res *report.Run) error {
	page := &view.Page{}
	if res != nil {
		page = p.page(res)
		p.shown = res.Begun()
	}
	return p.End(page)
}
