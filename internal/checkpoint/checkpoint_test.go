package checkpoint_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/checkpoint"
)

// inner is a value that pointers lead to.
type inner struct {
	n    int
	next *inner
}

// shape is an interface that a machine has.
type shape interface{ area() int }

type square struct{ side int }

func (s *square) area() int { return s.side * s.side }

// machine has a field of every kind.
type machine struct {
	flag    bool
	numbers [3]uint16
	pair    struct{ a, b float64 }
	name    string
	raw     []uint32
	names   []string
	none    []int
	empty   []int
	byName  map[string]*inner
	own     *inner // made with the machine
	alias   *inner // of own, or nil
	chain   *inner // not made with the machine
	in      shape
	loose   any
	call    func() int
	wired   int      `state:"-"`
	stock   chan int `state:"-"`
	nested  [][]int32
}

// newMachine builds a machine in its first state.
func newMachine() *machine {
	m := &machine{own: &inner{}, in: &square{1}, empty: []int{}, raw: make([]uint32, 2, 8), byName: map[string]*inner{"old": {}}, wired: 7, stock: make(chan int)}
	own := m.own
	m.call = func() int { return own.n }
	return m
}

// used is a machine in a later state.
func used() *machine {
	m := newMachine()
	m.flag, m.numbers, m.name, m.wired = true, [3]uint16{1, 2, 3}, "used", 8
	m.pair.a, m.pair.b = 1.5, -2
	m.raw, m.names, m.empty, m.none = []uint32{4, 5, 6}, []string{"a", ""}, []int{}, nil
	m.own.n, m.alias = 42, m.own
	m.chain = &inner{n: 1, next: &inner{n: 2}}
	m.chain.next.next = m.chain
	m.byName = map[string]*inner{"x": m.chain, "y": {n: 9}}
	m.in.(*square).side = 3
	m.loose = map[string]any{"list": []any{"text", 1.5, nil, true}}
	m.nested = [][]int32{{1}, nil, {2, 3}}
	return m
}

