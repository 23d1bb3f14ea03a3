package main

/*
#include "host.h"
#include "nvml.h"
*/
import "C"

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/heddle-sim/heddle/internal/libs/ml"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// This file: NVML, libnvidia-ml.so.1. nvml.c has the functions without a value in a
// simulation.

// monitor is NVML for the program's devices.
var monitor = sync.OnceValue(func() *ml.Library {
	return ml.New(func() []ml.Device { return ml.Devices(runtime(), thread) })
})

// storeML stores a result of NVML, if the call succeeded.
func storeML[T any](to C.uintptr_t, v T, res ml.Result) C.int {
	if res == ml.Success && (to == 0 || !put(to, v)) {
		res = ml.InvalidArgument
	}
	return C.int(res)
}

// about runs a call that returns something about a device.
func about[T any](h, to C.uintptr_t, f func(d *ml.Device) (T, ml.Result)) C.int {
	var v T
	res := monitor().On(uint64(h), func(d *ml.Device) (res ml.Result) {
		v, res = f(d)
		return res
	})
	return storeML(to, v, res)
}

// constant is about for what all devices have in common.
func constant(h, to C.uintptr_t, n C.uint) C.int {
	return about(h, to, func(*ml.Device) (C.uint, ml.Result) { return n, ml.Success })
}

// giveText stores a text with its zero byte.
func giveText(to C.uintptr_t, n C.uint, s string) ml.Result {
	switch {
	case to == 0:
		return ml.InvalidArgument
	case int(n) <= len(s):
		return ml.InsufficientSize
	}
	putText(to, C.int(len(s)+1), s)
	return ml.Success
}

// named runs a call that returns a text about a device.
func named(h, to C.uintptr_t, n C.uint, f func(d *ml.Device) string) C.int {
	return C.int(monitor().On(uint64(h), func(d *ml.Device) ml.Result { return giveText(to, n, f(d)) }))
}

// system runs a call that returns a text about the system.
func system(to C.uintptr_t, n C.uint, s string) C.int {
	return C.int(monitor().Do(func([]ml.Device) ml.Result { return giveText(to, n, s) }))
}

//export nvmlInit
func nvmlInit() C.int { return C.int(monitor().Init()) }

//export nvmlInit_v2
func nvmlInit_v2() C.int { return C.int(monitor().Init()) }

//export nvmlInitWithFlags
func nvmlInitWithFlags(flags C.uint) C.int { return C.int(monitor().Init()) }

//export nvmlShutdown
func nvmlShutdown() C.int { return C.int(monitor().Shutdown()) }

//export nvmlErrorString
func nvmlErrorString(e C.int) *C.char { return forever(ml.Result(e).String()) }

//export nvmlSystemGetDriverVersion
func nvmlSystemGetDriverVersion(to C.uintptr_t, n C.uint) C.int {
	return system(to, n, ml.DriverVersion)
}

//export nvmlSystemGetNVMLVersion
func nvmlSystemGetNVMLVersion(to C.uintptr_t, n C.uint) C.int { return system(to, n, ml.Version) }

//export nvmlSystemGetCudaDriverVersion
func nvmlSystemGetCudaDriverVersion(to C.uintptr_t) C.int {
	return storeML(to, C.int(cuda.DriverVersion), ml.Success)
}

//export nvmlSystemGetCudaDriverVersion_v2
func nvmlSystemGetCudaDriverVersion_v2(to C.uintptr_t) C.int {
	return nvmlSystemGetCudaDriverVersion(to)
}

//export nvmlSystemGetProcessName
func nvmlSystemGetProcessName(pid C.uint, to C.uintptr_t, n C.uint) C.int {
	return C.int(monitor().Do(func([]ml.Device) ml.Result {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil {
			return ml.NotFound
		}
		name, _, _ := strings.Cut(string(line), "\x00")
		return giveText(to, n, name)
	}))
}

//export nvmlUnitGetCount
func nvmlUnitGetCount(to C.uintptr_t) C.int {
	return storeML(to, C.uint(0), monitor().Do(func([]ml.Device) ml.Result { return ml.Success }))
}

