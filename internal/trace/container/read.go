package container

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"os"

	"github.com/heddle-sim/heddle/internal/trace"
)

// Ending is how the names of containers end.
const Ending = ".heddle-trace"

// formPrefix precedes the format from which a container was made.
const formPrefix = "Heddle container of "

// Is reports whether a file starts like a container.
func Is(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var b [len(magic)]byte
	_, err = io.ReadFull(f, b[:])
	return err == nil && string(b[:]) == magic
}

// Open reads the list of commands of a container; the launches themselves are read
// when they are opened. Errors are of type *trace.Error.
func Open(path string) (*trace.Set, error) {
	c, err := open(path)
	if err != nil {
		return nil, err
	}
	return c.list()
}

// file is a container whose index has been read.
type file struct {
	path   string
	size   int64
	texts  texts
	pool   []trace.Static
	parts  []part
	inline []byte
	form   string
	warn   []string
	rest   reader // commands
	n      int    // number of commands
}

func fail(path, format string, a ...any) error {
	return &trace.Error{File: path, Msg: fmt.Sprintf(format, a...)}
}

func unreadable(path string, err error) error { return fail(path, "it cannot be read: %v", err) }

const again = "fetch or convert it again"

func open(path string) (*file, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, unreadable(path, err)
	}
	size := info.Size()
	var head [headSize]byte
	if _, err := f.ReadAt(head[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, unreadable(path, err)
	}
	if string(head[:len(magic)]) != magic {
		return nil, fail(path, "not a Heddle container: it must begin with %q", magic)
	}
	if v := head[len(magic)]; v != version {
		return nil, fail(path, "container version %d; this program reads version %d", v, version)
	}
	var foot [footSize]byte
	if size < int64(headSize+footSize) {
		return nil, fail(path, "it ends after %d bytes, too few for a container: %s", size, again)
	}
	if _, err := f.ReadAt(foot[:], size-int64(footSize)); err != nil {
		return nil, unreadable(path, err)
	}
	if string(foot[12:]) != tail {
		return nil, fail(path, "its end is missing: copying or writing it was interrupted; %s", again)
	}
	packed := int64(binary.LittleEndian.Uint32(foot[:]))
	raw := binary.LittleEndian.Uint32(foot[4:])
	if packed > size-int64(headSize+footSize) {
		return nil, fail(path, "its index claims %d bytes, more than the file has: %s", packed, again)
	}
	z := make([]byte, packed+8)
	if _, err := f.ReadAt(z, size-int64(footSize)-packed); err != nil {
		return nil, unreadable(path, err)
	}
	if crc32.Checksum(z, checksums) != binary.LittleEndian.Uint32(foot[8:]) {
		return nil, fail(path, "its index does not match its checksum: %s", again)
	}
	d, err := indexDecoder()
	if err != nil {
		return nil, err
	}
	defer d.Close()
	b, err := inflate(d, z[:packed], uint64(raw), maxIndex, nil)
	if err != nil {
		return nil, fail(path, "its index cannot be decompressed: %s", again)
	}
	c := &file{path: path, size: size - int64(footSize) - packed}
	if err := c.parse(b); err != nil {
		return nil, fail(path, "its index is damaged: %s", again)
	}
	return c, nil
}

// parse reads the index up to its commands.
func (c *file) parse(b []byte) error {
	r := reader{b: b}
	c.texts.list = make([]string, r.count(1))
	sizes := make([]int, len(c.texts.list))
	for i := range sizes {
		sizes[i] = int(r.below(uint64(len(b)) + 1))
	}
	for i := range sizes {
		c.texts.list[i] = string(r.bytes(sizes[i]))
	}
	c.form = c.texts.get(&r)
	c.warn = c.texts.getList(&r)

	n := r.count(1)
	var cols [staticColumns]reader
	var lens [staticColumns]int
	for i := range lens {
		lens[i] = int(r.below(uint64(len(b)) + 1))
	}
	for i := range lens {
		cols[i].b = r.bytes(lens[i])
	}
	if r.bad || n > lens[staticFlags] {
		return errDamaged
	}
	c.pool = make([]trace.Static, n)
	before := &trace.Static{}
	for i := range c.pool {
		c.pool[i] = getStatic(&cols, &c.texts, before)
		before = &c.pool[i]
	}
	for i := range cols {
		if cols[i].bad || !cols[i].done() {
			return errDamaged
		}
	}

	c.parts = make([]part, r.count(4))
	at, inside := int64(headSize), int64(0)
	for i := range c.parts {
		p := &c.parts[i]
		p.flags = r.byte()
		size := r.below(1 << 40)
		p.size = int64(size)
		p.blocks, p.insts = r.below(partBlocks+1), r.below(maxBlockInsts+partInsts+1)
		if p.flags&flagInline != 0 {
			p.at = inside
			inside += p.size
		} else {
			if b := r.bytes(4); b != nil {
				p.crc = binary.LittleEndian.Uint32(b)
			}
			p.at = at
			at += p.size
		}
		if p.blocks == 0 || p.flags&^flagsKnown != 0 || at > c.size || inside > 1<<30 {
			return errDamaged
		}
	}
	c.inline = r.bytes(r.count(1))
	if r.bad || at != c.size || inside != int64(len(c.inline)) {
		return errDamaged
	}
	c.n = r.count(1)
	c.rest = r
	return nil
}

