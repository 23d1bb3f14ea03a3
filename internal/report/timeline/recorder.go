package timeline

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// Stage is a stage of the pipeline.
type Stage uint8

// MaxStages is the largest number of stages of a pipeline.
const MaxStages = 10

// The default stages, in order. An instruction is in each from its time to that of the
// next. In every pipeline the first is Fetch and the third Issue.
const (
	Fetch    Stage = iota // from the instruction cache
	Decode                // and then in the instruction buffer
	Issue                 // in the issue register
	Read                  // of the operands, in a collector unit
	Dispatch              // waiting for its unit
	Execute               // in its unit, or in memory
	Write                 // write-back of the result: one cycle
	Stages                // the number of stages
)

// stageNames are the names of the stages.
var stageNames = []string{"fetch", "decode", "issue", "read operands", "dispatch", "execute", "write back"}

// short are the names of the stages in Konata's cells.
var short = map[string]string{
	"fetch": "F", "decode": "D", "issue": "Is", "read operands": "Rd", "dispatch": "Dp", "execute": "X", "write back": "Wb",
	"control": "C", "allocate": "A", "memory": "M",
}

// Inst is a warp instruction's way through the pipeline. At holds the core cycle in which
// it entered each stage, in ascending order. A skipped stage begins with the next one,
// and the last stage lasts a cycle.
type Inst struct {
	At      [MaxStages]uint64
	Block   uint64 // in its grid
	Program int32  // what AddProgram returned
	Index   int32  // of the instruction in the program
	SM      int32
	Sched   int32
	Slot    int32  // warp slot of the SM
	Warp    int32  // in its block
	Lanes   uint32 // whose guard held
	Flushed bool   // dropped before completion
}

// end returns the cycle after the last one.
func (i *Inst) end() uint64 { return i.At[MaxStages-1] + 1 }

// Program is a kernel's code.
type Program struct {
	Kernel string
	Insts  []string // the text of each instruction
	Places []string // its location in the program text, "" if unknown
}

// Span is an action with a duration, such as a launch.
type Span struct {
	Name       string
	Track      string // the track that shows it
	Start, End uint64
}

// DefaultLimit is the default number of instructions that a Recorder holds: about 100 MB.
const DefaultLimit = 1 << 20

// chunk is the number of instructions that are allocated at a time.
const chunk = 1 << 14

// Recorder collects the contents of a timeline.
type Recorder struct {
	stages   []string
	limit    int
	chunks   [][]Inst
	n        int
	left     uint64
	programs []Program
	spans    []Span
}

// New returns an empty recorder for at most limit instructions; later ones are only
// counted. A limit of 0 means DefaultLimit.
func New(limit int) *Recorder {
	if limit <= 0 {
		limit = DefaultLimit
	}
	return &Recorder{limit: limit, stages: stageNames}
}

// Stages sets the names of the pipeline's stages, at most MaxStages.
func (r *Recorder) Stages(names []string) { r.stages = names[:min(len(names), MaxStages)] }

// cell returns a stage's name in Konata.
func (r *Recorder) cell(s int) string {
	if n, ok := short[r.stages[s]]; ok {
		return n
	}
	return r.stages[s]
}

// AddProgram registers a program and returns its number.
func (r *Recorder) AddProgram(p Program) int32 {
	r.programs = append(r.programs, p)
	return int32(len(r.programs) - 1)
}

// Add records an instruction.
func (r *Recorder) Add(i Inst) {
	if r.n == r.limit {
		r.left++
		return
	}
	for s := len(r.stages); s < MaxStages; s++ {
		i.At[s] = i.At[len(r.stages)-1]
	}
	if r.n%chunk == 0 {
		r.chunks = append(r.chunks, make([]Inst, 0, min(chunk, r.limit-r.n)))
	}
	last := len(r.chunks) - 1
	r.chunks[last] = append(r.chunks[last], i)
	r.n++
}

// AddSpan records a span.
func (r *Recorder) AddSpan(s Span) { r.spans = append(r.spans, s) }

// Len returns the number of recorded instructions.
func (r *Recorder) Len() int { return r.n }

// Left returns the number of instructions beyond the limit.
func (r *Recorder) Left() uint64 { return r.left }

// all returns the instructions in an order.
func (r *Recorder) all(less func(a, b *Inst) int) []*Inst {
	list := make([]*Inst, 0, r.n)
	for _, c := range r.chunks {
		for i := range c {
			list = append(list, &c[i])
		}
	}
	sortInsts(list, less)
	return list
}

// name and place describe an instruction.
func (r *Recorder) name(i *Inst) string {
	if p := r.program(i); p != nil && int(i.Index) < len(p.Insts) && i.Index >= 0 {
		return p.Insts[i.Index]
	}
	return fmt.Sprintf("instruction %d", i.Index)
}

func (r *Recorder) place(i *Inst) string {
	if p := r.program(i); p != nil && int(i.Index) < len(p.Places) && i.Index >= 0 {
		return p.Places[i.Index]
	}
	return ""
}

func (r *Recorder) program(i *Inst) *Program {
	if i.Program < 0 || int(i.Program) >= len(r.programs) {
		return nil
	}
	return &r.programs[i.Program]
}

func (r *Recorder) kernel(i *Inst) string {
	if p := r.program(i); p != nil {
		return p.Kernel
	}
	return ""
}

// Format is a file format.
type Format uint8

// The formats.
const (
	Kanata   Format = iota // of Konata, the pipeline viewer
	Perfetto               // of ui.perfetto.dev
)

// FormatOf derives the format from a file's name.
func FormatOf(name string) (Format, error) {
	switch ext := strings.ToLower(filepath.Ext(name)); ext {
	case ".kanata":
		return Kanata, nil
	case ".pftrace":
		return Perfetto, nil
	default:
		return 0, fmt.Errorf("%s: unknown extension; want .kanata for Konata or .pftrace for Perfetto", name)
	}
}

// Write writes everything in a format.
func (r *Recorder) Write(w io.Writer, f Format) error {
	if f == Kanata {
		return r.WriteKanata(w)
	}
	return r.WritePerfetto(w)
}
