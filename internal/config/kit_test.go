package config_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/exec/texture"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: small kernels, each of which stresses one part of a machine, and
// running them on a machine that a test describes.

// head and tail surround the body of every kernel; places precedes it unless it has
// only arithmetic: %rd1 is the memory, %r1 the thread in its block, %r2 its block,
// %r3 the thread in the grid, %rd2 its word of the memory. The other registers are
// zero.
const (
	head = `.visible .entry %s(.param .u64 data, .param .u64 tex)
{
 .reg .b64 %%rd<40>;
 .reg .b32 %%r<80>;
 .reg .f32 %%f<80>;
 .reg .f64 %%d<80>;
 .reg .pred %%p<4>;
`
	places = ` ld.param.u64 %rd1, [data];
 mov.u32 %r1, %tid.x;
 mov.u32 %r2, %ctaid.x;
 mov.u32 %r3, %ntid.x;
 mad.lo.u32 %r3, %r2, %r3, %r1;
 mul.wide.u32 %rd2, %r3, 4;
 add.u64 %rd2, %rd1, %rd2;
`
	tail = " exit;\n}\n"
)

// times repeats a text in which $i is a running number and $a, $b, … are its
// remainders by 2, 3, ….
func times(n int, text string) string {
	var b strings.Builder
	for i := range n {
		r := []string{"$i", fmt.Sprint(i)}
		for m := 2; m <= 16; m++ {
			r = append(r, "$"+string(rune('a'+m-2)), fmt.Sprint(i%m))
		}
		b.WriteString(" " + strings.NewReplacer(r...).Replace(text) + "\n")
	}
	return b.String()
}

// ops are the kinds of instructions whose times are settings: with a chain of
// registers, and with their own registers. $o is the destination of a result, $x
// its source.
var ops = map[string]string{
	"int_add": "add.u32 %r$o, %r$x, 3;", "int_max": "max.u32 %r$o, %r$x, 3;", "int_mul": "mul.lo.u32 %r$o, %r$x, 3;",
	"int_mad": "mad.lo.u32 %r$o, %r$x, 3, 1;", "int_div": "div.u32 %r$o, %r$x, 3;", "int_shfl": "shfl.sync.bfly.b32 %r$o, %r$x, 1, 31, -1;",
	"fp_add": "add.f32 %f$o, %f$x, 0f3F800000;", "fp_max": "max.f32 %f$o, %f$x, 0f3F800000;", "fp_mul": "mul.f32 %f$o, %f$x, 0f3F800000;",
	"fp_mad": "fma.rn.f32 %f$o, %f$x, 0f3F800000, 0f3F800000;", "fp_div": "div.rn.f32 %f$o, %f$x, 0f40000000;",
	"dp_add": "add.f64 %d$o, %d$x, 0d3FF0000000000000;", "dp_max": "max.f64 %d$o, %d$x, 0d3FF0000000000000;",
	"dp_mul": "mul.f64 %d$o, %d$x, 0d3FF0000000000000;", "dp_mad": "fma.rn.f64 %d$o, %d$x, 0d3FF0000000000000, 0d3FF0000000000000;",
	"dp_div": "div.rn.f64 %d$o, %d$x, 0d4000000000000000;",
	"sfu":    "sin.approx.f32 %f$o, %f$x;",
	"tensor": "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r$o, %r77}, {%r$x, %r78}, {%r79}, {%r$x, %r76};",
	"other":  "xor.b32 %r$o, %r$x, 3;",
}

// chainLength is the number of dependent instructions of a chain kernel.
const chainLength = 40

func opText(op, o, x string) string {
	return strings.NewReplacer("$o", o, "$x", x).Replace(ops[op])
}