// list reads the commands.
func (c *file) list() (*trace.Set, error) {
	damaged := fail(c.path, "its list of commands is damaged: %s", again)
	s := &trace.Set{Name: c.path, Form: formPrefix + c.form, Files: []string{c.path}, Warnings: c.warn}
	r := c.rest
	for range c.n {
		kind := r.byte()
		cmd := trace.Command{File: c.texts.get(&r), Line: int(r.varint())}
		if kind&commandWords != 0 {
			cmd.Text = c.texts.get(&r)
		}
		if kind&commandLaunch == 0 {
			cmd.Addr, cmd.Bytes = r.uvarint(), r.uvarint()
			if kind&commandWords == 0 {
				cmd.Text = commandText(&cmd)
			}
		} else {
			name := cmd.Text
			if kind&commandName != 0 {
				name = c.texts.get(&r)
			}
			l := c.launch(&r)
			l.name = c.path + ": " + name
			cmd.Launch = l
		}
		if r.bad || kind&^commandKnown != 0 {
			return nil, damaged
		}
		s.Commands = append(s.Commands, cmd)
	}
	if !r.done() {
		return nil, damaged
	}
	return s, nil
}

// launch is a launch in a container; it is a trace.Source.
type launch struct {
	file   *file
	name   string
	header trace.Header
	warn   []string
	warps  uint64
	lanes  uint64
	// Runs are decoded when the launch is opened: a few bytes can stand for many
	// numbers.
	code, present, parts []byte
}

func (c *file) launch(r *reader) *launch {
	l := &launch{file: c, header: getHeader(r, &c.texts), warn: c.texts.getList(r)}
	l.warps, l.lanes = r.uvarint(), r.uvarint()
	l.code, l.present = skipRuns(r), skipRuns(r)
	from := r.at
	for n := r.count(1); n > 0; n-- {
		r.uvarint()
	}
	if !r.bad {
		l.parts = r.b[from:r.at]
	}
	return l
}

// Name returns the container and the file from which the launch came.
func (l *launch) Name() string { return l.name }

// Header returns what the trace says about the launch.
func (l *launch) Header() (trace.Header, error) { return l.header, nil }

// Open prepares the launch for reading its blocks.
func (l *launch) Open() (*trace.Kernel, error) {
	damaged := func(what string) error { return fail(l.name, "%s: the container is damaged; %s", what, again) }
	k := &trace.Kernel{Header: l.header, WarpInsts: l.warps, ThreadInsts: l.lanes, Warnings: l.warn}
	g := l.header.Grid
	xy, x1 := uint64(g[0])*uint64(g[1]), uint64(g[2])
	hi, total := bits.Mul64(xy, x1)
	if hi != 0 {
		return nil, damaged("its grid has more than 2⁶⁴ blocks")
	}
	pool := uint64(len(l.file.pool))
	code := getRuns(&reader{b: l.code}, pool, pool)
	if code == nil && len(l.code) > 1 {
		return nil, damaged("its code cannot be read")
	}
	k.Code = make([]trace.Static, len(code))
	for i, n := range code {
		k.Code[i] = l.file.pool[n]
	}
	b := &blocks{launch: l, part: -1}
	r := reader{b: l.parts}
	before, have, insts := uint64(0), uint64(0), uint64(0)
	for range r.uvarint() {
		p := before + uint64(r.varint())
		if r.bad || p >= uint64(len(l.file.parts)) {
			return nil, damaged("its list of parts cannot be read")
		}
		b.parts = append(b.parts, &l.file.parts[p])
		b.from = append(b.from, int(have))
		have += l.file.parts[p].blocks
		insts += l.file.parts[p].insts
		before = p + 1
	}
	k.Present = getRuns(&reader{b: l.present}, total, min(have, maxBlocks))
	if k.Present == nil && len(l.present) > 1 {
		return nil, damaged("its list of blocks cannot be read")
	}
	if have != uint64(len(k.Present)) || insts != k.WarpInsts {
		return nil, damaged("its parts do not hold the blocks and instructions that it lists")
	}
	var err error
	if b.in, err = os.Open(l.file.path); err != nil {
		return nil, unreadable(l.file.path, err)
	}
	if b.unpack, err = newUnpacker(); err != nil {
		b.in.Close()
		return nil, err
	}
	b.coder = newCoder(k)
	b.present = k.Present
	k.Blocks = b
	return k, nil
}

