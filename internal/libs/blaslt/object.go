package blaslt

import (
	"encoding/binary"

	"github.com/heddle-sim/heddle/internal/libs/blas"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// This file: objects. They live in the program's memory, and have nothing elsewhere, since
// programs may have them on their stack.

// Kind is a kind of objects.
type Kind int

// The kinds.
const (
	Desc       Kind = iota // cublasLtMatmulDesc_t
	Layout                 // cublasLtMatrixLayout_t
	Preference             // cublasLtMatmulPreference_t
	Transform              // cublasLtMatrixTransformDesc_t
	Algo                   // cublasLtMatmulAlgo_t
)

// field is where an attribute lies in an object.
type field struct{ at, size int64 }

// The attributes that this package reads, by their numbers in the documentation.
const (
	descCompute, descScale, descPointers, descTransA, descTransB, descTransC, descFill, descEpilogue = 0, 1, 2, 3, 4, 5, 6, 7
	descBias, descBiasStride, descAux, descAuxLD, descAuxStride, descSMs                             = 8, 10, 11, 12, 13, 15
	descScaleA, descScaleAux, descAmaxAux, descAuxType, descBiasType                                 = 17, 23, 24, 22, 26

	layoutType, layoutOrder, layoutRows, layoutCols, layoutLD, layoutBatch, layoutStride, layoutPlane = 0, 1, 2, 3, 4, 5, 6, 7

	transformScale, transformPointers, transformTransA, transformTransB = 0, 1, 2, 3
)

// kinds are the sizes of objects, and their attributes. Attributes that have no effect here
// are stored all the same. The description of a product has grown with CUDA's releases,
// from 88 bytes in 11.0; programs that have it on their stack say how large theirs is,
// which is kept at sizeAt, and those with less lack the attributes that lie further on.
var kinds = map[Kind]struct {
	least, size int64
	fields      map[int32]field
}{
	Desc: {least: 88, size: 184, fields: map[int32]field{
		descCompute: {0, 4}, descScale: {4, 4}, descPointers: {8, 4}, descTransA: {12, 4}, descTransB: {16, 4}, descTransC: {20, 4}, descFill: {24, 4},
		descEpilogue: {28, 4}, descBias: {32, 8}, descBiasStride: {40, 8}, descAux: {48, 8}, descAuxLD: {56, 8}, descAuxStride: {64, 8},
		descSMs: {76, 4}, descAuxType: {80, 4}, descBiasType: {84, 4}, 14: {88, 8},
		descScaleA: {96, 8}, 18: {104, 8}, 19: {112, 8}, 20: {120, 8}, 21: {128, 8}, descScaleAux: {136, 8}, descAmaxAux: {144, 8}, 25: {152, 1},
	}},
	Layout: {least: 64, size: 64, fields: map[int32]field{
		layoutType: {0, 4}, layoutOrder: {4, 4}, layoutRows: {8, 8}, layoutCols: {16, 8}, layoutLD: {24, 8}, layoutBatch: {32, 4}, layoutStride: {40, 8},
		layoutPlane: {48, 8},
	}},
	Preference: {least: 64, size: 64, fields: map[int32]field{
		0: {0, 4}, 1: {8, 8}, 3: {4, 4}, 5: {16, 4}, 6: {20, 4}, 7: {24, 4}, 8: {28, 4}, 9: {32, 4}, 10: {36, 4}, 11: {48, 4}, 12: {40, 8},
	}},
	Transform: {least: 64, size: 64, fields: map[int32]field{
		transformScale: {0, 4}, transformPointers: {4, 4}, transformTransA: {8, 4}, transformTransB: {12, 4},
	}},
	Algo: {least: 64, size: 64, fields: map[int32]field{
		0: {0, 4}, 1: {4, 4}, 2: {8, 4}, 3: {12, 4}, 4: {16, 4}, 5: {20, 4}, 6: {24, 4}, 7: {28, 2}, 8: {30, 2},
	}},
}

// sizeAt is where the description of a product keeps its size.
const sizeAt = 72

// Size is the size of an object in bytes.
func (k Kind) Size() int64 { return kinds[k].size }

// object is the contents of one.
type object struct {
	kind  Kind
	bytes []byte
}

func (k Kind) new() object { return object{k, make([]byte, kinds[k].size)} }

// get is an attribute.
func (o object) get(attribute int32) int64 {
	f := kinds[o.kind].fields[attribute]
	if f.size == 8 {
		return int64(binary.LittleEndian.Uint64(o.bytes[f.at:]))
	}
	return int64(int32(binary.LittleEndian.Uint32(o.bytes[f.at:]))) // smaller ones are read by nobody
}

func (o object) set(attribute int32, v int64) {
	f := kinds[o.kind].fields[attribute]
	if f.size == 8 {
		binary.LittleEndian.PutUint64(o.bytes[f.at:], uint64(v))
	} else {
		binary.LittleEndian.PutUint32(o.bytes[f.at:], uint32(v))
	}
}

// read returns the object at an address of the program.
func (k Kind) read(t *cuda.Thread, at uint64) (object, blas.Status) {
	o := k.new()
	n := k.room(t, at)
	if n == 0 || t.Read(at, o.bytes[:n]) != cuda.Success {
		return o, blas.InvalidValue
	}
	return o, blas.Success
}

// room is how many bytes an object of the program has, 0 if it is none.
func (k Kind) room(t *cuda.Thread, at uint64) int64 {
	if k != Desc {
		return kinds[k].size
	}
	b := make([]byte, 4)
	if t.Read(at+sizeAt, b) != cuda.Success {
		return 0
	}
	n := int64(binary.LittleEndian.Uint32(b))
	if n < kinds[k].least || n > kinds[k].size {
		return 0
	}
	return n
}

// init stores an object at an address of the program, where there are size bytes.
func (o object) init(t *cuda.Thread, at uint64, size int64) blas.Status {
	n := min(size, o.kind.Size())
	if o.kind == Desc {
		binary.LittleEndian.PutUint32(o.bytes[sizeAt:], uint32(max(0, n)))
	}
	if n < kinds[o.kind].least || t.Write(at, o.bytes[:n]) != cuda.Success {
		return blas.InvalidValue
	}
	return blas.Success
}

// unset is a type that an object leaves to others.
const unset = -1

// firstCompute is the least number of a compute type.
const firstCompute = int32(blas.Compute16F)

// InitDesc makes the description of a product. Programs of CUDA 10 have a data type in place
// of the compute type, and no scale type, which is then the same.
func InitDesc(t *cuda.Thread, at uint64, size int64, compute, scale int32) blas.Status {
	if compute < firstCompute {
		scale, compute = compute, int32(blas.ComputeOf(compute))
	}
	o := Desc.new()
	for attribute, v := range map[int32]int64{
		descCompute: int64(compute), descScale: int64(scale), descFill: fillFull, descEpilogue: epilogueDefault, descAuxType: unset, descBiasType: unset,
	} {
		o.set(attribute, v)
	}
	return o.init(t, at, size)
}

// InitLayout makes the description of a matrix.
func InitLayout(t *cuda.Thread, at uint64, size int64, typ int32, rows, cols uint64, ld int64) blas.Status {
	o := Layout.new()
	for attribute, v := range map[int32]int64{
		layoutType: int64(typ), layoutRows: int64(rows), layoutCols: int64(cols), layoutLD: ld, layoutBatch: 1,
	} {
		o.set(attribute, v)
	}
	return o.init(t, at, size)
}

// InitPreference makes the wishes for a search, with the documented defaults.
func InitPreference(t *cuda.Thread, at uint64, size int64) blas.Status {
	o := Preference.new()
	o.set(3, -1) // any reduction
	for attribute := range int32(4) {
		o.set(5+attribute, 256) // alignments
	}
	return o.init(t, at, size)
}

// InitTransform makes the description of a transformation.
func InitTransform(t *cuda.Thread, at uint64, size int64, scale int32) blas.Status {
	o := Transform.new()
	o.set(transformScale, int64(scale))
	return o.init(t, at, size)
}

// Set sets an attribute from size bytes of the program's.
func (k Kind) Set(t *cuda.Thread, at uint64, attribute int32, from, size uint64) blas.Status {
	f, ok := kinds[k].fields[attribute]
	if at == 0 || from == 0 {
		return blas.InvalidValue
	}
	if !ok || f.at+f.size > k.room(t, at) {
		return blas.NotSupported
	}
	b := make([]byte, f.size)
	if size != uint64(f.size) || t.Read(from, b) != cuda.Success || t.Write(at+uint64(f.at), b) != cuda.Success {
		return blas.InvalidValue
	}
	return blas.Success
}

// Get stores an attribute in size bytes of the program's, and how many it has in written,
// unless that is null.
func (k Kind) Get(t *cuda.Thread, at uint64, attribute int32, to, size, written uint64) blas.Status {
	f, ok := kinds[k].fields[attribute]
	if at == 0 {
		return blas.InvalidValue
	}
	if !ok || f.at+f.size > k.room(t, at) {
		return blas.NotSupported
	}
	if written != 0 && t.Write(written, binary.LittleEndian.AppendUint64(nil, uint64(f.size))) != cuda.Success {
		return blas.InvalidValue
	}
	if size == 0 && written != 0 {
		return blas.Success
	}
	b := make([]byte, f.size)
	if size < uint64(f.size) || t.Read(at+uint64(f.at), b) != cuda.Success || t.Write(to, b) != cuda.Success {
		return blas.InvalidValue
	}
	return blas.Success
}