// bodies are the kernels: declarations and code.
var bodies = map[string][2]string{
	// Each thread reads and writes its own words, far apart.
	"stream": {"", times(4, "ld.global.u32 %r1$h, [%rd2+$i*8192];") + times(4, "st.global.u32 [%rd2+$i*8192+65536], %r1$h;")},
	// The same with lines that fall on few sets and banks.
	"rows": {"", " mul.wide.u32 %rd3, %r3, 128;\n add.u64 %rd3, %rd1, %rd3;\n" + times(6, "ld.global.u32 %r1$h, [%rd3+$i*16384];") +
		times(3, "st.global.u32 [%rd3+$i*16384], %r10;")},
	// One word after the other, each from the address in the last one.
	"chase": {"", times(12, "ld.global.u32 %r10, [%rd2+$i*2048];\ncvt.u64.u32 %rd3, %r10;\nadd.u64 %rd2, %rd2, %rd3;")},
	// The same few lines again and again.
	"reuse": {"", " and.b32 %r4, %r1, 31;\n mul.wide.u32 %rd3, %r4, 36;\n add.u64 %rd3, %rd1, %rd3;\n" +
		times(12, "ld.global.u32 %r1$h, [%rd3+$b*256];")},
	// The same lines from all warps at once, so that misses meet.
	"merge": {"", " and.b32 %r4, %r1, 7;\n mul.wide.u32 %rd3, %r4, 4;\n add.u64 %rd3, %rd1, %rd3;\n" + times(6, "ld.global.u32 %r1$h, [%rd3+$i*4096];")},
	// One sector of each line, then the others.
	"sectors": {"", " and.b32 %r4, %r1, 15;\n mul.wide.u32 %rd3, %r4, 128;\n add.u64 %rd3, %rd1, %rd3;\n" +
		times(4, "ld.global.u32 %r1$h, [%rd3+$i*32];") + times(4, "st.global.u32 [%rd3+$i*32+4], %r10;")},
	// Writes and reads of parts of the same sectors.
	"partial": {"", " mul.wide.u32 %rd3, %r3, 32;\n add.u64 %rd3, %rd1, %rd3;\n" +
		times(3, "st.global.u8 [%rd3+$i*8192+1], %r1;\nld.global.u32 %r1$h, [%rd3+$i*8192];\nst.global.u32 [%rd3+$i*8192+4], %r1$h;")},
	// More written lines than a cache holds, read again.
	"dirty": {"", " mul.wide.u32 %rd3, %r3, 128;\n add.u64 %rd3, %rd1, %rd3;\n" +
		times(5, "st.global.u32 [%rd3+$i*32768], %r1;") + times(5, "ld.global.u32 %r1$h, [%rd3+$i*32768];")},
	// Whole sectors written, read at once, then lines that push them out.
	"evict": {"", times(4, "st.global.u32 [%rd2+$i*4096], %r1;\nld.global.u32 %r1$h, [%rd2+$i*4096];") +
		times(8, "ld.global.u32 %r2$g, [%rd2+65536+$i*8192];") + times(4, "ld.global.u32 %r1$h, [%rd2+$i*4096];")},
	// Accesses of 8 and 16 bytes.
	"wide": {"", " mul.wide.u32 %rd3, %r3, 16;\n add.u64 %rd3, %rd1, %rd3;\n" +
		times(3, "ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd3+$i*8192];\nst.global.v2.u32 [%rd3+$i*8192+32768], {%r10, %r11};")},
	"consts": {"", " and.b32 %r4, %r1, 7;\n mul.wide.u32 %rd3, %r4, 4;\n mov.u64 %rd4, table;\n add.u64 %rd3, %rd3, %rd4;\n" +
		times(8, "ld.const.u32 %r1$h, [%rd3+$i*416];") + times(8, "ld.const.u32 %r1$h, [%rd3+$i*416];")},
	// Constants of lines that the warps want in different orders.
	"constmix": {"", " shr.u32 %r4, %r1, 5;\n mul.wide.u32 %rd3, %r4, 832;\n mov.u64 %rd4, table;\n add.u64 %rd3, %rd3, %rd4;\n" +
		times(4, "ld.const.u32 %r1$h, [%rd3+$i*64];") + times(4, "ld.const.u32 %r2$h, [%rd4+$i*64];")},
	"tex": {"", " ld.param.u64 %rd5, [tex];\n cvt.rn.f32.u32 %f1, %r1;\n cvt.rn.f32.u32 %f2, %r2;\n" +
		times(6, "add.f32 %f2, %f2, 0f40E00000;\ntex.2d.v4.f32.f32 {%f10, %f11, %f12, %f13}, [%rd5, {%f1, %f2}];") +
		times(4, "sub.f32 %f2, %f2, 0f40E00000;\ntex.2d.v4.f32.f32 {%f10, %f11, %f12, %f13}, [%rd5, {%f1, %f2}];")},
	// Shared memory with conflicts of several kinds.
	"shared": {" .shared .align 16 .b8 s[8192];\n", " mov.u32 %r4, s;\n and.b32 %r7, %r1, 31;\n shl.b32 %r5, %r7, 4;\n add.u32 %r5, %r4, %r5;\n shr.u32 %r6, %r7, 3;\n shl.b32 %r6, %r6, 3;\n add.u32 %r6, %r4, %r6;\n" +
		times(4, "st.shared.u32 [%r5+$i*512], %r1;\nld.shared.u32 %r1$h, [%r5+$i*512];\nld.shared.u32 %r2$h, [%r6+$i*512];\nld.shared.v4.u32 {%r30, %r31, %r32, %r33}, [%r5+$i*512];")},
	// All lanes of a warp want the same words.
	"cast": {" .shared .align 16 .b8 s[512];\n", " mov.u32 %r4, s;\n" +
		times(30, "ld.shared.u32 %r1$h, [%r4+$i*4];") + times(3, "ld.shared.v4.u32 {%r30, %r31, %r32, %r33}, [%r4];")},
	"atomics": {"", " and.b32 %r4, %r1, 3;\n mul.wide.u32 %rd3, %r4, 4;\n add.u64 %rd3, %rd1, %rd3;\n" +
		times(3, "atom.global.add.u32 %r10, [%rd3+$i*64], 1;\nadd.u32 %r11, %r11, %r1;\nadd.u32 %r12, %r12, %r10;")},
	// One warp whose next address depends on an atomic's answer.
	"counter": {"", times(6, "add.u32 %r20, %r20, 1;\ncvt.u64.u32 %rd4, %r20;\nand.b64 %rd4, %rd4, 0;\nadd.u64 %rd3, %rd1, %rd4;\natom.global.add.u32 %r10, [%rd3+$i*64], 1;\nadd.u32 %r21, %r21, 5;")},
	"local": {" .local .align 8 .b8 l[256];\n", " mov.u64 %rd3, l;\n" +
		times(6, "st.local.u32 [%rd3+$i*12], %r1;") + times(6, "ld.local.u32 %r1$h, [%rd3+$i*12];") +
		times(6, "st.local.u32 [%rd3+$i*12], %r1$h;")},
	// Warps at different places of code that is longer than a cache.
	"branches": {"", " and.b32 %r4, %r1, 3;\n" + times(4, `setp.eq.u32 %p1, %r4, $i;
@%p1 bra T$i;
add.u32 %r10, %r10, 1; mul.lo.u32 %r11, %r11, 3; add.u32 %r12, %r12, 1; add.u32 %r13, %r13, 1; mul.lo.u32 %r14, %r14, 3; add.u32 %r15, %r15, 1;
bra J$i;
T$i: ld.global.u32 %r20, [%rd2+$i*512]; add.u32 %r21, %r21, %r20;
J$i: add.u32 %r22, %r22, 1;`)},
	"fences": {"", times(4, "st.global.u32 [%rd2+$i*4096], %r1;\nmembar.gl;\nld.global.u32 %r1$h, [%rd2];\nadd.u32 %r30, %r30, %r1$h;")},
	// All units at once, with operands in the same register banks.
	"mix": {"", times(12, `add.u32 %r1$d, %r2$d, %r3$d;
fma.rn.f32 %f1$d, %f2$d, %f3$d, %f4$d;
fma.rn.f64 %d1$d, %d2$d, %d3$d, %d4$d;
sin.approx.f32 %f5$d, %f2$d;
mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r4$d, %r5$d}, {%r6$d, %r78}, {%r79}, {%r2$d, %r3$d};
ld.global.u32 %r7$d, [%rd2+$d*64];`)},
	// Much arithmetic whose operands all lie in few register banks.
	"banks": {"", times(24, "fma.rn.f32 %f1$d, %f24, %f32, %f40;\nmad.lo.u32 %r1$d, %r24, %r32, %r40;")},
	// Short blocks.
	"short": {"", " add.u32 %r10, %r3, 1;\n st.global.u32 [%rd2], %r10;\n"},
	// A loop of many cycles.
	"long":  {"", " mov.u32 %r4, 60;\nL: sub.u32 %r4, %r4, 1;\n setp.ne.u32 %p1, %r4, 0;\n @%p1 bra L;\n st.global.u32 [%rd2], %r4;\n"},
	"empty": {"", ""},
	// Warps that wait for each other forever.
	"hang": {"", " setp.eq.u32 %p1, %r2, 0;\nL: ld.volatile.global.u32 %r4, [%rd1];\n setp.eq.u32 %p1, %r4, 0;\n @%p1 bra L;\n"},
	// Its last barrier has the number 5.
	"named": {"", " bar.sync 5;\n"},
	// Warps that run parts of a long code in different orders.
	"roam": {"", " shr.u32 %r4, %r1, 5;\n shr.u32 %r5, %r3, 5;\n and.b32 %r4, %r5, 7;\n mov.u32 %r6, 12;\nNEXT: mul.lo.u32 %r4, %r4, 3;\n add.u32 %r4, %r4, 1;\n and.b32 %r4, %r4, 7;\n" +
		times(8, "setp.eq.u32 %p1, %r4, $g;\n@%p1 bra S$g;") + " bra END;\n" +
		times(8, "S$g: "+strings.Repeat("add.u32 %r10, %r11, 1; xor.b32 %r12, %r13, 1; ", 16)+"bra END;") +
		"END: sub.u32 %r6, %r6, 1;\n setp.ne.u32 %p1, %r6, 0;\n @%p1 bra NEXT;\n"},
	// Rare ways of naming registers and addresses.
	"names": {" .reg .b32 alpha, beta, x7, y7;\n", times(10, "add.u32 alpha, x7, y7;\nadd.u32 beta, %r7, x7;\nfma.rn.f32 %f7, %f15, %f23, %f31;\nmad.lo.u32 x7, %r15, %r23, y7;")},
}

