package container

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/heddle-sim/heddle/internal/trace"
)

var checksums = crc32.MakeTable(crc32.Castagnoli)

// Write writes a recorded run to a file. It reads launches one after another, block
// by block; memory holds no more than a part of a launch, beside the static code
// and a few bytes per launch and part. The file appears under its name when it is
// complete. Progress, if not nil, is called with the number of blocks written and
// the total of all grids.
func Write(path string, set *trace.Set, progress func(done, total uint64)) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err = f.Chmod(0o644); err != nil {
		return err
	}
	w := newWriter(f, progress)
	if err = w.set(set); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// partKey identifies equal parts: by their bytes, and the code to which they refer.
type partKey [sha256.Size]byte

type writer struct {
	out  io.Writer
	pack *packer
	most limits

	texts   texts
	seen    map[partKey]uint64
	parts   []byte // the table, so far
	nParts  uint64
	inline  []byte
	pool    map[string]uint64
	statics [staticColumns][]byte
	last    trace.Static
	entries []byte            // the commands, so far
	names   map[string]string // of launches
	taken   map[string]bool

	progress     func(done, total uint64)
	done, total  uint64
	warps, lanes uint64 // instructions of the launch
	cols         [columns][]byte
}

// limits determine when a part ends: after the block that reaches one of them.
type limits struct{ insts, bytes, blocks int }

func newWriter(out io.Writer, progress func(done, total uint64)) *writer {
	return &writer{
		out: out, most: limits{partInsts, partBytes, partBlocks}, seen: map[partKey]uint64{}, pool: map[string]uint64{},
		names: map[string]string{}, taken: map[string]bool{}, progress: progress,
	}
}

func (w *writer) write(b []byte) error {
	_, err := w.out.Write(b)
	return err
}

func (w *writer) set(set *trace.Set) (err error) {
	if w.pack, err = newPacker(); err != nil {
		return err
	}
	if err := w.write(append([]byte(magic), version)); err != nil {
		return err
	}
	for i := range set.Commands {
		if l := set.Commands[i].Launch; l != nil {
			h, err := l.Header()
			if err != nil {
				return err
			}
			w.total += h.Grid.Count()
		}
	}
	for i := range set.Commands {
		if err := w.command(&set.Commands[i]); err != nil {
			return err
		}
	}
	return w.index(set)
}

// commandText is the usual text of a copy, which need not be stored.
func commandText(c *trace.Command) string {
	return fmt.Sprintf("MemcpyHtoD,0x%016x,%d", c.Addr, c.Bytes)
}

// Kinds of commands, and flags.
const (
	commandLaunch byte = 1 << iota
	commandWords       // its text is stored
	commandName        // the launch's name differs from its text
	commandKnown  = commandLaunch | commandWords | commandName
)

func (w *writer) command(c *trace.Command) error {
	var kind byte
	name := ""
	if c.Launch != nil {
		kind = commandLaunch | commandWords
		if name = w.name(c.Launch.Name()); name != c.Text {
			kind |= commandName
		}
	} else if c.Text != commandText(c) {
		kind = commandWords
	}
	list := c.File
	if list != "" { // leave out the folder: it may be private
		list = filepath.Base(list)
	}
	b := append(w.entries, kind)
	b = w.texts.put(b, list)
	b = uvarint(b, zigzag(int64(c.Line)))
	if kind&commandWords != 0 {
		b = w.texts.put(b, c.Text)
	}
	if c.Launch == nil {
		b = uvarint(b, c.Addr)
		w.entries = uvarint(b, c.Bytes)
		return nil
	}
	if kind&commandName != 0 {
		b = w.texts.put(b, name)
	}
	w.entries = b
	return w.launch(c.Launch)
}

// name returns the name of a launch without its folder or container. Launches with
// different names keep different names.
func (w *writer) name(full string) string {
	if s, ok := w.names[full]; ok {
		return s
	}
	s := full
	if i := strings.LastIndex(s, Ending+": "); i >= 0 {
		s = s[i+len(Ending)+2:]
	}
	base := filepath.Base(s)
	s = base
	for n := 2; w.taken[s]; n++ {
		s = fmt.Sprintf("%s (%d)", base, n)
	}
	w.names[full], w.taken[s] = s, true
	return s
}

