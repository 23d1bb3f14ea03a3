// Toycore shows a core model of one's own: an SM that issues some instructions a
// cycle, warp after warp, and to which memory answers at once. What a job takes on it
// is due to the issue slots alone; the SIMT core beside it says how far a real machine
// is from that. Run it at the top of the repository:
//
//	go run ./examples/extend/toycore
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/heddle-sim/heddle"
	"github.com/heddle-sim/heddle/core"
)

// params are what a machine's file may say in [toy], or -C toy.width=2.
type params struct {
	Width int `help:"instructions issued in a cycle" unit:"instructions" want:"1..64" def:"4"`
}

func init() { core.Register(model) }

var model = &core.Model{Name: "toy", Params: func() core.Params { return &params{} }, Whole: true, States: core.BaseStates, Stages: core.BaseStages}

// Settings says how an SM is made.
func (p *params) Settings(m *core.Machine) core.Settings {
	return &core.Plain{Shape: m.Shape, Of: model, Make: func(s *core.Plain, id int, env core.Env) (core.SM, error) {
		t := &toy{Width: p.Width}
		t.Begin(&s.Shape, id, env, t.issue)
		return t, nil
	}}
}

// toy is an SM.
type toy struct {
	core.Base
	Width, last int // instructions in a cycle, warp that issued last
}

// issue is called in every cycle, and returns the warps that the model holds back.
func (t *toy) issue(now uint64) (held uint64) {
	ready := t.Ready() // each warp issues once
	for n := 0; n < t.Width && ready != 0; n++ {
		t.last = core.NextOf(ready, t.last+1)
		ready &^= 1 << t.last
		t.Step(t.last)
	}
	return 0
}

// compare prints the cycles of examples on both cores.
func compare(out io.Writer, top string, jobs ...string) error {
	fmt.Fprintf(out, "%-12s %8s %8s\n", "job", "toy", "simt")
	for _, job := range jobs {
		fmt.Fprintf(out, "%-12s", job)
		for _, name := range []string{"toy", "simt"} {
			o := heddle.JobOptions{Timing: true, GPU: "rtx-2060"} // 30 SMs of 4 schedulers
			o.Settings.Core = name
			res, err := heddle.RunJob(context.Background(), top+"/examples/"+job+"/"+job+".toml", o)
			if err != nil || !res.OK {
				return fmt.Errorf("%s on %s: %v", job, name, err)
			}
			fmt.Fprintf(out, " %8d", res.Cycles)
		}
		fmt.Fprintln(out)
	}
	return nil
}

func main() {
	if err := compare(os.Stdout, ".", "matmul", "transpose", "reduction"); err != nil {
		log.Fatal(err)
	}
}
