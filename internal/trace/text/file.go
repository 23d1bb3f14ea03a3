package text

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/bits"
	"os"
	"path/filepath"
	"syscall"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/heddle-sim/heddle/internal/trace"
)

// maxWindow bounds the dictionary that a compressed file can make us allocate (our
// choice): the strongest settings of xz and zstd take 64 and 128 MiB.
const maxWindow = 256 << 20

// place is the location of a file.
type place struct {
	dir, name string
	// confined is set for names from a list: they must stay within dir, links
	// included.
	confined bool
}

func (p place) String() string { return filepath.Join(p.dir, p.name) }

// open opens a regular file. Others, such as a pipe without a writer, are refused
// before they can block.
func (p place) open() (*os.File, error) {
	stat, open := os.Stat, os.Open
	name := p.String()
	if p.confined {
		root, err := os.OpenRoot(p.dir)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		stat, open, name = root.Stat, root.Open, p.name
	}
	info, err := stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a file")
	}
	return open(name)
}

// input is the text of a file.
type input struct {
	io.Reader
	file *os.File
	// plain is set if the file itself is the text, so that it can be seeked.
	plain bool
	close func()
}

// Close stops reading.
func (in *input) Close() {
	if in.close != nil {
		in.close()
	}
	in.file.Close()
}

// openText opens the text of a file at an offset, whatever its compression. The
// offset is 0 unless the file is known to be plain.
func openText(p place, offset int64) (*input, error) {
	f, err := p.open()
	if err != nil {
		return nil, err
	}
	in := &input{file: f}
	if offset > 0 {
		if _, err := f.Seek(offset, io.SeekStart); err != nil {
			f.Close()
			return nil, err
		}
		in.Reader, in.plain = f, true
		return in, nil
	}
	var magic [6]byte
	n, err := io.ReadFull(f, magic[:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		f.Close()
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		f.Close()
		return nil, err
	}
	if err := in.unpack(magic[:n]); err != nil {
		in.Close()
		return nil, err
	}
	return in, nil
}

// The magic numbers of compressed files (RFC 1952, the .xz file format 1.1.0, RFC
// 8878).
var (
	magicGzip = []byte{0x1f, 0x8b}
	magicXz   = []byte{0xfd, '7', 'z', 'X', 'Z', 0}
	magicZstd = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// unpack inserts the decompressor that the file's first bytes ask for.
func (in *input) unpack(magic []byte) error {
	switch {
	case bytes.HasPrefix(magic, magicGzip):
		r, err := gzip.NewReader(bufio.NewReaderSize(in.file, 64<<10))
		if err != nil {
			return &damaged{"gzip", err}
		}
		in.ahead("gzip", r, nil)
	case bytes.HasPrefix(magic, magicXz):
		b := bufio.NewReaderSize(in.file, 64<<10)
		head, _ := b.Peek(1024)
		if n := xzDictionary(head); n > maxWindow {
			return fmt.Errorf("its xz dictionary of %d MiB is larger than the limit of %d MiB; compress it with xz -9 or less", n>>20, maxWindow>>20)
		}
		r, err := xz.NewReader(b)
		if err != nil {
			return &damaged{"xz", err}
		}
		in.ahead("xz", r, nil)
	case bytes.HasPrefix(magic, magicZstd):
		r, err := zstd.NewReader(in.file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return &damaged{"zstd", err}
		}
		in.ahead("zstd", r, r.Close)
	default:
		in.Reader, in.plain = in.file, true
	}
	return nil
}

// xzDictionary returns the dictionary size in bytes of the first block of an .xz
// file, 0 if its header is not as expected: a byte with its size, one of flags,
// optional sizes, then filters, of which LZMA2 is number 0x21 with one byte of
// properties: 2 or 3 shifted left by half of it plus 11.
func xzDictionary(head []byte) int64 {
	const streamHeader = 12
	if len(head) < streamHeader+2 {
		return 0
	}
	at := streamHeader + 2
	for n := bits.OnesCount8(head[streamHeader+1] >> 6); n > 0; n-- {
		for at < len(head) && head[at]&0x80 != 0 {
			at++
		}
		at++
	}
	if at+2 >= len(head) || head[at] != 0x21 {
		return 0
	}
	size := head[at+2]
	if size > 40 {
		return 0
	}
	return int64(2|size&1) << (size/2 + 11)
}

// damaged reports a compressed file that cannot be decompressed.
type damaged struct {
	form string
	err  error
}

func (d *damaged) Error() string {
	if errors.Is(d.err, io.ErrUnexpectedEOF) || errors.Is(d.err, io.EOF) {
		return fmt.Sprintf("the %s data ends too early: the file is truncated; get it again", d.form)
	}
	return fmt.Sprintf("the %s data is damaged (%v); get the file again", d.form, d.err)
}

// aheadBytes and aheadCount bound the text that is decompressed in advance.
const (
	aheadBytes = 128 << 10
	aheadCount = 4
)

// ahead decompresses in a goroutine of its own, a few buffers ahead of the reader.
func (in *input) ahead(form string, r io.Reader, end func()) {
	p := &pump{full: make(chan chunk, aheadCount), free: make(chan []byte, aheadCount+2), stop: make(chan struct{}), done: make(chan struct{})}
	go p.run(form, r)
	in.Reader = p
	in.close = func() {
		close(p.stop)
		<-p.done
		if end != nil {
			end()
		}
	}
}

// chunk is a part of the text, or the reason why there is no more.
type chunk struct {
	b   []byte
	err error
}

// pump returns what another goroutine reads.
type pump struct {
	full       chan chunk
	free       chan []byte
	stop, done chan struct{}
	now        []byte // the rest of whole
	whole      []byte
	err        error
}

func (p *pump) run(form string, r io.Reader) {
	defer close(p.done)
	for {
		var b []byte
		select {
		case b = <-p.free:
		default:
			b = make([]byte, aheadBytes)
		}
		n, err := fill(r, b)
		if err != nil && err != io.EOF {
			err = &damaged{form, err}
		}
		select {
		case p.full <- chunk{b[:n], err}:
		case <-p.stop:
			return
		}
		if err != nil {
			return
		}
	}
}

// fill reads until b is full or the text ends. A panic in a decoder (none is known)
// is treated as damaged data.
func fill(r io.Reader, b []byte) (n int, err error) {
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("%v", x)
		}
	}()
	for n < len(b) && err == nil {
		var k int
		k, err = r.Read(b[n:])
		n += k
	}
	return n, err
}

