// Package slurm runs the points of a sweep as an array of jobs of Slurm, the batch system of most
// clusters. A task of the array runs some points and needs this program and the store, on a file
// system that all nodes share. A process that comes later asks Slurm for jobs whose scripts are in the
// store, waits for them and does not submit their points again.
//
// It talks to Slurm by its commands sbatch and squeue alone.
package slurm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/sweep"
	"github.com/heddle-sim/heddle/internal/sweep/store"
)

// Options are those of jobs.
type Options struct {
	Partition, Account string
	Time               string   // limit of a task, as Slurm writes it
	Memory             string   // of a task, as Slurm writes it
	Limit              int      // tasks at a time; 0: as Slurm has it
	More               []string // further arguments of sbatch
	NoWait             bool     // submit, and end
}

// Engine runs sweeps by Slurm.
type Engine struct {
	Options
	Store   *store.Store
	Heddle  string // this program, absolute
	File    string // the sweep, absolute
	Changed func(sweep.State)
	Say     func(format string, args ...any)
}

// Figures of our choice: the time that a task should take at least, since starting one costs 0.3
// to 0.5 s (measured with Slurm 22.05); what is assumed of a point of which nothing is known; the
// most tasks of an array (Slurm's default MaxArraySize is 1001); how often a point is submitted by
// one command; how long Slurm may be silent, as when its controller is restarted.
const (
	taskTime     = 30 * time.Second
	unknownTime  = 5 * time.Second
	mostTasks    = 1000
	mostAttempts = 3
	mostPoints   = 1000 // of a task: they are one argument, of at most 128 KiB
	pollDelay    = 2 * time.Second
	silence      = 10 * time.Minute
)

// array is a job that has been submitted. Its folder has all that its tasks need, and is there
// before Slurm knows of it. Slurm says by the path of the script which jobs it has, so that a
// process that is killed while it submits leaves no job that nobody knows.
type array struct {
	job    string     // its number
	chunks [][]string // digests by task
	dir    string     // absolute
}

// The files of an array's folder, beside the logs of its tasks.
const (
	pointsFile = "points" // digests: a line for each task
	scriptFile = "task.sh"
)

// Run submits what is missing, waits for it, and submits again what tasks that were killed have
// left, at most mostAttempts times.
func (e *Engine) Run(ctx context.Context, list []*sweep.Point) (sweep.State, error) {
	q := &sweep.Queue{Store: e.Store, Say: e.Say}
	kept := -1
	for attempt := 1; ; attempt++ {
		missing, state, err := q.Missing(list)
		if kept < 0 {
			kept = state.Kept
		}
		state.Kept = kept // what came since was run
		if err != nil || len(missing) == 0 {
			return state, err
		}
		e.Changed(state)
		running, err := e.running(ctx)
		if err != nil {
			return state, err
		}
		running = slices.DeleteFunc(running, func(a *array) bool { // those of other sweeps
			return !slices.ContainsFunc(missing, func(p *sweep.Point) bool { return a.has(p.Digest) })
		})
		fresh := slices.DeleteFunc(slices.Clone(missing), func(p *sweep.Point) bool {
			failed := e.failed(p.Digest)
			return slices.ContainsFunc(running, func(a *array) bool { return a.has(p.Digest) }) || attempt > 1 && failed
		})
		if attempt > mostAttempts || len(fresh) == 0 && len(running) == 0 {
			state.Failed = state.All - state.Done
			return state, nil
		}
		if attempt > 1 && len(fresh) > 0 {
			e.Say("%s without a result, because tasks ended early: submitted again", report.Plural(len(fresh), "point", "points"))
		}
		for _, p := range fresh {
			if err := e.Store.Forget(p.Digest); err != nil {
				return state, err
			}
		}
		for _, chunks := range e.chunks(fresh, q.Expected) {
			a, err := e.submit(ctx, chunks)
			if err != nil {
				return state, err
			}
			running = append(running, a)
			e.Say("job %s: %s for %s", a.job, report.Plural(len(a.chunks), "task", "tasks"), report.Plural(a.points(), "point", "points"))
		}
		if e.NoWait {
			return state, nil
		}
		if err := e.wait(ctx, running, missing, state); err != nil {
			return state, err
		}
	}
}

func (a *array) has(digest string) bool {
	return slices.ContainsFunc(a.chunks, func(c []string) bool { return slices.Contains(c, digest) })
}

