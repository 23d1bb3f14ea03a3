//go:build !linux

package device

import "errors"

// File is not there.
type File struct{}

// NewFile returns an error.
func NewFile(string) (*File, error) {
	return nil, errors.New("device memory in a file is there on Linux only")
}

func (*File) allocate(_ *region, n uint64) []byte   { return nil }
func (*File) discard(at, size uint64)               {}
func (*File) written(at, size uint64) (list []span) { return nil }