func saved(t testing.TB, m *machine) []byte {
	t.Helper()
	var b bytes.Buffer
	e := checkpoint.NewEncoder(&b, checkpoint.Rules{})
	if err := e.Encode(m); err != nil {
		t.Fatal(err)
	}
	if err := e.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func load(b []byte, m *machine) error {
	d := checkpoint.NewDecoder(bytes.NewReader(b), checkpoint.Rules{})
	if err := d.Decode(m); err != nil {
		return err
	}
	return d.End()
}

// A machine that was just built gets the state of another one, in the values that it has.
func TestState(t *testing.T) {
	want, got := used(), newMachine()
	own, in := got.own, got.in
	if err := load(saved(t, want), got); err != nil {
		t.Fatal(err)
	}
	if got.wired != 7 || got.stock == nil || got.own != own || got.in != in || got.call() != 42 {
		t.Error("what was made with the machine has been replaced")
	}
	if got.alias != got.own || got.chain.next.next != got.chain || got.byName["x"] != got.chain {
		t.Error("pointers to one value point to different ones")
	}
	want.wired, want.stock, want.call, got.stock, got.call = 7, nil, nil, nil, nil
	want.chain.next.next, got.chain.next.next = nil, nil // cmp does not end on it otherwise
	if d := cmp.Diff(want, got, cmp.AllowUnexported(machine{}, inner{}, square{}, struct{ a, b float64 }{})); d != "" {
		t.Error(d)
	}
	if want.none != nil || got.none != nil || got.empty == nil {
		t.Error("nil and an empty list are not told apart")
	}
}

// Equal states are written as equal bytes, whatever the order of maps.
func TestSameBytes(t *testing.T) {
	want := saved(t, used())
	for range 20 {
		if !bytes.Equal(want, saved(t, used())) {
			t.Fatal("the bytes differ")
		}
	}
}

// What is written of a machine does not fit another one.
func TestMisfits(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(m *machine)
		want   string
	}{
		{"another type in an interface", func(m *machine) { m.in = nil }, "where the machine has nothing"},
		{"a value of its own for what was made with the machine", func(m *machine) { m.alias, m.byName = &inner{}, nil }, "other than the machine's own"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine()
			c.change(m)
			if err := load(saved(t, used()), m); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// Check names the fields that nothing can write.
func TestCheck(t *testing.T) {
	type part struct{ mu sync.Mutex }
	type bad struct {
		c     chan int
		parts []*part
		left  chan int `state:"-"`
	}
	_ = &bad{c: nil, left: nil, parts: []*part{{mu: sync.Mutex{}}}}
	var where []string
	for _, s := range checkpoint.Check(reflect.TypeFor[bad](), checkpoint.Rules{}) {
		name, _, _ := strings.Cut(s, ":")
		where = append(where, name)
	}
	if got := fmt.Sprint(where); got != "[checkpoint_test.bad.c checkpoint_test.part.mu]" {
		t.Error(got)
	}
	var b bytes.Buffer
	if err := checkpoint.NewEncoder(&b, checkpoint.Rules{}).Encode(&bad{}); err == nil || !strings.HasPrefix(err.Error(), "c: ") {
		t.Errorf("%v, want an error that names the field", err)
	}
	if list := checkpoint.Check(reflect.TypeFor[machine](), checkpoint.Rules{}); len(list) > 0 {
		t.Error(list)
	}
}

// No bytes make the decoder panic, or use much memory.
func FuzzDecode(f *testing.F) {
	b := saved(f, used())
	f.Add(b)
	for _, n := range []int{0, 1, len(b) / 2, len(b) - 1} {
		f.Add(b[:n])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m := newMachine()
		if err := load(b, m); err == nil {
			saved(t, m)
		}
	})
}

var header = checkpoint.Header{Heddle: "1", Build: "b", GPU: "g", Machine: "m", Input: "job.toml", Content: "c", Launches: 3, Cycle: 99}

// write writes a checkpoint with some text.
func write(t testing.TB, path string) []byte {
	t.Helper()
	err := checkpoint.Write(path, header, func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Repeat("state ", 100))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// read reads it.
func read(path string, want checkpoint.Header) (text string, err error) {
	err = checkpoint.Read(path, want, func(_ checkpoint.Header, r io.Reader) error {
		b, err := io.ReadAll(r)
		text = string(b)
		return err
	})
	return text, err
}

// A file is used only where it belongs, and as it was written.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c")
	whole := write(t, path)
	if text, err := read(path, header); err != nil || text != strings.Repeat("state ", 100) {
		t.Fatalf("%q, %v", text, err)
	}
	for _, c := range []struct {
		name   string
		header func(h *checkpoint.Header)
		file   func(b []byte) []byte
		want   string
	}{
		{name: "another build", header: func(h *checkpoint.Header) { h.Build = "x" }, want: "only the same build can go on"},
		{name: "another version", header: func(h *checkpoint.Header) { h.Heddle = "2" }, want: "only the same build can go on"},
		{name: "another input", header: func(h *checkpoint.Header) { h.Content = "x" }, want: "with other contents"},
		{name: "another machine", header: func(h *checkpoint.Header) { h.Machine = "x" }, want: "other settings or other flags"},
		{name: "no bytes", file: func([]byte) []byte { return nil }, want: "is no checkpoint"},
		{name: "another file", file: func([]byte) []byte { return []byte("program = \"a.ptx\"\nbuffers = 7 # and more\n") }, want: "is no checkpoint"},
		{name: "only its first line", file: func(b []byte) []byte { return b[:len("heddle-checkpoint/1\n")] }, want: "incomplete or was changed"},
		{name: "its end is missing", file: func(b []byte) []byte { return b[:len(b)-1] }, want: "incomplete or was changed"},
		{name: "its header is changed", file: func(b []byte) []byte { return bytes.Replace(b, []byte("job.toml"), []byte("job2toml"), 1) }, want: "incomplete or was changed"},
		{name: "more bytes", file: func(b []byte) []byte { return append(bytes.Clone(b), 0) }, want: "incomplete or was changed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, want := filepath.Join(t.TempDir(), "c"), header
			b := whole
			if c.file != nil {
				b = c.file(b)
			}
			if c.header != nil {
				c.header(&want)
			}
			if err := os.WriteFile(path, b, 0o666); err != nil {
				t.Fatal(err)
			}
			if _, err := read(path, want); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// FuzzFile changes and truncates a file: it is refused, unless nothing was changed.
func FuzzFile(f *testing.F) {
	whole := write(f, filepath.Join(f.TempDir(), "c"))
	f.Add(whole, 0)
	for _, cut := range []int{1, 31, 32, 33, len(whole) / 2, len(whole) - 1, len(whole)} { // within the digest, and before it
		f.Add(whole, cut)
	}
	for i := range 64 { // in both lines at the front, the state, and the digest
		changed := bytes.Clone(whole)
		changed[i*(len(whole)-1)/63] ^= 1 << (i % 8)
		f.Add(changed, 0)
	}
	f.Add(append(bytes.Clone(whole), 0), 0)
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		path := filepath.Join(t.TempDir(), "c")
		b = b[:len(b)-min(max(cut, 0), len(b))]
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := read(path, header); (err == nil) != bytes.Equal(b, whole) {
			t.Errorf("%v", err)
		}
	})
}

// A file that cannot be written completely leaves the one before.
func TestUnwritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "c")
	write(t, path)
	bad := fmt.Errorf("the disk is full")
	if err := checkpoint.Write(path, header, func(io.Writer) error { return bad }); err != bad && !strings.Contains(err.Error(), bad.Error()) {
		t.Errorf("%v", err)
	}
	if _, err := read(path, header); err != nil {
		t.Error(err)
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("%d files are left", len(list))
	}
}
