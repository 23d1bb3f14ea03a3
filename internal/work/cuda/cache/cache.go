// Package cache keeps folders that take long to make: unpacked headers, built libraries.
// They are in the user's cache, named by a digest of their contents, so that different
// versions coexist, and are removed when they have not been used for a long time.
//
// It does not interpret the contents.
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

// What is kept, our choice. A folder has 5 to 20 MB and takes seconds to a minute to
// rebuild.
const (
	longUnused = 30 * 24 * time.Hour // always removed after this
	unused     = 24 * time.Hour      // removed after this if newest others were used since, or if incomplete
	newest     = 8                   // of a kind
)

// Root is this program's folder in the user's cache.
func Root() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("%w; set HOME or XDG_CACHE_HOME", err)
	}
	return filepath.Join(dir, "heddle"), nil
}

// Folder returns root/KIND-KEY. If it does not exist, fill fills a new folder, which is
// renamed when it is complete; one process does so and others wait for it. Then unused
// folders of the kind are removed.
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

// newMark marks the names of folders that are being made or removed.
const newMark = "-new-"

// use reports whether a folder exists, and records that it was used now.
func use(dir string) bool {
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return false
	}
	now := time.Now()
	_ = os.Chtimes(dir, now, now) // a read-only cache works too
	return true
}

// lock waits until only this process makes a folder. If files cannot be locked, it does
// not wait: the folder of the fastest process stays. The file is removed with the lock:
// processes that wait for it then find the folder.
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

// prune removes unused folders of a kind. A running program has loaded what it needs from
// them; one that is starting has used them today.
func prune(root, kind string, now time.Time) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return // a cache that is not pruned still works
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
		if age <= unused || i < newest-1 && age <= longUnused { // the new folder counts too
			continue
		}
		// Rename first, so that a partly removed folder is not used.
		gone := filepath.Join(root, kind+newMark+"gone-"+strings.TrimPrefix(info.Name(), kind+"-"))
		if os.Rename(filepath.Join(root, info.Name()), gone) == nil {
			_ = os.RemoveAll(gone)
		}
	}
}
