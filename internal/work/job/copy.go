package job

import (
	"os"

	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/tomlfile"
)

// This file: copies and fills when they run.

// move is a copy whose ends have addresses in device memory.
type move struct {
	Copy
	from, to uint64 // addresses of ends on the device
}

// plan finds the addresses of a copy's ends.
func (x *runner) plan(c *Copy) (*move, error) {
	m := &move{Copy: *c}
	if m.From.Place == FillValue && m.Type == NoType {
		s, err := x.find(m.To.S, m.To.Pos)
		if err != nil {
			return nil, err
		}
		p := parser{Reader: tomlfile.Reader{File: x.job.File}}
		m.Type = scalar(s.Type)
		p.fillBits(&m.Copy)
		if err := p.Err(); err != nil {
			return nil, err
		}
	}
	var sizes [2]int64
	for i, e := range []End{m.From, m.To} {
		at := []*uint64{&m.from, &m.to}[i]
		sizes[i] = anySize
		switch e.Place {
		case Buffer:
			*at, sizes[i] = x.addr[e.S], x.job.buffer(e.S).size()
		case Symbol:
			s, err := x.find(e.S, e.Pos)
			if err != nil {
				return nil, err
			}
			*at, sizes[i] = s.Addr, int64(s.Size)
		case HostFile:
			if i == 0 {
				sizes[i] = m.Bytes
			}
		}
	}
	if err := m.settle(x.job, sizes[0], sizes[1]); err != nil {
		return nil, err
	}
	if m.From.Place == FillValue && m.Bytes%int64(m.Type.Size()) != 0 {
		return nil, x.job.at(m.To.Pos, "%s has %d bytes, not a whole number of %v; give bytes = N", m.To.S, m.Bytes, m.Type)
	}
	return m, nil
}

// way returns the direction of the copy.
func (m *move) way() gpu.CopyWay {
	switch {
	case m.From.Place == FillValue:
		return gpu.Filling
	case m.From.Place == HostFile:
		return gpu.ToDevice
	case m.To.Place == HostFile:
		return gpu.ToHost
	}
	return gpu.OnDevice
}

// describe adds a copy to the report.
func (m *move) describe(s *report.Step) {
	s.From, s.To, s.Bytes = m.From.String(), m.To.String(), m.Bytes
}

// copy moves bytes between device memory and files, or within device memory.
func (x *runner) copy(m *move) error {
	n := uint64(m.Bytes)
	var from []byte
	if m.From.Place == Buffer || m.From.Place == Symbol {
		b, err := x.mem.Bytes(m.from, n)
		if err != nil {
			return x.job.at(m.From.Pos, "%v", err)
		}
		from = b
	}
	if m.To.Place == HostFile {
		path := x.job.Path(m.To.S)
		if err := os.WriteFile(path, from, 0o666); err != nil {
			return x.job.at(m.To.Pos, "cannot write %s: %s", path, reason(err))
		}
		return nil
	}
	to, err := x.mem.Bytes(m.to, n)
	if err != nil {
		return x.job.at(m.To.Pos, "%v", err)
	}
	switch m.From.Place {
	case HostFile:
		return x.readFile(m.From.Text, to)
	case FillValue:
		for i := 0; i < len(to); i += m.Type.Size() {
			m.Type.put(to[i:], m.Value)
		}
	default:
		copy(to, from)
	}
	return nil
}
