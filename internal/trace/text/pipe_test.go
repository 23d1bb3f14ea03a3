//go:build unix

package text

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A pipe without a writer does not block the reader.
func TestPipe(t *testing.T) {
	dir := folder(t, map[string]string{"kernelslist.g": "kernel-1.traceg\n"})
	if err := syscall.Mkfifo(filepath.Join(dir, "kernel-1.traceg"), 0o666); err != nil {
		t.Skip(err)
	}
	done := make(chan error)
	go func() {
		set, err := Open(dir)
		if err == nil {
			_, err = set.Commands[0].Launch.Open()
		}
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), "not a file") {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the reader is blocked")
	}
}
