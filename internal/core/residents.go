package core

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/mem"
)

// Env is what the chip provides to a core.
type Env struct {
	// Pool allocates and frees requests. Cores that run in different goroutines need
	// different pools.
	Pool *mem.Pool
	// HasRoom reports whether the network accepts a packet of this size now.
	HasRoom func(bytes int) bool
	// Send puts a request of this size into the network. The core calls it only after
	// HasRoom.
	Send func(r *mem.Req, bytes int)
	// LineWise: all sectors of a line go to one slice, so that they can be one packet.
	LineWise bool
	// BlockDone is called when a block has ended and its resources are free. The owner
	// releases the block. All lanes of its last warp had ended some core cycles ago; then it
	// waited for its stores and results.
	BlockDone func(k Kernel, b exec.Block, ago uint64)
	// Releases is called when a warp of a block has let the launch after its own begin (griddepcontrol.launch_dependents).
	Releases func(k Kernel, b exec.Block)
	// Peer sends a message to another SM, or the same; nil on a chip without clusters.
	Peer func(m PeerMessage)
	// Turn, if set, is called before the execution of anything that is not private to
	// a block. Where cores run in parallel it returns when all cores before this one
	// have issued in this cycle.
	Turn func()
	// Sleep, if set, is where the core keeps whether it sleeps. The chip need not call Run
	// in a cycle that it passes there.
	Sleep *Sleep
	// Issued, if set, is called in each simulated cycle after everything that executes
	// in it has been executed.
	Issued func()
}

// Check reports what SM id lacks.
func (e *Env) Check(id int) error {
	if e.Pool == nil || e.HasRoom == nil || e.Send == nil {
		return fmt.Errorf("SM %d: Env lacks Pool, HasRoom or Send", id)
	}
	return nil
}

// Warp is the part of a warp slot that all models share; they embed it.
type Warp[K any] struct {
	X      exec.Warp // nil in an empty slot
	K      *K        `state:"-"`
	Block  int32     // in Residents.Blocks
	Next   int32     // its next instruction, -1 if it waits or has ended
	State  exec.WarpState
	Age    uint64 // warps launched on the core before it
	Before uint64 // instructions issued from its slot before it
	Places Places `state:"-"` // where its states are charged, nil without KeepPlaces
	Edges  *Edges `state:"-"` // where its waits for instructions are charged, nil without KeepEdges
}

// Block is a place for a block.
type Block[K any] struct {
	K           *K `state:"-"` // nil if it is empty
	X           exec.Block
	Work        exec.Work
	First, Left int // first warp slot, warps not retired
	Run         int // warps that can step
	Stuck       bool

	need Need
}

// Need is what a block occupies on a core.
type Need struct {
	Warps, Registers, Shared int
	// MaxBlocks is the maximum number of blocks of its kernel on a core.
	MaxBlocks int
}

// Room is the capacity of a core for blocks.
type Room struct {
	Warps, Registers, Shared int
	// Aligned says that a block's first warp slot is a multiple of its number of warps.
	Aligned bool
	// FirstAlways says that an empty core takes a block whatever its registers and
	// shared memory.
	FirstAlways bool
}

// Residents are the blocks and warps on a core, and what they occupy.
type Residents[K any] struct {
	Blocks []Block[K]
	Warps  []*Warp[K] // by slot
	// N counts the blocks; Registers and Shared are what they occupy.
	N, Registers, Shared int
	ages                 uint64
	taken                uint64 // warp slots of resident blocks
	refresh              func(s int32)
	turn                 func()
}

// Init makes places for blocks. Refresh looks up what a warp executes next; turn is
// Env.Turn.
func (r *Residents[K]) Init(blocks int, refresh func(s int32), turn func()) {
	r.Blocks, r.refresh, r.turn = make([]Block[K], blocks), refresh, turn
}

// Find finds a place for a block and for its warps.
func (r *Residents[K]) Find(k *K, n Need, in Room) (blk, first int, ok bool) {
	blk = -1
	own := 0
	for i := range r.Blocks {
		switch {
		case r.Blocks[i].K == k:
			own++
		case r.Blocks[i].K == nil && blk < 0:
			blk = i
		}
	}
	if blk < 0 || own >= n.MaxBlocks {
		return 0, 0, false
	}
	if (r.N > 0 || !in.FirstAlways) && (r.Registers+n.Registers > in.Registers || r.Shared+n.Shared > in.Shared) {
		return 0, 0, false
	}
	step := 1
	if in.Aligned {
		step = n.Warps
	}
	m := uint64(1)<<n.Warps - 1
	for first = 0; first+n.Warps <= in.Warps; first += step {
		if r.taken&(m<<first) == 0 {
			return blk, first, true
		}
	}
	return 0, 0, false
}

