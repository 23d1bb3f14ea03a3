package config

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/mem/noc"
)

func TestLibrary(t *testing.T) {
	for _, n := range Names() {
		t.Run(n, func(t *testing.T) {
			g, err := Load(n)
			if err != nil {
				t.Fatal(err)
			}
			if g.Name != n || g.Description == "" {
				t.Errorf("name %q, description %q", g.Name, g.Description)
			}
			for i := range keys() {
				if g.Source(keys()[i].Name) == "" {
					t.Errorf("%s has no source", keys()[i].Name)
				}
				if s := g.Source(keys()[i].Name); strings.HasPrefix(s, n+".toml:") {
					t.Errorf("%s has no source but its line: %s", keys()[i].Name, s)
				}
			}
			if g.Compat != (Compat{}) {
				t.Errorf("quirks are on: %+v", g.Compat)
			}
			checkSurvives(t, g)
		})
	}
}

// Figures of the vendor's data sheets that are in none of the files.
func TestDerivedAgainstDataSheets(t *testing.T) {
	tests := []struct{ gpu, sms, flops, doubles, l2, dram string }{
		{"gtx-480", "15", "1344.0 Gflop/s", "", "768 KiB", "177.4 GB/s"},
		{"titan-x-pascal", "28", "10157.1 Gflop/s", "", "3072 KiB", "480.0 GB/s"},
		{"rtx-2060", "30", "5241.6 Gflop/s", "163.8 Gflop/s", "3072 KiB", "336.0 GB/s"},
		{"rtx-3070", "46", "", "", "4096 KiB", "448.1 GB/s"},           // runs at a lower clock than the card
		{"v100", "80", "", "5795.8 Gflop/s", "6144 KiB", "870.4 GB/s"}, // likewise
		{"rtx-a6000", "84", "38707.2 Gflop/s", "604.8 Gflop/s", "6144 KiB", "768.0 GB/s"},
		{"h100-pcie", "114", "51217.9 Gflop/s", "", "51200 KiB", "2039.0 GB/s"},
	}
	for _, tt := range tests {
		g, err := Load(tt.gpu)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, d := range g.Derived() {
			got[d.Name] = d.Value
		}
		for name, want := range map[string]string{"SMs": tt.sms, "f32 peak": tt.flops, "f64 peak": tt.doubles, "L2": tt.l2, "DRAM bandwidth": tt.dram} {
			if !strings.HasPrefix(got[name], want) {
				t.Errorf("%s: %s = %s, want %s", tt.gpu, name, got[name], want)
			}
		}
	}
}

// checkSurvives uses a GPU in all ways, and writes and reads it.
func checkSurvives(t *testing.T, g *GPU) {
	t.Helper()
	var out bytes.Buffer
	if err := g.WriteTOML(&out); err != nil {
		t.Fatal(err)
	}
	if g.Check() == nil {
		c := g.ChipConfig()
		if err := c.Check(); err != nil {
			t.Error(err)
		}
	}
	back, err := ReadTOML("written.toml", out.String())
	if err != nil {
		t.Fatalf("what is written cannot be read: %v\n%s", err, out.String())
	}
	for i := range keys() {
		k := &keys()[i]
		if g.pointless(k) {
			continue
		}
		if a, b := g.format(k), back.format(k); a != b {
			t.Errorf("%s = %s, written and read %s", k.Name, a, b)
		}
		if a, b := g.Source(k.Name), back.Source(k.Name); a != b {
			t.Errorf("source of %s = %q, written and read %q", k.Name, a, b)
		}
	}
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestExtends(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "base.toml", "extends = \"rtx-3070\"\nname = \"base\"\n[l2]\nways = 8 # half\n")
	file := write(t, dir, "mine.toml", "extends = \"base.toml\"\nname = \"mine\"\n[chip]\nclusters = 2\n[run]\nlaunch_latency = 1_000\n")
	g, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string][2]string{
		"name":               {`"mine"`, "mine.toml:2"},
		"chip.clusters":      {"2", "mine.toml:4"},
		"run.launch_latency": {"1000", "mine.toml:6"},
		"l2.ways":            {"8", "half (as base)"},
		"l2.sets":            {"64", "SM86_RTX3070 -gpgpu_cache:dl2 (as rtx-3070)"},
	} {
		if v, _ := g.Value(key); v != want[0] || g.Source(key) != want[1] {
			t.Errorf("%s = %s  # %s, want %s  # %s", key, v, g.Source(key), want[0], want[1])
		}
	}
	base, err := Load("rtx-3070")
	if err != nil {
		t.Fatal(err)
	}
	if base.L2.Ways != 16 || base.Source("l2.ways") != "SM86_RTX3070 -gpgpu_cache:dl2" {
		t.Errorf("the extended GPU has changed: %d, %s", base.L2.Ways, base.Source("l2.ways"))
	}
}

