package sass

// Op is an opcode: the mnemonic without its modifiers.
type Op uint16

// The opcodes that the tables name.
const (
	NoOp Op = iota
	OpACQBULK
	OpARRIVES
	OpATOM
	OpATOMG
	OpATOMS
	OpB2R
	OpBAR
	OpBGMMA
	OpBMMA
	OpBMOV
	OpBMSK
	OpBPT
	OpBRA
	OpBREAK
	OpBREV
	OpBRX
	OpBRXU
	OpBSSY
	OpBSYNC
	OpCALL
	OpCCTL
	OpCGAERRBAR
	OpCREDUX
	OpCS2R
	OpCS2UR
	OpDADD
	OpDEPBAR
	OpDFMA
	OpDMMA
	OpDMUL
	OpDSETP
	OpELECT
	OpENDCOLLECTIVE
	OpERRBAR
	OpEXIT
	OpF2F
	OpF2FP
	OpF2I
	OpF2IP
	OpFADD
	OpFADD2
	OpFCHK
	OpFENCE
	OpFFMA
	OpFFMA2
	OpFLO
	OpFMNMX
	OpFMNMX3
	OpFMUL
	OpFRND
	OpFSEL
	OpFSET
	OpFSETP
	OpFSWZADD
	OpHADD2
	OpHFMA2
	OpHGMMA
	OpHMMA
	OpHMNMX2
	OpHMUL2
	OpHSET2
	OpHSETP2
	OpI2F
	OpI2FP
	OpI2I
	OpI2IP
	OpIABS
	OpIADD
	OpIADD3
	OpIDP
	OpIGMMA
	OpIMAD
	OpIMMA
	OpIMNMX
	OpISETP
	OpJMP
	OpJMX
	OpKILL
	OpLD
	OpLDC
	OpLDCU
	OpLDG
	OpLDGDEPBAR
	OpLDGSTS
	OpLDL
	OpLDS
	OpLDSM
	OpLDTM
	OpLEA
	OpLEPC
	OpLOP3
	OpMATCH
	OpMEMBAR
	OpMOV
	OpMOVM
	OpMUFU
	OpNANOSLEEP
	OpNOP
	OpOMMA
	OpP2R
	OpPLOP3
	OpPMTRIG
	OpPOPC
	OpPREEXIT
	OpPRMT
	OpPSETP
	OpQGMMA
	OpQMMA
	OpQSPC
	OpR2B
	OpR2P
	OpR2UR
	OpRED
	OpREDAS
	OpREDG
	OpREDUX
	OpRET
	OpRPCMOV
	OpS2R
	OpS2UR
	OpSEL
	OpSGXT
	OpSHF
	OpSHFL
	OpST
	OpSTAS
	OpSTG
	OpSTL
	OpSTS
	OpSTSM
	OpSTTM
	OpSULD
	OpSUST
	OpSYNCS
	OpTEX
	OpTLD
	OpTLD4
	OpTXD
	OpTXQ
	OpUBLKCP
	OpUBLKPF
	OpUBLKRED
	OpUBMSK
	OpUBREV
	OpUCGABAR_ARV
	OpUCGABAR_WAIT
	OpUF2F
	OpUF2I
	OpUFADD
	OpUFFMA
	OpUFLO
	OpUFMUL
	OpUFRND
	OpUFSEL
	OpUFSETP
	OpUI2F
	OpUI2FP
	OpUIADD3
	OpUIMAD
	OpUIMNMX
	OpUISETP
	OpULDC
	OpULEA
	OpULOP3
	OpUMOV
	OpUP2UR
	OpUPLOP3
	OpUPOPC
	OpUPRMT
	OpUR2UP
	OpUSEL
	OpUSETMAXREG
	OpUSETSHMSZ
	OpUSGXT
	OpUSHF
	OpUTCATOMSWS
	OpUTCBAR
	OpUTCHMMA
	OpUTCIMMA
	OpUTCOMMA
	OpUTCQMMA
	OpUTCSHIFT
	OpUTMACCTL
	OpUTMACMDFLUSH
	OpUTMALDG
	OpUTMAPF
	OpUTMAREDG
	OpUTMASTG
	OpUVIMNMX
	OpUVIRTCOUNT
	OpVABSDIFF
	OpVABSDIFF4
	OpVIADD
	OpVIADDMNMX
	OpVIMNMX
	OpVIMNMX3
	OpVOTE
	OpVOTEU
	OpWARPGROUP
	OpWARPSYNC
	OpYIELD
	Ops // number of opcodes
)

