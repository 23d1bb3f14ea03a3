package ptx

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
)

// inst splits opcode and modifiers; the instruction has no operands.
func inst(name string) *Inst {
	parts := strings.Split(name, ".")
	return &Inst{Op: parts[0], Mods: parts[1:]}
}

// allOpcodes is every opcode that the PTX manual describes, versions 1.0 to 9.2.
const allOpcodes = `abs activemask add addc alloca and applypriority atom bar barrier bfe bfi bfind bmsk bra brev brkpt brx
call clusterlaunchcontrol clz cnot copysign cos cp createpolicy cvt cvta discard div dp2a dp4a elect ex2 exit fence fma fns
getctarank griddepcontrol isspacep istypep ld ldmatrix ldu lg2 lop3 mad mad24 madc mapa match max mbarrier membar min mma
mov movmatrix mul mul24 multimem nanosleep neg not or pmevent popc prefetch prefetchu prmt rcp red redux rem ret rsqrt sad
selp set setmaxnreg setp shf shfl shl shr sin slct sqrt st stackrestore stacksave stmatrix sub subc suld suq sured sust szext
tanh tcgen05 tensormap testp tex tld4 trap txq vabsdiff vabsdiff2 vabsdiff4 vadd vadd2 vadd4 vavrg2 vavrg4 vmad vmax vmax2 vmax4
vmin vmin2 vmin4 vote vset vset2 vset4 vshl vshr vsub vsub2 vsub4 wgmma wmma xor`

func TestOpcodes(t *testing.T) {
	want := strings.Fields(allOpcodes)
	got := Opcodes()
	for _, op := range want {
		if !slices.Contains(got, op) {
			t.Errorf("no row for %s", op)
		}
	}
	for _, op := range got {
		if !slices.Contains(want, op) {
			t.Errorf("rows for %s, which is not an opcode", op)
		}
	}
}

// TestTable checks what the notation cannot express: class names are not modifiers,
// no row appears twice, and every slot and operand is valid.
func TestTable(t *testing.T) {
	classes := parseClasses(classRows)
	seen := map[string]bool{}
	for _, f := range Forms() {
		if seen[f.Syntax] {
			t.Errorf("%s appears twice", f.Syntax)
		}
		seen[f.Syntax] = true
		for _, s := range f.slots {
			for _, v := range s.vals {
				if classes[v] != nil {
					t.Errorf("%s: .%s is the name of a class", f.Syntax, v)
				}
			}
			if dup := slices.Sorted(slices.Values(s.vals)); len(slices.Compact(dup)) != len(s.vals) {
				t.Errorf("%s: a slot has a value twice: %v", f.Syntax, s.vals)
			}
		}
		if len(f.slots) > maxMods {
			t.Errorf("%s: %d slots", f.Syntax, len(f.slots))
		}
		types := 0
		for _, s := range f.slots {
			if s.typ {
				types++
			}
		}
		for _, a := range f.args {
			if len(a.typ) == 2 && a.typ[0] == 'T' && int(a.typ[1]-'0') > types {
				t.Errorf("%s: operand %s refers to type %s of %d", f.Syntax, a.name, a.typ, types)
			}
		}
		if f.Since.Before(Version{1, 0}) || f.Since.Major > 9 {
			t.Errorf("%s: version %s", f.Syntax, f.Since)
		}
	}
}

