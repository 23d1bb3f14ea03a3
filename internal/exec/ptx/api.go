package ptx

import "github.com/heddle-sim/heddle/internal/exec"

// Launch, Options and Result are those of every executor.
type (
	Launch  = exec.Launch
	Options = exec.Options
	Result  = exec.Result
	Param   = exec.Param
)

// launch is a running launch.
type launch struct {
	exec.Launch
	grid      uint64     // %gridid, from 1; 0: it has not begun
	workspace uint64     // of a cooperative launch whose kernel asks for it, else 0
	within    []within   // what image.pointers point to
	rest      *exec.Rest // nil unless image.rests
}
