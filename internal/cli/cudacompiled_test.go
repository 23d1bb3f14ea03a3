package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCUDAExamplesCompiled runs the programs of examples/cuda as machine code that is made of their PTX, on GPUs of two
// generations. All kernels compile, and the programs print what they print as PTX.
func TestCUDAExamplesCompiled(t *testing.T) {
	root := filepath.Join("..", "..", "examples", "cuda")
	env := append(os.Environ(), cudaEnv(t)...)
	for _, e := range cudaExamples {
		if e.gpu == "h100-pcie" { // which needs what compiled code does not have
			continue
		}
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			command := e.build(t, filepath.Join(root, e.name), env)
			for _, gpu := range []string{"rtx-a6000", "rtx-2080-ti"} {
				if e.gpu == "" || e.gpu == gpu {
					e.runCompiled(t, env, command, gpu)
				}
			}
		})
	}
}

// elapsed is the line at the end of a functional run, with the time that it took.
const elapsed = "done in "

// runCompiled runs the program as PTX and as machine code, functionally, and compares what it prints.
func (e *cudaExample) runCompiled(t *testing.T, env, command []string, gpu string) {
	t.Helper()
	var printed [2]string
	for i, code := range []string{"ptx", "compiled"} {
		args := []string{"cuda", "--gpu", gpu, "--mode", "functional", "--threads", "1", "--quiet", "--code", code}
		out, errs, status := e.started(t, env, args, command)
		if status != e.exit || strings.Contains(errs, "it runs as PTX") {
			t.Errorf("%s, %s: exit code %d, want %d\n%s%s", gpu, code, status, e.exit, out, errs)
		}
		printed[i], _, _ = strings.Cut(strings.Replace(out, "stopped in ", elapsed, 1), elapsed)
	}
	if printed[0] != printed[1] || printed[0] == "" && e.exit == 0 {
		t.Errorf("%s: as PTX it prints\n%sas machine code\n%s", gpu, printed[0], printed[1])
	}
}