// TestSynthesized builds a kernel for every combination of modifiers of every row;
// the parser must accept it and find a row with the same modifiers in the same
// order.
func TestSynthesized(t *testing.T) {
	alltests.Only(t, "a statement of every form")
	total := 0
	for _, f := range Forms() {
		var bodies []string
		var want [][]string
		f.Expand(func(mods []string) bool {
			total++
			bodies = append(bodies, f.Synthesize(mods))
			want = append(want, mods)
			if full := f.SynthesizeFull(mods); full != bodies[len(bodies)-1] {
				bodies = append(bodies, full)
				want = append(want, mods)
			}
			return true
		})
		if len(bodies) == 0 {
			t.Errorf("%s: no combination of modifiers is allowed", f.Syntax)
			continue
		}
		m, err := Parse(f.Op, []byte(SynthModule(bodies...)))
		if err != nil {
			list := err.(ErrorList)
			t.Errorf("%s: %s", f.Syntax, list[0].Detail())
			continue
		}
		i := 0
		for _, fn := range m.Funcs {
			if !fn.Entry {
				continue
			}
			if !slices.ContainsFunc(fn.Code, func(in *Inst) bool {
				return in.Form != nil && in.Op == f.Op && slices.Equal(in.Mods, want[i]) && in.Form.Canonical(in) == join(f.Op, want[i])
			}) {
				for _, in := range fn.Code {
					if in.Bad != nil {
						t.Errorf("%s: %s", f.Syntax, in.Bad)
					}
				}
				t.Errorf("%s: .%s is not read back\n%s", f.Syntax, strings.Join(want[i], "."), bodies[i])
				break
			}
			i++
		}
		if i != len(bodies) && !t.Failed() {
			t.Errorf("%s: %d kernels, want %d", f.Syntax, i, len(bodies))
		}
	}
	t.Logf("%d rows, %d opcodes, %d combinations of modifiers", len(table), len(opcodes), total)
}

// TestExpandCoversEveryValue: thinned or not, Expand yields each value of each
// slot, unless the row's rule refuses it in every combination.
func TestExpandCoversEveryValue(t *testing.T) {
	for _, f := range Forms() {
		seen := make([]map[string]bool, len(f.slots))
		for i := range seen {
			seen[i] = map[string]bool{}
		}
		f.Expand(func(mods []string) bool {
			v, ok := f.match(mods)
			if !ok {
				t.Fatalf("%s does not match its own %v", f.Syntax, mods)
			}
			if n := len(join(f.Op, mods)); n > maxName {
				t.Errorf("%s: a name of %d bytes is cut in messages", f.Syntax, n)
			}
			for i, m := range v.vals {
				seen[i][m] = true
			}
			return true
		})
		for i, s := range f.slots {
			for _, v := range s.vals {
				if !seen[i][v] {
					t.Errorf("%s: .%s never comes", f.Syntax, v)
				}
			}
		}
	}
}

