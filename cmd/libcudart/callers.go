package main

/*
#include "host.h"
*/
import "C"

import (
	"strings"

	"github.com/heddle-sim/heddle/internal/binary/process"
	"github.com/heddle-sim/heddle/internal/check"
)

// This file: the program's calls, as places of its source text.

// callers returns a function that finds the places of the program's call in progress, the
// innermost first, without functions of this library and of its headers.
func callers() func() []check.Place {
	C.heddle_watch_callers(1)
	code, known := process.New(), map[[24]C.uintptr_t][]check.Place{}
	return func() []check.Place {
		var list [24]C.uintptr_t
		n := int(C.heddle_callers(&list[0]))
		places, ok := known[list]
		if !ok {
			places = placesOf(code, list[:n])
			known[list] = places
		}
		return places
	}
}

// placesOf finds places of return addresses. The first is in this library.
func placesOf(code *process.Code, list []C.uintptr_t) (places []check.Place) {
	own := ""
	for i, pc := range list {
		for _, f := range code.At(uint64(pc) - 1) { // a call ends before where it returns to
			if i == 0 {
				own = f.Module
			}
			library := f.Module == own || check.InLibrary(f.File) || strings.HasPrefix(f.Function, "__device_stub__")
			if library && len(places) == 0 {
				continue
			}
			places = append(places, check.Place{File: f.File, Line: f.Line, Function: f.Function, Library: library})
			if f.Function == "main" {
				return places
			}
		}
	}
	return places
}
