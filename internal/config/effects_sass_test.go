package config_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	xsass "github.com/heddle-sim/heddle/internal/exec/sass"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// This file: settings of the modern core that affect only kernels in SASS, each
// with such a kernel.

// asm writes instructions, one per line: a control code, or "" for an empty one, a
// bar, and the text. $i counts from 0; R2 and R3 have the address.
func asm(n int, lines string) string {
	var b strings.Builder
	for i := range n {
		for line := range strings.SplitSeq(strings.TrimSpace(lines), "\n") {
			line = strings.ReplaceAll(strings.TrimSpace(line), "$i", fmt.Sprint(i))
			line = strings.ReplaceAll(line, "$e", fmt.Sprint(20+2*(i%8)))
			line = strings.ReplaceAll(line, "$q", fmt.Sprint(20+4*(i%8)))
			line = strings.ReplaceAll(line, "$x", fmt.Sprintf("%#x", 0x40*(i%6)))
			ctl, text, ok := strings.Cut(line, "|")
			if !ok {
				b.WriteString(line + "\n")
				continue
			}
			if ctl = strings.TrimSpace(ctl); ctl == "" {
				ctl = "B------:R-:W-:-:S01"
			}
			fmt.Fprintf(&b, "[%s] %s ;\n", ctl, strings.TrimSpace(text))
		}
	}
	return b.String()
}

const waitAll = "B012345:R-:W-:-:S02 | NOP\n"

// told is an instruction of fixed latency that lowers a counter when it can be
// read, and one that waits for it.
func told(text string) string {
	return asm(8, "B------:R-:W0:-:S02 | "+text+"\nB0-----:R-:W-:-:S01 | NOP")
}

// read is an instruction that lowers a counter when it has read its sources, and
// one that waits for it.
func read(text string) string {
	return asm(8, "B------:R0:W-:-:S02 | "+text+"\nB0-----:R-:W-:-:S01 | NOP")
}

