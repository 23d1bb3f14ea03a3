package exec

import "github.com/heddle-sim/heddle/internal/isa"

// Standstill is the state of a run in which nothing moves: who waits for whom.
type Standstill struct {
	Warps    []Standing
	Barriers []Meeting
	Grids    []Begun
	Loops    bool // warps run, but repeat the same instructions with the same values
	Left     int  // lanes that stand together but were left out of Warps
}

// Standing is a set of lanes of a warp that execute together.
type Standing struct {
	SM, Slot int
	Where    Where // its instruction; the thread is that of its first lane
	Warp     int   // of its block
	Lanes    isa.LaneMask
	State    string       // the core model's
	Waits    string       // what for, in words; "" if it could issue
	Barrier  int          // index into Barriers, -1 if it waits at none
	For      isa.LaneMask // lanes of its warp for which it waits
}

// Meeting is a barrier of a block at which lanes wait.
type Meeting struct {
	SM         int
	Kernel     string
	Block      Dim3
	ID         int
	Came, Need int            // threads
	Missing    []isa.LaneMask // by warp, the lanes that have neither arrived nor exited
}

// Begun is a kernel whose blocks have not all ended.
type Begun struct {
	Kernel               string
	Total, Placed, Ended uint64 // blocks
}
