package text

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/trace"
)

// The names of lists: for grouped files, and as the tracer writes them.
var listNames = []string{"kernelslist.g", "kernelslist"}

// maxList bounds a list (our choice): some 300,000 launches.
const maxList = 16 << 20

// The suffixes of compressed files that are tried if a listed file is missing.
var packings = []string{"", ".xz", ".gz", ".zst"}

// Is reports whether a path looks like a text trace: a folder with a list, or a
// file with the name or the beginning of a list or a launch.
func Is(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	if info.IsDir() {
		_, ok := listIn(path)
		return ok
	}
	if name := filepath.Base(path); slices.Contains(listNames, name) || strings.Contains(name, ".traceg") {
		return true
	}
	in, err := openText(place{dir: filepath.Dir(path), name: filepath.Base(path)}, 0)
	if err != nil {
		var d *damaged
		return errors.As(err, &d)
	}
	defer in.Close()
	b := make([]byte, 256)
	n, _ := io.ReadFull(in, b)
	s := strings.TrimSpace(string(b[:n]))
	return strings.HasPrefix(s, "-") && strings.Contains(s, keyName) || isList(s)
}

// isList reports whether a text begins like a list.
func isList(s string) bool {
	return strings.HasPrefix(s, "Memcpy") || strings.HasPrefix(s, "kernel")
}

// listIn finds the list of a folder, or of its subfolder "traces", where the tracer
// puts it.
func listIn(dir string) (place, bool) {
	for _, d := range []string{dir, filepath.Join(dir, "traces")} {
		for _, name := range listNames {
			if info, err := os.Stat(filepath.Join(d, name)); err == nil && info.Mode().IsRegular() {
				return place{dir: d, name: name}, true
			}
		}
	}
	return place{}, false
}

// Open reads the list of a folder, a list, or a single launch, plain or compressed.
// Launches are not read yet. Errors in the list are of type *trace.Error.
func Open(path string) (*trace.Set, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, openError(place{name: path}, err)
	}
	set := &trace.Set{Name: path, Form: "Accel-Sim"}
	room := &budget{}
	room.left.Store(keepBytes)
	p := place{dir: filepath.Dir(path), name: filepath.Base(path)}
	if info.IsDir() {
		var ok bool
		if p, ok = listIn(path); !ok {
			return nil, &trace.Error{File: path, Msg: noList(path)}
		}
	} else {
		in, err := openText(p, 0)
		if err != nil {
			return nil, openError(p, err)
		}
		b := make([]byte, 256)
		n, _ := io.ReadFull(in, b)
		in.Close()
		if s := strings.TrimSpace(string(b[:n])); !isList(s) {
			set.Commands = []trace.Command{{File: path, Launch: &source{place: p, budget: room, insts: -1}, Text: p.name}}
			set.Files = []string{path}
			setForm(set)
			return set, nil
		}
	}
	return readList(set, p, room)
}

// noList says what a folder lacks.
func noList(path string) string {
	const how = "it is made by Accel-Sim's tracer and its post-traces-processing"
	entries, err := os.ReadDir(path)
	if err != nil {
		return err.Error()
	}
	if len(entries) == 0 {
		return "the folder is empty; a folder of traces has a kernelslist.g, " + how
	}
	for _, e := range entries {
		if strings.Contains(e.Name(), ".trace") {
			return fmt.Sprintf("there is no kernelslist.g, %s; to run a single launch, give its file, such as %s", how, e.Name())
		}
	}
	return "there is no kernelslist.g, " + how
}

