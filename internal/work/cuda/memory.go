package cuda

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"unsafe"

	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/run"
)

// Kind is the direction of a copy (cudaMemcpyKind).
type Kind int32

// The directions.
const (
	HostToHost Kind = iota
	HostToDevice
	DeviceToHost
	DeviceToDevice
	AnyWay // as the addresses say
)

// sharing is host memory that all devices access at the same address.
type sharing struct {
	on      *Runtime // with whose reset it ends
	name    string   // for messages
	data    []byte   // its bytes
	size    uint64
	mapped  uint64 // bytes mapped for it; 0: the program's own memory
	managed bool
	static  bool // a variable, which the program does not free
	flags   uint32
	fresh   []bool // with checkers: pages that nobody had accessed yet; nil: none, or unknown
}

// onDevice reports whether an address exists only on the device.
func onDevice(addr uint64) bool { return addr >= deviceBase && addr < deviceTop }

// Malloc allocates device memory. For zero bytes it returns the null pointer.
func (t *Thread) Malloc(size uint64) (addr uint64, err Error) {
	err = t.do(func(r *Runtime) Error {
		if err := r.unsafe(); err != Success || size == 0 {
			return err
		}
		a, e := r.mem.Alloc(size, fmt.Sprintf("cudaMalloc(%d)", size))
		if e != nil {
			return MemoryAllocation
		}
		addr = a
		r.allocated(nil, MemoryDetail{Addr: a, Bytes: size, Kind: DeviceKind})
		return Success
	})
	return addr, err
}

// pitchAlign is the alignment of rows, in bytes, that cudaMallocPitch gives on
// every GPU since compute capability 2.0 (texturePitchAlignment is less).
const pitchAlign = 512

// MallocPitch allocates rows of device memory, and returns the bytes from one to the
// next.
func (t *Thread) MallocPitch(width, height uint64) (addr, pitch uint64, err Error) {
	if width > 1<<40 || height > 1<<40 || width > 0 && height > (1<<46)/width {
		err = t.do(func(*Runtime) Error { return MemoryAllocation })
		return 0, 0, err
	}
	pitch = (width + pitchAlign - 1) &^ (pitchAlign - 1)
	addr, err = t.Malloc(pitch * height)
	return addr, pitch, err
}

// Free releases device memory, or memory that host and device share. It waits for all
// work. Freeing the null pointer has no effect.
func (t *Thread) Free(addr uint64) Error {
	return t.do(func(r *Runtime) (err Error) {
		if err := r.unsafe(); err != Success || addr == 0 {
			return err
		}
		defer func() { r.tellBadFree("cudaFree", addr, err) }()
		if s := r.shared[addr]; s != nil && s.managed && !s.static {
			return r.unshare(addr)
		}
		d, err := r.holder(addr)
		if err == Success && d.isVariable(addr) {
			err = InvalidValue
		}
		if err == Success {
			err = d.finishAll()
		}
		if err != Success {
			return err
		}
		if m := r.graphMemory[addr]; m != nil {
			return m.release(nil)
		}
		a, _ := d.mem.Find(addr)
		if d.mem.Free(addr) != nil {
			return InvalidValue
		}
		r.tellWait(nil, 0) // a free that failed need not wait
		d.allocated(nil, MemoryDetail{Free: true, Addr: addr, Bytes: a.Size, Kind: DeviceKind, Pool: r.pooled[addr].pool.detail(0)})
		r.unpool(addr)
		return Success
	})
}

// isVariable reports whether a device variable begins at an address.
func (r *Runtime) isVariable(addr uint64) bool {
	for _, v := range r.vars {
		if v.addr[r.number] == addr && v.module.machine[r.number] != nil {
			return true
		}
	}
	return slices.ContainsFunc(r.loaded, func(m *module) bool { return m.machine[r.number] != nil && m.machine[r.number].Holds(addr) })
}

