package ml

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// Device is a GPU as its machine describes it.
type Device struct {
	cuda.Properties
	BusID string                      // as the CUDA runtime has it
	Free  func() (free, total uint64) // bytes of device memory
}

// Devices returns the devices of a runtime's machine, for its threads.
func Devices(r *cuda.Runtime, thread func() *cuda.Thread) []Device {
	var list []Device
	for i, p := range r.Machine() {
		list = append(list, Device{Properties: p, BusID: p.BusID(), Free: func() (free, total uint64) { return thread().Room(i) }})
	}
	return list
}

// UUID returns the identifier in NVML's form.
func (d *Device) UUID() string { return d.UUIDText() }

// Bus returns the parts of the device's address on the bus.
func (d *Device) Bus() (domain, bus, device uint32) {
	var function uint32
	if _, err := fmt.Sscanf(d.BusID, "%x:%x:%x.%x", &domain, &bus, &device, &function); err != nil {
		return 0, 0, 0 // the CUDA runtime's form is fixed
	}
	return domain, bus, device
}

// Address returns the address on the bus with a domain of a number of digits: 8 in NVML
// today, 4 in its old functions.
func (d *Device) Address(digits int) string {
	domain, bus, device := d.Bus()
	return fmt.Sprintf("%0*X:%02X:%02X.0", digits, domain, bus, device)
}

// Clock is a clock domain (nvmlClockType_t).
type Clock uint32

// The clock domains.
const (
	GraphicsClock Clock = iota
	SMClock
	MemoryClock
	VideoClock
	clocks // their number
)

// MHz returns the frequency of a clock, which never changes.
func (d *Device) MHz(c Clock) (uint32, Result) {
	switch {
	case c >= clocks:
		return 0, InvalidArgument
	case c == MemoryClock && d.MemoryKHz > 0:
		return uint32(d.MemoryKHz / 1000), Success
	case c == GraphicsClock || c == SMClock:
		return uint32(d.CoreKHz / 1000), Success
	}
	return 0, NotSupported
}

// coresPerSM is the number of single-precision results of an SM per cycle, by compute
// capability (CUDA C++ programming guide, arithmetic instructions).
var coresPerSM = map[int]int{
	20: 32, 21: 48, 30: 192, 35: 192, 37: 192, 50: 128, 52: 128, 53: 128, 60: 64, 61: 128, 62: 128, 70: 64, 72: 64, 75: 64, 80: 64, 86: 128, 87: 128,
	89: 128, 90: 128, 100: 128, 103: 128, 110: 128, 120: 128, 121: 128,
}

// Cores returns the number of CUDA cores.
func (d *Device) Cores() (uint32, Result) {
	n, ok := coresPerSM[10*d.Major+d.Minor]
	if !ok {
		return 0, NotSupported
	}
	return uint32(n * d.SMs), Success
}

// unknownArchitecture is the value of NVML for architectures that it does not know.
const unknownArchitecture = 0xffffffff

// Architecture returns NVML's number of the architecture (nvmlDeviceArchitecture_t).
func (d *Device) Architecture() uint32 {
	switch {
	case d.Major == 8 && d.Minor == 9: // Ada
		return 8
	case d.Major == 7 && d.Minor == 5: // Turing
		return 6
	}
	// Kepler, Maxwell, Pascal, Volta, Ampere, Hopper, Blackwell.
	if n, ok := map[int]uint32{3: 2, 5: 3, 6: 4, 7: 5, 8: 7, 9: 9, 10: 10, 12: 10}[d.Major]; ok {
		return n
	}
	return unknownArchitecture
}

// brands are NVML's numbers of brands (nvmlBrandType_t), by prefixes of the names of
// machines.
var brands = []struct {
	prefix string
	number uint32
}{{"rtx-a", 13}, {"rtx-", 15}, {"gtx-", 5}, {"titan-", 6}, {"quadro-", 1}, {"v100", 14}, {"a100", 14}, {"h100", 14}, {"h200", 14}}

