package exec

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: how many threads went which way through kernels. An executor counts at branches
// and ends only; what each instruction ran follows from these counts (package coverage). A
// launch without Coverage is decoded without counters.

// Coverage collects the counts of launches. Launches of several goroutines may share it.
type Coverage struct {
	mu   sync.Mutex
	list []*FunctionCounts
}

// FunctionCounts are the counts of one function of a kernel, in threads.
type FunctionCounts struct {
	Name string
	// Code has the function's instructions, Where where each is, and Text its text.
	Code  []isa.Inst
	Where func(pc int) Where
	Text  func(pc int) string
	// Entered counts threads that began it. Taken counts, by pc, threads that branched, returned
	// or exited there, Passed those that went on to the next instruction instead.
	Entered       uint64
	Taken, Passed []uint64
	// Ways counts threads by pc of an indexed branch and by entry of its table.
	Ways map[int][]uint64
}

// NewFunctionCounts makes counts of zero.
func NewFunctionCounts(name string, code []isa.Inst, where func(pc int) Where, text func(pc int) string) *FunctionCounts {
	f := &FunctionCounts{Name: name, Code: code, Where: where, Text: text, Taken: make([]uint64, len(code)), Passed: make([]uint64, len(code)), Ways: map[int][]uint64{}}
	for pc := range code {
		if code[pc].Flow == isa.FlowIndirect {
			f.Ways[pc] = make([]uint64, len(code[pc].Targets))
		}
	}
	return f
}

// Add adds a function, whose counts may still rise.
func (c *Coverage) Add(f *FunctionCounts) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, f)
}

// Counts returns copies of what was counted so far, by blocks that have ended.
func (c *Coverage) Counts() []*FunctionCounts {
	c.mu.Lock()
	list := slices.Clone(c.list)
	c.mu.Unlock()
	for i, f := range list {
		g := *f
		g.Entered = atomic.LoadUint64(&f.Entered)
		g.Taken, g.Passed, g.Ways = load(f.Taken), load(f.Passed), map[int][]uint64{}
		for pc, w := range f.Ways {
			g.Ways[pc] = load(w)
		}
		list[i] = &g
	}
	return list
}

func load(from []uint64) []uint64 {
	to := make([]uint64, len(from))
	for i := range from {
		to[i] = atomic.LoadUint64(&from[i])
	}
	return to
}
