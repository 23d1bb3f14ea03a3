package main

/*
#include "host.h"
#include "cupti_activity.h"
#include "cupti_driver_cbid.h"
#include "cupti_runtime_cbid.h"
#include "cupti_version.h"
*/
import "C"

import (
	"fmt"
	"maps"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/heddle-sim/heddle/internal/libs/pti"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// This file: CUPTI, libcupti.so. It gives profilers records of what happens, in buffers of
// their own. calls.c reports the calls of the program; cupti_unsupported.c has what is
// missing.

// profiler is the state of the activity interface.
var profiler = struct {
	sync.Mutex
	request, complete C.uintptr_t // the profiler's functions, 0 before it gives them
	kinds             map[cuda.ActivityKind]bool
	source            pti.Source
	attributes        *pti.Attributes
	lastError         pti.Result
	silent            map[call]bool  // calls that are not recorded
	dropped           atomic.Uint64  // records
	clock             atomic.Uintptr // the profiler's function that tells the time, or 0

	delivering sync.Mutex // held while buffers are filled, and the profiler's functions for them are called
	buffer     activityBuffer
}{
	kinds: map[cuda.ActivityKind]bool{}, attributes: pti.NewAttributes(), silent: map[call]bool{},
	source: pti.Source{Text: func(s string) uintptr { return uintptr(unsafe.Pointer(forever(s))) }, Process: uint32(os.Getpid())},
}

// call is the number of a call's function.
type call struct {
	kind cuda.ActivityKind
	id   uint32
}

// activityBuffer is a buffer of the profiler. There is none if its address is 0.
type activityBuffer struct {
	at            uintptr
	size, used    uint64
	records, room uint64 // room 0: any number
}

// injected says that the first call has looked for a profiler to load.
var injected atomic.Bool

// inject loads the library that CUDA_INJECTION64_PATH names and calls its function
// InitializeInjection, as the driver does at the program's first call (CUPTI, usage).
func inject() {
	path := os.Getenv("CUDA_INJECTION64_PATH")
	if !injected.CompareAndSwap(false, true) || path == "" {
		return
	}
	runtime()
	name := C.CString(path)
	defer C.heddle_free(unsafe.Pointer(name))
	if why := C.heddle_inject(name); why != nil {
		fmt.Fprintf(os.Stderr, "heddle: CUDA_INJECTION64_PATH=%s: %s\n", path, C.GoString(why))
	}
}

// answer notes an error for cuptiGetLastError.
func answer(res pti.Result) C.int {
	if res != pti.Success {
		profiler.Lock()
		profiler.lastError = res
		profiler.Unlock()
	}
	return C.int(res)
}

// answerIf is success, or the code of an invalid parameter.
func answerIf(right bool) C.int {
	if !right {
		return answer(pti.InvalidParameter)
	}
	return answer(pti.Success)
}

// storePTI stores a result of CUPTI, if the call succeeded.
func storePTI[T any](to C.uintptr_t, v T, res pti.Result) C.int {
	if res == pti.Success && (to == 0 || !put(to, v)) {
		res = pti.InvalidParameter
	}
	return answer(res)
}

// deliver puts what has happened into the profiler's buffers, and returns those that are
// full; all: also the last one, and work that has not ended.
func deliver(all, unfinished bool) {
	if C.heddle_busy() != 0 {
		return // called from one of the profiler's own functions
	}
	p := &profiler
	if all {
		p.delivering.Lock()
	} else if !p.delivering.TryLock() {
		return // another thread does it, in a function of the profiler that may wait for this one
	}
	defer p.delivering.Unlock()
	p.Lock()
	request, complete, source := p.request, p.complete, p.source
	p.Unlock()
	if request == 0 {
		return
	}
	b := &p.buffer
	for _, a := range thread().Activities(unfinished) {
		r := source.Record(&a)
		n := uint64(len(r))
		if b.at != 0 && (b.size-b.used < n || b.room > 0 && b.records >= b.room) {
			b.give(complete)
		}
		if b.at == 0 && !b.take(request) || b.size < n {
			p.dropped.Add(1)
			continue
		}
		copy(host{}.Bytes(uint64(b.at)+b.used, n), r)
		b.used += n
		b.records++
	}
	p.dropped.Add(thread().LostActivities())
	if all && b.at != 0 {
		b.give(complete)
	}
}

// largestBuffer is the most that is used of a buffer, our choice: a size that is no size
// must not overflow.
const largestBuffer = 1 << 40

// take asks the profiler for a buffer. Records are aligned to 8 bytes.
func (b *activityBuffer) take(request C.uintptr_t) bool {
	var at *C.uint8_t
	var size, room C.size_t
	C.heddle_request(request, &at, &size, &room)
	start := uintptr(unsafe.Pointer(at))
	if start == 0 || start%8 != 0 || size < 8 {
		return false
	}
	*b = activityBuffer{at: start, size: min(uint64(size), largestBuffer), room: uint64(room)}
	return true
}

// give returns the buffer to the profiler.
func (b *activityBuffer) give(complete C.uintptr_t) {
	full := *b
	*b = activityBuffer{}
	C.heddle_complete(complete, C.uintptr_t(full.at), C.size_t(full.size), C.size_t(full.used))
}

// heddleCallBegin is called at the begin of a call of the program, heddleCallEnd at its end.
//
//export heddleCallBegin
func heddleCallBegin(number C.uint32_t, now *C.uint64_t) C.uint32_t {
	correlation, at := thread().BeginCall(uint32(number), shown())
	*now = C.uint64_t(at)
	return C.uint32_t(correlation)
}

//export heddleCallEnd
func heddleCallEnd(domain, id, correlation C.uint32_t, start C.uint64_t, number, result C.uint32_t) {
	c := call{cuda.ActivityRuntimeCall, uint32(id)}
	if domain == C.CUPTI_CB_DOMAIN_DRIVER_API {
		c.kind = cuda.ActivityDriverCall
	}
	profiler.Lock()
	silent := profiler.silent[c]
	profiler.Unlock()
	thread().EndCall(c.kind == cuda.ActivityDriverCall, uint32(correlation), uint64(start), shown(), !silent, cuda.CallDetail{ID: c.id, Thread: uint32(number), Result: uint32(result)})
	deliver(false, false)
}

//export heddleKernelName
func heddleKernelName(fn C.uintptr_t) *C.char {
	if name := thread().KernelName(uint64(fn)); name != "" {
		return forever(name)
	}
	return nil
}

//export heddleContext
func heddleContext(number *C.uint32_t) C.uintptr_t {
	h, id := thread().ContextNow()
	*number = C.uint32_t(id)
	return C.uintptr_t(h)
}

// lacking names what CUPTI does not have, once, and returns its code.
func lacking(name string) C.int {
	thread().Missing(name, "CUPTI_ERROR_NOT_SUPPORTED")
	return answer(pti.NotSupported)
}

//export heddleCuptiLacks
func heddleCuptiLacks(name *C.char) C.int { return lacking(C.GoString(name)) }

// heddleNotRecorded names a domain whose callbacks are never called.
//
//export heddleNotRecorded
func heddleNotRecorded(name *C.char) { thread().Never(C.GoString(name)) }

//export cuptiGetVersion
func cuptiGetVersion(to C.uintptr_t) C.int {
	return storePTI(to, C.uint32_t(C.CUPTI_API_VERSION), pti.Success)
}

//export cuptiGetResultString
func cuptiGetResultString(code C.int, to C.uintptr_t) C.int {
	name, ok := pti.Result(code).Name()
	return textOf(to, name, ok)
}

//export cuptiGetErrorMessage
func cuptiGetErrorMessage(code C.int, to C.uintptr_t) C.int {
	text, ok := pti.Result(code).Text()
	return textOf(to, text, ok)
}

func textOf(to C.uintptr_t, text string, ok bool) C.int {
	if !ok {
		return answer(pti.InvalidParameter)
	}
	return storePTI(to, forever(text), pti.Success)
}

//export cuptiGetLastError
func cuptiGetLastError() C.int {
	profiler.Lock()
	defer profiler.Unlock()
	res := profiler.lastError
	profiler.lastError = pti.Success
	return C.int(res)
}

//export cuptiGetTimestamp
func cuptiGetTimestamp(to C.uintptr_t) C.int {
	return storePTI(to, C.uint64_t(thread().Now(shown())), pti.Success)
}

//export cuptiDeviceGetTimestamp
func cuptiDeviceGetTimestamp(context, to C.uintptr_t) C.int { return cuptiGetTimestamp(to) }

// inContextOf stores a property of a context.
func inContextOf(h, to C.uintptr_t, of func(d cuda.Driver) (C.uint32_t, cuda.Result)) C.int {
	v, res := of(driver())
	if res != cuda.ResultSuccess {
		return answer(pti.InvalidContext)
	}
	return storePTI(to, v, pti.Success)
}

//export cuptiGetContextId
func cuptiGetContextId(h, to C.uintptr_t) C.int {
	return inContextOf(h, to, func(d cuda.Driver) (C.uint32_t, cuda.Result) {
		id, _, res := d.ContextInfo(uint64(h))
		return C.uint32_t(id), res
	})
}

//export cuptiGetDeviceId
func cuptiGetDeviceId(h, to C.uintptr_t) C.int {
	return inContextOf(h, to, func(d cuda.Driver) (C.uint32_t, cuda.Result) {
		n, res := d.ContextDevice(uint64(h))
		return C.uint32_t(n), res
	})
}

//export cuptiGetStreamId
func cuptiGetStreamId(context, h, to C.uintptr_t) C.int { return cuptiGetStreamIdEx(context, h, 0, to) }

//export cuptiGetStreamIdEx
func cuptiGetStreamIdEx(context, h C.uintptr_t, perThread C.uint8_t, to C.uintptr_t) C.int {
	if h == 0 && perThread != 0 {
		h = perThreadStream
	}
	id, ok := thread().StreamNumber(uint64(h))
	if !ok {
		return answer(pti.InvalidStream)
	}
	return storePTI(to, C.uint32_t(id), pti.Success)
}

// number stores the number of an object of a graph in records, if it is there.
func number[T any](to C.uintptr_t, v T, err cuda.Error) C.int {
	if err != cuda.Success {
		return answer(pti.InvalidParameter)
	}
	return storePTI(to, v, pti.Success)
}

//export cuptiGetGraphNodeId
func cuptiGetGraphNodeId(node, to C.uintptr_t) C.int {
	_, _, err := thread().NodePlace(uint64(node))
	return number(to, C.uint64_t(node), err)
}

//export cuptiGetGraphId
func cuptiGetGraphId(graph, to C.uintptr_t) C.int {
	_, err := thread().GraphNodes(uint64(graph), true)
	return number(to, C.uint32_t(graph), err)
}

//export cuptiGetGraphExecId
func cuptiGetGraphExecId(exec, to C.uintptr_t) C.int {
	_, err := thread().ExecFlags(uint64(exec))
	return number(to, C.uint32_t(exec), err)
}

// perThreadStream is the handle of the calling thread's own stream.
const perThreadStream = 2

// setKind turns the recording of a kind on or off.
func setKind(kind C.uint32_t, on bool) C.int {
	k := cuda.ActivityKind(kind)
	record, res := pti.Enable(k)
	switch {
	case res == pti.NotSupported:
		return lacking("cuptiActivityEnable of " + pti.KindName(k))
	case !record:
		return answer(res)
	}
	if !on {
		deliver(false, false) // while the kind is known
	}
	thread().Trace(k, on)
	profiler.Lock()
	defer profiler.Unlock()
	if on {
		profiler.kinds[k] = true
	} else {
		delete(profiler.kinds, k)
	}
	watch := C.int(0)
	if len(profiler.kinds) > 0 {
		watch = 1
	}
	C.heddle_watch(watch)
	return C.int(pti.Success)
}

//export cuptiActivityEnable
func cuptiActivityEnable(kind C.uint32_t) C.int {
	profiler.Lock()
	maps.DeleteFunc(profiler.silent, func(c call, _ bool) bool { return c.kind == cuda.ActivityKind(kind) })
	profiler.Unlock()
	return setKind(kind, true)
}

//export cuptiActivityEnableAndDump
func cuptiActivityEnableAndDump(kind C.uint32_t) C.int { return cuptiActivityEnable(kind) }

//export cuptiActivityDisable
func cuptiActivityDisable(kind C.uint32_t) C.int { return setKind(kind, false) }

// Recording is for all contexts.
//
//export cuptiActivityEnableContext
func cuptiActivityEnableContext(context C.uintptr_t, kind C.uint32_t) C.int {
	return setKindOf(context, kind, true)
}

//export cuptiActivityDisableContext
func cuptiActivityDisableContext(context C.uintptr_t, kind C.uint32_t) C.int {
	return setKindOf(context, kind, false)
}

func setKindOf(context C.uintptr_t, kind C.uint32_t, on bool) C.int {
	if _, _, res := driver().ContextInfo(uint64(context)); context == 0 || res != cuda.ResultSuccess {
		return answer(pti.InvalidContext)
	}
	return setKind(kind, on)
}

// setCall turns the recording of one function's calls on or off; on: their kind too.
func setCall(kind cuda.ActivityKind, id C.uint32_t, least, most C.uint32_t, on C.uint8_t) C.int {
	if id < least || id >= most {
		return answer(pti.InvalidParameter)
	}
	profiler.Lock()
	all := profiler.kinds[kind]
	if on != 0 && !all { // only this function
		for i := least; i < most; i++ {
			profiler.silent[call{kind, uint32(i)}] = true
		}
	}
	profiler.silent[call{kind, uint32(id)}] = on == 0
	profiler.Unlock()
	if on != 0 && !all {
		return setKind(C.uint32_t(kind), true)
	}
	return C.int(pti.Success)
}

//export cuptiActivityEnableRuntimeApi
func cuptiActivityEnableRuntimeApi(id C.uint32_t, on C.uint8_t) C.int {
	return setCall(cuda.ActivityRuntimeCall, id, 1, C.CUPTI_RUNTIME_TRACE_CBID_SIZE, on)
}

//export cuptiActivityEnableDriverApi
func cuptiActivityEnableDriverApi(id C.uint32_t, on C.uint8_t) C.int {
	return setCall(cuda.ActivityDriverCall, id, 1, C.CUPTI_DRIVER_TRACE_CBID_SIZE, on)
}

//export cuptiActivityEnableLatencyTimestamps
func cuptiActivityEnableLatencyTimestamps(on C.uint8_t) C.int {
	profiler.Lock()
	profiler.source.Latency = on != 0
	profiler.Unlock()
	return C.int(pti.Success)
}

// What these ask for is always recorded, or there is none of it.

//export cuptiActivityEnableAllSyncRecords
func cuptiActivityEnableAllSyncRecords(on C.uint8_t) C.int { return answer(pti.Success) }

//export cuptiActivityEnableLaunchAttributes
func cuptiActivityEnableLaunchAttributes(on C.uint8_t) C.int { return answer(pti.Success) }

//export cuptiActivityEnableDeviceGraph
func cuptiActivityEnableDeviceGraph(on C.uint8_t) C.int { return answer(pti.Success) }

//export cuptiActivityFlushPeriod
func cuptiActivityFlushPeriod(ms C.uint32_t) C.int { return answer(pti.Success) }

//export cuptiActivityRegisterCallbacks
func cuptiActivityRegisterCallbacks(request, complete C.uintptr_t) C.int {
	if request == 0 || complete == 0 {
		return answer(pti.InvalidParameter)
	}
	profiler.Lock()
	profiler.request, profiler.complete = request, complete
	profiler.Unlock()
	return C.int(pti.Success)
}

// shown is what the profiler's clock shows, 0 without one.
func shown() uint64 {
	fn := profiler.clock.Load()
	if fn == 0 {
		return 0
	}
	return uint64(C.heddle_clock(C.uintptr_t(fn)))
}

// A profiler's clock may count anything: its rate is measured.
//
//export cuptiActivityRegisterTimestampCallback
func cuptiActivityRegisterTimestampCallback(fn C.uintptr_t) C.int {
	if fn == 0 {
		return answer(pti.InvalidParameter)
	}
	profiler.clock.Store(uintptr(fn))
	const calibration = 2 * time.Millisecond
	begin, first := time.Now(), shown()
	time.Sleep(calibration)
	rate := float64(shown()-first) / float64(time.Since(begin))
	if rate <= 0 || rate > 1000 || math.Abs(rate-1) < 0.05 { // it stands still, jumps, or counts nanoseconds
		rate = 1
	}
	thread().SetClock(shown(), rate)
	return C.int(pti.Success)
}

// flagForced is CUPTI_ACTIVITY_FLAG_FLUSH_FORCED.
const flagForced = 1

//export cuptiActivityFlushAll
func cuptiActivityFlushAll(flag C.uint32_t) C.int {
	deliver(true, flag&flagForced != 0)
	return C.int(pti.Success)
}

//export cuptiActivityFlush
func cuptiActivityFlush(context C.uintptr_t, stream, flag C.uint32_t) C.int {
	return cuptiActivityFlushAll(flag)
}

//export cuptiActivityGetNumDroppedRecords
func cuptiActivityGetNumDroppedRecords(context C.uintptr_t, stream C.uint32_t, to C.uintptr_t) C.int {
	return storePTI(to, C.size_t(profiler.dropped.Swap(0)), pti.Success)
}

//export cuptiActivityGetNextRecord
func cuptiActivityGetNextRecord(buffer C.uintptr_t, valid C.size_t, record C.uintptr_t) C.int {
	if buffer == 0 || record == 0 {
		return C.int(pti.InvalidParameter)
	}
	last := seen(func() uintptr { return *at[uintptr](record) })
	place := -1
	if last != 0 {
		if last < uintptr(buffer) || last-uintptr(buffer) >= uintptr(min(valid, largestBuffer)) {
			return C.int(pti.InvalidParameter)
		}
		place = int(last - uintptr(buffer))
	}
	var res pti.Result
	next := seen(func() (n int) {
		n, res = pti.Next(host{}.Bytes(uint64(buffer), uint64(min(valid, largestBuffer))), place)
		return n
	})
	if res != pti.Success {
		return C.int(res)
	}
	return storePTI(record, buffer+C.uintptr_t(next), pti.Success)
}

//export cuptiActivityGetAttribute
func cuptiActivityGetAttribute(which C.uint32_t, size, to C.uintptr_t) C.int {
	if size == 0 || to == 0 {
		return answer(pti.InvalidParameter)
	}
	n := seen(func() uint64 { return *at[uint64](size) })
	profiler.Lock()
	value, res := profiler.attributes.Get(uint32(which), n)
	profiler.Unlock()
	if res != pti.Success {
		return answer(res)
	}
	for i, b := range value {
		if !put(to+C.uintptr_t(i), b) {
			return answer(pti.InvalidParameter)
		}
	}
	return storePTI(size, uint64(len(value)), pti.Success)
}

//export cuptiActivitySetAttribute
func cuptiActivitySetAttribute(which C.uint32_t, size, from C.uintptr_t) C.int {
	if size == 0 || from == 0 {
		return answer(pti.InvalidParameter)
	}
	n := seen(func() uint64 { return *at[uint64](size) })
	value := func(n int) []byte {
		return seen(func() []byte { return append([]byte(nil), host{}.Bytes(uint64(from), uint64(n))...) })
	}
	profiler.Lock()
	res := profiler.attributes.Set(uint32(which), n, value)
	profiler.Unlock()
	return answer(res)
}

//export cuptiActivityPushExternalCorrelationId
func cuptiActivityPushExternalCorrelationId(kind C.uint32_t, id C.uint64_t) C.int {
	if !isExternal(kind) {
		return answer(pti.InvalidParameter)
	}
	thread().PushExternal(uint32(kind), uint64(id))
	return C.int(pti.Success)
}

//export cuptiActivityPopExternalCorrelationId
func cuptiActivityPopExternalCorrelationId(kind C.uint32_t, to C.uintptr_t) C.int {
	if !isExternal(kind) {
		return answer(pti.InvalidParameter)
	}
	id, ok := thread().PopExternal(uint32(kind))
	switch {
	case !ok:
		return answer(pti.QueueEmpty)
	case to != 0:
		return storePTI(to, C.uint64_t(id), pti.Success)
	}
	return C.int(pti.Success)
}

func isExternal(kind C.uint32_t) bool {
	return kind > C.CUPTI_EXTERNAL_CORRELATION_KIND_INVALID && kind < C.CUPTI_EXTERNAL_CORRELATION_KIND_SIZE
}

//export cuptiComputeCapabilitySupported
func cuptiComputeCapabilitySupported(major, minor C.int, to C.uintptr_t) C.int {
	return storePTI(to, C.int(1), pti.Success)
}

//export cuptiDeviceSupported
func cuptiDeviceSupported(n C.int, to C.uintptr_t) C.int { return everyDevices(n, to, 1) }

//export cuptiDeviceVirtualizationMode
func cuptiDeviceVirtualizationMode(n C.int, to C.uintptr_t) C.int {
	return everyDevices(n, to, C.CUPTI_DEVICE_VIRTUALIZATION_MODE_NONE)
}

// everyDevices stores a property that all devices have.
func everyDevices(n C.int, to C.uintptr_t, value C.int) C.int {
	if _, ok := runtime().PropertiesOf(int(n)); !ok {
		return answer(pti.InvalidDevice)
	}
	return storePTI(to, value, pti.Success)
}

//export cuptiFinalize
func cuptiFinalize() C.int {
	deliver(true, false)
	C.heddle_unsubscribe()
	profiler.Lock()
	kinds := profiler.kinds
	profiler.kinds = map[cuda.ActivityKind]bool{}
	C.heddle_watch(0)
	profiler.Unlock()
	for k := range kinds {
		thread().Trace(k, false)
	}
	return C.int(pti.Success)
}
