package cuda

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/binary/fatbin"
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file tests wrong calls against the documentation of each function of the
// CUDA runtime API ("Returns:" and the notes below it), as far as TestCodes does
// not.

// TestHandles gives every call with a handle invalid ones: an arbitrary number, a
// handle of another kind, one that was destroyed, and one from before a reset.
func TestHandles(t *testing.T) {
	const nowhere = 0x1234
	threads := Call{Grid: Dim3{X: 1, Y: 1, Z: 1}, Block: Dim3{X: 1, Y: 1, Z: 1}}
	image := func(h uint64) Image { return Image{Array: h} }
	kinds := []struct {
		name    string
		make    func(b *bench) (uint64, Error)
		destroy func(b *bench, h uint64) Error
	}{
		{"stream", func(b *bench) (uint64, Error) { return b.StreamCreate(0, 0) }, func(b *bench, h uint64) Error { return b.StreamDestroy(h) }},
		{"event", func(b *bench) (uint64, Error) { return b.EventCreate(0) }, func(b *bench, h uint64) Error { return b.EventDestroy(h) }},
		{"array", func(b *bench) (uint64, Error) { return b.MallocArray(floats, 4, 4, 0, arraySurface) }, func(b *bench, h uint64) Error { return b.FreeArray(h) }},
		{"mipmap", func(b *bench) (uint64, Error) { return b.MallocMipmap(floats, 4, 4, 0, 2, 0) }, func(b *bench, h uint64) Error { return b.FreeMipmap(h) }},
		{"texture object", func(b *bench) (uint64, Error) {
			d, _ := b.Malloc(64)
			return b.TextureObject(Image{Addr: d, Channel: floats, Bytes: 64}, Sampling{}, nil)
		}, func(b *bench, h uint64) Error { return b.FreeObject(h, false) }},
		{"surface object", func(b *bench) (uint64, Error) {
			a, _ := b.MallocArray(floats, 4, 4, 0, arraySurface)
			return b.SurfaceObject(a)
		}, func(b *bench, h uint64) Error { return b.FreeObject(h, true) }},
		{"graph", func(b *bench) (uint64, Error) { return b.GraphCreate(0) }, func(b *bench, h uint64) Error { return b.GraphDestroy(h) }},
		{"node", func(b *bench) (uint64, Error) {
			g, _ := b.GraphCreate(0)
			return b.GraphAdd(g, nil, EmptyNode())
		}, func(b *bench, h uint64) Error { return b.NodeDestroy(h) }},
		{"executable graph", func(b *bench) (uint64, Error) {
			g, _ := b.GraphCreate(0)
			return b.GraphInstantiate(g, 0)
		}, func(b *bench, h uint64) Error { return b.ExecDestroy(h) }},
		{"pool", func(b *bench) (uint64, Error) { return b.PoolCreate(0) }, func(b *bench, h uint64) Error { return b.PoolDestroy(h) }},
	}
	for _, c := range []struct {
		kind, call string
		do         func(b *bench, h, d uint64) Error // d: device memory
		want       Error
	}{
		{"stream", "launch", func(b *bench, h, _ uint64) Error {
			c := threads
			c.Stream = h
			return b.Launch(kernel("spin"), c, false, nil)
		}, InvalidHandle},
		{"stream", "copy", func(b *bench, h, d uint64) Error { return b.Copy(d, stack, 4, HostToDevice, h, true) }, InvalidHandle},
		{"stream", "copy nothing", func(b *bench, h, d uint64) Error { return b.Copy(d, stack, 0, HostToDevice, h, true) }, InvalidHandle},
		{"stream", "copy to symbol", func(b *bench, h, _ uint64) Error {
			return b.CopyToSymbol(variableOf("factor"), stack, 4, 0, HostToDevice, h, true)
		}, InvalidHandle},
		{"stream", "copy from symbol", func(b *bench, h, _ uint64) Error {
			return b.CopyFromSymbol(stack, variableOf("factor"), 4, 0, DeviceToHost, h, true)
		}, InvalidHandle},
		{"stream", "copy to array", func(b *bench, h, _ uint64) Error {
			a, _ := b.MallocArray(floats, 4, 4, 0, 0)
			return b.CopyBox(Side{Array: a}, Side{Addr: stack, Pitch: 16}, 16, 4, 1, HostToDevice, h, true)
		}, InvalidHandle},
		{"stream", "fill", func(b *bench, h, d uint64) Error { return b.Fill(d, 1, Rows{Width: 4, Height: 1, Depth: 1}, h) }, InvalidHandle},
		{"stream", "synchronize", func(b *bench, h, _ uint64) Error { return b.StreamSynchronize(h) }, InvalidHandle},
		{"stream", "information", func(b *bench, h, _ uint64) Error { _, err := b.StreamInfo(h); return err }, InvalidHandle},
		{"stream", "wait for an event", func(b *bench, h, _ uint64) Error { e, _ := b.EventCreate(0); return b.StreamWait(h, e, 0) }, InvalidHandle},
		{"stream", "record", func(b *bench, h, _ uint64) Error { e, _ := b.EventCreate(0); return b.EventRecord(e, h, 0) }, InvalidHandle},
		{"stream", "destroy", func(b *bench, h, _ uint64) Error { return b.StreamDestroy(h) }, InvalidHandle},
		{"event", "record", func(b *bench, h, _ uint64) Error { return b.EventRecord(h, 0, 0) }, InvalidHandle},
		{"event", "synchronize", func(b *bench, h, _ uint64) Error { return b.EventSynchronize(h) }, InvalidHandle},
		{"event", "wait in a stream", func(b *bench, h, _ uint64) Error { return b.StreamWait(0, h, 0) }, InvalidHandle},
		{"event", "elapsed from", func(b *bench, h, _ uint64) Error {
			e, _ := b.EventCreate(0)
			b.EventRecord(e, 0, 0)
			_, err := b.EventElapsed(h, e)
			return err
		}, InvalidHandle},
		{"event", "elapsed to", func(b *bench, h, _ uint64) Error {
			e, _ := b.EventCreate(0)
			b.EventRecord(e, 0, 0)
			_, err := b.EventElapsed(e, h)
			return err
		}, InvalidHandle},
		{"event", "destroy", func(b *bench, h, _ uint64) Error { return b.EventDestroy(h) }, InvalidHandle},
		{"array", "information", func(b *bench, h, _ uint64) Error { _, err := b.Array(h); return err }, InvalidHandle},
		{"array", "copy to", func(b *bench, h, _ uint64) Error {
			return b.CopyBox(Side{Array: h}, Side{Addr: stack, Pitch: 16}, 16, 4, 1, HostToDevice, 0, false)
		}, InvalidHandle},
		{"array", "copy from", func(b *bench, h, _ uint64) Error {
			return b.CopyBox(Side{Addr: stack, Pitch: 16}, Side{Array: h}, 16, 4, 1, DeviceToHost, 0, false)
		}, InvalidHandle},
		{"array", "bind a texture", func(b *bench, h, _ uint64) Error { return b.Bind(aTexture, image(h), Sampling{}) }, InvalidHandle},
		{"array", "make a texture object", func(b *bench, h, _ uint64) Error { _, err := b.TextureObject(image(h), Sampling{}, nil); return err }, InvalidHandle},
		{"array", "make a surface object", func(b *bench, h, _ uint64) Error { _, err := b.SurfaceObject(h); return err }, InvalidHandle},
		{"array", "free", func(b *bench, h, _ uint64) Error { return b.FreeArray(h) }, InvalidHandle},
		{"mipmap", "level", func(b *bench, h, _ uint64) Error { _, err := b.Level(h, 0); return err }, InvalidHandle},
		{"mipmap", "make a texture object", func(b *bench, h, _ uint64) Error {
			_, err := b.TextureObject(Image{Mipmap: h}, Sampling{Normalized: true}, nil)
			return err
		}, InvalidHandle},
		{"mipmap", "free", func(b *bench, h, _ uint64) Error { return b.FreeMipmap(h) }, InvalidHandle},
		{"texture object", "description", func(b *bench, h, _ uint64) Error { _, _, _, err := b.Object(h, false); return err }, InvalidValue},
		{"texture object", "destroy", func(b *bench, h, _ uint64) Error { return b.FreeObject(h, false) }, InvalidValue},
		{"surface object", "description", func(b *bench, h, _ uint64) Error { _, _, _, err := b.Object(h, true); return err }, InvalidValue},
		{"surface object", "destroy", func(b *bench, h, _ uint64) Error { return b.FreeObject(h, true) }, InvalidValue},
		{"stream", "query", func(b *bench, h, _ uint64) Error { return b.StreamQuery(h) }, InvalidHandle},
		{"stream", "begin a capture", func(b *bench, h, _ uint64) Error { return b.BeginCapture(h, CaptureGlobal) }, InvalidHandle},
		{"stream", "end a capture", func(b *bench, h, _ uint64) Error { _, err := b.EndCapture(h); return err }, InvalidHandle},
		{"stream", "information about a capture", func(b *bench, h, _ uint64) Error { _, err := b.CaptureInfo(h); return err }, InvalidHandle},
		{"stream", "launch a graph", func(b *bench, h, _ uint64) Error {
			g, _ := b.GraphCreate(0)
			x, _ := b.GraphInstantiate(g, 0)
			return b.ExecLaunch(x, h)
		}, InvalidHandle},
		{"event", "query", func(b *bench, h, _ uint64) Error { return b.EventQuery(h) }, InvalidHandle},
		{"event", "node that records it", func(b *bench, h, _ uint64) Error {
			g, _ := b.GraphCreate(0)
			_, err := b.GraphAdd(g, nil, EventNode(h, NodeEventRecord))
			return err
		}, InvalidHandle},
		{"graph", "add a node", func(b *bench, h, _ uint64) Error { _, err := b.GraphAdd(h, nil, EmptyNode()); return err }, InvalidValue},
		{"graph", "add it to another", func(b *bench, h, _ uint64) Error {
			g, _ := b.GraphCreate(0)
			_, err := b.GraphAdd(g, nil, ChildNode(h))
			return err
		}, InvalidValue},
		{"graph", "connect", func(b *bench, h, _ uint64) Error { return b.GraphConnect(h, nil, nil, true) }, InvalidValue},
		{"graph", "nodes", func(b *bench, h, _ uint64) Error { _, err := b.GraphNodes(h, false); return err }, InvalidValue},
		{"graph", "edges", func(b *bench, h, _ uint64) Error { _, _, err := b.GraphEdges(h); return err }, InvalidValue},
		{"graph", "clone", func(b *bench, h, _ uint64) Error { _, err := b.GraphClone(h); return err }, InvalidValue},
		{"graph", "instantiate", func(b *bench, h, _ uint64) Error { _, err := b.GraphInstantiate(h, 0); return err }, InvalidValue},
		{"graph", "update by it", func(b *bench, h, _ uint64) Error {
			g, _ := b.GraphCreate(0)
			x, _ := b.GraphInstantiate(g, 0)
			_, _, err := b.ExecUpdate(x, h)
			return err
		}, InvalidValue},
		{"graph", "destroy", func(b *bench, h, _ uint64) Error { return b.GraphDestroy(h) }, InvalidValue},
		{"node", "wait for it", func(b *bench, h, _ uint64) Error {
			g, _ := b.GraphCreate(0)
			_, err := b.GraphAdd(g, []uint64{h}, EmptyNode())
			return err
		}, InvalidValue},
		{"node", "information", func(b *bench, h, _ uint64) Error { _, err := b.NodeInfo(h); return err }, InvalidValue},
		{"node", "change", func(b *bench, h, _ uint64) Error { return b.NodeSet(h, EmptyNode()) }, InvalidValue},
		{"node", "destroy", func(b *bench, h, _ uint64) Error { return b.NodeDestroy(h) }, InvalidValue},
		{"executable graph", "launch", func(b *bench, h, _ uint64) Error { return b.ExecLaunch(h, 0) }, InvalidValue},
		{"executable graph", "upload", func(b *bench, h, _ uint64) Error { return b.ExecUpload(h, 0) }, InvalidValue},
		{"executable graph", "update", func(b *bench, h, _ uint64) Error {
			g, _ := b.GraphCreate(0)
			_, _, err := b.ExecUpdate(h, g)
			return err
		}, InvalidValue},
		{"pool", "allocate from it", func(b *bench, h, _ uint64) Error { _, err := b.MallocAsync(4, h, 0); return err }, InvalidValue},
		{"pool", "attribute", func(b *bench, h, _ uint64) Error { _, err := b.PoolAttribute(h, 4); return err }, InvalidValue},
		{"pool", "set an attribute", func(b *bench, h, _ uint64) Error { return b.SetPoolAttribute(h, 4, 1) }, InvalidValue},
		{"pool", "trim", func(b *bench, h, _ uint64) Error { return b.PoolTrim(h, 0) }, InvalidValue},
		{"pool", "make it the device's", func(b *bench, h, _ uint64) Error { return b.SetCurrentPool(0, h) }, InvalidValue},
		{"pool", "destroy", func(b *bench, h, _ uint64) Error { return b.PoolDestroy(h) }, InvalidValue},
		{"executable graph", "destroy", func(b *bench, h, _ uint64) Error { return b.ExecDestroy(h) }, InvalidValue},
	} {
		t.Run(c.kind+"/"+c.call, func(t *testing.T) {
			both(t, func(t *testing.T, mode func(*Options)) {
				b := start(t, mode)
				try := func(what string, h uint64) {
					t.Helper()
					d := b.malloc(64)
					b.want(what, c.do(b, h, d), c.want)
					b.want(what+", last error", b.LastError(), c.want)
					b.want(what+", the device", b.Synchronize(), Success)
				}
				try("from nowhere", nowhere)
				try("all ones", ^uint64(0))
				var mine uint64
				for _, k := range kinds {
					h, err := k.make(b)
					b.want("make a "+k.name, err, Success)
					if k.name != c.kind {
						try(k.name, h)
						continue
					}
					mine = h
					b.want("destroy", k.destroy(b, h), Success)
					try("destroyed", h)
				}
				for _, k := range kinds {
					if k.name == c.kind {
						h, err := k.make(b)
						b.want("make another", err, Success)
						mine = h
					}
				}
				b.want("reset", b.Reset(), Success)
				try("from before the reset", mine)
			})
		})
	}
}

