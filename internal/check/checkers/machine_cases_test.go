package checkers_test

// machineCases are the labelled kernels of TestMachineCode. Fences and waits are as NVIDIA's compiler
// writes them: __threadfence() is MEMBAR.SC.GPU, ERRBAR and CCTL.IVALL.
var machineCases = []machineCase{
	{"shared memory without a barrier", 1, 64, `
LOP3.LUT R4, R0, 0x20, RZ, 0x3c, !PT ;
STS [R0.X4], R0 ; // race-shared-interwarp
LDS R6, [R4.X4] ; // race-shared-interwarp`},
	{"shared memory with a barrier", 1, 64, `
LOP3.LUT R4, R0, 0x20, RZ, 0x3c, !PT ;
STS [R0.X4], R0 ;
BAR.SYNC.DEFER_BLOCKING 0x0 ;
LDS R6, [R4.X4] ;
STG.E [R8], R6 ;`},
	{"used again without a barrier", 1, 64, `
LOP3.LUT R4, R0, 0x20, RZ, 0x3c, !PT ;
MOV R5, 0x3 ;
again:
STS [R0.X4], R5 ; // race-shared-interwarp
BAR.SYNC.DEFER_BLOCKING 0x0 ;
LDS R6, [R4.X4] ; // race-shared-interwarp
IADD3 R5, R5, -0x1, RZ ;
ISETP.NE.AND P0, PT, R5, RZ, PT ;
@P0 BRA again ;`},
	{"used again with a barrier", 1, 64, `
LOP3.LUT R4, R0, 0x20, RZ, 0x3c, !PT ;
MOV R5, 0x3 ;
again:
STS [R0.X4], R5 ;
BAR.SYNC.DEFER_BLOCKING 0x0 ;
LDS R6, [R4.X4] ;
BAR.SYNC.DEFER_BLOCKING 0x0 ;
IADD3 R5, R5, -0x1, RZ ;
ISETP.NE.AND P0, PT, R5, RZ, PT ;
@P0 BRA again ;`},
	{"lanes without WARPSYNC", 1, 32, `
LOP3.LUT R4, R0, 0x1f, RZ, 0x3c, !PT ;
STS [R0.X4], R0 ; // race-shared-intrawarp
LDS R6, [R4.X4] ; // race-shared-intrawarp`},
	{"lanes with WARPSYNC", 1, 32, `
LOP3.LUT R4, R0, 0x1f, RZ, 0x3c, !PT ;
STS [R0.X4], R0 ;
WARPSYNC 0xffffffff ;
LDS R6, [R4.X4] ;`},
	{"lanes with what is left of it", 1, 32, `
LOP3.LUT R4, R0, 0x1f, RZ, 0x3c, !PT ;
STS [R0.X4], R0 ;
NOP ;
LDS R6, [R4.X4] ;`},
	{"BSYNC orders nothing", 1, 32, `
LOP3.LUT R4, R0, 0x1f, RZ, 0x3c, !PT ;
ISETP.LT.AND P0, PT, R0, 0x10, PT ;
BSSY B0, join ;
@P0 BRA side ;
STS [R0.X4], R0 ; // race-shared-intrawarp
side:
BSYNC B0 ;
join:
@P0 LDS R6, [R4.X4] ; // race-shared-intrawarp`},
	{"blocks write the same words", 2, 32, `
IMAD.WIDE.U32 R14, R0, R3, c[0x0][0x160] ;
STG.E [R14], R1 ; // race-global-interblock`},
	{"blocks write their own words", 2, 32, `
STG.E [R8], R1 ;`},
	{"a vector over the next block's word", 2, 32, `
ISETP.NE.AND P0, PT, R0, 0x1e, PT ;
IADD3 R14, R8, 0x8, RZ ;
MOV R15, R9 ;
STG.E [R8], R1 ; // race-global-interblock
@!P0 LDG.E.64 R16, [R14] ; // race-global-interblock`},

	// Block 0 stores data and then a flag, for which block 1 waits.
	{"no fence before the flag", 2, 32, `
ISETP.NE.AND P0, PT, R0, RZ, PT ;
@P0 EXIT ;
ISETP.NE.AND P1, PT, R1, RZ, PT ;
@P1 BRA poll ;
STG.E [R10], R0 ; // race-global-interblock
MOV R5, 0x1 ;
STG.E.STRONG.GPU [R12], R5 ;
EXIT ;
poll:
LDG.E.STRONG.GPU R6, [R12] ;
ISETP.EQ.AND P2, PT, R6, RZ, PT ;
@P2 BRA poll ;
CCTL.IVALL ;
LDG.E R7, [R10] ; // race-global-interblock`},
	{"a fence before the flag", 2, 32, `
ISETP.NE.AND P0, PT, R0, RZ, PT ;
@P0 EXIT ;
ISETP.NE.AND P1, PT, R1, RZ, PT ;
@P1 BRA poll ;
STG.E [R10], R0 ;
MOV R5, 0x1 ;
MEMBAR.ALL.GPU ;
STG.E.STRONG.GPU [R12], R5 ;
EXIT ;
poll:
LDG.E.STRONG.GPU R6, [R12] ;
ISETP.EQ.AND P2, PT, R6, RZ, PT ;
@P2 BRA poll ;
CCTL.IVALL ;
LDG.E R7, [R10] ;`},
	{"nothing acquires after the flag", 2, 32, `
ISETP.NE.AND P0, PT, R0, RZ, PT ;
@P0 EXIT ;
ISETP.NE.AND P1, PT, R1, RZ, PT ;
@P1 BRA poll ;
STG.E [R10], R0 ; // race-global-interblock
MOV R5, 0x1 ;
MEMBAR.SC.GPU ;
ERRBAR ;
CCTL.IVALL ;
STG.E.STRONG.GPU [R12], R5 ;
EXIT ;
poll:
LDG.E.STRONG.GPU R6, [R12] ;
ISETP.EQ.AND P2, PT, R6, RZ, PT ;
@P2 BRA poll ;
LDG.E R7, [R10] ; // race-global-interblock`},
	{"a fence on both sides", 2, 32, `
ISETP.NE.AND P0, PT, R0, RZ, PT ;
@P0 EXIT ;
ISETP.NE.AND P1, PT, R1, RZ, PT ;
@P1 BRA poll ;
STG.E [R10], R0 ;
MOV R5, 0x1 ;
MEMBAR.SC.GPU ;
ERRBAR ;
CCTL.IVALL ;
STG.E.STRONG.SYS [R12], R5 ;
EXIT ;
poll:
LDG.E.STRONG.SYS R6, [R12] ;
ISETP.EQ.AND P2, PT, R6, RZ, PT ;
@P2 BRA poll ;
MEMBAR.SC.GPU ;
ERRBAR ;
CCTL.IVALL ;
LDG.E R7, [R10] ;`},
	{"a fence of the block between blocks", 2, 32, `
ISETP.NE.AND P0, PT, R0, RZ, PT ;
@P0 EXIT ;
ISETP.NE.AND P1, PT, R1, RZ, PT ;
@P1 BRA poll ;
STG.E [R10], R0 ; // race-global-interblock
MOV R5, 0x1 ;
MEMBAR.SC.CTA ;
STG.E.STRONG.GPU [R12], R5 ;
EXIT ;
poll:
LDG.E.STRONG.GPU R6, [R12] ;
ISETP.EQ.AND P2, PT, R6, RZ, PT ;
@P2 BRA poll ;
CCTL.IVALL ;
LDG.E R7, [R10] ; // race-global-interblock`},
	{"a fence of the block within it", 1, 64, `
LOP3.LUT P0, RZ, R0, 0x1f, RZ, 0xc0, !PT ;
@P0 EXIT ;
ISETP.NE.AND P1, PT, R0, RZ, PT ;
@P1 BRA poll ;
STG.E [R10], R0 ;
MOV R5, 0x1 ;
MEMBAR.SC.CTA ;
STG.E.STRONG.SM [R12], R5 ;
EXIT ;
poll:
LDG.E.STRONG.SM R6, [R12] ;
ISETP.EQ.AND P2, PT, R6, RZ, PT ;
@P2 BRA poll ;
LDG.E R7, [R10] ;`},
	{"an atomic of the block between blocks", 2, 32, `
MOV R5, 0x1 ;
RED.E.ADD.STRONG.SM [R12], R5 ; // race-global-interblock`},
	{"an atomic of the GPU between blocks", 2, 32, `
MOV R5, 0x1 ;
RED.E.ADD.STRONG.GPU [R12], R5 ;`},
	{"a plain read beside an atomic", 2, 1, `
MOV R5, 0x1 ;
ISETP.NE.AND P0, PT, R1, RZ, PT ;
@P0 RED.E.ADD.STRONG.GPU [R12], R5 ; // race-global-interblock
@!P0 LDG.E R6, [R12] ; // race-global-interblock`},
	{"a strong read beside an atomic", 2, 1, `
MOV R5, 0x1 ;
ISETP.NE.AND P0, PT, R1, RZ, PT ;
@P0 RED.E.ADD.STRONG.GPU [R12], R5 ;
@!P0 LDG.E.STRONG.GPU R6, [R12] ;`},
	{"a lock without fences", 2, 32, `
ISETP.NE.AND P0, PT, R0, RZ, PT ;
@P0 EXIT ;
MOV R4, RZ ;
MOV R5, 0x1 ;
take:
ATOMG.E.CAS.STRONG.GPU PT, R6, [R12], R4, R5 ;
ISETP.NE.AND P1, PT, R6, RZ, PT ;
@P1 BRA take ;
LDG.E R7, [R10] ; // race-global-interblock
IADD3 R7, R7, 0x1, RZ ;
STG.E [R10], R7 ; // race-global-interblock
ATOMG.E.EXCH.STRONG.GPU PT, R6, [R12], RZ ;`},
	{"a lock with fences", 2, 32, `
ISETP.NE.AND P0, PT, R0, RZ, PT ;
@P0 EXIT ;
MOV R4, RZ ;
MOV R5, 0x1 ;
take:
ATOMG.E.CAS.STRONG.GPU PT, R6, [R12], R4, R5 ;
ISETP.NE.AND P1, PT, R6, RZ, PT ;
@P1 BRA take ;
CCTL.IVALL ;
LDG.E R7, [R10] ;
IADD3 R7, R7, 0x1, RZ ;
STG.E [R10], R7 ;
MEMBAR.SC.GPU ;
ERRBAR ;
ATOMG.E.EXCH.STRONG.GPU PT, R6, [R12], RZ ;`},

	{"a copy is not waited for", 1, 32, `
SHF.L.U32 R4, R0, 0x2, RZ ;
LDGSTS.E [R4], [R8.64] ; // race-shared-intrawarp
LDGDEPBAR ;
LDS R6, [R4] ; // race-shared-intrawarp`},
	{"a copy is waited for", 1, 32, `
SHF.L.U32 R4, R0, 0x2, RZ ;
LDGSTS.E [R4], [R8.64] ;
LDGDEPBAR ;
DEPBAR.LE SB0, 0x0 ;
LDS R6, [R4] ;`},
	{"one group too few is waited for", 1, 32, `
SHF.L.U32 R4, R0, 0x2, RZ ;
LDGSTS.E [R4], [R8.64] ;
LDGDEPBAR ;
LDGSTS.E [R4+0x100], [R8.64] ; // race-shared-intrawarp
LDGDEPBAR ;
DEPBAR.LE SB0, 0x1 ;
LDS R6, [R4+0x100] ; // race-shared-intrawarp`},
	{"the older group is waited for", 1, 32, `
SHF.L.U32 R4, R0, 0x2, RZ ;
LDGSTS.E [R4], [R8.64] ;
LDGDEPBAR ;
LDGSTS.E [R4+0x100], [R8.64] ;
LDGDEPBAR ;
DEPBAR.LE SB0, 0x1 ;
LDS R6, [R4] ;
DEPBAR.LE SB0, 0x0 ;`},
	{"others read a copy without a barrier", 1, 64, `
SHF.L.U32 R4, R0, 0x2, RZ ;
LOP3.LUT R5, R4, 0x80, RZ, 0x3c, !PT ;
LDGSTS.E [R4], [R8.64] ; // race-shared-interwarp
LDGDEPBAR ;
DEPBAR.LE SB0, 0x0 ;
LDS R6, [R5] ; // race-shared-interwarp`},
	{"others read a copy after a barrier", 1, 64, `
SHF.L.U32 R4, R0, 0x2, RZ ;
LOP3.LUT R5, R4, 0x80, RZ, 0x3c, !PT ;
LDGSTS.E [R4], [R8.64] ;
LDGDEPBAR ;
DEPBAR.LE SB0, 0x0 ;
BAR.SYNC.DEFER_BLOCKING 0x0 ;
LDS R6, [R5] ;`},

	// Warp 0 makes, warp 1 uses.
	{"the other barrier", 1, 64, `
ISETP.GE.AND P0, PT, R0, 0x20, PT ;
LOP3.LUT R4, R0, 0x20, RZ, 0x3c, !PT ;
@P0 BRA uses ;
BAR.ARV 0x1, 0x40 ;
STS [R0.X4], R0 ; // race-shared-interwarp
BAR.ARV 0x2, 0x40 ;
EXIT ;
uses:
BAR.SYNC 0x1, 0x40 ;
LDS R6, [R4.X4] ; // race-shared-interwarp
BAR.SYNC 0x2, 0x40 ;`},
	{"the barrier of those who arrive", 1, 64, `
ISETP.GE.AND P0, PT, R0, 0x20, PT ;
LOP3.LUT R4, R0, 0x20, RZ, 0x3c, !PT ;
@P0 BRA uses ;
STS [R0.X4], R0 ;
BAR.ARV 0x1, 0x40 ;
EXIT ;
uses:
BAR.SYNC 0x1, 0x40 ;
LDS R6, [R4.X4] ;`},

	{"half of the block at a barrier", 1, 64, `
ISETP.GE.AND P0, PT, R0, 0x20, PT ;
@P0 BRA other ;
BAR.SYNC 0x0 ; // barrier-divergence
EXIT ;
other:
BAR.SYNC 0x1 ; // barrier-divergence`},
	{"all of the block at a barrier", 1, 64, `
BAR.SYNC 0x0 ;
BAR.SYNC 0x1 ;`},
	{"two barriers within a warp", 1, 32, `
ISETP.GE.AND P0, PT, R0, 0x10, PT ;
@P0 BRA other ;
BAR.SYNC 0x0 ; // barrier-divergence
EXIT ;
other:
BAR.SYNC 0x0 ; // barrier-divergence`},
	{"one barrier after both sides", 1, 32, `
ISETP.GE.AND P0, PT, R0, 0x10, PT ;
BSSY B0, join ;
@P0 BRA other ;
MOV R5, R0 ;
other:
BSYNC B0 ;
join:
WARPSYNC 0xffffffff ;
BAR.SYNC 0x0 ;`},
	{"a mask without its thread", 1, 32, `
MOV R4, 0xffff ;
WARPSYNC R4 ; // sync-mask`},
	{"a mask with its threads", 1, 32, `
MOV R4, 0xffff ;
ISETP.GE.AND P0, PT, R0, 0x10, PT ;
@P0 MOV R4, 0xffff0000 ;
WARPSYNC R4 ;`},
	{"lanes of the mask never come", 1, 64, `
LOP3.LUT R4, R0, 0x1f, RZ, 0xc0, !PT ;
ISETP.GE.AND P0, PT, R4, 0x10, PT ;
@P0 BRA other ;
WARPSYNC 0xffffffff ; // sync-mask
other:
BAR.SYNC 0x0 ; // barrier-divergence`},
	{"lanes of the mask come from both sides", 1, 64, `
LOP3.LUT R4, R0, 0x1f, RZ, 0xc0, !PT ;
ISETP.GE.AND P0, PT, R4, 0x10, PT ;
@P0 BRA other ;
MOV R5, R0 ;
other:
WARPSYNC 0xffffffff ;
BAR.SYNC 0x0 ;`},
	{"a flag that nobody sets", 2, 32, `
poll:
LDG.E.STRONG.GPU R6, [R12] ; // endless-wait
ISETP.EQ.AND P2, PT, R6, RZ, PT ;
@P2 BRA poll ;`},
	{"a shuffle from lanes that are elsewhere", 1, 32, `
ISETP.GE.AND P0, PT, R0, 0x10, PT ;
@P0 EXIT ;
ISETP.GE.AND P0, PT, R0, 0x8, PT ;
@!P0 SHFL.BFLY PT, R5, R0, 0x8, 0x1f ; // sync-mask`},
	{"a shuffle among those who are here", 1, 32, `
ISETP.GE.AND P0, PT, R0, 0x8, PT ;
@!P0 SHFL.BFLY PT, R5, R0, 0x4, 0x1f ;`},

	{"unset global memory is stored", 1, 32, `
LDG.E R16, [R14] ; // uninit-global
IADD3 R17, R16, R0, RZ ;
STG.E [R8], R17 ; // uninit-global`},
	{"set global memory is stored", 1, 32, `
LDG.E R16, [R8] ;
IADD3 R17, R16, R0, RZ ;
STG.E [R8], R17 ;`},
	{"unset global memory is not looked at", 1, 32, `
LDG.E R16, [R14] ;
IADD3 R17, R16, R0, RZ ;
STG.E [R14], R17 ;`},
	{"an unset address", 1, 32, `
LDG.E R16, [R14] ; // uninit-global
LOP3.LUT R16, R16, 0x7f, RZ, 0xc0, !PT ;
LDS R17, [R16.X4] ; // uninit-global`},
	{"an unset vector", 1, 32, `
LDS.128 R20, [RZ] ; // uninit-shared
STG.E [R8], R23 ; // uninit-shared`},
	{"a vector of which the set half is used", 1, 32, `
SHF.L.U32 R4, R0, 0x4, RZ ;
STS.64 [R4], R8 ;
LDS.128 R20, [R4] ;
STG.E [R8], R20 ;`},
	{"shared memory before it is written", 1, 32, `
LDS R16, [R0.X4] ; // uninit-shared
ISETP.NE.AND P0, PT, R16, RZ, PT ;
@P0 BRA end ; // uninit-shared
end:
STS [R0.X4], R0 ;`},
	{"shared memory after it was written", 1, 32, `
STS [R0.X4], R0 ;
LDS R16, [R0.X4] ;
ISETP.NE.AND P0, PT, R16, RZ, PT ;
@P0 BRA end ;
end:`},
	{"rows that are not used", 1, 32, `
ISETP.LT.AND P0, PT, R0, 0x10, PT ;
@P0 STS [R0.X4], R0 ;
LDS R16, [R0.X4] ;
@P0 STG.E [R8], R16 ;`},
	{"rows of which one too many is used", 1, 32, `
ISETP.LT.AND P0, PT, R0, 0x10, PT ;
@P0 STS [R0.X4], R0 ;
LDS R16, [R0.X4] ; // uninit-shared
ISETP.LE.AND P0, PT, R0, 0x10, PT ;
@P0 STG.E [R8], R16 ; // uninit-shared`},
	{"a local variable without a value", 1, 32, `
LDL R16, [0x8] ; // uninit-local
STG.E [R8], R16 ; // uninit-local`},
	{"a local variable with a value", 1, 32, `
STL [0x8], R0 ;
LDL R16, [0x8] ;
STG.E [R8], R16 ;`},
	{"a register without a value", 1, 32, `
ISETP.LT.AND P0, PT, R0, 0x10, PT ;
@P0 MOV R16, 0x1 ;
STG.E [R8], R16 ; // uninit-register`},
	{"a register with a value on both sides", 1, 32, `
ISETP.LT.AND P0, PT, R0, 0x10, PT ;
@P0 MOV R16, 0x1 ;
@!P0 MOV R16, 0x2 ;
STG.E [R8], R16 ;`},
	{"a predicate without a value", 1, 32, `
@P3 BRA end ; // uninit-register
STS [R0.X4], R0 ;
end:`},
	{"a predicate with a value", 1, 32, `
ISETP.LT.AND P3, PT, R0, 0x10, PT ;
@P3 BRA end ;
STS [R0.X4], R0 ;
end:`},
	{"an access that an unset predicate decides", 1, 32, `
@P3 STS [R0.X4], R0 ; // uninit-register`},
	{"a uniform register without a value", 1, 32, `
UIADD3 UR5, UR4, 0x4, URZ ; // uninit-register
LDS R16, [UR5] ; // uninit-register`},
	{"a uniform register with a value", 1, 32, `
STS [0x8], R0 ; // race-shared-intrawarp
UMOV UR4, 0x4 ;
UIADD3 UR5, UR4, 0x4, URZ ;
LDS R16, [UR5] ; // race-shared-intrawarp
STG.E [R8], R16 ;`},
	{"an unset value of another lane", 1, 32, `
ISETP.NE.AND P0, PT, R0, 0x3, PT ;
@P0 MOV R16, R0 ;
SHFL.IDX PT, R17, R16, 0x3, 0x1f ; // uninit-register
STG.E [R8], R17 ; // uninit-register`},
	{"a set value of another lane", 1, 32, `
ISETP.EQ.AND P0, PT, R0, 0x3, PT ;
@P0 MOV R16, R0 ;
SHFL.IDX PT, R17, R16, 0x3, 0x1f ;
STG.E [R8], R17 ;`},
	{"the unset one of two is chosen", 1, 32, `
ISETP.NE.AND P0, PT, R0, 0x3, PT ;
SEL R17, R0, R16, P0 ; // uninit-register
STG.E [R8], R17 ; // uninit-register`},
	{"the set one of two is chosen", 1, 32, `
ISETP.NE.AND P0, PT, R0, 0x40, PT ;
SEL R17, R16, R0, !P0 ;
STG.E [R8], R17 ;`},
	{"a copy of unset memory", 1, 32, `
SHF.L.U32 R4, R0, 0x2, RZ ;
LDGSTS.E [R4], [R14.64] ;
LDGDEPBAR ;
DEPBAR.LE SB0, 0x0 ;
LDS R16, [R4] ; // uninit-shared
STG.E [R8], R16 ; // uninit-shared`},
	{"a copy of set memory", 1, 32, `
SHF.L.U32 R4, R0, 0x2, RZ ;
LDGSTS.E [R4], [R8.64] ;
LDGDEPBAR ;
DEPBAR.LE SB0, 0x0 ;
LDS R16, [R4] ;
STG.E [R8], R16 ;`},
	{"an atomic on unset memory", 1, 32, `
MOV R5, 0x1 ;
RED.E.ADD.STRONG.GPU [R14], R5 ; // uninit-global`},
	{"an atomic on set memory", 1, 32, `
MOV R5, 0x1 ;
RED.E.ADD.STRONG.GPU [R8], R5 ;`},
	{"a vote about an unset value", 1, 32, `
LDS R16, [R0.X4] ; // uninit-shared
ISETP.NE.AND P0, PT, R16, RZ, PT ;
VOTE.ANY P1, P0 ; // uninit-shared`},
	{"a row of a product", 1, 32, `
SHF.L.U32 R4, R0, 0x4, RZ ;
ISETP.LT.AND P0, PT, R0, 0x8, PT ;
@P0 STS.128 [R4], R8 ;
WARPSYNC 0xffffffff ;
LDSM.16.M88.2 R16, [R4] ; // uninit-shared
MOV R18, RZ ;
HMMA.1688.F32 R20, R16, R18, RZ ;
STG.E [R8], R20 ;
STG.E [R8], R22 ; // uninit-shared`},
	{"all rows of a product", 1, 32, `
SHF.L.U32 R4, R0, 0x4, RZ ;
ISETP.LT.AND P0, PT, R0, 0x10, PT ;
@P0 STS.128 [R4], R8 ;
WARPSYNC 0xffffffff ;
LDSM.16.M88.2 R16, [R4] ;
MOV R18, RZ ;
HMMA.1688.F32 R20, R16, R18, RZ ;
STG.E [R8], R20 ;
STG.E [R8], R22 ;`},
}
