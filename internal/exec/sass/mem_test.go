package sass

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/isa"
)

// memory runs instructions on a buffer of 4 KiB whose address is in R2 and R3 of
// every lane; R1 is the lane times 16. set prepares the warp. It returns the
// warp and the buffer.
func memory(t *testing.T, text string, fill []byte, set func(w *warp)) (*warp, []byte) {
	t.Helper()
	mem := device.New(device.Config{})
	addr, err := mem.Alloc(4096, "buf")
	if err != nil {
		t.Fatal(err)
	}
	if err := mem.Write(addr, fill); err != nil {
		t.Fatal(err)
	}
	k := load(t, text+"\nEXIT\n")
	if len(k.bad) > 0 {
		t.Fatal(k.bad)
	}
	b := begin(t, k, Launch{}, mem)
	w := &b.warps[0]
	for i := range 32 {
		a := addr + uint64(16*i)
		w.rows[1][i], w.rows[2][i], w.rows[3][i] = uint32(16*i), uint32(a), uint32(a>>32)
	}
	if set != nil {
		set(w)
	}
	finish(t, w)
	out := make([]byte, 4096)
	if err := mem.Read(addr, out); err != nil {
		t.Fatal(err)
	}
	return w, out
}

func randomBytes(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// TestLoads: every size from every space, against the bytes themselves.
func TestLoads(t *testing.T) {
	fill := randomBytes(4096)
	u := binary.LittleEndian
	for _, c := range []struct {
		mod   string
		words int
		want  func(b []byte) [4]uint32
	}{
		{".U8", 1, func(b []byte) [4]uint32 { return [4]uint32{uint32(b[0])} }},
		{".S8", 1, func(b []byte) [4]uint32 { return [4]uint32{uint32(int32(int8(b[0])))} }},
		{".U16", 1, func(b []byte) [4]uint32 { return [4]uint32{uint32(u.Uint16(b))} }},
		{".S16", 1, func(b []byte) [4]uint32 { return [4]uint32{uint32(int32(int16(u.Uint16(b))))} }},
		{"", 1, func(b []byte) [4]uint32 { return [4]uint32{u.Uint32(b)} }},
		{".64", 2, func(b []byte) [4]uint32 { return [4]uint32{u.Uint32(b), u.Uint32(b[4:])} }},
		{".128", 4, func(b []byte) [4]uint32 {
			return [4]uint32{u.Uint32(b), u.Uint32(b[4:]), u.Uint32(b[8:]), u.Uint32(b[12:])}
		}},
	} {
		for _, space := range []string{
			"LDG.E%s R4, [R2+0x10]",
			"LD.E%s R4, [R2+0x10]",
			"STS.128 [R1+0x200], R8\nLDS%s R4, [R1+0x200]",
			"STL.128 [0x20], R8\nLDL%s R4, [0x20]",
			// Shared and local memory by generic addresses, from the windows of bank 0.
			"STS.128 [R1+0x200], R8\nIADD3 R12, R1, c[0x0][0x18], RZ\nMOV R13, RZ\nLD.E%s R4, [R12+0x200]",
			"STL.128 [0x20], R8\nMOV R12, c[0x0][0x20]\nMOV R13, c[0x0][0x24]\nLD.E%s R4, [R12+0x20]",
		} {
			text := fmt.Sprintf(space, c.mod)
			w, _ := memory(t, text, fill, func(w *warp) {
				for i := range 32 {
					for n := range 4 {
						w.rows[8+n][i] = u.Uint32(fill[16*i+16+4*n:])
					}
				}
			})
			for i := range 32 {
				want := c.want(fill[16*i+16:])
				for n := range c.words {
					if got := w.rows[4+n][i]; got != want[n] {
						t.Fatalf("%s: lane %d, R%d = %#x, want %#x", text, i, 4+n, got, want[n])
					}
				}
			}
		}
	}
	w, _ := memory(t, "ISETP.LT.AND P0, PT, R1, 0x100, PT\nMOV R4, 0x7\nLDG.E R4, [R2], P0", fill, nil)
	if w.rows[4][3] != u.Uint32(fill[48:]) || w.rows[4][20] != 0 {
		t.Errorf("a load with a predicate gives %#x and %#x", w.rows[4][3], w.rows[4][20])
	}
	// Addresses of 32 bits in registers: the one above is another's.
	for _, text := range []string{"LDG.E R4, [R2.U32+UR4]", "LDG.E R4, desc[UR4][R2.U32]", "LDG.E R4, desc[UR4][R2.64]", "LDG.E R4, [R2.64+UR4]"} {
		w, _ := memory(t, text, fill, func(w *warp) {
			for i := range 32 {
				if strings.Contains(text, "U32") {
					w.rows[3][i] = 0x7777
				}
			}
		})
		if w.rows[4][3] != u.Uint32(fill[48:]) {
			t.Errorf("%s gives %#x, want %#x", text, w.rows[4][3], u.Uint32(fill[48:]))
		}
	}
	for text, want := range map[string]uint32{
		"LDC R4, c[0x0][0x168]": 0x0c0b0a09, "LDC.U8 R4, c[0x0][0x16a]": 0x0b, "LDC R4, c[0x0][R5+0x160]": 0x08070605,
		"LDC R4, c[0x0][0x7f00]": 0, "MOV R4, c[0x3][0x10]": 0, "MOV R4, c[0x0][0x0]": 32, "MOV R4, c[0x0][0xc]": 1,
		"MOV R4, c[0x0][0x28]": 1088, "LDC.U16 R4, c[0x3][0x2]": 0xbbaa,
	} {
		k := load(t, header+".const 3, 0, bbaaccdd\n"+".regs 64\n"+text+"\nEXIT\n")
		if len(k.bad) > 0 {
			t.Fatal(k.bad)
		}
		w := &begin(t, k, Launch{Params: []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}}, nil).warps[0]
		for i := range 32 {
			w.rows[5][i] = 4
		}
		finish(t, w)
		if got := w.rows[4][0]; got != want {
			t.Errorf("%s: %#x, want %#x", text, got, want)
		}
	}
}

