package main

/*
#include "host.h"
*/
import "C"

import (
	"fmt"
	"os"

	"github.com/heddle-sim/heddle/internal/work/cuda"
	"github.com/heddle-sim/heddle/internal/work/cuda/integrity"
)

// This file: the functions of the driver's private tables, which exporttable.c describes.

//export cuGetExportTable
func cuGetExportTable(to, id C.uintptr_t) C.int {
	if to == 0 || id == 0 {
		return C.int(cuda.ResultInvalidValue)
	}
	table := C.heddle_export_table(id)
	put(to, table)
	if table == 0 {
		return C.int(driver().Unsupported(fmt.Sprintf("the private table %X of the driver", host{}.Bytes(uint64(id), 16))))
	}
	return 0
}

//export heddleLoadWrapped
func heddleLoadWrapped(module, image C.uintptr_t) C.int {
	return loadData(false, module, image, 0, 0, 0)
}

//export heddlePrimary
func heddlePrimary(to C.uintptr_t, dev C.int) C.int {
	return ask(func() cuda.Result {
		h, res := driver().Primary(int32(dev))
		back(to, C.uintptr_t(h), res)
		return res
	}, to)
}

//export heddleSetLocal
func heddleSetLocal(context, key, value, left C.uintptr_t) C.int {
	var gone func()
	if left != 0 {
		gone = func() { C.heddle_left(left, context, key, value) }
	}
	return ask(func() cuda.Result { return driver().SetLocal(uint64(context), uint64(key), uint64(value), gone) })
}

//export heddleDeleteLocal
func heddleDeleteLocal(context, key C.uintptr_t) C.int {
	return ask(func() cuda.Result { return driver().DeleteLocal(uint64(context), uint64(key)) })
}

//export heddleLocal
func heddleLocal(to, context, key C.uintptr_t) C.int {
	return ask(func() cuda.Result {
		v, res := driver().Local(uint64(context), uint64(key))
		back(to, C.uintptr_t(v), res)
		return res
	}, to)
}

//export heddleIntegrity
func heddleIntegrity(version C.uint32_t, seconds C.uint64_t, answer C.uintptr_t, caller C.uint32_t, runtimeTable, table, function C.uintptr_t) C.int {
	return ask(func() cuda.Result {
		n, err := thread().Devices()
		if err != cuda.Success {
			return err.Result()
		}
		devices := make([]integrity.Device, n)
		for i := range devices {
			p, ok := runtime().PropertiesOf(i)
			if !ok {
				return cuda.ResultInvalidDevice
			}
			devices[i] = integrity.Device{UUID: p.UUID(), Bus: int32(p.Index)}
		}
		put(answer, integrity.Answer(integrity.Question{
			Version: uint32(version), Seconds: uint64(seconds), Driver: cuda.DriverVersion, Process: uint32(os.Getpid()), Thread: uint32(caller),
			Runtime: uint64(runtimeTable), Table: uint64(table), Function: uint64(function),
		}, devices))
		return cuda.ResultSuccess
	}, answer)
}
