package config_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/trace/open"
	"github.com/heddle-sim/heddle/internal/work/tracerun"
)

// This file: settings that affect only replayed traces, each with such a small
// trace in Accel-Sim's text form.

// traced is a trace of one launch: every warp runs the same instructions.
type traced struct {
	copies string // lines of the list before the launch
	warps  int    // of its one block
	lines  string // instructions without address and mask; $ as in times
}

// traceOps has an opcode of sm_75 for each class that Accel-Sim times separately.
var traceOps = map[string]string{
	"int": "IADD3", "sp": "FFMA", "dp": "DADD", "sfu": "MUFU.RCP",
	"spec1": "BMOV.32.CLEAR", "spec2": "TEX", "spec3": "HMMA.1688.F32", "spec4": "UIADD3",
}

// copied is the address of the traces' memory, beyond the first 4 GiB.
const copied = 0x7f0000000000

// loads returns n loads of the opcode, apart bytes from each other, with lanes
// stride bytes apart.
func loads(n int, op string, width int, from, apart uint64, stride int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "1 R%d %s 1 R4 %d 1 0x%x %d\n", 10+i%16, op, width, from+uint64(i)*apart, stride)
	}
	return b.String()
}

// traces are the kernels, by the names that effects have for them.
var traces = func() map[string]traced {
	m := map[string]traced{
		// Words of 16 bytes that begin in one half of a line and end in the other.
		"over": {warps: 4, lines: loads(8, "LDG.E.128", 16, copied+56, 128, 0)},
		// The first lane's address is 0, except in one load: a trace with only such
		// addresses is refused as one without addresses.
		"zero":   {warps: 4, lines: loads(1, "LDG.E", 4, copied, 0, 0) + loads(8, "LDG.E", 4, 0, 0, 128)},
		"copied": {copies: fmt.Sprintf("MemcpyHtoD,0x%x,8192\n", uint64(copied)), warps: 2, lines: loads(16, "LDG.E", 4, copied, 256, 0)},
	}
	all := ""
	for class, op := range traceOps {
		m["chain_"+class] = traced{warps: 1, lines: times(chainLength, "1 R10 "+op+" 1 R10 0")}
		m["flood_"+class] = traced{warps: 8, lines: times(chainLength, "0 "+op+" 0 0")}
	}
	for _, class := range []string{"int", "sp", "dp", "sfu", "spec1", "spec2", "spec3", "spec4"} {
		all += times(4, "1 R1$d "+traceOps[class]+" 2 R1$c R2$e 0")
	}
	m["all"] = traced{warps: 8, lines: all + m["over"].lines + m["zero"].lines}
	return m
}()

// traceEffects are their effects. Names of traces begin with "trace ".
var traceEffects = slices.Concat([]effect{
	{"-trace_opcode_latency_initiation_int 7,1", "trace chain_int", "steps 3", perfect},
	{"-trace_opcode_latency_initiation_int 4,4", "trace flood_int", "more", ""},
	{"-trace_opcode_latency_initiation_sp 6,1", "trace chain_sp", "steps 2", perfect},
	{"-trace_opcode_latency_initiation_sp 4,4", "trace flood_sp", "more", ""},
	{"-trace_opcode_latency_initiation_dp 40,1", "trace chain_dp", "steps 36", perfect},
	{"-trace_opcode_latency_initiation_dp 4,4", "trace flood_dp", "more", ""},
	{"-trace_opcode_latency_initiation_sfu 25,1", "trace chain_sfu", "steps 21", perfect},
	{"-trace_opcode_latency_initiation_sfu 4,4", "trace flood_sfu", "more", ""},
	{"compat.simt.end_segments=false", "trace over", "differ", "-gpgpu_coalesce_arch 13\n-gpgpu_cache:dl1 none"},
	{"compat.simt.zero_is_none=false", "trace zero", ".Memory.L1.Accesses more", ""},
	{"compat.partition.copy_truncates=false", "trace copied", ".Memory.L2.Misses less", ""},
}, specials())

// specials are the effects of the units for branches, textures, matrix products
// and the uniform datapath.
func specials() []effect {
	var list []effect
	for n, name := range []string{"BRA", "TEX", "TENSOR", "UDP"} {
		n++
		unit, time := fmt.Sprintf("-specialized_unit_%d ", n), fmt.Sprintf("-trace_opcode_latency_initiation_spec_op_%d ", n)
		with := perfect + "-gpgpu_inst_fetch_throughput 4\n" + unit + "1,2,40,2,2," + name + "\n" + time + "8,1\n"
		chain, flood := fmt.Sprint("trace chain_spec", n), fmt.Sprint("trace flood_spec", n)
		list = append(list,
			effect{time + "13,1", chain, "steps 5", with},
			effect{time + "8,4", flood, "more", with},
			effect{unit + "1,1,40,2,2," + name, flood, "more", with},
			effect{unit + "1,2,40,1,2," + name, flood, "more", with},
			effect{unit + "1,2,40,2,1," + name, flood, "more", with},
			// Integer units replace them, with their latency of 4 cycles.
			effect{unit + "0,2,40,2,2," + name, chain, "less", with},
		)
	}
	return list
}

