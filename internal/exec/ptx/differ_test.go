package ptx_test

import (
	"encoding/binary"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
)

// differFile lists operations whose result in another simulator is not what
// PTX defines, each with the value that PTX defines.
const differFile = "../../../testdata/reference/gpgpusim/micro/operations-that-differ.txt"

// differCase is a kernel for one operation of the list: it leaves the result
// in %r, or in %x if it has 64 bits.
type differCase struct {
	body   string
	wide   bool
	block  uint32
	stores bool // the body writes the result to memory itself
}

// differCases has a kernel for every line of the list. The list does not say
// which operands its values belong to; these lead to them.
var differCases = map[string]differCase{
	// (1+2^-23)² - (1+2^-22) = 2^-46, which two roundings lose.
	"fma.rn.f32": {body: "mov.b32 %a, 0x3f800001; mov.b32 %b, 0xbf800002; fma.rn.f32 %r, %a, %a, %b;"},
	// (1+2^-52)² - (1+2^-51) = 2^-104.
	"fma.rn.f64":           {body: "mov.b64 %y, 0d3ff0000000000001; mov.b64 %z, 0dbff0000000000002; fma.rn.f64 %x, %y, %y, %z;", wide: true},
	"mul.ftz.f32 denormal": {body: "mov.b32 %a, 1; mov.b32 %b, 0f40000000; mul.ftz.f32 %r, %a, %b;"},
	"add.ftz.f32 denormal": {body: "mov.b32 %a, 1; mov.b32 %b, 2; add.ftz.f32 %r, %a, %b;"},
	"add.sat.f32":          {body: "mov.b32 %a, 0f3f800000; mov.b32 %b, 0f40000000; add.sat.f32 %r, %a, %b;"},
	"add.sat.f32 NaN":      {body: "mov.b32 %a, 0f7fc00000; mov.b32 %b, 0f3f800000; add.sat.f32 %r, %a, %b;"},
	// 1 + 2^-30, up.
	"add.rp.f32": {body: "mov.b32 %a, 0f3f800000; mov.b32 %b, 0f30800000; add.rp.f32 %r, %a, %b;"},
	// (1+2^-23)² = 1 + 2^-22 + 2^-46, up.
	"mul.rp.f32":           {body: "mov.b32 %a, 0x3f800001; mul.rp.f32 %r, %a, %a;"},
	"cvt.rzi.s32.f32 big":  {body: "mov.b32 %a, 0f501502f9; cvt.rzi.s32.f32 %r, %a;"}, // 1e10
	"cvt.rzi.s32.f32 NaN":  {body: "mov.b32 %a, 0f7fc00000; cvt.rzi.s32.f32 %r, %a;"},
	"cvt.rzi.u32.f32 -1":   {body: "mov.b32 %a, 0fbf800000; cvt.rzi.u32.f32 %r, %a;"},
	"cvt.rzi.u32.f32 big":  {body: "mov.b32 %a, 0f501502f9; cvt.rzi.u32.f32 %r, %a;"},
	"cvt.rz.f32.s32":       {body: "mov.b32 %a, 16777219; cvt.rz.f32.s32 %r, %a;"}, // 2^24 + 3
	"cvt.sat.s8.s32":       {body: "mov.b32 %a, 300; cvt.sat.s8.s32 %r, %a;"},
	"div.u32 by 0":         {body: "mov.b32 %a, 7; mov.b32 %b, 0; div.u32 %r, %a, %b;"},
	"rem.u32 by 0":         {body: "mov.b32 %a, 7; mov.b32 %b, 0; rem.u32 %r, %a, %b;"},
	"mad.hi.u32":           {body: "mov.b32 %a, 0x12345678; mov.b32 %b, 0xdeadbeef; mad.hi.u32 %r, %a, %b, 5;"},
	"mul.hi.u64":           {body: "mov.b64 %y, 0x1234567812345678; mov.b64 %z, 0xdeadbeefdeadbeef; mul.hi.u64 %x, %y, %z;", wide: true},
	"add.cc/addc":          {body: "mov.b32 %a, 0xffffffff; add.cc.u32 %b, %a, 1; addc.u32 %r, 0, 0;"},
	"sub.cc/subc":          {body: "mov.b32 %a, 0; sub.cc.u32 %b, %a, 1; subc.u32 %r, 5, 0;"},
	"mad.lo.cc/madc.hi":    {body: "mov.b32 %a, 0xffffffff; mad.lo.cc.u32 %b, %a, %a, %a; mov.b32 %a, 0x80000000; madc.hi.u32 %r, %a, 2, 0;"},
	"add.sat.s32":          {body: "mov.b32 %a, 0x7fffffff; add.sat.s32 %r, %a, 1;"},
	"bfind.u32 0":          {body: "mov.b32 %a, 0; bfind.u32 %r, %a;"},
	"bfe.s32 len 0":        {body: "mov.b32 %a, 0xffffffff; bfe.s32 %r, %a, 4, 0;"},
	"setp with combine":    {body: "mov.b32 %a, 3; setp.eq.u32 %p, %a, 3; setp.lt.and.u32 %p|%q, %a, 4, %p; @%q mov.b32 %r, 2; @!%q selp.b32 %r, 1, 0, %p;"},
	"red.global.add":       {body: "red.global.add.u32 [%out], 1;", block: 64, stores: true},
	"ld.s8":                {body: "st.global.u8 [%out+32], 0x80; ld.global.s8 %r, [%out+32];"},
	"%lanemask_lt lane 0":  {body: "mov.u32 %r, %lanemask_lt;"},
	"%warpid,%nwarpid":     {body: "mov.u32 %a, %warpid; mov.u32 %b, %nwarpid; setp.lt.u32 %p, %a, %b; selp.b32 %r, %a, 99, %p;"},
	"testp.notanumber":     {body: "mov.b32 %a, 0f7fc00000; testp.notanumber.f32 %p, %a; selp.b32 %r, 1, 0, %p;"},
	"copysign.f32":         {body: "mov.b32 %a, 0fbf800000; mov.b32 %b, 0f40000000; copysign.f32 %r, %a, %b;"},
	"isspacep.global":      {body: "isspacep.global %p, %out; selp.b32 %r, 1, 0, %p;"},
	"ld beyond allocation": {body: "ld.global.u32 %r, [%out+65536];"},
	"misaligned ld":        {body: "ld.global.u32 %r, [%out+2];"},
	"literal 64 bit":       {body: "mov.u64 %x, 0x100000001;", wide: true},
	"cvt.rn.f32.s64":       {body: "mov.b64 %y, -3; cvt.rn.f32.s64 %r, %y;"},
	"cvt.rn.f32.u64 5":     {body: "mov.b64 %y, 5; cvt.rn.f32.u64 %r, %y;"},
	"cvt.rn.f64.s64 -3":    {body: "mov.b64 %y, -3; cvt.rn.f64.s64 %x, %y;", wide: true},
}

