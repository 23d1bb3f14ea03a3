package cubin

import (
	"bytes"
	"debug/elf"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
)

const sample = "testdata/cudatest.7.sm_75.cubin"

func open(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestRead compares a file with what readelf prints of its sections and symbols, and with the
// assembler's text that lies beside it where it comes from (its stack: what the code subtracts
// from R1, in the kernel and in what it calls).
func TestRead(t *testing.T) {
	f, err := Read(sample, open(t))
	if err != nil {
		t.Fatal(err)
	}
	if f.Arch != 75 || f.Relocatable {
		t.Errorf("sm_%d, relocatable %t", f.Arch, f.Relocatable)
	}
	type facts struct {
		name                             string
		code, regs, shared, stack, least int
		params, paramBytes, bank0        int
	}
	for i, want := range []facts{
		{name: "_Z7argtestPiS_S_", code: 0xd80, regs: 24, stack: 0x28, least: 0x28 + 8, params: 3, paramBytes: 24, bank0: 0x188},
		{name: "_Z10local_testiiPi", code: 0x180, regs: 13, stack: 0x48, least: 0x48, params: 3, paramBytes: 16, bank0: 0x170},
		{name: "_Z5childPii", code: 0x280, regs: 14, params: 2, paramBytes: 12, bank0: 0x16c},
		{name: "_Z11shared_testfPf", code: 0x200, regs: 12, shared: 0x1010, params: 2, paramBytes: 16, bank0: 0x170},
		{name: "_Z4test6float4PS_", code: 0x500, regs: 11, params: 2, paramBytes: 24, bank0: 0x178},
		{name: "_Z11nvinfo_testiiPi", code: 0x100, regs: 10, params: 3, paramBytes: 16, bank0: 0x170},
		{name: "_Z10simpletest4int4Pi", code: 0x200, regs: 12, params: 2, paramBytes: 24, bank0: 0x178},
	} {
		if i >= len(f.Kernels) {
			t.Fatalf("only %d kernels", len(f.Kernels))
		}
		k := f.Kernels[i]
		got := facts{k.Name, len(k.Code), k.Regs, k.Shared, k.Stack, k.Least, len(k.Params), k.ParamBytes, len(k.Constants[0])}
		if got != want || k.ParamBase != 0x160 {
			t.Errorf("kernel %+v, parameters at %#x; want %+v", got, k.ParamBase, want)
		}
	}
	arg := f.Kernel("_Z7argtestPiS_S_")
	if want := []Param{{0, 8}, {8, 8}, {16, 8}}; !slices.Equal(arg.Params, want) {
		t.Errorf("parameters %v", arg.Params)
	}
	if got, want := arg.Labels[5], (Label{"$_Z7argtestPiS_S_$_Z2f6ii", 0x9a0, 480}); got != want || len(arg.Labels) != 7 {
		t.Errorf("label %v of %d; want %v of 7", got, len(arg.Labels), want)
	}
	if len(arg.Constants[2]) != 0x48 || len(f.Constants[3]) != 0x141 {
		t.Errorf("banks 2 and 3 have %d and %d bytes", len(arg.Constants[2]), len(f.Constants[3]))
	}
	for _, want := range []Variable{
		{Name: "C2", Data: -1, Bank: 3, Offset: 0x2c, Bytes: 260},
		{Name: "GlobalC2", Data: 1, Offset: 0x1c, Bytes: 132},
		{Name: "__cudart_i2opi_f", Data: 0, Offset: 0x38, Bytes: 24},
	} {
		if !slices.Contains(f.Variables, want) {
			t.Errorf("there is no variable %+v in %+v", want, f.Variables)
		}
	}
	if len(f.Data) != 2 || len(f.Data[0].Init) != 0x5c || f.Data[1].Init != nil || f.Data[1].Bytes != 0xa0 || f.Data[1].Align != 4 {
		t.Errorf("memory %+v", f.Data)
	}
	if !slices.Equal(f.Externs, []string{"vprintf"}) || !slices.Equal(f.Textures, []string{"texRef2d", "texRef1d"}) || !slices.Equal(f.Surfaces, []string{"inputSurfRef", "outputSurfRef"}) {
		t.Errorf("functions %v, textures %v and surfaces %v from elsewhere", f.Externs, f.Textures, f.Surfaces)
	}
	if got := arg.Offsets(attrExits); len(got) == 0 || got[0] >= 0xd80 {
		t.Errorf("the kernel exits at %#x", got)
	}
}

// TestRelocations: what is relocated, by whom, and where that is.
func TestRelocations(t *testing.T) {
	f, err := Read(sample, open(t))
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, r := range f.Relocations {
		count[r.At.Owner]++
	}
	for owner, want := range map[string]int{"_Z7argtestPiS_S_": 7 + 2 + 4, "_Z5childPii": 4, "_Z10simpletest4int4Pi": 2} {
		if count[owner] != want {
			t.Errorf("%d relocations in %s; want %d", count[owner], owner, want)
		}
	}
	if !slices.ContainsFunc(f.Relocations, func(r Relocation) bool {
		return r.At.Kind == InCode && r.Symbol == "$str" && r.Place == Place{Kind: InData, Index: 0, Offset: 0x50}
	}) {
		t.Errorf("no code refers to the string: %+v", f.Relocations)
	}
	if !slices.ContainsFunc(f.Relocations, func(r Relocation) bool {
		return r.At.Kind == InConstant && r.At.Bank == 0 && r.Symbol == "texRef1d" && r.Place.Kind == Unknown
	}) {
		t.Errorf("no constant refers to the texture: %+v", f.Relocations)
	}
}

// TestExtent: the size of a file in memory is found by its headers.
func TestExtent(t *testing.T) {
	b := open(t)
	at := func(offset, n uint64) []byte { return b[min(offset, uint64(len(b))):min(offset+n, uint64(len(b)))] }
	if n, err := Extent(at); n != uint64(len(b)) || err != nil {
		t.Errorf("%d bytes, %v; want %d", n, err, len(b))
	}
	for i := range 64 { // each byte of the header with all bits set
		old := b[i]
		b[i] = 0xff
		if n, err := Extent(at); err == nil && n > 3*maxFile {
			t.Errorf("byte %d: %d bytes", i, n)
		}
		b[i] = old
	}
}

// TestBadFiles: what is wrong is said with the section, and nothing panics.
func TestBadFiles(t *testing.T) {
	b := open(t)
	header := func(at int, v byte) []byte {
		c := bytes.Clone(b)
		c[at] = v
		return c
	}
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"nothing", nil, "no ELF file of device code"},
		{"another machine", header(18, 62), "no ELF file of device code"},
		{"32 bits", header(4, 1), "offset 0x4: it is for addresses of 32 bits"},
		{"32 bits and nothing else", header(4, 1)[:52], "offset 0x4: it is for addresses of 32 bits"},
		{"within the header", b[:40], "offset 0x28: the file ends within its header"},
		{"truncated", b[:len(b)/2], "the file ends here, but its table of sections takes"},
		{"attributes", header(0x1820, 9), "section .nv.info, offset 0x0: attribute"},
		{"a longer attribute", header(0x1820+3, 0x70), "section .nv.info, offset 0x0: attribute"},
		{"code", header(0x47e0+29*64+32, 0x78), ".text._Z7argtestPiS_S_, offset 0xd70: the code ends within an instruction"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Read("sample", c.data)
			var e *Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v; want %q", err, c.want)
			}
		})
	}
}