// share allocates memory that host and devices access at the same address.
func (r *Runtime) share(size uint64, s *sharing, name string) (uint64, Error) {
	if err := r.unsafe(); err != Success || size == 0 {
		return 0, err
	}
	if size > sharedTop-r.next-2*pageBytes {
		return 0, MemoryAllocation
	}
	s.size, s.mapped = size, (size+pageBytes-1)&^(pageBytes-1)
	addr := r.next
	if r.opt.Host.Map(addr, s.mapped) != nil {
		return 0, MemoryAllocation
	}
	if !r.add(addr, s, r.opt.Host.Bytes(addr, size), fmt.Sprintf("%s(%d)", name, size)) {
		r.opt.Host.Unmap(addr, s.mapped)
		return 0, MemoryAllocation
	}
	if r.checked() && !s.static {
		s.watch(addr)
	}
	r.next += s.mapped + pageBytes // a page between them that faults
	r.allocated(nil, MemoryDetail{Addr: addr, Bytes: size, Kind: s.memoryKind()})
	return addr, Success
}

// add gives all devices access to memory of the host; it reports whether its addresses were
// free on all of them.
func (r *Runtime) add(addr uint64, s *sharing, b []byte, name string) bool {
	begun := r.begun()
	for i, d := range begun {
		if d.mem.Adopt(addr, b, name) != nil {
			for _, d := range begun[:i] {
				d.free(addr)
			}
			return false
		}
	}
	s.on, s.name, s.data = r, name, b
	r.shared[addr] = s
	r.meet() // kernels of all devices access it
	return true
}

// free releases memory that is there.
func (r *Runtime) free(addr uint64) {
	if err := r.mem.Free(addr); err != nil {
		r.once(err.Error(), "%v", err)
	}
}

// unshare frees memory of share, or unregisters memory of the program.
func (r *Runtime) unshare(addr uint64) Error {
	for _, d := range r.begun() {
		if err := d.finish(); err != Success && d == r {
			return err
		}
	}
	r.tellWait(nil, 0)
	if s := r.shared[addr]; s.mapped > 0 {
		r.allocated(nil, MemoryDetail{Free: true, Addr: addr, Bytes: s.size, Kind: s.memoryKind()})
	}
	r.remove(addr)
	return Success
}

// memoryKind is its kind for profilers.
func (s *sharing) memoryKind() MemoryKind {
	if s.managed {
		return ManagedKind
	}
	return PinnedKind
}

// remove ends the access of all devices to memory of the host.
func (r *Runtime) remove(addr uint64) {
	s := r.shared[addr]
	delete(r.shared, addr)
	for _, d := range r.begun() {
		d.free(addr)
	}
	if s.mapped > 0 {
		r.opt.Host.Unmap(addr, s.mapped)
	}
}

// dropShared removes the shared memory that ends with the device's reset: what was made
// while it was current, and variables that no other device has.
func (r *Runtime) dropShared() {
	kept := map[uint64]bool{}
	for _, m := range slices.Concat(r.modules, r.loaded) {
		m.machine[r.number] = nil
		if m.placed() {
			for _, addr := range m.shares {
				kept[addr] = true
			}
		} else {
			m.shares = nil
		}
	}
	for addr, s := range r.shared {
		if !kept[addr] && (s.on == r || s.static) {
			r.remove(addr)
		}
	}
	if len(r.shared) == 0 {
		r.next = sharedBase
	}
}

// MallocHost allocates host memory that the device accesses at the same address
// (cudaMallocHost, cudaHostAlloc).
func (t *Thread) MallocHost(size uint64, flags uint32) (addr uint64, err Error) {
	err = t.do(func(r *Runtime) (e Error) {
		if flags > 7 {
			return InvalidValue
		}
		addr, e = r.share(size, &sharing{flags: flags}, "cudaHostAlloc")
		return e
	})
	return addr, err
}

// MallocManaged allocates memory for both host and device. It is host memory; there is no
// migration.
func (t *Thread) MallocManaged(size uint64, flags uint32) (addr uint64, err Error) {
	err = t.do(func(r *Runtime) (e Error) {
		if size == 0 || flags != 1 && flags != 2 {
			return InvalidValue
		}
		addr, e = r.share(size, &sharing{managed: true}, "cudaMallocManaged")
		return e
	})
	return addr, err
}

// FreeHost releases memory of MallocHost.
func (t *Thread) FreeHost(addr uint64) Error {
	return t.do(func(r *Runtime) Error {
		if addr == 0 {
			return Success
		}
		if s := r.shared[addr]; s == nil || s.managed || s.mapped == 0 {
			r.tellBadFree("cudaFreeHost", addr, InvalidValue)
			return InvalidValue
		}
		return r.unshare(addr)
	})
}