// TestWrongArguments: null pointers, absurd sizes, unknown values of enumerations
// and flags.
func TestWrongArguments(t *testing.T) {
	for _, c := range []struct {
		name string
		call func(b *bench, d uint64) Error // d: 64 bytes of device memory
		want Error
	}{
		{"malloc of a negative size", func(b *bench, _ uint64) Error { _, err := b.Malloc(^uint64(0)); return err }, MemoryAllocation},
		{"host malloc of a negative size", func(b *bench, _ uint64) Error { _, err := b.MallocHost(^uint64(0), 0); return err }, MemoryAllocation},
		{"managed malloc of a negative size", func(b *bench, _ uint64) Error { _, err := b.MallocManaged(^uint64(0), 1); return err }, MemoryAllocation},
		{"managed malloc of nothing", func(b *bench, _ uint64) Error { _, err := b.MallocManaged(0, 1); return err }, InvalidValue},
		{"managed malloc, attached to one stream", func(b *bench, _ uint64) Error { _, err := b.MallocManaged(4, 4); return err }, InvalidValue},
		{"host malloc, unknown flag", func(b *bench, _ uint64) Error { _, err := b.MallocHost(4, 8); return err }, InvalidValue},
		{"pitched malloc of a negative width", func(b *bench, _ uint64) Error { _, _, err := b.MallocPitch(^uint64(0), 1); return err }, MemoryAllocation},
		{"copy of a negative size", func(b *bench, d uint64) Error { return b.Copy(d, stack, ^uint64(0), HostToDevice, 0, false) }, InvalidValue},
		{"copy from null", func(b *bench, d uint64) Error { return b.Copy(d, 0, 4, HostToDevice, 0, false) }, InvalidValue},
		{"copy to the end of addresses", func(b *bench, d uint64) Error { return b.Copy(^uint64(3), d, 64, DeviceToHost, 0, false) }, InvalidValue},
		{"copy from null to null", func(b *bench, d uint64) Error { return b.Copy(0, 0, 4, HostToHost, 0, false) }, InvalidValue},
		{"copy, negative kind", func(b *bench, d uint64) Error { return b.Copy(d, stack, 4, -1, 0, false) }, InvalidMemcpyWay},
		{"copy of nothing to nowhere", func(b *bench, d uint64) Error { return b.Copy(0, stack, 0, HostToDevice, 0, false) }, Success},
		{"copy of nothing, unknown kind", func(b *bench, d uint64) Error { return b.Copy(d, stack, 0, 17, 0, false) }, InvalidMemcpyWay},
		{"copy beyond pinned memory", func(b *bench, d uint64) Error {
			p, _ := b.MallocHost(16, 0)
			return b.Copy(d, p, 17, HostToDevice, 0, false)
		}, InvalidValue},
		{"copy to the end of pinned memory", func(b *bench, d uint64) Error {
			p, _ := b.MallocHost(16, 0)
			return b.Copy(p+12, d, 4, DeviceToHost, 0, true)
		}, Success},
		{"copy from the device as if it were the host", func(b *bench, d uint64) Error { return b.Copy(stack, d, 4, HostToHost, 0, false) }, InvalidValue},
		{"rows of a negative width", func(b *bench, d uint64) Error {
			return b.CopyRows(d, stack, Rows{Width: ^uint64(0), Height: 1, Depth: 1, DstPitch: ^uint64(0), SrcPitch: ^uint64(0)}, HostToDevice, 0, false)
		}, InvalidValue},
		{"fill null", func(b *bench, _ uint64) Error { return b.Fill(0, 1, Rows{Width: 4, Height: 1, Depth: 1}, 0) }, InvalidValue},
		{"fill nothing", func(b *bench, _ uint64) Error { return b.Fill(0, 1, Rows{Height: 1, Depth: 1}, 0) }, Success},
		{"fill a negative size", func(b *bench, d uint64) Error { return b.Fill(d, 1, Rows{Width: ^uint64(0), Height: 1, Depth: 1}, 0) }, InvalidValue},
		{"fill beyond pinned memory", func(b *bench, _ uint64) Error {
			p, _ := b.MallocHost(16, 0)
			return b.Fill(p+8, 1, Rows{Width: 9, Height: 1, Depth: 1}, 0)
		}, InvalidValue},
		{"symbol null", func(b *bench, _ uint64) Error { _, _, err := b.Symbol(0); return err }, InvalidSymbol},
		{"copy to a symbol, offset beyond it", func(b *bench, _ uint64) Error {
			return b.CopyToSymbol(variableOf("factor"), stack, 0, 5, HostToDevice, 0, false)
		}, InvalidValue},
		{"copy to a symbol, offset and size run over", func(b *bench, _ uint64) Error {
			return b.CopyToSymbol(variableOf("factor"), stack, ^uint64(0), 4, HostToDevice, 0, false)
		}, InvalidValue},
		{"copy to a symbol, unknown kind", func(b *bench, _ uint64) Error {
			return b.CopyToSymbol(variableOf("factor"), stack, 4, 0, 9, 0, false)
		}, InvalidMemcpyWay},
		{"kernel null", func(b *bench, _ uint64) Error {
			return b.Launch(0, Call{Grid: Dim3{X: 1, Y: 1, Z: 1}, Block: Dim3{X: 1, Y: 1, Z: 1}}, false, nil)
		}, InvalidDeviceFunction},
		{"attributes of no kernel", func(b *bench, _ uint64) Error { _, err := b.FunctionInfo(0); return err }, InvalidDeviceFunction},
		{"shared memory of no kernel", func(b *bench, _ uint64) Error { return b.SetMaxShared(0, 1) }, InvalidDeviceFunction},
		{"less than no shared memory", func(b *bench, _ uint64) Error { return b.SetMaxShared(kernel("spin"), -1) }, InvalidValue},
		{"cache preference of no kernel", func(b *bench, _ uint64) Error { return b.SetPreference(0, 1) }, InvalidDeviceFunction},
		{"unknown cache preference", func(b *bench, _ uint64) Error { return b.SetPreference(kernel("spin"), 4) }, InvalidValue},
		{"occupancy of no kernel", func(b *bench, _ uint64) Error { _, err := b.Occupancy(0, 32, 0); return err }, InvalidDeviceFunction},
		{"occupancy of no threads", func(b *bench, _ uint64) Error { _, err := b.Occupancy(kernel("spin"), 0, 0); return err }, InvalidValue},
		{"occupancy of negative threads", func(b *bench, _ uint64) Error { _, err := b.Occupancy(kernel("spin"), -32, 0); return err }, InvalidValue},
		{"a dimension of 2^31 blocks", func(b *bench, _ uint64) Error {
			return b.Launch(kernel("many"), Call{Grid: Dim3{X: 1 << 31, Y: 1, Z: 1}, Block: Dim3{X: 1, Y: 1, Z: 1}}, false, nil)
		}, InvalidConfiguration},
		{"65536 blocks deep", func(b *bench, _ uint64) Error {
			return b.Launch(kernel("many"), Call{Grid: Dim3{X: 1, Y: 1, Z: 65536}, Block: Dim3{X: 1, Y: 1, Z: 1}}, false, nil)
		}, InvalidConfiguration},
		{"a block of 32 x 33 threads", func(b *bench, _ uint64) Error {
			return b.Launch(kernel("spin"), Call{Grid: Dim3{X: 1, Y: 1, Z: 1}, Block: Dim3{X: 32, Y: 33, Z: 1}}, false, nil)
		}, InvalidConfiguration},
		{"a block whose count runs over", func(b *bench, _ uint64) Error {
			return b.Launch(kernel("spin"), Call{Grid: Dim3{X: 1, Y: 1, Z: 1}, Block: Dim3{X: 1 << 31, Y: 1 << 31, Z: 4}}, false, nil)
		}, InvalidConfiguration},
		{"negative shared memory", func(b *bench, _ uint64) Error {
			return b.Launch(kernel("spin"), Call{Grid: Dim3{X: 1, Y: 1, Z: 1}, Block: Dim3{X: 1, Y: 1, Z: 1}, Shared: ^uint64(0)}, false, nil)
		}, InvalidValue},
		{"a cooperative grid that is not resident at once", func(b *bench, _ uint64) Error {
			return b.Launch(kernel("spin"), Call{Grid: Dim3{X: 30*16 + 1, Y: 1, Z: 1}, Block: Dim3{X: 64, Y: 1, Z: 1}}, true, nil)
		}, CooperativeTooLarge},
		{"a cooperative grid that just is", func(b *bench, _ uint64) Error {
			return b.Launch(kernel("many"), Call{Grid: Dim3{X: 30 * 16, Y: 1, Z: 1}, Block: Dim3{X: 64, Y: 1, Z: 1}}, true, nil)
		}, Success},
		{"a cooperative grid without end", func(b *bench, _ uint64) Error {
			return b.Launch(kernel("many"), Call{Grid: Dim3{X: isa.MaxGridX, Y: isa.MaxGridYZ, Z: isa.MaxGridYZ}, Block: Dim3{X: 64, Y: 1, Z: 1}}, true, nil)
		}, CooperativeTooLarge},
		{"register null", func(b *bench, _ uint64) Error { return b.HostRegister(0, 64, 0) }, InvalidValue},
		{"register nothing", func(b *bench, _ uint64) Error { return b.HostRegister(stack, 0, 0) }, InvalidValue},
		{"register a negative size", func(b *bench, _ uint64) Error { return b.HostRegister(stack, ^uint64(0), 0) }, InvalidValue},
		{"register device memory", func(b *bench, d uint64) Error { return b.HostRegister(d, 64, 0) }, InvalidValue},
		{"register with unknown flags", func(b *bench, _ uint64) Error { return b.HostRegister(stack, 64, 16) }, InvalidValue},
		{"register around registered memory", func(b *bench, _ uint64) Error {
			b.HostRegister(stack+4096, 64, 0)
			return b.HostRegister(stack, 16384, 0)
		}, AlreadyRegistered},
		{"register beside registered memory", func(b *bench, _ uint64) Error {
			b.HostRegister(stack+64, 64, 0)
			return max(b.HostRegister(stack, 64, 0), b.HostRegister(stack+128, 64, 0))
		}, Success},
		{"register pinned memory", func(b *bench, _ uint64) Error {
			p, _ := b.MallocHost(64, 0)
			return b.HostRegister(p, 64, 0)
		}, AlreadyRegistered},
		{"unregister the middle", func(b *bench, _ uint64) Error { b.HostRegister(stack, 64, 0); return b.HostUnregister(stack + 4) }, NotRegistered},
		{"unregister pinned memory", func(b *bench, _ uint64) Error { p, _ := b.MallocHost(64, 0); return b.HostUnregister(p) }, NotRegistered},
		{"unregister twice", func(b *bench, _ uint64) Error {
			b.HostRegister(stack, 64, 0)
			b.HostUnregister(stack)
			return b.HostUnregister(stack)
		}, NotRegistered},
		{"free registered memory", func(b *bench, _ uint64) Error { b.HostRegister(stack, 64, 0); return b.FreeHost(stack) }, InvalidValue},
		{"free pinned memory twice", func(b *bench, _ uint64) Error {
			p, _ := b.MallocHost(64, 0)
			b.FreeHost(p)
			return b.FreeHost(p)
		}, InvalidValue},
		{"free pinned memory as the device's", func(b *bench, _ uint64) Error { p, _ := b.MallocHost(64, 0); return b.Free(p) }, InvalidValue},
		{"free managed memory twice", func(b *bench, _ uint64) Error {
			p, _ := b.MallocManaged(64, 1)
			b.Free(p)
			return b.Free(p)
		}, InvalidValue},
		{"free managed memory as the host's", func(b *bench, _ uint64) Error { p, _ := b.MallocManaged(64, 1); return b.FreeHost(p) }, InvalidValue},
		{"free an array as memory", func(b *bench, _ uint64) Error { a, _ := b.MallocArray(floats, 4, 4, 0, 0); return b.Free(a) }, InvalidValue},
		{"flags of memory that is not pinned", func(b *bench, _ uint64) Error { _, err := b.HostFlags(stack); return err }, InvalidValue},
		{"event with unknown flags", func(b *bench, _ uint64) Error { _, err := b.EventCreate(8); return err }, InvalidValue},
		{"stream with a priority beyond all", func(b *bench, _ uint64) Error { _, err := b.StreamCreate(0, -99); return err }, Success},
		{"a negative device", func(b *bench, _ uint64) Error { return b.Device(-1) }, InvalidDevice},
		{"a negative attribute", func(b *bench, _ uint64) Error { _, err := b.Attribute(0, -1); return err }, InvalidValue},
		{"a negative limit", func(b *bench, _ uint64) Error { _, err := b.Limit(-1); return err }, UnsupportedLimit},
		{"array with unknown flags", func(b *bench, _ uint64) Error { _, err := b.MallocArray(floats, 4, 4, 0, 1<<20); return err }, InvalidValue},
		{"array of absurd extents", func(b *bench, _ uint64) Error { _, err := b.MallocArray(floats, 1<<63, 1<<63, 1<<63, 0); return err }, InvalidValue},
		{"array of unknown kind", func(b *bench, _ uint64) Error {
			_, err := b.MallocArray(Channel{Bits: [4]int32{32}, Kind: 99}, 4, 4, 0, 0)
			return err
		}, InvalidChannel},
		{"array of negative components", func(b *bench, _ uint64) Error {
			_, err := b.MallocArray(Channel{Bits: [4]int32{-8}}, 4, 4, 0, 0)
			return err
		}, InvalidChannel},
		{"mipmap level beyond all", func(b *bench, _ uint64) Error {
			m, _ := b.MallocMipmap(floats, 4, 4, 0, 2, 0)
			_, err := b.Level(m, 2)
			return err
		}, InvalidValue},
		{"level of a mipmap freed as an array", func(b *bench, _ uint64) Error {
			m, _ := b.MallocMipmap(floats, 4, 4, 0, 2, 0)
			l, _ := b.Level(m, 0)
			return b.FreeArray(l)
		}, InvalidHandle},
		{"copy beyond an array", func(b *bench, _ uint64) Error {
			a, _ := b.MallocArray(floats, 4, 4, 0, 0)
			return b.CopyBox(Side{Array: a, X: 4}, Side{Addr: stack, Pitch: 16}, 16, 4, 1, HostToDevice, 0, false)
		}, InvalidValue},
		{"copy into an array at a negative place", func(b *bench, _ uint64) Error {
			a, _ := b.MallocArray(floats, 4, 4, 0, 0)
			return b.CopyBox(Side{Array: a, Y: ^uint64(0)}, Side{Addr: stack, Pitch: 16}, 16, 1, 1, HostToDevice, 0, false)
		}, InvalidValue},
		{"surface of an array that was not made for it", func(b *bench, _ uint64) Error {
			a, _ := b.MallocArray(floats, 4, 4, 0, 0)
			_, err := b.SurfaceObject(a)
			return err
		}, InvalidValue},
		{"texture object of null", func(b *bench, _ uint64) Error {
			_, err := b.TextureObject(Image{Channel: floats, Bytes: 64}, Sampling{}, nil)
			return err
		}, InvalidValue},
		{"texture object with rows closer than they are wide", func(b *bench, d uint64) Error {
			_, err := b.TextureObject(Image{Addr: d, Channel: floats, Width: 4, Height: 4, Pitch: 8}, Sampling{}, nil)
			return err
		}, InvalidValue},
		{"argument at a negative offset", func(b *bench, _ uint64) Error {
			b.Configure(Call{})
			return b.Argument([]byte{1}, ^uint64(0))
		}, InvalidValue},
	} {
		t.Run(c.name, func(t *testing.T) {
			both(t, func(t *testing.T, mode func(*Options)) {
				b := start(t, mode)
				d := b.malloc(64)
				b.want("call", c.call(b, d), c.want)
				b.want("last error", b.LastError(), c.want)
				b.want("the device still works", b.run("spin", 1, 0), Success)
				b.want("to its end", b.Synchronize(), Success)
			})
		})
	}
}