var opNames = [Ops]string{
	NoOp:            "none",
	OpACQBULK:       "ACQBULK",
	OpARRIVES:       "ARRIVES",
	OpATOM:          "ATOM",
	OpATOMG:         "ATOMG",
	OpATOMS:         "ATOMS",
	OpB2R:           "B2R",
	OpBAR:           "BAR",
	OpBGMMA:         "BGMMA",
	OpBMMA:          "BMMA",
	OpBMOV:          "BMOV",
	OpBMSK:          "BMSK",
	OpBPT:           "BPT",
	OpBRA:           "BRA",
	OpBREAK:         "BREAK",
	OpBREV:          "BREV",
	OpBRX:           "BRX",
	OpBRXU:          "BRXU",
	OpBSSY:          "BSSY",
	OpBSYNC:         "BSYNC",
	OpCALL:          "CALL",
	OpCCTL:          "CCTL",
	OpCGAERRBAR:     "CGAERRBAR",
	OpCREDUX:        "CREDUX",
	OpCS2R:          "CS2R",
	OpCS2UR:         "CS2UR",
	OpDADD:          "DADD",
	OpDEPBAR:        "DEPBAR",
	OpDFMA:          "DFMA",
	OpDMMA:          "DMMA",
	OpDMUL:          "DMUL",
	OpDSETP:         "DSETP",
	OpELECT:         "ELECT",
	OpENDCOLLECTIVE: "ENDCOLLECTIVE",
	OpERRBAR:        "ERRBAR",
	OpEXIT:          "EXIT",
	OpF2F:           "F2F",
	OpF2FP:          "F2FP",
	OpF2I:           "F2I",
	OpF2IP:          "F2IP",
	OpFADD:          "FADD",
	OpFADD2:         "FADD2",
	OpFCHK:          "FCHK",
	OpFENCE:         "FENCE",
	OpFFMA:          "FFMA",
	OpFFMA2:         "FFMA2",
	OpFLO:           "FLO",
	OpFMNMX:         "FMNMX",
	OpFMNMX3:        "FMNMX3",
	OpFMUL:          "FMUL",
	OpFRND:          "FRND",
	OpFSEL:          "FSEL",
	OpFSET:          "FSET",
	OpFSETP:         "FSETP",
	OpFSWZADD:       "FSWZADD",
	OpHADD2:         "HADD2",
	OpHFMA2:         "HFMA2",
	OpHGMMA:         "HGMMA",
	OpHMMA:          "HMMA",
	OpHMNMX2:        "HMNMX2",
	OpHMUL2:         "HMUL2",
	OpHSET2:         "HSET2",
	OpHSETP2:        "HSETP2",
	OpI2F:           "I2F",
	OpI2FP:          "I2FP",
	OpI2I:           "I2I",
	OpI2IP:          "I2IP",
	OpIABS:          "IABS",
	OpIADD:          "IADD",
	OpIADD3:         "IADD3",
	OpIDP:           "IDP",
	OpIGMMA:         "IGMMA",
	OpIMAD:          "IMAD",
	OpIMMA:          "IMMA",
	OpIMNMX:         "IMNMX",
	OpISETP:         "ISETP",
	OpJMP:           "JMP",
	OpJMX:           "JMX",
	OpKILL:          "KILL",
	OpLD:            "LD",
	OpLDC:           "LDC",
	OpLDCU:          "LDCU",
	OpLDG:           "LDG",
	OpLDGDEPBAR:     "LDGDEPBAR",
	OpLDGSTS:        "LDGSTS",
	OpLDL:           "LDL",
	OpLDS:           "LDS",
	OpLDSM:          "LDSM",
	OpLDTM:          "LDTM",
	OpLEA:           "LEA",
	OpLEPC:          "LEPC",
	OpLOP3:          "LOP3",
	OpMATCH:         "MATCH",
	OpMEMBAR:        "MEMBAR",
	OpMOV:           "MOV",
	OpMOVM:          "MOVM",
	OpMUFU:          "MUFU",
	OpNANOSLEEP:     "NANOSLEEP",
	OpNOP:           "NOP",
	OpOMMA:          "OMMA",
	OpP2R:           "P2R",
	OpPLOP3:         "PLOP3",
	OpPMTRIG:        "PMTRIG",
	OpPOPC:          "POPC",
	OpPREEXIT:       "PREEXIT",
	OpPRMT:          "PRMT",
	OpPSETP:         "PSETP",
	OpQGMMA:         "QGMMA",
	OpQMMA:          "QMMA",
	OpQSPC:          "QSPC",
	OpR2B:           "R2B",
	OpR2P:           "R2P",
	OpR2UR:          "R2UR",
	OpRED:           "RED",
	OpREDAS:         "REDAS",
	OpREDG:          "REDG",
	OpREDUX:         "REDUX",
	OpRET:           "RET",
	OpRPCMOV:        "RPCMOV",
	OpS2R:           "S2R",
	OpS2UR:          "S2UR",
	OpSEL:           "SEL",
	OpSGXT:          "SGXT",
	OpSHF:           "SHF",
	OpSHFL:          "SHFL",
	OpST:            "ST",
	OpSTAS:          "STAS",
	OpSTG:           "STG",
	OpSTL:           "STL",
	OpSTS:           "STS",
	OpSTSM:          "STSM",
	OpSTTM:          "STTM",
	OpSULD:          "SULD",
	OpSUST:          "SUST",
	OpSYNCS:         "SYNCS",
	OpTEX:           "TEX",
	OpTLD:           "TLD",
	OpTLD4:          "TLD4",
	OpTXD:           "TXD",
	OpTXQ:           "TXQ",
	OpUBLKCP:        "UBLKCP",
	OpUBLKPF:        "UBLKPF",
	OpUBLKRED:       "UBLKRED",
	OpUBMSK:         "UBMSK",
	OpUBREV:         "UBREV",
	OpUCGABAR_ARV:   "UCGABAR_ARV",
	OpUCGABAR_WAIT:  "UCGABAR_WAIT",
	OpUF2F:          "UF2F",
	OpUF2I:          "UF2I",
	OpUFADD:         "UFADD",
	OpUFFMA:         "UFFMA",
	OpUFLO:          "UFLO",
	OpUFMUL:         "UFMUL",
	OpUFRND:         "UFRND",
	OpUFSEL:         "UFSEL",
	OpUFSETP:        "UFSETP",
	OpUI2F:          "UI2F",
	OpUI2FP:         "UI2FP",
	OpUIADD3:        "UIADD3",
	OpUIMAD:         "UIMAD",
	OpUIMNMX:        "UIMNMX",
	OpUISETP:        "UISETP",
	OpULDC:          "ULDC",
	OpULEA:          "ULEA",
	OpULOP3:         "ULOP3",
	OpUMOV:          "UMOV",
	OpUP2UR:         "UP2UR",
	OpUPLOP3:        "UPLOP3",
	OpUPOPC:         "UPOPC",
	OpUPRMT:         "UPRMT",
	OpUR2UP:         "UR2UP",
	OpUSEL:          "USEL",
	OpUSETMAXREG:    "USETMAXREG",
	OpUSETSHMSZ:     "USETSHMSZ",
	OpUSGXT:         "USGXT",
	OpUSHF:          "USHF",
	OpUTCATOMSWS:    "UTCATOMSWS",
	OpUTCBAR:        "UTCBAR",
	OpUTCHMMA:       "UTCHMMA",
	OpUTCIMMA:       "UTCIMMA",
	OpUTCOMMA:       "UTCOMMA",
	OpUTCQMMA:       "UTCQMMA",
	OpUTCSHIFT:      "UTCSHIFT",
	OpUTMACCTL:      "UTMACCTL",
	OpUTMACMDFLUSH:  "UTMACMDFLUSH",
	OpUTMALDG:       "UTMALDG",
	OpUTMAPF:        "UTMAPF",
	OpUTMAREDG:      "UTMAREDG",
	OpUTMASTG:       "UTMASTG",
	OpUVIMNMX:       "UVIMNMX",
	OpUVIRTCOUNT:    "UVIRTCOUNT",
	OpVABSDIFF:      "VABSDIFF",
	OpVABSDIFF4:     "VABSDIFF4",
	OpVIADD:         "VIADD",
	OpVIADDMNMX:     "VIADDMNMX",
	OpVIMNMX:        "VIMNMX",
	OpVIMNMX3:       "VIMNMX3",
	OpVOTE:          "VOTE",
	OpVOTEU:         "VOTEU",
	OpWARPGROUP:     "WARPGROUP",
	OpWARPSYNC:      "WARPSYNC",
	OpYIELD:         "YIELD",
}

func (o Op) String() string { return opNames[o] }

var opsByName = func() map[string]Op {
	m := make(map[string]Op, Ops)
	for o := NoOp + 1; o < Ops; o++ {
		m[opNames[o]] = o
	}
	return m
}()
