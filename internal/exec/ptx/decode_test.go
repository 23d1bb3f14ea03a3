package ptx_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// TestDecodeWrongOperands gives every row of the instruction table operands of the wrong kind,
// too few and too many: whatever the parser accepts, the decoder must reject or accept, and
// never panic.
func TestDecodeWrongOperands(t *testing.T) {
	strange := []string{"wp", "!wp", "_", "w8", "w16", "w32", "w64", "w128", "-w32", "wv", "wv.x", "w32.b1", "w32.h10", "w32.b7654",
		"{w32, w32}", "{w32, _}", "{w8, w8, w8, w8}", "{}", "w32|wp", "wp|wp", "5", "-1", "0x123456789abcdef0", "1.5", "0f3F800000",
		"synth_global", "synth_func", "%tid.x", "%tid", "%clock64", "[w64]", "[w64+8]", "[synth_shared]", "[synth_tex, {w32, w32}]",
		"[w64, {w32}]", "(w32)", "nowhere", "%nothing"}
	const decls = "\t.reg .pred wp;\n\t.reg .b8 w8;\n\t.reg .b16 w16;\n\t.reg .b32 w32;\n\t.reg .b64 w64;\n\t.reg .b128 w128;\n\t.reg .v4 .b32 wv;\n"
	line := regexp.MustCompile(`(?m)^\t([a-z0-9]+(?:\.[\w:]+)*)( [^;]*)?;$`)
	rnd := rand.New(rand.NewPCG(13, 14))
	tried, taken := 0, 0
	for _, f := range ptx.Forms() {
		var all [][]string
		f.Expand(func(mods []string) bool {
			all = append(all, append([]string(nil), mods...))
			return len(all) < 200
		})
		for range 12 {
			body := f.SynthesizeFull(all[rnd.IntN(len(all))])
			// The instruction itself is the last line that is neither a declaration nor a label.
			at := line.FindAllStringSubmatchIndex(body, -1)
			m := at[len(at)-1]
			op, args := body[m[2]:m[3]], ""
			if m[4] >= 0 {
				args = strings.TrimSpace(body[m[4]:m[5]])
			}
			list := splitOperands(args)
			for n := 1 + rnd.IntN(2); n > 0; n-- {
				switch k := rnd.IntN(8); {
				case k == 0 && len(list) > 0:
					i := rnd.IntN(len(list))
					list = append(list[:i:i], list[i+1:]...)
				case k == 1:
					list = append(list, strange[rnd.IntN(len(strange))])
				case len(list) > 0:
					list[rnd.IntN(len(list))] = strange[rnd.IntN(len(strange))]
				}
			}
			text := ptx.SynthModule(body[:m[0]] + decls + "\t" + op + " " + strings.Join(list, ", ") + ";" + body[m[1]:])
			tried++
			mod, err := ptx.Parse("wrong.ptx", []byte(text))
			if err != nil {
				continue
			}
			func() {
				defer func() {
					if r := recover(); r != nil {
						t.Errorf("%s %s: %v", op, strings.Join(list, ", "), r)
					}
				}()
				p, err := xptx.Link(mod)
				if err != nil {
					return
				}
				if k, ok := p.Kernel("synth0"); ok && len(k.Unusable()) == 0 {
					taken++
				}
			}()
		}
	}
	t.Logf("%d instructions with wrong operands, %d of them legal after all", tried, taken)
	if tried == 0 || taken == tried {
		t.Error("nothing was wrong")
	}
}

// splitOperands splits at the commas outside brackets.
func splitOperands(s string) []string {
	var list []string
	depth, from := 0, 0
	for i, c := range s {
		switch c {
		case '{', '[', '(':
			depth++
		case '}', ']', ')':
			depth--
		case ',':
			if depth == 0 {
				list = append(list, strings.TrimSpace(s[from:i]))
				from = i + 1
			}
		}
	}
	if s = strings.TrimSpace(s[from:]); s != "" {
		list = append(list, s)
	}
	return list
}

// TestOperandsThatNothingComputes: if an operand is read before anything is run, a register
// plus a constant or a clock is rejected, and not taken for zero.
func TestOperandsThatNothingComputes(t *testing.T) {
	const module = ".func g(.reg .b32 %i) { ret; }"
	for _, body := range []string{
		"T: .branchtargets A, B;\nmov.u32 %r0, 0;\nbrx.idx %r0+1, T;\nA: mov.u32 %r1, 1;\nB: ret;",
		"T: .branchtargets A, B;\nbrx.idx %clock, T;\nA: mov.u32 %r1, 1;\nB: ret;",
		"mov.u32 %r0, 0xfffffffe;\nbar.warp.sync %r0+1;",
		"mov.u32 %r0, 0xfffffffe;\nvote.sync.ballot.b32 %r1, %p0, %r0+1;",
		"call g, (%clock);",
	} {
		_, err := tryBody(t, bodyOpts{module: module}, regs, body, nil, 4)
		if err == nil || !strings.Contains(err.Error(), "move the value to a register first") {
			t.Errorf("%s\nerror %v", body, err)
		}
	}
}
