package container

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/trace"
)

func some[T any](r *rapid.T, name string, list ...T) T { return rapid.SampledFrom(list).Draw(r, name) }

// drawStatic draws an instruction, however odd.
func drawStatic(r *rapid.T) trace.Static {
	n := rapid.IntRange(0, 9)
	s := trace.Static{
		Func:  rapid.Int32Range(0, 3).Draw(r, "func"),
		PC:    rapid.Uint32().Draw(r, "pc"),
		Op:    some(r, "op", "EXIT", "BRA", "LDG.E", "STG.E.64", "FFMA", "LDGSTS.E.BYPASS.128", "STRANGE"),
		Width: some[uint8](r, "width", 0, 0, 4, 8, 3, 255),
		Line:  rapid.Int32().Draw(r, "line"),
		Imms:  rapid.SliceOfN(rapid.Int64(), 0, 2).Draw(r, "imms"),
	}
	for _, list := range []*[]trace.Reg{&s.Dsts, &s.Srcs} {
		for range n.Draw(r, "regs") % 7 {
			*list = append(*list, trace.Reg{File: some(r, "file", isa.RegGPR, isa.RegPred, isa.RegUGPR, isa.RegUPred), N: some[uint16](r, "n", 0, 1, 63, 254, 255, 256, 65535)})
		}
	}
	if rapid.Bool().Draw(r, "control") {
		b := func() uint8 { return uint8(n.Draw(r, "bits")) }
		s.Control = &isa.Control{Stall: b(), Yield: rapid.Bool().Draw(r, "yield"), Write: b(), Read: b(), Wait: b(), Reuse: b()}
		s.Words = [2]uint64{rapid.Uint64().Draw(r, "lo"), rapid.Uint64().Draw(r, "hi")}
		s.Guard = trace.Guard{Known: true, Negated: rapid.Bool().Draw(r, "not"), Uniform: rapid.Bool().Draw(r, "uniform"), Reg: b()}
		s.Text = rapid.String().Draw(r, "text")
	}
	return s
}

// drawMask draws a typical mask, or any.
func drawMask(r *rapid.T, within isa.LaneMask) isa.LaneMask {
	return within & isa.LaneMask(some(r, "mask", isa.FullMask, isa.FullMask, 0xffff, 0xffff0000, 0x80000000, 1, 0, 0x55555555, isa.LaneMask(rapid.Uint32().Draw(r, "bits"))))
}

// drawMem draws an access as tracers write them, or any.
func drawMem(r *rapid.T, b *trace.Block, mask isa.LaneMask, all bool) {
	base := some[uint64](r, "base", 0x7fc841500000, 0x200, 0, 1<<64-8) + rapid.Uint64Range(0, 99).Draw(r, "off")*4
	stride := some[int64](r, "stride", 0, 4, 4, 8, -4, 1<<31-1, -1<<31)
	var v [32]uint64
	for l := range v {
		v[l] = base + uint64(int64(l)*stride)
	}
	if rapid.Bool().Draw(r, "list") {
		for l := range v {
			v[l] = base + rapid.Uint64Range(0, some[uint64](r, "far", 10, 1000, 1<<40, 1<<64-1)).Draw(r, "lane")
		}
	}
	d := addresses{v: vector{a: v, have: isa.FullMask}, all: all}
	d.write(b, mask)
	if rapid.IntRange(0, 9).Draw(r, "odd") == 0 {
		m := &b.Mems[len(b.Mems)-1]
		m.Base, m.Stride, m.Mode = m.Base+5, m.Stride+1, some(r, "mode", trace.ListAll, trace.BaseStride, trace.BaseDelta)
	}
}

