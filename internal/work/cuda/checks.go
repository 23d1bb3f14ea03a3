package cuda

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/plain"
)

// This file: what checkers hear of the program's calls. Without checkers each of these
// functions costs a test.

// checked reports whether the run has checkers.
func (a *app) checked() bool { return a.opt.Checks != nil }

// tell passes an event to the checkers, with the call's place.
func (a *app) tell(e check.HostEvent) {
	if a.opt.Caller != nil {
		e.Host = a.opt.Caller()
	}
	e.Launch = a.launches - 1
	a.opt.Checks.Host(&e)
}

// launchPlaces returns the program's call in progress, which launches a kernel. The
// compiler's function of the kernel's name between <<<>>> and the call is left out.
func (a *app) launchPlaces(kernel string) []check.Place {
	if !a.checked() || a.opt.Caller == nil {
		return nil
	}
	list := a.opt.Caller()
	if len(list) > 1 {
		stub, _, _ := strings.Cut(list[0].Function, "<")
		if name := plain.Name(kernel); name == stub || strings.HasSuffix(name, "::"+stub) {
			return list[1:]
		}
	}
	return list
}

// tellEnd tells that the program ends.
func (a *app) tellEnd() {
	if a.checked() {
		a.tell(check.HostEvent{Kind: check.HostEnd})
	}
}

// key is the stream's number for checkers.
func (s *stream) key() int64 { return check.OnDevice(s.on.number, s.id) }

// tellWait tells that the host has waited: for a stream, else for an event, else for the device.
func (r *Runtime) tellWait(s *stream, event uint64) {
	switch {
	case !r.checked():
	case s != nil:
		r.tell(check.HostEvent{Kind: check.HostSync, Stream: s.key()})
	case event != 0:
		r.tell(check.HostEvent{Kind: check.HostSync, Object: event})
	default:
		r.tell(check.HostEvent{Kind: check.HostSyncAll, Stream: check.OnDevice(r.number, 0)})
	}
}

// calls are the functions that begin and end memory, by its kind.
var calls = map[MemoryKind][2]string{
	DeviceKind: {"cudaMalloc", "cudaFree"}, ManagedKind: {"cudaMallocManaged", "cudaFree"},
	PinnedKind: {"cudaMallocHost", "cudaFreeHost"}, ArrayKind: {"cudaMallocArray", "cudaFreeArray"},
}

// watch begins to look for what the host does to memory that it shares with devices.
func (s *sharing) watch(addr uint64) {
	list := s.on.opt.Host.Touched(addr, s.mapped)
	for i := range list {
		list[i] = !list[i]
	}
	s.fresh = list
}

// tellTouched tells of pages of shared memory that have been accessed since the last time: the
// host may have written them. Kernels and copies touch pages too, so it comes before each.
func (a *app) tellTouched() {
	for _, addr := range slices.Sorted(maps.Keys(a.shared)) {
		s := a.shared[addr]
		if s.fresh == nil {
			continue
		}
		touched := s.on.opt.Host.Touched(addr, s.mapped)
		left := false
		for i, fresh := range s.fresh {
			if fresh && (touched == nil || touched[i]) { // nil: it cannot be known any more
				s.fresh[i] = false
				a.opt.Checks.Host(&check.HostEvent{Kind: check.HostSet, Addr: addr + uint64(i)*pageBytes, Bytes: pageBytes, Launch: a.launches - 1})
			}
			left = left || s.fresh[i]
		}
		if !left {
			s.fresh = nil
		}
	}
}

// tellMemory tells that memory begins or ends. Memory that the host reaches has values, unless
// it can be seen that the host has not touched it.
func (a *app) tellMemory(s *stream, m *MemoryDetail) {
	if !a.checked() {
		return
	}
	e := check.HostEvent{Kind: check.HostAlloc, Addr: m.Addr, Bytes: m.Bytes, Async: m.Async, Name: calls[m.Kind][0], Set: m.Kind != DeviceKind && m.Kind != ArrayKind}
	e.Shared = e.Set
	if s := a.shared[m.Addr]; s != nil && s.fresh != nil {
		e.Set = false
	}
	e.Call = e.Name
	if m.Free {
		e.Kind, e.Call = check.HostFree, calls[m.Kind][1]
	}
	if m.Async {
		e.Call += "Async"
		if !m.Free {
			e.Name = e.Call
		}
	}
	if s != nil {
		e.Stream = s.key()
	}
	a.tell(e)
}

