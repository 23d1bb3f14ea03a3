package pti

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// TestLayouts: records have the sizes of CUPTI's structs in CUDA 13.0, and fields are where
// these have them (CUPTI, data structures).
func TestLayouts(t *testing.T) {
	s := Source{Text: func(text string) uintptr { return uintptr(1000 + len(text)) }, Process: 77, Latency: true}
	field := func(at, bytes int, value uint64) [3]uint64 { return [3]uint64{uint64(at), uint64(bytes), value} }
	for _, c := range []struct {
		name   string
		a      cuda.Activity
		bytes  int
		fields [][3]uint64
	}{
		{
			"kernel", cuda.Activity{Kind: 10, Start: 5, End: 9, Submitted: 4, Device: 1, Context: 2, Stream: 3, Correlation: 6, Detail: cuda.KernelDetail{
				Name: "four", Number: 7, Grid: cuda.Dim3{X: 11, Y: 12, Z: 13}, Block: cuda.Dim3{X: 14, Y: 15, Z: 16}, Cluster: cuda.Dim3{X: 17, Y: 18, Z: 19},
				Registers: 20, Static: 21, Dynamic: 22, Local: 23, LocalTotal: 1<<32 + 24, Cooperative: true,
			}}, 216, [][3]uint64{
				field(0, 4, 10), field(6, 2, 20), field(16, 8, 5), field(24, 8, 9), field(32, 8, 9), field(40, 4, 1), field(44, 4, 2), field(48, 4, 3),
				field(52, 4, 11), field(60, 4, 13), field(64, 4, 14), field(72, 4, 16), field(76, 4, 21), field(80, 4, 22), field(84, 4, 23), field(88, 4, 1<<32-1),
				field(92, 4, 6), field(96, 8, 8), field(104, 8, 1004), field(120, 8, 4), field(128, 8, 4), field(136, 1, 1), field(140, 4, 43),
				field(176, 4, 17), field(184, 4, 19), field(192, 8, 1<<32+24),
			},
		},
		{
			"copy", cuda.Activity{Kind: 1, Start: 5, End: 9, Device: 1, Context: 2, Stream: 3, Correlation: 6, Detail: cuda.CopyDetail{
				Bytes: 10, Src: cuda.PinnedKind, Dst: cuda.DeviceKind, Async: true,
			}}, 96, [][3]uint64{
				field(0, 4, 1), field(4, 1, 1), field(5, 1, 2), field(6, 1, 3), field(7, 1, 1), field(8, 8, 10), field(16, 8, 5), field(24, 8, 9),
				field(32, 4, 1), field(36, 4, 2), field(40, 4, 3), field(44, 4, 6), field(88, 8, 1),
			},
		},
		{
			"copy of an array", cuda.Activity{Kind: 1, Detail: cuda.CopyDetail{Src: cuda.ArrayKind, Dst: cuda.PageableKind}}, 96,
			[][3]uint64{field(4, 1, 4), field(5, 1, 4), field(6, 1, 1), field(7, 1, 0)},
		},
		{
			"copy between devices", cuda.Activity{Kind: 22, Start: 5, End: 9, Device: 1, Context: 2, Stream: 3, Correlation: 6, Detail: cuda.CopyDetail{
				Bytes: 10, Src: cuda.DeviceKind, Dst: cuda.DeviceKind, From: 4, To: 5, FrCtx: 7, ToCtx: 8,
			}}, 96, [][3]uint64{
				field(4, 1, 10), field(8, 8, 10), field(40, 4, 3), field(44, 4, 4), field(48, 4, 7), field(52, 4, 5), field(56, 4, 8), field(60, 4, 6),
			},
		},
		{
			"fill", cuda.Activity{Kind: 2, Start: 5, End: 9, Device: 1, Context: 2, Stream: 3, Correlation: 6, Detail: cuda.FillDetail{Value: 8, Bytes: 10, Dst: cuda.ManagedKind}},
			88, [][3]uint64{field(4, 4, 8), field(8, 8, 10), field(16, 8, 5), field(44, 4, 6), field(50, 2, 5)},
		},
		{
			"call", cuda.Activity{Kind: 5, Start: 5, End: 9, Correlation: 6, Detail: cuda.CallDetail{ID: 20, Thread: 30, Result: 2}}, 40,
			[][3]uint64{field(4, 4, 20), field(8, 8, 5), field(16, 8, 9), field(24, 4, 77), field(28, 4, 30), field(32, 4, 6), field(36, 4, 2)},
		},
		{
			"device", cuda.Activity{Kind: 8, Device: 1, Detail: cuda.Properties{Name: "four", Major: 8, Minor: 6, Memory: 10, SMs: 11, ThreadsPerSM: 1024, CoreKHz: 12}}, 184,
			[][3]uint64{field(16, 8, 10), field(32, 4, 32), field(36, 4, 12), field(44, 4, 11), field(52, 4, 32), field(104, 4, 8), field(108, 4, 6), field(112, 4, 1), field(136, 8, 1004), field(144, 1, 1)},
		},
		{"context", cuda.Activity{Kind: 9, Device: 1, Context: 2}, 32, [][3]uint64{field(4, 4, 2), field(8, 4, 1), field(12, 2, 1), field(14, 2, 0)}},
		{
			"name", cuda.Activity{Kind: 11, Device: 1, Context: 2, Stream: 3, Detail: cuda.NameDetail{Name: "four"}}, 32,
			[][3]uint64{field(4, 4, 5), field(8, 4, 1), field(12, 4, 2), field(16, 4, 3), field(24, 8, 1004)},
		},
		{
			"begin of a range", cuda.Activity{Kind: 12, Start: 5, Detail: cuda.MarkerDetail{ID: 6, Begin: true, Name: "four", Domain: "three", Thread: 8}}, 56,
			[][3]uint64{field(4, 4, 2), field(8, 8, 5), field(16, 4, 6), field(20, 4, 2), field(24, 4, 77), field(28, 4, 8), field(40, 8, 1004), field(48, 8, 1005)},
		},
		{
			"attributes of a range", cuda.Activity{Kind: 13, Detail: cuda.MarkerData{ID: 6, Color: 0xff00ff, Category: 7, Colored: true, PayloadType: 5, Payload: 1<<32 - 3}}, 40,
			[][3]uint64{field(4, 4, 2), field(8, 4, 6), field(12, 4, 4), field(16, 8, 1<<64-3), field(24, 4, 0xff00ff), field(28, 4, 7)},
		},
		{
			"attributes without a colour", cuda.Activity{Kind: 13, Detail: cuda.MarkerData{Color: 5, PayloadType: 6, Payload: uint64(math.Float32bits(1.5))}}, 40,
			[][3]uint64{field(4, 4, 1), field(12, 4, 0), field(16, 8, math.Float64bits(1.5)), field(24, 4, 0)},
		},
		{
			"memory", cuda.Activity{Kind: 49, Start: 5, Device: 1, Context: 2, Stream: 3, Correlation: 6, Detail: cuda.MemoryDetail{
				Free: true, Addr: 10, Bytes: 11, Kind: cuda.ManagedKind, Async: true, Pool: cuda.PoolDetail{Handle: 12, Threshold: 13, Used: 14},
			}}, 128, [][3]uint64{
				field(4, 4, 2), field(8, 4, 5), field(12, 4, 6), field(16, 8, 10), field(24, 8, 11), field(32, 8, 5), field(48, 4, 77), field(52, 4, 1), field(56, 4, 2),
				field(60, 4, 3), field(72, 4, 1), field(80, 4, 1), field(88, 8, 12), field(96, 8, 13), field(104, 8, 14), field(112, 8, 14),
			},
		},
		{
			"pool", cuda.Activity{Kind: 50, Start: 5, Device: 1, Correlation: 6, Detail: cuda.PoolDetail{Operation: cuda.PoolTrimmed, Handle: 10, Threshold: 11, Used: 12, Keep: 13}},
			80, [][3]uint64{
				field(4, 4, 3), field(8, 4, 1), field(12, 4, 6), field(16, 4, 77), field(20, 4, 1), field(24, 8, 13), field(32, 8, 10), field(40, 8, 12), field(48, 8, 11),
				field(56, 8, 5), field(64, 8, 12), field(72, 1, 0),
			},
		},
		{
			"graph", cuda.Activity{
				Kind: 51, Start: 5, End: 9, Device: 1, Context: 2, Stream: 3, Correlation: 6, Place: cuda.GraphPlace{Graph: 7},
				Detail: cuda.GraphDetail{EndDevice: 8, EndContext: 10},
			}, 56, [][3]uint64{
				field(4, 4, 6), field(8, 8, 5), field(16, 8, 9), field(24, 4, 1), field(28, 4, 7), field(32, 4, 2), field(36, 4, 3), field(48, 4, 8), field(52, 4, 10),
			},
		},
		{
			"kernel of a graph", cuda.Activity{Kind: 10, Place: cuda.GraphPlace{Graph: 7, Node: 1 << 40}, Detail: cuda.KernelDetail{}}, 216,
			[][3]uint64{field(144, 8, 1<<40), field(156, 4, 7)},
		},
		{
			"copy of a graph", cuda.Activity{Kind: 1, Place: cuda.GraphPlace{Graph: 7, Node: 1 << 40}, Detail: cuda.CopyDetail{}}, 96,
			[][3]uint64{field(64, 8, 1<<40), field(72, 4, 7)},
		},
		{
			"copy of a graph between devices", cuda.Activity{Kind: 22, Place: cuda.GraphPlace{Graph: 7, Node: 1 << 40}, Detail: cuda.CopyDetail{}}, 96,
			[][3]uint64{field(72, 8, 1<<40), field(80, 4, 7)},
		},
		{
			"fill of a graph", cuda.Activity{Kind: 2, Place: cuda.GraphPlace{Graph: 7, Node: 1 << 40}, Detail: cuda.FillDetail{}}, 88,
			[][3]uint64{field(64, 8, 1<<40), field(72, 4, 7)},
		},
		{"end of a range", cuda.Activity{Kind: 12, Detail: cuda.MarkerDetail{End: true}}, 56, [][3]uint64{field(4, 4, 4), field(40, 8, 0)}},
		{"mark", cuda.Activity{Kind: 12, Detail: cuda.MarkerDetail{}}, 56, [][3]uint64{field(4, 4, 1)}},
		{
			"stream", cuda.Activity{Kind: 37, Context: 2, Stream: 3, Correlation: 6, Detail: cuda.StreamDetail{Priority: -2, NonBlocking: true}}, 24,
			[][3]uint64{field(4, 4, 2), field(8, 4, 3), field(12, 4, 1<<32-2), field(16, 4, 2), field(20, 4, 6)},
		},
		{
			"wait", cuda.Activity{Kind: 38, Start: 5, End: 9, Context: 2, Stream: 3, Correlation: 6, Detail: cuda.WaitDetail{Kind: cuda.WaitForEvent, Event: 7, Result: 8}}, 56,
			[][3]uint64{field(4, 4, 1), field(8, 8, 5), field(16, 8, 9), field(24, 4, 6), field(28, 4, 2), field(32, 4, 3), field(36, 4, 7), field(48, 4, 8)},
		},
		{
			"id of a profiler", cuda.Activity{Kind: 39, Correlation: 6, Detail: cuda.ExternalDetail{Kind: 3, ID: 10}}, 24,
			[][3]uint64{field(4, 4, 3), field(8, 8, 10), field(16, 4, 6)},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := s.Record(&c.a)
			if len(b) != c.bytes || Bytes(c.a.Kind) != c.bytes {
				t.Fatalf("%d bytes, and Bytes says %d; want %d", len(b), Bytes(c.a.Kind), c.bytes)
			}
			for _, f := range append(c.fields, field(0, 4, uint64(c.a.Kind))) {
				at, n := f[0], f[1]
				var w [8]byte
				copy(w[:], b[at:at+n])
				if got := binary.LittleEndian.Uint64(w[:]); got != f[2] {
					t.Errorf("%d bytes at %d are %d, want %d", n, at, got, f[2])
				}
			}
		})
	}
}

