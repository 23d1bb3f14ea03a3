package truth_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/binary/cubin"
	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/core/modern"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	isasass "github.com/heddle-sim/heddle/internal/isa/sass"
	"github.com/heddle-sim/heddle/internal/program"
)

// This file: the distances between dependent instructions of fixed latency, three times: as
// the core needs them, as NVIDIA's compiler leaves them, and as another compiler's authors
// know them.

// distancesPreface begins the third part of the document.
const distancesPreface = `
## Distances that compilers leave

How many cycles after an instruction of fixed latency another one may read its result. A compiler must leave at least what the hardware needs, and NVIDIA's knows it. "ptxas" is the least that it leaves for
sm_86 in the 3.7 million such pairs of ggml's CUDA library, of all instructions of the two kinds, with the number of places
(` + "`internal/truth/testdata/distances.tsv`, which `bench/ggml` writes" + `; sm_89 has the same). "NAK" is the table of Mesa's open compiler for sm_80 to sm_89. "Heddle" is what the core needs.
A core that needs more than ptxas leaves computes wrong values; none of these cells, and none of the 3.7 million pairs, does. A core that needs less runs all of these programs, but
its hazard checker misses what is closer than the hardware allows. In the code of Debian's MAGMA 2.6.2 for sm_80 (CUDA 11.8; 3,736 kernels, 2.09 million pairs), which has textures, none is closer either;
of textures and of VOTEU's predicates the least there are NAK's figures.

| result of | read by | ptxas | NAK | Heddle | |
| --- | --- | --- | --- | --- | --- |
`

// turingPreface begins the table of sm_75.
const turingPreface = `
The same for sm_75 and the core of Turing. "NAK" is Mesa's table; loads and stores are as ptxas leaves them in the 43,648 instructions that were looked at. The core has its authors' latencies there, and the
code that NVIDIA's compiler made for sm_75 waits long enough for all of them: that among the tests, and the 2.12 million pairs of MAGMA 2.6.2.

| result of | read by | NAK | Heddle | |
| --- | --- | --- | --- | --- |
`

// A group is a kind of instructions: how the tables call it, the opcodes in distances.tsv, and
// an instruction of it: the writer's result is R4, P0, UR4 or UP0.
type group struct{ name, ops, text string }