// HostRegister gives the device access to memory of the program. Its addresses are the
// host's, so cycles of a timing run may depend on them.
func (t *Thread) HostRegister(addr, size uint64, flags uint32) Error {
	return t.do(func(r *Runtime) Error {
		if addr < pageBytes || size == 0 || size > 1<<46 || addr > 1<<56 || onDevice(addr) || flags > 15 {
			return InvalidValue
		}
		if r.shares(addr, size) {
			return AlreadyRegistered
		}
		b := r.opt.Host.Bytes(addr, size)
		if !readable(b) || !r.adopt(addr, &sharing{size: size, flags: flags}, b, fmt.Sprintf("cudaHostRegister(%d)", size)) {
			return InvalidValue
		}
		return Success
	})
}

// adopt gives devices access to memory of the program at its own address; it returns
// false if kernels have something else there, which can happen in a program linked at a
// fixed, low address.
func (r *Runtime) adopt(addr uint64, s *sharing, b []byte, name string) bool {
	if addr < isa.WindowsEnd && addr+uint64(len(b)) > isa.SharedWindow {
		r.once("windows", "%s: kernels cannot reach the host's memory at %#x to %#x, where their shared memory is; link the program with -pie, or with heddle cc", name, isa.SharedWindow, isa.WindowsEnd)
		return false
	}
	return r.add(addr, s, b, name)
}

// shares reports whether host and device share any of the bytes at an address.
func (r *Runtime) shares(addr, size uint64) bool {
	if r.sharedAt(addr) != nil {
		return true
	}
	for a := range r.shared {
		if a >= addr && a-addr < size {
			return true
		}
	}
	return false
}

// HostUnregister undoes HostRegister.
func (t *Thread) HostUnregister(addr uint64) Error {
	return t.do(func(r *Runtime) Error {
		if s := r.shared[addr]; s == nil || s.mapped > 0 {
			return NotRegistered
		}
		return r.unshare(addr)
	})
}

// sharedAt returns the shared memory that contains an address.
func (r *Runtime) sharedAt(addr uint64) *sharing {
	if onDevice(addr) {
		return nil
	}
	a, ok := r.mem.Find(addr)
	if !ok {
		return nil
	}
	return r.shared[a.Addr]
}

// HostFlags returns the flags of MallocHost or HostRegister for an address.
func (t *Thread) HostFlags(addr uint64) (flags uint32, err Error) {
	err = t.do(func(r *Runtime) Error {
		s := r.sharedAt(addr)
		if s == nil || s.managed {
			return InvalidValue
		}
		flags = s.flags
		return Success
	})
	return flags, err
}

// Where is the kind of memory at an address (cudaMemoryType).
type Where int32

// The kinds of memory.
const (
	Unregistered Where = iota
	HostMemory
	DeviceMemory
	ManagedMemory
)

// Where returns the kind of memory at an address, and its device: for memory that devices
// share, the one that was current when it was made; for other memory of the host the
// current one.
func (t *Thread) Where(addr uint64) (w Where, number int, err Error) {
	err = t.do(func(r *Runtime) Error {
		number = r.number
		if s := r.sharedAt(addr); s != nil {
			w, number = HostMemory, s.on.number
			if s.managed {
				w = ManagedMemory
			}
		} else if d, err := r.holder(addr); err == Success {
			if a, ok := d.mem.Find(addr); ok && !a.Freed {
				w, number = DeviceMemory, d.number
			}
		}
		return Success
	})
	return w, number, err
}

// MemInfo returns the free and the total bytes of device memory.
func (t *Thread) MemInfo() (free, total uint64, err Error) {
	err = t.do(func(r *Runtime) Error {
		free, total = r.memInfo()
		return Success
	})
	return free, total, err
}

// Room is MemInfo for observers: it makes no context. index is the device's number in the
// machine.
func (t *Thread) Room(index int) (free, total uint64) {
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	for _, d := range t.r.devices {
		if d.props.Index == index {
			return d.memInfo()
		}
	}
	return t.r.memoryBytes(), t.r.memoryBytes()
}

func (r *Runtime) memInfo() (free, total uint64) {
	total = r.memoryBytes()
	if r.mem == nil {
		return total, total
	}
	return total - r.mem.Allocated(), total
}

