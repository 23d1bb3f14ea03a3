// Package store keeps the results of many runs in a folder, each under the digest of what it
// depends on. Any number of programs may write at a time, on one computer or on several with
// the same file system: a result is a file of its own, which appears whole or not at all.
//
// It does not know what was run. An index for queries is made of the results when it is asked
// for (package index).
package store

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/klauspost/compress/zstd"
)

// The files of a store.
const (
	formFile  = "store.json"
	points    = "points" // POINTS/ab/abcdef….heddle-run
	failed    = "failed" // as points: those without a result, to be run again
	locks     = "locks"
	scratch   = "scratch"
	orders    = "orders" // of the points of sweeps: digests, one on a line
	Extension = ".heddle-run"
)

// The formats of a store and of a record.
const (
	storeForm  = "heddle-store/1"
	recordForm = "heddle-run/1"
)

// Store is a folder of results.
type Store struct{ Dir string }

// Record is what is kept of a run.
type Record struct {
	Form     string    `json:"format"`
	Digest   string    `json:"digest"`
	Input    string    `json:"input"` // its name in the sweep
	GPU      string    `json:"gpu,omitempty"`
	Settings []Setting `json:"settings,omitempty"`
	Command  []string  `json:"command"`            // the arguments of heddle
	Code     int       `json:"code"`               // its exit code
	Why      string    `json:"why,omitempty"`      // there is no result
	Messages string    `json:"messages,omitempty"` // the last that it wrote on standard error
	Seconds  float64   `json:"seconds"`            // of wall-clock time
	Peak     int64     `json:"peak_bytes"`         // the most memory seen, of the run with its child processes
	Made     time.Time `json:"made"`               // when it ended, UTC

	// Result is the run's JSON result; nil if there is none. It is not part of the head.
	Result json.RawMessage `json:"-"`
}

// Setting is a key of the configuration and its value as text.
type Setting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Damaged is the error of a file that is no longer what was written.
type Damaged struct {
	File string
	Err  error
}

func (e *Damaged) Error() string { return fmt.Sprintf("%s is damaged: %v", e.File, e.Err) }

// Unwrap returns the cause.
func (e *Damaged) Unwrap() error { return e.Err }

// Open opens a store, and creates it if there is none.
func Open(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("the store: %w", err)
	}
	s := &Store{dir}
	text, err := os.ReadFile(filepath.Join(dir, formFile))
	if errors.Is(err, fs.ErrNotExist) {
		if err := s.create(); err != nil {
			return nil, err
		}
		text, err = os.ReadFile(filepath.Join(dir, formFile))
	}
	if err != nil {
		return nil, fmt.Errorf("the store: %w", err)
	}
	var head struct{ Format string }
	if err := json.Unmarshal(text, &head); err != nil || head.Format != storeForm {
		return nil, fmt.Errorf("%s: the format is %q; this version of heddle knows %q", filepath.Join(dir, formFile), head.Format, storeForm)
	}
	return s, nil
}

// create makes an empty folder a store. Other processes may do the same at this time.
func (s *Store) create() error {
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return fmt.Errorf("the store: %w", err)
	}
	named := func(e fs.DirEntry) bool { return e.Name() == formFile }
	if slices.ContainsFunc(entries, named) {
		return nil
	}
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !strings.HasPrefix(e.Name(), newFile) }) {
		return fmt.Errorf("%s is not a store and not empty; choose another folder", s.Dir)
	}
	if err := write(filepath.Join(s.Dir, formFile), []byte(`{"format": "`+storeForm+`"}`+"\n")); err != nil {
		return fmt.Errorf("the store: %w", err)
	}
	return nil
}

// Existing opens a store that must exist.
func Existing(dir string) (*Store, error) {
	if _, err := os.Stat(filepath.Join(dir, formFile)); err != nil {
		return nil, fmt.Errorf("%s is not a store: it has no %s", dir, formFile)
	}
	return Open(dir)
}

// path is the file of a record.
func (s *Store) path(folder, digest string) string {
	return filepath.Join(s.Dir, folder, digest[:min(2, len(digest))], digest+Extension)
}

// Path is the file of a result.
func (s *Store) Path(digest string) string { return s.path(points, digest) }

// Put keeps a record. One without a result only says why there is none.
func (s *Store) Put(r *Record) error {
	r.Form = recordForm
	head, err := json.Marshal(r)
	if err != nil {
		return err
	}
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true))
	if err != nil {
		return err
	}
	text := w.EncodeAll(append(append(head, '\n'), r.Result...), nil)
	if r.Result == nil {
		return write(s.path(failed, r.Digest), text)
	}
	if err := write(s.path(points, r.Digest), text); err != nil {
		return err
	}
	return s.Forget(r.Digest)
}

// newFile begins the names of files that are not whole yet.
const newFile = ".new-"

