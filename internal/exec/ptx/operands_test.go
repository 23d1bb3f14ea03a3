package ptx_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// operandCase is an instruction on registers, taken apart.
type operandCase struct {
	regs []string // types of x0, x1 and so on
	inst string
}

var (
	declRE = regexp.MustCompile(`\.reg \.(\w+) (x\d+);`)
	bitsOf = map[string]int{"pred": 1, "b16": 16, "u16": 16, "s16": 16, "f16": 16, "bf16": 16, "b32": 32, "u32": 32, "s32": 32, "f32": 32, "f16x2": 32, "bf16x2": 32,
		"b64": 64, "u64": 64, "s64": 64, "f64": 64}
)

// operandCaseOf parses the output of Synthesize; false for instructions with memory, labels,
// vectors or other lanes, and for those that are not a function of their operands.
func operandCaseOf(text string) (c operandCase, ok bool) {
	for _, m := range declRE.FindAllStringSubmatch(text, -1) {
		if bitsOf[m[1]] == 0 || m[2] != fmt.Sprintf("x%d", len(c.regs)) {
			return c, false
		}
		c.regs = append(c.regs, m[1])
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	c.inst = strings.TrimSpace(lines[len(lines)-2])
	op, _, _ := strings.Cut(c.inst, ".")
	switch op {
	case "shfl", "vote", "match", "redux", "elect", "activemask", "movmatrix", "bar", "barrier", "nanosleep", "setmaxnreg", "alloca", "stacksave", "stackrestore", "mapa", "getctarank", "createpolicy", "trap", "exit", "ret", "brkpt", "pmevent":
		return c, false
	}
	return c, len(c.regs) > 1 && !strings.ContainsAny(c.inst, "[{$%") && len(lines) == len(c.regs)+3
}

// run executes inst with the registers as given and returns them all, 64 bits
// each, register after register.
func (c *operandCase) run(t *testing.T, guard, inst string, in []byte) ([]byte, error) {
	var decls, body, out strings.Builder
	decls.WriteString(".reg .b64 %at, %q; .reg .b32 %h; .reg .pred %on;")
	body.WriteString("mul.wide.u32 %at, %t, 8;\nadd.u64 %q, %out, %at;\nadd.u64 %at, %in0, %at;\nld.global.b32 %h, [%at];\nsetp.lt.s32 %on, %h, 0;\n")
	for i, typ := range c.regs {
		at := 256 * (i + 1)
		if b := bitsOf[typ]; b == 1 {
			fmt.Fprintf(&decls, ".reg .pred x%d;", i)
			fmt.Fprintf(&body, "ld.global.b32 %%h, [%%at+%d];\nsetp.lt.s32 x%d, %%h, 0;\n", at, i)
			fmt.Fprintf(&out, "selp.b32 %%h, 1, 0, x%d;\nst.global.b32 [%%q+%d], %%h;\n", i, 256*i)
		} else {
			fmt.Fprintf(&decls, ".reg .b%d x%d;", b, i)
			fmt.Fprintf(&body, "ld.global.b%d x%d, [%%at+%d];\n", b, i, at)
			fmt.Fprintf(&out, "st.global.b%d [%%q+%d], x%d;\n", b, 256*i, i)
		}
	}
	return tryBody(t, bodyOpts{version: "9.0", target: "sm_100a"}, decls.String(), body.String()+guard+inst+"\n"+out.String(), [][]byte{in}, 256*len(c.regs))
}

// literal writes the value of a register of some type as an operand; false where
// PTX has no literals of the type.
func literal(typ string, v uint64) (string, bool) {
	switch typ {
	case "f32":
		return fmt.Sprintf("0f%08x", uint32(v)), true
	case "f64":
		return fmt.Sprintf("0d%016x", v), true
	case "s16":
		return fmt.Sprint(int16(v)), true
	case "s32":
		return fmt.Sprint(int32(v)), true
	case "s64":
		return fmt.Sprint(int64(v)), true
	case "u16", "b16":
		return fmt.Sprint(uint16(v)), true
	case "u32", "b32":
		return fmt.Sprint(uint32(v)), true
	case "u64", "b64":
		return fmt.Sprintf("%#xU", v), true
	}
	return "", false
}

// TestOperandForms executes an instruction of every row of the table with random values in
// other forms that must do the same: with a guard, with a source as destination, with literals
// instead of registers. It needs no reference: the plain form is tested elsewhere.
func TestOperandForms(t *testing.T) {
	rnd := rand.New(rand.NewPCG(61, 62))
	plain, guarded, aliased, literals := 0, 0, 0, 0
	most := alltests.Count(3, 8)
	for _, f := range ptx.Forms() {
		var pick [][]string
		n := 0
		f.Expand(func(mods []string) bool {
			if n++; len(pick) < most {
				pick = append(pick, slices.Clone(mods))
			} else if k := rnd.IntN(n); k < most {
				pick[k] = slices.Clone(mods)
			}
			return n < 2000
		})
		for _, mods := range pick {
			c, ok := operandCaseOf(f.Synthesize(mods))
			if !ok {
				continue
			}
			in := make([]byte, 256*(len(c.regs)+1))
			for i := range len(in) / 8 {
				v := rnd.Uint64() >> (rnd.IntN(3) * rnd.IntN(64))
				binary.LittleEndian.PutUint64(in[8*i:], v)
			}
			row := func(b []byte, r, lane int) uint64 { return binary.LittleEndian.Uint64(b[256*r+8*lane:]) }
			mask := func(r int) uint64 { return 1<<bitsOf[c.regs[r]] - 1 }
			start := func(r, lane int) uint64 {
				v := row(in, r+1, lane)
				if c.regs[r] == "pred" {
					return v >> 31 & 1
				}
				return v & mask(r)
			}
			want, err := c.run(t, "", c.inst, in)
			if err != nil {
				continue // refused, or a trap
			}
			plain++
			if got, err := c.run(t, "@%on ", c.inst, in); err != nil {
				t.Errorf("@p %s: %v", c.inst, err)
			} else {
				guarded++
				for r := range c.regs {
					for lane := range 32 {
						w := start(r, lane)
						if in[8*lane+3]>>7 != 0 {
							w = row(want, r, lane)
						}
						if g := row(got, r, lane); g != w {
							t.Errorf("@p %s: x%d of lane %d is %#x, want %#x", c.inst, r, lane, g, w)
							break
						}
					}
				}
			}
			op, args, _ := strings.Cut(strings.TrimSuffix(c.inst, ";"), " ")
			list := strings.Split(args, ", ")
			for k := 1; k < len(list); k++ {
				r := slices.Index(regNames[:len(c.regs)], list[k])
				if r < 0 || slices.Contains(list[:k], list[k]) {
					continue
				}
				if list[0] == "x0" && bitsOf[c.regs[0]] == bitsOf[c.regs[r]] {
					inst := op + " " + strings.Join(append([]string{list[k]}, list[1:]...), ", ") + ";"
					if got, err := c.run(t, "", inst, in); err == nil {
						aliased++
						if !bytes.Equal(got[256*r:256*r+256], want[:256]) {
							t.Errorf("%s: %x\nwant %x", inst, got[256*r:256*r+256], want[:256])
						}
					}
				}
				v := start(r, rnd.IntN(32))
				text, ok := literal(c.regs[r], v)
				if !ok || strings.Contains(op, "f16") { // there are no literals of half precision
					continue
				}
				same := slices.Clone(in)
				for lane := range 32 {
					binary.LittleEndian.PutUint64(same[256*(r+1)+8*lane:], v)
				}
				changed := slices.Clone(list)
				changed[k] = text
				inst := op + " " + strings.Join(changed, ", ") + ";"
				got, err := c.run(t, "", inst, same)
				if err != nil {
					continue
				}
				literals++
				if w, err := c.run(t, "", c.inst, same); err != nil || !bytes.Equal(got[:256], w[:256]) {
					t.Errorf("%s: %x\nwant %x, %v", inst, got[:256], w[:256], err)
				}
			}
		}
	}
	t.Logf("%d instructions; %d with a guard, %d with a source as destination, %d with a literal", plain, guarded, aliased, literals)
	if least := alltests.Count(500, 1000); plain < least || guarded != plain || aliased < least || literals < least {
		t.Error("too few of them run")
	}
}

// regNames are the names that Synthesize gives registers.
var regNames = func() (list []string) {
	for i := range 16 {
		list = append(list, fmt.Sprintf("x%d", i))
	}
	return list
}()
