package sass

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
)

// run runs a kernel on two buffers of words with the given number of goroutines and returns
// their contents afterwards.
func runGrid(t *testing.T, text string, threads, blocks int, limit uint64) (string, error) {
	t.Helper()
	k := load(t, text)
	if len(k.bad) > 0 {
		t.Fatal(k.bad)
	}
	mem := device.New(device.Config{})
	var params []byte
	var at [2]uint64
	const size = 4 * 64 * 1000
	for i := range at {
		a, err := mem.Alloc(size, fmt.Sprint("buffer ", i))
		if err != nil {
			t.Fatal(err)
		}
		at[i] = a
		params = binary.LittleEndian.AppendUint64(params, a)
	}
	params = append(params, 0, 0, 0, 0)
	m := NewMachine(mem)
	var all bytes.Buffer
	var end error
	for range 2 { // a second launch reads what the first one left
		res, err := m.Run(t.Context(), Launch{Kernel: k, Grid: exec.Dim3{X: uint32(blocks), Y: 1, Z: 1}, Block: exec.Dim3{X: 64, Y: 1, Z: 1}, Params: params},
			Options{Threads: threads, MaxInsts: limit})
		fmt.Fprintln(&all, res, err)
		end = errors.Join(end, err)
	}
	for _, a := range at {
		buf := make([]byte, size)
		if err := mem.Read(a, buf); err != nil {
			t.Fatal(err)
		}
		all.Write(buf)
	}
	return all.String(), end
}

// places puts the thread's number into R1 and its words' addresses into R4 and R6.
const places = `
    S2R R1, SR_TID.X
    S2R R2, SR_CTAID.X
    IMAD R1, R2, c[0x0][0x0], R1
    MOV R3, 0x4
    IMAD.WIDE.U32 R4, R1, R3, c[0x0][0x160]
    IMAD.WIDE.U32 R6, R1, R3, c[0x0][0x168]
    MOV R8, c[0x0][0x160]
    MOV R9, c[0x0][0x164]
`

// TestThreads: the same memory, counts and messages for every number of
// goroutines, also where blocks race for a word.
func TestThreads(t *testing.T) {
	for _, c := range []struct {
		name, text string
		limit      uint64
		ends       bool
	}{
		{"blocks that race for a word", places + "LDG.E R10, [R8]\nSTG.E [R6], R10\nSTG.E [R8], R1\nEXIT\n", 0, true},
		{"blocks that add to a word", places + "MOV R10, 0x1\nATOMG.E.ADD.STRONG.GPU PT, R11, [R8], R10\nSTG.E [R6], R11\nEXIT\n", 0, true},
		{"a floating-point sum", places + "I2F R10, R1\nRED.E.ADD.F32.FTZ.RN.STRONG.GPU [R8], R10\nEXIT\n", 0, true},
		{"a block that faults", places + "STG.E [R6], R1\nISETP.EQ.AND P0, PT, R1, 0x1234, PT\n@P0 MOV R6, 0x10\n@P0 MOV R7, RZ\nSTG.E [R6], R1\nEXIT\n", 0, false},
		{"a limit", places + "STG.E [R6], R1\nSTG.E [R4], R1\nEXIT\n", 5000, false},
		{"clocks", places + "CS2R.32 R10, SR_CLOCKLO\nSTG.E [R6], R10\nEXIT\n", 0, true},
	} {
		want, err := runGrid(t, c.text, 1, 1000, c.limit)
		if (err == nil) != c.ends {
			t.Errorf("%s: ended with %v", c.name, err)
		}
		for _, threads := range []int{2, 5} {
			if got, _ := runGrid(t, c.text, threads, 1000, c.limit); got != want {
				t.Errorf("%s: %d goroutines give another result", c.name, threads)
			}
		}
	}
	// Of two stores to one word in the same batch that of the later block stays.
	got, _ := runGrid(t, places+"STG.E [R8], R2\nEXIT\n", 3, 1000, 0)
	words := got[bytes.IndexByte([]byte(got), '\n')+1:]
	words = words[bytes.IndexByte([]byte(words), '\n')+1:]
	if last := binary.LittleEndian.Uint32([]byte(words)); last != 999 {
		t.Errorf("block %d stored last, want 999", last)
	}
}

// TestFreshBlocks: every block starts with fresh shared and local memory, registers,
// predicates and barriers, whichever block used the storage before.
func TestFreshBlocks(t *testing.T) {
	got, err := runGrid(t, places+`
    LDL R10, [0x10]
    LDS R11, [0x20]
    IADD3 R10, R10, R11, R20
    @P3 IADD3 R10, R10, 0x1, RZ
    IADD3 R10, R10, UR9, RZ
    B2R.RESULT R12, P2
    IADD3 R10, R10, R12, RZ
    STG.E [R6], R10
    BAR.SYNC 0x4
    MOV R20, 0x5
    R2UR UR9, R20
    ISETP.NE.AND P3, PT, R20, RZ, PT
    STL [0x10], R20
    STS [0x20], R20
    BAR.RED.POPC 0x3, PT
    EXIT
`, 2, 1000, 0)
	if err != nil {
		t.Fatal(err)
	}
	if words := got[len(got)-4*64*1000:]; strings.Trim(words, "\x00") != "" {
		t.Error("a block finds what an earlier one left")
	}
}

