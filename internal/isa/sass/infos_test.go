package sass

import (
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/isa"
)

// regText writes registers as a reader of SASS would: R4:2 for R4 and R5.
func regText(list []isa.Reg) string {
	var out []string
	for _, r := range list {
		name := map[isa.RegFile]string{isa.RegGPR: "R", isa.RegPred: "P", isa.RegUGPR: "UR", isa.RegUPred: "UP"}[r.File]
		s := fmt.Sprintf("%s%d", name, r.Index)
		if r.Count != 1 {
			s += fmt.Sprintf(":%d", r.Count)
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

// TestInfos compares what models see with what the instruction set says: results, sources with
// the guard last, class.
func TestInfos(t *testing.T) {
	for _, test := range []struct {
		text       string
		dsts, srcs string
		class      isa.Class
	}{
		{"FFMA R5, R1, R2, R3", "R5", "R1 R2 R3", isa.ClassFP32},
		{"@!P2 FADD R5, -R1, RZ", "R5", "R1 P2", isa.ClassFP32},
		{"IADD3 R8, P0, P1, R2, R3, R4", "R8 P0 P1", "R2 R3 R4", isa.ClassInt},
		{"IADD3.X R8, R2, R3, R4, P0, !PT", "R8", "R2 R3 R4 P0", isa.ClassInt},
		{"IMAD.WIDE R8, R2, 0x4, R4", "R8:2", "R2 R4:2", isa.ClassIMAD},
		{"IMAD.HI.U32 R5, R5, R7, R4", "R5", "R5 R7 R4:2", isa.ClassIMAD},
		{"IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28]", "R1", "", isa.ClassIMAD},
		{"MOV R2, UR4", "R2", "UR4", isa.ClassInt},
		{"ISETP.GE.AND P0, PT, R2, c[0x0][0x168], P1", "P0", "R2 P1", isa.ClassSetp},
		{"SEL R1, R2, R3, !P4", "R1", "R2 R3 P4", isa.ClassInt},
		{"LOP3.LUT P0, RZ, R2, 0x1, RZ, 0xc0, !PT", "P0", "R2", isa.ClassInt},
		{"P2R R3, PR, RZ, 0x5", "R3", "P0 P2", isa.ClassInt},
		{"R2P PR, R4, 0x6", "P1 P2", "R4", isa.ClassPred},
		{"DADD R4, R6, -R8", "R4:2", "R6:2 R8:2", isa.ClassFP64},
		{"DSETP.GT.AND P0, PT, R4, R6, PT", "P0", "R4:2 R6:2", isa.ClassFP64},
		{"F2F.F64.F32 R4, R6", "R4:2", "R6", isa.ClassFP64},
		{"F2F.F16.F32 R4, R6", "R4", "R6", isa.ClassSFU},
		{"F2I.S64.F64 R4, R6", "R4:2", "R6:2", isa.ClassSFU},
		{"F2I.FTZ.U32.TRUNC.NTZ R4, R6", "R4", "R6", isa.ClassSFU},
		{"I2F.F64.U64 R4, R6", "R4:2", "R6:2", isa.ClassSFU},
		{"I2F R4, R6", "R4", "R6", isa.ClassSFU},
		{"MUFU.RCP R4, R6", "R4", "R6", isa.ClassSFU},
		{"POPC R4, R6", "R4", "R6", isa.ClassIntSlow},
		{"F2FP.PACK_AB R4, R6, R7", "R4", "R6 R7", isa.ClassInt},
		{"HFMA2 R4, R5.H0_H0, R6, R7", "R4", "R5 R6 R7", isa.ClassHalf},
		{"LDG.E.64 R8, [R2.64+0x10]", "R8:2", "R2:2", isa.ClassLoad},
		{"LDG.E.128 R8, [R2]", "R8:4", "R2:2", isa.ClassLoad},
		{"LDG.E R8, desc[UR4][R2.64]", "R8", "R2:2 UR4:2", isa.ClassLoad},
		{"LDG.E R8, [R2.U32+UR4]", "R8", "R2 UR4:2", isa.ClassLoad},
		{"@P0 LDG.E R8, [UR4+0x20]", "R8", "UR4:2 P0", isa.ClassLoad},
		{"LDG.U8 R8, [R2]", "R8", "R2", isa.ClassLoad},
		{"STG.E.128 [R2], R8", "", "R2:2 R8:4", isa.ClassStore},
		{"LDS.64 R8, [R2.X4+0x10]", "R8:2", "R2", isa.ClassLoad},
		{"LDS R8, [UR4]", "R8", "UR4", isa.ClassLoad},
		{"STS.128 [R3], R8", "", "R3 R8:4", isa.ClassStore},
		{"LDSM.16.M88.4 R8, [R2]", "R8:4", "R2", isa.ClassLoad},
		{"LDC.64 R8, c[0x3][R2+0x10]", "R8:2", "R2", isa.ClassConstant},
		{"ULDC.64 UR4, c[0x0][0x118]", "UR4:2", "", isa.ClassUniformMove},
		{"LDGSTS.E.128 [R1], [R2.64]", "", "R1 R2:2", isa.ClassCopy},
		{"ATOMG.E.ADD.64.STRONG.GPU PT, R8, [R2], R4", "R8:2", "R2:2 R4:2", isa.ClassAtomic},
		{"ATOMG.E.CAS.STRONG.GPU PT, R8, [R2], R4, R5", "R8", "R2:2 R4 R5", isa.ClassAtomic},
		{"ATOMS.CAS.64 R8, [R2], R4, R6", "R8:2", "R2 R4:2 R6:2", isa.ClassAtomic},
		{"RED.E.ADD.F32.FTZ.RN.STRONG.GPU [R2], R4", "", "R2:2 R4", isa.ClassAtomic},
		{"SHFL.IDX P0, R4, R5, R6, 0x1f", "R4 P0", "R5 R6", isa.ClassMio},
		{"VOTE.ALL R4, PT, P1", "R4", "P1", isa.ClassMisc},
		{"S2R R4, SR_TID.X", "R4", "", isa.ClassMio},
		{"S2UR UR4, SR_CTAID.X", "UR4", "", isa.ClassMiscQ},
		{"CS2R R4, SR_CLOCKLO", "R4:2", "", isa.ClassInt},
		{"CS2R.32 R5, SR_CLOCKLO", "R5", "", isa.ClassInt},
		{"UIADD3 UR4, UP0, UR5, 0x1, UR6", "UR4 UP0", "UR5 UR6", isa.ClassUniform},
		{"@UP1 USEL UR4, UR5, UR6, UP2", "UR4", "UR5 UR6 UP2 UP1", isa.ClassUniform},
		{"R2UR UR4, R5", "UR4", "R5", isa.ClassUniform},
		{"HMMA.16816.F32 R8, R4, R2, R12", "R8:4", "R4:4 R2:2 R12:4", isa.ClassTensor},
		{"HMMA.16816.F16 R8, R4, R2, R12", "R8:2", "R4:4 R2:2 R12:2", isa.ClassTensor},
		{"HMMA.1688.F32.TF32 R8, R4, R2, R12", "R8:4", "R4:4 R2:2 R12:4", isa.ClassTensor},
		{"HMMA.1688.F16 R8, R4, R2, R12", "R8:2", "R4:2 R2 R12:2", isa.ClassTensor},
		{"IMMA.16832.S8.S8 R8, R4.ROW, R2.COL, R12", "R8:4", "R4:4 R2:2 R12:4", isa.ClassTensor},
		{"IMMA.8816.S8.S8 R8, R4.ROW, R2.COL, R12", "R8:2", "R4 R2 R12:2", isa.ClassTensor},
		{"BMMA.168256.XOR.POPC R8, R4.ROW, R2.COL, R12", "R8:4", "R4:4 R2:2 R12:4", isa.ClassTensor},
		{"DMMA.884 R8, R4, R2, R12", "R8:4", "R4:2 R2:2 R12:4", isa.ClassDMMA},
		{"RET.REL.NODEC R2 0x0", "", "R2:2", isa.ClassBranch},
		{"@P0 BRA P1, 0x0", "", "P1 P0", isa.ClassBranch},
		{"EXIT", "", "", isa.ClassBranch},
		{"MEMBAR.SC.GPU", "", "", isa.ClassFence},
		{"TEX.SCR.LL R16, R12, R10, R48, UR4, 0x0, 2D", "R16:2 R12:2", "R10:2 R48 UR4", isa.ClassTexture},
		{"TEX.SCR.LL RZ, R5, R10, R49, 0x0, 0x58, 2D, 0x1", "R5", "R10:2 R49", isa.ClassTexture},
		{"TEX.SCR.LL R6, R4, R10, R48, 0x0, 0x58, 2D, 0x7", "R6 R4:2", "R10:2 R48", isa.ClassTexture},
		{"TEX.B.LL.DC R16, R12, R8, R48, CUBE", "R16:2 R12:2", "R8:3 R48:3", isa.ClassTexture},
		{"TEX.LB.LC R16, R12, R8, R48, 0x0, 0x58, 2D", "R16:2 R12:2", "R8:3 R48", isa.ClassTexture},
		{"TLD.SCR.B.LZ.AOFFI RZ, R12, R8, R5, 1D, 0x3", "R12:2", "R8:2 R5", isa.ClassTexture},
		{"TLD.SCR.LZ RZ, R12, R8, R5, 0x0, 0x58, 2D, 0x3", "R12:2", "R8 R5", isa.ClassTexture},
		{"TLD.LZ.MS RZ, R12, R8, R5, 0x0, 0x58, ARRAY_2D, 0x3", "R12:2", "R8:3 R5", isa.ClassTexture},
		{"TLD4.SCR.B.AOFFI R16, R12, R8, R5, 0x0, 0x58, 2D", "R16:2 R12:2", "R8:2 R5", isa.ClassTexture},
		{"TLD4.SCR.B.B.AOFFI R16, R12, R8, R4, 2D", "R16:2 R12:2", "R8:2 R4:2", isa.ClassTexture},
		{"TLD4.SCR.A.B R16, R12, R8, R4, 2D", "R16:2 R12:2", "R8:2 R4", isa.ClassTexture},
		{"TXD.B.AOFFI R16, R12, R8, R4, 2D", "R16:2 R12:2", "R8:4 R4:4", isa.ClassTexture},
		{"TXD R16, R12, R8, R4, UR4, 0x0, ARRAY_1D", "R16:2 R12:2", "R8:2 R4:2 UR4", isa.ClassTexture},
		{"TXQ.B RZ, R12, R8, TEX_HEADER_DIMENSION, 0x2", "R12", "R8:2", isa.ClassTexture},
		{"SULD.D.BA.3D.128.STRONG.SM R8, [R16], R5", "R8:4", "R16:3 R5", isa.ClassTexture},
		{"SUST.P.2D_ARRAY.STRONG.SM.RG.TRAP [R16], R8, UR5, 0x0", "", "R16:3 R8:2 UR5", isa.ClassTexture},
	} {
		f, err := Parse("a.sass", ".kernel k\n"+test.text+"\nEXIT\n", 86)
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		i := f.Kernels[0].Infos()[0]
		if got := regText(i.Dsts); sortedRegs(got) != sortedRegs(test.dsts) {
			t.Errorf("%s writes %q, want %q", test.text, got, test.dsts)
		}
		if got := regText(i.Srcs); got != test.srcs {
			t.Errorf("%s reads %q, want %q", test.text, got, test.srcs)
		}
		if i.Class != test.class {
			t.Errorf("%s is of class %s, want %s", test.text, i.Class, test.class)
		}
	}
}

// sortedRegs ignores the order of results.
func sortedRegs(s string) string {
	f := strings.Fields(s)
	if len(f) == 2 && f[0] > f[1] {
		f[0], f[1] = f[1], f[0]
	}
	return strings.Join(f, " ")
}

// TestClasses: every opcode that the tables can decode has a class.
func TestClasses(t *testing.T) {
	for _, arch := range assembled {
		for op := range tableOf(arch).byOp {
			if traits[op].class == isa.ClassNone {
				t.Errorf("%s: %s has no class", arch, op)
			}
		}
	}
}

func TestInfoDetails(t *testing.T) {
	info := func(text string) isa.Inst {
		f, err := Parse("a.sass", ".kernel k\n"+text+"\nEXIT\n", 86)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return f.Kernels[0].Infos()[0]
	}
	if i := info("LDG.E.128.CONSTANT R4, [R2]"); !i.Load || i.Store || i.Space != isa.Global || i.Width != 16 || i.Cache != isa.CacheNC || i.Private {
		t.Errorf("%+v", i)
	}
	if i := info("LDG.E.U8.STRONG.GPU R4, [R2]"); i.Width != 1 || i.Cache != isa.CacheCG {
		t.Errorf("%+v", i)
	}
	if i := info("STS.U16 [R2], R4"); i.Load || !i.Store || i.Space != isa.Shared || i.Width != 2 || !i.Private {
		t.Errorf("%+v", i)
	}
	if i := info("RED.E.ADD.STRONG.GPU [R2], R4"); !i.Atomic || i.Load {
		t.Errorf("%+v", i)
	}
	if i := info("FADD R1, R2, c[0x3][0x14]"); i.Const == nil || *i.Const != (isa.ConstRef{Bank: 3, Offset: 0x14}) {
		t.Errorf("%+v", i)
	}
	if i := info("DEPBAR.LE SB2, 0x1, {5,3}"); i.Depbar == nil || *i.Depbar != (isa.Depbar{SB: 2, AtMost: 1, Zero: 0x28}) {
		t.Errorf("%+v", i.Depbar)
	}
	if i := info("HMMA.16816.F32 R8, R4, R2, R12"); i.Tensor == nil || *i.Tensor != (isa.Tensor{M: 16, N: 8, K: 16, Elem: 16, Bits: 32, F32: true}) {
		t.Errorf("%+v", i.Tensor)
	}
	if i := info("IMMA.16832.S8.S8 R8, R4.ROW, R2.COL, R12"); i.Tensor == nil || *i.Tensor != (isa.Tensor{M: 16, N: 8, K: 32, Elem: 8, Bits: 8}) {
		t.Errorf("%+v", i.Tensor)
	}
	for _, clock := range []string{"SR_CLOCK", "SR_CLOCKLO", "SR_CLOCKHI", "SR_GLOBALTIMERLO", "SR_GLOBALTIMERHI"} {
		if i := info("CS2R.32 R1, " + clock); !i.Clock {
			t.Errorf("%s: %+v", clock, i)
		}
	}
	if i := info("S2R R1, SR_TID.X"); i.Clock {
		t.Errorf("%+v", i)
	}
	if i := info("LDG.E R4, [UR4]"); !i.Uniform {
		t.Errorf("%+v", i)
	}
	if i := info("BAR.SYNC 0x3, 0x40"); !i.Barrier || i.Named != 4 {
		t.Errorf("%+v", i)
	}
	if i := info("BAR.ARV 0x3, 0x40"); i.Barrier {
		t.Errorf("%+v", i)
	}
	if i := info("BRA 0x10"); i.Flow != isa.FlowBranch || i.Guarded || len(i.Targets) != 1 || i.Targets[0] != 1 {
		t.Errorf("%+v", i)
	}
	if i := info("BRA P1, 0x10"); i.Flow != isa.FlowBranch || !i.Guarded {
		t.Errorf("%+v", i)
	}
	f, err := Parse("a.sass", ".kernel k\n[B------:R-:W-:-:S01] FFMA R5, R1, RZ, R3.reuse ;\n[B------:R-:W-:-:S05] EXIT ;\n", 86)
	if err != nil {
		t.Fatal(err)
	}
	if c := f.Kernels[0].Infos()[0].Control; c == nil || c.Reuse != 2 { // the second register that is one
		t.Errorf("%+v", c)
	}
}
