package pti

import "encoding/binary"

// attribute is a setting of CUPTI's buffers (CUpti_ActivityAttribute). They have no effect
// on a simulation, which records without buffers on the device.
type attribute struct {
	bytes int // of its value
	value uint64
}

// Attributes are the settings with their values.
type Attributes struct{ list []attribute }

// NewAttributes returns the settings with their defaults (CUPTI activity API,
// CUpti_ActivityAttribute).
func NewAttributes() *Attributes {
	return &Attributes{[]attribute{
		{8, 3200000}, {8, 8388608}, {8, 250}, {8, 25000}, {8, 250}, {1, 0}, {8, 3}, {8, 3}, {1, 0}, {1, 1}, {8, 16777216},
	}}
}

// find returns an attribute whose value needs at most n bytes.
func (a *Attributes) find(which uint32, n uint64) (*attribute, Result) {
	switch {
	case uint64(which) >= uint64(len(a.list)):
		return nil, InvalidParameter
	case n < uint64(a.list[which].bytes):
		return nil, SizeNotSufficient
	}
	return &a.list[which], Success
}

// Get returns the value of an attribute for which there is room of n bytes.
func (a *Attributes) Get(which uint32, n uint64) (value []byte, res Result) {
	x, res := a.find(which, n)
	if res != Success {
		return nil, res
	}
	return binary.LittleEndian.AppendUint64(nil, x.value)[:x.bytes], Success
}

// Set sets an attribute; value returns the first bytes of its value, of which there are n.
func (a *Attributes) Set(which uint32, n uint64, value func(n int) []byte) Result {
	x, res := a.find(which, n)
	if res == Success {
		var b [8]byte
		copy(b[:], value(x.bytes))
		x.value = binary.LittleEndian.Uint64(b[:])
	}
	return res
}
