package heddle

import "github.com/heddle-sim/heddle/internal/mem/cache"

// This file: parts of the memory system that a program can bring. What is
// registered is chosen by its name in a machine's file or with Set, where a
// built-in part would stand. Register parts before the first machine is loaded, such
// as in init; a name that is taken is a panic.

type (
	// ReplacementPolicy picks the lines that a cache gives up. Every cache has a
	// policy of its own; those of several SMs are called side by side. Sets and
	// ways count from 0; now is a time in cycles that does not run backwards.
	//
	//	OnHit(set, way int, now uint64)          // an access found its line, its data there or on their way
	//	OnFill(set, way int, addr, now uint64)   // a way is given to the line of an address; what was there is gone
	//	OnInvalidate(set, way int)               // a way is emptied
	//	Victim(set int, from Ways) int           // the way to give up, one of from; changes nothing
	//
	// A cache asks for a victim only if no way of the set is empty. Ways whose data
	// are on their way are not in from, nor are those that the cache protects; at
	// least one is. A cache may ask more than once before it fills the way.
	ReplacementPolicy = cache.Policy
	// Ways is a set of ways. Has reports whether a way is in it; Next(i) is the
	// first from way i on, -1 if there is none.
	Ways = cache.Ways
)

// RegisterReplacement makes a replacement policy known by a name, which l1d.replace,
// l2.replace and their like then take. A cache whose ways change while it runs, as
// those of an adaptive L1 do, makes a new policy and fills it with its lines.
func RegisterReplacement(name string, maker func(sets, ways int) ReplacementPolicy) {
	cache.Replacements.Register(name, maker)
}