func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.toml", `extends = "b.toml"`)
	write(t, dir, "b.toml", `extends = "a.toml"`)
	write(t, dir, "self.toml", `extends = "self.toml"`)
	for i, c := range "0123456789" {
		next := "rtx-3070"
		if i < 9 {
			next = "deep" + string(c+1) + ".toml"
		}
		write(t, dir, "deep"+string(c)+".toml", "extends = \""+next+"\"")
	}
	write(t, dir, "long.toml", "# "+strings.Repeat("x", maxFile))
	write(t, dir, "text.txt", "hello")
	write(t, dir, "bad.toml", "extends = \"rtx-3070\"\n[l2]\nsets = 63\n")
	tests := []struct{ name, want string }{
		{"rtx-307", `unknown GPU "rtx-307"; did you mean "rtx-3070"?`},
		{"abacus", `unknown GPU "abacus"; there are: b200, gh200, gtx-480, `},
		{filepath.Join(dir, "none.toml"), "no such file"},
		{filepath.Join(dir, "a.toml"), "extends itself"},
		{filepath.Join(dir, "self.toml"), "extends itself"},
		{filepath.Join(dir, "deep0.toml"), "extends chain longer than 8 files"},
		{filepath.Join(dir, "long.toml"), "it is not a configuration file"},
		{filepath.Join(dir, "text.txt"), "want a GPU in TOML"},
		{filepath.Join(dir, "bad.toml"), "not 63"},
		{dir, "has no gpgpusim.config"},
		{"/dev/null/x.toml", "not a directory"},
	}
	for _, tt := range tests {
		if _, err := Load(tt.name); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %s", tt.name, err, tt.want)
		}
	}
	if g, err := Load(filepath.Join(dir, "deep3.toml")); err != nil || g.Chip.Clusters != 46 {
		t.Errorf("eight files that extend each other: %v", err)
	}
}

