package text

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/trace"
)

// maxVersion is the newest known version of the tracer.
const maxVersion = 6

// maxExtra bounds the unknown header lines (our choice).
const maxExtra = 64

// The limits of a launch.
var (
	maxGrid  = trace.Dim{isa.MaxGridX, isa.MaxGridYZ, isa.MaxGridYZ}
	maxBlock = trace.Dim{isa.MaxThreads, isa.MaxThreads, isa.MaxBlockZ}
)

// The keys of header lines, as in files.
const (
	keyName       = "kernel name"
	keyID         = "kernel id"
	keyGrid       = "grid dim"
	keyBlock      = "block dim"
	keyShared     = "shmem"
	keyRegisters  = "nregs"
	keyArch       = "binary version"
	keyStream     = "cuda stream id"
	keySharedBase = "shmem base_addr"
	keyLocalBase  = "local mem base_addr"
	keyNVBit      = "nvbit version"
	keyVersion    = "accelsim tracer version"
	keyLineInfo   = "enable lineinfo"
)

// readHeader reads the lines up to and including the first that begins with '#'.
func (s *scanner) readHeader() error {
	h := &s.h
	seen := map[string]bool{}
	for {
		b, ok := s.l.next()
		if !ok {
			return s.ended("in the header")
		}
		if len(b) == 0 {
			continue
		}
		if b[0] == '#' {
			if bytes.HasPrefix(b, []byte(lineBegin)) {
				s.l.back()
			}
			break
		}
		if b[0] != '-' {
			return s.fail("header lines begin with '-', not %q; a trace begins with \"-kernel name = ...\"", clip(b))
		}
		key, value, ok := strings.Cut(string(b[1:]), "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if ok && seen[key] {
			return s.fail("the header has %q twice: two files in one?", key)
		}
		seen[key] = true
		if !ok || !s.setHeader(key, value) {
			if len(h.Extra) == maxExtra {
				return s.fail("more than %d unknown header lines: not a trace", maxExtra)
			}
			h.Extra = append(h.Extra, string(b))
		}
		if s.bad != nil {
			return s.bad
		}
	}
	for _, key := range []string{keyName, keyGrid, keyBlock} {
		if !seen[key] {
			return s.fail("the header has no line \"-%s = ...\"; the file is truncated or not a trace", key)
		}
	}
	if h.Version < 0 || h.Version > maxVersion {
		return s.fail("unknown tracer version %d; record with a version up to %d", h.Version, maxVersion)
	}
	if n := h.Block.Count(); n > isa.MaxThreads {
		return s.fail("a thread block of %v has %d threads, more than the %d of any GPU", h.Block, n, isa.MaxThreads)
	}
	return nil
}

// setHeader stores a header line and reports whether its key is known.
func (s *scanner) setHeader(key, value string) bool {
	h := &s.h
	switch key {
	case keyName:
		h.Kernel = value
	case keyID:
		h.ID = s.number(key, value, 0, 1<<62)
	case keyGrid:
		h.Grid = s.dim(key, value, maxGrid)
	case keyBlock:
		h.Block = s.dim(key, value, maxBlock)
	case keyShared:
		h.Shared = int(s.number(key, value, 0, 1<<30))
	case keyRegisters:
		h.Registers = int(s.number(key, value, 0, 1<<16))
	case keyArch:
		h.Arch = int(s.number(key, value, 0, 1<<16))
	case keyStream:
		n, err := strconv.ParseUint(value, 10, 64)
		if err != nil {
			s.mark("%q is not a stream number", value)
		}
		h.Stream = n
	case keySharedBase:
		h.SharedBase = s.address(key, value)
	case keyLocalBase:
		h.LocalBase = s.address(key, value)
	case keyNVBit:
		h.NVBit = value
	case keyVersion:
		h.Version = int(s.number(key, value, 0, 1<<16))
	case keyLineInfo:
		h.LineInfo = s.number(key, value, 0, 1) == 1
	default:
		return false
	}
	return true
}

// number parses a decimal number of a header line.
func (s *scanner) number(key, value string, least, most int64) int64 {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		s.mark("%q is not a number, as %q needs", clip([]byte(value)), key)
	} else if n < least || n > most {
		s.mark("%d is not a possible value of %q; want %d to %d", n, key, least, most)
	}
	return n
}

// address parses a hexadecimal number of a header line.
func (s *scanner) address(key, value string) uint64 {
	n, err := strconv.ParseUint(strings.TrimPrefix(value, "0x"), 16, 64)
	if err != nil {
		s.mark("%q is not an address, as %q needs; example: 0x00007f5e00000000", clip([]byte(value)), key)
	}
	return n
}

// dim parses an extent, "(x,y,z)".
func (s *scanner) dim(key, value string, most trace.Dim) (d trace.Dim) {
	inner, ok := strings.CutPrefix(value, "(")
	inner, ok2 := strings.CutSuffix(inner, ")")
	if d, ok3 := parseDim([]byte(inner)); ok && ok2 && ok3 {
		for i := range d {
			if d[i] == 0 || d[i] > most[i] {
				s.mark("%s %s is not possible: %c is between 1 and %d on every GPU", key, value, 'x'+i, most[i])
			}
		}
		return d
	}
	s.mark("%q is not an extent, as %q needs; example: (8,1,1)", clip([]byte(value)), key)
	return d
}

// parseDim parses three decimal numbers separated by commas.
func parseDim(b []byte) (d trace.Dim, ok bool) {
	for i := range d {
		if i > 0 {
			if len(b) == 0 || b[0] != ',' {
				return d, false
			}
			b = b[1:]
		}
		n, k := decimal(b)
		if k == 0 || n > 1<<32-1 {
			return d, false
		}
		d[i] = uint32(n)
		b = b[k:]
	}
	return d, len(b) == 0
}

// decimal parses digits at the beginning of b and returns their value and number;
// the number is 0 if there are more than 18.
func decimal(b []byte) (n uint64, k int) {
	for k < len(b) && b[k]-'0' <= 9 {
		n = n*10 + uint64(b[k]-'0')
		k++
	}
	if k > 18 {
		return 0, 0
	}
	return n, k
}

// clip shortens text that a message quotes.
func clip(b []byte) string {
	const most = 60
	if len(b) > most {
		return string(b[:most]) + "..."
	}
	return string(b)
}

// fail returns an error for the last line read.
func (s *scanner) fail(format string, args ...any) *trace.Error {
	return &trace.Error{File: s.file, Line: s.l.line, Block: s.where(), Msg: fmt.Sprintf(format, args...)}
}

// mark keeps the first error of a line; the rest of the line is still parsed.
func (s *scanner) mark(format string, args ...any) {
	if s.bad == nil {
		s.bad = s.fail(format, args...)
	}
}

// where names the current block and warp.
func (s *scanner) where() string {
	switch {
	case s.warp >= 0:
		return fmt.Sprintf("thread block %v, warp %d", s.index, s.warp)
	case s.inBlock:
		return fmt.Sprintf("thread block %v", s.index)
	}
	return ""
}

// ended returns the error for a text that ends too early.
func (s *scanner) ended(where string) *trace.Error {
	if err := s.l.err; err != nil && !isEOF(err) {
		return s.fail("%v", err)
	}
	return s.fail("the file ends %s: it is truncated; get or record it again", where)
}