// sassBodies are the kernels.
var sassBodies = map[string]string{
	"constants":     asm(24, "| IADD3 R$e, R10, c[0x0][$x], RZ"),
	"constants.two": asm(12, "| IADD3 R$e, R10, c[0x0][0x0], RZ\n| IADD3 R$e, R10, c[0x0][0x160], RZ"),
	"ldc":           asm(24, "B------:R-:W0:-:S02 | LDC R$e, c[0x0][$x]\nB0-----:R-:W-:-:S01 | NOP"),
	"ldc.read":      read("LDC R20, c[0x0][0x160]"),
	"ldc.reg.read":  read("LDC R20, c[0x0][R10+0x160]"),
	"copy":          asm(4, "B------:R-:W-:-:S02 | LDGSTS.E [R10], [R2.64]") + asm(1, "B------:R-:W0:-:S02 | LDGDEPBAR\nB------:R-:W-:-:S04 | DEPBAR.LE SB0, 0x0\n| NOP"),
	"copy.read":     read("LDGSTS.E [R10], [R2.64]"),
	"depbar":        asm(1, "B------:R-:W0:-:S02 | LDS R20, [R10]\nB------:R-:W-:-:S04 | DEPBAR.LE SB0, 0x0\n| NOP\n| NOP\nB------:R-:W-:-:S01 | CS2R.32 R21, SR_CLOCKLO"),
	"membar.cta":    asm(2, "B------:R-:W-:-:S05 | MEMBAR.SC.CTA"),
	"membar.sys":    asm(2, "B------:R-:W-:-:S05 | MEMBAR.SC.SYS"),
	"ldg.read":      read("LDG.E R20, [R2.64]"),
	"ldg.uniform":   told("LDG.E R20, [UR4]"),
	"ldg.uread":     read("LDG.E R20, [UR4]"),
	"stg.uread":     read("STG.E [UR4], R20"),
	"lds.read":      read("LDS R20, [R10]"),
	"lds.uniform":   told("LDS R20, [UR6]"),
	"lds.uread":     read("LDS R20, [UR6]"),
	"sts.uread":     read("STS [UR6], R20"),
	"shfl":          told("SHFL.BFLY PT, R20, R10, 0x1, 0x1f"),
	"shfl.read":     read("SHFL.BFLY PT, R20, R10, 0x1, 0x1f"),
	"stall12":       asm(8, "B------:R-:W-:-:S12 | NOP"),
	"errbar":        asm(2, "B------:R-:W-:Y:S00 | ERRBAR"),
	"queued":        asm(8, "B------:R-:W0:-:S01 | S2UR UR8, SR_CTAID.X"),
	"queued.one":    told("S2UR UR8, SR_CTAID.X"),
	"misses":        asm(8, "B------:R-:W0:-:S01 | LDG.E R$e, [R4.64+$i000]"),
	"writes":        asm(24, "| HADD2 R$e, R10, R11\n| FFMA R$e, R12, R13, R14\n| FFMA R16, R12, R13, R14") + asm(6, "B------:R-:W0:-:S02 | LDS R$e, [R10]\n| HADD2 R$e, R10, R11\n| FFMA R$e, R12, R13, R14"),
	"reuse":         asm(16, "| FFMA R$e, R10.reuse, R12.reuse, R14.reuse"),
	"code":          asm(1, "B------:R-:W-:-:S05 | MOV R7, 0x3") + "again:\n" + asm(1200, "| FFMA R$e, R10, R11, R12") + asm(1, "B------:R-:W-:-:S05 | IADD3 R7, R7, -0x1, RZ\nB------:R-:W-:Y:S13 | ISETP.NE.AND P0, PT, R7, RZ, PT\nB------:R-:W-:-:S05 | @P0 BRA again"),
	"hmma":          asm(8, "B------:R-:W-:-:S01 | HMMA.16816.F16 R$q, R8, R12, R16"),
	"hmma.chain":    asm(8, "B------:R-:W-:-:S01 | HMMA.16816.F16 R20, R8, R12, R20"),
	"hmma.read":     read("HMMA.16816.F16 R20, R8, R12, R16"),
	"bra":           asm(1, "B------:R-:W0:-:S02 | @P0 BRA away\nB0-----:R-:W-:-:S01 | NOP") + "away:\n",
	"branches":      asm(8, "| @P0 BRA away$i\naway$i:"),
	"dmma":          asm(8, "B------:R-:W0:-:S02 | DMMA.884 R$q, R8, R12, R16"),
	"dmma.chain":    asm(4, "B0-----:R-:W0:-:S02 | DMMA.884 R16, R8, R12, R16"),
	"dfma":          asm(8, "B------:R-:W0:-:S02 | DFMA R$q, R8, R12, R16"),
	"half":          asm(24, "| HADD2 R$e, R10, R11"),
	"half.one":      told("HADD2 R20, R10, R11"),
	"imad":          asm(24, "| IMAD R$e, R10, R11, RZ\n| FFMA R21, R11, R12, R14"),
	"popc":          asm(8, "B------:R-:W0:-:S01 | POPC R$e, R10"),
	"popc.one":      told("POPC R20, R10"),
	"nops":          asm(24, "| VOTE.ANY R$e, PT, PT"),
	"nop.one":       told("VOTE.ANY R20, PT, PT"),
	"plop":          asm(16, "| PLOP3.LUT P1, PT, P2, P3, PT, 0x80, 0x0"),
	"plop.one":      told("PLOP3.LUT P1, PT, P2, P3, PT, 0x80, 0x0"),
	"isetp":         asm(16, "| ISETP.NE.AND P1, PT, R10, RZ, PT\n| IADD3 R$e, R10, R11, RZ"),
	"isetp.sel": asm(1, "B------:R-:W-:-:S08 | ISETP.EQ.AND P0, PT, R10, RZ, PT\nB------:R-:W-:-:S05 | SEL R7, R1, RZ, P0\nagain:\n"+
		"B------:R-:W-:-:S05 | IADD3 R7, R7, -0x1, RZ\nB------:R-:W-:Y:S13 | ISETP.GT.AND P1, PT, R7, RZ, PT\nB------:R-:W-:-:S05 | @P1 BRA again"),
	"mufu":        asm(8, "B------:R-:W0:-:S01 | MUFU.RCP R$e, R10"),
	"uniform":     asm(16, "| UIADD3 UR8, UR9, UR10, URZ"),
	"uniform.one": told("UIADD3 UR8, UR9, UR10, URZ"),
	"umov":        asm(16, "| UMOV UR8, UR9"),
	"umov.one":    told("UMOV UR8, UR9"),
}

// sassEffect is a setting, the kernel that it affects, and how; with is set in both
// runs.
type sassEffect struct{ set, kernel, want, with string }

const scoreboards = "modern.dependences=scoreboard"

