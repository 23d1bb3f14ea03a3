package ptx

import (
	"fmt"
	"slices"
	"strings"
)

// maxExpand is the largest number of combinations that Expand enumerates in full.
const maxExpand = 5000

// Expand calls yield with concrete modifier combinations of the row, in the row's
// order, until yield returns false. It skips combinations that the row's rule
// refuses. A row with more than maxExpand combinations is thinned: every
// combination of types, every pair of values of two other modifiers, and every
// value of another modifier with every type occur.
func (f *Form) Expand(yield func(mods []string) bool) {
	choices := make([][]string, len(f.slots))
	total := 1
	for i, s := range f.slots {
		if s.opt {
			choices[i] = append(choices[i], "")
		}
		choices[i] = append(choices[i], s.vals...)
		if total <= maxExpand {
			total *= len(choices[i])
		}
	}
	stopped := false
	seen := map[string]bool{}
	emit := func(vals []string) {
		v := values{f, vals}
		if stopped || f.rule != nil && f.rule(v) != "" {
			return
		}
		mods := v.mods()
		if key := strings.Join(mods, "."); !seen[key] {
			seen[key] = true
			stopped = !yield(mods)
		}
	}
	vals := make([]string, len(f.slots))
	var product func(i int, pick func(i int) bool)
	product = func(i int, pick func(i int) bool) {
		if stopped {
			return
		}
		if i == len(vals) {
			emit(vals)
			return
		}
		list := choices[i]
		if !pick(i) {
			list = list[:1]
		}
		for _, c := range list {
			vals[i] = c
			product(i+1, pick)
		}
	}
	if total <= maxExpand {
		product(0, func(int) bool { return true })
		return
	}
	product(0, func(i int) bool { return f.slots[i].typ })
	for a := range f.slots {
		for b := range a {
			if len(choices[a])*len(choices[b]) > 1 {
				product(0, func(i int) bool { return i == a || i == b })
			}
		}
	}
}

// SynthModule returns a PTX module with a kernel for each body that Synthesize
// returned (synth0, synth1 …), and the declarations that the bodies refer to.
func SynthModule(bodies ...string) string {
	var b strings.Builder
	b.WriteString(`.version 9.1
.target sm_100a
.address_size 64

.global .align 128 .b8 synth_global[4096];
.const .align 128 .b8 synth_const[4096];
.shared .align 128 .b8 synth_shared[4096];
.global .texref synth_tex;
.global .surfref synth_surf;

.func (.param .b32 r) synth_func (.param .b32 p)
{
	.reg .b32 x;
	ld.param.b32 x, [p];
	st.param.b32 [r], x;
	ret;
}
.func synth_proc ()
{
	ret;
}
`)
	for i, body := range bodies {
		fmt.Fprintf(&b, "\n.entry synth%d (.param .align 128 .b8 synth_param[256])\n{\n%s\tret;\n}\n", i, body)
	}
	return b.String()
}

// Synthesize returns the text of an instruction of this row with the given
// modifiers and fitting operands, preceded by the declarations it needs. It is a
// part of a kernel's body (see SynthModule), with names of its own. Optional
// operands are omitted unless a modifier requires them.
func (f *Form) Synthesize(mods []string) string { return f.synthesize(mods, false) }

// SynthesizeFull is Synthesize with every optional operand.
func (f *Form) SynthesizeFull(mods []string) string { return f.synthesize(mods, true) }

func (f *Form) synthesize(mods []string, full bool) string {
	v, ok := f.match(mods)
	if !ok {
		return ""
	}
	s := &synth{values: v}
	var args []string
	for i := range f.args {
		a := &f.args[i]
		if a.opt && !s.wanted(a, full) {
			continue
		}
		args = append(args, s.operand(a, full))
	}
	return fmt.Sprintf("\t{\n%s\t%s %s;\n%s\t}\n", s.before.String(), join(f.Op, mods), strings.Join(args, ", "), s.after.String())
}

// synth builds an instruction.
type synth struct {
	values
	before, after strings.Builder
	regs          int
}

// wanted decides whether to give an optional operand.
func (s *synth) wanted(a *argSpec, full bool) bool {
	switch a.name {
	case "pol":
		return s.has("L2::cache_hint")
	case "mask":
		if s.form.Op == "cp" || s.form.Op == "multimem" {
			return s.has("multicast::cluster") || s.has("cp_mask")
		}
		return full || s.has("multicast::cluster")
	case "im2col":
		return s.has("im2col") || s.has("im2col::w") || s.has("im2col::w::128")
	case "scale":
		return full && s.form.Op != "cvt" || s.has("scaled::n2::ue8m0")
	case "ord":
		return s.has("box_dim") || s.has("global_dim") || s.has("global_stride") || s.has("element_stride")
	case "flist":
		return false
	}
	return full
}