// TestWildForms: instructions as compilers and people write them, with the
// canonical name if it differs. Modifiers may be in any order.
func TestWildForms(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"div.ftz.rn.f32", "div.rn.ftz.f32"},
		{"vote.ballot.sync.b32", "vote.sync.ballot.b32"},
		{"atom.add.acq_rel.cta.global.u32", "atom.acq_rel.cta.global.add.u32"},
		{"atom.add.global.gpu.relaxed.f32", "atom.relaxed.gpu.global.add.f32"},
		{"ld.v4.global.f32", "ld.global.v4.f32"},
		{"ld.global.nc.L1::no_allocate.L2::128B.b32", ""},
		{"ld.acquire.gpu.global.u32", ""},
		{"ld.volatile.shared.f64", ""},
		{"ld.nc.global.v2.f64", "ld.global.nc.v2.f64"},
		{"ldmatrix.sync.aligned.x4.trans.m8n8.shared.b16", "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"},
		{"cp.async.ca.shared.global", ""},
		{"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes", ""},
		{"mbarrier.arrive.expect_tx.shared::cta.b64", ""},
		{"mbarrier.try_wait.parity.shared::cta.b64", ""},
		{"wmma.load.a.sync.aligned.m16n16k16.row.f16", "wmma.load.a.sync.aligned.row.m16n16k16.f16"},
		{"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", ""},
		{"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", ""},
		{"mma.sync.aligned.row.col.m16n8k32.s32.s8.u8.s32.satfinite", "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32"},
		{"wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16", ""},
		{"tcgen05.mma.cta_group::1.kind::f16", ""},
		{"vshr.u32.u32.u32.clamp.add", ""},
		{"vabsdiff4.u32.u32.u32.add", ""},
		{"suld.b.3d.v2.b64.trap", ""},
		{"sured.p.min.1d.b32.zero", ""},
		{"tex.level.a2d.v4.f32.f32", ""},
		{"cvt.rn.satfinite.relu.e4m3x2.f32", ""},
		{"cvt.rn.relu.satfinite.e4m3x2.f32", "cvt.rn.satfinite.relu.e4m3x2.f32"},
		{"cvt.sat.rzi.u8.f32", "cvt.rzi.sat.u8.f32"},
		{"cvt.pack.sat.u8.s32.b32", ""},
		{"createpolicy.fractional.L2::evict_last.b64", ""},
		{"fence.proxy.async.shared::cta", ""},
		{"fence.mbarrier_init.release.cluster", ""},
		{"barrier.cluster.arrive.release.aligned", ""},
		{"setp.lt.and.u32", ""},
		{"set.gtu.u32.f16x2", ""},
		{"mad.f32", ""},
		{"rcp.f32", ""},
		{"sin.f32", ""},
		{"mov.v4.u16", ""},
		{"griddepcontrol.launch_dependents", ""},
		{"redux.sync.min.abs.NaN.f32", ""},
		{"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32", ""},
		{"multimem.ld_reduce.relaxed.sys.global.add.acc::f32.v4.bf16x2", ""},
	} {
		in := inst(c.src)
		f, err := matchForm(in)
		if err != nil {
			t.Errorf("%s: %v", c.src, err)
			continue
		}
		if c.want == "" {
			c.want = c.src
		}
		if got := f.form.Canonical(in); got != c.want {
			t.Errorf("%s: canonical %s, want %s", c.src, got, c.want)
		}
	}
}

// TestFeatureList finds a row for every instruction form that occurs in the PTX of
// several compilers, and for the opcodes that occur in none.
func TestFeatureList(t *testing.T) {
	text, err := os.ReadFile("testdata/forms.txt")
	if err != nil {
		t.Fatal(err)
	}
	forms, opcodes, _ := strings.Cut(string(text), "\nopcodes\n")
	n := 0
	for line := range strings.Lines(forms) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		n++
		if _, err := matchForm(inst(strings.TrimSpace(line))); err != nil {
			t.Error(err)
		}
	}
	unseen := strings.Fields(opcodes)
	for _, op := range unseen {
		if len(formsByOp[op]) == 0 {
			t.Errorf("no row for %s", op)
		}
	}
	if n < 500 || len(unseen) < 40 {
		t.Errorf("read %d forms and %d opcodes, fewer than the list has", n, len(unseen))
	}
}