// Rows are the bytes of a copy: Depth planes of Height rows of Width bytes. Rows are
// Pitch bytes apart, planes Plane bytes.
type Rows struct {
	Width, Height, Depth uint64
	DstPitch, SrcPitch   uint64
	DstPlane, SrcPlane   uint64
}

// span returns the number of bytes from the first to the last of one side, and false if
// it is absurdly large.
func (c *Rows) span(pitch, plane uint64) (uint64, bool) {
	const most = 1 << 46
	if c.Width > most || c.Height > most || c.Depth > most || pitch > most || plane > most {
		return 0, false
	}
	if c.Height > 1 && pitch > most/(c.Height-1) || c.Depth > 1 && plane > most/(c.Depth-1) {
		return 0, false
	}
	return (c.Depth-1)*plane + (c.Height-1)*pitch + c.Width, true
}

func (c *Rows) empty() bool { return c.Width == 0 || c.Height == 0 || c.Depth == 0 }

// bytes returns the memory of one side of a copy in place; write: it is the destination.
func (r *Runtime) bytes(addr, n uint64, write bool) ([]byte, Error) {
	if onDevice(addr) {
		d, err := r.holder(addr)
		if err != Success {
			return nil, err
		}
		get := d.mem.Bytes
		if write {
			get = d.mem.WritableBytes
		}
		b, wrong := get(addr, n)
		if wrong != nil {
			return nil, InvalidValue
		}
		return b, Success
	}
	if addr < pageBytes || addr > math.MaxInt64 || n > math.MaxInt64-addr {
		return nil, InvalidValue
	}
	if r.sharedAt(addr) != nil {
		if a, _ := r.mem.Find(addr); n > a.Size-(addr-a.Addr) {
			return nil, InvalidValue
		}
		return r.opt.Host.Bytes(addr, n), Success
	}
	b := r.opt.Host.Bytes(addr, n)
	if !readable(b) {
		r.say("a copy of %d bytes: there is less memory than that at %#x", n, addr)
		return nil, InvalidValue
	}
	return b, Success
}

// readable reports whether host memory is accessible.
func readable(b []byte) bool { return len(Readable(b)) == len(b) }

// Readable returns the accessible prefix of host memory, found by reading a byte of each
// page.
func Readable(b []byte) []byte {
	n := 0
	faultless(func() {
		var sum byte
		for n < len(b) {
			sum |= b[n]
			n = min(len(b), n+pageBytes-int(uintptr(unsafe.Pointer(&b[n]))%pageBytes))
		}
		runtime.KeepAlive(sum)
	})
	return b[:n]
}

// nilFault is what Go panics with at a fault in the first page, whose address it
// does not tell.
var nilFault = sync.OnceValue(func() (fault any) {
	defer func() { fault = recover() }()
	var p *byte
	return *p
})

// faultless runs a function that reads host memory, and reports whether the memory was
// accessible: an invalid pointer is an error code for the program, not the end of the
// process.
func faultless(f func()) (ok bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch e := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }: // a fault at an address
		default:
			if e != nilFault() {
				panic(e)
			}
		}
	}()
	f()
	return true
}

// side checks one side of a copy: the address must fit the direction.
func (r *Runtime) side(addr uint64, device bool) bool {
	if onDevice(addr) {
		return device
	}
	return !device || r.sharedAt(addr) != nil
}

// way checks a copy's direction, and returns its route on the chip.
func (r *Runtime) way(dst, src uint64, kind Kind) (w gpu.CopyWay, host bool, err Error) {
	to, from := onDevice(dst) || r.sharedAt(dst) != nil, onDevice(src) || r.sharedAt(src) != nil
	switch kind {
	case HostToHost, HostToDevice, DeviceToHost, DeviceToDevice:
		to, from = kind == HostToDevice || kind == DeviceToDevice, kind == DeviceToHost || kind == DeviceToDevice
		if !r.side(dst, to) || !r.side(src, from) {
			return 0, false, InvalidValue
		}
	case AnyWay:
	default:
		return 0, false, InvalidMemcpyWay
	}
	switch {
	case to && from:
		return gpu.OnDevice, false, Success
	case to:
		return gpu.ToDevice, false, Success
	case from:
		return gpu.ToHost, false, Success
	}
	return gpu.ToHost, true, Success
}

