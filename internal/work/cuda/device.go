package cuda

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/run"
)

// This file: the devices of a program, and what they may do with each other's memory.
// Each has its part of the device addresses, its clock, and its sticky error. A thread has
// a current device; a call that names a stream, an event, a pool, an array or an address
// goes to the device of that.

// MaxDevices is the number of devices that a machine can have.
const MaxDevices = device.MaxDevices

// seen returns the devices that the program sees, by their numbers in the machine.
func (o *Options) seen(p Properties) ([]int, error) {
	n := max(o.Devices, 1)
	if o.Devices < 0 || n > MaxDevices {
		return nil, fmt.Errorf("--devices %d: want 1 to %d", o.Devices, MaxDevices)
	}
	if o.Visible != nil {
		return visible(*o.Visible, n, p), nil
	}
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list, nil
}

// visible returns the devices that a value of CUDA_VISIBLE_DEVICES selects out of n, in its
// order: numbers, or beginnings of UUIDs. The list ends at the first entry that is no
// device; a device that is there twice leaves none (CUDA programming guide, environment
// variables).
func visible(value string, n int, p Properties) []int {
	list := []int{}
	for name := range strings.SplitSeq(value, ",") {
		name = strings.TrimSpace(name)
		d, err := strconv.Atoi(name)
		if err != nil {
			d = -1
			if strings.HasPrefix(name, "GPU-") {
				for p.Index = range n {
					if strings.HasPrefix(p.UUIDText(), name) {
						if d >= 0 {
							return list // of several devices
						}
						d = p.Index
					}
				}
			}
		}
		switch {
		case d < 0 || d >= n:
			return list
		case slices.Contains(list, d):
			return []int{}
		}
		list = append(list, d)
	}
	return list
}

// plugIn adds the next device; index is its number in the machine.
func (a *app) plugIn(number, index int) error {
	r := &Runtime{app: a, number: number, limits: defaultLimits()}
	a.devices = append(a.devices, r)
	r.limits[limitHeap] = max(a.opt.Settings.Heap, device.DefaultHeap)
	r.props = properties(&a.cfg, r.memoryBytes())
	r.props.Index = index
	r.forget()
	if !a.opt.Timing && number > 0 {
		r.ses = a.devices[0].ses // there is no time, so one is enough
		return nil
	}
	r.ses = run.NewSession(run.CUDA, a.opt.Program, a.opt.Options)
	r.ses.Most, r.ses.Detailed = maxListed, maxDetailed
	if !a.opt.Timing {
		return r.ses.OnlyCompute()
	}
	if err := r.ses.PlugIn(a.opt.GPU, a.cfg); err != nil {
		return err
	}
	r.chip = r.ses.Chip
	return r.ses.Begin()
}

// room is the size of a device's part of the device addresses: all of them, if it is alone.
func (a *app) room() uint64 {
	if a.group == nil {
		return deviceTop - deviceBase
	}
	return (deviceTop - deviceBase) / MaxDevices
}

// base is the first address of a device's memory; that of the next number is its end.
func (a *app) base(number int) uint64 { return deviceBase + a.room()*uint64(number) }

// at returns the device whose memory has an address of device memory.
func (r *Runtime) at(addr uint64) *Runtime {
	for _, d := range r.devices {
		if addr >= r.base(d.number) && addr < r.base(d.number+1) {
			return d
		}
	}
	return r
}

// holder is at for an address of the program: an error if it is not one of device memory,
// or of that of a device that cannot be used.
func (r *Runtime) holder(addr uint64) (*Runtime, Error) {
	if !onDevice(addr) {
		return nil, InvalidValue
	}
	d := r.at(addr)
	if d.sticky != Success {
		return nil, d.sticky
	}
	if d.mem == nil {
		return nil, InvalidValue
	}
	return d, Success
}

// begun returns the devices that have a context.
func (a *app) begun() []*Runtime {
	return slices.DeleteFunc(slices.Clone(a.devices), func(d *Runtime) bool { return d.mem == nil })
}

// numbered returns a device by the number that the program has for it.
func (a *app) numbered(n int) (*Runtime, Error) {
	if n < 0 || n >= len(a.devices) || a.absent {
		return nil, InvalidDevice
	}
	return a.devices[n], Success
}

// on runs a call that names a device.
func (t *Thread) on(number int, f func(d *Runtime) Error) Error {
	return t.do(func(r *Runtime) Error {
		d, err := r.numbered(number)
		if err != Success {
			return err
		}
		return f(d)
	})
}

// shown is the device's number for the report; nil if there is only one.
func (r *Runtime) shown() *int {
	if len(r.devices) == 1 {
		return nil
	}
	return &r.number
}

// Device is a call with a device number.
func (t *Thread) Device(number int) Error {
	return t.on(number, func(*Runtime) Error { return Success })
}

// Devices returns the number of devices that the program sees.
func (t *Thread) Devices() (n int, err Error) {
	if t.r.absent {
		return 0, NoDevice
	}
	return len(t.r.devices), Success
}

