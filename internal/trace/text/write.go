package text

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/trace"
)

// Options determine how traces are written.
type Options struct {
	// Version is that of the tracer whose format is written, 3 to 6. With 0, each
	// launch keeps the version that it names; a launch that was recorded by no
	// version of the tracer gets the format of the first generation.
	Version int
	// Packing is "", "xz", "gz" or "zst". Accel-Sim reads plain files and xz.
	Packing string
}

func (o Options) check() error {
	if o.Version != 0 && (o.Version < 3 || o.Version > maxVersion) {
		return fmt.Errorf("traces can be written as version 3 to %d, not %d", maxVersion, o.Version)
	}
	switch o.Packing {
	case "", "xz", "gz", "zst":
		return nil
	}
	return fmt.Errorf("traces can be packed as xz, gz or zst, not %q", o.Packing)
}

// Write writes a set to a folder: kernelslist.g, a file for each launch, and
// stats.csv. It creates the folder if necessary; the folder must not contain a list
// yet. A launch that cannot be read ends it with a *trace.Error; what was written
// before stays. Progress, if not nil, is called with the number of blocks written
// and the total of all grids.
func Write(dir string, set *trace.Set, o Options, progress func(done, total uint64)) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, name := range listNames {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return fmt.Errorf("%s already holds a list of launches, %s; name another folder", dir, name)
		}
	}
	w := setWriter{dir: dir, o: o, names: map[string]string{}, used: map[string]bool{}, progress: progress}
	if progress == nil {
		w.progress = func(done, total uint64) {}
	}
	for _, c := range set.Commands {
		if c.Launch == nil {
			continue
		}
		// A launch that cannot be read is reported when it is written.
		if h, err := c.Launch.Header(); err == nil {
			w.total += h.Grid.Count()
		}
	}
	err := w.commands(set)
	// What was written is useful, and so is its list.
	return errors.Join(err, os.WriteFile(filepath.Join(dir, listNames[0]), []byte(w.list.String()), 0o666),
		os.WriteFile(filepath.Join(dir, "stats.csv"), []byte(statsHead+w.stats.String()), 0o666))
}

// statsHead is the first line of stats.csv.
const statsHead = "kernel id, kernel mangled name, grid_dimX, grid_dimY, grid_dimZ, #blocks, block_dimX, block_dimY, block_dimZ, #threads, total_insts, total_reported_insts\n"

// setWriter writes a set.
type setWriter struct {
	dir         string
	o           Options
	list, stats strings.Builder
	names       map[string]string // file names, by launch names
	used        map[string]bool
	count       int    // number of launches so far
	done, total uint64 // blocks of all grids
	progress    func(done, total uint64)
}

func (w *setWriter) commands(set *trace.Set) error {
	for c := range set.All() {
		if c.Launch == nil {
			fmt.Fprintf(&w.list, "MemcpyHtoD,0x%016x,%d\n", c.Addr, c.Bytes)
			continue
		}
		w.count++
		name, ok := w.names[c.Launch.Name()]
		if !ok {
			name = w.newName(*c)
			switch err := w.launch(name, c.Launch); {
			case errors.Is(err, trace.ErrDropped):
				continue
			case err != nil:
				return err
			}
			w.names[c.Launch.Name()] = name
		} else if h, err := c.Launch.Header(); err == nil {
			w.done += h.Grid.Count()
			w.progress(w.done, w.total)
		}
		fmt.Fprintln(&w.list, name)
	}
	return nil
}

