package main

/*
#include <stdlib.h>
#include "host.h"
*/
import "C"

import (
	"os"
	"unsafe"

	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// This file: memory of graphs, nodes of any kind by one call, attributes and switches of
// nodes, and objects that graphs keep alive.

// allocNode reads a cudaMemAllocNodeParams, which both APIs lay out alike.
func allocNode(params C.uintptr_t) (cuda.Work, cuda.Error) {
	if err := need(params); err != cuda.Success {
		return nil, err
	}
	p := at[C.struct_cudaMemAllocNodeParams](params)
	const most = cuda.MaxDevices
	if p.poolProps.handleTypes != C.cudaMemHandleTypeNone {
		return nil, thread().Unsupported("memory of a graph for other processes")
	}
	err := thread().Check(p.poolProps.allocType == C.cudaMemAllocationTypePinned && p.poolProps.location._type == C.cudaMemLocationTypeDevice &&
		p.accessDescCount <= most && (p.accessDescCount == 0 || word(&p.accessDescs) != 0))
	if err != cuda.Success {
		return nil, err
	}
	var guests []int
	for i := range p.accessDescCount {
		a := at[C.struct_cudaMemAccessDesc](C.uintptr_t(word(&p.accessDescs)) + C.uintptr_t(i)*C.sizeof_struct_cudaMemAccessDesc)
		switch {
		case a.location._type != C.cudaMemLocationTypeDevice, a.flags == C.cudaMemAccessFlagsProtNone:
			return nil, thread().Check(false)
		case a.flags == C.cudaMemAccessFlagsProtRead:
			return nil, thread().Unsupported("memory of a graph that a device may only read")
		}
		guests = append(guests, int(a.location.id))
	}
	return cuda.AllocNode(int(p.poolProps.location.id), uint64(p.bytesize), guests), cuda.Success
}

//export cudaGraphAddMemAllocNode
func cudaGraphAddMemAllocNode(to, graph, deps C.uintptr_t, n C.size_t, params C.uintptr_t) C.int {
	w, err := allocNode(params)
	if res := addNode(to, graph, deps, n, w, err); res != 0 {
		return res
	}
	return giveAddress(*at[C.uintptr_t](to), params)
}

// giveAddress stores the address of a new node's memory in its parameters.
func giveAddress(node, params C.uintptr_t) C.int {
	info, err := thread().NodeInfo(uint64(node))
	return give(params+C.uintptr_t(unsafe.Offsetof(C.struct_cudaMemAllocNodeParams{}.dptr)), C.uintptr_t(info.Addr), err)
}

//export cudaGraphMemAllocNodeGetParams
func cudaGraphMemAllocNodeGetParams(node, to C.uintptr_t) C.int {
	info, err := nodeOf(node, to, cuda.NodeAlloc)
	if err != cuda.Success {
		return C.int(err)
	}
	p := C.struct_cudaMemAllocNodeParams{bytesize: C.size_t(info.Size), accessDescCount: C.size_t(len(info.Guests)), dptr: pointer(info.Addr)}
	p.poolProps.allocType, p.poolProps.location._type, p.poolProps.location.id = C.cudaMemAllocationTypePinned, C.cudaMemLocationTypeDevice, C.int(info.Device)
	if n := len(info.Guests); n > 0 {
		mem := keep(uint64(node), uintptr(n)*C.sizeof_struct_cudaMemAccessDesc)
		for i, a := range unsafe.Slice((*C.struct_cudaMemAccessDesc)(mem), n) {
			a.location._type, a.location.id, a.flags = C.cudaMemLocationTypeDevice, C.int(info.Guests[i]), C.cudaMemAccessFlagsProtReadWrite
			unsafe.Slice((*C.struct_cudaMemAccessDesc)(mem), n)[i] = a
		}
		p.accessDescs = (*C.struct_cudaMemAccessDesc)(mem)
	}
	return give(to, p, err)
}

//export cudaGraphAddMemFreeNode
func cudaGraphAddMemFreeNode(to, graph, deps C.uintptr_t, n C.size_t, addr C.uintptr_t) C.int {
	return addNode(to, graph, deps, n, cuda.FreeNode(uint64(addr)), cuda.Success)
}

//export cudaGraphMemFreeNodeGetParams
func cudaGraphMemFreeNodeGetParams(node, to C.uintptr_t) C.int {
	info, err := nodeOf(node, to, cuda.NodeFree)
	return give(to, C.uintptr_t(info.Addr), err)
}

//export cudaDeviceGetGraphMemAttribute
func cudaDeviceGetGraphMemAttribute(device, which C.int, to C.uintptr_t) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	v, err := thread().GraphMemory(int(device), cuda.GraphMemoryAttribute(which))
	return give(to, v, err)
}