// TestTalk: which kernels run block after block on memory itself.
func TestTalk(t *testing.T) {
	for text, want := range map[string][2]bool{
		"LDG.E R4, [R2]\nSTG.E [R2], R4":             {},
		"ATOMS.ADD R4, [RZ], R4\nMEMBAR.SC.CTA":      {},
		"LDG.E.STRONG.SM R4, [R2]":                   {},
		"RED.E.ADD.STRONG.GPU [R2], R4":              {true, false},
		"ATOMG.E.ADD.STRONG.GPU PT, R4, [R2], R4":    {true, true},
		"ATOM.E.CAS.STRONG.GPU PT, R4, [R2], R4, R5": {true, true},
		"LDG.E.STRONG.SYS R4, [R2]":                  {true, true},
		"LD.E.STRONG.GPU R4, [R2]":                   {true, true},
		"STG.E.STRONG.GPU [R2], R4":                  {true, false},
		"MEMBAR.SC.GPU":                              {true, false},
		"MEMBAR.ALL.SYS":                             {true, false},
		// Loops that load the same word repeatedly, and loops that do not.
		"l: LDG.E R4, [R2]\n@P0 BRA l":                                {true, true},
		"l: IADD3 R8, R8, 0x1, RZ\nLDG.E R4, [UR4]\n@P0 BRA l":        {true, true},
		"l: LDG.E R4, [R2]\nIADD3 R2, R2, 0x4, RZ\n@P0 BRA l":         {},
		"l: UIADD3 UR4, UR4, 0x4, URZ\nLDG.E R4, [UR4]\n@P0 BRA l":    {},
		"l: IMAD.WIDE R6, R8, R9, R2\nLDG.E.64 R4, [R6]\n@P0 BRA l":   {},
		"l: LDG.E.CONSTANT R4, [R2]\n@P0 BRA l":                       {},
		"LDG.E R4, [R2]\nl: IADD3 R8, R8, 0x1, RZ\n@P0 BRA l":         {},
		"l: LDS R4, [R2]\nLDL R5, [R6]\nSTG.E [R8], R4\n@P0 BRA l":    {},
		"l: @P0 BRA m\nLDG.E R4, [R2]\nIADD3 R3, R3, R5, RZ\nm: EXIT": {},
	} {
		k := load(t, text+"\nEXIT\n")
		if len(k.bad) > 0 {
			t.Fatal(k.bad)
		}
		if got := [2]bool{k.talks, k.spins}; got != want {
			t.Errorf("%s: blocks talk, and wait: %v, want %v", text, got, want)
		}
	}
	// On sm_75 weak accesses carry a scope, too.
	k := load(t, ".arch sm_75\n.kernel k\n.regs 8\nLDG.E.SYS R4, [R2]\nSTG.E.SYS [R2], R4\nEXIT\n")
	if len(k.bad) > 0 || k.talks {
		t.Errorf("weak accesses of sm_75 talk: %v", k.bad)
	}
}

// TestBlocksWait: blocks that wait for others that have not begun, with loads that are marked
// for it and with plain ones.
func TestBlocksWait(t *testing.T) {
	for _, strong := range []string{".STRONG.GPU", ""} {
		blocksWait(t, strong)
	}
}

func blocksWait(t *testing.T, strong string) {
	k := load(t, `
    S2R R1, SR_CTAID.X
    MOV R2, c[0x0][0x160]
    MOV R3, c[0x0][0x164]
    MOV R4, 0x1
    ISETP.EQ.AND P1, PT, R1, 0x31, PT
    @P1 STG.E`+strong+` [R2], R4
again:
    LDG.E`+strong+` R5, [R2]
    ISETP.EQ.AND P0, PT, R5, RZ, PT
    @P0 BRA again
    EXIT
`)
	mem := device.New(device.Config{})
	addr, err := mem.Alloc(4, "count")
	if err != nil {
		t.Fatal(err)
	}
	params := append(binary.LittleEndian.AppendUint64(nil, addr), make([]byte, 12)...)
	res, err := launch(t, k, Launch{Grid: exec.Dim3{X: 50, Y: 1, Z: 1}, Block: exec.Dim3{X: 64, Y: 1, Z: 1}, Params: params}, mem)
	if err != nil || res.Blocks != 50 {
		t.Errorf("%+v, %v", res, err)
	}
}

// BenchmarkGrid measures a kernel whose blocks are independent, on all cores.
func BenchmarkGrid(b *testing.B) {
	k := load(b, `
    S2R R1, SR_TID.X
    S2R R2, SR_CTAID.X
    IMAD R1, R2, c[0x0][0x0], R1
    MOV R3, 0x4
    IMAD.WIDE.U32 R4, R1, R3, c[0x0][0x160]
    LDG.E R10, [R4]
    MOV R11, 0x40
again:
    FFMA R10, R10, R10, R10
    IADD3 R11, R11, -0x1, RZ
    ISETP.NE.AND P0, PT, R11, RZ, PT
    @P0 BRA again
    STG.E [R4], R10
    EXIT
`)
	mem := device.New(device.Config{})
	addr, err := mem.Alloc(4*256*512, "buf")
	if err != nil {
		b.Fatal(err)
	}
	m := NewMachine(mem)
	params := append(binary.LittleEndian.AppendUint64(nil, addr), make([]byte, 12)...)
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprint(threads), func(b *testing.B) {
			insts := uint64(0)
			for b.Loop() {
				res, err := m.Run(b.Context(), Launch{Kernel: k, Grid: exec.Dim3{X: 512, Y: 1, Z: 1}, Block: exec.Dim3{X: 256, Y: 1, Z: 1}, Params: params}, Options{Threads: threads})
				if err != nil {
					b.Fatal(err)
				}
				insts += res.WarpInsts
			}
			b.ReportMetric(float64(insts)/b.Elapsed().Seconds()/1e6, "Mwarp-instr/s")
		})
	}
}
