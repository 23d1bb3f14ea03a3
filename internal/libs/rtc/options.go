package rtc

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/near"
	"github.com/heddle-sim/heddle/internal/work/cuda/sdk"
)

// settings are the parsed options of a compilation.
type settings struct {
	release       int      // of CUDA, such as 12090
	arch          string   // sm_XX
	machine       bool     // the option named a GPU, not a virtual architecture
	flags         []string // for clang
	defaultDevice bool     // functions without an execution space are for the device too
	noSourceDir   bool     // do not search the folder of the source
}

// defaultArch is NVRTC's default in CUDA 11 and 12.
const defaultArch = "sm_52"

// effect is what an option does, given its value.
type effect func(s *settings, name, value string) error

// option is an entry of the table of options.
type option struct {
	valued bool
	effect effect
}

// The effects that several options share.
var (
	ignored effect = func(*settings, string, string) error { return nil }
	same    effect = func(s *settings, name, _ string) error { // as nvcc's flag of this name
		to, _ := sdk.ClangFlag(name)
		s.flags = append(s.flags, to...)
		return nil
	}
	asIs    effect = func(s *settings, name, value string) error { s.flags = append(s.flags, name+value); return nil }
	inWords effect = func(s *settings, name, value string) error { s.flags = append(s.flags, name, value); return nil }
	yesOrNo effect = func(s *settings, name, value string) error {
		yes, err := isYes(value)
		if to, ok := sdk.ClangFlag(fmt.Sprintf("%s=%t", name, yes)); ok {
			s.flags = append(s.flags, to...)
		}
		return err
	}
	ir effect = func(*settings, string, string) error {
		return fmt.Errorf("NVIDIA's intermediate representations are not generated; compile to PTX without this option")
	}
	device effect = func(s *settings, _, _ string) error { s.flags = append(s.flags, "-fgpu-rdc"); return nil }
)

func isYes(value string) (bool, error) {
	if value != "true" && value != "false" {
		return false, fmt.Errorf("the value %q is invalid; want true or false", value)
	}
	return value == "true", nil
}

// standards are the values of --std. Clang's own headers need C++11.
var standards = map[string]string{"c++03": "c++11", "c++11": "c++11", "c++14": "c++14", "c++17": "c++17", "c++20": "c++20"}

// options are NVRTC's options by their short names, or their long names if these are the
// only ones (NVRTC documentation, section Supported Compile Options).
var options = map[string]option{
	"-arch":    {true, (*settings).setArch},
	"-I":       {true, asIs},
	"-D":       {true, asIs},
	"-U":       {true, asIs},
	"-include": {true, inWords},
	"-std": {true, func(s *settings, _, value string) error {
		standard, ok := standards[value]
		if !ok {
			return fmt.Errorf("%q is not a standard; want one of %s", value, strings.Join(slices.Sorted(maps.Keys(standards)), ", "))
		}
		s.flags = append(s.flags, "-std="+standard)
		return nil
	}},
	"-rdc": {true, func(s *settings, name, value string) error {
		yes, err := isYes(value)
		if yes {
			return device(s, name, value)
		}
		return err
	}},
	"-dc": {false, device}, "-dw": {false, ignored}, "-ewp": {false, device},
	"-G": {false, same}, "-lineinfo": {false, same}, "-use_fast_math": {false, same},
	"-ftz": {true, yesOrNo}, "-prec-sqrt": {true, yesOrNo}, "-prec-div": {true, yesOrNo}, "-fmad": {true, yesOrNo},
	"-w":                 {false, asIs},
	"-default-device":    {false, func(s *settings, _, _ string) error { s.defaultDevice = true; return nil }},
	"-no-source-include": {false, func(s *settings, _, _ string) error { s.noSourceDir = true; return nil }},
	"-maxrregcount": {true, func(_ *settings, _, value string) error {
		if _, err := strconv.ParseUint(value, 10, 32); err != nil {
			return fmt.Errorf("%q is not a number of registers", value)
		}
		return nil
	}},

	// They concern ptxas, cudafe, or the time that a compilation takes.
	"-Xptxas": {true, ignored}, "-dopt": {true, ignored}, "-Ofc": {true, ignored}, "-restrict": {false, ignored},
	"-extra-device-vectorization": {false, ignored}, "--modify-stack-limit": {true, yesOrNo}, "-jtd": {true, ignored},
	"-device-stack-protector": {true, yesOrNo}, "--builtin-move-forward": {true, yesOrNo}, "--builtin-initializer-list": {true, yesOrNo},
	"-pch": {false, ignored}, "--use-pch": {true, ignored}, "--create-pch": {true, ignored}, "--pch-dir": {true, ignored},
	"--pch-verbose": {true, yesOrNo}, "--pch-messages": {true, yesOrNo}, "--instantiate-templates-in-pch": {true, yesOrNo},
	"-device-int128": {false, ignored}, "-device-float128": {false, ignored}, "-opt-info": {true, ignored},
	"-err-no": {false, ignored}, "-no-err-no": {false, ignored}, "-diag-error": {true, ignored}, "-diag-suppress": {true, ignored},
	"-diag-warn": {true, ignored}, "-brief-diag": {true, yesOrNo}, "-split-compile": {true, ignored}, "-minimal": {false, ignored},
	"-dQ": {true, yesOrNo}, "-no-cache": {false, ignored}, "-frandom-seed": {true, ignored},

	"-dlto": {false, ir}, "--gen-opt-lto": {false, ir}, "-optix-ir": {false, ir},
}