//export nvmlDeviceGetCount
func nvmlDeviceGetCount(to C.uintptr_t) C.int {
	var n C.uint
	res := monitor().Do(func(list []ml.Device) ml.Result { n = C.uint(len(list)); return ml.Success })
	return storeML(to, n, res)
}

//export nvmlDeviceGetCount_v2
func nvmlDeviceGetCount_v2(to C.uintptr_t) C.int { return nvmlDeviceGetCount(to) }

//export nvmlDeviceGetHandleByIndex
func nvmlDeviceGetHandleByIndex(index C.uint, to C.uintptr_t) C.int {
	h, res := monitor().ByIndex(uint32(index))
	return storeML(to, C.uintptr_t(h), res)
}

//export nvmlDeviceGetHandleByIndex_v2
func nvmlDeviceGetHandleByIndex_v2(index C.uint, to C.uintptr_t) C.int {
	return nvmlDeviceGetHandleByIndex(index, to)
}

// by finds a device by a text.
func by(id, to C.uintptr_t, find func(id string) (uint64, ml.Result)) C.int {
	if id == 0 {
		return C.int(monitor().Do(func([]ml.Device) ml.Result { return ml.InvalidArgument }))
	}
	h, res := find(text(id))
	return storeML(to, C.uintptr_t(h), res)
}

//export nvmlDeviceGetHandleByUUID
func nvmlDeviceGetHandleByUUID(id, to C.uintptr_t) C.int { return by(id, to, monitor().ByUUID) }

//export nvmlDeviceGetHandleByPciBusId
func nvmlDeviceGetHandleByPciBusId(id, to C.uintptr_t) C.int { return by(id, to, monitor().ByBus) }

//export nvmlDeviceGetHandleByPciBusId_v2
func nvmlDeviceGetHandleByPciBusId_v2(id, to C.uintptr_t) C.int { return by(id, to, monitor().ByBus) }

//export nvmlDeviceGetHandleBySerial
func nvmlDeviceGetHandleBySerial(serial, to C.uintptr_t) C.int { // no device has one
	return by(serial, to, func(string) (uint64, ml.Result) {
		return 0, monitor().Do(func([]ml.Device) ml.Result { return ml.NotFound })
	})
}

//export nvmlDeviceGetName
func nvmlDeviceGetName(h, to C.uintptr_t, n C.uint) C.int {
	return named(h, to, n, func(d *ml.Device) string { return d.Name })
}

//export nvmlDeviceGetUUID
func nvmlDeviceGetUUID(h, to C.uintptr_t, n C.uint) C.int { return named(h, to, n, (*ml.Device).UUID) }

//export nvmlDeviceGetIndex
func nvmlDeviceGetIndex(h, to C.uintptr_t) C.int {
	return about(h, to, func(d *ml.Device) (C.uint, ml.Result) { return C.uint(d.Index), ml.Success })
}

//export nvmlDeviceGetMinorNumber
func nvmlDeviceGetMinorNumber(h, to C.uintptr_t) C.int { return nvmlDeviceGetIndex(h, to) }

//export nvmlDeviceGetPciInfo_v3
func nvmlDeviceGetPciInfo_v3(h, to C.uintptr_t) C.int {
	return about(h, to, func(d *ml.Device) (p C.nvmlPciInfo_t, res ml.Result) {
		domain, bus, device := d.Bus()
		p.domain, p.bus, p.device = C.uint(domain), C.uint(bus), C.uint(device)
		letters(p.busIdLegacy[:], d.Address(4))
		letters(p.busId[:], d.Address(8))
		return p, ml.Success
	})
}

// letters stores a text in an array that is long enough.
func letters(to []C.char, s string) {
	for i := range s {
		to[i] = C.char(s[i])
	}
}

// oldPCIInfo is the struct before busId: its last members are reserved.
type oldPCIInfo struct {
	busID                                    [16]C.char
	domain, bus, device, deviceID, subsystem C.uint
	reserved                                 [4]C.uint
}