// newName returns the file name of a launch: its original one if it comes from a
// text trace, otherwise kernel- and its number in the list.
func (w *setWriter) newName(c trace.Command) string {
	base := stem(filepath.Base(c.Text))
	plain := strings.HasPrefix(base, "kernel") && !strings.ContainsFunc(base, func(r rune) bool {
		return r != '-' && r != '_' && r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	if !plain || w.used[base] {
		base = fmt.Sprintf("kernel-%d", w.count)
	}
	for n := 2; w.used[base]; n++ {
		base = fmt.Sprintf("kernel-%d-%d", w.count, n)
	}
	w.used[base] = true
	name := base + ".traceg"
	if w.o.Packing != "" {
		name += "." + w.o.Packing
	}
	return name
}

// launch writes a launch to a file of its own.
func (w *setWriter) launch(name string, src trace.Source) (err error) {
	k, err := src.Open()
	if err != nil {
		return err
	}
	defer k.Blocks.Close()
	path := filepath.Join(w.dir, name)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
		if err != nil {
			os.Remove(path)
		}
	}()
	out, err := pack(f, w.o.Packing)
	if err != nil {
		return err
	}
	before := w.done
	if err := writeKernel(out, k, w.o.Version, func() {
		w.done++
		w.progress(w.done, w.total)
	}); err != nil {
		return err
	}
	if n := k.Grid.Count() - uint64(len(k.Present)); n > 0 {
		w.done = before + k.Grid.Count()
		w.progress(w.done, w.total)
	}
	if err := out.Close(); err != nil {
		return err
	}
	g, b := k.Grid, k.Block
	fmt.Fprintf(&w.stats, "%s.trace, %s, %d, %d, %d, %d, %d, %d, %d, %d, %d,%d\n", stem(name), oneLine(k.Kernel),
		g[0], g[1], g[2], g.Count(), b[0], b[1], b[2], b.Count(), k.WarpInsts, k.WarpInsts)
	return nil
}

// nothing is an io.Closer that does nothing.
type nothing struct{ io.Writer }

func (nothing) Close() error { return nil }

// pack returns a writer that compresses.
func pack(w io.Writer, packing string) (io.WriteCloser, error) {
	switch packing {
	case "xz":
		return xz.NewWriter(w)
	case "gz":
		return gzip.NewWriterLevel(w, gzip.BestCompression)
	case "zst":
		return zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderConcurrency(1))
	}
	return nothing{w}, nil
}

// writer writes a launch.
type writer struct {
	w       *bufio.Writer
	k       *trace.Kernel
	version int
	same    bool // the version is that of the trace: nothing is left out
	code    []written
	b       []byte
}

// written is the text of a static instruction.
type written struct {
	head string // between the mask and the addresses
	tail string // after the addresses
	mem  bool
}

// WriteKernel writes a launch as text of a version; 0 means the version that the
// launch names. Errors are those of reading its blocks, *trace.Error, and those of
// w.
//
// Writing a recorded file in its own version reproduces it byte for byte, with
// these exceptions:
//   - empty lines inside a warp and double spaces are removed; a line ends with a
//     space exactly where the tracer writes one;
//   - header lines are in the tracer's order, unknown ones last; lines that the
//     version has and the file lacks are added;
//   - control characters in names become spaces;
//   - records of raw files are grouped, the two of an LDGSTS become one;
//   - register values of version 6 become NoVal.
//
// What a version cannot express is left out: before version 6 all destinations
// except a general register that comes first, sources other than the first five
// general registers, and all immediates but the last, which is cut to 32 bits;
// before version 5 that one too. Of the two addresses of an LDGSTS the second, its
// source's, is written, because Accel-Sim treats the instruction as an access to
// global memory.
func WriteKernel(out io.Writer, k *trace.Kernel, version int) error {
	return writeKernel(out, k, version, func() {})
}

// writeKernel calls wrote after each block.
func writeKernel(out io.Writer, k *trace.Kernel, version int, wrote func()) error {
	if err := (Options{Version: version}).check(); err != nil {
		return err
	}
	w := &writer{w: bufio.NewWriterSize(out, 256<<10), k: k, version: version, same: version == 0 || version == k.Version}
	if version == 0 {
		w.version = k.Version
	}
	w.header()
	for i := range k.Code {
		w.code = append(w.code, w.static(&k.Code[i]))
	}
	for i := range k.Present {
		b, err := k.Blocks.Block(i)
		if err != nil {
			return err
		}
		if i > 0 {
			w.w.WriteByte('\n')
		}
		err = w.block(b)
		k.Blocks.Free(b)
		if err != nil {
			return err
		}
		wrote()
	}
	return w.w.Flush()
}