func TestReadTOMLErrors(t *testing.T) {
	const head = "extends = \"rtx-3070\"\n"
	tests := []struct{ text, want string }{
		{head + "[l2]\n  way = 3\n", `f.toml:3:3: unknown key "l2.way"; did you mean "l2.ways"?`},
		{head + "[cache]\nsize = 3\n", `f.toml:3:1: unknown key "cache.size"`},
		{head + "[l2]\nways = \"many\"\n", `f.toml:3:1: l2.ways = "many" is invalid; want a whole number from 1 to 65536`},
		{head + "[l2]\nways = 0\n", "f.toml:3:1: l2.ways = 0 is out of bounds: want 1 to 65536"},
		{head + "[l2]\nways = -1\n", "out of bounds"},
		{head + "[l2]\nways = 1.5\n", "want a whole number"},
		{head + "[l2]\nways = [1]\n", "want a whole number"},
		{head + "[l2]\nindex = \"ipolly\"\n", `l2.index = "ipolly" is not known; did you mean "ipoly"?`},
		{head + "[l2]\nindex = \"qqqqqqqq\"\n", `want "linear", "xor", "ipoly", "fermi", "zero"`},
		{head + "[l2]\nenabled = 1\n", "want true or false"},
		{head + "[clocks]\ncore = \"fast\"\n", "want a frequency in MHz"},
		{head + "[clocks]\ncore = inf\n", "want a frequency"},
		{head + "[clocks]\ncore = nan\n", "want a frequency"},
		{head + "[clocks]\ncore = 1e30\n", "want a frequency"},
		{head + "[clocks]\ncore = 0.0000001\n", "want a whole number of Hz"},
		{head + "[l1d]\nshared_sizes = []\n", "up to 16 numbers"},
		{head + "[l1d]\nshared_sizes = [1, \"a\"]\n", "up to 16 numbers"},
		{head + "[l1d]\nshared_sizes = [1, 9999999]\n", "9999999 is out of bounds"},
		{head + "l2 = 3\n", `f.toml:2:1: unknown key "l2"`},
		{head + "[l2]\nways = 1\nways = 2\n", "f.toml:4"},
		{head + "[l2\n", "f.toml:3:4: "},
		{head + "[[l2]]\nways = 1\n", `unknown key "l2"`},
		{head + "name = \"\"\"a\nb\"\"\"\n", "a text of one line"},
		{"extends = 3\n", "want extends = the name of a GPU or a file"},
		{"extends = \"\"\n", "want extends = the name of a GPU or a file"},
		{"extends = \"rtx-307\"\n", `f.toml:1:1: extends: unknown GPU "rtx-307"; did you mean "rtx-3070"?`},
		{"name = \"x\"\n", "f.toml: no value for chip.clusters, chip.channels, chip.slices_per_channel, clocks.core, clocks.noc, clocks.l2 and "},
		{"", "f.toml: no value for name"},
	}
	for _, tt := range tests {
		_, err := ReadTOML("f.toml", tt.text)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: error %v\nwant %s", tt.text, err, tt.want)
		}
	}
}

func TestFindPlaces(t *testing.T) {
	text := "a = 1 # one\n" +
		"  b=\"x # y\" # two\n" +
		"[ t . \"u\" ] # no key\n" +
		"c = [ # open\n 1, # first\n 2 ] # end\n" +
		"d.e = 'it''s' # three\n" +
		"f = \"\"\"\ng = 1 # text\n\"\"\" # four\n" +
		"# h = 1\n" +
		"i = \"\\\"#\" # five\r\n" +
		"j = 2\n"
	want := map[string]place{
		"a": {1, 1, "one"}, "b": {2, 3, "two"}, "t.u": {3, 1, ""}, "t.u.c": {4, 1, "open"}, "t.u.d.e": {7, 1, "three"},
		"t.u.f": {8, 1, ""}, "t.u.i": {12, 1, "five"}, "t.u.j": {13, 1, ""},
	}
	got := findPlaces(text)
	if d := cmp.Diff(want, got, cmp.AllowUnexported(place{})); d != "" {
		t.Errorf("wanted (-), got (+):\n%s", d)
	}
}

func TestWriteTOMLKeepsQuotes(t *testing.T) {
	g, err := Load("rtx-3070")
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Set(`description=a "quoted" \ and # é`); err != nil {
		t.Fatal(err)
	}
	checkSurvives(t, g)
	if err := g.Set("l1d.enabled=false"); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := g.WriteTOML(&out); err != nil {
		t.Fatal(err)
	}
	_, l1d, _ := strings.Cut(out.String(), "[l1d]")
	l1d, _, _ = strings.Cut(l1d, "[l1c]")
	if strings.Contains(l1d, "\nsets =") || !strings.Contains(l1d, "\nenabled = false") || !strings.Contains(l1d, "\nlatency =") {
		t.Errorf("a cache that is off is written as:\n%s", l1d)
	}
}

func TestKeys(t *testing.T) {
	for _, k := range Keys() {
		if k.Help == "" {
			t.Errorf("%s has no help", k.Name)
		}
		if strings.ToLower(k.Name) != k.Name || strings.ContainsAny(k.Name, " -") {
			t.Errorf("%s is not a key", k.Name)
		}
		if k.HasDefault {
			if v, err := k.Parse(k.Default); err != nil {
				t.Errorf("%s: default: %v", k.Name, err)
			} else if err := k.Assign((&GPU{}).root(&k), v); err != nil {
				t.Errorf("%s: default: %v", k.Name, err)
			}
		}
	}
	for _, n := range []string{"chip.sms_per_cluster", "clocks.dram", "simt.latency.int_add", "simt.special8.initiation", "l1d.prefer_l1.mshr",
		"l1d.latency", "dram.timing.ccdl", "run.icache", "run.copies_fill_l2", "run.launch_latency", "run.caches", "run.idle_skip",
		"partition.to_noc", "noc.cluster_fifo", "compat.simt.highest_first", "compute_capability"} {
		if keyAt(n) == nil {
			t.Errorf("there is no key %s", n)
		}
	}
}

