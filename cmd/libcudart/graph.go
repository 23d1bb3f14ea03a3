package main

/*
#include <stdlib.h>
#include "host.h"
*/
import "C"

import (
	"encoding/binary"
	"sync"
	"unsafe"

	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// This file: graphs that programs build, and executable graphs.

// list returns n handles at an address of the host.
func list(addr C.uintptr_t, n C.size_t) ([]uint64, cuda.Error) {
	const most = 1 << 32
	if err := thread().Check(n == 0 || addr != 0 && n < most); err != cuda.Success || n == 0 {
		return nil, err
	}
	handles := make([]uint64, n)
	for i, h := range unsafe.Slice((*uintptr)(pointer(uint64(addr))), int(n)) {
		handles[i] = uint64(h)
	}
	return handles, cuda.Success
}

// giveList stores the handles that fit, followed by null; without a list it stores their
// number.
func giveList(to, n C.uintptr_t, handles []uint64, err cuda.Error) C.int {
	if err != cuda.Success {
		return C.int(err)
	}
	if err := need(n); err != cuda.Success {
		return C.int(err)
	}
	count := at[C.size_t](n)
	if to != 0 {
		room := unsafe.Slice((*uintptr)(pointer(uint64(to))), int(min(*count, 1<<32)))
		for i := range room {
			room[i] = 0
			if i < len(handles) {
				room[i] = uintptr(handles[i])
			}
		}
		*count = min(*count, C.size_t(len(handles)))
	} else {
		*count = C.size_t(len(handles))
	}
	return 0
}

//export cudaGraphCreate
func cudaGraphCreate(to C.uintptr_t, flags C.uint) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	h, err := thread().GraphCreate(uint32(flags))
	return give(to, C.uintptr_t(h), err)
}

//export cudaGraphDestroy
func cudaGraphDestroy(h C.uintptr_t) C.int {
	err := thread().GraphDestroy(uint64(h))
	forgetArguments()
	return C.int(err)
}

//export cudaGraphClone
func cudaGraphClone(to, h C.uintptr_t) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	c, err := thread().GraphClone(uint64(h))
	return give(to, C.uintptr_t(c), err)
}

// addNode adds a node of some kind.
func addNode(to, graph, deps C.uintptr_t, n C.size_t, what cuda.Work, err cuda.Error) C.int {
	if err == cuda.Success {
		err = need(to)
	}
	var from []uint64
	if err == cuda.Success {
		from, err = list(deps, n)
	}
	if err != cuda.Success {
		return C.int(err)
	}
	h, err := thread().GraphAdd(uint64(graph), from, what)
	return give(to, C.uintptr_t(h), err)
}

// setNode changes the work of a node, or of its copy in an executable graph.
func setNode(exec, node C.uintptr_t, what cuda.Work, err cuda.Error) C.int {
	if err != cuda.Success {
		return C.int(err)
	}
	if exec == 0 {
		return C.int(thread().NodeSet(uint64(node), what))
	}
	return C.int(thread().ExecSet(uint64(exec), uint64(node), what))
}

// inExec is setNode for calls with an executable graph.
func inExec(exec, node C.uintptr_t, what cuda.Work, err cuda.Error) C.int {
	if err == cuda.Success {
		err = need(exec)
	}
	return setNode(exec, node, what, err)
}

// The kinds of a launch's extra arguments (CUDA driver API, cuLaunchKernel).
const (
	extraEnd = iota
	extraBuffer
	extraSize
)