// reg declares a register for a value of type t and returns its name.
func (s *synth) reg(t Type, wide bool) string {
	switch {
	case t == "":
		t = "b32"
	case t.Predicate():
	case t.Bits() < 8:
		t = "b32"
	case t.Bits() == 8:
		if t = "b8"; wide {
			t = "b16"
		}
	case t == "f16", t == "f32", t == "f64":
	case t.Float() || t.Packed():
		t = Type(fmt.Sprintf("b%d", t.Bits()))
	}
	name := fmt.Sprintf("x%d", s.regs)
	s.regs++
	fmt.Fprintf(&s.before, "\t.reg .%s %s;\n", t, name)
	return name
}

// vector returns a vector of n registers of type t.
func (s *synth) vector(t Type, n int, wide bool) string {
	names := make([]string, n)
	for i := range names {
		names[i] = s.reg(t, wide)
	}
	return "{" + strings.Join(names, ", ") + "}"
}

// constants are the valid literals where a row requires one, by operand.
var constants = map[string]string{
	"size": "16", "lut": "0xE8", "n": "0", "align": "16", "initval": "0", "f": "0", "sel": "0", "ord": "0",
	"scalea": "1", "scaleb": "1", "transa": "0", "transb": "0", "scale": "0", "half": "16", "a": "1",
}

// operand returns a valid operand of the row a; full adds what the row makes optional.
func (s *synth) operand(a *argSpec, full bool) string {
	f := s.form
	switch a.kind {
	case argAddr:
		return s.address(a)
	case argTex:
		return s.texture()
	case argTensor:
		return "[" + s.reg("b64", false) + ", " + s.vector("s32", s.tensorDims(), false) + "]"
	case argImm:
		switch {
		case f.Op == "setmaxnreg":
			return "64"
		case f.Op == "applypriority", f.Op == "discard", f.Op == "tensormap", f.Op == "fence":
			return "128"
		}
		return constants[a.name]
	case argLabel:
		s.after.WriteString("L0:\n")
		return "L0"
	case argTable:
		s.before.WriteString("\tT0: .branchtargets L0, L1;\n")
		s.after.WriteString("L0:\nL1:\n")
		return "T0"
	case argFunc:
		if f.args[0].kind == argList {
			return "synth_func"
		}
		return "synth_proc"
	case argList:
		if f.args[0].kind != argList {
			return "()"
		}
		s.before.WriteString("\t.param .b32 p" + a.name + ";\n")
		return "(p" + a.name + ")"
	case argAny:
		return s.other(a)
	}
	return s.registers(a, full)
}

// tensorDims is the number of coordinates of a tensor operand.
func (s *synth) tensorDims() int {
	if s.has("tile::gather4") || s.has("tile::scatter4") {
		return 5
	}
	return max(1, s.dimension())
}

// dimension is that of a form such as .3d; 0 without one.
func (s *synth) dimension() int {
	dims := 0
	for d := 1; d <= 5; d++ {
		if s.has(fmt.Sprintf("%dd", d)) {
			dims = d
		}
	}
	return dims
}

// other returns an operand that only its instruction explains.
func (s *synth) other(a *argSpec) string {
	switch {
	case a.name == "im2col":
		dims := 2
		if s.has("im2col") {
			dims = max(1, s.dimension()-2)
		}
		return s.vector("u16", dims, false)
	case s.form.Op == "tensormap":
		return s.reg(s.typ(1), false)
	case s.form.Op == "tcgen05":
		return "[" + s.reg("b32", false) + "]"
	}
	return s.reg("b64", false)
}

// registers returns an operand of one or more registers, or a number where only some are valid.
func (s *synth) registers(a *argSpec, full bool) string {
	f := s.form
	switch {
	case a.name == "mask" && a.typ == "b32":
		return "0xffffffff"
	case (f.Op == "bar" || f.Op == "barrier") && a.typ == "u32" && !a.dest:
		return map[string]string{"a": "1", "b": "64"}[a.name]
	}
	t := argType(s.values, a)
	var text string
	switch a.n {
	case lenScalar:
		text = s.reg(t, a.wide)
	case lenByMod:
		n := map[bool]int{s.has("v2"): 2, s.has("v4"): 4, s.has("v8"): 8}[true]
		if n == 0 {
			text = s.reg(t, a.wide)
		} else {
			text = s.vector(t, n, a.wide)
		}
	case lenFrag:
		n, t := fragment(s.values, a.name)
		text = s.vector(t, n, false)
	case lenAny, lenAnyOrNo:
		text = s.open(a, t)
	default:
		text = s.vector(t, a.n, a.wide)
	}
	if a.pair2 || a.pair && full {
		text += "|" + s.reg("pred", false)
	}
	return text
}