// TestStores: every size to global memory, and the bytes around them.
func TestStores(t *testing.T) {
	fill := randomBytes(4096)
	for mod, size := range map[string]int{".U8": 1, ".U16": 2, "": 4, ".64": 8, ".128": 16} {
		_, got := memory(t, "STG.E"+mod+" [R2+0x10], R8", fill, func(w *warp) {
			for n := range 4 {
				for i := range 32 {
					w.rows[8+n][i] = uint32(0x01010101 * (i + n + 1))
				}
			}
		})
		want := append([]byte(nil), fill...)
		for i := range 32 {
			for n := range size {
				want[16*i+16+n] = byte(i + n/4 + 1)
			}
		}
		if string(got) != string(want) {
			t.Errorf("STG.E%s: memory is not as it should be", mod)
		}
	}
}

// TestAtomics: pairs of lanes on one address, one after the other in lane order.
func TestAtomics(t *testing.T) {
	u := binary.LittleEndian
	f := func(v float32) uint64 { return uint64(math.Float32bits(v)) }
	for _, c := range []struct {
		mod      string
		size     int
		mem, b   uint64
		c        uint64
		new, old uint64 // after one operation, and its result
	}{
		{"ADD", 4, 5, 7, 0, 12, 5},
		{"ADD.64", 8, 0xffffffff, 1, 0, 1 << 32, 0xffffffff},
		{"MIN.S32", 4, 3, 0xffffffff, 0, 0xffffffff, 3},
		{"MIN", 4, 3, 0xffffffff, 0, 3, 3},
		{"MAX.S32", 4, 3, 0xffffffff, 0, 3, 3},
		{"MAX", 4, 3, 0xffffffff, 0, 0xffffffff, 3},
		{"MAX.S64", 8, 3, 1 << 63, 0, 3, 3},
		{"INC", 4, 6, 7, 0, 7, 6},
		{"INC", 4, 7, 7, 0, 0, 7},
		{"DEC", 4, 0, 7, 0, 7, 0},
		{"DEC", 4, 9, 7, 0, 7, 9},
		{"DEC", 4, 5, 7, 0, 4, 5},
		{"AND", 4, 0xc, 0xa, 0, 8, 0xc},
		{"OR", 4, 0xc, 0xa, 0, 0xe, 0xc},
		{"XOR", 4, 0xc, 0xa, 0, 6, 0xc},
		{"EXCH", 4, 1, 2, 0, 2, 1},
		{"CAS", 4, 1, 1, 9, 9, 1},
		{"CAS", 4, 2, 1, 9, 2, 2},
		{"CAS.64", 8, 1 << 40, 1 << 40, 9, 9, 1 << 40},
		{"ADD.F32.FTZ.RN", 4, f(1.5), f(2.25), 0, f(3.75), f(1.5)},
		{"ADD.F32.FTZ.RN", 4, 1, 1, 0, 0, 1},
		{"ADD.F64.RN", 8, math.Float64bits(1), math.Float64bits(0x1p-52), 0, math.Float64bits(1 + 0x1p-52), math.Float64bits(1)},
		{"ADD.F16x2.RN", 4, 0x3c004000, 0x3c003c00, 0, 0x40004200, 0x3c004000},
	} {
		fill := make([]byte, 4096)
		u.PutUint64(fill, c.mem)
		set := func(w *warp) {
			w.mask, w.live = 1, 1
			for k, v := range []uint64{c.b, c.c} {
				w.rows[8+2*k][0], w.rows[9+2*k][0] = uint32(v), uint32(v>>32)
			}
		}
		more := ""
		if strings.HasPrefix(c.mod, "CAS") {
			more = ", R10"
		}
		isFloat := map[string]bool{"ADD.F32.FTZ.RN": true, "ADD.F64.RN": true, "ADD.F16x2.RN": true}[c.mod]
		texts := []string{"ATOMG.E." + c.mod + ".STRONG.GPU PT, R4, [R2], R8" + more, "ATOM.E." + c.mod + ".STRONG.GPU PT, R4, [R2], R8" + more}
		if more == "" && c.mod != "EXCH" {
			texts = append(texts, "RED.E."+c.mod+".STRONG.GPU [R2], R8")
		}
		if !isFloat && c.mod != "ADD.64" && c.mod != "MAX.S64" {
			texts = append(texts, "LDG.E.64 R12, [R2]\nSTS.64 [R1], R12\nATOMS."+c.mod+" R4, [R1], R8"+more+"\nLDS.64 R12, [R1]\nSTG.E.64 [R2], R12")
		}
		for _, text := range texts {
			w, got := memory(t, text, fill, set)
			v, old := u.Uint64(got), uint64(w.rows[4][0])|uint64(w.rows[5][0])<<32
			if c.size == 4 {
				v, old = v&0xffffffff, old&0xffffffff
			}
			if v != c.new {
				t.Errorf("%s of %#x and %#x leaves %#x, want %#x", text, c.mem, c.b, v, c.new)
			}
			if text[:3] != "RED" && old != c.old {
				t.Errorf("%s of %#x returns %#x, want %#x", text, c.mem, old, c.old)
			}
		}
	}
	// All lanes on one address execute in lane order.
	w, got := memory(t, "S2R R5, SR_LANEID\nMOV R9, 0x3\nATOMS.ADD R4, [RZ], R9\nATOMS.POPC.INC.32 R6, [URZ+0x40]\nLDS R7, [0x40]\nLDS R8, [0x0]\nSTG.E [R2], R8", make([]byte, 4096), nil)
	for i := range 32 {
		if w.rows[4][i] != uint32(3*i) || w.rows[7][i] != 32 {
			t.Fatalf("lane %d got %d; the counter is %d", i, w.rows[4][i], w.rows[7][i])
		}
	}
	if u.Uint32(got) != 96 {
		t.Errorf("the sum is %d", u.Uint32(got))
	}
	// A spinning compare and swap returns whether it stored.
	w, _ = memory(t, "ATOMS.CAST.SPIN R4, [RZ], RZ, R1\nATOMS.CAST.SPIN R5, [RZ+0x10], R1, R1", make([]byte, 4096), func(w *warp) { w.mask, w.live = 2, 2 })
	if w.rows[4][1] != 1 || w.rows[5][1] != 0 {
		t.Errorf("CAST.SPIN gives %d and %d", w.rows[4][1], w.rows[5][1])
	}
}