// performTrace replays a trace on a machine, which reads it as Accel-Sim does.
func performTrace(t *testing.T, g *config.GPU, name string) outcome {
	t.Helper()
	tr, ok := traces[name]
	if !ok {
		t.Fatal("no trace ", name)
	}
	var machine bytes.Buffer
	if err := g.WriteTOML(&machine); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for file, text := range map[string]string{
		"machine.toml": machine.String(), "kernelslist.g": tr.copies + "kernel-1.traceg\n", "kernel-1.traceg": tr.text(),
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set, err := open.Open(filepath.Join(dir, "kernelslist.g"))
	if err != nil {
		t.Fatal(err)
	}
	run, err := tracerun.Run(context.Background(), set, tracerun.Options{
		GPU: filepath.Join(dir, "machine.toml"), Threads: 1, MaxInsts: 400_000,
		Settings: run.Settings{Conditions: map[string]any{"trace.hidden_dependences": "off"}},
	})
	out := outcome{numbers: map[string]uint64{}}
	var limit *exec.LimitError
	if errors.As(err, &limit) {
		out.end, out.explains = "limit", err.Error()
	} else if err != nil {
		t.Fatal(err)
	}
	if len(run.Trace.Unknown) > 0 {
		t.Fatalf("unknown opcodes: %v", run.Trace.Unknown)
	}
	flatten(reflect.ValueOf(*run.Timing), "", out.numbers)
	out.cycles = run.Cycles
	out.numbers["cycles"] = out.cycles
	return out
}

// text is the launch as version 5 of the tracer writes it.
func (tr *traced) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, `-kernel name = effect
-kernel id = 1
-grid dim = (1,1,1)
-block dim = (%d,1,1)
-shmem = 0
-nregs = 32
-binary version = 75
-cuda stream id = 0
-shmem base_addr = 0x00007f5e00000000
-local mem base_addr = 0x00007f5ddd000000
-nvbit version = 1.7.4
-accelsim tracer version = 5
-enable lineinfo = 0

#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses] immediate

#BEGIN_TB

thread block = 0,0,0

`, 32*tr.warps)
	lines := strings.Split(strings.TrimSpace(tr.lines), "\n")
	lines = append(lines, "0 EXIT 0 0")
	for w := range tr.warps {
		fmt.Fprintf(&b, "warp = %d\ninsts = %d\n", w, len(lines))
		for i, l := range lines {
			fmt.Fprintf(&b, "%04x ffffffff %s 0\n", 16*i, strings.TrimSpace(l))
		}
		b.WriteByte('\n')
	}
	b.WriteString("#END_TB\n")
	return b.String()
}

// TestInertForTraces changes settings that do not affect traces, and checks that
// all numbers stay the same. The units exist, so that the settings could make a
// difference.
func TestInertForTraces(t *testing.T) {
	alltests.Only(t, "settings that do not matter to traces")
	with := ""
	for n := 1; n <= 8; n++ {
		with += fmt.Sprintf("-specialized_unit_%[1]d 1,2,40,2,2,NAME\n-trace_opcode_latency_initiation_spec_op_%[1]d 8,1\n", n)
	}
	values := map[string]string{
		"name": "OTHER", "units": "1", "depth": "50", "issue_width": "1", "exec_width": "1", "latency": "19", "initiation": "3", "tensor": "19",
	}
	before := performTrace(t, base(t, with), "all")
	n := 0
	for _, k := range config.Keys() {
		if k.Inert == "" || !strings.HasPrefix(k.Name, "simt.special") && !strings.HasPrefix(k.Name, "simt.trace_") {
			continue
		}
		n++
		g, value := base(t, with), values[k.Name[strings.LastIndexByte(k.Name, '.')+1:]]
		if was, _ := g.Value(k.Name); strings.Trim(was, `"`) == value {
			t.Fatalf("%s has this value already: %s", k.Name, was)
		}
		if strings.HasPrefix(k.Name, "simt.trace_initiation") {
			if err := g.Set("simt.trace_latency.tensor=19"); err != nil {
				t.Fatal(err)
			}
		}
		if err := g.Set(k.Name + "=" + value); err != nil {
			t.Fatal(err)
		}
		if err := g.Check(); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(before.numbers, performTrace(t, g, "all").numbers); d != "" {
			t.Errorf("%s: no run depends on it: %s; but -before +after:\n%s", k.Name, k.Inert, d)
		}
	}
	// A name and a depth of each of four units, all seven keys of the other four,
	// and the two times of a class without opcodes.
	if want := 4*2 + 4*7 + 2; n != want {
		t.Errorf("%d keys affect no trace, want %d", n, want)
	}
}
