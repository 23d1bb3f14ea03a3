package micro

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/heddle-sim/heddle/internal/trace"
)

// This file: dynamic_trace.pb, the messages Trace, gpu_device, cuda_stream,
// kernel and dim3d.

// run is the message Trace.
type run struct {
	name     string
	arch     int32
	nvbit    string
	version  int32
	gathered bool
	devices  []device
}

type device struct {
	key     int64
	id      uint32
	streams []stream
}

type stream struct {
	key     int64
	kernels []kernel
	events  []string
}

// kernel is a launch.
type kernel struct {
	id, function          int32
	name                  string
	shared, registers     int32
	sharedBase, localBase uint64
	grid, block           trace.Dim
}

func getDim(b []byte) (d trace.Dim, err error) {
	err = each(b, func(f field) error {
		if f.num >= 1 && f.num <= 3 && f.number(f.num) {
			if f.value > math.MaxInt32 {
				return fmt.Errorf("an extent or index of %d is out of range", int64(f.value))
			}
			d[f.num-1] = uint32(f.value)
		}
		return nil
	})
	return d, err
}

func putDim(d trace.Dim) (b []byte) {
	for i, v := range d {
		b = putNumber(b, protowire.Number(i+1), uint64(v))
	}
	return b
}

func getKernel(b []byte) (k kernel, err error) {
	err = each(b, func(f field) (err error) {
		switch {
		case f.number(1):
			k.id = int32(f.value)
		case f.message(2):
			k.name = string(f.bytes)
		case f.number(3):
			k.function = int32(f.value)
		case f.number(4):
			k.shared = int32(f.value)
		case f.number(5):
			k.registers = int32(f.value)
		case f.number(6):
			k.sharedBase = f.value
		case f.number(7):
			k.localBase = f.value
		case f.message(8):
			k.grid, err = getDim(f.bytes)
		case f.message(9):
			k.block, err = getDim(f.bytes)
		}
		return err
	})
	return k, err
}

// signed returns a number as stored in a field: sign-extended to 64 bits.
func signed(v int32) uint64 { return uint64(int64(v)) }

func (k *kernel) put() (b []byte) {
	b = putNumber(b, 1, signed(k.id))
	b = putText(b, 2, k.name)
	b = putNumber(b, 3, signed(k.function))
	b = putNumber(b, 4, signed(k.shared))
	b = putNumber(b, 5, signed(k.registers))
	b = putNumber(b, 6, k.sharedBase)
	b = putNumber(b, 7, k.localBase)
	b = putBytes(b, 8, putDim(k.grid))
	return putBytes(b, 9, putDim(k.block))
}

func getStream(key int64, b []byte) (s stream, err error) {
	s.key = key
	err = each(b, func(f field) error {
		switch {
		case f.message(2):
			k, err := getKernel(f.bytes)
			if err != nil {
				return fmt.Errorf("launch %d: %w", len(s.kernels)+1, err)
			}
			s.kernels = append(s.kernels, k)
		case f.message(3):
			s.events = append(s.events, string(f.bytes))
		}
		return nil
	})
	return s, err
}

func (s *stream) put() (b []byte) {
	b = putNumber(b, 1, uint64(s.key))
	for i := range s.kernels {
		b = putBytes(b, 2, s.kernels[i].put())
	}
	for _, e := range s.events {
		b = putBytes(b, 3, []byte(e))
	}
	return b
}

func getDevice(key int64, b []byte) (d device, err error) {
	d.key = key
	err = each(b, func(f field) error {
		switch {
		case f.number(1):
			d.id = uint32(f.value)
		case f.message(2):
			key, v, err := entry(f.bytes)
			if err != nil {
				return err
			}
			s, err := getStream(key, v)
			if err != nil {
				return fmt.Errorf("stream %d: %w", key, err)
			}
			d.streams = append(d.streams, s)
		}
		return nil
	})
	// A map has no order. The order of keys is always the same.
	slices.SortStableFunc(d.streams, func(a, b stream) int { return cmp.Compare(a.key, b.key) })
	return d, err
}

func (d *device) put() (b []byte) {
	b = putNumber(b, 1, uint64(d.id))
	for i := range d.streams {
		b = putEntry(b, 2, d.streams[i].key, d.streams[i].put())
	}
	return b
}

func getRun(b []byte) (r run, err error) {
	err = each(b, func(f field) error {
		switch {
		case f.message(1):
			r.name = string(f.bytes)
		case f.number(2):
			r.arch = int32(f.value)
		case f.message(3):
			r.nvbit = string(f.bytes)
		case f.number(4):
			r.version = int32(f.value)
		case f.number(5):
			r.gathered = f.value != 0
		case f.message(6):
			key, v, err := entry(f.bytes)
			if err != nil {
				return err
			}
			d, err := getDevice(key, v)
			if err != nil {
				return fmt.Errorf("device %d: %w", key, err)
			}
			r.devices = append(r.devices, d)
		}
		return nil
	})
	slices.SortStableFunc(r.devices, func(a, b device) int { return cmp.Compare(a.key, b.key) })
	return r, err
}

func (r *run) put() (b []byte) {
	b = putText(b, 1, r.name)
	b = putNumber(b, 2, signed(r.arch))
	b = putText(b, 3, r.nvbit)
	b = putNumber(b, 4, signed(r.version))
	if r.gathered {
		b = putNumber(b, 5, 1)
	}
	for i := range r.devices {
		b = putEntry(b, 6, r.devices[i].key, r.devices[i].put())
	}
	return b
}