func drawLaunch(r *rapid.T) *memory {
	m := &memory{name: some(r, "name", "kernel-1.traceg", "kernel-2.traceg")}
	k := &m.kernel
	dim := func(most uint32) trace.Dim {
		n := rapid.Uint32Range(1, most)
		return trace.Dim{n.Draw(r, "x"), n.Draw(r, "y"), n.Draw(r, "z")}
	}
	k.Header = trace.Header{
		Kernel: some(r, "kernel", "a", "b", ""), ID: rapid.Int64().Draw(r, "id"), Grid: dim(3), Block: dim(1024), Shared: rapid.Int().Draw(r, "shared"),
		Registers: rapid.IntRange(0, 255).Draw(r, "registers"), Arch: some(r, "arch", 0, 61, 120), Stream: rapid.Uint64().Draw(r, "stream"),
		SharedBase: some[uint64](r, "sharedbase", 0, 0x7fc867000000, 1<<64-1), LocalBase: rapid.Uint64().Draw(r, "localbase"),
		NVBit: some(r, "nvbit", "", "1.7"), Version: some(r, "version", 0, 5), LineInfo: rapid.Bool().Draw(r, "lineinfo"),
		Extra: rapid.SliceOfN(rapid.String(), 0, 2).Draw(r, "extra"),
	}
	k.Warnings = rapid.SliceOfN(rapid.String(), 0, 2).Draw(r, "warnings")
	for range rapid.IntRange(1, 12).Draw(r, "code") {
		k.Code = append(k.Code, drawStatic(r))
	}
	both, all := rapid.Bool().Draw(r, "both"), rapid.Bool().Draw(r, "all")
	for n := range k.Grid.Count() {
		if rapid.IntRange(0, 4).Draw(r, "absent") == 0 {
			continue
		}
		b := &trace.Block{Index: k.Grid.At(n)}
		id := int32(-1)
		for range rapid.IntRange(0, 3).Draw(r, "warps") {
			id += rapid.Int32Range(1, 3).Draw(r, "id")
			w := trace.Warp{ID: id, From: int32(len(b.Insts))}
			for range rapid.IntRange(0, 3).Draw(r, "rounds") { // loops, so that predictions hold
				for at := range k.Code {
					in := trace.Inst{At: int32(at), Active: drawMask(r, isa.FullMask), Mem: -1}
					in.Mask = in.Active
					if both {
						in.Mask = drawMask(r, in.Active)
					}
					if k.Code[at].Width > 0 || rapid.IntRange(0, 9).Draw(r, "access") == 0 {
						in.Mem = int32(len(b.Mems))
						in.NMems = some[uint8](r, "accesses", 1, 1, 1, 2, 3)
						for range in.NMems {
							drawMem(r, b, in.Mask, all)
						}
					}
					b.Insts = append(b.Insts, in)
					k.WarpInsts++
					k.ThreadInsts += uint64(in.Mask.Count())
				}
			}
			w.Upto = int32(len(b.Insts))
			b.Warps = append(b.Warps, w)
		}
		k.Present = append(k.Present, n)
		m.blocks = append(m.blocks, b)
	}
	return m
}

// A written set is read back unchanged, in any order of blocks and for any size of
// parts.
func TestRandom(t *testing.T) {
	alltests.Only(t, "random traces")
	dir := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		set := &trace.Set{Form: "drawn", Warnings: rapid.SliceOfN(rapid.String(), 0, 2).Draw(r, "warnings")}
		for i := range rapid.IntRange(0, 4).Draw(r, "commands") {
			c := trace.Command{File: "kernelslist.g", Line: i + 1}
			switch rapid.IntRange(0, 3).Draw(r, "command") {
			case 0:
				c.Addr, c.Bytes = rapid.Uint64().Draw(r, "addr"), rapid.Uint64().Draw(r, "bytes")
				c.Text = commandText(&c)
			case 1:
				c.Addr, c.Bytes, c.Text = 16, 4, "MemcpyHtoD,0x10,4"
			default:
				m := drawLaunch(r)
				c.Launch, c.Text = m, "kernel-1.traceg"
			}
			set.Commands = append(set.Commands, c)
		}
		var b bytes.Buffer
		w := newWriter(&b, nil)
		w.most = limits{rapid.IntRange(1, 100).Draw(r, "insts"), 1 << 20, rapid.IntRange(1, 10).Draw(r, "blocks")}
		if err := w.set(set); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(dir, "x"+Ending)
		if err := os.WriteFile(out, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := Open(out)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, set, got)
		for i, c := range set.Commands {
			if m, ok := c.Launch.(*memory); ok {
				order := make([]int, len(m.blocks))
				for i := range order {
					order[i] = i
				}
				equalLaunch(t, m, got.Commands[i].Launch, rapid.Permutation(order).Draw(r, "order"))
			}
		}
	})
}

