package sass

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// withFunctions adds strings to a text's program, and the addresses of provided functions and of
// these strings to constant bank 4: the functions first, in their order, eight bytes each.
func withFunctions(t *testing.T, text string, strs ...string) *Program {
	t.Helper()
	f, err := sass.Parse("t.sass", header+text, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range exec.Functions[exec.Vprintf:] {
		f.Addresses = append(f.Addresses, sass.Address{Data: -1, Bank: 4, Offset: uint64(8 * len(f.Addresses)), To: sass.OfFunction, Function: name})
	}
	for i, s := range strs {
		name := fmt.Sprintf("str%d", i)
		f.Variables = append(f.Variables, sass.Variable{Name: name, Data: i, Bytes: uint64(len(s) + 1)})
		f.Data = append(f.Data, sass.Data{Name: name, Init: append([]byte(s), 0), Bytes: uint64(len(s) + 1)})
		f.Addresses = append(f.Addresses, sass.Address{Data: -1, Bank: 4, Offset: uint64(8 * len(f.Addresses)), ToData: i})
	}
	f.Banks[4] = make([]byte, 8*len(f.Addresses))
	return Load(f)
}

// call is code that calls the function whose address is at an offset of constant bank 4. The
// return address is that of the instruction after CALL, as compilers compute it.
func call(at int) string {
	return fmt.Sprintf(`
MOV R0, 0x%x ;
LDC.64 R2, c[0x4][R0] ;
LEPC R20 ;
IADD3 R20, P0, R20, 0x40, RZ ;
IADD3.X R21, RZ, R21, RZ, P0, !PT ;
CALL.ABS.NOINC R2 ;
`, at)
}

// TestProvided: what device code calls but does not define, functionally and with a core model
// that steps warps.
func TestProvided(t *testing.T) {
	const vprintf, malloc, free, assert, str0 = 0, 8, 16, 24, 32
	// R4 and R6 are the format and the arguments, which lie on the stack.
	print := `
MOV R1, c[0x0][0x28] ;
IADD3 R1, R1, -0x10, RZ ;
S2R R8, SR_TID.X ;
STL [R1], R8 ;
MOV R10, c[0x4][0x28] ;
MOV R11, c[0x4][0x2c] ;
STL.64 [R1+0x8], R10 ;
`
	arguments := `
MOV R4, c[0x4][0x20] ;
MOV R5, c[0x4][0x24] ;
IADD3 R6, P0, R1, c[0x0][0x20], RZ ;
IADD3.X R7, RZ, c[0x0][0x24], RZ, P0, !PT ;
`
	store := "MOV R12, c[0x0][0x160] ;\nMOV R13, c[0x0][0x164] ;\nS2R R8, SR_TID.X ;\nIMAD.WIDE R12, R8, 0x8, R12 ;\nSTG.E.64 [R12], R4 ;\nEXIT ;\n"
	for _, c := range []struct {
		name    string
		text    string
		strs    []string
		threads uint32
		out     string
		first   uint64 // result of the first thread, as stored
		fault   string
	}{
		{name: "vprintf", text: print + arguments + call(vprintf) + "MOV R5, RZ ;\n" + store, strs: []string{"thread %d: %s\n", "hello"}, threads: 3, out: "thread 0: hello\nthread 1: hello\nthread 2: hello\n", first: 2},
		{name: "free of nothing", text: "MOV R4, RZ ;\nMOV R5, RZ ;" + call(free) + "MOV R4, 0x7 ;\n" + store, threads: 1, first: 7},
		{name: "free of what malloc gave", text: "MOV R4, 0x20 ;\nMOV R5, RZ ;" + call(malloc) + call(free) + "MOV R4, 0x7 ;\nMOV R5, RZ ;\n" + store, threads: 40, first: 7},
		{name: "free of something else", text: "MOV R4, 0x20 ;\nMOV R5, RZ ;" + call(free) + store, threads: 1, fault: "free: "},
		{name: "__assertfail", text: "MOV R4, c[0x4][0x20] ;\nMOV R5, c[0x4][0x24] ;\nMOV R6, c[0x4][0x28] ;\nMOV R7, c[0x4][0x2c] ;\nMOV R8, 0x11 ;\nMOV R10, c[0x4][0x30] ;\nMOV R11, c[0x4][0x34] ;" + call(assert) + store,
			strs: []string{"x > 0", "a.cu", "void f()"}, threads: 1, fault: "assertion failed: x > 0\n  in void f(), a.cu:17"},
		{name: "no function", text: "MOV R2, RZ ;\nMOV R3, 0x200 ;\nCALL.ABS.NOINC R2 ;\n" + store, threads: 1, fault: "there is no function"},
	} {
		for _, stepped := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stepped=%t", c.name, stepped), func(t *testing.T) {
				p := withFunctions(t, c.text, c.strs...)
				mem := device.New(device.Config{})
				m, err := NewMachineAt([]*Program{p}, mem, nil, false)
				if err != nil {
					t.Fatal(err)
				}
				at, err := mem.Alloc(512, "p")
				if err != nil {
					t.Fatal(err)
				}
				k := p.Kernels()[0]
				l := Launch{Kernel: k, Grid: exec.Dim3{X: 1, Y: 1, Z: 1}, Block: exec.Dim3{X: c.threads, Y: 1, Z: 1}, Params: make([]byte, k.ParamBytes())}
				le.PutUint64(l.Params, at)
				var out bytes.Buffer
				if stepped {
					err = step(m, l, &out)
				} else {
					_, err = m.Run(t.Context(), l, Options{Out: &out})
				}
				var fault *exec.Fault
				switch {
				case c.fault != "":
					if !errors.As(err, &fault) || !strings.Contains(err.Error(), c.fault) {
						t.Errorf("error %v; want %q", err, c.fault)
					}
					return
				case err != nil:
					t.Fatal(err)
				}
				var b [8]byte
				if err := mem.Read(at, b[:]); err != nil {
					t.Fatal(err)
				}
				if got := le.Uint64(b[:]); got != c.first {
					t.Errorf("the first thread stores %#x; want %#x", got, c.first)
				}
				if out.String() != c.out {
					t.Errorf("printed %q; want %q", out.String(), c.out)
				}
			})
		}
	}
}

