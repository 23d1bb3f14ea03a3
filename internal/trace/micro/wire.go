package micro

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

// This file: the part of protobuf that these messages use.

var errWire = errors.New("not a protobuf message")

// field is a field of a message: a number or bytes.
type field struct {
	num   protowire.Number
	wire  protowire.Type
	value uint64
	bytes []byte
}

// next removes a field from the front of a message. For wire types that no message
// here has, only the field's number is returned.
func next(b []byte) (f field, rest []byte, err error) {
	num, wire, n := protowire.ConsumeTag(b)
	if n < 0 {
		return f, nil, errWire
	}
	f.num, f.wire = num, wire
	b = b[n:]
	switch wire {
	case protowire.VarintType:
		f.value, n = protowire.ConsumeVarint(b)
	case protowire.BytesType:
		f.bytes, n = protowire.ConsumeBytes(b)
	default:
		n = protowire.ConsumeFieldValue(num, wire, b)
	}
	if n < 0 {
		return f, nil, errWire
	}
	return f, b[n:], nil
}

// each calls do for each field of a message.
func each(b []byte, do func(f field) error) error {
	for len(b) > 0 {
		f, rest, err := next(b)
		if err != nil {
			return err
		}
		if err := do(f); err != nil {
			return err
		}
		b = rest
	}
	return nil
}

// number and message report whether a field has its expected type; fields with
// another type are of an unknown version and are ignored.
func (f *field) number(n protowire.Number) bool {
	return f.num == n && f.wire == protowire.VarintType
}

func (f *field) message(n protowire.Number) bool {
	return f.num == n && f.wire == protowire.BytesType
}

// entry reads an entry of a map of numbers to messages.
func entry(b []byte) (key int64, value []byte, err error) {
	err = each(b, func(f field) error {
		switch {
		case f.number(1):
			key = int64(f.value)
		case f.message(2):
			value = f.bytes
		}
		return nil
	})
	return key, value, err
}

// Writing: zeros are left out, as in proto3.

func putNumber(b []byte, n protowire.Number, v uint64) []byte {
	if v == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), v)
}

func putBytes(b []byte, n protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), v)
}

func putText(b []byte, n protowire.Number, s string) []byte {
	if s == "" {
		return b
	}
	return putBytes(b, n, []byte(s))
}

// putEntry writes an entry of a map; keys are always written.
func putEntry(b []byte, n protowire.Number, key int64, value []byte) []byte {
	e := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(key))
	return putBytes(b, n, putBytes(e, 2, value))
}