// Brand returns NVML's number of the device's brand, 0 if its name does not tell.
func (d *Device) Brand() uint32 {
	for _, b := range brands {
		if strings.HasPrefix(d.Name, b.prefix) {
			return b.number
		}
	}
	return 0
}

// MemoryBus returns the width of the memory's bus in bits.
func (d *Device) MemoryBus() (uint32, Result) {
	if d.BusBits == 0 {
		return 0, NotSupported
	}
	return uint32(d.BusBits), Success
}

// driver is the release of NVIDIA's driver that came with the release of CUDA that the
// driver reports (the name of CUDA 13.2's installer for Linux).
const driver = "595.45.04"

// DriverVersion and Version are those of the driver and of NVML.
const (
	DriverVersion = driver
	Version       = "13." + driver
)

// Library is NVML in one process.
type Library struct {
	mu      sync.Mutex
	uses    int
	devices func() []Device
	list    []Device // made by the first Init
}

// New returns a library for the devices that a function returns.
func New(devices func() []Device) *Library { return &Library{devices: devices} }

// Init starts the library; calls are counted.
func (l *Library) Init() Result {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.uses++
	if l.list == nil {
		l.list = l.devices()
	}
	return Success
}

// Shutdown undoes one Init.
func (l *Library) Shutdown() Result {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.uses == 0 {
		return Uninitialized
	}
	l.uses--
	return Success
}

// Do runs a call that needs Init, with the devices.
func (l *Library) Do(f func(list []Device) Result) Result {
	l.mu.Lock()
	ready, list := l.uses > 0, l.list
	l.mu.Unlock()
	if !ready {
		return Uninitialized
	}
	return f(list)
}

// firstHandle is the handle of the first device; others follow in steps of it.
const firstHandle = 0x100

// Handle returns the handle of a device.
func (d *Device) Handle() uint64 { return uint64(d.Index+1) * firstHandle }

// On runs a call on a device.
func (l *Library) On(h uint64, f func(d *Device) Result) Result {
	return l.Do(func(list []Device) Result {
		for i := range list {
			if list[i].Handle() == h {
				return f(&list[i])
			}
		}
		return InvalidArgument
	})
}

// Number runs a call that returns a number of a device.
func (l *Library) Number(h uint64, f func(d *Device) (uint32, Result)) (n uint32, res Result) {
	res = l.On(h, func(d *Device) (res Result) {
		n, res = f(d)
		return res
	})
	return n, res
}

// ByIndex returns the handle of a device by its index.
func (l *Library) ByIndex(index uint32) (h uint64, res Result) {
	return l.find(InvalidArgument, func(d *Device) bool { return uint32(d.Index) == index })
}

// ByUUID returns the handle of a device by its identifier.
func (l *Library) ByUUID(id string) (h uint64, res Result) {
	return l.find(NotFound, func(d *Device) bool { return strings.EqualFold(d.UUID(), id) })
}

// ByBus returns the handle of a device by its address on the bus, in any of the forms
// domain:bus:device.function, domain:bus:device and bus:device.
func (l *Library) ByBus(id string) (h uint64, res Result) {
	parts := strings.Split(id, ":")
	if len(parts) == 2 {
		parts = append([]string{"0"}, parts...)
	}
	if len(parts) != 3 {
		return 0, l.Do(func([]Device) Result { return InvalidArgument })
	}
	parts[2], _, _ = strings.Cut(parts[2], ".")
	var numbers [3]uint64
	for i, p := range parts {
		var err error
		if numbers[i], err = strconv.ParseUint(p, 16, 32); err != nil {
			return 0, l.Do(func([]Device) Result { return InvalidArgument })
		}
	}
	return l.find(NotFound, func(d *Device) bool {
		domain, bus, device := d.Bus()
		return numbers == [3]uint64{uint64(domain), uint64(bus), uint64(device)}
	})
}

// find returns the handle of the first device that fits, or an error.
func (l *Library) find(none Result, fits func(d *Device) bool) (h uint64, res Result) {
	res = l.Do(func(list []Device) Result {
		for i := range list {
			if fits(&list[i]) {
				h = list[i].Handle()
				return Success
			}
		}
		return none
	})
	return h, res
}
