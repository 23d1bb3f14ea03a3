package sass

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// archTables are the architectures and the files that make up their tables, base first: a
// later file's rows precede an earlier one's, and `drop` removes opcodes that have another
// meaning.
var archTables = map[Arch][]string{
	70: {"sm_75", "mem_75", "tex", "sm_70"},
	75: {"sm_75", "mem_75", "tex"},
	80: {"sm_75", "mem_80", "tex", "sm_80"},
	86: {"sm_75", "mem_80", "tex", "sm_80", "sm_86"},
	87: {"sm_75", "mem_80", "tex", "sm_80", "sm_86"},
	89: {"sm_75", "mem_80", "tex", "sm_80", "sm_86", "sm_89"},
	90: {"sm_75", "mem_80", "tex", "sm_80", "hopper", "sm_90"},

	120: {"sm_75", "mem_100", "tex", "sm_80", "hopper", "sm_100", "sm_120"},
	121: {"sm_75", "mem_100", "tex", "sm_80", "hopper", "sm_100", "sm_120"},

	// These can only be disassembled, and not completely.
	100: {"sm_75", "mem_100", "tex", "sm_80", "hopper", "sm_100"},
	110: {"sm_75", "mem_100", "tex", "sm_80", "hopper", "sm_100"},
}

// Assembles reports whether programs of the architecture can be assembled; others can only
// be disassembled.
func (a Arch) Assembles() bool { return a < 100 || a >= 120 }

// Executes reports whether what the architecture's instructions do is defined in exec/sass; code
// of others can only be listed.
func (a Arch) Executes() bool { return archTables[a] != nil && a.Assembles() && a != 70 && a != 90 }

// ExecutedArchs names the architectures that Executes accepts, for messages.
const ExecutedArchs = "sm_75 to sm_89, sm_120 and sm_121"

// wideUniform reports whether uniform registers have numbers of eight bits.
func (a Arch) wideUniform() bool { return a >= 100 }

// wideSpans are the places of uniform registers with eight bits.
var wideSpans = map[string]string{"21:16": "23:16", "29:24": "31:24", "37:32": "39:32", "69:64": "71:64"}

// Archs lists the architectures with tables, in order.
func Archs() []Arch {
	list := make([]Arch, 0, len(archTables))
	for a := range archTables {
		list = append(list, a)
	}
	slices.Sort(list)
	return list
}

// String is the architecture's name: sm_86.
func (a Arch) String() string { return fmt.Sprintf("sm_%d", int(a)) }

// ParseArch reads the name of an architecture. sm_90a, with the instructions that only this
// architecture has, is sm_90: their words are in its table.
func ParseArch(name string) (Arch, error) {
	if num, ok := strings.CutPrefix(name, "sm_"); ok {
		if n, err := strconv.Atoi(strings.TrimRight(num, "af")); err == nil {
			if _, ok := archTables[Arch(n)]; ok {
				return Arch(n), nil
			}
		}
	}
	names := make([]string, 0, len(archTables))
	for _, a := range Archs() {
		names = append(names, a.String())
	}
	return 0, fmt.Errorf("unknown architecture %q; want one of %s", name, strings.Join(names, ", "))
}
