package cuda

import (
	"context"
	"sync"
	"time"

	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
)

// clear erases the progress display.
func (r *Runtime) clear() {
	if r.opt.Clear != nil {
		r.opt.Clear()
	}
}

// watch shows the progress of a launch in a functional run: on each call of report, and
// periodically, because a block may take long. done ends it.
func (r *Runtime) watch(kernel string) (report func(blocks, total, warpInsts uint64), done func()) {
	if r.opt.Progress == nil {
		return nil, func() {}
	}
	var mu sync.Mutex
	before := r.ses.Res.WarpInstructions
	s := run.Progress{Kernel: kernel, Launch: r.launches, WarpInsts: before}
	show := func(change func()) {
		mu.Lock()
		defer mu.Unlock()
		change()
		r.ses.Show(s, 0)
	}
	show(func() {})
	stop := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(watchEvery):
				show(func() {})
			}
		}
	}()
	report = func(blocks, total, warpInsts uint64) {
		show(func() { s.Blocks, s.Total, s.WarpInsts = blocks, total, before+warpInsts })
	}
	return report, func() { close(stop); <-stopped }
}

// watchEvery is the interval of the display without calls of report.
const watchEvery = 250 * time.Millisecond

// leave ends a call of the program and clears its terminal. An interrupted program stays
// in its call, and one that passed an invalid host address ends as it would without a
// GPU.
func (r *Runtime) leave() {
	if e := recover(); e != nil {
		addr, ok := FaultAddress(e)
		if !ok || r.opt.Fault == nil {
			r.mu.Unlock()
			panic(e)
		}
		defer r.opt.Fault(addr)
	}
	r.clear()
	r.mu.Unlock()
	if r.life.Err() != nil {
		select {}
	}
}

// FaultAddress returns the address of a panic caused by a memory access, after
// debug.SetPanicOnFault.
func FaultAddress(panicked any) (addr uintptr, ok bool) {
	f, ok := panicked.(interface{ Addr() uintptr })
	if !ok {
		return 0, false
	}
	return f.Addr(), true
}

// Interrupt ends the run immediately and returns the result so far. No call of the
// program returns after that.
func (r *Runtime) Interrupt() *report.Run {
	r.interrupt()
	r.mu.Lock() // never unlocked
	r.clear()
	if r.failed == nil {
		r.failed = context.Canceled
	}
	return r.result()
}
