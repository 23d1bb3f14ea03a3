package micro

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/trace"
	"github.com/heddle-sim/heddle/internal/trace/tracetest"
)

func gpr(n uint16) trace.Reg { return trace.Reg{File: isa.RegGPR, N: n} }

// load is an instruction from the tracer's file of MaxFlops on an RTX 50.
const load = `{"pc_string_hex":"0090","pc_num_dec":144,"op_code":"LDG.E","is_predicated":false,"is_uniform_predicate":false,"is_predicate_negate":false,
"predicate_register":0,"num_destination_registers":1,"encoded_instruction":["0x0000000404057981","0x002ea2000c1e1900"],
"operands":[{"operand_string":"R5","operand_type":"REG","has_reg":true,"is_negative_reg":false,"is_absolute_reg":false,"operand_reg_number":5,"has_inmediate":false,
"operand_inmmediates":[],"is_reuse_bit_set":false,"operand_modifiers":[]},
{"operand_string":"desc[UR4][R4.64]","operand_type":"DESC","has_reg":false,"is_negative_reg":false,"is_absolute_reg":false,"operand_reg_number":0,"has_inmediate":false,
"operand_inmmediates":[],"is_reuse_bit_set":false,"operand_modifiers":["64"]}],
"control_bits":{"stall_count":1,"is_yield":false,"is_new_read_barrier":false,"is_new_write_barrier":true,"id_new_read_barrier":7,"id_new_write_barrier":2,"wait_barrier_bits":2},
"register_usage":{"num_regular":6,"num_uniform":2,"num_regular_predicate":0,"num_uniform_predicate":0,"future_max_num_regular":0,"future_max_num_uniform":0,
"future_max_num_regular_predicate":0,"future_max_num_uniform_predicate":0}}`

func functionJSON(captured bool, insts ...string) string {
	return fmt.Sprintf(`{"benchmark_name":"x","kernels":[{"kernel_name":"_Z9max_flopsIfEvPjS0_PT_S2_S2____0","architecture_version":120,
"is_captured_from_binary":%v,"unique_function_id":1,"function_address":139639377101568,"instructions":[%s]}]}`, captured, strings.Join(insts, ","))
}

func TestRecordedInstruction(t *testing.T) {
	want := trace.Static{
		Func: 1, PC: 0x90, Op: "LDG.E", Dsts: []trace.Reg{gpr(5)}, Srcs: []trace.Reg{{File: isa.RegUGPR, N: 4}, gpr(4)},
		Control: &isa.Control{Stall: 1, Read: isa.NoCounter, Write: 2, Wait: 2},
		Words:   [2]uint64{0x0000000404057981, 0x002ea2000c1e1900},
		Guard:   trace.Guard{Known: true, Reg: 7}, Text: "LDG.E R5, desc[UR4][R4.64]",
	}
	code, err := getCode(strings.NewReader(functionJSON(true, load)))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]trace.Static{want}, code); d != "" {
		t.Error(d)
	}
	// Writing reproduces keys and values, except for the counts of live registers.
	var a, b map[string]any
	if err := json.Unmarshal([]byte(load), &a); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(put(&want, true))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &b); err != nil {
		t.Fatal(err)
	}
	for k := range a["register_usage"].(map[string]any) {
		if _, ok := b["register_usage"].(map[string]any)[k]; !ok {
			t.Errorf("register_usage lacks %s", k)
		}
	}
	delete(a, "register_usage")
	delete(b, "register_usage")
	// Modifiers of the register within an address are not distinguished there.
	a["operands"].([]any)[1].(map[string]any)["operand_modifiers"] = []any{}
	if d := cmp.Diff(a, b); d != "" {
		t.Error(d)
	}
	// Without the binary the tracer has no control bits.
	code, err = getCode(strings.NewReader(functionJSON(false, load)))
	if err != nil {
		t.Fatal(err)
	}
	if code[0].Control != nil || code[0].Guard.Known {
		t.Errorf("%+v", code[0])
	}
}