//export cudaDeviceSetGraphMemAttribute
func cudaDeviceSetGraphMemAttribute(device, which C.int, from C.uintptr_t) C.int {
	if err := need(from); err != cuda.Success {
		return C.int(err)
	}
	return C.int(thread().SetGraphMemory(int(device), cuda.GraphMemoryAttribute(which), *at[uint64](from)))
}

//export cudaDeviceGraphMemTrim
func cudaDeviceGraphMemTrim(device C.int) C.int { return C.int(thread().TrimGraphMemory(int(device))) }

// nodeParams are the parameters of a node of any kind, cudaGraphNodeParams and
// CUgraphNodeParams, up to those of its kind.
type nodeParams struct {
	kind     int32
	reserved [3]int32
	part     struct{} // what the functions of the kind take
}

// readers are the functions that read a node's parameters in one of the APIs.
type readers struct {
	kernel, copy func(C.uintptr_t) (cuda.Work, cuda.Error)
}

// The parameters of a copy follow its flags and context, in both APIs.
var runtimeReaders = readers{kernelNode, func(p C.uintptr_t) (cuda.Work, cuda.Error) { return copyNode(p + 16) }}

// conditionalParams is cudaConditionalNodeParams.
type conditionalParams struct {
	handle uint64
	kind   int32
	size   uint32
	bodies uintptr // stored by the call: an array of the library's
}

// anyNode reads the parameters of a node of any kind.
func (r readers) anyNode(params C.uintptr_t) (cuda.Work, cuda.Error) {
	if err := need(params); err != cuda.Success {
		return nil, err
	}
	part := params + C.uintptr_t(unsafe.Offsetof(nodeParams{}.part))
	first := func() uint64 { return uint64(*at[uintptr](part)) }
	switch kind := cuda.NodeKind(at[nodeParams](params).kind); kind {
	case cuda.NodeKernel:
		return r.kernel(part)
	case cuda.NodeCopy:
		return r.copy(part)
	case cuda.NodeFill:
		return fillNode(part)
	case cuda.NodeHost:
		return hostNode(part)
	case cuda.NodeGraph:
		return cuda.ChildNode(first()), cuda.Success
	case cuda.NodeEmpty:
		return cuda.EmptyNode(), cuda.Success
	case cuda.NodeEventWait, cuda.NodeEventRecord:
		return cuda.EventNode(first(), kind), cuda.Success
	case cuda.NodeAlloc:
		return allocNode(part)
	case cuda.NodeFree:
		return cuda.FreeNode(first()), cuda.Success
	case cuda.NodeMemory:
		return memoryNode(part)
	case cuda.NodeConditional:
		c := at[conditionalParams](part)
		return cuda.ConditionalNode(c.handle, cuda.ConditionalKind(c.kind), c.size), cuda.Success
	}
	return nil, thread().Check(false)
}

// add adds a node of any kind, and stores what the call returns about it.
func (r readers) add(to, graph, deps C.uintptr_t, n C.size_t, params C.uintptr_t) C.int {
	w, err := r.anyNode(params)
	if res := addNode(to, graph, deps, n, w, err); res != 0 {
		return res
	}
	node := *at[C.uintptr_t](to)
	part := params + C.uintptr_t(unsafe.Offsetof(nodeParams{}.part))
	switch cuda.NodeKind(at[nodeParams](params).kind) {
	case cuda.NodeAlloc:
		return giveAddress(node, part)
	case cuda.NodeConditional:
		info, err := thread().NodeInfo(uint64(node))
		mem := keep(uint64(node), 8*uintptr(len(info.Bodies)))
		copy(unsafe.Slice((*uint64)(mem), len(info.Bodies)), info.Bodies)
		return give(part+C.uintptr_t(unsafe.Offsetof(conditionalParams{}.bodies)), C.uintptr_t(uintptr(mem)), err)
	}
	return 0
}