//export nvmlDeviceGetPciInfo_v2
func nvmlDeviceGetPciInfo_v2(h, to C.uintptr_t) C.int {
	return about(h, to, func(d *ml.Device) (p oldPCIInfo, res ml.Result) {
		domain, bus, device := d.Bus()
		p.domain, p.bus, p.device = C.uint(domain), C.uint(bus), C.uint(device)
		letters(p.busID[:], d.Address(4))
		return p, ml.Success
	})
}

//export nvmlDeviceGetPciInfo
func nvmlDeviceGetPciInfo(h, to C.uintptr_t) C.int { return nvmlDeviceGetPciInfo_v2(h, to) }

//export nvmlDeviceGetMemoryInfo
func nvmlDeviceGetMemoryInfo(h, to C.uintptr_t) C.int {
	return about(h, to, func(d *ml.Device) (m C.nvmlMemory_t, res ml.Result) {
		free, total := d.Free()
		m.total, m.free, m.used = C.ulonglong(total), C.ulonglong(free), C.ulonglong(total-free)
		return m, ml.Success
	})
}

//export nvmlDeviceGetMemoryInfo_v2
func nvmlDeviceGetMemoryInfo_v2(h, to C.uintptr_t) C.int {
	return about(h, to, func(d *ml.Device) (m C.nvmlMemory_v2_t, res ml.Result) {
		if to == 0 {
			return m, ml.InvalidArgument
		}
		const version = C.uint(C.sizeof_nvmlMemory_v2_t | 2<<24)
		if *at[C.uint](to) != version {
			return m, ml.VersionMismatch
		}
		free, total := d.Free()
		m.version, m.total, m.free, m.used = version, C.ulonglong(total), C.ulonglong(free), C.ulonglong(total-free)
		return m, ml.Success
	})
}

// oldProcessInfo is nvmlProcessInfo_t before instances of GPUs.
type oldProcessInfo struct {
	pid  C.uint
	_    C.uint
	used C.ulonglong
}

// processes lists the processes on a device: this one.
func processes[T any](h, count, to C.uintptr_t, info func(pid int, used uint64) T) C.int {
	return C.int(monitor().On(uint64(h), func(d *ml.Device) ml.Result {
		if count == 0 {
			return ml.InvalidArgument
		}
		room := *at[C.uint](count)
		if put(count, C.uint(1)); room == 0 {
			return ml.InsufficientSize
		}
		free, total := d.Free()
		return ml.Result(storeML(to, info(os.Getpid(), total-free), ml.Success))
	}))
}

//export nvmlDeviceGetComputeRunningProcesses
func nvmlDeviceGetComputeRunningProcesses(h, count, to C.uintptr_t) C.int {
	return processes(h, count, to, func(pid int, used uint64) oldProcessInfo {
		return oldProcessInfo{pid: C.uint(pid), used: C.ulonglong(used)}
	})
}

//export nvmlDeviceGetComputeRunningProcesses_v2
func nvmlDeviceGetComputeRunningProcesses_v2(h, count, to C.uintptr_t) C.int {
	return nvmlDeviceGetComputeRunningProcesses_v3(h, count, to)
}

// noInstance is the instance of a GPU that is not divided.
const noInstance = 0xffffffff

//export nvmlDeviceGetComputeRunningProcesses_v3
func nvmlDeviceGetComputeRunningProcesses_v3(h, count, to C.uintptr_t) C.int {
	return processes(h, count, to, func(pid int, used uint64) C.nvmlProcessInfo_t {
		return C.nvmlProcessInfo_t{pid: C.uint(pid), usedGpuMemory: C.ulonglong(used), gpuInstanceId: noInstance, computeInstanceId: noInstance}
	})
}

//export nvmlDeviceGetGraphicsRunningProcesses
func nvmlDeviceGetGraphicsRunningProcesses(h, count, to C.uintptr_t) C.int {
	return constant(h, count, 0)
}

