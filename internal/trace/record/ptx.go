package record

import (
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/trace"
)

// This file: names for PTX. A trace names SASS opcodes and registers, so each PTX
// instruction gets the sm_86 mnemonic that does its work, or the first or costliest
// of the sequence that a compiler emits for it. One record stays one record: counts
// are those of the run.

// foldedRegisters is the number of names that PTX registers share. Register n, in
// 32-bit words as the executor numbers them, is R(n mod 252): 252 is the largest
// number below RZ that keeps pairs and groups of four together. Kernels with more
// register words get false dependences.
const foldedRegisters = 252

// fromPTX describes the instructions of a kernel, followed by those of the
// functions that it calls.
func fromPTX(w exec.Work) []trace.Static {
	code, program := w.Code(), w.Traits()
	list := make([]trace.Static, len(code))
	for i, in := range code {
		s := &list[i]
		s.PC, s.Line = uint32(i)*instBytes, in.Line
		text, inner := "", false // inside a called function
		if program.Source != nil {
			where := program.Source(i)
			text, inner = program.Text(i), where.Function != "" && where.Function != where.Kernel
		}
		s.Op = mnemonicOf(in, text, !inner)
		fold(&s.Dsts, in.Dsts)
		fold(&s.Srcs, in.Srcs)
		if hasAddresses(in) {
			s.Width = in.Width
		}
		switch {
		case in.Named > 0:
			s.Imms = []int64{int64(in.Named) - 1}
		case s.Op == waitGroup:
			s.Imms = []int64{int64(in.Async.Leave)}
		}
	}
	return list
}

// fold names general registers. Predicates are left out, as in the tracer.
func fold(to *[]trace.Reg, list []isa.Reg) {
	for _, r := range list {
		if r.File == isa.RegGPR {
			*to = append(*to, trace.Reg{File: isa.RegGPR, N: uint16(r.Index % foldedRegisters)})
		}
	}
}

const waitGroup = "DEPBAR.LE"

// opcodes maps PTX opcodes of arithmetic to mnemonics: for integers, packed or
// single halves, floats and doubles. "" means that of integers.
var opcodes = map[string][4]string{
	"add": {"IADD3", "HADD2", "FADD", "DADD"}, "sub": {"IADD3", "HADD2", "FADD", "DADD"},
	"addc": {"IADD3.X"}, "subc": {"IADD3.X"}, "neg": {"IADD3", "HADD2", "FADD", "DADD"},
	"abs": {"IABS", "HADD2", "FADD", "DADD"}, "copysign": {"LOP3.LUT"}, "testp": {"FSETP", "FSETP", "FSETP", "DSETP"},
	"mul": {"IMAD", "HMUL2", "FMUL", "DMUL"}, "mad": {"IMAD", "HFMA2", "FFMA", "DFMA"}, "madc": {"IMAD.X"},
	"fma": {"IMAD", "HFMA2", "FFMA", "DFMA"}, "mul24": {"IMAD"}, "mad24": {"IMAD"},
	"min": {"IMNMX", "HMNMX2", "FMNMX", "DSETP"}, "max": {"IMNMX", "HMNMX2", "FMNMX", "DSETP"},
	// Sequences in SASS; these are their costliest members.
	"div": {"MUFU.RCP", "MUFU.RCP", "MUFU.RCP", "MUFU.RCP64H"}, "rem": {"MUFU.RCP", "MUFU.RCP", "MUFU.RCP", "MUFU.RCP64H"},
	"rcp": {"MUFU.RCP", "", "", "MUFU.RCP64H"}, "rsqrt": {"MUFU.RSQ", "", "", "MUFU.RSQ64H"}, "sqrt": {"MUFU.RSQ", "", "", "MUFU.RSQ64H"},
	"sin": {"MUFU.SIN"}, "cos": {"MUFU.COS"}, "ex2": {"MUFU.EX2"}, "lg2": {"MUFU.LG2"}, "tanh": {"MUFU.TANH"},
	"set": {"ISETP", "HSET2", "FSET", "DSETP"}, "setp": {"ISETP", "HSETP2", "FSETP", "DSETP"},
	"selp": {"SEL", "SEL", "FSEL", "SEL"}, "slct": {"SEL", "SEL", "FSEL", "SEL"},
	"and": {"LOP3.LUT"}, "or": {"LOP3.LUT"}, "xor": {"LOP3.LUT"}, "not": {"LOP3.LUT"}, "cnot": {"LOP3.LUT"}, "lop3": {"LOP3.LUT"},
	"shl": {"SHF.L.U32"}, "shr": {"SHF.R.U32.HI"}, "shf": {"SHF.L.W.U32.HI"}, "bfe": {"SHF.R.U32.HI"}, "bfi": {"LOP3.LUT"},
	"bfind": {"FLO.U32"}, "fns": {"FLO.U32"}, "clz": {"FLO.U32"}, "popc": {"POPC"}, "brev": {"BREV"}, "bmsk": {"BMSK"}, "szext": {"SGXT"},
	"prmt": {"PRMT"}, "sad": {"VABSDIFF"}, "dp4a": {"IDP.4A.U8.U8"}, "dp2a": {"IDP.2A.LO.U16.U8"},
	"cvta": {"IADD3"}, "isspacep": {"QSPC.E.G"}, "mapa": {"IADD3"}, "getctarank": {"IADD3"},
	"shfl": {"SHFL.IDX"}, "vote": {"VOTE.ANY"}, "activemask": {"VOTE.ANY"}, "match": {"MATCH.ANY"}, "redux": {"REDUX"}, "elect": {"VOTE.ANY"},
	"membar": {"MEMBAR.SC.GPU"}, "fence": {"MEMBAR.SC.GPU"},
	"trap": {"BPT.TRAP"}, "brkpt": {"BPT.TRAP"}, "pmevent": {"PMTRIG"}, "nanosleep": {"NANOSLEEP"},
	"prefetch": {"CCTL.E.PF2"}, "prefetchu": {"CCTL.E.PF1"}, "discard": {"CCTL.IVALL"}, "applypriority": {"CCTL.IVALL"},
	"movmatrix": {"MOVM.16.MT88"}, "alloca": {"IADD3"}, "stacksave": {"MOV"}, "stackrestore": {"MOV"},
}

