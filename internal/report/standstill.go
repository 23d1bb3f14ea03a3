package report

// This file: the state of a run that ended because nothing moves any more.

// Standstill is who waits for whom.
type Standstill struct {
	Warps    []Standing `json:"warps"`
	Barriers []Meeting  `json:"barriers"`
	Grids    []Begun    `json:"grids"`
	Loops    bool       `json:"loops,omitempty"`    // warps run, but repeat the same instructions with the same values
	LeftOut  int        `json:"left_out,omitempty"` // entries beyond the number that is kept of Warps
}

// Standing is a set of lanes of a warp that execute together.
type Standing struct {
	SM          int       `json:"sm"`
	Slot        int       `json:"slot"` // of the SM's warps
	Kernel      string    `json:"kernel"`
	Block       [3]uint32 `json:"block"`
	Warp        int       `json:"warp"`  // of the block
	Lanes       uint32    `json:"lanes"` // a bit for each
	Function    string    `json:"function,omitempty"`
	PC          int       `json:"pc"` // -1 if it has no next instruction
	Instruction string    `json:"instruction,omitempty"`
	File        string    `json:"file,omitempty"`
	Line        int       `json:"line,omitempty"`
	SourceFile  string    `json:"source_file,omitempty"`
	SourceLine  int       `json:"source_line,omitempty"`
	State       string    `json:"state"`               // the warp's, as among the stalls
	WaitsFor    string    `json:"waits_for,omitempty"` // in words; absent if it could issue
	Barrier     *int      `json:"barrier,omitempty"`   // index in Barriers
	ForLanes    uint32    `json:"for_lanes,omitempty"` // lanes of its warp for which it waits
}

// Meeting is a barrier of a block at which lanes wait.
type Meeting struct {
	SM      int       `json:"sm"`
	Kernel  string    `json:"kernel"`
	Block   [3]uint32 `json:"block"`
	Barrier int       `json:"barrier"` // its number in the block
	Came    int       `json:"came"`    // threads
	Need    int       `json:"need"`    // threads for which it waits
	Missing []uint32  `json:"missing"` // by warp of the block, the lanes that have neither arrived nor exited
}

// Begun is a kernel whose blocks have not all ended.
type Begun struct {
	Kernel string `json:"kernel"`
	Total  uint64 `json:"total"` // blocks
	Placed uint64 `json:"placed"`
	Ended  uint64 `json:"ended"`
}