var (
	alu      = group{"ALU (IADD3, LOP3, SHF, LEA, SEL, PRMT, FMNMX, FSEL, ...)", "IADD3 LOP3 SHF LEA SEL PRMT FMNMX FSEL IMNMX IABS SGXT BMSK F2FP P2R", "IADD3 R4, R6, R7, RZ"}
	fma      = group{"FMA (FFMA, FMUL, IMAD)", "FFMA FMUL IMAD", "FFMA R4, R6, R7, R8"}
	wide     = group{"IMAD.WIDE", "IMAD.WIDE", "IMAD.WIDE R4, R6, R7, R8"}
	half     = group{"HFMA2, HMUL2", "HFMA2 HMUL2", "HFMA2 R4, R6, R7, R8"}
	toFloat  = group{"HADD2.F32", "HADD2.F32", "HADD2.F32 R4, -RZ, R6.H0_H0"}
	imma     = group{"IMMA.16816", "IMMA.16816.S8.S8", "IMMA.16816.S8.S8 R4, R8.ROW, R10.COL, RZ"}
	imma32   = group{"IMMA.16832", "IMMA.16832.S8.S8", "IMMA.16832.S8.S8 R4, R8.ROW, R12.COL, RZ"}
	hmma     = group{"HMMA.16816.F32", "HMMA.16816.F32", "HMMA.16816.F32 R4, R8, R12, RZ"}
	hmma16   = group{"HMMA.16816.F16", "HMMA.16816.F16", "HMMA.16816.F16 R4, R8, R12, RZ"}
	hmma1688 = group{"HMMA.1688.F32", "", "HMMA.1688.F32 R4, R8, R12, RZ"}
	imma8816 = group{"IMMA.8816", "", "IMMA.8816.S8.S8 R4, R8.ROW, R10.COL, RZ"}
	by1688   = group{"HMMA", "", "HMMA.1688.F32 R20, R4, R12, RZ"}
	tf32     = group{"HMMA.1688.F32.TF32", "HMMA.1688.F32.TF32", "HMMA.1688.F32.TF32 R4, R8, R12, RZ"}
	compare  = group{"ISETP, FSETP, LOP3, ...: a predicate", "ISETP FSETP LOP3 PLOP3 IADD3", "ISETP.NE.AND P0, PT, R6, RZ, PT"}
	uniform  = group{"UIADD3, USHF, UIMAD, ...", "UIADD3 USHF UIMAD ULEA ULOP3 USEL UIMAD.WIDE", "UIADD3 UR4, UR6, UR7, URZ"}
	move     = group{"ULDC, UMOV, VOTEU", "ULDC UMOV VOTEU", "ULDC UR4, c[0x0][0x160]"}
	vote     = group{"VOTE", "VOTE", "VOTE.ANY R4, PT, PT"}
	voteP    = group{"VOTE: a predicate", "VOTE", "VOTE.ANY P0, P1"}
	voteUP   = group{"VOTEU: a predicate", "VOTEU", "VOTEU.ALL UP0, P1"}
	ucomp    = group{"UISETP: a predicate", "UISETP", "UISETP.NE.AND UP0, UPT, UR6, URZ, UPT"}

	byALU     = group{"ALU", alu.ops + " FSETP ISETP I2FP", "IADD3 R20, R4, R7, RZ"}
	byFMA     = group{"FMA", fma.ops + " FADD", "FFMA R20, R4, R7, R8"}
	byWide    = group{"IMAD.WIDE", wide.ops, "IMAD.WIDE R20, R4, R7, R8"}
	byHalf    = group{"HFMA2, HMUL2", half.ops, "HFMA2 R20, R4, R7, R8"}
	byToFloat = group{"HADD2.F32", toFloat.ops, "HADD2.F32 R20, -RZ, R4.H0_H0"}
	byHMMA    = group{"HMMA", "HMMA.16816.F32 HMMA.16816.F16 HMMA.1688.F32.TF32", "HMMA.16816.F32 R20, R4, R12, RZ"}
	byAcc     = group{"HMMA, as its accumulator", "HMMA.16816.F32", "HMMA.16816.F32 R20, R8, R12, R4"}
	byAcc16   = group{"HMMA, as its accumulator", "HMMA.16816.F16", "HMMA.16816.F16 R20, R8, R12, R4"}
	byTF32    = group{"HMMA, as its accumulator", "HMMA.1688.F32.TF32", "HMMA.1688.F32.TF32 R20, R8, R12, R4"}
	byQueue   = group{"MUFU, I2F, F2I, LDC, ...", "MUFU I2F F2I POPC FLO LDC MATCH F2F.F64", "MUFU.RCP R20, R4"}
	byTexture = group{"TEX, TLD", "TEX TLD TLD4", "TLD.SCR.LZ RZ, R20, R4, 0x0, 0x6b, 1D, 0x1"}
	byAddress = group{"loads, stores, SHFL", "LDG STG LDS STS LDSM LD ST LDL STL ATOM ATOMG ATOMS RED SHFL MOVM LDGSTS", "LDS R20, [R4]"}

	predALU    = group{"ALU, as an operand", "SEL FSEL LOP3 IADD3 ISETP FSETP PLOP3 FMNMX IMNMX", "SEL R20, R6, R7, P0"}
	predFMA    = group{"FMA, as an operand", "IMAD IMAD.WIDE", "IMAD.X R20, R6, R7, R8, P0"}
	guardALU   = group{"ALU, as a guard", "IADD3 LOP3 SHF MOV SEL LEA ISETP FSETP PRMT", "@P0 IADD3 R20, R6, R7, RZ"}
	guardFMA   = group{"FMA, as a guard", "FFMA FMUL FADD IMAD IMAD.WIDE", "@P0 FFMA R20, R6, R7, R8"}
	guardFlow  = group{"branches, as a guard", "BRA EXIT CALL RET BREAK", "@P0 EXIT"}
	guardMem   = group{"loads, stores, as a guard", "LDG STG LDS STS LD ST LDL STL ATOM RED LDGSTS SHFL", "@P0 LDS R20, [R6]"}
	guardQueue = group{"MUFU, F2I, ..., as a guard", "MUFU I2F F2I FRND", "@P0 MUFU.RCP R20, R6"}

	urVector  = group{"ALU, FMA", "IADD3 LOP3 SHF LEA SEL PRMT IMAD IMAD.WIDE FFMA FMUL ISETP MOV IMNMX", "IADD3 R20, R6, UR4, RZ"}
	urQueue   = group{"I2F, F2I, ...", "I2F F2I MUFU", "I2F.U32.RP R20, UR4"}
	urAddress = group{"loads, stores", "LDG STG LDS STS LD ST ATOMG ATOMS RED", "LDS R20, [UR4]"}
	urUniform = group{"the uniform datapath", "UIADD3 USHF UIMAD ULEA ULOP3 USEL UISETP UIMAD.WIDE UBMSK UFLO", "UIADD3 UR8, UR4, UR7, URZ"}
	upVector  = group{"PLOP3", "PLOP3", "PLOP3.LUT P1, PT, PT, PT, UP0, 0x80, 0x0"}
	byVote    = group{"VOTE", "VOTE", "VOTE.ANY R20, PT, P0"}
	upGuard   = group{"the uniform datapath, as a guard", "UIADD3 ULEA ULOP3", "@UP0 UIADD3 UR8, UR6, UR7, URZ"}
	upUniform = group{"the uniform datapath, as an operand", "USEL UIADD3 ULEA UIMAD UISETP UIMAD.WIDE", "USEL UR8, UR6, UR7, UP0"}
)

