package report

// This file: the way of each instruction through the pipeline of an SM, for a page.

// Ways are the instructions that an SM issued in some cycles, in the order in which they did, and
// their way through its pipeline. Columns have an element for each.
type Ways struct {
	SM   int    `json:"sm"`
	From uint64 `json:"from_cycle"`
	To   uint64 `json:"to_cycle"` // the first that is not recorded

	Stages []string  `json:"stages"`
	Insts  []WayInst `json:"instructions"` // those of programs that issued

	Inst  []int    `json:"instruction"` // column: index in Insts
	Block []uint64 `json:"block"`       // in its grid
	Warp  []int    `json:"warp"`        // in its block
	Slot  []int    `json:"slot"`        // of the SM
	Lanes []uint32 `json:"lanes"`       // whose guard held
	// At is, for each stage, the column of core cycles between its start and that of the stage
	// before; of the first stage, from From, below 0 for instructions that were fetched earlier. A
	// stage that takes no cycle was not passed; the last takes one.
	At [][]int64 `json:"at"`
	// WaitedFor is the index in Insts of the instruction that held the warp back last before this
	// one, -1 if none did.
	WaitedFor []int `json:"waited_for"`
	// Open are the indices of instructions that were in flight at the end of the recording: their
	// last stage ends there.
	Open []int `json:"open,omitempty"`
}

// WayInst is an instruction of a launch's program.
type WayInst struct {
	Launch     int    `json:"launch"`
	PC         int    `json:"pc"`
	Text       string `json:"text"`
	File       string `json:"file,omitempty"`
	Line       int    `json:"line,omitempty"`
	SourceFile string `json:"source_file,omitempty"`
	SourceLine int    `json:"source_line,omitempty"`
}