func TestSet(t *testing.T) {
	tests := []struct{ set, key, want, err string }{
		{"l2.ways=8", "l2.ways", "8", ""},
		{" l2.ways = 1_024 ", "l2.ways", "1024", ""},
		{"clocks.core=1365.25", "clocks.core", "1365.25", ""},
		{"clocks.core = 2000", "clocks.core", "2000", ""},
		{"run.idle_skip=false", "run.idle_skip", "false", ""},
		{"simt.scheduler=gto", "simt.scheduler", `"gto"`, ""},
		{`simt.scheduler="gto"`, "simt.scheduler", `"gto"`, ""},
		{`simt.scheduler='gto'`, "simt.scheduler", `"gto"`, ""},
		{"description=a = b", "description", `"a = b"`, ""},
		{"l1d.shared_sizes=0,8,16", "l1d.shared_sizes", "[0, 8, 16]", ""},
		{"l1d.shared_sizes=[0, 8, 16,]", "l1d.shared_sizes", "[0, 8, 16]", ""},
		{"compat.cache.miss_needs_two=true", "compat.cache.miss_needs_two", "true", ""},
		{"l2.ways", "", "", `"l2.ways" has no value; write key=value`},
		{"=3", "", "", `unknown key ""`},
		{"l2.wyas=3", "", "", `did you mean "l2.ways"?`},
		{"launch_latency=3", "", "", `did you mean "run.launch_latency"?`},
		{"run.zzzzzzzzzz=3", "", "", "the keys of run are: run.caches, "},
		{"l2.ways=", "", "", "want a whole number"},
		{"l2.ways=8x", "", "", "want a whole number"},
		{"l2.ways=99999999999999999999", "", "", "want a whole number"},
		{"run.idle_skip=yes", "", "", "want true or false"},
		{"clocks.core=fast", "", "", "want a frequency"},
		{"clocks.core=inf", "", "", "want a frequency"},
		{"simt.scheduler=gtp", "", "", `did you mean "gto"?`},
		{`simt.scheduler="\q"`, "", "", "is invalid"},
		{"l1d.shared_sizes=[1", "", "", "numbers"},
		{strings.Repeat("x", 500) + "=1", "", "", "unknown key"},
	}
	for _, tt := range tests {
		g, err := Load("rtx-3070")
		if err != nil {
			t.Fatal(err)
		}
		before := values(g)
		err = g.Set(tt.set)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: error %v, want %s", tt.set, err, tt.err)
			}
			if d := cmp.Diff(before, values(g)); d != "" {
				t.Errorf("%s was refused and changed:\n%s", tt.set, d)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.set, err)
			continue
		}
		if got, _ := g.Value(tt.key); got != tt.want || g.Source(tt.key) != "set by -C" {
			t.Errorf("%s: %s  # %s, want %s", tt.set, got, g.Source(tt.key), tt.want)
		}
	}
}

