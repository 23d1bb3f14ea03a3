package job

import (
	"path/filepath"
	"testing"

	"github.com/heddle-sim/heddle/internal/run"
)

// spin writes a job of two launches, of 960 and of 2,880 threads that count, with one block on an
// SM at a time.
func spin(t *testing.T) string {
	t.Helper()
	dir := writeFiles(t, map[string]string{
		"spin.ptx": `.version 7.8
.target sm_80
.address_size 64
.visible .entry spin()
{
.reg .b32 %r<3>;
.reg .pred %p<2>;
mov.u32 %r1, 1500;
again:
sub.u32 %r1, %r1, 1;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra again;
exit;
}
`,
		"spin.toml": `program = "spin.ptx"
[[launches]]
kernel = "spin"
grid = [30]
block = [32]
shared = 40960
[[launches]]
kernel = "spin"
grid = [90]
block = [32]
shared = 40960
`,
	})
	return filepath.Join(dir, "spin.toml")
}

// TestProgress: the share of the run that is done grows by the threads of the launches, and
// says what runs.
func TestProgress(t *testing.T) {
	file := spin(t)
	for _, c := range []struct {
		name, gpu string
		o         Options
	}{
		{"functional", "", Options{Threads: 1}},
		{"on a chip", "rtx-2060", Options{Threads: 1, Timing: true, GPU: "rtx-2060"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var list []run.Progress
			c.o.Progress = func(p run.Progress) { list = append(list, p) }
			ready, err := Load(file, c.o)
			if err != nil {
				t.Fatal(err)
			}
			if res, err := ready.Run(t.Context(), c.o); err != nil || !res.OK {
				t.Fatal(err)
			}
			before, seen := 0.0, [2]bool{}
			for _, p := range list {
				if p.Input != file || p.GPU != c.gpu || p.Each != "launch" || p.Launches != 2 || p.Kernel != "spin" {
					t.Fatalf("%+v", p)
				}
				// 960 of 3,840 threads are in the first launch.
				least, most := 0.0, 0.25
				if p.Launch == 1 {
					least, most = 0.25, 1
				}
				if p.Share < max(least, before) || p.Share > most {
					t.Errorf("%.3f is done after %.3f, with %d of %d blocks of launch %d", p.Share, before, p.Blocks, p.Total, p.Launch)
				}
				before = p.Share
				seen[p.Launch] = seen[p.Launch] || p.Share > least
			}
			if !seen[1] {
				t.Errorf("no share of the second launch in %d calls", len(list))
			}
		})
	}
}
