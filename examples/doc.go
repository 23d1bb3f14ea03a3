// Package examples holds no code of its own, only kernels with their job files
// and the test that compares what they compute with references written in Go.
// README.md lists them.
package examples