func init() {
	for op := range ops {
		chain, flood := "", ""
		for i := range chainLength {
			chain += " " + opText(op, fmt.Sprint(10+(i+1)%2), fmt.Sprint(10+i%2)) + "\n"
			flood += " " + opText(op, fmt.Sprint(10+i%16), fmt.Sprint(30+i%16)) + "\n"
		}
		bodies["chain_"+op] = [2]string{"", chain}
		bodies["flood_"+op] = [2]string{"", flood}
	}
}

// program links a kernel.
func program(t *testing.T, name string) *xptx.Program {
	t.Helper()
	body, ok := bodies[name]
	if !ok {
		t.Fatalf("no kernel %s", name)
	}
	text := ".version 7.0\n.target sm_75\n.address_size 64\n.const .align 4 .b32 table[4096];\n" + fmt.Sprintf(head, name) + body[0]
	if _, op, _ := strings.Cut(name, "_"); op == "" {
		text += places
	}
	text += body[1] + tail
	mod, err := ptx.Parse(name+".ptx", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	prog, err := xptx.Link(mod)
	if err != nil {
		t.Fatal(err)
	}
	return prog
}

// load is a launch of a kernel, or several.
type load struct {
	kernel    string
	blocks    int  // of the grid
	threads   int  // of a block
	launches  int  // on one stream, one after the other; 0: one
	streams   int  // number of streams for the launches; 0: one
	registers int  // of a thread; 0: 16
	shared    int  // dynamic, bytes of a block
	copies    bool // each launch after a copy from the host
	back      bool // and one to it
	engines   bool // copies in each direction on their own streams, before the launches
	peer      bool // and a copy between chips
	prefer    gpu.Preference
	printed   bool // also compare the counters as GPGPU-Sim prints them
	shrink    bool // only the first launch has the shared memory
	far       bool // the memory lies beyond the first 4 GiB
}

// outcome is all numbers of a run, and how it ended.
type outcome struct {
	end      string // "" if nothing stopped it
	cycles   uint64
	numbers  map[string]uint64
	explains string
}

// memoryBytes is the memory that kernels work on.
const memoryBytes = 1 << 20

// perform runs a load on a machine.
func perform(t *testing.T, g *config.GPU, l load) outcome {
	t.Helper()
	cfg := g.ChipConfig()
	if cfg.Run.MaxCycles == 0 {
		cfg.Run.MaxCycles = 400_000
	}
	chip, err := gpu.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	dev := device.New(device.Config{Packed: cfg.Compat.PackedMemory})
	prog := program(t, l.kernel)
	m, err := xptx.NewMachine(prog, dev)
	if err != nil {
		t.Fatal(err)
	}
	if l.far {
		if _, err := dev.Alloc(5<<28, "far"); err != nil {
			t.Fatal(err)
		}
	}
	var at [3]uint64
	for i := range at { // neighbours, of which the middle one is used
		if at[i], err = dev.Alloc(memoryBytes, fmt.Sprint("data", i)); err != nil {
			t.Fatal(err)
		}
	}
	texels, err := dev.Alloc(64*64*4, "texels")
	if err != nil {
		t.Fatal(err)
	}
	tex, err := m.TextureObject(texture.Texture{Addr: texels, Format: "f32", Channels: 1, Width: 64, Height: 64})
	if err != nil {
		t.Fatal(err)
	}
	params := binary.LittleEndian.AppendUint64(nil, at[1])
	params = binary.LittleEndian.AppendUint64(params, tex)
	var list []*gpu.Op
	add := func(o *gpu.Op) {
		if err == nil {
			err = chip.Add(o)
			list = append(list, o)
		}
	}
	k, ok := prog.Kernel(l.kernel)
	if !ok {
		t.Fatal("no kernel ", l.kernel)
	}
	if l.engines {
		for i, w := range []gpu.CopyWay{gpu.ToDevice, gpu.ToHost, gpu.OnDevice} {
			add(&gpu.Op{Kind: gpu.OpCopy, Stream: int64(i + 1), Way: w, Bytes: 1 << 16})
		}
	}
	if l.peer {
		gpu.NewMachine([]*gpu.GPU{chip}, func(uint64) int { return 0 })
		add(&gpu.Op{Kind: gpu.OpCopy, Way: gpu.ToPeer, Bytes: 1 << 16})
	}
	var printed strings.Builder
	if l.printed {
		chip.OnEnd(func(k *gpu.Kernel) {
			if err := chip.WriteAccelSim(&printed, k, 1, 0, 0); err != nil {
				t.Fatal(err)
			}
		})
	}
	for i := range max(1, l.launches) {
		if i > 0 && l.shrink {
			l.shared = 0
		}
		if l.copies {
			add(&gpu.Op{Kind: gpu.OpCopy, Fills: []gpu.Range{{Addr: at[1], Bytes: 4096}}})
		}
		if l.back {
			add(&gpu.Op{Kind: gpu.OpCopy, ToHost: []gpu.Range{{Addr: at[1], Bytes: 4096}}})
		}
		for s := range max(1, l.streams) {
			launch := xptx.Launch{Kernel: k, Grid: exec.Dim3{X: uint32(l.blocks), Y: 1, Z: 1}, Block: exec.Dim3{X: uint32(l.threads), Y: 1, Z: 1},
				Shared: l.shared, Params: params, TakenFirst: cfg.Compat.TakenFirst}
			o := &gpu.Op{Kind: gpu.OpLaunch, Make: func(bool) (exec.Work, error) { return m.NewWork(launch, nil) }, Save: dev.Save}
			if l.streams > 1 {
				o.Stream = int64(s + 1)
			}
			o.Options.Registers, o.Options.Prefer = l.registers, l.prefer
			if l.registers == 0 {
				o.Options.Registers = 16
			}
			add(o)
		}
	}
	if err == nil {
		err = chip.Finish(context.Background())
	}
	out := outcome{numbers: map[string]uint64{}}
	var limit *exec.LimitError
	var stuck *exec.StuckError
	var refused *exec.LaunchError
	switch {
	case errors.As(err, &limit):
		out.end = "limit"
	case errors.As(err, &stuck):
		out.end = "stuck"
	case errors.As(err, &refused):
		out.end = "refused"
	case err != nil:
		t.Fatal(err)
	}
	if err != nil {
		out.explains = err.Error()
	}
	out.cycles = chip.Now()
	total := chip.Totals()
	flatten(reflect.ValueOf(total), "", out.numbers)
	delete(out.numbers, ".Chip.Skipped")
	out.numbers["cycles"] = out.cycles
	for i, o := range list {
		if k := o.Kernel; k != nil {
			at := fmt.Sprintf("launch %d ", i)
			out.numbers[at+"start"], out.numbers[at+"first"], out.numbers[at+"end"] = k.Start, k.FirstBlock, k.End
			out.numbers["logged blocks"] = uint64(len(k.BlockLog))
			out.numbers["blocks per SM"], out.numbers["limited by "+k.LimitedBy.String()], out.numbers["L1 ways"] = uint64(k.MaxBlocks), 1, uint64(k.L1Ways)
		}
	}
	for line := range strings.SplitSeq(printed.String(), "\n") {
		if name, value, ok := strings.Cut(line, "="); ok {
			if n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 64); err == nil {
				out.numbers[strings.TrimSpace(name)] = n
			}
		}
	}
	return out
}