func (w *writer) launch(src trace.Source) error {
	k, err := src.Open()
	if err != nil {
		return err
	}
	defer k.Blocks.Close()
	fail := func(format string, a ...any) error {
		return &trace.Error{File: src.Name(), Msg: fmt.Sprintf(format, a...)}
	}
	if len(k.Present) > maxBlocks {
		return fail("it has %d blocks; a container holds at most %d of a launch", len(k.Present), maxBlocks)
	}
	for _, n := range k.Present {
		if n >= k.Grid.Count() {
			return fail("it has block %d, but its grid is %d×%d×%d", n, k.Grid[0], k.Grid[1], k.Grid[2])
		}
	}
	w.entries = putHeader(w.entries, &w.texts, &k.Header)
	w.entries = putTexts(w.entries, &w.texts, k.Warnings)
	w.entries = uvarint(w.entries, k.WarpInsts)
	w.entries = uvarint(w.entries, k.ThreadInsts)
	code := putRuns(nil, w.code(k.Code))
	w.entries = append(w.entries, code...)
	w.entries = putRuns(w.entries, k.Present)

	done := w.done
	w.warps, w.lanes = 0, 0
	var list []uint64 // of parts
	coder := newCoder(k)
	defer coder.free()
	for i := 0; i < len(k.Present); {
		n, part, err := w.part(k, coder, i, code)
		if err != nil {
			var own *trace.Error
			if errors.As(err, &own) {
				return err
			}
			return fail("%v", err)
		}
		list = append(list, part)
		i += n
		w.done += uint64(n)
		if w.progress != nil {
			w.progress(min(w.done, w.total), w.total)
		}
	}
	if w.warps != k.WarpInsts || w.lanes != k.ThreadInsts {
		return fail("it claims %d warp and %d thread instructions, but its blocks have %d and %d", k.WarpInsts, k.ThreadInsts, w.warps, w.lanes)
	}
	w.entries = uvarint(w.entries, uint64(len(list)))
	before := uint64(0)
	for _, p := range list {
		w.entries = uvarint(w.entries, zigzag(int64(p-before)))
		before = p + 1
	}
	w.done = done + k.Grid.Count()
	if w.progress != nil {
		w.progress(min(w.done, w.total), w.total)
	}
	return nil
}

// code returns the indices of instructions in the code of the whole run.
func (w *writer) code(code []trace.Static) []uint64 {
	list := make([]uint64, len(code))
	var key []byte
	for i := range code {
		var one [staticColumns][]byte
		putStatic(&one, &w.texts, &code[i], &trace.Static{})
		key = key[:0]
		for _, c := range one {
			key = append(uvarint(key, uint64(len(c))), c...)
		}
		n, ok := w.pool[string(key)]
		if !ok {
			n = uint64(len(w.pool))
			w.pool[string(key)] = n
			putStatic(&w.statics, &w.texts, &code[i], &w.last)
			w.last = code[i]
		}
		list[i] = n
	}
	return list
}

// part writes the part of a launch that begins at an index of Present.
func (w *writer) part(k *trace.Kernel, coder *coder, from int, code []byte) (blocks int, n uint64, err error) {
	var flags byte
	for {
		blocks, n, err = w.partWith(k, coder, from, code, flags)
		if !errors.Is(err, errBoth) {
			return blocks, n, err
		}
		flags |= flagBoth
	}
}