// tellBlock tells of memory without an address of its own, of device number: its handle there, and
// what is mapped.
func (a *app) tellBlock(kind check.HostKind, call string, number int, handle, addr, size uint64) {
	if a.checked() {
		a.tell(check.HostEvent{Kind: kind, Call: call, Name: call, Block: check.OnDevice(number, int64(handle)), Addr: addr, Bytes: size})
	}
}

// tellUnmapped tells of a mapping that has ended, and of its memory if that is gone with it.
func (r *Runtime) tellUnmapped(p *device.Mapping) {
	number, lasts := p.Memory()
	r.tellBlock(check.HostUnmap, "cuMemUnmap", number, p.Handle, p.Addr, p.Size)
	if number >= 0 && !lasts {
		r.tellBlock(check.HostDestroy, "cuMemUnmap", number, p.Handle, 0, p.Size)
	}
}

// tellBadFree tells that a free has failed, because the address was not that of such memory.
func (a *app) tellBadFree(call string, addr uint64, err Error) {
	if a.checked() && err == InvalidValue {
		a.tell(check.HostEvent{Kind: check.HostFree, Call: call, Addr: addr, Bad: true})
	}
}

// tellBadCopy tells that a copy has failed, if a side of it is not in memory.
func (r *Runtime) tellBadCopy(s *stream, dst, src uint64, c Rows, kind Kind) {
	if !r.checked() || c.empty() || kind < HostToHost || kind > AnyWay {
		return
	}
	r.tellBadSide(check.HostRead, "cudaMemcpy", s, src, c, c.SrcPitch, c.SrcPlane)
	r.tellBadSide(check.HostWrite, "cudaMemcpy", s, dst, c, c.DstPitch, c.DstPlane)
}

// tellBadFill is tellBadCopy for a fill.
func (r *Runtime) tellBadFill(s *stream, dst uint64, c Rows) {
	if r.checked() && !c.empty() {
		r.tellBadSide(check.HostWrite, "cudaMemset", s, dst, c, c.DstPitch, c.DstPlane)
	}
}

// tellBadSymbol tells that a copy to or from a variable has failed, because it goes beyond its end.
func (r *Runtime) tellBadSymbol(v *variable, n, offset uint64, way Kind) {
	if !r.checked() || n == 0 {
		return
	}
	e := check.HostEvent{Kind: check.HostWrite, Call: "cudaMemcpyToSymbol", Addr: v.addr[r.number] + offset, Bytes: n, Bad: true}
	if way == DeviceToHost {
		e.Kind, e.Call = check.HostRead, "cudaMemcpyFromSymbol"
	}
	e.Name = fmt.Sprintf("%d bytes into the variable %s of %d bytes", offset, plain.Name(v.name), v.size)
	r.tell(e)
}

func (r *Runtime) tellBadSide(kind check.HostKind, call string, s *stream, addr uint64, c Rows, pitch, plane uint64) {
	n, ok := c.span(pitch, plane)
	if !ok || !onDevice(addr) && r.sharedAt(addr) == nil { // memory of the host is its own
		return
	}
	if _, err := r.bytes(addr, n, false); err != Success {
		r.tell(check.HostEvent{Kind: kind, Call: call, Addr: addr, Bytes: n, Stream: s.key(), Bad: true})
	}
}

