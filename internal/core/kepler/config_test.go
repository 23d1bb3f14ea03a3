package kepler_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/core/kepler/chip"
)

// switchNames are the differences between the levels.
func switchNames() (names []string) {
	t := reflect.TypeFor[kepler.Switches]()
	for i := range t.NumField() {
		names = append(names, t.Field(i).Name)
	}
	return names
}

// All switches are off at one level and on at the other, and no code depends on the
// level itself.
func TestLevelsAreSwitches(t *testing.T) {
	for level, want := range map[kepler.Level]bool{kepler.RTL: false, kepler.Datasheet: true} {
		v := reflect.ValueOf(kepler.ConfigFor(level).Switches)
		for i, name := range switchNames() {
			if v.Field(i).Bool() != want {
				t.Errorf("level %v: %s is %v", level, name, !want)
			}
		}
	}
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 8 {
		t.Fatal(files, err)
	}
	asks := regexp.MustCompile(`cfg\.Level|\.Level\(\)|== (RTL|Datasheet)\b|!= (RTL|Datasheet)\b`)
	for _, f := range files {
		if f == "config.go" || strings.HasSuffix(f, "_test.go") {
			continue
		}
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if m := asks.Find(src); m != nil {
			t.Errorf("%s depends on the level (%s), not on a switch", f, m)
		}
	}
}

// The table in the documentation has a row for every switch, in order, with both
// behaviours and the reason, which equals the key's source.
func TestSwitchesAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/kepler.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), "| switch |")
	if !ok {
		t.Fatal("the table of switches is missing")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	rows := strings.Split(table, "\n")[2:]
	for _, k := range kepler.Keys() {
		if !strings.HasPrefix(k.Name, kepler.SwitchTable) {
			continue
		}
		if len(rows) == 0 {
			t.Fatalf("the row for %s is missing", k.Name)
		}
		cells := strings.Split(strings.Trim(rows[0], "| "), " | ")
		if len(cells) != 4 || cells[0] != "`"+strings.TrimPrefix(k.Name, kepler.SwitchTable)+"`" || !strings.HasPrefix(cells[3], k.Source) {
			t.Errorf("%s, %s: the row is %s", k.Name, k.Source, rows[0])
		}
		for _, c := range cells {
			if strings.TrimSpace(c) == "" {
				t.Errorf("an empty cell: %s", rows[0])
			}
		}
		rows = rows[1:]
	}
	if len(rows) > 0 {
		t.Errorf("rows without a switch: %q", rows)
	}
}

// Every switch makes a difference: for some program the outcome with it differs from
// that without it, all else being equal.
func TestEverySwitchMatters(t *testing.T) {
	special := []string{
		".word 0xab00000070000000\nEXIT", // unknown
		"ISETP.EQ P1, R2, R3 rd=57\n@P1 CALL f\nADD R5, R5, R63, 1\nEXIT\nf: ADD R6, R6, R63, 1\nRET",
		"TID R1\nSHL R2, R1, R63, 7\nSTS [R2], R1\nLDS R3, [R2]\nADD R4, R3, R3\nADD R4, R4, R4\nEXIT",
		"TID R1\nATOM.ADD R2, [R3], R1\nEXIT",
	}
	// outcome describes the results of a run; a core with conflicting switches may get
	// stuck.
	outcome := func(cfg kepler.Config, seed uint64) string {
		r := rand.New(rand.NewPCG(seed, 5))
		texts := []string{randomProgram(r, 1), randomProgram(r, 1)}
		if int(seed) < len(special) {
			texts = special[seed : seed+1]
		}
		warps := r.Perm(kepler.Warps)[:1+r.IntN(8)]
		k, _ := setUpWith(t, r, cfg, texts, warps)
		k.Run(3000)
		s := fmt.Sprint(k.Cycle(), k.Stats(), k.Fault())
		for _, w := range warps {
			s += fmt.Sprint(k.ExitCycle(w))
			for reg := range 64 {
				s += fmt.Sprint(k.Register(w, reg))
			}
		}
		return s
	}
	for i, name := range switchNames() {
		matters := false
		for seed := uint64(0); seed < 24 && !matters; seed++ {
			for _, level := range []kepler.Level{kepler.RTL, kepler.Datasheet} {
				if level == kepler.RTL && name == "Extras" {
					continue // needs others
				}
				cfg := kepler.ConfigFor(level)
				other := cfg
				f := reflect.ValueOf(&other.Switches).Elem().Field(i)
				f.SetBool(!f.Bool())
				matters = matters || outcome(cfg, seed) != outcome(other, seed)
			}
		}
		if !matters {
			t.Errorf("%s changes nothing", name)
		}
	}
}

// A user may set every switch separately. For every combination that Check accepts,
// nothing panics, every cycle is counted once, and a run that stops has a reason; on
// several SMs too.
func TestSwitchCombinations(t *testing.T) {
	ends := map[string]int{}
	seeds := alltests.Count(150, 300)
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 99))
		cfg := kepler.ConfigFor(kepler.Level(r.IntN(2)))
		for _, k := range kepler.Keys() {
			if strings.HasPrefix(k.Name, kepler.SwitchTable) && r.IntN(3) == 0 {
				settings(t, &cfg, fmt.Sprintf("%s=%v", k.Name, r.IntN(2) == 0))
			}
		}
		if r.IntN(3) == 0 {
			cfg.Delay = r.IntN(1500)
		}
		if cfg.Check() != nil {
			cfg.Extras = false
		}
		if r.IntN(3) == 0 {
			cfg.Chip.SMs, cfg.Chip.L1.On = 1+r.IntN(4), r.IntN(2) == 0
			if cfg.Check() != nil {
				cfg.Chip.SMs, cfg.Chip.L1.On = 1, false
			}
		}
		texts := []string{randomProgram(r, 1), randomProgram(r, 0)}
		k, _ := setUpWith(t, r, cfg, texts, r.Perm(kepler.Warps)[:1+r.IntN(kepler.Warps)])
		k.Trace(!cfg.Chip.Wanted())
		if cfg.Chip.Wanted() {
			c, err := chip.New(k)
			if err != nil {
				t.Fatal(err)
			}
			c.Run(4000)
			c.Gather()
			ends["chip"]++
		} else {
			k.Run(4000)
			addsUp(t, k)
		}
		switch {
		case k.Done():
			ends["done"]++
		case k.Fault() != nil:
			ends["fault"]++
		case k.Stuck():
			if ends["stuck"]++; len(k.Waits()) == 0 {
				t.Errorf("seed %d: stuck, but no warp waits", seed)
			}
		case k.Cycle() == 4000:
			ends["limit"]++
		default:
			t.Errorf("seed %d: stops in cycle %d without a reason", seed, k.Cycle())
		}
		if t.Failed() {
			t.Fatalf("seed %d: %+v", seed, cfg)
		}
	}
	if few := seeds / 15; ends["done"] < few || ends["fault"] < few || ends["stuck"]+ends["limit"] == 0 || ends["chip"] < few {
		t.Errorf("%v: too much of one kind", ends)
	}
}