// check reads a file in every way; it must not panic.
func check(t testing.TB, b []byte) (good bool) {
	t.Helper()
	f, err := Read("file", b)
	if err != nil {
		saysWhere(t, b, err)
		return false
	}
	for _, lines := range []func() (map[string][]Line, error){f.SourceLines, f.PTXLines} {
		if _, err := lines(); err != nil {
			var e *Error
			if !errors.As(err, &e) {
				t.Errorf("%T: %v", err, err)
			}
		}
	}
	f.PTX()
	for _, k := range f.Kernels {
		if len(k.Code)%16 != 0 {
			t.Errorf("kernel %s has %d bytes", k.Name, len(k.Code))
		}
		for _, l := range k.Labels {
			if int(l.Offset) > len(k.Code) {
				t.Errorf("label %+v", l)
			}
		}
	}
	for _, v := range f.Variables {
		if v.Data < 0 && v.Offset+v.Bytes > uint64(len(f.Constants[v.Bank])) || v.Data >= 0 && v.Offset+v.Bytes > f.Data[v.Data].Bytes {
			t.Errorf("variable %+v", v)
		}
	}
	return true
}

// saysWhere checks that each message about a file of device code names it and a place in it.
func saysWhere(t testing.TB, b []byte, err error) {
	t.Helper()
	list := []error{err}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		list = many.Unwrap()
	}
	for _, err := range list {
		var e *Error
		if !errors.As(err, &e) || e.File != "file" || e.Msg == "" || e.Section == "" && e.Offset < 0 && Is(b) {
			t.Errorf("%T: %v", err, err)
		}
	}
}