// kernelNode reads a cudaKernelNodeParams.
func kernelNode(params C.uintptr_t) (cuda.Work, cuda.Error) {
	if err := need(params); err != cuda.Success {
		return nil, err
	}
	p := at[C.struct_cudaKernelNodeParams](params)
	c := cuda.Call{Grid: dim(p.gridDim), Block: dim(p.blockDim), Shared: uint64(p.sharedMemBytes)}
	args, extra := uint64(word(&p.kernelParams)), uint64(word(&p.extra))
	words := func(addr uint64, n int) uint64 {
		return binary.LittleEndian.Uint64(host{}.Bytes(addr+8*uint64(n), 8))
	}
	arg := func(n, _ int, to []byte) {
		if args != 0 {
			copy(to, host{}.Bytes(words(args, n), uint64(len(to))))
		}
	}
	if args == 0 && extra != 0 {
		var buffer, size uint64
		for i := 0; words(extra, i) != extraEnd; i += 2 {
			switch words(extra, i) {
			case extraBuffer:
				buffer = words(extra, i+1)
			case extraSize:
				size = words(words(extra, i+1), 0)
			default:
				return nil, thread().Check(false)
			}
		}
		arg = func(_, offset int, to []byte) {
			if end := uint64(offset + len(to)); buffer != 0 && end <= size {
				copy(to, host{}.Bytes(buffer+uint64(offset), uint64(len(to))))
			}
		}
	}
	return cuda.KernelNode(uint64(word(&p._func)), c, false, arg), cuda.Success
}

//export cudaGraphAddKernelNode
func cudaGraphAddKernelNode(to, graph, deps C.uintptr_t, n C.size_t, params C.uintptr_t) C.int {
	w, err := kernelNode(params)
	return addNode(to, graph, deps, n, w, err)
}

//export cudaGraphKernelNodeSetParams
func cudaGraphKernelNodeSetParams(node, params C.uintptr_t) C.int {
	w, err := kernelNode(params)
	return setNode(0, node, w, err)
}

//export cudaGraphExecKernelNodeSetParams
func cudaGraphExecKernelNodeSetParams(exec, node, params C.uintptr_t) C.int {
	w, err := kernelNode(params)
	return inExec(exec, node, w, err)
}

// arguments are lists in C memory to which programs have pointers, by node. For a launch it
// has pointers to its arguments, followed by their values.
var (
	arguments   = map[uint64]unsafe.Pointer{}
	argumentsMu sync.Mutex
)

// argumentsOf returns the copy of a node's arguments.
func argumentsOf(node uint64, info *cuda.NodeInfo) unsafe.Pointer {
	n := 8 * len(info.Places)
	p := keep(node, uintptr(n+len(info.Params)))
	mem := unsafe.Slice((*byte)(p), n+len(info.Params))
	for i, at := range info.Places {
		binary.LittleEndian.PutUint64(mem[8*i:], uint64(uintptr(p))+uint64(n+at[0]))
	}
	copy(mem[n:], info.Params)
	return p
}

// keep returns n bytes of zeros in C memory that stay as long as a node, or until the next
// call for it.
func keep(node uint64, n uintptr) unsafe.Pointer {
	argumentsMu.Lock()
	defer argumentsMu.Unlock()
	C.free(arguments[node])
	p := C.calloc(1, C.size_t(n+1))
	arguments[node] = p
	return p
}

// forgetArguments frees the copies of destroyed nodes.
func forgetArguments() {
	argumentsMu.Lock()
	defer argumentsMu.Unlock()
	for node, p := range arguments {
		if !thread().HasNode(node) {
			C.free(p)
			delete(arguments, node)
		}
	}
}

// nodeOf returns the work of a node of a given kind; the result pointer must not be null.
func nodeOf(node, to C.uintptr_t, kind cuda.NodeKind) (info cuda.NodeInfo, err cuda.Error) {
	if err = need(to); err == cuda.Success {
		info, err = thread().NodeInfo(uint64(node))
	}
	if err == cuda.Success {
		err = thread().Check(info.Kind == kind)
	}
	return info, err
}

//export cudaGraphKernelNodeGetParams
func cudaGraphKernelNodeGetParams(node, to C.uintptr_t) C.int {
	info, err := nodeOf(node, to, cuda.NodeKernel)
	if err != cuda.Success {
		return C.int(err)
	}
	return give(to, C.struct_cudaKernelNodeParams{
		_func: pointer(info.Kernel), gridDim: toDim(info.Call.Grid), blockDim: toDim(info.Call.Block),
		sharedMemBytes: C.uint(info.Call.Shared), kernelParams: (*unsafe.Pointer)(argumentsOf(uint64(node), &info)),
	}, err)
}

