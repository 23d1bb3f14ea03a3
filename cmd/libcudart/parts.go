package main

/*
#include "host.h"
*/
import "C"

// This file: what allocators of the program say to checkers, by heddle/check.h (HeddleGive and HeddleTake
// in calls.c).

//export heddleGivePart
func heddleGivePart(addr C.uintptr_t, n C.size_t, stream C.uintptr_t) C.int {
	return C.int(thread().GivePart(uint64(addr), uint64(n), uint64(stream)))
}

//export heddleTakePart
func heddleTakePart(addr C.uintptr_t, n C.size_t, stream C.uintptr_t) C.int {
	return C.int(thread().TakePart(uint64(addr), uint64(n), uint64(stream)))
}