// Each value reaches the settings of a model, or is one on which no run depends.
// Some of the latter do reach one: they are for launches that no job makes, for CUDA
// programs, or for a part that the model has but does not need.
func TestEachKeyReachesAModel(t *testing.T) {
	others := map[string]bool{}
	for _, k := range keys() {
		others[k.Name] = k.Inert != "" && k.Name != "run.idle_skip" && !strings.HasSuffix(k.Name, ".result_queue") && k.Name != "l1t.port" &&
			!strings.HasPrefix(k.Name, "l1d.prefer_") && !strings.HasPrefix(k.Name, "compat.") && k.Name != "name" &&
			k.Name != "compute_capability" && k.Name != "chip.memory" && !strings.HasPrefix(k.Inert, "Accel-Sim has no opcode in this class") && (!strings.HasPrefix(k.Inert, "Accel-Sim has no opcode for") || strings.HasSuffix(k.Name, ".name") || strings.HasSuffix(k.Name, ".depth"))
	}
	others[presetKey] = true // it sets other keys
	fill := func(g *GPU) []any {
		list := []any{g.ChipConfig(), g.CacheConfig("l1d.prefer_l1"), g.CacheConfig("l1d.prefer_shared")}
		for _, m := range core.Models() {
			list = append(list, g.params(m.Name).Settings(g.machine()))
		}
		return list
	}
	base := func(fly bool) *GPU {
		g, err := Load("v100")
		if err != nil {
			t.Fatal(err)
		}
		g.at(keyAt("simt.collector.specialized")).SetBool(true)
		g.L1D.PreferL1, g.L1D.PreferShared = g.L1D.Cache, g.L1D.Cache
		if fly {
			g.NoC.Kind = noc.Fly
		}
		return g
	}
	for i := range keys() {
		k := &keys()[i]
		changed := false
		for _, fly := range []bool{false, true} {
			g := base(fly)
			before := fill(g)
			other(t, g, k)
			changed = changed || !reflect.DeepEqual(before, fill(g))
		}
		if changed == others[k.Name] {
			t.Errorf("%s reaches a model: %v; it is for others: %v", k.Name, changed, others[k.Name])
		}
	}
}

// other gives a key of a GPU another value.
func other(t *testing.T, g *GPU, k *Key) {
	t.Helper()
	var v any
	switch x := k.Value(g.root(k)).(type) {
	case bool:
		v = !x
	case string:
		v = "another"
		for _, e := range k.Enum {
			if e != x {
				v = e
				break
			}
		}
	case []any:
		list := slices.Clone(x)
		list[len(list)-1] = list[len(list)-1].(int64) + 1
		if k.Len == 0 {
			list = append(list, int64(4000))
		}
		v = list
	case int64:
		g.at(k).SetInt(x + 32) // a neighbouring value, within bounds or not
		return
	}
	if err := k.Assign(g.root(k), v); err != nil {
		t.Fatal(err)
	}
}