// TestRegisters: a block whose threads need more registers than an SM has cannot
// start. Register counts are estimates of another compiler's, so a functional run,
// which needs none, accepts it.
func TestRegisters(t *testing.T) {
	const live = 100 // at a time
	var text strings.Builder
	fmt.Fprintf(&text, ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry full(.param .u64 p)\n{\n.reg .b64 %%p;\n.reg .b32 %%r<%d>;\nld.param.u64 %%p, [p];\n", live)
	for i := range live {
		fmt.Fprintf(&text, "ld.global.u32 %%r%d, [%%p+%d];\n", i, 4*i)
	}
	for i := range live {
		fmt.Fprintf(&text, "st.global.u32 [%%p+%d], %%r%d;\n", 4*(live-1-i), i)
	}
	text.WriteString("ret;\n}\n")
	both(t, func(t *testing.T, mode func(*Options)) {
		b := start(t, mode, fatbin.Entry{Kind: fatbin.PTX, SM: 70, Data: []byte(text.String())})
		b.r.RegisterFunction(1, 0x9000, "full")
		d := b.malloc(4 * live)
		launch := func(threads uint32) Error {
			return b.Launch(0x9000, Call{Grid: Dim3{X: 1, Y: 1, Z: 1}, Block: Dim3{X: threads, Y: 1, Z: 1}}, false, func(_, _ int, to []byte) { binary.LittleEndian.PutUint64(to, d) })
		}
		want := Success
		if mode != nil {
			want = OutOfResources
		}
		b.want("1024 threads of 100 registers", launch(1024), want)
		b.want("last error", b.LastError(), want)
		b.want("512 of them", launch(512), Success)
		b.want("to their end", b.Synchronize(), Success)
		if info, err := b.FunctionInfo(0x9000); err != Success || info.Registers < live || info.MaxThreads >= 1024 {
			t.Errorf("%+v, %v", info, err)
		}
	})
}

// TestBadPointers: a host pointer to unmapped memory is an error of the call and
// does not end the program.
func TestBadPointers(t *testing.T) {
	gone := unmapped(t)
	both(t, func(t *testing.T, mode func(*Options)) {
		b := start(t, func(o *Options) {
			if mode != nil {
				mode(o)
			}
			o.Host = realHost{o.Host}
		})
		d := b.malloc(8192)
		for _, c := range []struct {
			name string
			err  Error
		}{
			{"copy to", b.Copy(d, gone, 8192, HostToDevice, 0, false)},
			{"copy to, not waiting", b.Copy(d, gone, 4, HostToDevice, 0, true)},
			{"copy from", b.Copy(gone, d, 4, DeviceToHost, 0, false)},
			{"host to host", b.Copy(gone, gone, 4, HostToHost, 0, false)},
			{"to a variable", b.CopyToSymbol(variableOf("factor"), gone, 4, 0, HostToDevice, 0, false)},
			{"rows", b.CopyRows(d, gone, Rows{Width: 4, Height: 3, Depth: 1, DstPitch: 512, SrcPitch: 4096}, HostToDevice, 0, false)},
		} {
			b.want(c.name, c.err, InvalidValue)
		}
		b.want("the device", b.Synchronize(), Success)
		if !strings.Contains(b.log.String(), "there is less memory than that") {
			t.Errorf("log: %s", b.log)
		}
	})
}

// TestReadable returns the accessible part of a range of memory.
func TestReadable(t *testing.T) {
	end := unmapped(t)
	for _, c := range []struct{ before, n, want uint64 }{
		{0, 0, 0}, {0, 1, 0}, {0, 100000, 0}, {1, 1, 1}, {1, 2, 1}, {10, 5000, 10}, {4096, 4096, 4096}, {4097, 4097, 4097}, {6000, 9000, 6000}, {6000, 5999, 5999},
	} {
		if got := Readable(realHost{}.Bytes(end-c.before, c.n)); uint64(len(got)) != c.want {
			t.Errorf("%d bytes, of which %d are there: %d are readable", c.n, c.before, len(got))
		}
	}
}

// TestBrokenImages: device code that is truncated anywhere, or has one wrong byte,
// is refused or runs; it never ends the program.
func TestBrokenImages(t *testing.T) {
	whole := fatbin.Append(nil, fatbin.Entry{Kind: fatbin.PTX, SM: 70, Data: []byte(code)})
	run := func(image []byte) (Error, string) {
		b := start(t, func(o *Options) { o.MaxInsts = 1000 })
		h := b.r.Register(image)
		b.r.RegisterFunction(h, 0x9000, "spin")
		err := b.Launch(0x9000, Call{Grid: Dim3{X: 1, Y: 1, Z: 1}, Block: Dim3{X: 1, Y: 1, Z: 1}}, false, func(int, int, []byte) {})
		return err, b.log.String()
	}
	allowed := []Error{InvalidKernelImage, NoKernelImage, InvalidPTX, InvalidDeviceFunction}
	step := 7
	for n := 0; n < len(whole); n += step {
		if n < 100 {
			step = 1
		} else {
			step = 37
		}
		if err, log := run(whole[:n]); err != InvalidKernelImage || log == "" {
			t.Errorf("the first %d bytes: %v, log: %s", n, err, log)
		}
		broken := slices.Clone(whole)
		broken[n] ^= 0xa5
		if err, log := run(broken); err != Success && (!slices.Contains(allowed, err) && err != LaunchTimeout && err != NotSupported || log == "") {
			t.Errorf("byte %d is wrong: %v, log: %s", n, err, log)
		}
	}
}

// TestErrorState: the errors that the calls for the last error return, after
// different calls (CUDA runtime API, Error handling: cudaGetLastError,
// cudaPeekAtLastError).
func TestErrorState(t *testing.T) {
	type step struct {
		call string
		want Error
	}
	const (
		good, bad, bad2, fault  = "a right call", "free of the stack", "no such device", "a kernel that faults, and a wait"
		launch                  = "the launch of a kernel that faults"
		get, peek, reset, other = "cudaGetLastError", "cudaPeekAtLastError", "cudaDeviceReset", "cudaGetLastError of another thread"
	)
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"nothing yet", []step{{get, Success}, {peek, Success}}},
		{"get clears it", []step{{bad, InvalidValue}, {get, InvalidValue}, {get, Success}}},
		{"peek does not", []step{{bad, InvalidValue}, {peek, InvalidValue}, {peek, InvalidValue}, {get, InvalidValue}, {peek, Success}}},
		{"a valid call does not clear it", []step{{bad, InvalidValue}, {good, Success}, {get, InvalidValue}}},
		{"the last one counts", []step{{bad, InvalidValue}, {bad2, InvalidDevice}, {get, InvalidDevice}, {get, Success}}},
		{"each thread has its own", []step{{bad, InvalidValue}, {other, Success}, {get, InvalidValue}}},
		{"a fault stays, whatever is asked", []step{
			{fault, IllegalAddress}, {get, IllegalAddress}, {get, IllegalAddress}, {peek, IllegalAddress},
			{good, IllegalAddress}, {bad, IllegalAddress}, {bad2, IllegalAddress}, {other, IllegalAddress}, {get, IllegalAddress},
		}},
		{"a launch does not return its kernel's fault", []step{
			{launch, Success}, {peek, Success}, {get, Success}, {good, IllegalAddress}, {peek, IllegalAddress}, {get, IllegalAddress}, {other, IllegalAddress},
		}},
		{"later launches do", []step{{launch, Success}, {good, IllegalAddress}, {launch, IllegalAddress}, {get, IllegalAddress}}},
		{"a fault overrides an earlier error", []step{{bad, InvalidValue}, {fault, IllegalAddress}, {get, IllegalAddress}}},
		{"a reset ends it", []step{{fault, IllegalAddress}, {reset, Success}, {get, Success}, {good, Success}, {other, Success}}},
		{"again and again", []step{{fault, IllegalAddress}, {reset, Success}, {fault, IllegalAddress}, {reset, Success}, {reset, Success}, {good, Success}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			both(t, func(t *testing.T, mode func(*Options)) {
				b := start(t, mode)
				for i, s := range c.steps {
					var got Error
					switch s.call {
					case good:
						got = b.Synchronize()
					case bad:
						got = b.Free(stack)
					case bad2:
						got = b.Device(7)
					case launch, fault:
						at, _ := b.Malloc(64)
						got = b.run("wild", 1, 0, at)
						if s.call == fault {
							got = b.Synchronize()
						}
					case get:
						got = b.LastError()
					case peek:
						got = b.PeekError()
					case reset:
						got = b.Reset()
					case other:
						got = b.r.Thread(2).LastError()
					}
					if got != s.want {
						t.Errorf("step %d, %s: %v, want %v", i+1, s.call, got, s.want)
					}
				}
			})
		})
	}
}