// pairs are the table's, with NAK's figures.
var pairs = []struct {
	first, second group
	register      string
	nak           int
}{
	{alu, byALU, "R", 4}, {alu, byFMA, "R", 5}, {alu, byWide, "R", 5}, {alu, byHalf, "R", 5}, {alu, byToFloat, "R", 5}, {alu, byHMMA, "R", 7}, {alu, byQueue, "R", 4}, {alu, byTexture, "R", 4}, {alu, byAddress, "R", 5},
	{fma, byALU, "R", 5}, {fma, byFMA, "R", 4}, {fma, byWide, "R", 5}, {fma, byHalf, "R", 5}, {fma, byToFloat, "R", 5}, {fma, byHMMA, "R", 7}, {fma, byQueue, "R", 4}, {fma, byTexture, "R", 4}, {fma, byAddress, "R", 5},
	{wide, byALU, "R", 3}, {wide, byFMA, "R", 2}, {wide, byWide, "R", 4}, {wide, byHMMA, "R", 7}, {wide, byQueue, "R", 4}, {wide, byAddress, "R", 5},
	{half, byALU, "R", 5}, {half, byFMA, "R", 5}, {half, byHalf, "R", 5}, {half, byToFloat, "R", 5}, {half, byHMMA, "R", 7}, {half, byQueue, "R", 4}, {half, byAddress, "R", 5},
	{toFloat, byALU, "R", 5}, {toFloat, byFMA, "R", 5}, {toFloat, byQueue, "R", 4}, {toFloat, byAddress, "R", 5},
	{imma, byALU, "R", 13}, {imma, byFMA, "R", 13}, {imma, byQueue, "R", 11}, {imma, byAddress, "R", 12},
	{imma32, byALU, "R", 17}, {imma32, byFMA, "R", 17},
	{hmma, byALU, "R", 17}, {hmma, byFMA, "R", 17}, {hmma, byAcc, "R", 18}, {hmma, byQueue, "R", 15}, {hmma, byAddress, "R", 16},
	{hmma16, byFMA, "R", 17}, {hmma16, byAcc16, "R", 18}, {hmma16, byAddress, "R", 16},
	{tf32, byTF32, "R", 18}, {tf32, byAddress, "R", 16},
	{compare, predALU, "P", 4}, {compare, predFMA, "P", 5}, {compare, guardALU, "@P", 13}, {compare, guardFMA, "@P", 13}, {compare, guardFlow, "@P", 13}, {compare, guardMem, "@P", 13}, {compare, guardQueue, "@P", 13},
	{compare, byVote, "P", 13}, {vote, byALU, "R", 4}, {voteP, predALU, "P", 4}, {voteP, guardFlow, "@P", 13},
	{uniform, urVector, "UR", 6}, {uniform, urQueue, "UR", 9}, {uniform, urAddress, "UR", 9}, {uniform, urUniform, "UR", 4},
	{move, urVector, "UR", 2}, {move, urQueue, "UR", 2}, {move, urAddress, "UR", 2}, {move, urUniform, "UR", 2},
	{voteUP, upVector, "UP", 1}, {ucomp, upVector, "UP", 6}, {ucomp, upUniform, "UP", 4}, {ucomp, upGuard, "@UP", 11},
}

