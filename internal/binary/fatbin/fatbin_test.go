package fatbin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

const text = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n"

// long compresses well, in either way.
var long = strings.Repeat(text, 40)

func pack(t testing.TB, way string, s string) Entry {
	t.Helper()
	switch way {
	case "lz4":
		b := make([]byte, lz4.CompressBlockBound(len(s)))
		n, err := lz4.CompressBlock([]byte(s), b, nil)
		if err != nil || n == 0 {
			t.Fatalf("%d bytes, %v", n, err)
		}
		return Entry{Kind: PTX, SM: 70, Flags: flagLZ4, Data: b[:n], Size: uint64(len(s))}
	case "zstd":
		w, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		return Entry{Kind: PTX, SM: 70, Flags: flagZstd, Data: w.EncodeAll([]byte(s), nil), Size: uint64(len(s))}
	}
	return Entry{Kind: PTX, SM: 70, Data: []byte(s)}
}

// TestLayout: a block laid out by hand, field by field.
func TestLayout(t *testing.T) {
	le := binary.LittleEndian
	b := make([]byte, 16+72+8)
	le.PutUint32(b, 0xba55ed50)
	le.PutUint16(b[4:], 1)
	le.PutUint16(b[6:], 16)
	le.PutUint64(b[8:], 80)
	e := b[16:]
	le.PutUint16(e, 1) // PTX
	le.PutUint16(e[2:], 0x101)
	le.PutUint32(e[4:], 72) // a header with a name in it
	le.PutUint32(e[8:], 8)
	le.PutUint32(e[28:], 86)
	le.PutUint32(e[32:], 64)
	le.PutUint64(e[40:], 0x11)
	copy(e[72:], "//ptx\x00")
	want := []Entry{{Kind: PTX, SM: 86, Flags: 0x11, Data: []byte("//ptx\x00\x00\x00")}}
	got, err := Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if s, err := got[0].Text(); err != nil || string(s) != "//ptx" {
		t.Errorf("text %q, %v", s, err)
	}
	if n, err := Block(b); n != len(b) || err != nil {
		t.Errorf("block of %d bytes, %v", n, err)
	}
}

func TestUnpack(t *testing.T) {
	for _, way := range []string{"", "lz4", "zstd"} {
		b := Append(nil, pack(t, way, long))
		got, err := Parse(b)
		if err != nil {
			t.Fatalf("%q: %v", way, err)
		}
		s, err := got[0].Text()
		if err != nil || string(s) != long {
			t.Errorf("%q: %d bytes of %d, %v", way, len(s), len(long), err)
		}
	}
}

// TestBlocks: several blocks follow each other, with zeros between and after
// them.
func TestBlocks(t *testing.T) {
	b := Append(nil, pack(t, "", "a"), pack(t, "", "b"))
	b = append(b, 0, 0, 0, 0, 0, 0, 0, 0)
	b = append(Append(b, pack(t, "", "c")), 0, 0)
	list, err := Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	var got []byte
	for _, e := range list {
		s, _ := e.Text()
		got = append(got, s...)
	}
	if string(got) != "abc" {
		t.Errorf("%q", got)
	}
}

// TestTruncated: a fat binary without any of its last bytes is an error, and so is truncated
// compressed text.
func TestTruncated(t *testing.T) {
	for _, way := range []string{"", "lz4", "zstd"} {
		e := pack(t, way, long)
		whole := Append(nil, e)
		for n := range whole {
			if list, err := Parse(whole[:n]); err == nil {
				t.Fatalf("%q: the first %d of %d bytes parse: %v", way, n, len(whole), list)
			}
		}
		if way == "" {
			continue
		}
		for n := range e.Data {
			cut := e
			cut.Data = e.Data[:n]
			if s, err := cut.Text(); err == nil {
				t.Fatalf("%q: the first %d of %d bytes unpack to %d", way, n, len(e.Data), len(s))
			}
		}
		for _, size := range []uint64{0, uint64(len(long)) - 1, uint64(len(long)) + 1, 1 << 40} {
			cut := e
			cut.Size = size
			if _, err := cut.Text(); err == nil {
				t.Errorf("%q: unpacks to %d bytes, and %d were asked for", way, len(long), size)
			}
		}
	}
}