// readList reads the commands of a list.
func readList(set *trace.Set, p place, room *budget) (*trace.Set, error) {
	f, err := p.open()
	if err != nil {
		return nil, openError(p, err)
	}
	defer f.Close()
	stats := readStats(p.dir)
	set.Files = []string{p.String()}
	in := bufio.NewScanner(io.LimitReader(f, maxList+1))
	in.Buffer(nil, 1<<16)
	total := 0
	launches, strange := 0, 0
	for n := 1; in.Scan(); n++ {
		if total += len(in.Bytes()) + 1; total > maxList {
			return nil, &trace.Error{File: p.String(), Line: n, Msg: fmt.Sprintf("larger than %d MiB: not a list of launches", maxList>>20)}
		}
		line := strings.TrimSpace(in.Text())
		c := trace.Command{File: p.String(), Line: n, Text: line}
		switch {
		case line == "":
			continue
		case strings.HasPrefix(line, "MemcpyHtoD"):
			if c.Addr, c.Bytes, err = parseCopy(line); err != nil {
				return nil, &trace.Error{File: p.String(), Line: n, Msg: err.Error()}
			}
		case strings.HasPrefix(line, "kernel"):
			if !filepath.IsLocal(line) || strings.ContainsAny(line, "\\\x00") {
				return nil, &trace.Error{File: p.String(), Line: n, Msg: fmt.Sprintf("%q leads out of the list's folder; names are relative to it", clip([]byte(line)))}
			}
			insts := int64(-1)
			if v, ok := stats[stem(line)]; ok {
				insts = v
			}
			at := find(p.dir, line)
			set.Files = append(set.Files, at.String())
			c.Launch = &source{place: at, list: trace.Error{File: p.String(), Line: n}, budget: room, insts: insts}
			launches++
		default:
			if strange++; strange <= mostNotes {
				set.Warnings = append(set.Warnings, fmt.Sprintf("%s:%d: %q is left out: it is neither a copy to the device nor a launch", p, n, clip([]byte(line))))
			}
			continue
		}
		set.Commands = append(set.Commands, c)
	}
	if err := in.Err(); err != nil {
		msg := err.Error()
		if errors.Is(err, bufio.ErrTooLong) {
			msg = "a line of more than 64 KiB: not a list of launches"
		}
		return nil, &trace.Error{File: p.String(), Msg: msg}
	}
	if more := strange - mostNotes; more > 0 {
		set.Warnings = append(set.Warnings, fmt.Sprintf("%s: %d more lines are left out: they are neither copies to the device nor launches", p, more))
	}
	if launches == 0 {
		return nil, &trace.Error{File: p.String(), Msg: "the list names no launch: it is truncated, or nothing was recorded"}
	}
	setForm(set)
	return set, nil
}

// setForm sets the form by the first launch.
func setForm(set *trace.Set) {
	for _, c := range set.Commands {
		if c.Launch == nil {
			continue
		}
		if h, err := c.Launch.Header(); err == nil {
			set.Form = "Accel-Sim, first generation"
			if h.Version > 0 {
				set.Form = fmt.Sprintf("Accel-Sim version %d", h.Version)
			}
		}
		return
	}
}

// parseCopy reads "MemcpyHtoD,0x00007fc841500000,32768".
func parseCopy(line string) (addr, size uint64, err error) {
	f := strings.Split(line, ",")
	if len(f) == 3 && f[0] == "MemcpyHtoD" {
		addr, err = strconv.ParseUint(strings.TrimPrefix(f[1], "0x"), 16, 64)
		if err == nil {
			if size, err = strconv.ParseUint(f[2], 10, 64); err == nil && size <= 1<<48 {
				return addr, size, nil
			}
		}
	}
	return 0, 0, fmt.Errorf("%q is not a copy; example: MemcpyHtoD,0x00007fc841500000,32768", clip([]byte(line)))
}

// find returns the path of a listed name, or of its compressed file.
func find(dir, name string) place {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return place{dir, name, true}
	}
	defer root.Close()
	for _, p := range packings {
		if _, err := root.Stat(name + p); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return place{dir, name + p, true}
		}
	}
	for _, p := range packings[1:] {
		if plain, ok := strings.CutSuffix(name, p); ok {
			if _, err := root.Stat(plain); err == nil {
				return place{dir, plain, true}
			}
		}
	}
	return place{dir, name, true}
}

// stem returns the name of a launch without its file extensions.
func stem(name string) string {
	for _, p := range packings[1:] {
		name = strings.TrimSuffix(name, p)
	}
	return strings.TrimSuffix(strings.TrimSuffix(name, ".traceg"), ".trace")
}

// readStats reads how many instructions the tracer counted, by stem. Lines that
// cannot be read are skipped: the file serves only as a check.
func readStats(dir string) map[string]int64 {
	f, err := place{dir: dir, name: "stats.csv", confined: true}.open()
	if err != nil {
		return nil
	}
	defer f.Close()
	m := map[string]int64{}
	in := bufio.NewScanner(io.LimitReader(f, maxList))
	in.Buffer(nil, 1<<16)
	for in.Scan() {
		f := strings.Split(in.Text(), ",")
		if len(f) < 12 {
			continue
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(f[len(f)-2]), 10, 64); err == nil {
			m[stem(strings.TrimSpace(f[0]))] = n
		}
	}
	return m
}