// copyNode reads a cudaMemcpy3DParms.
func copyNode(params C.uintptr_t) (cuda.Work, cuda.Error) {
	if err := need(params); err != cuda.Success {
		return nil, err
	}
	p := at[C.struct_cudaMemcpy3DParms](params)
	b, err := boxOf(p)
	if err != cuda.Success {
		return nil, err
	}
	return cuda.BoxNode(b, cuda.Kind(p.kind)), err
}

//export cudaGraphAddMemcpyNode
func cudaGraphAddMemcpyNode(to, graph, deps C.uintptr_t, n C.size_t, params C.uintptr_t) C.int {
	w, err := copyNode(params)
	return addNode(to, graph, deps, n, w, err)
}

//export cudaGraphMemcpyNodeSetParams
func cudaGraphMemcpyNodeSetParams(node, params C.uintptr_t) C.int {
	w, err := copyNode(params)
	return setNode(0, node, w, err)
}

//export cudaGraphExecMemcpyNodeSetParams
func cudaGraphExecMemcpyNodeSetParams(exec, node, params C.uintptr_t) C.int {
	w, err := copyNode(params)
	return inExec(exec, node, w, err)
}

//export cudaGraphMemcpyNodeGetParams
func cudaGraphMemcpyNodeGetParams(node, to C.uintptr_t) C.int {
	info, err := nodeOf(node, to, cuda.NodeCopy)
	if err != cuda.Success {
		return C.int(err)
	}
	c := &info.Rows
	side := func(addr, pitch, plane uint64) C.struct_cudaPitchedPtr {
		p := C.struct_cudaPitchedPtr{ptr: pointer(addr), pitch: C.size_t(pitch), xsize: C.size_t(c.Width), ysize: C.size_t(c.Height)}
		if pitch > 0 && plane > 0 {
			p.ysize = C.size_t(plane / pitch)
		}
		return p
	}
	return give(to, C.struct_cudaMemcpy3DParms{
		srcPtr: side(info.Src, c.SrcPitch, c.SrcPlane), dstPtr: side(info.Dst, c.DstPitch, c.DstPlane),
		extent: C.struct_cudaExtent{width: C.size_t(c.Width), height: C.size_t(c.Height), depth: C.size_t(c.Depth)}, kind: uint32(info.Direction),
	}, err)
}

func bytesNode(dst, src C.uintptr_t, n C.size_t, kind C.int) cuda.Work {
	return cuda.CopyBytesNode(uint64(dst), uint64(src), uint64(n), cuda.Kind(kind))
}

//export cudaGraphAddMemcpyNode1D
func cudaGraphAddMemcpyNode1D(to, graph, deps C.uintptr_t, n C.size_t, dst, src C.uintptr_t, bytes C.size_t, kind C.int) C.int {
	return addNode(to, graph, deps, n, bytesNode(dst, src, bytes, kind), cuda.Success)
}

//export cudaGraphMemcpyNodeSetParams1D
func cudaGraphMemcpyNodeSetParams1D(node, dst, src C.uintptr_t, bytes C.size_t, kind C.int) C.int {
	return setNode(0, node, bytesNode(dst, src, bytes, kind), cuda.Success)
}

//export cudaGraphExecMemcpyNodeSetParams1D
func cudaGraphExecMemcpyNodeSetParams1D(exec, node, dst, src C.uintptr_t, bytes C.size_t, kind C.int) C.int {
	return inExec(exec, node, bytesNode(dst, src, bytes, kind), cuda.Success)
}

//export cudaGraphAddMemcpyNodeToSymbol
func cudaGraphAddMemcpyNodeToSymbol(to, graph, deps C.uintptr_t, n C.size_t, symbol, src C.uintptr_t, bytes, offset C.size_t, kind C.int) C.int {
	return addNode(to, graph, deps, n, cuda.SymbolNode(uint64(symbol), uint64(offset), uint64(src), uint64(bytes), cuda.Kind(kind), true), cuda.Success)
}