// TestMatrixLoads: LDSM against the rows themselves.
func TestMatrixLoads(t *testing.T) {
	shared := randomBytes(4096)
	u := binary.LittleEndian
	for _, c := range []struct {
		text      string
		n         int
		transpose bool
	}{{"LDSM.16.M88.4 R4, [R8]", 4, false}, {"LDSM.16.MT88.2 R4, [R8]", 2, true}, {"LDSM.16.M88 R4, [R8]", 1, false}} {
		k := load(t, c.text+"\nEXIT\n")
		if len(k.bad) > 0 {
			t.Fatal(k.bad)
		}
		b := begin(t, k, Launch{}, nil)
		w := &b.warps[0]
		copy(b.Shared, shared)
		r := rand.New(rand.NewPCG(9, 9))
		for i := range 32 {
			w.rows[8][i] = r.Uint32N(256) * 16
		}
		var at [32]uint32
		copy(at[:], w.rows[8][:])
		finish(t, w)
		for i := range 32 {
			for m := range c.n {
				pair := uint32(0)
				for e := range 2 {
					row, col := i/4, i%4*2+e
					if c.transpose {
						row, col = col, row
					}
					pair |= uint32(u.Uint16(shared[int(at[8*m+row])+2*col:])) << (16 * e)
				}
				if got := w.rows[4+m][i]; got != pair {
					t.Fatalf("%s: lane %d, matrix %d: %#x, want %#x", c.text, i, m, got, pair)
				}
			}
		}
	}
}

