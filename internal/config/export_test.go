package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/param"
)

// OptionNames lists the options of GPGPU-Sim with a use, except those of core
// models that a file chooses.
func OptionNames(use Use) []string {
	var list []string
	_, rows := allOptions()
	for _, row := range rows {
		if row.use == use && !OfChosenCore(row.Name) {
			list = append(list, row.Name)
		}
	}
	return list
}

// OfChosenCore reports whether an option is for a core model that a file chooses.
func OfChosenCore(name string) bool {
	for _, m := range core.Models() {
		if m.ChosenBy == "" {
			continue
		}
		list := m.Options()
		for _, p := range param.Of(m.Params(), m.Name+".", m.Whole) {
			list = append(list, p.Options()...)
		}
		if name == m.ChosenBy || slices.ContainsFunc(list, func(o param.Option) bool { return o.Name == name }) {
			return true
		}
	}
	return false
}

// NetworkNames lists the settings of network files.
func NetworkNames() []string { return slices.Sorted(maps.Keys(networkTable)) }

// NetworkIsFixed reports whether a setting has only one supported value, or is not
// used.
func NetworkIsFixed(name string) bool {
	row := networkTable[name]
	return row.only != "" || row.note != "" || name == "routing_function" || strings.HasSuffix(name, "_end_vc")
}

// OptionIsInert reports whether no run depends on an option's parameters.
func OptionIsInert(name string) bool {
	at, _ := allOptions()
	r := &reader{g: &GPU{}, at: at, given: map[string]bool{}, value: map[string]string{}}
	row := at[name]
	for _, v := range []string{row.Default, "1", "1,2"} {
		if v != "" && r.apply(row, v) == nil {
			break
		}
	}
	_, all := allInert(r.keys)
	return all
}
