package main

/*
#include "host.h"
*/
import "C"

import (
	"unsafe"

	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// This file: the driver's calls of graphnode.go, which are the runtime's except for structs,
// and values that streams and nodes write to memory or wait for.

var driverReaders = readers{driverKernelNode, func(p C.uintptr_t) (cuda.Work, cuda.Error) { return driverCopyNode(p + 16) }}

// ofDevice is same for a call of a device, which needs no context.
func ofDevice(f func() C.int) C.int {
	return ask(func() cuda.Result { return cuda.Error(f()).Result() })
}

//export cuGraphAddMemAllocNode
func cuGraphAddMemAllocNode(to, graph, deps C.uintptr_t, n C.size_t, params C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphAddMemAllocNode(to, graph, deps, n, params) })
}

//export cuGraphMemAllocNodeGetParams
func cuGraphMemAllocNodeGetParams(node, to C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphMemAllocNodeGetParams(node, to) })
}

//export cuGraphAddMemFreeNode
func cuGraphAddMemFreeNode(to, graph, deps C.uintptr_t, n C.size_t, addr C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphAddMemFreeNode(to, graph, deps, n, addr) })
}

//export cuGraphMemFreeNodeGetParams
func cuGraphMemFreeNodeGetParams(node, to C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphMemFreeNodeGetParams(node, to) })
}

//export cuDeviceGetGraphMemAttribute
func cuDeviceGetGraphMemAttribute(dev, which C.int, to C.uintptr_t) C.int {
	return ofDevice(func() C.int { return cudaDeviceGetGraphMemAttribute(dev, which, to) })
}

//export cuDeviceSetGraphMemAttribute
func cuDeviceSetGraphMemAttribute(dev, which C.int, from C.uintptr_t) C.int {
	return ofDevice(func() C.int { return cudaDeviceSetGraphMemAttribute(dev, which, from) })
}

//export cuDeviceGraphMemTrim
func cuDeviceGraphMemTrim(dev C.int) C.int {
	return ofDevice(func() C.int { return cudaDeviceGraphMemTrim(dev) })
}

//export cuGraphAddNode
func cuGraphAddNode(to, graph, deps C.uintptr_t, n C.size_t, params C.uintptr_t) C.int {
	return same(func() C.int { return driverReaders.add(to, graph, deps, n, params) })
}

//export cuGraphAddNode_v2
func cuGraphAddNode_v2(to, graph, deps, data C.uintptr_t, n C.size_t, params C.uintptr_t) C.int {
	return cuGraphAddNode(to, graph, deps, n, params)
}

//export cuGraphNodeSetParams
func cuGraphNodeSetParams(node, params C.uintptr_t) C.int {
	return same(func() C.int { return driverReaders.set(0, node, params) })
}

//export cuGraphExecNodeSetParams
func cuGraphExecNodeSetParams(exec, node, params C.uintptr_t) C.int {
	return same(func() C.int { return driverReaders.set(exec, node, params) }, exec)
}

// driverKernelParams is CUDA_KERNEL_NODE_PARAMS of CUDA 12; that of 11 ends before kern.
type driverKernelParams struct {
	fn          uintptr
	grid, block [3]uint32
	shared      uint32
	args, extra uintptr
	kern, ctx   uintptr
}

// kernelParams stores the parameters of a kernel's node, n bytes of them.
func kernelParams(node, to C.uintptr_t, n uintptr) C.int {
	return same(func() C.int {
		info, err := nodeOf(node, to, cuda.NodeKernel)
		if err != cuda.Success {
			return C.int(err)
		}
		g, b := info.Call.Grid, info.Call.Block
		p := driverKernelParams{
			fn: uintptr(info.Kernel), grid: [3]uint32{g.X, g.Y, g.Z}, block: [3]uint32{b.X, b.Y, b.Z}, shared: uint32(info.Call.Shared),
			args: uintptr(argumentsOf(uint64(node), &info)),
		}
		copy(host{}.Bytes(uint64(to), uint64(n)), unsafe.Slice((*byte)(unsafe.Pointer(&p)), n))
		return 0
	})
}

//export cuGraphKernelNodeGetParams
func cuGraphKernelNodeGetParams(node, to C.uintptr_t) C.int {
	return kernelParams(node, to, unsafe.Offsetof(driverKernelParams{}.kern))
}

//export cuGraphKernelNodeGetParams_v2
func cuGraphKernelNodeGetParams_v2(node, to C.uintptr_t) C.int {
	return kernelParams(node, to, unsafe.Sizeof(driverKernelParams{}))
}

