package slurm

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/sweep"
	"github.com/heddle-sim/heddle/internal/sweep/store"
)

func TestChunks(t *testing.T) {
	const unknown = time.Duration(math.MaxInt64)
	for _, c := range []struct {
		name   string
		points int
		each   time.Duration
		tasks  int // of all arrays
		arrays int
		first  int // points of the first task
	}{
		{"nothing is known", 20, unknown, 4, 1, 6},
		{"short ones", 100, time.Second, 4, 1, 30},
		{"long ones", 5, time.Hour, 5, 1, 1},
		{"more than an array's tasks", 5000, time.Minute, 1000, 1, 5},
		{"none", 0, time.Second, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var list []*sweep.Point
			for i := range c.points {
				list = append(list, &sweep.Point{Digest: fmt.Sprint(i)})
			}
			arrays := (&Engine{}).chunks(list, func(*sweep.Point) time.Duration { return c.each })
			tasks, points := 0, 0
			for _, a := range arrays {
				tasks += len(a)
				for _, x := range a {
					points += len(x)
				}
			}
			if tasks != c.tasks || len(arrays) != c.arrays || points != c.points || c.first > 0 && len(arrays[0][0]) != c.first {
				t.Errorf("%d tasks in %d arrays with %d points", tasks, len(arrays), points)
			}
		})
	}
}

// The commands of Slurm are replaced by scripts.
func TestCommands(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	script := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	s, err := store.Open(filepath.Join(dir, "a 'store'"))
	if err != nil {
		t.Fatal(err)
	}
	e := &Engine{Options: Options{Partition: "p", Account: "a", Time: "1:00", Memory: "2G", Limit: 3, More: []string{"--nice"}, NoWait: true}, Store: s, Heddle: "/bin/heddle", File: "/x/l2.toml", Changed: func(sweep.State) {}, Say: t.Logf}
	points := []*sweep.Point{{Digest: "aa11", Input: &sweep.Input{Name: "a"}}, {Digest: "bb22", Input: &sweep.Input{Name: "a"}}}

	// Slurm has what sbatch was called with last.
	script("squeue", "for i in 1 2; do test -f "+dir+"/arguments && echo \"17 $(tail -n 1 "+dir+"/arguments)\"; done; echo '99 /home/x/other.sh'; true\n")
	script("sbatch", "printf '%s\\n' \"$@\" > "+dir+"/arguments; echo '17;cluster'\n")
	if _, err := e.Run(t.Context(), points); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "arguments"))
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSpace(string(text)), "\n")
	task := got[len(got)-1]
	want := []string{"--parsable", "--job-name=heddle-l2", "--array=0-0%3", "--output=" + filepath.Join(filepath.Dir(task), "%a.log"), "--open-mode=append", "--partition=p", "--account=a", "--time=1:00", "--mem=2G", "--nice", task}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if text, err = os.ReadFile(filepath.Join(filepath.Dir(task), "points")); err != nil || string(text) != "aa11,bb22\n" {
		t.Errorf("points %q, error %v", text, err)
	}

	// What is queued is not submitted again.
	script("sbatch", "touch "+dir+"/twice; echo 18\n")
	if _, err := e.Run(t.Context(), points); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "twice")); err == nil {
		t.Error("it was submitted twice")
	}

	// Nor is it by another path of the store.
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(s.Dir, link); err != nil {
		t.Fatal(err)
	}
	if e.Store, err = store.Open(link); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(t.Context(), points); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "twice")); err == nil {
		t.Error("it was submitted twice")
	}
	e.Store = s

	// A queued job whose folder is gone counts for nothing.
	if err := os.RemoveAll(filepath.Dir(task)); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(t.Context(), points); err != nil {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(dir, "twice")); err != nil {
		t.Error("it was not submitted again")
	}

	// Nor is what was queued by a process that has been killed before sbatch printed the number.
	killed, stop := context.WithCancel(t.Context())
	if err := os.Remove(filepath.Join(dir, "arguments")); err != nil {
		t.Fatal(err)
	}
	script("sbatch", "printf '%s\\n' \"$@\" > "+dir+"/arguments; exec sleep 60\n")
	time.AfterFunc(300*time.Millisecond, stop)
	if _, err := e.Run(killed, points); err == nil {
		t.Error("a process that is killed has submitted")
	}
	if _, err := os.Stat(filepath.Join(dir, "arguments")); err != nil {
		t.Fatal("sbatch was not called")
	}
	script("sbatch", "touch "+dir+"/twice; echo 18\n")
	if _, err := e.Run(t.Context(), points); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "twice")); err == nil {
		t.Error("it was submitted twice")
	}

	for _, c := range []struct{ name, squeue, sbatch, want string }{
		{"sbatch refuses", "true", "echo 'invalid partition' >&2; exit 1", "sbatch: invalid partition"},
		{"sbatch says nothing", "true", "true", `sbatch says ""; want the number of a job`},
	} {
		t.Run(c.name, func(t *testing.T) {
			script("squeue", c.squeue+"\n")
			script("sbatch", c.sbatch+"\n")
			if _, err := e.Run(t.Context(), points); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	t.Run("no Slurm", func(t *testing.T) {
		for _, name := range []string{"sbatch", "squeue"} {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("PATH", dir)
		if _, err := e.Run(t.Context(), points); err == nil || !strings.Contains(err.Error(), "--slurm needs a computer that submits to Slurm") {
			t.Errorf("got %v", err)
		}
	})
}
