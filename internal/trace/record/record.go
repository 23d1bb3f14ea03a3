package record

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/trace"
)

const (
	// version is that of the tracer whose statics are produced: the latest, which
	// knows uniform registers and two immediates. Writers leave out what their
	// format has no place for.
	version = 6
	// ptxArch is the architecture whose mnemonics PTX gets.
	ptxArch = 86
	// mostBlocks is the largest grid that is recorded (our choice: 128 MiB for the
	// list of its blocks).
	mostBlocks = 1 << 24
	// waiting is the number of complete blocks that may wait for the writer before
	// the run waits for it (our choice).
	waiting = 256
)

// Recorder is a trace in the making. Begin is called before anything runs, copies
// and launches are added in order before it or as they occur, and Finish is called
// after the run. Memory holds the running blocks, those that ended before an
// earlier one of their launch, and launches that overlap with an earlier one.
type Recorder struct {
	write func(*trace.Set) error
	set   trace.Set // without commands
	count int       // number of launches
	bad   error
	cut   *trace.Error // the error for launches that did not complete
	done  chan error   // nil until Begin

	mu    sync.Mutex
	list  []trace.Command // so far
	come  sync.Cond       // a block arrived, or the end
	gone  sync.Cond       // a block was taken
	over  bool            // the run has ended
	ended bool            // the writer has ended
}

// New returns a recorder. Name is the name of the recording. Write is called once
// to write it, in a goroutine of its own while the run continues. Launches of the
// set that it gets can be read once, and reading waits for the run.
func New(name string, write func(*trace.Set) error) *Recorder {
	r := &Recorder{write: write, set: trace.Set{Name: name, Form: "recorded by Heddle"}}
	r.cut = &trace.Error{File: name, Msg: "the run ended before the launch did"}
	r.come.L, r.gone.L = &r.mu, &r.mu
	return r
}

// Copy records a copy of bytes from the host to an address on the device.
func (r *Recorder) Copy(addr, bytes uint64) {
	r.add(trace.Command{Addr: addr, Bytes: bytes, Text: fmt.Sprintf("MemcpyHtoD,0x%016x,%d", addr, bytes)})
}

// add records a command.
func (r *Recorder) add(c trace.Command) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.File, c.Line = r.set.Name, len(r.list)+1
	r.list = append(r.list, c)
	r.come.Broadcast()
}

// next waits for a command; it returns nil if the run has ended without it.
func (r *Recorder) next(i int) *trace.Command {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i >= len(r.list) && !r.over {
		r.come.Wait()
	}
	if i >= len(r.list) {
		return nil
	}
	return &r.list[i]
}

// Launch holds what a trace records of a launch that its work does not know.
type Launch struct {
	Stream      int64
	Grid, Block [3]int64
	Registers   int // per thread; 0: take it from the work
}

// Launch records a launch and returns the work that must run instead of the
// original. Drop leaves the launch out of the trace; call it if the launch will not
// complete. Later launches are still recorded.
func (r *Recorder) Launch(w exec.Work, l Launch) (recorded exec.Work, drop func()) {
	r.count++
	if w.Blocks() > mostBlocks {
		if r.bad == nil {
			r.bad = fmt.Errorf("kernel %s has %d blocks; at most %d can be recorded", w.Name(), w.Blocks(), mostBlocks)
		}
		return w, func() {}
	}
	k := trace.Kernel{Header: trace.Header{
		Kernel: w.Name(), ID: int64(r.count), Grid: dim(l.Grid), Block: dim(l.Block), Shared: w.Shared(), Registers: w.Registers(),
		Arch: ptxArch, Stream: uint64(l.Stream), SharedBase: isa.SharedWindow, LocalBase: isa.LocalWindow, Version: version,
	}}
	if l.Registers > 0 {
		k.Header.Registers = l.Registers
	}
	s := &launch{r: r, k: &k, name: fmt.Sprintf("kernel-%d.traceg", r.count), blocks: map[uint64]*trace.Block{}}
	x := newWork(w, s)
	r.add(trace.Command{Launch: s, Text: s.name})
	return x, s.drop
}

// drop makes the writer leave the launch out.
func (l *launch) drop() {
	r := l.r
	r.mu.Lock()
	defer r.mu.Unlock()
	l.dropped = true
	clear(l.blocks)
	r.come.Broadcast()
	r.gone.Broadcast()
}