// TestCopies: LDGSTS, with zeros where its predicate does not hold.
func TestCopies(t *testing.T) {
	fill := randomBytes(4096)
	w, _ := memory(t, "ISETP.LT.AND P0, PT, R1, 0x100, PT\nLDGSTS.E.128 [R1+0x40], [R2.64+0x10], P0\nLDGDEPBAR\nDEPBAR.LE SB0, 0x0", fill, func(w *warp) {
		for i := range w.blk.Shared {
			w.blk.Shared[i] = 0xee
		}
	})
	for i := range 32 {
		want := string(fill[16*i+16 : 16*i+32])
		if i >= 16 {
			want = string(make([]byte, 16))
		}
		if got := string(w.blk.Shared[16*i+0x40 : 16*i+0x50]); got != want {
			t.Fatalf("lane %d copied %x, want %x", i, got, want)
		}
	}
}

// TestGrid: places of threads and blocks, in three dimensions.
func TestGrid(t *testing.T) {
	mem := device.New(device.Config{})
	addr, err := mem.Alloc(4*2*3*2*60, "out")
	if err != nil {
		t.Fatal(err)
	}
	k := load(t, `
    S2R R0, SR_TID.X
    S2R R1, SR_TID.Y
    S2R R2, SR_TID.Z
    S2UR UR4, SR_CTAID.X
    S2UR UR5, SR_CTAID.Y
    S2R R5, SR_CTAID.Z
    IMAD R6, R2, c[0x0][0x4], R1
    IMAD R6, R6, c[0x0][0x0], R0
    IMAD R7, R5, c[0x0][0x10], RZ
    IADD3 R7, R7, UR5, RZ
    IMAD R7, R7, c[0x0][0xc], RZ
    IADD3 R7, R7, UR4, RZ
    IMAD R8, R7, 0x3c, R6
    MOV R9, 0x4
    IMAD.WIDE.U32 R10, R8, R9, c[0x0][0x160]
    IMAD R12, R7, 0x3e8, R6
    STG.E [R10], R12
    EXIT
`)
	params := binary.LittleEndian.AppendUint64(nil, addr)
	res, err := launch(t, k, Launch{Grid: exec.Dim3{X: 2, Y: 3, Z: 2}, Block: exec.Dim3{X: 5, Y: 4, Z: 3}, Params: append(params, make([]byte, 12)...)}, mem)
	if err != nil || res.Blocks != 12 || res.ThreadInsts != 12*60*18 {
		t.Fatalf("%+v, %v", res, err)
	}
	out, err := mem.Bytes(addr, 4*12*60)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 12 * 60 {
		if got, want := binary.LittleEndian.Uint32(out[4*i:]), uint32(i/60*1000+i%60); got != want {
			t.Fatalf("element %d is %d, want %d", i, got, want)
		}
	}
}

