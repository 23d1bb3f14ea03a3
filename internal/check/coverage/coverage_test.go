package coverage_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/check/coverage"
	hexec "github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/exec/ptx"
	parser "github.com/heddle-sim/heddle/internal/isa/ptx"
)

// text has a function that only some threads call, at lines 2 and 3, and a kernel whose
// warps diverge, loop, select among targets and exit early.
const text = `.version 7.0
.target sm_70
.address_size 64
.file 1 "src/ways.cu"
.file 2 "/usr/lib/llvm-19/lib/clang/19/include/__clang_cuda_intrinsics.h"
.func helper(.reg .u32 %a)
{
  .reg .u32 %x;
  .reg .pred %p;
  .loc 1 2 0
  setp.lt.u32 %p, %a, 8;
  @%p ret;
  .loc 1 3 0
  add.u32 %x, %a, 1;
  ret;
}
.entry ways()
{
  .reg .u32 %r<8>;
  .reg .pred %p<4>;
  .loc 1 10 0
  mov.u32 %r0, %tid.x;
  setp.ge.u32 %p0, %r0, 24;
  .loc 1 11 0
  @%p0 exit;
  .loc 2 100 0
  and.b32 %r1, %r0, 3;
  .loc 1 12 0
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra CALL;
  .loc 1 13 0
  mov.u32 %r2, 0;
LOOP:
  .loc 1 14 0
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p2, %r2, %r1;
  @%p2 bra LOOP;
  .loc 1 15 0
  bra.uni JOIN;
CALL:
  .loc 1 16 0
  call helper, (%r0);
JOIN:
  .loc 1 17 0
T: .branchtargets A, B, C, D;
  brx.idx %r1, T;
A:
  .loc 1 20 0
  bra.uni END;
B:
  .loc 1 21 0
  bra.uni END;
C:
  .loc 1 22 0
  mov.u32 %r3, 0;
D:
  .loc 1 23 0
  mov.u32 %r3, 1;
END:
  .loc 1 30 0
  setp.gt.u32 %p3, %r0, 100;
  @%p3 bra LOOP;
  ret;
}
`

// run runs the kernel with 2 blocks of 32 threads, and returns the threads' instructions as
// the executor counts them.
func run(t *testing.T, c *hexec.Coverage, threads int) uint64 {
	t.Helper()
	m, err := parser.Parse("ways.ptx", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	prog, err := ptx.Link(m)
	if err != nil {
		t.Fatal(err)
	}
	machine, err := ptx.NewMachine(prog, device.New(device.Config{}))
	if err != nil {
		t.Fatal(err)
	}
	l := hexec.Launch{Kernel: prog.Kernels()[0], Grid: hexec.Dim3{X: 2, Y: 1, Z: 1}, Block: hexec.Dim3{X: 32, Y: 1, Z: 1}, Coverage: c}
	res, err := machine.Run(t.Context(), l, hexec.Options{Threads: threads})
	if err != nil {
		t.Fatal(err)
	}
	return res.ThreadInsts
}

// TestThreads: what follows from the counts at branches agrees with the executor's own count
// of instructions, with what leaves each block, and with what the kernel does.
func TestThreads(t *testing.T) {
	for _, threads := range []int{1, 2} {
		c := &hexec.Coverage{}
		insts := run(t, c, threads)
		if plain := run(t, nil, threads); plain != insts {
			t.Errorf("%d instructions with coverage, %d without", insts, plain)
		}
		sum := uint64(0)
		for _, f := range c.Counts() {
			for pc, n := range coverage.Threads(f) {
				if left := f.Taken[pc] + f.Passed[pc]; left > 0 && left != n {
					t.Errorf("%s: %d threads reach instruction %d, and %d leave it", f.Name, n, pc, left)
				}
				if f.Code[pc].Guarded {
					n = f.Taken[pc]
				}
				sum += n
			}
		}
		if sum != insts {
			t.Errorf("the counts amount to %d instructions of threads, want %d", sum, insts)
		}
	}
}

// lcov is what 2 blocks of 32 threads do: 24 of 32 stay, of which 6 have each rest by 4.
const lcov = `TN:
SF:src/ways.cu
FN:2,helper
FN:10,ways
FNDA:12,helper
FNDA:64,ways
FNF:2
FNH:2
BRDA:12,0,0,12
BRDA:12,0,1,36
BRDA:14,0,0,36
BRDA:14,0,1,36
BRDA:30,0,0,0
BRDA:30,0,1,48
BRF:6
BRH:5
DA:2,12
DA:3,8
DA:10,64
DA:11,64
DA:12,48
DA:13,36
DA:14,72
DA:15,36
DA:16,12
DA:17,48
DA:20,12
DA:21,12
DA:22,12
DA:23,24
DA:30,48
LF:15
LH:15
end_of_record
`

func TestLCOV(t *testing.T) {
	c := &hexec.Coverage{}
	run(t, c, 2)
	d := coverage.Of(c)
	var b strings.Builder
	if err := d.WriteLCOV(&b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(lcov, b.String()); diff != "" {
		t.Error(diff)
	}

	// Processes keep theirs in a folder; the counts add up.
	dir := t.TempDir()
	for range 2 {
		if err := d.Keep(dir); err != nil {
			t.Fatal(err)
		}
	}
	all, err := coverage.ReadAll(dir)
	if err != nil {
		t.Fatal(err)
	}
	d.Merge(coverage.Of(c))
	if diff := cmp.Diff(d, all); diff != "" {
		t.Error(diff)
	}
}

// TestGenhtml: lcov's own program reads what is written.
func TestGenhtml(t *testing.T) {
	genhtml, err := exec.LookPath("genhtml")
	if err != nil {
		t.Skip("genhtml is not installed")
	}
	dir := t.TempDir()
	c := &hexec.Coverage{}
	run(t, c, 1)
	var b strings.Builder
	if err := coverage.Of(c).WriteLCOV(&b); err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(dir, "src", "ways.cu")
	if err := os.Mkdir(filepath.Dir(source), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(source, []byte(strings.Repeat("// a line\n", 40)), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "cov.info"), []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(genhtml, "--branch-coverage", "-o", "html", "cov.info")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"15 of 15 lines", "2 of 2 functions", "5 of 6 branches"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("genhtml does not say %q:\n%s", want, out)
		}
	}
}