//export nvmlDeviceGetGraphicsRunningProcesses_v2
func nvmlDeviceGetGraphicsRunningProcesses_v2(h, count, to C.uintptr_t) C.int {
	return constant(h, count, 0)
}

//export nvmlDeviceGetGraphicsRunningProcesses_v3
func nvmlDeviceGetGraphicsRunningProcesses_v3(h, count, to C.uintptr_t) C.int {
	return constant(h, count, 0)
}

//export nvmlDeviceGetCudaComputeCapability
func nvmlDeviceGetCudaComputeCapability(h, major, minor C.uintptr_t) C.int {
	return C.int(monitor().On(uint64(h), func(d *ml.Device) ml.Result {
		if major == 0 || minor == 0 || !put(major, C.int(d.Major)) || !put(minor, C.int(d.Minor)) {
			return ml.InvalidArgument
		}
		return ml.Success
	}))
}

//export nvmlDeviceGetArchitecture
func nvmlDeviceGetArchitecture(h, to C.uintptr_t) C.int {
	return about(h, to, func(d *ml.Device) (C.uint, ml.Result) { return C.uint(d.Architecture()), ml.Success })
}

//export nvmlDeviceGetBrand
func nvmlDeviceGetBrand(h, to C.uintptr_t) C.int {
	return about(h, to, func(d *ml.Device) (C.uint, ml.Result) { return C.uint(d.Brand()), ml.Success })
}

//export nvmlDeviceGetNumGpuCores
func nvmlDeviceGetNumGpuCores(h, to C.uintptr_t) C.int { return about(h, to, (*ml.Device).Cores) }

//export nvmlDeviceGetMemoryBusWidth
func nvmlDeviceGetMemoryBusWidth(h, to C.uintptr_t) C.int {
	return about(h, to, (*ml.Device).MemoryBus)
}

//export nvmlDeviceGetClockInfo
func nvmlDeviceGetClockInfo(h C.uintptr_t, clock C.uint, to C.uintptr_t) C.int {
	return about(h, to, func(d *ml.Device) (uint32, ml.Result) { return d.MHz(ml.Clock(clock)) })
}

//export nvmlDeviceGetMaxClockInfo
func nvmlDeviceGetMaxClockInfo(h C.uintptr_t, clock C.uint, to C.uintptr_t) C.int {
	return nvmlDeviceGetClockInfo(h, clock, to)
}

//export nvmlDeviceGetMaxCustomerBoostClock
func nvmlDeviceGetMaxCustomerBoostClock(h C.uintptr_t, clock C.uint, to C.uintptr_t) C.int {
	return nvmlDeviceGetClockInfo(h, clock, to)
}

//export nvmlDeviceGetApplicationsClock
func nvmlDeviceGetApplicationsClock(h C.uintptr_t, clock C.uint, to C.uintptr_t) C.int {
	return nvmlDeviceGetClockInfo(h, clock, to)
}

//export nvmlDeviceGetDefaultApplicationsClock
func nvmlDeviceGetDefaultApplicationsClock(h C.uintptr_t, clock C.uint, to C.uintptr_t) C.int {
	return nvmlDeviceGetClockInfo(h, clock, to)
}

//export nvmlDeviceGetClock
func nvmlDeviceGetClock(h C.uintptr_t, clock, id C.uint, to C.uintptr_t) C.int {
	return about(h, to, func(d *ml.Device) (uint32, ml.Result) {
		if id > C.NVML_CLOCK_ID_CUSTOMER_BOOST_MAX {
			return 0, ml.InvalidArgument
		}
		return d.MHz(ml.Clock(clock))
	})
}

// noReasons says that nothing slows the clocks down.
func noReasons(h, to C.uintptr_t) C.int {
	return about(h, to, func(*ml.Device) (C.ulonglong, ml.Result) { return 0, ml.Success })
}

//export nvmlDeviceGetCurrentClocksThrottleReasons
func nvmlDeviceGetCurrentClocksThrottleReasons(h, to C.uintptr_t) C.int { return noReasons(h, to) }