// open returns a vector operand whose length the row does not fix.
func (s *synth) open(a *argSpec, t Type) string {
	switch s.form.Op {
	case "mov":
		half := map[Type]Type{"b16": "b8", "b32": "b16", "b64": "b32", "b128": "b64"}[s.typ(1)]
		return s.vector(half, 2, false)
	case "tcgen05":
		if a.name == "mask" {
			return s.vector("b32", map[bool]int{true: 8, false: 4}[s.has("cta_group::2")], false)
		}
		n := 1
		for x := 1; x <= 128; x *= 2 {
			if s.has(fmt.Sprintf("x%d", x)) {
				n = x
			}
		}
		switch {
		case s.has("16x128b"):
			n *= 2
		case s.has("16x256b"):
			n *= 4
		}
		return s.vector("b32", min(n, 128), false)
	}
	// Offsets and gradients of textures have as many elements as there are
	// coordinates, and a power of two.
	switch n := len(s.coordinates()); {
	case n == 1:
		return s.reg(t, false)
	case n == 2 || s.has("a2d") && n == 4:
		return s.vector(t, 2, false)
	default:
		return s.vector(t, 4, false)
	}
}

// coordinates returns the types of a texture's or surface's coordinates; "" marks
// an unused position.
func (s *synth) coordinates() []Type {
	c := Type("s32")
	if s.form.Op == "tex" || s.form.Op == "tld4" {
		c = s.typ(2)
	}
	switch {
	case s.has("1d"):
		return []Type{c}
	case s.has("2d"):
		return []Type{c, c}
	case s.has("3d"), s.has("cube"):
		return []Type{c, c, c, ""}
	case s.has("a1d"):
		return []Type{"u32", c}
	case s.has("a2d"):
		return []Type{"u32", c, c, ""}
	case s.has("acube"):
		return []Type{"u32", c, c, c}
	case s.has("2dms"):
		return []Type{"u32", c, c, ""}
	case s.has("a2dms"):
		return []Type{"u32", "u32", c, c}
	}
	return nil
}

func (s *synth) texture() string {
	name := "synth_tex"
	if s.form.Op != "tex" && s.form.Op != "tld4" {
		name = "synth_surf"
	}
	coords := s.coordinates()
	names := make([]string, len(coords))
	for i, t := range coords {
		if names[i] = "_"; t != "" {
			names[i] = s.reg(t, false)
		} else if i > 0 {
			// The position only completes a vector of four, but it must hold a
			// register.
			names[i] = names[i-1]
		}
	}
	return "[" + name + ", {" + strings.Join(names, ", ") + "}]"
}

// address returns an address operand in the state space that the modifiers name.
func (s *synth) address(a *argSpec) string {
	f := s.form
	switch f.Op {
	case "txq":
		return "[synth_tex]"
	case "suq":
		return "[synth_surf]"
	case "tcgen05":
		if a.name != "mbar" && !s.has("alloc") {
			return "[" + s.reg("b32", false) + "]"
		}
	}
	var spaces []string
	for _, m := range s.vals {
		switch name, _, _ := strings.Cut(m, "::"); name {
		case "global", "shared", "const", "local", "param":
			spaces = append(spaces, m)
		}
	}
	space := ""
	switch {
	case a.name == "mbar":
		space = "shared"
	case a.name == "src" && len(spaces) > 0, a.name == "b" && len(spaces) > 0:
		space = spaces[len(spaces)-1]
	case (f.Op == "cp" || f.Op == "multimem") && slices.Contains(s.vals, "async") && a.name == "dst" && len(spaces) == 1:
		// cp.async may omit the space of its destination.
		return s.generic("shared")
	case len(spaces) > 0:
		space = spaces[0]
	}
	switch {
	case space == "param::func", space == "param" && f.Op == "st":
		s.before.WriteString("\t.param .align 128 .b8 fparam[256];\n")
		return "[fparam]"
	case space == "local":
		s.before.WriteString("\t.local .align 128 .b8 local[256];\n")
		return "[local]"
	case strings.HasPrefix(space, "shared"):
		return "[synth_shared]"
	case strings.HasPrefix(space, "param"):
		return "[synth_param]"
	case space != "":
		return "[synth_" + space + "]"
	}
	switch f.Op {
	case "mbarrier", "ldmatrix", "stmatrix", "clusterlaunchcontrol", "red":
		if f.Op != "red" || s.has("async") {
			return s.generic("shared")
		}
	case "st":
		if s.has("async") || s.has("bulk") {
			return s.generic("shared")
		}
	}
	return s.generic("global")
}

// generic loads the generic address of the space's variable into a register.
func (s *synth) generic(space string) string {
	r := s.reg("b64", false)
	fmt.Fprintf(&s.before, "\tcvta.%s.u64 %s, synth_%s;\n", space, r, space)
	return "[" + r + "]"
}
