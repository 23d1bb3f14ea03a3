//go:build !linux

package sweep

import (
	"os"
	"os/exec"
)

func group(*exec.Cmd) {}

func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func maxResident(*os.ProcessState) int64 { return 0 }

// resident does nothing: what processes need is not known here.
func resident(map[int]int64) {}

func available() int64 { return 0 }
