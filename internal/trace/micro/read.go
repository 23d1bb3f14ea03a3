package micro

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/trace"
)

const (
	listName   = "dynamic_trace.pb"
	staticName = "extra_info/enhanced_execution_info.json"
	blocksName = "threadblocks"
	form       = "MICRO'25"
	// maxList and maxBlock bound the files that are read whole (our choice).
	maxList  = 1 << 30
	maxBlock = 1 << 31
)

// find returns the folder of a trace; path is that folder, its list, or its parent.
func find(path string) (string, bool) {
	if filepath.Base(path) == listName {
		path = filepath.Dir(path)
	}
	for _, dir := range []string{path, filepath.Join(path, "traces")} {
		if info, err := os.Stat(filepath.Join(dir, listName)); err == nil && info.Mode().IsRegular() {
			return dir, true
		}
	}
	return "", false
}

// Is reports whether a path is a trace in this format: its folder, the parent, or
// its dynamic_trace.pb.
func Is(path string) bool {
	_, ok := find(path)
	return ok
}

func fail(file, format string, a ...any) error {
	return &trace.Error{File: file, Msg: fmt.Sprintf(format, a...)}
}

// readFile reads a whole file of at most most bytes.
func readFile(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fail(path, "it cannot be read: %v", errors.Unwrap(err))
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, fail(path, "want a file of at most %d MiB; it has %d bytes", most>>20, info.Size())
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fail(path, "it cannot be read: %v", errors.Unwrap(err))
	}
	return b, nil
}

// Open reads the list of a trace. Launches are read when they are opened, and the
// static code with the first of them. Errors are of type *trace.Error.
func Open(path string) (*trace.Set, error) {
	dir, ok := find(path)
	if !ok {
		return nil, fail(path, "it contains no %s", listName)
	}
	list := filepath.Join(dir, listName)
	b, err := readFile(list, maxList)
	if err != nil {
		return nil, err
	}
	r, err := getRun(b)
	if err != nil {
		return nil, fail(list, "%v: it is damaged, or not from the MICRO'25 tracer", err)
	}
	set := &trace.Set{Name: path, Form: form, Files: []string{list, filepath.Join(dir, staticName), filepath.Join(dir, blocksName)}}
	warn := func(format string, a ...any) {
		set.Warnings = append(set.Warnings, list+": "+fmt.Sprintf(format, a...))
	}
	if r.gathered {
		warn("its register values are left out")
	}
	shared := &folder{dir: dir, file: filepath.Join(dir, staticName)}
	for i := range r.devices {
		d := &r.devices[i]
		if i > 0 {
			warn("device %d is left out: only the first one is read", d.key)
			continue
		}
		if len(d.streams) > 1 {
			warn("it has %d streams and no order between them: they run one after another", len(d.streams))
		}
		for j := range d.streams {
			s := &d.streams[j]
			for n, event := range s.events {
				c := trace.Command{File: list, Line: n + 1, Text: event}
				switch {
				case strings.HasPrefix(event, "MemcpyHtoD"):
					if c.Addr, c.Bytes, ok = copyEvent(event); !ok {
						return nil, fail(list, "stream %d, event %d: %q is invalid; want MemcpyHtoD,0xADDRESS,BYTES", s.key, n+1, event)
					}
				case strings.HasPrefix(event, "kernel"):
					l := &launch{folder: shared, run: &r, device: int64(d.id), stream: s.key}
					l.find(s, event)
					c.Launch = l
				default:
					warn("stream %d, event %d is left out: %q is neither a copy to the device nor a launch", s.key, n+1, event)
					continue
				}
				set.Commands = append(set.Commands, c)
			}
		}
	}
	if len(set.Commands) == 0 {
		return nil, fail(list, "it has neither copies nor launches")
	}
	return set, nil
}

func copyEvent(s string) (addr, bytes uint64, ok bool) {
	f := strings.Split(s, ",")
	if len(f) != 3 || f[0] != "MemcpyHtoD" {
		return 0, 0, false
	}
	addr, err1 := strconv.ParseUint(strings.TrimSpace(f[1]), 0, 64)
	bytes, err2 := strconv.ParseUint(strings.TrimSpace(f[2]), 10, 64)
	return addr, bytes, err1 == nil && err2 == nil
}

