package sdk_test

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/work/cuda/sdk"
)

// If there is no compiler, the message says how to get one.
func TestNoClang(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("HEDDLE_CLANG", "")
	_, err := sdk.FindClang(context.Background())
	if !errors.Is(err, sdk.ErrNoClang) || !strings.Contains(err.Error(), "apt-get install clang") {
		t.Errorf("error %v", err)
	}
	t.Setenv("HEDDLE_CLANG", "no-such-compiler")
	if _, err := sdk.FindClang(context.Background()); err == nil || !strings.Contains(err.Error(), "HEDDLE_CLANG") {
		t.Errorf("error %v", err)
	}
}

// A compiler that is too old, or is not clang, is refused with a message that names
// it and what is needed.
func TestOtherCompilers(t *testing.T) {
	for _, c := range []struct{ says, want string }{
		{"Debian clang version 13.0.1-6", "clang 13; clang 14 or later is needed"},
		{"g++ (Debian 12.2.0) 12.2.0", "is not clang; clang 14 or later is needed"},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "clang++")
		if err := os.WriteFile(file, []byte("#!/bin/sh\necho '"+c.says+"'\n"), 0o777); err != nil {
			t.Fatal(err)
		}
		for _, env := range [][2]string{{dir, ""}, {os.Getenv("PATH"), file}} { // as the only one on the path, and by name
			t.Run(c.says, func(t *testing.T) {
				t.Setenv("PATH", env[0])
				t.Setenv("HEDDLE_CLANG", env[1])
				if _, err := sdk.FindClang(t.Context()); !errors.Is(err, sdk.ErrNoClang) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("error %v, want %q", err, c.want)
				}
			})
		}
	}
}

// Unpacking twice gives one folder; concurrent unpacking is safe.
func TestUnpack(t *testing.T) {
	alltests.Only(t, "several processes unpack the toolkit")
	clang, err := sdk.FindClang(context.Background())
	if err != nil {
		t.Skip(err)
	}
	root := t.TempDir()
	dirs := make(chan string, 2)
	for range cap(dirs) {
		go func() {
			s, err := sdk.UnpackAt(context.Background(), root, clang, "/bin/true")
			if err != nil {
				t.Error(err)
			}
			dirs <- s.Dir
		}()
	}
	first := <-dirs
	for range cap(dirs) - 1 {
		if d := <-dirs; d != first {
			t.Errorf("%s and %s", first, d)
		}
	}
	entries, err := os.ReadDir(root)
	if err != nil || len(entries) != 1 {
		t.Errorf("in the cache: %v, %v", entries, err)
	}
	for _, name := range []string{"version.json", "bin/nvcc", "nvvm/libdevice/libdevice.10.bc", "lib64/libcudart.so", "include/cuda.h"} {
		if _, err := os.Lstat(filepath.Join(first, name)); err != nil {
			t.Error(err)
		}
	}
}

// A fat binary stores each text once.
func TestFatBinary(t *testing.T) {
	b, err := sdk.FatBinary([]sdk.Image{{"sm_70", []byte("first")}, {"sm_80", []byte("first")}, {"sm_90a", []byte("second text")}})
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	if le.Uint32(b) != 0xBA55ED50 || le.Uint16(b[6:]) != 16 || le.Uint64(b[8:]) != uint64(len(b)-16) {
		t.Fatalf("header % x", b[:16])
	}
	for at, want := range map[int]struct {
		sm   uint32
		text string
	}{16: {70, "first"}, 16 + 64 + 8: {90, "second text"}} {
		e := b[at:]
		size := le.Uint32(e[8:])
		if le.Uint16(e) != 1 || le.Uint32(e[4:]) != 64 || le.Uint32(e[28:]) != want.sm || strings.TrimRight(string(e[64:64+size]), "\x00") != want.text {
			t.Errorf("entry at %d: % x", at, e)
		}
		if size <= uint32(len(want.text)) || size%8 != 0 {
			t.Errorf("entry at %d: %d bytes hold no zero at the end, or are not padded", at, size)
		}
	}
	if len(b) != 16+64+8+64+16 {
		t.Errorf("%d bytes: equal texts are not kept once", len(b))
	}
	for _, images := range [][]sdk.Image{nil, {{"sm_x", nil}}, {{"gfx90", []byte("text")}}} {
		if _, err := sdk.FatBinary(images); err == nil {
			t.Errorf("%v: no error", images)
		}
	}
}

// TestStatics: a static variable has one name, and line numbers do not change.
func TestStatics(t *testing.T) {
	const before = `.extern .global .align 4 .u32 _ZL1v;
.extern .global .align 4 .u32 _ZL1vv;
.visible .global .align 4 .u32 _ZL1v__static__0123abcdef = 1;
.visible .global .align 8 .u64 p = generic(_ZL1v);
	st.global.u32 [_ZL1v+4], %r1; // _ZL1vv, x$_ZL1v
`
	const after = `
.extern .global .align 4 .u32 _ZL1vv;
.visible .global .align 4 .u32 _ZL1v__static__0123abcdef = 1;
.visible .global .align 8 .u64 p = generic(_ZL1v__static__0123abcdef);
	st.global.u32 [_ZL1v__static__0123abcdef+4], %r1; // _ZL1vv, x$_ZL1v
`
	b, err := sdk.FatBinary([]sdk.Image{{"sm_70", []byte(before)}})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimRight(string(b[16+64:]), "\x00"); got != after {
		t.Errorf("it became\n%s", got)
	}
}

// Every function to which clang maps the C library's is defined.
func TestMathNames(t *testing.T) {
	alltests.Only(t, "names of device functions, compiled")
	s := kit(t)
	out, err := exec.Command(s.Clang.Path, "-print-resource-dir").Output()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "include/__clang_cuda_libdevice_declares.h"))
	if err != nil {
		t.Fatal(err)
	}
	// Pairs and fours of small integers exist only for releases 9.0 and 9.1.
	list, _, _ := strings.Cut(string(text), "CUDA_VERSION < 9020")
	_, rest, _ := strings.Cut(string(text), "#endif")
	list += rest
	defined, err := exec.Command(s.Clang.Path, "-x", "ir", "--target=nvptx64-nvidia-cuda", "-nogpulib", "-w", "-S", "-emit-llvm", "-o", "-",
		filepath.Join(s.Dir, "nvvm/libdevice/libdevice.10.bc")).Output()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, field := range strings.FieldsFunc(list, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		if !strings.HasPrefix(field, "__nv_") || strings.HasPrefix(field, "__nv_v") {
			continue
		}
		n++
		if !strings.Contains(string(defined), "@"+field+"(") {
			t.Errorf("%s is not defined", field)
		}
	}
	if n < 300 {
		t.Errorf("only %d names", n)
	}
}