// small returns a set whose file has parts in the index and outside.
func small() *trace.Set {
	set := &trace.Set{Form: "made up", Warnings: []string{"list:3: what is this?"}}
	for id := range int64(3) {
		m := &memory{name: fmt.Sprintf("kernel-%d.traceg", id)}
		k := &m.kernel
		k.Header = trace.Header{Kernel: "saxpy", ID: id, Grid: trace.Dim{2, 2, 1}, Block: trace.Dim{64, 1, 1}, Arch: 80, Version: 5}
		k.Code = []trace.Static{
			{PC: 0, Op: "S2R", Dsts: []trace.Reg{{File: isa.RegGPR, N: 1}}},
			{PC: 16, Op: "LDG.E", Width: 4, Srcs: []trace.Reg{{File: isa.RegGPR, N: 2}}},
			{PC: 32, Op: "EXIT"},
		}
		for n := range uint64(4) {
			b := &trace.Block{Index: k.Grid.At(n)}
			for w := range int32(2) {
				from := int32(len(b.Insts))
				for at := range int32(3) {
					in := trace.Inst{At: at, Active: isa.FullMask, Mask: isa.FullMask, Mem: -1}
					if at == 1 {
						in.Mem, in.NMems = int32(len(b.Mems)), 1
						d := &addresses{}
						for l := range d.v.a {
							d.v.a[l] = 0x7f0000000000 + uint64(l*l)*97*uint64(w+1)*(n+1)*uint64(id+3)
						}
						d.write(b, isa.FullMask)
					}
					b.Insts = append(b.Insts, in)
					k.WarpInsts++
					k.ThreadInsts += 32
				}
				b.Warps = append(b.Warps, trace.Warp{ID: w, From: from, Upto: int32(len(b.Insts))})
			}
			m.blocks = append(m.blocks, b)
			k.Present = append(k.Present, n)
		}
		set.Commands = append(set.Commands, trace.Command{File: "kernelslist.g", Line: int(id), Text: m.name, Launch: m})
	}
	return set
}

// readAll reads a file whole and returns the first error.
func readAll(path string) error {
	set, err := Open(path)
	if err != nil {
		return err
	}
	for _, c := range set.Commands {
		if c.Launch == nil {
			continue
		}
		k, err := c.Launch.Open()
		if err != nil {
			return err
		}
		for i := range k.Present {
			b, err := k.Blocks.Block(i)
			if err != nil {
				k.Blocks.Close()
				return err
			}
			k.Blocks.Free(b)
		}
		k.Blocks.Close()
	}
	return nil
}