// set changes the work of a node of any kind, or of its copy in an executable graph. Memory
// and conditions cannot be changed.
func (r readers) set(exec, node, params C.uintptr_t) C.int {
	if err := need(params); err != cuda.Success {
		return C.int(err)
	}
	switch cuda.NodeKind(at[nodeParams](params).kind) {
	case cuda.NodeAlloc, cuda.NodeFree, cuda.NodeConditional:
		return C.int(thread().Unsupported("changing a node that allocates or frees memory, or that is a condition"))
	}
	w, err := r.anyNode(params)
	return setNode(exec, node, w, err)
}

// heddleAddNode is cudaGraphAddNode.
//
//export heddleAddNode
func heddleAddNode(to, graph, deps C.uintptr_t, n C.size_t, params C.uintptr_t) C.int {
	return runtimeReaders.add(to, graph, deps, n, params)
}

//export cudaGraphNodeSetParams
func cudaGraphNodeSetParams(node, params C.uintptr_t) C.int {
	return runtimeReaders.set(0, node, params)
}

//export cudaGraphExecNodeSetParams
func cudaGraphExecNodeSetParams(exec, node, params C.uintptr_t) C.int {
	if err := need(exec); err != cuda.Success {
		return C.int(err)
	}
	return runtimeReaders.set(exec, node, params)
}

//export cudaGraphMemcpyNodeSetParamsToSymbol
func cudaGraphMemcpyNodeSetParamsToSymbol(node, symbol, src C.uintptr_t, n, offset C.size_t, kind C.int) C.int {
	return setNode(0, node, cuda.SymbolNode(uint64(symbol), uint64(offset), uint64(src), uint64(n), cuda.Kind(kind), true), cuda.Success)
}

//export cudaGraphMemcpyNodeSetParamsFromSymbol
func cudaGraphMemcpyNodeSetParamsFromSymbol(node, dst, symbol C.uintptr_t, n, offset C.size_t, kind C.int) C.int {
	return setNode(0, node, cuda.SymbolNode(uint64(symbol), uint64(offset), uint64(dst), uint64(n), cuda.Kind(kind), false), cuda.Success)
}

//export cudaGraphExecMemcpyNodeSetParamsToSymbol
func cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, node, symbol, src C.uintptr_t, n, offset C.size_t, kind C.int) C.int {
	return inExec(exec, node, cuda.SymbolNode(uint64(symbol), uint64(offset), uint64(src), uint64(n), cuda.Kind(kind), true), cuda.Success)
}

//export cudaGraphExecMemcpyNodeSetParamsFromSymbol
func cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, node, dst, symbol C.uintptr_t, n, offset C.size_t, kind C.int) C.int {
	return inExec(exec, node, cuda.SymbolNode(uint64(symbol), uint64(offset), uint64(dst), uint64(n), cuda.Kind(kind), false), cuda.Success)
}

//export cudaGraphConditionalHandleCreate
func cudaGraphConditionalHandleCreate(to, graph C.uintptr_t, initial, flags C.uint) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	h, err := thread().ConditionCreate(uint64(graph), uint32(initial), uint32(flags))
	return give(to, h, err)
}

// instantiateParams is cudaGraphInstantiateParams.
type instantiateParams struct {
	flags  uint64
	stream uintptr // for an upload
	node   uintptr // that is wrong
	result int32   // 0 success, 1 another error, 2 a wrong structure, 3 not supported
}

//export cudaGraphInstantiateWithParams
func cudaGraphInstantiateWithParams(to, graph, params C.uintptr_t) C.int {
	if err := need(to, params); err != cuda.Success {
		return C.int(err)
	}
	p := at[instantiateParams](params)
	p.node, p.result = 0, 1
	res := cudaGraphInstantiateWithFlags(to, graph, C.ulonglong(p.flags))
	switch cuda.Error(res) {
	case cuda.Success:
		p.result = 0
	case cuda.InvalidValue:
		p.result = 2
	case cuda.NotSupported:
		p.result = 3
	}
	return res
}

