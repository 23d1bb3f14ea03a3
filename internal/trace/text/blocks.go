package text

import (
	"bytes"

	"github.com/heddle-sim/heddle/internal/trace"
)

// blocks provides the blocks of a launch: those that were kept decoded, and those
// that are read again.
type blocks struct {
	source *source
	code   *code
	h      trace.Header
	lead   int
	all    int    // total number
	marks  []mark // of every markEvery-th block, if the file is plain
	kept   []*trace.Block
	taken  int64 // of the budget

	stream *stream
	next   int                   // the next one from the stream
	out    map[*trace.Block]bool // blocks of the stream that have not been returned
	free   chan *trace.Block     // buffers to reuse
}

// release returns the memory of the kept blocks to the budget.
func (bl *blocks) release() {
	bl.source.budget.left.Add(bl.taken)
	bl.taken, bl.kept = 0, nil
}

// Close implements trace.Blocks.
func (bl *blocks) Close() error {
	if bl.stream != nil {
		bl.stream.end()
		bl.stream = nil
	}
	bl.release()
	bl.all = 0
	return nil
}

// Free implements trace.Blocks. A kept block stays for other readers.
func (bl *blocks) Free(b *trace.Block) {
	if !bl.out[b] {
		return
	}
	delete(bl.out, b)
	bl.give(b)
}

// give takes a buffer back.
func (bl *blocks) give(b *trace.Block) {
	select {
	case bl.free <- b:
	default:
	}
}

// Block implements trace.Blocks.
func (bl *blocks) Block(i int) (*trace.Block, error) {
	if i < 0 || i >= bl.all {
		return nil, &trace.Error{File: bl.source.Name(), Msg: "no such block, or the launch has been closed"}
	}
	if i < len(bl.kept) {
		return bl.kept[i], nil
	}
	if bl.stream == nil || i < bl.next || i > bl.next+markEvery {
		if bl.stream != nil {
			bl.stream.end()
			bl.stream = nil
		}
		st, err := bl.start(i)
		if err != nil {
			return nil, err
		}
		bl.stream, bl.next = st, i
	}
	for {
		d := <-bl.stream.full
		if d.err != nil {
			bl.stream.end()
			bl.stream = nil
			return nil, d.err
		}
		bl.next++
		if bl.next > i {
			bl.out[d.b] = true
			return d.b, nil
		}
		bl.give(d.b)
	}
}

// decodeAhead is the number of blocks that are decoded in advance.
const decodeAhead = 3

// mostFree bounds the buffers kept for reuse.
const mostFree = 64

// decoded is a block, or the reason why there is none.
type decoded struct {
	b   *trace.Block
	err error
}

// stream decodes blocks ahead of their reader.
type stream struct {
	s    *scanner
	in   *input
	full chan decoded
	free chan *trace.Block
	stop chan struct{}
	done chan struct{}
}

// start starts decoding at block i.
func (bl *blocks) start(i int) (*stream, error) {
	var from mark
	skip := i
	if len(bl.marks) > 0 {
		from = bl.marks[i/markEvery]
		skip = i % markEvery
	}
	in, err := bl.source.open(from.offset)
	if err != nil {
		return nil, err
	}
	s := newScanner(bl.source.place, in)
	if len(bl.marks) > 0 {
		s.l.offset, s.l.line = from.offset, from.line
	}
	s.h, s.c, s.lead, s.store = bl.h, bl.code, bl.lead, true
	st := &stream{s: s, in: in, full: make(chan decoded, decodeAhead), free: bl.free,
		stop: make(chan struct{}), done: make(chan struct{})}
	go st.run(len(bl.marks) == 0, skip, bl.all-i)
	return st, nil
}

// end stops decoding.
func (st *stream) end() {
	close(st.stop)
	<-st.done
	st.in.Close()
}

// run decodes count blocks after skipping some.
func (st *stream) run(header bool, skip, count int) {
	defer close(st.done)
	if header {
		if err := st.s.skipHeader(); err != nil {
			st.send(decoded{err: err})
			return
		}
	}
	for ; skip > 0; skip-- {
		if err := st.s.skipBlock(); err != nil {
			st.send(decoded{err: err})
			return
		}
	}
	for ; count > 0; count-- {
		var b *trace.Block
		select {
		case b = <-st.free:
			reset(b)
		default:
			b = &trace.Block{}
		}
		st.s.b = b
		more, err := st.s.begin()
		if err == nil && !more {
			err = st.s.ended("before its last thread block")
		}
		if err == nil {
			err = st.s.block()
		}
		if err != nil {
			st.send(decoded{err: err})
			return
		}
		if !st.send(decoded{b: b}) {
			return
		}
	}
}

// send passes a block on and reports whether more are wanted.
func (st *stream) send(d decoded) bool {
	select {
	case st.full <- d:
		return true
	case <-st.stop:
		return false
	}
}

// skipHeader moves to the first block.
func (s *scanner) skipHeader() *trace.Error {
	for {
		b, ok := s.content()
		if !ok {
			return s.ended("before the first thread block")
		}
		if string(b) == lineBegin {
			s.l.back()
			return nil
		}
	}
}

// skipBlock moves past the next block.
func (s *scanner) skipBlock() *trace.Error {
	for {
		b, ok := s.l.next()
		if !ok {
			return s.ended("before its last thread block")
		}
		if len(b) > 0 && b[0] == '#' && bytes.Equal(b, []byte(lineEnd)) {
			return nil
		}
	}
}
