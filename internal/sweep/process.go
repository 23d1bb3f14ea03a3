package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/sweep/store"
)

// process is a point that runs.
type process struct {
	point   *Point
	cmd     *exec.Cmd
	pid     atomic.Int64 // 0 until it has begun
	stop    context.CancelCauseFunc
	need    int64 // bytes that are set aside for it
	now     int64 // bytes that it has
	peak    int64
	stopped bool // the watch has asked it to end

	began    time.Time
	progress atomic.Pointer[string] // the file in which it keeps how far it is; nil if it does not
	last     *run.Progress
}

// Reasons for ending a point.
var (
	errMemory = errors.New("the workers together were about to need more memory than the limit")
	errTime   = errors.New("it took longer than the limit")
)

// messageDelay bounds the wait for messages of what a point has started and left running.
const messageDelay = 2 * time.Second

// mostMessages bounds what is kept of a point's standard error, in bytes.
const mostMessages = 4000

// execute runs a point to its end, and returns what is kept of it. The error is not the
// point's: it could not be started, or was ended.
func (p *process) execute(ctx context.Context, heddle string, s *store.Store, watched bool) (*store.Record, error) {
	r := p.point.record()
	tmp, err := s.Scratch(p.point.Digest)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	result := filepath.Join(tmp, "result.json")
	args := p.point.Arguments(result)
	if watched {
		file := filepath.Join(tmp, "progress.json")
		args[slices.Index(args, noProgress)] = "--progress=file:" + file
		p.progress.Store(&file)
	}
	r.Command = p.point.Arguments("-")

	var messages tail
	p.cmd = exec.Command(heddle, args...)
	p.cmd.Dir = p.point.Input.Dir
	p.cmd.Stderr = &messages
	p.cmd.WaitDelay = messageDelay
	p.cmd.Env = environment(p.need)
	group(p.cmd)

	// The kernel ends a process with the thread that started it, not with its parent.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		select {
		case <-ctx.Done():
			kill(p.cmd)
		case <-ended:
		}
	}()
	p.pid.Store(int64(p.cmd.Process.Pid))
	err = p.cmd.Wait()
	close(ended)
	if cause := context.Cause(ctx); cause != nil {
		kill(p.cmd) // what it has started
		return r, cause
	}
	r.Made = time.Now().UTC().Truncate(time.Second)
	r.Seconds = time.Since(begin).Seconds()
	r.Peak = maxResident(p.cmd.ProcessState)
	r.Messages = strings.TrimSpace(messages.String())
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() < 0:
		r.Why = fmt.Sprintf("it was ended by a signal (%v)", exit)
		return r, nil
	case err != nil && exit == nil && !errors.Is(err, exec.ErrWaitDelay):
		return nil, err
	}
	r.Code = p.cmd.ProcessState.ExitCode()
	text, err := os.ReadFile(result)
	switch {
	case r.Code == usageCode && p.point.Input.Kind != run.CUDA:
		r.Why = "heddle ended with exit code 2"
	case err != nil || len(bytes.TrimSpace(text)) == 0:
		r.Why = "it left no result"
	default:
		r.Result = text
	}
	return r, nil
}

// far is how far the run is; nil if it has not said so.
func (p *process) far() *run.Progress {
	if file := p.progress.Load(); file != nil {
		var x run.Progress
		if text, err := os.ReadFile(*file); err == nil && json.Unmarshal(text, &x) == nil { // it may be half written
			p.last = &x
		}
	}
	return p.last
}

// usageCode is heddle's exit code for bad usage or input, after which there is no result that
// is worth keeping.
const usageCode = 2

// record is the head of what is kept of a point.
func (p *Point) record() *store.Record {
	return &store.Record{Digest: p.Digest, Input: p.Input.Name, GPU: p.GPU, Settings: p.Settings}
}

// environment is that of a point: its garbage collector knows what memory it may use.
func environment(need int64) []string {
	env := os.Environ()
	if need > 0 && os.Getenv("GOMEMLIMIT") == "" {
		env = append(env, fmt.Sprintf("GOMEMLIMIT=%d", need*9/10))
	}
	return env
}

// tail keeps the end of what is written.
type tail struct{ text []byte }

func (t *tail) Write(b []byte) (int, error) {
	t.text = append(t.text, b...)
	if over := len(t.text) - mostMessages; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(b), nil
}

func (t *tail) String() string { return strings.ToValidUTF8(string(t.text), "?") }
