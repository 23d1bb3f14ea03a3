package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/heddle-sim/heddle/internal/alltests"
)

// cluster is a Slurm of two nodes on this computer, in a folder of its own.
type cluster struct {
	t       *testing.T
	dir     string
	daemons map[string]*exec.Cmd
}

// slurmConf is the configuration: %[1]s is the folder, %[2]s the name of this computer. There are
// no control groups and no accounting; jobs begin at once.
const slurmConf = `ClusterName=heddle
SlurmctldHost=%[2]s(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=%[1]s/munge/munge.sock
CryptoType=crypto/munge
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0,bf_interval=1
EpilogMsgTime=0
CompleteWait=0
ReturnToService=2
SlurmctldPort=16817
SlurmctldPidFile=%[1]s/slurmctld.pid
SlurmdPidFile=%[1]s/slurmd-%%n.pid
StateSaveLocation=%[1]s/state
SlurmdSpoolDir=%[1]s/spool/%%n
SlurmctldLogFile=%[1]s/log/slurmctld.log
SlurmdLogFile=%[1]s/log/slurmd-%%n.log
KillWait=5
NodeName=n1 NodeHostname=%[2]s NodeAddr=127.0.0.1 Port=16821 CPUs=1 RealMemory=2000
NodeName=n2 NodeHostname=%[2]s NodeAddr=127.0.0.1 Port=16822 CPUs=1 RealMemory=2000
PartitionName=debug Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`

