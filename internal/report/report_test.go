package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func sample() *Run {
	return &Run{
		Heddle: "1.2.3", Input: "job.toml", Programs: []string{"k.ptx"}, GPU: "v100", Mode: "functional", OK: false,
		Conditions:       map[string]any{"run.icache": "warm", "run.caches": "flushed"},
		WarpInstructions: 3000, ThreadInstructions: 80_000, Seconds: 0.25,
		Kernels: []Kernel{
			{Name: "first", Launch: 0, Grid: [3]int64{4096, 1, 1}, Block: [3]int64{16, 16, 1}, Registers: 20, SharedBytes: 2048, WarpInstructions: 1000, ThreadInstructions: 32_000},
			{Name: "second_kernel", Launch: 1, Stream: 3, Grid: [3]int64{1, 2, 3}, Block: [3]int64{32, 1, 1}, Registers: 8, WarpInstructions: 2000, ThreadInstructions: 48_000},
		},
		Checks: []Check{
			{Buffer: "a", Against: "a.bin", OK: true, Elements: 1_048_576},
			{Symbol: "s", Against: "values", Elements: 4, Mismatches: 2, Tolerance: 1e-6, First: &Mismatch{Index: 1, Got: "2.5", Want: "nan (0x7fc00000)"}},
		},
		Dumps: []Dump{{Buffer: "a", File: "out.bin", Bytes: 4_194_304}},
	}
}