// section returns the number, the offset and the size of a section.
func section(t *testing.T, b []byte, name string) (n int, offset, size uint64) {
	t.Helper()
	f, err := elf.NewFile(plain{bytes.NewReader(b)})
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range f.Sections {
		if s.Name == name {
			return i, s.Offset, s.Size
		}
	}
	t.Fatalf("there is no section %s", name)
	return
}

// TestDamaged: what is wrong is said with section and offset.
func TestDamaged(t *testing.T) {
	const code, relocs = ".text._Z5childPii", ".rel.nv.constant0._Z7argtestPiS_S_"
	b := open(t)
	header := func(c []byte, name string) []byte { // of a section
		n, _, _ := section(t, b, name)
		return c[le.Uint64(c[40:])+64*uint64(n):]
	}
	_, at, _ := section(t, b, ".nv.info")
	_, first, _ := section(t, b, ".rel"+code)
	for _, c := range []struct {
		name   string
		damage func(c []byte)
		want   string
	}{
		{"sections that overlap", func(c []byte) {
			_, other, _ := section(t, b, ".text._Z11shared_testfPf")
			le.PutUint64(header(c, code)[24:], other)
		}, ": section .text._Z11shared_testfPf, offset 0x0: its bytes, at "},
		{"a section in the header", func(c []byte) { le.PutUint64(header(c, ".nv.info")[24:], 8) }, "section .nv.info, offset 0x0: its bytes, at 0x8 of the file, overlap those of the header, which end at 0x40"},
		{"a relocation beyond the code", func(c []byte) { le.PutUint64(c[first:], 0x10000) }, ".rel" + code + ", offset 0x0: relocation of 16 bytes at 0x10000"},
		{"a relocation at the end", func(c []byte) { le.PutUint64(c[first+16:], 0x278) }, ".rel" + code + ", offset 0x10: relocation of 16 bytes at 0x278"},
		{"a relocation within an instruction", func(c []byte) { le.PutUint64(c[first:], 8) }, ".rel" + code + ", offset 0x0: relocation at 0x8 of .text._Z5childPii is not at the beginning of an instruction"},
		{"an address beyond the constants", func(c []byte) {
			_, at, _ := section(t, b, relocs)
			le.PutUint64(c[at:], 1<<40)
		}, relocs + ", offset 0x0: relocation of 4 bytes at 0x10000000000"},
		{"half an address at the end", func(c []byte) {
			_, at, _ := section(t, b, relocs)
			_, _, size := section(t, b, relocs[len(".rel"):])
			le.PutUint64(c[at:], size-4)
			le.PutUint32(c[at+8:], RelocWhole)
		}, relocs + ", offset 0x0: relocation of 8 bytes"},
		{"constants beyond the file that an address is added to", func(c []byte) {
			_, at, _ := section(t, b, relocs)
			le.PutUint64(c[at:], 0)
			le.PutUint32(c[at+8:], RelocWhole)
			le.PutUint64(header(c, relocs[len(".rel"):])[24:], 1<<40)
		}, "section " + relocs[len(".rel"):] + ": its "},
		{"a relocation by nothing", func(c []byte) { le.PutUint32(c[first+12:], 1<<20) }, ".rel" + code + ", offset 0x0: relocation of 16 bytes"},
		{"registers of no function", func(c []byte) { le.PutUint32(c[at+4:], 1<<16) }, "section .nv.info, offset 0x0: attribute"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := bytes.Clone(b)
			c.damage(d)
			_, err := Read("file", d)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v; want %q", err, c.want)
			}
			saysWhere(t, b, err)
		})
	}
}

