package ptx

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// parseFile parses a file of testdata/language without errors.
func parseFile(t *testing.T, name string) *Module {
	t.Helper()
	src, err := os.ReadFile("testdata/language/" + name)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Parse(name, src)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// parseText parses a module given without its first lines.
func parseText(t *testing.T, text string) *Module {
	t.Helper()
	m, err := Parse("test.ptx", []byte(".version 8.0\n.target sm_80\n.address_size 64\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (m *Module) testVar(t *testing.T, name string) *Var {
	t.Helper()
	for _, v := range m.Vars {
		if v.Name == name {
			return v
		}
	}
	t.Fatalf("no variable %s", name)
	return nil
}

func (m *Module) testFunc(t *testing.T, name string) *Func {
	t.Helper()
	for _, f := range m.Funcs {
		if f.Name == name && !f.Proto {
			return f
		}
	}
	t.Fatalf("no function %s", name)
	return nil
}

func TestDirectives(t *testing.T) {
	m := parseFile(t, "directives.ptx")
	if m.VersionMajor != 8 || m.VersionMinor != 7 || m.SM != 90 || m.AddressSize != 64 || !slices.Equal(m.Targets, []string{"sm_90a", "debug"}) {
		t.Errorf("header: version %d.%d, sm %d, %d bits, targets %v", m.VersionMajor, m.VersionMinor, m.SM, m.AddressSize, m.Targets)
	}
	if want := map[int]string{1: `/src/a "b".cu`, 2: "/src/b.cu"}; !cmp.Equal(m.Files, want) {
		t.Errorf("files %v, want %v", m.Files, want)
	}
	k1 := m.testFunc(t, "k1")
	if k1.MaxNTID != [3]int{128, 2, 1} || k1.MinNCTA != 2 || k1.MaxNReg != 64 || !k1.Entry || k1.Linkage != Visible {
		t.Errorf("k1: %v %d %d", k1.MaxNTID, k1.MinNCTA, k1.MaxNReg)
	}
	var got []PtrAttr
	for _, p := range k1.Params[:3] {
		got = append(got, *p.Ptr)
	}
	if want := []PtrAttr{{SpaceGlobal, 16}, {SpaceShared, 0}, {SpaceNone, 0}}; !slices.Equal(got, want) {
		t.Errorf("pointer attributes %v, want %v", got, want)
	}
	if p := k1.Params[3]; p.Align != 8 || p.Size() != 24 || p.Func != k1 {
		t.Errorf("parameter big: align %d, %d bytes", p.Align, p.Size())
	}
	if p := k1.Params[4]; p.Vec != 4 || p.Size() != 16 {
		t.Errorf("parameter vec: %d elements, %d bytes", p.Vec, p.Size())
	}
	k2 := m.testFunc(t, "k2")
	if k2.ReqNTID != [3]int{32, 1, 1} || k2.Cluster != [3]int{2, 1, 1} {
		t.Errorf("k2: %v %v", k2.ReqNTID, k2.Cluster)
	}
	if k4 := m.testFunc(t, "k4"); k4.ReqNTID != [3]int{64, 1, 1} || k4.Cluster != [3]int{4, 1, 1} {
		t.Errorf("k4: %v %v", k4.ReqNTID, k4.Cluster)
	}
	if f := m.testFunc(t, "abi"); !f.NoReturn || len(f.Rets) != 1 || len(f.Perf) != 3 {
		t.Errorf("abi: noreturn %v, %d returns, %d directives", f.NoReturn, len(f.Rets), len(f.Perf))
	}
	if f := m.testFunc(t, "varargs"); !f.Variadic {
		t.Error("varargs is not variadic")
	}
	if f := m.testFunc(t, "with_attr"); !slices.Equal(f.Attrs, []string{".unified(19, 95)"}) {
		t.Errorf("attributes %q", f.Attrs)
	}
	if len(m.Aliases) != 1 || m.Aliases[0].Name != "other_name" || m.Aliases[0].Target != "target_fn" {
		t.Errorf("aliases %v", m.Aliases)
	}
	for _, f := range m.Funcs {
		if f.Proto != (f.Body == nil) {
			t.Errorf("%s: prototype %v", f.Name, f.Proto)
		}
	}
	ids := map[int]bool{}
	for _, v := range allVars(m) {
		if ids[v.ID] {
			t.Errorf("%s: identity %d is not unique", v.Name, v.ID)
		}
		ids[v.ID] = true
	}
}

func allVars(m *Module) []*Var {
	out := slices.Clone(m.Vars)
	for _, f := range m.Funcs {
		out = slices.Concat(out, f.Rets, f.Params, f.Vars)
	}
	return out
}

// TestInlinedAt: the call site of an inlined line is taken from inlined_at or from
// clang's comment.
func TestInlinedAt(t *testing.T) {
	for _, c := range []struct {
		loc    string
		file   int
		name   string
		inline int
	}{
		{"1 10 3", 0, "", 0},
		{"1 10 3 // a.cu:10:3", 0, "", 0},
		{"1 10 3, function_name $L, inlined_at 2 17 5", 2, "", 17},
		{"2 211 10 // inc/intrinsics.h:211:10 @[ a.cu:4:28 ]", 0, "a.cu", 4},
		{"2 179 40 // i.h:179:40 @[ i.h:179:1 @[ /d e/a.cu:8:27 ] ]", 0, "/d e/a.cu", 8},
		{"2 179 40 // i.h:179:40 @[ odd ]", 0, "", 0},
		{"1 10 3\n// @[ a.cu:4:28 ]", 0, "", 0},
	} {
		m, err := Parse("t.ptx", []byte(".version 7.2\n.target sm_70\n.address_size 64\n.file 1 \"a.cu\"\n.file 2 \"b.cu\"\n.entry k() {\n.loc "+c.loc+"\n$L: ret;\n}\n"))
		if err != nil {
			t.Errorf("%s: %v", c.loc, err)
			continue
		}
		if l := m.Funcs[0].Code[0].Loc; l.InFile != c.file || l.InName != c.name || l.InLine != c.inline {
			t.Errorf("%s: %d %q %d, want %d %q %d", c.loc, l.InFile, l.InName, l.InLine, c.file, c.name, c.inline)
		}
	}
}

func TestDebugDirectives(t *testing.T) {
	m := parseFile(t, "debug.ptx")
	f := m.testFunc(t, "kernel")
	var lines [][3]int
	for _, in := range f.Code {
		lines = append(lines, [3]int{in.Loc.File, in.Loc.Line, in.Loc.Col})
	}
	if want := [][3]int{{1, 10, 0}, {1, 12, 5}, {2, 8, 0}}; !slices.Equal(lines, want) {
		t.Errorf("source lines %v, want %v", lines, want)
	}
	want := map[string]int{"$L__func_begin0": 0, "$L__tmp0": 1, "$L__tmp1": 3, "$L__func_end0": 3}
	if d := cmp.Diff(want, f.Labels); d != "" {
		t.Error(d)
	}
	sections := 0
	for _, it := range m.Items {
		if d, ok := it.(*Directive); ok && d.Name == ".section" {
			sections++
		}
	}
	if sections != 4 || m.Files[2] != "b.h" {
		t.Errorf("%d sections, file 2 is %q", sections, m.Files[2])
	}
}

func TestOldPTX(t *testing.T) {
	m := parseFile(t, "old.ptx")
	if m.SM != 13 || m.AddressSize != 32 {
		t.Errorf("sm %d, %d bits", m.SM, m.AddressSize)
	}
	if v := m.testVar(t, "coeff"); v.Bank != 2 || v.Align != 4 || v.Size() != 16 {
		t.Errorf("coeff: bank %d, align %d, %d bytes", v.Bank, v.Align, v.Size())
	}
	if v := m.testVar(t, "tex_a"); v.Space != SpaceTex || v.Type != "u32" {
		t.Errorf("tex_a: space %v, type %s", v.Space, v.Type)
	}
	if v := m.testVar(t, "shared_by_name"); v.Linkage != Common {
		t.Errorf("linkage %v", v.Linkage)
	}
	f := m.testFunc(t, "old")
	if n := len(f.Code); n != 11 {
		t.Fatalf("%d instructions", n)
	}
	if c := f.Code[3]; c.Op != "call" || c.Args[1].Func != m.testFunc(t, "g") || len(c.Args[2].List) != 2 {
		t.Errorf("call: %v", c)
	}
	// An indexed array is an address in a load and a value in a move.
	if a := f.Code[5].Args[1]; a.Kind != OpAddr || a.Offset != 3 || a.List[0].Var.Name != "coeff" {
		t.Errorf("load of coeff[3]: %v", &a)
	}
	if a := f.Code[6].Args[1]; a.Kind != OpSym || a.Imm.Bits != 4 {
		t.Errorf("address of coeff[4]: %v", &a)
	}
	if a := f.Code[7].Args[1]; a.Offset != -4 {
		t.Errorf("offset %d", a.Offset)
	}
	if a := f.Code[9].Args[1]; a.Kind != OpSpecial || a.Elem != "x" {
		t.Errorf("declared special register: %v", &a)
	}
	if g := m.testFunc(t, "g"); !g.Code[1].Guard.Neg || g.Code[1].Guard.Reg.Var != g.Params[1] || g.Code[1].Args[0].Target != 3 {
		t.Errorf("guarded branch: %v", g.Code[1])
	}
}

func TestInitialisers(t *testing.T) {
	m := parseFile(t, "data.ptx")
	ints := func(name string) []int64 {
		var out []int64
		for _, e := range m.testVar(t, name).Init.List {
			out = append(out, int64(e.Expr.Imm.Bits))
		}
		return out
	}
	if got, want := ints("expr"), []int64{9, 10, 0xfffffffff, -2, 1, 64}; !slices.Equal(got, want) {
		t.Errorf("expr = %v, want %v", got, want)
	}
	if got, want := ints("bytes")[4:], []int64{0x34, 0x12, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("bytes = %v, want %v", got, want)
	}
	type addr struct {
		sym     string
		off     int64
		generic bool
		mask    uint64
	}
	addrs := func(name string, n int) []addr {
		var out []addr
		for _, e := range m.testVar(t, name).Init.List[:n] {
			out = append(out, addr{e.Expr.Sym, int64(e.Expr.Imm.Bits), e.Expr.Generic, e.Expr.Mask})
		}
		return out
	}
	if got, want := addrs("addresses", 4), []addr{{"scalar", 0, false, 0}, {"scalar", 8, false, 0}, {"grid", -4, true, 0}, {"fn", 0, false, 0}}; !slices.Equal(got, want) {
		t.Errorf("addresses = %v, want %v", got, want)
	}
	if got, want := addrs("bytes", 4), []addr{{"scalar", 0, false, 0xff}, {"scalar", 0, false, 0xff00}, {"scalar", 2, false, 0xff0000}, {"scalar", 0, true, 0xff000000}}; !slices.Equal(got, want) {
		t.Errorf("bytes = %v, want %v", got, want)
	}
	grid := m.testVar(t, "grid")
	if !slices.Equal(grid.Dims, []int64{2, 3}) || len(grid.Init.List) != 2 || len(grid.Init.List[1].List) != 2 || grid.Init.List[1].List[1].Expr.Imm.Bits != 5 || grid.Size() != 24 {
		t.Errorf("grid: %v", grid)
	}
	if v := m.testVar(t, "open"); v.Dims[0] != -1 || v.Size() != 5 || v.Init.List[1].Expr.Imm.Bits != 54 || v.Init.List[2].Expr.Imm.Bits != 5 {
		t.Errorf("open: %v bytes", v.Size())
	}
	vec := m.testVar(t, "vec").Init.List
	if f := vec[0].Expr.Imm; f.Kind != ImmF64 || f.Bits != math.Float64bits(1.5) {
		t.Errorf("1.5 is %v", f)
	}
	if f := vec[1].Expr.Imm; f.Kind != ImmF32 || f.Bits != 0x3f800000 {
		t.Errorf("0f3F800000 is %v", f)
	}
	samp := m.testVar(t, "samp").Init.List
	if e := samp[0].Expr.Entry; e == nil || e.Name != "addr_mode_0" || e.Value != "clamp_to_border" {
		t.Errorf("first field of samp is %v", e)
	}
	if v := m.testVar(t, "managed"); !slices.Equal(v.Attrs, []string{".managed"}) || v.Size() != 8 {
		t.Errorf("managed: %v", v.Attrs)
	}
	if v := m.testVar(t, "dynamic"); v.Linkage != Extern || v.Size() != 0 || v.Align != 16 {
		t.Errorf("dynamic: %d bytes", v.Size())
	}
}

func TestScopes(t *testing.T) {
	m := parseFile(t, "scopes.ptx")
	f := m.testFunc(t, "scopes")
	typ := func(i, arg int) string {
		o := f.Code[i].Args[arg]
		if o.Var == nil {
			return o.Name
		}
		return string(o.Var.Type)
	}
	// Code: 0 bra END; 1..3 mov in the first block; 4 bra LOOP; 5 bra LOOP;
	// 6 bra END; 7 mov; 8 mov; 9 mov; 10 setp; 11 bra LOOP; 12 bra END.
	if got := []string{typ(1, 0), typ(2, 0), typ(3, 0)}; !slices.Equal(got, []string{"u64", "u32", "f32"}) {
		t.Errorf("types in the inner block %v: %%r1 is the inner one, %%r3 the outer one", got)
	}
	var targets []int
	for _, i := range []int{0, 4, 5, 6, 11, 12} {
		targets = append(targets, f.Code[i].Args[0].Target)
	}
	if want := []int{13, 4, 5, 13, 7, 13}; !slices.Equal(targets, want) {
		t.Errorf("branch targets %v, want %v", targets, want)
	}
	if want := map[string]int{"LOOP": 7, "LOOP#2": 4, "LOOP#3": 5, "END": 13}; !cmp.Equal(f.Labels, want) {
		t.Errorf("labels %v, want %v", f.Labels, want)
	}
	if o := f.Code[7].Args[1]; o.Kind != OpSym || o.Var != m.testVar(t, "name") {
		t.Errorf("name outside of the block is %v", o)
	}
	if o := f.Code[8].Args[0]; o.Var.Name != "a1" || o.Index != 0 {
		t.Errorf("a10 is %s number %d", o.Var.Name, o.Index)
	}
	if o := f.Code[9].Args[1]; o.Elem != "w" {
		t.Errorf("element a is %q", o.Elem)
	}
	for i, in := range f.Code {
		if in.Index != i {
			t.Errorf("instruction %d has index %d", i, in.Index)
		}
	}
	if len(f.Vars) != 8 {
		t.Errorf("%d variables", len(f.Vars))
	}
}

func TestOperands(t *testing.T) {
	m := parseFile(t, "operands.ptx")
	f := m.testFunc(t, "operands")
	find := func(start string) *Inst {
		t.Helper()
		for _, in := range f.Code {
			if strings.HasPrefix(in.String(), start) {
				return in
			}
		}
		t.Fatalf("no instruction %q", start)
		return nil
	}
	kinds := func(in *Inst) []OperandKind {
		var out []OperandKind
		for _, o := range in.Args {
			out = append(out, o.Kind)
		}
		return out
	}
	for _, c := range []struct {
		start string
		want  []OperandKind
	}{
		{"add.u32 %r1, %r2, -1", []OperandKind{OpReg, OpReg, OpImm}},
		{"mov.u32 %r1, WARP_SZ", []OperandKind{OpReg, OpImm}},
		{"mov.u64 %rd1, generic(arr)+4", []OperandKind{OpReg, OpSym}},
		{"mov.b64 {%r1, _}", []OperandKind{OpVec, OpReg}},
		{"mov.u32 %r1, %tid.x", []OperandKind{OpReg, OpSpecial}},
		{"setp.lt.u32 _|%p2", []OperandKind{OpPair, OpReg, OpReg}},
		{"@%p1 bra", []OperandKind{OpLabel}},
		{"mbarrier", []OperandKind{OpSink, OpAddr}},
		{"cp.async.bulk.tensor", []OperandKind{OpAddr, OpTexAddr, OpAddr}},
		{"frobnicate", []OperandKind{OpReg, OpTexAddr, OpVec}},
		{"brx.idx", []OperandKind{OpReg, OpTable}},
	} {
		if got := kinds(find(c.start)); !slices.Equal(got, c.want) {
			t.Errorf("%s: kinds %v, want %v", c.start, got, c.want)
		}
	}
	for start, want := range map[string]int64{
		"ld.param.b32": 8, "ld.global.v4.u32": 16, "ld.global.u32 %r1, [arr]": 0, "ld.global.u32 %r1, [arr+": 12,
		"ld.shared.u32": 0, "ld.global.u32 %r1, [%rd1": -4,
	} {
		if got := find(start).Args[1].Offset; got != want {
			t.Errorf("%s: offset %d, want %d", start, got, want)
		}
	}
	if b := find("ld.shared.u32").Args[1].List[0]; b.Kind != OpImm || b.Imm.Bits != 16 {
		t.Errorf("absolute address %v", b)
	}
	setp := find("setp.lt.and.u32")
	if o := setp.Args[3]; !o.Neg || o.Index != 3 {
		t.Errorf("negated predicate: %v", &o)
	}
	if in := find("vadd"); in.Args[1].Elem != "b0" || in.Args[2].Elem != "h1" {
		t.Errorf("selectors of %v", in)
	}
	if in := find("frobnicate"); in.Bad == nil || in.Form != nil {
		t.Error("frobnicate is not marked as bad")
	}
	tab := f.Tables["TABLE"]
	if brx := find("brx.idx"); brx.Args[1].Table != tab || !slices.Equal(tab.Targets, []int{brx.Index + 1, brx.Index + 1}) {
		t.Errorf("branch targets %v after instruction %d", tab.Targets, brx.Index)
	}
	if o := find("shfl").Args[0]; o.List[0].Index != 1 || o.List[1].Var.Type != "pred" {
		t.Errorf("pair %v", &o)
	}
}

func TestCalls(t *testing.T) {
	m := parseFile(t, "calls.ptx")
	f := m.testFunc(t, "calls")
	one := m.testFunc(t, "one")
	if in := f.Code[3]; in.Args[0].Kind != OpList || in.Args[1].Func != one || in.Args[2].List[0].Var.Space != SpaceParam {
		t.Errorf("call with newlines: %v", in)
	}
	if o := f.Code[5].Args[1]; o.Kind != OpSym || o.Func != one {
		t.Errorf("address of a function: %v", &o)
	}
	p1, p2 := f.Code[6].Args[3], f.Code[7].Args[3]
	if p1.Kind != OpTable || p1.Func == nil || p2.Func == nil || p1.Func == p2.Func || p1.Func.NoReturn || !p2.Func.NoReturn {
		t.Error("prototypes of the same name in two blocks are mixed up")
	}
	if len(f.Protos) != 3 || f.Protos["proto_1"] != p1.Func || f.Protos["proto_1#2"] != p2.Func {
		t.Errorf("prototypes %v", f.Protos)
	}
	if tab := f.Code[8].Args[3].Table; tab == nil || !tab.Call || !slices.Equal(tab.Funcs, []*Func{one, m.testFunc(t, "two")}) {
		t.Errorf("call targets %v", tab)
	}
	last := f.Code[10]
	if last.Bad == nil || !strings.Contains(last.Bad.Error(), "undeclared function undeclared") {
		t.Errorf("call of an undeclared function: %v", last.Bad)
	}
}

func TestTextures(t *testing.T) {
	m := parseFile(t, "textures.ptx")
	f := m.testFunc(t, "textures")
	a := f.Code[0].Args[1]
	if a.Kind != OpTexAddr || len(a.List) != 3 || a.List[0].Var.Type != "texref" || a.List[1].Var.Type != "samplerref" || len(a.List[2].List) != 2 {
		t.Errorf("texture operand %v", &a)
	}
	if a := f.Code[2].Args[1]; a.List[0].Kind != OpReg {
		t.Errorf("bindless texture operand %v", &a)
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		text string
		kind ImmKind
		bits uint64
		bad  bool
	}{
		{"0", ImmInt, 0, false},
		{"42", ImmInt, 42, false},
		{"42U", ImmUint, 42, false},
		{"0x7F", ImmInt, 127, false},
		{"0XffU", ImmUint, 255, false},
		{"017", ImmInt, 15, false},
		{"0b1101", ImmInt, 13, false},
		{"0B11U", ImmUint, 3, false},
		{"9223372036854775807", ImmInt, math.MaxInt64, false},
		{"9223372036854775808", ImmUint, 1 << 63, false},
		{"18446744073709551615", ImmUint, math.MaxUint64, false},
		{"18446744073709551616", 0, 0, true},
		{"1.0", ImmF64, 0x3ff0000000000000, false},
		{"0.5", ImmF64, 0x3fe0000000000000, false},
		{"2.", ImmF64, 0x4000000000000000, false},
		{"1e3", ImmF64, 0x408f400000000000, false},
		{"0e0", ImmF64, 0, false},
		{"1.5E-1", ImmF64, math.Float64bits(0.15), false},
		{"1e999", ImmF64, 0x7ff0000000000000, false},
		{"0f3f800000", ImmF32, 0x3f800000, false},
		{"0F7FC00001", ImmF32, 0x7fc00001, false},
		{"0d400921FB54442D18", ImmF64, 0x400921fb54442d18, false},
		{"0f3f80000", 0, 0, true},
		{"0d3f800000", 0, 0, true},
		{"0f+3800000", 0, 0, true},
		{"08", 0, 0, true},
		{"0b12", 0, 0, true},
		{"0x", 0, 0, true},
		{"12abc", 0, 0, true},
		{"1.5f", 0, 0, true},
		{"1_000", 0, 0, true},
	} {
		got, msg, _ := parseNumber(c.text)
		if (msg != "") != c.bad {
			t.Errorf("%s: message %q", c.text, msg)
			continue
		}
		if msg == "" && (got.Kind != c.kind || got.Bits != c.bits || got.Text != c.text) {
			t.Errorf("%s: kind %d, bits %#x, want kind %d, bits %#x", c.text, got.Kind, got.Bits, c.kind, c.bits)
		}
	}
}

func TestConstantExpressions(t *testing.T) {
	f64 := math.Float64bits
	for _, c := range []struct {
		expr string
		kind ImmKind
		bits uint64
	}{
		{"1 + 2 * 3", ImmInt, 7},
		{"(1 + 2) * 3", ImmInt, 9},
		{"10 - 4 - 3", ImmInt, 3},
		{"1 << 4 + 1", ImmInt, 32},
		{"7 & 3 == 3", ImmInt, 1},
		{"1 | 6 ^ 3 & 2", ImmInt, 5},
		{"-7 / 2", ImmInt, ^uint64(2)},
		{"-7 % 3", ImmInt, ^uint64(0)},
		{"7%3", ImmInt, 1},
		{"7 %0x4", ImmInt, 3},
		{"(7)%(4)", ImmInt, 3},
		{"7U / 2", ImmUint, 3},
		{"-1 > 0U", ImmInt, 1},
		{"-1 > 0", ImmInt, 0},
		{"-8 >> 1", ImmInt, ^uint64(3)},
		{"(.u64) -8 >> 60", ImmUint, 15},
		{"(.s64) 0xFFFFFFFFFFFFFFFF", ImmInt, math.MaxUint64},
		{"!5", ImmInt, 0},
		{"!0 && 2 || 0", ImmInt, 1},
		{"~0", ImmInt, math.MaxUint64},
		{"- -5", ImmInt, 5},
		{"+5", ImmInt, 5},
		{"0 ? 1 : 2 ? 3 : 4", ImmInt, 3},
		{"1 ? 2U : 3", ImmUint, 2},
		{"1.5 + 1", ImmF64, f64(2.5)},
		{"1 / 4.0", ImmF64, f64(0.25)},
		{"-1.5", ImmF64, f64(-1.5)},
		{"-0f3F800000", ImmF32, 0xbf800000},
		{"1.5 < 2", ImmInt, 1},
		{"1 ? 1.5 : 2", ImmF64, f64(1.5)},
		{"WARP_SZ - 1", ImmInt, 31},
		{"-9223372036854775808", ImmInt, 1 << 63},
		{"-9223372036854775807 - 1", ImmInt, 1 << 63},
		{"1 << 64", ImmInt, 0},
		{"-1 >> 200", ImmInt, math.MaxUint64},
		{"0xFF00(0x123456)", ImmInt, 0x34},
	} {
		src := []byte(".version 8.0\n.target sm_80\n.global .u64 x = " + c.expr + ";\n")
		m, err := Parse("expr", src)
		if err != nil {
			t.Errorf("%s: %v", c.expr, err)
			continue
		}
		got := m.Vars[0].Init.Expr.Imm
		if got.Kind != c.kind || got.Bits != c.bits {
			t.Errorf("%s: kind %d, bits %#x, want kind %d, bits %#x", c.expr, got.Kind, got.Bits, c.kind, c.bits)
		}
		// The printed text has the same meaning.
		again, err := Parse("expr", []byte(".version 8.0\n.target sm_80\n.global .u64 x = "+got.Text+";\n"))
		if err != nil {
			t.Errorf("%s is printed as %s: %v", c.expr, got.Text, err)
		} else if d := cmp.Diff(got, again.Vars[0].Init.Expr.Imm); d != "" {
			t.Errorf("%s is printed as %s: %s", c.expr, got.Text, d)
		}
	}
}

func TestPositions(t *testing.T) {
	// The three lines of the head come first.
	m := parseText(t, ".entry k ()\n{\n\t.reg .u32 %r<2>;\n\t.reg .pred %p;\n  @!%p bra L; // comment\nL:\tadd.u32 %r0,\n\t\t%r1, 5;\n}\n")
	f := m.testFunc(t, "k")
	bra, add := f.Code[0], f.Code[1]
	got := []Pos{f.Pos, bra.Pos, bra.Guard.Reg.Pos, bra.Args[0].Pos, add.Pos, add.Args[0].Pos, add.Args[1].Pos, add.Args[2].Pos}
	want := []Pos{{Line: 4, Col: 8}, {Line: 8, Col: 3}, {Line: 8, Col: 5}, {Line: 8, Col: 12}, {Line: 9, Col: 4}, {Line: 9, Col: 12}, {Line: 10, Col: 3}, {Line: 10, Col: 8}}
	if !slices.Equal(got, want) {
		t.Errorf("positions %v, want %v", got, want)
	}
}