// write writes a file so that it appears whole, even if the computer stops.
func write(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	// os.CreateTemp would make it unreadable for others, whatever the user's mask.
	f, err := os.OpenFile(filepath.Join(filepath.Dir(path), fmt.Sprintf("%s%d-%x", newFile, os.Getpid(), rand.Uint64())), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// Get returns a record with its result. The error is fs.ErrNotExist if there is none, or
// *Damaged.
func (s *Store) Get(digest string) (*Record, error) { return read(s.path(points, digest), digest) }

// Failure returns the record of a run without a result.
func (s *Store) Failure(digest string) (*Record, error) {
	return read(s.path(failed, digest), digest)
}

// Forget removes the record of a run without a result.
func (s *Store) Forget(digest string) error {
	if err := os.Remove(s.path(failed, digest)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Read reads a record's file.
func Read(path string) (*Record, error) {
	return read(path, strings.TrimSuffix(filepath.Base(path), Extension))
}

func read(path, digest string) (*Record, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r, err := decode(text)
	if err == nil && r.Digest != digest {
		err = fmt.Errorf("it is the result of %s", r.Digest)
	}
	if err != nil {
		return nil, &Damaged{path, err}
	}
	return r, nil
}

// maxRecord bounds what a file may be decompressed to, so that a damaged one cannot fill the
// memory.
const maxRecord = 1 << 30

func decode(text []byte) (*Record, error) {
	d, err := zstd.NewReader(bytes.NewReader(text), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	in := bufio.NewReaderSize(d, 1<<16)
	head, err := in.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	r := &Record{}
	if err := json.Unmarshal(head, r); err != nil {
		return nil, err
	}
	if r.Form != recordForm {
		return nil, fmt.Errorf("its format is %q; this version of heddle knows %q", r.Form, recordForm)
	}
	var rest bytes.Buffer
	if _, err := rest.ReadFrom(io.LimitReader(in, maxRecord)); err != nil {
		return nil, err
	}
	if rest.Len() == maxRecord {
		return nil, fmt.Errorf("it is larger than %d bytes", maxRecord)
	}
	if rest.Len() > 0 {
		r.Result = rest.Bytes()
	}
	return r, nil
}

// Scratch makes an empty folder for a run of a point, whose lock is held: what a killed process has
// left there goes.
func (s *Store) Scratch(digest string) (dir string, err error) {
	if dir, err = filepath.Abs(filepath.Join(s.Dir, scratch, digest)); err != nil {
		return "", err
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	return dir, os.MkdirAll(dir, 0o777)
}

// Digests lists the results, sorted.
func (s *Store) Digests() ([]string, error) { return s.list(points) }

// Failures lists the runs without a result, sorted.
func (s *Store) Failures() ([]string, error) { return s.list(failed) }

func (s *Store) list(folder string) ([]string, error) {
	var list []string
	folders, err := os.ReadDir(filepath.Join(s.Dir, folder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the store: %w", err)
	}
	for _, f := range folders {
		if !f.IsDir() {
			continue
		}
		files, err := os.ReadDir(filepath.Join(s.Dir, folder, f.Name()))
		if err != nil {
			return nil, fmt.Errorf("the store: %w", err)
		}
		for _, x := range files {
			if name, ok := strings.CutSuffix(x.Name(), Extension); ok {
				list = append(list, name)
			}
		}
	}
	slices.Sort(list)
	return list, nil
}

// orderFile is the file of a sweep's order.
func (s *Store) orderFile(sweep string) string {
	if abs, err := filepath.Abs(sweep); err == nil {
		sweep = abs
	}
	return filepath.Join(s.Dir, orders, fmt.Sprintf("%x", sha256.Sum256([]byte(sweep)))[:32])
}

// Order returns the digests of the points of a sweep by its path, as they were when SetOrder was
// called last; nil if it never was.
func (s *Store) Order(sweep string) []string {
	text, err := os.ReadFile(s.orderFile(sweep))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text))
}

// SetOrder keeps the digests of the points of a sweep in order, if the store exists and can be
// written: it is a hint.
func (s *Store) SetOrder(sweep string, digests []string) {
	if _, err := os.Stat(filepath.Join(s.Dir, formFile)); err == nil {
		_ = write(s.orderFile(sweep), []byte(strings.Join(digests, "\n")+"\n"))
	}
}

// SetAside moves a damaged file out of the way, so that its point is run again.
func (s *Store) SetAside(d *Damaged) error {
	return os.Rename(d.File, d.File+".damaged")
}

// Lock makes this process the only one that runs a point, until unlock is called; ok is false
// if another process does so. Where the file system has no locks, every process may.
func (s *Store) Lock(digest string) (unlock func(), ok bool, err error) {
	path := filepath.Join(s.Dir, locks, digest)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, false, err
	}
	l := flock.New(path)
	ok, err = l.TryLock()
	if err != nil {
		return func() {}, true, nil
	}
	if !ok {
		return nil, false, nil
	}
	return func() { l.Close() }, true, nil // the file stays: others may be about to lock it
}