// TestNext: records follow each other up to the end of the valid bytes; what is no record
// ends the walk.
func TestNext(t *testing.T) {
	s := Source{Text: func(string) uintptr { return 1 }}
	call := s.Record(&cuda.Activity{Kind: cuda.ActivityRuntimeCall, Detail: cuda.CallDetail{}})
	kernel := s.Record(&cuda.Activity{Kind: cuda.ActivityKernel, Detail: cuda.KernelDetail{}})
	two := slices.Concat(call, kernel)
	for _, c := range []struct {
		name   string
		buffer []byte
		at     int
		next   int
		want   Result
	}{
		{"first", two, -1, 0, Success},
		{"second", two, 0, 40, Success},
		{"end", two, 40, 0, MaxLimitReached},
		{"empty", nil, -1, 0, MaxLimitReached},
		{"too short for a kind", two[:42], 0, 0, MaxLimitReached},
		{"half a record", two[:50], 0, 0, MaxLimitReached},
		{"no record there", make([]byte, 64), -1, 0, InvalidKind},
		{"no record before", make([]byte, 64), 0, 0, InvalidKind},
		{"beyond the end", two, 1000, 0, InvalidKind},
	} {
		if next, res := Next(c.buffer, c.at); next != c.next || res != c.want {
			t.Errorf("%s: %d, %d; want %d, %d", c.name, next, res, c.next, c.want)
		}
	}
}

