package mnemonic

import (
	"strings"

	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: how Accel-Sim's trace front end classifies opcodes (its opcode maps, by binary
// version). The class decides an instruction's latency in trace.config and the unit that
// executes it there (isa.Pipe). Branches, calls and returns before Volta are classed with
// the integers.

// The opcodes of each class: first those of sm_80 and later, then the differences in the
// older maps.
const (
	ampereSP = `FADD FADD32I FCHK FFMA FFMA32I FMNMX FMUL FMUL32I FSEL FSET FSETP FSWZADD HADD2 HADD2_32I HFMA2 HFMA2_32I HMUL2 HMUL2_32I
		HSET2 HSETP2 HMNMX2`
	ampereInt = `BMSK BREV FLO IABS IADD IADD3 IADD32I IDP IDP4A IMAD IMNMX IMUL IMUL32I ISCADD ISCADD32I ISETP LEA LOP LOP3 LOP32I POPC
		SHF SHL SHR VABSDIFF VABSDIFF4`
	ampereALU = `F2F F2FP F2I F2IP FRND I2F I2FP I2I I2IP MOV MOV32I MOVM PRMT SEL SGXT SHFL PLOP3 PSETP P2R R2P LDC MATCH QSPC CCTL CCTLL
		CCTLT ERRBAR LDGDEPBAR DEPBAR SUATOM SULD SUQUERY SURED SUST B2R CS2R CSMTEST GETLMEMBASE LEPC NOP PMTRIG R2B S2R SETCTAID
		SETLMEMBASE VOTE VOTE_VTG`
	ampereDP    = `DADD DFMA DMUL DSETP`
	ampereLoad  = `LD LDG LDL LDS LDSM LDGSTS`
	ampereStore = `ST STG STL STS ATOM ATOMG RED ATOMS`
	voltaBranch = `BMOV BPT BRA BREAK BRX BRXU BSSY BSYNC CALL JMP JMX JMXU NANOSLEEP RET RPCMOV RTT WARPSYNC YIELD`
	voltaTex    = `TEX TLD TLD4 TMML TXD TXQ`
	ampereMMA   = `HMMA IMMA BMMA DMMA KILL`
	ampereUDP   = `R2UR REDUX S2UR UBMSK UBREV UCLEA UF2FP UFLO UIADD3 UIMAD UISETP ULDC ULEA ULOP ULOP3 ULOP32I UMOV UP2UR UPLOP3 UPOPC
		UPRMT UPSETP UR2UP USEL USGXT USHF USHL USHR VOTEU`

	notInTuring = `F2IP I2FP LDGDEPBAR SUQUERY REDUX UF2FP HMNMX2 LDGSTS DMMA`
	notInVolta  = notInTuring + ` MOVM SUATOM SULD SURED SUST SHL LDSM BMMA ` + ampereUDP

	pascalBranch = `BRA BRX JMP JMX SSY SYNC BSSY BSYNC KILL BPT BREAK WARPSYNC YIELD BMOV NANOSLEEP`
	pascalCall   = `CALL CAL JCAL PRET BRK PBK CONT PCNT PEXIT`
	pascalReturn = `RET RTT`
	pascalInt    = `VADD BFE BFI ICMP IMADSP ISET SHL XMAD VMNMX`
	pascalSP     = `RRO FCMP`
	pascalDP     = `DMNMX DSET`
	pascalALU    = voltaTex + ` TEXS TLDS TLD4S TXA RPCMOV CSET CSETP PSET TEXDEPBAR PIXLD AL2P`

	keplerInt    = `ISUB ISAD`
	keplerReturn = `SSY PBK PCNT BRK CONT PRET`
	keplerLoad   = `LDSLK SULDB SULDGA SULD`
	keplerStore  = `STSCUL STSUL SUSTB SUSTGA SUST SURED`

	// Newer than Accel-Sim's maps: classed like the opcodes that they replace.
	laterInt  = `VIADD VIMNMX VIMNMX3 VIADDMNMX IMAD32I`
	laterSP   = `FADD2 FMUL2 FFMA2 FMNMX3 VHMNMX`
	laterUDP  = `UVIMNMX UVIADD UFADD UFMUL UFFMA UFMNMX UFSEL UFSET UFSETP UI2F UI2FP UF2F UF2I UIABS ELECT CREDUX CS2UR LDCU UMOV32I UGETNEXTWORKID USETMAXREG UI2I UFRND UIMNMX UVIMNMX3`
	laterMMA  = `HGMMA IGMMA QGMMA BGMMA QMMA OMMA DGMMA UTCHMMA UTCIMMA UTCQMMA UTCOMMA`
	laterMem  = `STSM STTM REDG REDS STAS`
	laterALU  = `SYNCS UBLKCP UBLKPF UBLKRED UTMALDG UTMASTG UTMAREDG UTMAPF UTMACCTL UTMACMDFLUSH ARRIVES WARPGROUP WARPGROUPDEPBAR ACQBULK PREEXIT CGAERRBAR ENDCOLLECTIVE UTCBAR UTCCP UTCSHIFT UTCATOMSWS UVIRTCOUNT USETSHMSZ`
	laterLoad = `LDTM`
)

type pipeMap map[string]isa.Pipe

func (m pipeMap) put(p isa.Pipe, lists ...string) {
	for _, l := range lists {
		for _, op := range strings.Fields(l) {
			m[op] = p
		}
	}
}

func (m pipeMap) without(list string) {
	for _, op := range strings.Fields(list) {
		delete(m, op)
	}
}

// pipes are the maps by generation.
var pipes = func() (g struct{ kepler, pascal, volta, turing, ampere pipeMap }) {
	base := func() pipeMap {
		m := pipeMap{"MUFU": isa.PipeSFU, "MEMBAR": isa.PipeFence, "BAR": isa.PipeControl, "EXIT": isa.PipeControl}
		m.put(isa.PipeSP, ampereSP)
		m.put(isa.PipeInt, ampereInt)
		m.put(isa.PipeALU, ampereALU)
		m.put(isa.PipeDP, ampereDP)
		m.put(isa.PipeMemory, ampereLoad)
		m.put(isa.PipeMemory, ampereStore)
		m.put(isa.PipeSpec1, voltaBranch)
		m.put(isa.PipeSpec2, voltaTex)
		m.put(isa.PipeSpec3, ampereMMA)
		m.put(isa.PipeSpec4, ampereUDP)
		return m
	}
	g.ampere = base()
	g.ampere.put(isa.PipeInt, laterInt)
	g.ampere.put(isa.PipeSP, laterSP)
	g.ampere.put(isa.PipeSpec4, laterUDP)
	g.ampere.put(isa.PipeSpec3, laterMMA)
	g.ampere.put(isa.PipeMemory, laterMem)
	g.ampere.put(isa.PipeMemory, laterLoad)
	g.ampere.put(isa.PipeALU, laterALU)
	g.ampere.put(isa.PipeFence, "FENCE")

	g.turing = base()
	g.turing.without(notInTuring)

	g.volta = base()
	g.volta.without(notInVolta)
	g.volta.put(isa.PipeInt, "IMMA")
	g.volta.put(isa.PipeSpec1, "KILL")

	g.pascal = base()
	g.pascal.without(notInVolta + " HMMA IMMA KILL " + voltaBranch)
	g.pascal.put(isa.PipeALU, pascalBranch)
	g.pascal.put(isa.PipeALU, pascalCall)
	g.pascal.put(isa.PipeALU, pascalReturn)
	g.pascal.put(isa.PipeInt, pascalInt)
	g.pascal.put(isa.PipeSP, pascalSP)
	g.pascal.put(isa.PipeDP, pascalDP)
	g.pascal.put(isa.PipeALU, pascalALU, "SULD SUST SUATOM SURED")

	g.kepler = pipeMap{}
	for op, p := range g.pascal {
		g.kepler[op] = p
	}
	g.kepler.put(isa.PipeInt, keplerInt)
	g.kepler.put(isa.PipeALU, keplerReturn)
	g.kepler.put(isa.PipeMemory, keplerLoad)
	g.kepler.put(isa.PipeMemory, keplerStore)
	return g
}()

// pipeOf returns the class of an opcode without modifiers for a binary version.
func pipeOf(base string, arch int) isa.Pipe {
	switch {
	case arch >= 80 || arch == 0:
		return pipes.ampere[base]
	case arch >= 75:
		return pipes.turing[base]
	case arch >= 70:
		return pipes.volta[base]
	case arch >= 50:
		return pipes.pascal[base]
	}
	return pipes.kepler[base]
}

// AccelSimWidth returns the bytes per lane that Accel-Sim reads from a mnemonic: the first
// modifier of digits alone, or of U and digits, in bits; otherwise 4. This is wrong for
// signed bytes and for LDSM.
func AccelSimWidth(op string) int {
	_, mods, _ := strings.Cut(op, ".")
	for m := range strings.SplitSeq(mods, ".") {
		digits := strings.TrimPrefix(m, "U")
		if n, ok := number(digits); ok && n >= 8 && n <= 1024 {
			return n / 8
		}
	}
	return 4
}

// AccelSimPastL1 reports whether a load bypasses the L1 in Accel-Sim: only those that are
// strong within the GPU do. It therefore misses .CG and .STRONG.SYS.
func AccelSimPastL1(op string) bool {
	strong, gpu := false, false
	for m := range strings.SplitSeq(op, ".") {
		strong, gpu = strong || m == "STRONG", gpu || m == "GPU"
	}
	return strong && gpu
}

// halved reports whether Accel-Sim halves the interval between two instructions of an
// opcode's class: for packed halves, except HMUL2.
func halved(base string) bool {
	switch base {
	case "HADD2", "HADD2_32I", "HFMA2", "HFMA2_32I", "HMUL2_32I", "HSET2", "HSETP2":
		return true
	}
	return false
}

// number reads a short decimal number.
func number(s string) (int, bool) {
	if s == "" || len(s) > 9 {
		return 0, false
	}
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = 10*n + int(s[i]-'0')
	}
	return n, true
}