//export cudaGraphAddMemcpyNodeFromSymbol
func cudaGraphAddMemcpyNodeFromSymbol(to, graph, deps C.uintptr_t, n C.size_t, dst, symbol C.uintptr_t, bytes, offset C.size_t, kind C.int) C.int {
	return addNode(to, graph, deps, n, cuda.SymbolNode(uint64(symbol), uint64(offset), uint64(dst), uint64(bytes), cuda.Kind(kind), false), cuda.Success)
}

// fillNode reads a cudaMemsetParams.
func fillNode(params C.uintptr_t) (cuda.Work, cuda.Error) {
	if err := need(params); err != cuda.Success {
		return nil, err
	}
	p := at[C.struct_cudaMemsetParams](params)
	value := binary.LittleEndian.AppendUint32(nil, uint32(p.value))
	ok := p.elementSize <= 4 && p.width <= 1<<40
	return cuda.FillNode(uint64(word(&p.dst)), value[:min(4, p.elementSize)], cuda.Rows{
		Width: uint64(p.width) * uint64(p.elementSize), Height: uint64(p.height), Depth: 1, DstPitch: uint64(p.pitch),
	}), thread().Check(ok)
}

//export cudaGraphAddMemsetNode
func cudaGraphAddMemsetNode(to, graph, deps C.uintptr_t, n C.size_t, params C.uintptr_t) C.int {
	w, err := fillNode(params)
	return addNode(to, graph, deps, n, w, err)
}

//export cudaGraphMemsetNodeSetParams
func cudaGraphMemsetNodeSetParams(node, params C.uintptr_t) C.int {
	w, err := fillNode(params)
	return setNode(0, node, w, err)
}

//export cudaGraphExecMemsetNodeSetParams
func cudaGraphExecMemsetNodeSetParams(exec, node, params C.uintptr_t) C.int {
	w, err := fillNode(params)
	return inExec(exec, node, w, err)
}

//export cudaGraphMemsetNodeGetParams
func cudaGraphMemsetNodeGetParams(node, to C.uintptr_t) C.int {
	info, err := nodeOf(node, to, cuda.NodeFill)
	if err != cuda.Success {
		return C.int(err)
	}
	size := len(info.Value)
	return give(to, C.struct_cudaMemsetParams{
		dst: pointer(info.Dst), pitch: C.size_t(info.Rows.DstPitch), elementSize: C.uint(size),
		value: C.uint(binary.LittleEndian.Uint32(append(append([]byte{}, info.Value...), 0, 0, 0))),
		width: C.size_t(info.Rows.Width / uint64(size)), height: C.size_t(info.Rows.Height),
	}, err)
}

// hostNode reads a cudaHostNodeParams.
func hostNode(params C.uintptr_t) (cuda.Work, cuda.Error) {
	if err := need(params); err != cuda.Success {
		return nil, err
	}
	p := at[C.struct_cudaHostNodeParams](params)
	return cuda.HostNode(uint64(word(&p.fn)), uint64(word(&p.userData))), cuda.Success
}

//export cudaGraphAddHostNode
func cudaGraphAddHostNode(to, graph, deps C.uintptr_t, n C.size_t, params C.uintptr_t) C.int {
	w, err := hostNode(params)
	return addNode(to, graph, deps, n, w, err)
}

//export cudaGraphHostNodeSetParams
func cudaGraphHostNodeSetParams(node, params C.uintptr_t) C.int {
	w, err := hostNode(params)
	return setNode(0, node, w, err)
}

//export cudaGraphExecHostNodeSetParams
func cudaGraphExecHostNodeSetParams(exec, node, params C.uintptr_t) C.int {
	w, err := hostNode(params)
	return inExec(exec, node, w, err)
}

//export cudaGraphHostNodeGetParams
func cudaGraphHostNodeGetParams(node, to C.uintptr_t) C.int {
	info, err := nodeOf(node, to, cuda.NodeHost)
	type params struct{ fn, data uintptr } // cudaHostNodeParams
	return give(to, params{uintptr(info.Fn), uintptr(info.Data)}, err)
}

//export cudaGraphAddChildGraphNode
func cudaGraphAddChildGraphNode(to, graph, deps C.uintptr_t, n C.size_t, child C.uintptr_t) C.int {
	return addNode(to, graph, deps, n, cuda.ChildNode(uint64(child)), cuda.Success)
}

