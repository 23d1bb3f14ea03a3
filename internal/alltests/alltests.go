// Package alltests is the switch for tests that take long. Without it go test
// ./... ends within minutes and leaves out what is rare: more GPUs in place of
// one, every installed compiler, large inputs. With HEDDLE_ALL=1 in the
// environment everything runs, as .ci/run does it.
package alltests

import (
	"os"
	"testing"
)

// On reports whether tests run in full. With -short they do not.
func On() bool { return os.Getenv("HEDDLE_ALL") != "" && !testing.Short() }

// Some returns the first n elements of a list, or all of it if tests run in full.
func Some[T any](list []T, n int) []T {
	if On() {
		return list
	}
	return list[:min(n, len(list))]
}

// Spread returns a kth part of a list for case n of several: the nth element and
// every kth after it, round the end. Many cases have all elements between them, where
// every case with every element takes long and shows no more.
func Spread[T any](list []T, n, k int) []T {
	var part []T
	for i := range max(1, len(list)/k) {
		part = append(part, list[(n+i*k)%len(list)])
	}
	return part
}

// Count returns how often a test repeats something random or exhaustive: few times, or
// many if tests run in full.
func Count(few, many int) int {
	if On() {
		return many
	}
	return few
}

// Only leaves a test out unless tests run in full. What says what it shows.
func Only(t testing.TB, what string) {
	t.Helper()
	if !On() {
		t.Skipf("left out: %s; HEDDLE_ALL=1 go test runs it", what)
	}
}