// TestReset: a reset leaves nothing on the device but the program's kernels and
// variables in their initial state.
func TestReset(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		b := start(t, mode)
		d := b.malloc(64)
		pinned, err := b.MallocHost(64, 0)
		b.want("pinned", err, Success)
		managed, err := b.MallocManaged(64, 1)
		b.want("managed", err, Success)
		b.want("register", b.HostRegister(stack, 64, 0), Success)
		b.host.Bytes(stack, 1)[0] = 9
		b.want("to symbol", b.CopyToSymbol(variableOf("factor"), stack, 4, 0, HostToDevice, 0, false), Success)
		b.want("limit", b.SetLimit(limitStack, 4096), Success)
		b.want("reset", b.Reset(), Success)

		for _, c := range []struct {
			name string
			err  Error
			want Error
		}{
			{"free device memory", b.Free(d), InvalidValue},
			{"free pinned memory", b.FreeHost(pinned), InvalidValue},
			{"free managed memory", b.Free(managed), InvalidValue},
			{"unregister", b.HostUnregister(stack), NotRegistered},
			{"copy to freed memory", b.Copy(d, stack, 4, HostToDevice, 0, false), InvalidValue},
			{"fill freed memory", b.Fill(d, 0, Rows{Width: 4, Height: 1, Depth: 1}, 0), InvalidValue},
			{"register again", b.HostRegister(stack, 64, 0), Success},
		} {
			b.want(c.name, c.err, c.want)
		}
		b.LastError()
		b.want("from symbol", b.CopyFromSymbol(stack, variableOf("factor"), 4, 0, DeviceToHost, 0, false), Success)
		if got := b.words(stack, 1)[0]; got != 3 {
			t.Errorf("the variable is %d, not its initial value", got)
		}
		if len(b.host.pieces) != 1 {
			t.Errorf("%d pieces of memory are mapped", len(b.host.pieces))
		}
		d = b.malloc(64)
		b.want("launch", b.run("add", 4, 0, d, 5), Success)
		b.want("copy", b.Copy(stack, d, 16, DeviceToHost, 0, false), Success)
		if got := b.words(stack, 4); !slices.Equal(got, []uint32{5, 6, 7, 8}) {
			t.Errorf("afterwards a kernel computes %v", got)
		}
	})
}