// The recorded control bits equal those in the encoded words.
func TestRecordedControl(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(tracetest.Dir(t), "control-bits-sample.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	r := csv.NewReader(bytes.NewReader(b))
	r.Comma, r.Comment, r.FieldsPerRecord, r.LazyQuotes = '\t', '#', -1, true
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 13 {
		t.Fatalf("%d rows, want 13", len(rows))
	}
	for _, row := range rows {
		var n [5]int
		for i, s := range row[5:10] {
			if n[i], err = strconv.Atoi(s); err != nil {
				t.Fatal(err)
			}
		}
		j := jsonInst{Op: row[1], Words: row[3:5], Control: jsonControl{
			Stall: n[0], Yield: n[1] == 1, Write: n[2], NewWrite: n[2] != 7, Read: n[3], NewRead: n[3] != 7, Wait: n[4],
		}}
		for _, o := range strings.Split(row[2], ",") {
			j.Operands = append(j.Operands, operand(o))
		}
		s, err := j.static(&jsonFunction{Captured: true})
		if err != nil {
			t.Fatal(err)
		}
		c := s.Words[1] >> 41
		want := isa.Control{Stall: uint8(c & 15), Yield: c>>4&1 == 0, Write: uint8(c >> 5 & 7), Read: uint8(c >> 8 & 7), Wait: uint8(c >> 11 & 63)}
		if *s.Control != want {
			t.Errorf("%s: %v, its words have %v", row[1], *s.Control, want)
		}
	}
}

func TestOperands(t *testing.T) {
	ureg := func(n uint16) trace.Reg { return trace.Reg{File: isa.RegUGPR, N: n} }
	pred := func(n uint16) trace.Reg { return trace.Reg{File: isa.RegPred, N: n} }
	for _, c := range []struct {
		text string
		kind string
		regs []trace.Reg
	}{
		{"R2", "REG", []trace.Reg{gpr(2)}},
		{"-R2.reuse", "REG", []trace.Reg{gpr(2)}},
		{"|R255|", "REG", []trace.Reg{gpr(255)}},
		{"RZ", "REG", []trace.Reg{gpr(255)}},
		{"URZ", "UREG", []trace.Reg{ureg(63)}},
		{"UR6", "UREG", []trace.Reg{ureg(6)}},
		{"PT", "PRED", []trace.Reg{pred(7)}},
		{"!P0", "PRED", []trace.Reg{pred(0)}},
		{"UPT", "UPRED", []trace.Reg{{File: isa.RegUPred, N: 7}}},
		{"0x4", "IMM_UINT64", nil},
		{"-0x8000000000000000", "IMM_UINT64", nil},
		{"18446744073709551615", "IMM_UINT64", nil},
		{"1.5", "IMM_DOUBLE", nil},
		{"+INF", "GENERIC", nil},
		{"c[0x0][0x37c]", "CBANK", nil},
		{"c[0x0][R4]", "CBANK", []trace.Reg{gpr(4)}},
		{"[R2.64+UR4+0x10]", "MREF", []trace.Reg{gpr(2), ureg(4)}},
		{"desc[UR4][R6.64]", "DESC", []trace.Reg{ureg(4), gpr(6)}},
		{"SR_CTAID.X", "SR", nil},
		{"SB0", "SB", nil},
		{"B0", "BREG", nil},
		{"`(.L_x_1)", "CALL_TARGET", nil},
		{"R2D", "GENERIC", nil},
		{"R02", "GENERIC", nil},
		{"R256", "GENERIC", nil},
		{"", "GENERIC", nil},
	} {
		if o := operand(c.text); o.Type != c.kind {
			t.Errorf("%q: %s, want %s", c.text, o.Type, c.kind)
		}
		if got := registers(c.text); !slices.Equal(got, c.regs) {
			t.Errorf("%q: %v, want %v", c.text, got, c.regs)
		}
	}
}

func TestMangled(t *testing.T) {
	for in, want := range map[string]string{
		"_Z9max_flopsIfEvPjS0_PT_S2_S2____0": "_Z9max_flopsIfEvPjS0_PT_S2_S2_",
		"_Z6kernelv___12":                    "_Z6kernelv", "plain": "plain", "a___": "a___", "a___b": "a___b", "___3": "___3", "": "",
	} {
		if got := mangled(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// A thread block in the wire format, byte by byte.
func TestWire(t *testing.T) {
	msg := []byte{
		0x0a, 0x02, 0x08, 0x02, // block_id {x 2}
		0x12, 0x31, // warps, an entry
		0x08, 0x01, // key 1
		0x12, 0x2d, // value, a warp
		0x08, 0x01, // id 1
		0x12, 0x0a, // an instruction
		0x10, 0xff, 0xff, 0xff, 0xff, 0x0f, // active_mask, all; pc and predicate_mask are 0 and left out
		0x20, 0x05, // function_unique_id
		0x2a, 0x00, // an address of zeros alone
		0x12, 0x1d, // an instruction
		0x08, 0x10, // pc 16
		0x10, 0x07, 0x18, 0x07, 0x20, 0x05,
		0x2a, 0x13, // an address
		0x08, 0x04, // width 4
		0x18, 0x02, // base_delta
		0x20, 0x80, 0x20, // base 4096
		0x32, 0x0a, 0xfc, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, // packed: -4 …
	}
	code := []trace.Static{{Func: 5, PC: 0}, {Func: 5, PC: 16, Width: 4}}
	var b trace.Block
	// One difference is missing: three lanes need two.
	if err := getBlock(msg, &lookup{code: code, last: -1}, &b, nil); err == nil || !strings.Contains(err.Error(), "3 lanes are set") {
		t.Fatal(err)
	}
	msg = append(msg, 0x08) // … 4
	for _, at := range []int{5, 9, 25, 35, 44} {
		msg[at]++ // the lengths of all messages around it
	}
	if err := getBlock(msg, &lookup{code: code, last: -1}, &b, nil); err != nil {
		t.Fatal(err)
	}
	want := trace.Block{
		Index: trace.Dim{2, 0, 0}, Warps: []trace.Warp{{ID: 1, From: 0, Upto: 2}},
		Insts: []trace.Inst{{At: 0, Active: isa.FullMask, Mem: 0, NMems: 1}, {At: 1, Active: 7, Mask: 7, Mem: 1, NMems: 1}},
		Mems:  []trace.Mem{{}, {Mode: trace.BaseDelta, Base: 4096, N: 2}}, Deltas: []int64{-4, 8},
	}
	if d := cmp.Diff(want, b); d != "" {
		t.Error(d)
	}
	// Writing gives the same bytes.
	code[0].Width = 0
	got, err := putBlock(&b, code, []int32{5, 5})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, msg) {
		t.Errorf("% x\nwant\n% x", got, msg)
	}
}

// memory is a launch in memory.
type memory struct {
	kernel trace.Kernel
	blocks []*trace.Block
}

func (m *memory) Name() string                  { return "drawn" }
func (m *memory) Header() (trace.Header, error) { return m.kernel.Header, nil }
func (m *memory) Open() (*trace.Kernel, error) {
	k := m.kernel
	k.Blocks = m
	return &k, nil
}
func (m *memory) Block(i int) (*trace.Block, error) { return m.blocks[i], nil }
func (m *memory) Free(*trace.Block)                 {}
func (m *memory) Close() error                      { return nil }

func some[T any](r *rapid.T, name string, list ...T) T { return rapid.SampledFrom(list).Draw(r, name) }

// drawCode draws the functions of a run, each with control bits for all of its
// instructions or for none.
func drawCode(r *rapid.T) (code []trace.Static) {
	reg := func() trace.Reg {
		f := some(r, "file", isa.RegGPR, isa.RegGPR, isa.RegUGPR, isa.RegPred, isa.RegUPred)
		n := rapid.Uint16Range(0, map[isa.RegFile]uint16{isa.RegGPR: 255, isa.RegUGPR: 63, isa.RegPred: 7, isa.RegUPred: 7}[f]).Draw(r, "n")
		return trace.Reg{File: f, N: n}
	}
	for f := range int32(3) {
		captured := rapid.Bool().Draw(r, "captured")
		for i := range rapid.Uint32Range(1, 8).Draw(r, "instructions") {
			s := trace.Static{Func: f * 7, PC: i * 16, Op: some(r, "op", "LDG.E.64", "LDGSTS.E", "FFMA", "EXIT", "CALL.REL.NOINC")}
			s.Width = some[uint8](r, "width", 0, 1, 4, 16)
			texts := []string{}
			for range rapid.IntRange(0, 2).Draw(r, "dsts") {
				s.Dsts = append(s.Dsts, reg())
			}
			for range rapid.IntRange(0, 4).Draw(r, "srcs") {
				s.Srcs = append(s.Srcs, reg())
			}
			for _, x := range append(slices.Clone(s.Dsts), s.Srcs...) {
				texts = append(texts, registerText(x))
			}
			for range rapid.IntRange(0, 2).Draw(r, "imms") {
				v := rapid.Int64().Draw(r, "imm")
				s.Imms = append(s.Imms, v)
				texts = append(texts, hex(v))
			}
			if captured {
				small := func(n uint8) uint8 { return rapid.Uint8Range(0, n).Draw(r, "bits") }
				general := 0
				for _, x := range s.Srcs {
					if x.File == isa.RegGPR {
						general++
					}
				}
				s.Control = &isa.Control{
					Stall: small(15), Yield: rapid.Bool().Draw(r, "yield"), Write: some[uint8](r, "write", 0, 5, 7), Read: some[uint8](r, "read", 1, 7),
					Wait: small(63), Reuse: small(1<<general - 1),
				}
				s.Words = [2]uint64{rapid.Uint64().Draw(r, "lo"), rapid.Uint64().Draw(r, "hi")}
				s.Guard = trace.Guard{Known: true, Reg: 7}
			}
			if rapid.Bool().Draw(r, "guarded") {
				s.Guard = trace.Guard{Known: true, Negated: rapid.Bool().Draw(r, "not"), Uniform: rapid.Bool().Draw(r, "uniform"), Reg: rapid.Uint8Range(0, 6).Draw(r, "guard")}
			}
			s.Text = s.Op
			if len(texts) > 0 {
				s.Text += " " + strings.Join(texts, ", ")
			}
			if g := guardText(s.Guard); g != "" {
				s.Text = g + " " + s.Text
			}
			code = append(code, s)
		}
	}
	return code
}

func drawLaunch(r *rapid.T, id int64, all []trace.Static) *memory {
	dim := func(most uint32) trace.Dim {
		n := rapid.Uint32Range(1, most)
		return trace.Dim{n.Draw(r, "x"), n.Draw(r, "y"), n.Draw(r, "z")}
	}
	m := &memory{}
	k := &m.kernel
	k.Header = trace.Header{
		Kernel: some(r, "kernel", "_Z1av", "_Z1b_"), ID: id, Grid: dim(3), Block: dim(64), Shared: rapid.IntRange(0, 1<<20).Draw(r, "shared"),
		Registers: rapid.IntRange(0, 255).Draw(r, "registers"), Arch: 120, Stream: 3, SharedBase: rapid.Uint64().Draw(r, "sharedbase"),
		LocalBase: rapid.Uint64().Draw(r, "localbase"), NVBit: "1.7.5", Version: 4,
	}
	// The code lists what occurs, so everything drawn occurs in the first warp.
	for _, s := range all {
		if rapid.Bool().Draw(r, "occurs") {
			k.Code = append(k.Code, s)
		}
	}
	for n := range k.Grid.Count() {
		if n > 0 && rapid.IntRange(0, 4).Draw(r, "absent") == 0 {
			continue
		}
		b := &trace.Block{Index: k.Grid.At(n)}
		id := int32(-1)
		for range rapid.IntRange(1, 3).Draw(r, "warps") {
			id += rapid.Int32Range(1, 3).Draw(r, "id")
			w := trace.Warp{ID: id, From: int32(len(b.Insts))}
			for at := range k.Code {
				in := trace.Inst{At: int32(at), Active: isa.LaneMask(rapid.Uint32().Draw(r, "active")), Mem: -1}
				in.Mask = in.Active & isa.LaneMask(some(r, "mask", 0xffffffff, 0xffff, rapid.Uint32().Draw(r, "bits")))
				if k.Code[at].Width > 0 {
					in.Mem, in.NMems = int32(len(b.Mems)), some[uint8](r, "accesses", 1, 2)
				}
				for range in.NMems {
					x := trace.Mem{Mode: some(r, "mode", trace.ListAll, trace.BaseStride, trace.BaseDelta), Base: rapid.Uint64().Draw(r, "base")}
					deltas := 0
					switch x.Mode {
					case trace.BaseStride:
						x.Stride = rapid.Int32().Draw(r, "stride")
					case trace.BaseDelta:
						deltas = max(0, in.Mask.Count()-1)
					case trace.ListAll:
						deltas = in.Mask.Count()
					}
					if x.N = uint8(deltas); deltas > 0 {
						x.First = int32(len(b.Deltas))
					}
					for range deltas {
						b.Deltas = append(b.Deltas, some[int64](r, "delta", 4, -4, 1<<40))
					}
					b.Mems = append(b.Mems, x)
				}
				b.Insts = append(b.Insts, in)
				k.WarpInsts++
				k.ThreadInsts += uint64(in.Mask.Count())
			}
			w.Upto = int32(len(b.Insts))
			b.Warps = append(b.Warps, w)
		}
		k.Present = append(k.Present, n)
		m.blocks = append(m.blocks, b)
	}
	return m
}

// A run in this format is read back unchanged.
func TestRandom(t *testing.T) {
	alltests.Only(t, "random traces")
	root := t.TempDir()
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		dir := filepath.Join(root, strconv.Itoa(n))
		set := &trace.Set{Form: form}
		all := drawCode(r)
		for i := range rapid.IntRange(1, 4).Draw(r, "commands") {
			c := trace.Command{File: filepath.Join(dir, listName), Line: i + 1}
			if rapid.Bool().Draw(r, "copy") {
				c.Addr, c.Bytes = rapid.Uint64().Draw(r, "addr"), rapid.Uint64().Draw(r, "bytes")
				c.Text = fmt.Sprintf("MemcpyHtoD,0x%016x,%d", c.Addr, c.Bytes)
			} else {
				c.Launch = drawLaunch(r, int64(i+1), all)
				c.Text = fmt.Sprintf("kernel-%d.trace", i+1)
			}
			set.Commands = append(set.Commands, c)
		}
		if err := Write(dir, set, nil); err != nil {
			r.Fatal(err)
		}
		got, err := Open(dir)
		if err != nil {
			r.Fatal(err)
		}
		opts := cmp.Options{cmpopts.EquateEmpty(), cmpopts.IgnoreFields(trace.Command{}, "Launch"), cmpopts.IgnoreFields(trace.Set{}, "Name", "Files"),
			cmpopts.IgnoreFields(trace.Kernel{}, "Blocks", "Warnings")}
		if d := cmp.Diff(set, got, opts); d != "" {
			r.Fatal(d)
		}
		for i := range set.Commands {
			m, ok := set.Commands[i].Launch.(*memory)
			if !ok {
				continue
			}
			k, err := got.Commands[i].Launch.Open()
			if err != nil {
				r.Fatal(err)
			}
			if d := cmp.Diff(&m.kernel, k, opts); d != "" {
				r.Fatal(d)
			}
			if absent := m.kernel.Grid.Count() != uint64(len(m.blocks)); absent != (len(k.Warnings) > 0) {
				r.Fatal(k.Warnings)
			}
			for i := range m.blocks {
				b, err := k.Blocks.Block(i)
				if err != nil {
					r.Fatal(err)
				}
				if d := cmp.Diff(m.blocks[i], b, opts); d != "" {
					r.Fatal(d)
				}
			}
		}
	})
}

// small returns a folder with a trace of two launches.
func small(t testing.TB) string {
	t.Helper()
	set := &trace.Set{Name: "small", Form: form}
	for id := range int64(2) {
		m := &memory{}
		m.kernel.Header = trace.Header{Kernel: "_Z1av", ID: id, Grid: trace.Dim{2, 1, 1}, Block: trace.Dim{32, 1, 1}, Arch: 86}
		m.kernel.Code = []trace.Static{
			{Func: 1, PC: 0, Op: "LDGSTS.E", Width: 4, Srcs: []trace.Reg{gpr(4), gpr(2)}, Control: &isa.Control{Stall: 4, Read: 0, Write: 7}},
			{Func: 2, PC: 0, Op: "EXIT", Control: &isa.Control{Stall: 5, Read: 7, Write: 7}},
		}
		for n := range uint64(2) {
			m.kernel.Present = append(m.kernel.Present, n)
			m.blocks = append(m.blocks, &trace.Block{
				Index: m.kernel.Grid.At(n), Warps: []trace.Warp{{ID: 0, From: 0, Upto: 2}},
				Insts:  []trace.Inst{{At: 0, Active: isa.FullMask, Mask: 0xf0f, Mem: 0, NMems: 2}, {At: 1, Active: isa.FullMask, Mask: isa.FullMask, Mem: -1}},
				Mems:   []trace.Mem{{Mode: trace.BaseDelta, Base: 64, N: 7}, {Mode: trace.BaseDelta, Base: 1 << 40, First: 7, N: 7}},
				Deltas: []int64{4, 4, 4, 4, 4, 4, 4, 8, 8, 8, 800, 8, 8, 8},
			})
		}
		set.Commands = append(set.Commands, trace.Command{Launch: m})
	}
	dir := filepath.Join(t.TempDir(), "run", "traces")
	if err := Write(dir, set, nil); err != nil {
		t.Fatal(err)
	}
	return dir
}

// readAll reads a whole trace and returns the first error.
func readAll(path string) error {
	set, err := Open(path)
	if err != nil {
		return err
	}
	for _, c := range set.Commands {
		if c.Launch == nil {
			continue
		}
		k, err := c.Launch.Open()
		if err != nil {
			return err
		}
		for i := range k.Present {
			b, err := k.Blocks.Block(i)
			if err != nil {
				return err
			}
			k.Blocks.Free(b)
		}
	}
	return nil
}

func TestIs(t *testing.T) {
	dir := small(t)
	for _, path := range []string{dir, filepath.Dir(dir), filepath.Join(dir, listName)} {
		if !Is(path) {
			t.Errorf("%s is recognised as a trace", path)
		}
		if err := readAll(path); err != nil {
			t.Error(err)
		}
	}
	for _, path := range []string{filepath.Join(dir, "stats.csv"), filepath.Join(dir, "absent"), t.TempDir()} {
		if Is(path) {
			t.Errorf("%s is not recognised as a trace", path)
		}
		if _, err := Open(path); err == nil {
			t.Errorf("%s was opened", path)
		}
	}
}

// Errors name the file and the reason.
func TestWrong(t *testing.T) {
	const block = "threadblocks/device_0/stream_0/kernel_1/d_0_s_0_k_1_1,0,0.pb"
	list := func(r run) []byte { return r.put() }
	stream1 := func(events ...string) run {
		return run{devices: []device{{streams: []stream{{kernels: []kernel{{id: 1, grid: trace.Dim{2, 1, 1}}}, events: events}}}}}
	}
	code := func(s string, old string, new string) []byte { return []byte(strings.Replace(s, old, new, 1)) }
	for _, c := range []struct {
		name, file string
		b          []byte // nil: the file is absent
		want       string
	}{
		{"no list", listName, []byte{}, "neither copies nor launches"},
		{"list of text", listName, []byte("#traces format = x\n"), "damaged"},
		{"copy", listName, list(stream1("MemcpyHtoD,0xzz,4")), `"MemcpyHtoD,0xzz,4" is invalid`},
		{"no such launch", listName, list(stream1("kernel-7.trace")), "has no launch 7"},
		{"a way out", listName, list(stream1("kernel-../../x.trace")), "want kernel-N.trace"},
		{"absurd grid", listName, list(run{devices: []device{{streams: []stream{{kernels: []kernel{{id: 1, grid: trace.Dim{1 << 30, 1 << 30, 9}}}, events: []string{"kernel-1.trace"}}}}}}), "is impossible"},
		{"grid of more than 2⁶⁴ blocks", listName, list(run{devices: []device{{streams: []stream{{kernels: []kernel{{id: 1, grid: trace.Dim{1 << 20, 1 << 20, 1 << 30}}}, events: []string{"kernel-1.trace"}}}}}}), "is impossible"},
		{"grid of zeros", listName, list(run{devices: []device{{streams: []stream{{kernels: []kernel{{id: 1}}, events: []string{"kernel-1.trace"}}}}}}), "is impossible"},
		{"grid too small", listName, list(run{devices: []device{{streams: []stream{{kernels: []kernel{{id: 1, grid: trace.Dim{1, 1, 1}}}, events: []string{"kernel-1.trace"}}}}}}), "of a block of a grid of 1×1×1"},
		{"no static code", staticName, nil, "static code"},
		{"no JSON", staticName, []byte("x"), "invalid character"},
		{"a list", staticName, []byte("[]"), "want {"},
		{"empty", staticName, []byte(`{"kernels":[]}`), "has no instruction at pc"},
		{"words", staticName, code(functionJSON(true, load), `"0x0000000404057981",`, ``), "has 1 words"},
		{"word", staticName, code(functionJSON(true, load), `0x0000000404057981`, `0xg`), `has "0xg"`},
		{"stall", staticName, code(functionJSON(true, load), `"stall_count":1`, `"stall_count":16`), "stall 16 (0 to 15)"},
		{"counter", staticName, code(functionJSON(true, load), `"id_new_write_barrier":2`, `"id_new_write_barrier":6`), "write 6 (0 to 5"},
		{"guard", staticName, code(functionJSON(true, load), `"is_predicated":false,"is_uniform_predicate":false,"is_predicate_negate":false,
"predicate_register":0`, `"is_predicated":true,"predicate_register":8`), "guard is predicate 8"},
		{"twice", staticName, []byte(functionJSON(true, load, load)), "function 1 has two instructions at pc 0x90"},
		{"no block", block, []byte{}, "it contains block 0,0,0"},
		{"block of text", block, []byte("hello, world"), "not a protobuf"},
		{"warp twice", block, slices.Concat(putBytes(nil, 1, putDim(trace.Dim{1})), putEntry(nil, 2, 3, nil), putEntry(nil, 2, 3, nil)), "warp 3 appears twice"},
		{"a fork's", block, putNumber(nil, 3, 1), "a later fork"},
		{"warp", block, putEntry(nil, 2, -1, nil), "does not exist"},
		{"form", block, putEntry(nil, 2, 0, putBytes(nil, 2, putBytes(putNumber(nil, 4, 1), 5, putNumber(nil, 3, 3)))), "mode 3, which is unknown"},
		{"lanes", block, putEntry(nil, 2, 0, putBytes(nil, 2, putBytes(putNumber(nil, 4, 1), 5, putBytes(nil, 6, make([]byte, 33))))), "more than 32 lanes"},
		{"width", block, putEntry(nil, 2, 0, putBytes(nil, 2, putBytes(putNumber(nil, 4, 1), 5, putNumber(nil, 1, 256)))), "256 bytes per lane"},
		{"addresses", block, putEntry(nil, 2, 0, putBytes(nil, 2, append(putNumber(nil, 4, 1), bytes.Repeat([]byte{5<<3 | 2, 0}, 9)...))), "more than 8 addresses"},
		{"unknown pc", block, putEntry(nil, 2, 0, putBytes(nil, 2, putNumber(putNumber(nil, 1, 0x50), 4, 1))), "function 1 has no instruction at pc 0x50"},
		{"renamed", "threadblocks/device_0/stream_0/kernel_1/d_0_s_0_k_1_1,0.pb", []byte{}, "its name must end with"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := small(t)
			path := filepath.Join(dir, c.file)
			var err error
			if c.b == nil {
				err = os.Remove(path)
			} else {
				err = os.WriteFile(path, c.b, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			err = readAll(dir)
			var own *trace.Error
			if !errors.As(err, &own) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, without %q", err, c.want)
			}
		})
	}
}

// A file cut anywhere gives an error or the contents of a shorter message; it never
// causes a panic.
func TestCut(t *testing.T) {
	dir := small(t)
	for _, file := range []string{listName, staticName, "threadblocks/device_0/stream_0/kernel_1/d_0_s_0_k_1_1,0,0.pb"} {
		path := filepath.Join(dir, file)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		failed, tried := 0, 0
		for n := 0; n < len(b); n += alltests.Count(3, 1) {
			tried++
			if err := os.WriteFile(path, b[:n], 0o644); err != nil {
				t.Fatal(err)
			}
			var own *trace.Error
			if err := readAll(dir); errors.As(err, &own) {
				failed++
			} else if err != nil {
				t.Errorf("%s cut after %d: %v", file, n, err)
			}
		}
		// A message may end between two of its fields; JSON may not.
		if least := tried * 8 / 10; failed < least || file == staticName && failed != tried {
			t.Errorf("%s: of %d lengths only %d cause an error", file, tried, failed)
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWriteTwice(t *testing.T) {
	if err := Write(small(t), &trace.Set{}, nil); err == nil || !strings.Contains(err.Error(), "already contains a trace") {
		t.Error(err)
	}
}

func FuzzList(f *testing.F) {
	b, err := os.ReadFile(filepath.Join(small(f), listName))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := getRun(b)
		if err != nil {
			return
		}
		again, err := getRun(r.put())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(r, again, cmp.AllowUnexported(run{}, device{}, stream{}, kernel{}), cmpopts.EquateEmpty()); d != "" {
			t.Error(d)
		}
	})
}

func FuzzBlock(f *testing.F) {
	b, err := os.ReadFile(filepath.Join(small(f), "threadblocks/device_0/stream_0/kernel_1/d_0_s_0_k_1_1,0,0.pb"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	code := []trace.Static{{Func: 1, Width: 4}, {Func: 2}}
	f.Fuzz(func(t *testing.T, b []byte) {
		var x trace.Block
		if getBlock(b, &lookup{code: code, last: -1}, &x, nil) != nil {
			return
		}
		if _, err := putBlock(&x, code, []int32{1, 2}); err != nil {
			t.Fatal(err)
		}
		var addr [32]uint64
		for _, in := range x.Insts {
			for k := range in.NMems {
				x.Expand(&x.Mems[in.Mem+int32(k)], in.Mask, &addr)
			}
		}
	})
}

func FuzzCode(f *testing.F) {
	f.Add(functionJSON(true, load))
	f.Add(functionJSON(false, load))
	f.Fuzz(func(t *testing.T, s string) {
		code, err := getCode(io.Reader(strings.NewReader(s)))
		if err != nil {
			return
		}
		for i := range code {
			put(&code[i], code[i].Control != nil)
		}
	})
}