// Take puts a block where Find has found room.
func (r *Residents[K]) Take(blk, first int, k *K, w exec.Work, b exec.Block, n Need) {
	r.N++
	r.Registers += n.Registers
	r.Shared += n.Shared
	r.taken |= (uint64(1)<<n.Warps - 1) << first
	r.Blocks[blk] = Block[K]{K: k, X: b, Work: w, First: first, Left: b.Warps(), need: n}
}

// Warp returns the initial state of warp i of the block in place blk.
func (r *Residents[K]) Warp(blk, i int, p Places) Warp[K] {
	b := &r.Blocks[blk]
	r.ages++
	return Warp[K]{X: b.X.Warp(i), K: b.K, Block: int32(blk), State: exec.AtSync, Next: -1, Age: r.ages - 1, Places: p}
}

// Retire frees the slot of a warp. If it was the last of its block, it frees the
// block's place too and reports ended.
func (r *Residents[K]) Retire(s int) (k *K, x exec.Block, ended bool) {
	w := r.Warps[s]
	w.X = nil
	b := &r.Blocks[w.Block]
	if b.Left--; b.Left > 0 {
		return nil, nil, false
	}
	k, x = b.K, b.X
	r.N--
	r.Registers -= b.need.Registers
	r.Shared -= b.need.Shared
	r.taken &^= (uint64(1)<<b.need.Warps - 1) << b.First
	*b = Block[K]{}
	return k, x, true
}

// RefreshBlock refreshes the waiting warps of a block. If no warp can step, it lets
// the executor break waits within warps.
func (r *Residents[K]) RefreshBlock(blk int32) {
	b := &r.Blocks[blk]
	for {
		left := 0
		for s := b.First; s < b.First+b.need.Warps; s++ {
			w := r.Warps[s]
			if w.X == nil || w.Block != blk || w.State == exec.Done {
				continue
			}
			left++
			if w.State != exec.Ready {
				r.refresh(int32(s))
			}
		}
		if left == 0 || b.Run > 0 {
			return
		}
		if r.turn != nil {
			r.turn()
		}
		if !b.X.Unblock() {
			b.Stuck = true
			return
		}
	}
}

// Unblock lets lanes go on that wait for others of their warp, in the first block that has some,
// and reports whether there is one. Callers bring the counters up to date first: the core may sleep.
func (r *Residents[K]) Unblock() bool {
	for i := range r.Blocks {
		b := &r.Blocks[i]
		if b.K == nil || !b.X.Unblock() {
			continue
		}
		r.RefreshBlock(int32(i))
		return true
	}
	return false
}

// Stuck returns a resident block in which no warp can step again, nil if there is
// none.
func (r *Residents[K]) Stuck() exec.Block {
	for i := range r.Blocks {
		if b := &r.Blocks[i]; b.K != nil && b.Stuck && b.Run == 0 {
			return b.X
		}
	}
	return nil
}

// ResidentBlocks returns the blocks on the core, by place.
func (r *Residents[K]) ResidentBlocks() []BlockView {
	var list []BlockView
	for i := range r.Blocks {
		if b := &r.Blocks[i]; b.K != nil {
			list = append(list, BlockView{b.Work, b.X, b.First, b.Left, b.Stuck && b.Run == 0})
		}
	}
	return list
}

// View returns what all models show of the warp in a slot.
func (r *Residents[K]) View(s int) WarpView {
	w := r.Warps[s]
	b := &r.Blocks[w.Block]
	v := WarpView{
		Slot: s, Work: b.Work, Block: b.X, InBlock: s - b.First, Exec: w.X, At: int(w.Next), Live: w.X.Live(), Age: w.Age,
		Stuck: b.Stuck && b.Run == 0,
	}
	if w.State == exec.Ready {
		_, v.Active, _, _ = w.X.Next()
	}
	return v
}