// TestAccessedLanes: a model only sees addresses that are accessed. Lanes whose predicate
// operand does not hold have none, nor have those that give LDSM no row. Such addresses need
// not exist.
func TestAccessedLanes(t *testing.T) {
	mem := device.New(device.Config{})
	addr, err := mem.Alloc(4096, "buf")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text string
		want uint32
	}{
		{"LDG.E R4, [R2], P0", 0x0000ff00},
		{"LDG.E R4, [R2], !P0", 0xffff00ff},
		{"LDG.E R4, [R2], !PT", 0},
		{"LDGSTS.E [R8], [R2.64], P0", 0x0000ff00},
		{"LDGSTS.E [R8], [R2.64], !PT", 0},
		{"LDSM.16.M88 R4, [R8]", 0xff},
		{"LDSM.16.M88.2 R4, [R8]", 0xffff},
		{"LDSM.16.M88.4 R4, [R8]", 0xffffffff},
	} {
		w := &begin(t, load(t, c.text+"\nEXIT\n"), Launch{}, mem).warps[0]
		w.pr[0] = 0x0000ff00
		for i := range 32 {
			a := addr + uint64(16*i)
			if strings.HasPrefix(c.text, "LDG") && c.want>>i&1 == 0 {
				a = 0x1003 // nowhere, and misaligned
			}
			w.rows[2][i], w.rows[3][i], w.rows[8][i] = uint32(a), uint32(a>>32), uint32(16*i)
			w.addr[i] = 0xdead
		}
		p := issue(t, w)
		if p == exec.NoPending {
			t.Fatalf("%s leaves nothing pending", c.text)
		}
		e := reach(t, w, p)
		if uint32(e.Lanes) != c.want || e.Addr == nil {
			t.Errorf("%s: lanes %#08x access memory, want %#08x", c.text, uint32(e.Lanes), c.want)
		}
		for i := range 32 {
			if c.want>>i&1 != 0 && e.Addr[i] == 0xdead {
				t.Errorf("%s: lane %d has no address", c.text, i)
				break
			}
		}
		w.Commit(p)

		// Stepping in one go reports all lanes whose guard holds, but only addresses that are
		// accessed.
		rows := append([][32]uint32(nil), w.rows...)
		w.start(w.blk.im)
		copy(w.rows, rows)
		w.pr[0] = 0x0000ff00
		for i := range w.addr {
			w.addr[i] = 0xdead
		}
		var all exec.Effects
		if err := w.Step(&all); err != nil {
			t.Fatal(err)
		}
		if all.Lanes != isa.FullMask || (all.Addr == nil) != (c.want == 0) {
			t.Errorf("%s in one step: lanes %#08x, addresses %v", c.text, uint32(all.Lanes), all.Addr)
		}
		for i := range 32 {
			if all.Addr != nil && (all.Addr[i] == 0xdead || all.Addr[i] == 0x1003) {
				t.Errorf("%s in one step: lane %d accesses %#x", c.text, i, all.Addr[i])
				break
			}
		}
	}
}

// TestStack: a thread has room for calls beyond what its kernel declares, here 64 bytes: 1 KiB, or
// what the launch says.
func TestStack(t *testing.T) {
	k := load(t, `
MOV R1, c[0x0][0x28] ;
MOV R4, c[0x0][0x170] ;
push:
IADD3 R1, R1, -0x40, RZ ;
STL [R1], R4 ;
IADD3 R4, R4, -0x1, RZ ;
ISETP.NE.AND P0, PT, R4, RZ, PT ;
@P0 BRA push ;
EXIT ;
`)
	for _, c := range []struct {
		name   string
		stack  int
		frames byte // of 64 bytes
		fits   bool
	}{
		{"the default", 0, 17, true},
		{"beyond the default", 0, 18, false},
		{"a small limit is the default", 64, 17, true},
		{"a larger limit", 4096, 65, true},
		{"beyond the larger limit", 4096, 66, false},
		{"no more than a thread has", isa.MaxLocal, 255, true},
	} {
		params := make([]byte, k.ParamBytes())
		params[16] = c.frames
		_, err := launch(t, k, Launch{Grid: exec.Dim3{X: 1, Y: 1, Z: 1}, Block: exec.Dim3{X: 32, Y: 1, Z: 1}, Params: params, Stack: c.stack}, device.New(device.Config{}))
		if fits := err == nil; fits != c.fits {
			t.Errorf("%s: %d frames: %v", c.name, c.frames, err)
		}
	}
}

// TestSharedGranule: a block has its shared memory in units of 128 bytes, and reads of a unit that
// it has in part are no faults.
func TestSharedGranule(t *testing.T) {
	for _, c := range []struct {
		shared int
		code   string
		fault  string
	}{
		{12, "LDS.128 R4, [RZ]", ""},
		{12, "LDS R4, [RZ+0x7c]", ""},
		{12, "LDS R4, [RZ+0x80]", "shared address 0x80"},
		{128, "LDS R4, [RZ+0x80]", "shared address 0x80"},
		{0, "LDS R4, [RZ]", "shared address 0x0"},
	} {
		k := load(t, fmt.Sprintf(".arch sm_86\n.kernel k\n.regs 16\n.shared %d\n%s\nEXIT\n", c.shared, c.code))
		one := exec.Dim3{X: 1, Y: 1, Z: 1}
		_, err := launch(t, k, Launch{Grid: one, Block: one}, device.New(device.Config{}))
		if c.fault == "" && err != nil || c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)) {
			t.Errorf("%s with %d bytes: %v, want %q", c.code, c.shared, err, c.fault)
		}
	}
}