// Every changed byte and every truncation is detected.
func TestDamage(t *testing.T) {
	var w bytes.Buffer
	x := newWriter(&w, nil)
	x.most.blocks = 2
	x.inline = make([]byte, maxInline-1200) // room for one part, the others are outside
	if err := x.set(small()); err != nil {
		t.Fatal(err)
	}
	if x.nParts != 6 {
		t.Fatalf("%d parts, want 6", x.nParts)
	}
	b := w.Bytes()
	path := filepath.Join(t.TempDir(), "x"+Ending)
	check := func(what string, b []byte) {
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		err := readAll(path)
		var own *trace.Error
		if !errors.As(err, &own) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for i := range b {
		for k, bit := range []byte{1, 0x80, 0xff} {
			if !alltests.On() && k != i%3 {
				continue
			}
			c := bytes.Clone(b)
			c[i] ^= bit
			check(fmt.Sprintf("byte %d of %d changed", i, len(b)), c)
		}
		check(fmt.Sprintf("cut after %d of %d", i, len(b)), b[:i])
	}
	check("bytes after the end", append(bytes.Clone(b), 0))
}

func TestIs(t *testing.T) {
	dir := t.TempDir()
	out, _ := size(t, small())
	if !Is(out) {
		t.Error("its own file is not recognised")
	}
	for name, text := range map[string]string{"empty": "", "short": magic[:4], "other": "-kernel name = x\n"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if Is(path) {
			t.Errorf("%s is recognised as a container", name)
		}
	}
	if Is(dir) || Is(filepath.Join(dir, "absent")) {
		t.Error("a folder or a missing file is recognised as a container")
	}
}

// A set whose statements contradict its contents is refused, and leaves no file.
func TestWriteRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*memory){
		"warp instructions": func(m *memory) { m.kernel.WarpInsts++ },
		"lanes":             func(m *memory) { m.kernel.ThreadInsts-- },
		"code":              func(m *memory) { m.blocks[1].Insts[0].At = 3 },
		"accesses":          func(m *memory) { m.blocks[1].Insts[1].Mem = 99 },
		"addresses":         func(m *memory) { m.blocks[1].Mems[0].First = 1 << 30 },
		"active":            func(m *memory) { m.blocks[1].Insts[0].Active = 1 },
		"warps":             func(m *memory) { m.blocks[1].Warps[1].ID = 0 },
		"records":           func(m *memory) { m.blocks[1].Warps[1].From-- },
		"no warp's":         func(m *memory) { m.blocks[1].Warps = m.blocks[1].Warps[:1] },
		"index":             func(m *memory) { m.blocks[1].Index[0] = 7 },
		"grid":              func(m *memory) { m.kernel.Grid = trace.Dim{} },
	} {
		set := small()
		spoil(set.Commands[1].Launch.(*memory))
		dir := t.TempDir()
		err := Write(filepath.Join(dir, "x"+Ending), set, nil)
		var own *trace.Error
		if !errors.As(err, &own) {
			t.Errorf("%s: %v", name, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: files remain: %v, %v", name, left, err)
		}
	}
}

// Progress increases up to the total.
func TestProgress(t *testing.T) {
	var seen []uint64
	if err := Write(filepath.Join(t.TempDir(), "x"), small(), func(done, total uint64) {
		if total != 12 {
			t.Errorf("%d blocks in total, want 12", total)
		}
		seen = append(seen, done)
	}); err != nil {
		t.Fatal(err)
	}
	if !slices.IsSorted(seen) || len(seen) == 0 || seen[len(seen)-1] != 12 {
		t.Errorf("%v", seen)
	}
}

// Launches of one name in different folders stay distinct.
func TestNames(t *testing.T) {
	set := small()
	for i := range set.Commands {
		set.Commands[i].Launch.(*memory).name = fmt.Sprintf("stream_%d/kernel_1", i%2)
	}
	out, _ := size(t, set)
	got, err := Open(out)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"kernel_1", "kernel_1 (2)", "kernel_1"} {
		if name := got.Commands[i].Launch.Name(); name != out+": "+want {
			t.Errorf("launch %d: %s", i, name)
		}
	}
}

// Equal launches take no more space than their headers.
func TestEqualLaunches(t *testing.T) {
	one := small()
	_, a := size(t, one)
	for range 50 {
		one.Commands = append(one.Commands, one.Commands[1])
	}
	if _, b := size(t, one); b-a > 100 {
		t.Errorf("50 launches more, all equal, take %d bytes more", b-a)
	}
}

