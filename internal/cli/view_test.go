package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The browser's arguments, which all users of a computer see, do not have the address of the page.
func TestOpenBrowser(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\necho \"$@\" > " + dir + "/new && mv " + dir + "/new " + dir + "/args\n"
	for _, name := range []string{"xdg-open", "open"} { // the latter on macOS
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("DISPLAY", ":0")
	t.Setenv("TMPDIR", dir)
	const url = "http://127.0.0.1:1/secret/?a=1&b"
	file, ok := openBrowser(url)
	if !ok {
		t.Fatal("no browser")
	}
	st, err := os.Stat(file)
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%s: %v, %v", file, st.Mode(), err)
	}
	if b, err := os.ReadFile(file); err != nil || !strings.Contains(string(b), "secret/?a=1&amp;b") {
		t.Errorf("%s, %v", b, err)
	}
	var args []byte
	for range 500 {
		if args, err = os.ReadFile(filepath.Join(dir, "args")); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if got := strings.TrimSpace(string(args)); got != file {
		t.Errorf("xdg-open has %q, want %q", got, file)
	}
}