func dim(d [3]int64) trace.Dim { return trace.Dim{uint32(d[0]), uint32(d[1]), uint32(d[2])} }

// Begin starts the writer. The error says what cannot be recorded.
func (r *Recorder) Begin() error {
	if r.bad != nil {
		return r.bad
	}
	r.done = make(chan error, 1)
	set := r.set
	set.Commands, set.Next = slices.Clone(r.list), r.next
	go func() {
		err := r.write(&set)
		r.mu.Lock()
		r.ended = true
		r.gone.Broadcast()
		r.mu.Unlock()
		r.done <- err
	}()
	return nil
}

// Finish waits for the writer after the run has ended. A launch that did not
// complete is left out without an error; errors are the writer's.
func (r *Recorder) Finish() error {
	if r.done == nil {
		return nil
	}
	r.mu.Lock()
	r.over = true
	r.come.Broadcast()
	r.mu.Unlock()
	return errors.Join(r.bad, r.without(<-r.done))
}

// without removes from an error what only an interrupted run causes.
func (r *Recorder) without(err error) error {
	if err == r.cut {
		return nil
	}
	if x, ok := err.(interface{ Unwrap() []error }); ok && errors.Is(err, r.cut) {
		var kept []error
		for _, e := range x.Unwrap() {
			kept = append(kept, r.without(e))
		}
		return errors.Join(kept...)
	}
	return err
}

// launch is a launch that is being recorded. It implements trace.Source and
// trace.Blocks.
type launch struct {
	r    *Recorder
	k    *trace.Kernel
	name string

	// Under the recorder's lock:
	blocks  map[uint64]*trace.Block // complete ones that have not been taken
	next    uint64                  // the one that the writer needs next
	read    bool                    // the writer is at this launch
	dropped bool                    // it will not complete
	free    []*trace.Block
}

func (l *launch) Name() string { return l.name }

func (l *launch) Header() (trace.Header, error) { return l.k.Header, nil }

// Open returns the launch. Its counts grow as blocks are read.
func (l *launch) Open() (*trace.Kernel, error) {
	n := l.k.Grid.Count()
	l.k.Present = make([]uint64, n)
	for i := range l.k.Present {
		l.k.Present[i] = uint64(i)
	}
	l.k.Blocks = l
	l.r.mu.Lock()
	l.read = true
	l.r.mu.Unlock()
	return l.k, nil
}

// Block waits until the run has completed a block.
func (l *launch) Block(i int) (*trace.Block, error) {
	r := l.r
	r.mu.Lock()
	defer r.mu.Unlock()
	l.next = uint64(i)
	for {
		if b := l.blocks[l.next]; b != nil {
			delete(l.blocks, l.next)
			l.next++
			r.gone.Broadcast()
			l.k.WarpInsts += uint64(len(b.Insts))
			for j := range b.Insts {
				l.k.ThreadInsts += uint64(b.Insts[j].Mask.Count())
			}
			return b, nil
		}
		if l.dropped {
			return nil, trace.ErrDropped
		}
		if r.over {
			return nil, r.cut
		}
		r.come.Wait()
	}
}

func (l *launch) Free(b *trace.Block) {
	l.r.mu.Lock()
	l.free = append(l.free, b)
	l.r.mu.Unlock()
}

func (l *launch) Close() error { return nil }

// complete takes a completed block. It waits while the writer is too far back.
func (l *launch) complete(n uint64, b *trace.Block) {
	r := l.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || r.over || l.dropped {
		return
	}
	l.blocks[n] = b
	r.come.Broadcast()
	for l.read && !r.ended && !l.dropped && len(l.blocks) > waiting && l.blocks[l.next] != nil {
		r.gone.Wait()
	}
}

// empty returns a block to fill.
func (l *launch) empty() *trace.Block {
	l.r.mu.Lock()
	defer l.r.mu.Unlock()
	n := len(l.free)
	if n == 0 {
		return &trace.Block{}
	}
	b := l.free[n-1]
	l.free = l.free[:n-1]
	*b = trace.Block{Warps: b.Warps[:0], Insts: b.Insts[:0], Mems: b.Mems[:0], Deltas: b.Deltas[:0]}
	return b
}
