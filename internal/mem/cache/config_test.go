package cache

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/mem"
)

func TestParseConfig(t *testing.T) {
	got, err := ParseConfig(" S:64:128:16,L:B:m:L:P,A:192:4,32:0,32\n")
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Sectored: true, Sets: 64, Line: 128, Ways: 16, Replace: LRU, Write: WriteBack, Alloc: OnMiss, WriteAlloc: LazyFetch,
		Index: IPoly, MSHR: Assoc, Entries: 192, Merge: 4, MissQueue: 32, Port: 32,
	}
	if got != want {
		t.Errorf("%+v\nwant\n%+v", got, want)
	}
	if got.Bytes() != 128<<10 || got.Atom() != 32 {
		t.Errorf("%d bytes in atoms of %d", got.Bytes(), got.Atom())
	}
	tex, err := ParseConfig("N:4:128:24,L:R:m:N:L,T:128:4,128:2")
	if err != nil || !tex.IsTexture() || tex.MissQueue != 128 || tex.ResultQueue != 2 || tex.port() != 128 || tex.Atom() != 128 {
		t.Errorf("%+v %v", tex, err)
	}
	none, err := ParseConfig("none")
	if err != nil || !none.Disabled || none.Bytes() != 0 || none.String() != "none" {
		t.Errorf("%+v %v", none, err)
	}
}

func TestParseConfigRefuses(t *testing.T) {
	for _, x := range []struct{ s, want string }{
		{"", "has 1 comma-separated groups"},
		{"S:64:128:16,L:B:m:L:P,A:192:4,32:0,32,1", "has 6 comma-separated groups"},
		{"S:64:128,L:B:m:L:P,A:192:4,32", "has 3 fields; want 4"},
		{"S:64:128:16,L:B:m:L,A:192:4,32", "has 4 fields; want 5"},
		{"S:64:128:16,L:B:m:L:P,A:192,32", "has 2 fields; want 3"},
		{"S:64:128:16,L:B:m:L:P,A:192:4,32:0:1", "has 3 fields; want the miss queue"},
		{"S:64:128:16,L:B:m:L:P,A:192:4,32:0,32:1", "want one port width"},
		{"X:64:128:16,L:B:m:L:P,A:192:4,32", `type "X": want N or S`},
		{"S:-1:128:16,L:B:m:L:P,A:192:4,32", `sets "-1": want a whole number`},
		{"S:64:128:99999999999,L:B:m:L:P,A:192:4,32", "ways \"99999999999\": want a whole number"},
		{"S:64:128:16,Q:B:m:L:P,A:192:4,32", `replacement "Q": want one of L, F`},
		{"S:64:128:16,L:BT:m:L:P,A:192:4,32", `write policy "BT"`},
		{"S:64:128:16,L:B::L:P,A:192:4,32", `allocation ""`},
		{"S:0:128:16,L:B:m:L:L,A:192:4,32", "sets 0: want 1.."},
		{"S:64:128:0,L:B:m:L:P,A:192:4,32", "ways 0: want 1.."},
		{"S:64:128:16,L:B:m:L:P,A:0:4,32", "entries 0: want 1.."},
		{"S:64:128:16,L:B:m:L:P,A:4:0,32", "merge 0: want 1.."},
		{"S:64:128:16,L:B:m:L:P,A:4:4,0", "miss queue 0: want 1.."},
		{"N:64:96:16,L:B:m:L:P,A:4:4,8", "line of 96 bytes: want 32, 64 or 128"},
		{"N:64:256:16,L:B:m:L:P,A:4:4,8", "line of 256 bytes"},
		{"N:64:0:16,L:B:m:L:P,A:4:4,8", "line of 0 bytes"},
		{"S:64:64:16,L:B:m:L:P,A:4:4,8", "line of 64 bytes: want 128 for a sector cache"},
		{"S:65536:128:65536,L:B:m:L:P,A:4:4,8", "want at most"},
		{"S:64:128:16,L:B:m:L:P,A:4:4,8:0,48", "port 48: want a divisor"},
		{"S:64:128:16,L:B:f:N:P,A:4:4,8", "must allocate on miss"},
		{"S:64:128:16,L:B:s:N:P,A:4:4,8", "must allocate on miss"},
		{"S:64:128:16,L:T:f:L:P,A:4:4,8", "need allocation on miss"},
		{"S:64:128:16,L:T:s:F:P,A:4:4,8", "need allocation on miss"},
		{"S:64:128:16,L:R:m:W:P,A:4:4,8", "no write allocation"},
		{"S:48:128:16,L:B:m:L:P,A:4:4,8", "up to 65536, not 48"},
		{"S:16:128:16,L:B:m:L:H,A:4:4,8", "32 or 64, not 16"},
		{"S:64:128:16,L:B:m:L:P,A:4:4,1", "block forever"},
		{"S:64:128:16,L:B:m:W:P,A:4:4,2", "block forever: this write policy needs at least 3"},
		{"N:4:128:24,L:R:m:N:L,T:128:4,128", "needs a result queue"},
		{"N:4:128:24,L:R:f:N:L,T:128:4,128:2", "a texture cache must be of type N"},
	} {
		if _, err := ParseConfig(x.s); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%q: %v, want %q", x.s, err, x.want)
		}
	}
	good, err := ParseConfig("S:4:128:4,L:T:m:L:L,A:4:4,2")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		set  func(*Config)
		want string
	}{
		{func(c *Config) { c.WriteRatio = 101 }, "write ratio 101"},
		{func(c *Config) { c.MaxWays = 3 }, "maximum ways 3: want at least"},
		{func(c *Config) { c.Level = 7 }, "unknown level 7"},
		{func(c *Config) { c.Disabled = true }, "is disabled"},
		{func(c *Config) {
			c.MSHR, c.ResultQueue, c.Sectored, c.Write, c.WriteAlloc = TexFIFO, 1, false, ReadOnly, NoWriteAlloc
		}, "for texture caches"},
	} {
		c := good
		c.Name = "l1d"
		x.set(&c)
		if _, err := New(c, &mem.Pool{}); err == nil || !strings.Contains(err.Error(), x.want) || !strings.Contains(err.Error(), "l1d") {
			t.Errorf("%v, want %q and the name", err, x.want)
		}
	}
	if _, err := NewTexture(good, &mem.Pool{}); err == nil || !strings.Contains(err.Error(), "needs the FIFO organisation") {
		t.Errorf("a plain cache taken as texture cache: %v", err)
	}
}

