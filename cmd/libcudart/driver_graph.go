package main

/*
#include "host.h"
*/
import "C"

import "github.com/heddle-sim/heddle/internal/work/cuda"

// This file: graphs and captures. They are the runtime's, with different
// structs for nodes.

// driverKernelNode reads a CUDA_KERNEL_NODE_PARAMS; the one of CUDA 12 also has a
// context, which is ignored.
func driverKernelNode(params C.uintptr_t) (cuda.Work, cuda.Error) {
	if err := need(params); err != cuda.Success {
		return nil, err
	}
	p := at[C.CUDA_KERNEL_NODE_PARAMS](params)
	c := grid(p.gridDimX, p.gridDimY, p.gridDimZ, p.blockDimX, p.blockDimY, p.blockDimZ, p.sharedMemBytes, 0)
	buffer, arg, ok := given(C.uintptr_t(word(&p.kernelParams)), C.uintptr_t(word(&p.extra)))
	return cuda.KernelNode(uint64(word(&p._func)), c, false, func(n, offset int, to []byte) {
		switch {
		case arg != nil:
			arg(n, to)
		case offset <= len(buffer):
			copy(to, buffer[offset:])
		}
	}), thread().Check(ok)
}

//export cuGraphCreate
func cuGraphCreate(to C.uintptr_t, flags C.uint) C.int {
	return same(func() C.int { return cudaGraphCreate(to, flags) })
}

//export cuGraphDestroy
func cuGraphDestroy(h C.uintptr_t) C.int { return same(func() C.int { return cudaGraphDestroy(h) }) }

//export cuGraphClone
func cuGraphClone(to, h C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphClone(to, h) })
}

//export cuGraphNodeFindInClone
func cuGraphNodeFindInClone(to, node, clone C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphNodeFindInClone(to, node, clone) })
}

//export cuGraphAddKernelNode
func cuGraphAddKernelNode(to, graph, deps C.uintptr_t, n C.size_t, params C.uintptr_t) C.int {
	return same(func() C.int {
		w, err := driverKernelNode(params)
		return addNode(to, graph, deps, n, w, err)
	})
}

//export cuGraphAddKernelNode_v2
func cuGraphAddKernelNode_v2(to, graph, deps C.uintptr_t, n C.size_t, params C.uintptr_t) C.int {
	return cuGraphAddKernelNode(to, graph, deps, n, params)
}

//export cuGraphKernelNodeSetParams
func cuGraphKernelNodeSetParams(node, params C.uintptr_t) C.int {
	return same(func() C.int {
		w, err := driverKernelNode(params)
		return setNode(0, node, w, err)
	})
}

//export cuGraphKernelNodeSetParams_v2
func cuGraphKernelNodeSetParams_v2(node, params C.uintptr_t) C.int {
	return cuGraphKernelNodeSetParams(node, params)
}

//export cuGraphExecKernelNodeSetParams
func cuGraphExecKernelNodeSetParams(exec, node, params C.uintptr_t) C.int {
	return same(func() C.int {
		w, err := driverKernelNode(params)
		return inExec(exec, node, w, err)
	})
}

//export cuGraphExecKernelNodeSetParams_v2
func cuGraphExecKernelNodeSetParams_v2(exec, node, params C.uintptr_t) C.int {
	return cuGraphExecKernelNodeSetParams(exec, node, params)
}

// driverCopyNode reads a CUDA_MEMCPY3D.
func driverCopyNode(params C.uintptr_t) (cuda.Work, cuda.Error) {
	if err := need(params); err != cuda.Success {
		return nil, err
	}
	p := at[C.CUDA_MEMCPY3D](params)
	if p.srcMemoryType == C.CU_MEMORYTYPE_ARRAY || p.dstMemoryType == C.CU_MEMORYTYPE_ARRAY {
		return nil, thread().Unsupported("a copy of arrays in a graph")
	}
	c := cuda.Rows{Width: uint64(p.WidthInBytes), Height: uint64(p.Height), Depth: uint64(p.Depth)}
	src := side(p.srcMemoryType, word(&p.srcHost), uintptr(p.srcDevice), 0, p.srcXInBytes, p.srcY, p.srcZ, p.srcPitch, p.srcHeight, p.WidthInBytes)
	dst := side(p.dstMemoryType, word(&p.dstHost), uintptr(p.dstDevice), 0, p.dstXInBytes, p.dstY, p.dstZ, p.dstPitch, p.dstHeight, p.WidthInBytes)
	const most = 1 << 20 // limit of the start row and plane of a copy, so that products fit
	ok := src.Y <= most && src.Z <= most && dst.Y <= most && dst.Z <= most && src.Pitch <= 1<<24 && dst.Pitch <= 1<<24 || src.Y|src.Z|dst.Y|dst.Z == 0
	first := func(s cuda.Side) uint64 { return s.Addr + s.X + s.Y*s.Pitch + s.Z*s.Plane }
	c.SrcPitch, c.SrcPlane, c.DstPitch, c.DstPlane = src.Pitch, src.Plane, dst.Pitch, dst.Plane
	return cuda.CopyNode(first(dst), first(src), c, direction(p.dstMemoryType, p.srcMemoryType)), thread().Check(ok)
}

