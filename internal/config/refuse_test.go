package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/param"
)

// TestRefusalsNameTheirKeys gives every key absurd values, one at a time. A refusal
// names the key and a reason.
func TestRefusalsNameTheirKeys(t *testing.T) {
	alltests.Only(t, "refusals of absurd values")
	numbers := []string{"0", "-1", "1", "3", "64", "1000000", "1000000000000000000", "9223372036854775808", "1e6", "nan", "inf", "-0.5", "", "x"}
	refused, passed := 0, 0
	for _, name := range alltests.Some([]string{"rtx-2060", "gtx-480", "v100"}, 1) {
		base, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range keys() {
			k := &keys()[i]
			values := append([]string{"true", "false"}, numbers...)
			for _, v := range append(values, k.Enum...) {
				g := base.clone()
				err := g.Set(k.Name + "=" + v)
				if err == nil {
					err = g.Check()
				}
				if err == nil {
					passed++
					continue
				}
				refused++
				msg := err.Error()
				if !strings.Contains(msg, k.Name) || len(msg) < len(k.Name+v)+12 {
					t.Errorf("%s: %s=%s is refused with: %s", name, k.Name, v, msg)
				}
			}
		}
	}
	if refused < 1000 || passed < 1000 {
		t.Errorf("%d values are refused, %d are not", refused, passed)
	}
}

// TestBoundsStandOnce: models do not check the bounds of a declaration again. They
// refuse only conflicts with other values.
func TestBoundsStandOnce(t *testing.T) {
	base, err := Load("rtx-2060")
	if err != nil {
		t.Fatal(err)
	}
	for i := range keys() {
		k := &keys()[i]
		if k.Kind != param.Int {
			continue
		}
		for _, v := range []int64{k.Min, k.Max} {
			g := base.clone()
			if err := g.Set(fmt.Sprintf("%s=%d", k.Name, v)); err != nil {
				t.Fatal(err)
			}
			if err := g.Check(); err != nil && strings.Contains(err.Error(), "not within") {
				t.Errorf("%s: %v", k.Name, err)
			}
		}
	}
}

// TestConflictsAreTyped: the keys of a refusal come from the model, by type.
func TestConflictsAreTyped(t *testing.T) {
	for _, tc := range []struct{ set, keys string }{
		{"l2.sets=63", "l2.index l2.sets"},
		{"l1d.prefer_l1.enabled=true l1d.prefer_l1.line=48", "l1d.prefer_l1.line"},
		{"dram.burst_length=3", "dram.burst_length dram.data_ratio"},
		{"dram.timing.groups=3", "dram.timing.groups dram.timing.banks"},
		{"partition.mapping=RRR", "partition.mapping dram.timing.banks chip.channels chip.slices_per_channel"},
		{"partition.indexing=xor chip.channels=12", "partition.indexing chip.channels chip.slices_per_channel"},
		{"noc.kind=torus noc.vcs=3", "noc.kind noc.vcs"},
		{"noc.kind=mesh noc.radix=2", "noc.kind noc.radix noc.dimensions chip.clusters chip.channels"},
		{"l1t.sets=4096 l1t.ways=128", "l1t.sets l1t.ways chip.clusters chip.sms_per_cluster chip.channels chip.slices_per_channel"},
		{"l1d.merge=8 l1d.entries=1048576", "l1d.entries chip.clusters chip.sms_per_cluster chip.channels chip.slices_per_channel"},
		{"clocks.core=1365.000001 clocks.noc=1365.000003 clocks.l2=1365.000007", "clocks.core clocks.noc clocks.l2 clocks.dram"},
		{"simt.units.sp=0", ""},
		{"core=modern modern.wide_window=1", "modern.wide_window modern.window"},
		{"core=modern modern.replies_taken=2 modern.response_queue=1", "modern.replies_taken modern.response_queue"},
	} {
		t.Run(tc.set, func(t *testing.T) {
			g, err := Load("rtx-2060")
			if err != nil {
				t.Fatal(err)
			}
			for s := range strings.FieldsSeq(tc.set) {
				if err == nil {
					err = g.Set(s)
				}
			}
			if err == nil {
				err = g.Check()
			}
			var c *param.Conflict
			if errors.As(err, &c); c == nil {
				c = &param.Conflict{}
			}
			if got := strings.Join(c.Keys, " "); err == nil || got != tc.keys {
				t.Errorf("%v\nis about %q, want %q", err, got, tc.keys)
			}
			for _, k := range c.Keys {
				if v, ok := g.Value(k); !ok || !strings.Contains(err.Error(), k+" = "+v) {
					t.Errorf("%v\ndoes not have the value of %s", err, k)
				}
			}
		})
	}
}

// TestNoModelByName: a core model declares its own options and keys.
func TestNoModelByName(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range core.Models() {
			if strings.Contains(string(text), `"`+m.Name) {
				t.Errorf("%s names the core model %s", file, m.Name)
			}
		}
	}
}