// TestSixteenThreads: sixteen host threads use everything at once, each with its
// own streams, events, memory and errors, and each gets its own results; with one
// device, and with three, in turn.
func TestSixteenThreads(t *testing.T) {
	const rounds = 25
	together := func(t *testing.T, devices int, mode func(*Options)) {
		b := several(t, devices, mode)
		const room = 2048 // of the stack, for each
		var wg sync.WaitGroup
		for id := range uint64(16) {
			wg.Go(func() {
				me := &bench{Thread: b.r.Thread(10 + id), t: t, r: b.r, host: b.host, log: b.log}
				random := rand.New(rand.NewPCG(id, 6))
				at := stack + room*id
				if err := me.SetDevice(int(id) % devices); err != Success {
					t.Errorf("thread %d: %v", id, err)
				}
				stream, err := me.StreamCreate(uint32(id%2), 0)
				if err != Success {
					t.Errorf("thread %d: %v", id, err)
					return
				}
				for n := range rounds {
					if err := me.something(random, at, stream); err != Success {
						t.Errorf("thread %d, round %d: %v", id, n, err)
						return
					}
				}
				if err := me.StreamDestroy(stream); err != Success {
					t.Errorf("thread %d: %v", id, err)
				}
			})
		}
		wg.Wait()
		if res := b.r.Result(); !res.OK {
			t.Errorf("%v", res.Error)
		}
	}
	both(t, func(t *testing.T, mode func(*Options)) {
		for _, devices := range []int{1, 3} {
			together(t, devices, mode)
		}
	})
}

