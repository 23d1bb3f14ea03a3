package program_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/program"
)

// TestCompiledVideo: video instructions with selectors, masks, signs and second operations, as they come by chance, give
// what PTX gives.
func TestCompiledVideo(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 2))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	for range alltests.Count(60, 1500) {
		var body strings.Builder
		for n := range 8 {
			fmt.Fprintf(&body, "%s\n", videoInstruction(r, fmt.Sprintf("%%r%d", 10+n), pick))
		}
		body.WriteString("st.global.v4.u32 [%out], {%r10, %r11, %r12, %r13}; st.global.v4.u32 [%out+16], {%r14, %r15, %r16, %r17};")
		input := rowInput()
		want, _, err := textRun(t, program.PTXCode, fmt.Sprintf(bodyFrame, body.String()), input)
		if err != nil {
			t.Fatal(err)
		}
		got, refused, err := textRun(t, program.CompiledCode, fmt.Sprintf(bodyFrame, body.String()), input)
		if err != nil || refused != "" {
			t.Fatal(err, refused)
		}
		if bytes.Equal(got, want) {
			continue
		}
		for i := range got {
			if got[i] != want[i] {
				in := input[24*(i/32):][:12]
				t.Fatalf("%s of %x: byte %d is %#x, want %#x", strings.Split(body.String(), "\n")[i%32/4], in, i%4, got[i], want[i])
			}
		}
	}
}

// videoInstruction is any video instruction on %r0, %r1 and %r2, in some lanes only.
func videoInstruction(r *rand.Rand, d string, pick func(...string) string) string {
	signs := func(n int) (list []string) {
		for range n {
			list = append(list, pick("u32", "s32"))
		}
		return list
	}
	part := func() string { return pick("", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1") }
	sat := pick("", ".sat")
	guard := pick("", "", "mov.u32 "+d+", 7; @%p0 ")
	op := pick("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vmad", "vset", "simd")
	types := strings.Join(signs(3), ".")
	switch op {
	case "simd":
		lanes, letter := 2, "h"
		if r.IntN(2) == 0 {
			lanes, letter = 4, "b"
		}
		digits := func() string {
			s := pick("", "."+letter)
			for n := 0; s != "" && n < lanes; n++ {
				s += fmt.Sprint(r.IntN(2 * lanes))
			}
			return s
		}
		mask := ""
		if r.IntN(2) == 0 {
			bits := 1 + r.IntN(1<<lanes-1)
			for n := lanes - 1; n >= 0; n-- {
				if bits>>n&1 != 0 {
					mask += fmt.Sprint(n)
				}
			}
			mask = "." + letter + mask
		}
		name := pick("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax")
		return fmt.Sprintf("%s%s%d.%s%s %s%s, %%r0%s, %%r1%s, %%r2;", guard, name, lanes, types, pick("", ".sat", ".add"), d, mask, digits(), digits())
	case "vmad":
		po, negA, negB, negC := "", pick("", "-"), pick("", "-"), pick("", "-")
		if negA+negB+negC == "" && r.IntN(2) == 0 {
			po = ".po"
		} else if negA+negB == "--" {
			negB = ""
		}
		return fmt.Sprintf("%svmad.%s%s%s%s %s, %s%%r0%s, %s%%r1%s, %s%%r2;", guard, types, po, sat, pick("", ".shr7", ".shr15"), d, negA, part(), negB, part(), negC)
	case "vset":
		types, sat = strings.Join(signs(2), ".")+pick(".eq", ".ne", ".lt", ".le", ".gt", ".ge"), ""
	case "vshl", "vshr":
		types = strings.Join(signs(2), ".") + ".u32"
		sat += pick(".clamp", ".wrap")
	}
	switch r.IntN(3) {
	case 0:
		return fmt.Sprintf("%s%s.%s%s %s, %%r0%s, %%r1%s;", guard, op, types, sat, d, part(), part())
	case 1:
		return fmt.Sprintf("%s%s.%s%s%s %s, %%r0%s, %%r1%s, %%r2;", guard, op, types, sat, pick(".add", ".min", ".max"), d, part(), part())
	}
	return fmt.Sprintf("%s%s.%s%s %s%s, %%r0%s, %%r1%s, %%r2;", guard, op, types, sat, d, part(), part(), part())
}