// units are the mnemonics for opcodes missing above.
var units = [...]string{
	isa.UnitNone: "NOP", isa.UnitALU: "IADD3", isa.UnitFP32: "FADD", isa.UnitFP64: "DADD", isa.UnitFP16: "HADD2", isa.UnitSFU: "MUFU.RCP",
	isa.UnitTensor: "HMMA.16816.F32", isa.UnitLSU: "SHFL.IDX", isa.UnitTex: "TEX", isa.UnitBranch: "BRA", isa.UnitBar: "BAR.SYNC",
}

// transfers names the instructions that change control flow.
var transfers = map[isa.Flow]string{
	isa.FlowBranch: "BRA", isa.FlowIndirect: "BRX", isa.FlowCall: "CALL.REL.NOINC", isa.FlowReturn: "RET.REL.NODEC", isa.FlowExit: "EXIT",
}

// special are the special registers that S2R reads; the others are constants.
var special = []string{"%tid", "%ctaid", "%laneid", "%warpid", "%smid", "%nsmid", "%nwarpid", "%gridid", "%lanemask", "%envreg", "%pm", "%cluster"}

// mnemonicOf names a PTX instruction: text is its source text, and entry says that
// it is in the kernel itself, where a return is an exit.
func mnemonicOf(in *isa.Inst, text string, entry bool) string {
	if in.Flow == isa.FlowReturn && entry {
		return "EXIT"
	}
	if name, ok := transfers[in.Flow]; ok {
		return name
	}
	parts := strings.Split(in.Op, ".")
	base := parts[0]
	has := func(m string) bool { return slices.Contains(parts[1:], m) }
	switch base {
	case "bar", "barrier":
		switch {
		case in.Barrier && !has("red"):
			return "BAR.SYNC"
		case in.Barrier:
			return "BAR.RED.POPC"
		case base == "bar" && has("warp"):
			return "WARPSYNC"
		}
		return "BAR.ARV"
	case "cp":
		switch {
		case has("commit_group"):
			return "LDGDEPBAR"
		case has("wait_group"), has("wait_all"):
			return waitGroup
		case !hasAddresses(in):
			return "NOP"
		}
		return "LDGSTS.E" + size(in.Width)
	case "ldmatrix":
		return "LDSM.16.M88" + map[uint8]string{8: ".2", 16: ".4"}[in.Width]
	case "mma", "wmma":
		if in.Unit == isa.UnitTensor {
			return product(parts)
		}
	case "mov":
		if strings.Contains(text, "%clock") || strings.Contains(text, "%globaltimer") {
			return "CS2R"
		}
		for _, r := range special {
			if strings.Contains(text, r) {
				return "S2R"
			}
		}
		return "MOV"
	case "cvt":
		return conversion(parts)
	}
	if in.Load || in.Store || in.Atomic {
		return access(in, parts)
	}
	if base == "and" || base == "or" || base == "xor" || base == "not" || base == "mov" {
		if parts[len(parts)-1] == "pred" {
			return "PLOP3.LUT"
		}
	}
	if names, ok := opcodes[base]; ok {
		name := names[in.Data]
		if name == "" {
			name = names[isa.DataInt]
		}
		if name == "IMAD" {
			switch {
			case has("wide"):
				name = "IMAD.WIDE"
			case has("hi"):
				name = "IMAD.HI"
			}
		}
		return name
	}
	return units[in.Unit]
}