// TestFarString: from sm_100 on, strings and arguments in shared memory have addresses whose upper
// word is SR_SWINHI.
func TestFarString(t *testing.T) {
	const text = `
.arch sm_120
.kernel k
.regs 32
.shared 2048
MOV R8, 0x6968 ;
STS [0x420], R8 ;
MOV R2, 0x420 ;
S2R R3, SR_SWINHI ;
STS.64 [0x410], R2 ;
MOV R6, 0x410 ;
S2R R7, SR_SWINHI ;
LDC.64 R4, c[0x4][0x8] ;
LDC.64 R2, c[0x4][RZ] ;
MOV R20, 0xc0 ;
MOV R21, RZ ;
CALL.ABS.NOINC R2 ;
EXIT ;
`
	f, err := sass.Parse("t.sass", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	const format = "<%s>"
	f.Data = []sass.Data{{Name: "format", Init: append([]byte(format), 0), Bytes: uint64(len(format) + 1)}}
	f.Addresses = []sass.Address{{Data: -1, Bank: 4, To: sass.OfFunction, Function: "vprintf"}, {Data: -1, Bank: 4, Offset: 8}}
	f.Banks[4] = make([]byte, 16)
	m, err := NewMachineAt([]*Program{Load(f)}, device.New(device.Config{}), nil, false)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	k := m.places[0].prog.Kernels()[0]
	for _, err := range k.Unusable() {
		t.Fatal(err)
	}
	one := exec.Dim3{X: 1, Y: 1, Z: 1}
	if _, err := m.Run(t.Context(), Launch{Kernel: k, Grid: one, Block: one}, Options{Out: &out}); err != nil || out.String() != "<hi>" {
		t.Errorf("printed %q, %v", out.String(), err)
	}
}

// step runs a launch of one block of up to two warps as a core model does.
func step(m *Machine, l Launch, out io.Writer) error {
	work, err := m.NewWork(l, out)
	if err != nil {
		return err
	}
	b := work.Block(0).(*block)
	for i := range b.warps {
		var e exec.Effects
		for w := &b.warps[i]; w.ready(); {
			if err := w.Step(&e); err != nil {
				return err
			}
		}
	}
	b.Release()
	return nil
}

// TestUndefined: a program that calls what nobody provides runs until it does.
func TestUndefined(t *testing.T) {
	p := withFunctions(t, call(0)+"EXIT ;\n")
	p.text.Addresses[0].Function = "elsewhere"
	p = Load(p.text)
	mem := device.New(device.Config{})
	m, err := NewMachineAt([]*Program{p}, mem, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	l := Launch{Kernel: p.Kernels()[0], Grid: exec.Dim3{X: 1, Y: 1, Z: 1}, Block: exec.Dim3{X: 1, Y: 1, Z: 1}, Params: make([]byte, p.Kernels()[0].ParamBytes())}
	if _, err := m.Run(t.Context(), l, Options{}); err == nil || !strings.Contains(err.Error(), "call of elsewhere, which neither the program nor the machine defines") {
		t.Errorf("error %v", err)
	}
}

// TestGuessedAddress: a kernel that has no function's address cannot call one.
func TestGuessedAddress(t *testing.T) {
	k := load(t, fmt.Sprintf("MOV R4, 0x20 ;\nMOV R2, 0x%x ;\nMOV R3, 0x%x ;\nCALL.ABS.NOINC R2 ;\nEXIT ;\n", instBytes, providedBase>>32))
	one := exec.Dim3{X: 1, Y: 1, Z: 1}
	if _, err := launch(t, k, Launch{Grid: one, Block: one, Params: make([]byte, k.ParamBytes())}, device.New(device.Config{})); err == nil || !strings.Contains(err.Error(), "where there is no function") {
		t.Errorf("error %v", err)
	}
}

// TestCallWaits: a core model knows what a call of a provided function reads and writes, and
// that blocks take turns at it.
func TestCallWaits(t *testing.T) {
	k := withFunctions(t, call(0)+"EXIT ;\n").Kernels()[0]
	for i := range k.infos {
		in := &k.infos[i]
		if in.Op != "CALL.ABS.NOINC" {
			continue
		}
		reads := func(n uint32) bool {
			return slices.ContainsFunc(in.Srcs, func(r isa.Reg) bool { return r.File == isa.RegGPR && r.Index <= n && n < r.Index+uint32(r.Count) })
		}
		if !reads(4) || !reads(13) || !reads(20) || !reads(21) || reads(14) || in.Private || len(in.Dsts) != 1 || in.Dsts[0].Index != 4 || in.Dsts[0].Count != 2 {
			t.Errorf("it reads %v, writes %v, private %t", in.Srcs, in.Dsts, in.Private)
		}
		return
	}
	t.Error("there is no call")
}

// TestMoved: variables that have a place elsewhere get their first values there, addresses
// included, and addresses lead there.
func TestMoved(t *testing.T) {
	f, err := sass.Parse("t.sass", header+"EXIT ;\n", 0)
	if err != nil {
		t.Fatal(err)
	}
	f.Data = []sass.Data{{Name: "data", Init: make([]byte, 24), Bytes: 24}}
	f.Data[0].Init[16] = 5
	// Two local variables of one name, and a pointer to the second one.
	f.Variables = []sass.Variable{{Name: "p", Bytes: 8}, {Name: "x", Offset: 8, Bytes: 8}, {Name: "x", Offset: 16, Bytes: 8}}
	f.Addresses = []sass.Address{{Data: 0, Offset: 0, ToData: 0, Addend: 16}, {Data: 0, Offset: 8, ToData: 0, Addend: 3}}
	mem := device.New(device.Config{})
	at, err := mem.Alloc(8, "p")
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewMachineAt([]*Program{Load(f)}, mem, map[string]uint64{"p": at}, false)
	if err != nil {
		t.Fatal(err)
	}
	word := func(addr uint64) uint64 {
		var b [8]byte
		if err := mem.Read(addr, b[:]); err != nil {
			t.Fatal(err)
		}
		return le.Uint64(b[:])
	}
	x, _ := m.Symbol("x")
	if got := word(at); got != x.Addr+8 || word(got) != 5 {
		t.Errorf("p is %#x; want %#x", got, x.Addr+8)
	}
	if got := word(x.Addr); got != at+3 {
		t.Errorf("the address of byte 3 of p is %#x; want %#x", got, at+3)
	}
}

// TestWorkspace: every way to load the address of a cooperative launch's workspace is seen.
func TestWorkspace(t *testing.T) {
	for text, want := range map[string]bool{
		"MOV R2, c[0x0][0x90] ;": true, "MOV R2, c[0x0][0x94] ;": false, "LDC R2, c[0x0][0x90] ;": true, "ULDC.64 UR4, c[0x0][0x88] ;": true,
		"LDC R2, c[0x0][R3+0x160] ;": true, "LDC R2, c[0x0][0x160] ;": false, "LDC R2, c[0x4][R3] ;": false,
	} {
		if k := load(t, text+"\nEXIT ;\n"); k.workspace != want {
			t.Errorf("%s: %t", text, k.workspace)
		}
	}
}

// TestRehearsal: a launch that only warms the caches prints nothing.
func TestRehearsal(t *testing.T) {
	p := withFunctions(t, "MOV R4, c[0x4][0x20] ;\nMOV R5, c[0x4][0x24] ;"+call(0)+"EXIT ;\n", "hello")
	m, err := NewMachineAt([]*Program{p}, device.New(device.Config{}), nil, false)
	if err != nil {
		t.Fatal(err)
	}
	for rehearsal, want := range map[bool]string{false: "hello", true: ""} {
		l := Launch{Kernel: p.Kernels()[0], Grid: exec.Dim3{X: 1, Y: 1, Z: 1}, Block: exec.Dim3{X: 1, Y: 1, Z: 1}, Params: make([]byte, p.Kernels()[0].ParamBytes()), Rehearsal: rehearsal}
		var out bytes.Buffer
		if err := step(m, l, &out); err != nil || out.String() != want {
			t.Errorf("rehearsal %t prints %q, %v", rehearsal, out.String(), err)
		}
	}
}
