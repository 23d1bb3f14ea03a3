package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// launchOnce is a program that launches a kernel, and prints what came of it.
const launchOnce = `#include <cuda_runtime.h>
#include <stdio.h>
__global__ void kernel(int *p) { *p = 42; }
int main() {
  int *d, v = 0;
  cudaError_t memory = cudaMalloc(&d, 4);
  kernel<<<1, 1>>>(d);
  cudaError_t launch = cudaGetLastError(), wait = cudaDeviceSynchronize();
  cudaMemcpy(&v, d, 4, cudaMemcpyDeviceToHost);
  printf("%s %s %s %d\n", cudaGetErrorName(memory), cudaGetErrorName(launch), cudaGetErrorName(wait), v);
  return 7;
}
`

// TestBrokenPrograms breaks the device code in the file of a program, and runs it:
// the launch fails, the reason is said, and all else goes on.
func TestBrokenPrograms(t *testing.T) {
	env := append(os.Environ(), cudaEnv(t)...)
	dir := t.TempDir()
	program := filepath.Join(dir, "once")
	if err := os.WriteFile(program+".cu", []byte(launchOnce), 0o666); err != nil {
		t.Fatal(err)
	}
	cc := exec.Command("heddle", "cc", program+".cu", "-o", program)
	cc.Env = env
	if out, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	whole, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(whole))
	if err != nil {
		t.Fatal(err)
	}
	code, wrapper := f.Section(".nv_fatbin"), f.Section(".nvFatBinSegment")
	if code == nil || wrapper == nil {
		t.Fatal("the program has no device code")
	}

	// A block of 16 bytes: magic, version, its own size, that of what follows.
	// Then an entry: kind, version, its header's size, that of the text, …
	const entry = 16
	le := binary.LittleEndian
	put := func(at int, n uint32) func([]byte) {
		return func(b []byte) { le.PutUint32(b[at:], n) }
	}
	from := func(at int, fill byte) func([]byte) {
		return func(b []byte) {
			for i := at; i < len(b); i++ {
				b[i] = fill
			}
		}
	}
	const (
		image, none, text = "cudaErrorInvalidKernelImage", "cudaErrorNoKernelImageForDevice", "cudaErrorInvalidPtx"
	)
	cases := []struct {
		name  string
		wrap  bool // the wrapper is broken, not the code
		spoil func(b []byte)
		want  string // the launch's error
		says  string
	}{
		{"whole", false, func([]byte) {}, "cudaSuccess", ""},
		{"other magic", false, put(0, 0x12345678), image, "begins with 0x12345678"},
		{"other header", false, put(4, 0x00ff0001), image, "a header of 255 bytes"},
		{"block of 4 GiB", false, put(8, 0xffffffff), image, "bytes of entries"},
		{"block of 1 GiB", false, put(8, 1<<30), image, "truncated"},
		{"block too short", false, put(8, 40), image, "too few for an entry"},
		{"block of nothing", false, put(8, 0), image, "fat binary"},
		{"machine code", false, put(entry, 0x00010002), none, "no PTX"},
		{"unknown kind", false, put(entry, 0x00010077), none, "no device code"},
		{"entry's header too large", false, put(entry+4, 1<<31), image, "the entry at offset 16"},
		{"entry's header too small", false, put(entry+4, 8), image, "the entry at offset 16"},
		{"text too large", false, put(entry+8, 1<<31), image, "the entry at offset 16"},
		{"for a GPU to come", false, put(entry+28, 999), none, "the program has PTX for sm_999"},
		{"LZ4 that is none", false, put(entry+40, 0x2000), image, "does not unpack"},
		{"zstd that is none", false, put(entry+40, 0x8000), image, "does not unpack"},
		{"no text", false, from(entry+64, 0), text, "once.ptx"},
		{"other text", false, from(entry+64, 'x'), text, "once.ptx"},
		{"half of the text", false, from(int(code.Size/2), 0), text, "once.ptx"},
		{"wrapper's magic", true, put(0, 0), image, "its wrapper begins with 0x00000000"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			broken := slices.Clone(whole)
			section := code
			if c.wrap {
				section = wrapper
			}
			c.spoil(broken[section.Offset : section.Offset+section.Size])
			file := filepath.Join(t.TempDir(), "once")
			if err := os.WriteFile(file, broken, 0o777); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("heddle", "cuda", "--mode", "functional", "--quiet", "--", file)
			cmd.Env = env
			var out, errs strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &errs
			err := cmd.Run()
			var exit *exec.ExitError
			value := 0
			if c.want == "cudaSuccess" {
				value = 42
			}
			want := fmt.Sprintf("cudaSuccess %s cudaSuccess %d\n", c.want, value)
			if !errors.As(err, &exit) || exit.ExitCode() != 7 || !strings.HasPrefix(out.String(), want) || !strings.Contains(errs.String(), c.says) {
				t.Errorf("%v, want exit code 7 of the program; it prints\n%swant\n%sand says\n%swant %q", err, &out, want, &errs, c.says)
			}
		})
	}
}
