package lesson

// Limits of what is recorded (our choice): what a reader walks through, and what keeps a page
// small. A longer run is recorded up to its last step that fits.
const (
	MostSteps = 5000 // of all lessons of a result
	MostWarps = 64   // of a launch
	MostWords = 16384
)

// Lesson is a launch, or a run of the Kepler-style core, step by step. Its first Begin steps only
// set the state up in which it starts.
type Lesson struct {
	Launch   int        `json:"launch"`
	Kernel   string     `json:"kernel"`
	Set      string     `json:"set"` // instruction set: ptx, sass or kasm
	Complete bool       `json:"complete"`
	Code     []Inst     `json:"code"`
	Cells    []Register `json:"registers"`
	Warps    []int      `json:"warps"` // their numbers, in the block or on the core
	Begin    int        `json:"begin"`
	Steps    Steps      `json:"steps"`
	Values   Values     `json:"values"`
	Stores   Stores     `json:"stores"`
	Words    Words      `json:"words"`
	Groups   []Group    `json:"groups"`
	Buffers  []Buffer   `json:"buffers,omitempty"`
	Screens  []Screen   `json:"screens,omitempty"`
}

// Inst is an instruction of the program.
type Inst struct {
	Text       string `json:"text"`
	Explain    string `json:"explain"` // what it does, in a sentence
	File       string `json:"file,omitempty"`
	Line       int    `json:"line,omitempty"`
	SourceFile string `json:"source_file,omitempty"`
	SourceLine int    `json:"source_line,omitempty"`
}

// Register is a register or predicate. Its value takes cells of 32 bits, the lowest first; a
// predicate takes one.
type Register struct {
	Name     string `json:"name"`
	Type     string `json:"type"`               // such as .f32; .pred for a predicate
	Bits     int    `json:"bits"`               // 1 for a predicate, up to 128
	Cell     int    `json:"cell"`               // the first one
	Function string `json:"function,omitempty"` // whose register it is, if not the kernel's
}

// cells returns how many cells a value of some bits takes.
func cells(bits int) int { return max(1, (bits+31)/32) }

// Kinds of steps.
const (
	Issue   = 0 // a warp issued At
	Arrival = 1 // results of At became visible; At is -1 if it is not known whose they are
)

// Steps are the steps, a row for each.
type Steps struct {
	Cycle  []uint64 `json:"cycle"`  // core cycles since the step before
	Kind   []int    `json:"kind"`   // Issue or Arrival
	Warp   []int    `json:"warp"`   // index in Warps; -1 if only memory changed, by one of several warps
	At     []int    `json:"at"`     // index in Code
	Active []uint32 `json:"active"` // lanes that executed the instruction
	Lanes  []uint32 `json:"lanes"`  // those whose guard held
	Values []int    `json:"values"` // rows of Values
	Stores []int    `json:"stores"` // rows of Stores
}

// Forms of values.
const (
	Equal  = 0 // one value for all lanes
	Rising = 1 // the first value, and the difference of neighbours, modulo 2^32
	Each   = 2 // a value for each lane
	Bits   = 3 // a bit for each of the 32 lanes, of a predicate
)

// Values are new values of cells, in the order of the steps.
type Values struct {
	Cell  []int    `json:"cell"`
	Lanes []uint32 `json:"lanes"` // that have a new value
	Form  []int    `json:"form"`
	Data  []uint32 `json:"data"` // of all rows, as Form says
}

// Stores are new words in memory, in the order of the steps.
type Stores struct {
	Word  []int    `json:"word"` // index in Words
	Value []uint32 `json:"value"`
}

// Spaces of words.
const (
	Global = 0
	Shared = 1
)

// Words are the words of memory that were touched, in the order in which they were.
type Words struct {
	Space []int    `json:"space"`
	Addr  []uint64 `json:"addr"`  // in bytes; of shared memory from its start
	First []int64  `json:"first"` // the value at the start, -1 if it is not known
}

// Group is how the lanes of a warp stand after a step: sets of lanes that execute separately, and
// the places where lanes wait for others. It holds until the warp's next group.
type Group struct {
	Step  int      `json:"step"`
	Warp  int      `json:"warp"` // index in Warps
	State string   `json:"state,omitempty"`
	Live  uint32   `json:"live"` // lanes that have not exited
	Sets  []Set    `json:"sets,omitempty"`
	Joins []Set    `json:"joins,omitempty"` // the outermost first
	Calls []uint32 `json:"calls,omitempty"` // return addresses of the Kepler-style core
}

// Set is a set of lanes at a place.
type Set struct {
	Lanes   uint32 `json:"lanes"`
	Missing uint32 `json:"missing,omitempty"` // of a join: lanes that have not come
	At      int    `json:"at"`                // index in Code, -1 for the end
	Waits   string `json:"waits,omitempty"`   // what for; "" if they can run
}

// Buffer is a named range of global memory.
type Buffer struct {
	Name  string `json:"name"`
	Addr  uint64 `json:"addr"`
	Bytes uint64 `json:"bytes"`
	Type  string `json:"type"`
}

// Screen is a buffer that is a picture.
type Screen struct {
	Name    string   `json:"name"`
	Addr    uint64   `json:"addr"`
	Shared  bool     `json:"shared,omitempty"`
	Width   int      `json:"width"` // pixels
	Height  int      `json:"height"`
	Format  string   `json:"format"`            // bit, u8 or rgb, as in job files
	Colours []string `json:"colours,omitempty"` // #rrggbb by the value of a pixel
	First   []byte   `json:"first,omitempty"`   // its bytes at the start, nil if all are zero
}

// Film is a picture after each frame of a job.
type Film struct {
	Screen
	Delay  int      `json:"delay"`  // of a frame, hundredths of a second
	Frames []int    `json:"frames"` // their numbers
	Bytes  [][]byte `json:"bytes"`  // of each
}

// MostFilm bounds the bytes of a result's films, before compression (our choice).
const MostFilm = 1 << 20
