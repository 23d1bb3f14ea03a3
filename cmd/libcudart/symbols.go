package main

/*
#include "host.h"
*/
import "C"

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
	"unsafe"
)

// This file: the names of the driver's functions, by which programs find them.

// driverNames are the functions of CUDA 11 to 13.2: the name of the symbol, and the release
// with which it came, where a later form of an earlier function makes that matter.
//
//go:embed driver.txt
var driverNames string

// forms are the functions with a name in programs, the newest form first.
var forms = sync.OnceValue(func() map[string][]form {
	const newest = 9 // of the numbers in _v2 and so on; more than there are
	all := map[string]int{}
	for line := range strings.Lines(driverNames) {
		var name string
		var major, minor int
		if n, _ := fmt.Sscanf(line, "%s %d.%d", &name, &major, &minor); n > 0 && name[0] != '#' {
			all[name] = 1000*major + 10*minor
		}
	}
	table := map[string][]form{}
	for name := range all {
		base, version, numbered := strings.Cut(name, "_v")
		if _, plain := all[base]; plain && numbered && len(version) == 1 || table[base] != nil {
			continue // with the first of its forms
		}
		if numbered && len(version) == 1 {
			name = base
		}
		for v := newest; v >= 2; v-- {
			if full := fmt.Sprintf("%s_v%d", name, v); hasKey(all, full) {
				table[name] = append(table[name], form{full, all[full]})
			}
		}
		if from, ok := all[name]; ok {
			table[name] = append(table[name], form{name, from})
		}
	}
	table["cuGraphInstantiate"] = append([]form{{"cuGraphInstantiateWithFlags", 12000}}, table["cuGraphInstantiate"]...)
	return table
})

func hasKey(m map[string]int, k string) bool { _, ok := m[k]; return ok }

// form is a function, and the release from which a name refers to it.
type form struct {
	symbol string
	from   int
}

// find returns the address of a function by its name in programs, 0 if that release does
// not have it.
func find(name string, release int, perThread bool) (C.uintptr_t, C.int) {
	list := forms()[name]
	if list == nil {
		return 0, C.CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
	}
	endings := []string{""}
	if perThread {
		endings = []string{"_ptsz", "_ptds", ""}
	}
	for _, f := range list {
		if f.from > release {
			continue
		}
		for _, ending := range endings {
			full := C.CString(f.symbol + ending)
			fn := C.heddle_symbol(full)
			C.heddle_free(unsafe.Pointer(full))
			if fn != 0 {
				return fn, C.CU_GET_PROC_ADDRESS_SUCCESS
			}
		}
	}
	return 0, C.CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
}
