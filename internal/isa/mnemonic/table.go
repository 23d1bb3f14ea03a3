package mnemonic

import (
	"strings"

	"github.com/heddle-sim/heddle/internal/isa"
)

// row describes similar opcodes. The classes are those of isa/sass for the opcodes that both
// know; for the others, that of the instruction that does the same work on later
// architectures.
type row struct {
	ops   string
	class isa.Class
	unit  isa.Unit
	kind  isa.Kind
	data  isa.Data
	flow  isa.Flow
	space isa.Space
	does  does
	dst   width   // registers of the result
	src   []width // of the sources in order; the last one also applies to all that follow
	out   preds   // predicates besides the results that a trace lists
	in    preds
}

// does describes what an instruction does beyond its registers.
type does uint16

const (
	loads does = 1 << iota
	stores
	atomic
	waits   // at a barrier of its block
	depbar  // for dependence counters
	clocked // may read the time
	uniform // runs once for the warp
)

// width is a number of registers as far as the opcode determines it; modifiers determine the
// rest.
type width uint8

const (
	one      width = iota
	two            // a pair
	bySize         // the size of a memory access: .64, .128
	address        // a pair if the mnemonic has .E
	matrices       // of 8 rows: .2, .4
	target         // the first format of a conversion: .F64, .S64
	origin         // the last format of a conversion
	clock          // CS2R: a pair unless .32
	matA           // fragments of a matrix instruction
	matB
	matC
	mayPair // IMAD.WIDE and .HI: the third source is a pair, which may be the second register
	product // a pair if the mnemonic has .WIDE
	wide64  // a pair if the mnemonic has .64
)

// preds describes which predicates an instruction reads or writes.
type preds uint8

const (
	perPred  preds = 1 << iota // predicates of lanes
	uniPred                    // uniform predicates
	mayPred                    // predicates of lanes, if the instruction names one
	mayUni                     // uniform ones, likewise
	carry                      // a lane predicate if the mnemonic has .X or .EX, a uniform one on the uniform datapath
	allPreds                   // all predicates of lanes
)

