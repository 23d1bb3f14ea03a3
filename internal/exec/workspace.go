package exec

import "github.com/heddle-sim/heddle/internal/exec/device"

// Workspaces are what cooperative launches have in device memory: each gets the address of
// one. The cooperative groups of NVIDIA's compiler have their barrier of all blocks in its word
// at byte 4: every block adds 1, one of them 0x80000000 less the number of the others, and all
// wait for the top bit to change (seen in PTX of that compiler). Size and number are our
// choice. Workspaces serve in turn, for launches of which no two kernels of a chip can have
// the same unless one of them lasts longer than a thousand others.
type Workspaces struct {
	base uint64 // 0: none was needed yet
	used uint64 // launches that have had one
}

const (
	workspaceBytes = 64
	workspaces     = 1024
)

// Prepare allocates them for the first launch that needs one.
func (s *Workspaces) Prepare(mem *device.Memory) (err error) {
	if s.base == 0 {
		s.base, err = mem.AllocSystem(workspaces*workspaceBytes, "grid workspaces")
	}
	return err
}

// Take clears the next one, after Prepare, and returns its address.
func (s *Workspaces) Take(mem *device.Memory) uint64 {
	a := s.base + s.used%workspaces*workspaceBytes
	s.used++
	if err := mem.Write(a, make([]byte, workspaceBytes)); err != nil {
		panic(err) // it is the machine's own
	}
	return a
}

// Release frees them.
func (s *Workspaces) Release(mem *device.Memory) error {
	if s.base == 0 {
		return nil
	}
	return mem.Free(s.base)
}

// Numbers are what a machine numbers: launches that have begun, and those that have had a workspace.
type Numbers struct{ Grids, Workspaces uint64 }

// Used returns how many launches have had a workspace.
func (s *Workspaces) Used() uint64 { return s.used }

// Reuse sets how many launches have had a workspace.
func (s *Workspaces) Reuse(n uint64) { s.used = n }
