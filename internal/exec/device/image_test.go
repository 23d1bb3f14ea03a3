package device

import (
	"bytes"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// imaged makes a memory with some allocations; file may be nil.
func imaged(t *testing.T, file *File, sizes ...uint64) (*Memory, []uint64) {
	t.Helper()
	m := New(Config{File: file})
	var list []uint64
	for _, n := range sizes {
		at, err := m.Alloc(n, "a")
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, at)
	}
	return m, list
}

// fill writes a text to an address.
func fill(t *testing.T, m *Memory, at uint64, text string) {
	t.Helper()
	if err := m.Write(at, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// A memory with the same allocations gets the contents of another one: what is written, and zeros where it wrote itself.
func TestImage(t *testing.T) {
	t.Run("in memory", func(t *testing.T) { testImage(t, nil, nil) })
	one, err := NewFile(filepath.Join(t.TempDir(), "one"))
	if err != nil && runtime.GOOS != "linux" {
		t.Skip(err) // such files are there on Linux only
	} else if err != nil {
		t.Fatal(err)
	}
	two, err := NewFile(filepath.Join(t.TempDir(), "two"))
	if err != nil {
		t.Fatal(err)
	}
	t.Run("from a file", func(t *testing.T) { testImage(t, one, nil) })
	t.Run("from a file to a file", func(t *testing.T) { testImage(t, one, two) })
}

func testImage(t *testing.T, from, into *File) {
	const large = 1<<30 + 5000
	sizes := []uint64{100, 3 * imagePage, large, 0, 64}
	a, at := imaged(t, from, sizes...)
	fill(t, a, at[0]+96, "last")
	fill(t, a, at[1]+imagePage, "page")
	fill(t, a, at[2]+large-3, "end")
	fill(t, a, at[2]+1<<29-2, "half")
	block, ok := a.HeapAlloc(40)
	if !ok {
		t.Fatal("no heap")
	}
	fill(t, a, block, "heap")
	x, err := a.Image()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, r := range x.Regions {
		for _, p := range r.Pieces {
			n += len(p.Bytes)
		}
	}
	if n > 8*imagePage {
		t.Errorf("an image of a few words has %d bytes", n)
	}
	b, to := imaged(t, into, sizes...)
	fill(t, b, to[1], "other")
	fill(t, b, to[2]+12345678, "other")
	if err := b.Restore(x); err != nil {
		t.Fatal(err)
	}
	for i, n := range sizes {
		if n == large {
			continue
		}
		p, err := a.Bytes(at[i], n)
		q, err2 := b.Bytes(to[i], n)
		if err != nil || err2 != nil || !bytes.Equal(p, q) {
			t.Errorf("allocation %d differs: %v, %v", i, err, err2)
		}
	}
	for _, c := range []struct {
		at   uint64
		want string
	}{{to[2] + large - 3, "end"}, {to[2] + 1<<29 - 2, "half"}, {to[2] + 12345678, "\x00\x00\x00\x00\x00"}, {block, "heap"}} {
		if p, err := b.Bytes(c.at, uint64(len(c.want))); err != nil || string(p) != c.want {
			t.Errorf("at 0x%x: %q, %v, want %q", c.at, p, err, c.want)
		}
	}
	one, _ := a.HeapAlloc(16)
	two, _ := b.HeapAlloc(16)
	if one != two {
		t.Errorf("the heaps go on at 0x%x and 0x%x", one, two)
	}
}

// An image of other allocations, or with bytes where there are none, is refused.
func TestImageMisfits(t *testing.T) {
	a, at := imaged(t, nil, 100, 200)
	fill(t, a, at[1], "text")
	for _, c := range []struct {
		name  string
		sizes []uint64
		image func(x *Image)
		want  string
	}{
		{"fewer allocations", []uint64{100}, nil, "2 allocations of device memory, and this run 1"},
		{"another size", []uint64{100, 201}, nil, "200 bytes of device memory"},
		{"bytes after the end", []uint64{100, 200}, func(x *Image) { x.Regions[1].Pieces = []Piece{{At: 250, Bytes: make([]byte, 20)}} }, "bytes outside of"},
		{"a heap of another size", []uint64{100, 200}, func(x *Image) { x.Heap = &HeapImage{Starts: make([]uint64, 3)} }, "3 allocations|2 allocations"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, err := a.Image()
			if err != nil {
				t.Fatal(err)
			}
			if c.image != nil {
				c.image(x)
			}
			b, _ := imaged(t, nil, c.sizes...)
			err = b.Restore(x)
			if err == nil {
				t.Fatal("it is taken")
			}
			for _, w := range strings.Split(c.want, "|") {
				if strings.Contains(err.Error(), w) {
					return
				}
			}
			t.Errorf("%v, want %q", err, c.want)
		})
	}
}