// turing are pairs of sm_75, with NAK's figures; loads and stores after ALU and FMA as ptxas leaves
// them there.
var turing = []struct {
	first, second group
	register      string
	nak           int
}{
	{alu, byALU, "R", 4}, {alu, byFMA, "R", 5}, {alu, byWide, "R", 5}, {alu, byHalf, "R", 6}, {alu, by1688, "R", 6}, {alu, byQueue, "R", 6}, {alu, byAddress, "R", 8},
	{fma, byALU, "R", 5}, {fma, byFMA, "R", 4}, {fma, byWide, "R", 4}, {fma, byHalf, "R", 6}, {fma, by1688, "R", 6}, {fma, byQueue, "R", 6}, {fma, byAddress, "R", 8},
	{wide, byALU, "R", 3}, {wide, byFMA, "R", 2}, {wide, byWide, "R", 4},
	{half, byALU, "R", 8}, {half, byFMA, "R", 8}, {half, byHalf, "R", 6}, {half, byQueue, "R", 8},
	{hmma1688, byALU, "R", 14}, {hmma1688, byFMA, "R", 14}, {imma8816, byALU, "R", 10}, {imma8816, byFMA, "R", 10},
	{compare, predALU, "P", 4}, {compare, predFMA, "P", 5}, {compare, guardALU, "@P", 12}, {compare, guardFlow, "@P", 12}, {compare, guardMem, "@P", 12},
	{uniform, urVector, "UR", 6}, {uniform, urUniform, "UR", 4},
}

// kept reads distances.tsv: the least distance for sm_86 of a pair of opcodes and a register,
// and the number of places.
func kept(t *testing.T) map[[3]string][2]int {
	t.Helper()
	b, err := os.ReadFile("testdata/distances.tsv")
	if err != nil {
		t.Fatal(err)
	}
	list := map[[3]string][2]int{}
	for line := range strings.Lines(string(b)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if f[0] != "sm_86" {
			continue
		}
		cycles, err := strconv.Atoi(f[4])
		if err != nil {
			t.Fatal(err)
		}
		places, err := strconv.Atoi(f[5])
		if err != nil {
			t.Fatal(err)
		}
		list[[3]string(f[1:4])] = [2]int{cycles, places}
	}
	return list
}