// tellWork tells what a stream's work other than kernels does, when it is executed or passed
// to the chip. w may be nil.
func (r *Runtime) tellWork(s *stream, w work) {
	if !r.checked() {
		return
	}
	r.tellTouched()
	e := check.HostEvent{Stream: s.key(), Async: true}
	switch w := w.(type) {
	case *copyWork:
		r.tellCopy(s, w)
	case *fillWork:
		e.Kind, e.Call = check.HostWrite, "cudaMemset"
		r.tellRows(e, w.dst, &w.rows, w.rows.DstPitch, w.rows.DstPlane)
	case *markWork:
		e.Object = w.handle
		switch w.nodeKind {
		case NodeEventRecord:
			e.Kind, e.Call = check.HostRecord, "cudaEventRecord"
			r.tell(e)
		case NodeEventWait:
			e.Kind, e.Call = check.HostWait, "cudaStreamWaitEvent"
			r.tell(e)
		}
	case *hostWork: // called while the host waits
		r.tellWait(s, 0)
	case *memoryWork:
		for i := range w.ops { // a value that is waited for orders as an event does
			o := &w.ops[i]
			e.Object, e.Addr, e.Bytes = o.Addr, o.Addr, 8
			e.Kind, e.Call = check.HostRecord, "cuStreamWriteValue"
			if o.waits() {
				e.Kind, e.Call = check.HostWait, "cuStreamWaitValue"
			}
			r.tell(e)
		}
	case *allocWork:
		r.tellMemory(s, &MemoryDetail{Addr: w.mem.addr, Bytes: w.mem.size, Kind: DeviceKind, Async: true})
	case *freeWork:
		r.tellMemory(s, &MemoryDetail{Free: true, Addr: w.mem.addr, Bytes: w.mem.size, Kind: DeviceKind, Async: true})
	}
}

// tellNodes tells that a launch of a graph begins. It returns what tells of each node in turn,
// before its work, and with nil that the launch has ended.
func (g *graph) tellNodes(s *stream, exec uint64) func(*node) {
	set := g.r.opt.Checks
	if set == nil {
		return func(*node) {}
	}
	set.GraphBegin(s.key(), exec)
	number := map[*node]int{}
	return func(n *node) {
		if n == nil {
			set.GraphEnd(s.key())
			return
		}
		var after []int
		for _, f := range n.from {
			after = append(after, number[f])
		}
		number[n] = len(number)
		set.GraphNode(s.key(), after)
	}
}

// tellCopy tells of both sides of a copy. The host waits for a copy only where one side is
// its own, and the program has asked to wait or the copy cannot but (CUDA runtime API,
// synchronisation behaviour of memory copies).
func (r *Runtime) tellCopy(s *stream, w *copyWork) {
	e := check.HostEvent{Call: "cudaMemcpy", Stream: s.key(), Async: w.async || r.trace.place.Graph != 0}
	if w.async {
		e.Call = "cudaMemcpyAsync"
	}
	switch toHost := !onDevice(w.dst); {
	case onDevice(w.src) && !toHost:
		e.Async = true
	case toHost && r.sharedAt(w.dst) == nil && r.trace.place.Graph == 0:
		e.Async = false
	}
	if s.id == 0 { // between two devices, on a default stream: it waits for both (CUDA programming guide, peer-to-peer memory copy)
		for _, addr := range []uint64{w.src, w.dst} {
			if d := r.at(addr); onDevice(addr) && d != s.on {
				e.With = append(e.With, check.OnDevice(d.number, 0))
			}
		}
	}
	c := &w.rows
	e.Kind = check.HostRead
	r.tellRows(e, w.src, c, c.SrcPitch, c.SrcPlane)
	e.Kind = check.HostWrite
	r.tellRows(e, w.dst, c, c.DstPitch, c.DstPlane)
}

// tellRows tells of one side of rows, as few ranges as they are. Memory that only the host
// reaches is left out.
func (r *Runtime) tellRows(e check.HostEvent, addr uint64, c *Rows, pitch, plane uint64) {
	if !onDevice(addr) && r.sharedAt(addr) == nil {
		return
	}
	width, height, depth := c.Width, c.Height, c.Depth
	if height == 1 || pitch == width {
		width, height = width*height, 1
		if depth == 1 || plane == width {
			width, depth = width*depth, 1
		}
	}
	for z := range depth {
		for y := range height {
			e.Addr, e.Bytes = addr+z*plane+y*pitch, width
			r.tell(e)
		}
	}
}