//export cuGraphAddMemcpyNode
func cuGraphAddMemcpyNode(to, graph, deps C.uintptr_t, n C.size_t, params, ctx C.uintptr_t) C.int {
	return same(func() C.int {
		w, err := driverCopyNode(params)
		return addNode(to, graph, deps, n, w, err)
	})
}

//export cuGraphMemcpyNodeSetParams
func cuGraphMemcpyNodeSetParams(node, params C.uintptr_t) C.int {
	return same(func() C.int {
		w, err := driverCopyNode(params)
		return setNode(0, node, w, err)
	})
}

//export cuGraphExecMemcpyNodeSetParams
func cuGraphExecMemcpyNodeSetParams(exec, node, params, ctx C.uintptr_t) C.int {
	return same(func() C.int {
		w, err := driverCopyNode(params)
		return inExec(exec, node, w, err)
	})
}

// The structs of fills and host calls are the same in both APIs.

//export cuGraphAddMemsetNode
func cuGraphAddMemsetNode(to, graph, deps C.uintptr_t, n C.size_t, params, ctx C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphAddMemsetNode(to, graph, deps, n, params) })
}

//export cuGraphMemsetNodeGetParams
func cuGraphMemsetNodeGetParams(node, to C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphMemsetNodeGetParams(node, to) })
}

//export cuGraphMemsetNodeSetParams
func cuGraphMemsetNodeSetParams(node, params C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphMemsetNodeSetParams(node, params) })
}

//export cuGraphExecMemsetNodeSetParams
func cuGraphExecMemsetNodeSetParams(exec, node, params, ctx C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphExecMemsetNodeSetParams(exec, node, params) })
}

//export cuGraphAddHostNode
func cuGraphAddHostNode(to, graph, deps C.uintptr_t, n C.size_t, params C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphAddHostNode(to, graph, deps, n, params) })
}

//export cuGraphHostNodeGetParams
func cuGraphHostNodeGetParams(node, to C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphHostNodeGetParams(node, to) })
}

//export cuGraphHostNodeSetParams
func cuGraphHostNodeSetParams(node, params C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphHostNodeSetParams(node, params) })
}

//export cuGraphExecHostNodeSetParams
func cuGraphExecHostNodeSetParams(exec, node, params C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphExecHostNodeSetParams(exec, node, params) })
}

//export cuGraphAddChildGraphNode
func cuGraphAddChildGraphNode(to, graph, deps C.uintptr_t, n C.size_t, child C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphAddChildGraphNode(to, graph, deps, n, child) })
}

//export cuGraphChildGraphNodeGetGraph
func cuGraphChildGraphNodeGetGraph(node, to C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphChildGraphNodeGetGraph(node, to) })
}

//export cuGraphExecChildGraphNodeSetParams
func cuGraphExecChildGraphNodeSetParams(exec, node, child C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphExecChildGraphNodeSetParams(exec, node, child) })
}

//export cuGraphAddEmptyNode
func cuGraphAddEmptyNode(to, graph, deps C.uintptr_t, n C.size_t) C.int {
	return same(func() C.int { return cudaGraphAddEmptyNode(to, graph, deps, n) })
}

//export cuGraphAddEventRecordNode
func cuGraphAddEventRecordNode(to, graph, deps C.uintptr_t, n C.size_t, event C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphAddEventRecordNode(to, graph, deps, n, event) })
}

//export cuGraphAddEventWaitNode
func cuGraphAddEventWaitNode(to, graph, deps C.uintptr_t, n C.size_t, event C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphAddEventWaitNode(to, graph, deps, n, event) })
}

//export cuGraphEventRecordNodeGetEvent
func cuGraphEventRecordNodeGetEvent(node, to C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphEventRecordNodeGetEvent(node, to) })
}

//export cuGraphEventRecordNodeSetEvent
func cuGraphEventRecordNodeSetEvent(node, event C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphEventRecordNodeSetEvent(node, event) })
}

//export cuGraphEventWaitNodeGetEvent
func cuGraphEventWaitNodeGetEvent(node, to C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphEventWaitNodeGetEvent(node, to) })
}

//export cuGraphEventWaitNodeSetEvent
func cuGraphEventWaitNodeSetEvent(node, event C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphEventWaitNodeSetEvent(node, event) })
}

//export cuGraphExecEventRecordNodeSetEvent
func cuGraphExecEventRecordNodeSetEvent(exec, node, event C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphExecEventRecordNodeSetEvent(exec, node, event) })
}

