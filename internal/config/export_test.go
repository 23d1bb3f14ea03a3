package config

import (
	"maps"
	"slices"
	"strings"
)

// OptionNames lists the options of GPGPU-Sim that become so.
func OptionNames(use Use) []string {
	var list []string
	for i := range optionTable {
		if optionTable[i].use == use {
			list = append(list, optionTable[i].name)
		}
	}
	if use == ModernCore {
		list = append(list, modernOptions...)
	}
	return list
}

// NetworkNames lists the settings of network files.
func NetworkNames() []string { return slices.Sorted(maps.Keys(networkTable)) }

// NetworkIsFixed reports whether a setting has one value only, or none that is
// used.
func NetworkIsFixed(name string) bool {
	row := networkTable[name]
	return row.only != "" || row.note != "" || name == "routing_function" || strings.HasSuffix(name, "_end_vc")
}

// OptionIsInert reports whether no run depends on what an option sets.
func OptionIsInert(name string) bool {
	r := &reader{g: &GPU{}, given: map[string]bool{}}
	row := optionAt[name]
	for _, v := range []string{row.def, "1", "1,2"} {
		if v != "" && row.apply(r, v) == nil {
			break
		}
	}
	_, all := allInert(r.keys)
	return all
}