// size returns the suffix of a mnemonic for the bytes per lane.
func size(width uint8) string {
	switch width {
	case 1:
		return ".U8"
	case 2:
		return ".U16"
	case 8:
		return ".64"
	case 16:
		return ".128"
	case 32:
		return ".256"
	}
	return ""
}

// atomics are the suffixes of atomic operations by their PTX names.
var atomics = map[string]string{
	"add": ".ADD", "min": ".MIN", "max": ".MAX", "inc": ".INC", "dec": ".DEC", "and": ".AND", "or": ".OR", "xor": ".XOR", "exch": ".EXCH", "cas": ".CAS",
}

// access names an instruction that accesses memory, by the parts of its opcode.
func access(in *isa.Inst, parts []string) string {
	switch in.Space {
	case isa.Const, isa.Param:
		if in.Load {
			return "LDC" + size(in.Width)
		}
		return "MOV" // function parameters are registers in SASS
	case isa.Texture:
		return "TEX"
	case isa.Surface:
		switch {
		case in.Atomic:
			return "SUATOM"
		case in.Store:
			return "SUST"
		}
		return "SULD"
	}
	suffix, where := size(in.Width), ""
	switch in.Space {
	case isa.Global:
		where = "G.E"
	case isa.Shared:
		where = "S"
	case isa.Local:
		where = "L"
	default:
		where = ".E"
	}
	switch {
	case in.Atomic:
		does := ""
		for _, p := range parts {
			if s, ok := atomics[p]; ok {
				does = s
			}
		}
		switch {
		case in.Space == isa.Shared:
			return "ATOMS" + does + suffix
		case parts[0] == "red":
			return "RED.E" + does + suffix
		case in.Space == isa.Global:
			return "ATOMG.E" + does + suffix
		}
		return "ATOM.E" + does + suffix
	case in.Store:
		return "ST" + where + suffix
	}
	return "LD" + where + suffix
}

// conversion names a cvt by its types, the last two parts of the opcode.
func conversion(parts []string) string {
	if len(parts) < 3 {
		return "MOV"
	}
	to, from := parts[len(parts)-2], parts[len(parts)-1]
	float := func(t string) bool {
		return strings.Contains(t, "f") || strings.HasPrefix(t, "e") || strings.HasPrefix(t, "tf")
	}
	wide := ""
	if strings.HasSuffix(to, "64") || strings.HasSuffix(from, "64") {
		wide = ".F64"
	}
	switch {
	case float(to) && float(from) && to == from:
		return "FRND" + wide
	case float(to) && float(from):
		return "F2F" + wide
	case float(to):
		return "I2F" + wide
	case float(from):
		return "F2I" + wide
	}
	return "PRMT"
}

// product names a matrix product by its shape and types.
func product(parts []string) string {
	shape, kind := "16816", "HMMA"
	for _, p := range parts {
		switch {
		case len(p) > 4 && p[0] == 'm' && strings.ContainsRune(p, 'n') && strings.ContainsRune(p, 'k'):
			shape = strings.NewReplacer("m", "", "n", "", "k", "").Replace(p)
		case p == "s8" || p == "u8" || p == "s4" || p == "u4":
			kind = "IMMA"
		case p == "b1":
			kind = "BMMA"
		case p == "f64":
			kind = "DMMA"
		}
	}
	return kind + "." + shape
}