// something does one thing that a thread of a program may do, and checks the
// result; at is an address of 1 KiB.
func (b *bench) something(random *rand.Rand, at, stream uint64) Error {
	first := func(list ...Error) Error {
		for _, e := range list {
			if e != Success {
				return e
			}
		}
		return Success
	}
	n := uint32(1 + random.IntN(64))
	salt := uint64(random.Uint32())
	switch random.IntN(9) {
	case 0: // a kernel between copies
		d, err := b.Malloc(1024)
		if e := first(err, b.run("add", n, stream, d, salt), b.run("scale", n, stream, d),
			b.Copy(at, d, uint64(4*n), DeviceToHost, stream, random.IntN(2) == 0), b.StreamSynchronize(stream), b.Free(d)); e != Success {
			return e
		}
		for i, v := range b.words(at, int(n)) {
			if v != 3*(uint32(salt)+uint32(i)) {
				b.t.Errorf("out[%d] = %d, want %d", i, v, 3*(uint32(salt)+uint32(i)))
				return Unknown
			}
		}
	case 1: // events
		from, err := b.EventCreate(0)
		to, err2 := b.EventCreate(0)
		e := first(err, err2, b.EventRecord(from, stream, 0), b.run("spin", n, stream), b.EventRecord(to, stream, 0), b.StreamWait(0, to, 0), b.EventSynchronize(to))
		ms, err3 := b.EventElapsed(from, to)
		if ms < 0 {
			b.t.Errorf("%g ms", ms)
		}
		return first(e, err3, b.EventDestroy(from), b.EventDestroy(to))
	case 2: // shared memory of host and device
		p, err := b.MallocManaged(4096, 1)
		if e := first(err, b.run("add", n, stream, p, salt), b.Synchronize()); e != Success {
			return e
		}
		if got := b.words(p, 1)[0]; got != uint32(salt) {
			b.t.Errorf("managed memory has %d, want %d", got, uint32(salt))
		}
		return b.Free(p)
	case 3:
		p, err := b.MallocHost(4096, 0)
		d, err2 := b.Malloc(4096)
		if e := first(err, err2, b.Fill(d, byte(salt), Rows{Width: 4096, Height: 1, Depth: 1}, stream),
			b.Copy(p, d, 4096, DeviceToHost, stream, true), b.StreamSynchronize(stream)); e != Success {
			return e
		}
		if got := b.host.Bytes(p+4095, 1)[0]; got != byte(salt) {
			b.t.Errorf("pinned memory has %d, want %d", got, byte(salt))
		}
		return first(b.FreeHost(p), b.Free(d))
	case 4: // a thread's errors are its own
		if e := b.Free(at); e != InvalidValue {
			return Unknown
		}
		if e := b.run("missing", 1, stream); e != InvalidDeviceFunction {
			return Unknown
		}
		if b.PeekError() != InvalidDeviceFunction || b.LastError() != InvalidDeviceFunction {
			return Unknown
		}
		return b.LastError()
	case 5: // arrays and objects
		a, err := b.MallocArray(floats, 8, 8, 0, 0)
		x, err2 := b.TextureObject(Image{Array: a}, Sampling{}, nil)
		return first(err, err2, b.CopyBox(Side{Array: a}, Side{Addr: at, Pitch: 32}, 32, 8, 1, HostToDevice, stream, true),
			b.FreeObject(x, false), b.StreamSynchronize(stream), b.FreeArray(a))
	case 6: // queries
		_, err := b.FunctionInfo(kernel("shared"))
		_, err2 := b.Occupancy(kernel("spin"), 64, 0)
		_, _, err3 := b.MemInfo()
		_, err4 := b.Attribute(0, 16)
		_, _, err5 := b.Where(at)
		_, _, err6 := b.Symbol(variableOf("counter"))
		return first(err, err2, err3, err4, err5, err6)
	case 7: // launches in two steps, and in the old style
		b.Push(Call{Shared: salt})
		if c, err := b.Pop(); err != Success || c.Shared != salt {
			return Unknown
		}
		b.Configure(Call{Grid: Dim3{X: 1, Y: 1, Z: 1}, Block: Dim3{X: n, Y: 1, Z: 1}, Stream: stream})
		return b.LaunchConfigured(kernel("spin"))
	case 8: // short-lived streams
		s, err := b.StreamCreate(0, -1)
		return first(err, b.run("spin", n, s), b.StreamDestroy(s))
	}
	return Success
}