func TestText(t *testing.T) {
	var b strings.Builder
	if err := sample().WriteText(&b); err != nil {
		t.Fatal(err)
	}
	want := `heddle 1.2.3  job.toml  functional  (k.ptx)
conditions  run.caches=flushed run.icache=warm

launch  kernel          grid  block  regs  shared  warp instr  thread instr    lanes
     0  first           4096  16×16    20   2 KiB       1,000        32,000  100.0 %
     1  second_kernel  1×2×3     32     8     0 B       2,000        48,000   75.0 %
────────────────────────────────────────────────────────────────────────────────────
        total                                           3,000        80,000   83.3 %

check     against   elements    tolerance  result
a         a.bin    1,048,576  bit for bit  ✓ ok
symbol s  values           4        1e-06  ✗ FAILED: 2 mismatches; the first is [1]: got 2.5, want nan (0x7fc00000)

a: 4,194,304 bytes to out.bin

done in 250.0 ms, 320.0 thousand thread instructions a second: 1 of 2 checks FAILED
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestSummary(t *testing.T) {
	for _, c := range []struct {
		change func(*Run)
		want   string
	}{
		{func(r *Run) { r.Checks = r.Checks[:1] }, "done in 250.0 ms, 320.0 thousand thread instructions a second: 1 check ok"},
		{func(r *Run) { r.Checks = nil }, "done in 250.0 ms, 320.0 thousand thread instructions a second; the job has no checks"},
		{func(r *Run) { r.Checks, r.LeftOut = nil, 1 }, "done in 250.0 ms, 320.0 thousand thread instructions a second; no check covers what ran"},
		{func(r *Run) { r.Checks, r.Input, r.Programs = nil, "p.kasm", []string{"p.kasm"} }, "done in 250.0 ms, 320.0 thousand thread instructions a second"},
		{func(r *Run) { r.Checks, r.Error = nil, &Failure{Kind: "fault"} }, "stopped in 250.0 ms, 320.0 thousand thread instructions a second"},
		{func(r *Run) { r.Checks, r.Error, r.Seconds = nil, &Failure{Kind: "interrupted"}, 0 }, "interrupted in 0 µs"},
		{func(r *Run) {
			r.Checks, r.Error, r.Seconds = nil, &Failure{Kind: "signal", Message: "ended by signal 6 (aborted)"}, 0
		}, "ended by signal 6 (aborted) in 0 µs"},
	} {
		r := sample()
		c.change(r)
		if got := r.Summary(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// A run of many launches shows them together.
func TestManyLaunches(t *testing.T) {
	r := &Run{}
	for i := range 30 {
		r.Kernels = append(r.Kernels, Kernel{Name: "a", Launch: i, Grid: [3]int64{1, 1, 1}, Block: [3]int64{32, 1, 1}, WarpInstructions: 1})
	}
	if rows := r.rows(); len(rows) != 1 || rows[0].count != 30 || rows[0].WarpInstructions != 30 || !rows[0].same {
		t.Errorf("%+v", rows)
	}
	for i := range 30 {
		r.Kernels[i].Name = fmt.Sprint("k", i%3)
		r.Kernels[i].Grid[0] = int64(1 + i/6)
	}
	rows := r.rows()
	if len(rows) != 3 || rows[2].count != 10 || rows[2].same {
		t.Errorf("%+v", rows)
	}
	var b strings.Builder
	r.kernelTable(&b)
	if !strings.Contains(b.String(), "10 of 2–29  k2      various") {
		t.Error(b.String())
	}
}

// The names of JSON fields are a contract.
func TestJSON(t *testing.T) {
	var b strings.Builder
	r := sample()
	launch, pc := 1, 7
	r.Error = &Failure{Kind: "fault", Message: "a <b> c", Kernel: "first", Launch: &launch, Block: &[3]uint32{1, 2, 3}, Thread: &[3]uint32{}, PC: &pc, Line: 9}
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"heddle", "gpu", "mode", "ok", "conditions", "warp_instructions", "thread_instructions", "seconds", "kernels", "checks"} {
		if _, ok := got[key]; !ok {
			t.Errorf("no field %q", key)
		}
	}
	kernel := got["kernels"].([]any)[1].(map[string]any)
	for key, want := range map[string]any{"name": "second_kernel", "launch": 1., "stream": 3., "grid": []any{1., 2., 3.}, "block": []any{32., 1., 1.},
		"warp_instructions": 2000., "thread_instructions": 48000., "registers": 8.} {
		if !cmp.Equal(kernel[key], want) {
			t.Errorf("kernel: %s is %v, want %v", key, kernel[key], want)
		}
	}
	if !strings.Contains(b.String(), `"message": "a <b> c"`) || !strings.HasSuffix(b.String(), "}\n") {
		t.Error(b.String())
	}
}

func TestUnits(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Count(0), "0"}, {Count(999), "999"}, {Count(1000), "1,000"}, {Count(1234567), "1,234,567"},
		{Bytes(0), "0 B"}, {Bytes(1023), "1023 B"}, {Bytes(1024), "1 KiB"}, {Bytes(1536), "1.5 KiB"}, {Bytes(48 << 10), "48 KiB"}, {Bytes(1 << 60), "1048576 TiB"},
		{Rate(12), "12"}, {Rate(1500), "1.5 thousand"}, {Rate(2.5e6), "2.5 million"}, {Rate(3e9), "3.00 billion"},
		{Duration(1500 * time.Nanosecond), "1 µs"}, {Duration(2 * time.Millisecond), "2.0 ms"}, {Duration(1234 * time.Millisecond), "1.23 s"},
		{Duration(61 * time.Second), "1 min 01 s"}, {Duration(3 * time.Hour), "3 h 00 min"},
		{Plural(1, "check", "checks"), "1 check"}, {Plural(2000, "check", "checks"), "2,000 checks"},
		{Wrap([]string{"aa", "bb", "cc"}, 8, 2), "aa,\n  bb,\n  cc"}, {Wrap([]string{"aa", "bb", "cc"}, 80, 2), "aa, bb, cc"}, {Wrap(nil, 9, 2), ""},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// TestRangeTable: ranges are listed below the ranges around them; cycles only if time was
// simulated.
func TestRangeTable(t *testing.T) {
	inner := &Range{Name: "inner", Times: 3, Launches: 2, WarpInstructions: 1000, ThreadInstructions: 32000, Cycles: 7}
	r := &Run{Ranges: []*Range{{Name: "outer", Times: 1, Launches: 4, WarpInstructions: 2000, ThreadInstructions: 64000, Cycles: 12345, Ranges: []*Range{inner}}, {Name: "empty", Times: 1}}}
	for _, c := range []struct {
		timing *Timing
		want   string
	}{
		{nil, `
range    times  launches  warp instr  thread instr
outer        1         4       2,000        64,000
  inner      3         2       1,000        32,000
empty        1         0           0             0
`},
		{&Timing{}, `
range    times  launches  warp instr  thread instr  kernel cycles
outer        1         4       2,000        64,000         12,345
  inner      3         2       1,000        32,000              7
empty        1         0           0             0              0
`},
	} {
		r.Timing = c.timing
		var b strings.Builder
		r.rangeTable(&b)
		if b.String() != c.want {
			t.Errorf("%s\nwant\n%s", &b, c.want)
		}
	}
}
