package machine

import "strings"

// This file: the class of each mnemonic.

// classes are the classes by the mnemonic without modifiers; what is missing is ALU's.
var classes = func() map[string]Class {
	m := map[string]Class{}
	for c, list := range map[Class]string{
		FMA:         "FFMA FADD FMUL FSWZADD IMAD IDP",
		Half:        "HADD2 HMUL2 HFMA2 HSET2 HSETP2 HMNMX2",
		Vote:        "VOTE",
		Disp:        "CS2R NOP LEPC",
		UniformMove: "ULDC UMOV VOTEU",
		Matrix:      "HMMA IMMA BMMA QMMA",
		SFU:         "MUFU F2I I2F F2F FRND FCHK POPC FLO BREV",
		Double:      "DADD DMUL DFMA DSETP DMMA",
		Special:     "S2R S2UR B2R R2UR REDUX",
		Constant:    "LDC",
		Memory:      "LD LDG LDL LDS LDSM MOVM ST STG STL STS ATOM ATOMG ATOMS RED SHFL MATCH LDGSTS CCTL QSPC TEX TLD TLD4 TXD SULD SUST",
		Control:     "BRA EXIT BSSY BSYNC BREAK BAR WARPSYNC MEMBAR ERRBAR NANOSLEEP BPT DEPBAR LDGDEPBAR CALL ROUTINE RET ENTER LEAVE YIELD BMOV",
	} {
		for _, op := range strings.Fields(list) {
			m[op] = c
		}
	}
	return m
}()

// ClassOf returns the class of a mnemonic with its modifiers.
func ClassOf(name string) Class {
	base, rest, _ := strings.Cut(name, ".")
	c := classes[base]
	if c == FMA && base == "IMAD" && (strings.HasPrefix(rest, "WIDE") || strings.HasPrefix(rest, "HI")) {
		return Wide
	}
	return c
}

// ReaderOf returns how an instruction of a class reads its registers, or with pred its predicates that are operands.
func ReaderOf(c Class, name string, pred bool) Reader {
	switch c {
	case ALU:
		return ByALU
	case FMA:
		return ByFMA
	case Wide:
		return ByWide
	case Half:
		return ByHalf
	case Matrix:
		return ByMatrix
	case Double:
		return ByDouble
	case Vote, Control, Disp:
		if pred {
			return ByGuard
		}
		return ByQueue
	case Memory:
		if strings.HasPrefix(name, "MATCH.") {
			return ByQueue
		}
		return ByAddress
	}
	return ByQueue
}
