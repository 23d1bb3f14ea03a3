package config

import (
	"maps"
	"slices"
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