// formatNote returns a version's description of its lines.
func formatNote(version int) string {
	const to3 = " PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses]"
	switch {
	case version < 3:
		return " threadblock_x threadblock_y threadblock_z warpid_tb PC mask dest_num reg_dests opcode src_num reg_srcs mem_width mem_addresses"
	case version == 3:
		return " threadblock_x threadblock_y threadblock_z warpid_tb" + to3
	case version == 4:
		return " [line_num]" + to3
	case version == 5:
		return " [line_num]" + to3 + " immediate"
	}
	return " [line_num]" + to3 + " immediate1 immediate2 Val|NoVal [dest_val_n]"
}

func (w *writer) header() {
	h := &w.k.Header
	line := func(key, format string, args ...any) { fmt.Fprintf(w.w, "-"+key+" = "+format+"\n", args...) }
	line(keyName, "%s", oneLine(h.Kernel))
	line(keyID, "%d", h.ID)
	line(keyGrid, "(%d,%d,%d)", h.Grid[0], h.Grid[1], h.Grid[2])
	line(keyBlock, "(%d,%d,%d)", h.Block[0], h.Block[1], h.Block[2])
	line(keyShared, "%d", h.Shared)
	line(keyRegisters, "%d", h.Registers)
	line(keyArch, "%d", h.Arch)
	line(keyStream, "%d", h.Stream)
	if w.version >= 3 || h.SharedBase != 0 || h.LocalBase != 0 {
		line(keySharedBase, "0x%016x", h.SharedBase)
		line(keyLocalBase, "0x%016x", h.LocalBase)
	}
	if h.NVBit != "" {
		line(keyNVBit, "%s", oneLine(h.NVBit))
	}
	if w.version > 0 {
		line(keyVersion, "%d", w.version)
	}
	if w.version >= 4 {
		n := 0
		if h.LineInfo {
			n = 1
		}
		line(keyLineInfo, "%d", n)
	}
	for _, x := range h.Extra {
		fmt.Fprintln(w.w, oneLine(x))
	}
	fmt.Fprintf(w.w, "\n#traces format =%s\n\n\n", formatNote(w.version))
	if w.version >= 3 {
		w.w.WriteByte('\n')
	}
}

// oneLine keeps a name from other files on one line.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s)
}

// static returns the text of an instruction.
func (w *writer) static(st *trace.Static) written {
	var b []byte
	dsts, srcs := st.Dsts, st.Srcs
	if !w.same {
		dsts, srcs = w.known(dsts), w.known(srcs)
		if w.version < 6 {
			dsts, srcs = dsts[:min(1, len(dsts))], srcs[:min(5, len(srcs))]
			if len(dsts) > 0 && st.Dsts[0] != dsts[0] {
				dsts = nil
			}
		}
	}
	b = appendRegs(b, dsts)
	b = append(append(b, st.Op...), ' ')
	b = appendRegs(b, srcs)
	width := st.Width
	if !w.same && isFlow(st.Op) {
		width = 0
	}
	b = strconv.AppendUint(b, uint64(width), 10)
	x := written{head: string(b), mem: width > 0}
	imm := func(i int) int64 {
		if i >= 0 && i < len(st.Imms) {
			return st.Imms[i]
		}
		return 0
	}
	switch {
	case w.version < 5:
		x.tail = " \n"
	case w.version == 5 && w.same:
		x.tail = fmt.Sprintf(" %d \n", imm(0))
	case w.version == 5:
		x.tail = fmt.Sprintf(" %d \n", int32(imm(len(st.Imms)-1)))
	default:
		x.tail = fmt.Sprintf(" %d %d NoVal\n", imm(0), imm(1))
	}
	return x
}

// known returns the registers that a version can name.
func (w *writer) known(list []trace.Reg) (kept []trace.Reg) {
	for _, r := range list {
		if r.File == isa.RegGPR || r.File == isa.RegUGPR && w.version >= 6 {
			kept = append(kept, r)
		}
	}
	return kept
}

