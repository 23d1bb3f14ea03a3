// Package examples holds kernels with their job files, and the test that compares their
// results with references written in Go. README.md lists them.
package examples