// TestNoForm: messages for instructions that match no row.
func TestNoForm(t *testing.T) {
	for _, c := range []struct{ src, msg, hint string }{
		{"ad.u32", "unknown opcode ad", "did you mean add?"},
		{"addd.f32", "unknown opcode addd", "did you mean add?"},
		{"xyzzy", "unknown opcode xyzzy", ""},
		{"add.rn.u32", "add.rn.u32: .u32 cannot be combined with the other modifiers",
			"expected a type: .f32 .f32x2 .f64 .f16 .f16x2 .bf16 .bf16x2; the form is add{.rn,.rz,.rm,.rp}{.ftz}{.sat}.f32 d, a, b"},
		{"add.rn", "add.rn: missing a type: .f32 .f32x2 .f64 .f16 .f16x2 .bf16 .bf16x2", ""},
		{"add.sat.u32", "add.sat.u32: .u32 cannot be combined with the other modifiers",
			"expected a type: .s32 .f32 .f16 .f16x2; the form is add{.sat}.s32 d, a, b"},
		{"add.f31", "add.f31: add has no modifier .f31, did you mean .f32?", ""},
		{"add.rn.rn.f32", "add.rn.rn.f32: .rn is given twice", ""},
		{"mul.u32", "mul.u32: missing one of .lo .hi .wide", "the form is mul.{lo,hi}.{u16,u32,u64,s16,s32,s64} d, a, b"},
		{"mul.wide.u64", "mul.wide.u64: .u64 cannot be combined with the other modifiers",
			"expected a type: .u16 .u32 .s16 .s32; the form is mul.wide.{u16,u32,s16,s32} d, a, b"},
		{"fma.f32", "fma.f32: missing one of .rn .rz .rm .rp", "the form is fma.{rn,rz,rm,rp}{.ftz}{.sat}.f32 d, a, b, c"},
		{"cvt.f32.s32", "cvt.f32.s32: this conversion needs a rounding modifier: one of .rn .rz .rm .rp", ""},
		{"cvt.rn.f64.f32", "cvt.rn.f64.f32: a widening conversion does not round", ""},
		{"cvt.s32.f32", "cvt.s32.f32: a conversion to an integer needs one of .rni .rzi .rmi .rpi", ""},
		{"cvt.rni.u32.u16", "cvt.rni.u32.u16: a conversion between integers does not round", ""},
		{"cvt.rn.f32.f32", "cvt.rn.f32.f32: a conversion within .f32 rounds to an integer: one of .rni .rzi .rmi .rpi", ""},
		{"cvt.ftz.f64.s32", "cvt.ftz.f64.s32: .ftz needs .f32 on one side", ""},
		{"setp.lt.b32", "setp.lt.b32: .lt does not compare .b32", ""},
		{"setp.hi.s32", "setp.hi.s32: .hi does not compare .s32", ""},
		{"setp.equ.u32", "setp.equ.u32: .equ does not compare .u32", ""},
		{"setp.lt.ftz.f64", "setp.lt.ftz.f64: .ftz needs operands of type .f32 or .f16", ""},
		{"ld.globl.u32", "ld.globl.u32: ld has no modifier .globl, did you mean .global?", ""},
		{"ld.v3.u32", "ld.v3.u32: ld has no modifier .v3, did you mean .v2?", ""},
		{"ld.v2.b128", "ld.v2.b128: there are no vectors of .b128", ""},
		{"ld.v8.f64", "ld.v8.f64: .v8.f64 is more than 32 bytes", ""},
		{"st.const.u32", "st.const.u32: st has no modifier .const", ""},
		{"atom.add.f16", "atom.add.f16: missing .noftz", ""},
		{"shfl.down.u32", "shfl.down.u32: shfl has no modifier .u32, did you mean .b32?",
			"expected .b32; the form is shfl.{up,down,bfly,idx}.b32 d{|q}, a, b, c"},
		{"vote.ballot.pred", "vote.ballot.pred: .pred cannot be combined with the other modifiers", "expected .b32; the form is vote.ballot.b32 d, {!}a"},
		{"mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32",
			"mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32: .row cannot be combined with the other modifiers",
			"expected .col; the form is mma.sync.aligned.m16n8k16.row.col.{f16,f32}.f16.f16.{f16,f32} {d…}, {a…}, {b…}, {c…}"},
		{"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f32",
			"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f32: the types of D and C differ: .f16 and .f32", ""},
		{"wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8", "wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8: .m64n40k32 cannot be combined with the other modifiers", ""},
		{"wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.u8.s32",
			"wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.u8.s32: the types of A and B differ: .s8 and .u8", ""},
		{"bar", "bar: missing one of .sync .arrive", "the form is bar.sync a{, b}"},
		{"cp.async.bulk.prefetch.L2", "cp.async.bulk.prefetch.L2: missing .global", "the form is cp.async.bulk.prefetch.L2.global{.L2::cache_hint} [src], size{, pol}"},
		{"bra.u32", "bra.u32: bra has no modifier .u32", "the form is bra{.uni} t"},
		{"exit.u32", "exit.u32: exit has no modifier .u32", "the form is exit"},
		{"membar.gpu", "membar.gpu: membar has no modifier .gpu", "expected one of .cta .gl .sys; the form is membar.{cta,gl,sys}"},
	} {
		_, err := matchForm(inst(c.src))
		e, ok := err.(*formError)
		if !ok {
			t.Errorf("%s: error %v, want %q", c.src, err, c.msg)
			continue
		}
		if e.msg != c.msg {
			t.Errorf("%s:\n got %s\nwant %s", c.src, e.msg, c.msg)
		}
		if c.hint != "" && e.hint != c.hint {
			t.Errorf("%s: hint\n got %s\nwant %s", c.src, e.hint, c.hint)
		}
		if e.hint != "" && e.Error() != e.msg+" ("+e.hint+")" {
			t.Errorf("%s: error text %s", c.src, e.Error())
		}
	}
}