// blocks reads the blocks of a launch; it is a trace.Blocks.
type blocks struct {
	launch  *launch
	in      *os.File
	unpack  *unpacker
	coder   *coder
	present []uint64
	parts   []*part
	from    []int // index in present of each part's first block

	part  int // whose columns are loaded, -1 if none
	next  int // index of the block that they give next
	insts uint64
	cols  [columns]reader
	free  []*trace.Block
}

// Block returns a block. It reads from the start of the block's part unless the
// previous request was for an earlier block of the part.
func (b *blocks) Block(i int) (*trace.Block, error) {
	if i < 0 || i >= len(b.present) {
		return nil, fail(b.launch.name, "there is no block at place %d of %d", i, len(b.present))
	}
	if p := b.find(i); p != b.part || i < b.next {
		if err := b.enter(p); err != nil {
			return nil, err
		}
	}
	out := &trace.Block{}
	if n := len(b.free); n > 0 {
		out, b.free = b.free[n-1], b.free[:n-1]
	}
	for {
		p := b.parts[b.part]
		err := b.coder.get(&b.cols, out, p.insts-b.insts)
		b.insts += uint64(len(out.Insts))
		last := b.next+1 == b.from[b.part]+int(p.blocks)
		if err == nil && last && !b.end(p) {
			err = errDamaged
		}
		out.Index = b.launch.header.Grid.At(b.present[b.next])
		if err != nil {
			b.part = -1
			x := out.Index
			return nil, &trace.Error{File: b.launch.name, Block: fmt.Sprintf("thread block %d,%d,%d", x[0], x[1], x[2]), Msg: "it cannot be read: the container is damaged; " + again}
		}
		b.next++
		if b.next > i {
			return out, nil
		}
	}
}

// end reports whether a part has been read whole, with nothing left over.
func (b *blocks) end(p *part) bool {
	for i := range b.cols {
		if !b.cols[i].done() {
			return false
		}
	}
	return b.insts == p.insts
}

// find returns the part that holds a block.
func (b *blocks) find(i int) int {
	if p := b.part; p >= 0 && i >= b.from[p] && i < b.from[p]+int(b.parts[p].blocks) {
		return p
	}
	lo, hi := 0, len(b.from)
	for hi-lo > 1 {
		if m := (lo + hi) / 2; b.from[m] <= i {
			lo = m
		} else {
			hi = m
		}
	}
	return lo
}

// enter moves to the start of a part.
func (b *blocks) enter(n int) error {
	p := b.parts[n]
	b.part = -1
	damaged := func(what string) error {
		return fail(b.launch.name, "part %d of %d %s: the container is damaged; %s", n+1, len(b.parts), what, again)
	}
	var err error
	if p.flags&flagInline != 0 {
		err = b.unpack.split(b.launch.file.inline[p.at:p.at+p.size], nil, &b.cols)
	} else {
		z := make([]byte, p.size)
		if _, err := b.in.ReadAt(z, p.at); err != nil {
			return damaged("cannot be read (" + err.Error() + ")")
		}
		if crc32.Checksum(z, checksums) != p.crc {
			return damaged("does not match its checksum")
		}
		err = b.unpack.unpack(z, &b.cols)
	}
	if err != nil {
		return damaged("cannot be decompressed")
	}
	b.coder.reset(p.flags)
	b.coder.open(&b.cols)
	b.part, b.next, b.insts = n, b.from[n], 0
	return nil
}

// Free takes a block back for reuse.
func (b *blocks) Free(x *trace.Block) {
	if x != nil && len(b.free) < 64 {
		b.free = append(b.free, x)
	}
}

// Close closes the file; no blocks can be read after it.
func (b *blocks) Close() error {
	if b.unpack == nil {
		return nil
	}
	b.unpack.free()
	b.coder.free()
	b.unpack, b.coder, b.present, b.part = nil, nil, nil, -1
	return b.in.Close()
}
