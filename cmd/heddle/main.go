// Command heddle simulates GPU programs. All of it is in internal/cli: go.mod has this folder
// ignored by patterns, so that go test ./... does not compile every package a second time for the
// profile here, default.pgo.
package main

import "github.com/heddle-sim/heddle/internal/cli"

func main() { cli.Main() }
