// Package cache keeps folders that take long to make: unpacked headers, built
// libraries. They lie in the user's cache, named by a digest of what is in them,
// so that different versions live side by side, and go when nobody has used
// them for long.
//
// It knows no more of a folder than its name.
package cache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// Our choice: what may stay. A folder of 5 to 20 MB each, made anew in seconds
// to a minute.
const (
	longUnused = 30 * 24 * time.Hour // goes
	unused     = 24 * time.Hour      // goes if newest others were used since; a broken attempt goes too
	newest     = 8                   // of a kind
)

// Root is the folder of all that this program keeps for the user.
func Root() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("%w; set HOME or XDG_CACHE_HOME", err)
	}
	return filepath.Join(dir, "heddle"), nil
}

// Folder returns root/KIND-KEY. If it is not there, fill fills a new folder,
// which becomes it when it is complete; of several processes one does so and the
// others wait for it. Then folders of the kind that nobody uses are removed.
func Folder(ctx context.Context, root, kind, key string, fill func(dir string) error) (string, error) {
	dir := filepath.Join(root, kind+"-"+key)
	if use(dir) {
		return dir, nil
	}
	if err := os.MkdirAll(root, 0o777); err != nil {
		return "", err
	}
	unlock, err := lock(ctx, dir+".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if use(dir) {
		return dir, nil
	}
	prune(root, kind, time.Now())
	tmp, err := os.MkdirTemp(root, kind+newMark)
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	if err := fill(tmp); err != nil {
		return "", err
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return "", err
	}
	if err := os.Rename(tmp, dir); err != nil && !use(dir) {
		return "", err
	}
	return dir, nil
}

// newMark is in the names of folders that are being made or removed.
const newMark = "-new-"

// use reports whether a folder is there, and notes that it was used now.
func use(dir string) bool {
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return false
	}
	now := time.Now()
	_ = os.Chtimes(dir, now, now) // a cache that cannot be written serves as it is
	return true
}

// lock waits until this process alone makes a folder. Where files cannot be
// locked, nobody waits: the folder of the fastest stays. The file goes with the
// lock: who waits for it finds the folder made.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	f := flock.New(path)
	_, err = f.TryLockContext(ctx, 50*time.Millisecond)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return nil, err
	}
	return func() {
		_ = os.Remove(path)
		_ = f.Close()
	}, nil
}

// prune removes folders of a kind that nobody uses. A program that runs has
// loaded what it needs of them; one that is about to has used them today.
func prune(root, kind string, now time.Time) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return // a cache that is not pruned still serves
	}
	var old []fs.FileInfo
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.IsDir() || !strings.HasPrefix(e.Name(), kind+"-") {
			continue
		}
		if strings.HasPrefix(e.Name(), kind+newMark) {
			if now.Sub(info.ModTime()) > unused {
				_ = os.RemoveAll(filepath.Join(root, e.Name()))
			}
			continue
		}
		old = append(old, info)
	}
	slices.SortFunc(old, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for i, info := range old {
		age := now.Sub(info.ModTime())
		if age <= unused || i < newest-1 && age <= longUnused { // one more comes now
			continue
		}
		// Under another name first, lest half of it be taken for the whole.
		gone := filepath.Join(root, kind+newMark+"gone-"+strings.TrimPrefix(info.Name(), kind+"-"))
		if os.Rename(filepath.Join(root, info.Name()), gone) == nil {
			_ = os.RemoveAll(gone)
		}
	}
}
