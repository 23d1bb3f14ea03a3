package config_test

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/config"
)

// goldenMachines has every field of the settings of each built-in GPU, one line per
// field: one value if all agree, else their values in the order of config.Names. It
// was written before the parameters moved to their models.
const goldenMachines = "testdata/machines.golden"

var update = flag.Bool("update", false, "write testdata/machines.golden anew")

// TestMachinesStayAsTheyAre compares them. Make intended changes in the file by
// hand, so that readers of the diff see them.
func TestMachinesStayAsTheyAre(t *testing.T) {
	var fields []string
	values := map[string][]string{}
	for _, name := range config.Names() {
		g, err := config.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		walk(reflect.ValueOf(g.ChipConfig()), "", func(field, value string) {
			if values[field] == nil {
				fields = append(fields, field)
			}
			values[field] = append(values[field], value)
		})
	}
	var b strings.Builder
	for _, f := range fields {
		v := values[f]
		same := len(v) == len(config.Names())
		for _, x := range v {
			same = same && x == v[0]
		}
		if same {
			v = v[:1]
		}
		fmt.Fprintf(&b, "%s: %s\n", f, strings.Join(v, " | "))
	}
	if *update {
		if err := os.WriteFile(goldenMachines, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(goldenMachines)
	if err != nil {
		t.Fatal(err)
	}
	have, lines := b.String(), strings.Split(string(want), "\n")
	for i, line := range strings.Split(have, "\n") {
		if i >= len(lines) || line != lines[i] {
			t.Fatalf("%s:%d: want %q, have %q", goldenMachines, i+1, append(lines, "nothing")[min(i, len(lines))], line)
		}
	}
	if have != string(want) {
		t.Fatalf("%s has more lines than there are fields", goldenMachines)
	}
}

// walk calls f for every field of a value that has no subfields.
func walk(v reflect.Value, at string, f func(field, value string)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			walk(v.Field(i), at+"."+v.Type().Field(i).Name, f)
		}
	case reflect.Array:
		if v.Type().Elem().Kind() == reflect.Struct {
			for i := range v.Len() {
				walk(v.Index(i), fmt.Sprintf("%s.%d", at, i), f)
			}
			return
		}
		f(at, fmt.Sprint(v))
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			f(at, "nil")
			return
		}
		if v.Kind() == reflect.Interface {
			at += "(" + v.Elem().Elem().Type().String() + ")" // a pointer to a struct
		}
		walk(v.Elem(), at, f)
	default:
		f(at, fmt.Sprintf("%v", v))
	}
}