// flatten lists the nonzero counters of a struct.
func flatten(v reflect.Value, at string, into map[string]uint64) {
	switch v.Kind() {
	case reflect.Uint64:
		if v.Uint() != 0 {
			into[at] = v.Uint()
		}
	case reflect.Int:
		if v.Int() != 0 {
			into[at] = uint64(v.Int())
		}
	case reflect.Float64:
		if v.Float() != 0 {
			into[at] = math.Float64bits(v.Float())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.Name == "parts" { // of Counters, to which they belong
				flatten(v.Field(i), at, into)
			} else {
				flatten(v.Field(i), at+"."+f.Name, into)
			}
		}
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			flatten(v.Elem(), at, into)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			flatten(v.Index(i), fmt.Sprintf("%s[%d]", at, i), into)
		}
	}
}

// base reads the small machine followed by options and settings: lines that start
// with - are options of GPGPU-Sim, with "net " settings of its network file, others
// key=value.
func base(t *testing.T, lines string) *config.GPU {
	t.Helper()
	var options, net strings.Builder
	var keys []string
	for line := range strings.SplitSeq(lines, "\n") {
		switch line = strings.TrimSpace(line); {
		case line == "":
		case line[0] == '-':
			fmt.Fprintln(&options, line)
		case strings.HasPrefix(line, "net "):
			fmt.Fprintln(&net, line[4:])
		default:
			keys = append(keys, line)
		}
	}
	g, _, err := config.ReadGPGPUSim("effects", []config.NamedText{{File: "gpgpusim.config", Text: baseText(t)}, {File: "more.config", Text: options.String()}},
		func(string) (string, error) { return net.String(), nil })
	if err != nil {
		t.Fatalf("%s: %v", lines, err)
	}
	for _, k := range keys {
		if err := g.Set(k); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.Check(); err != nil {
		t.Fatalf("%s: %v", lines, err)
	}
	return g
}

func baseText(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("testdata/effects/gpgpusim.config")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
