package run

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/near"
)

// DefaultGPU is the machine if neither the command nor the job names one.
const DefaultGPU = "rtx-a6000"

// GPUs lists the built-in machines.
func GPUs() []string { return append(slices.Clone(config.Names()), "kepler-edu") }

// IsFile reports whether a machine is a file or folder.
func IsFile(name string) bool {
	return strings.HasSuffix(name, ".toml") || strings.HasSuffix(name, ".config") || strings.ContainsAny(name, `/\\`)
}

// CheckGPU returns an error for an unknown machine, or for a file that describes none.
func CheckGPU(name string) error {
	if slices.Contains(GPUs(), name) {
		return nil
	}
	if IsFile(name) {
		_, err := config.Load(name)
		return err
	}
	if n := near.Name(name, GPUs()); n != "" {
		return fmt.Errorf("unknown GPU %q; did you mean %q?", name, n)
	}
	return fmt.Errorf("unknown GPU %q; the known ones are %s", name, strings.Join(GPUs(), ", "))
}

// Settings are configuration values by dotted key. The zero value means the defaults.
type Settings struct {
	Conditions map[string]any // run conditions that were set, by key
	Memory     uint64         // functional.memory, bytes; 0: the default
	Heap       uint64         // functional.heap, bytes; 0: the default

	// Core is the requested core model; "" is the machine's own.
	Core string

	// Assignments are the key=value pairs for the machine and the run conditions, in
	// their given order.
	Assignments []string
}

// setting is one key of Set.
type setting struct {
	key, values string
	parse       func(string) (any, bool)
	store       func(*Settings, any)
}

func oneOf(names ...string) func(string) (any, bool) {
	return func(s string) (any, bool) { return s, slices.Contains(names, s) }
}

func boolean(s string) (any, bool) { return s == "true", s == "true" || s == "false" }

func count(s string) (any, bool) {
	n, err := strconv.ParseUint(s, 10, 63)
	return int64(n), err == nil
}

// size reads bytes with an optional unit: 4GiB.
func size(s string) (any, bool) {
	shift := 0
	for _, u := range []struct {
		name  string
		shift int
	}{{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}} {
		if n, ok := strings.CutSuffix(s, u.name); ok {
			s, shift = strings.TrimSpace(n), u.shift
			break
		}
	}
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil || n == 0 || n > 1<<46>>shift {
		return uint64(0), false
	}
	return n << shift, true
}

// settings are the keys of Set. The run conditions have no effect on a functional run;
// they are checked and reported there too, so that one command line works in both modes.
var settings = []setting{
	{"run.caches", "l2-kept, flushed or warm", oneOf("l2-kept", "flushed", "warm"), nil},
	{"run.icache", "cold or warm", oneOf("cold", "warm"), nil},
	{"run.copies_fill_l2", "true or false", boolean, nil},
	{"run.copies", "instant or timed", oneOf("instant", "timed"), nil},
	{"run.launch_latency", "a number of cycles", count, nil},
	{"run.idle_skip", "true or false", boolean, nil},
	{"functional.memory", "the limit of device memory, such as 16GiB", size, func(s *Settings, v any) { s.Memory = v.(uint64) }},
	{"trace.hidden_dependences", "off or recover", oneOf("off", "recover"), nil},
	{"trace.dependences", "recorded, scoreboard or inferred", oneOf("recorded", "scoreboard", "inferred"), nil},
	{"trace.unknown", "comma-separated MNEMONIC=KNOWN pairs such as FOO=IADD3, with * for all others", func(s string) (any, bool) { return s, s != "" }, nil},
	{"functional.heap", "the size of the device heap, such as 8MiB", size, func(s *Settings, v any) { s.Heap = v.(uint64) }},
}

// SettingKeys lists the keys of Set.
func SettingKeys() []string {
	var names []string
	for _, k := range settings {
		names = append(names, k.key)
	}
	return names
}

// allKeys lists the keys of Set and of the machine.
func allKeys() []string {
	names := SettingKeys()
	for _, k := range config.Keys() {
		if !slices.Contains(names, k.Name) {
			names = append(names, k.Name)
		}
	}
	return names
}

// Set parses `key=value` and stores it.
func (s *Settings) Set(arg string) error {
	key, value, ok := strings.Cut(arg, "=")
	if !ok {
		return fmt.Errorf("%q has no value; write key=value", arg)
	}
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	for _, k := range settings {
		if k.key != key {
			continue
		}
		v, ok := k.parse(value)
		if !ok {
			return fmt.Errorf("%s = %q is invalid; want %s", key, value, k.values)
		}
		if k.store != nil {
			k.store(s, v)
		}
		if s.Conditions == nil {
			s.Conditions = map[string]any{}
		}
		s.Conditions[key] = v
		if strings.HasPrefix(key, "run.") {
			s.Assignments = append(s.Assignments, key+"="+value)
		}
		return nil
	}
	if slices.ContainsFunc(config.Keys(), func(k config.Key) bool { return k.Name == key }) {
		s.Assignments = append(s.Assignments, key+"="+value)
		return nil
	}
	return fmt.Errorf("unknown key %q%s", key, near.Suggest(key, allKeys(), "known keys"))
}

// Selection picks launches of a job.
type Selection struct {
	text  string
	parts []selector
}

type selector struct {
	lo, hi int
	re     *regexp.Regexp
}

// ParseSelection parses a list such as `0,2-4,7-,/^bfs/`: numbers, ranges, and regular
// expressions over kernel names.
func ParseSelection(text string) (*Selection, error) {
	sel := &Selection{text: text}
	for rest := text; ; {
		var s selector
		if strings.HasPrefix(rest, "/") {
			end := strings.IndexByte(rest[1:], '/')
			if end < 0 {
				return nil, fmt.Errorf("%q: the regular expression has no closing /", text)
			}
			re, err := regexp.Compile(rest[1 : 1+end])
			if err != nil {
				return nil, fmt.Errorf("%q: %w", text, err)
			}
			s.re, rest = re, rest[2+end:]
		} else {
			item := rest
			if i := strings.IndexByte(rest, ','); i >= 0 {
				item = rest[:i]
			}
			rest = rest[len(item):]
			from, to, isRange := strings.Cut(strings.TrimSpace(item), "-")
			lo, err := strconv.Atoi(from)
			hi := lo
			if isRange && to == "" {
				hi = int(^uint(0) >> 1)
			} else if isRange && err == nil {
				hi, err = strconv.Atoi(to)
			}
			if err != nil || lo < 0 || hi < lo {
				return nil, fmt.Errorf("%q in %q is not a launch; want comma-separated numbers, ranges such as 2-4, or /regular expressions/", item, text)
			}
			s.lo, s.hi = lo, hi
		}
		sel.parts = append(sel.parts, s)
		if rest == "" {
			return sel, nil
		}
		if rest[0] != ',' {
			return nil, fmt.Errorf("%q: a comma is missing before %q", text, rest)
		}
		rest = rest[1:]
	}
}

// String returns the list in its original form.
func (s *Selection) String() string { return s.text }

// Has reports whether the selection contains the launch; a nil one contains all.
func (s *Selection) Has(number int, kernel string) bool {
	if s == nil {
		return true
	}
	for _, p := range s.parts {
		if p.re != nil && p.re.MatchString(kernel) || p.re == nil && p.lo <= number && number <= p.hi {
			return true
		}
	}
	return false
}