// heapInUse returns the bytes that are reachable.
func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // objects with finalizers
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestMemoryBound: a program that launches 100,000 kernels, each with its own
// stream, events, memory, objects and an error, needs no more memory at the end
// than after the first tenth.
func TestMemoryBound(t *testing.T) {
	alltests.Only(t, "many launches")
	for _, c := range []struct {
		name  string
		edit  func(*Options)
		first int // rounds until memory is first measured: the report is full by then
		all   int
	}{
		{"functional", func(o *Options) { o.Threads = 1 }, maxListed, 10 * maxListed},
		{"timing", func(o *Options) {
			o.Timing, o.Threads = true, 1
			for _, s := range []string{"chip.clusters=1", "chip.channels=1"} {
				if err := o.Settings.Set(s); err != nil {
					t.Fatal(err)
				}
			}
		}, maxListed, 2 * maxListed},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := start(t, c.edit)
			b.log.Grow(1 << 20)
			round := func() {
				s, err := b.StreamCreate(0, 0)
				e, err2 := b.EventCreate(0)
				d, err3 := b.Malloc(256)
				x, err4 := b.TextureObject(Image{Addr: d, Channel: floats, Bytes: 256}, Sampling{}, nil)
				for _, err := range []Error{
					err, err2, err3, err4, b.run("many", 1, s), b.EventRecord(e, s, 0), b.StreamWait(0, e, 0), b.Fill(d, 1, Rows{Width: 256, Height: 1, Depth: 1}, s),
					b.Copy(d, stack, 256, HostToDevice, s, true), b.FreeObject(x, false), b.StreamDestroy(s), b.EventDestroy(e), b.Free(d),
				} {
					if err != Success {
						t.Fatalf("%v\n%s", err, b.log)
					}
				}
				b.want("a wrong call", b.Free(d), InvalidValue)
			}
			for range c.first {
				round()
			}
			b.want("wait", b.Synchronize(), Success)
			before := heapInUse()
			for range c.all - c.first {
				round()
			}
			b.want("wait", b.Synchronize(), Success)
			after := heapInUse()
			// Freed allocations are recorded up to a bound, about 200 bytes each.
			const slack = 10 << 20
			if after > before+slack {
				t.Errorf("%d bytes after %d rounds, %d after %d", before, c.first, after, c.all)
			}
			t.Logf("%d KiB after %d rounds, %d KiB after %d", before>>10, c.first, after>>10, c.all)
			if res := b.r.Result(); res.WarpInstructions != uint64(c.all) {
				t.Errorf("%d instructions", res.WarpInstructions)
			}
		})
	}
}
