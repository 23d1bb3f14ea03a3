package config

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/core/kepler"
)

// writeFiles puts files into a new folder, and returns it.
func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func listing(t *testing.T, m *Kepler) string {
	t.Helper()
	var b bytes.Buffer
	if err := m.WriteTOML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A listed and saved machine is the same machine when read, with the same listing.
func TestKeplerListing(t *testing.T) {
	for _, sets := range [][]string{
		nil,
		{"kepler.conform=rtl"},
		{"kepler.sms=4", "kepler.l1.on=true", "kepler.l1.ways=8", "kepler.l2.on=true"},
		{"kepler.switch.greedy=false", "kepler.memory.delay=100"},
		{"kepler.switch.ieee=true", "kepler.conform=rtl"},
	} {
		m := NewKepler()
		if err := m.Set(sets...); err != nil {
			t.Fatal(err)
		}
		text := listing(t, m)
		for _, k := range kepler.Keys() {
			if n := len(regexp.MustCompile(`(?m)^(# )?`+regexp.QuoteMeta(strings.TrimPrefix(k.Name, "kepler."))+` = .+  # .+$`).FindAllString(text, -1)); n != 1 {
				t.Errorf("%v: %s is listed %d times", sets, k.Name, n)
			}
		}
		file := filepath.Join(writeFiles(t, map[string]string{"saved.toml": text}), "saved.toml")
		if !IsKepler(file) {
			t.Errorf("%v: the listing is not recognised as such a machine", sets)
		}
		again, err := LoadKepler(file)
		if err != nil {
			t.Fatal(err)
		}
		if again.Config != m.Config || again.Description != m.Description {
			t.Errorf("%v: %+v, want %+v", sets, again.Config, m.Config)
		}
		if got := listing(t, again); got != text {
			t.Errorf("%v: it is listed as\n%s\nand then as\n%s", sets, text, got)
		}
	}
}

// A saved listing follows its level when it is changed, except for switches that
// were set individually.
func TestKeplerListingFollowsItsLevel(t *testing.T) {
	m := NewKepler()
	if err := m.Set("kepler.switch.greedy=true"); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(listing(t, m), `conform = "datasheet"`, `conform = "rtl"`, 1)
	got, err := LoadKepler(filepath.Join(writeFiles(t, map[string]string{"m.toml": text}), "m.toml"))
	if err != nil {
		t.Fatal(err)
	}
	want := kepler.ConfigFor(kepler.RTL)
	want.Greedy = true
	if got.Config != want {
		t.Errorf("%+v, want %+v", got.Config, want)
	}
}

func TestKeplerFiles(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"slow.toml": "extends = \"kepler-edu\"\nname = \"slow\"\n[kepler]\nmemory.delay = 200  # the datasheet's 100 to 400\n",
		"base.toml": "core = \"kepler\"\n[kepler.switch]\ngreedy = false\n[kepler]\nconform = \"datasheet\"\n",
		"more.toml": "extends = \"slow.toml\"\n[kepler.switch]\nextras = false\none_response = false\n",
	})
	slow, err := LoadKepler(filepath.Join(dir, "slow.toml"))
	if err != nil {
		t.Fatal(err)
	}
	if slow.Name != "slow" || slow.Delay != 200 || slow.Level != kepler.Datasheet || slow.Description == "" {
		t.Errorf("%+v", slow)
	}
	if text := listing(t, slow); !strings.Contains(text, "memory.delay = 200  # the datasheet's 100 to 400\n") {
		t.Error(text)
	}
	base, err := LoadKepler(filepath.Join(dir, "base.toml"))
	if err != nil {
		t.Fatal(err)
	}
	if base.Name != kepler.Name || base.Greedy || !base.IEEE {
		t.Errorf("%+v", base)
	}
	more, err := LoadKepler(filepath.Join(dir, "more.toml"))
	if err != nil {
		t.Fatal(err)
	}
	if more.Name != "slow" || more.Delay != 200 || more.OneResponse || more.Extras || !more.Lossless {
		t.Errorf("%+v", more)
	}
	if text := listing(t, more); !strings.Contains(text, "400 (as slow)\n") || !strings.Contains(text, "\nswitch.extras = false  # more.toml:3\n") {
		t.Error(text)
	}
}