// TestShippedStrings reads every cache string of GPGPU-Sim's configuration files,
// builds the cache and writes the string back.
func TestShippedStrings(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/reference/configs*/*/gpgpusim.config")
	if err != nil || len(files) < 14 {
		t.Fatal(files, err)
	}
	option := regexp.MustCompile(`^-gpgpu_(?:\w*cache):\w+\s+(\S+:\S+)`)
	seen := map[string]bool{}
	for _, f := range files {
		in, err := os.Open(f)
		if err != nil {
			t.Fatal(err)
		}
		for sc := bufio.NewScanner(in); sc.Scan(); {
			m := option.FindStringSubmatch(sc.Text())
			if m == nil {
				continue
			}
			seen[m[1]] = true
			cfg, err := ParseConfig(m[1])
			if err != nil {
				t.Errorf("%s: %v", f, err)
				continue
			}
			if cfg.IsTexture() {
				_, err = NewTexture(cfg, &mem.Pool{})
			} else {
				_, err = New(cfg, &mem.Pool{})
			}
			if err != nil {
				t.Errorf("%s: %v", f, err)
			}
			if back, err := ParseConfig(cfg.String()); err != nil || back != cfg {
				t.Errorf("%s written back as %s: %v", m[1], cfg, err)
			}
		}
		in.Close()
	}
	if len(seen) < 15 {
		t.Errorf("only %d different strings found", len(seen))
	}
}

func FuzzParseConfig(f *testing.F) {
	for _, s := range streams {
		f.Add(s.cfg)
	}
	f.Add("N:4:128:24,L:R:m:N:L,T:128:4,128:2")
	f.Add("none")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := ParseConfig(s)
		if err != nil {
			return
		}
		back, err := ParseConfig(c.String())
		if err != nil || back != c {
			t.Fatalf("%q read as %+v, written as %q, read as %+v: %v", s, c, c.String(), back, err)
		}
		if c.Disabled || c.Sets*c.Ways > 1<<14 || c.Entries > 1<<12 || c.MissQueue > 1<<12 || c.ResultQueue > 1<<12 {
			return
		}
		if c.IsTexture() {
			_, err = NewTexture(c, &mem.Pool{})
		} else {
			_, err = New(c, &mem.Pool{})
		}
		if err != nil {
			t.Fatalf("%q passes the check but not New: %v", s, err)
		}
	})
}
