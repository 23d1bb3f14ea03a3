package job

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/report"
)

// One block of 64 threads: two warps. Each line's accesses are known.
const accessesPTX = `.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 data)
{
 .reg .b64 %rd<8>;
 .reg .b32 %r<8>;
 .reg .pred %p<4>;
 .shared .align 4 .b8 s[8192];
 ld.param.u64 %rd1, [data];
 mov.u32 %r1, %tid.x;
 mul.wide.u32 %rd2, %r1, 4;
 add.u64 %rd3, %rd1, %rd2;
 ld.global.u32 %r2, [%rd3]; // adjacent
 mul.wide.u32 %rd2, %r1, 128;
 add.u64 %rd4, %rd1, %rd2;
 ld.global.u8 %r3, [%rd4]; // apart
 ld.global.u32 %r4, [%rd1]; // same
 shl.b32 %r5, %r1, 7;
 mov.u32 %r6, s;
 add.u32 %r5, %r5, %r6;
 st.shared.u32 [%r5], %r4; // conflicts
 setp.lt.u32 %p1, %r1, 16;
 @%p1 bra NEXT; // diverges in warp 0
 st.global.u32 [%rd3], %r2;
NEXT:
 setp.lt.u32 %p2, %r1, 32;
 @%p2 bra END; // by warp
 st.global.u32 [%rd3], %r3;
END:
 exit;
}
`

// What lies beside the lines: sectors, bank conflicts, outcomes of branches.
func TestAccesses(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"k.ptx": accessesPTX, "k.toml": `
program = "k.ptx"

[buffers.data]
type = "u32"
count = 4096

[[launches]]
kernel = "k"
grid = [1, 1, 1]
block = [64, 1, 1]
args = [{ buffer = "data" }]
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want := map[int]*report.Line{
		14: {Accesses: &report.Accesses{Requests: 2, Sectors: 8, LeastSectors: 8}},
		17: {Accesses: &report.Accesses{Requests: 2, Sectors: 64, LeastSectors: 2}},
		18: {Accesses: &report.Accesses{Requests: 2, Sectors: 2, LeastSectors: 8}},
		22: {Accesses: &report.Accesses{ConflictCycles: 62}},
		24: {Branches: &report.Branches{NotTaken: 1, Diverged: 1}},
		25: {Accesses: &report.Accesses{Requests: 2, Sectors: 6, LeastSectors: 6}},
		28: {Branches: &report.Branches{Taken: 1, NotTaken: 1}},
		29: {Accesses: &report.Accesses{Requests: 1, Sectors: 4, LeastSectors: 4}},
	}
	for _, gpu := range []string{"rtx-2060", "rtx-a6000"} {
		t.Run(gpu, func(t *testing.T) {
			got := map[int]*report.Line{}
			for _, l := range runTimed(t, filepath.Join(dir, "k.toml"), gpu).Kernels[0].Lines {
				if l.Accesses != nil || l.Branches != nil {
					got[l.Line] = &report.Line{Accesses: l.Accesses, Branches: l.Branches}
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}
