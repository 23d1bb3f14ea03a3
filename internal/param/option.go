package param

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// This file: the options of other simulators' files that set parameters. Most are
// in the from tags of fields: options with a default are written -name=default,
// required ones !-name=default. What follows says how the option differs from the
// parameter: "not" for an inverted one, "+1" for one that is less by 1, and a list
// such as slots|interleaved for the words that 0, 1 and so on stand for, if these
// are not the parameter's words in their order.

// Option is an option of another simulator's files.
type Option struct {
	Name     string
	Default  string // its default, as text; "" if the parameters' own defaults apply
	Required bool
	// Keys are the parameters that it sets together with other options, after all
	// have been read.
	Keys []string
	// Set assigns its value to parameters. It is nil if no parameter corresponds to
	// the option; Note says why.
	Set  func(value string, put Put) error
	Note string
}

// Put assigns a value to a parameter.
type Put func(key string, v any) error

// Given has the options read, for parameters that depend on several of them. Value
// returns an option's value, or its default; source is the source of a value.
type Given struct {
	Value func(option string) string
	Put   func(source, key string, v any) error
}

// Options returns the options that set only this parameter.
func (p *Param) Options() []Option {
	var list []Option
	not, more, words := false, int64(0), p.words
	for _, f := range strings.Fields(p.from) {
		switch {
		case f == "not":
			not = true
		case f[0] == '+':
			more, _ = strconv.ParseInt(f, 10, 64)
		case strings.HasPrefix(f, "-"), strings.HasPrefix(f, "!"):
			name, def, _ := strings.Cut(strings.TrimPrefix(f, "!"), "=")
			list = append(list, Option{Name: name, Default: def, Required: f[0] == '!'})
		default:
			words = strings.Split(f, "|")
		}
	}
	set := func(v string, put Put) error {
		switch {
		case p.Kind == Bool:
			b, err := Truth(v)
			if err != nil {
				return err
			}
			return put(p.Name, b != not)
		case p.Kind == Text && words == nil:
			return put(p.Name, v)
		}
		n, err := Number(v)
		switch {
		case err != nil:
			return err
		case p.Kind == Int:
			return put(p.Name, n+more)
		case n < 0 || n >= int64(len(words)) || words[n] == "":
			return fmt.Errorf("%d has no meaning here", n)
		}
		return put(p.Name, words[n])
	}
	for i := range list {
		list[i].Set = set
	}
	return list
}

// Number reads a whole number.
func Number(s string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%.40q: want a whole number", s)
	}
	return n, nil
}

// Numbers splits a list of numbers.
func Numbers(v, sep string) ([]int64, error) {
	var list []int64
	for s := range strings.SplitSeq(v, sep) {
		n, err := Number(s)
		if err != nil {
			return nil, err
		}
		if list = append(list, n); len(list) > 64 {
			return nil, errors.New("want at most 64 numbers")
		}
	}
	return list, nil
}

// Truth reads 0 or 1.
func Truth(v string) (bool, error) {
	switch v = strings.TrimSpace(v); v {
	case "0":
		return false, nil
	case "1":
		return true, nil
	}
	return false, fmt.Errorf("want 0 or 1, not %.20q", v)
}

// OfNumbers returns an option whose numbers set several parameters.
func OfNumbers(name, def, sep string, keys ...string) Option {
	return Option{Name: name, Default: def, Set: func(v string, put Put) error {
		list, err := Numbers(v, sep)
		if err != nil {
			return err
		}
		if len(list) != len(keys) {
			return fmt.Errorf("%d numbers; want %d", len(list), len(keys))
		}
		for i, k := range keys {
			if err := put(k, list[i]); err != nil {
				return err
			}
		}
		return nil
	}}
}

// Below puts a table before each last part of a key.
func Below(table string, last ...string) []string {
	out := make([]string, len(last))
	for i := range out {
		out[i] = table + "." + last[i]
	}
	return out
}