// Current returns the number of the current device.
func (t *Thread) Current() (n int, err Error) {
	err = t.do(func(r *Runtime) Error {
		n = t.r.number
		return Success
	})
	return n, err
}

// SetDevice makes a device, with its primary context, current to the thread.
func (t *Thread) SetDevice(number int) Error {
	r := t.r
	r.mu.Lock()
	defer r.mu.Unlock()
	d, err := r.numbered(number)
	if r.absent {
		err = NoDevice
	}
	if err == Success {
		t.home = d
		n := len(t.contexts)
		t.contexts = append(t.contexts[:max(0, n-1)], d.primary())
		t.settle()
		d.enter(t)
		err = d.begin()
	}
	if err != Success {
		t.last = err
	}
	return err
}

// settle makes the device of the thread's current context current.
func (t *Thread) settle() {
	t.r = t.home
	if n := len(t.contexts); n > 0 {
		if c := t.home.ctx.list[t.contexts[n-1]]; c != nil {
			t.r = c.on
		}
	}
}

// PropertiesOf returns the properties of a device, and false if it is not there.
func (r *Runtime) PropertiesOf(number int) (Properties, bool) {
	d, err := r.numbered(number)
	if err != Success {
		return Properties{}, false
	}
	return d.props, true
}

// AtBus returns the device with an address on the bus.
func (r *Runtime) AtBus(id string) (number int, err Error) {
	for _, d := range r.devices {
		if d.props.BusID() == id && !r.absent {
			return d.number, Success
		}
	}
	return 0, InvalidDevice
}

// CanAccess reports whether kernels of a device could access the memory of another one.
func (t *Thread) CanAccess(number, peer int) (can bool, err Error) {
	err = t.on(number, func(d *Runtime) Error {
		p, err := d.numbered(peer)
		can = err == Success && p != d
		return err
	})
	return can, err
}

// meet lets kernels of a device access what another one opens to it.
func (a *app) meet() {
	if a.machine != nil {
		a.machine.Open()
	}
}

// EnablePeer lets kernels of the current device access the memory of another one
// (cudaDeviceEnablePeerAccess). Copies need no permission.
func (t *Thread) EnablePeer(peer int, flags uint32) Error {
	return t.do(func(r *Runtime) Error {
		p, err := r.numbered(peer)
		switch {
		case flags != 0:
			return InvalidValue
		case err != Success:
			return err
		case p == r:
			return InvalidDevice
		case r.peers>>p.number&1 != 0:
			return PeerAccessAlreadyEnabled
		}
		if err := p.begin(); err != Success {
			return err
		}
		r.meet()
		r.peers |= 1 << p.number
		p.mem.Open(r.number, true)
		return Success
	})
}

// DisablePeer undoes EnablePeer. It waits for all work of the current device.
func (t *Thread) DisablePeer(peer int) Error {
	return t.do(func(r *Runtime) Error {
		p, err := r.numbered(peer)
		switch {
		case err != Success:
			return err
		case r.peers>>p.number&1 == 0:
			return PeerAccessNotEnabled
		}
		if err := r.finish(); err != Success {
			return err
		}
		r.peers &^= 1 << p.number
		p.mem.Open(r.number, false)
		return Success
	})
}

// The attributes of two devices (cudaDeviceP2PAttr).
const (
	p2pRank    = 1 // of the link's performance, 0 is the best
	p2pAccess  = 2
	p2pAtomics = 3
	p2pArrays  = 4
)

// PeerAttribute returns an attribute of two devices.
func (t *Thread) PeerAttribute(which, number, peer int) (value int, err Error) {
	err = t.on(number, func(d *Runtime) Error {
		p, err := d.numbered(peer)
		switch {
		case err != Success:
			return err
		case p == d:
			return InvalidDevice
		}
		switch which {
		case p2pRank:
		case p2pAccess, p2pAtomics:
			value = 1
		case p2pArrays: // textures of another device's arrays
		default:
			return InvalidValue
		}
		return Success
	})
	return value, err
}

// CopyPeer copies bytes from one device to another. Both sides may be host memory that
// devices share, as everywhere.
func (t *Thread) CopyPeer(dst uint64, to int, src uint64, from int, n, h uint64, async bool) Error {
	return t.do(func(r *Runtime) Error {
		if err := r.between(dst, to, src, from); err != Success && (n > 0 || err == InvalidDevice) {
			return err
		}
		return r.copy(dst, src, line(n), AnyWay, h, async)
	})
}

// between checks the two sides of a copy whose devices are named.
func (r *Runtime) between(dst uint64, to int, src uint64, from int) Error {
	for _, side := range []struct {
		addr   uint64
		number int
	}{{dst, to}, {src, from}} {
		d, err := r.numbered(side.number)
		switch {
		case err != Success:
			return err
		case onDevice(side.addr) && r.at(side.addr) != d, !onDevice(side.addr) && r.sharedAt(side.addr) == nil:
			return InvalidValue
		}
	}
	return Success
}