// Copy copies bytes. It waits for the copy's end unless async is set and the program
// cannot see the difference, which it can if the host memory is not shared with the
// device.
func (t *Thread) Copy(dst, src, n uint64, kind Kind, h uint64, async bool) Error {
	return t.CopyRows(dst, src, line(n), kind, h, async)
}

// line is n bytes as rows.
func line(n uint64) Rows {
	return Rows{Width: n, Height: 1, Depth: 1, DstPitch: n, SrcPitch: n, DstPlane: n, SrcPlane: n}
}

// CopyRows copies rows of bytes.
func (t *Thread) CopyRows(dst, src uint64, c Rows, kind Kind, h uint64, async bool) Error {
	return t.do(func(r *Runtime) Error { return r.copy(dst, src, c, kind, h, async) })
}

// copyWork is a copy of rows of bytes.
type copyWork struct {
	dst, src uint64
	rows     Rows
	asked    Kind // direction as the program gave it
	way      gpu.CopyWay
	host     bool   // both sides are the host's
	async    bool   // the program did not ask to wait for it
	kept     []byte // the source at the time of the call, if the host may change it before the copy
}

// prepareCopy checks a copy's arguments. An empty copy is nil.
func (r *Runtime) prepareCopy(dst, src uint64, c Rows, kind Kind) (*copyWork, Error) {
	if c.Height > 1 && (c.DstPitch < c.Width || c.SrcPitch < c.Width) {
		return nil, InvalidPitchValue
	}
	way, host, err := r.way(dst, src, kind)
	if c.empty() && err == InvalidValue { // addresses do not matter: an empty allocation has none
		err = Success
	}
	if err != Success || c.empty() {
		return nil, err
	}
	w := &copyWork{dst: dst, src: src, rows: c, asked: kind, way: way, host: host}
	_, _, err = w.sides(r)
	return w, err
}

// sides returns the memory of both sides in place.
func (w *copyWork) sides(r *Runtime) (to, from []byte, err Error) {
	nd, ok := w.rows.span(w.rows.DstPitch, w.rows.DstPlane)
	ns, ok2 := w.rows.span(w.rows.SrcPitch, w.rows.SrcPlane)
	if !ok || !ok2 {
		return nil, nil, InvalidValue
	}
	if to, err = r.bytes(w.dst, nd, true); err == Success {
		from, err = r.bytes(w.src, ns, false)
	}
	return to, from, err
}

func (w *copyWork) kind() NodeKind { return NodeCopy }

func (w *copyWork) now(r *Runtime, _ *stream) Error {
	to, from, err := w.sides(r)
	if err == Success {
		w.rows.move(to, from)
	}
	return err
}

func (w *copyWork) op(r *Runtime, _ *stream) (*gpu.Op, *run.Launch, Error) {
	to, from, err := w.sides(r)
	if err != Success {
		return nil, nil, err
	}
	ns := uint64(len(from))
	if w.kept != nil {
		from = w.kept
	}
	op := &gpu.Op{Kind: gpu.OpCopy, Way: w.way, Copy: func() error {
		w.rows.move(to, from)
		return nil
	}}
	if a, b := r.at(w.src), r.at(w.dst); r.machine != nil && onDevice(w.src) && onDevice(w.dst) && a != b {
		op.Way, op.From, op.To = gpu.ToPeer, a.number, b.number
	}
	switch {
	case w.host: // the device is not involved
		return op, nil, Success
	case w.way == gpu.ToHost:
		op.ToHost = []gpu.Range{{Addr: w.src, Bytes: ns}}
	default:
		op.Fills = []gpu.Range{{Addr: w.dst, Bytes: uint64(len(to))}}
	}
	op.Bytes = w.rows.Width * w.rows.Height * w.rows.Depth
	return op, nil, Success
}

func (r *Runtime) copy(dst, src uint64, c Rows, kind Kind, h uint64, async bool) Error {
	s, err := r.stream(h)
	if err != Success {
		return err
	}
	if _, err := r.captured(s); err != Success {
		return err
	}
	if !async {
		if err := r.unsafe(); err != Success {
			return err
		}
	}
	w, err := r.prepareCopy(dst, src, c, kind)
	if err != Success || w == nil {
		r.tellBadCopy(s, dst, src, c, kind)
		return err
	}
	w.async = async
	if err := r.alone(dst, src, async); err != Success {
		return err
	}
	pageable := func(addr uint64) bool { return !onDevice(addr) && r.sharedAt(addr) == nil }
	if async && r.chip != nil && s.capture == nil && pageable(src) && !pageable(dst) {
		_, from, _ := w.sides(r)
		w.kept = slices.Clone(from)
	}
	err = s.on.submit(s, w)
	if err == Success && s.capture == nil && r.chip != nil && (!async || pageable(dst)) {
		return r.lastly(func() Error { return s.on.await(s.last) })
	}
	return err
}