// TestTruncated: no beginning of a file is a file.
func TestTruncated(t *testing.T) {
	b := open(t)
	step := 37
	if alltests.On() {
		step = 1
	}
	for n := 0; n < len(b); n += step {
		if check(t, b[:n]) {
			t.Errorf("%d bytes of %d are read as a file", n, len(b))
		}
	}
}

// TestFlippedBits and TestMutations: whatever a file holds, it is read, or a message says what is
// wrong.
func TestFlippedBits(t *testing.T) {
	b := open(t)
	step := 97
	if alltests.On() {
		step = 1
	}
	for n := 0; n < 8*len(b); n += step {
		b[n/8] ^= 1 << (n % 8)
		check(t, b)
		b[n/8] ^= 1 << (n % 8)
	}
}

func TestMutations(t *testing.T) {
	b := open(t)
	count := 4000
	if alltests.On() {
		count = 100_000
	}
	good := 0
	r := rand.New(rand.NewPCG(7, 8))
	for range count {
		if check(t, mutate(b, r)) {
			good++
		}
	}
	t.Logf("%d of %d are still read", good, count)
	if good == 0 || good == count {
		t.Error("want some that are read and some that are not")
	}
}

// mutate returns a changed copy: a few fields get other values, mostly in the tables that say where
// things are, or the file ends early.
func mutate(b []byte, r *rand.Rand) []byte {
	c := bytes.Clone(b)
	table := int(le.Uint64(b[40:]))
	odd := []uint64{0, 1, 7, 8, 63, 64, 255, 256, 1 << 16, 1 << 31, 1<<32 - 1, 1 << 40, 1<<63 - 1, 1<<64 - 1, uint64(len(b)), uint64(table)}
	for range 1 + r.IntN(4) {
		at := r.IntN(len(c))
		switch r.IntN(3) {
		case 0: // a field of a section's header
			at = table + 4*r.IntN((len(b)-table)/4)
		case 1: // what a section's header, the last ones included, leads to
			h := c[table+64*r.IntN((len(b)-table)/64):]
			if from, size := le.Uint64(h[24:]), le.Uint64(h[32:]); from < uint64(len(c)) && size > 0 && size < uint64(len(c)) {
				at = min(int(from)+r.IntN(int(size)), len(c)-1)
			}
		}
		v := odd[r.IntN(len(odd))] + uint64(r.IntN(3)) - 1
		if r.IntN(2) == 0 {
			v = r.Uint64() >> r.IntN(64)
		}
		for i := range min(1<<r.IntN(4), len(c)-at) {
			c[at+i] = byte(v >> (8 * i))
		}
	}
	if r.IntN(16) == 0 {
		c = c[:r.IntN(len(c))]
	}
	return c
}

func FuzzRead(f *testing.F) {
	b := open(f)
	f.Add(b)
	f.Add(b[:len(b)/2])
	for seed := range uint64(8) {
		f.Add(mutate(b, rand.New(rand.NewPCG(seed, 0))))
	}
	f.Fuzz(func(t *testing.T, b []byte) { check(t, b) })
}