// Errors in a file are reported with their place.
func TestKeplerFileErrors(t *testing.T) {
	const head = "extends = \"kepler-edu\"\n"
	for _, c := range []struct{ text, want string }{
		{head + "[kepler]\nsmss = 2\n", `x.toml:3:1: unknown key "kepler.smss"; did you mean "kepler.sms"?`},
		{head + "greedy = true\n", `x.toml:2:1: unknown key "greedy"; did you mean "kepler.switch.greedy"?`},
		{head + "[simt]\nscheduler = \"gto\"\n", `x.toml:3:1: unknown key "simt.scheduler"; heddle gpus kepler-edu lists all keys`},
		{head + "[kepler]\nsms = 25\n", `x.toml:3:1: kepler.sms = 25 is out of bounds: want 1 to 24`},
		{head + "[kepler]\nsms = 2.0\n", `x.toml:3:1: kepler.sms = 2 is invalid; want a whole number from 1 to 24`},
		{head + "[kepler]\nsms = [2]\n", `x.toml:3:1: kepler.sms = [2] is invalid; want a whole number from 1 to 24`},
		{head + "[kepler]\nl1.on = 1\n", `x.toml:3:1: kepler.l1.on = 1 is invalid; want true or false`},
		{head + "kepler = 5\n", `x.toml:2:1: unknown key "kepler"`},
		{head + "name = 5\n", `x.toml:2:1: name: want a text`},
		{head + "core = \"simt\"\n", `x.toml:2:1: core = "simt": want "kepler" for a machine of the Kepler-style core`},
		{"core = \"kepler\"\nextends = \"v100\"\n", `x.toml:2:1: extends: unknown machine "v100" of the Kepler-style core; want "kepler-edu"`},
		{"core = \"kepler\"\nextends = \"x.toml\"\n", `extends itself`},
		{"core = \"kepler\"\nextends = 5\n", `x.toml:2:1: want extends = the name`},
		{"core = \"kepler\"\nextends = \"none.toml\"\n", `none.toml: no such file`},
		{head + "[kepler]\nconform = \"rtl\"\nsms = 2\n", `kepler.switch.own_transactions`},
		{head + "[kepler]\nsms = \n", `x.toml:3:`},
	} {
		file := filepath.Join(writeFiles(t, map[string]string{"x.toml": c.text}), "x.toml")
		_, err := LoadKepler(file)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\ngives %v\nwant  %s", c.text, err, c.want)
		}
	}
}

// The command line's level is applied before its switches, whatever their order,
// and settings of missing parts are refused.
func TestKeplerSet(t *testing.T) {
	m := NewKepler()
	if err := m.Set("kepler.switch.ieee = true", "kepler.conform=rtl"); err != nil || !m.IEEE || m.Greedy {
		t.Errorf("%v, %+v", err, m.Config)
	}
	if err := m.Set("kepler.conform=rtl"); err != nil || m.IEEE || len(m.sources) != 1 {
		t.Errorf("a level sets all switches again: %v, %+v, %v", err, m.Config, m.sources)
	}
	for _, c := range []struct{ set, want string }{
		{"kepler.sms", "setting kepler.sms: write KEY=VALUE"},
		{"kepler.smss=2", `setting kepler.smss=2: unknown key "kepler.smss"; did you mean "kepler.sms"?`},
		{"kepler.sms=x", `setting kepler.sms=x: kepler.sms = "x" is invalid; want a whole number from 1 to 24`},
		{"kepler.l1.ways=2", `setting kepler.l1.ways=2: this machine has no such part; set kepler.l1.on=true too`},
		{"kepler.dram.latency=2", `set kepler.sms=2 or kepler.l2.on=true too`},
		{"kepler.switch.one_response=false", `kepler.switch.extras needs`},
	} {
		if err := NewKepler().Set(c.set); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.set, err, c.want)
		}
	}
}

// Such a machine is not one of the others, and the message says what it is.
func TestKeplerIsNoGPU(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"k.toml":    "core = \"kepler\"\n",
		"v.toml":    "extends = \"v100\"\n",
		"loop.toml": "extends = \"loop.toml\"\n",
	})
	for name, want := range map[string]bool{
		"kepler-edu": true, filepath.Join(dir, "k.toml"): true,
		"v100": false, filepath.Join(dir, "v.toml"): false, filepath.Join(dir, "loop.toml"): false, filepath.Join(dir, "none.toml"): false, "": false,
	} {
		if got := IsKepler(name); got != want {
			t.Errorf("IsKepler(%q) = %v", name, got)
		}
		if _, err := Load(name); want && (err == nil || !strings.Contains(err.Error(), "is a machine of the Kepler-style core, which runs only .kasm programs")) {
			t.Errorf("Load(%q): %v", name, err)
		}
	}
	if _, err := Load("kepler-ed"); err == nil || !strings.Contains(err.Error(), `did you mean "kepler-edu"?`) {
		t.Error(err)
	}
}

// Any text is a machine or an error, and a machine's listing is the machine.
func FuzzReadKepler(f *testing.F) {
	var b bytes.Buffer
	if err := NewKepler().WriteTOML(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.String())
	f.Add("extends = \"kepler-edu\"\nname = 'a\"\\b'\n[kepler]\nswitch.greedy = false # why\nl1 = { on = true, ways = 8 }")
	f.Add("description = \"\\u0007\"\n[kepler.memory]\ndelay = 1_0 # \"")
	f.Fuzz(func(t *testing.T, text string) {
		builtIn := func(string) (*Kepler, error) { return NewKepler(), nil }
		m, err := readKepler("fuzz.toml", text, builtIn)
		if err != nil {
			return
		}
		list := listing(t, m)
		again, err := readKepler("fuzz.toml", list, builtIn)
		if err != nil {
			t.Fatalf("%v in\n%s", err, list)
		}
		if again.Config != m.Config || listing(t, again) != list {
			t.Errorf("%+v, want %+v, from\n%s", again.Config, m.Config, list)
		}
	})
}