// appendRegs writes the number of registers, then the registers.
func appendRegs(b []byte, list []trace.Reg) []byte {
	b = append(strconv.AppendInt(b, int64(len(list)), 10), ' ')
	for _, r := range list {
		b = append(append(b, r.String()...), ' ')
	}
	return b
}

// isFlow reports whether an opcode changes control flow. Traces in other formats
// may give it an address, that of its target.
func isFlow(op string) bool {
	switch base(op) {
	case "BRA", "BRX", "BRXU", "JMP", "JMX", "JMXU", "JCAL", "CALL", "RET", "PRET", "CAL", "EXIT":
		return true
	}
	return false
}

// block writes a block.
func (w *writer) block(b *trace.Block) error {
	x := append(w.b[:0], lineBegin+"\n\n"+lineBlock...)
	x = appendDim(x, b.Index, ',')
	x = append(x, "\n\n"...)
	for _, p := range b.Warps {
		x = strconv.AppendInt(append(x, lineWarp...), int64(p.ID), 10)
		x = strconv.AppendInt(append(x, "\n"+lineInsts...), int64(p.Upto-p.From), 10)
		x = append(x, '\n')
		for i := p.From; i < p.Upto; i++ {
			x = w.record(x, b, p.ID, &b.Insts[i])
			if len(x) > 64<<10 {
				if _, err := w.w.Write(x); err != nil {
					return err
				}
				x = x[:0]
			}
		}
		x = append(x, '\n')
	}
	x = append(x, lineEnd+"\n"...)
	w.b = x
	_, err := w.w.Write(x)
	return err
}

func appendDim(x []byte, d trace.Dim, sep byte) []byte {
	x = append(strconv.AppendUint(x, uint64(d[0]), 10), sep)
	x = append(strconv.AppendUint(x, uint64(d[1]), 10), sep)
	return strconv.AppendUint(x, uint64(d[2]), 10)
}

// record writes the line of an instruction.
func (w *writer) record(x []byte, b *trace.Block, warp int32, in *trace.Inst) []byte {
	if w.version < 3 {
		x = append(appendDim(x, b.Index, ' '), ' ')
		x = append(strconv.AppendInt(x, int64(warp), 10), ' ')
	}
	st := &w.k.Code[in.At]
	if w.k.LineInfo && w.version >= 4 {
		x = append(strconv.AppendInt(x, int64(st.Line), 10), ' ')
	}
	x = append(appendHex(x, uint64(st.PC), 4), ' ')
	x = append(appendHex(x, uint64(in.Mask), 8), ' ')
	c := &w.code[in.At]
	x = append(x, c.head...)
	if c.mem {
		switch {
		case in.NMems == 0:
			x = append(x, " 1 0x0 0"...)
		default:
			x = w.addresses(x, b, &b.Mems[in.Mem+int32(in.NMems)-1])
		}
	}
	return append(x, c.tail...)
}

// addresses writes a mode and addresses.
func (w *writer) addresses(x []byte, b *trace.Block, m *trace.Mem) []byte {
	digits := 1
	if w.version < 3 {
		digits = 16
	}
	x = append(x, ' ', '0'+byte(m.Mode))
	switch m.Mode {
	case trace.ListAll:
		for _, a := range b.Deltas[m.First : m.First+int32(m.N)] {
			x = appendHex(append(x, " 0x"...), uint64(a), 16)
		}
		return x
	case trace.BaseStride:
		x = appendHex(append(x, " 0x"...), m.Base, digits)
		return strconv.AppendInt(append(x, ' '), int64(m.Stride), 10)
	}
	x = appendHex(append(x, " 0x"...), m.Base, digits)
	for _, d := range b.Deltas[m.First : m.First+int32(m.N)] {
		x = strconv.AppendInt(append(x, ' '), d, 10)
	}
	return x
}

// appendHex writes a number with at least the given number of digits.
func appendHex(x []byte, n uint64, digits int) []byte {
	const hex = "0123456789abcdef"
	for i := max(digits, (bits.Len64(n)+3)/4) - 1; i >= 0; i-- {
		x = append(x, hex[n>>(4*i)&15])
	}
	return x
}