//export cuGraphMemcpyNodeGetParams
func cuGraphMemcpyNodeGetParams(node, to C.uintptr_t) C.int {
	return same(func() C.int {
		info, err := nodeOf(node, to, cuda.NodeCopy)
		if err != cuda.Success {
			return C.int(err)
		}
		c := &info.Rows
		p := C.CUDA_MEMCPY3D{
			srcMemoryType: C.CU_MEMORYTYPE_UNIFIED, srcDevice: C.CUdeviceptr(info.Src), srcPitch: C.size_t(c.SrcPitch),
			dstMemoryType: C.CU_MEMORYTYPE_UNIFIED, dstDevice: C.CUdeviceptr(info.Dst), dstPitch: C.size_t(c.DstPitch),
			WidthInBytes: C.size_t(c.Width), Height: C.size_t(c.Height), Depth: C.size_t(c.Depth),
		}
		if c.SrcPitch > 0 {
			p.srcHeight = C.size_t(c.SrcPlane / c.SrcPitch)
		}
		if c.DstPitch > 0 {
			p.dstHeight = C.size_t(c.DstPlane / c.DstPitch)
		}
		return give(to, p, err)
	})
}

//export cuGraphConditionalHandleCreate
func cuGraphConditionalHandleCreate(to, graph, ctx C.uintptr_t, initial, flags C.uint) C.int {
	return same(func() C.int { return cudaGraphConditionalHandleCreate(to, graph, initial, flags) })
}

//export cuGraphInstantiateWithParams
func cuGraphInstantiateWithParams(to, graph, params C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphInstantiateWithParams(to, graph, params) })
}

//export cuGraphExecGetFlags
func cuGraphExecGetFlags(exec, to C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphExecGetFlags(exec, to) })
}

//export cuGraphNodeSetEnabled
func cuGraphNodeSetEnabled(exec, node C.uintptr_t, on C.uint) C.int {
	return same(func() C.int { return cudaGraphNodeSetEnabled(exec, node, on) })
}

//export cuGraphNodeGetEnabled
func cuGraphNodeGetEnabled(exec, node, to C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphNodeGetEnabled(exec, node, to) })
}

//export cuGraphKernelNodeGetAttribute
func cuGraphKernelNodeGetAttribute(node C.uintptr_t, which C.int, value C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphKernelNodeGetAttribute(node, which, value) })
}

//export cuGraphKernelNodeSetAttribute
func cuGraphKernelNodeSetAttribute(node C.uintptr_t, which C.int, value C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphKernelNodeSetAttribute(node, which, value) })
}

//export cuGraphKernelNodeCopyAttributes
func cuGraphKernelNodeCopyAttributes(to, from C.uintptr_t) C.int {
	return same(func() C.int { return cudaGraphKernelNodeCopyAttributes(from, to) })
}

//export cuGraphDebugDotPrint
func cuGraphDebugDotPrint(graph, path C.uintptr_t, flags C.uint) C.int {
	return same(func() C.int { return cudaGraphDebugDotPrint(graph, path, flags) })
}

//export cuUserObjectCreate
func cuUserObjectCreate(to, data, destroy C.uintptr_t, count, flags C.uint) C.int {
	return same(func() C.int { return cudaUserObjectCreate(to, data, destroy, count, flags) })
}

//export cuUserObjectRetain
func cuUserObjectRetain(h C.uintptr_t, n C.uint) C.int {
	return same(func() C.int { return cudaUserObjectRetain(h, n) })
}

//export cuUserObjectRelease
func cuUserObjectRelease(h C.uintptr_t, n C.uint) C.int {
	return same(func() C.int { return cudaUserObjectRelease(h, n) })
}

//export cuGraphRetainUserObject
func cuGraphRetainUserObject(graph, h C.uintptr_t, n, flags C.uint) C.int {
	return same(func() C.int { return cudaGraphRetainUserObject(graph, h, n, flags) })
}

//export cuGraphReleaseUserObject
func cuGraphReleaseUserObject(graph, h C.uintptr_t, n C.uint) C.int {
	return same(func() C.int { return cudaGraphReleaseUserObject(graph, h, n) })
}

//export cuStreamBeginCaptureToGraph
func cuStreamBeginCaptureToGraph(stream, graph, deps, data C.uintptr_t, n C.size_t, mode C.int) C.int {
	return same(func() C.int { return cudaStreamBeginCaptureToGraph(stream, graph, deps, data, n, mode) })
}

