package cache

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func names(t *testing.T, root string) []string {
	t.Helper()
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// TestFolder: a folder is created once, however many processes request it at once,
// and appears only when it is complete.
func TestFolder(t *testing.T) {
	root := filepath.Join(t.TempDir(), "cache")
	var made atomic.Int32
	fill := func(dir string) error {
		made.Add(1)
		time.Sleep(20 * time.Millisecond)
		return os.WriteFile(filepath.Join(dir, "file"), nil, 0o666)
	}
	if _, err := Folder(t.Context(), root, "kind", "key", func(string) error { return errors.New("no") }); err == nil || err.Error() != "no" {
		t.Errorf("a folder that cannot be made: %v", err)
	}
	if list := names(t, root); len(list) != 0 {
		t.Errorf("files remain: %v", list)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			dir, err := Folder(t.Context(), root, "kind", "key", fill)
			if err != nil || dir != filepath.Join(root, "kind-key") {
				t.Errorf("%s, %v", dir, err)
			}
			if _, err := os.Stat(filepath.Join(dir, "file")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := made.Load(); n != 1 {
		t.Errorf("made %d times", n)
	}
	if list := names(t, root); !slices.Equal(list, []string{"kind-key"}) {
		t.Errorf("files remain: %v", list)
	}

	unlock, err := lock(t.Context(), filepath.Join(root, "kind-other.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Millisecond)
	defer cancel()
	if _, err := Folder(ctx, root, "kind", "other", fill); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("interrupted while it waits: %v", err)
	}
}

// TestPrune: recently used folders stay, and of the others the newest.
func TestPrune(t *testing.T) {
	day := 24 * time.Hour
	root, now := t.TempDir(), time.Now()
	add := func(name string, age time.Duration) {
		dir := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(dir, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	for i, age := range []time.Duration{0, 1, 2, 3, 4, 5, 20, 21, 29, 31} {
		add("lib-"+string(rune('a'+i)), age*day)
	}
	add("lib-new-broken", 2*day)
	add("lib-new-now", 0)
	add("lib-new-gone-x", 2*day)
	add("other-old", 99*day)
	add("library", 99*day)

	dir, err := Folder(t.Context(), root, "lib", "fresh", func(string) error { return nil })
	if err != nil || !strings.HasSuffix(dir, "lib-fresh") {
		t.Fatal(dir, err)
	}
	want := []string{"lib-a", "lib-b", "lib-c", "lib-d", "lib-e", "lib-f", "lib-fresh", "lib-g", "lib-new-now", "library", "other-old"}
	if got := names(t, root); !slices.Equal(got, want) {
		t.Errorf("found\n%v, want\n%v", got, want)
	}

	for i := range 12 { // used today: all stay
		add("busy-"+string(rune('a'+i)), time.Duration(i)*time.Hour)
	}
	prune(root, "busy", now)
	if n := strings.Count(strings.Join(names(t, root), " "), "busy-"); n != 12 {
		t.Errorf("%d of 12 that were used today", n)
	}
	add("busy-l", 31*day)
	if _, err := Folder(t.Context(), root, "busy", "l", nil); err != nil { // using it keeps it
		t.Fatal(err)
	}
	prune(root, "busy", now)
	if !slices.Contains(names(t, root), "busy-l") {
		t.Error("a folder that was just used is gone")
	}
}
