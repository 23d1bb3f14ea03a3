package config

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/compile/machine"
	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/core/modern"
	"github.com/heddle-sim/heddle/internal/isa"
)

// The GPUs of the modern core have the parts listed in the paper (its Table 4).
func TestModernGPUsAgainstThePaper(t *testing.T) {
	for _, r := range []struct {
		gpu, arch  string
		mhz        int
		memory     float64 // MHz
		sms        int
		warps      int // of an SM
		l1         int // KiB, with shared memory
		partitions int
		l2         float64 // MiB
	}{
		{"rtx-3080", "ampere", 1710, 9500, 68, 48, 128, 20, 5},
		{"rtx-3080-ti", "ampere", 1365, 9500, 80, 48, 128, 24, 6},
		{"rtx-3090", "ampere", 1395, 9750, 82, 48, 128, 24, 6},
		{"rtx-a6000", "ampere", 1800, 8000, 84, 48, 128, 24, 6},
		{"rtx-2070-super", "turing", 1605, 7000, 40, 32, 96, 16, 4},
		{"rtx-2080-ti", "turing", 1350, 7000, 68, 32, 96, 22, 5.5},
		{"rtx-5070-ti", "blackwell", 2580, 14000, 70, 48, 128, 16, 48},
	} {
		g, err := Load(r.gpu)
		if err != nil {
			t.Error(err)
			continue
		}
		// The table gives the DRAM's data rate in one of two units.
		rate := float64(g.Clocks.DRAM) / 1e6 * float64(g.DRAM.DataRatio)
		if rate != 2*r.memory {
			t.Errorf("%s: memory runs at %v MT/s, the table has %v", r.gpu, rate, r.memory)
		}
		got := []any{r.arch == g.Architecture, int(g.Clocks.Core / 1e6), g.SMs(), g.SM.Threads / 32, g.L1D.Unified, g.Chip.Channels, float64(g.L2Bytes()) / (1 << 20)}
		want := []any{true, r.mhz, r.sms, r.warps, r.l1, r.partitions, r.l2}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: table (-), GPU (+):\n%s", r.gpu, d)
		}
	}
}

// The core's package and the files have the same values.
func TestModernGPUsAgainstTheirCore(t *testing.T) {
	for _, tt := range []struct {
		gpu  string
		want modern.Config
	}{{"rtx-a6000", modern.Ampere()}, {"rtx-2080-ti", modern.Turing()}} {
		g, err := Load(tt.gpu)
		if err != nil {
			t.Fatal(err)
		}
		c := g.CoreConfig().(*modern.Config)
		if err := c.Check(); err != nil {
			t.Errorf("%s: %v", tt.gpu, err)
		}
		// What is in other tables.
		c.L1I.Name, c.L1D.Name, c.L1D.MaxWays, c.L1D.WriteRatio = tt.want.L1I.Name, tt.want.L1D.Name, tt.want.L1D.MaxWays, tt.want.L1D.WriteRatio
		c.L1I.MSHR = tt.want.L1I.MSHR // for lines without sectors both words mean the same
		c.SMs, c.Blocks, c.SharedGranule = tt.want.SMs, tt.want.Blocks, tt.want.SharedGranule
		if d := cmp.Diff(&tt.want, c); d != "" {
			t.Errorf("%s: package modern (-), settings (+):\n%s", tt.gpu, d)
		}
	}
}

// Every field of the core's parameters has a key that changes it and nothing else.
func TestEachModernFieldHasAKey(t *testing.T) {
	g, err := Load("rtx-a6000")
	if err != nil {
		t.Fatal(err)
	}
	base := *g.params("modern").(*modern.Params)
	changed := map[string]bool{}
	for i := range keys() {
		k := &keys()[i]
		if k.Root != "modern" {
			continue
		}
		x := g.clone()
		other(t, x, k)
		n := 0
		a, b := reflect.ValueOf(base), reflect.ValueOf(*x.params("modern").(*modern.Params))
		for i := range a.NumField() {
			if !reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
				changed[a.Type().Field(i).Name] = true
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s changes %d fields", k.Name, n)
		}
	}
	for f := range reflect.TypeFor[modern.Params]().Fields() {
		if !changed[f.Name] {
			t.Errorf("no key changes %s", f.Name)
		}
	}
	// Classes with other timing have no times.
	for c := range isa.Classes {
		has := keyAt("modern.time."+c.String()+".latency") != nil
		if has == (modern.Ampere().Time[c] == modern.Timing{}) {
			t.Errorf("class %v has a key: %v", c, has)
		}
	}
}