//export cudaGraphExecGetFlags
func cudaGraphExecGetFlags(exec, to C.uintptr_t) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	flags, err := thread().ExecFlags(uint64(exec))
	return give(to, flags, err)
}

//export cudaGraphNodeSetEnabled
func cudaGraphNodeSetEnabled(exec, node C.uintptr_t, on C.uint) C.int {
	return C.int(thread().ExecEnable(uint64(exec), uint64(node), on != 0))
}

//export cudaGraphNodeGetEnabled
func cudaGraphNodeGetEnabled(exec, node, to C.uintptr_t) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	on, err := thread().ExecEnabled(uint64(exec), uint64(node))
	return give(to, C.uint(truth(on)), err)
}

// kernelAttribute returns the bytes of an attribute's value.
func kernelAttribute(which C.int, value C.uintptr_t) (cuda.KernelAttribute, []byte, cuda.Error) {
	a := cuda.KernelAttribute(which)
	if err := thread().Check(value != 0 && a.Bytes() > 0); err != cuda.Success {
		return 0, nil, err
	}
	return a, host{}.Bytes(uint64(value), uint64(a.Bytes())), cuda.Success
}

//export cudaGraphKernelNodeGetAttribute
func cudaGraphKernelNodeGetAttribute(node C.uintptr_t, which C.int, value C.uintptr_t) C.int {
	a, to, err := kernelAttribute(which, value)
	if err == cuda.Success {
		err = thread().KernelNodeAttribute(uint64(node), a, to)
	}
	return C.int(err)
}

//export cudaGraphKernelNodeSetAttribute
func cudaGraphKernelNodeSetAttribute(node C.uintptr_t, which C.int, value C.uintptr_t) C.int {
	a, from, err := kernelAttribute(which, value)
	if err == cuda.Success {
		err = thread().SetKernelNodeAttribute(uint64(node), a, from)
	}
	return C.int(err)
}

//export cudaGraphKernelNodeCopyAttributes
func cudaGraphKernelNodeCopyAttributes(from, to C.uintptr_t) C.int {
	return C.int(thread().CopyKernelNodeAttributes(uint64(to), uint64(from)))
}

//export cudaGraphDebugDotPrint
func cudaGraphDebugDotPrint(graph, path C.uintptr_t, flags C.uint) C.int {
	if err := need(path); err != cuda.Success {
		return C.int(err)
	}
	dot, err := thread().GraphDot(uint64(graph))
	if err == cuda.Success && os.WriteFile(text(path), []byte(dot), 0o666) != nil {
		err = thread().Answer(cuda.FileNotFound)
	}
	return C.int(err)
}

//export cudaUserObjectCreate
func cudaUserObjectCreate(to, data, destroy C.uintptr_t, count, flags C.uint) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	h, err := thread().UserObjectCreate(uint64(data), uint64(destroy), uint64(count), uint32(flags))
	return give(to, C.uintptr_t(h), err)
}

//export cudaUserObjectRetain
func cudaUserObjectRetain(h C.uintptr_t, n C.uint) C.int {
	return C.int(thread().UserObjectRetain(uint64(h), uint64(n)))
}

//export cudaUserObjectRelease
func cudaUserObjectRelease(h C.uintptr_t, n C.uint) C.int {
	return C.int(thread().UserObjectRelease(uint64(h), uint64(n)))
}

//export cudaGraphRetainUserObject
func cudaGraphRetainUserObject(graph, h C.uintptr_t, n, flags C.uint) C.int {
	return C.int(thread().GraphRetain(uint64(graph), uint64(h), uint64(n), uint32(flags)))
}

//export cudaGraphReleaseUserObject
func cudaGraphReleaseUserObject(graph, h C.uintptr_t, n C.uint) C.int {
	return C.int(thread().GraphRelease(uint64(graph), uint64(h), uint64(n)))
}

//export cudaStreamBeginCaptureToGraph
func cudaStreamBeginCaptureToGraph(stream, graph, deps, data C.uintptr_t, n C.size_t, mode C.int) C.int {
	from, err := list(deps, n)
	if err != cuda.Success {
		return C.int(err)
	}
	return C.int(thread().BeginCaptureTo(uint64(stream), uint64(graph), from, cuda.CaptureMode(mode)))
}