// Read implements io.Reader.
func (p *pump) Read(b []byte) (int, error) {
	for len(p.now) == 0 {
		if p.err != nil {
			return 0, p.err
		}
		if p.whole != nil {
			p.free <- p.whole[:aheadBytes]
			p.whole = nil
		}
		c := <-p.full
		p.whole, p.now, p.err = c.b, c.b, c.err
	}
	n := copy(b, p.now)
	p.now = p.now[n:]
	return n, nil
}

// openError returns the reason why a file could not be opened.
func openError(p place, err error) *trace.Error {
	msg := err.Error()
	var pe *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		msg = "no such file"
	case errors.Is(err, fs.ErrPermission):
		msg = "no permission to read it"
	case errors.As(err, &pe):
		msg = pe.Err.Error()
		// What the system does not refuse, os.Root does.
		var system syscall.Errno
		if p.confined && !errors.As(err, &system) {
			msg = "it is a link that leads out of the list's folder; copy the file there"
		}
	}
	return &trace.Error{File: p.String(), Msg: msg}
}

// maxLine bounds a line (our choice): lines of instructions have fewer than 1,000
// characters, mangled names can be longer.
const maxLine = 256 << 10

// errLong is a line longer than maxLine.
var errLong = fmt.Errorf("a line of more than %d KiB: this is not a trace", maxLine>>10)

// lines splits a text into lines without allocating any.
type lines struct {
	r          io.Reader
	buf        []byte
	from       int // start of the line that next returned
	at, end    int
	offset     int64 // of buf[0] in the text
	line       int   // number of the line that next returned, from 1
	err        error // why there are no more lines, io.EOF at the end of the text
	terminated bool  // the line that next returned ended with a newline
}

func newLines(r io.Reader, offset int64, line int) *lines {
	return &lines{r: r, buf: make([]byte, maxLine), offset: offset, line: line}
}

// next returns the next line without its end, or false if there is none.
func (l *lines) next() ([]byte, bool) {
	if i := bytes.IndexByte(l.buf[l.at:l.end], '\n'); i >= 0 {
		return l.take(l.at+i, 1), true
	}
	for {
		if l.err != nil {
			if l.at == l.end || l.err != io.EOF {
				l.from, l.at = l.end, l.end
				return nil, false
			}
			return l.take(l.end, 0), true
		}
		copy(l.buf, l.buf[l.at:l.end])
		l.offset += int64(l.at)
		l.end -= l.at
		l.at = 0
		if l.end == len(l.buf) {
			l.err, l.end = errLong, 0
			continue
		}
		seen := l.end
		var n int
		n, l.err = l.r.Read(l.buf[l.end:])
		l.end += n
		if i := bytes.IndexByte(l.buf[seen:l.end], '\n'); i >= 0 {
			return l.take(seen+i, 1), true
		}
	}
}

// take returns the line up to end.
func (l *lines) take(end, newline int) []byte {
	b := l.buf[l.at:end]
	l.from, l.at, l.terminated = l.at, end+newline, newline > 0
	l.line++
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\r') {
		b = b[:len(b)-1]
	}
	return b
}

// back makes next return the same line again.
func (l *lines) back() {
	l.at = l.from
	l.line--
}