// Files that claim huge sizes are refused before memory is allocated, even if their
// checksums are right.
func TestClaims(t *testing.T) {
	one := func(grid trace.Dim, present []byte, parts ...uint64) func(w *writer) {
		return func(w *writer) {
			b := append(w.entries, commandLaunch|commandWords)
			b = uvarint(w.texts.put(b, "kernelslist.g"), 2)
			b = w.texts.put(b, "kernel-1.traceg")
			b = putHeader(b, &w.texts, &trace.Header{Grid: grid})
			b = putTexts(b, &w.texts, nil)
			b = uvarint(uvarint(b, 0), 0)
			b = append(putRuns(b, nil), present...)
			b = uvarint(b, uint64(len(parts)))
			for _, p := range parts {
				b = uvarint(b, p)
			}
			w.entries = b
		}
	}
	run := func(n uint64) []byte { return uvarint(uvarint(uvarint(nil, n), 0), n) }
	part := func(size, blocks, insts uint64) func(w *writer) {
		return func(w *writer) {
			w.parts = uvarint(uvarint(uvarint([]byte{flagInline}, size), blocks), insts)
			w.nParts = 1
		}
	}
	const much = 1<<32 - 1
	for name, claim := range map[string][]func(w *writer){
		"blocks":           {one(trace.Dim{much, much, 1}, run(1<<60))},
		"blocks of a part": {part(0, partBlocks, 0), one(trace.Dim{much, much, 1}, run(1<<60), 0)},
		"grid":             {one(trace.Dim{much, much, much}, putRuns(nil, nil))},
		"part":             {part(1<<39, 1, 1), one(trace.Dim{1, 1, 1}, run(1), 0)},
		"records":          {part(0, 1, 1<<40), one(trace.Dim{1, 1, 1}, run(1), 0)},
		"parts":            {func(w *writer) { w.nParts = 1 << 50 }},
		"column":           {part(4, 1, 0), func(w *writer) { w.inline = uvarint(nil, 1<<27) }, one(trace.Dim{1, 1, 1}, run(1), 0)},
	} {
		var out bytes.Buffer
		w := newWriter(&out, nil)
		if err := w.set(&trace.Set{}); err != nil { // for its packer
			t.Fatal(err)
		}
		out.Reset()
		out.WriteString(magic + "\x01")
		for _, f := range claim {
			f(w)
		}
		if err := w.index(&trace.Set{Commands: make([]trace.Command, 1)}); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := readAll(path)
		runtime.ReadMemStats(&after)
		var own *trace.Error
		if !errors.As(err, &own) {
			t.Errorf("%s: %v", name, err)
		}
		if n := (after.TotalAlloc - before.TotalAlloc) >> 20; n > 16 {
			t.Errorf("%s: it takes %d MiB", name, n)
		}
	}
}

// FuzzIndex reads indices that are damaged though their checksum is right.
func FuzzIndex(f *testing.F) {
	var w bytes.Buffer
	if err := newWriter(&w, nil).set(small()); err != nil {
		f.Fatal(err)
	}
	f.Add(rawIndex(f, w.Bytes()))
	f.Fuzz(func(t *testing.T, index []byte) {
		c := &file{path: os.DevNull, size: int64(headSize)}
		if c.parse(index) != nil {
			return
		}
		for i := range c.parts {
			if c.parts[i].insts > 1<<16 { // it may be so, and takes its time
				t.Skip("an index may say so; reading that much takes long")
			}
		}
		set, err := c.list()
		if err != nil {
			return
		}
		for _, cmd := range set.Commands {
			l, ok := cmd.Launch.(*launch)
			if !ok || l.header.Grid.Count() > 1<<16 {
				continue
			}
			k, err := l.Open()
			if err != nil {
				continue
			}
			for i := range k.Present {
				if _, err := k.Blocks.Block(i); err != nil {
					break
				}
			}
			if err := k.Blocks.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// FuzzPart reads damaged bytes of a part.
func FuzzPart(f *testing.F) {
	var w bytes.Buffer
	x := newWriter(&w, nil)
	x.inline = make([]byte, maxInline)
	if err := x.set(small()); err != nil {
		f.Fatal(err)
	}
	f.Add(w.Bytes()[headSize:])
	k := &small().Commands[0].Launch.(*memory).kernel
	f.Fuzz(func(t *testing.T, b []byte) {
		u, err := newUnpacker()
		if err != nil {
			t.Fatal(err)
		}
		defer u.free()
		var cols [columns]reader
		if u.unpack(b, &cols) != nil {
			return
		}
		c := newCoder(k)
		defer c.free()
		for flags := range flagInline {
			again := cols
			c.reset(flags)
			c.open(&again)
			var x trace.Block
			for range 4 {
				if c.get(&again, &x, 1<<16) != nil {
					break
				}
			}
		}
	})
}

// rawIndex returns the index of a container as it is before compression.
func rawIndex(t testing.TB, b []byte) []byte {
	t.Helper()
	foot := b[len(b)-footSize:]
	n := int(binary.LittleEndian.Uint32(foot))
	d, err := indexDecoder()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	raw, err := d.DecodeAll(b[len(b)-footSize-n:len(b)-footSize], nil)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