// A saved file names the GPU from which each value was taken. Once a value is
// edited, that GPU is no longer its source, nor are the core's parameters that
// GPU's.
func TestEditedAfterSaving(t *testing.T) {
	g, err := Load("rtx-2060")
	if err != nil {
		t.Fatal(err)
	}
	for _, core := range []string{"modern", "simt"} { // its own, unchanged, with a lent table
		if err := g.SetCore(core); err != nil {
			t.Fatal(err)
		}
	}
	var saved bytes.Buffer
	if err := g.WriteTOML(&saved); err != nil {
		t.Fatal(err)
	}
	key, at := "", 0
	lines := strings.Split(saved.String(), "\n")
	table := ""
	for i, l := range lines {
		if strings.HasPrefix(l, "[") {
			table = strings.Trim(l, "[]")
		}
		if name, _, ok := strings.Cut(l, " = "); ok && table == "modern" && name == "queue_fixed" || ok && table == "modern" && key == "" && strings.Contains(l, " = 4 ") && strings.Contains(l, asOf) {
			key, at = table+"."+name, i
		}
	}
	if key == "" {
		t.Fatalf("no value of the modern core is lent:\n%s", saved.String())
	}
	for _, c := range []struct {
		name, value string
		lender      string
		commented   bool // the comment is still the value's source
	}{
		{"as it was saved", "", "rtx-2070-super", true},
		{"edited", "3", "", false},
	} {
		edited := slices.Clone(lines)
		if c.value != "" {
			name, rest, _ := strings.Cut(edited[at], " = ")
			_, comment, _ := strings.Cut(rest, "#")
			edited[at] = name + " = " + c.value + "  #" + comment
		}
		back, err := ReadTOML("mine.toml", strings.Join(edited, "\n"))
		if err != nil {
			t.Fatal(err)
		}
		source := back.Source(key)
		if strings.Contains(source, asOf) != c.commented || !c.commented && source != fmt.Sprintf("mine.toml:%d", at+1) {
			t.Errorf("%s: %s is from %q", c.name, key, source)
		}
		if err := back.SetCore("modern"); err != nil {
			t.Fatal(err)
		}
		if got := back.CoreFrom(); got != c.lender {
			t.Errorf("%s: the core has the parameters of %q, want %q", c.name, got, c.lender)
		}
	}
}

// TestEditedUnderAFile: the lender of a saved value may be a file, which may have
// changed since or be gone. Then it is unknown whether the value is still the
// lender's, so its source is its line.
func TestEditedUnderAFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("base.toml", "extends = \"rtx-2060\"\nname = \"house-gpu\"\n[sm]\nblocks = 8\n")
	g, err := Load(write("mine.toml", "extends = \"base.toml\"\nname = \"mine\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Source("sm.blocks"); got != "base.toml:4 (as house-gpu)" {
		t.Fatalf("before it is saved, sm.blocks is from %q", got)
	}
	var saved bytes.Buffer
	if err := g.WriteTOML(&saved); err != nil {
		t.Fatal(err)
	}
	const line = "blocks = 8  # base.toml:4 (as house-gpu)"
	before, _, ok := strings.Cut(saved.String(), line)
	if !ok {
		t.Fatalf("the saved file lacks %q:\n%s", line, saved.String())
	}
	want := fmt.Sprintf("saved.toml:%d", 1+strings.Count(before, "\n"))
	for _, value := range []string{"8", "4"} {
		back, err := ReadTOML("saved.toml", strings.Replace(saved.String(), line, strings.Replace(line, "8", value, 1), 1))
		if err != nil {
			t.Fatal(err)
		}
		if got := back.Source("sm.blocks"); got != want {
			t.Errorf("sm.blocks = %s is from %q, want %q", value, got, want)
		}
	}
}

// --core takes the parameters of the most similar GPU, and says so.
func TestSetCore(t *testing.T) {
	for _, tt := range []struct{ gpu, core, from string }{
		{"rtx-3070", "modern", "rtx-3080"}, {"rtx-2060", "modern", "rtx-2070-super"}, {"v100", "modern", "rtx-2080-ti"},
		{"gtx-480", "modern", "rtx-2070-super"}, {"titan-x-pascal", "modern", "rtx-2070-super"},
		{"rtx-a6000", "modern", ""}, {"rtx-5070-ti", "modern", ""}, {"rtx-3070", "simt", ""},
		{"rtx-a6000", "simt", "rtx-3070"}, {"rtx-2080-ti", "simt", "rtx-2060"}, {"rtx-5070-ti", "simt", "rtx-3070"},
	} {
		g, err := Load(tt.gpu)
		if err != nil {
			t.Fatal(err)
		}
		own := g.Core == tt.core
		if err := g.SetCore(tt.core); err != nil {
			t.Fatal(err)
		}
		want := tt.from
		if own {
			want = ""
		}
		if g.Core != tt.core || g.CoreFrom() != want {
			t.Errorf("%s on %s: has the parameters of %q, want %q", tt.gpu, tt.core, g.CoreFrom(), want)
		}
		if err := g.Check(); err != nil {
			t.Errorf("%s on %s: %v", tt.gpu, tt.core, err)
		}
		if want == "" {
			continue
		}
		from, err := Load(want)
		if err != nil {
			t.Fatal(err)
		}
		for i := range keys() {
			k := &keys()[i]
			if !strings.HasPrefix(k.Name, tt.core+".") {
				continue
			}
			if a, b := g.format(k), from.format(k); a != b {
				t.Errorf("%s on %s: %s = %s, %s has %s", tt.gpu, tt.core, k.Name, a, want, b)
			}
			if s := g.Source(k.Name); !strings.HasPrefix(s, byDefault) && !strings.Contains(s, " (as ") {
				t.Errorf("%s on %s: %s comes from %q", tt.gpu, tt.core, k.Name, s)
			}
		}
		checkSurvives(t, g)
	}
	g, err := Load("rtx-a6000")
	if err != nil {
		t.Fatal(err)
	}
	if err := g.SetCore("kepler"); err == nil || !strings.Contains(err.Error(), "want one of simt, modern") {
		t.Errorf("another core: %v", err)
	}
}