//export cudaGraphExecChildGraphNodeSetParams
func cudaGraphExecChildGraphNodeSetParams(exec, node, child C.uintptr_t) C.int {
	return inExec(exec, node, cuda.ChildNode(uint64(child)), cuda.Success)
}

//export cudaGraphChildGraphNodeGetGraph
func cudaGraphChildGraphNodeGetGraph(node, to C.uintptr_t) C.int {
	info, err := nodeOf(node, to, cuda.NodeGraph)
	return give(to, C.uintptr_t(info.Graph), err)
}

//export cudaGraphAddEmptyNode
func cudaGraphAddEmptyNode(to, graph, deps C.uintptr_t, n C.size_t) C.int {
	return addNode(to, graph, deps, n, cuda.EmptyNode(), cuda.Success)
}

func eventNode(h C.uintptr_t, kind cuda.NodeKind) cuda.Work { return cuda.EventNode(uint64(h), kind) }

//export cudaGraphAddEventRecordNode
func cudaGraphAddEventRecordNode(to, graph, deps C.uintptr_t, n C.size_t, event C.uintptr_t) C.int {
	return addNode(to, graph, deps, n, eventNode(event, cuda.NodeEventRecord), cuda.Success)
}

//export cudaGraphAddEventWaitNode
func cudaGraphAddEventWaitNode(to, graph, deps C.uintptr_t, n C.size_t, event C.uintptr_t) C.int {
	return addNode(to, graph, deps, n, eventNode(event, cuda.NodeEventWait), cuda.Success)
}

//export cudaGraphEventRecordNodeSetEvent
func cudaGraphEventRecordNodeSetEvent(node, event C.uintptr_t) C.int {
	return setNode(0, node, eventNode(event, cuda.NodeEventRecord), cuda.Success)
}

//export cudaGraphEventWaitNodeSetEvent
func cudaGraphEventWaitNodeSetEvent(node, event C.uintptr_t) C.int {
	return setNode(0, node, eventNode(event, cuda.NodeEventWait), cuda.Success)
}

//export cudaGraphExecEventRecordNodeSetEvent
func cudaGraphExecEventRecordNodeSetEvent(exec, node, event C.uintptr_t) C.int {
	return inExec(exec, node, eventNode(event, cuda.NodeEventRecord), cuda.Success)
}

//export cudaGraphExecEventWaitNodeSetEvent
func cudaGraphExecEventWaitNodeSetEvent(exec, node, event C.uintptr_t) C.int {
	return inExec(exec, node, eventNode(event, cuda.NodeEventWait), cuda.Success)
}

//export cudaGraphEventRecordNodeGetEvent
func cudaGraphEventRecordNodeGetEvent(node, to C.uintptr_t) C.int {
	info, err := nodeOf(node, to, cuda.NodeEventRecord)
	return give(to, C.uintptr_t(info.Event), err)
}

//export cudaGraphEventWaitNodeGetEvent
func cudaGraphEventWaitNodeGetEvent(node, to C.uintptr_t) C.int {
	info, err := nodeOf(node, to, cuda.NodeEventWait)
	return give(to, C.uintptr_t(info.Event), err)
}

// heddleConnect adds edges between nodes, pair by pair, or removes them.
//
//export heddleConnect
func heddleConnect(graph, from, to C.uintptr_t, n C.size_t, yes C.int) C.int {
	a, err := list(from, n)
	if err != cuda.Success {
		return C.int(err)
	}
	b, err := list(to, n)
	if err != cuda.Success {
		return C.int(err)
	}
	return C.int(thread().GraphConnect(uint64(graph), a, b, yes != 0))
}

//export cudaGraphGetNodes
func cudaGraphGetNodes(graph, to, n C.uintptr_t) C.int {
	handles, err := thread().GraphNodes(uint64(graph), false)
	return giveList(to, n, handles, err)
}

//export cudaGraphGetRootNodes
func cudaGraphGetRootNodes(graph, to, n C.uintptr_t) C.int {
	handles, err := thread().GraphNodes(uint64(graph), true)
	return giveList(to, n, handles, err)
}