//export nvmlDeviceGetSupportedClocksThrottleReasons
func nvmlDeviceGetSupportedClocksThrottleReasons(h, to C.uintptr_t) C.int { return noReasons(h, to) }

//export nvmlDeviceGetCurrentClocksEventReasons
func nvmlDeviceGetCurrentClocksEventReasons(h, to C.uintptr_t) C.int { return noReasons(h, to) }

//export nvmlDeviceGetSupportedClocksEventReasons
func nvmlDeviceGetSupportedClocksEventReasons(h, to C.uintptr_t) C.int { return noReasons(h, to) }

// The modes of every simulated device.

//export nvmlDeviceGetPersistenceMode
func nvmlDeviceGetPersistenceMode(h, to C.uintptr_t) C.int {
	return constant(h, to, C.NVML_FEATURE_DISABLED)
}

//export nvmlDeviceGetDisplayMode
func nvmlDeviceGetDisplayMode(h, to C.uintptr_t) C.int {
	return constant(h, to, C.NVML_FEATURE_DISABLED)
}

//export nvmlDeviceGetDisplayActive
func nvmlDeviceGetDisplayActive(h, to C.uintptr_t) C.int {
	return constant(h, to, C.NVML_FEATURE_DISABLED)
}

//export nvmlDeviceGetComputeMode
func nvmlDeviceGetComputeMode(h, to C.uintptr_t) C.int {
	return constant(h, to, C.NVML_COMPUTEMODE_DEFAULT)
}

//export nvmlDeviceGetPerformanceState
func nvmlDeviceGetPerformanceState(h, to C.uintptr_t) C.int { return constant(h, to, C.NVML_PSTATE_0) }

//export nvmlDeviceGetPowerState
func nvmlDeviceGetPowerState(h, to C.uintptr_t) C.int { return constant(h, to, C.NVML_PSTATE_0) }

//export nvmlDeviceGetMultiGpuBoard
func nvmlDeviceGetMultiGpuBoard(h, to C.uintptr_t) C.int { return constant(h, to, 0) }

//export nvmlDeviceGetEccMode
func nvmlDeviceGetEccMode(h, current, pending C.uintptr_t) C.int {
	if res := constant(h, current, C.NVML_FEATURE_DISABLED); res != 0 {
		return res
	}
	return constant(h, pending, C.NVML_FEATURE_DISABLED)
}

// pair runs a call that compares two devices.
func pair(a, b, to C.uintptr_t, f func(same bool) (C.uint, ml.Result)) C.int {
	return about(a, to, func(*ml.Device) (C.uint, ml.Result) {
		if res := monitor().On(uint64(b), func(*ml.Device) ml.Result { return ml.Success }); res != ml.Success {
			return 0, res
		}
		return f(a == b)
	})
}

//export nvmlDeviceOnSameBoard
func nvmlDeviceOnSameBoard(a, b, to C.uintptr_t) C.int {
	return pair(a, b, to, func(same bool) (C.uint, ml.Result) {
		if same {
			return 1, ml.Success
		}
		return 0, ml.Success
	})
}

//export nvmlDeviceGetP2PStatus
func nvmlDeviceGetP2PStatus(a, b C.uintptr_t, index C.uint, to C.uintptr_t) C.int {
	return pair(a, b, to, func(same bool) (C.uint, ml.Result) {
		switch {
		case index > C.NVML_P2P_CAPS_INDEX_PROP:
			return 0, ml.InvalidArgument
		case same:
			return C.NVML_P2P_STATUS_OK, ml.Success
		case index != C.NVML_P2P_CAPS_INDEX_PROP:
			return C.NVML_P2P_STATUS_OK, ml.Success
		}
		return C.NVML_P2P_STATUS_NOT_SUPPORTED, ml.Success
	})
}

//export heddleNotMeasured
func heddleNotMeasured(h C.uintptr_t) C.int {
	return C.int(monitor().On(uint64(h), func(*ml.Device) ml.Result { return ml.NotSupported }))
}
