package cli

import (
	"os/exec"
	"syscall"
)

// endWithThis makes a command end when the thread that starts it does, as when this program is
// killed.
func endWithThis(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
