package main

/*
#include "host.h"
*/
import "C"

import (
	"encoding/binary"
	"fmt"
	"os"

	"github.com/heddle-sim/heddle/internal/binary/fatbin"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// This file: the functions that a program's constructors call before main, and those that
// kernel stubs call.

// maxLinked limits the fat binaries of one program that are linked together, our choice.
const maxLinked = 1 << 16

// fatBinaries returns the fat binaries that a wrapper points to.
func fatBinaries(wrapper C.uintptr_t) ([][]byte, error) {
	if wrapper == 0 {
		return nil, fmt.Errorf("no fat binary")
	}
	le, w := binary.LittleEndian, host{}.Bytes(uint64(wrapper), fatbin.WrapperBytes)
	if m := le.Uint32(w); m != fatbin.WrapperMagic {
		return nil, fmt.Errorf("fat binary: its wrapper begins with 0x%08x; want 0x%08x", m, uint32(fatbin.WrapperMagic))
	}
	var list [][]byte
	add := func(addr uint64) error {
		n, err := fatbin.Block(host{}.Bytes(addr, fatbin.HeaderBytes))
		if err == nil {
			list = append(list, cuda.Readable(host{}.Bytes(addr, uint64(n)))) // the size may be wrong
		}
		return err
	}
	if version := le.Uint32(w[4:]); version != 2 {
		return list, add(le.Uint64(w[8:]))
	}
	array := le.Uint64(w[16:])
	for i := range uint64(maxLinked) {
		addr := le.Uint64(host{}.Bytes(array+8*i, 8))
		if addr == 0 {
			break
		}
		if err := add(addr); err != nil {
			return nil, err
		}
	}
	return list, nil
}

//export __cudaRegisterFatBinary
func __cudaRegisterFatBinary(wrapper C.uintptr_t) C.uintptr_t {
	list, err := fatBinaries(wrapper)
	if err != nil {
		fmt.Fprintf(os.Stderr, "heddle: %v\n", err)
	}
	return C.uintptr_t(runtime().Register(list...))
}

//export __cudaRegisterFatBinaryEnd
func __cudaRegisterFatBinaryEnd(handle C.uintptr_t) { runtime().InitManaged(uint64(handle)) }

//export heddleUnregister
func heddleUnregister(handle C.uintptr_t) { runtime().Unregister(uint64(handle)) }

//export __cudaRegisterFunction
func __cudaRegisterFunction(handle, hostFn, deviceFn, name C.uintptr_t, limit C.int, tid, bid, bdim, gdim, wsize C.uintptr_t) {
	runtime().RegisterFunction(uint64(handle), uint64(hostFn), text(name))
}

//export __cudaRegisterVar
func __cudaRegisterVar(handle, hostVar, deviceAddr, name C.uintptr_t, ext C.int, size C.size_t, constant, global C.int) {
	runtime().RegisterVariable(uint64(handle), uint64(hostVar), text(name), uint64(size))
}

//export __cudaRegisterManagedVar
func __cudaRegisterManagedVar(handle, hostPointer, deviceAddr, name C.uintptr_t, ext C.int, size C.size_t, constant, global C.int) {
	runtime().RegisterManaged(uint64(handle), uint64(hostPointer), text(name), uint64(size))
}

// Code of NVIDIA's compiler calls this before it uses a managed variable.
//
//export __cudaInitModule
func __cudaInitModule(handle C.uintptr_t) C.char {
	if runtime().InitManaged(uint64(handle)) {
		return 1
	}
	return 0
}

// Our headers call this for the part of a program with managed variables, before any of
// them are registered.
//
//export __heddleRegisterManaged
func __heddleRegisterManaged(from, to C.uintptr_t) { runtime().ManagedSpan(uint64(from), uint64(to)) }

func dim(d C.dim3) cuda.Dim3 { return cuda.Dim3{X: uint32(d.x), Y: uint32(d.y), Z: uint32(d.z)} }

func toDim(d cuda.Dim3) C.dim3 { return C.dim3{x: C.uint(d.X), y: C.uint(d.Y), z: C.uint(d.Z)} }

//export __cudaPushCallConfiguration
func __cudaPushCallConfiguration(grid, block C.dim3, shared C.size_t, stream C.uintptr_t) C.uint {
	thread().Push(cuda.Call{Grid: dim(grid), Block: dim(block), Shared: uint64(shared), Stream: uint64(stream)})
	return 0
}

//export __cudaPopCallConfiguration
func __cudaPopCallConfiguration(grid, block, shared, stream C.uintptr_t) C.int {
	c, err := thread().Pop()
	if err == cuda.Success {
		put(grid, toDim(c.Grid))
		put(block, toDim(c.Block))
		put(shared, C.size_t(c.Shared))
		put(stream, C.uintptr_t(c.Stream))
	}
	return C.int(err)
}

func launch(fn C.uintptr_t, grid, block C.dim3, args C.uintptr_t, shared C.size_t, stream C.uintptr_t, cooperative bool) C.int {
	return launchCall(fn, cuda.Call{Grid: dim(grid), Block: dim(block), Shared: uint64(shared), Stream: uint64(stream)}, args, cooperative)
}

// launchCall launches the kernel of a host function, whose arguments lie where the
// words at args say.
func launchCall(fn C.uintptr_t, c cuda.Call, args C.uintptr_t, cooperative bool) C.int {
	return C.int(thread().Launch(uint64(fn), c, cooperative, func(n, _ int, to []byte) {
		at := binary.LittleEndian.Uint64(host{}.Bytes(uint64(args)+8*uint64(n), 8))
		copy(to, host{}.Bytes(at, uint64(len(to))))
	}))
}

//export cudaLaunchKernel
func cudaLaunchKernel(fn C.uintptr_t, grid, block C.dim3, args C.uintptr_t, shared C.size_t, stream C.uintptr_t) C.int {
	return launch(fn, grid, block, args, shared, stream, false)
}

//export cudaLaunchCooperativeKernel
func cudaLaunchCooperativeKernel(fn C.uintptr_t, grid, block C.dim3, args C.uintptr_t, shared C.size_t, stream C.uintptr_t) C.int {
	return launch(fn, grid, block, args, shared, stream, true)
}

// cudaLaunchConfig is the runtime's cudaLaunchConfig_t.
type cudaLaunchConfig struct {
	grid, block [3]uint32
	shared      uint64
	stream      uint64
	attributes  uint64
	n           uint32
}

//export cudaLaunchKernelExC
func cudaLaunchKernelExC(config, fn, args C.uintptr_t) C.int {
	c, cooperative, lacking, ok := launchConfig(config)
	if !ok {
		return C.int(thread().Check(false))
	}
	if lacking != "" {
		return C.int(thread().Unsupported("cudaLaunchKernelExC with " + lacking))
	}
	return launchCall(fn, c, args, cooperative)
}

// launchConfig reads a cudaLaunchConfig_t, as attributes does; ok is false if it is invalid.
func launchConfig(config C.uintptr_t) (c cuda.Call, cooperative bool, lacking string, ok bool) {
	if config == 0 {
		return c, false, "", false
	}
	l := at[cudaLaunchConfig](config)
	if l.n > maxAttributes || l.n > 0 && l.attributes == 0 {
		return c, false, "", false
	}
	c = cuda.Call{
		Grid: cuda.Dim3{X: l.grid[0], Y: l.grid[1], Z: l.grid[2]}, Block: cuda.Dim3{X: l.block[0], Y: l.block[1], Z: l.block[2]},
		Shared: l.shared, Stream: l.stream,
	}
	cooperative, lacking = attributes(&c, l.attributes, uint64(l.n))
	return c, cooperative, lacking, true
}

//export cudaOccupancyMaxActiveClusters
func cudaOccupancyMaxActiveClusters(to, fn, config C.uintptr_t) C.int {
	c, _, _, ok := launchConfig(config)
	if !ok || to == 0 {
		return C.int(thread().Check(false))
	}
	n, _, err := thread().Clusters(uint64(fn), c)
	return give(to, C.int(n), err)
}

//export cudaOccupancyMaxPotentialClusterSize
func cudaOccupancyMaxPotentialClusterSize(to, fn, config C.uintptr_t) C.int {
	c, _, _, ok := launchConfig(config)
	if !ok || to == 0 {
		return C.int(thread().Check(false))
	}
	c.Cluster = cuda.Dim3{}
	_, n, err := thread().Clusters(uint64(fn), c)
	return give(to, C.int(n), err)
}

// What the stubs of nvcc 12.8 and later call in place of cudaLaunchKernel. The handle
// of a kernel, a cudaKernel_t, is the host function that stands for it, so that it
// serves wherever one of them does.

//export __cudaGetKernel
func __cudaGetKernel(to, fn C.uintptr_t) C.int {
	if err := need(to, fn); err != cuda.Success {
		return C.int(err)
	}
	return give(to, fn, cuda.Success)
}

//export __cudaLaunchKernel
func __cudaLaunchKernel(kernel C.uintptr_t, grid, block C.dim3, args C.uintptr_t, shared C.size_t, stream C.uintptr_t) C.int {
	return cudaLaunchKernel(kernel, grid, block, args, shared, stream)
}

//export cudaConfigureCall
func cudaConfigureCall(grid, block C.dim3, shared C.size_t, stream C.uintptr_t) C.int {
	thread().Configure(cuda.Call{Grid: dim(grid), Block: dim(block), Shared: uint64(shared), Stream: uint64(stream)})
	return 0
}

//export cudaSetupArgument
func cudaSetupArgument(arg C.uintptr_t, size, offset C.size_t) C.int {
	if err := thread().Check(arg != 0 && size <= 1<<16); err != cuda.Success {
		return C.int(err)
	}
	return C.int(thread().Argument(host{}.Bytes(uint64(arg), uint64(size)), uint64(offset)))
}

//export cudaLaunch
func cudaLaunch(fn C.uintptr_t) C.int { return C.int(thread().LaunchConfigured(uint64(fn))) }