func TestBad(t *testing.T) {
	ok := Append(nil, pack(t, "", text))
	for _, c := range []struct {
		name string
		edit func(b []byte)
		want string
	}{
		{"magic", func(b []byte) { b[0]++ }, "bad magic number"},
		{"header of another size", func(b []byte) { b[6] = 24 }, "header size 24"},
		{"absurd size", func(b []byte) { b[15] = 0xff }, "exceed the limit"},
		{"entry header too small", func(b []byte) { b[16+4] = 8 }, "8 bytes of header"},
		{"payload beyond the end", func(b []byte) { b[16+11] = 0xff }, "are left"},
		{"a byte of garbage after an entry", func(b []byte) { b[16+8] -= 8 }, "do not hold an entry"},
	} {
		b := bytes.Clone(ok)
		c.edit(b)
		if _, err := Parse(b); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	for _, b := range [][]byte{nil, make([]byte, 100)} {
		if _, err := Parse(b); err == nil || !strings.Contains(err.Error(), "empty") {
			t.Errorf("%d zeros: %v", len(b), err)
		}
	}
}

// TestNewest: which image a GPU takes.
func TestNewest(t *testing.T) {
	ptx := func(sm int) Entry { return Entry{Kind: PTX, SM: sm} }
	cubin := func(sm int) Entry { return Entry{Kind: Cubin, SM: sm} }
	for _, c := range []struct {
		name string
		list []Entry
		sm   int
		want int    // 0: none
		msg  string // of the error
	}{
		{"the newest that is not newer", []Entry{ptx(50), ptx(80), ptx(70), ptx(90)}, 86, 80, ""},
		{"its own", []Entry{ptx(75), ptx(86)}, 86, 86, ""},
		{"machine code does not count", []Entry{cubin(86), ptx(52)}, 86, 52, ""},
		{"all newer", []Entry{ptx(90)}, 86, 0, "PTX for sm_90"},
		{"machine code only", []Entry{cubin(80), cubin(86), cubin(80)}, 86, 0, "machine code (for sm_80, sm_86) but no PTX"},
		{"nothing", nil, 86, 0, "no device code"},
	} {
		e, err := Newest(c.list, c.sm)
		var no *NoPTXError
		switch {
		case c.want != 0 && (err != nil || e.SM != c.want):
			t.Errorf("%s: %v, %v", c.name, e, err)
		case c.want == 0 && (!errors.As(err, &no) || !strings.Contains(err.Error(), c.msg)):
			t.Errorf("%s: %v, want %q", c.name, err, c.msg)
		}
	}
	e := cubin(80)
	if _, err := e.Text(); err == nil || !strings.Contains(err.Error(), "machine code") {
		t.Errorf("text of machine code: %v", err)
	}
}

// TestEntries: device code in the section of an object that the C compiler made.
func TestEntries(t *testing.T) {
	dir := t.TempDir()
	if _, err := Entries("text", []byte(text)); err == nil || !strings.Contains(err.Error(), "text: this is no ELF file") {
		t.Errorf("PTX text: %v", err)
	}
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler found to make an object")
	}
	bin := filepath.Join(dir, "code.fatbin")
	if err := os.WriteFile(bin, Append(nil, pack(t, "zstd", long)), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ section, want string }{{".nv_fatbin", ""}, {"__nv_relfatbin", ""}, {".other", "no device code"}} {
		asm, obj := filepath.Join(dir, "a.s"), filepath.Join(dir, "a.o")
		if err := os.WriteFile(asm, []byte(".section "+c.section+",\"a\"\n.incbin \""+bin+"\"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(cc, "-c", asm, "-o", obj).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		b, err := os.ReadFile(obj)
		if err != nil {
			t.Fatal(err)
		}
		for n := range len(b) {
			if _, err := Entries("a.o", b[:n]); err == nil || !strings.Contains(err.Error(), "a.o: ") {
				t.Fatalf("the first %d bytes of %d: %v", n, len(b), err)
			}
		}
		list, err := Entries(obj, b)
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", c.section, err)
			}
			continue
		}
		if err != nil || len(list) != 1 {
			t.Fatalf("%s: %v, %v", c.section, list, err)
		}
		if s, err := list[0].Text(); err != nil || string(s) != long {
			t.Errorf("%s: %d bytes, %v", c.section, len(s), err)
		}
	}
}

// FuzzParse: no input makes it panic, hang or exhaust memory; entries that parse and unpack
// have the size that their header says.
func FuzzParse(f *testing.F) {
	for _, way := range []string{"", "lz4", "zstd"} {
		f.Add(Append(nil, pack(f, way, text), pack(f, way, long)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := Parse(b)
		if (err == nil) == (len(list) == 0) {
			t.Fatalf("%d entries, %v", len(list), err)
		}
		for i := range list {
			e := &list[i]
			e.Size = min(e.Size, 1<<20)
			if s, err := e.Text(); err == nil && e.compressed() && uint64(len(s)) > e.Size {
				t.Fatalf("%d bytes, not %d", len(s), e.Size)
			}
		}
		_, _ = Newest(list, 86)
	})
}