// The simulator's own configurations become modern cores, and our GPUs have the
// same values where they name one of them as their source.
func TestModernConfigurations(t *testing.T) {
	for name, folder := range map[string]string{
		"rtx-3080": "SM86_RTX3080", "rtx-3080-ti": "SM86_RTX3080_TI", "rtx-3090": "SM86_RTX3090", "rtx-a6000": "SM86_RTXA6000_InstPref_8",
		"rtx-2070-super": "SM75_RTX2070_S", "rtx-2080-ti": "SM75_RTX2080_TI", "rtx-5070-ti": "SM120_RTX5070_TI",
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(reference, "configs-modern", folder)
			want, options, err := LoadWithOptions(dir)
			if err != nil {
				t.Fatal(err)
			}
			if want.Core != "modern" {
				t.Fatalf("core %s", want.Core)
			}
			set := map[string]bool{}
			for _, o := range options {
				for _, k := range o.Keys {
					set[k] = true
				}
			}
			got, err := Load(name)
			if err != nil {
				t.Fatal(err)
			}
			same := 0
			for i := range keys() {
				k := &keys()[i]
				src := got.Source(k.Name)
				// Values from the paper, a data sheet or elsewhere may differ; the
				// comment says so.
				if !strings.HasPrefix(src, "SM") || strings.Contains(src, "RTX3070") || strings.Contains(src, "RTX2060") || strings.Contains(src, "has no ") {
					continue
				}
				a, b := got.format(k), want.format(k)
				if k.Root == "modern" && !set[k.Name] && strings.HasPrefix(want.Source(k.Name), byDefault) {
					continue // we have no such option
				}
				if a != b {
					t.Errorf("%s = %s (%s), %s has %s (%s)", k.Name, a, src, folder, b, want.Source(k.Name))
				}
				same++
			}
			if same < 50 {
				t.Errorf("only %d values name a configuration as their source", same)
			}
			checkSurvives(t, want)
		})
	}
}

// Peaks are those of the data sheets, at each file's clock: flops a cycle and SM.
func TestModernPeaks(t *testing.T) {
	for _, tt := range []struct {
		gpu                        string
		f32, f64, tensor32, tensor int
	}{
		{"rtx-a6000", 256, 4, 1024, 1024},  // GA102 white paper: 154.8 Tflop/s with both
		{"rtx-3080", 256, 4, 512, 1024},    // GA102 white paper: 59.5 and 119
		{"rtx-2080-ti", 128, 4, 512, 1024}, // Turing white paper: 53.8 and 107.6
		{"rtx-5070-ti", 256, 4, 512, 1024}, // Blackwell white paper: 87.9 and 175.8
		{"rtx-5090", 256, 4, 512, 1024},    // Blackwell white paper: 209.5 and 419
	} {
		g, err := Load(tt.gpu)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, d := range g.Derived() {
			got[d.Name] = d.Value
		}
		flops := func(n int) string { return core.PerGiga(int64(n) * int64(g.SMs()) * int64(g.Clocks.Core)) }
		for name, want := range map[string]string{
			"f32 peak": flops(tt.f32) + " Gflop/s (", "f64 peak": flops(tt.f64) + " Gflop/s (",
			"tensor peak": flops(tt.tensor32) + " Gflop/s with f32 accumulators, " + flops(tt.tensor) + " with f16",
		} {
			if !strings.HasPrefix(got[name], want) {
				t.Errorf("%s: %s %q, want %q", tt.gpu, name, got[name], want)
			}
		}
	}
}

// TestContracts: for GPUs of the generations that code is compiled for, the core's values are those that
// the compiler assumes where no machine is named.
func TestContracts(t *testing.T) {
	n := 0
	for _, name := range Names() {
		g, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		c := g.ChipConfig()
		if x, ok := c.Core.(core.ControlBits); ok && (c.Arch/10 == 8 || c.Arch == 75) {
			if n++; x.Contract() != machine.Ampere {
				t.Errorf("%s: %+v, want %+v", name, x.Contract(), machine.Ampere)
			}
		}
	}
	if n == 0 {
		t.Error("no GPU is of that generation")
	}
}
