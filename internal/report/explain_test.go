package report_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/core/modern"
	"github.com/heddle-sim/heddle/internal/core/simt"
	"github.com/heddle-sim/heddle/internal/report"
)

// figures appends the paths of all numbers in the JSON form of a type; maps of
// numbers end with a dot. A type within itself, like a range within a range, counts
// once.
func figures(t reflect.Type, path string, list []string) []string {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return figures(t.Elem(), path, list)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case f.Type == reflect.SliceOf(reflect.PointerTo(t)):
			case f.Anonymous:
				list = figures(f.Type, path, list)
			case path == "":
				list = figures(f.Type, name, list)
			default:
				list = figures(f.Type, path+"."+name, list)
			}
		}
	case reflect.Map:
		if k := t.Elem().Kind(); k == reflect.Uint64 {
			list = append(list, path+".")
		}
	case reflect.Int, reflect.Int64, reflect.Uint64, reflect.Float64:
		list = append(list, path)
	}
	return list
}

// Every number of the JSON result is explained, those that say what was
// compared, written or wrong, what happened step by step or in the pipeline, or what warps do on a live page, aside.
func TestExplained(t *testing.T) {
	explained := map[string]int{}
	for _, c := range report.Counters() {
		explained[c.Name]++
		if c.Meaning == "" || c.Source == "" {
			t.Errorf("%s has no meaning or no source", c.Name)
		}
		if strings.Contains(c.Meaning, "%") {
			t.Errorf("%s: %q", c.Name, c.Meaning)
		}
	}
	for name, n := range explained {
		if n > 1 {
			t.Errorf("%s is explained %d times", name, n)
		}
	}
	list := figures(reflect.TypeFor[report.Run](), "", nil)
	seen := 0
	for _, path := range list {
		switch top, _, _ := strings.Cut(path, "."); top {
		case "checks", "dumps", "error", "steps", "lessons", "films", "ways", "now":
			continue
		}
		seen++
		name := strings.TrimPrefix(path, "kernels.")
		if !strings.HasSuffix(name, ".") {
			if explained[name] == 0 {
				t.Errorf("%s is not explained", path)
			}
			continue
		}
		switch name {
		case "stalls.":
			for st := range simt.WarpStates {
				if explained[name+st.String()] == 0 {
					t.Errorf("%s%s is not explained", path, st)
				}
			}
			for st := range kepler.WarpStates {
				if explained[name+st.String()] == 0 {
					t.Errorf("%s%s is not explained", path, st)
				}
			}
			for st := range modern.WarpStates {
				if explained[name+st.String()] == 0 {
					t.Errorf("%s%s is not explained", path, st)
				}
			}
		case "slot_stalls.":
			for st := kepler.SlotSingle + 1; st < kepler.SlotStates; st++ {
				if explained[name+st.String()] == 0 {
					t.Errorf("%s%s is not explained", path, st)
				}
			}
			for st := range modern.WarpStates {
				if st != modern.Selected && explained[name+st.String()] == 0 {
					t.Errorf("%s%s is not explained", path, st)
				}
			}
			for _, s := range []string{"idle", "scoreboard", "pipe", "no_warp"} {
				if explained[name+s] == 0 {
					t.Errorf("%s%s is not explained", path, s)
				}
			}
		case "flops.", "lines.stalls.", "warps.stalls.", "kepler.exit_cycle.":
			if explained[strings.TrimSuffix(name, ".")] == 0 {
				t.Errorf("%s is not explained", path)
			}
		default:
			t.Errorf("%s: unknown map", path)
		}
	}
	if seen < 70 {
		t.Errorf("only %d numbers: %v", seen, list)
	}
}

func TestFindExplanation(t *testing.T) {
	for _, c := range []struct {
		name  string
		first string
		n     int
	}{
		{"memory.l2.hits", "memory.l2.hits", 1},
		{"kernels.memory.l2.hits", "memory.l2.hits", 1},
		{"l2.hits", "memory.l2.hits", 2}, // and of each slice
		{"hits", "memory.l1.hits", 7},
		{"long_scoreboard", "stalls.long_scoreboard", 2}, // and of schedulers
		{"gpu_sim_cycle", "gpu_sim_cycle", 1},
		{"L2_cache_bank[3]", "L2_cache_bank[…]", 1},
		{"Total_core_cache_stats_breakdown[GLOBAL_ACC_R][HIT]", "Total_core_cache_stats_breakdown[…][…]", 1},
	} {
		found, _ := report.Explained(c.name)
		if len(found) != c.n || found[0].Name != c.first {
			t.Errorf("%s: %v, want %d, first %s", c.name, found, c.n, c.first)
		}
	}
	for name, near := range map[string]string{"dram": "clocks.dram_mhz", "": "", "[": ""} {
		found, list := report.Explained(name)
		if len(found) != 0 || near != "" && (len(list) == 0 || list[0] != near) || near == "" && name == "" && len(list) != 0 {
			t.Errorf("%q: found %v, near %v", name, found, list)
		}
	}
}