func (w *writer) partWith(k *trace.Kernel, coder *coder, from int, code []byte, flags byte) (blocks int, n uint64, err error) {
	for i := range w.cols {
		w.cols[i] = w.cols[i][:0]
	}
	var insts, size int
	var lanes uint64
	for i := from; i < len(k.Present); i++ {
		if insts >= w.most.insts || size >= w.most.bytes || blocks >= w.most.blocks {
			break
		}
		b, err := k.Blocks.Block(i)
		if err != nil {
			return 0, 0, err
		}
		if b.Index != k.Grid.At(k.Present[i]) {
			return 0, 0, fmt.Errorf("the block at index %d must be number %d", i, k.Present[i])
		}
		if i == from {
			flags |= flagsOf(b)
			coder.reset(flags)
		}
		if err = coder.put(&w.cols, b); err != nil {
			if !errors.Is(err, errBoth) { // nothing is lost: the part is read and written again
				err = &trace.Error{File: k.Kernel, Block: fmt.Sprintf("thread block %d,%d,%d", b.Index[0], b.Index[1], b.Index[2]), Msg: err.Error()}
			}
			return 0, 0, err
		}
		insts += len(b.Insts)
		for i := range b.Insts {
			lanes += uint64(b.Insts[i].Mask.Count())
		}
		k.Blocks.Free(b)
		blocks++
		size = 0
		for _, c := range w.cols {
			size += len(c)
		}
	}
	coder.end(&w.cols)
	w.warps += uint64(insts)
	w.lanes += lanes
	n, err = w.put(flags, uint64(blocks), uint64(insts), code)
	return blocks, n, err
}

// put writes the columns, unless equal ones have been written before.
func (w *writer) put(flags byte, blocks, insts uint64, code []byte) (uint64, error) {
	h := sha256.New()
	h.Write([]byte{flags})
	h.Write(uvarint(uvarint(uvarint(nil, blocks), insts), uint64(len(code))))
	h.Write(code)
	size := 0
	for i := range w.cols {
		if len(w.cols[i]) > maxColumn {
			return 0, fmt.Errorf("a block has more than %d MiB of one kind, which a container cannot hold", maxColumn>>20)
		}
		h.Write(uvarint(nil, uint64(len(w.cols[i]))))
		h.Write(w.cols[i])
		size += len(w.cols[i])
	}
	key := partKey(h.Sum(nil))
	if n, ok := w.seen[key]; ok {
		return n, nil
	}
	var b []byte
	if size <= smallParts && len(w.inline)+size <= maxInline {
		flags |= flagInline
		b = join(&w.cols, &[columns][]byte{})
		w.inline = append(w.inline, b...)
	} else {
		b = w.pack.pack(&w.cols)
		if err := w.write(b); err != nil {
			return 0, err
		}
	}
	w.parts = append(w.parts, flags)
	for _, v := range [...]uint64{uint64(len(b)), blocks, insts} {
		w.parts = uvarint(w.parts, v)
	}
	if flags&flagInline == 0 {
		w.parts = binary.LittleEndian.AppendUint32(w.parts, crc32.Checksum(b, checksums))
	}
	w.nParts++
	w.seen[key] = w.nParts - 1
	return w.nParts - 1, nil
}

// index writes the end of the file: index, sizes and checksum.
func (w *writer) index(set *trace.Set) error {
	var tailTexts []byte
	tailTexts = w.texts.put(tailTexts, strings.TrimPrefix(set.Form, formPrefix))
	tailTexts = putTexts(tailTexts, &w.texts, set.Warnings)

	var b []byte
	b = uvarint(b, uint64(len(w.texts.list)))
	for _, s := range w.texts.list {
		b = uvarint(b, uint64(len(s)))
	}
	for _, s := range w.texts.list {
		b = append(b, s...)
	}
	b = append(b, tailTexts...)
	b = uvarint(b, uint64(len(w.pool)))
	for i := range w.statics {
		b = uvarint(b, uint64(len(w.statics[i])))
	}
	b = append(b, bytes.Join(w.statics[:], nil)...)
	b = uvarint(b, w.nParts)
	b = append(b, w.parts...)
	b = uvarint(b, uint64(len(w.inline)))
	b = append(b, w.inline...)
	b = uvarint(b, uint64(len(set.Commands)))
	b = append(b, w.entries...)
	if len(b) > maxIndex {
		return fmt.Errorf("the list of launches, blocks and instructions takes more than %d MiB, which a container cannot hold", maxIndex>>20)
	}
	z := w.pack.index.EncodeAll(b, nil)
	z = binary.LittleEndian.AppendUint32(z, uint32(len(z)))
	z = binary.LittleEndian.AppendUint32(z, uint32(len(b)))
	z = binary.LittleEndian.AppendUint32(z, crc32.Checksum(z, checksums))
	return w.write(append(z, tail...))
}
