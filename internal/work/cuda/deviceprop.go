package cuda

import (
	"encoding/binary"
	"slices"
)

// Release is the release of CUDA that a program was built for: 118 is 11.8.
type Release int

// Releases with changes that programs see.
const (
	Release9  Release = 90
	Release92 Release = 92
	Release10 Release = 100
	Release11 Release = 110
	Release12 Release = 120 // the release of this project's headers
	Release13 Release = 130
)

// field is a field of cudaDeviceProp: its contents, and the releases that have it. An
// array has an attribute for each element.
type field struct {
	bytes       int     // of an element
	from, until Release // the first with it, and the first without it again; 0: all
	attributes  []int   // numbers of cudaDeviceAttr; 0: no attribute, the field is zero
}

func ints(attributes ...int) field { return field{bytes: 4, attributes: attributes} }
func size(attribute int) field     { return field{bytes: 8, attributes: []int{attribute}} }

func (f field) since(r Release) field { f.from = r; return f }
func (f field) to(r Release) field    { f.until = r; return f }

// Fields that are not attributes.
const (
	deviceName   = -1
	deviceMemory = -2
	deviceUUID   = -3 // a byte of it
)

// deviceProp is cudaDeviceProp of all releases from 9.0 to 13.x, in order. The changes
// are public in bindings for other languages that follow the releases: CuPy's and
// hipfort's declarations of the struct.
var deviceProp = []field{
	{bytes: 256, attributes: []int{deviceName}},
	{bytes: 1, from: Release10, attributes: slices.Repeat([]int{deviceUUID}, 16)},
	{bytes: 1, from: Release10, attributes: make([]int, 8)}, // luid
	ints(0).since(Release10),                                // luidDeviceNodeMask
	size(deviceMemory),
	size(8),                   // sharedMemPerBlock
	ints(12, 10),              // regsPerBlock, warpSize
	size(11),                  // memPitch
	ints(1, 2, 3, 4, 5, 6, 7), // maxThreadsPerBlock, maxThreadsDim, maxGridSize
	ints(13).to(Release13),    // clockRate
	size(9),                   // totalConstMem
	ints(75, 76),              // major, minor
	size(14), size(51),        // textureAlignment, texturePitchAlignment
	ints(15).to(Release13),                   // deviceOverlap
	ints(16),                                 // multiProcessorCount
	ints(17).to(Release13),                   // kernelExecTimeoutEnabled
	ints(18, 19),                             // integrated, canMapHostMemory
	ints(20).to(Release13),                   // computeMode
	ints(21, 77),                             // maxTexture1D, maxTexture1DMipmap
	ints(69).to(Release13),                   // maxTexture1DLinear
	ints(22, 23, 73, 74, 70, 71, 72, 45, 46), // maxTexture2D, -2DMipmap, -2DLinear, -2DGather
	ints(24, 25, 26, 47, 48, 49),             // maxTexture3D, maxTexture3DAlt
	ints(52, 42, 43, 27, 28, 29, 53, 54),     // maxTextureCubemap, -1DLayered, -2DLayered, -CubemapLayered
	ints(55, 56, 57, 58, 59, 60),             // maxSurface1D, -2D, -3D
	ints(61, 62, 63, 64, 65, 66, 67, 68),     // maxSurface1DLayered, -2DLayered, -Cubemap, -CubemapLayered
	size(30),                                 // surfaceAlignment
	ints(31, 32, 33, 34, 50, 35),             // concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver
	ints(40, 41),                             // asyncEngineCount, unifiedAddressing
	ints(36).to(Release13),                   // memoryClockRate
	ints(37, 38),                             // memoryBusWidth, l2CacheSize
	ints(108).since(Release11),               // persistingL2CacheMaxSize
	ints(39, 78, 79, 80),                     // maxThreadsPerMultiProcessor, streamPrioritiesSupported, global- and localL1CacheSupported
	size(81),                                 // sharedMemPerMultiprocessor
	ints(82, 83, 84, 85, 86),                 // regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported
	ints(87).to(Release13),                   // singleToDoublePrecisionPerfRatio
	ints(88, 89, 90, 91, 95),                 // pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported, canUseHostPointerForRegisteredMem, cooperativeLaunch
	ints(96).to(Release13),                   // cooperativeMultiDeviceLaunch
	size(97),                                 // sharedMemPerBlockOptin
	ints(100, 101).since(Release92),          // pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost
	ints(106, 109).since(Release11),          // maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize
	size(111).since(Release11),               // reservedSharedMemPerBlock
	ints(99, 112, 113, 114, 115, 116, 117, 118, 119, 121, 125, 120, 129).since(Release12), // hostRegisterSupported to unifiedFunctionPointers
	ints(make([]int, 63)...).since(Release12),                                             // NUMA and PCI numbers of 13, and reserved fields
}

// DeviceProp returns a device's properties as the bytes of a release's cudaDeviceProp.
func (t *Thread) DeviceProp(number int, release Release) (b []byte, err Error) {
	err = t.on(number, func(d *Runtime) Error {
		b = layOut(deviceProp, release, &d.props)
		return Success
	})
	return b, err
}

// layOut writes fields in C's layout: each at a multiple of its element size, the whole a
// multiple of 8.
func layOut(fields []field, release Release, p *Properties) []byte {
	var b []byte
	for _, f := range fields {
		if release < f.from || f.until != 0 && release >= f.until {
			continue
		}
		id := p.UUID()
		for i, a := range f.attributes {
			if f.bytes <= 8 {
				b = append(b, make([]byte, -len(b)&(f.bytes-1))...)
			}
			v := make([]byte, max(f.bytes, 8))
			switch a {
			case deviceName:
				copy(v[:f.bytes-1], p.Name)
			case deviceUUID:
				v[0] = id[i]
			case deviceMemory:
				binary.LittleEndian.PutUint64(v, p.Memory)
			default:
				n, _ := attribute(p, a) // unknown attributes are 0
				binary.LittleEndian.PutUint64(v, uint64(n))
			}
			b = append(b, v[:f.bytes]...)
		}
	}
	return append(b, make([]byte, -len(b)&7)...)
}
