//go:build linux

package device

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFile: large allocations are in the file, which has no name; values are kept and restored, a
// new allocation is zero, and what is freed gives its space back.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory")
	file, err := NewFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file has its name still: %v", err)
	}
	m := New(Config{File: file})
	const size = 4<<20 + 100
	alloc := func() uint64 {
		t.Helper()
		at, err := m.Alloc(size, "large")
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	read := func(at uint64) []byte {
		t.Helper()
		b := make([]byte, 300)
		for i, off := range []uint64{0, 2<<20 - 50, size - 100} {
			if err := m.Read(at+off, b[100*i:100*i+100]); err != nil {
				t.Fatal(err)
			}
		}
		return b
	}
	write := func(at uint64, v byte) {
		t.Helper()
		for _, off := range []uint64{0, 2<<20 - 50, size - 100} {
			if err := m.Write(at+off, bytes.Repeat([]byte{v}, 100)); err != nil {
				t.Fatal(err)
			}
		}
	}
	first, second := alloc(), alloc()
	if _, err := m.Alloc(100, "small"); err != nil {
		t.Fatal(err)
	}
	if file.store.size < 2*size || file.store.size > 3*size {
		t.Errorf("the file has %d bytes for two allocations of %d", file.store.size, size)
	}
	write(first, 1)
	restore := m.Save()
	write(first, 2)
	write(second, 3)
	restore()
	if got := read(first); !bytes.Equal(got, bytes.Repeat([]byte{1}, 300)) {
		t.Errorf("restored: % x", got[:8])
	}
	if got := read(second); !bytes.Equal(got, make([]byte, 300)) {
		t.Errorf("restored to zeros: % x", got[:8])
	}
	if err := m.Free(first); err != nil {
		t.Fatal(err)
	}
	if list := file.written(0, size); len(list) > 0 {
		t.Errorf("freed bytes keep %v", list)
	}
	if got := read(alloc()); !bytes.Equal(got, make([]byte, 300)) {
		t.Errorf("a new allocation: % x", got[:8])
	}
}

func TestFileRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory")
	if err := os.WriteFile(path, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, filepath.Join(path, "x"), t.TempDir(), ""} {
		if _, err := NewFile(p); err == nil || !strings.Contains(err.Error(), "must not be there yet") {
			t.Errorf("%q: %v", p, err)
		}
	}
	if b, _ := os.ReadFile(path); string(b) != "mine" {
		t.Errorf("the file that was there has %q", b)
	}
}
