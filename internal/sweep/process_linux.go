package sweep

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// group makes a command and what it starts a group of processes; the command ends with this one, and
// heddle cuda ends its program then.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// kill ends a command and what it has started.
func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// maxResident is the most memory of a process that has ended, or of one that it waited for.
func maxResident(s *os.ProcessState) int64 {
	if u, ok := s.SysUsage().(*syscall.Rusage); ok {
		return u.Maxrss << 10
	}
	return 0
}

// resident adds up the memory of groups of processes, in bytes by their leaders.
func resident(groups map[int]int64) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return
	}
	page := int64(os.Getpagesize())
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		leader, err := syscall.Getpgid(pid)
		if err != nil {
			continue
		}
		if _, ok := groups[leader]; !ok {
			continue
		}
		text, err := os.ReadFile("/proc/" + e.Name() + "/statm") // size resident …, in pages
		if err != nil {
			continue
		}
		if f := bytes.Fields(text); len(f) > 1 {
			n, _ := strconv.ParseInt(string(f[1]), 10, 64)
			groups[leader] += n * page
		}
	}
}

// available is the memory that this computer can still give, in bytes; 0 if it is not known.
func available() int64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(text) {
		if f := bytes.Fields(line); len(f) > 1 && string(f[0]) == "MemAvailable:" {
			n, _ := strconv.ParseInt(string(f[1]), 10, 64)
			return min(n<<10, granted())
		}
	}
	return 0
}

// granted is the memory that this process's control group may use, as in containers and jobs of a
// cluster, in bytes.
func granted() int64 {
	least := int64(math.MaxInt64)
	text, err := os.ReadFile("/proc/self/cgroup") // version 2: 0::/path
	if err != nil {
		return least
	}
	_, path, _ := strings.Cut(strings.TrimSpace(string(text)), "0::")
	for path = filepath.Clean("/" + path); ; path = filepath.Dir(path) {
		limit, err := os.ReadFile(filepath.Join("/sys/fs/cgroup", path, "memory.max"))
		if err == nil {
			if n, err := strconv.ParseInt(strings.TrimSpace(string(limit)), 10, 64); err == nil { // or "max"
				least = min(least, n)
			}
		}
		if path == "/" {
			return least
		}
	}
}