func (a *array) points() (n int) {
	for _, c := range a.chunks {
		n += len(c)
	}
	return n
}

// failed reports whether a point has run and left no result.
func (e *Engine) failed(digest string) bool {
	_, err := e.Store.Failure(digest)
	return err == nil
}

// chunks divides points into tasks, and tasks into arrays.
func (e *Engine) chunks(points []*sweep.Point, expected func(*sweep.Point) time.Duration) [][][]string {
	var total time.Duration
	times := make([]time.Duration, len(points))
	for i, p := range points {
		if times[i] = expected(p); times[i] == math.MaxInt64 {
			times[i] = unknownTime
		}
		total += times[i]
	}
	least := max(taskTime, total/mostTasks)
	var tasks [][]string
	var sum time.Duration
	for i, p := range points {
		if len(tasks) == 0 || sum >= least || len(tasks[len(tasks)-1]) == mostPoints {
			tasks, sum = append(tasks, nil), 0
		}
		tasks[len(tasks)-1] = append(tasks[len(tasks)-1], p.Digest)
		sum += times[i]
	}
	return slices.Collect(slices.Chunk(tasks, mostTasks))
}

// folder is where arrays have their folders; absolute.
func (e *Engine) folder() (string, error) { return filepath.Abs(filepath.Join(e.Store.Dir, "slurm")) }

// submit submits an array.
func (e *Engine) submit(ctx context.Context, chunks [][]string) (*array, error) {
	folder, err := e.folder()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(folder, "job-")
	if err != nil {
		return nil, err
	}
	root, err := filepath.Abs(e.Store.Dir)
	if err != nil {
		return nil, err
	}
	a := &array{chunks: chunks, dir: dir}
	var tasks strings.Builder
	for _, c := range chunks {
		fmt.Fprintln(&tasks, strings.Join(c, ","))
	}
	script := fmt.Sprintf("#!/bin/sh\npoints=$(sed -n \"$((SLURM_ARRAY_TASK_ID + 1))p\" %s)\nexec %s sweep %s --store %s --quiet --progress never --no-limits --jobs \"${SLURM_CPUS_PER_TASK:-1}\" --point \"$points\"\n",
		quote(filepath.Join(dir, pointsFile)), quote(e.Heddle), quote(e.File), quote(root))
	if err := os.WriteFile(filepath.Join(dir, pointsFile), []byte(tasks.String()), 0o666); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, scriptFile), []byte(script), 0o777); err != nil {
		return nil, err
	}
	out, err := e.command(ctx, "sbatch", e.arguments(dir, len(chunks))...)
	if err != nil {
		return nil, err
	}
	a.job, _, _ = strings.Cut(strings.TrimSpace(out), ";") // with --parsable, ID or ID;CLUSTER
	if _, err := strconv.Atoi(a.job); err != nil {
		return nil, fmt.Errorf("sbatch says %q; want the number of a job", out)
	}
	return a, nil
}

// arguments are those of sbatch.
func (e *Engine) arguments(dir string, tasks int) []string {
	name := strings.TrimSuffix(filepath.Base(e.File), filepath.Ext(e.File))
	array := fmt.Sprintf("0-%d", tasks-1)
	if e.Limit > 0 {
		array += fmt.Sprintf("%%%d", e.Limit)
	}
	args := []string{"--parsable", "--job-name=heddle-" + name, "--array=" + array, "--output=" + filepath.Join(dir, "%a.log"), "--open-mode=append"}
	for _, o := range []struct{ flag, value string }{{"--partition=", e.Partition}, {"--account=", e.Account}, {"--time=", e.Time}, {"--mem=", e.Memory}} {
		if o.value != "" {
			args = append(args, o.flag+o.value)
		}
	}
	return append(append(args, e.More...), filepath.Join(dir, scriptFile))
}

// quote writes a word for the shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// command runs a command of Slurm.
func (e *Engine) command(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var out, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &messages
	switch err := cmd.Run(); {
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("there is no %s here: --slurm needs a computer that submits to Slurm", name)
	case err != nil:
		return "", &commandError{name, strings.TrimSpace(messages.String()), err}
	}
	return out.String(), nil
}

// commandError is a command of Slurm that failed.
type commandError struct {
	name, text string
	err        error
}