// TestOperationsThatDiffer runs a kernel for every line of the list and
// compares with the value that the line gives.
func TestOperationsThatDiffer(t *testing.T) {
	raw, err := os.ReadFile(differFile)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, line := range strings.Split(string(raw), "\n") {
		name, rest, ok := strings.Cut(line, " expected ")
		if strings.HasPrefix(line, "#") || !ok {
			continue
		}
		name = strings.TrimSpace(name)
		want := strings.Fields(rest)[0]
		seen[name] = true
		c, ok := differCases[name]
		if !ok {
			t.Errorf("no kernel for %q", name)
			continue
		}
		t.Run(name, func(t *testing.T) { c.run(t, want) })
	}
	for name := range differCases {
		if !seen[name] {
			t.Errorf("the list has no line for %q", name)
		}
	}
	t.Logf("%d operations", len(seen))
}

func (c differCase) run(t *testing.T, want string) {
	// The word is full of ones at first, so that a zero must be written.
	body := "setp.ne.u32 %p, %t, 0;\n@%p bra ready;\nst.global.u64 [%out], -1;\nready:\nbar.sync 0;\nmov.b32 %r, 0xabcd; mov.b64 %x, 0xabcd;\n"
	switch {
	case c.stores:
		body = c.body
	case c.wide:
		body += "setp.ne.u32 %p, %t, 0; @%p exit;\n" + c.body + "\nst.global.u64 [%out], %x;"
	default:
		body += "setp.ne.u32 %p, %t, 0; @%p exit;\n" + c.body + "\nst.global.u32 [%out], %r;"
	}
	decls := ".reg .b32 %a, %b, %r; .reg .b64 %x, %y, %z; .reg .pred %p, %q;"
	out, err := tryBody(t, bodyOpts{target: "sm_80", block: c.block}, decls, body, nil, 64)
	if want == "error" {
		if f := (*exec.Fault)(nil); !errors.As(err, &f) {
			t.Errorf("error %v, want a fault", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	x, err := strconv.ParseUint(want, 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	got := uint64(binary.LittleEndian.Uint32(out))
	if c.wide {
		got = binary.LittleEndian.Uint64(out)
	}
	if got != x {
		t.Errorf("result %#x, want %s", got, want)
	}
}
