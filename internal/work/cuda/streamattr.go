package cuda

import (
	"encoding/binary"
	"maps"
	"math"
)

// StreamAttribute is the number of a stream's attribute (cudaLaunchAttributeID). All but
// the priority are kept and read back only: no model has a cache that keeps lines, and
// the host does not wait in simulated time.
type StreamAttribute int32

// The attributes of streams (CUDA Runtime API 12.8).
const (
	streamWindow   StreamAttribute = 1 // cudaAccessPolicyWindow
	streamPolicy   StreamAttribute = 3 // how the host waits
	streamPriority StreamAttribute = 8
	streamDomains  StreamAttribute = 9 // of memory ordering, by the names default and remote
	streamDomain   StreamAttribute = 10
)

// streamAttributes are their values' initial bytes, in C's layout, and which ones are
// valid.
var streamAttributes = map[StreamAttribute]struct {
	initial []byte
	valid   func(r *Runtime, v []byte) bool
}{
	streamWindow:   {make([]byte, 32), (*Runtime).windowValid},
	streamPolicy:   {[]byte{1, 0, 0, 0}, within(1, 5)}, // automatic; spin, yield, block
	streamPriority: {make([]byte, 4), func(*Runtime, []byte) bool { return true }},
	streamDomains:  {make([]byte, 2), func(r *Runtime, v []byte) bool { return int(v[0]) < memoryDomains && int(v[1]) < memoryDomains }},
	streamDomain:   {make([]byte, 4), within(0, 2)},
}

// memoryDomains is the number of domains of memory ordering (attribute 126 of devices).
const memoryDomains = 1

// within accepts integers from lo up to and without end.
func within(lo, end int32) func(*Runtime, []byte) bool {
	return func(_ *Runtime, v []byte) bool {
		n := int32(binary.LittleEndian.Uint32(v))
		return n >= lo && n < end
	}
}

// windowValid checks a cudaAccessPolicyWindow: address, bytes, the ratio of hits, and what
// to do with hits and misses (0 to 2: normal, streaming, persisting), of which misses
// cannot persist.
func (r *Runtime) windowValid(v []byte) bool {
	le := binary.LittleEndian
	bytes, ratio := le.Uint64(v[8:]), math.Float32frombits(le.Uint32(v[16:]))
	limit, _ := attribute(&r.props, attributeWindow)
	return bytes <= uint64(limit) && ratio >= 0 && ratio <= 1 && le.Uint32(v[20:]) <= 2 && le.Uint32(v[24:]) <= 1
}

// Bytes returns the size of an attribute's value; 0 if streams do not have it.
func (a StreamAttribute) Bytes() int { return len(streamAttributes[a].initial) }

// SetStreamAttribute sets an attribute of a stream.
func (t *Thread) SetStreamAttribute(h uint64, a StreamAttribute, value []byte) Error {
	return t.do(func(r *Runtime) Error {
		s, err := r.stream(h)
		if err != Success {
			return err
		}
		of, known := streamAttributes[a]
		if !known || len(value) != len(of.initial) || !of.valid(r, value) {
			return InvalidValue
		}
		if a == streamPriority {
			s.priority = validPriority(int(int32(binary.LittleEndian.Uint32(value))))
			return Success
		}
		if s.attributes == nil {
			s.attributes = map[StreamAttribute]string{}
		}
		s.attributes[a] = string(value)
		return Success
	})
}

// StreamAttribute stores the value of a stream's attribute in to.
func (t *Thread) StreamAttribute(h uint64, a StreamAttribute, to []byte) Error {
	return t.do(func(r *Runtime) Error {
		s, err := r.stream(h)
		if err != Success {
			return err
		}
		of, known := streamAttributes[a]
		if !known || len(to) != len(of.initial) {
			return InvalidValue
		}
		copy(to, of.initial)
		copy(to, s.attributes[a])
		if a == streamPriority {
			binary.LittleEndian.PutUint32(to, uint32(int32(s.priority)))
		}
		return Success
	})
}

// CopyStreamAttributes gives a stream the attributes of another.
func (t *Thread) CopyStreamAttributes(to, from uint64) Error {
	return t.do(func(r *Runtime) Error {
		d, err := r.stream(to)
		if err != Success {
			return err
		}
		s, err := r.stream(from)
		if err != Success {
			return err
		}
		d.priority, d.attributes = s.priority, maps.Clone(s.attributes)
		return Success
	})
}