// TestFragments compares fragment lengths with the manual's tables.
func TestFragments(t *testing.T) {
	for _, c := range []struct {
		src                    string
		a, b, c, d             int
		atype, btype, cdstring string
	}{
		{"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16", 8, 8, 4, 8, "b32", "b32", "b32 f32"},
		{"wmma.mma.sync.aligned.row.col.m32n8k16.f16.f16", 8, 8, 4, 4, "b32", "b32", "b32 b32"},
		{"wmma.mma.sync.aligned.row.col.m8n32k16.s32.u8.u8.s32", 1, 4, 8, 8, "b32", "b32", "s32 s32"},
		{"wmma.mma.sync.aligned.row.col.m32n8k16.f32.bf16.bf16.f32", 8, 2, 8, 8, "b32", "b32", "f32 f32"},
		{"wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32", 4, 4, 8, 8, "b32", "b32", "f32 f32"},
		{"wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64", 1, 1, 2, 2, "f64", "f64", "f64 f64"},
		{"wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32", 1, 1, 2, 2, "b32", "b32", "s32 s32"},
		{"wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", 1, 1, 2, 2, "b32", "b32", "s32 s32"},
		{"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", 2, 2, 8, 8, "b32", "b32", "f32 f32"},
		{"mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16", 2, 2, 4, 4, "b32", "b32", "b32 b32"},
		{"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", 2, 1, 2, 2, "b32", "b32", "b32 b32"},
		{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 4, 4, "b32", "b32", "f32 f32"},
		{"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 2, 1, 4, 4, "b32", "b32", "f32 f32"},
		{"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 4, 2, 4, 4, "b32", "b32", "f32 f32"},
		{"mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64", 8, 4, 4, 4, "f64", "f64", "f64 f64"},
		{"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32", 1, 1, 2, 2, "b32", "b32", "s32 s32"},
		{"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 4, 2, 4, 4, "b32", "b32", "s32 s32"},
		{"mma.sync.aligned.m16n8k64.row.col.s32.u4.s4.s32", 4, 2, 4, 4, "b32", "b32", "s32 s32"},
		{"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc", 4, 2, 4, 4, "b32", "b32", "s32 s32"},
		{"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", 4, 2, 4, 4, "b32", "b32", "f32 f32"},
		{"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32", 4, 2, 4, 4, "b32", "b32", "f32 f32"},
		{"mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", 4, 4, 4, 4, "b32", "b32", "f32 f32"},
		{"mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 2, 2, 2, 2, "b32", "b32", "b32 b32"},
	} {
		in := inst(c.src)
		f, err := matchForm(in)
		if err != nil {
			t.Error(err)
			continue
		}
		ctype, dtype, _ := strings.Cut(c.cdstring, " ")
		for _, o := range []struct {
			name string
			n    int
			typ  string
		}{{"a", c.a, c.atype}, {"b", c.b, c.btype}, {"c", c.c, ctype}, {"d", c.d, dtype}} {
			if n, typ := f.form.Fragment(in, o.name); n != o.n || string(typ) != o.typ {
				t.Errorf("%s: fragment %s is %d × %s, want %d × %s", c.src, o.name, n, typ, o.n, o.typ)
			}
		}
	}
	for src, want := range map[string]int{
		"ldmatrix.sync.aligned.m8n8.x1.shared.b16":            1,
		"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16":      4,
		"ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8":     4,
		"wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16": 64,
		"wgmma.mma_async.sync.aligned.m64n128k16.f16.f16.f16": 32,
		"wmma.load.b.sync.aligned.col.m16n16k16.s8":           2,
		"wmma.load.c.sync.aligned.row.m16n16k16.f16":          4,
	} {
		in := inst(src)
		f, err := matchForm(in)
		if err != nil {
			t.Error(err)
			continue
		}
		if n, _ := f.form.Fragment(in, "d"); n != want {
			t.Errorf("%s: %d registers, want %d", src, n, want)
		}
	}
}

func TestInstAccessors(t *testing.T) {
	for _, c := range []struct {
		src                                           string
		rnd, cmp, boolop, cop, scope, sem, space, sub string
		vec                                           int
	}{
		{src: "cvt.rzi.s32.f32", rnd: "rzi"},
		{src: "cvt.rna.tf32.f32", rnd: "rna"},
		{src: "setp.hi.or.u32", cmp: "hi", boolop: "or"},
		{src: "mul.hi.u32"},
		{src: "and.b32"},
		{src: "lop3.and.b32", boolop: "and"},
		{src: "vset2.u32.u32.ge", cmp: "ge"},
		{src: "ld.acquire.gpu.global.v4.f32", scope: "gpu", sem: "acquire", space: "global", vec: 4},
		{src: "ld.volatile.shared::cluster.u32", sem: "volatile", space: "shared", sub: "cluster"},
		{src: "ld.param::entry.b64", space: "param", sub: "entry"},
		{src: "st.global.cs.v2.f32", cop: "cs", space: "global", vec: 2},
		{src: "membar.gl", scope: "gl"},
		{src: "fence.sc.cluster", scope: "cluster", sem: "sc"},
		{src: "ld.u32"},
		{src: "cp.async.cg.shared.global", cop: "cg", space: "shared"},
	} {
		in := inst(c.src)
		space, sub := in.Space()
		names := map[StateSpace]string{SpaceNone: "", SpaceConst: "const", SpaceGlobal: "global", SpaceLocal: "local", SpaceParam: "param", SpaceShared: "shared"}
		got := []string{in.Rounding(), in.Cmp(), in.BoolOp(), in.CacheOp(), in.Scope(), in.Sem(), names[space], sub}
		want := []string{c.rnd, c.cmp, c.boolop, c.cop, c.scope, c.sem, c.space, c.sub}
		if !slices.Equal(got, want) || in.VecLen() != c.vec {
			t.Errorf("%s: %q %d, want %q %d", c.src, got, in.VecLen(), want, c.vec)
		}
	}
}

// FuzzMatchForm: no list of modifiers makes matching panic or take long.
func FuzzMatchForm(f *testing.F) {
	for _, form := range Forms() {
		form.Expand(func(mods []string) bool {
			f.Add(join(form.Op, mods))
			return false
		})
	}
	f.Add("mma.row.row.row.col.col.col.f32.f32.f32.f32.f16.f16")
	f.Fuzz(func(t *testing.T, name string) {
		in := inst(name)
		v, err := matchForm(in)
		form := v.form
		if (form == nil) == (err == nil) {
			t.Fatalf("%s: form %v and error %v", name, form, err)
		}
		if form == nil {
			return
		}
		again := inst(form.Canonical(in))
		if f2, err := matchForm(again); err != nil || f2.form.Canonical(again) != form.Canonical(in) {
			t.Fatalf("%s: canonical %s does not match as itself: %v", name, form.Canonical(in), err)
		}
	})
}