// newCluster starts one, or skips the test.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	for _, name := range []string{"sbatch", "squeue", "scontrol", "slurmctld", "slurmd", "munged"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("Slurm is not installed: %v", err)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("Slurm's daemons want to be started by root")
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	dir, err := os.MkdirTemp("/tmp", "heddle-slurm-") // its path is part of a socket's, which must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	c := &cluster{t: t, dir: dir, daemons: map[string]*exec.Cmd{}}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"state", "spool/n1", "spool/n2", "log", "munge"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	key := make([]byte, 128)
	for i := range key {
		key[i] = byte(i * 7)
	}
	for name, text := range map[string]string{"munge.key": string(key), "slurm.conf": fmt.Sprintf(slurmConf, dir, host)} {
		mode := os.FileMode(0o644)
		if name == "munge.key" {
			mode = 0o600
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("SLURM_CONF", filepath.Join(dir, "slurm.conf"))
	c.start("munged", "--foreground", "--force", "--key-file="+dir+"/munge.key", "--socket="+dir+"/munge/munge.sock", "--pid-file="+dir+"/munge/munged.pid", "--log-file="+dir+"/log/munged.log", "--seed-file="+dir+"/munge/seed")
	t.Cleanup(func() { c.stop("munged") })
	c.until("munge.sock", 20*time.Second, func() bool {
		_, err := os.Stat(filepath.Join(dir, "munge", "munge.sock"))
		return err == nil
	})
	c.start("slurmctld", "-D")
	t.Cleanup(func() { c.stop("slurmctld") })
	for _, n := range []string{"n1", "n2"} {
		c.daemons[n] = c.start("slurmd", "-D", "-N", n)
		t.Cleanup(func() { c.stop(n) })
	}
	c.until("two idle nodes", time.Minute, func() bool {
		out, _ := exec.Command("sinfo", "-h", "-N", "-o", "%N %T").CombinedOutput()
		return strings.Count(string(out), "idle") == 2
	})
	return c
}

// start starts a daemon, under its own name.
func (c *cluster) start(name string, args ...string) *exec.Cmd {
	c.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.daemons[name] = cmd
	return cmd
}

// stop ends a daemon.
func (c *cluster) stop(name string) {
	cmd := c.daemons[name]
	if cmd == nil {
		return
	}
	delete(c.daemons, name)
	_ = cmd.Process.Signal(syscall.SIGTERM)
	end := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
	defer end.Stop()
	_ = cmd.Wait()
}

// until waits for something.
func (c *cluster) until(what string, most time.Duration, done func() bool) {
	c.t.Helper()
	for begin := time.Now(); !done(); time.Sleep(200 * time.Millisecond) {
		if time.Since(begin) > most {
			out, _ := exec.Command("sh", "-c", "sinfo -N -l; squeue; tail -n 5 "+c.dir+"/log/*").CombinedOutput()
			c.t.Fatalf("no %s after %v:\n%s", what, most, out)
		}
	}
}

// submitAndDie submits a sweep by a process that is killed before sbatch tells it the number of the job.
func submitAndDie(t *testing.T, c *cluster, args []string) {
	t.Helper()
	real, err := exec.LookPath("sbatch")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(c.dir, "slow")
	if err := os.Mkdir(bin, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "sbatch"), []byte("#!/bin/sh\n"+real+" --begin=now+5 \"$@\" >&2\nexec sleep 60\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("heddle", args...)
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.until("job", time.Minute, func() bool {
		out, _ := exec.Command("squeue", "-h").Output()
		return len(out) > 0
	})
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it has been killed
}

// A sweep on a real Slurm survives that its process is killed while it submits, a task that is killed, a node that is drained and a controller
// that is restarted: no point is lost, and the results are those of this computer's queue.
func TestSweepSlurm(t *testing.T) {
	alltests.Only(t, "a cluster of two nodes")
	c := newCluster(t)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(c.dir, "work")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "sweep.toml")
	text := fmt.Sprintf("inputs = [%q, %q]\ngpus = [\"rtx-2060\", \"v100\"]\n[axes]\n\"l2.ways\" = [4, 8, 16]\n\"simt.scheduler\" = [\"lrr\", \"gto\"]\n[set]\ncore = \"simt\"\n",
		root+"/testdata/reference/gpgpusim/vecadd.toml", root+"/examples/learn/reduction.toml")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	args := []string{"sweep", file, "--slurm", "--partition", "debug", "--mem-per-task", "500M"}
	submitAndDie(t, c, args)
	sweep := exec.Command("heddle", args...)
	sweep.Stdout, sweep.Stderr = log, log
	if err := sweep.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- sweep.Wait() }()

	// The first task is killed as soon as it runs.
	c.until("task", 2*time.Minute, func() bool {
		out, _ := exec.Command("squeue", "-h", "-t", "RUNNING", "-o", "%i").Output()
		id, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return id != "" && exec.Command("scancel", "--signal=KILL", "--full", id).Run() == nil
	})
	run := func(name string, args ...string) {
		t.Helper()
		if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v: %s", name, args, err, out)
		}
	}
	run("scontrol", "update", "nodename=n2", "state=drain", "reason=test")
	c.stop("slurmctld")
	time.Sleep(2 * time.Second)
	c.start("slurmctld", "-D")
	c.until("controller", time.Minute, func() bool { return exec.Command("scontrol", "ping").Run() == nil })
	time.Sleep(2 * time.Second)
	// A controller that was stopped before it kept the drain has forgotten it.
	c.until("resume", time.Minute, func() bool {
		if exec.Command("scontrol", "update", "nodename=n2", "state=resume").Run() == nil {
			return true
		}
		run("scontrol", "update", "nodename=n2", "state=drain", "reason=test")
		return false
	})

	select {
	case err = <-ended:
	case <-time.After(8 * time.Minute):
		_ = sweep.Process.Kill()
		t.Fatal("the sweep has not ended after 8 minutes")
	}
	said, rerr := os.ReadFile(log.Name())
	if err != nil || rerr != nil {
		t.Fatalf("%v, %v:\n%s", err, rerr, said)
	}
	t.Logf("%s", said)
	if n := strings.Count(string(said), "heddle: job "); n > 2 { // each attempt after the first
		t.Errorf("the sweep has submitted %d arrays, although Slurm had one before:\n%s", n, said)
	}
	if !strings.Contains(string(said), "heddle: 24 points: ") || !strings.Contains(string(said), " 0 without a result") {
		t.Errorf("the sweep is not whole:\n%s", said)
	}
	run("heddle", "sweep", file, "--store", filepath.Join(dir, "local.store"), "--quiet")
	out, err := exec.Command("heddle", "sweep", "diff", filepath.Join(dir, "sweep.store"), filepath.Join(dir, "local.store")).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "cycles: 24 points are equal, 0 differ") {
		t.Errorf("the stores differ: %v, %s", err, out)
	}
}