var sassEffects = []sassEffect{
	{"ideal.double.uniform=true", "uniform", "less", ""},
	{"modern.const_switch=200", "constants.many", "more", ""},
	{"modern.l0fl.line=16", "constants", "more", ""},
	{"modern.l0fl.sets=1", "constants", "more", "modern.l0fl.ways=1"},
	{"modern.l0fl.ways=1", "constants.two", "more", "modern.l0fl.sets=1"},
	{"modern.l0vl.sets=1", "ldc", "more", "modern.l0vl.ways=1"},
	{"modern.l0vl.ways=1", "ldc", "more", "modern.l0vl.sets=1"},
	{"modern.constant.immediate_war=50", "ldc.read", "more", ""},
	{"modern.constant.register_war=90", "ldc.reg.read", "more", ""},
	{"modern.copy.regular_raw=99,99,99", "copy", "more", ""},
	{"modern.copy.regular_war=99,99,99", "copy.read", "more", ""},
	{"modern.depbar_delay=7", "depbar", "differ", ""},
	{"modern.fence_block=500", "membar.cta", "more", ""},
	{"modern.fence_system=4000", "membar.sys", "more", ""},
	{"modern.keep_code=true", "code.twice", "less", ""},
	{"modern.l0i.sets=1", "code", "more", "modern.prefetch=0"},
	{"modern.l0i.ways=1", "code", "more", "modern.l0i.sets=16"},
	{"modern.load.regular_war=99,99,99", "ldg.read", "more", ""},
	{"modern.load.uniform_raw=99,99,99", "ldg.uniform", "more", ""},
	{"modern.load.uniform_war=99,99,99", "ldg.uread", "more", ""},
	{"modern.store.uniform_war=99,99,99", "stg.uread", "more", ""},
	{"modern.shared_load.regular_war=99,99,99", "lds.read", "more", ""},
	{"modern.shared_load.uniform_raw=99,99,99", "lds.uniform", "more", ""},
	{"modern.shared_load.uniform_war=99,99,99", "lds.uread", "more", ""},
	{"modern.shared_store.uniform_war=99,99,99", "sts.uread", "more", ""},
	{"modern.mio.raw=99", "shfl", "more", ""},
	{"modern.mio.war=99", "shfl.read", "more", ""},
	{"modern.guard_extra=0", "isetp.sel", "less", ""}, // the SEL issues too soon: no loop,
	{"modern.counters=1", "shfl.read", "end done refused", ""},
	{"modern.long_stall=30", "stall12", "more", ""},
	{"modern.zero_stall=60", "errbar", "more", ""},
	{"modern.queue_misc=1", "queued", "differ", ""},
	{"modern.replies_taken=2", "misses.many", "differ", "clocks.noc=3620"},
	{"modern.response_queue=1", "misses.many", "differ", "l1d.port=1"},
	{"modern.result_queue=1", "writes.many", "differ", ""},
	{"modern.rfc=false", "reuse", "more", ""},
	{"modern.tensor_f16=60", "hmma.chain", "more", scoreboards},
	{"modern.tensor_halves=4", "hmma", "more", ""},
	{"modern.wide_window=16", "hmma.read", "more", "modern.tensor_halves=1"},
	{"modern.time.branch.latency=60", "bra", "more", ""},
	{"modern.time.branch.pipe=int", "branches", "differ", ""},
	{"modern.time.dmma.interval=60", "dmma", "more", ""},
	{"modern.time.dmma.latency=90", "dmma.chain", "more", ""},
	{"modern.time.dmma.pipe=sfu", "dmma.many", "differ", ""},
	{"modern.time.fp64.pipe=sfu", "dfma.many", "differ", ""},
	{"modern.time.half.interval=9", "half", "more", "modern.fp32_on_int=false"},
	{"modern.time.half.latency=60", "half.one", "more", ""},
	{"modern.time.half.pipe=int", "half", "differ", ""},
	{"modern.time.imad.pipe=int", "imad", "differ", ""},
	{"modern.time.int_slow.interval=40", "popc", "more", ""},
	{"modern.time.int_slow.latency=90", "popc.one", "more", ""},
	{"modern.time.int_slow.pipe=misc_queue", "popc", "differ", ""},
	{"modern.time.misc.interval=9", "nops", "more", ""},
	{"modern.time.misc.latency=60", "nop.one", "more", ""},
	{"modern.time.misc.pipe=int", "nops", "differ", ""},
	{"modern.time.misc_queued.interval=40", "queued", "more", ""},
	{"modern.time.misc_queued.latency=90", "queued.one", "more", ""},
	{"modern.time.misc_queued.pipe=sfu", "queued", "differ", ""},
	{"modern.time.pred.interval=9", "plop", "more", ""},
	{"modern.time.pred.latency=60", "plop.one", "more", ""},
	{"modern.time.pred.pipe=fp64", "plop", "differ", ""},
	{"modern.time.setp.pipe=int", "isetp", "more", ""},
	{"modern.time.sfu.pipe=misc_queue", "mufu", "differ", ""},
	{"modern.time.uniform.interval=9", "uniform", "more", ""},
	{"modern.time.uniform.latency=60", "uniform.one", "more", ""},
	{"modern.time.uniform.pipe=sfu", "uniform", "differ", ""},
	{"modern.time.uniform_move.interval=9", "umov", "more", ""},
	{"modern.time.uniform_move.latency=60", "umov.one", "more", ""},
	{"modern.time.uniform_move.pipe=sfu", "umov", "differ", ""},
}