// needs is what a core needs between two instructions.
func needs(t *testing.T, arch int, cfg modern.Config, first, second, register string) int {
	t.Helper()
	const ctl = "[B------:R-:W-:-:S01] "
	f, err := isasass.Parse("pair", fmt.Sprintf(".arch sm_%d\n.kernel pair\n.regs 64\n", arch)+ctl+first+" ;\n"+ctl+second+" ;\n"+ctl+"EXIT ;\n", isasass.Arch(arch))
	if err != nil {
		t.Fatal(err)
	}
	infos := f.Kernels[0].Infos()
	w := code{arch: arch}
	for i := range infos {
		w.list = append(w.list, &infos[i])
	}
	k, err := modern.NewKernel(&cfg, w, core.KernelOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	k.Distances(func(d modern.Distance) {
		if d.At == 1 && d.Guard == strings.HasPrefix(register, "@") {
			n = max(n, d.Need)
		}
	})
	if n == 0 {
		t.Fatalf("%s does not read what %s writes", second, first)
	}
	return n
}

// TestWaitsOfTuring: NVIDIA's compiler waits long enough for the core of Turing in a cubin for
// sm_75. bench/ggml has much more code, but only for later architectures.
func TestWaitsOfTuring(t *testing.T) {
	const name = "../binary/cubin/testdata/cudatest.7.sm_75.cubin"
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	file, err := cubin.Read(name, b)
	if err != nil {
		t.Fatal(err)
	}
	n, guards := 0, 0
	for _, k := range file.Kernels {
		text, err := program.MachineCode(file, k)
		if err != nil {
			t.Fatal(err)
		}
		infos := text.Infos()
		c := code{arch: 75}
		for i := range infos {
			c.list = append(c.list, &infos[i])
		}
		cfg := modern.Turing()
		mk, err := modern.NewKernel(&cfg, c, core.KernelOptions{})
		if err != nil {
			t.Fatal(err)
		}
		mk.Distances(func(d modern.Distance) {
			if d.Waits {
				return
			}
			n++
			if d.Guard && d.Cycles == 12 {
				guards++
			}
			if d.Cycles < d.Need {
				t.Errorf("%s: %s at %#x is %d cycles after %s, which needs %d", k.Name, text.Code[d.At].Text(), 16*d.At, d.Cycles, text.Code[d.Producer].Text(), d.Need)
			}
		})
	}
	if n < 100 || guards == 0 {
		t.Errorf("%d pairs, %d of them guards after 12 cycles", n, guards)
	}
}

// code is the code of a kernel that nobody runs.
type code struct {
	arch int
	list []*isa.Inst
}

func (c code) Code() []*isa.Inst       { return c.list }
func (c code) Traits() exec.Traits     { return exec.Traits{Arch: c.arch} }
func (c code) Name() string            { return "pair" }
func (c code) Blocks() uint64          { return 1 }
func (c code) Threads() int            { return 32 }
func (c code) Registers() int          { return 64 }
func (c code) Shared() int             { return 0 }
func (c code) Block(uint64) exec.Block { return nil }

// distances returns the table.
func distances(t *testing.T) string {
	t.Helper()
	all := kept(t)
	var doc strings.Builder
	doc.WriteString(distancesPreface)
	count, byNAK := map[string]int{}, map[string]int{}
	for _, c := range pairs {
		least, places := 0, 0
		for _, a := range strings.Fields(c.first.ops) {
			for _, b := range strings.Fields(c.second.ops) {
				x, ok := all[[3]string{a, b, c.register}]
				switch {
				case !ok:
				case least == 0 || x[0] < least:
					least, places = x[0], x[1]
				case x[0] == least:
					places += x[1]
				}
			}
		}
		have := needs(t, 86, modern.Ampere(), c.first.text, c.second.text, c.register)
		ptxas, bound := "", c.nak
		if least > 0 {
			ptxas, bound = fmt.Sprintf("%d (%d)", least, places), least
		}
		what := relation(have, bound)
		if what == "stricter" {
			if least > 0 {
				t.Errorf("%s, read by %s: the core needs %d, the compiler leaves %d", c.first.name, c.second.name, have, least)
			}
			what = "stricter; ptxas: no such pair"
		}
		count[strings.Split(what, ";")[0]]++
		byNAK[relation(have, c.nak)]++
		fmt.Fprintf(&doc, "| %s | %s | %s | %d | %d | %s |\n", c.first.name, c.second.name, ptxas, c.nak, have, what)
	}
	fmt.Fprintf(&doc, "\nOf %d cells, %s. Compared with NAK's figures alone, %s.\n", len(pairs), tally(count), tally(byNAK))

	doc.WriteString(turingPreface)
	count = map[string]int{}
	for _, c := range turing {
		have := needs(t, 75, modern.Turing(), c.first.text, c.second.text, c.register)
		what := relation(have, c.nak)
		count[what]++
		fmt.Fprintf(&doc, "| %s | %s | %d | %d | %s |\n", c.first.name, c.second.name, c.nak, have, what)
	}
	fmt.Fprintf(&doc, "\nOf %d cells, %s.\n", len(turing), tally(count))
	return doc.String()
}

// relation says how what the core needs compares with another figure.
func relation(have, other int) string {
	switch {
	case have > other:
		return "stricter"
	case have < other:
		return "laxer"
	}
	return "equal"
}

// tally lists counts, in the order of their names.
func tally(count map[string]int) string {
	var list []string
	for _, n := range slices.Sorted(maps.Keys(count)) {
		list = append(list, fmt.Sprintf("%d %s", count[n], n))
	}
	return strings.Join(list, ", ")
}
