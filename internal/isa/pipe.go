package isa

// This file: Accel-Sim's classes of SASS opcodes. Its traces name only registers and
// mnemonics, and trace.config has a latency for each class.

// Pipe is a class of opcodes with the same kind of unit and the same latency on Accel-Sim's
// SIMT core.
type Pipe uint8

// The classes; the comment names their latency in trace.config.
const (
	PipeNone    Pipe = iota // not from a trace
	PipeALU                 // integer unit, _int
	PipeInt                 // integer unit, _int
	PipeSP                  // single precision unit, _sp
	PipeDP                  // double precision unit, _dp
	PipeSFU                 // special function unit, _sfu
	PipeTensor              // tensor unit, _tensor
	PipeMemory              // loads, stores, atomics: load/store unit
	PipeFence               // MEMBAR: load/store unit
	PipeControl             // EXIT, BAR: integer unit, one cycle
	PipeSpec1               // branches, _spec_op_1
	PipeSpec2               // textures, _spec_op_2
	PipeSpec3               // matrix products since Turing, _spec_op_3
	PipeSpec4               // the uniform datapath, _spec_op_4
	PipeSpec5
	PipeSpec6
	PipeSpec7
	PipeSpec8
	Pipes // number of classes
)

var pipeNames = [Pipes]string{
	"none", "alu", "int", "sp", "dp", "sfu", "tensor", "memory", "fence", "control",
	"spec1", "spec2", "spec3", "spec4", "spec5", "spec6", "spec7", "spec8",
}

func (p Pipe) String() string { return pipeNames[p] }
