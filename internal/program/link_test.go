package program

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/binary/cubin"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// openCubin makes a relocatable cubin of a text, whose kernels with the given names become device
// functions.
func openCubin(t *testing.T, name, text string, functions ...string) Source {
	t.Helper()
	f, err := sass.Parse(name+".sass", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	b, err := WriteCubin(f)
	if err != nil {
		t.Fatal(err)
	}
	c, err := cubin.Read(name, b)
	if err != nil {
		t.Fatal(err)
	}
	kernels := c.Kernels
	c.Kernels = nil
	for _, k := range kernels {
		switch {
		case slices.Contains(functions, k.Name):
			fn := k.Function
			fn.Attributes = nil
			c.Functions = append(c.Functions, &fn)
		default:
			c.Kernels = append(c.Kernels, k)
		}
	}
	if b, err = cubin.Write(c, nil); err != nil {
		t.Fatal(err)
	}
	b[16] = 1 // e_type: relocatable
	return Source{Name: name + ".cubin", Text: b}
}

// Device functions: of R4, in R4; they return to R20 and R21.
const functionsText = `
.arch sm_86
.kernel double
.regs 24
    IADD3 R4, R4, R4, RZ ;
    RET.ABS.NODEC R20 0x0 ;
.kernel triple
.regs 40
.local 16
    IMAD R4, R4, 0x3, RZ ;
    RET.ABS.NODEC R20 0x0 ;
`

// applyText calls the function that is at a place of a table: it makes out[0] of 5.
const applyText = `
.arch sm_86
%[1]s
.kernel %[2]s
.param out, 8
.param which, 8
.regs 24
    MOV R8, c[0x0][0x168] ;
%[3]s
    MOV R4, 0x5 ;
.address lower, %[2]s+0x%[4]x
    MOV R20, 0x0 ;
.address upper, %[2]s+0x%[4]x
    MOV R21, 0x0 ;
    CALL.ABS.NOINC R6 ;
    MOV R2, c[0x0][0x160] ;
    MOV R3, c[0x0][0x164] ;
    STG.E [R2.64], R4 ;
    EXIT ;
`

// apply runs a kernel of linked files that stores what the function of a number makes of 5.
func apply(t *testing.T, kernel string, which uint64, sources ...Source) (uint32, error) {
	t.Helper()
	var l Loader
	for _, s := range sources {
		if err := l.Add(s); err != nil {
			t.Fatal(err)
		}
	}
	p, err := l.Link()
	if err != nil {
		return 0, err
	}
	mem := device.New(device.Config{})
	m, err := NewMachine(p, mem)
	if err != nil {
		t.Fatal(err)
	}
	out, err := mem.Alloc(16, "out")
	if err != nil {
		t.Fatal(err)
	}
	k, ok := p.Kernel(kernel)
	if !ok {
		t.Fatalf("there is no kernel %s", kernel)
	}
	for _, err := range k.Unusable() {
		return 0, err
	}
	params := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, out), which)
	one := exec.Dim3{X: 1, Y: 1, Z: 1}
	if _, err := m.Run(context.Background(), exec.Launch{Kernel: k, Grid: one, Block: one, Params: params}, exec.Options{}); err != nil {
		return 0, err
	}
	b, err := mem.Bytes(out, 4)
	if err != nil {
		t.Fatal(err)
	}
	return binary.LittleEndian.Uint32(b), nil
}