// folder holds what the launches of a trace share.
type folder struct {
	dir, file string
	once      sync.Once
	all       []trace.Static
	err       error
}

// code returns the static code of all functions.
func (f *folder) code() ([]trace.Static, error) {
	f.once.Do(func() {
		r, err := os.Open(f.file)
		if err != nil {
			f.err = fail(f.file, "it cannot be read: %v; it holds the static code, without which the trace cannot run", errors.Unwrap(err))
			return
		}
		defer r.Close()
		if f.all, err = getCode(r); err != nil {
			f.err = fail(f.file, "%v", err)
		}
	})
	return f.all, f.err
}

// launch is a launch in a trace; it is a trace.Source.
type launch struct {
	folder         *folder
	run            *run
	kernel         *kernel
	device, stream int64
	name           string
	err            error // why it cannot be read
}

// find looks for the launch of an event, kernel-N.trace.
func (l *launch) find(s *stream, event string) {
	id, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimPrefix(event, "kernel-"), ".trace"), 10, 32)
	l.name = filepath.Join(l.folder.dir, event)
	if err != nil {
		l.err = fail(l.name, "invalid event; want kernel-N.trace")
		return
	}
	i := slices.IndexFunc(s.kernels, func(k kernel) bool { return int64(k.id) == id })
	if i < 0 {
		l.err = fail(l.name, "stream %d has no launch %d", s.key, id)
		return
	}
	l.kernel = &s.kernels[i]
	l.name = l.folder.blocks(l.device, l.stream, id)
}

// blocks is the folder of a launch's blocks.
func (f *folder) blocks(device, stream, id int64) string {
	return filepath.Join(f.dir, blocksName, fmt.Sprintf("device_%d", device), fmt.Sprintf("stream_%d", stream), fmt.Sprintf("kernel_%d", id))
}

// Name returns the folder of the launch's blocks.
func (l *launch) Name() string { return l.name }

// Header returns the launch's data from the list.
func (l *launch) Header() (trace.Header, error) {
	if l.err != nil {
		return trace.Header{}, l.err
	}
	k := l.kernel
	return trace.Header{
		Kernel: mangled(k.name), ID: int64(k.id), Grid: k.grid, Block: k.block, Shared: int(k.shared), Registers: int(k.registers),
		Arch: int(l.run.arch), Stream: uint64(l.stream), SharedBase: k.sharedBase, LocalBase: k.localBase,
		NVBit: l.run.nvbit, Version: int(l.run.version),
	}, nil
}

// variant precedes the number of a function's variant, after its name.
const variant = "___"

// mangled returns a name without the number of the function's variant.
func mangled(name string) string {
	i := strings.LastIndex(name, variant)
	if i <= 0 || i+len(variant) == len(name) || strings.Trim(name[i+len(variant):], "0123456789") != "" {
		return name
	}
	return name[:i]
}

// Open reads all blocks once, to find the static code that occurs and the counts.
func (l *launch) Open() (*trace.Kernel, error) {
	h, err := l.Header()
	if err != nil {
		return nil, err
	}
	all, err := l.folder.code()
	if err != nil {
		return nil, err
	}
	k := &trace.Kernel{Header: h}
	if k.Present, err = l.present(h.Grid); err != nil {
		return nil, err
	}
	// The first pass considers all functions; those that occur are numbered
	// afterwards.
	type found struct {
		occurs bool
		width  uint8
	}
	occur := make([]found, len(all))
	b := &blocks{launch: l, grid: h.Grid, present: k.Present, code: lookup{code: all, last: -1}}
	b.seen = func(at int32, width uint64) {
		f := &occur[at]
		f.occurs = true
		f.width = max(f.width, uint8(width))
	}
	for i := range k.Present {
		x, err := b.Block(i)
		if err != nil {
			return nil, err
		}
		k.WarpInsts += uint64(len(x.Insts))
		for j := range x.Insts {
			k.ThreadInsts += uint64(x.Insts[j].Mask.Count())
		}
		b.Free(x)
	}
	for i := range all {
		if occur[i].occurs {
			s := all[i]
			s.Width = occur[i].width
			k.Code = append(k.Code, s)
		}
	}
	if n := h.Grid.Count() - uint64(len(k.Present)); n > 0 {
		k.Warnings = append(k.Warnings, fmt.Sprintf("%s: %d of %d blocks are not in the trace", l.name, n, h.Grid.Count()))
	}
	b.code, b.seen = lookup{code: k.Code, last: -1}, nil
	k.Blocks = b
	return k, nil
}