//export cuGraphExecEventWaitNodeSetEvent
func cuGraphExecEventWaitNodeSetEvent(exec, node, event C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphExecEventWaitNodeSetEvent(exec, node, event) })
}

//export cuGraphNodeGetType
func cuGraphNodeGetType(node, to C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphNodeGetType(node, to) })
}

//export cuGraphGetNodes
func cuGraphGetNodes(graph, to, n C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphGetNodes(graph, to, n) })
}

//export cuGraphGetRootNodes
func cuGraphGetRootNodes(graph, to, n C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphGetRootNodes(graph, to, n) })
}

//export cuGraphGetEdges
func cuGraphGetEdges(graph, from, to, n C.uintptr_t) C.int {
	return same(func() C.int { return heddleEdges(graph, from, to, n) })
}

//export cuGraphNodeGetDependencies
func cuGraphNodeGetDependencies(node, to, n C.uintptr_t) C.int {
	return same(func() C.int { return heddleNeighbours(node, to, n, 0) })
}

//export cuGraphNodeGetDependentNodes
func cuGraphNodeGetDependentNodes(node, to, n C.uintptr_t) C.int {
	return same(func() C.int { return heddleNeighbours(node, to, n, 1) })
}

//export cuGraphAddDependencies
func cuGraphAddDependencies(graph, from, to C.uintptr_t, n C.size_t) C.int {
	return same(func() C.int { return heddleConnect(graph, from, to, n, 1) })
}

//export cuGraphRemoveDependencies
func cuGraphRemoveDependencies(graph, from, to C.uintptr_t, n C.size_t) C.int {
	return same(func() C.int { return heddleConnect(graph, from, to, n, 0) })
}

//export cuGraphDestroyNode
func cuGraphDestroyNode(node C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphDestroyNode(node) })
}

//export cuGraphInstantiate
func cuGraphInstantiate(to, graph, node, log C.uintptr_t, n C.size_t) C.int {
	return same(func() C.int { return heddleInstantiate(to, graph, node, log, n) })
}

//export cuGraphInstantiate_v2
func cuGraphInstantiate_v2(to, graph, node, log C.uintptr_t, n C.size_t) C.int {
	return cuGraphInstantiate(to, graph, node, log, n)
}

//export cuGraphInstantiateWithFlags
func cuGraphInstantiateWithFlags(to, graph C.uintptr_t, flags C.ulonglong) C.int {
	return same(func() C.int { return cudaGraphInstantiateWithFlags(to, graph, flags) })
}

//export cuGraphUpload
func cuGraphUpload(exec, stream C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphUpload(exec, stream) })
}

//export cuGraphLaunch
func cuGraphLaunch(exec, stream C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphLaunch(exec, stream) })
}

//export cuGraphExecDestroy
func cuGraphExecDestroy(exec C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphExecDestroy(exec) })
}

//export cuGraphExecUpdate
func cuGraphExecUpdate(exec, graph, node, result C.uintptr_t) C.int {
	return same(func() C.int { return heddleUpdate(exec, graph, node, result) })
}

//export cuGraphExecUpdate_v2
func cuGraphExecUpdate_v2(exec, graph, info C.uintptr_t) C.int {
	return same(func() C.int { return heddleUpdateInfo(exec, graph, info) })
}

// Captures.

//export cuStreamBeginCapture
func cuStreamBeginCapture(stream C.uintptr_t) C.int { return cuStreamBeginCapture_v2(stream, 0) }

//export cuStreamBeginCapture_v2
func cuStreamBeginCapture_v2(stream C.uintptr_t, mode C.int) C.int {
	return same(func() C.int { return cudaStreamBeginCapture(stream, mode) })
}

//export cuStreamEndCapture
func cuStreamEndCapture(stream, to C.uintptr_t) C.int {
	return same(func() C.int { return cudaStreamEndCapture(stream, to) })
}

//export cuStreamIsCapturing
func cuStreamIsCapturing(stream, to C.uintptr_t) C.int {
	return same(func() C.int { return cudaStreamIsCapturing(stream, to) }, to)
}

//export cuStreamGetCaptureInfo
func cuStreamGetCaptureInfo(stream, status, id C.uintptr_t) C.int {
	return cuStreamGetCaptureInfo_v2(stream, status, id, 0, 0, 0)
}

//export cuStreamGetCaptureInfo_v2
func cuStreamGetCaptureInfo_v2(stream, status, id, graph, nodes, n C.uintptr_t) C.int {
	return same(func() C.int { return cudaStreamGetCaptureInfo_v2(stream, status, id, graph, nodes, n) }, status)
}

//export cuThreadExchangeStreamCaptureMode
func cuThreadExchangeStreamCaptureMode(mode C.uintptr_t) C.int {
	return same(func() C.int { return cudaThreadExchangeStreamCaptureMode(mode) })
}