//export cuStreamUpdateCaptureDependencies
func cuStreamUpdateCaptureDependencies(stream, nodes C.uintptr_t, n C.size_t, flags C.uint) C.int {
	return same(func() C.int { return heddleTail(stream, nodes, n, flags) })
}

//export cuStreamUpdateCaptureDependencies_v2
func cuStreamUpdateCaptureDependencies_v2(stream, nodes, data C.uintptr_t, n C.size_t, flags C.uint) C.int {
	return cuStreamUpdateCaptureDependencies(stream, nodes, n, flags)
}

// Numbers of graphs and nodes. A node has a number in its graph, from 0 in order of creation.

//export cuGraphGetId
func cuGraphGetId(graph, to C.uintptr_t) C.int {
	return same(func() C.int {
		_, err := thread().GraphNodes(uint64(graph), true)
		return give(to, C.uint(graph), err)
	}, to)
}

//export cuGraphExecGetId
func cuGraphExecGetId(exec, to C.uintptr_t) C.int {
	return same(func() C.int {
		_, err := thread().ExecFlags(uint64(exec))
		return give(to, C.uint(exec), err)
	}, to)
}

// nodePlace runs a call about a node's graph and its number there.
func nodePlace(node, to C.uintptr_t, f func(graph uint64, number int) cuda.Error) C.int {
	return in(func(t *cuda.Thread) cuda.Error {
		graph, number, err := t.NodePlace(uint64(node))
		if err != cuda.Success {
			return err
		}
		return f(graph, number)
	}, to)
}

//export cuGraphNodeGetContainingGraph
func cuGraphNodeGetContainingGraph(node, to C.uintptr_t) C.int {
	return nodePlace(node, to, func(graph uint64, _ int) cuda.Error { put(to, C.uintptr_t(graph)); return cuda.Success })
}

//export cuGraphNodeGetLocalId
func cuGraphNodeGetLocalId(node, to C.uintptr_t) C.int {
	return nodePlace(node, to, func(_ uint64, number int) cuda.Error { put(to, C.uint(number)); return cuda.Success })
}

//export cuGraphNodeGetToolsId
func cuGraphNodeGetToolsId(node, to C.uintptr_t) C.int {
	return nodePlace(node, to, func(uint64, int) cuda.Error { put(to, C.ulonglong(node)); return cuda.Success })
}

// cuLaunchHostFunc_v2 says how the stream waits for the function, which has no effect here.
//
//export cuLaunchHostFunc_v2
func cuLaunchHostFunc_v2(h, fn, data C.uintptr_t, mode C.uint) C.int {
	return cuLaunchHostFunc(h, fn, data)
}

// Values in memory.

// memoryOp is CUstreamBatchMemOpParams: the kind, and what a write or a wait has.
type memoryOp struct {
	kind        int32
	addr, value uint64
	flags       uint32
	_           [2]uint64
}

// memoryOps reads n operations.
func memoryOps(from C.uintptr_t, n C.uint) ([]cuda.MemoryOp, cuda.Error) {
	const most = 256 // operations in a call
	if err := thread().Check(n <= most && (n == 0 || from != 0)); err != cuda.Success {
		return nil, err
	}
	ops := make([]cuda.MemoryOp, n)
	for i := range ops {
		p := at[memoryOp](from + C.uintptr_t(i)*C.uintptr_t(unsafe.Sizeof(memoryOp{})))
		ops[i] = cuda.MemoryOp{Kind: cuda.MemoryOpKind(p.kind), Addr: p.addr, Value: p.value, Flags: p.flags}
		if k := ops[i].Kind; k == cuda.FlushRemote || k == cuda.MemoryOpBarrier {
			ops[i] = cuda.MemoryOp{Kind: k}
		}
	}
	return ops, cuda.Success
}

//export cuStreamBatchMemOp
func cuStreamBatchMemOp(stream C.uintptr_t, n C.uint, from C.uintptr_t, flags C.uint) C.int {
	return in(func(t *cuda.Thread) cuda.Error {
		ops, err := memoryOps(from, n)
		if err == cuda.Success {
			err = t.Check(flags == 0)
		}
		if err != cuda.Success {
			return err
		}
		return t.MemoryOps(uint64(stream), ops)
	})
}

//export cuStreamBatchMemOp_v2
func cuStreamBatchMemOp_v2(stream C.uintptr_t, n C.uint, from C.uintptr_t, flags C.uint) C.int {
	return cuStreamBatchMemOp(stream, n, from, flags)
}