// heddleEdges implements cudaGraphGetEdges.
//
//export heddleEdges
func heddleEdges(graph, from, to, n C.uintptr_t) C.int {
	a, b, err := thread().GraphEdges(uint64(graph))
	if err == cuda.Success {
		err = thread().Check((from == 0) == (to == 0) && n != 0)
	}
	if err == cuda.Success && from != 0 {
		count := *at[C.size_t](n)
		giveList(from, n, a, err)
		put(n, count)
	}
	return giveList(to, n, b, err)
}

//export cudaGraphNodeGetType
func cudaGraphNodeGetType(node, to C.uintptr_t) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	info, err := thread().NodeInfo(uint64(node))
	return give(to, C.int(info.Kind), err)
}

// heddleNeighbours returns the nodes that a node waits for, or those that wait for it.
//
//export heddleNeighbours
func heddleNeighbours(node, to, n C.uintptr_t, after C.int) C.int {
	info, err := thread().NodeInfo(uint64(node))
	if after != 0 {
		return giveList(to, n, info.After, err)
	}
	return giveList(to, n, info.Before, err)
}

//export cudaGraphNodeFindInClone
func cudaGraphNodeFindInClone(to, node, clone C.uintptr_t) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	h, err := thread().NodeInClone(uint64(node), uint64(clone))
	return give(to, C.uintptr_t(h), err)
}

//export cudaGraphDestroyNode
func cudaGraphDestroyNode(node C.uintptr_t) C.int {
	err := thread().NodeDestroy(uint64(node))
	forgetArguments()
	return C.int(err)
}

// heddleInstantiate implements cudaGraphInstantiate up to CUDA 11. node and log would
// describe errors in the graph; the only possible one is a cycle.
//
//export heddleInstantiate
func heddleInstantiate(to, graph, node, log C.uintptr_t, n C.size_t) C.int {
	if node != 0 {
		put(node, C.uintptr_t(0))
	}
	if log != 0 && n > 0 {
		put(log, C.char(0))
	}
	return cudaGraphInstantiateWithFlags(to, graph, 0)
}

//export cudaGraphInstantiateWithFlags
func cudaGraphInstantiateWithFlags(to, graph C.uintptr_t, flags C.ulonglong) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	h, err := thread().GraphInstantiate(uint64(graph), uint64(flags))
	return give(to, C.uintptr_t(h), err)
}

//export cudaGraphUpload
func cudaGraphUpload(exec, stream C.uintptr_t) C.int {
	return C.int(thread().ExecUpload(uint64(exec), uint64(stream)))
}

//export cudaGraphLaunch
func cudaGraphLaunch(exec, stream C.uintptr_t) C.int {
	return C.int(thread().ExecLaunch(uint64(exec), uint64(stream)))
}

//export cudaGraphExecDestroy
func cudaGraphExecDestroy(exec C.uintptr_t) C.int { return C.int(thread().ExecDestroy(uint64(exec))) }

// heddleUpdate implements cudaGraphExecUpdate up to CUDA 11.
//
//export heddleUpdate
func heddleUpdate(exec, graph, node, result C.uintptr_t) C.int {
	if err := need(result); err != cuda.Success {
		return C.int(err)
	}
	res, at, err := thread().ExecUpdate(uint64(exec), uint64(graph))
	if node != 0 {
		put(node, C.uintptr_t(at))
	}
	put(result, C.int(res))
	return C.int(err)
}

// heddleUpdateInfo implements cudaGraphExecUpdate from CUDA 12 on.
//
//export heddleUpdateInfo
func heddleUpdateInfo(exec, graph, info C.uintptr_t) C.int {
	if err := need(info); err != cuda.Success {
		return C.int(err)
	}
	res, at, err := thread().ExecUpdate(uint64(exec), uint64(graph))
	put(info, C.struct_cudaGraphExecUpdateResultInfo{result: uint32(res)})
	put(info+C.uintptr_t(unsafe.Offsetof(C.struct_cudaGraphExecUpdateResultInfo{}.errorNode)), C.uintptr_t(at))
	return C.int(err)
}
