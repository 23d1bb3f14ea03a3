//go:build !linux

package device

import "errors"

// store is not there: only CUDA programs reserve addresses, and they run on Linux.
type store struct{}

func newStore() (*store, error) {
	return nil, errors.New("only Linux has what it takes to map memory at reserved addresses")
}

func touched(b []byte) []span { return []span{{0, uint64(len(b))}} }

func (*store) grow(uint64) (uint64, error)     { return 0, nil }
func (*store) discard(at, size uint64) error   { return nil }
func (*store) reserve(uint64) ([]byte, error)  { return nil, nil }
func (*store) unreserve([]byte) error          { return nil }
func (*store) place(b []byte, at uint64) error { return nil }
func (*store) clear([]byte) error              { return nil }
func (*store) pages(at, size uint64) []span    { return nil }
func (*store) close()                          {}