var rows = []row{
	// Integers, moves and logic, of fixed latency.
	{ops: "IADD IADD3 IADD32I VIADD", class: isa.ClassInt, unit: isa.UnitALU, kind: isa.KindAdd, dst: wide64, src: []width{wide64}, out: mayPred, in: carry},
	{ops: "LEA ISCADD ISCADD32I IMADSP", class: isa.ClassInt, unit: isa.UnitALU, out: mayPred, in: carry},
	{ops: "IMNMX VIMNMX VIMNMX3 VIADDMNMX VMNMX VIMNMX2", class: isa.ClassInt, unit: isa.UnitALU, kind: isa.KindMax, dst: wide64, src: []width{wide64}, in: mayPred},
	{ops: "LOP LOP3 LOP32I SHF SHL SHR BFE BFI PRMT SGXT BMSK IABS VABSDIFF VABSDIFF4 VADD VSHR VSHL VSET ISAD ISUB", class: isa.ClassInt, unit: isa.UnitALU, out: mayPred, in: mayPred},
	{ops: "MOV MOV32I MOV64IUR", class: isa.ClassInt, unit: isa.UnitALU, dst: wide64, src: []width{wide64}},
	{ops: "SEL ICMP ISET", class: isa.ClassInt, unit: isa.UnitALU, dst: wide64, src: []width{wide64}, in: perPred},
	{ops: "I2I I2IP F2FP F2IP I2FP F2FP32 RRO", class: isa.ClassInt, unit: isa.UnitALU},
	{ops: "CS2R", class: isa.ClassInt, unit: isa.UnitALU, dst: clock, does: clocked},
	{ops: "POPC FLO BREV", class: isa.ClassIntSlow, unit: isa.UnitALU, out: mayPred},
	{ops: "IMAD IMUL IMUL32I IMAD32I XMAD IDP IDP4A IDP2A IMUL3", class: isa.ClassIMAD, unit: isa.UnitFP32, kind: isa.KindMad, dst: product, src: []width{one, mayPair, mayPair}, out: mayPred, in: carry},

	// Single precision.
	{ops: "FSWZADD", class: isa.ClassFP32, unit: isa.UnitFP32, data: isa.DataFloat},
	{ops: "FADD FADD32I", class: isa.ClassFP32, unit: isa.UnitFP32, kind: isa.KindAdd, data: isa.DataFloat},
	{ops: "FMUL FMUL32I", class: isa.ClassFP32, unit: isa.UnitFP32, kind: isa.KindMul, data: isa.DataFloat},
	{ops: "FFMA FFMA32I", class: isa.ClassFP32, unit: isa.UnitFP32, kind: isa.KindMad, data: isa.DataFloat},
	{ops: "FADD2 FMUL2 FFMA2", class: isa.ClassFP32, unit: isa.UnitFP32, kind: isa.KindMad, data: isa.DataFloat, dst: two, src: []width{two}},
	{ops: "FMNMX FMNMX3", class: isa.ClassFP32, unit: isa.UnitFP32, kind: isa.KindMax, data: isa.DataFloat, in: mayPred},
	{ops: "FSEL FSET FCMP", class: isa.ClassFP32, unit: isa.UnitFP32, data: isa.DataFloat, in: perPred},
	{ops: "FCHK", class: isa.ClassSFU, unit: isa.UnitSFU, data: isa.DataFloat, out: perPred},

	// Packed halves.
	{ops: "HADD2 HADD2_32I", class: isa.ClassHalf, unit: isa.UnitFP16, kind: isa.KindAdd, data: isa.DataHalf},
	{ops: "HMUL2 HMUL2_32I", class: isa.ClassHalf, unit: isa.UnitFP16, kind: isa.KindMul, data: isa.DataHalf},
	{ops: "HFMA2 HFMA2_32I", class: isa.ClassHalf, unit: isa.UnitFP16, kind: isa.KindMad, data: isa.DataHalf, in: mayPred},
	{ops: "HMNMX2 VHMNMX", class: isa.ClassHalf, unit: isa.UnitFP16, kind: isa.KindMax, data: isa.DataHalf, in: mayPred},
	{ops: "HSET2", class: isa.ClassHalf, unit: isa.UnitFP16, data: isa.DataHalf, in: mayPred},

	// Comparisons into predicates, and predicates alone.
	{ops: "ISETP CSETP", class: isa.ClassSetp, unit: isa.UnitALU, dst: wide64, src: []width{wide64}, out: perPred, in: mayPred | carry},
	{ops: "FSETP", class: isa.ClassSetp, unit: isa.UnitALU, data: isa.DataFloat, out: perPred, in: mayPred},
	{ops: "HSETP2", class: isa.ClassSetp, unit: isa.UnitALU, data: isa.DataHalf, out: perPred, in: mayPred},
	{ops: "PLOP3 PSETP PSET CSET", class: isa.ClassPred, unit: isa.UnitALU, out: perPred, in: perPred | mayUni},
	{ops: "P2R", class: isa.ClassInt, unit: isa.UnitALU, in: allPreds},
	{ops: "R2P", class: isa.ClassPred, unit: isa.UnitALU, out: allPreds},

	// Approximations and conversions.
	{ops: "MUFU", class: isa.ClassSFU, unit: isa.UnitSFU, data: isa.DataFloat},
	{ops: "F2I I2F FRND F2F", class: isa.ClassSFU, unit: isa.UnitSFU, dst: target, src: []width{origin}},

	// Double precision.
	{ops: "DADD", class: isa.ClassFP64, unit: isa.UnitFP64, kind: isa.KindAdd, data: isa.DataDouble, dst: two, src: []width{two}},
	{ops: "DMUL", class: isa.ClassFP64, unit: isa.UnitFP64, kind: isa.KindMul, data: isa.DataDouble, dst: two, src: []width{two}},
	{ops: "DFMA", class: isa.ClassFP64, unit: isa.UnitFP64, kind: isa.KindMad, data: isa.DataDouble, dst: two, src: []width{two}},
	{ops: "DMNMX", class: isa.ClassFP64, unit: isa.UnitFP64, kind: isa.KindMax, data: isa.DataDouble, dst: two, src: []width{two}, in: mayPred},
	{ops: "DSETP", class: isa.ClassFP64, unit: isa.UnitFP64, data: isa.DataDouble, src: []width{two}, out: perPred, in: mayPred},
	{ops: "DSET", class: isa.ClassFP64, unit: isa.UnitFP64, data: isa.DataDouble, src: []width{two}, in: mayPred},

	// The uniform datapath.
	{ops: "UIADD3 UVIADD", class: isa.ClassUniform, unit: isa.UnitALU, kind: isa.KindAdd, does: uniform, dst: wide64, src: []width{wide64}, out: mayUni, in: carry},
	{ops: "UIMAD", class: isa.ClassUniform, unit: isa.UnitALU, kind: isa.KindMad, does: uniform, dst: product, src: []width{one, mayPair, mayPair}, out: mayUni, in: carry},
	{ops: "ULEA ULOP ULOP3 ULOP32I USHF USHL USHR UPRMT USGXT UBMSK UFLO UBREV UPOPC UCLEA UIABS UF2FP UI2F UI2FP UF2F UF2I UI2I UFADD UFMUL UFFMA UFMNMX UFSEL UFSET UFRND UVIMNMX UIMNMX UVIMNMX3",
		class: isa.ClassUniform, unit: isa.UnitALU, does: uniform, dst: wide64, src: []width{wide64}, out: mayUni, in: carry | mayUni},
	{ops: "UMOV UMOV32I", class: isa.ClassUniformMove, unit: isa.UnitALU, does: uniform, dst: wide64, src: []width{wide64}},
	{ops: "UISETP UFSETP UPSETP UPLOP3", class: isa.ClassUniform, unit: isa.UnitALU, does: uniform, src: []width{wide64}, out: uniPred, in: mayUni | carry},
	{ops: "USEL", class: isa.ClassUniform, unit: isa.UnitALU, does: uniform, in: uniPred},
	{ops: "UP2UR", class: isa.ClassUniform, unit: isa.UnitALU, does: uniform, in: uniPred},
	{ops: "UR2UP", class: isa.ClassUniform, unit: isa.UnitALU, does: uniform, out: uniPred},
	{ops: "ULDC", class: isa.ClassUniformMove, unit: isa.UnitALU, does: uniform, dst: wide64},
	{ops: "R2UR", class: isa.ClassUniform, unit: isa.UnitALU, out: mayPred | mayUni},
	{ops: "VOTEU", class: isa.ClassUniformMove, unit: isa.UnitALU, out: mayUni, in: perPred},
	{ops: "ELECT", class: isa.ClassUniform, unit: isa.UnitALU, out: perPred},
	{ops: "UGETNEXTWORKID USETMAXREG USETSHMSZ UVIRTCOUNT", class: isa.ClassUniform, unit: isa.UnitALU, does: uniform},

	// Control flow.
	{ops: "BRA JMP", class: isa.ClassBranch, unit: isa.UnitBranch, flow: isa.FlowBranch, in: mayPred | mayUni},
	{ops: "BRX BRXU JMX JMXU", class: isa.ClassBranch, unit: isa.UnitBranch, flow: isa.FlowIndirect, src: []width{two}, in: mayPred | mayUni},
	{ops: "CALL CAL JCAL", class: isa.ClassBranch, unit: isa.UnitBranch, flow: isa.FlowCall, src: []width{two}, in: mayPred},
	{ops: "RET", class: isa.ClassBranch, unit: isa.UnitBranch, flow: isa.FlowReturn, src: []width{two}, in: mayPred},
	{ops: "EXIT KILL", class: isa.ClassBranch, unit: isa.UnitBranch, flow: isa.FlowExit, in: mayPred},
	{ops: "BSSY BSYNC BREAK BMOV WARPSYNC YIELD BPT RTT SSY SYNC PBK BRK PCNT CONT PRET PEXIT PLONGJMP LONGJMP IDE RAM SAM WARPSYNCALL", class: isa.ClassBranch, unit: isa.UnitBranch, in: mayPred},

	// Instructions that are done when they issue.
	{ops: "NOP PMTRIG SETCTAID SETLMEMBASE CSMTEST PREEXIT WARPGROUP ENDCOLLECTIVE BPTX", class: isa.ClassMisc, unit: isa.UnitNone},
	{ops: "NANOSLEEP", class: isa.ClassMisc, unit: isa.UnitNone},
	{ops: "DEPBAR TEXDEPBAR", class: isa.ClassMisc, unit: isa.UnitNone, does: depbar},
	{ops: "LDGDEPBAR ARRIVES ACQBULK WARPGROUPDEPBAR UTMACMDFLUSH", class: isa.ClassMisc, unit: isa.UnitNone},
	{ops: "VOTE VOTE_VTG", class: isa.ClassMisc, unit: isa.UnitALU, out: mayPred, in: perPred},
	{ops: "REDUX CREDUX", class: isa.ClassMiscQ, unit: isa.UnitALU},
	{ops: "LEPC RPCMOV GETLMEMBASE", class: isa.ClassMisc, unit: isa.UnitNone, dst: two},
	{ops: "B2R R2B", class: isa.ClassMiscQ, unit: isa.UnitALU, out: mayPred},
	{ops: "BAR UCGABAR_WAIT UCGABAR_ARV", class: isa.ClassMisc, unit: isa.UnitBar, does: waits, in: mayPred},
	{ops: "S2UR CS2UR", class: isa.ClassMiscQ, unit: isa.UnitNone, does: uniform, dst: wide64},
	{ops: "ERRBAR CGAERRBAR", class: isa.ClassMiscQ, unit: isa.UnitNone},

	// Through the memory pipeline, without an address in memory.
	{ops: "S2R", class: isa.ClassMio, unit: isa.UnitALU, does: clocked},
	{ops: "SHFL", class: isa.ClassMio, unit: isa.UnitLSU, kind: isa.KindShfl, out: mayPred},
	{ops: "MATCH", class: isa.ClassMio, unit: isa.UnitLSU, src: []width{wide64}, out: mayPred},
	{ops: "QSPC CCTL CCTLL CCTLT MOVM SYNCS AL2P PIXLD OUT", class: isa.ClassMio, unit: isa.UnitLSU, src: []width{address}, out: mayPred},

	// Matrices.
	{ops: "HMMA", class: isa.ClassTensor, unit: isa.UnitTensor, data: isa.DataHalf, dst: matC, src: []width{matA, matB, matC, one}},
	{ops: "IMMA BMMA QMMA OMMA", class: isa.ClassTensor, unit: isa.UnitTensor, dst: matC, src: []width{matA, matB, matC, one}},
	{ops: "HGMMA IGMMA QGMMA BGMMA", class: isa.ClassTensor, unit: isa.UnitTensor, data: isa.DataHalf, dst: matC, src: []width{matC}},
	{ops: "UTCHMMA UTCIMMA UTCQMMA UTCOMMA UTCCP UTCBAR UTCSHIFT UTCATOMSWS", class: isa.ClassTensor, unit: isa.UnitTensor, data: isa.DataHalf},
	{ops: "DMMA DGMMA", class: isa.ClassDMMA, unit: isa.UnitTensor, data: isa.DataDouble, dst: matC, src: []width{matA, matB, matC, one}},

	// Memory.
	{ops: "LDG", class: isa.ClassLoad, unit: isa.UnitLSU, space: isa.Global, does: loads, dst: bySize, src: []width{address}, out: mayPred, in: mayPred},
	{ops: "LD", class: isa.ClassLoad, unit: isa.UnitLSU, space: isa.Generic, does: loads, dst: bySize, src: []width{address}, out: mayPred, in: mayPred},
	{ops: "LDL", class: isa.ClassLoad, unit: isa.UnitLSU, space: isa.Local, does: loads, dst: bySize},
	{ops: "LDS LDSLK", class: isa.ClassLoad, unit: isa.UnitLSU, space: isa.Shared, does: loads, dst: bySize, out: mayPred},
	{ops: "LDSM", class: isa.ClassLoad, unit: isa.UnitLSU, space: isa.Shared, does: loads, dst: matrices},
	{ops: "LDTM", class: isa.ClassLoad, unit: isa.UnitLSU, space: isa.Shared, does: loads},
	{ops: "STG", class: isa.ClassStore, unit: isa.UnitLSU, space: isa.Global, does: stores, src: []width{address, bySize}},
	{ops: "ST", class: isa.ClassStore, unit: isa.UnitLSU, space: isa.Generic, does: stores, src: []width{address, bySize}},
	{ops: "STL", class: isa.ClassStore, unit: isa.UnitLSU, space: isa.Local, does: stores, src: []width{one, bySize}},
	{ops: "STS STSCUL STSUL STAS", class: isa.ClassStore, unit: isa.UnitLSU, space: isa.Shared, does: stores, src: []width{one, bySize}, out: mayPred},
	{ops: "STSM", class: isa.ClassStore, unit: isa.UnitLSU, space: isa.Shared, does: stores, src: []width{one, matrices}},
	{ops: "STTM", class: isa.ClassStore, unit: isa.UnitLSU, space: isa.Shared, does: stores},
	{ops: "ATOM", class: isa.ClassAtomic, unit: isa.UnitLSU, space: isa.Generic, does: loads | stores | atomic, dst: bySize, src: []width{address, bySize}, out: mayPred},
	{ops: "ATOMG", class: isa.ClassAtomic, unit: isa.UnitLSU, space: isa.Global, does: loads | stores | atomic, dst: bySize, src: []width{address, bySize}, out: mayPred},
	{ops: "ATOMS", class: isa.ClassAtomic, unit: isa.UnitLSU, space: isa.Shared, does: loads | stores | atomic, dst: bySize, src: []width{one, bySize}, out: mayPred},
	{ops: "RED REDG", class: isa.ClassAtomic, unit: isa.UnitLSU, space: isa.Global, does: stores | atomic, src: []width{address, bySize}},
	{ops: "REDS REDAS", class: isa.ClassAtomic, unit: isa.UnitLSU, space: isa.Shared, does: stores | atomic, src: []width{one, bySize}},
	{ops: "LDC", class: isa.ClassConstant, unit: isa.UnitLSU, space: isa.Const, does: loads, dst: bySize},
	{ops: "LDCU", class: isa.ClassConstant, unit: isa.UnitLSU, space: isa.Const, does: loads | uniform, dst: bySize},
	{ops: "LDGSTS", class: isa.ClassCopy, unit: isa.UnitLSU, space: isa.Global, does: loads, src: []width{one, address}, in: mayPred},
	{ops: "UBLKCP UBLKPF UBLKRED UTMALDG UTMASTG UTMAREDG UTMAPF UTMACCTL", class: isa.ClassMiscQ, unit: isa.UnitLSU},
	{ops: "MEMBAR FENCE", class: isa.ClassFence, unit: isa.UnitBar, kind: isa.KindFence},
	{ops: "TEX TEXS TLD TLDS TLD4 TLD4S TXD TXA TMML TMMLT", class: isa.ClassTexture, unit: isa.UnitTex, space: isa.Texture, does: loads, out: mayPred},
	{ops: "TXQ SUQUERY SUQ SUBFM SUCLAMP SUEAU SULEA", class: isa.ClassTexture, unit: isa.UnitTex, out: mayPred},
	{ops: "SULD SULDB SULDGA", class: isa.ClassTexture, unit: isa.UnitTex, space: isa.Surface, does: loads, out: mayPred},
	{ops: "SUST SUSTB SUSTGA SURED SUATOM", class: isa.ClassTexture, unit: isa.UnitTex, space: isa.Surface, does: stores},
}

// byName maps opcodes to rows.
var byName = func() map[string]*row {
	m := map[string]*row{}
	for i := range rows {
		for _, op := range strings.Fields(rows[i].ops) {
			m[op] = &rows[i]
		}
	}
	return m
}()