// otherNames are long names that nvcc does not have, or abbreviates otherwise.
var otherNames = map[string]string{
	"--device-w": "-dw", "--extensible-whole-program": "-ewp", "--device-debug": "-G", "--generate-line-info": "-lineinfo",
	"--use_fast_math": "-use_fast_math", "--device-as-default-execution-space": "-default-device", "--no-source-include": "-no-source-include",
	"--maxrregcount": "-maxrregcount", "--ptxas-options": "-Xptxas", "--dopt": "-dopt", "--Ofast-compile": "-Ofc", "--restrict": "-restrict",
	"--extra-device-vectorization": "-extra-device-vectorization", "-modify-stack-limit": "--modify-stack-limit",
	"--jump-table-density": "-jtd", "--device-stack-protector": "-device-stack-protector", "--pch": "-pch",
	"--device-int128": "-device-int128", "--device-float128": "-device-float128", "--optimization-info": "-opt-info",
	"--display-error-number": "-err-no", "--no-display-error-number": "-no-err-no", "--diag-error": "-diag-error",
	"--diag-suppress": "-diag-suppress", "--diag-warn": "-diag-warn", "--brief-diagnostics": "-brief-diag",
	"--split-compile": "-split-compile", "--minimal": "-minimal", "--version-ident": "-dQ", "--no-cache": "-no-cache",
	"--frandom-seed": "-frandom-seed", "--dlink-time-opt": "-dlto", "--optix-ir": "-optix-ir",
	"-builtin-move-forward": "--builtin-move-forward", "-builtin-initializer-list": "--builtin-initializer-list",
}

// canonical returns the name of an option in the table.
func canonical(name string) string {
	if short, ok := otherNames[name]; ok {
		return short
	}
	return sdk.ShortFlag(name)
}

// setArch sets the architecture.
func (s *settings) setArch(_, value string) error {
	arch, ok := sdk.Arch(value)
	number := strings.TrimPrefix(arch, "sm_")
	s.arch, s.machine = arch, value == arch
	if !ok || !s.machine && value != "compute_"+number {
		return fmt.Errorf("%q is not an architecture; want compute_XX or sm_XX, such as compute_70", value)
	}
	return nil
}

// parse parses the options of a compilation. The value of an option follows an equals
// sign or a blank, or is the next element, or, for a name of one letter, the rest.
func parse(list []string) (settings, error) {
	s := settings{arch: defaultArch}
	for i := 0; i < len(list); i++ {
		text := strings.TrimSpace(list[i])
		name, value, joined := text, "", false
		if at := strings.IndexAny(text, "= \t"); at > 0 {
			name, value, joined = text[:at], strings.TrimSpace(text[at+1:]), true
		}
		for _, letter := range []string{"-I", "-D", "-U"} {
			if rest, ok := strings.CutPrefix(text, letter); ok && rest != "" {
				name, value, joined = letter, strings.TrimSpace(strings.TrimPrefix(rest, "=")), true
			}
		}
		short := canonical(name)
		o, ok := options[short]
		switch {
		case !ok:
			return s, fmt.Errorf("unrecognized option %q%s", list[i], suggestion(name))
		case o.valued && !joined && i+1 == len(list), o.valued && joined && value == "":
			return s, fmt.Errorf("option %q: a value is missing", list[i])
		case o.valued && !joined:
			i++
			value = strings.TrimSpace(list[i])
		case !o.valued && joined:
			return s, fmt.Errorf("option %q: %s has no value", list[i], name)
		}
		if err := o.effect(&s, short, value); err != nil {
			return s, fmt.Errorf("option %q: %w", list[i], err)
		}
	}
	return s, nil
}

// suggestion proposes the nearest known option.
func suggestion(name string) string {
	known := slices.Collect(maps.Keys(options))
	known = slices.AppendSeq(known, maps.Keys(otherNames))
	for _, flag := range sdk.LongFlags() {
		if _, ok := options[sdk.ShortFlag(flag)]; ok {
			known = append(known, flag)
		}
	}
	slices.Sort(known)
	if n := near.Name(name, known); n != "" {
		return fmt.Sprintf("; did you mean %q?", n)
	}
	return ""
}