// present lists the blocks that have files.
func (l *launch) present(grid trace.Dim) ([]uint64, error) {
	const most = 1 << 26 // blocks of a launch: our own limit
	if grid[0] == 0 || grid[1] == 0 || grid[2] == 0 || grid[1] > isa.MaxGridYZ || grid[2] > isa.MaxGridYZ {
		return nil, fail(l.name, "a grid of %d×%d×%d blocks is impossible", grid[0], grid[1], grid[2])
	}
	dir, err := os.Open(l.name)
	if err != nil {
		return nil, fail(l.name, "it cannot be read: %v; it must hold a file for each thread block", errors.Unwrap(err))
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fail(l.name, "it cannot be read: %v", err)
	}
	if len(names) > most {
		return nil, fail(l.name, "it has %d files; at most %d blocks can be read", len(names), most)
	}
	prefix := l.prefix()
	var list []uint64
	for _, name := range names {
		rest, ok := strings.CutPrefix(name, prefix)
		if !ok || !strings.HasSuffix(rest, ".pb") {
			continue
		}
		var d trace.Dim
		parts := strings.Split(strings.TrimSuffix(rest, ".pb"), ",")
		good := len(parts) == len(d)
		for i := 0; good && i < len(d); i++ {
			v, err := strconv.ParseUint(parts[i], 10, 32)
			good = err == nil && v < uint64(grid[i]) && parts[i] == strconv.FormatUint(v, 10)
			d[i] = uint32(v)
		}
		if !good {
			return nil, fail(filepath.Join(l.name, name), "its name must end with the index of a block of a grid of %d×%d×%d: X,Y,Z.pb", grid[0], grid[1], grid[2])
		}
		list = append(list, grid.Linear(d))
	}
	if len(list) == 0 {
		return nil, fail(l.name, "it has no thread blocks; want files %sX,Y,Z.pb", prefix)
	}
	slices.Sort(list)
	return list, nil
}

// prefix is the prefix of the launch's file names.
func (l *launch) prefix() string {
	return fmt.Sprintf("d_%d_s_%d_k_%d_", l.device, l.stream, l.kernel.id)
}

// blocks reads the blocks of a launch; it is a trace.Blocks.
type blocks struct {
	launch  *launch
	grid    trace.Dim
	present []uint64
	code    lookup
	seen    func(at int32, width uint64)
	free    []*trace.Block
}

// Block reads the file of a block.
func (b *blocks) Block(i int) (*trace.Block, error) {
	if i < 0 || i >= len(b.present) {
		return nil, fail(b.launch.name, "there is no block at place %d of %d", i, len(b.present))
	}
	want := b.grid.At(b.present[i])
	index := fmt.Sprintf("%d,%d,%d", want[0], want[1], want[2])
	file := filepath.Join(b.launch.name, b.launch.prefix()+index+".pb")
	msg, err := readFile(file, maxBlock)
	if err != nil {
		return nil, err
	}
	x := &trace.Block{}
	if n := len(b.free); n > 0 {
		x, b.free = b.free[n-1], b.free[:n-1]
		x.Index = trace.Dim{}
	}
	if err := getBlock(msg, &b.code, x, b.seen); err != nil {
		return nil, &trace.Error{File: file, Block: "thread block " + index, Msg: err.Error()}
	}
	if x.Index != want {
		return nil, &trace.Error{File: file, Block: "thread block " + index, Msg: fmt.Sprintf("it contains block %d,%d,%d: was it renamed?", x.Index[0], x.Index[1], x.Index[2])}
	}
	return x, nil
}

// Free takes a block back for reuse.
func (b *blocks) Free(x *trace.Block) {
	if x != nil && len(b.free) < 64 {
		b.free = append(b.free, x)
	}
}

// Close does nothing: no file stays open.
func (b *blocks) Close() error { return nil }