// inNoSASS are settings that affect no instruction, and why.
var inNoSASS = map[string]string{
	"modern.copy.uniform_raw": "LDGSTS has its place in shared memory in a register, so its address is never from uniform registers alone",
	"modern.copy.uniform_war": "likewise",

	"compat.chip.accel_sim_traces": "it is about traces",
}

// performSASS runs a kernel on one SM of the RTX A6000.
func performSASS(t *testing.T, settings, kernel string) outcome {
	t.Helper()
	g, err := config.Load("rtx-a6000")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range strings.Fields("chip.clusters=1 run.max_cycles=400000 " + settings) {
		if err := g.Set(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	name, many := strings.CutSuffix(kernel, ".many")
	name, twice := strings.CutSuffix(name, ".twice")
	body, ok := sassBodies[name]
	if !ok {
		t.Fatal("no kernel ", name)
	}
	f, err := sass.Parse("effects.sass", ".arch sm_86\n.kernel effect\n.param data, 8\n.regs 64\n.shared 1024\n"+
		asm(1, "B------:R-:W-:-:S02 | MOV R2, c[0x0][0x160]\nB------:R-:W-:-:S05 | MOV R3, c[0x0][0x164]\nB------:R-:W-:-:S05 | ULDC.64 UR4, c[0x0][0x160]\nB------:R-:W-:-:S05 | UMOV UR6, URZ\n"+
			"B------:R-:W0:-:S02 | S2R R0, SR_TID.X\nB------:R-:W-:-:S05 | MOV R1, 0x80\nB0-----:R-:W-:-:S05 | IMAD.WIDE.U32 R4, R0, R1, c[0x0][0x160]")+
		body+asm(1, waitAll+"B------:R-:W-:-:S05 | EXIT"), 0)
	if err != nil {
		t.Fatal(err)
	}
	k, ok := xsass.Load(f).Kernel("effect")
	if !ok || len(k.Unusable()) > 0 {
		t.Fatalf("kernel %s: %v", name, k.Unusable())
	}
	dev := device.New(device.Config{})
	at, err := dev.Alloc(memoryBytes, "data")
	if err != nil {
		t.Fatal(err)
	}
	chip, err := gpu.New(g.ChipConfig())
	if err != nil {
		t.Fatal(err)
	}
	m := xsass.NewMachine(dev)
	threads, launches := uint32(32), 1
	if many {
		threads = 1024
	}
	if twice {
		launches = 2
	}
	for range launches {
		l := xsass.Launch{Kernel: k, Grid: exec.Dim3{X: 1, Y: 1, Z: 1}, Block: exec.Dim3{X: threads, Y: 1, Z: 1}, Params: binary.LittleEndian.AppendUint64(nil, at)}
		if err := chip.Add(&gpu.Op{Kind: gpu.OpLaunch, Make: func(bool) (exec.Work, error) { return m.NewWork(l, nil) }}); err != nil {
			if strings.Contains(err.Error(), "cannot launch") {
				return outcome{end: "refused"}
			}
			t.Fatal(err)
		}
	}
	if err := chip.Finish(context.Background()); err != nil {
		t.Fatal(err)
	}
	out := outcome{numbers: map[string]uint64{}, cycles: chip.Now()}
	flatten(reflect.ValueOf(chip.Totals()), "", out.numbers)
	delete(out.numbers, ".Chip.Skipped")
	out.numbers["cycles"] = out.cycles
	return out
}

// TestEffectsOnSASS changes each of those settings and checks that it affects a
// kernel.
func TestEffectsOnSASS(t *testing.T) {
	alltests.Only(t, "effects of settings on machine code")
	tried := map[string]bool{}
	for _, e := range sassEffects {
		key, _, _ := strings.Cut(e.set, "=")
		tried[key] = true
		t.Run(e.set, func(t *testing.T) {
			if wrong := felt(e.want, performSASS(t, e.with, e.kernel), performSASS(t, e.with+" "+e.set, e.kernel)); wrong != "" {
				t.Errorf("%s: want %s: %s", e.kernel, e.want, wrong)
			}
		})
	}
	for _, k := range notInPTX {
		if tried[k] == (inNoSASS[k] != "" || slices.Contains(inHopper, k)) {
			t.Errorf("%s is tried: %v; why not: %q", k, tried[k], inNoSASS[k])
		}
	}
	for k := range tried {
		if !slices.Contains(notInPTX, k) {
			t.Errorf("%s is tried with PTX", k)
		}
	}
}