func (e *commandError) Error() string {
	return fmt.Sprintf("%s: %s", e.name, cmp.Or(e.text, e.err.Error()))
}

func (e *commandError) Unwrap() error { return e.err }

// running returns the arrays of this store that Slurm still has.
func (e *Engine) running(ctx context.Context) ([]*array, error) {
	folder, err := e.folder()
	if err != nil {
		return nil, err
	}
	ours, err := os.Stat(folder)
	if err != nil {
		return nil, nil // none was ever submitted
	}
	queue, err := e.queue(ctx)
	if err != nil {
		return nil, err
	}
	var list []*array
	for _, t := range queue {
		dir := filepath.Dir(t.script)
		if slices.ContainsFunc(list, func(a *array) bool { return a.dir == dir }) {
			continue
		}
		// The store may have been named by another path when the job was submitted.
		if in, err := os.Stat(filepath.Dir(dir)); err != nil || !os.SameFile(in, ours) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, pointsFile))
		if errors.Is(err, fs.ErrNotExist) {
			continue // someone has removed it: its tasks find no points
		}
		if err != nil {
			return nil, err
		}
		a := &array{job: t.job, dir: dir}
		for line := range strings.Lines(string(text)) {
			a.chunks = append(a.chunks, strings.Split(strings.TrimSpace(line), ","))
		}
		list = append(list, a)
	}
	return list, nil
}

// task is a task that Slurm has.
type task struct{ job, script string }

// left is how many tasks of an array Slurm has.
func (a *array) left(queue []task) (n int) {
	for _, t := range queue {
		if t.job == a.job || t.script == filepath.Join(a.dir, scriptFile) {
			n++
		}
	}
	return n
}

// queue returns the tasks of this user's jobs that Slurm has. It waits for a controller that does not
// answer.
func (e *Engine) queue(ctx context.Context) ([]task, error) {
	said := false
	for begin := time.Now(); ; {
		out, err := e.command(ctx, "squeue", "--noheader", "--me", "--array", "--format=%F %o")
		if err == nil {
			var tasks []task
			for line := range strings.Lines(out) {
				job, script, _ := strings.Cut(strings.TrimSpace(line), " ")
				tasks = append(tasks, task{job, script})
			}
			return tasks, nil
		}
		var failed *commandError
		if !errors.As(err, &failed) || ctx.Err() != nil || time.Since(begin) > silence {
			return nil, err
		}
		if !said {
			said = true
			e.Say("%v; trying again for up to %v", err, silence)
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
}

// pause waits a moment.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(pollDelay):
		return nil
	}
}

// wait waits until Slurm has none of the arrays, and says what went wrong.
func (e *Engine) wait(ctx context.Context, arrays []*array, missing []*sweep.Point, state sweep.State) error {
	for {
		queue, err := e.queue(ctx)
		if err != nil {
			return err
		}
		left := slices.DeleteFunc(slices.Clone(arrays), func(a *array) bool { return a.left(queue) == 0 })
		digests, err := e.Store.Digests()
		if err != nil {
			return err
		}
		now := state
		for _, a := range left {
			now.Running += a.left(queue)
		}
		for _, p := range missing {
			if _, ok := slices.BinarySearch(digests, p.Digest); ok {
				now.Done++
			}
		}
		e.Changed(now)
		if len(left) == 0 {
			for _, a := range arrays {
				e.explain(a, digests)
			}
			return nil
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// lastLines is how many lines of a task's log are shown, of mostShown tasks (our choices).
const (
	lastLines = 3
	mostShown = 5
)

// explain says which tasks have left points without a result.
func (e *Engine) explain(a *array, digests []string) {
	shown := 0
	for i, c := range a.chunks {
		var missing []string
		for _, d := range c {
			if _, ok := slices.BinarySearch(digests, d); !ok {
				missing = append(missing, d)
			}
		}
		if len(missing) == 0 {
			continue
		}
		if shown++; shown > mostShown {
			continue
		}
		log := filepath.Join(a.dir, strconv.Itoa(i)+".log")
		text, _ := os.ReadFile(log) // there may be none
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		e.Say("task %s_%d left %d of %d points without a result; the end of %s:\n  %s", a.job, i, len(missing), len(c), log, strings.Join(lines[max(0, len(lines)-lastLines):], "\n  "))
	}
	if shown > mostShown {
		e.Say("and %d more tasks of job %s", shown-mostShown, a.job)
	}
}
