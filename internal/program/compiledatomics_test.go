package program_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/program"
)

// atomicBody executes an atomic operation at a place that a few lanes of a warp share, in a space: what
// the lanes get, and what the places have afterwards, is written out.
func atomicBody(op, typ, space, quals string, guard bool) string {
	reg := map[string]string{"16": "%h", "32": "%r", "64": "%d", "x2": "%r"}[typ[len(typ)-2:]]
	width := map[string]string{"%h": "16", "%r": "32", "%d": "64"}[reg]
	var b strings.Builder
	if op == "min" || op == "max" { // upper halves of 64 bits are often equal
		b.WriteString("and.b32 %r22, %i, 3; setp.eq.u32 %p5, %r22, 3; @%p5 and.b32 %r0, %r0, 0x80000001; and.b32 %r2, %r2, 0x80000001;\n")
	}
	// A group of four lanes has 16 bytes of room.
	b.WriteString("mov.u32 %r20, room; shr.u32 %r21, %i, 2; shl.b32 %r21, %r21, 4; add.u32 %r20, %r20, %r21; and.b32 %r22, %i, 3; shl.b32 %r23, %r22, 2; add.u32 %r23, %r20, %r23;\n")
	b.WriteString("st.shared.u32 [%r23], %r0; bar.sync 0; mov.b64 %d9, 77; mov.b64 %d8, 77; mov.b64 %d12, 0;\n")
	at, name := "%r20", ".shared"
	switch space {
	case "generic shared":
		at, name = "%d10", ""
		b.WriteString("cvt.u64.u32 %d10, %r20; cvta.shared.u64 %d10, %d10;\n")
	case "global", "generic":
		at = "%d10"
		if name = ".global"; space == "generic" {
			name = ""
		}
		b.WriteString("mul.wide.u32 %d11, %r22, 32; sub.u64 %d10, %out, %d11; ld.shared.u32 %r24, [%r23]; mul.wide.u32 %d11, %r22, 4; add.u64 %d11, %d10, %d11; st.global.u32 [%d11+16], %r24; add.u64 %d10, %d10, 16; bar.sync 0;\n")
	}
	at = "[" + at + map[string]string{"16": "+2", "32": "+4", "64": "+8"}[width] + "]"
	// The operands are words of the input; those of binary64 small numbers, so that none is NaN.
	switch {
	case typ == "f64":
		b.WriteString("cvt.rn.f64.s32 %e5, %r1; mov.b64 %d5, %e5; mov.b64 %d6, %d0;\n")
		fmt.Fprintf(&b, "cvt.rn.f64.s32 %%e6, %%r2; st%s.f64 %s, %%e6; bar.sync 0;\n", name, at)
	case op == "cas":
		fmt.Fprintf(&b, "ld%s.b%s %s5, %s; bar.sync 0; mov.b64 %%d15, {%%r1, %%r2}; @!%%p0 mov.b64 %%d5, %%d15; @!%%p0 mov.b32 %%r5, %%r1; cvt.u16.u32 %%h6, %%r1; mov.b32 %%r6, %%r2; mov.b64 %%d6, {%%r2, %%r1};\n", name, width, reg, at)
	default:
		b.WriteString("cvt.u16.u32 %h5, %r1; mov.b32 %r5, %r1; mov.b64 %d5, {%r1, %r2};\n")
	}
	g := ""
	if guard {
		g = "@%p0 "
	}
	last := ""
	if op == "cas" {
		last = ", " + reg + "6"
	}
	fmt.Fprintf(&b, "mov.u16 %%h9, 77; mov.u32 %%r10, 77; %satom%s%s.%s%s.%s %s%s, %s, %s5%s;\n", g, quals, name, op, map[bool]string{true: ".noftz"}[strings.HasPrefix(typ, "f16")], typ, reg, "9", at, reg, last)
	if op != "cas" && op != "exch" {
		quals := strings.ReplaceAll(strings.ReplaceAll(quals, "acquire", "relaxed"), "acq_rel", "release")
		fmt.Fprintf(&b, "%sred%s%s.%s%s.%s %s, %s5;\n", g, quals, name, op, map[bool]string{true: ".noftz"}[strings.HasPrefix(typ, "f16")], typ, at, reg)
	}
	if reg == "%h" {
		b.WriteString("cvt.u64.u16 %d9, %h9;\n")
	} else if reg == "%r" {
		b.WriteString("cvt.u64.u32 %d9, %r9;\n")
	}
	b.WriteString("bar.sync 0; ld.shared.u32 %r24, [%r23]; st.global.u64 [%out], %d9; st.global.u32 [%out+8], %r24;\n")
	return b.String()
}

// TestCompiledAtomics: atomic operations of all types in all spaces, with memory orders and guards, give
// what their PTX gives.
func TestCompiledAtomics(t *testing.T) {
	types := map[string]string{
		"and": "b32 b64", "or": "b32 b64", "xor": "b32 b64", "exch": "b32 b64", "cas": "b16 b32 b64",
		"add": "u32 s32 u64 f32 f64 f16 f16x2", "inc": "u32", "dec": "u32", "min": "u32 s32 u64 s64", "max": "u32 s32 u64 s64",
	}
	quals := []string{"", ".relaxed.cta", ".acquire.gpu", ".release.sys", ".acq_rel.cta", ".acq_rel.gpu"}
	input := rowInput()
	n := 0
	for _, op := range []string{"and", "or", "xor", "exch", "cas", "add", "inc", "dec", "min", "max"} {
		for _, typ := range strings.Fields(types[op]) {
			for _, space := range []string{"shared", "generic shared", "global", "generic"} {
				n++
				q, guard := quals[n%len(quals)], n%3 == 0
				body := atomicBody(op, typ, space, q, guard)
				want, _, err := bodyRun(t, program.PTXCode, body, input[n*96:])
				if err != nil {
					t.Fatalf("%v\n%s", err, body)
				}
				got, refused, err := bodyRun(t, program.CompiledCode, body, input[n*96:])
				switch {
				case err != nil:
					t.Fatalf("%v\n%s", err, body)
				case refused != "":
					t.Errorf("%s.%s in %s: %s", op, typ, space, refused)
				case !bytes.Equal(got, want):
					t.Errorf("%s.%s%s in %s differs (guarded: %v):\n%s", op, typ, q, space, guard, body)
				}
			}
		}
	}
}