func TestCheck(t *testing.T) {
	tests := []struct {
		gpu, set string // assignments separated by blanks
		want     string
	}{
		{"rtx-3070", "chip.clusters=1024 chip.sms_per_cluster=64", "65536 SMs in all: want at most 4096"},
		{"rtx-3070", "chip.slices_per_channel=3", "chip.slices_per_channel = 3: want a power of two"},
		{"rtx-3070", "compute_capability=8", "want major.minor"},
		{"rtx-3070", "compute_capability=8.66", "want major.minor"},
		{"rtx-3070", "sm.threads=1000", "want a multiple of 32"},
		{"rtx-3070", "sm.threads=4096", "at most 2048"},
		{"rtx-3070", "sm.threads=64", "simt.schedulers = 4: there are only 2 warps"},
		{"rtx-3070", "sm.shared_per_block=200000", "the SM has only sm.shared = 102400"},
		{"rtx-3070", "sm.shared_granule=3", "want a power of two"},
		{"rtx-3070", "sm.registers=64 sm.register_granule=128", "the SM has only sm.registers = 64"},
		{"rtx-3070", "sm.shared=512 sm.shared_per_block=512 l1d.adaptive=false", "sm.shared_reserved = 1024"},
		{"rtx-3070", "simt.initiation.fp_add=9", "simt.initiation.fp_add = 9: must not exceed the latency, simt.latency.fp_add = 4"},
		{"rtx-3070", "simt.trace_initiation.sp=9", "simt.trace_initiation.sp = 9"},
		{"rtx-3070", "simt.special1.initiation=9", "simt.special1.latency = 4"},
		{"rtx-3070", "simt.special2.depth=9", "must be at least simt.special2.latency = 200"},
		{"rtx-3070", "simt.issue.dp=3", "simt.issue.dp = 3: with simt.sub_cores"},
		{"rtx-3070", "simt.collector.banks=6", "simt.collector.banks = 6"},
		{"rtx-3070", "simt.collector.gen.units=6", "simt.collector.gen.units = 6"},
		{"rtx-3070", "simt.tensor_port=false", "without it no instruction reaches the tensor units"},
		{"rtx-3070", "l1d.bank_interleave=48", "want a power of two"},
		{"rtx-3070", "l1d.unified=0", "l1d.adaptive = true needs the size"},
		{"rtx-3070", "l1d.enabled=false", "an adaptive L1 needs l1d.enabled = true"},
		{"rtx-3070", "l1d.unified=64", "the L1 alone has 128 KiB"},
		{"rtx-3070", "l1d.ways=3 l1d.unified=100 l1d.sets=64 l1d.index=linear", "want a whole number of ways"},
		{"rtx-3070", "l1d.shared_sizes=8,0,100", "ascending order"},
		{"rtx-3070", "l1d.shared_sizes=0,128", "leaves the L1 nothing"},
		{"rtx-3070", "l1d.shared_sizes=0,64", "the largest of l1d.shared_sizes is 64 KiB"},
		{"rtx-3070", "l2.sets=63", "[l2]: "},
		{"rtx-3070", "l2.write=write-back l2.allocate=on-fill", "[l2]: "},
		{"rtx-3070", "l1t.mshr=associative", "a texture cache needs fifo"},
		{"rtx-3070", "l1c.mshr=fifo l1c.allocate=on-miss l1c.result_queue=2", "for the texture cache"},
		{"gtx-480", "l1i.enabled=false", "an SM needs this cache"},
		{"gtx-480", "l1c.enabled=false", "an SM needs this cache"},
		{"rtx-3070", "dram.timing.groups=3", "[dram]: "},
		{"rtx-3070", "dram.burst_length=3", "[dram]: "},
		{"rtx-3070", "dram.timing.refi=10 dram.timing.rfc=20", "[dram]: "},
		{"rtx-3070", "dram.write_queue=true dram.write_high=40", "[dram]: "},
		{"rtx-3070", "partition.mapping=RRR", "[partition]: "},
		{"rtx-3070", "partition.to_l2=2", "[partition]: "},
		{"rtx-2060", "partition.indexing=xor", "[partition]: "},
		{"rtx-3070", "simt.units.sp=2", "[simt]: "},
		{"rtx-3070", "simt.coalesce_arch=20", "with simt.coalesce_arch = 20 accesses are whole lines"},
		{"rtx-3070", "l1c.sectored=true l1c.line=128", "l1c.sectored = true: this cache reads whole lines"},
	}
	for _, tt := range tests {
		t.Run(tt.gpu+" "+tt.set, func(t *testing.T) {
			g, err := Load(tt.gpu)
			if err != nil {
				t.Fatal(err)
			}
			for s := range strings.FieldsSeq(tt.set) {
				if err := g.Set(s); err != nil {
					t.Fatal(err)
				}
			}
			if err := g.Check(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v\nwant %s", err, tt.want)
			}
		})
	}
	for _, ok := range []string{"sm.threads=2048", "simt.initiation.fp_add=4", "l1d.adaptive=false", "simt.special2.depth=200", "l1d.shared_sizes=0,100"} {
		g, err := Load("rtx-3070")
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Set(ok); err != nil {
			t.Fatal(err)
		}
		if err := g.Check(); err != nil {
			t.Errorf("%s: %v", ok, err)
		}
	}
}

func FuzzReadTOML(f *testing.F) {
	raw, err := library.ReadFile("gpus/rtx-a6000.toml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(raw))
	f.Add("extends = \"v100\"\n[l1d]\nshared_sizes = [1,\n 2] # x\nprefer_l1.enabled = true")
	f.Add("extends = \"gtx-480\"\ndescription = '''a''' # \"\n[clocks]\ncore = 1.5e3")
	f.Fuzz(func(t *testing.T, text string) {
		g, err := ReadTOML("fuzz.toml", text)
		if err != nil {
			return
		}
		checkSurvives(t, g)
	})
}
