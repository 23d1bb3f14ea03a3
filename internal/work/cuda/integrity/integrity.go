// Package integrity answers the question by which NVIDIA's runtime, where a program contains it (nvcc -cudart static),
// tests that it can work with a driver: a checksum of numbers that both know. Without the answer all calls of such a
// program fail with cudaErrorSoftwareValidityNotEstablished, whose description in the CUDA runtime API manual says
// that there are such tests.
//
// What is known of it, the key too, comes from the sources of ZLUDA (github.com/vosen/ZLUDA, dark_api/src/lib.rs), which
// lets programs run on other GPUs. The runtimes of CUDA 11.8 and 12.4 accept the answers given here. The checksum is a
// keyed digest (RFC 2104) with MD2 (RFC 1319).
package integrity

import (
	"crypto/hmac"
	"encoding/binary"
	"hash"
)

// Question is what the runtime and the driver know of each other.
type Question struct {
	Version  uint32 // which the runtime gives; its last decimal digit says what kind of answer it wants
	Seconds  uint64 // of the clock, by the runtime
	Driver   uint32 // the version of the driver
	Process  uint32
	Thread   uint32 // the lower half of pthread_self
	Runtime  uint64 // address of the table for the runtime
	Table    uint64 // address of the table with the function that answers
	Function uint64 // address of that function
}

// Device is what the answer contains of each device.
type Device struct {
	UUID              [16]byte
	Domain, Bus, Slot int32 // its place on the PCI bus
}

// key is the key of the digest.
var key = []byte{0x14, 0x6a, 0xdd, 0xae, 0x53, 0xa9, 0xa7, 0x52, 0xaa, 0x08, 0x41, 0x36, 0x0b, 0xf5, 0x5a, 0x9f}

// fixed are the answers to versions that end with 0 and 1.
var fixed = [2][2]uint64{{0x3341181c03cb675c, 0x8ed383aa1f4cd1e8}, {0x1841181c03cb675c, 0x8ed383aa1f4cd1e8}}

// Answer returns the driver's answer about its devices.
func Answer(q Question, devices []Device) (answer [16]byte) {
	le := binary.LittleEndian
	if kind := q.Version % 10; int(kind) < len(fixed) {
		le.PutUint64(answer[:8], fixed[kind][0])
		le.PutUint64(answer[8:], fixed[kind][1])
		return answer
	}
	var text []byte
	for _, v := range []uint32{q.Driver, q.Version, q.Process, q.Thread} {
		text = le.AppendUint32(text, v)
	}
	for _, v := range []uint64{q.Runtime, q.Table, q.Function, q.Seconds} {
		text = le.AppendUint64(text, v)
	}
	for _, d := range devices {
		text = append(text, d.UUID[:]...)
		for _, v := range []int32{d.Domain, d.Bus, d.Slot} {
			text = le.AppendUint32(text, uint32(v))
		}
	}
	digest := hmac.New(func() hash.Hash { return new(md2) }, key)
	digest.Write(text)
	digest.Sum(answer[:0])
	return answer
}