// single runs one operation of a stream.
func single(stream C.uintptr_t, kind cuda.MemoryOpKind, addr, value C.ulonglong, flags C.uint) C.int {
	return in(func(t *cuda.Thread) cuda.Error {
		return t.MemoryOps(uint64(stream), []cuda.MemoryOp{{Kind: kind, Addr: uint64(addr), Value: uint64(value), Flags: uint32(flags)}})
	})
}

//export cuStreamWaitValue32
func cuStreamWaitValue32(stream C.uintptr_t, addr C.ulonglong, value, flags C.uint) C.int {
	return single(stream, cuda.WaitWord, addr, C.ulonglong(value), flags)
}

//export cuStreamWaitValue64
func cuStreamWaitValue64(stream C.uintptr_t, addr, value C.ulonglong, flags C.uint) C.int {
	return single(stream, cuda.WaitLong, addr, value, flags)
}

//export cuStreamWriteValue32
func cuStreamWriteValue32(stream C.uintptr_t, addr C.ulonglong, value, flags C.uint) C.int {
	return single(stream, cuda.WriteWord, addr, C.ulonglong(value), flags)
}

//export cuStreamWriteValue64
func cuStreamWriteValue64(stream C.uintptr_t, addr, value C.ulonglong, flags C.uint) C.int {
	return single(stream, cuda.WriteLong, addr, value, flags)
}

//export cuStreamWaitValue32_v2
func cuStreamWaitValue32_v2(stream C.uintptr_t, addr C.ulonglong, value, flags C.uint) C.int {
	return cuStreamWaitValue32(stream, addr, value, flags)
}

//export cuStreamWaitValue64_v2
func cuStreamWaitValue64_v2(stream C.uintptr_t, addr, value C.ulonglong, flags C.uint) C.int {
	return cuStreamWaitValue64(stream, addr, value, flags)
}

//export cuStreamWriteValue32_v2
func cuStreamWriteValue32_v2(stream C.uintptr_t, addr C.ulonglong, value, flags C.uint) C.int {
	return cuStreamWriteValue32(stream, addr, value, flags)
}

//export cuStreamWriteValue64_v2
func cuStreamWriteValue64_v2(stream C.uintptr_t, addr, value C.ulonglong, flags C.uint) C.int {
	return cuStreamWriteValue64(stream, addr, value, flags)
}

// memoryParams is CUDA_BATCH_MEM_OP_NODE_PARAMS.
type memoryParams struct {
	ctx   uintptr
	count uint32
	ops   uintptr
	flags uint32
}

func memoryNode(params C.uintptr_t) (cuda.Work, cuda.Error) {
	if err := need(params); err != cuda.Success {
		return nil, err
	}
	p := at[memoryParams](params)
	ops, err := memoryOps(C.uintptr_t(p.ops), C.uint(p.count))
	if err == cuda.Success {
		err = thread().Check(p.flags == 0)
	}
	return cuda.MemoryNode(ops), err
}

//export cuGraphAddBatchMemOpNode
func cuGraphAddBatchMemOpNode(to, graph, deps C.uintptr_t, n C.size_t, params C.uintptr_t) C.int {
	return same(func() C.int {
		w, err := memoryNode(params)
		return addNode(to, graph, deps, n, w, err)
	})
}

//export cuGraphBatchMemOpNodeSetParams
func cuGraphBatchMemOpNodeSetParams(node, params C.uintptr_t) C.int {
	return same(func() C.int {
		w, err := memoryNode(params)
		return setNode(0, node, w, err)
	})
}

//export cuGraphExecBatchMemOpNodeSetParams
func cuGraphExecBatchMemOpNodeSetParams(exec, node, params C.uintptr_t) C.int {
	return same(func() C.int {
		w, err := memoryNode(params)
		return inExec(exec, node, w, err)
	})
}

//export cuGraphBatchMemOpNodeGetParams
func cuGraphBatchMemOpNodeGetParams(node, to C.uintptr_t) C.int {
	return same(func() C.int {
		info, err := nodeOf(node, to, cuda.NodeMemory)
		if err != cuda.Success {
			return C.int(err)
		}
		n := len(info.Ops)
		mem := keep(uint64(node), uintptr(n)*unsafe.Sizeof(memoryOp{}))
		for i, o := range info.Ops {
			unsafe.Slice((*memoryOp)(mem), n)[i] = memoryOp{kind: int32(o.Kind), addr: o.Addr, value: o.Value, flags: o.Flags}
		}
		return give(to, memoryParams{count: uint32(n), ops: uintptr(mem)}, err)
	})
}