// alone waits, before a copy between devices that the program waits for, until the default
// streams of both have done all that was enqueued before.
func (r *Runtime) alone(dst, src uint64, async bool) Error {
	if async || !onDevice(dst) || !onDevice(src) || r.at(dst) == r.at(src) {
		return Success
	}
	for _, d := range []*Runtime{r.at(dst), r.at(src)} {
		if err := d.await(d.lanes[0].lasts()...); err != Success {
			return err
		}
	}
	return Success
}

// move copies the rows.
func (c *Rows) move(to, from []byte) {
	for z := range c.Depth {
		for y := range c.Height {
			copy(to[z*c.DstPlane+y*c.DstPitch:][:c.Width], from[z*c.SrcPlane+y*c.SrcPitch:][:c.Width])
		}
	}
}

// Fill sets rows of bytes to a value (cudaMemset, cudaMemset2D); the source pitches are
// ignored. It does not wait.
func (t *Thread) Fill(dst uint64, value byte, c Rows, h uint64) Error {
	return t.FillWith(dst, []byte{value}, c, h)
}

// FillWith fills rows with a value of several bytes. It is an error if the address or the
// extents are not multiples of its size.
func (t *Thread) FillWith(dst uint64, value []byte, c Rows, h uint64) Error {
	return t.do(func(r *Runtime) Error {
		s, err := r.stream(h)
		if err != Success {
			return err
		}
		w, err := r.prepareFill(dst, slices.Clone(value), c)
		if err != Success || w == nil {
			r.tellBadFill(s, dst, c)
			return err
		}
		return s.on.submit(s, w)
	})
}

// fillWork sets rows of bytes.
type fillWork struct {
	dst   uint64
	value []byte
	rows  Rows
}

// prepareFill checks the arguments of a fill. An empty fill is nil.
func (r *Runtime) prepareFill(dst uint64, value []byte, c Rows) (*fillWork, Error) {
	if c.empty() {
		return nil, Success
	}
	if c.Height > 1 && c.DstPitch < c.Width {
		return nil, InvalidPitchValue
	}
	unit := uint64(len(value))
	if unit == 0 || !r.side(dst, true) || dst%unit != 0 || c.Width%unit != 0 || c.Height > 1 && c.DstPitch%unit != 0 {
		return nil, InvalidValue
	}
	w := &fillWork{dst, value, c}
	_, err := w.bytes(r)
	return w, err
}

// bytes returns the memory in place.
func (w *fillWork) bytes(r *Runtime) ([]byte, Error) {
	n, ok := w.rows.span(w.rows.DstPitch, w.rows.DstPlane)
	if !ok {
		return nil, InvalidValue
	}
	return r.bytes(w.dst, n, true)
}

// fill sets the rows.
func (w *fillWork) fill(to []byte) {
	c := &w.rows
	for z := range c.Depth {
		for y := range c.Height {
			row := to[z*c.DstPlane+y*c.DstPitch:][:c.Width]
			for done := copy(row, w.value); done < len(row); done *= 2 {
				copy(row[done:], row[:done])
			}
		}
	}
}

func (w *fillWork) kind() NodeKind { return NodeFill }

func (w *fillWork) now(r *Runtime, _ *stream) Error {
	to, err := w.bytes(r)
	if err == Success {
		w.fill(to)
	}
	return err
}

func (w *fillWork) op(r *Runtime, _ *stream) (*gpu.Op, *run.Launch, Error) {
	to, err := w.bytes(r)
	if err != Success {
		return nil, nil, err
	}
	return &gpu.Op{
		Kind: gpu.OpCopy, Way: gpu.Filling, Bytes: w.rows.Width * w.rows.Height * w.rows.Depth,
		Copy: func() error {
			w.fill(to)
			return nil
		},
		Fills: []gpu.Range{{Addr: w.dst, Bytes: uint64(len(to))}},
	}, nil, Success
}
