//go:build !linux

package main

import "os/exec"

func endWithThis(*exec.Cmd) {}
