package ptx

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/heddle-sim/heddle/internal/alltests"
)

// TestHostile gives the parser inputs that are designed to be slow or deep. Each
// must finish within a time that leaves room for a busy machine. By default they are a
// quarter as long.
func TestHostile(t *testing.T) {
	part, limit := 4, 2*time.Second
	if alltests.On() {
		part, limit = 1, 5*time.Second
	}
	const head = ".version 7.8\n.target sm_80\n"
	const kernel = head + ".entry k ()\n{\n.reg .b32 %r<100>;\n"
	repeat := func(n int, f func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(f(i))
		}
		return b.String()
	}
	for _, c := range []struct{ name, src string }{
		{"open blocks", head + ".entry k ()\n" + strings.Repeat("{", 1_000_000/part)},
		{"closed blocks", head + ".entry k ()\n" + strings.Repeat("{", 50_000/part) + strings.Repeat("}", 50_000/part)},
		{"open braces", head + ".global .u32 x = " + strings.Repeat("{", 1_000_000/part)},
		{"open parentheses", head + ".global .u32 x = " + strings.Repeat("(", 1_000_000/part)},
		{"signs", head + ".global .u32 x = " + strings.Repeat("-", 1_000_000/part)},
		{"conditionals", head + ".global .u32 x = " + strings.Repeat("1?", 500_000/part)},
		{"sum", head + ".global .u32 x = 1" + strings.Repeat("+1", 500_000/part) + ";"},
		{"brackets", kernel + "ld.u32 " + strings.Repeat("[", 1_000_000/part)},
		{"vectors", kernel + "mov.b64 " + strings.Repeat("{", 1_000_000/part)},
		{"call lists", kernel + "call " + strings.Repeat("(", 1_000_000/part)},
		{"operands", kernel + "add.u32 %r1" + strings.Repeat(", %r2", 300_000/part) + ";\n}"},
		{"modifiers", kernel + "add" + strings.Repeat(".u32", 300_000/part) + " %r1;\n}"},
		{"unknown opcodes", kernel + repeat(50_000/part, func(i int) string { return fmt.Sprintf("ad%d.u32 %%r1, %%r2;\n", i) }) + "}"},
		{"unknown forms", kernel + repeat(50_000/part, func(i int) string { return fmt.Sprintf("add.x%d.u32 %%r1, %%r2;\n", i) }) + "}"},
		{"unknown names", kernel + repeat(50_000/part, func(i int) string { return fmt.Sprintf("add.u32 %%r1, %%q%d, 1;\n", i) }) + "}"},
		{"unknown among many", kernel + repeat(30_000/part, func(i int) string { return fmt.Sprintf(".reg .b32 n%d;\nadd.u32 n%d, m%d, 1;\n", i, i, i) }) + "}"},
		{"families", kernel + repeat(50_000/part, func(i int) string { return fmt.Sprintf(".reg .b32 a%d_<9>;\n", i) }) + "}"},
		{"clashes", kernel + repeat(50_000/part, func(i int) string { return fmt.Sprintf(".reg .b32 a%d;\n.reg .b32 b%d<3>;\n", i, i) }) + "}"},
		{"same label", kernel + repeat(50_000/part, func(int) string { return "{ L: bra L; }\n" }) + "}"},
		{"same prototype", kernel + repeat(50_000/part, func(int) string { return "P: .callprototype _ ();\n" }) + "}"},
		{"same function", head + strings.Repeat(".func f ();\n", 50_000/part)},
		{"many functions", head + repeat(30_000/part, func(i int) string { return fmt.Sprintf(".func f%d () { ret; }\n", i) })},
		{"initialiser", head + ".global .b8 x[] = {0" + strings.Repeat(",1", 500_000/part) + "};"},
		{"errors", head + strings.Repeat("; 5 +\n", 200_000/part)},
		{"one long name", kernel + "bra " + strings.Repeat("a", 1_000_000/part) + ";\n" + strings.Repeat("b", 1_000_000/part) + ": ret; }"},
		{"one long number", head + ".global .u32 x = " + strings.Repeat("9", 1_000_000/part) + ";"},
		{"comments", head + strings.Repeat("/*", 500_000/part)},
		{"strings", head + strings.Repeat("\"\n", 200_000/part)},
		{"lines", strings.Repeat("\n", 2_000_000/part)},
		{"undeclared calls", head + repeat(2_000/part, func(i int) string { return fmt.Sprintf(".func f%d () { call g%d; ret; }\n", i, i) })},
		{"dimensions", head + ".global .u32 x" + strings.Repeat("[1000]", 100_000/part) + ";"},
		{"pairs", kernel + "add.u32 %r1" + strings.Repeat("|%r2", 300_000/part) + ";\n}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := time.Now()
			m, err := Parse(c.name, []byte(c.src))
			if d := time.Since(start); d > limit {
				t.Errorf("%d bytes took %v", len(c.src), d)
			} else {
				t.Logf("%d bytes in %v", len(c.src), d)
			}
			if m == nil {
				t.Fatal("no module")
			}
			if list, ok := err.(ErrorList); ok {
				if len(list) > maxErrors+1 {
					t.Errorf("%d errors", len(list))
				}
				if n := len(list.Detail()); n > 100_000 {
					t.Errorf("messages of %d bytes", n)
				}
			}
		})
	}
}

func TestTooManyErrors(t *testing.T) {
	src := ".version 7.8\n.target sm_80\n" + strings.Repeat(".bad\n.global .u32 5;\n", 300)
	_, err := Parse("many.ptx", []byte(src))
	list, ok := err.(ErrorList)
	if !ok || len(list) != maxErrors+1 {
		t.Fatalf("%d errors, want %d", len(list), maxErrors+1)
	}
	if last := list[maxErrors]; last.Msg != "too many errors" {
		t.Errorf("the last error is %q", last.Msg)
	}
}

func TestErrorText(t *testing.T) {
	_, err := Parse("k.ptx", []byte(".version 7.8\n.target sm_80\n.entry k ()\n{\n\t.reg .b32\t%r<4>;\n\tmov.b32\t%r1, %q1;\n}\n"))
	list := err.(ErrorList)
	if got, want := list.Error(), "k.ptx:6:15: unknown register %q1 (did you mean %r1?)"; got != want {
		t.Errorf("one line: %q, want %q", got, want)
	}
	want := "k.ptx:6:15: unknown register %q1\n    \tmov.b32\t%r1, %q1;\n    \t       \t     ^\n  hint: did you mean %r1?"
	if got := list.Detail(); got != want {
		t.Errorf("in full:\n%s\nwant\n%s", got, want)
	}
	long := &Error{File: "f", Pos: Pos{Line: 1, Col: 1001}, Msg: "m", Text: strings.Repeat("x", 1000) + "Y" + strings.Repeat("z", 1000)}
	lines := strings.Split(long.Detail(), "\n")
	if len(lines) != 3 || len(lines[1]) > 200 || lines[1][strings.IndexByte(lines[2], '^')] != 'Y' {
		t.Errorf("a long line is shown as\n%s", long.Detail())
	}
	wide := &Error{File: "f", Pos: Pos{Line: 1, Col: 9}, Msg: "m", Text: "/* é */x"}
	if got := strings.Split(wide.Detail(), "\n")[2]; got != "           ^" {
		t.Errorf("the caret after a multi-byte character is at %q", got)
	}
}
