package ptx

import "testing"

func TestTypes(t *testing.T) {
	for _, c := range []struct {
		t                              Type
		bits, bytes, lanes             int
		float, signed, unsigned, plain bool
		elem                           Type
	}{
		{"u8", 8, 1, 1, false, false, true, false, "u8"},
		{"s64", 64, 8, 1, false, true, false, false, "s64"},
		{"b128", 128, 16, 1, false, false, false, true, "b128"},
		{"b1", 1, 1, 1, false, false, false, true, "b1"},
		{"pred", 1, 0, 1, false, false, false, false, "pred"},
		{"f16", 16, 2, 1, true, false, false, false, "f16"},
		{"tf32", 32, 4, 1, true, false, false, false, "tf32"},
		{"f16x2", 32, 4, 2, true, false, false, false, "f16"},
		{"bf16x2", 32, 4, 2, true, false, false, false, "bf16"},
		{"s16x2", 32, 4, 2, false, true, false, false, "s16"},
		{"e4m3x2", 16, 2, 2, true, false, false, false, "e4m3"},
		{"e2m1x2", 8, 1, 2, true, false, false, false, "e2m1"},
		{"e5m2x4", 32, 4, 4, true, false, false, false, "e5m2"},
		{"ue8m0x2", 16, 2, 2, true, false, false, false, "ue8m0"},
		{"texref", 0, 0, 1, false, false, false, false, "texref"},
		{"nonsense", 0, 0, 1, false, false, false, false, "nonsense"},
	} {
		if c.t.Bits() != c.bits || c.t.Bytes() != c.bytes || c.t.Lanes() != c.lanes || c.t.Float() != c.float ||
			c.t.Signed() != c.signed || c.t.Unsigned() != c.unsigned || c.t.Untyped() != c.plain || c.t.Elem() != c.elem {
			t.Errorf("%s: bits %d bytes %d lanes %d float %t signed %t unsigned %t untyped %t elem %s", c.t,
				c.t.Bits(), c.t.Bytes(), c.t.Lanes(), c.t.Float(), c.t.Signed(), c.t.Unsigned(), c.t.Untyped(), c.t.Elem())
		}
	}
	for typ := range typeInfos {
		if e := typ.Elem(); typ.Packed() && (e == typ || !e.Known() || e.Bits()*typ.Lanes() != typ.Bits()) {
			t.Errorf("%s: %d × %s is not %d bits", typ, typ.Lanes(), e, typ.Bits())
		}
	}
}

func TestVarSize(t *testing.T) {
	list := func(n int) *Init {
		i := &Init{}
		for range n {
			i.List = append(i.List, &Init{Expr: &Expr{}})
		}
		return i
	}
	for _, c := range []struct {
		name string
		v    Var
		want int64
	}{
		{"scalar", Var{Type: "u32"}, 4},
		{"vector", Var{Type: "f32", Vec: 4}, 16},
		{"array", Var{Type: "b8", Dims: []int64{10}}, 10},
		{"two dimensions", Var{Type: "s16", Dims: []int64{3, 5}}, 30},
		{"array of vectors", Var{Type: "f32", Vec: 2, Dims: []int64{3}}, 24},
		{"predicate", Var{Type: "pred"}, 0},
		{"texture", Var{Type: "texref"}, 0},
		{"extern shared", Var{Type: "b8", Dims: []int64{-1}}, 0},
		{"size from initialiser", Var{Type: "u32", Dims: []int64{-1}, Init: list(7)}, 28},
		{"rows from initialiser", Var{Type: "u32", Dims: []int64{-1, 4}, Init: &Init{List: []*Init{list(4), list(2)}}}, 32},
		{"flat initialiser of rows", Var{Type: "u32", Dims: []int64{-1, 4}, Init: list(6)}, 32},
		{"huge", Var{Type: "u64", Dims: []int64{1 << 40, 1 << 40}}, maxVarSize},
		{"zero", Var{Type: "u64", Dims: []int64{0, 1 << 62}}, 0},
		{"open inner dimension", Var{Type: "u64", Dims: []int64{4, -1}}, 0},
		{"zero inner dimension", Var{Type: "u64", Dims: []int64{-1, 0}, Init: list(3)}, 0},
	} {
		if got := c.v.Size(); got != c.want {
			t.Errorf("%s: %d bytes, want %d", c.name, got, c.want)
		}
	}
}

func TestSpecials(t *testing.T) {
	for _, c := range []struct {
		name  string
		typ   Type
		elems string
	}{
		{"%tid", "u32", "xyzw"}, {"%nctaid", "u32", "xyzw"}, {"%laneid", "u32", ""}, {"%clock64", "u64", ""},
		{"%lanemask_ge", "u32", ""}, {"%pm7", "u32", ""}, {"%pm3_64", "u64", ""}, {"%envreg31", "b32", ""},
		{"%globaltimer_hi", "u32", ""}, {"%is_explicit_cluster", "pred", ""}, {"%cluster_nctaid", "u32", "xyzw"},
		{"%reserved_smem_offset_1", "b32", ""}, {"%dynamic_smem_size", "u32", ""}, {"%current_graph_exec", "u64", ""},
	} {
		s, ok := LookupSpecial(c.name)
		if !ok {
			t.Errorf("no special register %s", c.name)
			continue
		}
		if s.Type != c.typ || s.Elems != c.elems {
			t.Errorf("%s: type %s elements %q, want %s %q", c.name, s.Type, s.Elems, c.typ, c.elems)
		}
	}
	for _, name := range []string{"%envreg32", "%pm8", "tid", "%tid.x", "%", ""} {
		if _, ok := LookupSpecial(name); ok {
			t.Errorf("%q is treated as a special register", name)
		}
	}
	if n := len(Specials()); n != 85 {
		t.Errorf("%d special registers, want 85", n)
	}
	tid, _ := LookupSpecial("%tid")
	for elem, want := range map[string]bool{"x": true, "w": true, "q": false, "": false, "xy": false} {
		if tid.HasElem(elem) != want {
			t.Errorf("%%tid.%s: %t", elem, !want)
		}
	}
	if got := nearestSpecial("%lanemask_lq"); got == "" {
		t.Error("nothing near %lanemask_lq")
	}
}