// TestEnable: every kind of CUDA 13.0 is recorded, never happens, or is missing with a name.
func TestEnable(t *testing.T) {
	for kind := range cuda.ActivityKind(70) {
		record, res := Enable(kind)
		want := Success
		switch {
		case kind == 0 || kind >= 56:
			want = InvalidKind
		case missing[kind] != "":
			want = NotSupported
		}
		if res != want || record != (Bytes(kind) > 0) {
			t.Errorf("kind %d: %v, %d; want %d", kind, record, res, want)
		}
	}
}

// TestAttributes: attributes keep what is set, and check the room for their values.
func TestAttributes(t *testing.T) {
	a := NewAttributes()
	value := func(b ...byte) func(int) []byte { return func(n int) []byte { return b[:n] } }
	if b, res := a.Get(0, 8); res != Success || binary.LittleEndian.Uint64(b) != 3200000 {
		t.Errorf("size of a buffer: %d, %d; want 3200000", b, res)
	}
	if b, res := a.Get(5, 100); res != Success || !slices.Equal(b, []byte{0}) {
		t.Errorf("zeroed buffers: %d, %d; want a byte of 0", b, res)
	}
	for _, c := range []struct {
		which uint32
		n     uint64
		want  Result
	}{{0, 8, Success}, {0, 7, SizeNotSufficient}, {5, 1, Success}, {5, 0, SizeNotSufficient}, {11, 8, InvalidParameter}, {1 << 31, 8, InvalidParameter}} {
		if res := a.Set(c.which, c.n, value(1, 2, 3, 4, 5, 6, 7, 8)); res != c.want {
			t.Errorf("set attribute %d of %d bytes: %d, want %d", c.which, c.n, res, c.want)
		}
		if _, res := a.Get(c.which, c.n); res != c.want {
			t.Errorf("get attribute %d of %d bytes: %d, want %d", c.which, c.n, res, c.want)
		}
	}
	if b, _ := a.Get(0, 8); !slices.Equal(b, []byte{1, 2, 3, 4, 5, 6, 7, 8}) {
		t.Errorf("attribute 0 is %d", b)
	}
	if b, _ := a.Get(5, 8); !slices.Equal(b, []byte{1}) {
		t.Errorf("attribute 5 is %d", b)
	}
}
