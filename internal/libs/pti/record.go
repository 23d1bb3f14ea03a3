package pti

import (
	"encoding/binary"
	"math"

	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// Records have the layouts of CUDA 13.0, the newest that is known (CUPTI, data structures;
// fields are packed, a record is a multiple of 8 bytes). Since CUDA 9 each layout has begun
// with all of the earlier one, so that programs of earlier releases read these records
// too. Names are addresses of texts of the host.

type kernelRecord struct { // CUpti_ActivityKernel10; the first 144 bytes are CUpti_ActivityKernel4
	Kind                              cuda.ActivityKind
	CacheConfig, SharedConfig         uint8
	Registers                         uint16
	PartitionRequested, Partition     uint32
	Start, End, Completed             uint64
	Device, Context, Stream           uint32
	Grid, Block                       cuda.Dim3
	Static, Dynamic                   uint32
	Local, LocalTotal, Correlation    uint32
	GridID                            uint64
	Name, _                           uint64
	Queued, Submitted                 uint64
	LaunchType, Carved, Carveout, _   uint8
	Shared                            uint32
	GraphNode                         uint64
	SharedLimit, Graph                uint32
	AccessPolicy                      uint64
	Channel, ChannelType              uint32
	Cluster                           cuda.Dim3
	ClusterPolicy                     uint32
	LocalTotal2                       uint64
	PotentialClusters, ActiveClusters uint32
	DeviceLaunched                    uint8
	_                                 [7]uint8
}

type copyRecord struct { // CUpti_ActivityMemcpy6
	Kind                                 cuda.ActivityKind
	CopyKind, Src, Dst, Flags            uint8
	Bytes, Start, End                    uint64
	Device, Context, Stream              uint32
	Correlation, RuntimeCorrelation, _   uint32
	_                                    uint64
	GraphNode                            uint64
	Graph, Channel, ChannelType, Device2 uint32
	Copies                               uint64
}

type peerRecord struct { // CUpti_ActivityMemcpyPtoP4
	Kind                                                      cuda.ActivityKind
	CopyKind, Src, Dst, Flags                                 uint8
	Bytes, Start, End                                         uint64
	Device, Context, Stream                                   uint32
	SrcDevice, SrcContext, DstDevice, DstContext, Correlation uint32
	_, GraphNode                                              uint64
	Graph, Channel, ChannelType, _                            uint32
}

type fillRecord struct { // CUpti_ActivityMemset4
	Kind                                 cuda.ActivityKind
	Value                                uint32
	Bytes, Start, End                    uint64
	Device, Context, Stream, Correlation uint32
	Flags, Memory                        uint16
	_                                    uint32
	_, GraphNode                         uint64
	Graph, Channel, ChannelType, _       uint32
}

type callRecord struct { // CUpti_ActivityAPI
	Kind                                 cuda.ActivityKind
	ID                                   uint32
	Start, End                           uint64
	Process, Thread, Correlation, Result uint32
}

type deviceRecord struct { // CUpti_ActivityDevice5
	Kind                                                 cuda.ActivityKind
	Flags                                                uint32
	Bandwidth, Memory                                    uint64
	Constant, L2, Warp, CoreKHz, CopyEngines, SMs, IPC   uint32
	WarpsPerSM, BlocksPerSM, SharedPerSM, RegistersPerSM uint32
	RegistersPerBlock, SharedPerBlock, ThreadsPerBlock   uint32
	Block, Grid                                          cuda.Dim3
	Major, Minor, ID, ECC                                uint32
	UUID                                                 [16]byte
	Name                                                 uint64
	Visible, MIG                                         uint8
	_                                                    [6]uint8
	GPUInstance, ComputeInstance                         uint32
	MIGUUID                                              [16]byte
	NUMA, NUMAID                                         uint32
}

type contextRecord struct { // CUpti_ActivityContext3
	Kind            cuda.ActivityKind
	Context, Device uint32
	API, NullStream uint16
	Parent          uint32
	Green, _        uint8
	SMs             uint16
	CIG, _          uint32
}

type object struct{ A, B, C uint32 } // CUpti_ActivityObjectKindId

type nameRecord struct { // CUpti_ActivityName
	Kind       cuda.ActivityKind
	ObjectKind uint32
	Object     object
	_          uint32
	Name       uint64
}

type markerRecord struct { // CUpti_ActivityMarker2
	Kind         cuda.ActivityKind
	Flags        uint32
	Time         uint64
	ID           uint32
	ObjectKind   uint32
	Object       object
	_            uint32
	Name, Domain uint64
}

type markerDataRecord struct { // CUpti_ActivityMarkerData2
	Kind                       cuda.ActivityKind
	Flags, ID, PayloadKind     uint32
	Payload                    uint64
	Color, Category, Domain, _ uint32
}

type memoryRecord struct { // CUpti_ActivityMemory4
	Kind                             cuda.ActivityKind
	Operation, Memory, Correlation   uint32
	Addr, Bytes, Time, PC            uint64
	Process, Device, Context, Stream uint32
	Name                             uint64
	Async, _, PoolType, _            uint32
	PoolAddr, PoolThreshold          uint64
	PoolSize, PoolUsed               uint64
	Source                           uint64
}

type poolRecord struct { // CUpti_ActivityMemoryPool3
	Kind                                          cuda.ActivityKind
	Operation, Type, Correlation, Process, Device uint32
	Keep, Addr, Size, Threshold, Time, Used       uint64
	Managed                                       uint8
	_                                             [7]uint8
}

type graphRecord struct { // CUpti_ActivityGraphTrace2
	Kind                           cuda.ActivityKind
	Correlation                    uint32
	Start, End                     uint64
	Device, Graph, Context, Stream uint32
	_                              uint64
	EndDevice, EndContext          uint32
}

type streamRecord struct { // CUpti_ActivityStream
	Kind                                         cuda.ActivityKind
	Context, Stream, Priority, Flag, Correlation uint32
}

type waitRecord struct { // CUpti_ActivitySynchronization2
	Kind                                cuda.ActivityKind
	Type                                cuda.WaitKind
	Start, End                          uint64
	Correlation, Context, Stream, Event uint32
	EventSync                           uint64
	Result, _                           uint32
}

type externalRecord struct { // CUpti_ActivityExternalCorrelation
	Kind           cuda.ActivityKind
	ExternalKind   uint32
	ID             uint64
	Correlation, _ uint32
}

// layouts has the layout of each kind of record.
var layouts = map[cuda.ActivityKind]any{
	cuda.ActivityKernel: kernelRecord{}, cuda.ActivityConcurrentKernel: kernelRecord{}, cuda.ActivityCopy: copyRecord{}, cuda.ActivityPeerCopy: peerRecord{},
	cuda.ActivityFill: fillRecord{}, cuda.ActivityDriverCall: callRecord{}, cuda.ActivityRuntimeCall: callRecord{}, cuda.ActivityDevice: deviceRecord{},
	cuda.ActivityContext: contextRecord{}, cuda.ActivityName: nameRecord{}, cuda.ActivityMarker: markerRecord{}, cuda.ActivityStream: streamRecord{},
	cuda.ActivityWait: waitRecord{}, cuda.ActivityExternal: externalRecord{}, cuda.ActivityMarkerData: markerDataRecord{}, cuda.ActivityMemory: memoryRecord{},
	cuda.ActivityPool: poolRecord{}, cuda.ActivityGraph: graphRecord{},
}

// Bytes returns the size of records of a kind, 0 if there is none.
func Bytes(kind cuda.ActivityKind) int {
	if x, ok := layouts[kind]; ok {
		return binary.Size(x)
	}
	return 0
}

// never are the kinds of activities of which the simulated machine has none (CUPTI's
// overhead, kernels that launch kernels, preemption, OpenACC and so on): asking for them
// succeeds.
var never = map[cuda.ActivityKind]bool{17: true, 18: true, 19: true, 33: true, 34: true, 35: true, 40: true, 47: true, 48: true, 52: true, 53: true, 54: true, 55: true}

// Enable returns whether activities of a kind can be recorded.
func Enable(kind cuda.ActivityKind) (record bool, res Result) {
	switch {
	case layouts[kind] != nil:
		return true, Success
	case never[kind]:
		return false, Success
	case missing[kind] != "":
		return false, NotSupported
	}
	return false, InvalidKind
}

// missing are the names of kinds that are not recorded.
var missing = map[cuda.ActivityKind]string{
	6: "EVENT", 7: "METRIC", 14: "SOURCE_LOCATOR", 15: "GLOBAL_ACCESS", 16: "BRANCH", 20: "ENVIRONMENT", 21: "EVENT_INSTANCE",
	23: "METRIC_INSTANCE", 24: "INSTRUCTION_EXECUTION", 25: "UNIFIED_MEMORY_COUNTER", 26: "FUNCTION", 27: "MODULE", 28: "DEVICE_ATTRIBUTE", 29: "SHARED_ACCESS",
	30: "PC_SAMPLING", 31: "PC_SAMPLING_RECORD_INFO", 32: "INSTRUCTION_CORRELATION", 36: "CUDA_EVENT", 41: "INSTANTANEOUS_EVENT",
	42: "INSTANTANEOUS_EVENT_INSTANCE", 43: "INSTANTANEOUS_METRIC", 44: "INSTANTANEOUS_METRIC_INSTANCE", 45: "MEMORY", 46: "PCIE",
}

// KindName is the name of a kind that is not recorded.
func KindName(kind cuda.ActivityKind) string { return "CUPTI_ACTIVITY_KIND_" + missing[kind] }

// Source is what records contain besides the activities.
type Source struct {
	Text    func(string) uintptr // the address of a text
	Latency bool                 // kernels have the times of their submission
	Process uint32
}

// The kinds of objects (CUpti_ActivityObjectKind), flags (CUpti_ActivityFlag) and copies
// (CUpti_ActivityMemcpyKind).
const (
	objectThread = 2
	objectStream = 5

	flagAsync     = 1
	markerInstant = 1
	markerStart   = 2
	markerEnd     = 4
	markerNoColor = 1
	markerARGB    = 2

	memoryAllocated = 1 // CUpti_ActivityMemoryOperationType
	memoryReleased  = 2
	memoryPoolLocal = 1 // CUpti_ActivityMemoryPoolType

	concurrentKernels = 1

	copyPeers = 10
)

// copyKinds are the numbers of copies by source and destination: the host, the device, an
// array.
var copyKinds = [3][3]uint8{
	{9, 1, 3},
	{2, 8, 7},
	{4, 6, 5},
}

// payload converts a payload from one of NVTX's types (nvtxPayloadType_t) to a value of a
// kind of CUPTI's (CUpti_MetricValueKind), which has no numbers of 32 bits.
func payload(kind int32, v uint64) (uint32, uint64) {
	const double, unsigned, signed = 0, 1, 4
	switch kind {
	case 1:
		return unsigned, v
	case 2:
		return signed, v
	case 3:
		return double, v
	case 4:
		return unsigned, uint64(uint32(v))
	case 5:
		return signed, uint64(int64(int32(v)))
	case 6:
		return double, math.Float64bits(float64(math.Float32frombits(uint32(v))))
	}
	return double, 0
}

// place is the index of a kind of memory in copyKinds.
func place(k cuda.MemoryKind) int {
	switch k {
	case cuda.DeviceKind, cuda.ManagedKind:
		return 1
	case cuda.ArrayKind:
		return 2
	}
	return 0
}

// Record returns the bytes of an activity's record.
func (s *Source) Record(a *cuda.Activity) []byte {
	var r any
	switch d := a.Detail.(type) {
	case cuda.KernelDetail:
		r = s.kernel(a, &d)
	case cuda.CopyDetail:
		r = copyOf(a, &d)
	case cuda.FillDetail:
		r = fillRecord{
			Kind: a.Kind, Value: d.Value, Bytes: d.Bytes, Start: a.Start, End: a.End, Device: uint32(a.Device), Context: a.Context, Stream: a.Stream,
			Correlation: a.Correlation, Memory: uint16(d.Dst), Graph: a.Place.Graph, GraphNode: a.Place.Node,
		}
	case cuda.CallDetail:
		r = callRecord{Kind: a.Kind, ID: d.ID, Start: a.Start, End: a.End, Process: s.Process, Thread: d.Thread, Correlation: a.Correlation, Result: d.Result}
	case cuda.Properties:
		r = s.device(a, &d)
	case cuda.NameDetail:
		r = nameRecord{Kind: a.Kind, ObjectKind: objectStream, Object: object{uint32(a.Device), a.Context, a.Stream}, Name: s.name(d.Name)}
	case cuda.MarkerDetail:
		r = s.marker(a, &d)
	case cuda.MarkerData:
		m := markerDataRecord{Kind: a.Kind, Flags: markerNoColor, ID: d.ID, Category: d.Category}
		if d.Colored {
			m.Flags, m.Color = markerARGB, d.Color
		}
		m.PayloadKind, m.Payload = payload(d.PayloadType, d.Payload)
		r = m
	case cuda.MemoryDetail:
		r = s.memory(a, &d)
	case cuda.PoolDetail:
		r = poolRecord{
			Kind: a.Kind, Operation: uint32(d.Operation), Type: memoryPoolLocal, Correlation: a.Correlation, Process: s.Process, Device: uint32(a.Device), Time: a.Start,
			Keep: d.Keep, Addr: d.Handle, Threshold: d.Threshold, Size: d.Used, Used: d.Used,
		}
	case cuda.GraphDetail:
		r = graphRecord{
			Kind: a.Kind, Correlation: a.Correlation, Start: a.Start, End: a.End, Device: uint32(a.Device), Graph: a.Place.Graph, Context: a.Context, Stream: a.Stream,
			EndDevice: uint32(d.EndDevice), EndContext: d.EndContext,
		}
	case cuda.StreamDetail:
		flag := uint32(1) // CUpti_ActivityStreamFlag
		if d.NonBlocking {
			flag = 2
		}
		r = streamRecord{Kind: a.Kind, Context: a.Context, Stream: a.Stream, Priority: uint32(d.Priority), Flag: flag, Correlation: a.Correlation}
	case cuda.WaitDetail:
		r = waitRecord{Kind: a.Kind, Type: d.Kind, Start: a.Start, End: a.End, Correlation: a.Correlation, Context: a.Context, Stream: a.Stream, Event: d.Event, Result: d.Result}
	case cuda.ExternalDetail:
		r = externalRecord{Kind: a.Kind, ExternalKind: d.Kind, ID: d.ID, Correlation: a.Correlation}
	default: // a context
		r = contextRecord{Kind: a.Kind, Context: a.Context, Device: uint32(a.Device), API: 1}
	}
	b, err := binary.Append(nil, binary.LittleEndian, r)
	if err != nil {
		panic(err) // all fields have a size
	}
	return b
}

// name is the address of a name, 0 if there is none.
func (s *Source) name(text string) uint64 {
	if text == "" {
		return 0
	}
	return uint64(s.Text(text))
}

// kernel is the record of a launch.
func (s *Source) kernel(a *cuda.Activity, d *cuda.KernelDetail) kernelRecord {
	k := kernelRecord{
		Kind: a.Kind, Start: a.Start, End: a.End, Completed: a.End, Device: uint32(a.Device), Context: a.Context, Stream: a.Stream, Correlation: a.Correlation,
		CacheConfig: cacheConfig(d.Prefer), Registers: uint16(d.Registers), Grid: d.Grid, Block: d.Block, Cluster: d.Cluster,
		Static: uint32(d.Static), Dynamic: uint32(d.Dynamic), Shared: uint32(d.Static + d.Dynamic), Local: uint32(d.Local),
		LocalTotal: uint32(min(d.LocalTotal, 1<<32-1)), LocalTotal2: d.LocalTotal, GridID: uint64(d.Number) + 1, Name: s.name(d.Name), Graph: a.Place.Graph, GraphNode: a.Place.Node,
	}
	if d.Cooperative {
		k.LaunchType = 1
	}
	if s.Latency {
		k.Queued, k.Submitted = a.Submitted, a.Submitted
	}
	return k
}

// copyOf is the record of a copy.
func copyOf(a *cuda.Activity, d *cuda.CopyDetail) any {
	flags := uint8(0)
	if d.Async {
		flags = flagAsync
	}
	if a.Kind == cuda.ActivityPeerCopy {
		return peerRecord{
			Kind: a.Kind, CopyKind: copyPeers, Src: uint8(d.Src), Dst: uint8(d.Dst), Flags: flags, Bytes: d.Bytes, Start: a.Start, End: a.End,
			Device: uint32(a.Device), Context: a.Context, Stream: a.Stream, Correlation: a.Correlation,
			SrcDevice: uint32(d.From), DstDevice: uint32(d.To), SrcContext: d.FrCtx, DstContext: d.ToCtx, Graph: a.Place.Graph, GraphNode: a.Place.Node,
		}
	}
	return copyRecord{
		Kind: a.Kind, CopyKind: copyKinds[place(d.Src)][place(d.Dst)], Src: uint8(d.Src), Dst: uint8(d.Dst), Flags: flags, Bytes: d.Bytes, Start: a.Start, End: a.End,
		Device: uint32(a.Device), Context: a.Context, Stream: a.Stream, Correlation: a.Correlation, Copies: 1, Graph: a.Place.Graph, GraphNode: a.Place.Node,
	}
}

// marker is the record of an instant, or of a range's begin or end.
func (s *Source) marker(a *cuda.Activity, d *cuda.MarkerDetail) markerRecord {
	m := markerRecord{
		Kind: a.Kind, Flags: markerInstant, Time: a.Start, ID: d.ID, ObjectKind: objectThread, Object: object{s.Process, d.Thread, 0},
		Name: s.name(d.Name), Domain: s.name(d.Domain),
	}
	switch {
	case d.Begin:
		m.Flags = markerStart
	case d.End:
		m.Flags = markerEnd
	}
	return m
}

// memory is the record of an allocation, or of its end.
func (s *Source) memory(a *cuda.Activity, d *cuda.MemoryDetail) memoryRecord {
	m := memoryRecord{
		Kind: a.Kind, Operation: memoryAllocated, Memory: uint32(d.Kind), Correlation: a.Correlation, Addr: d.Addr, Bytes: d.Bytes, Time: a.Start,
		Process: s.Process, Device: uint32(a.Device), Context: a.Context, Stream: a.Stream,
	}
	if d.Free {
		m.Operation = memoryReleased
	}
	if d.Async {
		m.Async = 1
	}
	if p := d.Pool; p.Handle != 0 {
		m.PoolType, m.PoolAddr, m.PoolThreshold, m.PoolSize, m.PoolUsed = memoryPoolLocal, p.Handle, p.Threshold, p.Used, p.Used
	}
	return m
}

// device is the record of a device.
func (s *Source) device(a *cuda.Activity, p *cuda.Properties) deviceRecord {
	return deviceRecord{
		Kind: a.Kind, Flags: concurrentKernels, ID: uint32(a.Device), Name: uint64(s.Text(p.Name)), UUID: p.UUID(), Visible: 1,
		Bandwidth: uint64(p.MemoryKHz) * 2 * uint64(p.BusBits) / 8, Memory: p.Memory, Constant: uint32(p.ConstantMemory), L2: uint32(p.L2), Warp: 32,
		CoreKHz: uint32(p.CoreKHz), CopyEngines: uint32(p.CopyEngines), SMs: uint32(p.SMs), WarpsPerSM: uint32(p.ThreadsPerSM / 32), BlocksPerSM: uint32(p.BlocksPerSM),
		SharedPerSM: uint32(p.SharedPerSM), RegistersPerSM: uint32(p.RegistersPerSM), RegistersPerBlock: uint32(p.RegistersPerSM), SharedPerBlock: uint32(p.SharedPerBlock),
		ThreadsPerBlock: 1024, Block: cuda.Dim3{X: 1024, Y: 1024, Z: 64}, Grid: cuda.Dim3{X: 1<<31 - 1, Y: 65535, Z: 65535},
		Major: uint32(p.Major), Minor: uint32(p.Minor),
	}
}

// cacheConfig has a kernel's preference, requested and used, as numbers of CUfunc_cache in
// four bits each.
func cacheConfig(p gpu.Preference) uint8 {
	switch p {
	case gpu.PreferShared:
		return 0x11
	case gpu.PreferL1:
		return 0x22
	}
	return 0
}

// Next returns the place of the record after the one at a place in the valid bytes of a
// buffer; -1 asks for the first.
func Next(buffer []byte, at int) (next int, res Result) {
	if at >= 0 {
		n := 0
		if at+4 <= len(buffer) {
			n = Bytes(cuda.ActivityKind(binary.LittleEndian.Uint32(buffer[at:])))
		}
		if n == 0 {
			return 0, InvalidKind
		}
		next = at + n
	}
	if next+4 > len(buffer) {
		return 0, MaxLimitReached
	}
	switch n := Bytes(cuda.ActivityKind(binary.LittleEndian.Uint32(buffer[next:]))); {
	case n == 0:
		return 0, InvalidKind
	case n > len(buffer)-next: // it is not all there
		return 0, MaxLimitReached
	}
	return next, Success
}
