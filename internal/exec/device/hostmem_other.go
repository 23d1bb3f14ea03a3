//go:build !unix

package device

// hostMemory returns n zeroed bytes. What the operating system would give cannot be
// queried cheaply: only Config's limit applies.
func hostMemory(_ *region, n uint64) []byte { return make([]byte, n) }

func (r *region) discard() {}

func (r *region) unmap() bool { return false }
