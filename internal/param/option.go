package param

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// This file: the options of other simulators' files, as far as they set
// parameters. Most stand in the from tags of fields: options that have a default
// there are written -name=default, those that must be given !-name=default. What
// follows them says how the option differs from the parameter: "not" for one that
// is the other way round, "+1" for one that is less by so much, and a list such as
// slots|interleaved for the words that 0, 1 and so on stand for, if those are not
// the parameter's in their order.

// Option is an option of another simulator's files.
type Option struct {
	Name     string
	Default  string // what it is where a file does not say, as text; "" if the parameters' own defaults do
	Required bool
	// Keys are what it sets together with other options, after all have been read.
	Keys []string
	// Set gives its value to parameters. It is nil where none corresponds to the
	// option; Note says why.
	Set  func(value string, put Put) error
	Note string
}

// Put gives a value to a parameter.
type Put func(key string, v any) error

// Given is what was read, for parameters that depend on several options. Value
// returns an option's, or its default; source is what a value comes from.
type Given struct {
	Value func(option string) string
	Put   func(source, key string, v any) error
}

// Options returns the options that set the parameter alone.
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
			return fmt.Errorf("%d stands for nothing here", n)
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
		return 0, fmt.Errorf("%.40q is not a whole number", s)
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
			return nil, errors.New("more than 64 numbers")
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

// OfNumbers returns an option whose numbers are those of several parameters.
func OfNumbers(name, def, sep string, keys ...string) Option {
	return Option{Name: name, Default: def, Set: func(v string, put Put) error {
		list, err := Numbers(v, sep)
		if err != nil {
			return err
		}
		if len(list) != len(keys) {
			return fmt.Errorf("%d numbers, %d are wanted", len(list), len(keys))
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
