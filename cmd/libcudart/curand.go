package main

// #include "host.h"
import "C"

import "github.com/heddle-sim/heddle/internal/libs/rand"

// This file: the host interface of cuRAND.

// inRand runs a call with a generator.
func inRand(h C.uintptr_t, f func(c rand.Call) rand.Status) C.int {
	c, s := rand.Of(thread(), uint64(h))
	if s == rand.Success {
		s = f(c)
	}
	return C.int(s)
}

// giveRand stores a result. A null pointer is an error.
func giveRand[T any](addr C.uintptr_t, v T) rand.Status {
	if addr == 0 || !put(addr, v) {
		return rand.OutOfRange
	}
	return rand.Success
}

func createGenerator(to C.uintptr_t, kind C.int, host bool) C.int {
	if to == 0 {
		return C.int(rand.OutOfRange)
	}
	h, s := rand.Create(thread(), rand.Kind(kind), host)
	if s == rand.Success {
		s = giveRand(to, C.uintptr_t(h))
	}
	return C.int(s)
}

//export curandCreateGenerator
func curandCreateGenerator(to C.uintptr_t, kind C.int) C.int { return createGenerator(to, kind, false) }

//export curandCreateGeneratorHost
func curandCreateGeneratorHost(to C.uintptr_t, kind C.int) C.int {
	return createGenerator(to, kind, true)
}

//export curandDestroyGenerator
func curandDestroyGenerator(h C.uintptr_t) C.int { return C.int(rand.Destroy(thread(), uint64(h))) }

//export curandGetVersion
func curandGetVersion(to C.uintptr_t) C.int { return C.int(giveRand(to, C.int(rand.Version))) }

//export curandGetProperty
func curandGetProperty(which C.int, to C.uintptr_t) C.int {
	if v, ok := versionPart(rand.Version, which); ok {
		return C.int(giveRand(to, v))
	}
	return C.int(rand.OutOfRange)
}

//export curandSetStream
func curandSetStream(h, stream C.uintptr_t) C.int {
	return inRand(h, func(c rand.Call) rand.Status { return c.SetStream(uint64(stream)) })
}

//export curandSetPseudoRandomGeneratorSeed
func curandSetPseudoRandomGeneratorSeed(h C.uintptr_t, seed C.ulonglong) C.int {
	return inRand(h, func(c rand.Call) rand.Status { return c.SetSeed(uint64(seed)) })
}

//export curandSetGeneratorOffset
func curandSetGeneratorOffset(h C.uintptr_t, offset C.ulonglong) C.int {
	return inRand(h, func(c rand.Call) rand.Status { return c.SetOffset(uint64(offset)) })
}

//export curandSetGeneratorOrdering
func curandSetGeneratorOrdering(h C.uintptr_t, ordering C.int) C.int {
	return inRand(h, func(c rand.Call) rand.Status { return c.SetOrdering(int32(ordering)) })
}

//export curandSetQuasiRandomGeneratorDimensions
func curandSetQuasiRandomGeneratorDimensions(h C.uintptr_t, n C.uint) C.int {
	return inRand(h, func(c rand.Call) rand.Status { return c.SetDimensions(uint32(n)) })
}

//export curandGenerateSeeds
func curandGenerateSeeds(h C.uintptr_t) C.int {
	return inRand(h, func(c rand.Call) rand.Status { return c.Seed() })
}

func generate(h C.uintptr_t, d rand.Distribution, to C.uintptr_t, n C.size_t) C.int {
	return inRand(h, func(c rand.Call) rand.Status { return c.Generate(d, uint64(to), uint64(n)) })
}

//export curandGenerate
func curandGenerate(h, to C.uintptr_t, n C.size_t) C.int { return generate(h, rand.Bits(), to, n) }

//export curandGenerateLongLong
func curandGenerateLongLong(h, to C.uintptr_t, n C.size_t) C.int {
	return generate(h, rand.LongBits(), to, n)
}

//export curandGenerateUniform
func curandGenerateUniform(h, to C.uintptr_t, n C.size_t) C.int {
	return generate(h, rand.Uniform(), to, n)
}

//export curandGenerateUniformDouble
func curandGenerateUniformDouble(h, to C.uintptr_t, n C.size_t) C.int {
	return generate(h, rand.UniformDouble(), to, n)
}

//export curandGenerateNormal
func curandGenerateNormal(h, to C.uintptr_t, n C.size_t, mean, deviation C.float) C.int {
	return generate(h, rand.Normal(float64(mean), float64(deviation)), to, n)
}

//export curandGenerateNormalDouble
func curandGenerateNormalDouble(h, to C.uintptr_t, n C.size_t, mean, deviation C.double) C.int {
	return generate(h, rand.NormalDouble(float64(mean), float64(deviation)), to, n)
}

//export curandGenerateLogNormal
func curandGenerateLogNormal(h, to C.uintptr_t, n C.size_t, mean, deviation C.float) C.int {
	return generate(h, rand.LogNormal(float64(mean), float64(deviation)), to, n)
}

//export curandGenerateLogNormalDouble
func curandGenerateLogNormalDouble(h, to C.uintptr_t, n C.size_t, mean, deviation C.double) C.int {
	return generate(h, rand.LogNormalDouble(float64(mean), float64(deviation)), to, n)
}

//export curandGeneratePoisson
func curandGeneratePoisson(h, to C.uintptr_t, n C.size_t, lambda C.double) C.int {
	return generate(h, rand.Poisson(float64(lambda)), to, n)
}

//export heddleRandMissing
func heddleRandMissing(name *C.char) C.int { return C.int(rand.Missing(thread(), C.GoString(name))) }