// TestPointers: kernels call functions of other files by their addresses: out of tables in memory and
// in constants, and by those that another instruction has; each kernel has them at other places.
func TestPointers(t *testing.T) {
	const load = `
.address lower, table
    MOV R2, 0x0 ;
.address upper, table
    MOV R3, 0x0 ;
    IMAD.WIDE R2, R8, 0x8, R2 ;
    LDG.E.64 R6, [R2.64] ;`
	const address = `
.address lower, triple
    MOV R6, 0x0 ;
.address upper, triple
    MOV R7, 0x0 ;`
	const table = ".data .nv.global.init, 16, 8, 0 0 0 0\n.variable table, .nv.global.init, 16\n.address .nv.global.init, double\n.address .nv.global.init+0x8, triple\n"
	const constants = ".bank 4, 16, 0 0 0 0\n.address .nv.constant4, double\n.address .nv.constant4+0x8, triple\n"
	functions := openCubin(t, "functions", functionsText, "double", "triple")
	text := func(head, name, code string) string {
		lines := 1 + strings.Count(code, ";") + 4 // up to the instruction after the call
		return fmt.Sprintf(applyText, head, name, code, 16*lines)
	}
	memory := openCubin(t, "memory", text(table, "memory", load))
	constant := openCubin(t, "constant", text(constants, "constant", "    IMAD R8, R8, 0x8, RZ ;\n    LDC.64 R6, c[0x4][R8] ;"))
	direct := openCubin(t, "direct", text("", "direct", "    NOP ;\n    NOP ;\n    NOP ;\n    NOP ;\n    NOP ;\n    NOP ;\n    NOP ;"+address))
	for _, c := range []struct {
		name   string
		kernel string
		which  uint64
		want   uint32
	}{
		{"the first of a table", "memory", 0, 10},
		{"the second of a table", "memory", 1, 15},
		{"the first of a table of constants", "constant", 0, 10},
		{"the second of a table of constants", "constant", 1, 15},
		{"an address in instructions", "direct", 0, 15},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := apply(t, c.kernel, c.which, memory, constant, functions, direct); got != c.want || err != nil {
				t.Errorf("%d, %v; want %d", got, err, c.want)
			}
		})
	}
	t.Run("a pointer to nowhere", func(t *testing.T) {
		wild := text("", "wild", "    MOV R6, 0x1000 ;\n    MOV R7, 0x200 ;")
		if _, err := apply(t, "wild", 0, openCubin(t, "wild", wild), functions); err == nil || !strings.Contains(err.Error(), "there is no function that kernel wild can call") {
			t.Errorf("%v", err)
		}
	})
	t.Run("half an address", func(t *testing.T) {
		const half = ".data .nv.global.init, 16, 8, 0 0 0 0\n.variable table, .nv.global.init, 16\n.address .nv.global.init+0x4, 34, double\n"
		_, err := apply(t, "memory", 0, openCubin(t, "half", text(half, "memory", load)), functions)
		if want := "section .nv.global.init, offset 0x4: an address of double, by a relocation of type 34, is not supported"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
	})
}

// TestConstants: several files fill a bank, and each reads its own constants: the linker writes their
// places into the instructions, which are those that this package assembles.
func TestConstants(t *testing.T) {
	const text = `
.arch sm_86
.bank 3, 24, %08[2]x %08[3]x 0 0 0 %08[4]x
.variable %[1]s_first, .nv.constant3, 8
.variable %[1]s_last, .nv.constant3+0x14, 4
.kernel %[1]s_operand
.param out, 8
.param which, 8
.regs 24
    MOV R2, c[0x0][0x160] ;
    MOV R3, c[0x0][0x164] ;
.address %[5]d, %[1]s_last
    MOV R4, c[0x3][0x14] ;
    STG.E [R2.64], R4 ;
    EXIT ;
.kernel %[1]s_register
.param out, 8
.param which, 8
.regs 24
    MOV R2, c[0x0][0x160] ;
    MOV R3, c[0x0][0x164] ;
    MOV R8, c[0x0][0x168] ;
.address 66, %[1]s_first
    LDC R4, c[0x3][R8] ;
    STG.E [R2.64], R4 ;
    EXIT ;
`
	file := func(name string, first, operand int) Source {
		return openCubin(t, name, fmt.Sprintf(text, name, first, first+1, first+2, operand))
	}
	a, b := file("a", 100, 64), file("b", 200, 64)
	for _, c := range []struct {
		kernel string
		which  uint64
		want   uint32
	}{
		{"a_operand", 0, 102}, {"b_operand", 0, 202},
		{"a_register", 0, 100}, {"b_register", 0, 200}, {"a_register", 4, 101}, {"b_register", 4, 201},
	} {
		t.Run(fmt.Sprintf("%s, %d", c.kernel, c.which), func(t *testing.T) {
			for _, list := range [][]Source{{a, b}, {b, a}} {
				if got, err := apply(t, c.kernel, c.which, list...); got != c.want || err != nil {
					t.Errorf("%d, %v; want %d", got, err, c.want)
				}
			}
		})
	}
	t.Run("a field that is not known", func(t *testing.T) {
		_, err := apply(t, "b_operand", 0, a, file("b", 200, 65))
		if want := "section .text.b_operand, offset 0x20: an address of b_last, by a relocation of type 65, is not supported"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
	})
}
