package keep

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/compile"
	"github.com/heddle-sim/heddle/internal/compile/machine"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// text is a module with two kernels that compile, one that does not, and variables.
const text = `.version 7.8
.target sm_80
.address_size 64
.func called() { ret; }
.global .align 8 .u64 table[3] = {7, word, called};
.global .u32 word = 3;
.const .f32 scale = 0f40000000;
.visible .entry first(.param .u64 a, .param .u32 n) .maxntid 64 {
	.reg .u64 %rd<3>; .reg .u32 %r<3>; .reg .pred %p; .reg .f32 %f<3>;
	ld.param.u64 %rd0, [a];
	mov.u32 %r0, %tid.x;
LOOP:
	ld.global.f32 %f0, [%rd0];
	ld.const.f32 %f1, [scale];
	fma.rn.f32 %f0, %f0, %f1, 0f3F800000;
	st.global.f32 [%rd0], %f0;
	add.u32 %r0, %r0, 1;
	setp.lt.u32 %p, %r0, 100;
	@%p bra LOOP;
	mov.u64 %rd1, table;
	ld.global.u64 %rd2, [%rd1+8];
	st.global.u64 [%rd0], %rd2;
	ret;
}
.visible .entry second() { ret; }
.visible .entry refused(.param .u64 a) {
	.reg .b32 %r;
	mov.u32 %r, %clusterid.x;
	ret;
}
`

func parsed(t *testing.T, name, text string) *ptx.Module {
	t.Helper()
	m, err := ptx.Parse(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// same compares results; it takes their functions.
func same(t *testing.T, got, want *compile.Result) {
	t.Helper()
	if len(got.File.Kernels) != len(want.File.Kernels) || got.File.Text() != want.File.Text() {
		t.Fatalf("got %s\nwant %s", got.File.Text(), want.File.Text())
	}
	for n, k := range got.File.Kernels {
		w := want.File.Kernels[n]
		for i := range k.Code {
			f1, l1 := k.Source(i)
			if f2, l2 := w.Source(i); f1 != f2 || l1 != l2 {
				t.Errorf("%s, instruction %d is from %s:%d, want %s:%d", k.Name, i, f1, l1, f2, l2)
			}
			for _, list := range []*[]string{&k.Code[i].Mods, &w.Code[i].Mods} {
				*list = append([]string{}, *list...)
			}
		}
		k.Source, w.Source = nil, nil
		if !reflect.DeepEqual(k, w) {
			t.Errorf("got %+v\nwant %+v", k, w)
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// TestModule: what is read back is what was made, and damage is mended.
func TestModule(t *testing.T) {
	root, m := t.TempDir(), parsed(t, "m.ptx", text)
	fresh := func(m *ptx.Module) *compile.Result {
		r, err := compile.Module(m, compile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	kept := func(m *ptx.Module) *compile.Result {
		r, err := module(root, "a build", m, compile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := fresh(m); len(r.File.Kernels) != 2 || len(r.Refused) != 1 || len(r.File.Addresses) == 0 {
		t.Fatalf("%d kernels, %v", len(r.File.Kernels), r.Refused)
	}
	same(t, kept(m), fresh(m))
	same(t, kept(m), fresh(m))
	other := parsed(t, "other.ptx", text)
	same(t, kept(other), fresh(other)) // the same text has another name

	list, _ := filepath.Glob(filepath.Join(root, kind+"-*", file))
	if len(list) != 1 {
		t.Fatalf("%d are kept", len(list))
	}
	less := parsed(t, "m.ptx", strings.Split(text, ".visible .entry refused")[0])
	if err := write(list[0], fresh(less)); err != nil {
		t.Fatal(err)
	}
	same(t, kept(m), fresh(less)) // it is read, not made again

	b, err := os.ReadFile(list[0])
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	for name, damaged := range map[string][]byte{"changed": b, "short": b[:20], "empty": nil} {
		if err := os.WriteFile(list[0], damaged, 0o666); err != nil {
			t.Fatal(err)
		}
		same(t, kept(m), fresh(m))
		if _, err := read(list[0], m); err != nil {
			t.Errorf("%s: it was not written again: %v", name, err)
		}
	}
}

// TestNoCache: without a folder for it, modules are compiled all the same; the error is the compiler's.
func TestNoCache(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if r, err := module(blocked, "a build", parsed(t, "m.ptx", text), compile.Options{}); err != nil || len(r.File.Kernels) != 2 {
		t.Errorf("%v", err)
	}
	root := t.TempDir()
	if _, err := module(root, "a build", parsed(t, "m.ptx", text), compile.Options{Arch: 35}); err == nil || !strings.Contains(err.Error(), "sm_35") {
		t.Errorf("%v", err)
	}
	if list, _ := filepath.Glob(filepath.Join(root, kind+"-*")); len(list) > 0 {
		t.Errorf("%v is kept", list)
	}
}

// TestKey: texts, machines, levels and builds have results of their own.
func TestKey(t *testing.T) {
	m := parsed(t, "m.ptx", text)
	contract := machine.Ampere
	contract.Counters = 2
	seen := map[string]string{}
	for _, x := range []struct {
		name, build string
		m           *ptx.Module
		o           compile.Options
	}{
		{"plain", "a", m, compile.Options{}},
		{"build", "b", m, compile.Options{}},
		{"text", "a", parsed(t, "m.ptx", text+"\n"), compile.Options{}},
		{"architecture", "a", m, compile.Options{Arch: 89}},
		{"registers", "a", m, compile.Options{MaxRegisters: 32}},
		{"level", "a", m, compile.Options{Less: 1}},
		{"contract", "a", m, compile.Options{Contract: &contract}},
	} {
		k := key(x.build, x.m, &x.o)
		if seen[k] != "" {
			t.Errorf("%s has the key of %s", x.name, seen[k])
		}
		seen[k] = x.name
	}
}

// TestLarge: a large module is kept in the user's cache, a small one is not, and none is if the user says so.
func TestLarge(t *testing.T) {
	large := text + strings.Repeat("// a comment\n", least/10)
	for _, x := range []struct {
		name, text, off string
		want            int
	}{{"small", text, "", 0}, {"off", large, "1", 0}, {"large", large, "", 1}} {
		t.Run(x.name, func(t *testing.T) {
			root := t.TempDir()
			t.Setenv("XDG_CACHE_HOME", root)
			t.Setenv("HOME", root)
			t.Setenv(Off, x.off)
			if r, err := Module(parsed(t, "m.ptx", x.text), compile.Options{}); err != nil || len(r.File.Kernels) != 2 {
				t.Fatal(err)
			}
			list, _ := filepath.Glob(filepath.Join(root, "*", kind+"-*"))
			more, _ := filepath.Glob(filepath.Join(root, "*", "*", kind+"-*")) // Library/Caches
			if n := len(list) + len(more); n != x.want {
				t.Errorf("%d are kept, want %d", n, x.want)
			}
		})
	}
}

// FuzzRead: what is in the cache does not break the compiler.
func FuzzRead(f *testing.F) {
	m, err := ptx.Parse("m.ptx", []byte(text))
	if err != nil {
		f.Fatal(err)
	}
	path := filepath.Join(f.TempDir(), file)
	r, err := compile.Module(m, compile.Options{})
	if err != nil {
		f.Fatal(err)
	}
	if err := write(path, r); err != nil {
		f.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:40])
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), file)
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		_, _ = read(path, m)
	})
}
